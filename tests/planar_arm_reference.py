"""A planar station in orbit whose arm bumps a payload into the docking bay: the motion, integrated from first principles.

Nothing of the package is used. Points of the plane are complex numbers, so i·a is `a` turned by a right angle. Every
body's centre of mass is s + Σ_k c_k e^{iΦ_k}: s the station's centre of mass, Φ = (θ, θ+ψ, θ+ψ+α, θ+ψ+α+β) the absolute
angles of station and links, c constant (c_0 a place in station axes, c_k a length along link k). With ω = Φ', velocity
and acceleration are s' + Σ i c e^{iΦ} ω and s'' + Σ i c e^{iΦ} ω' − Σ c e^{iΦ} ω². Kane's equations follow: project each
body's m·a = F on the Jacobian of its centre of mass, and each rod's I·ω' = torque on that of its angle.

Frame: axes that do not turn, origin on a circular orbit, R e^{int}. Gravity is the difference from that at the origin
(Encke), written without cancellation. SciPy's DOP853 advances between impacts. Sign changes of every wall's gap are looked
for between all its extrema, and each is located by integrating anew up to trial times, not on the interpolant.

State: (x, y, θ, ψ, α, β) and its derivative; SI units throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.integrate import DOP853, solve_ivp
from scipy.optimize import brentq

ABSOLUTE = np.tril(np.ones((4, 4)))  # Φ from (θ, ψ, α, β)
MOST_IMPACTS = 500
SAMPLES = 4  # looks at each gap in one step
DOUBTFUL = 1e-6  # m and m/s

Times = Sequence[float] | np.ndarray
StateAt = Callable[[float], np.ndarray]
Angles = tuple[float, float, float]
Wall = tuple[tuple[float, float], tuple[float, float]]  # a point of it and its normal out of the material, station axes


@dataclass(frozen=True)
class Parameters:
    """Defaults: the scenario that gives the impact times printed by Gibson & Murphey."""

    lengths: Angles = (1.84, 1.84, 0.736)  # m; links are uniform rods
    masses: Angles = (60.0, 50.0, 25.0)  # kg
    payload: float = 100.0  # kg, a point at the tip
    station_mass: float = 344378.0  # kg
    station_length: float = 73.0  # m, a uniform rod along station x
    root: tuple[float, float] = (0.0, 0.0)  # m, of the arm, station axes
    kp: Angles = (10.0, 10.0, 10.0)  # N m/rad
    kd: Angles = (2.0, 2.0, 2.0)  # N m s/rad
    docked: Angles = (2.932, 0.741, 0.776)  # rad, the set-point
    start: Angles = (2.432, 0.241, 1.276)  # rad
    start_rates: Angles = (0.0, 0.0, 0.0)  # rad/s, of the joints
    side: float = -0.425  # m, wall x ≥ x_docked + side
    floor: float = 0.05  # m, wall y ≥ y_docked + floor
    walls: tuple[Wall, ...] | None = None  # None: those two
    restitution: float = 1.0
    orbit_radius: float = 6731290.0  # m
    mu: float = 3.986004418e14  # m³/s²
    gravity: bool = True
    gravity_gradient: bool = False  # of each rod's extension, second order, torque and force
    torque_limit: float | None = None  # N m, every joint
    latch_impact: int | None = None  # the impact (1 is the first) that catches the payload
    latch_wall: int | None = None  # or: the first impact on this wall does
    retreat: Angles | None = None  # rad, set-point from the latch on

    @cached_property
    def orbital_rate(self) -> float:
        return float(np.sqrt(self.mu / self.orbit_radius**3))

    @cached_property
    def planes(self) -> list[tuple[complex, complex]]:
        """Point and unit normal of every wall."""
        walls = self.walls
        if walls is None:
            tip = complex(*self.root) + np.sum(np.array(self.lengths) * np.exp(1j * np.cumsum(self.docked)))
            walls = (((tip.real + self.side, tip.imag), (1.0, 0.0)), ((tip.real, tip.imag + self.floor), (0.0, 1.0)))
        return [(complex(*point), complex(*normal) / abs(complex(*normal))) for point, normal in walls]


REAL_ARM = Parameters((6.37, 7.06, 1.88), (180.0, 140.0, 90.0), kp=(190.0,) * 3, kd=(38.0,) * 3, side=-1.2, floor=0.3)


@dataclass(frozen=True)
class System:
    """What is connected how. Rows of `arms` (bodies × angles): station, three links, payload."""

    parameters: Parameters
    arms: np.ndarray
    masses: np.ndarray
    inertias: np.ndarray  # of station and links about their centres of mass
    setpoint: np.ndarray
    latched: bool = False

    @classmethod
    def assembled(cls, p: Parameters) -> System:
        arms = np.zeros((5, 4), complex)
        arms[1:, 0] = complex(*p.root)
        for link, length in enumerate(p.lengths):
            arms[1 + link, 1 + link] = length / 2
            arms[2 + link :, 1 + link] = length
        masses = np.array([p.station_mass, *p.masses, p.payload])
        inertias = masses[:4] * np.array([p.station_length, *p.lengths]) ** 2 / 12
        return cls(p, arms, masses, inertias, np.array(p.docked))

    def jacobian(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors c e^{iΦ} (bodies × angles), and the derivative of every centre of mass (bodies × coordinates)."""
        turned = self.arms * np.exp(1j * (ABSOLUTE @ q[2:]))
        return turned, np.hstack([np.tile([1, 1j], (len(turned), 1)), 1j * turned @ ABSOLUTE])

    def mass_matrix(self, jacobian: np.ndarray) -> np.ndarray:
        matrix = ((self.masses * jacobian.conj().T) @ jacobian).real
        matrix[2:, 2:] += (ABSOLUTE.T * self.inertias) @ ABSOLUTE
        return matrix

    def gravity(self, t: float, places: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Forces on the centres of mass and torques on the rods, relative to the origin's fall, and their potential."""
        p, radius = self.parameters, self.parameters.orbit_radius
        origin = radius * np.exp(1j * p.orbital_rate * t)
        growth = ((places + 2 * origin) * places.conj()).real / radius**2  # |r + d|² / r² − 1
        root = np.sqrt(1 + growth)
        excess = -growth * (3 + growth * (3 + growth)) / (1 + root**3) / root**3  # (1 + growth)^(−3/2) − 1
        forces = -p.mu / radius**3 * self.masses * ((1 + excess) * places + excess * origin)
        bend = (growth / (1 + root)) ** 2 * (root + 2) / (2 * root)  # 1 / root − 1 + growth / 2
        potential = -p.mu / radius * self.masses @ (bend - (places * places.conj()).real / (2 * radius**2))
        torques = np.zeros(4)
        if p.gravity_gradient:  # of a rod: −μ I (3 cos² − 1) / (2 r³), cos between rod and vertical
            distance, rod = np.abs(origin + places[:4]), np.exp(1j * angles)
            outward = (origin + places[:4]) / distance
            cosine, sine = (rod.conj() * outward).real, (rod.conj() * outward).imag
            strength = p.mu * self.inertias / distance**3
            torques = 3 * strength * cosine * sine
            forces[:4] += strength / (2 * distance) * (6 * cosine * rod + (3 - 15 * cosine**2) * outward)
            potential -= float(np.sum(strength * (3 * cosine**2 - 1)) / 2)
        return forces, torques, float(potential)

    def derivative(self, t: float, state: np.ndarray) -> np.ndarray:
        p = self.parameters
        q, v = np.split(state, 2)
        turned, jacobian = self.jacobian(q)
        forces = self.masses * (turned @ (ABSOLUTE @ v[2:]) ** 2)  # −m × acceleration at rest of v'
        torques = np.zeros(4)
        if p.gravity:
            pull, torques, _ = self.gravity(t, complex(q[0], q[1]) + turned.sum(1), ABSOLUTE @ q[2:])
            forces = forces + pull
        motors = np.array(p.kp) * (self.setpoint - q[3:]) - np.array(p.kd) * v[3:]
        if p.torque_limit is not None:
            motors = np.clip(motors, -p.torque_limit, p.torque_limit)
        generalised = (jacobian.conj().T @ forces).real
        generalised[2:] += ABSOLUTE.T @ torques
        generalised[3:] += motors
        return np.concatenate([v, np.linalg.solve(self.mass_matrix(jacobian), generalised)])

    def initial_state(self) -> np.ndarray:
        """Station at the origin, θ = 0, turning at the orbital rate; the system has no momentum in the frame."""
        p = self.parameters
        q, v = np.array([0.0, 0.0, 0.0, *p.start]), np.array([0.0, 0.0, p.orbital_rate, *p.start_rates])
        _, jacobian = self.jacobian(q)
        drift = -(self.masses @ (jacobian @ v)) / self.masses.sum()
        v[:2] = drift.real, drift.imag
        return np.concatenate([q, v])

    def invariants(self, t: float, state: np.ndarray) -> np.ndarray:
        """Energy (kinetic and tidal), angular momentum about the system's centre of mass, linear momentum (x, y)."""
        turned, jacobian = self.jacobian(state[:6])
        places, velocities = complex(state[0], state[1]) + turned.sum(1), jacobian @ state[6:]
        rates, angles = ABSOLUTE @ state[8:], ABSOLUTE @ state[2:6]
        energy = (self.masses @ np.abs(velocities) ** 2 + self.inertias @ rates**2) / 2
        if self.parameters.gravity:
            energy += self.gravity(t, places, angles)[2]
        momentum = self.masses @ velocities
        about = places - self.masses @ places / self.masses.sum()
        spin = (self.masses * about.conj()) @ velocities
        return np.array([energy, spin.imag + self.inertias @ rates, momentum.real, momentum.imag])

    def payload(self, state: np.ndarray) -> tuple[complex, np.ndarray]:
        """The payload's place in station axes and its derivative by the six coordinates."""
        turned = self.arms[4, 1:] * np.exp(1j * np.cumsum(state[3:6]))
        return self.arms[4, 0] + turned.sum(), np.concatenate([np.zeros(3), 1j * np.cumsum(turned[::-1])[::-1]])

    def gap(self, state: np.ndarray, wall: int) -> tuple[float, float]:
        """Distance of the payload in front of a wall, and its rate."""
        point, normal = self.parameters.planes[wall]
        place, slope = self.payload(state)
        return ((place - point) * normal.conjugate()).real, float((slope * normal.conjugate()).real @ state[6:])

    def reflected(self, state: np.ndarray, wall: int) -> tuple[np.ndarray, complex]:
        """The state after an impact, and the impulse on the payload (station axes)."""
        normal = self.parameters.planes[wall][1]
        _, jacobian = self.jacobian(state[:6])
        gradient = (self.payload(state)[1] * normal.conjugate()).real
        push = np.linalg.solve(self.mass_matrix(jacobian), gradient)
        impulse = -(1 + self.parameters.restitution) * (gradient @ state[6:]) / (gradient @ push)
        return np.concatenate([state[:6], state[6:] + push * impulse]), impulse * normal

    def latching(self, state: np.ndarray) -> tuple[System, np.ndarray, complex]:
        """System and state after the payload is stopped on the station, joined to it and let go by the arm."""
        _, jacobian = self.jacobian(state[:6])
        place, slope = self.payload(state)
        sliding = np.stack([slope.real, slope.imag])  # of the payload over the station, station axes
        push = np.linalg.solve(self.mass_matrix(jacobian), sliding.T)
        impulse = -np.linalg.solve(sliding @ push, sliding @ state[6:])
        arms = np.vstack([self.arms[:4], [place, 0, 0, 0]])
        setpoint = self.setpoint if self.parameters.retreat is None else np.array(self.parameters.retreat)
        after = replace(self, arms=arms, setpoint=setpoint, latched=True)
        return after, np.concatenate([state[:6], state[6:] + push @ impulse]), complex(*impulse)


@dataclass(frozen=True)
class Impact:
    time: float
    wall: int
    approach_speed: float  # m/s
    impulse: complex  # N s on the payload, station axes
    before: np.ndarray
    after: np.ndarray
    system_before: System
    system_after: System


@dataclass(frozen=True)
class Solution:
    impacts: list[Impact]
    states: np.ndarray  # at the times asked for; at an impact, the state behind it
    invariants: np.ndarray  # at these times: energy, angular momentum about the centre of mass, linear momentum
    final: np.ndarray
    system: System  # at the end


def reached(system: System, start: float, state: np.ndarray, rtol: float, atol: float, t: float) -> np.ndarray:
    if t == start:
        return state
    options = {"method": "DOP853", "rtol": rtol, "atol": atol, "first_step": t - start}
    return solve_ivp(system.derivative, (start, t), state, **options).y[:, -1]


def first_touch(
    system: System, t: float, until: float, wall: int, resting: bool, reach: StateAt, rough: StateAt
) -> float | None:
    """The first instant of a step at which a wall's gap turns negative.

    `reach` and `rough` give the state in the step: integrated up to there, and by the integrator's interpolant, used
    where its error cannot change a sign. `resting`: this wall was hit at the step's start, its gap is zero but for rounding.
    """

    def look(time: float) -> tuple[float, float, float]:
        gap, rate = system.gap(rough(time), wall)
        return (time, gap, rate) if min(gap, abs(rate)) > DOUBTFUL else (time, *system.gap(reach(time), wall))

    looks = [(t, *system.gap(reach(t), wall))]
    if looks[0][1] <= 0 and looks[0][2] < 0 and not resting:
        return t
    for time in np.linspace(t, until, SAMPLES + 1)[1:]:
        now = look(time)
        if looks[-1][2] * now[2] < 0:  # an extremum of the gap
            turn = brentq(lambda s: system.gap(reach(s), wall)[1], looks[-1][0], time, xtol=1e-14, rtol=1e-15)
            looks.append((turn, system.gap(reach(turn), wall)[0], 0.0))
        looks.append(now)
    for i in range(1, len(looks)):
        if looks[i][1] < 0:
            if looks[i - 1][1] <= 0 or (resting and i == 1):
                raise ArithmeticError(f"wall {wall} holds contact at {t} s: only impacts are modelled")
            return brentq(lambda s: system.gap(reach(s), wall)[0], looks[i - 1][0], looks[i][0], xtol=1e-14, rtol=1e-15)
    return None


def solve(
    p: Parameters, duration: float, times: Times = (), rtol: float = 1e-12, atol: float = 1e-14, step: float = 0.1
) -> Solution:
    """The motion from t = 0, with impacts. Raises ArithmeticError if they accumulate or contact is held."""
    system, walls = System.assembled(p), range(len(p.planes))
    t, state, last = 0.0, system.initial_state(), -1
    wanted = np.array(times, float)
    states, invariants = np.full((len(wanted), 12), np.nan), np.full((len(wanted), 4), np.nan)
    impacts: list[Impact] = []

    while len(impacts) <= MOST_IMPACTS:
        solver = DOP853(system.derivative, t, state, duration, rtol=rtol, atol=atol, max_step=step)
        hit = None
        while solver.status == "running" and hit is None:
            start, before = solver.t, solver.y.copy()
            message = solver.step()
            assert solver.status != "failed", message
            reach = partial(reached, system, start, before, rtol, atol)
            found, rough = [], solver.dense_output()
            for wall in walls if not system.latched else []:
                touch = first_touch(system, start, solver.t, wall, start == t and wall == last, reach, rough)
                found += [] if touch is None else [(touch, wall)]
            hit = min(found, default=None)
            stop = solver.t if hit is None else hit[0]
            for k in np.flatnonzero((wanted >= start) & ((wanted < stop) | (wanted == duration) & (stop == duration))):
                states[k] = reach(wanted[k])
                invariants[k] = system.invariants(wanted[k], states[k])
        if hit is None:
            return Solution(impacts, states, invariants, solver.y, system)
        (t, last), arrived = hit, reach(hit[0])
        caught = len(impacts) + 1 == p.latch_impact or last == p.latch_wall
        after, state, impulse = system.latching(arrived) if caught else (system, *system.reflected(arrived, last))
        impacts.append(Impact(t, last, -system.gap(arrived, last)[1], impulse, arrived, state, system, after))
        system = after
    raise ArithmeticError(f"more than {MOST_IMPACTS} impacts by {t} s")

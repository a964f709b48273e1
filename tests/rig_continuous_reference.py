"""A rig of one axis with continuous dynamics, in SciPy, for tests: an implementation that shares no code with the package.

m Ẍ = F(t − τ) + F_v(X, V) − g V. The robot is driven by commands that are renewed every hold period; its states are
integrated by DOP853 from one command to the next, and the force of a delay ago is that of its dense output there. The
virtual mass is integrated by DOP853, too, from one instant to the next at which anything is not smooth: a command
reaches the delayed robot, a held sample is renewed, the delayed robot meets the wall or leaves it, its force ends or
returns, the mass meets the virtual wall or leaves it. All of these are located on the dense outputs.

A force that is pushing makes X, the overlap, smaller. The robot has followed the approach for long before t = 0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

FINE = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-16, "dense_output": True}
SAME = 1e-12  # s; instants closer than this are one
PARTS = 24  # looks at a function, in which its sign is sought to change


@dataclass(frozen=True)
class Wall:
    """k dⁿ + b ḋ, or with `hunt` k dⁿ (1 + b ḋ); without `adhesion` it never pulls."""

    stiffness: float
    damping: float = 0.0
    exponent: float = 1.0
    hunt: bool = False
    adhesion: bool = False

    def raw(self, depth, rate):
        grown = self.stiffness * np.sign(depth) * abs(depth) ** self.exponent
        return grown * (1 + self.damping * rate) if self.hunt else grown + self.damping * rate

    def presses(self, depth, rate):
        """The sign of the force."""
        return 1 + self.damping * rate if self.hunt else self.raw(depth, rate)

    def force(self, depth, rate):
        if depth <= 0:
            return 0.0
        return self.raw(depth, rate) if self.adhesion else max(self.raw(depth, rate), 0.0)


@dataclass(frozen=True)
class Numbers:
    """A rig: SI units."""

    mass: float
    wall: Wall
    position: float
    velocity: float
    hold: float
    delay: float = 0.0
    zeros: tuple[float, ...] = ()
    poles: tuple[complex, ...] = ()  # none: a robot that follows at once
    virtual: Wall | None = None
    gain: float = 0.0  # N s/m, on the model's velocity
    sensor_period: float | None = None
    half: float = 0.0  # s, by which the commanded position is old


def state_space(zeros, poles):
    """A, B, C of the robot of unit gain at rest; observable canonical form."""
    bottom = np.real(np.poly(poles))
    top = np.real(np.poly(zeros)) if zeros else np.ones(1)
    top = np.concatenate([np.zeros(len(bottom) - 1 - len(top)), top * bottom[-1] / top[-1]])
    size = len(poles)
    a = np.diag(np.ones(size - 1), 1)
    a[:, 0] = -bottom[1:]
    return a, top, np.eye(size)[0]


@dataclass
class Robot:
    """The robot's way: place and speed at any time since t = 0."""

    rig: Numbers
    starts: list = field(default_factory=list)
    pieces: list = field(default_factory=list)  # of dense output with its command; without dynamics place and speed

    def __post_init__(self):
        rig = self.rig
        if rig.poles:
            self.a, self.b, self.c = state_space(rig.zeros, rig.poles)
            # of a ramp that is as late as a hold is in the mean
            inverse, ramp = np.linalg.inv(self.a), rig.position - rig.velocity * (rig.hold / 2 + rig.half)
            self.state = -inverse @ self.b * ramp - inverse @ inverse @ self.b * rig.velocity

    def command(self, time, place, speed):
        """Renewed at `time`, for a hold period."""
        self.starts.append(time)
        if not self.rig.poles:
            self.pieces.append((place, speed))
            return
        found = solve_ivp(lambda t, x: self.a @ x + self.b * place, (time, time + self.rig.hold), self.state, **FINE)
        self.state = found.y[:, -1]
        self.pieces.append((found.sol, place))

    def at(self, time, index):
        """Place and speed at `time`, the command number `index` given."""
        if index < 0:
            return -1.0, 0.0  # no force acts before t = 0
        first, second = self.pieces[index]
        if not self.rig.poles:
            return first, second
        x = first(time)
        return self.c @ x, self.c @ (self.a @ x + self.b * second)


class Run:
    """The motion up to `duration`: `time`, `x` and `v` at the commands, `robot` its way, `sol` the motion in pieces."""

    def __init__(self, rig: Numbers, duration: float):
        self.rig, self.robot = rig, Robot(rig)
        self.starts, self.sols, self.changes = [], [], 0
        y, held, time = np.array([rig.position, rig.velocity]), 0.0, 0.0
        rows = []
        for k in range(round(duration / rig.hold) + 1):
            begun = k * rig.hold
            rows.append((begun, *y))
            self.robot.command(begun, *self.wanted(begun, y))
            end = begun + rig.hold
            marks = self.marks(begun, end)
            while time < end - SAME:
                if rig.sensor_period and abs(time / rig.sensor_period - round(time / rig.sensor_period)) < 1e-9:
                    held = self.late(time, before=True)
                until = min([end, *(mark for mark in marks if mark > time + SAME)])
                until = self.quiet(time, until)
                time, y = self.smooth(time, until, y, held)
        self.time, self.x, self.v = np.array(rows).T

    def wanted(self, time, y):
        """What is commanded: the motion half a period ago."""
        if not self.rig.half:
            return y
        ago = time - self.rig.half
        if ago < 0:
            return self.rig.position + self.rig.velocity * ago, self.rig.velocity
        at = np.searchsorted(self.starts, ago + SAME, side="right") - 1
        return self.sols[at](ago)

    def marks(self, begun, end):
        """Instants of a hold period at which a command reaches the delayed robot, or a sample is renewed."""
        rig = self.rig
        found = [k * rig.hold + rig.delay for k in range(len(self.robot.starts))]
        if rig.sensor_period:
            first = int(begun / rig.sensor_period)
            found += [k * rig.sensor_period for k in range(first, first + int(rig.hold / rig.sensor_period) + 2)]
        return [mark for mark in found if begun - SAME < mark < end - SAME]

    def index(self, time, before=False):
        """Which command the delayed robot has at `time`; `before` one that reaches it then."""
        edge = -1e-10 if before else 1e-10
        return int(np.searchsorted(np.array(self.robot.starts) + self.rig.delay, time + edge, side="right")) - 1

    def late(self, time, before=False):
        """Force of the delayed robot, sampled at an instant."""
        at = self.index(time, before)
        if before and at < 0 <= self.index(time):
            at = 0  # at t = 0 itself it is the force there
        return self.rig.wall.force(*self.robot.at(time - self.rig.delay, at)) if at >= 0 else 0.0

    def quiet(self, start, end):
        """The first time up to `end` at which the delayed robot's force stops being smooth."""
        if self.rig.sensor_period or not self.rig.poles:
            return end
        at = self.index(start)
        if at < 0:
            return end

        def depth(t):
            return self.robot.at(t - self.rig.delay, at)[0]

        def pressing(t):
            return self.rig.wall.presses(*self.robot.at(t - self.rig.delay, at))

        found = [*roots(depth, start, end)]
        if not self.rig.wall.adhesion:
            found += roots(pressing, start, end)
        self.changes += len(found)
        return min([end, *(root for root in found if root > start + SAME)])

    def smooth(self, start, end, y, held):
        """The motion over a stretch in which no force but the virtual wall's changes its kind."""
        rig, at = self.rig, self.index(start)
        middle = (start + end) / 2 - rig.delay
        acts = at >= 0 and rig.wall.force(*self.robot.at(middle, at)) != 0
        touches = rig.virtual is not None and (y[0] > 0 if abs(y[0]) > 1e-15 else y[1] > 0)

        def flow(t, y):
            force = held if rig.sensor_period else rig.wall.raw(*self.robot.at(t - rig.delay, at)) if acts else 0.0
            virtual = rig.virtual.raw(*y) if touches else 0.0
            return [y[1], -(force + virtual + rig.gain * y[1]) / rig.mass]

        def integrate(until):
            return solve_ivp(flow, (start, until), y, **FINE)

        found = integrate(end)
        if rig.virtual is not None:
            met = [t for t in roots(lambda t: found.sol(t)[0], start, end) if t > start + SAME]
            if met and met[0] < end - SAME:
                found, self.changes = integrate(met[0]), self.changes + 1
        self.starts.append(start)
        self.sols.append(found.sol)
        return found.t[-1], found.y[:, -1]


def roots(function, start, end):
    """Zeros inside an interval, wherever the sign changes between `PARTS` looks."""
    times = np.linspace(start, end, PARTS + 1)
    values = np.array([function(t) for t in times])
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    return [brentq(function, times[i], times[i + 1], xtol=1e-16, rtol=1e-15) for i in at]


def scenario(rig: Numbers, duration: float) -> str:
    """The same rig as a scenario of the package."""

    def law(wall):
        if wall.hunt:
            numbers = {"law": "hunt-crossley", "exponent": wall.exponent}
        else:
            numbers = {"law": "spring-dashpot", "adhesion": wall.adhesion}
        return numbers | {"stiffness": wall.stiffness, "damping": wall.damping}

    def table(name, numbers):
        return "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in numbers)])

    tables = {
        "start": {"position": rig.position, "velocity": rig.velocity},
        "contact.normal": law(rig.wall),
        "loop.hold": {"period": rig.hold},
        "stability": {"depth": abs(rig.velocity) * 0.01},
        "loop.sensor": {"delay": rig.delay} | ({"period": rig.sensor_period} if rig.sensor_period else {}),
    }
    if rig.poles:
        roots_of = [[float(np.real(p)), float(np.imag(p))] for p in rig.poles]
        gain = np.prod(-np.array(rig.poles)).real / (np.prod(-np.array(rig.zeros)) if rig.zeros else 1.0)
        tables["loop.robot"] = {"zeros": list(rig.zeros), "poles": roots_of, "gain": float(gain)}
    if rig.virtual is not None:
        tables["loop.virtual_contact"] = {"stiffness": rig.virtual.stiffness, "damping": rig.virtual.damping}
    if rig.gain:
        own = {"law": "fixed-gain", "gain": rig.gain, "velocity": "model", "gated": False}
        tables["loop.compensator"] = own
    if rig.half:
        tables["loop.dynamics"] = {"method": "half-period", "period": 2 * rig.half}
    head = f'schema = 1\nkind = "rig"\nduration = {duration}\nmass = {rig.mass}\n'
    return head + "\n".join(table(name, numbers.items()) for name, numbers in tables.items())


def random_rig(seed: int) -> Numbers:
    """A bounce of a random mass on a random wall, by a rig with a random robot, delay and hold.

    Every fourth has a robot that follows at once, every third a virtual contact, every fifth a held measurement.
    """
    rng = np.random.default_rng(seed)
    mass, turn, hold = float(10 ** rng.uniform(1, 3)), rng.uniform(0.04, 0.3), float(10 ** rng.uniform(-3, -2))
    stiffness = mass * (turn / hold) ** 2
    whole = float(np.sqrt(stiffness * mass))
    hunt = bool(rng.random() < 0.3)
    share = rng.uniform(0.02, 0.2)
    velocity = rng.uniform(0.01, 0.2)
    exponent = float(rng.choice([1.0, 1.5])) if hunt else 1.0
    depth = velocity * hold / turn  # m, about the deepest
    wall = Wall(
        stiffness * depth ** (1 - exponent), share / velocity if hunt else share * whole, exponent, hunt,
        bool(rng.random() < 0.3) and not hunt,
    )
    real, turned = -rng.uniform(0.3, 2) / hold, rng.uniform(0, 2) / hold
    poles = (complex(real, turned), complex(real, -turned))
    zeros = (float(-rng.uniform(1, 4) / hold),) if rng.random() < 0.5 else ()
    virtual = Wall(0.6 * stiffness, 0.05 * whole, adhesion=True)
    return Numbers(
        mass, wall, -rng.uniform(0.5, 2.5) * hold * velocity, velocity, hold,
        delay=float(hold * rng.uniform(0, 2.5)),
        zeros=zeros if seed % 4 else (), poles=poles if seed % 4 else (),
        virtual=virtual if seed % 3 == 0 else None,
        gain=float(rng.choice([0.0, 0.1]) * whole),
        sensor_period=hold / 2 if seed % 5 == 4 else None,
    )

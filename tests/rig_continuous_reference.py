"""A rig of one axis with continuous dynamics, in SciPy, for tests: an implementation that shares no code with the package.

m Ẍ = F(t − τ) + F_v(X, V) − g V. The robot is driven by commands that are renewed every hold period; its states are
integrated by DOP853 from one command to the next, and the force of a delay ago is that of its dense output there. The
virtual mass is integrated by DOP853, too, from one instant to the next at which anything is not smooth: a command
reaches the delayed robot, a held sample is renewed, the delayed robot meets the wall or leaves it, its force ends or
returns, the mass meets the virtual wall or leaves it. All of these are located on the dense outputs.

A force that is pushing makes X, the overlap, smaller. The robot has followed the approach for long before t = 0.
"""

import json
from dataclasses import dataclass, field

import numpy as np
from helpers.line_rig import HEAD
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

FINE = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15, "dense_output": True}
LONG = 4.0  # s, of the approach before a run
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
        """What has the sign of the force, as far as that may push only."""
        if self.adhesion:
            return 1.0
        return 1 + self.damping * rate if self.hunt else self.raw(depth, rate)


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
    """The robot's way along its axes: place and speed at any time since t = 0."""

    rig: Numbers
    place: np.ndarray  # commanded at t = 0
    speed: np.ndarray
    starts: list = field(default_factory=list)
    pieces: list = field(default_factory=list)  # of dense output with its command; without dynamics place and speed

    def __post_init__(self):
        rig = self.rig
        if rig.poles:
            self.a, self.b, self.c = state_space(rig.zeros, rig.poles)
            # at rest where the approach was long ago, then command by command
            driven = np.zeros((len(self.b) + 1, len(self.b) + 1))
            driven[:-1, :-1], driven[:-1, -1] = self.a, self.b
            held = expm(driven * rig.hold)[:-1]
            count = round(LONG / rig.hold)
            told = self.place - np.outer(rig.half + rig.hold * np.arange(count, 0, -1), self.speed)
            self.state = -np.outer(told[0], np.linalg.solve(self.a, self.b))
            for command in told:
                self.state = self.state @ held[:, :-1].T + np.outer(command, held[:, -1])

    def command(self, time, place, speed):
        """Renewed at `time`, for a hold period."""
        self.starts.append(time)
        if not self.rig.poles:
            self.pieces.append((place, speed))
            return

        def flow(t, x):
            return (x.reshape(-1, len(self.b)) @ self.a.T + np.outer(place, self.b)).ravel()

        found = solve_ivp(flow, (time, time + self.rig.hold), self.state.ravel(), **FINE)
        self.state = found.y[:, -1].reshape(-1, len(self.b))
        self.pieces.append((found.sol, place))

    def at(self, time, index):
        """Place and speed at `time`, the command number `index` given."""
        first, second = self.pieces[index]
        if not self.rig.poles:
            return first, second
        x = first(time).reshape(-1, len(self.b))
        return x @ self.c, (x @ self.a.T + np.outer(second, self.b)) @ self.c


class Run:
    """The motion up to `duration`: `time` and `states` (X, V) at the commands, `robot` its way, `sol` the motion in pieces."""

    def __init__(self, rig: Numbers, duration: float):
        self.rig = rig
        self.starts, self.sols, self.changes = [], [], 0
        y, held, time = self.begin(), 0.0, 0.0
        self.robot = Robot(rig, *self.commanded(y))
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
        self.time, self.states = np.array(rows)[:, 0], np.array(rows)[:, 1:]

    def begin(self):
        return np.array([self.rig.position, self.rig.velocity])

    def commanded(self, y):
        """Place and speed of the axes that a motion asks for."""
        return y[:1], y[1:]

    def touch(self, place, speed):
        """Depth, and what has the sign of the force, of the mock-ups."""
        return place[0], self.rig.wall.presses(place[0], speed[0])

    def load(self, place, speed, acts):
        """What they do to each other if their contact `acts`."""
        return self.rig.wall.raw(place[0], speed[0]) if acts else 0.0

    def acts(self, place, speed):
        depth, presses = self.touch(place, speed)
        return depth > 0 and presses > 0

    def wanted(self, time, y):
        """What is commanded: the motion half a period ago."""
        if not self.rig.half:
            return self.commanded(y)
        ago = time - self.rig.half
        if ago < 0:
            place, speed = self.commanded(self.begin())
            return place + speed * ago, speed
        at = np.searchsorted(self.starts, ago + SAME, side="right") - 1
        return self.commanded(self.sols[at](ago))

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
        if at < 0:
            return 0.0
        there = self.robot.at(time - self.rig.delay, at)
        return self.load(*there, self.acts(*there))

    def quiet(self, start, end):
        """The first time up to `end` at which the delayed robot's force stops being smooth."""
        at = self.index(start)
        if self.rig.sensor_period or at < 0:
            return end
        found = [t + self.rig.delay for t in self.breaks(start - self.rig.delay, end - self.rig.delay, at)]
        self.changes += len(found)
        return min([end, *(root for root in found if root > start + SAME)])

    def breaks(self, start, end, index):
        """Instants at which the robot's contact opens or closes, its force ends or returns; of one command."""
        if not self.rig.poles:
            return []
        return sorted(
            root for i in (0, 1) for root in roots(lambda t, i=i: self.touch(*self.robot.at(t, index))[i], start, end)
        )

    def smooth(self, start, end, y, held):
        """The motion over a stretch in which no force but the virtual wall's changes its kind."""
        rig, at = self.rig, self.index(start)
        middle = (start + end) / 2 - rig.delay
        acts = at >= 0 and self.acts(*self.robot.at(middle, at))
        touches = rig.virtual is not None and (y[0] > 0 if abs(y[0]) > 1e-15 else y[1] > 0)

        def flow(t, y):
            if rig.sensor_period or not acts:
                return self.flow(y, held, touches)
            return self.flow(y, self.load(*self.robot.at(t - rig.delay, at), True), touches)

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

    def flow(self, y, load, touches):
        rig = self.rig
        virtual = rig.virtual.raw(*y) if touches else 0.0
        return [y[1], -(load + virtual + rig.gain * y[1]) / rig.mass]


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
        "body.target": {"mass": rig.mass, "position": rig.position, "velocity": rig.velocity},
        "contact.spring.normal": law(rig.wall),
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
    head = f"{HEAD}duration = {duration}\n"
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
        stiffness * depth ** (1 - exponent),
        share / velocity if hunt else share * whole,
        exponent,
        hunt,
        bool(rng.random() < 0.3) and not hunt,
    )
    real, turned = -rng.uniform(0.3, 2) / hold, rng.uniform(0, 2) / hold
    poles = (complex(real, turned), complex(real, -turned))
    zeros = (float(-rng.uniform(1, 4) / hold),) if rng.random() < 0.5 else ()
    virtual = Wall(0.6 * stiffness, 0.05 * whole, adhesion=True)
    return Numbers(
        mass,
        wall,
        -rng.uniform(0.5, 2.5) * hold * velocity,
        velocity,
        hold,
        delay=float(hold * rng.uniform(0, 2.5)),
        zeros=zeros if seed % 4 else (),
        poles=poles if seed % 4 else (),
        virtual=virtual if seed % 3 == 0 else None,
        gain=float(rng.choice([0.0, 0.1]) * whole),
        sensor_period=hold / 2 if seed % 5 == 4 else None,
    )

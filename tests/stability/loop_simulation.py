"""A sampled loop simulated in time, and random loops.

The simulation shares no idea with the package: no matrix exponential, no monodromy, no delayed copy of the robot.
The robot's response to each held command is the sum of its modes, kept as a history; the force at t is read from the
history at t − τ; the model between instants is a Gauss quadrature of that force. What happens at one instant happens in
the order: measure (what was there before the command of that instant), renew the command, step the dynamics.
"""

from bisect import bisect_left
from fractions import Fraction

import numpy as np
from numpy.polynomial.legendre import leggauss

from dockdyn.stability import TransferFunction, sampled_loop

# --- a simulation ----------------------------------------------------------------------------------------------------

NODES, WEIGHTS = leggauss(24)


class Modes:
    """Response of a strictly proper robot with simple poles to held commands: y = Σ yᵢ, yᵢ′ = pᵢ yᵢ + rᵢ u."""

    def __init__(self, zeros, poles, gain):
        self.poles = np.asarray(poles, complex)
        apart = self.poles[:, None] - self.poles + np.eye(len(poles))
        self.residues = gain * (self.poles[:, None] - np.asarray(zeros, complex)).prod(-1) / apart.prod(-1)
        self.starts, self.states, self.commands = [-np.inf], [np.zeros(len(poles), complex)], [0.0]

    def after(self, index, times):
        """Modes at `times` in the stretch `index` of the history."""
        if index == 0:
            return np.zeros((*np.shape(times), len(self.poles)), complex)
        settled = -self.residues / self.poles * self.commands[index]
        ages = np.asarray(times)[..., None] - self.starts[index]
        return settled + np.exp(self.poles * ages) * (self.states[index] - settled)

    def command(self, time, value, velocity):
        self.states.append(self.after(len(self.starts) - 1, time))
        self.starts.append(time)
        self.commands.append(value)

    def motion(self, times, before):
        """Position and velocity at `times` in the stretch that holds the instants shortly before the time `before`."""
        index = bisect_left(self.starts, before) - 1
        modes = self.after(index, times)
        return modes.sum(-1).real, (modes * self.poles + self.residues * self.commands[index]).sum(-1).real


class Follower:
    """A robot that is where it is told, with the velocity it is told."""

    def __init__(self):
        self.starts, self.values = [-np.inf], [(0.0, 0.0)]

    def command(self, time, value, velocity):
        self.starts.append(time)
        self.values.append((value, velocity))

    def motion(self, times, before):
        position, velocity = self.values[bisect_left(self.starts, before) - 1]
        return np.full(np.shape(times), position), np.full(np.shape(times), velocity)


EXTRAS = ("lead", "second_lead", "virtual_stiffness", "virtual_damping")
STEPS = {"zero-order-hold": 0.5, "explicit-euler": 0.0, "semi-implicit-euler": 1.0}


def instants(case, end):
    """All instants up to `end` (s), each with what happens then."""
    hold, rounding = case["hold"], 1e-9 * case["hold"]

    def grid(period, offset=0.0):
        return [] if period is None else list(offset + period * np.arange(round(end / period) + 1))

    kinds = {"hold": grid(hold), "sample": grid(case["sensor_period"]), "cycle": grid(cycle_of(case) * hold)}
    kinds["release"] = [
        t + case["delay"] - (case.get("averaging") or 0) / 2 for t in kinds["hold"]
    ]  # the contact sees the command
    kinds["step"] = grid(case["dynamics_period"]) if case["dynamics"] in STEPS else []
    kinds["record"] = grid(hold, hold - case["dynamics_period"] / 2) if case["dynamics"] == "half-period" else []
    found: list[tuple[float, set]] = []
    for t, name in sorted((t, name) for name, times in kinds.items() for t in times if t <= end + rounding):
        if not found or t - found[-1][0] > rounding:
            found.append((t, set()))
        found[-1][1].add(name)
    return found


def simulated(case, cycles, start=(1.0, 0.0), push=0.0):
    """Positions of the model at the start of each cycle, under a constant force `push` (N) besides; the last contact force."""
    m, k, b, g, tau, hold = (case[name] for name in ("mass", "stiffness", "damping", "gain", "delay", "hold"))
    sample, step = case["sensor_period"], case["dynamics_period"] if case["dynamics"] in STEPS else None
    window = case.get("averaging") or 0.0
    tau -= window / 2
    lead, second, kv, bv = (case.get(name, 0.0) for name in EXTRAS)
    robot = Modes(*case["robot"]) if case["robot"] else Follower()
    assert step or not kv  # between instants only what a first-order equation of the velocity can do
    rounding, end = 1e-9 * hold, cycles * cycle_of(case) * hold
    x, v = start
    force = speed = impulse = 0.0
    noted = 0.0, 0.0
    positions, groups = [], instants(case, end)

    def contact(times, before):
        position, velocity = robot.motion(np.asarray(times) - tau, before - tau)
        return -k * position - b * velocity

    for (t, names), (after, _) in zip(groups, [*groups[1:], (end, set())], strict=True):
        if "cycle" in names:
            positions.append(x)
        if "sample" in names or ("step" in names and sample is None):
            force = impulse / window if window else float(contact(t, t - rounding))
            impulse = 0.0
        if "step" in names:
            speed = v if case["velocity"] == "model" else float(robot.motion(t, t - rounding)[1])
        total = (force if sample or step else float(contact(t, t - rounding))) + push
        own = v if case["velocity"] == "model" else float(robot.motion(t, t - rounding)[1])
        total -= g * (speed if step else own) + kv * x + bv * v
        led = x + lead * v + second * total / m, v + lead * total / m
        if "record" in names:
            noted = led
        if "hold" in names:
            robot.command(t, *(noted if case["dynamics"] == "half-period" else led))
        if "step" in names:
            x, v = x + step * v + STEPS[case["dynamics"]] * step**2 * total / m, v + step * total / m
        length = after - t
        times = t + length * (NODES + 1) / 2
        if window and after > t:
            impulse += float(WEIGHTS @ contact(times, t + 2 * rounding)) * length / 2
        if step is None and after > t:
            acting = push + (force if sample else contact(times, t + 2 * rounding))
            rate = (bv + (g if case["velocity"] == "model" else 0.0)) / m
            if case["velocity"] == "robot":
                acting = acting - g * robot.motion(times, t + 2 * rounding)[1]
            kicks = np.append(WEIGHTS * length / 2 * acting / m, v)  # the velocity at t as one kick more
            left = np.append(after - times, length)
            fading = np.exp(-rate * left)
            x, v = x + kicks @ ((1 - fading) / rate if rate else left), kicks @ fading
    return np.array(positions), float(contact(end, end - rounding))


def cycle_of(case):
    """Its length in holds: the least common multiple of the periods."""
    periods = [case["sensor_period"], case["dynamics_period"] if case["dynamics"] in STEPS else None]
    ratios = [Fraction(period / case["hold"]).limit_denominator(50) for period in periods if period is not None]
    return int(np.lcm.reduce([1, *(ratio.numerator for ratio in ratios)]))


# sensor and dynamics period in holds, dynamics, order of the robot, what the compensator multiplies
STRUCTURES = [
    (None, None, "continuous", 2, "robot"),
    (None, None, "continuous", 0, "robot"),
    ("3/2", None, "continuous", 3, "model"),
    (None, "1/2", "half-period", 2, "robot"),
    (None, "1/2", "zero-order-hold", 1, "model"),
    ("2/3", "1/3", "semi-implicit-euler", 0, "robot"),
    ("1/4", "1/2", "explicit-euler", 3, "robot"),
    (None, "1/2", "half-period", 0, "model"),
    (None, "3/2", "half-period", 1, "robot"),
]
MORE_STRUCTURES = [
    (sensor, step, dynamics, order, velocity)
    for sensor in (None, "1/3", "2", "4/3")
    for step, dynamics in (
        (None, "continuous"),
        ("1", "half-period"),
        ("1/2", "explicit-euler"),
        ("2", "zero-order-hold"),
    )
    for order, velocity in ((0, "robot"), (0, "model"), (1, "robot"), (2, "model"), (3, "robot"))
]


def some_case(structure, rng, delays=(0.0, 3.3)):
    """A loop of moderate numbers: about eight holds to a radian, a robot faster than the contact, any delay."""
    sensor, step, dynamics, order, velocity = structure
    frequency, mass, hold = rng.uniform(2, 20), 10 ** rng.uniform(0, 3), rng.uniform(0.05, 0.2)
    bandwidth = frequency * rng.uniform(3, 8)
    poles = [-bandwidth * rng.uniform(0.6, 1.5)] * (order % 2)
    if order > 1:
        pole = bandwidth * np.exp(1j * rng.uniform(1.9, 2.8))
        poles += [pole, pole.conjugate()]
    zeros = [-bandwidth * rng.uniform(1, 3)] * (order > 1)
    gain = float((np.prod(-np.asarray(poles)) / np.prod(-np.asarray(zeros))).real) if order else 0.0
    hold = hold / frequency
    return {
        "mass": mass,
        "stiffness": mass * frequency**2,
        "damping": mass * frequency * rng.uniform(0, 0.5),
        "gain": mass * frequency * rng.uniform(-0.3, 0.5),
        "delay": hold * rng.uniform(*delays),
        "hold": hold,
        "sensor_period": None if sensor is None else hold * float(Fraction(sensor)),
        "dynamics_period": None if step is None else hold * float(Fraction(step)),
        "dynamics": dynamics,
        "velocity": velocity,
        "robot": (zeros, poles, gain) if order else None,
    }


def made(case, what=sampled_loop):
    numbers = {key: value for key, value in case.items() if key not in ("mass", "robot")}
    robot = TransferFunction.of_zeros(*case["robot"]) if case["robot"] else None
    return what(case["mass"], numbers.pop("stiffness"), **numbers, robot=robot)

"""A rig's loop along one direction of contact: virtual mass, hold, robot, contact, delayed force, compensator.

(m + j) Ẍ = F = F′(t − τ) − g Ẋ_R − K_v X − B_v Ẋ, X_R = G_R · hold(X + l₁ Ẋ + l₂ F/m), F′ = −K X_R − B Ẋ_R (SITS, eqs. 19, 20,
with a positive gain g that damps; K_v and B_v are of a contact in software).

Units: SI: kg, N/m, N s/m, s.
Source: as named above, with the signs and the hold corrected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from dockdyn.deferred import Array, ArrayLike, Float, jax, jnp
from dockdyn.parameters import Dynamics
from dockdyn.stability.contact_plant import ContactPlant, FreeMass
from dockdyn.stability.transfer_function import TransferFunction
from dockdyn.trees import Module, field

Velocity = Literal["robot", "model"]


class RobotStateSpace(Module):
    """State space of a robot: ẋ = A x + B X_c, X_R = C x; strictly proper, so its velocity is C (A x + B X_c)."""

    state: Float[Array, "n n"]
    input: Float[Array, "n"]
    output: Float[Array, "n"]

    @staticmethod
    def of_polynomials(numerator: Float[Array, "m"], denominator: Float[Array, "n+1"]) -> RobotStateSpace:
        """Return the strictly proper robot numerator(s) / denominator(s), highest power first; can be traced.

        Controllable canonical form in units of time that make its coefficients of like size.
        """
        order = denominator.shape[0] - 1
        scale = jax.lax.stop_gradient(jnp.abs(denominator[-1] / denominator[0]) ** (1 / order))
        powers = scale ** jnp.arange(order + 1)
        bottom = denominator / denominator[0] / powers
        top = numerator / denominator[0] / powers[order - numerator.shape[0] + 1 :]
        companion = jnp.eye(order, k=-1).at[0].set(-bottom[1:]) * scale
        drive = jnp.zeros(order).at[0].set(scale)
        return RobotStateSpace(companion, drive, jnp.zeros(order).at[order - top.shape[0] :].set(top))


class Loop(Module):
    """Numbers of the loop; a leading axis of every one of them stands for many loops."""

    effective_mass: Float[Array, ""]  # m, kg
    stiffness: Float[Array, ""]  # K, N/m
    damping: Float[Array, ""]  # B, N s/m
    delay: Float[Array, ""]  # τ, s, of the measured force
    gain: Float[Array, ""]  # g, N s/m
    hold: Float[Array, ""] | None  # T_c, s; None: the command is continuous
    sensor_period: Float[Array, ""] | None  # s; None: the force is measured continuously
    dynamics_period: Float[Array, ""] | None  # T, s
    robot: RobotStateSpace | None  # None: X_R is the command, Ẋ_R the velocity that goes with it
    dynamics: Dynamics = field(static=True)
    velocity: Velocity = field(static=True)  # what the compensator multiplies
    lead: Float[Array, ""] = field(default_factory=lambda: jnp.zeros(()))  # l₁, s
    second_lead: Float[Array, ""] = field(default_factory=lambda: jnp.zeros(()))  # l₂, s²
    virtual_stiffness: Float[Array, ""] = field(default_factory=lambda: jnp.zeros(()))  # K_v, N/m
    virtual_damping: Float[Array, ""] = field(default_factory=lambda: jnp.zeros(()))  # B_v, N s/m
    averaging: Float[Array, ""] | None = None  # s, window of which a sample is the mean; None: it is of an instant
    tool_mass: Float[Array, ""] | None = None  # m_t, kg, behind the sensor: − m_t Ẍ_R is in what it measures
    compensated_mass: Float[Array, ""] | None = None  # kg, whose inertia is taken away by the encoders' differences
    applies_after: int = field(static=True, default=0)  # hold periods from when a command is taken to when it applies
    inertia: Float[Array, ""] = field(default_factory=lambda: jnp.zeros(()))  # j, kg, that a compensator adds to m
    behind: ContactPlant | None = (
        None  # what moves, with all its contacts, in the place of m, K and B; None: they are it
    )

    @property
    def moved_mass(self) -> Float[Array, ""]:
        """Return the mass that forces accelerate (kg): m, and what a compensator adds to it."""
        return self.effective_mass + self.inertia

    @property
    def plant(self) -> ContactPlant | FreeMass:
        """Return the plant that moves, with its contacts."""
        return self.behind or FreeMass(self.moved_mass, self.stiffness, self.damping)

    def reduce_plant(self) -> Loop:
        """Return the same with no more behind the contacts than the loop sees. In numbers of NumPy; not traced."""
        return self if self.behind is None else replace(self, behind=self.behind.reduce_states())

    def sampled(self) -> bool:
        """Return whether anything in the loop happens at instants."""
        return self.hold is not None

    def is_stepped(self) -> bool:
        """Return whether the dynamics are digital."""
        return self.dynamics not in ("continuous", "half-period")

    def steps_period(self) -> Float[Array, ""]:
        """Return the time (s) from one step of digital dynamics to the next."""
        assert self.dynamics_period is not None
        return self.dynamics_period

    def sample_period(self) -> Float[Array, ""]:
        """Return the time (s) from one measurement of the force to the next, and the window of a sensor that averages."""
        period = self.dynamics_period if self.sensor_period is None else self.sensor_period
        assert period is not None
        return period

    def matrices(self) -> Float[Array, "2 n n"]:
        """Return A₀ and A₁ (1/s) of a loop without instants: ẋ(t) = A₀ x(t) + A₁ x(t − τ), x = what moves, what contacts
        remember and the robot's states.

        Without leads: the acceleration in the command would make the equation one of neutral type.
        """
        plant, robot = self.plant, self.robot
        count, channels, after = plant.size, plant.channels, plant.size + plant.creeps
        size = after + (0 if robot is None else channels * robot.input.shape[0])
        whole = jnp.eye(size)
        x, crept, axes = whole[:count], whole[count:after], whole[after:].reshape(-1, channels, size)
        y, own_speed = plant.places(x), plant.speeds(x)
        place, speed, free = y, own_speed, jnp.zeros((size, size))
        if robot is not None:
            rates = robot_rates(robot, axes, y)
            place, speed = (weighted_sums(robot.output, rows) for rows in (axes, rates))
            free = free.at[after:].set(rates.reshape(-1, size))
        compensation = self.gain * plant.compensated_speeds(own_speed if self.velocity == "model" else speed)
        virtual = self.virtual_stiffness * y + self.virtual_damping * own_speed
        free = free.at[:count].set(plant.state_rates(x, -(compensation + virtual)))
        free = free.at[count:after].set(plant.creep_rates(crept, place))
        late = plant.state_rates(jnp.zeros_like(x), plant.contact_forces(place, speed, crept))
        return jnp.stack([free, jnp.zeros((size, size)).at[:count].set(late)])


def weighted_sums(
    weights: Float[Array, "*rows times"], each: Float[Array, "times channels n"]
) -> Float[Array, "*rows channels n"]:
    """Return what every channel has several times, with weights: (rows, channels, n)."""
    return (weights @ each.reshape(len(each), -1)).reshape(*weights.shape[:-1], *each.shape[1:])


def robot_rates(
    robot: RobotStateSpace, axes: Float[Array, "order channels n"], command: Float[Array, "channels n"]
) -> Float[Array, "order channels n"]:
    """Return rates of a robot's states in every channel, as functions of x, from those of the states and of its command."""
    return weighted_sums(robot.state, axes) + robot.input[:, None, None] * command


class LoopNumbers(TypedDict, total=False):
    """Plain numbers of a loop beside those of its contact; what is left out is zero, or not there. They may be of many loops.

    Attributes:
        delay: of the measured force (s, any number ≥ 0).
        gain: compensation force per velocity (N s/m); positive damps.
        hold: the command is renewed at this period (s) and held; by default that of the dynamics, or never sampled.
        sensor_period: the delayed force is sampled at this period (s) and held; needs a hold or a period of the dynamics.
        dynamics_period: period (s) of the digital dynamics.
        robot: transfer function from commanded to actual position; none is a robot that follows at once.
        dynamics: "continuous"; "half-period": continuous, but what is commanded is half a `dynamics_period` old (the
            integrator's delay as its only trace); or a digital integrator stepped at `dynamics_period`: "zero-order-hold"
            (exact for a held force), "explicit-euler", "semi-implicit-euler" (velocity first).
        velocity: the compensator multiplies the "robot"'s velocity (SITS, eq. 20) or that of the "model".
        lead, second_lead: l₁ (s) and l₂ (s²) of the command X + l₁ V + l₂ A, A the total force over the mass; need a hold.
        virtual_stiffness, virtual_damping: of a contact in software (N/m, N s/m), which feels the model without delay.
        averaging: a sample is the mean of the force over this window (s), the period of the samples, and its middle is
            `delay` old.
        tool_mass: mass (kg) behind the sensor, whose inertia is in what is measured; needs digital dynamics, and a robot
            whose velocity does not jump or samples that are means.
        compensated_mass: mass (kg) whose inertia is taken away again, by differences of the robot's position at the steps.
        applies_after: whole periods of the hold from when a command is taken to when it applies.
        inertia: mass (kg) that a compensator adds to the effective one, −j Ẍ.
    """

    delay: ArrayLike
    gain: ArrayLike
    hold: ArrayLike | None
    sensor_period: ArrayLike | None
    dynamics_period: ArrayLike | None
    robot: TransferFunction | None
    dynamics: Dynamics
    velocity: Velocity
    lead: ArrayLike
    second_lead: ArrayLike
    virtual_stiffness: ArrayLike
    virtual_damping: ArrayLike
    averaging: ArrayLike | None
    tool_mass: ArrayLike | None
    compensated_mass: ArrayLike | None
    applies_after: int
    inertia: ArrayLike


ALLOWED = {
    "effective_mass": "> 0",
    "stiffness": "> 0",
    "damping": "≥ 0",
    "delay": "≥ 0",
    "gain": "a number",
    "lead": "a number",
    "inertia": "a number",
    "second_lead": "a number",
    "virtual_stiffness": "a number",
    "virtual_damping": "a number",
    "hold": "> 0",
    "sensor_period": "> 0",
    "dynamics_period": "> 0",
    "averaging": "> 0",
    "tool_mass": "≥ 0",
    "compensated_mass": "≥ 0",
    "applies_after": "≥ 0",
}


def make_loop(
    effective_mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, **numbers: Unpack[LoopNumbers]
) -> Loop:
    """Return a loop from plain numbers.

    Args:
        effective_mass: m (kg) that the contact feels.
        stiffness, damping: of the contact (N/m, N s/m).
        numbers: of all else in the loop, as `LoopNumbers` says.

    Raises:
        TypeError: a number that a loop has not.
        ValueError: numbers out of range, a robot that is not strictly proper, periods or leads without a hold, a tool
            whose force cannot be measured.
    """
    if unknown := numbers.keys() - LoopNumbers.__annotations__.keys():
        raise TypeError(
            f"a loop has no {', '.join(sorted(unknown))}; must be of {', '.join(LoopNumbers.__annotations__)}"
        )
    contact = {"effective_mass": effective_mass, "stiffness": stiffness, "damping": damping}
    _refuse_out_of_range({**contact, **numbers})
    _refuse_unknown_choices(numbers)
    _refuse_mismatched_periods(numbers)
    hold = numbers.get("dynamics_period") if numbers.get("hold") is None else numbers["hold"]
    if hold is None:
        _refuse_what_needs_hold(numbers)
    _refuse_mismatched_averaging(numbers)
    robot, dynamics = numbers.get("robot"), numbers.get("dynamics", "continuous")
    if numbers.get("tool_mass") is not None or numbers.get("compensated_mass") is not None:
        check_tool(robot, dynamics, numbers.get("averaging") is not None)
    given = {
        **contact,
        "delay": 0.0,
        "gain": 0.0,
        "sensor_period": None,
        "dynamics_period": None,
        **numbers,
        "hold": hold,
    }
    values: dict[str, Any] = {
        name: None if value is None else jnp.asarray(value, float)
        for name, value in given.items()
        if name in ALLOWED and name != "applies_after"
    }
    return Loop(
        **values,
        robot=None if robot is None else robot_state_space(robot),
        dynamics=dynamics,
        velocity=numbers.get("velocity", "robot"),
        applies_after=int(numbers.get("applies_after", 0)),
    )


def _refuse_out_of_range(numbers: Mapping[str, Any]) -> None:
    """Raise a ValueError for the first number outside what `ALLOWED` says."""
    for name, allowed in ALLOWED.items():
        value = numbers.get(name)
        if value is None:
            continue
        array = np.asarray(value, float)
        inside = {"> 0": array > 0, "≥ 0": array >= 0, "a number": array == array}[allowed]
        if not np.all(inside & np.isfinite(array)):
            raise ValueError(f"{name.replace('_', ' ')} is {value}; must be {allowed} and finite")


def _refuse_unknown_choices(numbers: LoopNumbers) -> None:
    """Raise a ValueError for dynamics, or for a velocity of the compensator, that there are none of."""
    for name, value, choices in (
        ("dynamics", numbers.get("dynamics", "continuous"), get_args(Dynamics)),
        ("velocity", numbers.get("velocity", "robot"), get_args(Velocity)),
    ):
        if value not in choices:
            raise ValueError(f"{name} is {value!r}; must be one of {', '.join(choices)}")


def _refuse_mismatched_periods(numbers: LoopNumbers) -> None:
    """Raise a ValueError where the dynamics have no period but need one, have one in vain, or have too long a one."""
    dynamics, period, hold = numbers.get("dynamics", "continuous"), numbers.get("dynamics_period"), numbers.get("hold")
    if dynamics != "continuous" and period is None:
        raise ValueError(f"{dynamics} dynamics need a dynamics period")
    if dynamics == "continuous" and period is not None:
        raise ValueError("a dynamics period needs digital dynamics; the continuous ones have none")
    if dynamics == "half-period" and hold is not None and np.any(np.asarray(period) >= 2 * np.asarray(hold)):
        raise ValueError(f"the period of half-period dynamics is {period}; must be below two hold periods")


def _refuse_what_needs_hold(numbers: LoopNumbers) -> None:
    """Raise a ValueError for a sensor's period or a lead, in a loop whose command is not held."""
    if numbers.get("sensor_period") is not None:
        raise ValueError("a sensor period needs a hold: the loop is then sampled throughout")
    if np.any(np.asarray(numbers.get("lead", 0.0))) or np.any(np.asarray(numbers.get("second_lead", 0.0))):
        raise ValueError("a lead of the command needs a hold: its acceleration is then that of an instant")


def _refuse_mismatched_averaging(numbers: LoopNumbers) -> None:
    """Raise a ValueError where the window of a sample's mean is not the samples' period, or not over when it is read."""
    averaging = numbers.get("averaging")
    if averaging is None:
        return
    samples = numbers.get("sensor_period")
    if samples is None and numbers.get("dynamics") != "half-period":
        samples = numbers.get("dynamics_period")
    if samples is None or np.any(np.abs(np.asarray(averaging) / np.asarray(samples) - 1) > 1e-9):
        raise ValueError(f"averaging is {averaging}; must be the period of the samples, {samples}")
    if np.any(np.asarray(averaging) > 2 * np.asarray(numbers.get("delay", 0.0))):
        raise ValueError(f"averaging is {averaging}; must be at most twice the delay, that of the window's middle")


def check_tool(robot: TransferFunction | None, dynamics: Dynamics, averages: bool) -> None:
    """Raise ValueError where the inertia of a tool has no measured force: no robot, no steps, a velocity that jumps."""
    if robot is None:
        raise ValueError("a tool needs a robot: one that follows at once has no finite acceleration")
    if dynamics in ("continuous", "half-period"):
        raise ValueError("a tool needs digital dynamics: its force is that of samples")
    if not averages and robot.relative_degree() < 2:
        raise ValueError(
            "the robot's velocity jumps with each command, so that samples at instants miss the force of a tool; "
            "they must be means over their period"
        )


def robot_state_space(robot: TransferFunction) -> RobotStateSpace:
    """Raise ValueError unless strictly proper: a robot that jumps with each command has no finite velocity."""
    if not robot.strictly_proper():
        raise ValueError("the robot must be strictly proper: one that jumps with each command has no finite velocity")
    return RobotStateSpace.of_polynomials(jnp.asarray(robot.numerator), jnp.asarray(robot.denominator))

"""A rig's loop along one direction of contact: virtual mass, hold, robot, contact, delayed force, compensator.

(m + j) Ẍ = F = F′(t − τ) − g Ẋ_R − K_v X − B_v Ẋ, X_R = G_R · hold(X + l₁ Ẋ + l₂ F/m), F′ = −K X_R − B Ẋ_R (SITS, eqs. 19, 20,
with a positive gain g that damps; K_v and B_v are of a contact in software).

Units: SI: kg, N/m, N s/m, s.
Source: as named above, with the signs and the hold corrected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from dockdyn.parameters import Dynamics
from dockdyn.stability.contact_plant import ContactPlant, FreeMass
from dockdyn.stability.transfer_function import TransferFunction

Velocity = Literal["robot", "model"]


class RobotStateSpace(eqx.Module):
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


class Loop(eqx.Module):
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
    dynamics: Dynamics = eqx.field(static=True)
    velocity: Velocity = eqx.field(static=True)  # what the compensator multiplies
    lead: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.zeros(()))  # l₁, s
    second_lead: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.zeros(()))  # l₂, s²
    virtual_stiffness: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.zeros(()))  # K_v, N/m
    virtual_damping: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.zeros(()))  # B_v, N s/m
    averaging: Float[Array, ""] | None = None  # s, window of which a sample is the mean; None: it is of an instant
    tool_mass: Float[Array, ""] | None = None  # m_t, kg, behind the sensor: − m_t Ẍ_R is in what it measures
    compensated_mass: Float[Array, ""] | None = None  # kg, whose inertia is taken away by the encoders' differences
    applies_after: int = eqx.field(
        static=True, default=0
    )  # hold periods from when a command is taken to when it applies
    inertia: Float[Array, ""] = eqx.field(default_factory=lambda: jnp.zeros(()))  # j, kg, that a compensator adds to m
    behind: ContactPlant | None = (
        None  # what moves, with all its contacts, in the place of m, K and B; None: they are it
    )

    @property
    def moved_mass(self) -> Float[Array, ""]:
        """What forces accelerate (kg): m, and what a compensator adds to it."""
        return self.effective_mass + self.inertia

    @property
    def plant(self) -> ContactPlant | FreeMass:
        """What moves, with its contacts."""
        return self.behind or FreeMass(self.moved_mass, self.stiffness, self.damping)

    def reduced(self) -> Loop:
        """Return the same with no more behind the contacts than the loop sees. In numbers of NumPy; not traced."""
        return self if self.behind is None else replace(self, behind=self.behind.reduced())

    def sampled(self) -> bool:
        """Return whether anything in the loop happens at instants."""
        return self.hold is not None

    def stepped(self) -> bool:
        """Return whether the dynamics are digital."""
        return self.dynamics not in ("continuous", "half-period")

    def steps_period(self) -> Float[Array, ""]:
        """Return time (s) from one step of digital dynamics to the next."""
        assert self.dynamics_period is not None
        return self.dynamics_period

    def sample_period(self) -> Float[Array, ""]:
        """Return time (s) from one measurement of the force to the next, and the window of a sensor that averages."""
        period = self.dynamics_period if self.sensor_period is None else self.sensor_period
        assert period is not None
        return period

    def matrices(self) -> Float[Array, "2 n n"]:
        """Return A₀ and A₁ (1/s) of a loop without instants: ẋ(t) = A₀ x(t) + A₁ x(t − τ), x = what moves and the robot's
        states.

        Without leads: the acceleration in the command would make the equation one of neutral type.
        """
        plant, robot = self.plant, self.robot
        count, channels = plant.size, plant.channels
        size = count + (0 if robot is None else channels * robot.input.shape[0])
        whole = jnp.eye(size)
        x, axes = whole[:count], whole[count:].reshape(-1, channels, size)
        y, own_speed = plant.places(x), plant.speeds(x)
        place, speed, free = y, own_speed, jnp.zeros((size, size))
        if robot is not None:
            rates = driven(robot, axes, y)
            place, speed = (summed(robot.output, rows) for rows in (axes, rates))
            free = free.at[count:].set(rates.reshape(-1, size))
        compensation = self.gain * plant.compensating(own_speed if self.velocity == "model" else speed)
        virtual = self.virtual_stiffness * y + self.virtual_damping * own_speed
        free = free.at[:count].set(plant.rates(x, -(compensation + virtual)))
        late = plant.rates(jnp.zeros_like(x), plant.pressing(place, speed))
        return jnp.stack([free, jnp.zeros((size, size)).at[:count].set(late)])


def summed(
    weights: Float[Array, "*rows times"], each: Float[Array, "times channels n"]
) -> Float[Array, "*rows channels n"]:
    """Return what every channel has several times, with weights: (rows, channels, n)."""
    return (weights @ each.reshape(len(each), -1)).reshape(*weights.shape[:-1], *each.shape[1:])


def driven(
    robot: RobotStateSpace, axes: Float[Array, "order channels n"], command: Float[Array, "channels n"]
) -> Float[Array, "order channels n"]:
    """Return rates of a robot's states in every channel, as functions of x, from those of the states and of its command."""
    return summed(robot.state, axes) + robot.input[:, None, None] * command


class LoopSettings(TypedDict, total=False):
    """What `loop` may be told besides mass, stiffness and damping; numbers may be arrays, for many loops.

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


BOUNDS = {  # numbers that are refused outside of these
    "effective_mass": "> 0",
    "stiffness": "> 0",
    "damping": "≥ 0",
    "delay": "≥ 0",
    "hold": "> 0",
    "sensor_period": "> 0",
    "dynamics_period": "> 0",
    "averaging": "> 0",
    "tool_mass": "≥ 0",
    "compensated_mass": "≥ 0",
    "applies_after": "≥ 0",
}
WORDS = ("robot", "dynamics", "velocity")  # settings that are no numbers


def loop(
    effective_mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0, **settings: Unpack[LoopSettings]
) -> Loop:
    """Return a loop from plain numbers.

    Args:
        effective_mass: m (kg) that the contact feels.
        stiffness, damping: of the contact (N/m, N s/m).
        settings: as `LoopSettings` says.

    Raises:
        ValueError: numbers out of range, a robot that is not strictly proper, periods or leads without a hold, a tool
            whose force cannot be measured.
    """
    stated: dict[str, Any] = {"delay": 0.0, "gain": 0.0, "hold": None, "sensor_period": None, "dynamics_period": None}
    stated |= {"robot": None, "dynamics": "continuous", "velocity": "robot", **settings}
    stated |= {"effective_mass": effective_mass, "stiffness": stiffness, "damping": damping}
    for name, value in stated.items():
        if name not in WORDS and value is not None:
            _check_number(name, value)
    _check_dynamics(stated)
    if stated["hold"] is None:
        stated["hold"] = stated["dynamics_period"]
    _check_samples(stated)
    if stated.get("tool_mass") is not None or stated.get("compensated_mass") is not None:
        check_tool(stated["robot"], stated["dynamics"], stated.get("averaging") is not None)
    applies_after = int(stated.pop("applies_after", 0))
    robot = stated.pop("robot")
    numbers: dict[str, Any] = {
        name: value if name in WORDS or value is None else jnp.asarray(value, float) for name, value in stated.items()
    }
    return Loop(**numbers, robot=None if robot is None else made(robot), applies_after=applies_after)


def _check_number(name: str, value: ArrayLike) -> None:
    """Raise ValueError for a number that is not finite, or outside of what is allowed."""
    numbers, allowed = np.asarray(value, float), BOUNDS.get(name, "a number")
    inside = {"> 0": numbers > 0, "≥ 0": numbers >= 0, "a number": numbers == numbers}[allowed]
    if not np.all(inside & np.isfinite(numbers)):
        raise ValueError(f"{name.replace('_', ' ')} is {value}; must be {allowed} and finite")


def _check_dynamics(stated: dict[str, Any]) -> None:
    """Raise ValueError for dynamics without their period, and for a velocity that there is not."""
    dynamics, velocity, period = (stated[name] for name in ("dynamics", "velocity", "dynamics_period"))
    if dynamics not in get_args(Dynamics):
        raise ValueError(f"dynamics is {dynamics!r}; must be one of {', '.join(get_args(Dynamics))}")
    if velocity not in get_args(Velocity):
        raise ValueError(f"velocity is {velocity!r}; must be one of {', '.join(get_args(Velocity))}")
    if dynamics != "continuous" and period is None:
        raise ValueError(f"{dynamics} dynamics need a dynamics period")
    if dynamics == "continuous" and period is not None:
        raise ValueError("a dynamics period needs digital dynamics; the continuous ones have none")
    hold = stated["hold"]
    if dynamics == "half-period" and hold is not None and np.any(np.asarray(period) >= 2 * np.asarray(hold)):
        raise ValueError(f"the period of half-period dynamics is {period}; must be below two hold periods")


def _check_samples(stated: dict[str, Any]) -> None:
    """Raise ValueError for what needs a hold that there is not, and for a window that is not the period of the samples."""
    hold, period, averaging = (stated.get(name) for name in ("hold", "sensor_period", "averaging"))
    if hold is None and period is not None:
        raise ValueError("a sensor period needs a hold: the loop is then sampled throughout")
    if hold is None and any(np.any(np.asarray(stated.get(lead, 0.0))) for lead in ("lead", "second_lead")):
        raise ValueError("a lead of the command needs a hold: its acceleration is then that of an instant")
    if averaging is not None:
        of_steps = period is None and stated["dynamics"] != "half-period"
        samples = stated["dynamics_period"] if of_steps else period
        if samples is None or np.any(np.abs(np.asarray(averaging) / np.asarray(samples) - 1) > 1e-9):
            raise ValueError(f"averaging is {averaging}; must be the period of the samples, {samples}")
        if np.any(np.asarray(averaging) > 2 * np.asarray(stated["delay"])):
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


def made(robot: TransferFunction) -> RobotStateSpace:
    """Raise ValueError unless strictly proper: a robot that jumps with each command has no finite velocity."""
    if not robot.strictly_proper():
        raise ValueError("the robot must be strictly proper: one that jumps with each command has no finite velocity")
    return RobotStateSpace.of_polynomials(jnp.asarray(robot.numerator), jnp.asarray(robot.denominator))

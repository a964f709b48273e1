"""What a compensator of a rig's delays is: asked at every instant of the dynamics, it answers with a force, gains and leads.

Units: force N, gain N s/m, leads s and s², positions m.
Source: definition of the interface; SITS, section 4.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple, Protocol, Self

from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.integrate.model import Scalar
from dockdyn.trees import Module

type Axes = Float[Array, "axes"]
Source = Literal["model", "robot", "estimate"]


class CompensatorInput(NamedTuple):
    """What a compensator sees. Axes are those of the port through which model and contact exchange energy: one or three."""

    time: Scalar  # s
    period: Scalar  # s, until the next instant
    mass: Scalar  # kg, effective mass of the model at the contact
    force: Axes  # N, measured contact force on the model
    position: Axes  # m, of the model
    velocity: Axes  # m/s, of the model
    robot_position: Axes  # m, of the robot now, by its encoders
    robot_velocity: Axes  # m/s, of the robot now, exact
    touched_position: Axes  # m, of the robot when `force` was measured, by its encoders
    touching: Bool[Array, ""]  # whether there is contact, judged by the measured force
    ideal_position: Axes  # m, without rig: an oracle, known in simulation only
    ideal_force: Axes  # N, likewise


class Compensation(NamedTuple):
    """What a compensator answers; it holds until the next instant."""

    force: Axes  # N, added to the measured force
    gain: Scalar  # N s/m, positive damps: adds −gain · velocity
    velocity: Axes  # m/s, what the gain multiplies
    inertia: Scalar  # kg, adds −inertia · acceleration of the model
    lead: Scalar  # s, of the command: X + lead · V + second_lead · A
    second_lead: Scalar  # s²

    @staticmethod
    def nothing(axes: int) -> Compensation:
        zero = jnp.zeros(())
        return Compensation(jnp.zeros(axes), zero, jnp.zeros(axes), zero, zero, zero)


class TuningProblem(Protocol):
    """A rig at rest in a contact that is as stiff as is believed, whose root a law's numbers are to put in its place."""

    @property
    def stiffness(self) -> float:
        """Stiffness (N/m) that is believed."""

    @property
    def lag(self) -> float:
        """A rough size of the loop's delay (s)."""

    @property
    def duration(self) -> float:
        """How long the run is (s)."""

    def undamped(self) -> TuningProblem:
        """Return the same in a contact without damping."""

    def solve(self, make: Callable[..., Compensator], scales: tuple[float, ...], what: str) -> list[float]:
        """Return numbers, of the size of `scales`, with which the rig that `make` completes moves as the contact alone does.

        Raises ValueError, naming `what` is sought, where there are none.
        """


class Compensator(Module):
    """A law that keeps delays from feeding energy into a bounce.

    Its numbers are fields, declared as `dockdyn.parameter`, and are the keys of its table in a scenario; so are its static
    fields. Those that are `tuned` may be left out there: then they are None until `tune` has found them. A field
    `velocity`, a `VelocitySource`, is the one that the table's `velocity` names.
    """

    knows: ClassVar[str] = ""  # what it must know, and what it cannot do
    oracle: ClassVar[bool] = False  # it sees the motion without rig, so no rig can have it
    steady_gain: ClassVar[bool] = False  # its gain changes slowly: each value can be judged as if it stayed
    in_margins: ClassVar[bool] = False  # margins count it: as what `small` gives, a `Linear`
    beside_small: ClassVar[str] = ""  # what of a law that margins count they cannot count, in words
    beyond_small: ClassVar[bool] = (
        False  # it also takes back what has grown: `small` alone does not say what is unstable
    )

    @abc.abstractmethod
    def init(self, position: Axes, velocity: Axes) -> PyTree:
        """Return the memory at t = 0, the robot at `position` (m), moving on average with `velocity` (m/s)."""

    @abc.abstractmethod
    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Compensation]:
        """Return the memory and action from an instant on."""

    @property
    def source(self) -> Source:
        """Where the velocity of its gain comes from; that of model and robot acts continuously on continuous dynamics."""
        return "estimate"

    def small(self) -> Compensator:
        """Return what it is for small motions in contact, as a run begins."""
        return self

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        """Return all numbers that may be left out (SI), found for a rig. ValueError where there are none, or no rule finds
        them."""
        raise ValueError("has no rule that finds its numbers")

    def on(self, held: bool) -> Self:
        """Return the same on a rig; `held`: whether the force on the model is constant over a period."""
        return self

    def report(self, memory: PyTree) -> dict[str, Scalar]:
        """Return what it has found out, by name."""
        return {}

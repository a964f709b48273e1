"""The `[control]` of an arm that docks: PD control about set-points that follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, PlainSerializer, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Bounds, number_of, quantity
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.rig.gains import LISTS, Gain, RateGain, Torque

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.control.schedule import Schedule

LATCHED = "latched"
Angle = quantity("rad", "an angle", component=True)


def _ending(value: object) -> Any:  # noqa: ANN401, a time (s) or LATCHED, as the field says
    if value == LATCHED:
        return value
    try:
        return number_of(value, "s", "a time", Bounds(above=0))
    except PydanticCustomError as error:
        refuse(f'{error}, or "{LATCHED}"')


End = Annotated[
    float | Literal["latched"],
    BeforeValidator(_ending),
    PlainSerializer(lambda value: value if value == LATCHED else f"{value!r} s"),
]


class PhaseSection(Section):
    """Set-points of all joints, how the arm gets there and when the next phase begins."""

    name: str
    set_point: list[Angle]
    over: quantity("s", "a time", above=0) | None = None
    until: End | None = None
    release: bool = False


class ScheduleSection(Section):
    """Torques −Kp (q − reference) − Kd (q̇ − its rate); lists have an entry for every joint, in the order of the tree."""

    law: Literal["none", "joint-pd"] = "joint-pd"
    stiffness: list[Gain] | None = None
    damping: list[RateGain] | None = None
    limit: list[Torque] | None = None
    phase: list[PhaseSection] = []  # noqa: RUF012

    @model_validator(mode="before")
    @classmethod
    def without_the_rest(cls, value: object) -> object:
        """Leaves out what the law "none" has no use for."""
        return {"law": "none"} if isinstance(value, dict) and value.get("law") == "none" else value

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.law == "none":
            return self
        for key in ("stiffness", "damping"):
            if getattr(self, key) is None:
                refuse(f"law {self.law} needs {key}, an entry for every joint")
        if not self.phase:
            refuse(f"law {self.law} needs a phase: [[control.phase]] with a set_point")
        self.in_turn()
        return self

    def in_turn(self) -> None:
        """Refuses phases that do not follow one another."""
        names = [phase.name for phase in self.phase]
        for index, phase in enumerate(self.phase):
            where = f"phase.{phase.name}"
            if names.count(phase.name) > 1:
                refuse(f"two phases are called {phase.name!r}; names must differ")
            if phase.until is None and index < len(names) - 1:
                refuse(f'{where}: needs until, a time or "{LATCHED}"; only the last phase lasts to the end')
            if phase.until is not None and index == len(names) - 1:
                refuse(f"{where}.until: the last phase lasts to the end; leave it out")
            if phase.release and LATCHED not in [before.until for before in self.phase[:index]]:
                refuse(f'{where}.release: nothing else holds the payload; must follow a phase until = "{LATCHED}"')
        if sum(phase.release for phase in self.phase) > 1:
            refuse("phase: only one of them can release the payload")

    def check(self, joints: list[str], latch: bool) -> None:
        """Refuses lists that do not fit the joints, and phases that wait for a latch that there is not."""
        lists = {key: getattr(self, key) for key in LISTS} | {
            f"phase.{p.name}.set_point": p.set_point for p in self.phase
        }
        for key, values in lists.items():
            if values is not None and len(values) != len(joints):
                refuse(f"control.{key}: has {len(values)} entries for {len(joints)} joints ({', '.join(joints)})")
        for phase in self.phase:
            if phase.until == LATCHED and not latch:
                refuse(f'control.phase.{phase.name}.until = "{LATCHED}": there is no [latch]')

    def make(self, start: Float[Array, "joints"]) -> Schedule | None:
        """The controller of joints that begin at `start` (rad, m)."""
        import jax.numpy as jnp

        from dockdyn.control.schedule import Schedule

        if self.law == "none":
            return None

        def row(values: Any) -> Float[Array, "n"]:  # noqa: ANN401, lists that `complete` has asked for
            return jnp.stack([jnp.asarray(value, float) for value in values])

        points = jnp.stack([row(phase.set_point) for phase in self.phase])
        smooth = any(phase.over is not None for phase in self.phase)
        return Schedule(
            stiffness=row(self.stiffness),
            damping=row(self.damping),
            limit=jnp.full_like(start, jnp.inf) if self.limit is None else row(self.limit),
            set_points=points,
            before=jnp.concatenate([start[None], points[:-1]]),
            over=row([0.0 if phase.over is None else phase.over for phase in self.phase]) if smooth else None,
            lasts=row(
                [
                    jnp.inf if phase.until is None or isinstance(phase.until, str) else phase.until
                    for phase in self.phase
                ]
            ),
        )

    @property
    def releases(self) -> bool:
        return any(phase.release for phase in self.phase)

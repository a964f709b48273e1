"""The table `[loop.compensator]`, one section a law: what is added against the loop's delays.

The keys of a law are the fields of its class, which say their units and bounds. A law of the user's own is named
"module:Class".
"""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_type_hints

from pydantic import (
    BeforeValidator,
    Discriminator,
    SerializeAsAny,
    Tag,
    create_model,
)

from dockdyn.deferred import jnp
from dockdyn.parameters import parameters_of, settings_of
from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.language.section import MaybeNamedSection
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.language.when_stated import WhenStated
from dockdyn.scenario.tables.own_part import keys_of, read_table

if TYPE_CHECKING:
    from dockdyn.hil.compensators.compensator import Compensator
    from dockdyn.hil.velocity_sources import VelocitySource

DEFAULT = "fixed-gain"  # the law of a table that names none
Velocity = Literal["robot", "model", "tracking-differentiator", "filtered-difference"]


class CompensatorLaw(MaybeNamedSection):
    """What all laws have. Parameters that are `tuned` are None where they are left out, until the rig's tuning has found them.

    `period`: with continuous dynamics, what the law answers is held between instants that are this far apart (SITS,
    eq. 43); by default it acts continuously. Digital dynamics ask it at every step.
    """

    made: ClassVar[type[Compensator]]
    law: str
    period: quantity("s", "a period", above=0) | None = None

    def tuned(self) -> tuple[str, ...]:
        """Return names of the numbers that are left to the tuning."""
        return tuple(
            name for name, about in parameters_of(self.made).items() if about.tuned and getattr(self, name) is None
        )

    def completed(self, **numbers: float) -> Self:
        """Return it with those of the `numbers` that were left out. ValueError where one is not among them."""
        if missing := [name for name in self.tuned() if name not in numbers]:
            raise ValueError(f"its rule finds no {' and no '.join(missing)}")
        return self.model_copy(update={name: float(numbers[name]) for name in self.tuned()})

    def make(self, held: bool) -> Compensator:
        """Return the compensator; `held`: whether the force on the model is constant over a period. What is not tuned yet is
        None."""
        numbers = {name: getattr(self, name) for name in parameters_of(self.made)}
        words = {name: getattr(self, name) for name in settings_of(self.made)}
        return self.made(**numbers, **words, **self.velocities()).on(held)

    def velocities(self) -> dict[str, VelocitySource]:
        """Return what the law multiplies, by its field; nothing for a law without a velocity of its own."""
        return {}


class WithVelocity(CompensatorLaw):
    """A law that multiplies a velocity: of model or robot, or one estimated from the robot's measured position."""

    velocity: Velocity = "robot"
    differentiator_rate: quantity("m/s**2", "an acceleration", above=0) = 1000.0
    differentiator_step: quantity("s", "a time", above=0) = 3.4e-3
    differentiator_form: Literal["ramp-invariant", "as-printed"] = "ramp-invariant"
    filter_time: quantity("s", "a time", least=0) = 5e-3

    def velocities(self) -> dict[str, VelocitySource]:
        return {"velocity": self.source()}

    def source(self) -> VelocitySource:
        from dockdyn.hil.compensators import VELOCITIES
        from dockdyn.hil.velocity_sources import (
            FilteredDifference,
            PrintedTrackingDifferentiator,
            TrackingDifferentiator,
        )

        if self.velocity == "tracking-differentiator":
            printed = self.differentiator_form == "as-printed"
            made = PrintedTrackingDifferentiator if printed else TrackingDifferentiator
            return made(jnp.asarray(self.differentiator_rate), jnp.asarray(self.differentiator_step))
        if self.velocity == "filtered-difference":
            return FilteredDifference(jnp.asarray(self.filter_time))
        return VELOCITIES[self.velocity]()


class OwnCompensator(CompensatorLaw, Own):
    """A compensator of the user's own, "module:Class". Its further keys are the parameters and static fields of the class."""

    def own_class(self) -> str:
        return self.law


def facts_of(made: type[Compensator]) -> dict[str, Any]:
    """Return what a law says of itself, ready for JSON: what it must know, what it is, units of its numbers."""
    units = {name: about.unit for name, about in parameters_of(made).items()}
    said = {"knows": made.knows, "oracle": made.oracle, "beyond_small": made.beyond_small}
    return said | {"units": units | {"period": "s"}}


@cache
def section_of(law: str, made: type[Compensator], own: bool = False) -> type[CompensatorLaw]:
    """Return the table of a law: its keys are the parameters and static fields of the class."""
    from dockdyn.hil.velocity_sources import VelocitySource

    base = WithVelocity if get_type_hints(made).get("velocity") is VelocitySource else CompensatorLaw
    bases = (WithVelocity, OwnCompensator) if base is WithVelocity else OwnCompensator
    keys: dict[str, Any] = {"law": (Literal[law], law if law == DEFAULT else ...)} | keys_of(made)
    section = create_model(
        f"{made.__name__}Section", __base__=bases if own else base, __doc__=inspect.getdoc(made), **keys
    )
    section.made = made
    return section


def _compensator() -> type:
    """Return of what a law of the user's own must be a subclass."""
    from dockdyn.hil.compensators.compensator import Compensator

    return Compensator


def _read_own(value: object) -> object:
    """Return the table of a law of the user's own."""
    return read_table(value, _compensator, partial(section_of, own=True))


@cache
def laws() -> dict[str, type[CompensatorLaw]]:
    """Return the tables of all laws that dockdyn has, by name."""
    from dockdyn.hil.compensators import COMPENSATORS

    return {name: section_of(name, made) for name, made in COMPENSATORS.items()}


def _law_of(value: object) -> str | None:
    """Return the law that a table names, or that it is one of the user's own."""
    named = value.get("law", DEFAULT) if isinstance(value, dict) else getattr(value, "law", None)
    return "user" if isinstance(named, str) and ":" in named else named


def _any_law() -> Any:  # noqa: ANN401, a type
    """Return the type of a table of whichever law it names."""
    tagged = (*(Annotated[made, Tag(name)] for name, made in laws().items()),)
    own = Annotated[SerializeAsAny[OwnCompensator], BeforeValidator(_read_own), Tag("user")]
    return Annotated[Union[(*tagged, own)], Discriminator(_law_of)]


if TYPE_CHECKING:
    CompensatorSection = CompensatorLaw
else:
    CompensatorSection = Annotated[CompensatorLaw, WhenStated(_any_law)]

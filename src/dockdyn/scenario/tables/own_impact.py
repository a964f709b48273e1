"""An impact law of the user's own in a table `[impact]`: its parameters stand among the table's own keys."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Self, Union

from pydantic import ConfigDict, Discriminator, Tag, model_validator

from dockdyn.deferred import jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.own_part import OwnPart, import_class

if TYPE_CHECKING:
    from dockdyn.impact.laws.by_name import StatedLaw

SHARED = (
    "restitution",
    "friction",
    "r_e",
    "r_f",
    "energy_ratio",
    "friction_ratio",
)  # keys of the table that a law of one's own may have as fields, too


class OwnImpact(OwnPart):
    """What the table of such a law adds to that of the others."""

    model_config = ConfigDict(extra="allow")
    law: str

    @classmethod
    def base(cls) -> type:
        from dockdyn.impact.laws.impact_law import ImpactLaw

        return ImpactLaw

    def own_class(self) -> str:
        return self.law

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        """Take the place of the rule that a named law states all its parameters: those of one's own are its class's fields."""
        return self

    def stated(self) -> set[str]:
        return super().stated() | {name for name in SHARED if getattr(self, name, None) is not None}

    def stated_law(self) -> StatedLaw:
        """Return the law with its parameters; those that are not stated have a default."""

        from dockdyn.impact.laws.by_name import StatedLaw
        from dockdyn.impact.laws.impact_law import law_of

        made, stated = import_class(self.law), self.stated()
        values = {
            field.name: jnp.asarray(getattr(self, field.name) if field.name in stated else field.default, float)
            for field in dataclasses.fields(made)
        }
        return StatedLaw(values, self.law, law_of(made, self.law))


def or_own(named: type[Section], own: type[OwnImpact]) -> Any:  # noqa: ANN401, a type
    """Return the field type: the table of a law with a name, or, where that is "module:Class", of one of the user's own."""

    def which(value: object) -> str:
        given = value.get("law") if isinstance(value, dict) else getattr(value, "law", None)
        return "user" if isinstance(given, str) and ":" in given else "named"

    return Annotated[Union[Annotated[named, Tag("named")], Annotated[own, Tag("user")]], Discriminator(which)]  # noqa: UP007

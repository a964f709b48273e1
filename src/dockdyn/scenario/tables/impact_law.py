"""The table of an impact law with a name: what of it is the same wherever a scenario states one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from dockdyn.deferred import jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import LARGEST
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.contact.laws.coulomb import Coulomb
    from dockdyn.impact.laws.by_name import StatedLaw

REPEATING = ("energetic", "newton", "poisson", "frictionless")  # those with a restitution
REST_SPEED = 1e-6  # m/s
REGULARISATION = 1e-4  # m/s, of friction between what rests
KEYS = ("restitution", "friction", "energy_ratio", "friction_ratio")  # parameters of all laws


class ImpactLawSection(Section):
    """A law of impacts and its parameters. A table says which laws it takes, `law`, and what it calls them."""

    NAMES: ClassVar[dict[str, str]] = {
        "weld-brake": "weld",
        "energy-friction": "energy-pair",
    }  # in a scenario: in `LAWS`
    KEYS: ClassVar[dict[str, str]] = {}  # of a parameter: its key in the table, where that is another word
    LAWLESS: ClassVar[tuple[str, ...]] = ()  # what the table takes besides laws of `LAWS`

    law: str
    restitution: Annotated[float, Field(ge=0, le=1)] | None = None
    friction: Annotated[float, Field(ge=0, le=LARGEST)] | None = None

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        self.check_parameters()
        return self

    def check_parameters(self) -> None:
        """Refuse a parameter that the law needs and the table lacks, or that it does not have."""
        needed = [self.key(name) for name in self.parameters()]
        for key in map(self.key, KEYS):
            if key in type(self).model_fields and (getattr(self, key) is None) == (key in needed):
                refuse(f"law {self.law} {'needs' if key in needed else 'has no'} {key}")

    def key(self, parameter: str) -> str:
        """Return the key of a parameter of a law."""
        return self.KEYS.get(parameter, parameter)

    def parameters(self) -> tuple[str, ...]:
        """Return the parameters of the law, by their names in the library."""
        from dockdyn.impact.laws.by_name import LAWS

        return () if self.law in self.LAWLESS else LAWS[self.NAMES.get(self.law, self.law)].parameters

    def stated_law(self) -> StatedLaw:
        """Return the law with its parameters."""

        from dockdyn.impact.laws.by_name import StatedLaw

        values = {name: jnp.asarray(getattr(self, self.key(name)), float) for name in self.parameters()}
        return StatedLaw(values, self.NAMES.get(self.law, self.law))


def friction_at_rest(coefficient: float | None) -> Coulomb | None:
    """Return the friction between what has come to rest; None without a coefficient."""

    from dockdyn.contact.laws.coulomb import Coulomb

    return None if coefficient is None else Coulomb(jnp.asarray(coefficient, float), jnp.asarray(REGULARISATION))

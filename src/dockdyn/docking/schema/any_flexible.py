"""The kinds of flexible bodies that a scenario can have, by their keys."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Discriminator, Tag

from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection

WITH_BASIS = "beam with a basis"


def which_flexible(table: object) -> str:
    """Return which of the tables of flexible links one is: a beam with a basis is one by itself."""
    read = table.get if isinstance(table, dict) else partial(getattr, table)
    kind = read("kind", "beam")
    return WITH_BASIS if kind == "beam" and read("basis", None) is not None else str(kind)


AnyFlexible = Annotated[
    Annotated[UniformBeamSection, Tag("beam")]
    | Annotated[LargeBeamSection, Tag(WITH_BASIS)]
    | Annotated[ModeTableSection, Tag("modes")]
    | Annotated[FiniteElementSection, Tag("finite-elements")],
    Discriminator(which_flexible),
]

"""The table `[stability]`: the state around which margins are asked for."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse, refuse_repeated


class StabilitySection(Section):
    """Where contacts are taken to rest: the first contact of the run, its moment of largest force, a stated time, or a place on
    the wall of a cone.

    `closed` says which contacts are closed there, by default those that are. `depth` is where on the laws' curves they rest,
    by default the depths found there: zero at the first contact, unless the run starts in it.
    """

    azimuth: quantity("rad", "an angle") | None = None
    distance: quantity("m", "a distance", above=0) | None = None
    at: Literal["first-contact", "peak-force"] = "first-contact"
    time: quantity("s", "a time", least=0) | None = None
    closed: list[str] | None = None
    depth: quantity("m", "a penetration depth", least=0) | None = None
    unread: ClassVar = ("at", "closed")

    @model_validator(mode="after")
    def check_operating_point(self) -> Self:
        if self.azimuth is not None and self.distance is None:
            refuse("azimuth needs a distance from the apex along the wall, too")
        if self.time is not None and self.at != "first-contact":
            refuse("at and time both say when; give one of the two")
        if self.distance is not None and (self.after_contact or self.closed is not None):
            refuse("distance puts the first contact on its wall: must be without at, time and closed")
        if self.closed is not None:
            if not self.closed:
                refuse("closed: must name at least one contact, or be left out")
            refuse_repeated(self.closed, "contacts in stability.closed")
        return self

    @property
    def after_contact(self) -> bool:
        """Whether the state is asked for at a moment to which the forces of contacts may have led."""
        return self.time is not None or self.at != "first-contact"

    @property
    def first_contact(self) -> bool:
        """Whether the state is that of the first contact of the run, with what is closed then."""
        return not self.after_contact and self.distance is None and self.closed is None

    def check(self, contacts: list[str], duration: float) -> None:
        """Refuse a contact that is not among the names of the `contacts`, and a time beyond the `duration` (s)."""
        for name in self.closed or []:
            if name not in contacts:
                refuse(f"stability.closed = {name!r}: no such contact; {nearest(name, contacts)}")
        if self.time is not None and self.time > duration:
            refuse(f"stability.time = {self.time:g} s: must be at most the duration of {duration:g} s")

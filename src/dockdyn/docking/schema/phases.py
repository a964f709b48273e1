"""Phases of a capture in a scenario: what they wait for, and which numbers of elements they set."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from dockdyn.deferred import jnp
from dockdyn.scenario.language.errors import allowed, nearest, shown
from dockdyn.scenario.language.keys import unit_of
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import Bounds, number_of, quantity
from dockdyn.scenario.tables.part import refuse, without_computed
from dockdyn.trees import map_leaves

if TYPE_CHECKING:
    from dockdyn.mechanism.mounts import Mount
    from dockdyn.mechanism.phases import Condition, Phases

Acting = dict[str, Any]  # sections of what acts, by their keys

SWITCH = "true or false"  # in place of a unit


class WaitSection(Section):
    """What a phase waits for: any `contact`, all latches `latched`, or a time: since the phase before began or, with a speed,
    since the relative speed of two bodies fell below it."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "string"]})  # a text is the event

    event: str | None = None
    speed: quantity("m/s", "a speed", above=0) | None = None
    between: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    lasting: quantity("s", "a time", least=0) | None = None

    @model_validator(mode="before")
    @classmethod
    def by_name(cls, value: object) -> object:
        """Take a text as the event."""
        return {"event": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def one_way(self) -> Self:
        if self.event is not None:
            if self.event not in ("contact", "latched"):
                refuse('must be "contact", "latched" or a table with lasting, and for a speed with speed and between')
            if (self.speed, self.between, self.lasting) != (None, None, None):
                refuse("an event needs neither speed nor between nor lasting")
        elif self.lasting is None:
            refuse("must state how long it waits: lasting")
        if (self.speed is None) != (self.between is None):
            refuse("speed and between, the two bodies whose relative speed it is, belong together")
        return self

    def make(self, bodies: list[str]) -> Condition:
        """Return the condition, also from traced numbers; `bodies` are the names of all."""

        from dockdyn.mechanism.phases import Condition

        first, second = (0, 0) if self.between is None else (bodies.index(name) for name in self.between)
        of: Any = self.event if self.event is not None else "time" if self.speed is None else "speed"
        lasting, speed = (jnp.asarray(0.0 if value is None else value, float) for value in (self.lasting, self.speed))
        return Condition(of, lasting, speed, (first, second))


class PhaseSection(NamedSection):
    """A phase: what it waits for, which the first one does not, and what it sets: keys of elements and of joints.

    What is set stays set in later phases. With `over` numbers go there smoothly, along a quintic; switches turn at once.
    """

    unread: ClassVar[tuple[str, ...]] = ("set",)  # `changed`, `values` and `units` have what is in it

    when: WaitSection | None = None
    over: quantity("s", "a time", above=0) | None = None
    set: dict[str, Any] = {}  # noqa: RUF012
    changed: SkipJsonSchema[list[str]] = Field([], exclude=True, repr=False)  # what `set` sets, in its order
    values: SkipJsonSchema[list[float]] = Field([], exclude=True, repr=False)  # to which numbers, in SI units
    units: SkipJsonSchema[list[str]] = Field([], exclude=True, repr=False)  # of these numbers

    @model_validator(mode="before")
    @classmethod
    def as_stated(cls, value: object) -> object:
        """Refuse stated numbers, which are those of `set`."""
        return without_computed(value, "changed", "values", "units")

    def dotted_numbers(self) -> dict[str, tuple[str, int, str]]:
        rows = zip(self.changed, self.units, strict=True)
        return {f"set.{key}": ("values", place, unit) for place, (key, unit) in enumerate(rows) if unit != SWITCH}


def read_phases(phases: list[PhaseSection], acting: Acting, bodies: list[str], touching: bool) -> list[PhaseSection]:
    """Return the phases with the numbers that they set; refuses what nothing has that acts, and to wait for what cannot come.

    `touching` says whether there is any contact. Lists are set entry by entry, counted from 0.
    """
    found = []
    for number, phase in enumerate(phases):
        if (phase.when is None) != (number == 0):
            refuse(
                f"phase.{phase.name}: {'waits for nothing: state when' if number else 'is the first, and has no when'}"
            )
        if phase.when is not None:
            for name in phase.when.between or []:
                if name not in bodies:
                    refuse(f"phase.{phase.name}.when.between: no body {name!r}; {nearest(name, bodies)}")
            if phase.when.between is not None and len(set(phase.when.between)) == 1:
                refuse(f"phase.{phase.name}.when.between = {phase.when.between}: must be two bodies")
            if phase.when.event == "contact" and not touching:
                refuse(f"phase.{phase.name}.when: waits for a contact; there is no [contact.NAME]")
            if phase.when.event == "latched" and not any(one.kind == "latch" for one in acting.values()):
                refuse(f"phase.{phase.name}.when: waits for latches; no element is a latch")
        stated = _entries(phase, acting)
        values = [_value(phase.name, key, value, acting) for key, value in stated.items()]
        units = [_unit(key, acting) for key in stated]
        if phase.over is not None:
            _check_ramp(phase.name, list(stated), units, acting)
        found.append(phase.model_copy(update={"changed": list(stated), "values": values, "units": units}))
    for phase, following in itertools.pairwise(found):
        _check_time_left(phase, following)
    return found


def time_to_change(phase: PhaseSection, following: PhaseSection) -> float:
    """Return how long (s) a phase needs before the following one may begin: until numbers that it changes smoothly, and that
    one does not set at once, are there."""
    numbers = {key for key, unit in zip(phase.changed, phase.units, strict=True) if unit != SWITCH}
    goes_on = numbers if following.over is not None else numbers - set(following.changed)
    return float(phase.over) if phase.over is not None and goes_on else 0.0


def _check_time_left(phase: PhaseSection, following: PhaseSection) -> None:
    """Refuse a phase that waits less long than what changes before it takes: that would jump to its end."""
    when, needed = following.when, time_to_change(phase, following)
    if when is None or when.event is not None or when.speed is not None or when.lasting is None:
        return
    if when.lasting < needed:
        refuse(
            f"phase.{following.name}.when.lasting = {float(when.lasting):g} s: what phase {phase.name!r} changes takes over = "
            f"{needed:g} s, and would jump to its end; must be at least that"
        )


def _entries(phase: PhaseSection, acting: Acting) -> dict[str, Any]:
    """Return what a phase sets, lists entry by entry."""
    found: dict[str, Any] = {}
    for key, value in phase.set.items():
        if key in acting and isinstance(acting[key], Entries):
            count = len(acting[key].units)
            if not isinstance(value, list) or len(value) != count:
                refuse(f"phase.{phase.name}.set.{key} = {value!r}: must be a list of {count} numbers")
            found |= {f"{key}.{place}": entry for place, entry in enumerate(value)}
        else:
            found[key] = value
    return found


def _check_ramp(phase: str, keys: list[str], units: list[str], acting: Acting) -> None:
    """Refuse a phase that changes over a time what cannot go there smoothly, or nothing."""
    if all(unit == SWITCH for unit in units):
        refuse(f"phase.{phase}.over: it sets no number that could go there smoothly; must be left out")
    for key in keys:
        if key.endswith(".moved_mass"):
            refuse(f"phase.{phase}.set.{key}: inertia that grows would need a force; must be set without over")
        name, _, field = key.rpartition(".")
        if field in ("slip", "stiffness") and getattr(acting[name], "slip", None) is not None:
            refuse(f"phase.{phase}.set.{key}: what slips does not follow it smoothly; must be set without over")


class Entries(NamedTuple):
    """A list of numbers that phases may set, entry by entry."""

    units: list[str]
    what: str
    kind: str = "list"

    def settable(self) -> list[str]:
        """Return the places of its entries."""
        return list(map(str, range(len(self.units))))


def _value(phase: str, key: str, value: object, acting: Acting) -> float:
    """Return the number (SI) that a phase sets for the key of what acts."""
    name, _, field = key.rpartition(".")
    if name not in acting:
        what = "joint in which anything acts" if name.endswith(".joint") else "element"
        refuse(f"phase.{phase}.set.{key}: no {what} {name!r}; {nearest(name, list(acting))}")
    section = acting[name]
    if isinstance(section, Entries) and field in section.settable():
        try:
            return number_of(value, section.units[int(field)], section.what, Bounds())
        except PydanticCustomError as error:
            refuse(f"phase.{phase}.set.{key} = {shown(value)}: {error}")
    if field not in section.settable():
        near = nearest(field, section.settable())
        refuse(f"phase.{phase}.set.{key}: must be a number that {name!r} states and phases may set; {near}")
    stated = section.model_dump(exclude_unset=True) | {field: value}
    try:
        return float(getattr(type(section).model_validate(stated), field))
    except ValidationError as error:
        refuse(f"phase.{phase}.set.{key} = {shown(value)}: {allowed(error.errors()[0])}")


def _unit(key: str, acting: Acting) -> str:
    """Return the unit of the number that a phase sets for the key of what acts."""
    name, _, field = key.rpartition(".")
    if isinstance(acting[name], Entries):
        return str(acting[name].units[int(field)])
    return SWITCH if isinstance(getattr(acting[name], field), bool) else unit_of(acting[name], field)


def variants_of(phases: list[PhaseSection], acting: Acting, begun: bool = False) -> list[list[Any]]:
    """Return the sections of what acts in each phase, also with traced numbers; or as a phase has `begun` that takes its time
    with numbers."""
    now, found = dict(acting), []
    for phase in phases:
        changes = list(zip(phase.changed, phase.values, phase.units, strict=True))
        switches = [one for one in changes if one[-1] == SWITCH]
        first = _apply_changes(now, switches)
        now = _apply_changes(now, changes)
        found.append(list((first if begun and phase.over is not None else now).values()))
    return found


def _apply_changes(acting: Acting, changes: list[tuple[str, float, str]]) -> Acting:
    """Return the sections of what acts after these changes."""
    now = dict(acting)
    for key, value, _ in changes:
        name, _, field = key.rpartition(".")
        if name in now:
            now[name] = now[name].model_copy(update={field: value})
    return now


def entries_of(
    phases: list[PhaseSection], key: str, entries: list[float]
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the entries of a list in each phase, and those before it, also with traced numbers."""
    now, found, before = list(entries), [], []
    for phase in phases:
        before.append(list(now) if phase.over is not None else None)
        for changed, value in zip(phase.changed, phase.values, strict=True):
            name, _, field = changed.rpartition(".")
            if name == key:
                now[int(field)] = value
        found.append(list(now))
    return found, [one if first is None else first for first, one in zip(before, found, strict=True)]


def make_phases(
    phases: list[PhaseSection],
    variants: list[tuple[Mount, ...]],
    begun: list[tuple[Mount, ...]],
    bodies: list[str],
) -> Phases | None:
    """Return the phases with the elements of each, and those that each has as it has `begun`; None of a single one."""

    from dockdyn.mechanism.phases import Phases, Ramps

    if not phases or (len(phases) < 2 and phases[0].over is None):
        return None

    def stacked(variants: list[tuple[Mount, ...]]) -> Any:  # noqa: ANN401, a tree of elements
        return map_leaves(
            lambda *leaves: jnp.stack(leaves), *[tuple(one.element for one in mounts) for mounts in variants]
        )

    ramps = None
    if begun:
        over = jnp.stack([jnp.asarray(0.0 if phase.over is None else phase.over, float) for phase in phases])
        ramps = Ramps(stacked(begun), over)
    conditions = tuple(phase.when.make(bodies) for phase in phases if phase.when is not None)
    return Phases(stacked(variants), conditions, ramps)

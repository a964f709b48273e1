"""Numbers that a scenario may hold and hardly means: each in a line, with the unit that was likely meant.

One place for all scenarios: it reads the flattened numbers, and knows units and keys, but no setup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.sanity.bodies import unusual_inertias
from dockdyn.scenario.sanity.mesh_units import unusual_units
from dockdyn.scenario.sanity.ranges import unusual
from dockdyn.scenario.sanity.stated import StatedNumber, stated_numbers
from dockdyn.scenario.sanity.touches import unusual_touches
from dockdyn.scenario.sanity.touching_sizes import depths_of

MOST = 8  # lines; who mixes units up everywhere needs no more
TAILS = (0.001, 0.5, 0.999)  # of distributions


def check_numbers(scenario: Scenario | str | Path) -> list[str]:
    """Return what is unusual about the numbers of a scenario, a line each; nothing for most scenarios.

    `dockdyn run` and `stability` warn of it, other commands before they begin. Raises ScenarioError for what is no scenario.
    """
    found = list(dict.fromkeys(_unusual_numbers(scenario_from(scenario))))
    more = [f"and {len(found) - MOST} more numbers of unusual sizes"] if len(found) > MOST else []
    return found[:MOST] + more


def check_ranges(scenario: Scenario, ranges: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return what is unusual about the ends of `ranges` over which keys of a scenario are varied, and not of it itself.

    An end that the scenario refuses is left out: who runs it refuses it, too.
    """
    known, found = set(check_numbers(scenario)), []
    for key, ends in ranges.items():
        for end in ends:
            with suppress(ScenarioError):
                found += [words for words in _unusual_numbers(scenario.at({key: end})) if words not in known]
    return list(dict.fromkeys(found))[:MOST]


def _unusual_numbers(scenario: Scenario) -> Iterator[str]:
    """Yield all that is unusual."""
    usual: list[StatedNumber] = []  # of which more can be told
    told: list[str] = []  # keys
    numbers = stated_numbers(scenario.content)
    yield from unusual_units(numbers)
    for one in numbers:
        value = one.value if isinstance(one.value, float) else one.norm if one.unit in ("m", "m/s") else one.largest
        words = "" if one.assumed else unusual(".".join(one.path), one.key, value, one.unit)
        if words:
            told.append(one.key)
            yield words
        elif not one.assumed:
            usual.append(one)
    for law in scenario.dispersions:
        ends = [np.atleast_1d(law.values(np.full((1, law.size), share))[0]) for share in TAILS]
        for place, (key, unit) in enumerate(zip(law.keys, law.units, strict=True)):
            sizes = [end[place] for end in ends if isinstance(end[place], float | np.floating)]
            if any(key == other or key.startswith(f"{other}.") for other in told):
                continue
            path = ".".join(part for part in key.split(".") if not part.isdigit())
            worst = max(sizes, key=abs, default=0.0)
            if words := unusual(path, f"{key} (distributed)", float(worst), unit.replace(" ", "*")):
                yield words
    yield from _notes(scenario.content)
    yield from unusual_inertias(usual)
    yield from unusual_touches(usual, depths_of(scenario.content, usual))


def _notes(value: object) -> Iterator[str]:
    """Yield what is noted of the tables of a scenario, such as an inertia that was repaired."""
    if isinstance(value, list):
        for item in value:
            yield from _notes(item)
    elif isinstance(value, Section):
        if isinstance(note := getattr(value, "note", None), str):
            yield note
        for _, item in value:
            yield from _notes(item)

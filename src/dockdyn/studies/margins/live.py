"""What the page of margins needs to judge its loop again with other numbers: the program of its matrices, or of its map.

The contact stays where the report has it, as in a sweep. What follows from the matrices, roots and delays, the page computes.

Units: SI.
Source: definition.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float
from dockdyn.docking.operating_point import Judged, Nominal
from dockdyn.docking.resting import counts_all, delayed_loop, nominal_loop, nominal_of
from dockdyn.report.live_places import MOST_CONTACTS
from dockdyn.results.browser_unit import (
    DELAY,
    TooMuch,
    UnitMemory,
    browser_unit,
    described_number,
    packed_programs,
    page_module,
)
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError, is_key_inside
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.load import Scenario, parse
from dockdyn.scenario.setups import setup_named
from dockdyn.stability.growth import batch_of_one
from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import Hyperperiod, hyperperiod_of
from dockdyn.studies.margins.derivatives import DELAYS, PERIODS, Parts, growth_parts
from dockdyn.studies.margins.first_screen import HEADLINES
from dockdyn.trees import leaves_of

FURTHER = 3.0  # times the delay, or the critical one, up to which a page may move the delay of a sampled loop
FELT = ("contact", "contact_law", "loop", "rig")  # tables of which a loop is made, where no sensitivity tells more
SHORT = 1e-3  # s: a delay that stands for none, so that there is one to set


def live_margins(dataset: Dataset, folder: Path | None = None) -> dict[str, Any]:
    """Return what the page of margins reads to judge the loop again, as JSON has it.

    Modules of the user's own are looked for in `folder`, by default that of the scenario. Raises TooMuch, and Untranslatable
    where XLA computes a part.
    """
    name = str(dataset.attrs["source"])
    scenario = parse(str(dataset.attrs["scenario"]), name, folder=folder or Path(name).parent).at({})
    if setup_named(scenario.setup).tuned(scenario) is not scenario:
        raise TooMuch("its compensator is tuned anew for other numbers")
    margins, nominal = json.loads(dataset.attrs["margins"]), nominal_of(scenario)
    unit = _packed_loop(scenario, nominal, margins["critical_delay_s"] or 0.0, _felt_keys(margins))
    stated = {key: margins[key] for key in ("growth_rate_1_s", "critical_delay_s", "spectral_radius", "delay_s")}
    found = {"unit": unit, "loop": stated | {"roots": margins["rightmost_roots"]}, "headlines": HEADLINES}
    found["of"] = margins["sensitivity_of"]
    if not limits_delay(scenario):
        return found
    try:
        run = browser_unit(scenario).packed()
    except TooMuch:
        return found
    return found | {"limits": limits_in_page(scenario, run)}


def limits_delay(scenario: Scenario) -> bool:
    """Return whether a page can seek the delay up to which contacts take energy: there is one, and nothing acts beside them."""
    content = scenario.content
    setup = setup_named(scenario.setup)
    if setup.key_figures() is None or setup.not_in_pages(scenario):
        return False
    return content.integrator.method != "fixed" and content.loop.delay > 0 and content.only_contacts()


def limits_in_page(scenario: Scenario, unit: dict[str, Any]) -> dict[str, Any]:
    """Return what a page needs beside its own program to seek limits of the delay: the other one, `unit`."""
    return {"unit": unit, "pairs": len(scenario.content.contact), "most": MOST_CONTACTS}


def loop_limits(scenario: Scenario, live: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the page of a run needs to seek limits of its delay, beside what it is `live` by; None where it has none, or
    no margins.

    The contact is where margins have it. Of a rig, and where more acts than contacts, only the limit of the loop is sought.
    Raises Untranslatable where XLA computes a part.
    """
    on_rig = setup_named(scenario.setup).key_figures() is None
    if not on_rig and not scenario.content.loop.delay > 0:
        return None
    tuned = setup_named(scenario.setup).tuned(scenario)
    try:
        unit = _packed_loop(tuned, nominal_of(tuned), 0.0, {place.key for place in places_of(tuned)})
    except (ScenarioError, TooMuch):
        return None
    moved = {number["key"] for number in live["unit"]["numbers"]}
    numbers = [number for number in unit["numbers"] if number["key"] in moved]
    if not any(number["key"] in DELAYS for number in numbers):
        return None
    placed = [{key: number[key] for key in ("key", "places")} for number in numbers]
    found = limits_in_page(scenario, unit | {"numbers": placed})
    return found if limits_delay(scenario) else found | {"pairs": 0}


@partial(jit_once, static=("hyperperiod",))
def _matrices_in_page(
    content: Judged, nominal: Nominal, hyperperiod: Hyperperiod | None
) -> tuple[Parts, Float[Array, ""]]:
    """Return what the growth of a scenario's loop comes from, and its delay (s)."""
    loop = delayed_loop(content, nominal)
    return growth_parts(loop, hyperperiod), loop.delay


def _traced_scenario(scenario: Scenario, loop: Loop) -> Scenario:
    """Return the scenario with a delay in its loop, where that is zero: a program without one cannot be given one."""
    if loop.sampled() or any(one.key == DELAY and one.value for one in places_of(scenario)):
        return scenario
    return scenario.at({DELAY: SHORT})


def _felt_keys(margins: dict[str, Any]) -> set[str]:
    """Return the keys that margins say the loop feels, with those of delays; none where they say of none."""
    felt = {key for keys in margins["sensitivities"] for key in keys.split(", ")}
    return felt | set(DELAYS if felt else ())


def _packed_loop(scenario: Scenario, nominal: Nominal, critical: float, felt: set[str]) -> dict[str, Any]:
    """Return the program that gives a loop's matrices, or its map over a cycle, and the numbers that it feels.

    A sampled loop's has room for delays beyond the `critical` one (s). Raises TooMuch.
    """
    loop, _ = nominal_loop(scenario, nominal)
    if loop.behind is not None:
        raise TooMuch("its rig's loop has several contacts, or bodies, behind what it measures")
    traced, delay = _traced_scenario(scenario, loop), float(loop.delay)
    content = traced.content
    longest = FURTHER * max(delay, critical, 0.0)
    last: Any = np.float64(longest)
    hyperperiod = hyperperiod_of(batch_of_one(replace(loop, delay=last))) if loop.sampled() else None
    code, _ = _matrices_in_page.code(content, nominal, hyperperiod=hyperperiod)
    module = page_module({"matrices": code})
    memory = UnitMemory(module)
    given = leaves_of((content, nominal))
    leaves = [memory.put(np.ascontiguousarray(leaf, dtype)) for leaf, dtype in zip(given, code.arguments, strict=False)]
    constants = [memory.put(one) for one in code.constants]
    found = memory.take_results(code)
    calls = {"matrices": [[[one.at for one in (*leaves, *constants)], [one.at for one in found]]]}
    names = ("matrices", "delays", "delay") if hyperperiod is None else ("map", "period", "delay")
    numbers = []
    for place in places_of(traced):
        told = felt & {place.key, *place.keys} if felt else any(is_key_inside(place.key, table) for table in FELT)
        if not told or (loop.sampled() and place.key in PERIODS):
            continue
        own = replace(place, value=float(scenario.content.loop.delay)) if place.key == DELAY else place
        limits = place.limits
        if place.key in DELAYS:  # of a sampled loop as long as its map has room for, with the rest of the delay
            most = np.inf if hyperperiod is None else longest - (delay - own.value)
            limits = Bounds(least=0.0, most=min(limits.most, most), below=limits.below)
        numbers.append(described_number(own, [leaves[leaf].at for leaf in own.leaves], limits))
    return packed_programs(
        module,
        memory,
        calls,
        dict(zip(names, found, strict=True)),
        numbers,
        delays=list(DELAYS),
        longest=None if hyperperiod is None else longest,
        # whether there are motions that no delayed force sees, which are to be set aside
        drifts=counts_all(content, nominal),
    )

"""Bodies that pass through each other: what may touch by their shapes, and has no contact that could hold it.

The run is made again with a contact for each such pair, of a stiffness that moves nothing, whose depth tells.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import tomlkit

from dockdyn.api import simulate
from dockdyn.dataset import Dataset
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, parse

NOTHING = "1e-9 N/m"  # stiffness of a contact that only watches
DEEP = 5e-3  # m: less is no passing through
TOO_DEEP = 0.2  # m, of a contact that is there
RADII = 4.0  # of what touches, the same
MOST = 24  # pairs that are watched

Place = tuple[str, str, float]  # body, name and radius (m) of a feature; of a surface without radius


def passed_through(scenario: Scenario, dataset: Dataset) -> list[str]:
    """Return which parts of bodies pass through each other in the run `dataset` of a scenario, a line each."""
    return [*_pressed_through(scenario, dataset), *_pairs_passing_through(scenario)]


def _pressed_through(scenario: Scenario, dataset: Dataset) -> list[str]:
    """Return the contacts that are pressed in by far more than what touches is large."""
    meetings: list[tuple[str, float]] = getattr(scenario.content, "meetings", list)()
    if "depth" not in dataset or dataset.depth.ndim != 2 or dataset.depth.shape[1] != len(meetings):
        return []
    found = []
    for (name, radius), depth in zip(meetings, dataset.depth.values.T, strict=True):
        deepest = float(np.nanmax(depth, initial=0.0))
        if deepest > max(TOO_DEEP, RADII * radius):
            found.append(f"{name} is pressed in by {deepest:.3g} m: it is too soft to hold what passes through it")
    return found


def _pairs_passing_through(scenario: Scenario) -> list[str]:
    """Return the pairs without a contact that pass through each other; of a rig, whose run keeps no depths, none."""
    data = scenario.at({}).nominal()
    pairs = _pairs_without_contact(scenario.at({}).content)[:MOST]
    if not pairs or not data.get("contact"):
        return []
    watched = _with_watching_contacts(scenario, data, pairs)
    if watched is None:
        return []
    seen, kept = watched
    run = simulate(seen)
    if "depth" not in run:
        return []
    found = []
    for (feature, surface), depth in zip(kept, run.depth.values[:, -len(kept) :].T, strict=True):
        least = max(2 * feature[2], DEEP)
        if depth[0] <= 0 and np.nanmax(depth) > least:
            first = float(run.time[int(np.argmax(depth > 0))])
            words = f"{feature[1]!r} of {feature[0]} passes through {surface[1]!r} of {surface[0]} from t = {first:.6g} s on"
            found.append(f"{words}: no [contact.NAME] says that they touch")
    return found


def _pairs_without_contact(content: Any) -> list[tuple[Place, Place]]:  # noqa: ANN401, of the schema of its setup
    """Return features and surfaces of different bodies that no contact is of."""
    bodies = getattr(content, "body", ())
    features = [(body.name, one.name, float(one.radius)) for body in bodies for one in body.feature]
    surfaces = [(body.name, one.name, 0.0) for body in bodies for one in body.surface]
    stated = (
        {tuple((body, one.name) for body, one in content.sides(contact)) for contact in getattr(content, "contact", ())}
        if bodies
        else set()
    )
    return [
        (feature, surface)
        for feature in features
        for surface in surfaces
        if feature[0] != surface[0] and (feature[:2], surface[:2]) not in stated
    ]


def _with_watching_contacts(
    scenario: Scenario, data: dict[str, Any], pairs: list[tuple[Place, Place]]
) -> tuple[Scenario, list[tuple[Place, Place]]] | None:
    """Return the scenario with a contact for each pair that may have one, and those pairs; None where none may."""
    kept: list[tuple[Place, Place]] = []
    found: Scenario | None = None
    whole = copy.deepcopy(data)
    for number, ((own, feature, _), (other, surface, _)) in enumerate(pairs):
        contact = {
            "between": [f"{own}.{feature}", f"{other}.{surface}"],
            "normal": {"law": "spring-dashpot", "stiffness": NOTHING},
        }
        tried = whole | {"contact": whole["contact"] | {f"watching-{number}": contact}}
        try:
            found = parse(tomlkit.dumps(tried), scenario.name, folder=scenario.folder)
        except ScenarioError:  # shapes that do not meet, or that one contact is of already
            continue
        whole, kept = tried, [*kept, pairs[number]]
    return None if found is None else (found, kept)

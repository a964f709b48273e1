"""What of a scenario is a matter of computing and not of the docking: tolerances, steps, meshes and modes, each made finer.

It reads the resolved scenario, whatever it sets up.
"""

from __future__ import annotations

import math
from typing import Any

from dockdyn.docking.schema.finite_elements import MOST_MODES
from dockdyn.results.plan import delay_of, plan_run
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import leaves
from dockdyn.scenario.language.table_names import are_named, count_of_name
from dockdyn.scenario.load import Scenario

TIGHTER = 10.0  # times
FIRST_ORDER, SECOND_ORDER = 10.0, 4.0  # times that a step is shorter, for a tenth of the error or less
STEPS = {"fixed": FIRST_ORDER, "variational": SECOND_ORDER}  # methods of steps that no tolerance chooses
NEARER = 2.0  # times that the grid of a mesh is nearer to the mesh
WIDER = 1.5  # times the frequency up to which a body by finite elements has modes
MORE_POINTS = 4  # times the points spread over a mesh: half as far apart
SMALLEST = 1e-14  # relative: below is rounding
PARTS = (
    4  # times the parts in which a rig moves between two instants, for a tenth of the error or less across a contact
)
ABOUT = {
    "tolerance": "tolerance",
    "instants": "parts between instants",
    "mesh": "mesh",
    "modes": "one more mode",
}  # heads of a table

Changes = dict[str, Any]  # by dotted key


def refine_scenario(scenario: Scenario) -> dict[str, Changes]:
    """Return the keys of a scenario that make it finer, by "tolerance", "instants", "mesh" and "modes"; only those that it has.

    Raises ScenarioError for a scenario that has none.
    """
    scenario = scenario.at({})
    data = scenario.nominal()
    integrator = data.get("integrator", {})
    found = {
        "tolerance": _refine_tolerance(integrator, scenario),
        "instants": _refine_instants(integrator),
        "mesh": _refine_meshes(scenario, data),
        "modes": _refine_modes(scenario, data),
    }
    found = {name: changes for name, changes in found.items() if changes}
    if not found:
        raise ScenarioError(
            f"{scenario.name}: nothing to refine: its tolerance is at rounding, and it has no step, mesh or modes of its own"
        )
    return found


def _refine_tolerance(integrator: dict[str, Any], scenario: Scenario) -> Changes:
    """Return a tenfold tighter tolerance, or a step that gives it where steps are not by a tolerance; nothing of one at
    rounding."""
    field = type(scenario.content).model_fields.get("integrator")
    if field is None or field.exclude:
        return {}
    content = scenario.content
    section = content.integrator
    if integrator.get("error") is not None:
        return {"integrator.error": integrator["error"] / TIGHTER}
    if section.method in STEPS or (section.method == "located" and section.step is not None):
        delay = delay_of(content)
        used = min(plan_run(content, delay).step, delay or math.inf)
        return {"integrator.step": used / STEPS.get(section.method, FIRST_ORDER)}
    tighter = max(section.tolerance / TIGHTER, SMALLEST)
    return {"integrator.tolerance": tighter} if tighter < section.tolerance else {}


def _refine_instants(integrator: dict[str, Any]) -> Changes:
    """Return more parts of the motion between two instants of a loop, whose instants stay where they are."""
    return {"integrator.finer": integrator["finer"] * PARTS} if "finer" in integrator else {}


def _refine_meshes(scenario: Scenario, data: dict[str, Any]) -> Changes:
    """Return finer fields of the meshes that are touched, and more points of those that touch.

    A field may be nearer to its mesh than its tolerance asks, so what it has reached counts: else it could stay as it is.
    """
    tables = _all_tables(data)
    found: Changes = {}
    for key, table in tables.items():
        if table.get("shape") == "mesh":
            reached = section_at(scenario.content, key).field.error
            found[f"{key}.tolerance"] = f"{reached / NEARER!r} m"
        elif table.get("shape") == "cloud":
            found[f"{key}.count"] = table["count"] * MORE_POINTS
    return found


def section_at(content: Any, key: str) -> Any:  # noqa: ANN401, of any setup
    """Return the section at a dotted key."""
    parts = key.split(".")
    while parts:
        if are_named(content):
            by_name = {one.name: one for one in content}
            count = count_of_name(parts, by_name)
            content, parts = by_name[".".join(parts[:count])], parts[count:]
        else:
            part, *parts = parts
            content = content[int(part)] if part.isdigit() else getattr(content, part)
    return content


def _refine_modes(scenario: Scenario, data: dict[str, Any]) -> Changes:
    """Return one more mode of all that bends or twists, and more of what is by finite elements."""
    found: Changes = {}
    for key, value in leaves(data, whole_lists=True):
        last = key.rpartition(".")[2]
        if last == "bending_modes":
            found[key] = [count + 1 if count else count for count in value]
        elif last == "twist_modes" and value:
            found[key] = value + 1
        elif last in ("up_to", "static_error") and key.split(".")[-2] == "flexible":
            found[key] = value * WIDER if last == "up_to" else value / WIDER
        elif last == "mode_count" and key.split(".")[-2] == "flexible":
            most = len(section_at(scenario.content, key.rpartition(".")[0]).all_modes().frequency)
            found[key] = min(math.ceil(value * WIDER), most, MOST_MODES)
    return found


def _all_tables(data: Any, key: str = "") -> dict[str, dict[str, Any]]:  # noqa: ANN401, what a file holds
    """Return all tables inside `data` by their keys."""
    found: dict[str, dict[str, Any]] = {key: data} if isinstance(data, dict) and key else {}
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, item in items:
        found |= _all_tables(item, f"{key}.{name}".lstrip("."))
    return found

"""Whether the largest loads of a run are known: those of what acts at an instant, as an impact law or a rigid catch, are not.

What acts so has an impulse alone; a force of contacts or a load at a port beside it is but a lower bound.
"""

from __future__ import annotations

from typing import Any

from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.elements.latch import Latch
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.contact_figures import STRUCK
from dockdyn.results.log_data import Log
from dockdyn.results.measures import Either
from dockdyn.results.requirements import KNOWN
from dockdyn.results.run import Run, scalar_variable
from dockdyn.scenario.made import model_of


def may_act_at_an_instant(content: MechanismSection) -> bool:
    """Return whether a scenario has what can act at an instant."""
    return any(one.rigid for one in content.latch) or any(one.impact is not None for one in content.contacts)


def known_loads(model: Mechanism, log: Log, known: Either = 1.0) -> dict[str, Any]:
    """Return under `STRUCK` which contacts an impact law has struck, and under `KNOWN` 1 where the largest loads are known, 0
    where they are not; nothing of a run without what can act at an instant. `known` is the latter of all other causes."""
    xp = log.time.__array_namespace__()
    found: dict[str, Any] = {}
    jumped = []
    if "impact_impulse" in log.seen:
        found[STRUCK] = log.seen["impact_impulse"][log.last] > 0
        jumped.append(xp.any(found[STRUCK]))
    for name, rigid in zip(("latch_held", "connection_closed"), _rigid_ones(model), strict=True):
        if any(rigid):
            closed = (log.seen[name] > 0) & log.valid[:, None]
            jumped.append(xp.any(closed[1:] & ~closed[:-1] & xp.asarray(rigid)))
    return found | {KNOWN: known * (1.0 - xp.any(xp.stack(jumped)))} if jumped else {}


def _rigid_ones(model: Mechanism) -> tuple[list[bool], list[bool]]:
    """Return which latches hold rigidly, members of structures one by one, and which connections."""
    found: tuple[list[bool], list[bool]] = [], []
    for one in model.elements:
        if isinstance(one.element, Latch):
            found[one.element.joins].extend([one.element.rigid] * one.element.lateral.size)
    return found


def known_variables(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return `KNOWN` of a finished run as a variable; nothing of one without what can act at an instant."""
    if not may_act_at_an_instant(content):
        return {}
    found = known_loads(model_of(content), run.log)
    return (
        {KNOWN: scalar_variable(found[KNOWN], "1", "whether the largest force is known: 1 yes, 0 no")} if found else {}
    )

"""What theory says of a run: whether its delay is above the critical one at the first contact."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dockdyn.docking.operating_point import Judged, Nominal, nominal_in_run
from dockdyn.docking.resting import counts_all, loop_in_numbers, seen_matrices
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.stability.second_order import critical_delay
from dockdyn.stability.windows import stable_windows

_critical_delay_once = jit_once(critical_delay)


class ClosedSet(NamedTuple):
    """Contacts that a run closes together."""

    row: int  # of its moments
    contacts: tuple[int, ...]  # the first of the run first


def predicted_unstable(scenario: Scenario, run: Run) -> str:
    """Return a warning when the loop delay is above the critical one of the first contact, or of those closed with it.

    Between free bodies it is that of the contacts alone: a latch is passed in a moment. Laws without stiffness at zero depth
    are judged at `stability.depth`, and not at all where they have none there.
    """
    content, delay = scenario.content.without_latches(), delay_of(scenario.content)
    scenario = replace(scenario, content=content)
    if not delay or not run.episodes:
        return ""
    first = run.episodes[0]
    nominal = nominal_in_run(content, run, first.onset_row, (first.contact,), pressed=False)
    loop, _ = loop_in_numbers(content, nominal)
    if not (loop.stiffness > 0 and loop.damping >= 0 and loop.effective_mass > 0):
        return ""
    if counts_all(content, nominal):
        critical = _critical_of_all(scenario, nominal, delay)
    else:
        critical = float(_critical_delay_once(loop.damping, loop.stiffness, loop.effective_mass))
    critical, count = _least_of_later(scenario, run, delay, critical)
    if delay <= critical:
        return ""
    sampled = content.controlled and content.control.period is not None
    without = " without control" if sampled else ""
    late = f"the loop delay of {delay * 1e3:.4g} ms"
    if not critical:
        return f"{late} feeds energy into {_describe_undamped(content, loop, first.contact, without)} (see dockdyn stability)"
    limit = f"the critical one of {critical * 1e3:.4g} ms" + (
        f" of {count} contacts closed together" if count > 1 else ""
    )
    return f"{late} is above {limit}: contact{without} gains energy (see dockdyn stability)"


def _describe_undamped(content: Judged, loop: Loop, number: int, without: str) -> str:
    """Return in words into what any delay feeds energy: a contact without damping, or one that has none where it is judged."""
    if loop.damping > 0:
        return f"contact{without}, as any delay does, though its law damps: something that moves with it is not damped"
    depth = content.stability.depth
    if content.contacts[number].normal.make().at_rest(depth).lossless():
        return f"a contact{without} that has no damping; friction may hide it"
    where = "where contact begins" if not depth else f"at a depth of {depth * 1e3:.4g} mm"
    return (
        f"a contact{without} that has no damping {where}, where it is judged; state stability.depth to judge it deeper"
    )


def _critical_of_all(scenario: Scenario, nominal: Nominal, delay: float) -> float:
    """Return the critical delay (s) of all that is closed; the run's own `delay` where it is longer, further is not looked."""
    matrices = seen_matrices(scenario.content, nominal)
    return stable_windows(matrices, np.array([delay]), longest=delay).critical_delay


def _least_of_later(scenario: Scenario, run: Run, delay: float, critical: float) -> tuple[float, int]:
    """Return the least critical delay (s) of the first contact's, `critical`, and of those of the sets closed while it is; and
    of how many contacts it is."""
    count = 1
    for later in _closed_with(run):
        nominal = nominal_in_run(scenario.content, run, later.row, later.contacts, pressed=True)
        found = _critical_of_all(scenario, nominal, delay)
        if found < critical:
            critical, count = found, len(later.contacts)
    return critical, count


def _closed_with(run: Run) -> list[ClosedSet]:
    """Return the sets of several contacts that a run closed while the first was closed, as each set was when it was first
    closed."""
    first = run.episodes[0]
    found: dict[tuple[int, ...], ClosedSet] = {}
    for begun in run.episodes:
        if begun.onset > first.release or begun.contact == first.contact:
            continue
        closed = {one.contact for one in run.episodes if one.onset <= begun.onset and not one.release <= begun.onset}
        others = tuple(sorted(closed - {first.contact}))
        if first.contact in closed and others not in found:
            found[others] = ClosedSet(begun.onset_row, (first.contact, *others))
    return list(found.values())

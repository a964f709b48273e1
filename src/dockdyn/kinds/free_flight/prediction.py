"""What theory says of a run: whether its delay is above the critical one at the first contact."""

from __future__ import annotations

import jax
import numpy as np

from dockdyn.kinds.free_flight.closed_together import seen_matrices
from dockdyn.kinds.free_flight.nominal import Nominal, loop_once
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.results.episodes import Episode
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.load import Scenario
from dockdyn.stability.second_order import critical_delay
from dockdyn.stability.windows import stable_windows

_critical_delay_once = jit_once(critical_delay)


def predicted_unstable(scenario: Scenario, run: Run) -> str:
    """A warning when the loop delay is above the critical one of the first contact, or of those closed with it.

    Laws without stiffness at zero depth are judged at `stability.depth`, and not at all where they have none there.
    """
    delay = delay_of(scenario.content)
    if not delay or not run.episodes:
        return ""
    first = run.episodes[0]
    nominal = Nominal(_poses_at(run, first), first.contact)
    loop, _ = jax.tree.map(np.asarray, loop_once(scenario.content, nominal))
    if not (loop.stiffness > 0 and loop.damping >= 0 and loop.effective_mass > 0):
        return ""
    critical, count = float(_critical_delay_once(loop.damping, loop.stiffness, loop.effective_mass)), 1
    for later in _closed_with(run):
        matrices = seen_matrices(scenario.content, later)
        found = stable_windows(matrices, np.array([delay])).critical_delay
        if found < critical:
            critical, count = found, len(later.closed)
    if delay <= critical:
        return ""
    without = " without control" if scenario.content.controlled else ""
    late = f"the loop delay of {delay * 1e3:.4g} ms"
    if not critical:
        return f"{late} feeds energy into a contact{without} that has no damping; friction may hide it (see dockdyn stability)"
    limit = f"the critical one of {critical * 1e3:.4g} ms" + (
        f" of {count} contacts closed together" if count > 1 else ""
    )
    return f"{late} is above {limit}: contact{without} gains energy (see dockdyn stability)"


def _closed_with(run: Run) -> list[Nominal]:
    """The sets of several contacts that a run closed while the first was closed, as each set was when it was first closed."""
    first = run.episodes[0]
    found: dict[tuple[int, ...], Nominal] = {}
    for begun in run.episodes:
        if begun.onset > first.release or begun.contact == first.contact:
            continue
        closed = {one.contact for one in run.episodes if one.onset <= begun.onset and not one.release <= begun.onset}
        others = tuple(sorted(closed - {first.contact}))
        if first.contact in closed and others not in found:
            found[others] = Nominal(_poses_at(run, begun), first.contact, True, others)
    return list(found.values())


def _poses_at(run: Run, episode: Episode) -> tuple[Pose, Pose]:
    """Poses of chaser and target at the onset of a contact."""
    position, attitude = (run.at_moments[name][episode.onset_row] for name in ("position", "attitude"))
    chaser, target = (
        Pose(Vector.of(place), Quaternion.of(turn)) for place, turn in zip(position, attitude, strict=True)
    )
    return chaser, target

"""What theory says of a run: the delay margin at the first contact, how far effective masses hold."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.kinds.chains.data import impact_doubts
from dockdyn.kinds.free_flight.nominal import Nominal, loop_once
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.results.plan import delay_of
from dockdyn.results.run import Run
from dockdyn.scenario.load import Scenario
from dockdyn.stability.second_order import critical_delay


def predictions(scenario: Scenario, run: Run) -> str:
    """What theory warns of in a run, one line each."""
    if scenario.kind == "four-mass":
        return "\n".join(impact_doubts(scenario.content))
    return predicted_unstable(scenario, run)


def predicted_unstable(scenario: Scenario, run: Run) -> str:
    """A warning when the loop delay is above the critical one of the first contact; empty when it is not.

    Laws without stiffness at zero depth are judged at `stability.depth`, and not at all where they have none there.
    """
    delay = delay_of(scenario.content)
    if not delay or not run.episodes:
        return ""
    first = run.episodes[0]
    position, attitude = (run.at_moments[name][first.onset_row] for name in ("position", "attitude"))
    chaser, target = (
        Pose(Vector.of(jnp.asarray(place)), Quaternion.of(jnp.asarray(turn)))
        for place, turn in zip(position, attitude, strict=True)
    )
    loop, _ = jax.tree.map(np.asarray, loop_once(scenario.content, Nominal((chaser, target), first.contact)))
    if not (loop.stiffness > 0 and loop.damping >= 0 and loop.effective_mass > 0):
        return ""
    critical = float(critical_delay(loop.damping, loop.stiffness, loop.effective_mass))
    if delay <= critical:
        return ""
    without = " without control" if scenario.content.controlled else ""
    late = f"the loop delay of {delay * 1e3:.4g} ms"
    if not critical:
        return f"{late} feeds energy into a contact{without} that has no damping; friction may hide it (see dockdyn stability)"
    limit = f"the critical one of {critical * 1e3:.4g} ms"
    return f"{late} is above {limit}: contact{without} gains energy (see dockdyn stability)"

"""A run of an assembly just before and just after its impacts, in NumPy: where bodies are and how they move."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import dockdyn
from dockdyn.integrate.hybrid import located
from dockdyn.mechanism.impact_contact import TOUCHED
from dockdyn.programs import Program
from dockdyn.results.plan import settings_for


class Bodies(NamedTuple):
    """All bodies at an instant, inertial but for rates, which are in their own axes."""

    position: np.ndarray
    turn: np.ndarray  # body to inertial
    velocity: np.ndarray
    rate: np.ndarray
    impulse: np.ndarray  # N s, of each contact so far
    work: float

    def motion(self) -> np.ndarray:
        """Velocity and rate of each body, a row of six."""
        return np.concatenate([self.velocity, self.rate], axis=1)


@Program
def _log(content: Any, settings: located.Settings) -> Any:
    model = content.model()
    solution = located.solve(model, settings)

    def seen(x):
        places = model.placement(x).bodies
        here = [
            jnp.stack([one.array() for one in parts])
            for parts in (
                [place.pose.position for place in places],
                [place.rotation for place in places],
                [place.twist.velocity for place in places],
                [place.twist.rate for place in places],
            )
        ]
        return (*here, jnp.stack([hit.impulse for hit in x.memory.impacts]), x.memory.work)

    states = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), model.initial(), solution.log.state)
    times = jnp.concatenate([jnp.zeros(1), solution.log.time])
    return solution.moments + 1, times, states.mode, jax.lax.map(seen, states)


def impacts(content: dict[str, Any]) -> list[tuple[float, Bodies, Bodies]]:
    """The instants of a run at which contacts have been struck, and the bodies before and after."""
    scenario = dockdyn.load(content)
    count, times, modes, states = jax.tree.map(
        np.asarray, _log(scenario.content, settings_for(scenario.content, False))
    )
    touched = np.any([mode == TOUCHED for mode in modes[: len(content["contact"])]], axis=0)
    rows = [row for row in range(int(count) - 1) if touched[row]]
    return [(times[row], *(Bodies(*(part[at] for part in states)) for at in (row, row + 1))) for row in rows]

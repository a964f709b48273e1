"""Arms of links with large beams just before and just after what touches them at t = 0, in NumPy."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import dockdyn
from dockdyn.programs import Program
from dockdyn.results.adaptive_run import begun_of

DOWN = [-0.077181208464864, 18.634976952449820, 0.0]  # m: the payload of Cyril et al. with N_y
AHEAD = [-0.463087250789183, 18.557515041906065, 0.0]  # with N_h
SEAT = [0.385906042324319, -0.922538089456245, 0.0]  # m: the hand's tip from there


class Instant(NamedTuple):
    """All bodies at t = 0."""

    velocity: np.ndarray  # m/s, inertial
    rate: np.ndarray  # rad/s, own axes
    trees: list[np.ndarray]  # velocities of trees of links
    energy: float  # J
    impulse: np.ndarray  # N s, of each contact with an impact law


@Program
def _seen(content: Any) -> Any:
    found = begun_of(content)

    def look(x: Any) -> Any:
        places = found.model.placement(x).bodies
        speeds = jnp.stack([one.twist.velocity.array() for one in places])
        rates = jnp.stack([one.twist.rate.array() for one in places])
        impulses = jnp.stack([jnp.zeros(()), *(hit.impulse for hit in x.memory.impacts)])
        return speeds, rates, x.v.trees, found.model.kinetic_energy(x), impulses[1:]

    # before a latch falls in
    free = found.model.moving.placed(found.before.q, found.before.v)
    return look(found.before), look(found.after), [one.twist.velocity.array() for one in free.bodies]


def struck(scenario: dockdyn.Scenario) -> tuple[Instant, Instant]:
    """Return the bodies before and after the events at t = 0; a latch has fallen in before."""
    before, after, _ = jax.tree.map(np.asarray, _seen(scenario.content))
    return Instant(*before), Instant(*after)


def modes(count: int) -> dict[str, Any]:
    """Return the changes of a preset of Cyril et al. for so many modes a link."""
    return {f"body.{name}.flexible.bending_modes": [count, 0] for name in ("link1", "link2")}

"""A rig over a whole run: cycle after cycle, in one compiled loop.

Units: SI; times s.
Source: own construction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, PyTree, jax, jnp
from dockdyn.hil.sensor import Draws, draw_noise, random_stream
from dockdyn.integrate.model import jacobian_by_columns, pack_tree, unpack_tree
from dockdyn.rig.model.delayed_reads import ages_of
from dockdyn.rig.model.rig import IdealContact, Rig, RigState
from dockdyn.trees import map_leaves


class NoiseDraws(NamedTuple):
    """Random numbers of all cycles of a run, each with two leading axes, of rows and of cycles in one."""

    samples: Draws | None  # of an imperfect sensor
    encoder: Float[Array, "rows stride asks axes"] | None  # of noisy encoders where the compensator is asked


ENCODER = 4  # the part that they are of, behind those of samples


def draw_chances(rig: Rig, seed: int, rows: int, stride: int) -> NoiseDraws:
    """Return random numbers of `rows` × `stride` cycles: those of samples, and of encoders where the compensator is asked."""
    asks, samples, axes = sum(rig.schedule.asks), sum(rig.schedule.samples), rig.plant.port_axes
    drawn, noisy = rig.sensor.random, rig.sensor.position_noise is not None
    encoder: Any = random_stream(seed, ENCODER).standard_normal((rows, stride, asks, axes)) if noisy else None
    return NoiseDraws(draw_noise(seed, (rows, stride, samples), axes) if drawn else None, encoder)


def run_cycles(
    rig: Rig, oracle: IdealContact, chances: NoiseDraws, rows: int, stride: int
) -> tuple[RigState, dict[str, Array]]:
    """Return the rig after `rows` × `stride` cycles, and what is observed at its instants; of longer strides at their start
    alone.

    `oracle` has a row for every instant at which the compensator is asked, or one that stands for all; `chances` are the
    `draw_chances` of these cycles.
    """
    ages, schedule, cycles = ages_of(rig), rig.schedule, rows * stride
    asks = sum(schedule.asks)
    drawn, noise = chances
    known = None if oracle.position.shape[0] == 1 else oracle
    if known is not None:
        known = map_leaves(lambda values: values[: cycles * asks].reshape(rows, stride, asks, -1), known)
    one = map_leaves(lambda values: jnp.broadcast_to(values[0], (asks, *values.shape[1:])), oracle)

    def cycle(moving: RigState, given: PyTree) -> tuple[RigState, dict[str, Array]]:
        ideal, random, encoder = given
        return rig.cycle(ages, moving, (one if ideal is None else ideal)._replace(encoder=encoder), random)

    def row(moving: RigState, given: PyTree) -> tuple[RigState, dict[str, Array]]:
        first, later = (map_leaves(lambda values, part=part: values[part], given) for part in (0, slice(1, None)))
        moving, found = cycle(moving, first)
        if stride > 1:
            moving, _ = jax.lax.scan(lambda m, g: (cycle(m, g)[0], None), moving, later, length=stride - 1)
            found = map_leaves(lambda values: values[:1], found)
        return moving, found

    begun = rig.begin()
    if stride == 1:
        given = map_leaves(lambda values: values[:, 0], (known, drawn, noise))
        end, seen = jax.lax.scan(cycle, begun, given, length=rows)
    else:
        end, seen = jax.lax.scan(row, begun, (known, drawn, noise), length=rows)
    return end, map_leaves(lambda values: values.reshape(-1, *values.shape[2:]), seen)


def monodromy_matrix(rig: Rig) -> Float[Array, "n n"]:
    """Return the derivative of the rig's state after a cycle by that before it, where it is at t = 0.

    Exact for a rig whose contact is bilateral and linear and which starts at rest: what small motions in contact do. Of
    its states none is a clock or an account.
    """
    ages, begun = ages_of(rig), rig.begin()
    oracle = IdealContact(*(jnp.zeros((sum(rig.schedule.asks), rig.plant.port_axes)) for _ in range(2)))
    later = begun._replace(tick=begun.tick + 10**6 * rig.schedule.ticks)  # no force is from before t = 0

    def numbers(moving: RigState) -> RigState:
        left_out: dict[str, Any] = {"tick": (), "port_work": (), "contact_work": (), "reached": ()}
        if rig.robot.robot is None:
            left_out["state"] = ()
        return moving._replace(**left_out)

    def cycled(row: Array) -> Array:
        given = unpack_tree(row, numbers(later))
        state = later.state if rig.robot.robot is None else given.state
        accounts = {"port_work": later.port_work, "contact_work": later.contact_work, "reached": later.reached}
        full = given._replace(tick=later.tick, state=state, **accounts)
        return pack_tree(numbers(rig.cycle(ages, full, oracle, None)[0]))

    return jacobian_by_columns(cycled, pack_tree(numbers(later)))


def spectral_radius(matrix: Float[np.ndarray, "n n"]) -> float:
    """Return the largest modulus of the eigenvalues of a `monodromy_matrix`, without states that nothing else depends on."""
    kept = np.arange(len(matrix))
    while len(kept):
        inside = matrix[np.ix_(kept, kept)]
        felt = (inside - np.diag(np.diag(inside)) != 0).any(axis=0)
        if felt.all():
            break
        kept = kept[felt]
    return float(np.abs(np.linalg.eigvals(matrix[np.ix_(kept, kept)])).max(initial=0.0))

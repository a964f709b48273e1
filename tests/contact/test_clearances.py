"""What is kept of how far members are, along paths of both bodies, beside all members looked at one after another."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pair_cases import SURFACES, motion_of, placed
from test_member_trees import group_on

from dockdyn.contact.contact_modes import APART, GATED, PRESSING
from dockdyn.programs import Program

STRIDES = [1e-7, 1e-5, 1e-3, 0.02, 1e-4, -0.5, 0.3, 1e-6]  # s, at about 1 m/s: there and back, near and far


def state_of(group, motion, time, mode, loads):
    own, other = (placed(side, time) for side in motion)
    found = group.state(mode, own, other, loads=loads)
    return jnp.concatenate([found.wrench.force.array(), found.wrench.moment.array(), jnp.stack([found.depth])])


@Program
def along(group, motion, times, beside, mode):
    """At each time what is kept is renewed; loads and guards then, and `beside` (s) it, by what is kept and without it."""
    plain = replace(group, tree=None)

    def one(known, time):
        known = group.renew_clearances(*(placed(side, time) for side in motion), known)
        kept = replace(group, clearances=known)
        rows = [
            jnp.stack([state_of(which, motion, at, mode, loads) for which in (kept, plain)])
            for at in (time, time + beside)
            for loads in (True, False)
        ]
        return known, (jnp.stack(rows), known.levels - known.closed, known.nearest)

    return jax.lax.scan(one, group.first_clearances(), times)[1]


@pytest.mark.full
@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("name", ["grid", "plane", "torus", "box"])
def test_what_is_kept_changes_no_bit_of_a_force(name, radius):
    """Sums are in the order of the members, whatever is passed over, also far from where it was renewed."""
    rng = np.random.default_rng(3 + len(name))
    group, touched = group_on(SURFACES[name], 300, radius, rng), 0
    for mode in (GATED, PRESSING, APART):
        for beside in (1e-6, 0.1):
            motion, times = (motion_of(rng), motion_of(rng)), np.cumsum(np.tile(STRIDES, 6))
            rows, levels, nearest = map(np.asarray, along(group, motion, times, beside, jnp.asarray(mode)))
            kept, plain = rows[:, :, 0], rows[:, :, 1]
            assert np.array_equal(kept[..., :6], plain[..., :6])
            assert np.array_equal(kept[..., 6] > 0, plain[..., 6] > 0)
            touched += int((plain[..., 6] > 0).sum())
            distances = np.asarray(along_exactly(group, motion, times))
            members = levels[:, group.tree.balls.shape[0] :]
            assert (members <= distances + 1e-12).all()
            assert (nearest >= distances.min(axis=1) - 1e-12).all()
            told = kept[:, 1::2, 6] > -1e-3  # what is apart by more than a few strides may be told by a bound
            assert np.all(kept[:, 1::2, 6][told] == pytest.approx(plain[:, 1::2, 6][told], abs=1e-12))
    assert touched > 50


@Program
def along_exactly(group, motion, times):
    """The distance of each member at each time (m)."""
    return jax.lax.map(lambda time: -group.depths(*(placed(side, time) for side in motion)), times)


@Program
def along_observed(group, motion, times):
    """At each time what is observed: by what is kept from time to time, and without it."""

    def told(group, motion, time):
        found = group.state(jnp.asarray(GATED), *(placed(side, time) for side in motion), exact=True)
        return jnp.concatenate(
            [found.wrench.force.array(), found.wrench.moment.array(), jnp.stack([found.stored, found.depth])]
        )

    def one(known, time):
        known = group.renew_clearances(*(placed(side, time) for side in motion), known, exact=True)
        both = replace(group, clearances=known), replace(group, tree=None)
        return known, jnp.stack([told(which, motion, time) for which in both])

    return jax.lax.scan(one, group.first_clearances(), times)[1]


@pytest.mark.full_cases("grid")
@pytest.mark.parametrize("name", ["grid", "plane"])
def test_what_is_kept_changes_nothing_that_is_observed(name):
    """The depth of the nearest member is told however far it is, and what is stored by those that press."""
    rng = np.random.default_rng(8)
    group, touched = group_on(SURFACES[name], 300, 0.0, rng), 0
    for _ in range(4):
        motion, times = (motion_of(rng), motion_of(rng)), np.cumsum(np.tile(STRIDES, 6))
        kept, plain = np.moveaxis(np.asarray(along_observed(group, motion, times)), 1, 0)
        assert np.array_equal(kept[:, :7], plain[:, :7])
        assert kept[:, 7] == pytest.approx(plain[:, 7], rel=1e-12, abs=1e-12)
        touched += int((plain[:, 7] > 0).sum())
    assert touched > 10

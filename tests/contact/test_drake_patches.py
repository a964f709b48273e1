"""Faces on faces beside Drake's hydroelastic contact, an engine that shares no code: its numbers are kept, and how they came.

Drake's pressure acts across the surface that touches: a rigid block in a soft half space is lifted by what it displaces.
Points of dockdyn bear along the normal of the surface they are in: of a tilted face 1/cos β of that, and on the sides, too.
"""

import numpy as np
import pytest
from contact_patches import block_closed_form, block_force, sides_of_tilted_block, tilted_block_force
from patch_places import BLOCK, DEPTHS, PLACES, PRESSURE, SLOPES, drake_forces

ON_HALF_SPACE, ON_BLOCK = drake_forces("block on a half space"), drake_forces("block on a block")


def test_drake_lifts_by_what_is_displaced():
    for deep, forces in zip(DEPTHS, ON_HALF_SPACE, strict=True):
        for tilt, force in zip(SLOPES, forces, strict=True):
            lowest = deep + BLOCK[0] / 2 * np.sin(tilt)
            section = BLOCK[0] * deep / np.cos(tilt) if lowest <= 2 * deep else lowest**2 / np.sin(2 * tilt)
            assert force == pytest.approx(PRESSURE * BLOCK[1] * section, rel=1e-9)
    known = [block_closed_form(*place) for place in PLACES]
    assert ON_BLOCK == pytest.approx(known, rel=2e-3)  # where two soft edges cross, pressure falls aside, too


@pytest.mark.full_cases(*(f"{depth}-{slope}" for depth in range(3) for slope in range(4) if (depth, slope) != (1, 2)))
@pytest.mark.parametrize("slope", range(len(SLOPES)))
@pytest.mark.parametrize("depth", range(len(DEPTHS)))
def test_a_tilted_block_bears_as_drake_says_and_on_its_sides(load, tmp_path, depth, slope):
    deep, tilt = DEPTHS[depth], SLOPES[slope]
    expected = ON_HALF_SPACE[depth, slope] * np.cos(tilt) + sides_of_tilted_block(deep, tilt)
    force = tilted_block_force(load, tmp_path, 8_000, deep, tilt)
    assert force == pytest.approx(expected, rel=5e-3)
    assert force / ON_HALF_SPACE[depth, slope] == pytest.approx(1, abs=0.01 + 1.1 * np.sin(tilt))


@pytest.mark.full_cases(*(str(place) for place in range(6) if place != 3))
@pytest.mark.parametrize("place", range(len(PLACES)))
def test_blocks_bear_on_each_other_as_drake_says(load, tmp_path, place):
    assert block_force(load, tmp_path, 20_000, *PLACES[place]) == pytest.approx(ON_BLOCK[place], rel=0.01)

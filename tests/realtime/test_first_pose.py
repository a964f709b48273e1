"""Where a driven rig begins: told where it is outside of the limits, with what is in the way and by how much."""

import re

import pytest
from driven_rigs import in_space, on_a_line

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.setups import setup_named


def refusal(scenario):
    with pytest.raises(ScenarioError) as refused:
        setup_named("rig").driver(scenario).cycle()
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(("settle", "speed"), [(1.0, 50.0), (0.4, 80.0)])
def test_a_run_that_begins_below_the_lowest_says_where_why_and_by_which_limit(settle, speed):
    """From −10 mm back for as long as it settles, and a little more while it comes up to its speed."""
    words = refusal(on_a_line(rig__limits__lowest=[-0.02], rig__settle=settle, body__target__velocity=f"{speed} mm/s"))
    begins = -10 - speed * settle
    found = re.search(
        r"rig\.limits\.lowest = -20 mm: the run begins at (\S+) mm, .* at (\S+) mm/s in rig\.settle = (\S+) s", words
    )
    assert begins - 2 < float(found[1]) < begins
    assert (float(found[2]), float(found[3])) == (speed, settle)


def test_the_axis_in_space_and_a_speed_beyond_the_limit_are_named():
    """The probe of the preset begins 3.06 m from the cone, 16 mm beside it."""
    words = refusal(in_space(rig__limits__highest=[6.0, 0.01, 6.0]))
    assert "rig.limits.highest = 10 mm: the run begins at 16.13 mm along y, before its start" in words
    words = refusal(on_a_line(rig__limits__speed="10 mm/s"))
    assert "rig.limits.speed = 10 mm/s: the approach is at 50 mm/s; must be at least that" in words

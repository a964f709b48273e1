"""The least speed at which a latch behind a ramp catches, of mechanisms, free flights and masses on a line."""

import math

import numpy as np
import pytest
from latched_docking import SLOPE, latched
from line_of_masses import LineOfMasses, least_speed
from on_a_line import latching

import dockdyn
from dockdyn.impact import minimum_latching_velocity
from dockdyn.scenario.load import parse

PRESET = "sprung-probe-latch"


def on_paper(**changes):
    """The masses of the preset, written down again."""
    return LineOfMasses(
        masses=[300.0, 6.0, 800.0],
        springs={(0, 1): (6000.0, 30.0)},
        rubbing={(0, 1): (3.0, 1e-4)},
        probe=1,
        **{"stiffness": 3000.0, "angle": math.radians(40), "length": 0.02, "preload": 5.0, "friction": 0.15} | changes,
    )


# of the speed, how far on either side a search begins: the near one takes a few attempts
WIDTHS = [3e-6, pytest.param(0.1, marks=pytest.mark.full)]


@pytest.mark.full
@pytest.mark.parametrize("width", WIDTHS)
def test_a_sprung_probe_that_rubs_needs_what_a_search_by_scipy_finds(width):
    """Equations of the test's own, halved to 1e-7; and it latches or not a millionth above and below."""
    found = dockdyn.least_latching_speed(PRESET)
    expected = least_speed(on_paper(), 2, 3.0, (1 - width) * found, (1 + width) * found, 1e-7)
    assert found == pytest.approx(expected, rel=1e-6)
    rigid = float(minimum_latching_velocity(306, 800, 3000, math.radians(40), 0.02, friction=0.15, preload=5))
    assert found > 1.05 * rigid
    for side in (1e-6, -1e-6):
        run = dockdyn.simulate(dockdyn.load(PRESET, {"body.chaser.velocity": [found * (1 + side), 0, 0]}))
        assert dockdyn.summarise(run)["captured"] == (side > 0)


@pytest.mark.full
def test_the_preset_moves_as_on_paper():
    run = dockdyn.simulate(PRESET)
    speed = 0.11
    expected = on_paper().run([-0.03, -0.03, 0], [speed, speed, 0], 2.0, run.time.values)
    summary = dockdyn.summarise(run)
    assert summary["captured"] and summary["capture_time_s"] == pytest.approx(expected.capture_time, abs=1e-9)
    moved = run.position.values[:, :, 0] - run.position.values[0, :, 0]
    assert np.abs(moved - (np.concatenate(expected.samples)[:, :3] - [-0.03, -0.03, 0])).max() < 1e-8


@pytest.mark.full
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_masses_on_a_line_need_what_a_search_by_scipy_finds(seed, width):
    draw = np.random.default_rng([81, seed])
    masses, inside = 10 ** draw.uniform(0, 1.5, 4), 10 ** draw.uniform(2.3, 3.3, 2)
    ramp = {
        "stiffness": float(draw.uniform(200, 900)),
        "angle": float(draw.uniform(0.4, 0.9)),
        "preload": float(draw.uniform(0, 3)),
        "friction": float(draw.uniform(0, 0.3)),
    }
    springs = tuple({"stiffness": float(stiffness)} for stiffness in inside)
    chains = (masses[:2].tolist(), masses[2:].tolist())
    tables = latching(*chains, ramp | {"axial_length": 0.02}, speed=0.0709, gap=0.01, inside=springs, duration=1.5)
    found = dockdyn.least_latching_speed(tables)
    line = LineOfMasses(
        masses=masses.tolist(),
        springs={(0, 1): (float(inside[0]), 0.0), (2, 3): (float(inside[1]), 0.0)},
        probe=1,
        length=0.02,
        **ramp,
    )
    assert found == pytest.approx(least_speed(line, 2, 20.0, (1 - width) * found, (1 + width) * found, 1e-7), rel=1e-6)


def test_two_free_bodies_need_the_closed_form_along_the_axis():
    """Through their centres of mass; what comes off the axis turns, and needs another speed than that."""
    scenario = parse(latched(0.3, "", "pin", z=0.0), "cone")
    content = scenario.content
    ramp = {"stiffness": 1000.0, "angle": math.atan(SLOPE), "axial_length": 0.025, "preload": 3.0}
    expected = float(minimum_latching_velocity(content.named("chaser").mass, content.named("target").mass, **ramp))
    assert dockdyn.least_latching_speed(scenario) == pytest.approx(expected, rel=1e-9)


def test_what_has_no_ramp_is_refused():
    with pytest.raises(dockdyn.ScenarioError, match=r"probe-cone: has 0 latches behind a ramp; must have one$"):
        dockdyn.least_latching_speed("probe-cone")
    with pytest.raises(dockdyn.ScenarioError, match="must have one"):
        dockdyn.least_latching_speed("sits")


def test_a_probe_that_does_not_come_has_none():
    assert math.isnan(dockdyn.least_latching_speed(dockdyn.load(PRESET, {"body.chaser.velocity": [-0.1, 0, 0]})))

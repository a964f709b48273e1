"""Phases whose numbers change smoothly: how they begin, what is cut short, and what cannot change so."""

import numpy as np
import pytest
from helpers.refusals import refused
from numpy.testing import assert_allclose

import dockdyn

WALL = {"fixed": True, "position": 0.0}


def on_line(load, strut, phases, *, duration=2.0, mass=10.0, **tables):
    """Return a run of a body at 1 m from a wall, on a line, with a strut between them."""
    return dockdyn.simulate(
        load(
            {
                "schema": 2,
                "motion": "line",
                "duration": duration,
                "body": {"mover": {"mass": mass, "position": 1.0}, "wall": WALL},
                "strut": {"leg": {"between": ["mover", "wall"], **strut}},
                "phase": phases,
                "output": {"interval": 0.01},
                **tables,
            }
        )
    )


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_a_first_phase_begins_with_the_numbers_of_the_file(load, seed):
    """As one does that begins at t = 0 after another that changes nothing."""
    draw = np.random.default_rng(seed)
    stiffness, stretch, lasts = draw.uniform(300, 600), draw.uniform(0.05, 0.12), draw.uniform(3, 12)
    strut = {"stiffness": stiffness, "damping": 2.0, "free_length": 1.0 - stretch}
    change = {"over": lasts, "set": {"strut.leg.stiffness": 3.0 * stiffness}}
    own = on_line(load, strut, {"first": change})
    other = on_line(load, strut, {"before": {}, "first": {"when": {"lasting": 0.0}, **change}})
    assert float(own.element_tension[0, 0]) == pytest.approx(stiffness * stretch, rel=1e-12)
    for name in ("element_tension", "position", "work"):
        found, size = own[name].values, np.abs(other[name].values).max()
        assert_allclose(found, other[name].values, rtol=0, atol=1e-9 * size)  # values cross zero
    assert dockdyn.summarise(own)["work_energy_error"] < 1e-9


@pytest.mark.full
def test_a_slack_cable_whose_length_will_shrink_is_slack_at_first(load):
    found = dockdyn.simulate(
        load(
            {
                "schema": 2,
                "motion": "line",
                "duration": 1.0,
                "body": {"mover": {"mass": 10.0, "position": 1.0}, "wall": WALL},
                "cable": {"rope": {"between": ["mover", "wall"], "stiffness": 100.0, "free_length": 2.0}},
                "phase": {"first": {"over": 10.0, "set": {"cable.rope.free_length": 0.5}}},
                "output": {"interval": 0.1},
            }
        )
    )
    assert np.abs(found.element_tension.values).max() == 0.0
    assert dockdyn.summarise(found)["work_energy_error"] < 1e-12


CHANGES = {
    "strut.leg.slip": ({"stiffness": 1000.0, "slip": 1.0, "free_length": 1.0}, 100.0),
    "strut.leg.stiffness": ({"stiffness": 1000.0, "slip": 1.0, "free_length": 1.0}, 2000.0),
}


@pytest.mark.full
@pytest.mark.parametrize("key", CHANGES)
def test_what_slips_is_not_changed_smoothly(load, key):
    """Its modes take a limit for granted that stays; at once it may change."""
    strut, value = CHANGES[key]
    phases = {"first": {}, "next": {"when": {"lasting": 0.5}, "set": {key: value}}}
    on_line(load, strut, phases)
    phases["next"]["over"] = 1.0
    with refused(f"phase.next.set.{key}: what slips does not follow it smoothly; must be set without over"):
        on_line(load, strut, phases)


STIFFER = {"when": {"lasting": 0.5}, "over": 1.0, "set": {"strut.leg.stiffness": 400.0}}


@pytest.mark.full
def test_a_phase_that_would_cut_a_change_short_is_refused(load):
    strut = {"stiffness": 100.0, "damping": 1.0, "free_length": 0.9}
    phases = {"first": {}, "stiffer": STIFFER, "last": {"when": {"lasting": 0.4}, "set": {"strut.leg.damping": 2.0}}}
    with refused("phase.last.when.lasting = 0.4 s: what phase 'stiffer' changes takes over = 1 s"):
        on_line(load, strut, phases)
    phases["last"]["set"] = {"strut.leg.stiffness": 150.0}  # it goes there at once, as it is asked to
    on_line(load, strut, phases)
    phases["last"] = {"when": {"lasting": 1.0}, "set": {"strut.leg.damping": 2.0}}
    assert dockdyn.summarise(on_line(load, strut, phases))["warnings"] == ["no contact within the duration"]


@pytest.mark.full
@pytest.mark.parametrize("over", [0.1, 1.0])
def test_a_change_that_an_event_cuts_short_is_told(load, over):
    """A contact comes 0.2 s after the phase has begun."""
    found = on_line(
        load,
        {"stiffness": 1.0, "damping": 0.1, "free_length": 1.0},
        {
            "first": {},
            "stiffer": {**STIFFER, "over": over},
            "touching": {"when": "contact", "set": {"strut.leg.damping": 0.2}},
        },
        body={
            "mover": {"mass": 10.0, "position": 1.0},
            "wall": WALL,
            "striker": {"mass": 1.0, "position": 1.07, "velocity": -0.1},
        },
        contact={"bump": {"between": ["mover", "striker"], "normal": {"law": "spring-dashpot", "stiffness": 1e4}}},
    )
    words = "phase 'stiffer' was over after 0.2 s, and what it changes takes 1 s: that jumped to its end"
    assert any(one.startswith(words) for one in dockdyn.summarise(found)["warnings"]) == (over == 1.0)


def test_where_the_cone_is_does_not_change(load):
    """A latch that sits in a cone is where it is for all phases."""
    phases = {"first": {}, "next": {"when": {"lasting": 0.0}, "set": {"latch.capture.entry": "95 mm"}}}
    with refused(
        "phase.next.set.latch.capture.entry: must be a number that 'latch.capture' states and phases may set; "
    ):
        dockdyn.load("probe-cone-latch", {"phase": phases})

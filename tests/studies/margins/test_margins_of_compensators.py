"""The verdict is of the loop that runs: every compensator, in scenarios of every kind that has a loop.

Beside the rig itself: its own map over a cycle, of the model that runs, gives the spectral radius of a run.
"""

import time

import numpy as np
import pytest

import dockdyn
from dockdyn.hil.compensators import COMPENSATORS
from dockdyn.studies.margins.wording import margins_verdict

WITHOUT = ("energy-layer", "force-lead", "online-stiffness", "passivity")  # laws that no gain and no lead stand for
PARTLY = ("lead-energy", "linear-gain", "variable-gain")  # whose small motions are not all that they do
SOME = "command-lead"
LOOPED = ("probe-cone", "epos-like", "idss-soft-capture")


def random_rig(seed, law):
    """A rig along one direction, its contact damped, with digital dynamics or not."""
    chance = np.random.default_rng(seed)
    mass = float(np.exp(chance.uniform(np.log(50), np.log(3000))))
    frequency = 2 * np.pi * float(chance.uniform(0.5, 2.0))  # rad/s
    stiffness = mass * frequency**2
    compensator = {} if law is None else {"loop.compensator": {"law": law}}
    if law is not None and hasattr(COMPENSATORS[law], "velocity"):
        compensator["loop.compensator"]["velocity"] = str(chance.choice(["robot", "model"]))
    stepped = {"loop.dynamics": {"method": "zero-order-hold", "period": "4 ms"}} if chance.random() < 0.5 else {}
    numbers = {
        "duration": "0.2 s",
        "body.target.mass": mass,
        "contact.spring.normal": {
            "law": "spring-dashpot",
            "stiffness": stiffness,
            "damping": 2 * float(chance.uniform(0.05, 0.2)) * mass * frequency,
        },
        "body.target.position": 0.0,
        "body.target.velocity": 0.05,
        "loop.hold.period": "4 ms",
        "loop.sensor.delay": float(chance.uniform(0.5e-3, 6e-3)),
        "loop.robot": {"bandwidth": float(chance.uniform(8, 40)), "damping": 0.7},
    }
    return dockdyn.load("sits", numbers | stepped | compensator)


@pytest.mark.full
@pytest.mark.parametrize("law", [None, *COMPENSATORS])
def test_margins_of_a_rig_are_those_of_the_loop_that_runs_or_the_headline_says_so_first(law):
    scenario = random_rig(len(law or ""), law)
    margins = dockdyn.margins(scenario)
    run = dockdyn.summarise(dockdyn.simulate(scenario))
    growth = np.log(run["spectral_radius"]) / 4e-3
    if law in WITHOUT:
        assert margins_verdict(margins).startswith(
            f"Judged without its compensator ({law}), which margins cannot count"
        )
        assert margins["not_counted"] and f"compensator ({law})" not in margins["counted"]
        growth_with = margins["growth_rate_of_run_1_s"]
        assert growth_with is None if law != "force-lead" else growth_with == pytest.approx(growth, rel=1e-9)
        return
    assert margins["growth_rate_1_s"] == pytest.approx(growth, rel=1e-3)
    assert margins_verdict(margins).startswith("Judged without" if law in PARTLY else ("Stable", "Unstable"))
    assert bool(margins["not_counted"]) == (law in PARTLY)


def loop_of(law, stated=True):
    """A loop with a hold and a robot, and a compensator whose numbers are stated."""
    numbers = {"gain": 90.0, "slope": 0.1, "switch_time": 30.0, "inertia": 0.3, "lead": 5e-3, "second_lead": 2e-5}
    fields = COMPENSATORS[law].__dataclass_fields__
    tuned = {key: value for key, value in numbers.items() if key in fields} if stated else {}
    return {
        "hold": {"period": "4 ms"},
        "sensor": {"delay": "2 ms"},
        "robot": {"bandwidth": "20 Hz", "damping": 0.7},
        "compensator": {"law": law} | tuned,
    }


@pytest.mark.full
@pytest.mark.parametrize("place", range(10))
def test_every_kind_with_a_loop_says_first_what_of_a_law_it_cannot_count(place):
    law, preset = list(COMPENSATORS)[place], LOOPED[place % len(LOOPED)]
    margins = dockdyn.margins(dockdyn.load(preset, {"loop": loop_of(law)}))
    counted = f"compensator ({law})" in margins["counted"]
    assert counted == (law not in WITHOUT)
    assert margins_verdict(margins).startswith("Judged without") == bool(margins["not_counted"])
    assert bool(margins["not_counted"]) >= (law in (*WITHOUT, *PARTLY))


@pytest.mark.full
def test_a_law_whose_numbers_nothing_finds_is_not_counted_as_if_it_had_none():
    """Free flight tunes nothing."""
    margins = dockdyn.margins(dockdyn.load("probe-cone", {"loop": loop_of(SOME, stated=False)}))
    assert margins_verdict(margins).startswith(
        "Judged without its compensator (command-lead), as lead and second_lead are not stated. "
    )
    assert f"compensator ({SOME})" not in margins["counted"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "whole"),
    [
        (
            {"contact.spring.normal.stiffness": 20.0, "contact.spring.normal.damping": 700.0},
            False,
        ),  # no oscillation at all
        ({"contact.spring.normal.stiffness": 20.0}, False),
        ({"loop.sensor.delay": 1.6}, True),
        ({"loop.hold.period": "50 us", "loop.sensor.delay": "20 ms"}, True),
    ],
)
def test_margins_take_bounded_work_and_tell_how_far_they_looked(changes, whole):
    """Of slips by a thousand, and of loops with hundreds of hold periods in the delay."""
    began = time.process_time()
    margins = dockdyn.margins(dockdyn.load("sits", changes))
    assert time.process_time() - began < 120  # s; before, 500 and more
    words = margins_verdict(margins)
    assert "whatever the delay" not in words  # without stiffness in software a delay destabilises every contact
    if margins["stable"] and margins["critical_delay_s"] is None:
        assert "it stays so with delays up to" in words
        assert any("to look further takes long" in line for line in margins["warnings"])
    assert (margins["stabilising_gains_N_s_m"] is None) == whole
    assert any("stabilising gains are left out" in line for line in margins["warnings"]) == whole


@pytest.mark.full
def test_the_rig_that_dockdyn_new_writes_is_judged_with_its_compensator(dock, tmp_path):
    dock("new", "rig.toml", "--mechanism", "one-axis-rig")
    _, out, _ = dock("stability", "rig.toml")
    first = " ".join(out.split()).removeprefix("A rig on a line ")
    assert first.startswith("Judged without the compensator's energy layer: dockdyn run shows what it does. Stable")

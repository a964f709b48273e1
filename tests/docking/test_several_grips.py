"""Rigid latches beside others, and beside what reflects inertia: hand-overs, what falls in then, and what cannot be held."""

import numpy as np
import pytest
from plain_tables import acting, by_name

import dockdyn
from dockdyn.report.charts.time_chart import time_chart


def body(draw, name, x):
    mass = 10 ** draw.uniform(1, 2)
    return {
        "name": name,
        "mass": mass,
        "inertia": (mass * np.diag(draw.uniform(0.1, 0.15, 3))).tolist(),
        "position": [x, 0, 0],
        "velocity": (0.05 * draw.normal(size=3)).tolist(),
        "rate": (0.05 * draw.normal(size=3)).tolist(),
    }


def latch(name, between, anchor, **more):
    return {
        "kind": "latch",
        "name": name,
        "between": between,
        "anchor": anchor,
        "axis": [-1, 0, 0],
        "reach": 0.05,
        "lateral": 1.0,
        "grip": "weld",
    } | more


def scenario(bodies, elements, duration, phases=()):
    content = {"schema": 2, "duration": duration, "body": by_name(bodies), **acting(*elements)}
    return content | {"phase": by_name(phases)}


def total_energy(run):
    return run.kinetic_energy.values + run.internal_energy.values - run.work.values


def handed_over(seed, first):
    """A latch that lets a body go in the instant in which another one catches it."""
    draw = np.random.default_rng([60, seed])
    bodies = [body(draw, name, x) for name, x in (("payload", 0.0), ("giver", 1.0), ("taker", -1.0))]
    elements = [
        latch("gives", ["payload", "giver"], [[0.5, 0, 0], [-0.5, 0, 0]]),
        latch("takes", ["payload", "taker"], [[-0.5, 0, 0], [0.5, 0, 0]], closed=False, reach=5.0, lateral=5.0),
    ]
    over = {"name": "over", "when": {"lasting": 1.0}, "set": {"latch.gives.closed": False, "latch.takes.closed": True}}
    elements.sort(key=lambda one: one["name"] != first)
    return dockdyn.simulate(dockdyn.load(scenario(bodies, elements, 2.0, [{"name": "given"}, over])))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_what_lets_go_in_the_instant_of_a_catch_takes_no_part_in_it(seed):
    """The giver goes on as it moved, whichever latch comes first in the scenario; the other two end their slip."""
    one, other = handed_over(seed, "gives"), handed_over(seed, "takes")
    for run in (one, other):
        after = run.time.values > 1.0 + 1e-9
        assert run.latch_held.sel(latch="takes").values[after].all()
        assert np.ptp(run.velocity.sel(body="giver").values[after], axis=0).max() < 1e-12
        assert np.ptp(total_energy(run)) < 1e-9 * run.kinetic_energy.values[0]
    for name in ("velocity", "rate", "position"):
        assert one[name].values == pytest.approx(other[name].values, abs=1e-9)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 4))])
def test_inertia_that_struts_reflect_takes_part_in_a_catch(seed):
    """Its energy is in the balance, which closes; so do the momenta."""
    draw = np.random.default_rng([61, seed])
    bodies = [body(draw, "chaser", -0.57), body(draw, "target", 0.57)]
    bodies[0]["velocity"][0] = 0.2
    strut = {
        "kind": "strut",
        "name": "screw",
        "between": ["chaser", "target"],
        "anchor": [[0, 0.3, 0.1], [0.1, 0.4, 0]],
        "moved_mass": 30.0,
    }
    hook = latch("hook", ["chaser", "target"], [[0.5, 0, 0], [-0.5, 0, 0]], grip="pin")
    run = dockdyn.simulate(dockdyn.load(scenario(bodies, [strut, hook], 3.0)))
    summary, total = dockdyn.summarise(run), total_energy(run)
    assert 0 < summary["capture_time_s"] < 3.0
    assert np.ptp(total) < 1e-9 * total[0]
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10


@pytest.mark.full
def test_phases_of_one_instant_find_what_the_one_before_left():
    """A latch that a phase closes around a striker holds it at once, which the next one finds; one that a phase opens does not
    hold any more, so that the next one waits."""
    draw = np.random.default_rng(62)
    bodies = [body(draw, name, x) | {"velocity": [0, 0, 0], "rate": [0, 0, 0]} for name, x in (("a", 0.0), ("b", 1.0))]
    hook = latch("hook", ["a", "b"], [[0.5, 0, 0], [-0.5, 0, 0]], closed=False)
    phases = [
        {"name": "open"},
        {"name": "closes", "when": {"lasting": 1.0}, "set": {"latch.hook.closed": True}},
        {"name": "opens", "when": "latched", "set": {"latch.hook.closed": False}},
        {"name": "again", "when": "latched"},
    ]
    run = dockdyn.simulate(dockdyn.load(scenario(bodies, [hook], 2.0, phases)))
    assert run.phase_began.values.tolist()[:3] == [0.0, 1.0, 1.0] and np.isnan(run.phase_began.values[3])
    hook["closed"] = True
    run = dockdyn.simulate(dockdyn.load(scenario(bodies, [hook], 2.0, [phases[0], *phases[2:]])))
    assert run.phase_began.values.tolist()[:2] == [0.0, 0.0] and np.isnan(run.phase_began.values[2])


@pytest.mark.full
def test_a_run_that_begins_with_the_capture_ends_there():
    draw = np.random.default_rng(64)
    bodies = [body(draw, name, x) for name, x in (("a", 0.0), ("b", 1.0))]
    hook = latch("hook", ["a", "b"], [[0.5, 0, 0], [-0.5, 0, 0]], ends_run=True)
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(scenario(bodies, [hook], 2.0))))
    assert summary["status"] == "finished" and summary["captured"]
    assert summary["capture_time_s"] == 0.0 and summary["end_time_s"] == 0.0


@pytest.mark.full
def test_what_a_latch_takes_as_a_run_begins_leaves_the_balance_of_energy():
    draw = np.random.default_rng(65)
    bodies = [body(draw, name, x) for name, x in (("a", 0.0), ("b", 1.0))]
    run = dockdyn.simulate(
        dockdyn.load(scenario(bodies, [latch("hook", ["a", "b"], [[0.5, 0, 0], [-0.5, 0, 0]])], 1.0))
    )
    assert -run.work.values[0] > 0.01 * run.kinetic_energy.values[0]  # the slip that it ended
    summary = dockdyn.summarise(run)
    assert time_chart(run, []).window is None  # nothing else happens: charts show all of it
    assert summary["work_energy_error"] < 1e-9
    assert not any("work of" in words for words in summary["warnings"])


def test_grips_that_close_a_ring_are_refused():
    draw = np.random.default_rng(63)
    bodies = [body(draw, name, x) for name, x in (("a", 0.0), ("b", 1.0), ("c", 2.0), ("d", 3.0))]
    bodies[3] |= {"on": "a", "joint": {"kind": "locked"}}
    del bodies[3]["velocity"], bodies[3]["rate"]
    pairs = {"one": ["a", "b"], "two": ["b", "c"], "ring": ["c", "d"]}
    elements = [latch(name, between, [[0.5, 0, 0], [-0.5, 0, 0]]) for name, between in pairs.items()]
    dockdyn.load(scenario(bodies, elements[:2], 1.0))
    with pytest.raises(dockdyn.ScenarioError, match="'two' and 'one' hold these bodies together, too"):
        dockdyn.load(scenario(bodies, elements, 1.0))

"""A rig step by step: a run that is stepped is the run, whoever answers; noise, batches, refusals."""

import pickle

import numpy as np
import pytest

import dockdyn
from dockdyn.hil import Compensation
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.resting import loop_of

SAME = ("position", "velocity", "robot_position", "measured_force", "compensation_force", "total_force", "port_work")
RIG = {"duration": 0.3, "contact.spring.bilateral": False}
LEAD = {"loop.compensator": {"law": "command-lead", "lead": 0.004}}
FORCE = {"loop.compensator": {"law": "online-stiffness", "lead": 0.003}}


def assert_the_run(rows, case):
    """What was observed, instant after instant, is what the run observes."""
    whole = dockdyn.simulate(case)
    assert len(rows) == whole.sizes["time"]
    for name in SAME:
        wanted = whole[name].values
        found = np.array([row[name] for row in rows]).reshape(wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max(), err_msg=name)


def law_of(case):
    """The compensator of a scenario as a run has it."""
    maker = CompensatorMaker(case, loop_of(case))
    return maker.make(maker.complete(case.content.loop.compensator))


@pytest.mark.full
@pytest.mark.parametrize(
    "changes",
    [LEAD, FORCE, LEAD | {"loop.sensor.noise": 2.0, "loop.sensor.position_noise": 1e-6, "loop.sensor.delay": 0.003}],
    ids=["a lead", "a memory", "noise"],
)
def test_a_run_that_is_stepped_is_the_run(changes):
    """By its own law, and by the same law asked from outside with what it sees."""
    case = dockdyn.load("unknown-stiffness", RIG | changes)
    sim, rows = dockdyn.stepper(case), []
    while not sim.done:
        rows.append(sim.step())
    assert_the_run(rows, case)
    law = law_of(case)
    sim.reset()
    rows, memory = [], law.init(sim.seen.position, sim.seen.velocity)
    while not sim.done:
        memory, action = law.step(memory, sim.seen)
        rows.append(sim.step(action))
    assert_the_run(rows, case)


@pytest.mark.full
def test_without_a_compensator_nothing_is_added():
    case = dockdyn.load("sits", {"duration": 1.0, "body.target.velocity": 0.3})
    sim, rows = dockdyn.stepper(case), []
    while not sim.done:
        rows.append(sim.step())
    assert_the_run(rows, case)


@pytest.mark.full
def test_rigs_of_a_batch_are_the_rigs_alone():
    case = dockdyn.load("unknown-stiffness", RIG | LEAD)
    values = [{"contact.spring.normal.stiffness": stiffness} for stiffness in (1.5e4, 3e4)]
    sim = dockdyn.stepper(case, batch=2)
    sim.reset(values)
    rows = []
    while not sim.done.all():
        rows.append(sim.step())
    for lane, one in enumerate(values):
        assert_the_run([{name: row[name][lane] for name in SAME} for row in rows], case.at(one))
    after = sim.step()
    np.testing.assert_array_equal(after["position"], rows[-1]["position"])


@pytest.mark.full
def test_an_action_is_what_is_added():
    """A push of 10 N on the model, before the contact: 10 N more of total force, and the velocity that it brings."""
    case = dockdyn.load(
        "unknown-stiffness", RIG | {"body.target.position": -1.0, "stability": {"time": 0, "closed": ["spring"]}}
    )
    sim = dockdyn.stepper(case)
    speed = sim.seen.velocity
    push = Compensation.nothing(1)._replace(force=np.array([-10.0]))
    seen = sim.step(push)
    assert seen["total_force"] == pytest.approx(-10.0) and seen["compensation_force"] == pytest.approx(-10.0)
    np.testing.assert_allclose(
        sim.seen.velocity - speed, -10.0 * sim.period / case.content.named("target").mass, rtol=1e-9
    )


@pytest.mark.full
def test_refusals_in_one_line():
    sim = dockdyn.stepper(dockdyn.load("unknown-stiffness", RIG | LEAD))
    for action, words in (
        ((0.0, 0.0), "a step of a rig takes a dockdyn.hil.Compensation"),
        (Compensation.nothing(1)._replace(lead=np.nan), "lead: must be finite"),
        (Compensation.nothing(3), r"force: must be finite numbers of shape \(1,\)"),
    ):
        with pytest.raises(dockdyn.ScenarioError, match=words):
            sim.step(action)


@pytest.mark.full_cases("a lead and noise")
@pytest.mark.parametrize("changes", [{}, LEAD | {"loop.sensor.noise": 2.0}], ids=["none", "a lead and noise"])
def test_a_saved_state_goes_on_as_the_rig_would_have(changes):
    """Pickled within contact, with a stiffness of its own, and set in a stepper that is elsewhere."""
    case = dockdyn.load("unknown-stiffness", RIG | changes)
    sim, other = dockdyn.stepper(case), dockdyn.stepper(case)
    sim.reset({"contact.spring.normal.stiffness": 3e4})
    for _ in range(40):
        sim.step()
    saved, rows = pickle.dumps(sim.state), {}
    for one in (sim, other):
        one.state = pickle.loads(saved)
        assert not one.done and one.time == pickle.loads(saved).steps * one.period
        rows[one] = []
        while not one.done:
            rows[one].append(one.step())
    for a, b in zip(rows[sim], rows[other], strict=True):
        assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    assert np.array([row["measured_force"] for row in rows[sim]]).any()
    with pytest.raises(dockdyn.ScenarioError, match=r"another scenario: contact\.spring\.normal\.stiffness = "):
        dockdyn.stepper(case.at({"contact.spring.normal.stiffness": 1.0})).state = sim.state

"""The one loop that every sliced run goes through, and what it says of runs that stop."""

import time
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
import pytest

import dockdyn
from dockdyn.integrate.model import ContactModel
from dockdyn.integrate.solution import Status
from dockdyn.results.attributes import result_attributes, run_attributes, study_attributes
from dockdyn.results.drive import FIRST_SLICE, drive_run, finite_rows, name_of_nonfinite
from dockdyn.scenario.language.keys import leaves


@dataclass(frozen=True)
class Count:
    """A run that does nothing but count, up to ten."""

    iterations: int = 0
    status: Status = Status.RUNNING


def advance(run, until):
    reached = min(until, 10)
    return replace(run, iterations=reached, status=Status.FINISHED if reached == 10 else Status.RUNNING)


@pytest.mark.parametrize(
    ("most", "told", "status"),
    [
        (None, [0.4, 0.8, 1.0], Status.FINISHED),
        (6, [0.4, 0.6], Status.RUNNING),
        (0, [], Status.RUNNING),
        (10, [0.4, 0.8, 1.0], Status.FINISHED),
    ],
)
def test_a_run_goes_on_slice_by_slice_and_tells_how_far_it_is(most, told, status):
    heard = []
    end = drive_run(Count(), advance, lambda run: run.iterations / 10, 4, heard.append, most)
    assert heard == told
    assert end.status == status
    assert drive_run(Count(), advance, lambda run: 1 / 0, 4, None, most) == end


def test_a_run_that_has_ended_does_not_go_on():
    ended = Count(3, Status.NOT_FINITE)
    assert drive_run(ended, lambda run, until: 1 / 0, lambda run: 0.0, 4, None) is ended


def test_the_first_number_that_is_not_finite_is_named_in_words():
    rows = {"work": np.zeros(5), "normal_force": np.zeros((5, 2)), "pose": (np.zeros(5), jnp.zeros((5, 3)))}
    assert finite_rows(rows) == (5, "")
    rows["pose"] = (np.array([0, 0, 0, np.inf, 0]), rows["pose"][1])
    assert finite_rows(rows) == (3, "pose")
    rows["normal_force"][3, 1] = np.nan  # at the same time, and named before
    assert finite_rows(rows) == (3, "normal force")
    rows["work"][4] = np.nan
    assert finite_rows(rows) == (3, "normal force")
    rows["work"][0] = np.nan
    assert finite_rows(rows) == (0, "work")
    assert finite_rows(rows | {"pose": np.zeros((0, 2))}) == (0, "")


def test_what_is_not_finite_has_the_name_of_its_state():
    assert [name_of_nonfinite(place, lambda: ["x", "v"]) for place in (-1, 0, 1, 2)] == [
        "the motion",
        "x",
        "v",
        "a contact force or rate",
    ]


def test_a_model_of_contacts_that_is_not_observed_is_told_so_where_it_is_made():
    class Unobserved(ContactModel):
        initial = flow = outputs = jump = ContactModel.initial
        delay: None = None

    with pytest.raises(TypeError, match="observe"):
        Unobserved()


def test_every_result_says_the_same_of_itself():
    scenario = dockdyn.load("probe-cone")
    common = result_attributes(scenario)
    assert common["setup"] == "mechanism"
    assert dockdyn.load(scenario.name).text() == common["scenario"]
    assert study_attributes(scenario) == common | {"source": scenario.name}
    run = run_attributes(scenario, "finished", True, "located", 1.5)
    assert run == common | {"status": "finished", "finished": 1, "integrator": "located", "wall_time_s": 1.5}


def test_what_tables_hold_has_dotted_keys():
    tables = {"a": {"b": 1}, "c": [{"d": [2, 3]}, {"d": []}], "e": [[4], 5], "f": {}}
    assert dict(leaves(tables)) == {"a.b": 1, "c.0.d.0": 2, "c.0.d.1": 3, "e.0.0": 4, "e.1": 5}
    assert dict(leaves(tables, whole_lists=True)) == {"a.b": 1, "c.0.d": [2, 3], "c.1.d": [], "e": [[4], 5]}
    assert dict(leaves(7)) == {"": 7}


@dataclass(frozen=True)
class Slow:
    """A run whose iterations take a while."""

    iterations: int = 0
    status: Status = Status.RUNNING


@pytest.mark.parametrize(
    ("iterations", "stops_at", "says"),
    [
        (1, None, "of the duration is done after"),
        (1, 30_000, "by integrator.max_steps = 30000, with 30 % done"),
        (
            1000,
            3000,
            "nothing of the run is done yet after 0 s: it is still compiled, or takes many steps; it takes at most",
        ),
    ],
)
def test_a_run_that_takes_long_tells_how_long_it_still_takes(monkeypatch, iterations, stops_at, says):
    """Each time that what it has taken doubles; also amid a slice, and with how far it gets at most."""
    heard = []
    monkeypatch.setattr("dockdyn.results.drive.FIRST_TOLD", 0.05)
    monkeypatch.setattr("dockdyn.backend.announce_wait", heard.append)

    def slowly(run, until):
        time.sleep(0.3 if iterations > 1 else 0.01)
        return replace(run, iterations=until, status=Status.FINISHED if until >= 30 else Status.RUNNING)

    began = time.perf_counter()
    drive_run(Slow(), slowly, lambda run: run.iterations / 100_000, iterations, None, stops_at=stops_at)
    assert 1 <= len(heard) <= 1 + np.log2((time.perf_counter() - began) / 0.05)
    assert all(says in words for words in heard), heard
    assert len(set(heard)) == len(heard)  # nothing is told twice
    if says.startswith("of"):
        minutes = float(heard[-1].split("about ")[1].split()[0])
        assert 100_000 * 0.01 / 60 < minutes < 5 * 100_000 * 0.01 / 60  # of a sleep that may be longer


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "changes", "ask", "works"),
    [
        ("sits", {}, dockdyn.simulate, ["the motion without rig, at ", "the motion of the rig, of "]),
        (
            "probe-cone",
            {"integrator.max_steps": 1000},
            dockdyn.simulate,
            ["the run without delay, of at most 1000 steps"],
        ),
    ],
)
def test_runs_in_one_piece_tell_that_they_go_on(monkeypatch, name, changes, ask, works):
    heard = []
    monkeypatch.setattr("dockdyn.results.drive.FIRST_TOLD", 1e-4)
    monkeypatch.setattr("dockdyn.backend.announce_wait", heard.append)
    ask(dockdyn.load(name, changes))
    for work in works:
        assert any(words.startswith(work) and words.endswith("goes on after 0 s") for words in heard), heard


def test_a_quick_run_tells_nothing_and_slices_are_short_where_iterations_take_long(monkeypatch):
    """However slow an iteration is, progress is told every second or so, and no slice is longer than asked for."""
    heard, slices, spent = [], [], [0.0]
    monkeypatch.setattr("dockdyn.backend.announce_wait", heard.append)
    monkeypatch.setattr("dockdyn.results.drive.time.perf_counter", lambda: spent[0])

    def advance(run, until):
        slices.append(until - run.iterations)
        spent[0] += slices[-1] * (1e-6 if until < 1e6 else 1e-3)  # s
        return replace(run, iterations=until, status=Status.FINISHED if until >= 1.6e6 else Status.RUNNING)

    drive_run(Slow(), advance, lambda run: run.iterations / 1.6e6, 200_000, None)
    assert slices[0] == FIRST_SLICE and max(slices) == 200_000 and slices[-1] <= 1000
    assert not heard

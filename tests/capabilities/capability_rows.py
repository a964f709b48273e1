"""The rows of the table of capabilities: what can be done with a mechanism, each with something that must be true of it."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tomlkit
import xarray as xr
from capability_columns import COMPLIANT, DURATION, HOOK, LINE_HOOK, RADIUS, SPEED, TIP, Tables
from helpers.refusals import refused
from plain_tables import acting
from scipy.io import loadmat
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.api import scene_of
from dockdyn.exchange.fmu import unit_of
from dockdyn.programs import Program
from dockdyn.results.exchange.export import export_csv, export_mat
from dockdyn.scenario.load import Scenario, parse
from dockdyn.studies.cases.batch import run_cases, runs_in_batches

PERIOD = 0.05  # s, of a stepper
BETWEEN = {"between": ["chaser", "target"]}
PUSH = 3.0  # N, of a controller of one's own
OWN_CONTROLLER = """
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command


class Push(dockdyn.Controller):
    force: float = parameter("N", "a force")

    def act(self, memory, seen):
        return memory, Command(self.force * jnp.eye(3)[{axis}], jnp.zeros(3))
"""
CYCLES = (
    4e-4,
    1e-4,
)  # s, of a rig: a factor of four, since a short contact is felt at few instants, whose phase counts


@dataclass(frozen=True)
class Case:
    """A mechanism of a column, with a folder and what writes modules into it."""

    tables: Tables
    folder: Path
    own_files: Callable[[dict[str, str]], Path]

    @property
    def captures(self) -> bool:
        """Whether it has a latch."""
        return "latch" in self.tables

    @property
    def steered(self) -> bool:
        """Whether it says which body is commanded."""
        return "control" in self.tables or "approach" in self.tables

    @property
    def on_a_line(self) -> bool:
        """Whether places and velocities are numbers."""
        return self.tables.get("motion") == "line"

    @property
    def bodies(self) -> list[Tables]:
        """The tables of its bodies, in their order."""
        return list(self.tables["body"].values())

    @property
    def speed(self) -> str:
        """The key of the speed at which it closes."""
        if "approach" in self.tables:
            return "approach.closing_speed"
        if self.on_a_line:
            return "body.chaser.velocity"
        return "body.chaser.velocity.0"

    @property
    def figure(self) -> str:
        """The figure that batches and derivatives are asked for."""
        return "capture_time_s" if self.captures else "peak_force_N"

    def load(self, changes: dict[str, Any] | None = None, without: tuple[str, ...] = (), **tables: Any) -> Scenario:
        """The scenario, with other tables, `without` some, and with keys changed."""
        kept = {key: value for key, value in self.tables.items() if key not in without}
        return parse(tomlkit.dumps(copy.deepcopy(kept | tables)), "mechanism", changes)

    @cached_property
    def run(self) -> xr.Dataset:
        """The run of it as it is."""
        return dockdyn.simulate(self.load())

    def momentum(self, dataset: xr.Dataset) -> np.ndarray:
        """The sum of all m v over time (times, 3), kg m/s."""
        masses = [float(body.mass) for body in self.load().content.bodies]
        return np.einsum("b,tbx->tx", masses, dataset.velocity.values)


def judge_a_run(case: Case) -> None:
    """Momenta and energy are kept, the largest force is that of the samples, and of two requirements the one is met."""
    summary = dockdyn.summarise(case.run)
    force, count = summary["requirements"]
    assert (force["met"], count["met"]) == (False, True)
    if (
        "latch" not in case.tables
    ):  # of a plate, which hardly turns; a catch of a cone has its part in the largest force
        sampled = np.abs(case.run.contact_force.values[..., 0])
        rise = np.diff(sampled, axis=0).max()  # N, from one sample to the next: a latch may catch between two
        assert (1 - 1e-6) * sampled.max() <= summary["peak_force_N"] < sampled.max() + rise
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10
    assert summary["work_energy_error"] < 1e-6


def run_a_batch(case: Case) -> None:
    """Two cases at once are the runs of each alone."""
    scenario, speeds = case.load(), np.array([[SPEED], [1.2 * SPEED]])
    assert runs_in_batches(scenario)
    cases = run_cases(scenario, [case.speed], speeds)
    assert cases.reasons == ["", ""]
    alone = [
        dockdyn.summarise(dockdyn.simulate(case.load({case.speed: float(speed)})))[case.figure] for (speed,) in speeds
    ]
    np.testing.assert_allclose(cases.figures[case.figure], alone, rtol=1e-9)
    assert alone[0] != alone[1]


def differentiate(case: Case) -> None:
    """The derivative by the closing speed, of the largest force or of the time of capture, is a central difference of runs."""
    found = dockdyn.sensitivity(case.load(), case.figure, case.speed)["to"][0]["derivative"]
    step = 1e-4 * SPEED
    low, high = (
        dockdyn.summarise(dockdyn.simulate(case.load({case.speed: SPEED + move})))[case.figure]
        for move in (-step, step)
    )
    assert found == pytest.approx((high - low) / (2 * step), rel=1e-4)


def ask_margins(case: Case) -> None:
    """At the critical delay that is told the first contact neither grows nor decays, and with twice that it grows."""
    delay = "loop.delay"
    found = dockdyn.margins(case.load({delay: 1e-6}))
    critical = found["critical_delay_s"]
    assert critical is not None and found["stable"] == (critical > 1e-6)
    if found["stable"]:
        there = dockdyn.margins(case.load({delay: critical}))
        fastest = np.abs(np.ravel(found["rightmost_roots"])).max()
        assert abs(there["growth_rate_1_s"]) < 1e-6 * fastest
    assert dockdyn.margins(case.load({delay: max(2 * critical, 1e-3)}))["growth_rate_1_s"] > 0


def step(case: Case) -> None:
    """Steps to the end are the run: where the bodies are, and the largest force on the way."""
    told = {} if case.steered else {"control": {"law": "none", "body": "chaser"}}
    command = None if "control" in case.tables else np.zeros((2, 3))
    stepper, peaks = dockdyn.stepper(case.load(**told), period=PERIOD), []
    while not stepper.done:
        seen = stepper.step(command)
        peaks.append(seen["peak_force"])
    assert stepper.time == pytest.approx(DURATION)
    np.testing.assert_allclose(seen["position"], case.run.position.values[-1], rtol=0, atol=1e-9)
    summary = dockdyn.summarise(case.run)
    largest = [one["peak_force_N"] for one in summary["contacts"]]
    assert np.max(peaks) == pytest.approx(max([*largest, summary.get("latch.seat_peak_force_N") or 0.0]), rel=1e-6)


def advance_as_fmu(case: Case) -> None:
    """What an FMU computes, advanced to the end without the file around it, is the run."""
    unit = unit_of(case.load())

    @Program
    def ended(numbers: Any, given: Any, until: Any) -> Any:
        return unit.observe(numbers, given, unit.goes_on.advance(numbers, given, until, unit.begin(numbers)))

    numbers = np.array([place.value for place in unit.numbers])
    found = np.asarray(ended(numbers, np.zeros(len(unit.inputs)), np.asarray(DURATION)))
    told = [
        (value, one) for value, one in zip(found, unit.outputs, strict=True) if one.variable in ("position", "velocity")
    ]
    assert len(told) == 6 * case.run.sizes["body"]
    for value, one in told:
        assert value == pytest.approx(case.run[one.variable].values[(-1, *one.place)], abs=1e-7), one.name


def steer_by_own_controller(case: Case) -> None:
    """A constant force from a class of one's own leaves its impulse, whatever the bodies do to each other."""
    axis = 0 if case.on_a_line else 1
    case.own_files({"own_push.py": OWN_CONTROLLER.format(axis=axis)})
    control = {"law": "own_push:Push", "force": PUSH, "body": "chaser"}
    pushed, free = (dockdyn.simulate(one) for one in (case.load(control=control), case.load(without=("control",))))
    gained = (case.momentum(pushed) - case.momentum(free))[-1]
    np.testing.assert_allclose(gained, PUSH * DURATION * np.eye(3)[axis], rtol=0, atol=1e-4 * PUSH * DURATION)


def refuse_overlap(case: Case) -> None:
    """A ball that begins deep inside what it is to touch is refused in one line, and told how far it must go back."""
    changes: dict[str, Any] = {}
    if "approach" in case.tables:
        changes["body.chaser.port.nose.position.0"] = TIP + RADIUS - 0.05  # the port is so far behind the ball's front
    elif case.on_a_line:
        changes["body.chaser.position"] = case.bodies[0]["position"] + 0.25
    else:
        place = case.bodies[0]["position"][0]
        changes["body.chaser.position.0"] = place + 0.05
    with refused("by 0.", match="overlap at the start"):
        dockdyn.simulate(case.load(changes))


def end_by_capture(case: Case) -> None:
    """The run ends when the latch holds, and has the motion of the run that goes on until there."""
    latch = {**(LINE_HOOK | {"reach": 1e-3} if case.on_a_line else HOOK | BETWEEN), **COMPLIANT}
    latches = case.tables["latch"] if case.captures else acting(latch)["latch"]
    scenario = case.load({"latch.hook.ends_run": True}, latch=latches)
    whole = dockdyn.simulate(case.load(latch=latches))
    run = dockdyn.simulate(scenario)
    ended, after = dockdyn.summarise(run), dockdyn.summarise(whole)
    assert ended["captured"] and ended["capture_time_s"] == after["capture_time_s"] <= ended["end_time_s"] < DURATION
    assert ended["contact.count"] >= 1
    there = [np.interp(run.time, whole.time, x) for x in whole.position.values[:, 0].T]
    np.testing.assert_allclose(run.position.values[:, 0].T, there, rtol=0, atol=1e-6)


def put_on_a_rig(case: Case) -> None:
    """Without rig it would move as the run does; the error of the rig falls with the times of its loop."""
    kind = {"rig": {"carries": "chaser", "against": "target"}}
    moved, ideal = ("position", "ideal_position") if case.on_a_line else ("model_pose", "ideal_pose")
    errors = []
    for cycle in CYCLES:
        loop = {"hold": {"period": cycle}, "sensor": {"delay": cycle}, "dynamics": {"period": cycle}}
        run = dockdyn.simulate(case.load(loop=loop, without=("requirements", "output"), **kind))
        errors.append(np.abs(run[moved] - run[ideal]).values[:, :3].max())
    free = dockdyn.simulate(case.load(without=("loop",))) if "loop" in case.tables else case.run
    first, second = (list(free.body.values).index(name) for name in ("chaser", "target"))
    apart = Rotation.from_quat(free.attitude.values[:, second], scalar_first=True).apply(
        free.position.values[:, first] - free.position.values[:, second], inverse=True
    )
    alone = np.array([np.interp(run.time, free.time, x) for x in apart.T])
    known = run[ideal].values[:, :3].T
    if case.on_a_line:  # between what touches there, not between centres of mass
        known, alone = known - known[:, :1], alone[:1] - alone[:1, :1]
    np.testing.assert_allclose(known, alone, rtol=0, atol=1e-6)
    assert 0 < errors[1] < 0.5 * errors[0]


def show(case: Case) -> None:
    """Report and replay have the title, the report has the replay, and every body is drawn where the run has it, a link
    that bends at its root."""
    title, report = case.tables["title"], str(dockdyn.report_html(case.run))
    assert title in report and 'id="scene-script"' in report and title in str(dockdyn.replay_html(case.run))
    scene = scene_of(case.run)
    drawn = {part.body: part.motion for part in scene.parts}
    roots = {
        beam.body: beam.rest.position[-1] + turn(beam.rest.attitude[-1]).apply(beam.place[0]) for beam in scene.beams
    }
    for place, body in enumerate(case.run.body.values):
        if body not in case.tables["body"] and body not in drawn:
            assert str(body).partition(".")[0] in case.tables["tank"]  # what is inside of it and has no shape
            continue
        there, tables = case.run.position.values[-1, place], case.tables["body"].get(body, {})
        if "flexible" in tables:
            carrier = list(case.run.body.values).index(tables["on"])
            mount = turn(case.run.attitude.values[-1, carrier]).apply(tables["joint"]["position"])
            np.testing.assert_allclose(roots[body], case.run.position.values[-1, carrier] + mount, rtol=0, atol=1e-9)
            continue
        np.testing.assert_allclose(drawn[body].position[-1], there, rtol=0, atol=1e-9)
        np.testing.assert_allclose(drawn[body].attitude[-1], case.run.attitude.values[-1, place], rtol=0, atol=1e-9)


def turn(attitude: np.ndarray) -> Rotation:
    """The rotation of a quaternion, scalar first."""
    return Rotation.from_quat(attitude, scalar_first=True)


def export(case: Case) -> None:
    """Tables and a MAT file have the numbers of the run, to the last digit."""
    export_csv(case.run, case.folder)
    lines = (case.folder / "time.csv").read_text(encoding="utf-8").splitlines()
    column = lines[0].split(",").index("velocity.target.x [m/s]")
    place = list(case.run.body.values).index("target")
    read = [float(line.split(",")[column]) for line in lines[1:]]
    np.testing.assert_array_equal(read, case.run.velocity.values[:, place, 0])
    export_mat(case.run, case.folder / "run.mat")
    variables = loadmat(case.folder / "run.mat", simplify_cells=True)["dockdyn"]["variables"]
    np.testing.assert_array_equal(variables["velocity"], case.run.velocity.values)


ROWS: dict[str, Callable[[Case], None]] = {
    "run, requirements judged": judge_a_run,
    "batch of cases": run_a_batch,
    "derivative": differentiate,
    "margins": ask_margins,
    "stepping": step,
    "FMU, co-simulation": advance_as_fmu,
    "controller of one's own": steer_by_own_controller,
    "overlap at the start refused": refuse_overlap,
    "ended by capture": end_by_capture,
    "rig around it": put_on_a_rig,
    "report and replay": show,
    "export to CSV and MAT": export,
}

RIGID, FIXED = ("latch, pin", "latch, weld", "cone latch, rigid weld"), "fixed step"
VARIED = ("variational method", "variational method, beam that bends far")
SAMPLED = "control: attitude hold"  # its computer holds what it has commanded


class Refusal(NamedTuple):
    """What is said in place of a result, as a pattern, and the reason in physics or numerics."""

    said: str
    reason: str


Cell = tuple[str, str]  # row, column
REFUSED: dict[Cell, Refusal] = {
    ("rig around it", column): Refusal(
        "grip = '(pin|weld)': on a rig must be 'compliant' or 'compliant-weld'",
        "a rigid grip catches by an impulse, and a force sensor has none to measure",
    )
    for column in RIGID
} | {
    ("derivative", FIXED): Refusal(
        "integrator.method = 'fixed': must be \"located\" for derivatives",
        "where a force jumps, steps of one length do not show how its instant moves: a derivative errs however short they are",
    ),
    ("rig around it", FIXED): Refusal(
        "integrator: method = 'fixed': samples, holds and delays of a loop fall between steps of one length",
        "samples, holds and delays of its loop fall between steps of one length; its computer may have such steps",
    ),
    ("margins", SAMPLED): Refusal(
        "control.period = 0.05 s: what a computer holds between samples counts in runs only",
        "what a computer holds between its samples has no linear form in continuous time",
    ),
}
for _column in VARIED:
    REFUSED["rig around it", _column] = Refusal(
        "integrator: method = 'variational': a step knows no past",
        "a step of the method knows no past, which a loop of delays has",
    )
    REFUSED["margins", _column] = Refusal(
        "loop.delay: a step knows no past",
        "a step of the method knows no past, so no run can show at which delay a contact begins to grow; the margin is told",
    )
NOT_YET: dict[Cell, str] = {}
LEFT_OUT = (  # of what the table is to have in the end
    "tasks: an FMU for model exchange, an FMU that steers, a Gymnasium environment, campaigns with their report, envelopes, "
    "designs, identification, a comparison of compensators, figures by name",
    "mechanisms: closed loops, impact laws in place of forces, force–stroke tables and compliance devices, own laws, "
    "own elements, struts with brakes and stops, meshes",
    "pairs of these: each line adds one thing to two bodies. Two hundred mechanisms drawn over pairs of features run with "
    "momenta and energy kept; for other tasks two things may still not go together",
)

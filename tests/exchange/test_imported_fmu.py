"""FMUs of other tools that steer a body: the run is that of the same law in Python, and what cannot be is one line."""

import zipfile

import numpy as np
import pytest
import tomlkit
from fmu_files import autopilot_fmu, needs_compiler, shown_on
from helpers.refusals import refused
from typer.testing import CliRunner

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.exchange.fmu import unit_of
from dockdyn.results.control.coupling import same_unit
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.sensitivity.table import sensitivity

pytestmark = needs_compiler
HOLD = """
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command


class Hold(dockdyn.Controller):
    wanted: float = parameter("m/s", "a speed")
    gain: float = parameter("N*s/m", "a gain", least=0, default=400.0)
    integral: float = parameter("N/m", "a gain", least=0, default=0.0)
    turning: float = parameter("N*m*s/rad", "a gain", least=0, default=800.0)

    def init(self, seen):
        return jnp.zeros(())

    def act(self, memory, seen):
        error = self.wanted - seen.chaser.velocity[0]
        along = self.gain * error + self.integral * memory
        return error, Command(jnp.stack([along, 0.0 * along, 0.0 * along]), -self.turning * seen.chaser.rate)
"""
LIMITS = {"thruster_force": 15.0, "base_limit": 2.0}
FORE = {"position": [-1.0, 0.1, 0.0], "direction": [1.0, 0.0, 0.0], "force": 12.0}
AFT = {"position": [1.0, -0.1, 0.0], "direction": [-1.0, 0.0, 0.0], "force": 12.0}
PULSES = {
    "base_limit": 2.0,
    "thruster": {"fore": FORE, "aft": AFT},
    "modulation": {"law": "pulse-width", "shortest_pulse": 0.01},
}
RATES = {f"rate_{axis}": f"rate.chaser.{axis}" for axis in "xyz"}
TORQUES = {f"torque_{axis}": f"torque.{axis}" for axis in "xyz"}


@pytest.fixture(scope="module")
def autopilot(tmp_path_factory):
    return autopilot_fmu(tmp_path_factory.mktemp("autopilot"))


@pytest.fixture(autouse=True)
def trust(monkeypatch):
    monkeypatch.setenv("DOCKDYN_TRUST_FMUS", "1")


def steering(file, **more):
    """The table of control by the autopilot."""
    return {
        "law": f"fmu:{file}",
        "period": 0.125,
        "inputs": {"speed": "velocity.chaser.x"} | RATES,
        "outputs": {"force": "force.x"} | TORQUES,
        "parameters": {"wanted": -0.05, "integral_gain": 10.0},
    } | (more or LIMITS)


def docking(file, duration=4.0, **more):
    return dockdyn.load("probe-cone-latch", {"control": steering(file, **more), "duration": duration})


@pytest.mark.full
@pytest.mark.parametrize("limits", [LIMITS, PULSES], ids=["limits", "pulses"])
def test_it_is_the_run_of_the_same_law_in_python(limits, autopilot, tmp_path, monkeypatch):
    """Every variable, through the latch's catch, with a memory in the FMU."""
    (tmp_path / "own_hold.py").write_text(HOLD)
    monkeypatch.chdir(tmp_path)
    own = {"law": "own_hold:Hold", "period": 0.125, "wanted": -0.05, "integral": 10.0} | limits
    expected = dockdyn.simulate(dockdyn.load("probe-cone-latch", {"control": own, "duration": 8.0}))
    found = dockdyn.simulate(docking(autopilot, 8.0, **limits))
    assert np.isfinite(found["capture_time"]) and found.attrs["finished"]
    assert np.abs(found["thruster_force"]).max() > 5.0 and np.abs(found["wheel_torque"]).max() > 1.0
    for name in expected.data_vars:
        if expected[name].dtype.kind == "f":
            largest = np.abs(np.nan_to_num(expected[name].values)).max(initial=0.0)
            np.testing.assert_allclose(
                found[name].values, expected[name].values, atol=1e-12 * largest, rtol=0, err_msg=name
            )


@pytest.mark.full
def test_it_is_a_force_from_outside_on_a_body_of_an_mechanism(autopilot):
    """With nothing connected it commands gain times wanted: F t of momentum, F² t² / 2 m of work."""
    force, seconds, mass = 400.0 * 0.02, 3.0, 50.0  # N, s, kg
    control = {
        "law": f"fmu:{autopilot}",
        "body": "boom",
        "period": 0.3,
        "outputs": {"force": "body_force.y"},
        "parameters": {"wanted": 0.02},
    }
    bodies = {
        "hub": {"mass": 90.0, "inertia": [9.0, 9.0, 9.0], "position": [0.0, 0.0, 0.0], "rate": [0.0, 0.0, 0.1]},
        "boom": {"mass": mass, "inertia": [5.0, 5.0, 5.0], "position": [3.0, 0.0, 0.0]},
    }
    data = {"schema": 2, "duration": seconds, "body": bodies, "control": control}
    from dockdyn.scenario.load import parse

    run = dockdyn.simulate(parse(tomlkit.dumps(data), "boom"))
    np.testing.assert_allclose(run["linear_momentum"].values[-1], [0.0, force * seconds, 0.0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run["thruster_impulse"].values[-1], [0.0, force * seconds, 0.0], rtol=1e-10, atol=1e-12)
    assert float(run["control_work"][-1]) == pytest.approx((force * seconds) ** 2 / (2 * mass), rel=1e-9)
    assert dockdyn.summarise(run)["warnings"] == ["no contact within the duration"]  # and nothing of momenta


@pytest.mark.full
def test_cases_have_an_instance_each_and_can_be_gone_on_with(autopilot, tmp_path, monkeypatch):
    """Side by side in threads they are what each is alone; its parameters are keys; another FMU is another campaign."""
    monkeypatch.chdir(tmp_path)
    scenario = docking(autopilot, 1.0)
    keys, rows = ["control.parameters.wanted", "body.chaser.mass"], [[-0.05, 1700.0], [-0.03, 1800.0], [-0.04, 1900.0]]
    found = run_cases(scenario, keys, np.array(rows), threads=3)
    assert found.reasons == ["", "", ""] and len(set(found.figures["control.work_J"])) == 3
    for row, work in zip(rows, found.figures["control.work_J"], strict=True):
        alone = dockdyn.simulate(scenario.at(dict(zip(keys, row, strict=True))))
        assert dockdyn.summarise(alone)["control.work_J"] == work

    spread = {"distribution": "uniform", "low": -0.05, "high": -0.03}
    (tmp_path / "case.toml").write_text(scenario.at({}).text())
    mine = autopilot_fmu(tmp_path)
    changes = {"control.law": f"fmu:{mine}", "control.parameters.wanted": spread, "duration": 0.5}
    drawn = dockdyn.load("case.toml", changes)
    kept = dockdyn.campaign(drawn, tmp_path / "kept", runs=2)
    resumed = dockdyn.campaign(drawn, tmp_path / "kept", runs=2)
    assert kept.equals(resumed) and len(set(kept["control.work_J"].values)) == 2
    autopilot_fmu(tmp_path, source={"400.0": "300.0"})
    with pytest.raises(ScenarioError, match=r"cannot be resumed .*autopilot\.fmu has changed"):
        dockdyn.campaign(drawn, tmp_path / "kept", runs=2)


def test_native_code_runs_only_where_it_is_trusted(autopilot, tmp_path, monkeypatch):
    monkeypatch.delenv("DOCKDYN_TRUST_FMUS")
    monkeypatch.chdir(tmp_path)
    scenario = docking(autopilot, 0.25)
    words = "is a program of its own, which runs only where it is trusted"
    with pytest.raises(ScenarioError, match=words):
        dockdyn.simulate(scenario)
    with pytest.raises(ScenarioError, match=words):
        run_cases(scenario, ["body.chaser.mass"], np.array([[1800.0]]))
    (tmp_path / "case.toml").write_text(scenario.text())
    run = ["run", "case.toml", "--quiet"]
    distrusted = CliRunner().invoke(cli.app, [*run, "--out", "no"])
    assert words in str(distrusted.exception)
    assert words in str(CliRunner().invoke(cli.app, [*run, "--trust", "--no-own-code", "--out", "no"]).exception)
    trusted = CliRunner().invoke(cli.app, [*run, "--trust", "--out", "yes"])
    assert trusted.exit_code == 0, trusted.exception
    autopilot_fmu(tmp_path).unlink()  # a result says what it says without its FMU
    assert dockdyn.open_result(tmp_path / "yes" / "result.nc").attrs["finished"]


GAIN = '<Real start="400"/>'
GAIN_FROM_0 = {GAIN: '<Real start="400" min="0" max="500"/>'}
SLOW = '<TypeDefinitions><SimpleType name="Slow"><Real unit="m/s" max="-0.1"/></SimpleType></TypeDefinitions>'
WANTED_OF_TYPE = {
    "<ModelVariables>": f"{SLOW}<ModelVariables>",
    '<Real unit="m/s" start="-0.04"/>': '<Real declaredType="Slow" start="-0.2"/>',
}
WRONG = {
    "no such input": (dict(inputs={"velocity": "velocity.chaser.x"}), {}, "has no input of this name; allowed: rate_x"),
    "no such variable": (dict(inputs={"speed": "velocity.chaser.w"}), {}, "a run has no such variable; did you mean"),
    "no such output": (dict(outputs={"thrust": "force.x"}), {}, "has no output of this name"),
    "no such parameter": (dict(parameters={"gains": 1.0}), {}, "has no parameter of this name; did you mean 'gain'"),
    "another dimension": (dict(outputs={"torque_x": "force.x"}), {}, "is in 'N.m' in .*; must be in N"),
    "another scale": ({}, {"<BaseUnit m=\"1\" s=\"-1\"/>": "<BaseUnit m=\"1\" s=\"-1\" factor=\"0.001\"/>"}, "must be in m/s"),
    "a word": ({}, {"<Real unit=\"m/s\" start=\"0\"/>": "<String start=\"0\"/>"}, "is String in .*; must be one number"),
    "model exchange": ({}, {"<CoSimulation modelIdentifier": "<ModelExchange modelIdentifier",
                            "canHandleVariableCommunicationStepSize=\"true\"": ""}, "for model exchange alone"),
    "below its least": (dict(parameters={"gain": -1.0}), GAIN_FROM_0, r"\.gain = -1: must be at least 0 and at most 500"),
    "above its most": (dict(parameters={"gain": 500.1}), GAIN_FROM_0, r"\.gain = 500\.1: must be at least 0 and at"),
    "above its type's most": ({}, WANTED_OF_TYPE, r"parameters\.wanted = -0\.05: must be at most -0\.1, as the FMU declares"),
    "no whole number": (dict(parameters={"gain": 1.5}), {GAIN: "<Integer start=\"400\"/>"}, "must be a whole number"),
    "neither true nor false": (dict(parameters={"gain": 2}), {GAIN: "<Boolean start=\"true\"/>"}, "must be true or false"),
    "an input beyond its bounds": ({}, {"<Real unit=\"m/s\" start=\"0\"/>": "<Real unit=\"m/s\" start=\"0\" min=\"0\"/>"},
                                   r"speed = -0\.\d+ at t = 0 s: must be at least 0, as the FMU declares"),
    "FMI 1.0": ({}, {'fmiVersion="2.0"': 'fmiVersion="1.0"'}, "FMI 1.0|can be read"),
}  # fmt: skip


@pytest.mark.full_cases("no such input", "no such parameter")
@pytest.mark.parametrize(("table", "texts", "words"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_said_in_a_line(table, texts, words, tmp_path):
    scenario = docking(autopilot_fmu(tmp_path, description=texts), **table)
    with refused(match=words):
        dockdyn.simulate(scenario)


@pytest.mark.full
def test_what_its_bounds_allow_runs(tmp_path):
    """The bounds themselves, too; and each case of a study is looked at."""
    scenario = docking(autopilot_fmu(tmp_path, description=GAIN_FROM_0), 0.5, parameters={"gain": 500.0}, **LIMITS)
    found = run_cases(scenario, ["control.parameters.gain"], np.array([[0.0], [500.0], [501.0]]))
    assert found.reasons[:2] == ["", ""]
    assert "control.parameters.gain = 501: must be at least 0 and at most 500" in found.reasons[2]


def test_what_is_no_fmu_for_here_is_said_in_a_line(autopilot, tmp_path):
    windows = docking(autopilot_fmu(tmp_path, platform="win64"))
    with pytest.raises(ScenarioError, match="has no library for linux64: its libraries are for win64"):
        dockdyn.simulate(windows)
    outside, damaged, sources = tmp_path / "outside.fmu", tmp_path / "damaged.fmu", tmp_path / "sources.fmu"
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr("../../outside.txt", "x")
    content = bytearray(autopilot.read_bytes())
    content[len(content) // 2] ^= 255
    damaged.write_bytes(content)
    with zipfile.ZipFile(sources, "w") as archive:
        archive.writestr("modelDescription.xml", shown_on("tutorial-fmu", "modelDescription.xml"))
    (tmp_path / "text.fmu").write_text("no archive")
    for file, words in (
        (outside, r"holds the path '\.\./\.\./outside\.txt', which leads out of it"),
        (damaged, "is damaged|is no FMU that can be read"),
        (sources, "it has sources alone"),
        (tmp_path / "text.fmu", "is no FMU that can be read"),
        (tmp_path / "none.fmu", "no such file"),
    ):
        with pytest.raises(ScenarioError, match=words):
            dockdyn.simulate(docking(file))
    assert not (tmp_path.parent / "outside.txt").exists()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"period": None}, "needs period"),
        ({"outputs": {}}, "outputs is missing"),
        ({"outputs": {"force": "force.w"}}, "no such command; did you mean"),
        ({"outputs": {"force": "force.x", "torque_x": "force.x"}}, "is commanded twice"),
        ({"parameters": {"gain": "8 N"}}, "must be a number in the FMU's own unit"),
        ({"law": "fmu:autopilot.zip"}, "a file that ends in .fmu"),
        ({"base_stiffness": 8.0}, "has no base_stiffness"),
    ],
)
def test_a_table_that_cannot_be_is_said_in_a_line(table, words, autopilot):
    stated = {key: value for key, value in (steering(autopilot) | table).items() if value is not None}
    with pytest.raises(ScenarioError, match=words):
        dockdyn.load("probe-cone", {"control": stated})


def test_a_command_that_is_no_number_ends_the_run_with_a_line(autopilot):
    with pytest.raises(ScenarioError, match=r"control\.outputs\.force: is -?inf at t = 0\.125 s; must be finite"):
        dockdyn.simulate(docking(autopilot, parameters={"gain": 1e300, "wanted": -1e300}, **LIMITS))


def test_an_fmu_that_fails_ends_the_run_with_a_line(tmp_path):
    failing = autopilot_fmu(
        tmp_path, source={"it->integral += length * error;\n    return 0;": "return now > 0.2 ? 3 : 0;"}
    )
    with refused(match=r"autopilot\.fmu: doStep at t = 0\.25 s: fmi2DoStep failed"):
        dockdyn.simulate(docking(failing))


def test_what_cannot_ask_an_fmu_says_so(autopilot):
    scenario = docking(autopilot)
    with pytest.raises(ScenarioError, match="an FMU cannot be part of another one"):
        unit_of(scenario)
    with pytest.raises(ScenarioError, match="an FMU has no derivatives"):
        sensitivity(scenario, "control.work_J")
    with pytest.raises(ScenarioError, match="none commands here"):
        dockdyn.stepper(scenario).step()


@pytest.mark.full
def test_an_fmu_that_dockdyn_has_made_can_be_one(cone_fmu):
    """In FMI 3.0: the force of a contact that has not begun."""
    table = {
        "outputs": {"contact_force.probe.x": "force.x"},
        "parameters": {"body.chaser.mass": 1700.0, "body.target.mass": 5000.0},
    }
    with pytest.raises(ScenarioError, match="no such variable"):
        dockdyn.simulate(docking(cone_fmu.file, inputs={"outside_force.target.x": "total_force.x"}, **table, **LIMITS))
    run = dockdyn.simulate(docking(cone_fmu.file, 0.3, inputs={}, **table, **LIMITS))
    assert run.attrs["finished"] and float(np.abs(run["thruster_force"]).max()) == 0.0


@pytest.mark.parametrize(
    ("theirs", "powers", "ours", "same"),
    [
        ("N.m", None, "N m", True),
        ("N*s/m", None, "N*s/m", True),
        ("J", None, "N m", True),
        ("rad/s", {"rad": 1.0, "s": -1.0}, "rad/s", True),
        ("1/s", {"s": -1.0}, "rad/s", True),
        ("km", None, "m", False),
        ("deg", {"a factor": 1.0}, "rad", False),
        ("furlong", {"m": 1.0}, "m", True),
        ("wibble", None, "N", False),
        ("1", None, "", True),
        ("m", None, "", False),
    ],
)
def test_units_are_the_same_or_not(theirs, powers, ours, same):
    assert same_unit(theirs, powers, ours) is same

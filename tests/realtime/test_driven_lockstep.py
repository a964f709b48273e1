"""A computer that drives a laboratory through datagrams: the same motion as in simulation, to the last bit."""

import time

import numpy as np
import pytest
from driven_rigs import ABB_SET, KUKA_SET, driver, in_space, needs_compiler, on_a_line
from helpers.refusals import refused

import dockdyn
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.lockstep import run_in_lockstep
from dockdyn.realtime.rig_devices import devices_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.tables.rig.devices import DevicesSection

pytestmark = needs_compiler
IMPERFECT = {
    "loop__sensor__period": "4 ms",
    "loop__sensor__noise": "0.5 N",
    "loop__sensor__jitter": "1 ms",
    "loop__sensor__drop_rate": 0.1,
    "loop__sensor__bias": "0.2 N",
    "loop__sensor__resolution": "10 mN",
}
PLAIN = {"loop__compensator__law": "command-lead"}
SWINGS = {"contact__spring__bilateral": True, "body__target__position": 0.0, "duration": "60 s"}
MEAN = {"loop__sensor__period": "4 ms", "loop__sensor__averaging": "4 ms", "loop__sensor__threshold": "1 N"}
TOOL = MEAN | {
    "loop__tool__mass": "20 kg",
    "loop__tool__compensation": "weight-and-inertia",
    "loop__hold__applies_after": 2,
}
HANGING = {
    "loop__tool__centre": [1.2, 0.02, -0.1],
    "loop__tool__inertia": [0.3, 0.5, 0.5],
    "loop__tool__gravity": [0, 0, -9.81],
    "loop__tool__believed_mass": "19.99 kg",
    "loop__sensor_frame__position": [1.0, 0.1, 0.0],
    "loop__sensor_frame__attitude": [0.5, 0.5, -0.5, 0.5],
    "loop__delay": 0.0,
    "loop__sensor__delay": "8 ms",
}
STEERED = {"control": {"law": "attitude-hold", "period": 0.05, "base_stiffness": 40.0, "base_damping": 300.0}}
STICKS = {"law": "stick-slip", "coefficient": 0.12, "stiffness": "2 kN/m", "retardation_time": "2 ms"}
LATCHED = {
    "between": ["chaser", "target"],
    "feature": "probe",
    "surface": "cone",
    "entry": 0.03,
    "ramp": {"axial_length": 5e-3, "stiffness": 1500.0, "angle": 0.8},
}
CASES = {
    "a tool behind the sensor": on_a_line(duration="10 s", loop__tool__gravity=[9.81], **TOOL, **PLAIN),
    "swinging for a minute": on_a_line(**SWINGS, **PLAIN),
    "averaged": on_a_line(duration="10 s", loop__sensor__period="4 ms", loop__sensor__averaging="4 ms", **PLAIN),
    "limited robot": on_a_line(duration="10 s", loop__robot__rate_limit="70 mm/s", **PLAIN),
    "space": in_space(loop__compensator__law="lead-energy"),
    "friction that sticks": in_space(contact__probe__friction=STICKS),
    "with a latch, steered": in_space(latch={"latch": LATCHED}, **STEERED),
}
RUNS = [*CASES, "a tool in space"]
QUICK = ("a tool behind the sensor", "space")  # the latter is the rig of other tests, too


def both(scenario):
    """The run of a scenario, and what the computer puts out over it."""
    whole = dockdyn.simulate(scenario)
    found = run_in_lockstep(driver(scenario), whole.sizes["time"])
    assert (found["state"] == OperationState.RUNNING).all(), f"stopped: {Cause(found['cause'].max()).name}"
    assert np.abs(whole.measured_force).max() > 1.0, "nothing was touched"
    return whole, found


@pytest.mark.full
@pytest.mark.parametrize("name", RUNS)
def test_the_rig_moves_as_in_simulation(name):
    """Nothing is rounded on the way, so nothing differs."""
    whole, found = both(CASES[name] if name in CASES else in_space(duration="13 s", **TOOL, **HANGING))
    count, ports = len(found), whole.sizes.get("axis", 1)
    for ours, theirs in (("position", "position"), ("load", "measured_force")):
        np.testing.assert_array_equal(found[ours][:, :ports], np.asarray(whole[theirs]).reshape(count, -1))
    if "model_pose" in whole:
        np.testing.assert_array_equal(found["model_pose"], whole.model_pose.values)


@pytest.mark.full
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(PLAIN | IMPERFECT | {"loop__sensor__period": "4 ms"}, id="imperfect sensor"),
        pytest.param(PLAIN | IMPERFECT | {"loop__sensor__period": "1 ms"}, id="of 1 ms"),
        pytest.param({}, id="a law that reads where the force was measured"),
    ],
)
def test_but_for_its_last_bit_the_rig_moves_as_in_simulation(keys):
    """The same random numbers; XLA makes them, and rounds products that are added once, not twice. Where the force was measured
    comes from the encoders, one cycle and more ago."""
    whole, found = both(on_a_line(duration="15 s", **keys))
    np.testing.assert_allclose(found["position"], whole.position.values.reshape(-1, 1), rtol=0, atol=1e-13)


@pytest.mark.full
def test_between_cycles_that_place_is_on_a_straight_line():
    """With 6 ms, a cycle and a half, the error is of second order in the cycle."""
    whole, found = both(on_a_line(duration="15 s", loop__sensor__delay="6 ms"))
    error = np.abs(found["position"] - whole.position.values.reshape(-1, 1)).max()
    assert error < 1e-2 * np.ptp(whole.position.values)


SET = {"kuka-rsi": KUKA_SET, "abb-egm": ABB_SET}
HALF_COUNT, LENGTH, ANGLE, TIP = 0.5e-6, 0.5e-9, 0.5e-6 * np.pi / 180, 1.6  # N; m, rad of RSI's decimals; m to the tip
# half of the last bit of 24 of a single: 2048 to 4096 mm, 64 to 128 degrees; half of what UR's commands resolve
SINGLE_LENGTH, SINGLE_ANGLE, HALF_MICRO = 2**-13 * 1e-3, 2**-18 * np.pi / 180, 0.5e-6


@pytest.mark.full
@pytest.mark.parametrize(
    ("sensor", "robot", "resolution"),
    [
        ("raw-udp", "raw-udp", None),
        pytest.param("ati-netft", "abb-egm", 1e-14, marks=pytest.mark.full),
        ("ati-netft", "kuka-rsi", LENGTH * 3**0.5 + ANGLE * 3**0.5 * TIP),
        pytest.param(
            "ati-netft",
            "fanuc-stream-motion",
            SINGLE_LENGTH * 3**0.5 + SINGLE_ANGLE * 3**0.5 * TIP,
            marks=pytest.mark.full,
        ),
        pytest.param("ati-netft", "ur-rtde", HALF_MICRO * 3**0.5 * (1 + TIP), marks=pytest.mark.full),
    ],
)
def test_through_the_bytes_of_devices_only_their_rounding_counts(sensor, robot, resolution):
    """Doubles are exact. Else a half count of the force moves the mass by at most F t²/(2 m); what the contact makes of the
    robot's rounding stays below that rounding at the tip, since the loop is stable."""
    scenario = CASES["space"]
    made, section = (
        driver(scenario),
        DevicesSection.model_validate({"sensor": {"kind": sensor}, "robot": {"kind": robot} | SET.get(robot, {})}),
    )
    count = 3500
    direct = run_in_lockstep(made, count)["position"]
    found = run_in_lockstep(made, count, devices_of("bench", section, made.period))
    assert (found["state"] == OperationState.RUNNING).all(), f"stopped: {Cause(found['cause'].max()).name}"
    if resolution is None:
        np.testing.assert_array_equal(found["position"], direct)
        return
    mass = 1 / (1 / 1800 + 1 / 3200)  # kg
    bound = HALF_COUNT * 3**0.5 * (count * 4e-3) ** 2 / (2 * mass) + resolution
    assert 0 < np.abs(found["position"] - direct).max() < bound


def test_a_minute_takes_far_less_than_a_minute():
    began = time.process_time()
    run_in_lockstep(driver(CASES["space"]), 15_000)
    assert time.process_time() - began < 15


def test_what_no_computer_can_drive_is_refused_in_one_line():
    continuous = dockdyn.load("sits")
    cases = [
        (continuous, "loop.dynamics"),
        (on_a_line(loop__dynamics__period="1 ms"), "4 instants in 1 periods"),
        (on_a_line(loop__compensator__law="fixed-gain", loop__compensator__velocity="robot"), "no rig measures it"),
        (dockdyn.load("probe-cone"), "no devices to drive"),
    ]
    for scenario, words in cases:
        with refused(match=words):
            driver(scenario)


def test_a_cycle_needs_limits_and_a_laboratory_a_robot():
    with pytest.raises(ScenarioError, match=r"rig\.limits: missing"):
        driver(dockdyn.load("epos-like")).cycle()
    with pytest.raises(ScenarioError, match=r"loop\.robot: missing"):
        driver(dockdyn.load("epos-like")).laboratory()
    with pytest.raises(ScenarioError, match=r"the run begins at -60\.05 mm"):
        driver(on_a_line(rig__limits__lowest=[-0.011])).cycle()
    with pytest.raises(ScenarioError, match="the approach is at 50 mm/s"):
        driver(on_a_line(rig__limits__speed="1 mm/s")).cycle()

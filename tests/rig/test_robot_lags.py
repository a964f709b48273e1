"""Robots as data sheets describe them: bandwidth, time constant, damping, order."""

import jax
import numpy as np
import pytest
from helpers.line_rig import line_rig
from helpers.refusals import refused
from scipy.signal import step as step_response

import dockdyn
from dockdyn.programs import Program
from dockdyn.scenario.axis import Sweep
from dockdyn.stability import TransferFunction
from dockdyn.studies.margins.sweep import stability_dataset

RIG = line_rig(
    500,
    {"law": "spring-dashpot", "stiffness": 20e3, "damping": 50},
    velocity=0.05,
    position=-0.005,
    duration=0.5,
    loop={"delay": 2e-3, "hold": {"period": 4e-3}},
)


@pytest.fixture
def rig(load):
    """The rig with a robot given as a dictionary."""
    return lambda **robot: load({**RIG, "loop": {**RIG["loop"], "robot": robot}})


def transfer_of(scenario) -> TransferFunction:
    return scenario.content.loop.robot.transfer()


@pytest.mark.parametrize("order", [1, 2, 3, 7, 10])
def test_the_bandwidth_is_where_the_amplitude_is_lower_by_3_db(rig, order):
    transfer = transfer_of(rig(bandwidth="8 Hz", order=order))
    assert abs(transfer.at(2j * np.pi * 8)) == pytest.approx(1 / np.sqrt(2), rel=1e-13)
    assert transfer.dc_gain() == 1 and len(transfer.denominator) == order + 1


@pytest.mark.parametrize("damping", [0.01, 0.3, 1 / np.sqrt(2), 1, 4, 200])
def test_a_bandwidth_with_a_damping_is_a_second_order_robot(rig, damping):
    transfer = transfer_of(rig(bandwidth="8 Hz", damping=damping))
    assert abs(transfer.at(2j * np.pi * 8)) == pytest.approx(1 / np.sqrt(2), rel=1e-11)
    top, middle, last = transfer.denominator
    assert middle / (2 * np.sqrt(top * last)) == pytest.approx(damping, rel=1e-13) and transfer.dc_gain() == 1


def test_a_damping_of_butterworth_has_its_own_frequency_as_bandwidth(rig):
    top = transfer_of(rig(bandwidth="8 Hz", damping=1 / np.sqrt(2), order=2)).denominator[0]
    assert top**-0.5 == pytest.approx(2 * np.pi * 8, rel=1e-14)


def test_after_a_time_constant_a_step_is_followed_to_63_percent(rig):
    transfer = transfer_of(rig(time_constant="12 ms"))
    time, place = step_response((transfer.numerator, transfer.denominator), T=[0, 0.012, 0.024])
    np.testing.assert_allclose(place, 1 - np.exp(-time / 0.012), atol=1e-12)


@pytest.mark.parametrize("order", [2, 5])
def test_a_time_constant_is_of_each_of_equal_lags(rig, order):
    s = 0.3 + 40j
    assert transfer_of(rig(time_constant="12 ms", order=order)).at(s) == pytest.approx(1 / (0.012 * s + 1) ** order)


@pytest.mark.full
@pytest.mark.parametrize(
    "robot", [{"bandwidth": 8.0, "order": 3}, {"bandwidth": 8.0, "damping": 0.4}, {"time_constant": 0.012}]
)
def test_traced_numbers_make_the_same_robot(rig, robot):
    """Its state space has the poles of the transfer function, and it changes with its numbers."""
    section = rig(**robot).content.loop.robot
    poles = np.linalg.eigvals(np.asarray(Program(lambda each: each.make().state)(section)))
    for one, other in zip(
        *(np.sort_complex(np.round(each, 2)) for each in (poles, section.transfer().poles())), strict=True
    ):
        assert abs(one - other) < 0.05
    slope = jax.grad(lambda each: each.make().state[0, 0])(section)
    assert all(getattr(slope, name) != 0 for name in robot if name != "order")


@pytest.mark.full
@pytest.mark.parametrize(
    ("key", "robot"), [("bandwidth", {"bandwidth": 25.0, "damping": 0.7}), ("time_constant", {"time_constant": 0.006})]
)
def test_margins_have_derivatives_by_what_the_data_sheet_says(rig, key, robot):
    scenario = rig(**robot)
    found = dockdyn.margins(scenario)
    low, high = (
        dockdyn.margins(scenario.at({f"loop.robot.{key}": robot[key] * factor}))[found["sensitivity_of"]]
        for factor in (0.999, 1.001)
    )
    assert found["sensitivities"][f"loop.robot.{key}"] == pytest.approx((high - low) / 0.002, rel=1e-3)


@pytest.mark.full
def test_it_is_swept_and_distributed(rig, tmp_path):
    swept = stability_dataset(rig(bandwidth=25.0, damping=0.7), [Sweep("loop.robot.bandwidth", "10 Hz", "40 Hz", 3)])
    (values,) = (swept[name].values for name in swept.coords if name.startswith("loop.robot") or name == "x")
    np.testing.assert_allclose(values, [10, 25, 40])
    drawn = rig(bandwidth={"distribution": "uniform", "low": "20 Hz", "high": "30 Hz"}, order=2)
    dataset = dockdyn.campaign(drawn, tmp_path / "campaign", runs=3)
    values = dataset["loop.robot.bandwidth"].values
    assert len(set(values.tolist())) == 3 and (20 <= values).all() and (values <= 30).all()


def test_it_is_written_back(rig, load):
    scenario = rig(bandwidth="8 Hz", order=2, rate_limit="1 m/s")
    assert 'bandwidth = "8.0 Hz"\norder = 2' in scenario.text()
    assert load({**scenario.resolved()}).text() == scenario.text()


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        ({}, "must give one of: numerator and denominator; poles and gain"),
        ({"order": 2}, "; it gives order"),
        ({"bandwidth": 8, "gain": 3}, "; it gives gain, bandwidth"),
        ({"bandwidth": 8, "time_constant": 0.01}, "must give bandwidth or time_constant, not both"),
        ({"time_constant": 0.01, "damping": 0.7}, "damping: goes with a bandwidth"),
        ({"bandwidth": 8, "damping": 0.7, "order": 3}, "order = 3: must be 2 with a damping"),
        ({"a": [-0.5], "b": [0.5], "period": 1, "order": 1}, "it has order, too"),
        ({"bandwidth": "8 kg"}, "bandwidth = '8 kg': must be a frequency greater than 0 Hz"),
        ({"bandwidth": 8, "order": 0}, "order = 0: must be at least 1"),
    ],
)
def test_what_makes_no_robot_is_refused_in_one_line(robot, words, rig):
    with refused(words, "loop.robot"):
        rig(**robot)

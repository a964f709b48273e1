"""From which measured force on a rig takes it that something touches, where its file does not say."""

import jax.numpy as jnp
import numpy as np
import pytest
from helpers.line_rig import line_rig

import dockdyn
from dockdyn.hil.sensor import Arrived
from dockdyn.rig.build import sensor_of
from dockdyn.rig.functional_unit import rig_unit

LAW = {"law": "spring-dashpot", "stiffness": 3000.0, "damping": 100.0}
GATED = {"law": "fixed-gain", "gain": 200.0, "velocity": "model"}
FAR = 0.02  # s, before the first touch
SPEED = 0.1  # m/s


def in_space(sensor):
    """A ball that comes straight on to a plate."""
    nose = {"position": [0.3, 0, 0], "radius": 0.05}
    ball = {"mass": 60.0, "inertia": [6.0] * 3, "position": [-0.55 - FAR * SPEED, 0, 0], "velocity": [SPEED, 0, 0]}
    face = {"shape": "plane", "point": [-0.2, 0, 0], "normal": [-1, 0, 0]}
    return {
        "schema": 2,
        "duration": 0.03,
        "rig": {"carries": "ball", "against": "plate"},
        "body": {
            "ball": ball | {"feature": {"nose": nose}},
            "plate": {"mass": 90.0, "inertia": [9.0] * 3, "surface": {"face": face}},
        },
        "contact": {"nose": {"between": ["nose", "face"], "normal": LAW}},
        "loop": loop_with(sensor),
    }


def on_a_line(sensor):
    """The same along one direction."""
    return line_rig(36.0, LAW, SPEED, -FAR * SPEED, loop=loop_with(sensor)) | {"duration": 0.03}


def loop_with(sensor):
    return {"hold": {"period": 4e-3}, "dynamics": {"period": 4e-3}, "sensor": sensor, "compensator": GATED}


def some_sensor(rng):
    """One that reads something without load."""
    bias, resolution = rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-3, 2)
    both, coarse = rng.random(2) < 0.5
    return {"bias": bias, "resolution": resolution} if both else {"resolution" if coarse else "bias": abs(bias)}


@pytest.mark.parametrize(("content", "axes"), [(on_a_line, 1), (in_space, 3)], ids=["line", "space"])
def test_no_bias_and_no_rounding_is_taken_for_contact(load, content, axes):
    """What is read without load, found by rounding in plain NumPy, and by the sensor itself, is no contact; little more is."""
    rng = np.random.default_rng(axes)
    for _ in range(25):
        section = some_sensor(rng)
        sensor = sensor_of(load(content(section)).content, axes)
        bias, step = section.get("bias", 0.0), section.get("resolution", 0.0)
        still = jnp.zeros(axes)
        load_read, _ = sensor.step(still, Arrived(still, None))
        one = np.round(bias / step) * step if step else bias
        assert np.asarray(load_read) == pytest.approx(np.full(axes, one), rel=1e-12)
        assert not sensor.detects_contact(load_read)
        largest = np.sqrt(axes) * (abs(bias) + step / 2)  # of any bias of at most that size
        assert not sensor.detects_contact(jnp.full(axes, largest / np.sqrt(axes)))
        assert sensor.detects_contact(still.at[0].set(largest * (1 + 1e-6)))


@pytest.mark.full
@pytest.mark.parametrize("content", [on_a_line, in_space], ids=["line", "space"])
def test_a_compensator_that_waits_for_contact_does_nothing_on_the_way(load, content):
    """The approach keeps its speed but for what the bias itself does; the gain is that of contact once there is one."""
    for sensor in ({"bias": 0.5}, {"bias": 0.3, "resolution": 0.5}):
        run = dockdyn.simulate(load(content(sensor)))
        before = run.time.values < FAR
        assert (run.gain.values[before] == 0).all()
        assert (run.gain.values[-1] == GATED["gain"]).all()


@pytest.mark.full
def test_a_bias_that_is_moved_in_a_unit_moves_the_threshold_with_it(load):
    """A bias and a resolution are numbers of a unit, as long as no threshold is worked out of them beforehand."""
    unit = rig_unit(load(in_space({"bias": 0.5, "resolution": 0.1})))
    keys = [place.key for place in unit.numbers]
    assert {"loop.sensor.bias", "loop.sensor.resolution"} <= set(keys)
    numbers = np.array([place.value for place in unit.numbers])
    numbers[keys.index("loop.sensor.bias")] = 4.0
    begun = unit.begin(numbers)
    went = unit.goes_on.advance(numbers, np.zeros(len(unit.inputs)), np.float64(0.8 * FAR), begun)
    seen = dict(
        zip(
            [output.name for output in unit.outputs],
            unit.observe(numbers, np.zeros(len(unit.inputs)), went),
            strict=True,
        )
    )
    assert float(seen["measured_force.x"]) == pytest.approx(4.0, abs=0.05) and float(seen["gain"]) == 0

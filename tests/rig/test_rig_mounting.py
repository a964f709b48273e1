"""What a rig's sensor carries: weight and inertia of the tool, the axes of the sensor, commands that apply later."""

import jax.numpy as jnp
import numpy as np
import pytest
import rig_reference
from helpers.refusals import refused
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.hil.mounting import Known, SensorFrame, Tool
from dockdyn.rig.build import plant_of, rig_of
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import radius_of_cycle_map
from dockdyn.stability.loop import make_loop
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.transfer_function import TransferFunction

MEAN = {"loop.sensor.period": "4 ms", "loop.sensor.averaging": "4 ms", "loop.sensor.threshold": "1 N"}
LINE = MEAN | {"loop.dynamics.period": "4 ms", "loop.sensor.delay": "6 ms", "duration": "6 s"}
SLOW = {"loop.robot": {"bandwidth": "8 Hz", "damping": 0.7}, "contact.spring.normal.stiffness": "5 kN/m"}
INERTIA = {"loop.tool.compensation": "weight-and-inertia"}


def stated(name, keys):
    """A scenario with those of the keys that have a value."""
    return dockdyn.load(name, {key: value for key, value in keys.items() if value is not None})


@pytest.mark.full
@pytest.mark.parametrize(
    ("keys", "reference"),
    [
        pytest.param({"loop.tool.mass": "20 kg"}, {"tool": 20.0}, marks=pytest.mark.full),
        (
            {"loop.tool.mass": "20 kg", "loop.tool.believed_mass": "15 kg", "loop.hold.applies_after": 2, **INERTIA},
            {"tool": 20.0, "believed": 15.0, "applies_after": 2},
        ),
    ],
    ids=["not compensated", "compensated in part, commands two periods later"],
)
def test_a_swing_with_a_tool_is_that_of_an_independent_simulation(keys, reference):
    """It begins from held commands, too; what is different is how the first period in contact counts."""
    whole = dockdyn.simulate(dockdyn.load("sits", LINE | keys))
    kind = {"period": 4e-3, "hold": 4e-3, "delay": 4e-3, "averaged": True, "means": True, "duration": 6.0}
    other = rig_reference.simulate(20e3, **kind, **reference)
    bare = rig_reference.simulate(20e3, **kind)
    effect = np.abs(other["x"][:, 0] - bare["x"][:, 0]).max()
    difference = np.abs(whole.position.values[:, 0] - other["x"][: whole.sizes["time"], 0]).max()
    assert difference < 2e-3 * effect


BOTH = [
    pytest.param({"loop.hold.applies_after": 2}, marks=pytest.mark.full),
    {"loop.tool.mass": "20 kg", "loop.tool.believed_mass": "18 kg", "loop.hold.applies_after": 1, **INERTIA},
    pytest.param({"loop.tool.mass": "20 kg", "loop.sensor.averaging": None}, marks=pytest.mark.full),
    pytest.param(
        {"loop.tool.mass": "20 kg", "loop.sensor.period": "2 ms", "loop.sensor.averaging": "2 ms", **INERTIA},
        marks=pytest.mark.full,
    ),
]


@pytest.mark.full
@pytest.mark.parametrize("keys", BOTH)
def test_margins_are_of_the_rig_that_is_simulated(keys):
    """Its own map over a cycle, with means by quadrature, and that which the margins make of matrix exponentials."""
    scenario = stated("sits", LINE | SLOW | keys)
    along = loop_of(scenario)
    assert radius_of_cycle_map(rig_of(scenario, along, None), along) == pytest.approx(
        SampledLoop(along).spectral_radius(), abs=1e-12
    )


@pytest.mark.full
def test_the_root_of_a_loop_with_a_tool_is_that_of_its_equation():
    """m s² + (m_t s² + B s + K) G e^{−s h} = 0, where h adds half a hold and half a step to the delay; second order in both."""
    mass, stiffness, damping, tool, delay = 500.0, 20e3, 50.0, 25.0, 8e-3
    robot = TransferFunction((60.0**2,), (1.0, 2 * 0.8 * 60.0, 60.0**2))
    errors = []
    for period in (1e-3, 0.5e-3):

        def missed(z, period=period):
            s = complex(*z)
            late = robot.at(np.array([s]))[0] * np.exp(-s * (delay + period))
            value = mass * s**2 + (tool * s**2 + damping * s + stiffness) * late
            return value.real, value.imag

        expected = complex(*fsolve(missed, (0.1, 6.2), xtol=1e-13))
        made = make_loop(
            mass,
            stiffness,
            damping,
            delay=delay,
            dynamics_period=period,
            sensor_period=period,
            averaging=period,
            robot=robot,
            dynamics="zero-order-hold",
            tool_mass=tool,
        )
        roots = SampledLoop(made).roots()
        errors.append(abs(roots[np.abs(roots - expected).argmin()] - expected))
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


@pytest.mark.full
def test_a_tool_changes_the_margin_and_its_compensation_gives_it_back():
    """The delayed force is (K − m_t ω²) x: a tool makes the slow motion grow less, and its frequency lower."""
    tool, growth = {"loop.tool.mass": "40 kg"}, {}
    for name, keys in {"none": {}, "tool": tool, "compensated": tool | INERTIA}.items():
        growth[name] = SampledLoop(loop_of(dockdyn.load("sits", LINE | SLOW | keys))).growth_rate()
    assert growth["tool"] < 0.9 * growth["none"]
    assert growth["compensated"] == pytest.approx(growth["none"], rel=0.01)


@pytest.fixture(scope="module")
def plant():
    """A probe on a robot, at an attitude of its own."""
    scenario = dockdyn.load("epos-like")
    return plant_of(scenario.content, loop_of(scenario))


def moved(t, share=(0.3, -0.2, 0.4, 0.5, -0.3, 0.7)):
    """A smooth motion of the robot's axes."""
    rates = np.arange(1, 7) / 3
    return np.array(share) * np.sin(rates * t), np.array(share) * rates * np.cos(rates * t)


def test_the_load_of_a_tool_is_the_change_of_its_momentum(plant):
    """Newton and Euler beside differences of the momenta of the moving tool, with SciPy's rotations."""
    mass, centre = 12.0, np.array([1.1, 0.2, -0.1])
    inertia = np.array([[0.4, 0.05, 0.0], [0.05, 0.9, -0.02], [0.0, -0.02, 1.1]])
    gravity = np.array([0.5, 1.0, -9.7])
    w, x, y, z = np.asarray(plant.starts()[0].attitude.array())
    first = Rotation.from_quat([x, y, z, w])  # the target's axes are the laboratory's here

    def momenta(t, step=1e-4):
        """Momentum, and angular momentum about the centre of the tool."""
        places, turns = [], []
        for at in (t - step, t, t + step):
            pose = moved(at)[0]
            turn = Rotation.from_rotvec(pose[3:]) * first
            places.append(pose[:3] + turn.apply(centre))
            turns.append(turn)
        spin = (turns[2] * turns[0].inv()).as_rotvec() / (2 * step)
        body = turns[1].as_matrix() @ inertia @ turns[1].as_matrix().T
        return mass * (places[2] - places[0]) / (2 * step), body @ spin

    t, step = 0.4, 1e-3
    change = [(after - before) / (2 * step) for after, before in zip(momenta(t + step), momenta(t - step), strict=True)]
    pose, rate = moved(t)
    acceleration = (moved(t + step)[1] - moved(t - step)[1]) / (2 * step)
    lever = (Rotation.from_rotvec(pose[3:]) * first).apply(centre)
    force = mass * gravity - change[0]
    expected = np.concatenate([force, np.cross(lever, force) - change[1]])
    tool = Tool(jnp.asarray(mass), jnp.asarray(centre), jnp.asarray(inertia))
    known = Known(jnp.asarray(pose), jnp.asarray(rate), jnp.asarray(acceleration))
    np.testing.assert_allclose(plant.tool_load(tool, jnp.asarray(gravity), known), expected, rtol=0, atol=2e-4)


def test_what_a_sensor_reads_in_its_axes_is_the_load_turned_and_moved_there(plant):
    position, attitude = np.array([1.0, -0.1, 0.2]), Rotation.from_rotvec([0.3, -0.8, 0.4])
    x, y, z, w = attitude.as_quat()
    frame = SensorFrame(jnp.asarray(position), jnp.asarray([w, x, y, z]))
    pose, _ = moved(0.7)
    load = np.array([3.0, -5.0, 2.0, 0.4, 1.1, -0.7])
    a, b, c, d = np.asarray(plant.starts()[0].attitude.array())
    body = Rotation.from_rotvec(pose[3:]) * Rotation.from_quat([b, c, d, a])
    there = (body * attitude).inv()
    torque = load[3:] - np.cross(body.apply(position), load[:3])
    reading = plant.in_sensor(frame, jnp.asarray(load), jnp.asarray(pose))
    np.testing.assert_allclose(reading, np.concatenate([there.apply(load[:3]), there.apply(torque)]), atol=1e-12)
    np.testing.assert_allclose(plant.from_sensor(frame, reading, jnp.asarray(pose)), load, atol=1e-12)


SPACE = MEAN | {
    "loop.delay": 0.0,
    "loop.sensor.delay": "8 ms",
    "loop.sensor.threshold": "0.5 N",
    "loop.robot": {"bandwidth": "8 Hz", "damping": 0.7},
    "loop.tool": {"mass": "20 kg", "centre": [1.2, 0.02, -0.1], "gravity": [0, 0, -9.81], "inertia": [0.3, 0.5, 0.5]},
    "loop.sensor_frame": {"position": [1.0, 0.0, 0.0], "attitude": [0.5, 0.5, -0.5, 0.5]},
    "stability.distance": "100 mm",
}


@pytest.mark.full
def test_in_space_a_tool_that_is_known_leaves_nothing_before_contact_and_an_error_its_weight():
    free = SPACE | {"duration": "0.4 s"}
    known = dockdyn.simulate(dockdyn.load("epos-like", free))
    assert np.abs(known.measured_force.values).max() < 1e-3
    wrong = dockdyn.simulate(dockdyn.load("epos-like", free | {"loop.tool.believed_mass": "19.5 kg"}))
    np.testing.assert_allclose(wrong.measured_force.values[0], [0, 0, -0.5 * 9.81], atol=1e-3)


@pytest.mark.full
@pytest.mark.parametrize(
    ("delay", "poses"),
    [("8 ms", [1, -2, 1]), ("6 ms", [0.5, -0.5, -0.5, 0.5])],
    ids=["whole periods", "half a period more"],
)
def test_noise_of_the_encoders_comes_through_the_inertia_taken_away(delay, poses):
    """Before the contact, without any compensator, m σ / T² is measured times the norm of the weights of the poses."""
    keys = {
        "loop.sensor.position_noise": "10 um",
        "loop.sensor.delay": delay,
        "loop.tool.mass": "20 kg",
        "body.target.mass": "1e6 kg",
    }
    start = {
        "body.target.position": "-1 m",
        "body.target.velocity": "1 mm/s",
        "duration": "4 s",
        "contact.spring.bilateral": False,
        "stability": {"time": 0, "closed": ["spring"]},
    }
    run = dockdyn.simulate(dockdyn.load("sits", LINE | SLOW | INERTIA | keys | start))
    assert "loop.compensator" not in run.attrs["scenario"]
    expected = 20.0 * 10e-6 / 4e-3**2 * np.linalg.norm(poses)  # N
    assert run.measured_force.values[:, 0].std() == pytest.approx(expected, rel=0.1)


def test_what_does_not_go_together_is_refused_in_one_line():
    tool = {"loop.tool.mass": "20 kg"}
    cases = [
        (tool | {"loop.sensor.averaging": None}, "velocity jumps with each command"),
        (tool | {"loop.sensor.averaging": "2 ms"}, "must be the period of the samples"),
        (tool | {"loop.sensor.threshold": None}, "sensor.threshold"),
        (tool | {"loop.sensor.period": "8 ms", "loop.sensor.averaging": "8 ms"}, "a step of the samples"),
        (tool | {"loop.tool.gravity": [0, 0, -9.81]}, "must have 1, one for each axis"),
        (tool | {"loop.tool.centre": [1, 0, 0]}, "loop.tool.centre"),
        (tool | {"loop.tool.compensation": "none", "loop.tool.believed_mass": "3 kg"}, "believed_mass"),
        ({"loop.sensor_frame.position": [1, 0, 0]}, "loop.sensor_frame"),
        (tool | {"loop.dynamics.period": None}, "digital method"),
    ]
    for keys, words in cases:
        with refused(match=words):
            stated("sits", LINE | keys)


@pytest.mark.full
def test_in_space_a_tool_that_is_a_share_of_the_chaser_is_that_share_of_the_mass_that_a_contact_feels():
    """Beside a target that does not move: the motion that a force makes is then opposed in the same share."""
    inertia = [[900.0, 20.0, -10.0], [20.0, 1400.0, 15.0], [-10.0, 15.0, 1500.0]]
    share = 0.02
    keys = SPACE | {
        "body.target.mass": 1e15,
        "body.target.inertia": [1e15, 1e15, 1e15],
        "loop.tool": {"mass": 1800 * share, "inertia": (share * np.array(inertia)).tolist()},
    }
    along = loop_of(dockdyn.load("epos-like", keys))
    assert float(along.effective_mass) < 1700  # the contact is beside the centre of mass
    assert float(along.tool_mass) == pytest.approx(share * float(along.effective_mass), rel=1e-9)

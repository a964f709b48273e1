"""Docking as a Gymnasium environment: its checker, what is observed, episodes that end, rewards of one's own."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.learning import CAPTURE, DockingEnv, DockingVectorEnv

APPROACH = {
    "of": "probe",
    "to": "cone",
    "closing_speed": 0.04,
    "distance": 0.2,
    "lateral_offset": [0.03, -0.02],
    "lateral_velocity": [0.002, -0.001],
    "roll": 0.02,
    "pitch": -0.03,
    "yaw": 0.05,
    "roll_rate": 0.01,
    "pitch_rate": -0.02,
    "yaw_rate": 0.03,
}
MOVING = {
    "body.target.attitude": [0.5, 0.5, -0.5, 0.5],
    "body.target.velocity": [0.1, -0.2, 0.3],
    "body.target.rate": [0.02, 0.01, -0.03],
}
STRAIGHT = {
    "approach": {"of": "probe", "to": "cone", "lateral_offset": [0.0, 0.0], "closing_speed": 0.05, "distance": 0.03},
    "loop.delay": 0.0,
    "body.target.attitude": [0.5, 0.5, -0.5, 0.5],
}


@pytest.mark.full
def test_the_checker_of_gymnasium_finds_nothing():
    env = DockingEnv(dockdyn.load("probe-cone-latch", STRAIGHT | {"duration": 3.0}), period=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message=".*Box observation space (min|max)imum value.*"
        )  # metres have no bound
        check_env(env)


@pytest.mark.full
def test_gymnasium_makes_it_by_name_and_by_its_own_spec():
    """The same environment either way; bounds are those of what is observed, however a chaser is turned."""
    name = "dockdyn.learning:dockdyn/Docking-v0"
    turned = {"approach": APPROACH | {"yaw": 3.1, "yaw_rate": 0.2}, "loop.delay": 0.0}
    case = dockdyn.load("probe-cone", turned)
    env = gymnasium.make(name, scenario=case, period=1.0, force="20 N")
    again = DockingEnv(case, period=1.0, force="20 N").spec.make()
    rows = []
    for one in (env, again):
        assert one.spec.id == "dockdyn/Docking-v0" and not one.spec.nondeterministic
        first, _ = one.reset(seed=1)
        rows.append([first, *(one.step(np.full(6, 0.5, np.float32))[0] for _ in range(2))])
    np.testing.assert_array_equal(*rows)
    angles = np.array(rows[0])[:, 6:9]
    assert angles.max() > 3.0 and angles.min() < -2.0  # past half a turn: the other way round
    assert all(env.observation_space.contains(row) for row in rows[0])
    space = env.observation_space
    np.testing.assert_array_equal(space.high[6:9], np.float32(np.pi))
    assert (space.low[-1], space.high[-1]) == (0.0, 1.0) and np.isinf(space.high[:6]).all()
    assert gymnasium.make_vec(name, num_envs=2, scenario=case, period=1.0).observation_space.shape == (2, 16)


@pytest.mark.full
def test_what_is_observed_is_what_an_approach_states():
    """Whatever the target's pose and motion; and it is the motion: a place changes by its velocity."""
    case = dockdyn.load("probe-cone", {"approach": APPROACH, **MOVING})
    sim = dockdyn.stepper(case, period=1e-3)
    seen = sim.observation
    for name, wanted in {
        "port_position": [0.2, 0.03, -0.02],
        "port_velocity": [-0.04, 0.002, -0.001],
        "port_rotation": Rotation.from_euler("ZYX", [0.05, -0.03, 0.02]).as_rotvec(),
        "port_rate": [0.01, -0.02, 0.03],
    }.items():
        np.testing.assert_allclose(seen[name], wanted, rtol=0, atol=1e-12, err_msg=name)
    nothing = (np.zeros(3), np.zeros(3))
    half, end = sim.step(nothing), sim.step(nothing)
    slope = (end["port_position"] - seen["port_position"]) / 2e-3
    np.testing.assert_allclose(half["port_velocity"], slope, rtol=0, atol=1e-8)


@pytest.mark.full
def test_an_episode_ends_with_the_capture():
    """Pushed along the axis, which is the chaser's first, it is caught, however the target is turned."""
    env = DockingEnv(dockdyn.load("probe-cone-latch", STRAIGHT | {"duration": 14.0}), period=1.0, force=30.0)
    env.reset(seed=1)
    terminated = truncated = False
    while not terminated and not truncated:
        observed, reward, terminated, truncated, told = env.step(np.array([0.3, 0, 0, 0, 0, 0]))
    drift = -0.05
    assert terminated and not truncated and reward == CAPTURE and observed[-1] == 1.0 and told["time"] < 14.0
    env.reset(options={"approach.distance": 5.0})
    observed, *_ = env.step(np.array([1.0, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(
        observed[3] - drift, -30.0 / env.docking.scenario.content.named("chaser").mass, rtol=1e-4
    )


def test_what_is_distributed_is_drawn_at_every_reset_and_a_reward_can_be_ones_own():
    drawn = {"distribution": "uniform", "low": 0.1, "high": 0.3}
    case = dockdyn.load("probe-cone", {"approach.distance": drawn, "duration": 3.0})
    env = DockingEnv(case, period=1.0, reward=lambda seen: float(seen["time"]))
    first, _ = env.reset(seed=3)
    second, _ = env.reset()
    again, _ = env.reset(seed=3)
    assert 0.1 <= first[0] <= 0.3 and first[0] != second[0] and (first == again).all()
    assert [env.step(np.zeros(6))[1] for _ in range(3)] == [1.0, 2.0, 3.0]


def test_no_port_is_refused():
    case = dockdyn.load("detumble")
    with pytest.raises(dockdyn.ScenarioError, match="must be located, fixed or variational for steps of control"):
        DockingEnv(case, period=1.0)
    with pytest.raises(dockdyn.ScenarioError, match="no chaser that is commanded"):
        DockingEnv("unknown-stiffness")


@pytest.mark.full
def test_what_is_no_action_or_scale_is_refused():
    env = DockingEnv(dockdyn.load("probe-cone-latch", STRAIGHT), period="1 s", force="20 N")
    env.reset(seed=1)
    for action in (0.5, "push", np.zeros(5), np.zeros((2, 6)), None):
        with pytest.raises(dockdyn.ScenarioError, match=r"action: must be finite numbers of shape \(6,\)$"):
            env.step(action)
    with pytest.raises(dockdyn.ScenarioError, match="force = 'strong': must be a force of at least 0 N"):
        DockingEnv("probe-cone-latch", period=1.0, force="strong")


def test_many_environments_are_those_alone_and_begin_again_by_themselves():
    """Each with the start that its generator draws; one that has ended is reset by the step after."""
    drawn = {"distribution": "uniform", "low": 0.1, "high": 0.3}
    case = dockdyn.load("probe-cone", {"approach.distance": drawn, "duration": 3.0})
    many = DockingVectorEnv(case, 3, period=1.0)
    first, _ = many.reset(seed=5)
    assert len(set(first[:, 0])) == 3 and many.observation_space.contains(first)
    one = DockingEnv(case, period=1.0)
    alone, _ = one.reset(options={"approach.distance": float(first[1, 0])})
    actions = np.random.default_rng(1).uniform(-1, 1, (3, 3, 6))
    for action in actions:
        observed, reward, terminated, truncated, told = many.step(action)
        alone, earned, *ended, _ = one.step(action[1])
        np.testing.assert_allclose(observed[1], alone, rtol=0, atol=1e-6)  # float32 of the start
        assert reward[1] == pytest.approx(earned, abs=1e-6) and [terminated[1], truncated[1]] == ended
    assert truncated.all() and (told["time"] == 3.0).all()
    again, reward, terminated, truncated, told = many.step(actions[0])
    assert not reward.any() and not truncated.any() and not told["time"].any()
    assert (again[:, 0] != first[:, 0]).all() and (again[:, 0] >= 0.1).all()
    many.over = np.array([False, True, False])
    part, *_ = many.step(actions[0])
    assert part[1, 0] != again[1, 0] and list(many.docking.simulation.time) == [1.0, 0.0, 1.0]

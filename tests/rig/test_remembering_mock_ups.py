"""Rigs whose mock-ups remember what was: with ever shorter ticks the mechanism's own motion, what is read late is what was, and
the port's energies are those of the laws."""

import pickle

import numpy as np
import pytest
from contact_benchmarks import pressed_block
from helpers.refusals import refused
from scipy.linalg import expm
from sticking_ball import RADIUS, ball_on_plane

import dockdyn

LINEAR = {"law": "spring-dashpot", "stiffness": 1e4}
YIELDING = {"law": "elastic-plastic", "stiffness": 4e4, "yield_force": 10.0, "plastic_stiffness": 5e3}
COULOMB = {"law": "coulomb", "coefficient": 0.1}
STICKING = {"law": "stick-slip", "coefficient": 0.2, "stiffness": 8e3, "rolling": 1e-3}
LAWS = {
    "stick-slip": (LINEAR, STICKING),
    "lugre": (LINEAR, {"law": "lugre", "coefficient": 0.2, "presliding": 2e-4, "retardation_time": 1e-3}),
    "yielding": (YIELDING, COULOMB),
    "creeping": ({"law": "zener", "stiffness": 1e4, "series_stiffness": 2e4, "relaxation_time": 4e-3}, COULOMB),
    "adhering": ({"law": "jkr", "stiffness": 1e6, "pull_off_force": 1.0}, COULOMB),
}
LAG = {"numerator": [2.5e5], "denominator": [1.0, 700.0, 2.5e5]}  # 1/s²: 80 Hz, well damped
WITHOUT_RIG = ("integrator", "output")


def around(tables, period, method="zero-order-hold", **loop):
    """Return a scenario with a rig around it."""
    dynamics = {"method": method} | ({} if method == "continuous" else {"period": period})
    rig = {
        "rig": {"carries": "ball", "against": "anvil"},
        "loop": {"hold": {"period": period}, "dynamics": dynamics} | loop,
    }
    return {key: value for key, value in tables.items() if key not in WITHOUT_RIG} | rig


def touching(law, duration=0.08, move=(0.02, -0.01, -0.1), spin=(0.3, 0.6, -0.5)):
    return ball_on_plane(list(move), list(spin), *LAWS[law], duration=duration)


def course(found):
    """Return the place of a ball, and how it has turned (both m, of a lever of its radius), over time."""
    return found["model_pose"].values * np.repeat([1.0, RADIUS], 3)


@pytest.mark.full_cases(
    *(
        f"{law}-{method}"
        for law in LAWS
        for method in ("zero-order-hold", "continuous")
        if (law, method) != ("lugre", "zero-order-hold")
    )
)
@pytest.mark.parametrize("method", ["zero-order-hold", "continuous"])
@pytest.mark.parametrize("law", LAWS)
def test_with_ever_shorter_ticks_it_is_the_mechanism(law, method, load):
    """A robot that follows at once, and no delay: what is left is a command that is held, an error of first order."""
    tables = touching(law)
    free = dockdyn.simulate(load(tables))
    last = free.isel(time=-1)
    true = np.concatenate([last["position"].sel(body="ball").values, RADIUS * last["rotation"].sel(body="ball").values])
    coarse, middle, fine = (
        course(dockdyn.simulate(load(around(tables, period, method))))[-1] for period in (2e-4, 1e-4, 5e-5)
    )
    errors = [np.abs(one - true).max() for one in (coarse, middle, fine)]
    assert errors[0] > 1e-6
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1) and errors[2] == pytest.approx(errors[1] / 2, rel=0.05)
    # without the first order
    assert np.abs(2 * fine - middle - true).max() < 0.05 * errors[2]


@pytest.mark.full_cases("continuous", "means")
@pytest.mark.parametrize("case", ["stepped", "continuous", "means"])
def test_what_is_read_late_is_what_was(case, load):
    """A robot that lags, whose force is felt 2.6 ms late, between commands that are 1 ms apart; continuously as it was, or with
    a compensator, that asks five times as often, the mean over what lies between."""
    method = "zero-order-hold" if case == "stepped" else "continuous"
    asks = {"compensator": {"law": "fixed-gain", "gain": 1e-3, "period": 2e-4}} if case != "stepped" else {}
    sensor = {"delay": 2.6e-3} | ({"period": 2e-4} if case == "means" else {})
    tables = around(touching("stick-slip", 0.03), 1e-3, method, sensor=sensor, robot=LAG, **asks)
    if case == "stepped":
        tables["loop"]["dynamics"]["period"] = 2e-4
    found = dockdyn.simulate(load(tables))
    force, read = found["contact_force"].values, found["measured_force"].values
    assert found.attrs["interval_s"] == pytest.approx(2e-4) and np.abs(force).max() > 5
    near = 1e-9 if case != "means" else 2e-3  # of what bends within a window
    assert np.abs(read[13:] - force[:-13]).max() < near * np.abs(force).max()


def test_what_never_slips_stores_all_that_was_done_to_it(load):
    """Until it parts: then the spring along the surface lets go of what it holds."""
    tables = around(touching("stick-slip"), 1e-3, sensor={"delay": 2e-3}, robot=LAG)
    tables["contact"]["hit"]["friction"] = STICKING | {"coefficient": 100.0, "rolling": 0.0}
    found = dockdyn.simulate(load(tables))
    stored, work = found["port_energy"].values, found["contact_work"].values
    along, lost = np.linalg.norm(found["contact_force"].values[:, :2], axis=1), found["port_loss"].values
    (touches,) = np.nonzero(along)
    assert stored.max() > 1e-2 and along.max() > 1 and 30 < len(touches) < len(along) - 10
    assert np.abs(lost[touches]).max() < 1e-9 * stored.max()
    np.testing.assert_allclose(work + stored, -lost, rtol=0, atol=1e-15)
    assert lost[-1] == pytest.approx(along[touches[-1]] ** 2 / (2 * STICKING["stiffness"]), rel=0.02)


@pytest.mark.full
def test_what_yields_keeps_what_its_dent_has_taken(load):
    """Of the deepest that the robot was, between its instants a cubic; nothing is lost on the way in or out beside it."""
    tables = around(
        touching("yielding", 0.05, (0.0, 0.0, -0.1), (0.0, 0.0, 0.0)), 2e-4, sensor={"delay": 1e-3}, robot=LAG
    )
    tables["contact"]["hit"].pop("friction")
    found = dockdyn.simulate(load(tables))
    step, place = found.attrs["interval_s"], found["robot_position"].values[:, 2]
    speed = found["robot_velocity"].values[:, 2]
    turn = np.flatnonzero((speed[:-1] < 0) & (speed[1:] >= 0))[0]
    ends = place[turn], speed[turn] * step, place[turn + 1], speed[turn + 1] * step
    share = np.linspace(0, 1, 100_001)
    way = (2 * share**3 - 3 * share**2 + 1) * ends[0] + (share**3 - 2 * share**2 + share) * ends[1]
    way += (3 * share**2 - 2 * share**3) * ends[2] + (share**3 - share**2) * ends[3]
    deepest, (stiffness, limit, plastic) = RADIUS - way.min(), list(YIELDING.values())[1:]
    beyond = deepest - limit / stiffness
    force = limit + plastic * beyond
    taken = limit**2 / stiffness / 2 + (limit + force) / 2 * beyond - force**2 / stiffness / 2
    assert beyond > 1e-4
    loss = found["port_loss"].values
    assert loss[-1] == pytest.approx(taken, rel=1e-5)
    assert found["port_energy"].values[-1] == 0 and np.diff(loss).min() > -1e-9 * taken


@pytest.mark.full
def test_a_rig_that_is_stepped_is_saved_in_the_midst_of_a_contact_that_remembers(load):
    case = load(around(touching("stick-slip", 0.03), 1e-3, sensor={"delay": 2e-3}, robot=LAG))
    whole, sim, rows = dockdyn.simulate(case), dockdyn.stepper(case), []
    while not sim.done:
        if len(rows) == 8:
            assert np.abs(rows[-1]["contact_force"][:2]).max() > 0.1
            kept = pickle.dumps(sim.state)
            sim = dockdyn.stepper(case)
            sim.state = pickle.loads(kept)
        rows.append(sim.step())
    for name in ("model_pose", "contact_force", "measured_force", "port_energy", "contact_work"):
        wanted = whole[name].values
        np.testing.assert_allclose(
            [row[name] for row in rows], wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max(), err_msg=name
        )


CREEPING = {  # k and k₁ (N/m), τ (s) of each of two contacts
    "slowly": (4e4, 6e4, 2e-2),
    "fast": (2e4, 6e4, 1e-3),
}


def stepped(robot, force, period):
    """Return how fast (1/s) a mass that is stepped under a held force grows, and the robot that follows its held place: `robot`
    has the rates of the robot's own states, the place first, and of the command, `force` the acceleration by those states."""
    count = len(force)
    flow = np.zeros((count + 1, count + 1))
    flow[:count] = robot
    lag = expm(flow * period)
    step = np.zeros((2 + count, 2 + count))
    step[0, :2], step[1, 1] = [1.0, period], 1.0
    step[:2, 2:] = np.outer([period**2 / 2, period], force)
    step[2:, 0], step[2:, 2:] = lag[:count, count], lag[:count, :count]
    return np.log(np.abs(np.linalg.eigvals(step)).max()) / period


@pytest.mark.full_cases("none-slowly", "none-fast", "stick-slip-slowly")
@pytest.mark.parametrize("pace", CREEPING)
@pytest.mark.parametrize("friction", ["none", "stick-slip"])
def test_what_creeps_in_hardware_swings_on_as_its_margins_say(pace, friction, load):
    """And as the map over a step says that SciPy makes of two standard linear solids, or springs along them, the mass and the
    robot."""
    (elastic, series, relaxation), period, mass = CREEPING[pace], 5e-4, 2.0
    stiffness, retardation = 3e3, 1e-3
    sticks = {"law": "stick-slip", "coefficient": 0.3, "stiffness": stiffness, "retardation_time": retardation}
    tables = pressed_block(0.0, "none" if friction == "none" else sticks, 0.15)
    tables.pop("thruster")
    for contact in tables["contact"].values():
        law = {"stiffness": elastic, "series_stiffness": series, "relaxation_time": relaxation}
        contact["normal"] = {"law": "zener"} | law
    tables["body"]["block"]["velocity"] = [0.0, 0.0, 1e-8]
    loop = {"hold": {"period": period}, "dynamics": {"method": "zero-order-hold", "period": period}}
    robot = {"numerator": [1e6], "denominator": [1.0, 1.4e3, 1e6]}
    case = load(tables | {"rig": {"carries": "block", "against": "frame"}, "loop": loop | {"robot": robot}})

    def grown(elastic=elastic, series=series, relaxation=relaxation, stiffness=stiffness, mass=mass, bends=1e6):
        """Return the growth rates (1/s) across and along, by N/m, s, N/m, kg and 1/s², with which the robot is drawn."""
        lag = [[0.0, 1.0, 0.0], [-bends, -1.4e3, 1e6]]
        creeping = [[*row[:2], 0.0, row[2]] for row in lag] + [[1 / relaxation, 0.0, -1 / relaxation, 0.0]]
        across = stepped(creeping, np.array([-2 * (elastic + series), 0.0, 2 * series]) / mass, period)
        return across, stepped(lag, -2 * stiffness / mass * np.array([1.0, retardation]), period)

    across, along = grown()
    expected = across if friction == "none" else max(across, along)
    said = dockdyn.margins(case)
    assert said["growth_rate_1_s"] == pytest.approx(expected, rel=1e-8)
    assert said["stable"] == (expected < 0)
    decides = int(expected != across)
    laws = {"elastic": "normal.stiffness", "series": "normal.series_stiffness", "relaxation": "normal.relaxation_time"}
    keys = {name: [f"contact.{side}.{law}" for side in ("lower", "upper")] for name, law in laws.items()}
    keys |= {"mass": ["body.block.mass"], "bends": ["loop.robot.denominator.2"]}
    keys |= {"stiffness": [f"contact.{side}.friction.stiffness" for side in ("lower", "upper")]}
    whole = {**dict(zip(laws, CREEPING[pace], strict=True)), "stiffness": stiffness, "mass": mass, "bends": 1e6}
    largest = max(map(abs, said["sensitivities"].values()))
    for name, value in whole.items() if said["sensitivity_of"] == "growth_rate_1_s" else ():
        less, more = (grown(**{name: value * (1 + side * 1e-4)})[decides] for side in (-1, 1))
        told = sum(said["sensitivities"].get(key, 0.0) for key in keys[name])
        assert told == pytest.approx((more - less) / 2e-4, abs=1e-5 * largest), name
    run = dockdyn.simulate(case)
    assert np.isnan(run.attrs["spectral_radius"])  # which is of stiffness and damping
    moves = run["velocity"].values @ [0.0, 0.0, 1.0]
    late = moves[len(moves) // 2 :]
    (first, second), *_ = np.linalg.lstsq(np.stack([late[1:-1], late[:-2]], 1), late[2:])
    growth = np.log(np.abs(np.roots([1.0, -first, -second])).max()) / period
    assert growth == pytest.approx(across, rel=1e-3)


def test_what_creeps_is_refused_with_a_tool(load):
    """Margins with a tool are along one normal, by stiffness and damping."""
    tool = {"mass": 0.1, "centre": [0, 0, 0], "inertia": [1e-3] * 3}
    sensor = {"delay": 2e-3, "period": 2e-3, "averaging": 2e-3, "threshold": 1.0}
    tables = around(touching("creeping"), 2e-3, delay=2e-3, robot=LAG, sensor=sensor, tool=tool)
    with refused("loop.tool", "creeps"):
        dockdyn.margins(load(tables))

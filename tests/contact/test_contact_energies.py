"""What contacts store and lose: with the energy of motion it is constant, no law gives back what it has lost, and it is what an
account of dampers and sliding by samples says."""

import numpy as np
import pytest
from sticking_ball import ball_on_plane

import dockdyn

SMOOTH = ("spring-dashpot", "hertz", "hunt-crossley")
LAWS = (*SMOOTH, "elastic-plastic", "force-stroke", "thornton", "zener", "dmt", "jkr", "measured")
FRICTIONS = (None, "coulomb", "stick-slip")
RESOLVED = 1e-6  # of the energy at the start
# hertz and coulomb with a delay; force–stroke; a law that yields; one that creeps, with what sticks and resists turning
QUICK = (1, 4, 13, 46)


def drawn_normal(law, draw):
    stiffness, damping = draw.uniform(1e5, 1e6), draw.choice([0.0, draw.uniform(0, 100)])
    if law == "spring-dashpot":
        return {"law": law, "stiffness": stiffness, "damping": damping, "adhesion": bool(draw.integers(2))}
    if law == "elastic-plastic":
        share, force = draw.uniform(0.0, 0.8), draw.uniform(1.0, 200.0)
        return {
            "law": law,
            "stiffness": stiffness,
            "yield_force": force,
            "plastic_stiffness": share * stiffness,
            "damping": damping,
        }
    if law == "force-stroke":
        rise, back = draw.uniform(20, 400, 3).cumsum(), draw.uniform(0.4, 1.0)
        return {
            "law": law,
            "stroke": [0.0, 2e-4, 7e-4, 2e-3],
            "force": [0.0, *rise],
            "unloading_force": [0.0, *(back * rise)],
            "bottoming_stiffness": stiffness,
            "damping": damping,
            "transition_rate": 0.02,
        }
    if law == "thornton":
        return {"law": law, "stiffness": stiffness * 1e-3**-0.5, "yield_force": draw.uniform(1.0, 200.0)}
    if law == "zener":
        series, time = stiffness * draw.uniform(0.1, 2.0), 10 ** draw.uniform(-4, -2)
        return {"law": law, "stiffness": stiffness, "series_stiffness": series, "relaxation_time": time}
    if law == "measured":
        return drawn_table(draw)
    pull = {"pull_off_force": draw.uniform(1.0, 20.0), "damping": damping}
    if law == "jkr":
        return {"law": law, "stiffness": stiffness * 1e-3**-0.5} | pull
    exponent = draw.uniform(1.0, 2.2)
    if law == "dmt":
        return {"law": law, "exponent": exponent, "stiffness": stiffness * 1e-3 ** (1 - exponent)} | pull
    found = {"law": law, "exponent": exponent, "stiffness": stiffness * 1e-3 ** (1 - exponent)}
    return found | ({"damping": draw.uniform(0.0, 1.5)} if law == "hunt-crossley" else {})


def drawn_table(draw, depths=5, rates=3):
    """Return a table of a measured force, a third of whose steps in depth add nothing more at a rate."""
    depth = np.concatenate([[0.0], draw.uniform(1e-4, 6e-4, depths - 1).cumsum()])
    still = np.concatenate([[0.0], draw.uniform(0.0, 150.0, depths - 1).cumsum()])
    more = draw.uniform(0.0, 15.0, (depths, rates - 1)) * (draw.uniform(size=(depths, 1)) > 0.3)
    added = np.maximum.accumulate(more.cumsum(axis=1), axis=0)
    return {
        "law": "measured",
        "depth": depth.tolist(),
        "rate": [0.0, *draw.uniform(0.05, 0.3, rates - 1).cumsum().tolist()],
        "force": (still[:, None] + np.concatenate([0 * added[:, :1], added], axis=1)).tolist(),
    }


def drawn_friction(kind, draw):
    if kind is None:
        return None
    found = {"law": kind, "coefficient": draw.uniform(0.05, 0.6)}
    if kind == "coulomb":
        return found | {"regularisation": 2e-3}
    return found | {
        "static_coefficient": found["coefficient"] * draw.choice([1.0, 1.4]),
        "stribeck_speed": 0.05,
        "stiffness": draw.uniform(1e5, 5e5),
        "retardation_time": draw.choice([0.0, 1e-4]),
    }


def drawn_docking(seed):
    """Return tables of a ball that meets a free body with a face, turning, off its centre; every fifth with a delay."""
    draw = np.random.default_rng(700 + seed)
    normal = drawn_normal(LAWS[seed % len(LAWS)], draw)
    friction = drawn_friction(FRICTIONS[(seed + seed // len(LAWS)) % len(FRICTIONS)], draw)
    tables = ball_on_plane([*draw.uniform(-0.3, 0.3, 2), -0.4], draw.uniform(-8, 8, 3), normal, friction)
    mass = draw.uniform(0.5, 5)
    tables["body"]["anvil"] |= {"fixed": False, "mass": mass, "inertia": [mass * share for share in (0.1, 0.08, 0.12)]}
    tables |= {"duration": 0.06, "output": {"interval": 1e-4}}
    if friction is None:
        del tables["contact"]["hit"]["friction"]
    elif seed // len(LAWS) % 2 == 0:
        friction |= {"rolling": draw.uniform(1e-5, 1e-3), "spinning": draw.uniform(1e-5, 1e-3)}
        friction |= {"turning_regularisation": 0.05} if friction["law"] == "coulomb" else {}
    if seed % 7 == 1:
        tables["loop"] = {"delay": draw.uniform(2e-4, 2e-3)}
    return tables


@pytest.mark.full
@pytest.mark.parametrize("seed", range(200), ids=str)
def test_motion_store_and_loss_together_are_constant(load, seed):
    tables = drawn_docking(seed)
    run = dockdyn.simulate(load(tables))
    stored, lost = run.contact_energy.values[:, 0], run.contact_loss.values[:, 0]
    kinetic, depth = run.kinetic_energy.values, run.depth.values[:, 0]
    assert depth.max() > 1e-5
    assert depth[-1] < 0
    assert np.abs(kinetic + stored + lost - kinetic[0]).max() < RESOLVED * kinetic[0]
    law = tables["contact"]["hit"]["normal"]["law"]
    if law not in ("dmt", "jkr"):  # which gives as bodies come near
        assert np.all(stored >= 0)
    if law not in ("zener", "jkr"):  # which recovers later, or holds on
        assert np.all(stored[depth < 0] <= 1e-30)  # J: a dent that was not left yet is zero but for rounding
    assert stored.max() > 1e-3 * kinetic[0]
    assert lost[0] == 0
    if "loop" not in tables:  # a delay may give what the contact then takes
        assert np.diff(lost).min() > -RESOLVED * kinetic[0]
    summary = dockdyn.summarise(run)
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-10


@pytest.mark.full_cases(*(str(seed) for seed in range(1, 40)))
@pytest.mark.parametrize("seed", range(40), ids=str)
def test_so_they_are_where_bristles_rub(load, seed):
    """Under every law, without the delay that stiff bristles do not bear."""
    draw = np.random.default_rng(900 + seed)
    coefficient = draw.uniform(0.05, 0.6)
    friction = {
        "law": "lugre",
        "coefficient": coefficient,
        "static_coefficient": coefficient * draw.choice([1.0, 1.4]),
        "stribeck_speed": 0.05,
        "presliding": 10 ** draw.uniform(-5, -3.5),
        "retardation_time": draw.choice([0.0, 1e-4]),
        "viscosity": draw.choice([0.0, 0.1]),
    }
    tables = drawn_docking(seed)
    tables.pop("loop", None)
    tables["contact"]["hit"]["friction"] = friction
    run = dockdyn.simulate(load(tables))
    together = run.kinetic_energy.values + run.contact_energy.values[:, 0] + run.contact_loss.values[:, 0]
    assert run.depth.values.max() > 1e-5
    assert np.abs(together - together[0]).max() < RESOLVED * run.kinetic_energy.values[0]
    summary = dockdyn.summarise(run)
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-10


@pytest.mark.full
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2, 6, 7, 10, 11, 12))]
)
def test_loss_is_that_of_dampers_and_sliding(load, seed):
    """By trapezoids over samples: of what a force has over that at rest, at the rate of the depth, and of friction."""
    draw = np.random.default_rng(40 + seed)
    law = SMOOTH[seed % 3]
    normal = drawn_normal(law, draw) | ({} if law == "hertz" else {"damping": 60.0 if law == "spring-dashpot" else 0.8})
    friction = {"law": "coulomb", "coefficient": 0.3, "regularisation": 5e-3}
    tables = ball_on_plane([0.2, -0.1, -0.4], [3.0, -2.0, 1.0], normal, friction)
    run = dockdyn.simulate(load(tables | {"duration": 0.03, "output": {"interval": 2e-6}}))
    depth, rate, force, sliding = (
        run[name].values[:, 0] for name in ("depth", "depth_rate", "normal_force", "sliding_speed")
    )
    resting = normal["stiffness"] * np.maximum(depth, 0.0) ** normal.get("exponent", 1.0)
    power = (force - resting) * rate + 0.3 * force * sliding**2 / np.sqrt(sliding**2 + 5e-3**2)
    lost = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * 2e-6)])
    assert lost[-1] > 1e-3 * run.kinetic_energy.values[0]
    np.testing.assert_allclose(run.contact_loss.values[:, 0], lost, atol=2e-3 * lost[-1])


@pytest.mark.full
def test_a_contact_that_is_pressed_as_the_run_begins_has_lost_nothing_yet(load):
    tables = ball_on_plane([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], {"law": "hertz", "stiffness": 1e7, "exponent": 1.5}, None)
    del tables["contact"]["hit"]["friction"]
    tables["body"]["ball"]["position"] = [0.0, 0.0, 0.04 - 1e-3]
    run = dockdyn.simulate(load(tables))
    whole = 1e7 * 1e-3**2.5 / 2.5  # J, of k d^1.5
    assert run.contact_energy.values[0, 0] == pytest.approx(whole, rel=1e-12)
    assert run.kinetic_energy.values[-1] == pytest.approx(whole, rel=1e-8)
    assert np.abs(run.contact_loss.values).max() < 1e-8 * whole


@pytest.mark.full
def test_losses_of_impacts_are_those_of_each_contact(load):
    """A ball between two plates, one of which takes energy: e² of the energy of the relative motion is left."""
    body = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1], "feature": {"tip": {"position": [0, 0, 0], "radius": 0.1}}}
    wall = {"fixed": True, "surface": {"face": {"shape": "plane", "point": [0, 0, 0]}}}
    walls = {"low": (-0.5, [0, 0, 1], 1.0), "high": (0.5, [0, 0, -1], 0.6)}
    tables = {"schema": 2, "duration": 1.9, "body": {"ball": body | {"velocity": [0, 0, -1.0]}}, "contact": {}}
    for name, (place, normal, ratio) in walls.items():
        face = {"face": wall["surface"]["face"] | {"normal": normal}}
        tables["body"][name] = wall | {"position": [0, 0, place], "surface": face}
        tables["contact"][name] = {
            "between": ["ball.tip", f"{name}.face"],
            "impact": {"law": "newton", "restitution": ratio, "friction": 0.0},
        }
    run = dockdyn.simulate(load(tables))
    assert run.contact_loss.values[-1] == pytest.approx([0.0, 1 - 0.6**2], abs=1e-12)
    assert np.all(run.contact_energy.values == 0)
    whole = run.kinetic_energy.values + run.contact_loss.values.sum(axis=1)
    assert whole == pytest.approx(whole[0], rel=1e-12)


@pytest.mark.full_cases("0.0")
@pytest.mark.parametrize("damping", [0.0, 30.0])
def test_a_contact_that_pulls_as_it_pushes_stores_both_ways(load, damping):
    """A mass before a wall in a spring that is fixed to both: k d²/2 on either side, and the rest is the damper's."""
    stiffness = 5e3
    spring = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping}
    tables = {
        "schema": 2,
        "motion": "line",
        "duration": 2.0,
        "body": {"mass": {"mass": 20.0, "velocity": 0.3}, "wall": {"fixed": True}},
        "contact": {"spring": {"between": ["mass", "wall"], "bilateral": True, "normal": spring}},
    }
    run = dockdyn.simulate(load(tables))
    depth, stored, lost = (run[name].values[:, 0] for name in ("depth", "contact_energy", "contact_loss"))
    assert depth.min() < -1e-3
    assert depth.max() > 1e-3
    np.testing.assert_allclose(stored, stiffness * depth**2 / 2, rtol=1e-10, atol=1e-15)
    kinetic = run.kinetic_energy.values
    assert np.abs(kinetic + stored + lost - kinetic[0]).max() < RESOLVED * kinetic[0]
    assert np.diff(lost).min() > -1e-9 * kinetic[0]
    assert lost[-1] > 0.5 * kinetic[0] if damping else np.abs(lost).max() < 1e-9 * kinetic[0]


def ram(normal, friction):
    """Return tables of a heavy ball on springs, which press it on a plane and out again while they move it to and fro."""
    mass, pace, sideways = 1e5, 50.0, 73.0  # kg, rad/s, rad/s
    tables = ball_on_plane([0.08, 0.0, -0.04], [0.0, 0.0, 0.0], normal, friction)
    tables["body"]["ball"] |= {"mass": mass, "inertia": [mass] * 3, "position": [0.0, 0.0, 0.04 - 2e-4]}
    tables["body"]["ground"] = {"fixed": True, "position": [0.0, 0.0, 0.0]}
    ways = {"lift": ([0.0, 0.0, 1.0], pace), "push": ([1.0, 0.0, 0.0], sideways)}
    tables["strut"] = {
        name: {
            "between": ["ball", "ground"],
            "anchor": [[0.0, 0.0, 0.0], [10 * way[0], 0.0, 0.0398 + 10 * way[2]]],
            "stiffness": mass * rate**2,
            "damping": 0.0,
        }
        for name, (way, rate) in ways.items()
    }
    return tables | {"duration": 0.6, "output": {"interval": 2e-4}}


@pytest.mark.full_cases(
    *(f"{law}-{kind}" for law in LAWS for kind in FRICTIONS[1:] if (law, kind) != ("thornton", "stick-slip"))
)
@pytest.mark.parametrize("kind", FRICTIONS[1:])
@pytest.mark.parametrize("law", LAWS)
def test_no_cycle_gives_energy(load, law, kind):
    """Pressed in and out along a path that hardly depends on the force, with and without parting, as it slides to and fro."""
    draw = np.random.default_rng(LAWS.index(law))
    run = dockdyn.simulate(load(ram(drawn_normal(law, draw), drawn_friction(kind, draw))))
    lost, depth = run.contact_loss.values[:, 0], run.depth.values[:, 0]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(depth))))
    assert len(turns) >= 8
    assert depth.max() > 8e-4
    assert lost[-1] > 1e-3
    assert np.diff(lost).min() > -1e-8 * lost[-1]

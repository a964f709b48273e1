"""Contacts that adhere: what parts them, by force and by energy, in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sticking_ball import MASS, RADIUS, ball_on_plane

import dockdyn
from dockdyn.contact.laws.jkr import Jkr

LAW = {"law": "dmt", "stiffness": 1e8, "exponent": 1.5, "pull_off_force": 8.0}


def resting(law):
    """Return the depth (m) at which it rests, and the energy (J) that parts it from there."""
    depth = (law["pull_off_force"] / law["stiffness"]) ** (1 / law["exponent"])
    return depth, law["pull_off_force"] * depth * law["exponent"] / (law["exponent"] + 1)


def from_rest(law, speed, **tables):
    """Return a ball that leaves at a speed (m/s) from where the law rests."""
    found = ball_on_plane([0, 0, speed], [0, 0, 0], law, "none", **tables)
    found["body"]["ball"]["position"] = [0.0, 0.0, RADIUS - resting(law)[0]]
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
def test_the_energy_that_parts_it(load, seed):
    draw = np.random.default_rng(seed)
    exponent = 1.5 if not seed else draw.uniform(1.0, 2.5)
    law = LAW | {"exponent": exponent, "stiffness": 3e6 * 1e-3 ** (1 - exponent), "pull_off_force": draw.uniform(1, 30)}
    _, energy = resting(law)
    for share, parted in ((1 - 1e-6, False), (1 + 1e-6, True), (1.5, True)):
        run = dockdyn.simulate(load(from_rest(law, np.sqrt(2 * energy / MASS * share), duration=0.05)))
        assert (run.depth.values[-1, 0] < 0) == parted
        if parted:
            left = (share - 1) * energy
            assert run.kinetic_energy.values[-1] == pytest.approx(left, abs=1e-9 * energy)
        assert run.contact_energy.values[0, 0] == pytest.approx(-energy, rel=1e-10)


@pytest.mark.full
def test_it_holds_until_the_pull_off_force(load):
    """Pulled by a little less for ever it stays, by a little more it comes off."""
    law = LAW | {"damping": 2000.0}
    for share in (0.99, 1.01):
        tables = from_rest(law, 0.0, duration=0.5)
        pull = {"body": "ball", "position": [0, 0, 0], "direction": [0, 0, 1], "force": share * law["pull_off_force"]}
        tables["thruster"] = {"pull": pull}
        run = dockdyn.simulate(load(tables))
        assert (run.depth.values[-1, 0] < 0) == (share > 1)


@pytest.mark.full
def test_small_motions_about_rest(load):
    """The pull-off force is as large at every depth: it adds no stiffness."""
    tables = from_rest(LAW, 0.0, stability={"depth": 1e-4})
    found = dockdyn.margins(load(tables))
    assert found["stiffness_N_m"] == pytest.approx(1.5 * 1e8 * 1e-2, rel=1e-12)


def jkr_of(radius, modulus, work):
    """Return the table of two elastic bodies of a combined radius (m) and modulus E* (Pa) with a work of adhesion (J/m²)."""
    return {
        "law": "jkr",
        "stiffness": 4 / 3 * modulus * np.sqrt(radius),
        "pull_off_force": 1.5 * np.pi * work * radius,
    }


@pytest.mark.full
def test_force_and_depth_are_those_of_johnson_kendall_and_roberts():
    """By the radius a of the contact: d = a²/R − √(2 π w a/E*), F = 4 E* a³/(3 R) − √(8 π w E* a³)."""
    radius, modulus, work = 0.02, 3e9, 2.0
    law = jkr_of(radius, modulus, work)
    least = (np.pi * work * radius**2 / (8 * modulus)) ** (1 / 3)  # m, at which they part
    contact = least * np.geomspace(1.001, 1e3, 400)
    depth = contact**2 / radius - np.sqrt(2 * np.pi * work * contact / modulus)
    force = 4 / 3 * modulus * contact**3 / radius - np.sqrt(8 * np.pi * work * modulus * contact**3)
    own = Jkr(*map(jnp.asarray, (law["stiffness"], law["pull_off_force"], 0.0)))
    found = jax.vmap(lambda at: own.force(at, 0.0))(depth)
    np.testing.assert_allclose(found, force, rtol=1e-9, atol=1e-9 * law["pull_off_force"])
    assert float(own.force(0.0, 0.0)) == pytest.approx(-8 / 9 * law["pull_off_force"], rel=1e-12)
    parts = least**2 / radius - np.sqrt(2 * np.pi * work * least / modulus)
    assert float(own.acts_from()) == pytest.approx(parts, rel=1e-7)
    lost = 7.09 * (work**5 * radius**4 / modulus**2) ** (1 / 3)  # Thornton and Ning 1998, eq. 12
    assert float(own.stored_energy(own.acts_from())) == pytest.approx(lost, rel=1e-3)
    steps = np.linspace(parts, 5 * abs(parts), 200001)
    forces = np.asarray(jax.vmap(lambda at: own.force(at, 0.0))(steps))
    work_done = np.trapezoid(forces, steps)
    between = float(own.stored_energy(steps[-1]) - own.stored_energy(steps[0]))
    assert between == pytest.approx(work_done, rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
def test_what_is_too_slow_stays(load, seed):
    """A ball that meets a plane loses what parts it, and comes back if it has more: e² = 1 − (v_s/v)²."""
    draw = np.random.default_rng(seed)
    law = jkr_of(0.04, 10 ** draw.uniform(7.5, 9), draw.uniform(0.5, 20))
    scale = (4 * law["pull_off_force"] / law["stiffness"]) ** (2 / 3)
    # of the integral of F by α, times 4 F₀ D, from where they touch, α^1.5 = 2/3, to where they part, α^1.5 = 1/6
    energy = law["pull_off_force"] * scale * (4 / 15 * 6 ** (-4 / 3) + 0.4 * (2 / 3) ** (4 / 3))
    for share in (0.99, 1.01, 3.0):
        speed = np.sqrt(2 * energy * share / MASS)
        run = dockdyn.simulate(load(ball_on_plane([0, 0, -speed], [0, 0, 0], law, "none", duration=0.15)))
        whole = MASS * speed**2 / 2
        assert np.isnan(run["episode_release"].values[0]) == (share < 1)
        held = run.kinetic_energy + run.contact_energy.sum("contact") + run.contact_loss.sum("contact")
        np.testing.assert_allclose(held, whole, rtol=1e-6)
        if share > 1:
            assert run.contact_loss.values[-1, 0] == pytest.approx(energy, rel=1e-6)
            after = float(run["velocity"].isel(time=-1).sel(body="ball", axis="z")) / speed
            assert after == pytest.approx(np.sqrt(1 - 1 / share), rel=1e-6)
            assert run.depth.values[-1, 0] < -0.2752 * scale


@pytest.mark.full
def test_bodies_that_touch_in_several_places_are_held_in_each(load):
    """Four balls of one body on a plane part with four times the energy of one."""
    law = jkr_of(0.04, 1e8, 5.0)
    scale = (4 * law["pull_off_force"] / law["stiffness"]) ** (2 / 3)
    energy = 4 * law["pull_off_force"] * scale * (4 / 15 * 6 ** (-4 / 3) + 0.4 * (2 / 3) ** (4 / 3))
    for share in (0.98, 1.02):
        tables = ball_on_plane([0, 0, -np.sqrt(2 * energy * share / MASS)], [0, 0, 0], law, "none", duration=0.2)
        places = [[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
        tables["body"]["ball"]["feature"] = {"tip": {"positions": places, "radius": RADIUS}}
        run = dockdyn.simulate(load(tables))
        assert (run.depth.values[-1, 0] < -0.2752 * scale) == (share > 1)
        if share > 1:
            assert run.contact_loss.values[-1, 0] == pytest.approx(energy, rel=1e-6)


@pytest.mark.full_cases("0.002")
@pytest.mark.parametrize("delay", [0.0, 2e-3])
def test_a_neck_holds_in_steps_of_one_length_too(load, delay):
    """Where no event is located: pull, impulse and energy are those of located events, to the length of a step."""

    def struck(**integrator):
        contact = {"law": "jkr", "stiffness": 3e5, "pull_off_force": 20.0, "damping": 5.0}
        tables = {
            "schema": 2,
            "motion": "line",
            "duration": 0.3,
            "body": {
                "left": {"mass": 10.0, "position": -0.1, "velocity": 0.5},
                "right": {"mass": 20.0, "position": 0.0},
            },
            "contact": {"one": {"between": ["left", "right"], "normal": contact}},
            "integrator": integrator,
            "output": {"interval": 2e-4},
        }
        return dockdyn.simulate(load(tables if not delay else tables | {"loop": {"delay": delay}}))

    located, fixed = struck(method="located"), struck(method="fixed", step=2e-5)
    pulls = [float(one.normal_force.min()) for one in (located, fixed)]
    assert pulls[0] < -20.0 and pulls[1] == pytest.approx(pulls[0], rel=2e-3)
    for name in ("episode_release", "episode_impulse"):
        assert float(fixed[name][0]) == pytest.approx(float(located[name][0]), rel=2e-4)
    assert float(fixed.kinetic_energy[-1]) == pytest.approx(float(located.kinetic_energy[-1]), rel=2e-4)

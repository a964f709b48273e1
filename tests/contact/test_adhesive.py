"""A contact that adheres: what parts it, by force and by energy, in closed form."""

import numpy as np
import pytest
from sticking_ball import MASS, RADIUS, ball_on_plane

import dockdyn

LAW = {"law": "adhesive", "stiffness": 1e8, "exponent": 1.5, "pull_off_force": 8.0}


def resting(law):
    """Return the depth (m) at which it rests, and the energy (J) that parts it from there."""
    depth = (law["pull_off_force"] / law["stiffness"]) ** (1 / law["exponent"])
    return depth, law["pull_off_force"] * depth * law["exponent"] / (law["exponent"] + 1)


def from_rest(law, speed, **tables):
    """Return a ball that leaves at a speed (m/s) from where the law rests."""
    found = ball_on_plane([0, 0, speed], [0, 0, 0], law, "none", **tables)
    found["body"]["ball"]["position"] = [0.0, 0.0, RADIUS - resting(law)[0]]
    return found


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


def test_it_holds_until_the_pull_off_force(load):
    """Pulled by a little less for ever it stays, by a little more it comes off."""
    law = LAW | {"damping": 2000.0}
    for share in (0.99, 1.01):
        tables = from_rest(law, 0.0, duration=0.5)
        pull = {"body": "ball", "position": [0, 0, 0], "direction": [0, 0, 1], "force": share * law["pull_off_force"]}
        tables["thruster"] = {"pull": pull}
        run = dockdyn.simulate(load(tables))
        assert (run.depth.values[-1, 0] < 0) == (share > 1)


def test_small_motions_about_rest(load):
    """The pull-off force is as large at every depth: it adds no stiffness."""
    tables = from_rest(LAW, 0.0, stability={"depth": 1e-4})
    found = dockdyn.margins(load(tables))
    assert found["stiffness_N_m"] == pytest.approx(1.5 * 1e8 * 1e-2, rel=1e-12)

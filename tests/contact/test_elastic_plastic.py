"""A contact that yields: dents, restitutions and impulses in closed form."""

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from plain_tables import plain
from sticking_ball import GAP, MASS, RADIUS, ball_on_plane

import dockdyn


def drawn_law(seed):
    draw = np.random.default_rng(seed)
    stiffness = 10 ** draw.uniform(5, 7)
    law = {"law": "elastic-plastic", "stiffness": stiffness, "yield_force": 10 ** draw.uniform(1, 3)}
    if seed % 3:
        law["plastic_stiffness"] = stiffness * draw.uniform(0.05, 0.9)
    if seed % 4 == 1 and seed % 3:
        law["yield_force"] = 0.0
    return law


def deepest(law, energy):
    """Return the depth (m) at which a law has taken an energy (J), and its force (N) there."""
    stiffness, limit, flat = law["stiffness"], law["yield_force"], law.get("plastic_stiffness", 0.0)
    first = limit / stiffness
    more = energy - limit * first / 2
    if more <= 0:
        return np.sqrt(2 * energy / stiffness), np.sqrt(2 * energy * stiffness)
    beyond = 2 * more / (limit + np.sqrt(limit**2 + 2 * flat * more))
    return first + beyond, limit + flat * beyond


@pytest.mark.full_cases("0", "1")
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(4, 20))])
def test_rebound_and_peak(load, seed):
    """m v²/2 is what loading takes; the spring gives back F²/(2 k)."""
    law, speed = drawn_law(seed), 0.4
    result = dockdyn.simulate(load(ball_on_plane([0, 0, -speed], [0, 0, 0], law, "none")))
    _, force = deepest(law, MASS * speed**2 / 2)
    assert float(result["episode_peak_force"][0]) == pytest.approx(force, rel=1e-8)
    after = float(result["velocity"].isel(time=-1).sel(body="ball", axis="z"))
    assert after == pytest.approx(force / np.sqrt(law["stiffness"] * MASS), abs=1e-8 * speed)
    if law["yield_force"] == 0:
        assert after / speed == pytest.approx(np.sqrt(law["plastic_stiffness"] / law["stiffness"]), rel=1e-8)


@pytest.mark.full
def test_a_dent_stays(load):
    """A ball between a plane that yields and one that does not comes back to the dent: up to the greatest force it had it is
    elastic, and is met later by the depth of the dent."""
    law = {"law": "elastic-plastic", "stiffness": 1e6, "yield_force": 100.0, "plastic_stiffness": 2e5}
    tables = ball_on_plane([0, 0, -0.4], [0, 0, 0], law, "none")
    way, wall = 0.01, 1e6
    tables["duration"] = 0.3
    tables["body"]["anvil"]["surface"]["lid"] = {
        "shape": "plane",
        "point": [0, 0, 2 * RADIUS + way],
        "normal": [0, 0, -1],
    }
    tables["contact"]["back"] = {
        "between": ["ball.tip", "anvil.lid"],
        "normal": {"law": "spring-dashpot", "stiffness": wall},
    }
    result = dockdyn.simulate(load(tables))
    depth, force = deepest(law, MASS * 0.4**2 / 2)
    after, dent = force / np.sqrt(1e6 * MASS), depth - force / 1e6
    hits = result["episode_contact"].values == 0
    assert hits.sum() >= 2
    assert result["episode_peak_force"].values[hits] == pytest.approx(force, rel=1e-7)
    # out of the plane, over the way, half a period in the wall, the way back, and into the dent
    half = np.pi * np.sqrt(MASS / 1e6)
    presses = result["episode_peak_time"].values[hits]
    elastic = half / 2 + (dent + way) / after + half + (way + dent) / after + half / 2
    assert np.diff(presses)[0] == pytest.approx(elastic, rel=1e-7)
    assert GAP < dent


@pytest.mark.full
def test_small_motions_about_rest_are_elastic(load):
    """What rests beyond its yield force swings on the spring along which it would come back: k, and its damper."""
    law = {"law": "elastic-plastic", "stiffness": 1e6, "yield_force": 100.0, "plastic_stiffness": 2e5, "damping": 300.0}
    tables = ball_on_plane([0, 0, -0.4], [0, 0, 0], law, "none", stability={"depth": 1e-3}, loop={"delay": 1e-5})
    found = dockdyn.margins(load(tables))
    assert found["stiffness_N_m"] == pytest.approx(1e6, rel=1e-12)
    # m d̈ = −(k d + b ḋ) one delay ago: the critical one is atan(ω b/k)/ω, with m² ω⁴ = k² + ω² b²
    frequency = np.sqrt(np.roots([MASS**2, -(300.0**2), -(1e6**2)]).max())
    assert found["critical_delay_s"] == pytest.approx(np.arctan(frequency * 300 / 1e6) / frequency, rel=1e-9)


OWN = """
import dockdyn
from jaxtyping import Array, Float


class Dented(dockdyn.YieldingLaw):
    first: Float[Array, ""]
    back: Float[Array, ""]

    def loading(self, depth):
        return self.first * depth

    def dent(self, deepest):
        return deepest * (1 - self.first / self.back)

    def unloading(self, depth, deepest):
        return self.back * (depth - self.dent(deepest))

    def returned_energy(self, depth, deepest):
        return self.back * (depth - self.dent(deepest)) ** 2 / 2
"""


@pytest.mark.full
def test_a_law_of_ones_own_may_remember(tmp_path):
    """It does as Walton and Braun's does, and may be that of a rig's hardware."""
    (tmp_path / "dented.py").write_text(OWN, encoding="utf-8")
    own = {"law": "dented:Dented", "first": 2e5, "back": 1e6}
    tables = plain(ball_on_plane([0, 0, -0.4], [0, 0, 0], own, "none"))
    file = tmp_path / "own.toml"
    file.write_text(tomlkit.dumps(tables), encoding="utf-8")
    after = float(dockdyn.simulate(dockdyn.load(file))["velocity"].isel(time=-1).sel(body="ball", axis="z"))
    assert after == pytest.approx(0.4 * np.sqrt(0.2), rel=1e-7)
    file.write_text(tomlkit.dumps(tables | {"rig": {"carries": "ball", "against": "anvil"}}), encoding="utf-8")
    assert dockdyn.load(file).setup == "rig"


def test_refused(load):
    for change, words in (
        ({"plastic_stiffness": 2e6}, ("plastic_stiffness", "below the stiffness")),
        ({"yield_force": 0}, ("yield_force and plastic_stiffness are both 0",)),
        ({"yield_force": -1}, ("yield_force",)),
    ):
        law = {"law": "elastic-plastic", "stiffness": 1e6, "yield_force": 100.0, **change}
        with refused("contact.hit.normal", *words):
            load(ball_on_plane([0, 0, -1], [0, 0, 0], law, "none"))

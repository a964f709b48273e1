"""Contacts that are closed together: their margins beside a characteristic equation written by hand, and beside simulations.

By hand: two free bodies, tips of the chaser on a plane of the target with the normal n. A unit force at tip j accelerates
the depth at tip i by W_ij = 1/m_C + 1/m_T + (c_i × n)ᵀ I_C⁻¹ (c_j × n) + (t_i × n)ᵀ I_T⁻¹ (t_j × n), with c and t the levers
from the centres of mass, so that det(s² I + W (B s + K) exp(−s h)) = 0.
"""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from plain_tables import plain
from report_page import Page
from resting_contacts import REST, fitted_root
from scipy.optimize import brentq
from two_bodies import two_bodies

import dockdyn
from dockdyn.docking.resting import nominal_of, seen_matrices
from dockdyn.pages import report_html
from dockdyn.stability import rightmost_roots, stable_windows
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

NORMAL = np.array([-1.0, 0.0, 0.0])  # out of the plate, at x = 0


def inertia(rng, mass):
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    squares = rng.uniform(0.1, 0.8, 3)  # m²
    tensor = turn @ np.diag(mass * (squares.sum() - squares)) @ turn.T
    return (tensor + tensor.T) / 2


def some_scene(rng, tips, symmetric=False):
    """Tips of the chaser on a plate, `tips` (m) across the plate from the chaser's centre of mass, any bodies and laws."""
    chaser, target = rng.uniform(50, 300), rng.uniform(100, 900)
    reach, behind = rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6)  # m, from the centres of mass to the plate
    laws = [(rng.uniform(500, 2000), rng.uniform(50, 200)) for _ in tips]
    bodies = [inertia(rng, mass) for mass in (chaser, target)]
    if symmetric:
        laws = laws[:1] * len(tips)
        bodies = [np.diag([60.0, 40.0, 40.0]), np.diag([90.0, 110.0, 110.0])]
    features = {f"tip{i}": {"position": [reach, *tip]} for i, tip in enumerate(tips)}
    surface = {"shape": "plane", "point": [-behind, 0, 0], "normal": NORMAL}
    contacts = {
        f"tip{i}": {"between": [f"tip{i}", "plate"], "normal": {"law": "spring-dashpot", "stiffness": k, "damping": b}}
        for i, (k, b) in enumerate(laws)
    }
    return {
        "schema": 2,
        "duration": 20.0,
        "chaser": {
            "mass": chaser,
            "inertia": bodies[0],
            "position": [-reach - 0.001, 0, 0],
            "velocity": [0.01, 0, 0],
            "feature": features,
        },
        "target": {"mass": target, "inertia": bodies[1], "position": [behind, 0, 0], "surface": {"plate": surface}},
        "contact": contacts,
        "loop": {"delay": 0.03},
    }


def pressed(scene):
    """The same, starting at rest with every tip `REST` in the plate."""
    scene = plain(scene)
    scene["chaser"]["position"][0] += 0.001 + REST
    scene["chaser"]["velocity"] = [0.0, 0.0, 0.0]
    return scene


class ByHand:
    """W, K and B of a scene, its critical delay and its characteristic determinant."""

    def __init__(self, scene, closed=None):
        tips = list(scene["contact"]) if closed is None else closed
        chaser, target = scene["chaser"], scene["target"]
        across = [np.array(chaser["feature"][tip]["position"]) for tip in tips]
        plate = target["surface"]["plate"]["point"][0]
        levers = [np.array([np.cross(place, NORMAL) for place in across])]
        levers.append(np.array([np.cross([plate, *place[1:]], NORMAL) for place in across]))
        self.mobility = np.full((len(across),) * 2, 1 / chaser["mass"] + 1 / target["mass"])
        for arms, body in zip(levers, (chaser, target), strict=True):
            self.mobility = self.mobility + arms @ np.linalg.inv(np.array(body["inertia"])) @ arms.T
        laws = [scene["contact"][tip]["normal"] for tip in tips]
        self.stiffness = np.diag([law["stiffness"] for law in laws])
        self.damping = np.diag([law["damping"] for law in laws])

    def loop_gains(self, frequency):
        """Eigenvalues of W (K + jω B): each is ω² exp(jω h) at a root jω."""
        slopes = self.stiffness + 1j * np.multiply.outer(frequency, self.damping)
        return np.linalg.eigvals(self.mobility @ slopes)

    def critical_delay(self):
        """The shortest delay with a root on the imaginary axis."""
        found, grid = [], np.linspace(0.05, 200, 20000)

        def excess(frequency):
            return np.sort(np.abs(self.loop_gains(frequency)), axis=-1) - np.square(frequency)[..., None]

        values = excess(grid)
        for which in range(values.shape[1]):
            for at in np.flatnonzero(np.diff(np.sign(values[:, which]))):
                frequency = brentq(lambda w, i=which: excess(w)[i], grid[at], grid[at + 1], xtol=1e-13)
                gains = self.loop_gains(frequency)
                gain = gains[np.argsort(np.abs(gains))[which]]
                if np.abs(gain) > 1e-6:  # W has no inverse with more than three tips
                    found.append((np.angle(gain) % (2 * np.pi)) / frequency)
        return min(found)

    def smallest_singular_value(self, s, delay):
        """Of the characteristic matrix, over its size: zero at a root."""
        matrix = s**2 * np.eye(len(self.mobility))
        matrix = matrix + self.mobility @ (self.damping * s + self.stiffness) * np.exp(-s * delay)
        return np.linalg.svd(matrix)[1][-1] / (np.abs(s) ** 2 + np.linalg.norm(self.mobility @ self.stiffness))


PAIRS = [[[0.5, 0.0], [-0.5, 0.0]], [[0.4, 0.1], [-0.7, 0.2]], [[0.3, 0.5], [-0.1, -0.6]], [[0.8, 0.0], [0.1, 0.3]]]
CORNERS = [[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, -0.5]]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2, 3))])
def test_contacts_closed_at_the_start_are_linearised_together(load, seed):
    scene = some_scene(np.random.default_rng(seed), PAIRS[seed])
    theory, delay = ByHand(scene), scene["loop"]["delay"]
    scenario = load(pressed(scene))
    matrices = seen_matrices(scenario.content, nominal_of(scenario))
    assert len(matrices[0]) == 4  # two depths and their rates
    assert_allclose(stable_windows(matrices, [delay]).critical_delay, theory.critical_delay(), rtol=1e-9)
    assert theory.critical_delay() < 0.999 * ByHand(scene, ["tip0"]).critical_delay()
    for root in rightmost_roots(matrices, [delay], count=4):
        assert theory.smallest_singular_value(root, delay) < 1e-10


@pytest.mark.full
@pytest.mark.parametrize("index", range(6))
def test_margins_of_contacts_that_close_together(load, index):
    """Pairs, and four tips in a square on bodies that tilt alike both ways, where roots are double."""
    rng = np.random.default_rng(10 + index)
    scene = some_scene(rng, PAIRS[index]) if index < len(PAIRS) else some_scene(rng, CORNERS, symmetric=index == 5)
    theory, delay = ByHand(scene), scene["loop"]["delay"]
    found = dockdyn.margins(load(scene))
    assert_allclose(found["critical_delay_s"], theory.critical_delay(), rtol=1e-8)
    assert_allclose(found["delay_margin_s"], theory.critical_delay() - delay, rtol=1e-7, atol=1e-9)
    assert theory.smallest_singular_value(complex(*found["rightmost_roots"][0]), delay) < 1e-8
    assert found["drift_modes"] == 24 - 2 * np.linalg.matrix_rank(theory.mobility)
    assert [row["feature"] for row in found["closed_contacts"]] == list(scene["contact"])
    for row, mobility in zip(found["closed_contacts"], np.diag(theory.mobility), strict=True):
        assert_allclose(row["effective_mass_kg"], 1 / mobility, rtol=1e-9)
    words = f"{len(scene['contact'])} contacts are closed together (tip0, "
    assert [warning for warning in found["warnings"] if words in warning]
    assert found["apparent_restitution"] is found["pade"] is found["stabilising_gains_N_s_m"] is None
    assert not found["later_sets"]


@pytest.mark.full
@pytest.mark.parametrize("damped", [True, False])
def test_sensitivities_of_contacts_that_close_together(load, damped):
    """Of the delay margin, and of the growth rate where nothing damps, beside differences of the equation by hand."""
    scene = plain(some_scene(np.random.default_rng(3), PAIRS[1]))
    for contact in scene["contact"].values():
        contact["normal"]["damping"] *= damped
    found = dockdyn.margins(load(scene))
    assert found["sensitivity_of"] == ("delay_margin_s" if damped else "growth_rate_1_s")
    start = complex(*found["rightmost_roots"][0])

    def margin(scene):
        if damped:
            return ByHand(scene).critical_delay() - scene["loop"]["delay"]
        theory, delay, s = ByHand(scene), scene["loop"]["delay"], start
        for _ in range(50):  # s² = −λ(s) exp(−s h), the eigenvalue next to s² exp(s h)
            powers = np.linalg.eigvals(theory.mobility @ (theory.damping * s + theory.stiffness))
            power = powers[np.argmin(np.abs(powers + s**2 * np.exp(s * delay)))]
            s -= (s**2 + power * np.exp(-s * delay)) / (2 * s - delay * power * np.exp(-s * delay))
        return s.real

    places = {
        "body.chaser.mass": ("chaser", "mass"),
        "body.target.mass": ("target", "mass"),
        "loop.delay": ("loop", "delay"),
    }
    for tip in scene["contact"]:
        for number in ("stiffness", "damping"):
            places[f"contact.{tip}.normal.{number}"] = ("contact", tip, "normal", number)
        places[f"body.chaser.feature.{tip}.position.1"] = ("chaser", "feature", tip, "position", 1)
    known = {}
    for key, path in places.items():
        values = []
        for side in (1, -1):
            changed = json.loads(json.dumps(scene))
            table = changed
            for part in path[:-1]:
                table = table[part]
            table[path[-1]] *= 1 + side * 1e-4
            values.append(margin(changed))
        known[key] = (values[0] - values[1]) / 2e-4
    size = max(map(abs, known.values()))
    for key, value in known.items():
        assert_allclose(found["sensitivities"].get(key, 0.0), value, rtol=0, atol=1e-5 * size, err_msg=key)


@pytest.mark.full
def test_a_simulation_of_two_contacts_grows_and_decays_as_predicted(load):
    """With 97 and 103 % of the critical delay, from a nudge at rest in both contacts."""
    for relative in (0.97, 1.03):
        scene = some_scene(np.random.default_rng(5), PAIRS[1])
        scene["loop"]["delay"] = relative * ByHand(scene).critical_delay()
        found = dockdyn.margins(load(pressed(scene)))
        assert found["stable"] == (relative < 1)
        roots = [complex(*pair) for pair in found["rightmost_roots"]]
        settled = 16 / (roots[0].real - roots[2].real)  # s
        moving = pressed(scene)
        moving["duration"] = settled + 6 * np.pi / abs(roots[0].imag)
        moving["chaser"]["velocity"] = [1e-7 * np.exp(-max(roots[0].real, 0) * moving["duration"]), 0, 0]
        moving["integrator"] = {"step": 5e-3}
        for contact in moving["contact"].values():
            contact["normal"] |= {"law": "test_linearised_contact:Bilateral", "rest": REST}
        data = dockdyn.simulate(load(moving))
        assert data.attrs["status"] == "finished"
        late = data.time.values >= settled
        simulated = fitted_root(data.time.values[late], data.depth.values[late, 0] - REST, abs(roots[0].imag))
        assert (simulated.real < 0) == (relative < 1)
        assert_allclose([simulated.real, simulated.imag], [roots[0].real, abs(roots[0].imag)], rtol=2e-3, atol=2e-4)


@pytest.mark.full
def test_a_contact_that_closes_later_is_told_with_its_margins(load):
    """A tip 1 mm behind the other: the margins are those of the first, and those of both are said beside them."""
    scene = some_scene(np.random.default_rng(3), PAIRS[1])
    scene["chaser"]["feature"]["tip1"]["position"][0] -= 1e-3
    scene["loop"]["delay"] = ByHand(scene).critical_delay() * 1.01
    found = dockdyn.margins(load(scene))
    assert_allclose(found["critical_delay_s"], ByHand(scene, ["tip0"]).critical_delay(), rtol=1e-4)
    (later,) = found["later_sets"]
    assert later["contacts"] == ["tip0", "tip1"]
    assert found["stable"] and not later["stable"]
    assert_allclose(later["critical_delay_s"], ByHand(scene).critical_delay(), rtol=1e-3)  # tilted by a thousandth
    data = dockdyn.simulate(load(scene))
    onsets = data.episode_onset.values
    assert_allclose(later["after_s"], onsets[1] - onsets[0], rtol=0, atol=1e-9)
    limit = f"{1e3 * later['critical_delay_s']:.4g} ms"
    assert [words for words in found["warnings"] if "tip1 closed" in words and limit in words]
    assert f"above the critical one of {limit} of 2 contacts closed together" in data.attrs["prediction"]


@pytest.mark.full
def test_charts_and_the_report_are_of_all_contacts(load):
    scene = some_scene(np.random.default_rng(3), PAIRS[1])
    limit = ByHand(scene).critical_delay()
    data = stability_dataset(load(scene), [parse_sweep(f"loop.delay=0:{2 * limit}:9")])
    assert_allclose(data.boundary_x.values, [limit], rtol=0, atol=2e-7 * limit)
    page = Page(report_html(data))
    assert [row[0] for row in page.tables["Several contacts"] if row[0].startswith("tip")] == ["tip0", "tip1"]
    assert "all of them" in " ".join(page.text.split())


ROBOT = {"poles": [-200.0], "gain": 200.0}


@pytest.mark.full
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_loop_with_a_robot_is_of_all_contacts_that_are_closed(load, seed):
    """Its roots are those of det(s² I + W (B s + K) R(s) exp(−s h)), with R the robot."""
    scene = plain(some_scene(np.random.default_rng(seed), PAIRS[1]))
    scene["loop"]["robot"] = ROBOT
    found, theory, delay = dockdyn.margins(load(scene)), ByHand(scene), scene["loop"]["delay"]
    assert len(found["closed_contacts"]) == 2
    for root in [complex(*pair) for pair in found["rightmost_roots"][:4]]:
        late = np.exp(-root * delay) * 200.0 / (root + 200.0)
        matrix = root**2 * np.eye(2) + theory.mobility @ (theory.damping * root + theory.stiffness) * late
        assert np.linalg.svd(matrix)[1][-1] < 1e-7 * np.linalg.norm(theory.mobility @ theory.stiffness)
    assert [words for words in found["warnings"] if "2 contacts are closed together" in words and "all are" in words]


@pytest.mark.full
def test_a_rig_with_a_tool_says_what_the_other_contacts_would_do(load):
    """Its loop is taken along the normal of one contact."""
    scene = plain(some_scene(np.random.default_rng(3), PAIRS[1]))
    rig = two_bodies(scene) | {"rig": {"carries": "chaser", "against": "target"}}
    lags = {"numerator": [1.0], "denominator": [4e-6, 2e-3, 1.0]}
    scene["loop"] |= {"dynamics": {"period": 0.004}, "robot": lags, "sensor": {"threshold": 1.0}}
    scene["loop"] |= {"tool": {"mass": 1.0, "centre": [0.0, 0.0, 0.0], "inertia": [0.1, 0.1, 0.1]}}
    (words,) = [words for words in dockdyn.margins(load(rig))["warnings"] if "closed together" in words]
    for theory in (ByHand(scene), ByHand(scene, ["tip0"])):
        assert f"{1e3 * theory.critical_delay():.4g} ms" in words

"""Linear theory of a resting contact: closed forms, the spectral path from the nonlinear model, and simulations."""

import copy

import jax
import numpy as np
import pytest
from bounce_series import exact_restitution
from jaxtyping import Array, Float
from numpy.testing import assert_allclose
from plain_tables import plain
from resting_contacts import REST, Theory, difference, fitted_root, placed, rotation, sazawal, some_scene

import dockdyn
from dockdyn.docking.resting import model_at_rest, nominal_of
from dockdyn.mechanism.rest import resting_contact
from dockdyn.programs import Program
from dockdyn.stability import linearise_model, stable_windows
from dockdyn.stability.linearise import split_by_delayed_terms
from dockdyn.studies.margins.answer import margins


def scaled_close(found, known, tolerance):
    assert_allclose(found, known, rtol=0, atol=tolerance * np.abs(known).max())


# --- closed forms ----------------------------------------------------------------------------------------------------


@Program
def resting(contents, nominal):
    def one(content):
        model, state = model_at_rest(content, nominal)
        return resting_contact(model, state, 0), linearise_model(model, state).matrices()

    return jax.vmap(one)(contents)


@pytest.mark.full
@pytest.mark.parametrize(("number", "seed"), [(24, 1), pytest.param(1000, 2, marks=pytest.mark.full)])
def test_closed_forms_and_spectral_path_agree(load, number, seed):
    rng = np.random.default_rng(seed)
    scenes = [some_scene(rng) for _ in range(number)]
    scenarios = [load(scene) for scene in scenes]
    contents = jax.tree.map(lambda *parts: np.stack(parts), *[scenario.content for scenario in scenarios])
    contacts, linear = jax.tree.map(np.asarray, resting(contents, nominal_of(scenarios[0])))
    for i, scene in enumerate(scenes):
        theory, contact = Theory(scene), jax.tree.map(lambda rows, i=i: rows[i], contacts)
        scaled_close(contact.matrix, theory.matrix, 1e-12)
        assert_allclose(contact.effective_mass, 1 / theory.matrix[2, 2], rtol=1e-12)
        for name in ("normal", "radial", "tangential"):
            known = getattr(theory, name)
            size = np.abs(theory.normal) * max(1, np.abs(known / theory.normal).max())
            assert_allclose(getattr(contact, name)() / size, known / size, rtol=0, atol=1e-11)
        within, free = split_by_delayed_terms(linear[i])
        assert within.shape[-1] == 2  # depth and its rate
        # the other motions of both bodies, the work and what friction takes of it, which no delay sees
        assert len(free) == 26
        assert np.abs(free).max() < 1e-6  # double integrators, found to the root of rounding
        windows = stable_windows(within, [scene["loop"]["delay"]])
        assert_allclose(windows.critical_delay, theory.critical_delay(), rtol=1e-8)
        assert windows.stable == [(0, windows.critical_delay)]
        assert abs(Theory(scene, printed=True).matrix[2, 2] / theory.matrix[2, 2] - 1) > 1e-9  # r_TS is not zero


def check_margins(load, scene):
    found, theory, delay = margins(load(scene)), Theory(scene), scene["loop"]["delay"]
    scaled_close(found["contact_matrix"], theory.matrix, 1e-12)
    assert_allclose(found["effective_mass_kg"], 1 / theory.matrix[2, 2], rtol=1e-12)
    for name in ("normal", "radial", "tangential"):
        scaled_close(found[f"{name}_dynamics"], getattr(theory, name), 1e-9)
    assert_allclose(found["stable_delays_s"], [[0, theory.critical_delay()]], rtol=1e-8)
    for key, offset in (("critical_delay_s", 0), ("delay_margin_s", delay)):
        assert_allclose(found[key], theory.critical_delay() - offset, rtol=1e-8)
    assert found["stable"] == (delay < theory.critical_delay())
    growth, frequency = found["rightmost_roots"][0]
    root = theory.root(delay, complex(growth, frequency))
    assert_allclose([growth, frequency], [root.real, root.imag], rtol=1e-9)
    late = delay * np.sqrt(theory.normal[1])  # rad of the undamped motion
    assert_allclose(found["apparent_restitution"], exact_restitution(late), rtol=1e-9)
    where = [np.degrees(scene["stability"]["azimuth"]) % 360, scene["stability"]["distance"]]
    assert_allclose([found["nominal"][key] for key in ("azimuth_deg", "distance_m")], where, rtol=1e-9)
    return found


@pytest.mark.full
def test_margins_say_what_theory_says(load):
    check_margins(load, some_scene(np.random.default_rng(3)))


@pytest.mark.full
def test_the_papers_geometry_and_the_printed_matrix(load):
    """Table 1: the printed M, with r_TS in it, is another one."""
    scene = sazawal(delay=0.1)
    found = check_margins(load, scene)
    assert_allclose(found["effective_mass_kg"], 96.1657, rtol=0, atol=5e-5)
    assert_allclose(found["critical_delay_s"], 0.173623, rtol=0, atol=1e-6)
    growth, frequency = found["rightmost_roots"][0]
    assert_allclose([growth, abs(frequency)], [-0.55448, 3.47875], rtol=0, atol=1e-5)
    assert abs(Theory(scene, printed=True).root(0.1, -0.55 + 3.48j) - complex(growth, abs(frequency))) > 0.02


# --- the nonlinear motion --------------------------------------------------------------------------------------------


class Bilateral(dockdyn.NormalLaw):
    """Spring and dashpot about a depth at which they push nothing, so that a small motion around it is never gated."""

    stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m
    rest: Float[Array, ""]  # m

    def adheres(self):
        return True

    def force(self, depth, rate):
        return self.stiffness * (depth - self.rest) + self.damping * rate


NUDGE = 1e-7  # m/s at the end: the bodies' places change by some 1e-6 m in all, and the geometry by 1e-6 of itself


@pytest.mark.full
@pytest.mark.parametrize(("number", "seed"), [(5, 4), pytest.param(20, 5, marks=pytest.mark.full)])
def test_a_simulation_grows_as_predicted(load, number, seed):
    """Predicted for contact at rest on the wall, and simulated at the depth REST from a nudge along the normal."""
    rng = np.random.default_rng(seed)
    for index in range(number):
        scene, relative = some_scene(rng), rng.uniform(0.6, 0.95) if index % 2 else rng.uniform(1.05, 1.6)
        scene["loop"]["delay"] = relative * Theory(scene).critical_delay()
        found = margins(load(scene))
        roots = [complex(*pair) for pair in found["rightmost_roots"]]
        predicted = complex(roots[0].real, abs(roots[0].imag))
        assert (predicted.real < 0) == found["stable"] == (relative < 1)
        settled = 18 / (predicted.real - roots[2].real)  # s: the other motions are 1e-8 of this one
        duration = settled + 6 * np.pi / predicted.imag
        nudge = NUDGE * np.exp(-max(predicted.real, 0) * duration)
        moving, law = placed(scene, REST, [0, 0, nudge]), scene["contact"]["probe"]["normal"]
        numbers = {name: law[name] for name in ("stiffness", "damping")}
        moving["contact"]["probe"]["normal"] = {"law": f"{__name__}:Bilateral", "rest": REST, **numbers}
        # small motions: no steps chosen by rounding; those of 5 ms are 1e-4 off in one of 20
        moving |= {"duration": duration, "integrator": {"step": 2.5e-3}}
        data = dockdyn.simulate(load(moving))
        assert data.attrs["status"] == "finished"
        late = data.time.values >= settled
        simulated = fitted_root(data.time.values[late], data.depth.values[late, 0] - REST, predicted.imag)
        assert_allclose([simulated.real, simulated.imag], [predicted.real, predicted.imag], rtol=1e-4)
        printed = Theory(scene, printed=True).root(scene["loop"]["delay"], predicted)
        assert abs(simulated - printed) > 5 * abs(simulated - predicted)


# --- frames and units ------------------------------------------------------------------------------------------------

SAME = ["stable", "growth_rate_1_s", "critical_delay_s", "crossing_frequency_rad_s", "effective_mass_kg", "drift_modes"]
SAME += ["contact_matrix", "normal_dynamics", "radial_dynamics", "tangential_dynamics", "apparent_restitution"]
SAME += ["stiffness_N_m", "damping_N_s_m", "delay_margin_s", "amplitude_ratio_per_oscillation", "rightmost_roots"]


def same_margins(one, other, tolerance):
    for key in SAME:
        found, known = (np.abs(np.asarray(each[key], float)) for each in (one, other))  # pairs come in either order
        scale = one["normal_dynamics"] if key.endswith("_dynamics") else known
        assert_allclose(found, known, rtol=0, atol=tolerance * np.max(np.abs(scale)))
    size = max(map(abs, one["sensitivities"].values()))
    for key in one["sensitivities"] | other["sensitivities"]:
        found, known = (each["sensitivities"].get(key, 0.0) for each in (one, other))
        assert_allclose(found, known, rtol=0, atol=1e-5 * size)


def moved(scene, turn, shift, boost):
    """The whole scene rotated by the quaternion `turn`, translated, and seen from a frame in motion."""
    scene, turn = copy.deepcopy(scene), turn / np.linalg.norm(turn)
    for body in (scene["chaser"], scene["target"]):
        (w, v), (a, b) = ((q[0], np.asarray(q[1:])) for q in (turn, body["attitude"]))
        body["attitude"] = np.array([w * a - v @ b, *(w * b + a * v + np.cross(v, b))])
        body["position"] = rotation(turn) @ body["position"] + shift
        body["velocity"] = rotation(turn) @ body["velocity"] + boost
    return scene


def test_no_frame_changes_the_margins_of_a_place_on_the_wall(load):
    rng = np.random.default_rng(6)
    scene = some_scene(rng)
    other = moved(scene, rng.normal(size=4), rng.normal(size=3), np.zeros(3))
    same_margins(margins(load(scene)), margins(load(other)), 1e-11)


@pytest.mark.full
def test_no_frame_changes_the_margins_of_a_predicted_first_contact(load):
    """Table 3's motion touches first at φ = 354.408°, r_SQ = (0.435084, 0.024479, 0.25) m."""
    rng = np.random.default_rng(7)
    scene = {key: value for key, value in sazawal(delay=0.016).items() if key != "stability"}
    found = margins(load(scene))
    assert_allclose(found["nominal"]["azimuth_deg"], 354.408, rtol=0, atol=1e-3)
    assert_allclose(found["nominal"]["position_m"], [0.435084, 0.024479, 0.25], rtol=0, atol=1e-6)
    other = moved(scene, rng.normal(size=4), rng.normal(size=3), 0.02 * rng.normal(size=3))
    same_margins(found, margins(load(other)), 1e-8)


def test_no_unit_changes_a_margin(load):
    scene = sazawal(delay=0.016)
    plainly = {"stability.distance": 0.5, "stability.azimuth": 0.5, "loop.delay": 0.016, "body.chaser.mass": 2500}
    plainly |= {
        "contact.probe.normal.stiffness": 1500,
        "body.target.surface.cone.half_angle": 0.6,
        "body.chaser.feature.probe.position": [2, 0.1, 0],
    }
    in_words = {"stability.distance": "500 mm", "stability.azimuth": "500 mrad", "loop.delay": "16 ms"}
    in_words |= {
        "contact.probe.normal.stiffness": "1.5 kN/m",
        "body.target.surface.cone.half_angle": f"{np.degrees(0.6):.17g} deg",
    }
    in_words |= {"body.chaser.mass": "2.5 tonne", "body.chaser.feature.probe.position": ["200 cm", "100 mm", 0]}
    same_margins(margins(load(scene, plainly)), margins(load(scene, in_words)), 1e-12)


# --- sensitivities ---------------------------------------------------------------------------------------------------

AXES = range(3)
KEYS = [
    "body.chaser.mass",
    "body.target.mass",
    "loop.delay",
    "contact.probe.normal.stiffness",
    "contact.probe.normal.damping",
]
KEYS += ["stability.azimuth", "stability.distance", "body.target.surface.cone.half_angle"]
KEYS += [f"body.{body}.inertia.{i}.{i}" for body in ("chaser", "target") for i in AXES]
PRODUCTS = [(i, j) for i in AXES for j in AXES if i < j]  # of an inertia: two are equal and change together
KEYS += [
    f"body.{body}.inertia.{i}.{j}, body.{body}.inertia.{j}.{i}" for body in ("chaser", "target") for i, j in PRODUCTS
]
KEYS += [
    f"{place}.{i}" for place in ("body.chaser.feature.probe.position", "body.target.surface.cone.apex") for i in AXES
]


@pytest.mark.parametrize("damped", [True, False])
def test_sensitivities_are_derivatives_of_the_closed_form(load, damped):
    """Of the delay margin; of the growth rate where the contact is undamped and so unstable with any delay."""
    scene = plain(some_scene(np.random.default_rng(8)))
    scene["loop"]["delay"] = 0.05
    if not damped:
        scene["contact"]["probe"]["normal"]["damping"] = 0.0
    found = margins(load(scene))
    start = complex(*found["rightmost_roots"][0])
    assert found["sensitivity_of"] == ("delay_margin_s" if damped else "growth_rate_1_s")

    def margin(scene):
        theory, delay = Theory(scene), scene["loop"]["delay"]
        return theory.critical_delay() - delay if damped else theory.root(delay, start).real

    known = {key: difference(margin, scene, key.split(", ")) for key in KEYS}
    size = max(map(abs, known.values()))
    for key in known | found["sensitivities"]:
        assert_allclose(found["sensitivities"].get(key, 0.0), known[key], rtol=0, atol=2e-6 * size, err_msg=key)

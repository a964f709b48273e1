"""Invariants: momentum, energy, passivity, frames, units, roles and repetition, over random dockings."""

import copy

import jax.monitoring
import numpy as np
import pytest
from hypothesis import given
from random_dockings import ONE_DOCKING, contact_numbers, docking, dockings, examples, frames, moved, swapped
from scipy.spatial.transform import Rotation

import dockdyn

# --- momentum and work -----------------------------------------------------------------------------------------------


def momenta_and_energy(content, dataset):
    """Linear momentum, angular momentum about the common centre of mass, kinetic energy, and the momenta's scales."""
    masses = np.array([content[body]["mass"] for body in ("chaser", "target")])
    tensors = [np.array(content[body]["inertia"]) for body in ("chaser", "target")]
    position, velocity = dataset.position.values, dataset.velocity.values
    centre = np.einsum("b,tbi->ti", masses, position) / masses.sum()
    drift = np.einsum("b,tbi->ti", masses, velocity) / masses.sum()
    linear, angular, energy = 0, 0, 0
    linear_scale, angular_scale = 0, 0
    for body in range(2):
        turn = Rotation.from_quat(dataset.attitude.values[:, body], scalar_first=True)
        rate = dataset.rate.values[:, body]
        spin = rate @ tensors[body]
        momentum = masses[body] * velocity[:, body]
        orbital = np.cross(position[:, body] - centre, momentum - masses[body] * drift)
        linear = linear + momentum
        angular = angular + orbital + turn.apply(spin)
        energy = energy + 0.5 * (np.sum(momentum * velocity[:, body], axis=1) + np.sum(spin * rate, axis=1))
        linear_scale = linear_scale + np.linalg.norm(momentum, axis=1)
        angular_scale = angular_scale + np.linalg.norm(orbital, axis=1) + np.linalg.norm(spin, axis=1)
    return linear, angular, energy, linear_scale.max(), angular_scale.max()


def check_conservation(content, dataset):
    linear, angular, energy, linear_scale, angular_scale = momenta_and_energy(content, dataset)
    assert dataset.attrs["finished"]
    assert dataset.sizes["episode"] > 0, "the docking was meant to touch"
    assert np.abs(linear - linear[0]).max() <= 1e-10 * linear_scale
    assert np.abs(angular - angular[0]).max() <= 1e-10 * angular_scale
    assert np.abs(energy - energy[0] - dataset.work.values).max() <= 1e-9 * energy.max()


@pytest.mark.full
@examples(25)
@given(content=dockings())
def test_momentum_is_kept_and_work_accounts_for_energy(run, content):
    """With delay, friction and unequal full inertias; the summary's own figures say the same."""
    dataset = run(content)
    check_conservation(content, dataset)
    summary = dockdyn.summarise(dataset)
    assert summary["linear_momentum_error"] <= 1e-10
    assert summary["angular_momentum_error"] <= 1e-10
    assert summary["work_energy_error"] <= 1e-9


@pytest.mark.full
@examples(400)
@given(content=dockings())
def test_momentum_and_work_in_full(run, content):
    check_conservation(content, run(content))


@pytest.mark.full
@examples(60)
@given(content=dockings(), frame=frames())
def test_frames_and_roles_in_full(run, content, frame):
    here = contact_numbers(run(content))
    for other in (moved(content, *frame), swapped(content)):
        assert contact_numbers(run(other)) == pytest.approx(here, rel=0, abs=SAME_CONTACTS)


@pytest.mark.full
def test_a_delay_feeds_energy_and_the_account_still_closes(run):
    """A spring whose force comes late returns more than it took; so the balances above are not about a passive case only."""
    content = ONE_DOCKING | {"loop": {"delay": 0.08}}
    dataset = run(content, **{"contact.tip.normal.damping": 0, "contact.tip.friction.coefficient": 0})
    summary = dockdyn.summarise(dataset)
    assert set(summary["energy_class"]) == {"active"}
    check_conservation(content, dataset)


# Rounding only: positions are rounded to 1e-15 m here and 1e-14 m in the moved scene, the ball closes at 0.02 m/s or more,
# so times differ by 1e-12 s; every further contact multiplies by ten or so. But rounding also decides, now and then, whether
# a step is accepted, and then the integrator's own error shows: 1e-8, as in the comparison with DOP853.
SAME_CONTACTS = 1e-8
CREEP = 1e-5  # m/s, the regularisation of friction that is not stated


@pytest.mark.full
@examples(12)
@given(content=dockings(), frame=frames())
def test_contacts_do_not_depend_on_the_frame(run, content, frame):
    turn, shift, boost = frame
    here, there = run(content), run(moved(content, turn, shift, boost))
    assert here.sizes["episode"] == there.sizes["episode"] > 0
    assert contact_numbers(there) == pytest.approx(contact_numbers(here), rel=0, abs=SAME_CONTACTS)
    carried = turn.apply(here.position.values.reshape(-1, 3)).reshape(here.position.shape)
    expected = carried + shift + here.time.values[:, None, None] * boost
    assert np.abs(there.position.values - expected).max() < SAME_CONTACTS
    assert np.abs(there.rate.values - here.rate.values).max() < SAME_CONTACTS


def in_other_units(content):
    """The same scenario in grams, millimetres, degrees and minutes (kilonewtons and milliseconds where forces come in)."""
    content = copy.deepcopy(content)

    def texts(values, factor, unit):
        if isinstance(values, list | tuple | np.ndarray):
            return [texts(value, factor, unit) for value in values]
        return f"{float(values) * float(factor)!r} {unit}"

    for name in ("chaser", "target"):
        body = content[name]
        body["mass"] = texts(body["mass"], 1e3, "g")
        body["inertia"] = texts(body["inertia"], 1e9, "g mm²")
        body["position"] = texts(body["position"], 1e3, "mm")
        body["velocity"] = texts(body["velocity"], 60e3, "mm/min")
        body["rate"] = texts(body["rate"], np.degrees(60.0), "deg/min")
    (tip,), (wall,) = content["chaser"]["feature"].values(), content["target"]["surface"].values()
    tip["position"], tip["radius"] = texts(tip["position"], 1e3, "mm"), texts(tip["radius"], 1e2, "cm")
    wall["apex"], wall["half_angle"] = (
        texts(wall["apex"], 1e-3, "km"),
        texts(wall["half_angle"], np.degrees(1.0), "deg"),
    )
    law = content["contact"]["tip"]["normal"]
    law["stiffness"] = texts(law["stiffness"], 1e-6, "kN/mm")
    law["damping"] = texts(law["damping"], 1e-6, "kN s/mm")
    content["contact"]["tip"]["friction"]["coefficient"] = texts(
        content["contact"]["tip"]["friction"]["coefficient"], 100, "percent"
    )
    content["duration"] = texts(content["duration"], 1 / 60, "min")
    content["loop"] = {"delay": texts(content["loop"]["delay"], 1e3, "ms")}
    content["integrator"] = {"step": texts(content["integrator"]["step"], 1e6, "us")}
    content["output"] = {"interval": texts(content["output"]["interval"], 1 / 3600, "h")}
    return content


@pytest.mark.full
@examples(12)
@given(content=dockings())
def test_units_do_not_matter(run, content):
    """To 1e-12 of everything: unit conversion rounds once, at 1e-16. One contact, since every further one multiplies.

    At a stated step: where the integrator chooses, rounding decides now and then whether a step is accepted, and the
    results differ by the integrator's own error, 1e-10.
    """
    content = content | {"duration": 1.0, "integrator": {"step": 0.005}}
    here, there = run(content), run(in_other_units(content))
    assert here.sizes["episode"] > 0
    for name in ("position", "attitude", "velocity", "rate", "depth", "kinetic_energy", "contact_force"):
        scale = np.abs(here[name].values).max()
        assert np.abs(there[name].values - here[name].values).max() <= 1e-12 * max(scale, 1e-3), name


@pytest.mark.full
@examples(8)
@given(content=dockings())
def test_roles_can_be_exchanged(run, content):
    """The cone on the chaser and the ball on the target: the same motion, and the same force on the body with the ball.

    A contact that creeps turns what the motions differ by, m/s and rad/s on a lever of a metre, into μ F/ε of it.
    """
    here, there = run(content), run(swapped(content))
    assert here.sizes["episode"] == there.sizes["episode"] > 0
    assert contact_numbers(there) == pytest.approx(contact_numbers(here), rel=0, abs=SAME_CONTACTS)
    names = ("position", "attitude", "velocity", "rate")
    apart = {name: np.abs(there[name].values[:, ::-1] - here[name].values).max() for name in names}
    assert max(apart.values()) < SAME_CONTACTS, apart
    creeps = content["contact"]["tip"]["friction"]["coefficient"] / CREEP * (apart["velocity"] + apart["rate"])
    largest = np.abs(here.contact_force.values).max()
    assert np.abs(there.contact_force.values - here.contact_force.values).max() < (SAME_CONTACTS + creeps) * largest


# --- energy ----------------------------------------------------------------------------------------------------------


def spread_of_energy_errors(run, law, steps):
    """Root mean square, over several dockings, of the energy error that each fixed step makes in a lossless contact."""
    errors = []
    for seed in range(6):
        pick = np.random.default_rng(100 + seed).uniform
        content = docking(pick, law, delay=0.0, friction=0.0, frequency=6.0, damped=False)
        errors.append([dockdyn.summarise(run(content, **{"integrator.step": step}))["energy_error"] for step in steps])
    return np.sqrt(np.mean(np.array(errors) ** 2, axis=0))


@pytest.mark.full
@pytest.mark.parametrize(
    ("law", "steps", "least", "most"),
    [
        # Smooth inside the contact and located at its ends: the order of the method, or one more.
        ("spring-dashpot", [64e-3, 32e-3, 16e-3, 8e-3], 4.8, 6.3),
        # k d^1.5 starts as (v τ)^1.5 and its fourth derivative as τ^-2.5. Steps at τ = dt, 2dt ... err by dt⁵ τ^-2.5, a
        # sum that the first steps dominate: dt^2.5, at onset and again at release, once the smooth part is below it.
        ("hertz", [8e-3, 4e-3, 2e-3, 1e-3], 2.2, 2.8),
    ],
)
def test_energy_error_falls_with_the_order(run, law, steps, least, most):
    errors = spread_of_energy_errors(run, law, steps)
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert least <= slope <= most, (slope, errors)
    assert errors[-1] > 1e-12, "round-off would flatten the slope"


@pytest.mark.full
@pytest.mark.parametrize("law", ["spring-dashpot", "hertz", "hunt-crossley", "force-stroke"])
def test_undelayed_contacts_are_passive(run, law):
    """Every clamped law with damping ≥ 0 and any friction only takes energy. (A compliance device is left out: its force
    depends on the direction of the normal in the chaser, which turns, and is then not a spring's.)"""

    @examples(10)
    @given(content=dockings(delay=0.0, law=law))
    def check(content):
        dataset = run(content)
        check_conservation(content, dataset)
        start = float(dataset.kinetic_energy[0])
        gains = dataset.episode_energy_gain.values
        assert np.all(gains[np.isfinite(gains)] <= 1e-9 * start)
        assert float(dataset.kinetic_energy.max()) <= start * (1 + 1e-9)

    check()


# --- repetition ------------------------------------------------------------------------------------------------------


@pytest.mark.full
@examples(4)
@given(content=dockings())
def test_a_run_repeats_bit_for_bit(run, content, tmp_path_factory):
    """The same scenario twice, and a third time from the text that the result itself carries."""
    first, again = run(content), run(content)
    file = tmp_path_factory.mktemp("again") / "resolved.toml"
    file.write_text(first.attrs["scenario"])
    third = dockdyn.simulate(dockdyn.load(file))
    for name in first.variables:
        assert first[name].values.tobytes() == again[name].values.tobytes() == third[name].values.tobytes(), name


def test_another_number_compiles_nothing(run):
    run(ONE_DOCKING)
    seen = []

    def listener(event, duration, **_):
        if "backend_compile" in event:
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        run(
            ONE_DOCKING,
            **{
                "body.chaser.mass": 1234,
                "contact.tip.normal.stiffness": 777,
                "contact.tip.friction.coefficient": 0.31,
                "body.target.surface.cone.half_angle": "56 deg",
                "loop.delay": "23 ms",
            },
        )
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert not seen

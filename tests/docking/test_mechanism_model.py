"""The model of a mechanism: balances, frames, order of the integrator, instants of events."""

from functools import cache

import numpy as np
import pytest
from mechanism_cases import (
    FOUR,
    PARTS,
    THREE,
    changed,
    energy_error,
    momentum_error,
    motion,
    moved,
    pressing,
    simulated,
)
from plain_tables import by_name, contacts_by_name
from scipy.spatial.transform import Rotation

DELAY = {"loop": {"delay": 0.02}}

# --- two bodies --------------------------------------------------------------------------------------------------------

CHASER = {
    "mass": 300.0,
    "inertia": [[60.0, 2.0, 1.0], [2.0, 80.0, -3.0], [1.0, -3.0, 90.0]],
    "position": [2.2, 0.1, -0.05],
    "velocity": [-0.12, 0.004, 0.006],
    "attitude": [0.02, 0.03, 1.0, -0.01],
    "rate": [0.02, -0.01, 0.015],
    "feature": {"tip": {"position": [0.5, 0.02, 0.0], "radius": 0.03}},
}
TARGET = {
    "mass": 800.0,
    "inertia": [200.0, 300.0, 310.0],
    "position": [0.0, 0.0, 0.0],
    "velocity": [0.0, 0.01, 0.0],
    "attitude": [1.0, 0.01, -0.02, 0.03],
    "rate": [-0.01, 0.004, 0.006],
    "surface": {"cone": {"shape": "cone", "apex": [1.0, 0, 0], "axis": [1, 0, 0], "half_angle": 0.8}},
}
TOUCH = {"between": ["tip", "cone"], **pressing(3e4, 1.5, 0.8, 0.3)}
PAIR = {"schema": 2, "duration": 8.0, "contact": contacts_by_name([TOUCH]), "output": {"interval": 0.05}}


def as_mechanism(chaser, target, **keys):
    return PAIR | {"body": {"chaser": chaser, "target": target}} | keys


@pytest.mark.full
def test_a_late_wrench_acts_at_the_groups_middle(load):
    """A late force of a single member acts at the present place of contact, that of several with the lever it had when it was
    decided: two points where one is do the same as that, two balls do not, in proportion to the radius."""

    def apart(radius):
        feature = {"name": "tip", **CHASER["feature"]["tip"], "radius": radius}
        twice = {"name": "tip", "radius": radius, "positions": [feature["position"]] * 2}
        half = {**TOUCH, **pressing(1.5e4, 1.5, 0.8, 0.3)}
        one, other = (
            motion(
                simulated(
                    load,
                    as_mechanism(
                        {**CHASER, "feature": by_name([tip])}, TARGET, **DELAY, contact=contacts_by_name([contact])
                    ),
                )
            )
            for tip, contact in ((feature, TOUCH), (twice, half))
        )
        assert np.ptp(one["rate"], axis=0).max() > 0.01  # rad/s: the contact turns the bodies
        return np.abs(other["rate"][-1] - one["rate"][-1]).max()

    assert apart(0.0) < 1e-9
    small, large = apart(0.002), apart(0.004)
    assert small > 1e-7 and large == pytest.approx(2 * small, rel=0.1)


@pytest.mark.full
@pytest.mark.parametrize("step", [0.05, 0.011])
def test_the_instant_of_a_first_touch_is_exact(load, step):
    """Bodies that do not turn close at a constant speed along the cone's normal, whatever the steps."""
    still = {"rate": [0.0, 0.0, 0.0], "attitude": [1.0, 0.0, 0.0, 0.0]}
    data = simulated(
        load,
        as_mechanism(
            CHASER | still | {"attitude": [0.0, 0.0, 1.0, 0.0]}, TARGET | still, integrator={"step": step}, duration=6.0
        ),
    )
    # half a turn about y: the tip is at −x and −z of its place
    tip = np.array(CHASER["position"]) + np.array([-1, 1, -1]) * CHASER["feature"]["tip"]["position"]
    offset, velocity = tip - [1.0, 0.0, 0.0], np.array(CHASER["velocity"]) - TARGET["velocity"]
    sin, cos = np.sin(0.8), np.cos(0.8)
    # x sin α − ρ cos α = r, with x and ρ² in powers of the time: (x sin α − r)² = ρ² cos² α
    along = np.polynomial.Polynomial([offset[0] * sin - 0.03, velocity[0] * sin])
    aside = sum(np.polynomial.Polynomial([offset[i], velocity[i]]) ** 2 for i in (1, 2))
    times = (along**2 - aside * cos**2).roots()
    first = min(t for t in np.real(times[np.isreal(times)]) if t > 0 and along(t) > 0)
    assert float(data.episode_onset[0]) == pytest.approx(first, abs=1e-11)


# --- balances --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(load):
    """Each made when it is first asked for."""
    cases = {"three, delayed": THREE, "four, delayed": changed(FOUR, **DELAY), "four": FOUR}
    return cache(lambda name: simulated(load, cases[name]))


NAMES = pytest.mark.parametrize(
    "name", ["three, delayed", pytest.param("four, delayed", marks=pytest.mark.full), "four"]
)


@pytest.mark.full_cases("three, delayed")
@NAMES
def test_momenta_and_energy(runs, name):
    """With friction, moments, brakes and delay; the delayed forces' work is in the balance."""
    data = runs(name)
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-9


@pytest.mark.full_cases("three, delayed")
@NAMES
def test_the_cases_are_worth_it(runs, name):
    """Every group touches, its wrench has a moment, friction slides, brakes slip, and the delay changes the motion."""
    data = runs(name)
    assert set(np.unique(data.episode_contact)) == {0, 1} and data.episode.size >= 4
    assert (np.abs(data.contact_moment).max(("time", "axis")) > 0.1).all()
    assert np.ptp(data.work.values) > 0.05 * float(data.kinetic_energy[0])
    if name == "three, delayed":
        assert float(np.abs(data.element_tension).max()) > 25.0
    if name == "four, delayed":
        assert np.abs(runs("four").position.values - data.position.values).max() > 1e-3


def test_loads_are_what_accelerates_a_body(runs):
    """The load reported at a point of a body is all that acts on it: its mean is the change of the body's momentum."""
    data = runs("four")
    body = list(data.body.values).index("visitor")
    turns = Rotation.from_quat(data.attitude[:, body], scalar_first=True)
    force = turns.apply(data.load_force.sel(point="visitor centre of mass").values)
    mass = FOUR["body"]["visitor"]["mass"]
    free = np.isclose(data.depth.values.max(axis=1), np.minimum(data.depth.values.max(axis=1), 0))
    # the springs alone act between samples in free flight: Simpson's rule on three samples
    start = np.flatnonzero(free[:-2] & free[1:-1] & free[2:])
    step = float(data.time[1] - data.time[0])
    impulse = step / 3 * (force[start] + 4 * force[start + 1] + force[start + 2])
    change = mass * (data.velocity.values[start + 2, body] - data.velocity.values[start, body])
    touched = np.array(
        [((data.episode_onset < t + 2 * step) & (data.episode_release > t)).any() for t in data.time[start]]
    )
    assert (~touched).sum() > 20
    np.testing.assert_allclose(impulse[~touched], change[~touched], rtol=0, atol=1e-5 * np.abs(change).max())


@pytest.mark.full
def test_kinks_inside_a_group_keep_the_delayed_motion_exact(load):
    """Where a further member begins to press, a linear law has a kink of which no event tells; it comes back one delay later.

    Steps of other lengths find it at other places; the motion is the same through four contacts that enlarge every difference.
    """
    case = changed(FOUR, **DELAY)
    for contact in case["contact"].values():
        contact["normal"] |= {"exponent": 1.0, "stiffness": 2e4}
    one, other = (simulated(load, case, {"output.interval": interval}) for interval in (0.05, 0.001))
    assert one.episode.size == other.episode.size >= 4
    for name in ("episode_onset", "episode_release"):
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-9)
    for name in PARTS:
        np.testing.assert_allclose(other[name].values[-1], one[name].values[-1], rtol=0, atol=1e-9)


# --- frames ----------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("loop", [{}, DELAY], ids=["at once", "delayed"])
def test_the_frame_does_not_matter(load, loop):
    """The scene turned, shifted and seen from a frame that moves: the same contacts, the same loads in the bodies' axes.

    With steps of one length: chosen ones differ by what rounding does to the estimate of their errors, and contacts enlarge
    that.
    """
    turn, shift, boost = [0.7, -1.1, 0.4], [30.0, -20.0, 5.0], [0.2, -0.1, 0.3]
    case = changed(FOUR, integrator={"step": 0.002}, **loop)
    here, there = simulated(load, case), simulated(load, moved(case, turn, shift, boost))
    for times in ("episode_onset", "episode_release"):
        np.testing.assert_allclose(there[times], here[times], rtol=0, atol=1e-9)
    rotation = Rotation.from_rotvec(turn)

    def turned(rows):
        return rotation.apply(rows.reshape(-1, 3)).reshape(rows.shape)

    seen = {
        "position": turned(here.position.values) + shift + here.time.values[:, None, None] * boost,
        "velocity": turned(here.velocity.values) + boost,
        "rate": here.rate.values,
        "contact_force": turned(here.contact_force.values),
        "contact_moment": turned(here.contact_moment.values),
        **{one: here[one].values for one in ("normal_force", "load_force", "load_moment", "internal_energy")},
    }
    for quantity, expected in seen.items():
        size = 1.0 if quantity in ("position", "velocity", "rate") else np.abs(expected).max()
        np.testing.assert_allclose(there[quantity], expected, rtol=0, atol=1e-8 * size, err_msg=quantity)


# --- order -----------------------------------------------------------------------------------------------------------


def located_case():
    """Groups of one member with laws that are smooth within, elements with events, and a delay."""
    case = changed(FOUR, duration=4.5, output={"interval": 0.5}, **DELAY)
    tips, feet = case["body"]["arm"]["feature"]["tips"], case["body"]["visitor"]["feature"]["feet"]
    tips |= {"copies": 1, "position": [0.3, 0.02, 0.03]}
    feet["positions"] = feet["positions"][:1]
    case["contact"]["tips"] |= pressing(4e3, 1.0, 0.5, 0.2, 0.05)
    case["contact"]["feet"] |= pressing(3e4, 2.0, 0.2, 0.2, 0.05)
    mount = case["bushing"]["mount"]
    mount["stiffness"] = [900.0, 400.0, 500.0]
    mount["slip"] = 18.0
    tether = case["strut"].pop("tether")
    case["cable"] = {"tether": tether | {"stiffness": 60.0, "free_length": 2.05}}
    return case


@pytest.mark.full
def test_the_integrator_keeps_its_order_through_events_of_all_sorts(load):
    """Contacts of two groups, a cable that becomes taut, a brake that slips, delayed wrenches and their images."""

    def final(step):
        data = simulated(load, located_case(), {"integrator.step": step})
        return np.concatenate([data[name].values[-1].ravel() for name in PARTS]), data

    best, data = final(0.00125)
    assert set(np.unique(data.episode_contact)) == {0, 1}
    tension = data.element_tension.values
    assert (tension[:, 1] == 0).any() and (tension[:, 1] > 0).any()
    steps = (0.04, 0.02, 0.01)
    errors = [np.abs(final(step)[0] - best).max() for step in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] >= 3.5, errors
    assert errors[-1] < 1e-6

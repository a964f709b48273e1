"""Impacts and captures of arms with large beams (Cyril et al.), the motion after them, and what is refused."""

import math

import numpy as np
import pytest
from helpers.refusals import refused
from struck_arms import AHEAD, DOWN, SEAT, modes, struck

import dockdyn

WRIST = {"body.hand.joint.locked": True}
HAND = {**WRIST, "body.payload.position": AHEAD, "latch.grip.anchor": [[0.1, 0, 0], SEAT]}
PIN = {"latch.grip.grip": "pin"}


def before_and_after(name="cyril-plastic", **changes):
    return struck(dockdyn.load(name, changes))


def free(changes):
    """The bodies before the latch has fallen in: those of the same arm without one."""
    data = dockdyn.load(
        "cyril-plastic", {key: value for key, value in changes.items() if "latch" not in key}
    ).resolved()
    data.pop("latch")
    return struck(dockdyn.load(data))[0]


# law and joint, modes: loss (J), normal and tangential impulse (N s), payload's rate after (deg/s)
PINS = [
    ({}, 0, 0.075580, 2.16140, 0.89548, -3.10261),
    ({}, 3, 0.045692, 1.30489, 0.53885, -3.06175),
    (HAND, 0, 0.146518, 2.89105, 0.44166, -2.94939),
    (HAND, 3, 0.084504, 1.88962, 0.08526, -2.99023),
]


@pytest.mark.full
@pytest.mark.parametrize(("changes", "count", "loss", "normal", "tangential", "rate"), PINS)
def test_a_plastic_pin(changes, count, loss, normal, tangential, rate):
    changes = {**PIN, **modes(count), **changes}
    first, (_, after) = free(changes), before_and_after(**changes)
    assert first.energy - after.energy == pytest.approx(loss, abs=6e-7)
    payload = dockdyn.load("cyril-plastic", changes).content.names().index("payload")
    pushed = -1000.0 * (after.velocity[payload] - first.velocity[payload])  # N s, on the hand
    seat = np.array(changes.get("latch.grip.anchor", [0, [0.0, -1.0, 0.0]])[1])
    along = pushed @ seat / np.linalg.norm(seat)
    assert along == pytest.approx(normal, abs=6e-6)
    assert np.linalg.norm(np.cross(pushed, seat)) == pytest.approx(tangential, abs=6e-6)
    assert math.degrees(after.rate[payload, 2]) == pytest.approx(rate, abs=6e-6)


@pytest.mark.full
def test_joint_rates_after_a_pin_of_rigid_links():
    loose = before_and_after(**{**PIN, **modes(0)})[1].trees[0]
    assert np.degrees(loose[2:6]) == pytest.approx([0.00226, 0.22785, -0.57363, 21.997], abs=6e-4)
    locked = before_and_after(**{**PIN, **modes(0), **HAND})[1].trees[0]
    assert np.degrees(locked[2:6]) == pytest.approx([0.00258, 0.02604, 0.30143, 0], abs=6e-6)


RATIOS = [(0.5, 0.5, {}), (0.5, 0.8, {}), (0.2, 0.5, {}), (0.5, 0.5, {"body.payload.position": DOWN})]


@pytest.mark.full
@pytest.mark.parametrize(("r_e", "r_f", "place"), RATIOS)
def test_ratios_that_exist(r_e, r_f, place):
    """The loss is r_E of that of a pin."""
    hand = HAND if not place else {**WRIST, **place}
    pin = free({**PIN, **hand}).energy - before_and_after(**{**PIN, **hand})[1].energy
    ratios = {"contact.hand-on-payload.impact.energy_ratio": r_e, "contact.hand-on-payload.impact.friction_ratio": r_f}
    first, after = before_and_after("cyril-r-e-r-f", **ratios, **place)
    assert first.energy - after.energy == pytest.approx(r_e * pin, rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(
    ("r_e", "r_f", "changes"),
    [(0.5, 0.8, {}), (0.2, 0.5, {"body.hand.joint.locked": False}), (0.5, 0.5, {"body.hand.joint.locked": False})],
)
def test_ratios_that_do_not_exist_are_refused(r_e, r_f, changes):
    changes |= {
        "contact.hand-on-payload.impact.energy_ratio": r_e,
        "contact.hand-on-payload.impact.friction_ratio": r_f,
        "duration": 0.1,
    }
    scenario = dockdyn.load("cyril-r-e-r-f", {"body.payload.position": DOWN, **changes})
    with refused(match="r_E"):
        dockdyn.simulate(scenario)


@pytest.fixture(scope="module")
def plastic():
    return dockdyn.simulate(dockdyn.load("cyril-plastic", {**modes(2), "duration": "40 s"}))


@pytest.mark.full
def test_motion_after_a_plastic_capture(plastic):
    """The arm stretches out, the payload turns back, nothing is lost."""
    summary = dockdyn.summarise(plastic)
    time = plastic.time.values

    def middle_of_crossings(values):
        (at,) = np.nonzero(np.diff(np.sign(values)))
        return time[at].mean()

    assert middle_of_crossings(plastic.joint_angle.sel(joint="link2").values) == pytest.approx(34.7, abs=0.1)
    (reversal,) = np.nonzero(np.diff(np.sign(plastic.rate.sel(body="payload").values[:, 2])))
    assert (time[reversal[0]] + time[reversal[0] + 1]) / 2 == pytest.approx(35.9, abs=0.1)
    assert 0.1 < np.abs(plastic.modal_coordinate.sel(mode=["link1 bend1", "link1 bend2"]).values.sum(1)).max() < 0.13
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10
    total = (plastic.kinetic_energy + plastic.internal_energy - plastic.work).values
    assert np.ptp(total) < 1e-8 * total[0]
    assert summary["captured"] and summary["capture_time_s"] == 0


@pytest.mark.full
def test_momentum_is_kept_whatever_the_tolerance(plastic):
    """`conserve`: to rounding at a coarse tolerance; the motion stays that of a fine one, as near as the tolerance lets it."""
    changes = {"integrator.conserve": "momentum", "integrator.tolerance": 1e-6, "duration": "10 s"}
    coarse = dockdyn.simulate(dockdyn.load("cyril-plastic", {**modes(2), **changes}))
    summary = dockdyn.summarise(coarse)
    assert summary["linear_momentum_error"] < 1e-13 and summary["angular_momentum_error"] < 1e-12
    total = (coarse.kinetic_energy + coarse.internal_energy - coarse.work).values
    assert np.ptp(total) > 1e-10 * total[0]  # the tolerance is coarse indeed
    shared = len(coarse.time) - 1  # the last is of the end
    assert (coarse.time.values[:shared] == plastic.time.values[:shared]).all()
    fine = plastic.joint_angle.values[:shared]
    np.testing.assert_allclose(coarse.joint_angle.values[:shared], fine, rtol=0, atol=1e-5)


@pytest.mark.full
def test_control_brings_the_arm_to_rest():
    """Settling times of rate damping with a wheel, and what the wheel takes up."""
    run = dockdyn.simulate(dockdyn.load("cyril-controlled", {"duration": "60 s"}))
    summary, time = dockdyn.summarise(run), run.time.values
    base = np.degrees(2 * np.abs(run.attitude.sel(body="spacecraft").values[:, 3]))
    assert summary["settling_time_s"] == pytest.approx(20, rel=0.1)
    assert time[np.flatnonzero(base > 0.05)[-1]] == pytest.approx(25.5, rel=0.1)
    assert base.max() == pytest.approx(0.145, rel=0.1)
    for name, limit in (("link1", 30), ("link2", 30), ("hand", 10)):
        assert float(abs(run.motor_effort.sel(motor=name)).max()) <= limit
    assert summary["angular_momentum_error"] < 1e-10  # the wheel's counted
    total = (run.kinetic_energy + run.internal_energy - run.work - run.control_work).values
    assert np.ptp(total) < 1e-8 * total[0]
    assert float(run.wheel_momentum[-1, 2]) != 0


@pytest.mark.full
def test_an_elastic_impact_keeps_energy_and_parts():
    run = dockdyn.simulate(dockdyn.load("cyril-elastic", {"duration": "0.5 s"}))
    assert abs(float(run.work[0])) < 1e-12 and float(run.depth[-1, 0]) < -1e-3
    assert np.abs(run.joint_rate.sel(joint="hand").values).max() < 1e-12  # locked, and stays so


@pytest.mark.full
def test_the_plane_is_that_of_space():
    """The same bodies in space move as in the plane; tumbling, they keep what they have."""
    changes = {**modes(1), "duration": "5 s"}
    plane, space = (
        dockdyn.simulate(dockdyn.load("cyril-controlled", {**changes, **more})) for more in ({}, {"motion": "space"})
    )
    for name in ("joint_angle", "modal_coordinate", "wheel_momentum", "position"):
        size = np.abs(plane[name].values).max()
        np.testing.assert_allclose(space[name], plane[name], rtol=0, atol=1e-8 * size, err_msg=name)
    tumbling = {"motion": "space", **modes(0), "body.spacecraft.rate": [0.02, -0.01, 0.015], "duration": "20 s"}
    run = dockdyn.simulate(dockdyn.load("cyril-controlled", tumbling))
    summary = dockdyn.summarise(run)
    assert float(np.abs(run.wheel_momentum[-1]).min()) > 1
    assert summary["angular_momentum_error"] < 1e-9 and summary["linear_momentum_error"] < 1e-9


@pytest.mark.full
def test_the_implicit_method_takes_the_same_way():
    changes = {**modes(1), "duration": "2 s", "output.interval": "50 ms", "integrator.tolerance": 1e-9}
    found = [
        dockdyn.simulate(dockdyn.load("cyril-plastic", {**changes, "integrator.method": one}))
        for one in ("adaptive", "implicit", "located")
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.time, found[0].time, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.joint_angle[1:], found[0].joint_angle[1:], rtol=0, atol=1e-6)


@pytest.mark.full
def test_a_contact_that_would_touch_again_is_told():
    """The vibrating tip comes back: what the adaptive method does not see the located one does."""
    changes = {
        **modes(2),
        "contact.hand-on-payload.impact.restitution": 0.5,
        "body.payload.position": DOWN,
        "duration": "1.5 s",
    }
    once = dockdyn.simulate(dockdyn.load("cyril-elastic", changes))
    again = dockdyn.simulate(
        dockdyn.load("cyril-elastic", {**changes, "integrator.method": "located", "integrator.tolerance": 1e-8})
    )
    assert any("would touch again" in words for words in dockdyn.summarise(once)["warnings"])
    assert again.sizes["episode"] > once.sizes["episode"] == 1
    assert float(again.depth.max()) < 1e-6 < float(once.depth.max())


@pytest.mark.parametrize(
    ("preset", "overrides", "words"),
    [
        ("cyril-plastic", {"body.link1.flexible.bending_stiffness": [0, 1]}, "bending_stiffness"),
        ("cyril-plastic", {"body.link1.flexible.basis": "legendre"}, "basis"),
        ("cyril-plastic", {"body.link1.flexible.damping_ratio": 0.1}, "damping_ratio: unknown key"),
        ("cyril-plastic", {"body.link1.flexible.bending_modes": [99, 0]}, "bending_modes"),
        ("cyril-plastic", {"body.link1.flexible.bending_modes": [2, 1]}, "in the plane a beam bends along y alone"),
        ("cyril-plastic", {"body.link1.mass": 19.0}, "the beam has 20 kg of the body's 19 kg"),
        (
            "cyril-plastic",
            {"body.link2.joint.position": [4.3, 0, 0]},
            r"body.link2.joint: is 8.365 m along the beam of 'link1'",
        ),
        ("cyril-plastic", {"body.link2.joint.axis": [0, 1, 0]}, "motion = 'plane' asks for one along z"),
        ("cyril-plastic", {"body.payload.rate": [0, 0.1, 0]}, "body.payload.rate: leaves the plane"),
        ("cyril-plastic", {"body.link1.joint.moved_inertia": 1.0}, "motors reflect no inertia"),
        ("cyril-plastic", {"loop.delay": 0.01}, "loop.delay"),
        ("cyril-plastic", {"integrator.step": 0.01}, "integrator.step"),
        ("cyril-plastic", {"phase": {"one": {}}}, "phases begin at instants"),
        (
            "cyril-elastic",
            {
                "contact.hand-on-payload.impact": None,
                "contact.hand-on-payload.normal": {"law": "spring-dashpot", "stiffness": 1e4},
            },
            "must be located",
        ),
        ("flexible-pair-in-orbit", {"integrator.conserve": "momentum"}, "gravity along the orbit changes momentum"),
        (
            "berthing-3d",
            {
                "body.boom2.flexible": {
                    "kind": "beam",
                    "root": [-2.5, 0, 0],
                    "axis": [1, 0, 0],
                    "across": [0, 1, 0],
                    "length": 5.0,
                    "mass_per_length": 8.0,
                    "bending_stiffness": [5e4, 5e4],
                }
            },
            "asks for a beam with a basis",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(preset, overrides, words):
    with refused(match=words):
        dockdyn.load(preset, overrides)


@pytest.mark.full
def test_a_latch_that_does_not_hold_at_once_is_refused():
    scenario = dockdyn.load("cyril-plastic", {"body.payload.position": [0, 19.0, 0], "duration": 1.0, **modes(0)})
    with pytest.raises(dockdyn.ScenarioError, match="'grip' does not hold at t = 0"):
        dockdyn.simulate(scenario)

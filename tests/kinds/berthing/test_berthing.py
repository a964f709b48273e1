"""Berthing of a flexible arm with a payload (Cyril et al.): impacts, the motion after them, control, refusals."""

import math
import re

import numpy as np
import pytest
from places import DOCS

import dockdyn
from dockdyn.kinds.berthing.run import build, strike
from dockdyn.pages import report_html

RESULTS = (DOCS / "results.md").read_text(encoding="utf-8")
HAND = {"impact.normal": "hand", "impact.lock": ["theta4"]}


def struck(name="cyril-plastic", **changes):
    found, _ = strike(build(dockdyn.load(name, changes).content))
    return found


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def turned(degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s], [s, c]])


# law and joint, modes: loss (J), normal and tangential impulse (N s), payload's rate after (deg/s)
PINS = [
    ({}, 0, 0.075580, 2.16140, 0.89548, -3.10261),
    ({}, 3, 0.045692, 1.30489, 0.53885, -3.06175),
    (HAND, 0, 0.146518, 2.89105, 0.44166, -2.94939),
    (HAND, 3, 0.084504, 1.88962, 0.08526, -2.99023),
]


@pytest.mark.parametrize(("changes", "modes", "loss", "normal", "tangential", "rate"), PINS)
def test_plastic_pin(changes, modes, loss, normal, tangential, rate):
    found = struck(**{"impact.law": "pin", "flexible.modes": modes, **changes})
    assert float(found.impact.energy_loss) == pytest.approx(loss, abs=6e-7)
    assert float(found.impact.impulse[0]) == pytest.approx(normal, abs=6e-6)
    assert abs(float(found.impact.impulse[1])) == pytest.approx(tangential, abs=6e-6)
    assert math.degrees(found.velocities[1][2]) == pytest.approx(rate, abs=6e-6)


@pytest.mark.full
@pytest.mark.parametrize("changes", [{"impact.law": "pin"}, {"impact.law": "pin", **HAND}])
def test_the_impulse_of_fewer_modes_is_that_of_a_model_with_fewer(changes):
    """Also where a joint is locked first."""
    more, fewer = (struck(**{**changes, "flexible.modes": modes}) for modes in (3, 2))
    np.testing.assert_allclose(more.fewer, fewer.impact.impulse, rtol=1e-10)
    assert struck(**{**changes, "flexible.modes": 0}).fewer is None


def test_joint_rates_after_a_pin_of_rigid_links():
    free = struck(**{"impact.law": "pin", "flexible.modes": 0}).velocities[0]
    assert np.degrees(free[2:6]) == pytest.approx([0.00226, 0.22785, -0.57363, 21.997], abs=6e-4)
    locked = struck(**{"impact.law": "pin", "flexible.modes": 0, **HAND}).velocities[0]
    assert np.degrees(locked[2:6]) == pytest.approx([0.00258, 0.02604, 0.30143, 0], abs=6e-6)


@pytest.mark.parametrize(
    ("r_e", "r_f", "changes"),
    [(0.5, 0.5, HAND), (0.5, 0.8, HAND), (0.2, 0.5, HAND), (0.5, 0.5, {"impact.lock": ["theta4"]})],
)
def test_ratios_that_exist(r_e, r_f, changes):
    """The loss is r_E of the plastic one, the friction impulse r_f of it, and Newton's coefficient stays below 1."""
    pin = struck(**{"impact.law": "pin", **changes}).impact
    found = struck("cyril-r-e-r-f", **{"impact.r_e": r_e, "impact.r_f": r_f, "impact.normal": "y", **changes}).impact
    assert float(found.energy_loss) == pytest.approx(r_e * float(pin.energy_loss), rel=1e-10)
    assert float(found.impulse[1]) == pytest.approx(r_f * float(pin.impulse[1]), rel=1e-10)
    assert 0 <= float(found.newton) <= 1


@pytest.mark.parametrize(
    ("r_e", "r_f", "changes"),
    [(0.5, 0.8, {"impact.lock": ["theta4"]}), (0.2, 0.5, {"impact.lock": []}), (0.5, 0.5, {"impact.lock": []})],
)
def test_ratios_that_do_not_exist_are_refused(r_e, r_f, changes):
    scenario = dockdyn.load("cyril-r-e-r-f", {"impact.r_e": r_e, "impact.r_f": r_f, "impact.normal": "y", **changes})
    with pytest.raises(dockdyn.ScenarioError, match="r_E") as caught:
        dockdyn.simulate(scenario)
    assert "\n" not in str(caught.value)


def test_momentum_through_the_impact():
    """Of both, rigid and written out: masses at their places, the arm's links as rods."""
    content = dockdyn.load("cyril-plastic", {"flexible.modes": 0}).content
    model = build(content)
    _, state = strike(model)
    found = []
    for v in ([side.velocities for side in model.sides], state.v):
        v0, v1 = np.asarray(v[0]), np.asarray(v[1])
        # velocities and places of the chaser's bodies from angles that add up
        angles, rates = np.cumsum([0, 67.3, 45.4, 0]), np.cumsum(v0[2:6])
        place, speed = np.array([0.0, 2.45]), v0[:2] + v0[2] * np.array([-2.45, 0.0])
        momentum, turning = 10000 * v0[:2], 40000 * v0[2]
        for mass, length, angle, rate in ((20, 8.13, *pair) for pair in zip(angles[1:3], rates[1:3], strict=True)):
            along, across = turned(angle) @ [length, 0], turned(angle + 90) @ [length, 0]
            middle = speed + across * rate / 2
            momentum = momentum + mass * middle
            turning += mass * cross(place + along / 2, middle) + mass * length**2 / 12 * rate
            place, speed = place + along, speed + across * rate
        along, across = turned(angles[3]) @ [0.1, 0], turned(angles[3] + 90) @ [0.1, 0]
        momentum = momentum + 0.2 * (speed + across * rates[3])
        turning += 0.2 * cross(place + along, speed + across * rates[3]) + 0.2 * 0.2**2 / 12 * rates[3]
        payload = place + 2 * along + np.array([0.0, 1.0])
        momentum = momentum + 1000 * v1[:2]
        turning += 1000 * cross(payload, v1[:2]) + 500 * v1[2]
        found.append([*momentum, turning])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-10)
    assert found[0][:2] == pytest.approx([-2.004428, 1.926514], abs=1e-6)


@pytest.fixture(scope="module")
def plastic(shared_run):
    return shared_run("cyril-plastic", {"flexible.modes": 2, "duration": "40 s"})


@pytest.fixture(scope="module")
def controlled():
    return dockdyn.simulate(dockdyn.load("cyril-controlled", {"duration": "60 s"}))


def test_motion_after_a_plastic_capture(plastic):
    """The arm stretches out, the payload turns back, nothing is lost."""
    summary = dockdyn.summarise(plastic)
    time = plastic.time.values

    def middle_of_crossings(values):
        (at,) = np.nonzero(np.diff(np.sign(values)))
        return time[at].mean()

    assert middle_of_crossings(plastic.joint_angle.sel(joint="theta3").values) == pytest.approx(34.7, abs=0.1)
    (reversal,) = np.nonzero(np.diff(np.sign(plastic.target_coordinate_rate[:, 2].values)))
    assert (time[reversal[0]] + time[reversal[0] + 1]) / 2 == pytest.approx(35.9, abs=0.1)
    assert 0.1 < max(summary["peak_tip_deflection_m"].values()) < 0.13
    assert summary["linear_momentum_error"] < 1e-10
    assert summary["angular_momentum_error"] < 1e-10
    assert summary["energy_error"] < 1e-8
    assert summary["captured"] and summary["capture_time_s"] == 0
    frames = plastic.outline.values  # what was welded stays together
    apart = np.linalg.norm(frames[:, 0, -1] - frames[:, 1, 1], axis=-1)
    assert apart.max() < 1e-9


@pytest.mark.full
def test_momentum_is_kept_whatever_the_tolerance(plastic):
    """`conserve`: to rounding at a coarse tolerance; the motion stays that of a fine one, as near as the tolerance lets it."""
    changes = {
        "integrator.conserve": "momentum",
        "integrator.tolerance": 1e-6,
        "duration": "10 s",
        "output.interval": "0.1 s",
    }
    coarse = dockdyn.simulate(dockdyn.load("cyril-plastic", {"flexible.modes": plastic.sizes["mode"] // 2, **changes}))
    summary = dockdyn.summarise(coarse)
    assert summary["linear_momentum_error"] < 1e-13 and summary["angular_momentum_error"] < 1e-12
    assert summary["energy_error"] > 1e-10  # the tolerance is coarse indeed
    shared, mine, theirs = np.intersect1d(
        coarse.time.values.round(9), plastic.time.values.round(9), return_indices=True
    )
    assert len(shared) > 20
    fine = plastic.joint_angle.values[theirs]
    np.testing.assert_allclose(coarse.joint_angle.values[mine], fine, rtol=0, atol=1e-5)


@pytest.mark.full
def test_control_brings_the_arm_to_rest(controlled):
    """Settling times of rate damping with a wheel, and what the wheel takes up."""
    summary = dockdyn.summarise(controlled)
    time = controlled.time.values
    base = np.degrees(2 * np.abs(controlled.base_attitude[:, 0, 3].values))
    assert summary["settling_time_s"] == pytest.approx(20, rel=0.1)
    assert time[np.flatnonzero(base > 0.05)[-1]] == pytest.approx(25.5, rel=0.1)
    deflected = controlled.tip_deflection.values.max(axis=1)
    assert time[np.flatnonzero(deflected > 0.01)[-1]] == pytest.approx(13.5, rel=0.1)
    assert base.max() == pytest.approx(0.145, rel=0.1)
    limits = {"base.yaw": 5, "theta2": 30, "theta3": 30, "theta4": 10}
    for name, limit in limits.items():
        assert float(abs(controlled.torque.sel(coordinate=name)).max()) <= limit
    assert summary["angular_momentum_error"] < 1e-10  # the wheel's counted
    assert summary["energy_error"] < 1e-8  # the work of control counted
    assert float(controlled.wheel_momentum[-1, 2]) != 0


@pytest.mark.full
def test_an_elastic_impact_keeps_energy_and_parts():
    dataset = dockdyn.simulate(dockdyn.load("cyril-elastic", {"duration": "0.5 s"}))
    summary = dockdyn.summarise(dataset)
    impact = summary["impacts"][0]
    assert not summary["captured"]
    assert impact["restitution"]["newton"] == pytest.approx(1)
    assert abs(impact["energy_loss_J"] - float(dataset.lock_energy_loss)) < 1e-12
    frames = dataset.outline.values
    gap = (frames[:, 0, -1] - frames[:, 1, 1])[-1]
    hand = frames[0, 0, -1] - frames[0, 0, -2]
    assert gap @ hand < 0  # away from the payload, which lies ahead of the hand
    assert np.abs(dataset.coordinate_rate.sel(coordinate="theta4").values).max() < 1e-12  # locked, and stays so


def test_results_are_documented(plastic):
    summary = dockdyn.summarise(plastic)
    for key in [*plastic.data_vars, *plastic.attrs, *summary, *summary["impacts"][0]]:
        assert f"`{key}`" in RESULTS, key


@pytest.mark.full
def test_report_of_a_controlled_arm(controlled):
    said = re.sub(r"<(svg|style|script).*?</\1>", " ", report_html(controlled), flags=re.S)
    said = " ".join(re.sub(r"<[^>]+>", " ", said).split())
    for words in (
        "Joined by the impact (weld)",
        "Joint rates below 0.05 deg/s after",
        "link1.bend1",
        "Torques of control",
        "Velocities around the impact",
        "coordinate before after at the end unit",
    ):
        assert words in said
    assert "Met again" not in said and "Spells of rest" not in said
    assert not re.search(r"\bnan\b|None|http", said)


@pytest.mark.full
def test_the_command_runs(dock, tmp_path):
    changes = ("--set", "flexible.modes=2", "--set", "duration=1 s")
    result = dock("run", "cyril-plastic", *changes, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert "Joined by the impact (weld)" in " ".join(result.stdout.split())
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"impact.lock": ["theta9"]}, "theta9.*no joint"),
        ({"chaser.link.link1.beam.bending": 0}, "bending"),
        ({"chaser.link.link2.parent": "nobody"}, "nobody"),
        ({"chaser.link.link1.parent": "hand"}, "loop"),
        ({"chaser.link.hand.mass": 0}, "mass"),
        ({"contact.chaser": "finger"}, "finger.*no link"),
        ({"impact.law": "energetic"}, "needs restitution"),
        ({"impact.restitution": 0.5}, "has no restitution"),
        ({"control": {"law": "rate-damping", "damping": [1, 2]}}, "2 entries for 3 joints"),
        ({"flexible.modes": 99}, "flexible.modes"),
        ({"contact.target_position": [0, 1, 0]}, "give not both"),
        ({"chaser.link.hand.at": "tip", "chaser.link.hand.parent": "spacecraft"}, "has no beam"),
    ],
)
def test_wrong_berthings_are_refused_in_one_line(overrides, words):
    with pytest.raises(dockdyn.ScenarioError, match=words) as caught:
        dockdyn.load("cyril-plastic", overrides)
    assert "\n" not in str(caught.value)


def test_what_does_not_meet_is_refused():
    scenario = dockdyn.load("cyril-plastic", {"target.velocity": [0, 1, 0], "flexible.modes": 2})
    with pytest.raises(dockdyn.ScenarioError, match="does not approach"):
        dockdyn.simulate(scenario)


@pytest.mark.full
def test_momentum_in_space_with_a_wheel():
    """Everything turns about all axes; the wheel's momentum turns with the base."""
    changes = {"motion": "free", "flexible.modes": 0, "chaser.rate": [0.02, -0.01, 0.015], "duration": "20 s"}
    dataset = dockdyn.simulate(dockdyn.load("cyril-controlled", changes))
    summary = dockdyn.summarise(dataset)
    assert float(np.abs(dataset.wheel_momentum[-1]).min()) > 1
    assert summary["angular_momentum_error"] < 1e-9
    assert summary["linear_momentum_error"] < 1e-9
    assert summary["energy_error"] < 1e-7
    frames = dataset.outline.values
    apart = np.linalg.norm(frames[:, 0, -1] - frames[:, 1, 1], axis=-1)
    assert apart.max() < 1e-9

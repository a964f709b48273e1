"""Compliant catches of latches: closed forms of a damped oscillator, SciPy's DOP853, what a run says of a capture."""

import math

import jax
import numpy as np
import pytest
from helpers.refusals import refused
from latched_docking import INERTIA, MASS, SLOPE, START, TIP, latched, matrix
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar
from vectors import cross

import dockdyn
from dockdyn.contact.laws.hertz import Hertz
from dockdyn.contact.laws.hunt_crossley import HuntCrossley
from dockdyn.contact.laws.linearised import linearise_law
from dockdyn.programs import Program
from dockdyn.scenario.load import parse
from dockdyn.studies.cases.batch import figures_of_case, run_cases

MORE = """
ends_run = {ends_run}
{catch}
[contact.tip]
between = ["tip", "cone"]
normal = {{ law = "spring-dashpot", stiffness = 2e4, damping = {wall} }}
[output]
interval = "2 ms"
"""


def scenario(
    speed=0.3, hold="pin", rate=(0, 0, 0), z=0.0, sideways=0.0, duration=3.0, wall=300.0, ends_run=False, **catch
):
    """The approach along x; `catch` are keys of the latch, or `law` for a rigid hold."""
    grip = hold if catch.pop("law", "") == "rigid" else {"pin": "compliant", "weld": "compliant-weld"}[hold]
    lines = [f"{key} = {float(value)!r}" for key, value in catch.items()]
    more = MORE.format(ends_run=str(ends_run).lower(), catch="\n".join(lines), wall=wall)
    return parse(latched(speed, more, grip, rate, z, sideways, duration), "catch")


def flown(**changes):
    return dockdyn.simulate(scenario(**changes))


@pytest.mark.full
@pytest.mark.parametrize("ratio", [0.05, 0.2, 0.8])
def test_a_capture_on_the_axis_is_a_damped_oscillation(ratio):
    """m ẍ + c ẋ + k x = 0 from rest at the speed of the capture: peak force, its time, travel, impulse, energies."""
    stiffness = 40000.0
    natural = math.sqrt(stiffness / MASS)
    damping = 2 * ratio * MASS * natural
    dataset = flown(stiffness=stiffness, damping=damping, stroke=1.0)  # which it does not reach
    summary = dockdyn.summarise(dataset)
    began, speed = summary["capture_time_s"], float(dataset.capture_speed)
    s = complex(-ratio * natural, natural * math.sqrt(1 - ratio**2))  # x = v/ω Im exp(s t)

    def motion(t, order=0):
        return speed / s.imag * (s**order * np.exp(s * np.asarray(t))).imag

    # −m ẍ is greatest where the third derivative vanishes, or at once where the damper governs
    angle = math.atan2(s.imag, -s.real)
    when = max(3 * angle - math.pi, 0.0) / s.imag
    assert summary["latch.peak_force_N"] == pytest.approx(-MASS * motion(when, 2), rel=1e-8)
    assert summary["latch.peak_time_s"] - began == pytest.approx(when, abs=1e-6)
    assert summary["peak_force_N"] == summary["latch.peak_force_N"]
    assert summary["latch.grip_travel_m"] == pytest.approx(motion(angle / s.imag), rel=1e-8)
    assert summary["peak_force_known"] is True
    after = dataset.isel(time=dataset.time > began)
    time = after.time.values - began
    np.testing.assert_allclose(after.hold_force.values[:, 0], -MASS * motion(time, 2), atol=1e-7 * stiffness * speed)
    closing = after.velocity.values[:, 1, 0] - after.velocity.values[:, 0, 0]
    np.testing.assert_allclose(closing, motion(time, 1), atol=1e-9 * speed)
    # impulse: of the whole history until the relative motion first stops, which is m v
    stop = np.argmax(closing < 0)
    given = np.trapezoid(after.hold_force.values[:stop, 0], time[:stop])
    assert given == pytest.approx(MASS * (closing[0] - closing[stop - 1]), rel=1e-4)
    assert summary["latch.impulse_along_N_s"] == pytest.approx(MASS * speed, rel=1e-9)
    assert summary["latch.energy_loss_J"] == pytest.approx(0.5 * MASS * speed**2, rel=1e-9)
    left = 0.5 * MASS * motion(time[-1], 1) ** 2 + summary["latch.grip_stored_energy_J"]
    assert summary["latch.grip_stored_energy_J"] == pytest.approx(0.5 * stiffness * motion(time[-1]) ** 2, abs=1e-9)
    assert left + summary["latch.grip_dissipated_energy_J"] == pytest.approx(summary["latch.energy_loss_J"], rel=1e-8)
    assert summary["linear_momentum_error"] < 1e-13
    assert summary["work_energy_error"] < 1e-9


@pytest.mark.full
def test_a_stiff_catch_tends_to_the_rigid_hold():
    """Velocities after, impulse and loss of the constraint, off the axis, within what the stiffness leaves."""
    aside = {"rate": (0.05, -0.02, 0.03), "z": 0.012}
    rigid = flown(law="rigid", **aside)
    found = []
    for stiffness in (1e7, 1.6e8):
        stiff = flown(stiffness=stiffness, damping=1.4 * math.sqrt(stiffness * MASS), **aside)
        for name in ("capture_time", "capture_impulse_along", "capture_impulse_across", "capture_loss"):
            assert float(stiff[name]) == pytest.approx(float(rigid[name]), rel=1e-9)
        times = stiff.time > float(stiff.capture_time) + 0.2
        found.append(
            max(np.abs(stiff[name].values[times] - rigid[name].values[times]).max() for name in ("velocity", "rate"))
        )
        assert float(stiff.catch_dissipated_end) == pytest.approx(float(rigid.capture_loss), rel=1e-3)
    # what the tip moves meanwhile goes with the root of the softness
    assert found[0] < 1e-5
    assert found[1] == pytest.approx(found[0] / 4, rel=0.02)


def turned(rotation):
    """The rotation vector of a matrix."""
    cosine = np.clip((np.trace(rotation) - 1) / 2, -1, 1)
    axis = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    sine = np.linalg.norm(axis) / 2
    return axis / 2 * (np.arctan2(sine, cosine) / sine if sine > 1e-12 else 1.0)


class TwoBodies:
    """The same docking, written anew: forces on the tip's body as vectors, DOP853 of SciPy."""

    bodies = ((700.0, INERTIA), (1500.0, np.diag([900.0, 1100.0, 1000.0])))
    stiffness, damping = 2e4, 300.0  # of the wall, and by default of the catch
    lever = 0.9  # m, the tip's distance from its body's centre of mass
    seat = None

    def split(self, y):
        one, other = y[:13], y[13:]
        return [(b[:3], matrix(b[3:7]), b[7:10], b[10:13]) for b in (one, other)]

    def tip(self, y):
        """Place and velocity of the tip and of the cone's body there, and the tip in that body's axes."""
        (p, rot, v, w), (p2, rot2, v2, w2) = self.split(y)
        place = p + rot @ TIP
        here = v + cross(rot @ w, place - p)
        there = v2 + cross(rot2 @ w2, place - p2)
        return place, here - there, rot2.T @ (place - p2) - np.array([0.5, 0, 0])

    def load(self, y):
        """Force and moment on the tip's body at the tip, inertial."""
        (_, rot, _, w), (p2, rot2, _, w2) = self.split(y)
        place, slip, local = self.tip(y)
        force, moment = np.zeros(3), np.zeros(3)
        if self.seat is None:
            if local[0] < 0.08:
                force += rot2[:, 0] * (3 + 1000 * SLOPE * (0.08 - local[0])) * SLOPE
        else:
            where, attitude = self.seat
            held, twist = self.hold(place - (p2 + rot2 @ where), slip, rot @ (rot2 @ attitude).T, rot @ w - rot2 @ w2)
            force, moment = force + held, moment + twist
        radius = np.hypot(local[1], local[2])
        sine, cosine = math.sin(math.radians(40)), math.cos(math.radians(40))
        depth = radius * cosine - local[0] * sine
        if depth > 0:
            out = rot2 @ (np.array([sine, 0, 0]) - cosine * np.array([0, local[1], local[2]]) / radius)
            force += out * max(self.stiffness * depth - self.damping * slip @ out, 0.0)
        return force, moment

    def hold(self, away, slip, turn, spin):
        turning = self.lever**2
        force = -self.stiffness * away - self.damping * slip
        return force, -turning * (self.stiffness * turned(turn) + self.damping * spin)

    def rates(self, t, y):
        force, moment = self.load(y)
        place = self.tip(y)[0]
        out = []
        for (p, rot, v, w), (mass, inertia), q, side in zip(
            self.split(y), self.bodies, (y[3:7], y[16:20]), (1, -1), strict=True
        ):
            torque = rot.T @ (cross(place - p, force) + moment) * side
            a, b = q[0], q[1:]
            spun = [-0.5 * (b @ w), *(0.5 * (a * w + cross(b, w)))]
            out += [*v, *spun, *(force * side / mass), *np.linalg.solve(inertia, torque - cross(w, inertia @ w))]
        return np.array(out)


@pytest.mark.full
def test_a_welded_tip_beside_the_axis_against_dop853():
    """Default catch, tip on the wall of the cone: motion, forces, moment and peaks."""
    dataset = flown(speed=0.25, hold="weld", rate=(0.04, -0.03, 0.02), z=0.02, sideways=0.06)
    summary = dockdyn.summarise(dataset)
    docking = TwoBodies()
    start = [*[START + 0.01, 0, 0.02], *[0, 0, 0, 1], *[-0.25, 0, 0.06], *[0.04, -0.03, 0.02]]
    start += [0, 0, 0, 1, 0, 0, 0, *[0] * 6]
    accuracy = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13, "dense_output": True}

    def falls_in(t, y):
        return 0.055 - docking.tip(y)[2][0]

    falls_in.terminal, falls_in.direction = True, 1
    before = solve_ivp(docking.rates, (0, 3), start, events=falls_in, max_step=5e-3, **accuracy)
    began, y = before.t[-1], before.y[:, -1]
    assert summary["capture_time_s"] == pytest.approx(began, abs=1e-7)
    (_, rot, _, _), (p2, rot2, _, _) = docking.split(y)
    docking.seat = rot2.T @ (docking.tip(y)[0] - p2), rot2.T @ rot
    after = solve_ivp(docking.rates, (began, 3), y, max_step=5e-3, **accuracy)
    end = dataset.isel(time=-1)
    for body, place in (("chaser", 0), ("target", 13)):
        mine = end.sel(body=body)
        np.testing.assert_allclose(mine.position, after.y[place : place + 3, -1], atol=1e-7)
        np.testing.assert_allclose(mine.velocity, after.y[place + 7 : place + 10, -1], atol=1e-6)
        np.testing.assert_allclose(mine.rate, after.y[place + 10 : place + 13, -1], atol=1e-6)

    def sizes(t):
        (_, rot, _, w), (p2, rot2, _, w2) = docking.split(after.sol(t))
        place, slip, _ = docking.tip(after.sol(t))
        where, attitude = docking.seat
        held = docking.hold(place - (p2 + rot2 @ where), slip, rot @ (rot2 @ attitude).T, rot @ w - rot2 @ w2)
        return [np.linalg.norm(each) for each in held]

    grid = np.linspace(began, 3, 3001)
    history = np.array([sizes(t) for t in grid])
    for column, name in enumerate(("latch.peak_force_N", "latch.peak_moment_N_m")):
        top = grid[np.clip(np.argmax(history[:, column]), 1, len(grid) - 2)]
        found = minimize_scalar(
            lambda t, column=column: -sizes(t)[column], bounds=(top - 1e-3, min(top + 1e-3, 3)), method="bounded"
        )
        assert summary[name] == pytest.approx(-found.fun, rel=1e-5)
    assert summary["latch.seat_peak_force_N"] > 10  # the wall took part
    assert summary["linear_momentum_error"] < 1e-13
    assert summary["angular_momentum_error"] < 1e-12
    assert summary["work_energy_error"] < 1e-8


PRESSED = {
    "speed": 0.2,
    "z": 0.04,
    "sideways": 0.08,
    "wall": 2000.0,
}  # a tip that is pushed along the wall into the latch


def pressed(**changes):
    return flown(**PRESSED, **changes)


@pytest.mark.full
def test_a_standing_preload_gives_no_impulse():
    """A tip that rests on the wall against its catch: both in balance, and the contact is that until the capture."""
    short, long = (dockdyn.summarise(pressed(duration=duration, damping=2000.0)) for duration in (2.5, 4.0))
    for name in ("contact.impulse_N_s", "contact.count", "energy_class", "latch.peak_force_N", "contacts"):
        assert short[name] == long[name]
    assert all(contact["release_s"] <= long["capture_time_s"] for contact in long["contacts"])
    assert long["contacts"][-1]["release_s"] == long["capture_time_s"]
    assert long["contact.impulse_N_s"] > 0
    dataset = pressed(duration=4.0, damping=2000.0)
    end = dataset.isel(time=-1)
    standing = long["latch.seat_force_end_N"]
    assert standing > 1
    # what the wall gives the tip, the catch takes: nothing is left but the pull of the bodies that turn about it
    assert np.linalg.norm(end.hold_force + end.contact_force.sum("contact")) < 0.05 * standing


@pytest.mark.full
def test_a_rigid_hold_carries_what_the_tip_pressed_on():
    """The contact ends with the capture: no force stands against the hold, no impulse grows."""
    dataset = pressed(law="rigid", duration=4.0)
    summary = dockdyn.summarise(dataset)
    after = dataset.isel(time=dataset.time > summary["capture_time_s"])
    assert float(after.depth.max()) > 1e-4
    assert np.all(after.normal_force == 0)
    assert summary["contacts"][-1]["release_s"] == summary["capture_time_s"]
    assert summary["contact.impulse_N_s"] == pytest.approx(
        dockdyn.summarise(pressed(duration=4.0))["contact.impulse_N_s"]
    )
    assert summary["work_energy_error"] < 1e-8


@pytest.mark.full
def test_a_rigid_hold_leaves_the_largest_force_open(dock, tmp_path):
    file = tmp_path / "rigid.toml"
    text = scenario(law="rigid", duration=1.0).text()
    file.write_text(text + '\n[requirements]\npeak_force = "< 1 kN"\nlatch.peak_force = "< 1 kN"\ncaptured = true\n')
    said = dock("run", file, "--check", "--out", tmp_path / "out")
    assert said.returncode == 4
    assert "peak_force < 1 kN: not decided" in said.stdout
    assert "latch.peak_force < 1 kN: not decided" in said.stdout
    assert "captured = true: met" in said.stdout
    assert "the largest loads do not have those of that instant" in said.stdout.replace("\n", " ")
    assert "not decided: peak_force, latch.peak_force" in said.stderr
    report = (tmp_path / "out" / "report.html").read_text()
    assert "not decided" in report and "the largest loads do not have those of that instant" in report


def test_a_catch_that_bottoms_or_a_run_that_is_cut_leaves_a_lower_bound():
    hard = dockdyn.summarise(flown(stiffness=40000.0, damping=0.0, stroke=0.01))
    assert hard["peak_force_known"] is False
    (warning,) = (words for words in hard["warnings"] if "lower bound" in words)
    assert "its stroke is 10 mm" in warning and f"{hard['latch.grip_travel_m'] * 1e3:.4g} mm" in warning
    cut = dockdyn.summarise(flown(stiffness=40000.0, damping=0.0, duration=hard["capture_time_s"] + 0.1))
    assert cut["peak_force_known"] is False
    assert any("before the catch's first swing is over" in words for words in cut["warnings"])


@pytest.mark.full
def test_cases_of_a_batch_have_the_figures_of_runs_and_end_after_the_first_swing():
    """`ends_run` ends a case with the first swing, π √(m/k) after the capture; its loads are those of the whole run."""
    stiffness = 40000.0
    keys = ("latch.capture.stroke", "body.chaser.velocity.0")
    rows = np.array([[0.08, -0.3], [0.01, -0.3], [0.08, -0.02]])
    stated = scenario(z=0.012, sideways=0.05, stiffness=stiffness, damping=500.0, stroke=0.08, ends_run=True)
    batch = run_cases(stated, keys, rows)
    assert batch.reasons == ["", "", ""]
    for row, (stroke, velocity) in enumerate(rows):
        whole = dockdyn.summarise(
            flown(speed=-velocity, z=0.012, sideways=0.05, stiffness=stiffness, damping=500.0, stroke=stroke)
        )
        if whole["captured"]:
            end = whole["capture_time_s"] + math.pi * math.sqrt(MASS / stiffness)
            assert batch.figures["end_time_s"][row] == pytest.approx(end, abs=1e-8)
        figures = figures_of_case(whole)
        for name, values in batch.figures.items():
            parts = ("count", "impulse", "onset", "peak", "grip_travel", "seat_peak", "speed_margin", "energy_loss")
            if name.startswith(
                ("capture", "peak", *(f"{table}.{part}" for table in ("contact", "latch") for part in parts))
            ):
                assert values[row] == pytest.approx(figures[name], rel=1e-6, abs=1e-9, nan_ok=True), name
    assert batch.figures["peak_force_known"].tolist() == [1, 0, 1]
    assert batch.figures["captured"].tolist() == [1, 1, 0]


@pytest.mark.full_cases("rigid")
@pytest.mark.parametrize("law", [pytest.param("compliant", marks=pytest.mark.full), "rigid"])
def test_what_contacts_did_to_the_energy_is_the_same_in_a_batch_and_a_run(law):
    """Without what the capture took; the contact lasts until the capture ends it."""
    stated = scenario(**PRESSED, **({"law": law} if law == "rigid" else {"damping": 2000.0}))
    whole = dockdyn.summarise(dockdyn.simulate(stated))["contact.energy_change_J"]
    batch = run_cases(stated, ("body.chaser.velocity.0",), np.array([[-0.2]]))
    found = [float(batch.figures[f"contact.energy_change_J.{end}"][0]) for end in ("least", "largest")]
    assert found == pytest.approx([min(whole), max(whole)], rel=1e-9)


@pytest.mark.parametrize("law", [Hertz, HuntCrossley])
def test_defaults_are_the_slopes_of_the_contact_where_it_bears_the_ramp(law):
    force, exponent, extra = 79.0, 1.5, {} if law is Hertz else {"damping": np.float64(0.7)}

    def slopes(stiffness):
        return linearise_law(law(stiffness=stiffness, exponent=np.float64(exponent), **extra), force, 0.1)

    stiffness = 3e8
    depth = (force / stiffness) ** (1 / exponent)
    (found, damping), slope = Program(lambda k: (slopes(k), jax.jacfwd(lambda k: slopes(k)[0])(k)))(stiffness)
    assert float(found) == pytest.approx(exponent * force / depth, rel=1e-12)
    assert float(damping) == pytest.approx(force * extra.get("damping", 0.0), rel=1e-12)
    # k_lin goes with k^(1/n)
    assert float(slope) == pytest.approx(float(found) / stiffness / exponent, rel=1e-10)


OTHER = {name: {"position": [1.6, 0, 0], "radius": 0.015} for name in ("probe", "other")}


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"latch.capture.grip": "soft"}, "latch.capture.grip"),
        ({"latch.capture.grip": "pin", "latch.capture.stiffness": 3}, "stiffness: a pin is rigid"),
        ({"latch.capture.grip": "compliant", "latch.capture.turning_stiffness": 3}, "holds turns freely"),
        ({"latch.capture.stiffness": 0}, "latch.capture.stiffness"),
        ({"latch.capture.stroke": "-1 mm"}, "latch.capture.stroke"),
        (
            {"latch.capture.feature": "other", "body.chaser.feature": OTHER},
            "no .*contact.* between 'other' and 'cone' tells it",
        ),
    ],
)
def test_wrong_catches_are_refused_in_one_line(overrides, words):
    with refused(match=words):
        dockdyn.load("probe-cone-latch", overrides)

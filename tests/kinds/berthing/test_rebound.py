"""Contact of trees after t = 0: repeated impacts, rest, compliant contact; against SciPy on a line and in the plane."""

import re

import numpy as np
import pytest
from places import DOCS
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.kinds.berthing.report import LISTED
from dockdyn.pages import report_html, report_of
from dockdyn.report.terminal import show_report

BASE, TIP, WALL, SPRING, DAMPER, SPEED = 40.0, 3.0, 25.0, 180.0, 2.0, 0.08  # kg, N/m, N s/m, m/s
RESTITUTION = 0.6
LINE = f"""
schema = 1
kind = "berthing"
title = "A sprung tip against a ball, on a line"
duration = "2 s"
motion = "planar"
output.interval = "5 ms"

[[chaser.link]]
name = "body"
mass = "{BASE} kg"
inertia = [1, 2, 3]

[[chaser.link]]
name = "tip"
parent = "body"
joint = "prismatic"
axis = [1, 0, 0]
mount = [0.5, 0, 0]
mass = "{TIP} kg"
inertia = [0.1, 0.1, 0.1]
stiffness = "{SPRING} N/m"
damping = "{DAMPER} N s/m"

[chaser]
velocity = ["{SPEED} m/s", "0 m/s", "0 m/s"]

[[target.link]]
name = "ball"
mass = "{WALL} kg"
inertia = [1, 1, 1]

[contact]
chaser = "tip"
target = "ball"
target_radius = "0.3 m"

[impact]
normal = [-1, 0, 0]
"""
AGAIN = f'law = "frictionless"\nrestitution = {RESTITUTION}\nagain = true\nrest_speed = "1e-5 m/s"\n'
COMPLIANT = (
    'law = "compliant"\n\n[contact.normal]\nlaw = "spring-dashpot"\nstiffness = "5 kN/m"\ndamping = "30 N s/m"\n'
)


def run(folder, words, **changes):
    file = folder / "line.toml"
    file.write_text(LINE + words)
    return dockdyn.simulate(dockdyn.load(str(file), changes))


def free(_, y, push=0.0):
    """Body, tip and ball on a line: places from the start, velocities; `push` (N) parts tip and ball."""
    force = SPRING * (y[1] - y[0]) + DAMPER * (y[4] - y[3])  # draws body and tip together
    return np.array([*y[3:], force / BASE, (-force - push) / TIP, push / WALL])


@pytest.fixture(scope="module")
def bounces(tmp_path_factory):
    return run(tmp_path_factory.mktemp("again"), AGAIN)


@pytest.fixture(scope="module")
def pressed(tmp_path_factory):
    return run(tmp_path_factory.mktemp("compliant"), COMPLIANT)


def by_hand(duration):
    """Impacts (time, speed, impulse), spells of rest (start, end, impulse) and the state at the end, by SciPy."""
    y, t, impacts, rests = np.array([0.0, 0, 0, SPEED, SPEED, 0]), 0.0, [], []
    mass = TIP * WALL / (TIP + WALL)

    def pressing(y):
        """Force that keeps tip and ball at one velocity."""
        force = SPRING * (y[1] - y[0]) + DAMPER * (y[4] - y[3])
        return -force / TIP * mass

    def resting(t, y):
        return free(t, y, pressing(y))

    def meets(t, y):
        return y[1] - y[2]

    def lets_go(t, y):
        return pressing(y)

    meets.terminal = lets_go.terminal = True
    meets.direction, lets_go.direction = 1, -1
    settings = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-15}
    while t < duration:
        speed = y[4] - y[5]
        assert speed > 0
        impulse = (1 + RESTITUTION * (speed >= 1e-5)) * mass * speed
        y = y + np.array([0, 0, 0, 0, -impulse / TIP, impulse / WALL])
        impacts.append((t, speed, impulse))
        if y[5] - y[4] < 1e-5 and pressing(y) > 0:
            y[4] = y[5] = (TIP * y[4] + WALL * y[5]) / (TIP + WALL)
            found = solve_ivp(resting, (t, duration), y, events=lets_go, dense_output=True, **settings)
            times = np.linspace(t, found.t[-1], 20001)
            rests.append((t, found.t[-1], np.trapezoid([pressing(found.sol(s)) for s in times], times)))
            t, y = found.t[-1], found.y[:, -1]
        # past the instant of contact, where the event function is zero
        start = solve_ivp(free, (t, t + 1e-7), y, **settings)
        found = solve_ivp(free, (t + 1e-7, duration), start.y[:, -1], events=meets, **settings)
        t, y = found.t[-1], found.y[:, -1]
    return np.array(impacts), rests, y


def test_repeated_impacts_and_rest(bounces):
    """Bounces that die away, rest, release and the bounces after it."""
    impacts, rests, end = by_hand(2.0)
    assert len(impacts) > 10 and len(rests) >= 1
    # once the speed nears the threshold, rounding decides how many more there are
    clear = impacts[:, 1] > 1e-3
    found = np.stack([bounces.impact_time, bounces.impact_approach_speed, bounces.impact_normal_impulse], axis=1)
    seen = found[found[:, 1] > 1e-3]
    np.testing.assert_allclose(seen, impacts[clear], rtol=1e-6, atol=1e-8)
    long = [
        (e, r, i)
        for e, r, i in zip(*(bounces[f"episode_{n}"].values for n in ("onset", "release", "impulse")), strict=True)
    ]
    assert len(long) == len(rests)
    np.testing.assert_allclose(long, rests, rtol=0, atol=2e-5)
    place = bounces.joint_angle.values[-1, 0]
    assert place == pytest.approx(end[1] - end[0], abs=1e-7)
    total = dockdyn.summarise(bounces)["total_normal_impulse_N_s"]
    assert total == pytest.approx(WALL * end[5], rel=1e-6)


def test_momentum_and_energy_of_repeated_impacts(bounces):
    summary = dockdyn.summarise(bounces)
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-12
    assert np.abs(np.diff(bounces.contact_work)).max() > 1e-5 and bounces.contact_work.values[-1] < 0


@pytest.mark.full
def test_a_slow_rebound_at_once_is_rest(tmp_path):
    """What the first impact would leave is below the speed of rest: nothing is left, and the distance stays."""
    found = run(tmp_path, AGAIN, **{"impact.rest_speed": 0.1})
    rests = found.normal_force.values > 0
    assert rests[0] and found.episode_onset.values[0] == 0
    assert np.abs(found.depth.values[rests]).max() < 1e-12
    assert float(found.newton) == 0


@pytest.mark.full
def test_compliant_contact(pressed):
    """A spring and dashpot that pushes only; onset at the start."""

    def flow(t, y):
        depth, rate = y[1] - y[2], y[4] - y[5]
        return free(t, y, max(5000 * depth + 30 * rate, 0.0) if depth > 0 else 0.0)

    times = pressed.time.values
    found = solve_ivp(flow, (0, 2), [0, 0, 0, SPEED, SPEED, 0], t_eval=times, max_step=2e-4, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(pressed.joint_angle.values[:, 0], found.y[1] - found.y[0], rtol=0, atol=2e-8)
    np.testing.assert_allclose(pressed.depth, found.y[1] - found.y[2], rtol=0, atol=2e-8)
    summary = dockdyn.summarise(pressed)
    assert summary["impacts"] == [] and len(summary["contacts"]) >= 2
    assert summary["contacts"][0]["onset_s"] == 0
    assert summary["contacts"][0]["approach_speed_m_s"] == pytest.approx(SPEED, rel=1e-12)
    assert summary["total_normal_impulse_N_s"] == pytest.approx(WALL * found.y[5, -1], rel=1e-6)
    assert summary["linear_momentum_error"] < 1e-12


def words_of(dataset):
    """What a report says, without figures."""
    said = re.sub(r"<(svg|style|pre).*?</\1>", " ", report_html(dataset), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", said).split())


def test_what_reports_say_of_repeated_impacts(bounces, capsys):
    said, summary = words_of(bounces), dockdyn.summarise(bounces)
    count, release = len(summary["impacts"]), summary["contacts"][0]["release_s"]
    assert f"Met again: {count - 1} further impacts and 1 spell of rest, total normal impulse 2.19" in said
    assert f"Last separation {release:.6f} s" in said and f"Impacts {count} Spells of rest 1" in said
    # the second impact as SciPy has it: time, speed, impulse
    time, speed, impulse = by_hand(0.25)[0][1]
    assert re.search(rf" 2 {time:.6f} {speed:.5f} {impulse:.4f} 0 ", said)
    assert ("more; the result file has them all" in said) == (count > LISTED)
    assert "Velocities around the impact" in said and "impacts, onsets and releases are located in time" in said
    assert not re.search(r"\bnan\b|None", said)
    show_report(report_of(bounces))
    printed = " ".join(capsys.readouterr().out.split())
    assert "Met again:" in printed and f"2 {time:.6f}" in printed


@pytest.mark.full
def test_what_reports_say_of_compliant_contact(pressed, capsys):
    said, summary = words_of(pressed), dockdyn.summarise(pressed)
    peak = max(found["peak_normal_force_N"] for found in summary["contacts"])
    assert (
        f"Met without an impact (compliant): {len(summary['contacts'])} contacts, largest normal force {peak:.3f} N"
        in said
    )
    assert "Velocities at the start and the end" in said and "coordinate at t = 0 at the end unit" in said
    assert "Restitution" not in said and "impact took" not in said
    assert not re.search(r"\bnan\b|None", said)
    show_report(report_of(pressed))
    assert "largest normal force" in " ".join(capsys.readouterr().out.split())


@pytest.mark.full
def test_results_of_repeated_contact_are_documented(bounces, pressed):
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    for dataset in (bounces, pressed):
        summary = dockdyn.summarise(dataset)
        keys = [*dataset.data_vars, *dataset.attrs, *dataset.sizes, *summary, *summary["contacts"][0]]
        keys += [key for impact in summary["impacts"][:2] for key in impact]
        assert not sorted({key for key in keys if f"`{key}`" not in text})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ('law = "weld"\nagain = true', "again"),
        ('law = "compliant"', "contact.normal"),
        ('law = "weld"\n[contact.friction]\nlaw = "coulomb"\ncoefficient = 0.1', "contact.friction"),
        (AGAIN + '[integrator]\nmethod = "dopri8"', "integrator.method"),
        (COMPLIANT.replace('law = "compliant"', 'law = "compliant"\nagain = true'), "again.*leave it out"),
        ('law = "newton"\nrestitution = 0.5\nfriction = 0\nrest_speed = 0.01', "rest_speed: is of repeated impacts"),
        (AGAIN.replace("1e-5", "-1e-5"), "rest_speed.*greater than 0 m/s"),
        (AGAIN.replace("again", "agian"), "agian: unknown key; did you mean 'again'"),
        ('law = "weld"\n[contact.surface]\nshape = "sphere"\ncentre = [0, 0, 0]\nradius = "0.3 m"', "target_position"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, words, said):
    file = tmp_path / "line.toml"
    file.write_text(LINE + words)
    with pytest.raises(dockdyn.ScenarioError, match=said) as caught:
        dockdyn.load(str(file))
    assert "\n" not in str(caught.value)


PLANE = 'shape = "plane"\npoint = [-0.3, 0, 0]\nnormal = [{}, 0, 0]\n'


def on_a_plane(place, normal):
    """The line with a compliant plane on the ball's link."""
    whole = LINE.replace('target_radius = "0.3 m"', f"target_position = [{place}, 0, 0]").replace(
        "normal = [-1, 0, 0]", ""
    )
    return f"{whole}{COMPLIANT}\n[contact.surface]\n{PLANE.format(normal)}"


def test_a_point_off_the_surface_is_refused(tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(on_a_plane(-0.2, -1))
    with pytest.raises(dockdyn.ScenarioError, match=r"target_position: is 0\.1 m inside the surface; must be on it"):
        dockdyn.load(str(file))


def test_a_surface_that_faces_away_is_refused(tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(on_a_plane(-0.3, 1))
    with pytest.raises(dockdyn.ScenarioError, match=r"does not approach: they part at 0\.08 m/s"):
        dockdyn.simulate(dockdyn.load(str(file)))


@pytest.mark.full
def test_too_many_impacts_stop_the_run(tmp_path):
    found = run(tmp_path, AGAIN, **{"integrator.max_events": 5, "output.interval": "5 ms"})
    summary = dockdyn.summarise(found)
    assert found.sizes["impact"] == 1 + 5 and not found.attrs["finished"]
    assert summary["end_time_s"] < float(found.impact_time[-1])
    assert re.search(r"more than 5 events \(integrator.max_events\); .*impact.rest_speed", summary["warnings"][0])

"""What goes wrong in contact simulations: grazing, chatter, short delays, loops that diverge."""

import math
import re

import numpy as np
import pytest

import dockdyn

SPHERE = """
schema = 2
duration = "8 s"
[body.chaser]
mass = 40
inertia = [4, 4, 4]
position = [0, {height}, 0]
velocity = [{speed}, 0, 0]
[body.chaser.feature.tip]
position = [0, 0, 0]
[body.target]
mass = 60
inertia = [8, 8, 8]
position = [0.4, 0, 0]
[body.target.surface.ball]
shape = "sphere"
centre = [0, 0, 0]
radius = 0.25
[contact.tip]
between = ["tip", "ball"]
[contact.tip.normal]
law = "spring-dashpot"
stiffness = 500
[loop]
delay = {delay}
"""


def graze(tmp_path, height, speed=0.1, delay=0.0, **overrides):
    file = tmp_path / "graze.toml"
    file.write_text(SPHERE.format(height=height, speed=speed, delay=delay))
    return dockdyn.summarise(dockdyn.simulate(dockdyn.load(file, overrides)))


@pytest.mark.full
@pytest.mark.parametrize("deep", [1e-6, 1e-9, 1e-12])
def test_grazing_contact_shorter_than_a_step_is_found(tmp_path, deep):
    """A point that flies past a ball `deep` below its summit is inside for 2 √(2 R deep) / v."""
    summary = graze(tmp_path, 0.25 - deep, **{"integrator.step": "20 ms"})
    (contact,) = summary["contacts"]
    length = 2 * math.sqrt(2 * 0.25 * deep) / 0.1
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(length, rel=1e-3)
    assert summary["energy_class"] == ["lossless"]


@pytest.mark.full
def test_passing_by_is_no_contact(tmp_path):
    assert graze(tmp_path, 0.25 + 1e-12)["contacts"] == []


@pytest.mark.full
def test_release_within_one_delay(tmp_path):
    """The contact is over before its force acts: a shift of momentum at constant force history, and energy to match."""
    summary = graze(tmp_path, 0.1, speed=0.5, delay=2.0)
    (contact,) = summary["contacts"]
    assert contact["release_s"] - contact["onset_s"] < 2.0
    # no force yet: the chord of the ball at constant speed
    chord = 2 * math.sqrt(0.25**2 - 0.1**2)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(chord / 0.5, rel=1e-9)
    assert summary["linear_momentum_error"] < 1e-12
    assert summary["angular_momentum_error"] < 1e-10
    assert summary["work_energy_error"] < 1e-9


@pytest.mark.full
@pytest.mark.parametrize("delay", ["20 us", "0.9 ms", "4.99 ms"])
def test_delay_shorter_than_the_step(delay):
    """The step is capped by the delay; the result lies between its neighbours, h = 0 and twice the delay, and linearly so."""
    energy = []
    seconds = dockdyn.load("sazawal-spring-dashpot", {"loop.delay": delay}).content.loop.delay
    for h in (0.0, seconds, 2 * seconds):
        run = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {"loop.delay": h, "duration": "6.5 s"}))
        assert run.attrs["finished"]
        energy.append(float(run.episode_energy[0]))
    first, second = energy[1] - energy[0], energy[2] - energy[0]
    assert first > 0
    # E(h) is smooth: its second difference is of the order of the delay relative to the contact's time of 0.3 s
    assert second / first == pytest.approx(2, abs=20 * seconds)


@pytest.mark.full
@pytest.mark.parametrize("delay", ["5 ms", "10 ms", "2.5 ms"])
def test_delay_that_is_a_multiple_or_fraction_of_the_step(delay):
    """Steps and delayed edges that coincide must not disturb the order: compare with a step that never coincides."""
    overrides = {"loop.delay": delay, "duration": "6.5 s"}
    same = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {**overrides, "integrator.step": "5 ms"}))
    other = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {**overrides, "integrator.step": "0.713 ms"}))
    assert float(same.episode_energy[0]) == pytest.approx(float(other.episode_energy[0]), rel=1e-7)


@pytest.mark.full
@pytest.mark.parametrize("speed", [1e-2, 1e-4, 1e-6])
def test_a_slow_undamped_contact_is_one_contact(speed):
    """At its onset the force is zero: which sign rounding gives it decides nothing."""
    start = 3.533 - 2 * (0.533 / 2 - 0.25 * math.sqrt(3) / 2 - 0.3 * speed)  # 0.3 s before
    changes = {
        "body.chaser.position": [start, 0, 0.25],
        "body.chaser.velocity": [-2 * speed, 0, 0],
        "contact.probe.normal.damping": 0,
        "loop.delay": 0,
        "duration": 3,
    }
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", changes)))
    assert summary["warnings"] == []
    assert len(summary["contacts"]) == 1
    assert summary["energy_class"] == ["lossless"]


@pytest.mark.full_cases("1.6e-09-0.03-8 s")
@pytest.mark.parametrize(
    ("lasting", "speed", "until"),
    [(1.6e-9, 0.03, "8 s"), (1e-6, 1e-4, "2000 s")],  # s, m/s: of a nanosecond, and of a microsecond after 25 minutes
)
def test_a_contact_as_short_as_the_clock_resolves_has_its_peak(tmp_path, lasting, speed, until):
    mass = 24.0  # kg: effective, of 40 and 60
    stiffness = mass * (math.pi / lasting) ** 2
    file = tmp_path / "bounce.toml"
    file.write_text(
        SPHERE.format(height=0, speed=speed, delay=0)
        .replace('"8 s"', f'"{until}"')
        .replace("stiffness = 500", f"stiffness = {stiffness}")
    )
    (contact,) = dockdyn.summarise(dockdyn.simulate(dockdyn.load(file)))["contacts"]
    assert contact["peak_force_N"] == pytest.approx(speed * math.sqrt(stiffness * mass), rel=1e-3)


@pytest.mark.full
def test_chatter_is_counted_and_flagged():
    """A tip between two plates that gain energy through the delay: ever more bounces, stopped by the limit of events."""
    run = dockdyn.simulate(
        dockdyn.load(
            "sazawal-spring-dashpot",
            {
                "loop.delay": "0.5 s",
                "contact.probe.normal.damping": 0,
                "duration": "400 s",
                "integrator.max_events": 60,
            },
        )
    )
    assert not run.attrs["finished"]
    told = re.search(
        r"60 events .*; (.+) has closed (\d+) times, lately every (\S+) s and by up to (\S+) m, (.*)",
        run.attrs["status"],
    )
    name, count, pause, depth = told[1], int(told[2]), float(told[3]), float(told[4])
    assert name in run.contact.values and "ever harder, as the delay of 0.5 s puts energy in" in told[5]
    own = run.episode_onset.values[run.episode_contact.values == list(run.contact.values).index(name)]
    assert count == len(own) and pause == pytest.approx(np.diff(own[-20:]).mean(), rel=1e-2)
    last = run.sel(contact=name).depth.values[run.time.values >= own[-20:][0]]
    assert depth == pytest.approx(last.max(), rel=0.3)
    assert 0 < float(run.time[-1]) < 400
    summary = dockdyn.summarise(run)
    assert summary["contacts"] and set(summary["energy_class"]) <= {"active", None}
    assert any("events" in warning for warning in summary["warnings"])
    assert np.isfinite(run.kinetic_energy).all()


def test_loop_that_diverges_keeps_what_it_had():
    run = dockdyn.simulate(
        dockdyn.load(
            "sazawal-spring-dashpot",
            {"integrator.method": "fixed", "integrator.step": "0.1 s", "contact.probe.normal.stiffness": 1e9},
        )
    )
    assert not run.attrs["finished"]
    assert "not finite" in run.attrs["status"]
    assert run.sizes["time"] > 10
    for name, values in run.data_vars.items():
        if "time" in values.dims:
            assert np.isfinite(values).all(), name


def test_start_inside_the_wall():
    summary = dockdyn.summarise(
        dockdyn.simulate(
            dockdyn.load("sazawal-spring-dashpot", {"body.chaser.position": [3.2, 0, 0.25], "duration": "5 s"})
        )
    )
    first = summary["contacts"][0]
    assert first["onset_s"] == 0.0
    assert first["release_s"] > 0
    assert first["impulse_N_s"] > 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("speed", "far", "close"), [(0.1, 0, 1e-8), (1e-3, 0, 1e-8), (1e-5, 0, 1e-6), (1e-5, 1e5, 1e-6)]
)
def test_several_pairs_touch_at_once(tmp_path, speed, far, close):
    """Three feet on a plate: each takes a third of the impulse that stops and returns the body, by symmetry.

    The slower they are, the further apart in time rounding puts their onsets.
    """
    feet = "\n".join(
        f"[body.chaser.feature.foot{i}]\nposition = [1, {math.cos(a):.17g}, {math.sin(a):.17g}]"
        for i, a in enumerate((0, 2 * math.pi / 3, 4 * math.pi / 3))
    )
    contacts = "\n".join(
        f'[contact.foot{i}]\nbetween = ["foot{i}", "plate"]\nnormal = {{ law = "spring-dashpot", stiffness = 3000 }}'
        for i in range(3)
    )
    file = tmp_path / "feet.toml"
    file.write_text(
        f"""schema = 2
duration = "6 s"
[body.chaser]
mass = 30
inertia = [5, 5, 5]
position = [{1 + 2 * speed + 0.6 * far}, {-0.8 * far}, 0]
velocity = [{-speed}, 0, 0]
attitude = [0, 0, 0, 1]
{feet}
[body.target]
mass = 70
inertia = [9, 9, 9]
position = [{0.6 * far}, {-0.8 * far}, 0]
[body.target.surface.plate]
shape = "plane"
point = [0, 0, 0]
normal = [1, 0, 0]
{contacts}
"""
    )
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(file)))
    assert len(summary["contacts"]) == 3
    reduced = 30 * 70 / 100
    for contact in summary["contacts"]:
        assert contact["impulse_N_s"] == pytest.approx(2 * reduced * speed / 3, rel=close)
        assert contact["release_s"] - contact["onset_s"] == pytest.approx(
            math.pi * math.sqrt(reduced / 9000), rel=close
        )
    assert summary["energy_error"] < close / 10

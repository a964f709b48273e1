"""`dockdyn stability` as a user runs it: verdicts, files, charts, refusals."""

import json
import math
import random

import numpy as np
import pytest

import dockdyn
from dockdyn.cli import main as cli

PROBE = (
    "--set",
    "stability.distance=0.5 m",
    "--set",
    "body.chaser.feature.probe.position=[1, 0, 0]",
    "--set",
    "body.target.surface.cone.apex=[0, 0, 0]",
)


KEYS = {
    *("stable", "critical_delay_s", "crossing_frequency_rad_s", "delay_s", "delay_margin_s", "effective_mass_kg"),
    *("rightmost_roots", "sensitivities", "apparent_restitution"),
}


@pytest.mark.full
def test_json_is_the_margins_alone(dock, tmp_path):
    code, out, err = dock("stability", "sazawal-spring-dashpot", *PROBE, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) >= KEYS
    assert found["stable"] is True
    assert found["critical_delay_s"] == pytest.approx(0.192968, abs=1e-6)
    assert found["crossing_frequency_rad_s"] == pytest.approx(1.677104, abs=1e-6)
    assert found["delay_margin_s"] == pytest.approx(found["critical_delay_s"] - 0.016, abs=1e-15)
    assert found["effective_mass_kg"] == pytest.approx(375, rel=1e-12)
    assert found["rightmost_roots"][0] == pytest.approx([-0.247277, 1.620998], abs=1e-6)
    assert found["apparent_restitution"] > 1
    overridden = {
        "stability.distance": 0.5,
        "body.chaser.feature.probe.position": [1, 0, 0],
        "body.target.surface.cone.apex": [0, 0, 0],
    }
    assert found == json.loads(json.dumps(dockdyn.margins(dockdyn.load("sazawal-spring-dashpot", overridden))))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_verdicts_name_what_the_rig_does(dock):
    _, stable, _ = dock("stability", "sazawal-spring-dashpot", *PROBE)
    assert "Stable" in stable and "critical delay 193 ms" in stable
    _, unstable, _ = dock("stability", "sazawal-spring-dashpot", *PROBE, "--set", "loop.delay=0.2")
    words = " ".join(unstable.split())
    assert "Unstable" in words and "energy in" in words and "restitution 1.65" in words


def test_a_chart_is_written_opened_and_shown_again(dock, tmp_path):
    sweeps = ("--sweep", "loop.delay=0:400 ms:30", "--sweep", "contact.probe.normal.damping=0 N s/m:800 N s/m:30")
    code, out, err = dock("stability", "sazawal-spring-dashpot", *PROBE, *sweeps)
    assert code == 0, err
    folder = tmp_path / "sazawal-spring-dashpot-stability"
    assert str(folder.name) in out
    assert sorted(file.name for file in folder.iterdir()) == ["report.html", "scenario.toml", "stability.nc"]
    chart = dockdyn.open_result(folder / "stability.nc")
    delay, damping = chart.boundary_x.values[0], chart.boundary_y.values[0]
    known = np.isfinite(delay)
    expected = dockdyn.stability.critical_delay(damping[known], 1000.0, 375.0)
    assert np.abs(delay[known] - expected).max() < 1e-6 * 0.4
    assert chart.x.attrs == {"units": "s", "long_name": "loop.delay"}
    assert chart.y.attrs == {"units": "N*s/m", "long_name": "contact.probe.normal.damping"}

    assert dock("stability", "sazawal-spring-dashpot", *PROBE, *sweeps)[0] == cli.BAD_INPUT
    assert dock("stability", "sazawal-spring-dashpot", *PROBE, *sweeps, "--force")[0] == 0
    page = (folder / "report.html").read_text()
    assert dock("report", folder / "stability.nc", "--out", "again.html")[0] == 0
    assert (tmp_path / "again.html").read_text() == page
    assert "loop.delay" in page and "<svg" in page


def test_a_run_warns_of_a_loop_that_is_predicted_unstable():
    def warnings(**changes):
        short = {"duration": "6.5 s", **{key.replace("_", "."): value for key, value in changes.items()}}
        return dockdyn.summarise(dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", short)))["warnings"]

    assert warnings(loop_delay=0.17) == []
    (warning,) = warnings(loop_delay=0.18)
    assert "180 ms" in warning and "173.6 ms" in warning


LINES = [
    (
        "sazawal-spring-dashpot",
        ["contact.probe.normal.stiffness=0"],
        ["contact.probe.normal.stiffness", "greater than 0 N/m"],
    ),
    ("sazawal-spring-dashpot", ["contact.probe.normal.stiffness=-5"], ["contact.probe.normal.stiffness", "-5"]),
    (
        "sazawal-spring-dashpot",
        ["contact.probe.normal={law='hertz', stiffness=1e5}"],
        ["stability.depth", "stiffness", "positive"],
    ),
    ("sazawal-spring-dashpot", ["body.chaser.velocity=[0, 0, 0]"], ["no contact", "40 s", "distance"]),
    ("sazawal-spring-dashpot", ["contact={}", "loop.delay=0"], ["contact", "missing"]),
    ("sazawal-spring-dashpot", ["stability.azimuth=3 deg"], ["stability", "distance"]),
    ("sazawal-spring-dashpot", ["loop.sensor.period=2 ms"], ["loop", "[loop.hold]"]),
    ("sits", ["contact.spring.normal.stiffness=0"], ["contact.spring.normal.stiffness", "greater than 0 N/m"]),
    ("sits", ["loop.robot.poles=[1, -2]"], ["loop.robot", "stable", "1"]),
    ("sits", ["loop.robot.poles=[[-1, 2]]"], ["loop.robot", "conjugate"]),
    ("sits", ["loop.robot={numerator=[1, 2, 3], denominator=[1, 2]}"], ["loop.robot", "proper", "2 over 1"]),
    ("sits", ["loop.robot={numerator=[1, 2], denominator=[1, 2]}"], ["loop.robot", "strictly proper"]),
    ("sits", ["loop.robot={numerator=[1, 2]}"], ["loop.robot", "denominator"]),
    ("sits", ["loop.hold.period=0"], ["loop.hold.period", "greater than 0 s"]),
    ("sits", ["loop.dynamics.period=1.234567 ms"], ["loop", "dynamics period", "whole numbers"]),
    ("sits", ["loop.dynamics.method=heun"], ["loop.dynamics.method", "'heun'", "'zero-order-hold'"]),
    ("sits", ["loop.compensator.gain=5 N"], ["loop.compensator.gain", "'5 N'"]),
]


@pytest.mark.full_cases("sazawal-spring-dashpot-sets2-words2")
@pytest.mark.parametrize(("scenario", "sets", "words"), LINES)
def test_bad_input_is_one_clear_line(dock, scenario, sets, words):
    arguments = [part for text in sets for part in ("--set", text)]
    dock("stability", scenario, "--json", *arguments).check_refused(scenario, *words)


SWEEPS = [
    (["loop.dely=0:1:10"], ["loop.dely", "'delay'"]),
    (["loop.delay=0:1"], ["--sweep loop.delay=0:1", "KEY=LOW:HIGH:COUNT"]),
    (["loop.delay=0:1:ten"], ["COUNT is ten"]),
    (["loop.delay=0:1:1"], ["COUNT is 1"]),
    (["loop.delay=0.5:0.1:10"], ["loop.delay", "must rise"]),
    (["loop.delay=0.1:0.1:10"], ["loop.delay", "changes nothing"]),
    (["loop.delay=0:5 N:10"], ["loop.delay", "'5 N'"]),
    (["body.chaser.mass=-1:5:10"], ["body.chaser.mass", "greater than 0 kg"]),
    (["title=1:5:10"], ["title"]),
    (["body.chaser.inertia=1:5:10"], ["body.chaser.inertia"]),
    (["loop.delay=0:1:5", "loop.delay=0:2:5"], ["same key twice"]),
    (
        ["loop.delay=0:1:5", "body.chaser.mass=1:2:5", "body.target.mass=1:2:5", "duration=1:2:5"],
        ["4 keys", "at most 3"],
    ),
]


@pytest.mark.parametrize(("sweeps", "words"), SWEEPS)
def test_a_bad_sweep_is_one_clear_line(dock, sweeps, words):
    arguments = [part for text in sweeps for part in ("--sweep", text)]
    dock("stability", "sazawal-spring-dashpot", *PROBE, *arguments, "--out", "somewhere").check_refused(*words)


@pytest.mark.parametrize("preset", ["probe-cone", "nozzle-capture"])  # bodies in free flight, and a mechanism
def test_a_run_refuses_what_it_would_leave_out(preset, dock):
    ended = dock("run", preset, "--set", "loop.hold.period=4 ms", "--json")
    ended.check_refused(preset, "loop.hold", "dockdyn stability")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sweep", "loop.delay=0.1:0:20"), "must rise"),
        (("--set", "stability.distance=20 m"), "beyond the cone's rim"),
    ],
)
def test_places_and_ranges_that_cannot_be_are_refused(dock, arguments, words):
    code, out, err = dock("stability", "probe-cone", *arguments)
    assert (code, out) == (2, "")
    assert words in err and len(err.splitlines()) == 1


@pytest.mark.full
def test_a_swept_place_is_the_place(dock):
    """Along the wall the lever arms change, and so does the growth rate, also where the scenario states no place."""
    code, _, _ = dock("stability", "probe-cone", "--sweep", "stability.distance=0.2:0.35:4", "--out", "swept")
    growth = dockdyn.open_result("swept/stability.nc").growth_rate.values
    assert code == 0
    for distance, found in zip((0.2, 0.35), growth[[0, -1]], strict=True):
        own = dockdyn.margins(dockdyn.load("probe-cone", {"stability.distance": distance}))["growth_rate_1_s"]
        assert found == pytest.approx(own, rel=1e-9)
    assert np.ptp(growth) > 1e-4


@pytest.mark.full
def test_what_makes_margins_doubtful_is_told():
    def warnings(name, **changes):
        return " ".join(dockdyn.margins(dockdyn.load(name, changes))["warnings"])

    assert "the robot's gain at rest is 0.3063" in warnings("sits", **{"loop.robot.gain": 100})
    assert "gain at rest" not in warnings("sits")
    assert "too long" in warnings("probe-cone", **{"loop.delay": 1e5})
    robot = {"poles": [-30, -40], "gain": 1200}
    assert "those of single axes are left out" in warnings("epos-like", **{"loop.robot": robot | {"z": robot}})


@pytest.mark.full
@pytest.mark.parametrize("preset", ["sits", "epos-like"])
def test_a_period_of_whatever_length_has_a_growth_rate_or_is_one_line(preset):
    """The map over a cycle is no number where the fastest motion passes many thousand times within it."""
    draw, refused = random.Random(26), 0
    periods = [10 ** draw.uniform(-3, 30) for _ in range(3)]
    for period in [*periods, 1e24]:
        try:
            growth = dockdyn.margins(dockdyn.load(preset, {"loop.hold.period": period}))["growth_rate_1_s"]
        except dockdyn.ScenarioError as error:
            refused += 1
            assert str(error).startswith(f"{preset}: ") and str(error).isprintable()
        else:
            assert math.isfinite(growth)
    assert refused
    with pytest.raises(dockdyn.ScenarioError, match="are too long beside its fastest motion"):
        dockdyn.margins(dockdyn.load(preset, {"loop.hold.period": 1e24}))

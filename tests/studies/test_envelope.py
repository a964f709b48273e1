"""Envelopes: boundaries of known shape, the least speed that latches in closed form, the command, refusals."""

import json
import math

import numpy as np
import pytest
from helpers.closed_forms import least_latching_speed

import dockdyn
from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.envelope import search as study
from dockdyn.studies.envelope.report import envelope_report

SPEED, MASS = "approach.closing_speed", "body.chaser.mass"
RANGES = {SPEED: (0.0, 0.1), MASS: (1000.0, 3000.0)}

# --- outcomes of a known shape, in place of runs ---------------------------------------------------------------------


@pytest.fixture
def shaped(monkeypatch):
    """The envelope of a shape over the unit square: `inside(x, y)` says where it is captured, `fails(x, y)` where runs fail."""

    def envelope(inside, fails=lambda x, y: np.zeros(x.shape, bool), tolerance=1e-3):
        def run_cases(scenario, keys, values):
            assert list(keys) == list(RANGES)
            x, y = ((part - low) / (high - low) for part, (low, high) in zip(values.T, RANGES.values(), strict=True))
            assert ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all()
            return Cases({"captured": inside(x, y) * 1.0}, ["jammed" if bad else "" for bad in fails(x, y)])

        monkeypatch.setattr(study, "run_cases", run_cases)
        found = dockdyn.envelope(dockdyn.load("probe-cone-latch"), RANGES, tolerance=tolerance)
        answer = json.loads(found.attrs["envelope"])
        return answer, [in_square(piece) for piece in answer["boundary"]]

    return envelope


def in_square(piece):
    return np.array(
        [[(x - low) / (high - low) for x, (low, high) in zip(at, RANGES.values(), strict=True)] for at in piece]
    )


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
def test_a_circle_within_the_tolerance_for_a_small_part_of_the_grid(shaped, tolerance):
    answer, (piece,) = shaped(lambda x, y: np.hypot(x - 0.48, y - 0.55) < 0.3, tolerance=tolerance)
    assert (piece[0] == piece[-1]).all()
    middles = (piece[1:] + piece[:-1]) / 2
    for points in (piece, middles):
        assert np.abs(np.hypot(*(points - [0.48, 0.55]).T) - 0.3).max() < tolerance
    assert answer["share_met"] == pytest.approx(math.pi * 0.3**2, abs=2 * tolerance)
    assert answer["grid_runs"] == (round(1 / tolerance) + 1) ** 2
    assert answer["runs"] < answer["grid_runs"] / (20 if tolerance < 5e-3 else 5)
    assert answer["failed"] == 0


def test_islands_and_lines_that_end_at_the_edge_are_pieces_of_their_own(shaped):
    def inside(x, y):
        return (np.hypot(x - 0.25, y - 0.3) < 0.12) ^ (np.hypot(x - 0.7, y - 0.25) < 0.15) ^ (y > 0.7 + 0.1 * x)

    answer, pieces = shaped(inside)
    assert len(pieces) == 3
    closed = [piece for piece in pieces if (piece[0] == piece[-1]).all()]
    (line,) = [piece for piece in pieces if not (piece[0] == piece[-1]).all()]
    assert len(closed) == 2
    ends = line[np.argsort(line[:, 0])][[0, -1]]
    assert ends == pytest.approx(np.array([[0, 0.7], [1, 0.8]]), abs=1e-3)
    assert line[:, 1] - 0.1 * line[:, 0] == pytest.approx(0.7, abs=1e-3)
    assert answer["share_met"] == pytest.approx(0.25 + math.pi * (0.12**2 + 0.15**2), abs=3e-3)


def test_where_runs_fail_the_boundary_is_left_open(shaped):
    """A line y = ½, runs failing right of x = 0.4 up to 0.6."""
    answer, pieces = shaped(lambda x, y: y > 0.5 + 0.01 * x, lambda x, y: np.abs(x - 0.5) < 0.1)
    assert len(pieces) == 2
    assert answer["failed"] > 10
    assert answer["failures"] == ["jammed"]
    x = np.concatenate(pieces)[:, 0]
    assert x.min() == 0
    assert x.max() == 1
    assert not ((x > 0.4) & (x < 0.6)).any()
    assert 0.37 < x[x < 0.5].max() <= 0.4  # as close as the cells along the line are wide
    assert answer["share_met"] == pytest.approx(0.495, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 1.0, None])
def test_all_or_nothing_has_no_boundary(shaped, share):
    """None is met, all are, or all runs fail and nothing is known."""
    beyond = {0.0: 2.0, 1.0: -1.0, None: 0.0}[share]
    answer, pieces = shaped(lambda x, y: x > beyond, lambda x, y: np.full(x.shape, share is None))
    assert pieces == []
    assert answer["share_met"] == share


def test_one_key_has_crossings(monkeypatch):
    def run_cases(scenario, keys, values):
        return Cases({"captured": 1.0 * (np.abs(values[:, 0] - 0.05) < 0.0123)}, [""] * len(values))

    monkeypatch.setattr(study, "run_cases", run_cases)
    found = dockdyn.envelope(dockdyn.load("probe-cone-latch"), {SPEED: ("0 m/s", "0.1 m/s")}, tolerance=1e-4)
    answer = json.loads(found.attrs["envelope"])
    assert np.ravel(answer["boundary"]) == pytest.approx([0.0377, 0.0623], abs=1e-5)
    assert answer["share_met"] == pytest.approx(0.246, abs=2e-4)
    assert answer["runs"] < 100 < answer["grid_runs"]
    assert found.boundary_x.attrs["units"] == "m/s"
    assert f"{answer['runs']} runs, where an even grid as sharp would take 10001" in envelope_report(found).verdict
    coarse = dockdyn.envelope(dockdyn.load("probe-cone-latch"), {SPEED: ("0 m/s", "0.1 m/s")}, tolerance=0.1)
    runs = json.loads(coarse.attrs["envelope"])["runs"]
    assert runs >= 11
    assert f"{runs} runs, no fewer than the 11 of an even grid as sharp" in envelope_report(coarse).verdict


def test_a_requirement_with_a_limit_is_found_by_its_margin(monkeypatch):
    """Fewer runs than capture of the same shape takes, since a margin tells how far away the boundary is."""

    def run_cases(scenario, keys, values):
        x, y = values[:, 0] / 0.1, (values[:, 1] - 1000) / 2000
        force = 1000 * np.hypot(x - 0.48, y - 0.55)
        return Cases({"captured": 1.0 * (force < 300), "peak_force_N": force}, [""] * len(x))

    monkeypatch.setattr(study, "run_cases", run_cases)
    scenario = dockdyn.load("probe-cone-latch", {"requirements.peak_force": "< 0.3 kN"})
    answers = [
        json.loads(dockdyn.envelope(scenario, RANGES, of, 1e-4).attrs["envelope"]) for of in ("peak_force", "captured")
    ]
    for answer in answers:
        (piece,) = map(in_square, answer["boundary"])
        assert np.abs(np.hypot(*(piece - [0.48, 0.55]).T) - 0.3).max() < 1e-4
    assert answers[0]["runs"] < 0.9 * answers[1]["runs"]


# --- the least speed that latches ------------------------------------------------------------------------------------

STIFFNESS, PRELOAD, LENGTH, ANGLE, TARGET = 1500.0, 2.0, 0.02, math.radians(40), 3200.0

ON_AXIS = f"""
schema = 2
title = "Probe on the axis of a cone, latch without friction"
duration = "6 s"

[approach]
of = "probe"
to = "cone"
closing_speed = "40 mm/s"
distance = "1 mm"

[body.chaser]
mass = "1800 kg"
inertia = [900, 1400, 1500] # kg m²

[body.chaser.feature.probe]
position = [1.6, 0, 0] # m
radius = "15 mm"

[body.target]
mass = {TARGET}
inertia = [2100, 2600, 2400]

[body.target.surface.cone]
shape = "cone"
apex = [1.1, 0, 0]
axis = [1, 0, 0] # out of the cone
half_angle = "40 deg"
rim_radius = "60 mm"

[contact.probe-cone]
between = ["probe", "cone"]

[contact.probe-cone.normal]
law = "spring-dashpot"
stiffness = "8 kN/m"
damping = "400 N s/m"

[latch.capture]
between = ["chaser", "target"]
feature = "probe"
surface = "cone"
entry = "60 mm"

[latch.capture.ramp]
stiffness = {STIFFNESS}
angle = {ANGLE}
axial_length = {LENGTH}
preload = {PRELOAD}
"""


def least_speed(chaser):
    return least_latching_speed((chaser, TARGET), STIFFNESS, PRELOAD, ANGLE, LENGTH)


@pytest.fixture(scope="module")
def on_axis(tmp_path_factory):
    file = tmp_path_factory.mktemp("scenario") / "on-axis.toml"
    file.write_text(ON_AXIS)
    return file


@pytest.mark.full
def test_least_speed_that_latches_on_the_axis_without_friction(on_axis):
    over = {SPEED: ("15 mm/s", "45 mm/s"), MASS: ("0.5 t", "4 t")}
    answer = json.loads(dockdyn.envelope(dockdyn.load(on_axis), over).attrs["envelope"])
    (piece,) = answer["boundary"]
    assert len(piece) > 40
    masses = [mass for _, mass in piece]
    assert min(masses) == pytest.approx(500)
    assert max(masses) == pytest.approx(4000)
    for speed, mass in piece:
        assert speed == pytest.approx(least_speed(mass), rel=1e-3)
    assert answer["runs"] < answer["grid_runs"] / 500
    assert answer["failed"] == 0


@pytest.mark.full
def test_runs_that_are_not_decided_are_neither_yes_nor_no(on_axis):
    """In one second no probe has come to the end of the ramp; what the envelope names is long enough."""
    over = {SPEED: ("15 mm/s", "45 mm/s")}
    short = dockdyn.load(on_axis, {"duration": "1 s"})
    answer = json.loads(dockdyn.envelope(short, over, tolerance=1e-2).attrs["envelope"])
    assert answer["undecided"] > 10 and answer["failed"] == 0
    report = envelope_report(dockdyn.envelope(short, over, tolerance=1e-2))
    assert "everywhere" not in report.headline + report.verdict
    decided = dockdyn.load(on_axis, {"duration": f"{answer['deciding_duration_s']} s"})
    found = json.loads(dockdyn.envelope(decided, over, tolerance=1e-2).attrs["envelope"])
    assert (found["undecided"], found["deciding_duration_s"]) == (0, None)
    assert np.ravel(found["boundary"]) == pytest.approx([least_speed(1800)], abs=0.01 * 0.03)
    assert answer["boundary"] == [] or np.ravel(answer["boundary"]) == pytest.approx(
        [least_speed(1800)], abs=0.01 * 0.03
    )
    (warning,) = dockdyn.summarise(dockdyn.simulate(dockdyn.load(on_axis, {"duration": "1 s"})))["warnings"][:1]
    assert warning.startswith("not captured, but not decided either: the probe still approaches")


@pytest.mark.full_cases("failed")
@pytest.mark.parametrize("left", ["failed", "undecided", "peak_force_not_known"])
def test_what_is_left_open_is_not_counted_as_met_everywhere(left):
    """Nothing but yes was found, but 7 of 31 runs say neither; all of them do where there is none of these."""
    scenario = dockdyn.load("paraskevas-latch", {"duration": 1.0})
    found = dockdyn.envelope(scenario, {"body.chaser.velocity": (0.08, 0.09)}, tolerance=5e-3)
    sure = envelope_report(found)
    assert "everywhere" in sure.headline and "there is no boundary" in sure.verdict
    answer = json.loads(found.attrs["envelope"]) | {left: 7, "deciding_duration_s": 2.0, "failures": ["too slow"]}
    doubtful = envelope_report(found.assign_attrs(envelope=json.dumps(answer)))
    for words in (doubtful.headline, doubtful.verdict):
        assert "everywhere" not in words and f"7 of {answer['runs']} runs leave it open" in words
    assert doubtful.tiles[0].note == "of what is known" != sure.tiles[0].note


@pytest.mark.full
def test_the_same_for_two_masses_on_a_line():
    """v = l √(k/m) tan θ (Paraskevas et al., eq. 46 as it is meant)."""
    scenario = dockdyn.load("paraskevas-latch", {"duration": 1.0})
    found = dockdyn.envelope(scenario, {"body.chaser.velocity": (0.065, 0.075)}, tolerance=5e-3)
    answer = json.loads(found.attrs["envelope"])
    assert np.ravel(answer["boundary"]) == pytest.approx([0.02 * math.sqrt(100 * (1 / 15 + 1 / 17))], rel=1e-3)


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_command_writes_a_report_that_can_be_written_again(dock, tmp_path, on_axis):
    over = ("--over", f"{SPEED}=15mm/s:45mm/s", "--tolerance", "1e-2")
    code, out, err = dock("envelope", str(on_axis), *over)
    assert code == 0, err
    folder = tmp_path / "on-axis-envelope"
    assert sorted(file.name for file in folder.iterdir()) == ["envelope.nc", "report.html", "scenario.toml"]
    assert "the outcome changes at 0.02" in out
    first = (folder / "report.html").read_text()
    assert "http://" not in first.replace("http://www.w3.org", "")
    code, out, err = dock("report", str(folder / "envelope.nc"), "--force")
    assert code == 0, err
    assert (folder / "report.html").read_text() == first
    code, out, _ = dock("envelope", str(on_axis), *over, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(dockdyn.open_result(folder / "envelope.nc").attrs["envelope"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("speeds", "words"), [("40mm/s:45mm/s", "Captured everywhere"), ("1mm/s:2mm/s", "Not captured")]
)
def test_no_boundary_is_an_answer(dock, on_axis, speeds, words):
    slow = ("--set", "duration=40 s")  # a probe of 1 mm/s needs 12 s to the ramp
    code, out, err = dock("envelope", str(on_axis), "--over", f"{SPEED}={speeds}", "--tolerance", "0.1", *slow)
    assert code == 0, err
    assert words in out
    assert "there is no boundary" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("probe-cone-latch", "--over", SPEED), f"--over {SPEED}: must be KEY=LOW:HIGH"),
        (
            ("probe-cone-latch", "--over", "approach.speed=1:2"),
            "approach.speed: unknown key; allowed: axis, closing_speed",
        ),
        (("probe-cone-latch", "--over", f"{SPEED}=0.2:0.1"), "from 0.2 to 0.1; must rise"),
        (("probe-cone-latch", "--over", f"{SPEED}=0.1:0.1"), "must be a number with different ends"),
        (("probe-cone-latch", "--over", f"{SPEED}=1kg:2kg"), "1kg"),
        (
            ("probe-cone-latch", "--over", f"{SPEED}=1:2", "--over", f"{SPEED}=1:3"),
            "given twice; must be different keys",
        ),
        (
            (
                "probe-cone-latch",
                "--over",
                "latch.capture.ramp.friction=0.1:0.2",
                "--over",
                f"{SPEED}=1:2",
                "--over",
                f"{MASS}=1:2",
            ),
            "--over: 3 keys; must be one or two",
        ),
        (
            ("probe-cone-latch", "--over", f"{SPEED}=1:2", "--of", "top_force"),
            "--of top_force: no such requirement; allowed: captured",
        ),
        (
            ("idss-probe-cone", "--over", f"{SPEED}=1:2", "--of", "x"),
            "--of x: no such requirement; allowed: captured, peak_force",
        ),
        (
            ("probe-cone", "--over", f"{SPEED}=0.02:0.03"),
            "--of captured: nothing in the scenario captures, and it has no",
        ),
        (
            ("probe-cone-latch", "--over", f"{SPEED}=1:2", "--tolerance", "0.5"),
            "--tolerance = 0.5: must be from 1e-06 to 0.1",
        ),
    ],
)
def test_bad_input_is_one_line(dock, monkeypatch, arguments, words):
    monkeypatch.setattr("dockdyn.studies.envelope.search.run_cases", None)  # refused before anything runs
    code, out, err = dock("envelope", *arguments)
    assert code == 2, out
    assert err.count("\n") == 1
    assert words in err

"""`dockdyn identify` as a user runs it: logs in, numbers, TOML and report out; bad logs in one line."""

import json
import re
import tomllib

import numpy as np
import pytest
import tomlkit
from identify_logs import GAIN, PERIOD, POLES, ZEROS, bounced, lines, log, written
from scipy.signal import lsim, zpk2tf

from dockdyn.scenario.preset_files import preset_text
from dockdyn.studies.identification.wording import plus_minus


@pytest.fixture
def answer(dock, tmp_path):
    """The JSON of a command that works on a log."""

    def command(kind, text, *arguments):
        ended = dock("identify", kind, written(tmp_path, text), *arguments, "--json")
        assert (ended.returncode, ended.stderr) == (0, "")
        return json.loads(ended.stdout)

    return command


@pytest.mark.full
def test_robot_of_a_clean_log(answer):
    found = answer("robot", lines(log()))
    assert (found["orders"], found["delay_samples"], found["period_s"]) == ([2, 2], 0, PERIOD)
    assert found["phase_at_10_hz_deg"] == pytest.approx(-2.870, abs=1e-3)
    assert sorted(found["poles"], key=lambda pole: pole[1])[1] == pytest.approx([-181.7836, 185.4564], rel=1e-4)
    assert found["zeros"][0] == pytest.approx([-206.5679, 0], rel=1e-4)
    assert found["gain_at_rest"] == pytest.approx(1, abs=1e-5)
    assert found["fit_percent"] > 99.999
    assert found["warnings"] == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("header", "scale", "options"),
    [
        ("t (s);x_c [um];x_r [um]", 1e6, ()),
        ("clock\tsetpoint\tencoder", 1e3, ("--time", "clock", "--actual", "encoder", "--unit", "mm")),
        ("time,ref,actual [inch]", 1 / 0.0254, ("--command", "ref", "--unit", "command=inch")),
        ("time,ref,actual [inch]", 1 / 0.0254, ("--command", "ref", "--unit", "ref=inch")),
    ],
)
def test_columns_and_units_come_from_the_header_or_from_options(answer, header, scale, options):
    separator = next(mark for mark in ";\t," if mark in header)
    text = [line.replace(",", separator) for line in lines(log(), "time,command,actual", scale)]
    found = answer("robot", ["# from the rig", header, "", *text[1:]], *options)
    assert found["phase_at_10_hz_deg"] == pytest.approx(-2.870, abs=1e-3)
    assert found["residual_rms_m"] < 1e-8
    assert not any("no unit stated" in words for words in found["warnings"])


def test_units_that_are_taken_for_granted_are_told(answer):
    found = answer("robot", lines(log(), "time,command,actual", 1.0))
    assert found["warnings"] == ["no unit stated: command, actual taken as m"]


@pytest.mark.full
def test_decimal_commas_and_a_period_for_times_that_are_rounded(answer):
    text = [line.replace(",", ";").replace(".", ",") for line in lines(log())[1:]]
    assert answer("robot", ["time [s];command [mm];actual [mm]", *text])["period_s"] == PERIOD
    plain = [line.split(",", 1)[1] for line in lines(log())]
    assert answer("robot", plain, "--period", "2 ms")["period_s"] == PERIOD


@pytest.mark.full
def test_folder_holds_a_report_and_a_robot_that_goes_into_a_scenario(dock, tmp_path):
    ended = dock("identify", "robot", written(tmp_path, lines(log(1e-4))), "--out", "found")
    assert ended.returncode == 0
    assert "A robot of 2 poles and 1 zero: explains 99.4" in ended.stdout
    assert sorted(file.name for file in (tmp_path / "found").iterdir()) == ["report.html", "robot.toml"]
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert page.count("<figure ") == 3
    assert "numerator = [" in page
    scenario = tomlkit.parse(preset_text("sits")).unwrap()
    scenario["loop"] |= tomllib.loads((tmp_path / "found" / "robot.toml").read_text())["loop"]
    (tmp_path / "mine.toml").write_text(tomlkit.dumps(scenario))
    rates = [json.loads(dock("stability", name, "--json").stdout)["growth_rate_1_s"] for name in ("mine.toml", "sits")]
    assert rates[0] == pytest.approx(rates[1], abs=2e-4)
    again = dock("identify", "robot", "log.csv", "--out", "found")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("error: found: exists, its report is found/report.html; give --force")


def test_dead_time_goes_into_the_loop(dock, tmp_path):
    rows = log(1e-6)
    rows[3:, 2] = rows[:-3, 2].copy()
    rows[:3, 2] = 0
    assert dock("identify", "robot", written(tmp_path, lines(rows)), "--out", "found").returncode == 0
    assert tomllib.loads((tmp_path / "found" / "robot.toml").read_text())["loop"]["delay"] == "0.006 s"


def test_least_squares_and_another_log_can_be_asked_for(answer, tmp_path):
    written(tmp_path, lines(log(1e-4)), "other.csv")
    found = answer("robot", lines(log(1e-4)), "--method", "arx", "--orders", "2,2", "--delay", "0")
    assert found["phase_at_10_hz_deg"] > -2.5  # biased
    refined = answer("robot", lines(log(1e-4)), "--orders", "2,2", "--validate", "other.csv")
    assert refined["phase_at_10_hz_deg"] == pytest.approx(-2.870, abs=0.05)
    assert refined["validation_fit_percent"] > 99


# --- bad logs -------------------------------------------------------------------------------------------------------

GOOD = lines(log(count=400))


def changed(row: int, text: str | None) -> list[str]:
    """The log with one row (by its number in the file) replaced or left out."""
    found = list(GOOD)
    found[row - 1 : row] = [] if text is None else [text]
    return found


def column(values: np.ndarray, at: int) -> list[str]:
    rows = log(count=400)
    rows[:, at] = values
    return lines(rows)


CLIPPED = np.clip(log(count=400)[:, 2], -0.02, 0.02)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            changed(50, None),
            (),
            "row 50: 1 sample is missing before it: the time steps by 0.004 s, elsewhere by 0.002 s",
        ),
        (changed(50, "0.0967,1,1"), (), "row 50: the time steps by 0.0027 s, elsewhere by 0.002 s; must be uniform"),
        (changed(50, "0.094,1,1"), (), "row 50: time 0.094 s is not after 0.094 s in the row before"),
        (changed(50, "0.096,1"), (), "row 50: 2 cells; must be 3, as in the header"),
        (changed(50, "0.096,abc,1"), (), "row 50: command [mm] = 'abc': must be a finite number"),
        (changed(50, "0.096,1,nan"), (), "row 50: actual [mm] = 'nan': must be a finite number"),
        (changed(50, "0.096,1,"), (), "row 50: actual [mm] = nothing: a sample is missing: must be a finite number"),
        (
            changed(1, "time [s],command [mm],where [mm]"),
            (),
            "no column is known as the actual position; name it with --actual",
        ),
        (
            changed(1, "time [s],command [mm],actual [kg]"),
            (),
            "actual [kg]: 'kg' is no unit of the actual position; such as m",
        ),
        (changed(1, "0,1,2"), (), "row 1: must be a header that names the columns"),
        (
            GOOD,
            ("--actual", "where"),
            "--actual where: no such column; the columns are time [s], command [mm], actual [mm]",
        ),
        (GOOD, ("--unit", "where=mm"), "--unit where=mm: no such column; the columns are time [s], command [mm]"),
        (GOOD, ("--unit", "m"), "command [mm] has its unit in the header; leave out --unit command=m"),
        (GOOD[:10], (), "9 samples are too short for orders 1,1 and a delay of 0 samples; must be at least 11"),
        (GOOD[:20], ("--orders", "3,3"), "19 samples are too short for orders 3,3 and a delay of 0 samples"),
        (GOOD[:2], (), "has 1 sample: too short to identify from"),
        (GOOD[:1], (), "has a header and no samples"),
        ([], (), "is empty; must have a header"),
        (column(CLIPPED, 2), (), f"row {np.argmax(CLIPPED >= 0.02) + 2}: actual [mm] stays at its extreme value for"),
        (column(np.full(400, 0.01), 1), (), "command [mm] is the same in all rows: nothing excites the robot"),
        (column(np.zeros(400), 2), (), "actual [mm] is the same in all rows: the robot does not move"),
        (
            column(0.02 * np.sin(8 * np.pi * np.arange(400) * PERIOD), 1),
            ("--orders", "2,2", "--delay", "0"),
            "the command excites too little for orders 2,2",
        ),
        (GOOD, ("--orders", "2,3"), "--orders 2,3: NB must be at most NA"),
        (["time [s],command [mm]", "0,1", "1,2"], (), "no column is known as the actual position"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_line(dock, tmp_path, text, options, message):
    text = text or [""]
    ended = dock("identify", "robot", written(tmp_path, text), *options, "--out", "found")
    ended.check_refused(message)
    assert ended.stderr.startswith(("error: log.csv: ", "error: --orders"))
    assert not (tmp_path / "found").exists()


@pytest.mark.full_cases(
    "arguments13-moves too fast at",
    "arguments14-the generic arm: is near a singularity at 0 s (least singular value",
    "arguments16-the generic arm: ",
)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("robot", "none.csv"), "none.csv: no such file"),
        (("robot", "."), ".: is a folder; must be a log in CSV"),
        (("robot", "none.csv", "--orders", "two"), "--orders two: must be NA,NB"),
        (("robot", "none.csv", "--unit", "where="), "--unit where=: must be a unit, or COLUMN=UNIT"),
        (("robot", "none.csv", "--period", "0"), "--period: 0: must be a period greater than 0 s"),
        (("contact", "none.csv", "--delay", "-1 ms"), "--delay: -1 ms: must be a delay of at least 0 s"),
        (("plan", "plan.csv", "--to", "400"), "--to 400 Hz: must be at most 0.4 of the sampling rate, 200 Hz"),
        (("plan", "plan.csv", "--from", "30"), "--to 20 Hz: must be at least --from, 30 Hz"),
        (("plan", "plan.csv", "--direction", "1,0"), "--direction 1,0: must be three numbers"),
        (("plan", "plan.csv", "--joints", "1,2"), "--joints 1,2: 2 values; must be 6"),
        (("plan", "plan.csv", "--joints", "a"), "--joints a: must be angles or lengths"),
        (("plan", "plan.csv", "--tip", "hand"), "--tip hand: the generic arm has none but flange"),
        (("plan", "plan.csv", "--ramp", "2 s"), "--ramp 2 s: must be at most half the duration of 3 s"),
        (("plan", "plan.csv", "--direction", "1,1,1", "--to", "30"), "moves too fast at"),
        (
            ("plan", "plan.csv", "--joints", "0,-75 deg,95 deg,0,0,0"),
            "the generic arm: is near a singularity at 0 s (least singular value",
        ),
        (
            ("plan", "plan.csv", "--joints", "0,1 deg,95 deg,0,50 deg,0"),
            "the generic arm: joint j2 leaves its limits at 0 s: 1 deg; must be -140 deg to 0 deg",
        ),
        (("plan", "plan.csv", "--amplitude", "1.2", "--to", "0.5", "--direction", "1,0,0"), "the generic arm: "),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_one_line(dock, tmp_path, arguments, message):
    ended = dock("identify", *arguments)
    ended.check_refused(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_contact_of_a_bounce(answer, dock, tmp_path):
    found = answer("contact", bounced(), "--delay", "0")
    assert found["stiffness_N_m"] == pytest.approx(2e4, abs=4 * found["stiffness_deviation_N_m"])
    assert found["damping_N_s_m"] == pytest.approx(0, abs=4 * found["damping_deviation_N_s_m"])
    assert found["restitution"] == pytest.approx(1, abs=1e-6)
    ended = dock("identify", "contact", "log.csv", "--out", "found")
    assert ended.returncode == 0
    assert sorted(file.name for file in (tmp_path / "found").iterdir()) == ["contact.toml", "report.html"]
    scenario = tomlkit.parse(preset_text("sits")).unwrap()
    part = tomllib.loads((tmp_path / "found" / "contact.toml").read_text())
    scenario["contact_law"] = part["contact_law"]
    scenario["contact"]["spring"] = {"between": scenario["contact"]["spring"]["between"], "law": "identified"}
    scenario["loop"]["sensor"] = part["loop"]["sensor"]
    (tmp_path / "mine.toml").write_text(tomlkit.dumps(scenario))
    margins = json.loads(dock("stability", "mine.toml", "--json").stdout)
    assert margins["stiffness_N_m"] == pytest.approx(2e4, rel=5e-3)


@pytest.mark.full_cases("True")
@pytest.mark.parametrize("velocity", [False, True])
def test_nothing_is_surer_than_the_digits_of_its_log(answer, dock, velocity):
    """A log without noise, rounded to 0.1 nm and 0.1 mm/s: its free motion has no scatter at all."""
    rows = bounced(noise=0.0)
    if velocity:
        speeds = np.gradient([float(row.split(",")[1]) for row in rows[1:]])  # m/s: mm a millisecond
        rows = [f"{rows[0]},velocity [m/s]", *(f"{row},{v:.4f}" for row, v in zip(rows[1:], speeds, strict=True))]
    found = answer("contact", rows, "--delay", "0")
    step = 1e-4 / np.sqrt(12) if velocity else 1e-10 / np.sqrt(12) / 1.0  # m/s; of a slope over 235 ms by 1 ms
    assert found["speed_before_deviation_m_s"] > 0.1 * step
    assert found["restitution_deviation"] > 0.1 * step / 0.05
    said = dock("identify", "contact", "log.csv", "--delay", "0", "--out", "found").stdout
    assert not re.search(r"± \S*e-1\d", said) and "delay of the force" in said
    assert "# ± 0" not in said.replace("# ± 0.", "")


def test_deviations_below_rounding_are_not_printed():
    assert plus_minus(0.9232933, 1.1e-17) == "0.9232933 (to rounding)"
    assert plus_minus(0.9232933, 1.1e-4) == "0.92329 ± 0.00011"
    assert plus_minus(-1.2976, 0.0) == "-1.297600" and plus_minus(None, None) == "–"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[0], *(f"{row.split(',')[0]},1,{row.split(',')[2]}" for row in rows[1:])], "nothing moves"),
        (lambda rows: [rows[0], *rows[400:]], "row 2: in contact from the start; must begin with at least 5 rows"),
        (lambda rows: rows[:200], "force [kN] never rises above its noise: there is no contact"),
        (lambda rows: [rows[0], *rows[1:290], *rows[295:]], "row 291: 5 samples are missing before it"),
        (
            lambda rows: [
                rows[0],
                *(",".join([*row.split(",")[:2], str(min(float(row.split(",")[2]), 0.1))]) for row in rows[1:]),
            ],
            "force [kN] stays at its extreme value for",
        ),
    ],
)
def test_a_bounce_that_cannot_be_used_is_refused_in_one_line(dock, tmp_path, change, message):
    ended = dock("identify", "contact", written(tmp_path, change(bounced())))
    ended.check_refused(message)
    assert ended.stderr.startswith("error: log.csv: ")


# --- the experiment -------------------------------------------------------------------------------------------------


def table(file) -> tuple[list[str], np.ndarray]:
    """Headings and numbers of a plan."""
    rows = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return rows[0].split(","), np.array([[float(cell) for cell in row.split(",")] for row in rows[1:]])


def test_a_plan_is_a_log_but_for_the_robot(dock, answer, tmp_path):
    ended = dock("identify", "plan", "plan.csv", "--speed-limit", "0.5 m/s", "--acceleration-limit", "30")
    assert ended.returncode == 0
    assert ended.stdout.startswith("A sweep from 0 to 20 Hz in 3 s, ")
    headings, numbers = table(tmp_path / "plan.csv")
    assert headings == ["time [s]", "command [m]"]
    top, bottom = zpk2tf(ZEROS, POLES, GAIN)
    _, actual, _ = lsim((np.real(top), np.real(bottom)), numbers[:, 1], numbers[:, 0], interp=False)
    found = answer("robot", lines(np.c_[numbers, actual], "time [s],command [m],actual [m]", 1.0))
    assert found["phase_at_10_hz_deg"] == pytest.approx(-2.870, abs=1e-3)


@pytest.mark.full
def test_a_plan_for_an_arm_of_a_urdf_leads_its_tip_along_the_line(dock, tmp_path):
    """Against Pinocchio's forward kinematics; slanted axes, a sliding joint, a link beside the way."""
    pinocchio = pytest.importorskip("pinocchio")
    mass = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    axes = ["0 0 1", "0 1 0.2", "0.1 1 0", "1 0 0", "0 1 0", "1 0 0.3", "0 0 1"]
    places = ["0 0 0.2", "0.1 0 0.4", "0.6 0 0", "0.1 0.05 0.1", "0.5 0 0", "0.1 0 0", "0.05 0 0"]
    parts = [f'<robot name="arm"><link name="l0">{mass}</link>']
    for i, (axis, place) in enumerate(zip(axes, places, strict=True), 1):
        kind, limits = ("prismatic", (-0.5, 0.5)) if i == 4 else ("revolute", (-2.8, 2.8))
        parts.append(
            f'<link name="l{i}">{mass}</link><joint name="q{i}" type="{kind}"><parent link="l{i - 1}"/><child link="l{i}"/>'
            f'<origin xyz="{place}" rpy="0.1 -0.2 0.3"/><axis xyz="{axis}"/>'
            f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="1" velocity="9"/></joint>'
        )
    parts.append(
        '<link name="side"/><joint name="s" type="fixed"><parent link="l2"/><child link="side"/></joint></robot>'
    )
    (tmp_path / "arm.urdf").write_text("".join(parts))
    start = "0.2,-0.6,0.9,0.05,0.7,0.3,-0.2"
    several = dock("identify", "plan", "plan.csv", "--urdf", "arm.urdf", "--joints", start)
    assert several.stderr == "error: arm.urdf: has several ends (l7, side); name one with --tip\n"
    options = (
        "--urdf",
        "arm.urdf",
        "--tip",
        "l7",
        "--joints",
        start,
        "--direction",
        "1,-2,0.5",
        "--to",
        "3",
        "--duration",
        "1",
    )
    ended = dock("identify", "plan", "plan.csv", *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    headings, numbers = table(tmp_path / "plan.csv")
    assert headings[2:] == ["q1 [rad]", "q2 [rad]", "q3 [rad]", "q4 [m]", "q5 [rad]", "q6 [rad]", "q7 [rad]"]
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    data = model.createData()
    places, turns = [], []
    for joints in numbers[:, 2:]:
        pinocchio.framesForwardKinematics(model, data, joints)
        placed = data.oMf[model.getFrameId("l7")]
        places.append(placed.translation.copy())
        turns.append(placed.rotation.copy())
    along = np.array([1, -2, 0.5]) / np.linalg.norm([1, -2, 0.5])
    assert np.array(places) - places[0] == pytest.approx(np.outer(numbers[:, 1], along), abs=1e-8)
    assert np.array(turns) == pytest.approx(np.array([turns[0]] * len(turns)), abs=1e-8)
    assert np.abs(numbers[:, 1]).max() > 0.02

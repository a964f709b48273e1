"""The unit of a log's time stamps: stated, or told by stamps that count from 1970; never taken for seconds in silence."""

import json
from decimal import Decimal

import numpy as np
import pytest
from identify_logs import bounced, written

COUNT = 400
PERIOD = Decimal("0.002")  # s
BEGAN = Decimal("1700000000.25")  # s since 1970
SMALLER = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9}  # of each unit in a second


def robot_log(times: list, heading: str) -> list[str]:
    """A robot behind a sweep, a lag of one sample and a half, its time as given."""
    command = 20 * np.sin(0.0004 * np.arange(COUNT) ** 2)
    actual = np.convolve(command, [0, 0.5, 0.3, 0.2])[:COUNT]
    return [
        f"{heading},command [mm],actual [mm]",
        *(f"{t},{x:.9g},{y:.9g}" for t, x, y in zip(times, command, actual, strict=True)),
    ]


def stamps(unit: str, began: Decimal = Decimal(0)) -> list[str]:
    """The times of the samples, all digits, as a clock of that unit writes them."""
    return [f"{((began + k * PERIOD) * SMALLER[unit]).normalize():f}" for k in range(COUNT)]


@pytest.fixture
def identified(dock, tmp_path):
    def command(text, *options, kind="robot"):
        ended = dock("identify", kind, written(tmp_path, text), *options, "--json")
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return command


ORDERS = ("--orders", "2,2", "--delay", "0")


def without_warnings(found: dict) -> dict:
    return {key: value for key, value in found.items() if key != "warnings"}


@pytest.mark.parametrize("unit", SMALLER)
def test_all_units_give_the_same_robot(identified, unit):
    plain = identified(robot_log(stamps("s"), "time [s]"), *ORDERS)
    shown = identified(robot_log(stamps(unit, BEGAN), "time"), *ORDERS)
    assert without_warnings(shown) == without_warnings(plain) and plain["period_s"] == 0.002
    assert f"time: no unit stated; stamps since 1970, taken as {unit}" in shown["warnings"]
    for heading, options in ((f"time [{unit}]", ()), (f"time_{unit}", ()), ("time", ("--unit", f"time={unit}"))):
        for began in (Decimal(0), BEGAN):
            stated = identified(robot_log(stamps(unit, began), heading), *ORDERS, *options)
            assert stated == plain, (heading, began)


def test_what_was_taken_is_said_on_the_terminal(dock, tmp_path):
    name = written(tmp_path, robot_log(stamps("ms", BEGAN), "time"))
    ended = dock("identify", "robot", name, *ORDERS)
    assert "warning: time: no unit stated; stamps since 1970, taken as ms" in " ".join(ended.stdout.split())


@pytest.mark.full
def test_a_bounce_in_milliseconds_since_1970(identified):
    text = bounced()
    text[0] = text[0].replace("time [ms]", "time")
    moved = [text[0], *(f"{1.7e12 + float(row.split(',')[0]):.0f},{row.partition(',')[2]}" for row in text[1:])]
    plain, shown = identified(bounced(), kind="contact"), identified(moved, kind="contact")
    assert without_warnings(shown) == without_warnings(plain)
    assert any("taken as ms" in warning for warning in shown["warnings"])


def test_a_stated_period_tells_the_unit(identified):
    found = identified(robot_log(stamps("ms"), "time"), *ORDERS, "--period", "2 ms")
    assert found["period_s"] == 0.002
    assert any("taken as ms, by the period" in warning for warning in found["warnings"])


def test_a_unit_behind_the_name_of_any_column(identified):
    rows = robot_log(stamps("s"), "time_s")
    short = [rows[0].replace(" [mm]", "_mm"), *rows[1:]]
    assert identified(short, *ORDERS) == identified(rows, *ORDERS)


@pytest.mark.parametrize(
    ("times", "heading", "options", "words"),
    [
        (
            stamps("ms"),
            "time",
            (),
            "time: no unit stated, and steps of 2 from 0 may be in several; state it with --unit",
        ),
        (stamps("ns", Decimal("1.5")), "time", (), "steps of 2e+06 from 1500000000"),  # nanoseconds since a start
        (stamps("ns"), "t", (), "t: no unit stated"),
        (stamps("ms", BEGAN), "time [s]", (), "beyond the year 2099 in the unit stated; in ms they count from 1970"),
        (stamps("µs", BEGAN), "time_ms", (), "in µs they count from 1970"),
        (stamps("ms"), "time [s]", ("--period", "2 ms"), "steps of 2 s, in the unit stated, do not fit the period"),
        (stamps("ms"), "time", ("--unit", "time=s", "--period", "2 ms"), "do not fit the period of 0.002 s"),
        (
            [1700000000000] * COUNT,
            "time",
            (),
            "row 3: time 1700000000000 s is not after 1700000000000 s in the row before",
        ),
    ],
)
def test_stamps_that_may_be_in_several_units_are_refused(dock, tmp_path, times, heading, options, words):
    ended = dock("identify", "robot", written(tmp_path, robot_log(times, heading)), *options)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith("error: log.csv: ") and words in ended.stderr


def overlay_log(times: list, heading: str) -> list[str]:
    return [f"{heading},normal_force [N]", *(f"{t},1" for t in times)]


def test_a_log_beside_a_run(shared_run, tmp_path):
    from dockdyn.results.exchange.measured_log import read_measured
    from dockdyn.scenario.language.errors import ScenarioError

    run = shared_run("paraskevas-c", {"duration": "1.5 s"})
    times = [f"{k}" for k in range(0, 1500, 2)]

    def read(text, shift=0.0):
        return read_measured(tmp_path / written(tmp_path, text), run, shift)

    with pytest.raises(ScenarioError, match=r"1 of 750 samples lie within the run if in s, 750 if in ms; state it"):
        read(overlay_log(times, "time"))
    seconds = read(overlay_log([f"{int(t) / 1000}" for t in times], "time"))
    for heading in ("time [ms]", "time_ms"):
        found = read(overlay_log(times, heading))
        np.testing.assert_allclose(found.time, seconds.time, rtol=1e-15)
        assert found.notes == []
    epoch = overlay_log([1700000000000 + int(t) for t in times], "time")
    told = "stamps since 1970; the first is taken as the start of the run; --shift moves it"
    for shift in (0.0, 0.25):
        found = read(epoch, shift)
        np.testing.assert_allclose(found.time, seconds.time + shift, atol=1e-15)
        assert found.notes == ["time: no unit stated; stamps since 1970, taken as ms", f"time: {told}"]
    stated = read([epoch[0].replace("time", "time [ms]"), *epoch[1:]])
    np.testing.assert_allclose(stated.time, seconds.time, atol=1e-15)
    assert stated.notes == [f"time [ms]: {told}"]
    found = read(epoch, -1.7e9)  # a shift that is itself since 1970
    np.testing.assert_allclose(found.time, seconds.time, atol=1e-15)
    assert found.notes == ["time: no unit stated; stamps since 1970, taken as ms"]

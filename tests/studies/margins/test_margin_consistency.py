"""What `dockdyn stability` says of random loops: every row beside the exact verdict, sensitivities beside recomputation."""

import json

import numpy as np
import pytest
import xarray as xr
from helpers.line_rig import HEAD
from numpy.testing import assert_allclose
from report_page import Page

import dockdyn
from dockdyn.docking.resting import nominal_loop, nominal_of
from dockdyn.pages import report_html, report_of
from dockdyn.report.terminal import show_report
from dockdyn.scenario.language.keys import value_at
from dockdyn.stability.growth import batch_of_one, growth_rates
from dockdyn.stability.loop_margins import vary_number
from dockdyn.stability.windows import Windows
from dockdyn.studies.margins.answer import critical_delay
from dockdyn.studies.margins.approximation import ORDERS

SI = {"title": "random rig", "duration": 30.0}


def rig(rng, structure):
    """Overrides of the preset `sits`: a rig of the given structure with random numbers."""
    mass, frequency, ratio = rng.uniform(100, 900), rng.uniform(4, 30), rng.uniform(0, 0.15)
    changes = {
        "body.target.mass": mass,
        "contact.spring.normal.stiffness": mass * frequency**2,
        "contact.spring.normal.damping": 2 * ratio * mass * frequency,
        "loop.sensor.delay": rng.choice([0.002, rng.uniform(1e-3, 8e-3), 0.03 * rng.uniform()]),
    }
    parts = structure.split()
    if "sensor" in parts:
        changes["loop.sensor.period"] = 0.002
    if "stepped" in parts:
        changes["loop.dynamics"] = {"period": 0.004, "method": "zero-order-hold"}
    if "half" in parts:
        changes["loop.dynamics"] = {"period": rng.uniform(1e-3, 6e-3), "method": "half-period"}
    lag = changes["loop.sensor.delay"] + 2.5e-3
    gain = changes["contact.spring.normal.stiffness"] * lag * rng.uniform(0.3, 1.6)
    if "gain" in parts or "model" in parts:
        velocity = "model" if "model" in parts else "robot"
        changes["loop.compensator"] = {"law": "fixed-gain", "gain": gain, "velocity": velocity}
    if "lead" in parts:
        leads = {"lead": lag * rng.uniform(0.3, 1.6), "second_lead": lag**2 * rng.uniform(0, 0.8)}
        changes["loop.compensator"] = {"law": "command-lead", **leads}
    return changes


def continuous(rng, structure):
    """A contact of two bodies with a delay alone, or a rig without instants."""
    if "bodies" in structure:
        return "probe-cone", {
            "loop.delay": rng.uniform(0, 0.3),
            "contact.probe.normal.damping": rng.uniform(0, 1500),
            "contact.probe.normal.stiffness": rng.uniform(2e3, 4e4),
        }
    return "continuous", rig(rng, structure)


WITHOUT_HOLD = f"""{HEAD}
duration = 60.0
body.target.mass = "500 kg"
contact.spring.bilateral = true
[contact.spring.normal]
law = "spring-dashpot"
stiffness = "20000 N/m"
damping = "50 N s/m"
adhesion = true
[loop.robot]
poles = [-200.0]
gain = 200.0
[loop.sensor]
delay = "2 ms"
"""


def scenario_of(rng, structure, folder):
    if "bodies" in structure or "continuous" in structure:
        name, changes = continuous(rng, structure)
        if name == "continuous":
            name = folder / "continuous.toml"
            name.write_text(WITHOUT_HOLD)
        return dockdyn.load(name, changes)
    return dockdyn.load("sits", rig(rng, structure))


def told(margins, capsys):
    """What the terminal and the report say of margins."""
    capsys.readouterr()
    attributes = {"title": "a rig", "setup": "rig", "scenario": "schema = 2\n", "dockdyn_version": "1"}
    dataset = xr.Dataset(attrs=attributes | {"study": "stability", "margins": json.dumps(margins)})
    show_report(report_of(dataset))
    return " ".join(capsys.readouterr().out.split()), Page(report_html(dataset))


def check_consistent(margins, capsys):
    """No row contradicts the verdict without saying why."""
    stable, delay, critical = margins["stable"], margins["delay_s"], margins["critical_delay_s"]
    windows = [(low, np.inf if high is None else high) for low, high in margins["stable_delays_s"]]
    assert stable == (margins["growth_rate_1_s"] < 0)
    if margins["spectral_radius"] is not None:
        assert stable == (margins["spectral_radius"] < 1)
    terminal, report = told(margins, capsys)
    text = " ".join(report.text.split())
    assert ("Stable:" in text) == stable or "On the edge" in text
    if delay in np.ravel(windows):  # at an instant of the loop, where the growth rate jumps to either side
        assert any("is an instant of the loop" in words for words in margins["warnings"]) or delay == 0
    else:
        assert any(low < delay < high for low, high in windows) == stable
    if critical is None:
        if stable and windows[-1][1] < np.inf:  # looked no further
            assert "it stays so with delays up to" in text and "delays were looked at up to" in terminal
        else:
            assert not stable or "stays stable whatever the delay" in text
    else:
        assert margins["delay_margin_s"] == critical - delay
        assert (critical >= delay) if stable else (critical <= delay)
        assert ("more delay (critical delay" in text) == stable
    assert ("unstable at any delay" in text) <= (not windows)
    if len(windows) > 1 or (windows and windows[0][0] > 0):
        assert "It is stable with delays" in text and "It is stable with delays" in terminal
    approximations = report.tables.get("Exact delay and Padé approximations", [])
    for order in ORDERS if margins["pade"] else ():
        found = margins["pade"][str(order)]
        assert (found["stable"] != stable) == (found["reason"] is not None)
        assert found["stable"] == (found["growth_rate_1_s"] < 0) or abs(found["growth_rate_1_s"]) < 1e-9
        if found["reason"]:
            row = next(row for row in approximations if row and row[0] == f"Padé, order {order}")
            assert found["reason"] in row[-1]
            assert f"Padé {order} is wrong: {found['reason']}" in terminal
    gain = margins["gain"]
    inside = any(
        (low is None or low < gain) and (high is None or gain < high)
        for low, high in margins["stabilising_gains_N_s_m"]
    )
    assert inside == stable
    ratio = margins["amplitude_ratio_per_oscillation"]
    if ratio is None:
        assert "left out" in " ".join(margins["warnings"]) or margins["overdamped"]
    elif not stable:
        assert ratio > 1  # of an ideal contact that does not grow
    assert (margins["steady_state_force_error"] is not None) == stable


def with_own(scenario):
    """Margins, with what the tests need of the scenario."""
    found = dockdyn.margins(scenario)
    law = scenario.content.loop.compensator
    gain = getattr(law, "gain", None) or 0.0
    damping = found["damping_N_s_m"] / 2 / np.sqrt(found["stiffness_N_m"] * found["effective_mass_kg"])
    return found | {"gain": float(gain), "overdamped": bool(damping >= 1)}


STRUCTURES = ["bodies", "continuous", "continuous gain", "hold", "hold gain", "hold lead"]
LONGER = ["continuous model", "hold model", "half gain", "sensor", "sensor lead", "stepped", "stepped sensor lead"]
LONGER += ["stepped sensor gain", "stepped lead"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("structure", "count"),
    [("bodies", 2), ("continuous", 2), ("hold lead", 2)]
    + [pytest.param(structure, 25, marks=pytest.mark.full) for structure in STRUCTURES + LONGER],
)
def test_no_row_contradicts_the_verdict(structure, count, capsys, tmp_path):
    rng = np.random.default_rng(sum(map(ord, structure)))
    verdicts = []
    for _ in range(count):
        found = with_own(scenario_of(rng, structure, tmp_path))
        check_consistent(found, capsys)
        verdicts.append(found["stable"])
    assert len(set(verdicts)) == 2 or count < 10


# --- sensitivities beside recomputation ------------------------------------------------------------------------------


STEP = 1e-4  # by which keys are changed, as a share of themselves


def changed(scenario, keys, factor):
    """The scenario read again with keys scaled together, as `--set` does."""
    values = {key: value_at(scenario.content, key, scenario.name).value for key in keys}
    return scenario.at({key: value * factor for key, value in values.items()})


def recomputed(scenario, nominal, found):
    """The growth rate of a scenario's own loop, or its delay margin: stability first changes near the critical delay."""
    one, _ = nominal_loop(scenario, nominal)
    if found["sensitivity_of"] == "growth_rate_1_s":
        return growth_rates(batch_of_one(one))[0]
    low, high = (found["critical_delay_s"] * (1 + side * 20 * STEP) for side in (-1, 1))
    rising = growth_rates(vary_number(one, "delay", np.array([low])))[0] < 0
    for _ in range(10):  # by 17 points at a time
        points = np.linspace(low, high, 17)
        before = np.flatnonzero((growth_rates(vary_number(one, "delay", points)) < 0) != rising)[0]
        low, high = points[before - 1], points[before]
    return low / 2 + high / 2 - float(one.delay)


def check_sensitivities(scenario):
    """Every row beside the margin of the scenario with these keys really changed; the largest error over the largest row."""
    found = dockdyn.margins(scenario)
    nominal = nominal_of(scenario)
    errors = {}
    for row, stated in found["sensitivities"].items():
        up, down = (recomputed(changed(scenario, row.split(", "), 1 + side * STEP), nominal, found) for side in (1, -1))
        errors[row] = (up - down) / (2 * STEP) - stated
    size = max(map(abs, found["sensitivities"].values()))
    assert_allclose(list(errors.values()), 0, rtol=0, atol=5e-5 * size, err_msg=f"{found['sensitivities']} {errors}")
    return found


@pytest.mark.full
@pytest.mark.parametrize(
    ("structure", "count"),
    [("continuous gain", 3)]
    + [pytest.param(structure, 8, marks=pytest.mark.full) for structure in STRUCTURES + LONGER],
)
def test_every_sensitivity_is_a_change_that_a_rig_can_make(structure, count, tmp_path):
    rng = np.random.default_rng(1 + sum(map(ord, structure)))
    for _ in range(count):
        found = check_sensitivities(scenario_of(rng, structure, tmp_path))
        if "sensor" in structure:
            assert not {"loop.hold.period", "loop.sensor.period"} & set(found["sensitivities"])


@pytest.mark.full
def test_periods_that_are_tied_are_scaled_together():
    """Hold and dynamics at 4 ms, sensor at 1 ms: one row, and its sign is that of a rig made slower as a whole."""
    stepped = {"period": 0.004, "method": "zero-order-hold"}
    scenario = dockdyn.load(
        "sits", {"loop.sensor.period": 0.001, "loop.sensor.delay": 0.0023, "loop.dynamics": stepped}
    )
    found = check_sensitivities(scenario)
    (row,) = (row for row in found["sensitivities"] if "period" in row)
    assert row == "loop.hold.period, loop.sensor.period, loop.dynamics.period"
    assert found["sensitivities"][row] > 0  # slower makes it grow faster
    assert "loop.robot.poles.0.0, loop.robot.poles.1.0" in found["sensitivities"]


@pytest.mark.full
def test_a_delay_that_ends_at_an_instant_has_no_slope_where_the_growth_rate_jumps():
    """Stepped at 2 ms with 2 ms of delay the dashpot is never seen; a little less, and it is."""
    stepped = {"period": 0.002, "method": "zero-order-hold"}
    found = dockdyn.margins(dockdyn.load("sits", {"loop.dynamics": stepped}))
    (words,) = (words for words in found["warnings"] if "instant of the loop" in words)
    just = [
        dockdyn.margins(dockdyn.load("sits", {"loop.dynamics": stepped, "loop.sensor.delay": 0.002 + side * 1e-7}))
        for side in (-1, 1)
    ]
    for each in just:
        assert f"{each['growth_rate_1_s']:.2g}" in words or f"{each['growth_rate_1_s']:.3g}" in words
    assert not {"loop.sensor.delay", "loop.hold.period, loop.dynamics.period"} & set(found["sensitivities"])
    assert "contact.spring.normal.stiffness" in found["sensitivities"]


def test_a_crossing_where_the_search_ends_is_the_critical_delay():
    """A delay at which the growth rate has been seen to become positive; one at which the search ended is none."""
    crossed = Windows([(0.0, 0.032)], [(0.032, 7.2)], 0.032)
    assert critical_delay(crossed, 0.015, True) == (0.032, [])
    found, (doubt,) = critical_delay(crossed._replace(crossings=[]), 0.015, True)
    assert found is None and "up to 0.032 s only" in doubt

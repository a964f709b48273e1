"""Impacts of mechanisms beside what else there is: rigid latches that hold, derivatives, FMUs."""

import json

import jax
import numpy as np
import pytest
from plain_tables import acting, contacts_by_name

import dockdyn
from dockdyn.exchange.comparison import check_fmu
from dockdyn.exchange.fmu import fmu_of, unit_of
from dockdyn.pages import report_html
from dockdyn.report.charts import contact_charts
from dockdyn.report.charts.live_charts import chart_as_json, without_nan
from dockdyn.report.columns import PageColumns

BALL, PLATE, BACK, SPEED, RESTITUTION = 2.0, 5.0, 8.0, 0.6, 0.7  # kg, kg, kg, m/s


def onto_a_plate(impact, grip=None):
    """On a line: a ball flies onto a plate, behind which a latch may hold another body from the start."""
    bodies = {
        "plate": {
            "mass": PLATE,
            "inertia": [1.0] * 3,
            "surface": {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [1, 0, 0]}},
        },
        "ball": {
            "mass": BALL,
            "inertia": [0.1] * 3,
            "position": [0.4, 0, 0],
            "velocity": [-SPEED, 0, 0],
            "feature": {"skin": {"position": [0, 0, 0], "radius": 0.1}},
        },
        "back": {"mass": BACK, "inertia": [1.0] * 3, "position": [-1, 0, 0]},
    }
    hook = {"kind": "latch", "name": "hook", "between": ["back", "plate"], "anchor": [[1, 0, 0], [0, 0, 0]]}
    hook |= {"axis": [-1, 0, 0], "reach": 0.01, "lateral": 0.01, "grip": grip}
    contact = {"between": ["skin", "top"], "impact": impact}
    content = {
        "schema": 2,
        "duration": 1.0,
        "body": bodies,
        "contact": contacts_by_name([contact]),
    }
    return content if grip is None else content | {**acting(hook)}


@pytest.mark.full
@pytest.mark.parametrize("grip", ["weld", "pin"])
def test_what_a_latch_holds_is_struck_with_it(grip):
    """The plate and the body behind it are one mass while the latch holds; restitution is Newton's."""
    run = dockdyn.simulate(dockdyn.load(onto_a_plate({"law": "frictionless", "restitution": RESTITUTION}, grip)))
    assert run.latch_held.values.all()
    held = PLATE + BACK
    impulse = (1 + RESTITUTION) * SPEED * BALL * held / (BALL + held)
    np.testing.assert_allclose(
        run.velocity.values[-1, :, 0], [-impulse / held, -SPEED + impulse / BALL, -impulse / held], rtol=1e-10
    )
    assert run.impact_impulse.values[-1, 0] == pytest.approx(impulse, rel=1e-10)
    total = run.kinetic_energy.values + run.internal_energy.values - run.work.values
    assert np.ptp(total) < 1e-12 * total[0]


@pytest.mark.full
def test_a_page_of_impacts_without_rest_has_its_charts():
    """Such contacts have no time of a largest force, which no page can read: all charts of one with a NaN stay empty."""
    run = dockdyn.simulate(dockdyn.load(onto_a_plate({"law": "frictionless", "restitution": RESTITUTION})))
    assert run.sizes["episode"] and np.isnan(run.episode_peak_time.values).all()
    for chart in (contact_charts.normal_force(run), contact_charts.depth_chart(run), contact_charts.energy_chart(run)):
        columns = PageColumns()
        facts = chart_as_json(chart, columns)
        json.dumps([without_nan(facts), columns.packed()], allow_nan=False)
    assert " contact by impact laws; largest normal impulse" in report_html(run)


@pytest.mark.full
def test_two_contacts_of_one_name_are_told():
    """What is stated twice is struck twice at one instant, in equal shares, and the summary warns of the name once."""
    content = onto_a_plate({"law": "frictionless", "restitution": RESTITUTION})
    contact = content["contact"]["skin"]
    run = dockdyn.simulate(dockdyn.load(content | {"contact": {"skin": contact, "again": contact}}))
    impulse = (1 + RESTITUTION) * SPEED * BALL * PLATE / (BALL + PLATE)
    assert run.impact_impulse.values[-1] == pytest.approx([impulse / 2] * 2, rel=1e-3)
    assert run.impact_impulse.values[-1].sum() == pytest.approx(impulse, rel=1e-10)
    assert sum("velocities jump" in words for words in dockdyn.summarise(run)["warnings"]) == 1
    told = dockdyn.summarise(run)["warnings"]
    assert [words for words in told if "velocities jump at contacts" in words and words.count("'again'") == 1]
    assert sum("velocities jump" in words for words in told) == 1


@pytest.mark.full
def test_derivatives_pass_through_impacts():
    """Of the impulse by the restitution and by the ball's velocity, in closed form."""
    scenario = dockdyn.load(onto_a_plate({"law": "frictionless", "restitution": RESTITUTION}))
    objective = dockdyn.objective(scenario, "contact.impulse_N_s")
    at = {"contact.skin.impact.restitution": RESTITUTION, "body.ball.velocity.0": -SPEED}
    found = jax.grad(objective)(at)
    mass = BALL * PLATE / (BALL + PLATE)
    assert float(found["contact.skin.impact.restitution"]) == pytest.approx(mass * SPEED, rel=1e-9)
    assert float(found["body.ball.velocity.0"]) == pytest.approx(-mass * (1 + RESTITUTION), rel=1e-9)


@pytest.mark.full
def test_an_fmu_that_integrates_itself_jumps_alike(tmp_path):
    scenario = dockdyn.load(onto_a_plate({"law": "newton", "restitution": RESTITUTION, "friction": 0.2}))
    file = tmp_path / "struck.fmu"
    file.write_bytes(fmu_of(unit_of(scenario), 3))
    checked = check_fmu(file)
    assert checked.findings == []
    found = {one.variable: one.difference / max(one.largest, 1e-9) for one in checked.differences}
    assert max(found[name] for name in ("position", "velocity", "impact_impulse", "work")) < 1e-9

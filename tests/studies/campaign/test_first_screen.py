"""What the page of a campaign says first: the same numbers as its answers, and the stretch to aim at, known beforehand."""

import re

import numpy as np
import pytest
from campaign_data import campaign_dataset

from dockdyn.report.page import render_page
from dockdyn.report.verdict import sort_of
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.campaign.report import campaign_report


def made(low: float, high: float, runs: int = 1000, limit: str = "< 700 N"):
    """Cases captured above the `low` speed, and of less force than the limit below the `high` one."""
    speed = np.random.default_rng(4).uniform(0.05, 0.10, runs)
    found = {"captured": speed > low, "peak_force_N": 700 * speed / high}
    required = {"captured": True, "peak_force": limit}
    return campaign_dataset({"approach.closing_speed": (speed, "m/s")}, found, requirements=required), speed


def test_the_best_stretch_is_the_one_known_beforehand():
    dataset, speed = made(0.065, 0.085)
    stretch = campaign_answers(dataset)["best_stretch"]
    low, high = np.linspace(speed.min(), speed.max(), 11)[[3, 7]]  # of ten cells those within 65 to 85 mm/s
    assert (stretch["low"], stretch["high"]) == pytest.approx((low, high), abs=0.2e-3)
    inside = speed[(speed >= stretch["low"]) & (speed <= stretch["high"])]
    good = np.sum((inside > 0.065) & (inside < 0.085))
    assert stretch["cases"] == inside.size and stretch["probability"] == good / inside.size > 0.97
    assert stretch["key"] == "approach.closing_speed" and len(stretch["shares"]) == 10


def test_nothing_is_to_aim_at_where_nothing_decides():
    generator = np.random.default_rng(1)
    found = {"captured": generator.random(400) < 0.5, "peak_force_N": generator.random(400)}
    answers = campaign_answers(campaign_dataset({"approach.pitch": (generator.random(400), "rad")}, found))
    assert answers["best_stretch"] is None


def test_the_first_screen_has_the_numbers_of_the_answers():
    dataset, speed = made(0.065, 0.085)
    answers, report = campaign_answers(dataset), campaign_report(dataset)
    meets = (speed > 0.065) & (speed < 0.085)
    share = float(re.match(r"([\d.]+) %", report.headline)[1])
    assert share == pytest.approx(100 * meets.mean(), abs=0.5)
    assert share == pytest.approx(100 * answers["requirements_probability"], abs=0.5)
    worst, other = report.bars  # fewest first
    assert worst.asked == "peak force < 700 N" if np.mean(speed < 0.085) < np.mean(speed > 0.065) else "captured = true"
    force = next(bar for bar in report.bars if bar.asked.startswith("peak"))
    assert force.share == np.mean(speed < 0.085) and worst.share <= other.share
    assert force.margin == f"worst {700 * speed.max() / 0.085:.0f} N, case {speed.argmax()}"
    assert force.verdict == f"met in {np.sum(speed < 0.085)} of 1000 cases"
    html = render_page(report)
    assert html.index("of cases meet all requirements") < html.index('class="requirement') < html.index("Key figures")


@pytest.mark.parametrize(
    ("limit", "low", "sort"), [("< 9 kN", 0.0, "ok"), ("< 9 kN", 0.06, "warn"), ("< 9 N", 0.0, "bad")]
)
def test_a_campaign_is_judged_by_how_many_meet_all(limit, low, sort):
    assert sort_of(campaign_report(made(low, 0.085, limit=limit)[0])) == sort

"""What the page of a campaign makes of cases, by Node: the numbers that Python makes of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from page_script import needs_node, run_in_web

from dockdyn.results.outcome import is_moment, only_grows
from dockdyn.results.requirements import BOUNDED
from dockdyn.scenario.distributions.distribution import LAWS
from dockdyn.studies.campaign.cases import CampaignCases, Required
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.cases.statistics import percentile_interval, wilson_interval

PLACES = (1, 50, 90, 95, 99)
STATED = {  # of each law that a page scales
    "uniform": {"low": -0.3, "high": 0.1},
    "normal": {"mean": 0.07, "std": 0.013},
    "log-normal": {"median": 7.3, "sigma": 0.2},
    "disc": {"radius": 0.1, "centre": [0.3, -1.7]},
}


def told(tmp_path, **asked):
    """What the page's script answers to what is asked."""
    files = [tmp_path / name for name in ("asked.json", "answers.json", "run_cases.mjs")]
    everything = {"shares": [], "values": [], "laws": [], "cases": []} | asked
    files[0].write_text(json.dumps(everything).replace("NaN", '"nan"'))
    run_in_web(
        *("npx", "esbuild", "test/run_cases.ts", "--bundle", "--format=esm", "--platform=node", "--log-level=error"),
        f"--outfile={files[2]}",
    )
    run_in_web("node", *map(str, [files[2], *files[:2]]))
    return json.loads(files[1].read_text())


@pytest.mark.full
@needs_node
def test_shares_and_percentiles_are_those_of_the_command(tmp_path):
    rng = np.random.default_rng(7)
    shares = [(int(rng.integers(0, runs + 1)), int(runs)) for runs in rng.integers(1, 3000, 200)] + [(0, 5), (5, 5)]
    values = [rng.normal(size=count).tolist() for count in (1, 2, 3, 17, 256, 367, 368, 1000, 4000)]
    found = told(tmp_path, shares=shares, values=[{"of": one, "places": PLACES} for one in values])
    for (successes, runs), ends in zip(shares, found["shares"], strict=True):
        np.testing.assert_allclose(ends, wilson_interval(successes, runs), rtol=1e-14, atol=1e-16)
    for one, answers in zip(values, found["values"], strict=True):
        known = np.sort(one)
        for place, (value, low, high) in zip(PLACES, answers, strict=True):
            assert value == np.percentile(known, place)
            assert (low, high) == percentile_interval(known, place / 100)


@needs_node
def test_cases_are_drawn_as_the_command_draws_them(tmp_path):
    moved = {name for name, law in LAWS.items() if law.moved}
    assert moved == set(STATED)
    rng, laws = np.random.default_rng(3), [LAWS[name](distribution=name, **given) for name, given in STATED.items()]
    cubes = [rng.uniform(size=(500, law.size())) for law in laws]
    asked = [
        {
            "law": law.distribution,
            "centre": getattr(law, "centre", []),
            "fields": {name: getattr(law, name) for name in law.moved},
            "draws": law.draws(cube).T.tolist(),
        }
        for law, cube in zip(laws, cubes, strict=True)
    ]
    for law, cube, found in zip(laws, cubes, told(tmp_path, laws=asked)["laws"], strict=True):
        np.testing.assert_array_equal(np.transpose(found), law.inverse(cube), err_msg=law.distribution)


def cases_at_random(rng, count):
    """Cases that fail, are captured, end undecided, have no figure or but a lower bound, and requirements on them."""
    yes_or_no = lambda share: (rng.uniform(size=count) < share).astype(float)  # noqa: E731, a line
    numbers = lambda share: np.where(rng.uniform(size=count) < share, np.nan, rng.uniform(0, 2, count))  # noqa: E731, a line
    failed = rng.uniform(size=count) < 0.1
    figures = {
        "captured": yes_or_no(0.5),
        "outcome_open": yes_or_no(0.3),
        "peak_force_known": yes_or_no(0.7),
        "end_time_s": numbers(0.0),
        "peak_force_N": numbers(0.1),
        "capture_time_s": numbers(0.5),
        "kinetic_energy_end_J": numbers(0.1),
        "contact.energy_change_J.least": numbers(0.1),
        "contact.energy_change_J.largest": numbers(0.1),
    }
    figures = {name: np.where(failed, np.nan, values) for name, values in figures.items()}
    of = [("captured", "==", True), ("captured", "==", False)]
    of += [
        (name, relation, 1.0)
        for name in ("peak_force_N", "capture_time_s", "kinetic_energy_end_J", "contact.energy_change_J")
        for relation in ("<", "<=", ">", ">=")
    ]
    required = tuple(
        Required(f"{name} {relation}", name, relation, limit, "", relation) for name, relation, limit in of
    )
    reasons = ["it failed" if one else "" for one in failed]
    return CampaignCases(np.arange(count), {}, figures, {}, {}, reasons, required, {})


@pytest.mark.full
@needs_node
def test_cases_are_judged_as_the_command_judges_them(tmp_path):
    rng = np.random.default_rng(11)
    drawn = cases_at_random(rng, 400)
    several = [replace(drawn, requirements=drawn.requirements[first::5]) for first in range(5)]
    asked = [
        {
            "requirements": [
                {"name": one.name, "figure": one.figure, "relation": one.relation, "limit": one.limit, "unit": ""}
                | {"si": "", "scale": 1.0, "bounded": one.figure in BOUNDED}
                | {"grows": only_grows(one.figure), "moment": is_moment(one.figure)}
                for one in cases.requirements
            ],
            "figures": {name: values.tolist() for name, values in cases.figures.items()},
            "count": cases.count,
        }
        for cases in several
    ]
    for cases, found in zip(several, told(tmp_path, cases=asked)["cases"], strict=True):
        judged = judge_cases(cases)
        assert judged.all_met.any() or len(cases.requirements) > 2
        for name, expected in (("met", judged.met), ("open", judged.open)):
            np.testing.assert_array_equal(found[name], expected, err_msg=name)
        np.testing.assert_array_equal(found["allMet"], judged.all_met)
        np.testing.assert_array_equal(found["allOpen"], judged.all_open)
        margins = np.array([[float(one) for one in row] for row in found["margin"]])
        np.testing.assert_array_equal(margins, judged.margin)


@pytest.mark.parametrize("name", STATED)
def test_what_scales_a_law_is_what_it_is_drawn_by(name):
    """Draws do not depend on the numbers that a page can set."""
    cube = np.random.default_rng(1).uniform(size=(20, LAWS[name](distribution=name, **STATED[name]).size()))
    law = LAWS[name](distribution=name, **STATED[name])
    other = law.model_copy(update={field: 3.1 * getattr(law, field) + 7 for field in law.moved})
    np.testing.assert_array_equal(law.draws(cube), other.draws(cube))

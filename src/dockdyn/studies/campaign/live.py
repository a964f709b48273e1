"""What the page of a campaign needs to run all its cases again with other numbers, and to say what comes of them.

Its cases are drawn again from what they were drawn from, before the parameters of distributions that a page can set scale it.

Units: SI.
Source: definition.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.api import simulate, summarise
from dockdyn.dataset import Dataset
from dockdyn.report.columns import PageColumns
from dockdyn.report.live import requirement_in_page, shown_run, with_thousands
from dockdyn.report.report import Report
from dockdyn.report.wording import format_significant
from dockdyn.results.browser_unit import DELAY, MOST_BYTES, TooMuch
from dockdyn.results.key_figures import left_out
from dockdyn.results.outcome import is_moment, only_grows
from dockdyn.results.overlap import DEEP
from dockdyn.results.requirements import KNOWN, ends_of
from dockdyn.scenario.distributions.dispersion import Dispersion
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.load import Scenario, parse
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.campaign.answers import WORST, rerun_command, worst_first
from dockdyn.studies.campaign.cases import CampaignCases, Required, campaign_cases
from dockdyn.studies.campaign.first_failure import CONTACTS, SPARE, Judged, judge_cases
from dockdyn.studies.campaign.tables import listed_figures
from dockdyn.studies.campaign.wording import figure_words
from dockdyn.studies.cases.sampling import CUBES

MOST_STEPS = 4_000_000  # of all cases together, beyond which a page is too slow
COMPARED = 256  # cases whose figures the page compares to the last bit as it opens
NUMBER_BYTES = 11  # of a number that is kept to the last bit, as text
ALWAYS = (
    "captured",
    "outcome_open",
    KNOWN,
    "end_time_s",
    SPARE,
    CONTACTS,
)  # that cases are judged by, where there are any


class LiveCampaign:
    """A campaign as its page runs it again."""

    def __init__(self, dataset: Dataset, folder: Path | None = None):
        self.dataset, self.cases = dataset, campaign_cases(dataset)
        self.judged = judge_cases(self.cases)
        source = str(dataset.attrs.get("source", ""))
        self.scenario = parse(str(dataset.attrs["scenario"]), "campaign", folder=folder or Path(source).parent)

    def refuse_beyond(self) -> None:
        """Raise TooMuch where the scenario, or how many cases there are, tells that a page cannot run them."""
        cases = self.cases
        setup = setup_named(self.scenario.setup)
        if setup.key_figures() is None:
            raise TooMuch("cases of this setup are not computed in a page")
        if why := setup.not_in_pages(self.scenario):
            raise TooMuch(why)
        if (planned := int(cases.attributes.get("runs", cases.count))) > cases.count:
            raise TooMuch(f"{planned - cases.count} of its cases are still to run")
        steps = cases.figures.get("steps")
        total = np.inf if steps is None else float(np.nansum(steps))
        if total > MOST_STEPS:
            taken = "an unknown number of" if steps is None else format_significant(total / 1e6, 2) + " million"
            raise TooMuch(f"its {with_thousands(cases.count)} cases take {taken} steps, which takes a page too long")
        drawn = len(cases.values) + len(_figures_to_compare(cases))
        if NUMBER_BYTES * cases.count * drawn > MOST_BYTES:
            raise TooMuch(f"its {with_thousands(cases.count)} cases are more numbers than a page should carry")

    def programs(self) -> dict[str, Any]:
        """Return what the page runs a case by. Raises TooMuch, and Untranslatable where XLA computes a part of a run."""
        known = setup_named(self.scenario.setup).key_figures()
        assert known is not None, self.scenario.setup
        return shown_run(self.scenario, known.figures, left_out(known.figures, known.stated(self.scenario.content)))

    def data(self, run: dict[str, Any], columns: PageColumns, command: str, folder: str) -> dict[str, Any]:
        """Return what the page reads, as JSON has it: its programs `run` a case, numbers of cases are in `columns`, `command`
        is what gives the campaign, and `folder` what those for single cases name. Raises TooMuch."""
        scenario, cases = self.scenario, self.cases
        figures = _figures_to_compare(cases)
        if absent := [name for name in figures if f"figure.{name}" not in run["unit"]["results"]]:
            raise TooMuch(f"{absent[0]} is not among the figures that its programs give")
        draws = self._drawn()
        return run | {
            "cases": cases.count,
            "command": command,
            "rerun": rerun_command(folder, 0).removesuffix(" 0"),
            "laws": [
                self._scale_distribution(*both, run, columns) for both in zip(scenario.dispersions, draws, strict=True)
            ],
            "stored": {name: columns.place_bits(cases.figures[name], self._exact_rows(name)) for name in figures},
            "compared": COMPARED,
            "failed": [int(place) for place in np.flatnonzero(cases.failed)],
            "requirements": [_requirement(one, run) for one in cases.requirements],
            "loads": list(listed_figures(cases)),
            "named": {name: [figure_words(cases, name), cases.units[name]] for name in figures},
            "peak": cases.peak_force,
            "captures": cases.captured is not None,
            "rooms": [room or DEEP for _, room in scenario.content.meetings()],
            "worst": [int(place) for place in worst_first(cases, self.judged)[:WORST]],
            "deciding": _deciding(cases, self.judged),
        }

    def _drawn(self) -> list[np.ndarray]:
        """Return what each distribution drew before its own numbers scaled it; TooMuch where that gives other cases."""
        cases, scenario = self.cases, self.scenario
        sizes = [one.size for one in scenario.dispersions]
        seed, sampling = int(cases.attributes["seed"]), str(cases.attributes["sampling"])
        cube = CUBES[sampling](sum(sizes), cases.count, seed, 0, cases.count)
        parts = np.split(cube, np.cumsum(sizes)[:-1], axis=1)
        for one, part in zip(scenario.dispersions, parts, strict=True):
            stored = np.stack([cases.values[key] for key in one.keys], axis=1)
            if not np.array_equal(one.values(part), stored):
                raise TooMuch(f"{one.keys[0]} is drawn otherwise today than when it ran")
            if DELAY in one.keys and not (stored[:, one.keys.index(DELAY)] > 0).all():
                raise TooMuch("some of its cases are without a delay, which is another program")
        return [one.law.draws(part) for one, part in zip(scenario.dispersions, parts, strict=True)]

    def _scale_distribution(
        self, one: Dispersion, draws: np.ndarray, run: dict[str, Any], columns: PageColumns
    ) -> dict[str, Any]:
        """Return a distribution as the page scales it: where its values go, and which of its numbers can be set, under which
        keys."""
        numbers = run["unit"]["numbers"]
        places = {key: index for index, number in enumerate(numbers) for key in (number["key"], *number["keys"])}
        if lacking := [key for key in one.keys if key not in places]:
            raise TooMuch(f"{lacking[0]} is no number that a page can set")
        table = f"dispersion.{one.table}" if one.table else one.keys[0]
        if one.table is None and one.law.count() > 1:
            table = table.rpartition(".")[0]
        return {
            "law": one.law.distribution if one.law.moved else "",
            "keys": list(one.keys),
            "places": [places[key] for key in one.keys],
            "table": table,
            "fields": {name: float(getattr(one.law, name)) for name in one.law.moved},
            "centre": [float(part) for part in getattr(one.law, "centre", ())],
            "unit": value_at(self.scenario.content, one.keys[0], "campaign").unit,
            "draws": _place_draws(one.law.distribution, draws.T, columns),
        }

    def _exact_rows(self, name: str) -> int | None:
        """Return of how many cases a figure is kept to the last bit: of all (None) where single precision judges one
        otherwise."""
        values = self.cases.figures[name]
        near = values.astype(np.float32).astype(float)
        limits = [one.limit for one in self.cases.requirements if name in (one.figure, *ends_of(one.figure))]
        kept = all(np.array_equal(np.sign(near - limit), np.sign(values - limit), equal_nan=True) for limit in limits)
        return COMPARED if kept else None

    def shown_case(self) -> tuple[int, Scenario, Dataset, Report]:
        """Return the case that the page shows in motion at first, the worst: its number, scenario, run and report."""
        worst = worst_first(self.cases, self.judged)
        place = worst[0] if worst else 0
        case = self.scenario.at({key: float(values[place]) for key, values in self.cases.values.items()})
        run = simulate(case)
        return int(self.cases.number[place]), case, run, setup_named(case.setup).report(run, summarise(run))


def _place_draws(law: str, draws: np.ndarray, columns: PageColumns) -> list[int]:
    """Return the places of what a distribution drew, a row each: of a disc the last one, a sine, beside its cosine."""
    if law != "disc":
        return [columns.place_bits(drawn) for drawn in draws]
    away, cosine, sine = draws
    return [columns.place_bits(away), columns.place_bits(cosine), columns.place_on_circle(sine, cosine)]


def _figures_to_compare(cases: CampaignCases) -> list[str]:
    """Return the figures that the page carries of every case: those it is judged by, and those of its tables."""
    required = [
        name for one in cases.requirements for name in (one.figure, *ends_of(one.figure)) if name in cases.figures
    ]
    return list(dict.fromkeys([*(name for name in ALWAYS if name in cases.figures), *required, *listed_figures(cases)]))


def _requirement(one: Required, run: dict[str, Any]) -> dict[str, Any]:
    """Return a requirement for the page; TooMuch where no case has its figure."""
    if not np.isfinite(one.limit):
        raise TooMuch(f"no case has the figure {one.figure} of a requirement")
    found = requirement_in_page(
        {"name": one.name, "figure": one.figure, "relation": one.relation, "limit": one.limit}
        | {"unit": one.unit, "text": one.text}
    )
    return found | {"si": one.unit, "grows": only_grows(one.figure), "moment": is_moment(one.figure)}


def _deciding(cases: CampaignCases, judged: Judged) -> list[str]:
    """Return the keys that were varied, that which decides most of what is judged first."""
    from dockdyn.studies.campaign.capture_map import outcome_of
    from dockdyn.studies.campaign.influence import influence_of_keys

    found = outcome_of(cases, judged)
    first = influence_of_keys(cases.values, found[1]) if found is not None else {}
    return list(dict.fromkeys([*first, *cases.values]))

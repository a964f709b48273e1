"""What is differentiated: a figure of one run, of many drawn cases, or of the margins, as it is written."""

from __future__ import annotations

import re

from dockdyn.records import record
from dockdyn.results.requirements import unit_of_figure
from dockdyn.scenario.language.errors import ScenarioError, shown

SHARE = r"(\d+(?:\.\d+)?) ?%"
OF_CASES = re.compile(rf"(?:{SHARE} of |(mean|probability) of )?(\S+)")
MARGINS = ("critical_delay_s", "delay_margin_s", "growth_rate_1_s")  # of `dockdyn.margins`


@record
class Figure:
    """A figure of the summary of a run, or of its margins, or what it is over cases."""

    text: str  # as written
    name: str  # key of the summary, or one of MARGINS
    over: str = ""  # "percentile", "mean" or "probability" of cases; empty: the run alone
    share: float = 0.0  # of the cases that lie below a percentile

    @property
    def unit(self) -> str:
        """Its unit; empty where there is none."""
        return "" if self.over == "probability" else unit_of_figure(self.name)


def figure_of(text: str, where: str) -> Figure:
    """Return the figure that a text names: peak_force_N, 95 % of it, mean of it, probability of captured.

    Raises ScenarioError, which begins with `where`.
    """
    match = OF_CASES.fullmatch(text)
    if match is None:
        words = 'must be a figure of the summary or the margins, "95 % of", "mean of" or "probability of" one'
        raise ScenarioError(f"{where} = {shown(text)}: {words}")
    share, word, name = match.groups()
    if share is None:
        return Figure(text, name, word or "")
    if not 0 < float(share) < 100:
        raise ScenarioError(f"{where} = {shown(text)}: {share} %: must be above 0 % and below 100 %")
    return Figure(text, name, "percentile", float(share) / 100)

"""A report as a page: one HTML file, styles and figures inside, that opens with no network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dockdyn.report.charts.chart import Chart
from dockdyn.report.report import Plot, Report, ReportBlock, Table, named_apart
from dockdyn.report.wording import MET, requirement_row

if TYPE_CHECKING:
    from jinja2 import Template

CSS_PIXELS = 96  # an inch
CHART_SCRIPTS = ["chart_parts.js", "charts.js"]
TOOLS = "figure_tools.js"
FRAME = 90  # CSS pixels of names and axes around the panels of a chart


def render_page(report: Report, *, replay: str = "", replay_lacks: str = "", no_replay: str = "") -> str:
    """Return the page of a report as HTML.

    Args:
        report: what it says.
        replay: the packed replay of a run, empty where there is none.
        replay_lacks: what it had to leave out, empty where that is nothing.
        no_replay: why there is none, where there should be one.
    """
    from dockdyn.report.embedded_replay import SCRIPT, content_security_policy
    from dockdyn.report.palette import COLOURS

    blocks = {
        where: _sections_at(report.blocks, where) for where in ("key", "requirements", "before", "after", "inputs")
    }
    judged = _requirements_table(report.requirements)
    if judged is not None:
        blocks["requirements"] = [("", [ReportBlock(table=judged)]), *blocks["requirements"]]
    if not blocks["inputs"]:
        blocks["inputs"] = [("", [ReportBlock(folded="Scenario, as it ran", text=report.scenario)])]
    return _page_template().render(
        report=report,
        colours=COLOURS,
        verdict=split_sentences(report.verdict),
        judgement=_judgement_sentence(report.requirements),
        blocks=blocks,
        **_page_figures(report.plots),
        replay=replay,
        replay_lacks=replay_lacks,
        no_replay=no_replay,
        replay_script=SCRIPT,
        policy=content_security_policy(figures=bool(report.plots), replay=bool(replay)),
    )


@cache
def _page_template() -> Template:
    """Return the page of every report."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dockdyn.report", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("page.html")


def _sections_at(blocks: Sequence[ReportBlock], where: str) -> list[tuple[str, list[ReportBlock]]]:
    """Return the sections of one place: a heading and its blocks, those with something in them."""
    chosen = (block for block in blocks if block.where == where and block)
    return [(title, list(found)) for title, found in groupby(chosen, key=lambda block: block.title)]


def split_sentences(words: str) -> list[str]:
    """Return the sentences of a verdict."""
    return re.split(r"(?<=[.!?]) (?=[A-ZÀ-Þ\d])", words)


def _judgement_sentence(found: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return whether a run meets its requirements, in a sentence; None where it has none."""
    missed = [one["name"] for one in found if one["met"] is False]
    undecided = [one["name"] for one in found if one["met"] is None]
    said = (("✗", "not met", missed), ("?", "not decided", undecided))
    words = " ".join(
        f"{mark} {len(names)} of {len(found)} requirements {what}: {', '.join(names)}."
        for mark, what, names in said
        if names
    )
    if not words:
        words = f"✓ All {len(found)} requirements met." if len(found) > 1 else "✓ The requirement is met."
    return {"met": not (missed or undecided), "words": words} if found else None


def _requirements_table(found: Sequence[dict[str, Any]]) -> Table | None:
    """Return the requirements of a run; None where there are none."""
    rows = [list(requirement_row(one)) for one in found]
    columns = [("required", ""), ("value", ""), ("margin", ""), ("", "")]
    return Table(columns, rows, worded={0, 3}, alarming={MET[False]}) if rows else None


def _page_figures(plots: Iterable[Plot]) -> dict[str, Any]:
    """Return figures, each with what to look for in it, as parts of the page with captions; and the scripts that they need."""
    from dockdyn.report.charts.live_charts import packed_charts, packed_library, read_script

    figures: list[dict[str, Any]] = []
    charts: list[Chart] = []
    for number, plot in enumerate(named_apart(plots), start=1):
        drawn = plot.draw()
        figure: dict[str, Any] = {"name": plot.name, "caption": plot.caption, "picture": None}
        if isinstance(drawn, Chart):
            figure |= {"chart": len(charts), "height": round(CSS_PIXELS * drawn.height) + FRAME}
            charts.append(drawn)
        else:
            from dockdyn.report.picture import inline_svg

            figure["picture"] = inline_svg(drawn, f"figure{number}", plot.caption)
        figures.append(figure)
    return {
        "figures": figures,
        "charts": packed_charts(charts) if charts else "",
        "library": packed_library() if charts else "",
        "scripts": [Markup(read_script(name)) for name in (CHART_SCRIPTS if charts else []) + [TOOLS]],
    }

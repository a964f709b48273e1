"""A report as a page: one HTML file, styles and figures inside, that opens with no network.

What is read is in the page as HTML, so that it is there without JavaScript, too: verdict, key numbers, requirements, tables.
Its script (`web/src`, built into `report/web`) makes figures, scene and time of it, from JSON in the page: columns, charts,
the span of the run and the scene. The page's policy allows that script alone, by its hash.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from dockdyn.packing import kept_text
from dockdyn.report.charts.chart import Chart
from dockdyn.report.charts.static_chart import draw_static
from dockdyn.report.columns import PageColumns
from dockdyn.report.elements import Html, breakable, element, join
from dockdyn.report.live_places import case_place, figures_place, numbers_place
from dockdyn.report.palette import COLOURS
from dockdyn.report.report import Plot, Report, ReportBlock, Rows, Table, named_apart
from dockdyn.report.requirement_bar import bars_of_run
from dockdyn.report.verdict import judgement_sentence, sort_of, split_sentences, verdict_words
from dockdyn.report.wording import typeset_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPUTES = "The page computes the run again with other numbers; that needs JavaScript."
MOTION = "Motion and forces"
MAIN = 3  # figures over time beside the scene
OTHER = {"run": "loop", "loop": "run"}  # whose worker a page has, too, that seeks limits of the delay
ROOTS = "roots"  # the figure of a loop that follows numbers which are changed
NARROW = 4  # columns of a table that half a desktop is enough for
LOOP_CONTACTS = 4  # of a run beside its loop, for which there is room from the first
BRIEF = 14  # letters of a name in a table that is not broken
LONG = 30  # rows of a table above which it scrolls by itself; letters above which words are broken
CSS_PIXELS = 96  # an inch
DARK = {
    "muted": "#a9b2bc", "rule": "#252a30", "contact": "#22303b", "solid": "#2f2c26", "wall": "#a89e88",
    "blue": "#5fb5ef", "orange": "#ff8f45", "green": "#35c89c", "purple": "#d894c3", "gold": "#e2b144", "sky": "#3a7da8",
    "navy": "#a9c1f0", "brown": "#c98a63", "moss": "#a5c567", "rose": "#f0b4cb", "mint": "#9be3c8", "sand": "#8d7440",
}  # fmt: skip
WITHOUT_SCRIPT = (
    ".stage,.transport,.keys,.tools{display:none}.bench{grid-template-columns:1fr}.chart{min-height:0!important}"
    "#what-if:has(#live-map),#motion:has(#live-case),.awaits[data-limits=''] .bars{display:none}"
    "#live,#live-numbers,.awaits .f{min-height:0!important}#live:empty::before{content:none}"
)
SIGNS = {
    "ok": "M3.2 8.4l3.1 3.1 6.5-7",
    "bad": "M4 4l8 8M12 4l-8 8",
    "warn": "M8 3v6.2M8 12.6v.2",
    "": "M3 8h10M9 4l4 4-4 4",
}  # fmt: skip
UNITS = "%|mm/s|m/s|1/s|rad/s|N/m|Hz|kN m|N m s|N m|N s/m|N s|kN|N|mm|m|ms|s|J|deg|rad|kg"
NUMBER = re.compile(rf"(?<![\w.{{])[-−]?\d+(?:\.\d+)?(?:×10⁻?[⁰¹²³⁴-⁹]+)?(?: ?(?:{UNITS})(?![\w/]))?(?![\d}}])")


@cache
def page_part(name: str) -> str:
    """Return a part of every page as `web/` built it."""
    return resources.files("dockdyn.report").joinpath("web", name).read_text(encoding="utf-8")


@cache
def packed_part(name: str) -> tuple[str, bytes]:
    """Return a script that a page unpacks where it needs it, packed as text, and as it is."""
    script = gzip.decompress(resources.files("dockdyn.report").joinpath("web", name).read_bytes())
    return kept_text(script), script


def render_page(
    report: Report,
    *,
    scene: dict[str, Any] | None = None,
    columns: PageColumns | None = None,
    replay_lacks: str = "",
    no_replay: str = "",
    live: dict[str, Any] | None = None,
    no_live: str = "",
    case: Report | None = None,
) -> str:
    """Return the page of a report as HTML.

    Args:
        report: what it says.
        scene: what moves in three dimensions, as `web/src/scene` reads it; its numbers are in `columns`.
        columns: those of the page, to which the charts add theirs.
        replay_lacks: what it had to leave out, empty where that is nothing.
        no_replay: why there is none, where there should be one.
        live: what `dockdyn.report.live.live_data` gives, with which the page runs the scenario again.
        no_live: why it does not, where that is to be said.
        case: the report of a case of a campaign, which the page shows in motion.
    """
    columns = columns or PageColumns()
    charts: list[Chart] = []
    of_loop = live is not None and "loop" in live
    places = _arrange_figures(_plots_with(report.plots, case), ROOTS if of_loop else None)
    asked, timed, followed, others = _figures(places, charts, of_case=case is not None)
    data = _page_data(charts, columns, scene, (case or report).moment)
    blocks = {
        where: _sections_at(report.blocks, where)
        for where in ("key", "requirements", "above", "below", "before", "after", "inputs")
    }
    inputs = blocks["inputs"] or [("", [ReportBlock(folded="Scenario, as it ran", text=report.scenario)])]
    staged, judged = scene is not None, _requirements(report)
    beside = judged if staged and live is None else None
    moving = _moving_parts(case, (staged, replay_lacks, timed), beside, (live, no_live, _contacts_told(report)))
    moving |= {"what-if": _loop_bench(followed, live)} if live is not None and of_loop else {}
    parts = {
        "chart": _section("chart", "Chart", element("div", *asked, class_="figures")) if asked else None,
        **_first_parts(report.bars_title, None if beside else judged, blocks, moving),
        "key-figures": _key_figures(report) if report.tiles else None,
        "key": _inside(blocks["key"], "Key figures"),
        "before": _sections(blocks["before"]),
        "figures": _section("figures", "Figures", element("div", *others, class_="figures")) if others else None,
        "after": _sections(blocks["after"]),
        "no-replay": _no_replay(no_replay) if no_replay else None,
        "inputs": _section("inputs", "Inputs", _inside(inputs, "Inputs"))
        if any(any(found) for _, found in inputs)
        else None,
        "provenance": _section("provenance", "How it was made", _pairs(report.made), _again(report)),
    }
    foot = element("footer", element("span", "One file: data, figures and scene are inside; nothing is loaded."))
    main = element("main", _hero(report, live), *parts.values())
    read = None if live is None else live | {"verdict": verdict_words(report)}
    body = element("body", _mast(report, parts), main, foot, *_scripts(data, scene, read))
    return f"<!doctype html>\n{element('html', _head(report.title, scene, live), body, lang='en')}\n"


def _no_replay(why: str) -> Html:
    """Return why a page has no scene."""
    return _section("replay", "Replay", element("p", f"{why[:1].upper()}{why[1:]}", class_="note"))


def _mast(report: Report, parts: Mapping[str, Html | None]) -> Html:
    """Return the line on top: whose page it is, its title, and links to those parts that there are."""
    links = {
        "chart": "Chart",
        "what-if": "What if",
        "motion": "Motion",
        "requirements": report.bars_title,
        "figures": "Figures",
    }
    links |= {"inputs": "Inputs", "provenance": "How it was made"}
    there = (element("a", words, href=f"#{name}") for name, words in links.items() if parts[name])
    return element(
        "header",
        element("span", _drawing("M2 4l7 6-7 6M11 10h7", 20), "dockdyn", class_="mark"),
        element("span", report.title, class_="crumb"),
        element("nav", *there, aria_label="Sections"),
        element("span", class_="page-tools"),
        class_="mast",
    )


def _head(title: str, scene: dict[str, Any] | None, live: dict[str, Any] | None) -> Html:
    """Return what a browser reads first: title, style, and the policy that only this page's own scripts run."""
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scene, live)),
        element("title", title),
        element("style", Html(page_part("page.css") + _colour_rules())),
        element("noscript", element("style", Html(WITHOUT_SCRIPT))),
    )


# ── the start: verdict and tiles ──


def _hero(report: Report, live: dict[str, Any] | None) -> Html:
    sort, sentences = sort_of(report), split_sentences(report.verdict)
    headline = report.headline or sentences[0].rstrip(".")
    lead = " ".join(sentences if report.headline else sentences[1:])
    headline = typeset_numbers(headline)
    judgement = judgement_sentence(report.requirements)
    advice = [
        part
        for one in report.advice
        for part in (
            element("dt", one.word),
            element(
                "dd",
                _bold_numbers(typeset_numbers(one.sentence)),
                _command(one.command),
                data_follows=one.follows or None,
            ),
        )
    ]
    words = element(
        "div",
        element("h1", report.title, class_="eyebrow"),
        element("p", headline, class_="headline"),
        element("p", _bold_numbers(lead), class_="lead") if lead else None,
        element("p", judgement, class_="judgement" if judgement.startswith("✓") else "judgement active")
        if judgement
        else None,
        _strip(report.shares),
        element("dl", *advice, class_="guide") if advice else None,
    )
    verdict = element(
        "div",
        element("div", _drawing(SIGNS[sort], 16), class_="sign", data_signs=json.dumps(SIGNS)),
        words,
        class_=f"verdict {sort}".rstrip(),
    )
    tiles = element(
        "div", *(tile.html(awaits=live is not None and "limits" in live) for tile in report.tiles), class_="tiles"
    )
    hero = element("div", verdict, tiles if report.tiles else _key_figures(report), class_="hero", id="verdict")
    warnings = element(
        "div",
        element("strong", "Before you trust the numbers"),
        element("ul", *(element("li", warning) for warning in report.warnings)),
        class_="warnings",
    )
    return join(hero, warnings if report.warnings else None)


def _strip(shares: Sequence[tuple[str, str, int]]) -> Html | None:
    """Return how many cases have come to what, as one bar with words below it."""
    if not shares:
        return None
    bar = (element("span", style=f"flex:{count} 1 0;background:var(--{colour})") for _, colour, count in shares)
    words = (
        element("span", element("span", class_="swatch block", style=f"background:var(--{colour})"), f"{count} {what}")
        for what, colour, count in shares
    )
    return element("div", element("div", *bar, class_="shares"), element("p", *words), class_="strip")


def _key_figures(report: Report) -> Html:
    return _section("key-figures", "Key figures", _pairs(report.key))


def _bold_numbers(words: str) -> Html:
    """Return words with their numbers and units set apart."""
    words = typeset_numbers(words)
    at, parts = 0, []
    for found in NUMBER.finditer(words):
        parts += [words[at : found.start()], element("b", found[0])]
        at = found.end()
    return join(*parts, words[at:])


def _command(text: str) -> Html | None:
    return (
        element("div", element("code", text, class_="command", tabindex=0), class_="line-of-command") if text else None
    )


def _drawing(path: str, size: int) -> Html:
    drawn = element(
        "path",
        d=path,
        fill="none",
        stroke="currentColor",
        stroke_width=1.8,
        stroke_linejoin="round",
        stroke_linecap="round",
    )
    return element("svg", drawn, viewBox=f"0 0 {size} {size}", width=20, height=20, aria_hidden="true")


# ── requirements, scene, curves ──


def _requirements(report: Report) -> Html | None:
    """Return requirements as bars, those of a run worst first; None where there are none."""
    bars = report.bars or bars_of_run(report.requirements)
    return join(*(bar.html() for bar in bars)) if bars else None


def _requirements_section(
    title: str,
    judged: Html | None,
    found: Sequence[tuple[str, list[ReportBlock]]],
    name: str | None = "requirements",
) -> Html | None:
    """Return the requirements that do not stand beside a scene, and what else is to say of them."""
    if judged is None and not found:
        return None
    bars = element("div", judged, class_="panel requirements") if judged is not None else None
    return _section(name, title, bars, _inside(found, "Requirements"))


def _first_parts(
    title: str,
    bars: Html | None,
    blocks: Mapping[str, list[tuple[str, list[ReportBlock]]]],
    moving: Mapping[str, Html | None],
) -> dict[str, Html | None]:
    """Return what is read first: the first part that moves, below it the requirements, as bars and in a table, if there is one.

    What stands above the motion of a case stands below the map of cases; what stands below it, above what other numbers change.
    """
    told, rest = blocks["requirements"], dict(moving)
    first = next(iter(rest))
    apart = bars is not None and bool(told)
    return {
        first: rest.pop(first),
        "requirements": _requirements_section(title, bars, [] if apart else told),
        "above": _sections(blocks["above"]),
        **({"motion": rest.pop("motion")} if "motion" in rest else {}),
        "below": _sections(blocks["below"]),
        **rest,
        "requirements-told": _requirements_section(f"{title} in numbers", None, told if apart else [], None),
    }


def _side(judged: Html | None, numbers: Html | None) -> Html | None:
    """Return what stands beside a scene: numbers to change, or else the requirements."""
    if numbers is not None:
        return join(element("h2", "What if?"), numbers, element("noscript", element("p", COMPUTES, class_="note")))
    return join(element("h2", "Requirements"), judged) if judged is not None else None


def _contacts_told(report: Report) -> int:
    """Return of how many contacts a tile awaits the delay that each bears."""
    return max((len(tile.limits) - 1 for tile in report.tiles if tile.limits), default=0)


def _what_if(no_live: str, numbers: Html | None, figures: Html | None) -> Html:
    """Return the place where a page says what other numbers change, with `numbers` to change where they stand nowhere else; or
    why it does not compute."""
    if no_live:
        return _section("what-if", "What if?", element("p", f"This page does not compute: {no_live}.", class_="note"))
    return _section("what-if", "What changes", numbers, figures)


def _moving_parts(
    case: Report | None,
    stage: tuple[bool, str, Sequence[Html]],
    beside: Html | None,
    computes: tuple[dict[str, Any] | None, str, int],
) -> dict[str, Html | None]:
    """Return scene and curves, and numbers to change, of a run or of all cases and one `case` of them.

    `stage` says whether there is a scene, what it lacks, and has the curves; `computes` has what it computes by, or why it does
    not, and of how many contacts.
    """
    (staged, lacks, curves), (live, no_live, contacts) = stage, computes
    numbers = None if live is None else numbers_place(live)
    if case is not None and live is not None:
        shown = _motion(staged, lacks, case_place(live), curves, "The worst case")
        return {"what-if": _cases_bench(numbers, figures_place(live, 0)), "motion": shown}
    motion = _motion(staged, lacks, _side(beside, numbers) if staged else None, curves)
    figures = None if live is None else figures_place(live, contacts)
    what_if = _what_if(no_live, None if staged else numbers, figures) if figures or no_live else None
    return {"motion": motion, "what-if": what_if}


def _plots_with(plots: Sequence[Plot], case: Report | None) -> list[Plot]:
    """Return the figures of a page: with a `case` its main ones that follow another run first, and none that is replaced."""
    if case is None:
        return list(plots)
    followed = (plot for plot in case.plots if _follows(plot.draw()))
    return [*islice(followed, MAIN), *(plot for plot in plots if not plot.replaced)]


def _follows(chart: object) -> bool:
    """Return whether all lines of a figure over time can be drawn of another run."""
    if not isinstance(chart, Chart) or not _is_timed(chart):
        return False
    return all(line.source is not None for panel in chart.panels for line in panel.lines)


def _cases_bench(numbers: Html | None, figures: Html) -> Html:
    """Return where a page that computes shows all cases, beside the numbers to change."""
    drawn = element("div", class_="chart", role="img", aria_label="Every case by its outcome")
    caption = element("figcaption", "Every mark is a case; a press on one shows it below.")
    below = element("div", caption, element("div", class_="tools"), class_="below")
    axes = element("div", class_="axes")
    figure = element("figure", axes, drawn, below, class_="panel", data_name="cases", id="live-map")
    side = element("aside", _side(None, numbers), class_="side panel")
    return _section("what-if", "Which cases fail", element("div", figure, side, class_="bench"), figures)


def _loop_bench(roots: Sequence[Html], live: dict[str, Any]) -> Html:
    """Return where a page judges its loop again: the roots, beside the numbers to change."""
    side = element("aside", _side(None, numbers_place(live)), class_="side panel")
    shown = element("div", *roots, figures_place(live, LOOP_CONTACTS), class_="stack")
    return _section("what-if", "What changes", element("div", shown, side, class_="bench"))


def _motion(staged: bool, lacks: str, beside: Html | None, curves: Sequence[Html], title: str = MOTION) -> Html | None:
    """Return the scene beside the requirements, and the main curves below, with one time."""
    if not staged and not curves:
        return None
    stage = element("div", element("div", id="scene"), class_="stage panel")
    side = element("aside", beside, class_="side panel") if beside else None
    bench = element("div", stage, side, class_="bench" if side else "bench alone") if staged else None
    keys = Html(
        "<kbd>space</kbd> play &nbsp;<kbd>←</kbd> <kbd>→</kbd> step &nbsp;<kbd>shift</kbd>+<kbd>→</kbd> next contact"
    )
    return element(
        "section",
        element("div", element("h2", title), element("span", keys, class_="keys"), class_="head"),
        element("p", lacks, class_="note") if lacks else None,
        bench,
        element("div", class_="transport panel") if curves else None,
        element("div", *curves, class_="figures"),
        id="motion",
        class_="near",
    )


def _arrange_figures(plots: Sequence[Plot], followed: str | None) -> list[list[tuple[Plot, Chart | Figure]]]:
    """Return figures as drawn, in the four places where a page has them, one below the other: what the command was asked for,
    the main ones over time, what is `followed` by its name, and all others."""
    places: list[list[tuple[Plot, Chart | Figure]]] = [[], [], [], []]
    for plot in named_apart(plots):
        drawn = plot.draw()
        timed = isinstance(drawn, Chart) and _is_timed(drawn) and len(places[1]) < MAIN
        places[0 if plot.asked else 1 if timed else 2 if plot.name == followed else 3].append((plot, drawn))
    return places


def _figures(
    places: Sequence[Sequence[tuple[Plot, Chart | Figure]]], charts: list[Chart], *, of_case: bool
) -> list[list[Html]]:
    """Return figures by place, numbered as they are read, each with what to look for in it; their charts are put among
    `charts`. Those over time may be `of_case`, one of a campaign that is shown with JavaScript only."""
    found: list[list[Html]] = [[] for _ in places]
    counted = enumerate(((place, *one) for place, inside in enumerate(places) for one in inside), start=1)
    for number, (at, plot, drawn) in counted:
        chart = drawn if isinstance(drawn, Chart) else None
        if isinstance(drawn, Chart):
            height = round(CSS_PIXELS * drawn.height)
            hidden = of_case and _is_timed(drawn)
            shown = element(
                "div",
                None if hidden else element("noscript", _without_script(drawn, plot.name, number, charts)),
                class_="chart",
                role="img",
                aria_label=plot.caption,
                style=f"min-height:{height}px",
            )
            charts.append(drawn)
        else:
            from dockdyn.report.picture import inline_svg

            picture = Html(inline_svg(drawn, f"figure{number}", plot.caption))
            place: dict[str, Any] = {"tabindex": 0, "role": "region", "aria_label": f"Figure {number}"}
            shown = element("div", element("div", picture, class_="picture scroll", **place), class_="frame")
        caption = element("figcaption", element("b", f"Figure {number}."), " ", plot.caption)
        below = element("div", caption, element("div", class_="tools"), class_="below")
        of = None if chart is None else len(charts) - 1
        found[at].append(element("figure", shown, below, class_="panel", data_name=plot.name, data_chart=of))
    return found


def _without_script(chart: Chart, name: str, number: int, before: Sequence[Chart]) -> Html:
    """Return what stands for a chart without JavaScript: the main ones and the first are drawn, of others how to have them."""
    timed = sum(_is_timed(one) for one in before)
    if timed < MAIN if _is_timed(chart) else len(before) == timed:
        return draw_static(chart, f"static{number}")
    words = f"This figure needs JavaScript; dockdyn export --to svg --figure {name} draws it without."
    return element("p", words, class_="note")


def _is_timed(chart: Chart | None) -> bool:
    """Return whether a figure is over the time of the run, so that it may stand below the scene."""
    return chart is not None and chart.events and bool(chart.over)


# ── tables and texts ──


def _sections_at(blocks: Sequence[ReportBlock], where: str) -> list[tuple[str, list[ReportBlock]]]:
    """Return the sections of one place: a heading and its blocks, those with something in them."""
    chosen = (block for block in blocks if block.where == where and block)
    return [(title, list(found)) for title, found in groupby(chosen, key=lambda block: block.title)]


def _sections(found: Sequence[tuple[str, Sequence[ReportBlock]]]) -> Html:
    """Return sections below each other; narrow ones that follow each other stand side by side where there is room."""
    parts = []
    for narrow, group in groupby(found, key=lambda one: all(map(_is_narrow, one[1]))):
        sections = [_section(None, title, _write_blocks(blocks, title)) for title, blocks in group]
        parts.append(element("div", *sections, class_="abreast") if narrow and len(sections) > 1 else join(*sections))
    return join(*parts)


def _is_narrow(block: ReportBlock) -> bool:
    """Return whether half a desktop is enough for a block."""
    return not block.text and (block.table is None or len(block.table.columns) <= NARROW)


def _section(name: str | None, title: str, *inside: str | None) -> Html:
    return element("section", element("div", element("h2", title), class_="head"), *inside, id=name)


def _inside(found: Sequence[tuple[str, Sequence[ReportBlock]]], name: str) -> Html:
    return join(*(_write_blocks(blocks, name) for _, blocks in found))


def _write_blocks(blocks: Sequence[ReportBlock], name: str) -> Html:
    """Return blocks: words, table, rows, text, each where there is one, and notes."""
    parts: list[Html | None] = []
    for block in blocks:
        parts.append(element("p", block.words) if block.words else None)
        if block.table is not None and (block.table.rows or block.table.live):  # one that is empty may be filled
            parts.append(_grid(block.table, name))
            more = f"And {block.table.left_out} more; the result file has them all."
            parts.append(element("p", more, class_="note left-out") if block.table.left_out else None)
        parts.append(_pairs(block.rows))
        text = element("pre", block.text, tabindex=0) if block.text else None
        parts.append(element("details", element("summary", block.folded), text) if text and block.folded else text)
        parts += [element("p", note, class_="note") for note in block.notes]
    return join(*parts)


def _pairs(rows: Rows) -> Html | None:
    """Return words and values."""
    found = [
        element("div", element("dt", row[0]), element("dd", typeset_numbers(" ".join(filter(None, row[1:])))))
        for row in rows
    ]
    return element("dl", *found, class_="pairs") if found else None


def _grid(table: Table, name: str) -> Html:
    """Return a table in a place of its own, which scrolls."""
    groups = (
        element("tr", *(element("th", words, class_="group", colspan=span) for words, span in table.groups))
        if table.groups
        else None
    )
    heads = [
        element(
            "th",
            typeset_numbers(words),
            element("span", unit, class_="unit") if unit else None,
            scope="col",
            class_=" ".join(
                name for name, those in (("worded", table.worded), ("first", table.first)) if place in those
            )
            or None,
        )
        for place, (words, unit) in enumerate(table.columns)
    ]
    head = element("thead", groups, element("tr", *heads)) if table.columns else None
    rows = [
        element(
            "tr",
            *(_cell(table, row, place) for place in range(len(row))),
            class_="chosen" if number in table.chosen else None,
        )
        for number, row in enumerate(table.rows)
    ]
    live = {"data_live": table.live, "data_columns": " ".join(table.keys)} if table.live else {}
    live |= {"style": f"--columns:{len(table.columns)}"} if table.first else {}
    shown = element("table", head, element("tbody", *rows), class_=table.look or None, **live)
    where = element(
        "div", shown, class_="scroll long" if len(rows) > LONG else "scroll", role="region", aria_label=name, tabindex=0
    )
    narrow = len(table.columns) <= NARROW and not table.live and table.look != "matrix"
    return element("div", where, class_="frame panel narrow" if narrow else "frame panel")


def _cell(table: Table, row: Sequence[str], place: int) -> Html:
    text = row[place] if place in table.code else typeset_numbers(row[place])
    looks = ["wide"] if place not in table.worded and len(text) > LONG else []
    if place in table.worded:
        looks = ["worded", *(["code"] if place in table.code else ["wide"] if len(text) > LONG else [])]
        looks += ["brief"] if place == 0 and len(text) <= BRIEF else []
        looks += ["active"] if row[place] in table.alarming else []
    looks += ["first"] if place in table.first else []
    return element("td", breakable(text) if place in table.worded else text, class_=" ".join(looks) or None)


def _again(report: Report) -> Html | None:
    if not report.again:
        return None
    words = f"To get it again{', with the inputs above in scenario.toml' if report.from_inputs else ''}:"
    return join(element("p", words, class_="note"), _command(report.again))


# ── what the page may do and what its script reads ──


def _page_data(
    charts: Sequence[Chart], columns: PageColumns, scene: dict[str, Any] | None, moment: float | None
) -> str | None:
    """Return what the script reads as JSON; the page opens on a `moment` (s), or else on the first contact."""
    from dockdyn.report.charts.live_charts import chart_as_json, without_nan

    over_time = next((chart for chart in charts if chart.events and chart.over), None)
    facts = [chart_as_json(chart, columns) for chart in charts]
    span = over_time.across(over_time.panels[0])[1] if over_time is not None else None
    if span is None and scene is not None:
        span = scene["span"]
    named = [band.start for band in over_time.panels[0].bands if band.name] if over_time is not None else []
    data = {
        "columns": columns.packed(),
        "charts": facts,
        "span": span,
        "at": moment if moment is not None else named[0] if named else None,
        "scene": scene,
    }
    return _json(without_nan(data))


def _json(facts: object) -> str:
    """Return JSON for a page: no text of a scenario ends the element that it stands in."""
    return json.dumps(facts, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _scripts(data: str | None, scene: dict[str, Any] | None, live: dict[str, Any] | None) -> list[Html]:
    scripts = [element("script", Html(data), type="application/json", id="page-data")]
    if live is not None:
        scripts.append(element("script", Html(_json(live)), type="application/json", id="live-data"))
        for name in (own := _scripts_of(live)[1], *([OTHER[own]] if "limits" in live else [])):
            packed = Html(packed_part(f"{name}-worker.js.gz")[0])
            scripts.append(element("script", packed, type="application/octet-stream", id=f"{name}-script"))
    if scene is not None:
        scripts.append(
            element("script", Html(packed_part("scene.js.gz")[0]), type="application/octet-stream", id="scene-script")
        )
    return [*scripts, element("script", Html(page_part(_scripts_of(live)[0])))]


def _scripts_of(live: dict[str, Any] | None) -> tuple[str, str]:
    """Return the script of a page, and whose worker it has: by what of it computes."""
    if live is None:
        return "page.js", ""
    if "loop" in live:
        return "page-margins.js", "loop"
    return "page-campaign.js" if "cases" in live else "page-run.js", "run"


def _policy(scene: dict[str, Any] | None, live: dict[str, Any] | None) -> str:
    """Return what a page may do: run its own scripts, known by their hashes, and read what is inside it; one that computes
    also runs WebAssembly, in a worker of its own."""
    scripts = [
        page_part(_scripts_of(live)[0]).encode(),
        *([packed_part("scene.js.gz")[1]] if scene is not None else []),
    ]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one).digest()).decode()}'" for one in scripts)
    hashes, worker = (f"{hashes} 'wasm-unsafe-eval'", "; worker-src blob:") if live is not None else (hashes, "")
    inside = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes}{worker}"
    return f"{inside}; base-uri 'none'; form-action 'none'"


def _colour_rules() -> str:
    """Return the colours of figures by name, as the palette has them, and on a dark screen."""
    own = ("ink", "paper")  # the page's
    light = "".join(f"--{name}:{code};" for name, code in COLOURS.items() if name not in own)
    dark = "".join(f"--{name}:{code};" for name, code in DARK.items())
    printed = "".join(
        f"--{name}:{code};" for name, code in COLOURS.items()
    )  # of pictures, which the style inverts as a whole
    themed = f":root[data-theme=dark]{{{dark}}}:root[data-theme=dark] .picture svg{{{printed}}}"
    return f":root{{{light}--paper:var(--panel)}}{themed}"

"""The report of an envelope, for the page and the terminal."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.report import Plot, Report, ReportBlock, Table, result_report
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import NOTHING, capitalise_first, format_significant
from dockdyn.studies.envelope.plots import envelope_figure, keys_of, words_for

LISTED = 40  # vertices in the table


def envelope_report(dataset: Dataset) -> Report:
    """Return the report of an envelope."""
    answer = json.loads(dataset.attrs["envelope"])
    verdict = _envelope_verdict(answer, " and ".join(f"{key.name} {key.range}" for key in keys_of(dataset, answer)))
    note = "Some of its points, in SI units; the result file has all of them."
    return result_report(
        dataset,
        verdict=verdict,
        headline=_envelope_headline(answer),
        tiles=_envelope_tiles(dataset, answer),
        advice=[
            Advice("Next", "This page does not compute. One of a single run does:", "dockdyn explore scenario.toml")
        ],
        neutral=True,
        warnings=_envelope_doubts(answer),
        key=overview_rows(dataset, answer),
        blocks=[ReportBlock("The boundary", table=vertex_table(dataset, answer), notes=[note], where="after")],
        plots=[Plot("envelope", partial(envelope_figure, dataset), _figure_caption(answer))],
        made=[("Runs", f"{answer['runs']}")],
        terminal=[ReportBlock(text=dataset.attrs["title"]), ReportBlock(text=verdict)],
    )


def _envelope_verdict(answer: dict[str, Any], over: str) -> str:
    """Return the envelope in words, `over` being its keys and ranges in words."""
    met, unmet = words_for(answer)
    share = answer["share_met"]
    grid = answer["grid_runs"]
    beside = f"where an even grid as sharp would take {grid}"
    if answer["runs"] >= grid:
        beside = f"no fewer than the {grid} of an even grid as sharp, which a smaller tolerance would need many more of"
    runs = f"{answer['runs']} runs, {beside}"
    if share is None:
        none = "No case is decided at its end" if answer.get("undecided") else "No case ran to its end"
        return f"{none} over {over} ({runs})."
    left = count_left_open(answer)
    if not answer["boundary"]:
        whole = capitalise_first(met if share > 0.5 else unmet)
        if left:
            return f"{whole} wherever it is known, over {over}: {left} of {answer['runs']} runs leave it open."
        return f"{whole} everywhere over {over}: there is no boundary ({answer['runs']} runs)."
    count = len(answer["boundary"])
    what = ("crossing" if len(answer["keys"]) == 1 else "boundary of one piece") if count == 1 else f"{count} pieces"
    if len(answer["keys"]) == 1:
        places = ", ".join(format_significant(piece[0][0], 6) for piece in answer["boundary"][:6])
        unit = f" {answer['units'][0]}" if answer["units"][0] else ""
        what = f"the outcome changes at {places}{unit}"
    else:
        what = "the boundary is one line" if count == 1 else f"the boundary has {count} lines"
    part = f"{100 * share:.3g} % of " + ("what is known of " if left else "")
    return f"{capitalise_first(met)} over {part}{over}; {what} ({runs})."


def count_left_open(answer: dict[str, Any]) -> int:
    """Return how many runs say neither yes nor no: they failed, are not decided at their end, or do not know their force."""
    return answer["failed"] + (answer.get("undecided") or 0) + (answer.get("peak_force_not_known") or 0)


def _envelope_headline(answer: dict[str, Any]) -> str:
    """Return the envelope in a few words."""
    met, unmet = words_for(answer)
    share = answer["share_met"]
    if share is None:
        return "No case is decided"
    left = count_left_open(answer)
    if not answer["boundary"]:
        where = f"where it is known; {left} of {answer['runs']} runs leave it open" if left else "everywhere"
        return f"{capitalise_first(met if share > 0.5 else unmet)} {where}"
    whole = "what is known" if left else f"the range{'s' if len(answer['keys']) > 1 else ''}"
    return f"{capitalise_first(met)} over {100 * share:.3g} % of {whole}"


def _envelope_tiles(dataset: Dataset, answer: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter: how much is met, where the outcome changes, what that took."""
    tiles, share, runs = [], answer["share_met"], answer["runs"]
    if share is not None:
        picture = [(words_for(answer)[0], share, f"{100 * share:.3g} %")]
        of = "of what is known" if count_left_open(answer) else "of what was searched"
        tiles.append(Tile("Share that is met", f"{100 * share:.4g}", "%", of, bars=picture))
    keys = keys_of(dataset, answer)
    if len(keys) == 1 and answer["boundary"]:
        low, high = answer["ranges"][0]
        places = [piece[0][0] for piece in answer["boundary"]]
        bars = [
            (f"change {number}", (place - low) / (high - low), format_significant(place, 4))
            for number, place in enumerate(places[:6], start=1)
        ]
        many = f"and at {len(places) - 1} other places" if len(places) > 1 else f"of {keys[0].name}"
        tiles.append(
            Tile("The outcome changes at", format_significant(places[0], 6), answer["units"][0], many, bars=bars)
        )
    most = max(runs, answer["grid_runs"])
    compared = [
        (words, count / most, str(count)) for words, count in (("here", runs), ("even grid", answer["grid_runs"]))
    ]
    return [*tiles, Tile("Runs", str(runs), "", "beside those of an even grid as sharp", bars=compared)]


def _envelope_doubts(answer: dict[str, Any]) -> list[str]:
    """Return what to know before trusting the envelope."""
    found = []
    if answer["failed"]:
        first = "; ".join(answer["failures"][:2])
        found.append(f"{answer['failed']} of {answer['runs']} runs failed; the boundary is left open there. {first}")
    if answer.get("undecided"):
        found.append(
            f"{answer['undecided']} of {answer['runs']} runs are not decided at the end of the duration: the probe still "
            "approaches, or touches; they count neither as yes nor as no, and the boundary is left open there. "
            f"duration = {answer['deciding_duration_s']:g} s should decide them"
        )
    if answer.get("peak_force_not_known"):
        found.append(
            f"the largest force is not known in {answer['peak_force_not_known']} of {answer['runs']} runs, whose capture "
            "leaves but a lower bound of it; they count neither as yes nor as no, and the boundary is left open there"
        )
    return found


def overview_rows(dataset: Dataset, answer: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [("Outcome", words_for(answer)[0])]
    rows += [(key.name, key.range) for key in keys_of(dataset, answer)]
    share, left = answer["share_met"], count_left_open(answer) - answer["failed"]
    rows += [
        ("Share of the range where it is met", NOTHING if share is None else f"{100 * share:.4g} %"),
        ("Tolerance", f"{answer['tolerance']:g} of each range"),
        ("Runs", f"{answer['runs']}, of which {answer['failed']} failed" + f" and {left} leave it open" * bool(left)),
        ("Runs of an even grid as sharp", str(answer["grid_runs"])),
    ]
    return rows


def _figure_caption(answer: dict[str, Any]) -> str:
    met, _ = words_for(answer)
    words = f"Where the outcome is “{met}”, shaded, and its boundary as located by bisection. Every point is one run"
    return f"{words}; they gather where the outcome changes."


def vertex_table(dataset: Dataset, answer: dict[str, Any]) -> Table | None:
    """Return some of the boundary's points, evenly along each piece."""
    pieces = answer["boundary"]
    if not pieces:
        return None
    total = sum(len(piece) for piece in pieces)
    every = -(-total // LISTED)
    rows = [
        [str(number), *(format_significant(value, 5) for value in vertex)]
        for number, piece in enumerate(pieces, start=1)
        for vertex in [*piece[:-1:every], piece[-1]]
    ]
    return Table([("piece", ""), *((key.name, key.unit) for key in keys_of(dataset, answer))], rows)

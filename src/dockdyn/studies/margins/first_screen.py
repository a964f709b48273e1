"""What the page of margins shows first: headline, numbers that matter, what decides, what to do next."""

from __future__ import annotations

import math
from typing import Any

from dockdyn.report.tile import Tile
from dockdyn.report.tile_pictures import draw_place, draw_roots
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import capitalise_first, format_significant, join_keys
from dockdyn.studies.margins.plots import measure_of, ranked_sensitivities
from dockdyn.studies.margins.wording import (
    GAIN,
    format_duration,
    format_restitution,
    on_edge,
    stable_at_least,
    whatever_delay,
)

MOST = 5  # sensitivities in a tile
HEADLINES = {
    "edge": "On the edge of stability",
    "late": "Unstable: the delay may be {critical} at most",
    "grows": "Unstable: twice as large every {twice}",
    "unstable": "Unstable",
    "spare": "Stable, with {margin} of delay to spare",
    "whatever": "Stable, whatever the delay",
    "stable": "Stable",
}


def margins_headline(margins: dict[str, Any]) -> str:
    """Return whether the loop is stable, and with which delay, in a few words."""
    critical, growth = margins["critical_delay_s"], margins["growth_rate_1_s"]
    if on_edge(margins):
        return HEADLINES["edge"]
    if not margins["stable"]:
        if critical:
            return HEADLINES["late"].format(critical=format_duration(critical))
        grows = 0 < growth < math.inf
        return (
            HEADLINES["grows"].format(twice=format_duration(math.log(2) / growth)) if grows else HEADLINES["unstable"]
        )
    if critical is not None:
        return HEADLINES["spare"].format(margin=format_duration(margins["delay_margin_s"]))
    return HEADLINES["whatever" if whatever_delay(margins) else "stable"]


def margins_tiles(margins: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter: delay, growth, what a bounce shows, and what the margin depends on."""
    return [
        tile
        for tile in (_delay_tile(margins), _growth_tile(margins), _bounce_tile(margins), _sensitivity_tile(margins))
        if tile is not None
    ]


def _delay_tile(margins: dict[str, Any]) -> Tile | None:
    """Return the delay against the critical one; None where there is none and it is not known how far it was looked."""
    delay, critical = margins["delay_s"], margins["critical_delay_s"]
    if critical:
        margin = margins["delay_margin_s"]
        value = critical - delay if margin is None else margin
        words = "until the loop is unstable" if value >= 0 else "beyond the critical one"
        number, _, unit = format_duration(abs(value)).partition(" ")
        line = draw_place(1e3 * delay, 1e3 * critical, "ms", ("delay", "critical"))
        label, sign = ("Delay to spare", 1.0) if value >= 0 else ("Delay too much", -1.0)
        figures = [("delay_margin_s", sign * (1e3 if unit == "ms" else 1.0))]
        return Tile(label, number, unit, words, picture=line, alarming=value < 0, figures=figures)
    if (known := stable_at_least(margins)) is not None:
        number, _, unit = format_duration(known).partition(" ")
        return Tile("Critical delay", f"> {number}", unit, "as far as was looked, or none")
    return None


def _growth_tile(margins: dict[str, Any]) -> Tile:
    growth = margins["growth_rate_1_s"]
    note = ""
    if growth and math.isfinite(growth):
        note = f"{'halves' if growth < 0 else 'doubles'} in {format_duration(math.log(2) / abs(growth))}"
    return Tile(
        "Growth rate",
        format_significant(growth),
        "1/s",
        note,
        picture=draw_roots(margins["rightmost_roots"]),
        alarming=not margins["stable"],
        figures=[("growth_rate_1_s", 1.0)],
    )


def _bounce_tile(margins: dict[str, Any]) -> Tile | None:
    """Return the restitution of a bounce without damping, 1 where the loop gives nothing; None where it has no meaning."""
    restitution = margins["apparent_restitution"]
    if restitution is None:
        return None
    gives = restitution > 1 + GAIN
    note = "undamped, uncompensated; the loop puts energy in" if gives else "undamped, uncompensated"
    line = draw_place(restitution, 1.0, "", ("shown", "true"))
    return Tile("Restitution of a bounce", format_restitution(restitution), "", note, picture=line)


def _sensitivity_tile(margins: dict[str, Any]) -> Tile | None:
    """Return what 10 % more of the keys that matter most does to the margin, as far as the slope tells."""
    ranked = ranked_sensitivities(margins)[:MOST]
    if not ranked:
        return None
    of, unit, _ = measure_of(margins)
    first = ranked[0][1]
    bars = [(_last_part(key), abs(value / first), f"{value:+.3g}") for key, value in ranked]
    return Tile(
        f"{capitalise_first(of)}, by 10 % more",
        f"{'+' if first > 0 else '−'}{format_significant(abs(first), 3)}",
        unit,
        f"by the slope here, of {join_keys(ranked[0][0])}",
        bars=bars,
    )


def _last_part(keys: str) -> str:
    """Return the last words of a key, the first of several that change together."""
    parts = keys.partition(",")[0].split(".")
    return ".".join(parts[-2:]).replace("_", " ")


def margins_advice(margins: dict[str, Any], swept: bool) -> list[Advice]:
    """Return what decides whether the loop is stable, and what to do next; `swept` is whether there is a chart already."""
    advice = []
    parts = []
    if closed := margins.get("closed_contacts"):
        parts.append("contacts " + ", ".join(f"{row['feature']} on {row['surface']}" for row in closed))
    elif margins["effective_mass_kg"] is not None and margins["stiffness_N_m"] is not None:
        mass, stiffness = (format_significant(margins[key], 4) for key in ("effective_mass_kg", "stiffness_N_m"))
        parts.append(f"the contact of {stiffness} N/m on {mass} kg")
    if margins["crossing_frequency_rad_s"] is not None:
        hertz = format_significant(margins["crossing_frequency_rad_s"] / (2 * math.pi), 3)
        parts.append(f"it crosses at {hertz} Hz")
    if ranked := ranked_sensitivities(margins)[:1]:
        parts.append(f"{join_keys(ranked[0][0])} matters most to the {measure_of(margins)[0]}")
    if parts:
        words = "; ".join(parts)
        advice.append(Advice("Decides", f"{words[:1].upper()}{words[1:]}."))
    if margins["delay_s"] or margins["critical_delay_s"]:
        if not swept:
            end = 2e3 * max(margins["critical_delay_s"] or 0.0, margins["delay_s"])
            sweep = f"loop.delay=0:{format_significant(end, 2)}ms:60"
            advice.append(
                Advice(
                    "Next", "See where it is stable over the delay:", f"dockdyn stability scenario.toml --sweep {sweep}"
                )
            )
        else:
            words = "See the contacts themselves with this delay:"
            advice.append(Advice("Next", words, "dockdyn run scenario.toml", "settings"))
    return advice

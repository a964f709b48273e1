"""What the margins of a contact loop come to, in words."""

from __future__ import annotations

import math
from typing import Any

from dockdyn.report.wording import NOTHING, format_significant

EDGE = 1e-9  # of the size of the rightmost root
SAME = 1e-6  # share of the critical delay: nearer to it is at it
GAIN = 5e-5  # of restitution above one


def margins_verdict(margins: dict[str, Any]) -> str:
    """Return the margins in words."""
    critical, delay = margins["critical_delay_s"], margins["delay_s"]
    words = _describe_behaviour(margins)
    if missing := margins.get("not_counted"):
        words = f"Judged without {' and '.join(missing)}{_with_it(margins)}. {words}"
    if margins["stable"]:
        if critical is None:
            words += "; it stays stable whatever the delay" if whatever_delay(margins) else ""
            if (known := stable_at_least(margins)) is not None:
                words += f"; it stays so with delays up to {format_duration(known)} at least"
        else:
            more = format_duration(margins["delay_margin_s"])
            words += f"; the loop tolerates {more} more delay (critical delay {format_duration(critical)})"
    elif critical == 0:
        if not margins["stable_delays_s"]:
            grow = "any delay, however short, makes it grow" if on_edge(margins) else "it is unstable at any delay"
            words += f"; {grow}"
    elif critical is not None and abs(delay - critical) <= SAME * critical:
        words += f"; its delay of {format_duration(delay)} is just beyond the critical one"
    elif critical is not None:
        words += (
            f"; its delay of {format_duration(delay)} is {format_duration(delay - critical)} above the critical one"
        )
        words += f" of {format_duration(critical)}"
    words += "."
    if several_windows(margins):
        words += f" It is stable with delays {format_windows(margins)}."
    restitution = margins["apparent_restitution"]
    if restitution is not None and restitution > 1 + GAIN:
        bare = any("compensator" in part for part in margins.get("counted", []))
        words += f" The rig puts energy in: without {'compensator and ' if bare else ''}the contact's damping a bounce "
        words += f"would show restitution {format_restitution(restitution)}."
    return words


def _with_it(margins: dict[str, Any]) -> str:
    """Return what small motions do with the whole compensator, where the run's own map tells it; else where a run shows it."""
    growth = margins.get("growth_rate_of_run_1_s")
    if any(part.endswith("not stated") for part in margins["not_counted"]):
        return ""  # no run has such a law either
    if growth is None:
        return ": dockdyn run shows what it does"
    return f"; with it small motions {'decay' if growth < 0 else 'grow'} at {format_significant(abs(growth), 3)} 1/s"


def several_windows(margins: dict[str, Any]) -> bool:
    """Return whether the stable delays are other than those up to a critical one."""
    stable = margins["stable_delays_s"]
    return len(stable) > 1 or (len(stable) == 1 and stable[0][0] > 0)


def whatever_delay(margins: dict[str, Any]) -> bool:
    """Return whether every delay from the loop's own on is stable."""
    return any(high is None for _, high in margins["stable_delays_s"][-1:])


def stable_at_least(margins: dict[str, Any]) -> float | None:
    """Return the delay (s) up to which the loop stays stable, where it was looked no further; None where more is known."""
    if not margins["stable"] or margins["critical_delay_s"] is not None:
        return None
    delay = margins["delay_s"]
    return next((high for low, high in margins["stable_delays_s"] if high is not None and low <= delay < high), None)


def on_edge(margins: dict[str, Any]) -> bool:
    """Return whether the growth rate is nothing but round-off."""
    sizes = [math.hypot(*root) for root in margins["rightmost_roots"][:1]]
    return abs(margins["growth_rate_1_s"]) <= EDGE * max(sizes, default=1.0)


def _describe_behaviour(margins: dict[str, Any]) -> str:
    """Return whether the loop is stable, and what its slowest or fastest mode does."""
    growth = margins["growth_rate_1_s"]
    if on_edge(margins):
        return "On the edge of stability: the slowest mode of the loop neither decays nor grows"
    if margins["stable"]:
        return f"Stable: the slowest mode of the loop decays at {format_significant(-growth, 3)} 1/s"
    twice = format_duration(math.log(2) / growth) if 0 < growth < math.inf else NOTHING
    return f"Unstable: a mode of the loop grows at {format_significant(growth, 3)} 1/s, to twice its size every {twice}"


def format_duration(value: float) -> str:
    """Return a time in the unit that suits it: 177 ms, 2.80 s."""
    return f"{format_significant(value * 1e3, 3)} ms" if abs(value) < 1 else f"{format_significant(value, 3)} s"


def format_windows(margins: dict[str, Any]) -> str:
    """Return the delays at which the loop is stable; an end that is the loop's own unstable delay is said not to be among
    them."""

    def end(at: float, side: str) -> str:
        return (
            f"just {side} {format_duration(at)}"
            if at == margins["delay_s"] and not margins["stable"]
            else format_duration(at)
        )

    said = [
        f"above {format_duration(low)}" if high is None else f"from {end(low, 'above')} to {end(high, 'below')}"
        for low, high in margins["stable_delays_s"]
    ]
    return " and ".join(said)


def format_restitution(restitution: float) -> str:
    """Return the restitution with digits enough to tell it from one."""
    return format_significant(restitution, 3 if abs(restitution - 1) > 0.01 else 5)

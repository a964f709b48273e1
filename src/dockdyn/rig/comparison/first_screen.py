"""What the page of a comparison shows first: which compensator to take, by how much it is off, and the next ones."""

from __future__ import annotations

import numpy as np

from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import capitalise_first
from dockdyn.rig.comparison.choice import NONE, CompensatorChoice, Ranked, format_error

MOST = 5  # compensators in a tile
FACTOR = "a factor of "


def comparison_headline(choice: CompensatorChoice, own: str | None) -> str:
    """Return which compensator to take, in a few words; `own` is that of the rig, None where it was not compared."""
    best = choice.best(own)
    if not np.isfinite(best.error):
        return "No compensator keeps to the motion without rig"
    if best.law == NONE:
        return "None is best: no compensator is nearer"
    return f"{'Keep' if best.law == own else 'Take'} {best.law}"


def comparison_advice(choice: CompensatorChoice, own: str | None, stated: bool) -> list[Advice]:
    """Return how to take the best, where the rig has another; it may be `stated` in a table of the comparison."""
    best = choice.best(own)
    if not np.isfinite(best.error) or best.law in (NONE, own):
        return []
    if stated:
        return [Advice("Next", f"Give the rig what [compare.{best.law}] says, as [loop.compensator].")]
    return [Advice("Next", "Run the rig with it:", f"dockdyn run scenario.toml --set {given_law(best.law)}")]


def why_chosen(choice: CompensatorChoice, own: str | None) -> str:
    """Return why the best is that, beside the next that is worse; empty where none keeps to the motion without rig."""
    best, following = choice.best(own), choice.runner_up()
    if not np.isfinite(best.error):
        return ""
    least = f"its largest error of the {choice.of}, {_number(choice, best)}, is the least"
    words = f"{capitalise_first(_name(best))} is marked: {least}"
    if following is None:
        return f"{words}."
    after = _number(choice, following) if np.isfinite(following.error) else "diverges or does not bounce off"
    return f"{words}; {_name(following)} comes next: {after}."


def given_law(law: str) -> str:
    """Return how `--set` gives a rig a compensator, tuned, in the place of any other."""
    return f"""'loop.compensator={{law="{law}"}}'"""


def comparison_tiles(choice: CompensatorChoice, own: str | None) -> list[Tile]:
    """Return the errors that count: of the best, of the next that is worse, of the rig as it is and of one without."""
    best, following = choice.best(own), choice.runner_up()
    near = [one for one in choice.ranking[:MOST] if np.isfinite(one.error)]
    largest = max((one.error for one in near), default=0.0) or 1.0
    bars = [(one.law, one.error / largest, _number(choice, one)) for one in near]
    tiles = [_error_tile(choice, best, f"Largest error of {_name(best)}", bars)]
    if following is not None:
        tiles.append(_error_tile(choice, following, f"Second best: {_name(following)}"))
    shown = {best.law, following.law if following is not None else ""}
    for law, label in ((own, f"This rig: {own}"), (NONE, "Without a compensator")):
        found = None if law is None or law in shown else choice.known(law)
        if found is not None:
            shown.add(found.law)
            tiles.append(_error_tile(choice, found, label))
    return tiles


def _error_tile(
    choice: CompensatorChoice, one: Ranked, label: str, bars: list[tuple[str, float, str]] | None = None
) -> Tile:
    """Return the largest error of a compensator over the stiffnesses."""
    number, _, unit = _number(choice, one).partition(" ") if np.isfinite(one.error) else ("–", "", "")
    where = f"of the {choice.of}" if np.isfinite(one.error) else "diverges or does not bounce off"
    return Tile(label, number, unit, where, bars=bars or (), alarming=not np.isfinite(one.error))


def _number(choice: CompensatorChoice, one: Ranked) -> str:
    """Return an error for a place without room for words."""
    return format_error(choice, one.error).replace(FACTOR, "×\u202f")


def _name(one: Ranked) -> str:
    return "none" if one.law == NONE else one.law

"""Chains of masses on a line that meet, by a contact or a latch behind a ramp, as scenarios: tables and texts for tests."""

from typing import Any

import tomlkit
from plain_tables import by_name

SPEED, PLACE = "body.chaser.velocity", "body.chaser.position"  # of single masses: what comes along the line
FRONT_SPEED, FRONT_PLACE = "body.chaser-front.velocity", "body.chaser-front.position"  # of the presets with four masses


def chains(
    chaser: list[Any],
    target: list[Any],
    *,
    speed: Any = 0.1,
    gap: float = 1e-3,
    inside: tuple[dict[str, Any], dict[str, Any]] = ({}, {}),
    **tables: Any,
) -> dict[str, Any]:
    """Return two chains of one or two masses (kg), in the order on the line, the first of which comes at a speed (m/s).

    `inside` says what is between two masses of one chain, `tables` what else there is. The masses that meet are `chaser` and
    `target`, or where there are two of a chain `chaser-front` and `target-front`.
    """
    moving = {"position": -gap, "velocity": speed}
    bodies = [*_chain("chaser", chaser[::-1], moving, inside[0])[::-1], *_chain("target", target, {}, inside[1])]
    return {"schema": 2, "motion": "line", "body": by_name(bodies)} | tables


def _chain(name: str, masses: list[Any], moving: dict[str, Any], inside: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bodies of a chain, from where it meets the other."""
    if len(masses) == 1:
        return [{"name": name, "mass": masses[0], **moving}]
    front = {"name": f"{name}-front", "mass": masses[0], **moving}
    return [front, {"name": name, "mass": masses[1], "on": front["name"], "joint": {"kind": "prismatic", **inside}}]


def fronts(tables: dict[str, Any]) -> list[str]:
    """Return the names of the masses of two chains that meet."""
    names = list(tables["body"])
    return [f"{side}-front" if f"{side}-front" in names else side for side in ("chaser", "target")]


def colliding(chaser: list[Any], target: list[Any], law: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return two chains that meet by a contact."""
    found = chains(chaser, target, **more)
    return found | {"contact": {"fronts": {"between": fronts(found), "normal": law}}}


def latching(chaser: list[Any], target: list[Any], ramp: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return two chains of which the first latches on to the other, behind a ramp of this `axial_length` (m)."""
    found = chains(chaser, target, **more)
    latch = {"between": fronts(found), "grip": "weld", "ramp": ramp}
    return found | {"latch": {"capture": latch | {"anchor": [0.0, ramp["axial_length"]]}}}


def text(tables: dict[str, Any], more: str = "") -> str:
    """Return tables as a file has them, and what stands behind them."""
    return tomlkit.dumps(tables) + more


TWO_MASSES = text(
    colliding(
        ["15 kg"],
        ["17 kg"],
        {"law": "spring-dashpot", "stiffness": "1 kN/m", "damping": "10 N s/m"},
        title="Two bodies, a spring and a damper",
        duration="1 s",
    )
)  # at 0.1 m/s
SPREAD = '{ distribution = "uniform", low = "80 mm/s", high = "120 mm/s" }'
SPREAD_MASSES = TWO_MASSES.replace("velocity = 0.1", f"velocity = {SPREAD}")

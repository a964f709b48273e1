"""What the Padé approximations of delay and hold say of a scenario's loop, and why where they are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.docking.operating_point import Judged
from dockdyn.stability.growth import batch_of_one, growth_rates
from dockdyn.stability.loop import Loop
from dockdyn.stability.pade import approximate_loop
from dockdyn.stability.routh import routh_array

ORDERS = (1, 2, 3, 4, 5)


def pade_approximations(content: Judged, loop: Loop, stable: bool) -> dict[str, Any] | None:
    """Return the approximations of `loop` by order, compensator, robot and virtual contact included; None without delay and
    hold.

    `stable` is the exact verdict. An order whose own verdict is another one says why.
    """
    if float(loop.delay) == 0 and loop.hold is None:
        return None
    robot = None if content.loop.robot is None else content.loop.robot.transfer()
    found: dict[str, Any] = {}
    for order in ORDERS:
        polynomial = approximate_loop(loop, robot, order)
        at_gain = polynomial.at(float(loop.gain))
        table = routh_array(at_gain)
        found[str(order)] = {
            "growth_rate_1_s": float(polynomial.roots(float(loop.gain)).real.max()),
            "stable": table.stable,
            "reason": None,
            "polynomial": [float(number) for number in at_gain],
            "conditions": list(table.conditions),
            "stabilising_gains_N_s_m": [
                [float(end) if np.isfinite(end) else None for end in ends] for ends in polynomial.stabilising_gains()
            ],
        }
    verdicts = {order: found[str(order)]["stable"] for order in ORDERS}
    for order, words in _reasons_of_error(loop, stable, verdicts).items():
        found[str(order)]["reason"] = words
    return found


def _reasons_of_error(loop: Loop, stable: bool, verdicts: dict[int, bool]) -> dict[int, str]:
    """Return why the orders are wrong whose verdict is not that of the exact loop."""
    wrong = [order for order, verdict in verdicts.items() if verdict != stable]
    if not wrong:
        return {}
    parts, known = left_out(loop), stable
    if parts:
        known = bool(growth_rates(batch_of_one(_continuous_loop(loop)))[0] < 0)
    if known != stable:
        words = f"the approximations leave out {' and '.join(parts)}, without which the loop is "
        words += "stable" if known else "unstable"
        right = "" if any(verdict == known for verdict in verdicts.values()) else "; and none is close enough here"
        return {order: words + right for order in wrong}
    return {order: _too_low(order, loop, [above for above in verdicts if verdicts[above] == stable]) for order in wrong}


def _too_low(order: int, loop: Loop, right: list[int]) -> str:
    """Return why an order is wrong where the approximation leaves nothing out; `right` are the orders that are not."""
    if any(above > order for above in right):
        return f"order {order} of the approximation is too low here"
    if loop.hold is not None:
        return f"order {order} takes the hold for a filter, and a hold also folds frequencies"
    return f"order {order} of the approximation is too low here: the delay is long beside the loop's motion"


def left_out(loop: Loop) -> list[str]:
    """Return what of a loop the approximations do not know."""
    parts = []
    if loop.dynamics != "continuous":
        parts.append("the period of the dynamics")
    if loop.sensor_period is not None:
        parts.append("the period of the sensor")
    if loop.averaging is not None:
        parts.append("the sensor's averaging")
    if loop.tool_mass is not None:
        parts.append("the tool's inertia")
    return parts


def _continuous_loop(loop: Loop) -> Loop:
    """Return the loop that the approximations are of: delay, hold, robot, contact and compensator."""
    bare = replace(loop, tool_mass=None, compensated_mass=None)
    return replace(bare, dynamics="continuous", dynamics_period=None, sensor_period=None, averaging=None)

"""How a scenario begins: gaps of its contacts, and when each would close if every body went straight on.

Units: SI.
Source: definition; the gap functions are those of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.programs import Program
from dockdyn.records import record

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario

INSTANTS = 240  # looked at until the end of the run
BEYOND = 2  # spacings of the largest bricks around a mesh
CLOSE = 1e-9  # of the duration, to which a touch is located


@record
class StraightStart:
    """How a scenario begins, and goes straight on until its first touch or its end.

    Attributes:
        names: of the contacts.
        time: instants (s).
        depths: how deep each contact is then (m); positive is overlap.
        touches: when each contact first closes (s); NaN where it does not, or is closed at the start.
        places: of the centres of mass (m, inertial).
        attitudes: body to inertial, scalar first.
        at_least: whether the gap of a contact at the start may be larger than is told: a mesh's distance is kept near it alone.
    """

    names: list[str]
    time: Float[np.ndarray, "times"]
    depths: Float[np.ndarray, "times contacts"]
    touches: Float[np.ndarray, "contacts"]
    places: Float[np.ndarray, "times bodies 3"]
    attitudes: Float[np.ndarray, "times bodies 4"]
    at_least: list[bool]

    @property
    def overlapping(self) -> list[int]:
        """Numbers of the contacts that overlap at the start, the deepest first."""
        return [int(one) for one in np.argsort(-self.depths[0]) if self.depths[0][one] > 0]

    @property
    def first(self) -> int | None:
        """The number of the contact that closes first; None where none does."""
        return int(np.nanargmin(self.touches)) if np.isfinite(self.touches).any() else None


@Program
def _coast(content: Any, time: Float[np.ndarray, ""]) -> Any:  # noqa: ANN401, of any setup with contacts
    return content.coasted(time)


def begin_straight(scenario: Scenario) -> StraightStart:
    """Return how a scenario begins and goes straight on."""
    content = scenario.content
    end = float(content.duration)

    def at(time: float) -> tuple[np.ndarray, ...]:
        return tuple(np.array(one) for one in _coast(content, np.float64(time)))

    time = np.linspace(0.0, end, INSTANTS)
    depths = _look_until_all_touch(lambda one: at(one)[0], time)
    touches = np.full(depths.shape[1], np.nan)
    for number, values in enumerate(depths.T):
        if values[0] > 0 or not (beyond := np.flatnonzero(values > 0)).size:
            continue
        low, high = time[beyond[0] - 1], time[beyond[0]]
        while high - low > CLOSE * end:
            middle = (low + high) / 2
            low, high = (low, middle) if at(middle)[0][number] > 0 else (middle, high)
        touches[number] = high if low > 0 else 0.0  # those that touch as they begin
    last = float(np.nanmin(touches)) if np.isfinite(touches).any() else end
    shown = np.linspace(0.0, last, INSTANTS // 2)
    moved = [at(one) for one in shown]
    return StraightStart(
        list(content.contact_names()) if hasattr(content, "contact_names") else [],
        shown,
        np.array([one[0] for one in moved]),
        touches,
        np.array([one[1] for one in moved]),
        np.array([one[2] for one in moved]),
        _are_bounds(content, -depths[0]),
    )


def _look_until_all_touch(
    depths_at: Callable[[float], np.ndarray], time: Float[np.ndarray, "times"]
) -> Float[np.ndarray, "looked contacts"]:
    """Return the depths (m) at instants (s) until all contacts have been closed: solids that are deep in each other take long
    to look at."""
    found = [depths_at(time[0])]
    touched = found[0] > 0
    for one in time[1:]:
        if touched.size and touched.all():
            break
        found.append(depths_at(one))
        touched |= found[-1] > 0
    return np.array(found).reshape(len(found), -1)


def _are_bounds(content: Any, gaps: Float[np.ndarray, "contacts"]) -> list[bool]:  # noqa: ANN401, of any setup
    """Return which gaps (m) are beyond what a mesh's field is made for, where it gives a distance that is no larger than the
    true one."""
    from dockdyn.contact.surfaces.distance_field import DistanceField

    surfaces = [getattr(group, "surface", None) for group in getattr(content.model(), "groups", ())]
    fields = [one if isinstance(one, DistanceField) else None for one in surfaces] or [None] * len(gaps)
    return [field is not None and bool(gap > BEYOND * field.spacing) for field, gap in zip(fields, gaps, strict=True)]

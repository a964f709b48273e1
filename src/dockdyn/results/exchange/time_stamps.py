"""The unit of a log's time stamps: as stated, else as the stamps themselves show it; never a guess between several."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.results.exchange.log_table import Cells

SCALES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}  # s
EPOCH = (9.466848e8, 4.102445e9)  # s since 1970: the years 2000 to 2099
PERIODS = (1e-6, 0.2)  # s: between these lie the periods at which rigs and robots are logged
FACTOR = 30.0  # by which a log's mean step may be off a stated period: times are rounded, samples are lost
STATE = "time [ms]; one of s, ms, µs, ns"
FEWEST = 20  # samples within a run that a log is expected to have


@record
class Stamps:
    """Time stamps as a log has them."""

    heading: str
    first: float  # in the log's unit
    since: Float[np.ndarray, "n"]  # the same, since the first: exact, also for nanoseconds since 1970
    scale: float  # s: of the stated unit, or one second
    stated: bool

    @property
    def seconds(self) -> Float[np.ndarray, "n"]:
        return self.first * self.scale + self.since * self.scale

    @property
    def step(self) -> float:
        """The mean step, in the log's unit; 0 of a single stamp."""
        return float(self.since[-1]) / max(len(self.since) - 1, 1)

    def of_epoch(self) -> list[str]:
        """Return units in which the stamps are those of clocks that count from 1970; one at most."""
        return [unit for unit, scale in SCALES.items() if since_1970(self.first * scale)]


def since_1970(time: float) -> bool:
    """Return whether a time (s) is one of clocks that count from 1970."""
    return EPOCH[0] <= time <= EPOCH[1]


def stamps_of(heading: str, cells: Cells, scale: float, stated: bool) -> Stamps:
    """Return the stamps in the cells of a column, which are finite numbers."""
    texts = [str(cell).strip() for cell in cells]
    try:
        exact = [Decimal(text) for text in texts]
    except InvalidOperation:  # a number of Python's and not of its decimals
        exact = [Decimal(float(text)) for text in texts]
    first = exact[0] if exact else Decimal(0)
    return Stamps(heading, float(first), np.array([float(each - first) for each in exact]), scale, stated)


def scale_of_samples(stamps: Stamps, period: float | None) -> tuple[float, str]:
    """Return the unit (s) of the stamps of samples at even times, and what to tell of it where it was not stated.

    `period` (s) is that of the samples, where it is known. ValueError, in words, where the stamps do not fit the unit
    stated, and where none is stated and they could be in several.
    """
    if stamps.stated:
        if stamps.first * stamps.scale > EPOCH[1]:
            raise ValueError(
                f"stamps such as {stamps.first:.13g} lie beyond the year 2099 in the unit stated{_guess_unit(stamps)}"
            )
        step = stamps.step * stamps.scale
        if period is not None and not period / FACTOR <= step <= period * FACTOR:
            raise ValueError(f"steps of {step:.6g} s, in the unit stated, do not fit the period of {period:g} s")
        return stamps.scale, ""
    low, high = PERIODS if period is None else (period / FACTOR, period * FACTOR)
    fitting = [unit for unit, scale in SCALES.items() if low <= stamps.step * scale <= high]
    epoch = stamps.of_epoch()
    if epoch:
        if epoch[0] in fitting:
            return SCALES[epoch[0]], f"{stamps.heading}: no unit stated; stamps since 1970, taken as {epoch[0]}"
    elif "s" in fitting:
        return 1.0, ""
    elif period is not None and len(fitting) == 1:
        return SCALES[fitting[0]], f"{stamps.heading}: no unit stated; taken as {fitting[0]}, by the period"
    raise ValueError(f"no unit stated, and steps of {stamps.step:.6g} from {stamps.first:.13g} may be in several")


def scale_beside_run(stamps: Stamps, start: float, end: float, shift: float) -> tuple[float, str]:
    """Return the same of a log beside a run from `start` to `end` (s), once `shift` (s) is added to its times."""
    if stamps.stated or stamps.of_epoch():
        return scale_of_samples(stamps, None)
    inside = {
        unit: int(np.sum((start <= times) & (times <= end)))
        for unit, times in ((unit, (stamps.first + stamps.since) * scale + shift) for unit, scale in SCALES.items())
    }
    others = [unit for unit in inside if inside[unit] >= max(FEWEST, len(stamps.since) / 2)]
    if stamps.step * FEWEST > end - start and others:
        raise ValueError(
            f"no unit stated; {inside['s']} of {len(stamps.since)} samples lie within the run if in s, "
            f"{inside[others[0]]} if in {others[0]}"
        )
    return 1.0, ""


def _guess_unit(stamps: Stamps) -> str:
    """Return a hint at the unit that stamps since 1970 are in."""
    return "".join(f"; in {unit} they count from 1970" for unit in stamps.of_epoch())

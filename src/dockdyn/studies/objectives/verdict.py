"""Whether a figure has the derivative that was found, judged by differences to either side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.scenario.language.places import Place
from dockdyn.studies.cases.batch import Cases

STEPS = (1e-6, 1e-5)  # of the number, each tried downwards and upwards
ZERO = 1e-2  # SI units: in place of a number that is zero
CLEAR = 1e-4  # relative: a derivative this near to the difference over both sides is it, besides what rounding leaves
AGREE = 2e-3  # relative: difference to one side, taken to its limit, and derivative
ROUNDING = 3e-10  # relative error of a figure
JUMP = 1e-3  # relative: a peak's time that moves further within a step is that of another peak
BENT = (0.01, 0.5)  # a derivative that within this share of the number changes by more than this share of itself
COUNTED = {"contact.count": "the number of contacts", "captured": "whether the latch captures"}
SEEN = 0.1  # of a derivative: differences that rounding moves by more do not resolve it
NOT = "not differentiable here"
TOO_SMALL = "unresolved"
SMOOTHED = "; --smooth 0.05 gives the derivative of its mean over a spread of the numbers"

type Run = Callable[[Sequence[str], Float[np.ndarray, "cases keys"]], Cases]  # of keys, and a case a row


class Verdict(NamedTuple):
    """What differences say of a derivative.

    Attributes:
        holds: whether the derivative is known to be right; None where nothing could be compared, or no difference resolves it.
        reason: why it does not, or how far it does; empty where there is nothing to say.
        sides: differences down and up, in the figure's unit by the number's; None on a side that is not allowed.
    """

    holds: bool | None
    reason: str = ""
    sides: tuple[float | None, float | None] | None = None


def judge_derivatives(
    run: Run, slopes: Mapping[str, Sequence[float]], places: Sequence[Place]
) -> dict[str, list[Verdict]]:
    """Return a verdict for the derivative of each figure, by its name, with respect to each of the places.

    One run to either side clears nearly all; those in doubt are judged by four.
    """
    count = len(places)
    found = {
        name: [NOT_FINITE if not np.isfinite(slope) else Verdict(None) for slope in row] for name, row in slopes.items()
    }
    for probing, judged in ((STEPS[1:], _accept_derivative), (STEPS, _examine_differences)):
        open_ = [i for i in range(count) if any(_is_open(row[i]) for row in found.values())]
        if not open_:
            break
        steps = np.array([_probe_steps(places[i].value, probing) for i in open_])
        cases = run(*_probe_rows([places[i] for i in open_], steps))
        size = steps.shape[1]
        for row, i in enumerate(open_):
            which = [0, *range(1 + row * size, 1 + (row + 1) * size)]
            figures = {name: values[which] for name, values in cases.figures.items()}
            reasons = [cases.reasons[one] for one in which]
            for name, verdicts in found.items():
                if _is_open(verdicts[i]):
                    verdicts[i] = judged(name, slopes[name][i], steps[row], figures, reasons)
    return found


def _is_open(verdict: Verdict) -> bool:
    """Return whether nothing is said of a derivative yet."""
    return verdict.holds is None and not verdict.reason


NOT_FINITE = Verdict(
    False,
    f"{NOT}: the derivative is not finite, as where bodies meet exactly on an axis or nothing turns; state an offset by --set, "
    'ask --of "95 % of" the figure over the distributions, or spread the numbers by --smooth 0.05',
)


def _probe_steps(value: float, steps: Sequence[float]) -> list[float]:
    """Return changes of a number at which a figure is computed: down and up by the first step, then by the next."""
    size = abs(value) or ZERO
    return [side * step * size for step in steps for side in (-1, 1)]


def _probe_rows(
    places: Sequence[Place], steps: Float[np.ndarray, "places probes"]
) -> tuple[list[str], Float[np.ndarray, "cases keys"]]:
    """Return the keys of the places and the numbers of every case: those of the scenario, then each place's at its probes."""
    own = {key: value for place in places for key, value in place.written(place.value).items()}
    cases = [own]
    for place, probes in zip(places, steps, strict=True):
        cases += [own | place.written(place.value + step) for step in probes.tolist()]
    return list(own), np.array([[case[key] for key in own] for case in cases])


def _accept_derivative(
    of: str, derivative: float, steps: Float[np.ndarray, "2"], figures: Mapping[str, np.ndarray], reasons: list[str]
) -> Verdict:
    """Return that a derivative is the difference over both sides; nothing where it is not or a side is missing."""
    values = figures.get(of, np.full(3, np.nan))
    if any(reasons) or np.isnan(values).any():
        return Verdict(None)
    sides = (values[1:] - values[0]) / steps
    noise = ROUNDING * abs(values[0]) / abs(steps[0])
    largest = max(abs(derivative), abs(sides.mean()))
    if not _is_cleared(derivative, sides, noise) or np.ptp(sides) > AGREE * largest + 4 * noise:
        return Verdict(None)
    seen = (float(sides[0]), float(sides[1]))
    if derivative and 2 * noise > SEEN * largest:
        return Verdict(
            None, f"{TOO_SMALL}: within {STEPS[1]:g} of the number rounding changes the figure as much", seen
        )
    return Verdict(True, _describe_bend(derivative, sides, noise), seen)


def _examine_differences(
    of: str, derivative: float, steps: Float[np.ndarray, "4"], figures: Mapping[str, np.ndarray], reasons: list[str]
) -> Verdict:
    """Return differences down and up, whether they agree with the derivative, and what is the matter if not.

    `figures` and `reasons` (of cases that failed) are those of the scenario itself, then at each of the steps. A side on
    which a case failed, the number being at its limit, is left out.
    """
    ran = np.array([not words for words in reasons])
    sides = (ran[1:3] & ran[3:5]) if ran[0] else np.zeros(2, bool)
    if not sides.any():
        return Verdict(None, f"not compared: {next(words for words in reasons if words)}")
    some = np.r_[True, sides, sides]
    if words := _what_changes({name: values[some] for name, values in figures.items() if name in COUNTED}):
        return Verdict(False, f"{NOT}: {words}")
    values = figures.get(of, np.full(5, np.nan))
    if np.isnan(values[some]).any():
        return Verdict(False, f"{NOT}: the figure comes or goes within {STEPS[1]:g} of the number")
    near, far = ((values[1:] - values[0]) / steps).reshape(2, 2)
    seen = (float(far[0]) if sides[0] else None, float(far[1]) if sides[1] else None)
    limits = near + (near - far) / (STEPS[1] / STEPS[0] - 1)  # without what a bend adds in proportion to the step
    noise = ROUNDING * abs(values[0]) / np.abs(steps[[0, 2]])
    cleared = sides.all() and _is_cleared(derivative, far, noise[1]) and not _is_kink(near, far)
    both = not sides.all() or _differences_agree(
        derivative, far.mean(keepdims=True), noise[1]
    )  # rounding hides less there
    if cleared or (both and _differences_agree(derivative, limits[sides], noise[0])):
        return Verdict(True, _describe_bend(derivative, far, noise[1]) if sides.all() else "", seen)
    when = figures.get("peak_time_s", np.zeros(5))[some]
    if of.startswith("peak") and np.ptp(when) > JUMP * abs(when[0]):
        return Verdict(False, f"{NOT}: two peaks are equally high", seen)
    if sides.all() and _differences_agree(float(limits.mean()), limits, noise[0]):
        words = f"differences give {limits.mean():.4g} to both sides, not {derivative:.4g}"
        return Verdict(False, f"not certain: {words}; a finer integrator.tolerance tells which it is", seen)
    return Verdict(False, f"{NOT}: {_describe_disagreement(derivative, limits, sides)}", seen)


def _what_changes(counted: Mapping[str, np.ndarray]) -> str:
    """Return what of the things that are counted is not the same everywhere."""
    for name, values in counted.items():
        found = sorted({float(value) for value in np.nan_to_num(values)})
        if len(found) > 1:
            many = f" ({' or '.join(f'{count:g}' for count in found)})" if name == "contact.count" else ""
            return f"{COUNTED[name]} changes within {STEPS[1]:g} of the number{many}{SMOOTHED}"
    return ""


def _is_cleared(derivative: float, sides: Float[np.ndarray, "2"], noise: float) -> bool:
    """Return whether a derivative is the difference over both sides."""
    mean = sides.mean()
    return bool(abs(mean - derivative) <= CLEAR * max(abs(derivative), abs(mean)) + 2 * noise)


def _is_kink(near: Float[np.ndarray, "2"], far: Float[np.ndarray, "2"]) -> bool:
    """Return whether differences to both sides are as far apart over a step as over ten of these: what bends has them nearer in
    proportion, and rounding farther apart."""
    return bool(np.ptp(far) / 2 < np.ptp(near) < 2 * np.ptp(far))


def _differences_agree(derivative: float, limits: Float[np.ndarray, "sides"], noise: float) -> bool:
    room = AGREE * max(abs(derivative), *np.abs(limits)) + 2 * noise
    return bool((np.abs(limits - derivative) <= room).all())


def _describe_bend(derivative: float, sides: Float[np.ndarray, "2"], noise: float) -> str:
    """Return what to say of a figure whose derivative holds for small changes only."""
    change = (
        max(abs(sides[1] - sides[0]) - 4 * noise, 0.0) / STEPS[1]
    )  # of the derivative, for 100 % more of the number
    if change * BENT[0] <= BENT[1] * abs(derivative):
        return ""
    share = BENT[1] * abs(derivative) / change
    return f"holds for small changes only: another by {BENT[1]:.0%} after {100 * share:.2g} % of the number"


def _describe_disagreement(derivative: float, limits: Float[np.ndarray, "2"], sides: np.ndarray) -> str:
    """Return a derivative and differences that do not agree, in words."""
    words = [
        f"{rise:.4g} {way}" for rise, way, there in zip(limits, ("downwards", "upwards"), sides, strict=True) if there
    ]
    return f"differences give {' and '.join(words)}, not {derivative:.4g} (two equal peaks, a contact that grazes, or an edge)"

"""Which compensator is best on a rig: from a comparison of them on that very rig, over its stiffnesses and its noise.

What counts is the largest error over the stiffnesses: of the first bounce's restitution, |e − e_true|; of a contact that
swings, of the amplitude at the end, a half counting as much as twice. With noise it is the mean over the noise draws.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.records import record

NONE = "none"  # the rig without a compensator
DEFAULT = "lead-energy"  # taken of those that are alike: a wrong lead, which no comparison shows, costs it least
SURE = 2.0  # standard errors of the noise within which two errors are alike
RESOLVED = 1e-8  # likewise without noise: what a run's tolerance of 1e-11 leaves after its steps

type Errors = Float[np.ndarray, "... lanes"]


def _restitution_counts(measures: Mapping[str, np.ndarray], bilateral: bool) -> bool:
    """Return whether the error is that of a bounce: of a contact that does not pull, where any bounce without rig ends."""
    return not bilateral and bool(np.isfinite(measures["ideal_restitution"]).any())


def counting_errors(measures: Mapping[str, np.ndarray], bilateral: bool) -> Errors:
    """Return the error that counts; infinite where the rig shows none, NaN where the contact without rig has no bounce."""
    if _restitution_counts(measures, bilateral):
        ideal, shown = measures["ideal_restitution"], measures["apparent_restitution"]
        off = np.abs(shown - ideal)
        return np.where(np.isfinite(ideal), np.where(np.isfinite(off), off, np.inf), np.nan)
    return amplitude_errors(measures["amplitude_ratio"])


def amplitude_errors(ratio: Errors) -> Errors:
    """Return by how much amplitudes are off; a half counts as much as twice, and what is not finite as infinitely much."""
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(ratio >= 1, ratio, 1 / ratio) - 1
    return np.where(np.isfinite(off), off, np.inf)


def over_draws(rows: Sequence[Errors]) -> tuple[Errors, Errors]:
    """Return the mean of errors over noise draws, and its standard error; zero for a single draw."""
    stack = np.stack(rows)
    if len(stack) == 1:
        return stack[0], np.zeros_like(stack[0])
    with np.errstate(invalid="ignore"):
        spread = stack.std(axis=0, ddof=1) / np.sqrt(len(stack))
    return stack.mean(axis=0), np.where(np.isfinite(spread), spread, 0.0)


@record
class Ranked:
    """A compensator and its largest error over the stiffnesses, with the standard error that noise leaves in it."""

    law: str
    error: float
    noise: float = 0.0

    def as_good_as(self, other: Self) -> bool:
        """Return whether the other is not better by more than noise and rounding account for."""
        doubt = max(RESOLVED, SURE * float(np.hypot(self.noise, other.noise)))
        return self.error == other.error or self.error - other.error <= doubt


@record
class CompensatorChoice:
    """What a comparison says: all that a rig can have, the nearest to the truth first."""

    of: str  # what the errors are of: restitution, or amplitude
    low: float  # N/m, ends of the range
    high: float
    draws: int  # of the noise
    ranking: tuple[Ranked, ...]

    @classmethod
    def of_dataset(cls, dataset: Dataset) -> Self:
        """Return the choice that a dataset of `compare` leaves."""
        bilateral = bool(dataset.attrs["bilateral"])
        measures = {str(name): dataset[name].values for name in dataset.data_vars}
        mean = measures.get("error", counting_errors(measures, bilateral))
        noise = measures.get("error_noise", np.zeros_like(mean))
        counted = np.where(np.isnan(mean), -np.inf, mean)
        at = counted.argmax(axis=1)
        found = [
            Ranked(str(law), float(counted[row, at[row]]), float(noise[row, at[row]]))
            for row, law in enumerate(dataset.compensator.values)
        ]
        seen = oracle_compensators(dataset)
        usable = [each for each in found if each.law not in seen] or found
        return cls(
            "restitution" if _restitution_counts(measures, bilateral) else "amplitude",
            float(dataset.stiffness.min()),
            float(dataset.stiffness.max()),
            int(dataset.attrs["noise_draws"]),
            tuple(sorted(usable, key=lambda each: each.error)),
        )

    @classmethod
    def of_answer(cls, answer: Mapping[str, Any]) -> Self:
        """Return the choice that `answer` was."""
        return cls(**{**answer, "ranking": tuple(Ranked(**each) for each in answer["ranking"])})

    def answer(self) -> dict[str, Any]:
        """Return ready for JSON, errors finite or infinite."""
        return asdict(self)

    def known(self, law: str) -> Ranked | None:
        """Return what was found of a law; None where it was not compared."""
        return next((each for each in self.ranking if each.law == law), None)

    def alike(self) -> list[Ranked]:
        """Return the nearest, and those that noise and rounding do not tell from it."""
        return [each for each in self.ranking if each.as_good_as(self.ranking[0])]

    def best(self, own: str | None = None) -> Ranked:
        """Return the one to take: of those that are alike what the rig has, else the default, else the nearest."""
        alike = {each.law: each for each in self.alike()}
        return next((alike[law] for law in (own, DEFAULT) if law in alike), self.ranking[0])

    def runner_up(self) -> Ranked | None:
        """Return the nearest of those that are told from the best; None where there is none."""
        return next((each for each in self.ranking if not each.as_good_as(self.ranking[0])), None)


def oracle_compensators(dataset: Dataset) -> list[str]:
    """Return the compensators of a comparison that see the motion without rig: no rig can have them."""
    return [law for law, facts in facts_by_law(dataset).items() if facts["oracle"]]


def facts_by_law(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """Return what each compensator of a comparison says of itself (`facts_of`)."""
    return dict(json.loads(dataset.attrs["laws"]))


def compensator_advice(choice: CompensatorChoice, own: str | None) -> str:
    """Return which compensator to take on a rig that has `own` (`none` without one, None where that was not compared), in
    words.

    Says by how much it is better than the next, and where none is better than what the rig has.
    """
    low, high = (f"{float(f'{end:.4g}'):.15g}" for end in (choice.low, choice.high))
    at = f"at {low} N/m" if low == high else f"from {low} to {high} N/m"
    best, following = choice.best(own), choice.runner_up()
    if not np.isfinite(best.error):
        return f"No compensator keeps to the motion without rig {at}."
    said = [f"Nearest to the motion without rig {at}: {_law_name(best.law)}, {_best_error(choice, best)}"]
    if others := [_law_name(each.law) for each in choice.alike() if each.law != best.law]:
        said.append(f"{' and '.join(others)} {'does' if len(others) == 1 else 'do'} as well")
    if following is not None and np.isfinite(following.error):
        said.append(f"second best: {_law_name(following.law)} ({error_words(choice, following)})")
    elif following is not None:
        said.append("all others diverge or do not bounce off")
    words = "; ".join(said) + "."
    mine = None if own is None else choice.known(own)
    if mine is None:
        return words
    if mine.law == best.law:
        kept = "No compensator is better here than none" if own == NONE else f"Keep {own}"
        return f"{words} {kept}: nothing that was compared is better than what this rig has."
    return f"{words} This rig has {'none' if own == NONE else own} ({error_words(choice, mine)})."


def _law_name(law: str) -> str:
    return "the rig without a compensator" if law == NONE else law


def _best_error(choice: CompensatorChoice, ranked: Ranked) -> str:
    """Return the error of the best in words: what it is of, and of how many noise seeds it is the mean."""
    if ranked.error <= RESOLVED and not ranked.noise:
        return f"{choice.of} right to rounding"
    drawn = f", the mean of {choice.draws} noise seeds" if ranked.noise else ""
    return f"{choice.of} {error_words(choice, ranked).replace('error', 'within')} of the true one{drawn}"


def error_words(choice: CompensatorChoice, ranked: Ranked) -> str:
    """Return an error in words, with what noise leaves open of it."""
    if not np.isfinite(ranked.error):
        return "diverges or does not bounce off"
    sure = f" ± {format_error(choice, ranked.noise)}" if ranked.noise else ""
    return f"error {format_error(choice, ranked.error)}{sure}"


def format_error(choice: CompensatorChoice, error: float) -> str:
    """Return an error of restitution as it is, of the amplitude as a share or, where it is large, as a factor."""
    if choice.of == "restitution":
        return f"{error:.2g}"
    return f"{100 * error:.2g} %" if error < 1 else f"a factor of {1 + error:.2g}"

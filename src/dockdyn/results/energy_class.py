"""What contacts do to the energy: add some, take some, or neither.

Units: energies J, times s.
Source: Sazawal et al., after eq. 152; what a law can do to the energy follows from its potential and its dissipation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.results.contact_summary import overlapping_contacts
from dockdyn.results.measures import acts_beside_contacts, finite_or_none
from dockdyn.results.run import Run, Variable, episode_variable

LOSSLESS, PASSIVE, ACTIVE, UNRESOLVED = "lossless", "passive", "active", "unresolved"
OPEN = "open"  # laws and delay do not say; the run has to
CONTRADICTED = 1e-4  # share of the kinetic energy that a run may miss of what a law says, without a warning


class ContactLaw(Protocol):
    """What a normal law or a friction law says of energy."""

    def lossless(self) -> bool: ...
    def passive(self) -> bool: ...


def energy_effect(laws: Iterable[ContactLaw], delay: float) -> str:
    """Return what a contact with these laws must do to the energy, whatever the motion.

    Forces act along the gradient of the depth, so a law of the depth alone has a potential: what it takes it gives back. What
    a damper or friction does beside it can only take. A `delay` (s) may do either: then, and where a law does not say, it
    is open.
    """
    if delay != 0:
        return OPEN
    found = tuple(laws)
    if all(law.lossless() for law in found):
        return LOSSLESS
    return PASSIVE if all(law.passive() for law in found) else OPEN


def effect_variable(effects: Sequence[str], run: Run) -> dict[str, Variable]:
    """Return what each contact of a run must do, by the `energy_effect` of each pair."""
    words = "what laws and delay say that the contact does to the energy: lossless, passive, or open"
    return {"episode_effect": episode_variable(np.array([effects[e.contact] for e in run.episodes], str), "1", words)}


def energy_summary(dataset: Dataset, summary: dict[str, Any]) -> dict[str, Any]:
    """Return the `energy_class` of each contact, and the warnings of a `summary` with those of contacts that do what they
    cannot."""
    classes = _energy_classes(dataset, summary["work_energy_error"])
    return {"energy_class": classes, "warnings": [*summary["warnings"], *_energy_contradictions(dataset)]}


def _energy_classes(dataset: Dataset, work_error: float | None) -> list[str | None]:
    """Return what each contact did to the energy; None where something else takes and gives some meanwhile, or it is not over.

    That of its laws where they say it. Else the sign of what the energy changed by, unless the run does not resolve that:
    the change is no larger than twice the sum of the steps' errors, as the energy goes with the square of the motion, or than
    `work_error`, by which the work of the run differs from its energy, both relative to the kinetic energy.
    """
    if acts_beside_contacts(dataset):
        return [None] * dataset.sizes["episode"]
    resolved = max(2 * float(dataset.attrs["steps"]) * float(dataset.attrs["step_error"]), work_error or 0.0)
    return [
        _classify_energy(effect, share, resolved)
        for effect, share in zip(_energy_effects(dataset), _energy_changes(dataset), strict=True)
    ]


def _energy_contradictions(dataset: Dataset) -> list[str]:
    """Return a warning for contacts whose energy did what their laws exclude: those with nothing beside them, and no force at
    the start, which would give what was stored then."""
    if acts_beside_contacts(dataset) or "capture_time" in dataset:
        return []
    mixed = overlapping_contacts(dataset)
    mixed += [index for index, onset in enumerate(dataset.episode_onset.values, start=1) if onset == 0]
    told = enumerate(zip(_energy_effects(dataset), _energy_changes(dataset), strict=True), start=1)
    alone = [(effect, share) for index, (effect, share) in told if share is not None and index not in mixed]
    worst = max((share if effect == PASSIVE else abs(share) for effect, share in alone if effect != OPEN), default=0.0)
    if worst <= CONTRADICTED:
        return []
    return [
        f"a contact whose law cannot do so changed the kinetic energy by {worst:.1e} of it: the steps are too long for "
        "it, or a law of your own says lossless() or passive() and is not"
    ]


def _energy_effects(dataset: Dataset) -> list[str]:
    """Return what the laws of each contact say; open in a result of a version that did not ask."""
    if "episode_effect" not in dataset:
        return [OPEN] * dataset.sizes["episode"]
    return [str(effect) for effect in dataset.episode_effect.values]


def _energy_changes(dataset: Dataset) -> list[float | None]:
    """Return what the energy changed by over each contact, relative to the kinetic energy at the start or after it; None while
    it is not over."""
    start = float(dataset.kinetic_energy[0])
    both = zip(dataset.episode_energy_gain.values, dataset.episode_energy.values, strict=True)
    return [_relative_change(finite_or_none(gain), start, finite_or_none(after)) for gain, after in both]


def _relative_change(gain: float | None, start: float, after: float | None) -> float | None:
    if gain is None or after is None:
        return None
    scale = max(start, start + after)
    return gain / scale if scale > 0 else gain


def _classify_energy(effect: str, share: float | None, resolved: float) -> str | None:
    """Return a contact by what its laws say and the `share` of energy that it added."""
    if share is None:
        return None
    if effect != OPEN:
        return effect
    if abs(share) <= resolved:
        return UNRESOLVED
    return PASSIVE if share < 0 else ACTIVE

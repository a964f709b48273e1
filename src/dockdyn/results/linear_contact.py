"""A contact as a spring between linear systems: its stiffness, and the peak of its force when they meet.

Units: N, N/m, kg, m/s, s.
Source: modal superposition, Meirovitch 1967, Analytical Methods in Vibrations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float

ENOUGH = 8  # modes of bending in each direction, whose contacts are taken for those of the beam
FEW = 0.01  # of a force: what modes that are left out may add to it without a warning
DEPTHS = np.geomspace(1e-9, 1.0, 2000)  # m, at which a law is asked
INSTANTS, DELAYED = 2000, 400  # at which it is looked at; steps, where the force acts late
ACCURACY = "(estimated, to within an eighth of this and 0.3 % of the force)"


class LateSpring(NamedTuple):
    """A contact as a spring, whose force may act late."""

    stiffness: float  # N/m
    delay: float = 0.0  # s


def equivalent_stiffness(forces: Float[np.ndarray, "depths"], peak: float) -> float:
    """Return the stiffness (N/m) of the spring that stores as much as a law under a `peak` force (N); NaN beyond the law.

    `forces` (N) are those of the law at the `DEPTHS`, without damping.
    """
    beyond = np.flatnonzero(forces >= peak)
    if not len(beyond) or not np.isfinite(forces[: beyond[0] + 1]).all():
        return np.nan
    upto = beyond[0] + 1
    stored = float(np.trapezoid(forces[:upto], DEPTHS[:upto]))
    return float(forces[upto - 1]) ** 2 / (2 * stored) if stored > 0 else np.nan


def linear_force(
    mass: Float[np.ndarray, "n n"],
    springs: Float[np.ndarray, "n n"],
    row: Float[np.ndarray, "n"],
    velocity: Float[np.ndarray, "n"],
    contact: LateSpring,
    until: float,
) -> Float[np.ndarray, "instants"]:
    """Return the same contact's force (N), at instants from 0 to a time (s) that are equally far apart; below zero it pulls."""
    root, own = by_unit_masses(mass, springs)
    pulls = np.linalg.solve(root, row)
    if contact.delay > until / DELAYED:
        return _delayed_force(own, pulls, root.T @ velocity, contact, until)
    squares, ways = np.linalg.eigh(own + contact.stiffness * np.outer(pulls, pulls))
    rates = np.sqrt(np.maximum(squares, (1e-6 / until) ** 2))
    each = -contact.stiffness * (pulls @ ways) * (ways.T @ root.T @ velocity) / rates
    found: Float[np.ndarray, "instants"] = np.sin(np.outer(np.linspace(0.0, until, INSTANTS), rates)) @ each
    return found


def by_unit_masses(
    mass: Float[np.ndarray, "n n"], springs: Float[np.ndarray, "n n"]
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, "n n"]]:
    """Return the lower root L of the mass, and the springs in coordinates Lᵀ x, in which it is one."""
    root = np.linalg.cholesky(mass)
    own = np.linalg.solve(root, np.linalg.solve(root, springs).T)
    return root, (own + own.T) / 2


def first_part(forces: Float[np.ndarray, "instants"]) -> Float[np.ndarray, "first"]:
    """Return the forces (N) of a contact that begins at the first instant, until it first ends."""
    ended = np.flatnonzero(forces[1:] <= 0)
    return forces[: 1 + ended[0]] if len(ended) else forces


def free_motion(
    mass: Float[np.ndarray, "n n"],
    springs: Float[np.ndarray, "n n"],
    start: tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n"]],
    times: Float[np.ndarray, "times"],
) -> tuple[Float[np.ndarray, "times n"], Float[np.ndarray, "times n"]]:
    """Return places and velocities of a system at `times` (s), by those at which it starts."""
    root, own = by_unit_masses(mass, springs)
    squares, ways = np.linalg.eigh(own)
    rates = np.sqrt(np.maximum(squares, (1e-6 / times[-1]) ** 2))
    place, velocity = (ways.T @ root.T @ one for one in start)
    angle = np.outer(times, rates)
    moved = place * np.cos(angle) + velocity / rates * np.sin(angle)
    moving = velocity * np.cos(angle) - place * rates * np.sin(angle)
    back = np.linalg.solve(root.T, ways).T
    return moved @ back, moving @ back


def _delayed_force(
    own: Float[np.ndarray, "n n"],
    pulls: Float[np.ndarray, "n"],
    velocity: Float[np.ndarray, "n"],
    contact: LateSpring,
    until: float,
) -> Float[np.ndarray, "instants"]:
    """Return the same force (N) where it acts late; in coordinates in which the mass is one, by exact steps under a held
    force."""
    squares, ways = np.linalg.eigh(own)
    step, rates = until / DELAYED, np.sqrt(np.maximum(squares, (1e-6 / until) ** 2))
    cosine, sine = np.cos(rates * step), np.sin(rates * step) / rates
    given, rate, place = ways.T @ pulls, ways.T @ velocity, np.zeros(len(rates))
    forces, late = np.zeros(DELAYED + 1), contact.delay / step - 0.5
    for index in range(DELAYED):
        ago = index - late
        low = int(np.floor(ago))
        acts = 0.0
        if ago > 0:
            acts = forces[low] + (ago - low) * (forces[min(low + 1, index)] - forces[low])
        pushed = given * acts
        shift = 2 * (np.sin(rates * step / 2) / rates) ** 2 * pushed
        place, rate = cosine * place + sine * rate + shift, cosine * rate - rates**2 * sine * place + sine * pushed
        forces[index + 1] = -contact.stiffness * (given @ place)
    return forces

"""The gain of a compensator, from what is known of a rig: its robot, hold, delay and periods.

It is exact for the sampled loop: it puts its slow root where that of the contact alone is.

Units: gains N s/m, roots 1/s.
Source: own construction: Newton's method on the slow root of the sampled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dockdyn.deferred import Complex, Float
from dockdyn.stability.growth import loop_roots
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root
from dockdyn.stability.multirate import hyperperiod_of
from dockdyn.trees import map_leaves

CLOSE = 1e-11  # of the frequency: how well the root is met
TRIED = 30  # steps of Newton's method
ALL = 10_000  # roots asked for: every one


def matching_gain(loop: Loop) -> float:
    """Return the gain (N s/m) on the loop's own choice of velocity with which its amplitude changes as that of the contact
    alone.

    Raises ValueError for a contact that does not oscillate or that the hold cannot follow, and where no gain does it.
    """
    target = own_root(loop)
    scale = float(loop.stiffness) / abs(target)

    def loop_with(numbers: np.ndarray) -> Loop:
        return batch_of_loops(loop, gain=numbers[:, 0] * scale)

    lag = abs(target) * lag_of(loop)
    (gain,) = met_by_loop(loop_with, target, np.array([lag - float(loop.damping) / scale]), "gain")
    return float(gain * scale)


def own_root(loop: Loop) -> complex:
    """Return the root (1/s) of the contact alone. ValueError where it does not oscillate."""
    ideal = ideal_root(loop)
    if ideal is None:
        raise ValueError("the contact alone does not oscillate: its damping is above critical")
    return ideal


def natural_frequency(loop: Loop) -> float:
    """Return √(K/m), rad/s."""
    return float(np.sqrt(float(loop.stiffness) / float(loop.effective_mass)))


def lag_of(loop: Loop) -> float:
    """Return the delay of the loop (s) at its natural frequency, about: where the search for leads and gains begins."""
    omega, lag = natural_frequency(loop), float(loop.delay)
    if loop.hold is not None:
        lag += float(loop.hold) / 2
    if loop.dynamics_period is not None:
        share = {"explicit-euler": 1.0, "semi-implicit-euler": 0.0}.get(loop.dynamics, 0.5)
        lag += share * float(loop.dynamics_period)
    return lag + robot_lag(loop, omega)


def robot_lag(loop: Loop, omega: float) -> float:
    """Return how late (s) the robot follows a motion at `omega` (rad/s); 0 of one that follows at once."""
    if loop.robot is None:
        return 0.0
    a, b, c = (np.asarray(part) for part in (loop.robot.state, loop.robot.input, loop.robot.output))
    return -float(np.angle(c @ np.linalg.solve(1j * omega * np.eye(len(b)) - a, b))) / omega


def batch_of_loops(loop: Loop, **numbers: np.ndarray) -> Loop:
    """Return many loops that differ in the named numbers."""
    count = len(next(iter(numbers.values())))
    many = map_leaves(lambda a: np.repeat(np.asarray(a, float)[None], count, axis=0), loop)
    return replace(many, **numbers)


def nearest_roots(
    found: Complex[np.ndarray, "rows count"], target: Complex[np.ndarray, "*rows"]
) -> Complex[np.ndarray, "rows"]:
    """Return of each row of roots the one nearest to its target; NaN where there is none."""
    distance = np.abs(found - target[:, None])
    at = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    return np.where(np.isnan(target), target, found[np.arange(len(found)), at])


def met_by_loop(
    made: Callable[[np.ndarray], Loop], target: complex, start: Float[np.ndarray, "numbers"], what: str
) -> Float[np.ndarray, "numbers"]:
    """Return `match_root` for the roots of loops. ValueError also where the contact is too fast for the loop's cycle."""
    period = _cycle_of(made(start[None]))
    if target.imag * period >= np.pi:
        raise ValueError(
            f"the contact oscillates with {target.imag:.6g} rad/s; must be below {np.pi / period:.6g} rad/s, "
            "half an oscillation in the time until hold, sensor and dynamics meet again"
        )
    return match_root(lambda numbers: np.asarray(loop_roots(made(numbers), ALL)), target, start, what)


def match_root(
    roots: Callable[[np.ndarray], np.ndarray], target: complex, start: Float[np.ndarray, "numbers"], what: str
) -> Float[np.ndarray, "numbers"]:
    """Return numbers, one or two, at which one of the `roots` is the `target` (1/s): one meets the real part, two meet both.

    `roots` takes rows of numbers, each of order one, and gives a row of roots for each. Newton's method; ValueError where
    it does not converge.
    """
    count, size = len(start), abs(target)

    def root_errors(numbers: np.ndarray) -> np.ndarray:
        found = roots(numbers)
        error = (nearest_roots(found, np.full(len(found), target)) - target) / size
        return np.stack([error.real, error.imag], axis=1)[:, :count]

    numbers, step = start, 1e-6
    for _ in range(TRIED):
        tried = np.concatenate([numbers[None], numbers + step * np.eye(count), numbers - step * np.eye(count)])
        error = root_errors(tried)
        if np.abs(error[0]).max() < CLOSE:
            return numbers
        slopes = (error[1 : count + 1] - error[count + 1 :]).T / (2 * step)
        move = np.linalg.lstsq(slopes, -error[0])[0]
        numbers = numbers + move * min(1.0, 0.5 / max(np.abs(move).max(), 1e-300))
    raise ValueError(f"no {what} found that put the loop's root at {target:.6g} 1/s")


def _cycle_of(many: Loop) -> float:
    """Return the time (s) until all instants meet again."""
    return hyperperiod_of(many).holds * float(np.asarray(many.hold).ravel()[0]) if many.sampled() else 0.0

"""Leads and gains of compensators, from what is known of a rig: its robot, hold, delay and periods.

All are exact for the sampled loop: they put its slow root where that of the contact alone is.

Units: leads s and s², gains N s/m, roots 1/s.
Source: own construction: Newton's method on the slow root of the sampled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Complex, Float

from dockdyn.stability.growth import loop_roots
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root
from dockdyn.stability.multirate import hyperperiod_of

CLOSE = 1e-11  # of the frequency: how well the root is met
TRIED = 30  # steps of Newton's method
ALL = 10_000  # roots asked for: every one


class Leads(NamedTuple):
    """Of the command X + l₁ V + l₂ A."""

    lead: float  # l₁, s
    second_lead: float  # l₂, s²


class Reach(NamedTuple):
    """How far a tuning is true: a loop's slow root beside that of the contact alone, over stiffness."""

    stiffness: Float[np.ndarray, "k"]  # N/m
    growth_error: Float[np.ndarray, "k"]  # 1/s: the amplitude ratio after t seconds is exp(growth_error · t)
    frequency_error: Float[np.ndarray, "k"]  # rad/s
    growth_rate: Float[
        np.ndarray, "k"
    ]  # 1/s, of the fastest growing motion, whichever it is: below 0 the loop is stable


def leads(loop: Loop) -> Leads:
    """Leads of the command with which the loop moves as the contact alone does.

    They are those of an undamped contact without gain or virtual part at the loop's stiffness, on which they hardly
    depend. Leads and damping that `loop` has do not count.

    Raises ValueError for a loop without a hold, for a contact that the hold cannot follow, and where no leads do it.
    """
    if not loop.sampled():
        raise ValueError("a loop without a hold has no leads: the command is then continuous")
    zero = jnp.zeros(())
    bare = replace(loop, damping=zero, gain=zero, virtual_stiffness=zero, virtual_damping=zero)
    omega = natural_frequency(bare)

    def made(numbers: np.ndarray) -> Loop:
        return rows(bare, lead=numbers[:, 0] / omega, second_lead=numbers[:, 1] / omega**2)

    lag = omega * lag_of(bare)
    l1, l2 = met_by_loop(made, 1j * omega, np.array([lag, lag**2 / 2]), "leads")
    return Leads(float(l1 / omega), float(l2 / omega**2))


def matching_gain(loop: Loop) -> float:
    """Gain (N s/m) on the loop's own choice of velocity with which its amplitude changes as that of the contact alone.

    Raises ValueError for a contact that does not oscillate or that the hold cannot follow, and where no gain does it.
    """
    target = own_root(loop)
    scale = float(loop.stiffness) / abs(target)

    def made(numbers: np.ndarray) -> Loop:
        return rows(loop, gain=numbers[:, 0] * scale)

    lag = abs(target) * lag_of(loop)
    (gain,) = met_by_loop(made, target, np.array([lag - float(loop.damping) / scale]), "gain")
    return float(gain * scale)


def gain_and_inertia(loop: Loop) -> tuple[float, float]:
    """Gain (N s/m) on velocity and inertia (kg) on the model's acceleration that put the root on that of the contact alone.

    Raises ValueError as `matching_gain` does.
    """
    target, mass = own_root(loop), float(loop.effective_mass)
    scale = float(loop.stiffness) / abs(target)

    def made(numbers: np.ndarray) -> Loop:
        return rows(loop, gain=numbers[:, 0] * scale, effective_mass=mass * (1 + numbers[:, 1]))

    lag = abs(target) * lag_of(loop)
    gain, inertia = met_by_loop(made, target, np.array([lag, 0.0]), "gain and inertia")
    return float(gain * scale), float(inertia * mass)


def force_lead(loop: Loop, period: float, time: float = 0.0) -> float:
    """Lead (s) of the force that turns it at the loop's frequency as far as the leads of the command turn that.

    The derivative is taken each `period` (s) through a lag of time constant `time` (s).

    Raises ValueError as `leads` does, and where the lag eats the lead up.
    """
    omega = natural_frequency(loop)
    l1, l2 = leads(loop)
    turn = np.exp(1j * omega * period)
    share = -np.expm1(-period / time) if time else 1.0
    derivative = share * (turn - 1) / (period * (turn - 1 + share))
    slope = omega * l1 / (1 - omega**2 * l2)  # tangent of the angle
    lead = slope / (derivative.imag - slope * derivative.real)
    if not lead > 0:
        raise ValueError(f"a lag of {time:g} s leaves no lead of the force; must be shorter")
    return float(lead)


def over_stiffness(loop: Loop, stiffness: Float[np.ndarray, "k"]) -> Reach:
    """The loop as it is tuned, over contacts of other stiffness (N/m) and its own damping.

    Entries are NaN where the contact alone does not oscillate.
    """
    stiffness = np.atleast_1d(np.asarray(stiffness, float))
    many = rows(loop, stiffness=stiffness)
    found = loop_roots(many, ALL if loop.sampled() else 8)
    single = [ideal_root(replace(loop, stiffness=k)) for k in stiffness]
    ideal = np.array([complex(np.nan, np.nan) if root is None else root for root in single])
    slow = nearest(found, ideal)
    error = slow - ideal
    return Reach(stiffness, error.real, error.imag, found[:, 0].real)


def own_root(loop: Loop) -> complex:
    """Root (1/s) of the contact alone. ValueError where it does not oscillate."""
    ideal = ideal_root(loop)
    if ideal is None:
        raise ValueError("the contact alone does not oscillate: its damping is above critical")
    return ideal


def natural_frequency(loop: Loop) -> float:
    """√(K/m), rad/s."""
    return float(np.sqrt(float(loop.stiffness) / float(loop.effective_mass)))


def lag_of(loop: Loop) -> float:
    """Delay of the loop (s) at its natural frequency, about: where the search for leads and gains begins."""
    omega, lag = natural_frequency(loop), float(loop.delay)
    if loop.hold is not None:
        lag += float(loop.hold) / 2
    if loop.dynamics_period is not None:
        share = {"explicit-euler": 1.0, "semi-implicit-euler": 0.0}.get(loop.dynamics, 0.5)
        lag += share * float(loop.dynamics_period)
    if loop.robot is not None:
        a, b, c = (np.asarray(part) for part in (loop.robot.state, loop.robot.input, loop.robot.output))
        lag -= float(np.angle(c @ np.linalg.solve(1j * omega * np.eye(len(b)) - a, b))) / omega
    return lag


def rows(loop: Loop, **numbers: np.ndarray) -> Loop:
    """Many loops that differ in the named numbers."""
    count = len(next(iter(numbers.values())))
    many = jax.tree.map(lambda a: np.repeat(np.asarray(a, float)[None], count, axis=0), loop)
    return replace(many, **numbers)


def nearest(
    found: Complex[np.ndarray, "rows count"], target: Complex[np.ndarray, "*rows"]
) -> Complex[np.ndarray, "rows"]:
    """Of each row of roots the one nearest to its target; NaN where there is none."""
    distance = np.abs(found - target[:, None])
    at = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    return np.where(np.isnan(target), target, found[np.arange(len(found)), at])


def met_by_loop(
    made: Callable[[np.ndarray], Loop], target: complex, start: Float[np.ndarray, "numbers"], what: str
) -> Float[np.ndarray, "numbers"]:
    """`met` for the roots of loops. ValueError also where the contact is too fast for the loop's cycle."""
    period = cycle_of(made(start[None]))
    if target.imag * period >= np.pi:
        raise ValueError(
            f"the contact oscillates with {target.imag:.6g} rad/s; must be below {np.pi / period:.6g} rad/s, "
            "half an oscillation in the time until hold, sensor and dynamics meet again"
        )
    return met(lambda numbers: np.asarray(loop_roots(made(numbers), ALL)), target, start, what)


def met(
    roots: Callable[[np.ndarray], np.ndarray], target: complex, start: Float[np.ndarray, "numbers"], what: str
) -> Float[np.ndarray, "numbers"]:
    """Numbers, one or two, at which one of the `roots` is the `target` (1/s): one meets the real part, two meet both.

    `roots` takes rows of numbers, each of order one, and gives a row of roots for each. Newton's method; ValueError where
    it does not converge.
    """
    count, size = len(start), abs(target)

    def missed(numbers: np.ndarray) -> np.ndarray:
        found = roots(numbers)
        error = (nearest(found, np.full(len(found), target)) - target) / size
        return np.stack([error.real, error.imag], axis=1)[:, :count]

    numbers, step = start, 1e-6
    for _ in range(TRIED):
        tried = np.concatenate([numbers[None], numbers + step * np.eye(count), numbers - step * np.eye(count)])
        error = missed(tried)
        if np.abs(error[0]).max() < CLOSE:
            return numbers
        slopes = (error[1 : count + 1] - error[count + 1 :]).T / (2 * step)
        move = np.linalg.lstsq(slopes, -error[0])[0]
        numbers = numbers + move * min(1.0, 0.5 / max(np.abs(move).max(), 1e-300))
    raise ValueError(f"no {what} found that put the loop's root at {target:.6g} 1/s")


def cycle_of(many: Loop) -> float:
    """Time (s) until all instants meet again."""
    return hyperperiod_of(many).holds * float(np.asarray(many.hold).ravel()[0]) if many.sampled() else 0.0

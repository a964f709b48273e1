"""Leads, gain and inertia with which a sampled loop's slow root is that of the contact alone, and how far they reach.

Rigs are tuned by what is linearised of them (`dockdyn.rig.tuning`), which knows nothing of these.
"""

from dataclasses import replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dockdyn.hil.tuning import ALL, batch_of_loops, lag_of, met_by_loop, natural_frequency, nearest_roots, own_root
from dockdyn.stability.growth import loop_roots
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root


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
        return batch_of_loops(bare, lead=numbers[:, 0] / omega, second_lead=numbers[:, 1] / omega**2)

    lag = omega * lag_of(bare)
    l1, l2 = met_by_loop(made, 1j * omega, np.array([lag, lag**2 / 2]), "leads")
    return Leads(float(l1 / omega), float(l2 / omega**2))


def gain_and_inertia(loop: Loop) -> tuple[float, float]:
    """Gain (N s/m) on velocity and inertia (kg) on the model's acceleration that put the root on that of the contact alone.

    Raises ValueError as `matching_gain` does.
    """
    target, mass = own_root(loop), float(loop.effective_mass)
    scale = float(loop.stiffness) / abs(target)

    def made(numbers: np.ndarray) -> Loop:
        return batch_of_loops(loop, gain=numbers[:, 0] * scale, effective_mass=mass * (1 + numbers[:, 1]))

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
    many = batch_of_loops(loop, stiffness=stiffness)
    found = loop_roots(many, ALL if loop.sampled() else 8)
    single = [ideal_root(replace(loop, stiffness=k)) for k in stiffness]
    ideal = np.array([complex(np.nan, np.nan) if root is None else root for root in single])
    slow = nearest_roots(found, ideal)
    error = slow - ideal
    return Reach(stiffness, error.real, error.imag, found[:, 0].real)

"""What one loop tolerates, and what it does to a motion: delays, gains, restitution, amplitude, phase, steady state.

Units: delays s, gains N s/m, growth 1/s; restitution and amplitude ratio dimensionless.
Source: definitions, evaluated on the exact monodromy of `stability.sampled`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from dockdyn.stability.bounce import apparent_restitution
from dockdyn.stability.chart import locate
from dockdyn.stability.growth import growth_rates, loop_roots, single
from dockdyn.stability.loop import Loop
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.windows import Windows

CLOSE = 1e-12  # relative accuracy of located delays and gains
DELAYS = 48  # tried at a time
MOST_COMMANDS = (8, 24, 72, 200)  # under way: how far delays are tried at a time, in hold periods
GAINS = np.geomspace(1e-5, 1e3, 120)  # tried on either side of zero, in units of √(K m)


def varied(loop: Loop, name: str, values: Float[np.ndarray, "k"]) -> Loop:
    """Many loops that differ in one number."""
    rows = jax.tree.map(lambda a: np.repeat(np.asarray(a, float)[None], len(values), axis=0), loop)
    return replace(rows, **{name: values})


def changes(
    loop: Loop, name: str, values: Float[np.ndarray, "k"]
) -> tuple[Float[np.ndarray, "edges"], Bool[np.ndarray, "k"]]:
    """Where, between `values` of one number, a loop becomes stable or unstable; and whether it is stable at each value."""
    found = growth_rates(varied(loop, name, values))
    stable = found < 0
    at = np.flatnonzero(stable[:-1] != stable[1:])
    if not len(at):
        return np.zeros(0), stable

    def growth(points: np.ndarray) -> np.ndarray:
        return growth_rates(varied(loop, name, points[:, 0]))

    tolerance = CLOSE * np.abs(values).max()
    places = locate(growth, values[at, None], values[at + 1, None], found[at], found[at + 1], tolerance)
    return places[:, 0], stable


def intervals(start: float, edges: Float[np.ndarray, "edges"], end: float, stable: bool) -> list[tuple[float, float]]:
    """Stable intervals between the edges, the first one stable or not."""
    bounds = [start, *map(float, edges), end]
    return list(pairwise(bounds))[0 if stable else 1 :: 2]


def sampled_windows(loop: Loop) -> Windows:
    """Stable measurement delays of a sampled loop.

    Delays are tried until the first stable window and the loop's own delay are passed, or until 200 commands are under
    way; a window or gap narrower than a sixth of a hold can be missed.
    """
    assert loop.hold is not None
    hold, own = float(loop.hold), float(loop.delay)
    edges, start, reached, first = np.zeros(0), 0.0, 0.0, False
    for commands in MOST_COMMANDS:
        reached = commands * hold
        more, stable = changes(loop, "delay", np.linspace(start, reached, DELAYS + 1))
        first = bool(stable[0]) if start == 0 else first
        edges, start = np.concatenate([edges, more]), reached
        if reached > own and (len(edges) or not first):
            break
    roots = loop_roots(varied(loop, "delay", edges), 1)[:, 0] if len(edges) else np.zeros(0)
    crossings = [(float(edge), abs(float(root.imag))) for edge, root in zip(edges, roots, strict=True)]
    whole = first and not len(edges)
    return Windows(intervals(0.0, edges, np.inf if whole else reached, first), crossings, reached)


def stabilising_gains(loop: Loop) -> list[list[float | None]]:
    """Intervals of compensator gain (N s/m) in which the loop is stable; None is an end beyond 1000 √(K m)."""
    tried = GAINS * np.sqrt(float(loop.stiffness) * float(loop.effective_mass))
    edges, stable = changes(loop, "gain", np.concatenate([-tried[::-1], [0.0], tried]))
    return [
        [low if np.isfinite(low) else None, high if np.isfinite(high) else None]
        for low, high in intervals(-np.inf, edges, np.inf, bool(stable[0]))
    ]


def restitution(loop: Loop) -> float | None:
    """Restitution of a conservative bounce in this loop: contact undamped, nothing compensated.

    Exact for a loop with a delay alone; else that of half an oscillation, exp(π σ / ω) with σ + j ω the rightmost root.
    None where the motion does not oscillate.
    """
    if not loop.sampled() and loop.robot is None:
        return apparent_restitution(float(loop.delay), float(loop.stiffness), float(loop.effective_mass))
    bare = replace(loop, damping=jnp.zeros(()), gain=jnp.zeros(()))
    root = loop_roots(single(bare), 1)[0, 0]
    return float(np.exp(np.pi * root.real / abs(root.imag))) if root.imag else None


def ideal_root(loop: Loop) -> complex | None:
    """Root (1/s) of the contact alone, m s² + (B + B_v) s + K + K_v = 0; None where it does not oscillate."""
    decay = (float(loop.damping) + float(loop.virtual_damping)) / (2 * float(loop.effective_mass))
    square = (float(loop.stiffness) + float(loop.virtual_stiffness)) / float(loop.effective_mass) - decay**2
    return complex(-decay, np.sqrt(square)) if square > 0 else None


def amplitude_ratio(loop: Loop, root: complex) -> float | None:
    """Amplitude after an oscillation of the ideal contact, over that of the ideal contact; None without oscillation."""
    ideal = ideal_root(loop)
    return None if ideal is None or not root.imag else float(np.exp((root - ideal).real * 2 * np.pi / ideal.imag))


def phase_error(loop: Loop, root: complex) -> float | None:
    """Phase (rad) gained on the ideal contact over one of its oscillations; None without oscillation."""
    ideal = ideal_root(loop)
    return None if ideal is None or not root.imag else float((abs(root.imag) - ideal.imag) * 2 * np.pi / ideal.imag)


def steady_state_error(loop: Loop) -> float:
    """Force left on the model per unit of a force step, in a stable loop (SITS, eqs. 41, 42)."""
    if loop.sampled():
        return SampledLoop(loop).steady_state_error()
    matrices = np.asarray(loop.matrices())
    push = np.zeros(matrices.shape[-1])
    push[1] = 1 / float(loop.effective_mass)
    settled = np.linalg.solve(-matrices.sum(axis=0), push)
    return float(1 + float(loop.effective_mass) * (matrices[1] @ settled)[1])

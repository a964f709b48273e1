"""What a margin depends on: its derivative with respect to every number of the scenario, by the implicit function theorem."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.scenario.section import Section
from dockdyn.stability.characteristic import null_vectors, root_of
from dockdyn.stability.growth import single
from dockdyn.stability.loop import Loop
from dockdyn.stability.rhythm import Rhythm, rhythm
from dockdyn.stability.roots import rightmost_roots
from dockdyn.stability.sampled import cycle
from dockdyn.study.nominal import Nominal, contact_loop
from dockdyn.study.plan import jit_once

SMALL = 1e-6  # of the largest sensitivity: smaller ones are left out


def sensitivities(content: Any, nominal: Nominal | None, loop: Loop, critical: float | None) -> dict[str, float]:
    """Change of the margin for a change of each number of the scenario by its own size, the largest first.

    The margin is the delay margin (s) where there is a critical delay above zero, else the growth rate (1/s). The pose of
    a predicted first contact is held.
    """
    at_edge = critical is not None and critical > 0
    delay = jnp.asarray(critical if at_edge else loop.delay, float)
    beats = rhythm(single(replace(loop, delay=delay))) if loop.sampled() else None
    start = None if beats is not None else rightmost(loop, float(delay))
    slopes = slopes_once(content, nominal, delay, start, beats=beats, at_edge=at_edge)
    leaves, _ = jax.tree_util.tree_flatten_with_path(slopes)
    values = jax.tree.leaves(content)
    found = {
        key_of(path, content): float(slope) * float(value) for (path, slope), value in zip(leaves, values, strict=True)
    }
    largest = max((abs(value) for value in found.values()), default=0.0)
    kept = {name: value for name, value in found.items() if abs(value) > SMALL * largest and not constrained(name)}
    return dict(sorted(kept.items(), key=lambda item: -abs(item[1])))


def constrained(name: str) -> bool:
    """Whether a number cannot change by itself: one of a unit quaternion."""
    return "attitude" in name.split(".")


def rightmost(loop: Loop, delay: float) -> complex:
    return complex(rightmost_roots(np.asarray(loop.matrices()), np.array([delay]), 1)[0])


def key_of(path: tuple[Any, ...], content: Any) -> str:
    """The dotted key of a number, as `--set` takes it; the index of an only table is left out."""
    parts, here = [], content
    for part in path:
        index = getattr(part, "idx", None)
        if index is None:
            parts.append(part.name)
            here = getattr(here, part.name)
            continue
        if not (len(here) == 1 and isinstance(here[index], Section)):
            parts.append(str(index))
        here = here[index]
    return ".".join(parts)


@partial(jit_once, static=("beats", "at_edge"))
def slopes_once(content: Any, nominal: Any, delay: Any, start: Any, beats: Rhythm | None, at_edge: bool) -> Any:
    """Gradient of the margin in every number of `content`."""

    def growth(loop: Loop) -> Any:
        return growth_of_root(loop, start) if beats is None else growth_of_multiplier(loop, beats)

    def margin(content: Any) -> Any:
        loop, _ = contact_loop(content, nominal)
        if not at_edge:
            return growth(loop)
        # the delay h at which the growth is zero: ∂h = −∂growth / (∂growth/∂h), at that delay
        steepness = jax.grad(lambda h: growth(replace(jax.lax.stop_gradient(loop), delay=h)))(delay)
        return -growth(replace(loop, delay=delay)) / steepness - loop.delay

    return jax.grad(margin)(content)


def growth_of_root(loop: Loop, start: Any) -> Any:
    """Growth rate (1/s) of the root at `start` of a loop without instants."""
    matrices, delays = loop.matrices(), loop.delay[None]
    left, right = null_vectors(start, *jax.lax.stop_gradient((matrices, delays)))
    return root_of(start, matrices, delays, left, right).real


def growth_of_multiplier(loop: Loop, beats: Rhythm) -> Any:
    """Growth rate (1/s) of the largest multiplier of a sampled loop."""
    whole = cycle(loop, beats)
    values, right = jnp.linalg.eig(jax.lax.stop_gradient(whole.monodromy))
    largest = jnp.argmax(jnp.abs(values))
    value, right = values[largest], right[:, largest]
    left, _, _ = jnp.linalg.svd(jax.lax.stop_gradient(whole.monodromy) - value * jnp.eye(len(right)))
    left = left[:, -1]
    moved = value + left.conj() @ (whole.monodromy - jax.lax.stop_gradient(whole.monodromy)) @ right / (
        left.conj() @ right
    )
    return jnp.log(jnp.abs(moved)) / whole.period

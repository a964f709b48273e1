"""What a contact remembers: how its surfaces are stretched along each other, and what its normal law does.

Units: lengths m.
Source: own construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from dockdyn.deferred import PyTree, jax, jnp
from dockdyn.mechanics import cubic
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, once
from dockdyn.trees import Module


class DepthBefore(NamedTuple):
    """How deep a member was as the last step ended, by which it is known where the depth turned since; or the rates of that."""

    depth: Scalar  # m
    rate: Scalar  # m/s
    time: Scalar  # s, in all
    ended: Scalar  # s, the same as the last step ended

    @staticmethod
    def unknown() -> DepthBefore:
        zero = jnp.zeros(())
        return DepthBefore(zero, zero, zero, zero)

    def renewed(self, depth: Scalar, rate: Scalar) -> DepthBefore:
        """Return it once a step has ended at a `depth` (m) that grows by a `rate` (m/s)."""
        return DepthBefore(depth, rate, self.time, self.time)

    def turned(self, depth: Scalar, rate: Scalar) -> Scalar:
        """Return the depth (m) at which it turned since, where it is a `depth` (m) now and grows by a `rate` (m/s): that of the
        cubic; the present one where it did not."""
        length = self.time - self.ended

        def turn() -> Scalar:
            ends = self.depth, depth, self.rate * length, rate * length
            low, high = once(cubic.cubic_extremes(*ends))
            return cubic.cubic_value(jnp.where(self.rate > 0, high, low), *ends)

        return jax.lax.cond((self.rate * rate < 0) & (length > 0), turn, lambda: depth)


class ContactMemory(NamedTuple):
    """What a pair that touches remembers, or the rate of it; None of what it does not. Of a group with a leading axis."""

    stretches: tuple[Any, ...] | None  # of friction that remembers, for each way of moving over the surface
    law: PyTree  # what the normal law does
    start: DepthBefore | None  # of a law whose force has a corner where the depth turns


type Memories = tuple[ContactMemory, ...]  # of the contacts that remember, in their order


class MayRemember(Protocol):
    """What is asked of a contact that may remember."""

    @property
    def remembers(self) -> bool: ...
    def first_memory(self) -> ContactMemory | None: ...


def first_memories(groups: Iterable[MayRemember]) -> Memories:
    """Return what contacts remember at first."""
    return tuple(past for group in groups if (past := group.first_memory()) is not None)


def match_memories(groups: Sequence[MayRemember], memories: Memories) -> list[ContactMemory | None]:
    """Return what each contact remembers, None of one that does not, of the `memories` of those that do."""
    kept = iter(memories)
    return [next(kept) if group.remembers else None for group in groups]


class Forgetful(Module):
    """A contact that does the same whatever was."""

    remembers: ClassVar = False
    turns: ClassVar = 0  # quantities beside whose peaks a step must end

    def turning(self, found: object) -> tuple[()]:
        """Return these of a state: there are none."""
        return ()

    def first_memory(self) -> None:
        """Return what it remembers at first: nothing."""

    def stored_energy(self, own: Placed, other: Placed) -> Scalar:
        """Return the energy (J) that it stores at first: none."""
        return jnp.zeros(())

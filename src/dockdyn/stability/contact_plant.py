"""What is behind the contacts that a loop measures: a linear system between their forces and how deep they are.

ẋ = A x + B f, y = C x: y are displacements (m), as how deep contacts are, and f the forces (N) along them. Contacts press
with f = −K y − D ẏ − L z, of what they remember, ż = R z + G y, and a compensator of the gain g acts with f = −g P ẏ. A force
moves nothing at once, C B = 0, so ẏ = C A x.

Units: states SI; K in N/m, D in N s/m.
Source: linear systems; the observable part, Kalman 1963.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.stability.linearise import ROUNDING, balancing_scales, part_drift, seen_basis, seen_drift
from dockdyn.trees import Module

Rows = Any  # numbers as linear functions of something: (number, n)
SAME = 1e-9  # of the largest singular value: less is rounding


class ContactCreep(Module):
    """What contacts remember of small motions, as how far they have crept."""

    state: Float[Array, "m m"]  # R, 1/s
    input: Float[Array, "m channels"]  # G
    output: Float[Array, "channels m"]  # L

    @staticmethod
    def nothing(channels: int) -> ContactCreep:
        """Return that of contacts with so many displacements that remember nothing."""
        return ContactCreep(jnp.zeros((0, 0)), jnp.zeros((0, channels)), jnp.zeros((channels, 0)))

    def rates(self, z: Rows, places: Rows) -> Rows:
        """Return how fast it changes, as a function of what it and the displacements are functions of."""
        return self.state @ z + self.input @ places


class ContactPlant(Module):
    """Bodies, joints and springs behind the contacts of a loop."""

    state: Float[Array, "n n"]  # A, 1/s
    input: Float[Array, "n channels"]  # B
    output: Float[Array, "channels n"]  # C
    stiffness: Float[Array, "channels channels"]  # K
    damping: Float[Array, "channels channels"]  # D
    compensated: Float[Array, "channels channels"]  # P
    creep: ContactCreep | None = None  # of contacts that remember

    @property
    def creeps(self) -> int:
        """How many numbers the contacts remember."""
        return 0 if self.creep is None else self.creep.state.shape[0]

    @property
    def channels(self) -> int:
        """How many displacements count."""
        return self.output.shape[0]

    @property
    def size(self) -> int:
        """How many states there are."""
        return self.state.shape[0]

    def places(self, x: Rows) -> Rows:
        """Return displacements (m), as functions of what the states are functions of."""
        return self.output @ x

    def speeds(self, x: Rows) -> Rows:
        """Return how fast they change (m/s)."""
        return self.output @ (self.state @ x)

    def state_rates(self, x: Rows, forces: Rows) -> Rows:
        """Return how fast the states change under forces (N)."""
        return self.state @ x + self.input @ forces

    def second_derivatives(self, rates: Rows) -> Rows:
        """Return second derivatives (m/s²) of the displacements, of states that change at these rates."""
        return self.speeds(rates)

    def contact_forces(self, places: Rows, speeds: Rows, crept: Rows) -> Rows:
        """Return forces (N) of the contacts."""
        elastic = self.stiffness @ places + self.damping @ speeds
        return -elastic if self.creep is None else -(elastic + self.creep.output @ crept)

    def creep_rates(self, crept: Rows, places: Rows) -> Rows:
        """Return how fast what contacts remember changes."""
        return crept if self.creep is None else self.creep.rates(crept, places)

    def compensated_speeds(self, speeds: Rows) -> Rows:
        """Return what a compensator's gain multiplies."""
        return self.compensated @ speeds

    def push_rates(self) -> Float[Array, "n"]:
        """Return how fast the states change under a unit force (N) in the first channel."""
        return self.input[:, 0]

    def step_states(self, x: Rows, forces: Rows, period: Float[Array, ""], dynamics: str) -> Rows:
        """Return the states after a `period` (s) under forces (N) that are held: exactly."""
        rate = jnp.concatenate([self.state, self.input], axis=1)
        grown = jax.scipy.linalg.expm(period * jnp.pad(rate, ((0, self.channels), (0, 0))))
        return grown[: self.size] @ jnp.concatenate([x, forces])

    def reduce_states(self) -> ContactPlant:
        """Return the same in as few channels and states as do: displacements that contacts depend on, and what these depend on.

        Drift is left out, whose multipliers would be one, and with it what a compensator does across these displacements. In
        numbers of NumPy; not traced.
        """
        state, every, outputs = (np.asarray(part) for part in (self.state, self.input, self.output))
        stiffness, damping, compensated = (
            np.asarray(part) for part in (self.stiffness, self.damping, self.compensated)
        )
        held = np.abs(every) @ np.abs(stiffness) @ np.abs(outputs)  # 1/s²; beside it smaller ones are its rounding
        state = np.where(np.abs(state) > ROUNDING * held, state, 0.0)
        acts = np.abs(stiffness).sum(axis=0) + np.abs(damping).sum(axis=0) > 0
        creep: Any = None if self.creep is None else _felt_creep(self.creep)
        if creep is not None:
            acts |= np.abs(creep.input).sum(axis=0) + np.abs(creep.output).sum(axis=1) > 0
            creep = replace(creep, input=creep.input[:, acts], output=creep.output[acts])
        push, output = every[:, acts], outputs[acts]
        forces = [part[np.ix_(acts, acts)] for part in (stiffness, damping, compensated)]
        sides = [side for part in forces[:2] for side in (part, part.T)]
        felt = _felt_ways([*sides, *([] if creep is None else [creep.input, creep.output.T])])
        # elsewhere bodies are free: to roll and to spin, or to turn about the line of balls that stick
        if len(felt) < len(output):
            push, output, forces = push @ felt.T, felt @ output, [felt @ part @ felt.T for part in forces]
            if creep is not None:
                creep = replace(creep, input=creep.input @ felt.T, output=felt @ creep.output)
        if len(output) > 1:  # displacements that depend on each other, y = M z; forces do the same work: f_z = Mᵀ f
            left, sizes, right = np.linalg.svd(output, full_matrices=False)
            rank = int(np.sum(sizes > SAME * sizes[0]))
            left, sizes = left[:, :rank], sizes[:rank]
            push, output = push @ left / sizes, right[:rank]
            forces = [(left * sizes).T @ part @ (left * sizes) for part in forces]
            if creep is not None:
                creep = replace(creep, input=creep.input @ (left * sizes), output=(left * sizes).T @ creep.output)
        # elsewhere a compensator acts on what moves with them: where f_z takes it for every unit that it moves z
        moved = np.linalg.solve((output @ state @ push).T, (outputs[~acts] @ state @ push).T).T
        forces[2] = forces[2] + moved.T @ compensated[np.ix_(~acts, ~acts)] @ moved
        found: list[Any] = [*_seen_states(state, push, output), *forces, creep]
        return ContactPlant(*found)


def _felt_ways(matrices: list[np.ndarray]) -> Float[np.ndarray, "ways channels"]:
    """Return unit rows that span all that matrices, with a column for each displacement, depend on."""
    rows = [part / np.linalg.norm(part, 2) for part in matrices if part.any()]
    if not rows:
        return np.zeros((0, matrices[0].shape[-1]))
    _, sizes, right = np.linalg.svd(np.concatenate(rows), full_matrices=False)
    return right[: int(np.sum(sizes > SAME * sizes[0]))]


def _felt_creep(creep: ContactCreep) -> ContactCreep:
    """Return what contacts remember that push: of those apart nothing changes. In numbers of NumPy."""
    parts: list[Any] = [np.asarray(part) for part in (creep.state, creep.input, creep.output)]
    state, given, output = parts
    felt = np.abs(output).sum(axis=0) > 0
    return ContactCreep(state[np.ix_(felt, felt)], given[felt], output[:, felt])


type Matrices = tuple[Float[np.ndarray, "n n"], Float[np.ndarray, "n channels"], Float[np.ndarray, "channels n"]]


def _seen_states(state: Float[np.ndarray, "n n"], push: np.ndarray, output: np.ndarray) -> Matrices:
    """Return A, B and C of the states that outputs depend on.

    Drift, with roots at zero, is parted from the other motions first. Of drift outputs see its places and its velocities, and
    nothing else.
    """
    import scipy.linalg  # takes long to import, and few scenarios need it

    size = balancing_scales(np.abs(state))
    motions = part_drift(state * size / size[:, None])
    count = len(motions.fast)
    outputs, pushes = output * size @ motions.outward, motions.inward @ (push / size[:, None])
    bases = (
        seen_basis(motions.fast, outputs[:, :count]),
        seen_drift(motions.slow, outputs[:, count:], SAME * np.linalg.norm(outputs, 2)),
    )
    parts = (
        _reduce_onto(bases[0], motions.fast, pushes[:count], outputs[:, :count]),
        _reduce_onto(bases[1], motions.slow, pushes[count:], outputs[:, count:]),
    )
    states, inputs, seen = zip(*parts, strict=True)
    return scipy.linalg.block_diag(*states), np.concatenate(inputs), np.concatenate(seen, axis=1)


def _reduce_onto(basis: Float[np.ndarray, "r n"], state: np.ndarray, push: np.ndarray, output: np.ndarray) -> Matrices:
    """Return A, B and C on orthonormal rows whose span A maps into itself."""
    return basis @ state @ basis.T, basis @ push, output @ basis.T


class FreeMass(Module):
    """The plant of a free mass in one contact, with the methods of `ContactPlant`: states are the depth and the velocity."""

    mass: Float[Array, ""]  # kg
    stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m

    channels: ClassVar = 1
    size: ClassVar = 2
    creeps: ClassVar = 0

    def places(self, x: Rows) -> Rows:
        return x[:1]

    def speeds(self, x: Rows) -> Rows:
        return x[1:]

    def state_rates(self, x: Rows, forces: Rows) -> Rows:
        return jnp.concatenate([x[1:], forces / self.mass])

    def second_derivatives(self, rates: Rows) -> Rows:
        return rates[1:]

    def contact_forces(self, places: Rows, speeds: Rows, crept: Rows) -> Rows:
        return -(self.stiffness * places + self.damping * speeds)

    def creep_rates(self, crept: Rows, places: Rows) -> Rows:
        return crept

    def compensated_speeds(self, speeds: Rows) -> Rows:
        return speeds

    def push_rates(self) -> Float[Array, "2"]:
        return jnp.zeros(2).at[1].set(1 / self.mass)

    def step_states(self, x: Rows, forces: Rows, period: Float[Array, ""], dynamics: str) -> Rows:
        """Return what is stepped by a digital integrator: exactly, or by Euler's method with the velocity before the step or
        after it."""
        share = {"zero-order-hold": 0.5, "explicit-euler": 0.0, "semi-implicit-euler": 1.0}[dynamics]
        kick = period / self.mass * forces
        return jnp.concatenate([x[:1] + period * (x[1:] + share * kick), x[1:] + kick])

"""Accelerations with reflected inertia, beside Lagrange's equations derived by automatic differentiation."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from dockdyn.mechanics.reflected import Reflected, coupled_acceleration
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, pair_momentum
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program

LINES = ((0, 1, 5.0), (0, 1, 12.0), (1, 2, 3.0), (0, 2, 0.0), (2, 1, 40.0))  # bodies, mass (kg)


def skew(v):
    return jnp.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rotation(vector):
    angle, across = jnp.linalg.norm(vector), skew(vector)
    return jnp.eye(3) + jnp.sin(angle) / angle * across + (1 - jnp.cos(angle)) / angle**2 * across @ across


class Case(eqx.Module):
    """Three bodies, with lines between points of theirs."""

    masses: Array
    tensors: Array
    places: Array  # by line, on its first body and on the other
    q: Array  # by body: place, rotation vector
    u: Array  # their rates
    loads: Array  # by body: force (inertial) and torque (body axes)

    def lengths(self, q):
        points = [
            [q[body, :3] + rotation(q[body, 3:]) @ place for body, place in zip(line[:2], places, strict=True)]
            for line, places in zip(LINES, self.places, strict=True)
        ]
        return jnp.stack([jnp.linalg.norm(a - b) for a, b in points])

    def rates(self, q, u):
        """Angular velocities in body axes."""
        turns, changes = jax.jvp(jax.vmap(rotation), (q[:, 3:],), (u[:, 3:],))
        spin = jnp.einsum("bji,bjk->bik", turns, changes)
        return jnp.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)

    def kinetic(self, q, u):
        rate = self.rates(q, u)
        drawn = jax.jvp(self.lengths, (q,), (u,))[1]
        own = jnp.sum(self.masses[:, None] * u[:, :3] ** 2) + jnp.einsum("bi,bij,bj->", rate, self.tensors, rate)
        return 0.5 * (own + jnp.sum(jnp.array([line[2] for line in LINES]) * drawn**2))

    def lagrangian(self):
        """Rates of velocities and angular velocities (body axes), from d/dt ∂T/∂u − ∂T/∂q = Q."""
        q, u = self.q, self.u
        momentum = jax.grad(self.kinetic, argnums=1)
        mass = jax.jacfwd(momentum, argnums=1)(q, u).reshape(18, 18)
        drift = jax.jvp(lambda q: momentum(q, u), (q,), (u,))[1]
        # virtual work of the loads: forces on moves, torques on turns in body axes
        turning = jax.jacfwd(self.rates, argnums=1)(q, u)  # ∂ω/∂u
        applied = self.loads[:, :3]
        general = jnp.einsum("bi,bicj->cj", self.loads[:, 3:], turning).at[:, :3].add(applied)
        right = general + jax.grad(self.kinetic)(q, u) - drift
        a = jnp.linalg.solve(mass, right.reshape(18)).reshape(3, 6)
        spin = jax.jvp(self.rates, (q, u), (u, a))[1]
        return jnp.concatenate([a[:, :3], spin], axis=1)

    def product(self):
        bodies = tuple(RigidBody.of(m, tensor) for m, tensor in zip(self.masses, self.tensors, strict=True))
        rates = self.rates(self.q, self.u)
        poses = tuple(Pose.at(q[:3], Quaternion.exponential(Vector.of(q[3:]))) for q in self.q)
        twists = tuple(Twist.of(u[:3], w) for u, w in zip(self.u, rates, strict=True))
        placed = tuple(map(Placed.of, poses, twists))
        reflected = []
        for (own, other, mass), places in zip(LINES, self.places, strict=True):
            points = [placed[at].point(Vector.of(place)) for at, place in zip((own, other), places, strict=True)]
            between = placed[own], points[0], placed[other], points[1]
            reflected.append((own, other, Reflected.between(jnp.asarray(mass), *between)))
        forces = [Vector.of(load[:3]) for load in self.loads]
        torques = [Vector.of(load[3:]) for load in self.loads]
        return bodies, poses, twists, forces, torques, reflected


def at_random(seed):
    rng = np.random.default_rng(seed)
    masses = rng.uniform(1, 9, 3)
    tensors = [(half := rng.normal(size=(3, 3))) @ half.T + 2 * np.eye(3) for _ in range(3)]
    places = rng.normal(size=(len(LINES), 2, 3))
    q = [np.concatenate([4 * np.eye(3)[i] + rng.normal(size=3), 0.7 * rng.normal(size=3)]) for i in range(3)]
    numbers = masses, np.array(tensors), places, np.array(q), rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    return Case(*map(jnp.asarray, numbers))


lagrangian = Program(lambda case: case.lagrangian())


def array_of(twists):
    """By body: velocity, rate."""
    return jnp.stack([jnp.concatenate([t.velocity.array(), t.rate.array()]) for t in twists])


@Program
def accelerated(case):
    """By the product: rates of velocities and angular velocities."""
    bodies, _, twists, forces, torques, reflected = case.product()
    return array_of(coupled_acceleration(bodies, twists, forces, torques, reflected)[0])


@pytest.mark.full_cases("0", "1", "2")
@pytest.mark.parametrize("seed", range(4))
def test_it_moves_as_lagrange_says(seed):
    case = at_random(seed)
    found, expected = accelerated(case), lagrangian(case)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_rates_and_kinetic_energy_are_those_of_the_lengths():
    @Program
    def of_lines(case):
        *_, reflected = case.product()
        drawn = jax.jvp(case.lengths, (case.q,), (case.u,))[1]
        return [(one.rate, one.kinetic_energy()) for *_, one in reflected], drawn

    found, drawn = of_lines(at_random(11))
    np.testing.assert_allclose([rate for rate, _ in found], drawn, rtol=1e-12)
    for (*_, mass), (_, energy), rate in zip(LINES, found, drawn, strict=True):
        assert float(energy) == pytest.approx(0.5 * mass * float(rate) ** 2, rel=1e-12)


def test_masses_in_one_row_are_masses_one_by_one_and_the_dense_system():
    """(M + Jᵀ m J) v̇ = f − Jᵀ m J̇ v over all velocities at once."""

    @Program
    def all_ways(case):
        bodies, _, twists, forces, torques, reflected = case.product()
        alone, loads = coupled_acceleration(bodies, twists, forces, torques, reflected)
        row = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[one for *_, one in reflected[:2]])
        together, stacked = coupled_acceleration(bodies, twists, forces, torques, [(0, 1, row), *reflected[2:]])
        free, _ = coupled_acceleration(bodies, twists, forces, torques, ())
        own = [(body.mass, body.inertia) for body in bodies]
        lines = [
            (one.along.array(), one.own_arm.array(), one.other_arm.array(), one.mass, one.drift)
            for *_, one in reflected
        ]
        return array_of(alone), array_of(together), array_of(free), loads, stacked, own, lines

    alone, together, free, loads, stacked, own, lines = jax.tree.map(np.asarray, all_ways(at_random(5)))
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    np.testing.assert_allclose(stacked, loads, rtol=1e-12, atol=1e-13)

    mass, right = np.zeros((18, 18)), np.zeros(18)
    for i, (own_mass, inertia) in enumerate(own):
        at = slice(6 * i, 6 * i + 6)
        mass[at, at] = np.block([[own_mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]])
        right[at] = mass[at, at] @ free[i]
    for (first, second, _), (along, own_arm, other_arm, size, drift) in zip(LINES, lines, strict=True):
        jacobian = np.zeros((3, 6))
        jacobian[first] = np.concatenate([along, own_arm])
        jacobian[second] = -np.concatenate([along, other_arm])
        jacobian = jacobian.ravel()
        mass += size * np.outer(jacobian, jacobian)
        right -= jacobian * size * drift
    np.testing.assert_allclose(alone.ravel(), np.linalg.solve(mass, right), rtol=1e-10, atol=1e-12)


def test_without_loads_momenta_do_not_change():
    @Program
    def momenta_and_changes(case):
        bodies, poses, twists, *_, reflected = case.product()
        still = [Vector.zero()] * 3
        rates, _ = coupled_acceleration(bodies, twists, still, still, reflected)

        def momenta(time):
            moved = tuple(
                Twist(t.velocity + a.velocity * time, t.rate + a.rate * time)
                for t, a in zip(twists, rates, strict=True)
            )
            turned = tuple(
                Pose(p.position + t.velocity * time, p.attitude * Quaternion.exponential(t.rate * time))
                for p, t in zip(poses, twists, strict=True)
            )
            linear, angular, *_ = pair_momentum(bodies, turned, moved)
            return jnp.concatenate([linear.array(), angular.array()])

        return jax.jvp(momenta, (0.0,), (1.0,))

    found, changes = momenta_and_changes(at_random(8))
    assert np.abs(changes).max() < 1e-12 * np.abs(found).max()

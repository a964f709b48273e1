"""Small mechanical systems for the variational integrator's tests, and how they are run."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import Jump, Mechanical
from dockdyn.integrate.variational.step import Newton
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.programs import Program

NEVER = 10**9  # steps between samples: only the end is kept, and every step length shares one program


def zero_potential(q):
    return jnp.zeros(())


def no_push(t, q, v):
    return jnp.zeros_like(v)


class Resting(NamedTuple):
    """Mode: contacts at rest."""

    resting: jax.Array


class Walled(Mechanical):
    """Masses in a potential behind flat walls `walls @ q >= edge`: particles in a box, balls on a line."""

    q: jax.Array
    v: jax.Array
    mass: jax.Array  # kg, one a coordinate
    walls: jax.Array  # contacts × coordinates
    edge: jax.Array  # m
    restitution: jax.Array
    rest_speed: jax.Array  # m/s
    potential: Callable = eqx.field(static=True)
    push: Callable = eqx.field(static=True)
    can_rest: bool = eqx.field(static=True)
    by_energy: bool = eqx.field(static=True)

    @property
    def attitudes(self):
        return ()

    @property
    def rests(self):
        return self.can_rest

    @property
    def tied(self):
        return False

    @property
    def discrete(self):
        return self.by_energy

    def initial(self):
        return self.q, self.v, Resting(jnp.zeros(self.edge.shape, bool))

    def lagrangian(self, t, q, v, mode):
        return 0.5 * jnp.sum(self.mass * v**2) - self.potential(q)

    def force(self, t, q, v, mode):
        return self.push(t, q, v)

    def guards(self, t, q, mode):
        return self.edge - self.walls @ q

    def acting(self, mode):
        return mode.resting, jnp.zeros(0, bool)

    def jump(self, t, q, v, mass, mode, fired):
        normal = self.walls[fired]
        approach = -normal @ v
        slow = self.restitution * approach < self.rest_speed
        rebound = jnp.where(slow & self.can_rest, 0.0, self.restitution)
        impulse = (1 + rebound) * approach / jnp.sum(normal**2 / self.mass)
        calm = jnp.abs(self.walls @ (v + normal * impulse / self.mass)) < self.rest_speed
        resting = (mode.resting & calm).at[fired].set(slow & self.can_rest)
        return Jump(normal * impulse, Resting(resting), jnp.ones((), bool), jnp.stack([approach, impulse]))

    def scaled(self, record, factor):
        return record.at[1].multiply(factor)

    def parted(self, mode, pulled):
        return Resting(mode.resting & ~pulled)

    def records(self):
        return 2


def walled(
    q,
    v,
    walls,
    edge,
    mass=1.0,
    restitution=1.0,
    rest_speed=0.0,
    potential=zero_potential,
    push=no_push,
    can_rest=False,
    by_energy=False,
):
    q = jnp.asarray(q, float)
    return Walled(
        q,
        jnp.asarray(v, float),
        jnp.broadcast_to(jnp.asarray(mass, float), q.shape),
        jnp.asarray(walls, float).reshape(-1, q.shape[0]),
        jnp.asarray(edge, float),
        jnp.asarray(restitution, float),
        jnp.asarray(rest_speed, float),
        potential,
        push,
        can_rest,
        by_energy,
    )


class Free(Mechanical):
    """A model whose contacts never rest and that nothing constrains."""

    @property
    def rests(self):
        return False

    @property
    def tied(self):
        return False


class Body(Free):
    """A rigid body that turns about a fixed point, under gravity on its centre of mass (heavy top) or free."""

    q: jax.Array  # quaternion
    v: jax.Array  # rad/s, body axes
    inertia: jax.Array  # kg m², about the fixed point
    lever: jax.Array  # N m: weight times the place of the centre of mass, body axes; weight pulls along −z

    @property
    def attitudes(self):
        return (0,)

    def initial(self):
        return self.q, self.v, None

    def lagrangian(self, t, q, v, mode):
        turn = Quaternion.of(q).matrix().array()
        return 0.5 * v @ self.inertia @ v - (turn @ self.lever)[2]


class Tied(Mechanical):
    """Bodies in maximal coordinates: a diagonal mass matrix, a weight on some coordinates, and constraints."""

    q: jax.Array
    v: jax.Array
    mass: jax.Array
    weight: jax.Array  # N, V = weight · q
    lengths: jax.Array  # m, for `constraints`
    constraints: Callable = eqx.field(static=True)  # of q and lengths

    @property
    def attitudes(self):
        return ()

    @property
    def rests(self):
        return False

    @property
    def tied(self):
        return True

    def initial(self):
        return self.q, self.v, None

    def lagrangian(self, t, q, v, mode):
        return 0.5 * jnp.sum(self.mass * v**2) - self.weight @ q

    def ties(self, q, mode):
        return self.constraints(q, self.lengths)

    def acting(self, mode):
        return jnp.zeros(0, bool), jnp.ones(self.constraints(self.q, self.lengths).shape, bool)


def settings(duration, step, *, stride=NEVER, samples=1, max_events=20, error=None, interval=None, newton=(1e-12, 20)):
    """Settings; `stride` and `samples` are static, and so are compiled in."""
    return colliding.VariationalSettings(
        duration=jnp.asarray(float(duration)),
        step=jnp.asarray(float(step)),
        newton=Newton(jnp.asarray(newton[0]), jnp.asarray(float(newton[1]))),
        error=None if error is None else jnp.asarray(float(error)),
        interval=jnp.asarray(float(step * stride if interval is None else interval)),
        stride=stride,
        samples=samples,
        max_events=max_events,
    )


solve = Program(colliding.solve_variational)


def go(model, *args, **kwargs):
    """The run, as NumPy's."""
    return jax.tree.map(np.asarray, solve(model, settings(*args, **kwargs)))


def samples_of(solver):
    """What was kept, rows in use only."""
    kept = jax.tree.map(np.asarray, colliding.kept_samples(jax.tree.map(jnp.asarray, solver)))
    return jax.tree.map(lambda leaf: leaf[: int(solver.sampled)], kept)


def events_of(solver):
    """Rows of the log in use: time, guard, then the records."""
    return solver.log[: int(solver.events)]


def slope(steps, errors):
    """Order of convergence: the fitted slope of log error over log step."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]

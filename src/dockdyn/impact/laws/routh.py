"""Routh's impulse path with Coulomb friction, ended by a restitution.

The normal impulse p grows from zero and the contact velocity follows du/dp = W (1, f): f = −μ û_t while the contact
slides; once sliding has stopped it sticks, or slides on in another direction. Compression lasts until u_n = 0. What
follows lasts

- `energetic` until the normal impulse has given back e² of the work that compression took (Stronge 1990, Proc. R. Soc.
  A 431:169), so no energy is ever created;
- `poisson` until its impulse is e times that of compression. In the plane no energy is created (Djerassi 2009, Multibody
  Syst. Dyn. 21:55). In space none was in 60,000 random impacts at e = 1, and a search for the worst came to no more than
  0.9998 of what friction takes;
- `newton` until u_n is −e times the approach. Creates energy in some impacts where sliding stops or turns.

In two dimensions (rows: normal, tangent) the path is two straight pieces and the result is closed. In three it bends
while the contact slides.

Units: velocities m/s, impulses N s, W in 1/kg, friction and restitution dimensionless.
Source: Routh 1905, Dynamics of a System of Rigid Bodies; and as named above.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

from dockdyn.deferred import Array, Bool, Float, jax, jit_when_called, jnp
from dockdyn.impact.laws.newton import frictionless_impact
from dockdyn.impact.laws.result import Impact, impact_of_impulse, safe_root
from dockdyn.impact.laws.sliding import ImpulsePoint, Sliding, Slopes, sliding_velocity
from dockdyn.impact.laws.slip_trajectory import LENGTH, gauss_step, impulse_rate, slip_curve
from dockdyn.trees import map_leaves

NEWTON_STEPS = 8


class Speed(NamedTuple):
    """Goal: u_n = `value` (m/s)."""

    value: Float[Array, ""]

    def excess(self, point: ImpulsePoint) -> Float[Array, ""]:
        return point.velocity[0] - self.value

    def growth(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        return slope

    def distance(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        return (self.value - point.velocity[0]) / slope


class Push(NamedTuple):
    """Goal: a normal impulse of `value` (N s)."""

    value: Float[Array, ""]

    def excess(self, point: ImpulsePoint) -> Float[Array, ""]:
        return point.impulse[0] - self.value

    def growth(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        return jnp.ones(())

    def distance(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        return self.value - point.impulse[0]


class Work(NamedTuple):
    """Goal: work (J) of `restitution`² times `energy`."""

    restitution: Float[Array, ""]
    energy: Float[Array, ""]

    def excess(self, point: ImpulsePoint) -> Float[Array, ""]:
        return point.work - self.restitution**2 * self.energy

    def growth(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        return point.velocity[0]

    def distance(self, point: ImpulsePoint, slope: Float[Array, ""]) -> Float[Array, ""]:
        """Return (√(u_n² + 2 α (e² E − work)) − u_n)/α, written so that it has a derivative where e = 0."""
        approach = point.velocity[0]
        fresh = (approach == 0) & (point.work == 0)
        square = approach**2 - 2 * slope * self.excess(point)
        root = jnp.where(
            fresh,
            self.restitution * safe_root(2 * slope * self.energy),
            safe_root(jnp.where(fresh, 0.0, square)),
        )
        return (root - approach) / slope


Goal = Speed | Push | Work


class Reached(NamedTuple):
    """Where a goal is met, and what happened on the way."""

    point: ImpulsePoint
    stopped: Bool[Array, ""]  # sliding has stopped
    jammed: Bool[Array, ""]  # du_n/dp was negative


def go_straight(contact: Sliding, after: Slopes, start: ImpulsePoint, goal: Goal) -> Reached:
    """Return straight on to the goal: sliding along the direction that `start` has, and past its stop, if it comes to that."""
    speed, along = sliding_velocity(start.velocity)
    first = contact.slopes(along)
    braking = -(along @ first.velocity[1:])
    brakes = braking > 0
    until_stop = jnp.where(brakes, speed / jnp.where(brakes, braking, 1.0), 0.0)
    knot = start.forth(first, until_stop)
    knot = ImpulsePoint(knot.velocity.at[1:].set(0.0), knot.impulse, knot.work)
    slides = (speed > 0) & (~brakes | (goal.excess(knot) >= 0))
    point, slopes = map_leaves(lambda a, b: jnp.where(slides, a, b), (start, first), (knot, after))
    end = point.forth(slopes, goal.distance(point, slopes.velocity[0]))
    return Reached(end, ~slides, (speed > 0) & (first.velocity[0] < 0))


def _follow_bent_path(contact: Sliding, after: Slopes, start: ImpulsePoint, goal: Goal) -> Reached:
    """Return the same in three dimensions: by steps along the bent path, and straight on from its end."""
    points = slip_curve(contact, start)
    moves = jnp.diff(points.impulse[:, 0]) > 0  # not at rest
    over = moves & (jax.vmap(goal.excess)(points)[1:] >= 0)
    inside, index = jnp.any(over), jnp.argmax(over)

    def point_at(which: int | Array) -> ImpulsePoint:
        return map_leaves(lambda leaf: leaf[which], points)

    within = _locate_goal(contact, point_at(index), point_at(index + 1), goal)
    beyond = go_straight(contact, after, point_at(-1), goal)

    def jams(velocity: Float[Array, "3"]) -> Bool[Array, ""]:
        speed, along = sliding_velocity(velocity)
        return (speed > 0) & (contact.slopes(along).velocity[0] < 0)

    passed = ~inside | (jnp.arange(over.shape[0]) <= index)
    jammed = jnp.any(jax.vmap(jams)(points.velocity[:-1]) & passed) | (~inside & beyond.jammed)
    point = map_leaves(lambda a, b: jnp.where(inside, a, b), within, beyond.point)
    return Reached(point, ~inside & beyond.stopped, jammed)


def _locate_goal(contact: Sliding, start: ImpulsePoint, end: ImpulsePoint, goal: Goal) -> ImpulsePoint:
    """Return the point of a step at which the goal is met: Newton's method, kept inside by bisection."""

    def impulse_to_goal(slope: Float[Array, ""], rate: Float[Array, ""]) -> Float[Array, ""]:
        rate = jnp.where(rate > 0, rate, 1.0)
        return goal.distance(start, slope / rate) / rate

    rate = impulse_rate(contact, start.velocity)
    near = impulse_to_goal(contact.matrix[0] @ rate, rate[0])  # exact for a goal at the start, with its derivative
    far = impulse_to_goal(end.velocity[0] - start.velocity[0], end.impulse[0] - start.impulse[0]) * LENGTH
    guess = jnp.where((near >= 0) & (near <= LENGTH), near, jnp.clip(far, 0.0, LENGTH))

    def newton(_: int, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        low, high, length = state
        point = gauss_step(contact, start, length)
        excess = goal.excess(point)
        low, high = jnp.where(excess < 0, length, low), jnp.where(excess < 0, high, length)
        rate = impulse_rate(contact, point.velocity)
        growth = goal.growth(point, contact.matrix[0] @ rate / jnp.where(rate[0] > 0, rate[0], 1.0)) * rate[0]
        better = length - excess / jnp.where(growth == 0, 1.0, growth)
        fits = (better >= low) & (better <= high)
        return low, high, jnp.where(fits, better, 0.5 * (low + high))

    _, _, length = jax.lax.fori_loop(0, NEWTON_STEPS, newton, (jnp.zeros(()), jnp.asarray(LENGTH), guess))
    return gauss_step(contact, start, length)


@partial(jit_when_called, static=("end",))
def routh_impact(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    restitution: Float[Array, ""],
    friction: Float[Array, ""],
    end: Literal["energetic", "poisson", "newton"] = "energetic",
) -> Impact:
    """Return impact with Coulomb friction; one row (normal), two (and a tangent) or three (and two tangents)."""
    rows = velocity.shape[0]
    if rows == 1:
        return frictionless_impact(matrix, velocity, restitution)
    contact = Sliding(matrix, jnp.asarray(friction))
    after, resumes = contact.after_stop()
    until = go_straight if rows == 2 else _follow_bent_path

    start = ImpulsePoint(velocity, jnp.zeros(rows), jnp.zeros(()))
    first = until(contact, after, start, Speed(jnp.zeros(())))
    compressed, spent = first.point, -first.point.work
    goals: dict[str, Goal] = {
        "energetic": Work(restitution, spent),
        "poisson": Push((1 + restitution) * compressed.impulse[0]),
        "newton": Speed(-restitution * velocity[0]),
    }
    turned = ImpulsePoint(compressed.velocity.at[0].set(0.0), compressed.impulse, jnp.zeros(()))
    second = until(contact, after, turned, goals[end])

    return impact_of_impulse(
        matrix,
        velocity,
        second.point.impulse,
        poisson=second.point.impulse[0] / compressed.impulse[0] - 1,
        energetic=safe_root(second.point.work / spent),
        stick=second.stopped & ~resumes,
        reversal=(first.stopped | second.stopped) & resumes & jnp.any(velocity[1:] != 0),
        jam=first.jammed | second.jammed,
    )

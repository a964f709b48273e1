"""Two free bodies held together by a rigid latch: constraints switched on, an impulse when they are.

Written in named scalars: matrices in here would keep XLA from compiling the time loop as one piece, held or not.

Units: N, N m, N s, N m s, m, rad.
Source: Lagrange multipliers, e.g. Featherstone 2008, section 3.2; own elimination of the small system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from dockdyn.contact.latch import HELD, Caught, ConeLatch
from dockdyn.integrate.model import Rate, Scalar, State
from dockdyn.kinds.free_flight.model_catch import catch_load, catch_observed, seat, size
from dockdyn.mechanics.dense import eliminated, substituted
from dockdyn.mechanics.rigid_body import Placed, Twist
from dockdyn.mechanics.vector import Matrix, Vector, once

if TYPE_CHECKING:
    from dockdyn.kinds.free_flight.model import FreeFlight
    from dockdyn.mechanics.rigid_body import Pose, RigidBody

Rows = tuple[Vector, ...]  # by what is held: place alone, or attitude too; inertial axes
Twists = tuple[Twist, Twist]


def _slip(model: FreeFlight, latch: ConeLatch, q: tuple[Pose, Pose], v: Twists) -> Rows:
    """The velocities that the constraints end (`ConeLatch.slip`)."""
    return latch.slip(*model.places(State(q, v, None, None)))


def _response(model: FreeFlight, latch: ConeLatch, places: tuple[Placed, Placed], load: Rows) -> Twists:
    """M⁻¹ Aᵀ λ: change of both twists by impulses (N s, N m s) at the tip, on its body, and the opposite ones on the other."""
    point = latch.point(*places)
    sides = (1.0, -1.0) if latch.feature_on_chaser else (-1.0, 1.0)

    def one(body: RigidBody, place: Placed, side: float) -> Twist:
        torque = place.torque(point, load[0])
        if len(load) == 2:
            torque = torque + place.rotation.transposed_times(load[1])
        return Twist(load[0] * (side / body.mass), (Matrix.of(body.inverse_inertia) @ torque) * side)

    chaser, target = (one(*each) for each in zip(model.bodies, places, sides, strict=True))
    return chaser, target


def _mobility(
    model: FreeFlight, latch: ConeLatch, q: tuple[Pose, Pose], places: tuple[Placed, Placed]
) -> list[list[Scalar]]:
    """A M⁻¹ Aᵀ: the slip by unit impulses along each of its components."""
    count = 3 if latch.hold == "pin" else 6
    columns = []
    for k in range(count):
        unit = [jnp.asarray(float(i == k)) for i in range(count)]
        columns.append(_listed(_slip(model, latch, q, _response(model, latch, places, _rows_of(unit)))))
    return [[column[i] for column in columns] for i in range(count)]


def _holding(model: FreeFlight, latch: ConeLatch, x: State, ended: Rows) -> tuple[Rows, Twists]:
    """The impulses at the tip (N s, N m s) that end the slip `ended`, and what they do to both twists; also per second."""
    places = once(model.places(x))
    matrix = once(eliminated(_mobility(model, latch, x.q, places)))
    load = once(_rows_of(substituted(matrix, [-value for value in _listed(ended)])))
    return load, _response(model, latch, places, load)


def _listed(rows: Rows) -> list[Scalar]:
    """The numbers of vectors, one after another."""
    return [value for row in rows for value in (row.x, row.y, row.z)]


def _rows_of(values: Sequence[Scalar]) -> Rows:
    """The vectors that `_listed` took apart."""
    return tuple(Vector.of(values[i : i + 3]) for i in range(0, len(values), 3))


def _added(v: Twists, change: Twists) -> Twists:
    """The sum of two alike trees of velocities."""
    return jax.tree.map(jnp.add, v, change)


def held(model: FreeFlight, latch: ConeLatch, x: State, free: Rate) -> tuple[Rate, Rows]:
    """The rates that keep the slip at zero, and the force (N) and moment (N m) on the tip's body that do it, inertial.

    `free` are the rates without constraints. The forces act on both bodies at the tip, so momentum is kept.
    """
    _, change = jax.jvp(lambda q, v: _slip(model, latch, q, v), (x.q, x.v), (free.q, free.v))
    load, pulled = _holding(model, latch, x, change)
    return Rate(free.q, _added(free.v, pulled), free.memory), load


def caught(model: FreeFlight, latch: ConeLatch, x: State) -> tuple[Any, Caught]:
    """The velocities after a plastic impact of the constraints, momentum kept, and what it takes."""
    impulse, jumped = _holding(model, latch, x, _slip(model, latch, x.q, x.v))
    v = _added(x.v, jumped)
    places = model.places(x)
    axis = latch.axis(*places)
    along = impulse[0].dot(axis)
    across = impulse[0] - axis * along
    lost = model.kinetic_energy(x) - model.kinetic_energy(State(x.q, v, x.mode, x.memory))
    return v, Caught(latch.rate(*places), along, size(across), lost)


def fall_in(model: FreeFlight, latch: ConeLatch, t: Scalar, x: State) -> tuple[Any, Any]:
    """Velocities and memory once the latch has fallen in at `t` (s): a rigid hold ends the motion, a catch begins to."""
    stopped, found = caught(model, latch, x)
    if latch.catch is None:
        return stopped, (x.memory[0] - found.loss, found, *x.memory[2:])
    return x.v, (x.memory[0], found, seat(latch, t, *model.places(x)), *x.memory[3:])


def holding_load(model: FreeFlight, latch: ConeLatch, x: State, delayed: PyTree) -> tuple[Vector, Vector]:
    """Force (N) and moment (N m) at the tip by which the latch holds the chaser, inertial; zero while it does not."""
    if latch.catch is not None:
        return catch_load(model, latch, latch.catch, x)
    _, load = held(model, latch, x, model.free_rate(x, delayed))
    side = jnp.where(x.mode[-1] == HELD, 1.0 if latch.feature_on_chaser else -1.0, 0.0)
    return load[0] * side, load[1] * side if latch.hold == "weld" else Vector.zero()


def observed(model: FreeFlight, latch: ConeLatch, x: State) -> dict[str, Array]:
    """What the latch shows at an instant: travel, rate, force and state, the speed it takes, what it did when it caught."""
    places = model.places(x)
    travel, _ = latch.travel(*places)
    axis = latch.axis(*places)
    pushed = _response(model, latch, places, (axis,))
    still = State(x.q, pushed, None, None)
    yields = latch.slip(*model.places(still))[0].dot(axis)
    found = x.memory[1]
    catch = {"catch_taken": found.loss} if latch.catch is None else catch_observed(model, latch, latch.catch, x)
    return catch | {
        "latch_travel": travel,
        "latch_rate": latch.rate(*places),
        "latch_force": latch.force(x.mode[-1], *places).array(),
        "latch_mode": x.mode[-1],
        "latch_needed_speed": latch.ramp.needed_speed(1 / yields),
        **{f"capture_{name}": value for name, value in found._asdict().items()},
    }

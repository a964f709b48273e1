"""Vibrations of free bodies by their modes while nothing acts on them: known in closed form.

Units: SI; modal coordinates those of the scenario.
Source: damped free vibration, Meirovitch 1967, Analytical Methods in Vibrations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.contact.time_to_touch import least_time
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.elements import ElementGroup, Latch
from dockdyn.integrate.model import Flag, Outputs, Rate, Scalar, State, over_rows
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.modal_frame import ModalFrame
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Placement
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.coasting import (
    ALLOWED,
    Nearing,
    is_apart,
    latch_of,
    nearings,
    striker_reach,
    time_of_turn,
)
from dockdyn.mechanism.mounts import BendingLink, Mount, Tie

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism

CHOICES = 10  # of which modes to take for slow
SOON = 1.0  # rad of the fastest mode: within less time a step by its rates goes as far


class FreeVibration(NamedTuple):
    """The modes of a free body, each of which answers by itself: m η̈ + c η̇ + k η = 0 where nothing acts."""

    element: int  # which holds them, by number
    mass: Float[Array, "modes"]
    stiffness: Float[Array, "modes"]
    damping: Float[Array, "modes"]

    @property
    def decay(self) -> Float[Array, "modes"]:
        """The rates (1/s) at which the modes fade."""
        return self.damping / (2 * self.mass)

    @property
    def square(self) -> Float[Array, "modes"]:
        """The squares of their damped frequencies (rad²/s²); of what is damped critically or more none."""
        return self.stiffness / self.mass - self.decay**2

    @property
    def frequency(self) -> Float[Array, "modes"]:
        """Their damped frequencies (rad/s); 1 where they have none."""
        return jnp.sqrt(jnp.where(self.square > 0, self.square, 1.0))

    def later(
        self, coordinates: Float[Array, "modes"], rates: Float[Array, "modes"], time: Scalar
    ) -> tuple[Float[Array, "modes"], Float[Array, "modes"]]:
        """Return coordinates and rates a `time` (s) later."""
        decay, frequency = self.decay, self.frequency
        cosine, sine = jnp.cos(frequency * time), jnp.sin(frequency * time) / frequency
        left = jnp.exp(-decay * time)
        drop = self.stiffness / self.mass * coordinates + decay * rates
        return left * (coordinates * cosine + (rates + decay * coordinates) * sine), left * (
            rates * cosine - drop * sine
        )

    def amplitude(self, coordinates: Float[Array, "modes"], rates: Float[Array, "modes"]) -> Float[Array, "modes"]:
        """Return how far the modes swing from now on at most."""
        return jnp.sqrt(coordinates**2 + ((rates + self.decay * coordinates) / self.frequency) ** 2)

    def energy(self, coordinates: Float[Array, "modes"], rates: Float[Array, "modes"]) -> Scalar:
        """Return the energy (J) of the modes."""
        return 0.5 * jnp.sum(self.mass * rates**2 + self.stiffness * coordinates**2)


class Ride(NamedTuple):
    """A frame that modes move: the body at rest that carries it, and the vibration, both by number."""

    carrier: int
    vibration: int
    frame: ModalFrame

    def moves(self, here: Placement, body: int, place: Vector) -> tuple[Vector, Vector]:
        """Return by how much (m, and rad, inertial; rows over modes) a unit of each mode moves the frame, which is a `body` by
        number, at a `place` (m)."""
        carrier, own = here.bodies[self.carrier], here.bodies[body]
        turn = carrier.rotation @ self.frame.turn
        lever = place - own.pose.position + own.rotation @ self.frame.arm
        return carrier.rotation @ self.frame.shift + turn.cross(lever), turn


def free_vibrations(model: Mechanism) -> list[FreeVibration]:
    """Return the vibrations of bodies on which nothing but contacts and latches may act, as a state has them; none where
    anything else may act, or where not all are of such bodies."""
    moving, others = model.moving, [model.steered, model.gravity, model.phases, model.applied]
    if not isinstance(moving, MovingBodies) or moving.linked or any(one is not None for one in others):
        return []
    links = {
        one.modes: (number, one.element) for number, one in enumerate(model.elements) if isinstance(one, BendingLink)
    }
    acts = any(not isinstance(one, BendingLink) and not _holds_at_times(one) for one in model.elements)
    loose = [one for tree in moving.jointed for one in tree.loose()]
    if acts or {one.numbers for one in loose} != set(links) or not all(one.is_exact_distance() for one in model.groups):
        return []
    if any(spring.stiffness.ndim > 1 or spring.damping.ndim > 1 for _, spring in links.values()):
        return []
    found = ((one.mass, *links[one.numbers]) for one in loose)
    return [FreeVibration(number, mass, spring.stiffness, spring.damping) for mass, number, spring in found]


def _holds_at_times(one: Mount) -> bool:
    """Return whether an element is a latch, and no connection."""
    latch = latch_of(one)
    return latch is not None and not latch.joins


def later_state(model: Mechanism, start: State, x: State, time: Scalar) -> State:
    """Return `x` with its vibrations as they are a `time` (s) after `start`, if nothing acts on them meanwhile."""
    modes, rates, elements = [], [], list(x.memory.elements)
    for one, coordinates, speeds in zip(free_vibrations(model), start.q.modes, start.v.modes, strict=True):
        coordinates_then, speeds_then = one.later(coordinates, speeds, time)
        modes.append(coordinates_then)
        rates.append(speeds_then)
        begun = start.memory.elements[one.element]
        lost = one.energy(coordinates, speeds) - one.energy(coordinates_then, speeds_then)
        elements[one.element] = begun._replace(dissipated=begun.dissipated + lost)
    memory = x.memory._replace(elements=tuple(elements))
    return State(x.q._replace(modes=tuple(modes)), x.v._replace(modes=tuple(rates)), x.mode, memory)


def without_vibrations(model: Mechanism, rate: Rate) -> Rate:
    """Return a tree like a rate with zeros for what `later_state` tells."""
    modes = tuple(map(jnp.zeros_like, rate.q.modes))
    elements = list(rate.memory.elements)
    for one in free_vibrations(model):
        elements[one.element] = elements[one.element]._replace(dissipated=jnp.zeros(()))
    memory = rate.memory._replace(elements=tuple(elements))
    return Rate(rate.q._replace(modes=modes), rate.v._replace(modes=modes), memory)


def time_if_alone(model: Mechanism, x: State, now: Outputs, wanted: Flag) -> Scalar | None:
    """Return `time_alone` where it is `wanted` and nothing touches, else 0, which takes no time; None without vibrations."""
    if not free_vibrations(model):
        return None
    alone = wanted & is_apart(model, x)
    return jax.lax.cond(alone, lambda: time_alone(model, x, now), lambda: jnp.zeros(()))


def time_alone(model: Mechanism, x: State, now: Outputs) -> Scalar:
    """Return the time (s) within which nothing can act on the vibrations, as nothing touches; 0 where that is as short as their
    fastest period, or something may act now."""
    vibrations, here, rides = free_vibrations(model), model.placement(x), _rides(model)
    swings = [Swaying.of(one, *motion) for one, *motion in zip(vibrations, x.q.modes, x.v.modes, strict=True)]
    time = time_of_turn([place for body, place in enumerate(here.bodies) if body not in rides])
    for nearing in [*nearings(model, x, now, here.bodies), *_latches_ahead(model, x, here)]:
        time = jnp.minimum(time, _time_to_meet(nearing, here, rides, swings))
    fastest = jnp.max(jnp.concatenate([one.frequency for one in vibrations]))
    swings_freely = jnp.all(jnp.concatenate([one.square for one in vibrations]) > 0)
    return jnp.where(swings_freely & (time * fastest > SOON), time, 0.0)


class Swaying(NamedTuple):
    """How modes may go on: at their rates, off from that by bounded accelerations, or by no more than their amplitudes let
    them."""

    frequency: Float[Array, "modes"]  # rad/s
    rates: Float[Array, "modes"]
    acceleration: Float[Array, "modes"]  # at most, ever
    excursion: Float[Array, "modes"]  # from here at most

    @staticmethod
    def of(one: FreeVibration, coordinates: Float[Array, "modes"], rates: Float[Array, "modes"]) -> Swaying:
        """Return this of the modes of a vibration from now on."""
        amplitude = one.amplitude(coordinates, rates)
        # η is the real part of a e^{st}, and |s|² = k/m whatever the damping
        return Swaying(one.frequency, rates, amplitude * one.stiffness / one.mass, amplitude + jnp.abs(coordinates))


def _time_to_meet(nearing: Nearing, here: Placement, rides: dict[int, Ride], swings: Sequence[Swaying]) -> Scalar:
    """Return the time (s) within which no point of the first body moves by as much as the gap, as seen from the second.

    A slow mode goes on at its rate, which with the others' and the bodies' may come to little, and departs from that by its
    acceleration; a fast one goes as far as it swings. Whichever are taken for slow, the bound holds: the longest counts.
    """
    first, second, place, gap, reach = nearing
    own, other = (here.bodies[rides[one].carrier if one in rides else one] for one in (first, second))
    drift, turning = own.velocity(place) - other.velocity(place), own.rate - other.rate
    sides = [(one, sign) for one, sign in ((first, 1.0), (second, -1.0)) if one in rides]
    if not sides:
        return least_time(gap, drift.norm() + turning.norm() * reach, ALLOWED)
    moved = [rides[one].moves(here, one, place) for one, _ in sides]
    frequency, speed, acceleration, excursion = [], [], [], []
    for (one, sign), (shift, turn) in zip(sides, moved, strict=True):
        swing, far = swings[rides[one].vibration], shift.norm() + turn.norm() * reach
        frequency.append(swing.frequency)
        acceleration.append(far * swing.acceleration)
        excursion.append(far * swing.excursion)
        speed.append(jnp.stack([*(shift * swing.rates * sign).array(), *(turn * swing.rates * sign).array()]))
    slow = _choices(jnp.concatenate(frequency))
    rates = slow @ jnp.concatenate(speed, axis=1).T
    fastest = jnp.linalg.norm(drift.array() + rates[:, :3], axis=1)
    fastest += reach * jnp.linalg.norm(turning.array() + rates[:, 3:], axis=1)
    left = gap - (1 - slow) @ jnp.concatenate(excursion)
    return jnp.max(least_time(left, fastest, ALLOWED + slow @ jnp.concatenate(acceleration)))


def _choices(frequency: Float[Array, "modes"]) -> Float[Array, "choices modes"]:
    """Return which modes to take for slow, by their frequencies (rad/s), in ways from none to all of them."""
    low, high = jnp.log(jnp.min(frequency)), jnp.log(jnp.max(frequency))
    limits = low + jnp.maximum(high - low, 1.0) * jnp.arange(-1, CHOICES) / (CHOICES - 2)
    return (jnp.log(frequency) <= limits[:, None]).astype(float)


def _rides(model: Mechanism) -> dict[int, Ride]:
    """Return the frames that vibrations move, by the number of the body."""
    moving = model.moving
    assert isinstance(moving, MovingBodies)
    numbers = moving.loose_numbers()
    return {
        body: Ride(tree.members[joint.carrier], numbers.index(joint.numbers), joint)
        for tree in moving.jointed
        for body, joint in zip(tree.members[1:], tree.joints, strict=True)
        if isinstance(joint, ModalFrame)
    }


def _latches_ahead(model: Mechanism, x: State, here: Placement) -> Iterator[Nearing]:
    """Yield the approaches of strikers to where their latches may hold them."""
    for number, one in enumerate(model.elements):
        latch = latch_of(one)
        if latch is None or not isinstance(one, Tie):
            continue
        own, other = one.sides(here)

        def travel(latch: Latch, own: Placed = own, other: Placed = other) -> Scalar:
            return jnp.minimum(*latch.travel(own, other))

        free = -jnp.max(over_rows(travel, latch)) if isinstance(one.element, ElementGroup) else -travel(latch)
        held = jnp.any(x.memory.elements[number].holds())
        gap = jnp.where(held, 0.0, free)
        yield Nearing(one.first, one.second, own.pose.position, gap, striker_reach(latch))

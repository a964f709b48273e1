"""Vibrations of free bodies by their modes while nothing acts on them: known in closed form.

Units: SI; modal coordinates those of the scenario.
Source: damped free vibration, Meirovitch 1967, Analytical Methods in Vibrations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.contact.time_to_touch import least_time
from dockdyn.deferred import Array, Float, jnp
from dockdyn.elements import ElementGroup, Latch
from dockdyn.integrate.model import Outputs, Rate, Scalar, State, over_rows
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.modal_frame import ModalFrame
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Placement
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.coasting import ALLOWED, bound_speed, groups_apart, time_apart
from dockdyn.mechanism.mounts import BendingLink, Mount, Tie

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism

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

    def excursion(self, swings: Sequence[Float[Array, "modes"]], lever: Scalar) -> Scalar:
        """Return how far (m) what it carries up to `lever` (m) away goes where each mode moves by so much."""
        by = self.frame.shift.norm() + self.frame.turn.norm() * lever
        return jnp.sum(by * swings[self.vibration])


def free_vibrations(model: Mechanism) -> list[FreeVibration]:
    """Return the vibrations of bodies on which nothing but contacts and latches may act, as a state has them; none where
    anything else may act, or where not all are of such bodies."""
    moving, others = model.moving, [model.steered, model.gravity, model.phases, model.applied]
    if not isinstance(moving, MovingBodies) or moving.linked or any(one is not None for one in others):
        return []
    links = {
        one.modes: (number, one.element) for number, one in enumerate(model.elements) if isinstance(one, BendingLink)
    }
    acts = any(not isinstance(one, BendingLink) and _latch_of(one) is None for one in model.elements)
    loose = [one for tree in moving.jointed for one in tree.loose()]
    if acts or {one.numbers for one in loose} != set(links) or not all(one.is_exact_distance() for one in model.groups):
        return []
    if any(spring.stiffness.ndim > 1 or spring.damping.ndim > 1 for _, spring in links.values()):
        return []
    found = ((one.mass, *links[one.numbers]) for one in loose)
    return [FreeVibration(number, mass, spring.stiffness, spring.damping) for mass, number, spring in found]


def _latch_of(one: Mount) -> Latch | None:
    """Return the latch, or the latches of one structure, that an element is; None of any other, and of a connection."""
    latch = one.element.members if isinstance(one.element, ElementGroup) else one.element
    return latch if isinstance(latch, Latch) and not latch.joins else None


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


def time_alone(model: Mechanism, x: State, now: Outputs) -> Scalar:
    """Return the time (s) within which nothing can act on the vibrations; 0 where that is as short as their fastest period, or
    something may act now.

    What rides on modes is off from where the body at rest has it by the sum of all that they swing at most.
    """
    vibrations, here = free_vibrations(model), model.placement(x)
    swings = [
        one.amplitude(coordinates, rates) + jnp.abs(coordinates)
        for one, coordinates, rates in zip(vibrations, x.q.modes, x.v.modes, strict=True)
    ]
    rides = _rides(model)
    time = time_apart(model, x, now)
    for first, second, place, gap, reach in _meetings(model, x, now, here):
        own, other = (here.bodies[rides[one].carrier if one in rides else one] for one in (first, second))
        for one in (first, second):
            if one in rides:
                gap = gap - rides[one].excursion(swings, (place - here.bodies[one].pose.position).norm() + reach)
        time = jnp.minimum(time, least_time(gap, bound_speed(own, other, place, reach), ALLOWED))
    fastest = jnp.max(jnp.concatenate([one.frequency for one in vibrations]))
    swings_freely = jnp.all(jnp.concatenate([one.square for one in vibrations]) > 0)
    return jnp.where(swings_freely & (time * fastest > SOON), time, 0.0)


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


def _meetings(
    model: Mechanism, x: State, now: Outputs, here: Placement
) -> Iterator[tuple[int, int, Vector, Scalar, Scalar]]:
    """Yield what may come to act: both bodies, where (m), how far they are from it (m, zero or less: it may act), and how far
    from there the first body's members reach (m)."""
    for group, _, depth in groups_apart(model, x, now):
        yield group.first, group.second, group.reference(here.bodies[group.first]), -depth, group.reach
    for number, one in enumerate(model.elements):
        latch = _latch_of(one)
        if latch is None or not isinstance(one, Tie):
            continue
        own, other = one.sides(here)

        def travel(latch: Latch, own: Placed = own, other: Placed = other) -> Scalar:
            return jnp.minimum(*latch.travel(own, other))

        free = -jnp.max(over_rows(travel, latch)) if isinstance(one.element, ElementGroup) else -travel(latch)
        held = jnp.any(x.memory.elements[number].holds())
        reach = jnp.max(jnp.linalg.norm(latch.striker, axis=-1))
        yield one.first, one.second, own.pose.position, jnp.where(held, 0.0, free), reach

"""Free flight: two rigid bodies in contact, the contact force delayed by a loop (Sazawal et al., eqs. 1–16, 43–58).

Units: SI throughout; quaternions dimensionless.
Source: as named above, with the corrections in the page of errata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

from dockdyn.contact.catch import Seat
from dockdyn.contact.gate import APART, GATED
from dockdyn.contact.latch import HELD, ON_RAMP, SWUNG, Caught, ConeLatch
from dockdyn.contact.pair import Contact
from dockdyn.control.actuators import Effort
from dockdyn.control.controller import Controller, FreeBody, Measured
from dockdyn.control.sampled import SampledControl
from dockdyn.control.steering import AnyControl, Steered, Steering, begin_control, observe_control, steer
from dockdyn.integrate.model import ContactModel, Outputs, Rate, Scalar, State, rows
from dockdyn.kinds.free_flight.model_catch import catch_load, catch_power, catch_sizes, first_swing
from dockdyn.kinds.free_flight.model_coast import free_time
from dockdyn.kinds.free_flight.model_held import fall_in, held, holding_load, observed
from dockdyn.kinds.free_flight.model_outside import Outside
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, internal_energy, pair_momentum
from dockdyn.mechanics.vector import Vector, once

MEMORY = 2  # of the groups of a state: configuration, velocity, memory


class NamedPoint(eqx.Module):
    """A place on a body at which the load of the contact forces is reported."""

    position: Float[Array, "3"]  # m, body axes
    name: str = eqx.field(static=True)
    on_chaser: bool = eqx.field(static=True)


class FreeFlight(ContactModel):
    """Chaser and target, free to move, touching in any number of contacts.

    The force of a contact is decided at t − delay, in inertial axes, and acts now, on both bodies at their present
    contact point (Sazawal et al., eqs. 43, 51), so linear and angular momentum are kept whatever the delay; so is that of a
    latch's ramp. What a latch has caught is held without delay, by its catch or, without one, by constraints, which carry
    what the tip pressed on. State: `q` and `v` are the poses and twists of chaser and target, positions counted from
    `origin`, so that they keep their digits however far away the bodies are; `mode` one integer a contact and one for the
    latch, `memory` the work of all these forces (J, eq. 152), which is the change of kinetic energy less
    the work of control, with a latch what it had to take when it fell in and the seat in its catch, and with control what
    its law remembers and what it did (`Effort`, about the common centre of mass). Control acts on the chaser, without delay;
    so does what another program puts on both bodies from `outside`, whose work is not counted.
    """

    bodies: tuple[RigidBody, RigidBody]
    contacts: tuple[Contact, ...]
    poses: tuple[Pose, Pose]  # at t = 0
    twists: tuple[Twist, Twist]  # at t = 0
    delay: Float[Array, ""] | None
    points: tuple[NamedPoint, ...] = ()
    latch: ConeLatch | None = None
    control: AnyControl | None = None
    outside: Outside | None = None

    def origin(self) -> Vector:
        """Where positions of a state count from (m, inertial): the target's centre of mass at t = 0."""
        return self.poses[1].position

    def initial(self) -> State:
        x = self.uncommanded()
        return x if self.next_tick(x) is None else self.tick(jnp.zeros(()), x)

    def uncommanded(self) -> State:
        """The state at t = 0 before the first sample of control."""
        q = tuple(pose.shifted(-self.origin()) for pose in self.poses)
        places = self.places(State(q, self.twists, None, None))
        modes = tuple(contact.first_mode(contact.touch(*places)).astype(int) for contact in self.contacts)
        memory = self.remembered(jnp.zeros(()), self.uncontrolled(State(q, self.twists, None, None)))
        if self.latch is None:
            return State(q, self.twists, modes, memory)
        entered = self.latch.ramp.first_mode(jnp.minimum(*self.latch.travel(*places))).astype(int)
        return State(q, self.twists, (*modes, entered), memory)

    def uncontrolled(self, x: State) -> tuple[PyTree, ...]:
        """What control's law remembers and what it has done as it begins; nothing where there is none."""
        if self.control is None:
            return ()
        return begin_control(self.control, lambda effort: self.measured(x, effort))

    def remembered(self, work: Scalar, done: tuple[PyTree, ...], catch: Seat | None = None) -> PyTree:
        """A memory, or its rate, of a latch that has caught nothing: no more than there is a use for."""
        caught: tuple[Any, ...] = () if self.latch is None else (Caught.nothing(),)
        if self.latch is not None and self.latch.catch is not None:
            caught += (Seat.nothing(self.latch.catch) if catch is None else catch,)
        return (work, *caught, *done) if caught or done else work

    def names(self) -> list[str]:
        def named(word: str) -> str:
            group, *rest = word.split(".")
            if int(group) == MEMORY:
                if rest in ([], ["0"]):
                    return "work"
                words = ["capture"] * len(self.initial().memory)
                if self.control is not None:
                    words[-2:] = ["controller", "control"]
                return " ".join([words[int(rest[0])], *rest[1:]])
            return " ".join([("chaser", "target")[int(rest[0])], *rest[1:]])

        return [named(word) for word in super().names()]

    def places(self, x: State) -> tuple[Placed, Placed]:
        """Chaser and target for what acts between them: their places relative to the target's centre of mass now."""
        (chaser, target), (first, second) = x.q, x.v
        near = Placed.of(chaser.shifted(-target.position), first)
        return near, Placed.of(Pose(Vector.zero(), target.attitude), second)

    def flow(self, t: Scalar, x: State, delayed: tuple[Vector, ...]) -> Rate:
        latch, free = self.latch, self.free_rate(x, delayed)
        if latch is None or latch.catch is not None:
            return free
        return jax.lax.cond(x.mode[-1] == HELD, lambda: held(self, latch, x, free)[0], lambda: free)

    def free_rate(self, x: State, delayed: tuple[Vector, ...]) -> Rate:
        """The rates under the delayed forces and the load of a catch, no constraint."""
        places = self.places(x)
        chaser, target = places
        forces, torques, power = [Vector.zero()] * 2, [Vector.zero()] * 2, jnp.zeros(())
        for acting, force in zip(self.acting(), delayed, strict=True):
            point = once(acting.point(*places))
            forces = [forces[0] + force, forces[1] - force]
            torques = [torques[0] + chaser.torque(point, force), torques[1] - target.torque(point, force)]
            power += force.dot(chaser.velocity(point) - target.velocity(point))
        caught = None
        if self.latch is not None and self.latch.catch is not None:
            force, moment = catch_load(self, self.latch, self.latch.catch, x)
            point = once(self.latch.point(*places))
            forces = [forces[0] + force, forces[1] - force]
            for i, (place, side) in enumerate(zip(places, (1.0, -1.0), strict=True)):
                torques[i] = torques[i] + (place.torque(point, force) + place.rotation.transposed_times(moment)) * side
            power += force.dot(chaser.velocity(point) - target.velocity(point)) + moment.dot(chaser.rate - target.rate)
            caught = x.memory[2].rate(catch_power(self, self.latch, self.latch.catch, x))
        done: tuple[PyTree, ...] = ()
        if self.control is not None:
            given = self.steered(x, self.control)
            done = given.rate
            forces[0], torques[0] = forces[0] + given.force, torques[0] + given.torque
        if self.outside is not None:
            forces, torques = self.outside.added(forces, torques)
        q = tuple(Pose(twist.velocity, pose.attitude.rate(twist.rate)) for pose, twist in zip(x.q, x.v, strict=True))
        v = tuple(
            body.acceleration(twist, force, torque)
            for body, twist, force, torque in zip(self.bodies, x.v, forces, torques, strict=True)
        )
        return Rate(q, v, self.remembered(power, done, caught))

    def next_tick(self, x: State) -> Scalar | None:
        return self.control.next_tick(x.memory[-2]) if isinstance(self.control, SampledControl) else None

    def tick(self, t: Scalar, x: State) -> State:
        if not isinstance(self.control, SampledControl):
            return x
        *others, memory, effort = x.memory
        after = self.control.tick(t, memory, self.measured(x, effort))
        return State(x.q, x.v, x.mode, (*others, after, effort))

    def following(self, law: Controller) -> FreeFlight:
        """The same bodies, whose sampled control asks this law at its samples, of the memory that its own has."""
        assert isinstance(self.control, SampledControl)
        return replace(self, control=self.control.following(law))

    def steered(self, x: State, control: AnyControl) -> Steered:
        """What control does to the chaser."""
        now = Steering(*x.memory[-2:])
        share = self.bodies[1].mass / (self.bodies[0].mass + self.bodies[1].mass)
        lever = (x.q[0].position - x.q[1].position).array() * share  # from the common centre of mass
        return steer(control, now, self.measured(x, now.effort), lever)

    def measured(self, x: State, effort: Effort) -> Measured:
        """What control sees of a state, once it has done so much."""
        chaser, target = (
            FreeBody(pose.position.array(), twist.velocity.array(), pose.attitude.array(), twist.rate.array())
            for pose, twist in zip(x.q, x.v, strict=True)
        )
        return Measured(chaser, target, effort.wheel, effort.used)

    def acting(self) -> tuple[Contact | ConeLatch, ...]:
        """All that puts forces on both bodies, in the order of the signal."""
        return self.contacts if self.latch is None else (*self.contacts, self.latch)

    def outputs(self, t: Scalar, x: State) -> Outputs:
        places = self.places(x)
        signal: list[Any] = []
        guards: list[Scalar] = []
        monitored: list[Scalar] = []
        for contact, mode in zip(self.contacts, x.mode, strict=False):
            touch = contact.touch(*places)
            normal_force = contact.normal_force(mode, touch)
            signal.append(contact.force(normal_force, touch))
            guards.extend(contact.guards(mode, touch))
            monitored.append(normal_force)
        latch = self.latch
        if latch is None:
            return Outputs(tuple(signal), tuple(guards), tuple(monitored))
        signal.append(latch.force(x.mode[-1], *places))
        across, past = latch.guards(x.mode[-1], *places)
        if latch.catch is None:
            # what the hold carries does not begin again
            held = [x.mode[-1] == HELD] * len(self.contacts)
            still = [a & b for a, b in zip(held, latch.seated(self.contacts), strict=True)]
            guards = [jnp.where(still[i // 2], -1.0, guard) for i, guard in enumerate(guards)]
        else:
            monitored.extend(catch_sizes(self, latch, latch.catch, x))
            if latch.ends_run:
                over = t - (x.memory[2].time + first_swing(self, latch, latch.catch))
                across = jnp.where(x.mode[-1] == HELD, over, across)
        return Outputs(tuple(signal), (*guards, across, past), tuple(monitored))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        places = self.places(x)
        modes = tuple(
            contact.next_mode(mode, (fired[2 * i], fired[2 * i + 1]), contact.touch(*places, at_onset=True))
            for i, (contact, mode) in enumerate(zip(self.contacts, x.mode, strict=False))
        )
        latch = self.latch
        if latch is None:
            return State(x.q, x.v, modes, x.memory)
        mode = latch.ramp.next_mode(x.mode[-1], (fired[-2], fired[-1]))
        mode = jnp.where((x.mode[-1] == HELD) & fired[-2], SWUNG, mode).astype(mode.dtype)
        falls = (mode == HELD) & (x.mode[-1] != HELD)
        v, memory = jax.lax.cond(falls, lambda: fall_in(self, latch, t, x), lambda: (x.v, x.memory))
        if latch.catch is None:
            carried = [falls & still for still in latch.seated(self.contacts)]
            modes = tuple(jnp.where(ends, APART, m).astype(m.dtype) for ends, m in zip(carried, modes, strict=True))
        return State(x.q, v, (*modes, mode), memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        touching = [mode != APART for mode in x.mode[: len(self.contacts)]]
        if self.latch is not None:
            touching.append(x.mode[-1] == ON_RAMP)
        return jnp.any(jnp.stack(touching)) if touching else jnp.asarray(False)

    def ended(self, x: State) -> Bool[Array, ""] | None:
        if self.latch is None or not self.latch.ends_run:
            return None
        return x.mode[-1] == (HELD if self.latch.catch is None else SWUNG)

    def coasting(self, x: State, now: Outputs) -> Scalar | None:
        known = all(contact.surface.is_exact_distance() for contact in self.contacts)
        free = self.control is None and self.outside is None
        return free_time(self, x) if free and known else None

    def ungated(self, x: State) -> State:
        return State(x.q, x.v, tuple(jnp.asarray(GATED) for _ in x.mode), x.memory)

    def retract(self, x: State) -> State:
        poses = tuple(Pose(pose.position, pose.attitude.normalised()) for pose in x.q)
        return State(poses, x.v, x.mode, x.memory)

    def work(self, memory: PyTree) -> Scalar:
        """Work of all forces between the bodies (J) in a state's memory, or its rate."""
        return memory[0] if isinstance(memory, tuple) else memory

    def kinetic_energy(self, x: State) -> Scalar:
        """Kinetic energy of both bodies (J)."""
        return sum((b.kinetic_energy(twist) for b, twist in zip(self.bodies, x.v, strict=True)), jnp.zeros(()))

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Root of the change's own kinetic energy over that of the motion, or the change of work over it if that is larger.

        The motion is that about the common centre of mass, now and at t = 0; so no unit and no frame enters.
        """
        motion = jnp.maximum(internal_energy(self.bodies, x.v) + internal_energy(self.bodies, self.twists), 1e-300)
        energy = sum(body.kinetic_energy(twist) for body, twist in zip(self.bodies, change.v, strict=True))
        return jnp.maximum(jnp.sqrt(energy / motion), jnp.abs(self.work(change.memory)) / motion)

    def observe(self, x: State, delayed: tuple[Vector, ...]) -> dict[str, Array]:
        """Named quantities at an instant, `delayed` being the contact forces that act (N, on the chaser, inertial).

        Shapes: body axes and components last; `position` (2, 3), `attitude` (2, 4), `depth` (contacts,), `load_force`
        (points, 3) in the body's own axes.
        """
        places = self.places(x)
        touches = [contact.touch(*places) for contact in self.contacts]
        normal = [c.normal_force(mode, touch) for c, mode, touch in zip(self.contacts, x.mode, touches, strict=False)]
        linear, angular, linear_scale, angular_scale = pair_momentum(self.bodies, x.q, x.v)
        if self.control is not None:
            wheel = x.q[0].attitude.matrix() @ Vector.of(x.memory[-1].wheel)
            angular, angular_scale = angular + wheel, angular_scale + wheel.norm()
        turned = [start.attitude.conjugate() * pose.attitude for start, pose in zip(self.poses, x.q, strict=True)]
        more, hold = self.observed_control(x), (Vector.zero(), Vector.zero())
        if self.latch is not None:
            hold = holding_load(self, self.latch, x, delayed)
            held = x.mode[-1] >= HELD
            seated = rows([held & still for still in self.latch.seated(self.contacts)])
            more |= observed(self, self.latch, x) | {"hold_force": hold[0].array(), "seated": seated}
        acting = self.contact_load(places, delayed, hold)
        loads = [self.load(point, places, acting) for point in self.points]
        return more | {
            "position": rows([pose.shifted(self.origin()).position.array() for pose in x.q], 3),
            "attitude": rows([pose.attitude.array() for pose in x.q], 4),
            "rotation": rows([turn.logarithm().array() for turn in turned], 3),
            "velocity": rows([twist.velocity.array() for twist in x.v], 3),
            "rate": rows([twist.rate.array() for twist in x.v], 3),
            "feature_position": rows([contact.place(*places).array() for contact in self.contacts], 3),
            "azimuth": rows([contact.azimuth(*places) for contact in self.contacts]),
            "depth": rows([touch.depth for touch in touches]),
            "depth_rate": rows([touch.rate for touch in touches]),
            "sliding_speed": rows([jnp.sqrt(touch.sliding.dot(touch.sliding)) for touch in touches]),
            "normal_force": rows(normal),
            "contact_force": rows([force.array() for force in delayed[: len(self.contacts)]], 3),
            "load_force": rows([force.array() for force, _ in loads], 3),
            "load_moment": rows([moment.array() for _, moment in loads], 3),
            "kinetic_energy": self.kinetic_energy(x),
            "work": self.work(x.memory),
            "linear_momentum": linear.array(),
            "angular_momentum": angular.array(),
            "linear_momentum_scale": linear_scale,
            "angular_momentum_scale": angular_scale,
        }

    def observed_control(self, x: State) -> dict[str, Array]:
        """What control does at an instant and has done; nothing where there is none."""
        if self.control is None:
            return {}
        now = Steering(*x.memory[-2:])
        return observe_control(self.control, now, self.measured(x, now.effort))

    def contact_load(
        self, places: tuple[Placed, Placed], delayed: tuple[Vector, ...], hold: tuple[Vector, Vector]
    ) -> tuple[Vector, Vector, Vector]:
        """Return the force (N) and the moment (N m) of all that acts on the chaser, and the place (m) about which that is.

        The place is where the first of them acts. `hold` are force and moment at the tip by which a latch holds the chaser.
        """
        forces = list(zip((acting.point(*places) for acting in self.acting()), delayed, strict=True))
        if self.latch is not None:
            forces.append((self.latch.point(*places), hold[0]))
        about = forces[0][0] if forces else Vector.zero()
        force, moment = Vector.zero(), hold[1]
        for point, one in forces:
            force = force + one
            moment = moment + (point - about).cross(one)
        return once((force, moment, about))

    def load(
        self, named: NamedPoint, places: tuple[Placed, Placed], acting: tuple[Vector, Vector, Vector]
    ) -> tuple[Vector, Vector]:
        """Return force (N) and moment about the named point (N m) of all that acts on its body, in the body's axes.

        `acting` is the load on the chaser, of `contact_load`.
        """
        force, moment, about = acting
        place = places[0] if named.on_chaser else places[1]
        side = 1.0 if named.on_chaser else -1.0
        moment = moment + (about - place.point(Vector.of(named.position))).cross(force)
        return place.rotation.transposed_times(force * side), place.rotation.transposed_times(moment * side)

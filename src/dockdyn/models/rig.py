"""A rig in simulation: virtual bodies, hold, robot, contact, delayed force, compensator; time that advances in ticks.

Between instants the robot's axes are linear and driven by held commands, so they are advanced exactly, and the delayed
force is that of a robot some ticks ago (SITS, eqs. 19, 20). Instants that coincide happen in this order: the sensor
measures, the compensator answers, the hold takes the position of the virtual bodies, these step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.model import Scalar, State
from dockdyn.integrate.runge_kutta import rk4
from dockdyn.loop.compensator import Action, Compensator, Seen
from dockdyn.loop.robot import Reading, RobotAxes
from dockdyn.loop.sensor import Arrived, Draws, ForceSensor
from dockdyn.models.rig_clock import Clock
from dockdyn.models.rig_plant import Axes, Plant, Port
from dockdyn.stability.loop import Dynamics


class Oracle(NamedTuple):
    """What the contact would do without rig, at the instants at which the compensator is asked."""

    position: Port  # m
    force: Port  # N


class Moving(NamedTuple):
    """All that a rig carries from tick to tick."""

    tick: Array
    motion: State  # of the virtual bodies
    state: Float[Array, "axes order"]  # of the robot
    past: Float[Array, "rows axes width"]  # what was known of the robot at the ticks before, the newest first
    recorded: tuple[
        Float[Array, "late axes"], ...
    ]  # positions and velocities that the hold will take, the newest first
    load: Axes  # N, N m, measured and held
    touched: Port  # m, where it was measured
    memory: Any  # of the compensator
    action: Action
    port_work: Scalar  # J, of the contact at the robot
    touch: tuple[Axes, Port]  # contact load now and the port's position


class Ages(eqx.Module):
    """Readings of the robot at the ages that a tick needs, worked out once."""

    tick: Scalar  # s
    advance: Float[Array, "order width"]
    now: Reading  # at the tick, what was known then
    end: Reading  # a tick later
    row: Array  # which of the past rows a sample is read from, when the delay is steady
    sample: Reading
    first: tuple[Reading, Reading, Reading]  # start, middle and end of a tick's first part, of the delayed robot
    second: tuple[Reading, Reading, Reading]  # of its second part
    own: tuple[Reading, Reading, Reading, Reading, Reading]  # of the robot itself: at the ends and middles of both
    parts: tuple[Scalar, Scalar]  # s, their lengths


class Rig(eqx.Module):
    """A closed loop around the contact of a plant."""

    plant: Plant
    robot: RobotAxes
    sensor: ForceSensor
    hold: Float[Array, ""]  # s
    period: Float[Array, ""] | None  # s, of digital dynamics
    compensator: Compensator | None
    following: Scalar  # 1: the robot has long followed the approach; 0: it stands still at t = 0
    dynamics: Dynamics = eqx.field(static=True)
    clock: Clock = eqx.field(static=True)

    @property
    def tick(self) -> Scalar:
        """Length of a tick (s)."""
        return self.hold * (self.clock.beats.holds / self.clock.ticks)

    def ages(self) -> Ages:
        tick, delay = self.tick, self.sensor.delay
        whole = jnp.ceil(delay / tick - 1e-9)
        left = jnp.maximum(whole * tick - delay, 0.0)  # of a tick, after the delayed robot's instant at its start
        begun = jnp.floor(delay / tick + 1e-9)
        reading = self.robot.reading
        zero, parts = jnp.zeros(()), (tick - left, left)
        return Ages(
            tick=tick,
            advance=self.robot.advance(tick),
            now=reading(zero),
            end=reading(tick),
            row=begun.astype(int),
            sample=reading(tick - jnp.maximum(delay - begun * tick, 0.0)),
            first=(reading(left), reading((left + tick) / 2), reading(tick)),
            second=(reading(zero), reading(left / 2), reading(left)),
            own=tuple(reading(age) for age in (zero, parts[0] / 2, parts[0], (parts[0] + tick) / 2, tick)),  # type: ignore[arg-type]
            parts=parts,
        )

    def begin(self) -> Moving:
        """The rig at t = 0, and before: robots that follow, or stand still."""
        plant, robot = self.plant, self.robot
        motion = plant.initial()
        pose, rate = plant.pose(motion), plant.rate(motion)
        port, speed = plant.port(pose, rate)
        moves = self.following * rate
        late = self.hold / 2 + (self.clock.late * self.tick)  # what is commanded is this much older than the motion
        state, command = robot.following(pose - moves * late, moves, jnp.zeros(()))
        there = robot.reading(jnp.zeros(())).of(robot.known(state, command, moves))
        rows = []
        for index in range(self.clock.rows):
            then = -self.tick * (index + 1)
            rows.append(robot.known(*robot.following(pose - moves * late, moves, then), moves))
        ago = self.tick * (1 + jnp.arange(self.clock.late))[:, None]
        recorded = (pose - moves * ago, jnp.broadcast_to(moves, (self.clock.late, plant.axes)))
        nothing = jnp.zeros(plant.axes)
        memory = None if self.compensator is None else self.compensator.init(port, speed)
        return Moving(
            tick=jnp.zeros((), int),
            motion=motion,
            state=state,
            past=jnp.stack(rows),
            recorded=recorded if self.clock.late else (),
            load=nothing,
            touched=port,
            memory=memory,
            action=Action.nothing(plant.port_axes),
            port_work=jnp.zeros(()),
            touch=(plant.load(*there), plant.port(*there)[0]),
        )

    def cycle(self, ages: Ages, moving: Moving, oracle: Oracle, drawn: Draws | None) -> tuple[Moving, Any]:
        """One cycle, and what is observed whenever the compensator is asked; `oracle` and `drawn` have a row for each."""
        seen = []
        asked = sampled = 0
        for index in range(self.clock.ticks):
            draw = None if drawn is None else jax.tree.map(lambda rows, at=sampled: rows[at], drawn)
            ideal = Oracle(*(rows[min(asked, len(rows) - 1)] for rows in oracle))
            moving, found = self.advance(ages, moving, index, ideal, draw)
            sampled += self.clock.samples[index]
            if self.clock.asks[index]:
                asked += 1
                seen.append(found)
        return moving, jax.tree.map(lambda *rows: jnp.stack(rows), *seen)

    def advance(self, ages: Ages, moving: Moving, index: int, ideal: Oracle, drawn: Draws | None) -> tuple[Moving, Any]:
        """One tick, and what is observed at its start."""
        plant, clock = self.plant, self.clock
        time = moving.tick * ages.tick
        command = self.robot.command(moving.past[0])
        known = self.robot.known(moving.state, command, moving.past[0, :, -1])  # before the command of this instant
        place, speed = plant.port(*ages.now.of(known))
        if clock.samples[index]:
            moving = self.measured(ages, moving, time, drawn)
        if clock.asks[index]:
            moving = self.asked(moving, time, (place, speed), ideal, drawn)
        total, compensation, virtual = self.total(moving, speed)
        if clock.holds[index]:
            command, moves = self.taken(moving, total, command)
            known = self.robot.known(moving.state, command, moves)
        found = self.observed(moving, known, ages, compensation, virtual, total)
        moving = moving._replace(past=jnp.concatenate([known[None], moving.past[:-1]]))
        if clock.late:
            fresh = (plant.pose(moving.motion), plant.rate(moving.motion))
            moving = moving._replace(
                recorded=tuple(jnp.concatenate([a[None], b[:-1]]) for a, b in zip(fresh, moving.recorded, strict=True))
            )
        moving = self.stepped(ages, moving, index, total, time)
        after = ages.end.of(known)
        load, port = plant.load(*after), plant.port(*after)[0]
        forces = plant.port_axes
        work = 0.5 * jnp.sum((load + moving.touch[0])[:forces] * (port - moving.touch[1]))
        state = (known[:, None, :] * ages.advance).sum(-1) if self.robot.robot is not None else moving.state
        moving = moving._replace(
            tick=moving.tick + 1, state=state, port_work=moving.port_work + work, touch=(load, port)
        )
        return moving, found

    def measured(self, ages: Ages, moving: Moving, time: Scalar, drawn: Draws | None) -> Moving:
        """The sensor measures the load of a delay ago; no load acts before t = 0."""
        sensor = self.sensor
        if sensor.steady:
            row, reading, age = ages.row, ages.sample, sensor.delay
        else:
            age = sensor.age(time, drawn)
            begun = jnp.floor(age / ages.tick + 1e-9)
            row = begun.astype(int)
            reading = self.robot.reading_soon(ages.tick - jnp.maximum(age - begun * ages.tick, 0.0))
        there = reading.of(jax.lax.dynamic_index_in_dim(moving.past, row, keepdims=False))
        true = jnp.where(time - age > -1e-9 * ages.tick, self.plant.load(*there), 0.0)
        load, _ = sensor.step(moving.load, Arrived(true, drawn))
        touched = sensor.encoder(self.plant.port(*there)[0], None if drawn is None else drawn.encoder[1])
        if sensor.drop_rate is not None and drawn is not None:
            touched = jnp.where(drawn.lost < sensor.drop_rate, moving.touched, touched)
        return moving._replace(load=load, touched=touched)

    def asked(
        self, moving: Moving, time: Scalar, robot: tuple[Port, Port], ideal: Oracle, drawn: Draws | None
    ) -> Moving:
        """The compensator answers."""
        plant, compensator = self.plant, self.compensator
        if compensator is None:
            return moving
        position, velocity = plant.port(plant.pose(moving.motion), plant.rate(moving.motion))
        always = plant.ever_touching
        seen = Seen(
            time=time,
            period=self.tick * (self.clock.ticks / sum(self.clock.asks)),
            mass=plant.mass,
            force=moving.load[: plant.port_axes],
            position=position,
            velocity=velocity,
            robot_position=self.sensor.encoder(robot[0], None if drawn is None else drawn.encoder[0]),
            robot_velocity=robot[1],
            touched_position=moving.touched,
            touching=jnp.asarray(True) if always else self.sensor.touches(moving.load),
            ideal_position=ideal.position,
            ideal_force=ideal.force,
        )
        memory, action = compensator.step(moving.memory, seen)
        return moving._replace(memory=memory, action=action)

    def total(
        self, moving: Moving, robot_speed: Port, load: Axes | None = None, motion: State | None = None
    ) -> tuple[Axes, Port, Axes]:
        """Load on the virtual bodies, the compensator's force in it, and the load of the virtual contact."""
        plant, action = self.plant, moving.action
        motion = moving.motion if motion is None else motion
        load = moving.load if load is None else load
        pose, rate = plant.pose(motion), plant.rate(motion)
        virtual = plant.virtual_load(pose, rate)
        whole = load + virtual
        if self.compensator is None:
            return whole, jnp.zeros(plant.port_axes), virtual
        source = self.compensator.source
        speed = {"model": plant.port(pose, rate)[1], "robot": robot_speed, "estimate": action.velocity}[source]
        force = action.force - action.gain * speed
        kept = plant.mass / (plant.mass + action.inertia)
        whole = (whole + plant.push(motion, force)) * kept
        ahead = whole - load - virtual
        return whole, ahead[: plant.port_axes], virtual

    def taken(self, moving: Moving, total: Axes, last: Axes) -> tuple[Axes, Axes]:
        """The command that the hold takes, and the velocity that goes with it."""
        plant, action = self.plant, moving.action
        pose, rate = plant.pose(moving.motion), plant.rate(moving.motion)
        if self.clock.late:
            pose, rate = (rows[-1] for rows in moving.recorded)
        wanted = pose
        if self.compensator is not None:
            acceleration = plant.acceleration(moving.motion, total)
            wanted = pose + action.lead * rate + action.second_lead * acceleration
            rate = rate + action.lead * acceleration
        return self.robot.limited(wanted, last, self.hold), rate

    def stepped(self, ages: Ages, moving: Moving, index: int, total: Axes, time: Scalar) -> Moving:
        """The virtual bodies after a tick."""
        if self.clock.beats.steps:
            if not self.clock.asks[index]:
                return moving
            assert self.period is not None
            return moving._replace(motion=self.plant.stepped(moving.motion, total, self.period, self.dynamics))
        rows = ages.parts, (ages.first, ages.second), (ages.own[:3], ages.own[2:])
        motion, whole = moving.motion, jnp.ceil(self.sensor.delay / ages.tick - 1e-9).astype(int)
        own = moving.past[0]
        for part, (length, delayed, here) in enumerate(zip(*rows, strict=True)):
            late = jax.lax.dynamic_index_in_dim(moving.past, jnp.maximum(whole - part, 0), keepdims=False)
            begun = time + (0.0 if part == 0 else ages.parts[0]) - self.sensor.delay > -1e-9 * ages.tick
            motion = self.flowed(moving, motion, length, late, delayed, own, here, begun)
        return moving._replace(motion=motion)

    def flowed(
        self,
        moving: Moving,
        motion: State,
        length: Scalar,
        late: Array,
        delayed: Any,
        own: Array,
        here: Any,
        begun: Array,
    ) -> State:
        """Continuous dynamics through a part of a tick, in which neither robot receives a command."""

        def loads(share: float, there: State) -> Axes:
            node = int(2 * share)
            load = moving.load
            if self.clock.continuous_force:
                load = jnp.where(begun, self.plant.load(*delayed[node].of(late)), 0.0)
            speed = self.plant.port(*here[node].of(own))[1]
            return self.total(moving, speed, load, there)[0]

        def flow(share: float, there: State) -> Any:
            return self.plant.flow(there, loads(share, there))

        return self.plant.retract(rk4(flow, motion, length, flow(0.0, motion))[0])

    def observed(
        self, moving: Moving, known: Array, ages: Ages, compensation: Port, virtual: Axes, total: Axes
    ) -> dict[str, Array]:
        """Named quantities at an instant."""
        plant = self.plant
        forces = plant.port_axes
        position, velocity = plant.port(plant.pose(moving.motion), plant.rate(moving.motion))
        robot_position, robot_velocity = plant.port(*ages.now.of(known))
        found = {
            "position": position,
            "velocity": velocity,
            "robot_position": robot_position,
            "robot_velocity": robot_velocity,
            "contact_force": moving.touch[0][:forces],
            "measured_force": moving.load[:forces],
            "compensation_force": compensation,
            "total_force": total[:forces],
            "gain": moving.action.gain,
            "kinetic_energy": plant.kinetic_energy(moving.motion),
            "port_work": moving.port_work,
        }
        if plant.axes > 1:
            found["model_pose"], found["robot_pose"] = plant.pose(moving.motion), ages.now.of(known)[0]
        return found | ({} if self.compensator is None else self.compensator.report(moving.memory))

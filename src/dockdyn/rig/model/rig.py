"""A rig in simulation: virtual bodies, hold, robot, contact, delayed force, compensator; time that advances in ticks.

Between instants the robot's axes are linear and driven by held commands, so they are advanced exactly, and the delayed
force is that of a robot some ticks ago (SITS, eqs. 19, 20). Where continuous dynamics feel it in a contact that opens and
closes, onset and release are located inside the tick. Instants that coincide happen in this order: the sensor
measures, the compensator answers, the hold takes the position of the virtual bodies, these step.

Units: SI: m, m/s, s, N; ticks are whole numbers.
Source: as named above.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.contact.contact_memory import Memories
from dockdyn.deferred import Array, Float, PyTree, jax, jnp
from dockdyn.hil.compensators.compensator import Compensation, Compensator, CompensatorInput
from dockdyn.hil.mounting import Mounting
from dockdyn.hil.robot import AxisReading, RobotAxes
from dockdyn.hil.sensor import Arrived, Draws, SensorModel
from dockdyn.integrate.hybrid.runge_kutta import rk4_step
from dockdyn.integrate.model import Rate, Scalar, State, over_rows
from dockdyn.parameters import Dynamics
from dockdyn.rig.model.delayed_reads import WEIGHTS, Ages, force_sampling, shift_rows
from dockdyn.rig.model.limits import LimitsReached
from dockdyn.rig.model.mock_ups import carry_contacts, memories_at, shift_past
from dockdyn.rig.model.mounting import felt_load, with_sensor_load
from dockdyn.rig.model.observed import observe_instant
from dockdyn.rig.model.plant import Axes, Modes, Plant, Port
from dockdyn.rig.model.schedule import Flag, RigSchedule, choose_branch
from dockdyn.rig.model.settled import settled_rig
from dockdyn.rig.model.stretch import advance_tick
from dockdyn.trees import Module, field, map_leaves

WRITTEN_OUT = 4  # ticks of a cycle


class Instant(NamedTuple):
    """What happens at a tick."""

    samples: Flag
    asks: Flag
    holds: Flag


class IdealContact(NamedTuple):
    """What the contact would do without rig at the instants at which the compensator is asked, and what noise there is."""

    position: Port  # m
    force: Port  # N
    encoder: Port | None = None  # standard normal, of the encoders' noise then


class Answer(NamedTuple):
    """What the computer of a rig makes of what is measured at an instant."""

    total: Axes  # N, N m, on the virtual bodies
    compensation: Port  # N, the compensator's part of it
    virtual: Axes  # N, N m, of the contact that is computed
    meant: Axes  # m, rad, command before the robot's limits
    command: Axes  # m, rad, that the hold takes
    rate: Axes  # m/s, rad/s, that goes with it


class RigState(NamedTuple):
    """All that a rig carries from tick to tick."""

    tick: Array
    motion: State  # of the virtual bodies
    state: Float[Array, "axes order"]  # of the robot
    past: Float[Array, "rows axes width"]  # what was known of the robot at the ticks before, the newest first
    recorded: tuple[
        Float[Array, "late axes"], ...
    ]  # commands (m, rad) that the hold will take, with their velocities, the newest first
    load: Axes  # N, N m, measured and held
    touched: Port  # m, where it was measured
    memory: PyTree  # of the compensator
    action: Compensation
    port_work: Scalar  # J, of the contact's force on the port at the robot
    contact_work: Scalar | None  # J, of its whole load there; None along a line, where that is the same
    contacts: Memories = ()  # what those of the mock-ups remember
    past_contacts: Memories = ()  # at the ticks before, the newest first, as `past`
    late_contacts: Memories = ()  # of those that the delayed robot carries, where their force acts continuously
    # commands (m, rad) that do not apply yet and, of a robot that follows at once, their velocities, the newest first
    pending: tuple[Float[Array, "cycles axes"], ...] = ()
    reading: Axes | None = None  # N, N m, that the sensor has where what is measured is more than the contact's load
    encoded: Float[Array, "rows axes"] | None = (
        None  # m, rad, poses by the encoders at the last steps, the newest first
    )
    reached: LimitsReached | None = None  # of the robot and the sensor; None where they have no limits


class Rig(Module):
    """A closed loop around the contact of a plant."""

    plant: Plant
    robot: RobotAxes
    sensor: SensorModel
    hold: Float[Array, ""]  # s
    period: Float[Array, ""] | None  # s, of digital dynamics
    compensator: Compensator | None
    following: Scalar  # 1: the robot has long followed the approach; 0: it stands still at t = 0
    held: bool = field(static=True)  # whether what the compensator multiplies is held between its instants
    dynamics: Dynamics = field(static=True)
    schedule: RigSchedule = field(static=True)
    mounting: Mounting | None = None  # of the sensor; None: it feels the contact's load alone
    applies_after: int = field(static=True, default=0)  # hold periods from when a command is taken to when it applies
    outside: Port | None = None  # N, what another program puts on the virtual bodies where they touch

    @property
    def tick(self) -> Scalar:
        """Length of a tick (s)."""
        return self.hold * (self.schedule.hyperperiod.holds / self.schedule.ticks)

    def unaware(self, nothing: Port) -> IdealContact:
        """Return an oracle that knows `nothing`, of encoders without noise."""
        return IdealContact(nothing, nothing)

    @property
    def step(self) -> Scalar:
        """Time (s) between two instants at which the compensator is asked."""
        return self.tick * (self.schedule.ticks / sum(self.schedule.asks))

    @property
    def located(self) -> bool:
        """Whether instants between commands matter at which contacts open or close."""
        return not self.schedule.hyperperiod.steps and (self.plant.remembers or not self.plant.ever_touching)

    def begin(self) -> RigState:
        """Return the rig at t = 0, and before: robots that follow, or stand still."""
        plant = self.plant
        motion = plant.initial()
        begun = RigState(
            tick=jnp.zeros((), int),
            motion=motion,
            state=jnp.zeros((plant.axes, 0)),
            past=jnp.zeros((0, plant.axes, 0)),
            recorded=(),
            load=jnp.zeros(plant.axes),
            touched=plant.port(plant.pose(motion), plant.rate(motion))[0],
            memory=None,
            action=Compensation.nothing(plant.port_axes),
            port_work=jnp.zeros(()),
            contact_work=jnp.zeros(()) if plant.axes > plant.port_axes else None,
            contacts=(contacts := plant.first_memories()),
            past_contacts=map_leaves(lambda a: jnp.broadcast_to(a, (self.schedule.rows, *a.shape)), contacts),
            late_contacts=contacts if self.schedule.continuous_force else (),
            reached=LimitsReached.begun(self.robot, self.sensor, plant.axes),
        )
        return settled_rig(self, begun)

    def cycle(
        self, ages: Ages, moving: RigState, oracle: IdealContact, drawn: Draws | None
    ) -> tuple[RigState, dict[str, Array]]:
        """Return one cycle, and what is observed whenever the compensator is asked; `oracle` and `drawn` have a row for each.

        Few ticks are written out one after the other, which runs faster; many are a loop, which compiles faster.
        """
        schedule = self.schedule
        flags = Instant(*(np.array(row) for row in (schedule.samples, schedule.asks, schedule.holds)))
        asked, sampled = (np.cumsum(row) - row for row in (flags.asks, flags.samples))
        given = oracle, drawn
        rows = asked.clip(max=flags.asks.sum() - 1), sampled.clip(max=max(flags.samples.sum() - 1, 0))
        ideals, draws = (map_leaves(lambda a, at=at: a[at], part) for part, at in zip(given, rows, strict=True))
        if schedule.ticks > WRITTEN_OUT or self.located or self.plant.remembers:
            moving, found = jax.lax.scan(
                lambda moving, now: self.advance(ages, moving, *now), moving, (flags, ideals, draws)
            )
            return moving, map_leaves(lambda a: a[flags.asks], found)
        seen = []
        for index in range(schedule.ticks):
            now = Instant(*(bool(row[index]) for row in flags))
            ideal, draw = (map_leaves(lambda a, at=index: a[at], part) for part in (ideals, draws))
            moving, found = self.advance(ages, moving, now, ideal, draw)
            seen += [found] if now.asks else []
        return moving, map_leaves(lambda *rows: jnp.stack(rows), *seen)

    def advance(
        self, ages: Ages, moving: RigState, now: Instant, ideal: IdealContact, drawn: Draws | None
    ) -> tuple[RigState, dict[str, Array]]:
        """Return one tick, and what is observed at its start."""
        plant, schedule = self.plant, self.schedule
        time = moving.tick * ages.tick
        command = self.robot.command(moving.past[0])
        known = self.robot.known(moving.state, command, moving.past[0, :, -1])  # before the command of this instant
        place = ages.now.of(known)
        robot = plant.port(*place)
        moving = choose_branch(now.samples, lambda: self.measured(ages, moving, time, drawn), moving)
        if self.mounting is not None:
            moving = choose_branch(
                now.asks, lambda: with_sensor_load(self, moving, self.encoders(place[0], ideal.encoder)), moving
            )
        last = moving.pending[0][0] if self.applies_after else command
        load = self.just(ages, moving, time) if schedule.continuous_force else moving.load
        moving, answer = self.answered(moving, now.asks, time, robot, ideal, last, load)
        moving = choose_branch(now.holds, lambda: self.told(moving, answer.meant, last), moving)
        pending, applies, rate = self.advance_queue(moving.pending, answer.command, answer.rate)
        known = choose_branch(now.holds, lambda: self.robot.known(moving.state, applies, rate), known)
        moving = moving._replace(pending=choose_branch(now.holds, lambda: pending, moving.pending))
        motion = plant.told(time, moving.motion, self.sensor.detects_contact(load))
        moving = shift_past(moving._replace(motion=motion), known)
        found = observe_instant(self, moving, ages, load, answer)
        if self.located:
            moving = advance_tick(self, ages, moving, time)
        else:
            moving = self.worked(ages, moving)
            if schedule.hyperperiod.steps:
                moving = choose_branch(now.asks, lambda: self.stepped(moving, answer.total, time), moving)
            else:
                moving = self.flowed(ages, moving, time)
        return moving._replace(tick=moving.tick + 1, state=self.carried(ages, moving, known)), found

    def told(self, moving: RigState, meant: Axes, last: Axes) -> RigState:
        """Return the motion once its limits have made of a command (m, rad) that is `meant`, behind the `last` one, what they
        allow."""
        if moving.reached is None:
            return moving
        rate, position = self.robot.holds_back(meant, last, self.hold)
        return moving._replace(reached=moving.reached.held(moving.tick, rate=rate, position=position))

    def advance_queue(
        self, pending: tuple[Array, ...], command: Axes, rate: Axes
    ) -> tuple[tuple[Array, ...], Axes, Axes]:
        """Return the `pending` commands once another one is taken, and the one that applies now with its velocity.

        `rate` (m/s, rad/s) goes with the command that is taken. Where only commands are kept, those of a robot with dynamics,
        it goes on as it is: nothing asks for it.
        """
        if not pending:
            return (), command, rate
        newest, oldest = (command, rate), [rows[-1] for rows in pending]
        applies, its_rate = (*oldest, rate)[:2]
        return tuple(shift_rows(one, rows) for one, rows in zip(newest, pending, strict=False)), applies, its_rate

    def encoders(self, pose: Axes, noise: Port | None) -> Axes:
        """Return what the encoders say of a `pose` (m, rad); `noise` is standard normal."""
        forces = self.plant.port_axes
        return jnp.concatenate([self.sensor.read_encoder(pose[:forces], noise), pose[forces:]])

    def carried(self, ages: Ages, moving: RigState, known: Float[Array, "axes width"]) -> Float[Array, "axes order"]:
        """Return the robot's state a tick after what is `known` of it."""
        return (known[:, None, :] * ages.advance).sum(-1) if self.robot.robot is not None else moving.state

    def answered(
        self,
        moving: RigState,
        asks: Flag,
        time: Scalar,
        robot: tuple[Port, Port],
        ideal: IdealContact,
        last: Axes,
        load: Axes,
    ) -> tuple[RigState, Answer]:
        """Return the compensator is asked, and what follows for the virtual bodies under a `load` (N, N m), and for the command
        behind the `last` one."""
        moving = choose_branch(asks, lambda: self.asked(moving, time, robot, ideal), moving)
        found = self.total(moving, robot[1], load)
        wanted, rate = meant = self.wanted(moving, found[0])
        if self.schedule.late:
            wanted, rate = (rows[-1] for rows in moving.recorded)
            later = zip(meant, moving.recorded, strict=True)
            moving = moving._replace(recorded=tuple(shift_rows(newest, rows) for newest, rows in later))
        return moving, Answer(*found, wanted, self.robot.limit_command(wanted, last, self.hold), rate)

    def worked(self, ages: Ages, moving: RigState) -> RigState:
        """Return the contact at the robot has worked through a tick, and remembers it: by quadrature of the sixth order where
        there is nothing to remember."""
        known, works = moving.past[0], (moving.port_work, moving.contact_work)
        if self.plant.remembers:
            port = carry_contacts(self, ages, known, moving.contacts, ages.tick)
            moving, done = moving._replace(contacts=port.memories), (port.work, port.contact)
        else:
            done = self._quadrature(ages, known)
        work, whole = map_leaves(lambda old, new: old + new, works, done)
        return moving._replace(port_work=work, contact_work=whole)

    def _quadrature(self, ages: Ages, known: Float[Array, "axes width"]) -> tuple[Scalar, Scalar | None]:
        """Return the works (J) of the contact at the robot in a tick, as `RigState` has them."""

        def powers(reading: AxisReading) -> tuple[Scalar, Scalar | None]:
            pose, rate = reading.of(known)
            return self.powers(self.plant.load(pose, rate), pose, rate)

        return map_leaves(lambda power: ages.tick * jnp.sum(power * WEIGHTS), over_rows(powers, ages.within))

    def powers(self, load: Axes, pose: Axes, rate: Axes) -> tuple[Scalar, Scalar | None]:
        """Return the power (W) of a load of the contact on the port at a pose, and its whole power, None along a line."""
        plant = self.plant
        at_port = jnp.sum(load[: plant.port_axes] * plant.port(pose, rate)[1])
        return at_port, plant.contact_power(load, pose, rate) if plant.axes > plant.port_axes else None

    def measured(self, ages: Ages, moving: RigState, time: Scalar, drawn: Draws | None) -> RigState:
        """Return the sensor measures the load of a delay ago; no load acts before t = 0."""
        sensor = self.sensor
        nodes = ages.sample
        if nodes is None:
            nodes = force_sampling(self, sensor.delay_at(time, drawn), self.robot.reading_soon)
        past = moving.past[nodes.rows]
        there = jax.vmap(AxisReading.of)(nodes.reading, past)
        begun = (time - nodes.ages > -1e-9 * ages.tick)[:, None]
        offsets = jnp.clip((nodes.rows + 1) * ages.tick - nodes.ages, 0.0, ages.tick)
        remembered = memories_at(self, ages, moving, nodes.rows, offsets)
        loads = over_rows(lambda pose, rate, kept: self.plant.load(pose, rate, None, kept), *there, remembered)
        loads = jnp.where(begun, loads, 0.0)
        arrived = Arrived(felt_load(self, moving, nodes, there, (nodes.weights[:, None] * loads).sum(0)), drawn)
        held = moving.load if moving.reading is None else moving.reading
        load, _ = sensor.step(held, arrived)
        if moving.reached is not None:
            moving = moving._replace(reached=moving.reached.held(moving.tick, range=sensor.saturates(arrived)))
        places = jax.vmap(self.plant.port)(*there)[0]
        place = (nodes.weights[:, None] * places).sum(0)
        touched = sensor.read_encoder(place, None if drawn is None else drawn.encoder)
        if sensor.drop_rate is not None and drawn is not None:
            touched = jnp.where(drawn.lost < sensor.drop_rate, moving.touched, touched)
        if self.mounting is not None:
            return moving._replace(reading=load, touched=touched)
        return moving._replace(load=load, touched=touched)

    def asked(self, moving: RigState, time: Scalar, robot: tuple[Port, Port], ideal: IdealContact) -> RigState:
        """Return the compensator answers."""
        if self.compensator is None:
            return moving
        memory, action = self.compensator.step(moving.memory, self.seen(moving, time, robot, ideal))
        return moving._replace(memory=memory, action=action)

    def seen(self, moving: RigState, time: Scalar, robot: tuple[Port, Port], ideal: IdealContact) -> CompensatorInput:
        """Return what a compensator sees, of a robot whose port has a place and a velocity."""
        plant = self.plant
        position, velocity = plant.port(plant.pose(moving.motion), plant.rate(moving.motion))
        return CompensatorInput(
            time=time,
            period=self.step,
            mass=plant.mass,
            force=moving.load[: plant.port_axes],
            position=position,
            velocity=velocity,
            robot_position=self.sensor.read_encoder(robot[0], ideal.encoder),
            robot_velocity=robot[1],
            touched_position=moving.touched,
            touching=jnp.asarray(True) if plant.ever_touching else self.sensor.detects_contact(moving.load),
            ideal_position=ideal.position,
            ideal_force=ideal.force,
        )

    def total(
        self,
        moving: RigState,
        robot_speed: Port,
        load: Axes | None = None,
        motion: State | None = None,
        modes: Modes | None = None,
    ) -> tuple[Axes, Port, Axes]:
        """Load on the virtual bodies, the compensator's force in it, and the load of the virtual contact, in its `modes`."""
        plant, action = self.plant, moving.action
        motion = moving.motion if motion is None else motion
        load = moving.load if load is None else load
        pose, rate = plant.pose(motion), plant.rate(motion)
        virtual = plant.virtual_load(pose, rate, modes)
        whole = load + virtual
        outside = None if self.outside is None else plant.push(motion, self.outside)
        if outside is not None:
            whole = whole + outside
        if self.compensator is None:
            return whole, jnp.zeros(plant.port_axes), virtual
        source = "estimate" if self.held else self.compensator.source
        speed = {"model": plant.port(pose, rate)[1], "robot": robot_speed, "estimate": action.velocity}[source]
        force = action.force - action.gain * speed
        kept = plant.mass / (plant.mass + action.inertia)
        whole = (whole + plant.push(motion, force)) * kept
        ahead = whole - load - virtual
        if outside is not None:
            ahead = ahead - outside
        return whole, ahead[: plant.port_axes], virtual

    def wanted(self, moving: RigState, total: Axes) -> tuple[Axes, Axes]:
        """Return the command that is meant under a `total` load (N, N m), before the robot's limits, and the velocity that goes
        with it."""
        plant, action = self.plant, moving.action
        pose, rate = plant.pose(moving.motion), plant.rate(moving.motion)
        if self.compensator is None:
            return pose, rate
        acceleration = plant.acceleration(moving.motion, total)
        return pose + action.lead * rate + action.second_lead * acceleration, rate + action.lead * acceleration

    def stepped(self, moving: RigState, total: Axes, time: Scalar) -> RigState:
        """Return the virtual bodies after a step of digital dynamics that begins at `time` (s)."""
        assert self.period is not None
        return moving._replace(motion=self.plant.stepped(time, moving.motion, total, self.period, self.dynamics))

    def flowed(self, ages: Ages, moving: RigState, time: Scalar) -> RigState:
        """Return the virtual bodies after a tick of continuous dynamics in a contact that neither opens nor closes."""
        motion = moving.motion
        for part in range(2):
            motion = self.through(ages, moving, motion, part, time)
        return moving._replace(motion=motion)

    def just(self, ages: Ages, moving: RigState, time: Scalar) -> Axes:
        """Load of the delayed robot at an instant, before the command of that instant, as a sensor would sample it."""
        known = jax.lax.dynamic_index_in_dim(moving.past, ages.row, keepdims=False)
        load = self.plant.load(*ages.before.of(known), None, moving.late_contacts)
        return jnp.where(time - self.sensor.delay > -1e-9 * ages.tick, load, 0.0)

    def late_load(self, ages: Ages, moving: RigState, time: Scalar, part: int, node: int) -> Axes:
        """Load of the delayed robot at a node of a part of the tick that begins at `time` (s), its command given."""
        known = jax.lax.dynamic_index_in_dim(moving.past, jnp.maximum(ages.whole - part, 0), keepdims=False)
        start = time if part == 0 else time + ages.parts[0]
        load = self.plant.load(*ages.late.at(3 * part + node).of(known))
        return jnp.where(start - self.sensor.delay > -1e-9 * ages.tick, load, 0.0)

    def through(self, ages: Ages, moving: RigState, motion: State, part: int, time: Scalar) -> State:
        """Return continuous dynamics through a part of a tick, in which neither robot receives a command."""
        own = moving.past[0]

        def flow(share: float, there: State) -> Rate:
            node = int(2 * share)
            load = moving.load
            if self.schedule.continuous_force:
                load = self.late_load(ages, moving, time, part, node)
            speed = self.plant.port(*ages.own.at(3 * part + node).of(own))[1]
            return self.plant.flow(there, self.total(moving, speed, load, there)[0])

        there = rk4_step(flow, motion, ages.parts[part], flow(0.0, motion))
        return self.plant.settled(self.plant.retract(there))

"""The sampled loop, exactly: its map over one cycle, by matrix exponentials.

Between instants the loop is linear and constant. The measurement delay needs no approximation: the delayed force is that
of a copy of the robot driven by the same held commands, later. Instants that coincide happen in this order: force and
velocity are measured, the hold takes the model's position, the delayed copy receives its command, the dynamics step. So
what is measured at an instant, and what the hold takes of an acceleration, is what was there before any command of it.

Units: SI: s, m, N, N/m; multipliers dimensionless.
Source: SITS, eqs. 19 and 20; sampled systems by matrix exponentials, Van Loan 1978, IEEE Trans. Autom. Control
23:395.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.programs import over_rows
from dockdyn.stability.encoder_history import acceleration_weights
from dockdyn.stability.loop import Loop, robot_rates, weighted_sums
from dockdyn.stability.multirate import EDGE, Hyperperiod

Rows = Any  # (channels, n) or (order, channels, n): numbers of each channel as linear functions of the state
# what quantities are set to: rows of the state before it, or the places there (int) that they take
Jump = dict[str, Rows]


class Layout:
    """Where each quantity stands in the state of a loop: `rows[name]` are rows of the unit matrix."""

    def __init__(self, loop: Loop, hyperperiod: Hyperperiod):
        order = 0 if loop.robot is None else loop.robot.input.shape[0]
        ideal = int(loop.robot is None)
        each = self.channels = loop.plant.channels
        counts = {
            "recorded": int(loop.dynamics == "half-period"),  # command that the hold will take
            "recorded_velocity": ideal * int(loop.dynamics == "half-period"),
            "force": int(bool(hyperperiod.samples or hyperperiod.steps)),  # measured and held
            "impulse": int(hyperperiod.averages),  # N s, of the force since the last sample
            "last_speed": int(
                hyperperiod.averages and loop.tool_mass is not None
            ),  # of the delayed copy, at that sample
            "encoded": hyperperiod.encoded,  # positions of the robot at the steps, the newest first
            "speed": int(bool(hyperperiod.steps)),  # of the compensator, measured and held
            "delayed": order,  # the copy of the robot that the delayed force comes from
            "due": 1,  # its command
            "due_velocity": ideal,
            "robot": order if loop.velocity == "robot" or hyperperiod.encoded else 0,
            "command": 1,
            "command_velocity": ideal,
            "older": hyperperiod.commands - 1,  # commands, the newest first
            "older_velocities": ideal * (hyperperiod.commands - 1),
        }
        sizes = {"plant": loop.plant.size, "crept": loop.plant.creeps} | {
            name: each * count for name, count in counts.items()
        }
        starts = np.cumsum([0, *sizes.values()])
        self.at = {name: slice(start, start + size) for start, (name, size) in zip(starts, sizes.items(), strict=False)}
        self.size = int(starts[-1])
        # what stands behind only waits, unless the robot's own command is there
        self.active = self.size if loop.applies_after else self.at["older"].start

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """Rows of the unit matrix, by the quantity that they are."""
        unit = jnp.eye(self.size)
        return {name: unit[place] for name, place in self.at.items()}

    def row_of(self, name: str) -> Rows:
        """Return a quantity that every channel has once."""
        return self.rows[name]

    def rows_by_channel(self, name: str) -> Rows:
        """Return a quantity that every channel has several times, as states of a robot: (times, channels, n)."""
        return self.rows[name].reshape(-1, self.channels, self.size)

    def command_rows(self, velocities: bool = False) -> Float[Array, "commands channels n"]:
        """Return rows of the commands under way, the newest first."""
        newest, older = ("command_velocity", "older_velocities") if velocities else ("command", "older")
        return jnp.concatenate([self.rows_by_channel(newest), self.rows_by_channel(older)])

    def older_places(self, velocities: bool = False) -> Int[np.ndarray, "older"]:
        """Return where in the state the commands under way stand that grow older, all but the oldest."""
        newest, older = ("command_velocity", "older_velocities") if velocities else ("command", "older")
        places = [np.arange(self.at[name].start, self.at[name].stop) for name in (newest, older)]
        return np.concatenate(places)[: len(places[1])]

    def after_jump(
        self, moving: Float[Array, "n columns"], jump: Jump, on: Bool[Array, ""] | bool = True
    ) -> Float[Array, "n columns"]:
        """Return what has become of the states after a jump, which keeps all that it does not name."""
        after = moving
        for name, rows in jump.items():
            taken = moving[rows] if rows.ndim == 1 else rows.reshape(-1, self.size) @ moving
            after = after.at[self.at[name]].set(jnp.where(on, taken, moving[self.at[name]]))
        return after

    def after_flow(
        self, moving: Float[Array, "n columns"], grown: Float[Array, "active+1 active+1"]
    ) -> Float[Array, "n columns"]:
        """Return what has become of the states, and of a unit force in the last column, after a stretch of time, with the
        exponential of the rate over it; states after the `active` ones are held."""
        flowed = (grown[:-1, :-1] @ moving[: self.active]).at[:, -1].add(grown[:-1, -1])
        return moving.at[: self.active].set(flowed)


class Wiring:
    """What acts on what: rows of forces and velocities, the flow between instants, the jumps at them."""

    def __init__(self, loop: Loop, hyperperiod: Hyperperiod):
        self.loop, self.hyperperiod, self.lay = loop, hyperperiod, Layout(loop, hyperperiod)
        lay, robot, plant = self.lay, loop.robot, loop.plant
        self.plant = plant
        if robot is None:
            place, speed = lay.row_of("due"), lay.row_of("due_velocity")
            own_speed: Rows = lay.command_rows(velocities=True)[loop.applies_after]
        else:
            place, speed = (
                self.express_robot_places(lay.rows_by_channel("delayed")),
                self.express_robot_places(self.express_copy_rates("delayed")),
            )
            own_speed = (
                self.express_robot_places(self.express_copy_rates("robot")) if loop.velocity == "robot" else None
            )
        self.delayed_speed = speed
        self.delayed_place = place
        self.contact = plant.contact_forces(place, speed, lay.row_of("crept"))
        moved = lay.row_of("plant")
        self.place, self.speed = plant.places(moved), plant.speeds(moved)
        self.compensated = self.speed if loop.velocity == "model" else own_speed
        held = hyperperiod.samples or hyperperiod.steps
        force = lay.row_of("force") if held else self.contact
        virtual = loop.virtual_stiffness * self.place + loop.virtual_damping * self.speed
        compensated = lay.row_of("speed") if hyperperiod.steps else self.compensated
        self.total = force - virtual - loop.gain * plant.compensated_speeds(compensated)
        self.moving = plant.state_rates(moved, self.total)
        acceleration = plant.second_derivatives(self.moving)
        self.led = self.place + loop.lead * self.speed + loop.second_lead * acceleration  # the command that is meant
        self.led_velocity = self.speed + loop.lead * acceleration  # of a robot that follows at once

    def express_robot_places(self, states: Rows) -> Rows:
        """Return where robots with these states are."""
        assert self.loop.robot is not None
        return weighted_sums(self.loop.robot.output, states)

    def express_copy_rates(self, name: str) -> Float[Array, "order channels n"]:
        """Return the rate of a copy of the robot: the "delayed" one, or the "robot" itself."""
        assert self.loop.robot is not None
        command = self.lay.row_of("due") if name == "delayed" else self.lay.command_rows()[self.loop.applies_after]
        return robot_rates(self.loop.robot, self.lay.rows_by_channel(name), command)

    def express_force_sample(self) -> dict[str, Rows]:
        """Return a sample of the force, and what is remembered for the next one, as rows of the state."""
        loop, lay = self.loop, self.lay
        tool = loop.tool_mass
        if not self.hyperperiod.averages:
            force = self.contact
            if tool is not None:
                assert loop.robot is not None
                force = force - tool * self.express_robot_places(
                    weighted_sums(loop.robot.state, self.express_copy_rates("delayed"))
                )
            return {"force": force}
        rows = {"force": lay.row_of("impulse") / loop.sample_period(), "impulse": jnp.zeros_like(lay.row_of("impulse"))}
        if tool is not None:
            change = (self.delayed_speed - lay.row_of("last_speed")) / loop.sample_period()
            rows |= {"force": rows["force"] - tool * change, "last_speed": self.delayed_speed}
        return rows

    def express_compensated_force(self, force: Rows) -> dict[str, Rows]:
        """Return a sample of the force without the inertia that the encoders tell, and their positions."""
        loop, lay = self.loop, self.lay
        if loop.compensated_mass is None:
            return {"force": force}
        known = jnp.concatenate(
            [self.express_robot_places(lay.rows_by_channel("robot"))[None], lay.rows_by_channel("encoded")[:-1]]
        )
        weights = acceleration_weights(loop.delay, loop.steps_period(), self.hyperperiod.encoded)
        return {"force": force + loop.compensated_mass * weighted_sums(weights, known), "encoded": known}

    def assemble_flow(self) -> Float[Array, "active+1 active+1"]:
        """Return the rate of the active states; the last column is what a unit force (N) on the model adds."""
        lay = self.lay
        rate, push = jnp.zeros((lay.size, lay.size)), jnp.zeros(lay.size)
        if not self.hyperperiod.steps:
            rate = rate.at[lay.at["plant"]].set(self.moving)
            push = push.at[lay.at["plant"]].set(self.plant.push_rates())
        creeping = self.plant.creep_rates(lay.row_of("crept"), self.delayed_place)
        rate = rate.at[lay.at["crept"]].set(creeping)
        for name in ("delayed", "robot"):
            if len(lay.rows[name]):
                rate = rate.at[lay.at[name]].set(self.express_copy_rates(name).reshape(-1, lay.size))
        if self.hyperperiod.averages:
            rate = rate.at[lay.at["impulse"]].set(self.contact)
        active = slice(0, lay.active)
        whole = jnp.zeros((lay.active + 1, lay.active + 1))
        return whole.at[active, active].set(rate[active, active]).at[active, -1].set(push[active])

    def measure_at(self, at: Fraction) -> Jump:
        """Return the jump by which a force is measured at an instant of the cycle."""
        rows: Jump = {}
        stepping = at in self.hyperperiod.instants(self.hyperperiod.steps)
        if at in self.hyperperiod.instants(self.hyperperiod.samples) or (stepping and not self.hyperperiod.samples):
            rows |= self.express_force_sample()
        if stepping:
            rows |= self.express_compensated_force(rows.get("force", self.lay.row_of("force")))
            rows["speed"] = self.compensated
        return rows

    def renew_command(self) -> Jump:
        """Return the jump by which the hold renews the command."""
        lay, newest, velocity = self.lay, self.led, self.led_velocity
        if self.loop.dynamics == "half-period":
            newest, velocity = lay.row_of("recorded"), lay.row_of("recorded_velocity")
        rows = {"command": newest, "older": lay.older_places()}
        if self.loop.robot is None:
            rows |= {"command_velocity": velocity, "older_velocities": lay.older_places(velocities=True)}
        return rows

    def record_command(self) -> Jump:
        """Return the jump by which the command that is meant is kept, for the hold to take later."""
        rows = {"recorded": self.led}
        if self.loop.robot is None:
            rows["recorded_velocity"] = self.led_velocity
        return rows

    def release_command(self, age: Int[Array, ""]) -> Jump:
        """Return the jump by which the delayed copy receives the command that is `age` renewals old."""
        chosen = jax.nn.one_hot(age, self.hyperperiod.commands)
        rows = {"due": weighted_sums(chosen, self.lay.command_rows())}
        if self.loop.robot is None:
            rows["due_velocity"] = weighted_sums(chosen, self.lay.command_rows(velocities=True))
        return rows

    def step_dynamics(self) -> tuple[Jump, Float[Array, "n"]]:
        """Return one step of the digital dynamics, and what a unit force (N) adds to it."""
        lay, period = self.lay, self.loop.dynamics_period
        assert period is not None
        moved = self.plant.step_states(lay.row_of("plant"), self.total, period, self.loop.dynamics)
        unit = jnp.zeros((lay.channels, 1)).at[0].set(1.0)
        push = self.plant.step_states(jnp.zeros((self.plant.size, 1)), unit, period, self.loop.dynamics)
        return {"plant": moved}, push[:, 0] @ lay.row_of("plant")


class Cycle(NamedTuple):
    """One cycle of a loop on its own states, as they are just before the instants at its start."""

    monodromy: Float[Array, "n n"]
    period: Float[Array, ""]  # s
    response: Float[Array, "n"]  # state after a cycle from rest under a unit force (N) on the model
    contact: Float[Array, "n"]  # delayed contact force (N) of the first channel as a function of the state
    position: Float[Array, "n"]  # of the model (m) in it, likewise


def cycle_map(loop: Loop, hyperperiod: Hyperperiod) -> Cycle:
    """Return the exact map over one cycle; can be traced and batched, `hyperperiod` is static."""
    wiring = Wiring(loop, hyperperiod)
    lay, hold = wiring.lay, loop.hold
    assert hold is not None
    age = _age_of(loop, hyperperiod) + loop.applies_after * hold
    waiting = jnp.floor(age / hold + EDGE)  # renewals from a command to its release
    phase = age - hold * waiting
    with_hold = phase < EDGE * hold
    release, take = wiring.release_command(waiting.astype(int)), wiring.renew_command()
    loose = [Loose(phase, release, ~with_hold)]
    if loop.dynamics == "half-period":
        assert loop.dynamics_period is not None
        late = hold - loop.dynamics_period / 2
        late = jnp.where(jnp.abs(late - phase) < EDGE * hold, phase, late)
        loose.insert(0, Loose(late, wiring.record_command(), jnp.asarray(True)))

    holding, stepping = hyperperiod.instants(hyperperiod.holds), hyperperiod.instants(hyperperiod.steps)
    marks = sorted(holding | stepping | hyperperiod.instants(hyperperiod.samples))
    ends = [*marks[1:], Fraction(hyperperiod.holds)]
    ways = [
        propagate_between(loose, float(start - int(start)) * hold, float(end - int(start)) * hold, hold)
        for start, end in zip(marks, ends, strict=True)
    ]
    # one after another in one copy of the program
    rate, durations = wiring.assemble_flow(), jnp.stack([way.durations for way in ways])
    grown = jax.lax.map(lambda duration: jax.scipy.linalg.expm(rate * duration), durations.ravel())
    grown = grown.reshape(*durations.shape, *rate.shape)

    moving = jnp.eye(lay.size, lay.size + 1)  # what has become of the states and, in the last column, of a unit force
    for place, (start, way) in enumerate(zip(marks, ways, strict=True)):
        moving = lay.after_jump(moving, wiring.measure_at(start))
        if start in holding:
            moving = lay.after_jump(lay.after_jump(moving, take), release, with_hold)
        if start in stepping:
            step, push = wiring.step_dynamics()
            moving = lay.after_jump(moving, step).at[:, -1].add(push)
        for index in range(len(loose)):
            moving = lay.after_flow(moving, grown[place, index])
            for which, one in enumerate(loose):
                moving = lay.after_jump(moving, one.jump, way.on[index, which])
        moving = lay.after_flow(moving, grown[place, -1])
    robot, kept = _robot_by_own_states(loop, lay, hyperperiod)

    def by_own_states(rows: Float[Array, "*rows n"]) -> Float[Array, "*rows own"]:
        return rows[..., kept] + rows[..., lay.at["robot"]] @ robot

    monodromy, load = by_own_states(moving[kept, :-1]), moving[kept, -1]
    seen = by_own_states(wiring.contact[0]), by_own_states(wiring.place[0])
    return Cycle(monodromy, hold * hyperperiod.holds, load, *seen)


def _age_of(loop: Loop, hyperperiod: Hyperperiod) -> Float[Array, ""]:
    """Return the delay (s) of the newest force in a sample: the middle of a mean is half its window older."""
    return jnp.maximum(loop.delay - loop.sample_period() / 2, 0.0) if hyperperiod.averages else loop.delay


class Loose(NamedTuple):
    """A jump at an instant that no grid knows, once in every hold period, as they coincide."""

    time: Float[Array, ""]  # s after the renewal
    jump: Jump
    on: Bool[Array, ""]  # whether it is one by itself


class Way(NamedTuple):
    """From one mark to the next: stretches of time with a jump, or none, after each but the last."""

    durations: Float[Array, "jumps+1"]  # s
    on: Bool[Array, "jumps jumps"]  # which one


def propagate_between(
    loose: list[Loose],
    low: Float[Array, ""],
    high: Float[Array, ""],
    hold: Float[Array, ""],
) -> Way:
    """Return the way from `low` to `high` (s after the last renewal), through the loose instants on the way in their order."""
    times, on = jnp.stack([one.time for one in loose]), jnp.stack([one.on for one in loose])
    order = jnp.argsort(times, stable=True)
    times, on = times[order], on[order]
    here = (times >= low - EDGE * hold) & (times < high - EDGE * hold)
    # not by clip, whose derivative is a half at the ends
    within = jnp.where(here, times, jnp.where(times < low, low, high))
    places = jnp.concatenate([low[None], within, high[None]])
    return Way(jnp.diff(places), (on & here)[:, None] & (order[:, None] == jnp.arange(len(loose))))


def _robot_by_own_states(
    loop: Loop, lay: Layout, hyperperiod: Hyperperiod
) -> tuple[Float[Array, "robot own"], Int[np.ndarray, "own"]]:
    """Return the robot's states by the loop's own ones, and which those are: the robot follows from its delayed copy and
    the commands."""
    robot, hold = loop.robot, loop.hold
    count = len(lay.rows_by_channel("robot"))
    kept = np.delete(np.arange(lay.size), lay.at["robot"])
    if robot is None or hold is None or not count:
        return jnp.zeros((0, len(kept))), kept
    whole = jnp.zeros((count + 1, count + 1)).at[:count, :count].set(robot.state).at[:count, count].set(robot.input)

    def motion_over(age: Array) -> tuple[Array, Array]:
        """Return free motion over, and response to a unit command held for, `age` seconds."""
        grown = jax.scipy.linalg.expm(whole * age)
        return grown[:count, :count], grown[:count, count]

    delay = _age_of(loop, hyperperiod)
    commands = lay.command_rows()[loop.applies_after :]
    delayed = lay.rows_by_channel("delayed")
    begun = jnp.minimum(delay, hold * jnp.arange(len(commands) + 1))
    answers = over_rows(lambda age: motion_over(age)[1], begun)
    rows = weighted_sums(motion_over(delay)[0], delayed) + weighted_sums((answers[1:] - answers[:-1]).T, commands)
    return rows.reshape(-1, lay.size)[:, kept], kept

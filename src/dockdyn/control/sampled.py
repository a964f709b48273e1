"""Control by a computer: at each sample a law is asked, and what it commands is held until the next.

Units: s, N, N m.
Source: sample and hold, Franklin, Powell and Workman 1998, Digital Control of Dynamic Systems, chapter 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dockdyn.control.actuators import Actuation, Actuators, idle_actuation, join_corners
from dockdyn.control.controller import Controller, Measured, Three, as_floats, in_body_axes
from dockdyn.control.plant import ArmLaw, ArmPlant, Row
from dockdyn.control.reference import Reference
from dockdyn.control.thrusters import Pulses, Thrusters
from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.integrate.model import choose_tree
from dockdyn.trees import Module, field, map_leaves

ACTS = 0.5  # of what is remembered of whether control acts, 0 or 1: who integrates it may move it a little


class Wanted(NamedTuple):
    """What a law asks of actuators, that on the body in the body's axes."""

    motors: Row  # N m or N, by joint with a motor
    force: Three  # N
    torque: Three  # N m, of wheel and thrusters


class Held(NamedTuple):
    """What sampled control remembers between two samples."""

    law: PyTree  # what its law remembers
    samples: Float[Array, ""]  # taken so far
    wanted: Wanted  # since the last sample
    pulses: Pulses | tuple[()]
    active: Float[Array, ""]  # 1 since a sample at which control acts; 0 since one at which it idles


class SampledControl(Module):
    """A law of a free body, or of a body with an arm, that is asked once a period, and what it acts through.

    What the law remembers advances by the period times the rate that it says, as an integral in a computer does. The force
    is held in the body's axes, as thrusters are. Motors of joints and the wheel follow at once; with a table of `thrusters`
    these fire pulses for the rest of the torque and the force, else they give all of it within their limits.
    """

    law: Controller | ArmLaw
    actuators: Actuators
    reference: Reference  # from which the error of the attitude is counted
    period: Float[Array, ""]
    thrusters: Thrusters | None = None
    told: bool = field(static=True, default=False)  # whether the caller takes the samples, by `take`

    def init(self, seen: Measured | ArmPlant) -> Held:
        """Return what it remembers before its first sample: nothing is commanded yet."""
        pulses = () if self.thrusters is None else Pulses.idle(self.thrusters.forces.shape[0])
        law = ()
        if isinstance(self.law, Controller):
            assert isinstance(seen, Measured)
            law = as_floats(self.law.init(seen))
        motors = jnp.zeros_like(self.actuators.motors)
        return Held(law, jnp.zeros(()), Wanted(motors, jnp.zeros(3), jnp.zeros(3)), pulses, jnp.ones(()))

    def act(self, memory: Held, seen: Measured | ArmPlant) -> tuple[Held, Actuation]:
        """Return the rate of what is remembered, and what the actuators give of what is held; nothing where control idles, and
        the wheel keeps its spin."""
        rate, (motors, force, torque) = map_leaves(jnp.zeros_like, memory), memory.wanted
        active = memory.active > ACTS
        if self.thrusters is None or not isinstance(memory.pulses, Pulses):
            given = self.actuators.give(force, torque, seen.turning(), seen.wheel, seen.used)
            driven, corners = self.actuators.drive(motors)
            given = given._replace(motors=driven, corners=join_corners([corners, given.corners]))
            return rate, choose_tree(active, given, idle_actuation(given, seen.turning(), seen.wheel))
        turned = self.actuators.turn(torque, seen.turning(), seen.wheel)
        running = rate.pulses._replace(on_time=memory.pulses.firing)
        given = self.thrusters.give(memory.pulses, *turned)
        idle = idle_actuation(given, seen.turning(), seen.wheel)
        wheel, corners = choose_tree(active, turned, (idle.wheel, idle.corners))
        return rate._replace(pulses=running), given._replace(wheel=wheel, corners=corners)

    def following(self, law: Controller | ArmLaw) -> SampledControl:
        """Return the control that asks this law at its samples, of the memory that its own has."""
        return replace(self, law=law, told=False)

    def next_tick(self, memory: Held) -> Float[Array, ""]:
        """Return when the next sample is taken, or a pulse ends before it (s)."""
        sample = memory.samples * self.period
        return jnp.minimum(sample, memory.pulses.next_end()) if isinstance(memory.pulses, Pulses) else sample

    def tick(
        self, t: Float[Array, ""], memory: Held, seen: Measured | ArmPlant, active: Bool[Array, ""] | None = None
    ) -> Held:
        """Return what is remembered after the clock has acted at `t` (s); where control is not `active` no law is asked."""

        def take_sample() -> Held:
            return memory if self.told else self.take(t, memory, seen, active)

        if not isinstance(memory.pulses, Pulses):
            return take_sample()
        ended = memory._replace(pulses=memory.pulses.without_ended(t))
        return jax.lax.cond(t >= memory.samples * self.period, take_sample, lambda: ended)

    def take(
        self, t: Float[Array, ""], memory: Held, seen: Measured | ArmPlant, active: Bool[Array, ""] | None = None
    ) -> Held:
        """Return what is remembered after a sample at `t` (s); of control that is not `active` it commands nothing."""
        rate, wanted = self._ask_law(memory.law, seen)
        acts = jnp.ones(())
        if active is not None:
            rate, wanted = map_leaves(lambda leaf: jnp.where(active, leaf, 0.0), (rate, wanted))
            acts = jnp.where(active, 1.0, 0.0)
        law = map_leaves(lambda a, b: a + self.period * b, memory.law, rate)
        samples, pulses = memory.samples + 1, memory.pulses
        if self.thrusters is not None and isinstance(pulses, Pulses):
            wheel, _ = self.actuators.turn(wanted.torque, seen.turning(), seen.wheel)
            rest = jnp.where(acts > 0, wanted.torque - wheel, 0.0)
            pulses = self.thrusters.fire(t, samples * self.period, wanted.force, rest, pulses)
        return Held(law, samples, wanted, pulses, acts)

    def _ask_law(self, memory: PyTree, seen: Measured | ArmPlant) -> tuple[PyTree, Wanted]:
        """Return the rate of what the law remembers, and what it wants; of an arm's law, which remembers nothing, what
        its actuators can give."""
        if isinstance(self.law, Controller):
            assert isinstance(seen, Measured)
            rate, command = self.law.act(memory, seen)
            return as_floats(rate), Wanted(jnp.zeros(0), in_body_axes(command.force, seen.chaser), command.torque)
        assert not isinstance(seen, Measured)
        given = self.law.act(seen, self.actuators)
        return (), Wanted(given.motors, given.thrust, given.wheel + given.jets)

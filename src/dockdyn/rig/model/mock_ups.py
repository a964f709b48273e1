"""The contacts of a rig's mock-ups that remember what was: along the way of the robot, from what they remembered at its start.

Units: SI: times s, N, N m, J.
Source: own construction on the located integration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dockdyn.contact.contact_memory import Memories
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State, over_rows
from dockdyn.rig.model.delayed_reads import shift_rows
from dockdyn.rig.model.stretch import (
    Account,
    PortAccount,
    RobotPath,
    any_contact_presses,
    corners_of,
    guards_of,
    modes_of,
    next_modes,
    port_powers,
    solve_stretch,
    turning_of,
)
from dockdyn.trees import map_leaves

if TYPE_CHECKING:
    from dockdyn.rig.model.delayed_reads import Ages
    from dockdyn.rig.model.rig import Rig, RigState


class MockUps(Model):
    """The contacts of the mock-ups at a robot, which goes its way; what they do is judged by what it would move."""

    rig: Rig
    path: RobotPath
    memories: Memories  # at the start
    energy: Scalar  # J, of the motion beside which errors are judged
    delay: None

    def initial(self) -> State:
        """Return the contacts at the start, each as the robot's place there says."""
        now = jnp.zeros(())
        port = PortAccount.begun(self.rig.plant, self.memories)
        modes = modes_of(self.rig.plant.touching(*self.path.at(now), None, self.memories))
        begun = State((), (), modes, Account(port, (), (), now))
        return self.settled(begun) if self.rig.robot.jumps else begun

    def flow(self, t: Scalar, x: State, delayed: PortAccount) -> Rate:
        rates = self.rig.plant.memory_rates(*self.path.at(t), x.mode, x.memory.port.memories)
        return Rate((), (), Account(delayed._replace(memories=rates), (), (), jnp.ones(())))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        moves, port = self.path.at(t), x.memory.port
        touching = self.rig.plant.touching(*moves, x.mode, port.memories)
        guards = guards_of(touching, x.mode)
        powers = port_powers(self.rig, moves, x.mode, port)
        return Outputs(powers, tuple(guards), turning_of(touching), corners_of(touching, x.mode))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        touching = self.rig.plant.touching(*self.path.at(t), x.mode, x.memory.port.memories)
        return replace(x, mode=next_modes(touching, x.mode, iter(fired)))

    @property
    def driven(self) -> bool:
        return True

    def emitting(self, x: State) -> Bool[Array, ""]:
        return any_contact_presses(x.mode)

    def relative_size(self, x: State, change: Rate) -> Scalar:
        return change.memory.port.size(self.rig.plant, self.energy)

    def settled(self, x: State) -> State:
        port = x.memory.port
        kept = self.rig.plant.renewed(*self.path.at(x.memory.clock), x.mode, port.memories)
        return replace(x, memory=x.memory._replace(port=port._replace(memories=kept)))

    def within_step(self, start: State, x: State) -> State:
        port = x.memory.port
        kept = self.rig.plant.memories_within(start.memory.port.memories, port.memories)
        return replace(x, memory=x.memory._replace(port=port._replace(memories=kept)))


def shift_past(moving: RigState, known: Float[Array, "axes width"]) -> RigState:
    """Return the rig where a tick begins, once so much is `known` of its robot."""
    contacts = map_leaves(shift_rows, moving.contacts, moving.past_contacts)
    return moving._replace(past=shift_rows(known, moving.past), past_contacts=contacts)


def memories_at(rig: Rig, ages: Ages, moving: RigState, rows: Array, offsets: Array) -> Memories:
    """Return what contacts remember at nodes, so long (s) after the starts of ticks of the past; nothing of those that do
    not."""
    if not rig.plant.remembers:
        return ()

    def one(row: Array, offset: Scalar) -> Memories:
        known, kept = map_leaves(lambda rows: rows[row], (moving.past, moving.past_contacts))
        return carry_contacts(rig, ages, known, kept, offset).memories

    return over_rows(one, rows, offsets)


def carry_contacts(
    rig: Rig, ages: Ages, known: Float[Array, "axes width"], memories: Memories, length: Scalar
) -> PortAccount:
    """Return what the contacts of the mock-ups have done, and remember, `length` (s) after a tick's start, of which `known` is
    what is of the robot and `memories` is what they remembered.

    Where that cannot be solved, nothing in it is a number.
    """
    assert ages.path is not None
    plant, path, now = rig.plant, RobotPath.of(ages.path, known, ages.tick, ages.tick), jnp.zeros(())
    moves = path.at(now)
    energy = plant.first_energy() + plant.mass * jnp.sum(plant.port(*moves)[1] ** 2) / 2
    energy = jnp.maximum(energy + plant.stored_energy(*moves, memories), 1e-300)
    model = MockUps(rig=rig, path=path, memories=memories, energy=energy, delay=None)
    return solve_stretch(model, model.initial(), now, length).memory.port

"""Groups of contacts between two mock-ups, of which a robot carries one: their load, and when they press.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: resultant of a system of forces.
"""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.contact.contact_modes import APART, GATED
from dockdyn.contact.group import ContactGroup, GroupState, Wrench
from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.rig.model.plant import Modes, Touching
from dockdyn.trees import Module


class GroupGate(Module):
    """When a group of contacts presses."""

    group: ContactGroup

    def first_mode(self, touch: GroupState) -> Int[Array, ""]:
        return self.group.mode_of(touch)

    def guards(self, mode: Int[Array, ""], touch: GroupState) -> tuple[Scalar, Scalar]:
        across, *ends = self.group.guards(mode, touch)
        return across, ends[0] if ends else jnp.asarray(-1.0)

    def next_mode(self, mode: Int[Array, ""], fired: tuple[Flag, Flag], onset: GroupState) -> Int[Array, ""]:
        return self.group.next_mode(mode, fired)


def load_of(
    groups: Sequence[ContactGroup], carried: int, places: tuple[Placed, Placed], modes: Modes | None
) -> Float[Array, "6"]:
    """Return the force (N) and moment (N m) about its centre of mass on the mock-up that is carried.

    Args:
        groups: the contacts, of bodies by number.
        carried: the number of the body whose mock-up is carried.
        places: that mock-up and the one that stands, in the laboratory.
        modes: of each contact; None: open or closed as the places say.
    """
    whole, every = Wrench.zero(), (jnp.asarray(GATED),) * len(groups) if modes is None else modes
    for group, mode in zip(groups, every, strict=True):
        own, other = _sides_of_group(group, carried, places)
        wrench = group.state(mode, own, other).wrench
        lever = group.reference(own) - places[0].pose.position
        about = Wrench(wrench.force, wrench.moment + lever.cross(wrench.force))
        whole = whole.plus(about if own is places[0] else Wrench(-about.force, -about.moment))
    return jnp.concatenate([whole.force.array(), whole.moment.array()])


def touching_of(groups: Sequence[ContactGroup], carried: int, places: tuple[Placed, Placed]) -> Touching:
    """Return the contacts, and how they touch; arguments as of `load_of`."""
    apart = jnp.asarray(APART)
    return tuple((GroupGate(group), group.state(apart, *_sides_of_group(group, carried, places))) for group in groups)


def _sides_of_group(group: ContactGroup, carried: int, places: tuple[Placed, Placed]) -> tuple[Placed, Placed]:
    """Return the first body of a group and its second."""
    return places if group.first == carried else places[::-1]

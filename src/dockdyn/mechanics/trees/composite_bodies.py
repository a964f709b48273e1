"""Open trees of rigid and flexible links on a free, planar or fixed base, by the natural orthogonal complement.

Twists of all links follow from the independent velocities v through t = N(q) v, so M = Nᵀ M̄ N and the bias is
Nᵀ (M̄ Ṅ v + c̄) (Cyril et al., eq. 1 and their reference 6). Every column of N is the screw of one velocity, which moves all
links beyond it alike once it is written in base axes about the base's origin. So N is never formed: twists are sums of
screws along the path to a link, and M and the bias take the inertia and loads of all that lies beyond (composite
bodies). All links are worked at once; only their poses follow one another, in as many steps as the depth has binary digits.

A twist is (v, ω): velocity of the frame's origin (m/s) and angular velocity (rad/s), in link axes where nothing is said.

Units: SI throughout; modal coordinates in m or rad.
Source: as named above; composite bodies, Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.link_inertia import Inertia, link_inertia, wrench_seen
from dockdyn.mechanics.trees.screws import (
    applied,
    bracket,
    chained,
    cross,
    entered,
    exponentials,
    left_jacobian,
    product,
    shifted,
    transposed,
)
from dockdyn.mechanics.vector import Vector

Row = Float[Array, "n"]
BASES = {"free": 6, "planar": 3, "fixed": 0}
PLANAR = np.eye(6)[:, [0, 1, 5]]  # x, y and turning about z
JOINTS = {"revolute": 1, "prismatic": 1, "spherical": 3, "locked": 0}


class Configuration(eqx.Module):
    """Where a tree is."""

    position: Float[Array, "3"]  # m, of the base frame, inertial
    attitude: Float[Array, "4"]  # of the base, body → inertial
    joints: Float[Array, "joints"]  # rad or m, revolute and prismatic ones in the order of the links
    balls: Float[Array, "balls 4"]  # quaternions of spherical joints
    modes: Float[Array, "modes"]  # of flexible links, in the order of the links


class Links(NamedTuple):
    """Numbers of all links, stacked; modal axes are padded with zeros to the largest number of modes."""

    inertia: Float[Array, "links 6 6"]  # of what is rigid, about the link frame, link axes, for twists (v, ω)
    place: Float[Array, "links slices"]  # m, along x; slices of flexible links
    slice_mass: Float[Array, "links slices"]  # kg; zero for padding
    slice_polar: Float[Array, "links slices"]  # kg m², about x; of links that twist
    shift: Float[Array, "links slices 3 modes"]
    turn: Float[Array, "links slices 3 modes"]
    shortening: Float[Array, "links slices modes modes"]
    tip_shift: Float[Array, "links 3 modes"]  # of a flexible link's end
    mount: Float[Array, "links 3"]  # m: the joint on the parent, from where it is attached, parent axes
    mount_turn: Float[Array, "links 3 3"]  # joint axes → axes of the parent's attachment
    axis: Float[Array, "links 3"]  # of the joint
    attach_place: Float[Array, "links"]  # m, along the parent's x
    attach_shift: Float[Array, "links 3 modes"]  # of the parent's modes where the link is attached to it
    attach_turn: Float[Array, "links 3 modes"]
    attach_shortening: Float[Array, "links modes modes"]
    stiffness: Float[Array, "links modes modes"]
    damping: Float[Array, "links modes modes"]


class Layout(NamedTuple):
    """What is static about a tree, by link; hashable."""

    base: str
    names: tuple[str, ...]
    coordinates: tuple[str, ...]  # of the joints, one a link
    parents: tuple[int, ...]  # −1 for the base
    joints: tuple[str, ...]
    modes: tuple[int, ...]
    mode_names: tuple[tuple[str, ...], ...]
    seated: tuple[bool, ...]  # whether the joint sits along the parent's beam, not on its frame

    @property
    def width(self) -> int:
        """Modes of the link that has most."""
        return max(self.modes)

    @property
    def twisting(self) -> bool:
        """Whether a link has modes that twist."""
        return any(name.startswith("twist") for names in self.mode_names for name in names)

    def columns(self) -> tuple[list[list[int]], list[list[int]], int]:
        """Velocity columns of each link's joint and modes, and their number; the base's come first."""
        at = BASES[self.base]
        joints, modes = [], []
        for joint, parent in zip(self.joints, self.parents, strict=True):
            size = 0 if parent < 0 else JOINTS[joint]
            joints.append(list(range(at, at + size)))
            at += size
        for count in self.modes:
            modes.append(list(range(at, at + count)))
            at += count
        return joints, modes, at


class Index(NamedTuple):
    """Where things of a layout are, in NumPy; −1 where there is nothing."""

    path: np.ndarray  # links × links: 1 where the second lies on the way from the base to the first, itself included
    moved: (
        np.ndarray
    )  # links × slots: velocity columns of a link's joint, then of its parent's modes where it sits on them
    modal: np.ndarray  # links × width: velocity columns of a link's modes
    joint_slots: int
    depth: int

    def screws(self) -> tuple[Int[np.ndarray, "screws"], Int[np.ndarray, "screws"], Int[np.ndarray, "screws"]]:
        """Link, slot and velocity column of every screw but those of the base."""
        link, slot = np.nonzero(self.moved >= 0)
        return link, slot, self.moved[link, slot]


@lru_cache
def _index_of(layout: Layout) -> Index:
    """Where each velocity of a tree stands, and which links it moves."""
    columns, modal, _ = layout.columns()
    size, width = len(layout.names), layout.width
    path = np.eye(size)
    for link, parent in enumerate(layout.parents):
        if parent >= 0:
            path[link] += path[parent]
    joint_slots = max(1, *map(len, columns))
    moved, own = np.full((size, joint_slots + width), -1), np.full((size, width), -1)
    for link, parent in enumerate(layout.parents):
        moved[link, : len(columns[link])] = columns[link]
        own[link, : len(modal[link])] = modal[link]
        if parent >= 0 and layout.seated[link]:
            moved[link, joint_slots : joint_slots + len(modal[parent])] = modal[parent]
    return Index(path, moved, own, joint_slots, int(path.sum(1).max()) - 1)


def _picked(values: Float[Array, "n *shape"], at: Int[np.ndarray, "*places"]) -> Float[Array, "*places *shape"]:
    """values[at], zero where `at` is −1."""
    return jnp.where(at >= 0, values[np.maximum(at, 0)], 0.0) if values.shape[0] else jnp.zeros(at.shape)


class Local(NamedTuple):
    """Links against their parents, in the parents' frames; the base is left out."""

    rotation: Float[Array, "others 3 3"]
    arm: Float[Array, "others 3"]  # m
    screws: Float[Array, "others slots 6"]
    changing: Float[Array, "others 6"]  # rate of the twist against the parent at constant rates, the parent at rest


class Seat(NamedTuple):
    """Where joints sit on their bent parents, in the parents' frames."""

    rotation: Float[Array, "others 3 3"]
    position: Float[Array, "others 3"]  # m
    screws: Float[Array, "others width 6"]  # of the parents' modes
    twist: Float[Array, "others 6"]
    changing: Float[Array, "others 6"]  # its rate at constant modal rates

    @staticmethod
    def of(links: Links, eta: Float[Array, "others width"], rates: Float[Array, "others width"]) -> Seat:
        """From the stacked numbers of links and the modal coordinates of their parents."""
        turn, turning = applied(links.attach_turn, eta), applied(links.attach_turn, rates)
        shortened = applied(links.attach_shortening, eta)
        place = applied(links.attach_shift, eta).at[:, 0].add(links.attach_place - 0.5 * (eta * shortened).sum(-1))
        shift = links.attach_shift.at[:, 0].add(-shortened)
        bend = exponentials(turn)
        spins = left_jacobian(turn[:, None], transposed(links.attach_turn))
        screws = jnp.concatenate([transposed(shift) + cross(place[:, None], spins), spins], -1)
        twist = (screws * rates[:, :, None]).sum(1)
        moving, spin = applied(shift, rates), twist[:, 3:]
        curving = -(rates * applied(links.attach_shortening, rates)).sum(-1)
        _, spinning = jax.jvp(lambda turn: left_jacobian(turn, turning), (turn,), (turning,))
        drift = (cross(moving, spin) + cross(place, spinning)).at[:, 0].add(curving)
        return Seat(
            product(bend, links.mount_turn),
            place + applied(bend, links.mount),
            screws,
            twist,
            jnp.concatenate([drift, spinning], -1),
        )


class Motion(NamedTuple):
    """All links of a tree at an instant."""

    position: Float[Array, "links 3"]  # m, inertial
    rotation: Float[Array, "links 3 3"]  # link → inertial
    twist: Float[Array, "links 6"]
    bias: Float[Array, "links 6"]  # Ṅ v, rate of the twist at constant v
    screws: Float[Array, "screws 6"]  # those of the base, then in the order of `Index.screws`; base axes and origin
    turn: Float[Array, "links 3 3"]  # link → base axes
    place: Float[Array, "links 3"]  # m, base axes and origin


class Tree(eqx.Module):
    """Links joined to a tree. Velocities v: base twist in base axes (planar: x, y, about z), joints, modes."""

    links: Links
    joint_stiffness: Row  # N m/rad or N/m, one a velocity, zero but for joints
    joint_damping: Row
    joint_rest: Float[Array, "joints"]  # rad or m
    layout: Layout = eqx.field(static=True)

    def names(self) -> list[str]:
        """Names of the velocities."""
        base = {"free": ["x", "y", "z", "roll", "pitch", "yaw"], "planar": ["x", "y", "yaw"], "fixed": []}
        found = [f"base.{name}" for name in base[self.layout.base]]
        for name, joint, parent in zip(self.layout.coordinates, self.layout.joints, self.layout.parents, strict=True):
            size = 0 if parent < 0 else JOINTS[joint]
            found += [name] if size == 1 else [f"{name}.{axis}" for axis in "xyz"[:size]]
        for name, modes in zip(self.layout.names, self.layout.mode_names, strict=True):
            found += [f"{name}.{mode}" for mode in modes]
        return found

    def modal_coordinates(self, q: Configuration) -> Float[Array, "links width"]:
        """Modal coordinates by link, padded with zeros."""
        modal, first = _index_of(self.layout).modal, self.first_mode()
        return _picked(q.modes, np.where(modal >= 0, modal - first, -1))

    def first_mode(self) -> int:
        """Velocity column of the first mode; they come last."""
        return self.layout.columns()[2] - sum(self.layout.modes)

    def joint_columns(self) -> list[int]:
        """Velocity columns of the joints with one coordinate, in the order of `Configuration.joints`."""
        columns, _, _ = self.layout.columns()
        pairs = zip(columns, self.layout.joints, strict=True)
        return [own[0] for own, joint in pairs if len(own) == 1 and joint != "spherical"]

    @jax.jit
    def motion(self, q: Configuration, v: Row) -> Motion:
        """Poses, twists and their rates at constant velocities, of all links."""
        index, parents = _index_of(self.layout), np.array(self.layout.parents)[1:]
        local = self.local(q, v)
        rotation, position = chained(np.array(self.layout.parents), index.depth, local.rotation, local.arm)
        carry = (rotation[parents], position[parents])
        screws = shifted(*carry, local.screws)
        relative = (screws * _picked(v, index.moved[1:])[..., None]).sum(1)
        beyond = jnp.asarray(index.path[:, 1:])
        base = _base_subspace(self.layout.base)
        twist = base @ v[: base.shape[1]] + beyond @ relative
        changing = bracket(twist[parents], relative) + shifted(*carry, local.changing[:, None])[:, 0]
        link, slot, _ = index.screws()
        attitude = Quaternion.of(q.attitude).matrix().array()
        return Motion(
            q.position + position @ attitude.T,
            product(attitude[None], rotation),
            entered(rotation, position, twist),
            entered(rotation, position, beyond @ changing),
            jnp.concatenate([base.T, screws[link - 1, slot]]),
            rotation,
            position,
        )

    def local(self, q: Configuration, v: Row) -> Local:
        """Every link but the base against its parent."""
        index, layout = _index_of(self.layout), self.layout
        parents, links = np.array(layout.parents)[1:], jax.tree.map(lambda a: a[1:], self.links)
        kinds = np.array(layout.joints[1:], dtype=object)
        scalar = np.isin(kinds, ("revolute", "prismatic"))
        value = _picked(q.joints, np.where(scalar, np.cumsum(scalar) - 1, -1))
        sliding, turning = (kinds == "prismatic") * 1.0, (kinds == "revolute") * 1.0
        turn = exponentials(links.axis * (value * turning)[:, None])
        ball = kinds == "spherical"
        if ball.any():
            balls = jax.vmap(lambda b: Quaternion.of(b).matrix().array())(q.balls)
            turn = turn.at[np.flatnonzero(ball)].set(balls)
        slots = index.joint_slots
        rates = _picked(v, index.moved[1:])
        eta, modal = self.modal_coordinates(q)[parents], _picked(v, index.modal)[parents]
        seat = Seat.of(links, eta, modal)
        along = applied(seat.rotation, links.axis)
        arm = seat.position + along * (sliding * value)[:, None]
        rotation = product(seat.rotation, turn)
        # a hinge turns about its axis, a ball about those of its link
        spins = jnp.zeros((len(kinds), slots, 3)).at[:, 0].set(along * turning[:, None])
        if ball.any():
            spins = jnp.where(ball[:, None, None], jnp.swapaxes(rotation, 1, 2), spins)
        slides = jnp.zeros_like(spins).at[:, 0].set(along * sliding[:, None])
        own = jnp.concatenate([cross(arm[:, None], spins) + slides, spins], -1)
        joint = (own * rates[:, :slots, None]).sum(1)
        return Local(rotation, arm, jnp.concatenate([own, seat.screws], 1), seat.changing + bracket(seat.twist, joint))

    @jax.jit
    def dynamics(self, q: Configuration, v: Row) -> tuple[Float[Array, "n n"], Row, Motion]:
        """Mass matrix M, bias h and motion: M v̇ + h = generalised forces; h counts springs and dampers inside."""
        index, first = _index_of(self.layout), self.first_mode()
        motion = self.motion(q, v)
        inertia = [Inertia.of(one) for one in self.links.inertia]
        loads = [one.load(*given) for one, *given in zip(inertia, motion.twist, motion.bias, strict=True)]
        bent = np.flatnonzero(index.modal.max(1, initial=-1) >= 0)
        if len(bent):
            links = jax.tree.map(lambda a: a[bent], self.links)
            eta, rates = self.modal_coordinates(q)[bent], _picked(v, index.modal)[bent]
            own = link_inertia(links, motion.twist[bent], motion.bias[bent], eta, rates, self.layout.twisting)
            for at, link in enumerate(bent):
                inertia[link] = inertia[link].plus(jax.tree.map(lambda part, at=at: part[at], own.inertia))
                loads[link] = loads[link] + own.load[at]
        frames = list(zip(motion.turn, motion.place, strict=True))
        composite = self.carried([one.seen(*frame) for one, frame in zip(inertia, frames, strict=True)], Inertia.plus)
        load = self.carried([wrench_seen(*frame, one) for one, frame in zip(loads, frames, strict=True)], jnp.add)

        owner, _ = self.owners()
        reached = index.path[np.ix_(owner, owner)] > 0  # the second screw moves the first one's link
        screws = motion.screws
        work = jnp.stack([screws @ composite[link].momentum(one) for link, one in zip(owner, screws, strict=True)])
        mass = self.by_columns(self.by_columns(jnp.where(reached, work, jnp.where(reached.T, work.T, 0.0))).T)
        h = self.by_columns(jnp.stack([one @ load[link] for link, one in zip(owner, screws, strict=True)]))
        if len(bent):
            at, mode = np.nonzero(index.modal[bent] >= 0)
            push = [wrench_seen(*frames[bent[link]], own.coupling[link, k]) for link, k in zip(at, mode, strict=True)]
            moved = index.path[np.ix_(bent[at], owner)]
            coupling = self.by_columns(jnp.stack([screws @ one for one in push]).T * moved.T)
            alike = at[:, None] == at[None, :]
            inner = jnp.where(alike, own.modal[at[:, None], mode[:, None], mode[None, :]], 0.0)
            inside = applied(links.stiffness, eta) + applied(links.damping, rates)
            mass = mass.at[:, first:].add(coupling).at[first:].add(coupling.T).at[first:, first:].add(inner)
            h = h.at[first:].add(own.modal_load[at, mode] + inside[at, mode])
        return mass, h + self.joint_loads(q, v), motion

    def carried[T](self, each: list[T], plus: Callable[[T, T], T]) -> list[T]:
        """By link, the sum over it and all links that it carries."""
        found = list(each)
        for link, parent in list(enumerate(self.layout.parents))[:0:-1]:
            found[parent] = plus(found[parent], found[link])
        return found

    def owners(self) -> tuple[Int[np.ndarray, "screws"], Int[np.ndarray, "screws"]]:
        """The link from which on outwards each screw of a motion moves, and whose velocity it belongs to."""
        link, _, column = _index_of(self.layout).screws()
        size = BASES[self.layout.base]
        return np.concatenate([np.zeros(size, int), link]), np.concatenate([np.arange(size), column])

    def by_columns(self, rows: Float[Array, "screws *more"]) -> Float[Array, "n *more"]:
        """What belongs to screws, summed by their velocities."""
        _, columns = self.owners()
        if np.array_equal(columns, np.arange(self.layout.columns()[2])):
            return rows
        return jnp.zeros((self.layout.columns()[2], *rows.shape[1:])).at[columns].add(rows)

    def jacobian(self, motion: Motion, link: int) -> Float[Array, "6 n"]:
        """N of one link: its twist, in its own axes, by the velocities."""
        owner, _ = self.owners()
        moving = _index_of(self.layout).path[link, owner][:, None]
        return self.by_columns(entered(motion.turn[link], motion.place[link], motion.screws) * moving).T

    def joint_loads(self, q: Configuration, v: Row) -> Row:
        """What springs and dampers of the joints take (N m, N)."""
        at = jnp.array(self.joint_columns(), int)
        stretched = jnp.zeros_like(v).at[at].set(q.joints - self.joint_rest)
        return self.joint_stiffness * stretched + self.joint_damping * v

    def kinetic_energy(self, q: Configuration, v: Row) -> Float[Array, ""]:
        """J."""
        return 0.5 * v @ self.dynamics(q, v)[0] @ v

    def potential_energy(self, q: Configuration) -> Float[Array, ""]:
        """Energy of springs in joints and of bent links (J)."""
        eta = self.modal_coordinates(q)
        springs = self.joint_stiffness[jnp.array(self.joint_columns(), int)]
        bent = 0.5 * jnp.einsum("li,lij,lj->", eta, self.links.stiffness, eta)
        return bent + 0.5 * jnp.sum(springs * (q.joints - self.joint_rest) ** 2)

    def rate(self, q: Configuration, v: Row) -> Configuration:
        """Time derivative of the configuration."""
        columns, modal, _ = self.layout.columns()
        twist = _base_subspace(self.layout.base) @ v[: BASES[self.layout.base]]
        attitude = Quaternion.of(q.attitude)
        balls = [
            Quaternion.of(q.balls[i]).rate(Vector.of(v[jnp.array(c)])).array()
            for i, c in enumerate(c for c, j in zip(columns, self.layout.joints, strict=True) if len(c) == 3)
        ]
        return Configuration(
            position=attitude.matrix().array() @ twist[:3],
            attitude=attitude.rate(Vector.of(twist[3:])).array(),
            joints=v[jnp.array(self.joint_columns(), int)],
            balls=jnp.stack(balls) if balls else jnp.zeros((0, 4)),
            modes=v[jnp.array([column for own in modal for column in own], int)],
        )


def _base_subspace(base: str) -> Float[Array, "6 size"]:
    """Twists (v, ω) that a base is free to have: six, three in the plane, or none."""
    return jnp.asarray({"free": np.eye(6), "planar": PLANAR, "fixed": np.zeros((6, 0))}[base])

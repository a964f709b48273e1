"""Open trees of rigid and flexible links on a free, planar or fixed base, by the natural orthogonal complement.

Twists of all links follow from the independent velocities v through t = N(q) v, so M = Nᵀ M̄ N and the bias is
Nᵀ (M̄ Ṅ v + c̄) (Cyril et al., eq. 1 and their reference 6). Every column of N is the screw of one velocity, which moves all
links beyond it alike once it is written in base axes about the base's origin. So N is never formed: twists are sums of
screws along the path to a link, and M and the bias take the inertia and loads of all that lies beyond (composite
bodies). Links follow one another, each with a few small arrays.

A twist is (v, ω): velocity of the frame's origin (m/s) and angular velocity (rad/s), in link axes where nothing is said.

Units: SI throughout; modal coordinates in m or rad.
Source: as named above; composite bodies, Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import add
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.joints import (
    bent_seat,
    carried_on,
    joint_screws,
    rotation_about,
    seat_attitude,
    seat_motion,
    straight_seat,
    turn_about,
)
from dockdyn.mechanics.trees.link_inertia import BeamLinks, Inertia, link_inertia, wrench_seen
from dockdyn.mechanics.trees.screws import apply_matrix, matrix_product, screw_bracket, screws_seen, to_inner_frame
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import trace_once
from dockdyn.trees import Module, field, map_leaves

type Row = Float[Array, "n"]
BASES = {"free": 6, "planar": 3, "fixed": 0}
PLANAR = np.eye(6)[:, [0, 1, 5]]  # x, y and turning about z
JOINTS = {"revolute": 1, "prismatic": 1, "spherical": 3, "locked": 0}


class Configuration(Module):
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


class TreeLayout(NamedTuple):
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
        """Return the velocity columns of each link's joint and modes, and their number; the base's come first."""
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
    modal: np.ndarray  # links × width: velocity columns of a link's modes
    owner: np.ndarray  # screws: the link from which on outwards each one moves
    column: np.ndarray  # screws: the velocity that each one belongs to


@lru_cache
def _index_of(layout: TreeLayout) -> Index:
    """Return where each velocity of a tree stands, and which links it moves."""
    columns, modal, _ = layout.columns()
    size, width = len(layout.names), layout.width
    path, own = np.eye(size), np.full((size, width), -1)
    screws = [(0, column) for column in range(BASES[layout.base])]
    for link, parent in enumerate(layout.parents):
        own[link, : len(modal[link])] = modal[link]
        if parent >= 0:
            path[link] += path[parent]
            bent = modal[parent] if layout.seated[link] else []
            screws += [(link, column) for column in (*bent, *columns[link])]
    owner, column = np.array(screws, int).reshape(-1, 2).T
    return Index(path, own, owner, column)


def _pick_values(values: Float[Array, "n *shape"], at: Int[np.ndarray, "*places"]) -> Float[Array, "*places *shape"]:
    """Return values[at], zero where `at` is −1."""
    return jnp.where(at >= 0, values[np.maximum(at, 0)], 0.0) if values.shape[0] else jnp.zeros(at.shape)


class Poses(NamedTuple):
    """Where links are, one after another, in base axes and from the base's origin."""

    rotation: tuple[Float[Array, "3 3"], ...]  # link → base axes
    position: tuple[Float[Array, "3"], ...]  # m


class Motion(NamedTuple):
    """All links of a tree at an instant, one after another."""

    position: tuple[Float[Array, "3"], ...]  # m, inertial
    rotation: tuple[Float[Array, "3 3"], ...]  # link → inertial
    twist: tuple[Float[Array, "6"], ...]
    bias: tuple[Float[Array, "6"], ...]  # Ṅ v, rate of the twist at constant v
    screws: tuple[Float[Array, "6"], ...]  # in the order of `Index.owner`; base axes and origin
    poses: Poses


class Tree(Module):
    """Links joined to a tree. Velocities v: base twist in base axes (planar: x, y, about z), joints, modes."""

    links: Links
    joint_stiffness: Row  # N m/rad or N/m, one a velocity, zero but for joints
    joint_damping: Row
    joint_rest: Float[Array, "joints"]  # rad or m
    layout: TreeLayout = field(static=True)

    def names(self) -> list[str]:
        """Return names of the velocities."""
        base = {"free": ["x", "y", "z", "roll", "pitch", "yaw"], "planar": ["x", "y", "yaw"], "fixed": []}
        found = [f"base.{name}" for name in base[self.layout.base]]
        for name, joint, parent in zip(self.layout.coordinates, self.layout.joints, self.layout.parents, strict=True):
            size = 0 if parent < 0 else JOINTS[joint]
            found += [name] if size == 1 else [f"{name}.{axis}" for axis in "xyz"[:size]]
        for name, modes in zip(self.layout.names, self.layout.mode_names, strict=True):
            found += [f"{name}.{mode}" for mode in modes]
        return found

    def modal_coordinates(self, q: Configuration) -> Float[Array, "links width"]:
        """Return modal coordinates by link, padded with zeros."""
        modal, first = _index_of(self.layout).modal, self.first_mode()
        return _pick_values(q.modes, np.where(modal >= 0, modal - first, -1))

    def first_mode(self) -> int:
        """Return the velocity column of the first mode; they come last."""
        return self.layout.columns()[2] - sum(self.layout.modes)

    def joint_columns(self) -> list[int]:
        """Return the velocity columns of the joints with one coordinate, in the order of `Configuration.joints`."""
        columns, _, _ = self.layout.columns()
        pairs = zip(columns, self.layout.joints, strict=True)
        return [own[0] for own, joint in pairs if len(own) == 1 and joint != "spherical"]

    @trace_once
    def poses(self, q: Configuration) -> Poses:
        """Return the poses of all links."""
        joints, balls, eta = iter(q.joints), iter(q.balls), self.modal_coordinates(q)
        rotation, position = [jnp.eye(3)], [jnp.zeros(3)]
        for link, parent in list(enumerate(self.layout.parents))[1:]:
            joint, numbers = self.layout.joints[link], self.numbers(link)
            turn, place = bent_seat(numbers, eta[parent]) if self.sits_bent(link) else straight_seat(numbers)
            if joint == "prismatic":
                place = place + apply_matrix(turn, numbers.axis) * next(joints)
            elif joint == "revolute":
                turn = matrix_product(turn, rotation_about(numbers.axis, next(joints)))
            elif joint == "spherical":
                turn = matrix_product(turn, Quaternion.of(next(balls)).matrix().array())
            if parent:  # the base's own axes and origin are those of all
                turn, place = carried_on(rotation[parent], position[parent], turn, place)
            rotation.append(turn)
            position.append(place)
        return Poses(tuple(rotation), tuple(position))

    @trace_once
    def attitudes(self, q: Configuration) -> tuple[Quaternion, ...]:
        """Return the inertial attitudes of all links; their signs go on as those of base, balls and angles of joints do."""
        joints, balls, eta = iter(q.joints), iter(q.balls), self.modal_coordinates(q)
        found = [Quaternion.of(q.attitude).normalised()]
        for link, parent in list(enumerate(self.layout.parents))[1:]:
            joint, numbers = self.layout.joints[link], self.numbers(link)
            attitude = found[parent] * seat_attitude(numbers, eta[parent] if self.sits_bent(link) else None)
            coordinate = next(joints) if joint in ("prismatic", "revolute") else None
            if joint == "revolute":
                assert coordinate is not None
                attitude = attitude * turn_about(numbers.axis, coordinate)
            elif joint == "spherical":
                attitude = attitude * Quaternion.of(next(balls)).normalised()
            found.append(attitude)
        return tuple(found)

    def numbers(self, link: int) -> Links:
        """Return those of one link."""
        return map_leaves(lambda part: part[link], self.links)

    def sits_bent(self, link: int) -> bool:
        """Return whether a link sits on a parent's beam that bends."""
        return self.layout.seated[link] and self.layout.modes[self.layout.parents[link]] > 0

    @trace_once
    def motion(self, q: Configuration, v: Row) -> Motion:
        """Return poses, twists and their rates at constant velocities, of all links."""
        poses, (joints, modes, _) = self.poses(q), self.layout.columns()
        eta = self.modal_coordinates(q)
        base = _base_subspace(self.layout.base)
        twists, biases = [base @ v[: base.shape[1]]], [jnp.zeros(6)]
        screws = list(base.T)
        for link, parent in list(enumerate(self.layout.parents))[1:]:
            twist, bias = twists[parent], biases[parent]
            if self.sits_bent(link):
                rates = jnp.zeros_like(eta[parent]).at[: len(modes[parent])].set(v[np.array(modes[parent])])
                frame = (poses.rotation[parent], poses.position[parent])
                seat = [screws_seen(*frame, one) for one in seat_motion(self.numbers(link), eta[parent], rates)]
                screws += list(seat[0][: len(modes[parent])])
                bias = bias + screw_bracket(twist, seat[1]) + seat[2]
                twist = twist + seat[1]
            kind, axis = self.layout.joints[link], self.links.axis[link]
            own = joint_screws(poses.rotation[link], poses.position[link], axis, kind)
            if own:
                screws += own
                moving = reduce(add, (screw * v[column] for screw, column in zip(own, joints[link], strict=True)))
                bias, twist = bias + screw_bracket(twist, moving), twist + moving
            twists.append(twist)
            biases.append(bias)
        attitude = Quaternion.of(q.attitude).matrix().array()
        return Motion(
            tuple(q.position + apply_matrix(attitude, place) for place in poses.position),
            tuple(matrix_product(attitude, turn) for turn in poses.rotation),
            tuple(to_inner_frame(*given) for given in zip(*poses, twists, strict=True)),
            tuple(to_inner_frame(*given) for given in zip(*poses, biases, strict=True)),
            tuple(screws),
            poses,
        )

    @trace_once
    def dynamics(self, q: Configuration, v: Row) -> tuple[Float[Array, "n n"], Row, Motion]:
        """Return the mass matrix M, bias h and motion: M v̇ + h = generalised forces; h counts springs and dampers inside."""
        motion = self.motion(q, v)
        return *self.mass_and_bias(q, v, motion), motion

    @trace_once
    def mass_and_bias(self, q: Configuration, v: Row, motion: Motion) -> tuple[Float[Array, "n n"], Row]:
        """Return M and h where the motion is known."""
        index, bent = _index_of(self.layout), self.bending()
        beams = self.beams(q, v, motion) if len(bent) else None
        inertia = self._inertias(beams)
        rigid = [Inertia.of(one) for one in self.links.inertia]
        loads = [one.load(a, b) for one, a, b in zip(rigid, motion.twist, motion.bias, strict=True)]
        for at, link in enumerate(bent):
            assert beams is not None
            loads[link] = loads[link] + beams.load[at]
        frames = list(zip(*motion.poses, strict=True))
        composite = self.carried([one.seen(*at) for one, at in zip(inertia, frames, strict=True)], Inertia.plus)
        load = self.carried([wrench_seen(*at, one) for one, at in zip(loads, frames, strict=True)], jnp.add)

        owner, screws = index.owner, _stack_rows(motion.screws, 6)
        reached = index.path[np.ix_(owner, owner)] > 0  # the second screw moves the first one's link
        pairs = list(zip(owner, motion.screws, strict=True))
        work = _stack_rows([screws @ composite[link].momentum(one) for link, one in pairs], len(pairs))
        mass = self.by_columns(self.by_columns(jnp.where(reached, work, jnp.where(reached.T, work.T, 0.0))).T)
        h = self.by_columns(jnp.array([one @ load[link] for link, one in pairs]))
        if beams is not None:
            mass, h = self.with_modes(mass, h, beams, motion)
        return mass, h + self.inner_loads(q, v)

    def _inertias(self, beams: BeamLinks | None) -> list[Inertia]:
        """Return the inertia of all links in their own axes, of those that bend with that of their `beams`."""
        found = [Inertia.of(one) for one in self.links.inertia]
        for at, link in enumerate(self.bending()):
            assert beams is not None
            found[link] = found[link].plus(map_leaves(lambda part, at=at: part[at], beams.inertia))
        return found

    @trace_once
    def centre(self, q: Configuration) -> Float[Array, "3"]:
        """Return the common centre of mass (m, from the base's origin, base axes)."""
        bent, beams = self.bending(), None
        if len(bent):
            still, (eta, rates) = jnp.zeros((len(bent), 6)), self.modal_state(q, jnp.zeros_like(self.joint_damping))
            links = map_leaves(lambda part: part[bent], self.links)
            beams = link_inertia(links, still, still, eta, rates, self.layout.twisting)
        seen = zip(self._inertias(beams), *self.poses(q), strict=True)
        whole = reduce(Inertia.plus, [one.seen(turn, place) for one, turn, place in seen])
        return whole.first / whole.mass

    def generalised(self, motion: Motion, wrenches: Float[Array, "links 6 *more"]) -> Float[Array, "n *more"]:
        """Return the generalised forces of wrenches on all links, in base axes and about the base's origin."""
        index = _index_of(self.layout)
        beyond = jnp.tensordot(index.path.T, wrenches, 1)
        work = jnp.einsum("ki,ki...->k...", _stack_rows(motion.screws, 6), beyond[index.owner])
        return self.by_columns(work)

    def spread(self, motion: Motion, v: Float[Array, "n *more"]) -> Float[Array, "links 6 *more"]:
        """Return the twists of all links, in base axes and about the base's origin, of velocities or of their rates."""
        index = _index_of(self.layout)
        moving = jnp.einsum("ki,k...->ki...", _stack_rows(motion.screws, 6), v[index.column])
        return jnp.tensordot(index.path[:, index.owner], moving, 1)

    def dissipation(self, v: Row) -> Float[Array, ""]:
        """Return the power (W) that dampers in joints and beams take."""
        inside = jnp.zeros(())
        if len(bent := self.bending()):
            rates = _pick_values(v, _index_of(self.layout).modal)[bent]
            inside = jnp.einsum("li,lij,lj->", rates, self.links.damping[bent], rates)
        return inside + jnp.sum(self.joint_damping * v**2)

    def bending(self) -> Int[np.ndarray, "bent"]:
        """Return links with modes."""
        return np.flatnonzero(np.array(self.layout.modes))

    def modal_state(self, q: Configuration, v: Row) -> tuple[Float[Array, "bent width"], Float[Array, "bent width"]]:
        """Return modal coordinates of the links with modes, and their rates."""
        bent = self.bending()
        return self.modal_coordinates(q)[bent], _pick_values(v, _index_of(self.layout).modal)[bent]

    def beams(self, q: Configuration, v: Row, motion: Motion) -> BeamLinks:
        """Return the inertia and loads of the links with modes."""
        bent = self.bending()
        links = map_leaves(lambda part: part[bent], self.links)
        twist, bias = (jnp.stack([part[link] for link in bent]) for part in (motion.twist, motion.bias))
        return link_inertia(links, twist, bias, *self.modal_state(q, v), self.layout.twisting)

    def with_modes(
        self, mass: Float[Array, "n n"], h: Row, beams: BeamLinks, motion: Motion
    ) -> tuple[Float[Array, "n n"], Row]:
        """Return the mass matrix and the bias with what the modes are to themselves and to all that moves their links."""
        index, first, bent = _index_of(self.layout), self.first_mode(), self.bending()
        at, mode = np.nonzero(index.modal[bent] >= 0)
        turns, places = motion.poses
        pairs = zip(bent[at], beams.coupling[at, mode], strict=True)
        push = [wrench_seen(turns[link], places[link], one) for link, one in pairs]
        moved = index.path[np.ix_(bent[at], index.owner)]
        coupling = self.by_columns((_stack_rows(push, 6) @ _stack_rows(motion.screws, 6).T * moved).T)
        alike = at[:, None] == at[None, :]
        inner = jnp.where(alike, beams.modal[at[:, None], mode[:, None], mode[None, :]], 0.0)
        mass = mass.at[:, first:].add(coupling).at[first:].add(coupling.T).at[first:, first:].add(inner)
        return mass, h.at[first:].add(beams.modal_load[at, mode])

    def carried[T](self, each: Sequence[T], plus: Callable[[T, T], T]) -> list[T]:
        """Return by link the sum over it and all links that it carries."""
        found = list(each)
        for link, parent in list(enumerate(self.layout.parents))[:0:-1]:
            found[parent] = plus(found[parent], found[link])
        return found

    def by_columns(self, rows: Float[Array, "screws *more"]) -> Float[Array, "n *more"]:
        """Return what belongs to screws, summed by their velocities."""
        columns = _index_of(self.layout).column
        if np.array_equal(columns, np.arange(self.layout.columns()[2])):
            return rows
        return jnp.zeros((self.layout.columns()[2], *rows.shape[1:])).at[columns].add(rows)

    def jacobian(self, motion: Motion, link: int) -> Float[Array, "6 n"]:
        """Return N of one link: its twist, in its own axes, by the velocities."""
        index, (turn, place) = _index_of(self.layout), (part[link] for part in motion.poses)
        moving = index.path[link, index.owner][:, None]
        return self.by_columns(
            _stack_rows([to_inner_frame(turn, place, screw) for screw in motion.screws], 6) * moving
        ).T

    def inner_loads(self, q: Configuration, v: Row) -> Row:
        """Return what springs and dampers of joints and beams take, as generalised forces."""
        found, bent = self.joint_loads(q, v), self.bending()
        if not len(bent):
            return found
        at, mode = np.nonzero(_index_of(self.layout).modal[bent] >= 0)
        eta, rates = self.modal_state(q, v)
        inside = apply_matrix(self.links.stiffness[bent], eta) + apply_matrix(self.links.damping[bent], rates)
        return found.at[self.first_mode() :].add(inside[at, mode])

    def joint_loads(self, q: Configuration, v: Row) -> Row:
        """Return what springs and dampers of the joints take (N m, N)."""
        at = jnp.array(self.joint_columns(), int)
        stretched = jnp.zeros_like(v).at[at].set(q.joints - self.joint_rest)
        return self.joint_stiffness * stretched + self.joint_damping * v

    def kinetic_energy(self, q: Configuration, v: Row) -> Float[Array, ""]:
        """Return J."""
        return 0.5 * v @ self.dynamics(q, v)[0] @ v

    def potential_energy(self, q: Configuration) -> Float[Array, ""]:
        """Return the energy of springs in joints and of bent links (J)."""
        eta = self.modal_coordinates(q)
        springs = self.joint_stiffness[jnp.array(self.joint_columns(), int)]
        bent = 0.5 * jnp.einsum("li,lij,lj->", eta, self.links.stiffness, eta)
        return bent + 0.5 * jnp.sum(springs * (q.joints - self.joint_rest) ** 2)

    def rate(self, q: Configuration, v: Row) -> Configuration:
        """Return the time derivative of the configuration."""
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


def normalise_quaternions(q: Configuration) -> Configuration:
    """Return the configuration with quaternions of unit length."""
    attitude = q.attitude / jnp.linalg.norm(q.attitude)
    balls = q.balls / jnp.linalg.norm(q.balls, axis=-1, keepdims=True) if q.balls.shape[0] else q.balls
    return Configuration(q.position, attitude, q.joints, balls, q.modes)


def _stack_rows(rows: Sequence[Float[Array, "size"]], size: int) -> Float[Array, "rows size"]:
    """Return rows of an array; of a tree that nothing moves there are none."""
    return jnp.stack(rows) if rows else jnp.zeros((0, size))


def _base_subspace(base: str) -> Float[Array, "6 size"]:
    """Return twists (v, ω) that a base is free to have: six, three in the plane, or none."""
    return jnp.asarray({"free": np.eye(6), "planar": PLANAR, "fixed": np.zeros((6, 0))}[base])

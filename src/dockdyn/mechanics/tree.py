"""Open trees of rigid and flexible links on a free, planar or fixed base, by the natural orthogonal complement.

Twists of all links follow from the independent velocities v through t = N(q) v, so M = Nᵀ M̄ N and the bias is
Nᵀ (M̄ Ṅ v + c̄) (Cyril et al., eq. 1 and their reference 6). N and Ṅ v come from a recursion from the base outwards; M̄ and c̄,
the mass matrix and velocity-dependent terms of one link in its own frame, from its kinetic energy. Derivatives are taken
inside a link only, so the work for a link does not depend on how long the chain is before it.

A twist is (v, ω): velocity of the link frame's origin (m/s) and angular velocity (rad/s), both in link axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.mechanics.rotation import Quaternion
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
    slice_polar: Float[Array, "links slices"]  # kg m², about x
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

    @property
    def width(self) -> int:
        """Modes of the link that has most."""
        return max(self.modes)

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


class Motion(NamedTuple):
    """All links of a tree at an instant, the link axis first; `n` velocities."""

    position: Float[Array, "links 3"]  # m, inertial
    rotation: Float[Array, "links 3 3"]  # link → inertial
    twist: Float[Array, "links 6"]
    bias: Float[Array, "links 6"]  # Ṅ v, rate of the twist at constant v
    jacobian: Float[Array, "links 6 n"]  # N


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
        _, modal, count = self.layout.columns()
        return selection_of(q.modes, modal, self.layout.width, count)

    def joint_columns(self) -> list[int]:
        """Velocity columns of the joints with one coordinate, in the order of `Configuration.joints`."""
        columns, _, _ = self.layout.columns()
        pairs = zip(columns, self.layout.joints, strict=True)
        return [own[0] for own, joint in pairs if len(own) == 1 and joint != "spherical"]

    def motion(self, q: Configuration, v: Row) -> Motion:
        """The recursion from the base outwards."""
        columns, modal, count = self.layout.columns()
        selected = selection(modal, self.layout.width, count)
        turns, slides, spins, speeds, spin_columns, slide_columns = self.joint_motion(q, v, columns, count)
        eta = selection_of(q.modes, modal, self.layout.width, count)
        rates = jnp.einsum("lmn,n->lm", selected, v)
        base_columns = jnp.zeros((6, count)).at[:, : BASES[self.layout.base]].set(base_subspace(self.layout.base))
        base = Motion(
            q.position, Quaternion.of(q.attitude).matrix().array(), base_columns @ v, jnp.zeros(6), base_columns
        )
        size = len(self.layout.names)
        every = jax.tree.map(lambda a: jnp.zeros((size, *a.shape)).at[0].set(a), base)
        if size == 1:
            return every
        parents = jnp.array(self.layout.parents[1:])
        rest = jax.tree.map(lambda a: a[1:], self.links)
        joints = tuple(a[1:] for a in (turns, slides, spins, speeds, spin_columns, slide_columns))
        steps = (jnp.arange(1, size), parents, rest, *joints)

        def outwards(every: Motion, step: Any) -> tuple[Motion, None]:
            index, parent, link, *joint = step
            before = jax.tree.map(lambda a: a[parent], every)
            here = across(link, before, eta[parent], rates[parent], selected[parent], joint)
            return jax.tree.map(lambda a, b: a.at[index].set(b), every, here), None

        return jax.lax.scan(outwards, every, steps)[0]

    def joint_motion(self, q: Configuration, v: Row, columns: list[list[int]], count: int) -> tuple[Array, ...]:
        """Of every link's joint: rotation, slide (m), their rates in joint axes, and the columns of these."""
        size = len(self.layout.names)
        turns = jnp.broadcast_to(jnp.eye(3), (size, 3, 3))
        slides = jnp.zeros(size)
        spin_columns, slide_columns = jnp.zeros((size, 3, count)), jnp.zeros((size, count))
        scalar = ball = 0
        for link, joint in enumerate(self.layout.joints):
            if self.layout.parents[link] < 0 or joint == "locked":
                continue
            axis = self.links.axis[link]
            if joint == "spherical":
                turns = turns.at[link].set(Quaternion.of(q.balls[ball]).matrix().array())
                spin_columns = spin_columns.at[link, :, jnp.array(columns[link])].set(jnp.eye(3))
                ball += 1
                continue
            if joint == "revolute":
                turn = Quaternion.exponential(Vector.of(axis * q.joints[scalar]))
                turns = turns.at[link].set(turn.matrix().array())
                spin_columns = spin_columns.at[link, :, columns[link][0]].set(axis)
            else:
                slides = slides.at[link].set(q.joints[scalar])
                slide_columns = slide_columns.at[link, columns[link][0]].set(1.0)
            scalar += 1
        return turns, slides, spin_columns @ v, slide_columns @ v, spin_columns, slide_columns

    def dynamics(self, q: Configuration, v: Row) -> tuple[Float[Array, "n n"], Row, Motion]:
        """Mass matrix M, bias h and motion: M v̇ + h = generalised forces; h counts springs and dampers inside."""
        _, modal, count = self.layout.columns()
        motion = self.motion(q, v)
        selected = selection(modal, self.layout.width, count)
        eta = selection_of(q.modes, modal, self.layout.width, count)
        whole = jnp.concatenate([motion.jacobian, selected], axis=1)  # twist and modal rates of every link
        mass, bias = jax.vmap(link_inertia)(self.links, motion.twist, eta, jnp.einsum("lmn,n->lm", selected, v))
        rates = jnp.pad(motion.bias, ((0, 0), (0, self.layout.width)))
        loads = jnp.einsum("lij,lj->li", mass, rates) + bias
        inside = jnp.einsum("lij,lj->li", self.links.stiffness, eta) + jnp.einsum(
            "lij,ljn,n->li", self.links.damping, selected, v
        )
        h = jnp.einsum("lin,li->n", whole, loads) + jnp.einsum("lin,li->n", selected, inside)
        return jnp.einsum("lin,lij,ljm->nm", whole, mass, whole), h + self.joint_loads(q, v), motion

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
        _, modal, count = self.layout.columns()
        eta = selection_of(q.modes, modal, self.layout.width, count)
        springs = self.joint_stiffness[jnp.array(self.joint_columns(), int)]
        bent = 0.5 * jnp.einsum("li,lij,lj->", eta, self.links.stiffness, eta)
        return bent + 0.5 * jnp.sum(springs * (q.joints - self.joint_rest) ** 2)

    def rate(self, q: Configuration, v: Row) -> Configuration:
        """Time derivative of the configuration."""
        columns, modal, _ = self.layout.columns()
        twist = base_subspace(self.layout.base) @ v[: BASES[self.layout.base]]
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


def base_subspace(base: str) -> Float[Array, "6 size"]:
    return jnp.asarray({"free": np.eye(6), "planar": PLANAR, "fixed": np.zeros((6, 0))}[base])


def selection(modal: list[list[int]], width: int, count: int) -> Float[Array, "links width n"]:
    """Which velocity is which link's modal rate."""
    found = np.zeros((len(modal), width, count))
    for link, columns in enumerate(modal):
        for place, column in enumerate(columns):
            found[link, place, column] = 1.0
    return jnp.asarray(found)


def selection_of(modes: Array, modal: list[list[int]], width: int, count: int) -> Float[Array, "links width"]:
    """Modal coordinates by link, padded with zeros."""
    first = count - modes.shape[0]
    return jnp.einsum("lmn,n->lm", selection(modal, width, count)[:, :, first:], modes)


def bent(place: Array, shift: Array, shortening: Array, eta: Array) -> Float[Array, "3"]:
    """A point of a bent beam (m, link axes)."""
    moved = shift @ eta
    return moved.at[0].add(place - 0.5 * eta @ shortening @ eta)


def across(
    link: Any, parent: Motion, eta: Array, rates: Array, selected: Float[Array, "width n"], joint: list[Array]
) -> Motion:
    """A link's motion from its parent's; `eta` and `rates` are the parent's modal coordinates."""
    turn, slide, spin, speed, spin_columns, slide_columns = joint

    def placed(eta: Array, turn: Array, slide: Array) -> tuple[Array, Array]:
        """Rotation link → parent, and the link frame from the parent's (m, parent axes)."""
        bend = Quaternion.exponential(Vector.of(link.attach_turn @ eta)).matrix().array()
        seat = bend @ link.mount_turn
        attached = bent(link.attach_place, link.attach_shift, link.attach_shortening, eta)
        return seat @ turn, attached + bend @ link.mount + seat @ link.axis * slide

    def twist(
        eta: Array, turn: Array, slide: Array, before: Array, rates: Array, spin: Array, speed: Array
    ) -> Float[Array, "6"]:
        """The link's twist; linear in the last four."""
        tangents = (rates, turn @ cross(spin), speed)
        (rotation, arm), (rotating, moving) = jax.jvp(placed, (eta, turn, slide), tangents)
        v, omega = before[:3], before[3:]
        along = v + jnp.cross(omega, arm) + moving
        own = rotation.T @ rotating
        relative = jnp.stack([own[2, 1] - own[1, 2], own[0, 2] - own[2, 0], own[1, 0] - own[0, 1]]) / 2
        return jnp.concatenate([rotation.T @ along, rotation.T @ omega + relative])

    here = (eta, turn, slide)
    rotation, arm = placed(*here)

    def of(before: Array, rates: Array, spin: Array, speed: Array) -> Array:
        return twist(*here, before, rates, spin, speed)

    now = of(parent.twist, rates, spin, speed)
    turning = (rates, turn @ cross(spin), speed)
    _, bias = jax.jvp(
        lambda e, r, s, before: twist(e, r, s, before, rates, spin, speed),
        (*here, parent.twist),
        (*turning, parent.bias),
    )
    jacobian = jax.vmap(of, in_axes=(1, 1, 1, 0), out_axes=1)(parent.jacobian, selected, spin_columns, slide_columns)
    return Motion(parent.position + parent.rotation @ arm, parent.rotation @ rotation, now, bias, jacobian)


def cross(vector: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """The matrix of a cross product."""
    x, y, z = vector
    zero = jnp.zeros(())
    return jnp.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def link_energy(link: Any, twist: Float[Array, "6"], eta: Array, rates: Array) -> Float[Array, ""]:
    """Kinetic energy of a link (J): what is rigid, and the slices of a beam."""

    def points(eta: Array) -> tuple[Array, Array]:
        place = jax.vmap(bent, in_axes=(0, 0, 0, None))(link.place, link.shift, link.shortening, eta)
        return place, link.turn @ eta

    (place, _), (moving, turning) = jax.jvp(points, (eta,), (rates,))
    v, omega = twist[:3], twist[3:]
    velocity = v + jnp.cross(omega, place) + moving
    spin = omega[0] + turning[:, 0]
    slices = 0.5 * jnp.sum(link.slice_mass * jnp.sum(velocity**2, axis=-1)) + 0.5 * jnp.sum(link.slice_polar * spin**2)
    return 0.5 * twist @ link.inertia @ twist + slices


def link_inertia(link: Any, twist: Float[Array, "6"], eta: Array, rates: Array) -> tuple[Array, Array]:
    """Mass matrix M̄ of a link for (twist, modal rates), and its velocity-dependent terms c̄, in its own frame.

    Lagrange's equations in quasi-velocities: c̄ = d/dt|_η̇ (∂T/∂u) + (ω × p, ω × h + v × p, −∂T/∂η), u = (twist, η̇).
    """

    def energy(eta: Array, u: Array) -> Array:
        return link_energy(link, u[:6], eta, u[6:])

    u = jnp.concatenate([twist, rates])
    mass = jax.hessian(energy, argnums=1)(eta, u)
    momentum, change = jax.jvp(lambda e: jax.grad(energy, argnums=1)(e, u), (eta,), (rates,))
    v, omega = twist[:3], twist[3:]
    p, spin = momentum[:3], momentum[3:6]
    carried = jnp.concatenate([jnp.cross(omega, p), jnp.cross(omega, spin) + jnp.cross(v, p)])
    return mass, change + jnp.concatenate([carried, -jax.grad(energy)(eta, u)])

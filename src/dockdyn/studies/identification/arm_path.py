"""A motion of an arm's tip along a line, mapped to its joints by inverse kinematics (SITS eqs. 24–26)."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.programs import Program
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError

STEPS = 25  # of damped least squares, at most
FAR = 0.3  # rad or m, of one step
DAMPING = 1e-9  # of the sum of squared singular values: enough beside a singularity, nothing elsewhere
THERE = 1e-10  # m and rad
SINGULAR = 0.02  # least singular value over the arm's reach (position in m per m of reach, attitude in rad)
type Row = Float[np.ndarray, "joints"]


@record
class JointChain:
    """Joints on the way from a fixed base to a tip."""

    tree: Tree
    name: str
    tip: str
    joints: tuple[str, ...]  # those on the way
    units: tuple[str, ...]  # rad or m
    columns: tuple[int, ...]  # of `Configuration.joints`
    lower: Row
    upper: Row
    rate: Row  # rad/s or m/s
    start: Row  # where the line's middle is

    @property
    def holds_attitude(self) -> bool:
        """Whether there are joints enough for the attitude, too; with fewer only the position is led."""
        return len(self.joints) >= 6


@record
class Path:
    """Joints that lead the tip."""

    joints: Float[np.ndarray, "samples joints"]  # rad or m
    tip: Float[np.ndarray, "samples 3"]  # m, in base axes, as the joints put it
    manipulability: Float[np.ndarray, "samples"]  # least singular value, see SINGULAR


def generic_arm() -> JointChain:
    """Return a stand-in for an industrial robot of six joints with a spherical wrist and 2.8 m of reach.

    Shoulder 0.75 m above the floor and 0.35 m before the first axis, upper arm 1.25 m, elbow offset 0.05 m, forearm 1.2 m,
    flange 0.2 m beyond the wrist; the arm lies along x at zero angles. Limits are of the size that such robots have.
    """
    places = {  # joint: place from the joint before (m), axis
        "j1": ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        "j2": ((0.35, 0.0, 0.75), (0.0, 1.0, 0.0)),
        "j3": ((1.25, 0.0, 0.0), (0.0, 1.0, 0.0)),
        "j4": ((0.0, 0.0, 0.05), (1.0, 0.0, 0.0)),
        "j5": ((1.2, 0.0, 0.0), (0.0, 1.0, 0.0)),
        "j6": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    }
    links = [Link("base")]
    for name, (mount, axis) in places.items():
        links.append(Link(name, links[-1].name, mount=mount, axis=axis))
    links.append(Link("flange", "j6", joint="locked", mount=(0.2, 0.0, 0.0)))
    degrees = {"lower": (-185, -140, -120, -350, -125, -350), "upper": (185, 0, 155, 350, 125, 350)}
    limits = {key: np.radians(values) for key, values in degrees.items()}
    start = np.radians([0.0, -75.0, 95.0, 20.0, 50.0, -15.0])  # away from singularities, all joints at work
    rate = np.radians([160.0, 160.0, 190.0, 260.0, 260.0, 360.0])
    return arm_of(tree_of(links, base="fixed"), "the generic arm", "flange", rate=rate, start=start, **limits)


def arm_of(tree: Tree, name: str, tip: str, lower: Row, upper: Row, rate: Row, start: Row | None) -> JointChain:
    """Return the way to `tip` in a tree; limits and start by joint on that way (start: zero)."""
    layout = tree.layout
    link, way = layout.names.index(tip), []
    while link >= 0:
        way.append(link)
        link = layout.parents[link]
    moving = [i for i, joint in enumerate(layout.joints) if joint in ("revolute", "prismatic")]
    chosen = [i for i in reversed(way) if i in moving]
    return JointChain(
        tree,
        name,
        tip,
        tuple(layout.coordinates[i] for i in chosen),
        tuple("rad" if layout.joints[i] == "revolute" else "m" for i in chosen),
        tuple(moving.index(i) for i in chosen),
        np.asarray(lower, float),
        np.asarray(upper, float),
        np.asarray(rate, float),
        np.zeros(len(chosen)) if start is None else np.asarray(start, float),
    )


class PathSample(NamedTuple):
    """Where the joints led the tip."""

    joints: Array
    place: Array  # m
    missing: Array  # largest of what is left, m and rad
    slopes: Array  # the tip's twist by the joints' rates, 6 × joints, base axes


def _tip_pose(arm: Tree, link: int, columns: tuple[int, ...], joints: Array) -> tuple[Array, Array, Array]:
    """Return the position (m), rotation and slopes of a link."""
    scalar = arm.joint_columns()
    at, moving = jnp.array(columns), jnp.array([scalar[column] for column in columns])
    upright = jnp.zeros(4).at[0].set(1.0)
    whole = jnp.zeros(len(scalar)).at[at].set(joints)
    q = Configuration(jnp.zeros(3), upright, whole, jnp.zeros((0, 4)), jnp.zeros(0))

    def twist(rates: Array) -> Array:
        motion = arm.motion(q, jnp.zeros(arm.layout.columns()[2]).at[moving].set(rates))
        turn = motion.rotation[link]
        return jnp.concatenate([turn @ motion.twist[link][:3], turn @ motion.twist[link][3:]])

    motion = arm.motion(q, jnp.zeros(arm.layout.columns()[2]))
    slopes = jax.vmap(twist, out_axes=1)(jnp.eye(len(columns)))
    return motion.position[link], motion.rotation[link], slopes


@partial(Program, static=("link", "columns", "kept"))
def _lead_joints(
    tree: Tree, link: int, columns: tuple[int, ...], kept: int, start: Array, places: Float[Array, "samples 3"]
) -> tuple[PathSample, Array]:
    """Return joints for every place of the tip, each found from the one before by damped least squares; all stacked."""
    _, upright, _ = _tip_pose(tree, link, columns, start)
    reach = jnp.maximum(jnp.linalg.norm(places[0]), 1e-6)
    weights = jnp.concatenate([jnp.full(3, 1 / reach), jnp.ones(3)])[:kept]

    def seen(joints: Array, goal: Array) -> PathSample:
        place, turn, slopes = _tip_pose(tree, link, columns, joints)
        turned = upright @ turn.T
        skew = 0.5 * (turned - turned.T)
        missing = jnp.concatenate([goal - place, jnp.stack([skew[2, 1], skew[0, 2], skew[1, 0]])])
        return PathSample(joints, place, missing[:kept], slopes)

    def improved(state: tuple[Array, PathSample], goal: Array) -> tuple[Array, PathSample]:
        count, now = state
        scaled = weights[:, None] * now.slopes[:kept]
        square = scaled @ scaled.T
        damped = square + DAMPING * jnp.trace(square) * jnp.eye(kept)
        step = scaled.T @ jnp.linalg.solve(damped, weights * now.missing)
        shorter = jnp.minimum(1.0, FAR / jnp.maximum(jnp.abs(step).max(), 1e-300))
        return count + 1, seen(now.joints + shorter * step, goal)

    def sample(joints: Array, goal: Array) -> tuple[Array, PathSample]:
        _, found = jax.lax.while_loop(
            lambda state: (state[0] < STEPS) & (jnp.abs(state[1].missing).max() >= THERE),
            lambda state: improved(state, goal),
            (jnp.asarray(0), seen(joints, goal)),
        )
        return found.joints, found._replace(missing=jnp.abs(found.missing).max())

    return jax.lax.scan(sample, start, places)[1], weights


def lead_tip(arm: JointChain, direction: Row, offsets: Float[np.ndarray, "samples"], time: Row) -> Path:
    """Return joints that move the tip by `offsets` (m) along a direction, base axes, from where it is at the start.

    The attitude stays as it is, where there are six joints or more. ScenarioError, naming joint and instant, for limits of
    joints and their rates, for places out of reach, and for singularities.
    """
    if not arm.joints:
        raise ScenarioError(f"{arm.name}: no joint moves {arm.tip}")
    if not arm.holds_attitude and len(arm.joints) < 3:
        raise ScenarioError(f"{arm.name}: {len(arm.joints)} joints lead {arm.tip}; must be at least 3 for a line")
    _refuse_beyond_limits(arm, arm.start[None], np.zeros(1))
    link = arm.tree.layout.names.index(arm.tip)
    along = np.asarray(direction, float) / np.linalg.norm(direction)
    start = jnp.asarray(arm.start)
    middle = np.asarray(_tip_pose(arm.tree, link, arm.columns, start)[0])
    kept = 6 if arm.holds_attitude else 3
    samples, weights = _lead_joints(
        arm.tree, link, arm.columns, kept, start, jnp.asarray(middle + np.outer(offsets, along))
    )
    slopes = np.asarray(weights)[:, None] * np.asarray(samples.slopes)[:, :kept]
    least = np.linalg.svd(slopes, compute_uv=False)[:, -1]
    lost = ~(np.asarray(samples.missing) < THERE)
    for at in np.flatnonzero(lost | (least < SINGULAR))[:1]:
        if lost[at] and not least[at] < SINGULAR:
            raise ScenarioError(
                f"{arm.name}: {arm.tip} does not get {offsets[at]:.4g} m along the line at {time[at]:.4g} s: out of "
                "reach; choose other --joints or a smaller --amplitude"
            )
        raise ScenarioError(
            f"{arm.name}: is near a singularity at {time[at]:.4g} s (least singular value {least[at]:.2g}, must be at "
            f"least {SINGULAR:g}); choose other --joints or another --direction"
        )
    path = Path(np.asarray(samples.joints), np.asarray(samples.place), least)
    _refuse_beyond_limits(arm, path.joints, time)
    _refuse_too_fast(arm, path, time)
    return path


def _refuse_beyond_limits(arm: JointChain, joints: Float[np.ndarray, "samples joints"], time: Row) -> None:
    """Refuse joints beyond their limits."""
    out = (joints < arm.lower) | (joints > arm.upper)
    if out.any():
        at = int(np.argmax(out.any(axis=1)))
        i = int(np.argmax(out[at]))
        value, low, high = (
            format_coordinate(part, arm.units[i]) for part in (joints[at, i], arm.lower[i], arm.upper[i])
        )
        raise ScenarioError(
            f"{arm.name}: joint {arm.joints[i]} leaves its limits at {time[at]:.4g} s: {value}; must be {low} to {high}"
        )


def _refuse_too_fast(arm: JointChain, path: Path, time: Row) -> None:
    """Refuse joints that turn too fast."""
    rates = np.abs(np.diff(path.joints, axis=0)) / np.diff(time)[:, None]
    over = rates > arm.rate
    if over.any():
        sample = int(np.argmax(over.any(axis=1)))
        i = int(np.argmax(over[sample]))
        value, most = (format_coordinate(part, arm.units[i]) + "/s" for part in (rates[sample, i], arm.rate[i]))
        raise ScenarioError(
            f"{arm.name}: joint {arm.joints[i]} moves too fast at {time[sample]:.4g} s: {value}; must be at most {most}; "
            "give a --speed-limit or a smaller --amplitude"
        )


def format_coordinate(value: float, unit: str) -> str:
    return f"{math.degrees(value):.4g} deg" if unit == "rad" else f"{value:.4g} m"

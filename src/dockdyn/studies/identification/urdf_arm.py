"""An arm from a URDF file, fixed at its root, for a motion of its tip."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.tables.urdf import UrdfJoint, UrdfTree, read_robot
from dockdyn.studies.identification.arm_path import JointChain, arm_of


def urdf_arm(path: Path, tip: str | None, start: list[float] | None) -> JointChain:
    """Return the joints from the root to the link `tip` (the only leaf, if there is one), within limits of all that follow.

    `start`: joint values (rad or m) on that way; else the middles of their limits. ScenarioError for what cannot be used.
    """
    label = str(path)
    robot = read_robot(path, label).locked({})
    parents = {joint.parent for joint in robot.joints.values()}
    leaves = [name for name in robot.links if name not in parents]
    if tip is None:
        if len(leaves) != 1:
            raise ScenarioError(f"{label}: has several ends ({', '.join(leaves)}); name one with --tip")
        tip = leaves[0]
    if tip not in robot.links:
        raise ScenarioError(f"--tip {tip}: no link of {label}; {nearest(tip, robot.links)}")
    way: list[UrdfJoint] = []
    link = tip
    while (joint := robot.joints.get(link)) is not None:
        way, link = [joint, *way], joint.parent
    tree = tree_of([Link(robot.root), *map(_link_of_joint, robot.joints.values())], base="fixed")
    way = [joint for joint in way if joint.kind != "locked"]
    if led := [joint for joint in way if joint.mimic is not None]:
        words = f"follows {led[0].mimic.leader!r}; must not be on the way to {tip}"  # type: ignore[union-attr]
        raise ScenarioError(f"{label}: joint {led[0].name}: <mimic>: {words}")
    if start is not None and len(start) != len(way):
        raise ScenarioError(
            f"--joints: {len(start)} values; must be {len(way)}, one for each joint on the way to {tip}"
        )
    limits = np.array([_limits(joint, robot, label) for joint in way]).reshape(-1, 2)
    middle = np.where(np.isfinite(limits[:, 0]), np.where(np.isfinite(limits), limits, 0.0).sum(axis=1) / 2, 0.0)
    rate = np.array([_speed(joint, robot) for joint in way])
    return arm_of(tree, label, tip, limits[:, 0], limits[:, 1], rate, middle if start is None else np.array(start))


def _followers(joint: UrdfJoint, robot: UrdfTree) -> list[tuple[UrdfJoint, float]]:
    """Return the joints that follow one and move, each with its ratio."""
    found = [(other, other.mimic) for other in robot.joints.values()]
    return [(other, mimic.ratio) for other, mimic in found if mimic and mimic.leader == joint.name and mimic.ratio]


def _limits(joint: UrdfJoint, robot: UrdfTree, label: str) -> tuple[float, float]:
    """Return between which coordinates (rad or m) a joint and all that follow it are within limits. Raises ScenarioError."""
    low, high = joint.limits or (-math.inf, math.inf)
    for follower, _ in _followers(joint, robot):
        low, high = follower.narrow(low, high)
        if low > high:
            words = f"leaves no room in the limits of {joint.name!r}, which it follows"
            raise ScenarioError(f"{label}: joint {follower.name}: <limit>: {words}")
    return low, high


def _speed(joint: UrdfJoint, robot: UrdfTree) -> float:
    """Return the largest speed (rad/s or m/s) of a joint and of all that follow it, infinite where none is stated."""
    followers = [follower.speed / abs(ratio) for follower, ratio in _followers(joint, robot) if follower.speed]
    return min([joint.speed or math.inf, *followers])


def _link_of_joint(joint: UrdfJoint) -> Link:
    """Return the link that a joint holds, without its mass, on which no motion of the tip depends."""
    mount, turn = joint.frame[:3, 3], joint.frame[:3, :3]
    return Link(joint.child, joint.parent, joint.name, joint.kind, joint.axis, mount, turn)

"""An arm from a URDF file, fixed at its root, for a motion of its tip."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from dockdyn.mechanics.trees.assembly import tree_of
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.tables.tree import FlexibleSection, LinkSection
from dockdyn.scenario.tables.urdf import links_of, read
from dockdyn.studies.identification.arm_path import Arm, arm_of


def urdf_arm(path: Path, tip: str | None, start: list[float] | None) -> Arm:
    """The joints from the root to the link `tip` (the only leaf, if there is one), with their limits.

    `start`: joint values (rad or m) on that way; else the middles of their limits. ScenarioError for what cannot be used.
    """
    label = str(path)
    robot = read(path, label)
    entries, moved = links_of(robot, label)
    names = [entry["name"] for entry in entries]
    parents = {entry.get("parent") for entry in entries}
    leaves = [name for name in names if name not in parents]
    if tip is None:
        if len(leaves) != 1:
            raise ScenarioError(f"{label}: has several ends ({', '.join(leaves)}); name one with --tip")
        tip = leaves[0]
    if tip not in names:
        raise ScenarioError(f"--tip {tip}: no link of {label}; {nearest(tip, names)}")
    tree = tree_of([LinkSection(**entry).link(FlexibleSection(), planar=False) for entry in entries], base="fixed")
    limits = {moved[joint.name]: joint.limit for joint in robot.joints if joint.type in ("revolute", "prismatic")}
    way = []
    link: str | None = tip
    while link is not None:
        entry = entries[names.index(link)]
        if entry.get("joint") in ("revolute", "prismatic"):
            way.append(link)
        link = entry.get("parent")
    way.reverse()

    def bound(name: str, key: str, other: float) -> float:
        value = getattr(limits.get(name), key, None)
        return other if value is None else float(value)

    lower = np.array([bound(name, "lower", -math.inf) for name in way])
    upper = np.array([bound(name, "upper", math.inf) for name in way])
    rate = np.array([bound(name, "velocity", 0.0) or math.inf for name in way])
    if start is not None and len(start) != len(way):
        raise ScenarioError(
            f"--joints: {len(start)} values; must be {len(way)}, one for each joint on the way to {tip}"
        )
    both = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(both, (np.where(both, lower, 0.0) + np.where(both, upper, 0.0)) / 2, 0.0)
    return arm_of(tree, label, tip, lower, upper, rate, middle if start is None else np.array(start))

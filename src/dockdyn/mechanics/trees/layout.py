"""What is static about a tree of links: which link is on which, and where each velocity of it stands.

Units: none.
Source: Roberson and Schwertassek 1988, Dynamics of Multibody Systems, for order and numbering.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

BASES = {"free": 6, "planar": 3, "fixed": 0}
JOINTS = {"revolute": 1, "prismatic": 1, "spherical": 3, "locked": 0}


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
def index_of(layout: Layout) -> Index:
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

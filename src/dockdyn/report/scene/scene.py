"""What a scene shows, told without any player: parts in axes of what carries them, where they are at every time, forces.

Lengths in m, times in s, attitudes unit quaternions with the scalar first (to the scene's axes).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dockdyn.records import record
from dockdyn.report.scene.solids import ShownSolid

# what a part is, which says how it is drawn: a bus is looked through, what touches is not, a ghost is pale
Role = Literal["bus", "link", "gear", "surface", "look", "ghost", "ground"]


@record
class Aside:
    """How far something is pushed aside: along `out` (axes of the `carrier`), by the slope of a ramp times the travel on it, of
    at most a `length` (m), while the latch of a number does not hold."""

    carrier: ShownMotion
    out: np.ndarray
    slope: float
    length: float
    latch: int


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """Where something is at every time: position (times, 3) and attitude (times, 4); of what is pushed aside also how."""

    position: np.ndarray
    attitude: np.ndarray
    aside: Aside | None = None


@record
class ShownPart:
    """Something with a shape, of a body (None: of none), carried by a motion (None: it stands still)."""

    name: str
    solids: list[ShownSolid]
    motion: ShownMotion | None
    role: Role
    body: str | None
    colour: str | None = None  # of a mesh whose file states one
    missing: str = ""  # why it has not the mesh that the scenario asks for


@record
class End:
    """A place of what moves so (None: of what stands)."""

    motion: ShownMotion | None
    place: np.ndarray


@record
class ShownTie:
    """What acts between two places that move: drawn from one to the other, only while `shown` (times,); a `latch` by its
    number; a spring from the second as far as it is long where it is `free` (m; None: it holds on); of a `ghost` in its
    colour."""

    name: str
    kind: Literal["strut", "cable", "spring", "latch", "magnet"]
    first: End
    second: End
    radius: float
    shown: np.ndarray | None = None
    latch: int | None = None
    free: float | None = None
    ghost: str = ""


@record
class ShownBeam:
    """A beam that bends: places of its sections (sections, 3), and how modal coordinates `eta` (times, modes) move them.

    In axes of the beam at rest, by `shift` (sections, modes, 3), less half of what `bow` (sections, modes, modes) gives
    along `along` where it shortens; of a `ghost` in its colour.
    """

    name: str
    body: str
    rest: ShownMotion
    place: np.ndarray
    shift: np.ndarray
    eta: np.ndarray
    radius: float
    bow: np.ndarray | None = None
    along: np.ndarray | None = None
    ghost: str = ""


@record
class ShownTrail:
    """The path (times, 3) of a point, in axes of what carries it."""

    name: str
    points: np.ndarray
    carrier: ShownMotion | None


@record
class ShownForce:
    """A force (times, 3), N, scene's axes, at a `place` (times, 3) in axes of the `carrier` (None: the scene's).

    `with_friction` says that it is more than the normal force, which curves and tables show.
    """

    name: str
    place: np.ndarray
    vector: np.ndarray
    carrier: ShownMotion | None
    kind: Literal["contact", "hold"] = "contact"
    with_friction: bool = False


@record
class Focus:
    """What is looked at: a place of what carries it, the way along which things dock there, how far gear reaches, and whether
    links are an `arm` that leads there, not solar arrays beside it."""

    carrier: ShownMotion | None
    place: np.ndarray
    axis: np.ndarray
    reach: float
    arm: bool = True


@record
class RunScene:
    """Everything that a scene shows; `bodies` are motions by name, the first ones as the scenario has them."""

    title: str
    time: np.ndarray
    bodies: dict[str, ShownMotion]
    parts: list[ShownPart]
    focus: Focus
    ties: list[ShownTie] = field(default_factory=list)
    beams: list[ShownBeam] = field(default_factory=list)
    trails: list[ShownTrail] = field(default_factory=list)
    forces: list[ShownForce] = field(default_factory=list)
    seen_from: str = ""  # the body in whose axes it is shown; empty: as it is
    notes: list[str] = field(default_factory=list)
    goes_on: bool = False  # whether it is one sample of what runs, whose forces are still to come

    @property
    def warnings(self) -> list[str]:
        """Return words for the user on every body whose mesh could not be read and which is drawn plainly instead."""
        return [f"{part.name}: {part.missing}; drawn as a plain shape" for part in self.parts if part.missing]

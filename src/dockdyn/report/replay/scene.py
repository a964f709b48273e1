"""What a replay shows, told without any player: parts in body axes, where they are at every frame, arrows, events.

Lengths are in metres, times in seconds, attitudes unit quaternions with the scalar first (body to the scene's axes).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.replay.scale import Scale

ROOT = "/run"  # what the player calls all of a scene


@dataclass(frozen=True)
class Mesh:
    """Triangles: vertices (n, 3), in m, and faces (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray


@dataclass(frozen=True)
class SceneMotion:
    """Where something is at every frame: position (frames, 3) and attitude (frames, 4)."""

    position: np.ndarray
    attitude: np.ndarray

    def points(self, place: np.ndarray) -> np.ndarray:
        """Return a place of the body (3,) at every frame (frames, 3)."""
        return self.position + rotate_vectors(self.attitude, np.broadcast_to(place, self.position.shape))


@dataclass(frozen=True)
class ScenePart:
    """Something with a shape."""

    name: str
    mesh: Mesh
    colour: str
    motion: SceneMotion
    opacity: float | None = None
    flat: bool = True  # faces shaded as such, not as a smooth surface
    missing: str = ""  # why it has not the mesh that the scenario asks for
    layer: str = ""  # what can be hidden by this name, such as a ghost or decoration
    body: str = ""  # what the legend calls, in this colour, what it is of


@dataclass(frozen=True)
class SceneLine:
    """A line whose points (frames, n, 3) move, or (n, 3) where it stands still, such as a trace.

    With `carrier` its points are in axes of what moves so; with `stretch` (frames,) it is drawn so much longer along x.
    """

    name: str
    points: np.ndarray
    colour: str
    width: float = 2.0  # pixels
    carrier: SceneMotion | None = None
    grows: bool = False  # shown up to the frame, a point a frame
    stretch: np.ndarray | None = None


@dataclass(frozen=True)
class Arrow:
    """A vector (frames, 3) in `unit` that acts at `place` (frames, 3)."""

    name: str
    place: np.ndarray
    vector: np.ndarray
    colour: str
    unit: str
    scale: Scale
    thickness: float  # m, radius of the shaft


@dataclass(frozen=True)
class Frame:
    """Body axes, drawn `length` m long."""

    name: str
    motion: SceneMotion
    length: float


@dataclass(frozen=True)
class CameraFit:
    """How far (m) from a target a camera must be: to see what is highest, and what is widest in a square picture.

    Besides, how far it must be for the width alone of what is widest, and how near to it anything comes.
    """

    high: float
    wide: float
    side: float
    nearest: float


@dataclass(frozen=True)
class SceneView:
    """A camera at `position` that looks at `target`, m; it goes along with what moves as `follow`, and turns with it.

    It stands farther away where the picture is narrow, unless it must stay `near`. With a `fit` it stands, on that line, as
    near as it may to see all of what it shows in a picture of any shape.
    """

    name: str
    position: np.ndarray
    target: np.ndarray
    follow: SceneMotion | None = None
    turns: bool = False
    near: bool = False
    fit: CameraFit | None = None


@dataclass(frozen=True)
class Scene:
    """Everything that a replay shows."""

    title: str
    time: np.ndarray
    parts: list[ScenePart]
    views: list[SceneView]
    lines: list[SceneLine] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def distinct_motions(scene: Scene) -> list[SceneMotion]:
    """Return what moves in a scene, each motion once, though several parts go along with it."""
    motions = [part.motion for part in scene.parts] + [frame.motion for frame in scene.frames]
    motions += [line.carrier for line in scene.lines if line.carrier is not None]
    return list({id(motion): motion for motion in motions}.values())


def carrier_paths(scene: Scene) -> dict[int, str]:
    """Return what the player calls that which moves so, by the motion's identity."""
    return {id(motion): f"{ROOT}/motion/{number}" for number, motion in enumerate(distinct_motions(scene))}


def part_paths(scene: Scene) -> list[str]:
    """Return what the player calls a scene's parts."""
    paths = carrier_paths(scene)
    return [f"{paths[id(part.motion)]}/part/{number}" for number, part in enumerate(scene.parts)]


def rotate_vectors(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the body vectors (…, 3) in the scene's axes, by attitudes (…, 4)."""
    scalar, axis = attitude[..., :1], attitude[..., 1:]
    twice = 2 * np.cross(axis, vector)
    return vector + scalar * twice + np.cross(axis, twice)


def still_motion(
    count: int, position: ArrayLike = (0.0, 0.0, 0.0), attitude: ArrayLike = (1.0, 0.0, 0.0, 0.0)
) -> SceneMotion:
    """Return what does not move during so many frames."""
    return SceneMotion(
        np.tile(np.asarray(position, float), (count, 1)), np.tile(np.asarray(attitude, float), (count, 1))
    )

"""What browsers see of a rig that is driven: the replay's scene of one sample, moved as encoders and computer say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.replay.scene import Scene, SceneMotion, rotate_vectors
from dockdyn.rig.data import VARIABLES, coordinates_of
from dockdyn.rig.model.on_line import PlantOnLine
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.replay.live_scene import scene_of_rig, touching_motion
from dockdyn.rig.scene import COMPUTED, WITHOUT, carried_poses
from dockdyn.rig.schema import RigContent, way_in
from dockdyn.scenario.load import Scenario


class LiveRig:
    """The scene of a rig, in which the robot's mock-up is where its encoders are, and the model where the computer has it."""

    def __init__(
        self, scene: Scene, content: RigContent, robot: SceneMotion, model: SceneMotion, at: SceneMotion, touches: float
    ):
        """The force's arrow goes along with `at`; on a line a mock-up touches where its pose is less than zero by `touches`
        (m)."""
        self.scene, self._content, self._robot, self._model, self._at = scene, content, robot, model, at
        self._touches = touches
        back = at.attitude[0] * [1.0, -1.0, -1.0, -1.0]
        self._tip = rotate_vectors(back, scene.arrows[0].place[0] - at.position[0])

    def move(self, robot: np.ndarray, model: np.ndarray) -> None:
        """Set the scene's frame to these poses (axes,), m and rad."""
        if self._content.axes == 1:
            way = way_in(self._content)
            deep = [way * (float(pose[0]) + self._touches) for pose in (model, robot)]
            for motion, along in zip((self._model, self._robot), deep, strict=True):
                motion.position[0, 0] = along
            for line, along in zip(self.scene.lines, deep, strict=True):
                self._set_spring(line.carrier, line.stretch, along)
        else:
            placed = carried_poses(self._content, np.stack([robot, model]))
            for row, motion in enumerate((self._robot, self._model)):
                motion.position[0], motion.attitude[0] = placed[0][row], placed[1][row]
        self.scene.arrows[0].place[0] = self._at.points(self._tip)[0]

    def _set_spring(self, base: SceneMotion | None, length: np.ndarray | None, along: float) -> None:
        """Set a spring in front of a block: it ends where it did, and one that only pushes is not drawn out."""
        assert base is not None and length is not None
        start = along if self._content.bilateral else max(along, 0.0)
        length[0] += base.position[0, 0] - start
        base.position[0, 0] = start


def live_rig(scenario: Scenario, rig: Rig, start: np.ndarray) -> LiveRig:
    """Return the scene of a rig with robot and model at one pose (axes,)."""
    content, touches = scenario.content, float(rig.plant.place) if isinstance(rig.plant, PlantOnLine) else 0.0
    dataset = _resting_sample(scenario, rig, start, touches)
    scene = scene_of_rig(dataset, content)
    scene = replace(
        scene,
        parts=[part for part in scene.parts if part.layer != WITHOUT],
        lines=[line for line in scene.lines if line.stretch is not None],
        arrows=[replace(scene.arrows[0], name="measured force")],
        notes=[note.rpartition("; ")[0] for note in scene.notes],  # the last part is of the motion without rig
    )
    model = next(part.motion for part in scene.parts if part.body == COMPUTED)
    if content.axes == 1:
        robot = at = next(part.motion for part in scene.parts if part.body == "robot")
    else:
        ground, robot = (frame.motion for frame in scene.frames)
        at = touching_motion(content, robot, ground)
    return LiveRig(scene, content, robot, model, at, touches)


def _resting_sample(scenario: Scenario, rig: Rig, pose: np.ndarray, touches: float) -> Dataset:
    """Return a run of one sample, at rest at a pose (axes,), without any force; `touches` as of `LiveRig`."""
    along = coordinates_of(rig)
    sizes = {name: len(names) for name, names in along.items()}
    found = {}
    for name, (dims, _, _) in VARIABLES.items():
        if not set(dims) <= set(sizes):
            continue
        values = np.zeros((1, *(sizes[dim] for dim in dims)))
        if name.endswith("pose"):
            values[0] = pose
        elif name.endswith("position"):
            values[0] = pose[: rig.plant.port_axes] + touches
        found[name] = (("time", *dims), values)
    attributes = {"title": scenario.title, "bilateral": int(rig.plant.ever_touching)}
    return Dataset(found, {"time": np.zeros(1), **along}, attributes)

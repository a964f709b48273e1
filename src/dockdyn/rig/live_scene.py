"""What browsers see of a rig that is driven: the scene of one sample, moved as encoders and computer say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.scene.scene import RunScene
from dockdyn.rig.data import VARIABLES, coordinates_of
from dockdyn.rig.model.on_line import PlantOnLine
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.scene import CONTACT, WITHOUT, axes_in_scene, carried_poses, scene_of_rig, shown_bodies
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.load import Scenario

MODEL = ("position", "model_pose")  # what of a run the model's poses are


class LiveRig:
    """The scene of a rig, in which the robot's mock-up is where its encoders are, and the model where the computer has it."""

    def __init__(self, scene: RunScene, content: RigContent, touches: float):
        """On a line a mock-up touches where its pose is less than zero by `touches` (m)."""
        self.scene, self._content, self._touches = scene, content, touches
        self._keys = [key for name, key in shown_bodies(content).items() if name in scene.bodies]

    def placed(self, robot: np.ndarray, model: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (bodies, 3) and attitudes (bodies, 4) of the scene's bodies at these poses (axes,), m and rad."""
        poses = np.stack([robot, model]) + (self._touches if self._content.axes == 1 else 0.0)
        position, attitude = (np.concatenate([found, still]) for found, still in zip(
            carried_poses(self._content, poses), (np.zeros((1, 3)), np.eye(4)[:1]), strict=True))  # fmt: skip
        rows = [2 if key is None else int(key in MODEL) for key in self._keys]
        return position[rows], attitude[rows]

    def acting(self, load: np.ndarray) -> np.ndarray:
        """Return the force (3,), N, of a load (axes,) on what is carried."""
        axes = axes_in_scene(self._content)
        return load[: len(axes)] @ axes


def live_rig(scenario: Scenario, rig: Rig, start: np.ndarray) -> LiveRig:
    """Return the scene of a rig with robot and model at one pose (axes,)."""
    content, touches = scenario.content, float(rig.plant.place) if isinstance(rig.plant, PlantOnLine) else 0.0
    scene = scene_of_rig(_resting_sample(scenario, rig, start, touches), content)
    scene = replace(
        scene,
        bodies={name: motion for name, motion in scene.bodies.items() if name != WITHOUT},
        parts=[part for part in scene.parts if part.body != WITHOUT],
        forces=[replace(force, name="measured force") for force in scene.forces if force.name == CONTACT],
        trails=[],
        notes=[note.rpartition("; ")[0] for note in scene.notes],  # the last part is of the motion without rig
        goes_on=True,
    )
    return LiveRig(scene, content, touches)


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

"""Impacts as Drake computes them, written for tests to compare with: `python benchmarks/drake_impacts.py`.

Drake (`pip install drake`; no other part of dockdyn needs it) has the same law for points that touch, k d (1 + c ḋ), and
Coulomb's friction with another fading at small speeds; each contact acts in the middle of the overlap, for dockdyn on a plane
where the ball is deepest, so that both agree in the limit of stiff contacts there, and at any stiffness between two balls.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.all import (
    AddContactMaterial,
    AddMultibodyPlantSceneGraph,
    ApplySimulatorConfig,
    CoulombFriction,
    DiagramBuilder,
    HalfSpace,
    ProximityProperties,
    Quaternion,
    RigidTransform,
    RotationMatrix,
    Simulator,
    SimulatorConfig,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
    UnitInertia,
)

sys.path.append(str(Path(__file__).parents[1] / "tests" / "contact"))
from impact_scenes import DAMPING, OF_DRAKE, SCENES, SLOW, STIFFNESSES, Scene

HARD = 1e22  # N/m: of the plane, so that the other side's stiffness is that of the contact
ACCURACY = 1e-9
LONGEST = 1e-4  # s, a step


def skin_of(stiffness: float, friction: float) -> ProximityProperties:
    """Return what Drake is told of a surface."""
    found = ProximityProperties()
    AddContactMaterial(
        dissipation=DAMPING if stiffness < HARD else 0.0,
        point_stiffness=stiffness,
        friction=CoulombFriction(friction, friction),
        properties=found,
    )
    return found


def end_of(scene: Scene, stiffness: float) -> list[dict[str, list[float]]]:
    """Return velocity (m/s) and rate (rad/s, own axes) of each body of a scene at its end."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
    alone = len(scene.bodies) == 1
    made: list[Any] = []
    for body in scene.bodies:
        inertia = UnitInertia(*[moment / body.mass for moment in body.inertia])
        made.append(plant.AddRigidBody(f"body{len(made)}", SpatialInertia(body.mass, [0.0, 0.0, 0.0], inertia)))
        for number, (place, radius) in enumerate(body.balls):
            skin = skin_of(stiffness if alone else 2 * stiffness, scene.friction)
            name = f"ball{number} of {len(made)}"
            plant.RegisterCollisionGeometry(made[-1], RigidTransform(place), Sphere(radius), name, skin)
    if alone:
        skin = skin_of(HARD, scene.friction)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", skin)
    plant.set_stiction_tolerance(SLOW)
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    own = plant.GetMyMutableContextFromRoot(context)
    for one, body in zip(made, scene.bodies, strict=True):
        attitude = Quaternion(body.attitude)
        plant.SetFreeBodyPose(own, one, RigidTransform(attitude, body.position))
        rate = RotationMatrix(attitude).matrix() @ np.array(body.rate)
        plant.SetFreeBodySpatialVelocity(own, one, SpatialVelocity(rate, body.velocity))
    simulator = Simulator(diagram, context)
    config = SimulatorConfig(
        integration_scheme="runge_kutta3", max_step_size=LONGEST, accuracy=ACCURACY, use_error_control=True
    )
    ApplySimulatorConfig(config, simulator)
    simulator.Initialize()
    simulator.AdvanceTo(scene.duration)
    found = []
    for one in made:
        motion = one.EvalSpatialVelocityInWorld(own)
        rate = one.EvalPoseInWorld(own).rotation().matrix().T @ motion.rotational()
        found.append({"velocity": motion.translational().tolist(), "rate": rate.tolist()})
    return found


def main() -> None:
    """Write what becomes of every scene, with the version of Drake."""
    scenes = {name: {f"{each:g}": end_of(scene, each) for each in STIFFNESSES} for name, scene in SCENES.items()}
    OF_DRAKE.write_text(json.dumps({"drake": version("drake"), "scenes": scenes}, indent=1) + "\n")


if __name__ == "__main__":
    main()

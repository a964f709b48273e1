"""Forces of faces on faces as Drake's hydroelastic contact has them, for tests: `python benchmarks/drake_patches.py`.

Drake (`pip install drake`; no other part of dockdyn needs it) gives a body a field of pressure that grows from its surface
inwards. That of a half space grows by its modulus over the thickness of a slab, as an elastic foundation does; that of a block
by its modulus over half of its least width, and of two that touch each bears half of the depth.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pydrake.all import (
    AddCompliantHydroelasticProperties,
    AddCompliantHydroelasticPropertiesForHalfSpace,
    AddContactMaterial,
    AddMultibodyPlantSceneGraph,
    AddRigidHydroelasticProperties,
    Box,
    ContactModel,
    CoulombFriction,
    DiagramBuilder,
    HalfSpace,
    ProximityProperties,
    RigidTransform,
    RotationMatrix,
    Shape,
    SpatialInertia,
    UnitInertia,
)

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from patch_places import BLOCK, DEEP, DEPTHS, OF_DRAKE, PLACES, PRESSURE, SLOPES

SLAB = 0.1  # m
FINE = 0.02  # m, of the edges of a mesh


def skin_of(kind: str) -> ProximityProperties:
    """Return what Drake is told of a surface: that of a rigid body, of a compliant half space or of a compliant block."""
    found = ProximityProperties()
    if kind == "rigid":
        AddRigidHydroelasticProperties(FINE, found)
    elif kind == "half space":
        AddCompliantHydroelasticPropertiesForHalfSpace(SLAB, PRESSURE * SLAB, found)
    else:
        AddCompliantHydroelasticProperties(FINE, 2 * PRESSURE * BLOCK.min() / 2, found)
    AddContactMaterial(dissipation=0.0, friction=CoulombFriction(0.0, 0.0), properties=found)
    return found


def force_between(upper: str, lower: tuple[Shape, str], pose: RigidTransform) -> float:
    """Return the force upwards (N) on a block at a pose, by its contact with what stands."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.set_contact_model(ContactModel.kHydroelastic)
    body = plant.AddRigidBody("upper", SpatialInertia(1.0, [0.0, 0.0, 0.0], UnitInertia(1.0, 1.0, 1.0)))
    plant.RegisterCollisionGeometry(body, RigidTransform(), Box(BLOCK), "upper", skin_of(upper))
    shape, kind = lower
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), shape, "lower", skin_of(kind))
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    own = plant.GetMyMutableContextFromRoot(context)
    plant.SetFreeBodyPose(own, body, pose)
    found = plant.get_contact_results_output_port().Eval(own)
    infos = [found.hydroelastic_contact_info(number) for number in range(found.num_hydroelastic_contacts())]
    return float(sum(abs(info.F_Ac_W().translational()[2]) for info in infos))


def on_a_half_space(deep: float, tilt: float) -> float:
    """Return the force (N) on a rigid block turned by a `tilt` (rad), the middle of whose face is so `deep` (m)."""
    height = BLOCK[2] / 2 * np.cos(tilt) - deep
    return force_between(
        "rigid", (HalfSpace(), "half space"), RigidTransform(RotationMatrix.MakeYRotation(tilt), [0.0, 0.0, height])
    )


def on_each_other(turn: float, shift: tuple[float, float]) -> float:
    """Return the force (N) on a compliant block on another one, turned (rad) about the normal and shifted (m)."""
    pose = RigidTransform(RotationMatrix.MakeZRotation(turn), [*shift, BLOCK[2] - DEEP])
    return force_between("block", (Box(BLOCK), "block"), pose)


def main() -> None:
    """Write the forces in all places, with the version of Drake."""
    forces = {
        "block on a half space": [[on_a_half_space(deep, tilt) for tilt in SLOPES] for deep in DEPTHS],
        "block on a block": [on_each_other(*place) for place in PLACES],
    }
    OF_DRAKE.write_text(json.dumps({"drake": version("drake"), "forces": forces}, indent=1) + "\n")


if __name__ == "__main__":
    main()

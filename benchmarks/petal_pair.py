"""Two rings with three petals, pins, sockets, struts and latches, from mesh or STEP files to a capture probability.

    python benchmarks/petal_pair.py FOLDER            writes ring.stl and pair.toml
    python benchmarks/petal_pair.py FOLDER --step     writes ring.step, too (with build123d, in an environment of its own)

Then, in that folder, what a user does:

    dockdyn mesh check ring.stl
    dockdyn run pair.toml --out first
    dockdyn campaign run pair.toml --out all
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

OUTER, INNER, THICK = 650.0, 550.0, 60.0  # mm, radii and height of the ring
PETAL = [(-110.0, -20.0), (110.0, -20.0), (50.0, 200.0), (-50.0, 200.0)]  # mm, outline of a petal
PLATE, LEAN = 12.0, 25.0  # mm, thickness of a petal; degrees, inwards
PIN, SOCKET = 12.0, 12.5  # mm, radii
PIN_HEIGHT, TIP_HEIGHT = 30.0, 20.0  # mm, over the face
PETALS_AT, PINS_AT, SOCKETS_AT = 0.0, 20.0, 40.0  # degrees about the axis, of the first of three

SCENARIO = """schema = 2
title = "Two rings with petals, mesh on mesh"
duration = "15 s"

[campaign]
runs = 100
seed = 1
sampling = "sobol"

[approach]
of = "ring.front"
to = "target.front"
distance = "250 mm"
closing_speed = { distribution = "uniform", low = "0.04 m/s", high = "0.08 m/s" }
lateral_offset = { distribution = "disc", radius = "30 mm" }
roll = { distribution = "uniform", low = "-2 deg", high = "2 deg" }

[dispersion.pitch]
keys = ["approach.pitch", "approach.yaw"]
distribution = "disc"
radius = "1.5 deg"

[body.chaser]
mass = "6 t"
inertia = [9000, 15000, 15000]
port.interface = { position = [1.6, 0, 0], axis = [1, 0, 0] }

[body.ring]
on = "chaser"
position = [2, 0, 0]
mass = "40 kg"
inertia = [14, 8, 8]
port.front = { position = [0.06, 0, 0], axis = [1, 0, 0] }

[body.ring.surface.hull]
shape = "mesh"
file = "ring.stl"
unit = "mm"
attitude = { x = [0, 1, 0], z = [1, 0, 0] }
tolerance = "1 mm"

[body.ring.feature.skin]
shape = "cloud"
file = "ring.stl"
unit = "mm"
attitude = { x = [0, 1, 0], z = [1, 0, 0] }
count = 50000

[body.target]
mass = "20 t"
inertia = [60000, 90000, 90000]
port.front = { position = [2.06, 0, 0], axis = [1, 0, 0] }

[body.target.surface.hull]
like = "ring.hull"
point = [2, 0, 0]

[body.target.feature.skin]
like = "ring.skin"
point = [2, 0, 0]

[contact_law.steel]
normal = { law = "hunt-crossley", stiffness = "2 GN/m", exponent = 1, restitution = 0.4, speed = "50 mm/s" }
friction = { law = "coulomb", coefficient = 0.1, regularisation = "5 mm/s" }

[contact]
ring-on-target = { between = ["ring.skin", "target.hull"], law = "steel" }
target-on-ring = { between = ["target.skin", "ring.hull"], law = "steel" }

[strut.leg]
between = ["ring", "chaser"]
stiffness = "100 kN/m"
damping = "400 N s/m"
slip = "120 N"
speed = 0
moved_mass = "10 kg"
stroke = ["-150 mm", "100 mm"]
stop_stiffness = "500 kN/m"
stop_damping = "2000 N s/m"

[strut.leg.hexapod]
ring_radius = "0.60 m"
base_radius = "0.63 m"
ring_spread = "20 deg"
base_spread = "20 deg"
base_position = [1.6, 0, 0]

[latch.capture]
between = ["ring", "target"]
anchors = [
{anchors}
]
reach = "3 mm"
lateral = "8 mm"
stiffness = "200 kN/m"
damping = "2000 N s/m"
play = "1 mm"

[requirements]
captured = true
peak_force = "< 5 kN"

[integrator]
tolerance = 1e-6
"""


def ring_mesh(around: int = 96, around_pins: int = 32):
    """Return the ring (mm): its axis is z, its petals stand up."""
    import trimesh
    from manifold3d import CrossSection, Manifold

    ring = Manifold.cylinder(THICK, OUTER, OUTER, around)
    ring -= Manifold.cylinder(3 * THICK, INNER, INNER, around).translate([0, 0, -THICK])
    middle = (OUTER + INNER) / 2
    plate = Manifold.extrude(CrossSection([PETAL]), PLATE).rotate([90, 0, 0]).rotate([LEAN, 0, 0])
    pin = Manifold.cylinder(PIN_HEIGHT, PIN, PIN, around_pins).translate([0, 0, THICK])
    pin += Manifold.cylinder(TIP_HEIGHT, PIN, PIN / 4, around_pins).translate([0, 0, THICK + PIN_HEIGHT])
    pin += Manifold.cylinder(5, PIN, PIN, around_pins).translate([0, 0, THICK - 5])
    socket = Manifold.cylinder(3 * THICK, SOCKET, SOCKET, around_pins).translate([0, 0, -THICK])
    for turn in (0, 120, 240):
        ring += plate.translate([0, INNER + 8, THICK / 2]).rotate([0, 0, turn + PETALS_AT - 90])
        ring += pin.translate([middle, 0, 0]).rotate([0, 0, turn + PINS_AT])
        ring -= socket.translate([middle, 0, 0]).rotate([0, 0, turn + SOCKETS_AT])
    found = ring.to_mesh64()
    mesh = trimesh.Trimesh(np.asarray(found.vert_properties)[:, :3], np.asarray(found.tri_verts), process=False)
    mesh.merge_vertices()
    return mesh


def write_step(file: Path) -> None:
    """Write the same ring with its exact faces."""
    from build123d import Align, Cone, Cylinder, Polyline, Pos, Rot, export_step, extrude, make_face  # type: ignore[import-not-found]

    low = (Align.CENTER, Align.CENTER, Align.MIN)
    ring = Cylinder(OUTER, THICK, align=low) - Cylinder(INNER, 3 * THICK)
    middle = (OUTER + INNER) / 2
    outline = make_face(Polyline(*PETAL, close=True))
    plate = Rot(LEAN, 0, 0) * Rot(90, 0, 0) * extrude(outline, PLATE)
    pin = Pos(0, 0, THICK - 5) * Cylinder(PIN, PIN_HEIGHT + 5, align=low)
    pin += Pos(0, 0, THICK + PIN_HEIGHT) * Cone(PIN, PIN / 4, TIP_HEIGHT, align=low)
    for turn in (0, 120, 240):
        ring += Rot(0, 0, turn + PETALS_AT - 90) * Pos(0, INNER + 8, THICK / 2) * plate
        ring += Rot(0, 0, turn + PINS_AT) * Pos(middle, 0, 0) * pin
        ring -= Rot(0, 0, turn + SOCKETS_AT) * Pos(middle, 0, 0) * Cylinder(SOCKET, 3 * THICK)
    ring.label = "ring"
    export_step(ring, str(file))


def scenario() -> str:
    """Return the pair: the face of each ring has latches between its pins and sockets."""
    rows, radius = [], (OUTER + INNER) / 2e3
    for turn in np.radians(
        [30.0, 150.0, 270.0]
    ):  # between pins and sockets, where one ring meets the other turned over
        y, z = radius * np.cos(turn), radius * np.sin(turn)
        rows.append(f"  [[0.06, {y:.6f}, {z:.6f}], [2.06, {-y:.6f}, {z:.6f}]],")
    return SCENARIO.replace("{anchors}", "\n".join(rows))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if "--step" in sys.argv:
        write_step(folder / "ring.step")
    else:
        ring_mesh().export(folder / "ring.stl")
        (folder / "pair.toml").write_text(scenario())

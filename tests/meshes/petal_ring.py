"""A ring with three petals, three pins and three sockets, as androgynous docking mechanisms have."""

import numpy as np
import trimesh
from manifold3d import CrossSection, Manifold

PETALS = 3
OUTER, INNER, THICK = 0.65, 0.55, 0.06  # m, radii and height of the ring
PETAL = [(-0.13, 0.0), (0.13, 0.0), (0.05, 0.28), (-0.05, 0.28)]  # m, outline of a petal
PLATE = 0.012  # m, its thickness
LEAN = 25.0  # degrees, inwards
PIN, SOCKET = 0.012, 0.0125  # m, radii


def petal_ring(sections=64, around_pins=24):
    """The ring, 1.3 m wide: its axis is z, its petals stand up."""
    ring = Manifold.cylinder(THICK, OUTER, OUTER, sections)
    ring -= Manifold.cylinder(3 * THICK, INNER, INNER, sections).translate([0, 0, -THICK])
    middle = (OUTER + INNER) / 2
    plate = Manifold.extrude(CrossSection([PETAL]), PLATE).rotate([90, 0, 0]).rotate([LEAN, 0, 0])
    pin = Manifold.cylinder(0.1, PIN, PIN, around_pins).translate([0, 0, 0.05])
    pin += Manifold.cylinder(0.03, PIN, PIN / 4, around_pins).translate([0, 0, 0.15])
    socket = Manifold.cylinder(0.2, SOCKET, SOCKET, around_pins).translate([0, 0, -0.05])
    for turn in 360 / PETALS * np.arange(PETALS):
        ring += plate.translate([0, middle, THICK / 2]).rotate([0, 0, turn])
        ring += pin.translate([middle, 0, 0]).rotate([0, 0, turn + 150])
        ring -= socket.translate([middle, 0, 0]).rotate([0, 0, turn + 120])
    found = ring.to_mesh64()
    mesh = trimesh.Trimesh(np.asarray(found.vert_properties)[:, :3], np.asarray(found.tri_verts), process=False)
    mesh.merge_vertices()
    return mesh

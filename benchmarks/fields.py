"""Fields of distances of three sizes of parts at three tolerances: size, time, errors and look-up, as a table in Markdown.

python benchmarks/fields.py                    all of it, 5 mm tips
python benchmarks/fields.py --radius 0         where sharp points touch
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from petal_pair import ring_mesh
from pydantic_core import PydanticCustomError

from dockdyn.contact.surfaces.distance_field import DistanceField
from dockdyn.deferred import jnp
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.meshes.field import refine_field
from dockdyn.scenario.meshes.met_places import SAMPLES

TOLERANCES = 1e-3, 2e-4, 5e-5  # m
POINTS = 200_000  # that are looked up


def guide_part():
    """Return a part of 0.3 m: a plate with a funnel, a boss and four bores."""
    from manifold3d import Manifold

    part = Manifold.cube([300, 200, 30]) + Manifold.cylinder(60, 60, 60, 96).translate([150, 100, 20])
    part -= Manifold.cylinder(100, 10, 55, 96).translate([150, 100, -10])
    for x in (30, 270):
        for y in (30, 170):
            part -= Manifold.cylinder(100, 8, 8, 48).translate([x, y, -20])
    return _as_mesh(part)


def truss(tubes: int = 12, around: int = 24):
    """Return a truss of 4 m: two rings of round bars, 40 mm thick, with posts and diagonals between."""
    from manifold3d import Manifold

    turns = 2 * np.pi * np.arange(tubes) / tubes
    low, high = (
        np.stack([1975 * np.cos(turns), 1975 * np.sin(turns), np.full(tubes, z)], axis=1) for z in (0.0, 600.0)
    )
    bars = [(ring[i], ring[(i + 1) % tubes]) for ring in (low, high) for i in range(tubes)]
    bars += [(low[i], high[i]) for i in range(tubes)] + [(low[i], high[(i + 1) % tubes]) for i in range(tubes)]
    whole = Manifold()
    for one, other in bars:
        along = other - one
        length = float(np.linalg.norm(along))
        tilt, turn = np.degrees(np.arccos(along[2] / length)), np.degrees(np.arctan2(along[1], along[0]))
        whole += Manifold.cylinder(length, 20, 20, around).rotate([0, tilt, turn]).translate(list(one))
    for node in (*low, *high):
        whole += Manifold.sphere(28, 32).translate(list(node))
    return _as_mesh(whole)


def _as_mesh(solid):
    import trimesh

    found = solid.to_mesh64()
    mesh = trimesh.Trimesh(np.asarray(found.vert_properties)[:, :3], np.asarray(found.tri_verts), process=False)
    mesh.merge_vertices()
    return mesh


@Program
def _looked_up(surface, points):
    def one(point):
        distance, normal = surface.distance_and_normal(Vector.of(point))
        return jnp.stack([distance, normal.x])

    return jnp.sum(over_rows(one, points), axis=0)


def look_up_time(field, mesh, radius: float) -> float:
    """Return the time (ns) of a look-up of distance and normal at points over all of a mesh, in no order."""
    import trimesh

    points, faces = trimesh.sample.sample_surface(mesh, POINTS, seed=1)
    places = np.asarray(points) + radius * mesh.face_normals[faces]
    frame = np.zeros(3), np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 0])
    spacings = np.array(field.spacing), np.array(field.finest)
    numbers = field.coefficients, field.children, field.counts, field.corner, *spacings
    surface = DistanceField(*numbers, np.array(field.steepest), *frame)
    times = []
    for _ in range(4):
        began = time.process_time()
        np.asarray(_looked_up(surface, places))
        times.append(time.process_time() - began)
    return min(times) / POINTS * 1e9


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--radius", type=float, default=5.0, help="mm, of the tips that touch")
    radius = parser.parse_args().radius * 1e-3
    print(
        f"Tips of {1e3 * radius:g} mm, {SAMPLES} places of each kind; lengths in mm, time of the processor in s, look-up in ns"
    )
    heads = (
        "part",
        "faces",
        "tolerance",
        "bricks",
        "MB",
        "time",
        "finest",
        "99 %",
        "faces",
        "convex",
        "concave",
        "look-up",
    )
    print("|", " | ".join(heads), "|")
    for name, make in (("part, 0.3 m", guide_part), ("ring, 1.3 m", ring_mesh), ("truss, 4 m", truss)):
        mesh = make()
        mesh.apply_scale(1e-3)
        for tolerance in TOLERANCES:
            began = time.process_time()
            try:
                field = refine_field(mesh, None, tolerance, radius)
            except PydanticCustomError as refusal:
                print(f"| {name} | {len(mesh.faces)} | {1e3 * tolerance:g} | refused: {refusal}", flush=True)
                continue
            spent = time.process_time() - began
            size = (field.coefficients.nbytes + field.children.nbytes) / 1e6
            errors = field.error, field.largest_error, field.convex_error, field.concave_error
            told = " | ".join(f"{1e3 * error:.2g}" for error in errors)
            print(
                f"| {name} | {len(mesh.faces)} | {1e3 * tolerance:g} | {len(field.coefficients)} | {size:.0f} | {spent:.1f} | "
                f"{1e3 * field.finest:.2g} | {told} | {look_up_time(field, mesh, radius):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

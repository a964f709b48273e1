"""Meshes of replays: closed, turned outwards, with every vertex on what they stand for."""

import numpy as np
import pytest
import trimesh

from dockdyn.report.replay import shapes

AXIS = np.array([0.3, -0.4, 0.5])


def _from_segment(points, start, end):
    start, way = np.asarray(start, float), np.asarray(end, float) - start
    share = np.clip((points - start) @ way / (way @ way), 0, 1)
    return np.linalg.norm(points - start - share[:, None] * way, axis=1)


def _from_circle(points, radius, centre):
    along = (points - centre) @ AXIS / np.linalg.norm(AXIS)
    across = np.sqrt(np.maximum(np.sum((points - centre) ** 2, axis=1) - along**2, 0))
    return np.hypot(across - radius, along)


SHAPES = {
    "box": (shapes.box_mesh([0, 1, 2], [1, 3, 5]), 6.0, None),
    "ball": (shapes.ball_mesh(2.0, [1, 1, 1]), 32 * np.pi / 3, lambda p: np.linalg.norm(p - 1, axis=1) - 2.0),
    "capsule": (
        shapes.capsule_mesh([1, 0, 0], [1, 2, 2], 0.5),
        0.25 * np.pi * np.sqrt(8) + np.pi / 6,
        lambda p: _from_segment(p, [1, 0, 0], [1, 2, 2]) - 0.5,
    ),
    "torus": (
        shapes.torus_mesh(2.0, 0.3, [1, 2, 3], AXIS),
        2 * np.pi**2 * 2.0 * 0.3**2,
        lambda p: _from_circle(p, 2.0, [1, 2, 3]) - 0.3,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_closed_and_looks_outwards(name):
    mesh, volume, distance = SHAPES[name]
    found = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    assert found.is_watertight and found.is_winding_consistent
    assert 0.85 * volume < found.volume <= volume * (1 + 1e-12)  # what is round is cut by planes
    if distance is not None:
        assert distance(mesh.vertices) == pytest.approx(0, abs=1e-12)


def test_joined_meshes_are_those_beside_each_other():
    one, other = shapes.box_mesh([0, 0, 0], [1, 1, 1]), shapes.ball_mesh(1.0, [5, 5, 5])
    both = shapes.join_meshes(one, other)
    found = trimesh.Trimesh(both.vertices, both.faces, process=False)
    parts = [trimesh.Trimesh(each.vertices, each.faces, process=False) for each in (one, other)]
    assert len(both.vertices) == len(one.vertices) + len(other.vertices)
    assert found.volume == pytest.approx(sum(part.volume for part in parts), rel=1e-12)

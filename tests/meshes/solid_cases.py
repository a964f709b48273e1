"""Solids drawn at random for tests of meshes, and distances from them by brute force in extended precision."""

import numpy as np
import trimesh

WIDE = np.longdouble


def _turned(mesh, rng):
    """A mesh in any attitude, anywhere within a few of its sizes."""
    mesh.apply_transform(trimesh.transformations.random_rotation_matrix(rng.uniform(size=3)))
    mesh.apply_translation(rng.uniform(-2, 2, 3))
    return mesh


def boulder(rng):
    """A star-shaped solid with notches and spikes."""
    mesh = trimesh.creation.icosphere(subdivisions=2)
    mesh.vertices *= rng.uniform(0.3, 1.0, (len(mesh.vertices), 1))
    return _turned(mesh, rng)


def slender(rng):
    """A rod of many sides, each a thousand times as long as wide."""
    return _turned(trimesh.creation.cylinder(rng.uniform(0.001, 0.1), 2.0, sections=int(rng.integers(64, 256))), rng)


def thin_cup(rng):
    """A bell with a wall of a thousandth of its size."""
    wall, heights = 10 ** rng.uniform(-4, -2.5), np.linspace(0, 1, 12)
    radii = 0.2 + 0.5 * heights ** rng.uniform(0.5, 2)
    outline = np.vstack(
        [
            [[0, 0]],
            np.stack([radii, heights], axis=1),
            np.stack([radii - wall, heights], axis=1)[:0:-1],
            [[radii[0] - wall, wall], [0, wall]],
        ]
    )
    return _turned(trimesh.creation.revolve(outline, sections=24), rng)


def flake(rng):
    """A flat solid, a thousandth as thick as wide."""
    mesh = boulder(rng)
    mesh.vertices = (mesh.vertices - mesh.centroid) * [1, 1, 10 ** rng.uniform(-4, -2)]
    return _turned(mesh, rng)


def splintered(rng):
    """A boulder cut with slivers: edges are divided beside their ends, both faces with them."""
    mesh = boulder(rng)
    vertices, faces = list(mesh.vertices), [list(face) for face in mesh.faces]
    for _ in range(60):
        face = faces[rng.integers(len(faces))]
        turn = rng.integers(3)
        one, other = face[turn], face[(turn + 1) % 3]
        sides = [each for each in faces if one in each and other in each]
        share = 10 ** rng.uniform(-6, -2)
        vertices.append(vertices[one] + share * (vertices[other] - vertices[one]))
        for side in sides:
            faces.remove(side)
            faces += [[len(vertices) - 1 if each == end else each for each in side] for end in (one, other)]
    return trimesh.Trimesh(np.array(vertices), np.array(faces), process=False)


def hollow_box(rng):
    """A box with a cavity that is close to its faces."""
    outer = trimesh.creation.box(rng.uniform(0.3, 1.0, 3))
    inner = trimesh.creation.box(outer.extents * (1 - 10 ** rng.uniform(-4, -1)))
    inner.invert()
    return _turned(trimesh.util.concatenate([outer, inner]), rng)


SOLIDS = (boulder, slender, thin_cup, flake, splintered, hollow_box)


def places_around(mesh, rng, count):
    """Points in the box around a mesh, near its faces, and 1e-7 to 1e-3 of its size from its edges and vertices."""
    size, low, high = np.ptp(mesh.vertices, axis=0).max(), *mesh.bounds
    triangles, vertices = np.asarray(mesh.triangles), np.asarray(mesh.vertices)

    def beside(points):
        ways = rng.normal(size=points.shape)
        far = size * 10 ** rng.uniform(-7, -3, (len(points), 1))
        return points + far * ways / np.linalg.norm(ways, axis=1)[:, None]

    faces, share = rng.integers(len(triangles), size=(2, count)), rng.dirichlet([1, 1, 1], count)
    on_faces = np.einsum("ij,ijk->ik", share, triangles[faces[0]])
    along = rng.uniform(size=(count, 1))
    on_edges = triangles[faces[1], 0] * along + triangles[faces[1], 1] * (1 - along)
    anywhere = rng.uniform(low - 0.2 * size, high + 0.2 * size, (count, 3))
    return np.concatenate(
        [anywhere, beside(on_faces), beside(on_edges), beside(vertices[rng.integers(len(vertices), size=count)])]
    )


def distances_by_force(mesh, points):
    """Return signed distances to all faces in turn: in the plane where the foot is inside, by barycentric coordinates, else to
    the three edges; the sign by the solid angle of all faces (Van Oosterom and Strackee 1983)."""
    triangles = np.asarray(mesh.vertices)[mesh.faces].astype(WIDE)
    found = np.empty(len(points))
    for number, point in enumerate(points.astype(WIDE)):
        squared = squared_distances(point, triangles).min()
        inside = abs(_solid_angle(point, triangles)) > 2 * np.pi
        found[number] = np.sqrt(squared) * (-1 if inside else 1)
    return found


def squared_distances(point, triangles):
    """Return squared distances of a point from triangles."""
    return np.minimum(_squared_to_planes(point, triangles), _squared_to_edges(point, triangles))


def _dot(one, other):
    return np.einsum("...i,...i->...", one, other)


def _squared_to_planes(point, triangles):
    """Along the normal from the longest edge's line, from which a slender face's foot is not far."""
    ways = np.roll(triangles, -1, axis=1) - triangles
    longest = (np.arange(len(triangles)), _dot(ways, ways).argmax(axis=1))
    a, u, v = triangles[longest], ways[longest], -ways[longest[0], longest[1] - 1]
    w = point - a
    beside, height = w - (_dot(w, u) / _dot(u, u))[:, None] * u, v - (_dot(v, u) / _dot(u, u))[:, None] * u
    t = _dot(beside, height) / _dot(height, height)
    s = (_dot(w, u) - t * _dot(v, u)) / _dot(u, u)
    rest = beside - t[:, None] * height
    return np.where((s >= 0) & (t >= 0) & (s + t <= 1), _dot(rest, rest), np.inf)


def _squared_to_edges(point, triangles):
    best = np.full(len(triangles), WIDE(np.inf))
    for start, end in ((0, 1), (1, 2), (2, 0)):
        way, offset = triangles[:, end] - triangles[:, start], point - triangles[:, start]
        rest = offset - np.clip(_dot(offset, way) / _dot(way, way), 0, 1)[:, None] * way
        best = np.minimum(best, _dot(rest, rest))
    return best


def _solid_angle(point, triangles):
    a, b, c = np.moveaxis(triangles - point, 1, 0)
    la, lb, lc = (np.sqrt(_dot(one, one)) for one in (a, b, c))
    below = la * lb * lc + _dot(a, b) * lc + _dot(b, c) * la + _dot(c, a) * lb
    return 2 * np.arctan2(_dot(a, np.cross(b, c)), below).sum()

"""Parts of a mesh that overlap or touch: joined to one solid.

Units: those of the file.
Source: Manifold, a library of booleans of meshes; it comes with the extra `repair`.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from dockdyn.deferred import Float, Int

NEEDED = "parts that overlap or touch are joined with the package manifold3d; pip install 'dockdyn[repair]'"


def can_join() -> bool:
    """Return whether the library is there."""
    return find_spec("manifold3d") is not None


def join_parts(
    vertices: Float[np.ndarray, "n 3"], parts: list[Int[np.ndarray, "m 3"]], cavities: list[Int[np.ndarray, "m 3"]]
) -> tuple[Float[np.ndarray, "k 3"], Int[np.ndarray, "l 3"]] | None:
    """Return the mesh of all that is in at least one of the closed `parts` and in none of the `cavities`, given as solids.

    None where the library is not there, or finds one of them to be none.
    """
    if not can_join():
        return None
    from manifold3d import Error, Manifold, Mesh64, OpType

    solids = [
        [Manifold(Mesh64(vert_properties=vertices, tri_verts=faces.astype(np.uint64))) for faces in several]
        for several in (parts, cavities)
    ]
    if any(solid.status() != Error.NoError for several in solids for solid in several):
        return None
    joined = Manifold.batch_boolean(solids[0], OpType.Add)
    if solids[1]:
        joined = joined - Manifold.batch_boolean(solids[1], OpType.Add)
    mesh = joined.to_mesh64()
    return np.array(mesh.vert_properties, float)[:, :3], np.array(mesh.tri_verts, np.int64)

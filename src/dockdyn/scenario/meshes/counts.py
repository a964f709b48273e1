"""How many faces a mesh file says that it has: asked before it is read, which takes seconds for each million.

Units: none.
Source: the formats STL, OBJ (Wavefront), PLY (Stanford) and GLB (glTF 2.0, section 4).
"""

from __future__ import annotations

import json
import re
import struct

from dockdyn.scenario.tables.part import refuse

MOST = 200_000  # faces
CORNERS = 3 * MOST  # vertices, of as many faces that share none
HEAD = 100_000  # bytes, in which the header of a PLY file ends
STATED = re.compile(rb"^\s*element\s+(vertex|face)\s+(\d{1,18})\s*$", re.MULTILINE)


def check_counts(content: bytes, suffix: str) -> None:
    """Refuse a mesh file with more faces or vertices than are read; one that is damaged is left to its reader."""
    faces, vertices = _COUNTED[suffix.lower()](content)
    if faces > MOST:
        refuse(f"has {faces} faces; must have 1 to {MOST}")
    if vertices > CORNERS:
        refuse(f"has {vertices} vertices; must have at most {CORNERS}")


def _of_stl(content: bytes) -> tuple[int, int]:
    """Return the faces of a binary file by its header, of a text by its words."""
    if len(content) >= 84:
        (count,) = struct.unpack_from("<I", content, 80)
        if len(content) == 84 + 50 * count:
            return count, 0
    return content.lower().count(b"endfacet"), 0


def _of_obj(content: bytes) -> tuple[int, int]:
    """Return the faces and vertices of a text, a line each; more where faces have more than three corners."""
    lines = b"\n" + content
    return sum(lines.count(b"\nf" + space) for space in (b" ", b"\t")), lines.count(b"\nv ")


def _of_ply(content: bytes) -> tuple[int, int]:
    """Return what the header says."""
    stated = {name: int(count) for name, count in STATED.findall(content[:HEAD].partition(b"end_header")[0])}
    return stated.get(b"face", 0), stated.get(b"vertex", 0)


def _of_glb(content: bytes) -> tuple[int, int]:
    """Return the faces that the nodes of the scene have together."""
    try:
        (size,) = struct.unpack_from("<I", content, 12)
        told = json.loads(content[20 : 20 + size])
        counts = [int(one["count"]) for one in told.get("accessors", [])]
        corners = [
            sum(
                counts[part["indices"] if part.get("indices") is not None else part["attributes"]["POSITION"]]
                for part in mesh["primitives"]
            )
            for mesh in told.get("meshes", [])
        ]
        shown = [corners[node["mesh"]] for node in told.get("nodes", []) if "mesh" in node]
        return sum(shown) // 3, max(counts, default=0) // 3
    except (struct.error, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return 0, 0


_COUNTED = {".stl": _of_stl, ".obj": _of_obj, ".ply": _of_ply, ".glb": _of_glb}

"""Solids of a CAD file: their names, their skins as triangles, and those faces that are parts of exact surfaces.

The file is read by another process, within limits: what is wrong with a file can break that one alone.

Units: m and rad, whatever the unit of the file.
Source: STEP (ISO 10303-21), IGES 5.3; glTF 2.0 with the extension TM_brep_faces.
"""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.files import read_file
from dockdyn.scenario.language.given_file import Sort
from dockdyn.scenario.tables.part import refuse

CAD = Sort("a CAD file", 250_000_000)
KINDS = {".step": "step", ".stp": "step", ".iges": "iges", ".igs": "iges"}  # by how a file's name ends
NEEDED = "reading CAD files takes the package cascadio; pip install 'dockdyn[cad]'"
MEMORY, SECONDS = 6_000_000_000, 120  # bytes and s of processor time for a file; twice as long on the clock
MOST_SOLIDS = 1_000
LONGEST = 60  # letters of a name
MOST_NODES = 100_000  # of an assembly
NAMED = re.compile(r"[^A-Za-z0-9_-]+")  # what a name in a scenario has not
COMPONENTS = {"b": np.uint8, "h": np.uint16, "i": np.uint32, "f": np.float32}
TYPES = {5121: "b", 5123: "h", 5125: "i", 5126: "f"}  # of glTF


class Face(NamedTuple):
    """A face of a solid that is part of an exact surface, as its kernel has it (axes of the solid) and by its triangles."""

    sort: str  # "plane", "cylinder", "cone", "sphere" or "torus"
    facts: dict[str, Any]
    triangles: np.ndarray  # (n, 3, 3) m, their corners counterclockwise from outside; axes of the file

    @property
    def area(self) -> float:
        return float(np.linalg.norm(self.normals, axis=1).sum())

    @property
    def normals(self) -> np.ndarray:
        """Return the outward normals of the triangles (n, 3), as long as their areas (m²)."""
        first, second, third = np.moveaxis(self.triangles, 1, 0)
        return 0.5 * np.cross(second - first, third - first)


class CadSolid(NamedTuple):
    """A solid where the file has it."""

    name: str
    vertices: np.ndarray  # (n, 3) m
    faces: np.ndarray  # (m, 3)
    place: np.ndarray  # (4, 4): from the solid's axes to the file's
    exact: list[Face]
    others: int  # faces that are of no such surface


def read_solids(file: Path, tolerance: float) -> list[CadSolid]:
    """Return the solids of a CAD file, their triangles within a `tolerance` (m) of it.

    Refuses what is no such file, what holds no solid, and what takes too much memory or time. Raises OSError as `read_file`.
    """
    kind = KINDS.get(file.suffix.lower())
    if kind is None:
        refuse(f"must be a CAD file, one that ends in {', '.join(KINDS)}")
    if importlib.util.find_spec("cascadio") is None:
        refuse(NEEDED)
    content = read_file(file, CAD.most)
    if kind == "step" and not content[:1000].lstrip().startswith(b"ISO-10303-21"):
        refuse("is no STEP file: it does not begin with ISO-10303-21")
    return _solids_in(_tessellate(content, kind, tolerance), 1e-3 if kind == "iges" else 1.0)


def _tessellate(content: bytes, kind: str, tolerance: float) -> bytes:
    """Return a file as glTF, made by a process of its own."""
    child = str(Path(__file__).with_name("tessellate.py"))
    command = [sys.executable, "-I", child, kind, repr(1e3 * tolerance), str(MEMORY), str(SECONDS)]
    limits = f"within {SECONDS} s and {MEMORY / 1e9:g} GB at this tolerance; state a larger one, or write a part of it"
    try:
        ended = subprocess.run(command, input=content, capture_output=True, timeout=2 * SECONDS, check=False)
    except subprocess.TimeoutExpired:
        refuse(f"is not read {limits}")
    if ended.returncode < 0 or b"MemoryError" in ended.stderr:
        refuse(f"is not read {limits}, unless it is damaged")
    if not ended.stdout.startswith(b"glTF"):
        refuse(f"cannot be read as {kind.upper()}: it is damaged, cut off or something else")
    return ended.stdout


def _solids_in(content: bytes, scale: float) -> list[CadSolid]:
    """Return the solids of glTF, each as often as the assembly has it, with a name of its own.

    `scale` is what its triangles are in (m): of IGES mm, as its exact surfaces tell, which are in m.
    """
    told, numbers = _chunks_of(content)
    meshes, nodes = told.get("meshes", []), told.get("nodes", [])
    waiting = deque((node, np.eye(4)) for scene in told.get("scenes", []) for node in scene.get("nodes", []))
    found, names, seen = list[CadSolid](), dict[str, int](), 0
    while waiting:
        number, above = waiting.popleft()
        node, seen = nodes[number], seen + 1
        if seen > MOST_NODES:
            refuse(f"has more than {MOST_NODES} parts of an assembly; must be a smaller one")
        place = above @ np.array(node["matrix"], float).reshape(4, 4).T if "matrix" in node else above
        waiting += [(child, place) for child in node.get("children", [])]
        if "mesh" not in node:
            continue
        if len(found) == MOST_SOLIDS:
            refuse(f"has more than {MOST_SOLIDS} solids; must be a smaller assembly")
        mesh, place = meshes[node["mesh"]], place.copy()
        place[:3, 3] *= scale
        name = _free_name(str(node.get("name") or mesh.get("name") or ""), names)
        found.append(_solid_of(name, mesh, told, numbers, place, scale))
    if not found:
        refuse("holds no solid")
    return found


def _free_name(stated: str, names: dict[str, int]) -> str:
    """Return a name that a scenario takes and no solid has yet."""
    name = NAMED.sub("-", stated)[:LONGEST].strip("-_") or "part"
    while True:
        names[name] = count = names.get(name, 0) + 1
        if count == 1:
            return name
        name = f"{name}-{count}"


def _chunks_of(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what a file of glTF tells, and its numbers."""
    size = struct.unpack_from("<I", content, 12)[0]
    return json.loads(content[20 : 20 + size]), content[20 + size + 8 :]


def _solid_of(
    name: str, mesh: dict[str, Any], told: dict[str, Any], numbers: bytes, place: np.ndarray, scale: float
) -> CadSolid:
    """Return a solid whose mesh is at a `place` of the file."""
    vertices, faces, exact, others, count = [], [], list[Face](), 0, 0
    for part in mesh["primitives"]:
        points = (
            scale * _numbers_of(told, numbers, part["attributes"]["POSITION"]).astype(float) @ place[:3, :3].T
            + place[:3, 3]
        )
        corners = _numbers_of(told, numbers, part["indices"]).reshape(-1, 3).astype(np.int64)
        corners = corners if np.linalg.det(place[:3, :3]) > 0 else corners[:, ::-1]
        vertices.append(points)
        faces.append(corners + count)
        count += len(points)
        extension = part.get("extensions", {}).get("TM_brep_faces")
        if extension is None:
            continue
        of_face = _numbers_of(told, numbers, extension["faceIndices"]).ravel()
        known = {each["face_index"]: each for each in extension.get("faces", []) if each}
        for number in np.unique(of_face):
            facts = known.get(int(number))
            if facts is None or facts["type"] not in ("plane", "cylinder", "cone", "sphere", "torus"):
                others += 1
                continue
            exact.append(Face(facts["type"], facts, points[corners[of_face == number]]))
    return CadSolid(name, np.concatenate(vertices), np.concatenate(faces), place, exact, others)


def _numbers_of(told: dict[str, Any], numbers: bytes, accessor: int) -> np.ndarray:
    """Return the numbers of an accessor, a row for each element."""
    one = told["accessors"][accessor]
    view, width = told["bufferViews"][one["bufferView"]], 3 if one["type"] == "VEC3" else 1
    kind = np.dtype(COMPONENTS[TYPES[one["componentType"]]])
    start, count = view.get("byteOffset", 0) + one.get("byteOffset", 0), one["count"] * width
    if "byteStride" in view and view["byteStride"] != width * kind.itemsize:
        rows = np.ndarray((one["count"], width), kind, numbers, start, (view["byteStride"], kind.itemsize))
        return np.array(rows)
    return np.frombuffer(numbers, kind, count, start).reshape(-1, width)

"""What a mesh file holds: asked before it is read, which takes seconds for each million of faces.

Units: none.
Source: the formats STL, OBJ (Wavefront), PLY (Stanford) and GLB (glTF 2.0, section 4).
"""

from __future__ import annotations

import json
import os
import re
import struct
import sys
from codecs import BOM_UTF8
from pathlib import Path

from dockdyn.files import check_file, regular_file
from dockdyn.scenario.language.given_file import MESH
from dockdyn.scenario.tables.part import refuse

SUFFIXES = (".stl", ".obj", ".ply")  # of what touches or is touched
MOST = 200_000  # faces
CORNERS = 3 * MOST  # vertices, of as many faces that share none
HEAD = 100_000  # bytes, in which the header of a PLY file ends
STL_HEAD, STL_FACE = 84, 50  # bytes of a binary STL file
STRANGERS = [  # what else comes under the name of a mesh
    (re.compile(known, re.IGNORECASE), words)
    for known, words in (
        (rb"version https://git-lfs", "is a Git LFS pointer, not the mesh; fetch it by git lfs pull"),
        (rb"(\.\./)*(/annex/|\.git/annex/)", "is a git-annex pointer, not the mesh; fetch it by git annex get"),
        (rb"<!doctype html|<html|<head|<body", "is an HTML page, not the mesh; download the file itself"),
        (rb"<\?xml|<", "is XML, not a mesh"),
        (rb"ISO-10303-21", "is a STEP file; must be a mesh, dockdyn mesh import makes one of it"),
        (rb"PK\x03\x04", "is a zip archive, not the mesh; unpack it"),
        (rb"\x1f\x8b", "is compressed by gzip; unpack it"),
        (rb"glTF", "is a glTF file, whatever its name says"),
        (rb"\x7fELF|%PDF|\x89PNG|\xff\xd8\xff", "is no mesh"),
    )
]
STATED = re.compile(rb"^\s*element\s+(vertex|face)\s+(\d{1,18})\s*$", re.MULTILINE)


def check_content(content: bytes, suffix: str) -> None:
    """Refuse what is no mesh, is cut off, or has more faces or vertices than are read; other damage is left to its reader."""
    content = content.removeprefix(BOM_UTF8)
    suffix, begin = suffix.lower(), content[:HEAD].lstrip()
    if not begin:
        refuse("is empty; must be a mesh")
    for known, words in STRANGERS:
        if known.match(begin) and not (suffix == ".glb" and begin.startswith(b"glTF")):
            refuse(words)
    faces, vertices = _COUNTED[suffix](content)
    _refuse_many(faces)
    if vertices > CORNERS:
        refuse(f"has {vertices} vertices; must have at most {CORNERS}, make it simpler")
    if suffix in _WHOLE and (missing := _WHOLE[suffix](content)):
        refuse(f"is cut off: {missing}")


def check_mesh_file(path: Path) -> None:
    """Refuse what is no regular file, or too large: in faces, where its beginning states them. Raises OSError as `check_file`
    does."""
    with regular_file(path, sys.maxsize) as file:
        size = os.fstat(file.fileno()).st_size
        begin = file.read(HEAD) if size > MESH.most else b""
    if path.suffix.lower() == ".stl" and size == STL_HEAD + STL_FACE * _stated_by_stl(begin.ljust(STL_HEAD, b"\0")):
        _refuse_many(_stated_by_stl(begin))
    if path.suffix.lower() == ".ply":
        _refuse_many(_of_ply(begin)[0])
    check_file(path, MESH.most)


def _refuse_many(faces: int) -> None:
    if faces > MOST:
        refuse(f"has {faces} faces; must have 1 to {MOST}, make it simpler")


def _cut_stl(content: bytes) -> str:
    """Return what is missing of a binary file whose header says more than there is, or of a text without an end."""
    if content.lstrip()[:5].lower() == b"solid" and b"facet" in content[:HEAD]:
        return "" if b"endsolid" in content[-HEAD:].lower() else "it does not end with endsolid"
    if len(content) < STL_HEAD:
        return f"it has {len(content)} bytes, of which the header alone has {STL_HEAD}"
    stated, there = _stated_by_stl(content), (len(content) - STL_HEAD) // STL_FACE
    return f"its header says {stated} faces, {there} are there" if there < stated else ""


def _cut_ply(content: bytes) -> str:
    """Return what is missing of a file that says how many vertices and faces it has: a line each, or some bytes."""
    if not content.startswith(b"ply"):
        return ""
    head, mark, rest = content.partition(b"end_header")
    faces, vertices = _of_ply(content)
    if not mark:
        return "its header has no end"
    if b"format ascii" in head:
        lines = len(rest.split(b"\n", 1)[-1].splitlines())
        return f"it states {vertices + faces} lines, {lines} are there" if lines < vertices + faces else ""
    least = 3 * 4 * vertices + (1 + 3) * faces  # of the smallest numbers that hold coordinates and corners
    return f"it states {vertices} vertices and {faces} faces, and holds {len(rest)} bytes" if len(rest) < least else ""


def _stated_by_stl(content: bytes) -> int:
    """Return the faces that the header of a binary file states."""
    return int(struct.unpack_from("<I", content, STL_HEAD - 4)[0])


def _of_stl(content: bytes) -> tuple[int, int]:
    """Return the faces of a binary file by its header, of a text by its words."""
    if len(content) >= STL_HEAD and len(content) == STL_HEAD + STL_FACE * _stated_by_stl(content):
        return _stated_by_stl(content), 0
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


_WHOLE = {".stl": _cut_stl, ".ply": _cut_ply}
_COUNTED = {".stl": _of_stl, ".obj": _of_obj, ".ply": _of_ply, ".glb": _of_glb}

"""Two bodies whose shapes are closed meshes in files, which touch wherever they meet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import MESH, refusal
from dockdyn.scenario.language.units import in_base_units
from dockdyn.scenario.meshes.contents import SUFFIXES, check_mesh_file
from dockdyn.scenario.meshes.pieces import POINTS as OF_FACE
from dockdyn.scenario.starters.pieces import (
    Line,
    approach,
    closing_speed,
    contact_questions,
    contacts,
    effective_mass,
    join_tables,
    lateral_offset,
    loop,
    mass_of,
    on_rig,
    opening,
    quote,
    rig_questions,
    row,
    shared_law,
    table,
    write_answer,
)
from dockdyn.scenario.starters.question import Amount, Answers, Choice, GivenFile, digits, plain, round_bounds
from dockdyn.scenario.starters.starter import Starter

LASTS = 0.05  # s, a contact of the whole area pressed flat
AFTER = 2.0  # s, that the run goes on once they have met
POINTS = 1000  # that touch, of each mesh: the largest force of most pairs is then off by less than a tenth
ON_RIG = 300  # where contacts are so much softer that far more of them touch at once
MOST_FACES = 200_000
TIP = 0.04  # of the largest extent of a mesh: the largest radius of balls that is tried
HALVINGS, LOOKED_AT = 8, 2000  # of that; faces at most
FINE = 1e-3  # of the largest extent of a mesh: the distance from it may be off by so much
ROUNDING = 1e-9  # of the largest moment of inertia
UNITS = ("mm", "cm", "m", "inch", "foot")
LIKELY = (0.02, 20.0)  # m, what docks is large
ALUMINIUM = 2700.0  # kg/m³
AXES = {sign + axis: f"the file's {sign}{axis} axis points out" for sign in ("", "-") for axis in "xyz"}


@record
class MeshShape:
    """What a mesh file holds, in its own unit of length."""

    bounds: Float[np.ndarray, "2 3"]
    centre: Float[np.ndarray, "3"]  # of mass, of one density
    gyration: Float[np.ndarray, "3 3"]  # inertia about it over mass
    volume: float
    faces: int
    room: float  # the radius of balls that have room beneath its faces

    def size(self, unit: float = 1.0) -> list[float]:
        """Return the extents along the file's axes, in units of which the file's is `unit`."""
        extents: list[float] = (unit * np.diff(self.bounds, axis=0)[0]).tolist()
        return extents


def read_shape(path: Path) -> MeshShape:
    """Return what a mesh file holds. Raises ScenarioError for one that is the skin of no solid."""
    if path.suffix.lower() not in SUFFIXES:
        raise ScenarioError(f"must be a mesh, a file that ends in {', '.join(SUFFIXES)}")
    from dockdyn.scenario.meshes.kept import solid_of
    from dockdyn.scenario.meshes.mesh_file import MeshFile

    try:
        check_mesh_file(path)
        solid = solid_of(MeshFile(path, path.stat().st_mtime_ns, None))
    except PydanticCustomError as error:
        raise ScenarioError(str(error)) from None
    except OSError as error:
        raise refusal(error, path.name, MESH) from None
    import trimesh

    mesh = trimesh.Trimesh(solid.vertices, solid.faces, process=False)
    if len(mesh.faces) > MOST_FACES:
        raise ScenarioError(f"has {len(mesh.faces)} faces; must have at most {MOST_FACES}, make it simpler")
    return MeshShape(
        np.asarray(mesh.bounds),
        np.asarray(mesh.center_mass),
        mesh.moment_inertia / mesh.volume,
        float(mesh.volume),
        len(mesh.faces),
        _room_in(mesh),
    )


def _room_in(mesh: Any) -> float:  # noqa: ANN401, trimesh's
    """Return the radius of balls that have room in a mesh beneath the middles of its faces, as far as halving tells: half of
    the first that has, from `TIP` of its size down."""
    from dockdyn.scenario.meshes.cloud import BallsInside

    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    some = np.unique(np.linspace(0, len(faces) - 1, LOOKED_AT).astype(int))
    middles, ways = mesh.triangles_center[some], np.asarray(mesh.face_normals)[some]
    radius = TIP * float(np.ptp(vertices, axis=0).max())
    for _ in range(HALVINGS):
        if BallsInside(vertices, faces, radius).move(middles, ways)[1].all():
            return radius / 2
        radius /= 2
    return radius / 2


def _describe_mesh(name: str, found: object) -> str:
    assert isinstance(found, MeshShape)
    return f"{name}: a closed mesh of {found.faces} faces, {_by(found.size())} in its own unit"


def _by(size: list[float]) -> str:
    return " by ".join(f"{extent:.4g}" for extent in size)


def shape_of(answers: Answers, name: str) -> MeshShape:
    """Return the mesh of a body."""
    found = answers.files[f"{name}-mesh"]
    assert isinstance(found, MeshShape)
    return found


def _unit(answers: Answers) -> float:
    """Return the length (m) of the files' unit."""
    return in_base_units(f"1 {answers.texts['mesh-unit']}")


def _largest(answers: Answers) -> float:
    """Return the largest extent (m) of both."""
    return _unit(answers) * max(max(shape_of(answers, name).size()) for name in ("chaser", "target"))


def _smaller(answers: Answers) -> float:
    """Return the largest extent (m) of the smaller one."""
    return _unit(answers) * min(max(shape_of(answers, name).size()) for name in ("chaser", "target"))


def _shallower(answers: Answers) -> float:
    """Return the extent (m) along its axis of the body that has less of it."""
    return min(
        shape_of(answers, name).size(_unit(answers))["xyz".index(answers.texts[f"{name}-axis"][-1])]
        for name in ("chaser", "target")
    )


def _usual_tip(answers: Answers) -> float:
    """Return the radius (m) of balls that round edges and have room in both."""
    return min(
        0.02 * _smaller(answers), *(_unit(answers) * shape_of(answers, one).room for one in ("chaser", "target"))
    )


def _mass(answers: Answers) -> float:
    return effective_mass(answers["chaser-mass"], answers["target-mass"])


def _text(answers: Answers) -> str:
    gap = float(digits(0.1 * _smaller(answers)))
    # what has petals or pins meets the other's only when it is as deep in it as these are long
    duration = (1.5 * gap + _shallower(answers)) / answers["closing-speed"] + AFTER
    return join_tables(
        opening(duration, "for the approach and what follows", answers)
        + shared_law(answers, _mass(answers), 0.5),  # of the stiffness, since both contacts press
        approach("chaser.face", "target.face", answers, "of the middles of the faces that meet", gap),
        _body("chaser", answers),
        _body("target", answers),
        contacts(
            {"chaser-on-target": ("chaser.skin", "target.hull"), "target-on-chaser": ("target.skin", "chaser.hull")}
        ),
        loop(answers),
    )


def _body(name: str, answers: Answers) -> str:
    """Return a body that touches at points spread over its mesh, and is touched all over it."""
    shape, unit, mass = shape_of(answers, name), _unit(answers), answers[f"{name}-mass"]
    out = answers.texts[f"{name}-axis"]
    axis, sign = "xyz".index(out[-1]), -1 if out.startswith("-") else 1
    middle = shape.bounds.mean(axis=0)
    middle[axis] = shape.bounds[(sign + 1) // 2, axis]
    direction = [sign if number == axis else 0 for number in range(3)]
    inertia = mass * unit**2 * shape.gyration
    inertia = np.where(abs(inertia) > ROUNDING * inertia.max(), inertia, 0.0)
    rows = ", ".join(f"[{', '.join(map(plain, line))}]" for line in inertia.tolist())
    place = row((-unit * shape.centre).tolist())
    radius, points = write_answer(answers, "tip-radius"), ON_RIG if on_rig(answers) else POINTS
    port = f"{{ position = {row((unit * (middle - shape.centre)).tolist())}, axis = {row(direction)} }}"
    full = f"{digits(ALUMINIUM * unit**3 * shape.volume)} kg if all of aluminium"
    main: list[Line] = [
        ("mass", write_answer(answers, f"{name}-mass"), f"the mesh is {_by(shape.size(unit))} m, {full}"),
        ("inertia", f"[{rows}]", "kg m², of one density all over"),
        ("port.face", port, "m, the foremost place of the mesh, from the centre of mass; the way out"),
    ]
    mesh: list[Line] = [
        ("file", quote(answers.texts[f"{name}-mesh"]), ""),
        ("unit", quote(answers.texts["mesh-unit"]), "of the file"),
        ("point", place, "m, of the file's origin from the centre of mass"),
    ]
    skin: list[Line] = [
        ("shape", '"cloud"', "points that touch"),
        *mesh,
        ("count", str(max(points, OF_FACE * shape.faces)), "at most so many"),
        ("radius", radius, "of the balls by which they touch"),
    ]
    fine = min(FINE * unit * max(shape.size()), answers["tip-radius"] / 2)
    tolerance = f'"{digits(1e3 * fine)} mm"'
    hull: list[Line] = [
        ("shape", '"mesh"', "what is touched"),
        *mesh,
        ("tip_radius", radius, "of what touches it"),
        ("tolerance", tolerance, "by which the distance may be off; less takes longer"),
    ]
    return join_tables(
        table(f"body.{name}", main),
        table(f"body.{name}.feature.skin", skin),
        table(f"body.{name}.surface.hull", hull),
    )


def _file(name: str) -> GivenFile:
    why = f"The path of a closed mesh, {', '.join(SUFFIXES)}, of the {name}'s part that touches."
    return GivenFile(f"{name}-mesh", why, read_shape, _describe_mesh)


def _axis(name: str) -> Choice:
    why = f"The axis of the {name}'s file that points out of the face that meets the other one."

    def usual(options: Mapping[str, str]) -> str:
        return "z"

    return Choice(f"{name}-axis", why, lambda answers: AXES, usual=usual)


def _sizes(answers: Answers) -> Mapping[str, str]:
    """Return how large both would be in each unit, the likeliest first: mm, unless only m makes them as large as what docks."""
    sizes = [shape_of(answers, name).size() for name in ("chaser", "target")]
    largest, lengths = max(map(max, sizes)), {unit: in_base_units(f"1 {unit}") for unit in UNITS}
    likely = [unit for unit in ("mm", "m") if LIKELY[0] <= lengths[unit] * largest <= LIKELY[1]]
    lengths = {unit: lengths[unit] for unit in dict.fromkeys((*likely[:1], *UNITS))}
    return {
        unit: " and ".join(f"{_by([length * extent for extent in size])} m" for size in sizes)
        for unit, length in lengths.items()
    }


MESH_PAIR = Starter(
    "two bodies whose shapes are meshes, in STL, OBJ or PLY files",
    (
        *rig_questions(),
        _file("chaser"),
        _file("target"),
        Choice(
            "mesh-unit",
            "The unit of length of the numbers in both mesh files, which do not say it: with it they are",
            _sizes,
            tell=lambda options, unit: f"They are {options[unit]}.",
        ),
        _axis("chaser"),
        _axis("target"),
        mass_of("chaser-mass", 150.0, "the body that comes"),
        mass_of("target-mass", 400.0, "the body that it comes to"),
        closing_speed(0.03, 0.2),
        lateral_offset(lambda answers: 0.05 * _smaller(answers), lambda answers: min(0.5, 0.3 * _smaller(answers))),
        Amount(
            "tip-radius",
            "Of the balls by which points of a mesh touch: it rounds edges, and must fit into what is thin.",
            "m",
            "a radius",
            _usual_tip,
            lambda answers: round_bounds(
                min(2e-3 * _largest(answers), _usual_tip(answers) / 4),
                max(0.03 * _smaller(answers), 3e-3 * _largest(answers)),
            ),
            told_in="mm",
        ),
        *contact_questions(_mass, LASTS),
    ),
    _text,
    "when and where the meshes touched, with which force, and how exactly momentum and energy were kept",
    mock_ups=lambda answers: ("chaser", "target"),
)

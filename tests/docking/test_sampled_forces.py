"""How far off forces of clouds are said to be, beside closed forms and beside finer clouds."""

import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.docking.sampled_forces import sampled_forces, sampling_doubts
from dockdyn.pages import report_of
from dockdyn.report.mesh_table import SETTLED
from dockdyn.report.wording import format_significant
from dockdyn.scenario.load import parse
from dockdyn.scenario.meshes.cloud import BallsInside

PRESSURE = 5e6  # N/m³
SIDES = 0.2, 0.3, 0.1  # m
GAP = 5e-4  # m, at the start
SCENARIO = """
schema = 2
duration = "10 ms"
[body.block]
mass = "10 kg"
inertia = [1, 1, 1]
position = [0, 0, {height!r}]
velocity = [0, 0, -0.5]
attitude = {attitude!r}
[body.block.feature.skin]
shape = "cloud"
file = "{file}"
count = {count}
radius = "{radius} mm"
[body.floor]
mass = "1000 kg"
inertia = [90, 90, 90]
[body.floor.surface.top]
shape = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
[contact.skin]
between = ["skin", "top"]
normal = {{ law = "hertz", stiffness = "{stiffness!r} N/m", exponent = 1 }}
[output]
interval = "1 ms"
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    file = tmp_path_factory.mktemp("meshes") / "block.stl"
    trimesh.creation.box(extents=SIDES).export(file)
    return file


def text_of(file, attitude, height, count, radius=0):
    return SCENARIO.format(
        file=file,
        attitude=attitude,
        height=height,
        count=count,
        radius=radius,
        stiffness=float(PRESSURE * trimesh.load_mesh(file).area),
    )


def run(*given):
    scenario = parse(text_of(*given), "test")
    return scenario.content, dockdyn.simulate(scenario)


def wedge_force(depth, length):
    """N, of an edge of length between faces at 45° to a plane: on either a strip whose overlap falls from the depth to zero."""
    return 2 * PRESSURE * length * (depth * np.sqrt(2)) * depth / 2


@pytest.mark.full
@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.full)])
def test_the_true_force_is_that_of_the_closed_form(block, count):
    """A block on its long edge, both faces at 45°: strips of the two faces, and triangles of both ends, are in the floor."""
    half = np.radians(45) / 2
    height = float((SIDES[0] + SIDES[2]) / 2 * np.sqrt(0.5)) + GAP
    content, dataset = run(block, [float(np.cos(half)), 0, float(np.sin(half)), 0], height, count)
    (found,) = sampled_forces(dataset, content)
    row = int(np.abs(dataset.time.values - found.time).argmin())
    depth = (SIDES[0] + SIDES[2]) / 2 * np.sqrt(0.5) - float(np.diff(dataset.position.values[row, ::-1, 2], axis=0)[0])
    known = wedge_force(depth, SIDES[1]) + 2 * PRESSURE * depth**3 / 3  # of an end: ∫ (depth − z) 2 z dz
    assert found.true == pytest.approx(known, rel=0.01)
    points = content.body[0].feature[0].sample
    ways = [trimesh.transformations.quaternion_matrix(one)[:3, :3] for one in dataset.attitude.values[row]]
    upper, lower = dataset.position.values[row]
    deep = np.maximum((lower - upper - points.points @ ways[0].T) @ ways[1][:, 2], 0)
    assert found.by_points == pytest.approx(PRESSURE * points.area * (points.shares @ deep), rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("radius", [0, 2])
def test_the_stated_error_is_that_beside_a_finer_cloud(block, radius):
    """At the same place, askew on a corner; and it is said in the summary and in the report."""
    attitude = np.array([1, 0.3, 0.5, 0.1]) / np.linalg.norm([1, 0.3, 0.5, 0.1])
    mesh = trimesh.load_mesh(block)
    turn = trimesh.transformations.quaternion_matrix(attitude)[:3, :3]
    height = GAP - float((mesh.vertices @ turn.T)[:, 2].min())
    content, dataset = run(block, attitude.tolist(), height, 400, radius)
    finer = parse(text_of(block, attitude.tolist(), height, 100_000, radius), "finer").content
    (found,), (known,) = (sampled_forces(dataset, one) for one in (content, finer))
    assert abs(known.error()) < 0.02 < abs(found.error())
    assert found.true == pytest.approx(known.true, rel=0.01) == pytest.approx(known.by_points, rel=0.03)
    summary = dockdyn.summarise(dataset)
    assert summary["sampling_error"] == [found.error()]
    assert summary["sampling_uncertainty"] == [found.uncertainty]
    assert found.uncertainty < SETTLED
    assert any("cloud has too few points" in words for words in summary["warnings"]) == (abs(found.error()) > 0.1)
    (block_of_meshes,) = (one for one in report_of(dataset).blocks if one.title == "Meshes")
    off = f"{'+' * (found.error() > 0)}{format_significant(100 * found.error(), 2)}"
    assert f"of skin {off} %" in block_of_meshes.notes[-1]


@pytest.mark.full
def test_a_face_flat_on_another_is_known_whatever_the_points(block):
    """All of a face touches at once, in as many pieces as there are points on it, and more."""
    content, dataset = run(block, [1, 0, 0, 0], SIDES[2] / 2 + GAP, 40_000)
    (found,) = sampled_forces(dataset, content)
    row = int(np.abs(dataset.time.values - found.time).argmin())
    depth = SIDES[2] / 2 - float(np.diff(dataset.position.values[row, ::-1, 2])[0])
    known = PRESSURE * (
        depth * SIDES[0] * SIDES[1] + depth**2 / 2 * 2 * (SIDES[0] + SIDES[1])
    )  # and strips of the sides
    assert found.uncertainty < 0.05
    assert found.true == pytest.approx(known, rel=found.uncertainty + 1e-6)


@pytest.mark.full
def test_a_force_that_still_changes_is_said_to_be_known_so_far_only(block, monkeypatch):
    """With few pieces allowed, a corner askew: the true force is as near as is said, and no count is blamed for more."""
    attitude = (np.array([1, 0.3, 0.5, 0.1]) / np.linalg.norm([1, 0.3, 0.5, 0.1])).tolist()
    turn = trimesh.transformations.quaternion_matrix(attitude)[:3, :3]
    height = GAP - float((trimesh.load_mesh(block).vertices @ turn.T)[:, 2].min())
    content, dataset = run(block, attitude, height, 400)
    (settled,) = sampled_forces(dataset, content)
    monkeypatch.setattr("dockdyn.docking.sampled_forces.MOST", 20)
    (first,) = sampled_forces(dataset, content)
    assert first.uncertainty == 1  # nothing was halved
    assert settled.uncertainty < SETTLED
    summary = {"sampling_error": [first.error()], "sampling_uncertainty": [first.uncertainty]}
    (doubt,) = sampling_doubts(dataset, summary)
    assert "is not known" in doubt
    for most in (40, 80):
        monkeypatch.setattr("dockdyn.docking.sampled_forces.MOST", most)
        (later,) = sampled_forces(dataset, content)
        assert later.uncertainty > SETTLED
        assert abs(settled.true / later.true - 1) < later.uncertainty
    summary = {"sampling_error": [0.12], "sampling_uncertainty": [0.05]}
    assert sampling_doubts(dataset, summary) == []
    assert len(sampling_doubts(dataset, summary | {"sampling_uncertainty": [0.01]})) == 1


def test_a_corner_that_no_point_meets_is_told(block):
    """Between the few points of a cloud: nothing presses, where something would; a run warns of it."""
    attitude = (np.array([1, 0.3, 0.5, 0.1]) / np.linalg.norm([1, 0.3, 0.5, 0.1])).tolist()
    turn = trimesh.transformations.quaternion_matrix(attitude)[:3, :3]
    lowest = float((trimesh.load_mesh(block).vertices @ turn.T)[:, 2].min())
    content, dataset = run(block, attitude, GAP - lowest, 400)
    (found,) = sampled_forces(dataset, content)
    assert found.by_points == 0 and found.error() == -1
    places, depth = dataset.position.values[-1], 0.5 * 10e-3 - GAP
    assert np.subtract(*places[:, 2]) + lowest == pytest.approx(-depth, rel=1e-9)  # it flew on freely
    ways = np.abs(
        turn[2]
    )  # of a corner of a block, cut by a plane: three triangles, each the farther the steeper it is
    legs = depth / ways
    known = PRESSURE * depth / 3 * (np.prod(legs) / legs / 2).sum()
    assert found.true == pytest.approx(known, rel=0.01)
    (doubt,) = sampling_doubts(dataset, {"sampling_error": [-1.0], "sampling_uncertainty": [found.uncertainty]})
    assert "its largest force is 100 % too small" in doubt


@pytest.mark.full
def test_what_never_touches_has_no_error(block):
    content, dataset = run(block, [1, 0, 0, 0], 0.3, 300)
    assert sampled_forces(dataset, content) == [None]
    assert "sampling_error" not in dockdyn.summarise(dataset)


WEDGE = np.radians(3)  # between the long faces of a sliver


def sliver(length=0.3, width=0.05):
    """A prism (m) whose section is a slender triangle: its sharp edge is along y at x = 0."""
    high = 2 * length * np.tan(WEDGE / 2)
    outline = np.array([[0, 0], [length, -high / 2], [length, high / 2]])
    corners = np.array([[x, y, z] for y in (0, width) for x, z in outline])
    return trimesh.convex.convex_hull(corners)


def test_balls_come_to_rest_in_a_sharp_edge():
    """At r / sin(α/2) from it, wherever on its faces they began; and none has room near the ends of what is too thin."""
    mesh, radius = sliver(), 1e-3
    balls = BallsInside(mesh.vertices, mesh.faces, radius)
    normals = mesh.face_normals[np.abs(mesh.face_normals[:, 2]) > 0.9]
    upper = normals[normals[:, 2] > 0][0]
    from_edge = np.linspace(1e-5, 0.2, 400)
    points = np.column_stack([from_edge * np.cos(WEDGE / 2), np.full(400, 0.025), from_edge * np.sin(WEDGE / 2)])
    centres, fits = balls.move(points, np.tile(upper, (400, 1)))
    assert fits.all()
    rest = radius / np.sin(WEDGE / 2)
    inner = points - radius * upper
    beside = inner[:, 0] > rest
    assert centres[beside] == pytest.approx(inner[beside], abs=1e-12)
    assert centres[~beside] == pytest.approx(np.tile([rest, 0.025, 0.0], ((~beside).sum(), 1)), abs=1e-5 * rest)
    thick = BallsInside(mesh.vertices, mesh.faces, 0.009).move(points, np.tile(upper, (400, 1)))[1]
    assert not thick.any()  # the sliver is 16 mm thick at its back


@pytest.mark.full
def test_a_mesh_that_has_become_another_leaves_the_run(block, tmp_path):
    """No solid is in its file any more: the run is told of without its error."""
    own = tmp_path / "own.stl"
    own.write_bytes(block.read_bytes())
    content, dataset = run(own, [1, 0, 0, 0], SIDES[2] / 2 + GAP, 300)
    assert sampled_forces(dataset, content) != [None]
    own.write_text("solid nothing\nendsolid nothing\n")
    assert sampled_forces(dataset, content) == [None]

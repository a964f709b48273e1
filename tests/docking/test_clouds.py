"""Clouds: points spread over a mesh, with their shares of its area."""

import jax.numpy as jnp
import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.contact.contact_modes import GATED
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse
from dockdyn.scenario.meshes import cloud, solid
from dockdyn.scenario.meshes.kept import cloud_of, solid_of
from dockdyn.scenario.meshes.mesh_file import MeshFile

SCENARIO = """
schema = 2
duration = "1 s"
[body.block]
mass = "10 kg"
inertia = [1, 1, 1]
position = [0, 0, 0.2]
[body.block.feature.skin]
shape = "cloud"
file = "{file}"
count = {count}
radius = "{radius} m"
[body.floor]
mass = "100 kg"
inertia = [9, 9, 9]
[body.floor.surface.top]
shape = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
[contact.skin]
between = ["skin", "top"]
normal = {{ law = "hertz", stiffness = "1000 N/m", exponent = 1 }}
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    """A block of 0.2 m by 0.3 m by 0.1 m."""
    file = tmp_path_factory.mktemp("meshes") / "block.stl"
    trimesh.creation.box(extents=(0.2, 0.3, 0.1)).export(file)
    return file


@pytest.mark.parametrize("count", [36, 100, 500])
@pytest.mark.parametrize("radius", [0.0, 0.01])
def test_a_cloud_covers_the_skin_evenly_and_from_inside(block, count, radius):
    spread = cloud_of(MeshFile(block, 0, None), count, radius)
    assert len(spread.points) == count // 3 * 3
    mesh = trimesh.load_mesh(block)
    inside = trimesh.proximity.signed_distance(mesh, spread.points)
    assert np.allclose(inside, radius, atol=1e-7)  # an STL file has single precision
    if radius:
        assert spread.shares.sum() < 1  # balls in edges stand for less than the strips from which they came
        return
    assert spread.shares.sum() == pytest.approx(1, abs=1e-13)
    top = spread.points[:, 2] > 0.0499999
    assert spread.shares[top].sum() == pytest.approx(0.06 / 0.22, rel=1e-6)
    assert np.allclose(spread.shares @ spread.points, 0, atol=1e-7)


def test_balls_beneath_a_face_make_up_that_face(block):
    """Those that came there from its neighbours, across its edges and corners, too: what presses on it feels its area."""
    spread = cloud_of(MeshFile(block, 0, None), 20_000, 0.01)
    for axis, area in ((0, 0.03), (1, 0.02), (2, 0.06)):
        size = (0.2, 0.3, 0.1)[axis] / 2
        for side in (-1, 1):
            beneath = side * spread.points[:, axis] > size - 0.01 - 1e-6
            assert spread.shares[beneath].sum() == pytest.approx(area / 0.22, rel=5e-3)


@pytest.mark.full
@pytest.mark.parametrize("radius", [0.0, 0.01])
def test_a_face_that_presses_evenly_has_its_share_of_the_stiffness(block, radius):
    content = parse(SCENARIO.format(file=block, count=200, radius=radius), "test").content
    model = content.model()
    x = model.initial()
    (group,) = model.groups
    depth = 1e-3
    block_place, floor = (Placed.of(pose, twist) for pose, twist in zip(x.q.roots, x.v.roots, strict=True))
    height = block_place.pose.position.z - floor.pose.position.z
    lower = Vector(jnp.zeros(()), jnp.zeros(()), 0.05 - depth - height)
    pressed = Placed.of(block_place.pose.shifted(lower), block_place.twist)
    state = group.state(jnp.asarray(GATED), pressed, floor)
    spread = cloud_of(MeshFile(block, block.stat().st_mtime_ns, None), 200, radius)
    overlap = np.maximum(radius - (spread.points[:, 2] + 0.05 - depth), 0)
    assert float(state.wrench.force.z) == pytest.approx(1000 * (spread.shares @ overlap), rel=1e-9)
    assert float(state.normal_force) == pytest.approx(float(state.wrench.force.z), rel=1e-12)
    assert float(state.depth) == pytest.approx(depth, rel=1e-4)


def test_the_force_of_a_face_goes_to_that_of_the_closed_form(block):
    """What of the sides is in the floor, too, presses, 0.8 % of it: no point that stands for a side stands in for the foot."""
    depth = 1e-3
    known = (0.06 * depth + 1.0 * depth**2 / 2) / 0.22  # of a foot of 0.06 m², 1 m around
    counts, errors = (200, 800, 3200, 12800), []
    for count in counts:
        spread = cloud_of(MeshFile(block, 0, None), count, 0.0)
        errors.append(abs(spread.shares @ np.maximum(depth - 0.05 - spread.points[:, 2], 0) / known - 1))
    assert max(errors) < 5e-3 and errors[-1] < 2e-4


def test_a_wedge_is_met_long_before_even_points_meet_it(block):
    """An edge, both faces at 45°, 1 mm deep in a plane, beside its closed form: two strips and two ends."""
    depth, normal = 1e-3, np.array([-np.sqrt(0.5), 0, np.sqrt(0.5)])
    known = (0.3 * np.sqrt(2) * depth**2 + 2 * depth**3 / 3) / 0.22
    lowest = -(0.1 + 0.05) * np.sqrt(0.5)
    for count, off in ((12_800, 0.1), (51_200, 0.03)):
        spread = cloud_of(MeshFile(block, 0, None), count, 0.0)
        deep = np.maximum(depth - (spread.points @ normal - lowest), 0)
        assert spread.shares @ deep == pytest.approx(known, rel=off)


def test_what_is_kept_of_a_mesh_is_what_was_made(block, tmp_path, monkeypatch):
    """And is made again where it is damaged, or where the mesh has changed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked, made = [], solid.solid_in
    monkeypatch.setattr(solid, "solid_in", lambda *given: asked.append(given[1]) or made(*given))
    monkeypatch.setattr(cloud, "solid_in", solid.solid_in)
    makers = (
        (lambda file, n: cloud_of(MeshFile(file, n, None), 60, 0.01)),
        (lambda file, n: solid_of(MeshFile(file, n, None))),
    )
    for number, make in enumerate(makers):
        first = make(block, 10 * number)
        again = make(block, 10 * number + 1)
        assert len(asked) == 1
        assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
        (kept,) = (tmp_path / "cache").rglob("meshes/*")
        whole = kept.read_bytes()
        for turn, damaged in enumerate((whole[:-100], b"", whole[:50])):
            kept.write_bytes(damaged)
            found = make(block, 10 * number + 2 + turn)
            assert len(asked) == 2 + turn and np.array_equal(first[0], found[0])
        larger = tmp_path / "larger.stl"
        trimesh.creation.box(extents=(0.4, 0.6, 0.2)).export(larger)
        assert np.ptp(make(larger, 0)[0]) > 1.5 * np.ptp(first[0])
        for file in (tmp_path / "cache").rglob("meshes/*"):
            file.unlink()
        asked.clear()


def test_too_few_points_for_the_faces_are_refused(block):
    with pytest.raises(ScenarioError, match=r"has 12 faces; count must be at least 36"):
        parse(SCENARIO.format(file=block, count=35, radius=0.0), "test")


def test_a_cloud_in_millimetres_asks_for_its_unit(tmp_path):
    """So far larger than its body's radius of gyration it is hardly in metres; one that states its unit is what it says."""
    file = tmp_path / "block.stl"
    trimesh.creation.box(extents=(200, 300, 100)).export(file)
    text = SCENARIO.format(file=file, count=36, radius=0)
    with pytest.raises(ScenarioError) as refusal:
        parse(text, "mine.toml")
    assert str(refusal.value) == "mine.toml: body.block: file = 'block.stl': is 300 m large; is it in mm? state unit"
    for unit, size in (("mm", 0.3), ("m", 300.0)):
        content = parse(text.replace("count =", f'unit = "{unit}"\ncount ='), "mine.toml").content
        assert content.body[0].feature[0].sample.size == pytest.approx(size)


def test_a_mesh_that_is_no_solid_is_refused_with_its_file(tmp_path, recwarn):
    box = trimesh.creation.box()
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for name, vertices, faces, words in (
        ("flat", box.vertices, [*box.faces, [0, 0, 1]], "has 1 face without area; must have none"),
        ("open", box.vertices, box.faces[1:], "is open: 3 of its edges have a face on one side only; must be closed"),
        ("thin", corners, [[0, 1, 2], [0, 2, 1]], "encloses no volume"),
    ):
        file = tmp_path / f"{name}.stl"
        trimesh.Trimesh(vertices, faces, process=False).export(file)
        with pytest.raises(ScenarioError) as refusal:
            parse(SCENARIO.format(file=file, count=200, radius=0), "mine.toml")
        assert str(refusal.value) == (
            f"mine.toml: body.block.feature.skin: file = '{name}.stl': {words}; dockdyn mesh check tells whether dockdyn mesh "
            "repair mends it"
        )
    assert not recwarn


def test_meshes_around_centres_of_mass_need_no_unit(block):
    """As those of CAD parts are: how far a mesh is from its body's centre says nothing of its unit."""
    hull = f'[body.floor.surface.top]\nshape = "mesh"\nfile = "{block}"\ntolerance = "5 mm"\n'
    plane = '[body.floor.surface.top]\nshape = "plane"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n'
    text = SCENARIO.format(file=block, count=36, radius=0).replace(plane, hull)
    assert hull in text
    assert parse(text, "mine.toml").content.named("floor").surface[0].field.size == pytest.approx(0.3)


def test_a_cloud_that_begins_deep_is_refused_and_a_little_of_an_approach_is_told(block, tmp_path):
    """Points of a thin part are never 0.2 m deep; what overlaps at the start brings energy from nowhere."""
    text = SCENARIO.format(file=block, count=36, radius=0).replace("position = [0, 0, 0.2]\n", "")
    text += '[body.block.port.foot]\nposition = [0, 0, -0.05]\naxis = [0, 0, -1]\n[approach]\nof = "foot"\nto = "top"\n'
    text += 'closing_speed = "10 mm/s"\ndistance = "{distance} mm"\n'

    def warned(shift):
        (tmp_path / "mine.toml").write_text(
            text.replace("{distance}", "0").replace("position = [0, 0, -0.05]", f"position = [0, 0, {shift - 0.05}]")
        )
        result = dockdyn.simulate(dockdyn.load(tmp_path / "mine.toml", {"duration": "0.1 s"}))
        return [words for words in dockdyn.summarise(result)["warnings"] if "begins in touch" in words]

    assert warned(-0.001) == []
    assert "'skin' by 1 mm" in warned(0.001)[0]
    with pytest.raises(ScenarioError, match=r"'skin': overlap at the start = 0\.002 m; must be at most 0\.0015 m"):
        warned(0.002)


def test_a_cloud_that_is_placed_may_begin_deeper_than_one_that_approaches(block):
    """As soft parts that bear already do."""
    text = SCENARIO.format(file=block, count=36, radius=0) + "[integrator]\nstep = 1e-3\n"
    dockdyn.simulate(parse(text.replace("0, 0.2]", "0, 0.036]").replace('"1 s"', '"1 ms"'), "mine.toml"))
    with pytest.raises(ScenarioError, match=r"'skin': overlap at the start = 0\.016 m; must be at most 0\.015 m"):
        dockdyn.simulate(parse(text.replace("0, 0.2]", "0, 0.034]").replace('"1 s"', '"1 ms"'), "mine.toml"))

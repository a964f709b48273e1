"""Every key and argument that names a file takes regular files of a bounded size alone: none hangs or fills the memory."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import struct
import time
import zipfile

import numpy as np
import pytest
import trimesh

import dockdyn
from dockdyn.files import read_file
from dockdyn.scenario.preset_files import PRESETS, preset_text

WITHIN = 3.0  # s of this process, with what it imports; it waits for nothing
SPARSE = 60 * 10**9  # bytes, none of them on the disk
FLIGHT = """schema = 2
title = "a case"
duration = "1 s"
"""
BODIES = """[body.chaser]
mass = "100 kg"
inertia = [1, 1, 1]
[body.target]
mass = "100 kg"
inertia = [1, 1, 1]
"""


def a_link_to_a_device(place):
    place.symlink_to("/dev/zero")


def a_device(place):
    try:
        os.mknod(place, 0o020600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root can make devices")


def a_pipe(place):
    os.mkfifo(place)


def a_link_to_a_pipe(place):
    os.mkfifo(f"{place}.pipe")
    place.symlink_to(f"{place}.pipe")


def a_socket(place):
    socket.socket(socket.AF_UNIX).bind(str(place))


def a_folder(place):
    place.mkdir()


def a_sparse_file(place):
    with place.open("wb") as file:
        file.truncate(SPARSE)


STRANGE = [a_link_to_a_device, a_pipe, a_sparse_file, a_device, a_socket, a_folder, a_link_to_a_pipe]


def mesh_case(folder, name):
    """Two plates, each with a mesh that touches and one that is touched."""
    plate = "androgynous-plate.stl"
    (folder / plate).write_bytes((PRESETS / plate).read_bytes())
    text = (PRESETS / "mesh-on-mesh.toml").read_text()
    head, shape, rest = text.partition(f'shape = "{name}"')
    (folder / "case.toml").write_text(head + shape + rest.replace(plate, "strange.stl", 1))
    return "run case.toml"


def flight(more, before=""):
    """A case that names a file."""

    def write(folder):
        (folder / "case.toml").write_text(
            before + FLIGHT + BODIES.replace("[body.chaser]\n", f"[body.chaser]\n{more}\n")
        )
        return "run case.toml"

    return write


def revolved(folder):
    surface = '[body.target.surface.drogue]\nshape = "revolved"\naxis = [0, 0, 1]\nprofile = "strange.csv"\n'
    (folder / "case.toml").write_text(FLIGHT + BODIES + surface)
    return "run case.toml"


def mechanism_urdf(folder):
    text = 'schema = 2\ntitle = "arm"\nduration = "1 s"\n'
    (folder / "case.toml").write_text(f'{text}[tree.arm]\nurdf = "strange.urdf"\n')
    return "run case.toml"


def beside_a_run(line):
    """A command with the result of a run and a log."""

    def write(folder):
        rows = [f"{0.01 * k:.2f},{math.sin(0.2 * k):.9f},{math.sin(0.2 * k - 0.4):.9f}" for k in range(300)]
        (folder / "log.csv").write_text("\n".join(["time [s],command [mm],actual [mm]", *rows]))
        return line

    return write


PLACES = {  # by key or argument: the file's name, what is written beside it, and what the message begins with
    "SCENARIO": ("strange.toml", "run strange.toml", "strange.toml: "),
    "include": ("strange.toml", flight("", 'include = "strange.toml"\n'), "case.toml: include = 'strange.toml': "),
    "profile": ("strange.csv", revolved, "case.toml: body.target.surface.drogue.profile = 'strange.csv': "),
    "tree.urdf": ("strange.urdf", mechanism_urdf, "case.toml: tree.arm.urdf = 'strange.urdf': "),
    "surface.file": (
        "strange.stl",
        lambda folder: mesh_case(folder, "mesh"),
        "case.toml: body.chaser.surface.plate.file = 'strange.stl': ",
    ),
    "feature.file": (
        "strange.stl",
        lambda folder: mesh_case(folder, "cloud"),
        "case.toml: body.chaser.feature.skin.file = 'strange.stl': ",
    ),
    "look": ("strange.obj", flight('look = "strange.obj"'), "case.toml: body.chaser.look = 'strange.obj': "),
    "look.file": (
        "strange.glb",
        flight('look = {file = "strange.glb"}'),
        "case.toml: body.chaser.look.file = 'strange.glb': ",
    ),
    "control.law": (
        "strange.fmu",
        flight("", 'control = {body = "chaser", law = "fmu:strange.fmu"}\n'),
        "case.toml: control.law = 'strange.fmu': ",
    ),
    "identify robot LOG": ("strange.csv", "identify robot strange.csv", "strange.csv: "),
    "identify contact LOG": ("strange.mcap", "identify contact strange.mcap", "strange.mcap: "),
    "identify parameters LOG": (
        "strange.nc",
        "identify parameters strange.nc --scenario paraskevas-a --key body.chaser-front.velocity",
        "strange.nc: ",
    ),
    "--validate": ("strange.csv", beside_a_run("identify robot log.csv --validate strange.csv"), None),
    "identify plan --urdf": (
        "strange.urdf",
        "identify plan plan.csv --direction 1,0,0 --urdf strange.urdf",
        "strange.urdf: ",
    ),
    "compare --log": ("strange.csv", "compare sits --log strange.csv", "strange.csv: "),
    "report RESULT": ("strange.nc", "report strange.nc --out page.html", "strange.nc: "),
    "report --log": ("strange.csv", "report RESULT --log strange.csv --out page.html", "strange.csv: "),
    "view RESULT": ("strange.nc", "view strange.nc --html page.html", "strange.nc: "),
    "export RESULT": ("strange.nc", "export strange.nc --to csv --out tables", "strange.nc: "),
    "export LOG": ("strange.csv", "export strange.csv --to nc --out log.nc", "strange.csv: "),
    "rig replay LOG": ("strange.mcap", "rig replay strange.mcap", "strange.mcap: "),
    "fmu check FMU": ("strange.fmu", "fmu check strange.fmu", "strange.fmu: "),
    "fmu check FMU SCENARIO": ("strange.fmu", "fmu check strange.fmu paraskevas-a", "strange.fmu: "),
    "mesh check FILE": ("strange.stl", "mesh check strange.stl", "strange.stl: "),
    "mesh repair FILE": ("strange.obj", "mesh repair strange.obj --out mended.obj", "strange.obj: "),
    "campaign DIR": ("campaign.json", "campaign report .", "campaign.json: "),
}
CASES = [
    pytest.param(
        place, make, marks=() if make is STRANGE[number % 3] else pytest.mark.full, id=f"{place}-{make.__name__}"
    )
    for number, place in enumerate(PLACES)
    for make in STRANGE
]


@pytest.fixture
def in_time():
    """Nothing in a test takes long: what hangs is ended."""

    def over(*_):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.full_cases("identify parameters LOG-a_sparse_file", "report --log-a_pipe")
@pytest.mark.parametrize(("place", "make"), CASES)
def test_what_is_no_file_of_bounded_size_is_refused_in_one_line(dock, tmp_path, shared_run, in_time, place, make):
    name, write, begin = PLACES[place]
    make(tmp_path / name)
    line = write if isinstance(write, str) else write(tmp_path)
    if "RESULT " in line:
        shared_run("paraskevas-latch").to_netcdf(tmp_path / "result.nc")
        line = line.replace("RESULT", "result.nc")
    began = time.process_time()
    ended = dock(*line.split())
    assert time.process_time() - began < WITHIN
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
    assert ended.stderr.startswith(f"error: {begin}" if begin else "error: ")
    assert any(words in ended.stderr for words in ("no regular file", "is a folder", "is too large, 60 GB"))
    assert "must be" in ended.stderr


def dressed(folder, look):
    """A case whose chaser is drawn with a mesh."""
    text = preset_text("sazawal-spring-dashpot").replace("[body.chaser]", f'[body.chaser]\nlook = "{look}"', 1)
    (folder / "case.toml").write_text(text)


def binary_stl(faces):
    return bytes(80) + struct.pack("<I", faces) + bytes(50 * faces)


def text_stl(faces):
    return b"solid x\n" + b"facet normal 0 0 1\nendfacet\n" * faces


def obj(faces):
    return b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"f 1 2 3\n" * faces


def ply(faces):
    return f"ply\nformat ascii 1.0\nelement vertex 3\nelement face {faces}\nend_header\n".encode()


def glb(faces):
    """Of as many nodes with the same box."""
    whole = trimesh.creation.box().export(file_type="glb")
    (size,) = struct.unpack_from("<I", whole, 12)
    told = json.loads(whole[20 : 20 + size])
    number = next(place for place, node in enumerate(told["nodes"]) if "mesh" in node)
    told["nodes"] += [told["nodes"][number]] * (faces // 12)
    text = json.dumps(told).encode()
    text += b" " * (-len(text) % 4)
    rest = whole[20 + size :]
    return b"glTF" + struct.pack("<III", 2, 20 + len(text) + len(rest), len(text)) + b"JSON" + text + rest


@pytest.mark.parametrize(("suffix", "make"), [("stl", binary_stl), ("stl", text_stl), ("obj", obj), ("ply", ply)])
@pytest.mark.parametrize("faces", [200_001, pytest.param(1_500_000, marks=pytest.mark.full)])
def test_the_faces_of_a_mesh_are_counted_before_it_is_read(dock, tmp_path, in_time, monkeypatch, suffix, make, faces):
    content, read = make(faces), trimesh.load_mesh

    def unread(file, **how):
        assert file.getvalue() != content, "it is read"
        return read(file, **how)

    monkeypatch.setattr(trimesh, "load_mesh", unread)
    line = mesh_case(tmp_path, "cloud")
    case = tmp_path / "case.toml"
    case.write_text(
        case.read_text().replace("androgynous-plate.stl", "strange.stl").replace("strange.stl", f"large.{suffix}")
    )
    (tmp_path / f"large.{suffix}").write_bytes(content)
    began = time.process_time()
    ended = dock(*line.split())
    assert time.process_time() - began < WITHIN
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert f"file = 'large.{suffix}': has {faces} faces; must have 1 to 200000" in ended.stderr


@pytest.mark.full
@pytest.mark.parametrize(("suffix", "make"), [("stl", binary_stl), ("obj", obj), ("glb", glb)])
def test_the_faces_of_a_mesh_for_looks_are_counted_before_it_is_read(tmp_path, monkeypatch, suffix, make):
    from dockdyn.api import scene_of

    (tmp_path / f"large.{suffix}").write_bytes(make(216_000))
    dressed(tmp_path, f"large.{suffix}")
    monkeypatch.setattr(trimesh, "load_scene", lambda *_, **__: pytest.fail("it is read"))
    warnings = scene_of(dockdyn.simulate(dockdyn.load(tmp_path / "case.toml", {"duration": "0.5 s"}))).warnings
    assert any("faces; must have 1 to 200000" in words for words in warnings), warnings


def test_a_mesh_names_no_file_that_has_no_end(tmp_path, in_time):
    """Its colours are in another file, which it names: a device, one elsewhere, a pipe."""
    from dockdyn.api import scene_of

    for place in ("/dev/zero", "../../../../../../dev/zero", "pipe"):
        text = f"mtllib {place}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
        (tmp_path / "bus.obj").write_text(text)
        if place == "pipe":
            os.mkfifo(tmp_path / "pipe")
        dressed(tmp_path, "bus.obj")
        scene = scene_of(dockdyn.simulate(dockdyn.load(tmp_path / "case.toml", {"duration": "0.5 s"})))
        assert not any("bus.obj" in words for words in scene.warnings)


def test_an_fmu_is_asked_how_large_it_is_unpacked(dock, tmp_path, in_time):
    with zipfile.ZipFile(tmp_path / "bomb.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", "<a/>")
        archive.writestr("resources/zeros", bytes(1000))
    content = (tmp_path / "bomb.fmu").read_bytes()
    at = content.rindex(b"PK\x01\x02")
    (tmp_path / "bomb.fmu").write_bytes(content[: at + 24] + struct.pack("<I", 3 * 10**9) + content[at + 28 :])
    ended = dock("fmu", "check", "bomb.fmu", "paraskevas-a")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "bomb.fmu: holds 2 files of 3 GB, unpacked; must be at most 20000, of 2 GB" in ended.stderr


@pytest.mark.parametrize("size", [200_000, 131_073])
def test_a_cell_without_end_is_one_line(dock, tmp_path, size):
    (tmp_path / "strange.csv").write_text(f"0,{'1' * size}\n")
    refused = [dock(*revolved(tmp_path).split())]
    (tmp_path / "strange.csv").write_text(f"time [s],command [mm],actual [mm]\n0,0,{'1' * size}\n")
    refused.append(dock("identify", "robot", "strange.csv"))
    for ended in refused:
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
        assert "strange.csv" in ended.stderr and len(ended.stderr) < 2000


def by_size(file):
    file.create_dataset("time", shape=(10**11,), dtype="f8", chunks=(1000,))


def by_place(file):
    file.create_dataset("time", shape=(10,), dtype="f8", external=[("/dev/zero", 0, 80)])


def by_link(file):
    import h5py

    file["time"] = h5py.ExternalLink("/dev/zero", "/")


@pytest.mark.parametrize(
    ("make", "words"), [(by_size, "800 GB of memory"), (by_place, "another file"), (by_link, "another file")]
)
def test_a_netcdf_file_holds_what_it_says_and_not_too_much(dock, tmp_path, in_time, make, words):
    import h5py

    with h5py.File(tmp_path / "strange.nc", "w") as file:
        make(file)
    for line in ("report strange.nc --out page.html", "identify robot strange.nc"):
        ended = dock(*line.split())
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
        assert ended.stderr.startswith("error: strange.nc: ") and words in ended.stderr


def test_no_more_is_read_than_is_allowed(tmp_path):
    """Also of a file that is longer than the system says, as all in /proc are."""
    draw = np.random.default_rng(0)
    for size in draw.integers(0, 5000, 30):
        content = draw.bytes(size)
        (tmp_path / "one").write_bytes(content)
        assert read_file(tmp_path / "one", size) == content
        if size:
            with pytest.raises(OSError, match="is too large"):
                read_file(tmp_path / "one", size - 1)
    with pytest.raises(OSError, match="holds more than 10 bytes"):
        read_file("/proc/self/status", 10)


@pytest.mark.parametrize("name", ["a" * 300, "é" * 200, "x/" * 3000, "loop", "dangling", "../" * 100])
@pytest.mark.parametrize(
    ("key", "top", "end"),
    [
        ("body.target.look", "", 'look = "NAME.stl"\n'),
        ("include", 'include = "NAME.toml"\n', ""),
        ("control", 'control = {body = "chaser", law = "fmu:NAME.fmu"}\n', ""),
        (
            "body.target.surface",
            "",
            '[body.target.surface.d]\nshape = "revolved"\naxis = [0, 0, 1]\nprofile = "NAME.csv"\n',
        ),
        ("body.target.surface", "", '[body.target.surface.d]\nshape = "mesh"\nfile = "NAME.stl"\n'),
    ],
    ids=["look", "include", "control.law", "profile", "file"],
)
def test_a_name_that_no_file_can_have_is_one_line(name, key, top, end, tmp_path):
    """Too long a name or path, links to themselves and to nothing, above the root."""
    for suffix in ("stl", "toml", "fmu", "csv"):
        (tmp_path / f"loop.{suffix}").symlink_to(f"loop.{suffix}")
        (tmp_path / f"dangling.{suffix}").symlink_to("nothing")
    (tmp_path / "case.toml").write_text((top + FLIGHT + BODIES + end).replace("NAME", name))
    with pytest.raises(dockdyn.ScenarioError) as told:
        dockdyn.load(tmp_path / "case.toml")
    assert str(told.value).startswith(f"{tmp_path / 'case.toml'}: {key}") and str(told.value).isprintable()

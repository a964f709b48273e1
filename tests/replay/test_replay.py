"""Replays: scenes that show what the result says, pages that work with no network, a server that minds its manners."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tomlkit
import xarray as xr
from browser import WINDOW, Page, changed, hue
from replay_cases import CASES

from dockdyn.api import scene_of
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.contact.surfaces.torus import Torus
from dockdyn.report.replay import frames, shapes
from dockdyn.report.replay.overlay import overlay_facts
from dockdyn.report.replay.page import page_of
from dockdyn.results.store import write_result

KINDS = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.full if kind == "mock-ups" else ()) for kind in CASES]
)


@pytest.fixture(scope="session")
def results(shared_run):
    """A result of every kind."""
    return lambda kind: shared_run(*CASES[kind][:2])


@pytest.fixture(scope="session")
def scenes(results):
    kept = {}

    def scene(kind):
        if kind not in kept:
            kept[kind] = scene_of(results(kind))
        return kept[kind]

    return scene


# ── scenes ──


@pytest.mark.full_cases("assembly")
@KINDS
def test_bodies_are_where_the_result_says(results, scenes, kind):
    """Positions of the result at its own instants; of trees the origins of all link frames."""
    dataset, scene = results(kind), scenes(kind)
    parts = {part.name: part.motion for part in scene.parts}
    rows = np.abs(dataset.time.values[:, None] - scene.time).argmin(axis=0)
    exact = np.flatnonzero(np.abs(dataset.time.values[rows] - scene.time) < 1e-12)
    rows = rows[exact]
    assert len(exact) > 1
    if kind in ("probe", "assembly", "line", "line, latch"):
        for index, name in enumerate(map(str, dataset.body.values)):
            motion = parts[f"{name}/body"]
            np.testing.assert_allclose(motion.position[exact], dataset.position.values[rows, index], atol=1e-12)
            across = np.abs(np.sum(motion.attitude[exact] * dataset.attitude.values[rows, index], axis=1))
            np.testing.assert_allclose(across, 1, atol=1e-12)
    elif kind == "rig":
        np.testing.assert_allclose(
            parts["robot"].position[exact, 0], dataset.robot_position.values[rows, 0], atol=1e-12
        )
    else:
        pose = dataset.robot_pose.values[rows]
        np.testing.assert_allclose(parts["chaser/body"].position[exact], pose[:, :3], atol=1e-12)


@KINDS
def test_frames_show_every_peak_and_the_clock_runs_forward(results, scenes, kind):
    dataset, scene = results(kind), scenes(kind)
    assert np.all(np.diff(scene.time) > 0)
    assert scene.time[0] == 0
    assert scene.time[-1] == pytest.approx(float(dataset.time[-1]))
    assert len(scene.time) <= frames.MOST
    peaks = dataset.episode_peak_time.values if "episode_peak_time" in dataset else []
    for peak in peaks:
        assert np.abs(scene.time - peak).min() < 1e-12
    if "episode_peak_force" in dataset and dataset.sizes["episode"]:
        largest = max(np.linalg.norm(arrow.vector, axis=1).max() for arrow in scene.arrows)
        peak = float(dataset.episode_peak_force.max())
        if (
            kind == "assembly"
        ):  # an arrow is the whole force of a contact: of members that push apart less than their sum
            assert largest == pytest.approx(float(np.linalg.norm(dataset.contact_force, axis=-1).max()), rel=1e-2)
        else:
            assert largest == pytest.approx(peak, rel=1e-9)


def test_friction_is_what_acts_beside_the_normal_force_of_one_delay_ago(results, scenes):
    """Coulomb friction with coefficient 0.1, decided with its normal force 16 ms before both act (eqs. 16, 43)."""
    dataset, scene = results("probe"), scenes("probe")
    normal, friction = (one.vector for one in scene.arrows[:2])
    when = dataset.time.values
    decided = np.interp(scene.time - 0.016, when, dataset.normal_force.values[:, 0])
    clear = decided > 0.3 * decided.max()
    assert clear.sum() > 10
    np.testing.assert_allclose(np.linalg.norm(friction, axis=1)[clear], 0.1 * decided[clear], rtol=5e-3)
    peak = int(np.abs(scene.time - float(dataset.episode_peak_time[0])).argmin())
    acting = frames.interpolate_samples(scene.time, when, dataset.contact_force.values[:, 0])
    # where the force is steady, at its peak, delayed and not are the same
    np.testing.assert_allclose((normal + friction)[peak], acting[peak], atol=0.02 * np.linalg.norm(acting[peak]))


def test_a_contact_without_friction_has_no_arrow_of_it(results):
    """Though with a delay its force is not along the normal of the instant at which it acts."""
    dataset = results("probe").copy()
    resolved = tomlkit.parse(dataset.attrs["scenario"])
    del resolved["contact"]["probe"]["friction"]
    dataset.attrs["scenario"] = tomlkit.dumps(resolved)
    assert [arrow.name for arrow in scene_of(dataset).arrows] == ["normal force of probe"]


def test_slerp_turns_evenly():
    angle = np.linspace(0, 3.0, 4)
    attitude = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=1)
    attitude[2] *= -1  # the same attitude
    times = np.linspace(0, 3, 50)
    found = frames.attitudes_at(times, np.arange(4.0), attitude)
    wanted = np.stack([np.cos(times / 2), 0 * times, 0 * times, np.sin(times / 2)], axis=1)
    np.testing.assert_allclose(np.abs(np.sum(found * wanted, axis=1)), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("surface", "off"),
    [
        (
            Cone.of([1.0, 0.5, 0], [0, 0, 1], 0.5),
            lambda p: (np.hypot(p[:, 0] - 1, p[:, 1] - 0.5) - p[:, 2] * np.tan(0.5)) * np.cos(0.5),
        ),
        (Plane.of([0, 0, 0.2], [1, 2, 2]), lambda p: (p @ [1, 2, 2] - 0.4) / 3),
        (
            Torus.of([0, 0, 0.1], [0, 1, 0], 1.0, 0.2),
            lambda p: np.hypot(np.hypot(p[:, 0], p[:, 2] - 0.1) - 1, p[:, 1]) - 0.2,
        ),
    ],
    ids=["cone", "plane", "torus"],
)
def test_meshes_lie_on_their_surfaces(surface, off):
    mesh = shapes.surface_around_axis(surface, 1.3, -0.5, 1.2)
    assert len(mesh.faces) > 500
    assert mesh.faces.max() < len(mesh.vertices)
    assert np.abs(off(mesh.vertices)).max() < 1e-6


def test_a_ring_is_closed():
    """Every edge of the mesh of a torus belongs to two faces."""
    mesh = shapes.surface_around_axis(Torus.of([0, 0, 0], [1, 0, 0], 1.0, 0.2), 1.3, -0.3, 0.3)
    edges = np.sort(np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert set(counts) == {2}


def test_boxes_have_the_inertia_of_their_bodies():
    """Of a box of 2 m × 1 m × 0.5 m and 12 kg: m/12 (b² + c²), and so on."""
    from dockdyn.report.replay.bus import bus_of

    mesh = bus_of(12.0, np.diag([1.25, 4.25, 5.0]), []).mesh()
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [2, 1, 0.5], rtol=1e-9)


def test_a_panel_is_drawn_flat():
    """A plate of 2 m by 6 m, thinner than any bus is drawn."""
    from dockdyn.report.replay.bus import FLAT, PANEL, bus_of

    plate = np.diag([200.0, 20.0, 180.0])
    thick, thin = (np.ptp(bus_of(60.0, plate, [], one).mesh().vertices, axis=0) for one in (FLAT, PANEL))
    np.testing.assert_allclose(thin[1:], [6.0, 2.0])
    assert thin[0] == pytest.approx(6.0 * PANEL) and thick[0] == pytest.approx(6.0 * FLAT)


# ── pages ──


def coloured(before: np.ndarray, after: np.ndarray, colour: str) -> int:
    """Pixels that have the colour's hue in one picture and not in the other."""
    return int((hue(after, colour) & ~hue(before, colour)).sum())


@pytest.mark.full_cases("probe", "line", "line, latch", "rig")
@KINDS
def test_the_page_works_from_a_file_with_no_network(browser, scenes, kind, tmp_path):
    scene = scenes(kind)
    page = page_of(scene)
    assert len(page) < 2_000_000
    (tmp_path / "replay.html").write_text(page, encoding="utf-8")
    context = browser.new_context(offline=True, viewport=WINDOW)
    shown = Page(context, f"file://{tmp_path}/replay.html")
    _, _, pushed, free = CASES[kind]
    quiet = float(scene.time[-1]) if free is None else free
    close = next(i for i, view in enumerate(scene.views) if view.name in ("contact", "bay"))
    before = shown.at(quiet, view=0)
    cursors = shown.cursors()
    after = shown.at(pushed, unlike=before)
    assert changed(before, after) > 30  # the scene moves
    assert shown.cursors() != cursors and len(cursors) == len(scene.signals)
    row = int(np.abs(scene.time - pushed).argmin())
    arrow = max(scene.arrows, key=lambda one: np.linalg.norm(one.vector[row]))
    before = shown.at(quiet, view=close, unlike=after)
    assert coloured(before, shown.at(pushed, unlike=before), arrow.colour) > 30
    shown.page.evaluate("__DOCKDYN__.seek(0); __DOCKDYN__.play()")
    shown.page.wait_for_function("__DOCKDYN__.step > 0")
    assert not shown.problems
    context.close()


def test_the_page_is_the_same_again(scenes):
    one, other = (page_of(scenes("line, latch")) for _ in range(2))
    assert one == other


def test_words_of_the_user_stay_words(results):
    dataset = results("line, latch").copy()
    dataset.attrs["title"] = "</script><script>alert(1)</script>"
    page = page_of(scene_of(dataset))
    assert "<script>alert(1)" not in page


def test_a_page_knows_all_events(results, scenes):
    dataset, known = results("probe"), overlay_facts(scenes("probe"))
    assert [one["start"] for one in known["events"]] == list(dataset.episode_onset.values)
    assert json.dumps(known, allow_nan=False)


# ── the command ──


@pytest.fixture(scope="session")
def file(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "result.nc"
    write_result(results("line, latch"), path)
    return path


@pytest.mark.full
def test_writes_a_page(dock, file, tmp_path):
    ended = dock("view", file, "--html", "replay.html")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Replay: replay.html\n", "")
    assert dock("view", file, "--html", "replay.html").returncode == 2
    assert dock("view", file, "--html", "replay.html", "--force").returncode == 0
    assert "__DOCKDYN__" in (tmp_path / "replay.html").read_text(encoding="utf-8")


def test_wrong_input_is_one_line(dock, file, tmp_path):
    (tmp_path / "text.nc").write_text("no")
    for name, one in {"campaign": "campaign", "stability": "margins"}.items():
        attributes = {"kind": "assembly", "scenario": "", "dockdyn_version": "0", one: "{}"}
        write_result(xr.Dataset(attrs=attributes), tmp_path / f"{name}.nc")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for arguments, words in {
            ("missing.nc",): "no such file",
            ("text.nc",): "not a netCDF file",
            ("campaign.nc",): "dockdyn campaign rerun",
            ("stability.nc",): "dockdyn run SCENARIO",
            (file, "--port", port): "cannot be served on",
            (file, "--port", 70000): "65535",
            (file, "--host", "nowhere"): "must be an address",
        }.items():
            ended = dock("view", *arguments)
            assert ended.returncode == 2
            assert words in ended.stderr
            assert "Traceback" not in ended.stderr


class Served:
    """`dockdyn view` in a process of its own."""

    def __init__(self, file, *options, **environment):
        command = [sys.executable, "-c", "from dockdyn.__main__ import main; main()", "view", str(file), *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env={**os.environ, **environment}, **pipes)
        line = self.process.stdout.readline()
        self.address = re.search(r"http://\S+", line)[0]
        self.host, port = self.address.removeprefix("http://").rsplit(":", 1)
        self.port = int(port)

    def raw(self, path: str) -> bytes:
        """What the server answers to a path, sent as it is."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            found = b""
            while part := line.recv(65536):
                found += part
            return found

    def ended(self, by: int) -> tuple[int, str]:
        self.process.send_signal(by)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.mark.full
def test_served_to_two_tabs_on_loopback_until_interrupted(browser, file, tmp_path):
    (file.parent / "secret.txt").write_text("a secret beside the result")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    served = Served(file, TMPDIR=str(temporary))
    try:
        assert served.host == "127.0.0.1"
        others = {line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[3] == "0A"}
        assert f"0100007F:{served.port:04X}" in others and f"00000000:{served.port:04X}" not in others
        deep = "../" * 12
        for path in (
            f"/{deep}etc/passwd",
            f"/{deep.replace('..', '%2e%2e')}etc/passwd",
            f"/{deep.replace('/', '%2f')}etc/passwd",
            "//etc/passwd",
            f"/..{file.parent}/secret.txt",
            f"/{file.parent}/secret.txt",
            "/secret.txt",
        ):
            answer = served.raw(path)
            assert b"root:" not in answer and b"a secret" not in answer
            assert not answer.startswith(b"HTTP/1.1 200"), path
        context = browser.new_context(viewport=WINDOW)
        first, second = Page(context, served.address), Page(context, served.address)
        before = first.at(0.0)
        assert changed(before, first.at(0.55, unlike=before)) > 30
        assert second.page.evaluate("__DOCKDYN__.step") == 0  # each tab has a time of its own
        first.close()
        third = Page(context, served.address)
        assert changed(before, third.at(0.55, unlike=before)) > 30
        assert not first.problems + second.problems + third.problems
        context.close()
        code, errors = served.ended(signal.SIGINT)
        assert (code, errors) == (0, "")
        assert not list(temporary.iterdir())
    finally:
        served.process.kill()


def test_another_port_where_the_usual_one_is_taken_and_a_warning_where_others_may_look(file):
    from dockdyn.cli.view import PORT

    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", PORT))
            taken.listen()
        except OSError:
            pass  # taken already
        served = Served(file, "--host", "0.0.0.0")
        try:
            assert served.port != PORT
            time.sleep(0.2)
            code, errors = served.ended(signal.SIGTERM)
        finally:
            served.process.kill()
    assert code == 0
    (warning,) = (line for line in errors.splitlines() if not line.startswith("Starting: "))
    assert "no loopback address" in warning

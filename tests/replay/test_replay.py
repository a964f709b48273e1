"""`dockdyn view`: a page, a server that minds its manners, and meshes of surfaces known by their distance alone."""

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
import xarray as xr
from browser import WINDOW, new_context, wait_until
from replay_cases import CASES

from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.contact.surfaces.torus import Torus
from dockdyn.report.scene.level_set import surface_around_axis
from dockdyn.results.store import write_result


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
    mesh = surface_around_axis(surface, 1.3, -0.5, 1.2)
    assert len(mesh.faces) > 500
    assert mesh.faces.max() < len(mesh.vertices)
    assert np.abs(off(mesh.vertices)).max() < 1e-6


def test_a_ring_is_closed():
    """Every edge of the mesh of a torus belongs to two faces."""
    mesh = surface_around_axis(Torus.of([0, 0, 0], [1, 0, 0], 1.0, 0.2), 1.3, -0.3, 0.3)
    edges = np.sort(np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert set(counts) == {2}


def test_boxes_have_the_inertia_of_their_bodies():
    """Of a box of 2 m × 1 m × 0.5 m and 12 kg: m/12 (b² + c²), and so on."""
    from dockdyn.report.scene.bus import bus_of

    box = bus_of(12.0, np.diag([1.25, 4.25, 5.0]), [])
    np.testing.assert_allclose(box.high - box.low, [2, 1, 0.5], rtol=1e-9)
    np.testing.assert_array_equal(box.axes, np.eye(3))


def test_a_panel_is_drawn_flat():
    """A plate of 2 m by 6 m, thinner than any bus is drawn."""
    from dockdyn.report.scene.bus import FLAT, PANEL, bus_of

    plate = np.diag([200.0, 20.0, 180.0])
    thick, thin = (box.high - box.low for box in (bus_of(60.0, plate, [], one) for one in (FLAT, PANEL)))
    np.testing.assert_allclose(thin[1:], [6.0, 2.0])
    assert thin[0] == pytest.approx(6.0 * PANEL) and thick[0] == pytest.approx(6.0 * FLAT)


# ── the command ──


@pytest.fixture(scope="session")
def file(shared_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "result.nc"
    write_result(shared_run(*CASES["line, latch"][:2]), path)
    return path


@pytest.mark.full
def test_writes_a_page(dock, file, tmp_path):
    ended = dock("view", file, "--html", "replay.html")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Replay: replay.html\n", "")
    assert dock("view", file, "--html", "replay.html").returncode == 2
    assert dock("view", file, "--html", "replay.html", "--force").returncode == 0
    assert "dockdynScene" in (tmp_path / "replay.html").read_text(encoding="utf-8")


def test_wrong_input_is_one_line(dock, file, tmp_path):
    (tmp_path / "text.nc").write_text("no")
    for name, one in {"campaign": "campaign", "stability": "margins"}.items():
        attributes = {"setup": "mechanism", "scenario": "", "dockdyn_version": "0", one: "{}"}
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
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
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
            assert not re.match(rb"HTTP/1.. 200", answer), path
        context = new_context(browser, viewport=WINDOW)
        first, second = (context.new_page() for _ in range(2))
        for page in (first, second):
            page.goto(served.address)
            wait_until(page, "document.documentElement.dataset.ready !== undefined")
        first.evaluate("dockdynClock.seek(0.55)")
        assert second.evaluate("dockdynClock.time") == 0  # each tab has a time of its own
        context.close()
        code, errors = served.ended(signal.SIGINT)
        assert (code, errors) == (0, "")
        assert not list(temporary.iterdir())
    finally:
        served.process.kill()


def test_another_port_where_the_usual_one_is_taken_and_a_warning_where_others_may_look(file):
    from dockdyn.cli.browser import PORT

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

"""A scene of one frame that moves while something runs, in browsers that look and can ask for nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import Protocol

import numpy as np
from viser import ViserServer

from dockdyn.report.replay.cameras import FIELD
from dockdyn.report.replay.local_server import LiveServer
from dockdyn.report.replay.player import (
    arrow_shafts,
    draw_arrow,
    draw_frames,
    draw_line,
    draw_parts,
    run_quietly,
    set_up_page,
)
from dockdyn.report.replay.scale import Scale, arrow_scale
from dockdyn.report.replay.scene import ROOT, Scene, carrier_paths, distinct_motions

LONG = 45.0  # radii of its shaft that the longest arrow has


class LiveScene(Protocol):
    """A scene of one frame, and how it follows poses."""

    scene: Scene

    def move(self, robot: np.ndarray, model: np.ndarray) -> None:
        """Set the frame: motions, lines and the arrow's place at these poses (axes,), m and rad."""


class LivePage:
    """The page of a live scene: parts that move, an arrow for the force, words."""

    def __init__(self, server: ViserServer, live: LiveScene):
        self.server, self.live, scene = server, live, live.scene
        set_up_page(server)
        stage = server.scene
        stage.add_frame(ROOT, show_axes=False)
        paths = carrier_paths(scene)
        self.moving = [(stage.add_frame(paths[id(one)], show_axes=False), one) for one in distinct_motions(scene)]
        draw_parts(stage, scene)
        draw_frames(stage, scene)
        lines = [(line, paths.get(id(line.carrier), ROOT)) for line in scene.lines]
        drawn = [draw_line(stage, number, line, carrier)[0] for number, (line, carrier) in enumerate(lines)]
        self.stretched = [(one, line.stretch) for one, line in zip(drawn, scene.lines, strict=True)]
        self.arrow, self.largest = draw_arrow(stage, 0, scene.arrows[0]), 0.0
        view = scene.views[0]
        far, camera = float(np.linalg.norm(view.position - view.target)), server.initial_camera
        camera.fov, camera.near, camera.far = math.radians(FIELD), far / 100, far * 1000
        camera.position, camera.look_at = view.position, view.target
        server.gui.add_html(_scene_legend(scene))
        self.words = server.gui.add_markdown("")
        self.told = ""

    def move(self, robot: np.ndarray, model: np.ndarray, force: np.ndarray) -> Scale:
        """Show the scene at these poses (axes,), and a force (n,), N, n at most 3; gives the arrow's scale.

        The arrow is as long as it may be under the largest force so far.
        """
        self.live.move(robot, model)
        arrow = self.live.scene.arrows[0]
        arrow.vector[0] = np.pad(force, (0, 3 - len(force)))
        self.largest = max(self.largest, float(np.linalg.norm(force)))
        scale = arrow_scale([np.array([[self.largest, 0.0, 0.0]])], LONG * arrow.thickness)
        points, seen = arrow_shafts(replace(arrow, scale=scale))
        with self.server.atomic():
            for handle, motion in self.moving:
                handle.position, handle.wxyz = motion.position[0], motion.attitude[0]
            for handle, stretch in self.stretched:
                if stretch is not None:
                    handle.scale = (float(stretch[0]), 1.0, 1.0)
            self.arrow.points = points[0][None]
            self.arrow.visible = bool(seen[0])
        return scale

    def tell(self, words: str) -> None:
        """Show words (Markdown)."""
        if words != self.told:
            self.words.content = self.told = words


def _scene_legend(scene: Scene) -> str:
    """Return whose colour is which, and notes."""
    bodies = {part.body: part.colour for part in reversed(scene.parts) if part.body}
    rows = [*reversed(bodies.items()), *((arrow.name, arrow.colour) for arrow in scene.arrows)]
    told = "".join(f'<div><span style="color:{colour}">■</span> {escape(name)}</div>' for name, colour in rows)
    notes = "".join(f"<div>{escape(note)}</div>" for note in scene.notes)
    return f'<div style="padding:0 0.75em;font-size:0.85em"><b>{escape(scene.title)}</b>{told}{notes}</div>'


@contextmanager
def live_page(live: LiveScene, host: str, port: int) -> Iterator[LivePage]:
    """Yield a server that shows a live scene to browsers on `host` while the block runs."""
    server = run_quietly(lambda: LiveServer(host=host, port=port, verbose=False))
    try:
        yield LivePage(server, live)
    finally:
        run_quietly(server.stop)

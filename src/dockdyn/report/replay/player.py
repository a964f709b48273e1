"""A scene in the browser: viser4d's player with dockdyn's own time line, plots and cameras over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.replay.scene import (
    ROOT,
    Arrow,
    Scene,
    SceneLine,
    SceneMotion,
    carrier_paths,
    distinct_motions,
    part_paths,
)

if TYPE_CHECKING:
    from viser import ViserServer
    from viser4d import Viser4dServer

Stage = Any  # what viser4d shows things on
Handle = Any  # by which it changes one of them
FPS = 30.0


@contextmanager
def scene_player(scene: Scene, host: str = "127.0.0.1", port: int = 0, script: str = "") -> Iterator[Viser4dServer]:
    """Yield a server that plays the scene, and runs a script in every browser; stopped when left, also after an error."""
    server = run_quietly(lambda: _start_server(len(scene.time), host, port))
    try:
        record_scene(server, scene)
        if script:
            _run_in_browsers(server, script)
        yield server
    finally:
        run_quietly(server.stop)


def _start_server(steps: int, host: str, port: int) -> Viser4dServer:
    from viser4d import StreamingConfig

    from dockdyn.report.replay.local_server import LocalServer

    # one block: a run is small, and a page that waits for none plays smoothly
    streaming = StreamingConfig(block_size=max(steps, 1))
    return LocalServer(max(steps, 1), fps=FPS, streaming=streaming, host=host, port=port, verbose=False)


def _run_in_browsers(server: Viser4dServer, script: str) -> None:
    """Run a script in every browser that comes, by the way on which viser4d sends its own."""
    from viser4d import _viser

    _viser.queue_server_message(server, _viser.run_javascript_message(script))


def run_quietly[Result](do: Callable[[], Result]) -> Result:
    """Run without what viser prints about itself, also when told not to; with Rich, which in a notebook goes past stdout."""
    from rich import get_console

    console = get_console()
    before, console.quiet = console.quiet, True
    try:
        with redirect_stdout(StringIO()):
            return do()
    finally:
        console.quiet = before


def record_scene(server: Viser4dServer, scene: Scene) -> None:
    """Record all that the scene shows, into the player's time line.

    What is drawn is numbered there: a path of the user's names could nest one thing in another, or replace it.
    """
    set_up_page(server)
    with server.at(0) as now:
        stage = now.scene
        stage.add_frame(ROOT, show_axes=False)
        paths = carrier_paths(scene)
        moving = [(stage.add_frame(paths[id(one)], show_axes=False), one) for one in distinct_motions(scene)]
        draw_parts(stage, scene)
        draw_frames(stage, scene)
        drawn = [
            (line, *draw_line(stage, number, line, paths.get(id(line.carrier), ROOT)))
            for number, line in enumerate(scene.lines)
        ]
        arrows = [
            (arrow, arrow_shafts(arrow), draw_arrow(stage, number, arrow)) for number, arrow in enumerate(scene.arrows)
        ]
        for handle, motion in moving:
            _tell_first(handle, motion)
        for _, (_, seen), handle in arrows:
            handle.visible = not seen[0]
            handle.visible = bool(seen[0])
    moving = [(handle, _coarse_motion(motion)) for handle, motion in moving]
    for step in range(1, len(scene.time)):
        with server.at(step):
            for handle, motion in moving:
                _move_handle(handle, motion, step)
            for line, handle, rows in drawn:
                if rows is not None and not np.array_equal(rows[step], rows[step - 1]):
                    handle.points = rows[step]
                if line.stretch is not None and line.stretch[step] != line.stretch[step - 1]:
                    handle.scale = (float(line.stretch[step]), 1.0, 1.0)
            for _, (points, seen), handle in arrows:
                if seen[step] and not (seen[step - 1] and np.array_equal(points[step], points[step - 1])):
                    handle.points = points[step][None]
                if seen[step] != seen[step - 1]:
                    handle.visible = bool(seen[step])


def set_up_page(server: ViserServer) -> None:
    """Set light, background and a page without what dockdyn has no use for."""
    server.scene.set_up_direction("+z")
    server.scene.world_axes.visible = False
    server.scene.configure_default_lights(enabled=False)
    server.scene.configure_environment_map(hdri=None)
    server.scene.add_light_ambient("/light/all", intensity=1.6)
    # one from where most cameras stand, one from behind
    server.scene.add_light_directional("/light/key", intensity=2.9, position=(1.0, -2.0, 3.0), cast_shadow=False)
    server.scene.add_light_directional("/light/fill", intensity=1.0, position=(-2.0, 2.0, 0.5), cast_shadow=False)
    server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)


def _tell_first(handle: Handle, motion: SceneMotion) -> None:
    """Tell the player where something is at first, which goes back there only if it was told.

    What equals the value that it has anyway it does not take down, so that it is told another one before.
    """
    handle.position = motion.position[0] + 1.0
    handle.position = motion.position[0]
    handle.wxyz = motion.attitude[0][[1, 0, 3, 2]]
    handle.wxyz = motion.attitude[0]


def _coarse_motion(motion: SceneMotion) -> SceneMotion:
    """Return places to a millionth of their size, attitudes to a microradian: short to write, and nobody sees the rest."""
    size = float(np.abs(motion.position).max(initial=0)) or 1.0
    return SceneMotion(np.round(motion.position, 6 - int(np.ceil(np.log10(size)))), np.round(motion.attitude, 6))


def _move_handle(handle: Handle, motion: SceneMotion, step: int) -> None:
    """Tell the player what has changed since the frame before, and nothing else."""
    if np.any(motion.position[step] != motion.position[step - 1]):
        handle.position = motion.position[step]
    if np.any(motion.attitude[step] != motion.attitude[step - 1]):
        handle.wxyz = motion.attitude[step]


def draw_parts(stage: Stage, scene: Scene) -> list[Handle]:
    """Return every part, in axes of what carries it."""
    return [
        stage.add_mesh_simple(
            path,
            part.mesh.vertices.astype(np.float32),
            part.mesh.faces.astype(np.uint32),
            color=_bytes_of_colour(part.colour),
            opacity=part.opacity,
            flat_shading=part.flat,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
        for path, part in zip(part_paths(scene), scene.parts, strict=True)
    ]


def draw_frames(stage: Stage, scene: Scene) -> None:
    """Draw body axes."""
    paths = carrier_paths(scene)
    for number, frame in enumerate(scene.frames):
        path = f"{paths[id(frame.motion)]}/axes/{number}"
        stage.add_frame(path, axes_length=frame.length, axes_radius=0.01 * frame.length)


def draw_line(stage: Stage, number: int, line: SceneLine, carrier: str = ROOT) -> tuple[Handle, np.ndarray | None]:
    """Return the line, in axes of what carries it (a path), and its segments at every frame where they change."""
    points = line.points.astype(np.float32)
    if line.grows:  # a point a frame: what has not come yet is drawn into the last point
        count = len(points)
        index = np.minimum(np.arange(count)[None], np.arange(count)[:, None])
        every = max(1, count // 150)  # that many points draw a path well enough
        points = points[index[:, sorted({*range(0, count, every), count - 1})]]
    rows = _segments_between(points) if points.ndim == 3 else None
    first = _segments_between(points) if rows is None else rows[0]
    long = 1.0 if line.stretch is None else float(line.stretch[0])
    handle = stage.add_line_segments(
        f"{carrier}/line/{number}",
        first,
        _bytes_of_colour(line.colour),
        scale=(long, 1.0, 1.0),
        thickness=line.width,
        thickness_units="screen",
    )
    return handle, rows


def _segments_between(points: np.ndarray) -> np.ndarray:
    """Return neighbours of points (…, n, 3) in pairs (…, n − 1, 2, 3)."""
    return np.stack([points[..., :-1, :], points[..., 1:, :]], axis=-2)


def arrow_shafts(arrow: Arrow) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of an arrow at every frame (frames, 2, 3), and whether it is long enough to be seen."""
    shown, seen = arrow.scale.drawn(arrow.vector)
    ends = np.stack([arrow.place, arrow.place + shown], axis=1)
    return ends.astype(np.float32), seen


def draw_arrow(stage: Stage, number: int, arrow: Arrow) -> Handle:
    points, seen = arrow_shafts(arrow)
    longest = float(np.linalg.norm(points[:, 1] - points[:, 0], axis=1).max(initial=0))
    thick = min(arrow.thickness, 0.06 * longest) or arrow.thickness
    return stage.add_arrows(
        f"{ROOT}/arrow/{number}",
        points[0][None],
        linear_colour(arrow.colour),
        shaft_radius=thick,
        head_radius=2.4 * thick,
        head_length=5 * thick,
        visible=bool(seen[0]),
    )


def _bytes_of_colour(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear_colour(colour: str) -> tuple[int, int, int]:
    """Return a colour for arrows: viser takes theirs for linear light, while those of other things are sRGB."""
    shares = [channel / 255 for channel in _bytes_of_colour(colour)]
    light = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    red, green, blue = (round(255 * one) for one in light)
    return red, green, blue

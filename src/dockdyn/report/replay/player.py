"""What moves in a live view, as viser draws it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.replay.scene import (
    ROOT,
    Arrow,
    Scene,
    SceneLine,
    carrier_paths,
    part_paths,
)

if TYPE_CHECKING:
    from viser import ViserServer

Stage = Any  # what viser shows things on
Handle = Any  # by which it changes one of them


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

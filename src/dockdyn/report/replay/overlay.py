"""What the page over the player knows: times, events, plots, cameras, as a script."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.charts.chart import thin_rows
from dockdyn.report.palette import SERIES
from dockdyn.report.replay.cameras import FIELD
from dockdyn.report.replay.scene import Arrow, Scene, SceneMotion, Signal, part_paths

PLAYS = 20.0  # s, about how long a run takes to play
SAMPLES = 700  # of a plot
PARTS = ("overlay_parts.js", "overlay_plots.js", "overlay_capture.js")  # of the script, in its middle
LEAST = 1e-9  # of the largest number in its unit, or of what is seen: a plot of less shows rounding errors
METRES = {"m": 1.0, "mm": 1e-3}


def overlay_script(scene: Scene) -> str:
    """Return the script that puts time line, plots, legend and cameras over the player."""
    source = _overlay_file("overlay.js").replace("/*PARTS*/", "\n".join(map(_overlay_file, PARTS)))
    source = source.replace("/*STYLE*/null", json.dumps(_overlay_file("overlay.css")))
    data = json.dumps(overlay_facts(scene), separators=(",", ":"), allow_nan=False)
    # neither may end the script element they stand in
    return source.replace("/*DATA*/null", data.replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " "))


def _overlay_file(name: str) -> str:
    """Return a file of the page over the player."""
    return resources.files("dockdyn.report.replay").joinpath(name).read_text(encoding="utf-8")


def overlay_facts(scene: Scene) -> dict[str, Any]:
    """Return what the overlay needs to know, as JSON."""
    end = float(scene.time[-1]) if len(scene.time) else 0.0
    followed: list[SceneMotion] = []
    views = []
    for view in scene.views:
        if view.follow is not None and not any(view.follow is one for one in followed):
            followed.append(view.follow)
        number = -1 if view.follow is None else next(i for i, m in enumerate(followed) if m is view.follow)
        views.append(
            {
                "name": view.name,
                "position": _round_digits(view.position),
                "target": _round_digits(view.target),
                "follow": number,
                "turns": view.turns,
                "near": view.near,
                "fit": None if view.fit is None else vars(view.fit),
            }
        )
    return {
        "title": scene.title,
        "time": _round_digits(scene.time, 9),
        "dwell": [] if scene.dwell is None else np.flatnonzero(scene.dwell).tolist(),
        "speed": _usual_speed(end),
        "fov": math.radians(FIELD),
        "layers": _scene_layers(scene),
        "bodies": _body_colours(scene),
        "views": views,
        "followed": [{"p": _round_digits(m.position), "q": _round_digits(m.attitude)} for m in followed],
        "events": [
            {"kind": e.kind, "label": e.label, "start": e.start, "end": e.start if e.end is None else e.end}
            for e in scene.events
        ],
        "signals": [
            {
                "label": one.label,
                "unit": one.unit,
                "least": _round_digits(_negligible_size(one, scene)),
                "series": [
                    {
                        "name": name,
                        "colour": SERIES[i % len(SERIES)],
                        "line": _thin_plot(one.time, values),
                        "at": _finite_values(np.interp(scene.time, one.time, values)),
                    }
                    for i, (name, values) in enumerate(one.series.items())
                ],
            }
            for one in scene.signals
        ],
        "arrows": [arrow_facts(one) for one in scene.arrows],
        "notes": scene.notes,
    }


def arrow_facts(arrow: Arrow) -> dict[str, Any]:
    """Return what the legend says of an arrow, and in which frames it is drawn."""
    shown, seen = arrow.scale.drawn(arrow.vector)
    size = np.linalg.norm(arrow.vector, axis=1)
    return {
        "name": arrow.name,
        "colour": arrow.colour,
        "unit": arrow.unit,
        "scale": arrow.scale.metres,
        "longest": float(np.linalg.norm(shown, axis=1).max(initial=0)),
        "cut": arrow.scale.cut if size.max(initial=0) > arrow.scale.cut * (1 + 1e-9) else None,
        "at": _round_digits(size, 4),
        "seen": seen.astype(int).tolist(),
    }


def _body_colours(scene: Scene) -> list[dict[str, str]]:
    """Return the bodies by name, each with the colour of the first part that is of it."""
    found: dict[str, str] = {}
    for part in scene.parts:
        if part.body:
            found.setdefault(part.body, part.colour)
    return [{"name": name, "colour": colour} for name, colour in found.items()]


def _scene_layers(scene: Scene) -> list[dict[str, Any]]:
    """Return what can be shown or hidden, by name, with the paths of its parts."""
    found: dict[str, list[str]] = {}
    for path, part in zip(part_paths(scene), scene.parts, strict=True):
        if part.layer:
            found.setdefault(part.layer, []).append(path)
    return [{"name": name, "nodes": nodes} for name, nodes in found.items()]


def _negligible_size(signal: Signal, scene: Scene) -> float:
    """Return the size, in its unit, up to which a signal is zero beside others of its unit, and a length beside what is
    seen."""
    alike = [values for one in scene.signals if one.unit == signal.unit for values in one.series.values()]
    sizes = [float(np.nanmax(np.abs(values), initial=0)) for values in alike]
    if signal.unit in METRES:
        sizes += [float(np.linalg.norm(view.position - view.target)) / METRES[signal.unit] for view in scene.views]
    return LEAST * max(sizes, default=0.0)


def _usual_speed(end: float) -> float:
    """Return the speed, one, two or five times a power of ten, at which a run of so many seconds plays in about `PLAYS` s."""
    if end <= 0:
        return 1.0
    exact = end / PLAYS
    steps = [a * 10.0**b for b in range(-9, 9) for a in (1, 2, 5)]
    return float(f"{min(steps, key=lambda step: abs(np.log(step / exact))):.1e}")


def _round_digits(values: ArrayLike, digits: int = 6) -> Any:  # noqa: ANN401, a number, or lists of them
    """Return numbers with so many significant digits, as short as JSON can write them."""
    array = np.asarray(values, float)
    if array.ndim:
        return [_round_digits(one, digits) for one in array]
    return float(f"{float(array):.{digits}g}") if np.isfinite(array) else 0.0


def _thin_plot(time: np.ndarray, values: np.ndarray) -> list[list[float | None]]:
    """Return times and values of a plot, as many as draw it."""
    rows = thin_rows(values, SAMPLES)
    return [_round_digits(time[rows], 7), _finite_values(values[rows])]


def _finite_values(values: np.ndarray) -> list[float | None]:
    """Return values as they are read; None where there is none."""
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in values]

"""Make the pictures that README and pages show: `python docs/make_images.py`. The same run gives the same files."""

from __future__ import annotations

import contextlib
import io
import runpy
import tempfile
from pathlib import Path

from energy_horizons import energy_horizons
from matplotlib.figure import Figure
from PIL import Image
from replay_picture import replay_picture
from tutorial_pictures import after_the_catch, beside_an_autopilot, captured, compensators, designed, rebounds

import dockdyn
from dockdyn.docking.views.trajectory import trajectory_chart
from dockdyn.papers.cyril.again import impulses
from dockdyn.papers.cyril.pictures import impulses as impulses_figure
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.drawing import COLOURS
from dockdyn.studies.envelope.plots import envelope_figure
from dockdyn.studies.margins.plots import chart_figure, family_figure
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

IMAGES = Path(__file__).resolve().parent / "images"
EXAMPLES = IMAGES.parents[1] / "examples"

# as in envelope.md
CAPTURE = {"approach.closing_speed": ("30 mm/s", "60 mm/s"), "approach.lateral_offset.0": ("-80 mm", "80 mm")}

# as in stability.md
PLANE = ["loop.delay=0:150 ms:100", "contact.probe.normal.damping=0:800 N s/m:100"]
FAMILY = [*PLANE, "contact.probe.normal.stiffness=4 kN/m:12 kN/m:3"]


def save(figure: Figure, name: str) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=120, facecolor=COLOURS["paper"])
    keep(drawn, name)


def keep(drawn: io.BytesIO | Path, name: str, few: bool = True) -> None:
    """With `few` colours, which is enough for lines and text."""
    picture = Image.open(drawn).convert("RGB")
    picture = picture.quantize(64) if few else picture
    picture.save(IMAGES / f"{name}.png", optimize=True)


def gallery() -> None:
    """The pictures that the scripts under `examples/` leave."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for script in sorted(EXAMPLES.glob("*.py")):
            runpy.run_path(str(script), run_name="__main__")
            drawn = Path(f"{script.stem}.png")
            if drawn.exists():
                keep(drawn, f"gallery-{script.stem}")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    scenario = dockdyn.load("probe-cone")
    keep(replay_picture(), "replay", few=False)
    save(print_chart(trajectory_chart(dockdyn.simulate(scenario))), "probe-cone")
    save(chart_figure(stability_dataset(scenario, [parse_sweep(text) for text in PLANE])), "stability-chart")
    save(family_figure(stability_dataset(scenario, [parse_sweep(text) for text in FAMILY])), "stability-family")
    save(impulses_figure(impulses()), "impulses-and-modes")
    save(energy_horizons(), "energy-horizons")
    found = dockdyn.envelope(dockdyn.load("probe-cone-latch"), CAPTURE, tolerance=0.01)
    save(print_chart(envelope_figure(found)), "envelope")
    save(compensators(), "tutorial-rig")
    save(rebounds(), "tutorial-rig-real-time")
    save(captured(), "tutorial-capture")
    save(designed(), "tutorial-design")
    save(after_the_catch(), "tutorial-arm")
    save(beside_an_autopilot(), "tutorial-fmu")
    gallery()


if __name__ == "__main__":
    main()

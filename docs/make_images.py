"""Make the picture that the README shows: `python docs/make_images.py`. The same run gives the same file."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

import dockdyn
from dockdyn.output.drawing import COLOURS
from dockdyn.output.trajectory import trajectory

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    result = dockdyn.simulate(dockdyn.load("probe-cone"))
    drawn = io.BytesIO()
    trajectory(result).savefig(drawn, format="png", dpi=120, facecolor=COLOURS["paper"])
    picture = Image.open(drawn).convert("RGB").quantize(64)  # lines and text need few colours
    IMAGES.mkdir(exist_ok=True)
    picture.save(IMAGES / "probe-cone.png", optimize=True)


if __name__ == "__main__":
    main()

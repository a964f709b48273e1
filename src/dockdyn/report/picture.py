"""A figure as part of an HTML page: inline SVG that follows the page's colours, or a PNG where that would be large."""

from __future__ import annotations

import base64
import io
import re
from html import escape
from typing import TYPE_CHECKING

from dockdyn.report.drawing import COLOURS, use_report_style
from dockdyn.report.elements import Html, element

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 200_000  # characters of SVG above which a PNG is smaller and quicker to show

NAMES = {code: f"var(--{name})" for name, code in COLOURS.items()}
REFERENCE = re.compile(r'\bid="|url\(#|href="#')
DECIMALS = re.compile(r"\d+\.\d{3,}")
UNWANTED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
HEX = re.compile(r"#[0-9a-f]{6}\b")


@use_report_style
def inline_svg(figure: Figure, name: str, words: str) -> Html:
    """Return `figure` as HTML; `name` makes its ids unique in the page, `words` say what it shows to who cannot see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    _, start, rest = buffer.getvalue().partition("<svg")
    svg = UNWANTED.sub("", start + rest)
    svg = re.sub(r"<[^>]+>", lambda tag: _for_page(tag[0], name), svg)  # tags only: text is the user's
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
    return Html(svg) if len(svg) <= LARGE else inline_png(figure, words)


def _for_page(tag: str, name: str) -> str:
    """Return a tag of the SVG with ids of its own, colours by name and coordinates to a hundredth of a point."""
    tag = re.sub(r' xmlns(:\w+)?="[^"]*"', "", tag)  # HTML needs none
    tag = tag.replace("xlink:href", "href").replace("'DejaVu Sans'", "var(--font)")
    tag = REFERENCE.sub(lambda match: f"{match[0]}{name}-", tag)
    tag = DECIMALS.sub(lambda match: f"{float(match[0]):.2f}", tag)
    return HEX.sub(lambda match: NAMES.get(match[0], match[0]), tag)


def inline_png(figure: Figure, words: str) -> Html:
    """Return the figure as a picture on paper, with few colours: it is lines and text."""
    from PIL import Image

    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", facecolor=COLOURS["paper"])
    Image.open(drawn).convert("RGB").quantize(48).save(packed, format="png", optimize=True)
    data = base64.b64encode(packed.getvalue()).decode()
    width, height = figure.get_size_inches() * 96  # CSS pixels an inch
    source = f"data:image/png;base64,{data}"
    return element("img", alt=words, width=round(width), height=round(height), src=source)

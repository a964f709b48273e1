"""A figure as part of an HTML page: inline SVG that follows the page's colours, or a PNG where that would be large."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from dockdyn.output.drawing import COLOURS, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 200_000  # characters of SVG above which a PNG is smaller and quicker to show

NAMES = {code: f"var(--{name})" for name, code in COLOURS.items()}
REFERENCE = re.compile(r'\bid="|url\(#|href="#')
DECIMALS = re.compile(r"\d+\.\d{3,}")
HEX = re.compile(r"#[0-9a-f]{6}\b")


@styled
def inline(figure: Figure, name: str, words: str) -> Markup:
    """`figure` as HTML; `name` makes its ids unique in the page, `words` say what it shows to who cannot see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"<[^>]+>", lambda tag: for_page(tag[0], name), svg)  # tags only: text is the user's
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
    return Markup(svg) if len(svg) <= LARGE else png(figure, words)


def for_page(tag: str, name: str) -> str:
    """A tag of the SVG with ids of its own, colours by name, coordinates to a hundredth of a point and nothing remote."""
    tag = re.sub(r' xmlns(:\w+)?="[^"]*"', "", tag).replace("xlink:href", "href").replace("'DejaVu Sans'", "var(--font)")
    tag = REFERENCE.sub(lambda match: f"{match[0]}{name}-", tag)
    tag = DECIMALS.sub(lambda match: f"{float(match[0]):.2f}", tag)
    return HEX.sub(lambda match: NAMES.get(match[0], match[0]), tag)


def png(figure: Figure, words: str) -> Markup:
    """The figure as a picture on paper."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", facecolor=COLOURS["paper"], metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    width, height = figure.get_size_inches() * 72 * 4 / 3  # CSS pixels
    return Markup('<img alt="{}" width="{:.0f}" height="{:.0f}" src="data:image/png;base64,{}">').format(
        words, width, height, data
    )

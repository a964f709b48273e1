"""Words of a printed chart: none is printed over those of another panel, whatever panels name and show."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.charts.print_chart import print_chart


def names_of(ax):
    """Title and labels of a panel: words and box (pixels)."""
    texts = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]


def numbers_of(ax):
    """Numbers on the axes of a panel that are seen."""
    inside = ax.get_window_extent().padded(2)
    for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        for text in axis.get_ticklabels():
            box = text.get_window_extent()
            low, high, of, to = (
                (box.x0, box.x1, inside.x0, inside.x1) if side == "x" else (box.y0, box.y1, inside.y0, inside.y1)
            )
            if text.get_text() and text.get_visible() and of <= (low + high) / 2 <= to:
                yield text.get_text(), box


def overprinted(figure) -> list[tuple[str, str]]:
    """Names of panels that lie on another panel's name or numbers."""
    FigureCanvasAgg(figure).draw()
    shown = [ax for ax in figure.axes if ax.axison]
    return [
        (name, word)
        for one, other in itertools.permutations(shown, 2)
        for name, box in names_of(one)
        for word, beside in [*names_of(other), *numbers_of(other)]
        if box.overlaps(beside)
    ]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_no_name_lies_on_words_of_another_panel(seed):
    """Panels above others keep the name of their horizontal axis where it differs; titles of those below come under it."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(2, 4)), int(random.integers(1, 4))
    titled, tiles, own = random.random() < 0.7, random.random() < 0.5, random.random() < 0.8
    panels = []
    for _ in range(rows * columns):
        low, high = np.sort(random.uniform(-5, 5, 2)) if own else (0.0, 1.0)
        line = Line(np.linspace(low, high, 9), random.normal(size=9))
        title = str(random.choice(["27.5 s: impact", "near", "all"])) if titled else ""
        panels.append(Panel("y, m", [line], height=1.4, across="x, m", title=title, across_limits=(low, high)))
    assert overprinted(print_chart(Chart(panels, columns=columns, tiles=tiles))) == []

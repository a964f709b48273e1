"""A Matplotlib figure that a notebook shows by itself."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that shows where it is the last line of a cell; others do so only once pyplot has been loaded."""

    def _repr_png_(self) -> bytes:
        """Return the figure as a picture."""
        drawn = io.BytesIO()
        self.savefig(drawn, format="png")
        return drawn.getvalue()

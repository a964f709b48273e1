"""A figure of a report as a file: PNG, SVG or PDF, as in the reports or for the column of a journal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from dockdyn.report.charts.chart import Chart
from dockdyn.report.charts.print_chart import COLUMN, LETTERS, Style, print_chart
from dockdyn.report.drawing import STYLE
from dockdyn.report.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dockdyn.report.report import Plot

Format = Literal["png", "svg", "pdf"]
SHARP = {"report": 160, "paper": 600}  # dots an inch
TALLER = 1.5  # times as high for its width is a figure in a column, because its letters do not shrink with it
EMBEDDED = {"pdf.fonttype": 42}  # fonts that can be read and searched


def figure_file(plot: Plot, to: Format, style: Style = "report", *, whole: bool = False) -> bytes:
    """Return the figure as the content of a file; a chart of the window on which it opens or, if asked, of the `whole` run."""
    from matplotlib import style as styles

    drawn = plot.draw()
    if isinstance(drawn, Chart):
        figure = print_chart(drawn, style, whole=whole)
    else:
        figure = _in_column(drawn) if style == "paper" else drawn
    content = io.BytesIO()
    made = {"CreationDate": None} if to == "pdf" else {"Date": None} if to == "svg" else {}
    with styles.context([STYLE, EMBEDDED], after_reset=True):
        figure.savefig(content, format=to, dpi=SHARP[style], facecolor=COLOURS["paper"], metadata=made)
    return content.getvalue()


def _in_column(figure: Figure) -> Figure:
    """Return a figure that was drawn for a report, as wide as a column, with letters of the same size throughout."""
    from matplotlib.text import Text

    width, height = figure.get_size_inches()
    figure.set_layout_engine("constrained")
    figure.set_size_inches(COLUMN, TALLER * COLUMN * height / width)
    for text in figure.findobj(Text):
        text.set_fontsize(LETTERS)
    return figure

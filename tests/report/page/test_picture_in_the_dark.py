"""A picture that is more than lines over axes is read on a dark page, too: its words stand out from their ground."""

from browser import picture, wait_until

from dockdyn.report.drawing import COLOURS
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report


def words_alone():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 2))
    figure.text(0.1, 0.4, "WORDS OF IT", fontsize=30, color=COLOURS["ink"])
    return figure


def test_words_of_a_picture_stand_out(browse, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_page(Report("A title", "It went well.", plots=[Plot("one", words_alone, "Words.")])))
    for scheme in ("light", "dark"):
        page, _ = browse(file, 900, 700, scheme)
        wait_until(page, "'ready' in document.documentElement.dataset")
        seen = picture(page.locator(".picture svg").screenshot()).mean(axis=2)
        ground, words = (seen.max(), seen.min()) if scheme == "light" else (seen.min(), seen.max())
        assert abs(ground - words) > 180, scheme
        assert abs(seen.mean() - ground) < 60, scheme  # most of it is ground

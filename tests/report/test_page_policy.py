"""The page's script: what is carried is what is built, and nothing else runs."""

from dataclasses import replace

from page_script import needs_node, run_in_web
from report_page import SCRIPTS, Page

from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report, ReportBlock, Table
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice

HOSTILE = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 2'><b>\"'&"


def hostile_report() -> Report:
    """A report that has nothing but what would run if it were not text."""
    line = Line([0.0, 1.0], [0.0, 1.0], name=HOSTILE)
    panel = Panel(HOSTILE, [line, replace(line, name=f"{HOSTILE} 2")], title=HOSTILE, ticks=[(0.5, HOSTILE)])
    chart = Chart([panel], whole=(0.0, 1.0), over="time", events=True)
    table = Table([(HOSTILE, HOSTILE)], [[HOSTILE]], worded={0})
    return Report(
        HOSTILE,
        f"{HOSTILE}. More.",
        advice=[Advice(HOSTILE, HOSTILE, HOSTILE)],
        tiles=[Tile(HOSTILE, HOSTILE, HOSTILE, HOSTILE, bars=[(HOSTILE, 0.5, HOSTILE)])],
        key=[(HOSTILE, HOSTILE)],
        blocks=[ReportBlock(HOSTILE, HOSTILE, table, [(HOSTILE, HOSTILE)], HOSTILE, [HOSTILE], HOSTILE)],
        plots=[Plot("figure", lambda: chart, HOSTILE)],
        made=[(HOSTILE, HOSTILE)],
        warnings=[HOSTILE],
        scenario=HOSTILE,
        again=HOSTILE,
    )


def test_a_page_runs_no_script_but_its_own(browse, tmp_path):
    """Neither what names and titles hold nor what somebody writes into the page: its policy knows scripts by their hashes."""
    text = render_page(hostile_report())
    assert Page(text).heading == HOSTILE
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    page, said = browse(file, 900, 900)
    page.wait_for_selector("html[data-ready]", state="attached")
    assert not said and page.evaluate("window.ran") is None
    assert HOSTILE in page.locator(".series span").first.inner_text()
    file.write_text(text.replace("</main>", "</main><script>window.ran = 3</script>"), encoding="utf-8")
    page, said = browse(file, 900, 900)
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate("window.ran") is None and "Content Security Policy" in " ".join(map(str, said))


@needs_node
def test_what_the_package_carries_is_what_is_built(tmp_path):
    import gzip
    from importlib import resources

    run_in_web("npx", "tsc")
    run_in_web("node", "build.mjs", str(tmp_path))
    carried = resources.files("dockdyn.report").joinpath("web")
    for name in (*SCRIPTS, "page.css", "licences.txt"):
        assert (tmp_path / name).read_bytes() == carried.joinpath(name).read_bytes(), f"web/: npm run build ({name})"
    for name in ("scene.js.gz", "run-worker.js.gz", "loop-worker.js.gz"):
        packed = [folder.joinpath(name).read_bytes() for folder in (tmp_path, carried)]
        assert gzip.decompress(packed[0]) == gzip.decompress(packed[1]), f"web/: npm run build ({name})"

"""What a notebook shows of a report, a replay, a summary; and that they are still the text and the dictionary they were."""

import json
import pickle

import pytest
from browser import new_context, wait_until

import dockdyn
from dockdyn.pages import report_html
from dockdyn.report.notebook import Page, ShownAnswer

WAIT = 60_000  # ms
AROUND = """<!doctype html><meta charset="utf-8"><style>h1 { color: rgb(1, 2, 3); font: 9px serif } * { letter-spacing: 3px }
</style><body><h1>Notebook</h1><p class="verdict alarming">mine</p>%s<script>var secret = 1</script></body>"""
LOOK = """name => { const { color, letterSpacing } = getComputedStyle(document.querySelector(name));
  return [color, letterSpacing]; }"""


@pytest.fixture(scope="module")
def run(shared_run):
    return shared_run("probe-cone")


@pytest.fixture
def notebook(browser, tmp_path):
    """Opens what is shown inline, in a page with styles of its own; gives that page and the one in its frame."""
    context = new_context(browser, offline=True, viewport={"width": 1000, "height": 900}, accept_downloads=True)
    problems = []

    def opened(shown: str):
        file = tmp_path / "notebook.html"
        file.write_text(AROUND % shown, encoding="utf-8")
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        return page, page.locator("iframe").first.element_handle().content_frame()

    yield opened
    context.close()
    assert not problems


def see_a_figure(frame) -> None:
    """Scroll to the first chart of a report, which is drawn then."""
    frame.evaluate("document.querySelector('figure[data-chart]').scrollIntoView()")
    frame.wait_for_selector("figure[data-drawn]")


@pytest.mark.full
def test_a_report_in_a_frame_works_and_keeps_to_itself(run, notebook):
    page, frame = notebook(report_html(run, replay={})._repr_html_())
    see_a_figure(frame)
    assert frame.evaluate(LOOK, "h1")[1] == "normal" and frame.evaluate(LOOK, "h1")[0] != "rgb(1, 2, 3)"
    assert page.evaluate(LOOK, "h1") == ["rgb(1, 2, 3)", "3px"]
    assert page.evaluate(LOOK, ".verdict")[0] == "rgb(0, 0, 0)"  # which a report draws in the colour of alarm
    assert frame.evaluate("() => { try { return parent.secret; } catch { return 'closed'; } }") == "closed"
    box = page.locator("iframe").bounding_box()
    assert box["width"] <= 1000 and box["height"] > 300
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
def test_figures_of_a_report_in_a_frame_can_be_kept(run, notebook):
    page, frame = notebook(report_html(run, replay={})._repr_html_())
    see_a_figure(frame)
    with page.expect_download() as kept:
        frame.locator("figure .tools button", has_text="SVG").first.click()
    assert kept.value.suggested_filename.endswith(".svg")


@pytest.mark.full
def test_a_replay_in_a_frame_plays(run, notebook):
    _, frame = notebook(dockdyn.replay_html(run)._repr_html_())
    wait_until(frame, "document.documentElement.dataset.ready !== undefined")


@pytest.mark.full
def test_the_replay_of_a_report_in_a_frame_opens(run, notebook):
    _, frame = notebook(report_html(run)._repr_html_())
    frame.wait_for_selector("#scene canvas")


@pytest.mark.full
def test_a_report_in_a_frame_computes(run, notebook):
    _, frame = notebook(report_html(run)._repr_html_())
    wait_until(frame, "document.getElementById('live')?.dataset.ready !== undefined")
    assert float(frame.evaluate("document.getElementById('live').dataset.difference")) < 1e-12


@pytest.mark.full
def test_a_page_is_the_text_it_was(run, tmp_path):
    page = report_html(run, replay={})
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == page == str(page) and page.startswith("<!doctype html>")
    assert len(repr(page)) < 60  # a line, where a prompt shows it
    assert isinstance(dockdyn.replay_html(run), Page)


def test_a_summary_is_the_dictionary_it_was(run):
    summary = dockdyn.summarise(run)
    assert json.loads(json.dumps(summary)) == summary == dict(summary)
    assert repr(summary) == repr(dict(summary)) and pickle.loads(pickle.dumps(summary)) == summary
    shown = summary._repr_html_()
    table, _, folded = shown.rpartition("<details>")
    for key in (*summary, *summary["contacts"][0]):
        known = key not in summary or summary[key] not in (None, [])
        assert f">{key}</th>" in table if known else key in folded.split("</summary>")[1].split("<")[0].split(", ")
    assert f">{summary['peak_force_N']:.6g}</td>" in shown


@pytest.mark.full
def test_margins_show_as_a_table():
    found = dockdyn.margins(dockdyn.load("probe-cone"))
    assert json.loads(json.dumps(found)) == found
    assert (
        ">growth_rate_1_s</th><td" in found._repr_html_()
        and f">{found['growth_rate_1_s']:.6g}</td>" in found._repr_html_()
    )


@pytest.mark.full
def test_margins_begin_with_what_they_come_to():
    """The verdict in words and the margins; what is long, such as approximations, stands folded at the end."""
    shown = dockdyn.margins(dockdyn.load("probe-cone", {"loop.delay": "100 ms"}))._repr_html_()
    order = [
        "<b>Unstable: a mode",
        ">stable</th>",
        ">delay_margin_s</th>",
        ">rightmost_roots</th>",
        ">drift_modes</th>",
    ]
    places = [shown.index(words) for words in (*order, "<details>", ">pade</th>", ">polynomial</th>")]
    assert places == sorted(places)


def test_what_an_answer_shows():
    answer = ShownAnswer(
        name="<b>",
        met=True,
        missed=None,
        none=[],
        rows=[{"a": 1}, {"b": 2.5}],
        matrix=[[1.0, 2], [3, 4]],
        inside={"c": "d"},
    )
    shown = answer._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;" in shown and shown.count("–") == 2
    assert "<summary>2 without a value</summary>missed, none</details>" in shown
    assert ">yes<" in shown and ">2.5<" in shown and ">1, 2<br>3, 4<" in shown and shown.count("<table>") == 3


def test_a_figure_shows_without_pyplot(run):
    assert dockdyn.plot(run, "normal_force")._repr_png_().startswith(b"\x89PNG")

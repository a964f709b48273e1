"""Charts in a report's page, as a reader uses them in a browser: offline, with mouse, finger and eye."""

import io
import itertools
import re
import zlib

import numpy as np
import pytest
from PIL import Image

from dockdyn.pages import report_html
from dockdyn.report.palette import COLOURS

WAIT = 60_000  # ms
# ranges of all panels, and names and visibility of what is drawn, as BokehJS has them
RANGES = """name => document.querySelector(`figure[data-name=${name}]`).built.plots.map(one =>
  [one.x_range.start, one.x_range.end, one.y_range.start, one.y_range.end])"""
SEEN = "name => document.querySelector(`figure[data-name=${name}]`).built.plots[0].renderers.map(one => one.visible)"
BOX = """name => { const { built } = document.querySelector(`figure[data-name=${name}]`), view = built.view.child_views[0];
  const { overlay } = built.plots[0].toolbar.tools.find(one => one.overlay);
  return getComputedStyle(view.views.find_one(overlay).el).display; }"""
WHOLE = "name => document.querySelector(`figure[data-name=${name}]`).built.chart.panels[0].y[1]"
FRAME = """name => { const { built } = document.querySelector(`figure[data-name=${name}]`), plot = built.plots[0];
  const view = built.view.child_views[0], box = view.el.getBoundingClientRect(), { left, top, width, height } = view.frame.bbox;
  return { x: box.left + left, y: box.top + top, width, height }; }"""

IS_INK = """colour => { const { built } = document.querySelector("figure[data-drawn]");
  return built.plots.at(-1).left[0].axis_label_text_color === colour; }"""


@pytest.fixture(scope="module")
def files(shared_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    for preset in ("probe-cone", "sits"):
        (folder / f"{preset}.html").write_text(report_html(shared_run(preset)), encoding="utf-8")
    return folder


class Reader:
    """A reader of a report, offline."""

    def __init__(self, browser, file, width=1100, scheme="light", **more):
        self.errors: list[str] = []
        size = {"width": width, "height": 900}
        self.context = browser.new_context(
            offline=True, color_scheme=scheme, viewport=size, accept_downloads=True, **more
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(file.as_uri())

    def see(self, name: str):
        """A figure, when it is drawn."""
        figure = self.page.locator(f"figure[data-name={name}]")
        figure.scroll_into_view_if_needed()
        self.page.wait_for_selector(f"figure[data-name={name}][data-drawn]")
        before = None
        while (place := self.frame(name)) != before:  # figures above, drawn later, may still move it
            before = place
            self.page.wait_for_timeout(500)
        return figure

    def ranges(self, name: str) -> np.ndarray:
        return np.array(self.page.evaluate(RANGES, name))

    def drag(self, name: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag the mouse between two places of the first panel, as shares of its width and height."""
        box, mouse = self.frame(name), self.page.mouse
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
        mouse.move(*places[0])
        mouse.down()
        self.page.wait_for_timeout(500)  # a reader takes aim
        mouse.move(*places[1], steps=5)
        self.page.wait_for_timeout(200)
        mouse.up()
        self.page.wait_for_timeout(300)

    def frame(self, name: str) -> dict[str, float]:
        return self.page.evaluate(FRAME, name)

    def close(self) -> None:
        """The page is closed; it must not have complained."""
        self.context.close()
        assert self.errors == []

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if raised[0] is None:
            self.close()
        else:
            self.context.close()


@pytest.fixture
def read(browser, files):
    return lambda name, **how: Reader(browser, files / f"{name}.html", **how)


@pytest.fixture(scope="module")
def at_desk(browser, files):
    """A page for several tests, the one that changes its ranges last."""
    reader = Reader(browser, files / "probe-cone.html")
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def in_the_dark(browser, files):
    """A page for several tests, the one that changes its colours last."""
    reader = Reader(browser, files / "sits.html", scheme="dark")
    yield reader
    reader.close()


@pytest.mark.full
def test_hover_tells_all_lines_with_their_units(at_desk, shared_run):
    figure = at_desk.see("depth")
    low, high = at_desk.ranges("depth")[0, :2]
    box, result = at_desk.frame("depth"), shared_run("probe-cone")
    at = box["x"] + 0.4 * box["width"]
    at_desk.page.mouse.move(at, box["y"] + 0.5 * box["height"])
    told = figure.locator(".readout").inner_text().replace("−", "-")
    time = float(result.time[np.argmin(np.abs(result.time.values - (low + 0.4 * (high - low))))])
    value = float(result.depth.sel(time=time)[0])
    assert f"{value:.5g} m" in told and "time" in told and " s" in told.splitlines()[0]
    assert f"{float(f'{1e3 * value:.5g}'):g} mm" in told  # of the other panel
    at_desk.page.mouse.move(5, 5)
    assert not figure.locator(".readout").count()


def test_numbers_on_axes_are_written_as_one_reads_them(at_desk):
    """Plain decimals, all of an axis with as many; very small and large ones with their power of ten."""
    at_desk.see("depth")
    for given, words in (
        ([0, 0.0005, 0.001], ["0", "0.0005", "0.0010"]),
        ([-0.05, 0, 0.05], ["−0.05", "0", "0.05"]),
        ([0, 20, 40], ["0", "20", "40"]),
        ([2.5e-7, 5e-7], ["2.5×10⁻⁷", "5.0×10⁻⁷"]),
        ([0, 200_000], ["0", "2×10⁵"]),
        ([0.1 + 0.2], ["0.3"]),
    ):
        assert at_desk.page.evaluate("given => parts.numbers(given)", given) == words


def test_a_logarithmic_axis_has_as_many_numbers_as_fit(at_desk):
    at_desk.see("depth")
    for given, ticks in (
        ((0.8, 12, 8), [1, 2, 5, 10]),
        ((5000, 80_000, 8), [5000, 10_000, 20_000, 50_000]),
        ((1e-18, 1e-9, 5), [1e-18, 1e-16, 1e-14, 1e-12, 1e-10]),
        ((0.5, 2, 4), [0.5, 1, 2]),
        ((20_100, 24_100, 5), [21_000, 22_000, 23_000, 24_000]),  # zoomed in
    ):
        assert at_desk.page.evaluate("given => parts.logTicks(...given)", given) == pytest.approx(ticks)


def test_zoom_move_reset_and_the_whole_run(at_desk):
    figure = at_desk.see("depth")
    opened = at_desk.ranges("depth")
    assert 0 < opened[0, 0] < opened[0, 1] < 30
    at_desk.drag("depth", (0.25, 0.2), (0.5, 0.8))
    zoomed = at_desk.ranges("depth")
    span = np.ptp(opened[0, :2])
    np.testing.assert_allclose(zoomed[0, :2], opened[0, 0] + span * np.array([0.25, 0.5]), atol=0.01 * span)
    np.testing.assert_array_equal(zoomed[0, :2], zoomed[1, :2])  # all panels over time
    figure.get_by_role("button", name="Move").click()
    at_desk.drag("depth", (0.5, 0.5), (0.7, 0.5))
    moved = at_desk.ranges("depth")
    assert moved[0, 0] == pytest.approx(zoomed[0, 0] - 0.2 * np.ptp(zoomed[0, :2]), abs=0.02 * span)
    box = at_desk.frame("depth")
    at_desk.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert figure.locator(".readout").count()
    at_desk.page.keyboard.down("Control")
    at_desk.page.mouse.wheel(0, -300)
    at_desk.page.keyboard.up("Control")
    at_desk.page.wait_for_timeout(300)
    assert np.ptp(at_desk.ranges("depth")[0, :2]) < 0.9 * np.ptp(moved[0, :2])
    assert not figure.locator(".readout").count()  # its values were those of another time
    assert at_desk.page.evaluate(BOX, "depth") == "none"  # the box of the zoom is gone
    at_desk.see("energy")
    np.testing.assert_allclose(at_desk.ranges("energy")[0, :2], at_desk.ranges("depth")[0, :2])
    figure.get_by_role("button", name="Reset").click()
    np.testing.assert_allclose(at_desk.ranges("depth"), opened)
    figure.get_by_role("button", name="Whole run").click()
    assert at_desk.ranges("depth")[0, :2].tolist() == [0, 30] == at_desk.ranges("energy")[0, :2].tolist()
    for name in ("depth", "energy"):  # nothing of it is cut off above or below, in any figure
        assert at_desk.ranges(name)[0, 2:].tolist() == pytest.approx(at_desk.page.evaluate(WHOLE, name))


def test_the_legend_shows_and_hides(in_the_dark):
    in_the_dark.see("force")
    before = in_the_dark.page.evaluate(SEEN, "force")
    box = in_the_dark.frame("force")
    in_the_dark.page.mouse.click(box["x"] + 12, box["y"] - 12)
    in_the_dark.page.wait_for_timeout(300)
    after = in_the_dark.page.evaluate(SEEN, "force")
    assert all(before) and after.count(False) == 1
    in_the_dark.page.mouse.click(box["x"] + 12, box["y"] - 12)
    in_the_dark.page.wait_for_timeout(300)
    assert all(in_the_dark.page.evaluate(SEEN, "force"))


@pytest.mark.full
def test_a_click_on_a_contact_loads_the_replay_and_moves_it_there(read, shared_run):
    onset = float(shared_run("probe-cone").episode_onset[1])
    with read("probe-cone") as reader:
        figure = reader.see("normal-force")
        low, high = reader.ranges("normal-force")[0, :2]
        box = reader.frame("normal-force")
        at = box["x"] + (onset + 0.1 - low) / (high - low) * box["width"]
        reader.page.mouse.click(at, box["y"] + 0.5 * box["height"])
        figure.get_by_role("link", name="load the replay").click()
        inside = reader.page.locator("#replay iframe").element_handle().content_frame()
        inside.wait_for_function("document.documentElement.dataset.ready !== undefined")
        reader.page.wait_for_timeout(1500)
        assert inside.evaluate("dockdynClock.time") == pytest.approx(onset, abs=0.2)
        assert f"Q2, {onset:.5g} s" in figure.locator(".status").inner_text()
        figure = reader.see("normal-force")
        box = reader.frame("normal-force")
        reader.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.9 * box["height"])  # between contacts
        reader.page.wait_for_timeout(1500)
        found = inside.evaluate("dockdynClock.time")
        assert found == pytest.approx(low + 0.6 * (high - low), abs=0.05)


@pytest.mark.full_cases("loads")
@pytest.mark.parametrize("names", ["trajectory depth", "loads"])
def test_every_figure_saves_as_png_and_svg(names, read):
    with read("probe-cone", scheme="dark") as reader:
        for name, kind in itertools.product(names.split(), ("PNG", "SVG")):
            figure = reader.page.locator(f"figure[data-name={name}]")
            figure.scroll_into_view_if_needed()
            with reader.page.expect_download() as awaited:
                figure.get_by_role("button", name=f"Save {kind}").click()
            saved = awaited.value
            assert saved.suggested_filename == f"{name}.{kind.lower()}"
            data = saved.path().read_bytes()
            if kind == "SVG":
                text = data.decode()
                assert text.lstrip().startswith("<") and "<svg" in text and "var(--" not in text and len(text) > 5000
                continue
            shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
            assert shown.shape[1] > 600 and tuple(shown[2, 2]) == (254, 254, 254)  # on paper, also from a dark screen
            assert (shown.sum(axis=2) < 600).mean() > 0.005


@pytest.mark.full
@pytest.mark.parametrize("preset", ["probe-cone", "sits"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_all_is_there_and_nothing_cropped(preset, scheme, read):
    with read(preset, width=390, scheme=scheme, has_touch=True, is_mobile=True) as reader:
        names = [one.get_attribute("data-name") for one in reader.page.locator("figure[data-chart]").all()]
        assert len(names) >= 5
        for name in names:
            figure = reader.see(name)
            box = figure.locator(".chart").bounding_box()
            assert box["width"] <= 390 and box["x"] >= 0
            shown = np.asarray(Image.open(io.BytesIO(figure.locator(".chart").screenshot())).convert("RGB")).astype(int)
            paper = (0x14, 0x17, 0x1B) if scheme == "dark" else (0xFE, 0xFE, 0xFE)
            assert np.abs(shown[0, 0] - paper).max() <= 2
            assert (np.abs(shown - paper).sum(axis=2) > 150).mean() > 0.01
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        # a finger on a figure scrolls the page
        assert reader.page.evaluate(
            "getComputedStyle(document.querySelector('figure[data-drawn]').built.view.child_views[0].canvas_view.events_el).touchAction"
        ) in ("auto", "pan-x pan-y")


def test_colours_follow_the_page_and_its_print(in_the_dark):
    in_the_dark.see("force")
    in_the_dark.page.wait_for_function(IS_INK, arg="#e4e8ed")
    in_the_dark.page.emulate_media(color_scheme="light")
    in_the_dark.page.wait_for_function(IS_INK, arg="#1f2329")
    in_the_dark.page.emulate_media(color_scheme="dark", media="print")
    in_the_dark.page.wait_for_function(IS_INK, arg="#1f2329")
    in_the_dark.page.wait_for_function("() => !document.querySelector('figure[data-chart]:not([data-drawn])')")
    assert in_the_dark.page.locator("figure[data-drawn]").count() > 1


def colours_in(pdf: bytes) -> set[str]:
    """The colours (hexadecimal) with which a PDF of a browser draws."""
    found = set()
    for stream in re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        drawn = zlib.decompressobj().decompress(stream)
        for red, green, blue in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b", drawn):
            found.add("#" + "".join(f"{round(255 * float(part)):02x}" for part in (red, green, blue)))
    return found


UPPER = """() => {
  const inside = (node) => [...node.shadowRoot?.childNodes ?? [], ...node.childNodes].flatMap((one) => [one, ...inside(one)]);
  return inside(document.body).filter((one) => one.matches?.("canvas.bk-layer ~ canvas.bk-layer"))
    .map((one) => getComputedStyle(one).display);
}"""


def test_what_is_printed_is_not_emptied_again(read):
    """On paper the empty canvas above a figure, for boxes and crosshairs, would take what is beneath it away."""
    with read("probe-cone") as reader:
        reader.see("energy")  # the library is there
        reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        upper = reader.page.evaluate(UPPER)
        assert len(upper) >= reader.page.locator("figure").count() and set(upper) == {"none"}
        reader.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert set(reader.page.evaluate(UPPER)) == {"block"}


def test_a_page_is_loaded_when_its_figures_can_be_printed(browser, files):
    """Browsers that print a page without a reader, and scripts that ask for it, wait for that."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.add_init_script("addEventListener('load', () => { window.then = typeof Bokeh; })")
    page.goto((files / "probe-cone.html").as_uri())
    assert page.evaluate("window.then") == "object"
    assert not page.locator("iframe").count()
    context.close()


@pytest.mark.full
@pytest.mark.parametrize("seen", [False, True])
def test_all_figures_are_printed_on_paper(seen, read):
    """Also those that nobody has looked at, and whatever the colours of the screen are."""
    with read("probe-cone", scheme="dark") as reader:
        reader.page.wait_for_function("() => typeof Bokeh !== 'undefined'")
        if seen:
            reader.see("energy")
        printed = colours_in(reader.page.pdf())
        names = {one.get_attribute("data-name") for one in reader.page.locator("figure[data-drawn]").all()}
        assert {"trajectory", "loads"} < names and len(names) == reader.page.locator("figure").count()
        assert {COLOURS[name] for name in ("ink", "blue", "orange", "green", "wall", "contact")} <= printed
        assert not {"#e4e8ed", "#5fb5ef", "#14171b"} & printed  # of the dark screen
        reader.page.wait_for_function(IS_INK, arg="#e4e8ed")  # again


def test_a_tap_tells_values_until_another_one_elsewhere(read):
    with read("probe-cone", width=390, has_touch=True, is_mobile=True) as reader:
        figure = reader.see("normal-force")
        box = reader.frame("normal-force")
        reader.page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        reader.page.wait_for_timeout(500)
        assert re.search(r"time\s+\d+\.\d+ s\n.*\n\d+.* N", figure.locator(".readout").inner_text())
        reader.page.locator("h2").first.tap()
        assert not figure.locator(".readout").count()

"""Charts in a report's page, as a reader uses them in a browser: offline, with mouse, finger and eye."""

import io
import itertools
import re
import zlib

import numpy as np
import pytest
from browser import new_context, wait_until
from PIL import Image

from dockdyn.pages import report_html
from dockdyn.report.palette import COLOURS

WAIT = 60_000  # ms
SHOWN = "name => [...document.querySelectorAll(`figure[data-name=${name}] .plot`)].map(one => one.dataset.shown)"
AXES = """name => { const plot = document.querySelector(`figure[data-name=${name}] .plot`), box = plot.getBoundingClientRect();
  const { x, y, width, height } = plot.querySelector("clipPath rect");
  return { x: box.left + x.baseVal.value, y: box.top + y.baseVal.value,
    width: width.baseVal.value, height: height.baseVal.value }; }"""
INK = "() => getComputedStyle(document.querySelector('figure[data-drawn] .panel-drawing text')).fill"
DARK, LIGHT = "rgb(169, 178, 188)", "rgb(77, 85, 95)"  # of numbers on axes


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
        self.context = new_context(
            browser, offline=True, color_scheme=scheme, viewport=size, accept_downloads=True, **more
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(file.as_uri())

    def see(self, name: str):
        """A figure, when all of the page has its place."""
        self.page.wait_for_selector("html[data-settled]", state="attached")
        figure = self.page.locator(f"figure[data-name={name}]")
        figure.scroll_into_view_if_needed()
        return figure

    def ranges(self, name: str) -> np.ndarray:
        """What each panel shows: its ends across and up."""
        return np.array([[float(part) for part in one.split()] for one in self.page.evaluate(SHOWN, name)])

    def drag(self, name: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag the mouse between two places of the first panel, as shares of its width and height."""
        box, mouse = self.frame(name), self.page.mouse
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
        mouse.move(*places[0])
        mouse.down()
        mouse.move(*places[1], steps=5)
        mouse.up()

    def frame(self, name: str) -> dict[str, float]:
        """Where the axes of the first panel are (px)."""
        return self.page.evaluate(AXES, name)

    def time(self) -> float:
        return float(self.page.locator(".scrub").get_attribute("aria-valuenow"))

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
def test_the_pointer_tells_all_lines(at_desk, shared_run):
    figure = at_desk.see("depth")
    low, high = at_desk.ranges("depth")[0, :2]
    box, result = at_desk.frame("depth"), shared_run("probe-cone")
    at_desk.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    metres, millimetres = (float(words.replace("−", "-")) for words in figure.locator(".series b").all_inner_texts())
    value = float(np.interp(low + 0.4 * (high - low), result.time, result.depth[:, 0]))
    assert metres == pytest.approx(value, abs=2e-5) and millimetres == pytest.approx(1e3 * value, abs=0.02)
    assert figure.locator(".curve-name").all_inner_texts() == ["penetration depthm", "close upmm"]
    at_desk.page.mouse.move(5, 5)
    assert not figure.locator(".reading").count()  # they are those of the time again


@pytest.mark.full
def test_zoom_reset_and_the_whole_run(at_desk):
    figure = at_desk.see("depth")
    opened = at_desk.ranges("depth")
    assert 0 < opened[0, 0] < opened[0, 1] < 30
    at_desk.page.keyboard.down("Shift")
    at_desk.drag("depth", (0.25, 0.2), (0.5, 0.8))
    at_desk.page.keyboard.up("Shift")
    zoomed = at_desk.ranges("depth")
    span = np.ptp(opened[0, :2])
    np.testing.assert_allclose(zoomed[0, :2], opened[0, 0] + span * np.array([0.25, 0.5]), atol=0.01 * span)
    np.testing.assert_array_equal(zoomed[0, :2], zoomed[1, :2])  # all panels over time
    np.testing.assert_array_equal(at_desk.ranges("energy")[0, :2], zoomed[0, :2])  # and all figures
    box = at_desk.frame("depth")
    at_desk.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    at_desk.page.keyboard.down("Control")
    at_desk.page.mouse.wheel(0, -300)
    at_desk.page.keyboard.up("Control")
    wait_until(at_desk.page, f"({SHOWN})('depth')[0] !== {' '.join(map(str, zoomed[0]))!r}")
    assert np.ptp(at_desk.ranges("depth")[0, :2]) < 0.9 * np.ptp(zoomed[0, :2])
    figure.get_by_role("button", name="Reset").click()
    np.testing.assert_allclose(at_desk.ranges("depth"), opened)
    figure.get_by_role("button", name="Whole run").click()
    assert at_desk.ranges("depth")[0, :2].tolist() == [0, 30] == at_desk.ranges("energy")[0, :2].tolist()
    assert at_desk.ranges("depth")[0, 2] < opened[0, 2]  # nothing of it is cut off below
    figure.get_by_role("button", name="Reset").click()


def test_curves_rows_and_keys_set_the_one_time(at_desk, shared_run):
    run = shared_run("probe-cone")
    onset, peak = (float(run[name][1]) for name in ("episode_onset", "episode_peak_time"))
    at_desk.see("normal-force")
    low, high = at_desk.ranges("normal-force")[0, :2]
    box = at_desk.frame("normal-force")
    at_desk.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    assert at_desk.time() == pytest.approx(low + 0.6 * (high - low), abs=0.02)
    for keys, time in (("Home", 0), ("End", 30), ("ArrowLeft", 29.95), ("Shift+ArrowRight", 30)):
        at_desk.page.keyboard.press(keys)
        assert at_desk.time() == pytest.approx(time, abs=1e-3)
    at_desk.page.locator("tr.goes", has_text="Q2").first.click()
    assert at_desk.time() == pytest.approx(peak, abs=1e-3)
    shown = at_desk.ranges("energy")[0, :2]
    assert shown[0] < onset < shown[1] and np.ptp(shown) < 3  # the curves are on that contact
    at_desk.page.locator("figure[data-name=depth]").get_by_role("button", name="Reset").click()


@pytest.mark.full
def test_the_legend_shows_and_hides(in_the_dark):
    figure = in_the_dark.see("force")
    entry = figure.locator(".series").first
    drawn = figure.locator(".panel-drawing path").count()
    entry.click()
    assert figure.locator(".panel-drawing path").count() < drawn
    assert figure.locator(".series").first.get_attribute("aria-pressed") == "false"
    figure.locator(".series").first.click()
    assert figure.locator(".panel-drawing path").count() == drawn


@pytest.mark.full
@pytest.mark.parametrize("names", ["trajectory depth", "loads"])
def test_every_figure_saves_as_png_and_svg(names, read):
    with read("probe-cone", scheme="dark") as reader:
        for name, kind in itertools.product(names.split(), ("PNG", "SVG")):
            figure = reader.see(name)
            with reader.page.expect_download() as awaited:
                figure.get_by_role("button", name=f"Save {kind}").click()
            saved = awaited.value
            assert saved.suggested_filename == f"{name}.{kind.lower()}"
            data = saved.path().read_bytes()
            if kind == "SVG":
                text = data.decode()
                assert text.startswith("<svg") and "var(--" not in text and len(text) > 5000
                continue
            shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
            assert shown.shape[1] > 600 and tuple(shown[2, 2]) == (255, 255, 255)  # on paper, also from a dark screen
            assert (shown.sum(axis=2) < 600).mean() > 0.005


@pytest.mark.full
@pytest.mark.parametrize("preset", ["probe-cone", "sits"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_all_is_there_and_nothing_cropped(preset, scheme, read):
    with read(preset, width=390, scheme=scheme, has_touch=True, is_mobile=True) as reader:
        names = [one.get_attribute("data-name") for one in reader.page.locator("figure[data-chart]").all()]
        assert len(names) >= 5
        for name in names:
            chart = reader.see(name).locator(".chart")
            box = chart.bounding_box()
            assert box["width"] <= 390 and box["x"] >= 0
            shown = np.asarray(Image.open(io.BytesIO(chart.screenshot())).convert("RGB")).astype(int)
            ground = (0x15, 0x18, 0x1C) if scheme == "dark" else (0xFF, 0xFF, 0xFF)
            assert (np.abs(shown - ground).sum(axis=2) > 150).mean() > 0.005
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        touch = "getComputedStyle(document.querySelector('.plot')).touchAction"
        assert reader.page.evaluate(touch) == "pan-x pan-y"  # a finger on a figure scrolls the page


@pytest.mark.full
def test_colours_follow_the_page_and_its_print(in_the_dark):
    in_the_dark.see("force")
    assert in_the_dark.page.evaluate(INK) == DARK
    in_the_dark.page.emulate_media(color_scheme="light")
    wait_until(in_the_dark.page, f"({INK})() === {LIGHT!r}")
    in_the_dark.page.emulate_media(color_scheme="dark", media="print")
    wait_until(in_the_dark.page, f"({INK})() === {LIGHT!r}")
    in_the_dark.page.emulate_media(color_scheme="dark", media="screen")
    wait_until(in_the_dark.page, f"({INK})() === {DARK!r}")


def colours_in(pdf: bytes) -> set[str]:
    """The colours (hexadecimal) with which a PDF of a browser draws."""
    found = set()
    for stream in re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        drawn = zlib.decompressobj().decompress(stream)
        for red, green, blue in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b", drawn):
            found.add("#" + "".join(f"{round(255 * float(part)):02x}" for part in (red, green, blue)))
    return found


@pytest.mark.full
def test_all_figures_are_printed_on_paper(read):
    """Also those that nobody has looked at, and whatever the colours of the screen are."""
    with read("probe-cone", scheme="dark") as reader:
        reader.page.wait_for_selector("html[data-ready]", state="attached")
        printed = colours_in(reader.page.pdf(print_background=True))
        assert reader.page.locator("figure[data-drawn]").count() == reader.page.locator("figure").count()
        assert {COLOURS[name] for name in ("blue", "orange", "green", "wall", "contact")} <= printed
        assert not {"#eceef0", "#5fb5ef", "#15181c"} & (printed - {"#15181c"})  # of the dark screen


@pytest.mark.full
def test_a_tap_tells_values(read):
    with read("probe-cone", width=390, has_touch=True, is_mobile=True) as reader:
        figure = reader.see("normal-force")
        box = reader.frame("normal-force")
        low, high = reader.ranges("normal-force")[0, :2]
        reader.page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        assert reader.time() == pytest.approx(low + 0.5 * (high - low), abs=0.1)
        assert re.fullmatch(r"[\d.]+", figure.locator(".series b").first.inner_text())

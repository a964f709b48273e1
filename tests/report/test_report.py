"""Results on disk and the report: whole files, the summary's own numbers, nothing from outside, shown by a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import tomlkit
import xarray as xr
from browser import missing

import dockdyn
from dockdyn.kinds.free_flight.trajectory import trajectory
from dockdyn.pages import report_html
from dockdyn.report import picture
from dockdyn.results.store import open_result, write_result

TITLE = '<b>bold</b> & "quoted" {{ 7 * 7 }} </title><script>alert(1)</script>'
FEATURE = 'tip <i>&"$x$'
RUNS = {
    "contacts": ("sazawal-compliance", {"duration": "22 s", "title": TITLE}),
    "no contact": ("sazawal-compliance", {"duration": "22 s", "title": TITLE, "chaser.velocity": [0.02, 0, 0]}),
    "fixed": ("sazawal-compliance", {"duration": "5.5 s", "integrator.method": "fixed"}),
    "stopped": (
        "sazawal-spring-dashpot",
        {"contact.normal.stiffness": 1e9, "integrator.method": "fixed", "integrator.step": "0.1 s"},
    ),
}
COLUMNS = ("onset_s", "release_s", None, None, None, None, None, "azimuth_deg", "approach_speed_m_s")
COLUMNS += ("peak_normal_force_N", "peak_time_s", "impulse_N_s")


class Page(HTMLParser):
    """What a report holds: every tag with its attributes, all text, and rows of tables by heading and by class.

    Of tables under one heading those of the first are known by it.
    """

    VOID = ("meta", "img", "br", "link")

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.heading = self.text = ""
        self.region: str | None = None
        self.tables: dict[str | None, list[list[str]]] = {}
        self.rows: list[list[str]] = []
        self.feed(html)
        assert not self.open, "tags left open"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "div":
            self.region = dict(attrs).get("aria-label")
        if tag == "table":
            self.rows = []
            self.tables[dict(attrs).get("class")] = self.rows
            self.tables.setdefault(self.region, self.rows)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] == "h1":
            self.heading += data
        if "td" in self.open:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def results() -> dict[str, xr.Dataset]:
    found = {}
    for name, (preset, overrides) in RUNS.items():
        named = overrides | {"chaser.feature.name": FEATURE, "contact.feature": FEATURE}
        found[name] = dockdyn.simulate(dockdyn.load(preset, overrides=named))
    assert found["contacts"].sizes["episode"] == 2 and not found["no contact"].sizes["episode"]
    assert not found["stopped"].attrs["finished"]
    return found


@pytest.fixture(scope="module")
def reports(results) -> dict[str, str]:
    return {name: report_html(result, replay={}) for name, result in results.items()}


def assert_shows(cell: str, value: float | None) -> None:
    """A cell shows `value`, rounded to the digits it has."""
    if value is None:
        assert cell in ("–", "still touching")
        return
    mantissa, _, power = cell.partition("e")
    last = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    assert abs(float(cell) - value) <= 0.5001 * last
    assert last <= 2e-3 * abs(value) or cell.lstrip("-").startswith("0"), "too few digits"


@pytest.mark.parametrize("name", RUNS)
def test_contacts_in_the_page_are_those_of_the_summary(name, results, reports):
    summary = dockdyn.summarise(results[name])
    page = Page(reports[name])
    rows = [row for row in page.tables.get("Contacts", []) if row and row[0].startswith("Q")]
    assert len(rows) == len(summary["contacts"])
    for row, contact in zip(rows, summary["contacts"], strict=True):
        assert row[3:5] == [contact["feature"], contact["surface"]]
        for cell, key in zip(row[1:], COLUMNS, strict=False):
            if key is not None:
                assert_shows(cell, contact[key])
        for cell, value in zip(row[5:8], contact["position_m"], strict=True):
            assert abs(float(cell) - value) <= 6e-4 * max(1.0, np.linalg.norm(contact["position_m"]))
    for row, energy, kind in zip(rows, summary["kinetic_energy_change_J"], summary["energy_class"], strict=True):
        if kind is None:
            assert row[13] == row[14] == "–"
        else:
            assert_shows(row[13], energy)
            assert row[14] == kind


@pytest.mark.parametrize("name", RUNS)
def test_page_needs_nothing_from_outside(name, reports):
    html = reports[name]
    page = Page(html)
    assert len(html) < 2_000_000
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "base"}
    loads = [value for _, given in page.tags for key, value in given.items() if key in ("src", "href", "xlink:href")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in loads)
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", html))
    assert "@import" not in html
    ids = [given["id"] for _, given in page.tags if "id" in given]
    assert len(set(ids)) == len(ids)
    used = {value[1:] for value in loads if value.startswith("#")} | set(re.findall(r"url\(#([^)]*)\)", html))
    assert used <= set(ids)


def test_what_the_user_wrote_is_text(reports):
    page = Page(reports["contacts"])
    assert page.heading == TITLE
    assert not {tag for tag, _ in page.tags} & {"i", "script"}
    assert page.text.count(FEATURE) > 3  # in tables and in figures
    assert tomlkit.dumps({"title": TITLE}).strip() in page.text  # the scenario


def test_verdict_and_warnings(results, reports):
    assert "2 contacts; largest normal force 5.972 N in Q2. All were passive" in Page(reports["contacts"]).text
    assert "t = 22 s, apart again: there is no latch." in Page(reports["contacts"]).text
    assert "t = 5.5 s, touching." in Page(reports["fixed"]).text
    assert "There was no contact" in Page(reports["no contact"]).text
    assert "Q1 was not over when the run ended" in Page(reports["fixed"]).text
    stopped = Page(reports["stopped"]).text
    for warning in dockdyn.summarise(results["stopped"])["warnings"]:
        assert warning in stopped
    assert "Stopped at t = " in stopped


SHAPES = {
    'shape = "cone"\napex = [1, 0, 0]\naxis = [1, 0, 0]\nhalf_angle = 0.5': lambda x, r: (
        r * np.cos(0.5) - x * np.sin(0.5)
    ),
    'shape = "plane"\npoint = [1, 0, 0]\nnormal = [2, 0, 0]': lambda x, r: x,
    'shape = "sphere"\ncentre = [1, 0, 0]\nradius = 0.3': lambda x, r: np.hypot(x, r) - 0.3,
    'shape = "cylinder"\npoint = [1, 0, 0]\naxis = [1, 0, 0]\nradius = 0.2\ninside = true': lambda x, r: r - 0.2,
    'shape = "torus"\ncentre = [1, 0, 0]\naxis = [1, 0, 0]\nmajor_radius = 0.2\nminor_radius = 0.05': lambda x, r: (
        np.hypot(x, r - 0.2) - 0.05
    ),
}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.split('"')[1])
def test_surfaces_are_drawn_where_they_are(shape, results):
    data = tomlkit.parse(results["contacts"].attrs["scenario"]).unwrap()
    data["target"]["surface"] = [{"name": "cone", **tomlkit.parse(shape).unwrap()}]
    result = results["contacts"].assign_attrs(scenario=tomlkit.dumps(data))
    lines = [np.array(line.get_data_3d()) for line in trajectory(result).axes[0].lines]
    on_surface = [line for line in lines[:-2] if line.shape[1] > 2]  # the path and the marks come last
    assert len(on_surface) > 8
    for x, y, z in on_surface:
        assert np.abs(SHAPES[shape](x, np.hypot(y, z))).max() < 2e-3


def test_result_survives_the_file(results, tmp_path):
    path = tmp_path / "result.nc"
    nothing = results["no contact"].isel(contact=slice(0, 0), point=slice(0, 0)).assign_attrs(title="")
    for result in (*results.values(), nothing):
        write_result(result, path)
        back = open_result(path)
        xr.testing.assert_identical(back, result)
        assert dockdyn.summarise(back) == dockdyn.summarise(result)
    write_result(results["contacts"], path)
    assert report_html(open_result(path), replay={}) == report_html(results["contacts"], replay={})
    assert [file.name for file in tmp_path.iterdir()] == ["result.nc"]


def test_failed_write_leaves_the_earlier_file(results, tmp_path):
    path = tmp_path / "result.nc"
    write_result(results["contacts"], path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_result(results["contacts"].assign_attrs(title=object()), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["result.nc"]


def test_what_is_no_result_is_refused_in_one_line(results, tmp_path, capfd):
    whole = tmp_path / "whole.nc"
    write_result(results["contacts"], whole)
    data = whole.read_bytes()
    files = {"text.nc": b"not a result", "empty.nc": b"", "cut.nc": data[: len(data) // 2], "head.nc": data[:600]}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    xr.Dataset({"time": [0.0, 1.0]}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    says = dict.fromkeys(files, "not a netCDF file") | {
        "absent.nc": "no such file",
        "": "is a folder",
        "other.nc": "not a result of dockdyn",
    }
    for name, words in says.items():
        with pytest.raises(dockdyn.ScenarioError) as caught:
            open_result(tmp_path / name)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / name}: ") and words in message and "\n" not in message
    assert capfd.readouterr().err == ""


# What the browser finds in the page, written where --dump-dom shows it: in the page around its frame.
PROBE = """<script>addEventListener("load", () => {
  const broken = [...document.images].filter(image => !image.complete || !image.naturalWidth).length;
  const empty = [...document.querySelectorAll("figure svg")].filter(svg => !(svg.getBBox().width > 100)).length;
  const over = document.documentElement.scrollWidth - innerWidth;
  const figures = document.querySelectorAll("figure svg, figure img").length;
  parent.document.body.dataset.found = [broken, empty, over > 0, innerWidth, figures, document.images.length].join(" ");
})</script>"""


@pytest.fixture
def browse(tmp_path):
    """Opens a page in headless Chromium; gives what it wrote to stdout and to stderr."""
    program = shutil.which("chromium")
    if program is None:
        missing("chromium is not installed (apt-get install chromium)")

    def run(page: Path, *flags: str) -> tuple[str, str]:
        quiet = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        quiet += " --disable-component-update --disable-sync --enable-logging=stderr"
        profile = f"--user-data-dir={tmp_path / f'profile-{len(list(tmp_path.iterdir()))}'}"
        command = [program, *quiet.split(), profile, *flags, page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout, done.stderr

    return run


def test_page_opens_in_a_browser(browse, reports, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(reports["contacts"], encoding="utf-8")
    dom, log = browse(page, "--dump-dom")
    assert "CONSOLE" not in log  # nothing refused, nothing missing
    rows = Page(dom).tables["Contacts"]
    assert [row[0] for row in rows[-2:]] == ["Q1", "Q2"]
    picture_file = tmp_path / "page.png"
    browse(page, f"--screenshot={picture_file}", "--window-size=1100,1500")
    from PIL import Image

    colours = Image.open(picture_file).convert("RGB").getcolors(1 << 24)
    assert colours is not None and len(colours) > 100  # text and lines, not a blank page


@pytest.mark.parametrize("width", [400, 1100])
@pytest.mark.parametrize("large", [0, picture.LARGE], ids=["png", "svg"])
def test_figures_show_at_every_width(browse, results, tmp_path, monkeypatch, width, large):
    monkeypatch.setattr(picture, "LARGE", large)
    page = tmp_path / "report.html"
    html = report_html(results["contacts"], replay={})
    html = re.sub(r"<meta http-equiv[^>]*>", "", html).replace("</body>", f"{PROBE}</body>")  # the page forbids scripts
    # a frame, because no window is narrower than 500 pixels
    frame = f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{escape(html)}"></iframe>'
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}</body>", encoding="utf-8")
    dom, _ = browse(page, "--dump-dom", "--window-size=1200,1000")
    found = re.search(r'data-found="(\d+) (\d+) (\w+) (\d+) (\d+) (\d+)"', dom)
    assert found is not None
    broken, empty, overflows, wide, figures, images = found.groups()
    assert (broken, empty, overflows, wide) == ("0", "0", "false", str(width))
    assert int(figures) >= 8 and int(images) == (int(figures) if large == 0 else 0)

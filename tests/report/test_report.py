"""Results on disk and the report: whole files, the summary's own numbers, nothing from outside, shown by a browser."""

import io
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import tomlkit
import xarray as xr
from report_page import Page, check_nothing_from_outside, figures_at_width, references, without_scripts

import dockdyn
from dockdyn import open_result
from dockdyn.docking.views.shown_surface import shown_surfaces, wire_frame
from dockdyn.docking.views.trajectory import trajectory_chart
from dockdyn.pages import report_html, report_of
from dockdyn.report import picture
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot
from dockdyn.results.store import write_result

TITLE = '<b>bold</b> & "quoted" {{ 7 * 7 }} </title><script>alert(1)</script>'
RUNS = {
    "contacts": ("sazawal-compliance", {"duration": "22 s", "title": TITLE}),
    "no contact": ("sazawal-compliance", {"duration": "22 s", "title": TITLE, "body.chaser.velocity": [0.02, 0, 0]}),
    "fixed": ("sazawal-compliance", {"duration": "5.5 s", "integrator.method": "fixed"}),
    "stopped": (
        "sazawal-spring-dashpot",
        {"contact.probe.normal.stiffness": 1e9, "integrator.method": "fixed", "integrator.step": "0.1 s"},
    ),
}
COLUMNS = ("onset_s", "release_s", None, None, None, None, None, "azimuth_deg", "approach_speed_m_s")
COLUMNS += ("peak_force_N", "peak_time_s", "impulse_N_s", "friction_loss_J")


@pytest.fixture(scope="module")
def results() -> dict[str, xr.Dataset]:
    found = {}
    for name, (preset, overrides) in RUNS.items():
        found[name] = dockdyn.simulate(dockdyn.load(preset, overrides=overrides))
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


@pytest.mark.full
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
    for row, energy, kind in zip(rows, summary["contact.energy_change_J"], summary["energy_class"], strict=True):
        if kind is None:
            assert row[14] == row[15] == "–"
        else:
            assert_shows(row[14], energy)
            assert row[15] == kind


@pytest.mark.parametrize("name", RUNS)
def test_page_needs_nothing_from_outside(name, reports):
    html = reports[name]
    page = check_nothing_from_outside(html)
    assert len(html) < 2_000_000
    assert "@import" not in html
    used = {value[1:] for value in references(page) if value.startswith("#")} | set(
        re.findall(r"url\(#([^)]*)\)", without_scripts(html))
    )
    assert used <= {given["id"] for _, given in page.tags if "id" in given}


def test_what_the_user_wrote_is_text(reports):
    page = Page(reports["contacts"])
    assert page.heading == TITLE
    assert "i" not in {tag for tag, _ in page.tags} and not any("alert(1)" in text for text in page.scripts)
    assert tomlkit.dumps({"title": TITLE}).strip() in page.text  # the scenario


def test_verdict_and_warnings(results, reports):
    assert "2 contacts; largest normal force 5.972 N in Q2. All were passive" in Page(reports["contacts"]).text
    assert "Finished at t = 22 s, all apart." in Page(reports["contacts"]).text
    assert "Finished at t = 5.5 s; touching: probe." in Page(reports["fixed"]).text
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
    data["body"]["target"]["surface"] = {"cone": {**tomlkit.parse(shape).unwrap()}}
    result = results["contacts"].assign_attrs(scenario=tomlkit.dumps(data))
    on_surface = wire_frame(shown_surfaces(result)[0], np.array([[-0.6, 0.6]] * 3))
    assert len(on_surface) > 8
    for x, y, z in (line.T for line in on_surface):
        assert np.abs(SHAPES[shape](x, np.hypot(y, z))).max() < 2e-3
    for panel, (across, up) in zip(trajectory_chart(result).panels[1:3], ((0, 2), (0, 1)), strict=True):
        for area in panel.areas:  # the solid ends where the surface is, or beyond the panel
            places = np.zeros((np.size(area.x), 3))
            places[:, across], places[:, up] = area.x, area.y
            shares = np.stack(
                [
                    (area.x - np.mean(panel.across_limits)) / np.ptp(panel.across_limits),
                    (area.y - np.mean(panel.limits)) / np.ptp(panel.limits),
                ]
            )
            x, y, z = places[np.all(np.abs(shares) < 0.5, axis=0)].T
            assert x.size and np.abs(SHAPES[shape](x, np.hypot(y, z))).max() < 5e-3


@pytest.mark.full
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
        "other.nc": "not a result",
    }
    for name, words in says.items():
        with pytest.raises(dockdyn.ScenarioError) as caught:
            open_result(tmp_path / name)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / name}: ") and words in message and "\n" not in message
    assert capfd.readouterr().err == ""


@pytest.mark.full
def test_page_opens_in_a_browser(browse, reports, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(reports["contacts"], encoding="utf-8")
    shown, said = browse(page, 1100, 1500)
    rows = Page(shown.content()).tables["Contacts"]
    assert [row[0] for row in rows[-2:]] == ["Q1", "Q2"]
    from PIL import Image

    colours = Image.open(io.BytesIO(shown.screenshot())).convert("RGB").getcolors(1 << 24)
    assert not said  # nothing refused, nothing missing
    assert colours is not None and len(colours) > 100  # text and lines, not a blank page


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 1100])
@pytest.mark.parametrize("large", [0, picture.LARGE], ids=["png", "svg"])
def test_figures_show_at_every_width(browse, results, tmp_path, monkeypatch, width, large):
    monkeypatch.setattr(picture, "LARGE", large)
    report = report_of(results["contacts"])
    drawn = Plot("drawn", partial(dockdyn.plot, results["contacts"], "depth"), "Drawn by Matplotlib.")
    page = render_page(replace(report, plots=[*report.plots, drawn]))
    figures, images = figures_at_width(browse, page, tmp_path, width)
    assert figures >= 9 and images == (1 if large == 0 else 0)  # the others are charts

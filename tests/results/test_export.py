"""Results for other programs: what is read back from CSV and MAT files is what the result holds, bit for bit."""

import csv
import json
import re

import numpy as np
import pytest
import xarray as xr
from campaign_data import campaign_dataset
from made_up_margins import RESULTS as STABILITIES
from scipy.io import loadmat

import dockdyn
from dockdyn import open_result
from dockdyn.results.exchange.export import export_csv, export_mat, matlab_names
from dockdyn.results.store import write_result


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def same(text: str, value) -> bool:
    """Whether a cell is a value, bit for bit."""
    if isinstance(value, float | np.floating):
        return np.float64(text).tobytes() == np.float64(value).tobytes() or (text == "nan" and np.isnan(value))
    return text == str(value)


def made_up() -> xr.Dataset:
    """A result with what a run can have: names that clash, none at all, words, odd numbers, empty dimensions."""
    odd = np.array([[0.1, -0.0, 1e-310], [np.nan, np.inf, -1 / 3]])
    metres = {"units": "m", "long_name": "a – length"}
    return xr.Dataset(
        {
            "position": (("time", "body", "axis"), np.stack([odd, -odd], axis=1), metres),
            "depth": (("time", "contact"), odd[:, :2], metres),
            "phase": ("time", np.array([1, -2]), {"units": "1"}),
            "outline": (("time", "frame", "axis"), np.stack([odd, odd + 1, odd + 2], axis=1), metres),
            "episode_onset": ("episode", [0.1 + 0.2, np.nan, 3.0], {"units": "s"}),
            "episode_feature": ("episode", ['a "tip", x', "ß", ""], {"units": "1"}),
            "mode_shape": (("time", "mode"), np.zeros((2, 0)), metres),
            "approach.closing_speed": ((), 0.1, {"units": "m/s"}),
            "approach_closing_speed": ((), 7, {"units": "1"}),
            "growth": (("family", "y", "vertex"), np.arange(12.0).reshape(2, 3, 2) / 7, {"units": "1/s"}),
        },
        {
            "time": ("time", [0.0, 0.1 + 0.2], {"units": "s"}),
            "body": ["chaser", "target"],
            "axis": list("xyz"),
            "contact": ["tip [left]", "tip [left]"],
            "y": ("y", [1.0, 2.0, 3.0], {"units": "N/m"}),
            "family": [0.5, 0.25],
            "mode": np.zeros(0, str),
        },
        {
            "setup": "mechanism",
            "scenario": 'a = "b"\nc = [1, 2]\n',
            "dockdyn_version": "0",
            "margins": '{"stable": true, "growth_rate_1_s": -0.1, "windows": [[0.0, 0.25], []], "none": null}',
            "step": 0.1,
        },
    )


def test_tables_hold_every_number_with_all_its_digits(tmp_path):
    dataset = made_up()
    files = {path.stem: rows_of(path) for path in export_csv(dataset, tmp_path / "tables")}
    assert set(files) == {"time", "episode", "values", "family-y-vertex", "margins", "attributes"}
    assert files["margins"] == [
        ["name", "value"],
        ["stable", "True"],
        ["growth_rate_1_s", "-0.1"],
        ["windows.0.0", "0.0"],
        ["windows.0.1", "0.25"],
        ["none", ""],
    ]
    head, *rows = files["time"]
    assert head[0] == "time [s]" and "phase" in head
    assert head[1:7] == [f"position.{body}.{axis} [m]" for body in ("chaser", "target") for axis in "xyz"]
    assert head[7:9] == ["depth.tip [left] [m]", "depth.tip [left] 2 [m]"]  # two contacts by one name
    assert [name for name in head if name.startswith("outline")] == [
        f"outline.{frame}.{axis} [m]" for frame in (1, 2, 3) for axis in "xyz"
    ]
    for index, row in enumerate(rows):
        expected = [dataset.time.values[index], *dataset.position.values[index].ravel(), *dataset.depth.values[index]]
        expected += [dataset.phase.values[index], *dataset.outline.values[index].ravel()]
        assert all(same(*pair) for pair in zip(row, expected, strict=True))
    head, *rows = files["episode"]
    assert head == ["episode", "episode_onset [s]", "episode_feature"]
    assert [row[2] for row in rows] == ['a "tip", x', "ß", ""] and [row[0] for row in rows] == ["1", "2", "3"]
    assert float(rows[0][1]) == 0.1 + 0.2 and rows[1][1] == "nan"
    head, *rows = files["family-y-vertex"]
    assert head == ["family", "y [N/m]", "vertex", "growth [1/s]"]
    found = {tuple(map(float, row[:3])): float(row[3]) for row in rows}
    for i, family in enumerate(dataset.family.values):
        for j, y in enumerate(dataset.y.values):
            for k in range(2):
                assert found[family, y, k + 1] == dataset.growth.values[i, j, k]
    assert files["values"] == [["approach.closing_speed [m/s]", "approach_closing_speed"], ["0.1", "7"]]
    assert dict(files["attributes"][1:]) == {name: str(value) for name, value in dataset.attrs.items()}


def test_a_mat_file_holds_the_same_arrays(tmp_path):
    dataset = made_up()
    path = tmp_path / "result.mat"
    export_mat(dataset, path)
    found = loadmat(path, simplify_cells=False)["dockdyn"][0, 0]
    names = {
        short: str(value[0]) for short, value in zip(found["names"].dtype.names, found["names"][0, 0], strict=True)
    }
    assert names["approach_closing_speed"] == "approach.closing_speed"
    assert names["approach_closing_speed_2"] == "approach_closing_speed"
    variables, units, dimensions = (found[part][0, 0] for part in ("variables", "units", "dimensions"))
    for short in variables.dtype.names:
        values = dataset[names[short]].values
        if values.dtype.kind == "U":
            assert [str(cell[0]) if cell.size else "" for cell in variables[short].ravel()] == list(values.ravel())
            continue
        back = variables[short].reshape(values.shape)
        assert back.tobytes() == values.tobytes() and back.dtype == values.dtype, short
        assert variables[short].shape == (values.shape if values.ndim > 1 else (values.size, 1))
        words = "".join(units[short].ravel())
        assert words == dataset[names[short]].attrs.get("units", "")
        assert tuple(str(cell[0]) for cell in dimensions[short].ravel()) == dataset[names[short]].dims
    attributes = found["attributes"][0, 0]
    assert attributes["scenario"][0] == dataset.attrs["scenario"] and attributes["step"][0, 0] == 0.1
    assert "".join(found["long_names"][0, 0]["position"]) == "a – length"


def test_names_are_valid_in_matlab():
    given = ["body.chaser.inertia.1.1", "chaser_inertia_1_1", "2nd", "_hidden", "größe", "x" * 80, "x" * 90, ""]
    found = [short for short, _ in matlab_names(given)]
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,62}", short) for short in found)
    assert len(set(found)) == len(given)


def test_the_command_writes_beside_the_result_and_refuses_in_a_line(dock, tmp_path):
    file = tmp_path / "stability.nc"
    write_result(made_up(), file)
    done = dock("export", "stability.nc", "--to", "csv")
    assert done.returncode == 0 and "Wrote stability-csv/time.csv" in done.stdout
    done = dock("export", "stability.nc", "--to", "mat")
    assert done.returncode == 0 and done.stdout == "Wrote stability.mat\n"
    xr.testing.assert_identical(open_result(file), made_up())
    write_result(made_up().assign_attrs(setup="hover"), tmp_path / "newer.nc")
    for arguments, words in (
        (("stability.nc", "--to", "csv"), "stability-csv: exists; give --force"),
        (("stability.nc", "--to", "mat"), "stability.mat: exists; give --force"),
        (("stability.nc", "--to", "mat", "--out", "stability-csv"), "stability-csv: is a folder; must be a file"),
        (("stability.nc", "--to", "csv", "--out", "stability.mat"), "stability.mat: is a file; must be a folder"),
        (("absent.nc", "--to", "csv"), "absent.nc: no such file"),
        (("newer.nc", "--to", "csv"), "newer.nc: is of a setup 'hover', which this dockdyn does not know"),
        (("stability.mat", "--to", "csv"), "stability.mat: not a "),
    ):
        done = dock("export", *arguments)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith(f"error: {words}") and done.stderr.count("\n") == 1
    assert dock("export", "stability.nc", "--to", "csv", "--force").returncode == 0
    (tmp_path / "folder").mkdir()
    file.rename(tmp_path / "folder/stability.nc")
    assert "Wrote folder/stability-csv/time.csv" in dock("export", "folder", "--to", "csv").stdout


def test_cases_of_a_campaign_are_rows(tmp_path):
    speeds, forces = np.linspace(0.01, 0.1, 10), np.append(np.geomspace(1, 7e5, 9), np.nan)
    reasons = [""] * 9 + ['stopped, at "t = 1 s"']
    dataset = campaign_dataset({"approach.closing_speed": (speeds, "m/s")}, {"peak_force_N": forces}, reasons=reasons)
    head, *rows = rows_of(next(path for path in export_csv(dataset, tmp_path) if path.name == "case.csv"))
    assert len(rows) == 10 and head[0] == "case"
    names = [heading.split(" [")[0] for heading in head]
    assert set(names) == set(map(str, dataset.variables))
    for index, row in enumerate(rows):
        assert all(same(cell, dataset[name].values[index]) for name, cell in zip(names, row, strict=True))
    export_mat(dataset, tmp_path / "campaign.mat")
    found = loadmat(tmp_path / "campaign.mat", simplify_cells=True)["dockdyn"]
    assert len(found["variables"]) == len(names)


@pytest.mark.full
def test_runs_and_margins_are_exported(dock, tmp_path):
    """Of each sort that dockdyn writes quickly; the numbers of a run are those of its dataset."""
    dataset = dockdyn.simulate(dockdyn.load("paraskevas-latch"))
    write_result(dataset, tmp_path / "result.nc")
    assert dock("export", "result.nc", "--to", "csv").returncode == 0
    head, *rows = rows_of(tmp_path / "result-csv" / "time.csv")
    at = head.index("position.chaser.x [m]")
    assert np.array([float(row[at]) for row in rows]).tobytes() == dataset.position.values[:, 0, 0].tobytes()
    assert np.array([float(row[0]) for row in rows]).tobytes() == dataset.time.values.tobytes()
    write_result(STABILITIES["chart"], tmp_path / "stability.nc")
    assert dock("export", "stability.nc", "--to", "csv").returncode == 0
    attributes = dict(rows_of(tmp_path / "stability-csv/attributes.csv")[1:])
    assert attributes["scenario"] == STABILITIES["chart"].attrs["scenario"]
    assert json.loads(attributes["margins"])["stable"] in (True, False)
    growth = STABILITIES["chart"].growth_rate
    rates = [float(row[-1]) for row in rows_of(tmp_path / "stability-csv/family-y-x.csv")[1:]]
    assert np.array(rates).tobytes() == growth.values.tobytes() and growth.dims == ("family", "y", "x")

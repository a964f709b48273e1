"""Campaigns beside each other: shares in points, forces in percent, only what differs, by the command."""

import numpy as np
import pytest
from campaign_data import campaign_dataset

from dockdyn.report.beside import DIFFERENT
from dockdyn.report.verdict import sort_of
from dockdyn.report.wording import NOTHING
from dockdyn.results.store import write_result
from dockdyn.studies.campaign.beside import campaigns_report

SPEED = np.random.default_rng(4).uniform(0.05, 0.10, 400)


def made(stiffness: float, scale: float, most: float = 700, **more):
    """Cases whose force is so many times the speed, required to stay below 700 N, or another limit."""
    found = {"captured": SPEED > 0.06, "peak_force_N": scale * SPEED, "contact.count": np.full(400, 2)}
    scenario = f'schema = 2\ntitle = "Two"\n[contact.a.normal]\nstiffness = {stiffness}\n'
    required = {"captured": True, "peak_force": f"< {most:g} N"}
    keys = {"approach.closing_speed": (SPEED, "m/s")}
    return campaign_dataset(keys, found, scenario=scenario, requirements=required, **more)


def test_what_differs_stands_beside_each_other():
    report = campaigns_report({"hard": made(8000.0, 9000.0), "soft": made(2000.0, 7200.0)})
    shares = [100 * np.mean((SPEED > 0.06) & (scale * SPEED < 700)) for scale in (9000, 7200)]
    tiles = {tile.label: tile for tile in report.tiles}
    met = tiles["All requirements met"]
    assert float(met.value.replace("−", "-")) == pytest.approx(shares[1] - shares[0], abs=0.6) and met.unit == "points"
    assert [float(bar[2]) for bar in met.bars] == pytest.approx(shares, abs=0.5)
    assert "Captured" not in tiles  # it is the same
    (block,) = (block for block in report.blocks if block.where == "key")
    rows = {row[0]: row for row in block.table.rows}
    assert rows["Peak force, 95 %"][-1] == "−20 %" and not any("count" in name for name in rows)
    inputs = next(block for block in report.blocks if block.where == "inputs" and block.table)
    assert [list(row) for row in inputs.table.rows] == [["contact.a.normal.stiffness", "8000", "2000"]]
    assert [bar.asked.partition(":")[0] for bar in report.bars] == ["hard", "soft"] * 2 and sort_of(report) == ""


def test_shares_by_other_limits_are_not_set_beside_each_other():
    report = campaigns_report({"strict": made(8000.0, 9000.0, 600), "loose": made(8000.0, 9000.0, 800)})
    (block,) = (block for block in report.blocks if block.where == "key")
    rows = {row[0]: row[2:] for row in block.table.rows if row[0].startswith("peak_force")}
    strict, loose = (100 * np.mean(9000 * SPEED < most) for most in (600, 800))
    assert float(rows["peak_force < 600 N"][0].partition(" ")[0]) == pytest.approx(strict, abs=0.6)
    assert float(rows["peak_force < 800 N"][1].partition(" ")[0]) == pytest.approx(loose, abs=0.6)
    assert list(rows["peak_force < 600 N"][1:]) == [NOTHING, DIFFERENT]


def test_campaigns_that_are_the_same_say_so():
    report = campaigns_report({"a": made(1.0, 9000.0), "b": made(1.0, 9000.0)})
    assert report.headline == "All figures are the same" and not report.tiles


def test_the_command_compares_campaigns(dock, tmp_path):
    for name, scale in (("hard", 9000.0), ("soft", 7200.0)):
        (tmp_path / name).mkdir()
        write_result(made(scale, scale), tmp_path / name / "campaign.nc")
    assert dock("report", "hard", "soft", "--out", "both.html").returncode == 0
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "<b>2</b> campaigns of <b>400</b> cases each" in text

"""The tutorial: from a mechanism that captures 79 % to one that meets its requirements."""

import json
import re
from pathlib import Path

import pytest

import dockdyn
from dockdyn.scenario.preset_files import preset_text

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-design.md"


@pytest.mark.full
def test_the_tutorial_comes_to_what_it_says(tmp_path, dock):
    """The design captures 95 % with the 95 % load below 1 kN, surely; what the page shows is what comes out."""
    page = PAGE.read_text(encoding="utf-8")
    (stated,) = re.findall(r"^```toml\n# in idss-probe-cone\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "docking.toml").write_text(f"{preset_text('idss-probe-cone')}\n{stated}")
    ended = dock("design", "docking.toml", "--out", "docking-design")
    assert ended.returncode == 0
    answer = json.loads((tmp_path / "docking-design" / "design.json").read_text())
    (captured,), goal = answer["evidence"]["constraints"], answer["evidence"]["goal"]
    assert captured["interval_95"][0] > 0.95 and goal["interval_95"][1] < 1000
    assert answer["constraints"][0]["first"] < 0.8
    shown = re.search(r"95 % of peak_force at ([\d.]+) N, all constraints met; the first one tried has ([\d.]+)", page)
    assert [float(text) for text in shown.groups()] == pytest.approx(
        [answer["goal"]["value"], answer["goal"]["first"]], rel=0.02
    )
    assert float(re.search(r"95 % of peak_force  ([\d.]+) N", page)[1]) == pytest.approx(goal["value"], rel=0.02)
    best = dockdyn.load(tmp_path / "docking-design" / "scenario.toml")
    assert dockdyn.summarise(dockdyn.simulate(best))["captured"]
    told = " ".join(ended.stderr.split())
    assert (
        "note: the first design, from which others are sought, misses captured true in 97 %: it holds in 74.2 %" in told
    )

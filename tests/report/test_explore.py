"""A page whose numbers can be moved without a result beside it; where that cannot be, it is said before anything is run."""

import browser
import pytest

import dockdyn


def test_the_page_that_the_command_writes_computes(dock, browse, tmp_path):
    ended = dock("explore", "probe-cone", "--set", "loop.delay=30 ms", "--html", "explored")
    assert (ended.returncode, ended.stdout) == (0, "Explore: explored.html\n"), ended.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["explored.html"]
    page, _ = browse(tmp_path / "explored.html", 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.tried !== undefined")
    assert float(page.evaluate("document.getElementById('live').dataset.difference")) < 1e-12
    assert float(page.input_value("[data-key='loop.delay'] input[type=number]")) == 30


def test_what_no_page_computes_is_refused_before_it_is_run(monkeypatch):
    name = "cyril-controlled"
    monkeypatch.setattr("dockdyn.pages.simulate", None)
    with pytest.raises(
        dockdyn.ScenarioError, match=f"^{name}: no page can compute its run again: .*; dockdyn run writes"
    ):
        dockdyn.explore(name)

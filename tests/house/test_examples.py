"""Every script under `examples/` runs, and leaves its picture or prints its answer."""

import re
import runpy

import matplotlib as mpl
import pytest
from places import DOCS, ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
QUICK = ("derivative_of_a_load",)  # the others run in full runs
GALLERY = DOCS / "gallery.md"

# what each prints, where a paper, a closed form or another test knows it
KNOWN = {
    "arm_in_orbit": (r"([\d.]+) s", [12.491, 27.495], 1e-3),  # Gibson and Murphey, by SciPy
    "derivative_of_a_load": (
        r"per m/s of body.chaser-front.velocity: ([\d.]+)",
        [9.652344 / 0.05],
        1e-3,
    ),  # the force is linear in the speed
    "effective_masses": (r"from ([\d.]+) mm/s", [70.8492], 1e-3),  # Paraskevas et al., eq. 46
    # the first by bisection with an integrator of its own (test_sazawal_energy.py), then Sazawal et al., eq. 151, corrected
    "energy_of_a_late_contact": (r"([\d.]+) ms", [143.84, 173.623], 1e-3),
    "stability_of_a_compliance": (r": ([\d.]+) ms", [192.968], 1e-3),  # the same at m† = 375 kg
}


@pytest.mark.parametrize(
    "script", [pytest.param(x, id=x.stem, marks=[pytest.mark.full] * (x.stem not in QUICK)) for x in EXAMPLES]
)
def test_an_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.strip()
    text = script.read_text(encoding="utf-8")
    assert (tmp_path / f"{script.stem}.png").exists() == (".savefig(" in text)
    if script.stem in KNOWN:
        pattern, values, trusted = KNOWN[script.stem]
        assert [float(found) for found in re.findall(pattern, printed)] == pytest.approx(values, rel=trusted)


def test_examples_are_short_and_shown():
    gallery = GALLERY.read_text(encoding="utf-8")
    for script in EXAMPLES:
        assert len(script.read_text(encoding="utf-8").splitlines()) < 60, script.stem
        assert f"examples/{script.name}" in gallery, script.stem

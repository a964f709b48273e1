"""Tables of the papers by their number: all five papers, beside what the papers print."""

import re

import pytest

from dockdyn.cli import main as cli
from dockdyn.cli.run import PAPERS
from dockdyn.papers.cyril.reproduce import reproduce as cyril
from dockdyn.papers.sazawal.reproduce import reproduce as sazawal
from dockdyn.papers.sits.reproduce import reproduce as sits

TABLES = {"sazawal": ["1", "2", "3"], "sits": ["1"], "paraskevas": ["1"], "cyril": ["1", "2"], "gibson": []}


@pytest.mark.full_cases("paraskevas-1")
@pytest.mark.parametrize(("paper", "table"), [(paper, table) for paper in TABLES for table in TABLES[paper]])
def test_the_command_takes_every_table_by_its_number(dock, tmp_path, paper, table):
    code, out, err = dock("reproduce", paper, "--table", table)
    assert (code, err) == (0, "") and f"Table {table}:" in out
    text = (tmp_path / f"reproduce-{paper}" / "tables.md").read_text(encoding="utf-8")
    assert text.count("\n## ") + text.startswith("## ") == 1  # this one alone


@pytest.mark.parametrize("paper", TABLES)
def test_a_table_that_is_not_there_is_refused_in_one_line(dock, tmp_path, paper):
    code, out, err = dock("reproduce", paper, "--table", "9")
    assert (code, out) == (cli.BAD_INPUT, "") and len(err.splitlines()) == 1
    known = TABLES[paper]
    words = (
        [f"must be one of {', '.join(known)}", paper] if known else [f"{paper} has no tables", "--figure", "impacts"]
    )
    assert all(word in err for word in ["--table 9", *words]), err
    assert list(tmp_path.iterdir()) == []


def test_all_papers_are_meant():
    assert set(TABLES) == set(PAPERS)


def rows(reproduce, folder, *numbers) -> dict[str, float]:
    tables = [reproduce(f"table-{number}", folder / str(number))[0] for number in numbers]
    return {row.quantity: row.computed for table in tables for row in table.rows}


def test_presets_have_what_sazawal_et_al_print(tmp_path):
    found = rows(sazawal, tmp_path, 1, 2, 3)
    assert found["m_r"] == pytest.approx(1500) and found["θ"] == pytest.approx(30)
    for name, values in {
        "J_C": (500, 500, 500),
        "J_T": (500, 500, 500),
        "r_TS": (1, 0, 0),
        "r_CQ": (2, 0, 0),
        "compliance device: r_RS1": (0, 0, 0),
        "compliance device: r_RS2": (0.2, 0, 0.2),
        "compliance device: r_RS3": (0.2, 0.03**0.5, -0.1),
        "compliance device: r_RS4": (0.2, -(0.03**0.5), -0.1),
        "r(0)": (3.533, 0, 0.25),
        "v(0)": (-0.02, 0.005, 0),
        "ω_C(0)": (0, 0, 0),
    }.items():
        assert [found[f"{name}, {axis}"] for axis in "xyz"] == pytest.approx(values, abs=1e-12), name
    device = {"k_1": 1000, "k_2": 1000, "k_3": 1000, "k_4": 1000, "μ": 0.1, "l₀": 1, "N": 4, "a": 0.8}
    dashpot = {"k": 1000, "b": 200, "μ": 0}
    for law, numbers in (("compliance device", device), ("spring dashpot", dashpot)):
        assert {name: found[f"{law}: {name}"] for name in numbers} == pytest.approx(numbers)
    assert [found[f"D_C^G(0), {axis}{axis}"] for axis in "xyz"] == pytest.approx([-1, -1, 1])
    assert found["D_C^G(0), largest difference from the printed"] < 1e-15


def test_presets_have_what_sits_and_cyril_et_al_print(tmp_path):
    rig = {
        "V₀": 0.05,
        "m_e": 500,
        "K_tc": 2e4,
        "τ_s": 0.002,
        "T_c": 0.004,
        "B_tc": 50,
        "Ā_R": 0.025,
        "T": 0.002,
        "N_R": 1501,
    }
    assert rows(sits, tmp_path / "sits", 1) == pytest.approx(rig)
    found = rows(cyril, tmp_path / "cyril", 1, 2)
    assert [found[f"spacecraft: {name}"] for name in ("mass", "I_zz")] == [1e4, 4e4]
    for number in (1, 2):
        names = ("length", "mass", "EI", "I_zz")
        assert [found[f"link {number}: {name}"] for name in names] == pytest.approx([8.13, 20, 881, 440.65], abs=0.005)
    assert [found[f"hand: {name}"] for name in ("length", "mass", "I_zz")] == pytest.approx(
        [0.2, 0.2, 2.67e-3], abs=5e-6
    )
    assert [found[f"payload: {name}"] for name in ("mass", "I_zz")] == [1000, 500]
    angles = [found[name] for name in found if re.match("θ.*of ", name)]
    rates = [found[name] for name in found if "rate" in name]
    assert angles == pytest.approx([0, 67.3, 45.4, 0], abs=1e-9)
    assert rates == pytest.approx([0, 0.836, -1.81, 0.903], abs=1e-9)
    assert found["ω of the payload"] == pytest.approx(-3)

"""Paraskevas et al. recomputed: known numbers, and the map of stiffnesses against masses simulated with SciPy."""

import numpy as np
import pytest
import xarray as xr
from four_mass_reference import CASE_A, SPEED, Line

from dockdyn.cli import main as cli
from dockdyn.papers.paraskevas.reproduce import FIGURES, reproduce

pytestmark = pytest.mark.full  # the paper recomputed: in the run of `make verify`

# e_l, eq. 18, simulated, with the first-order correction (m/s), contacts: by another implementation
TABLE = {
    "A": (0.09706083, 0.0402939, 0.0402173, 0.0402186, 7),
    "B": (0.5, 0.0, -0.0004746, -0.0004674, 3),
    "C": (0.22727273, 0.0272727, 0.0271536, 0.0271547, 3),
    "D": (0.08730159, 0.0412698, 0.0412147, 0.0412154, 7),
}


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """All parts by name, their folder, and what progress was told."""
    folder = tmp_path_factory.mktemp("paraskevas")
    shares: list[float] = []
    return {table.name: table for table in reproduce(None, folder, shares.append)}, folder, shares


def value(reproduced, name, quantity: str) -> float:
    (found,) = [row for row in reproduced[0][name].rows if row.quantity == quantity]
    return found.computed


@pytest.fixture(scope="module")
def plane(reproduced):
    with xr.open_dataset(reproduced[1] / "map.nc", engine="h5netcdf") as data:
        return data.load()


# --- the paper ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLE)
def test_table_1(reproduced, case):
    ratio, predicted, simulated, corrected, contacts = TABLE[case]
    assert value(reproduced, "table-1", f"{case}: e_l") == pytest.approx(ratio, abs=5e-9)
    assert value(reproduced, "table-1", f"{case}: eq. 18") == pytest.approx(predicted, abs=5e-8)
    assert value(reproduced, "table-1", f"{case}: simulated") == pytest.approx(simulated, abs=1e-7)
    error = value(reproduced, "table-1", f"{case}: absolute error of eq. 18")
    assert error == pytest.approx(abs(predicted - simulated), abs=1.5e-7)
    assert value(reproduced, "table-1", f"{case}: eq. 18 with correction") == pytest.approx(corrected, abs=5e-8)
    assert value(reproduced, "table-1", f"{case}: contacts in five slow periods") == contacts
    assert value(reproduced, 7, f"{case}: relative velocity after") == pytest.approx(simulated, abs=1e-7)


def test_the_stiffnesses_as_printed_do_not_give_the_table(reproduced):
    """Contact 1000, chaser 15000, target 200 N/m: what SciPy finds, and far from what is printed."""
    for case, masses in {"A": CASE_A, "B": (10, 10, 10, 10)}.items():
        line = Line((1.0, 200 / 15000), masses)
        stretch = np.diff(np.eye(4), axis=0)
        line.closed = (stretch.T * [15000, 1000, 200]) @ stretch / line.masses[:, None]
        found = value(reproduced, "table-1", f"{case}: simulated with the stiffnesses as printed")
        assert found == pytest.approx(line.after_first_contact(), abs=1e-8)
        assert abs(found - TABLE[case][2]) > 0.007


def test_mass_ratios(reproduced):
    """What is left of the relative velocity changes sign at λ_i = (λ_c − 1)/(λ_c + 1), or its negative."""
    assert value(reproduced, 3, "e_l, λ_c = λ_i = 1") == pytest.approx(0.75)
    assert value(reproduced, 4, "e_l, λ_c = λ_i = 1") == pytest.approx(0.25)
    for number, word, chaser in ((3, "largest", 2), (3, "largest", 5), (4, "least", 0.2), (4, "least", 0.5)):
        name = f"{word} λ_i that keeps the direction, λ_c = {chaser}"
        assert value(reproduced, number, name) == pytest.approx(abs(chaser - 1) / (chaser + 1), rel=1e-7)
        far = value(reproduced, number, "traced line against the closed form, largest relative distance")
        assert far < 1e-7
    assert value(reproduced, 3, "eq. 28: e_l of a single chaser mass, λ_i = λ_t = 1") == pytest.approx(0.75)
    assert value(reproduced, 5, "λ_t for λ_c = 1, largest distance from 1 over all λ_i") < 1e-13
    # e_l = ½ of masses (2, 1), (2, 0.4): 2/3 · 5.4/(3 · 2.4) = ½
    assert value(reproduced, 5, "λ_t for λ_c = 2, λ_i = 0.5") == pytest.approx(0.2)
    assert value(reproduced, 5, "largest λ_t for λ_c = 2") < 1 < value(reproduced, 5, "least λ_t for λ_c = 0.5")


def left_over(chaser: float, contact: float, target: float, restitution: float = 1.0) -> float:
    """Relative velocity of both systems after over before: momentum of m₂ and m₃, shared with m₁ and m₄ afterwards."""
    m1, m2, m3, m4 = chaser * contact, contact, 1.0, target
    impulse = (1 + restitution) * m2 * m3 / (m2 + m3)  # N s at 1 m/s
    return (m1 + m2 - impulse) / (m1 + m2) - impulse / (m3 + m4)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("of_chaser_ratio", "known, over, found"),
        ("of_contact_ratio", "over, known, found"),
        ("of_target_ratio", "found, over, known"),
    ],
)
def test_every_family_of_figure_5_leaves_no_relative_velocity(reproduced, name, order):
    """Whichever ratio is known; random points of the curves, and none is given where none exists."""
    random = np.random.default_rng(5)
    with xr.open_dataset(reproduced[1] / "figure-5.nc", engine="h5netcdf") as data:
        curves = data[name].load()
    for _ in range(60):
        one = curves.isel(family=random.integers(5), ratio=random.integers(curves.sizes["ratio"]))
        ratios = {"known": float(one.family), "over": float(one.ratio), "found": float(one)}
        if np.isfinite(ratios["found"]):
            assert left_over(*(ratios[role] for role in order.split(", "))) == pytest.approx(0, abs=1e-12)
        else:
            ends = [left_over(*({**ratios, "found": end}[role] for role in order.split(", "))) for end in (0, 1e9)]
            assert ends[0] * ends[1] > 0
    assert float(curves.sel(family=0.2).max()) > 1 > float(curves.sel(family=5.0).min())


def test_equal_ratios_of_chaser_and_target(reproduced):
    """Eqs. 25 and 26, whatever λ_i; simulated to what springs of finite stiffness let expect."""
    names = [row.quantity for row in reproduced[0]["equal"].rows]
    for ratio, restitution in ((0.5, 0.5), (0.5, 1.0), (1.0, 1.0), (2.0, 0.5), (2.0, 1.0)):
        name = f"eq. 26: relative velocity after over before, λ = {ratio:g}, e* = {restitution:g}"
        (row,) = [row for row in reproduced[0]["equal"].rows if row.quantity == name]
        assert float(row.printed) == pytest.approx((ratio - restitution) / (ratio + 1), abs=5e-7)
        assert row.computed == pytest.approx(left_over(ratio, 7.3, ratio, restitution), abs=1e-14)
    for ratio in (0.5, 2.0):
        line = Line((1000 / 15000, 200 / 15000), (1.5 * ratio, 1.5, 1.0, ratio))
        found = value(reproduced, "equal", f"eq. 26: simulated with the springs of Table 1, λ = {ratio:g}, e* = 1")
        assert found == pytest.approx(line.after_first_contact() / SPEED, abs=2e-7)
    assert len(names) == 10


def test_latches(reproduced):
    frequency = np.sqrt(100 / (15 * 17 / 32))  # rad/s
    assert value(reproduced, 9, "least speed that latches (eq. 46)") == pytest.approx(0.02 * frequency)
    assert value(reproduced, 8, "0.05 m/s: greatest travel") == pytest.approx(50 / frequency, rel=1e-6)
    assert value(reproduced, 8, "0.07 m/s: greatest travel") == pytest.approx(19.760, abs=5e-4)
    # an elastic impact of two bodies: (m_c − m_t)/(m_c + m_t) and 2 m_c/(m_c + m_t) of the speed
    assert value(reproduced, 8, "0.05 m/s: velocity of the chaser after") == pytest.approx(-0.05 * 2 / 32)
    assert value(reproduced, 8, "0.05 m/s: velocity of the target after") == pytest.approx(0.05 * 30 / 32)
    time = np.arcsin(0.02 * frequency / 0.0709) / frequency
    assert value(reproduced, 9, "0.0709 m/s: time from first contact to latch") == pytest.approx(time, rel=1e-6)
    assert value(reproduced, 9, "0.0709 m/s: common velocity after") == pytest.approx(0.0709 * 15 / 32)


# --- where eq. 18 holds ---------------------------------------------------------------------------------------------


def test_errors_on_the_map_are_those_of_another_simulation(plane):
    """On both sides of the line, and beyond the second one, where the error is more than the speed itself."""
    left = 1 - 2 * TABLE["A"][0]  # of the relative velocity, eq. 18
    for row, column in ((0, 0), (30, 100), (75, 60), (110, 40), (60, 118), (105, 105)):
        there = plane.isel(target_ratio=row, chaser_ratio=column)
        right = Line((float(there.chaser_ratio), float(there.target_ratio))).after_first_contact()
        assert float(there.error) == pytest.approx(right / SPEED - left, abs=2e-8)
    assert abs(float(plane.error.isel(target_ratio=105, chaser_ratio=105))) > 1


def test_the_line_is_where_the_first_minimum_touches_zero(plane):
    line = np.stack([plane.lost_chaser_ratio, plane.lost_target_ratio], axis=1)
    assert line[:, 0].min() == pytest.approx(1e-3) and line[:, 1].min() == pytest.approx(1e-3)  # from edge to edge
    for ratios in line[::12]:
        assert Line(0.999 * ratios).first_minimum() < 0 < Line(1.001 * ratios).first_minimum()


def test_the_warning_lies_on_the_safe_side(plane):
    """Nothing inside its edge has lost its first separation, and the line is a factor of four away from it."""
    line = np.stack([plane.lost_chaser_ratio, plane.lost_target_ratio], axis=1)
    assert line.max(axis=1).min() > 0.4
    quiet = plane.warned.values == 0
    chaser, target = np.meshgrid(plane.chaser_ratio, plane.target_ratio)
    np.testing.assert_array_equal(quiet, np.maximum(chaser, target) <= 0.1)
    assert np.abs(plane.error.values[quiet]).max() < 0.005
    rng = np.random.default_rng(3)
    for ratios in np.geomspace(1e-3, 0.1, 5)[rng.integers(0, 5, (10, 2))]:
        assert Line(ratios).first_minimum() < 0
    assert Line((0.1, 0.1)).first_minimum() < 0


def test_equal_ratios_that_lose_the_separation(reproduced):
    for case, masses in {"A": CASE_A, "C": (5, 50, 10, 100), "D": (100, 20, 10, 200)}.items():
        name = f"equal ratios from which on the first separation is lost, masses of case {case}"
        ratio = value(reproduced, "map", name)
        below, above = (Line((side * ratio, side * ratio), masses).first_minimum() for side in (0.999, 1.001))
        assert below < 0 < above


def test_no_masses_lose_it_where_nothing_warns(reproduced):
    """The worst masses, and random ones: with 0.21 of the contact's stiffness inside none lose their separation."""
    worst = value(reproduced, "map", "the same, the worst of all masses")
    assert worst == pytest.approx(0.217234, abs=5e-7)
    light = (1e4, 1e4, 1.0, 1e4)
    assert Line((1e-6, 0.99 * worst), light).first_minimum() < 0 < Line((1e-6, 1.01 * worst), light).first_minimum()
    rng = np.random.default_rng(4)
    for _ in range(25):
        masses = np.r_[10 ** rng.uniform(-1.5, 1.5, 4)]
        assert Line((0.21, 0.21), masses).first_minimum() < 0


# --- what is written, and the command -------------------------------------------------------------------------------


def test_everything_is_written(reproduced):
    tables, folder, shares = reproduced
    assert list(tables) == list(FIGURES) == ["table-1", "equal", 3, 4, 5, 7, 8, 9, "map"]
    text = (folder / "tables.md").read_text(encoding="utf-8")
    for name, table in tables.items():
        assert table.title in text and table.rows
        assert all(np.isfinite(row.computed) for row in table.rows)
        if name not in ("table-1", "equal"):
            stem = f"figure-{name}" if isinstance(name, int) else name
            for ending in ("png", "svg"):
                assert (folder / f"{stem}.{ending}").stat().st_size > 10_000
            with xr.open_dataset(folder / f"{stem}.nc", engine="h5netcdf", decode_timedelta=False) as data:
                assert all(variable.attrs["units"] for variable in data.data_vars.values())
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_the_command_takes_a_table_by_its_number(dock, tmp_path):
    for arguments, words in (
        (("paraskevas", "--table", "2"), ["--table 2", "must be one of 1"]),
        (("paraskevas", "--table", "1", "--figure", "3"), ["--table 1", "without --figure"]),
        (("paraskevas", "--figure", "6"), ["--figure 6", "3, 4, 5, 7, 8, 9, map"]),
        (("paraskeva",), ["paraskeva", "'paraskevas'"]),
    ):
        code, out, err = dock("reproduce", *arguments)
        assert (code, out) == (cli.BAD_INPUT, "") and len(err.splitlines()) == 1
        assert all(word in err for word in words), err
    assert list(tmp_path.iterdir()) == []
    code, out, err = dock("reproduce", "paraskevas", "--table", "1")
    assert (code, err) == (0, "") and "Table 1" in out
    assert {file.name for file in (tmp_path / "reproduce-paraskevas").iterdir()} == {"report.html", "tables.md"}

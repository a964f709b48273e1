"""Sazawal et al., Figures 10–12: the numbers of an independent implementation of the paper's model. All of 7–14: written."""

from functools import cache

import numpy as np
import pytest

from dockdyn import simulate, summarise
from dockdyn.papers.sazawal.reproduce import FIGURES, both_laws, reproduce, with_friction, with_stiffness

NUMBERS = range(10, 15)


class Reproduced:
    """Figures 10–14: their tables by number, each made when it is first asked for, and what progress was told."""

    def __init__(self, folder):
        self.folder, self.shares = folder, {}
        self.table = cache(self._made)

    def _made(self, number):
        (found,) = reproduce(number, self.folder / str(number), self.shares.setdefault(number, []).append)
        return found


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    return Reproduced(tmp_path_factory.mktemp("sazawal"))


APEX = [1.0, 0.0, 0.0]  # m, of the cone, in the target's axes


@cache
def contacts(law: str):
    return summarise(simulate(both_laws()[law]))["contacts"]


def computed(table, quantity: str) -> float:
    (row,) = [row for row in table.rows if row.quantity == quantity]
    return row.computed


@pytest.mark.parametrize("law", ["compliance device", "spring-dashpot"])
def test_first_contact_is_the_same_for_every_law(law):
    first = contacts(law)[0]
    assert first["onset_s"] == pytest.approx(4.895823, abs=1e-6)
    assert np.subtract(first["position_m"], APEX) == pytest.approx([0.435084, 0.024479, 0.25], abs=1e-6)
    assert first["azimuth_deg"] == pytest.approx(354.408, abs=1e-3)
    assert first["approach_speed_m_s"] == pytest.approx(0.0104220, abs=1e-7)


@pytest.mark.parametrize(
    ("number", "onset", "release", "position", "peak", "peak_time", "trusted"),
    [
        (1, 4.8958, 6.3633, (0.435084, 0.024479, 0.25), 2.3347, 5.636, 5e-5),
        (2, 20.1544, 21.7619, (0.15214, 0.05699, -0.06684), 5.9718, 20.964, 5e-5),
        (3, 24.5367, 26.1719, (0.07761, -0.04217, 0.01516), 9.8166, 25.356, 2e-4),
    ],
)
def test_contacts_of_the_compliance_device(number, onset, release, position, peak, peak_time, trusted):
    found = contacts("compliance device")[number - 1]
    assert found["onset_s"] == pytest.approx(onset, abs=5e-4)
    assert found["release_s"] == pytest.approx(release, abs=5e-4)
    assert np.subtract(found["position_m"], APEX) == pytest.approx(position, abs=trusted)
    assert found["peak_force_N"] == pytest.approx(peak, rel=1e-3)
    assert found["peak_time_s"] == pytest.approx(peak_time, abs=2e-3)  # the peak is flat, its time known to 1 ms


def test_contacts_of_the_spring_dashpot():
    first, second, *_ = contacts("spring-dashpot")
    assert first["release_s"] == pytest.approx(5.8974, abs=1e-4)
    assert first["peak_force_N"] == pytest.approx(2.7675, abs=1e-4)
    assert second["onset_s"] == pytest.approx(20.686, abs=1e-3)


@pytest.mark.full
def test_azimuth_of_second_contact_falls_with_friction(reproduced):
    table = reproduced.table(11)
    azimuths = [computed(table, f"Q2, azimuth, μ = {coefficient}") for coefficient in ("0", "0.1", "0.2")]
    assert azimuths == sorted(azimuths, reverse=True)
    assert (azimuths[0], azimuths[2]) == pytest.approx((225.3, 215.5), abs=0.05)
    assert summarise(simulate(with_friction(0.2)))["contacts"][1]["azimuth_deg"] == azimuths[2]


@pytest.mark.full
def test_second_contact_is_farther_out_with_stiffer_springs(reproduced):
    table = reproduced.table(12)
    places = [computed(table, f"Q2, x from the apex, k = {stiffness} N/m") for stiffness in (500, 1000, 2000)]
    assert places == sorted(places)
    assert (places[0], places[2]) == pytest.approx((0.1475, 0.1564), abs=5e-5)
    assert summarise(simulate(with_stiffness(500)))["contacts"][1]["position_m"][0] - APEX[0] == places[0]


@pytest.mark.full
def test_the_compliance_device_turns_the_probe_more(reproduced):
    """As the paper says of Figure 10."""
    device, dashpot = (
        computed(reproduced.table(10), f"{law}, azimuth turned from Q1 to Q3")
        for law in ("compliance device", "spring-dashpot")
    )
    assert device > dashpot


def test_the_figures_are_known():
    assert list(FIGURES) == [
        "table-1",
        "table-2",
        "table-3",
        7,
        8,
        9,
        *NUMBERS,
    ]  # 7–9: test_reproduce_stability.py; 13, 14: test_sazawal_energy.py


@pytest.mark.full
@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.full) if n == 13 else n for n in NUMBERS])
def test_figures_are_written(reproduced, number):
    table, folder = reproduced.table(number), reproduced.folder / str(number)
    assert reproduced.shares[number].count(1.0) == 1
    assert table.title in (folder / "tables.md").read_text(encoding="utf-8")
    for ending in ("png", "svg"):
        assert (folder / f"figure-{number}.{ending}").stat().st_size > 10_000


def test_one_figure_alone(tmp_path):
    (table,) = reproduce("14", tmp_path / "new")
    assert table.name == 14
    assert table.rows
    assert {file.name for file in (tmp_path / "new").iterdir()} == {
        "figure-14.png",
        "figure-14.svg",
        "report.html",
        "tables.md",
    }


def test_unknown_figure_is_named_with_what_is_allowed(tmp_path):
    with pytest.raises(
        ValueError, match="figure 6: must be one of table-1, table-2, table-3, 7, 8, 9, 10, 11, 12, 13, 14"
    ):
        reproduce(6, tmp_path / "new")
    assert not (tmp_path / "new").exists()

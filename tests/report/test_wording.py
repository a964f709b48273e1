"""Sentences of the report, read as an engineer reads them."""

import pytest

from dockdyn.docking.views.ramp_report import ramp_in_words
from dockdyn.report.wording import as_stated, format_unit, requirement_row, typeset_numbers
from dockdyn.results.requirements import judge_requirements
from dockdyn.scenario.language.requirement import requirements_of


@pytest.mark.parametrize(
    ("captured", "entry", "margin", "said"),
    [
        (True, 0.0696, 0.0196, "The probe came at 0.06960 m/s, 0.0196 m/s more than it takes."),
        (
            False,
            0.0304,
            -0.0196,
            "The probe came at 0.03040 m/s and went 12.500 mm into the latch; rigid bodies that meet head on take "
            "0.0500000 m/s.",
        ),
        (False, None, None, "The probe did not reach the latch; rigid bodies that meet head on take 0.0500000 m/s."),
        (
            False,
            0.0696,
            0.0196,
            "The probe came at 0.06960 m/s and went 12.500 mm into the latch. Straight in, with nothing but the latch in its "
            "way, 0.0500000 m/s would do: what else it touched, or its tilt, took too much of the speed.",
        ),
    ],
)
def test_a_capture_is_told_without_contradiction(captured, entry, margin, said):
    """A probe fast enough for the latch alone, which other contacts held back, is said to be that."""
    summary = {
        "captured": captured,
        "latch.entry_speed_m_s": entry,
        "latch.speed_margin_m_s": margin,
        "latch.least_speed_rigid_m_s": 0.05,
        "latch.travel_m": 0.0125,
    }
    assert ramp_in_words(summary) == [said]


@pytest.mark.parametrize(
    ("words", "set_"),
    [
        ("-0.0007200", "−0.0007200"),
        ("above -271.185", "above −271.185"),
        ("(-3, -.5) m", "(−3, −.5) m"),
        ("1e-5", "1×10⁻⁵"),
        ("-2.50e+23 N, 1.0e3.", "−2.50×10²³ N, 1.0×10³."),
        ("law:1e5a, v1e5, x.1e5", "law:1e5a, v1e5, x.1e5"),
        ("idss-probe-cone, 2026-11-29", "idss-probe-cone, 2026-11-29"),
        ("contact.a-1.peak_force", "contact.a-1.peak_force"),
        ("loop.delay=-1", "loop.delay=-1"),
    ],
)
def test_numbers_are_set_with_minus_signs_and_raised_powers_and_nothing_else_is(words, set_):
    assert typeset_numbers(words) == set_


@pytest.mark.parametrize(("unit", "words"), [("kg*m**2", "kg m²"), ("N/m**1.5", "N/m^1.5"), ("N*m/rad", "N m/rad")])
def test_a_unit_is_read_with_its_power(unit, words):
    assert format_unit(unit) == words


@pytest.mark.parametrize(
    ("amount", "unit", "limit", "said"),
    [
        (1615.0, "N", "< 6.5 kN", "1.615 kN"),
        (2.324e-4, "N", "< 6.5 kN", "232.4 µN"),
        (0.23, "N", "< 6.5 kN", "230.0 mN"),
        (-2.4e-5, "N m", "< 2.8 kN m", "-24.00 µN m"),
        (0.025, "m", "< 50 mm", "25.00 mm"),
        (2.5e-8, "m", "< 50 mm", "25.00 nm"),
        (0.0, "N", "< 6.5 kN", "0 kN"),
        (0.02, "rad", "< 2 deg", "1.146 deg"),
        (1e-12, "N", "< 1 N", "1.000e-12 N"),
    ],
)
def test_an_amount_far_below_its_limit_has_a_prefix_that_can_be_read(amount, unit, limit, said):
    assert as_stated(amount, unit, limit) == said


LOADS = {
    "port.tension_N": 684.0,
    "port.shear_N": 6.9e-5,
    "port.torsion_moment_N_m": 1.3e-8,
    "port.bending_moment_N_m": 0.2,
}
LOADS |= {"contact.friction_loss_J": 3e-15, "kinetic_energy_start_J": 35.0, "body.chaser.port.front.shear_N": 6.9e-5}


def judged(name, limit, figures):
    return judge_requirements(requirements_of({name: limit}, "one"), figures)[0]


@pytest.mark.parametrize(
    ("name", "limit", "value"),
    [
        ("port.shear", "< 3.2 kN", "0 kN"),
        ("port.torsion_moment", "< 1.5 kN m", "0 kN m"),
        ("port.bending_moment", "< 1.5 kN m", "200.0 mN m"),
        ("body.chaser.port.front.shear", "< 3.2 kN", "0 kN"),
        ("contact.friction_loss", "< 1 J", "0 J"),
    ],
)
def test_what_rounding_leaves_is_told_as_zero_and_kept_in_json(name, limit, value):
    one = judged(name, limit, LOADS)
    assert requirement_row(one)[1] == value
    assert one["value"] == LOADS[one["figure"]] and one["margin"] == pytest.approx(one["limit"], rel=1e-3)
    assert one.get("rounding", False) == value.startswith("0 ")


def test_small_loads_beside_small_ones_are_told():
    """What rounding is depends on the largest of the kind, not on the unit."""
    small = {name: 1e-9 * value for name, value in LOADS.items()} | {
        "port.shear_N": 2e-7,
        "contact.friction_loss_J": 2e-9,
    }
    assert requirement_row(judged("port.shear", "< 3.2 kN", small))[1] == "200.0 nN"
    assert requirement_row(judged("contact.friction_loss", "< 1 J", small))[1] == "2.000 nJ"

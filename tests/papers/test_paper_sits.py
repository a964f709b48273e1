"""SITS, its sections 2 and 3: the numbers of an independent implementation of the paper's loops."""

from functools import cache

import numpy as np
import pytest

from dockdyn.papers.sits.reproduce import FIGURES, reproduce
from dockdyn.papers.sits.rig import rig

THEORY = ("delays", "robot", "stability", "gains")


class Reproduced:
    """The tables of the theory by name, each made when it is first asked for, and what progress was told of each."""

    def __init__(self, folder):
        self.folder, self.shares = folder, {}
        self.table = cache(self._made)

    def _made(self, name):
        (found,) = reproduce(name, self.folder / name, self.shares.setdefault(name, []).append)
        return found


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    return Reproduced(tmp_path_factory.mktemp("sits"))


def row(table, quantity: str):
    (found,) = [row for row in table.rows if row.quantity == quantity]
    return found


def value(reproduced, name: str, quantity: str) -> float:
    return row(reproduced.table(name), quantity).computed


@pytest.mark.parametrize(
    ("table", "quantity", "expected", "trusted"),
    [
        ("robot", "phase at 10 Hz", -2.870, 5e-4),
        ("robot", "highest gain", 1.64, 5e-3),
        ("robot", "frequency of the highest gain", 31, 0.5),
        ("robot", "gain at rest", 1, 1e-6),
        ("robot", "delay at ω_n", 0.5526, 5e-5),
        *(
            pytest.param(*row, marks=pytest.mark.full)
            for row in [
                ("delays", "measurement delay alone, growth rate", 0.0399957, 5e-8),
                ("delays", "control cycle alone, growth rate", 0.0399936, 5e-8),
                ("delays", "measurement delay alone, growth rate by Padé", 0.0399952, 5e-8),
                ("delays", "control cycle alone, growth rate by Padé", 0.0399872, 5e-8),
                ("delays", "response of the robot alone, growth rate", 0.011063, 5e-7),
                ("gains", "B = 0 N s/m, Padé: smallest stabilising gain", 91.0490, 1e-4),
                ("gains", "B = 0 N s/m, Padé: largest stabilising gain", 230182, 1),
                ("gains", "B = 0 N s/m, exact, continuous: smallest stabilising gain", 91.0516, 5e-5),
                ("gains", "B = 0 N s/m, exact, continuous: largest stabilising gain", 186321, 1),
                ("gains", "gain that decays as the contact alone, continuous", 91.0017139729, 1e-6),
                ("gains", "gain that decays as the contact alone, with T/2", 111.0071689413, 1e-6),
            ]
        ),
    ],
)
def test_robot_growth_rates_and_gains(reproduced, table, quantity, expected, trusted):
    assert value(reproduced, table, quantity) == pytest.approx(expected, abs=trusted)


@pytest.mark.full
def test_order_of_the_delays_is_that_of_the_steps(reproduced):
    """Exactly the two tie; in steps of 2 ms the measurement delay is the worse."""
    delays = reproduced.table("delays")
    assert value(reproduced, "delays", "measurement delay alone, frequency") == pytest.approx(6.324176, abs=1e-6)
    measured, held = (row(delays, f"{name} alone, growth rate") for name in ("measurement delay", "control cycle"))
    assert measured.computed == pytest.approx(held.computed, rel=6e-5)
    assert "tie" in held.note
    neither, measured, held = (
        value(reproduced, "delays", f"in steps of 2 ms: {name}, growth rate")
        for name in ("neither", "measurement delay", "control cycle")
    )
    # K (τ/2 + …)/2m to first order: a step of 2 ms holds for 1 ms and integrates 1 ms late
    assert (neither, measured, held) == pytest.approx((0.04, 0.08, 0.06), rel=2e-3)


def test_roots_without_compensation(reproduced):
    padé = "no compensation, B = 50 N s/m, Padé: rightmost root"
    assert value(reproduced, "stability", f"{padé}, real part") == pytest.approx(0.041092, abs=1e-6)
    assert value(reproduced, "stability", f"{padé}, imaginary part") == pytest.approx(6.32582, abs=5e-6)
    undamped = "no compensation, B = 0 N s/m, Padé: rightmost root, real part"
    assert value(reproduced, "stability", undamped) == pytest.approx(0.091072, abs=1e-6)
    for damping in (50, 0):
        both = [
            value(reproduced, "stability", f"no compensation, B = {damping} N s/m, {way}: rightmost root, real part")
            for way in ("Padé", "exact")
        ]
        assert both[0] == pytest.approx(both[1], rel=3e-4)
    assert value(reproduced, "stability", "roots with positive real part, K_h = 0") == 2


@pytest.mark.parametrize("gain", [0.0, 110.86, -30.0])
def test_equation_37_corrected_is_the_general_polynomial(gain):
    r = rig()
    np.testing.assert_allclose(r.coefficients(gain), r.polynomial(r.damping).at(gain), rtol=1e-12)


def test_equation_37_as_printed_has_a_rig_of_80_newtons_per_metre():
    """Without 1 / T_c in the hold the loop oscillates at √(80 N/m / 500 kg)."""
    slowest = min(np.roots(rig().coefficients(0.0, printed=True)), key=abs)
    assert abs(slowest) == pytest.approx(np.sqrt(80 / 500), rel=1e-4)


def test_conditions_of_stability(reproduced):
    table = reproduced.table("stability")
    conditions = {found.quantity: found.computed for found in table.rows if "eqs. 38–40" in found.quantity}
    failing = [name for name, number in conditions.items() if number <= 0]
    assert failing == ["eqs. 38–40, gain 0 N s/m: D1"]
    assert len(conditions) == 9
    for name in ("continuous", "with T/2"):
        error = value(reproduced, "stability", f"steady-state error (eqs. 41, 42), {name}, gain 110.86 N s/m")
        assert abs(error) < 1e-9


@pytest.mark.full
def test_rule_for_the_smallest_gain(reproduced):
    """K (τ_s + T_c/2 + t_R [+ T/2]) − B, to first order."""
    for damping in (0, 50):
        for way, late in (("continuous", 0.0), ("with T/2", 0.001)):
            rule = 20000 * (0.002 + 0.002 + 0.5526e-3 + late) - damping
            name = f"B = {damping} N s/m, exact, {way}: smallest stabilising gain"
            assert value(reproduced, "gains", name) == pytest.approx(rule, abs=0.05)


@pytest.mark.full
@pytest.mark.parametrize(
    ("loop", "gain", "ratio"),
    [
        ("continuous", "110.86", 0.303),
        ("continuous", "111.80", 0.287),
        ("with T/2", "110.86", 1.0089),
        ("with T/2", "111.80", 0.9535),
    ],
)
def test_printed_gains_fit_the_loop_with_a_digital_integrator(reproduced, loop, gain, ratio):
    name = f"gain {gain} N s/m, {loop}"
    found = value(reproduced, "gains", f"{name}: amplitude at 60 s over that of the contact alone")
    assert found == pytest.approx(ratio, abs=5e-4 if ratio < 0.5 else 5e-5)
    assert value(reproduced, "gains", f"{name}: growth rate") < 0
    assert value(reproduced, "gains", f"gain {gain} N s/m, Padé: least of Routh's first column") > 0


@pytest.mark.full
def test_phase_drifts_whatever_the_gain(reproduced):
    drift = value(reproduced, "gains", "phase drift at 60 s with it, with T/2")
    assert drift == pytest.approx(0.22, abs=5e-3)


def test_the_tables_of_the_theory_come_first():
    assert list(FIGURES)[: len(THEORY)] == list(THEORY)


@pytest.mark.full_cases("delays", "gains")
@pytest.mark.parametrize("name", THEORY)
def test_everything_is_written(reproduced, name):
    table, folder = reproduced.table(name), reproduced.folder / name
    assert table.title in (folder / "tables.md").read_text(encoding="utf-8")
    assert table.rows
    assert all(np.isfinite(found.computed) for found in table.rows)
    shares = reproduced.shares[name]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    if name == "gains":
        for ending in ("png", "svg"):
            assert (folder / f"gains.{ending}").stat().st_size > 10_000


def test_unknown_table_is_named_with_what_is_allowed(tmp_path):
    with pytest.raises(ValueError, match="figure 6: must be one of delays, robot, stability, gains"):
        reproduce(6, tmp_path / "new")
    assert not (tmp_path / "new").exists()

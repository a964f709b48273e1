"""A table of a measured force: it leads through its numbers, never falls, has no corner, and is read from a file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from plain_tables import plain
from scipy.integrate import cumulative_simpson
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from sticking_ball import MASS, ball_on_plane
from test_contact_energies import drawn_table

import dockdyn
from dockdyn.contact.laws.measured_force import MeasuredForce

SPEED = 0.4
TABLE = {
    "law": "measured",
    "depth": [0.0, 1e-4, 5e-4, 2e-3],
    "rate": [-0.2, 0.0, 0.5],
    "force": [[0.0, 0.0, 10.0], [10.0, 20.0, 40.0], [150.0, 200.0, 260.0], [400.0, 600.0, 700.0]],
}


def law_of(table):
    return MeasuredForce(*(jnp.asarray(table[key]) for key in ("depth", "rate", "force")))


@jax.jit
def on_grid(law, depths, rates):
    """Return forces, the same at rest, and stored energies."""
    forces = jax.vmap(lambda d: jax.vmap(lambda v: law.force(d, v))(rates))(depths)
    still = jax.vmap(lambda d: law.force(d, jnp.zeros(())))(depths)
    return forces, still, jax.vmap(law.stored_energy)(depths)


slopes_of = jax.jit(lambda law, depth, rate: jnp.stack(jax.grad(MeasuredForce.force, argnums=(1, 2))(law, depth, rate)))


@pytest.mark.full_cases("0", "1", "2")
@pytest.mark.parametrize("seed", range(20))
def test_it_leads_through_its_numbers_and_never_falls(seed):
    draw = np.random.default_rng(seed)
    table = drawn_table(draw)
    law, last = law_of(table), table["depth"][-1]
    places, rates = jnp.asarray(table["depth"]), jnp.asarray(table["rate"])
    at_numbers = on_grid(law, places, rates)[0]
    np.testing.assert_allclose(at_numbers, table["force"], atol=1e-12 * table["force"][-1][-1])
    depths = jnp.linspace(0, 1.2 * last, 401)
    found, still, stored = on_grid(law, depths, jnp.linspace(-0.1, 1.3 * table["rate"][-1], 101))
    rounding = -1e-12 * np.abs(found).max()
    assert np.diff(found, axis=1).min() >= rounding  # over the rate, everywhere
    assert np.diff(still).min() >= rounding
    # at rest by SciPy's monotone cubics, but for the slopes at the ends
    inner = (depths >= places[1]) & (depths <= places[-2])
    by_scipy = PchipInterpolator(places, np.asarray(table["force"])[:, 0])(depths)
    np.testing.assert_allclose(still[inner], by_scipy[inner], rtol=1e-10, atol=-rounding)
    work = cumulative_simpson(np.asarray(still), x=np.asarray(depths), initial=0.0)
    np.testing.assert_allclose(stored, work, atol=1e-6 * work[-1])


def test_its_slopes_have_no_jump():
    law, step = law_of(TABLE), 1e-9
    for depth in TABLE["depth"][1:]:
        for rate in (-0.3, -0.2, 0.0, 0.1, 0.5, 0.6):
            before, after = (slopes_of(law, depth + side * step, rate + side * step) for side in (-1.0, 1.0))
            np.testing.assert_array_less(np.abs(before - after), 1e-4 * np.array([4e5, 1e3]))


@pytest.mark.full
def test_a_straight_table_is_a_spring_and_a_dashpot():
    depth, rate = np.array([0.0, 1e-4, 5e-4]), np.array([-0.5, -0.1, 0.0, 0.4])
    law = MeasuredForce(*map(jnp.asarray, (depth, rate, 3e5 * depth[:, None] + 80.0 * rate)))
    draw = np.random.default_rng(3)
    for d, v in zip(draw.uniform(0, 1e-3, 20), draw.uniform(-1, 1, 20), strict=True):
        assert float(law.force(d, v)) == pytest.approx(3e5 * d + 80.0 * v, rel=1e-12, abs=1e-9)


def test_peak_by_energy_and_a_file_in_place_of_the_numbers(tmp_path):
    """Without rates it is lossless, and as deep as its work is that of the impact."""
    (tmp_path / "pad.csv").write_text("0,0\n0,0\n1e-4,20\n5e-4,200\n2e-3,600\n", encoding="utf-8")
    tables = plain(ball_on_plane([0, 0, -SPEED], [0, 0, 0], {"law": "measured", "force": "pad.csv"}, "none"))
    (tmp_path / "pad.toml").write_text(tomlkit.dumps(tables), encoding="utf-8")
    run = dockdyn.simulate(dockdyn.load(tmp_path / "pad.toml"))
    law = law_of({"depth": [0.0, 1e-4, 5e-4, 2e-3], "rate": [0.0], "force": [[0.0], [20.0], [200.0], [600.0]]})
    depth = brentq(lambda at: float(law.stored_energy(at)) - MASS * SPEED**2 / 2, 0.0, 2e-3, xtol=1e-16)
    assert run["episode_peak_force"].values[0] == pytest.approx(float(law.force(depth, 0.0)), rel=1e-7)
    assert float(run["velocity"].isel(time=-1).sel(body="ball", axis="z")) == pytest.approx(SPEED, rel=1e-7)
    for text, words in (
        ("0,0\n0,0\n1e-4,x\n", ("pad.csv", "must be a CSV file of numbers")),
        ("0,0\n0,5\n1e-4,4\n", ("row 2, at a depth of 0.0001 m, has 4 N at 0 m/s, less than the 5 N",)),
        ("", ("pad.csv", "must be a CSV file of numbers")),
    ):
        (tmp_path / "pad.csv").write_text(text, encoding="utf-8")
        with refused("contact.hit.normal", *words):
            dockdyn.load(tmp_path / "pad.toml")


@pytest.mark.parametrize(
    ("speed", "rates", "beyond"),
    [
        (0.02, [0.0], []),
        (0.05, [0.0], ["mm deep, measured to 0.3 mm"]),
        (0.02, [-0.03, 0.0, 0.03], []),
        (0.02, [-0.03, 0.0, 0.01], ["closing with 0.02 m/s, measured to 0.01 m/s"]),
        (0.02, [-0.01, 0.0, 0.03], ["opening with 0.0", " m/s, measured to 0.01 m/s"]),
        (0.05, [-0.1, 0.0, 0.01], ["mm deep, measured to 0.3 mm", "closing with 0.05 m/s, measured to 0.01 m/s"]),
    ],
)
def test_what_goes_beyond_the_table_is_told(load, speed, rates, beyond):
    """Of a ball on a spring, which goes v √(m/k) deep, 0.2 mm from 20 mm/s, and out as fast as it came."""
    depth, stiffness = [0.0, 1e-4, 3e-4], MASS * (0.02 / 2e-4) ** 2
    force = [[stiffness * one for _ in rates] for one in depth]
    law = {"law": "measured", "depth": depth, "rate": rates, "force": force}
    case = load(ball_on_plane([0, 0, -speed], [0, 0, 0], law, {"law": "none"}))
    told = [words for words in dockdyn.summarise(dockdyn.simulate(case))["warnings"] if "measured" in words]
    assert len(told) == bool(beyond) and all(words in told[0] for words in beyond)
    whole = " ".join(beyond)
    assert all((word in " ".join(told)) == (word in whole) for word in ("deep", "closing", "opening"))


def test_refused(load):
    for change, words in (
        ({"depth": [1e-4, 2e-4, 5e-4, 2e-3]}, ("depth", "must begin with 0")),
        ({"depth": [0.0, 5e-4, 5e-4, 2e-3]}, ("depth", "must increase")),
        ({"rate": [-0.2, 0.1, 0.5]}, ("rate", "has no 0")),
        ({"force": TABLE["force"][:3]}, ("force: has 3 rows", "4 depths")),
        ({"force": [[0.0, 0.0]] * 4}, ("force: row 1, at a depth of 0 m, has 2 values", "3 rates")),
        ({"force": [*TABLE["force"][:3], [400.0, 390.0, 700.0]]}, ("force: row 4", "falls from 400 to 390 N", "0 m/s")),
        ({"force": [*TABLE["force"][:3], [400.0, 400.0, 200.0]]}, ("force: row 4", "must not fall with rate")),
        ({"force": [*TABLE["force"][:3], [100.0, 600.0, 700.0]]}, ("force: row 4", "must not fall with depth")),
        ({"force": [[0.0, 0.0, 1.0]] * 4}, ("force", "nothing would press")),
    ):
        with refused("contact.hit.normal", *words):
            load(ball_on_plane([0, 0, -1], [0, 0, 0], TABLE | change, "none"))

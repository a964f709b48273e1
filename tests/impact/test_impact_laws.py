"""Impact laws of one contact: closed forms, energy and momentum over random contacts, what they are asked for comes out."""

import jax.monitoring
import numpy as np
import pytest
from impact_cases import COULOMB, COUNTS, ENDS, IN_SPACE, PATHS, compiles_long, contacts, kinetic, slow, solved, solver

from dockdyn.impact import LAWS, resolve_impact

# --- closed forms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "normal"), [("energetic", 8 + 0.5 * 62.5**0.5), ("poisson", 12.0), ("newton", 10.5)])
def test_jam(law, normal):
    """Friction first drives the bodies together (u_n from −1 to −1.5 while p = 0 … 0.5), then they stick: by hand."""
    found = resolve_impact(law, [[2, 3], [3, 5]], [-1, 1], restitution=0.5, friction=1.0)
    across = -0.5 - 0.6 * (normal - 0.5)
    np.testing.assert_allclose(found.impulse, [normal, across], rtol=1e-14)
    np.testing.assert_allclose(found.velocity, [-1.5 + 0.2 * (normal - 0.5), 0], atol=1e-13)
    assert found.jam and found.stick and not found.reversal
    # compression: p = 8, work 0.625 + 5.625
    rebound = 0.1 * (normal - 8) ** 2
    np.testing.assert_allclose(found.poisson, normal / 8 - 1, rtol=1e-13)
    np.testing.assert_allclose(found.energetic, np.sqrt(rebound / 6.25), rtol=1e-13)


@pytest.mark.parametrize("side", [1, -1])
def test_slip_reversal(side):
    """Sliding stops at p = 0.4 (u_n = −2) and goes on the other way with du_n/dp = 1.5, du_t/dp = 0.5: by hand."""
    found = resolve_impact("poisson", [[2, side], [side, 1]], [-3, -0.6 * side], restitution=0.25, friction=0.5)
    normal = 1.25 * (0.4 + 2 / 1.5)
    np.testing.assert_allclose(found.impulse, [normal, side * (0.2 - 0.5 * (normal - 0.4))], rtol=1e-14)
    np.testing.assert_allclose(found.velocity, [-2 + 1.5 * (normal - 0.4), side * 0.5 * (normal - 0.4)], rtol=1e-14)
    assert found.reversal and not found.stick and not found.jam


@pytest.mark.parametrize("law", IN_SPACE)
def test_ball_on_a_wall(law):
    """W = diag(1/m, 7/(2m), 7/(2m)): it slides throughout if μ (1 + e) |u_n| < 2/7 |u_t|, or else ends rolling."""
    mass, e, velocity, friction = 2.5, 0.8, np.array([-1.2, 0.9, -1.2]), np.array([0.05, 0.2, 0.6])
    matrix = np.diag([1, 3.5, 3.5]) / mass
    found = solver(law)(np.tile(matrix, (3, 1, 1)), np.tile(velocity, (3, 1)), np.full(3, e), friction)
    normal = mass * 1.8 * 1.2
    needed = mass * 1.5 * 2 / 7
    across = -np.minimum(friction * normal, needed)[:, None] * velocity[1:] / 1.5
    np.testing.assert_allclose(found.impulse, np.c_[np.full(3, normal), across], rtol=1e-11)
    np.testing.assert_array_equal(found.stick, friction * normal > needed)
    np.testing.assert_allclose([found.newton, found.poisson, found.energetic], e, rtol=1e-12)


@pytest.mark.parametrize("law", COULOMB)
def test_sliding_one_way_is_the_same_for_all(law):
    """While the direction stays, Λ_n = −(1 + e) u_n/(W_nn − μ û·W_tn), whatever e means."""
    matrix, velocity = np.array([[3.0, 0.4], [0.4, 0.5]]), np.array([-0.7, 4.0])
    found = resolve_impact(law, matrix, velocity, restitution=0.6, friction=0.3)
    normal = 1.6 * 0.7 / (3 - 0.3 * 0.4)
    np.testing.assert_allclose(found.impulse, [normal, -0.3 * normal], rtol=1e-14)


def test_plastic():
    """A pin leaves no velocity and loses ½ uᵀW⁻¹u; a weld does so with the moment rows."""
    matrix, velocity, *_ = contacts(1, 6)
    for law, rows in (("pin", 3), ("weld", 6)):
        w, u = matrix[0, :rows, :rows], velocity[0, :rows]
        found = resolve_impact(law, w, u)
        np.testing.assert_allclose(found.velocity, 0, atol=1e-12)
        np.testing.assert_allclose(found.energy_loss, kinetic(w[None], u[None])[0], rtol=1e-12)
        assert found.stick and found.newton == pytest.approx(0, abs=1e-12)


def test_frictionless():
    matrix, velocity, *_ = contacts(1, 3)
    found = resolve_impact("frictionless", matrix[0], velocity[0], restitution=0.3)
    w, u = matrix[0, 0, 0], velocity[0, 0]
    np.testing.assert_allclose(found.impulse, [-1.3 * u / w, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(found.energy_loss, 0.5 * (1 - 0.09) * u**2 / w, rtol=1e-13)


# --- energy and momentum over random contacts --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "rows"),
    [
        slow(name, rows, when=compiles_long(name, rows))
        for name, law in LAWS.items()
        for rows in law.rows or (1, 2, 3)
        if name != "energy-pair"  # below
    ],
)
@pytest.mark.parametrize("count", COUNTS)
def test_momentum_and_energy(law, rows, count):
    """u⁺ = u + WΛ, the loss is that of the kinetic energy, and no law marked safe creates energy."""
    matrix, velocity, *_ = contacts(count, rows)
    found = solved(law, count, rows)
    if law not in ("pin", "weld"):  # only these may pull
        np.testing.assert_array_less(0, found.impulse[:, 0])
    expected = velocity + np.einsum("nij,nj->ni", matrix, found.impulse)
    scale = np.abs(velocity).max(axis=1) + np.einsum("nij,nj->ni", np.abs(matrix), np.abs(found.impulse)).max(axis=1)
    np.testing.assert_allclose(found.velocity / scale[:, None], expected / scale[:, None], atol=1e-15)
    before, after = kinetic(matrix, velocity), kinetic(matrix, found.velocity)
    tolerance = 1e-12 * (before + np.abs(velocity * found.impulse).sum(axis=1))
    assert np.all(np.abs(before - after - found.energy_loss) <= tolerance)
    if LAWS[law].safe:
        assert np.all(found.energy_loss >= -tolerance) and not np.any(found.energy_created)


@pytest.mark.parametrize("rows", [2, slow(3)])
@pytest.mark.parametrize("count", [200, slow(2000)])
def test_newton_with_friction_creates_energy_and_says_so(rows, count):
    found = solved("newton", count, rows)
    gained = found.energy_loss < -1e-6 * np.abs(found.impulse * found.velocity).sum(axis=1)
    assert gained.mean() > 0.01 and np.all(found.energy_created[gained])
    assert not np.any(found.energy_created[found.energy_loss > 0])


def test_an_impact_in_which_newton_creates_energy():
    """Sliding stops at once, and sticking the approach is braked far more weakly than it was while sliding."""
    matrix, velocity = np.array([[2.0, -3.0], [-3.0, 5.0]]), np.array([-1.0, 0.6])
    energies = {}
    for law in COULOMB:
        found = resolve_impact(law, matrix, velocity, restitution=1.0, friction=1.0)
        energies[law] = float(found.energy_loss)
        assert bool(found.energy_created) == (energies[law] < 0) == (law == "newton")
    # by hand: u_t stops at p = 0.6/8 with u_n = −1 + 5 × 0.075; then du_n/dp = 0.2 until u_n = 1
    normal = 0.075 + 1.625 / 0.2
    across = -0.075 + 0.6 * (normal - 0.075)
    after = np.array([1.0, 0.0])
    np.testing.assert_allclose(energies["newton"], -0.5 * (velocity + after) @ [normal, across], rtol=1e-12)


@pytest.mark.parametrize(("law", "rows"), PATHS)
@pytest.mark.parametrize("count", COUNTS)
def test_coefficients_come_out(law, rows, count):
    """Each law returns its own coefficient."""
    np.testing.assert_allclose(getattr(solved(law, count, rows), law), contacts(count, rows)[2], atol=1e-11)


@pytest.mark.full_cases("20-energetic-3")
@pytest.mark.parametrize(("law", "rows"), PATHS)
@pytest.mark.parametrize("count", COUNTS)
def test_no_friction(law, rows, count):
    """All three coefficients are e, and e = 1 keeps the energy to 1e-12."""
    matrix, velocity, restitution, friction = contacts(count, rows)
    smooth = solver(law)(matrix, velocity, restitution, 0 * friction)
    for name in ENDS:
        np.testing.assert_allclose(getattr(smooth, name), restitution, atol=1e-11)
    elastic = restitution == 1
    loss = smooth.energy_loss[elastic] / (0.5 * velocity[elastic, 0] ** 2 / matrix[elastic, 0, 0])
    np.testing.assert_allclose(loss, 0, atol=1e-12)


# --- energy and friction ratios -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("count", COUNTS)
def test_energy_pair(rows, count):
    """The loss and the tangential impulse are the asked parts of the pin's, and e_N is that of the closed form."""
    matrix, velocity, *_ = contacts(count, rows)
    rng = np.random.default_rng(2)
    pin = solved("pin", count, rows)
    kappa = 1 - velocity[:, 0] ** 2 / (2 * matrix[:, 0, 0] * pin.energy_loss)
    r_f = rng.uniform(0, 2, count)
    least, greatest = kappa * r_f * (2 - r_f), 1 - kappa * (1 - r_f) ** 2
    r_e = rng.uniform(least, greatest)
    found = solver("energy-pair")(matrix, velocity, r_e, r_f)
    np.testing.assert_allclose(found.energy_loss / pin.energy_loss, r_e, atol=1e-11)
    np.testing.assert_allclose(found.impulse[:, 1:], r_f[:, None] * pin.impulse[:, 1:], rtol=1e-12)
    np.testing.assert_allclose(found.newton**2 * (1 - kappa), 1 - r_e - kappa * (1 - r_f) ** 2, atol=1e-10)
    assert np.all((found.newton >= 0) & (found.newton <= 1 + 1e-9))  # the larger root
    expected = velocity + np.einsum("nij,nj->ni", matrix, found.impulse)
    np.testing.assert_allclose(found.velocity, expected, atol=1e-11)
    assert not np.any(found.energy_created)


def test_energy_pair_gives_back_an_impact():
    """An energetic impact told by its loss and its friction comes out again."""
    matrix, velocity, *_ = contacts(200, 2)
    pin, told = solved("pin", 200, 2), solved("energetic", 200, 2)
    ratios = told.energy_loss / pin.energy_loss, told.impulse[:, 1] / pin.impulse[:, 1]
    again = solver("energy-pair")(matrix, velocity, *ratios)
    known = told.newton <= 1  # the larger root
    size = np.linalg.norm(told.impulse, axis=1)[known, None]
    np.testing.assert_allclose(again.impulse[known] / size, told.impulse[known] / size, atol=1e-6)
    assert known.sum() > 100


def test_one_impact_in_space_compiles_nothing_with_xla():
    """Outside of `jit` each law is machine code of its own, which the next process finds: XLA took seconds in each."""
    matrix, velocity, *numbers = (part[0] for part in contacts(1, 3))
    given = dict(zip(("restitution", "friction", "energy_ratio", "friction_ratio"), [*numbers, 0.9, 0.9], strict=True))
    seen = []

    def found(law, rows):
        numbers = {name: given[name] for name in LAWS[law].parameters}
        return resolve_impact(law, matrix[:rows, :rows], velocity[:rows], **numbers)

    def listener(event, *_, **__):
        seen.extend([event] if "backend_compile" in event else [])

    for law, rows in (("frictionless", 3), ("energy-pair", 2)):  # what makes arrays of numbers is compiled once
        found(law, rows)
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        assert all(np.isfinite(found(law, 3).impulse).all() for law in ("energetic", "pin", "energy-pair"))
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert not seen

"""The sampled loop, beside numbers found in another way and a simulation in time."""

import jax
import numpy as np
import pytest
from loop_simulation import MORE_STRUCTURES, STEPS, STRUCTURES, cycle_of, made, simulated, some_case
from numpy.testing import assert_allclose

from dockdyn.stability import TransferFunction, growth_rates, loop_roots, make_loop, sampled_loop
from dockdyn.stability.growth import floquet_multipliers, multiplier_slopes
from dockdyn.stability.loop_margins import sampled_windows, vary_number

# --- published and independent numbers of the SITS rig ---------------------------------------------------------------

POLE, ZERO, GAIN = -181.7836 + 185.4564j, -206.5679, 326.4756
ROBOT = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], GAIN)
RIG = {"effective_mass": 500.0, "stiffness": 2e4}  # kg, N/m
S1 = {"delay": 2e-3, "hold": 4e-3, "robot": ROBOT}  # s
S2 = S1 | {"dynamics_period": 2e-3}


def slow(roots):
    """The root of the oscillation itself, upper half plane."""
    roots = roots[np.isfinite(roots)]
    return roots[np.argmin(np.abs(roots - 6.3246j))]


def row_of_one(one):
    return jax.tree.map(lambda number: np.asarray(number)[None], one)


@pytest.mark.full_cases(
    "others1-(0.011062981625912+6.326046672577j)",
    "others3-(0.0910844891625+6.3240213841273j)",
    "others7-(0.0587353146+6.3254070431j)",
    "others2-(0.039993601365006+6.324091611425j)",
    "others4-(0.0410994810405+6.3259857835653j)",
    "others5-(0.0787350164+6.3246909838j)",
    "others6-(0.0987284025+6.3239117868j)",
)
@pytest.mark.parametrize(
    ("others", "known"),
    [
        ({"delay": 2e-3}, 0.039995734024400 + 6.324175899713j),
        ({"robot": ROBOT}, 0.011062981625912 + 6.326046672577j),
        ({"hold": 4e-3}, 0.039993601365006 + 6.324091611425j),
        (S1, 0.0910844891625 + 6.3240213841273j),
        (S1 | {"damping": 50.0}, 0.0410994810405 + 6.3259857835653j),
        (S2 | {"damping": 50.0, "dynamics": "zero-order-hold"}, 0.0787350164 + 6.3246909838j),
        (S2 | {"damping": 50.0, "dynamics": "explicit-euler"}, 0.0987284025 + 6.3239117868j),
        (S2 | {"damping": 50.0, "dynamics": "semi-implicit-euler"}, 0.0587353146 + 6.3254070431j),
    ],
)
def test_roots_of_the_page_and_of_an_independent_monodromy(others, known):
    found = slow(loop_roots(row_of_one(make_loop(**RIG, **others)), 4)[0])
    assert_allclose([found.real, found.imag], [known.real, known.imag], rtol=1e-8)


@pytest.mark.full
def test_one_number_in_several_forms():
    whole, known = sampled_loop(**RIG, **S1), 0.0910844891625 + 6.3240213841273j
    assert_allclose(whole.growth_rate(), known.real, rtol=1e-8)
    assert_allclose(whole.spectral_radius(), np.exp(known.real * whole.period), rtol=1e-10)
    assert_allclose(np.abs(whole.multipliers()[:2]), np.exp(known.real * whole.period), rtol=1e-10)
    assert_allclose(slow(whole.roots()), known, rtol=1e-8)
    assert whole.period == 4e-3


@pytest.mark.parametrize(
    ("damping", "gains"), [(0, (91.0515832063, 186321.337301)), (50, (41.0658855588, 186238.713085))]
)
def test_stabilising_gains(damping, gains):
    def growth(gain):
        return sampled_loop(**RIG, damping=damping, **S1, gain=gain).growth_rate()

    low, high = gains
    assert growth(low * (1 - 1e-9)) > 0 > growth(low * (1 + 1e-9))
    assert growth(high * (1 - 1e-9)) < 0 < growth(high * (1 + 1e-9))


@pytest.mark.full_cases("others1-111.0071689413", "others2-91.05448883")
@pytest.mark.parametrize(
    ("others", "gain"),
    [
        (S1, 91.0017139729),
        (S2 | {"dynamics": "half-period"}, 111.0071689413),
        (S1 | {"velocity": "model"}, 91.05448883),
    ],
)
def test_matching_gains_leave_the_decay_of_the_contact_alone(others, gain):
    """Re s = −B/(2 m): 91.00 and 111.007."""
    assert_allclose(sampled_loop(**RIG, damping=50.0, **others, gain=gain).growth_rate(), -0.05, rtol=1e-8)


def check_against_simulation(case):
    """Positions of a whole run, and the growth fitted to it once all other motions are 1e-8 of the slowest."""
    whole = made(case)
    first, *others = whole.roots()
    others = [root.real for root in others if abs(root - first.conjugate()) > 1e-6 * abs(first)]
    settled = int(18 / ((first.real - max(others)) * whole.period)) + 1
    turn = abs(first.imag) * whole.period  # rad in a cycle
    cycles = settled + (max(12, int(4 * np.pi / turn)) if turn else 12)
    assert cycles < 2500
    for start in ((1.0, 0.0), (0.3, -2.0)):
        found, _ = simulated(case, cycles, start)
        assert_allclose(whole.response(cycles, *start), found, rtol=0, atol=1e-9 * np.abs(found).max())
    tail, lag = found[settled:], max(1, round(np.pi / 2 / turn)) if turn else 1
    if turn:
        columns = np.column_stack([tail[lag:-lag], tail[: -2 * lag]])
        ratio = np.roots([1, *(-np.linalg.lstsq(columns, tail[2 * lag :])[0])]).astype(complex)[0]
    else:
        ratio = tail[-1] / tail[-2]
    growth, slowest = np.log(abs(ratio)) / (lag * whole.period), 1e-2 * np.sqrt(case["stiffness"] / case["mass"])
    assert_allclose(whole.growth_rate(), growth, rtol=1e-6, atol=1e-6 * slowest)
    assert_allclose(whole.period, cycle_of(case) * case["hold"], rtol=1e-12)
    return growth


@pytest.mark.full
def test_a_simulation_moves_and_grows_as_the_monodromy_says():
    rng, growths = np.random.default_rng(1), []
    for index, structure in enumerate(STRUCTURES):
        for _ in range(2):
            growths.append(check_against_simulation(some_case(structure, rng, (2, 3) if index % 2 else (0, 1))))
    assert min(growths) < 0 < max(growths)  # both sides


@pytest.mark.full
@pytest.mark.parametrize("structure", MORE_STRUCTURES[::3], ids=str)
def test_a_simulation_moves_and_grows_as_the_monodromy_says_in_full(structure):
    rng = np.random.default_rng(2)
    for _ in range(4):
        check_against_simulation(some_case(structure, rng))


@pytest.mark.full
@pytest.mark.parametrize("structure", [STRUCTURES[0], STRUCTURES[4]], ids=str)
def test_a_force_step_is_balanced_by_the_contact(structure):
    """SITS, eqs. 41 and 42: nothing is left on the model of a stable loop; there is no answer for an unstable one.

    A contact in software bears its share of K_v/(K + K_v).
    """
    rng, seen = np.random.default_rng(3), set()
    while seen != {False, True}:
        case = some_case(structure, rng, (0, 1))
        soft = rng.uniform(0.1, 0.6) * case["stiffness"] * (case["dynamics"] in STEPS)  # N/m
        case |= {"virtual_stiffness": soft, "virtual_damping": 0.1 * np.sqrt(case["stiffness"] * case["mass"])}
        whole = made(case)
        cycles = 25 / abs(whole.growth_rate()) / whole.period
        if cycles > 2000:
            continue
        seen.add(stable := whole.growth_rate() < 0)
        if stable:
            _, contact = simulated(case, int(cycles), (0.0, 0.0), push=10.0)
            assert_allclose(contact, -10 * case["stiffness"] / (case["stiffness"] + soft), rtol=1e-8)
            assert abs(whole.steady_state_error()) < 1e-9
        else:
            assert np.isnan(whole.steady_state_error())


def with_extras(case, rng):
    """With leads of the order of the loop's lag, and a contact in software where the simulation can have one."""
    lag = case["hold"] * rng.uniform(0.3, 1.5)
    case = case | {"lead": lag, "second_lead": lag**2 * rng.uniform(-0.5, 0.5)}
    scale = np.sqrt(case["stiffness"] * case["mass"])
    case |= {"virtual_damping": scale * rng.uniform(0, 0.3)}
    return case | {"virtual_stiffness": case["stiffness"] * rng.uniform(-0.3, 0.5) * (case["dynamics"] in STEPS)}


@pytest.mark.full
@pytest.mark.parametrize("index", range(9))
def test_leads_and_a_virtual_contact_move_a_simulation_as_the_monodromy_says(index):
    rng = np.random.default_rng(10 + index)
    for delays in ((0, 0), (0.2, 1), (1, 1), (2, 3)):
        check_against_simulation(with_extras(some_case(STRUCTURES[index], rng, delays), rng))


@pytest.mark.full
@pytest.mark.parametrize("index", [4, 2, 5, 6])
def test_samples_that_are_means_move_a_simulation_as_the_monodromy_says(index):
    rng = np.random.default_rng(20 + index)
    for delays in ((1, 1), (0.7, 1), (2, 3)):
        case = some_case(STRUCTURES[index], rng, delays)
        every = case["sensor_period"] or case["dynamics_period"]
        case = with_extras(case, rng) | {"averaging": every, "delay": max(case["delay"], every / 2)}
        check_against_simulation(case)


@pytest.mark.full
def test_the_mean_over_a_sample_does_not_alias_the_contact_s_damping():
    """A staircase of commands sampled at its own rhythm shows a third less damping than there is; its mean shows all."""
    digital = RIG | S2 | {"dynamics": "zero-order-hold"}
    lost = []
    for window in (None, 2e-3):
        growths = [sampled_loop(**digital, damping=damping, averaging=window).growth_rate() for damping in (0.0, 50.0)]
        lost.append(growths[1] - growths[0])
    assert -0.04 < lost[0] < -0.03 and abs(lost[1] + 0.05) < 5e-4


# --- many loops, and all delays --------------------------------------------------------------------------------------


def stacked(cases):
    return jax.tree.map(lambda *rows: np.stack(rows), *[made(case, make_loop) for case in cases])


@pytest.mark.full
def test_many_loops_at_once_are_those_one_by_one():
    """Whatever their delays: the commands under way differ in number."""
    rng = np.random.default_rng(4)
    cases = [some_case(STRUCTURES[0], rng, delays) for delays in ((0.1, 1), (1, 2), (0.1, 1), (1.5, 2), (0.5, 1))]
    one_by_one = [growth_rates(row_of_one(made(case, make_loop)))[0] for case in cases]
    assert_allclose(growth_rates(stacked(cases)), one_by_one, rtol=1e-8, atol=1e-10)
    assert_allclose(made(cases[0]).growth_rate(), one_by_one[0], rtol=1e-8, atol=1e-10)


@pytest.mark.full
def test_a_loop_that_leaves_the_range_of_numbers_spoils_no_other():
    """exp(1500) in one cycle: no number, so no growth rate; the loop beside it has the one it has alone."""
    gains = np.array([-1500.0, 0.05])
    loops = [make_loop(1.0, 1.0, hold=1.0, delay=0.1, gain=gain, velocity="model") for gain in gains]
    together = jax.tree.map(lambda *values: np.stack([np.asarray(value, float) for value in values]), *loops)
    rates = growth_rates(together)
    assert np.isnan(rates[0])
    assert rates[1] == pytest.approx(
        sampled_loop(1.0, 1.0, hold=1.0, delay=0.1, gain=0.05, velocity="model").growth_rate(), rel=1e-12
    )


@pytest.mark.full
@pytest.mark.parametrize("structure", [STRUCTURES[0], STRUCTURES[1]], ids=str)
def test_growth_is_continuous_where_the_delay_is_a_whole_number_of_holds(structure):
    case = some_case(structure, np.random.default_rng(5))
    offsets = np.array([-1e-6, -1e-8, -1e-10, 0, 1e-10, 1e-8, 1e-6])
    delays = case["hold"] * np.add.outer([0, 1, 2], offsets).clip(0)
    found = growth_rates(stacked([case | {"delay": delay} for delay in delays.ravel()])).reshape(3, -1)
    for growths in found:  # 1/s; it changes by a few 1/s² for each second of delay
        assert np.ptp(growths) < 1e-6 / case["hold"]
        assert np.ptp(growths[1:-1]) < 1e-8 / case["hold"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hold": None}, "neither a hold nor digital dynamics"),
        ({"sensor_period": np.pi * 1e-3}, "ratio of whole numbers"),
        ({"robot": TransferFunction((1.0, 2.0), (1.0, 3.0))}, "strictly proper"),
        ({"hold": -4e-3}, "hold is -0.004"),
        ({"delay": -1e-3}, "delay is -0.001"),
        ({"delay": np.inf}, "delay"),
        ({"damping": -1.0}, "damping is -1"),
        ({"stiffness": 0.0}, "stiffness is 0"),
        ({"effective_mass": np.nan}, "mass is nan"),
        ({"gain": np.nan}, "gain"),
        ({"sensor_period": 0.0}, "sensor period"),
        ({"dynamics": "zero-order-hold"}, "need a dynamics period"),
        ({"dynamics_period": 2e-3}, "continuous"),
        ({"hold": None, "sensor_period": 2e-3}, "needs a hold"),
        ({"dynamics": "half-period", "dynamics_period": 9e-3}, "period"),  # the command would be older than its hold
        ({"lead": np.nan}, "lead is nan"),
        ({"averaging": 6e-3, "sensor_period": 6e-3}, "twice the delay"),
        ({"averaging": 3e-3, "sensor_period": 2e-3}, "period of the samples"),
        ({"averaging": 2e-3}, "period of the samples"),
        ({"virtual_stiffness": np.inf}, "virtual stiffness"),
        ({"dynamics": "no-such-method", "dynamics_period": 2e-3}, "dynamics"),
    ],
)
def test_what_is_no_sampled_loop(changes, words):
    with pytest.raises(ValueError, match=words):
        sampled_loop(**RIG | S1 | changes)


@pytest.mark.full
@pytest.mark.parametrize("seeds", [(1, 7, 216), range(300)], ids=["few", "many"])
def test_every_window_of_stable_delays_is_that_of_a_fine_grid(seeds):
    """Random rigs stepped with their hold: narrow windows begin where a delay is a whole number of periods."""
    gaps = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        period, frequency, mass = 10 ** rng.uniform(-3, -2), rng.uniform(3, 40), rng.uniform(50, 900)
        pole = rng.uniform(1, 12) / period
        one = make_loop(
            mass,
            mass * frequency**2,
            2 * rng.uniform(0, 0.6) * mass * frequency,
            dynamics="zero-order-hold",
            dynamics_period=period,
            robot=TransferFunction.of_zeros([], [-pole], pole),
            delay=rng.uniform(0, 6) * period,
            gain=rng.choice([0.0, rng.uniform(0, 0.8) * mass * frequency]),
        )
        windows = sampled_windows(one)
        delays = period * np.linspace(0, 8, 1201)[:-1]
        delays = np.sort(
            np.concatenate([delays, *(period * np.arange(8) + share * period for share in (1e-5, 1 - 1e-5))])
        )
        stable = growth_rates(vary_number(one, "delay", delays)) < 0
        edges = np.array([end for ends in windows.stable for end in ends])
        clear = np.abs(delays[:, None] - edges).min(axis=1, initial=np.inf) > 1e-8 * period
        inside = np.any(
            [(low <= delays) & (delays < high) for low, high in windows.stable] or [np.zeros(len(delays), bool)], axis=0
        )
        assert (inside == stable)[clear].all(), (seed, windows.stable, delays[clear & (inside != stable)])
        gaps += len(windows.stable) > 1
    assert gaps  # some have several


def test_slopes_of_the_growth_rate_are_differences():
    """With every number of the map, and with the cycle: of real and of complex multipliers."""
    rng = np.random.default_rng(4)
    complex_ones = 0
    for _ in range(8):
        whole, period, step = rng.normal(size=(4, 4)), np.array(0.3), 1e-6
        rate, (by_map, by_period) = multiplier_slopes(whole, period)
        assert_allclose(rate.real, np.log(np.abs(floquet_multipliers(whole)[0])) / 0.3, rtol=1e-12)
        complex_ones += rate.imag not in (0.0, np.pi / 0.3)
        for place in np.ndindex(whole.shape):
            change = np.zeros((4, 4))
            change[place] = step
            up, down = (np.log(np.abs(floquet_multipliers(whole + side * change)[0])) / 0.3 for side in (1, -1))
            assert_allclose(by_map[place].real, (up - down) / (2 * step), rtol=0, atol=1e-6 * np.abs(by_map).max())
        assert_allclose(by_period.real, -rate.real / 0.3, rtol=1e-12)
    assert 0 < complex_ones < 8

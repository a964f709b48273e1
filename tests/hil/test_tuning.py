"""Leads and gains from what is known of a rig, beside published numbers and simulations that share no code with them."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from loop_tuning import force_lead, gain_and_inertia, leads, over_stiffness
from numpy.testing import assert_allclose
from rig_reference import GAIN, POLE, ZERO, contact_alone, fixed_gain, leading, simulate, simulate_continuous
from scipy.signal import hilbert

from dockdyn.hil.hybrid_contact import hybrid_contact
from dockdyn.hil.tuning import matching_gain
from dockdyn.stability import TransferFunction, make_loop, sampled_loop
from dockdyn.stability.chart import chart_growth
from dockdyn.stability.growth import growth_rates

ROBOT = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], GAIN)
S1 = {"delay": 2e-3, "hold": 4e-3, "robot": ROBOT}
S2 = S1 | {"dynamics": "zero-order-hold", "dynamics_period": 2e-3}


def long(*values):
    return pytest.param(*values, marks=pytest.mark.full)


def rig(stiffness=2e4, damping=0.0, **others):
    return make_loop(500.0, stiffness, damping, **S2 | others)


def growth_and_frequency(run):
    """Of a run that is one oscillation, by the two-term recurrence of its samples, free of windows and fits."""
    x = run["x"][len(run["x"]) // 3 :, 0]
    lag = 100
    (twice, product), *_ = np.linalg.lstsq(np.column_stack([x[lag:-lag], x[: -2 * lag]]), x[2 * lag :])
    root = np.log(np.roots([1, -twice, -product]).astype(complex)[0]) / (lag * 2e-3)
    return root.real, abs(root.imag)


@pytest.mark.full
def test_published_leads_that_hardly_depend_on_the_stiffness():
    found = np.array([leads(rig(stiffness)) for stiffness in (5e3, 2e4, 1e5)])
    assert_allclose(found[:, 0], [5.6589e-3, 5.6590e-3, 5.6594e-3], atol=6e-8)
    assert_allclose(found[:, 1], 2.725e-5, rtol=2e-3)


@pytest.mark.full
@pytest.mark.parametrize("stiffness", [2e4, 1e5])
def test_a_rig_with_these_leads_moves_as_the_contact_alone(stiffness):
    l1, l2 = leads(rig(stiffness))
    run = simulate(stiffness, leading(l1, l2), damping=0.0, duration=30.0)
    growth, frequency = growth_and_frequency(run)
    assert_allclose([growth, frequency], [0, np.sqrt(stiffness / 500)], atol=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(
    ("factor", "stiffness", "damping"), [(0.0, 2e4, 50.0), (0.7, 2e4, 50.0), (1.3, 1e5, 0.0), (1.0, 2e5, 50.0)]
)
def test_the_loop_with_leads_grows_as_a_simulation_does(factor, stiffness, damping):
    l1, l2 = 5.659e-3 * factor, 2.725e-5 * factor
    found = sampled_loop(500.0, stiffness, damping, **S2, lead=l1, second_lead=l2)
    growth, _ = growth_and_frequency(simulate(stiffness, leading(l1, l2), damping=damping, duration=12.0))
    assert_allclose(found.growth_rate(), growth, atol=1e-6)


@pytest.mark.full_cases("others0-50.0-91.0", "others1-50.0-111.007")
@pytest.mark.parametrize(
    ("others", "damping", "known"),
    [
        (S1, 50.0, 91.00),
        (S1 | {"dynamics": "half-period", "dynamics_period": 2e-3}, 50.0, 111.007),
        (S1 | {"velocity": "model"}, 50.0, 91.0545),
    ],
)
def test_published_gains(others, damping, known):
    assert_allclose(matching_gain(make_loop(500.0, 2e4, damping, **others)), known, rtol=5e-5)


@pytest.mark.full
@pytest.mark.parametrize("velocity", ["model", long("robot")])
def test_a_gain_that_leaves_a_simulation_its_amplitude(velocity):
    gain = matching_gain(rig(velocity=velocity))
    run = simulate(2e4, fixed_gain(gain, "velocity" if velocity == "model" else "robot_velocity"), damping=0.0)
    assert_allclose(growth_and_frequency(run)[0], 0, atol=1e-7)


@pytest.mark.full
def test_gain_and_inertia_leave_neither_amplitude_nor_phase_error():
    """SITS on continuous dynamics: the angle between simulation and contact alone, after 60 s."""
    whole = make_loop(500.0, 2e4, 50.0, **S1, velocity="model")
    gain, inertia = gain_and_inertia(whole)
    run = simulate_continuous(lambda *_: gain, inertia=inertia)
    x, _, _ = contact_alone(run["time"])
    grown, alone = (hilbert(part * np.exp(0.05 * run["time"])) for part in (run["x"], x))
    inside = slice(10_000, 25_000)  # away from the ends of the transform
    turn = np.unwrap(np.angle(grown / alone)[inside])
    slope, change = np.polyfit(run["time"][inside], turn, 1)[0], np.log(np.abs(grown / alone)[inside])
    assert abs(slope) < 2e-6 and abs(np.polyfit(run["time"][inside], change, 1)[0]) < 2e-6


@pytest.mark.full
def test_the_lead_of_the_force_turns_it_as_the_leads_of_the_command_do():
    whole, omega, time = rig(), np.sqrt(2e4 / 500), np.arange(4000) * 2e-3
    l1, l2 = leads(whole)
    for lag in (0.0, 2e-3):
        lead, force = force_lead(whole, 2e-3, lag), np.sin(omega * time)
        smooth, led = 0.0, []
        for now in force:
            before, smooth = smooth, smooth + (now - smooth) * (-np.expm1(-2e-3 / lag) if lag else 1.0)
            led.append(now + lead * (smooth - before) / 2e-3)
        columns = np.column_stack([np.cos(omega * time), np.sin(omega * time)])[1000:]
        cosine, sine = np.linalg.lstsq(columns, np.array(led)[1000:])[0]
        assert_allclose(np.arctan2(cosine, sine), np.arctan2(omega * l1, 1 - omega**2 * l2), rtol=1e-6)


@pytest.mark.full
def test_how_far_leads_and_gain_reach():
    """Amplitudes after 40 s at 5e4 N/m, tuned at 2e4 N/m: as simulated."""
    gain, (l1, l2) = matching_gain(rig(velocity="model")), leads(rig())
    for tuned, law in (
        (rig(velocity="model", gain=gain), fixed_gain(gain, "velocity")),
        (rig(lead=l1, second_lead=l2), leading(l1, l2)),
    ):
        reach = over_stiffness(tuned, np.array([2e4, 5e4]))
        assert_allclose(reach.growth_error[0], 0, atol=1e-9)
        growth, frequency = growth_and_frequency(simulate(5e4, law, damping=0.0, duration=30.0))
        assert_allclose(reach.growth_error[1], growth, atol=1e-7)
        assert_allclose(reach.frequency_error[1], frequency - 10, atol=1e-6)
        assert_allclose(reach.growth_rate[1], growth, atol=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(
    ("others", "periods"),
    [
        ({"sensor_period": 1e-3, "delay": 3.3e-3, "dynamics": "continuous", "dynamics_period": None}, "unequal"),
        long({"dynamics_period": 6e-3, "delay": 7.1e-3}, "dynamics slower than the hold"),
        long({"dynamics": "explicit-euler", "delay": 0.0}, "no delay"),
        long({"robot": None, "delay": 1e-3}, "robot that follows at once"),
        long({"dynamics": "semi-implicit-euler", "sensor_period": 8e-3, "hold": 6e-3}, "three periods"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_leads_of_any_rhythm_and_delay(others, periods):
    whole = make_loop(500.0, 2e4, 0.0, **S2 | others)
    l1, l2 = leads(whole)
    roots = sampled_loop(500.0, 2e4, 0.0, **S2 | others, lead=l1, second_lead=l2).roots()
    assert_allclose(roots[np.argmin(np.abs(roots - 6.3246j))], 1j * np.sqrt(40), atol=1e-9)
    assert 0 < l1 < 0.03


@pytest.mark.parametrize(
    ("find", "words"),
    [
        (lambda: leads(make_loop(500.0, 2e4, delay=2e-3)), "without a hold"),
        (lambda: leads(rig(stiffness=5e8)), "half an oscillation"),
        (lambda: matching_gain(rig(damping=1e5)), "does not oscillate"),
        (lambda: force_lead(rig(), 2e-3, 10.0), "shorter"),
        (lambda: make_loop(500.0, 2e4, delay=2e-3, lead=1e-3), "needs a hold"),
        (lambda: hybrid_contact(0.0, 1.0, 1e4), "wanted stiffness is 0"),
        (lambda: hybrid_contact(1e3, 1.0, 1e4, lag=-1.0), "lag is -1"),
    ],
)
def test_what_cannot_be_tuned(find, words):
    with pytest.raises(ValueError, match=words):
        find()


# --- hybrid contact --------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_hybrid_contact_shows_the_wanted_one():
    """Half of it in software, with the lag given back: in a simulation the period and decay of the wanted contact."""
    wanted, damping, hardware, lag = 2e4, 100.0, 1e4, 5.5526e-3  # the lag: 2 + 2 + 1 + 0.5526 ms
    extra = hybrid_contact(wanted, damping, hardware, 0.0, lag)
    own = 1e-3  # s: the software's force is itself held for a period
    assert_allclose(extra, (1e4, 100 + 1e4 * lag))

    def law(seen):
        return {
            "force": -extra.stiffness * seen["position"] - (extra.damping + own * extra.stiffness) * seen["velocity"]
        }

    growth, frequency = growth_and_frequency(simulate(hardware, law, damping=0.0, duration=30.0))
    assert_allclose(growth, -damping / 1000, rtol=0.02)
    assert_allclose(frequency, np.sqrt(wanted / 500 - 0.01), rtol=2e-3)
    whole = rig(hardware, virtual_stiffness=extra.stiffness, virtual_damping=extra.damping + own * extra.stiffness)
    assert_allclose(growth_rates_of_one(whole), growth, atol=1e-7)


def growth_rates_of_one(whole):
    return growth_rates(jax.tree.map(lambda number: np.asarray(number)[None], whole))[0]


@pytest.mark.full
@pytest.mark.parametrize("stiffness", [5e3, 4e4])
def test_the_stable_region_of_a_hybrid_contact(stiffness):
    """On either side of a chart's boundary over K_v and B_v a simulation grows and decays; B_v ≈ K τ + K_v T/2 there."""
    low, high = np.array([0.0, 0.0]), np.array([4e4, 600.0])

    def growth(points):
        values = low + points * (high - low)
        count = len(points)
        many = jax.tree.map(lambda a: np.repeat(np.asarray(a, float)[None], count, axis=0), rig(stiffness))
        return growth_rates(replace(many, virtual_stiffness=values[:, 0], virtual_damping=values[:, 1]))

    boundary = np.concatenate(chart_growth(growth, 24, 1e-5).boundary)
    places = low + boundary * (high - low)
    rule = stiffness * 5.5526e-3 + places[:, 0] * 1e-3
    assert_allclose(places[:, 1], rule, rtol=0.05)
    for kv, bv in places[[3, len(places) // 2, -4]]:
        for change in (-3.0, 3.0):

            def law(seen, kv=kv, bv=bv + change):
                return {"force": -kv * seen["position"] - bv * seen["velocity"]}

            found, _ = growth_and_frequency(simulate(stiffness, law, damping=0.0, duration=10.0))
            assert_allclose(found, -change / 1000, rtol=0.05)

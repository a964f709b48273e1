"""Scenarios of rigs: what a user writes, what is refused in one line, robots stated in samples, compensators by law."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import cont2discrete

import dockdyn
from dockdyn.scenario.tables.rig.compensators import laws
from dockdyn.stability.discrete import continuous_equivalent

RIGS = ["sits", "sits-fgc", "sits-lgc", "sits-scvg", "unknown-stiffness", "epos-like"]


@pytest.mark.parametrize("name", RIGS)
def test_a_resolved_preset_is_the_same_scenario(name, tmp_path):
    scenario = dockdyn.load(name)
    assert scenario.setup == "rig"
    file = tmp_path / "again.toml"
    file.write_text(scenario.text())
    assert dockdyn.load(file).text() == scenario.text()


def test_all_sensor_keys_take_units_and_reach_the_scenario():
    keys = {
        "period": ("2 ms", 2e-3),
        "averaging": ("1 ms", 1e-3),
        "jitter": ("0.5 ms", 5e-4),
        "delay_amplitude": ("0.3 ms", 3e-4),
        "delay_period": ("1.5 s", 1.5),
        "noise": ("500 mN", 0.5),
        "bias": ("-1 N", -1.0),
        "resolution": ("0.1 N", 0.1),
        "range": ("1 kN", 1e3),
        "drop_rate": (0.01, 0.01),
        "threshold": ("3 N", 3.0),
        "position_noise": ("10 um", 1e-5),
    }
    sensor = dockdyn.load("sits", {f"loop.sensor.{key}": text for key, (text, _) in keys.items()}).content.loop.sensor
    for key, (_, value) in keys.items():
        assert getattr(sensor, key) == pytest.approx(value, rel=1e-12), key


STEPPED = "loop.dynamics.period=2 ms"
WRONG = [
    ("sits", ["duration=1 ms"], ["delays of up to 0.002 s", "0.001 s"]),
    ("sits", ["loop.delay=2 min"], ["loop.delay", "60 s"]),
    ("sits", ["rig.robot=asleep"], ["rig.robot", "'asleep'", "'following'"]),
    ("sits", ["body.target.velocity=5 m"], ["body.target.velocity", "velocity"]),
    ("sits", ["seed=-1"], ["seed", "-1"]),
    ("sits", ["contact.spring.normal={law='hertz', stiffness=1e6}"], ["bilateral", "hertz", "'spring-dashpot'"]),
    ("sits", ["loop.sensor.noise=1 N"], ["sensor.noise", "sensor.period", "digital dynamics"]),
    ("sits", ["loop.sensor.jitter=3 ms", STEPPED], ["sensor.jitter", "0.003", "0.002"]),
    ("sits", ["loop.sensor.averaging=5 ms", STEPPED], ["averaging", "0.004"]),
    ("sits", ["loop.sensor.delay_amplitude=1 ms", STEPPED], ["delay_period"]),
    ("sits", ["loop.sensor.delay_amplitude=3 ms", "loop.sensor.delay_period=1 s", STEPPED], ["at most the delay"]),
    ("sits", ["loop.sensor.drop_rate=1", STEPPED], ["loop.sensor.drop_rate", "less than 1"]),
    ("sits", ["loop.robot.rate_limit=0"], ["loop.robot.rate_limit", "greater than 0 m/s"]),
    ("sits", ["loop.robot={a=[-0.9], b=[0.1]}"], ["loop.robot", "lacks period"]),
    ("sits", ["loop.robot={a=[-0.9], b=[0.1], period=2e-3, gain=1}"], ["loop.robot", "has gain, too"]),
    ("sits", ["loop.robot={a=[0.5], b=[1.5], period=2e-3}"], ["loop.robot", "z = -0.5", "no real logarithm"]),
    ("sits", ["loop.robot={a=[-0.5, 0], b=[0.5], period=2e-3}"], ["loop.robot", "z = 0"]),
    ("sits", ["loop.robot={a=[-1.1], b=[0.1], period=2e-3}"], ["loop.robot", "stable"]),
    ("sits", ["loop.robot={a=['x'], b=[0.1], period=2e-3}"], ["loop.robot", "number"]),
    ("sits", ["loop.compensator.slope=1"], ["loop.compensator.slope", "linear-gain", "variable-gain"]),
    ("sits", ["loop.compensator.gian=1"], ["loop.compensator.gian", "'loop.compensator.gain'"]),
    ("sits", ["loop.compensator={law='energy-layer', gain=1}"], ["loop.compensator.gain", "fixed-gain"]),
    ("sits", ["loop.compensator.law=lead-enrgy"], ["loop.compensator.law", "'lead-energy'"]),
    ("sits", ["loop.compensator={law='online-stiffness', forgetting=1}"], ["forgetting", "less than 1"]),
    ("sits", ["compare.fixed-gain.gain=5 N"], ["compare.fixed-gain.gain", "'5 N'"]),
    ("sits", ["loop.tuning.stiffness=0"], ["loop.tuning.stiffness", "greater than 0"]),
    ("epos-like", ["rig.mass=500"], ["rig.mass", "unknown key"]),
    ("epos-like", ["contact={}"], ["loop.delay", "no [contact.NAME]"]),
    ("epos-like", ["contact.probe.between=['probe', 'funnel']"], ["funnel", "cone"]),
    ("sits", ["loop.robot.rx={poles=[-50], gain=50}"], ["loop.robot.rx", "along one direction"]),
    ("epos-like", ["loop.robot={poles=[-5], gain=5, q={poles=[-50], gain=50}}"], ["loop.robot.q", "unknown key"]),
    ("epos-like", ["loop.robot={poles=[-5], gain=5, rx={poles=[5], gain=5}}"], ["loop.robot.rx", "stable"]),
]


@pytest.mark.full_cases("sits-changes17-words17", "epos-like-changes26-words26")
@pytest.mark.parametrize(("name", "changes", "words"), WRONG)
def test_what_cannot_be_is_one_clear_line(dock, name, changes, words):
    arguments = [part for change in changes for part in ("--set", change)]
    ended = dock("run", name, *arguments, "--json")
    ended.check_refused(*words)
    assert ended.stderr.startswith(f"error: {name}: ")


@pytest.mark.full_cases("3", "4")
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_robot_in_samples_is_the_continuous_one_behind_a_hold(order):
    """Against the zero-order hold of SciPy, over random stable robots."""
    rng = np.random.default_rng(order)
    for _ in range(20):
        period = 10 ** rng.uniform(-4, 0)  # s
        rates = -rng.uniform(0.1, 1.5, order)  # of a period
        pairs = [complex(rates[i], rng.uniform(0.1, 2.5)) for i in range(order // 2)]
        poles = [p for pair in pairs for p in (pair, pair.conjugate())] + list(rates[order // 2 : order - order // 2])
        bottom = np.poly(np.array(poles[:order]) / period).real
        top = rng.normal(size=order) * bottom[1:]
        discrete_top, discrete_bottom, _ = cont2discrete((top, bottom), period, "zoh")
        found = continuous_equivalent(discrete_bottom[1:], np.ravel(discrete_top)[1:], period)
        np.testing.assert_allclose(found.denominator, bottom, rtol=1e-7)
        np.testing.assert_allclose(
            found.at(1j / period), np.polyval(top, 1j / period) / np.polyval(bottom, 1j / period), rtol=1e-6
        )


@pytest.mark.full
def test_the_robot_of_the_paper_in_samples():
    """Its samples at 2 ms are printed to six decimals; zero and poles come back to that."""
    robot = {"a": [-1.295833, 0.483292], "b": [0.548679, -0.361221], "period": "2 ms"}
    transfer = dockdyn.load("sits", {"loop.robot": robot}).content.loop.robot.transfer()
    assert transfer.poles()[0] == pytest.approx(-181.7836 + 185.4564j, rel=1e-5) or transfer.poles()[
        1
    ] == pytest.approx(-181.7836 + 185.4564j, rel=1e-5)
    assert transfer.zeros()[0] == pytest.approx(-206.5679, rel=1e-5)
    assert transfer.dc_gain() == pytest.approx(1, abs=1e-5)
    margins = dockdyn.margins(dockdyn.load("sits", {"loop.robot": robot}))
    assert margins["growth_rate_1_s"] == pytest.approx(
        dockdyn.margins(dockdyn.load("sits"))["growth_rate_1_s"], rel=1e-3
    )


def test_every_compensator_is_made_from_its_numbers():
    numbers = {"gain": 90.0, "slope": 0.1, "switch_time": 30.0, "inertia": 0.3, "lead": 5e-3, "second_lead": 2e-5}
    for law, section in laws().items():
        read = section.model_validate({"law": law})
        complete = read.completed(**numbers)
        assert complete.tuned() == ()
        made = complete.make(held=True)
        for name in read.tuned():
            assert float(getattr(made, name)) == numbers[name], (law, name)
        memory = made.init(jnp.zeros(1), jnp.ones(1))
        assert memory is not None


@pytest.mark.full
def test_margins_count_a_stated_gain_or_lead_and_say_what_they_leave_out():
    def margins(**compensator):
        return dockdyn.margins(dockdyn.load("sits", {"loop.compensator": compensator}))

    bare = dockdyn.margins(dockdyn.load("sits"))
    lead = margins(law="command-lead", lead="4.55 ms", second_lead=0)
    # a lead as long as the loop's delay makes the loop decay as the contact alone, B/2m = 0.05 1/s
    assert lead["growth_rate_1_s"] == pytest.approx(-0.05, abs=2e-3)
    assert not [line for line in lead["warnings"] if "compensator" in line]
    tuned = margins(law="fixed-gain")  # left to the tuning of the rig as it is simulated
    assert tuned["growth_rate_1_s"] == pytest.approx(-0.05, rel=1e-5)
    other = margins(law="energy-layer")
    assert other["growth_rate_1_s"] == pytest.approx(bare["growth_rate_1_s"], rel=1e-12)
    assert other["not_counted"] == ["its compensator (energy-layer), which margins cannot count"]


@pytest.mark.full
def test_a_virtual_contact_counts_in_margins():
    """Half of the stiffness in software: half of the force is late, so half of the damping is lost."""
    changes = {"contact.spring.normal.stiffness": 1e4, "loop.virtual_contact": {"stiffness": 1e4, "damping": 0.0}}
    margins = dockdyn.margins(dockdyn.load("sits", changes))
    late = 2e-3 + 4e-3 / 2 + 0.5526e-3  # s: sensor, hold, robot at √(K/m)
    assert margins["growth_rate_1_s"] == pytest.approx(-(50 - 1e4 * late) / (2 * 500), abs=2e-4)
    assert abs(margins["rightmost_roots"][0][1]) == pytest.approx(np.sqrt(20000 / 500), rel=1e-3)


@pytest.mark.full
def test_margins_of_a_rig_in_space_are_those_along_the_normal():
    """As of the same bodies without rig, with the same loop."""
    rig = dockdyn.load("epos-like")
    table = rig.resolved()
    free = {"duration": "30 s"} | {key: table[key] for key in ("approach", "body", "contact", "loop")}
    import tomlkit

    from dockdyn.scenario.load import parse

    other = parse(tomlkit.dumps({"schema": 2, "title": "free"} | free), "free")
    assert dockdyn.margins(rig)["growth_rate_1_s"] == pytest.approx(dockdyn.margins(other)["growth_rate_1_s"], rel=1e-3)


class Begun(Exception):
    """A run has begun."""


def begin(name, duration):
    def stop(share):
        raise Begun

    dockdyn.simulate(dockdyn.load(name, {"duration": duration}), stop)


@pytest.mark.parametrize("name", ["sits", pytest.param("epos-like", marks=pytest.mark.full)])
def test_a_duration_that_is_too_long_is_refused_with_the_longest(name):
    with pytest.raises(dockdyn.ScenarioError, match=r"must have at most \d+: a duration of at most ") as refused:
        begin(name, "1 year")
    longest = float(str(refused.value).split()[-2])
    with pytest.raises(Begun):
        begin(name, longest)
    with pytest.raises(dockdyn.ScenarioError, match="instants of the loop"):
        begin(name, longest * 1.001)

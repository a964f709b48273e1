"""Distributions in scenario files: what is drawn against closed forms, what is written back, what is refused."""

from __future__ import annotations

import math
import sys
import tomllib

import numpy as np
import pytest
import tomlkit
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import dockdyn
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import preset_text
from dockdyn.studies.cases.sampling import sample, sample_cases
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

RUNS = 4000
SAMPLINGS = ("random", "sobol", "latin-hypercube")
SPEED = "approach.closing_speed"


def scenario(part="", overrides=None, preset="probe-cone"):
    """The preset with tables of `part` in the place of its own; those of a body are under its name in `body`."""
    data = tomlkit.parse(preset_text(preset)).unwrap()
    stated = tomllib.loads(part)
    for name, table in stated.pop("body", {}).items():
        data["body"][name].update(table)
    for key, value in stated.items():
        data[key] = data[key] | value if isinstance(value, dict) and isinstance(data.get(key), dict) else value
    return parse(tomlkit.dumps(data), "mine.toml", overrides)


def speed(distribution):
    return scenario(f"[approach]\nclosing_speed = {{ distribution = {distribution} }}")


def drawn(chosen, runs=RUNS, seed=1, sampling="random"):
    return sample(chosen, runs, seed, sampling).values


def assert_distributed(values, known):
    """Kolmogorov and Smirnov's test: a p-value below 1e-3 is as good as never by chance, for a fixed seed."""
    assert stats.kstest(values, known.cdf).pvalue > 1e-3


LAWS = {
    '"uniform", low = "2 cm/s", high = 0.1': stats.uniform(0.02, 0.08),
    '"normal", mean = "5 cm/s", std = "1 cm/s"': stats.norm(0.05, 0.01),
    '"truncated-normal", mean = 0.05, std = 0.02, low = 0.03, high = 0.06': stats.truncnorm(-1, 0.5, 0.05, 0.02),
    '"log-normal", median = "5 cm/s", sigma = 0.3': stats.lognorm(0.3, scale=0.05),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_one_number_follows_its_law(law, sampling):
    found = sample(speed(law), RUNS, 7, sampling)
    assert found.keys == (SPEED,) and found.units == ("m/s",)
    assert_distributed(found.values[:, 0], LAWS[law])


def test_a_choice_is_made_by_weights():
    values = drawn(speed('"choice", values = ["3 cm/s", 0.05, 0.1], weights = [1, 0, 3]'))[:, 0]
    assert set(values) == {0.03, 0.1}
    rare = np.sum(values == 0.03)  # binomial: 1000 ± 27
    assert abs(rare - RUNS / 4) < 4 * math.sqrt(RUNS * 3 / 16)


def test_a_choice_of_whole_numbers_and_of_pairs():
    found = drawn(scenario('[integrator]\nmax_events = { distribution = "choice", values = [50, 60] }'))
    assert set(found[:, 0]) == {50, 60}
    chosen = scenario('[approach]\nlateral_offset = { distribution = "choice", values = [[0, "1 cm"], [0.02, 0]] }')
    assert {tuple(row) for row in drawn(chosen)} == {(0.0, 0.01), (0.02, 0.0)}


def test_a_disc_is_uniform_in_area():
    part = '[approach]\nlateral_offset = { distribution = "disc", radius = "10 cm", centre = ["2 cm", 0] }'
    found = sample(scenario(part), RUNS, 3, "random")
    assert found.keys == ("approach.lateral_offset.0", "approach.lateral_offset.1") and found.units == ("m", "m")
    across = found.values - [0.02, 0]
    assert_distributed(np.sum(across**2, axis=1), stats.uniform(0, 0.01))  # area within, over π
    assert_distributed(np.arctan2(*across.T), stats.uniform(-np.pi, 2 * np.pi))


def test_an_angle_in_two_keys_is_of_one_disc():
    part = '[dispersion.both]\nkeys = ["approach.pitch", "approach.yaw"]\ndistribution = "disc"\nradius = "4 deg"'
    values = drawn(scenario(part))
    away = np.hypot(*values.T)
    assert away.max() < np.radians(4)
    assert_distributed(away**2, stats.uniform(0, np.radians(4) ** 2))


@pytest.mark.parametrize("axis", [[1, 0, 0], [-2, 0, 0], [0.3, -0.5, 0.8]])
@pytest.mark.parametrize("half_angle", [5, 90, 180])
def test_a_cone_is_uniform_in_solid_angle(axis, half_angle):
    """By Archimedes, equal heights along the axis have equal areas; around it all directions are alike."""
    law = f'distribution = "cone", axis = {axis}, half_angle = "{half_angle} deg", length = "2 cm/s"'
    values = drawn(scenario(f"[body.target]\nvelocity = {{ {law} }}"))
    axis = np.array(axis) / np.linalg.norm(axis)
    assert_allclose(np.linalg.norm(values, axis=1), 0.02, rtol=1e-12)
    height = values @ axis / 0.02
    lowest = math.cos(math.radians(half_angle))
    assert_distributed(height, stats.uniform(lowest, 1 - lowest))
    one = np.linalg.svd(axis[None])[2][1]  # across the axis
    around = np.arctan2(values @ one, values @ np.cross(axis, one))
    assert_distributed(around, stats.uniform(-np.pi, 2 * np.pi))


CORRELATED = '[dispersion.both]\nkeys = ["approach.pitch", "approach.distance"]\ndistribution = "correlated-normal"\n'
BY_CORRELATION = 'mean = ["1 deg", "5 cm"]\nstd = ["0.5 deg", "1 mm"]\ncorrelation = [[1, -0.6], [-0.6, 1]]'


@pytest.mark.full
def test_correlated_numbers_have_their_moments():
    values = drawn(scenario(CORRELATED + BY_CORRELATION), 20000)
    pitch, distance = np.radians(0.5), 1e-3
    assert_distributed(values[:, 0], stats.norm(np.radians(1), pitch))
    assert_distributed(values[:, 1], stats.norm(0.05, distance))
    found = np.corrcoef(values.T)[0, 1]
    assert abs(math.atanh(found) - math.atanh(-0.6)) < 4 / math.sqrt(20000)  # Fisher's transformation
    together = (values - [np.radians(1), 0.05]) @ [1 / pitch, 1 / distance]  # variance 1 + 1 − 2 · 0.6
    assert_distributed(together, stats.norm(0, math.sqrt(0.8)))


def test_a_covariance_says_the_same():
    covariance = 'covariance = [["0.25 deg^2", "-0.3 mm deg"], ["-0.3 mm deg", "1 mm^2"]]'
    same = scenario(CORRELATED + 'mean = ["1 deg", "5 cm"]\n' + covariance)
    assert_allclose(drawn(same), drawn(scenario(CORRELATED + BY_CORRELATION)), rtol=1e-9)


EVERYTHING = """
dispersion.both = { keys = ["approach.pitch", "approach.yaw"], distribution = "disc", radius = "4 deg", nominal = ["1 deg", 0] }

[approach]
closing_speed = { distribution = "uniform", low = "5 cm/s", high = "10 cm/s" }
lateral_offset = { distribution = "disc", radius = "0.1 m" }
lateral_velocity = [{ distribution = "normal", mean = 0, std = "1 cm/s", nominal = "2 mm/s" }, 0]
roll = { distribution = "truncated-normal", mean = 0, std = "2 deg", low = "-4 deg", high = "4 deg" }

[body.chaser]
mass = { distribution = "log-normal", median = "1800 kg", sigma = 0.1 }
inertia = [{ distribution = "choice", values = [900, 950] }, 1400, 1500]

[campaign]
runs = 16
seed = 3
sampling = "sobol"

[requirements]
peak_force = "< 4 kN"
captured = true
final.theta = ">= -1 deg"
"""


def everything(overrides=None):
    return scenario(EVERYTHING, overrides)


def test_a_number_replaces_a_distribution_that_stands_in_a_list():
    part = '[approach]\nlateral_offset = [{ distribution = "uniform", low = 0.0, high = "10 mm" }, 0.001]\n'
    found = scenario(part, {"approach.lateral_offset.0": "4 mm"})
    assert found.content.approach.lateral_offset == [0.004, 0.001]


def test_a_scenario_written_back_is_the_same():
    chosen = everything()
    again = parse(chosen.text(), "mine.toml")
    assert again == chosen
    assert again.text() == chosen.text()
    first, second = (sample(one, 16, 3, "sobol") for one in (chosen, again))
    assert first.keys == second.keys
    assert_array_equal(first.values, second.values)
    assert chosen.campaign.sampling == "sobol"


def test_the_order_of_a_file_does_not_matter():
    ways = ["closing_speed = { S }\nroll = { R }", "roll = { R }\nclosing_speed = { S }"]
    laws = {"S": 'distribution = "uniform", low = 0.01, high = 0.02', "R": 'distribution = "normal", mean = 0, std = 1'}
    rows = [
        drawn(scenario("[approach]\n" + way.replace("S", laws["S"], 1).replace("R", laws["R"], 1)), 5) for way in ways
    ]
    assert_array_equal(*rows)


def test_the_nominal_case_is_the_middle_or_what_is_stated():
    nominal = everything().content
    assert_allclose(nominal.approach.closing_speed, 0.075, rtol=1e-15)
    assert nominal.approach.lateral_offset == [0.0, 0.0]
    assert nominal.approach.lateral_velocity == [0.002, 0.0]
    assert (nominal.named("chaser").mass, nominal.named("chaser").inertia[0][0]) == (1800, 900)
    assert_allclose([nominal.approach.pitch, nominal.approach.yaw], [math.radians(1), 0])
    # a number that the file states beside a table [dispersion.both]
    table = '[dispersion.both]\nkeys = ["approach.pitch", "approach.yaw"]\ndistribution = "disc"\nradius = "4 deg"'
    assert_allclose(scenario(table).content.approach.pitch, math.radians(2))


def test_a_case_has_nothing_distributed_and_the_same_requirements():
    chosen = everything()
    found = sample(chosen, 3, 1, "random")
    case = chosen.at(dict(zip(found.keys, found.values[1].tolist(), strict=True)))
    assert case.dispersions == () and case.requirements == chosen.requirements
    assert [dockdyn.scenario.language.keys.number_at(case, key).value for key in found.keys] == found.values[1].tolist()
    with pytest.raises(dockdyn.ScenarioError, match=r"mine.toml: has no distribution"):
        sample(case, 3, 1, "random")


def test_an_override_replaces_a_distribution():
    chosen = everything({SPEED: 0.07, "approach.pitch": 0.01, "approach.yaw": "1 deg", "campaign.runs": 9})
    left = {key for one in chosen.dispersions for key in one.keys}
    assert not left & {SPEED, "approach.pitch", "approach.yaw"} and "body.chaser.mass" in left
    assert (chosen.content.approach.closing_speed, chosen.content.approach.pitch) == (0.07, 0.01)
    assert chosen.campaign.runs == 9
    bound = {
        "approach.closing_speed.high": "7 cm/s",
        "dispersion.both.radius": "1 deg",
        "body.chaser.inertia.2.2": 1490,
    }
    chosen = everything(bound)
    assert_allclose(chosen.content.approach.closing_speed, 0.06)
    assert chosen.content.named("chaser").inertia[2][2] == 1490


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_case_is_the_same_in_whatever_range(sampling):
    chosen = everything()
    whole = sample(chosen, 300, 5, sampling).values
    for first, count in ((0, 1), (0, 300), (1, 7), (255, 45), (299, 1), (17, 0)):
        assert_array_equal(sample_cases(chosen, 300, 5, sampling, first, count).values, whole[first : first + count])
    assert not np.any(sample(chosen, 300, 6, sampling).values[:, 0] == whole[:, 0])
    if sampling != "latin-hypercube":  # more of them continue fewer
        assert_array_equal(sample(chosen, 1000, 5, sampling).values[:300], whole)


@pytest.mark.parametrize("sampling", ["sobol", "latin-hypercube"])
def test_cases_that_were_drawn_before_are_the_same_without_scipy(sampling, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    chosen = speed('"uniform", low = 0.01, high = 0.05')
    first = sample_cases(chosen, 32, 7, sampling, 8, 16)
    assert len(list((tmp_path / "dockdyn" / "samples").iterdir())) == 1
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "scipy.stats", None)
        assert_array_equal(sample_cases(chosen, 32, 7, sampling, 8, 16).values, first.values)
        with pytest.raises(ImportError):
            sample_cases(chosen, 32, 8, sampling, 8, 16)
    assert_array_equal(sample(chosen, 32, 7, sampling).values[8:24], first.values)


def test_cases_are_independent_and_layers_are_filled():
    law = '{ distribution = "uniform", low = 0, high = 1 }'
    chosen = scenario(f"[approach]\nroll = {law}\npitch = {law}")
    values = sample(chosen, 4096, 2, "random").values
    for pair in (values, np.column_stack([values[:-1, 0], values[1:, 0]])):  # two numbers of a case, one of two cases
        assert abs(np.corrcoef(pair.T)[0, 1]) < 4 / math.sqrt(4096)
    for sampling in ("sobol", "latin-hypercube"):
        layers = np.floor(4096 * sample(chosen, 4096, 2, sampling).values).astype(int)
        assert_array_equal(np.sort(layers, axis=0), np.arange(4096)[:, None].repeat(2, axis=1))


def one(law):
    return f"[approach]\nclosing_speed = {{ distribution = {law} }}"


def table(keys, rest='distribution = "disc"\nradius = "4 deg"'):
    return f"[dispersion.both]\nkeys = {keys}\n{rest}"


OFFSET = "[approach]\nlateral_offset = "
PAIR = '["approach.pitch", "approach.yaw"]'
CLOSING = "approach.closing_speed"
REFUSED = [
    (one('"uniform", low = 0.1, high = 0.05'), f"{CLOSING}.low = 0.1: must be below high = 0.05"),
    (one('"uniform", low = 0.1, high = "5 kg"'), f"{CLOSING}.high = '5 kg': must be a speed in m/s"),
    (one('"uniform", low = "3 deg", high = 5'), f"{CLOSING}.low = '3 deg': must be a speed in m/s"),
    (one('"uniform", low = 0.1'), f"{CLOSING}.high: missing"),
    (one('"uniform", low = 0, high = 1, hihg = 2'), f"{CLOSING}.hihg: unknown key; did you mean 'high'?"),
    (
        one('"unifrom", low = 0, high = 1'),
        f"{CLOSING}.distribution: 'unifrom' is no distribution; did you mean 'uniform'?",
    ),
    (one('"normal", mean = 0, std = 0'), f"{CLOSING}.std = 0: must be a standard deviation greater than 0 m/s"),
    (one('"normal", mean = 0, std = "1 s"'), f"{CLOSING}.std = '1 s': must be a standard deviation greater than 0 m/s"),
    (
        one('"truncated-normal", mean = 0, std = 1, low = 1, high = 2'),
        f"{CLOSING}.mean = 0: must be from low = 1 to high = 2",
    ),
    (one('"log-normal", median = -1, sigma = 1'), f"{CLOSING}.median = -1: must be greater than 0"),
    (one('"log-normal", median = 1, sigma = 0'), f"{CLOSING}.sigma = 0: must be a standard deviation of the logarithm"),
    (one('"choice", values = [1, 2], weights = [1]'), f"{CLOSING}.weights = [1.0]: must be 2, one for each value"),
    (one('"choice", values = [1, 2], weights = [1, -1]'), f"{CLOSING}.weights.1 = -1: must be a weight of at least 0"),
    (one('"choice", values = [1, "2 m"]'), f"{CLOSING}.values.1 = '2 m': must be a speed in m/s"),
    (one('"disc", radius = 1'), f"{CLOSING}: a disc stands for 2 numbers; must be in the place of a list of 2"),
    (
        OFFSET + '{ distribution = "uniform", low = 0, high = 1 }',
        "approach.lateral_offset: a uniform stands for one number",
    ),
    (
        OFFSET + '{ distribution = "disc", radius = "4 deg" }',
        "approach.lateral_offset.radius = '4 deg': must be a radius",
    ),
    (
        OFFSET + '{ distribution = "disc", radius = 1, centre = ["1 kg", 0] }',
        "approach.lateral_offset.centre.0 = '1 kg': must be a length in m",
    ),
    (
        '[approach]\naxis = { distribution = "cone", axis = [1, 0, 0], half_angle = "181 deg" }',
        "approach.axis.half_angle = '181 deg': must be an angle greater than 0 deg and at most 180 deg",
    ),
    (
        '[approach]\naxis = { distribution = "cone", axis = [1, 0, 0], half_angle = 0 }',
        "approach.axis.half_angle = 0: must be an angle greater than 0 deg",
    ),
    (
        '[body.chaser]\nmass = { distribution = "uniform", low = -1, high = 5 }',
        "body.chaser.mass.low = -1: must be a mass greater than 0 kg",
    ),
    (
        '[body.chaser]\nmass = { distribution = "uniform", low = 1, high = 5, nominal = -7 }',
        "body.chaser.mass.nominal = -7: must be a mass greater than 0 kg",
    ),
    (
        '[body.chaser]\nmas = { distribution = "normal", mean = 1, std = 5 }',
        "body.chaser.mas: unknown key; did you mean 'mass'?",
    ),
    (
        'schema = { distribution = "choice", values = [2] }',
        "schema = {distribution = 'choice', values = [2]}: must be 2",
    ),
    ('title = { distribution = "choice", values = ["a", "b"] }', "title: cannot be distributed"),
    (
        '[integrator]\nmethod = { distribution = "choice", values = ["located", "fixed"] }',
        "integrator.method: is 'located', a text; cannot be distributed",
    ),
    (
        '[integrator]\nmax_events = { distribution = "uniform", low = 10, high = 20 }',
        "integrator.max_events: is 10, a count; cannot be distributed; only a choice can be of it",
    ),
    (
        table('["approach.pitch"]'),
        "dispersion.both.keys = ['approach.pitch']: a disc as given is of 2 numbers; must be 2 keys of one number each",
    ),
    (
        table('["approach.pitch", "approach.yaw", "approach.roll"]'),
        "dispersion.both.keys: 3 keys; a disc as given is of 2",
    ),
    (
        table('["approach.pitch", "approach.distance"]'),
        "dispersion.both: a disc needs keys of one unit; these are approach.pitch in",
    ),
    (
        table('["approach.pitch", "approach.yaww"]'),
        "dispersion.both.keys.1 = 'approach.yaww': unknown key; did you mean 'yaw'?",
    ),
    (
        table('["approach.pitch", "body.chaser"]'),
        "body.chaser: is a whole table; cannot be distributed: must be a number",
    ),
    (table('["approach.pitch", "schema"]'), "dispersion.both.keys: schema cannot be distributed"),
    (table('["approach.pitch", "approach.pitch"]'), "approach.pitch: is distributed twice"),
    (
        table(PAIR) + '\n[approach]\nyaw = { distribution = "normal", mean = 0, std = 1 }',
        "approach.yaw: is distributed twice",
    ),
    (table(PAIR, 'distribution = "disc"'), "dispersion.both.radius: missing"),
    ('[dispersion.both]\ndistribution = "disc"', "dispersion.both.keys: missing"),
    ('[dispersion]\ndistribution = "disc"', "dispersion: must be tables, each under a name"),
    (
        CORRELATED + 'mean = [0, 0]\nstd = ["1 deg", 1]\ncorrelation = [[1, 1.1], [1.1, 1]]',
        "dispersion.both.correlation = [[1.0, 1.1], [1.1, 1.0]]: must be positive definite; its smallest eigenvalue is -0.1",
    ),
    (CORRELATED + "mean = [0, 0]\nstd = [1, 1]\ncorrelation = [[1, 0.1], [0.2, 1]]", "dispersion.both.correlation = "),
    (
        CORRELATED + "mean = [0, 0]\nstd = [1, 1]",
        "dispersion.both: must give either std and correlation, or covariance",
    ),
    (
        CORRELATED + "mean = [0, 0]\nstd = [1]\ncorrelation = [[1, 0], [0, 1]]",
        "dispersion.both.std = [1]: must be 2, one for each",
    ),
    ('[campaign]\nsampling = "sobl"', "campaign.sampling = 'sobl': must be 'random', 'latin-hypercube' or 'sobol'"),
    ("[campaign]\nruns = 0", "campaign.runs = 0: must be at least 1"),
    ("[campaign]\nrnus = 9", "campaign.rnus: unknown key; did you mean 'runs'?"),
    ("[dispersions]\nruns = 9", "dispersions: unknown key; did you mean 'dispersion'?"),
]


@pytest.mark.parametrize(("part", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(part, message):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        scenario(part)
    said = str(refusal.value)
    assert said.startswith(f"mine.toml: {message}") and "\n" not in said


def test_one_key_of_several_cannot_be_set_alone():
    with pytest.raises(dockdyn.ScenarioError, match=r"approach.pitch: is distributed together with approach.yaw"):
        scenario(table(PAIR), {"approach.pitch": 0.1})


@pytest.mark.parametrize(
    ("preset", "key", "unit"),
    [
        ("berthing-3d", "body.boom2.joint.start", "rad"),
        ("berthing-3d", "body.payload.rate.0", "rad/s"),
        ("sits", "contact.spring.normal.stiffness", "N/m"),
        ("gibson-2d", "orbit.altitude", None),
    ],
)
def test_other_kinds_too(preset, key, unit):
    """A key by the name of its element, with the unit that its joint decides; a key that is not there is refused."""
    law = {"distribution": "uniform", "low": 1e-3, "high": 2e-3}
    if unit is None:
        with pytest.raises(dockdyn.ScenarioError, match=r"unknown key"):
            dockdyn.load(preset, {key: law})
        return
    (found,) = dockdyn.load(preset, {key: law}).dispersions
    assert (found.keys, found.units) == ((key,), (unit,))


@pytest.mark.full
def test_charts_of_stability_are_those_of_the_nominal_case():
    """Also over a key that is distributed together with another one."""
    keys = table(
        '["body.chaser.mass", "body.target.mass"]', 'distribution = "disc"\nradius = "50 kg"\ncentre = [1800, 3200]'
    )
    sweep = [parse_sweep("body.chaser.mass=1700:1900:3")]
    known, found = (stability_dataset(scenario(part), sweep) for part in ("", keys))
    assert_array_equal(found.growth_rate, known.growth_rate)
    assert found.attrs["margins"] == known.attrs["margins"]
    assert "[dispersion.both]" in found.attrs["scenario"]

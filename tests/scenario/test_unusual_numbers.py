"""Numbers that are hardly meant: what is said of each slip, and that nothing is said of what ships or is reasonable."""

import re
from pathlib import Path

import numpy as np
import pytest
import random_contacts
import tomlkit
from plain_tables import by_name
from two_bodies import two_bodies

import dockdyn
from dockdyn.cli.common import parse_overrides
from dockdyn.scenario.language.keys import leaves, override
from dockdyn.scenario.load import parse
from dockdyn.scenario.sanity.check import check_ranges
from dockdyn.scenario.sanity.ranges import USUAL, unusual

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "sanity.md"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| (.+) \|$", re.MULTILINE)
SLIPS = [row for page in (PAGE, Path(__file__).parent / "slips.md") for row in ROW.findall(page.read_text())]
VARIED = re.compile(
    r"(mass|stiffness|damping|velocity|closing_speed|speed|inertia|delay)$"
)  # of which products make slips
FACTOR = 3.0


def test_thirty_slips_at_least_are_tried():
    assert len(SLIPS) >= 30
    assert len({key.partition("=")[0] for _, key, _ in SLIPS}) >= 25


@pytest.mark.parametrize(("preset", "change", "said"), SLIPS, ids=[f"{preset} {change}" for preset, change, _ in SLIPS])
def test_a_slip_is_told_as_it_is_written_and_alone(preset, change, said):
    assert dockdyn.check_numbers(dockdyn.load(preset, parse_overrides([change]))) == [said]


def test_what_turns_with_the_body_that_it_approaches_is_told_where_nothing_is_said_of_it():
    turning = {"body.target.rate": [0.0, "0.5 deg/s", 0.0]}
    (said,) = dockdyn.check_numbers(dockdyn.load("apas-like", turning))
    assert said.startswith("approach: chaser begins turning with target, as roll_rate")
    assert dockdyn.check_numbers(dockdyn.load("apas-like", turning | {"approach.yaw_rate": 0.0})) == []
    starts = dockdyn.load("apas-like", turning).content.starts()
    rates = [starts[body][0].attitude.matrix() @ starts[body][1].rate for body in ("chaser", "target")]
    assert rates[0].array() == pytest.approx(rates[1].array(), abs=1e-12) and abs(rates[0].y) > 1e-3


def test_the_page_has_all_sizes_that_are_usual():
    """And each row is one that counts: what is beyond it is told of a key that fits it and no row before."""
    section = (DOCS / "scenario-keys.md").read_text().split("\n## Usual sizes\n")[1]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    said = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines]
    stated = []
    for usual in USUAL:
        ends = (f"{end:g}" if 0 < end < np.inf else "" for end in (usual.least, usual.most))
        keys = ", ".join(f"`{key}`" for key in usual.keys)
        stated.append((keys, usual.unit.replace("**", "^").replace("*", " "), *ends))
    assert said == stated
    for usual in USUAL:
        key = usual.keys[0].replace("*", "x")
        if usual.most < np.inf:
            assert not unusual(key, key, 0.99 * usual.most, usual.unit), key
            assert unusual(key, key, 1.01 * usual.most, usual.unit), key


@pytest.mark.parametrize("preset", dockdyn.presets())
def test_no_preset_has_an_unusual_number(preset):
    assert dockdyn.check_numbers(preset) == []


@pytest.mark.full
def test_reasonable_scenarios_drawn_at_random_are_not_warned_of():
    told = [
        dockdyn.check_numbers(parse(tomlkit.dumps(random_contacts.draw(seed)), f"seed {seed}")) for seed in range(100)
    ]
    assert sum(map(bool, told)) <= 1


def varied(preset, chance):
    """A preset with its masses, stiffnesses, dampings, speeds and delays up to three times as large or as small; None where
    those do not go together."""
    data = dockdyn.load(preset).at({}).nominal()
    for key, value in list(leaves(data)):
        number = re.match(r"^[-+.\de]+", value) if isinstance(value, str) else None
        if VARIED.search(key) and (isinstance(value, float) or number):
            share = float(np.exp(chance.uniform(-1, 1) * np.log(FACTOR)))
            new = value * share if number is None else f"{float(number[0]) * share!r}{value[number.end() :]}"
            override(data, key, new, preset)
    try:
        return parse(tomlkit.dumps(data), preset)
    except dockdyn.ScenarioError:
        return None


@pytest.mark.full
def test_presets_with_numbers_three_times_as_large_or_small_are_hardly_ever_warned_of():
    chance = np.random.default_rng(5)
    scenarios = [varied(preset, chance) for _ in range(3) for preset in dockdyn.presets()]
    tried = [scenario for scenario in scenarios if scenario is not None]
    assert len(tried) > 0.6 * len(scenarios)
    assert sum(bool(dockdyn.check_numbers(scenario)) for scenario in tried) <= 0.03 * len(tried)


THOUSAND = (
    "contact.spring.normal.stiffness",
    "body.target.velocity",
    "loop.sensor.delay",
    "loop.hold.period",
    "contact.spring.normal.damping",
)


@pytest.mark.parametrize("key", THOUSAND)
def test_a_unit_a_thousand_times_too_large_is_told_with_the_one_that_was_meant(key):
    """Of rigs drawn at random, whose numbers themselves are usual."""
    chance = np.random.default_rng(7)
    for _ in range(10):
        mass, frequency = float(chance.uniform(300, 1500)), float(chance.uniform(0.8, 2.0))
        stiffness = mass * (2 * np.pi * frequency) ** 2
        numbers = {
            "body.target.mass": mass,
            "contact.spring.normal.stiffness": stiffness,
            "contact.spring.normal.damping": 2 * 0.05 * mass * 2 * np.pi * frequency,
            "body.target.velocity": float(chance.uniform(0.02, 0.1)),
            "loop.sensor.delay": float(chance.uniform(1e-3, 6e-3)),
            "loop.hold.period": "4 ms",
        }
        assert dockdyn.check_numbers(dockdyn.load("sits", numbers)) == []
        right = numbers[key] if isinstance(numbers[key], float) else 4e-3
        (said,) = dockdyn.check_numbers(dockdyn.load("sits", numbers | {key: 1000 * right}))
        assert said.startswith(f"{key} = ") and "; is it " in said
        meant = said.rpartition("; is it ")[2].removesuffix("?")
        unit = {"body.target.velocity": "m/s", "loop.sensor.delay": "s", "loop.hold.period": "s"}.get(key)
        if unit is not None:
            assert dockdyn.load("sits", {key: meant}).content.named("target").mass > 0
            assert numbers[key] == "4 ms" or meant == f"{1000 * right:.6g} m{unit}"


@pytest.mark.full
def test_run_and_stability_warn_and_other_commands_say_it_before_they_begin(dock):
    slip = ("--set", "contact.spring.normal.stiffness=15")
    said = "contact.spring.normal.stiffness = 15 N/m lets what touches at 0.05 m/s sink 0.29 m; is it 15 N/mm?"
    _, out, _ = dock("run", "sits", *slip, "--set", "duration=0.05", "--set", "body.target.position=-1 mm", "--json")
    assert said in out
    code, _, err = dock("envelope", "sits", *slip, "--over", "body.target.mass=1:2", "--of", "nothing")
    assert (code, said in " ".join(err.split())) == (2, True)


@pytest.mark.full
def test_margins_warn(dock):
    margins = dockdyn.margins(dockdyn.load("sits", {"contact.spring.normal.stiffness": 20.0}))
    assert margins["warnings"][0].endswith("is it 20 N/mm?")


@pytest.mark.full
def test_what_a_refused_command_was_given_is_explained(dock):
    """A rig whose compensator cannot be tuned, for a contact ten thousand times too soft."""
    dock("new", "rig.toml", "--mechanism", "one-axis-rig")
    code, _, err = dock("run", "rig.toml", "--set", "contact.touch.normal.stiffness=3.5")
    assert code == 2 and "is it 3.5 N/mm?" in " ".join(err.split())


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", range(3))
def test_ends_of_ranges_without_their_unit_are_told(dock, seed):
    """As typed, 20:120 are metres a second; whoever varies the key is told."""
    low = int(np.random.default_rng(seed).integers(5, 40))
    said = f"warning: approach.closing_speed = {low} m/s: spacecraft dock at millimetres to decimetres a second"
    chosen = dockdyn.load("probe-cone-latch")
    found = check_ranges(chosen, {"approach.closing_speed": (low, f"{low} mm/s")})
    assert [f"warning: {words}".partition(";")[0] for words in found] == [said]
    if seed == 0:
        command = ("envelope", "probe-cone-latch", "--tolerance", 0.1, "--over")
        code, out, err = dock(*command, f"approach.closing_speed={low}:{low + 20}")
        assert code == 0 and said in err
        assert f"approach.closing_speed from {low} to {low + 20} m/s" in " ".join(out.split())


@pytest.mark.full
def test_ends_of_a_design_and_of_a_sweep_are_told(dock, tmp_path):
    text = dockdyn.load("probe-cone-latch").text()
    variable = '[design.variable.speed]\nkey = "approach.closing_speed"\nlow = 30\nhigh = 60\n'
    (tmp_path / "mine.toml").write_text(f'{text}\n[design]\nminimise = "no_such_figure"\nevaluations = 2\n{variable}')
    _, _, err = dock("design", "mine.toml")
    assert "warning: approach.closing_speed = 60 m/s: spacecraft dock at" in err
    _, _, err = dock("stability", "probe-cone", "--sweep", "loop.delay=20:40:2")
    assert "warning: loop.delay = 20 s: no loop is so late" in err


@pytest.mark.parametrize("seed", range(5))
def test_a_head_on_bounce_is_told_once_it_is_deeper_than_four_radii(seed):
    """Its depth is v √(m/K) of the reduced mass; nothing is said where the surface is larger."""
    chance = np.random.default_rng(seed)
    radius, speed, mass, other = (
        float(chance.uniform(low, high)) for low, high in ((0.004, 0.012), (0.02, 0.1), (200, 1000), (200, 1000))
    )
    reduced = mass * other / (mass + other)
    cone = {"name": "cone", "shape": "cone", "apex": [1, 0, 0], "axis": [1, 0, 0], "half_angle": "40 deg"}
    plane = {"name": "cone", "shape": "plane", "point": [1, 0, 0], "normal": [1, 0, 0]}
    for radii, surface, told in ((3.8, plane, False), (4.2, plane, True), (4.2, cone | {"rim_radius": 0.2}, False)):
        stiffness = reduced * (speed / (radii * radius)) ** 2
        data = {
            "schema": 2,
            "duration": 1.0,
            "chaser": {
                "mass": mass,
                "inertia": [100, 100, 100],
                "position": [5.0, 0, 0],
                "velocity": [-speed, 0, 0],
                "feature": by_name([{"name": "tip", "position": [-1, 0, 0], "radius": radius}]),
            },
            "target": {"mass": other, "inertia": [100, 100, 100], "surface": by_name([surface])},
            "contact": {
                "tip": {"between": ["tip", "cone"], "normal": {"law": "spring-dashpot", "stiffness": stiffness}}
            },
        }
        said = [words for words in dockdyn.check_numbers(dockdyn.load(two_bodies(data))) if "sink" in words]
        assert bool(said) is told
        assert not told or "4.2 times its radius" in said[0]

"""What people write in a first file of their own: each slip is one line that says what to write."""

import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.scenario.language.units import convert

OWN = """
schema = 2
title = "A ring on a plate"
duration = "20 s"

[body.chaser]
mass = "4.5 t"
inertia = [3000, 4000, 4000]
position = [-3.1, 0, 0]
velocity = ["4 cm/s", 0, 0]

[body.chaser.feature.ring]
position = [1, 0, 0]
radius = "40 cm"

[body.target]
mass = "20 t"
inertia = [30000, 40000, 40000]

[body.target.surface.plate]
shape = "plane"
point = [-1, 0, 0]
normal = [-1, 0, 0]

[contact.ring-on-plate]
between = ["chaser.ring", "target.plate"]
normal = { law = "spring-dashpot", stiffness = "30 kN/m", damping_ratio = 0.2 }

[control]
body = "chaser"
law = "rate-damping"
base_damping = "3 N m s/rad"
"""
SLIPS = [
    ('"4.5 t"', '"4,5 t"', ["body.chaser.mass = '4,5 t'", "a comma is no decimal point"]),
    ('"4.5 t"', '"4 500 kg"', ["body.chaser.mass = '4 500 kg'", "without blanks"]),
    ('"4.5 t"', '"4.5 tons"', ["body.chaser.mass = '4.5 tons'", "t has 1000"]),
    ('"4.5 t"', "4.5 t", ["not TOML", 'a number with a unit stands in quotes: "4.5 t"']),
    ('"4.5 t"', "4,5", ["not TOML", "a decimal point is a dot"]),
    ('"30 kN/m"', "30 kN/m", ["not TOML", 'stands in quotes: "30 kN/m"']),
    ("[body.chaser]", "[bodies.chaser]", ["bodies: unknown key; did you mean 'body'?"]),
    ("[contact.ring-on-plate]", "[contacts.ring]", ["contacts: unknown key; did you mean 'contact'?"]),
    ("[contact.ring-on-plate]", "[contact]", ["contact: between", "[contact.NAME]"]),
    ("[contact.ring-on-plate]", "[[contact]]", ["contact = ", "[contact.NAME]"]),
    ("[body.target]", "[body]", ["body: mass", "[body.NAME]"]),
    ('mass = "20 t"', 'mass = "20 t"\nname = "x"', ["[body.target] has a key 'name'", "must be left out"]),
    ("[3000, 4000, 4000]", "3000", ["body.chaser.inertia = 3000", "list of three moments of inertia"]),
    ("position = [1, 0, 0]", 'position = "1 m"', ["ring.position = '1 m'", "must be a list of 3"]),
    ("spring-dashpot", "spring_dashpot", ["normal.law = 'spring_dashpot'", "did you mean 'spring-dashpot'?"]),
    ('"rate-damping"', '"joint_pd"', ["control.law = 'joint_pd'", "did you mean 'joint-pd'?"]),
    ('mass = "4.5 t"\n', "", ["body.chaser.mass: missing; must be a mass greater than 0 kg"]),
    ("point = [-1, 0, 0]\n", "", ["plate.point: missing; must be a list of 3 entries, each a length in m"]),
    ('["chaser.ring", "target.plate"]', '["chaser.ring"]', ["between = ['chaser.ring']: must have 2 entries, has 1"]),
    ("duration", "time", ["time: unknown key; it is called 'duration' here"]),
    ("velocity = [", "angular_velocity = [", ["chaser.angular_velocity: unknown key; it is called 'rate' here"]),
    ("point = [-1, 0, 0]", "apex = [-1, 0, 0]", ["plate.apex: unknown key; of cone only; allowed: ", "point, normal"]),
    (
        "[control]",
        "[[control]]",
        ["control = [{body = 'chaser', law = 'rate-damping', ", "...: must be one table, [control]"],
    ),
    ('"A ring on a plate"', "5", ["title = 5: must be a text"]),
    (
        'law = "spring-dashpot", stiffness = "30 kN/m", damping_ratio = 0.2',
        'law = "hertz", stiffness = "30 kN/m"',
        ["greater than 0 N/m**1.5", "kN/m is a stiffness along an axis, for which exponent must be 1"],
    ),
    ('"4.5 t"', "true", ["body.chaser.mass = true: must be a mass"]),
    (
        "[control]",
        '[approach]\nof = "plate"\nto = "ring"\nclosing_speed = 1\n\n[control]',
        ["is a surface; must be a port"],
    ),
    ('"rate-damping"', '"pd"', ["control.law = 'pd'", "joint-pd, lqr", '"module:Class"']),
]


def test_the_file_itself_is_a_scenario():
    assert dockdyn.load(OWN).content.named("chaser").mass == 4500


@pytest.mark.parametrize(("right", "wrong", "words"), SLIPS, ids=[wrong for _, wrong, _ in SLIPS])
def test_a_slip_is_one_line_that_says_what_to_write(right, wrong, words):
    assert right in OWN
    with refused(*words):
        dockdyn.load(OWN.replace(right, wrong, 1))


def test_what_pint_reads_otherwise_than_meant_is_no_number():
    for text in ("4,5 t", "4,500 kg", "4 500 kg", "3 tons", "1 ton"):
        with pytest.raises(ValueError, match="must be a number and a unit"):
            convert(text, "kg")
    assert convert("3 tonne", "kg") == 3000
    assert convert("2 short_ton", "kg") == pytest.approx(2 * 2000 * 0.45359237)


def test_a_mechanism_is_explained_and_a_bare_number_told(dock, monkeypatch):
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("\n".join(["?", "one-axis-rig", "600", *[""] * 8]) + "\n"))
    ended = dock("new", "mine.toml")
    assert ended.returncode == 0, ended.stderr
    assert "What docks: one of these names." in ended.stdout and "That is 600 kg." in ended.stdout


def test_a_scenario_in_the_place_of_a_command_is_told(dock):
    dock("campaign", "mine.toml").check_refused("did you mean dockdyn campaign run mine.toml?")

"""What a file says once: tables that are like others, laws that contacts share, one draw for what is copied."""

from __future__ import annotations

import re
import tomllib

import jax
import numpy as np
import pytest
import tomlkit

import dockdyn
from dockdyn.scenario.language.like import with_copies
from dockdyn.scenario.load import parse

TEXT = """
schema = 2
duration = "3 s"

[campaign]
runs = 5

[body.left]
mass = { distribution = "uniform", low = "100 kg", high = "200 kg" }
inertia = [10, 20, 20]
rate = { distribution = "cone", axis = [1, 0, 0], half_angle = "10 deg", length = 1e-3 }
feature.tip = { position = [0.5, 0, 0], radius = "10 mm" }
surface.back = { shape = "plane", point = [-0.5, 0, 0], normal = [-1, 0, 0] }

[body.middle]
like = "left"
position = [1.6, 0, 0]

[body.right]
like = "middle"
mass = "50 kg"
position = [3.2, 0, 0]
velocity = [-0.2, 0, 0]
feature.tip.radius = "5 mm"

[contact_law.steel]
normal = { law = "spring-dashpot", stiffness = { distribution = "uniform", low = 8e3, high = 9e3 }, damping = 400 }
friction = { law = "coulomb", coefficient = 0.1 }

[contact.first]
between = ["left.tip", "middle.back"]
law = "steel"

[contact.second]
like = "first"
between = ["middle.tip", "right.back"]
"""


def read(text=TEXT, changes=None):
    return parse(text, "mine.toml", changes)


def test_a_copy_has_what_the_other_says_but_what_it_says_itself():
    left, middle, right = read().content.body
    assert (left.mass, middle.mass, right.mass) == (150.0, 150.0, 50.0)
    assert [body.feature[0].radius for body in (left, middle, right)] == [0.01, 0.01, 0.005]
    assert [body.position for body in (left, middle, right)] == [None, [1.6, 0, 0], [3.2, 0, 0]]
    assert right.inertia == left.inertia and right.surface == left.surface


def test_what_is_written_out_is_complete_and_the_same():
    scenario = read()
    text = scenario.text()
    assert "like" not in text and parse(text, "again.toml").text() == text
    assert parse(text, "again.toml").dispersions == scenario.dispersions


def test_a_copy_is_made_before_keys_are_set():
    assert [body.mass for body in read(changes={"body.left.mass": 7}).content.body] == [7.0, 150.0, 50.0]


def test_one_draw_serves_what_is_copied():
    mass, rate, stiffness = (
        next(one for one in read().dispersions if one.keys[0].endswith(word))
        for word in ("mass", "rate.0", "stiffness")
    )
    assert mass.keys == ("body.left.mass", "body.middle.mass") and mass.nominal == (150.0, 150.0)
    assert stiffness.keys == ("contact_law.steel.normal.stiffness",)
    assert len(rate.keys) == 9 and rate.size == 2
    values = rate.values(np.random.default_rng(3).uniform(size=(7, 2))).reshape(7, 3, 3)
    assert np.array_equal(values[:, 0], values[:, 1]) and np.array_equal(values[:, 0], values[:, 2])
    assert np.ptp(values[:, 0], axis=0).min() > 0


def test_keys_of_one_table_share_a_draw_and_must_have_one_unit():
    part = (
        '[dispersion.both]\nkeys = ["body.left.mass", "body.right.mass"]\ndistribution = "uniform"\nlow = 1\nhigh = 2\n'
    )
    plain = TEXT.replace('{ distribution = "uniform", low = "100 kg", high = "200 kg" }', '"3 kg"')
    (both,) = [one for one in read(plain + part).dispersions if one.table == "both"]
    assert both.nominal == (3.0, 50.0) and both.size == 1
    assert np.array_equal(*both.values(np.linspace(0.1, 0.9, 5)[:, None]).T)
    with pytest.raises(
        dockdyn.ScenarioError, match=r"dispersion\.both: one draw serves keys of one unit; .*in kg, .*in N"
    ):
        read(plain + part.replace("body.right.mass", "contact_law.steel.normal.damping"))


WRONG = [
    ("inertia = [10, 20, 20]", "inertia = [10, -20, 20]", r"body\.left\.inertia = \[10, -20, 20\]: .*"),
    ('radius = "10 mm"', 'radius = "10 mn"', r"body\.left\.feature\.tip\.radius = '10 mn': .*"),
    (
        'like = "left"',
        'like = "lift"',
        r"body\.middle\.like = 'lift': there is no \[body\.lift\]; did you mean 'left'\?",
    ),
    ('like = "left"', 'like = "right"', r"body\.\w+\.like: tables are like each other in a circle \(.*\)"),
    ('like = "left"', "like = 3", r"body\.middle\.like = 3: must be the name of a table beside it"),
    ('like = "left"', 'like = "a.b"', r"body\.middle\.like = 'a\.b': must be of 1 names at most"),
    ("[campaign]", '[campaign]\nlike = "x"', r"campaign\.like: unknown key; .*"),
    (
        'like = "first"',
        'like = "first"\nlaw = "wood"',
        r"contact\.second\.law = 'wood': no such \[contact_law\.NAME\]; .*",
    ),
    ('law = "steel"', 'law = "stel"', r"contact\.first\.law = 'stel': no such .*; did you mean 'steel'\?"),
    (
        'law = "steel"',
        'law = "steel"\nnormal.damping = 3',
        r"contact\.first: normal\.damping: is what \[contact_law\.steel\] says; must be set there, .*",
    ),
    (
        'law = "steel"',
        'law = "steel"\nimpact = { law = "frictionless", restitution = 1 }',
        r"contact\.first: has contact_law\.steel\.normal and contact\.first\.impact; .*not both",
    ),
]


@pytest.mark.parametrize(("said", "instead", "words"), WRONG, ids=[instead for _, instead, _ in WRONG])
def test_what_is_wrong_is_said_of_the_key_that_the_file_states(said, instead, words):
    assert said in TEXT
    with pytest.raises(dockdyn.ScenarioError, match=f"^mine.toml: {words}$"):
        read(TEXT.replace(said, instead))


def test_an_error_of_a_copied_key_names_where_it_stands():
    """What a copy states itself is told of the copy, what it was given of the table that says it."""
    text = TEXT.replace("[body.middle]", "[body.middle]\nmotion = 1")
    with pytest.raises(dockdyn.ScenarioError, match=r"body\.middle\.motion: unknown key"):
        read(text)
    law = TEXT.replace('between = ["left.tip", "middle.back"]\nlaw = "steel"', 'law = "steel"\nbetween = ["left.tip"]')
    law = law.replace('like = "first"\nbetween = ["middle.tip", "right.back"]', 'like = "first"')
    with pytest.raises(
        dockdyn.ScenarioError, match=r"contact\.first\.between = \['left\.tip'\]: must have 2 entries, has 1"
    ):
        read(law)


def test_an_attitude_in_another_form_replaces_that_of_the_other():
    turned = TEXT.replace(
        "inertia = [10, 20, 20]", 'inertia = [10, 20, 20]\nattitude = { axis = [0, 0, 1], angle = "1 deg" }'
    )
    own = 'attitude = { euler = ["2 deg", 0, 0], order = "zyx" }'
    left, middle, _ = read(turned.replace('like = "left"', f'like = "left"\n{own}')).content.body
    assert left.attitude.angle == pytest.approx(np.radians(1.0)) and middle.attitude.order == "zyx"


def test_like_cannot_be_set():
    with pytest.raises(dockdyn.ScenarioError, match=r"body\.middle\.like = 'right': cannot be set; must stand in a"):
        read(changes={"body.middle.like": "right"})


def test_what_another_body_carries_is_copied_by_both_names():
    text = TEXT.replace(
        '[body.middle]\nlike = "left"',
        '[body.middle]\nmass = 1\ninertia = [1, 1, 1]\nfeature.tip.like = "left.tip"\nsurface.back.like = "left.back"',
    )
    left, middle, _ = read(text).content.body
    assert middle.feature == left.feature and middle.surface == left.surface and middle.mass == 1.0


def tables_at_random(chance, count):
    """Tables by name, each with some keys of its own, some tables inside, and like an earlier one or none."""
    found = {}
    for number in range(count):
        own = {key: int(chance.integers(9)) for key in "abcd" if chance.random() < 0.5}
        own["inner"] = {key: int(chance.integers(9)) for key in "xy" if chance.random() < 0.5}
        if number and chance.random() < 0.7:
            own["like"] = f"t{chance.integers(number)}"
        found[f"t{number}"] = own
    return found


@pytest.mark.parametrize("seed", range(20))
def test_copies_of_copies_are_what_one_after_another_gives(seed):
    """Beside filling them in the order in which they stand, in whichever order the file has them; origins tell who says it."""
    chance = np.random.default_rng(seed)
    tables = tables_at_random(chance, 8)
    filled, said = {}, {}
    for name, own in tables.items():
        from_ = own.get("like")
        base, where = (filled[from_], said[from_]) if from_ else ({"inner": {}}, {})
        inner = base.get("inner", {}) | own["inner"]
        filled[name] = base | {key: value for key, value in own.items() if key != "like"} | {"inner": inner}
        mine = {key: name for key in own if key not in ("like", "inner")} | {
            f"inner.{key}": name for key in own["inner"]
        }
        said[name] = where | mine
    shuffled = [*tables]
    chance.shuffle(shuffled)
    data, copies = with_copies({"t": {name: tables[name] for name in shuffled}}, "random", lambda path: path == ("t",))
    assert data["t"] == filled
    for name, keys in said.items():
        for key, where in keys.items():
            assert copies.origin_of(f"t.{name}.{key}") == f"t.{where}.{key}"


@pytest.mark.full
@pytest.mark.parametrize("motion", ["space", "line"])
def test_a_shared_law_is_the_law_of_each(motion):
    """The same bits as with the laws stated by each contact; its derivative is the sum of theirs."""
    if motion == "space":
        drawn = re.compile(r"rate = .*\n|\{ distribution = \"uniform\", low = (.*?), .*? \}")
        text = drawn.sub(lambda found: found[1] or "", TEXT).replace("position = [1.6", "position = [1.02")
        text = text.replace("position = [3.2", "position = [2.04")
    else:
        text = """
schema = 2
duration = "3 s"
motion = "line"
body.left = { mass = 100 }
body.middle = { mass = 150, position = 0.1 }
body.right = { mass = 50, position = 0.2, velocity = -0.2 }
contact_law.steel.normal = { law = "spring-dashpot", stiffness = "8 kN/m", damping = "400 N s/m" }
contact.first = { between = ["left", "middle"], law = "steel" }
contact.second = { between = ["middle", "right"], law = "steel" }
"""
    shared = read(text)
    tables = tomllib.loads(shared.text())
    laws = tables.pop("contact_law")["steel"]
    for contact in tables["contact"].values():
        del contact["law"]
        contact |= laws
    alone = parse(tomlkit.dumps(tables), "alone.toml")
    runs = [dockdyn.simulate(one) for one in (shared, alone)]
    assert len(runs[0].episode_onset) >= 2
    for name in ("position", "velocity", "contact_force"):
        assert np.array_equal(*(run[name].values for run in runs))

    def stiffnesses(content):
        return sum(group.law.stiffness**2 for group in content.model().groups)

    slopes = [jax.grad(stiffnesses)(one.content) for one in (shared, alone)]
    assert slopes[0].contact_law[0].normal.stiffness == sum(one.normal.stiffness for one in slopes[1].contact)

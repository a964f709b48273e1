"""A distribution of the user's own, one file beside the scenario: drawn, written back, in campaigns, refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import dockdyn
from dockdyn.scenario.language.own_code import OwnCodeError
from dockdyn.scenario.load import parse, refuse_own_code
from dockdyn.studies.cases.sampling import sample

MODULE = '''
from typing import Literal

import dockdyn
import equinox as eqx
import numpy as np
from dockdyn import parameter
from jaxtyping import Array, Float


class Triangular(dockdyn.Distribution):
    """A density that rises to a mode and falls again."""

    low: float = parameter("{key}", "a value")
    mode: float = parameter("{key}", "a value")
    high: float = parameter("{key}", "a value")

    def __check_init__(self):
        if not self.low < self.mode < self.high:
            raise ValueError("low, mode and high must follow one another")

    def inverse(self, cube):
        whole, left, right = self.high - self.low, self.mode - self.low, self.high - self.mode
        below, above = self.low + np.sqrt(cube * whole * left), self.high - np.sqrt((1 - cube) * whole * right)
        return np.where(cube < left / whole, below, above)

    def nominal(self):
        return self.mode


class Decay(dockdyn.Distribution):
    """Exponential, from `start_at` on, by a rate per unit of the key, or as many times slower."""

    rate: float = parameter("1/{key}", "a rate", above=0)
    start_at: float = parameter("{key}", "a value", default=0.0)
    slower: float = parameter("", "a factor", least=1, default=1.0)
    side: Literal["up", "down"] = eqx.field(static=True, default="up")

    def inverse(self, cube):
        away = -np.log1p(-cube) * self.slower / self.rate
        return self.start_at + (away if self.side == "up" else -away)

    def nominal(self):
        return self.start_at + np.log(2) / self.rate


class Ring(dockdyn.Distribution):
    """Two numbers, uniform over the area between two circles."""

    radii: Float[Array, "2"] = parameter("{key}", "a radius", least=0)

    def inverse(self, cube):
        inner, outer = self.radii**2
        away, around = np.sqrt(inner + (outer - inner) * cube[:, 0]), 2 * np.pi * cube[:, 1]
        return np.stack([away * np.cos(around), away * np.sin(around)], axis=1)

    def nominal(self):
        return [np.mean(self.radii), 0.0]

    def count(self):
        return 2


class Flat(Triangular):
    def inverse(self, cube):
        return cube[:, 0]


class Endless(Triangular):
    def inverse(self, cube):
        return np.where(cube > 0.99, np.inf, self.mode)


class Sudden(Triangular):
    def inverse(self, cube):
        return np.where(len(cube) > 3, np.nan, cube)


class Faulty(Triangular):
    def nominal(self):
        return 1 / 0


class Half(dockdyn.Distribution):
    def nominal(self):
        return 0.0


class Named(Triangular):
    size: float = parameter("", "a size")
'''
SPEED = "approach.closing_speed"
LAW = {"distribution": "own_spread:Triangular", "low": "5 cm/s", "mode": 0.06, "high": "0.1 m/s"}
TRIANGLE = stats.triang(0.2, 0.05, 0.05)


@pytest.fixture
def folder(own_files):
    return own_files({"own_spread.py": MODULE})


def speed(**law):
    return dockdyn.load("probe-cone", {SPEED: LAW | law})


def drawn(scenario, runs=4000):
    return sample(scenario, runs, 1, "random").values


def test_what_is_drawn_follows_the_closed_form(folder):
    scenario = speed()
    values = drawn(scenario)[:, 0]
    assert stats.kstest(values, TRIANGLE.cdf).pvalue > 1e-3
    shares = np.linspace(0.01, 0.99, 33)
    assert_allclose(scenario.dispersions[0].values(shares[:, None])[:, 0], TRIANGLE.ppf(shares), rtol=1e-14)
    assert_allclose(drawn(speed(low=0.05, mode="6 cm/s", high="10 cm/s"))[:, 0], values, rtol=1e-14)
    assert scenario.content.approach.closing_speed == 0.06
    assert speed(nominal="7 cm/s").content.approach.closing_speed == 0.07


def test_units_words_and_defaults(folder):
    law = {"distribution": "own_spread:Decay", "rate": "0.5 / deg"}
    rolled = dockdyn.load("probe-cone", {"approach.roll": law})
    assert stats.kstest(drawn(rolled)[:, 0], stats.expon(scale=math.radians(2)).cdf).pvalue > 1e-3
    slow = dockdyn.load("probe-cone", {"approach.roll": law | {"slower": 3, "side": "down", "start_at": "1 deg"}})
    assert_allclose(drawn(slow), math.radians(1) - 3 * drawn(rolled), rtol=1e-12)
    mass = dockdyn.load("probe-cone", {"body.chaser.mass": law | {"start_at": "1800 kg", "rate": "0.01 / kg"}})
    assert stats.kstest(drawn(mass)[:, 0], stats.expon(1800, 100).cdf).pvalue > 1e-3
    factor = dockdyn.load("probe-cone", {"contact.probe.friction.coefficient": law | {"rate": 5}})
    assert stats.kstest(drawn(factor)[:, 0], stats.expon(scale=0.2).cdf).pvalue > 1e-3


def test_several_numbers_together(folder):
    ring = {"distribution": "own_spread:Ring", "radii": ["1 deg", "3 deg"]}
    table = {"keys": ["approach.pitch", "approach.yaw"], **ring}
    scenario = dockdyn.load("probe-cone", {"dispersion": {"ring": table}})
    values = drawn(scenario)
    area = np.sum(values**2, axis=1) / math.radians(1) ** 2
    assert stats.kstest(area, stats.uniform(1, 8).cdf).pvalue > 1e-3
    assert stats.kstest(np.arctan2(*values.T), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3
    inline = dockdyn.load("probe-cone", {"approach.lateral_offset": ring | {"radii": ["1 cm", 0.03]}})
    assert inline.content.approach.lateral_offset == [0.02, 0.0]


def test_a_scenario_written_back_is_the_same(folder):
    ring = {"distribution": "own_spread:Ring", "radii": ["1 cm", 0.03]}
    roll = {"distribution": "own_spread:Decay", "rate": "0.5 / deg", "side": "down", "nominal": "2 deg"}
    law = {SPEED: LAW, "approach.lateral_offset": ring, "approach.roll": roll}
    scenario = dockdyn.load("probe-cone", law)
    again = parse(scenario.text(), scenario.name)
    assert again == scenario and again.text() == scenario.text()
    assert_array_equal(drawn(again, 50), drawn(scenario, 50))
    changed = dockdyn.load("probe-cone", law | {f"{SPEED}.high": "20 cm/s"})
    assert drawn(changed)[:, 0].max() > 0.15
    (folder / "mine.toml").write_text(scenario.text())
    assert_array_equal(drawn(dockdyn.load("mine.toml"), 50), drawn(scenario, 50))


REFUSED = [
    ({"distribution": "own_spread:Nothing"}, ".distribution = 'own_spread:Nothing': cannot import"),
    ({"distribution": "nowhere:Nothing"}, ".distribution = 'nowhere:Nothing': cannot import"),
    ({"distribution": "pathlib:Path"}, "pathlib:Path must be a subclass of dockdyn.Distribution"),
    ({"distribution": "own_spread:Half"}, "own_spread:Half must define inverse"),
    ({"distribution": "own_spread:Named"}, "own_spread:Named has a field 'size', a name that is taken"),
    ({"lwo": 0.1}, ".lwo: unknown key; did you mean 'low'?"),
    ({"low": "nothing"}, ".low = 'nothing': must be a value"),
    ({"mode": "60 g"}, ".mode = '60 g': must be a value in m/s"),
    ({"low": 0.2}, ": own_spread:Triangular: low, mode and high must follow one another"),
    ({"nominal": "3 deg"}, ".nominal = '3 deg': must be a speed in m/s"),
    ({"distribution": "own_spread:Flat"}, ": own_spread:Flat: inverse gives numbers of shape (3,); must be (3, 1)"),
    ({"distribution": "own_spread:Endless"}, ": own_spread:Endless: inverse gives numbers that are not finite"),
    ({"distribution": "own_spread:Faulty"}, ": own_spread:Faulty: nominal: ZeroDivisionError: division by zero"),
]


@pytest.mark.parametrize(("law", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_is_one_line(folder, law, says):
    with pytest.raises(dockdyn.ScenarioError) as refused:
        speed(**law)
    assert str(refused.value).startswith(f"probe-cone: {SPEED}") and says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("law", "says"),
    [
        ({}, "approach.roll.rate: missing"),
        ({"rate": "-1 / rad"}, "approach.roll.rate = '-1 / rad': must be a rate greater than 0"),
        ({"rate": "1 kg"}, "approach.roll.rate = '1 kg': must be a rate greater than 0 1/(rad)"),
        ({"rate": 1.0, "slower": 0.5}, "approach.roll.slower = 0.5: must be a factor of at least 1"),
        ({"rate": 1.0, "side": "left"}, "approach.roll.side = 'left': must be 'up' or 'down'"),
    ],
)
def test_fields_are_checked(folder, law, says):
    with pytest.raises(dockdyn.ScenarioError, match=r"probe-cone: approach\.roll") as refused:
        dockdyn.load("probe-cone", {"approach.roll": {"distribution": "own_spread:Decay"} | law})
    assert says in str(refused.value)


def test_its_place_and_its_keys_are_checked(folder):
    ring = {"distribution": "own_spread:Ring", "radii": [1, 2]}
    with pytest.raises(dockdyn.ScenarioError, match=r"closing_speed: a own_spread:Ring stands for 2 numbers"):
        dockdyn.load("probe-cone", {SPEED: ring})
    table = {"keys": ["approach.pitch", "body.chaser.mass"], **ring}
    with pytest.raises(dockdyn.ScenarioError, match=r"own_spread:Ring needs keys of one unit; these are"):
        dockdyn.load("probe-cone", {"dispersion": {"ring": table}})
    with pytest.raises(
        dockdyn.ScenarioError, match=rf"probe-cone: {SPEED}: own_spread:Sudden: inverse gives .* finite"
    ):
        drawn(speed(distribution="own_spread:Sudden"))


def test_no_module_runs_where_own_code_is_refused(folder, dock):
    text = speed().text()
    with pytest.raises(OwnCodeError, match=rf"{SPEED}.distribution = 'own_spread:Triangular': .*is code of its own"):
        refuse_own_code(text, "mine.toml")
    (folder / "mine.toml").write_text(text.replace("[contact.probe.normal]", "[contact.probe.normal]\nunknown = 1\n"))
    with pytest.raises(OwnCodeError, match=SPEED):  # also in a file that is wrong otherwise
        refuse_own_code((folder / "mine.toml").read_text(), "mine.toml")
    (folder / "mine.toml").write_text(text)
    code, _, err = dock("run", "mine.toml", "--no-own-code")
    assert code == 2 and "is code of its own, which is refused" in err and len(err.splitlines()) == 1


@pytest.mark.full
def test_a_campaign_and_what_it_goes_on_with(folder, dock):
    """Cases follow the closed form, the report names the distribution, and another module is another campaign."""
    law = '{distribution="own_spread:Triangular", low="5 cm/s", mode="6 cm/s", high="10 cm/s"}'
    arguments = ("campaign", "run", "probe-cone", "--set", f"{SPEED}={law}", "--set", "duration=1 s", "--set")
    arguments += ("campaign.sampling=sobol", "--runs", "64", "--out", "many", "--json")
    code, out, err = dock(*arguments)
    assert code == 0, err
    assert (json.loads(out)["runs"], json.loads(out)["failed"]) == (64, 0)
    values = cases_of(folder / "many")
    assert_allclose(values.mean(), TRIANGLE.mean(), rtol=1e-3)  # of 64 Sobol points
    assert_allclose(values.std(), TRIANGLE.std(), rtol=2e-2)
    page = (folder / "many/campaign-report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    assert "own_spread:Triangular, low 0.05 m/s, mode 0.06 m/s, high 0.1 m/s" in page
    assert dock(*arguments, "--resume").returncode == 0
    assert dock("campaign", "rerun", "many", "3", "--no-own-code").returncode == 2
    assert dock("campaign", "rerun", "many", "3").returncode == 0
    (folder / "own_spread.py").write_text(MODULE + "# changed\n")
    code, _, err = dock(*arguments, "--resume")
    assert code == 2 and "module own_spread has changed" in err


def cases_of(folder):
    """The closing speeds of all cases of a campaign."""
    from dockdyn.studies.campaign.store import Store

    store = Store(folder)
    return store.read(store.campaign())[SPEED].values

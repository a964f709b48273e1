"""A compensator of the user's own, one file beside the scenario: run, compared, tuned, dispersed, kept out of margins."""

import html
import json

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn import open_result
from dockdyn.pages import report_of
from dockdyn.report.verdict import sort_of

MODULE = '''
from typing import ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float
from dockdyn import parameter
from dockdyn.hil.compensators.compensator import Compensation, Compensator
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.velocity_sources import VelocitySource


class Damper(Compensator):
    """A gain on a velocity of the table's choice, with a tuning of its own."""

    knows: ClassVar[str] = "the contact's stiffness"
    steady_gain: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    velocity: VelocitySource
    gain: float = parameter("N*s/m", "a gain", least=0, tuned=True)
    sign: Literal["damps", "drives"] = eqx.field(static=True, default="damps")

    def init(self, position, velocity):
        return self.velocity.init(position, velocity)

    def factor(self):
        return self.gain if self.sign == "damps" else -self.gain

    def small(self):
        return LinearCompensator.of(self.velocity, gain=self.factor())

    def tune(self, problem):
        (gain,) = problem.solve(
            lambda gain: LinearCompensator.of(self.velocity, gain=gain), (problem.stiffness * problem.lag,), "gain"
        )
        return {"gain": gain}

    def step(self, memory, seen):
        memory, velocity = self.velocity.step(memory, seen)
        gain = jnp.where(seen.touching, self.factor(), 0.0)
        return memory, Compensation.nothing(seen.force.size)._replace(gain=gain, velocity=velocity)

    @property
    def source(self):
        return self.velocity.source


class Seer(Damper):
    """The same, which no rig could have."""

    oracle: ClassVar[bool] = True
    in_margins: ClassVar[bool] = False
    steady_gain: ClassVar[bool] = False


class Pair(Damper):
    """The sum of two gains."""

    gains: Float[Array, "2"] = parameter("N*s/m", "a gain", default=(50.0, 40.0))

    def factor(self):
        return self.gain + sum(self.gains)


class Stubborn(Compensator):
    """A lead that nothing finds."""

    lead: float = parameter("s", "a time", tuned=True)

    def init(self, position, velocity):
        return ()

    def step(self, memory, seen):
        return memory, Compensation.nothing(seen.force.size)._replace(lead=self.lead)
'''
DAMPER, SEER = "own_law:Damper", "own_law:Seer"
SHORT = {"duration": "1 s"}


@pytest.fixture
def folder(own_files):
    return own_files({"own_law.py": MODULE})


def rig(**law):
    return dockdyn.load("sits", SHORT | {"loop.compensator": law, "compare": {}})


@pytest.mark.full
def test_it_is_what_the_built_in_law_of_the_same_formula_is(folder):
    """The built-in fixed gain, written again by a user: the same run, tuned the same, the same margins."""
    same = {"velocity": "model", "period": "2 ms"}
    own, built_in = (rig(law=law, **same) for law in (DAMPER, "fixed-gain"))
    found, expected = (dockdyn.summarise(dockdyn.simulate(each)) for each in (own, built_in))
    different = {"compensator", "recommendation", "wall_time_s"}
    assert {key for key, value in found.items() if value != expected[key]} <= different
    assert found["compensator"] == DAMPER and found["spectral_radius"] != 1.0
    margins, wanted = dockdyn.margins(own), dockdyn.margins(built_in)
    assert margins["stable"] == wanted["stable"] and margins["rightmost_roots"] == wanted["rightmost_roots"]
    assert f"compensator ({DAMPER})" in margins["counted"]


@pytest.mark.full
def test_it_is_tuned_and_what_it_does_to_small_motions_is_known(folder):
    """The matched gain leaves the decay of the contact alone, B/2m, in the map of the run over a hold of 4 ms."""
    found = dockdyn.summarise(dockdyn.simulate(rig(law=DAMPER, velocity="model", period="2 ms")))
    assert found["compensator"] == DAMPER
    assert np.log(found["spectral_radius"]) / 4e-3 == pytest.approx(-50 / (2 * 500), rel=1e-6)


def test_its_table_is_checked_and_written_again(folder):
    scenario = rig(law=DAMPER, gain="90 N s/m", velocity="model", sign="drives")
    (file := folder / "again.toml").write_text(scenario_text(scenario))
    law = dockdyn.load(file).content.loop.compensator
    assert (law.gain, law.velocity, law.sign) == (90.0, "model", "drives")
    for wrong, says in (
        ({"gain": "90 N"}, "loop.compensator.gain = '90 N': must be a gain"),
        ({"gain": -1.0}, "loop.compensator.gain = -1.0: must be a gain of at least 0 N*s/m"),
        ({"gian": 1.0}, f"loop.compensator: {DAMPER} has no field 'gian'; its fields: period, velocity"),
        ({"sign": "both"}, "loop.compensator.sign"),
        ({"velocity": "target"}, "loop.compensator.velocity"),
    ):
        with refused(says):
            rig(law=DAMPER, **wrong)
    for law, says in (
        ("own_law:Missing", "cannot import"),
        ("pathlib:Path", r"must be a subclass of dockdyn\.Compensator"),
    ):
        with pytest.raises(dockdyn.ScenarioError, match=says):
            rig(law=law)


def test_a_law_without_a_rule_asks_for_its_numbers(folder):
    with pytest.raises(
        dockdyn.ScenarioError, match=r"own_law:Stubborn: has no rule that finds its numbers; state lead"
    ):
        dockdyn.simulate(rig(law="own_law:Stubborn"))


def test_no_module_runs_where_own_code_is_refused(folder, dock):
    code, _, err = dock("run", "sits", "--no-own-code", "--set", f'loop.compensator={{law="{DAMPER}"}}')
    assert code == 2 and "is code of its own, which is refused" in err and len(err.splitlines()) == 1


@pytest.mark.full
def test_compared_and_reported(folder, dock):
    (folder / "rig.toml").write_text(
        scenario_text(
            dockdyn.load("sits", SHORT | {"compare": {"damper": {"law": DAMPER}, "seer": {"law": SEER, "gain": 50.0}}})
        )
    )
    stiffness = ("--set", "contact.spring.normal.stiffness=[9e3, 2e4]")
    code, out, err = dock("compare", "rig.toml", *stiffness, "--json", "--compensators", f"none,{DAMPER},{SEER}")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert set(answer["settings"]) == {"none", DAMPER, SEER} and answer["settings"][SEER]["gain"] == 50.0
    assert set(answer["worst_error"]) == {"none", DAMPER}  # not what no rig can have
    code, out, err = dock("compare", "rig.toml", *stiffness, "--compensators", f"{SEER},fixed-gain", "--out", "found")
    assert (code, err) == (0, "") and f"{SEER} sees the motion without rig" in out
    compared = open_result(folder / "found/compare.nc")
    assert sort_of(report_of(compared)) == "ok"  # what is never recommended is no doubt of what is
    told = json.loads(compared.attrs["laws"])
    assert told[SEER]["oracle"] and not told["fixed-gain"]["oracle"]
    page = (folder / "found/report.html").read_text(encoding="utf-8")
    assert "gain 50.000 N s/m" in page
    assert dock("compare", "rig.toml", "--compensators", "own_law:Other", "--json")[0] == 2
    code, out, err = dock("run", "rig.toml", "--set", f'loop.compensator={{law="{DAMPER}"}}', "--out", "run")
    assert (code, err) == (0, "")
    assert "the contact's stiffness" in html.unescape((folder / "run/report.html").read_text(encoding="utf-8"))


@pytest.mark.full
def test_its_numbers_are_dispersed(folder, dock):
    spread = '{ distribution = "uniform", low = "80 N s/m", high = "90 N s/m" }'
    law = f'loop.compensator={{ law = "{DAMPER}", gain = {spread} }}'
    changes = ("--set", law, "--set", "duration=1 s", "--set", "compare=[]")
    code, out, err = dock("campaign", "run", "sits", *changes, "--runs", "3", "--out", "many", "--json")
    assert code == 0, err
    assert (json.loads(out)["runs"], json.loads(out)["failed"]) == (3, 0)


def scenario_text(scenario):
    import tomlkit

    return tomlkit.dumps(scenario.resolved())


def test_a_list_of_numbers_is_run_and_reported(folder):
    """Beside a gain of 1 N s/m in another unit; they do what a built-in gain of their sum does."""
    run = dockdyn.simulate(rig(law="own_law:Pair", gain="1000 N*ms/m", gains=["50 N*s/m", 40.0], velocity="model"))
    same = dockdyn.simulate(rig(law="fixed-gain", gain=91.0, velocity="model"))
    np.testing.assert_allclose(run.velocity, same.velocity, rtol=1e-12)
    assert "gain 1.0000 N s/m, gains (50.000, 40.000) N s/m" in json.dumps(report_of(run).blocks, default=str)

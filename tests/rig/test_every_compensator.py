"""Every compensator on rigs of every mode, its numbers stated or tuned, from the command line: run, report, verdict."""

import json
from itertools import product

import numpy as np
import pytest
import tomlkit
from helpers.line_rig import line_rig

import dockdyn
from dockdyn import open_result
from dockdyn.hil.compensators import COMPENSATORS, VELOCITIES
from dockdyn.pages import report_of
from dockdyn.scenario.tables.rig.compensators import laws

STATED = {  # numbers that a user may state, of the right size for 20 kN/m
    "gain": "90 N*s/m",
    "slope": 0.05,
    "switch_time": "0.2 s",
    "inertia": "0.3 kg",
    "lead": "5 ms",
    "second_lead": "2e-5 s**2",
}
CONTACT = {"normal": {"law": "spring-dashpot", "stiffness": "20 kN/m", "damping": "50 N*s/m"}}
LOOP = {
    "hold": {"period": "4 ms"},
    "sensor": {"delay": "2 ms"},
    "robot": {"poles": [[-180, 90], [-180, -90]], "gain": 40500},
}
DIGITAL = {"method": "half-period", "period": "4 ms"}
INERTIA = [300.0, 400.0, 500.0]
WHOLE = {"position": [0.30005, 0.0, 0.0], "velocity": [-0.05, 0.0, 0.0]}


def rig_in(motion: str) -> dict:
    """A rig that begins to touch within 2 ms, without a compensator."""
    head = {"schema": 2, "duration": "0.5 s"}
    if motion == "line":
        return line_rig(500.0, CONTACT["normal"], 0.05, -1e-4) | head | {"loop": dict(LOOP)}
    wall = {"shape": "plane", "point": [0.2, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    tip = {"position": [-0.085, 0.0, 0.0], "radius": 0.015}
    chaser = {"mass": 1000.0, "inertia": INERTIA, **WHOLE, "feature": {"tip": tip}}
    target = {"mass": 1000.0, "inertia": INERTIA, "surface": {"wall": wall}}
    touch = {"contact": {"tip": {"between": ["tip", "wall"], **CONTACT}}, "loop": dict(LOOP)}
    bodies = {name: {**body} for name, body in (("chaser", chaser), ("target", target))}
    return head | {"rig": {"carries": "chaser", "against": "target"}, "body": bodies, **touch}


CASES = list(product(COMPENSATORS, ("line", "space"), (True, False)))
QUICK = ("velocity-acceleration", "line", False)


@pytest.mark.parametrize(
    ("law", "motion", "stated"),
    [pytest.param(*case, marks=() if case == QUICK else pytest.mark.full) for case in CASES],
    ids=lambda value: {True: "stated", False: "tuned"}.get(value, value),
)
def test_it_runs_and_is_reported(dock, tmp_path, law, motion, stated):
    """Velocity, form, period and dynamics are drawn; what was set is read again from the result as it was."""
    rng = np.random.default_rng(CASES.index((law, motion, stated)))
    section = laws()[law](law=law)
    table = {"law": law} | ({name: STATED[name] for name in section.tuned()} if stated else {})
    if "velocity" in type(section).model_fields:
        table |= {"velocity": str(rng.choice(list(VELOCITIES)))}
    tables = rig_in(motion)
    if digital := bool(rng.integers(2)):
        tables["loop"]["dynamics"] = DIGITAL
    elif rng.integers(2):
        table["period"] = "2 ms"
    tables["loop"]["compensator"] = table
    (tmp_path / "rig.toml").write_text(tomlkit.dumps(tables))
    ended = dock("run", "rig.toml", "--quiet")
    said = [line for line in ended.stderr.splitlines() if "goes on after" not in line]  # on a busy machine
    assert (ended.returncode, said) == (0, []), (digital, table, said)
    run = open_result(next(tmp_path.glob("**/*.nc")))
    kept = laws()[law].model_validate(json.loads(run.attrs["compensator_settings"]))
    wanted = laws()[law].model_validate(table)
    for name in type(wanted).model_fields:
        asked = getattr(wanted, name)
        assert getattr(kept, name) == asked if asked is not None else np.isfinite(getattr(kept, name) or 0.0)
    assert np.isfinite(dockdyn.summarise(run)["delay_total_ms"])
    assert law in json.dumps(report_of(run).terminal, default=str)


@pytest.mark.full
@pytest.mark.parametrize(("lag", "stable"), [(1.0, False), pytest.param(5e-3, True, marks=pytest.mark.full)])
def test_the_verdict_on_a_gain_knows_how_late_the_velocity_is_that_it_multiplies(lag, stable):
    """Above 91 N s/m the robot's own velocity damps this swing; behind a lag of a second it hardly does."""
    law = {"law": "fixed-gain", "gain": 110.0, "velocity": "filtered-difference", "filter_time": lag}
    run = dockdyn.simulate(dockdyn.load("sits", {"duration": "20 s", "loop.compensator": law, "compare": {}}))
    assert dockdyn.summarise(run)["gain_range_stable"]["exact"] == [stable, stable]
    speed, time = np.abs(run.velocity.values[:, 0]), run.time.values
    first, last = (
        speed[(time >= begin) & (time <= begin + 1)].max() for begin in (2, 19)
    )  # an oscillation takes 0.99 s
    assert (last < first) == stable

"""Margins of rigs with mechanisms: one body beside the rig along one direction, two probes in closed form, runs."""

import numpy as np
import pytest
from helpers.line_rig import line_rig
from helpers.refusals import refused

import dockdyn
from dockdyn.docking.resting import nominal_loop, nominal_of
from dockdyn.stability.growth import batch_of_one, loop_roots
from dockdyn.stability.loop import make_loop
from dockdyn.stability.transfer_function import TransferFunction
from dockdyn.studies.margins.answer import margins

LAGS = {"numerator": [1.0], "denominator": [4e-6, 2e-3, 1.0]}
STEPS = {"hold": {"period": 4e-3}, "dynamics": {"period": 4e-3}}
BALL = {"mass": 60.0, "inertia": [6.0] * 3, "position": [-0.6, 0, 0], "velocity": [0.1, 0, 0]}
FACE = {"shape": "plane", "point": [-0.2, 0, 0], "normal": [-1, 0, 0]}
PLATE = {"mass": 90.0, "inertia": [9.0, 12.0, 15.0], "position": [0, 0, 0], "surface": {"face": FACE}}
LAW = {"law": "spring-dashpot", "stiffness": 3000.0, "damping": 100.0}


def mounted(chain, noses=((0.3, 0.0, 0.0),), law=LAW, **tables):
    """Balls of a body against a plate, both mock-ups of a rig."""
    balls = {"positions": [list(nose) for nose in noses], "radius": 0.05}
    bodies = {"ball": BALL | {"feature": {"noses": balls}}, "plate": PLATE}
    contact = {"noses": {"between": ["noses", "face"], "normal": law}}
    head = {"schema": 2, "duration": 4.0, "rig": {"carries": "ball", "against": "plate"}}
    return head | {"body": bodies, "contact": contact, "loop": chain} | tables


def judged(scenario):
    """The loop of a scenario, as far as it sees."""
    return nominal_loop(scenario, nominal_of(scenario))[0]


@pytest.mark.full
@pytest.mark.parametrize(
    "chain",
    [
        pytest.param(
            {"delay": 2e-3, **STEPS, "robot": LAGS, "sensor": {"delay": 2e-3, "period": 2e-3, "averaging": 2e-3}},
            id="means",
        ),
        pytest.param(
            {"delay": 4e-3, **STEPS, "robot": LAGS, "compensator": {"law": "fixed-gain", "gain": 60.0}}, id="gain"
        ),
        pytest.param({"delay": 4e-3, **STEPS, "compensator": {"law": "command-lead", "lead": 0.012}}, id="lead"),
        pytest.param(
            {"delay": 2e-3, "hold": {"period": 4e-3, "applies_after": 2}, "robot": LAGS}, id="waiting, continuous"
        ),
    ],
)
def test_one_body_has_the_margins_of_a_rig_along_a_line(load, chain):
    """Two free bodies that meet head-on are a mass m₁ m₂/(m₁ + m₂): the roots of the loop are those of the other mode."""
    line = line_rig(60.0 * 90.0 / 150.0, LAW, 0.1, -0.05, loop=chain)
    own, expected = (batch_of_one(judged(load(case))) for case in (mounted(chain), line))
    roots, others = loop_roots(own, 4)[0], loop_roots(expected, 4)[0]
    assert np.abs(roots.imag) == pytest.approx(np.abs(others.imag), rel=1e-9, abs=1e-9)
    assert roots.real == pytest.approx(others.real, rel=1e-9, abs=1e-9 * np.abs(others).max())


@pytest.mark.full
def test_an_mechanism_with_the_same_loop_has_the_same_margins(load):
    """Of kind mechanism, where nothing is said of mock-ups, all contacts are measured; those of several pairs are refused."""
    chain = {"delay": 4e-3, **STEPS, "compensator": {"law": "command-lead", "lead": 0.012}}
    rig = mounted(chain)
    plain = {key: value for key, value in rig.items() if key != "rig"}
    own, other = (loop_roots(batch_of_one(judged(load(case))), 4)[0] for case in (plain, rig))
    assert own == pytest.approx(other, rel=1e-9, abs=1e-9)
    third = PLATE | {"position": [3.0, 0, 0], "surface": {"side": FACE}}
    plain |= {"body": plain["body"] | {"wall": third}}
    plain |= {"contact": plain["contact"] | {"side": {"between": ["noses", "side"], "normal": LAW}}}
    with refused(match=r"loop\.hold: contacts are between 2 pairs of bodies"):
        margins(load(plain))
    rig |= {"body": plain["body"], "contact": plain["contact"], "stability": {"time": 1.0, "closed": ["side"]}}
    with pytest.raises(dockdyn.ScenarioError, match=r"none is of the mock-ups; must have one of noses"):
        load(rig)


@pytest.mark.full
def test_two_probes_in_closed_form(load):
    """Two balls at ± a: they heave with m₁ m₂/(m₁ + m₂) on 2 k, and pitch with I₁ I₂/(I₁ + I₂)/a² on 2 k, each by itself."""
    arm = 0.25
    chain = {"delay": 2e-3, **STEPS, "robot": LAGS}
    both = judged(load(mounted(chain, [(0.3, arm, 0.0), (0.3, -arm, 0.0)])))
    assert both.behind.channels == 2 and both.behind.state.shape == (4, 4)
    robot = TransferFunction(LAGS["numerator"], LAGS["denominator"])
    found = []
    for mass in (60.0 * 90.0 / 150.0, 6.0 * 15.0 / 21.0 / arm**2):
        alone = make_loop(
            mass, 6000.0, 200.0, delay=2e-3, hold=4e-3, dynamics_period=4e-3, dynamics="zero-order-hold", robot=robot
        )
        found.append(loop_roots(batch_of_one(alone), 2)[0])
    expected = sorted(np.concatenate(found), key=lambda root: -root.real)
    roots = loop_roots(batch_of_one(both), 4)[0]
    assert roots.real == pytest.approx(np.real(expected), rel=1e-9)
    assert np.sort(np.abs(roots.imag)) == pytest.approx(np.sort(np.abs(np.imag(expected))), rel=1e-9)


def pressed(delay, **changes):
    """A ball on a mount, its carrier behind it, pressed on a plate by thrusters that leave the mount unloaded at rest."""
    stiffness, force, masses = 3000.0, 15.0, {"carrier": 300.0, "ball": 20.0, "plate": 90.0}
    deep = force / stiffness
    push = {name: mass * force / masses["plate"] for name, mass in masses.items()} | {"plate": 0.0}
    push["ball"] += force
    start = [-0.55 + 0.98 * deep, 0, 0]  # two hundredths of the depth aside
    nose = {"position": [0.3, 0, 0], "radius": 0.05}
    bodies = {
        "carrier": {"mass": masses["carrier"], "inertia": [60.0] * 3, "position": [-1.5, 0, 0]},
        "ball": {"mass": masses["ball"], "inertia": [2.0] * 3, "position": start, "feature": {"nose": nose}},
        "plate": PLATE,
    }
    thrusters = {
        f"on-{name}": {"body": name, "position": [0, 0, 0], "direction": [1, 0, 0], "force": push[name]}
        for name in ("carrier", "ball")
    }
    mount = {"between": ["ball", "carrier"], "position": [-0.3, 0, 0]}
    mount |= {"stiffness": [8000.0] * 3, "damping": [20.0] * 3}
    mount |= {"turning_stiffness": [700.0] * 3, "turning_damping": [20.0] * 3}
    law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": 40.0}
    chain = {"delay": delay, **STEPS, "robot": LAGS}
    case = mounted(chain, law=law, bushing={"mount": mount}, thruster=thrusters, duration=20.0)
    case["contact"]["noses"]["between"][0] = "nose"
    return case | {"body": bodies} | changes


def grown(run, low, high, period):
    """Growth rate (1/s) of the contact force about its mean, between whole periods (s) that begin at two times (s)."""
    time, force = run.time.values, np.linalg.norm(run.contact_force.values, axis=1)
    assert (force > 0).all()
    sizes = []
    for begin in (low, high):
        within = force[(time >= begin) & (time < begin + period)]
        sizes.append(np.std(within))
    return np.log(sizes[1] / sizes[0]) / (high - low)


@pytest.mark.full
def test_a_run_decays_and_grows_as_the_loop_says(load):
    """Just below and just above the delay at which the loop becomes unstable, and at the rates that its roots say."""
    answer = margins(load(pressed(6e-3)))
    critical = answer["critical_delay_s"]
    assert answer["stable"] and answer["closed_contacts"] == [] and answer["sensitivities"] == {}
    below, above = critical - 0.2e-3, critical + 0.2e-3
    for delay in (below, above):
        scenario = load(pressed(delay))
        root = loop_roots(batch_of_one(judged(scenario)), 2)[0][0]
        period = 2 * np.pi / abs(root.imag)
        found = grown(dockdyn.simulate(scenario), 8.0, 8.0 + round(10.0 / period) * period, period)
        assert np.sign(found) == np.sign(root.real) == (1 if delay == above else -1)
        assert found == pytest.approx(root.real, abs=0.02 * abs(root.real) + 1e-3)


def test_what_has_no_margins_is_refused_in_one_line(load):
    tool = {"mass": 1.0, "centre": [0, 0, 0], "inertia": [0.1, 0.1, 0.1]}
    averaging = {"delay": 2e-3, "period": 2e-3, "averaging": 2e-3, "threshold": 1.0}
    chain = {"delay": 2e-3, **STEPS, "robot": LAGS, "sensor": averaging, "tool": tool}
    with refused(match=r"loop\.tool: margins with it are along one normal"):
        margins(load(pressed(2e-3, loop=chain)))

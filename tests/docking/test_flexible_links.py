"""Flexible links of a mechanism: balances, links on them, a beam as a table, loads, the report, what is refused."""

import numpy as np
import pytest
from flexible_cases import HINGE, RATIO, ROOT, WINGED, cantilever, integral, restoring, textbook, with_flexible
from mechanism_cases import at, changed, energy_error, momentum_error, pressing, simulated
from plain_tables import by_name, listed
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.docking.data import flexible_names
from dockdyn.docking.key_figures import MECHANISM
from dockdyn.docking.run_warnings import mechanism_doubts
from dockdyn.pages import report_html
from dockdyn.report.wording import format_significant
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.cases.batch import run_cases

BOOM = {
    "name": "boom",
    "on": "bus",
    "mass": 8.0,
    "inertia": [6.0, 6.0, 0.4],
    "position": [0.0, 0.2, -2.0],
    "joint": {"kind": "locked", "position": [0.0, 0.0, -0.6]},
    "flexible": {
        "kind": "modes",
        "root": [0.0, -0.2, 1.4],
        "mode": {
            "across": {
                "frequency": "0.5 Hz",
                "damping_ratio": 0.005,
                "translation": [1.9, 0.0, 0.2],
                "rotation": [0.0, -3.4, -0.3],
            },
            "aside": {"frequency": 0.7, "modal_mass": 2.0, "translation": [0.0, 2.8, 0.0], "rotation": [4.6, 0.0, 0.3]},
        },
        "point": {
            "tip": {
                "position": [0.0, 0.0, -1.3],
                "shift": [[0.8, 0.0, 0.05], [0.0, 1.0, 0.0]],
                "turn": [[0.0, -0.4, 0.0], [0.5, 0.0, 0.02]],
            },
            "middle": {"position": [0.0, 0.0, 0.0], "shift": [[0.3, 0, 0]] * 2, "turn": [[0, -0.3, 0]] * 2},
        },
    },
}
CAMERA = {
    "on": "wing",
    "mass": 1.5,
    "inertia": [0.02, 0.03, 0.02],
    "position": [0.0, 3.0, 0.0],
    "joint": {"kind": "revolute", "position": [0.0, 2.8, 0.0], "axis": [1.0, 0.0, 0.2], "start_rate": 0.3},
}
STAY = {
    "between": ["boom", "ball"],
    "anchor": [[0.0, 0.0, -1.3], [0.0, 0.5, -0.1]],
    "stiffness": 6.0,
    "damping": 0.5,
    "moved_mass": 3.0,
}
JET = {"body": "wing", "position": [0.0, 2.0, 0.1], "direction": [0.3, 0.0, 1.0], "force": 0.04}
ROUGH = changed(
    WINGED,
    body={**WINGED["body"], "camera": CAMERA},
    contact={"tip": {"between": ["tip", "skin"], **pressing(900.0, 1.5, 0.2)}},
    loop={"delay": 0.02},
)
PAD = {"shape": "sphere", "centre": [0.0, 0.0, -1.3], "radius": 0.3}
VISITOR = {
    "name": "ball",
    "mass": 10.0,
    "inertia": [1.0, 1.0, 1.0],
    "position": [-0.6, 0.2, -3.3],
    "velocity": [1.6, 0.0, 0.0],
    "feature": {"nose": {"position": [0.0, 0.0, 0.0], "radius": 0.2}},
}
BOOMED = changed(
    WINGED,
    body={"bus": WINGED["body"]["bus"]} | by_name([BOOM | {"surface": {"pad": PAD}}, VISITOR]),
    contact={"nose": {"between": ["nose", "pad"], **pressing(900.0, 1.5, 0.2)}},
    strut={"stay": STAY},
)


@pytest.fixture(scope="module")
def rough(load):
    """A contact with friction and delay, and a hinge at the tip."""
    return simulated(load, ROUGH)


@pytest.fixture(scope="module")
def boomed(load):
    """A link by a table, with a surface and a strut that reflects inertia at its tip."""
    return simulated(load, BOOMED)


@pytest.mark.full
@pytest.mark.parametrize("case", ["rough", pytest.param("boomed", marks=pytest.mark.full)])
def test_momenta_and_energy(request, case):
    data = request.getfixturevalue(case)
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-9


@pytest.mark.parametrize("case", ["rough", pytest.param("boomed", marks=pytest.mark.full)])
def test_the_cases_are_worth_it(request, case):
    """The tip touches, all modes swing, and the flexible links hold energy for a while."""
    data = request.getfixturevalue(case)
    if case == "rough":
        assert list(data.mode.values) == ["wing bend1", "wing bend2", "wing side1", "wing twist1"]
        assert list(data.mode_unit.values) == ["m", "m", "m", "rad"]
        assert list(data.joint.values) == ["wing", "camera"]
    else:
        assert list(data.mode.values) == ["boom across", "boom aside"]
    assert float(data.episode_peak_force.max()) > 5.0
    assert (np.abs(data.modal_coordinate.values).max(axis=0) > 1e-3).all()
    assert (data.elastic_energy.values.max(axis=0) > 0.01).all()


def test_a_hinge_at_the_tip_stays_there(rough):
    """The camera's hinge is where the wing's section has moved to: as far from its root as the beam is shortened by bending."""
    turn = Rotation.from_quat(rough.attitude.sel(body="camera").values, scalar_first=True)
    hinge = rough.position.sel(body="camera").values + turn.apply([0.0, -0.2, 0.0])
    bus = Rotation.from_quat(rough.attitude.sel(body="bus").values, scalar_first=True)
    frame = bus * Rotation.from_rotvec(np.outer(rough.joint_angle.sel(joint="wing"), [0.0, 1.0, 0.0]))
    root = rough.position.sel(body="bus").values + bus.apply([0.0, 1.0, 0.0]) + frame.apply([0.1, 0.1, 0.2])
    seen = frame.inv().apply(hinge - root)
    share = 5.7 / 5.8
    (_, first, _), (_, second, _) = cantilever(2)
    along = [
        [integral(lambda x, f=f, g=g: f(share * x) * g(share * x)) for f in (first, second)] for g in (first, second)
    ]
    across = rough.modal_coordinate.sel(mode=["wing bend1", "wing bend2"]).values
    side = rough.modal_coordinate.sel(mode="wing side1").values
    steepness = np.einsum("ti,ij,tj->t", across, along, across) + along[0][0] * side**2
    np.testing.assert_allclose(seen[:, 1], 5.7 - share * steepness / (2 * 5.8), rtol=0, atol=1e-9)
    # near the tip a mode moves the beam by little less than its coordinate
    expected = across.sum(axis=1)
    assert np.abs(seen[:, 0] - expected).max() < 5 * (1 - share) * np.abs(rough.modal_coordinate.values[:, :2]).max()


@pytest.mark.full
def test_what_others_put_on_a_link_is_the_joint_and_the_contact(load):
    """By size, since the section with the port has axes of its own."""
    data = simulated(load, WINGED)
    bus = Rotation.from_quat(data.attitude.sel(body="bus").values, scalar_first=True)
    frame = bus * Rotation.from_rotvec(np.outer(data.joint_angle[:, 0], [0.0, 1.0, 0.0]))
    whole = frame.apply(data.joint_force[:, 0]) + data.contact_force[:, 0].values
    told = np.linalg.norm(data.load_force.sel(point="wing end"), axis=1)
    np.testing.assert_allclose(np.linalg.norm(whole, axis=1), told, rtol=0, atol=1e-9 * told.max())


@pytest.mark.full
def test_a_beam_is_the_table_of_its_modes(load):
    """At rest under next to no thrust at the tip: masses, frequencies, participations and shapes from the textbook, as a table.

    What a beam has beyond that, in deflections and spin, a table has not.
    """
    mass, rate, linear, angular, shift, turn = textbook()
    modes = {
        f"of-order-{n}": {
            "frequency": rate[n] / (2 * np.pi),
            "damping_ratio": RATIO,
            "modal_mass": mass[n],
            "translation": linear[n].tolist(),
            "rotation": angular[n].tolist(),
        }
        for n in range(len(mass))
    }
    tip = {"position": [0.0, 2.9, 0.0], "shift": shift.tolist(), "turn": turn.tolist()}
    bus, wing, _ = listed(WINGED["body"])
    still = bus | {"velocity": [0.0] * 3, "rate": [0.0] * 3}
    held = wing | {"joint": HINGE | {"start": 0.0, "start_rate": 0.0}}
    push = {"body": "wing", "position": [0, 2.9, 0], "direction": [1, 0, 2], "force": 1.0}
    straight = changed(WINGED, body=by_name([still, held]), contact={}, thruster={"push": push | {"force": 1e-9}})
    table = changed(straight)
    table["body"]["wing"]["flexible"] = {"kind": "modes", "root": ROOT, "mode": modes, "point": {"tip": tip}}
    beam, other = (restoring(load(case).content) for case in (straight, table))
    for one, same in zip(beam, other, strict=True):
        np.testing.assert_allclose(same, one, rtol=0, atol=1e-9 * np.abs(np.asarray(one)).max())


def test_the_report_tells_of_modes(rough):
    page = report_html(rough)
    assert "Flexible links" in page and "Deflection by each mode" in page and "Twist by each mode" in page
    largest = 1e3 * float(rough.modal_coordinate.sel(mode="wing bend1").max())
    assert f">{format_significant(largest)}<" in page


@pytest.mark.full
def test_stiffness_that_spin_would_add_is_told(boomed, rough):
    """Of a table of modes: how fast the boom turns beside its first mode; a wing by a beam stiffens, and nothing is told."""
    share = np.linalg.norm(boomed.rate.sel(body="boom").values, axis=1).max() / (0.5 * 2 * np.pi)
    assert float(boomed.spin_share[0]) == pytest.approx(share, rel=1e-9)
    words = f"flexible link 'boom' turns at up to {share:.2g} of its lowest frequency"
    assert any(line.startswith(words) and f"{100 * share**2:.2g} %" in line for line in mechanism_doubts(boomed))
    slower = mechanism_doubts(boomed.assign(spin_share=0 * boomed.spin_share + 0.09))
    assert not any("turns at up to" in line for line in slower)
    assert "spin_share" not in rough and not any("turns at up to" in line for line in mechanism_doubts(rough))


@pytest.mark.full
def test_of_links_of_both_kinds_the_table_alone_is_told(load):
    """Where a beam is beside a table of modes, its share is none, as spin stiffens it."""
    bus, wing, _ = listed(WINGED["body"])
    data = simulated(load, changed(WINGED, body=by_name([bus, wing, BOOM]), contact={}, duration=0.1))
    assert list(data.flexible_link.values) == ["wing", "boom"]
    assert float(data.spin_share[0]) == 0.0 and float(data.spin_share[1]) > 0.1
    (line,) = [line for line in mechanism_doubts(data) if "turns at up to" in line]
    assert line.startswith("flexible link 'boom'")


def test_a_beam_on_a_basis_without_modes_is_told_among_bodies_alone():
    stiff = dockdyn.load("cyril-elastic", {"body.link1.flexible.bending_modes": [0, 0]}).content
    names = flexible_names(stiff)
    assert names["flexible_link"] == ["link2"] and len(names["mode"]) == 3
    assert flexible_names(dockdyn.load("probe-cone").content) == {}


@pytest.mark.full
def test_a_campaign_counts_the_cases_that_spin_so_fast(load):
    """A bus with a boom that turns about an axis across it, at rates below and above a tenth of the boom's frequency."""
    lowest = 0.5 * 2 * np.pi
    bus = {"name": "bus", "mass": 2000.0, "inertia": [3000.0] * 3, "rate": [0.0, 0.05, 0.0]}
    case = {
        "schema": 2,
        "duration": 0.5,
        "body": by_name([bus, BOOM]),
        "integrator": {"tolerance": 1e-8},
    }
    boom = case["body"]["boom"]
    boom["flexible"] = {**BOOM["flexible"], "mode": {"across": BOOM["flexible"]["mode"]["across"]}}
    points = {
        name: {**point, "shift": point["shift"][:1], "turn": point["turn"][:1]}
        for name, point in BOOM["flexible"]["point"].items()
    }
    boom["flexible"]["point"] = points
    rates = np.array([0.05, 0.2, 0.4])
    cases = run_cases(load(case), ["body.bus.rate.1"], rates[:, None])
    shares = cases.figures["beam.spin_share"]
    for rate, share in zip(rates, shares, strict=True):
        run = simulated(load, case, {"body.bus.rate.1": float(rate)})
        assert float(run.spin_share[0]) == pytest.approx(share, rel=1e-3)
    assert shares == pytest.approx(rates / lowest, rel=0.02)
    (figure,) = [one for one in MECHANISM.figures if one.name == "beam.spin_share"]
    assert (shares >= figure.doubtful_from).tolist() == [False, False, True]


def test_what_modes_carry_is_told_beside_what_the_body_has(load):
    """The effective mass of the first two modes of a cantilever is 0.6131 and 0.1883 of the beam's; about its root theirs and
    that of a stiff wing's first are near all it has."""
    case = with_flexible(WINGED, bending_modes=[2, 0], twist_modes=0, mass_per_length=5.0)
    case["body"]["wing"] |= {"mass": 10.0, "inertia": [900.0, 900.0, 900.0]}
    with pytest.raises(ScenarioError) as refusal:
        load(case)
    assert f"along x, {(0.6131 + 0.1883) * 5.0 * 5.8:.3g} kg of 10 kg" in str(refusal.value)
    case["body"]["wing"] |= {"mass": 30.0, "inertia": [1.0, 0.5, 1.2]}
    with pytest.raises(ScenarioError) as refusal:
        load(case)
    first, second, *_ = ((n[3] @ n[3]) / n[0] for n in zip(*textbook(), strict=True))
    has = 1.2 + 30 * 2.9**2
    assert f"about z at the root, {(first + second) * 5 / 3:.3g} kg m² of {has:.3g} kg m²" in str(refusal.value)


@pytest.mark.full
def test_a_thruster_on_a_link_bends_it(load):
    """A constant force at the beam's end, across it: F L³/3EI in the end, but for modes beyond the third, on a heavy bus."""
    case = with_flexible(WINGED, bending_modes=[3, 0], twist_modes=0, damping_ratio=0.7)
    del case["body"]["ball"]
    bus, wing = case["body"].values()
    bus |= {"mass": 1e9, "inertia": [1e10] * 3, "rate": [0.0] * 3, "velocity": [0.0] * 3}
    wing["joint"] = {"kind": "locked"}
    case |= {
        "contact": {},
        "thruster": {"jet": JET | {"position": [0.0, 2.9, 0.0], "direction": [1, 0, 0]}},
        "duration": 60.0,
    }
    case["output"] = {"interval": 60.0}
    data = simulated(load, case)
    expected = 0.04 * 5.8**3 / (3 * 90.0)
    np.testing.assert_allclose(float(data.modal_coordinate[-1].sum()), expected, rtol=2e-3)
    np.testing.assert_allclose(float(data.elastic_energy[-1, 0]), 0.04 * expected / 2, rtol=2e-3)


FLEXIBLE = "body.wing.flexible"
TABLED = at(WINGED, {FLEXIBLE: BOOM["flexible"]})
MODE, TIP_POINT = (BOOM["flexible"][key][name] for key, name in (("mode", "across"), ("point", "tip")))
BAD = {
    "no joint": (WINGED, {"body.wing.joint": None}, "flexible: needs a joint"),
    "another kind": (WINGED, {f"{FLEXIBLE}.kind": "plate"}, "kind"),
    "axis across": (WINGED, {f"{FLEXIBLE}.across": [0.0, 2.0, 0.0]}, "across must not be along axis"),
    "no modes": (WINGED, {f"{FLEXIBLE}.bending_modes": [0, 0], f"{FLEXIBLE}.twist_modes": 0}, "must have a mode"),
    "no torsion": (WINGED, {f"{FLEXIBLE}.torsional_stiffness": None}, "needs torsional_stiffness and polar_inertia"),
    "too heavy": (WINGED, {f"{FLEXIBLE}.mass_per_length": 9.0}, "carry more mass or inertia than the body has"),
    "no stiffness": (WINGED, {f"{FLEXIBLE}.bending_stiffness": [90.0, 0.0]}, "must be a stiffness greater than 0"),
    "overdamped": (WINGED, {f"{FLEXIBLE}.damping_ratio": 1.2}, "damping_ratio"),
    "rows": (
        TABLED,
        {f"{FLEXIBLE}.point": {"tip": TIP_POINT | {"shift": [[1, 0, 0]]}}},
        "point.tip.shift: has 1 rows; must have 2, one a mode",
    ),
    "no shape": (TABLED, {f"{FLEXIBLE}.point": {}}, "feature wing tip sits there; must have a point"),
    "too much": (
        TABLED,
        {f"{FLEXIBLE}.mode": {"across": MODE | {"translation": [6.0, 0.0, 0.0]}}, f"{FLEXIBLE}.point": {}},
        "carry more mass or inertia than the body has",
    ),
}


@pytest.mark.parametrize(("case", "values", "words"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_in_one_line(check_file_refused, case, values, words):
    check_file_refused(at(case, values), words)

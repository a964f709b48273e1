"""Bodies that begin inside one another: refused by runs of every kind, counted by studies, in the same words."""

import numpy as np
import pytest
from helpers.line_rig import line_rig
from plain_tables import by_name, contacts_by_name
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.exchange.fmu import unit_of
from dockdyn.studies.cases.batch import run_cases, runs_in_batches

BALL = {
    "schema": 2,
    "duration": 1.0,
    "body": {
        "probe": {
            "mass": 100.0,
            "inertia": [10.0, 10.0, 10.0],
            "position": [-0.95, 0.0, 0.0],
            "velocity": [0.1, 0.0, 0.0],
            "feature": {"tip": {"position": [0.9, 0.0, 0.0], "radius": 0.01}},
        },
        "wall": {
            "mass": 1000.0,
            "inertia": [100.0, 100.0, 100.0],
            "surface": {"face": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}},
        },
    },
    "contact": {
        "tip": {
            "between": ["tip", "face"],
            "normal": {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 1, "damping": 1.0},
        }
    },
    "requirements": {"peak_force": "< 100 N"},
}
PLACE = "body.probe.position.0"
DEEP = ": contact 'tip': overlap at the start = 0.06 m; must be at most 0.01 m: "
DEEP += "move a body's position back, against the way it comes, by 0.05 m or more"


@pytest.mark.full
def test_every_case_of_a_study_is_looked_at(load):
    """A batch does not begin as a run does; what a run refuses is a case that failed, for the reason that the run gives."""
    scenario = load(BALL)
    assert runs_in_batches(scenario)
    places = np.array([[-0.95], [-0.85], [-0.905]])
    cases = run_cases(scenario, [PLACE], places)
    assert cases.reasons == ["", f"{scenario.name}{DEEP}", ""]
    assert list(np.isnan(cases.figures["peak_force_N"])) == [False, True, False]
    for place, reason in zip(places[:, 0], cases.reasons, strict=True):
        case = load(BALL, {PLACE: float(place)})
        if reason:
            with pytest.raises(dockdyn.ScenarioError, match="overlap at the start") as refusal:
                dockdyn.simulate(case)
            assert str(refusal.value) == reason
        else:
            assert dockdyn.simulate(case).attrs["finished"]


def test_derivatives_of_a_case_that_cannot_begin_are_refused(load):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.sensitivity(load(BALL, {PLACE: -0.85}), "peak_force_N")
    assert str(refusal.value).endswith(DEEP)


@pytest.mark.full
def test_an_envelope_leaves_out_what_cannot_begin(load):
    """Half of the range is inside the wall: of that nothing is known, as of other cases that fail."""
    found = dockdyn.envelope(load(BALL), {PLACE: (-0.93, -0.85)}, "peak_force", tolerance=0.05)
    places, met = found.point_x.values, found.met.values
    assert np.isnan(met[places > -0.9 + 0.01]).all() and not np.isnan(met[places < -0.9]).any()


POINT = 0.2  # m: how deep what has no radius may begin
LAW = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10.0}
LOOP = {"hold": {"period": 0.004}, "sensor": {"delay": 0.002}}


def pair_of_bodies(rng, depth, radius):
    """Two bodies anywhere, turned anyhow: a point of the first is so deep (m) in a plane of the second, and goes deeper."""
    turns = Rotation.random(2, rng=rng)
    tip, face, place = rng.uniform(-0.5, 0.5, (3, 3))
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    out = turns[1].apply(normal)
    along = np.cross(out, rng.normal(size=3))  # in the plane
    there = place + turns[1].apply(face) + out * (radius - depth) + 0.1 * along - turns[0].apply(tip)
    attitudes = [np.roll(turn.as_quat(), 1).tolist() for turn in turns]
    feature = {"name": "tip", "position": tip.tolist()} | ({"radius": radius} if radius else {})
    plane = {"shape": "plane", "point": face.tolist(), "normal": normal.tolist()}
    first = {"mass": 100.0, "inertia": [10.0, 11.0, 12.0], "position": there.tolist(), "attitude": attitudes[0]}
    second = {"mass": 1000.0, "inertia": [90.0, 100.0, 110.0], "position": place.tolist(), "attitude": attitudes[1]}
    return first | {"velocity": (-0.1 * out).tolist(), "feature": by_name([feature])}, second | {
        "surface": {"face": plane}
    }


def with_kind(kind, first, second):
    """The scenario of a kind in which these two bodies meet."""
    contact = [{"between": ["tip", "face"], "normal": LAW}]
    common = {"schema": 2, "duration": 0.02, "contact": contacts_by_name(contact)}
    mounted = {"rig": {"carries": "one", "against": "other"}, "loop": LOOP} if kind == "rig" else {}
    return common | {"body": {"one": first, "other": second}} | mounted


KINDS = ("mechanism", "rig")


@pytest.mark.full
@pytest.mark.parametrize("radius", [0.0, 0.05], ids=["point", "ball"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_refuses_what_begins_deep_inside(load, kind, radius):
    """Wherever the bodies are, and whichever way in: deeper than the radius is refused, in the same words; less runs."""
    rng = np.random.default_rng(KINDS.index(kind) + 10 * bool(radius))
    most = radius or POINT
    for depth in most * rng.uniform(1.01, 3.0, 3):
        case = load(with_kind(kind, *pair_of_bodies(rng, depth, radius)))
        with pytest.raises(dockdyn.ScenarioError) as refusal:
            dockdyn.simulate(case)
        assert str(refusal.value) == (
            f"{case.name}: contact 'tip': overlap at the start = {depth:.3g} m; must be at most {most:.3g} m: "
            f"move a body's position back, against the way it comes, by {depth - most:.3g} m or more"
        )
    shallow = load(with_kind(kind, *pair_of_bodies(rng, most * rng.uniform(0.5, 0.99), radius)))
    assert dockdyn.simulate(shallow).attrs["finished"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_to_begin_refuses_it(load, kind):
    """FMUs, steps, also those that begin again with other values, and comparisons of a rig begin as a run does."""
    content = with_kind(kind, *pair_of_bodies(np.random.default_rng(7), 0.25, 0.0))
    deep = load(content)
    ways = [lambda: unit_of(deep)]
    if kind != "mechanism":
        ways.append(lambda: dockdyn.stepper(deep, period=0.004))
    if kind == "rig":
        ways.append(lambda: dockdyn.compare(deep))
    for way in ways:
        with pytest.raises(dockdyn.ScenarioError, match=r"overlap at the start = 0\.25 m"):
            way()


def test_steps_that_begin_again_refuse_it(load):
    first, second = pair_of_bodies(np.random.default_rng(8), -0.01, 0.0)
    stepper = dockdyn.stepper(
        load(with_kind("mechanism", first, second) | {"control": {"body": "one", "law": "none"}}), period=0.004
    )
    inside = np.array(first["position"]) + 2.6 * np.array(first["velocity"])  # 0.26 m further in
    with pytest.raises(dockdyn.ScenarioError, match=r"overlap at the start = 0\.25 m"):
        stepper.reset({"body.one.position": inside.tolist()})


@pytest.mark.full
def test_a_rig_along_one_direction_refuses_it(load):
    """A contact that only pushes is deep at the start where the model is; a spring that also pulls may begin anywhere."""
    line = line_rig(100.0, LAW, duration=0.02, loop=LOOP)
    with pytest.raises(dockdyn.ScenarioError, match=r"'spring': overlap .* = 0\.25 m; must be at most 0\.2 m"):
        dockdyn.simulate(load(line, {"body.target.position": 0.25}))
    for changes in ({"body.target.position": 0.15}, {"body.target.position": 0.25, "contact.spring.bilateral": True}):
        assert dockdyn.simulate(load(line, changes)).attrs["finished"]

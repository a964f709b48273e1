"""Stability charts on fields with a known zero, sweeps of scenario keys, and sensitivities to them."""

import json

import jax
import numpy as np
import pytest
import tomlkit
from helpers.line_rig import line_rig
from helpers.refusals import refused
from numpy.testing import assert_allclose
from plain_tables import plain
from resting_contacts import difference, place_of, some_scene
from scipy.optimize import brentq

import dockdyn
from dockdyn.scenario.axis import Sweep
from dockdyn.stability import TransferFunction, chart_growth, growth_rates, make_loop
from dockdyn.studies.margins.answer import margins
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

# --- fields with a known zero ----------------------------------------------------------------------------------------

CELLS, TOLERANCE = 200, 1e-7


def charted(field, cells=CELLS, tolerance=TOLERANCE):
    """The chart of field(x, y), and how many points it asked for."""
    asked = []

    def growth(points):
        asked.append(len(points))
        assert points.min() >= 0
        assert points.max() <= 1
        return field(*points.T)

    found = chart_growth(growth, cells, tolerance)
    assert found.evaluations == sum(asked)
    x, y = np.meshgrid(found.axis, found.axis)
    known = field(x.ravel(), y.ravel()).reshape(x.shape)
    known = np.where(np.isnan(known), np.inf, known)
    assert_allclose(found.growth, known, rtol=1e-12)  # second coordinate first
    return found


def check_complete(found, field, size=CELLS):
    """Every edge of the fine grid whose ends differ in sign has its point of the boundary, and no other edge has one."""
    axis = np.arange(size + 1) / size
    signs = field(*np.meshgrid(axis, axis, indexing="ij")) > 0
    edges = {(i, j, 0) for i, j in np.argwhere(signs[1:] != signs[:-1]).tolist()}
    edges |= {(i, j, 1) for i, j in np.argwhere(signs[:, 1:] != signs[:, :-1]).tolist()}
    located = set()
    for point in np.concatenate(found.boundary) * size if found.boundary else []:
        along = int(np.argmax(np.abs(point - np.round(point))))
        assert abs(point[1 - along] - round(point[1 - along])) < 1e-9
        corner = np.round(point).astype(int)
        corner[along] = int(np.floor(point[along]))
        located.add((*corner.tolist(), along))
    assert located == edges


def test_a_circle_is_one_closed_curve():
    def field(x, y):
        return (x - 0.53) ** 2 + (y - 0.47) ** 2 - 0.31**2

    found = charted(field)
    (curve,) = found.boundary
    assert (curve[0] == curve[-1]).all()
    radius = np.hypot(*(curve - [0.53, 0.47]).T)
    assert_allclose(radius, 0.31, rtol=0, atol=TOLERANCE)
    assert_allclose(np.hypot(*np.diff(curve, axis=0).T).sum(), 2 * np.pi * 0.31, rtol=1e-4)
    check_complete(found, field)
    assert found.evaluations < (CELLS + 1) ** 2 / 4


@pytest.mark.full_cases("paraboloid")
@pytest.mark.parametrize("flat", [False, True], ids=["cone", "paraboloid"])
def test_a_small_island_is_found_wherever_it_lies(flat):
    """A diameter of 0.02, half a cell of the coarse grid."""
    rng = np.random.default_rng(1)
    for centre in rng.uniform(0.02, 0.98, (25, 2)):

        def field(x, y, centre=centre):
            distance = np.hypot(x - centre[0], y - centre[1])
            return distance**2 - 0.01**2 if flat else distance - 0.01

        found = charted(field)
        (curve,) = found.boundary
        assert (curve[0] == curve[-1]).all()
        assert_allclose(np.hypot(*(curve - centre).T), 0.01, rtol=0, atol=TOLERANCE)
        check_complete(found, field)
        assert found.evaluations < (CELLS + 1) ** 2 / 10


@pytest.mark.parametrize("centre", [(0.4, 0.6), (0.4321, 0.5678)], ids=["on the grid", "off the grid"])
def test_two_curves_that_cross(centre):
    def field(x, y):
        return (x - centre[0]) * (y - centre[1])

    found = charted(field)
    points = np.concatenate(found.boundary)
    upright, level = (np.abs(points[:, i] - centre[i]) < 2 * TOLERANCE for i in (0, 1))
    assert (upright | level).all()
    for on, along in ((upright, 1), (level, 0)):  # both curves, from side to side, without a gap
        places = np.sort(points[on, along])
        assert places[0] < 1 / CELLS
        assert places[-1] > 1 - 1 / CELLS
        assert np.diff(places).max() < 2.01 / CELLS


def test_curves_that_leave_through_the_sides():
    def field(x, y):
        return np.sin(7 * x + 2 * y) * np.cos(5 * y - 2 * x) - 0.1

    found = charted(field)
    check_complete(found, field)
    for curve in found.boundary:
        ends = curve[[0, -1]]
        closed = (ends[0] == ends[1]).all()
        assert closed or ((ends == 0) | (ends == 1)).any(axis=1).all()
        slope = np.hypot(*(field(*(curve + step).T) - field(*(curve - step).T) for step in 1e-6 * np.eye(2))) / 2e-6
        assert (np.abs(field(*curve.T)) < 1.01 * TOLERANCE * slope + 1e-12).all()


@pytest.mark.full
def test_random_fields_are_charted_completely():
    rng = np.random.default_rng(2)
    for _ in range(60):
        waves, phases, sizes = rng.uniform(-12, 12, (6, 2)), rng.uniform(0, 7, 6), rng.normal(size=6)

        def field(x, y, waves=waves, phases=phases, sizes=sizes):
            terms = zip(waves, phases, sizes, strict=True)
            return sum(size * np.sin(wave[0] * x + wave[1] * y + phase) for wave, phase, size in terms)

        check_complete(charted(field), field)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_no_boundary(sign):
    found = charted(lambda x, y: sign * (1 + x))
    assert found.boundary == []
    assert found.evaluations < 1000


def test_what_is_no_number_or_infinite_is_unstable():
    """As a value it cannot guide the search; halving still locates its edge."""
    for outside in (np.nan, np.inf):
        found = charted(lambda x, y, outside=outside: np.where(x + 0.3 * y > 0.7, outside, -1.0), tolerance=1e-6)
        (curve,) = found.boundary
        assert_allclose(curve @ [1, 0.3], 0.7, rtol=0, atol=1e-6)
        assert set(np.round(curve[[0, -1], 1])) == {0.0, 1.0}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-9])
def test_a_jump_of_sign_is_located_to_the_tolerance(tolerance):
    """Growth that tells nothing of the distance, steep on one side."""

    def field(x, y):
        return np.where(y > 0.3 + 0.4 * x, 1e6, -1e-6)

    found = charted(field, cells=48, tolerance=tolerance)
    assert_allclose(np.concatenate(found.boundary) @ [-0.4, 1], 0.3, rtol=0, atol=tolerance)


# --- keys of a scenario ----------------------------------------------------------------------------------------------

# Table 1 with r_CQ = l0 x̂ and r_TS = 0: an effective mass of 375 kg at l0 = 1 m, 220.183486 kg at 1.5 m
PROBE = {
    "stability.distance": 0.5,
    "body.chaser.feature.probe.position": [1, 0, 0],
    "body.target.surface.cone.apex": [0, 0, 0],
}
DELAY, DAMPING = Sweep("loop.delay", "0 ms", "400 ms", 25), Sweep("contact.probe.normal.damping", 10, "0.4 kN*s/m", 25)


def critical_delay(damping, mass=375.0, stiffness=1000.0):
    """Equations 150 and 151, s."""
    b, k = np.asarray(damping) / mass, stiffness / mass
    crossing = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
    return np.arctan2(crossing * b, k) / crossing


@pytest.fixture(scope="module")
def probe():
    return dockdyn.load("sazawal-spring-dashpot", PROBE)


@pytest.mark.full
def test_one_key(probe):
    told = []
    found = stability_dataset(probe, [DELAY], told.append)
    assert told[-1] == 1
    assert found.x.attrs["units"] == found.boundary_x.attrs["units"] == "s"
    assert_allclose(found.x.values, np.linspace(0, 0.4, 25))
    assert_allclose(found.boundary_x.values, critical_delay([200.0]), rtol=0, atol=1e-6)
    assert ((found.growth_rate.values < 0) == (found.x.values < critical_delay(200.0))).all()
    assert json.loads(found.attrs["operating_point"]) == [0.016]
    assert_allclose(json.loads(found.attrs["margins"])["critical_delay_s"], 0.192968, rtol=0, atol=1e-6)
    late = dockdyn.load("sazawal-spring-dashpot", PROBE | {"loop.delay": 0.3})
    edges = stability_dataset(late, [Sweep("contact.probe.normal.damping", 10, 2500, 100)]).boundary_x.values
    known = [brentq(lambda b: critical_delay(b) - 0.3, *ends) for ends in ((10, 600), (900, 2500))]
    assert_allclose(edges, known, rtol=0, atol=3e-4)


@pytest.mark.full
def test_one_key_of_what_is_not_there(probe):
    """A scenario without a delay has no delay line, either."""
    found = stability_dataset(dockdyn.load("sazawal-spring-dashpot", PROBE | {"loop.delay": 0}), [DELAY])
    assert_allclose(found.boundary_x.values, critical_delay([200.0]), rtol=0, atol=1e-6)
    assert json.loads(found.attrs["operating_point"]) == [0]


@pytest.mark.full
def test_two_keys(probe):
    found = stability_dataset(probe, [DELAY, DAMPING])
    h, b = found.boundary_x.values[0], found.boundary_y.values[0]
    (inside,) = np.nonzero(np.isfinite(h))
    assert len(inside) > 20
    assert_allclose(h[inside], critical_delay(b[inside]), rtol=0, atol=1e-6)
    x, y = np.meshgrid(found.x.values, found.y.values)
    assert ((found.growth_rate.values[0] < 0) == (x < critical_delay(y))).all()
    assert (found.x.attrs["units"], found.y.attrs["units"]) == ("s", "N*s/m")


@pytest.mark.full
def test_three_keys_are_a_family(probe):
    found = stability_dataset(probe, [DAMPING, DELAY, Sweep("body.chaser.feature.probe.position.0", 1, 1.5, 2)])
    assert_allclose(found.family.values, [1, 1.5])
    for member, mass in enumerate((375.0, 220.183486)):
        b, h = found.boundary_x.values[member], found.boundary_y.values[member]
        (inside,) = np.nonzero(np.isfinite(h))
        assert len(inside) > 20
        assert_allclose(h[inside], critical_delay(b[inside], mass), rtol=0, atol=1e-6)


POLE, ZERO, GAIN = -181.7836 + 185.4564j, -206.5679, 326.4756
ROBOT = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], GAIN)


@pytest.mark.full
def test_a_sampled_rig():
    """Every point of the boundary, taken one by one, neither grows nor decays."""
    sweeps = [Sweep("loop.sensor.delay", "0.5 ms", "4 ms", 24), Sweep("loop.compensator.gain", 0, 150, 24)]
    found = stability_dataset(dockdyn.load("sits", {"loop.compensator.gain": 0}), sweeps)
    gains = json.loads(found.attrs["margins"])["stabilising_gains_N_s_m"]
    assert_allclose(gains, [[41.0658855588, 186238.713085]], rtol=1e-8)  # an independent monodromy
    points = np.stack([found.boundary_x.values[0], found.boundary_y.values[0]], axis=-1)
    points = points[np.isfinite(points).all(axis=-1)]
    assert len(points) > 20
    loops = [
        make_loop(500.0, 2e4, 50.0, delay=h, hold=4e-3, gain=g, robot=ROBOT) for h, g in points[:: len(points) // 8]
    ]
    for one in loops:
        assert abs(growth_rates(jax.tree.map(lambda number: np.asarray(number)[None], one))[0]) < 1e-7
    # the rule of thumb, to first order: gain = K (delay + hold/2 + delay of the robot) − B
    assert_allclose(points[:, 1], 2e4 * (points[:, 0] + 2e-3 + 0.5526e-3) - 50, rtol=0.01)


@pytest.mark.parametrize(
    ("sweeps", "words"),
    [
        ([Sweep("loop.dely", 0, 1, 5)], "dely"),
        ([Sweep("loop.no.such", 0, 1, 5)], "no"),
        ([Sweep("contact.probe.normal.law", 0, 1, 5)], "law"),
        ([Sweep("loop.delay", "short", 1, 5)], "short"),
        ([Sweep("loop.delay", 0.1, 0.1, 5)], "different ends"),
        ([Sweep("loop.delay", 0.2, 0.1, 5)], "must rise"),
        ([Sweep("loop.delay", -0.2, 0.1, 5)], "-0.2"),
        ([Sweep("loop.delay", 0, 1, 5), Sweep("loop.delay", 0, 2, 5)], "twice"),
        (
            [Sweep(key, 1, 2, 5) for key in ("body.chaser.mass", "body.target.mass", "loop.delay", "duration")],
            "at most 3",
        ),
    ],
)
def test_what_cannot_be_swept(probe, sweeps, words):
    with refused(match=words):
        stability_dataset(probe, sweeps)


@pytest.mark.parametrize(
    "text", ["loop.delay", "loop.delay=0:1", "=0:1:5", "loop.delay=0:1:5:6", "loop.delay=0::5", "loop.delay=:1:5"]
)
def test_what_is_no_sweep(text):
    with pytest.raises(dockdyn.ScenarioError, match="KEY=LOW:HIGH:COUNT"):
        parse_sweep(text)


@pytest.mark.parametrize("count", ["1", "0", "-3", "2.5", "many", "2001", "1e2", "²"])
def test_count_is_a_whole_number(count):
    with pytest.raises(dockdyn.ScenarioError, match="COUNT"):
        parse_sweep(f"loop.delay=0:1:{count}")
    assert parse_sweep("loop.delay = 0 ms : 0.4 : 7") == Sweep("loop.delay", "0 ms", 0.4, 7)


# --- sensitivities of margins to the numbers of a scenario -----------------------------------------------------------


TITLE = dockdyn.presets()["sits"]  # of the preset: what is compiled for it serves here, too


def rig(gain):
    """The SITS rig in SI units, with a compensator of some gain (N s/m)."""
    normal = {"law": "spring-dashpot", "stiffness": 2e4, "damping": 50.0, "adhesion": True}
    poles = [[POLE.real, POLE.imag], [POLE.real, -POLE.imag]]
    robot, sampling = {"zeros": [[ZERO, 0.0]], "poles": poles, "gain": GAIN}, {"period": 4e-3}
    loop_table = {"hold": sampling, "sensor": {"delay": 2e-3}, "robot": robot, "compensator": {"gain": gain}}
    return line_rig(500.0, normal, bilateral=True, title=TITLE, loop=loop_table)


FREE = [
    ["body.chaser.mass"],
    ["body.target.surface.cone.half_angle"],
    ["contact.probe.normal.damping"],
    ["stability.distance"],
]
POLES = [[f"loop.robot.poles.{pole}.{part}" for pole in (0, 1)] for part in (0, 1)]  # a pair moves together
SINGLES = [
    [key] for key in ("body.target.mass", "contact.spring.normal.damping", "loop.hold.period", "loop.sensor.delay")
]
REST = [["contact.spring.normal.stiffness"], ["loop.robot.gain"], ["loop.robot.zeros.0.0"], ["loop.compensator.gain"]]


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "quantity", "groups"),
    [
        pytest.param(rig(0.0), "growth_rate_1_s", SINGLES + POLES, marks=pytest.mark.full),
        (rig(120.0), "delay_margin_s", [["loop.hold.period"]]),
        pytest.param(rig(0.0), "growth_rate_1_s", REST, marks=pytest.mark.full),
        pytest.param(rig(120.0), "delay_margin_s", SINGLES + POLES + REST, marks=pytest.mark.full),
        pytest.param(some_scene(np.random.default_rng(9)), "delay_margin_s", FREE, marks=pytest.mark.full),
    ],
    ids=["unstable rig", "stable rig", "unstable rig, the rest", "stable rig, all", "free flight"],
)
def test_sensitivities_are_differences_of_margins(load, content, quantity, groups):
    """Each group of numbers scaled together."""
    content = plain(content)
    found = margins(load(content))
    assert found["sensitivity_of"] == quantity
    size = max(map(abs, found["sensitivities"].values()))
    for keys in groups:
        known = difference(lambda scaled: margins(load(scaled))[quantity], content, keys)
        stated = found["sensitivities"].get(", ".join(keys), 0.0)
        assert_allclose(stated, known, rtol=0, atol=2e-6 * size, err_msg=str(keys))


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "stated"), [("sazawal-spring-dashpot", PROBE), ("sits", {"loop.compensator.gain": 0})]
)
def test_every_key_with_a_sensitivity_can_be_set(name, stated):
    """The keys are named as `--set` takes them: each can be set to the value it has."""
    scenario = dockdyn.load(name, stated)
    for key in ", ".join(margins(scenario)["sensitivities"]).split(", "):
        table, place = place_of(tomlkit.parse(scenario.text()).unwrap(), key)
        assert dockdyn.load(name, stated | {key: table[place]}).text() == scenario.text()


@pytest.mark.parametrize("rise", [1e-5, -1e-5])
def test_a_saddle_is_joined_through_its_middle(rise):
    """Zero of (x − a)(y − a) + rise, a in the middle of a cell: two branches, each on its own side of the saddle."""
    middle = 12.5 / 24
    first, second = charted(lambda x, y: (x - middle) * (y - middle) + rise, cells=24).boundary
    for branch in (first, second):
        sides = np.sign(branch - middle)
        assert (sides == sides[0]).all()
        assert sides[0].prod() == -np.sign(rise)

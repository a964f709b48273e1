"""Cyril et al. recomputed: rigid bodies written out with NumPy, beams in closed form, known numbers, trends of the text."""

import math

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import brentq

from dockdyn.papers.cyril.reproduce import FIGURES, reproduce

pytestmark = pytest.mark.full  # the paper recomputed: in the run of `make verify`

QUICK = ("start", "plastic", "modes", "wedge", "roots", 8, 9, 10)


def tables_of(names, folder):
    return {name: reproduce(name, folder)[0] for name in names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cyril")


@pytest.fixture(scope="module")
def reproduced(folder):
    """The parts that take little time, by name."""
    return tables_of(QUICK, folder)


def row(table, quantity):
    (found,) = [row for row in table.rows if row.quantity == quantity]
    return found


def value(table, quantity):
    return row(table, quantity).computed


# --- the system with rigid links, in the plane, from Tables 1 and 2 --------------------------------------------------

ANGLES = np.radians(np.cumsum([67.3, 45.4, 0.0]))  # of the links, inertial
ARM = np.array(
    [[0.0, 2.45], *(r * np.array([np.cos(a), np.sin(a)]) for r, a in zip((8.13, 8.13, 0.2), ANGLES, strict=True))]
)
START = np.radians([0, 0, 0, 0.836, -1.81, 0.903])  # base x, y, turning, joints; m/s and rad/s
SPIN = np.radians(-3.0)  # rad/s, of the payload


def across(arm):
    return np.array([-arm[1], arm[0]])


def bodies(v):
    """Mass, place, velocity, inertia about it and turning rate of the chaser's bodies; place and velocity of the tip."""
    rates = np.cumsum(v[2:])
    place, speed = ARM[0], v[:2] + v[2] * across(ARM[0])
    found = [(10000.0, np.zeros(2), v[:2], 40000.0, v[2])]
    for mass, arm, rate in zip((20.0, 20.0, 0.2), ARM[1:], rates[1:], strict=True):
        inertia = mass * arm @ arm / 12
        found.append((mass, place + arm / 2, speed + rate * across(arm) / 2, inertia, rate))
        place, speed = place + arm, speed + rate * across(arm)
    return found, place, speed


def energy(v):
    return sum(0.5 * (m * u @ u + i * w**2) for m, _, u, i, w in bodies(v)[0])


def mass_matrix():
    unit = np.eye(6)
    return np.array([[energy(a + b) - energy(a) - energy(b) for b in unit] for a in unit])


class Contact:
    """Chaser and payload: velocities, mass matrix, rows of normal, tangent and turning; the wrist locked or free."""

    def __init__(self, normal, locked):
        kept = [0, 1, 2, 3, 4] if locked else [0, 1, 2, 3, 4, 5]
        chaser, tip = mass_matrix(), np.array([bodies(e)[2] for e in np.eye(6)]).T
        turning = np.array([0, 0, 1, 1, 1, 1.0])
        # what a lock leaves has the same momentum in all that still moves
        held = np.linalg.solve(chaser[np.ix_(kept, kept)], (chaser @ START)[kept])
        self.v = np.concatenate([held, [0, 0, SPIN]])
        self.mass = np.zeros((len(kept) + 3,) * 2)
        self.mass[:-3, :-3] = chaser[np.ix_(kept, kept)]
        self.mass[-3:, -3:] = np.diag([1000.0, 1000.0, 500.0])
        axes = np.array([normal, across(normal)])
        self.payload = np.column_stack([axes, axes @ across(normal)])
        rows = np.hstack([axes @ tip[:, kept], -self.payload])
        self.rows = np.vstack([rows, np.append(turning[kept], [0, 0, -1])])

    def joined(self, rows):
        """Impulse and loss when `rows` come to rest: the system of equations with multipliers."""
        a = self.rows[:rows]
        n = len(self.v)
        whole = np.block([[self.mass, -a.T], [a, np.zeros((rows, rows))]])
        found = np.linalg.solve(whole, np.append(self.mass @ self.v, np.zeros(rows)))
        return found[n:], self.loss(found[:n])

    def loss(self, after):
        return 0.5 * (self.v @ self.mass @ self.v - after @ self.mass @ after)

    def by_printed_equations(self):
        """Loss by eqs. 9–12: ψ̇_p = J_p⁺ J ψ̇, and eq. 7."""
        j, back = self.rows[:2, :-3], np.linalg.pinv(self.payload)
        m, mp, v, vp = self.mass[:-3, :-3], self.mass[-3:, -3:], self.v[:-3], self.v[-3:]
        carried = j.T @ back.T @ mp
        after = np.linalg.solve(carried @ back @ j + m, carried @ vp + m @ v)
        return self.loss(np.append(after, back @ j @ after))

    def normal_impulses(self, loss_ratio, friction_ratio):
        """Both roots of eq. 49, as a polynomial through three values of the loss."""
        plastic, loss = self.joined(2)
        tries = np.array([0.0, 1.0, 2.0])
        impulses = [np.array([n, friction_ratio * plastic[1]]) for n in tries]
        jumps = [np.linalg.solve(self.mass, self.rows[:2].T @ impulse) for impulse in impulses]
        lost = [self.loss(self.v + jump) - loss_ratio * loss for jump in jumps]
        return np.sort(np.roots(np.polyfit(tries, lost, 2)))


FREE = Contact(np.array([0.0, -1.0]), locked=False)
HAND = Contact(-ARM[3] / 0.2, locked=True)


def test_state_before_the_impact(reproduced):
    table = reproduced["start"]
    found, place, tip = bodies(START)
    assert value(table, "velocity of the hand's tip, x") == pytest.approx(tip[0], rel=1e-12)
    assert value(table, "velocity of the hand's tip, y") == pytest.approx(tip[1], rel=1e-12)
    assert tip == pytest.approx([0.018293, 0.099208], abs=5e-7)
    assert value(table, "kinetic energy of the chaser") == pytest.approx(energy(START), rel=1e-12)
    assert value(table, "kinetic energy of the payload") == pytest.approx(250 * SPIN**2, rel=1e-12)
    found.append((1000.0, place + np.array([0, 1]), np.zeros(2), 500.0, SPIN))
    momentum = sum(m * u for m, _, u, _, _ in found)
    assert [value(table, f"linear momentum, {axis}") for axis in "xy"] == pytest.approx(momentum, rel=1e-11)
    centre = sum(m * r for m, r, *_ in found) / sum(m for m, *_ in found)
    about = sum(m * across(r - centre) @ u + i * w for m, r, u, i, w in found)
    assert value(table, "angular momentum about the centre of mass") == pytest.approx(about, rel=1e-11)
    assert about == pytest.approx(-7.67, abs=0.005)
    assert value(table, "inertia of the hand about its joint") == pytest.approx(2.67e-3, abs=5e-6)


# loss (J), impulses (N s), payload's rate after (deg/s): by another implementation
PINS = {
    ("N_y, θ₄ free", 0): (0.075580, 2.16140, 0.89548, -3.10261),
    ("N_y, θ₄ free", 3): (0.045692, 1.30489, 0.53885, -3.06175),
    ("N_h, θ₄ locked", 0): (0.146518, 2.89105, 0.44166, -2.94939),
    ("N_h, θ₄ locked", 3): (0.084504, 1.88962, 0.08526, -2.99023),
}


@pytest.mark.parametrize("case", PINS)
def test_pins(reproduced, case):
    label = f"pin, {case[0]}, n = {case[1]}"
    words = ("energy lost", "normal impulse", "tangential impulse", "payload's rate after")
    found = [value(reproduced["plastic"], f"{label}: {word}") for word in words]
    assert found == pytest.approx(PINS[case], abs=6e-6)


def test_impacts_of_rigid_links(reproduced):
    """Pin, weld and the printed equations against the system written out."""
    table = reproduced["plastic"]
    for name, contact in (("N_y, θ₄ free", FREE), ("N_h, θ₄ locked", HAND)):
        impulse, loss = contact.joined(2)
        assert value(table, f"pin, {name}, n = 0: normal impulse") == pytest.approx(impulse[0], rel=1e-9)
        # the rest is what locking took
        assert value(table, f"pin, {name}, n = 0: energy lost") == pytest.approx(loss, abs=4e-7)
    impulse, loss = FREE.joined(3)
    weld = row(table, "weld, N_y, θ₄ free, n = 0: moment impulse")
    mean = value(table, "weld, N_y, θ₄ free, n = 0: mean moment over 1e-4 s")
    assert mean == pytest.approx(1e4 * weld.computed) and mean > 100  # no less than the order printed
    assert weld.computed == pytest.approx(abs(impulse[2]), rel=1e-9)
    assert value(table, "weld, N_y, θ₄ free, n = 0: energy lost") == pytest.approx(loss, rel=1e-9)
    label = "N_y, θ₄ free, n = 0: energy lost"
    wrong = value(table, f"{label}, eqs. 9–12 with Q's pseudo-inverse")
    assert wrong == pytest.approx(FREE.by_printed_equations(), rel=1e-9)
    assert wrong > 7 * FREE.joined(2)[1]
    for modes in (0, 3):
        right = value(table, f"N_y, θ₄ free, n = {modes}: energy lost, eqs. 16–20")
        assert right == pytest.approx(PINS["N_y, θ₄ free", modes][0], abs=6e-7)


def test_frequencies(reproduced):
    table = reproduced["modes"]
    for order in (1, 2, 3):
        root = brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (order - 1) * np.pi + 0.1, order * np.pi)
        closed = root**2 * math.sqrt(881 / (20 * 8.13**3))
        found = value(table, f"a link as a cantilever, frequency {order}, n = 8")
        assert found == pytest.approx(closed, rel=1e-5)
    for order, known in enumerate((0.2819, 1.246, 4.37), start=1):
        name = f"the chaser, joints locked, no payload, frequency {order}, n = 8"
        assert value(table, name) == pytest.approx(known, rel=5e-4)


def test_pairs_that_exist(reproduced):
    """All with N_h, only Fig. 8's with N_y and the wrist locked, none with it free; the others say why."""
    table = reproduced["wedge"]
    for name, figures in (("N_h, θ₄ locked", (8, 9, 10)), ("N_y, θ₄ locked", (8,)), ("N_y, θ₄ free", ())):
        for number, pair in ((8, (0.5, 0.5)), (9, (0.5, 0.8)), (10, (0.2, 0.5))):
            found = row(table, f"{name}: 1 if Fig. {number}'s (r_E, r_f) = {pair} exists")
            assert found.computed == (number in figures)
            assert ("cannot be" in found.note) == (number not in figures)
    assert abs(value(table, "its energy loss, N_h, θ₄ locked")) < 1e-15
    assert value(table, "r_f of an elastic impact that sticks, N_y, θ₄ locked") > 2


def test_more_loss_makes_less_impulse_and_more_friction_not_always_more(reproduced):
    """Eq. 52 over random systems; eq. 53 fails with the paper's own pairs and rigid links, as eq. 49 solved here does."""
    table = reproduced["roots"]
    tried = value(table, "eq. 52: random systems tried")
    assert tried > 1500 and value(table, "eq. 52: those that obey it") == tried
    assert value(table, "eq. 53: those that obey it") < value(table, "eq. 53: random systems tried")
    e_plus_x = {friction: HAND.normal_impulses(0.5, friction) / 1000 for friction in (0.5, 0.8)}
    for friction, (_, larger) in e_plus_x.items():
        found = value(table, f"e + x, rigid links, r_f = {friction}")
        assert found == pytest.approx(1e3 * larger, rel=1e-8)
    assert e_plus_x[0.8][1] < e_plus_x[0.5][1]
    assert value(table, "e + x, rigid links, r_f = 0.8 less r_f = 0.5") < 0
    # both roots of eq. 49 push, so eq. 50 selects none
    assert value(table, "eq. 49, pair of Fig. 8: smaller root, e + x") > 0
    assert e_plus_x[0.5][0] > 0


def test_rebounds(reproduced, folder):
    """With less energy lost the tip goes further; energy, momentum and the pair's own loss hold in every run."""
    name = "farthest of the tip from where it touched"
    ways = {number: value(reproduced[number], name) for number in (8, 9, 10)}
    assert ways[9] < ways[8] < ways[10]
    assert value(reproduced[10], f"{name}, over that of Fig. 8") == pytest.approx(ways[10] / ways[8])
    before = energy(START) + 250 * SPIN**2
    for number, share in ((8, 0.5), (9, 0.5), (10, 0.2)):
        lost = value(reproduced[number], "energy lost, with that of locking")
        assert lost == pytest.approx(share * PINS["N_h, θ₄ locked", 3][0], abs=1e-6)
        with xr.open_dataset(folder / f"figure-{number}.nc", engine="h5netcdf", decode_timedelta=False) as run:
            whole = (run.kinetic_energy + run.internal_energy).values
            assert whole == pytest.approx(before - lost, abs=1e-8)
            assert np.abs(run.linear_momentum.values[:, :2] - [-2.004428, 1.926514]).max() < 1e-6
            centre = run.position.sel(body="payload").values[:, :2]  # the payload flies on, straight
            speed = np.gradient(centre, run.time.values, axis=0)
            assert np.ptp(speed, axis=0).max() < 1e-9


def test_what_is_written(reproduced, folder):
    for name, table in reproduced.items():
        assert table.rows and all(np.isfinite(row.computed) for row in table.rows)
        stem = f"figure-{name}" if isinstance(name, int) else name
        assert len(table.pictures) == (0 if name in ("start", "plastic", "modes") else 2)
        assert all(file.stat().st_size > 10_000 for file in table.pictures)
        if table.pictures:
            with xr.open_dataset(folder / f"{stem}.nc", engine="h5netcdf", decode_timedelta=False) as data:
                assert all(variable.attrs["units"] for variable in data.data_vars.values())


def test_the_command(reproduced, dock, tmp_path):
    dock("reproduce", "cyril", "--figure", "11").check_refused(*map(str, FIGURES))
    code, out, err = dock("reproduce", "cyril", "--figure", "modes", "--out", "out")
    assert (code, err) == (0, "") and "cantilever" in out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"report.html", "tables.md"}


# --- the long runs ---------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_capture(folder):
    """The arm stretches out, then the payload turns back, with flexible and with rigid links."""
    tables = tables_of((2, "rigid"), folder)
    for label, table in (("", tables[2]), ("rigid: ", tables["rigid"])):
        assert value(table, f"{label}θ₃ crosses zero") == pytest.approx(34.7, abs=0.1)
        assert value(table, f"{label}the payload's rate reverses") == pytest.approx(35.9, abs=0.1)
    assert 100 < value(tables["rigid"], "flexible, n = 3: largest deflection") < 130
    assert value(tables["rigid"], "rigid: largest deflection") == 0
    # a frictionless elastic impact: twice the effective mass along the normal times the closing speed
    normal = HAND.rows[0]
    elastic = -2 * (normal @ HAND.v) / (normal @ np.linalg.solve(HAND.mass, normal))
    found = value(tables["rigid"], "rigid: normal impulse of an elastic rebound, N_h, θ₄ locked")
    assert found == pytest.approx(elastic, rel=1e-9)
    assert value(tables["rigid"], "rigid: energy that the impact took") == pytest.approx(FREE.joined(3)[1], rel=1e-9)


# joint rates, spacecraft, tips at rest from (s, told in steps of 0.5 s), greatest pitch (deg): by another implementation
CONTROL = {
    "none": (np.inf, np.inf, np.inf, 0.866),
    "joint PD + wheel": (22.5, 43.5, 310, 0.147),
    "rate damping + wheel": (20, 25.5, 13.5, 0.145),
    "rate damping, no wheel": (32.5, np.inf, 54, 1.75),
}


@pytest.mark.full
def test_control(folder):
    table = tables_of(("control",), folder)["control"]
    words = ("joint rates below 0.05 °/s from", "spacecraft within 0.05° from", "tips within 10 mm from")
    for scheme, (*times, pitch) in CONTROL.items():
        assert [value(table, f"{scheme}: {word}") for word in words] == pytest.approx(times, abs=0.5)
        assert value(table, f"{scheme}: greatest pitch") == pytest.approx(pitch, abs=0.002)
    assert value(table, "none, n = 2: θ₃ crosses zero") == pytest.approx(34.7, abs=0.1)


@pytest.mark.full
def test_meeting_again(folder):
    """The first impulse has no limit; that of all impacts and that of a compliant contact hardly depend on the modes.

    Rigid links: the law's own impulse, and for the compliant contact one between no and full restitution.
    """
    table = tables_of(("again",), folder)["again"]
    first, again, compliant = (
        [value(table, f"n = {modes}: {words}") for modes in range(4)]
        for words in ("normal impulse of the first impact", "of all impacts", "of a compliant contact")
    )
    assert first[1] < 0.7 * first[0] and first[2] < 0.7 * first[1] and first[3] < 0.7 * first[2]
    for values in (again[1:], compliant[1:]):
        assert max(values) < 1.25 * min(values)
    assert again[0] == pytest.approx(first[0], rel=1e-14) and first[0] / 1.5 < compliant[0] < 2 * first[0] / 1.5

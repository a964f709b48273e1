"""Whole histories of mechanisms beside equations of motion written on their own with SciPy's DOP853, and beside MuJoCo."""

import mujoco
import numpy as np
import pytest
from bushing_reference import bushing_wrench
from dop853_reference import Body, ball, plane, rotation, unit
from mechanism_cases import FOUR, PARTS, motion, simulated
from plain_tables import by_name
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from vectors import cross

AGREEMENT = 1e-7  # of the largest number of each sort

# --- DOP853 ----------------------------------------------------------------------------------------------------------


def matrix(section):
    return rotation(unit(section.get("attitude", [1.0, 0.0, 0.0, 0.0])))


def start_of(section, starts):
    """Position, velocity, rotation matrix and rate at t = 0; of a body on another one, from that one's."""
    position = np.array(section.get("position", [0.0, 0.0, 0.0]))
    if "on" not in section:
        return position, np.array(section["velocity"]), matrix(section), np.array(section["rate"])
    place, velocity, turn, rate = starts[section["on"]]
    spin = turn @ rate
    own = turn @ matrix(section)
    return place + turn @ position, velocity + cross(spin, turn @ position), own, own.T @ spin


class Reference:
    """The four bodies: 13 numbers each, then the work of the contacts and what the elements have dissipated."""

    def __init__(self, case):
        self.case, self.names = case, list(case["body"])
        starts = {}
        for name, section in case["body"].items():
            starts[name] = start_of(section, starts)
        self.bodies, rows = [], []
        for name, section in case["body"].items():
            position, velocity, turn, rate = starts[name]
            attitude = Rotation.from_matrix(turn).as_quat(scalar_first=True)
            inertia = np.array(section["inertia"], float)
            tensor = np.diag(inertia) if inertia.ndim == 1 else inertia
            rows.append(np.concatenate([position, velocity, attitude, rate]))
            self.bodies.append(Body(section["mass"], tensor, rows[-1]))
        self.start = np.concatenate([*rows, [0.0, 0.0]])
        self.struts = [self.strut(element) for element in case["strut"].values()]
        self.mount = self.bushing(case["bushing"]["mount"])
        self.contacts = [self.contact(contact) for contact in case["contact"].values()]

    def split(self, y):
        return [body.split(y[13 * i : 13 * i + 13]) for i, body in enumerate(self.bodies)]

    def bushing(self, element):
        """Bodies, frames, stiffness and damping; at the start the frames coincide."""
        first, second = map(self.names.index, element["between"])
        split = self.split(self.start)
        frame = np.array(element["position"]), matrix(element)
        place = split[second][0] + split[second][2] @ frame[0]
        own = split[first][2].T @ (place - split[first][0]), split[first][2].T @ split[second][2] @ frame[1]
        stiffness = np.diag(element["stiffness"] + element["turning_stiffness"])
        return first, second, (own, frame), stiffness, np.diag(element["damping"] + element["turning_damping"])

    def line(self, split, first, second, anchors):
        """Both ends, unit vector towards the first, length and its rate."""
        ends, speeds = [], []
        for (position, velocity, turn, rate), anchor in zip((split[first], split[second]), anchors, strict=True):
            ends.append(position + turn @ anchor)
            speeds.append(velocity + cross(turn @ rate, turn @ anchor))
        apart = ends[0] - ends[1]
        length = np.sqrt(apart @ apart)
        return ends, apart / length, length, (speeds[0] - speeds[1]) @ apart / length

    def strut(self, element):
        first, second = map(self.names.index, element["between"])
        anchors = np.array(element["anchor"])
        _, _, length, _ = self.line(self.split(self.start), first, second, anchors)
        return first, second, anchors, length, element["stiffness"], element["damping"]

    def contact(self, contact):
        """Bodies, balls, distance, normal law and friction."""
        (first, feature), (second, surface) = (
            (i, body[kind][name])
            for kind, name in zip(("feature", "surface"), contact["between"], strict=True)
            for i, body in enumerate(self.case["body"].values())
            if name in body.get(kind, {})
        )
        places = [np.array(place) for place in feature.get("positions", [feature.get("position")])]
        turns = 2 * np.pi * np.arange(feature.get("copies", 1)) / feature.get("copies", 1)
        balls = [Rotation.from_rotvec([turn, 0, 0]).apply(place) for turn in turns for place in places]
        if surface["shape"] == "sphere":
            distance = ball(np.array(surface["centre"]), surface["radius"])
        else:
            distance = plane(np.array(surface["point"]), np.array(surface["normal"]))
        return first, second, balls, feature["radius"], distance, contact["normal"], contact["friction"]

    def derivative(self, _, y):
        split = self.split(y)
        loads, work, lost = np.zeros((len(self.bodies), 6)), 0.0, 0.0

        def push(i, point, force, moment=(0.0, 0.0, 0.0)):
            loads[i] += np.concatenate([force, cross(point - split[i][0], force) + moment])

        first, second, frames, stiffness, damping = self.mount
        force, moment, point, power = bushing_wrench(split[first], split[second], frames, stiffness, damping)
        push(first, point, force, moment)
        push(second, point, -force, -moment)
        lost += power
        for first, second, anchors, free, stiffness, damping in self.struts:
            ends, along, length, rate = self.line(split, first, second, anchors)
            force = -(stiffness * (length - free) + damping * rate) * along
            push(first, ends[0], force)
            push(second, ends[1], -force)
            lost += damping * rate**2
        for first, second, balls, radius, distance, law, friction in self.contacts:
            origin, _, turn, _ = split[second]
            for place in balls:
                centre = split[first][0] + split[first][2] @ place
                away, normal = distance(turn.T @ (centre - origin))
                if away >= radius:
                    continue
                normal = turn @ normal
                point = centre - radius * normal
                speeds = [v + cross(t @ w, point - p) for p, v, t, w in (split[first], split[second])]
                slip = speeds[0] - speeds[1]
                closing = -slip @ normal
                sliding = slip + closing * normal
                pressing = law["stiffness"] * (radius - away) ** law["exponent"] * (1 + law["damping"] * closing)
                pressing = max(pressing, 0.0)
                size = np.sqrt(sliding @ sliding + friction["regularisation"] ** 2)
                force = pressing * (normal - friction["coefficient"] * sliding / size)
                push(first, point, force)
                push(second, point, -force)
                work += force @ slip
        rates = [
            body.derivative(y[13 * i : 13 * i + 13], load[:3], load[3:])
            for i, (body, load) in enumerate(zip(self.bodies, loads, strict=True))
        ]
        return np.concatenate([*rates, [work, lost]])

    def history(self, times):
        found = solve_ivp(
            self.derivative, (0, times[-1]), self.start, "DOP853", t_eval=times, rtol=1e-11, atol=1e-13, max_step=0.02
        )
        return found.y.T


@pytest.fixture(scope="module")
def histories(load):
    data = simulated(load, FOUR)
    reference = Reference(FOUR)
    return data, reference, reference.history(data.time.values)


@pytest.mark.full
def test_motion_of_four_bodies_agrees_all_the_way(histories):
    """Groups of balls on a sphere and on a plane, exponents 1.5 and 2, friction, a bushing and struts."""
    data, _, expected = histories
    assert set(np.unique(data.episode_contact)) == {0, 1} and data.episode.size >= 5
    rows = expected[:, :52].reshape(-1, 4, 13)
    attitude = rows[..., 6:10] / np.linalg.norm(rows[..., 6:10], axis=-1, keepdims=True)
    attitude = attitude * np.where(attitude[..., :1] < 0, -1, 1)
    seen = dict(zip(PARTS, (rows[..., :3], rows[..., 3:6], attitude, rows[..., 10:13]), strict=True))
    for name, found in motion(data).items():
        np.testing.assert_allclose(found, seen[name], rtol=0, atol=AGREEMENT * np.abs(seen[name]).max(), err_msg=name)


@pytest.mark.full
def test_work_and_energies_agree(histories):
    """The work of the contacts less what the elements have dissipated; kinetic energy, and what the springs hold."""
    data, reference, expected = histories
    kinetic = [
        sum(body.kinetic_energy(row[13 * i : 13 * i + 13]) for i, body in enumerate(reference.bodies))
        for row in expected
    ]
    size = max(kinetic)
    np.testing.assert_allclose(data.kinetic_energy, kinetic, rtol=0, atol=AGREEMENT * size)
    np.testing.assert_allclose(data.work, expected[:, 52] - expected[:, 53], rtol=0, atol=AGREEMENT * size)


# --- MuJoCo ----------------------------------------------------------------------------------------------------------

LINES = [  # anchors on the two bodies, stiffness, damping, free length
    (("hub", "wing"), ([0.5, 0.1, 0.0], [-0.4, 0.0, 0.1]), 60.0, 4.0, 0.7),
    (("hub", "wing"), ([0.4, -0.3, 0.2], [-0.3, -0.2, 0.0]), 90.0, 6.0, 0.75),
    (("wing", "tip"), ([0.4, 0.2, -0.1], [-0.2, 0.0, 0.0]), 40.0, 1.0, 0.9),
    (("hub", "tip"), ([0.2, 0.4, 0.1], [0.0, -0.1, 0.2]), 25.0, 0.0, 2.2),
]
FREE = [
    {
        "name": "hub",
        "mass": 50.0,
        "inertia": [[9.0, 0.5, -0.2], [0.5, 7.0, 0.3], [-0.2, 0.3, 11.0]],
        "position": [0.0, 0.0, 0.0],
        "velocity": [0.1, -0.02, 0.03],
        "attitude": [1.0, 0.0, 0.0, 0.0],
        "rate": [0.2, -0.1, 0.3],
    },
    {
        "name": "wing",
        "mass": 12.0,
        "inertia": [1.5, 2.0, 1.0],
        "position": [1.4, 0.1, -0.1],
        "velocity": [-0.2, 0.3, 0.0],
        "attitude": unit([1.0, 0.1, -0.2, 0.3]).tolist(),
        "rate": [-0.5, 0.4, 0.8],
    },
    {
        "name": "tip",
        "mass": 5.0,
        "inertia": [0.3, 0.5, 0.4],
        "position": [2.6, 0.5, 0.1],
        "velocity": [0.0, -0.1, 0.4],
        "attitude": unit([0.9, -0.3, 0.1, 0.2]).tolist(),
        "rate": [1.0, -0.2, 0.3],
    },
]


def as_mujoco(step):
    """The bodies, free, with spatial tendons as springs and dampers, in MuJoCo's own format."""

    def words(values):
        return " ".join(f"{value:.17g}" for value in np.ravel(values))

    bodies, tendons = [], []
    for body in FREE:
        tensor = np.array(body["inertia"]) if np.ndim(body["inertia"]) == 2 else np.diag(body["inertia"])
        upper = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        sites = [
            f'<site name="{number} {body["name"]}" pos="{words(place)}"/>'
            for number, (names, places, *_) in enumerate(LINES)
            for name, place in zip(names, places, strict=True)
            if name == body["name"]
        ]
        bodies.append(
            f'<body name="{body["name"]}" pos="{words(body["position"])}" quat="{words(body["attitude"])}"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{body["mass"]}" fullinertia="{words(upper)}"/>{"".join(sites)}</body>'
        )
    for number, ((first, second), _, stiffness, damping, free) in enumerate(LINES):
        tendons.append(
            f'<spatial stiffness="{stiffness}" damping="{damping}" springlength="{free}">'
            f'<site site="{number} {first}"/><site site="{number} {second}"/></spatial>'
        )
    return (
        f'<mujoco><option integrator="RK4" timestep="{step}" gravity="0 0 0"><flag contact="disable"/></option>'
        f"<worldbody>{''.join(bodies)}</worldbody><tendon>{''.join(tendons)}</tendon></mujoco>"
    )


def test_bodies_on_springs_move_as_in_mujoco(load):
    """Three bodies on springs and dampers, beside spatial tendons and MuJoCo's Runge–Kutta."""
    step, interval, count = 1e-4, 0.05, 100
    model = mujoco.MjModel.from_xml_string(as_mujoco(step))
    state = mujoco.MjData(model)
    for number, body in enumerate(FREE):
        state.qvel[6 * number : 6 * number + 6] = np.concatenate([body["velocity"], body["rate"]])
    rows = [(state.qpos.copy(), state.qvel.copy())]
    for _ in range(count):
        mujoco.mj_step(model, state, nstep=round(interval / step))
        rows.append((state.qpos.copy(), state.qvel.copy()))
    places = np.array([q for q, _ in rows]).reshape(-1, 3, 7)
    speeds = np.array([v for _, v in rows]).reshape(-1, 3, 6)
    struts = {
        f"spring{number}": {
            "between": list(names),
            "anchor": [list(place) for place in anchors],
            "stiffness": stiffness,
            "damping": damping,
            "free_length": free,
        }
        for number, (names, anchors, stiffness, damping, free) in enumerate(LINES)
    }
    case = {
        "schema": 2,
        "duration": interval * count,
        "body": by_name(FREE),
        "strut": struts,
        "output": {"interval": interval},
    }
    data = simulated(load, case)
    attitude = places[..., 3:] * np.where(places[..., 3:4] < 0, -1, 1)
    seen = dict(zip(PARTS, (places[..., :3], speeds[..., :3], attitude, speeds[..., 3:]), strict=True))
    assert np.abs(np.diff(data.rate.values, axis=0)).max() > 0.05  # much happens between two samples
    for name, found in motion(data).items():
        np.testing.assert_allclose(found, seen[name], rtol=0, atol=1e-8 * np.abs(seen[name]).max(), err_msg=name)

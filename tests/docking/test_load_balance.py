"""Loads by `loads.csv` hold bodies up: of every body the sum over its interfaces is what Newton and Euler say of its motion."""

import csv
import io

import numpy as np
import pytest
from mechanism_cases import simulated
from plain_tables import acting
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.docking.loads.report import loads_of_run

COMPONENTS = ("fx [N]", "fy [N]", "fz [N]", "mx [N m]", "my [N m]", "mz [N m]")
STEP = 5e-4  # s
OWN = """
from jaxtyping import Array, Float

import dockdyn
from dockdyn import parameter
from dockdyn.elements import Action, ElementMemory
import jax.numpy as jnp


class Mat(dockdyn.ForceElement):
    stiffness: Float[Array, ""] = parameter("N/m", "a stiffness", least=0)
    drag: Float[Array, ""] = parameter("N*m*s/rad", "a damping", least=0)

    def init(self, own, other):
        return ElementMemory()

    def act(self, mode, memory, own, other):
        first, second = own.pose.position, other.pose.position
        pull, turn = (second - first) * self.stiffness, (other.rate - own.rate) * self.drag
        return Action(pull, turn, own.point(dockdyn.Vector.of([0.2, 0.1, -0.1]))), memory

    def stored_energy(self, mode, memory, own, other):
        return jnp.zeros(())

    def observe(self, mode, memory, own, other):
        return {}
"""


def tensor(rng, size):
    """A moment of inertia (kg m²) of a body of so many."""
    turn = Rotation.random(random_state=rng).as_matrix()
    return (turn @ np.diag(size * rng.uniform([0.8, 1.0, 1.2], [0.9, 1.1, 1.3])) @ turn.T).tolist()


def drawn(seed):
    """A mechanism of four free bodies, two of which carry others in joints, all tied together by elements of every kind."""
    rng = np.random.default_rng(seed)

    def near(size=0.3):
        return rng.uniform(-size, size, 3)

    bodies, starts = {}, {}
    for name, corner in {"a": [0, 0, 0], "b": [2, 0.3, 0], "c": [0.2, 2, 0.5], "d": [2, 2, -0.4]}.items():
        place, turn = np.array(corner) + near(), Rotation.random(random_state=rng)
        starts[name] = place, turn
        mass = rng.uniform(20, 60)
        bodies[name] = {
            "mass": mass,
            "inertia": tensor(rng, 0.1 * mass),
            "position": place.tolist(),
            "attitude": turn.as_quat(scalar_first=True).tolist(),
            "velocity": near().tolist(),
            "rate": near().tolist(),
        }
    for name, on, joint in (
        ("e", "a", {"kind": "revolute", "stiffness": 30.0, "start_rate": 0.4, "moved_inertia": 3.0}),
        ("f", "b", {"kind": "locked"}),
    ):
        place, hinge = near(), near()
        starts[name] = starts[on][0] + starts[on][1].apply(place), starts[on][1]
        axis = {} if joint["kind"] == "locked" else {"axis": rng.normal(size=3).tolist()}
        bodies[name] = {
            "on": on,
            "mass": 8.0,
            "inertia": tensor(rng, 1.0),
            "position": place.tolist(),
            "joint": joint | axis | {"position": hinge.tolist()},
        }

    def seen_from(name, place):
        return starts[name][1].inv().apply(place - starts[name][0])

    def together(pair):
        """A place (m) that both bodies have at the start."""
        place = (starts[pair[0]][0] + starts[pair[1]][0]) / 2 + near(0.1)
        return [seen_from(name, place).tolist() for name in pair]

    def apart():
        return [near().tolist(), near().tolist()]

    def any_pair():
        first, second = rng.permutation(["a", "b", "c", "d", "e", "f"])[:2]
        return [str(first), str(second)] if {first, second} not in ({"a", "e"}, {"b", "f"}) else any_pair()

    rigid = [list(rng.permutation(pair)) for pair in (["c", "d"], ["d", "b"])]
    rigid = [[str(name) for name in pair] for pair in rigid]
    grips = rng.permutation(["pin", "weld"]).tolist()
    held = {"axis": [1, 0, 0], "lateral": 0.5, "reach": 0.5}
    soft = {"stiffness": 3e3, "damping": 40.0}
    pairs = [any_pair() for _ in range(9)]
    elements = [
        {"kind": "strut", "name": "rod", "between": pairs[0], "anchor": apart(), "moved_mass": 12.0, **soft},
        {
            "kind": "strut",
            "name": "legs",
            "between": pairs[1],
            "anchors": [apart(), apart()],
            "moved_mass": 7.0,
            "slip": 20.0,
            **soft,
        },
        {"kind": "cable", "name": "rope", "between": pairs[2], "anchor": apart(), "free_length": 0.3, **soft},
        {"kind": "magnet", "name": "pole", "between": pairs[3], "anchor": apart(), "force": 90.0, "gap": 1.0},
        {
            "kind": "bushing",
            "name": "mount",
            "between": pairs[4],
            "position": near().tolist(),
            "attitude": Rotation.random(random_state=rng).as_quat(scalar_first=True).tolist(),
            "stiffness": [900.0, 500.0, 700.0],
            "turning_stiffness": [60.0, 40.0, 50.0],
            "damping": [9.0, 5.0, 7.0],
            "turning_damping": [3.0, 2.0, 1.0],
        },
        {"kind": "latch", "name": "hook", "between": pairs[5], "anchor": together(pairs[5]), **held, **soft},
        {
            "kind": "latch",
            "name": "clamp",
            "between": pairs[6],
            "anchor": together(pairs[6]),
            "grip": "compliant-weld",
            "turning_stiffness": 200.0,
            "turning_damping": 5.0,
            **held,
            **soft,
        },
        {"kind": "latch", "name": "claw", "between": rigid[0], "anchor": together(rigid[0]), "grip": grips[0], **held},
        {
            "kind": "connection",
            "name": "plug",
            "between": rigid[1],
            "anchor": together(rigid[1]),
            "grip": grips[1],
        },
        {"kind": "own_mat:Mat", "name": "mat", "between": pairs[7], "stiffness": 70.0, "drag": 20.0},
    ]
    ball, normal, radius = near(), rng.normal(size=3), 0.05
    centre = starts["a"][0] + starts["a"][1].apply(ball)
    deck = centre - (radius - 0.01) * starts["c"][1].apply(normal / np.linalg.norm(normal))  # pressed in by 1 cm
    bodies["a"]["feature"] = {"ball": {"position": ball.tolist(), "radius": radius}}
    bodies["c"]["surface"] = {
        "deck": {"shape": "plane", "point": seen_from("c", deck).tolist(), "normal": normal.tolist()}
    }
    pressed = {
        "between": ["ball", "deck"],
        "normal": {"law": "spring-dashpot", "stiffness": 4e3, "damping": 20.0},
        "friction": {"law": "coulomb", "coefficient": 0.3, "regularisation": 0.01},
    }
    jet = {"body": pairs[8][0], "position": near().tolist(), "direction": near().tolist(), "force": 11.0}
    return {
        "schema": 2,
        "duration": 0.3,
        "body": bodies,
        **acting(*elements),
        "contact": {"pressed": pressed},
        "thruster": {"jet": jet},
        "control": {
            "body": "d",
            "law": "attitude-hold",
            "base_stiffness": 40.0,
            "base_damping": 30.0,
            "velocity_damping": 60.0,
        }
        | {"base_limit": 2.0, "thruster_force": 5.0, "thruster_torque": 1.0},
        "output": {"interval": STEP},
    }


def rate_of(values):
    """The rate of what is sampled, of fourth order; without the two samples at either end."""
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * STEP)


class Motion:
    """How the bodies of a run move, by their names."""

    def __init__(self, data):
        self.data, self.bodies = data, list(map(str, data.body.values))

    def place(self, name, at=(0.0, 0.0, 0.0)):
        number = self.bodies.index(name)
        return self.data.position.values[:, number] + self.turn(name).apply(at)

    def turn(self, name):
        return Rotation.from_quat(self.data.attitude.values[:, self.bodies.index(name)], scalar_first=True)

    def needed(self, name, stated):
        """What its motion needs: force (N), and moment (N m) about its centre of mass, inertial."""
        number = self.bodies.index(name)
        spin = self.turn(name).apply(self.data.rate.values[:, number] @ np.array(stated["inertia"]).T)
        return rate_of(stated["mass"] * self.data.velocity.values[:, number]), rate_of(spin)


def acting_on(case, motion, told):
    """Of each body the sum of what its interfaces put on it: force, and moment about its centre of mass; inertial."""
    heads, *rows = csv.reader(io.StringIO(told.files()["loads.csv"]))
    table = np.array(rows, float)
    found = {name: [np.zeros((len(table), 3)), np.zeros((len(table), 3))] for name in case["body"]}
    kinds = ("strut", "cable", "magnet", "bushing", "latch", "connection", "element", "thruster")
    tables = {f"{kind}.{name}": one for kind in kinds for name, one in case.get(kind, {}).items()}
    for one in told.interfaces:
        if one.name.startswith("port "):
            continue
        columns = [heads.index(f"{one.slug}.{part}") for part in COMPONENTS]
        kind, _, name = one.name.partition(" ")
        force, moment = (motion.turn(one.on).apply(table[:, columns[part]]) for part in (slice(0, 3), slice(3, 6)))
        if kind == "joint":
            on = case["body"][name]["on"]
            bodies, at = (name, on), motion.place(on, case["body"][name]["joint"]["position"])
        elif kind == "control":
            bodies, at = ("d",), motion.place("d")
        elif kind == "contact":
            bodies, at = ("a", "c"), motion.place("a", case["body"]["a"]["feature"]["ball"]["position"])
        else:
            base, _, member = name.partition(" ")
            stated = tables[f"{kind}.{base}"]
            bodies = stated.get("between", [stated.get("body")])
            if kind == "bushing":  # which is stated on the second body, as it begins
                start = motion.place(bodies[1], stated["position"])[0] - motion.place(bodies[0])[0]
                at = motion.place(bodies[0], motion.turn(bodies[0])[0].inv().apply(start))
            elif kind == "thruster":
                at = motion.place(bodies[0], stated["position"])
            elif kind == "element":
                at = motion.place(bodies[0])
            else:
                pair = stated["anchors"][int(member) - 1] if member else stated["anchor"]
                at = motion.place(bodies[0], pair[0])
        assert one.on == bodies[0]
        for body, sign in zip(bodies, (1.0, -1.0), strict=False):
            found[body][0] += sign * force
            found[body][1] += sign * (moment + np.cross(at - motion.place(body), force))
    return found


@pytest.mark.full_cases("1", "2", "3", "4", "5")
@pytest.mark.parametrize("seed", range(6))
def test_loads_of_every_body_are_what_newton_and_euler_say(seed, load, own_files):
    """A contact with friction, struts with moved mass, cables, magnets, bushings, latches and connections, pinned and welded,
    compliant and rigid, an element of one's own, a thruster, control, joints with a moved inertia: any between any bodies."""
    own_files({"own_mat.py": OWN})
    case = drawn(seed)
    scenario = load(case)
    data = simulated(load, case)
    told = loads_of_run(data, scenario.content, [], 10.0)
    kinds = {
        "joint e",
        "joint f",
        "strut rod",
        "strut legs 1",
        "strut legs 2",
        "cable rope",
        "magnet pole",
        "latch claw",
    }
    kinds |= {
        "bushing mount",
        "latch hook",
        "latch clamp",
        "connection plug",
        "element mat",
        "thruster jet",
        "contact pressed",
        "control d",
    }
    assert {one.name for one in told.interfaces} == kinds
    motion = Motion(data)
    found = acting_on(case, motion, told)
    for name, stated in case["body"].items():
        for needed, told_of in zip(motion.needed(name, stated), found[name], strict=True):
            scale = np.abs(needed).max()
            errors = np.abs(needed - told_of[2:-2]).max(axis=1)
            assert np.quantile(errors, 0.9) < 1e-5 * scale, name  # but beside events, where the motion has an edge


@pytest.mark.full
def test_a_latch_behind_a_ramp_loads_its_body_with_what_acts():
    """The force of the ramp after the delay, then the weld, both of which the vehicle's motion shows."""
    scenario = dockdyn.load("probe-cone-latch", {"output.interval": f"{STEP} s"})
    data = dockdyn.simulate(scenario)
    told = {one.name: one.loads for one in loads_of_run(data, scenario.content, [], 10.0).interfaces}
    motion = Motion(data)
    target = next(body for body in scenario.content.bodies if body.name == "target")
    needed = motion.needed("target", {"mass": target.mass, "inertia": target.inertia})
    probe, turn = motion.place("chaser", [1.6, 0, 0]) - motion.place("target"), motion.turn("chaser")
    both = told["contact probe"] + told["latch capture"]
    force, moment = turn.apply(both[:, :3]), turn.apply(both[:, 3:])
    for wanted, found in zip(needed, (force, moment + np.cross(probe, force)), strict=True):
        errors = np.abs(wanted + found[2:-2]).max(axis=1)
        assert np.quantile(errors, 0.95) < 1e-5 * np.abs(wanted).max()
    assert min(np.abs(loads).max() for loads in told.values()) > 15

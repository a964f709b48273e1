"""Links of trees with large beams as bodies of a mechanism, beside the dense equations of their trees and Lagrange's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import vector
from plain_tables import by_name
from tree_cases import branches, case, configuration, random_link

import dockdyn
from dockdyn.elements import TreeSprings
from dockdyn.impact.laws.contact_matrix import lock_constraints
from dockdyn.mechanics.lines import row_of
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.momentum import momentum_of_tree
from dockdyn.mechanics.trees.moving_bodies import MovingBodies
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.vector import Matrix
from dockdyn.mechanism.connections import Connection
from dockdyn.mechanism.strikes import stop_motion, strike_bodies
from dockdyn.programs import Program


def vectors(rows):
    return [vector(row) for row in rows]


def joined(tree):
    """A tree by itself as bodies."""
    found = TreeBodies.of(tree, range(len(tree.layout.names)))
    return found, MovingBodies(found.bodies, (found,))


def as_rows(pairs):
    return jnp.stack([row_of(*pair) for pair in pairs])


def twists(moving, states):
    bodies = moving.placed(*moving.begun((), (), (), states)).bodies
    return as_rows([(one.twist.velocity, one.twist.rate) for one in bodies])


def by_jacobians(tree, own, q, v, loads):
    """Mass matrix, bias, and generalised forces of loads at the links' centres of mass."""
    mass, bias, motion = tree.dynamics(q, v)
    total = jnp.zeros_like(bias)
    for link, (centre, load) in enumerate(zip(own.centres, loads, strict=True)):
        force = motion.rotation[link].T @ load[:3]
        wrench = jnp.concatenate([force, load[3:] + jnp.cross(centre, force)])
        total += tree.jacobian(motion, link).T @ wrench
    return mass, bias, total


@Program
def under_loads(tree, q, v, loads, efforts):
    """What loads on all links do, by both ways."""
    own, moving = joined(tree)
    here = moving.placed(*moving.begun((), (), (), [(q, v)]))
    forces, torques = vectors(loads[:, :3]), vectors(loads[:, 3:])
    given = moving.respond(here, forces, torques, [efforts[number] for number in own.numbers()], [])
    mass, bias, total = by_jacobians(tree, own, q, v, loads)
    driven = total.at[jnp.array(own.columns())].add(efforts)
    needed = moving.needed(here, given.rates, given.bodies)
    spare = [(force - vector(a[:3]), torque - vector(a[3:])) for (force, torque), a in zip(needed, loads, strict=True)]
    through = moving.reactions(here, *zip(*spare, strict=True))
    rate = given.rates.trees[0]
    _, moved = jax.jvp(lambda a, b: twists(moving, [(a, b)]), (q, v), (tree.rate(q, v), rate))

    def energy(a, b):
        kinetic = sum(moving.kinetic_energies(moving.placed(*moving.begun((), (), (), [(a, b)]))))
        return kinetic + tree.potential_energy(a)

    _, gained = jax.jvp(energy, (q, v), (tree.rate(q, v), rate))
    springs = TreeSprings(tree)
    _, lost = springs.act((), springs.init(here.trees[0]), here.trees[0])
    speeds = twists(moving, [(q, v)])
    poses, own_twists = tuple(one.pose for one in here.bodies), tuple(one.twist for one in here.bodies)
    linear, angular, _, _ = pair_momentum(moving.bodies, poses, own_twists)
    bent = moving.momentum_of_bending(here)
    whole = momentum_of_tree(tree.layout.base, q, mass, v)
    return {
        "rates": (rate, jnp.linalg.solve(mass, driven - bias)),
        "change": (moving.change(here, loads).trees[0], jnp.linalg.solve(mass, total)),
        "answer": (moving.answer(here, loads[None])[0], twists(moving, [(q, jnp.linalg.solve(mass, total))])),
        "twists": (as_rows([(one.velocity, one.rate) for one in given.bodies]), moved),
        "kinetic": (sum(moving.kinetic_energies(here)), tree.kinetic_energy(q, v)),
        "power": (gained + lost.dissipated, jnp.sum(loads * speeds) + efforts @ v[jnp.array(own.columns())]),
        "force": (sum(force.array() for force, _ in needed), loads[:, :3].sum(0)),
        "linear": ((linear + bent[0]).array(), whole.linear),
        "angular": ((angular + bent[1]).array(), whole.spin()),
        "ball": (through[1][1].array(), jnp.zeros(3)),
        "hinge": (through[2][1].array() @ tree.links.axis[2], efforts[0] - springs_of(tree, q, v)[0]),
        "slide": (through[3][0].array() @ tree.links.axis[3], efforts[1] - springs_of(tree, q, v)[1]),
    }


def springs_of(tree, q, v):
    """What springs and dampers of the joints take."""
    return tree.joint_loads(q, v)[jnp.array(tree.joint_columns())]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
def test_links_answer_loads_as_their_tree_does(seed):
    """Rates, answers, energies, momenta, and no moment through a ball joint: beams that bend far and twist, on a free base."""
    rng = np.random.default_rng([51, seed])
    basis = ("polynomial", "craig-bampton")[seed % 2]
    drawn = case(rng, branches(rng, basis=basis), "free")
    tree = drawn.tree
    count, width = len(drawn.links), len(tree.joint_columns()) + sum(tree.layout.modes)
    found = under_loads(
        tree, configuration(drawn), jnp.asarray(drawn.rates), rng.normal(size=(count, 6)), rng.normal(size=width)
    )
    for name, (ours, theirs) in found.items():
        scale = max(np.abs(theirs).max(), 10.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10 * scale, err_msg=name)


def rigid(rng):
    joints = ["locked", *map(str, rng.choice(["revolute", "prismatic", "locked"], 4))]
    names = [f"link{number}" for number in range(5)]
    parents = [None, *(names[int(rng.integers(number))] for number in range(1, 5))]
    return [random_link(rng, *each) for each in zip(names, parents, joints, strict=True)]


@Program
def beside(tree, arm, q, v, speeds, loads):
    own, moving = joined(tree)
    here = moving.placed(*moving.begun((), (), (), [(q, v)]))
    jointed = MovingBodies(own.bodies, (arm,))
    rows = [(one.pose, one.twist) for one in here.bodies]
    state = jointed.begun([a for a, _ in rows], [b for _, b in rows], list(zip(q.joints, speeds, strict=True)))
    there, found = jointed.placed(*state), []
    for one, at in ((moving, here), (jointed, there)):
        efforts = [jnp.asarray(0.3) for _ in at.joints]
        given = one.respond(at, vectors(loads[:, :3]), vectors(loads[:, 3:]), efforts, [])
        needed = one.needed(at, given.rates, given.bodies)
        spare = [
            (force - vector(a[:3]), torque - vector(a[3:])) for (force, torque), a in zip(needed, loads, strict=True)
        ]
        through = one.reactions(at, *zip(*spare, strict=True))
        found.append(
            {
                "twists": as_rows([(body.velocity, body.rate) for body in given.bodies]),
                "needed": as_rows(needed),
                "through": as_rows([through[body] for body, _ in one.held()]),
                "energies": jnp.stack(one.kinetic_energies(at)),
                "answer": one.answer(at, loads[None]),
            }
        )
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
def test_an_arm_of_rigid_links_is_the_same_arm(seed):
    """As a tree about its base's origin, and as bodies about their common centre of mass."""
    rng = np.random.default_rng([52, seed])
    drawn = case(rng, rigid(rng), "free")
    tree, links = drawn.tree, drawn.links
    places = {link.name: at for at, link in enumerate(links)}
    numbers, joints = iter(range(4)), []
    for link in links[1:]:
        carrier = next(one for one in links if one.name == link.parent)
        axis = np.asarray(link.axis) / np.linalg.norm(link.axis)
        number = None if link.joint == "locked" else next(numbers)
        seat = Quaternion.from_matrix(Matrix.of(jnp.asarray(link.mount_turn)))
        mount = vector(np.asarray(link.mount) - np.asarray(carrier.centre))
        arm = vector(link.centre), vector(axis), jnp.zeros(())
        joints.append(Joint(seat, mount, *arm, link.joint, places[link.parent], number))
    own = Program(lambda tree: TreeBodies.of(tree, range(5)).bodies)(tree)
    arm = JointedBodies(own, tuple(joints), tuple(range(5)))
    v = jnp.asarray(drawn.rates)
    speeds = v[np.array(tree.joint_columns(), int)]
    ours, theirs = beside(tree, arm, configuration(drawn), v, speeds, rng.normal(size=(5, 6)))
    for name, expected in theirs.items():
        scale = max(np.abs(expected).max(), 1.0)
        np.testing.assert_allclose(ours[name], expected, rtol=0, atol=1e-11 * scale, err_msg=name)


def pair(first, second, locked=()):
    """Two trees, of whose last links the one holds the other."""
    count = len(first.layout.names)
    trees = TreeBodies.of(first, range(count), 0, locked), TreeBodies.of(second, range(count, 2 * count))
    return trees, MovingBodies(trees[0].bodies + trees[1].bodies, trees)


def held_rows(trees, own, states, place, hold, planar):
    """How the last link of the first tree moves against that of the second at a place, by all velocities."""
    parts = []
    for tree, one, (q, v), sign in zip(trees, own, states, (1.0, -1.0), strict=True):
        _, _, motion = tree.dynamics(q, v)
        turn, jacobian = motion.rotation[-1], tree.jacobian(motion, len(tree.layout.names) - 1)
        if sign > 0:
            point = motion.position[-1] + turn @ (one.centres[-1] + place)
        arm = point - motion.position[-1]
        moving = turn @ jacobian[:3] - jnp.cross(arm, (turn @ jacobian[3:]).T).T
        parts.append(sign * jnp.concatenate([moving, turn @ jacobian[3:]]))
    kept = ([0, 1] if planar else [0, 1, 2]) + ([] if hold == "pin" else [5] if planar else [3, 4, 5])
    return jnp.concatenate(parts, axis=1)[jnp.array(kept)]


def captured(first, second, states, place, hold, locked):
    own, moving = pair(first, second, locked)
    planar = moving.planar
    count = len(first.layout.names)
    q, v = moving.begun((), (), (), states)
    here = moving.placed(q, v)
    connection = Connection(place, count - 1, 2 * count - 1, hold, planar)
    struck = strike_bodies(moving, here, connection.rows(here.bodies), stop_motion)
    after = jax.tree.map(jnp.add, v, struck.change)
    there = moving.placed(q, after)
    free = [vector(jnp.zeros(3)) for _ in moving.bodies]
    lines = connection.lines(there.bodies, jnp.asarray(True))
    rates = moving.respond(there, free, free, [jnp.zeros(())] * len(there.joints), [], lines).rates
    trees, parts = (first, second), [tree.dynamics(a, b) for tree, (a, b) in zip((first, second), states, strict=True)]
    mass = jax.scipy.linalg.block_diag(*(part[0] for part in parts))
    width = mass.shape[0]
    locks = jnp.eye(width)[jnp.array(locked, int)]
    rows = jnp.concatenate([held_rows(trees, own, states, place, hold, planar), locks])
    stopped = lock_constraints(mass, rows, jnp.concatenate([b for _, b in states]))
    moved = [(a, b) for (a, _), b in zip(states, after.trees, strict=True)]
    bias = jnp.concatenate([tree.dynamics(*one)[1] for tree, one in zip(trees, moved, strict=True)])

    def slip(*places):
        there = [(a, b) for a, (_, b) in zip(places, moved, strict=True)]
        return held_rows(trees, own, there, place, hold, planar) @ jnp.concatenate(after.trees)

    along = tuple(tree.rate(*one) for tree, one in zip(trees, moved, strict=True))
    _, drift = jax.jvp(slip, tuple(a for a, _ in moved), along)
    drift = jnp.concatenate([drift, jnp.zeros(len(locked))])
    count = rows.shape[0]
    whole = jnp.block([[mass, -rows.T], [rows, jnp.zeros((count, count))]])
    expected = jnp.linalg.solve(whole, jnp.concatenate([-bias, -drift]))[: mass.shape[0]]
    return jnp.concatenate(after.trees), stopped, jnp.concatenate(rates.trees), expected


by_grip = Program(captured, static=("hold", "locked"))


def planar(rng):
    across = {"mount_turn": np.eye(3), "axis": [0.0, 0.0, 1.0]}
    flat = {"inertia": np.diag(rng.uniform(1, 2, 3))}
    return [
        random_link(rng, "base", None, "locked", **across, **flat),
        random_link(rng, "upper", "base", "revolute", **across, **flat),
        random_link(rng, "hand", "upper", "revolute", **across, **flat),
    ]


@pytest.mark.full_cases("planar-weld")
@pytest.mark.parametrize("hold", ["pin", "weld"])
@pytest.mark.parametrize("base", ["planar", pytest.param("free", marks=pytest.mark.full)])
def test_two_trees_that_a_grip_joins(base, hold):
    """Velocities after it has fallen in, and accelerations while it holds, a joint of the first tree being locked."""
    rng = np.random.default_rng([53, len(base), len(hold)])
    drawn = [case(rng, planar(rng) if base == "planar" else branches(rng), base) for _ in range(2)]
    (column,) = drawn[0].tree.joint_columns()[:1]
    states = [(configuration(one), jnp.asarray(one.rates)) for one in drawn]
    states[0] = (states[0][0], states[0][1].at[column].set(0.0))
    place = jnp.asarray(rng.normal(size=3) * (1 if base == "free" else [1, 1, 0]))
    after, stopped, rates, expected = by_grip(drawn[0].tree, drawn[1].tree, states, place, hold=hold, locked=(column,))
    np.testing.assert_allclose(after, stopped, rtol=0, atol=1e-11 * np.abs(stopped).max())
    np.testing.assert_allclose(rates, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert np.abs(stopped).max() > 0.1 and np.abs(expected).max() > 0.1


def test_a_level_pose_has_its_place():
    """The centre of mass of a straight beam is in its middle, and its mass that of the beam."""
    rng = np.random.default_rng(54)
    beams = branches(rng)
    drawn = case(rng, beams, "free")
    own = Program(lambda tree: TreeBodies.of(tree, range(len(beams))))(drawn.tree)
    for link, body, centre in zip(drawn.links, own.bodies, own.centres, strict=True):
        beam, mass, place = link.beam, link.mass, np.asarray(link.centre)
        if beam is not None:
            middle = np.array([float(beam.length) / 2, 0, 0])
            total = mass + float(beam.mass)
            place, mass = (mass * place + float(beam.mass) * middle) / total, total
        assert float(body.mass) == pytest.approx(mass, rel=1e-12)
        np.testing.assert_allclose(centre, place, rtol=0, atol=1e-12)


def pressed():
    """An arm with a damped beam, a ball joint and damped joints that touches a payload softly."""
    rod = {"kind": "beam", "basis": "craig-bampton", "length": 2.0, "mass_per_length": 2.0, "damping": 2e-3}
    rod |= {"bending_stiffness": [300.0, 300.0], "bending_modes": [1, 1]}
    springy = {"kind": "revolute", "axis": [0, 0, 1], "stiffness": 20.0, "damping": 0.5}
    arm = {"name": "arm", "on": "body", "position": [1.5, 0.2, 0], "mass": 4.0, "inertia": [1e-3, 4 / 3, 4 / 3]}
    arm |= {"joint": springy | {"position": [0.5, 0.2, 0], "start": 0.4, "start_rate": 0.3}, "flexible": rod}
    wrist = {"name": "wrist", "on": "arm", "position": [1.0, 0, 0], "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}
    ball = {"kind": "spherical", "position": [1.0, 0, 0], "start_rate": [0.1, 0.2, -0.1], "damping": 0.5}
    wrist |= {"joint": ball, "feature": {"tip": {"position": [0.3, 0, 0]}}}
    reach, aside = np.array([np.cos(0.4), np.sin(0.4), 0]), np.array([-np.sin(0.4), np.cos(0.4), 0])
    place = ([0.5, 0.2, 0] + 2.3 * reach + 0.4 * aside).tolist()
    surface = {"shape": "sphere", "centre": [0, 0, 0], "radius": 0.399}
    payload = {"name": "payload", "position": place, "rate": [0.1, 0.2, -0.1], "mass": 20.0, "inertia": [2, 2.5, 3]}
    return {
        "schema": 2,
        "duration": 0.4,
        "body": by_name(
            [
                {
                    "name": "body",
                    "mass": 40.0,
                    "inertia": [3, 4, 5],
                    "velocity": [0.1, 0.02, 0.03],
                    "rate": [0.02, 0.05, -0.03],
                },
                arm,
                wrist,
                payload | {"surface": {"ball": surface}},
            ]
        ),
        "contact": {
            "tip": {
                "between": ["tip", "ball"],
                "normal": {"law": "spring-dashpot", "stiffness": 3000.0, "damping": 5.0},
                "friction": {"law": "coulomb", "coefficient": 0.3},
            }
        },
        "integrator": {"tolerance": 1e-10},
        "output": {"interval": 0.02},
    }


@pytest.mark.full
def test_energy_and_momentum_of_trees_that_touch(load):
    """What bodies have and springs store, less what the contact has given and dampers have taken, stays along a run."""
    seen = dockdyn.simulate(load(pressed()))
    assert seen.attrs["finished"] and float(seen.normal_force.max()) > 1.0
    energy = (seen.kinetic_energy + seen.internal_energy - seen.work).values
    assert np.ptp(seen.kinetic_energy.values) > 0.01
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-7)
    for name in ("linear_momentum", "angular_momentum"):
        scale = float(seen[f"{name}_scale"].max())
        np.testing.assert_allclose(seen[name] - seen[name][0], 0, atol=1e-10 * scale)

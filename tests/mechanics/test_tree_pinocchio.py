"""Trees of rigid links against Pinocchio."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tree_cases import COORDINATES, Case, case, configuration, dynamics, own_size, random_link

from dockdyn.mechanics.trees.tree_building import Link


def random_tree(seed: int, size: int, base: str) -> Case:
    """Rigid links with joints of all kinds, each on any link before it."""
    rng = np.random.default_rng(seed)
    links = [random_link(rng, "link 0", None, "locked")]
    for index in range(1, size + 1):
        parent = f"link {rng.integers(max(0, index - 3), index)}"
        joint = rng.choice(list(COORDINATES), p=[0.5, 0.2, 0.2, 0.1])
        links.append(random_link(rng, f"link {index}", parent, str(joint)))
    return case(rng, links, base)


class Pinocchio(NamedTuple):
    """The same tree there."""

    model: object
    place: np.ndarray
    columns: np.ndarray  # of Pinocchio, in the order of the velocities here
    holders: list[tuple]  # of every link: its joint there, and where it is in that joint's frame


def pinocchio_model(pin, case: Case) -> Pinocchio:
    """Joints are added depth first: Pinocchio's mass matrix needs the joints of a branch together."""
    model, holders, places = pin.Model(), {}, {}
    model.gravity = pin.Motion.Zero()
    starts = np.cumsum([own_size(case, link) for link in case.links])
    own = dict(zip((link.name for link in case.links), np.split(case.coordinates, starts), strict=False))

    def joint_model(link: Link):
        if link.parent is None:
            return pin.JointModelFreeFlyer() if case.base == "free" else pin.JointModelPlanar()
        if link.joint == "spherical":
            return pin.JointModelSpherical()
        kind = pin.JointModelRevoluteUnaligned if link.joint == "revolute" else pin.JointModelPrismaticUnaligned
        return kind(np.asarray(link.axis) / np.linalg.norm(link.axis))

    def place(x: np.ndarray, link: Link) -> np.ndarray:
        if link.parent is None and case.base == "planar":
            return np.array([*x[:2], np.cos(x[2]), np.sin(x[2])])
        return np.array([*x[:-3], *Rotation.from_rotvec(x[-3:]).as_quat()]) if len(x) >= 3 else x

    def add(link: Link) -> None:
        if link.parent is None:
            on, seat = 0, pin.SE3(case.origin.as_matrix(), np.zeros(3))
        else:
            on, there = holders[link.parent]
            seat = there * pin.SE3(np.asarray(link.mount_turn), np.asarray(link.mount))
        if own_size(case, link):
            joint = model.addJoint(on, joint_model(link), seat, link.name)
            on, seat, places[joint] = joint, pin.SE3.Identity(), (link.name, place(own[link.name], link))
        holders[link.name] = on, seat
        model.appendBodyToJoint(on, pin.Inertia(link.mass, np.asarray(link.centre), link.inertia), seat)
        for child in case.links:
            if child.parent == link.name:
                add(child)

    add(case.links[0])
    columns = {
        name: np.arange(model.joints[joint].nv) + model.joints[joint].idx_v for joint, (name, _) in places.items()
    }
    return Pinocchio(
        model,
        np.concatenate([places[joint][1] for joint in sorted(places)]),
        np.concatenate([columns[link.name] for link in case.links if link.name in columns]),
        [holders[link.name] for link in case.links],
    )


@pytest.mark.full_cases("2-9-fixed", "3-11-planar", "0-12-free")
@pytest.mark.parametrize(
    ("seed", "size", "base"), [(0, 12, "free"), (2, 9, "fixed"), (3, 11, "planar"), (5, 0, "free")]
)
def test_rigid_trees_against_pinocchio(seed, size, base):
    """Mass matrix, bias, places, twists and their rates at constant velocities of random trees."""
    pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")
    case = random_tree(seed, size, base)
    model, place, columns, holders = pinocchio_model(pin, case)
    data, v, there_v = model.createData(), case.rates, np.zeros(model.nv)
    there_v[columns] = v
    mass = pin.crba(model, data, place)
    mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(columns, columns)]
    bias = pin.nonLinearEffects(model, data, place, there_v)[columns]
    pin.forwardKinematics(model, data, place, there_v, np.zeros(model.nv))

    found, h, motion, *_ = dynamics(case.tree, configuration(case), v)
    scale = np.abs(mass).max()
    np.testing.assert_allclose(found, mass, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(h, bias, rtol=0, atol=1e-12 * np.abs(bias).max())
    for index, (joint, there) in enumerate(holders):
        world = data.oMi[joint] * there
        np.testing.assert_allclose(motion.position[index], world.translation, rtol=0, atol=1e-13)
        np.testing.assert_allclose(motion.rotation[index], world.rotation, rtol=0, atol=1e-13)
        np.testing.assert_allclose(motion.twist[index], there.actInv(data.v[joint]).vector, rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.bias[index], there.actInv(data.a[joint]).vector, rtol=0, atol=1e-11)
        np.testing.assert_allclose(case.tree.jacobian(motion, index) @ v, motion.twist[index], rtol=0, atol=1e-12)

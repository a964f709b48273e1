"""The compliance device against one derived anew from where its springs pull."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_bounces import SMOOTH, bounce, reduced, scene
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from dockdyn.contact.laws.compliance_device import ComplianceDevice
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program


class Device:
    """The device derived anew. R is the origin; Q = l₀ a is the tip, P lies a fraction of l₀ behind it on the line RQ.

    Moving Q to l₀ a + d n moves P along with it: P = Q − r l₀ Q/|Q|. The springs pull at P.
    """

    def __init__(self, axis, length, ratio, stiffness, anchors):
        self.axis = np.array(axis) / np.linalg.norm(axis)
        self.length, self.ratio = length, ratio
        self.stiffness, self.anchors = np.array(stiffness), np.array(anchors)

    def point(self, depth, normal):
        tip = self.length * self.axis + depth * normal
        return tip * (1 - self.ratio * self.length / np.linalg.norm(tip))

    def stretches(self, depth, normal):
        arms = self.point(depth, normal) - self.anchors
        rest = np.linalg.norm(self.point(0.0, normal) - self.anchors, axis=1)
        return np.linalg.norm(arms, axis=1) - rest, arms / np.linalg.norm(arms, axis=1)[:, None]

    def energy(self, depth, normal):
        return 0.5 * self.stiffness @ self.stretches(depth, normal)[0] ** 2

    def conjugate_force(self, depth, normal):
        """dE/dd: each spring's tension times how fast it stretches; dP/dd follows from P above."""
        stretch, directions = self.stretches(depth, normal)
        tip = self.length * self.axis + depth * normal
        size = np.linalg.norm(tip)
        slope = normal - self.ratio * self.length * (normal / size - tip * (tip @ normal) / size**3)
        return (self.stiffness * stretch) @ (directions @ slope)

    def initial_stiffness(self, normal):
        """As published (the spring force at P seen along n) and work-conjugate, from the springs' stiffness matrix at P."""
        _, directions = self.stretches(0.0, normal)
        matrix = (directions * self.stiffness[:, None]).T @ directions
        moves = (1 - self.ratio) * normal + self.ratio * self.axis * (self.axis @ normal)  # dP/dd
        return normal @ matrix @ moves, moves @ matrix @ moves

    def package(self, model):
        return ComplianceDevice(
            axis=jnp.array(self.axis),
            length=jnp.array(self.length),
            ratio=jnp.array(self.ratio),
            stiffness=jnp.array(self.stiffness),
            anchors=jnp.array(self.anchors),
            model=model,
        )


def computed_stiffness(device, model, normal):
    """Central difference of the package's force at zero depth; its error is d² times the third derivative: 1e-8."""
    package, depth = device.package(model), 1e-5  # m
    return float(loaded(package, normal, depth) - loaded(package, normal, -depth)) / (2 * depth)


@Program
def loaded(package, normal, depth):
    return package.along(Vector.of(normal)).force(depth, jnp.zeros(()))


def test_initial_stiffness_of_table_2():
    """Sazawal et al., Table 2, at first contact: 475 N/m as published, 295 N/m work-conjugate; here both by hand, too."""
    third = np.sqrt(3) / 2
    anchors = [[0, 0, 0], [0.2, 0, 0.2], [0.2, 0.2 * third, -0.1], [0.2, -0.2 * third, -0.1]]
    device = Device([1, 0, 0], 1.0, 0.8, [1000.0] * 4, anchors)
    normal = np.array([-0.5, 0.0, -third])  # out of the wall of a 30° cone, seen by a chaser turned half around z
    # springs at P: 1000 along x, 1500 along y and z; P moves by (−0.5, 0, −0.2·0.866) per unit depth
    assert device.initial_stiffness(normal) == pytest.approx((475.0, 295.0), rel=1e-12)
    assert computed_stiffness(device, "as-published", normal) == pytest.approx(475.0, rel=1e-7)
    assert computed_stiffness(device, "work-conjugate", normal) == pytest.approx(295.0, rel=1e-7)


units = st.floats(-1, 1).filter(lambda x: abs(x) > 0.05)
directions = st.tuples(units, units, units).map(lambda v: np.array(v) / np.linalg.norm(v))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    axis=directions,
    normal=directions,
    length=st.floats(0.4, 2.0),
    ratio=st.floats(0.1, 0.8),
    ends=st.lists(st.tuples(directions, st.floats(0.1, 0.5), st.floats(100, 4000)), min_size=3, max_size=3),
)
def test_stiffness_and_force_of_any_device(axis, normal, length, ratio, ends):
    """Springs of any length and direction at P: initial stiffness of both models, and the conjugate force when loaded."""
    start = Device(axis, length, ratio, [1.0], [[9, 9, 9]]).point(0.0, normal)
    device = Device(axis, length, ratio, [k for *_, k in ends], [start + size * way for way, size, _ in ends])
    scale = sum(k for *_, k in ends)
    published, conjugate = device.initial_stiffness(normal)
    # difference quotient: third derivatives of the force are of order k / (0.1 m)², times (1e-5 m)²
    assert computed_stiffness(device, "as-published", normal) == pytest.approx(published, abs=1e-6 * scale)
    assert computed_stiffness(device, "work-conjugate", normal) == pytest.approx(conjugate, abs=1e-6 * scale)
    package = device.package("work-conjugate")
    for depth in (0.004, 0.02):
        expected = device.conjugate_force(depth, normal)
        assert float(loaded(package, normal, depth)) == pytest.approx(expected, abs=1e-12 * scale)


@pytest.mark.full
def test_compliance_device_in_a_scenario(run):
    """Inclined to the wall by 35°, it rebounds without loss; deepest point and duration from its elastic energy alone."""
    masses, speed = (500.0, 1400.0), 0.06
    m = reduced(masses)
    content, line = scene(masses, speed, {})
    inward = Rotation.from_quat(content["chaser"]["attitude"], scalar_first=True).inv().apply(line)  # pushes the chaser
    tilt = Rotation.from_rotvec(
        np.radians(35) * np.cross(inward, [0, 0, 1]) / np.linalg.norm(np.cross(inward, [0, 0, 1]))
    )
    axis = tilt.apply(-inward)
    place = 0.3 * axis * 0.9  # P = (1 − r) l₀ a
    anchors = place + np.array([[0.2, 0.1, 0.0], [-0.15, 0.12, 0.1], [0.05, -0.25, 0.1], [0.0, 0.1, -0.22]])
    springs = [3000.0, 2200.0, 4100.0, 1500.0]
    device = Device(axis, 0.9, 0.7, springs, anchors)
    law = {
        "law": "compliance-device",
        "model": "work-conjugate",
        "axis": axis,
        "length": "90 cm",
        "ratio": 0.7,
        "springs": [{"anchor": a, "stiffness": k} for a, k in zip(anchors, springs, strict=True)],
    }
    contact, restitution = bounce(run, masses, speed, law)
    deepest = brentq(lambda d: device.energy(d, inward) - m * speed**2 / 2, 1e-4, 0.2, xtol=1e-15)
    half, _ = quad(
        lambda s: 2 * s * deepest / np.sqrt(speed**2 - 2 * device.energy(deepest * (1 - s**2), inward) / m),
        0,
        1,
        epsrel=1e-11,
    )
    assert restitution == pytest.approx(1, rel=SMOOTH)
    assert contact["peak_force_N"] == pytest.approx(device.conjugate_force(deepest, inward), rel=SMOOTH)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(2 * half, rel=SMOOTH)

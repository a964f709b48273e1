"""A law, friction and a surface of a user's own against the closed form of a contact on their axis."""

import textwrap

import numpy as np
import pytest
import tomlkit
from law_bounces import ONSET, SMOOTH, reduced
from scipy.integrate import quad
from two_bodies import two_bodies

import dockdyn

OWN_PARTS = '''
    from jaxtyping import Array, Float

    import dockdyn
    from dockdyn.mechanics.vector import Vector


    class Stiffening(dockdyn.NormalLaw):
        """k d + c d³."""

        linear: Float[Array, ""]  # N/m
        cubic: Float[Array, ""]  # N/m³

        def force(self, depth, rate):
            return self.linear * depth + self.cubic * depth**3


    class Viscous(dockdyn.Friction):
        """−c f_n v."""

        drag: Float[Array, ""]  # s/m

        def force(self, normal_force, sliding):
            return sliding * (-self.drag * normal_force)


    class Paraboloid(dockdyn.Surface):
        """A dish with its bottom at `bottom`, opening along x; the distance is to first order."""

        bottom: Float[Array, "3"]  # m
        curvature: Float[Array, ""]  # 1/m

        def reference(self):
            return Vector.of(self.bottom)

        def signed_distance(self, point):
            offset = point - self.reference()
            across = offset.y**2 + offset.z**2
            return (offset.x - self.curvature / 2 * across) / (1 + self.curvature**2 * across) ** 0.5
'''


def test_a_law_friction_and_surface_of_ones_own(tmp_path, monkeypatch):
    """Named in the file, found beside it from any working folder, its numbers with units. On the dish's axis the contact is
    head on: m v²/2 = k d²/2 + c d⁴/4 gives the deepest point, and the duration is a complete elliptic integral."""
    (tmp_path / "parts_of_my_own.py").write_text(textwrap.dedent(OWN_PARTS))
    masses, speed, linear, cubic = (450.0, 1200.0), 0.07, 1500.0, 4.0e6
    m = reduced(masses)
    content = {
        "schema": 2,
        "duration": 3.0,
        "chaser": {
            "mass": masses[0],
            "inertia": [80, 90, 100],
            "position": [1.6 + speed * ONSET, 0.0, 0.0],
            "velocity": [-speed, 0.0, 0.0],
            "feature": {"tip": {"position": [-1.0, 0.0, 0.0]}},
        },
        "target": {
            "mass": masses[1],
            "inertia": [200, 150, 180],
            "surface": {
                "dish": {"shape": "parts_of_my_own:Paraboloid", "bottom": ["600 mm", 0.0, 0.0], "curvature": "0.8 1/m"}
            },
        },
        "contact": {
            "tip": {
                "between": ["tip", "dish"],
                "normal": {"law": "parts_of_my_own:Stiffening", "linear": "1.5 N/mm", "cubic": cubic},
                "friction": {"law": "parts_of_my_own:Viscous", "drag": "3 s/m"},
            }
        },
        "output": {"interval": 0.1},
    }
    file = tmp_path / "own.toml"
    file.write_text(tomlkit.dumps(two_bodies(content)))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    dataset = dockdyn.simulate(dockdyn.load(file))
    (contact,) = dockdyn.summarise(dataset)["contacts"]
    squared = (-linear + np.sqrt(linear**2 + 2 * cubic * m * speed**2)) / cubic
    deepest = np.sqrt(squared)
    half, _ = quad(
        lambda s: (
            2
            * s
            * deepest
            / np.sqrt(speed**2 - (linear * (deepest * (1 - s**2)) ** 2 + cubic / 2 * (deepest * (1 - s**2)) ** 4) / m)
        ),
        0,
        1,
        epsrel=1e-11,
    )
    assert contact["onset_s"] == pytest.approx(ONSET, rel=1e-12)
    assert contact["peak_force_N"] == pytest.approx(linear * deepest + cubic * deepest**3, rel=SMOOTH)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(2 * half, rel=SMOOTH)
    assert contact["position_m"] == pytest.approx([0.6, 0, 0], abs=1e-12)

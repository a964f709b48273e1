"""Laws and surfaces of a user's own: in a run, its report with the replay, a campaign."""

import json

import numpy as np
import pytest
from helpers.refusals import refused
from sticking_ball import ball_on_plane

import dockdyn
from dockdyn import impact, open_result
from dockdyn.api import scene_of
from dockdyn.contact.laws.coulomb import Coulomb
from dockdyn.contact.laws.hertz import Hertz
from dockdyn.contact.laws.hunt_crossley import HuntCrossley
from dockdyn.contact.laws.parallel import Parallel
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.cylinder import Cylinder
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.mechanics.vector import Vector

OWN_CONTACT = '''
import dockdyn
import jax.numpy as jnp
from dockdyn import Vector
from jaxtyping import Array, Float


class LankaraniNikravesh(dockdyn.NormalLaw):
    """k dⁿ (1 + ¾ (1 − e²) ḋ / v) (Lankarani and Nikravesh 1990)."""

    stiffness: Float[Array, ""]  # k, N/m^1.5
    restitution: Float[Array, ""]  # e
    speed: Float[Array, ""]  # v, m/s, at the impact

    def force(self, depth, rate):
        size = jnp.where(depth > 0, depth, 1.0)
        elastic = self.stiffness * jnp.where(depth > 0, size**1.5, depth * 0.0)
        return elastic * self.force_sign(depth, rate)

    def force_sign(self, depth, rate):
        return 1 + 0.75 * (1 - self.restitution**2) * rate / self.speed


class Capsule(dockdyn.Surface):
    """A rod with round ends: it has a `radius`, and no inside."""

    start: Float[Array, "3"]  # m
    end: Float[Array, "3"]  # m
    radius: Float[Array, ""]  # m

    def signed_distance(self, point):
        start = Vector.of(self.start)
        along = Vector.of(self.end) - start
        share = jnp.clip((point - start).dot(along) / along.dot(along), 0.0, 1.0)
        return (point - start - along * share).norm() - self.radius

    def reference(self):
        return Vector.of((self.start + self.end) / 2)
'''

GRAPPLE = """
schema = 2
title = "A probe on a capsule"
duration = "2 s"

[campaign]
runs = 4

[approach]
of = "probe"
to = "capsule"
closing_speed = { distribution = "uniform", low = "0.05 m/s", high = "0.06 m/s" }
distance = "20 mm"
lateral_offset = [0, 0.005]

[body.chaser]
mass = "180 kg"
inertia = [90, 140, 150]

[body.chaser.feature.probe]
position = [1.6, 0, 0]
radius = "15 mm"

[body.target]
mass = "320 kg"
inertia = [210, 260, 240]

[body.target.surface.capsule]
shape = "own_contact:Capsule"
start = [1.1, -0.2, 0]
end = [1.1, 0.2, 0]
radius = "2 cm"

[contact.probe]
between = ["probe", "capsule"]

[contact.probe.normal]
law = "own_contact:LankaraniNikravesh"
stiffness = 1e6
restitution = 0.7
speed = "0.05 m/s"
"""

OWN_IMPACT = '''
import dockdyn
import jax.numpy as jnp
from jaxtyping import Array, Float


class Settling(dockdyn.ImpactLaw):
    """Restitution that falls with the speed of approach, e = 1 / (1 + v / s), and no friction."""

    speed: Float[Array, ""]  # s, m/s

    def impulse(self, matrix, velocity):
        restitution = 1 / (1 - velocity[0] / self.speed)
        normal = -(1 + restitution) * velocity[0] / matrix[0, 0]
        return jnp.zeros_like(velocity).at[0].set(normal)


class Elastic(dockdyn.ImpactLaw):
    """As much speed away as towards, no friction."""

    def impulse(self, matrix, velocity):
        return jnp.zeros_like(velocity).at[0].set(-2 * velocity[0] / matrix[0, 0])

    def lossless(self):
        return True
'''

BOOM = """
schema = 2
title = "A boom strikes a wall"
duration = "0.6 s"

[body.station]
mass = "400 kg"
inertia = [200, 300, 400]

[body.station.surface.wall]
shape = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]

[body.boom]
on = "station"
position = [2, 0, 0]
mass = "20 kg"
inertia = [1, 10, 10]

[body.boom.feature.tip]
position = [1, 0, 0]

[body.boom.joint]
kind = "revolute"
axis = [0, 0, 1]
position = [1, 0, 0]
start = "10 deg"
start_rate = "-0.5 rad/s"

[contact.tip]
between = ["tip", "wall"]

[contact.tip.impact]
law = "own_impact:Settling"
speed = "0.1 m/s"

[integrator]
method = "variational"
step = "10 ms"
"""


@pytest.fixture
def own(own_files):
    """A folder with the user's modules, in which one works."""
    scenarios = {"grapple.toml": GRAPPLE, "boom.toml": BOOM}
    return own_files({"own_contact.py": OWN_CONTACT, "own_impact.py": OWN_IMPACT, **scenarios})


@pytest.mark.full
def test_a_contact_law_and_a_surface(own, dock):
    ended = dock("run", "grapple.toml", "--out", "x")
    assert ended.returncode == 0 and ended.stderr == ""
    assert 'id="scene-script"' in (own / "x/report.html").read_text(encoding="utf-8")
    found = open_result(own / "x/result.nc")
    depth, rate = found.depth.values[:, 0], found.depth_rate.values[:, 0]
    touching = depth > 0
    factor = 1 + 0.75 * (1 - 0.7**2) * rate[touching] / 0.05
    expected = 1e6 * depth[touching] ** 1.5 * factor
    assert touching.sum() > 3
    np.testing.assert_allclose(found.normal_force.values[touching, 0], expected, rtol=1e-9)
    assert dockdyn.summarise(found)["energy_error"] is None  # a law that does not say that it keeps energy
    drawn = next(part for part in scene_of(found, own).parts if part.name == "target/capsule")
    along = np.clip(drawn.solids[0].vertices[:, 1], -0.2, 0.2)
    axis = np.stack([np.full(len(along), 1.1), along, 0 * along], axis=1)
    assert len(along) > 100
    np.testing.assert_allclose(np.linalg.norm(drawn.solids[0].vertices - axis, axis=1), 0.02, atol=1e-5)


@pytest.mark.full
def test_a_campaign_with_a_contact_law_and_a_surface(own, dock):
    ended = dock("campaign", "run", "grapple.toml", "--out", "many", "--json")
    assert ended.returncode == 0, ended.stderr
    assert (json.loads(ended.stdout)["runs"], json.loads(ended.stdout)["failed"]) == (4, 0)


@pytest.mark.full
def test_an_impact_law(own, dock):
    ended = dock("run", "boom.toml", "--out", "x", "--json")
    assert ended.returncode == 0 and ended.stderr == ""
    assert 'id="scene-script"' in (own / "x/report.html").read_text(encoding="utf-8")
    summary = json.loads(ended.stdout)
    first, gained = summary["contacts"][0], summary["contact.energy_change_J"][0]
    speed = first["approach_speed_m_s"]
    # of an impact without friction: loss = (1 − e) v Λ / 2
    restitution = 1 + 2 * gained / (speed * first["impulse_N_s"])
    assert speed > 0.5 and restitution == pytest.approx(1 / (1 + speed / 0.1), rel=1e-6)


@pytest.mark.parametrize(
    ("impact_table", "says"),
    [
        ('law = "own_impact:Settling"', "needs the field 'speed'; its fields: speed"),
        ('law = "own_impact:Settling"\nspede = 1.0', "has no field 'spede'; its fields: speed"),
        ('law = "own_impact:Settling"\nspeed = 1.0\nfriction = 0.1', "has no field 'friction'; its fields: speed"),
        ('law = "own_contact:Capsule"', "must be a subclass of dockdyn.ImpactLaw"),
        ('law = "nowhere:Settling"', 'must be "module:Class"'),
        ('law = "settling"', "must be 'energetic'"),
    ],
)
def test_an_impact_law_that_cannot_be_is_one_line(own, impact_table, says):
    (own / "bad.toml").write_text(BOOM[: BOOM.index("[contact.tip.impact]")] + "[contact.tip.impact]\n" + impact_table)
    with refused(says, match=r"^bad\.toml: contact.*impact"):
        dockdyn.load("bad.toml")


def test_parameters_of_an_impact_law_that_it_does_not_have_are_one_line():
    """They were a TypeError; missing ones were named one at a time."""
    matrix, velocity = np.diag([2.0, 1.0, 1.0]), np.array([-1.0, 0.5, 0.0])
    for given, says in (
        ({}, "law 'energetic' needs restitution, friction; its parameters: restitution, friction"),
        (
            {"restitution": 1.0, "friction": 0.0, "stiffness": 1.0, "friction_ratio": 2.0},
            "law 'energetic' has no stiffness, friction_ratio; its parameters: restitution, friction",
        ),
    ):
        with pytest.raises(ValueError) as caught:
            impact.resolve_impact("energetic", matrix, velocity, **given)
        assert str(caught.value) == says


def half(matrix, velocity, share):
    """A law as a function: a share of what stops the normal velocity."""
    return impact.Impact(*[velocity * 0] * 10)._replace(impulse=-share * velocity / matrix[0, 0])


def test_a_law_of_ones_own_in_python():
    law = impact.Law(half, ("share",), (1,), True, "stops a share", lambda given: False, "half")
    assert float(impact.resolve_impact(law, [[2.0]], [-1.0], share=0.5).impulse[0]) == 0.25
    with pytest.raises(ValueError, match=r"law 'half' needs share; its parameters: share"):
        impact.resolve_impact(law, [[2.0]], [-1.0])
    with pytest.raises(ValueError, match="law 'half' takes 1 rows"):
        impact.resolve_impact(law, np.eye(2), [-1.0, 0.0], share=0.5)


def test_laws_say_whether_they_keep_energy():
    """By their numbers, not by their names."""
    spring, damper = SpringDashpot(1.0, 0.0, False), SpringDashpot(1.0, 0.1, False)
    kept = [spring, Hertz(1.0, 1.5), HuntCrossley(1.0, 1.5, 0.0), Parallel((spring, spring)), Coulomb(0.0, 1e-4)]
    taken = [damper, HuntCrossley(1.0, 1.5, 0.1), Parallel((spring, damper)), Coulomb(0.1, 1e-4)]
    assert all(law.lossless() for law in kept) and not any(law.lossless() for law in taken)


def test_surfaces_say_how_much_of_them_is_drawn():
    class Bare(Surface):
        """With a name that others have for something else, and nothing that is drawn by it."""

        radius: str = "two centimetres"

        def signed_distance(self, point):
            return point.x

        def reference(self):
            return Vector.zero()

    extent = Bare().extent(0.5)
    assert (extent.radius, extent.low, extent.high, extent.hollow) == (0.5, -0.3, 0.8, True)
    origin, axis = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]
    rim = Cone.of(origin, axis, np.pi / 4, 0.3).extent(0.1)
    assert rim.whole and 0.29 < float(rim.radius) < 0.3 < float(rim.high) < 0.31
    assert Cone.of(origin, axis, np.pi / 4).extent(0.1) == Bare().extent(0.1)
    bore, pin = (Cylinder.of(origin, axis, 0.2, inside).extent(0.1) for inside in (True, False))
    assert bore.hollow and not pin.hollow and float(pin.radius) > 0.2


WRONG = """
import numpy as np
import dockdyn
from dockdyn import Vector


class Linear(dockdyn.NormalLaw):
    stiffness: float

    def force(self, depth, rate):
        return self.stiffness * depth


class Vectorial(Linear):
    def force(self, depth, rate):
        return np.zeros(3)


class Rubbing(dockdyn.Friction):
    coefficient: float

    def force(self, normal_force, sliding):
        return sliding * (-normal_force * self.coefficient)


class Unfinished(dockdyn.Friction):
    coefficient: float


class Raising(Rubbing):
    def force(self, normal_force, sliding):
        raise ValueError("oh")


class Turning(Rubbing):
    def resists_turning(self):
        return True

    def torque(self, normal_force, normal, turning):
        return normal_force


class Bent(dockdyn.Bristles):
    coefficient: float

    def bend(self, stretch, sliding):
        return sliding

    def pull(self, normal_force, stretch, sliding):
        return stretch * (-normal_force * self.coefficient)


class Flat(Bent):
    def bend(self, stretch, sliding):
        return np.zeros(3)


class Sided(Bent):
    def pull(self, normal_force, stretch, sliding):
        return normal_force


class Storing(Bent):
    def stored_energy(self, normal_force, stretch):
        return stretch


class Level(dockdyn.Surface):
    height: float

    def signed_distance(self, point):
        return point

    def reference(self):
        return Vector.zero()
"""
SPRING, SLIDES, PLANE = (
    {"law": "wrong:Linear", "stiffness": 1e5},
    {"law": "wrong:Rubbing", "coefficient": 0.2},
    {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]},
)


@pytest.mark.parametrize(
    ("normal", "friction", "top", "place", "says"),
    [
        ({**SPRING, "law": "wrong:Vectorial"}, SLIDES, PLANE, "normal", "Vectorial: force must return a number"),
        (SPRING, {**SLIDES, "law": "wrong:Unfinished"}, PLANE, "friction", "Unfinished must define force"),
        (SPRING, {**SLIDES, "law": "wrong:Raising"}, PLANE, "friction", "Raising: force fails (ValueError: oh)"),
        (SPRING, {**SLIDES, "law": "wrong:Turning"}, PLANE, "friction", "Turning: torque must return a dockdyn.Vector"),
        (SPRING, {**SLIDES, "law": "wrong:Flat"}, PLANE, "friction", "Flat: bend must return a dockdyn.Vector"),
        (SPRING, {**SLIDES, "law": "wrong:Sided"}, PLANE, "friction", "Sided: pull must return a dockdyn.Vector"),
        (SPRING, {**SLIDES, "law": "wrong:Storing"}, PLANE, "friction", "Storing: stored_energy must return a number"),
        (SPRING, SLIDES, {"shape": "wrong:Level", "height": 0.1}, "top", "signed_distance must return a number"),
        (SPRING, SLIDES, PLANE, None, ""),
        (SPRING, {**SLIDES, "law": "wrong:Bent"}, PLANE, None, ""),
    ],
)
def test_a_part_whose_methods_are_wrong_is_one_line(own_files, load, normal, friction, top, place, says):
    own_files({"wrong.py": WRONG})
    tables = ball_on_plane([0, 0, -1], [0, 0, 0], normal, friction)
    tables["body"]["anvil"]["surface"]["top"] = top
    if place is None:
        load(tables)
        return
    with refused(place, says):
        load(tables)

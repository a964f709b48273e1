"""The forces of an assembly's contacts as a replay shows them: of single members the normal force and friction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.report.replay import frames
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.scenario.made import model_of

if TYPE_CHECKING:
    from dockdyn.kinds.assembly.schema.assembly import AssemblySection
    from dockdyn.mechanism.mechanism import Mechanism
    from dockdyn.report.replay.scene import SceneMotion


class FrameForce(NamedTuple):
    """The force of a contact on its first body, at the frames."""

    place: np.ndarray  # (frames, 3), m
    normal: np.ndarray  # (frames, 3), N
    friction: np.ndarray | None  # (frames, 3), N; of a contact with a friction law


def parted_forces(
    dataset: Dataset, content: AssemblySection, time: np.ndarray, motions: list[SceneMotion]
) -> dict[int, FrameForce]:
    """Return where and how each contact of a single member between rigid bodies pushes, by its number: the normal force where
    it is generated, friction as it acts; `motions` are those of the bodies.

    Contact points and normals are those of the model's own contacts at the frames' poses. What acts was decided one loop
    delay earlier, and its part along the normal of then is no friction.
    """
    singles = _single_contacts(model_of(content), len(content.body))
    if not singles:
        return {}

    def of(poses: list[SceneMotion]) -> tuple[np.ndarray, np.ndarray]:
        stacked = (np.stack([getattr(one, name) for one in poses], axis=1) for name in ("position", "attitude"))
        return in_pieces(lambda *rows: _contact_places(content, *rows), *stacked)

    places, normals = of(motions)
    decided, delay = normals, content.loop.delay or 0.0
    if delay > 0:
        then = np.maximum(time - delay, 0.0)
        given = dataset.position.values, dataset.attitude.values
        _, decided = of(
            [
                frames.motion_at(then, dataset.time.values, *(values[:, i] for values in given))
                for i in range(len(motions))
            ]
        )
    pressing = frames.interpolate_samples(time, dataset.time.values, dataset.normal_force.values)
    acting = frames.interpolate_samples(time, dataset.time.values, dataset.contact_force.values)
    found = {}
    for row, index in enumerate(singles):
        force = pressing[:, index].copy()
        for one in np.flatnonzero(dataset.episode_contact.values == index):  # a peak between samples
            at = int(np.abs(time - float(dataset.episode_peak_time[one])).argmin())
            force[at] = max(force[at], float(dataset.episode_peak_force[one]))
        across, before = None, decided[:, row]
        if content.contacts[index].friction is not None:
            across = acting[:, index] - np.sum(acting[:, index] * before, axis=1, keepdims=True) * before
        found[index] = FrameForce(places[:, row], force[:, None] * normals[:, row], across)
    return found


def _single_contacts(model: Mechanism, bodies: int) -> list[int]:
    """Return the numbers of the contacts of a single member by a force law between the first so many bodies, which bend
    nowhere."""
    return [
        number
        for number, group in enumerate(model.groups)
        if isinstance(group, ContactGroup) and group.single and max(group.first, group.second) < bodies
    ]


@Program
def _contact_places(
    content: AssemblySection, position: Float[Array, "n bodies 3"], attitude: Float[Array, "n bodies 4"]
) -> tuple[Float[Array, "n contacts 3"], Float[Array, "n contacts 3"]]:
    """Return where the force of each contact of a single member acts (m) and the normal there, out of what its feature touches,
    at poses of the bodies."""
    model, still = content.model(), Twist(Vector.zero(), Vector.zero())
    chosen = (model.groups[number] for number in _single_contacts(model, len(content.body)))
    groups = [group for group in chosen if isinstance(group, ContactGroup)]

    def one(place: Float[Array, "bodies 3"], turn: Float[Array, "bodies 4"]) -> tuple[Array, Array]:
        both = zip(place, turn, strict=True)
        places = [Placed.of(Pose(Vector.of(at), Quaternion.of(way)), still) for at, way in both]
        touches = [group.member().touch(places[group.first], places[group.second]) for group in groups]
        points, normals = ([getattr(touch, name).array() for touch in touches] for name in ("point", "normal"))
        return jnp.reshape(jnp.array(points), (-1, 3)), jnp.reshape(jnp.array(normals), (-1, 3))

    return over_rows(one, position, attitude)

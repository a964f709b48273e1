"""Load histories of interfaces from the result of a run: ports, joints, contacts, elements, thrusters, in axes of their bodies.

Units: N, N m, s.
Source: the variables of a result (`docking/data.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.report.scene.rotation import rotate
from dockdyn.scenario.language.errors import ScenarioError, nearest

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")  # N, N m
FIXED = {  # of elements between two bodies by kind, but of one's own: the place that moments are about
    **dict.fromkeys(("strut", "cable", "magnet", "connection"), "its anchor there"),
    "latch": "its striker",
    "bushing": "its place there",
}


@record
class Interface:
    """Where loads pass, and what passes there over time."""

    name: str  # "port chaser.interface", "joint fuel", "contact probe", "strut leg 1"
    on: str  # the body that the loads are on
    axes: str  # in words, those of the components and the place that moments are about
    loads: Float[np.ndarray, "time 6"]  # force (N) and moment (N m) on that body
    axis: Float[np.ndarray, "3"] | None = None  # of a port, out of the body
    grid: int = 0  # the grid point of a structural model
    on_cards: bool = True  # whether Nastran's cards have it

    @property
    def slug(self) -> str:
        """Its name in a column: `joint.fuel`."""
        return ".".join(self.name.split())


def interfaces_of(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return all interfaces of a run through which anything passes: ports, joints, tanks, contacts, elements and thrusters.

    Ports are on no cards: the load of each is the sum of all that acts on its body, which the others put there, too. Contacts
    by impact laws are left out. Raises ScenarioError for a run that has none, or ends in numbers that are none.
    """
    found = [
        *ports_of(dataset, content),
        *_joints(dataset, content),
        *_contacts(dataset, content),
        *_elements(dataset, content),
        *_thrusters(dataset, content),
    ]
    found = [one for one in found if np.any(one.loads)]
    if not found:
        struck = f"{words} and " if (words := impulses_in_words(content)) else ""
        raise ScenarioError(
            f"no loads: {struck}nothing passes at a port, a joint, a tank, a contact, an element or a thruster in this run"
        )
    for one in found:
        if not np.isfinite(one.loads).all():
            raise ScenarioError(f"{one.name}: the run ended in numbers that are none; must be a run that was finished")
    return [replace(one, grid=number) for number, one in enumerate(found, start=1)]


def chosen_interfaces(every: Sequence[Interface], asked: Sequence[str], flag: str, left_out: str) -> list[Interface]:
    """Return those that are `asked` for, as "joint fuel" or, with the grid point that takes the loads, "joint fuel=1001"; all
    where none is. ScenarioError for one that there is not, with what is to be known of those `left_out`."""
    if not asked:
        return list(every)
    named = {one.name: one for one in every}
    found: list[Interface] = []
    for word in asked:
        name, sign, number = word.rpartition("=") if "=" in word else (word, "", "")
        if any(name == one.name for one in found):
            raise ScenarioError(f"{flag} {word!r}: {name} is named twice; must be named once")
        if name not in named:
            also = f"; {left_out}" if left_out else ""
            raise ScenarioError(f"{flag} {word!r}: no such interface; {nearest(name, list(named))}{also}")
        if sign and not (number.isascii() and number.isdecimal() and 0 < int(number) < 10**8):
            raise ScenarioError(
                f"{flag} {word!r}: {number!r} is no grid point; must be a whole number of up to 8 digits"
            )
        found.append(replace(named[name], grid=int(number) if sign else named[name].grid, on_cards=True))
    grids = [one.grid for one in found]
    for one in found:
        if grids.count(one.grid) > 1:
            raise ScenarioError(f"{flag}: two interfaces have the grid point {one.grid}; must each have one of its own")
    return found


def impulses_in_words(content: Any) -> str:  # noqa: ANN401, of its motion
    """Return what is to be known of the contacts by impact laws, by name; nothing of a run without any."""
    struck = ", ".join(repr(one.name) for one in content.contacts if one.impact is not None)
    return f"contacts by impact laws have impulses, not loads: {struck}" if struck else ""


def stated_ports(content: Any) -> list[tuple[str, Any, int]]:  # noqa: ANN401, of its motion
    """Return the ports that a scenario states: body and port by name, the port, the number of its place among all points."""
    points = enumerate(content.points())
    return [
        (f"{content.names()[body]}.{one.name}", one, number)
        for number, (_, one, body) in points
        if _is_stated(content, one)
    ]


def _is_stated(content: Any, place: Any) -> bool:  # noqa: ANN401, of its motion
    return any(place is one for body in content.body for one in body.port)


def ports_of(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return the ports that a scenario states, with the sum of what acts on their bodies."""
    found = []
    for name, port, number in stated_ports(content) if "load_force" in dataset else ():
        body = name.rpartition(".")[0]
        loads = _six(*(dataset[f"load_{part}"].values[:, number] for part in ("force", "moment")))
        axis = None if port.axis is None else np.asarray(port.axis, float) / np.linalg.norm(port.axis)
        axes = f"axes of {body}, about the port"
        found.append(Interface(f"port {name}", body, axes, loads, axis, on_cards=False))
    return found


def _joints(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return joints, of which loads are on the bodies that they hold, and tanks, whose loads are on their vehicles."""
    found = []
    for number, name in enumerate(map(str, dataset.joint.values) if "joint_force" in dataset else ()):
        loads = _six(dataset.joint_force.values[:, number], dataset.joint_moment.values[:, number])
        tank = next((one for one in content.tank if one.name == name), None)
        if tank is not None:
            axes = f"axes of {tank.on}, about the centre of the liquid that is rigid"
            found.append(Interface(f"tank {name}", tank.on, axes, 0.0 - loads))
        elif any(name == one.name for one in content.body):
            found.append(Interface(f"joint {name}", name, f"axes of {name}, about the joint", loads))
    return found


def _contacts(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return the contacts that have a law of force, in axes of the first body."""
    if "contact_force" not in dataset:
        return []
    found = []
    for number, contact in enumerate(content.contacts):
        if contact.impact is not None:
            continue
        (body, _), _ = content.sides(contact)
        parts = (dataset[f"contact_{part}"].values[:, number] for part in ("force", "moment"))
        found.append(
            Interface(
                f"contact {contact.name}",
                body,
                f"axes of {body}, about the reference point of its feature",
                _six(*(_in_axes_of(dataset, body, part) for part in parts)),
            )
        )
    return found


def _elements(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return what acts between two bodies besides contacts and joints, members of a structure one by one, in axes of the first
    body."""
    if "element_force" not in dataset:
        return []
    found = []
    for number, (name, section) in enumerate(named_elements(dataset, content)):
        body, place = section.between[0], FIXED.get(section.kind, "its centre of mass")
        parts = (dataset[f"element_{part}"].values[:, number] for part in ("force", "moment"))
        loads = _six(*(_in_axes_of(dataset, body, part) for part in parts))
        found.append(Interface(name, body, f"axes of {body}, about {place}", loads))
    return found


def named_elements(dataset: Dataset, content: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, of its motion
    """Return the elements between two bodies, members of a structure one by one, each with its section: "strut leg 1", of one's
    own "element mat"."""
    members = [section for section in content.ties() for _ in range(section.count())]
    pairs = zip(map(str, dataset.element.values), members, strict=True) if "element" in dataset.coords else ()
    return [(f"{one.path.partition('.')[0]} {name}", one) for name, one in pairs]


def earlier_elements(dataset: Dataset) -> str:
    """Return that the elements of a result have no loads, as one that an earlier dockdyn made; nothing of another."""
    known = "element_force" in dataset or "element" not in dataset.coords
    names = "" if known else ", ".join(repr(str(name)) for name in dataset.element.values)
    return f"an earlier dockdyn made the result, which lacks the loads of elements; run again: {names}" if names else ""


def _thrusters(dataset: Dataset, content: Any) -> list[Interface]:  # noqa: ANN401, of its motion
    """Return what thrusters put on their bodies, and what control does to its own."""
    found = []
    for number, section in enumerate(content.thruster if "thrust_force" in dataset else ()):
        force = _in_axes_of(dataset, section.body, dataset.thrust_force.values[:, number])
        axes = f"axes of {section.body}, about its place"
        found.append(Interface(f"thruster {section.name}", section.body, axes, _six(force, 0.0 * force)))
    if (body := str(dataset.attrs.get("steered_body", ""))) and "thruster_force" in dataset:
        moment = dataset.thruster_torque.values + dataset.wheel_torque.values
        axes = f"axes of {body}, about its centre of mass"
        found.append(Interface(f"control {body}", body, axes, _six(dataset.thruster_force.values, moment)))
    return found


def _in_axes_of(dataset: Dataset, body: str, vectors: Float[np.ndarray, "time 3"]) -> Float[np.ndarray, "time 3"]:
    """Return inertial vectors in the axes of a body."""
    attitude = dataset.attitude.values[:, list(map(str, dataset.body.values)).index(body)]
    return rotate(attitude * np.array([1.0, -1.0, -1.0, -1.0]), vectors)


def _six(force: Float[np.ndarray, "time 3"], moment: Float[np.ndarray, "time 3"]) -> Float[np.ndarray, "time 6"]:
    return np.concatenate([force, moment], axis=1)

"""Trees of links from URDF files: `urdf = "arm.urdf"` of a chaser or target becomes its `link` tables before the scenario is
checked, so that what is stored is complete without the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.units import Bounds, number_of
from dockdyn.scenario.tables.urdf import REPAIR, WORLD, Entry, Frame, Robot, locked_coordinates, read_robot

SAID = ("parent", "joint", "axis", "mount", "mount_attitude")  # by the URDF, but for its root
WEIGHING = ("beam", "mass", "inertia")  # one of them replaces all that the link has in the URDF


def with_urdf(data: Entry, name: str, folder: Path | None) -> Entry:
    """Return `data` of the scenario `name` with every `urdf` of chaser and target replaced by the links in that file.

    Paths count from `folder` (None: the working folder). ScenarioError for a file or a link that cannot be used.
    """
    for side in ("chaser", "target"):
        section = data.get(side)
        if isinstance(section, dict) and "urdf" in section:
            data = {**data, side: _with_links(section, f"{name}: {side}", folder or Path())}
    return data


def _with_links(section: Entry, where: str, folder: Path) -> Entry:
    """Return the table of one side, its own `link` tables merged into those of the URDF."""
    given, entries = section["urdf"], section.get("link", [])
    label = f"{where}.urdf = {given!r}"
    if not isinstance(given, str):
        raise ScenarioError(f"{label}: must be the path of a URDF file")
    if not (isinstance(entries, list) and all(isinstance(e, dict) and isinstance(e.get("name"), str) for e in entries)):
        raise ScenarioError(f"{where}.link: must be a list of tables, each with a name")
    if (repair := section.get("inertia")) not in (None, REPAIR):
        raise ScenarioError(
            f'{where}.inertia = {shown(repair)}: is of a link; beside urdf must be "{REPAIR}" or left out'
        )
    robot = read_robot(folder / given, label)
    stated: dict[str, Entry] = {}
    more = []
    for entry in entries:
        own = entry["name"] not in robot.links and ("parent" in entry or any(key in entry for key in WEIGHING))
        if own and robot.joint_named(entry["name"]) is None:
            more.append(entry)
        else:
            robot.refuse_unknown(entry["name"], f"{where}.link.{entry['name']}")
            stated[entry["name"]] = stated.get(entry["name"], {}) | entry
    locks = {name: entry for name, entry in stated.items() if name in robot.joints and entry.get("joint") == "locked"}
    robot = robot.locked(locked_coordinates(robot, locks, f"{where}.link"))
    for name in locks:
        stated[name] = {key: value for key, value in locks[name].items() if key not in ("joint", "start")}
    links = [_link(robot, name, stated.get(name, {}), f"{where}.link.{name}", bool(repair)) for name in robot.links]
    for link in links[1:]:
        _count_from_tip(link, stated.get(link["parent"], {}))
    rest = {key: value for key, value in section.items() if key not in ("urdf", "link", "inertia")}
    return {**rest, "link": [*links, *more]}


def _link(robot: Robot, name: str, stated: Entry, where: str, repair: bool) -> Entry:
    """Return the table of a link; keys `stated` in the scenario are in place of the URDF's. Raises ScenarioError."""
    found: Entry = {"name": name}
    joint = robot.joints.get(name)
    if joint is not None:
        if said := [key for key in SAID if key in stated]:
            words = 'is in the URDF; may be given for its root and for links of your own, or joint = "locked"'
            raise ScenarioError(f"{where}.{said[0]}: {words}")
        found |= {"parent": joint.parent, "joint": joint.kind, "mount": joint.frame[:3, 3].tolist()}
        if np.any(joint.frame[:3, :3] != np.eye(3)):
            found["mount_attitude"] = _quaternion(joint.frame)
        if joint.mimic is not None:
            words = f'follows {joint.mimic.leader!r}, which a berthing does not keep; must have joint = "locked", or its leader'
            raise ScenarioError(f"{robot.label}: joint {joint.name}: <mimic>: {words}")
        if joint.kind != "locked":
            found |= {"coordinate": joint.name, "axis": joint.axis}
            found |= {} if joint.damping is None else {"damping": joint.damping}
    elif "parent" in stated:
        found["joint"] = "locked"
    elif name == WORLD:
        raise ScenarioError(
            f"{robot.label}: link {name}: stays where it is, as no base does; must have a parent, {where}"
        )
    body = {} if any(key in stated for key in WEIGHING) else robot.links[name].body(robot.label, True, repair)
    return found | body | stated


def _count_from_tip(link: Entry, parent: Entry) -> None:
    """Count the place of a URDF's joint from the end of its parent's beam, where it is to be attached there."""
    if parent.get("beam") is None or link.get("at") != "tip":
        return
    try:
        length = number_of(parent["beam"].get("length"), "m", "a length", Bounds())
    except (PydanticCustomError, AttributeError):
        return  # the section refuses it
    link["mount"] = [link["mount"][0] - length, *link["mount"][1:]]


def _quaternion(frame: Frame) -> list[float]:
    """Return how a frame is turned, as a unit quaternion, scalar first."""
    import jax.numpy as jnp

    from dockdyn.mechanics.rotation import Quaternion
    from dockdyn.mechanics.vector import Matrix

    return Quaternion.from_matrix(Matrix.of(jnp.asarray(frame[:3, :3]))).array().tolist()

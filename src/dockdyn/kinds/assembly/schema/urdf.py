"""Bodies of an assembly from a URDF file: `urdf = "arm.urdf"` of a body becomes its links, each a body with a joint, before the
scenario is checked, so that what is stored is complete without the file.

Units: SI.
Source: https://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.units import Bounds, number_of
from dockdyn.scenario.tables.urdf import Entry, coefficient, links_of, read

SAID = ("on", "position", "attitude")  # of links, by the URDF
SAID_OF_JOINTS = ("kind", "position", "axis")
LIMITED = ("revolute", "prismatic")  # joints whose coordinate has limits
type Frame = Float[np.ndarray, "4 4"]  # takes places in it to those in the frame in which it is


def with_urdf(data: Entry, name: str, folder: Path | None) -> Entry:
    """`data` of the scenario `name` with every body that has a `urdf` replaced by the links in that file.

    Paths count from `folder` (None: the working folder). ScenarioError for a file or a link that cannot be used.
    """
    bodies = data.get("body")
    if not isinstance(bodies, list) or not any(isinstance(body, dict) and "urdf" in body for body in bodies):
        return data
    links: dict[str, Entry] = {}
    limits: dict[str, list[float]] = {}
    found: list[Any] = []
    for body in bodies:
        if isinstance(body, dict) and "urdf" in body:
            own, of_joints = _links(body, f"{name}: body.{body.get('name')}", folder or Path())
            links |= {link["name"]: link for link in own}
            limits |= of_joints
            found += own
        else:
            found.append(body)
    rest = []
    for body in found:
        of_file = body.get("name") if isinstance(body, dict) else None
        if of_file not in links or body is links[of_file]:
            rest.append(body)
        else:
            _override(links[of_file], body, f"{name}: body.{of_file}")
    for link, ends in limits.items():
        if "stop_stiffness" in (joint := links[link]["joint"]):
            joint.setdefault("stroke", ends)
        elif "stroke" not in joint and ends[0] < ends[1]:
            joint.setdefault("range", ends)
    return {**data, "body": rest}


def _links(body: Entry, where: str, folder: Path) -> tuple[list[Entry], dict[str, list[float]]]:
    """The bodies that a URDF says, the first one as `body` says where and how it is held, and the limits of their joints."""
    label = f"{where}.urdf = {body['urdf']!r}"
    if not isinstance(body["urdf"], str) or not isinstance(body.get("name"), str):
        raise ScenarioError(f"{label}: must be the path of a URDF file, of a body with a name")
    if more := [key for key in body if key not in ("name", "urdf", "joint", "velocity", "rate", *SAID)]:
        raise ScenarioError(
            f"{where}.{more[0]}: is of a link; must be in a table of the link's own, {body['name']}.LINK"
        )
    robot = read(folder / body["urdf"], label)
    (root, *others), _ = links_of(robot, label)
    joints = {joint.child: joint for joint in robot.joints}
    if "mass" not in root and ("on" not in body or "joint" in body):
        raise ScenarioError(f"{label}: link {root['name']}: has no mass; must have one, or be fixed on another body")
    frame = _frame(body.get("position", [0.0] * 3), body.get("attitude", [1.0, 0.0, 0.0, 0.0]), where)
    held = {key: value for key, value in body.items() if key in ("on", "joint", "velocity", "rate")}
    if "on" in body:
        held = {"joint": {"kind": "locked", "position": frame[:3, 3].tolist()}} | held
    found, anchors = [], {root["name"]: (body.get("on"), frame)}
    limits = {}
    if "mass" in root:
        found.append(_body(root, body["name"], frame) | held)
        anchors[root["name"]] = found[-1]["name"], _frame_from_centre(root)
    for link in others:
        carrier, on = anchors[link["parent"]]
        at = on @ _frame(link.get("mount", [0.0] * 3), link.get("mount_attitude", [1.0, 0.0, 0.0, 0.0]), where)
        if "mass" in link:
            joint = joints[link["name"]]
            found.append(_body(link, body["name"], at) | {"on": carrier, "joint": _joint(link, joint, at, label)})
            anchors[link["name"]] = found[-1]["name"], _frame_from_centre(link)
            if joint.limit is not None and joint.type in LIMITED:
                limits[found[-1]["name"]] = [joint.limit.lower or 0.0, joint.limit.upper or 0.0]
        elif link["joint"] != "locked":
            raise ScenarioError(f"{label}: link {link['name']}: has no mass; must have one, since its joint moves")
        else:
            anchors[link["name"]] = carrier, at
    return found, limits


def _body(link: Entry, name: str, frame: Frame) -> Entry:
    """A link, its `frame` in the axes of what carries it, as a body with the axes of that frame."""
    from scipy.spatial.transform import Rotation  # which takes long to load, and few scenarios have a URDF

    centre = frame @ [*link["centre"], 1.0]
    attitude = Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True).tolist()
    return {
        "name": f"{name}.{link['name']}",
        "mass": link["mass"],
        "inertia": link["inertia"],
        "position": centre[:3].tolist(),
        "attitude": attitude,
    }


def _joint(link: Entry, joint: Any, frame: Frame, label: str) -> Entry:  # noqa: ANN401, of `read`
    """The joint of a link whose frame is `frame` where the coordinate is zero."""
    found = {"kind": link["joint"], "position": frame[:3, 3].tolist()}
    if "axis" not in link:
        return found
    found["axis"] = (frame[:3, :3] @ link["axis"]).tolist()
    damping = {"damping": link["damping"]} if "damping" in link else {}
    return found | damping | coefficient(joint, "friction", f"{label}: joint {joint.name}")


def _frame(position: Any, attitude: Any, where: str) -> Frame:  # noqa: ANN401, as in the file
    """A frame by its place (m) and attitude (a quaternion), numbers or texts with a unit. ScenarioError for others."""
    from scipy.spatial.transform import Rotation

    found = np.eye(4)
    try:
        found[:3, 3] = [number_of(part, "m", "a length", Bounds()) for part in position]
        turn = [number_of(part, "", "a number", Bounds()) for part in attitude]
        found[:3, :3] = Rotation.from_quat(turn, scalar_first=True).as_matrix()
    except (PydanticCustomError, TypeError, ValueError) as error:
        raise ScenarioError(f"{where}: position must be three numbers, attitude a unit quaternion: {error}") from None
    return found


def _frame_from_centre(link: Entry) -> Frame:
    """The frame of a link in its own axes at its centre of mass."""
    found = np.eye(4)
    found[:3, 3] = -np.array(link["centre"])
    return found


def _override(link: Entry, entry: Entry, where: str) -> None:
    """Keys of the scenario beside or in place of the URDF's; those of a joint one by one."""
    joint = entry.get("joint", {})
    said = [key for key in SAID if key in entry]
    if isinstance(joint, dict):
        said += [f"joint.{key}" for key in SAID_OF_JOINTS if key in joint]
    if said or not isinstance(joint, dict) or (joint and "joint" not in link):
        raise ScenarioError(f"{where}.{said[0] if said else 'joint'}: is in the URDF, or of its root")
    link |= entry | ({"joint": link["joint"] | joint} if joint else {})

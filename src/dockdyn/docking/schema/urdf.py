"""Bodies of a mechanism from a URDF file: `urdf = "arm.urdf"` of a `[tree.NAME]` becomes its links, each a body with a joint,
before the scenario is checked, so that what is stored is complete without the file.

Units: SI.
Source: https://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import ScenarioError, allowed, shown
from dockdyn.scenario.language.table_names import NAME
from dockdyn.scenario.language.units import Bounds, number_of
from dockdyn.scenario.tables.attitude import LEVEL, Attitude, quaternion_of
from dockdyn.scenario.tables.urdf import (
    REPAIR,
    WORLD,
    Entry,
    Frame,
    Mimic,
    UrdfJoint,
    UrdfTree,
    locked_coordinates,
    read_robot,
)

OF_TREE = ("urdf", "body", "on", "position", "attitude", "joint", "velocity", "rate", "inertia")  # keys of a tree
SAID = ("on", "position", "attitude")  # of links, by the URDF
SAID_OF_JOINTS = ("kind", "position", "axis")
MIDDLE = {"centre-of-mass": {"position": [0.0, 0.0, 0.0]}}  # where loads on a body without ports are told


def with_urdf(data: Entry, name: str, folder: Path | None) -> Entry:
    """Return `data` of the scenario `name` with the links of every `[tree.NAME]` as bodies, behind the others.

    Paths count from `folder` (None: the working folder). ScenarioError for a file or a link that cannot be used.
    """
    if "tree" not in data:
        return data
    trees, bodies = data["tree"], data.get("body", {})
    if not isinstance(trees, dict) or not all(isinstance(tree, dict) for tree in trees.values()):
        raise ScenarioError(f"{name}: tree: must be tables, each under a name of its own: [tree.NAME]")
    if not isinstance(bodies, dict):
        return data
    found: Entry = dict(bodies)
    for own, tree in trees.items():
        if NAME.fullmatch(own) is None:
            raise ScenarioError(f"{name}: tree: {shown(own)} is no name; must be of letters, digits, - and _")
        links = _Links(own, tree, f"{name}: tree.{own}", folder or Path())
        found |= links.bodies()
        for carrier, ports in links.ports.items():
            if isinstance(found.get(carrier), dict):
                found[carrier] = _with_ports(found[carrier], ports)
    return {key: value for key, value in data.items() if key != "tree"} | {"body": found}


def _with_ports(body: Entry, ports: Entry) -> Entry:
    """Return a body with more ports; one without any keeps the place that it would have."""
    own = body.get("port", MIDDLE)
    return body | {"port": own | ports} if isinstance(own, dict) else body


class _Links:
    """The links of one file, as bodies."""

    def __init__(self, name: str, body: Entry, where: str, folder: Path):
        self.body, self.name, self.where = body, name, where
        if not isinstance(body.get("urdf"), str):
            given = f" = {shown(body['urdf'])}" if "urdf" in body else ""
            raise ScenarioError(f"{where}.urdf{given}: must be the path of a URDF file")
        label = f"{where}.urdf = {body['urdf']!r}"
        if more := [key for key in body if key not in OF_TREE]:
            raise ScenarioError(
                f"{where}.{more[0]}: is of a link; must be in a table of its own, [tree.{name}.body.LINK]"
            )
        if body.get("inertia") not in (None, REPAIR):
            words = f'is of a link; of a tree must be "{REPAIR}" or left out'
            raise ScenarioError(f"{self.where}.inertia = {shown(body['inertia'])}: {words}")
        self.robot: UrdfTree = read_robot(folder / body["urdf"], label)
        self.stated: dict[str, Entry] = {}  # tables of the scenario by link
        for link, table in body.get("body", {}).items() if isinstance(body.get("body", {}), dict) else ():
            self.robot.refuse_unknown(link, f"{where}.body.{link}")
            if not isinstance(table, dict):
                raise ScenarioError(f"{where}.body.{link} = {shown(table)}: must be a table")
            self.stated[link] = table
        self.free: set[str] = set()  # links whose joints the scenario locks, not the URDF
        self.found: dict[str, Entry] = {}  # bodies by link
        self.anchors: dict[str, tuple[str, Frame]] = {}  # the body of each link, and the link's frame from its centre
        self.ports: dict[str, Entry] = {}  # by body

    def bodies(self) -> Entry:
        """Return the bodies by name; links without mass on locked joints are `ports` of what carries them.

        Raises ScenarioError.
        """
        locks = {
            link: entry["joint"]
            for link, entry in self.stated.items()
            if link in self.robot.joints
            and isinstance(joint := entry.get("joint"), dict)
            and joint.get("kind") == "locked"
        }
        self.free = {link for link, joint in self.robot.joints.items() if joint.kind != "locked" and link in locks}
        self.robot = self.robot.locked(locked_coordinates(self.robot, locks, f"{self.where}.body"))
        self._place_root()
        for link in self.robot.links:
            if link not in self.anchors:
                self._place_link(link, self.robot.joints[link])
        for link in self.found:
            if link in self.robot.joints and (mimic := self.robot.joints[link].mimic) is not None:
                self._follow(link, mimic)
        return {f"{self.name}.{link}": entry for link, entry in self.found.items()}

    def _place_root(self) -> None:
        """Place the root; without a mass and on no body, the first link with one that is locked to it, and what is between."""
        way, frame = [root := self.robot.root], _frame(self.body, self.where)
        joint, on = self.body.get("joint"), self.body.get("on")
        held = {key: value for key, value in self.body.items() if key in ("on", "joint", "velocity", "rate")}
        if on is not None:
            held = {"joint": {"kind": "locked", "position": frame[:3, 3].tolist()}} | held
        if not (body := self._mass_of_link(root)):
            if on is not None and joint is None:
                self.anchors[root] = on, frame
                self._add_port(root)
                return
            if root == WORLD:
                words = "stays where it is, as no body does; must be `on` a body that has no joint of its own"
                raise ScenarioError(f"{self.robot.label}: link {root}: {words}")
            way = self._way_to_first(root)
            body = self._mass_of_link(way[-1])
        turned = [np.eye(4)]
        for link in way[1:]:
            turned.append(turned[-1] @ self.robot.joints[link].frame)
        self.found[way[-1]] = self._body(way[-1], body, frame @ turned[-1]) | held
        from_last = np.linalg.inv(turned[-1])
        name, at = self.anchors[way[-1]]
        for link, place in zip(way[:-1], turned, strict=False):
            self.anchors[link] = name, at @ from_last @ place
            self._add_port(link)

    def _way_to_first(self, root: str) -> list[str]:
        """Return the links from the massless root to the first with a mass, locked all of them. Raises ScenarioError."""
        ways = {root: [root]}
        for link, joint in self.robot.joints.items():
            if joint.kind == "locked" and joint.parent in ways:
                ways[link] = [*ways[joint.parent], link]
                if self._mass_of_link(link):
                    return ways[link]
        words = (
            "has no mass, nor has what is locked to it; must have one, or be `on` another body without a joint there"
        )
        raise ScenarioError(f"{self.robot.label}: link {root}: {words}")

    def _place_link(self, link: str, joint: UrdfJoint) -> None:
        """Place a link on its parent, which is placed: as a body, or without mass as a point."""
        carrier, on = self.anchors[joint.parent]
        at = on @ joint.frame
        if body := self._mass_of_link(link):
            self.found[link] = self._body(link, body, at) | {"on": carrier, "joint": self._joint(link, joint, at)}
        elif joint.kind == "locked":
            self.anchors[link] = carrier, at
            self._add_port(link)
        else:
            words = f"has no mass and its {joint.kind} joint moves; must have one in [tree.{self.name}.body.{link}]"
            raise ScenarioError(f'{self.robot.label}: link {link}: {words}, or joint.kind = "locked" there')

    def _add_port(self, link: str) -> None:
        """Make a point of a link without mass on its body. Raises ScenarioError where the scenario has more for it."""
        name, frame = self.anchors[link]
        if more := [key for key in self.stated.get(link, {}) if key != "joint"]:
            words = f"the link has no mass and is a port of {name}; must be there, or beside a mass and an inertia"
            raise ScenarioError(f"{self.where}.body.{link}.{more[0]}: {words}")
        port = f"{self.name}-{link}" if name == self.body.get("on") else link
        self.ports.setdefault(name, {})[port] = {"position": frame[:3, 3].tolist()}

    def _mass_of_link(self, link: str) -> Entry:
        """Return mass, centre and inertia of a link, those that the scenario states before the file's; nothing without mass."""
        table = self.stated.get(link, {})
        stated = {key: table[key] for key in ("mass", "inertia") if key in table}
        if len(stated) < 2:
            repair = self.body.get("inertia") == REPAIR
            own = self.robot.links[link].body(self.robot.label, point_mass=False, repair=repair)
            if stated and not own:
                words = "the link has no mass in the file; must state mass and inertia both"
                raise ScenarioError(f"{self.where}.body.{link}.{next(iter(stated))}: {words}")
            return own | stated
        if (centre := self.robot.links[link].centre(self.robot.label)) is not None:
            return stated | {"centre": centre}
        place = _numbers(table.get("position", [0.0] * 3), "m", "a length", 3, f"{self.where}.body.{link}.position")
        return stated | {"centre": place, "placed": True}

    def _follow(self, link: str, mimic: Mimic) -> None:
        """Make a joint follow its leader, at whose coordinate then is what acts in it and what limits it."""
        joint, leader = self.found[link]["joint"], self.robot.joint_named(mimic.leader)
        assert leader is not None  # the reader has seen to that
        to = self.found[leader.child]["joint"]
        own = self.robot.joints[link]
        follower: Entry = {"kind": "mimic", "moves": own.kind, "follows": f"{self.name}.{leader.child}"}
        follower |= {"ratio": mimic.ratio, "offset": mimic.offset}
        self.found[link]["joint"] = follower | {key: joint[key] for key in ("position", "axis")}
        stated = self.stated.get(leader.child, {}).get("joint", {})
        for key, share in (("damping", mimic.ratio**2), ("friction", abs(mimic.ratio))):
            if key not in stated and (own_part := joint.get(key)):
                to[key] = to.get(key, 0.0) + share * own_part
        key = "stroke" if "stop_stiffness" in to else "range"
        if {"stroke", key} & stated.keys():
            return
        known = tuple(to.get(key, (-math.inf, math.inf)))
        low, high = own.narrow(*known)
        if (low, high) != known and low < high:
            to[key] = [low, high]
        elif (low, high) != known:
            words = f"link {link}: limits of its joint leave no room in those of {mimic.leader!r}, which stay"
            self.found[link]["note"] = "; ".join([*([note] if (note := self.found[link].get("note")) else []), words])

    def _body(self, link: str, weight: Entry, frame: Frame) -> Entry:
        """Return a link, its `frame` in the axes of what carries it, as a body with the axes of that frame."""
        name, stated, joint = f"{self.name}.{link}", self.stated.get(link, {}), self.robot.joints.get(link)
        said = [key for key in SAID if key in stated and not (key == "position" and "placed" in weight)]
        own = stated.get("joint", {})
        if isinstance(own, dict):
            locked = own.get("kind") == "locked"
            said += [f"joint.{key}" for key in SAID_OF_JOINTS if key in own and not (key == "kind" and locked)]
        if said or not isinstance(own, dict) or (own and joint is None):
            raise ScenarioError(
                f"{self.where}.body.{link}.{said[0] if said else 'joint'}: is in the URDF, or of its root"
            )
        from scipy.spatial.transform import Rotation  # which takes long to load, and few scenarios have a URDF

        from_centre = np.eye(4)
        from_centre[:3, 3] = -np.array(weight["centre"])
        self.anchors[link] = name, from_centre
        centre = frame @ [*weight["centre"], 1.0]
        found: Entry = {key: weight[key] for key in ("mass", "inertia", "note") if key in weight}
        found |= {
            "position": centre[:3].tolist(),
            "attitude": Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True).tolist(),
        }
        return found | {key: value for key, value in stated.items() if key not in ("joint", *SAID)}

    def _joint(self, link: str, joint: UrdfJoint, frame: Frame) -> Entry:
        """Return the joint of a link whose frame is `frame` where the coordinate is zero. Raises ScenarioError."""
        stated: Entry = self.stated.get(link, {}).get("joint", {})
        found: Entry = {"kind": joint.kind, "position": frame[:3, 3].tolist()}
        if joint.kind == "locked":
            if "start" in stated and link not in self.free:
                words = "is fixed in the URDF, or follows one that is locked: it has none; must be left out"
                raise ScenarioError(
                    f"{self.where}.body.{link}.joint.start = {shown(stated['start'])}: its joint {words}"
                )
            return found | {key: value for key, value in stated.items() if key not in ("kind", "start")}
        found["axis"] = (frame[:3, :3] @ joint.axis).tolist()
        if joint.mimic is not None and stated:
            words = f'follows {joint.mimic.leader!r}; must be stated of that, or be kind = "locked"'
            raise ScenarioError(f"{self.where}.body.{link}.joint.{next(iter(stated))}: {words}")
        found |= {key: value for key in ("damping", "friction") if (value := getattr(joint, key)) is not None}
        found |= stated
        if joint.limits is not None:
            if "stop_stiffness" in found:
                found.setdefault("stroke", list(joint.limits))
            elif "stroke" not in found and joint.limits[0] < joint.limits[1]:
                found.setdefault("range", list(joint.limits))
        return found


def _numbers(value: Any, unit: str, what: str, count: int, where: str) -> list[float]:  # noqa: ANN401, as in the file
    """Return a list of numbers or of texts with a unit. Raises ScenarioError for others."""
    try:
        found = [number_of(part, unit, what, Bounds()) for part in value]
    except (PydanticCustomError, TypeError) as error:
        raise ScenarioError(f"{where} = {shown(value)}: must be {count} numbers: {error}") from None
    if len(found) != count:
        raise ScenarioError(f"{where} = {shown(value)}: must be {count} numbers")
    return found


def _frame(body: Entry, where: str) -> Frame:
    """Return the frame by the place (m) and attitude (a quaternion) of a body. Raises ScenarioError for others."""
    from scipy.spatial.transform import Rotation  # which takes long to load, and few scenarios have a URDF

    found = np.eye(4)
    found[:3, 3] = _numbers(body.get("position", [0.0] * 3), "m", "a length", 3, f"{where}.position")
    try:
        turn = TypeAdapter(Attitude).validate_python(body.get("attitude", LEVEL))
    except ValidationError as error:
        problem = error.errors()[0]
        raise ScenarioError(f"{where}.attitude = {shown(body['attitude'])}: {allowed(problem)}") from None
    found[:3, :3] = Rotation.from_quat(np.asarray(quaternion_of(turn)), scalar_first=True).as_matrix()
    return found

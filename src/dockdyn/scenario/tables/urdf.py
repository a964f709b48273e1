"""The reader of URDF files (https://wiki.ros.org/urdf/XML): one pass over the XML, to links and joints in SI units.

It is the only one: mechanisms and identification make their tables of what it returns. What does not count for the
motion, such as shapes, meshes and transmissions, is passed over unread, so that it never decides whether a file loads.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, nearest, shown
from dockdyn.scenario.language.given_file import URDF_FILE, content_of
from dockdyn.scenario.language.units import Bounds, number_of
from dockdyn.scenario.tables.inertia import nearest_possible, physical, physical_or_point, principal_moments

COUNTING = {  # elements that are read, by the one in which they stand
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
}
KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "locked"}
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
MOST_LINKS = 1000
WORLD = "world"  # what a file calls what stays where it is; may be a parent without being declared
REPAIR = "repair"
Entry = dict[str, Any]
type Frame = Float[np.ndarray, "4 4"]  # takes places in it to those in the frame in which it is


@record
class Mimic:
    """The joint whose coordinate another follows, as `ratio` times it and `offset` (rad or m)."""

    leader: str
    ratio: float
    offset: float

    def through(self, leads: Mimic) -> Mimic:
        """Return it as a follower of the joint that its leader follows."""
        return Mimic(leads.leader, self.ratio * leads.ratio, self.ratio * leads.offset + self.offset)


@record
class UrdfJoint:
    """How a link is held on its parent. `frame` is where it is on that at the coordinate zero, the link's axes its own."""

    name: str
    kind: str  # "revolute", "prismatic" or "locked"
    parent: str
    child: str
    frame: Frame
    axis: list[float]
    damping: float | None = None
    friction: float | None = None
    limits: tuple[float, float] | None = None  # rad or m
    speed: float | None = None  # rad/s or m/s, the largest
    mimic: Mimic | None = None

    def locked_at(self, coordinate: float) -> UrdfJoint:
        """Return it as a joint that does not move, where its coordinate (rad or m) would have put the link."""
        from scipy.spatial.transform import Rotation  # which takes long to load, and few scenarios have a URDF

        along = np.array(self.axis) / np.linalg.norm(self.axis) * coordinate
        moved = np.eye(4)
        if self.kind == "revolute":
            moved[:3, :3] = Rotation.from_rotvec(along).as_matrix()
        elif self.kind == "prismatic":
            moved[:3, 3] = along
        return replace(self, kind="locked", frame=self.frame @ moved, mimic=None)

    def narrow(self, low: float, high: float) -> tuple[float, float]:
        """Return the limits of its leader (rad or m) that its own leave of `low` to `high`: low < high where there is room.

        Own limits without room between them count as none, as URDF files state them of joints without.
        """
        if self.mimic is None or not self.mimic.ratio or self.limits is None or self.limits[0] >= self.limits[1]:
            return low, high
        ends = [(end - self.mimic.offset) / self.mimic.ratio for end in self.limits]
        return max(low, min(ends)), min(high, max(ends))


@record
class UrdfLink:
    """A link. Its mass is read where it is asked for, since a scenario may state another."""

    name: str
    inertial: Element | None

    def centre(self, label: str) -> list[float] | None:
        """Return the place of the centre of mass (m, link axes); None of a link of which the file says no mass."""
        if self.inertial is None:
            return None
        where = f"{label}: link {self.name}"
        return _frame(_parts(self.inertial, where).get("origin"), f"{where}: inertial")[:3, 3].tolist()

    def body(self, label: str, point_mass: bool, repair: bool) -> Entry:
        """Return the mass (kg), centre (m) and inertia about it (kg m²) in link axes; nothing for a frame without mass.

        `point_mass`: whether an inertia of zero is allowed. An impossible inertia is replaced by the nearest possible one with
        `repair`, and `note` says so; ScenarioError without, and for values that are none.
        """
        if self.inertial is None:
            return {}
        where = f"{label}: link {self.name}"
        parts = _parts(self.inertial, where)
        mass = _number(_attribute(parts, "mass", "value", where), f"{where}: mass")
        moments = [_number(_attribute(parts, "inertia", key, where), f"{where}: {key}") for key in MOMENTS]
        frame = _frame(parts.get("origin"), f"{where}: inertial")
        if mass == 0 and not any(moments):
            return {}
        if mass <= 0:
            raise ScenarioError(f"{where}: mass = {mass:g}: must be above 0 kg, or 0 with an inertia of 0")
        tensor = np.zeros((3, 3))
        tensor[np.triu_indices(3)] = moments
        turned = frame[:3, :3] @ (tensor + np.triu(tensor, 1).T) @ frame[:3, :3].T
        inertia, note = (turned + turned.T) / 2, {}
        try:
            (physical_or_point if point_mass else physical)(inertia.tolist())
        except PydanticCustomError as error:
            if not repair:
                words = f'or stated in the scenario; inertia = "{REPAIR}" beside urdf takes the nearest possible'
                raise ScenarioError(f"{where}: inertia: {error}; {words}") from None
            was, inertia = inertia, nearest_possible(mass, inertia)
            words = (
                f"principal moments {principal_moments(was)} were impossible; are {principal_moments(inertia)} kg m²"
            )
            note = {"note": f"link {self.name}: inertia repaired: {words}"}
        return {"mass": mass, "centre": frame[:3, 3].tolist(), "inertia": inertia.tolist()} | note


@record
class UrdfTree:
    """The tree of a URDF file: links, the root first and each after its parent, and the joint that holds each other one."""

    label: str  # how messages call the file
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]  # by the link that it holds

    @property
    def root(self) -> str:
        return next(iter(self.links))

    def joint_named(self, name: str) -> UrdfJoint | None:
        """Return the joint of a name, None where there is none."""
        return next((joint for joint in self.joints.values() if joint.name == name), None)

    def locked(self, coordinates: Mapping[str, float]) -> UrdfTree:
        """Return it with the joints of some links locked at `coordinates` (rad or m), and with them all that follow those.

        Each other that follows one that follows another then follows the last, which follows none.
        """
        at = {self.joints[link].name: value for link, value in coordinates.items()}
        at |= {joint.name: 0.0 for joint in self.joints.values() if joint.kind == "locked"}
        by_name = {joint.name: joint for joint in self.joints.values()}
        found = {}
        for link, joint in self.joints.items():
            if (value := at.get(joint.name)) is not None:
                found[link] = joint.locked_at(value)
                continue
            mimic = joint.mimic
            while mimic is not None and mimic.leader not in at and (further := by_name[mimic.leader].mimic) is not None:
                mimic = mimic.through(further)
            if mimic is not None and mimic.leader in at:
                found[link] = joint.locked_at(mimic.ratio * at[mimic.leader] + mimic.offset)
            else:
                found[link] = replace(joint, mimic=mimic)
        return replace(self, joints=found)

    def _stating_file(self) -> str:
        """Return what states it, without the scenario that messages begin with."""
        return self.label.partition(": ")[2] or self.label

    def refuse_unknown(self, link: str, where: str) -> None:
        """Refuse a name that is to be one of its links, and is none. Raises ScenarioError."""
        if (joint := self.joint_named(link)) is not None:
            raise ScenarioError(f"{where}: is a joint of {self._stating_file()}; must be its link, {joint.child!r}")
        if link not in self.links:
            raise ScenarioError(f"{where}: no link of {self._stating_file()}; {nearest(link, self.links)}")


def read_robot(path: Path, label: str) -> UrdfTree:
    """Read a URDF file, which messages call `label`. Raises ScenarioError for what is none, or no tree of links."""
    root = _Reading(label).read(content_of(path, label, URDF_FILE))
    links = {name: UrdfLink(name, element.find("inertial")) for name, element in _by_name(root, "link", label).items()}
    joints = [_joint(name, element, label) for name, element in _by_name(root, "joint", label).items()]
    if not links:
        raise ScenarioError(f"{label}: has no links; must have at least one")
    if len(links) > MOST_LINKS:
        raise ScenarioError(f"{label}: has {len(links)} links; must have at most {MOST_LINKS}")
    if any(joint.parent == WORLD for joint in joints):
        links.setdefault(WORLD, UrdfLink(WORLD, None))
    holders: dict[str, UrdfJoint] = {}
    for joint in joints:
        for word, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise ScenarioError(
                    f"{label}: joint {joint.name}: its {word} {name!r} is no link; {nearest(name, links)}"
                )
        if joint.child in holders:
            both = f"{holders[joint.child].name}, {joint.name}"
            raise ScenarioError(f"{label}: link {joint.child}: two joints lead to it ({both}); must be a tree")
        holders[joint.child] = joint
    ordered = _in_order(list(links), holders, label)
    root_link, on_root = links[ordered[0]], [joint for joint in joints if joint.parent == ordered[0]]
    if len(on_root) == 1 and on_root[0].kind == "floating" and not root_link.body(label, True, True):
        ordered = ordered[1:]  # a frame in space and what floats in it: the base
        joints.remove(on_root[0])
    if floating := [joint.name for joint in joints if joint.kind == "floating"]:
        raise _unknown_type(f"{label}: joint {floating[0]}", "floating")
    _refuse_wrong_followers({joint.name: joint for joint in joints}, label)
    return UrdfTree(label, {name: links[name] for name in ordered}, {joint.child: joint for joint in joints})


class _Reading:
    """One pass over the XML that keeps what counts. It takes no DOCTYPE, so that no entity grows or reaches another file."""

    def __init__(self, label: str):
        self.label = label
        self.open: list[Element] = []  # elements that count, the innermost last
        self.passed = 0  # how deep it is in one that does not
        self.xacro = {"xacro"}  # prefixes of names
        self.root: Element | None = None

    def read(self, content: bytes) -> Element:
        """Return the element <robot>. Raises ScenarioError for what is not XML, or no robot."""
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        try:
            parser.Parse(content, True)
        except ScenarioError:
            raise
        except (expat.ExpatError, LookupError, ValueError) as error:  # the last two of unknown encodings
            raise ScenarioError(f"{self.label}: is not XML: {error}") from None
        assert self.root is not None  # else it is not XML
        return self.root

    def _refuse_doctype(self, *_: object) -> None:
        raise ScenarioError(f"{self.label}: holds a <!DOCTYPE>, which may define entities; must have none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.passed:
            self.passed += 1
            return
        self.xacro |= {key[6:] for key, value in attributes.items() if key.startswith("xmlns:") and "xacro" in value}
        if self.open and tag.split(":")[0] in self.xacro and ":" in tag:
            raise ScenarioError(f"{self.label}: holds <{tag}> of xacro; must be expanded first")
        if not self.open and tag != "robot":
            raise ScenarioError(f"{self.label}: its first element is <{tag}>; must be <robot>")
        if self.open and tag not in COUNTING.get(self.open[-1].tag, ()):
            self.passed = 1
            return
        element = Element(tag, attributes)
        if self.open:
            self.open[-1].append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, _: str) -> None:
        if self.passed:
            self.passed -= 1
        else:
            self.open.pop()


def _by_name(root: Element, tag: str, label: str) -> dict[str, Element]:
    """Return all links or all joints by name. Raises ScenarioError for one without a name, or two of one name."""
    found: dict[str, Element] = {}
    for element in root.findall(tag):
        if not (name := element.get("name")):
            raise ScenarioError(f"{label}: {tag} without a name: has no name")
        if name in found:
            raise ScenarioError(f"{label}: {tag} {name}: two of this name; names must differ")
        found[name] = element
        _parts(element, f"{label}: {tag} {name}")
    return found


def _parts(element: Element, where: str) -> dict[str, Element]:
    """Return the elements inside one by tag. Raises ScenarioError where one stands there twice."""
    counts = Counter(part.tag for part in element)
    if twice := [tag for tag, count in counts.items() if count > 1]:
        raise ScenarioError(f"{where}: has {counts[twice[0]]} <{twice[0]}>; must have one")
    return {part.tag: part for part in element}


def _attribute(parts: Mapping[str, Element], tag: str, key: str, where: str) -> str:
    """Return an attribute that must be there. Raises ScenarioError where it is not."""
    stated = parts[tag].get(key) if tag in parts else None
    if stated is None:
        raise ScenarioError(f"{where}: <{tag}> has no {key}")
    return stated


def _number(text: str, what: str, least: float = -np.inf) -> float:
    """Return the number that a text is. Raises ScenarioError where it is none, or below the `least`."""
    try:
        found = float(text)
    except ValueError:
        found = np.nan
    if not np.isfinite(found):
        raise ScenarioError(f"{what} = {shown(text)}: must be a finite number")
    try:
        return number_of(found, "", "a number", Bounds(least=least))
    except PydanticCustomError as error:
        raise ScenarioError(f"{what} = {shown(text)}: {error}") from None


def _read_three_numbers(text: str, what: str) -> list[float]:
    """Return three numbers with blanks between. Raises ScenarioError where they are not."""
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        found = []
    if len(found) != 3 or not np.all(np.isfinite(found)):
        raise ScenarioError(f"{what} = {shown(text)}: must be three finite numbers")
    return found


def _frame(origin: Element | None, where: str) -> Frame:
    """Return the frame that an <origin> says: turned by `rpy` about the fixed x, y and z axes."""
    found = np.eye(4)
    origin = Element("origin") if origin is None else origin
    found[:3, 3] = _read_three_numbers(origin.get("xyz", "0 0 0"), f"{where}: origin xyz")
    (cr, cp, cy), (sr, sp, sy) = (
        f(_read_three_numbers(origin.get("rpy", "0 0 0"), f"{where}: origin rpy")) for f in (np.cos, np.sin)
    )
    found[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return found


def _unknown_type(where: str, sort: str) -> ScenarioError:
    at_root = "; a floating joint may only hold the base, on a massless root" if sort == "floating" else ""
    return ScenarioError(f"{where}: type = {shown(sort)}: must be one of {', '.join(KINDS)}{at_root}")


def _joint(name: str, element: Element, label: str) -> UrdfJoint:
    """Return what a <joint> says, one that floats of the kind "floating". Raises ScenarioError."""
    where, parts = f"{label}: joint {name}", _parts(element, f"{label}: joint {name}")
    if (sort := element.get("type")) is None:
        raise ScenarioError(f"{where}: has no type")
    if sort not in KINDS and sort != "floating":
        raise _unknown_type(where, sort)
    parent, child = (_attribute(parts, tag, "link", where) for tag in ("parent", "child"))
    kind = KINDS.get(sort, sort)
    found = UrdfJoint(name, kind, parent, child, _frame(parts.get("origin"), where), [1.0, 0.0, 0.0])
    if kind not in ("revolute", "prismatic"):
        return found

    def stated(tag: str, key: str, least: float = -np.inf) -> float | None:
        text = parts[tag].get(key) if tag in parts else None
        return None if text is None else _number(text, f"{where}: {key}", least)

    axis = (
        found.axis if "axis" not in parts else _read_three_numbers(parts["axis"].get("xyz", "1 0 0"), f"{where}: axis")
    )
    if not any(axis):
        raise ScenarioError(f"{where}: axis = {axis}: must be three numbers, not all of them 0")
    mimic = None
    if "mimic" in parts:
        ratio, offset = stated("mimic", "multiplier"), stated("mimic", "offset")
        mimic = Mimic(_attribute(parts, "mimic", "joint", where), 1.0 if ratio is None else ratio, offset or 0.0)
    ends = stated("limit", "lower"), stated("limit", "upper")
    limited = sort != "continuous" and ends != (None, None)
    return replace(
        found,
        axis=axis,
        damping=stated("dynamics", "damping", 0.0),
        friction=stated("dynamics", "friction", 0.0),
        limits=(ends[0] or 0.0, ends[1] or 0.0) if limited else None,
        speed=stated("limit", "velocity"),
        mimic=mimic,
    )


def _in_order(names: list[str], holders: Mapping[str, UrdfJoint], label: str) -> list[str]:
    """Return the links, each after its parent, else as they stand in the file. Raises ScenarioError where they are no tree."""
    roots = [name for name in names if name not in holders]
    if len(roots) != 1:
        raise ScenarioError(f"{label}: must be a tree: {len(roots)} links have no parent ({', '.join(roots)})")
    children: dict[str, list[int]] = {name: [] for name in names}
    for number, name in enumerate(names):
        if name in holders:
            children[holders[name].parent].append(number)
    found, ready = [], [names.index(roots[0])]
    while ready:
        found.append(names[heapq.heappop(ready)])
        for number in children[found[-1]]:
            heapq.heappush(ready, number)
    if len(found) < len(names):
        left = [name for name in names if name not in set(found)]
        raise ScenarioError(f"{label}: must be a tree: links {', '.join(left)} form a loop")
    return found


def _refuse_wrong_followers(joints: Mapping[str, UrdfJoint], label: str) -> None:
    """Refuse joints that follow one that there is not, or each other. Raises ScenarioError."""
    for joint in joints.values():
        passed = {joint.name}
        while (mimic := joint.mimic) is not None:
            where = f"{label}: joint {joint.name}: <mimic> joint = {shown(mimic.leader)}"
            if mimic.leader not in joints:
                raise ScenarioError(f"{where}: no such joint; {nearest(mimic.leader, joints)}")
            if mimic.leader in passed:
                raise ScenarioError(f"{where}: joints follow each other in a circle; must follow one that does not")
            passed.add(mimic.leader)
            joint = joints[mimic.leader]


def locked_coordinates(robot: UrdfTree, entries: Mapping[str, Entry], where: str) -> dict[str, float]:
    """Return the `start` (rad or m) of the joints of some links, by link, at which the scenario locks them.

    Raises ScenarioError for one that is none, and for what such a joint does not have.
    """
    found = {}
    for link, entry in entries.items():
        unit, what = ("m", "a length") if robot.joints[link].kind == "prismatic" else ("rad", "an angle")
        try:
            found[link] = number_of(entry.get("start", 0.0), unit, what, Bounds())
        except PydanticCustomError as error:
            raise ScenarioError(f"{where}.{link}: start = {shown(entry['start'])}: {error}") from None
    return found

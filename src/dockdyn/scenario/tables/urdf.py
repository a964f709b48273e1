"""Trees of links from URDF files (https://wiki.ros.org/urdf/XML): `urdf = "arm.urdf"` of a chaser or target becomes its
`link` tables before the scenario is checked, so that what is stored is complete without the file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.given_file import URDF_FILE, content_of
from dockdyn.scenario.language.units import Bounds, number_of

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "locked"}
SAID = ("parent", "joint", "axis", "mount", "mount_attitude")  # by the URDF, but for its root
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
BODY = ("mass", "centre", "inertia")
Entry = dict[str, Any]


def with_urdf(data: Entry, name: str, folder: Path | None) -> Entry:
    """`data` of the scenario `name` with every `urdf` of chaser and target replaced by the links in that file.

    Paths count from `folder` (None: the working folder). ScenarioError for a file or a link that cannot be used.
    """
    for side in ("chaser", "target"):
        section = data.get(side)
        if isinstance(section, dict) and "urdf" in section:
            data = {**data, side: _with_links(section, f"{name}: {side}", folder or Path())}
    return data


def _with_links(section: Entry, where: str, folder: Path) -> Entry:
    """The table of one side, its own `link` tables merged into those of the URDF."""
    given, entries = section["urdf"], section.get("link", [])
    label = f"{where}.urdf = {given!r}"
    if not isinstance(given, str):
        raise ScenarioError(f"{label}: must be the path of a URDF file")
    if not (isinstance(entries, list) and all(isinstance(e, dict) and isinstance(e.get("name"), str) for e in entries)):
        raise ScenarioError(f"{where}.link: must be a list of tables, each with a name")
    found, joints = links_of(read(folder / given, label), label)
    links = {link["name"]: link for link in found}
    more = []
    for entry in entries:
        if entry["name"] in links:
            _override(links[entry["name"]], entry, f"{where}.link.{entry['name']}")
        else:
            _check_own(entry, links, joints, where, given)
            more.append(entry)
    for link in links.values():
        _carry(link, links.get(link.get("parent", "")), link["name"] != found[0]["name"])
    rest = {key: value for key, value in section.items() if key not in ("urdf", "link")}
    return {**rest, "link": [*links.values(), *more]}


def read(path: Path, label: str) -> Any:  # noqa: ANN401, yourdfpy's, without types
    """The robot in a URDF file (yourdfpy's), without its meshes."""
    try:
        from yourdfpy import URDF
    except ImportError:
        raise ScenarioError(f"{label}: needs the package yourdfpy; pip install 'dockdyn[urdf]'") from None
    content = content_of(path, label, URDF_FILE)
    try:
        _check_complete(ElementTree.fromstring(content), label)  # yourdfpy guesses what broken XML means
        return URDF.load(io.BytesIO(content), build_scene_graph=False, load_meshes=False).robot
    except ElementTree.ParseError as error:
        raise ScenarioError(f"{label}: is not XML: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # yourdfpy's, where something is missing
        words = " ".join(str(error).split())
        raise ScenarioError(f"{label}: cannot be read as URDF ({type(error).__name__}: {words})") from None


def _check_complete(root: ElementTree.Element, label: str) -> None:
    """Refuses what yourdfpy would fill in or trip over: attributes that a URDF must have."""
    if root.tag != "robot":
        raise ScenarioError(f"{label}: its first element is <{root.tag}>; must be <robot>")
    needed = {"link": ("name",), "joint": ("name", "type")}
    for element in root:
        if "xacro" in element.tag:
            raise ScenarioError(f"{label}: holds <{element.tag.split('}')[-1]}> of xacro; must be expanded first")
        name = element.get("name", "without a name")
        for attribute in needed.get(element.tag, ()):
            if element.get(attribute) is None:
                raise ScenarioError(f"{label}: {element.tag} {name}: has no {attribute}")
        parts: dict[str, tuple[str, ...]] = {"parent": ("link",), "child": ("link",)} if element.tag == "joint" else {}
        if element.tag == "link" and element.find("inertial") is not None:
            parts = {"inertial/mass": ("value",), "inertial/inertia": MOMENTS}
        for part, attributes in parts.items():
            place = element.find(part)
            missing = [key for key in attributes if place is None or place.get(key) is None]
            if missing:
                raise ScenarioError(f"{label}: {element.tag} {name}: <{part.split('/')[-1]}> has no {missing[0]}")


def links_of(robot: Any, label: str) -> tuple[list[Entry], dict[str, str]]:  # noqa: ANN401, of `read`
    """Tables of the links, the root first and every link after its parent, and the link that each joint moves."""
    from dockdyn.mechanics.trees.assembly import Link, in_order

    bodies = {link.name: link for link in robot.links}
    holders: dict[str, Any] = {}
    for joint in robot.joints:
        for word, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in bodies:
                raise ScenarioError(
                    f"{label}: joint {joint.name}: its {word} {name!r} is no link; {nearest(name, bodies)}"
                )
        if joint.child in holders:
            other = holders[joint.child].name
            raise ScenarioError(
                f"{label}: link {joint.child}: two joints lead to it ({other}, {joint.name}); must be a tree"
            )
        holders[joint.child] = joint
    try:
        ordered = in_order(
            [Link(n, holders[n].parent if n in holders else None) for n in (b.name for b in robot.links)]
        )
    except ValueError as error:
        raise ScenarioError(f"{label}: must be a tree: {error}") from None
    root, *others = [link.name for link in ordered]
    on_root = [holders[name] for name in others if holders[name].parent == root]
    if len(on_root) == 1 and on_root[0].type == "floating" and not body(bodies[root], label):
        # a frame in space and what floats in it: the base
        del holders[on_root[0].child]
        root, others = on_root[0].child, [name for name in others if name != on_root[0].child]
    links = [{"name": root, **body(bodies[root], label)}]
    for name in others:
        links.append({"name": name, **_joint_of(holders[name], label), **body(bodies[name], label)})
    return links, {joint.name: joint.child for joint in robot.joints}


def _joint_of(joint: Any, label: str) -> Entry:  # noqa: ANN401, of `read`
    """What the joint says: parent, kind, place, axis, damping."""
    where = f"{label}: joint {joint.name}"
    if joint.type not in KINDS:
        at_root = "; a floating joint may only hold the base, on a massless root" if joint.type == "floating" else ""
        raise ScenarioError(f"{where}: type = {joint.type!r}: must be one of {', '.join(KINDS)}{at_root}")
    if joint.mimic is not None:
        raise ScenarioError(f"{where}: <mimic>: joints that follow another are not supported; must be left out")
    found: Entry = {"parent": joint.parent, "joint": KINDS[joint.type]}
    if joint.origin is not None:
        finite(joint.origin, where, "origin")
        found["mount"] = joint.origin[:3, 3].tolist()
        if np.any(joint.origin[:3, :3] != np.eye(3)):
            found["mount_attitude"] = _quaternion(joint.origin[:3, :3])
    if found["joint"] == "locked":
        return found
    finite(joint.axis, where, "axis")
    if joint.axis.shape != (3,) or not joint.axis.any():
        raise ScenarioError(f"{where}: axis = {joint.axis.tolist()}: must be three numbers, not all of them 0")
    found |= {"coordinate": joint.name, "axis": joint.axis.tolist()}
    return found | coefficient(joint, "damping", where)


def coefficient(joint: Any, key: str, where: str) -> Entry:  # noqa: ANN401, of `read`
    """The number that a joint's <dynamics> has under a `key`, by that key; nothing where it has none."""
    stated = getattr(joint.dynamics, key, None)
    if stated is None:
        return {}
    try:
        return {key: number_of(stated, "", f"a {key} coefficient", Bounds(least=0))}
    except PydanticCustomError as error:
        raise ScenarioError(f"{where}: {key} = {stated!r}: {error}") from None


def body(link: Any, label: str) -> Entry:  # noqa: ANN401, of `read`
    """Mass, centre and inertia about it in link axes; nothing for a frame without mass."""
    inertial, where = link.inertial, f"{label}: link {link.name}"
    if inertial is None:
        return {}
    frame = np.eye(4) if inertial.origin is None else inertial.origin
    for name, value in (("origin", frame), ("mass", inertial.mass), ("inertia", inertial.inertia)):
        finite(value, where, name)
    if inertial.mass == 0 and not inertial.inertia.any():
        return {}
    if inertial.mass <= 0:
        raise ScenarioError(f"{where}: mass = {inertial.mass:g}: must be above 0 kg, or 0 with an inertia of 0")
    turned = frame[:3, :3] @ inertial.inertia @ frame[:3, :3].T
    return {"mass": inertial.mass, "centre": frame[:3, 3].tolist(), "inertia": ((turned + turned.T) / 2).tolist()}


def finite(value: object, where: str, what: str) -> None:
    if not np.all(np.isfinite(value)):
        raise ScenarioError(f"{where}: {what}: must be finite numbers")


def _quaternion(rotation: np.ndarray) -> list[float]:
    import jax.numpy as jnp

    from dockdyn.mechanics.rotation import Quaternion
    from dockdyn.mechanics.vector import Matrix

    return Quaternion.from_matrix(Matrix.of(jnp.asarray(rotation))).array().tolist()


def _override(link: Entry, entry: Entry, where: str) -> None:
    """Keys of the scenario in place of the URDF's; a beam, mass or inertia replaces all that the link has."""
    root = "parent" not in link
    for key in SAID:
        if key in entry and not root:
            raise ScenarioError(f"{where}.{key}: is in the URDF; may be given for its root and for links of your own")
    if root and "parent" in entry:
        link["joint"] = "locked"
    if any(key in entry for key in ("beam", "mass", "inertia")):
        for key in BODY:
            link.pop(key, None)
    link |= entry


def _carry(link: Entry, parent: Entry | None, said: bool) -> None:
    """Counts the place of a URDF's joint from the end of its parent's beam, where it is to be attached there."""
    if parent is None or parent.get("beam") is None or not said:
        return
    beam = parent["beam"]
    mount = link.get("mount", [0.0, 0.0, 0.0])
    if link.get("at") == "tip":
        try:
            length = number_of(beam.get("length"), "m", "a length", Bounds())
        except (PydanticCustomError, AttributeError):
            return  # the section refuses it
        link["mount"] = [mount[0] - length, *mount[1:]]


def _check_own(entry: Entry, links: dict[str, Entry], joints: dict[str, str], where: str, file: str) -> None:
    """Refuses a table that is none of the URDF's links, and no link of its own either."""
    name = entry["name"]
    if name in joints:
        raise ScenarioError(f"{where}.link.{name}: is a joint of {file}; must be its link, {joints[name]!r}")
    if "parent" not in entry and not any(key in entry for key in ("mass", "inertia", "beam")):
        raise ScenarioError(f"{where}.link.{name}: no link of {file}; {nearest(name, links)}")

"""An arm from a URDF file on a spacecraft: one of its links is the hand, which meets a payload."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.mechanism.effective_mass import effective_masses
from dockdyn.programs import Program
from dockdyn.records import record
from dockdyn.scenario.load import parse
from dockdyn.scenario.starters.pieces import (
    GAP,
    approach,
    closing_speed,
    contact,
    contact_questions,
    inline,
    join_tables,
    lateral_offset,
    loop,
    mass_of,
    opening,
    quote,
    rig_questions,
    row,
    side,
    spacecraft,
    table,
    write_chosen,
)
from dockdyn.scenario.starters.question import Amount, Answers, Choice, GivenFile, digits, fixed_bounds, round_bounds
from dockdyn.scenario.starters.starter import Starter
from dockdyn.scenario.tables.urdf import UrdfTree, read_robot

LASTS = 0.1  # s, a contact of the hand
AFTER = 5.0  # s, that the run goes on once they have met
DAMPING = 0.7  # ratio, of the motors' control
SHORTEST = 0.1  # m, of an arm
LEAST_LEVER = 0.05  # of the arm's length, about a joint in line with what it moves
TIP = 0.2  # of the hand's reach, radius of its tip
MOST_STARTS = 10  # joints whose angles at the start are written down
AXES = {
    "x": (1, 0, 0),
    "-x": (-1, 0, 0),
    "y": (0, 1, 0),
    "-y": (0, -1, 0),
    "z": (0, 0, 1),
    "-z": (0, 0, -1),
}


@record
class ArmFile:
    """What a URDF file holds, and the masses (kg) of the links that have one."""

    tree: UrdfTree
    masses: dict[str, float]
    notes: tuple[str, ...]  # of inertias that no body has

    @property
    def moving(self) -> list[str]:
        """Return the links whose joints move by themselves, in the order of the bodies."""
        joints = self.tree.joints
        return [
            link
            for link in self.tree.links
            if link in joints and joints[link].kind != "locked" and joints[link].mimic is None
        ]

    @property
    def last(self) -> str:
        """Return the link with a mass that most joints are before."""
        return max(self.masses, key=lambda link: len(self.chain(link)))

    def chain(self, link: str) -> list[str]:
        """Return the links from behind the root to a `link`."""
        found: list[str] = []
        while (joint := self.tree.joints.get(link)) is not None:
            found.insert(0, link)
            link = joint.parent
        return found

    def length(self) -> float:
        """Return the length (m) of the longest way from the root to a link."""
        lengths = [
            sum(float(np.linalg.norm(self.tree.joints[part].frame[:3, 3])) for part in self.chain(link))
            for link in self.tree.links
        ]
        return max(*lengths, SHORTEST)


def read_arm(path: Path) -> ArmFile:
    """Return what a URDF file holds. Raises ScenarioError for one without links that can be used."""
    tree = read_robot(path, path.name)
    found = {link.name: link.body(path.name, point_mass=False, repair=True) for link in tree.links.values()}
    masses = {name: float(body["mass"]) for name, body in found.items() if body}
    return ArmFile(tree, masses, tuple(str(body["note"]) for body in found.values() if "note" in body))


def _describe_links(name: str, found: object) -> str:
    assert isinstance(found, ArmFile)
    joints = found.tree.joints
    rows = []
    for link in found.tree.links:
        kind = f"{joints[link].kind} on {joints[link].parent}" if link in joints else "root"
        mass = f"{found.masses[link]:.4g} kg" if link in found.masses else "no mass"
        rows.append(f"  {link}: {kind}, {mass}")
    return "\n".join([f"{name}: {len(rows)} links", *rows, *found.notes])


def _arm(answers: Answers) -> ArmFile:
    found = answers.files["urdf"]
    assert isinstance(found, ArmFile)
    return found


def _hands(answers: Answers) -> Mapping[str, str]:
    """Return the links that can be the hand, with their masses."""
    arm = _arm(answers)
    return {link: f"{mass:.4g} kg" for link, mass in sorted(arm.masses.items(), key=lambda item: item[0] != arm.last)}


def _mass(answers: Answers) -> float:
    """Return the mass (kg) that the contact feels as the run begins: of the payload, and of the arm with its joints free."""
    bodies = Answers(answers.folder, {**answers.texts, "rig": "no"}, dict(answers.numbers), answers.files)
    for name, text, value in (("stiffness", "1 N/m", 1.0), ("restitution", "0.5", 0.5), ("friction", "0", 0.0)):
        bodies.texts[name], bodies.numbers[name] = text, value  # of no matter here
    return _effective_mass("schema = 2\n" + _text(bodies, mass=1.0), answers.folder)


@lru_cache(maxsize=8)
def _effective_mass(text: str, folder: Path) -> float:
    """Return the effective mass (kg) of the one contact of a scenario in `text` as its run begins."""
    return float(_effective_masses(parse(text, "the arm", folder=folder).content)[0])


@Program
def _effective_masses(content: Any) -> Any:  # noqa: ANN401, of bodies in space; an array
    """Return the effective masses (kg) of the contacts at t = 0."""
    model = content.model()
    return effective_masses(model, model.initial())[0]


def _reach(answers: Answers) -> float:
    """Return how far (m) the hand reaches beyond its frame, as far as its centre of mass tells."""
    arm = _arm(answers)
    centre = arm.tree.links[answers.texts["hand"]].centre("") or [0.0, 0.0, 0.0]
    return max(2 * abs(float(np.dot(centre, AXES[answers.texts["hand-axis"]]))), LEAST_LEVER * arm.length(), 0.01)


def _gains(answers: Answers) -> tuple[str, str]:
    """Return stiffness and damping of the motors by joint: the arm beyond it, stretched, swings in the stated period."""
    arm, natural = _arm(answers), 2 * math.pi / answers["joint-period"]
    lengths = {link: float(np.linalg.norm(joint.frame[:3, 3])) for link, joint in arm.tree.joints.items()}
    inertias = []
    for link in arm.moving:
        outer = [other for other in arm.tree.links if link in arm.chain(other)]
        carried = sum(arm.masses.get(other, 0.0) for other in outer)
        lever = sum(lengths[other] for other in outer if other != link)
        lever = max(lever, LEAST_LEVER * arm.length())
        inertias.append(carried * (lever**2 if arm.tree.joints[link].kind == "revolute" else 1.0))
    return write_chosen(value * natural**2 for value in inertias), write_chosen(
        2 * DAMPING * value * natural for value in inertias
    )


def _text(answers: Answers, mass: float | None = None) -> str:
    """Return the tables of the file, with the damping of a contact of an effective `mass` (kg), by default the bodies' own."""
    front = side(answers["payload-mass"]) / 2
    plate = inline([("shape", '"plane"', ""), ("point", row([front, 0, 0]), ""), ("normal", "[1, 0, 0]", "")])
    ball = inline([("shape", '"sphere"', ""), ("centre", "[0, 0, 0]", ""), ("radius", quote(f"{front:g} m"), "")])
    touched = plate if answers.says("touches", "plate") else ball
    face = ("port.face", f"{{ position = {row([front, 0, 0])}, axis = [1, 0, 0] }}", "m, where it comes to")
    place = side(answers["spacecraft-mass"]) / 2
    arm, stiffness = _arm(answers), _gains(answers)
    tree = [
        ("urdf", quote(answers.texts["urdf"]), "its links are the bodies arm.LINK"),
        ("on", '"spacecraft"', ""),
        ("position", row([place, 0, 0]), "m, of its root, from the spacecraft's centre of mass"),
    ]
    if arm.notes:
        tree.append(("inertia", '"repair"', "of links whose inertia no body has, the nearest possible one"))
    motors = [
        ("law", '"joint-pd"', "holds the joints where they began, as springs and dampers"),
        ("body", '"spacecraft"', "that bears the arm"),
        ("stiffness", stiffness[0], "N m/rad, of slides N/m, joint by joint"),
        ("damping", stiffness[1], "N m s/rad, of slides N s/m"),
    ]
    return join_tables(
        opening(1.5 * GAP / answers["closing-speed"] + AFTER, "for the approach and what follows", answers),
        approach("tip", "face", answers, "of the hand, to the payload; the spacecraft comes with it")
        + f"axis = {row(AXES[answers.texts['hand-axis']])}  # of the hand, out of it\n",
        spacecraft("spacecraft", answers),
        table("tree.arm", tree),
        table("tree.arm.body", _links(answers)),
        spacecraft("payload", answers, ("surface.front", touched, "what the hand meets"), face),
        contact("hand-on-payload", ("tip", "front"), answers, _mass(answers) if mass is None else mass),
        table("control", motors) if arm.moving else "",
        loop(answers),
    )


def _links(answers: Answers) -> list[tuple[str, str, str]]:
    """Return what the scenario says of links: angles at the start, and the ball that is the tip of the hand."""
    arm, hand = _arm(answers), answers.texts["hand"]
    centre = np.array(arm.tree.links[hand].centre("") or [0.0, 0.0, 0.0])
    radius = TIP * answers["hand-reach"]
    tip = (answers["hand-reach"] - radius) * np.array(AXES[answers.texts["hand-axis"]]) - centre
    ball = inline([("position", row(tip.tolist()), ""), ("radius", f'"{digits(1e3 * radius)} mm"', "")])
    said: dict[str, list[str]] = {hand: [f"feature = {{ tip = {ball} }}"]}
    for link in arm.moving[:MOST_STARTS]:
        zero = "0 deg" if arm.tree.joints[link].kind == "revolute" else "0 m"
        said.setdefault(link, []).insert(0, f'joint = {{ start = "{zero}" }}')
    order = [link for link in arm.tree.links if link in said]
    words = {hand: "m, of the tip, from its centre of mass"}
    return [(_key(link), f"{{ {', '.join(said[link])} }}", words.get(link, "")) for link in order]


def _key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else quote(name)


URDF_ARM = Starter(
    "an arm from a URDF file, whose hand meets a payload",
    (
        *rig_questions(),
        GivenFile("urdf", "The path of the URDF file; xacro must be expanded before.", read_arm, _describe_links),
        Choice("hand", "The link that meets the payload.", _hands),
        Choice(
            "hand-axis",
            "The axis of that link's frame that points out of the hand.",
            lambda answers: dict.fromkeys(AXES, ""),
        ),
        Amount(
            "hand-reach",
            "From the origin of that link's frame to the tip of the hand, along that axis.",
            "m",
            "a length",
            _reach,
            lambda answers: round_bounds(0.01 * _arm(answers).length(), 0.5 * _arm(answers).length()),
            told_in="mm",
        ),
        Choice(
            "touches",
            "What the hand touches.",
            lambda answers: {"plate": "a flat side of the payload", "ball": "a round payload"},
        ),
        mass_of("spacecraft-mass", 1800.0, "the spacecraft that bears the arm"),
        mass_of("payload-mass", 400.0, "what the hand meets"),
        Amount(
            "joint-period",
            "The period with which the arm swings on its motors: how firmly they hold it.",
            "s",
            "a period",
            lambda answers: 5.0,
            fixed_bounds(0.5, 60.0),
        ),
        closing_speed(0.02, 0.2),
        lateral_offset(lambda answers: 0.0, lambda answers: min(0.5, 0.3 * side(answers["payload-mass"]))),
        *contact_questions(_mass, LASTS),
    ),
    _text,
    "when the hand touched, with which force, what the joints bore, and how exactly momentum and energy were kept",
    mock_ups=lambda answers: (f"arm.{answers.texts['hand']}", "payload"),
)

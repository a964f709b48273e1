"""Bodies and the contacts between them, as mechanisms and rigs state them."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.docking.schema.bodies import BodySection, PortSection, TreeSection, kind_of
from dockdyn.docking.schema.contacts import BetweenPortsSection, ContactLawSection, ContactSection
from dockdyn.docking.schema.control import SteeringTable, check_steered, steered_lists
from dockdyn.docking.schema.elements import (
    BushingSection,
    CableSection,
    ConnectionSection,
    ElementSection,
    FixedThrusterSection,
    LatchSection,
    MagnetSection,
    NamedElement,
    OwnElement,
    StrutSection,
)
from dockdyn.docking.schema.features import BallSection, CloudSection
from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection
from dockdyn.docking.schema.joints import LockedSection, MimicSection, MovingJointSection
from dockdyn.docking.schema.phases import PhaseSection, make_phases, read_phases, variants_of
from dockdyn.docking.schema.tanks import LiquidPartSection, TankSection
from dockdyn.scenario.language.errors import nearest, shown
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section, absent
from dockdyn.scenario.tables.approach import Port, Tip
from dockdyn.scenario.tables.body import CARRIED
from dockdyn.scenario.tables.named import NAME_OF_BODY, named_tables
from dockdyn.scenario.tables.orbit import OrbitSection
from dockdyn.scenario.tables.part import refuse, refuse_repeated
from dockdyn.scenario.tables.parts import cone_depth, relative_key, remembers
from dockdyn.scenario.tables.rig.loop import LoopSection
from dockdyn.scenario.tables.run import Duration

if TYPE_CHECKING:
    from dockdyn.contact.group import ContactGroup
    from dockdyn.contact.pairs import PairGeometry
    from dockdyn.docking.trees import Frames, Seat
    from dockdyn.elements import ForceElement, Latch
    from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
    from dockdyn.mechanics.trees.jointed_bodies import JointedBodies
    from dockdyn.mechanics.trees.partial_motion import JointMotion
    from dockdyn.mechanics.trees.tree_bodies import TreeBodies
    from dockdyn.mechanism.head_on import Damped
    from dockdyn.mechanism.impact_contact import ImpactContact
    from dockdyn.mechanism.mechanism import Mechanism
    from dockdyn.mechanism.mounts import Mount

ELEMENTS = ("strut", "cable", "magnet", "bushing", "latch", "connection", "thruster", "element")  # keys, in their order
RELATIVE = {"damping_ratio": "damping", "restitution": "damping", "stop_restitution": "stop_damping"}  # of elements
MOST_PAIRS = 20_000  # of a contact
MOST_REMEMBERED = 500  # of one with a law that remembers
STIFFENING = ("spring-dashpot", "hertz", "hunt-crossley")  # normal laws by which friction may stick that states a ratio
KNOWN_MODES = FiniteElementSection | UniformBeamSection | LargeBeamSection  # of links, more than a run has
FLAT = 1e-9  # sine of the angle by which an axis may leave the plane
OPEN = 1e-8  # m, of ends that are to meet
ALONG = math.cos(math.radians(45))  # of a port that faces x: its axis' share along it
PLACED, APPROACHING = 1 / 20, 1 / 200  # of a mesh's size: more overlap at the start is hardly meant, of what approaches
MOVING_PORTS, STANDING_PORTS = ("port", "feature"), ("port", "surface")  # that approach, and that are approached


class SeveralBodiesSection(Section, abc.ABC):
    """Bodies, contacts between them: what a mechanism and a rig around one share."""

    schema_: Literal[2] = Field(2, alias="schema")
    setup: ClassVar[str]
    motion: Literal["space"] = "space"
    title: str
    duration: Duration
    approach: OrNone[BetweenPortsSection] = None
    body: named_tables(BodySection, Field(min_length=1), names=NAME_OF_BODY)
    tree: named_tables(TreeSection) = []  # noqa: RUF012
    tank: named_tables(TankSection) = []  # noqa: RUF012
    contact: named_tables(ContactSection) = []  # noqa: RUF012
    contact_law: named_tables(ContactLawSection) = []  # noqa: RUF012
    strut: named_tables(StrutSection) = []  # noqa: RUF012
    cable: named_tables(CableSection) = []  # noqa: RUF012
    magnet: named_tables(MagnetSection) = []  # noqa: RUF012
    bushing: named_tables(BushingSection) = []  # noqa: RUF012
    latch: named_tables(LatchSection) = []  # noqa: RUF012
    connection: named_tables(ConnectionSection) = []  # noqa: RUF012
    thruster: named_tables(FixedThrusterSection) = []  # noqa: RUF012
    element: named_tables(OwnElement) = []  # noqa: RUF012
    phase: named_tables(PhaseSection) = []  # noqa: RUF012
    loop: LoopSection = LoopSection()
    control: SteeringTable | None = None
    orbit: OrNone[OrbitSection] = None

    @property
    def bodies(self) -> list[BodySection]:
        """All bodies: those that are stated, then what stands for the liquids of tanks."""
        return [*self.body, *(part for tank in self.tank for part in tank.bodies(self.plane))]

    @model_validator(mode="after")
    def check_tanks(self) -> Self:
        stated = [body.name for body in self.body]
        for tank in self.tank:
            if tank.on not in stated:
                refuse(f"tank.{tank.name}.on = {tank.on!r}: no such body; {nearest(tank.on, stated)}")
            if taken := [name for name in stated if name.partition(".")[0] == tank.name]:
                refuse(f"tank.{tank.name}: its liquid is a body of that name, as is body.{taken[0]}; must have another")
            if borne := [body.name for body in self.body if (body.on or "").partition(".")[0] == tank.name]:
                refuse(f"body.{borne[0]}.on = {tank.name!r}: is the liquid of a tank; must be a body")
            if self.plane and abs(tank.axis[2]) > FLAT * math.hypot(*tank.axis):
                refuse(f"tank.{tank.name}.axis: motion = 'plane' asks for one in the x–y plane")
        return self

    @model_validator(mode="after")
    def check_carriers(self) -> Self:
        names = self.names()
        for name in names:
            seen = [name]
            while (carrier := self.named(seen[-1]).on) is not None:
                if carrier not in names:
                    refuse(f"body.{seen[-1]}.on = {carrier!r}: no such body; {nearest(carrier, names)}")
                if carrier in seen:
                    refuse(f"body.{name}.on: bodies are on each other in a circle: {' on '.join([*seen, carrier])}")
                seen.append(carrier)
        return self

    @model_validator(mode="after")
    def some_free(self) -> Self:
        fixed = [body.name for body in self.bodies if body.fixed]
        if len(fixed) == len(self.bodies):
            refuse(f"body.{fixed[0]}.fixed: nothing moves; must have a body that is not fixed")
        if fixed and self.orbit is not None:
            refuse(f"body.{fixed[0]}.fixed: along an orbit nothing is; must be left out, or [orbit] be")
        return self

    @model_validator(mode="after")
    def by_shared_laws(self) -> Self:
        known = [shared.name for shared in self.contact_law]
        for contact in self.contact:
            if contact.law is not None and contact.law not in known:
                refuse(
                    f"{contact.key}.law = {contact.law!r}: no such [contact_law.NAME]; {nearest(contact.law, known)}"
                )
        for contact in self.contacts:
            if contact.impact is not None and contact.laws():
                force, jump = (
                    self.law_key(contact, key) for key in ("normal" if contact.normal else "friction", "impact")
                )
                refuse(f"{contact.key}: has {force} and {jump}; must be the law of a force, or one of jumps, not both")
        return self

    @model_validator(mode="after")
    def check_mimics(self) -> Self:
        moving = {body.name for body in self.bodies if isinstance(body.joint, MovingJointSection)}
        for body in self.bodies:
            if not isinstance(body.joint, MimicSection):
                continue
            key = f"body.{body.name}.joint.follows = {body.joint.follows!r}"
            if body.joint.follows not in moving:
                refuse(f"{key}: no body with a joint that moves; {nearest(body.joint.follows, moving)}")
            if self.root_of(body.name) != self.root_of(body.joint.follows):
                refuse(f"{key}: is of another tree; must hang on the same root, {self.root_of(body.name)!r}, by joints")
        return self

    @model_validator(mode="after")
    def check_links(self) -> Self:
        from dockdyn.docking.linked_trees import refuse_unlinked
        from dockdyn.docking.schema.plane import refuse_out_of_plane

        refuse_unlinked(self.bodies, self.linked_in_plane)
        if self.plane:
            refuse_out_of_plane(self)
        return self

    @model_validator(mode="after")
    def refuse_far_places(self) -> Self:
        from dockdyn.docking.far_places import refuse_far_places

        refuse_far_places(self)
        return self

    @model_validator(mode="after")
    def check_contacts(self) -> Self:
        from dockdyn.docking.pair_table import check_pair

        for contact in self.contacts:
            between = f"{contact.key}.between"
            first, feature = self.find(contact.between[0], CARRIED, between)
            second, partner = self.find(contact.between[1], ("surface", "feature"), between)
            if kind_of(feature) != "feature":
                refuse(f"{between}: {contact.between[0]!r} is a {kind_of(feature)}; must be the feature that touches")
            between = f"{between} = {contact.between}"
            if first == second:
                refuse(f"{between}: both are of the body {first!r}")
            if self.named(first).fixed and self.named(second).fixed:
                refuse(f"{between}: both bodies are fixed; one must be able to move")
            if "cloud" in (feature.shape, partner.shape) and kind_of(partner) == "feature":
                refuse(f"{between}: a cloud touches surfaces only")
            count = check_pair(feature, partner)
            if count > MOST_PAIRS and feature.shape != "cloud":
                refuse(f"{between}: {count} pairs; must be at most {MOST_PAIRS}")
            if contact.impact is not None and count > 1:
                law = self.law_key(contact, "impact")
                refuse(f"{law}: a law for one pair, of which there are {count}; must be a [contact.NAME] each")
            self._check_memory(contact, feature.shape, count)
        return self

    def remembering(self, contact: ContactSection) -> str:
        """Return what of a contact's laws remembers what was, as messages name it; empty where none does."""
        for key in ("normal", "friction"):
            if (law := getattr(contact, key, None)) is not None and remembers(law):
                return f"{self.law_key(contact, key)}.law = {law.law!r}"
        return ""

    def _check_memory(self, contact: ContactSection, shape: str, count: int) -> None:
        """Refuse a law that remembers where that would be too much, and friction that sticks by a stiffness nobody knows."""
        remembering, friction, normal = self.remembering(contact), contact.friction, contact.normal
        if remembering and count > MOST_REMEMBERED:
            other = f", or its count at most {MOST_REMEMBERED}" if shape == "cloud" else ""
            what = f"of {count} pairs, more than {MOST_REMEMBERED}, must be another law{other}"
            refuse(f"{remembering}: remembers what each pair was; {what}")
        if friction is None or normal is None or friction.law != "stick-slip":
            return
        if friction.stiffness is None and normal.law not in STIFFENING:
            key = self.law_key(contact, "friction")
            refuse(f"{key}: what sticks to a contact by {normal.law!r} has no known stiffness; must state stiffness")

    @model_validator(mode="after")
    def check_elements(self) -> Self:
        refuse_repeated([element.name for element in self.elements], "elements")
        for element in self.elements:
            for key, bodies in element.acts_on().items():
                for body in bodies:
                    if body not in self.names():
                        refuse(f"{element.path}.{key}: no body {body!r}; {nearest(body, self.names())}")
                if len(set(bodies)) < len(bodies):
                    refuse(f"{element.path}.{key} = {shown(bodies)}: must be two bodies")
        self.refuse_seats_beside_ports()
        self.refuse_held_twice()
        changing = self.acts() | steered_lists(self)
        phases = read_phases(self.phase, changing, self.names(), touching=bool(self.contact))
        late = self.contact or any(latch.ramp for latch in self.latch)
        if self.loop.delay and not late:
            refuse(
                "loop.delay delays the forces of contacts and ramps; there is no [contact.NAME], and no latch with a ramp"
            )
        return self.model_copy(update={"phase": phases})

    @model_validator(mode="after")
    def check_impacts(self) -> Self:
        struck = [contact for contact in self.contacts if contact.impact is not None]
        if struck and self.loop.delay:
            law = self.law_key(struck[0], "impact")
            refuse(f"{law}: no sensor measures a jump; loop.delay must be left out, or state normal")
        for contact in struck:
            (first, _), (second, _) = self.sides(contact)
            held = held_by(self.rigid_grips(), self.welded_to(first), self.welded_to(second))
            if len(held) > 1:  # what one grip holds alone, touches no more, or turns about a pin
                law, names = self.law_key(contact, "impact"), " and ".join(map(repr, held))
                refuse(
                    f"{law}: the rigid grip of {names} holds these bodies together; must be {self.compliant_grips()}, "
                    "or state normal"
                )
        return self

    def refuse_seats_beside_ports(self) -> None:
        """Refuse a latch that states no axis, so that its seat faces x, where all ports of its second body face elsewhere."""
        for latch in self.latch:
            if latch.axis is not None or latch.surface is not None:
                continue
            ports = [port for port in self.named(latch.between[1]).port if port.axis is not None]
            ways = [port.axis[0] / math.hypot(*port.axis) for port in ports]
            if ports and max(ways) < ALONG:
                refuse(
                    f"{latch.path}: no axis is stated, so its seat faces the x axis of {latch.between[1]!r}, whose port "
                    f"{ports[0].name!r} faces {shown(ports[0].axis)}; must state axis, as axis = {shown(ports[0].axis)}"
                )

    def refuse_held_twice(self) -> None:
        """Refuse rigid grips between bodies that are one body anyway: what each carries would have no one answer."""
        grips: dict[str, tuple[str, str]] = {}
        for name, (first, other) in self.rigid_grips().items():
            which = next(f"{one.path}.grip = {getattr(one, 'grip', '')!r}" for one in self.ties() if one.name == name)
            if first == other:
                refuse(
                    f"{which}: locked joints hold its bodies together; must be left out, or {self.compliant_grips()}"
                )
            if held := held_by(grips, first, other):
                names = f"{' and '.join(map(repr, held))} {'holds' if len(held) == 1 else 'hold'}"
                refuse(f"{which}: {names} these bodies together, too; one of them all must be {self.compliant_grips()}")
            grips[name] = (first, other)

    def compliant_grips(self) -> str:
        """Return for a message how a latch may hold that is not rigid."""
        return "'compliant' or 'compliant-weld'"

    def rigid_grips(self) -> dict[str, tuple[str, str]]:
        """Return the elements that hold rigidly, each with its two bodies, or those to which these are locked."""
        return {
            element.name: (self.welded_to(element.between[0]), self.welded_to(element.between[1]))
            for element in (*(one for one in self.latch if one.rigid), *self.connection)
        }

    def welded_to(self, name: str) -> str:
        """Return the body to which locked joints hold the one of this name; itself where none does."""
        while isinstance((body := self.named(name)).joint, LockedSection) and body.on is not None and not body.flexible:
            name = body.on
        return name

    def root_of(self, name: str) -> str:
        """Return the body at the root of the joints that hold the body of this name; itself where none does."""
        while (body := self.named(name)).joint is not None and body.on is not None:
            name = body.on
        return name

    @model_validator(mode="after")
    def check_approach(self) -> Self:
        if self.approach is None:
            return self
        own, port = self.find(self.approach.of, MOVING_PORTS, "approach.of")
        other, to = self.find(self.approach.to, STANDING_PORTS, "approach.to")
        if getattr(port, "position", None) is None or (isinstance(port, BallSection) and port.member_count() > 1):
            refuse(f"approach.of = {self.approach.of!r}: has no one place; must be a port, or a feature of one ball")
        mover, base = self.root(own), self.root(other)
        if mover == base:
            refuse(f"approach: {self.approach.of!r} and {self.approach.to!r} are of bodies that begin as one")
        if self.named(mover).fixed:
            refuse(f"approach.of = {self.approach.of!r}: body.{mover} is fixed; must be of a body that moves")
        if stated := self.named(mover).states_motion():
            refuse(f"body.{mover}.{stated[0]} and [approach] both state the initial motion; give one of the two")
        if isinstance(to, PortSection) and to.axis is None:
            refuse(f"approach.to = {self.approach.to!r}: has no axis; a port needs one, out of its body")
        return self

    @model_validator(mode="after")
    def meeting_ends(self) -> Self:
        from dockdyn.mechanics.rigid_body import Placed

        starts = self.starts() if self.connection else {}
        for one in self.connection:
            if one.closed:
                own, other = (Placed.of(*starts[body]) for body in one.between)
                apart = one.gap(own, other)
                if not apart <= OPEN:
                    refuse(f"{one.path}.anchor: its ends start {apart:.4g} m apart; must meet")
        return self

    @model_validator(mode="after")
    def check_seats(self) -> Self:
        from dockdyn.docking.linked_trees import check_place

        tables = {
            body.name for body in self.bodies if isinstance(body.flexible, ModeTableSection) and not body.flexible.point
        }
        sitting = [(seat.link, " ".join(seat.what)) for seat in self.frames(self.starts()).seats] if tables else []
        for link, what in sitting:
            if link in tables:
                refuse(
                    f"body.{link}.flexible: {what} sits there; must have a point, where the shapes of modes are known"
                )
        beams = {body.name for body in self.bodies if isinstance(body.flexible, LargeBeamSection)}
        tied = any(beams & set(one.between) for one in self.ties())
        for seat in self.frames(self.starts()).seats if tied else self._carried_seats() if beams else ():
            if seat.link in beams:
                check_place(self.named(seat.link), seat.place.tolist(), f"{seat.what[0]} {seat.what[-1]!r}")
        return self

    @property
    def plane(self) -> bool:
        """Whether all moves in the x–y plane."""
        return False

    @property
    def linked_in_plane(self) -> bool:
        """Whether all moves in the x–y plane as trees of links do."""
        return self.plane

    @property
    def contacts(self) -> list[ContactSection]:
        """The contacts, each with the laws that it shares with others in place."""
        shared = {laws.name: laws for laws in self.contact_law}
        return [one if one.law is None else one.with_laws_of(shared[one.law]) for one in self.contact]

    def law_key(self, contact: ContactSection, part: str) -> str:
        """Return the key of a contact's `normal`, `friction` or `impact`: its own, or that which it shares with others."""
        stated = next(one for one in self.contact if one.name == contact.name)
        own = stated.law is None or getattr(stated, part) is not None
        return f"{stated.key}.{part}" if own else f"contact_law.{stated.law}.{part}"

    def contact_names(self) -> list[str]:
        """Return what the contacts are called."""
        return [contact.name for contact in self.contact]

    def names(self) -> list[str]:
        """Return the names of the bodies, in their order."""
        return [body.name for body in self.bodies]

    def as_heavy(self, body: BodySection) -> BodySection:
        """Return the body itself, or the heaviest one that moves where it is fixed: what its size is taken from."""
        return max((one for one in self.bodies if not one.fixed), key=lambda one: one.mass) if body.fixed else body

    def named(self, name: str) -> BodySection:
        """Return the body of that name."""
        return next(body for body in self.bodies if body.name == name)

    def find(self, name: str, kinds: Sequence[str] = CARRIED, key: str = "") -> tuple[str, Any]:
        """Return the body that carries what has that name (or "body.name") and is of one of the `kinds`, and its section.

        `key` is where the scenario has the name.
        """
        carried = [(body.name, item) for body in self.bodies for kind in kinds for item in getattr(body, kind)]
        found = [(body, item) for body, item in carried if name in (item.name, f"{body}.{item.name}")]
        if not found and len(kinds) < len(CARRIED):
            other = [
                kind for kind in CARRIED for body in self.body for item in getattr(body, kind) if item.name == name
            ]
            if other:
                refuse(f"{key} = {name!r}: is a {other[0]}; must be a {' or '.join(kinds)}")
        if not found:
            names = [f"{body}.{item.name}" if "." in name else item.name for body, item in carried]
            what = f"{' or '.join(kinds)}; {nearest(name, dict.fromkeys(names))}"
            refuse(f"{key} = {name!r}: no body has such a {what}")
        if len(found) > 1:
            bodies = " and ".join(body for body, _ in found)
            refuse(f"{key} = {name!r}: {bodies} have such a {kind_of(found[0][1])}; must be named as body.name")
        return found[0]

    def sides(self, contact: ContactSection) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """Return the feature of a contact and what it touches, each with its body."""
        feature, partner = contact.between
        return self.find(feature), self.find(partner)

    def measured_contacts(self) -> list[int]:
        """Return the numbers of the contacts that a loop measures: all."""
        return list(range(len(self.contact)))

    def contact_sizes(self) -> list[int]:
        """Return how many members each contact has."""
        from dockdyn.docking.pair_table import check_pair

        sides = (self.sides(contact) for contact in self.contact)
        return [check_pair(feature, partner) for (_, feature), (_, partner) in sides]

    def contacts_with_azimuth(self) -> list[bool]:
        """Return of each contact whether the angle at which it begins has a meaning: of a single member on a cone."""
        partners = [self.sides(contact)[1][1] for contact in self.contact]
        return [one.shape == "cone" and size == 1 for one, size in zip(partners, self.contact_sizes(), strict=True)]

    def at_rest(self) -> Self:
        """Return what margins are of."""
        return self

    def only_contacts(self) -> bool:
        """Return whether nothing but contacts, and latches once they are not open, acts between bodies that are free."""
        return len(self.elements) == len(self.latch) and all(
            body.joint is None and body.flexible is None for body in self.bodies
        )

    def without_latches(self) -> Self:
        """Return it without latches, where nothing else acts beside contacts between free bodies; else itself."""
        return self if self.phase or not self.only_contacts() else self.model_copy(update={"latch": []})

    def meetings(self) -> list[tuple[str, float]]:
        """Return how messages name each contact, and how deep (m) it may be: the largest radius of the features in it.

        Points of a cloud may be a share of their mesh's size, a smaller one where bodies approach.
        """
        from dockdyn.mechanism.impact_contact import OVERLAP

        found, share = [], PLACED if self.approach is None else APPROACHING
        for contact in self.contacts:
            (_, feature), (_, partner) = self.sides(contact)
            radius = feature.radius
            if isinstance(feature, CloudSection):
                assert feature.sample is not None
                radius = xp.where(radius > 0, radius, share * feature.sample.size)
            if kind_of(partner) == "feature":
                radius = xp.maximum(radius, getattr(partner, "radius", 0.0))
            if contact.impact is not None:
                radius = OVERLAP
            found.append((f"contact {contact.name!r}", radius))
        return found

    def relative_laws(self) -> list[tuple[str, str, int]]:
        """Return the contacts whose law states its damping relative to the bodies that meet: the key of the law, the key in it,
        and the contact's number."""
        found = []
        for number, contact in enumerate(self.contacts):
            if key := relative_key(contact.normal):
                found.append((self.law_key(contact, "normal"), key, number))
        return found

    def damped_laws(self) -> list[Damped]:
        """Return what comes of the damping of each of these, by the effective mass at t = 0, also from traced numbers."""
        from dockdyn.mechanism.effective_mass import effective_masses
        from dockdyn.mechanism.head_on import damping_between

        model, contacts = self.model(), self.contacts
        masses, _ = effective_masses(model, model.initial())
        laws: list[tuple[Any, int]] = [(contacts[number].normal, number) for _, _, number in self.relative_laws()]
        return [damping_between(law.make(), masses[number]) for law, number in laws]

    def relative_elements(self) -> list[tuple[str, str, float]]:
        """Return the elements that state their damping relative to their bodies: the key of the table, the key in it, its
        value."""
        return [
            (one.path, key, getattr(one, key))
            for one in self.ties()
            if not isinstance(one, OwnElement)  # whose keys are its own
            for key in RELATIVE
            if getattr(one, key, None) is not None
        ]

    def damped_elements(self) -> list[Float[Array, "lines"]]:
        """Return the damping (N s/m; about axes N m s/rad) of each of these at t = 0, also from traced numbers."""
        elements: dict[str, Any] = {one.name: one.element for one in self.model().elements}
        stated = [(path.partition(".")[2], RELATIVE[key]) for path, key, _ in self.relative_elements()]
        return [jnp.ravel(elements[name].dashpots()[of]) for name, of in stated]

    def first_depths(self) -> Float[Array, "contacts"]:
        """Return how deep (m) every contact is at t = 0, also from traced numbers; positive is overlap."""
        depths: Float[Array, "contacts"] = self.model().first_depths()
        return depths

    def latch_keys(self) -> list[str]:
        """Return the keys of the latches, in their order."""
        return [latch.path for latch in self.latch]

    def first_catches(self) -> Float[Array, "latches"]:
        """Return how far (m) from its seat each latch has caught what it holds at t = 0, also from traced numbers; zero of what
        is free then."""
        found = self.model().first_catches()
        return jnp.stack([found[latch.name] for latch in self.latch])

    def coasted(
        self, time: Float[Array, ""]
    ) -> tuple[Float[Array, "contacts"], Float[Array, "bodies 3"], Float[Array, "bodies 4"]]:
        """Return what would be after a `time` (s) if nothing acted, each body going straight on and turning evenly.

        How deep (m) every contact is, and where centres of mass (m) and attitudes are. Links of an arm are bodies like others:
        joints hold none of them.
        """
        from dockdyn.mechanics.rigid_body import Placed, Pose
        from dockdyn.mechanics.rotation import Quaternion

        model = self.model()
        x = model.initial()
        moved = []
        for one in model.placement(x).bodies:
            turned = Quaternion.exponential(one.rate * time) * one.pose.attitude
            moved.append(Placed.of(Pose(one.pose.position + one.twist.velocity * time, turned), one.twist))
        depths = [
            group.state(mode, moved[group.first], moved[group.second], True, past=group.first_memory()).depth
            for group, mode in zip(model.groups, x.mode, strict=False)
        ]
        base = model.base_position(x)
        places = jnp.stack([(one.pose.position + base).array() for one in moved])
        return (
            jnp.stack(depths) if depths else jnp.zeros(0),
            places,
            jnp.stack([one.pose.attitude.array() for one in moved]),
        )

    def root(self, name: str) -> str:
        """Return the body that carries, directly or through others, the one of that name at the start."""
        while (carrier := self.named(name).on) is not None:
            name = carrier
        return name

    def base(self) -> str:
        """Return the body from whose centre of mass places are counted: what carries the one that is approached, else the
        first."""
        approach = self.approaches()
        return self.root(self.body[0].name if approach is None else approach[1])

    def approaches(self) -> tuple[str, str] | None:
        """Return the body that approaches, and the one that has the port it approaches; None where that is not stated."""
        if self.approach is None:
            return None
        own, _ = self.find(self.approach.of)
        other, _ = self.find(self.approach.to)
        return self.root(own), other

    @property
    def note(self) -> str | None:
        """The words that what approaches a body that turns begins turning with it, where no rate of the approach is stated."""
        approach, turned = self.approach, self.approaches()
        if approach is None or turned is None or approach.model_fields_set & {"roll_rate", "pitch_rate", "yaw_rate"}:
            return None
        mover, base = turned[0], self.root(turned[1])
        if not any(self.named(base).rate or ()):
            return None
        return (
            f"approach: {mover} begins turning with {base}, as roll_rate, pitch_rate and yaw_rate are relative to it; state "
            "one, also 0, where that is meant"
        )

    @property
    def elements(self) -> list[NamedElement]:
        """Return what acts on bodies besides contacts and joints."""
        return [element for kind in ELEMENTS for element in getattr(self, kind)]

    def ties(self) -> list[ElementSection]:
        """Return the elements between two bodies."""
        return [element for element in self.elements if isinstance(element, ElementSection)]

    def acts(self) -> dict[str, Any]:
        """Return the sections of what acts besides contacts, elements and joints in which anything acts, by their keys."""
        from dockdyn.docking.trees import moving_joints

        joints = moving_joints(self.bodies).items()
        return {element.path: element for element in self.elements} | {
            f"body.{body}.joint": joint for body, joint in joints if joint.acts()
        }

    def starts(self) -> dict[str, tuple[Pose, Twist]]:
        """Return the pose and twist of each body at t = 0, also from traced numbers."""
        return self._place_bodies(self._start)

    def _place_bodies(
        self, begin: Callable[[str, Callable[[str], tuple[Pose, Twist]]], tuple[Pose, Twist]]
    ) -> dict[str, tuple[Pose, Twist]]:
        """Return the pose and twist of each body; `begin` says those of a body that is on no other, which it may ask of
        others."""
        from dockdyn.docking.linked_trees import linked_start
        from dockdyn.docking.trees import Frames, trees_of
        from dockdyn.mechanics.trees.tree_bodies import TreeBodies

        found: dict[str, tuple[Pose, Twist]] = {}
        trees, names = trees_of(Frames.of(self.bodies, plane=self.linked_in_plane)), self.names()

        def start(name: str) -> tuple[Pose, Twist]:
            if name not in found:
                section = self.named(name)
                if section.joint is not None:
                    place_tree(next(tree for tree in trees if names.index(name) in tree.members))
                elif section.on is not None:
                    found[name] = carry_motion(section.start()[0], *start(section.on))
                else:
                    found[name] = begin(name, start)
            return found[name]

        def place_tree(tree: JointedBodies | TreeBodies) -> None:
            joints, root = self.joint_starts(), start(names[tree.members[0]])
            if isinstance(tree, TreeBodies):
                placed, _ = tree.placed(*linked_start(tree, *root, self.bodies))
            else:
                placed = tree.placed(*tree.centred(*root, joints), joints)
            for member, place in zip(tree.members[1:], placed[1:], strict=True):
                if member < len(names):
                    found[names[member]] = place.pose, place.twist

        return {name: start(name) for name in names}

    def joint_starts(self) -> list[JointMotion]:
        """Return the coordinate (rad or m) and rate at t = 0 of the joints that move, and of the modes, which begin at rest, by
        number."""

        from dockdyn.docking.linked_trees import coordinates_of
        from dockdyn.docking.trees import moving_joints

        zero, joints = xp.zeros(()), moving_joints(self.bodies)
        coordinates = coordinates_of(self.bodies, self.linked_in_plane)
        return [joints[one.body].begins() if one.mode is None else (zero, zero) for one in coordinates]

    def modes(self) -> list[tuple[str, str]]:
        """Return the modes of all flexible links: link and mode."""
        from dockdyn.docking.trees import mode_names

        return mode_names(self.bodies)

    def frames(self, starts: dict[str, tuple[Pose, Twist]]) -> Frames:
        """Return the frames of flexible links on which something sits, which begin as these poses and twists say."""
        from dockdyn.docking.trees import Frames, Seat
        from dockdyn.mechanics.rigid_body import Placed

        seats = self._carried_seats()
        flexible = {body.name for body in self.bodies if body.flexible is not None}
        for one in self.ties():
            if flexible & set(one.between):
                places = one.places(*(Placed.of(*starts[body]) for body in one.between))
                ends = zip(one.between, places, strict=True)
                seats += [Seat(body, ("element", one.name, body), place) for body, place in ends]
        return Frames.of(self.bodies, seats, self.linked_in_plane)

    def _carried_seats(self) -> list[Seat]:
        """Return where what flexible links carry sits on them, but for elements between bodies."""
        from dockdyn.docking.trees import Seat

        return [
            *(Seat(body, ("feature", body, one.name), middle(one.stated())) for body, one in self._carried("feature")),
            *(
                Seat(body, ("surface", body, one.name), one.make().reference().array())
                for body, one in self._carried("surface")
            ),
            *(Seat(body, ("port", body, one.name), middle([one.position])) for body, one in self._carried("port")),
            *(Seat(one.body, ("element", one.name, one.body), middle([one.position])) for one in self.thruster),
        ]

    def _carried(self, kind: str) -> list[tuple[str, Any]]:
        """Return the features, surfaces or ports of flexible links, each with the name of the link."""
        return [(body.name, one) for body in self.bodies if body.flexible is not None for one in getattr(body, kind)]

    def _start(self, name: str, start: Callable[[str], tuple[Pose, Twist]]) -> tuple[Pose, Twist]:
        approach = self.approaches()
        if self.approach is None or approach is None or approach[0] != name:
            return self.named(name).start()
        port = self.meeting()
        return self.approach.model_copy(update={"axis": port.axis}).start(port.tip, port.surface, *start(approach[1]))

    def meeting(self) -> Port:
        """Return the ports that approach each other: the place of the first on the body that approaches, with the radius of a
        feature, and the second, of points as a plane."""

        from dockdyn.contact.surfaces.plane import Plane

        assert self.approach is not None
        own, port = self.find(self.approach.of)
        _, to = self.find(self.approach.to)
        of_point = isinstance(to, PortSection)
        surface: Any = Plane.of(jnp.asarray(to.position), jnp.asarray(to.axis)) if of_point else to.make()
        if isinstance(port, BallSection):
            place, _ = self.in_root(own, port.position)
            along = jnp.asarray(self.approach.axis, float)
            tip = Tip(place) if absent(port.radius) else Tip(place, jnp.asarray(port.radius, float))
            return Port(tip, surface, along)
        place, axis = self.in_root(own, port.position, port.axis)
        return Port(Tip(place), surface, jnp.asarray(self.approach.axis, float) if port.axis is None else axis)

    def in_root(self, name: str, position: Any, axis: Any = None) -> tuple[Any, Any]:  # noqa: ANN401, numbers or traced ones
        """Return the place (m) and the axis of a port of a body in the axes of the body that carries it at the start."""

        from dockdyn.mechanics.rigid_body import Pose, Twist
        from dockdyn.mechanics.vector import Vector

        resting = Pose.at([0.0, 0.0, 0.0]), Twist.of([0.0, 0.0, 0.0])
        pose, _ = self._place_bodies(lambda _name, _start: resting)[name]
        turn = pose.attitude.matrix()
        place, along = (Vector.of(jnp.asarray(one, float)) for one in (position, axis or [1.0, 0, 0]))
        return (pose.position + turn @ place).array(), (turn @ along).array()

    def geometries(self, feature: Any, partner: Any) -> list[PairGeometry]:  # noqa: ANN401, sections
        """Return the pairs of a feature and what it touches, also from traced numbers."""
        from dockdyn.docking.pair_table import pair_geometries

        return pair_geometries(feature, partner)

    def groups(self, frames: Frames) -> tuple[ContactGroup | ImpactContact, ...]:
        """Return the groups of contacts, also from traced numbers."""
        from dockdyn.contact.group import ContactGroup

        found: list[ContactGroup | ImpactContact] = []
        for contact in self.contacts:
            (first, feature), (second, partner) = self.sides(contact)
            bodies = (
                frames.number(("feature", first, feature.name), first),
                frames.number((kind_of(partner), second, partner.name), second),
            )
            pairs = self.geometries(feature, partner)
            if contact.impact is not None:
                found.append(contact.impact.contact(pairs[0], bodies, self.plane))
                continue
            friction = None if contact.friction is None else contact.friction.make()
            assert contact.normal is not None
            law = contact.normal.make()
            if isinstance(feature, CloudSection):
                weights = feature.weights()
                found.append(ContactGroup.of_rows(pairs[0], bodies, law, friction, weights, feature.tree()))
            else:
                found.append(ContactGroup.of(pairs, bodies, law, friction))
        return tuple(found)

    def mounts(
        self,
        sections: list[Any],
        starts: dict[str, tuple[Pose, Twist]],
        frames: Frames,
        linked: list[TreeBodies] = [],  # noqa: B006, never changed
    ) -> tuple[Mount, ...]:
        """Return what `sections`, in the order of `acts`, describe: elements between bodies as they are at the start, and
        joints; behind them what holds flexible links in shape, and dampers of ball joints in trees that are `linked`."""
        from dockdyn.docking.trees import coordinate_number, mode_numbers
        from dockdyn.elements import TreeSprings
        from dockdyn.mechanics.rigid_body import Placed
        from dockdyn.mechanism.mounts import BendingLink, DrivenJoint, InnerSprings, MountedThruster, Tie

        found: list[Mount] = []
        for path, section in zip(self.acts(), sections, strict=True):
            name = path.partition(".")[2]
            if isinstance(section, MovingJointSection):
                number = coordinate_number(self.bodies, name.removesuffix(".joint"), self.linked_in_plane)
                found.append(DrivenJoint(section.drive(), name, number))
            elif isinstance(section, FixedThrusterSection):
                number = frames.number(("element", name, section.body), section.body)
                found.append(MountedThruster(section.make(), name, number))
            else:
                sides = [Placed.of(*starts[body]) for body in section.between]
                first, second = (frames.number(("element", name, body), body) for body in section.between)
                made = self.make_latch(section, starts) if isinstance(section, LatchSection) else section.make(*sides)
                found.append(Tie(made, name, first, second, isinstance(section, OwnElement)))
        for body in self.bodies:
            if body.flexible is not None and body.flexible.mode_names():
                modes, number = (
                    mode_numbers(self.bodies, body.name, self.linked_in_plane),
                    self.names().index(body.name),
                )
                spring, lowest = body.flexible.spring(), body.flexible.lowest_unstiffened()
                found.append(BendingLink(spring, body.name, lowest, modes, number))
        damped = {body.name for body in self.bodies if getattr(body.joint, "motion", "") == "spherical"}
        for number, tree in enumerate(linked):
            if damped & set(tree.tree.layout.names):
                found.append(InnerSprings(TreeSprings(tree.tree), f"ball joints {number + 1}", number))
        return tuple(found)

    def latched_pair(self, latch: LatchSection) -> tuple[BallSection, Any]:
        """Return the tip that a latch in a cone catches, and the cone."""
        sides = []
        for kind, name, body in zip(("feature", "surface"), (latch.feature, latch.surface), latch.between, strict=True):
            named = {one.name: one for one in getattr(self.named(body), kind)}
            if (found := named.get(str(name).removeprefix(f"{body}."))) is None:
                other = latch.between[1 - latch.between.index(body)]
                if any(str(name) in (one.name, f"{other}.{one.name}") for one in getattr(self.named(other), kind)):
                    place = "first" if kind == "feature" else "second"
                    refuse(f"{latch.path}.{kind} = {name!r}: is of {other!r}, which must be the {place} in between")
                refuse(f"{latch.path}.{kind} = {name!r}: {body!r} has no such {kind}; {nearest(str(name), named)}")
            sides.append(found)
        tip, cone = sides
        if not isinstance(tip, BallSection) or tip.position is None or tip.member_count() > 1:
            refuse(f"{latch.path}.feature = {latch.feature!r}: must be one ball or point, with its position")
        if cone.shape != "cone":
            refuse(f"{latch.path}.surface = {latch.surface!r} is a {cone.shape}; must be a cone")
        return tip, cone

    def law_of_latched(self, latch: LatchSection) -> Any:  # noqa: ANN401, a section of a law, or None
        """Return the force law of the contact of a tip with the cone in which a latch catches it, if there is one."""
        pair = self.latched_pair(latch)
        for contact in self.contacts:
            (_, feature), (_, partner) = self.sides(contact)
            if feature is pair[0] and partner is pair[1]:
                return contact.normal
        return None

    @model_validator(mode="after")
    def check_cone_latches(self) -> Self:
        for latch in self.latch:
            if latch.in_cone:
                tip, cone = self.latched_pair(latch)
                latch.check_cone(cone.half_angle, cone_depth(cone), tip.radius, self.law_of_latched(latch))
        return self

    def make_latch(self, section: LatchSection, starts: dict[str, tuple[Pose, Twist]]) -> ForceElement:
        """Return the latch that a section describes, between bodies that begin so, also from traced numbers."""

        from dockdyn.mechanics.rigid_body import Placed
        from dockdyn.mechanics.vector import Vector

        own, other = (Placed.of(*starts[body]) for body in section.between)
        if not section.tells_loads:
            return section.make(own, other) if not section.in_cone else self._in_throat(section, own, other)
        made: Any = self._in_throat(section, own, other) if section.in_cone else section.make(own, other)
        from dockdyn.elements import first_swing

        masses, moments = [], []
        for body, place in zip(section.between, (made.striker, made.seat), strict=True):
            point = Placed.of(*starts[body]).point(Vector.of(place))
            tree = [one for one in self.bodies if self.root_of(one.name) == self.root_of(body)]
            rigid = [one.body() for one in tree]
            levers = [Vector.of(place)] if len(tree) == 1 else [point - starts[one.name][0].position for one in tree]
            masses.append(sum((one.mass for one in rigid[1:]), rigid[0].mass))
            about = [
                jnp.linalg.norm(one.inertia) + one.mass * arm.dot(arm) for one, arm in zip(rigid, levers, strict=True)
            ]
            moments.append(sum(about[1:], about[0]))
        swing = first_swing(made.grip, (masses[0], masses[1]), (moments[0], moments[1]))
        return replace(made, grip=replace(made.grip, swing=swing))

    def _in_throat(self, section: LatchSection, own: Placed, other: Placed) -> Latch:
        """Return the latch in the throat of a cone between two bodies as they are at the start."""

        from dockdyn.mechanics.vector import Vector

        (tip, cone), law = self.latched_pair(section), self.law_of_latched(section)
        surface = cone.make()
        made: Any = None
        if law is not None and not section.rigid:  # as it acts head on
            made = law.make().along(own.rotation.transposed_times(other.rotation @ Vector.of(surface.axis)))
        return section.in_throat(jnp.array(tip.position, float), surface, made)

    def points(self) -> list[tuple[str, PortSection, int]]:
        """Return the name of each point at which loads are reported, its place on its body, and the body's number."""
        return [
            (f"{body.name} {place.name}", place, index)
            for index, body in enumerate(self.bodies)
            if not isinstance(body, LiquidPartSection)
            for place in self.places_told(body) or [PortSection(name="centre of mass", position=[0.0, 0.0, 0.0])]
        ]

    def places_told(self, body: BodySection) -> list[PortSection]:
        """Return the ports of a body."""
        return body.port

    def ports(self) -> list[str]:
        """Return the names of the points that are ports."""
        return [name for name, place, _ in self.points() if place.axis is not None]

    @model_validator(mode="after")
    def choose_modes(self) -> Self:
        if not any(isinstance(body.flexible, KNOWN_MODES) for body in self.body):
            return self
        from dockdyn.docking.mode_choice import with_chosen_modes

        found = with_chosen_modes(self)
        for body in found.body:
            if body.flexible is not None:
                body.flexible.check_damping(f"body.{body.name}.flexible")
        return found

    @model_validator(mode="after")
    def steering_one(self) -> Self:
        if self.control is not None:
            check_steered(self.control, self)
        return self

    @property
    def controlled(self) -> bool:
        """Whether control acts."""
        return self.control is not None and self.control.law != "none"

    def model(self) -> Mechanism:
        """Return the model, also from traced numbers."""
        from dockdyn.docking.model_with_environment import whole_model

        return whole_model(self)

    def _number_liquids(self) -> dict[str, tuple[int, ...]]:
        """Return the numbers of the bodies that are the liquids of a body's tanks, by its name."""
        found: dict[str, tuple[int, ...]] = {}
        for tank in self.tank:
            parts = (self.names().index(part.name) for part in tank.bodies(self.plane))
            found[tank.on] = (*found.get(tank.on, ()), *parts)
        return found

    def acting_in_pairs(self) -> Mechanism:
        """Return the model without gravity and control, also from traced numbers."""

        from dockdyn.docking.linked_trees import coordinates_of, linked_start
        from dockdyn.docking.trees import trees_of
        from dockdyn.mechanics.trees.tree_bodies import TreeBodies
        from dockdyn.mechanism.effective_mass import damp_relatively
        from dockdyn.mechanism.mechanism import Mechanism
        from dockdyn.mechanism.named_points import NamedPoint

        starts = self.starts()
        frames, liquids = self.frames(starts), self._number_liquids()
        at_start = [starts[name] for name in (*self.names(), *frames.links())]
        trees = trees_of(frames)
        linked = [tree for tree in trees if isinstance(tree, TreeBodies)]
        bodies = dict(enumerate((*(section.body() for section in self.bodies), *frames.massless())))
        for tree in linked:
            bodies |= dict(zip(tree.members, tree.bodies, strict=True))
        coordinates = coordinates_of(self.bodies, self.linked_in_plane)
        jointed = len(coordinates) - sum(len(tree.numbers()) for tree in linked)
        variants = [self.mounts(sections, starts, frames, linked) for sections in variants_of(self.phase, self.acts())]
        slow = any(phase.over is not None for phase in self.phase)
        first = variants_of(self.phase, self.acts(), begun=True) if slow else []
        begun = [self.mounts(sections, starts, frames, linked) for sections in first]
        model = Mechanism(
            bodies=tuple(bodies.values()),
            groups=self.groups(frames),
            poses=tuple(pose for pose, _ in at_start),
            twists=tuple(twist for _, twist in at_start),
            delay=None if absent(self.loop.delay) else jnp.asarray(self.loop.delay, float),
            elements=variants[0] if variants else self.mounts(list(self.acts().values()), starts, frames, linked),
            phases=make_phases(self.phase, variants, begun, self.names()),
            points=tuple(
                NamedPoint(
                    jnp.asarray(place.position, float),
                    name,
                    frames.number(("port", self.bodies[body].name, place.name), self.bodies[body].name),
                    place.outward(),
                    liquids.get(self.bodies[body].name, ()),
                )
                for name, place, body in self.points()
            ),
            trees=trees,
            joints=tuple(self.joint_starts()[:jointed]),
            linked=tuple(linked_start(tree, *starts[self.names()[tree.members[0]]], self.bodies) for tree in linked),
            body_names=tuple(self.names()),
            joint_names=tuple(
                one.body if one.mode is None else f"{one.body} {one.mode}" for one in coordinates[:jointed]
            ),
            frames=tuple(map(self.names().index, frames.links())),
            base=self.names().index(self.base()),
            in_plane=self.plane and not self.linked_in_plane,
            capturing=tuple(
                number
                for number, one in enumerate(self.acts().values())
                if isinstance(one, LatchSection) and one.ends_run
            ),
        )
        return damp_relatively(model)


def held_by(grips: dict[str, tuple[str, str]], start: str, end: str) -> list[str]:
    """Return the names of the grips, each by its two bodies, through which one body is held to another; empty if none do."""
    for name, both in grips.items():
        if start in both:
            beyond = both[both.index(start) - 1]
            others = {key: value for key, value in grips.items() if key != name}
            if beyond == end or (further := held_by(others, beyond, end)):
                return [name] if beyond == end else [name, *further]
    return []


def middle(places: list[list[float]]) -> Float[Array, "3"]:
    """Return the middle of places (m)."""

    return jnp.asarray(places, float).mean(axis=0)


def carry_motion(pose: Pose, carrier: Pose, motion: Twist) -> tuple[Pose, Twist]:
    """Return the pose and twist of a body at `pose` in the axes of a body that moves as `carrier` and `motion` say, and moves
    with it."""
    from dockdyn.mechanics.rigid_body import Placed, Pose, Twist

    other = Placed.of(carrier, motion)
    place = other.point(pose.position)
    rate = pose.attitude.matrix().transposed_times(motion.rate)
    return Pose(place, (carrier.attitude * pose.attitude).normalised()), Twist(other.velocity(place), rate)

"""Flexible links of a mechanism: a uniform beam, or a table of modes from a finite-element model.

A beam with a `basis` bends by the shapes of `mechanics/trees/beam.py`, one without by modes of `cantilever_modes.py` there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.geometry import Direction, Length, Point, Triple
from dockdyn.scenario.tables.motion import number
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.elements import ModalSpring
    from dockdyn.mechanics.trees.beam import Beam
    from dockdyn.mechanics.trees.cantilever_modes import CantileverModes, Deflection, UniformBeam

MOST_MODES = 24  # of a link
ROUNDING = 1e-4  # share of a modal mass: a table of four digits may have a little more than there is
CANTILEVER = 1.8751040687119611  # first root of cos x cosh x = −1
ALONG = 1e-6  # sine of an angle: directions as near as that are the same

Ratio = quantity("", "a damping ratio", least=0, below=1)
Ratios = Annotated[
    Annotated[Ratio, Tag("of all")] | Annotated[list[Ratio], Tag("of each")],
    Discriminator(lambda value: "of each" if isinstance(value, list) else "of all"),
]  # of all modes, or of each
Count = Annotated[int, Field(ge=0, le=8)]
BendingCount = Annotated[int, Field(ge=0, le=16)]  # whose integrals over shapes are exact to rounding
Stiffness = quantity("N*m**2", "a stiffness", above=0)
Participation = quantity("kg", "a participation", component=True)
TurningParticipation = quantity("kg*m", "a participation", component=True)
PerMetre = quantity("1/m", "a slope", component=True)


def _heaviest(modes: CantileverModes, mass: float, about_centre: np.ndarray) -> str:
    """Return along or about which of the link's axes modes carry most beside what the body has, and both; empty where it is
    less along and about each of them.

    What modes carry is their effective mass, the sum of the squares of participations over modal masses; of turning about
    the root. The body has a `mass` (kg) and an inertia (3 × 3, kg m²) `about_centre`.
    """
    root = np.asarray(modes.root)
    about = about_centre + mass * (root @ root * np.eye(3) - np.outer(root, root))
    ways = (
        (np.asarray(modes.translation), np.full(3, mass), "along {}, {} kg of {} kg"),
        (np.asarray(modes.rotation), np.diag(about), "about {} at the root, {} kg m² of {} kg m²"),
    )
    found = []
    for participations, has, words in ways:
        carried = (participations**2 / np.asarray(modes.mass)[:, None]).sum(axis=0)
        found += [
            (one / most, words.format(axis, f"{one:.3g}", f"{most:.3g}"))
            for axis, one, most in zip("xyz", carried, has, strict=True)
        ]
    share, words = max(found)
    return words if share > 1 else ""


class FlexibleSection(Section):
    """How a link bends: by modes of the link whose root is held."""

    kind: Literal["beam", "modes", "finite-elements"]

    def mode_names(self) -> list[str]:
        """Return what its modes are called."""
        raise TypeError

    def mode_units(self) -> list[str]:
        """Return the units of its modal coordinates."""
        raise TypeError

    def modes(self) -> CantileverModes:
        """Return its modes, also from traced numbers."""
        from dockdyn.docking.flexible_modes import modes_of

        return modes_of(self)

    def link(self) -> UniformBeam | CantileverModes:
        raise TypeError

    def lowest_unstiffened(self) -> Float[Array, ""] | None:
        """Return the lowest frequency (rad/s) of a link that spin should stiffen and does not; None of one that it stiffens."""
        return None

    def deflection(self, place: Float[Array, "3"]) -> Deflection:
        """Return how what sits at a place (m, link axes, from the centre of mass) moves, also from traced numbers."""
        raise TypeError

    def check_damping(self, key: str) -> None:
        """Refuse damping ratios, at `key`, that are not as many as its modes."""
        stated, count = getattr(self, "damping_ratio", None), len(self.mode_names())
        if isinstance(stated, list) and len(stated) != count:
            refuse(
                f"{key}.damping_ratio: has {len(stated)} numbers; must have {count}, one a mode, or be one number for all"
            )

    def spring(self) -> ModalSpring:
        """Return what its modes give back and lose."""
        from dockdyn.elements import ModalSpring

        modes = self.modes()
        return ModalSpring(modes.stiffness(), modes.damping())

    def check(self, mass: float, inertia: list[list[float]]) -> None:
        """Refuse modes that carry more than the link has, a `mass` (kg) and an `inertia` (kg m²)."""
        from dockdyn.docking.flexible_modes import mass_beside

        about_centre = np.array(inertia, float)
        least = np.linalg.eigvalsh(np.asarray(mass_beside(self, mass, about_centre))).min()
        if least < -ROUNDING:
            heaviest = _heaviest(self.modes(), mass, about_centre)
            more = heaviest or f"all axes together, by {-least:.2g} of a modal mass"
            refuse(
                f"flexible: its modes carry more mass or inertia than the body has: {more}; "
                "mass, inertia, root and modes must be of the same link, in the same units and axes"
            )


class UniformBeamSection(FlexibleSection):
    """A uniform beam along an axis from its root, where it is held; what else of the link has mass is at the root, rigid."""

    kind: Literal["beam"] = "beam"
    root: Point
    axis: Direction
    across: Direction
    length: Length
    mass_per_length: quantity("kg/m", "a mass per length", above=0)
    bending_stiffness: Annotated[list[Stiffness], Field(min_length=2, max_length=2)]
    torsional_stiffness: Stiffness | None = None
    polar_inertia: quantity("kg*m", "a moment of inertia per length", above=0) | None = None
    damping_ratio: Ratios = 0.0
    bending_modes: Annotated[list[BendingCount], Field(min_length=2, max_length=2)] = [2, 2]  # noqa: RUF012
    twist_modes: Count = 0

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        sizes = np.linalg.norm(self.axis) * np.linalg.norm(self.across)
        if np.linalg.norm(np.cross(self.axis, self.across)) < ALONG * sizes:
            refuse("across must not be along axis; it is the first of the two directions in which the beam bends")
        if not any(self.bending_modes) and not self.twist_modes:
            refuse("bending_modes and twist_modes are all 0; must have a mode")
        if self.twist_modes and (self.torsional_stiffness is None or self.polar_inertia is None):
            refuse("twist_modes: a beam that twists needs torsional_stiffness and polar_inertia")
        return self

    def mode_names(self) -> list[str]:
        first, second = self.bending_modes
        counts = {"bend": first, "side": second, "twist": self.twist_modes}
        return [f"{kind}{n}" for kind, count in counts.items() for n in range(1, count + 1)]

    def mode_units(self) -> list[str]:
        return ["m"] * sum(self.bending_modes) + ["rad"] * self.twist_modes

    def deflection(self, place: Float[Array, "3"]) -> Deflection:
        return self.link().deflection(place)

    def check(self, mass: float, inertia: list[list[float]]) -> None:
        # without damping, as it is not known yet how many modes its numbers are of
        FlexibleSection.check(self.model_copy(update={"damping_ratio": 0.0}), mass, inertia)

    def link(self) -> UniformBeam:
        from dockdyn.mechanics.trees.cantilever_modes import UniformBeam

        length = number(self.length)
        return UniformBeam(
            root=jnp.asarray(self.root, float),
            along=jnp.asarray(self.axis, float),
            across=jnp.asarray(self.across, float),
            length=length,
            mass=self.mass_per_length * length,
            bending=jnp.asarray(self.bending_stiffness, float),
            torsion=number(self.torsional_stiffness),
            polar_inertia=number(self.polar_inertia),
            damping_ratio=jnp.asarray(self.damping_ratio, float),
            counts=(self.bending_modes[0], self.bending_modes[1], self.twist_modes),
        )


class LargeBeamSection(FlexibleSection):
    """A uniform beam along the body's x axis, from its joint on, that bends by shapes of a basis; what else of the link has
    mass is at the root, rigid.

    It may bend far beside its length: `stiffening` is by how much that shortens it, and what spin and loads along it do
    then. All of its tree is then of such links. Of `craig-bampton` two static shapes come beside the modes of each plane.
    """

    kind: Literal["beam"] = "beam"
    basis: Literal["polynomial", "craig-bampton", "cantilever"]
    length: Length
    mass_per_length: quantity("kg/m", "a mass per length", above=0)
    bending_stiffness: Annotated[list[Stiffness], Field(min_length=2, max_length=2)]
    torsional_stiffness: Stiffness | None = None
    polar_inertia: quantity("kg*m", "a moment of inertia per length", above=0) | None = None
    damping: quantity("s", "a damping time", least=0) | None = None
    bending_modes: Annotated[list[Count], Field(min_length=2, max_length=2)] = [2, 2]  # noqa: RUF012
    twist_modes: Count = 0
    stiffening: bool = True

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if self.twist_modes and (self.torsional_stiffness is None or self.polar_inertia is None):
            refuse("twist_modes: a beam that twists needs torsional_stiffness and polar_inertia")
        return self

    def counts(self) -> tuple[int, int, int]:
        """Return how many shapes it has: of bending along y, along z, and of twist."""
        from dockdyn.mechanics.trees.beam import shape_count

        first, second, twist = (shape_count(self.basis, n) for n in (*self.bending_modes, self.twist_modes))
        return first, second, twist

    def mode_names(self) -> list[str]:
        kinds = zip(("bend", "side", "twist"), self.counts(), strict=True)
        return [f"{kind}{n}" for kind, count in kinds for n in range(1, count + 1)]

    def mode_units(self) -> list[str]:
        first, second, twist = self.counts()
        return ["m"] * (first + second) + ["rad"] * twist

    def beam(self) -> Beam:
        """Return the beam with its shapes, also from traced numbers."""

        from dockdyn.mechanics.trees.beam import Beam

        length = number(self.length)
        return Beam(
            length=length,
            mass=self.mass_per_length * length,
            bending_y=jnp.asarray(self.bending_stiffness[0], float),
            bending_z=jnp.asarray(self.bending_stiffness[1], float),
            torsion=number(self.torsional_stiffness),
            polar_inertia=number(self.polar_inertia),
            damping=number(self.damping),
            modes=self.counts(),
            basis=self.basis,
            stiffening=self.stiffening,
        )

    def rigid_rest(
        self, mass: Float[Array, ""], centre: Float[Array, "3"], inertia: Float[Array, "3 3"]
    ) -> tuple[Float[Array, ""], Float[Array, "3"], Float[Array, "3 3"]]:
        """Return what is rigid of a link with this mass (kg), centre of mass (m, from the root) and inertia (kg m², about it),
        in the same way: all but the beam."""

        beam = self.beam()
        across, polar = beam.mass * beam.length**2 / 12, beam.polar_inertia * beam.length
        middle, rod = jnp.zeros(3).at[0].set(beam.length / 2), jnp.diag(jnp.stack([polar, across, across]))

        def spread(place: Float[Array, "3"]) -> Float[Array, "3 3"]:
            return place @ place * jnp.eye(3) - jnp.outer(place, place)

        rest = mass - beam.mass
        moved = mass * centre - beam.mass * middle
        at = jnp.where(rest > ROUNDING * mass, moved / jnp.where(rest > ROUNDING * mass, rest, 1.0), middle)
        about = inertia + mass * spread(centre) - rod - beam.mass * spread(middle)
        return rest, at, about - rest * spread(at)

    def spring(self) -> ModalSpring:
        from dockdyn.elements import ModalSpring

        beam = self.beam()
        stiffness = beam.stiffness()
        return ModalSpring(stiffness, stiffness * beam.damping)

    def lowest_unstiffened(self) -> Float[Array, ""] | None:
        if self.stiffening:
            return None
        beam = self.beam()
        return CANTILEVER**2 * jnp.sqrt(
            jnp.min(jnp.stack([beam.bending_y, beam.bending_z])) / beam.mass / beam.length**3
        )

    def check(self, mass: float, inertia: list[list[float]]) -> None:
        """Refuse a beam that has more mass or inertia than its body, a `mass` (kg) and an `inertia` (kg m²)."""
        own = self.mass_per_length * self.length
        if own > mass * (1 + ROUNDING):
            refuse(f"flexible: the beam has {own:g} kg of the body's {mass:g} kg; must be no more")
        across = own * self.length**2 / 12
        about = np.array(inertia, float)
        if min(about[1, 1], about[2, 2]) < across * (1 - ROUNDING):
            refuse(
                f"flexible: the beam has {across:g} kg m² across it, about its middle, and the body "
                f"{min(about[1, 1], about[2, 2]):g} kg m²; must be no more, and its position count from its joint"
            )


class ModeSection(NamedSection):
    """A mode of the link whose root is held, and what it does to the link's momenta: Σ m φ, and Σ m r × φ about the root."""

    frequency: quantity("Hz", "a frequency", above=0)
    damping_ratio: Ratio = 0.0
    modal_mass: quantity("kg", "a mass", above=0) = 1.0
    translation: Annotated[list[Participation], Field(min_length=3, max_length=3)]
    rotation: Annotated[list[TurningParticipation], Field(min_length=3, max_length=3)]


class ShapePointSection(NamedSection):
    """A point of the link where the shapes of all modes are known: how it moves and turns, a row for each mode."""

    position: Point
    shift: list[Triple]
    turn: list[Annotated[list[PerMetre], Field(min_length=3, max_length=3)]]


class ModeTableSection(FlexibleSection):
    """Modes of a link whose root is held, from a finite-element model; what sits on the link moves with the nearest point."""

    kind: Literal["modes"] = "modes"
    root: Point
    mode: named_tables(ModeSection, Field(min_length=1, max_length=MOST_MODES))
    point: named_tables(ShapePointSection) = []  # noqa: RUF012

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        for point in self.point:
            for key, shape in (("shift", point.shift), ("turn", point.turn)):
                if len(shape) != len(self.mode):
                    refuse(f"point.{point.name}.{key}: has {len(shape)} rows; must have {len(self.mode)}, one a mode")
        return self

    def mode_names(self) -> list[str]:
        return [mode.name for mode in self.mode]

    def mode_units(self) -> list[str]:
        return ["m"] * len(self.mode)

    def lowest_unstiffened(self) -> Float[Array, ""]:
        return self.modes().frequency.min()

    def link(self) -> CantileverModes:
        from dockdyn.mechanics.trees.cantilever_modes import CantileverModes

        def column(key: str) -> Float[Array, "modes *shape"]:
            return jnp.stack([jnp.asarray(getattr(mode, key), float) for mode in self.mode])

        return CantileverModes(
            mass=column("modal_mass"),
            frequency=2 * jnp.pi * column("frequency"),
            damping_ratio=column("damping_ratio"),
            translation=column("translation"),
            rotation=column("rotation"),
            root=jnp.asarray(self.root, float),
        )

    def deflection(self, place: Float[Array, "3"]) -> Deflection:
        from dockdyn.mechanics.trees.cantilever_modes import Deflection

        points = [
            tuple(jnp.asarray(part, float) for part in (point.position, point.shift, point.turn))
            for point in self.point
        ]
        places, shifts, turns = (jnp.stack(parts) for parts in zip(*points, strict=True))
        nearest = jnp.argmin(jnp.sum((places - place) ** 2, axis=1))
        return Deflection(places[nearest], shifts[nearest], turns[nearest])

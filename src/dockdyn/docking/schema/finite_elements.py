"""Vehicles from finite elements: a free body that bends by the modes of its mass and stiffness matrices.

The body moves as its mean axes do, in which its modes have no momentum, with the inertia that it has at rest; its points move
beside them by Σ φ η and turn by Σ ϑ η. What sits on it, and every force on it, moves with the nearest point as it has been
displaced, so that all equations come from the one Lagrangian L = ½ m v² + ½ ωᵀ J ω + ½ Σ m (η̇² − ω²η²).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.schema.flexible import FlexibleSection, Ratios
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.screws import cross_product
from dockdyn.scenario.finite_elements.model import (
    HeldModes,
    MatrixFile,
    MatrixModel,
    ModelModes,
    held_modes,
    modes_of_model,
)
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.meshes.mesh_file import MeshUnit, length_of
from dockdyn.scenario.tables.attitude import LEVEL, Attitude, quaternion_of
from dockdyn.scenario.tables.geometry import Point
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse, without_computed

if TYPE_CHECKING:
    from dockdyn.elements import ModalSpring
    from dockdyn.mechanics.trees.cantilever_modes import Deflection

MASSES = {  # kg
    "kg": 1.0,
    "g": 1e-3,
    "tonne": 1e3,
    "lb": 0.45359237,
    "slug": 14.59390293720636,  # lbf s²/ft
    "slinch": 175.12683524647636,  # lbf s²/inch
}
MOST_MODES = 200
PEAK_ERROR = 0.02  # share of the peak force of a contact by which its modes may make it too large, where none is stated
APART = 0.01  # share by which the model's mass, centre and inertia may differ from those that are stated
HELD = 0.01  # of the lowest frequency of its modes, up to which rounding may hold a free model


class MatrixSection(Section):
    """A matrix in a file, by its name there."""

    file: str
    matrix: str | None = None

    def data_file(self) -> str | None:
        return self.file

    def found(self, role: str) -> MatrixFile:
        """Return it as what a model needs in this role."""
        return MatrixFile(role, self.file, self.matrix)


class ModelPointSection(NamedSection):
    """A point of the model with six displacements, which follow each other from a row of the matrices on."""

    position: Point
    attitude: Attitude = LEVEL
    row: Annotated[int, Field(ge=0)] | None = None


class RecoverySection(NamedSection, MatrixSection):
    """What is recovered at a place, a row of a matrix each: stresses, forces or displacements."""

    unit: Annotated[str, Field(min_length=1, max_length=20)] = "1"


class ModelModesSection(Section):
    """What has been computed of the matrices."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inertia: np.ndarray
    holding: float
    frequency: np.ndarray
    points: np.ndarray
    damping: np.ndarray
    recovery: np.ndarray
    counts: list[int]  # how many numbers each matrix of recovery gives
    lost: np.ndarray


def _matrix_of(attitude: Any) -> np.ndarray:  # noqa: ANN401, in any form
    """Return the matrix of an attitude."""
    return np.asarray(Quaternion.of(quaternion_of(attitude)).matrix().array())


class FiniteElementSection(FlexibleSection):
    """Mass and stiffness matrices of a free body, whole or reduced, with the points where something acts on it."""

    computed_from: ClassVar = ("attitude", "mode_count", "up_to", "static_error", "peak_error", "point")
    kind: Literal["finite-elements"] = "finite-elements"
    mass_matrix: MatrixSection
    stiffness_matrix: MatrixSection
    damping_matrix: MatrixSection | None = None
    damping_ratio: Ratios = 0.0
    length_unit: MeshUnit
    mass_unit: Literal["kg", "g", "tonne", "lb", "slug", "slinch"]
    attitude: Attitude = LEVEL
    up_to: quantity("Hz", "a frequency", above=0) | None = None
    static_error: quantity("", "a share", above=0, most=1) | None = None
    peak_error: quantity("", "a share", above=0, most=1) = PEAK_ERROR
    mode_count: Annotated[int, Field(ge=1, le=MOST_MODES)] | None = None
    point: named_tables(ModelPointSection, Field(min_length=1))
    recovery: named_tables(RecoverySection) = []  # noqa: RUF012
    kept: SkipJsonSchema[ModelModesSection | None] = Field(None, exclude=True, repr=False)
    root: SkipJsonSchema[list[float] | None] = Field(None, exclude=True, repr=False)  # m, body axes; None of a free one

    @model_validator(mode="before")
    @classmethod
    def without_modes(cls, value: object) -> object:
        """Refuse stated modes, which are computed."""
        return without_computed(value, "kept", "root")

    @model_validator(mode="after")
    def compute_modes(self) -> Self:
        if self.damping_matrix is not None and np.any(self.damping_ratio):
            refuse("damping_ratio: is in damping_matrix; must be one of the two")
        if self.mode_count is not None and (self.up_to is not None or self.static_error is not None):
            refuse("mode_count: up_to and static_error say how many modes it has; must be left out, or they be")
        all_modes = self.all_modes()
        lowest = all_modes.frequency[0]
        if all_modes.holding > HELD * lowest:
            words = f"{all_modes.holding / (2 * np.pi):.3g} Hz, beside {lowest / (2 * np.pi):.3g} Hz of its first mode"
            refuse(
                f"stiffness_matrix: holds the model, which moved rigidly would swing at {words}; must be of a free model, and "
                "positions of points those of its rows"
            )
        return self._with_modes(self._kept_count())

    def held_at(self, root: list[float]) -> Self:
        """Return it with modes of a link that a joint holds at a place (m, from the centre of mass, body axes)."""
        held = self.model_copy(update={"root": root})
        return held._with_modes(held._kept_count())

    def all_modes(self) -> ModelModes:
        """Return all modes of its matrices."""
        return modes_of_model(self.model())

    def chooses_modes(self) -> bool:
        """Return whether what it touches says how many modes it has."""
        return self.mode_count is None and self.up_to is None and self.static_error is None

    def with_mode_count(self, count: int) -> Self:
        """Return it with so many modes, as if they were stated."""
        return self._with_modes(count).model_copy(update={"mode_count": count})

    def held_modes(self) -> HeldModes | None:
        """Return all modes where its root is held; None of a free one."""
        return None if self.root is None else held_modes(self.all_modes(), self.places(), np.array(self.root))

    def places(self) -> Float[np.ndarray, "points 3"]:
        """Return where its points are (m, from the centre of mass, body axes)."""
        return np.array([point.position for point in self.point], float)

    def _with_modes(self, count: int) -> Self:
        modes, held = self.all_modes(), self.held_modes()
        found = modes.first(count) if held is None else modes.within(held.basis[:, :count], float(held.lost[count]))
        counts = [int(one) for one in modes.counts]
        return self.model_copy(update={"kept": ModelModesSection(**(found._asdict() | {"counts": counts}))})

    def _kept_count(self) -> int:
        """Return how many modes are kept: as many as are stated; all up to a stated frequency, and so many more as points need
        to yield by; where what it touches says it, for now all."""
        modes = self.held_modes() or self.all_modes()
        most = min(len(modes.frequency), MOST_MODES)
        if self.chooses_modes():
            return most
        if self.mode_count is not None:
            if self.mode_count > len(modes.frequency):
                refuse(f"mode_count: its matrices have {len(modes.frequency)} modes; must be at most that")
            return self.mode_count
        below = 0 if self.up_to is None else int((modes.frequency <= 2 * np.pi * self.up_to).sum())
        error = 1.0 if self.static_error is None else max(self.static_error, float(modes.lost[-1]))
        enough = int(np.argmax(modes.lost <= error))
        count = max(below, enough)
        if not count:
            words = f"has no mode below {self.up_to:g} Hz; its first is at {modes.frequency[0] / (2 * np.pi):.4g} Hz"
            refuse(f"up_to: {words}; must be higher, or flexible be left out")
        if count > MOST_MODES:
            why = "up_to" if below > MOST_MODES else "static_error"
            refuse(f"{why}: asks for {count} modes; must be at most {MOST_MODES}")
        return count

    def model(self) -> MatrixModel:
        """Return the model that the files hold."""
        own, *turns = (_matrix_of(one.attitude) for one in (self, *self.point))
        rows = [6 * number if point.row is None else point.row for number, point in enumerate(self.point)]
        return MatrixModel(
            self.mass_matrix.found("mass"),
            self.stiffness_matrix.found("stiffness"),
            None if self.damping_matrix is None else self.damping_matrix.found("damping"),
            tuple(one.found("recovery") for one in self.recovery),
            length_of(self.length_unit),
            MASSES[self.mass_unit],
            tuple(tuple(point.position) for point in self.point),
            tuple(tuple(float(one) for one in (own @ turn).ravel()) for turn in turns),
            tuple(rows),
            0.0 if self.up_to is None else 2 * np.pi * self.up_to,
        )

    def _modes(self) -> ModelModesSection:
        assert self.kept is not None
        return self.kept

    def mode_names(self) -> list[str]:
        return [f"mode{number + 1}" for number in range(self._modes().frequency.shape[0])]

    def mode_units(self) -> list[str]:
        return ["m"] * len(self.mode_names())

    def modal_mass(self) -> Float[Array, "modes"]:
        """Return the modal masses (kg), each the model's, also from traced numbers."""
        modes = self._modes()
        return jnp.full(modes.frequency.shape, 1.0) * modes.inertia[0, 0]

    def lowest_unstiffened(self) -> Float[Array, ""]:
        return jnp.min(jnp.asarray(self._modes().frequency))

    def deflection(self, place: Float[Array, "3"]) -> Deflection:
        from dockdyn.mechanics.trees.cantilever_modes import Deflection

        modes = self._modes()
        places = jnp.stack([jnp.asarray(point.position, float) for point in self.point])
        shapes = jnp.asarray(modes.points).reshape(len(self.point), 2, 3, -1)
        nearest = jnp.argmin(jnp.sum((places - place) ** 2, axis=1))
        return Deflection(places[nearest], shapes[nearest, 0].T, shapes[nearest, 1].T)

    def mean_motion(self, root: Float[Array, "3"]) -> Deflection:
        """Return how its mean axes move against what holds it at a `root` (m): as the nearest point does, the other way."""
        from dockdyn.mechanics.trees.cantilever_modes import Deflection

        held = self.deflection(root)
        around = cross_product(held.turn, jnp.broadcast_to(held.place, held.turn.shape))
        return Deflection(jnp.zeros(3), around - held.shift, -held.turn)

    def static_count(self, share: float) -> int:
        """Return with how many modes points yield by all under a constant load but this share, or as nearly as they can."""
        lost = (self.held_modes() or self.all_modes()).lost[: MOST_MODES + 1]
        return max(int(np.argmax(lost <= max(share, float(lost.min())))), 1)

    def recovered_counts(self) -> list[int]:
        """Return how many numbers each matrix of recovery gives."""
        return self._modes().counts

    def recovery_shapes(self) -> Float[np.ndarray, "recovered modes"]:
        """Return what is recovered by modal coordinates of 1 m."""
        return self._modes().recovery

    def static_loss(self) -> float:
        """Return the largest share of a point's compliance that its modes leave out."""
        return float(self._modes().lost[0])

    def highest_frequency(self) -> float:
        """Return the frequency of its highest mode (Hz)."""
        return float(self._modes().frequency[-1] / (2 * np.pi))

    def spring(self) -> ModalSpring:
        from dockdyn.elements import ModalSpring

        modes, mass = self._modes(), self.modal_mass()
        stiffness = mass * jnp.asarray(modes.frequency) ** 2
        if self.damping_matrix is not None:
            return ModalSpring(stiffness, jnp.asarray(modes.damping))
        ratios = jnp.asarray(self.damping_ratio, float)
        return ModalSpring(stiffness, 2 * ratios * jnp.asarray(modes.frequency) * mass)

    def check(self, mass: float, inertia: list[list[float]]) -> None:
        """Refuse a model of another mass, centre of mass or inertia than the body has, a `mass` (kg) and an `inertia`
        (kg m²)."""
        found = self._modes().inertia
        own, first = found[0, 0], np.array([found[1, 5], found[2, 3], found[0, 4]])
        along = np.linalg.eigvalsh(found[:3, :3])
        if np.ptp(along) > APART * own:
            words = f"from {along[0]:.6g} kg to {along[-1]:.6g} kg, by the direction it is moved in"
            refuse(f"flexible.mass_matrix: is of {words}; must be the same in all within {APART:.0%}")
        if abs(own - mass) > APART * mass:
            refuse(f"flexible.mass_matrix: is of {own:.6g} kg, the body of {mass:g} kg; must be within {APART:.0%}")
        stated, about = np.array(inertia, float), found[3:, 3:]
        size = np.sqrt(np.trace(stated) / mass)
        centre = first / own
        if np.linalg.norm(centre) > APART * size:
            words = ", ".join(f"{one:.6g}" for one in centre)
            refuse(
                f"flexible.point: by their positions the model's centre of mass is at [{words}] m, and lengths are from it; "
                "must be [0, 0, 0], less this from each position"
            )
        if np.abs(about - stated).max() > APART * np.abs(stated).max():
            rows = ", ".join("[" + ", ".join(f"{one:.6g}" for one in row) + "]" for row in about)
            refuse(f"flexible.mass_matrix: has the inertia [{rows}] kg m²; must be that of the body within {APART:.0%}")

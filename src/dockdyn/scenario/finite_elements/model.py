"""A model of finite elements as a scenario states it, and its modes, kept in the user's cache by what they are made of.

Units: SI.
Source: definition.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.deferred import Float
from dockdyn.scenario.finite_elements.component import (
    Component,
    followed,
    free_modes,
    holding_frequency,
    lost_shares,
    main_part,
    rigid_inertia,
    rigid_motions,
)
from dockdyn.scenario.finite_elements.matrix_file import matrix_in, read_contents, when_changed
from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.meshes.kept import pack_arrays, unpack_arrays
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.scenario.finite_elements.matrix_file import Matrix

DENSE = 600  # coordinates up to which all modes are computed; a larger model is reduced first
SKEW = 1e-6  # of the largest entry, by which a matrix may differ from its transpose
USUAL = {  # names of matrices in files, where none is stated
    "mass": ("mass", "M", "MXX", "MAAX", "MAA", "MGG"),
    "stiffness": ("stiffness", "K", "KXX", "KAAX", "KAA", "KGG"),
    "damping": ("damping", "C", "BXX", "BAAX", "BAA", "BGG"),
    "recovery": ("recovery",),
}


class MatrixFile(NamedTuple):
    """A matrix in a file."""

    role: str  # one of `USUAL`
    file: str
    name: str | None

    def words(self) -> str:
        """Return how a scenario states it."""
        key = self.role if self.role == "recovery" else f"{self.role}_matrix"
        named = "" if self.name is None else f", matrix = {shown(self.name)}"
        return f"{key}.file = {shown(Path(self.file).name)}{named}"


class MatrixModel(NamedTuple):
    """A model of finite elements: its matrices, their units, and where the points are that its rows are of."""

    mass: MatrixFile
    stiffness: MatrixFile
    damping: MatrixFile | None
    recovery: tuple[MatrixFile, ...]
    length_unit: float  # m
    mass_unit: float  # kg
    places: tuple[tuple[float, ...], ...]  # m, of points, body axes, from the body's centre of mass
    axes: tuple[tuple[float, ...], ...]  # of the displacements of each → those of the body, by rows
    rows: tuple[int, ...]  # the first of each point
    highest: float  # rad/s, up to which modes of a larger model are wanted; 0 where none is stated

    def files(self) -> list[MatrixFile]:
        """Return all of its matrices."""
        return [self.mass, self.stiffness, *([] if self.damping is None else [self.damping]), *self.recovery]


class ModelModes(NamedTuple):
    """Free modes of a model, the lowest first, each scaled to a modal mass that is the model's; axes of the body."""

    inertia: Float[np.ndarray, "6 6"]  # of rigid motions along and about axes through the body's origin
    holding: float  # rad/s: what holds it, which a free model has not
    frequency: Float[np.ndarray, "modes"]  # rad/s
    points: Float[np.ndarray, "points*6 modes"]  # m, rad per m
    damping: Float[np.ndarray, "modes modes"]  # kg/s; of size 0 where none is stated
    recovery: Float[np.ndarray, "recovered modes"]  # in units of their own, per m
    counts: Float[np.ndarray, "recoveries"]  # how many rows each matrix of recovery has
    lost: Float[np.ndarray, "modes+1"]  # the largest share of a point's compliance that fewer modes lose

    def first(self, count: int) -> ModelModes:
        """Return the first of them; `lost` is then by these."""
        return self._replace(
            frequency=self.frequency[:count],
            points=self.points[:, :count],
            damping=self.damping[:count, :count],
            recovery=self.recovery[:, :count],
            lost=self.lost[count : count + 1],
        )

    def within(self, basis: Float[np.ndarray, "modes kept"], lost: float) -> ModelModes:
        """Return modes of a model that moves by combinations of them alone, which lose a share of a point's compliance."""
        basis = np.linalg.qr(basis)[0]
        ways, frequency, _ = np.linalg.svd(basis.T * self.frequency, full_matrices=False)
        basis, frequency = basis @ ways[:, ::-1], frequency[::-1]
        basis = basis * np.where(main_part(basis) < 0, -1.0, 1.0)
        return self._replace(
            frequency=frequency,
            points=self.points @ basis,
            damping=basis.T @ self.damping @ basis if self.damping.size else self.damping,
            recovery=self.recovery @ basis,
            lost=np.array([lost]),
        )


class HeldModes(NamedTuple):
    """Modes of a model a place of which is held, the lowest first, each of a modal mass of 1 kg, by its free modes."""

    frequency: Float[np.ndarray, "modes"]  # rad/s
    basis: Float[np.ndarray, "free modes"]
    mean: Float[np.ndarray, "6 modes"]  # m and rad, of the mean axes against what is held
    points: Float[np.ndarray, "points*6 modes"]  # m and rad, likewise
    lost: Float[np.ndarray, "modes+1"]  # the largest share of a point's compliance that fewer modes lose


def held_modes(modes: ModelModes, places: Float[np.ndarray, "points 3"], root: Float[np.ndarray, "3"]) -> HeldModes:
    """Return the modes of a model with points at these `places` (m) that is held where the one next to a `root` (m) is."""
    held = int(np.argmin(((places - root) ** 2).sum(axis=1)))
    rows = slice(6 * held, 6 * held + 6)
    mean = -np.linalg.solve(rigid_motions(places[held : held + 1]), modes.points[rows])
    whole = modes.inertia[0, 0]
    lower = np.linalg.cholesky(whole * np.eye(len(modes.frequency)) + mean.T @ modes.inertia @ mean)
    ways, frequency, _ = np.linalg.svd(np.linalg.solve(lower, np.diag(np.sqrt(whole) * modes.frequency)))
    basis, frequency = np.linalg.solve(lower.T, ways[:, ::-1]), frequency[::-1]
    basis = basis * np.where(main_part(basis) < 0, -1.0, 1.0)
    points = modes.points + rigid_motions(places) @ mean
    points[rows] = 0.0
    points = points @ basis
    lost = lost_shares(points, frequency, ((points / frequency) ** 2).sum(axis=1))
    return HeldModes(frequency, basis, mean @ basis, points, lost)


def modes_of_model(model: MatrixModel) -> ModelModes:
    """Return the modes of a model; refuses matrices that are not of one that is free."""
    return _modes_as_of(model, tuple(when_changed(one.file) for one in model.files()))


@lru_cache(maxsize=8)
def _modes_as_of(model: MatrixModel, changed: tuple[int, ...]) -> ModelModes:
    """Return the modes of a model whose files were last changed then."""
    contents = {one.file: read_contents(one.file) for one in model.files()}
    digests = [hashlib.sha256(content).hexdigest() for content in contents.values()]
    makers = kept.makers_of(Path(__file__).parent, ("numpy", "scipy", "pyyeti"))
    words = repr((makers, digests, [Path(file).suffix.lower() for file in contents], model)).encode()
    place, name = cache_folder() / "finite-elements", hashlib.sha256(words).hexdigest()[:40]
    if (stored := kept.find_entry(place, name)) is not None:
        return ModelModes(*unpack_arrays(stored))
    new = _make_modes(model, contents)
    kept.keep_entry(place, name, pack_arrays(list(new)))
    return new


def _make_modes(model: MatrixModel, contents: dict[str, bytes]) -> ModelModes:
    from scipy.sparse import csc_matrix, diags

    opened: dict[str, Any] = {}
    matrices = {
        one: matrix_in(one.file, contents[one.file], one.name, USUAL[one.role], opened) for one in model.files()
    }
    size = _checked_size(model, matrices)
    rows = (np.asarray(model.rows)[:, None] + np.arange(6)).ravel()
    scale = np.ones(size)
    scale[rows.reshape(-1, 6)[:, :3]] = 1 / model.length_unit
    energy = model.mass_unit * model.length_unit**2
    turned = np.zeros((len(rows), len(rows)))
    for at, axes in enumerate(np.repeat(np.asarray(model.axes).reshape(-1, 3, 3), 2, axis=0)):
        turned[3 * at : 3 * at + 3, 3 * at : 3 * at + 3] = axes
    moved = turned.T @ rigid_motions(np.asarray(model.places))
    seen: list[Any] = []
    for one in (model.mass, model.stiffness, model.damping):
        found = None if one is None else csc_matrix(matrices[one])
        seen.append(None if found is None else diags(scale) @ ((found + found.T) * (energy / 2)) @ diags(scale))
    component, basis = _small_component(model, seen, rows, moved)
    if not np.linalg.eigvalsh(rigid_inertia(component)).min() > 0:
        refuse(
            f"{model.mass.words()}: the model moved rigidly has no mass, or a negative one; must be of masses above 0"
        )
    try:
        modes = free_modes(component._replace(points=turned @ component.points))
    except np.linalg.LinAlgError:
        sizes = np.linalg.eigvalsh(component.stiffness)
        if sizes[0] < -SKEW * np.abs(sizes).max():
            refuse(_words_of_negative(model, turned=sizes[-1] < -SKEW * sizes[0]))
        refuse(
            f"{model.stiffness.words()}: lets the model move without a force otherwise than rigidly; must be of one piece"
        )
    except ValueError as error:  # after LinAlgError, which is one
        refuse(f"{model.mass.words()}: the model {error}")
    shapes = scale[:, None] * (modes.shapes if basis is None else basis @ modes.shapes)
    recovered = [np.asarray(matrices[one] @ shapes) for one in model.recovery]
    return ModelModes(
        rigid_inertia(component),
        holding_frequency(component),
        modes.frequency,
        modes.points,
        np.zeros((0, 0)) if modes.damping is None else modes.damping,
        np.concatenate([np.zeros((0, len(modes.frequency))), *recovered]),
        np.array([len(one) for one in recovered], float),
        lost_shares(modes.points, modes.frequency, modes.compliance),
    )


def _small_component(
    model: MatrixModel, matrices: list[Any], rows: np.ndarray, moved: np.ndarray
) -> tuple[Component, np.ndarray | None]:
    """Return the component, of a large model with the basis that it is reduced to."""
    from dockdyn.scenario.finite_elements.reduction import Indefinite, Singular, reduced_component

    size = matrices[0].shape[0]
    try:
        if size > DENSE:
            if not model.highest:
                refuse(
                    f"up_to: missing; a model of {size} coordinates, over {DENSE}, is reduced to its modes up to a frequency"
                )
            mass, stiffness, damping = matrices
            return reduced_component(mass, stiffness, damping, rows, moved, model.highest)
        dense = [None if one is None else one.toarray() for one in matrices]
        at_points, held = np.eye(size)[rows], dense[1]
        assert dense[0] is not None and held is not None
        return Component(dense[0], held, dense[2], at_points, followed(held, rows, moved)), None
    except Indefinite:
        refuse(_words_of_negative(model))
    except (Singular, np.linalg.LinAlgError):
        refuse(
            f"{model.stiffness.words()}: what hangs on the points can move without a force; must be of a model that the "
            "points of [.point.NAME] hold, held at all of them"
        )


def _words_of_negative(model: MatrixModel, turned: bool = False) -> str:
    """Return what is wrong with a stiffness matrix that pushes on where the model is bent, everywhere where it is `turned`."""
    hint = "; its sign may be turned" if turned else ""
    words = "pushes on where the model is bent (an eigenvalue is negative)"
    return f"{model.stiffness.words()}: {words}{hint}; must push back against every deformation"


def _checked_size(model: MatrixModel, matrices: dict[MatrixFile, Matrix]) -> int:
    """Return how many coordinates a model has; refuses matrices that are none of one model, and points beyond them."""
    size = matrices[model.mass].shape[0]
    for one in (model.mass, model.stiffness, model.damping):
        if one is None:
            continue
        found = matrices[one]
        if found.shape != (size, size):
            refuse(
                f"{one.words()}: is {found.shape[0]} by {found.shape[1]}; must be {size} by {size}, as mass_matrix has rows"
            )
        skew, size_of = abs(found - found.T).max(), abs(found).max()
        if skew > SKEW * size_of:
            refuse(
                f"{one.words()}: differs from its transpose by {skew / size_of:.2g} of its largest; must by {SKEW:g} at most"
            )
    for one in model.recovery:
        if matrices[one].shape[1] != size:
            refuse(f"{one.words()}: has {matrices[one].shape[1]} columns; must have {size}, one a coordinate")
    if max(model.rows) + 6 > size:
        refuse(
            f"point: its rows {max(model.rows)} to {max(model.rows) + 5} are beyond those of the matrices, 0 to {size - 1}"
        )
    if len({row + each for row in model.rows for each in range(6)}) < 6 * len(model.rows):
        refuse("point: two points have the same rows; each must have six of its own")
    return size

"""Reduced components beside their full models: frequencies, what points yield, and what is recovered."""

import numpy as np
import pytest
from finite_elements import boom, craig_bampton, frame_model, mass_properties, plate_model
from pydantic_core import PydanticCustomError
from scipy.io import mmwrite
from scipy.linalg import eigh
from scipy.sparse import save_npz

from dockdyn import kept
from dockdyn.scenario.finite_elements.model import MatrixFile, MatrixModel, modes_of_model


def frame():
    nodes, bars = boom(10, 4.0)
    nodes = np.concatenate([nodes, [[1.2, 1.5, 0.0], [1.2, -1.5, 0.3]]])
    bars += [(3, 11), (3, 12)]
    mass, stiffness = frame_model(nodes, bars, radius=0.08, lumps=[(3, 200.0, 60.0), (11, 20.0, 2.0), (12, 15.0, 2.0)])
    return mass, stiffness, nodes, [10, 11]


def plate():
    mass, stiffness, nodes = plate_model(8, 6, 1.6, 1.2)
    return mass, stiffness, nodes, [31, 0]


MODELS = {"frame": frame, "plate": plate}


def stated(tmp_path, mass, stiffness, places, rows, **keys):
    """A model in files, in SI."""
    for name, matrix in (("mass", mass), ("stiffness", stiffness)):
        if hasattr(matrix, "tocsc"):
            save_npz(tmp_path / f"{name}.npz", matrix)
        else:
            np.savez(tmp_path / f"{name}.npz", **{name: matrix})
    found = MatrixModel(
        MatrixFile("mass", str(tmp_path / "mass.npz"), None),
        MatrixFile("stiffness", str(tmp_path / "stiffness.npz"), None),
        None,
        (),
        1.0,
        1.0,
        tuple(map(tuple, places)),
        (tuple(np.eye(3).ravel()),) * len(rows),
        tuple(rows),
        0.0,
    )
    return found._replace(**keys)


def full_modes(mass, stiffness):
    """Frequencies (rad/s) of the elastic modes of a full model."""
    squares = eigh(stiffness.toarray(), mass.toarray(), eigvals_only=True)
    return np.sqrt(squares[6:])


def free_compliance(mass, stiffness, nodes, rows):
    """What a free model yields at each displacement under its own load, in the axes without momentum, by a pseudo-inverse."""
    rigid = np.zeros((len(nodes), 6, 6))
    rigid[:, :3, :3] = rigid[:, 3:, 3:] = np.eye(3)
    for axis in range(3):
        rigid[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], nodes)
    rigid, m = rigid.reshape(-1, 6), mass.toarray()
    project = np.eye(len(m)) - m @ rigid @ np.linalg.solve(rigid.T @ m @ rigid, rigid.T)
    yielded = project.T @ np.linalg.pinv(stiffness.toarray(), rcond=1e-13, hermitian=True) @ project
    return np.diag(yielded)[rows]


@pytest.mark.full_cases("plate")
@pytest.mark.parametrize("name", MODELS)
def test_a_full_model_is_reduced(tmp_path, name, monkeypatch):
    """By its free modes and residual modes: frequencies as those of the full model, and what points yield is all there."""
    monkeypatch.setattr("dockdyn.scenario.finite_elements.model.DENSE", 10)
    mass, stiffness, nodes, points = MODELS[name]()
    centre = mass_properties(mass, nodes)[1]
    exact = full_modes(mass, stiffness)
    highest = exact[15]
    rows = [6 * point for point in points]
    found = modes_of_model(stated(tmp_path, mass, stiffness, nodes[points] - centre, rows, highest=highest))
    np.testing.assert_allclose(found.frequency[:16], exact[:16], rtol=1e-6)
    assert found.holding < 1e-4 * exact[0]
    compliance = free_compliance(mass, stiffness, nodes, np.concatenate([6 * p + np.arange(6) for p in points]))
    kept = (found.points / found.frequency) ** 2 / found.inertia[0, 0]
    np.testing.assert_allclose(kept.sum(axis=1), compliance, rtol=1e-5)
    assert found.lost[-1] < 1e-6 and found.lost[0] == 1.0 and (np.diff(found.lost) <= 1e-12).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_reduced_model_is_read(tmp_path, name):
    """By Craig and Bampton's method: no frequency of its own is lost by going over to free modes, and the first are the full
    model's."""
    mass, stiffness, nodes, points = MODELS[name]()
    rows = np.concatenate([6 * point + np.arange(6) for point in points])
    total, centre, about = mass_properties(mass, nodes)
    small_mass, small_stiffness, _, _ = craig_bampton(mass, stiffness, rows, 30)
    found = modes_of_model(stated(tmp_path, small_mass, small_stiffness, nodes[points] - centre, [0, 6]))
    own = np.sqrt(eigh(small_stiffness, small_mass, eigvals_only=True)[6:])
    np.testing.assert_allclose(found.frequency, own, rtol=1e-7)
    np.testing.assert_allclose(found.frequency[:8], full_modes(mass, stiffness)[:8], rtol=2e-3)
    np.testing.assert_allclose(found.inertia[0, 0], total, rtol=1e-10)
    np.testing.assert_allclose(found.inertia[3:, 3:], about, rtol=0, atol=1e-9 * about.max())


def test_units_and_axes(tmp_path):
    """A model in mm and tonnes, in axes of its own, in Matrix Market, is that in SI."""
    from scipy.spatial.transform import Rotation

    mass, stiffness, nodes, points = frame()
    centre = mass_properties(mass, nodes)[1]
    rows = np.concatenate([6 * point + np.arange(6) for point in points])
    small = craig_bampton(mass, stiffness, rows, 12)[:2]
    plain = modes_of_model(stated(tmp_path, *small, nodes[points] - centre, [0, 6]))
    turn = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()  # of the model's axes to the body's
    scale = np.ones(len(small[0]))
    scale[[0, 1, 2, 6, 7, 8]] = 1e-3  # m a mm
    whole = np.eye(len(scale))
    whole[:12, :12] = np.kron(np.eye(4), turn)
    for name, matrix in zip(("mass", "stiffness"), small, strict=True):  # in t mm²/s² by mm and rad
        other = 1e3 * (whole * scale).T @ matrix @ (whole * scale)
        mmwrite(tmp_path / f"{name}.mtx", other)
    other = stated(
        tmp_path,
        *small,
        nodes[points] - centre,
        [0, 6],
        length_unit=1e-3,
        mass_unit=1e3,
        axes=(tuple(turn.ravel()),) * 2,
    )
    files = {role: MatrixFile(role, str(tmp_path / f"{role}.mtx"), None) for role in ("mass", "stiffness")}
    found = modes_of_model(other._replace(**files))
    np.testing.assert_allclose(found.frequency, plain.frequency, rtol=1e-9)
    np.testing.assert_allclose(found.inertia, plain.inertia, rtol=0, atol=1e-9 * plain.inertia.max())
    size = np.abs(plain.points).max()
    np.testing.assert_allclose(np.abs(found.points[:, :12]), np.abs(plain.points[:, :12]), rtol=0, atol=1e-6 * size)


def test_recovery_is_of_the_full_model(tmp_path):
    """Of a matrix that picks the displacements of a node, the mode's shape there."""
    mass, stiffness, nodes, points = frame()
    centre = mass_properties(mass, nodes)[1]
    rows = np.concatenate([6 * point + np.arange(6) for point in points])
    small_mass, small_stiffness, basis, _ = craig_bampton(mass, stiffness, rows, 12)
    np.savez(tmp_path / "recovery.npz", tip=basis[6 * points[0] : 6 * points[0] + 3])
    model = stated(tmp_path, small_mass, small_stiffness, nodes[points] - centre, [0, 6])
    found = modes_of_model(model._replace(recovery=(MatrixFile("recovery", str(tmp_path / "recovery.npz"), "tip"),)))
    assert found.counts.tolist() == [3]
    np.testing.assert_allclose(found.recovery, found.points[:3], rtol=0, atol=1e-9 * np.abs(found.points).max())


def test_who_has_nothing_that_reads_files_of_nastran_has_those_of_numpy(tmp_path, monkeypatch):
    def installed(library):
        if library == "pyyeti":
            raise ModuleNotFoundError(library)
        return "1.0"

    mass, stiffness, nodes, points = frame()
    model = stated(
        tmp_path, mass, stiffness, nodes[points] - mass_properties(mass, nodes)[1], [6 * one for one in points]
    )
    monkeypatch.setattr(kept, "version", installed)
    kept.makers_of.cache_clear()
    try:
        assert modes_of_model(model).frequency.shape == (mass.shape[0] - 6,)
    finally:
        kept.makers_of.cache_clear()


@pytest.mark.parametrize("bar", [2, 7])
def test_a_large_model_of_which_one_bar_pushes_on_is_refused(tmp_path, bar, monkeypatch):
    """Rigid motions of it take no force, and all its pivots but some are positive."""
    monkeypatch.setattr("dockdyn.scenario.finite_elements.model.DENSE", 10)
    mass, stiffness, nodes, points = frame()
    wrong = stiffness - 1.5 * frame_model(nodes, [(bar, bar + 1)], radius=0.08)[1]
    assert np.linalg.eigvalsh(wrong.toarray())[0] < -1.0
    centre = mass_properties(mass, nodes)[1]
    model = stated(tmp_path, mass, wrong, nodes[points] - centre, [6 * point for point in points], highest=1e3)
    with pytest.raises(PydanticCustomError, match="pushes on where the model is bent"):
        modes_of_model(model)

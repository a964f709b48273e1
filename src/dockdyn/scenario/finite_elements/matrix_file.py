"""Matrices in files: those of NumPy, Matrix Market, and those that Nastran writes, which pyYeti reads.

Source: formats of numpy.savez, scipy.sparse.save_npz and scipy.io.mmwrite; OUTPUT4, OUTPUT2 and DMIG of Nastran.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import nearest, shown
from dockdyn.scenario.language.given_file import MATRICES, refusal
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    type Matrix = np.ndarray | csc_matrix

NUMPY, MARKET, NASTRAN = (".npz", ".npy"), (".mtx",), (".op4", ".op2", ".pch")
SUFFIXES = (*NUMPY, *MARKET, *NASTRAN)
NEEDED = "files of Nastran are read by the package pyyeti; pip install 'dockdyn[nastran]'"
MOST_SIZE = 5_000_000  # rows or columns: an index of them takes memory that the size of a file does not bound
MOST_UNPACKED = 4_000_000_000  # bytes of arrays in one file
SPARSE = {"format", "shape", "data"}  # what save_npz writes


def read_contents(file: str) -> bytes:
    """Return what a file of matrices holds; refuses another suffix, and what cannot be read."""
    from dockdyn.files import read_file

    if Path(file).suffix.lower() not in SUFFIXES:
        refuse(f"file = {shown(file)}: must be a file of matrices that ends in {', '.join(SUFFIXES)}")
    try:
        return read_file(file, MATRICES.most)
    except OSError as error:
        refuse(str(refusal(error, f"file = {shown(file)}", MATRICES)))


def when_changed(file: str) -> int:
    """Return when a file was last changed (ns); 0 of what cannot be asked, which is refused as it is read."""
    try:
        return Path(file).stat().st_mtime_ns
    except (OSError, ValueError):  # there is none, or a character that no path has
        return 0


def matrix_in(
    file: str,
    content: bytes,
    name: str | None,
    usual: Sequence[str],
    opened: dict[str, Mapping[str, Any]] | None = None,
) -> Matrix:
    """Return the matrix of that `name` in a file with this content; without a name the one called as is `usual`, or its only
    one.

    What has been read of files of Nastran, all of whose matrices are read at once, is kept in `opened`, by the file. Refuses a
    file in which it is not, and one that is not of the sort its suffix says.
    """
    label = f"file = {shown(Path(file).name)}"
    try:
        found = {} if opened is None else opened.get(file, {})
        found = found or _matrices_in(file, content, name)
        if opened is not None and Path(file).suffix.lower() in NASTRAN:
            opened[file] = found
    except PydanticCustomError:
        raise
    except Exception as error:  # whatever the library of a format raises of what is no such file
        said = str(error).partition("\n")[0] or type(error).__name__
        if "pickle" in said:  # NumPy takes for Python's objects, which are never read, whatever it does not know
            said = "it holds Python's objects, or is no such file"
        refuse(f"{label}: cannot be read as a {Path(file).suffix.lower()} file of matrices ({said})")
    if not found:
        refuse(f"{label}: has no matrix")
    by_lower = {key.lower(): matrix for key, matrix in found.items()}
    if name is not None and name.lower() not in by_lower:
        refuse(f"{label}: has no matrix {shown(name)}; {nearest(name, list(found))}")
    for key in [name] if name is not None else usual:
        if key.lower() in by_lower:
            return _numbers(by_lower[key.lower()], f"{label}, matrix {key!r}")
    if len(found) > 1:
        refuse(f"{label}: has {', '.join(found)}; which one must be stated, as matrix = ...")
    key, only = next(iter(found.items()))
    return _numbers(only, f"{label}, matrix {key!r}")


def _numbers(matrix: Any, label: str) -> Matrix:  # noqa: ANN401, of any library
    """Return a matrix in double precision; refuses what is none, or has numbers that are none."""
    from scipy.sparse import csc_matrix, issparse

    if issparse(matrix) and max(matrix.shape) > MOST_SIZE:
        rows, columns = matrix.shape
        refuse(f"{label}: is {rows} by {columns}; must be at most {MOST_SIZE} by {MOST_SIZE}")
    found: Any = csc_matrix(matrix, dtype=float) if issparse(matrix) else np.asarray(matrix)
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        refuse(f"{label}: must be a matrix of real numbers, is of shape {found.shape} and type {found.dtype}")
    if not np.isfinite(found.data if issparse(found) else found).all():
        refuse(f"{label}: has entries that are no finite numbers")
    return found if issparse(found) else found.astype(float)


def _matrices_in(file: str, content: bytes, name: str | None) -> Mapping[str, Any]:
    """Return the matrices in a file, by their names."""
    suffix = Path(file).suffix.lower()
    if suffix in NASTRAN:
        return _nastran_matrices(file, content, suffix)
    if suffix in MARKET:
        from scipy.io import mmread

        return {Path(file).stem: mmread(io.BytesIO(content))}
    if suffix == ".npy":
        return {Path(file).stem: np.load(io.BytesIO(content), allow_pickle=False)}
    _check_unpacked(file, content)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        if set(arrays) >= SPARSE:
            from scipy.sparse import load_npz

            return {Path(file).stem: load_npz(io.BytesIO(content))}
        return {
            key: arrays[key] for key in arrays if name is None or key.lower() == name.lower() or arrays[key].ndim == 2
        }


def _check_unpacked(file: str, content: bytes) -> None:
    """Refuse a file whose arrays are more than may be read, before any is unpacked."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        size = sum(one.file_size for one in packed.infolist())
    if size > MOST_UNPACKED:
        refuse(
            f"file = {shown(Path(file).name)}: holds {size / 1e9:.3g} GB; must hold {MOST_UNPACKED / 1e9:g} GB at most"
        )


def _check_sizes(file: str, sizes: Sequence[tuple[str, int, int]], sparse: bool = False) -> bool:
    """Refuse matrices of such `sizes`, name, rows and columns each, that would take more memory than may be; of those that may
    be kept `sparse`, return whether they would if they were full."""
    label = f"file = {shown(Path(file).name)}"
    for name, rows, columns in sizes:
        if not (0 <= rows <= MOST_SIZE and 0 <= columns <= MOST_SIZE):
            refuse(f"{label}, matrix {name!r}: is {rows} by {columns}; must be at most {MOST_SIZE} by {MOST_SIZE}")
    whole = sum(8 * rows * columns for _, rows, columns in sizes)
    if whole > MOST_UNPACKED and not sparse:
        refuse(f"{label}: has matrices of {whole / 1e9:.3g} GB; must have {MOST_UNPACKED / 1e9:g} GB at most")
    return whole > MOST_UNPACKED


def _op4_matrices(file: str, op4: Any) -> Mapping[str, Any]:  # noqa: ANN401, of pyYeti
    """Return the matrices of an OUTPUT4 file, by what its headers say of their sizes; those too large to be full as sparse."""
    names, sizes, *_ = op4.OP4().dir(file, verbose=False)
    stated = [(name, abs(rows), columns) for name, (rows, columns) in zip(names, sizes, strict=True)]
    large = _check_sizes(file, stated, sparse=True)
    return dict(op4.read(file, sparse=True if large else None))


def _op2_matrices(file: str, op2: Any) -> Mapping[str, Any]:  # noqa: ANN401, of pyYeti
    """Return the matrices of an OUTPUT2 file; refuses those whose trailers say more than may be read, before any is."""
    with op2.OP2(file) as opened:
        blocks = [block for block in opened.dblist if block.dbtype == 1]
        _check_sizes(  # of complex numbers both parts
            file,
            [(one.name, (2 if one.trailer[4] > 2 else 1) * one.trailer[2], one.trailer[1]) for one in blocks],
        )
        return dict(opened.rdop2mats())


def _punch_matrices(file: str, content: bytes, bulk: Any) -> Mapping[str, Any]:  # noqa: ANN401, of pyYeti
    """Return the matrices on the DMIG cards of a punch file; refuses those with more displacements than may be read, before any
    is made. No other file is read that it names."""
    text = content.decode("latin-1")
    places: dict[str, set[tuple[Any, Any]]] = {}
    cards = bulk.rdcards(io.StringIO(text), "dmig", return_var="list", blank="", follow_includes=False)
    if not cards:
        return {}
    for card in cards:
        own = places.setdefault(str(card[0]), set())
        if card[1]:  # a column; the first card of a matrix, with a zero there, says what it is
            own.add((card[1], card[2]))
            own.update(zip(card[4::4], card[5::4], strict=False))
    _check_sizes(file, [(name, len(own), len(own)) for name, own in places.items()])
    found = bulk.rddmig(io.StringIO(text), square=True, follow_includes=False)
    return {key: frame.to_numpy() for key, frame in found.items()}


def _nastran_matrices(file: str, content: bytes, suffix: str) -> Mapping[str, Any]:
    """Return the matrices in a file of Nastran, in its own order of rows."""
    try:
        with np.printoptions():  # its import has NumPy print twelve digits from then on
            from pyyeti.nastran import bulk, op2, op4
    except ImportError:
        refuse(f"file = {shown(Path(file).name)}: {NEEDED}")
    if suffix == ".op4":
        return _op4_matrices(file, op4)
    return _op2_matrices(file, op2) if suffix == ".op2" else _punch_matrices(file, content, bulk)

"""Components from files of Nastran, written and read by pyYeti."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from component_cases import docking
from finite_elements import boom, craig_bampton, frame_model
from mechanism_cases import momentum_error, simulated
from op2_file import write_op2
from pydantic_core import PydanticCustomError

from dockdyn.scenario.finite_elements.matrix_file import matrix_in
from dockdyn.scenario.finite_elements.model import MatrixFile, MatrixModel, modes_of_model

with np.printoptions():  # which it changes for the whole process
    pyyeti = pytest.importorskip("pyyeti")
    nastran = pytest.importorskip("pyyeti.nastran")


@pytest.fixture(scope="module")
def matrices():
    nodes, bars = boom(6, 3.0)
    found = frame_model(nodes, bars, lumps=[(0, 5.0, 0.5)])
    return craig_bampton(*found, np.arange(12), 5)[:2]


def read(file, name=None, role="mass"):
    return matrix_in(str(file), file.read_bytes(), name, ("mass", "MXX") if role == "mass" else ("stiffness", "KXX"))


@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
@pytest.mark.parametrize("sparse", ["dense", "bigmat"])
def test_an_op4_file_goes_round(tmp_path, matrices, binary, sparse):
    file = tmp_path / "vehicle.op4"
    nastran.op4.write(str(file), {"mxx": matrices[0], "kxx": matrices[1]}, binary=binary, sparse=sparse)
    for matrix, role in zip(matrices, ("mass", "stiffness"), strict=True):
        found = read(file, role=role)
        found = found.toarray() if hasattr(found, "toarray") else found
        np.testing.assert_allclose(found, matrix, rtol=0, atol=(1e-15 if binary else 1e-14) * np.abs(matrix).max())


def test_a_punch_file_goes_round(tmp_path, matrices):
    """As DMIG cards, of grids and scalar points."""
    import pandas as pd

    count = len(matrices[0]) - 12
    names = [(grid, dof) for grid in (101, 102) for dof in range(1, 7)] + [(901 + k, 0) for k in range(count)]
    index = pd.MultiIndex.from_tuples(names, names=["id", "dof"])
    frames = {
        name: pd.DataFrame(matrix, index=index, columns=index)
        for name, matrix in zip(("MXX", "KXX"), matrices, strict=True)
    }
    file = tmp_path / "vehicle.pch"
    nastran.bulk.wtdmig(str(file), frames)
    for matrix, role in zip(matrices, ("mass", "stiffness"), strict=True):
        np.testing.assert_allclose(read(file, role=role), matrix, rtol=0, atol=1e-8 * np.abs(matrix).max())


@pytest.mark.full
def test_a_docking_by_op4_is_that_by_npz(tmp_path, load):
    case = docking(tmp_path, up_to=20.0)
    case["duration"] = 0.2
    plain = simulated(load, case)
    for name in ("chaser", "target"):
        with np.load(tmp_path / f"{name}.npz") as arrays:
            nastran.op4.write(str(tmp_path / f"{name}.op4"), {"mxx": arrays["mass"], "kxx": arrays["stiffness"]})
        for key in ("mass_matrix", "stiffness_matrix"):
            case["body"][name]["flexible"][key] = {"file": str(tmp_path / f"{name}.op4")}
    data = simulated(load, case)
    np.testing.assert_allclose(data.position, plain.position, rtol=0, atol=1e-12)
    assert momentum_error(data) < 1e-10


@pytest.fixture(scope="module")
def shipped():
    """Files of Nastran that pyYeti comes with: external superelements reduced by Craig and Bampton's method."""
    folder = Path(pyyeti.__file__).parent / "tests" / "nas2cam_extseout"
    if not (folder / "inboard.op4").is_file():
        pytest.skip("pyyeti is without its own tests")
    return folder


def test_a_superelement_of_nastran_is_free(shipped):
    """Four grids, one with axes of its own, and eight modes, in inches and slinches: six rigid motions."""
    grids = [[600.0, 0.0, 300.0], [600.0, 300.0, 300.0], [600.0, 300.0, 0.0], [600.0, 0.0, 0.0]]
    file = str(shipped / "inboard.op4")
    model = MatrixModel(
        MatrixFile("mass", file, None),
        MatrixFile("stiffness", file, None),
        None,
        (MatrixFile("recovery", file, "mes1"),),
        0.0254,
        175.12683524647636,
        tuple(tuple(0.0254 * np.array(grid)) for grid in grids),
        tuple(tuple(np.eye(3)[turn].T.ravel()) for turn in ([0, 1, 2], [1, 2, 0], [0, 1, 2], [0, 1, 2])),
        (0, 6, 12, 18),
        0.0,
    )
    found = modes_of_model(model)
    assert found.holding < 1e-3 * found.frequency[0]
    assert len(found.frequency) == 32 - 6 - 1  # one coordinate has no mass
    assert found.counts.tolist() == [27]
    np.testing.assert_allclose(
        found.inertia[:3, :3], found.inertia[0, 0] * np.eye(3), rtol=0, atol=1e-5 * found.inertia[0, 0]
    )


def test_an_op2_file_goes_round(tmp_path, matrices):
    file = tmp_path / "model.op2"
    write_op2(file, {"MXX": matrices[0], "KXX": matrices[1], "ROOT": matrices[1][:2]})
    for name, matrix in (("MXX", matrices[0]), ("KXX", matrices[1]), ("ROOT", matrices[1][:2])):
        np.testing.assert_array_equal(read(file, name), matrix)


def test_an_op2_file_is_read(shipped):
    """A stiffness that Nastran wrote: in modal coordinates, rigid motions first."""
    file = shipped / "assemble.op2"
    stiffness = matrix_in(str(file), file.read_bytes(), "KHH", ())
    assert stiffness.shape == (54, 54)
    np.testing.assert_allclose(stiffness, np.diag(np.diag(stiffness)), rtol=0, atol=1e-6 * np.abs(stiffness).max())
    assert (np.diag(stiffness)[6:] > 1e3 * np.abs(np.diag(stiffness)[:6]).max()).all()


@pytest.mark.parametrize("suffix", [".op4", ".op2", ".pch", ".npz", ".mtx"])
def test_what_is_no_such_file_is_said_in_one_line(tmp_path, suffix):
    file = tmp_path / f"vehicle{suffix}"
    file.write_bytes(b"%%none of these " * 20)
    with pytest.raises(PydanticCustomError, match=r"cannot be read as|has no matrix") as refusal:
        read(file)
    assert "\n" not in str(refusal.value) and "unsafe" not in str(refusal.value)


def test_numbers_are_written_as_before_once_a_file_of_nastran_was_read(tmp_path):
    """In a process of its own, as pyYeti sets how NumPy prints when it is imported."""
    file = tmp_path / "vehicle.op4"
    nastran.op4.write(str(file), {"mgg": np.eye(3)})
    code = (
        "import sys; import numpy as np; from pathlib import Path\n"
        "from dockdyn.scenario.finite_elements.matrix_file import matrix_in\n"
        "file = sys.argv[1]; matrix_in(file, Path(file).read_bytes(), None, ())\n"
        "print(str(np.float64(0.1) + np.float64(0.2)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.30000000000000004"]


def test_a_size_beyond_any_model_is_refused_before_it_takes_memory(tmp_path):
    file = tmp_path / "vehicle.mtx"
    file.write_text("%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1.0\n")
    with pytest.raises(PydanticCustomError, match="must be at most"):
        read(file)


def test_an_archive_that_unpacks_to_more_than_may_be_read_is_refused_before(tmp_path):
    """It says 8 GB of itself, and is 200 bytes long."""
    file = tmp_path / "bomb.npz"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("mass.npy", b"x" * 64)
    content = bytearray(file.read_bytes())
    entry = content.index(b"PK\x01\x02")  # of the list at the end
    content[entry + 24 : entry + 28] = (4_100_000_000).to_bytes(4, "little")
    with pytest.raises(PydanticCustomError, match=r"holds 4.1 GB; must hold 4 GB at most"):
        matrix_in(str(file), bytes(content), "mass", ("mass",))


def test_an_op4_file_whose_header_says_more_than_it_holds_is_refused_before(tmp_path):
    file = tmp_path / "long.op4"
    nastran.op4.write(str(file), {"mass": np.eye(3)}, binary=True)
    content = np.fromfile(file, np.int32)
    assert content[0] == 24 and list(content[1:3]) == [3, 3]  # bytes of the header, columns, rows
    content[2] = 9_000_000
    content.tofile(file)
    with pytest.raises(PydanticCustomError, match=r"is 9000000 by 3; must be at most 5000000"):
        read(file, "mass")


def test_an_op2_file_whose_trailer_says_more_than_it_holds_is_refused_before(tmp_path, shipped):
    """Of a file that Nastran wrote the trailer of one matrix, columns and rows, is made larger; nothing else of it is."""
    content = bytearray((shipped / "assemble.op2").read_bytes())
    with nastran.op2.OP2(str(shipped / "assemble.op2")) as opened:
        trailer = opened.dbdct["KHH"][-1].trailer
    as_stored = np.array(trailer[:5], np.int32).tobytes()
    assert trailer[1:3] == (54, 54) and content.count(as_stored) >= 1
    for size, words in (
        (9_000_000, "is 9000000 by 54; must be at most 5000000"),
        (4_900_000, "must have 4 GB at most"),
    ):
        for columns in (54, size) if size < 5_000_000 else (54,):
            other = np.array([trailer[0], columns, size, *trailer[3:5]], np.int32).tobytes()
            file = tmp_path / f"long{size}{columns}.op2"
            file.write_bytes(bytes(content).replace(as_stored, other))
            if columns == 54 and size < 5_000_000:
                continue  # 2.1 GB: may be
            with pytest.raises(PydanticCustomError, match=words):
                matrix_in(str(file), file.read_bytes(), "KHH", ())


def dmig(name, pairs):
    """A punch file with one matrix in free fields: entries of columns and rows, each a grid and a displacement."""
    head = f"DMIG,{name},0,6,2,0\n"
    return head + "".join(f"DMIG,{name},{column},{k},,{row},{k},1.0\n" for column, row, k in pairs)


def test_a_punch_file_of_few_entries_that_make_a_large_matrix_is_refused_before(tmp_path):
    """Each entry on the diagonal has a displacement of its own: 1 MB of text would take 13 GB."""
    file = tmp_path / "wide.pch"
    file.write_text(dmig("KXX", [(grid, grid, 1) for grid in range(1, 40_001)]))
    with pytest.raises(
        PydanticCustomError, match=r"file = 'wide.pch': has matrices of 12.8 GB; must have 4 GB at most"
    ):
        read(file, "KXX")
    file.write_text(dmig("KXX", [(1, 1, 1), (2, 1, 1), (2, 2, 1)]))
    np.testing.assert_array_equal(read(file, "KXX"), [[1.0, 1.0], [1.0, 1.0]])


def test_a_punch_file_reads_no_other_one(tmp_path):
    """What it includes is not read: a scenario names the files that it needs."""
    other = tmp_path / "other.pch"
    other.write_text(dmig("KXX", [(1, 1, 1)]))
    file = tmp_path / "vehicle.pch"
    file.write_text(f"INCLUDE '{other}'\n")
    with pytest.raises(PydanticCustomError, match="has no matrix"):
        read(file, "KXX")

"""Files that are written whole or not at all: on full disks, too."""

import errno
import os
import subprocess
import sys

import pytest

from dockdyn.files import check_writable, replace_files, write_file, write_files
from dockdyn.results.store import write_result

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))  # what is beyond fails as on a full disk
from dockdyn.__main__ import main
main()
"""


def limited(most: int, folder, *arguments) -> subprocess.CompletedProcess:
    """A command whose files may have no more bytes; what it compiles is known, or would be too large to keep, too."""
    code = [sys.executable, "-c", LIMITED.format(most=most), *map(str, arguments)]
    return subprocess.run(code, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def result(shared_run, tmp_path_factory):
    file = tmp_path_factory.mktemp("written") / "result.nc"
    write_result(shared_run("paraskevas-latch"), file)
    return file


@pytest.fixture
def full(monkeypatch):
    """A disk that is found to be full as what was written is brought to it."""

    def fails(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dockdyn.files.os.fsync", fails)


def contents(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def old(tmp_path):
    found = {"x/result.nc": b"old data", "x/scenario.toml": b"old scenario", "x/report.html": b"old report"}
    (tmp_path / "x").mkdir()
    for name, content in found.items():
        (tmp_path / name).write_bytes(content)
    return found


@pytest.mark.full
def test_a_disk_that_fills_keeps_the_old_result(old, tmp_path):
    """HDF5, which wrote to the disk itself, ended the process there with a segmentation fault."""
    done = limited(4000, tmp_path, "run", "paraskevas-latch", "--out", "x", "--force", "--quiet")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "error: x: file too large" and "Traceback" not in done.stderr
    assert contents(tmp_path) == old


def test_a_full_disk_keeps_the_old_result(old, full, dock, tmp_path):
    ended = dock("run", "paraskevas-latch", "--out", "x", "--force")
    assert (ended.returncode, ended.stderr) == (3, "error: x: no space left on device\n")
    assert contents(tmp_path) == old


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("export {} --to csv --out new/csv", "new/csv/"),
        ("export {} --to mat --out new/result.mat", "new/result.mat"),
        ("init probe-cone new/mine.toml", "new/mine.toml"),
        ("identify plan new/sweep.csv", "new/sweep.csv"),
        pytest.param("report {} --out new/page.html", "new/page.html", marks=pytest.mark.full),
        pytest.param("view {} --html new/page.html", "new/page.html", marks=pytest.mark.full),
        pytest.param("reproduce paraskevas --table 1 --out new", "new", marks=pytest.mark.full),
    ],
)
def test_a_full_disk_leaves_nothing_half(command, what, result, full, dock, tmp_path):
    ended = dock(*command.format(result).split())
    assert ended.returncode == 3, ended.stderr
    told = ended.stderr.splitlines()[-1]
    assert told.startswith(f"error: {what}") and told.endswith(": no space left on device")
    assert contents(tmp_path) == {} and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("run probe-cone --out {}", "file/in"),
        ("run probe-cone --out {}", "/proc/new"),
        ("stability sits --out {}", "file/in"),
        ("compare sits --out {}", "file/in"),
        (
            "envelope probe-cone --set requirements.peak_force=<5 --of peak_force --over body.chaser.mass=1:2 --out {}",
            "file/in",
        ),
        ("sensitivity probe-cone --of captured --out {}", "file/in"),
        ("reproduce sits --out {}", "file/in"),
        ("identify robot log.csv --out {}", "file/in"),
        ("identify plan {}/sweep.csv", "file/in"),
        ("init probe-cone {}/mine.toml", "file/in"),
    ],
)
def test_a_folder_that_cannot_be_made_is_noticed_before_anything_is_computed(
    command, folder, dock, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("dockdyn.programs.Program.__call__", lambda *_: pytest.fail("something is computed"))
    ended = dock(*command.format(folder).split())
    ended.check_refused(folder, ": cannot be written to (")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_looked_at_is_left_as_it_was(tmp_path):
    check_writable(tmp_path / "deep" / "er")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    check_writable(tmp_path / "there" / "more")
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


@pytest.mark.full
def test_a_device_is_written_to_as_it_is(dock, result):
    ended = dock("export", result, "--to", "mat", "--out", "/dev/full", "--force")
    assert (ended.returncode, ended.stderr) == (3, "error: /dev/full: no space left on device\n")
    assert dock("export", result, "--to", "mat", "--out", "/dev/null", "--force").returncode == 0
    assert not os.path.isfile("/dev/null")
    command = [sys.executable, "-m", "dockdyn", "init", "probe-cone", "/dev/stdout", "--force"]
    piped = subprocess.run(command, capture_output=True, text=True, cwd=result.parent)
    assert piped.returncode == 0, piped.stderr
    assert 'title = "' in piped.stdout


def test_files_that_belong_together_come_together(tmp_path, monkeypatch):
    first, second = tmp_path / "a", tmp_path / "b"
    write_files({first: "old", second: b"old"})
    synced = []

    def fails_at_the_second(_):
        synced.append(True)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dockdyn.files.os.fsync", fails_at_the_second)
    with pytest.raises(OSError, match="No space left") as failed:
        write_files({first: "new", second: b"new"})
    assert failed.value.filename == str(tmp_path)
    assert contents(tmp_path) == {"a": b"old", "b": b"old"}


def test_an_error_of_the_writer_leaves_what_was_there(tmp_path):
    write_file(tmp_path / "a", "old")
    with pytest.raises(ZeroDivisionError), replace_files(tmp_path / "a", tmp_path / "deep/b") as (file, _):
        file.write(b"new")
        1 / 0  # noqa: B018
    assert contents(tmp_path) == {"a": b"old"} and not (tmp_path / "deep").exists()


def test_a_link_goes_on_pointing_to_its_file(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"

"""What the cache keeps is used only where it is what this user's own processes have written; else it is made again."""

import ctypes
import errno
import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.contact.surfaces.distance_field import NODES
from dockdyn.scenario.language.units import _registry, convert
from dockdyn.scenario.meshes.brick_tree import MOST
from dockdyn.scenario.meshes.kept import AT_ONCE, MOST_KEPT
from dockdyn.translate import c_library
from dockdyn.translate.c_library import compile_texts

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
STRANGER = 54321  # no user's number
KEPT = bytes(range(256)) * 40


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(c_library, "_beside", {})
    kept._say_once.cache_clear()
    return cache_folder() / "c"


def answer(number):
    """The number that a library in C gives, which the cache may hold."""
    library = ctypes.CDLL(str(compile_texts({"a.c": f"int answer(void) {{ return {number}; }}"}, "-shared", "-fPIC")))
    return library.answer()


def damaged(content, how, draw):
    """Content that is not what it was."""
    at = draw.randrange(len(content))
    changed = bytes([content[at] ^ (1 << draw.randrange(8))])
    return {
        "cut": content[:at],
        "flipped": content[:at] + changed + content[at + 1 :],
        "longer": content + b"\0" * draw.randrange(1, 5000),
        "emptied": b"",
        "random": draw.randbytes(len(content)),
    }[how]


@pytest.mark.parametrize("how", ["cut", "flipped", "longer", "emptied", "random"])
def test_no_damage_goes_unseen(place, how):
    draw = random.Random(how)
    for size in (1, 7, 4000):
        content = draw.randbytes(size)
        file = kept.keep_entry(place, "one", content)
        whole = file.read_bytes()
        for _ in range(20):
            file.write_bytes(damaged(whole, how, draw))
            assert kept.find_entry(place, "one") is None
        file.write_bytes(whole)
        assert kept.find_entry(place, "one") == content


@needs_compiler
@pytest.mark.parametrize("how", ["cut", "flipped", "emptied"])
def test_a_damaged_object_is_compiled_again(place, how):
    assert answer(42) == 42
    (file,) = place.iterdir()
    whole, draw = file.read_bytes(), random.Random(how)
    for _ in range(3):
        file.unlink()  # what is loaded from it stays
        file.write_bytes(damaged(whole, how, draw))
        assert answer(42) == 42
        assert file.read_bytes() == whole and stat.S_IMODE(file.stat().st_mode) == stat.S_IRWXU


@needs_compiler
def test_an_object_under_the_name_of_another_is_compiled_again(place):
    assert answer(1) == 1
    (one,) = place.iterdir()
    theirs = one.read_bytes()
    assert answer(2) == 2
    other = next(file for file in place.iterdir() if file != one)
    other.unlink()
    other.write_bytes(theirs)
    assert answer(2) == 2


def by_link(file):
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def by_pipe(file):
    file.unlink()
    os.mkfifo(file)


STRANGE = {
    "writable by the group": (lambda file: file.chmod(0o720), "others may write to it"),
    "writable by all": (lambda file: file.chmod(0o702), "others may write to it"),
    "of another user": (lambda file: os.chown(file, STRANGER, -1), "belongs to another user"),
    "a link": (by_link, "is a link"),
    "a pipe": (by_pipe, ""),
}


@pytest.mark.parametrize("how", [pytest.param(how, marks=as_root if "user" in how else ()) for how in STRANGE])
def test_what_is_not_this_users_alone_is_not_used_but_replaced(place, how, capsys):
    change, words = STRANGE[how]
    file = kept.keep_entry(place, "one", KEPT)
    change(file)
    assert kept.find_entry(place, "one") is None and kept.find_entry(place, "one") is None
    told = capsys.readouterr().err
    assert told.count("\n") == bool(words) and words in told
    assert kept.keep_entry(place, "one", KEPT) == file and kept.find_entry(place, "one") == KEPT
    assert file.is_file() and not file.is_symlink()


def folders(place):
    return [kept.cache_root(), place.parent, place]


@as_root
@pytest.mark.parametrize("level", range(3))
def test_folders_of_another_user_are_left_alone(place, level, capsys):
    kept.keep_entry(place, "one", KEPT)
    os.chown(folders(place)[level], STRANGER, -1)
    assert kept.find_entry(place, "one") is None and kept.keep_entry(place, "one", b"more") is None
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "belongs to another user" in told
    assert (place / "one").read_bytes().startswith(KEPT)


@pytest.mark.parametrize("level", range(3))
def test_folders_that_are_links_are_left_alone(place, level, capsys, tmp_path):
    kept.keep_entry(place, "one", KEPT)
    folder = folders(place)[level]
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert kept.find_entry(place, "one") is None and kept.keep_entry(place, "one", b"more") is None
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "is a link" in told


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
@pytest.mark.parametrize("level", range(3))
def test_folders_that_others_may_write_to_are_emptied_and_closed(place, level, mode, capsys):
    kept.keep_entry(place, "one", KEPT)
    folder = folders(place)[level]
    (folder / "xla").write_bytes(b"from anywhere")
    folder.chmod(mode)
    assert kept.find_entry(place, "one") is None
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "others may write to it" in told
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU and not (folder / "xla").exists()
    assert kept.keep_entry(place, "one", KEPT) and kept.find_entry(place, "one") == KEPT


def test_folders_and_files_are_this_users_whatever_the_umask(place):
    before = os.umask(0)
    try:
        kept.keep_entry(place, "one", KEPT)
    finally:
        os.umask(before)
    for made in (*folders(place), place / "one"):
        assert stat.S_IMODE(made.stat().st_mode) == stat.S_IRWXU


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device", "one")


@needs_compiler
@pytest.mark.parametrize("how", ["full", "a file in its place", "of another user"])
def test_where_nothing_can_be_kept_all_is_made(place, how, monkeypatch):
    if how == "full":
        monkeypatch.setattr(kept, "write_file", no_room)
    elif how == "a file in its place":
        place.parent.mkdir(parents=True)
        place.write_text("a file")
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert (answer(5), answer(5), answer(6)) == (5, 5, 6)
    assert not place.is_dir() or not list(place.iterdir())


@needs_compiler
def test_the_folder_of_objects_is_bounded(place, monkeypatch):
    answer(0)
    size = sum(file.stat().st_size for file in place.iterdir())
    monkeypatch.setattr(kept, "LARGEST", 4 * size)
    for number in range(1, 8):
        assert answer(number) == number
        assert sum(file.stat().st_size for file in place.iterdir()) <= 4 * size


def test_a_folder_of_large_entries_has_room_of_its_own(place, monkeypatch):
    monkeypatch.setattr(kept, "LARGEST", 1500)
    large = {name: name.encode() * 500 for name in ("aa", "bb", "cc")}
    for name, content in large.items():
        kept.keep_entry(place, name, content, 6000)
    assert {name: kept.find_entry(place, name) for name in large} == large
    kept._unseen.pop(place)  # as of another process
    kept.keep_entry(place, "dd", b"dd")
    assert kept.find_entry(place, "dd") == b"dd" and kept.find_entry(place, "aa") is None


def test_all_fields_of_a_scenario_stay_kept_beside_each_other():
    """However fine they are, up to as many as a process holds; they were made again in every run."""
    of_a_field = MOST * (8 * NODES**3 + 4 * 8)  # bytes: coefficients, and numbers of children
    assert of_a_field < kept.LARGEST
    assert AT_ONCE * of_a_field < (1 - 1 / kept.SHARE) * MOST_KEPT


def test_threads_that_keep_the_same_leave_it_sound(place):
    wrong = []

    def work():
        for _ in range(40):
            kept.keep_entry(place, "one", KEPT)
            if kept.find_entry(place, "one") != KEPT:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and [file.name for file in place.iterdir()] == ["one"]


@pytest.mark.full
@needs_compiler
def test_processes_that_compile_the_same_all_have_it(place):
    program = "from test_kept import answer; print([answer(n) for n in (3, 4, 5)])"
    here = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ | here)
        for _ in range(4)
    ]
    assert [each.communicate()[0] for each in running] == [b"[3, 4, 5]\n"] * 4
    assert len(list(place.iterdir())) == 3


def test_damaged_units_are_made_again(place):
    _registry.cache_clear()
    assert convert("3 ft", "m") == pytest.approx(0.9144, rel=1e-12)
    (file,) = (kept.cache_root() / "units").iterdir()
    content = file.read_bytes()
    assert b"pickle" in content, "what Pint would run"
    file.write_bytes(content.replace(b"pickle", b"pickles"))
    _registry.cache_clear()
    convert.cache_clear()
    assert convert("3 ft", "m") == pytest.approx(0.9144, rel=1e-12)
    assert file.read_bytes() == content or len(file.read_bytes()) == len(content)
    _registry.cache_clear()

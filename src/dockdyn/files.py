"""Files that are there whole or not at all: whatever ends the process, or fills the disk, what was there before stays."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk is full, a quota or a limit used up
unfinished: set[Path] = set()  # what this process is writing; removed by what ends it


class UnfitFile(OSError):
    """Something that is no regular file, or a larger one than what is asked for can be."""


def regular_file(path: str | Path, most: int, links: bool = True) -> BufferedReader:
    """Open a regular file of at most so many bytes for reading; it is asked before, so that nothing hangs or has no end.

    Raises UnfitFile for a device, a pipe, a socket, a folder and for one that is larger, `OSError` where there is none or it
    may not be read, or, without `links`, for a symbolic link.
    """
    try:
        _check_fit(path, os.stat(path, follow_symlinks=links), most)
        way = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
        opened = os.open(path, way)
    except ValueError as error:  # a character that no path has
        raise UnfitFile(errno.EINVAL, f"is no path ({error})", str(path)) from None
    try:
        _check_fit(path, os.fstat(opened), most)  # it may have been exchanged
        return open(path, "rb", opener=lambda name, flags: opened)  # named as it was asked for
    except BaseException:
        os.close(opened)
        raise


def read_file(path: str | Path, most: int) -> bytes:
    """Read a regular file of at most so many bytes; raises as `regular_file`, also where more comes than its size says."""
    with regular_file(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnfitFile(errno.EINVAL, f"holds more than {in_words(most)}", str(path))
    return content


def check_file(path: str | Path, most: int) -> None:
    """Raise as `regular_file` does, for a file that a library opens by its name."""
    regular_file(path, most).close()


def _check_fit(path: str | Path, found: os.stat_result, most: int) -> None:
    """Refuse what is no regular file, or too large."""
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFLNK: "link"}
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        number = errno.ELOOP if kind == stat.S_IFLNK else errno.EINVAL
        words = "is a folder" if kind == stat.S_IFDIR else f"is a {kinds.get(kind, 'device')}, no regular file"
        raise UnfitFile(number, words, str(path))
    if found.st_size > most:
        raise UnfitFile(errno.EINVAL, f"is too large, {in_words(found.st_size)}", str(path))


def in_words(size: int) -> str:
    """Say a size in bytes with its unit, as 16 MB."""
    for unit, bytes_of_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_of_it:
            return f"{size / bytes_of_it:.4g} {unit}"
    return f"{size} bytes"


def why_unread(error: OSError) -> str:
    """Say why a file was not read: that there is none, what it is instead, or what the system says."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return str(error.strerror) if isinstance(error, UnfitFile) else f"cannot be read ({error.strerror})"


def write_file(path: str | Path, content: str | bytes, mode: int | None = None) -> None:
    """Write one file; an earlier one is replaced only by a complete new one. Raises `OSError` with its name.

    `mode` says who may do what with it; None: what the system gives new files.
    """
    write_files({Path(path): content}, mode)


def write_files(contents: Mapping[Path, str | bytes], mode: int | None = None) -> None:
    """Write several files that belong together: none is replaced before all are on the disk."""
    with replace_files(*contents, mode=mode) as files:
        for file, content in zip(files, contents.values(), strict=True):
            file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replace_files(*paths: str | Path, mode: int | None = None) -> Iterator[list[BinaryIO]]:
    """Yield files to write to, which come to their `paths` when the block ends without an error, and vanish otherwise.

    They are written beside their places, brought to the disk and renamed; folders that are missing are made. What is no
    regular file, a device or a pipe, is written to as it is. Raises `OSError` with the file's name, or the folder's of
    several: disk full, not allowed.
    """
    given, token = [Path(path) for path in paths], secrets.token_hex(4)  # threads, and computers, may write the same
    places = [path if is_special(path) else path.resolve() for path in given]  # a link goes on pointing to its file
    parts = [place if is_special(place) else _part_of(place, token, os.getpid()) for place in places]
    own = {part for part, place in zip(parts, places, strict=True) if part != place}
    made = [folder for place in places for folder in place.parents if not folder.exists()]
    unfinished.update(own)
    try:
        with contextlib.ExitStack() as stack:
            files: list[BinaryIO] = []
            for part in parts:
                part.parent.mkdir(parents=True, exist_ok=True)
                files.append(stack.enter_context(part.open("wb")))
                if mode is not None and part in own:
                    os.fchmod(files[-1].fileno(), mode)
            yield files
            for file, part in zip(files, parts, strict=True):
                file.flush()
                if part in own:
                    os.fsync(file.fileno())
        for part, place in zip(parts, places, strict=True):
            if part in own:
                os.replace(part, place)
        for folder in {part.parent for part in own}:
            with contextlib.suppress(OSError):  # the files are there, whether the folder can be read or not
                _keep_names(folder)
    except OSError as error:
        if error.filename is None or error.filename in map(str, parts):
            error.filename = str(paths[0] if len(paths) == 1 else Path(paths[0]).parent)
        raise
    finally:
        for left in own:
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()
        unfinished.difference_update(own)


def _part_of(place: Path, token: str, process: int) -> Path:
    """Return where a process, by its number, writes a file that shall come to a place."""
    return place.with_name(f".{place.name}.{token}.{process}.part")


def parts_left(place: Path, process: int) -> list[Path]:
    """Return what a process, by its number, has begun to write of a file that should have come to a place, the newest last."""
    found = place.parent.glob(f".{glob.escape(place.name)}.*.{process}.part")
    return sorted(found, key=lambda part: part.stat().st_mtime_ns)


def check_writable(folder: Path) -> None:
    """Try to make a folder and to write into it, and leave all as it was. Raises `OSError` where that fails."""
    import tempfile

    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    finally:
        for each in made:
            with contextlib.suppress(OSError):  # it could not be made, or holds something
                each.rmdir()


def is_special(path: Path) -> bool:
    """Return whether there is something that is neither a regular file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _keep_names(folder: Path) -> None:
    """Bring the names in a folder to the disk, so that they stay when the power fails."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def remove_unfinished() -> None:
    """Remove what this process has not written to the end, and folders that it needs no longer than it lasts."""
    for part in list(unfinished):
        for _ in range(3):  # another thread may just be putting something into a folder
            if part.is_dir() and not part.is_symlink():
                shutil.rmtree(part, ignore_errors=True)
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def remove_folder(folder: Path) -> Iterator[Path]:
    """Remove a folder with all that is in it when the block ends, also where a signal ends the process."""
    unfinished.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.discard(folder)


def describe_failure(error: OSError) -> str:
    """Return a file that cannot be written or read, and why, in one line."""
    words = (error.strerror or str(error)).lower() if error.errno in FULL else error.strerror
    return f"{error.filename}: {words}" if error.filename else str(error)

"""What the user's cache keeps from one process to the next: each entry is checked before it is used, and made again if wrong.

An entry is run as machine code, or a rig moves by it. So it must be what was written under its name, by this user: the file
ends in a checksum of name and content, and neither it nor a folder above it is another's, a link, or open to others.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import sys
import time
from functools import cache
from pathlib import Path

from dockdyn.files import is_special, regular_file, write_file
from dockdyn.installed import version

LARGEST = 512 * 2**20  # bytes of an entry, and by default of a folder, whose oldest entries go first
SHARE = 64  # the folder is looked through when a process has written one of so many parts of that
ABANDONED = 86400  # s, after which what a process has begun to write and not finished is nobody's
SEAL = hashlib.sha256().digest_size
OTHERS = stat.S_IWGRP | stat.S_IWOTH
FOREIGN = "belongs to another user"
OPEN = "others may write to it"
_unseen: dict[Path, int] = {}  # bytes that this process has written into a folder since it was looked through


def cache_root() -> Path:
    """Return the folder of all that is kept, of every machine and version; for a user without home, one that cannot be."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dockdyn"
    except RuntimeError:
        return Path(os.devnull) / "dockdyn"


def find_entry(place: Path, name: str) -> bytes | None:
    """Return what a folder of the cache keeps under a name; None where there is nothing, or nothing sound of this user."""
    if not is_usable(place):
        return None
    file = place / name
    try:
        with regular_file(file, LARGEST, links=False) as opened:
            found = os.fstat(opened.fileno())
            if why := FOREIGN if found.st_uid != os.geteuid() else OPEN if found.st_mode & OTHERS else "":
                _say_once(f"{file}: {why}; it is not used, but made again")
                return None
            whole = opened.read()
            with contextlib.suppress(OSError):
                os.utime(opened.fileno())
    except OSError as error:
        if error.errno == errno.ELOOP:
            _say_once(f"{file}: is a link; it is not used, but made again")
        return None
    content = whole[:-SEAL]
    return content if whole[-SEAL:] == _entry_checksum(name, content) else None


def keep_entry(place: Path, name: str, content: bytes, most: int | None = None) -> Path | None:
    """Keep content under a name and return its file, which can be loaded or run as it is; None where that cannot be done.

    The oldest entries go where the folder has more than `most` bytes, by default `LARGEST`.
    """
    most = LARGEST if most is None else most
    if not is_usable(place):
        return None
    file = place / name
    try:
        if file.is_symlink() or is_special(file):  # written to as what they are, they would not be replaced
            file.unlink()
        write_file(file, content + _entry_checksum(name, content), mode=stat.S_IRWXU)
        _unseen[place] = _unseen.get(place, most) + len(content)  # the first time, whatever others have left
        if SHARE * _unseen[place] >= most:
            _unseen[place] = 0
            _bound_folder(place, most)
    except OSError:  # a full or read-only disk: the next process makes it again
        return None
    return file


@cache
def makers_of(folder: Path, libraries: tuple[str, ...]) -> str:
    """Return what tells the modules of a folder that make something, and the libraries that they use where these are installed,
    from other versions of them."""
    digest = hashlib.sha256(repr([(one, _version_of(one)) for one in libraries]).encode())
    for file in sorted(folder.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _version_of(library: str) -> str:
    """Return the version of a library; nothing of one that is not installed."""
    try:
        return version(library)
    except ModuleNotFoundError:
        return ""


def is_usable(place: Path) -> bool:
    """Tell whether a folder of the cache is this user's alone; it is made where it is missing.

    One that others may write to is emptied and closed to them; any other that is not this user's alone is left as it is.
    Both are said, once.
    """
    top = cache_root()
    above = [folder for folder in reversed(place.parents) if folder == top or top in folder.parents]
    return all(map(_is_own, (*above, place)))


def _is_own(folder: Path) -> bool:
    """Tell whether a folder is this user's alone, after it was made or closed to others."""
    try:
        folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    except OSError:
        if not folder.is_symlink():  # one that leads nowhere is said below
            return False
    found = os.lstat(folder)
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid():
        why = "is a link" if stat.S_ISLNK(found.st_mode) else FOREIGN
        _say_once(
            f"{folder}: {why}; nothing is kept in it, so that all is compiled again; remove it, or set XDG_CACHE_HOME"
        )
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    try:
        if stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
            folder.chmod(stat.S_IRWXU)
        if found.st_mode & OTHERS:
            _say_once(f"{folder}: {OPEN}; what it held is removed and compiled again")
            _empty_folder(folder)
    except OSError:  # on a disk that cannot be written to, what only its owner could write is still good
        return not found.st_mode & OTHERS
    return True


def _empty_folder(folder: Path) -> None:
    """Remove all that is in a folder. Raises OSError where something stays."""
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside)
        else:
            inside.unlink(missing_ok=True)


@cache
def _say_once(words: str) -> None:
    """Say a line on the error stream, once a process."""
    print(f"warning: {words}", file=sys.stderr)


def _entry_checksum(name: str, content: bytes) -> bytes:
    """Return the checksum of an entry."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _bound_folder(place: Path, most: int) -> None:
    """Remove the entries of a folder that were not used for longest, where there are too many with what may come before it
    is looked through again, and what killed processes have left."""
    found, now = [], time.time()
    for file in place.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes it
            state = file.lstat()
            if not file.name.startswith("."):
                found.append((state.st_mtime_ns, state.st_size, file))
            elif now - state.st_mtime > ABANDONED:
                file.unlink()
    total = sum(size for _, size, _ in found)
    for _, size, file in sorted(found):
        if SHARE * total <= (SHARE - 1) * most:
            return
        with contextlib.suppress(OSError):  # a folder is nothing of ours
            file.unlink(missing_ok=True)
            total -= size

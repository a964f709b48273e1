"""The archive that an FMU is, asked before anything of it is unpacked: it may have been made to do harm."""

from __future__ import annotations

import contextlib
import io
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from dockdyn.files import in_words, regular_file, remove_folder, why_unread
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import FMU, check_given

UNPACKED = 2_000_000_000  # bytes of an FMU
MOST_PARTS = 20_000  # files in it
AT_ONCE = 8_000_000  # bytes that are read of it at once, as its table of contents is
DESCRIPTION = "modelDescription.xml"
MOST_DESCRIPTION = 50_000_000  # bytes, unpacked
MOST_ELEMENTS = 500_000  # of its description: some 2 kB each as fmpy has them
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)  # as FMI has it: part of names of functions in C
LOADED = 1  # PT_LOAD, of a segment in ELF


class _Bounded(io.BufferedReader):
    """A file of which no more is read at once than an honest archive asks for, whatever length the archive states."""

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, or what is left up to the bound. Raises `BadZipFile` where that is too much."""
        if size is not None and size > AT_ONCE:
            raise zipfile.BadZipFile(f"its table of contents holds more than {in_words(AT_ONCE)}")
        return super().read(AT_ONCE if size is None or size < 0 else size)


@contextlib.contextmanager
def open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """Open the archive of an FMU that has been asked.

    Raises ScenarioError for what is no ZIP file, is damaged, holds something other than files and folders under names of their
    own, a path that leads out of it, or would be too large when unpacked; and for whatever is found wrong with the archive as
    long as the block lasts.
    """
    check_given(file, str(file), FMU)
    try:
        with _Bounded(regular_file(file, FMU.most).detach()) as given, zipfile.ZipFile(given) as archive:
            _check_parts(archive, file)
            yield archive
    except ScenarioError:
        raise
    except OSError as error:
        raise unreadable_fmu(file, why_unread(error)) from None
    except Exception as error:  # what zipfile and the libraries that unpack come to has no class of its own
        raise unreadable_fmu(file, error) from None


@contextlib.contextmanager
def unpack_fmu(file: Path) -> Iterator[Path]:
    """Unpack an FMU into a folder of its own that is there as long as the block lasts, also where a signal ends it.

    Raises ScenarioError as `open_archive` does, and for a description that is none.
    """
    with contextlib.ExitStack() as stack:
        with open_archive(file) as archive:
            _check_description(archive, file)
            folder = stack.enter_context(remove_folder(Path(tempfile.mkdtemp(prefix="dockdyn-fmu-"))))
            archive.extractall(folder)
        yield folder


def text_in(file: Path, name: str, most: int) -> str | None:
    """Return the text of a file in an FMU; None where there is none of so many bytes at most in UTF-8.

    Raises ScenarioError as `open_archive` does.
    """
    with open_archive(file) as archive:
        if name not in archive.namelist() or archive.getinfo(name).file_size > most:
            return None
        with contextlib.suppress(UnicodeDecodeError):
            return archive.read(name).decode()
    return None


def unreadable_fmu(file: Path, why: object) -> ScenarioError:
    """Return what is said of a file that is no FMU."""
    words = str(why).partition("\n")[0] or type(why).__name__
    return ScenarioError(f"{file}: is no FMU that can be read: {words}")


def _check_parts(archive: zipfile.ZipFile, file: Path) -> None:
    """Refuse parts that are too many, too large, or whose names are not those of files of their own in one folder."""
    parts = archive.infolist()
    size = sum(part.file_size for part in parts)  # more of it than it states is never read
    if size > UNPACKED or len(parts) > MOST_PARTS:
        words = f"holds {len(parts)} files of {in_words(size)}, unpacked"
        raise ScenarioError(f"{file}: {words}; must be at most {MOST_PARTS}, of {in_words(UNPACKED)}")
    known: dict[str, str] = {}
    for part in parts:
        name, steps = part.orig_filename, PurePosixPath(part.orig_filename).parts
        if name.startswith("/") or ".." in steps or "\\" in name or ":" in name or "\0" in name or not steps:
            raise ScenarioError(f"{file}: holds the path {shown(name)}, which leads out of it")
        kind = stat.S_IFMT(part.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            words = "a link" if kind == stat.S_IFLNK else "a device"
            raise ScenarioError(f"{file}: holds {shown(name)}, which is {words}; must be files and folders alone")
        if part.flag_bits & 1:
            raise ScenarioError(f"{file}: holds {shown(name)}, which is encrypted")
        plain = unicodedata.normalize("NFC", str(PurePosixPath(name))).casefold()
        if plain in known:
            words = f"holds {shown(known[plain])} and {shown(name)}, which are one file on some systems"
            raise ScenarioError(f"{file}: {words}; must be names of their own")
        known[plain] = name


def _check_description(archive: zipfile.ZipFile, file: Path) -> None:
    """Refuse a description that is missing, too large, no description of FMI, or refers to something else."""
    if DESCRIPTION not in archive.namelist():
        raise ScenarioError(f"{file}: is no FMU: has no {DESCRIPTION}")
    if (size := archive.getinfo(DESCRIPTION).file_size) > MOST_DESCRIPTION:
        words = f"its {DESCRIPTION} has {in_words(size)}; must be at most {in_words(MOST_DESCRIPTION)}"
        raise ScenarioError(f"{file}: {words}")
    reader, count = expat.ParserCreate(), 0

    def refuse(words: str) -> None:
        raise ScenarioError(f"{file}: line {reader.CurrentLineNumber} of its {DESCRIPTION} {words}")

    def begin(name: str, stated: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count == 1 and not (name == "fmiModelDescription" and "fmiVersion" in stated):
            refuse("must begin fmiModelDescription with its fmiVersion")
        if count > MOST_ELEMENTS:
            refuse(f"goes beyond {MOST_ELEMENTS} elements; must be at most that")
        if not IDENTIFIER.fullmatch(stated.get("modelIdentifier", "a")):
            words = "must be a letter or _, then letters, digits and _"
            refuse(f"has modelIdentifier = {shown(stated['modelIdentifier'])}; {words}")

    def declare(*_: Any) -> None:  # noqa: ANN401, as expat calls it
        refuse("has a DOCTYPE, which can refer to other files or grow without end; must be without")

    reader.StartElementHandler, reader.StartDoctypeDeclHandler = begin, declare
    try:
        with archive.open(DESCRIPTION) as content:
            while piece := content.read(1 << 16):
                reader.Parse(piece)
            reader.Parse(b"", True)
    except expat.ExpatError as error:
        raise ScenarioError(f"{file}: its {DESCRIPTION} is no XML: {error}") from None


def check_library(path: Path, label: str) -> None:
    """Refuse a library that is not in ELF, or is cut off: to load one ends the process. Raises ScenarioError.

    Source: Tool Interface Standard, Executable and Linking Format, version 1.2; its 64-bit form as in `elf.h`.
    """
    with path.open("rb") as file:
        head, size = file.read(64), path.stat().st_size
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            raise ScenarioError(f"{label}: is no library for 64-bit Linux (ELF)")
        order = "<" if head[5] == 1 else ">"
        (table,), (each, count) = struct.unpack_from(f"{order}Q", head, 32), struct.unpack_from(f"{order}HH", head, 54)
        file.seek(min(table, size))
        rows = file.read(each * count)
    ends = [table + each * count]
    if len(rows) == each * count and each >= 56:
        for place in range(0, len(rows), each):
            kind, _, offset, _, _, length = struct.unpack_from(f"{order}IIQQQQ", rows, place)
            ends += [offset + length] if kind == LOADED else []
    if max(ends) > size or each < 56:
        raise ScenarioError(f"{label}: is a library that is cut off, or damaged")

"""FMUs that were made to do harm: one line for each, nothing written outside, nothing left behind, in bounded memory."""

import io
import os
import random
import re
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
import tomlkit
from fmu_files import autopilot_fmu, needs_compiler, shown_on
from typer.testing import CliRunner

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.results.exchange.fmu_instance import Fmu, findings_of

pytest.importorskip("fmpy")
DESCRIBED = "modelDescription.xml"
LIBRARY = "binaries/linux64/autopilot.so"
DAMAGED = 200  # archives in `make test`
MANY = 3000  # in `make verify`
ROOT = '<fmiModelDescription fmiVersion="2.0" modelName="a" guid="b">'
LAUGHS = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26"))
SECONDS = 20.0  # of a processor
QUICK = ("the path ../x", "a library that is cut off")  # commands that `make test` runs


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder and, beside it, one for temporary files; neither has anything new in the end but the case itself."""
    for name in ("work", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield tmp_path / "work"
    assert Path.cwd() == tmp_path / "work"
    found = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")}
    assert found <= {"work", "temporary", "work/hostile.fmu", "work/case.toml"}


def described() -> str:
    return shown_on("tutorial-fmu", DESCRIBED)


def archive(*parts: tuple[str | zipfile.ZipInfo, bytes | str], description: str | bytes | None = None) -> bytes:
    """An FMU's description and some parts besides, whatever their names."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as made:
        if description != b"":
            made.writestr(DESCRIBED, description or described())
        for name, content in parts:
            made.writestr(name, content, zipfile.ZIP_DEFLATED)
    return memory.getvalue()


def of_mode(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def with_field(content: bytes, offset: int, form: str, value: int, name: bytes = b"sources/a.c") -> bytes:
    """An archive whose table of contents says something else of a part."""
    changed = bytearray(content)
    struct.pack_into(form, changed, content.rindex(name) - 46 + offset, value)
    return bytes(changed)


def with_end(content: bytes, offset: int, form: str, value: int) -> bytes:
    """An archive whose last record says something else of its table of contents."""
    changed = bytearray(content)
    struct.pack_into(form, changed, content.rindex(b"PK\5\6") + offset, value)
    return bytes(changed)


def bombs(depth: int) -> bytes:
    content = b"\0" * 10_000_000
    for level in range(depth):
        content = archive((f"{level}.zip", content))
    return content


PATHS = ["../x", "../../x", "a/../../x", "/x", "//x", "C:/x", "C:x", "a\\..\\..\\x", "..\\x", "..", "./../x", "nul:"]
PLAIN = archive(("sources/a.c", b"int a;" * 1000))
OUT = "which leads out of it"
HOSTILE = {  # large ones are made when they are asked for
    **{f"the path {path}": (archive((path, b"x")), OUT) for path in PATHS},
    "a name with a zero": (PLAIN.replace(b"sources/a.c", b"sources/\0.c"), OUT),
    "a symbolic link": (archive((of_mode("binaries", stat.S_IFLNK | 0o777), "/tmp")), "'binaries', which is a link"),
    "a link, then a file in it": (
        archive((of_mode("a", stat.S_IFLNK | 0o777), "/tmp"), ("a/x", b"x")),
        "which is a link",
    ),
    "a device": (archive((of_mode("resources/d", stat.S_IFCHR | 0o666), b"")), "which is a device"),
    "a name twice, one of them with a dot": (archive((f"./{DESCRIBED}", described())), "names of their own"),
    "names that differ by case": (archive((DESCRIBED.upper(), "x")), "'modelDescription.xml' and 'MODELDESCRIPTION.XML'"),
    "one letter in two ways": (archive(("\u00e4", "x"), ("a\u0308", "y")), "names of their own"),
    "a file that is a folder": (archive(("a", b"x"), ("a/b", b"x")), "is no FMU that can be read"),
    "a name that is too long": (archive(("a" * 300, b"x")), "File name too long"),
    "an encrypted part": (with_field(PLAIN, 8, "<H", 1), "'sources/a.c', which is encrypted"),
    "strong encryption": (with_field(PLAIN, 8, "<H", 0x40), "is no FMU that can be read"),
    "an unknown compression": (with_field(PLAIN, 10, "<H", 99), "is no FMU that can be read"),
    "another compression": (with_field(PLAIN, 10, "<H", zipfile.ZIP_LZMA), "is no FMU that can be read"),
    "a size beyond": (with_field(PLAIN, 24, "<I", 0xFFFFFFF0), "holds 2 files of 4.295 GB, unpacked"),
    "a size that is less": (with_field(PLAIN, 24, "<I", 5), "Bad CRC-32"),
    "64 bits that are missing": (with_field(PLAIN, 24, "<I", 0xFFFFFFFF), "holds 2 files of 4.295 GB, unpacked"),
    "a place elsewhere": (with_field(PLAIN, 42, "<I", 10**6), "is no FMU that can be read"),
    "two that overlap": (with_field(PLAIN, 42, "<I", 0), "is no FMU that can be read"),
    "a table as large as 4 GB": (with_end(PLAIN, 12, "<I", 0xFFFFFFF0), "is no FMU that can be read"),
    "a table elsewhere": (with_end(PLAIN, 16, "<I", 0), "is no FMU that can be read"),
    "cut off": (PLAIN[:-30], "is no FMU that can be read"),
    "300 MB of zeros, said to be few": (
        lambda: with_field(archive(("sources/a.c", bytes(300_000_000))), 24, "<I", 10),
        "Bad CRC-32",
    ),
    "bombs in bombs": (lambda: bombs(4), "is of FMI|it has sources alone"),
    "many parts": (lambda: archive(*((f"a{k}", b"") for k in range(20_001))), "must be at most 20000"),
    "no description": (archive(description=b""), "has no modelDescription.xml"),
    "an empty description": (archive((DESCRIBED, b""), description=b""), "is no XML: no element found"),
    "a description that is no XML": (archive(description="binaries"), "is no XML: syntax error"),
    "another root": (archive(description="<a fmiVersion='2.0'/>"), "must begin fmiModelDescription"),
    "no version": (archive(description=ROOT.replace(' fmiVersion="2.0"', "") + "</fmiModelDescription>"), "must begin fmi"),
    "entities that grow": (archive(description=f'<!DOCTYPE a [<!ENTITY e0 "ha">{LAUGHS}]>{ROOT}&e11;</fmiModelDescription>'),
                           "line 1 of its modelDescription.xml has a DOCTYPE"),
    "an entity elsewhere": (
        archive(description=f'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///dev/zero">]>{ROOT}&e;</fmiModelDescription>'),
        "has a DOCTYPE",
    ),
    "a definition elsewhere": (archive(description=f'<!DOCTYPE a SYSTEM "/dev/zero">{ROOT}</fmiModelDescription>'),
                               "has a DOCTYPE"),
    "a model elsewhere": (
        archive(description=described().replace('modelIdentifier="autopilot"', 'modelIdentifier="../../../x/evil"')),
        "has modelIdentifier = '../../../x/evil'; must be a letter or _",
    ),
    "elements without end": (
        lambda: archive(description=f"{ROOT}{'<a/>' * 500_000}</fmiModelDescription>"),
        "beyond 500000 elements",
    ),
    "elements in elements": (
        lambda: archive(description=f"{ROOT}{'<a>' * 100_000}{'</a>' * 100_000}</fmiModelDescription>"),
        "is no FMU that can be read",
    ),
    "a long description": (
        lambda: archive(description=f"{ROOT}{' ' * 50_000_001}</fmiModelDescription>"),
        "must be at most 50 MB",
    ),
    "a library that is none": (archive((LIBRARY, b"MZ" + bytes(5000))), "is no library for 64-bit Linux"),
    "a library that is short": (archive((LIBRARY, b"\x7fELF")), "is no library for 64-bit Linux"),
    "a library that is cut off": (
        archive((LIBRARY, Path(sys.executable).resolve().read_bytes()[:10_000])),
        "is a library that is cut off, or damaged",
    ),
}  # fmt: skip


def case(folder: Path) -> None:
    """A scenario that the FMU steers."""
    wires = {"inputs": {"speed": "velocity.chaser.x"}, "outputs": {"force": "force.x"}}
    control = {"law": "fmu:hostile.fmu", "period": 0.125, "thruster_force": 15.0, **wires}
    changes = {"control": control, "duration": 0.25}
    (folder / "case.toml").write_text(tomlkit.dumps(dockdyn.load("probe-cone", changes).resolved()))


def refusal(*command: str) -> str:
    """The one line that a command ends with."""
    said = CliRunner().invoke(cli.app, list(command)).exception
    assert isinstance(said, dockdyn.ScenarioError), said
    assert str(said).isprintable() and len(str(said)) < 500 and "hostile.fmu" in str(said)
    return str(said)


def opened(file: Path) -> None:
    """Do what commands do before they run an FMU."""
    findings_of(file)
    with Fmu(file) as fmu:
        fmu.check_runs_here()
        fmu.check_libraries()


@pytest.mark.full_cases("300 MB of zeros, said to be few")
@pytest.mark.skipif(sys.platform != "linux", reason="loads libraries as Linux does")
@pytest.mark.parametrize(("content", "words"), HOSTILE.values(), ids=HOSTILE)
def test_each_is_one_line_and_leaves_nothing(content, words, place):
    (place / "hostile.fmu").write_bytes(content() if callable(content) else content)
    begun = time.process_time()
    with pytest.raises(dockdyn.ScenarioError, match=words) as told:
        opened(place / "hostile.fmu")
    assert str(told.value).isprintable() and len(str(told.value)) < 500
    assert time.process_time() - begun < SECONDS


@pytest.mark.full_cases("a library that is cut off")
@pytest.mark.skipif(sys.platform != "linux", reason="loads libraries as Linux does")
@pytest.mark.parametrize(
    ("content", "words"),
    [pytest.param(*HOSTILE[name], id=name, marks=[pytest.mark.full] * (name not in QUICK)) for name in HOSTILE],
)
def test_every_command_that_opens_it_says_so(content, words, place):
    case(place)
    (place / "hostile.fmu").write_bytes(content() if callable(content) else content)
    assert re.search(words, refusal("run", "case.toml", "--trust", "--quiet", "--out", "x"))
    refusal("fmu", "check", "hostile.fmu", "probe-cone", "--set", "duration=0.25", "--quiet")
    refusal("fmu", "check", "hostile.fmu", "--quiet")


def damaged(content: bytes, draw: random.Random) -> bytes:
    """An archive with bytes changed, lost, repeated or from another place; most often where it says what is in it."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        table = content.find(b"PK\1\2")
        first = draw.choice((0, 0, max(table, 0)))
        at, length = draw.randrange(first, len(content)), draw.choice((1, 1, 2, 4, 30))
        other = draw.randrange(len(content))
        put = [draw.randbytes(length), b"", content[other : other + length], b"\xff" * length, bytes(length)]
        content = content[:at] + draw.choice(put) + content[at + draw.choice((0, length, length)) :]
    return content


def outcome_of_damaged(count: int, seed: int, place: Path) -> None:
    """Whatever is changed of an archive, it is an FMU or one line."""
    whole = archive((LIBRARY, Path(sys.executable).resolve().read_bytes()[:3000]), ("sources/a.c", b"int a;" * 40))
    file, refused = place / "hostile.fmu", 0
    for number in range(count):
        file.write_bytes(damaged(whole, random.Random(f"{seed}.{number}")))
        try:
            opened(file)
        except dockdyn.ScenarioError as error:
            refused += 1
            assert str(error).startswith(f"{file}: ") and str(error).isprintable(), (number, error)
        except Exception as error:
            pytest.fail(f"archive {number} of seed {seed}: {error!r}")
        assert not list((place.parent / "temporary").iterdir()), number
    assert refused > count / 2


def test_what_is_damaged_is_an_fmu_or_one_line(place):
    outcome_of_damaged(DAMAGED, SEED, place)


@pytest.mark.full
def test_much_more_that_is_damaged(place):
    outcome_of_damaged(MANY, SEED + 1, place)


TAKES = """
import resource, sys
from dockdyn import ScenarioError
from dockdyn.results.exchange.fmu_instance import Fmu
from pathlib import Path
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    Fmu(Path(sys.argv[1])).__enter__()
except ScenarioError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.full
def test_a_table_of_a_million_names_takes_no_memory(place):
    """Each of its names is an object in memory as soon as the archive is opened."""
    begins = PLAIN.index(b"PK\1\2")
    table = PLAIN[begins : begins + 46 + len(DESCRIBED)] * 1_000_000
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(table), begins, 0)
    (place / "hostile.fmu").write_bytes(PLAIN[:begins] + table + end)
    ended = subprocess.run([sys.executable, "-c", TAKES, "hostile.fmu"], capture_output=True, text=True, check=True)
    said, grown = ended.stdout.splitlines()
    assert "its table of contents holds more than 8 MB" in said
    assert int(grown) < 150_000  # kB


@pytest.mark.full
@needs_compiler
def test_one_that_is_interrupted_leaves_nothing(tmp_path, place):
    """A signal ends the process at once: what it has unpacked goes before."""
    slow = autopilot_fmu(tmp_path / "temporary", source={"it->integral += length * error;": "for (;;) ;"})
    slow.rename(place / "hostile.fmu")
    for each in (tmp_path / "temporary").iterdir():
        each.unlink()
    case(place)
    command = [sys.executable, "-m", "dockdyn", "run", "case.toml", "--trust", "--quiet", "--out", "x"]
    ours = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ours)
    begun = time.monotonic()
    while not list((tmp_path / "temporary").glob("*/binaries/*/*.so")) and time.monotonic() - begun < 100:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=100)[1]
    assert said.startswith("error: terminated; Simulating case.toml had taken ") and said.count("\n") == 1
    assert process.returncode == 143

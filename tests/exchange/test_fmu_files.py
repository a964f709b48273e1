"""What is in an FMU: sources that any compiler takes, a library that needs no Python; and what `dockdyn fmu` says."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fmu_files import GCC, needs_compiler
from typer.testing import CliRunner

import dockdyn
from dockdyn.cli.common import Refusal
from dockdyn.cli.main import app
from dockdyn.exchange.compiled import platforms_named, this_platform
from dockdyn.exchange.fmu import fmu_of, unit_of
from dockdyn.results.exchange.fmu_instance import Fmu
from dockdyn.scenario.language.errors import ScenarioError

STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -Wno-unused -O0 -ffp-contract=off".split()


def dock(*words):
    """What a command prints, or the refusal that it ends with."""
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=True)


def unpacked(file, folder):
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.full_cases("latch_fmu")
@needs_compiler
@pytest.mark.parametrize("which", ["cone_fmu", "latch_fmu"])
def test_sources_are_c99_without_a_warning(which, request, tmp_path):
    folder = unpacked(request.getfixturevalue(which).file, tmp_path) / "sources"
    sources = sorted(file.name for file in folder.glob("*.c"))
    subprocess.run([GCC, *STRICT, "-c", *sources], cwd=folder, check=True)
    assert {"model.c", "unit.c"} < set(sources)


@pytest.mark.full_cases("3")
@needs_compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_sources_of_model_exchange_are_too(fmi, tmp_path):
    scenario = dockdyn.load("probe-cone", {"loop.delay": 0.0})
    (tmp_path / "one.fmu").write_bytes(fmu_of(unit_of(scenario, integrated=False), fmi, with_library=False))
    folder = unpacked(tmp_path / "one.fmu", tmp_path) / "sources"
    sources = sorted(file.name for file in folder.glob("*.c") if file.name != "model.c")
    subprocess.run([GCC, *STRICT, "-c", *sources], cwd=folder, check=True)
    assert sources == [f"fmi{fmi}.c", f"fmi{fmi}_motion.c", "motion.c", "unit.c"]


@needs_compiler
def test_the_library_needs_no_python(cone_fmu, tmp_path):
    folder = unpacked(cone_fmu.file, tmp_path)
    library = next(folder.glob("binaries/*/*"))
    assert library.parent.name == this_platform().tuple_of_fmi_3
    if sys.platform == "linux":
        shown = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True)
        assert "Py" not in shown.stdout
    assert library.stat().st_size < 500_000


@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="loads libraries as Linux does")
def test_a_host_in_c_finds_the_same_bits(cone_fmu, tmp_path):
    folder = unpacked(cone_fmu.file, tmp_path)
    here = Path(__file__).with_name("host.c")
    subprocess.run([GCC, "-std=gnu99", here, "-ldl", "-o", tmp_path / "host"], check=True)
    names, value, step, count = ["position.chaser.x", "work", "rate.target.z"], 1900.0, 0.25, 60
    with Fmu(cone_fmu.file) as fmu:
        one = fmu.instance({"body.chaser.mass": value})
        references = [one.known[name].valueReference for name in ("body.chaser.mass", *names)]
        for index in range(count):
            one.step_to((index + 1) * step)
        expected = one.read(names)
        one.close()
        token = fmu.description.guid
    library = next(folder.glob("binaries/*/*"))
    given = [token, references[0], value, step, count, *references[1:]]
    done = subprocess.run([tmp_path / "host", library, *map(str, given)], capture_output=True, text=True, check=True)
    assert [float.fromhex(line) for line in done.stdout.split()] == expected.tolist()


@pytest.mark.full
@needs_compiler
def test_a_command_writes_what_another_checks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrote = dock("fmu", "export", "probe-cone", "--set", "duration=2 s")
    assert wrote.exit_code == 0 and "Wrote probe-cone.fmu: FMI 3.0, " in wrote.output
    checked = dock("fmu", "check", "probe-cone.fmu", "--json")
    found = json.loads(checked.output)
    assert checked.exit_code == 0 and found["findings"] == [] and found["end"] == 2.0
    assert max(one["difference"] / max(one["largest"], 1.0) for one in found["differences"]) < 1e-9
    text = dock(
        "fmu", "check", "probe-cone.fmu", "probe-cone", "--set", "body.chaser.mass=1700", "--set", "duration=1"
    ).output
    assert "The validator of fmpy finds nothing." in text and "kinetic_energy" in text
    again = dock("fmu", "export", "probe-cone")
    assert isinstance(again.exception, Refusal) and "probe-cone.fmu: exists; give --force" in str(again.exception)


@pytest.mark.full
def test_variables_have_units_starts_and_bounds(tmp_path):
    file = tmp_path / "cone.fmu"
    assert dock("fmu", "export", "probe-cone", "--sources-only", "--out", file).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        assert not [name for name in archive.namelist() if name.startswith("binaries")]
        fixed = archive.read("documentation/fixed.txt").decode().split()
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    found = {one.get("name"): one for one in root.iter("Float64")}
    mass = found["body.chaser.mass"]
    assert (
        mass.attrib | {"unit": "kg", "start": "1800.0", "causality": "parameter", "variability": "fixed"} == mass.attrib
    )
    assert float(mass.get("min")) == 0.0 and float(found["loop.delay"].get("start")) == 0.016
    assert found["outside_force.chaser.x"].get("causality") == "input"
    units = {one.get("name"): one.find("BaseUnit").attrib for one in root.iter("Unit")}
    assert units["N*s/m"] == {"kg": "1", "s": "-1"} and units["rad/s"] == {"rad": "1", "s": "-1"}
    assert {"duration", "integrator.tolerance"} <= set(fixed) and "body.chaser.mass" not in fixed


def test_what_cannot_be_done_is_said_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "no-such-compiler")
    done = dock("fmu", "export", "probe-cone")
    assert isinstance(done.exception, ScenarioError) and "CC = no-such-compiler: is no program" in str(done.exception)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no C compiler" in str(dock("fmu", "export", "probe-cone").exception)
    assert not list(tmp_path.glob("*.fmu"))
    assert "nothing.fmu" in str(dock("fmu", "check", "nothing.fmu").exception)
    (tmp_path / "text.fmu").write_text("no archive")
    for more in ((), ("probe-cone",)):
        assert "text.fmu: is no FMU that can be read" in str(dock("fmu", "check", "text.fmu", *more).exception)
    with zipfile.ZipFile("other.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", "<a/>")
    assert "other.fmu: has no scenario of dockdyn inside" in str(dock("fmu", "check", "other.fmu").exception)
    monkeypatch.setitem(sys.modules, "fmpy", None)
    words = str(dock("fmu", "check", "text.fmu", "probe-cone").exception)
    assert words == "text.fmu: needs the package fmpy; pip install 'dockdyn[fmu]'"


def test_a_platform_that_nothing_compiles_for_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = str(dock("fmu", "export", "probe-cone", "--platform", "x86_64-window").exception)
    assert words == "--platform x86_64-window: did you mean 'x86_64-windows'?"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = str(dock("fmu", "export", "probe-cone", "--platform", "x86_64-windows").exception)
    assert words == "--platform x86_64-windows: needs the package ziglang; pip install 'dockdyn[platforms]'"


HEADS = {  # what files begin with: ELF of x86-64 and of ARM, a DOS stub, Mach-O of x86-64 and of ARM
    "x86_64-linux": (b"\x7fELF", 18, b"\x3e\x00"),
    "aarch64-linux": (b"\x7fELF", 18, b"\xb7\x00"),
    "x86_64-windows": (b"MZ", 0, b""),
    "x86_64-darwin": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "aarch64-darwin": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
}


@pytest.mark.full
@pytest.mark.parametrize("fmi", [2, 3])
def test_libraries_for_other_platforms_have_their_formats(fmi, tmp_path):
    pytest.importorskip("ziglang", reason="the extra platforms is not installed")
    unit = unit_of(dockdyn.load("sits"))
    (tmp_path / "sits.fmu").write_bytes(fmu_of(unit, fmi, False, platforms_named(list(HEADS))))
    folder = unpacked(tmp_path / "sits.fmu", tmp_path)
    for one in platforms_named(list(HEADS)):
        start, place, processor = HEADS[one.tuple_of_fmi_3]
        head = (folder / "binaries" / one.folder(fmi) / f"sits{one.ending}").read_bytes()[:64]
        assert head.startswith(start) and head[place : place + len(processor)] == processor, one

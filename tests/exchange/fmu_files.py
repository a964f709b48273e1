"""What tests of FMUs share: a C compiler, and FMUs of presets."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from places import DOCS

import dockdyn
from dockdyn.exchange.fmu import fmu_of, unit_of
from dockdyn.results.functional_unit import FunctionalUnit
from dockdyn.scenario.load import Scenario

NOTHING: Mapping[str, str] = MappingProxyType({})
GCC = shutil.which("gcc")
needs_compiler = pytest.mark.skipif(GCC is None, reason="no C compiler here")


class Exported(NamedTuple):
    """A scenario and its FMU."""

    scenario: Scenario
    unit: FunctionalUnit
    file: Path


def exported(preset: str, fmi: int, folder: Path, overrides: dict | None = None, integrated: bool = True) -> Exported:
    """The FMU of a preset."""
    scenario = dockdyn.load(preset, overrides)
    unit = unit_of(scenario, integrated)
    file = folder / f"{preset}.fmu"
    file.write_bytes(fmu_of(unit, fmi))
    return Exported(scenario, unit, file)


def shown_on(page: str, name: str) -> str:
    """The text of a file that a page shows."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:c|xml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block.startswith((f"/* {name} */\n", f"<!-- {name} -->\n")):
            return block
    raise LookupError(name)


def autopilot_fmu(
    folder: Path,
    description: Mapping[str, str] = NOTHING,
    source: Mapping[str, str] = NOTHING,
    platform: str = "linux64",
) -> Path:
    """The FMU of the tutorial, which dockdyn has not made, with texts of its description and its source replaced."""
    texts = {name: shown_on("tutorial-fmu", name) for name in ("autopilot.c", "modelDescription.xml")}
    for name, changes in (("autopilot.c", source), ("modelDescription.xml", description)):
        for old, new in changes.items():
            assert old in texts[name], old
            texts[name] = texts[name].replace(old, new)
    (folder / "autopilot.c").write_text(texts["autopilot.c"])
    library, file = folder / "autopilot.so", folder / "autopilot.fmu"
    subprocess.run([str(GCC), "-std=c99", "-O1", "-fPIC", "-shared", "-o", library, folder / "autopilot.c"], check=True)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", texts["modelDescription.xml"])
        archive.write(library, f"binaries/{platform}/autopilot.so")
    return file

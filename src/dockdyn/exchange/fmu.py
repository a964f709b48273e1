"""A scenario as an FMU: a ZIP file with a description, sources, a library for this platform and the scenario itself."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from dockdyn.exchange.compiled import Platform, c_compiler, compile_library, this_platform
from dockdyn.exchange.description import UnitDescription, build_description, description_2, description_3
from dockdyn.exchange.model_text import HEADER, TEXT, write_model
from dockdyn.results.functional_unit import FunctionalUnit, Steps
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named

Fmi = Literal[2, 3]
SHARED = ("unit.c", "unit.h", "variables.h")
FMI_FILES = ("fmi{}.c", "fmi{}.h")
STEPS, MOTION = ("steps.c", "steps.h", "fmi{}_steps.c"), ("motion.c", "motion.h", "fmi{}_motion.c")
OLDEST = (1980, 1, 1, 0, 0, 0)  # of the files inside: the same scenario makes the same FMU
INSIDE = "documentation/scenario.toml"
FIXED = "documentation/fixed.txt"


def unit_of(scenario: Scenario, integrated: bool = True) -> FunctionalUnit:
    """Return what another program advances of a scenario; it is `integrated` inside (co-simulation), or by that program (model
    exchange). Raises ScenarioError for what cannot be an FMU."""
    return setup_named(scenario.setup).functional_unit(scenario, integrated)


def computer_of(scenario: Scenario) -> FunctionalUnit:
    """Return what another program advances of a rig's computer. Raises ScenarioError for what has none, or cannot be an FMU."""
    return setup_named(scenario.setup).computer_unit(scenario)


def fmu_of(unit: FunctionalUnit, fmi: Fmi = 3, with_library: bool = True, others: Sequence[Platform] = ()) -> bytes:
    """Return the FMU of a unit, for a version of FMI, with libraries for this platform and for `others`. Raises
    ScenarioError."""
    if with_library:
        c_compiler()  # said before the model is written, which takes longest
    identifier = identifier_of(unit.scenario)
    written = unit.scenario.text()
    sort = f"{type(unit.goes_on).__name__} {[one.name for one in unit.inputs]}"
    token = hashlib.sha256(f"{fmi} {sort} {written}".encode()).hexdigest()[:32]
    model = write_model(unit, token)
    own = STEPS if isinstance(unit.goes_on, Steps) else MOTION
    names = [*SHARED, *(name.format(fmi) for name in (*FMI_FILES, *own))]
    sources = {name: _read_source(name) for name in names} | {TEXT: model.text, HEADER: model.header}
    compiled = sorted(name for name in sources if name.endswith(".c"))
    described = UnitDescription(unit, identifier, token, compiled)
    content: dict[str, str | bytes] = {f"sources/{name}": text for name, text in sources.items()}
    content |= {INSIDE: written, FIXED: "".join(f"{key}\n" for key in unit.fixed)}
    if fmi == 3:
        content["modelDescription.xml"] = description_3(described)
        content["sources/buildDescription.xml"] = build_description(described)
    else:
        content["modelDescription.xml"] = description_2(described)
    if with_library:
        content |= _compile_library(sources, identifier, fmi)
    for other in others:
        content |= _compile_library(sources, identifier, fmi, other)
    return _zip_files(content)


def identifier_of(scenario: Scenario) -> str:
    """Return the scenario's name as C and file systems take it."""
    name = re.sub(r"\W", "_", Path(scenario.name).stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"model_{name}"


def _read_source(name: str) -> str:
    return (files("dockdyn.exchange") / "sources" / name).read_text()


def _compile_library(
    sources: Mapping[str, str], identifier: str, fmi: int, other: Platform | None = None
) -> dict[str, bytes]:
    """Return the library for this platform, or for an `other` one, by its place in the FMU."""
    place = this_platform() if other is None else other
    name = f"{identifier}{place.ending}"
    with tempfile.TemporaryDirectory() as folder:
        for source, text in sources.items():
            (Path(folder) / source).write_text(text)
        library = Path(folder) / name
        compile_library([Path(folder) / source for source in sources if source.endswith(".c")], library, other)
        return {f"binaries/{place.folder(fmi)}/{name}": library.read_bytes()}


def _zip_files(content: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP file of these files."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(content.items()):
            archive.writestr(zipfile.ZipInfo(name, OLDEST), data, zipfile.ZIP_DEFLATED)
    return memory.getvalue()

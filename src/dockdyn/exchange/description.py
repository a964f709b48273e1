"""modelDescription.xml of a functional unit, as FMI 3.0 and FMI 2.0 have it.

Source: Functional Mock-up Interface 3.0, chapters 2.4 and 4; 2.0.4, chapters 2.2 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dockdyn.installed import version
from dockdyn.records import record
from dockdyn.results.functional_unit import Flow, FunctionalUnit
from dockdyn.scenario.language.units import base_units

ERRORS = "logStatusError"  # the one category of messages
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'


class Variable(NamedTuple):
    """One number that another program sees."""

    name: str
    causality: str
    words: str = ""
    unit: str = ""
    start: float | None = None
    least: float = -math.inf
    most: float = math.inf
    flag: bool = False
    of: str = ""  # the state of which it is the rate
    guard: bool = False  # whether it indicates events

    @property
    def variability(self) -> str:
        return "fixed" if self.causality == "parameter" else "discrete" if self.flag else "continuous"

    def name_attributes(self, reference: int) -> dict[str, str]:
        """Return what it is called, and what it is."""
        found = {"name": self.name, "valueReference": str(reference), "description": self.words}
        return found | {"causality": self.causality, "variability": self.variability}

    def values(self) -> dict[str, str]:
        """Return unit, start and bounds."""
        found = {} if self.unit in ("", "1") else {"unit": self.unit}
        bounds = {"min": self.least, "max": self.most}
        found |= {name: repr(bound) for name, bound in bounds.items() if math.isfinite(bound)}
        return found if self.start is None else found | {"start": repr(self.start)}


@record
class UnitDescription:
    """What both descriptions say: a unit under the names of its files and of its binary."""

    unit: FunctionalUnit
    identifier: str
    token: str
    sources: Sequence[str]

    def variables(self) -> list[Variable]:
        """Return all variables in the order of their value references."""
        return list(_unit_variables(self.unit))

    def head(self) -> dict[str, str]:
        scenario = self.unit.scenario
        return {
            "modelName": scenario.title,
            "description": f"{scenario.title} ({scenario.setup})",
            "generationTool": f"dockdyn {version('dockdyn')}",
            "variableNamingConvention": "flat",
        }

    def experiment(self) -> dict[str, str]:
        stop = float(self.unit.scenario.content.duration)
        return {"startTime": "0.0", "stopTime": repr(stop), "stepSize": repr(self.unit.step)}


def _unit_variables(unit: FunctionalUnit) -> Iterator[Variable]:
    yield Variable("time", "independent", "time", "s")
    for place in unit.numbers:
        limits = place.limits
        bounds = max(limits.least, limits.above), min(limits.most, limits.below)
        yield Variable(place.key, "parameter", "number of the scenario", place.unit, place.value, *bounds)
    for given in unit.inputs:
        yield Variable(given.name, "input", given.words, given.unit, 0.0)
    for output in unit.outputs:
        yield Variable(output.name, "output", output.words, output.unit, flag=output.flag)
    if isinstance(unit.goes_on, Flow):
        for name in unit.goes_on.names:
            yield Variable(f"state {name}", "local", "what is integrated")
        for name in unit.goes_on.names:
            yield Variable(f"der(state {name})", "local", "its rate", of=f"state {name}")
        for index in range(unit.goes_on.guards):
            yield Variable(f"guard {index}", "local", "rises through zero at an event", guard=True)


def description_3(described: UnitDescription) -> bytes:
    """Return the description of FMI 3.0."""
    versions = {"fmiVersion": "3.0", "instantiationToken": described.token}
    root = Element("fmiModelDescription", versions | described.head())
    _add_kind(root, described, "canGetAndSetFMUState", "canSerializeFMUState")
    variables = described.variables()
    _add_units(root, variables)
    SubElement(SubElement(root, "LogCategories"), "Category", name=ERRORS)
    SubElement(root, "DefaultExperiment", described.experiment())
    listed = SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        own = {"derivative": str(_place_of(variables, variable.of))} if variable.of else {}
        SubElement(
            listed,
            "Boolean" if variable.flag else "Float64",
            variable.name_attributes(reference) | own | variable.values(),
        )
    structure = SubElement(root, "ModelStructure")
    outputs, states, rates, guards = (list(map(str, places)) for places in _variable_places(variables))
    for output in outputs:
        SubElement(structure, "Output", {"valueReference": output} | _output_dependencies(described.unit))
    for rate in rates:
        SubElement(structure, "ContinuousStateDerivative", valueReference=rate)
    for unknown in [*outputs, *states, *rates]:
        SubElement(structure, "InitialUnknown", valueReference=unknown)
    for guard in guards:
        SubElement(structure, "EventIndicator", valueReference=guard)
    return _write_xml(root)


def description_2(described: UnitDescription) -> bytes:
    """Return the description of FMI 2.0."""
    versions = {"fmiVersion": "2.0", "guid": described.token}
    guards = sum(variable.guard for variable in described.variables())
    counted = {"numberOfEventIndicators": str(guards)} if guards else {}
    root = Element("fmiModelDescription", versions | counted | described.head())
    kind = _add_kind(root, described, "canGetAndSetFMUstate", "canSerializeFMUstate")
    files = SubElement(kind, "SourceFiles")
    for name in described.sources:
        SubElement(files, "File", name=name)
    variables = described.variables()
    _add_units(root, variables)
    SubElement(SubElement(root, "LogCategories"), "Category", name=ERRORS)
    SubElement(root, "DefaultExperiment", described.experiment())
    listed = SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        own = {"derivative": str(_place_of(variables, variable.of) + 1)} if variable.of else {}
        scalar = SubElement(listed, "ScalarVariable", variable.name_attributes(reference))
        SubElement(scalar, "Boolean" if variable.flag else "Real", own | variable.values())
    structure = SubElement(root, "ModelStructure")
    outputs, states, rates, _ = ([str(place + 1) for place in places] for places in _variable_places(variables))
    listed = SubElement(structure, "Outputs")
    for output in outputs:
        SubElement(listed, "Unknown", {"index": output} | _output_dependencies(described.unit))
    listed = SubElement(structure, "Derivatives") if rates else listed
    for rate in rates:
        SubElement(listed, "Unknown", index=rate)
    listed = SubElement(structure, "InitialUnknowns")
    for unknown in [*outputs, *states, *rates]:
        SubElement(listed, "Unknown", index=unknown)
    return _write_xml(root)


def build_description(described: UnitDescription) -> bytes:
    """Return buildDescription.xml of FMI 3.0: which files are compiled, and how."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = SubElement(root, "BuildConfiguration", modelIdentifier=described.identifier)
    files = SubElement(configuration, "SourceFileSet", language="C99", compilerOptions="-ffp-contract=off")
    for name in described.sources:
        SubElement(files, "SourceFile", name=name)
    SubElement(configuration, "Library", name="m")
    return _write_xml(root)


def _output_dependencies(unit: FunctionalUnit) -> dict[str, str]:
    """Return on what outputs depend at an instant: of a unit that integrates itself, where no input acts at once, on
    nothing."""
    return {} if unit.feedthrough or isinstance(unit.goes_on, Flow) else {"dependencies": ""}


def _add_kind(root: Element, described: UnitDescription, *can: str) -> Element:
    """Return what it is for, co-simulation or model exchange, and that it `can` do this."""
    kind, more = "ModelExchange", dict.fromkeys(can, "true")
    if not isinstance(described.unit.goes_on, Flow):
        kind, more = "CoSimulation", {"canHandleVariableCommunicationStepSize": "true"} | more
    return SubElement(root, kind, {"modelIdentifier": described.identifier} | more)


def _place_of(variables: Sequence[Variable], name: str) -> int:
    return next(place for place, variable in enumerate(variables) if variable.name == name)


def _variable_places(variables: Sequence[Variable]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the places of outputs, states, their rates, and guards."""
    numbered = list(enumerate(variables))
    rates = [place for place, variable in numbered if variable.of]
    return (
        [place for place, variable in numbered if variable.causality == "output"],
        [_place_of(variables, variables[place].of) for place in rates],
        rates,
        [place for place, variable in numbered if variable.guard],
    )


def _add_units(root: Element, variables: Sequence[Variable]) -> None:
    """Add the units of all variables, each with its powers of base units where these are whole."""
    listed = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(variable.values().get("unit") for variable in variables):
        if unit is None:
            continue
        powers = base_units(unit)
        defined = SubElement(listed, "Unit", name=unit)
        if powers and all(power == int(power) for power in powers.values()):
            SubElement(defined, "BaseUnit", {name: str(int(power)) for name, power in powers.items()})


def _write_xml(root: Element) -> bytes:
    indent(root)
    return DECLARATION + tostring(root, encoding="utf-8") + b"\n"

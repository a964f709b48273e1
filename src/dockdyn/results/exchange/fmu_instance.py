"""An FMU that runs here, of FMI 2.0 or 3.0, by its variables' names."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.results.exchange.fmu_archive import check_library, unpack_fmu, unreadable_fmu
from dockdyn.scenario.language.errors import ScenarioError

TOLERANCE = 1e-10  # relative, of CVode
REAL = ("Real", "Float64", "Float32")
WHOLE = ("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")
loading = threading.Lock()  # fmpy changes the working folder as it loads a library
NEEDED = "needs the package fmpy; pip install 'dockdyn[fmu]'"


def refuse_beyond(variable: Any, value: float, where: str) -> None:  # noqa: ANN401, of fmpy's description
    """Raise ScenarioError, which begins with `where`, for a value that the description of an FMU does not allow a variable."""
    if variable.type == "Boolean":
        if value not in (0, 1):
            raise ScenarioError(f"{where}: must be true or false, in the FMU it is Boolean")
        return
    if variable.type in WHOLE and value != int(value):
        raise ScenarioError(f"{where}: must be a whole number, in the FMU it is {variable.type}")
    least, most = (_variable_bound(variable, name) for name in ("min", "max"))
    if (least is not None and value < least) or (most is not None and value > most):
        allowed = [f"at least {least:g}"] if least is not None else []
        allowed += [f"at most {most:g}"] if most is not None else []
        raise ScenarioError(f"{where}: must be {' and '.join(allowed)}, as the FMU declares")


def _variable_bound(variable: Any, name: str) -> float | None:  # noqa: ANN401, of fmpy's description
    """Return a bound of a variable, its own or that of its declared type; None where neither has one."""
    for said in (variable, variable.declaredType):
        if said is not None and getattr(said, name) is not None:
            return float(getattr(said, name))
    return None


class Fmu:
    """An FMU in a file, unpacked as long as the block lasts. Raises ScenarioError for what is none."""

    def __init__(self, file: Path):
        self.file = file

    def __enter__(self) -> Fmu:
        fmpy = _import_fmpy(self.file)
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(unpack_fmu(self.file))
            try:
                self.description = fmpy.read_model_description(str(self.folder), validate=False)
            except Exception as error:  # of whatever the file holds
                raise unreadable_fmu(self.file, error) from None
            self._unpacked = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._unpacked.close()

    def check_runs_here(self) -> None:
        """Raise ScenarioError for one that cannot go on by itself, or not on this machine."""
        from fmpy import platform, platform_tuple, sharedLibraryExtension

        version = self.description.fmiVersion
        if not version.startswith(("2.", "3.")):
            raise ScenarioError(f"{self.file}: is of FMI {version}; must be of FMI 2.0 or 3.0")
        if not self.steps:
            raise ScenarioError(f"{self.file}: is for model exchange alone; must be for co-simulation")
        own = platform if version.startswith("2.") else platform_tuple
        libraries = self.folder / "binaries"
        if not (libraries / own / f"{self.description.coSimulation.modelIdentifier}{sharedLibraryExtension}").is_file():
            others = sorted(one.name for one in libraries.glob("*") if one.is_dir())
            words = f"its libraries are for {', '.join(others)}" if others else "it has sources alone"
            raise ScenarioError(f"{self.file}: has no library for {own}: {words}")

    def check_libraries(self) -> None:
        """Refuse libraries that this machine cannot load, before it tries to. Raises ScenarioError."""
        from fmpy import platform, platform_tuple

        for own in {platform, platform_tuple} if sys.platform == "linux" else ():
            for library in sorted((self.folder / "binaries" / own).glob("*.so")):
                check_library(library, f"{self.file}: {library.relative_to(self.folder)} in it")

    def named(self, causality: str) -> dict[str, Any]:
        """Return variables of a causality by name."""
        return {one.name: one for one in self.description.modelVariables if one.causality == causality}

    @property
    def steps(self) -> bool:
        """Whether it is for co-simulation; else another program integrates it."""
        return self.description.coSimulation is not None

    def integrated(
        self, values: Mapping[str, float], names: Sequence[str], times: Float[np.ndarray, "times"]
    ) -> dict[str, Float[np.ndarray, "times"]]:
        """Return outputs at equidistant times (s), integrated by CVode with parameters set to these values."""
        self.check_libraries()
        try:
            with _staying_here():
                found = _import_fmpy(self.file).simulate_fmu(
                    str(self.folder),
                    validate=False,
                    model_description=self.description,
                    fmi_type="ModelExchange",
                    start_time=float(times[0]),
                    stop_time=float(times[-1]),
                    output_interval=float(times[1] - times[0]),
                    relative_tolerance=TOLERANCE,
                    record_events=False,
                    start_values=dict(values),
                    output=list(names),
                )
        except Exception as error:  # of fmpy or of the FMU, which have no class for it
            words = str(error).partition("\n")[0]
            raise ScenarioError(f"{self.file}: cannot be integrated here: {words}") from None
        if len(found) < len(times):
            raise ScenarioError(f"{self.file}: ends at t = {found['time'][-1]:g} s, its scenario at {times[-1]:g} s")
        return {name: np.asarray(found[name][: len(times)], float) for name in names}

    def instance(self, values: Mapping[str, float], start: float = 0.0) -> Instance:
        """Return a new instance that has begun at a time (s), parameters or inputs set to these values."""
        return Instance(self, values, start)


class Instance:
    """One instance of an FMU that goes on step by step."""

    def __init__(self, fmu: Fmu, values: Mapping[str, float], start: float):
        description, self.name = fmu.description, str(fmu.file)
        if not fmu.steps:
            raise ScenarioError(f"{fmu.file}: has no co-simulation")
        self.known = {one.name: one for one in description.modelVariables}
        self.slave, self.time = _make_slave(fmu), start
        self.set(values)
        if hasattr(self.slave, "setupExperiment"):  # as FMI 2.0 has it
            self.call("setupExperiment", startTime=start)
            self.call("enterInitializationMode")
        else:
            self.call("enterInitializationMode", startTime=start)
        self.call("exitInitializationMode")

    def call(self, name: str, *given: Any, **named: Any) -> Any:  # noqa: ANN401, what fmpy takes and gives
        """Call a function of fmpy's; ScenarioError where the FMU says that it has failed."""
        try:
            return getattr(self.slave, name)(*given, **named)
        except Exception as error:  # fmpy's own, which has no class for it
            words = str(error).partition("\n")[0]
            raise ScenarioError(f"{self.name}: {name} at t = {self.time:g} s: {words}") from None

    def set(self, values: Mapping[str, float]) -> None:
        """Set variables by name. ScenarioError for one that there is not, or that may not be so."""
        for name, value in values.items():
            if name not in self.known:
                raise ScenarioError(f"{self.name}: has no variable {name}")
            one = self.known[name]
            refuse_beyond(one, value, f"{self.name}: {name} = {value:g} at t = {self.time:g} s")
            given: Any = value != 0 if one.type == "Boolean" else int(value) if one.type in WHOLE else float(value)
            self.call(f"set{one.type}", [one.valueReference], [given])

    def read(self, names: Sequence[str]) -> Float[np.ndarray, "names"]:
        """Return the values of variables that are numbers, yes as 1 and no as 0."""
        kinds = [self.known[name].type for name in names]
        found = np.zeros(len(names))
        for kind in dict.fromkeys(kinds):
            places = [index for index, own in enumerate(kinds) if own == kind]
            references = [self.known[names[index]].valueReference for index in places]
            found[places] = self.call(f"get{kind}", references)
        return found

    def step_to(self, time: float) -> bool:
        """Go on to a time (s); whether it asks to end there."""
        found = self.call("doStep", currentCommunicationPoint=self.time, communicationStepSize=time - self.time)
        self.time = time
        return bool(found[1]) if isinstance(found, tuple) else False  # FMI 2.0 discards the step instead

    def close(self) -> None:
        """End it, whatever state it is in."""
        with contextlib.suppress(Exception):  # one that has failed need not terminate
            self.slave.terminate()
        self.slave.freeInstance()


def findings_of(file: Path) -> list[str]:
    """Return what fmpy's validator finds in an FMU. Raises ScenarioError for a file that is none."""
    fmpy = _import_fmpy(file)
    with unpack_fmu(file) as folder:
        return list(fmpy.validation.validate_fmu(str(folder)))


def _import_fmpy(file: Path) -> Any:  # noqa: ANN401, the package
    """Return the package that reads FMUs; ScenarioError where it is not installed."""
    try:
        import fmpy
        import fmpy.validation
    except ImportError:
        raise ScenarioError(f"{file}: {NEEDED}") from None
    return fmpy


def _class_of(version: str) -> Any:  # noqa: ANN401, fmpy's
    """Return what instances of a version of FMI are to fmpy."""
    if version.startswith("2"):
        from fmpy.fmi2 import FMU2Slave

        return FMU2Slave
    from fmpy.fmi3 import FMU3Slave

    return FMU3Slave


@contextlib.contextmanager
def _staying_here() -> Iterator[None]:
    """Go back to the working folder also where fmpy, which leaves it to load a library, fails."""
    here = Path.cwd()
    try:
        yield
    finally:
        os.chdir(here)


def _make_slave(fmu: Fmu) -> Any:  # noqa: ANN401, fmpy's
    """Return an instance as fmpy has it."""
    fmu.check_libraries()
    description = fmu.description
    given = {
        "guid": description.guid,
        "unzipDirectory": str(fmu.folder),
        "modelIdentifier": description.coSimulation.modelIdentifier,
        "instanceName": description.coSimulation.modelIdentifier,
    }
    try:
        with loading, _staying_here():
            slave = _class_of(description.fmiVersion)(**given)
        slave.instantiate(loggingOn=False)
    except Exception as error:  # no library for this platform, or one that refuses
        words = str(error).partition("\n")[0]
        raise ScenarioError(f"{fmu.file}: cannot be started here: {words}") from None
    return slave

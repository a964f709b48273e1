"""From sources in C to libraries that other programs load: by this machine's compiler, for other platforms by Zig's.

Zig's compiler, Clang with the C libraries of all platforms, comes with the package ziglang.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dockdyn.processes import module_command
from dockdyn.scenario.language.errors import ScenarioError, nearest

FLAGS = (
    "-std=c99",
    "-O1",
    "-ffp-contract=off",
    "-shared",
    "-fvisibility=hidden",
)  # with -O2 three times as long
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}
OF_FMI_2 = {"x86_64-linux": "linux64", "x86_64-darwin": "darwin64", "x86_64-windows": "win64"}
BY_ZIG = {  # its own name of each platform
    "x86_64-linux": "x86_64-linux-gnu",
    "aarch64-linux": "aarch64-linux-gnu",
    "x86_64-windows": "x86_64-windows-gnu",
    "x86_64-darwin": "x86_64-macos",
    "aarch64-darwin": "aarch64-macos",
}


class Platform(NamedTuple):
    """What a library is for: the folders that it lies in, and how its file's name ends."""

    tuple_of_fmi_3: str
    ending: str

    def folder(self, fmi: int) -> str:
        """Return its folder in an FMU of this version of FMI."""
        return self.tuple_of_fmi_3 if fmi == 3 else OF_FMI_2.get(self.tuple_of_fmi_3, self.tuple_of_fmi_3)


def this_platform() -> Platform:
    """Return that of this machine."""
    system, ending = SYSTEMS.get(sys.platform, (sys.platform, ".so"))
    machine = platform.machine().lower()
    return Platform(f"{PROCESSORS.get(machine, machine)}-{system}", ending)


def platforms_named(names: Sequence[str]) -> list[Platform]:
    """Return platforms by their names in FMI 3.0. Raises ScenarioError for one that nothing here compiles for."""
    endings = {system: ending for system, ending in SYSTEMS.values()}
    for name in names:
        if name not in BY_ZIG:
            raise ScenarioError(f"--platform {name}: {nearest(name, BY_ZIG)}")
        if importlib.util.find_spec("ziglang") is None:
            raise ScenarioError(f"--platform {name}: needs the package ziglang; pip install 'dockdyn[platforms]'")
    return [Platform(name, endings[name.partition("-")[2]]) for name in dict.fromkeys(names)]


def c_compiler() -> str:
    """Return the compiler that `CC` names, or cc, gcc or clang. Raises ScenarioError where there is none."""
    stated = os.environ.get("CC")
    for name in [stated] if stated else ["cc", "gcc", "clang"]:
        if found := shutil.which(name):
            return found
    words = f"CC = {stated}: is no program" if stated else "no C compiler: there is neither cc nor gcc nor clang"
    raise ScenarioError(f"{words}; install one, name it in CC, or give --sources-only")


def compile_library(sources: Sequence[Path], library: Path, other: Platform | None = None) -> None:
    """Compile `sources`, which lie in one folder, for this platform or for an `other` one. Raises ScenarioError with what the
    compiler says first."""
    compiler = [c_compiler()] if other is None else _cross_compiler(other)
    place = [] if library.suffix == ".dll" else ["-fPIC"]  # which Windows has not
    command = [*compiler, *FLAGS, *place, *(file.name for file in sources), "-o", str(library), "-lm"]
    done = subprocess.run(command, cwd=sources[0].parent, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next(iter(done.stderr.strip().splitlines()), "it says nothing")
        raise ScenarioError(f"{' '.join(compiler)}: cannot compile the FMU: {said}")


def _cross_compiler(other: Platform) -> list[str]:
    """Return the command that compiles for another platform."""
    command = module_command("ziglang", "cc", "-target", BY_ZIG[other.tuple_of_fmi_3])
    return [*command, "-g0", "-fno-sanitize=undefined"]  # which it would add

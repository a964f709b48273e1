"""The C compiler of this machine: from sources to a library that other programs load."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dockdyn.scenario.language.errors import ScenarioError

FLAGS = (
    "-std=c99",
    "-O1",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
)  # with -O2 three times as long
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}
OF_FMI_2 = {"x86_64-linux": "linux64", "x86_64-darwin": "darwin64", "x86_64-windows": "win64"}


class Platform(NamedTuple):
    """What a library is for: the folders that it lies in, and how its file's name ends."""

    tuple_of_fmi_3: str
    ending: str

    def folder(self, fmi: int) -> str:
        """Its folder in an FMU of this version of FMI."""
        return self.tuple_of_fmi_3 if fmi == 3 else OF_FMI_2.get(self.tuple_of_fmi_3, self.tuple_of_fmi_3)


def this_platform() -> Platform:
    """That of this machine."""
    system, ending = SYSTEMS.get(sys.platform, (sys.platform, ".so"))
    machine = platform.machine().lower()
    return Platform(f"{PROCESSORS.get(machine, machine)}-{system}", ending)


def c_compiler() -> str:
    """The compiler that `CC` names, or cc, gcc or clang. Raises ScenarioError where there is none."""
    stated = os.environ.get("CC")
    for name in [stated] if stated else ["cc", "gcc", "clang"]:
        if found := shutil.which(name):
            return found
    words = f"CC = {stated}: is no program" if stated else "no C compiler: there is neither cc nor gcc nor clang"
    raise ScenarioError(f"{words}; install one, name it in CC, or give --sources-only")


def compile_library(sources: Sequence[Path], library: Path) -> None:
    """Compile `sources`, which lie in one folder. Raises ScenarioError with what the compiler says first."""
    command = [c_compiler(), *FLAGS, *(file.name for file in sources), "-o", str(library), "-lm"]
    done = subprocess.run(command, cwd=sources[0].parent, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next(iter(done.stderr.strip().splitlines()), "it says nothing")
        raise ScenarioError(f"{command[0]}: cannot compile the FMU: {said}")

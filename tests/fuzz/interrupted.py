"""Commands that are stopped at random moments, by any signal, and gone on with: what is left in the end, byte for byte."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import xarray as xr
from on_a_line import SPREAD_MASSES

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may have it ignored
COMMAND = "from dockdyn.__main__ import main; main()"
STOPPED = {signal.SIGKILL: (-9,), signal.SIGTERM: (143, -15), signal.SIGINT: (130, -2)}
SAID = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted"}

SCENARIO = (
    SPREAD_MASSES
    + """[campaign]
runs = 30
[design]
minimise = "95 % of peak_force"
evaluations = 30
cases = 2
[design.variable.damping]
key = "contact.fronts.normal.damping"
low = "5 N s/m"
high = "200 N s/m"
"""
)
COMMANDS = {"campaign": ("campaign", "run"), "design": ("design",)}


class Work:
    """A study, run once undisturbed, to compare with."""

    def __init__(self, study: str, folder: Path):
        self.study, self.folder = study, folder
        (folder / "scenario.toml").write_text(SCENARIO)
        begun = time.monotonic()
        code, said = self._finish(self._start("whole"))
        assert code == 0, said
        self.seconds = time.monotonic() - begun

    def stop_and_resume(self, seed: int) -> int:
        """Stop it up to three times at drawn moments, then let it end; return how often it was stopped.

        A command that is stopped says so in one line, has the code of its signal and leaves no half file.
        """
        draw, name, stops = random.Random(seed), f"stopped-{seed}", 0
        for _ in range(draw.randint(1, 3)):
            process, by = self._start(name, *self._resumed(name)), draw.choice(SIGNALS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(0.0, 1.1) * self.seconds)
            if process.poll() is None:
                os.killpg(process.pid, by)
                stops += 1
            code, said = self._finish(process)
            assert code in (0, *STOPPED[by]), (seed, code, said)
            assert "Traceback" not in said, (seed, said)
            if code > 0:
                assert SAID[by] in said.splitlines()[-1], (seed, said)
                assert not list((self.folder / name).rglob("*.part")), seed
        code, said = self._finish(self._start(name, *self._resumed(name)))
        assert code == 0, (seed, said)
        assert self._left("whole") == self._left(name), seed
        return stops

    def _resumed(self, name: str) -> list[str]:
        """What goes on with a study: nothing where it was stopped before anything of it was kept."""
        return ["--resume"] if any(not each.name.startswith(".") for each in (self.folder / name).glob("*")) else []

    def _start(self, name: str, *more: str) -> subprocess.Popen[str]:
        command = [*COMMANDS[self.study], "scenario.toml", "--out", name, "--json", *more]
        return subprocess.Popen(
            [sys.executable, "-c", HEARD + COMMAND, *command],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _finish(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        _, said = process.communicate(timeout=200)
        return process.returncode, said

    def _left(self, name: str) -> list[bytes]:
        """What a study leaves, without how long it took."""
        folder = self.folder / name
        if self.study == "design":
            return [(folder / each).read_bytes() for each in ("trail.jsonl", "design.json", "scenario.toml")]
        data = xr.load_dataset(folder / "campaign.nc", engine="h5netcdf")
        numbers = {key: value for key, value in data.attrs.items() if key != "wall_time_s"}
        columns = {name: each.values.tolist() for name, each in data.variables.items()}  # of which repr gives every bit
        return [repr((numbers, columns)).encode(), (folder / "scenario.toml").read_bytes()]

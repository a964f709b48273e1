"""No command runs a module of the working folder that nobody has named: whatever lies there, by whatever name."""

import contextlib
import csv
import math
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import typer
from rig_processes import Bench, Running

from dockdyn.cli.main import app

COMMAND = Path(sys.executable).with_name("dockdyn")
RAN = "ran"
PLANTED = f"import os\nopen({RAN!r}, 'a').write(__name__ + ' ')\nraise ImportError('of a stranger')\n"
PRESET = "sazawal-spring-dashpot"
STEP = Path(__file__).parents[1] / "meshes/cad/docking.step"
COMMANDS = {  # in their order: later ones take what earlier ones have written
    "run": f"run {PRESET} --out run",
    "stability": f"stability {PRESET}",
    "compare": f"compare {PRESET} --compensators none --json",
    "presets": "presets",
    "new": "new own.toml --mechanism one-axis-rig",
    "init": "init --from mesh-on-mesh mine.toml",
    "schema": "schema",
    "check": "check paraskevas-a --out check.html",
    "reproduce": "reproduce paraskevas --table 1 --out table",
    "envelope": "envelope paraskevas-latch --over body.chaser.velocity=65mm/s:75mm/s --tolerance 0.1 --json",
    "design": f"design {PRESET}",
    "sensitivity": "sensitivity paraskevas-a --of peak_force_N --to body.chaser-front.velocity",
    "report": "report run/result.nc --out page.html",
    "view": "view run/result.nc --html replay.html",
    "explore": "explore paraskevas-b --html explored.html",
    "export": "export run/result.nc --to pdf --figure normal-force",
    "loads": "loads run/result.nc --out loads",
    "doctor": "doctor",
    "campaign run": "campaign run idss-probe-cone --runs 4 --workers 1 --out cases",
    "campaign rerun": "campaign rerun cases 1",
    "campaign report": "campaign report cases",
    "impact multibody": "impact multibody --masses 17 2 1.5 15 --speed 0.05",
    "impact latch": "impact latch --chaser-mass 15 --target-mass 17 --stiffness 100 --lateral-length 0.02 --angle 0.5",
    "identify robot": "identify robot log.csv",
    "identify contact": "identify contact log.csv --position actual --measured-force command",
    "identify parameters": "identify parameters log.csv paraskevas-a --key body.chaser-front.velocity",
    "identify plan": "identify plan plan.csv --to 5 --json",
    "rig doctor": "rig doctor --cycle 4ms --seconds 0.1",
    "rig serve": "",  # it and the next two are tried below
    "rig emulate": "",
    "rig replay": "",
    "fmu export": f"fmu export {PRESET} --out it.fmu",
    "fmu check": f"fmu check it.fmu {PRESET}",
    "mesh check": "mesh check androgynous-plate.stl",  # which init has written
    "mesh repair": "mesh repair androgynous-plate.stl --out plate.stl",
    "mesh import": f"mesh import {STEP} --density 2700 --out parts",
}
QUICK = ("rig doctor", "impact latch")


def leaves_of(command, names=()):
    """The names of all commands."""
    inside = getattr(command, "commands", None)
    if inside is None:
        return [" ".join(names)]
    return [found for name, each in inside.items() for found in leaves_of(each, (*names, name))]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder with a module for every name of the standard library and of what is installed, which tells that it has run."""
    folder = tmp_path_factory.mktemp("planted")
    for name in {*sys.stdlib_module_names, *(name for name in packages_distributions() if name.isidentifier())}:
        (folder / f"{name}.py").write_text(PLANTED)
    with (folder / "log.csv").open("w") as file:
        rows = [(k * 0.01, math.sin(k * 0.2), math.sin(k * 0.2 - 0.3)) for k in range(300)]
        csv.writer(file).writerows([("time [s]", "command [mm]", "actual [mm]"), *rows])
    return folder


def check_nothing_ran(folder, words):
    ran = folder / RAN
    found = sorted(set(ran.read_text().split())) if ran.exists() else []
    ran.unlink(missing_ok=True)
    assert not found, (words, found)


@pytest.mark.full_cases("impact latch")
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name, line in COMMANDS.items() if line],
)
@pytest.mark.installed
def test_a_command_runs_no_module_of_the_working_folder(planted, name):
    refused = os.environ | {"DOCKDYN_NO_OWN_CODE": "1"}
    ended = subprocess.run(
        [COMMAND, *COMMANDS[name].split()], cwd=planted, env=refused, capture_output=True, text=True, timeout=300
    )
    check_nothing_ran(planted, name)
    assert "Traceback" not in ended.stderr, ended.stderr


def test_all_commands_are_tried():
    assert sorted(leaves_of(typer.main.get_command(app))) == sorted(COMMANDS)


@pytest.mark.full
@pytest.mark.installed
@pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")
def test_a_served_rig_its_log_and_its_view_run_none(planted):
    with contextlib.ExitStack() as stack:
        bench = Bench(planted, stack, "plain")

        def started(command, *words):
            running = Running([COMMAND, "rig", command, *words], planted)
            stack.callback(running.kill)
            return running

        started("emulate", str(bench.file), "--seconds", "60 s").until("every 0.004 s")
        server = started("serve", str(bench.file), "--best-effort", "--log", "today.mcap", "--view")
        server.until("type arm")
        assert "Live view: http" in server.printed
        server.type("arm\n")
        server.until("type run")
        server.type("run\n")
        assert server.end() == 0, server.printed
    replayed = subprocess.run([COMMAND, "rig", "replay", "today.mcap"], cwd=planted, capture_output=True, text=True)
    assert replayed.returncode == 0, replayed.stderr
    check_nothing_ran(planted, "rig serve")

"""A small docking with distributions, and campaigns of it run as a user runs them."""

import contextlib
import io
import json
import subprocess
import sys

import pytest
import xarray as xr

from dockdyn.cli import main as cli

# A small docking: a probe, a cone with a latch, no friction on the ramp, everything misaligned a little.
SCENARIO = """
schema = 2
title = "A small docking with distributions"
duration = "20 s"
[campaign]
runs = 40
seed = 7
[approach]
of = "probe"
to = "cone"
closing_speed = { distribution = "uniform", low = "10 mm/s", high = "60 mm/s" }
distance = "30 mm"
lateral_offset = { distribution = "disc", radius = "60 mm" }
pitch = { distribution = "normal", mean = 0, std = "0.5 deg" }
roll_rate = "0.1 deg/s"
[body.chaser]
mass = "600 kg"
inertia = [[300, 5, -4], [5, 420, 6], [-4, 6, 460]]
[body.chaser.feature.probe]
position = [1.2, 0, 0]
radius = "12 mm"
[body.target]
mass = "1500 kg"
inertia = [900, 1100, 1000]
[body.target.surface.cone]
shape = "cone"
apex = [0.9, 0, 0]
axis = [1, 0, 0]
half_angle = "38 deg"
rim_radius = "0.18 m"
[contact.probe-cone]
between = ["probe", "cone"]
[contact.probe-cone.normal]
law = "spring-dashpot"
stiffness = "6 kN/m"
damping = "300 N s/m"
[latch.capture]
between = ["chaser", "target"]
feature = "probe"
surface = "cone"
entry = "50 mm"

[latch.capture.ramp]
stiffness = "900 N/m"
angle = "42 deg"
axial_length = "18 mm"
[requirements]
captured = true
peak_force = "< 90 N"
"""
LATE = """
[loop]
delay = "8 ms"
[contact.probe-cone.friction]
law = "coulomb"
coefficient = 0.1
"""  # three times as long to compile
COUNTS = ("contact.count", "captured")
ROUNDED = ("step_error", "steps")  # an error estimate, and how many steps: no smooth quantities


def docking_in(folder):
    """The file of the small docking."""
    path = folder / "docking.toml"
    path.write_text(SCENARIO)
    return path


def command(*arguments, **options):
    code = "from dockdyn.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def whole_campaign(file):
    """A campaign run in this process: its folder and its answers."""
    folder, said = file.parent / "whole", io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(said):
        patched.setattr(sys, "argv", ["dockdyn", "campaign", "run", str(file), "--out", str(folder), "--json"])
        try:
            cli.main()
        except SystemExit as ended:
            assert not ended.code, ended.code
    return folder, json.loads(said.getvalue())


def same_store(one, other):
    a, b = (xr.load_dataset(folder / "campaign.nc", engine="h5netcdf") for folder in (one, other))
    a.attrs.pop("wall_time_s"), b.attrs.pop("wall_time_s")
    xr.testing.assert_identical(a, b)

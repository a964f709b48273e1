"""No command of a driven rig runs a stranger's module where that is refused, also one that the scenario in a log names."""

import os
import sys

import numpy as np
import pytest
from driven_rigs import driver, on_a_line

from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.realtime.ring import record_type
from dockdyn.scenario.language.own_code import VARIABLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")
MODULE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n1 / 0\n"
COMMANDS = [
    ("serve", "theirs.toml"),
    ("emulate", "theirs.toml", "--seconds", "1"),
    ("replay", "theirs.mcap"),
    ("doctor", "theirs.toml", "--seconds", "1"),
]


STRANGE = {  # what the rig's text names in place of what dockdyn has
    "compensator": ('law = "lead-energy"', 'law = "strange:Part"'),
    "sensor": ('[rig.device.sensor]\nkind = "raw-udp"', '[rig.device.sensor]\nkind = "strange:Part"'),
    "robot": ('[rig.device.robot]\nkind = "raw-udp"', '[rig.device.robot]\nkind = "strange:Part"'),
}


@pytest.fixture(params=STRANGE)
def theirs(request, tmp_path, monkeypatch):
    """A folder with a stranger's rig, its module and a log of it; no module has run."""
    scenario = on_a_line()
    text = scenario.text().replace(*STRANGE[request.param])
    assert "strange:Part" in text
    (tmp_path / "strange.py").write_text(MODULE)
    (tmp_path / "theirs.toml").write_text(text)
    row = np.zeros((), record_type(driver(scenario).cycle()))
    with (tmp_path / "theirs.mcap").open("wb") as file:
        log = RigLogWriter(file, row.dtype, text)
        log.write(row[()], 0, 0)
        log.finish(0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.full_cases("compensator-option-serve", "compensator-option-emulate")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_module_of_a_stranger_is_refused(how, command, theirs, dock, monkeypatch):
    if how == "variable":
        monkeypatch.setenv(VARIABLE, "1")
    ended = dock("rig", *command, *(["--no-own-code"] if how == "option" else []))
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "strange:Part' is code of its own, which is refused" in ended.stderr
    assert not (theirs / "ran").exists() and (how == "variable" or VARIABLE not in os.environ)


def test_without_the_option_it_runs(theirs, dock):
    """So that the tests above can fail."""
    assert "cannot import" in dock("rig", "replay", "theirs.mcap").stderr
    assert (theirs / "ran").exists()

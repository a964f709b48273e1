"""Settings that no device can have are refused in a line."""

from __future__ import annotations

import pytest

from dockdyn.realtime.devices.catalogue import ROBOTS, SENSORS
from dockdyn.realtime.devices.device import HERE
from dockdyn.realtime.devices.fanuc import FanucSettings
from dockdyn.realtime.devices.netft import NetFTSettings
from dockdyn.realtime.devices.rsi import RSISettings
from dockdyn.realtime.devices.rtde import RTDESettings


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NetFTSettings(counts_per_force=0.0), "counts per unit must be positive"),
        (lambda: NetFTSettings(counts_per_torque=float("nan")), "counts per unit must be positive"),
        (lambda: NetFTSettings(newtons=-1.0), "units must be positive"),
        (lambda: RSISettings(sensor_type='Im"Free'), "sensor_type must be a name of XML"),
        (lambda: RSISettings(correction=""), "correction must be a name of XML"),
        (lambda: RSISettings(decimals=7), "decimals must be 0 to 6, not 7"),
        (lambda: RSISettings(period=0), "at least 1 ms"),
        (lambda: RTDESettings(version=3), "version must be 1 or 2, not 3"),
        (lambda: RTDESettings(cycles=0), "cycles must be 1 to 500, not 0"),
        (lambda: RTDESettings(rate=250), "rate must be 500 or 125 Hz, not 250"),
        (lambda: RTDESettings(version=1), "version 1 sends at 125 Hz"),
        (lambda: RTDESettings(timeout=0), "timeout must be positive"),
        (lambda: FanucSettings(version=0), "version must be 1 to 3"),
        (lambda: FanucSettings(cycle=5), "cycle must be 2, 4 or 8 ms, not 5"),
        (lambda: FanucSettings(lead=9), "lead must be 0 to 8, not 9"),
    ],
)
def test_refused(make, words):
    with pytest.raises(ValueError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_every_device_has_its_c_file_and_a_place_in_the_documentation():
    page = (HERE.parents[3] / "docs" / "devices.md").read_text(encoding="utf-8")
    for device in (*SENSORS.values(), *ROBOTS.values()):
        assert (HERE / f"{device.struct}.h").exists() and (HERE / f"{device.struct}.c").exists()
        assert f"`{device.struct}`" in page and (device.port is None or str(device.port) in page)

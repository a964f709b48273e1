"""Settings that no device can have are refused in a line."""

import pytest
from helpers.refusals import refused

from dockdyn.realtime.devices.device import HERE, ToolPose
from dockdyn.realtime.devices.emulated.sensor import SensorErrors
from dockdyn.realtime.devices.fanuc import FanucSettings
from dockdyn.realtime.devices.netft import NetFTSettings
from dockdyn.realtime.devices.rsi import RSISettings
from dockdyn.realtime.devices.rtde import RTDESettings
from dockdyn.realtime.rig_devices import devices_of
from dockdyn.scenario.tables.rig.devices import ROBOTS, SENSORS, DevicesSection


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
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("robot", "period", "words"),
    [
        ({"kind": "ur-rtde"}, 3e-3, "0.003 s: must be a whole number of 0.002 s, a cycle of e-series"),
        ({"kind": "ur-rtde", "controller": "cb3"}, 4e-3, "0.004 s: must be a whole number of 0.008 s, a cycle of cb3"),
        ({"kind": "ur-rtde", "version": 1}, 4e-3, "version 1 sends at 125 Hz and takes no other rate"),
        ({"kind": "ur-rtde", "patience": "4 ms"}, 4e-3, "patience: 0.004 s: must be above the cycle of 0.004 s"),
        ({"kind": "fanuc-stream-motion"}, 1e-3, "0.001 s: must be 2, 4 or 8 ms"),
        ({"kind": "fanuc-stream-motion"}, 4.4e-3, "0.0044 s: must be 2, 4 or 8 ms"),
    ],
)
def test_cycles_that_a_robot_does_not_have_are_refused(robot, period, words):
    with refused(match=words):
        devices_of("bench", DevicesSection.model_validate({"robot": robot}), period)


@pytest.mark.parametrize(
    ("robot", "period"),
    [
        ({"kind": "ur-rtde", "version": 1}, 8e-3),
        ({"kind": "ur-rtde", "version": 1, "controller": "cb3"}, 8e-3),
        ({"kind": "ur-rtde", "controller": "cb3", "patience": "50 ms"}, 24e-3),
        ({"kind": "ur-rtde"}, 2e-3),
        ({"kind": "fanuc-stream-motion", "version": 3, "lead": 8}, 2e-3),
    ],
)
def test_cycles_that_a_robot_has_are_those_of_its_emulator(robot, period):
    devices = devices_of("bench", DevicesSection.model_validate({"robot": robot}), period)
    _, emulated = devices.emulate(ToolPose(), SensorErrors())
    assert emulated.cycle.settings.period == pytest.approx(period, rel=1e-12)


def test_what_must_be_set_on_a_controller_is_told_with_its_reason():
    for device in (ROBOTS["fanuc-stream-motion"], ROBOTS["ur-rtde"]):
        assert device.unconfirmed and device.controller_settings
        for words in (*device.unconfirmed, *(word for each in device.controller_settings for word in each)):
            assert words and "\n" not in words and not words.endswith(".")


def test_every_device_has_its_c_file_and_a_place_in_the_documentation():
    page = (HERE.parents[3] / "docs" / "devices.md").read_text(encoding="utf-8")
    for device in (*SENSORS.values(), *ROBOTS.values()):
        assert (HERE / f"{device.struct}.h").exists() and (HERE / f"{device.struct}.c").exists()
        assert f"`{device.struct}`" in page and str(device.model_fields["port"].default) in page

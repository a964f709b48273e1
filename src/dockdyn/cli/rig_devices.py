"""The words of `dockdyn rig doctor` on a rig's devices: what to set on them and why, and what nobody has seen on hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dockdyn.scenario.tables.rig.driven import DrivenRig

OWNERS = {"sensor": "the sensor", "robot": "the robot's controller"}


def device_numbers(section: DrivenRig, duration: float) -> dict[str, object]:
    """Return the checklists of a rig's devices for JSON, and what would keep them from a run of so many seconds."""
    from dockdyn.realtime.controller import find_foreign_ports, find_hindrances, make_checklists

    devices = [
        {
            "device": each.device.kind,
            "role": each.device.role,
            "settings": [{"setting": setting, "reason": reason} for setting, reason in each.settings],
            "stated": [{"setting": setting, "key": key} for setting, key in each.stated],
            "unconfirmed": list(each.unconfirmed),
        }
        for each in make_checklists(section.device)
    ]
    return {
        "devices": devices,
        "warnings": find_foreign_ports(section.device),
        "hindrances": [*find_hindrances(section, duration), *without_log()],
    }


def without_log() -> list[str]:
    """Return why no log could be written, in one line; nothing where one could."""
    from dockdyn.results.exchange.mcap_names import NEEDED

    try:
        import mcap_ros2.writer  # noqa: F401
    except ImportError:
        return [f"--log: {NEEDED}"]
    return []


def device_lines(section: DrivenRig) -> list[str]:
    """Return these checklists in lines for people."""
    from dockdyn.realtime.controller import make_checklists

    lines = []
    for each in make_checklists(section.device):
        if each.settings:
            lines.append(f"{each.device.kind}: to set on {OWNERS[each.device.role]}, and why:")
            lines += [f"- {setting}: {reason}" for setting, reason in each.settings]
        if each.stated:
            lines.append(f"{each.device.kind}: with the numbers of this scenario, which must be what is set there:")
            lines += [f"- {setting} (rig.device.{each.device.role}.{key})" for setting, key in each.stated]
        if each.unconfirmed:
            lines.append(f"{each.device.kind}: never confirmed on hardware:")
            lines += [f"- {words}" for words in each.unconfirmed]
    return lines

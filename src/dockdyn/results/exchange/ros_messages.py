"""Definitions of the ROS 2 messages that a run is written in, as MCAP files and ROS 2 bags hold them."""

from __future__ import annotations

from collections.abc import Mapping

# Source: .msg files of ROS 2's common_interfaces and rcl_interfaces, their comments left out.
DEFINITIONS: dict[str, str] = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\ngeometry_msgs/Pose pose",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
    "sensor_msgs/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
    "diagnostic_msgs/KeyValue": "string key\nstring value",
    "diagnostic_msgs/DiagnosticStatus": "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\n"
    "byte level\nstring name\nstring message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values",
    "diagnostic_msgs/DiagnosticArray": "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status",
}
RULE = "=" * 80  # between the definition of a message and those of its parts


def definition_of(name: str, own: Mapping[str, str] | None = None) -> str:
    """Return the definition of a message, "geometry_msgs/Pose", with those of all its parts behind it.

    `own` are definitions by name besides those of ROS 2.
    """
    known = DEFINITIONS | dict(own or {})
    text, parts, waiting = known[name], [], [name]
    while waiting:
        for line in known[waiting.pop(0)].splitlines():
            part = line.split()[0].removesuffix("[]")
            if part in known and part not in parts:
                parts.append(part)
                waiting.append(part)
    return "\n".join([text, *(f"{RULE}\nMSG: {part}\n{known[part]}" for part in parts)])

"""Files that mechanisms of `dockdyn new` are asked for: an arm in URDF, and meshes of boxes."""

from __future__ import annotations

from pathlib import Path

LINK = """<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>
<inertia ixx="{thin}" iyy="{long}" izz="{long}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="to-{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="{axis}"/></joint>"""
LINKS = (("base", 0.1, 5.0), ("upper", 0.5, 8.0), ("fore", 0.4, 5.0), ("hand", 0.05, 1.0))  # centre (m), mass (kg)
JOINTS = (("base", "upper", 0.2, "0 0 1"), ("upper", "fore", 1.0, "0 1 0"), ("fore", "hand", 0.8, "0 0 1"))


def write_urdf(file: Path) -> None:
    """An arm of three hinges whose last link has a tool frame without mass."""
    links = [
        LINK.format(name=name, x=x, mass=mass, thin=0.01 * mass, long=0.4 * mass * max(x, 0.2) ** 2)
        for name, x, mass in LINKS
    ]
    joints = [
        JOINT.format(parent=parent, child=child, kind="continuous", x=x, axis=axis) for parent, child, x, axis in JOINTS
    ]
    tool = JOINT.format(parent="hand", child="tool0", kind="fixed", x=0.1, axis="1 0 0")
    file.write_text(f"<robot name='arm'>{''.join(links)}<link name='tool0'/>{''.join(joints)}{tool}</robot>")


def write_box(file: Path, extents: tuple[float, float, float], place: tuple[float, float, float] = (0, 0, 0)) -> None:
    """A closed mesh of a box, its middle at a `place`, in units of the file."""
    import trimesh

    box = trimesh.creation.box(extents)
    box.apply_translation(place)
    box.export(file)


def write_files(folder: Path) -> dict[str, str]:
    """One of each, by the question that it answers."""
    write_urdf(folder / "arm.urdf")
    write_box(folder / "chaser.stl", (80.0, 120.0, 60.0), (10.0, 0.0, 5.0))
    write_box(folder / "target.stl", (200.0, 150.0, 90.0))
    return {"urdf": "arm.urdf", "chaser-mesh": "chaser.stl", "target-mesh": "target.stl"}

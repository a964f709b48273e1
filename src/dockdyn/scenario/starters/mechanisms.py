"""The mechanisms by name, and the file of one."""

from __future__ import annotations

from dockdyn.scenario.starters.arm import ARM
from dockdyn.scenario.starters.grapple import GRAPPLE
from dockdyn.scenario.starters.gripper import GRIPPER
from dockdyn.scenario.starters.mesh_pair import MESH_PAIR
from dockdyn.scenario.starters.one_axis import ONE_AXIS
from dockdyn.scenario.starters.pieces import HEAD, ON_RIG, on_rig, quote
from dockdyn.scenario.starters.probe_cone import PROBE_CONE
from dockdyn.scenario.starters.question import Answers
from dockdyn.scenario.starters.ring import RING
from dockdyn.scenario.starters.starter import Starter
from dockdyn.scenario.starters.urdf_arm import URDF_ARM

STARTERS: dict[str, Starter] = {
    "probe-cone": PROBE_CONE,
    "ring-petals": RING,
    "grapple": GRAPPLE,
    "arm": ARM,
    "gripper": GRIPPER,
    "urdf-arm": URDF_ARM,
    "mesh-pair": MESH_PAIR,
    "one-axis-rig": ONE_AXIS,
}


def result_words(starter: Starter, answers: Answers) -> str:
    """Return what the result of a run of it says."""
    return ON_RIG if on_rig(answers) else starter.result


def scenario_text(starter: Starter, answers: Answers) -> str:
    """Return the file of a mechanism, once all that it asks is answered."""
    words = starter.words.partition(",")[0]
    title, rig = f"{words[0].upper()}{words[1:]}", ""
    if on_rig(answers):
        title += ", on a rig"
        carried, other = starter.mock_ups(answers)
        rig = f"rig.carries = {quote(carried)}  # by a robot, as seen from the other\nrig.against = {quote(other)}\n"
    return f"{HEAD.format(title=title)}title = {quote(title)}\n{rig}{starter.tables(answers)}"

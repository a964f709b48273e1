"""The arm of Gibson and Murphey as an assembly: the model of trees beside the kind's own, by the same method."""

from __future__ import annotations

import numpy as np
import pytest

from dockdyn.api import simulate
from dockdyn.scenario.load import load, parse


def as_assembly(arm):
    """An assembly of the links of an arm in the plane, whose control holds one set point as springs and dampers do."""
    content = arm.content
    links, control = content.arm.ordered(), content.control
    names, points = [link.name for link in links], iter(control.phase[0].set_point)
    gains = iter(zip(control.stiffness, control.damping, strict=True))
    centres = {link.name: np.array(link.centre or [0.0, 0, 0]) for link in links}
    spin = 0.0 if content.orbit is None else float(content.orbit.make().mean_motion())
    text = f'schema = 1\nkind = "assembly"\ntitle = "arm"\nduration = {content.duration}\n'
    if content.orbit is not None:
        text += f"[orbit]\nsemi_major_axis = {content.orbit.semi_major_axis}\n"
    for link in links:
        inertia = [max(moment, 1e-9) for moment in np.diagonal(link.inertia)]
        text += f'[[body]]\nname = "{link.name}"\nmass = {link.mass}\ninertia = {list(map(float, inertia))}\n'
        if link.parent is None:
            text += f"rate = [0, 0, {spin}]\n"
            for surface in content.contact.surface:
                text += f'[[body.surface]]\nname = "{surface.name}"\nshape = "plane"\n'
                text += f"point = {list(map(float, surface.point))}\nnormal = {list(map(float, surface.normal))}\n"
            continue
        hinge = np.array(link.mount or [0.0, 0, 0]) - centres[link.parent]
        text += f'on = "{link.parent}"\nposition = {list(map(float, hinge + centres[link.name]))}\n'
        if link.joint == "locked":
            text += 'joint = { kind = "locked" }\n'
        else:
            stiffness, damping = next(gains)
            text += f'joint = {{ kind = "revolute", axis = [0, 0, 1], position = {list(map(float, hinge))}, '
            text += f"start = {link.start}, stiffness = {stiffness}, damping = {damping}, rest = {next(points)} }}\n"
        if link.name == content.contact.link:
            text += f'[[body.feature]]\nname = "tip"\nposition = {list(map(float, -centres[link.name]))}\n'
    for surface in content.contact.surface:
        text += f'[[contact]]\nname = "{surface.name}"\nfeature = "tip"\nsurface = "{surface.name}"\n'
        text += 'impact = { law = "frictionless", restitution = 1.0 }\n'
    assert names[0] == "station"
    how = f'[integrator]\nmethod = "variational"\nstep = {content.integrator.step}\n[output]\ninterval = 0.1\n'
    return parse(text + how, "arm as an assembly")


@pytest.mark.parametrize("orbit", [True, pytest.param(False, marks=pytest.mark.full)])
def test_impacts_of_the_paper_are_those_of_an_assembly(orbit):
    """Coordinates of the plane and of space, one Lagrangian by hand and one of the tree: impacts to 1e-9 s, angles to 1e-9."""
    arm = load("gibson-2d").at({"output.interval": 0.1} | ({} if orbit else {"orbit": "none"}))
    own, other = simulate(as_assembly(arm)), simulate(arm)
    times = other.event_time.values[other.what.values == "impact"]
    assert len(times) >= 2
    assert np.abs(own.episode_onset.values - times).max() < 1e-9
    angles = own.joint_angle.values[:, :3]
    assert np.abs(angles - other.joint_angle.values).max() < 1e-9
    assert np.allclose(
        own.episode_approach_speed, other.approach_speed.values[other.what.values == "impact"], rtol=1e-8
    )

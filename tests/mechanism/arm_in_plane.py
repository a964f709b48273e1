"""The arm of `planar_arm_reference` as the text of a mechanism."""

import math

import numpy as np

from dockdyn.scenario.load import parse

WALLS = ("wall-0", "wall-1")
LINKS = ("psi", "alpha", "beta")
SHARE = 0.5  # of the last link's inertia, that of a payload that is let go


def arm(p, duration, step, law="frictionless", motion="space", **changed):
    """Return the scenario of an arm with these parameters; a payload that is latched hangs on a connection."""
    latched = p.latch_wall is not None
    text = f'schema = 2\ntitle = "arm"\nduration = {duration}\nmotion = "{motion}"\n'
    if p.gravity:
        gradient = str(p.gravity_gradient).lower()
        text += f"[orbit]\nsemi_major_axis = {p.orbit_radius}\ngravitational_parameter = {p.mu}\n"
        text += f"gravity_gradient = {gradient}\n"
    text += body("station", p.station_mass, p.station_mass * p.station_length**2 / 12)
    still = -drift(p)
    text += f"rate = [0, 0, {p.orbital_rate}]\nvelocity = [{still.real}, {still.imag}, 0]\n"
    for name, (point, normal) in zip(WALLS, p.planes, strict=False):
        text += f'[body.station.surface.{name}]\nshape = "plane"\n'
        text += f"point = [{point.real}, {point.imag}, 0]\nnormal = [{normal.real}, {normal.imag}, 0]\n"
    carrier, end = "station", p.root
    given = zip(LINKS, p.lengths, p.masses, p.start, p.start_rates, strict=True)
    for name, length, mass, start, rate in given:
        moment = mass * length**2 / 12
        if latched and name == LINKS[-1]:
            moment *= 1 - SHARE
        place = (end[0] + length / 2, end[1])
        text += body(name, mass, moment, on=carrier, place=place)
        text += f'joint = {{ kind = "revolute", axis = [0, 0, 1], position = [{end[0]}, {end[1]}, 0], '
        text += f"start = {start}, start_rate = {rate} }}\n"
        carrier, end = name, (length / 2, 0.0)
    last = p.masses[-1] * p.lengths[-1] ** 2 / 12
    text += body("payload", p.payload, SHARE * last if latched else 0.0, on=carrier, place=end, thin=1.0)
    text += "" if latched else 'joint = { kind = "locked" }\n'
    text += "[body.payload.feature.tip]\nposition = [0, 0, 0]\n"
    for number, name in enumerate(WALLS[: len(p.planes)]):
        if number != p.latch_wall:
            text += f'[contact.{name}]\nbetween = ["tip", "{name}"]\n'
            given = "" if law == "variational" else f", restitution = {p.restitution}, rest_speed = 1e-4"
            text += f'impact = {{ law = "{law}"{given} }}\n'
    text += f'[control]\nlaw = "joint-pd"\nbody = "station"\nstiffness = {list(p.kp)}\ndamping = {list(p.kd)}\n'
    text += f"set_point = {list(p.docked)}\n"
    if latched:
        text += _latch(p, end)
    text += f'[integrator]\nmethod = "variational"\nstep = {step}\n'
    return parse(text, "arm", changed)


def _latch(p, end):
    point, normal = p.planes[p.latch_wall]
    text = f'[connection.hand]\nbetween = ["payload", "{LINKS[-1]}"]\n'
    text += f"anchor = [[0, 0, 0], [{end[0]}, 0, 0]]\n"
    text += '[latch.capture]\nbetween = ["payload", "station"]\ngrip = "pin"\n'
    text += f"anchor = [[0, 0, 0], [{point.real}, {point.imag}, 0]]\naxis = [{normal.real}, {normal.imag}, 0]\n"
    text += "reach = 0\nlateral = 100\n"
    text += '[phase.dock]\n[phase.retreat]\nwhen = "latched"\n'
    return text + f'set = {{ "connection.hand.closed" = false, "control.set_point" = {list(p.retreat)} }}\n'


def drift(p):
    """Return the velocity (m/s, a complex number) of the common centre of mass of an arm whose station only turns."""
    angles, rates = np.cumsum(p.start), p.orbital_rate + np.cumsum(p.start_rates)
    arms = np.array(p.lengths) * np.exp(1j * angles)
    ends = complex(*p.root) * 1j * p.orbital_rate + np.cumsum(1j * rates * arms)
    middles = ends - 0.5j * rates * arms
    momentum = np.dot(p.masses, middles) + p.payload * ends[-1]
    return momentum / (p.station_mass + sum(p.masses) + p.payload)


def body(name, mass, moment, on=None, place=(0.0, 0.0), thin=1e-9):
    """Return the table of a rod along x that turns about z; one that a connection may turn must not be `thin`."""
    text = f"[body.{name}]\nmass = {mass}\ninertia = [{thin * moment}, {moment}, {moment}]\n"
    return text if on is None else f'{text}on = "{on}"\nposition = [{place[0]}, {place[1]}, 0]\n'


def ends_of(run):
    """Return the station's attitude and the joint angles at the end."""
    turned = 2 * math.atan2(*(float(run.attitude[-1].sel(body="station", quaternion=axis)) for axis in ("z", "w")))
    return np.array([turned, *run.joint_angle.values[-1, :3]])

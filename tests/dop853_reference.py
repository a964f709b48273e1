"""Two rigid bodies in contact, integrated from the equations of motion alone, with SciPy's DOP853.

Nothing of the package is used for the physics. Newton's and Euler's equations of two rigid bodies, the contact law and
the loop delay are written below in NumPy; the delay is handled by the method of steps: an interval's force is read from
the dense output of the interval one delay before it. Onset, release and the instants where the clamp ends or resumes the
force are located, and integration restarts there and at all their delayed images.
"""

import itertools
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from vectors import cross

APART, PRESSING, SLACK = "apart", "pressing", "slack"
SAME = 1e-11  # s; instants closer than this are one


# --- two rigid bodies ------------------------------------------------------------------------------------------------


def rotation(quaternion):
    """Body → inertial matrix of a quaternion, scalar first, of any length."""
    w, v = quaternion[0], quaternion[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return ((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew) / (w * w + v @ v)


@dataclass
class Body:
    """One body seen in a slice of the state: position, velocity (inertial), quaternion, rate (body axes)."""

    mass: float
    inertia: np.ndarray
    start: np.ndarray

    def split(self, y):
        return y[0:3], y[3:6], rotation(y[6:10]), y[10:13]

    def point_velocity(self, y, point):
        position, velocity, turn, rate = self.split(y)
        return velocity + cross(turn @ rate, point - position)

    def derivative(self, y, force, moment):
        """`moment` about the centre of mass, inertial."""
        _, velocity, turn, rate = self.split(y)
        w, v = y[6], y[7:10]
        spin = np.linalg.solve(self.inertia, turn.T @ moment - cross(rate, self.inertia @ rate))
        attitude = 0.5 * np.concatenate([[-v @ rate], w * rate + cross(v, rate)])
        return np.concatenate([velocity, force / self.mass, attitude, spin])

    def kinetic_energy(self, y):
        return 0.5 * (self.mass * y[3:6] @ y[3:6] + y[10:13] @ self.inertia @ y[10:13])


# --- one contact: chaser's feature, target's surface -----------------------------------------------------------------


@dataclass
class Touching:
    """A ball or point of the chaser on a surface of the target, with clamped spring and dashpot and Coulomb friction."""

    place: np.ndarray  # of the feature, chaser's axes
    radius: float
    distance_and_normal: object  # of a point in the target's axes
    stiffness: float
    damping: float
    friction: float
    smoothing: float = 1e-4  # m/s

    def geometry(self, bodies, y):
        """Depth, outward normal (inertial) and contact point (inertial)."""
        position, _, turn, _ = bodies[0].split(y[:13])
        centre = position + turn @ self.place
        origin, _, target_turn, _ = bodies[1].split(y[13:26])
        distance, normal = self.distance_and_normal(target_turn.T @ (centre - origin))
        normal = target_turn @ normal
        return self.radius - distance, normal, centre - self.radius * normal

    def kinematics(self, bodies, y):
        depth, normal, point = self.geometry(bodies, y)
        velocity = bodies[0].point_velocity(y[:13], point) - bodies[1].point_velocity(y[13:26], point)
        return depth, -(velocity @ normal), normal, velocity - (velocity @ normal) * normal

    def elastic(self, bodies, y):
        depth, rate, *_ = self.kinematics(bodies, y)
        return self.stiffness * depth + self.damping * rate

    def force(self, bodies, y, mode):
        """Normal force and contact force on the chaser."""
        if mode != PRESSING:
            return 0.0, np.zeros(3)
        depth, rate, normal, sliding = self.kinematics(bodies, y)
        pressing = self.stiffness * depth + self.damping * rate
        drag = self.friction * pressing / np.sqrt(sliding @ sliding + self.smoothing**2)
        return pressing, pressing * normal - drag * sliding

    def guards(self, bodies, y, mode):
        """Functions that rise through zero at the next change of mode, with the mode it leads to."""
        depth, rate, *_ = self.kinematics(bodies, y)
        pressing = self.stiffness * depth + self.damping * rate
        if mode == APART:
            return [(depth, PRESSING)]
        if mode == PRESSING:
            return [(-pressing, SLACK), (-depth, APART)]
        return [(pressing, PRESSING), (-depth, APART)]


def cone(apex, axis, half_angle):
    """Distance from the wall of a cavity; the nearest wall point lies in the plane of the axis and the point."""
    axis = axis / np.linalg.norm(axis)

    def distance_and_normal(point):
        offset = point - apex
        radial = offset - (offset @ axis) * axis
        inward = np.sin(half_angle) * axis - np.cos(half_angle) * radial / np.linalg.norm(radial)
        return offset @ inward, inward

    return distance_and_normal


def plane(point, normal):
    normal = normal / np.linalg.norm(normal)
    return lambda place: ((place - point) @ normal, normal)


def ball(centre, radius):
    def distance_and_normal(place):
        offset = place - centre
        return np.linalg.norm(offset) - radius, offset / np.linalg.norm(offset)

    return distance_and_normal


# --- the method of steps ---------------------------------------------------------------------------------------------


@dataclass
class Stretch:
    """A stretch of time without event: dense output, and the modes that hold in it."""

    start: float
    end: float
    state: object
    modes: list


class Reference:
    """The motion from t = 0 to `duration`: `stretches`, and `events` (time, contact, mode before, mode after)."""

    def __init__(self, bodies, contacts, delay, duration):
        self.bodies, self.contacts, self.delay, self.duration = bodies, contacts, delay, duration
        self.stretches, self.events = [], []
        images = []
        time = 0.0
        y = np.concatenate([bodies[0].start, bodies[1].start, np.zeros(len(contacts))])
        modes = [APART] * len(contacts)
        while time < duration - SAME:
            end = min([duration, *(image for image in images if image > time + SAME)])
            if delay and any(mode != APART for mode in modes):
                end = min(end, time + delay)
            past = self.past(time, end)
            solution = self.integrate(time, end, y, modes, past)
            event = self.first_event(solution, modes)
            if event is not None:
                solution = self.integrate(time, event[0], y, modes, past)
            reached = solution.t[-1]
            self.stretches.append(Stretch(time, reached, solution.sol, modes))
            if delay and any(mode != APART for mode in modes):
                images += [time + delay, reached + delay]
            time, y = reached, solution.y[:, -1]
            if event is not None:
                _, contact, mode = event
                self.events.append((time, contact, modes[contact], mode))
                modes = [mode if i == contact else other for i, other in enumerate(modes)]
        self.final = y

    def past(self, start, end):
        """The stretch whose forces act between `start` and `end`, if any."""
        if not self.delay:
            return None
        middle = (start + end) / 2 - self.delay
        return next((s for s in self.stretches if s.start < middle < s.end), None)

    def integrate(self, start, end, y, modes, past):
        def derivative(t, y):
            chaser, target = y[:13], y[13:26]
            generated = [c.force(self.bodies, y, mode) for c, mode in zip(self.contacts, modes, strict=True)]
            acting = generated
            if self.delay:
                acting = [(0.0, np.zeros(3))] * len(generated)
                if past is not None:
                    then = past.state(min(max(t - self.delay, past.start), past.end))
                    acting = [c.force(self.bodies, then, m) for c, m in zip(self.contacts, past.modes, strict=True)]
            total, moments = np.zeros(3), [np.zeros(3), np.zeros(3)]
            for contact, (_, force) in zip(self.contacts, acting, strict=True):
                *_, point = contact.geometry(self.bodies, y)
                total = total + force
                moments[0] = moments[0] + cross(point - chaser[:3], force)
                moments[1] = moments[1] - cross(point - target[:3], force)
            return np.concatenate(
                [
                    self.bodies[0].derivative(chaser, total, moments[0]),
                    self.bodies[1].derivative(target, -total, moments[1]),
                    [normal for normal, _ in generated],
                ]
            )

        solution = solve_ivp(derivative, (start, end), y, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True)
        assert solution.success
        return solution

    def first_event(self, solution, modes):
        """Time, contact and new mode of the first event within a solution; None when there is none."""
        found = []
        mesh = np.concatenate([np.linspace(a, b, 12)[:-1] for a, b in zip(solution.t, solution.t[1:], strict=False)])
        mesh = np.append(mesh, solution.t[-1])
        for index, (contact, mode) in enumerate(zip(self.contacts, modes, strict=True)):
            for which in range(len(contact.guards(self.bodies, solution.y[:, 0], mode))):

                def guard(t, contact=contact, mode=mode, which=which):
                    return contact.guards(self.bodies, solution.sol(t), mode)[which][0]

                values = np.array([guard(t) for t in mesh])
                rising = np.flatnonzero((values[:-1] <= 0) & (values[1:] > 0))
                if len(rising):
                    i = rising[0]
                    new_mode = contact.guards(self.bodies, solution.y[:, 0], mode)[which][1]
                    found.append((brentq(guard, mesh[i], mesh[i + 1], xtol=1e-15, rtol=1e-15), index, new_mode))
        return min(found, default=None)

    def state(self, time):
        i = max(bisect_right([s.start for s in self.stretches], time) - 1, 0)
        return self.stretches[i].state(time)

    def kinetic_energy(self, y):
        return sum(body.kinetic_energy(y[13 * i : 13 * i + 13]) for i, body in enumerate(self.bodies))

    def touches(self):
        """What the package's summary says of each contact, from onset to release."""
        found = []
        for time, contact, before, after in self.events:
            if before == APART:
                found.append({"contact": contact, "onset": time})
            if after == APART:
                touch = next(t for t in reversed(found) if t["contact"] == contact)
                touch["release"] = time
                touch["impulse"] = self.state(time)[26 + contact] - self.state(touch["onset"])[26 + contact]
                touch["peak"], touch["peak_time"] = self.peak(contact, touch["onset"], time)
                settled = self.state(time + self.delay)
                touch["energy"] = self.kinetic_energy(settled) - self.kinetic_energy(self.state(0.0))
        return found

    def peak(self, contact, start, end):
        """Largest normal force and its time, from polynomials through the force on short pieces of the dense output."""
        best = (0.0, start)
        for stretch in self.stretches:
            if stretch.start < start - SAME or stretch.end > end + SAME or stretch.modes[contact] != PRESSING:
                continue

            def force(times, stretch=stretch):
                return np.array(
                    [self.contacts[contact].force(self.bodies, stretch.state(t), PRESSING)[0] for t in times]
                )

            pieces = int(np.ceil((stretch.end - stretch.start) / 0.05))  # s
            borders = np.linspace(stretch.start, stretch.end, pieces + 1)
            for a, b in itertools.pairwise(borders):
                smooth = Chebyshev.interpolate(force, 12, domain=[a, b])
                turns = smooth.deriv().roots()
                turns = turns[np.abs(turns.imag) < 1e-12].real
                times = np.array([a, b, *turns[(turns > a) & (turns < b)]])
                best = max(best, *zip(smooth(times), times, strict=True))
        return best


# --- the same case as a scenario -------------------------------------------------------------------------------------


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


def body_of(section):
    motion = [section["position"], section["velocity"], unit(section["attitude"]), section["rate"]]
    return Body(section["mass"], np.array(section["inertia"], float), np.concatenate(motion).astype(float))


SURFACES = {
    "cone": lambda s: cone(np.array(s["apex"]), np.array(s["axis"]), np.radians(s["half_angle_degrees"])),
    "plane": lambda s: plane(np.array(s["point"]), np.array(s["normal"])),
    "sphere": lambda s: ball(np.array(s["centre"]), s["radius"]),
}


def reference_of(case):
    contacts = []
    for one in case["contact"].values():
        feature, surface = one["between"]
        tip, face = case["chaser"]["feature"][feature], case["target"]["surface"][surface]
        law = one["normal"]["stiffness"], one["normal"]["damping"], one["friction"]["coefficient"]
        contacts.append(
            Touching(np.array(tip["position"]), tip.get("radius", 0.0), SURFACES[face["shape"]](face), *law)
        )
    bodies = [body_of(case["chaser"]), body_of(case["target"])]
    return Reference(bodies, contacts, case["loop"]["delay"], case["duration"])

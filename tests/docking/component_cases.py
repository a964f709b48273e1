"""Vehicles by finite elements as scenarios: a frame with a probe and another with a cone, in files beside them."""

import numpy as np
from finite_elements import boom, craig_bampton, frame_model, mass_properties
from monolithic_docking import Contact, Vehicle, integrate


def vehicle(nodes, mass, stiffness, points, folder, name, modes=16, **flexible):
    """A body whose matrices are reduced to its points, by name, and kept in a file; and its centre of mass (m)."""
    rows = np.concatenate([6 * node + np.arange(6) for node in points.values()])
    total, centre, inertia = mass_properties(mass, nodes)
    small_mass, small_stiffness, basis, _ = craig_bampton(mass, stiffness, rows, modes)
    root = basis[6 * 3 : 6 * 3 + 3] - basis[6 * 4 : 6 * 4 + 3]  # how far two nodes part
    wrong = {"part": root, "less": -small_mass, "lump": total * np.eye(6), "loose": np.zeros((6, 6))}
    wrong["lacking"], wrong["slanted"] = small_mass.copy(), small_mass.copy()
    wrong["lacking"][-1, -1] -= 3 * abs(small_mass[-1, -1])  # the mass of a mode of what the points hold
    wrong["slanted"][0, 0] += 0.1 * total
    wrong["minus"], wrong["skew"] = -small_stiffness, small_stiffness.copy()
    wrong["skew"][0, 1] += 0.5 * np.abs(small_stiffness).max()
    np.savez(folder / f"{name}.npz", mass=small_mass, stiffness=small_stiffness, **wrong)
    table = {
        "kind": "finite-elements",
        "mass_matrix": {"file": str(folder / f"{name}.npz")},
        "stiffness_matrix": {"file": str(folder / f"{name}.npz")},
        "length_unit": "m",
        "mass_unit": "kg",
        "point": {key: {"position": (nodes[node] - centre).tolist()} for key, node in points.items()},
        **flexible,
    }
    return {"mass": total, "inertia": inertia.tolist(), "flexible": table}, centre


def full_frame(length):
    """Nodes, mass and stiffness of a boom of this length (m) with outriggers."""
    nodes, bars = boom(10, length)
    nodes = np.concatenate([nodes, [[0.3 * length, 1.5, 0.0], [0.3 * length, -1.5, 0.2]]])
    bars += [(3, 11), (3, 12)]
    lumps = [(3, 300.0, 120.0), (11, 20.0, 3.0), (12, 25.0, 3.0)]
    return nodes, *frame_model(nodes, bars, radius=0.08, wall=0.003, lumps=lumps)


def frame_vehicle(folder, name, length, tip, **flexible):
    """Such a boom, reduced, with the tip at one of its ends."""
    nodes, mass, stiffness = full_frame(length)
    points = {"tip": tip, "side": 11}
    body, centre = vehicle(nodes, mass, stiffness, points, folder, name, **flexible)
    return body, nodes[tip] - centre


def docking(folder, delay=0.004, **flexible):
    """A probe on one of two frames that meets a cone on the other."""
    keys = {"up_to": 60.0, "damping_ratio": 0.01, **flexible}
    chaser, tip = frame_vehicle(folder, "chaser", 4.0, 10, **keys)
    target, seat = frame_vehicle(folder, "target", 5.0, 0, **keys)
    place = (tip + np.array([0.1, 0.0, 0.0])).tolist()
    apex = seat + np.array([0.05, 0.0, 0.0])
    cone = {"shape": "cone", "apex": apex.tolist(), "axis": [-1.0, 0.0, 0.0], "half_angle": "40 deg", "depth": 0.08}
    mouth = {"position": (apex - np.array([0.08, 0.0, 0.0])).tolist(), "axis": [-1.0, 0.0, 0.0]}
    return {
        "schema": 2,
        "duration": 0.8,
        "approach": {
            "of": "chaser.probe",
            "to": "target.mouth",
            "distance": 0.001,
            "closing_speed": 0.1,
            "lateral_offset": [0.04, -0.02],
        },
        "body": {
            "chaser": chaser | {"feature": {"probe": {"position": place, "radius": 0.015}}},
            "target": target | {"surface": {"cone": cone}, "port": {"mouth": mouth}},
        },
        "contact": {
            "probe": {
                "between": ["probe", "cone"],
                "normal": {"law": "hunt-crossley", "stiffness": 8e4, "exponent": 1.0, "damping": 0.5},
                "friction": {"law": "coulomb", "coefficient": 0.2, "regularisation": 1e-3},
            }
        },
        "loop": {"delay": delay} if delay else {},
        "output": {"interval": 0.01},
    }


LATE = 0.004  # s


def near_docking(folder, **flexible):
    """The same docking, from 9 ms before its first touch until both part, reduced to what lasts 2.5 ms and longer."""
    case = docking(folder, LATE, **{"up_to": 400.0, "modes": 24} | flexible)
    case["body"]["target"]["port"]["mouth"]["position"][0] += 0.0185
    return case | {"duration": 0.12, "output": {"interval": 5e-4}}


def full_docking(run, step=8e-5):
    """What the full models do that begin as this run of `near_docking` does."""
    parts = []
    for body, length, tip, arm in (("chaser", 4.0, 10, 0.1), ("target", 5.0, 0, 0.05)):
        nodes, mass, stiffness = full_frame(length)
        place = run.position.sel(body=body).values[0] + nodes[tip] - mass_properties(mass, nodes)[1]
        start = place, np.array([arm, 0.0, 0.0]), run.velocity.sel(body=body).values[0]
        parts.append(Vehicle(mass.toarray(), stiffness.toarray(), 0.01, tip, *start))
    contact = Contact(8e4, 0.5, 0.2, 1e-3, 0.015, np.deg2rad(40.0))
    return integrate(*parts, contact, LATE, step, float(run.time[-1]))

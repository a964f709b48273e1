"""A contact at rest on the wall of a cone: its linear theory in NumPy, scenes, and roots and slopes of what they give.

The closed forms are those of Sazawal et al. (eqs. 89, 96, 118–151), corrected where they are misprinted and written here in
NumPy for bodies of any attitude: with D = D_T^C the chaser's axes seen from the target, I₁ becomes D.
"""

import copy

import numpy as np

# --- theory, in NumPy ------------------------------------------------------------------------------------------------


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rotation(quaternion):
    """Body → inertial matrix of a quaternion, scalar first, of any length."""
    w, v = quaternion[0], np.asarray(quaternion[1:], float)
    return ((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross(v)) / (w * w + v @ v)


def nozzle(half_angle, azimuth):
    """Columns m̂, t̂, n̂ in the target's axes (eq. 89)."""
    c, s, cp, sp = np.cos(half_angle), np.sin(half_angle), np.cos(azimuth), np.sin(azimuth)
    return np.array([[c, 0, -s], [-s * sp, cp, -c * sp], [s * cp, sp, c * cp]])


def contact_matrix(scene, place, printed=False):
    """M (1/kg) in the target's axes at r_SQ = `place` (eq. 120, without the term in r_TS unless `printed`)."""
    chaser, target = scene["chaser"], scene["target"]
    apex, probe = np.array(target["surface"]["cone"]["apex"]), np.array(chaser["feature"]["probe"]["position"])
    relative = rotation(target["attitude"]).T @ rotation(chaser["attitude"])
    p_chaser, p_target = -relative @ cross(probe), cross(apex + place)  # eq. 96: r_o + D r_CQ = r_TS + r_SQ
    inertias = [(np.array(body["inertia"]) + np.transpose(body["inertia"])) / 2 for body in (chaser, target)]
    about_target = p_target.T + (cross(apex) if printed else 0)
    matrix = np.eye(3) * (1 / chaser["mass"] + 1 / target["mass"])
    matrix += p_chaser @ np.linalg.inv(inertias[0]) @ p_chaser.T
    return matrix + p_target @ np.linalg.inv(inertias[1]) @ about_target


class Theory:
    """Linear dynamics of a scene at its nominal contact."""

    def __init__(self, scene, printed=False):
        half_angle, law = scene["target"]["surface"]["cone"]["half_angle"], scene["contact"]["probe"]["normal"]
        frame, distance = nozzle(half_angle, scene["stability"]["azimuth"]), scene["stability"]["distance"]
        self.matrix = frame.T @ contact_matrix(scene, distance * frame[:, 0], printed) @ frame
        slopes = np.array([law["damping"], law["stiffness"]])
        self.normal = self.matrix[2, 2] * slopes  # eqs. 124, 125
        self.radial = self.matrix[0, 2] * slopes  # eqs. 133, 134 with m̂ᵀ M n̂
        self.tangential = -self.matrix[1, 2] / (distance * np.sin(half_angle)) * slopes  # 137, 138 with t̂ᵀ M n̂

    def critical_delay(self):
        b, k = self.normal  # eqs. 150, 151
        frequency = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
        return np.arctan2(frequency * b, k) / frequency

    def root(self, delay, s):
        """The root near s, by Newton's method."""
        b, k = self.normal
        for _ in range(30):
            late = np.exp(-s * delay)
            s -= (s**2 + (b * s + k) * late) / (2 * s + (b - delay * (b * s + k)) * late)
        return s


# --- scenes ----------------------------------------------------------------------------------------------------------


def scene_of(chaser, target, apex, probe, half_angle, place, law, delay):
    """All scenes have the same keys, so that they share what is compiled."""
    cone = {"shape": "cone", "apex": apex, "axis": [1.0, 0.0, 0.0], "half_angle": half_angle}
    normal = {"law": "spring-dashpot", "stiffness": law[0], "damping": law[1], "adhesion": True}
    return {
        "schema": 2,
        "duration": 10.0,
        "chaser": chaser | {"feature": {"probe": {"position": probe}}},
        "target": target | {"surface": {"cone": cone}},
        "contact": {"probe": {"between": ["probe", "cone"], "normal": normal}},
        "loop": {"delay": delay},
        "stability": dict(zip(("azimuth", "distance"), place, strict=True)),
    }


def some_body(rng):
    """At rest, with any full inertia tensor that a body can have."""
    mass, squares = 10 ** rng.uniform(1.5, 4), rng.uniform(0.05, 1.0, 3)  # kg, m²
    turn, attitude = rotation(rng.normal(size=4)), rng.normal(size=4)
    tensor = turn @ np.diag(mass * (squares.sum() - squares)) @ turn.T
    state = {"position": rng.uniform(-5, 5, 3), "velocity": np.zeros(3), "rate": np.zeros(3)}
    state["attitude"] = attitude / np.linalg.norm(attitude)
    return {"mass": mass, "inertia": (tensor + tensor.T) / 2} | state


def some_scene(rng):
    """Any geometry, contact at rest on the wall; the undelayed contact's frequency and damping ratio are moderate."""
    bodies = some_body(rng), some_body(rng)
    apex, probe = rng.uniform(-1.5, 1.5, (2, 3))
    place = [rng.uniform(-np.pi, np.pi), rng.uniform(0.1, 1.0)]
    scene = scene_of(*bodies, apex, probe, rng.uniform(0.2, 1.3), place, [1.0, 1.0], 0.01)
    mobility, frequency, ratio = Theory(scene).matrix[2, 2], rng.uniform(1, 4), rng.uniform(0.05, 0.5)
    law = {"stiffness": frequency**2 / mobility, "damping": 2 * ratio * frequency / mobility}
    scene["contact"]["probe"]["normal"] |= law
    return scene


def placed(scene, depth, velocity):
    """The same, put by its initial state: the probe `depth` (m) into the wall, moving along (m̂, t̂, n̂) (m/s)."""
    scene = copy.deepcopy(scene)
    chaser, target, where = scene["chaser"], scene["target"], scene.pop("stability")
    cone = target["surface"]["cone"]
    frame, turn = nozzle(cone["half_angle"], where["azimuth"]), rotation(target["attitude"])
    probe = rotation(chaser["attitude"]) @ chaser["feature"]["probe"]["position"]
    tip = turn @ (cone["apex"] + frame @ [where["distance"], 0, depth])
    chaser["position"], chaser["velocity"] = target["position"] + tip - probe, turn @ frame @ velocity
    return scene


def sazawal(delay):
    """Tables 1–3 with μ = 0 and without a clamp, contact at m* = 0.5 m, φ* = 0."""
    body = {"mass": 3000.0, "inertia": 500.0 * np.eye(3), "rate": np.zeros(3)}
    chaser = body | {"position": [3.533, 0, 0.25], "velocity": [-0.02, 0.005, 0], "attitude": [0, 0, 0, 1]}
    target = body | {"position": np.zeros(3), "velocity": np.zeros(3), "attitude": [1, 0, 0, 0]}
    return scene_of(chaser, target, np.array([1, 0, 0]), [2, 0, 0], np.pi / 6, [0.0, 0.5], [1000.0, 200.0], delay)


REST = 0.01  # m along the normal, which changes no lever of a force along it


def fitted_root(times, signal, frequency):
    """The root of a signal that is a single oscillation, from samples a quarter of a period apart."""
    lag = round(np.pi / 2 / frequency / (times[1] - times[0]))
    columns = np.column_stack([signal[lag:-lag], signal[: -2 * lag]])
    first, second = np.linalg.lstsq(columns, signal[2 * lag :])[0]
    roots = np.log(np.roots([1, -first, -second]).astype(complex)) / (lag * (times[1] - times[0]))
    return roots[np.argmax(roots.imag)]


def place_of(content, key):
    """Table (or list) and name (or index) of a number in a file's dictionary, or in one with bodies beside the rest."""
    parts = (key if "body" in content else key.removeprefix("body.")).split(".")
    for part in parts[:-1]:
        content = content[int(part) if part.isdigit() else part]
        content = content[0] if isinstance(content, list) and isinstance(content[0], dict) else content
    return content, int(parts[-1]) if parts[-1].isdigit() else parts[-1]


def difference(margin, content, keys, step=1e-4):
    """Central difference of a margin of a dictionary whose numbers at `keys` are scaled together."""
    values = []
    for factor in (1 + step, 1 - step):
        scaled = copy.deepcopy(content)
        for key in keys:
            table, name = place_of(scaled, key)
            table[name] = table[name] * factor
        values.append(margin(scaled))
    return (values[0] - values[1]) / (2 * step)

"""The columns of the table of capabilities: what a mechanism may have, each a small change of one base of two bodies."""

import copy
from collections.abc import Callable
from typing import Any

from plain_tables import acting, by_name

Tables = dict[str, Any]
GAP, SPEED, DURATION = 5e-3, 0.1, 0.2  # m, m/s, s: the tip touches after 50 ms
TIP, PLATE, RADIUS = 0.5, -0.5, 0.02  # m: along x, of the chaser's ball and of the target's plate
LAW = {"law": "hunt-crossley", "stiffness": 2e5, "exponent": 1, "damping": 1.0}
HINGE = {"kind": "revolute", "position": [0.0, 0.6, 0.0], "axis": [0.0, 0.0, 1.0], "stiffness": 40.0, "damping": 2.0}
SEAT = {"kind": "locked", "position": [0.0, 0.6, 0.0]}
VARIED: Tables = {"integrator": {"method": "variational", "step": 1e-4}}
FINER: Tables = {"integrator": {"method": "variational", "step": 5e-5}}  # it sees forces halfway along steps
BEAM = {
    "kind": "beam",
    "root": [0.0, -0.5, 0.0],
    "axis": [0.0, 1.0, 0.0],
    "across": [1.0, 0.0, 0.0],
    "length": 1.0,
    "mass_per_length": 3.0,
    "bending_stiffness": [90.0, 150.0],
    "torsional_stiffness": 30.0,
    "polar_inertia": 0.02,
    "damping_ratio": 0.01,
    "bending_modes": [1, 1],
    "twist_modes": 0,
}
FAR = {key: BEAM[key] for key in ("kind", "length", "mass_per_length", "bending_stiffness", "bending_modes")}
FAR |= {"basis": "craig-bampton", "damping": 1e-3}
TURNED = {"attitude": [0.5**0.5, 0.0, 0.0, 0.5**0.5], "inertia": [0.5, 2.0, 2.0]}  # its x axis along the beam
SEATED = [[TIP + RADIUS, 0.0, 0.0], [PLATE + 2e-3, 0.0, 0.0]]  # the front of the ball; a seat 2 mm behind the plate
HOOK = {"kind": "latch", "name": "hook", "anchor": SEATED, "axis": [-1.0, 0.0, 0.0], "reach": 1e-3, "lateral": 5e-2}
COMPLIANT = {"stiffness": 1e5, "damping": 1500.0}
LINE = {"anchor": [[0.0, 0.3, 0.0], [0.0, 0.3, 0.0]]}
CONE = {"name": "plate", "shape": "cone", "apex": [-0.3, 0.0, 0.0], "axis": [-1.0, 0.0, 0.0], "half_angle": "40 deg"}
RAMP = {"stiffness": 1500.0, "angle": "45 deg", "axial_length": 5e-3, "friction": 0.1}
BEHIND_A_RAMP = {key: value for key, value in HOOK.items() if key != "reach"} | {
    "anchor": [SEATED[0], [PLATE + 1e-3, 0.0, 0.0]],
    "ramp": RAMP,
}
TANK = {
    "on": "chaser",
    "position": [-0.4, 0.0, 0.0],
    "axis": [0.0, 0.3, 1.0],
    "radius": 0.2,
    "fill": 0.25,
    "density": 900.0,
    "frequency": 2.0,
    "damping_ratio": 0.02,
    "start": [0.01, 0.0],
}
DEEPEST = 0.03111447653721  # m: RADIUS / sin 40°, from the apex to the ball's centre where it touches the cone


def base() -> Tables:
    """Return two bodies, the ball of one of which strikes the plate of the other a little aside."""
    return {
        "schema": 2,
        "title": "A ball against a plate",
        "duration": DURATION,
        "body": {
            "chaser": {
                "mass": 100.0,
                "inertia": [[10.0, 0.3, 0.0], [0.3, 12.0, 0.0], [0.0, 0.0, 14.0]],
                "position": [PLATE - TIP - RADIUS - GAP, 0.02, 0.01],
                "velocity": [SPEED, 0.01, 0.0],
                "feature": {"tip": {"position": [TIP, 0.0, 0.0], "radius": RADIUS}},
                "port": {"nose": {"position": [TIP + RADIUS, 0.0, 0.0], "axis": [1.0, 0.0, 0.0]}},
            },
            "target": {
                "mass": 400.0,
                "inertia": [40.0, 50.0, 60.0],
                "surface": {"plate": {"shape": "plane", "point": [PLATE, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}},
                "port": {"port": {"position": [PLATE, 0.0, 0.0], "axis": [-1.0, 0.0, 0.0]}},
            },
        },
        "contact": {"touch": {"between": ["tip", "plate"], "normal": dict(LAW)}},
        "output": {"interval": 2e-4},
        "requirements": {"peak_force": "< 1 N", "contact.count": ">= 1"},
    }


def having(**tables: Any) -> Callable[[], Tables]:
    """Return what makes the base with these tables."""
    return lambda: copy.deepcopy(base() | tables)


def with_law(judged_at: float | None = None, **law: Any) -> Callable[[], Tables]:
    """Return what makes the base whose contact has another law; margins are those `judged_at` a depth (m)."""

    def made() -> Tables:
        found = base() | ({} if judged_at is None else {"stability": {"depth": judged_at}})
        found["contact"]["touch"]["normal"] = law
        return found

    return made


def with_friction(law: str, **numbers: Any) -> Callable[[], Tables]:
    """Return what makes the base whose contact has friction."""

    def made() -> Tables:
        found = base()
        found["contact"]["touch"]["friction"] = {"law": law, **numbers}
        return found

    return made


def with_element(*phases: Tables, **element: Any) -> Callable[[], Tables]:
    """Return what makes the base with an element between both bodies, and phases."""
    where = {} if element["kind"] == "thruster" else {"between": ["chaser", "target"]}
    return having(**acting(element | where), **({"phase": by_name(phases)} if phases else {}))


def with_arm(**control: Any) -> Callable[[], Tables]:
    """Return what makes the base with a panel on a hinge that control moves."""

    def made() -> Tables:
        return with_panel(joint=HINGE)() | {"control": {"body": "chaser"} | control}

    return made


def with_panel(tables: Tables = {}, **panel: Any) -> Callable[[], Tables]:  # noqa: B006, never changed
    """Return what makes the base, and these `tables`, with a panel that a joint holds on the chaser."""

    def made() -> Tables:
        found = base() | copy.deepcopy(tables)
        carried = {"on": "chaser", "position": [0.0, 1.1, 0.0], "mass": 5.0, "inertia": [2.0, 0.5, 2.0]}
        found["body"] = {
            "chaser": found["body"]["chaser"],
            "panel": copy.deepcopy(carried | panel),
            "target": found["body"]["target"],
        }
        return found

    return made


def in_the_plane() -> Tables:
    """Return the base with a panel on a hinge, all of it in the x–y plane."""
    found = with_panel(joint=HINGE)() | {"motion": "plane"}
    found["body"]["chaser"] |= {"position": [PLATE - TIP - RADIUS - GAP, 0.02, 0.0], "inertia": [10.0, 12.0, 14.0]}
    return found


def with_two_contacts() -> Tables:
    """Return the base with a second ball, which touches a little later."""
    found = base()
    found["body"]["chaser"]["feature"]["heel"] = {"position": [TIP - 1e-3, 0.2, 0.0], "radius": RADIUS}
    found["contact"]["second"] = {"between": ["heel", "plate"], "normal": dict(LAW)}
    return found


def with_approach() -> Tables:
    """Return the base whose motion is stated between ports."""
    found = base()
    for key in ("position", "velocity"):
        del found["body"]["chaser"][key]
    found["approach"] = {"of": "nose", "to": "port", "distance": GAP, "closing_speed": SPEED}
    return found


def on_a_line(**tables: Any) -> Callable[[], Tables]:
    """Return what makes the base on a line: the same places, each a number, and no friction."""

    def made() -> Tables:
        found = base() | {"motion": "line"} | copy.deepcopy(tables)
        nose, port = TIP + RADIUS, PLATE
        found["body"] = {
            "chaser": {
                "mass": 100.0,
                "position": PLATE - TIP - RADIUS - GAP,
                "velocity": SPEED,
                "port": {"nose": {"position": nose, "axis": 1}},
            },
            "target": {"mass": 400.0, "port": {"port": {"position": port, "axis": -1}}},
        }
        found["contact"] = {"touch": {"between": ["chaser.nose", "target.port"], "normal": dict(LAW)}}
        return found

    return made


def with_cone_latch(grip: str) -> Callable[[], Tables]:
    """Return what makes a probe that comes along the axis of a cone with a spring latch in its throat."""

    def made() -> Tables:
        found = base()
        chaser, target = found["body"].values()
        del chaser["port"], target["port"]
        target["surface"] = by_name([dict(CONE)])
        latch = {"between": ["chaser", "target"], "feature": "tip", "surface": "plate"}
        found |= {"latch": {"hook": latch | {"entry": DEEPEST + 6e-3, "grip": grip, "ramp": dict(RAMP)}}}
        chaser |= {"position": [-0.3 - DEEPEST - 10e-3 - TIP, 1e-3, 0.0], "velocity": [SPEED, 0.0, 0.0]}
        return found

    return made


HOLD = {
    "body": "chaser",
    "law": "attitude-hold",
    "period": 0.05,
    "base_stiffness": 40.0,
    "base_damping": 30.0,
    "base_limit": 2.0,
    "velocity_damping": 60.0,
    "velocity": [SPEED, 0.0, 0.0],
    "thruster_force": 5.0,
}
PUSH = {"kind": "thruster", "name": "jet", "body": "chaser", "position": [0.0, 0.1, 0.0], "direction": [1.0, 0.0, 0.0]}
LINE_HOOK = {"kind": "latch", "name": "hook", "between": ["chaser", "target"], "anchor": [TIP + RADIUS, PLATE + 2e-3]}
PHASES = ({"name": "approach"}, {"name": "pushing", "when": "contact", "set": {"thruster.jet.force": 40.0}})
LETS_GO = ({"name": "held"}, {"name": "apart", "when": {"lasting": 0.12}, "set": {"latch.hook.closed": False}})
BUSHING = {
    "stiffness": [800.0] * 3,
    "turning_stiffness": [70.0] * 3,
    "damping": [20.0] * 3,
    "turning_damping": [2.0] * 3,
}
TURNING = {"rolling": 2e-3, "spinning": 2e-3, "turning_regularisation": 5e-3}
COLUMNS: dict[str, Callable[[], Tables]] = {
    "rigid bodies": base,
    "tree: a panel on a hinge": with_panel(joint=HINGE),
    "beam": with_panel(joint=SEAT, flexible=BEAM),
    "beam that bends far": with_panel(**TURNED, joint=SEAT, flexible=FAR),
    "ball joint": with_panel(joint={"kind": "spherical", "position": [0.0, 0.6, 0.0], "damping": 2.0}),
    "tank that sloshes": having(tank={"fuel": TANK}),
    "motion in the plane": in_the_plane,
    "approach between ports": with_approach,
    "contact law: Hunt and Crossley, exponent 1.5": with_law(
        1e-3, law="hunt-crossley", stiffness=4e6, exponent=1.5, damping=0.5
    ),
    "contact law: Hertz": with_law(1e-3, law="hertz", stiffness=4e6),
    "contact law: spring and dashpot": with_law(law="spring-dashpot", stiffness=2e5, damping=400.0),
    "contact law: spring and dashpot that adheres": with_law(
        law="spring-dashpot", stiffness=2e5, damping=400.0, adhesion=True
    ),
    "contact law: elastic and plastic": with_law(
        law="elastic-plastic", stiffness=2e5, yield_force=20.0, plastic_stiffness=1e5, damping=100.0
    ),
    "contact law: Thornton": with_law(judged_at=1e-4, law="thornton", stiffness=1e7, yield_force=20.0),
    "contact law: Zener": with_law(law="zener", stiffness=2e5, series_stiffness=1e5, relaxation_time=2e-3),
    "contact law: DMT": with_law(judged_at=1e-4, law="dmt", stiffness=2e7, pull_off_force=5.0, damping=100.0),
    "contact law: JKR": with_law(judged_at=1e-4, law="jkr", stiffness=2e7, pull_off_force=5.0, damping=100.0),
    "contact law: measured": with_law(
        law="measured",
        depth=[0.0, 2e-4, 1e-3],
        rate=[-0.1, 0.0, 0.1],
        force=[[0.0, 0.0, 2.0], [30.0, 40.0, 52.0], [180.0, 200.0, 230.0]],
    ),
    "friction": with_friction("coulomb", coefficient=0.2, regularisation=5e-3),
    "friction that resists turning": with_friction("coulomb", coefficient=0.2, regularisation=5e-3, **TURNING),
    "friction that sticks": with_friction(
        "stick-slip", coefficient=0.2, stiffness=1e5, retardation_time=2e-3, rolling=2e-3, spinning=2e-3
    ),
    "two contacts": with_two_contacts,
    "delay": having(loop={"delay": 2e-3}),
    "fixed step": having(integrator={"method": "fixed", "step": 1e-4}),
    "variational method": having(**VARIED),
    "variational method, beam that bends far": with_panel(**TURNED, joint=SEAT, flexible=FAR, tables=FINER),
    "latch, compliant": with_element(**HOOK, **COMPLIANT),
    "latch, pin": with_element(**HOOK, grip="pin"),
    "latch, weld": with_element(**HOOK, grip="weld"),
    "latch, behind a ramp": with_element(**BEHIND_A_RAMP, **COMPLIANT),
    "latch that lets go": with_element(*LETS_GO, **HOOK, **COMPLIANT),
    "strut": with_element(kind="strut", name="strut", stiffness=2000.0, damping=50.0, **LINE),
    "bushing": with_element(kind="bushing", name="bushing", position=[0.0, 0.0, 0.0], **BUSHING),
    "cable": with_element(kind="cable", name="cable", stiffness=2000.0, free_length=1.0, **LINE),
    "magnet": with_element(kind="magnet", name="magnet", force=40.0, gap=0.5, **LINE),
    "thruster": with_element(**PUSH, force=30.0),
    "phases": with_element(*PHASES, **PUSH, force=0.0),
    "orbit": having(orbit={"semi_major_axis": 6.8e6, "gravity_gradient": True}),
    "control: attitude hold": having(control=HOLD),
    "control: joints of an arm": with_arm(law="joint-pd", stiffness=[30.0], damping=[10.0], limit=[8.0]),
    "control: an arm that detumbles": with_arm(law="detumble", time=5.0, limit=[8.0], base_limit=3.0),
    "on a line": on_a_line(),
    "on a line, latch behind a ramp": on_a_line(
        **acting({**LINE_HOOK, "anchor": [TIP + RADIUS, PLATE + 1e-3], "ramp": RAMP, **COMPLIANT})
    ),
    "cone latch, compliant": with_cone_latch("compliant"),
    "cone latch, rigid weld": with_cone_latch("weld"),
}

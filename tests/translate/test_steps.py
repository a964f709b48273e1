"""Every model and integrator of the product, step by step: machine code of dockdyn's own beside XLA's, over random rows.

Numbers agree to 1e-12 of the size of their variable; where that cannot be asked, as of the difference of two numbers that
are nearly equal, to what XLA itself changes when all its arguments move by 1e-12 of theirs. Decisions, whole numbers and the
places of NaN and infinities, are the same, but in rows that one of both ways by itself decides otherwise after such a move, or
whose step ends where a guard is zero: there a contact is closed or open, a step taken or refused, by a rounding. Those are
counted; an implicit step has more of them, as from states that no run comes to Newton's corrections wander.
"""

from functools import partial

import numpy as np
import pytest
from plain_tables import by_name
from random_rows import HUGE, Compared, random_rows
from step_cases import (
    distance_field_case,
    fixed_case,
    flow_case,
    impact_case,
    law_case,
    located_case,
    preset,
    rig_case,
    simultaneous_case,
    variational_case,
)

from dockdyn.impact.laws.by_name import LAWS

SAMPLE, ALL = 500, 10_000  # rows
FEW = 0.1  # of the rows with a huge number: one of the two ways overflows, the other does not
MANY = 0.01  # of the rows: decided by rounding
WANDERING = 0.2  # of the rows of an implicit step: from a state that no run comes to, Newton's corrections wander
LOOSE = 0.01  # of the numbers: held against moved arguments, not against their size
PLANE = {"name": "cone", "shape": "plane", "point": [1.4, 0, 0], "normal": [1, 0, 0]}
SHAPES = {
    "plane": PLANE,
    "sphere": {"name": "cone", "shape": "sphere", "centre": [1, 0, 0.1], "radius": 0.5},
    "bowl": {"name": "cone", "shape": "sphere", "centre": [1.8, 0, 0], "radius": 0.6, "inside": True},
    "cylinder": {"name": "cone", "shape": "cylinder", "point": [1, 0, 0], "axis": [0.1, 1, 0], "radius": 0.4},
    "torus": {
        "name": "cone",
        "shape": "torus",
        "centre": [1.2, 0, 0],
        "axis": [1, 0, 0],
        "major_radius": 0.35,
        "minor_radius": 0.1,
    },
    "revolved": {
        "name": "cone",
        "shape": "revolved",
        "axis": [1, 0.1, 0],
        "profile": [[0.5, 0], [1.0, 0], [1.4, 0.5], [1.4, 0.6], [0.5, 0.6]],
        "rounding": 0.02,
    },
    "intersection": {
        "name": "cone",
        "shape": "intersection",
        "parts": [PLANE, {"shape": "cone", "apex": [1.2, 0, 0], "axis": [1, 0, 0], "half_angle": 0.6}],
    },
    "union": {
        "name": "cone",
        "shape": "union",
        "parts": [PLANE, {"shape": "sphere", "centre": [1.3, 0, 0.2], "radius": 0.2}],
    },
}
NORMALS = {
    "hertz": {"law": "hertz", "stiffness": 7000.0},
    "hunt-crossley": {"law": "hunt-crossley", "stiffness": 7000.0, "damping": 9.0},
    "adhesive": {"law": "spring-dashpot", "stiffness": 1200.0, "damping": 70.0, "adhesion": True},
    "force-stroke": {
        "law": "force-stroke",
        "stroke": [0.0, 0.01, 0.03],
        "force": [0.0, 12.0, 31.0],
        "unloading_force": [0.0, 6.0, 31.0],
        "bottoming_stiffness": 2500.0,
        "preload": 0.7,
        "damping": 35.0,
    },
    "zener": {"law": "zener", "stiffness": 1200.0, "series_stiffness": 900.0, "relaxation_time": 0.05},
    "dmt": {"law": "dmt", "stiffness": 7000.0, "pull_off_force": 0.3},
    "jkr": {"law": "jkr", "stiffness": 7000.0, "pull_off_force": 0.3},
    "measured": {
        "law": "measured",
        "depth": [0.0, 0.01, 0.03],
        "rate": [-0.05, 0.0, 0.05],
        "force": [[0.0, 0.0, 1.0], [9.0, 12.0, 14.0], [26.0, 31.0, 40.0]],
    },
}
HOLD = {
    "body": "chaser",
    "law": "attitude-hold",
    "base_stiffness": 40.0,
    "base_damping": 30.0,
    "base_limit": 3.0,
    "base_capacity": 20.0,
    "position_stiffness": 5.0,
    "velocity_damping": 6.0,
    "thruster_force": 4.0,
    "thruster_impulse": 30.0,
}
DAMPING = {
    "body": "chaser",
    "law": "rate-damping",
    "base_damping": 30.0,
    "thruster_torque": 2.0,
    "thruster_angular_impulse": 9.0,
}
CATCH = {"stiffness": 40000.0, "damping": 500.0, "stroke": 0.002, "turning_stiffness": 300.0, "turning_damping": 8.0}
VELOCITIES = ["robot", "model", "tracking-differentiator", "filtered-difference"]
COMPENSATORS = {
    "fixed-gain": {"gain": 80.0},
    "linear-gain": {"gain": 70.0, "slope": 0.1, "velocity": "robot"},
    "variable-gain": {"gain": 90.0, "slope": 0.02, "switch_time": 0.05, "velocity": "tracking-differentiator"},
    "velocity-acceleration": {"gain": 80.0, "inertia": 0.4, "velocity": "filtered-difference"},
    "force-lead": {"lead": 4e-3, "filter_time": 1e-3},
    "online-stiffness": {},
    "passivity": {},
    "command-lead": {"lead": 5e-3, "second_lead": 2e-5},
    "energy-layer": {},
    "lead-energy": {"lead": 5e-3, "second_lead": 2e-5},
}
SENSOR = {
    "delay": 2e-3,
    "jitter": 4e-4,
    "noise": 0.5,
    "bias": 0.1,
    "resolution": 0.02,
    "range": 300.0,
    "drop_rate": 0.1,
}
SENSOR |= {"position_noise": 1e-6, "period": 2e-3}
METHODS = ["half-period", "zero-order-hold", "explicit-euler", "semi-implicit-euler"]
ROBOT = {"numerator": [2526.6], "denominator": [1.0, 70.4, 2526.6], "rate_limit": 0.2, "position_limit": 0.5}


def _of(make, name, **changes):
    return lambda: make(preset(name, **changes))


FREE = "sazawal-spring-dashpot"
OFTEN = {
    "distance field": distance_field_case,
    "latch": _of(located_case, "paraskevas-latch"),
    "four masses, fixed steps": _of(fixed_case, "paraskevas-b"),
    "cone, fixed steps": _of(fixed_case, FREE),
    "rig": _of(rig_case, "sits"),
    "impact energetic, 2 rows": partial(law_case, "energetic", 2),
    "impact energy-pair, 3 rows": partial(law_case, "energy-pair", 3),
    "impact pin, 3 rows": partial(law_case, "pin", 3),
}
RARELY = {
    **{f"chains {name}": _of(located_case, f"paraskevas-{name}") for name in ("a", "b", "c", "d", "latch-slow")},
    "latch with friction": _of(
        located_case, "paraskevas-latch", **{"latch.capture.ramp.friction": 0.2, "latch.capture.ramp.preload": 0.1}
    ),
    **{name: _of(located_case, name) for name in (FREE, "sazawal-compliance", "probe-cone", "probe-cone-latch")},
    **{name: _of(located_case, name) for name in ("idss-probe-cone",)},
    "no delay": _of(located_case, FREE, **{"loop.delay": 0.0}),
    **{f"law {name}": _of(located_case, FREE, **{"contact.probe.normal": law}) for name, law in NORMALS.items()},
    **{
        f"shape {name}": _of(located_case, FREE, **{"body.target.surface": by_name([shape])})
        for name, shape in SHAPES.items()
    },
    "control by holding": _of(located_case, FREE, control=HOLD),
    "control by damping": _of(located_case, FREE, control=DAMPING),
    "control, fixed steps": _of(fixed_case, FREE, control=HOLD),
    "latch, fixed steps": _of(fixed_case, "probe-cone-latch"),
    "latch with rigid weld": _of(located_case, "probe-cone-latch", **{"latch.capture.grip": "weld"}),
    "latch with rigid pin": _of(located_case, "probe-cone-latch", **{"latch.capture.grip": "pin"}),
    "latch with catch": _of(
        located_case, "probe-cone-latch", **{f"latch.capture.{key}": value for key, value in CATCH.items()}
    ),
    **{
        f"rig {law}": _of(rig_case, "sits", **{"loop.compensator": {"law": law, **keys}})
        for law, keys in COMPENSATORS.items()
    },
    "rig that parts": _of(
        rig_case, "sits", **{"contact.spring.bilateral": False, "contact.spring.normal.adhesion": False}
    ),
    "rig with a real sensor": _of(rig_case, "sits", **{"loop.sensor": SENSOR}),
    **{
        f"rig {method}": _of(rig_case, "sits", **{"loop.dynamics": {"method": method, "period": 2e-3}})
        for method in METHODS
    },
    "rig of an unknown stiffness": _of(rig_case, "unknown-stiffness"),
    "rig with limits": _of(rig_case, "sits", **{"loop.robot": ROBOT}),
    "rig in space": _of(rig_case, "epos-like"),
    "rig in space with robot": _of(rig_case, "epos-like", **{"loop.robot": ROBOT | {"position_limit": 4.0}}),
    **{
        f"impact {law}, {rows} rows": partial(law_case, law, rows)
        for law, of in LAWS.items()
        for rows in (of.rows or (1, 3))
        if f"impact {law}, {rows} rows" not in OFTEN
    },
    "two contacts at once": partial(simultaneous_case, 2),
    **{
        f"impact of {name}": _of(impact_case, name)
        for name in ("cyril-plastic", "cyril-elastic", "cyril-r-e-r-f", "berthing-3d")
    },
    **{f"flow of {name}": _of(flow_case, name) for name in ("cyril-plastic", "cyril-controlled", "cyril-elastic")},
    **{f"flow of {name}": _of(flow_case, name) for name in ("detumble", "berthing-3d")},
    "arm that rebounds": _of(located_case, "cyril-elastic", **{"integrator.method": "located", "duration": 2.0}),
    **{name: _of(variational_case, name) for name in ("gibson-2d", "gibson-2d-retreat", "canadarm-2d")},
    "arm by the discrete law": _of(
        variational_case, "gibson-2d", **{"contact_law.hard.impact": {"law": "variational"}}
    ),
    "arm with variable steps": _of(variational_case, "gibson-2d", **{"integrator.error": 1e-6}),
}


def check(name, make, count, better=False):
    """The claims of this module for `count` rows."""
    case = make()
    rows = random_rows(case.trees, count)
    found = Compared(case.function, case.trees, rows, better)
    differences = found.differences()
    assert not differences.wrong, differences.wrong
    assert differences.loose <= LOOSE
    apart = differences.apart & ~differences.wavers
    held = {place: value for place, (_, value) in rows.extreme.items()}
    if found.eliminates:  # LAPACK leaves out products by zero, and so loses what is no number
        lost = [place for place in map(int, np.flatnonzero(apart)) if not np.isfinite(held.get(place, 0.0))]
        assert all(found.less_is_known(place) for place in lost)
        apart[lost] = False
    # whether one of two huge numbers, or their difference, overflows first is the order of a sum
    grown = [
        place for place, value in held.items() if np.isfinite(value) and found.overflows(place)
    ]  # as of no inertia
    apart[grown] = False
    huge = [place for place, value in held.items() if np.isfinite(value) and abs(value) >= HUGE]
    others = [place for place in huge if apart[place] and not found.overflows(place)]
    assert len(others) <= max(2, FEW * len(huge))
    apart[huge] = False
    assert not apart.any(), [(place, rows.extreme.get(int(place))) for place in np.flatnonzero(apart)]
    share = WANDERING if ".corrections" in found.names else MANY
    assert (differences.apart & rows.ordinary).sum() <= max(2, share * count)


@pytest.mark.full_cases(
    "latch",
    "rig",
    "four masses, fixed steps",
    "distance field",
    "cone, fixed steps",
    "impact energetic, 2 rows",
    "impact pin, 3 rows",
)
@pytest.mark.parametrize("name", OFTEN)
def test_a_step_is_the_same(name):
    check(name, OFTEN[name], SAMPLE)


@pytest.mark.full
@pytest.mark.parametrize("name", [*OFTEN, *RARELY])
def test_steps_are_the_same(name):
    """Of the optimised machine code, too: its bits are those of the first one."""
    check(name, (OFTEN | RARELY)[name], ALL, better=name in OFTEN)

"""Scenarios of vehicles with tanks, for tests."""

RADIUS, FILL, DENSITY, FREQUENCY, RATIO, START = 0.45, 0.5, 880.0, 0.2, 0.03, (0.02, -0.01)
FUEL = {
    "on": "stand",
    "position": [0.1, 0.2, -0.3],
    "axis": [2.0, 0.0, 0.0],
    "radius": RADIUS,
    "fill": FILL,
    "density": DENSITY,
    "frequency": FREQUENCY,
    "damping_ratio": RATIO,
    "start": list(START),
}
LEDGE = {"mass": 5.0, "inertia": [1.0, 1.0, 1.0], "position": [5.0, 0.0, 0.0]}
STANDING = {"schema": 2, "duration": 8.0, "body": {"stand": {"fixed": True}, "ledge": LEDGE}, "tank": {"fuel": FUEL}}

TANKER = {
    "schema": 2,
    "duration": 9.0,
    "approach": {
        "of": "probe",
        "to": "cone",
        "distance": 0.02,
        "closing_speed": 0.06,
        "lateral_offset": [0.04, -0.03],
    },
    "body": {
        "chaser": {
            "mass": 1200.0,
            "inertia": [[500.0, 20.0, -10.0], [20.0, 900.0, 15.0], [-10.0, 15.0, 950.0]],
            "feature": {"probe": {"position": [1.6, 0.0, 0.0], "radius": 0.015}},
        },
        "target": {
            "mass": 3200.0,
            "inertia": [2100.0, 2600.0, 2400.0],
            "surface": {
                "cone": {"shape": "cone", "apex": [1.1, 0, 0], "axis": [1, 0, 0], "half_angle": 0.7, "rim_radius": 0.25}
            },
        },
    },
    "contact": {
        "probe": {
            "between": ["probe", "cone"],
            "normal": {"law": "spring-dashpot", "stiffness": 8e3, "damping": 400.0},
            "friction": {"law": "coulomb", "coefficient": 0.12},
        }
    },
    "tank": {
        "fuel": FUEL | {"on": "chaser", "position": [-0.9, 0.0, 0.0], "modes": 2, "start": [0.0, 0.0]},
        "oxidiser": FUEL
        | {"on": "chaser", "position": [0.2, 0.1, 0.0], "axis": [0.2, 0.1, 1.0], "fill": 0.4, "start": [0.01, 0.0]},
    },
}

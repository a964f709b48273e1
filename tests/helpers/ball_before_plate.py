"""A ball in free flight before a plate: bodies, contact, and what a test changes of them."""


def ball_before_plate(chaser=None, target=None, **tables):
    """Return the tables of a chaser that is a ball of 50 mm and of a target that is a plate, 48 m apart."""
    plate = {"shape": "plane", "point": [1.0, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    ball = {"position": [-1.0, 0.0, 0.0], "radius": 0.05}
    law = {"law": "spring-dashpot", "stiffness": 2000.0, "damping": 60.0}
    inertia = {"mass": 300.0, "inertia": [60.0, 80.0, 90.0]}
    return {
        "schema": 2,
        "chaser": inertia | {"position": [50.0, 0.0, 0.0], "feature": {"ball": ball}} | (chaser or {}),
        "target": {"mass": 800.0, "inertia": [200.0, 250.0, 300.0], "surface": {"plate": plate}} | (target or {}),
        "contact": {"ball": {"between": ["ball", "plate"], "normal": law}},
    } | tables

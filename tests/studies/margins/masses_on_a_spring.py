"""Two masses on a spring, touched by a third through a delay: the scenario, and its open loop by hand."""

from plain_tables import acting, by_name

MASSES, SPRING, DAMPER = (50.0, 20.0, 300.0), 4000.0, 30.0  # kg, N/m, N s/m
STIFFNESS, DAMPING = 2000.0, 150.0  # of the contact


def on_a_spring(delay, element=True):
    """A visitor that meets a buffer, which a strut (or a slide with a spring) holds before a base, all along x."""
    inertia = [5.0, 5.0, 5.0]
    plate = {"shape": "plane", "point": [-0.1, 0, 0], "normal": [-1.0, 0, 0]}
    visitor = {"name": "visitor", "position": [-0.5, 0, 0], "velocity": [0.05, 0, 0]}
    buffer = {"name": "buffer", "on": "base", "position": [-1.0, 0, 0], "surface": {"plate": plate}}
    strut = {"kind": "strut", "name": "strut", "between": ["buffer", "base"], "anchor": [[0, 0, 0], [0, 0, 0]]}
    strut |= {"stiffness": SPRING, "damping": DAMPER}
    if not element:
        buffer["joint"] = {"kind": "prismatic", "axis": [1, 0, 0], "stiffness": SPRING, "damping": DAMPER}
    bodies = [visitor | {"feature": {"tip": {"position": [0.3, 0, 0]}}}, buffer, {"name": "base"}]
    bodies[2]["position"] = [1.0, 0, 0]
    return {
        "schema": 2,
        "duration": 20.0,
        "loop": {"delay": delay},
        "body": by_name([one | {"mass": mass, "inertia": inertia} for one, mass in zip(bodies, MASSES, strict=True)]),
        "contact": {
            "tip": {
                "between": ["tip", "plate"],
                "normal": {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": DAMPING},
            }
        },
        **(acting(strut) if element else {}),
    }


def open_loop(s):
    """(K + b s) W(s): what the depth gives back, but for the delay; W is the depth that a unit force takes away."""
    visitor, buffer, base = MASSES
    held = DAMPER * s + SPRING
    behind = (base * s**2 + held) / (s**2 * (buffer * base * s**2 + (buffer + base) * held))
    return (STIFFNESS + DAMPING * s) * (1 / (visitor * s**2) + behind)

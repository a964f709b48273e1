"""Bodies in free flight that meet, as another engine can be asked for, too: balls on bodies, a plane, a law, a friction."""

import itertools
import json
from pathlib import Path
from typing import Any, NamedTuple

DAMPING = 0.4  # s/m, of k d (1 + c ḋ)
SLOW = 1e-5  # m/s, below which friction fades
STIFFNESSES = (2e5, 2e7, 2e9)  # N/m
OF_DRAKE = Path(__file__).with_name("drake_impacts.json")  # written by benchmarks/drake_impacts.py

type Tables = dict[str, Any]


class Body(NamedTuple):
    """A body, and the balls (place in its axes, radius, in m) by which it touches; its rate is in its own axes."""

    mass: float
    inertia: tuple[float, float, float]
    balls: tuple[tuple[tuple[float, float, float], float], ...]
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]
    rate: tuple[float, float, float]
    attitude: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


class Scene(NamedTuple):
    """What meets: two bodies, or one and the plane z = 0."""

    bodies: tuple[Body, ...]
    duration: float  # s
    friction: float


RADIUS = 0.05  # m, of a ball
_MIDDLE = (((0.0, 0.0, 0.0), RADIUS),)
_CORNERS = tuple((place, 0.01) for place in itertools.product((-0.1, 0.1), (-0.15, 0.15), (-0.08, 0.08)))
_BALL = Body(2.0, (2e-3, 2e-3, 2e-3), _MIDDLE, (0.0, 0.0, 0.0501), (0.5, 0.1, -0.4), (1.0, -2.0, 3.0))
_LEFT = _BALL._replace(position=(0.0, 0.0, 0.0), velocity=(0.6, 0.0, 0.0), rate=(0.0, 5.0, -4.0))
_RIGHT = Body(
    3.0, (4e-3, 5e-3, 6e-3), (((0.0, 0.0, 0.0), 0.07),), (0.116, 0.02, 0.03), (-0.2, 0.1, 0.0), (2.0, 0.0, 1.0)
)
_TURNED = (0.96, 0.24, -0.12, 0.08)
_BOX = Body(5.0, (0.05, 0.03, 0.06), _CORNERS, (0.0, 0.0, 0.19), (0.3, -0.1, -0.5), (1.0, 0.5, -0.7), _TURNED)
SCENES = {
    "ball that rolls off": Scene((_BALL,), 0.05, 0.3),
    "ball that slides": Scene((_BALL._replace(velocity=(2.0, 0.4, -0.4)),), 0.05, 0.1),
    "two balls aside": Scene((_LEFT, _RIGHT), 0.08, 0.3),
    "box on two of its corners": Scene((_BOX,), 0.5, 0.2),
}


def tables_of(scene: Scene, stiffness: float) -> Tables:
    """Return a scene as the tables of a scenario, its contacts of a stiffness (N/m)."""
    laws = {
        "normal": {"law": "hunt-crossley", "stiffness": stiffness, "exponent": 1.0, "damping": DAMPING},
        "friction": {"law": "coulomb", "coefficient": scene.friction, "regularisation": SLOW},
    }
    bodies = {f"body{number}": _table_of(body) for number, body in enumerate(scene.bodies)}
    if len(scene.bodies) == 1:
        top = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
        bodies["floor"] = {"fixed": True, "surface": {"top": top}}
        between = [[f"body0.ball{number}", "floor.top"] for number in range(len(scene.bodies[0].balls))]
    else:
        between = [["body0.ball0", "body1.ball0"]]
    contacts = {f"touch{number}": {"between": pair, **laws} for number, pair in enumerate(between)}
    return {"schema": 2, "duration": scene.duration, "body": bodies, "contact": contacts}


def _table_of(body: Body) -> Tables:
    balls = {
        f"ball{number}": {"shape": "ball", "position": list(place), "radius": radius}
        for number, (place, radius) in enumerate(body.balls)
    }
    motion = {key: list(getattr(body, key)) for key in ("inertia", "position", "velocity", "rate", "attitude")}
    return {"mass": body.mass, **motion, "feature": balls}


def drake_version() -> str:
    """Return which Drake it was."""
    return json.loads(OF_DRAKE.read_text())["drake"]


def drake_says(name: str, stiffness: float) -> list[dict[str, list[float]]]:
    """Return velocity (m/s) and rate (rad/s, own axes) of each body at the end, as Drake has them."""
    return json.loads(OF_DRAKE.read_text())["scenes"][name][f"{stiffness:g}"]

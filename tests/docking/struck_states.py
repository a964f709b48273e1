"""Bodies that fly onto each other, and a run just before and just after its impacts, in NumPy."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from plain_tables import by_name, contacts_by_name
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.integrate.hybrid import located
from dockdyn.mechanism.impact_contact import TOUCHED
from dockdyn.programs import Program
from dockdyn.results.plan import settings_for

GAP, RADIUS = 0.02, 0.07  # m


class Bodies(NamedTuple):
    """All bodies at an instant, inertial but for rates, which are in their own axes."""

    position: np.ndarray
    turn: np.ndarray  # body to inertial
    velocity: np.ndarray
    rate: np.ndarray
    impulse: np.ndarray  # N s, of each contact so far
    work: float

    def motion(self) -> np.ndarray:
        """Velocity and rate of each body, a row of six."""
        return np.concatenate([self.velocity, self.rate], axis=1)


@Program
def _log(content: Any, settings: located.Settings) -> Any:
    model = content.model()
    solution = located.solve_located(model, settings)

    def seen(x):
        places = model.placement(x).bodies
        here = [
            jnp.stack([one.array() for one in parts])
            for parts in (
                [place.pose.position for place in places],
                [place.rotation for place in places],
                [place.twist.velocity for place in places],
                [place.twist.rate for place in places],
            )
        ]
        return (*here, jnp.stack([hit.impulse for hit in x.memory.impacts]), x.memory.work)

    states = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), model.initial(), solution.log.state)
    times = jnp.concatenate([jnp.zeros(1), solution.log.time])
    return solution.moments + 1, times, states.mode, jax.lax.map(seen, states)


def impacts(content: dict[str, Any]) -> list[tuple[float, Bodies, Bodies]]:
    """The instants of a run at which contacts have been struck, and the bodies before and after."""
    scenario = dockdyn.load(content)
    count, times, modes, states = jax.tree.map(
        np.asarray, _log(scenario.content, settings_for(scenario.content, False))
    )
    touched = np.any([mode == TOUCHED for mode in modes[: len(content["contact"])]], axis=0)
    rows = [row for row in range(int(count) - 1) if touched[row]]
    return [(times[row], *(Bodies(*(part[at] for part in states)) for at in (row, row + 1))) for row in rows]


def random_body(draw: np.random.Generator, name: str, mass: float) -> dict[str, Any]:
    turn = Rotation.random(rng=draw).as_matrix()
    return {
        "name": name,
        "mass": mass,
        "inertia": (turn @ np.diag(mass * draw.uniform(0.2, 0.35, 3)) @ turn.T).tolist(),
    }


def struck_arm(draw: np.random.Generator, impact: dict[str, Any], joints: int = 0) -> dict[str, Any]:
    """A ball, on a free body or on the last link of an arm of so many joints, that flies onto a plane of a free body."""
    bodies = [random_body(draw, "base", 10 ** draw.uniform(1, 2))]
    turns = [Rotation.random(rng=draw)]
    places = [np.zeros(3)]
    for number in range(joints):
        place, mount, axis = draw.normal(size=(3, 3))
        link = random_body(draw, f"link{number}", 10 ** draw.uniform(0, 1))
        joint = {"kind": "revolute", "axis": axis.tolist(), "position": mount.tolist()}
        joint["start_rate"] = 0.1 * draw.normal()
        bodies.append(link | {"on": bodies[-1]["name"], "position": place.tolist(), "joint": joint})
        places.append(places[-1] + turns[0].apply(place))
    tip = draw.normal(size=3)
    bodies[-1]["feature"] = {"tip": {"position": tip.tolist(), "radius": RADIUS}}
    bodies[0] |= {
        "attitude": turns[0].as_quat(scalar_first=True).tolist(),
        "position": [0, 0, 0],
        "rate": (0.05 * draw.normal(size=3)).tolist(),
    }
    normal, own = draw.normal(size=(2, 3))
    normal /= np.linalg.norm(normal)
    ball, turn = places[-1] + turns[0].apply(tip), Rotation.random(rng=draw)
    payload = random_body(draw, "payload", 10 ** draw.uniform(1, 2)) | {
        "attitude": turn.as_quat(scalar_first=True).tolist(),
        "position": (ball - (RADIUS + GAP) * normal - turn.apply(own)).tolist(),
        "velocity": (0.5 * normal + 0.1 * draw.normal(size=3)).tolist(),
        "rate": (0.05 * draw.normal(size=3)).tolist(),
    }
    plane = {"shape": "plane", "point": own.tolist(), "normal": turn.inv().apply(normal).tolist()}
    payload["surface"] = {"face": plane}
    contact = {"between": ["tip", "face"], "impact": impact}
    return {
        "schema": 2,
        "duration": 0.1,
        "body": by_name([*bodies, payload]),
        "contact": contacts_by_name([contact]),
        "output": {"interval": 0.05},
    }

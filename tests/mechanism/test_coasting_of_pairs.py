"""How long steps may be while nothing touches: of several contacts the nearest says it, in whatever order they are stated."""

import pytest
from compiled import Program
from plain_tables import by_name, contacts_by_name

import dockdyn
from dockdyn.mechanism.coasting import time_apart

LAWS = {"normal": {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10.0}}


def three_balls(gaps, order):
    """Balls that fall towards a plate, each with a gap (m) of its own; contacts in an `order`."""
    plate = {"name": "plate", "mass": 1e3, "inertia": [1e3] * 3}
    plate["surface"] = {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}}
    balls = [
        {
            "name": f"ball{number}",
            "mass": 1.0,
            "inertia": [0.1] * 3,
            "position": [number, 0, 0.1 + gap],
            "velocity": [0, 0, -1.0],
            "feature": {f"skin{number}": {"position": [0, 0, 0], "radius": 0.1}},
        }
        for number, gap in enumerate(gaps)
    ]
    contacts = [{"between": [f"skin{number}", "top"], **LAWS} for number in order]
    return {
        "schema": 2,
        "duration": 1.0,
        "body": by_name([plate, *balls]),
        "contact": contacts_by_name(contacts),
    }


@pytest.mark.parametrize("tied", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_nearest_contact_says_how_long(tied):
    """Free bodies, and bodies on which an element acts."""
    times = []
    for order in ((1, 0, 2), (0, 1, 2)):
        content = three_balls([0.5, 0.005, 0.3], order)
        if tied:
            jet = {"body": "plate", "position": [0, 0, 0]}
            content |= {"thruster": {"jet": jet | {"direction": [1, 0, 0], "force": 1.0}}}
        model = dockdyn.load(content).content.model()
        start = model.initial()
        time = Program(lambda model=model, x=start: time_apart(model, x, model.outputs(0.0, x)))()
        times.append(float(time))
    assert 0.004 < max(times) <= 0.005
    assert times == pytest.approx([times[0]] * 2, rel=1e-12)

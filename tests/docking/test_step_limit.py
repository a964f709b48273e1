"""Which number is said to have limited the steps of a long run: the run with another one takes as many fewer as is said."""

import re

import pytest

import dockdyn

SAID = re.compile(
    r"steps were limited by (\S+) = .*: 10 times as (large|small), it would let them be about (\S+) times"
)


def arm(friction=None, regularisation=1e-5, damping=None, duration=3.0, **integrator):
    """A link that turns on a free body by a hinge, which rubs or is damped, and comes to rest on it."""
    joint = {"kind": "revolute", "position": [-1.0, 0.0, 0.0], "axis": [0, 0, 1], "start_rate": 0.003, "stiffness": 2.0}
    if friction is not None:
        joint |= {"friction": friction, "regularisation": regularisation}
    if damping is not None:
        joint |= {"damping": damping}
    return {
        "schema": 2,
        "duration": duration,
        "body": {
            "bus": {"mass": 500.0, "inertia": [100.0] * 3, "position": [0.0] * 3},
            "link": {"mass": 20.0, "inertia": [7.0] * 3, "on": "bus", "position": [2.0, 0.0, 0.0], "joint": joint},
        },
        "integrator": integrator,
    }


def limit_of(content, least=20_000):
    """The words on what limited the steps of a run, and how many steps that has."""
    dataset = dockdyn.simulate(dockdyn.load(content))
    assert dataset.attrs["steps"] > least
    said = [one for one in dockdyn.summarise(dataset)["warnings"] if one.startswith("steps were limited")]
    assert len(said) <= 1
    return (said or [""])[0], dataset.attrs["steps"]


@pytest.mark.parametrize(
    ("stated", "other", "key", "way"),
    [
        ({"friction": 1.0, "regularisation": 2.5e-7}, {"friction": 1.0, "regularisation": 2.5e-6}, "regularisation", "large"),
        pytest.param({"damping": 4e6}, {"damping": 4e5}, "damping", "small", marks=pytest.mark.full),
    ],
)  # fmt: skip
def test_the_number_that_limits_is_named_and_by_how_much(stated, other, key, way):
    said, steps = limit_of(arm(**stated))
    named = SAID.match(said)
    assert named is not None and named[1] == f"body.link.joint.{key}" and named[2] == way
    _, fewer = limit_of(arm(**other), least=0)
    assert steps / fewer == pytest.approx(float(named[3]), rel=0.3)


@pytest.mark.full
def test_nothing_is_named_where_accuracy_or_the_file_asks_for_the_steps():
    assert limit_of(arm(friction=1.0, step=1e-4))[0] == ""
    assert limit_of(arm(duration=200.0, tolerance=1e-15))[0] == ""

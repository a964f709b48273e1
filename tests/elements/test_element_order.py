"""Order of the located integrator through a brake that slides and stops that are met: error against step, slope fitted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import Run, anchors, body, numbers, pose, system

from dockdyn.elements import Brake, Bushing, Cable, EndStops, Strut, one_sided
from dockdyn.mechanics.rigid_body import Twist

BODIES = (body(20.0, (3.0, 4.0, 5.0), (0.2, -0.1, 0.3)), body(90.0, (30.0, 40.0, 45.0), (2.0, 1.0, -3.0)))
POSES = (pose([1.6, 0.05, -0.04], [0.1, -0.2, 0.1]), pose([0, 0, 0]))
TWISTS = (Twist.of([0.5, 0.1, -0.05], [0.3, -0.2, 0.1]), Twist.of([0.0] * 3, [0.0, 0.1, 0.05]))
STRUT = Strut(
    anchors([-0.2, 0.1, 0.0], [0.4, -0.1, 0.1]),
    **numbers(free_length=1.0, stiffness=500.0, damping=4.0, speed=0.05, moved_mass=3.0),
    brake=Brake(jnp.asarray(25.0)),
    stops=EndStops(**numbers(lowest=-0.02, highest=0.05), spring=one_sided(900.0, 15.0)),
)
BUSHING = Bushing(
    pose([0, 0, 0]),
    pose([1.6, 0, 0]),
    jnp.diag(jnp.array([400.0, 300.0, 350.0, 40.0, 60.0, 50.0])),
    jnp.diag(jnp.array([3.0, 2.0, 2.0, 0.5, 0.5, 0.5])),
    brake=Brake(jnp.asarray(30.0)),
)
CABLE = Cable(anchors([0.3, 0.2, 0.1], [-0.4, 0.0, 0.1]), jnp.asarray(2.4), one_sided(300.0, 6.0))
CASES = {"strut": STRUT, "bushing": BUSHING, "cable": CABLE}


@pytest.mark.full_cases("bushing", "strut")
@pytest.mark.parametrize("name", CASES)
def test_order_four_through_events(name):
    def final(step):
        two = system(BODIES, POSES, TWISTS, (CASES[name], 0, 1))
        run = Run(two, 1.2, step=step, tolerance=np.inf, samples=2)
        x = run.solution.state
        return run.events, np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves((x.q, x.v, x.memory))])

    steps = (0.02, 0.01, 0.005, 0.0025)
    events, best = final(steps[-1] / 8)
    found = [final(step) for step in steps]
    assert events >= 2 and {count for count, _ in found} == {events}
    errors = [np.abs(numbers - best).max() for _, numbers in found]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] >= 3.5
    assert errors[-1] < 1e-6

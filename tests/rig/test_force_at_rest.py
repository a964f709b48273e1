"""What a constant force leaves on the model once all has settled: margins beside a rig that is pushed until it rests."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from helpers.line_rig import line_rig

from dockdyn.rig.build import rig_at_rest
from dockdyn.rig.compensator import join_rig
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.model.run import NoiseDraws, run_cycles
from dockdyn.stability.loop import make_loop
from dockdyn.stability.loop_margins import steady_state_error


@pytest.mark.full
@pytest.mark.parametrize("dynamics", ["continuous", "zero-order-hold", "explicit-euler"])
def test_contacts_in_hardware_and_in_software_balance_a_constant_force_together(load, dynamics):
    """K X and K_v X add up to it, so nothing is left."""
    rng = np.random.default_rng(len(dynamics))
    for _ in range(3):
        mass, frequency, hold = 10 ** rng.uniform(1, 3), rng.uniform(12, 16), 4e-3
        stiffness = mass * frequency**2
        law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": 0.4 * mass * frequency, "adhesion": True}
        loop = {"delay": rng.uniform(0, 2) * hold, "hold": {"period": hold}, "dynamics": {"method": dynamics}}
        loop["dynamics"] |= {} if dynamics == "continuous" else {"period": hold / 2}
        soft = {"stiffness": rng.uniform(0.1, 0.8) * stiffness, "damping": 0.2 * mass * frequency}
        content = line_rig(mass, law, 0.05, bilateral=True, loop=loop | {"virtual_contact": soft})
        joined = join_rig(load(content))
        force = rng.uniform(1, 20)  # N
        pushed = replace(rig_at_rest(joined.rig, joined.loop), outside=jnp.asarray([force]))
        nothing = IdealContact(jnp.zeros((1, 1)), jnp.zeros((1, 1)))
        _, seen = run_cycles(pushed, nothing, NoiseDraws(None, None), 4000, 1)
        rested = {name: float(np.asarray(seen[name])[-1, 0]) for name in ("total_force", "measured_force", "position")}
        assert rested["position"] == pytest.approx(force / (stiffness + soft["stiffness"]), rel=1e-9)
        assert rested["measured_force"] == pytest.approx(-stiffness * rested["position"], rel=1e-9)
        left = rested["total_force"] / force
        assert left == pytest.approx(0, abs=1e-9)
        assert steady_state_error(joined.loop) == pytest.approx(left, abs=1e-9)


def test_a_loop_without_instants_leaves_nothing_either():
    """A delay equation with a contact in software beside the delayed one."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        mass, stiffness = rng.uniform(10, 900), rng.uniform(1e3, 1e5)
        damping = rng.uniform(0.2, 1) * np.sqrt(mass * stiffness)
        loop = make_loop(
            mass,
            stiffness,
            damping,
            delay=rng.uniform(0, 0.02) * np.sqrt(mass / stiffness),
            inertia=rng.uniform(0, 0.3) * mass,
            virtual_stiffness=rng.uniform(0.1, 1) * stiffness,
            virtual_damping=0.1 * damping,
        )
        assert steady_state_error(loop) == pytest.approx(0, abs=1e-9)

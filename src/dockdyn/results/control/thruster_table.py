"""What a table of thrusters can give: forces and torques along each axis, alone."""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import over_rows
from dockdyn.programs import Program
from dockdyn.scenario.tables.rig.sampling import SampledSection

MISSED = 1e-6  # of what is wanted: more of it is not given
WORDS = [
    f"{kind} {sign}{axis}" for sign in "+−" for kind in ("force along", "torque about") for axis in ("x", "y", "z")
]


@Program
def _missed_shares(control: SampledSection) -> Float[Array, "12"]:
    """Return the share of a unit force or torque, by `WORDS`, that the thrusters miss, however strong they are."""
    thrusters = control.thrusters()
    assert thrusters is not None
    directions, turning = thrusters.directions, thrusters.torques()

    def missed(wanted: Float[Array, "6"]) -> Float[Array, ""]:
        thrusts = thrusters.allocate(wanted[:3], wanted[3:])
        return jnp.linalg.norm(jnp.concatenate([thrusts @ directions, thrusts @ turning]) - wanted)

    return over_rows(missed, jnp.concatenate([jnp.eye(6), -jnp.eye(6)]))


def describe_missed_directions(control: SampledSection) -> list[str]:
    """Return what the law of a scenario may ask for and its table of thrusters cannot give, in words; none without a table.

    Torques are the wheel's where there is one; a force is asked for by a law that has gains for it.
    """
    if control.thruster is None:
        return []
    asked = {"force": control.pushes(), "torque": control.base_limit is None}
    missed = np.asarray(_missed_shares(control)) > MISSED
    return [words for words, misses in zip(WORDS, missed, strict=True) if misses and asked[words.split()[0]]]

"""Rules by which several compensators find their numbers for a rig.

Units: gains N s/m, gains per time N/m, leads s and s².
Source: own construction: the root of the rig is put where that of the contact alone is.
"""

from __future__ import annotations

from dockdyn.hil.compensators.compensator import TuningProblem
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.velocity_sources import VelocitySource

SWEEP = 0.02  # share by which a tuned gain that is to grow does so over a run, half of it below what matches


def matching_gain(velocity: VelocitySource, problem: TuningProblem) -> float:
    """Return the gain (N s/m) on a velocity with which the rig's amplitude changes as that of the contact alone."""
    (gain,) = problem.solve(
        lambda gain: LinearCompensator.of(velocity, gain=gain), (problem.stiffness * problem.lag,), "gain"
    )
    return gain


def growing_gain(gain: float, problem: TuningProblem) -> dict[str, float]:
    """Return a gain (N s/m) that grows over the run (N/m), and is the one given in its middle."""
    return {"gain": (1 - SWEEP / 2) * gain, "slope": SWEEP * gain / problem.duration}


def command_leads(problem: TuningProblem) -> dict[str, float]:
    """Return leads of the command (s, s²), of robot, hold and delay alone: found in a contact without damping."""
    lag = problem.lag
    lead, second = problem.undamped().solve(
        lambda lead, second: LinearCompensator.of(lead=lead, second_lead=second), (lag, lag**2), "leads"
    )
    return {"lead": lead, "second_lead": second}

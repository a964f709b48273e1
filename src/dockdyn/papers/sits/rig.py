"""The rig of the SITS paper: the numbers of the preset `sits`, and its characteristic polynomial as the paper writes it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.docking.resting import nominal_loop, nominal_of
from dockdyn.records import record
from dockdyn.scenario.load import load
from dockdyn.stability import TransferFunction, loop_polynomial, loop_roots
from dockdyn.stability.growth import batch_of_one
from dockdyn.stability.loop import Loop
from dockdyn.stability.pade import LoopPolynomial

STEP = 0.002  # T, s, of the paper's simulations
END = 60.0  # s, of its last figures
PRINTED_GAINS = (110.86, 111.80)  # N s/m, range that the paper's compensator visits
HALF = {"loop.dynamics": {"method": "half-period", "period": STEP}}
LOOPS: dict[str, dict[str, Any]] = {"continuous": {}, "with T/2": HALF}


@record
class SitsRig:
    """The numbers of the preset."""

    mass: float  # m_e, kg
    stiffness: float  # K_tc, N/m
    damping: float  # B_tc, N s/m
    delay: float  # τ_s, s
    hold: float  # T_c, s
    robot: TransferFunction  # G_R

    @property
    def frequency(self) -> float:
        """ω_n, rad/s."""
        return float(np.sqrt(self.stiffness / self.mass))

    @property
    def robot_delay(self) -> float:
        """Delay of the robot at ω_n, s."""
        return float(-np.angle(self.robot.at(1j * self.frequency)) / self.frequency)

    def polynomial(self, damping: float) -> LoopPolynomial:
        """Return it with Padé approximants of the first order (eqs. 22, 36)."""
        return loop_polynomial(self.mass, self.stiffness, damping, self.delay, self.hold, self.robot, 1)

    def coefficients(self, gain: float, printed: bool = False) -> Float[np.ndarray, "7"]:
        """Return a₆ … a₀ of eq. 37 at a `gain` (N s/m) that damps when positive.

        Corrected: the hold has unit gain at rest, which takes T_c out of the terms of K_R; a₄ has + 4 in its bracket; the
        gain is −K_h. As `printed` with m_c read as m_e, B_t and K_t as B_tc and K_tc.
        """
        (z,), (p, q) = self.robot.zeros().real, self.robot.poles()
        total, product = (p + q).real, (p * q).real
        m, k, b, late, hold = self.mass, self.stiffness, self.damping, self.delay, self.hold
        twice = 2 * self.robot.numerator[0] * (hold if printed else 1.0)
        return np.array(
            [
                m * hold * late,
                m * (2 * (late + hold) - hold * late * total),
                m * (hold * late * product - 2 * (late + hold) * total + (0 if printed else 4)),
                m * (2 * (late + hold) * product - 4 * total) + twice * late * (gain - b),
                m * 4 * product + twice * ((2 + late * z) * b - late * k + gain * (2 - late * z)),
                twice * ((2 + late * z) * k - 2 * z * b - 2 * gain * z),
                -2 * twice * k * z,
            ]
        )


@lru_cache(maxsize=1)
def rig() -> SitsRig:
    """Return table 1 of the paper, and the robot that stands in for the one it does not print."""
    content = load("sits").content
    (contact,), between = content.contact, content.loop
    mass, normal = content.named("target").mass, contact.normal
    transfer = between.robot.transfer()
    return SitsRig(mass, normal.stiffness, normal.damping, between.sensor.delay, between.hold.period, transfer)


def loop_of(overrides: dict[str, Any]) -> Loop:
    """Return the loop of the preset with some keys changed."""
    scenario = load("sits", overrides)
    return nominal_loop(scenario, nominal_of(scenario))[0]


def with_gain(name: str, gain: float) -> Loop:
    """Return one of `LOOPS` with a fixed gain (N s/m) on the robot's velocity."""
    return loop_of({**LOOPS[name], "loop.compensator": {"law": "fixed-gain", "gain": gain}})


def root_of(loop: Loop) -> complex:
    """Return the rightmost root (1/s), the upper one of a pair."""
    root = loop_roots(batch_of_one(loop), 1)[0, 0]
    return complex(root.real, abs(root.imag))

"""Motion of the arm that leaves the base alone: damping within the reaction null space.

Nenchev, Umetani and Yoshida, “Analysis of a redundant free-flying spacecraft/manipulator system”, IEEE Trans. Robotics
and Automation 8 (1992); Nenchev and Yoshida, “Impact analysis and post-impact motion control issues of a free-floating
space robot subject to a force impulse”, ibid. 15 (1999).

Units: rad/s, N m.
Source: as named above.
"""

from __future__ import annotations

from dockdyn.control.actuators import Actuation, Actuators, join_corners
from dockdyn.control.plant import ArmPlant
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.dense import solve_definite
from dockdyn.trees import Module, field

DAMPED = (
    1e-14  # of the coupling squared: by so much least squares are damped, for joints that turn the base not every way
)


class ReactionNullSpace(Module):
    """Joint torques that damp the arm and keep the base's angular velocity as it is. A `Law`; no wheel.

    The base's angular acceleration is ω̇ = ω̇₀ + C τ, C its coupling with joint torques through the whole system, links
    taken as rigid. τ = −C⁺ ω̇₀ − s P D P θ̇, P = 1 − C⁺ C, C⁺ that of least squares, hardly damped (Nakamura and Hanafusa
    1986): the first part undoes what the motion itself would do to the base, the second damps joint rates where the base
    feels nothing; s ≤ 1 keeps it within the motors' limits. What momentum there is stays in the arm: motion outside of the
    null space goes on.

    Knows angles, rates, and masses and inertias of both trees; does not see vibration, which reaches the base.
    """

    damping: Float[Array, "free"]  # D, N m s/rad, of joints that are not locked
    free: tuple[int, ...] = field(static=True)  # those, by number

    def act(self, plant: ArmPlant, actuators: Actuators) -> Actuation:
        (_, rates), at = plant.joints(), jnp.array(self.free, int)
        nothing = Actuation(jnp.zeros_like(rates), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3))
        moved = plant.rigid_response(nothing)
        coupling = moved.base_gain[:, at]
        squares = coupling @ coupling.T
        damped = squares + DAMPED * jnp.trace(squares) * jnp.eye(len(plant.axes))
        inverse = solve_definite(damped, coupling).T
        aside = jnp.eye(len(self.free)) - inverse @ coupling
        hold = -inverse @ moved.base
        damp = -aside @ (self.damping * (aside @ rates[at]))
        limit = actuators.motors[at]
        share, of_share = actuators.share_within(limit - jnp.sign(damp) * hold, damp)
        motors, of_motors = actuators.drive(nothing.motors.at[at].set(hold + share * damp))
        return nothing._replace(motors=motors, corners=join_corners([of_share, of_motors]))

"""Sliding in three dimensions: the direction turns while the impulse grows.

Along the path du/dp = W (1, −μ û_t), which is singular where sliding stops. With dp = |u_t| ds it is not, and the stop
lies at infinite s (Keller 1986, J. Appl. Mech. 53:1). Speed and direction then part: (ln |u_t|)′ = g, φ′ = h, both
functions of the direction alone. The steps are taken in σ with dσ = √(g² + h² + h_φ²) ds, in which every contact, stiff
or soft, slow or fast, changes at a pace of about one. After a length of 36 either next to nothing of the sliding is
left or its direction no longer turns, and what follows is straight.

Units: velocities m/s, impulses N s, W in 1/kg, angles rad.
Source: as named above.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.impact.laws.sliding import ImpulsePoint, Sliding, sliding_velocity
from dockdyn.trees import map_leaves

STEPS = 72
LENGTH = 0.5  # of a step, in σ
NODES = 10
SWEEPS = 18  # of the fixed-point iteration for the nodes


def _gauss_collocation(nodes: int) -> tuple[Float[np.ndarray, "nodes nodes"], Float[np.ndarray, "nodes"]]:
    """Return Gauss's method on [0, 1]: the matrix that integrates up to each node, and the weights of the whole step."""
    points, weights = legendre.leggauss(nodes)
    integrals = [legendre.legint(power, lbnd=-1) for power in np.eye(nodes)]
    matrix = legendre.legval(points, np.transpose(integrals)).T @ np.linalg.inv(legendre.legvander(points, nodes - 1))
    return matrix / 2, weights / 2


TO_NODES, TO_END = _gauss_collocation(NODES)


def impulse_rate(contact: Sliding, velocity: Float[Array, "3"]) -> Float[Array, "3"]:
    """Return dΛ/dσ (N s); zero at rest."""
    across, coupling, mu = contact.matrix[1:, 1:], contact.matrix[1:, 0], contact.friction
    speed, along = sliding_velocity(velocity)
    stiff = along @ across @ along
    change = coupling - mu * across @ along  # g along û, h across it
    turning = mu * (2 * stiff - jnp.trace(across)) - along @ coupling  # h_φ
    floor = 1e-24 * jnp.trace(contact.matrix) ** 2  # no friction and no coupling: any pace will do
    rate = jnp.sqrt(change @ change + turning**2 + floor)
    return jnp.concatenate([jnp.ones(1), -mu * along]) * (speed / rate)


def gauss_step(contact: Sliding, start: ImpulsePoint, length: Float[Array, ""]) -> ImpulsePoint:
    """Return Gauss's method over a `length` in σ. Straight stretches come out exact, since only σ along them is approximate."""

    def paces(impulses: Float[Array, "nodes 3"]) -> Float[Array, "nodes 3"]:
        return jax.vmap(lambda impulse: impulse_rate(contact, start.velocity + contact.matrix @ impulse))(impulses)

    def sweep(_: int, slopes: Float[Array, "nodes 3"]) -> Float[Array, "nodes 3"]:
        return paces(length * TO_NODES @ slopes)

    slopes = jax.lax.fori_loop(0, SWEEPS, sweep, paces(jnp.zeros((NODES, 3))))
    approach = start.velocity[0] + length * TO_NODES @ slopes @ contact.matrix[0]
    impulse = length * TO_END @ slopes
    work = length * TO_END @ (approach * slopes[:, 0])
    return ImpulsePoint(start.velocity + contact.matrix @ impulse, start.impulse + impulse, start.work + work)


def slip_curve(contact: Sliding, start: ImpulsePoint) -> ImpulsePoint:
    """Return points at the ends of all steps, `start` first: leaves of shape (STEPS + 1, …)."""

    def forth(point: ImpulsePoint, _: None) -> tuple[ImpulsePoint, ImpulsePoint]:
        following = gauss_step(contact, point, jnp.asarray(LENGTH))
        return following, following

    _, points = jax.lax.scan(forth, start, None, length=STEPS)
    return map_leaves(lambda first, others: jnp.concatenate([first[None], others]), start, points)

"""The pull of a magnet over its gap.

Units: gap m, force N, energy J.
Source: the reluctance of an iron circuit with an air gap gives (1 + gap/g₀)⁻², as in any textbook of electromechanics;
tables by the monotone cubics of Fritsch and Butland 1984, SIAM J. Sci. Stat. Comput. 5:300.
"""

from __future__ import annotations

import abc

import numpy as np

from dockdyn.deferred import Array, Float, is_traced, jnp
from dockdyn.mechanics import cubic
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module


class Pull(Module):
    """Force over gap, and the energy it takes to open the gap."""

    @abc.abstractmethod
    def force(self, gap: Scalar) -> Scalar:
        """Return the force (N, positive attracts) at a `gap` (m, at least zero)."""

    @abc.abstractmethod
    def energy(self, gap: Scalar) -> Scalar:
        """Return the energy (J) that opening the gap from zero takes: the integral of the force."""

    def knots(self) -> tuple[Scalar, ...]:
        """Return the gaps (m) at which the force is less smooth than elsewhere."""
        return ()


class GapPull(Pull):
    """F₀ / (1 + gap/g₀)²."""

    holding: Float[Array, ""]  # F₀, N, of a closed gap
    reach: Float[Array, ""]  # g₀, m, the gap at which a quarter of it is left

    def force(self, gap: Scalar) -> Scalar:
        return self.holding / (1 + gap / self.reach) ** 2

    def energy(self, gap: Scalar) -> Scalar:
        return self.holding * gap / (1 + gap / self.reach)


class TabulatedPull(Pull):
    """A table of force over gap, as a data sheet gives it: cubics that rise and fall as the table does.

    Beyond the ends of the table the force is that of its nearest end.
    """

    gaps: Float[Array, "n"]  # m, increasing
    forces: Float[Array, "n"]  # N
    slopes: Float[Array, "n"]  # N/m
    energies: Float[Array, "n"]  # J, from the first gap

    @staticmethod
    def of(gaps: Float[Array, "n"], forces: Float[Array, "n"]) -> TabulatedPull:
        """Return the pull of a table. Raises ValueError unless it has two gaps or more, and they increase."""
        if np.ndim(gaps) != 1 or np.shape(gaps) != np.shape(forces) or np.size(gaps) < 2 or _falls(gaps):
            raise ValueError("a table of force over gap needs two gaps or more that increase, and a force for each")
        x, y = jnp.asarray(gaps, float), jnp.asarray(forces, float)
        widths, slopes = jnp.diff(x), cubic.monotone_slopes(x, y)
        areas = widths * cubic.cubic_integral(y[:-1], y[1:], widths * slopes[:-1], widths * slopes[1:])
        return TabulatedPull(x, y, slopes, jnp.concatenate([jnp.zeros(1), jnp.cumsum(areas)]))

    def force(self, gap: Scalar) -> Scalar:
        _, u, ends, _ = self._find_piece(gap)
        return cubic.cubic_value(u, *ends)

    def knots(self) -> tuple[Scalar, ...]:
        return tuple(self.gaps)

    def energy(self, gap: Scalar) -> Scalar:
        width, u, (a, b, da, db), start = self._find_piece(gap)
        area = u * (a + u * (da / 2 + u * ((3 * (b - a) - 2 * da - db) / 3 + u * (2 * (a - b) + da + db) / 4)))
        beyond = gap - jnp.clip(gap, self.gaps[0], self.gaps[-1])
        return start + width * area + jnp.where(beyond < 0, self.forces[0], self.forces[-1]) * beyond

    def _find_piece(self, gap: Scalar) -> tuple[Scalar, Scalar, tuple[Scalar, Scalar, Scalar, Scalar], Scalar]:
        """Return of the piece that holds a gap its width (m), the place in it, values and slopes at its ends, energy before
        it."""
        inside = jnp.clip(gap, self.gaps[0], self.gaps[-1])
        at = jnp.clip(jnp.searchsorted(self.gaps, inside, side="right") - 1, 0, self.gaps.shape[0] - 2)
        width = self.gaps[at + 1] - self.gaps[at]
        ends = self.forces[at], self.forces[at + 1], width * self.slopes[at], width * self.slopes[at + 1]
        return width, (inside - self.gaps[at]) / width, ends, self.energies[at]


def _falls(gaps: Float[Array, "n"]) -> bool:
    """Return whether gaps that are known do not increase; those of a file were looked at as it was read."""
    return not is_traced(gaps) and not bool(np.all(np.diff(np.asarray(gaps, float)) > 0))

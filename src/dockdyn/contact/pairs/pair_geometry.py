"""What a pair of things that can meet is.

Units: lengths m.
Source: definition of the interface.
"""

from __future__ import annotations

import abc

import equinox as eqx

from dockdyn.contact.touch import Touch
from dockdyn.mechanics.rigid_body import Placed


class PairGeometry(eqx.Module):
    """Two things, the first fixed to one body and the second to another, in the axes of these bodies."""

    @abc.abstractmethod
    def touch(self, own: Placed, other: Placed) -> Touch:
        """How the first thing, of the body `own`, and the second, of the body `other`, meet."""

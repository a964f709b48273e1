"""What an element of a loop is: a small discrete-time block with a memory, asked once at each of its instants.

Units: those of the block.
Source: definition of the interface.
"""

from __future__ import annotations

import abc

from dockdyn.deferred import PyTree
from dockdyn.trees import Module


class DiscreteBlock(Module):
    """A discrete-time block; parameters are fields, the memory is passed."""

    @abc.abstractmethod
    def step(self, memory: PyTree, signal: PyTree) -> tuple[PyTree, PyTree]:
        """Return the memory after an instant, and the output from there on."""

"""The physics of any docking: bodies in trees, contacts, what acts between and on them, connections that close and open."""

from dockdyn.mechanism.mechanism import Mechanism

__all__ = ["Mechanism"]

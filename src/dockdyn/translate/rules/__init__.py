"""The rules of JAX's primitives; importing the room registers them."""

from __future__ import annotations

from dockdyn.translate.rules import elementwise, flow, linear, places, reductions, windows

__all__ = ["elementwise", "flow", "linear", "places", "reductions", "windows"]

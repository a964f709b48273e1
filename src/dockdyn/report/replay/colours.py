"""Colours of a replay: bodies and arrows have each their own, so that none is taken for the other."""

from __future__ import annotations

from dockdyn.report.palette import COLOURS

BODIES = [COLOURS[name] for name in ("blue", "orange", "green", "sky", "brown", "navy")]
METAL = "#b9c0c9"
SURFACE = "#8fb8d0"
FORCE = "#d6127e"  # of a contact; an impulse
BESIDE = "#7b2ff2"  # of the same contact: friction, the force beside impulses
HOLD = "#6aa500"  # what holds two together, or works on a model
ARROWS = [FORCE, BESIDE, HOLD]

"""Colours and dashes of all figures."""

from __future__ import annotations

from typing import Any

# Name: colour on paper. A report replaces each by its style sheet's, so that a figure follows light and dark.
COLOURS = {
    "ink": "#1f2329",
    "muted": "#59636f",
    "rule": "#d5dae1",
    "paper": "#fefefe",
    "contact": "#e4e8ee",  # times of contact
    "solid": "#dcd7cc",  # inside of a surface's solid
    "wall": "#8a8272",
    # hues that stay apart for colour-blind readers (Okabe and Ito), the light ones darkened for thin lines
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#00916a",
    "purple": "#a8528c",
    "gold": "#b07d00",
    "sky": "#4a9fd0",
    # for more lines than that: darker and paler ones, which differ in lightness from the others
    "navy": "#1d3a6b",
    "brown": "#7a3310",
    "moss": "#3f5c12",
    "rose": "#d988a8",
    "mint": "#6bbf9f",
    "sand": "#c9a56b",
}
HUES = ["blue", "orange", "green", "purple", "gold", "sky", "navy", "brown", "moss", "rose", "mint", "sand"]
SERIES = [COLOURS[name] for name in HUES]
DASHES: list[Any] = ["-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5))]  # apart without colour, too
BEYOND = 1e8

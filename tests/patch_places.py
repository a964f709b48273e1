"""Blocks that press on each other, or on a plane, as another engine can be asked for, too; and what that has said."""

import json
from pathlib import Path

import numpy as np

PRESSURE = 1e9  # N/m³, κ
DEEP = 2e-4  # m
BLOCK = np.array([0.2, 0.3, 0.1])  # m
DEPTHS = 5e-5, 2e-4, 8e-4  # m, of the middle of a block's face in a plane
SLOPES = 0.0, np.radians(0.1), np.radians(0.5), np.radians(2.0)  # by which the block is tilted
PLACES = [  # rad, m: of a block on a block, turned and shifted
    (0.0, (0.1, 0.0)),
    (0.0, (0.07, -0.11)),
    (np.pi / 2, (0.0, 0.08)),
    (np.radians(17.0), (0.05, 0.06)),
    (np.radians(45.0), (-0.06, 0.02)),
    (np.radians(100.0), (0.08, -0.09)),
]
OF_DRAKE = Path(__file__).with_name("drake_patches.json")  # written by benchmarks/drake_patches.py


def drake_version() -> str:
    """Return which Drake it was."""
    return json.loads(OF_DRAKE.read_text())["drake"]


def drake_forces(pair: str) -> np.ndarray:
    """Return forces (N) as Drake has them: of a block on a half space over depths and slopes, on a block over places."""
    return np.array(json.loads(OF_DRAKE.read_text())["forces"][pair])

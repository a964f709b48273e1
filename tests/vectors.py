"""Products of single vectors, for solutions that are integrated call by call."""

import numpy as np


def cross(one, other):
    """The vector product of two vectors of three numbers; NumPy's own, for arrays of any shape, takes ten times as long."""
    a, b, c = one
    x, y, z = other
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])

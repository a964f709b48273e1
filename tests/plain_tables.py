"""Tables of a scenario in plain numbers, as TOML takes them."""

import numpy as np


def plain(value):
    """`value` with NumPy arrays and numbers as lists and numbers of Python, as TOML needs them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

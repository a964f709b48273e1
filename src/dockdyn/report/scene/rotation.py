"""Rotations of many rows of unit quaternions, the scalar first."""

from __future__ import annotations

import numpy as np


def rotate(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return vectors (…, 3) turned by attitudes (…, 4)."""
    scalar, axis = attitude[..., :1], attitude[..., 1:]
    twice = 2 * np.cross(axis, vector)
    return vector + scalar * twice + np.cross(axis, twice)


def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return products of quaternions (…, 4): the second turn, then the first."""
    a, u, b, v = first[..., :1], first[..., 1:], second[..., :1], second[..., 1:]
    scalar = a * b - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate([scalar, a * v + b * u + np.cross(u, v)], axis=-1)


def exponential(vector: np.ndarray) -> np.ndarray:
    """Return unit quaternions (…, 4) of rotation vectors (…, 3), rad."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector], axis=-1)


def interpolate_attitudes(times: np.ndarray, time: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Return unit quaternions (samples, …, 4) at other times, on great circles between samples."""
    before, after, share = bracket(times, time, attitude.ndim)
    first, second = attitude[before], attitude[after]
    cosine = np.sum(first * second, axis=-1, keepdims=True)
    second, cosine = np.where(cosine < 0, -second, second), np.clip(np.abs(cosine), 0, 1)
    angle = np.arccos(cosine)
    sine = np.sin(angle)
    near = sine < 1e-6
    safe = np.where(near, 1.0, sine)
    one = np.where(near, 1 - share, np.sin((1 - share) * angle) / safe)
    two = np.where(near, share, np.sin(share * angle) / safe)
    found = one * first + two * second
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def interpolate(times: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return samples (samples, …) at other times, on straight lines between them."""
    before, after, share = bracket(times, time, values.ndim)
    return values[before] * (1 - share) + values[after] * share


def bracket(times: np.ndarray, time: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of the samples before and after times, and how far between them these are, 0 to 1, with so many `axes`."""
    after = np.clip(np.searchsorted(time, times, side="right"), min(1, len(time) - 1), len(time) - 1)
    before = np.maximum(after - 1, 0)
    gap = time[after] - time[before]
    share = np.clip((times - time[before]) / np.where(gap > 0, gap, 1), 0, 1)
    return before, after, share.reshape(-1, *[1] * (axes - 1))

"""Logs of robots drawn at random: order, dead time, length, noise and excitation; each with the motion behind its noise."""

from typing import NamedTuple

import numpy as np
from scipy.signal import cont2discrete, lfilter

LARGEST_NOISE = 5e-5  # m
EXCITATIONS = ("steps", "chirp", "binary")


class RobotLog(NamedTuple):
    """Commands and positions (m), and the robot behind them."""

    period: float  # s
    command: np.ndarray
    actual: np.ndarray
    clean: np.ndarray  # positions without noise
    words: str

    def reachable(self) -> float:
        """Return the fit (%) of the true robot."""
        return fit_of(self.actual, self.clean)


def fit_of(measured: np.ndarray, simulated: np.ndarray) -> float:
    """Return 100 % less the size of the error as a share of the motion's."""
    return 100 * (1 - float(np.linalg.norm(measured - simulated) / np.linalg.norm(measured - measured.mean())))


def response(a: np.ndarray, b: np.ndarray, late: int, command: np.ndarray) -> np.ndarray:
    """Return the positions from rest: y_k = −a₁ y_{k−1} − … + b₁ u_{k−1−late} + …"""
    return lfilter(np.r_[np.zeros(1 + late), b], np.r_[1.0, a], command)


def drawn(seed: int) -> RobotLog:
    """Return a log of a stable robot of order 1 to 3 that moves millimetres to centimetres."""
    rng = np.random.default_rng([2024, seed])
    period = float(rng.choice([0.001, 0.002, 0.004, 0.008]))
    order, late = int(rng.integers(1, 4)), int(rng.integers(0, 7))
    count = int(np.exp(rng.uniform(np.log(200), np.log(5001))))
    noise = 0.0 if rng.random() < 0.2 else rng.uniform(0, LARGEST_NOISE)
    a, b = _held(rng, order) if rng.random() < 0.5 else _sampled(rng, order)
    excitation = EXCITATIONS[rng.integers(3)]
    command = _command(rng, excitation, count)
    clean = response(a, b, late, command)
    words = f"order {order}, {late} samples late, {count} samples, {1e6 * noise:.3g} µm of noise, {excitation}"
    return RobotLog(period, command, clean + noise * rng.standard_normal(count), clean, words)


def _held(rng: np.random.Generator, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b of a continuous robot, time in periods, whose commands are held."""
    poles: list[complex] = []
    while len(poles) < order:
        rate = np.exp(rng.uniform(np.log(0.03), np.log(1.2)))
        if order - len(poles) >= 2 and rng.random() < 0.5:
            damping = rng.uniform(0.2, 0.95)
            pole = rate * (-damping + 1j * np.sqrt(1 - damping**2))
            poles += [pole, pole.conjugate()]
        else:
            poles.append(-rate)
    sides = [1.0 if rng.random() < 0.8 else -1.0 for _ in range(rng.integers(0, order))]
    zeros = [-side * np.exp(rng.uniform(np.log(0.05), np.log(1.5))) for side in sides]
    bottom, top = np.real(np.poly(poles)), np.atleast_1d(np.real(np.poly(zeros)))
    sampled = cont2discrete((top / top[-1] * bottom[-1], bottom), 1.0)
    return sampled[1][1:], sampled[0].ravel()[1:] * rng.uniform(0.9, 1.1)


def _sampled(rng: np.random.Generator, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b of a difference equation with poles away from the negative axis and a gain of one at rest."""
    poles: list[complex] = []
    while len(poles) < order:
        if order - len(poles) >= 2 and rng.random() < 0.4:
            pole = rng.uniform(0.3, 0.95) * np.exp(1j * rng.uniform(0.05, 1.0))
            poles += [pole, pole.conjugate()]
        else:
            poles.append(rng.uniform(0.2, 0.97))
    a = np.real(np.poly(poles))[1:]
    b = rng.uniform(0.1, 1.0, rng.integers(1, order + 1))
    return a, b * (1 + a.sum()) / b.sum()


def _command(rng: np.random.Generator, excitation: str, count: int) -> np.ndarray:
    """Return commands (m) of 2 mm to 3 cm: one to six steps, a chirp from 0 Hz, or a binary sequence."""
    size, at = np.exp(rng.uniform(np.log(2e-3), np.log(3e-2))), np.arange(count)
    if excitation == "steps":
        command = np.zeros(count)
        for start in rng.integers(10, int(0.8 * count), rng.integers(1, 7)):
            command[start:] += size * rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 1.0)
        if not np.ptp(command):
            command[count // 4 :] += size
        return command
    if excitation == "chirp":
        highest = np.exp(rng.uniform(np.log(0.02), np.log(0.25)))  # cycles a sample
        return size * np.sin(np.pi * highest * at**2 / count)
    hold = int(rng.integers(1, 16))  # samples
    return size * np.repeat(rng.choice([-1.0, 1.0], count // hold + 1), hold)[:count]

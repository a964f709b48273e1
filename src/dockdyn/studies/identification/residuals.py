"""What residuals say of a model: how sure its parameters are, and whether it left anything unexplained."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfinv, gammaincc

from dockdyn.deferred import Float
from dockdyn.records import record

LAGS = 25
SINGULAR = 3e-8  # smallest over largest singular value: a direction that nothing tells of
DOUBT = 0.01  # probability below which chance is no longer believed
type Row = Float[np.ndarray, "n"]


@record
class ResidualTests:
    """Correlations with their 99 % bounds, each for one lag alone, and what they say together."""

    lags: Row  # samples
    own: Row  # autocorrelation at `lags` ≥ 0
    own_bound: float
    crossed_lags: Row  # positive: the residual comes after the command
    crossed: Row  # correlation with the command
    crossed_bound: float
    white_probability: float  # of correlations this large by chance (Ljung and Box)
    white: bool
    independent: bool  # of the command


def residual_tests(residual: Row, command: Row) -> ResidualTests:
    """Return the autocorrelation of residuals and their correlation with the command's changes from its mean.

    Bounds of the second allow for both signals' memory (Ljung, System Identification, 16.6).
    """
    count = len(residual)
    lags = min(LAGS, count // 4)
    e, u = residual - residual.mean(), command - command.mean()
    own = np.array([e[: count - lag] @ e[lag:] for lag in range(lags + 1)]) / (e @ e)
    statistic = count * (count + 2) * float(np.sum(own[1:] ** 2 / (count - np.arange(1, lags + 1))))
    probability = float(gammaincc(lags / 2, statistic / 2))
    size = math.sqrt((e @ e) * (u @ u))
    around = np.arange(-lags, lags + 1)
    crossed = np.array([e[late:] @ u[: count - late] for late in range(lags + 1)])
    ahead = np.array([u[early:] @ e[: count - early] for early in range(lags, 0, -1)])
    memory = _autocorrelate(e) * _autocorrelate(u)
    reach = int(math.sqrt(count))  # beyond, the products are noise
    spread = math.sqrt(max(1 + 2 * float(memory[1 : reach + 1].sum()), 0.05) / count)
    single, joint = _normal_quantile(DOUBT), _normal_quantile(DOUBT / len(around))
    crossed = np.r_[ahead, crossed] / size
    return ResidualTests(
        np.arange(lags + 1.0),
        own,
        single / math.sqrt(count),
        around.astype(float),
        crossed,
        single * spread,
        probability,
        probability >= DOUBT,
        bool(np.abs(crossed).max() <= joint * spread),
    )


def parameter_covariance(
    slope: Float[np.ndarray, "n p"], residual: Row, least: float = 0.0
) -> Float[np.ndarray, "p p"]:
    """Return that of parameters fitted by least squares, for residuals that may be correlated over time (Newey and West).

    In no direction it is less than for residuals that are not: where few samples tell of a parameter, their residuals seem
    correlated as the fit makes them so; nor less than for noise of the variance `least`. `slope` holds the derivatives of
    what was fitted by the parameters.
    """
    count, parameters = slope.shape
    size = np.linalg.norm(slope, axis=0)
    across, singular, ways = np.linalg.svd(slope / size, full_matrices=False)
    told = singular > SINGULAR * singular[0]
    back = (ways[told].T / singular[told]) / size[:, None]
    scores = across[:, told] * residual[:, None]
    middle = scores.T @ scores
    lags = math.ceil(count ** (1 / 3))
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        middle += (1 - lag / (lags + 1)) * (product + product.T)
    variances, axes = np.linalg.eigh(middle)
    back = back @ axes
    return (
        count
        / max(count - parameters, 1)
        * (back * np.maximum(variances, max(residual @ residual / count, least)))
        @ back.T
    )


def _autocorrelate(signal: Row) -> Row:
    """Return it at all lags, by the spectrum."""
    spectrum = np.fft.rfft(signal, 2 * len(signal))
    found = np.fft.irfft(np.abs(spectrum) ** 2)[: len(signal)]
    return found / found[0]


def _normal_quantile(probability: float) -> float:
    """Return standard deviations that a normal number exceeds, to either side, with that probability."""
    return math.sqrt(2) * float(erfinv(1 - probability))

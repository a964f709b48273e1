"""How long arrows are, and which are too short to be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.records import record

SHORTEST = 0.04  # of the longest arrow drawn, below which none is
OFTEN = 0.5  # share of the frames in which a force acts that is taken for sustained
TIMES = 10.0  # a sustained one is drawn up to so many times its median
SHARE = 1e-3  # of its largest at least: what decays to rounding errors is not drawn large


@record
class Scale:
    """Arrows are `metres` long per unit; what is larger than `cut` (in the unit) is drawn as long as that."""

    metres: float
    cut: float

    def drawn(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return arrows (frames, 3), m, of vectors (frames, 3), and which of them (frames,) are long enough to be seen."""
        size = np.linalg.norm(vector, axis=1)
        kept = np.minimum(size, self.cut)
        share = np.divide(kept, size, out=np.zeros_like(size), where=size > 0)
        return self.metres * share[:, None] * vector, (kept > SHORTEST * kept.max(initial=0)) & (kept > 0)


def arrow_scale(vectors: Sequence[np.ndarray], length: float) -> Scale:
    """Return the scale, one, two or five times a power of ten, at which the longest arrow of vectors (…, 3) is at most `length`
    m."""
    cut = max((_largest_drawn(np.linalg.norm(v, axis=-1).ravel()) for v in vectors), default=0.0)
    if not np.isfinite(cut) or cut <= 0 or length <= 0:
        return Scale(1.0, np.inf)
    exact = length / cut
    power = 10.0 ** np.floor(np.log10(exact))
    return Scale(float(power * max(step for step in (1, 2, 5) if step * power <= exact * (1 + 1e-9))), cut)


def _largest_drawn(size: np.ndarray) -> float:
    """Return the size up to which an arrow of sizes (n,) grows: the largest; of a sustained force less, or a peak would hide
    it."""
    largest, acting = float(size.max(initial=0)), size[size > 0]
    if len(acting) <= OFTEN * len(size):
        return largest
    return float(min(largest, max(TIMES * np.median(acting), SHARE * largest)))

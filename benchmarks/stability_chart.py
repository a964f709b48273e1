"""A stability chart as sharp as a 200 × 200 grid, beside tdcpy on 400 points of that grid. The ratio is of one process."""

import time
from importlib.metadata import version

import numpy as np
import tdcpy
from tdcpy.rdde import RDDE

from dockdyn.stability import chart_growth, rightmost_roots

CELLS = 200
TOLERANCE = 1e-6  # of an axis
LONGEST = 1.5  # s, of either delay
SAMPLE = np.linspace(0, 1, 20)  # of the grid, along either axis


def system() -> np.ndarray:
    """A₀, A₁, A₂ of a general system of six states with two delays."""
    random = np.random.default_rng(1)
    free = random.normal(size=(6, 6)) - 2 * np.eye(6)
    return np.stack([free, *(0.8 * random.normal(size=(6, 6)) for _ in range(2))])


MATRICES = system()


def growth(points: np.ndarray) -> np.ndarray:
    """Growth rates (1/s) at points of the unit square of the two delays."""
    return rightmost_roots(np.broadcast_to(MATRICES, (len(points), *MATRICES.shape)), LONGEST * points, count=1)[
        :, 0
    ].real


def reference(point: np.ndarray) -> float:
    """The same by tdcpy."""
    return tdcpy.sa(RDDE(A=np.moveaxis(MATRICES, 0, -1), hA=np.array([0.0, *(LONGEST * point)])))


def main() -> None:
    began = time.perf_counter()
    found = chart_growth(growth, CELLS, TOLERANCE)
    ours = time.perf_counter() - began
    points = np.array([(x, y) for x in SAMPLE for y in SAMPLE])
    began = time.perf_counter()
    theirs = np.array([reference(point) for point in points])
    each = (time.perf_counter() - began) / len(points)
    whole = each * (CELLS + 1) ** 2
    edge = np.concatenate(found.boundary)
    print(f"stability of a general system of 6 states with 2 delays over both delays, 0 to {LONGEST} s")
    print(
        f"  one chart, boundary to {TOLERANCE:g} of an axis: {ours:.1f} s, {found.evaluations} points, compilation included"
    )
    print(
        f"  tdcpy {version('tdcpy')}: {each * 1e3:.0f} ms a point; {CELLS + 1} × {CELLS + 1} points would take {whole:.0f} s"
    )
    print(f"  ratio: {whole / ours:.0f}")
    print(
        f"  largest difference of growth rate at the {len(points)} points: {np.abs(growth(points) - theirs).max():.1e} 1/s"
    )
    print(f"  largest growth rate on the {len(edge)} points of the boundary: {np.abs(growth(edge)).max():.1e} 1/s")


if __name__ == "__main__":
    main()

"""What a page computes of a loop: eigenvalues as of NumPy, roots and critical delays as of dockdyn, over random systems."""

import json

import numpy as np
from page_script import needs_node, run_in_web

from dockdyn.stability.linearise import split_by_delayed_terms
from dockdyn.stability.roots import rightmost_roots
from dockdyn.stability.windows import stable_windows
from dockdyn.studies.margins.answer import critical_delay

pairs = lambda roots: [[float(one.real), float(one.imag)] for one in roots]  # noqa: E731


def eigen_case(rng, size, complex_):
    spread = 10.0 ** rng.uniform(-3, 3, size)  # of units, which balancing takes out
    matrix = (rng.normal(size=(size, size)) + complex_ * 1j * rng.normal(size=(size, size))) * spread / spread[:, None]
    values = np.linalg.eigvals(matrix / spread * spread[:, None])
    return {
        "size": size,
        "re": matrix.real.ravel().tolist(),
        "im": matrix.imag.ravel().tolist(),
        "values": pairs(values),
    }


def delay_case(rng, size):
    """A damped oscillator of which a part of the force is late, or a random system with a random part late."""
    now, late, delay = rng.normal(size=(size, size)) - 2 * np.eye(size), np.zeros((size, size)), rng.uniform(0.01, 1.5)
    late[:, : 1 + size // 3] = rng.normal(size=(size, 1 + size // 3))
    if size == 2:
        w, ratio = rng.uniform(1, 30), rng.uniform(0.02, 0.6)
        now, late = np.array([[0, 1], [0, 0]]), np.array([[0, 0], [-(w**2), -2 * ratio * w]])
        delay = rng.choice([0.0, rng.uniform(0.0, 2.0) / w])
    both, delays = np.stack([now, late]), np.array([delay])
    roots = rightmost_roots(both, delays, 4)
    stable = bool(roots[0].real < 0)
    critical, _ = critical_delay(stable_windows(both, delays), delay, stable)
    roots = roots[np.isfinite(roots)]
    return {
        "size": size, "now": now.ravel().tolist(), "late": late.ravel().tolist(), "delay": delay,
        "roots": pairs(roots), "critical": critical, "stable": stable,
    }  # fmt: skip


def drifting_case(rng, seen, unseen):
    """A system of which some motions are turned among others that no delayed force sees."""
    size = seen + unseen
    now, late = np.zeros((size, size)), np.zeros((size, size))
    now[:seen, :seen] = rng.normal(size=(seen, seen)) - 2 * np.eye(seen)
    now[seen:, :seen] = rng.normal(size=(unseen, seen))
    late[:, :seen] = rng.normal(size=(size, seen))
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0] * 10.0 ** rng.uniform(-2, 2, size)
    both = np.array([np.linalg.solve(turn, part @ turn) for part in (now, late)])
    own, _ = split_by_delayed_terms(both)
    roots = rightmost_roots(np.stack([now[:seen, :seen], late[:seen, :seen]]), np.array([0.2]), 2)
    np.testing.assert_allclose(rightmost_roots(own, np.array([0.2]), 2), roots, rtol=1e-6)
    return {
        "size": size, "now": both[0].ravel().tolist(), "late": both[1].ravel().tolist(), "delay": 0.2,
        "seen": seen, "roots": pairs(rightmost_roots(own, np.array([0.2]), 2)),
    }  # fmt: skip


@needs_node
def test_what_a_page_computes_of_a_loop_is_so(tmp_path):
    rng = np.random.default_rng(4)
    cases = {
        "eigen": [eigen_case(rng, size, part) for size in (1, 2, 3, 5, 8, 22, 60) for part in (0, 1) for _ in range(8)],
        "delays": [delay_case(rng, size) for size in (2, 2, 2, 3, 4, 6) for _ in range(6)],
        "drifting": [drifting_case(rng, seen, unseen) for seen, unseen in ((2, 4), (3, 6), (4, 2)) for _ in range(4)],
    }
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases), encoding="utf-8")
    said = run_in_web("npm", "test", ROOTS_CASES=str(file))
    assert "are those of dockdyn # SKIP" not in said and "# fail 0" in said, said

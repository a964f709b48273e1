"""A host that integrates a unit explicitly, by SciPy's Dormand and Prince of eighth order, and stops where a guard changes its
sign: just behind that, or exactly before it."""

import numpy as np
from compiled import Program
from scipy.integrate import DOP853

MOST_EVENTS = 400


class ExplicitHost:
    """A unit whose functions are compiled once."""

    def __init__(self, unit):
        equations = unit.goes_on.equations
        self.outputs = unit.outputs
        self.begin, self.observe = Program(unit.begin), Program(unit.observe)
        self.rates, self.guards, self.jump = map(Program, (equations.rates, equations.guards, equations.jump))
        self.given = np.array([place.value for place in unit.numbers]), np.zeros(len(unit.inputs))

    def happen(self, time, motion):
        """What events do at a time, and when a clock acts next."""
        for _ in range(20):
            after = self.jump(*self.given, np.float64(time), motion)
            motion = after.motion
            if not after.again:
                return motion, float(after.following)
        raise AssertionError(f"events without end at {time} s")

    def signs(self, time, motion, row):
        return np.asarray(self.guards(*self.given, np.float64(time), motion._replace(row=row))) < 0

    def integrate(self, times, tolerance, early=False):
        """Outputs by name at `times` (s), by steps of a relative `tolerance`; and how many events there were."""
        motion, following = self.happen(times[0], self.begin(self.given[0]))
        time, rows, events = float(times[0]), [], 0
        while True:
            start, before = time, self.signs(time, motion, motion.row)
            solver = DOP853(
                lambda t, row, at=motion: np.asarray(self.rates(*self.given, np.float64(t), at._replace(row=row))),
                start, np.asarray(motion.row), min(following, times[-1]), rtol=tolerance, atol=tolerance * 1e-2,
            )  # fmt: skip
            found = False
            while solver.status == "running" and not found:
                solver.step()
                between, time = solver.dense_output(), solver.t
                found = (before != self.signs(time, motion, solver.y)).any()
                if found:
                    early_end, time = solver.t_old, solver.t
                    while (early_end + time) / 2 not in (early_end, time):
                        middle = (early_end + time) / 2
                        if (before != self.signs(middle, motion, between(middle))).any():
                            time = middle
                        else:
                            early_end = middle
                    time = early_end if early and early_end - start > 1e-12 else time
                while len(rows) < len(times) and times[len(rows)] <= time:
                    at = motion._replace(row=between(times[len(rows)]))
                    rows.append(np.asarray(self.observe(*self.given, at)))
            if len(rows) == len(times):
                names = [one.name for one in self.outputs]
                return dict(zip(names, np.array(rows).T, strict=True)), events
            events += found
            assert events < MOST_EVENTS and solver.status != "failed"
            motion, following = self.happen(time, motion._replace(row=between(time)))

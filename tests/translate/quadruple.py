"""How far numbers are from elementary functions of C's quadruple precision, which share nothing with dockdyn's."""

import ctypes
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

GCC = shutil.which("gcc")
ERRORS = """
#include <math.h>
#include <quadmath.h>

/* of a number from the exact value: in units in the last place of that; infinite where special values differ */
static double error(double found, __float128 exact) {
    const double rounded = (double)exact;
    if (isnan(found) || isnanq(exact)) return isnan(found) && isnanq(exact) ? 0 : INFINITY;
    if (isinf(found) || isinf(rounded)) return found == rounded ? 0 : INFINITY;
    if (found == 0 && rounded == 0 && !signbit(found) != !signbitq(exact)) return INFINITY;
    int exponent;
    frexpq(exact, &exponent);
    exponent = exponent - 53 < -1074 ? -1074 : exponent - 53;
    return (double)fabsq(ldexpq((__float128)found - exact, -exponent));
}
"""
OF_ONE = """
void %(name)s_errors(long count, const double *x, const double *y, const double *found, double *error_of) {
    for (long i = 0; i < count; i++) error_of[i] = error(found[i], %(name)sq(x[i]));
}
"""
OF_TWO = OF_ONE.replace("(x[i])", "(x[i], y[i])")


@cache
def library(one: tuple[str, ...], two: tuple[str, ...]) -> ctypes.CDLL:
    """The functions of one and of two numbers. Skips the test where there is no compiler that has them."""
    if GCC is None or sys.platform != "linux":
        pytest.skip("no C compiler with quadruple precision here")
    text = ERRORS + "".join(OF_ONE % {"name": name} for name in one) + "".join(OF_TWO % {"name": name} for name in two)
    with TemporaryDirectory() as folder:
        (Path(folder) / "errors.c").write_text(text)
        command = [GCC, "-O2", "-fno-builtin", "-shared", "-fPIC", "errors.c", "-lquadmath", "-lm", "-o", "errors.so"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if "quadmath" in ended.stderr:
            pytest.skip("the C compiler has no quadruple precision")
        assert not ended.returncode, ended.stderr
        return ctypes.CDLL(str(Path(folder) / "errors.so"))


def errors(functions: ctypes.CDLL, name: str, arguments: list[np.ndarray], found: np.ndarray) -> np.ndarray:
    """Of numbers that a function has found at its arguments, the errors in units in the last place."""
    answer = np.empty_like(found)
    rows = [arguments[0], arguments[-1], found, answer]
    call = getattr(functions, f"{name}_errors")
    call.restype = None
    call(ctypes.c_long(len(found)), *[ctypes.c_void_p(row.ctypes.data) for row in rows])
    return answer

"""Shock response spectra beside those of pyYeti."""

import numpy as np
import pytest

from dockdyn.docking.loads.spectra import shock_spectrum

with np.printoptions():  # which it changes for the whole process
    pyyeti = pytest.importorskip("pyyeti.srs")


@pytest.mark.parametrize("quality", [10.0, 50.0])
def test_spectra_are_those_of_pyyeti(quality):
    """A half sine and a ringing; pyYeti is given the same straight lines between samples 16 times as often.
    With 64 looks a period a peak may be missed by 0.12 %."""
    step, finer = 2e-4, 16
    time = np.arange(4000) * step
    base = 30 * np.sin(np.pi * np.clip((time - 0.05) / 0.02, 0, 1))
    ringing = np.exp(-30 * (time - 0.1)) * np.sin(2 * np.pi * 140 * (time - 0.1))
    base = np.where(time > 0.1, base + 20 * ringing, base)
    base[-1] = 0.0
    frequencies = np.array([5.0, 20.0, 50.0, 90.0, 140.0, 200.0, 400.0])
    found = shock_spectrum(base[:, None], step, frequencies, quality)[:, 0]
    looks = np.arange(finer * (len(time) - 1) + 1) * (step / finer)
    told = pyyeti.srs(
        np.interp(looks, time, base), finer / step, frequencies, quality, ic="zero", rolloff="none", parallel="no"
    )
    np.testing.assert_allclose(found, np.ravel(told), rtol=1.2e-3)

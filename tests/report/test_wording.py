"""Sentences of the report, read as an engineer reads them."""

from __future__ import annotations

import pytest

from dockdyn.report.wording import capture


@pytest.mark.parametrize(
    ("captured", "margin", "said"),
    [
        (True, 0.0196, "Captured at 6.500 s: the probe met the latch 0.0196 m/s above the speed that it takes."),
        (False, -0.0196, "Not captured: the probe met the latch 0.0196 m/s below the speed that it takes."),
        (False, None, "Not captured: the probe did not reach the latch."),
        (
            False,
            0.0196,
            "Not captured: the probe reached the latch fast enough but for other contacts, 0.0196 m/s above the speed that "
            "the latch alone takes.",
        ),
    ],
)
def test_a_capture_is_told_without_contradiction(captured, margin, said):
    """A probe fast enough for the latch alone, which other contacts held back, is said to be that."""
    assert capture({"captured": captured, "capture_time_s": 6.5, "capture_speed_margin_m_s": margin}) == said

"""A page with scene and numbers to move is small enough to be sent by mail."""

import gzip

import pytest

from dockdyn.pages import live_of, replay_of, report_of
from dockdyn.report.page import render_page

MOST, MOST_PACKED = 1_000_000, 350_000  # bytes


@pytest.mark.full_cases("sits-scvg")
@pytest.mark.parametrize("name", ["probe-cone", "sits-scvg"])
def test_a_page_is_small_enough_to_be_sent(shared_run, name):
    dataset = shared_run(name)
    inside = replay_of(dataset) | live_of(dataset)
    page = render_page(report_of(dataset), **inside).encode()
    assert {"scene", "live"} <= inside.keys()
    assert len(page) <= MOST and len(gzip.compress(page, 9)) <= MOST_PACKED

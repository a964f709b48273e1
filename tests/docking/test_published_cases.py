"""Cases that others print, beyond the five papers: what `docs/validation.md` has of them is within what is trusted."""

import published_cases
import pytest


def check(rows):
    for name, ours, theirs, _, _, trusted in rows:
        assert abs(ours - theirs) <= trusted, name


def test_delays_at_which_others_find_the_end_of_stability():
    check(published_cases.of_delays())


@pytest.mark.full
@pytest.mark.parametrize("rows", ["of_runs", "of_balls", "of_hinged_beam", "of_stopped_beam", "of_spinning_beam"])
def test_motions_that_others_print(rows, load):
    check(getattr(published_cases, rows)(load))

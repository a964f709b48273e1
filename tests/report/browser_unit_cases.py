"""Numbers of a scenario at random, for pages that compute."""

SPREAD = 0.1  # of each number


def drawn(place, rng):
    """A number near that of the scenario, within its bounds."""
    limits, value = place.limits, place.value * (1 + SPREAD * rng.uniform(-1, 1))
    inside = max(limits.least, min(limits.most, value))
    return inside if limits.above < inside < limits.below else place.value

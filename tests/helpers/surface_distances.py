"""Distances of surfaces, a row for each point, as one program."""

from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program


@Program
def evaluate_distances(surface, points):
    """Distances and their gradients, a row for each point."""

    def one(point):
        distance, normal = surface.distance_and_normal(Vector.of(point))
        return distance, normal.array()

    return over_rows(one, points)

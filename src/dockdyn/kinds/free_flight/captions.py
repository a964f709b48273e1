"""The figures of a report of two bodies in free flight, each with what to look for in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import xarray as xr

from dockdyn.report.contact_tables import FINE, loaded
from dockdyn.report.report import Plot

SURFACES = 4  # surfaces with a figure of their own
POINTS = 6  # named points in one figure of loads
LOAD_FIGURES = 3


def figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw, and what to look for in it; figures that could only show zeros are left out."""
    from dockdyn.kinds.free_flight.plots import latch
    from dockdyn.kinds.free_flight.shown_surface import shown_surfaces
    from dockdyn.kinds.free_flight.trajectory import trajectory
    from dockdyn.report.charts import contact_charts as over_time
    from dockdyn.report.control_report import control_figures

    if dataset.sizes["contact"]:
        for surface in shown_surfaces(dataset)[:SURFACES]:
            words = f"Path of the features around “{surface.name}”, from its reference point in axes of its body, "
            words += "each contact marked where it began: "
            if surface.distance is None:
                words += "the path alone, for the scenario’s own parts can no longer be imported."
            else:
                wall = "the dashed line, a tip’s radius before the wall" if surface.radius > 0 else "the wall"
                words += f"the path should turn back at {wall}; that is a section through the reference point, and "
                words += "contacts beside its plane lie off it."
            yield Plot("trajectory", partial(trajectory, dataset, surface), words)
        yield Plot(
            "depth",
            partial(over_time.depth, dataset),
            "Penetration depth, negative while apart: contact (shaded) is where it is above zero.",
        )
    if "latch_travel" in dataset:
        yield Plot(
            "latch",
            partial(latch, dataset),
            "Travel of the tip into the latch, which falls in at the dashed line; below, the force of its ramp, and that "
            "by which it holds what it has caught: its peak is the load of the capture.",
        )
    if dataset.sizes["episode"]:
        yield Plot(
            "normal-force",
            partial(over_time.normal_force, dataset),
            "Normal force where it is generated: compare the peaks with what the mechanism may bear.",
        )
        if over_time.close_up_samples(dataset) >= FINE // 2:
            yield Plot(
                "largest-contact",
                partial(over_time.largest_contact, dataset),
                "The contact with the largest force: the delay shows as the shift between the lines on the left, and "
                "the energy that the law itself takes out as the area of the loop on the right.",
            )
        yield Plot(
            "energy",
            partial(over_time.energy, dataset),
            "Change of kinetic energy since the start: a contact whose mark lies above the one before it added energy, "
            "and the two lines should lie on each other.",
        )
    yield Plot(
        "momentum-errors",
        partial(over_time.momentum_errors, dataset),
        "Errors of momentum: both should stay near round-off, and steps at contacts would mean that forces and "
        "reactions do not balance.",
    )
    yield from control_figures(dataset)
    if np.any(dataset.rotation.values):
        yield Plot(
            "attitude",
            partial(over_time.attitude, dataset),
            "Rotation of both bodies since the start, as a rotation vector in body axes: its slope is the rate that "
            "each contact left behind.",
        )
    if loaded(dataset):
        for first in range(0, min(dataset.sizes["point"], POINTS * LOAD_FIGURES), POINTS):
            chosen = range(first, min(first + POINTS, dataset.sizes["point"]))
            yield Plot(
                "loads",
                partial(over_time.loads, dataset, chosen),
                "Force and moment of contacts and latch at named points, in the axes of each point’s body: the largest "
                "values are in the table of peak loads.",
            )

"""Hybrid contact: a passive compliance that is measured, and a contact in software beside it.

Units: N/m, N s/m, s.
Source: as named in `hybrid_contact`.
"""

from __future__ import annotations

from typing import NamedTuple


class VirtualContact(NamedTuple):
    """The force −(K_v X + B_v V) of the model's own position and velocity, without delay."""

    stiffness: float  # K_v, N/m
    damping: float  # B_v, N s/m


def hybrid_contact(
    wanted_stiffness: float,
    wanted_damping: float,
    hardware_stiffness: float,
    hardware_damping: float = 0.0,
    lag: float = 0.0,
) -> VirtualContact:
    """Return what software must add to a compliance in hardware so that both together show a wanted contact.

    The two act side by side: K_v = K − K_h, B_v = B − B_h. What is measured comes back `lag` (s) late, as a negative damping
    K_h · lag to first order, which the software gives back. Zebenay, Lampariello, Boge, Choukroun (2012, 2015).
    The softer the hardware, the less of the force is late; the region in which the whole is stable is that of a loop with
    `virtual_stiffness` and `virtual_damping`.

    Args:
        wanted_stiffness, wanted_damping: of the whole (N/m, N s/m).
        hardware_stiffness, hardware_damping: of the measured compliance (N/m, N s/m).
        lag: delay of the loop (s) from the model to the force that comes back.

    Raises:
        ValueError: a stiffness that is not positive, a negative damping or lag. A virtual part below zero is allowed.
    """
    for name, value, allowed in (
        ("wanted stiffness", wanted_stiffness, "> 0"),
        ("hardware stiffness", hardware_stiffness, "> 0"),
        ("wanted damping", wanted_damping, "≥ 0"),
        ("hardware damping", hardware_damping, "≥ 0"),
        ("lag", lag, "≥ 0"),
    ):
        if not (value > 0 if allowed == "> 0" else value >= 0) or value == float("inf"):
            raise ValueError(f"{name} is {value}; must be {allowed} and finite")
    return VirtualContact(
        wanted_stiffness - hardware_stiffness, wanted_damping - hardware_damping + hardware_stiffness * lag
    )

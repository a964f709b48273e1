"""Contact of two masses on a line.

Units: m, m/s, N.
Source: Paraskevas and Papadopoulos, Fig. 1b: what acts between the two masses that meet.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.contact_modes import UnilateralContact
from dockdyn.contact.laws.normal_law import NormalLaw, Scalar


class Axial(NamedTuple):
    """A contact along the line at an instant."""

    depth: Scalar  # m
    rate: Scalar  # m/s
    raw_force: Scalar  # N
    force_sign: Scalar


class AxialContact(UnilateralContact):
    """What acts between the two masses that meet."""

    law: NormalLaw

    def touch(self, depth: Scalar, rate: Scalar) -> Axial:
        """Return the contact at a `depth` (m) that grows by `rate` (m/s)."""
        return Axial(depth, rate, self.law.force(depth, rate), self.law.force_sign(depth, rate))

"""Gains and limits of joint control in a scenario."""

from __future__ import annotations

from dockdyn.scenario.language.units import quantity

Gain = quantity("N*m/rad", "a gain", least=0, component=True)
RateGain = quantity("N*m*s/rad", "a gain", least=0, component=True)
Torque = quantity("N*m", "a torque", above=0, component=True)
Period = quantity("s", "a period", above=0)
LISTS = ("stiffness", "damping", "limit")  # one entry a joint

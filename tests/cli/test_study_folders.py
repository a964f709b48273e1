"""Folders of studies that were given none: named as the scenario, or as the result whose scenario it is."""

from __future__ import annotations

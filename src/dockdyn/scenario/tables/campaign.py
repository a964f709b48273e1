"""The table `[campaign]`: how many cases of a scenario with distributions, and how they are drawn."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dockdyn.scenario.language.section import Section

Sampling = Literal["random", "latin-hypercube", "sobol"]


class CampaignSection(Section):
    """What the command line does not say."""

    runs: Annotated[int, Field(ge=1)] = 1000
    seed: Annotated[int, Field(ge=0)] = 0
    sampling: Sampling = "random"

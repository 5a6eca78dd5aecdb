"""What an estimator says of a population, or why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Estimate:
    """The people who are estimated to be alone in their class in the population.

    Args:
        estimator: who estimated. population: the people of the population.
        uniques: how many of them are unique; None = the equations have no solution. why_not: a sentence on why.
        parameters: what the model was fitted to.
    """

    estimator: str
    population: int
    uniques: float | None = None
    why_not: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """Their share of the population."""
        return None if self.uniques is None else self.uniques / self.population

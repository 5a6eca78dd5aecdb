"""Several releases of one table over time: what they say together about persons who are in more than one."""

from __future__ import annotations

from typing import ClassVar, Protocol

from sqlaudit.models.base import Judgement, Model, Parameter

XIAO_TAO = "Xiao, Tao: m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets, SIGMOD 2007"


class SeriesFacts(Protocol):
    """What was counted of a series of releases and one sensitive attribute."""

    @property
    def smallest(self) -> int | None:
        """The rows of the smallest class of all releases; None where there is none."""

    @property
    def repeating(self) -> int:
        """Classes in which a value occurs more than once, in all releases."""

    @property
    def changed_signatures(self) -> int:
        """Persons whose classes have other values in another release."""


def largest_m(facts: SeriesFacts) -> int | None:
    """The largest m for which the releases are m-invariant: 0 when they are for none, None when nothing was released.

    Args:
        facts: what was counted of the releases.
    """
    broken = facts.repeating or facts.changed_signatures
    return 0 if broken and facts.smallest is not None else facts.smallest


class SeriesModel(Model):
    """A model that several releases of one table decide together, and no table alone."""

    needs_entity: ClassVar[bool] = True
    inherited: ClassVar[bool] = False
    verdict_by_level: ClassVar[bool] = True


class MInvariance(SeriesModel):
    """Every release m-unique, and the values of a person's class the same in each."""

    name: ClassVar[str] = "m_invariance"
    title: ClassVar[str] = "m-invariance"
    definition: ClassVar = (
        "Every class of every release has at least m rows, all with different sensitive values, and the classes of a "
        "person have the same values in each release that the person is in."
    )
    reference: ClassVar[str] = XIAO_TAO
    note: ClassVar[str] = (
        "The level is 0 where a class repeats a value, or where a person's classes have different values in two "
        "releases. Then no m is met."
    )
    parameters: ClassVar = (Parameter("m", "integer", "smallest class, all values different", 1),)

    def judge_releases(self, facts: SeriesFacts) -> Judgement:
        """The largest m that holds, and what keeps it from being more.

        Args:
            facts: what was counted of the releases.
        """
        details = {
            "classes_repeating_a_value": facts.repeating,
            "persons_with_changing_values": facts.changed_signatures,
        }
        return Judgement({"m": largest_m(facts)}, details=details)

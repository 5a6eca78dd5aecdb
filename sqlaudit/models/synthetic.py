"""A synthetic table beside the people that it was made from: what a requirement may limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import ClassVar, Protocol

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import Number
from sqlaudit.models.base import Judgement, Model, Parameter
from sqlaudit.reports.document import percent

RAAB = "Raab, Nowok, Dibben: Practical privacy metrics for synthetic data, arXiv 2406.16826"


@dataclass(frozen=True)
class Disclosed:
    """What was counted of a synthetic table, for one requirement and one sensitive attribute.

    Args:
        level: the figure; None where it is undefined. excess: the share of the original's rows above the holdout's, of
            which `level` is the upper bound. keys: the known columns for which it is highest, where several were tried.
        doubt: why nothing may pass, for instance that no value of a column occurs in both tables.
        low: the lower end of the interval of the excess. most: the upper bound of the share of the original's rows,
            which the excess cannot exceed. doubt_of_holdout: why the holdout may not be people outside.
    """

    level: Number | None
    excess: Fraction | None = None
    keys: tuple[str, ...] = ()
    doubt: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    low: Number | None = None
    most: Number | None = None
    doubt_of_holdout: str = ""


class SyntheticFacts(Protocol):
    """What was counted of a synthetic table, for one sensitive attribute."""

    def replicated_uniques(self) -> Iterator[Disclosed]:
        """Yield the share of the original's rows that are unique in both tables."""

    def correct_disclosure(self) -> Iterator[Disclosed]:
        """Yield the share of the original's rows whose sensitive value is disclosed correctly (DiSCO)."""

    def excess_disclosure(self) -> Iterator[Disclosed]:
        """Yield by how much DiSCO is higher for the original's rows than for the holdout's."""

    def copies(self, limit: Number | None) -> Iterator[Disclosed]:
        """Yield the synthetic rows that equal a row of the original; at most `limit` may be hidden among others."""


class SyntheticModel(Model):
    """A figure of a synthetic table beside its original."""

    reference: ClassVar[str] = RAAB
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("share", "decimal", "largest share of the original's rows", 0, 1),)
    needs_sensitive: ClassVar[bool] = False
    inherited: ClassVar[bool] = False
    verdict_by_level: ClassVar[bool] = True
    needs_holdout: ClassVar[bool] = False
    """Whether it needs people who were not used for the synthetic table."""
    limits_copies: ClassVar[bool] = False
    """Whether its limit is a number of synthetic rows that equal a row of the original."""

    def figures(self, facts: SyntheticFacts) -> Iterator[Disclosed]:
        """Yield its figure for all quasi-identifiers, and for each set of known ones that was tried."""
        raise NotImplementedError(self.name)

    def judge_synthetic(self, disclosed: Disclosed) -> Judgement:
        """The level, and why it does not pass where there is doubt: a failure stands whatever the doubt."""
        meets = disclosed.level is not None and self.required is not None and disclosed.level <= self.required
        doubt = disclosed.doubt if meets or disclosed.level is None else ""
        keys = f"Highest for {', '.join(disclosed.keys)}" if disclosed.keys else ""
        details = dict(disclosed.details) | ({"keys": list(disclosed.keys)} if disclosed.keys else {})
        return Judgement({self.main: disclosed.level}, note=doubt or keys, details=details, undecided=bool(doubt))


class ReplicatedUniques(SyntheticModel):
    """repU."""

    name: ClassVar[str] = "rep_u"
    title: ClassVar[str] = "replicated uniques (repU)"
    definition: ClassVar[str] = (
        "Share of the original's rows that are unique in their quasi-identifiers there and in the synthetic table."
    )

    def figures(self, facts: SyntheticFacts) -> Iterator[Disclosed]:
        """Yield repU."""
        return facts.replicated_uniques()


class CorrectlyDisclosed(SyntheticModel):
    """DiSCO."""

    name: ClassVar[str] = "disco"
    title: ClassVar[str] = "correct attribute disclosure (DiSCO)"
    definition: ClassVar[str] = (
        "Share of the original's rows whose group in the synthetic table has a single sensitive value, which is theirs."
    )
    needs_sensitive: ClassVar[bool] = True

    def figures(self, facts: SyntheticFacts) -> Iterator[Disclosed]:
        """Yield DiSCO."""
        return facts.correct_disclosure()


class ExcessDisclosure(SyntheticModel):
    """DiSCO of the people inside above that of people outside."""

    name: ClassVar[str] = "excess_disclosure"
    title: ClassVar[str] = "excess disclosure (upper bound)"
    definition: ClassVar[str] = (
        "DiSCO of the original's rows minus DiSCO of a holdout: the upper bound of its 95% interval."
    )
    reference: ClassVar[str] = (
        "the interval: Clopper, Pearson: The Use of Confidence or Fiducial Limits, Biometrika 26(4), 1934"
    )
    note: ClassVar[str] = (
        "It passes when the upper bound meets the limit, fails when the lower end of the interval does not, and is "
        "undetermined in between."
    )
    needs_sensitive: ClassVar[bool] = True
    needs_holdout: ClassVar[bool] = True

    def figures(self, facts: SyntheticFacts) -> Iterator[Disclosed]:
        """Yield the excess of DiSCO."""
        return facts.excess_disclosure()

    def judge_synthetic(self, disclosed: Disclosed) -> Judgement:
        """Judge by the ends of the interval; a doubt of the holdout counts where the excess may exceed the limit.

        The excess is at most the share of the original's rows, with any holdout.
        """
        limit, low = self.required, disclosed.low
        if limit is not None and disclosed.most is not None and disclosed.most > limit:
            disclosed = replace(disclosed, doubt=disclosed.doubt or disclosed.doubt_of_holdout)
        judgement = super().judge_synthetic(disclosed)
        level, excess = disclosed.level, disclosed.excess
        if level is None or excess is None or limit is None or level <= limit or (low is not None and low > limit):
            return judgement
        note = disclosed.doubt or (
            f"the excess is {percent(excess)}, but with these numbers of rows it may be {percent(level)}: a larger "
            "holdout is needed"
        )
        return Judgement(judgement.levels, note=note, details=judgement.details, undecided=True)


class ExactCopies(SyntheticModel):
    """Synthetic rows that equal a row of the original."""

    name: ClassVar[str] = "exact_copies"
    title: ClassVar[str] = "exact copies"
    definition: ClassVar[str] = "Synthetic rows that equal a row of the original in all columns."
    reference: ClassVar[str] = "sqlaudit's own definition"
    parameters: ClassVar = (Parameter("rows", "integer", "most synthetic rows", 0),)
    limits_copies: ClassVar[bool] = True

    def figures(self, facts: SyntheticFacts) -> Iterator[Disclosed]:
        """Yield the copies."""
        return facts.copies(self.required)

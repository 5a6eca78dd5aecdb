"""The result of comparing a release with its original. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from sqlaudit.audits.result import AuditResult
from sqlaudit.base import result as base
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.reports.notebook import Shown


class Answer(StrEnum):
    """An answer that counts may not decide."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


class Recoding(StrEnum):
    """How values were recoded.

    `NONE`: nothing was changed. `FULL_DOMAIN`: every column lies at one level of its hierarchy. `GLOBAL`: every value
    has one cell wherever it occurs, at different levels. `LOCAL`: some value has several cells. Rows that are
    suppressed as a whole do not count.
    """

    NONE = "none"
    FULL_DOMAIN = "full-domain"
    GLOBAL = "global"
    LOCAL = "local"


@dataclass(frozen=True)
class ColumnFit(base.Documented):
    """How one column was generalized.

    Args:
        name: the column. height: the top level of its hierarchy.
        levels: (level, released rows with a cell at that level).
        cells: different cells. values: different values of the original.
        misfits: rows whose cell does not contain their value; without pairs, rows whose cell stands for no value.
        empty_cells: different cells that stand for no value of the original.
        unknown_labels: different cells that are neither values nor labels of the hierarchy.
        split_values: values with several cells. Rows that are suppressed as a whole do not count.
        by_default: whether the levels are default ones.
    """

    name: str
    height: int
    levels: tuple[tuple[int, int], ...] = field(metadata=base.objects("level", "rows"))
    cells: int
    values: int
    misfits: int
    empty_cells: int
    unknown_labels: int
    split_values: int
    by_default: bool = False


@dataclass(frozen=True)
class Generalization(base.Documented):
    """Whether the release is a generalization of the original (Thesis, Definition 2.3.4).

    Args:
        answer: yes, no, or undecided when regions overlap and rows are not paired.
        reason: one sentence. columns: by column.
        misfit_rows: rows with a cell that does not fit; None when rows are not paired.
        too_many: released rows beyond what there is of their kind in the original: of their class, of their class and
            sensitive value, or at all; 0 when rows are paired.
        changed: for each sensitive attribute the rows whose value was changed (paired), or the released rows with a
            value beyond those that the original has of it.
        foreign: released rows without an original row. missing: original rows that are not in the release.
            suppressed: released rows whose cells may all be anything.
        recoding: how values were recoded.
    """

    answer: Answer
    reason: str
    columns: tuple[ColumnFit, ...]
    misfit_rows: int | None
    too_many: int
    changed: Mapping[str, int]
    foreign: int
    missing: int
    suppressed: int
    recoding: Recoding


@dataclass(frozen=True)
class ColumnSpread(base.Documented):
    """How the rows spread over the values of a column, before and after.

    Args:
        column: its name. role: in the comparison.
        values, cells: different ones of the original, and of the release. original, release: rows of the most frequent
            ones, largest first, at most 40; none of fewer than five rows. Rounded to multiples of five.
        original_others, release_others: rows of all other ones together, rounded as well.
    """

    column: str
    role: Annotated[str, Literal["quasi-identifier", "sensitive"]]
    values: int
    cells: int
    original: tuple[int, ...]
    original_others: int
    release: tuple[int, ...]
    release_others: int


@dataclass(frozen=True)
class Coarser(base.Documented):
    """The release compared with another one of the same original.

    Args:
        other: the other release. relation: the release's relation to it.
        reason: one sentence. not_coarser: rows with a cell that is not coarser than (or equal to) that of the other
            release. not_finer: the same the other way round. compared: rows that could be compared.
    """

    other: str
    relation: Annotated[str, Literal["coarser", "finer", "equal", "neither", "undecided"]]
    reason: str
    compared: int = 0
    not_coarser: int = 0
    not_finer: int = 0


@dataclass(frozen=True)
class Loss(base.Documented):
    """One measure of information loss.

    Args:
        measure: its name; docs/release.md has its definition.
        column: of one column, None = of all quasi-identifiers together.
        sensitive: its sensitive attribute, None without one.
        value: as the source defines it; None when it cannot be given, for the reason in `why`.
        mean: the same for a cell or row on average. share: the value as a share of what complete suppression loses.
        standard_error: of an estimate.
    """

    measure: Annotated[str, base.json_schema(enum=tuple(OF_RELEASES))]
    column: str | None
    value: base.Number | None
    mean: base.Number | None = None
    share: base.Number | None = field(default=None, metadata=base.key("share_of_complete_suppression"))
    sensitive: str | None = field(default=None, metadata=base.after("column"))
    standard_error: float | None = None
    why: str = field(default="", metadata=base.key("why_not_given") | base.OR_NULL)


NO_ATTACKS = (
    "The release is not a generalization of the original, so attacks on it mean nothing and were not tried. "
    "`sqlaudit attack` tries them on any table."
)

METHODS = ("non-corrected", "conditional", "independent")
"""How a release is asked: as it stands, by conditional probability, by independent columns."""


@dataclass(frozen=True)
class Errors(base.Documented):
    """Relative errors of many answers: how many there are, the median, the 90% and 95% quantiles and the largest."""

    answers: int
    median: float | None
    q90: float | None
    q95: float | None
    largest: float | None

    @classmethod
    def of(cls, errors: Sequence[float]) -> Errors:
        """The figures of a list; a quantile is the smallest error that so many do not exceed."""
        ranked = sorted(errors)
        if not ranked:
            return cls(0, None, None, None, None)

        def quantile(share: Fraction) -> float:
            return ranked[max(0, -(-len(ranked) * share.numerator // share.denominator) - 1)]

        middle = (quantile(Fraction(1, 2)) + ranked[len(ranked) // 2]) / 2
        return cls(len(ranked), middle, quantile(Fraction(9, 10)), quantile(Fraction(19, 20)), ranked[-1])


_ByMethod = TypedDict(
    "_ByMethod", {"non-corrected": float | None, "conditional": float | None, "independent": float | None}
)
_ByMethod.__doc__ = "By method; None where there is no answer."
_ErrorsByMethod = TypedDict(
    "_ErrorsByMethod", {"non-corrected": Errors, "conditional": Errors, "independent": Errors}, total=False
)
_ErrorsByMethod.__doc__ = "Relative errors by method; what only one of the two tables answers is an error of 1."
Answers = Annotated[Mapping[str, float | None], _ByMethod]
ErrorsByMethod = Annotated[Mapping[str, Errors], _ErrorsByMethod]


class _Shares(_ByMethod):
    original: float | None


@dataclass(frozen=True)
class Group(base.Documented):
    """One answer of a query: on the original, and on the release by method (None = cannot be given).

    Args:
        key: the values that the query groups by, where they may be named.
        shares: the same of a counting query as shares of what it selects, "original" and by method; None for others.
    """

    truth: float | None
    answers: Answers
    key: tuple[Any, ...] | None = field(default=None, metadata=base.AS_TEXT)
    shares: Annotated[Mapping[str, float | None], _Shares] | None = None


@dataclass(frozen=True)
class AnswerDistance(base.Documented):
    """The distance between a query's distributions of answers on release and original, by method.

    Args:
        answers: the earth mover's distance by method; None where one of the two tables answers nothing.
        key: the values of the other columns that the query groups by, where they may be named.
    """

    answers: Answers
    key: tuple[Any, ...] | None = field(default=None, metadata=base.AS_TEXT)


@dataclass(frozen=True)
class QueryAnswer(base.Documented):
    """One query of the user on both tables: its number in the file, its groups (one without GROUP BY), its errors.

    Args:
        number: 1, 2, … in the file. aggregate: COUNT, SUM or AVG. groups: the first answers. total: how many there are.
        errors: relative errors by method; what only one of the two tables answers is an error of 1.
        why: why the answer by conditional probability cannot be given, empty when it can.
        distribution_of: the column whose values a counting query distributes; empty for other queries.
        distances: earth mover's distance of these distributions from the original's, for each combination of the other
            columns of GROUP BY (N of Hsu 4.5, with --distance for a sensitive column).
    """

    number: Annotated[int, base.FROM_1]
    aggregate: Annotated[str, Literal["COUNT", "SUM", "AVG"]]
    groups: tuple[Group, ...]
    total: int = field(metadata=base.key("groups_total"))
    errors: ErrorsByMethod = field(metadata=base.key("relative_errors"))
    why: str = field(default="", metadata=base.key("why_not_given") | base.OR_NULL)
    distribution_of: str = field(default="", metadata=base.OR_NULL)
    distances: tuple[AnswerDistance, ...] = ()


@dataclass(frozen=True)
class Workload(base.Documented):
    """Random counting queries on both tables.

    Args:
        queries: how many were asked. empty: queries that count nothing in the original; they have no relative error.
        seed: where they come from. errors: relative errors by method. why: as for a query.
        false_positives: by method those of the empty ones that the release answers with more than nothing.
    """

    queries: int
    empty: int
    seed: Annotated[int, base.ANY_NUMBER]
    errors: ErrorsByMethod = field(metadata=base.key("relative_errors"))
    why: str = field(default="", metadata=base.key("why_not_given") | base.OR_NULL)
    false_positives: Mapping[str, int] = field(default_factory=dict, metadata=base.after("empty"))


@dataclass(frozen=True, kw_only=True, repr=False)
class CompareResult(base.MeasuredResult, Shown):
    """A release compared with its original: generalization, safety, information loss, answers to queries.

    Args:
        engine: the engine and its version. original, release: the tables' names. rows, released: their rows.
        pairing: of rows: by a key, by position, by containment, or none.
        distance: of sensitive values. generalization: whether it is one. coarser: comparison with another release.
        spreads: how rows spread over the values of each column; empty for a release in buckets.
        losses: the information loss. queries: one entry per query of --queries. workload: random counting queries.
        audit: the release by itself, as in `sqlaudit audit`.
        attacks: on the release alone; None when it is not a generalization.
    """

    schema: ClassVar = "sqlaudit-compare/1"
    shown_by: ClassVar = "sqlaudit.release.compare.report:CompareReport"
    frame_of: ClassVar = "losses"

    engine: str = ""
    original: str = field(metadata=base.key("original.name"))
    rows: int = field(metadata=base.key("original.rows"))
    release: str = field(metadata=base.key("release.name"))
    released: int = field(metadata=base.key("release.rows"))
    qi: tuple[str, ...] = field(metadata=base.key("roles.quasi_identifiers"))
    sensitive: tuple[str, ...] = field(metadata=base.key("roles.sensitive"))
    pairing: Annotated[str, Literal["key", "position", "containment", "none"]]
    distance: Annotated[str, Literal["equal", "ordered", "hierarchical"]]
    generalization: Generalization
    coarser: Coarser | None = None
    spreads: tuple[ColumnSpread, ...] = ()
    losses: tuple[Loss, ...]
    queries: tuple[QueryAnswer, ...] = ()
    workload: Workload | None = None
    audit: AuditResult
    attacks: AttackResult | None = None

    @property
    def target(self) -> str:
        """The compared tables, in a few words."""
        return f"{self.release} beside {self.original}"

    @base.told("attacks", base.key("why_no_attacks"))
    def _why_no_attacks(self) -> str | None:
        """Why nothing was attacked, None when it was."""
        return None if self.attacks is not None else NO_ATTACKS

    def loss(self, measure: str, column: str | None = None, sensitive: str | None = None) -> Loss:
        """One loss; of all columns together without `column`, of the first sensitive attribute without `sensitive`.

        Raises:
            KeyError: it was not computed.
        """
        for one in self.losses:
            if one.measure == measure and one.column == column and sensitive in (None, one.sensitive):
                return one
        raise KeyError(measure)

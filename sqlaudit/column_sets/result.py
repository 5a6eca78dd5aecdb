"""What a search for column sets found. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.documents import AS_FLOAT, OR_NULL, Documented, key
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import MeasuredResult
from sqlaudit.reports.figures import percent
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class ColumnSet(Documented):
    """One column set and its figures.

    Args:
        columns: names, in the table's order.
        classes: equivalence classes; None where missing values match any value (they overlap).
        min_size: members of the smallest class.
        rows_at_risk: rows (persons with an entity) in classes below k.
        unique_rows: rows (persons) alone in their class.
        share_at_risk: rows_at_risk as a share of all rows (persons).
        distinction: classes as a share of the classes of all columns together.
        distinct_share: classes as a share of the rows.
        separation: share of the pairs of rows that lie in different classes; None for persons and with wildcards.
    """

    columns: tuple[str, ...]
    classes: int | None
    min_size: int
    rows_at_risk: int
    unique_rows: int
    share_at_risk: Fraction = field(metadata=AS_FLOAT)
    distinction: Fraction | None = field(default=None, metadata=AS_FLOAT)
    distinct_share: Fraction | None = field(default=None, metadata=AS_FLOAT)
    separation: Fraction | None = field(default=None, metadata=AS_FLOAT)


@dataclass(frozen=True)
class Effect(Documented):
    """What one column contributes, and what leaving it out or coarsening it would save.

    Args:
        column: its name. in_sets: in how many of the found sets it is.
        at_risk: share at risk when all searched columns are known.
        without: the same without this column; None when it was not counted.
        coarsened: the same with this column coarsened as `coarsening` says; None when it was not counted.
    """

    column: str
    in_sets: int
    at_risk: Fraction | None = field(default=None, metadata=key("share_at_risk") | AS_FLOAT)
    without: Fraction | None = field(default=None, metadata=key("share_at_risk_without") | AS_FLOAT)
    coarsened: Fraction | None = field(default=None, metadata=key("share_at_risk_coarsened") | AS_FLOAT)
    coarsening: str = field(default="", metadata=OR_NULL)

    @property
    def stays(self) -> bool:
        """Whether leaving the column out is known to change nothing."""
        return self.at_risk is not None and self.at_risk == self.without

    def sentence(self, unit: str = "rows") -> str:
        """The sentence that a user acts on.

        Example:
            >>> Effect("zip", 2, Fraction(41, 100), Fraction(3, 100)).sentence()
            'Without zip, rows at risk fall from 41.0% to 3.0%.'
        """
        if self.at_risk is None or self.without is None:
            return f"{self.column} is in {self.in_sets} of the sets."
        text = f"Without {self.column}, {unit} at risk {_moves(self.at_risk, self.without)}"
        if self.coarsened is not None and not self.stays:
            moved = "they stay" if self.coarsened == self.at_risk else f"to {percent(self.coarsened)}"
            text += f"; with {self.column} as {self.coarsening} {moved}"
        return text + "."


@dataclass(frozen=True)
class Sampled(Documented):
    """What was drawn for a search in a sample.

    Args:
        rows: of the table. drawn: rows of the sample, without replacement. seed: of the drawing.
        delta: at most this is the chance, in drawing, that some set that separates all drawn rows leaves more than a
            share epsilon of all pairs of rows unseparated.
        alike: whether two drawn rows are equal in all columns, so that no set separates all of them.
    """

    rows: int
    drawn: int
    delta: Fraction = field(metadata=AS_FLOAT)
    seed: int
    alike: bool = False


@dataclass(frozen=True)
class Explanation:
    """Why a column set re-identifies: its figures, and those of the set without each of its columns."""

    found: ColumnSet
    without: Mapping[str, ColumnSet]
    unit: str

    def sentences(self) -> tuple[str, ...]:
        """One sentence on the set, then one a column, the most telling column first."""
        members = ", ".join(self.found.columns) or "no column at all"
        first = (
            f"Who knows {members} finds {self.found.unique_rows:,} {self.unit} that nobody else shares; "
            f"{percent(self.found.share_at_risk)} are at risk."
        )
        ranked = sorted(self.without.items(), key=lambda item: (item[1].share_at_risk, item[0]))
        return (first, *(_without(name, self.found, rest, self.unit) for name, rest in ranked))


def _without(name: str, found: ColumnSet, rest: ColumnSet, unit: str) -> str:
    return f"Without {name}, {unit} at risk {_moves(found.share_at_risk, rest.share_at_risk)}."


def _moves(before: Fraction, after: Fraction) -> str:
    if before == after:
        return f"stay at {percent(before)}"
    return f"fall from {percent(before)} to {percent(after)}"


@dataclass(frozen=True)
class Counts(Documented):
    """How much work it was.

    Args:
        candidates: how many sets of the allowed sizes there are.
        decided: how many the walker asked about. counted: how many were counted by a GROUP BY.
        derived: how many followed from a column that others determine.
        queries: statements for sets; `sampled` agree sets of row pairs came from sampling and joins.
    """

    candidates: int
    decided: int
    counted: int
    derived: int
    queries: int
    sampled: int = 0


@dataclass(frozen=True, kw_only=True, repr=False)
class ColumnSets(MeasuredResult, Shown):
    """The column sets that re-identify, and the proof that none is missing.

    Args:
        target: what was searched. columns: the columns that took part.
        wanted: `violating`, `identifying`, or `separating` in a sample. find: all, minimum, greedy or ranking.
        k, tolerance: a set violates when more than tolerance times all rows lie in classes below k.
        epsilon, ratio: a set identifies when its ratio is at least 1 - epsilon.
        max_size: the largest size searched, None = any.
        unit: `rows` or `persons`; total: how many there are.
        sets: the sets found, the first `limit` of `sets_found`.
        border: the maximal safe sets, the first `limit` of `border_found`.
        complete: whether every minimal set (up to the size limit) was found; for a minimum, whether it is proven.
        decided_size: every set of at most so many columns is decided; None when unknown.
        open_sets: sets that were next to be decided when the search stopped, as far as they were known; more may lie
            behind them. 0 when nothing is open.
        effects: what each column contributes. whole: the figures of all columns together, None when not counted.
        repair: a smallest group of columns without which no set (of up to max_size columns) violates; None when there
            is no such, when it does not follow, since not all minimal sets are known or identifying ones were searched,
            or when the time budget ended before it was proven to be a smallest one.
        sample: what was drawn, where only a sample was searched: the sets then separate all drawn rows, and all figures
            are of these; None when all rows were.
        engine, time, statements, versions: as in an audit.
    """

    schema: ClassVar = "sqlaudit-columns/1"
    shown_by: ClassVar = "sqlaudit.column_sets.report:columns_document"
    frame_of: ClassVar = "sets"

    engine: str = ""
    target: str
    columns: tuple[str, ...]
    wanted: str
    find: str
    k: int
    tolerance: Fraction = field(metadata=AS_FLOAT)
    epsilon: Fraction = field(metadata=AS_FLOAT)
    ratio: str
    max_size: int | None
    nulls: str
    unit: str
    total: int
    sets: tuple[ColumnSet, ...]
    sets_found: int
    border: tuple[tuple[str, ...], ...] = field(metadata=key("maximal_safe_sets"))
    border_found: int = field(metadata=key("maximal_safe_sets_found"))
    complete: bool
    decided_size: int | None
    open_sets: int
    counts: Counts
    effects: tuple[Effect, ...] = ()
    whole: ColumnSet | None = None
    repair: tuple[str, ...] | None = None
    sample: Sampled | None = None
    _by_hand: bool = field(default=False, repr=False, compare=False)
    _figures: Callable[[Sequence[str]], ColumnSet] | None = field(default=None, repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """Whether somebody stopped the search."""
        return self._by_hand

    def explain(self, columns: Sequence[str]) -> Explanation:
        """The figures of a set, and of the set without each of its columns.

        Sets that were counted in the search are remembered; others are counted now, as long as the engine is open.

        Raises:
            UsageError: a column did not take part.
            EngineError: the set was not counted and the engine is closed.
        """
        unknown = [name for name in columns if name not in self.columns]
        if unknown or self._figures is None:
            raise UsageError(f"Column {unknown[0]!r} did not take part." if unknown else "Nothing was counted.")
        rest = {name: self._figures([other for other in columns if other != name]) for name in columns}
        return Explanation(self._figures(columns), rest, self.unit)

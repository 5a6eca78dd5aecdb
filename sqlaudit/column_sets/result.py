"""The result of a search for column sets, and its report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport

Share = Annotated[Fraction, base.FROM_0_TO_1]


@dataclass(frozen=True)
class ColumnSet(base.Documented):
    """One column set and its figures.

    Args:
        columns: names, in the table's order.
        classes: equivalence classes; None where missing values match any value (they overlap).
        min_size: members of the smallest class.
        rows_at_risk: rows (people, with an entity) in classes smaller than k.
        unique_rows: unique rows (people).
        share_at_risk: rows_at_risk as a share of all rows (people).
        distinction: classes as a share of the classes of all columns together.
        distinct_share: classes as a share of the rows.
        separation: share of the pairs of rows in different classes; None for people and with wildcards.
    """

    columns: tuple[str, ...]
    classes: int | None
    min_size: int
    rows_at_risk: int
    unique_rows: int
    share_at_risk: Share = field(metadata=base.AS_FLOAT)
    distinction: Share | None = field(default=None, metadata=base.AS_FLOAT)
    distinct_share: Share | None = field(default=None, metadata=base.AS_FLOAT)
    separation: Share | None = field(default=None, metadata=base.AS_FLOAT)


@dataclass(frozen=True)
class Effect(base.Documented):
    """The contribution of one column: the share at risk without it, and with it coarsened.

    Args:
        column: its name. in_sets: in how many of the found sets it is.
        at_risk: share at risk when all searched columns are known.
        without: the same without this column; None when it was not counted.
        coarsened: the same with this column coarsened by `coarsening`; None when it was not counted.
        coarsening: the coarser form of the column.
    """

    column: str
    in_sets: int
    at_risk: Share | None = field(default=None, metadata=base.key("share_at_risk") | base.AS_FLOAT)
    without: Share | None = field(default=None, metadata=base.key("share_at_risk_without") | base.AS_FLOAT)
    coarsened: Share | None = field(default=None, metadata=base.key("share_at_risk_coarsened") | base.AS_FLOAT)
    coarsening: str = field(default="", metadata=base.OR_NULL)

    @property
    def stays(self) -> bool:
        """True if leaving out the column is known to change nothing."""
        return self.at_risk is not None and self.at_risk == self.without

    def sentence(self, unit: str = "rows") -> str:
        """The effect in words.

        Example:
            >>> Effect("zip", 2, Fraction(41, 100), Fraction(3, 100)).sentence()
            'Without zip, rows at risk fall from 41.0% to 3.0%.'
        """
        if self.at_risk is None or self.without is None:
            return f"{self.column} is in {self.in_sets} of the sets."
        text = f"Without {self.column}, {unit} at risk {_moves(self.at_risk, self.without)}"
        if self.coarsened is not None and not self.stays:
            if self.coarsened == self.at_risk:
                return f"{text}. Generalizing {self.column} to {self.coarsening} changes nothing."
            text += f"; with {self.column} as {self.coarsening} to {doc.percent(self.coarsened)}"
        return text + "."


@dataclass(frozen=True)
class Sampled(base.Documented):
    """The sample of a search.

    Args:
        rows: rows of the table. drawn: rows of the sample, without replacement. seed: of the sample.
        delta: an upper bound of the probability that a set separates all sampled rows but leaves more than a share
            epsilon of all pairs of rows unseparated.
        has_duplicates: whether two sampled rows are equal in all columns, so that no set separates all of them.
    """

    rows: int
    drawn: int
    delta: Share = field(metadata=base.AS_FLOAT)
    seed: Annotated[int, base.ANY_NUMBER]
    has_duplicates: bool = False


@dataclass(frozen=True)
class Explanation:
    """Why a column set identifies people: its figures, and those of the set without each of its columns."""

    found: ColumnSet
    without: Mapping[str, ColumnSet]
    unit: str

    def sentences(self) -> tuple[str, ...]:
        """One sentence on the set, then one per column, the most revealing column first."""
        members = ", ".join(self.found.columns) or "no column at all"
        first = (
            f"{members}: {self.found.unique_rows:,} {self.unit} unique, "
            f"{doc.percent(self.found.share_at_risk)} at risk."
        )
        ranked = sorted(self.without.items(), key=lambda item: (item[1].share_at_risk, item[0]))
        moves = [(name, _moves(self.found.share_at_risk, rest.share_at_risk)) for name, rest in ranked]
        return (first, *(f"Without {name}, {self.unit} at risk {said}." for name, said in moves))


def _moves(before: Fraction, after: Fraction) -> str:
    if before == after:
        return f"stay at {doc.percent(before)}"
    return f"fall from {doc.percent(before)} to {doc.percent(after)}"


@dataclass(frozen=True)
class Counts(base.Documented):
    """The work of a search.

    Args:
        candidates: sets of the allowed sizes.
        decided: sets decided one by one. counted: sets counted by a GROUP BY.
        derived: sets that followed from a column that others determine.
        queries: statements for sets; `sampled` agree sets of row pairs came from sampling and joins.
    """

    candidates: int
    decided: int
    counted: int
    derived: int
    queries: int
    sampled: int = 0


@dataclass(frozen=True, kw_only=True, repr=False)
class ColumnSets(base.MeasuredResult, Shown):
    """The column sets that identify people, and the proof that none is missing.

    Args:
        engine: the engine and its version. target: the table. columns: the searched columns.
        kind: the property of the sets; `separating` in a sample. find: which of these sets.
        k: rows (or people) that a class must have.
        tolerance: share of the rows allowed in smaller classes; a set with more violates.
        epsilon: a set identifies when its ratio is at least 1 - epsilon. ratio: which ratio that is.
        max_size: the most columns of a set, None = any number. nulls: how missing values are read.
        unit: rows or persons. total: their number.
        sets: the sets found, the first `limit` of `sets_found`. sets_found: how many were found.
        border: maximal sets without the property, the first `limit` of `border_found`: the proof that
            nothing is missing. border_found: how many there are.
        counts: the work of the search.
        complete: whether every minimal set (up to the size limit) was found; for a minimum, whether it is proven.
        decided_size: every set of up to this many columns is decided; -1 when none is, None when sizes were not walked
            in order.
        open_sets: sets that were next to be decided when the search stopped, as far as they were known; more may lie
            behind them. 0 when nothing is open.
        effects: what each column contributes. all_columns: the figures of all columns together, None when not counted.
        repair: a smallest group of columns without which no set (of up to max_size columns) violates; None when there
            is none, when not all minimal sets are known, when identifying sets were searched, or when the time budget
            ended before the proof.
        sample: the sample, where only a sample was searched: the sets then separate all sampled rows, and all figures
            are of these; None when all rows were searched.
    """

    schema: ClassVar = "sqlaudit-columns/1"
    shown_by: ClassVar = "sqlaudit.column_sets.result:ColumnSetsReport"
    frame_of: ClassVar = "sets"

    engine: str = ""
    target: str
    columns: tuple[str, ...]
    kind: Annotated[str, Literal["violating", "identifying", "separating"]]
    find: Annotated[str, Literal["all", "minimum", "greedy", "ranking"]]
    k: Annotated[int, base.FROM_1]
    tolerance: Share = field(metadata=base.AS_FLOAT)
    epsilon: Share = field(metadata=base.AS_FLOAT)
    ratio: Annotated[str, Literal["distinct", "separation"]]
    max_size: int | None
    nulls: base.Nulls
    unit: Annotated[str, Literal["rows", "persons"]]
    total: int
    sets: tuple[ColumnSet, ...]
    sets_found: int
    border: tuple[tuple[str, ...], ...] = field(metadata=base.key("maximal_safe_sets"))
    border_found: int = field(metadata=base.key("maximal_safe_sets_found"))
    complete: bool
    decided_size: Annotated[int, base.json_schema(minimum=-1)] | None
    open_sets: int
    counts: Counts
    effects: tuple[Effect, ...] = ()
    all_columns: ColumnSet | None = None
    repair: tuple[str, ...] | None = None
    sample: Sampled | None = None
    _by_hand: bool = field(default=False, repr=False, compare=False)
    _figures: Callable[[Sequence[str]], ColumnSet] | None = field(default=None, repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """True if the search was interrupted."""
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
            raise UsageError(f"Column {unknown[0]!r} was not searched." if unknown else "Nothing was counted.")
        rest = {name: self._figures([other for other in columns if other != name]) for name in columns}
        return Explanation(self._figures(columns), rest, self.unit)


MOST_SETS = 24
"""More would be too narrow to read."""


def sets_picture(result: ColumnSets) -> doc.Picture | None:
    """A column of dots for each set, with its share at risk below; None for fewer than two sets."""
    shown = sorted(result.sets, key=lambda one: (-one.share_at_risk, len(one.columns)))[:MOST_SETS]
    used = {name for one in shown for name in one.columns}
    if len(shown) < 2 or not used:
        return None
    first = "" if len(shown) == result.sets_found else f" The first {doc.count(len(shown))}."
    return doc.Picture(
        "matrix",
        f"Columns of each set, sets with most {result.unit} at risk first.{first}",
        {
            "columns": [name for name in result.columns if name in used],
            "sets": [list(one.columns) for one in shown],
            "labels": [doc.percent(one.share_at_risk) for one in shown],
            "x": f"{result.unit} at risk (in classes smaller than {result.k})",
        },
    )


_SHOWN = 40
"""So many sets are listed one by one; the JSON has all that were asked for."""
_OFTEN = 5
"""So many columns are told with the number of sets that they are in."""

READS = {
    "equal": "equal to each other",
    "distinct": "equal to nothing: such a row is unique",
    "wildcard": "equal to anything; a row counts the rows that it matches",
}


class ColumnSetsReport(MeasuredReport[ColumnSets]):
    """The report on a search for column sets: the sets, the columns to change, and the proof."""

    kind = "Column sets"

    def headline(self, result: ColumnSets) -> doc.Toned:
        tone = doc.bad_if(result.sets_found and result.find != "ranking")
        return doc.Toned(f"{result.target}: {_headline(result)}", tone)

    def key_figures(self, result: ColumnSets) -> Iterator[doc.KeyFigure]:
        if result.sets and result.sample is None and result.find != "ranking":
            fewest = min(len(column_set.columns) for column_set in result.sets)
            yield doc.KeyFigure(doc.plural(fewest, "column"), "Smallest set found")
            worst = max(column_set.share_at_risk for column_set in result.sets)
            yield doc.KeyFigure(doc.percent(worst), f"{doc.label(result.unit)} at risk, worst set", "bad")

    def lead(self, result: ColumnSets) -> Iterator[doc.Words]:
        yield _definition(result)
        if result.sample is not None:
            yield from _sampled(result, result.sample)
            return
        if not result.sets:
            yield doc.good("No such set exists.") if result.complete else "No such set was found so far."
        elif result.repair:
            yield doc.Toned(
                f"Without {doc.listed(result.repair, None)}, no such set is left.",
                hint=f"To check whether a coarser column is enough, search again with it in {spelled('columns')}.",
            )
        yield _proof(result)

    def sections(self, result: ColumnSets) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Column sets", *_sets(result))
        yield doc.section("Effect of each column", *_measured_effects(result), _effects(result))

    def method(self, result: ColumnSets) -> Iterator[tuple[str, doc.Cell]]:
        counts = result.counts
        size = "any size" if result.max_size is None else f"at most {doc.plural(result.max_size, 'column')}"
        yield "sampled rows" if result.sample is not None else result.unit, result.total
        yield "columns", f"{doc.count(len(result.columns))}: {doc.joined(result.columns)}"
        yield "candidate sets", f"{doc.count(counts.candidates)} of {size}"
        yield "decided sets", counts.decided
        yield "counted sets", counts.counted
        yield "missing values", READS[result.nulls]

    def limits(self, result: ColumnSets) -> tuple[str, ...]:
        return ()


def _headline(result: ColumnSets) -> str:
    """Return the headline: the number of column sets, and their effect."""
    sets, one = doc.plural(result.sets_found, "column set") + _size(result), result.sets_found <= 1
    if result.find == "ranking":
        return f"{sets}, by {result.unit} at risk"
    if not result.sets_found:
        sets = f"no column set{_size(result)}" + ("" if result.complete else " found so far")
    if result.sample is not None:
        return f"{sets} {'separates' if one else 'separate'} a sample of {doc.count(result.sample.drawn)} rows"
    if result.kind == "violating":
        return f"{sets} {'puts' if one else 'put'} {result.unit} at risk"
    return f"{sets} {'identifies' if one else 'identify'} {result.unit}"


def _sampled(result: ColumnSets, sample: Sampled) -> Iterator[doc.Words]:
    """The conclusions from a sample; no set found in one is called identifying."""
    if sample.has_duplicates:
        yield doc.Toned(
            "Two sampled rows are equal in all columns, so no set separates all of them.",
            hint=f"Search distinct rows (SELECT DISTINCT in {spelled('query')}), or all rows: leave out "
            f"{spelled('delta')}.",
        )
        return
    if not result.sets:
        yield "No such set exists in the sample, so none separates all rows." if result.complete else _proof(result)
        return
    if sample.drawn == sample.rows:
        yield "The sample contains all rows, because fewer are not enough here. So all pairs of rows are separated."
    else:
        yield (
            f"With a probability of at least {doc.limit(1 - sample.delta)}, each set separates at least "
            f"{doc.limit(1 - result.epsilon)} of all pairs of rows. No set is proven to be identifying, because the "
            "other rows were not compared."
        )
    # a set that separates all rows separates those of the sample
    if result.complete and result.find == "all":
        yield f"Certain: every set{_size(result)} that separates all rows contains one of these."
    elif result.complete and result.find == "minimum":
        yield f"Certain: no set of at most {doc.plural(result.decided_size or 0, 'column')} separates all rows."
    else:
        yield _proof(result)


def _size(result: ColumnSets) -> str:
    return "" if result.max_size is None else f" of at most {doc.plural(result.max_size, 'column')}"


def _definition(result: ColumnSets) -> str:
    """Return what the listed column sets have in common."""
    size = _size(result)
    if result.find == "ranking":
        return f"All column sets{size} were counted. Those with most {result.unit} at risk come first."
    kind = {"all": "Minimal", "minimum": "Smallest", "greedy": "Some minimal"}[result.find] + f" column sets{size}"
    if result.kind == "violating":
        allowed = f"more than {doc.percent(result.tolerance)} of the" if result.tolerance else "some"
        return f"{kind} with {allowed} {result.unit} in classes smaller than {result.k}."
    if result.sample is not None:
        drawn = f"{doc.count(result.sample.drawn)} rows sampled from {doc.count(result.sample.rows)}"
        return f"{kind} that separate all pairs of {drawn} (seed {result.sample.seed})."
    if not result.epsilon:
        return f"{kind} that separate all {result.unit} that differ in any column."
    measure = "distinct ratio" if result.ratio == "distinct" else "separation"
    return f"{kind} with a {measure} of at least {doc.limit(1 - result.epsilon)}."


_GREEDY = "Each set is minimal. Other sets may exist, also smaller ones: no number of restarts rules them out."


def _proof(result: ColumnSets) -> doc.Words:
    """Return how far the list is proven, or why it is not complete."""
    if result.complete and result.find == "all":
        safe = "the one safe set" if result.border_found == 1 else f"one of {doc.count(result.border_found)} safe sets"
        inside = [f"is inside {safe}"] if result.border_found else []
        found = ["contains one of the found sets"] if result.sets_found or not inside else []
        return f"Complete: every {'other ' if found else ''}set {', or '.join([*inside, *found])}."
    if result.complete and result.find == "minimum":
        if result.sets and not result.decided_size:
            return "Proven: the set has one column, so no set is smaller."
        smallest = ", so this set is a smallest one" if result.sets else ""
        return f"Proven: no set of at most {doc.plural(result.decided_size or 0, 'column')} qualifies{smallest}."
    if result.find == "greedy" and (result.complete or not result.open_sets):
        return _GREEDY
    if result.complete:
        return "Complete."
    size = -1 if result.decided_size is None else result.decided_size
    decided = f" Every set of at most {doc.plural(size, 'column')} is decided." if size >= 0 else ""
    ended, left = "interrupted" if result.by_hand else "time budget reached", doc.plural(result.open_sets, "set")
    return doc.warning(f"Not complete: {ended} with {left} undecided.{decided} The listed sets are proven.")


def _measured_effects(result: ColumnSets) -> Iterator[doc.Content]:
    """Yield the share at risk with and without each column that changes something, as bars and in a table."""
    changing = [effect for effect in result.effects if not effect.stays and effect.without is not None]
    if len(changing) < 2:
        return
    shares = {
        "with all columns": [effect.at_risk or Fraction(0) for effect in changing],
        "without this one": [effect.without or Fraction(0) for effect in changing],
    }
    at_risk = f"{result.unit} at risk"
    names = [effect.column for effect in changing]
    yield doc.bars(f"{doc.label(at_risk)} with and without each column", names, shares, at_risk, share=True)
    yield doc.table_of(
        changing,
        ("Column", "column"),
        (f"#{doc.label(at_risk)}", lambda effect: doc.percent(effect.at_risk or 0)),
        ("#Without it", lambda effect: doc.percent(effect.without or 0)),
        ("?#If generalized", lambda effect: "" if effect.coarsened is None else doc.percent(effect.coarsened)),
        ("?Into", "coarsening"),
    )


def _effects(result: ColumnSets) -> Iterator[doc.Words]:
    """Yield a sentence for a single column that changes something, and one for all that change nothing."""
    staying = [effect for effect in result.effects if effect.stays]
    changing = [effect for effect in result.effects if not effect.stays]
    measured = [effect for effect in changing if effect.without is not None]
    yield from (one.sentence(result.unit) for one in changing if one.without is None or len(measured) < 2)
    if len(staying) == 1:
        yield staying[0].sentence(result.unit)
    elif staying:
        yield (
            f"Without any one of {doc.listed([effect.column for effect in staying])}, {result.unit} at risk "
            f"stay at {doc.percent(staying[0].at_risk or 0)}."
        )
    if len(staying) > 1 and result.sets_found > 1:
        first, *others = (f"{effect.column} {{}}in {doc.count(effect.in_sets)}" for effect in staying[:_OFTEN])
        often = [first.format("is "), *(one.format("") for one in others)]
        yield f"Of {doc.plural(result.sets_found, 'set')}, {doc.listing(often)}."


def _sets(result: ColumnSets) -> Iterator[doc.Table | doc.Picture | None]:
    """Return the sets in the order of the report: most at risk first unless another order was requested; then fewer
    columns first.

    Where there are more sets than anybody reads: in how many of them each column is, too, and the worst of these.
    """
    ordered, order = list(result.sets), ""
    if result.sample is None and result.find != "ranking" and result.kind == "violating":
        ordered.sort(key=lambda one: (-one.rows_at_risk, -one.unique_rows, len(one.columns)))
        order = f" with most {result.unit} at risk"
    first = ordered[:_SHOWN]
    more = result.sets_found - len(first)
    caption = f"The first {doc.count(len(first))}{order}; {doc.count(more)} more were found." if more else ""
    names = [doc.joined(one.columns) or "(none)" for one in first]
    yield sets_picture(result)
    if result.sample is not None:
        rows = ((name, len(one.columns)) for name, one in zip(names, first, strict=True))
        yield doc.table(("Columns", "#Number"), rows, caption)
        return
    classes = "#Classes" if any(one.classes is not None for one in result.sets) else None
    heads = (
        "Columns",
        "#Smallest class",
        f"#{result.unit.capitalize()} below {result.k}",
        "#At risk",
        "#Unique",
        classes,
    )
    yield doc.table(
        heads,
        (
            (name, one.min_size, one.rows_at_risk, doc.percent(one.share_at_risk), one.unique_rows, one.classes or 0)
            for name, one in zip(names, first, strict=True)
        ),
        caption,
    )
    if len(ordered) > _SHOWN:
        having = [(name, [one for one in ordered if name in one.columns]) for name in result.columns]
        having.sort(key=lambda pair: -len(pair[1]))
        yield doc.table(
            ("Column", "#Sets", "#Most at risk", "Together with"),
            (
                (
                    name,
                    len(sets),
                    doc.percent(sets[0].share_at_risk),
                    doc.joined(column for column in sets[0].columns if column != name) or "(alone)",
                )
                for name, sets in having
                if sets
            ),
            f"All {doc.count(len(ordered))} by column:",
        )

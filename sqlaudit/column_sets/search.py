"""The search for column sets: choose and code the columns, walk the sets and count them, and build the result."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np

from sqlaudit.base.errors import (
    STOPPED,
    BudgetSpent,
    ConflictingRoles,
    Stop,
    UnknownColumn,
    UsageError,
    at_once,
    by_hand,
    until,
    verdict,
)
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.sql import Raw, environment, render
from sqlaudit.classes.opening import ColumnValues, apply_spelling_policy, refuse_spelling_conflicts
from sqlaudit.column_sets.counting import (
    MOST_CODES,
    Chosen,
    Coded,
    Figures,
    SetCounter,
    choose_column,
    choose_columns,
    code_columns,
    code_names,
    count_rows,
    drop_codes,
    read_target,
)
from sqlaudit.column_sets.identify import (
    Decide,
    ReportProgress,
    find_identifying_sets,
    ignore_progress,
    search_border,
    search_greedily,
    search_levels,
    search_minimum,
)
from sqlaudit.column_sets.masks import (
    FoundSets,
    bits,
    column_names,
    count_subsets,
    mask_of,
    minimum_hitting_set,
    sort_masks,
    subsets_up_to,
)
from sqlaudit.column_sets.request import ColumnRequest, FindSets, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Counts, Effect, Sampled
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import keep, workbench_of

# The contribution of each column: how often it is in a set found, and the effect of leaving it out or coarsening it.

_MOST_COLUMNS = 25
_FEW_COLUMNS = 4
"""Up to this number, columns are left out one by one; more of them are left out together first."""
_BANDED_KINDS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIME)


def measure_effects(result: ColumnSets, minimal: Sequence[int], search: SetSearch) -> ColumnSets:
    """Return the result with the effects of the columns that are in sets found, the most frequent columns first.

    Effects that were not counted before the search stopped have no shares.

    Args:
        result: the result of the search.
        minimal: all sets found, reported or not.
        search: the search, with its counter.
    """
    counter = search.counter
    times = Counter(position for mask in minimal for position in bits(mask))
    reported = sorted(times, key=lambda position: (-times[position], position))[:_MOST_COLUMNS]
    frequencies = tuple(Effect(search.columns[position], times[position]) for position in reported)
    if counter.stop():
        return replace(result, effects=frequencies)
    effects: list[Effect] = []
    try:
        top, at_risk = _count_risk_without(reported, counter, search.everything)
        for position, frequency in zip(reported, frequencies, strict=True):
            share, without = _share(top.at_risk, counter.total), _share(at_risk[position], counter.total)
            effect = replace(frequency, at_risk=share, without=without)
            effects.append(effect if counter.stop() else _measure_coarsening(effect, position, search))
    except STOPPED as why:
        return replace(result, effects=(*effects, *frequencies[len(effects) :]), _by_hand=by_hand(why))
    return replace(result, effects=tuple(effects), all_columns=describe_set(top, result.columns, counter, top))


def _count_risk_without(columns: Sequence[int], counter: SetCounter, everything: int) -> tuple[Figures, dict[int, int]]:
    """Return the figures of all columns together, and the rows (people) at risk without each of these columns.

    A set puts only those at risk whom all columns put at risk. So where a subset puts as many at risk as all columns,
    every column outside it changes nothing. Columns are left out together as long as that holds.

    Raises:
        BudgetSpent: the budget ended before all was counted.
    """
    rest_sets = [everything ^ 1 << column for column in columns]
    count_all_at_once = len(columns) <= _FEW_COLUMNS and everything not in counter.cache
    top = counter.figures([everything, *rest_sets] if count_all_at_once else [everything])[0]
    proofs = [mask for mask, figures in counter.cache.items() if figures.at_risk == top.at_risk and mask != everything]
    needed = [column for column in columns if all(mask >> column & 1 for mask in proofs)]
    at_risk = dict.fromkeys(columns, top.at_risk)
    groups = [[column] for column in needed] if counter.on_cluster else _halve(needed)
    while groups:
        rest_figures = counter.figures([everything & ~mask_of(group) for group in groups])
        halves = []
        for group, figures in zip(groups, rest_figures, strict=True):
            if len(group) == 1:
                at_risk[group[0]] = figures.at_risk
            elif figures.at_risk < top.at_risk:
                halves += _halve(group)
        groups = halves
    return top, at_risk


def _halve(columns: Sequence[int]) -> list[list[int]]:
    """Return two halves that both have frequent and rare columns, or the columns one by one if there are few."""
    return (
        [list(columns[::2]), list(columns[1::2])] if len(columns) > _FEW_COLUMNS else [[column] for column in columns]
    )


def describe_set(figures: Figures, columns: tuple[str, ...], counter: SetCounter, top: Figures | None) -> ColumnSet:
    """Return figures as reports show them, with shares. `top` has the figures of all columns together."""
    rows, total = counter.coded.rows, counter.total
    pairs = rows * (rows - 1)
    return ColumnSet(
        columns,
        figures.classes,
        figures.min_size,
        figures.at_risk,
        figures.unique,
        _share(figures.at_risk, total),
        distinction=Fraction(figures.classes, top.classes) if top and top.classes and figures.classes else None,
        distinct_share=Fraction(figures.classes, rows) if rows and figures.classes is not None else None,
        separation=1 - Fraction(figures.pairs, pairs) if pairs and figures.pairs is not None else None,
    )


def _measure_coarsening(effect: Effect, position: int, search: SetSearch) -> Effect:
    """Return the effect with the share at risk when the column is replaced by a coarser one, if there is a natural one.

    The risk of the coarser column lies between that of the column and that of no column. Where these are equal, nothing
    is counted.
    """
    column, counter = search.chosen[position], search.counter
    macro = "bands" if column.kind in _BANDED_KINDS else "prefix" if column.kind is Kind.TEXT else ""
    if not macro or (macro == "bands" and counter.on_cluster):  # bands need all rows in order on one machine
        return effect
    description = "ten bands" if macro == "bands" else "its first two characters"
    if effect.without == effect.at_risk:
        return replace(effect, coarsened=effect.at_risk, coarsening=description)
    module = environment().get_template("column_sets/_columns_coarser.sql").module
    expression = str(getattr(module, macro)(column.sql, counter.database.dialect)).strip()
    replaced_columns = [replace(other, sql=expression) if other is column else other for other in search.chosen]
    at_risk = search.target_counter(replaced_columns).figures([search.everything])[0].at_risk
    return replace(effect, coarsened=_share(at_risk, counter.total), coarsening=description)


def _share(count: int, total: int) -> Fraction:
    return Fraction(count, total) if total else Fraction(0)


# Column sets in a sample: the number of rows to draw so that a set that separates them separates nearly all rows.
#
# Motwani and Xu (*Efficient Algorithms for Masking and Finding Quasi-Identifiers*, 2007) search keys of a sample in
# place of keys of the table. Let a set leave more than a share epsilon of all pairs of rows unseparated. `log_chance`
# bounds the chance that r rows, drawn without replacement, are all different on it; with a bound for the number of sets
# that might be reported, `rows_needed` makes the chance that any of them is such a set at most delta.
#
# The bound. Let the classes of the set have c_1, c_2, … of the n rows. Of the C(n, r) samples e_r(c) have all rows
# different, the elementary symmetric polynomial, and e_r(c) <= z^-r · prod(1 + c_i z) for every z > 0. Write the
# product as (1 + z)^n · exp(-sum h(c_i)) with h(c) = c ln(1 + z) - ln(1 + cz). Let A be the positive root of A(A - 1)
# = epsilon n(n - 1), which is less than sum c_i(c_i - 1), and b the largest class. h grows from c = 1 on, and
# h(c)/(c(c - 1)), half a mean of h'' over [0, c], falls. If b >= A then sum h(c_i) >= h(b) >= h(A); else sum h(c_i) >=
# h(b)/(b(b - 1)) · sum c_i(c_i - 1) >= h(A). So the chance is at most (1 + z)^(n - A) · (1 + Az) / (z^r · C(n, r)):
# about that of one class of A rows, all others alone.

_SAMPLE = "sqlaudit_columns_sample"
_DIGITS = 16
_ROUNDING = 1e-6
"""Bound on the floating-point error in the logarithm of a chance; it is added to stay on the safe side."""


def log_chance(rows: int, drawn: int, epsilon: float) -> float:
    """Return a bound for the logarithm of the chance that all drawn rows differ on a bad set.

    A bad set leaves more than a share epsilon of the pairs of rows unseparated.

    Example:
        >>> round(math.exp(log_chance(10**9, 10_000, 1e-6)), 3), log_chance(100, 100, 0.01)
        (0.125, -inf)
    """
    if drawn < 2:
        return 0.0
    pair_class = (1 + math.sqrt(1 + 4 * epsilon * rows * (rows - 1))) / 2
    others = rows - pair_class
    if drawn > others + 1:
        return -math.inf
    z = drawn / max(others - drawn, 1.0)
    steps = np.arange(drawn, dtype=np.float64)
    samples = float(np.log((rows - steps) / (steps + 1)).sum())
    bound = others * math.log1p(z) + math.log1p(pair_class * z) - drawn * math.log(z) - samples
    return min(0.0, bound + _ROUNDING)


def rows_needed(rows: int, candidates: int, epsilon: Fraction, delta: Fraction) -> int:
    """Return the number of rows to draw so that with a chance of 1 - delta no bad set separates all drawn rows.

    A bad set leaves more than a share epsilon of all pairs of rows unseparated. Where fewer rows are not enough, the
    number is that of the whole table.

    Args:
        rows: rows of the table.
        candidates: number of column sets that may be reported.

    Example:
        >>> rows_needed(10**9, 2**20, Fraction(1, 10**6), Fraction(1, 100))
        27854
    """
    log_limit = math.log(delta) - math.log(max(candidates, 1))
    low, high = 1, 2
    while high < rows and log_chance(rows, high, float(epsilon)) > log_limit:
        low, high = high, high * 2
    high = min(high, rows)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if log_chance(rows, middle, float(epsilon)) > log_limit else (low, middle)
    return high


def _draw_sample(
    engine: Engine, bench: Engine, relation: Relation, seed: int, chosen: Sequence[Chosen], rows: int, needed: int
) -> Coded:
    """Draw at least the needed number of rows at random.

    Their exact number is left to chance: of each number of rows, every sample is equally likely.
    """
    aimed = needed + 10 * math.isqrt(needed) + 20
    names = code_names(range(len(chosen)))
    while True:
        below = None if aimed >= rows else f"{aimed * 16**_DIGITS // rows:0{_DIGITS}x}"
        statement = render(
            "column_sets/columns_sample.sql", engine.dialect, source=relation, columns=chosen, seed=seed, below=below
        )
        sample = keep(engine, bench, _SAMPLE, statement, [(name, "INTEGER") for name in names])
        facts = render("column_sets/columns_sample_facts.sql", bench.dialect, source=sample, names=names)
        drawn, *figures = (int(figure or 0) for figure in bench.run(facts)[0])
        if drawn >= needed or below is None:
            domains = tuple(largest + 1 for largest in figures[1::2])
            return Coded(Raw(sample.sql), None, None, drawn, drawn, tuple(figures[::2]), domains, bench)
        aimed *= 2


Announce = Callable[[int, int, int | None], None]
"""Called before the search with the number of columns, of candidate sets, and the size limit."""

_LEVELS = 6
"""Sets up to this size are searched level by level, larger ones by advancing the border."""


def find_columns(
    engine: Engine,
    request: ColumnRequest,
    *,
    relation: Relation | None = None,
    announce: Announce | None = None,
    report: ReportProgress = ignore_progress,
) -> ColumnSets:
    """Find the column sets that re-identify (Yuan, *Finding Quasi-identifiers Against k-anonymity*; SPEC section 3).

    Args:
        engine: an open engine.
        request: the table and its columns, the property, the kind of search, and its limits.
        relation: what is searched instead of opening the target.
        announce: called before the search with the number of columns, of candidate sets, and the size limit.
        report: called with the progress of the search.

    Raises:
        UsageError: an unknown column, or options that contradict each other.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.base.spec import Target
        >>> from sqlaudit.engines import connect
        >>> people = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 30, 30, 30]})
        >>> with connect() as engine:
        ...     found = find_columns(engine, ColumnRequest(Target(frame=people), k=2))
        >>> [one.columns for one in found.sets], found.complete
        ([('zip', 'sex')], True)
    """
    relation = relation or engine.open(request.target)
    person, chosen = _resolve_columns(engine, relation, request)
    if person is not None:
        refuse_spelling_conflicts(
            engine, [ColumnValues(person.name, [(relation, person)], missing=False)], request.values
        )
    limit = request.size_limit(len(chosen))
    if announce is not None:
        announce(len(chosen), count_subsets(len(chosen), limit), limit)
    return search_columns(engine, relation, request, chosen, person, report=report)


def search_columns(
    engine: Engine,
    relation: Relation,
    request: ColumnRequest,
    chosen: Sequence[Chosen],
    person: Chosen | None = None,
    *,
    report: ReportProgress = ignore_progress,
) -> ColumnSets:
    """Run the search of `find_columns` over these columns; their SQL refers to the relation.

    Raises:
        EngineError: the database refused, failed or went away.
    """
    began, executed_before = time.monotonic(), len(engine.executed)
    engine.note_remarks(relation)
    limit = request.size_limit(len(chosen))
    with _open_rows(engine, relation, request, chosen, person) as (coded, sample):
        counter = SetCounter(engine, coded, request.k, request.nulls)
        sample_request = request if sample is None else replace(request, epsilon=Fraction(0), delta=Fraction(0))
        search = SetSearch(
            sample_request, counter, relation, chosen, person, limit, until(began, request.time_budget), report
        )
        counter.stop = search.stop
        try:
            has_equal_rows = sample is not None and bool(counter.figures([search.everything])[0].pairs)
            no_set = FoundSets((), (search.everything,), True, 1, limit)  # not even all columns separate all rows
            outcome, sampled = (no_set, 0) if has_equal_rows else search.run()
            if outcome.by_hand:
                counter.stop = at_once
        finally:
            counter.close()
        result = search.result(relation.label, outcome, sampled)
        if sample is not None:
            drawn = replace(sample, has_duplicates=has_equal_rows)
            result = replace(result, kind="separating", epsilon=request.epsilon, sample=drawn)
        else:
            result = replace(result, _figures=search.figures_of)
            if request.effects:
                result = measure_effects(result, outcome.minimal, search)
        return replace(result, **provenance(engine, executed_before))


@contextmanager
def _open_rows(
    engine: Engine, relation: Relation, request: ColumnRequest, chosen: Sequence[Chosen], person: Chosen | None
) -> Iterator[tuple[Coded, Sampled | None]]:
    """Open the rows to search: all rows, or the codes of a random sample together with the figures of the sample.

    Raises:
        UsageError: the sample needs more rows than a workbench takes.
    """
    if not request.delta:
        try:
            yield code_columns(engine, relation, chosen, person), None
        finally:
            drop_codes(engine)
        return
    rows = count_rows(engine, relation)
    candidates = count_subsets(len(chosen), request.size_limit(len(chosen)))
    needed = rows_needed(rows, candidates, request.epsilon, request.delta)
    if needed * len(chosen) > MOST_CODES:
        raise UsageError(
            f"A sample for this {spelled('epsilon')} and {spelled('delta')} needs {needed:,} rows of {len(chosen)} "
            f"columns, but is limited to {MOST_CODES:,} cells. Raise {spelled('epsilon')}, or name fewer columns."
        )
    with workbench_of(engine) as bench:
        try:
            coded = _draw_sample(engine, bench, relation, request.seed, chosen, rows, needed)
            yield coded, Sampled(rows, coded.rows, request.delta, request.seed)
        finally:
            bench.drop(_SAMPLE)


def plan_columns(engine: Engine, request: ColumnRequest) -> list[Statement]:
    """Return the first statement of a search, which counts single columns, as text that runs alone, for `--dry-run`.

    Raises:
        UsageError: an unknown column, or options that contradict each other.
    """
    relation = engine.open(request.target)
    person, chosen = _resolve_columns(engine, relation, request)
    if request.delta:
        return [render("base/row_count.sql", engine.dialect, source=relation)]
    nothing = Coded(Raw(relation.sql), None, None, 0, 0, (1,) * len(chosen))
    counter = SetCounter(engine, read_target(nothing, relation, chosen, person), request.k, request.nulls)
    return counter.statements([1 << position for position in range(len(chosen))])


def _resolve_columns(
    engine: Engine, relation: Relation, request: ColumnRequest
) -> tuple[Chosen | None, tuple[Chosen, ...]]:
    """Return the column that identifies the person, if any, and the columns to search."""
    entity = request.entity
    person = choose_column(relation, engine.dialect, entity, "entity") if entity else None
    person = None if person is None else apply_spelling_policy(engine, relation, person, request.values, missing=False)
    excluded = (*request.exclude, *((entity,) if entity and not request.columns else ()))
    chosen = choose_columns(relation, engine.dialect, request.columns, excluded)
    _check_person(request, person, chosen)
    return person, chosen


def _check_person(request: ColumnRequest, person: Chosen | None, chosen: Sequence[Chosen]) -> None:
    """Refuse what does not apply to people: their own column, approximate identification, and separation."""
    if person is None:
        return
    if person.name in {column.name for column in chosen}:
        raise ConflictingRoles(f"Column {person.name!r} identifies the person and cannot be searched. Leave it out.")
    if request.identifying and request.epsilon:
        raise UsageError(f"{spelled('epsilon')} counts rows, not people: leave it or {spelled('entity')} out.")
    if request.rank_by is RankBy.SEPARATION:
        raise UsageError(
            f"Separation counts rows, not people: leave out {spelled('entity')} or rank by another figure."
        )


@dataclass(frozen=True)
class SetSearch:
    """A search over column sets; the rows of `relation` are those that `counter` counts."""

    request: ColumnRequest
    counter: SetCounter
    relation: Relation
    chosen: Sequence[Chosen]
    person: Chosen | None
    limit: int | None
    stop: Stop
    report: ReportProgress

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.chosen)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.chosen)

    @property
    def everything(self) -> int:
        """The mask of all columns."""
        return (1 << self.width) - 1

    def run(self) -> tuple[FoundSets, int]:
        """Walk the sets as requested. Return the outcome and the number of agree sets that were read."""
        request, decide, stop = self.request, self._choose_decision(), self.stop
        if request.find is FindSets.GREEDY:
            return search_greedily(self._start_columns(), request.restarts, request.seed, decide, stop), 0
        if request.find is FindSets.MINIMUM:
            return search_minimum(self.width, self.limit, decide, stop, self.report, seed=request.seed), 0
        if request.find is FindSets.RANKING:
            return self._rank_all(), 0
        if request.identifying and not request.epsilon and self.counter.coded.entity is None:
            return find_identifying_sets(self.counter, self.limit, stop, self.report)
        if self.limit is not None and self.limit <= _LEVELS:
            most_at_risk = None if request.identifying else request.tolerance * self.counter.total
            prepare = partial(self.counter.prepare, most_at_risk=most_at_risk)
            return search_levels(self.width, self.limit, decide, stop, self.report, prepare=prepare), 0
        return search_border(self.width, self.limit, decide, stop, self.report, seed=request.seed), 0

    def _start_columns(self) -> list[int]:
        """Return the positions of the columns that a greedy search starts from, in order."""
        if not self.request.start:
            return list(range(self.width))
        unknown = [name for name in self.request.start if name not in self.columns]
        if unknown:
            raise UnknownColumn(f"{about('start')}: {unknown[0]!r} is not among the searched columns.")
        return [self.columns.index(name) for name in dict.fromkeys(self.request.start)]

    def _choose_decision(self) -> Decide:
        """Return the function that decides whether sets have the requested property."""
        request, counter = self.request, self.counter
        if not request.identifying:
            bound = request.tolerance * counter.total

            def at_risk(masks: Sequence[int]) -> list[bool]:
                counted = [mask for mask in masks if mask not in counter.closed]
                risky = {
                    m for m, figures in zip(counted, counter.figures(counted), strict=True) if figures.at_risk > bound
                }
                return [mask in risky for mask in masks]

            return at_risk
        if counter.coded.entity is not None:
            return lambda masks: [mixed == 0 for mixed in counter.mixed_classes(masks)]
        if request.epsilon and request.ratio is Ratio.SEPARATION:
            rows = counter.coded.rows
            allowed = request.epsilon * rows * (rows - 1)
            return lambda masks: [(figures.pairs or 0) <= allowed for figures in counter.figures(masks)]

        def distinct_enough(masks: Sequence[int]) -> list[bool]:
            needed = (1 - request.epsilon) * (counter.figures([self.everything])[0].classes or 0)
            return [(figures.classes or 0) >= needed for figures in counter.figures(masks)]

        return distinct_enough

    def _rank_all(self) -> FoundSets:
        """Count all sets up to the size limit, as far as the budget allows."""
        ranked: list[int] = []
        complete, stopped = True, False
        waiting = (mask for mask in subsets_up_to(self.width, self.limit or self.width) if mask)
        try:
            while batch := list(islice(waiting, 20)):
                if self.stop():
                    raise BudgetSpent
                self.counter.figures(batch)
                ranked += batch
                self.report(len(ranked), len(ranked))
        except STOPPED as why:
            complete, stopped = False, by_hand(why)
        total = count_subsets(self.width, self.limit) - 1
        size = self.limit if complete else max(0, min(ranked[-1].bit_count(), 99) - 1 if ranked else 0)
        return FoundSets(tuple(ranked), (), complete, len(ranked), size, total - len(ranked), stopped)

    def result(self, target: str, outcome: FoundSets, sampled: int) -> ColumnSets:
        """Return the result with the figures of the reported sets."""
        request, counter = self.request, self.counter
        minimal = self._sort_ranking(outcome.minimal) if request.find is FindSets.RANKING else outcome.minimal
        reported = minimal[: request.limit]
        counter.figures(reported)
        top = counter.figures([self.everything])[0] if request.identifying else None
        sets = tuple(self._describe(mask, top) for mask in reported)
        candidates = count_subsets(self.width, self.limit)
        return ColumnSets(
            target=target,
            columns=self.columns,
            kind="identifying" if request.identifying else "violating",
            find=request.find.value,
            k=request.k,
            tolerance=request.tolerance,
            epsilon=request.epsilon,
            ratio=request.ratio.value,
            max_size=self.limit,
            nulls=request.nulls.value,
            unit="rows" if counter.coded.entity is None else "persons",
            total=counter.total,
            sets=sets,
            sets_found=len(minimal),
            border=tuple(column_names(mask, self.columns) for mask in outcome.maximal_safe[: request.limit]),
            border_found=len(outcome.maximal_safe),
            complete=outcome.complete,
            decided_size=outcome.decided_size,
            open_sets=outcome.open_sets,
            _by_hand=outcome.by_hand,
            counts=Counts(candidates, outcome.decided, counter.counted, counter.derived, counter.queries, sampled),
            repair=self._find_repair(minimal, outcome.complete),
        )

    def _sort_ranking(self, masks: Sequence[int]) -> tuple[int, ...]:
        """Sort sets by the figure of the ranking, largest first."""

        def figure(mask: int) -> int:
            figures = self.counter.cache[mask]
            figure_of = {
                RankBy.AT_RISK: figures.at_risk,
                RankBy.UNIQUE: figures.unique,
                RankBy.DISTINCTION: figures.classes or 0,
                RankBy.SEPARATION: -(figures.pairs or 0),
            }
            return figure_of[self.request.rank_by]

        return tuple(sorted(sort_masks(masks), key=figure, reverse=True))

    def _find_repair(self, minimal: Sequence[int], complete: bool) -> tuple[str, ...] | None:
        """Return the fewest columns without which no set violates the requirement; None if not known.

        They follow only from all minimal sets. For identifying sets there are none: the remaining columns always
        include a set that separates as many rows as they can.
        """
        if self.request.find is not FindSets.ALL or not complete or self.request.identifying:
            return None
        try:
            columns = minimum_hitting_set(minimal, self.stop)
        except BudgetSpent:
            return None
        return None if columns is None else column_names(columns, self.columns)

    def figures_of(self, columns: Sequence[str]) -> ColumnSet:
        """Return the figures of a set after the search: cached, or counted on the target while the engine is open."""
        mask = mask_of(self.columns.index(name) for name in columns)
        if mask not in self.counter.cache:
            self.counter.cache[mask] = self.target_counter(self.chosen).figures([mask])[0]
        return self._describe(mask, self.counter.cache.get(self.everything))

    def target_counter(self, chosen: Sequence[Chosen]) -> SetCounter:
        """Return a counter of the same rows on the target itself, with these expressions for the columns."""
        counter = self.counter
        coded = read_target(counter.coded, self.relation, chosen, self.person)
        return SetCounter(counter.database, coded, counter.k, counter.nulls)

    def _describe(self, mask: int, top: Figures | None) -> ColumnSet:
        return describe_set(self.counter.cache[mask], column_names(mask, self.columns), self.counter, top)


@command(
    ColumnRequest,
    plan_columns,
    code=lambda result: verdict(True, result.complete or not result.open_sets),
    stopped=lambda result: result.by_hand,
)
def columns(engine: Engine, request: ColumnRequest) -> ColumnSets:
    """Find sets of columns that identify people (`sqlaudit columns`).

    Args:
        identifying: search sets that separate all rows, instead of sets that violate k-anonymity.
        epsilon: the allowed distance of an identifying set's distinct ratio or separation from 1.
        delta: search a random sample, so large that with a probability of at least 1 - delta every set that separates
            all its pairs separates at least 1 - epsilon of all row pairs; with `identifying`, `ratio="separation"`.
        ratio: `distinct` values, or `separation` of pairs of rows.
        max_size: the largest size; None = 4 for all violating sets and rankings, otherwise any.
        limit: the number of reported sets.
        roles: columns, entity and nulls at once, instead of these: a mapping of roles, or what `profile(…).roles`
            proposes; the quasi-identifiers are searched.

    Raises:
        UsageError: an unknown column, or options that contradict each other.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 30, 30, 30]})
        >>> [one.columns for one in sqlaudit.columns(people, k=2).sets]
        [('zip', 'sex')]
    """
    return find_columns(engine, request)

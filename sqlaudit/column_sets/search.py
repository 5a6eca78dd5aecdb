"""The search: columns are chosen and coded, a walker asks, the counter answers, the result is put together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw
from sqlaudit.column_sets.border import FoundSets, ordered
from sqlaudit.column_sets.budget import STOPPED, BudgetSpent, Stop, at_once, by_hand, until
from sqlaudit.column_sets.coding import Coded, code_columns, drop_codes, on_target
from sqlaudit.column_sets.counting import Figures, SetCounter
from sqlaudit.column_sets.effects import column_effects, described
from sqlaudit.column_sets.hitting_sets import minimum_hitting_set
from sqlaudit.column_sets.identify import identifying_sets
from sqlaudit.column_sets.masks import count_subsets, mask_of, names, subsets_up_to
from sqlaudit.column_sets.request import ColumnRequest, FindSets, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Counts, Sampled
from sqlaudit.column_sets.sample import counted, drawn_rows
from sqlaudit.column_sets.selection import Chosen, choose_column, choose_columns
from sqlaudit.column_sets.walks import Decide, Tell, all_by_border, all_by_levels, greedy_restarts, minimum, silent
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance

Announce = Callable[[int, int, int | None], None]
"""Called before the search with the number of columns, of candidate sets, and the size limit."""

_LEVELS = 6
"""Sizes up to this are walked level by level, larger ones by advancing the border."""


def find_columns(
    engine: Engine,
    target: Target | Relation,
    request: ColumnRequest,
    *,
    announce: Announce | None = None,
    tell: Tell = silent,
) -> ColumnSets:
    """Find the column sets that re-identify (Yuan, *Finding Quasi-identifiers Against k-anonymity*; SPEC section 3).

    Args:
        engine: an open engine. target: what is searched.
        request: the columns, the property, the way to find it, and how far.
        announce: told the number of candidate sets before the search. tell: told of progress.

    Raises:
        UsageError: an unknown column, or a combination that has no meaning.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> people = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 30, 30, 30]})
        >>> with connect() as engine:
        ...     found = find_columns(engine, Target(frame=people), ColumnRequest(k=2))
        >>> [one.columns for one in found.sets], found.complete
        ([('zip', 'sex')], True)
    """
    relation = engine.open(target) if isinstance(target, Target) else target
    person, chosen = _taking_part(engine, relation, request)
    limit = request.size_limit(len(chosen))
    if announce is not None:
        announce(len(chosen), count_subsets(len(chosen), limit), limit)
    return search_columns(engine, relation, request, chosen, person, tell=tell)


def search_columns(
    engine: Engine,
    relation: Relation,
    request: ColumnRequest,
    chosen: Sequence[Chosen],
    person: Chosen | None = None,
    *,
    tell: Tell = silent,
) -> ColumnSets:
    """The search of `find_columns` over columns that are chosen already; their SQL is that of the relation.

    Raises:
        EngineError: the database refused, failed or went away.
    """
    began, already = time.monotonic(), len(engine.executed)
    limit = request.size_limit(len(chosen))
    with _rows(engine, relation, request, chosen, person) as (coded, sample):
        counter = SetCounter(engine, coded, request.k, request.nulls)
        asked = request if sample is None else replace(request, epsilon=Fraction(0), delta=Fraction(0))
        search = _SetSearch(asked, counter, [one.name for one in chosen], limit, began, tell)
        counter.stop = search.stop
        try:
            alike = sample is not None and search.rows_alike()
            found, sampled = (search.none(), 0) if alike else search.run()
            if found.by_hand:
                counter.stop = at_once
        finally:
            counter.close()
        result = search.result(relation.label, found, sampled)
        if sample is not None:
            drawn = replace(sample, alike=alike)
            made = provenance(engine, already)
            return replace(result, wanted="separating", epsilon=request.epsilon, sample=drawn, **made)
        result = replace(result, _figures=_Later(search, engine, relation, chosen, person))
        if request.effects:
            result = column_effects(result, found.minimal, counter, relation, chosen, person)
        return replace(result, **provenance(engine, already))


@contextmanager
def _rows(
    engine: Engine, relation: Relation, request: ColumnRequest, chosen: Sequence[Chosen], person: Chosen | None
) -> Iterator[tuple[Coded, Sampled | None]]:
    """What is searched, for as long as it is: all rows, or a sample."""
    if request.delta:
        with drawn_rows(engine, relation, request, chosen) as drawn:
            yield drawn
        return
    try:
        yield code_columns(engine, relation, chosen, person), None
    finally:
        drop_codes(engine)


def plan_columns(engine: Engine, relation: Relation, request: ColumnRequest) -> list[Statement]:
    """The first question of a search, for single columns, as a statement that stands alone, for `--dry-run`.

    Raises:
        UsageError: an unknown column, or a combination that has no meaning.
    """
    person, chosen = _taking_part(engine, relation, request)
    if request.delta:
        return [counted(engine, relation)]
    nothing = Coded(Raw(relation.sql), None, None, 0, 0, (1,) * len(chosen))
    counter = SetCounter(engine, on_target(nothing, relation, chosen, person), request.k, request.nulls)
    return counter.statements([1 << position for position in range(len(chosen))])


def _taking_part(
    engine: Engine, relation: Relation, request: ColumnRequest
) -> tuple[Chosen | None, tuple[Chosen, ...]]:
    """Whom rows are about, and the columns that are searched."""
    entity = request.entity
    person = choose_column(relation, engine.dialect, entity, "entity") if entity else None
    left_out = (*request.exclude, *((entity,) if entity and not request.columns else ()))
    chosen = choose_columns(relation, engine.dialect, request.columns, left_out)
    _refuse_for_persons(request, person, chosen)
    return person, chosen


def _refuse_for_persons(request: ColumnRequest, person: Chosen | None, chosen: Sequence[Chosen]) -> None:
    if person is None:
        return
    if person.name in {one.name for one in chosen}:
        raise UsageError(f"Column {person.name!r} says which person a row belongs to; it cannot be searched too.")
    if request.identifying and request.epsilon:
        raise UsageError("Approximate identification counts rows or pairs of rows; leave out the entity or epsilon.")
    if request.rank_by is RankBy.SEPARATION:
        raise UsageError("Separation counts pairs of rows; leave out the entity or rank by another figure.")


class _SetSearch:
    """One search over counted sets."""

    def __init__(
        self,
        request: ColumnRequest,
        counter: SetCounter,
        columns: Sequence[str],
        limit: int | None,
        began: float,
        tell: Tell,
    ) -> None:
        self.request = request
        self.counter = counter
        self.columns = tuple(columns)
        self.width = len(columns)
        self.limit = limit
        self.stop = until(began, request.time_budget)
        self.tell = tell

    def run(self) -> tuple[FoundSets, int]:
        """What the walker found, and how many agree sets were read on the way."""
        request, decide, stop = self.request, self._decide(), self.stop
        if request.find is FindSets.GREEDY:
            return greedy_restarts(self._start(), request.restarts, request.seed, decide, stop), 0
        if request.find is FindSets.MINIMUM:
            return minimum(self.width, self.limit, decide, stop, self.tell, seed=request.seed), 0
        if request.find is FindSets.RANKING:
            return self._ranking(stop), 0
        if request.identifying and not request.epsilon and self.counter.coded.entity is None:
            return identifying_sets(self.counter, self.limit, stop, self.tell)
        if self.limit is not None and self.limit <= _LEVELS:
            expect = self.counter.expect
            return all_by_levels(self.width, self.limit, decide, stop, self.tell, expect=expect), 0
        return all_by_border(self.width, self.limit, decide, stop, self.tell, seed=request.seed), 0

    def rows_alike(self) -> bool:
        """Whether two rows are equal in all columns."""
        return bool(self.counter.figures([(1 << self.width) - 1])[0].pairs)

    def none(self) -> FoundSets:
        """The answer where not even all columns together separate all rows."""
        return FoundSets((), ((1 << self.width) - 1,), True, 1, self.limit)

    def _start(self) -> list[int]:
        if not self.request.start:
            return list(range(self.width))
        unknown = [name for name in self.request.start if name not in self.columns]
        if unknown:
            raise UsageError(f"The start order names {unknown[0]!r}, which does not take part.")
        return [self.columns.index(name) for name in dict.fromkeys(self.request.start)]

    def _decide(self) -> Decide:
        request, counter = self.request, self.counter
        if not request.identifying:
            bound = request.tolerance * counter.total
            return lambda masks: [figures.at_risk > bound for figures in counter.figures(masks)]
        if counter.coded.entity is not None:
            return lambda masks: [mixed == 0 for mixed in counter.mixed_classes(masks)]
        if request.epsilon and request.ratio is Ratio.SEPARATION:
            rows = counter.coded.rows
            allowed = request.epsilon * rows * (rows - 1)
            return lambda masks: [(figures.pairs or 0) <= allowed for figures in counter.figures(masks)]
        everything = (1 << self.width) - 1

        def distinct_enough(masks: Sequence[int]) -> list[bool]:
            needed = (1 - request.epsilon) * (counter.figures([everything])[0].classes or 0)
            return [(figures.classes or 0) >= needed for figures in counter.figures(masks)]

        return distinct_enough

    def _ranking(self, stop: Stop) -> FoundSets:
        counted: list[int] = []
        complete, stopped = True, False
        waiting = (mask for mask in subsets_up_to(self.width, self.limit or self.width) if mask)
        try:
            while batch := list(islice(waiting, 20)):
                if stop():
                    raise BudgetSpent
                self.counter.figures(batch)
                counted += batch
                self.tell(len(counted), len(counted))
        except STOPPED as why:
            complete, stopped = False, by_hand(why)
        total = count_subsets(self.width, self.limit) - 1
        size = self.limit if complete else max(0, min(counted[-1].bit_count(), 99) - 1 if counted else 0)
        return FoundSets(tuple(counted), (), complete, len(counted), size, total - len(counted), stopped)

    def result(self, target: str, found: FoundSets, sampled: int) -> ColumnSets:
        """The result with the figures of the reported sets."""
        request, counter = self.request, self.counter
        minimal = self._ranked(found.minimal) if request.find is FindSets.RANKING else found.minimal
        reported = minimal[: request.limit]
        counter.figures(reported)
        top = counter.figures([(1 << self.width) - 1])[0] if request.identifying else None
        sets = tuple(self._set(mask, top) for mask in reported)
        return ColumnSets(
            target=target,
            columns=self.columns,
            wanted="identifying" if request.identifying else "violating",
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
            border=tuple(names(mask, self.columns) for mask in found.maximal_safe[: request.limit]),
            border_found=len(found.maximal_safe),
            complete=found.complete,
            decided_size=found.decided_size,
            open_sets=found.open_sets,
            _by_hand=found.by_hand,
            counts=Counts(
                count_subsets(self.width, self.limit),
                found.decided,
                counter.counted,
                counter.derived,
                counter.queries,
                sampled,
            ),
            repair=self._repair(minimal, found.complete),
        )

    def _ranked(self, masks: Sequence[int]) -> tuple[int, ...]:
        by = self.request.rank_by

        def figure(mask: int) -> int:
            figures = self.counter.known[mask]
            if by is RankBy.AT_RISK:
                return figures.at_risk
            if by is RankBy.UNIQUE:
                return figures.unique
            return (figures.classes or 0) if by is RankBy.DISTINCTION else -(figures.pairs or 0)

        return tuple(sorted(ordered(masks), key=figure, reverse=True))

    def _repair(self, minimal: Sequence[int], complete: bool) -> tuple[str, ...] | None:
        """Columns without which no set violates: it follows from all minimal sets, and from nothing less.

        Of columns that identify there is always a set: the columns that are left tell apart whom they can.
        """
        if self.request.find is not FindSets.ALL or not complete or self.request.identifying:
            return None
        try:
            chosen = minimum_hitting_set(minimal, self.stop)
        except BudgetSpent:
            return None
        return None if chosen is None else names(chosen, self.columns)

    def by_name(self, columns: Sequence[str]) -> ColumnSet | None:
        """A set that was counted."""
        mask = self.mask_of(columns)
        return self.set_of(mask) if mask in self.counter.known else None

    def set_of(self, mask: int) -> ColumnSet:
        """The figures of a counted set as reports show them."""
        return self._set(mask, self.counter.known.get((1 << self.width) - 1))

    def mask_of(self, columns: Sequence[str]) -> int:
        """The mask of columns by name."""
        return mask_of(self.columns.index(name) for name in dict.fromkeys(columns))

    def _set(self, mask: int, top: Figures | None) -> ColumnSet:
        return described(self.counter.known[mask], names(mask, self.columns), self.counter, top)


class _Later:
    """Figures of a set after the search: remembered, or counted on the target itself while the engine is open."""

    def __init__(
        self, search: _SetSearch, engine: Engine, relation: Relation, chosen: Sequence[Chosen], person: Chosen | None
    ) -> None:
        self._search = search
        self._direct = (engine, relation, chosen, person)

    def __call__(self, columns: Sequence[str]) -> ColumnSet:
        known = self._search.by_name(columns)
        if known is not None:
            return known
        engine, relation, chosen, person = self._direct
        counter = self._search.counter
        direct = SetCounter(engine, on_target(counter.coded, relation, chosen, person), counter.k, counter.nulls)
        mask = self._search.mask_of(columns)
        counter.known[mask] = direct.figures([mask])[0]
        return self._search.set_of(mask)

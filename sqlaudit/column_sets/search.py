"""The search: columns are chosen and coded, a walker asks, the counter answers, the result is put together."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from sqlaudit.base.errors import STOPPED, BudgetSpent, Stop, UsageError, at_once, by_hand, until
from sqlaudit.base.options import Given, request_from, takes
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Target, roles_from, target_of
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
    on_target,
)
from sqlaudit.column_sets.identify import (
    Decide,
    Tell,
    all_by_border,
    all_by_levels,
    greedy_restarts,
    identifying_sets,
    minimum,
    silent,
)
from sqlaudit.column_sets.masks import (
    FoundSets,
    bits,
    count_subsets,
    mask_of,
    minimum_hitting_set,
    names,
    ordered,
    subsets_up_to,
)
from sqlaudit.column_sets.request import ColumnRequest, FindSets, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Counts, Effect, Sampled
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import keep, workbench_of

# What each column contributes: how often it is in a found set, and what leaving it out or coarsening it would save.

_MOST_COLUMNS = 25
_FEW = 4
"""So many columns are left out one by one; more of them together first."""
_BANDED = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIME)


def column_effects(result: ColumnSets, minimal: Sequence[int], search: SetSearch) -> ColumnSets:
    """The result with its effects: for every column in a found set, reported or not, the most frequent ones first;
    without shares where the search was stopped before they were counted."""
    counter = search.counter
    times = Counter(position for mask in minimal for position in bits(mask))
    told = sorted(times, key=lambda position: (-times[position], position))[:_MOST_COLUMNS]
    uncounted = tuple(Effect(search.columns[position], times[position]) for position in told)
    if counter.stop():
        return replace(result, effects=uncounted)
    effects: list[Effect] = []
    try:
        top, at_risk = _at_risk_without(told, counter, search.everything)
        for position, uncounted_one in zip(told, uncounted, strict=True):
            share, without = _share(top.at_risk, counter.total), _share(at_risk[position], counter.total)
            effect = replace(uncounted_one, at_risk=share, without=without)
            effects.append(effect if counter.stop() else _coarsened(effect, position, search))
    except STOPPED as why:
        return replace(result, effects=(*effects, *uncounted[len(effects) :]), _by_hand=by_hand(why))
    return replace(result, effects=tuple(effects), whole=described(top, result.columns, counter, top))


def _at_risk_without(told: Sequence[int], counter: SetCounter, everything: int) -> tuple[Figures, dict[int, int]]:
    """The figures of all columns, and for each of some columns the rows (persons) at risk without it.

    A set puts nobody at risk whom all columns do not put at risk. So where a subset is known to put as many at risk as
    all columns, every column outside it changes nothing, and columns are left out together as long as that holds.

    Raises:
        BudgetSpent: before all was counted.
    """
    alone = [everything ^ 1 << column for column in told]
    at_once = len(told) <= _FEW and everything not in counter.known
    top = counter.figures([everything, *alone] if at_once else [everything])[0]
    proofs = [mask for mask, figures in counter.known.items() if figures.at_risk == top.at_risk and mask != everything]
    needed = [column for column in told if all(mask >> column & 1 for mask in proofs)]
    at_risk = dict.fromkeys(told, top.at_risk)
    groups = [[column] for column in needed] if counter.on_cluster else _parts(needed)
    while groups:
        counted = counter.figures([everything & ~mask_of(group) for group in groups])
        falling = []
        for group, figures in zip(groups, counted, strict=True):
            if len(group) == 1:
                at_risk[group[0]] = figures.at_risk
            elif figures.at_risk < top.at_risk:
                falling += _parts(group)
        groups = falling
    return top, at_risk


def _parts(columns: Sequence[int]) -> list[list[int]]:
    """Two halves that both have frequent and rare columns, or the columns one by one where there are few."""
    return [list(columns[::2]), list(columns[1::2])] if len(columns) > _FEW else [[column] for column in columns]


def described(figures: Figures, columns: tuple[str, ...], counter: SetCounter, top: Figures | None) -> ColumnSet:
    """Figures as reports show them, with their shares; `top` are the figures of all columns together."""
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


def _coarsened(effect: Effect, position: int, search: SetSearch) -> Effect:
    """The effect with the share at risk once the column is replaced by a coarser one, where there is a natural one.

    The coarser column says no more than the column and no less than none: where these two put as many at risk, so does
    the coarser one.
    """
    column, counter = search.chosen[position], search.counter
    macro = "bands" if column.kind in _BANDED else "prefix" if column.kind is Kind.TEXT else ""
    if not macro or (macro == "bands" and counter.on_cluster):  # bands want all rows in order on one machine
        return effect
    words = "ten bands" if macro == "bands" else "its first two characters"
    if effect.without == effect.at_risk:
        return replace(effect, coarsened=effect.at_risk, coarsening=words)
    module = environment().get_template("column_sets/_columns_coarser.sql").module
    expression = str(getattr(module, macro)(column.sql, counter.database.dialect)).strip()
    replaced = [replace(one, sql=expression) if one is column else one for one in search.chosen]
    at_risk = search.on_target(replaced).figures([search.everything])[0].at_risk
    return replace(effect, coarsened=_share(at_risk, counter.total), coarsening=words)


def _share(count: int, total: int) -> Fraction:
    return Fraction(count, total) if total else Fraction(0)


# Column sets in a sample: how many rows must be drawn so that separating all of them says something of all rows.
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

_KEPT = "sqlaudit_columns_sample"
_DIGITS = 16
_ROUNDING = 1e-6
"""What floating point may take from the logarithm of a chance; it is added."""


def log_chance(rows: int, drawn: int, epsilon: float) -> float:
    """A bound for the logarithm of the chance that drawn rows are all different on a set that leaves more than a share
    epsilon of the pairs of rows unseparated.

    Example:
        >>> round(math.exp(log_chance(10**9, 10_000, 1e-6)), 3), log_chance(100, 100, 0.01)
        (0.125, -inf)
    """
    if drawn < 2:
        return 0.0
    together = (1 + math.sqrt(1 + 4 * epsilon * rows * (rows - 1))) / 2
    alone = rows - together
    if drawn > alone + 1:
        return -math.inf
    z = drawn / max(alone - drawn, 1.0)
    steps = np.arange(drawn, dtype=np.float64)
    samples = float(np.log((rows - steps) / (steps + 1)).sum())
    found = alone * math.log1p(z) + math.log1p(together * z) - drawn * math.log(z) - samples
    return min(0.0, found + _ROUNDING)


def rows_needed(rows: int, candidates: int, epsilon: Fraction, delta: Fraction) -> int:
    """How many rows must be drawn so that with a chance of 1 - delta no set that leaves more than a share epsilon of
    all pairs unseparated separates all drawn ones; the whole table where less is not enough.

    Args:
        rows: of the table. candidates: column sets among which one might be.

    Example:
        >>> rows_needed(10**9, 2**20, Fraction(1, 10**6), Fraction(1, 100))
        27854
    """
    wanted = math.log(delta) - math.log(max(candidates, 1))
    low, high = 1, 2
    while high < rows and log_chance(rows, high, float(epsilon)) > wanted:
        low, high = high, high * 2
    high = min(high, rows)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if log_chance(rows, middle, float(epsilon)) > wanted else (low, middle)
    return high


def _draw(
    engine: Engine, bench: Engine, relation: Relation, seed: int, chosen: Sequence[Chosen], rows: int, needed: int
) -> Coded:
    """At least so many rows. How many come is left to chance: of each number of rows every sample is equally likely."""
    aimed = needed + 10 * math.isqrt(needed) + 20
    names = code_names(range(len(chosen)))
    while True:
        below = None if aimed >= rows else f"{aimed * 16**_DIGITS // rows:0{_DIGITS}x}"
        statement = render(
            "column_sets/columns_sample.sql", engine.dialect, source=relation, columns=chosen, seed=seed, below=below
        )
        kept = keep(engine, bench, _KEPT, statement, [(name, "INTEGER") for name in names])
        facts = render("column_sets/columns_sample_facts.sql", bench.dialect, source=kept, names=names)
        drawn, *figures = (int(figure or 0) for figure in bench.run(facts)[0])
        if drawn >= needed or below is None:
            domains = tuple(largest + 1 for largest in figures[1::2])
            return Coded(Raw(kept.sql), None, None, drawn, drawn, tuple(figures[::2]), domains, bench)
        aimed *= 2


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
        UsageError: an unknown column, or options that contradict each other.
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
    if person is not None:
        refuse_spelling_conflicts(
            engine, [ColumnValues(person.name, [(relation, person)], missing=False)], request.values
        )
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
    engine.note_remarks(relation)
    limit = request.size_limit(len(chosen))
    with _rows(engine, relation, request, chosen, person) as (coded, sample):
        counter = SetCounter(engine, coded, request.k, request.nulls)
        asked = request if sample is None else replace(request, epsilon=Fraction(0), delta=Fraction(0))
        search = SetSearch(asked, counter, relation, chosen, person, limit, until(began, request.time_budget), tell)
        counter.stop = search.stop
        try:
            alike = sample is not None and bool(counter.figures([search.everything])[0].pairs)
            none = FoundSets((), (search.everything,), True, 1, limit)  # not even all columns separate all rows
            found, sampled = (none, 0) if alike else search.run()
            if found.by_hand:
                counter.stop = at_once
        finally:
            counter.close()
        result = search.result(relation.label, found, sampled)
        if sample is not None:
            drawn = replace(sample, alike=alike)
            result = replace(result, wanted="separating", epsilon=request.epsilon, sample=drawn)
        else:
            result = replace(result, _figures=search.figures_of)
            if request.effects:
                result = column_effects(result, found.minimal, search)
        return replace(result, **provenance(engine, already))


@contextmanager
def _rows(
    engine: Engine, relation: Relation, request: ColumnRequest, chosen: Sequence[Chosen], person: Chosen | None
) -> Iterator[tuple[Coded, Sampled | None]]:
    """What is searched, for as long as it is: all rows, or codes of rows drawn at random and what was drawn of what.

    Raises:
        UsageError: more rows would have to be drawn than a workbench takes.
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
            coded = _draw(engine, bench, relation, request.seed, chosen, rows, needed)
            yield coded, Sampled(rows, coded.rows, request.delta, request.seed)
        finally:
            bench.drop(_KEPT)


def plan_columns(engine: Engine, relation: Relation, request: ColumnRequest) -> list[Statement]:
    """The first question of a search, for single columns, as a statement that stands alone, for `--dry-run`.

    Raises:
        UsageError: an unknown column, or options that contradict each other.
    """
    person, chosen = _taking_part(engine, relation, request)
    if request.delta:
        return [render("base/row_count.sql", engine.dialect, source=relation)]
    nothing = Coded(Raw(relation.sql), None, None, 0, 0, (1,) * len(chosen))
    counter = SetCounter(engine, on_target(nothing, relation, chosen, person), request.k, request.nulls)
    return counter.statements([1 << position for position in range(len(chosen))])


def _taking_part(
    engine: Engine, relation: Relation, request: ColumnRequest
) -> tuple[Chosen | None, tuple[Chosen, ...]]:
    """Whom rows are about, and the columns that are searched."""
    entity = request.entity
    person = choose_column(relation, engine.dialect, entity, "entity") if entity else None
    person = None if person is None else apply_spelling_policy(engine, relation, person, request.values, missing=False)
    left_out = (*request.exclude, *((entity,) if entity and not request.columns else ()))
    chosen = choose_columns(relation, engine.dialect, request.columns, left_out)
    _refuse_for_persons(request, person, chosen)
    return person, chosen


def _refuse_for_persons(request: ColumnRequest, person: Chosen | None, chosen: Sequence[Chosen]) -> None:
    if person is None:
        return
    if person.name in {one.name for one in chosen}:
        raise UsageError(f"Column {person.name!r} identifies the person and cannot be searched. Leave it out.")
    if request.identifying and request.epsilon:
        raise UsageError(f"{spelled('epsilon')} counts rows, not people: leave it or {spelled('entity')} out.")
    if request.rank_by is RankBy.SEPARATION:
        raise UsageError(
            f"Separation counts rows, not people: leave out {spelled('entity')} or rank by another figure."
        )


@dataclass(frozen=True)
class SetSearch:
    """One search over counted sets; the rows of `relation` are those that `counter` counts."""

    request: ColumnRequest
    counter: SetCounter
    relation: Relation
    chosen: Sequence[Chosen]
    person: Chosen | None
    limit: int | None
    stop: Stop
    tell: Tell

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.chosen)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.chosen)

    @property
    def everything(self) -> int:
        """All columns as a mask."""
        return (1 << self.width) - 1

    def run(self) -> tuple[FoundSets, int]:
        """What the walker found, and how many agree sets were read on the way."""
        request, decide, stop = self.request, self._decide(), self.stop
        if request.find is FindSets.GREEDY:
            return greedy_restarts(self._start(), request.restarts, request.seed, decide, stop), 0
        if request.find is FindSets.MINIMUM:
            return minimum(self.width, self.limit, decide, stop, self.tell, seed=request.seed), 0
        if request.find is FindSets.RANKING:
            return self._ranking(), 0
        if request.identifying and not request.epsilon and self.counter.coded.entity is None:
            return identifying_sets(self.counter, self.limit, stop, self.tell)
        if self.limit is not None and self.limit <= _LEVELS:
            expect = self.counter.expect
            return all_by_levels(self.width, self.limit, decide, stop, self.tell, expect=expect), 0
        return all_by_border(self.width, self.limit, decide, stop, self.tell, seed=request.seed), 0

    def _start(self) -> list[int]:
        if not self.request.start:
            return list(range(self.width))
        unknown = [name for name in self.request.start if name not in self.columns]
        if unknown:
            raise UsageError(f"{about('start')}: {unknown[0]!r} is not among the searched columns.")
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

        def distinct_enough(masks: Sequence[int]) -> list[bool]:
            needed = (1 - request.epsilon) * (counter.figures([self.everything])[0].classes or 0)
            return [(figures.classes or 0) >= needed for figures in counter.figures(masks)]

        return distinct_enough

    def _ranking(self) -> FoundSets:
        counted: list[int] = []
        complete, stopped = True, False
        waiting = (mask for mask in subsets_up_to(self.width, self.limit or self.width) if mask)
        try:
            while batch := list(islice(waiting, 20)):
                if self.stop():
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
        top = counter.figures([self.everything])[0] if request.identifying else None
        sets = tuple(self._set(mask, top) for mask in reported)
        candidates = count_subsets(self.width, self.limit)
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
            counts=Counts(candidates, found.decided, counter.counted, counter.derived, counter.queries, sampled),
            repair=self._repair(minimal, found.complete),
        )

    def _ranked(self, masks: Sequence[int]) -> tuple[int, ...]:
        def figure(mask: int) -> int:
            figures = self.counter.known[mask]
            by = {
                RankBy.AT_RISK: figures.at_risk,
                RankBy.UNIQUE: figures.unique,
                RankBy.DISTINCTION: figures.classes or 0,
                RankBy.SEPARATION: -(figures.pairs or 0),
            }
            return by[self.request.rank_by]

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

    def figures_of(self, columns: Sequence[str]) -> ColumnSet:
        """Figures of a set after the search: remembered, or counted on the target itself while the engine is open."""
        mask = mask_of(self.columns.index(name) for name in columns)
        if mask not in self.counter.known:
            self.counter.known[mask] = self.on_target(self.chosen).figures([mask])[0]
        return self._set(mask, self.counter.known.get(self.everything))

    def on_target(self, chosen: Sequence[Chosen]) -> SetCounter:
        """What counts the same rows on the target itself, by these expressions for the columns."""
        counter = self.counter
        coded = on_target(counter.coded, self.relation, chosen, self.person)
        return SetCounter(counter.database, coded, counter.k, counter.nulls)

    def _set(self, mask: int, top: Figures | None) -> ColumnSet:
        return described(self.counter.known[mask], names(mask, self.columns), self.counter, top)


@takes(
    "target * columns exclude entity k tolerance identifying epsilon delta ratio max_size find rank_by limit start "
    "restarts seed nulls values time_budget effects roles db query where read limits",
    ColumnRequest,
)
def columns(given: Given) -> ColumnSets:
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
    said = dict(vars(given))
    if given.roles is not None:
        if given.columns:
            raise UsageError(f"{spelled('roles')} and {spelled('columns')} both name columns. Give one of them.")
        known = roles_from(said | {"qi": ()}, passed_over=("sensitive", "identifiers"))
        said |= {"columns": known.quasi_identifiers, "entity": known.entity}
        said |= {"nulls": known.nulls, "values": known.values}
    request = request_from(ColumnRequest, said)
    chosen = target_of(given)
    with opened(given.db, given.limits, chosen) as engine:
        return find_columns(engine, chosen, request)

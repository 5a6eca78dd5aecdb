"""The profile of a table: facts, proposals, equivalent columns, columns that together single people out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Given, request_from, takes
from sqlaudit.base.parameter_names import command
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Target, target_of
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import COPY, copy_columns
from sqlaudit.column_sets.counting import Chosen, codes_are_kept
from sqlaudit.column_sets.masks import count_subsets
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.result import ColumnSet, ColumnSets
from sqlaudit.column_sets.search import search_columns
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.profiles.columns import (
    BATCH,
    Source,
    batches,
    by_risk,
    column_facts,
    facts_of,
    follow_twins,
    propose,
    rows_of_values,
    some_at_a_time,
    sources_of,
)
from sqlaudit.profiles.names import count_table
from sqlaudit.profiles.request import AS_USUAL, ProfileRequest
from sqlaudit.profiles.result import (
    ColumnFacts,
    ColumnProfile,
    ProfileResult,
    Proposal,
    ProposedEntity,
    Role,
    ShownValues,
    Twins,
)
from sqlaudit.profiles.warnings import FIRST_ROWS
from sqlaudit.reports.document import percent

# Which column says what person a row is about, from its name and from how often its values repeat.

_PERSONS = ("record_id", "national_id", "account", "email", "phone")
"""What names a person who may have several rows."""
BY_NAME = "its name suggests that it identifies people"


def proposed_entity(columns: Sequence[ColumnProfile]) -> ProposedEntity | None:
    """The column that identifies people with several rows; of several, the one with most values. None without one."""
    return next((entity_by(column, BY_NAME) for column in repeating(columns)), None)


def entity_by(column: ColumnProfile, why: str) -> ProposedEntity:
    """The proposal of a column that repeats, with a further reason."""
    each = column.facts.rows / column.facts.distinct
    return ProposedEntity(column.name, f"{each:,.1f} rows per value; {why}")


def repeating(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The columns of persons that repeat, those with the most values first; no row is without one."""
    found = (one for one in _of_persons(columns) if 1 < one.facts.distinct < one.facts.rows)
    return sorted(found, key=lambda one: -one.facts.distinct)


def keys(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The columns of persons that are different in every row."""
    return [one for one in _of_persons(columns) if one.facts.distinct == one.facts.rows > 0]


def _of_persons(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    named = [one for one in columns if one.proposal.concept in _PERSONS]
    return [one for one in named if not one.facts.nulls and one.facts.exact]


# Columns that say the same as another one: copies, and the same values under other names.

MOST_PAIRS = 20


def find_twins(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> tuple[Twins, ...]:
    """Pairs of columns each of which follows from the other; one statement, and only where group sizes agree.

    Two columns in which every value is unique always follow from each other, so they count only when they are equal.
    Columns that were looked at in a sample are left out. `facts` are those of `sources`, in the same order.
    """
    pairs = list(_candidates(facts))[:MOST_PAIRS]
    if not pairs:
        return ()
    used = sorted({position for pair in pairs for position in pair})
    statement = render(
        "profiles/profile_pairs.sql",
        engine.dialect,
        source=relation,
        columns=[sources[position].parameters() for position in used],
        pairs=[(used.index(first), used.index(second)) for first, second in pairs],
    )
    found = []
    for number, groups, differing in engine.run(statement):
        first, second = (facts[position] for position in pairs[int(number)])
        says_the_same = int(groups) == _groups(first)
        if says_the_same and (not differing or first.unique_rows != first.rows):
            found.append(Twins(first.name, second.name, not differing))
    return tuple(found)


def _candidates(facts: Sequence[ColumnFacts]) -> Iterator[tuple[int, int]]:
    """Pairs whose groups have the same sizes, as far as the facts tell; each with the first of its likes."""
    firsts: dict[object, int] = {}
    for position, column in enumerate(facts):
        if not column.exact or column.constant or column.entropy is None:
            continue
        sizes = (column.smallest_group, column.rows_below_5, column.unique_rows, round(column.entropy, 9))
        first = firsts.setdefault((_groups(column), *sizes), position)
        if first != position:
            yield first, position


def _groups(column: ColumnFacts) -> int:
    """Groups with the same value, NULL being one."""
    return column.distinct + (column.nulls > 0)


# Columns that together pick people out: a small search among the columns of a profile, and what follows for roles.

K = 5
TOLERANCE = Fraction(1, 100)
LARGEST = 3
"""Columns of a set."""
SECONDS = 10.0
"""Only slow machines need it: what is searched follows from the numbers below, so that roles do not depend on speed."""
PATIENCE = 20
"""So many times as long on a cluster, which is not slow but answers late; and where there is little to do, so that
no busy machine proposes other roles."""
MOST_SETS = 3_000
MOST_ROWS_READ = 2_000_000_000
"""Rows times sets, where columns become codes once."""
MOST_ROWS_READ_IN_PLACE = 30_000_000
"""The same where every statement reads the table itself."""
LISTED = 50
"""Sets that a profile has, the first ones; `sets_found` counts all of them."""


def search_together(
    engine: Engine, relation: Relation, sources: Sequence[Source], profile: ProfileResult
) -> tuple[ColumnSets | None, str]:
    """The minimal column sets that put more than 1% of the rows into groups below five, or why they were not searched.

    Sensitive columns take no part, because others do not know them, nor does the second of two equivalent columns. Sets
    have at most three columns, or fewer for tables with many rows and columns.

    Args:
        engine, relation: the engine and the table. sources: its columns. profile: the profile so far.
    """
    by_name = {source.name: source for source in sources}
    apart = {*profile.named(Role.SENSITIVE), *(twins.second for twins in profile.twins)}
    taking_part = [by_name[name] for name in profile.candidates if name not in apart]
    chosen = [Chosen(source.name, source.sql, source.kind, source.type) for source in taking_part]
    if not profile.rows or len(chosen) < 2:
        return None, "" if profile.rows else "The table has no rows."
    size = largest_size(profile.rows, len(chosen), codes_are_kept(engine, profile.rows, len(chosen)))
    if size < min(2, len(chosen)):
        return None, (
            f"Sets of columns were not searched: {len(chosen):,} columns and {profile.rows:,} rows are too many for a "
            f"profile. {command('columns')} searches them."
        )
    is_little = count_subsets(len(chosen), size) * profile.rows <= MOST_ROWS_READ_IN_PLACE
    on_cluster = engine.can_materialize and not engine.own_workbench
    seconds = SECONDS * PATIENCE if is_little or on_cluster else SECONDS
    request = ColumnRequest(
        k=K, tolerance=TOLERANCE, max_size=size, limit=MOST_SETS, time_budget=seconds, effects=False
    )
    found = search_columns(engine, replace(relation, label=profile.target), request, chosen)
    ranked = sorted(found.sets, key=lambda one: (len(one.columns), -one.rows_at_risk))
    return replace(found, sets=tuple(ranked), _figures=None), ""


def largest_size(rows: int, columns: int, codes: bool) -> int:
    """How many columns a set may have so that all sets stay cheap to count; 0 when not even pairs are.

    Example:
        >>> largest_size(1000, 20, True), largest_size(1000, 40, True), largest_size(10**7, 100, True)
        (3, 2, 0)
    """
    most = MOST_ROWS_READ if codes else MOST_ROWS_READ_IN_PLACE
    for size in range(LARGEST, 1, -1):
        sets = count_subsets(columns, size)
        if sets <= MOST_SETS and sets * rows <= most:
            return size
    return 0


def follow_sets(columns: Sequence[ColumnProfile], found: ColumnSets) -> list[ColumnProfile]:
    """The columns, where one about which nothing is known is judged by the sets that it is in.

    In a wide table nearly every column is in some minimal set, so that alone is a reason to look and no role. The
    smallest group of columns without which no set is left is what makes people stand out: these become
    quasi-identifiers.

    Args:
        columns: with the roles that names and values suggest. found: all minimal sets, the best reasons first.
    """
    best = {name: one for one in reversed(found.sets) for name in one.columns}
    decisive = found.repair or ()
    return [
        _judged(column, best[column.name], column.name in decisive) if column.name in best else column
        for column in columns
    ]


def _judged(column: ColumnProfile, found: ColumnSet, is_decisive: bool) -> ColumnProfile:
    if column.role is not Role.OTHER or column.proposal.concept is not None:
        return column
    others = [name for name in found.columns if name != column.name]
    known = f"with {' and '.join(others)}" if others else "on its own"
    reason = f"{percent(found.share_at_risk)} of rows at risk {known}"
    unknown, *rest = column.proposal.reasons
    reasons = (reason, unknown, *rest) if is_decisive else (unknown, reason, *rest)
    role = Role.QUASI_IDENTIFIER if is_decisive else Role.OTHER
    return replace(column, proposal=Proposal(role, reasons, column.proposal.concept, is_decisive))


# A profile of one target: facts, proposals, twins, and values when they were asked for.

MOST_FREQUENT = 5


def profile_target(engine: Engine, target: Target, request: ProfileRequest = AS_USUAL) -> ProfileResult:
    """The profile of a target over an open engine.

    Args:
        engine: where the target is. target: what to look at. request: how.

    Raises:
        UsageError: the target has no columns, or cannot be opened.
        EngineError: the database refused or failed.
    """
    already = len(engine.executed)
    relation = engine.open(target)
    if not relation.columns:
        raise UsageError(f"{target.name} has no columns.")
    copy, sources = _loaded(engine, relation)
    try:
        facts = column_facts(engine, copy, sources, request.exact_rows)
        values = _shown(engine, copy, sources, facts) if request.show_values else {}
        twins = find_twins(engine, copy, sources, facts)
        columns = [ColumnProfile(found, propose(found), values.get(found.name)) for found in facts]
        result = replace(result_of(engine, target, columns, twins), unreadable=relation.unreadable)
        cells = count_table(engine, relation, result.rows)
        result = replace(result, cells=cells, entity=None if cells else result.entity)
        if request.sets:
            result = with_sets(engine, copy, sources, result)
    finally:
        if copy is not relation:
            engine.drop(COPY)
    return replace(result, **provenance(engine, already))


def result_of(
    engine: Engine, target: Target, columns: Sequence[ColumnProfile], twins: tuple[Twins, ...]
) -> ProfileResult:
    """The profile from what names and values of the columns suggest."""
    return ProfileResult(
        target=target.name,
        rows=columns[0].facts.rows,
        columns=by_risk(follow_twins(columns, twins)),
        twins=twins,
        entity=proposed_entity(columns),
        **provenance(engine, len(engine.executed)),
    )


def with_sets(engine: Engine, relation: Relation, sources: Sequence[Source], result: ProfileResult) -> ProfileResult:
    """The profile with the columns that together pick people out, and the roles that follow from them."""
    found, why_not = search_together(engine, relation, sources, result)
    if found is None:
        return replace(result, not_searched=why_not)
    columns = by_risk(follow_twins(follow_sets(result.columns, found), result.twins))
    return replace(result, columns=columns, together=replace(found, sets=found.sets[:LISTED]))


def _loaded(engine: Engine, relation: Relation) -> tuple[Relation, list[Source]]:
    """The relation and its columns, copied for the session where every statement would parse the text again."""
    sources = sources_of(relation, engine.dialect)
    named = [Resolved(source.name, source.sql, source.kind, source.name) for source in sources]
    copy, found = copy_columns(engine, relation, named)
    return copy, [replace(source, sql=column.sql) for source, column in zip(sources, found, strict=True)]


def _shown(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> Mapping[str, ShownValues]:
    shown: dict[str, ShownValues] = {}
    for some, share in some_at_a_time(sources, [found.exact for found in facts], facts[0].rows):
        statement = render(
            "profiles/profile_shown.sql",
            engine.dialect,
            source=relation,
            columns=[source.parameters() for source in some],
            share=share,
            most=MOST_FREQUENT,
        )
        rows = engine.run(statement)
        for number, source in enumerate(some):
            own = [row for row in rows if int(row[0]) == number]
            if own:
                smallest = next(row[1] for row in own if row[3] == 1)
                largest = next(row[1] for row in own if row[4] == 1)
                frequent = tuple((row[1], int(row[2])) for row in own if row[5] <= MOST_FREQUENT)
                shown[source.name] = ShownValues(smallest, largest, frequent)
    return shown


@takes("target * db query where read limits exact_rows show_values sets", ProfileRequest)
def profile(given: Given) -> ProfileResult:
    """Describe the columns of a table and propose their roles.

    Args:
        exact_rows: tables with more rows are sampled (500,000 rows).
        show_values: whether smallest, largest and frequent values may be read; without it only counts are.

    Raises:
        UsageError: no such target, or one without columns.
        EngineError: the database refused a statement, failed or disconnected.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({"mail": ["a@b.org", "c@d.org", "e@f.org"], "sex": list("mff"), "income": [1, 2, 2]})
        >>> [(column.name, column.role.value) for column in profile(people).columns]
        [('mail', 'direct_identifier'), ('sex', 'quasi_identifier'), ('income', 'sensitive')]
    """
    request = request_from(ProfileRequest, vars(given))
    chosen = target_of(given)
    with opened(given.db, given.limits, chosen) as engine:
        return profile_target(engine, chosen, request)


# What `sqlaudit profile` would propose as quasi-identifiers, from a first look, when none are named.


def likely_quasi_identifiers(engine: Engine, target: Target, apart_from: Collection[str] = ()) -> tuple[str, ...]:
    """The columns that names and the first rows speak for.

    Args:
        engine: where the target is. target: what would be audited. apart_from: columns with another role.

    Raises:
        SqlauditError: the target cannot be opened or read.
    """
    relation = engine.open(target)
    sources = [source for source in sources_of(relation, engine.dialect) if source.name not in apart_from]
    columns = []
    for some in batches(sources, BATCH):
        rows = rows_of_values(engine, relation, some, first=FIRST_ROWS)
        facts = [facts_of(source, rows.get(number)) for number, source in enumerate(some)]
        columns += [ColumnProfile(found, propose(found)) for found in facts]
    return result_of(engine, target, columns, ()).likely if columns else ()

"""The profile of a table: facts, proposals, equivalent columns, columns that together single people out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import command as command_name
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import COPY, copy_columns
from sqlaudit.column_sets.counting import Chosen, can_keep_codes
from sqlaudit.column_sets.masks import count_subsets
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.result import ColumnSet, ColumnSets
from sqlaudit.column_sets.search import search_columns
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.profiles.columns import (
    BATCH,
    Source,
    batch_columns,
    batches,
    column_facts,
    follow_twins,
    list_sources,
    planned_statements,
    propose,
    query_values,
    read_facts,
    sort_by_risk,
)
from sqlaudit.profiles.names import find_count_table
from sqlaudit.profiles.request import ProfileRequest
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

# The column that identifies the person of a row, from its name and from how often its values repeat.

_PERSON_CONCEPTS = ("record_id", "national_id", "account", "email", "phone")
"""Concepts of columns that identify a person who may have several rows."""
BY_NAME = "its name suggests that it identifies people"


def propose_entity(columns: Sequence[ColumnProfile]) -> ProposedEntity | None:
    """Return the column that identifies people with several rows, None without one.

    Of several columns, the one with the most values is returned.
    """
    return next((entity_by(column, BY_NAME) for column in repeating(columns)), None)


def entity_by(column: ColumnProfile, why: str) -> ProposedEntity:
    """Return the proposal of a column whose values repeat, with `why` as a further reason."""
    rows_per_value = column.facts.rows / column.facts.distinct
    return ProposedEntity(column.name, f"{rows_per_value:,.1f} rows per value; {why}")


def repeating(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """Return the columns that identify people and repeat, without NULL, those with the most values first."""
    repeated = (column for column in _person_columns(columns) if 1 < column.facts.distinct < column.facts.rows)
    return sorted(repeated, key=lambda column: -column.facts.distinct)


def keys(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """Return the columns that identify people and differ in every row."""
    return [column for column in _person_columns(columns) if column.facts.distinct == column.facts.rows > 0]


def _person_columns(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    candidates = [column for column in columns if column.proposal.concept in _PERSON_CONCEPTS]
    return [column for column in candidates if not column.facts.nulls and column.facts.exact]


# Equivalent columns: copies, and the same values under other names.

MOST_PAIRS = 20


def find_twins(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> tuple[Twins, ...]:
    """Return pairs of columns each of which follows from the other.

    One statement compares the pairs whose group sizes agree. Two columns in which every value is unique always follow
    from each other, so they count only when they are equal. Columns that were sampled are left out.

    Args:
        engine, relation: the engine and the table.
        sources: its columns.
        facts: the facts of these columns, in the same order.
    """
    pairs = list(_candidate_pairs(facts))[:MOST_PAIRS]
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
    twins = []
    for number, groups, differing in engine.run(statement):
        first, second = (facts[position] for position in pairs[int(number)])
        is_equivalent = int(groups) == _count_groups(first)
        if is_equivalent and (not differing or first.unique_rows != first.rows):
            twins.append(Twins(first.name, second.name, not differing))
    return tuple(twins)


def _candidate_pairs(facts: Sequence[ColumnFacts]) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions of columns whose groups may have the same sizes, each with the first such column."""
    firsts: dict[object, int] = {}
    for position, column in enumerate(facts):
        if not column.exact or column.constant or column.entropy is None:
            continue
        sizes = (column.smallest_group, column.rows_below_5, column.unique_rows, round(column.entropy, 9))
        first = firsts.setdefault((_count_groups(column), *sizes), position)
        if first != position:
            yield first, position


def _count_groups(column: ColumnFacts) -> int:
    """Return the number of groups with the same value, NULL being one."""
    return column.distinct + (column.nulls > 0)


# Columns that together single people out: a small search among the columns of a profile, and the roles it changes.

K = 5
TOLERANCE = Fraction(1, 100)
LARGEST = 3
"""The most columns of a set."""
SECONDS = 10.0
"""Time limit that only slow machines reach: the limits below bound the search, so that roles do not depend on speed."""
PATIENCE = 20
"""Factor on the time limit on a cluster, where each statement takes long to start; and for small searches, so that a
busy machine proposes the same roles."""
MOST_SETS = 3_000
MOST_ROWS_READ = 2_000_000_000
"""Most rows times sets, where columns are replaced by codes once."""
MOST_ROWS_READ_IN_PLACE = 30_000_000
"""Most rows times sets, where every statement reads the table itself."""
LISTED = 50
"""Most sets in a profile, the first ones; `sets_found` counts all of them."""


def search_together(
    engine: Engine, target: Target, relation: Relation, sources: Sequence[Source], profile: ProfileResult
) -> tuple[ColumnSets | None, str]:
    """Return the minimal column sets that put more than 1% of the rows into groups below five.

    Without sets, the second value is the reason why they were not searched. Sensitive columns are left out, because
    others do not know them, and so is the second of two equivalent columns. Sets have at most three columns, or fewer
    for tables with many rows and columns.

    Args:
        engine: the engine with the table.
        target, relation: the table, and its rows that are read.
        sources: its columns.
        profile: the profile so far.
    """
    by_name = {source.name: source for source in sources}
    excluded = {*profile.named(Role.SENSITIVE), *(twins.second for twins in profile.equivalent_columns)}
    included = [by_name[name] for name in profile.candidates if name not in excluded]
    columns = [Chosen(source.name, source.sql, source.kind, source.type) for source in included]
    if not profile.rows or len(columns) < 2:
        return None, "" if profile.rows else "The table has no rows."
    size = largest_size(profile.rows, len(columns), can_keep_codes(engine, profile.rows, len(columns)))
    if size < min(2, len(columns)):
        return None, (
            f"Sets of columns were not searched: {len(columns):,} columns and {profile.rows:,} rows are too many for a "
            f"profile. {command_name('columns')} searches them."
        )
    is_little = count_subsets(len(columns), size) * profile.rows <= MOST_ROWS_READ_IN_PLACE
    seconds = SECONDS * PATIENCE if is_little or engine.is_cluster else SECONDS
    request = ColumnRequest(
        target, k=K, tolerance=TOLERANCE, max_size=size, limit=MOST_SETS, time_budget=seconds, effects=False
    )
    sets = search_columns(engine, replace(relation, label=profile.target), request, columns)
    ranked = sorted(sets.sets, key=lambda column_set: (len(column_set.columns), -column_set.rows_at_risk))
    return replace(sets, sets=tuple(ranked), _figures=None), ""


def largest_size(rows: int, columns: int, codes: bool) -> int:
    """Return the number of columns up to which all sets are cheap to count; 0 if not even pairs are.

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


def follow_sets(columns: Sequence[ColumnProfile], sets: ColumnSets) -> list[ColumnProfile]:
    """Return the columns, where those of unknown contents get a role from the sets that they are in.

    In a wide table nearly every column is in some minimal set, so that alone is a reason to check it, but no role. The
    smallest group of columns without which no set is left singles people out: its columns become quasi-identifiers.

    Args:
        columns: the columns with the roles that names and values suggest.
        sets: all minimal sets, those with the best reasons first.
    """
    best_sets = {name: column_set for column_set in reversed(sets.sets) for name in column_set.columns}
    decisive = sets.repair or ()
    return [
        _apply_set(column, best_sets[column.name], column.name in decisive) if column.name in best_sets else column
        for column in columns
    ]


def _apply_set(column: ColumnProfile, column_set: ColumnSet, is_decisive: bool) -> ColumnProfile:
    """Add the set to the column's reasons. A decisive column of unknown contents becomes a quasi-identifier."""
    if column.role is not Role.OTHER or column.proposal.concept is not None:
        return column
    others = [name for name in column_set.columns if name != column.name]
    company = f"with {' and '.join(others)}" if others else "on its own"
    reason = f"{percent(column_set.share_at_risk)} of rows at risk {company}"
    unknown, *rest = column.proposal.reasons
    reasons = (reason, unknown, *rest) if is_decisive else (unknown, reason, *rest)
    role = Role.QUASI_IDENTIFIER if is_decisive else Role.OTHER
    return replace(column, proposal=Proposal(role, reasons, column.proposal.concept, is_decisive))


# The profile of one target: facts, proposals, equivalent columns, and values when they are requested.

MOST_FREQUENT = 5


def profile_target(engine: Engine, request: ProfileRequest) -> ProfileResult:
    """Profile a target on an open engine.

    Args:
        engine: the engine with the target.
        request: the target, and what to find out about its columns.

    Raises:
        UsageError: the target has no columns, or cannot be opened.
        EngineError: the database refused or failed.
    """
    executed_before, target = len(engine.executed), request.target
    relation = engine.open(target)
    if not relation.columns:
        raise UsageError(f"{target.name} has no columns.")
    copy, sources = _load_columns(engine, relation)
    try:
        facts = column_facts(engine, copy, sources, request.exact_rows)
        values = _query_values_to_show(engine, copy, sources, facts) if request.show_values else {}
        twins = find_twins(engine, copy, sources, facts)
        columns = [ColumnProfile(measured, propose(measured), values.get(measured.name)) for measured in facts]
        result = replace(result_of(engine, target, columns, twins), unreadable=relation.unreadable)
        cells = find_count_table(engine, relation, result.rows)
        result = replace(result, cells=cells, entity=None if cells else result.entity)
        if request.sets:
            result = with_sets(engine, target, copy, sources, result)
    finally:
        if copy is not relation:
            engine.drop(COPY)
    return replace(result, **provenance(engine, executed_before))


def result_of(
    engine: Engine, target: Target, columns: Sequence[ColumnProfile], twins: tuple[Twins, ...]
) -> ProfileResult:
    """Return the profile from what names and values of the columns suggest."""
    return ProfileResult(
        target=target.name,
        rows=columns[0].facts.rows,
        columns=sort_by_risk(follow_twins(columns, twins)),
        equivalent_columns=twins,
        entity=propose_entity(columns),
        **provenance(engine, len(engine.executed)),
    )


def with_sets(
    engine: Engine, target: Target, relation: Relation, sources: Sequence[Source], result: ProfileResult
) -> ProfileResult:
    """Return the profile with the column sets that single people out, and the roles that follow from them."""
    sets, reason = search_together(engine, target, relation, sources, result)
    if sets is None:
        return replace(result, not_searched=reason)
    columns = sort_by_risk(follow_twins(follow_sets(result.columns, sets), result.equivalent_columns))
    return replace(result, columns=columns, column_sets=replace(sets, sets=sets.sets[:LISTED]))


def _load_columns(engine: Engine, relation: Relation) -> tuple[Relation, list[Source]]:
    """Return the relation and its columns, copied for the session if every statement would parse the text again."""
    sources = list_sources(relation, engine.dialect)
    roles = [Resolved(source.name, source.sql, source.kind, source.name) for source in sources]
    copy, loaded_roles = copy_columns(engine, relation, roles)
    return copy, [replace(source, sql=column.sql) for source, column in zip(sources, loaded_roles, strict=True)]


def _query_values_to_show(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> Mapping[str, ShownValues]:
    """Return the smallest, largest and most frequent values of each column, by name."""
    values: dict[str, ShownValues] = {}
    for batch, share in batch_columns(sources, [column.exact for column in facts], facts[0].rows):
        statement = render(
            "profiles/profile_shown.sql",
            engine.dialect,
            source=relation,
            columns=[source.parameters() for source in batch],
            share=share,
            most=MOST_FREQUENT,
        )
        rows = engine.run(statement)
        for number, source in enumerate(batch):
            matching = [row for row in rows if int(row[0]) == number]
            if matching:
                smallest = next(row[1] for row in matching if row[3] == 1)
                largest = next(row[1] for row in matching if row[4] == 1)
                frequent = tuple((row[1], int(row[2])) for row in matching if row[5] <= MOST_FREQUENT)
                values[source.name] = ShownValues(smallest, largest, frequent)
    return values


def plan_profile(engine: Engine, request: ProfileRequest) -> list[Statement]:
    """Return the statements that a profile would run over a table all of whose rows are read."""
    return planned_statements(engine, engine.open(request.target))


@command(ProfileRequest, plan_profile)
def profile(engine: Engine, request: ProfileRequest) -> ProfileResult:
    """Describe the columns of a table and propose their roles.

    Args:
        exact_rows: tables with more rows are sampled (500,000 rows), and columns of long texts with more than a tenth.
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
    return profile_target(engine, request)


# The quasi-identifiers that `sqlaudit profile` would propose, from the first rows only, for audits that name none.


def likely_quasi_identifiers(engine: Engine, target: Target, apart_from: Collection[str] = ()) -> tuple[str, ...]:
    """Return the columns that look like quasi-identifiers by their names and first rows.

    Args:
        engine: the engine with the target.
        target: the table, file or query to audit.
        apart_from: columns with another role.

    Raises:
        SqlauditError: the target cannot be opened or read.
    """
    relation = engine.open(target)
    sources = [source for source in list_sources(relation, engine.dialect) if source.name not in apart_from]
    columns = []
    for batch in batches(sources, BATCH):
        rows = query_values(engine, relation, batch, first=FIRST_ROWS)
        facts = [read_facts(source, rows.get(number)) for number, source in enumerate(batch)]
        columns += [ColumnProfile(measured, propose(measured)) for measured in facts]
    return result_of(engine, target, columns, ()).likely if columns else ()

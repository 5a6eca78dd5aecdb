"""A profile of one target: facts, proposals, twins, and values when they were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Row
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.loading import COPY, loaded
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.profiles.columns import BATCH, SAMPLE_ROWS, Source, batches, column_facts, sources_of
from sqlaudit.profiles.count_tables import count_table
from sqlaudit.profiles.entity import proposed_entity
from sqlaudit.profiles.request import AS_USUAL, ProfileRequest
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile, ProfileResult, ShownValues, Twins
from sqlaudit.profiles.roles import by_risk, follow_twins, propose
from sqlaudit.profiles.together import follow_sets, search_together, shortened
from sqlaudit.profiles.twins import find_twins

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
        raise UsageError(f"{target.name} has no columns to look at.")
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
    return replace(result, columns=columns, together=shortened(found))


def _loaded(engine: Engine, relation: Relation) -> tuple[Relation, list[Source]]:
    """The relation and its columns, copied for the session where every statement would parse the text again."""
    sources = sources_of(relation, engine.dialect)
    named = [Resolved(source.name, source.sql, source.kind, source.name) for source in sources]
    copy, found = loaded(engine, relation, named)
    return copy, [replace(source, sql=column.sql) for source, column in zip(sources, found, strict=True)]


def _shown(
    engine: Engine, relation: Relation, sources: Sequence[Source], facts: Sequence[ColumnFacts]
) -> Mapping[str, ShownValues]:
    shown: dict[str, ShownValues] = {}
    for in_full in (True, False):
        chosen = [source for source, found in zip(sources, facts, strict=True) if found.exact is in_full]
        share = None if in_full or not chosen else f"{SAMPLE_ROWS / facts[0].rows:.12f}"
        for some in batches(chosen, BATCH):
            shown.update(_shown_of(some, engine.run(_statement(engine, relation, some, share))))
    return shown


def _statement(engine: Engine, relation: Relation, sources: Sequence[Source], share: str | None) -> Any:
    columns = [source.parameters() for source in sources]
    return render(
        "profiles/profile_shown.sql",
        engine.dialect,
        source=Raw(relation.sql),
        columns=columns,
        share=share,
        most=MOST_FREQUENT,
    )


def _shown_of(sources: Sequence[Source], rows: Sequence[Row]) -> dict[str, ShownValues]:
    found = {}
    for number, source in enumerate(sources):
        own = [row for row in rows if int(row[0]) == number]
        if own:
            smallest = next(row[1] for row in own if row[3] == 1)
            largest = next(row[1] for row in own if row[4] == 1)
            frequent = tuple((row[1], int(row[2])) for row in own if row[5] <= MOST_FREQUENT)
            found[source.name] = ShownValues(smallest, largest, frequent)
    return found

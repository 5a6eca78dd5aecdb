"""What `sqlaudit profile` would propose as quasi-identifiers, from a first look, for somebody who named none."""

from __future__ import annotations

from collections.abc import Collection

from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import BATCH, batches, facts_of, sources_of, values_statement
from sqlaudit.profiles.result import ColumnProfile, Role
from sqlaudit.profiles.roles import propose
from sqlaudit.profiles.run import result_of, with_sets
from sqlaudit.profiles.warnings import FIRST_ROWS


def likely_quasi_identifiers(engine: Engine, target: Target, apart_from: Collection[str] = ()) -> tuple[str, ...]:
    """The columns that names and the first rows speak for; where these are all rows, column sets are searched as well.

    Args:
        engine: where the target is. target: what would be audited. apart_from: columns with another role.

    Raises:
        SqlauditError: the target cannot be opened or read.
    """
    relation = engine.open(target)
    sources = [source for source in sources_of(relation, engine.dialect) if source.name not in apart_from]
    columns = []
    for some in batches(sources, BATCH):
        rows = {int(row[0]): row for row in engine.run(values_statement(engine, relation, some, first=FIRST_ROWS))}
        facts = [facts_of(source, rows.get(number)) for number, source in enumerate(some)]
        columns += [ColumnProfile(found, propose(found)) for found in facts]
    if not columns:
        return ()
    profile = result_of(engine, target, columns, ())
    if profile.rows < FIRST_ROWS:
        profile = with_sets(engine, relation, sources, profile)
    named = [column for column in profile.columns if column.role is Role.QUASI_IDENTIFIER]
    return tuple(column.name for column in sorted(named, key=lambda column: column.proposal.by_sets))

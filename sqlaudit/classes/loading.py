"""One copy of the columns that matter, where every reading would parse text again."""

from __future__ import annotations

from dataclasses import replace

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine

COPY = "sqlaudit_rows"


def loaded(
    engine: Engine, relation: Relation, roles: list[Resolved], name: str = COPY
) -> tuple[Relation, list[Resolved]]:
    """The relation and the roles' columns, copied for the session when the engine would parse the text at each reading.

    The copy holds the named columns and expressions alone, lives in the engine's own memory (or its encrypted spill
    files) and goes with the session. `name` is what the copy is called: of several tables each needs its own.
    """
    if not relation.parsed or not engine.can_materialize or not roles:
        return relation, roles
    expressions = list(dict.fromkeys(role.sql for role in roles))
    statement = render(
        "classes/copy_columns.sql",
        engine.dialect,
        step="read the columns",
        source=Raw(relation.sql),
        columns=[Raw(sql) for sql in expressions],
    )
    kept = engine.materialize(name, statement)
    place = {sql: quote(f"c{position}", engine.dialect) for position, sql in enumerate(expressions, 1)}
    return replace(relation, sql=kept.sql, parsed=False), [replace(role, sql=place[role.sql]) for role in roles]

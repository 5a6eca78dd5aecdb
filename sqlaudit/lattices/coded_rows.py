"""The rows of a table with coded quasi-identifiers, as a FROM item: for models and roles that need rows, not counts.

Where the engine keeps relations the codes are joined by value. Elsewhere (PostgreSQL) values are numbered inside the
database by the rule of the dictionaries, and the numbers' codes stand in the statement; no cell does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.coding import CodedColumn, KeyColumn, KeyLayout
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.base import expression


@dataclass(frozen=True)
class CodedSource:
    """A table whose rows are coded: a FROM item, its quasi-identifiers, and what else is read of it."""

    sql: str
    columns: tuple[str, ...]
    others: tuple[str, ...] = ()
    entity: str | None = None


def coded_rows(
    engine: Engine,
    workbench: Engine,
    source: CodedSource,
    columns: Sequence[KeyColumn],
    layout: KeyLayout,
    listed: Sequence[CodedSource] = (),
    *,
    numbered: bool = False,
    name: str = "sqlaudit_lattice_rows",
) -> str:
    """A FROM item with k0, k1, … z0, z1, … o1, o2, … e for every row; kept as a relation where the engine can.

    Args:
        engine: where the rows lie. workbench: where the codes lie.
        source: the table. columns: its quasi-identifiers with their dictionaries. layout: their codes.
        listed: the tables whose values the dictionaries list; empty = the source alone.
        numbered: whether rows need numbers of their own. name: what the relation is called.
    """
    places = []
    for position, (column, coded) in enumerate(zip(columns, layout.columns, strict=True)):
        numbers = _numbers(workbench, coded, layout)
        missing = next((row[1:] for row in numbers if row[-1]), (0,) * (layout.words + 1))
        places.append(
            {
                "sql": Raw(source.columns[position]),
                "position": position,
                "missing": missing,
                "codes": Raw(coded.codes.sql) if workbench is engine else None,
                "numbers": [] if workbench is engine else numbers,
                "kind": column.dictionary.holds.kind.value,
                "listed": [(Raw(table.columns[position]), Raw(table.sql)) for table in (listed or (source,))],
            }
        )
    statement = render(
        "lattices/lattice_coded.sql",
        engine.dialect,
        step="coded rows",
        source=Raw(source.sql),
        columns=places,
        others=[Raw(sql) for sql in source.others],
        words=layout.words,
        numbered=numbered,
        entity=None if source.entity is None else Raw(source.entity),
    )
    if engine.can_materialize:
        return engine.materialize(name, statement).sql
    return "(" + statement.sql + ")"


def node_keys(layout: KeyLayout, node: Node, nulls: NullPolicy, joined: Sequence[str] = ()) -> tuple[str, ...]:
    """Expressions of a node's key over coded rows; `joined` are columns that belong to the key as they are.

    With NULLs that are equal, the masked words. With NULLs that are wildcards, one for each column, NULL where its
    label is missing. With NULLs that are distinct, the masked words, and a number of its own for a row in which a label
    is missing.
    """
    if nulls is NullPolicy.WILDCARD:
        return (*_wildcards(layout, node), *joined)
    keys = [_masked(word, mask) for word, mask in enumerate(layout.masks(node)) if mask]
    open_columns = [
        (position, level)
        for position, (column, level) in enumerate(zip(layout.columns, node, strict=True))
        if level < max(1, column.height)
    ]
    if nulls is NullPolicy.DISTINCT and (open_columns or joined):
        keys.append(expression("own_number", columns=open_columns, joined=joined))
    return (*keys, *joined)


def _wildcards(layout: KeyLayout, node: Node) -> list[str]:
    found = []
    for position, (column, level) in enumerate(zip(layout.columns, node, strict=True)):
        if level < max(1, column.height):
            for word, mask in enumerate(column.masks(level, layout.words)):
                if mask or word == 0:
                    found.append(expression("unless_missing", position=position, level=level, code=_masked(word, mask)))
    return found


def _masked(word: int, mask: int) -> str:
    return expression("masked", word=word, mask=mask)


def _numbers(workbench: Engine, coded: CodedColumn, layout: KeyLayout) -> list[tuple[int, ...]]:
    """(number of the value, what it adds to each word, up to which level its label is missing)."""
    statement = render(
        "lattices/lattice_numbers.sql",
        workbench.dialect,
        step="codes of " + coded.label,
        codes=Raw(coded.codes.sql),
        key=layout.key,
    )
    return [tuple(map(int, row)) for row in workbench.run(statement)]

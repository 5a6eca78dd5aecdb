"""Tables that count the rows of another one, found among all tables that a policy is written for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.base.relation import Relation
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.proposal import ProposedTable
from sqlaudit.profiles.count_tables import count_table_of


def with_group_sizes(
    engine: Engine, tables: Sequence[tuple[ProposedTable, Relation]]
) -> list[tuple[ProposedTable, Relation]]:
    """The tables; one is cells with counts, too, when a column has the sizes of the groups of another table.

    Raises:
        EngineError: the database refused or failed.
    """
    rows = [one for one in tables if one[0].profile.cells is None]
    return [(_counted(engine, table, relation, rows), relation) for table, relation in tables]


def _counted(
    engine: Engine, table: ProposedTable, relation: Relation, rows: Sequence[tuple[ProposedTable, Relation]]
) -> ProposedTable:
    if table.profile.cells is not None:
        return table
    others = (other for one, other in rows if one is not table and one.profile.rows > table.profile.rows)
    cells = next((found for other in others if (found := count_table_of(engine, relation, other)) is not None), None)
    return table if cells is None else replace(table, profile=replace(table.profile, cells=cells, entity=None))

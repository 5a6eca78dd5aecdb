"""One pass over the table: the histogram of coded keys that every node of the lattice is rolled up from.

DuckDB joins the codes while it reads. Any other database counts every combination of values, numbers the values and
streams numbers and counts to the workbench, where the same statement makes the histogram of them. Spark keeps the
combinations for a moment, since it would count them again for every column whose values are numbered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.lattices.attributes import Attribute
from sqlaudit.lattices.coding import KeyColumn, KeyLayout

BASE = "sqlaudit_lattice_base"
_CELLS = "sqlaudit_lattice_cells"
_COUNTED = "sqlaudit_lattice_counted"


def base_histogram(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    columns: Sequence[KeyColumn],
    layout: KeyLayout,
    attributes: Sequence[Attribute],
) -> Relation:
    """The coded histogram on the workbench: id (always 0), k0 …, n, and the words of the attributes' lanes.

    Args:
        engine: where the table lies. workbench: where the histogram is kept.
        relation: the table. columns: its quasi-identifiers in the order of the layout.
        layout: where each column's codes lie. attributes: the sensitive attributes; those that nothing is asked of
            but sizes have no words.
    """
    counted = [attribute for attribute in attributes if attribute.counted]
    if workbench is engine:
        return workbench.materialize(BASE, _from_rows(engine, relation, columns, layout, counted))
    cells = _cells(engine, workbench, relation, columns, counted)
    base = workbench.materialize(BASE, _from_cells(workbench, cells, layout, counted))
    workbench.drop(_CELLS)
    return base


def _from_rows(
    engine: Engine, relation: Relation, columns: Sequence[KeyColumn], layout: KeyLayout, counted: Sequence[Attribute]
) -> Statement:
    coded = zip([column.column for column in columns], layout.columns, strict=True)
    return render(
        "lattices/lattice_base.sql",
        engine.dialect,
        step="coded histogram",
        source=Raw(relation.sql),
        words=layout.words,
        columns=[{"sql": Raw(c.sql), "codes": Raw(place.codes.sql), "value": "v"} for c, place in coded],
        attributes=[
            _words(a) | {"sql": Raw(_sql(a)), "lanes": _lanes(engine, relation, a), "value": "s"} for a in counted
        ],
        weight="",
    )


def _from_cells(workbench: Engine, cells: Relation, layout: KeyLayout, counted: Sequence[Attribute]) -> Statement:
    width = len(layout.columns)
    return render(
        "lattices/lattice_base.sql",
        workbench.dialect,
        step="coded histogram",
        source=Raw(cells.sql),
        words=layout.words,
        columns=[
            {"sql": f"i{i}", "codes": Raw(place.codes.sql), "value": "id"} for i, place in enumerate(layout.columns)
        ],
        attributes=[
            _words(a) | {"sql": f"i{width + i}", "lanes": _numbers(a), "value": "lane"} for i, a in enumerate(counted)
        ],
        weight="c",
    )


def _cells(
    engine: Engine, workbench: Engine, relation: Relation, columns: Sequence[KeyColumn], counted: Sequence[Attribute]
) -> Relation:
    """Numbers of values with their counts, on the workbench."""
    named = [(column.column.sql, column.dictionary.holds.kind.value, False) for column in columns]
    named += [(_sql(attribute), "", _table(attribute).text) for attribute in counted]
    given: dict[str, Any] = {
        "source": Raw(relation.sql),
        "columns": [{"sql": Raw(sql), "kind": kind, "collated": collated} for sql, kind, collated in named],
    }
    types = [(f"i{i}", "BIGINT") for i, _ in enumerate(named)] + [("c", "BIGINT")]
    kept = None
    if engine.can_materialize:
        counting = render("lattices/lattice_counted.sql", engine.dialect, step="combinations of values", **given)
        kept = Raw(engine.materialize(_COUNTED, counting).sql)
    statement = render("lattices/lattice_cells.sql", engine.dialect, step="coded histogram", kept=kept, **given)
    try:
        return keep(engine, workbench, _CELLS, statement, types)
    finally:
        if kept is not None:
            engine.drop(_COUNTED)


def _words(attribute: Attribute) -> dict[str, Any]:
    return {
        "position": attribute.position,
        "words": attribute.packing.words,
        "aggregate": attribute.words[0][1] if attribute.words else "SUM",
    }


def _lanes(engine: Engine, relation: Relation, attribute: Attribute) -> Raw:
    """The values with their lanes, as a FROM item."""
    statement = render(
        "classes/totals.sql",
        engine.dialect,
        step="sensitive values",
        source=Raw(relation.sql),
        sensitive=Raw(_sql(attribute)),
        entity=None,
        text=_table(attribute).text,
    )
    return Raw(engine.materialize(f"sqlaudit_lattice_lanes_{attribute.position}", statement).sql)


def _numbers(attribute: Attribute) -> Raw:
    """All lanes, as a FROM item."""
    return Raw(f"(SELECT range AS lane FROM range({_table(attribute).distinct}))")


def _sql(attribute: Attribute) -> str:
    return attribute.resolved.sql if attribute.resolved else "NULL"


def _table(attribute: Attribute) -> SensitiveTable:
    if attribute.table is None:
        raise ValueError("an attribute without a table has no lanes")
    return attribute.table

"""Several tables of cells read as one: releases of the same table, or tables that share cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.base.relation import Kind
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.listing import ListedCells

_NUMBER, _MOMENT = "number", "moment"
_FAMILIES = {
    Kind.INTEGER: _NUMBER,
    Kind.DECIMAL: _NUMBER,
    Kind.FLOAT: _NUMBER,
    Kind.DATE: _MOMENT,
    Kind.TIMESTAMP: _MOMENT,
}
"""Kinds whose values every engine brings together by itself."""


def read_together(engine: Engine, tables: Sequence[ListedCells]) -> ListedCells:
    """All tables as one, with the number of each beside its cells.

    Columns that are texts in one and something else in another are compared as texts; what a table is not broken down
    by is missing in its cells.
    """
    first = tables[0]
    dimensions = _alike([one.dimensions for one in tables], [one.kinds[: len(one.names)] for one in tables])
    measures = _alike([tuple(one.measures.values()) for one in tables], [one.kinds[len(one.names) :] for one in tables])
    made = render(
        "tabular/tabular_releases.sql",
        engine.dialect,
        releases=[
            {"source": table.source, "dimensions": own, "measures": numbers}
            for table, own, numbers in zip(tables, dimensions, measures, strict=True)
        ],
    )
    named = {name: Raw(f"m{place}") for place, name in enumerate(first.measures)}
    return replace(
        first,
        source=Raw(f"(\n{made.sql}\n)"),
        dimensions=tuple(Raw(f"d{place}") for place in range(len(first.names))),
        measures=named | {"release": Raw("e")},
        kinds=(),
        absent=frozenset(),
        finished=False,
    )


def _alike(
    columns: Sequence[Sequence[Raw | None]], kinds: Sequence[Sequence[Kind]]
) -> list[list[tuple[Raw | None, bool]]]:
    """For each table its columns, and whether they are made texts."""
    texts = [len({_FAMILIES.get(kind, str(kind)) for kind in some}) > 1 for some in zip(*kinds, strict=True)]
    absent = [None in some for some in zip(*columns, strict=True)]
    wanted = [text or missing for text, missing in zip(texts, absent, strict=True)]
    return [list(zip(own, wanted, strict=True)) for own in columns]

"""A published table in the database: which SQL says what of a cell, and which values its dimensions have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.contributions import Contributions, contributions_of
from sqlaudit.tabular.request import AggregatesRequest


@dataclass(frozen=True)
class ListedCells:
    """A table of cells in the database.

    Args:
        source: what stands in FROM. names: of the dimensions. dimensions: their SQL. measures: the SQL of each measure
            by its field in `TableCells`, those of several as `largest_1`. columns: what these are called.
        flags: for each dimension SQL that is 1 where the cell is one of all its values; none where no grouping set says
            it. places: for measures that are whole multiples of a decimal place, which one.
        rows: what the table is made from, None when it is there already. values: the SQL of the dimensions over these.
        finished: whether its totals are looked for among its values.
    """

    source: Raw
    names: tuple[str, ...]
    dimensions: tuple[Raw, ...]
    measures: dict[str, Raw]
    columns: dict[str, str]
    flags: tuple[Raw, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    rows: Raw | None = None
    values: tuple[Raw, ...] = ()
    finished: bool = True

    def statement(self, dialect: str) -> Statement:
        """The statement that reads the cells."""
        return render(
            "tabular/tabular_cells.sql",
            dialect,
            source=self.source,
            dimensions=list(self.dimensions),
            measures=list(self.measures.values()),
            flags=list(self.flags),
        )

    def labels(self, engine: Engine, codes: Sequence[Sequence[int]]) -> dict[tuple[int, int], str]:
        """The values of dimensions as texts, by (dimension, code), for some codes of each."""
        shown = [[code for code in dict.fromkeys(some) if code > 0] or [0] for some in codes]
        statement = render(
            "tabular/tabular_labels.sql",
            engine.dialect,
            source=self.rows or self.source,
            dimensions=list(self.values or self.dimensions),
            shown=shown,
        )
        return {(int(place), int(code)): str(label) for place, code, label in engine.run(statement)}


def listed_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, top: int = 0, before: Relation | None = None
) -> ListedCells:
    """The cells of a published table, or of one that is to be made from rows, with so many largest contributions.

    With rows of a release `before`, cells are what changed: the persons who came, left, or contribute something else.

    Raises:
        UsageError: an unknown column.
    """
    if request.microdata:
        return _made(request, contributions_of(engine, relation, request, top, before))
    return _finished(engine, relation, request)


def _made(request: AggregatesRequest, found: Contributions) -> ListedCells:
    columns = {name: text for name in ("person", "value", "weight", "holdings") if (text := getattr(request, name))}
    return ListedCells(
        found.source,
        request.by,
        found.dimensions,
        found.measures,
        columns,
        found.flags,
        found.places,
        found.rows,
        found.values,
        finished=False,
    )


def _finished(engine: Engine, relation: Relation, request: AggregatesRequest) -> ListedCells:

    def sql(text: str, option: str) -> Raw:
        return Raw(resolve(text, relation, engine.dialect, about(option)).sql)

    named = {name: text for name in _SINGLE if (text := getattr(request, name))}
    measures = {name: sql(text, name) for name, text in named.items()}
    for place, text in enumerate(request.largest, 1):
        named[f"largest_{place}"] = text
        measures[f"largest_{place}"] = sql(text, "largest")
    if request.structural:
        measures["structural"] = sql(request.structural, "structural")
    dimensions = tuple(sql(text, "by") for text in request.by)
    return ListedCells(Raw(relation.sql), request.by, dimensions, measures, named)


_SINGLE = ("count", "contributors", "value", "holdings")

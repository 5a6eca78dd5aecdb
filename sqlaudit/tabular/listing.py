"""A published table in the database: which SQL says what of a cell, and which values its dimensions have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.relation import Kind, Relation, Statement
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
        kinds: what its dimensions and then, for a finished table, its measures hold. absent: the places of dimensions
            that it does not have, of linked tables.
    """

    source: Raw
    names: tuple[str, ...]
    dimensions: tuple[Raw | None, ...]
    measures: dict[str, Raw]
    columns: dict[str, str]
    flags: tuple[Raw, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    rows: Raw | None = None
    values: tuple[Raw, ...] = ()
    finished: bool = True
    kinds: tuple[Kind, ...] = ()
    absent: frozenset[int] = frozenset()

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
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int = 0,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> ListedCells:
    """The cells of a published table, or of one that is to be made from rows, with so many largest contributions.

    With rows of a release `before`, cells are what changed: the persons who came, left, or contribute something else.
    `sets` are grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column.
    """
    if request.microdata:
        return _made(request, contributions_of(engine, relation, request, top, before, sets))
    return finished_cells(engine, relation, request)


def keys_shown(
    engine: Engine, listed: ListedCells, keys: Sequence[Sequence[int]]
) -> tuple[Mapping[str, str | None], ...]:
    """The keys of some cells as texts, by dimension; a missing value and all values together are None."""
    shift = 1 if listed.flags else 0
    codes = [[key[place] - shift for key in keys] for place in range(len(listed.names))]
    labels = listed.labels(engine, codes)
    return tuple(
        {name: labels.get((place, key[place] - shift)) for place, name in enumerate(listed.names)} for key in keys
    )


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
        kinds=found.kinds,
    )


def finished_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, *, in_part: bool = False
) -> ListedCells:
    """The cells of a published table.

    Args:
        in_part: whether it may lack some dimensions, all of whose values its cells are then about.

    Raises:
        UsageError: an unknown column.
    """

    def column(text: str, option: str) -> Resolved:
        return resolve(text, relation, engine.dialect, about(option))

    columns = {name: text for name in _SINGLE if (text := getattr(request, name))}
    measures = {name: column(text, name) for name, text in columns.items()}
    for place, text in enumerate(request.largest, 1):
        columns[f"largest_{place}"] = text
        measures[f"largest_{place}"] = column(text, "largest")
    if request.structural:
        measures["structural"] = column(request.structural, "structural")
    lacking = [in_part and text.isidentifier() and find_column(text, relation) is None for text in request.by]
    by = [None if left else column(text, "by") for text, left in zip(request.by, lacking, strict=True)]
    return ListedCells(
        Raw(relation.sql),
        request.by,
        tuple(None if one is None else Raw(one.sql) for one in by),
        {name: Raw(one.sql) for name, one in measures.items()},
        columns,
        kinds=tuple(Kind.OTHER if one is None else one.kind for one in (*by, *measures.values())),
        absent=frozenset(place for place, left in enumerate(lacking) if left),
    )


def named_places(listed: ListedCells) -> list[int]:
    """The places of dimensions whose values are names, which may be spelled in another way: no numbers or days."""
    return [place for place, kind in enumerate(listed.kinds[: len(listed.names)]) if kind in (Kind.TEXT, Kind.OTHER)]


_SINGLE = ("count", "contributors", "value", "holdings")

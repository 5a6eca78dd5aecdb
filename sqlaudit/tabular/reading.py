"""From a published table to its cells as numbers. Keys become codes in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, CellMeasure, Codes, TableCells
from sqlaudit.tabular.contributions import Contributions, check_contributions, contributions_of
from sqlaudit.tabular.exact import alike, measure
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.structure import adds_up, with_total

MISSING, ALL = 0, 0
"""The codes of a missing value, and, where grouping sets say it, of all values together (a missing one is then 1)."""


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


def read_cells(engine: Engine, listed: ListedCells, request: AggregatesRequest) -> TableCells:
    """The cells with their numbers, and which of them are totals.

    Raises:
        InputError: cells that are neither a number nor marked as hidden.
    """
    arrays = engine.columns_as_arrays(listed.statement(engine.dialect))
    columns = list(arrays.values())
    width = len(listed.names)
    keys = np.stack([np.ma.getdata(one).astype(np.int32) for one in columns[:width]], axis=1)
    given = dict(zip(listed.measures, columns[width:], strict=True))
    structural, release = _flags(given.pop("structural", None)), given.pop("release", None)
    measures = {name: measure(listed.columns.get(name, name), column, request.hidden) for name, column in given.items()}
    measures |= {name: replace(measures[name], places=places) for name, places in listed.places.items()}
    check_contributions(measures)
    cells = replace(_cells(listed, keys, measures, structural), release=release)
    return _with_totals(engine, listed, cells, request)


def _flags(given: npt.NDArray[Any] | None) -> Bools | None:
    if given is None:
        return None
    return np.ma.filled(given, False).astype(np.bool_)


def _cells(listed: ListedCells, keys: Codes, measures: dict[str, CellMeasure], structural: Bools | None) -> TableCells:
    """Cells without totals yet; whatever is money has equally many decimal places."""
    weights = [name for name in measures if name.startswith("weight_")]
    money = [name for name in measures if name == "value" or name.startswith("largest_")]
    measures |= dict(zip(money, alike([measures[name] for name in money]), strict=True))
    measures |= dict(zip(weights, alike([measures[name] for name in weights]), strict=True))
    measures |= {name: _no_more(measures, name) for name in money if name != "value"}
    counts = {name: measures[name] for name in ("count", "contributors", "holdings") if name in measures}
    fractional = [one.units % 10**one.places != 0 for one in counts.values() if one.places]
    measures |= {name: CellMeasure(one.units // 10**one.places, one.known) for name, one in counts.items()}
    dimensions = []
    for place, name in enumerate(listed.names):
        if listed.flags:
            keys[:, place] += 1
        dimensions.append(Breakdown(name, np.full(int(keys[:, place].max(initial=0)) + 1, NO_PARENT, dtype=np.int32)))
    return TableCells(
        tuple(dimensions),
        keys,
        measures.get("count"),
        measures.get("contributors", measures.get("count")),
        measures.get("value"),
        tuple(measures[name] for name in money if name != "value"),
        tuple(measures[name] for name in weights),
        measures.get("holdings"),
        structural,
        np.logical_or.reduce(fractional) if fractional else None,
    )


def _no_more(measures: dict[str, CellMeasure], name: str) -> CellMeasure:
    """A contribution, which is known to be 0 where there are fewer contributors."""
    one, many = measures[name], measures.get("contributors", measures.get("count"))
    if many is None:
        return one
    fewer = many.known & (many.units < int(name.removeprefix("largest_")) * 10**many.places)
    return replace(one, units=np.where(fewer & ~one.known, 0, one.units), known=one.known | fewer.astype(np.bool_))


def _with_totals(engine: Engine, listed: ListedCells, cells: TableCells, request: AggregatesRequest) -> TableCells:
    if listed.flags:
        found = {place: ALL for place in range(len(listed.names)) if bool(np.any(cells.keys[:, place] == ALL))}
    elif not listed.finished:
        return cells
    else:
        found = _found_totals(engine, listed, cells, request.totals())
    dimensions = list(cells.dimensions)
    for place, code in found.items():
        dimensions[place] = with_total(dimensions[place], code)
    return replace(cells, dimensions=tuple(dimensions))


def _found_totals(engine: Engine, listed: ListedCells, cells: TableCells, named: dict[str, str]) -> dict[int, int]:
    """The code of the total of each dimension that has one: as named, a usual word, or a missing value that adds up."""
    by_label = {name: label for name, label in named.items() if label != "NULL"}
    places = {name: f"${number}" for number, name in enumerate(by_label, 1)}
    statement = render(
        "tabular/tabular_totals.sql",
        engine.dialect,
        source=listed.source,
        dimensions=list(listed.dimensions),
        named=[Raw(places[name]) if name in places else None for name in listed.names],
    )
    labelled: dict[int, list[int]] = {}
    for place, code in engine.run(statement, list(by_label.values())):
        labelled.setdefault(int(place), []).append(int(code))
    found = {}
    for place, name in enumerate(listed.names):
        codes = [MISSING] if named.get(name) == "NULL" else labelled.get(place, [])
        if name in named and not (codes and bool(np.any(cells.keys[:, place] == codes[0]))):
            raise UsageError(f"{spelled('total')}: no cell has the value that stands for all of {name!r}.")
        if not codes and bool(np.any(cells.keys[:, place] == MISSING)) and adds_up(cells, place, MISSING):
            codes = [MISSING]
        if len(codes) == 1:
            found[place] = codes[0]
    return found

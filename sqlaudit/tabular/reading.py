"""From a published table to its cells as numbers. Keys become codes in the database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, CellMeasure, Codes, TableCells
from sqlaudit.tabular.contributions import check_contributions
from sqlaudit.tabular.exact import alike, measure
from sqlaudit.tabular.listing import ListedCells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.spellings import with_spellings
from sqlaudit.tabular.structure import with_totals


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
    if listed.finished:
        cells = with_spellings(engine, listed, cells)
    return with_totals(engine, listed, cells, request)


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
        measures.get("count", None if money or listed.rows else measures.get("contributors")),  # all there is
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

"""Further columns of a published table, such as rates and denominators, that reveal hidden or small counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import InputError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.tabular.cells import Bools, CellMeasure, read_measure
from sqlaudit.tabular.labels import looks_numeric
from sqlaudit.tabular.listing import list_unused_columns
from sqlaudit.tabular.request import AggregatesRequest


@dataclass(frozen=True)
class OtherColumns:
    """The numeric columns of a table that are not used.

    Args:
        names: of all.
        revealing: of those with values in rows whose count is hidden, or that exceed counts by few.
        cells: rows in which one of them does.
    """

    names: tuple[str, ...] = ()
    revealing: tuple[str, ...] = ()
    cells: int = 0


NO_COLUMNS = OtherColumns()


def plan_other_columns(engine: Engine, relations: Sequence[Relation], request: AggregatesRequest) -> list[Statement]:
    """Return the statements that read the unused columns of tables."""
    in_part = len(relations) > 1
    queries = (list_unused_columns(engine, relation, request, in_part=in_part) for relation in relations)
    return [query.statement(engine.dialect) for query in queries if query is not None]


def find_other_columns(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest, rules: Sequence[CellRule]
) -> OtherColumns:
    """Find the numeric columns that are not used, and those of them that reveal counts.

    Args:
        relations: the table, and those that are linked with it or were released before.
        rules: for cells.
    """
    fewest = max((rule.fewest or 1 for rule in rules), default=1)
    marks = [mark.text for mark in request.marks()]
    names, revealing, cells = list[str](), list[str](), 0
    for relation in relations:
        query = list_unused_columns(engine, relation, request, in_part=len(relations) > 1)
        if query is None:
            continue
        arrays = [*engine.columns_as_arrays(query.statement(engine.dialect)).values()][len(request.by) :]
        columns = [(name, query.columns[name], array) for name, array in zip(query.measures, arrays, strict=True)]
        further = [(name, array) for key, name, array in columns if key.startswith("other_")]
        published = {
            key: read_measure(name, array, marks, request.decimal)
            for key, name, array in columns
            if not key.startswith("other_")
        }
        which = np.zeros(len(arrays[0]), dtype=np.bool_)
        for name, array in further:
            if (is_number := _find_numeric_cells(array, marks)) is not None:
                names.append(name)
                reveals = _find_revealing(is_number, array, published, fewest, request.decimal)
                revealing += [name] * bool(reveals.any())
                which |= reveals
        cells += int(which.sum())
    return OtherColumns(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(revealing)), cells)


def _find_numeric_cells(column: npt.NDArray[Any], marks: Sequence[str]) -> Bools | None:
    """Return the cells of a column that have a number; None of a column without any."""
    is_present, data = ~np.ma.getmaskarray(column), np.ma.getdata(column)
    if data.dtype.kind == "f":
        is_present = is_present & ~np.isnan(data)
    elif data.dtype.kind not in "iub":
        texts = [str(cell).strip() if has_value else "" for cell, has_value in zip(data, is_present, strict=True)]
        numbers = {text for text in set(texts) - set(marks) if looks_numeric(text)}
        is_present = np.array([text in numbers for text in texts], dtype=np.bool_)
    return is_present if bool(is_present.any()) else None


def _find_revealing(
    is_number: Bools, column: npt.NDArray[Any], published: Mapping[str, CellMeasure], fewest: int, decimal: str
) -> Bools:
    """Return the cells in which a column that is not constant has a value of a hidden count, or exceeds one by few."""
    hidden: Bools = np.logical_or.reduce([~measure.known for measure in published.values()])
    if bool(is_number.all()) and len({str(cell) for cell in np.ma.getdata(column).tolist()}) < 2:
        return hidden & False
    try:
        other = read_measure("", column, [str(cell) for cell in np.ma.getdata(column)[~is_number]], decimal)
    except InputError:  # such as 3 (2.0%)
        return hidden & is_number
    count = published.get("count", published.get("contributors"))
    if count is None:
        return hidden & is_number
    both = (other.known & count.known & is_number).astype(np.bool_)
    excess = other.units - count.units
    is_small_excess = both & (excess > 0) & (excess < fewest)
    if other.places or count.places or bool((both & (excess < 0)).any()):
        is_small_excess = is_small_excess & False
    is_revealing: Bools = (hidden & is_number) | is_small_excess
    return is_revealing

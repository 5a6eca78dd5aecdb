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
from sqlaudit.tabular.cells import Bools, CellMeasure, measure
from sqlaudit.tabular.labels import looks_numeric
from sqlaudit.tabular.listing import with_unused_columns
from sqlaudit.tabular.request import AggregatesRequest


@dataclass(frozen=True)
class OtherColumns:
    """The numeric columns of a table that are not used.

    Args:
        names: of all. revealing: of those with values in rows whose count is hidden, or that exceed counts by few.
        cells: rows in which one of them does.
    """

    names: tuple[str, ...] = ()
    revealing: tuple[str, ...] = ()
    cells: int = 0


NO_COLUMNS = OtherColumns()


def plan_other_columns(engine: Engine, relations: Sequence[Relation], request: AggregatesRequest) -> list[Statement]:
    """Return the statements that read the unused columns of tables."""
    every = (with_unused_columns(engine, one, request, in_part=len(relations) > 1) for one in relations)
    return [one.statement(engine.dialect) for one in every if one is not None]


def find_other_columns(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest, rules: Sequence[CellRule]
) -> OtherColumns:
    """Find the numeric columns that are not used, and those of them that reveal counts.

    Args:
        relations: the table, and those that are linked with it or were released before. rules: for cells.
    """
    fewest = max((rule.fewest or 1 for rule in rules), default=1)
    marks = [one.text for one in request.marks()]
    names, revealing, cells = list[str](), list[str](), 0
    for relation in relations:
        listed = with_unused_columns(engine, relation, request, in_part=len(relations) > 1)
        if listed is None:
            continue
        arrays = [*engine.columns_as_arrays(listed.statement(engine.dialect)).values()][len(request.by) :]
        columns = [(name, listed.columns[name], array) for name, array in zip(listed.measures, arrays, strict=True)]
        further = [(name, array) for key, name, array in columns if key.startswith("other_")]
        published = {
            key: measure(name, array, marks, request.decimal)
            for key, name, array in columns
            if not key.startswith("other_")
        }
        which = np.zeros(len(arrays[0]), dtype=np.bool_)
        for name, array in further:
            if (there := _numeric_cells(array, marks)) is not None:
                names.append(name)
                reveals = _revealing(there, array, published, fewest, request.decimal)
                revealing += [name] * bool(reveals.any())
                which |= reveals
        cells += int(which.sum())
    return OtherColumns(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(revealing)), cells)


def _numeric_cells(column: npt.NDArray[Any], marks: Sequence[str]) -> Bools | None:
    """Return the cells of a column that have a number; None of a column without any."""
    there, data = ~np.ma.getmaskarray(column), np.ma.getdata(column)
    if data.dtype.kind == "f":
        there = there & ~np.isnan(data)
    elif data.dtype.kind not in "iub":
        texts = [str(cell).strip() if known else "" for cell, known in zip(data, there, strict=True)]
        numbers = {text for text in set(texts) - set(marks) if looks_numeric(text)}
        there = np.array([text in numbers for text in texts], dtype=np.bool_)
    return there if bool(there.any()) else None


def _revealing(
    there: Bools, column: npt.NDArray[Any], published: Mapping[str, CellMeasure], fewest: int, decimal: str
) -> Bools:
    """Return the cells in which a column that is not constant has a value of a hidden count, or exceeds one by few."""
    hidden: Bools = np.logical_or.reduce([~one.known for one in published.values()])
    if bool(there.all()) and len({str(cell) for cell in np.ma.getdata(column).tolist()}) < 2:
        return hidden & False
    try:
        other = measure("", column, [str(cell) for cell in np.ma.getdata(column)[~there]], decimal)
    except InputError:  # such as 3 (2.0%)
        return hidden & there
    count = published.get("count", published.get("contributors"))
    if count is None:
        return hidden & there
    both = (other.known & count.known & there).astype(np.bool_)
    more = other.units - count.units
    few = both & (more > 0) & (more < fewest)
    if other.places or count.places or bool((both & (more < 0)).any()):
        few = few & False
    found: Bools = (hidden & there) | few
    return found

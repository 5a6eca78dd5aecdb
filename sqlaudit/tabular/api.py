"""The Python interface to published tables: `sqlaudit.aggregates`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, ReadOptions
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult
from sqlaudit.tabular.run import find_unsafe_cells


@wrong_types_told
def aggregates(
    target: Any = None,
    *,
    by: Sequence[str],
    count: str = "",
    value: str = "",
    contributors: str = "",
    holdings: str = "",
    largest: Sequence[str] = (),
    hidden: Sequence[str] = (),
    total: Mapping[str, str | None] | Sequence[str] = (),
    hierarchies: Any = None,
    structural: str = "",
    microdata: bool = False,
    person: str = "",
    weight: str = "",
    negative: str = "refuse",
    grouping: str = "",
    before: Sequence[Any] = (),
    linked: Sequence[Any] = (),
    require: Require = None,
    protect: bool = False,
    price: str = "count",
    fast: bool = False,
    round_to: int | None = None,
    time_limit: float | None = 60.0,
    to: str | Path | None = None,
    show_values: bool = False,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> AggregatesResult:
    """Tell which cells of a published table say too much of the few behind them (`sqlaudit aggregates`).

    Args:
        target: a table with a row for each cell: a table, view, file path or glob, or a pandas, polars or Arrow table;
            None with `query`.
        by: names or expressions of the dimensions. count: the column of counts. value: that of sums.
        contributors: how many persons or firms are behind a cell, where it is not the count. holdings: how many
            households or groups of firms these belong to.
        largest: the columns of the largest, second largest … contribution to the value.
        hidden: texts that mark a hidden cell, besides a missing number.
        total: for dimensions, the value that stands for all others; None for a missing value. What is usual is found.
        hierarchies: for dimensions, which values are sums of others: a YAML file, a folder of CSV files, or a mapping.
        structural: a condition that is true for cells in which nobody can be.
        microdata: whether the target has rows of persons, from which a table is to be made; `value` is then what a row
            contributes, and `holdings` names the holding of its person.
        person: the column of persons, whose rows in a cell are one contribution. weight: that of sampling weights.
        negative: `refuse` negative contributions, or take them as `absolute`.
        grouping: which tables are made: `region;region,sector;()`; empty = one by all dimensions.
        before: releases before this one, oldest first: each two of all are compared, by the same rules. A pattern
            (`releases/*.parquet`) names one in each file.
        linked: further tables of the same people, judged together with this one; each is broken down by some of `by`.
        require: rules for cells: `{"threshold": 5, "p_percent": 10}`, or texts such as `dominance=n:2,k:85`.
        protect: hide unsafe cells, and the cheapest others that keep totals from telling them. price: what hiding a
            cell costs: its `count`, its `value`, or `1`. fast: take the first good answer.
        round_to: round to multiples of this instead. time_limit: seconds to look for the cheapest.
        to: a .parquet or .csv file for the protected table.
        show_values: whether the keys of unsafe cells are told.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: an unknown column or rule, cells that are neither a number nor marked as hidden.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 2, 9]})
        >>> found = sqlaudit.aggregates(table, by=["region"], count="n", require={"threshold": 5})
        >>> found.unsafe_cells, found.status.value
        (1, 'fail')
    """
    rules = requirements(require, among=CELL_RULES)
    request = request_from(AggregatesRequest, locals(), requirements=rules)
    chosen = make_target(target, query=query, where=where, read=read)
    older, beside = ([make_target(one, query="", where="", read=read) for one in some] for some in (before, linked))
    with opened(db, limits, chosen, *older, *beside) as engine:
        return find_unsafe_cells(engine, chosen, request, older, beside)

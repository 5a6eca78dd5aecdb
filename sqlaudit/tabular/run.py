"""From a published table to the cells that say too much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import REQUIRED, Given, request_from, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Target, make_target, target_of
from sqlaudit.classes.opening import ColumnValues, refuse_merged
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.tabular.cells import TableCells
from sqlaudit.tabular.differences import differences, each_release, judged_change
from sqlaudit.tabular.judged import JudgedCells, rule_of
from sqlaudit.tabular.linked import linked_cells, linked_tables
from sqlaudit.tabular.listing import ListedCells, listed_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult, LinkedTable, ReleaseDifference
from sqlaudit.tabular.structure import read_cells


def find_unsafe_cells(
    engine: Engine,
    target: Target | Relation,
    request: AggregatesRequest,
    before: Sequence[Target] = (),
    linked: Sequence[Target] = (),
) -> AggregatesResult:
    """Judge the cells of a published table.

    Args:
        engine: an open engine. target: a table with a row for each cell, or rows that one is to be made from.
        request: which column says what of a cell, and what must hold.
        before: releases before this one, oldest first, a pattern for one in each file; each two of all are compared.
        linked: further tables of the same people, judged together with this one.

    Raises:
        UsageError: an unknown column, or cells that are neither a number nor marked as hidden.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.models.registry import CELL_RULES
        >>> from sqlaudit.models.registry import parse_requirement
        >>> table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 2, 9]})
        >>> rules = (parse_requirement("threshold=5", among=CELL_RULES),)
        >>> with connect() as engine:
        ...     request = AggregatesRequest(by=("region",), count="n", requirements=rules)
        ...     found = find_unsafe_cells(engine, Target(frame=table), request)
        >>> found.unsafe_cells, found.totals, found.contributors
        (1, ('region',), 9)
    """
    if linked:
        _check_linked(request, before)
    if before and not any(rule_of(one).of_changes for one in request.requirements):
        raise UsageError(f"Say what the change of a cell must hold with {spelled('require', 'threshold=5')}.")
    already = len(engine.executed)
    relation = engine.open(target) if isinstance(target, Target) else target
    if request.protect:
        given = [target] if isinstance(target, Target) else []
        refuse_overwriting([request.to], files_read(engine, [*given, *linked]))
    _refuse_merged(engine, [relation], request)
    listed, cells, beside = _cells(engine, relation, [engine.open(one) for one in linked], request)
    margins = _listed_margins(engine, relation, request)
    judged = JudgedCells(
        engine, listed, cells, request, None if margins is None else read_cells(engine, margins, request)
    )
    found = replace(judged.result(relation.label), linked=beside)
    if request.protect:
        found = replace(found, protection=judged.protected())
    releases = [*(engine.open(one) for one in each_release(engine, before, target)), relation]
    if before:
        _refuse_merged(engine, releases, request)
    found = replace(found, differences=tuple(_differences(engine, releases, request)))
    return replace(found, **provenance(engine, already))


def plan_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, linked: Sequence[Relation] = ()
) -> list[Statement]:
    """The statement that reads the cells, of linked tables together, for `--dry-run`.

    Raises:
        UsageError: an unknown column.
    """
    listed = linked_tables(engine, [relation, *linked], request)[0] if linked else _listed(engine, relation, request)
    margins = _listed_margins(engine, relation, request)
    return [one.statement(engine.dialect) for one in (listed, margins) if one is not None]


def _refuse_merged(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> None:
    """Nothing where it is known who is one person, and what one holding.

    Raises:
        UsageError: some names may mean one, and nobody said whether they do.
    """
    names = (request.person, request.holdings) if request.microdata else ()
    columns = [
        ColumnValues(name, [(one, resolve(name, one, engine.dialect, name)) for one in releases], missing=False)
        for name in names
        if name
    ]
    refuse_merged(engine, columns, request.values)


def _check_linked(request: AggregatesRequest, before: Sequence[Target]) -> None:
    """Nothing when what is asked of linked tables has a meaning.

    Raises:
        UsageError: rows, releases, or a protected table.
    """
    if request.microdata:
        raise UsageError(f"Tables that are made of rows are named by {spelled('grouping')}, not {spelled('linked')}.")
    if before:
        raise UsageError(f"Compare releases with {spelled('before')} table by table, without {spelled('linked')}.")
    if request.protect:
        raise UsageError(f"Linked tables are protected as one table: put them together, without {spelled('linked')}.")


def _cells(
    engine: Engine, relation: Relation, linked: Sequence[Relation], request: AggregatesRequest
) -> tuple[ListedCells, TableCells, tuple[LinkedTable, ...]]:
    """The cells of a table, or of several that are linked, and what these are."""
    if not linked:
        listed = _listed(engine, relation, request)
        return listed, read_cells(engine, listed, request), ()
    listed, cells, split = linked_cells(engine, [relation, *linked], request)
    tables = zip([relation, *linked], split, strict=True)
    return listed, cells, tuple(LinkedTable(one.label, by) for one, by in tables)


def _listed_margins(engine: Engine, relation: Relation, request: AggregatesRequest) -> ListedCells | None:
    """The cells of persons with their margins, where a rule compares them: who is in several cells is one there."""
    if not (request.microdata and request.person and any(rule_of(one).of_margins for one in request.requirements)):
        return None
    asked = request.sets() or (tuple(range(len(request.by))),)
    above = [tuple(at for at in one if at != place) for one in asked for place in one]
    return listed_cells(engine, relation, request, sets=sorted({*asked, *above}))


def _listed(engine: Engine, relation: Relation, request: AggregatesRequest) -> ListedCells:
    return listed_cells(engine, relation, request, _top(request))


def _top(request: AggregatesRequest) -> int:
    """How many of the largest contributions the rules look at."""
    return max((rule_of(one).contributions for one in request.requirements), default=0)


def _differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest
) -> Iterator[ReleaseDifference]:
    if len(releases) < 2:
        return
    rules = tuple(one for one in request.requirements if rule_of(one).of_changes)
    asked = replace(request, requirements=rules)
    labels = [one.label for one in releases]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number})" for number, label in enumerate(labels, 1)]
    for one in differences(engine, releases, asked, _top(asked)):
        found = JudgedCells(engine, one.listed, one.cells, asked).difference(labels[one.before], labels[one.after])
        other = None if one.renamed is None else JudgedCells(engine, one.listed, one.renamed.cells, asked)
        yield judged_change(found, one, [] if other is None else other.not_safe)


@takes(
    "target * by count value contributors holdings largest hidden total hierarchies structural microdata person "
    "values weight negative grouping before linked require protect price fast round_to time_limit to show_values db "
    "query where read limits",
    AggregatesRequest,
    by=("Sequence[str] | str", REQUIRED),
    **dict.fromkeys(("before", "linked"), ("Sequence[Any]", ())),
    price=("str", "count"),
    time_limit=("float | None", 60.0),
)
def aggregates(given: Given) -> AggregatesResult:
    """Tell which cells of a published table say too much of the few behind them (`sqlaudit aggregates`).

    Args:
        target: a table with a row for each cell: a table, view, file path or glob, or a pandas, polars or Arrow table;
            None with `query`.
        total: for dimensions, the value that stands for all others; None for a missing value. What is usual is found.
        hierarchies: for dimensions, which values are sums of others: a YAML file, a folder of CSV files, or a mapping.
        microdata: whether the target has rows of persons, from which a table is to be made; `value` is then what a row
            contributes, and `holdings` names the holding of its person.
        grouping: which tables are made: `region;region,sector;()`; empty = one by all dimensions.
        before: releases before this one, oldest first: each two of all are compared, by the same rules. A pattern
            (`releases/*.parquet`) names one in each file.
        linked: further tables of the same people, judged together with this one; each is broken down by some of `by`.
        require: rules for cells: `{"threshold": 5, "p_percent": 10}`, or texts such as `dominance=n:2,k:85`.
        time_limit: seconds to look for the cheapest, None = any; then the best so far, with its gap.

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
    rules = requirements(given.require, among=CELL_RULES)
    request = request_from(AggregatesRequest, vars(given), requirements=rules)
    chosen = target_of(given)
    older, beside = ([make_target(one, read=given.read) for one in some] for some in (given.before, given.linked))
    with opened(given.db, given.limits, chosen, *older, *beside) as engine:
        return find_unsafe_cells(engine, chosen, request, older, beside)

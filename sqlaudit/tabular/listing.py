"""A published table in the database: the SQL of its cells, and the values of its dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import DATES, NUMBERS, Kind, Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import apply_spelling_policy
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import CellMeasure
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.units import to_integer_units


def _list_cells_of_rows(
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> CellQuery:
    """Return the query of cells that are made from rows, with their largest contributions.

    Args:
        top: number of largest contributions.
        before: rows of an earlier release: cells are then what changed; None for all cells.
        sets: grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column, or contributions that are no numbers.
    """
    row_columns = _resolve_row_columns(engine, relation, request)
    top = top if row_columns.columns["value"] is not None else 0
    sets = request.sets() if sets is None else sets
    statement = render(
        "tabular/tabular_contributions.sql",
        engine.dialect,
        **row_columns.columns,
        before=None if before is None else _resolve_row_columns(engine, before, request).columns,
        sets=[list(grouping_set) for grouping_set in sets],
        absolute=request.negative == "absolute",
        top=top,
    )
    measures, places = _select_measures(row_columns, top)
    source, keys = Raw(f"(\n{statement.sql}\n)"), tuple(Raw(f"d{axis}") for axis in range(len(request.by)))
    flags = tuple(Raw(f"t{axis}") for axis in range(len(keys))) if sets else ()
    rows, values = row_columns.columns["source"], tuple(row_columns.columns["dimensions"])
    if before is not None:  # only what changed
        rows, values = source, keys
    columns = {name: text for name in ("person", "value", "weight", "holdings") if (text := getattr(request, name))}
    return CellQuery(
        source,
        request.by,
        keys,
        measures,
        columns,
        flags,
        places,
        rows,
        values,
        finished=False,
        kinds=row_columns.kinds,
    )


@dataclass(frozen=True)
class _RowColumns:
    """The columns of rows, as the template takes them; value and weight are whole multiples of a decimal place.

    Args:
        columns: their SQL.
        places: number of decimal places of value and weight.
        kinds: the types of the dimensions.
    """

    columns: dict[str, Any]
    places: dict[str, int]
    kinds: tuple[Kind, ...]


def _resolve_row_columns(engine: Engine, relation: Relation, request: AggregatesRequest) -> _RowColumns:
    """Return the SQL of the columns that the request names.

    Raises:
        UsageError: an unknown column.
    """

    def resolve_option(name: str) -> Resolved | None:
        text = getattr(request, name)
        return resolve(text, relation, engine.dialect, about(name)) if text else None

    def settled_sql(name: str) -> Raw | None:
        column = resolve_option(name)
        return (
            None
            if column is None
            else Raw(apply_spelling_policy(engine, relation, column, request.values, missing=False).sql)
        )

    by = [resolve(text, relation, engine.dialect, about("by")) for text in request.by]
    columns = {
        "source": Raw(relation.sql),
        "dimensions": [Raw(dimension.sql) for dimension in by],
        "entity": settled_sql("person"),
    }
    places = {}
    for name in ("value", "weight"):
        column = resolve_option(name)
        columns[name], places[name] = (None, 0) if column is None else to_integer_units(column, name, engine.dialect)
    return _RowColumns(
        columns | {"holding": settled_sql("holdings")}, places, tuple(dimension.kind for dimension in by)
    )


def _select_measures(row_columns: _RowColumns, top: int) -> tuple[dict[str, Raw], dict[str, int]]:
    """Return the SQL of each measure, and the decimal places of those that are whole multiples of one."""
    measures: dict[str, str] = {"count": "n"}
    places: dict[str, int] = {}
    value, weighted = row_columns.places["value"], row_columns.places["weight"]
    if row_columns.columns["value"]:
        measures |= {"value": "x", "least": "least"} | {f"largest_{at}": f"x{at}" for at in range(1, top + 1)}
        places |= {"value": value + weighted} | {f"largest_{at}": value for at in range(1, top + 1)}
    if row_columns.columns["weight"]:
        measures |= {"unsteady": "unsteady", "lightest": "lightest"}
        measures |= {f"weight_{at}": f"w{at}" for at in range(1, top + 1)}
        places |= {"lightest": weighted} | {f"weight_{at}": weighted for at in range(1, top + 1)}
    if row_columns.columns["holding"]:
        measures["holdings"] = "h"
    if row_columns.columns["entity"]:
        measures["nobody"] = "nobody"
    return {name: Raw(sql) for name, sql in measures.items()}, places


def check_contributions(measures: dict[str, CellMeasure]) -> None:
    """Remove the measures that are checks only, and check that rows can be added up.

    Raises:
        UsageError: rows without a person, negative contributions, weights that change or are below 1.
    """
    least, unsteady, lightest, nobody = (
        measures.pop(name, None) for name in ("least", "unsteady", "lightest", "nobody")
    )
    if nobody is not None and (cells := int((nobody.units > 0).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} rows without a person, so contributors cannot "
            f"be counted. Leave these rows out with {spelled('where')} (the person column IS NOT NULL), or fill it."
        )
    if least is not None and (cells := int((least.units < 0).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} negative contributions, which the rules do not "
            f"cover. Take their absolute values with {spelled('negative', 'absolute')}."
        )
    if unsteady is not None and (cells := int((unsteady.units > 0).sum())):
        raise UsageError(
            f"In {plural(cells, 'cell')}, people have several weights or none. Give every person one weight."
        )
    if lightest is not None and (cells := int((lightest.units < 10**lightest.places).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} weights below 1. Use weights of at least 1."
        )


@dataclass(frozen=True)
class CellQuery:
    """The query of a table of cells in the database.

    Args:
        source: the SQL of FROM.
        names: names of the dimensions.
        dimensions: their SQL.
        measures: the SQL of each measure by its field in `TableCells`, several contributions as `largest_1`, ….
        columns: the column of each measure.
        flags: for each dimension SQL that is 1 where the cell is one of all its values; empty without grouping sets.
        places: the decimal places of measures that are whole multiples of one.
        rows: the rows that the table is made from, None when it exists already.
        values: the SQL of the dimensions over these.
        finished: True if its totals are looked for among its values.
        kinds: the types of its dimensions and then, for a finished table, of its measures.
        absent: of linked tables, the axes of dimensions that it does not have.
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
        """Return the statement that reads the cells."""
        return render(
            "tabular/tabular_cells.sql",
            dialect,
            source=self.source,
            dimensions=list(self.dimensions),
            measures=list(self.measures.values()),
            flags=list(self.flags),
        )

    def labels(self, engine: Engine, codes: Sequence[Sequence[int]]) -> dict[tuple[int, int], str]:
        """Return the values of dimensions as texts, by (axis, code).

        Args:
            codes: for each dimension the codes that are needed.
        """
        shift = 1 if self.flags else 0  # the code of all values comes first
        code_lists = [
            [code - shift for code in dict.fromkeys(axis_codes) if code > shift] or [0] for axis_codes in codes
        ]
        code_lists = [axis_codes if len(axis_codes) <= _MOST_LISTED else [] for axis_codes in code_lists]  # [] = all
        statement = render(
            "tabular/tabular_labels.sql",
            engine.dialect,
            source=self.rows or self.source,
            dimensions=list(self.values or self.dimensions),
            shown=code_lists,
        )
        return {(int(axis), int(code) + shift): str(label) for axis, code, label in engine.run(statement)}


def list_cells(
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int = 0,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> CellQuery:
    """Return the query of a published table, or of one that is to be made from rows.

    Args:
        top: number of largest contributions, for rows.
        before: rows of an earlier release. Cells are then what changed: people who came, left, or contribute something
            else.
        sets: grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column.
    """
    if request.microdata:
        return _list_cells_of_rows(engine, relation, request, top, before, sets)
    return list_published_cells(engine, relation, request)


def label_keys(engine: Engine, query: CellQuery, keys: Sequence[Sequence[int]]) -> tuple[Mapping[str, str | None], ...]:
    """Return the keys of cells as texts, by dimension. A missing value and all values together are None."""
    labels = query.labels(engine, list(zip(*keys, strict=True)))
    return tuple({name: labels.get((axis, key[axis])) for axis, name in enumerate(query.names)} for key in keys)


def list_published_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, *, in_part: bool = False
) -> CellQuery:
    """Return the query of a published table.

    Args:
        in_part: True if it may lack dimensions; its cells are then about all values of these.

    Raises:
        UsageError: an unknown column.
    """

    def column(text: str, option: str) -> Resolved:
        return resolve(text, relation, engine.dialect, about(option))

    columns = {name: text for name in _SINGLE if (text := getattr(request, name))}
    measures = {name: column(text, name) for name, text in columns.items()}
    for number, text in enumerate(request.largest, 1):
        columns[f"largest_{number}"] = text
        measures[f"largest_{number}"] = column(text, "largest")
    if request.structural:
        measures["structural"] = column(request.structural, "structural")
    for number, (rate, denominator) in enumerate(request.rates()):
        for name, text in ((f"rate_{number}", rate), (f"denominator_{number}", denominator)):
            columns[name], measures[name] = text, column(text, "rate")
    lacking = [in_part and text.isidentifier() and find_column(text, relation) is None for text in request.by]
    by = [None if is_absent else column(text, "by") for text, is_absent in zip(request.by, lacking, strict=True)]
    return CellQuery(
        Raw(relation.sql),
        request.by,
        tuple(None if dimension is None else Raw(dimension.sql) for dimension in by),
        {name: Raw(resolved.sql) for name, resolved in measures.items()},
        columns,
        kinds=tuple(Kind.OTHER if resolved is None else resolved.kind for resolved in (*by, *measures.values())),
        absent=frozenset(axis for axis, is_absent in enumerate(lacking) if is_absent),
    )


def list_unused_columns(
    engine: Engine, relation: Relation, request: AggregatesRequest, *, in_part: bool
) -> CellQuery | None:
    """Return the query of the published numbers and of columns of numbers or texts that are not used; None without any.

    Args:
        in_part: True if the table may lack columns that the request names, as one of several.

    Raises:
        UsageError: an insensitive column that is not in the table.
    """
    query = list_published_cells(
        engine, relation, replace(request, largest=(), structural="", rate=()), in_part=in_part
    )
    texts = {text: about("by") for text in (*request.by, request.structural, *request.largest) if text}
    texts |= {text: about(name) for name, text in query.columns.items()}
    texts |= {text: about("rate") for text in chain.from_iterable(request.rates())}
    texts |= {text: about("insensitive") for text in request.insensitive}
    used = set[str]()
    for text, option in texts.items():
        if not in_part or not text.isidentifier() or find_column(text, relation):
            used |= columns_read(resolve(text, relation, engine.dialect, option), relation, engine.dialect)
    unused = [column for column in relation.columns if column.name not in used and column.kind in (*NUMBERS, Kind.TEXT)]
    count = "count" if request.count else "contributors"
    published = {name: sql for name, sql in query.measures.items() if name in (count, "value")}
    further = {f"other_{number}": column.name for number, column in enumerate(unused)}
    quoted = {name: Raw(quote(column, engine.dialect)) for name, column in further.items()}
    return replace(query, measures=published | quoted, columns=query.columns | further) if unused else None


def find_text_axes(query: CellQuery) -> list[int]:
    """Return the dimensions whose values are names, which may be spelled in another way, and no numbers or dates."""
    return [axis for axis, kind in enumerate(query.kinds[: len(query.names)]) if kind in (Kind.TEXT, Kind.OTHER)]


_MOST_LISTED = 1_000
"""Largest number of codes that a statement lists; if there are more, the labels of all codes are read."""
_SINGLE = ("count", "contributors", "value", "holdings")

_FAMILIES = dict.fromkeys(NUMBERS, "number") | dict.fromkeys(DATES, "moment")
"""Types whose values every engine casts to a common type by itself."""


def union_tables(engine: Engine, tables: Sequence[CellQuery]) -> CellQuery:
    """Return all tables as one query, with the number of its table beside each cell.

    Columns that are texts in one table and something else in another are compared as texts. A dimension that a table
    does not have is NULL in its cells.
    """
    first = tables[0]
    dimensions = _columns_by_table(
        [table.dimensions for table in tables], [table.kinds[: len(table.names)] for table in tables]
    )
    measures = _columns_by_table(
        [tuple(table.measures.values()) for table in tables], [table.kinds[len(table.names) :] for table in tables]
    )
    statement = render(
        "tabular/tabular_releases.sql",
        engine.dialect,
        releases=[
            {"source": table.source, "dimensions": table_dimensions, "measures": numbers}
            for table, table_dimensions, numbers in zip(tables, dimensions, measures, strict=True)
        ],
    )
    named = {name: Raw(f"m{number}") for number, name in enumerate(first.measures)}
    return replace(
        first,
        source=Raw(f"(\n{statement.sql}\n)"),
        dimensions=tuple(Raw(f"d{axis}") for axis in range(len(first.names))),
        measures=named | {"release": Raw("e")},
        kinds=(),
        absent=frozenset(),
        finished=False,
    )


def _columns_by_table(
    columns: Sequence[Sequence[Raw | None]], kinds: Sequence[Sequence[Kind]]
) -> list[list[tuple[Raw | None, bool]]]:
    """Return for each table its columns, each with True if it is cast to text.

    A column is cast in all tables if its types have no common type, or if a table lacks it: NULL alone has no type.

    Args:
        columns: by table, in one order of columns; None for a column that the table lacks. kinds: their types.
    """
    is_cast = []
    for column_in_tables, kinds_in_tables in zip(zip(*columns, strict=True), zip(*kinds, strict=True), strict=True):
        families = {_FAMILIES.get(kind, str(kind)) for kind in kinds_in_tables}
        is_cast.append(len(families) > 1 or None in column_in_tables)
    return [list(zip(table_columns, is_cast, strict=True)) for table_columns in columns]

"""Which values lie in which cells, as a relation of the workbench."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from sqlaudit.base.relation import Kind, Relation, Row
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cells import AnyValue, Bound, Cell, Exact, Interval, LabelNode, Mask, Values
from sqlaudit.hierarchies.dictionary import Dictionary

NAME = "sqlaudit_membership"
_COLUMNS = (
    ("code", "BIGINT"),
    ("form", "VARCHAR"),
    ("text", "VARCHAR"),
    ("pattern", "VARCHAR"),
    ("level", "INTEGER"),
    ("low", "VARCHAR"),
    ("high", "VARCHAR"),
    ("low_open", "BOOLEAN"),
    ("high_open", "BOOLEAN"),
)
_POINTS = {
    Kind.INTEGER: "DECIMAL(38, 12)",
    Kind.DECIMAL: "DECIMAL(38, 12)",
    Kind.FLOAT: "DOUBLE",
    Kind.DATE: "TIMESTAMP",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_ENDS = {
    "DECIMAL(38, 12)": ("-" + "9" * 26, "9" * 26),
    "DOUBLE": ("-inf", "inf"),
    "TIMESTAMP": ("-infinity", "infinity"),
}
_DECIMALS = 12
_FARTHEST = Fraction(10**26 - 1)
_BATCH = 20_000


def membership(workbench: Engine, dictionary: Dictionary, cells: Mapping[int, Cell], name: str = NAME) -> Relation:
    """Which values of a column lie in which cells: a relation with the columns `code` and `id`, one row a pair.

    Args:
        workbench: where the dictionary lies. dictionary: the values of the original column.
        cells: cells by a code of the caller's, as a `CellReader` reads them.
        name: what the relation is called on the workbench; drop it there when done.

    No statement holds a cell: they are handed over as parameters. A cell that holds no value has no row. Numbers are
    compared with twelve decimals, floats as the doubles nearest to the bounds.

    Example:
        >>> import pyarrow as pa
        >>> from sqlaudit.base.columns_of import resolve
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.hierarchies.hierarchy import plain
        >>> from sqlaudit.hierarchies.cell_reader import reader_of
        >>> from sqlaudit.hierarchies.dictionary import dictionary
        >>> from sqlaudit.base.spec import Target
        >>> with connect() as engine:
        ...     table = engine.open(Target(frame=pa.table({"age": [34, 38, 51]})))
        ...     ages = dictionary(engine, engine, table, resolve("age", table, "duckdb", "--qi"), plain("age"))
        ...     read = reader_of(ages, engine).read_all(["30-39", "*"])
        ...     pairs = membership(engine, ages, dict(enumerate(read.values())))
        ...     sorted(engine.run(render("hierarchies/hierarchy_pairs.sql", "duckdb", source=Raw(pairs.sql))))
        [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    """
    kind = dictionary.holds.kind
    point = _POINTS.get(kind, "")
    rows = [row for code, cell in cells.items() for row in _rows(code, cell, point)]
    batches = (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
    kept = workbench.keep_rows(name + "_cells", _COLUMNS, batches)
    levels = sorted({cell.level for cell in cells.values() if isinstance(cell, LabelNode)})
    statement = render(
        "hierarchies/hierarchy_membership.sql",
        workbench.dialect,
        step="values in cells",
        cells=Raw(kept.sql),
        dictionary=Raw(dictionary.relation.sql),
        levels=levels,
        type=point,
        float=kind is Kind.FLOAT,
    )
    made = workbench.materialize(name, statement)
    workbench.drop(kept.label)
    return made


def _rows(code: int, cell: Cell, point: str) -> Iterator[Row]:
    """(code, form, text, pattern, level, low, high, low_open, high_open), one for each value of a set."""
    if isinstance(cell, AnyValue):
        yield _row(code, "any")
    elif isinstance(cell, Exact):
        yield _row(code, "null") if cell.key is None else _row(code, "value", cell.key)
    elif isinstance(cell, Values):
        yield from (_row(code, "value", key) for key in sorted(cell.keys))
    elif isinstance(cell, Mask):
        yield _row(code, "mask", cell.pattern, _pattern(cell.pattern))
        if cell.of_dates:
            yield _row(code, "dates", cell.pattern, _pattern(cell.pattern))
    elif isinstance(cell, LabelNode):
        yield _row(code, "node", cell.label, level=cell.level)
    elif point:
        yield _interval(code, cell, point)


def _row(code: int, form: str, text: str = "", pattern: str = "", level: int = 0) -> Row:
    return code, form, text, pattern, level, None, None, False, False


def _interval(code: int, cell: Interval, point: str) -> Row:
    smallest, largest = _ENDS[point]
    low = smallest if cell.low is None else _text(cell.low, point)
    high = largest if cell.high is None else _text(cell.high, point)
    return code, "interval", "", "", 0, low, high, cell.low_open, cell.high_open


def _text(bound: Bound, point: str) -> str:
    """A bound as the workbench reads it; beyond what its decimals hold no value lies."""
    if not isinstance(bound, Fraction):
        return bound.isoformat(" ")
    if point == "DOUBLE":
        return repr(float(bound))
    units = round(max(-_FARTHEST, min(_FARTHEST, bound)) * 10**_DECIMALS)
    digits = str(abs(units)).rjust(_DECIMALS + 1, "0")
    return ("-" if units < 0 else "") + digits[:-_DECIMALS] + "." + digits[-_DECIMALS:]


def _pattern(mask: str) -> str:
    """The mask for LIKE, with ! as the sign that protects LIKE's own signs."""
    protected = mask.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return protected.replace("*", "_")

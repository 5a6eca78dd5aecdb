"""Where column sets are counted: a table of small codes where one can be kept, else the target itself.

DuckDB keeps the codes itself. Spark makes them and hands them to its workbench, unless there are too many of them for
the memory of one machine. PostgreSQL keeps nothing, and is asked about the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.masks import bits
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine

_ROWS = "sqlaudit_columns_rows"
_CODES = "sqlaudit_columns_codes"
_WIDEST_OFFSET = 1 << 21
"""Whole numbers in a range up to this keep their distance from the smallest one, without a dictionary."""
_IN_64_BITS = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WORD = 1 << 62
MOST_CODES = 50_000_000
"""So many codes (rows times columns) go to a workbench: four bytes each on the way, and as many again there."""


@dataclass(frozen=True)
class Coded:
    """The rows that questions about column sets run over.

    Args:
        source: the FROM item: the table of codes, or the target.
        columns: the columns' expressions when `source` is the target; None when it is the table of codes.
        entity: the entity's expression when `source` is the target, `e` in the table of codes, None without one.
        rows: rows of the target. persons: persons, = rows without an entity.
        missing: for each column the number of rows where it is missing.
        domains: for each column one more than its largest code; empty without codes.
        engine: where the codes are when that is not where the target is.
    """

    source: Raw
    columns: tuple[Raw, ...] | None
    entity: Raw | None
    rows: int
    persons: int
    missing: tuple[int, ...]
    domains: tuple[int, ...] = ()
    engine: Engine | None = None

    @property
    def coded(self) -> bool:
        """Whether the rows are codes, with 0 for NULL."""
        return self.columns is None

    @property
    def nullable(self) -> int:
        """The columns with a missing value, as a mask."""
        return sum(1 << position for position, count in enumerate(self.missing) if count)

    def parameters(self) -> dict[str, Any]:
        """What every template over these rows needs."""
        return {"source": self.source, "columns": self.columns, "coded": self.coded, "entity": self.entity}

    def keys(self, mask: int) -> list[list[tuple[str, int]]]:
        """The GROUP BY keys of a set: codes packed into as few numbers as fit 62 bits, else plain columns."""
        if not self.coded:
            return [[(f"c{position}", 1)] for position in bits(mask)]
        keys: list[list[tuple[str, int]]] = []
        factor = _WORD
        for position in bits(mask):
            domain = self.domains[position]
            if factor * domain >= _WORD:
                keys.append([])
                factor = 1
            keys[-1].append((f"c{position}", factor))
            factor *= domain
        return keys


def code_columns(
    engine: Engine,
    relation: Relation,
    chosen: Sequence[Chosen],
    entity: Chosen | None,
    kept: Sequence[Chosen] = (),
    *,
    ordered: bool = False,
) -> Coded:
    """Prepare the rows of a relation for counting column sets.

    Where codes stay with the engine, `kept` columns stay beside them as v0, v1, …; cells go to no workbench.
    `ordered` codes are the same in every run, for what is drawn at random among them.

    Raises:
        UsageError: rows without an entity.
    """
    if engine.own_workbench:
        return _codes(engine, relation, chosen, entity, kept, ordered=ordered)
    columns = tuple(Raw(column.sql) for column in chosen)
    person = Raw(entity.sql) if entity else None
    if engine.can_materialize and codes_are_kept(
        engine, _row_count(engine, relation), len(chosen) + (entity is not None)
    ):
        return _codes(engine, relation, chosen, entity, (), ordered=ordered)
    return _described(engine, Raw(relation.sql), columns, person, chosen)


def codes_are_kept(engine: Engine, rows: int, columns: int) -> bool:
    """Whether column sets of so many rows and columns are counted from codes, which is cheap."""
    return engine.own_workbench or (engine.can_materialize and rows * columns <= MOST_CODES)


def _row_count(engine: Engine, relation: Relation) -> int:
    return int(engine.run(render("base/row_count.sql", engine.dialect, source=Raw(relation.sql)))[0][0])


def on_target(coded: Coded, relation: Relation, chosen: Sequence[Chosen], entity: Chosen | None) -> Coded:
    """The same rows on the target itself instead of the table of codes."""
    columns = tuple(Raw(column.sql) for column in chosen)
    person = Raw(entity.sql) if entity else None
    return Coded(Raw(relation.sql), columns, person, coded.rows, coded.persons, coded.missing)


def drop_codes(engine: Engine) -> None:
    """Release what `code_columns` keeps."""
    if engine.can_materialize:
        _home(engine).drop(_CODES)
        engine.drop(_ROWS)


def _home(engine: Engine) -> Engine:
    return engine if engine.own_workbench else engine.workbench()


def _described(
    engine: Engine, source: Raw, columns: tuple[Raw, ...], entity: Raw | None, chosen: Sequence[Chosen]
) -> Coded:
    profile = [{"name": column, "whole": False} for column in columns]
    row = engine.run(render("column_sets/columns_profile.sql", engine.dialect, source=source, columns=profile))[0]
    rows, persons = _totals(engine, source, entity)
    return Coded(source, columns, entity, rows, persons, tuple(int(row[1 + 2 * i]) for i in range(len(chosen))))


def _totals(engine: Engine, source: Raw, entity: Raw | None) -> tuple[int, int]:
    rows, persons, nameless = engine.run(
        render("column_sets/columns_totals.sql", engine.dialect, source=source, entity=entity)
    )[0]
    if nameless:
        raise UsageError(f"The entity column is missing in {nameless} of {rows} rows; every row must name its person.")
    return int(rows), int(persons)


def _codes(
    engine: Engine,
    relation: Relation,
    chosen: Sequence[Chosen],
    entity: Chosen | None,
    kept: Sequence[Chosen],
    *,
    ordered: bool,
) -> Coded:
    read = render(
        "column_sets/columns_rows.sql",
        engine.dialect,
        source=Raw(relation.sql),
        columns=[Raw(c.sql) for c in chosen],
        entity=Raw(entity.sql) if entity else None,
        kept=[Raw(c.sql) for c in kept],
    )
    rows = engine.materialize(_ROWS, read)
    infos = rows.columns[len(kept) :]
    names = [info.name for info in infos]
    values = [info.name for info in rows.columns[: len(kept)]]
    source = Raw(rows.sql)
    persons = _totals(engine, source, Raw("e") if entity else None)[1]
    profile = [{"name": info.name, "whole": info.kind is Kind.INTEGER} for info in infos]
    row = engine.run(render("column_sets/columns_profile.sql", engine.dialect, source=source, columns=profile))[0]
    widths = row[2::2]
    codes = [
        {"name": info.name, "offset": _by_offset(width, int(row[0])), "wide": info.type.upper() not in _IN_64_BITS}
        for info, width in zip(infos, widths, strict=True)
    ]
    statement = render(
        "column_sets/columns_codes.sql", engine.dialect, source=source, columns=codes, kept=values, ordered=ordered
    )
    home = _home(engine)
    coded = engine.materialize(_CODES, statement) if home is engine else engine.hand_over(_CODES, statement)
    engine.drop(_ROWS)
    largest = home.run(render("column_sets/columns_domains.sql", home.dialect, source=Raw(coded.sql), names=names))[0]
    domains = tuple(int(value or 0) + 1 for value in largest)
    missing = tuple(int(count) for count in row[1::2])
    width = len(chosen)
    return Coded(
        Raw(coded.sql),
        None,
        Raw("e") if entity else None,
        int(row[0]),
        persons,
        missing[:width],
        domains[:width],
        home if home is not engine else None,
    )


def _by_offset(width: int | None, rows: int) -> bool:
    """Whether a range is narrow enough to go without a dictionary: codes must stay small to be packed."""
    return width is not None and width < min(_WIDEST_OFFSET, 4 * rows + 16)

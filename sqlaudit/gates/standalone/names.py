"""Names as somebody writes them, as SQL of a warehouse that nobody has asked what it holds."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression, guard_query
from sqlaudit.base.names import closest, quote
from sqlaudit.base.spec import Target
from sqlaudit.base.words import about


@dataclass(frozen=True)
class Dialect:
    """A dialect that statements are written for.

    Args:
        title: the product's name. executed_on: what the tests execute its statements on, empty = nobody has.
        assumed: what is taken for granted of it, where nobody has, and what else its users should know of figures.
        note: what somebody who runs it has to know, empty = nothing.
        infinity: the number that stands for infinity where none can be cast from a text, empty = it can.
        letters: what tells values apart that a collation takes for equal, with `?` for the value and for values of any
            type; empty = no collation does.
    """

    title: str
    executed_on: str = ""
    assumed: tuple[str, ...] = ()
    note: str = ""
    infinity: str = ""
    letters: str = ""

    @property
    def executed(self) -> bool:
        """Whether statements in it are executed by the tests."""
        return bool(self.executed_on)


_OVERFLOW = "a product of counts beyond 38 digits is an error"
_CAST = "`CAST('Infinity' AS DOUBLE)` is infinity"
_TEXT = "CAST(CAST(? AS STRING) AS {})"

DIALECTS = {
    "bigquery": Dialect(
        "BigQuery",
        assumed=("BIGNUMERIC holds products of counts", "`CAST('Infinity' AS FLOAT64)` is infinity"),
        note="Columns of type FLOAT64 cannot make groups there: round them.",
        letters=_TEXT.format("BYTES"),
    ),
    "clickhouse": Dialect(
        "ClickHouse",
        "chdb, ClickHouse in a Python process",
        ("`join_use_nulls` is off, as it is by default",),
        "Needs version 25.6 or later, which has LEAD.",
    ),
    "databricks": Dialect(
        "Databricks",
        assumed=("it does as Spark in ANSI mode, on which the same text is executed",),
        note="Wants ANSI mode, so that an overflow is an error and not NULL.",
        letters=_TEXT.format("BINARY"),
    ),
    "duckdb": Dialect("DuckDB", "DuckDB", letters="ENCODE(CAST(? AS VARCHAR))"),
    "mysql": Dialect(
        "MariaDB",
        "a MariaDB server",
        ("nobody has executed it on MySQL 8",),
        "Wants strict mode, as it is by default, so that an overflow is an error.",
        "1.7976931348623157E308",
        "CAST(? AS BINARY)",
    ),
    "postgres": Dialect("PostgreSQL", "a PostgreSQL server", letters='CAST(? AS TEXT) COLLATE "C"'),
    "presto": Dialect("Presto", assumed=(_OVERFLOW, _CAST)),
    "redshift": Dialect(
        "Redshift",
        assumed=(_OVERFLOW, _CAST, "FNV_HASH tells texts apart that a case-insensitive collation takes for equal"),
        letters="FNV_HASH(?)",
    ),
    "snowflake": Dialect(
        "Snowflake",
        assumed=(
            _OVERFLOW,
            _CAST,
            "run by hand on an emulator, fakesnow over DuckDB: 1,353 tests of 100 random policies said what a run says",
        ),
        letters="TO_BINARY(CAST(? AS VARCHAR), 'UTF-8')",
    ),
    "spark": Dialect(
        "Spark",
        "Spark in ANSI mode",
        note="Wants ANSI mode, so that an overflow is an error and not NULL.",
        letters=_TEXT.format("BINARY"),
    ),
    "sqlite": Dialect(
        "SQLite",
        "the SQLite of Python",
        ("products of counts stay below 2^63, beyond which SQLite goes on in floating point",),
        "Needs version 3.35 or later. Dates are texts there: written as 2020-02-29 they keep their order.",
        "9e999",
        "CAST(? AS BLOB)",
    ),
    "trino": Dialect("Trino", assumed=(_OVERFLOW, _CAST)),
    "tsql": Dialect(
        "T-SQL",
        assumed=(_OVERFLOW, "texts that a collation takes for equal differ in their first 8000 bytes"),
        note="Needs SQL Server 2022 or later. Its FLOAT has no infinity: 1.7976931348623157E308 stands for it.",
        infinity="1.7976931348623157E308",
        letters="CAST(? AS VARBINARY(8000))",
    ),
}

RESERVED = frozenset(
    {
        "all",
        "and",
        "any",
        "array",
        "as",
        "asc",
        "at",
        "between",
        "both",
        "by",
        "case",
        "cast",
        "check",
        "column",
        "create",
        "cross",
        "current",
        "desc",
        "distinct",
        "else",
        "end",
        "except",
        "exists",
        "false",
        "fetch",
        "for",
        "from",
        "full",
        "group",
        "having",
        "hash",
        "in",
        "inner",
        "interval",
        "into",
        "is",
        "join",
        "lateral",
        "left",
        "like",
        "limit",
        "natural",
        "new",
        "no",
        "not",
        "null",
        "of",
        "on",
        "or",
        "order",
        "outer",
        "over",
        "partition",
        "qualify",
        "range",
        "recursive",
        "right",
        "row",
        "rows",
        "select",
        "set",
        "some",
        "table",
        "tablesample",
        "then",
        "to",
        "top",
        "treat",
        "true",
        "union",
        "unique",
        "unnest",
        "user",
        "using",
        "values",
        "when",
        "where",
        "window",
        "with",
        "within",
    }
)
"""Words that some dialect here wants in quotes when they name a column."""


def find_dialect(name: str) -> str:
    """The name of a dialect.

    Raises:
        UsageError: there is none; the sentence names the closest.

    Example:
        >>> find_dialect("Snowflake")
        'snowflake'
    """
    wanted = {"postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql", "mariadb": "mysql"}.get(
        name.lower(), name.lower()
    )
    if wanted not in DIALECTS:
        raise UsageError(f"There is no dialect {name!r}.{closest(name, DIALECTS)} There are: {', '.join(DIALECTS)}.")
    return wanted


def column(text: str, dialect: str, option: str, *, exact: bool = False) -> str:
    """A column or an expression over columns, in the dialect.

    A plain name is written as it stands, so that the warehouse finds it in the case it keeps; one in double quotes, or
    with spaces, is quoted for the dialect, and every name where they are `exact`.

    Raises:
        UsageError: neither a name nor an expression over the columns of one row.

    Example:
        >>> column('"Blood Type"', "bigquery", "--qi"), column("year(birth)", "postgres", "--qi")
        ('`Blood Type`', 'EXTRACT(YEAR FROM birth)')
    """
    bare = text.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1].replace('""', ""):
        return quote(bare[1:-1].replace('""', '"'), dialect)
    if bare.isidentifier():
        return bare if not exact and _is_plain(bare, dialect) else quote(bare, dialect)
    if bare.replace(" ", "_").isidentifier():
        return quote(bare, dialect)
    tree = guard_expression(bare, dialect, option)
    if not list(tree.find_all(exp.Column)):
        raise UsageError(
            f"{option}: {text!r} is no column and no expression over columns; put odd names into double quotes."
        )
    return tree.sql(dialect=dialect)


def by_letters(value: str, dialect: str) -> str:
    """SQL that differs wherever two values are written differently; empty where `=` is as strict.

    Beside the value and never instead of it: a number's text may have fewer digits than the number.

    Example:
        >>> by_letters("city", "mysql"), by_letters("city", "trino")
        ('CAST(city AS BINARY)', '')
    """
    return DIALECTS[dialect].letters.replace("?", value)


def source(target: Target, dialect: str) -> str:
    """A table or a query, with its condition, as a FROM item in the dialect.

    Raises:
        UsageError: not a table's name, not one SELECT, or not a condition.

    Example:
        >>> source(Target("public.patients", where="age > 17"), "snowflake")
        '(SELECT * FROM public.patients WHERE age > 17)'
    """
    if target.frame is not None:
        raise UsageError("A frame is in this process; standalone SQL needs a table.")
    return _from_item(target.relation, target.query, target.where, dialect)


@functools.lru_cache(maxsize=64)
def _from_item(relation: str, query: str, where: str, dialect: str) -> str:
    """The same, once for all checks of a table."""
    if query:
        return f"({guard_query(query, dialect).sql(dialect=dialect)})"
    table = _table(relation, dialect)
    if not where:
        return table.sql(dialect=dialect)
    condition = guard_expression(where, dialect, about("where"))
    return f"({exp.select('*').from_(table).where(condition).sql(dialect=dialect)})"


def _table(text: str, dialect: str) -> exp.Table:
    wrong = UsageError(f"{about('table')}: {text!r} is not a table's name; write schema.table.")
    try:
        table = sqlglot.parse_one(text, into=exp.Table, dialect=dialect)
    except SqlglotError:
        raise wrong from None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise wrong
    if {key for key, value in table.args.items() if value} - {"this", "db", "catalog"}:
        raise wrong
    return table


@functools.lru_cache(maxsize=512)
def _is_plain(name: str, dialect: str) -> bool:
    """Whether the dialect reads a name as a column when it is not quoted."""
    if name.lower() in RESERVED:
        return False
    try:
        tree = sqlglot.parse_one(f"SELECT {name}, 1 FROM t GROUP BY {name}", dialect=dialect)
    except SqlglotError:
        return False
    first = tree.expressions[0] if isinstance(tree, exp.Select) else None
    return isinstance(first, exp.Column) and first.name == name

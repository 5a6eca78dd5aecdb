"""The dialects that statements are written for: names, tables and values as somebody writes them, as SQL."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression, guard_query
from sqlaudit.base.names import closest, name_parts, quote, split_name, untyped
from sqlaudit.base.parameter_names import about
from sqlaudit.base.spec import Target
from sqlaudit.classes import opening

# Names as somebody writes them, as SQL of a warehouse that no one has asked what it holds.


@dataclass(frozen=True)
class Dialect:
    """A dialect that statements are written for.

    Args:
        title: the product's name. executed_on: what the tests execute its statements on, empty = no one has.
        assumed: what is taken for granted of it, where no one has, and what else its users should know of figures.
        note: what its user has to know, empty = nothing.
        infinity: the number that stands for infinity where none can be cast from a text, empty = it can.
        letters: what tells values apart that a collation takes for equal, with `?` for the value and for values of any
            type; empty = no collation does.
        name_quote: the quote around names that are never texts, where the usual one may be; empty = the usual one.
    """

    title: str
    executed_on: str = ""
    assumed: tuple[str, ...] = ()
    note: str = ""
    infinity: str = ""
    letters: str = ""
    name_quote: str = ""

    @property
    def executed(self) -> bool:
        """Return True if statements in it are executed by the tests."""
        return bool(self.executed_on)


_OVERFLOW = "a product of counts beyond 38 digits is an error"
_CAST = "`CAST('Infinity' AS DOUBLE)` is infinity"
_TEXT = "CAST(CAST(? AS STRING) AS {})"

DIALECTS = {
    "bigquery": Dialect(
        "BigQuery",
        assumed=("BIGNUMERIC holds products of counts", "`CAST('Infinity' AS FLOAT64)` is infinity"),
        note="Columns of type FLOAT64 cannot be grouped by: round them.",
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
        assumed=("it behaves like Spark in ANSI mode, on which the same text is executed",),
        note="Needs ANSI mode, so that an overflow is an error and not NULL.",
        letters=_TEXT.format("BINARY"),
    ),
    "duckdb": Dialect("DuckDB", "DuckDB", letters="ENCODE(CAST(? AS VARCHAR))"),
    "mysql": Dialect(
        "MariaDB",
        "a MariaDB server",
        ("no one has executed it on MySQL 8",),
        "Needs strict mode, as it is by default, so that an overflow is an error.",
        "1.7976931348623157E308",
        "CAST(? AS BINARY)",
    ),
    "postgres": Dialect("PostgreSQL", "a PostgreSQL server", letters='CAST(? AS TEXT) COLLATE "C"'),
    "presto": Dialect("Presto", assumed=(_OVERFLOW, _CAST)),
    "redshift": Dialect(
        "Redshift",
        assumed=(_OVERFLOW, _CAST, "FNV_HASH distinguishes texts that a case-insensitive collation treats as equal"),
        letters="FNV_HASH(?)",
    ),
    "snowflake": Dialect(
        "Snowflake",
        assumed=(
            _OVERFLOW,
            _CAST,
            "run by hand on an emulator, fakesnow over DuckDB: 1,353 tests of 100 random policies gave the same "
            "results as a run",
        ),
        letters="TO_BINARY(CAST(? AS VARCHAR), 'UTF-8')",
    ),
    "spark": Dialect(
        "Spark",
        "Spark in ANSI mode",
        note="Needs ANSI mode, so that an overflow is an error and not NULL.",
        letters=_TEXT.format("BINARY"),
    ),
    "sqlite": Dialect(
        "SQLite",
        "the SQLite of Python",
        ("products of counts stay below 2^63, beyond which SQLite uses floating point",),
        "Needs version 3.35 or later. Dates are texts there: written as 2020-02-29 they keep their order.",
        "9e999",
        "CAST(? AS BLOB)",
        "`",
    ),
    "trino": Dialect("Trino", assumed=(_OVERFLOW, _CAST)),
    "tsql": Dialect(
        "T-SQL",
        assumed=(_OVERFLOW, "texts that a collation treats as equal differ in their first 8000 bytes"),
        note="Needs SQL Server 2022 or later. Its FLOAT has no infinity: 1.7976931348623157E308 stands for it.",
        infinity="1.7976931348623157E308",
        letters="CAST(? AS VARBINARY(8000))",
    ),
}

RESERVED = frozenset(
    {
        *("all", "and", "any", "array", "as", "asc", "at"),
        *("between", "both", "by", "case", "cast", "check", "column", "create", "cross", "current"),
        *("desc", "distinct", "else", "end", "except", "exists"),
        *("false", "fetch", "for", "from", "full"),
        *("group", "having", "hash", "in", "inner", "interval", "into", "is"),
        *("join", "lateral", "left", "like", "limit"),
        *("natural", "new", "no", "not", "null", "of", "on", "or", "order", "outer", "over"),
        *("partition", "qualify"),
        *("range", "recursive", "right", "row", "rows"),
        *("select", "set", "some"),
        *("table", "tablesample", "then", "to", "top", "treat", "true"),
        *("union", "unique", "unnest", "user", "using", "values"),
        *("when", "where", "window", "with", "within"),
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
    key = {"postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql", "mariadb": "mysql"}.get(
        name.lower(), name.lower()
    )
    if key not in DIALECTS:
        raise UsageError(f"There is no dialect {name!r}.{closest(name, DIALECTS)} Available: {', '.join(DIALECTS)}.")
    return key


ROWS = "audited"
"""The alias of the audited rows, so that a name is one of their columns or an error.

Without it a name may mean something else: SQLite reads "Age" as a text where there is no such column, PostgreSQL reads
session_user as a function, and ClickHouse reads q1 as the alias of the column before.
"""
_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def column(text: str, dialect: str, option: str, *, exact: bool = False) -> str:
    """A column, or an expression over columns in parentheses, in the dialect.

    A plain name is written as it stands, so that the warehouse finds it in the case it keeps. Every other name is one
    column and is quoted, as is every name if they are `exact`.

    Raises:
        UsageError: an expression that is none over the columns of one row.

    Example:
        >>> column("Blood-Type", "bigquery", "--qi"), column("(year(birth))", "postgres", "--qi")
        ('audited.`Blood-Type`', '(EXTRACT(YEAR FROM audited.birth))')
    """
    bare = text.strip()
    if bare[:1] == "(" and bare[-1:] == ")":
        tree = guard_expression(bare, dialect, option)
        if not list(tree.find_all(exp.Column)):
            raise UsageError(
                f"{option}: {text!r} is not an expression over columns. Put the name of a column into quotes."
            )
        return _of_rows(tree).sql(dialect=dialect)
    if (named := untyped(bare)) != bare:
        bare, exact = named, True
    if not bare:
        raise UsageError(f"{option}: a name is empty.")
    plain = not exact and _PLAIN.fullmatch(bare) and _is_plain(bare, dialect)
    return f"{ROWS}.{bare if plain else quote(bare, dialect)}"


def _of_rows(tree: exp.Expression) -> exp.Expression:
    """The expression with the name of the rows before each of its columns, but not before those of a lambda."""
    for column in list(tree.find_all(exp.Column)):
        bound = [name.name for bound_by in _lambdas(column) for name in bound_by.expressions]
        free = next((part for part in ("table", "db", "catalog") if not column.args.get(part)), "")
        if free and column.parts[0].name not in bound:
            column.set(free, exp.to_identifier(ROWS))
    return tree


def _lambdas(node: exp.Expression) -> Iterator[exp.Lambda]:
    """The lambdas around a node."""
    above = node.parent
    while above is not None:
        if isinstance(above, exp.Lambda):
            yield above
        above = above.parent


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
        '(SELECT * FROM public.patients AS audited WHERE audited.age > 17) AS audited'
    """
    if target.frame is not None:
        raise UsageError("A frame is in this process; standalone SQL needs a table.")
    return _from_item(target.relation, target.query, target.where, dialect)


@functools.lru_cache(maxsize=64)
def _from_item(relation: str, query: str, where: str, dialect: str) -> str:
    """Return the FROM item that all checks of a table share."""
    if query:
        return f"({_sql(guard_query(query, dialect), dialect)}) AS {ROWS}"
    table = f"{_table(relation, dialect)} AS {ROWS}"
    if not where:
        return table
    condition = _of_rows(guard_expression(where, dialect, about("where")))
    return f"(SELECT * FROM {table} WHERE {condition.sql(dialect=dialect)}) AS {ROWS}"


def _sql(query: exp.Query, dialect: str) -> str:
    """A user's query in the dialect. In SQLite no name is in double quotes, where it may be read as a text."""
    mark = DIALECTS[dialect].name_quote
    for name in list(query.find_all(exp.Identifier)) if mark else []:
        if name.args.get("quoted"):
            name.replace(exp.Var(this=mark + name.name.replace(mark, mark * 2) + mark))
    return query.sql(dialect=dialect)


def _table(text: str, dialect: str) -> str:
    """A table's name in the dialect; its parts are quoted where they are no plain names."""
    try:
        named = list(zip(split_name(text), name_parts(text), strict=True))
        if len(named) > 3:
            raise UsageError
    except UsageError:
        raise UsageError(f"{about('table')}: {text!r} is not a table's name; write schema.table.") from None
    plain = (not quoted and _PLAIN.fullmatch(name) and _is_plain(name, dialect) for name, (_, quoted) in named)
    return ".".join(name if fits else quote(name, dialect) for (name, _), fits in zip(named, plain, strict=True))


@functools.lru_cache(maxsize=512)
def _is_plain(name: str, dialect: str) -> bool:
    """Return True if the dialect reads a name as a column when it is not quoted."""
    if name.lower() in RESERVED:
        return False
    try:
        tree = sqlglot.parse_one(f"SELECT {name}, 1 FROM t GROUP BY {name}", dialect=dialect)
    except SqlglotError:
        return False
    first = tree.expressions[0] if isinstance(tree, exp.Select) else None
    return isinstance(first, exp.Column) and first.name == name


# What a reader takes for one value, in SQL: texts without case, blanks, unseen characters and forms of Unicode.
#
# A statement knows no engine, so each dialect says what it can: a text folded, and whether somebody has to ask again
# because the dialect cannot fold it. The SQL itself is ASCII, as clients read files in any encoding.

Ranges = Sequence[tuple[int, int]]


def _ranges(hexadecimal: str) -> Ranges:
    return tuple(
        (int(low, 16), int(high or low, 16)) for low, _, high in (pair.partition("-") for pair in hexadecimal.split())
    )


BLANKS = _ranges(opening.BLANKS)
"""Characters that are read as a blank."""
UNSEEN = _ranges(opening.UNSEEN)
"""Characters without a picture: controls, formats, fillers, variation selectors, tags."""
WIDTHS: Ranges = ((0xFF01, 0xFF9F), (0xFFA1, 0xFFEF))
"""Full and half widths."""
_JOINED: Ranges = ((0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0xF900, 0xFAFF))
"""What has a second form beside marks, for a dialect without any normal form."""


@dataclass(frozen=True)
class DialectFolding:
    """How a dialect folds a value.

    Args:
        text: a value `?` as a text, compared by its letters. folded: a text `?` without what a reader does not see.
        unsure: what holds of a folded text `?` that may be the same as another to a reader; empty = of none.
        nested: what holds of a value `?` that holds texts which no one folds; empty = no one can see that there.
    """

    text: str
    folded: str
    unsure: str = ""
    nested: str = ""


def folded(value: str, dialect: str, *, missing: bool = False) -> str:
    """A value as a reader takes it, as a text; where `missing`, an empty one is NULL.

    Example:
        >>> folded("ill", "trino")[:41]
        'LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE'
    """
    folding = FOLDINGS[dialect]
    spelling = folding.folded.replace("?", folding.text.replace("?", value))
    return f"NULLIF({spelling}, '')" if missing else spelling


def unsure(spelling: str, dialect: str) -> str:
    """1 where a folded text may be the same as another to a reader, else 0.

    Example:
        >>> unsure("s", "trino"), unsure("s", "bigquery")
        ("CASE WHEN REGEXP_LIKE(s, '[^ -~]') THEN 1 ELSE 0 END", '0')
    """
    return _flag(FOLDINGS[dialect].unsure, spelling)


def nested(value: str, dialect: str) -> str:
    """1 where a value holds texts which no one folds, else 0: a list, a struct, a map or bytes."""
    return _flag(FOLDINGS[dialect].nested, value)


def _flag(condition: str, of: str) -> str:
    return f"CASE WHEN {condition.replace('?', of)} THEN 1 ELSE 0 END" if condition else "0"


def _ascii(
    text: str, beyond: str, code: str = "CHR({})", single: str = "REGEXP_REPLACE(?, ' +', ' ')"
) -> DialectFolding:
    """Where ASCII alone is folded: `beyond` finds other texts, `code` writes a character, `single` single blanks."""
    blanks = "?"
    for number in (9, 10, 13):
        blanks = f"REPLACE({blanks}, {code.format(number)}, ' ')"
    return DialectFolding(text, f"LOWER(TRIM({single.replace('?', blanks)}))", beyond)


@dataclass(frozen=True)
class _Patterns:
    """How a dialect writes regular expressions.

    Args:
        contains: whether a text `?` has `{}` in it. replaced: `?` with `{new}` for each `{}`.
        point: a character by its number. nul: the same of the character that some texts cannot have.
    """

    contains: str
    replaced: str
    point: str
    nul: str = ""

    def has(self, text: str, pattern: str) -> str:
        """Return True if a text has what a pattern matches."""
        return self.contains.replace("{}", pattern).replace("?", text)

    def replace(self, text: str, pattern: str, new: str) -> str:
        """The text with something else for each match."""
        return self.replaced.replace("{}", pattern).replace("{new}", new).replace("?", text)

    def among(self, ranges: Ranges) -> str:
        """Characters in the brackets of a pattern."""
        ends = [(self.point.format(first), self.point.format(last)) for first, last in ranges]
        return "".join(first if first == last else f"{first}-{last}" for first, last in ends)


def _unicode(
    text: str,
    patterns: _Patterns,
    *,
    cased: str = "LOWER(UPPER(?))",
    lower: str = "LOWER",
    normal: str = "?",
    compatible: str = "",
    unsure: str = "",
    nested: str = "",
) -> DialectFolding:
    """Return where patterns know Unicode. Texts of plain ASCII without blanks take a short way.

    Upper case before lower case brings letters together that one of them alone tells apart; a dotted I is an i, and a
    sharp s two. `normal` makes one of the forms that Unicode has for a text, `compatible` one of all widths.
    """
    widths = patterns.has("?", f"[{patterns.among(WIDTHS)}]")
    narrow = f"CASE WHEN {widths} THEN {compatible} ELSE ? END" if compatible else "?"
    seen = patterns.replace(narrow, f"[{patterns.nul}{patterns.among(UNSEEN)}]", "")
    words = patterns.replace(seen, f"[{patterns.among(BLANKS)}]+", " ")
    long = normal.replace("?", cased.replace("?", f"TRIM({words})"))
    for character, plain in ((f"i{patterns.point.format(0x307)}", "i"), (patterns.point.format(0xDF), "ss")):
        long = patterns.replace(long, character, plain)
    return DialectFolding(
        text, f"{lower}(CASE WHEN {patterns.has('?', '[^!-~]')} THEN {long} ELSE ? END)", unsure, nested
    )


_JSON = "SUBSTR(?, 1, 1) IN ('[', '{')"
"""What lists and objects look like as texts, where no type tells."""
_RE2 = r"\x{{{:X}}}"
_DUCKDB = _Patterns("REGEXP_MATCHES(?, '{}')", "REGEXP_REPLACE(?, '{}', '{new}', 'g')", _RE2, r"\x{0}")
_POSTGRES = _Patterns("? ~ '{}'", "REGEXP_REPLACE(?, '{}', '{new}', 'g')", r"\U{:08X}")
_SPARK = _Patterns("? RLIKE r'{}'", "REGEXP_REPLACE(?, r'{}', '{new}')", _RE2, r"\x{0}")
_CLICKHOUSE = _Patterns("match(?, '{}')", "replaceRegexpAll(?, '{}', '{new}')", r"\\x{{{:X}}}", r"\\x{0}")
_BIGQUERY = _Patterns("REGEXP_CONTAINS(?, r'{}')", "REGEXP_REPLACE(?, r'{}', '{new}')", _RE2, r"\x{0}")

_ON_SPARK = _unicode(
    "CAST(CAST(CAST(? AS STRING) AS BINARY) AS STRING)",  # without its collation
    _SPARK,
    unsure=_SPARK.has("?", rf"[\p{{M}}{_SPARK.among((*_JOINED, *WIDTHS))}]"),
    nested="TYPEOF(?) RLIKE '^(array|struct|map|binary|variant)'",
)

FOLDINGS = {
    "bigquery": _unicode(
        "CAST(? AS STRING)",
        _BIGQUERY,
        cased="?",
        normal="NORMALIZE_AND_CASEFOLD(?, NFC)",
        compatible="NORMALIZE(?, NFKC)",
    ),
    "clickhouse": _unicode(
        "CAST(? AS Nullable(String))",
        _CLICKHOUSE,
        cased="lowerUTF8(upperUTF8(?))",
        lower="lowerUTF8",
        normal="normalizeUTF8NFC(?)",
        compatible="normalizeUTF8NFKC(?)",
        nested="match(toTypeName(?), 'Array|Tuple|Map|JSON|Object|Variant|Dynamic')",
    ),
    "databricks": _ON_SPARK,
    "duckdb": _unicode(
        "CAST(? AS VARCHAR)",
        _DUCKDB,
        normal="NFC_NORMALIZE(?)",
        unsure=_DUCKDB.has("?", f"[{_DUCKDB.among(WIDTHS)}]"),
        nested=r"REGEXP_MATCHES(TYPEOF(?), '\]$|^(STRUCT|MAP|UNION|BLOB|JSON|VARIANT|GEOMETRY)')",
    ),
    "mysql": _ascii(
        "CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin", f"? RLIKE '[^ -~]' OR {_JSON}", code="CHAR({} USING utf8mb4)"
    ),
    "postgres": _unicode(
        'CAST(? AS TEXT) COLLATE "C"',
        _POSTGRES,
        cased='LOWER(UPPER(? COLLATE "default") COLLATE "default") COLLATE "C"',
        normal="NORMALIZE(?, NFC)",
        compatible="NORMALIZE(?, NFKC)",
        # a database whose own case is that of ASCII
        unsure="? ~ '[^ -~]' AND LOWER(CHR(201)) <> CHR(233)",
        nested="PG_TYPEOF(?) IN (SELECT oid FROM pg_catalog.pg_type WHERE typcategory IN ('A', 'C', 'P', 'R', 'U') "
        "AND typname NOT IN ('uuid', 'macaddr', 'macaddr8'))",
    ),
    "presto": _ascii("CAST(? AS VARCHAR)", "REGEXP_LIKE(?, '[^ -~]')"),
    "redshift": _ascii("CAST(? AS VARCHAR(MAX))", f"? ~ '[^ -~]' OR {_JSON}"),
    "snowflake": _ascii("CAST(? AS VARCHAR)", f"REGEXP_INSTR(?, '[^ -~]') > 0 OR {_JSON}"),
    "spark": _ON_SPARK,
    "sqlite": _ascii(
        "CAST(? AS TEXT)",
        "? GLOB '*[^ -~]*' OR INSTR(CAST(? AS BLOB), X'00') > 0",
        code="CHAR({})",
        single="REPLACE(REPLACE(REPLACE(?, ' ', CHAR(32, 1)), CHAR(1, 32), ''), CHAR(1), '')",
    ),
    "trino": _ascii("CAST(? AS VARCHAR)", "REGEXP_LIKE(?, '[^ -~]')"),
    "tsql": _ascii(
        "CAST(? AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2",
        "? LIKE '%[^ -~]%'",
        code="CHAR({})",
        single="REPLACE(REPLACE(REPLACE(?, ' ', CONCAT(' ', CHAR(1))), CONCAT(CHAR(1), ' '), ''), CHAR(1), '')",
    ),
}
"""How each dialect folds."""

"""Names in SQL: quoting, literals, dotted names, the closest of several names, and differences of dialects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass

PLACEHOLDER = "sqlaudit_raw_"
"""The prefix of names that stand for raw SQL while a text is translated."""
_PART = r'(?:"((?:[^"]|"")*)"|([^".][^.]*))(\.|\Z)'
"""A part of a dotted name, in double quotes or without, and the dot after it; compiled when it is first needed."""

# Differences between the dialects of the engines that sqlglot does not translate.
#
# Code checks these facts instead of a dialect's name; what only one database does is in `engines/`.


@dataclass(frozen=True)
class DialectFacts:
    """Facts about a dialect of SQL.

    Args:
        title: the product's name.
        name_quote: the quote around names, doubled within. text_quote: the quote around texts, likewise. Empty =
            sqlglot writes them.
        wide: the type in which products of counts never overflow.
        word: the type of a word of packed counts. word_bits: how many bits of it hold them.
        lane_bits: the least width of a count in a word; wider lanes and fewer of them are faster to add up.
        loose_decimals: True if each value of a DECIMAL without a scale has a scale of its own, and may be NaN.
        division: a clause on quotients of whole numbers here and in other engines.
        whole_division: how the whole part of a quotient is written.
        outside: functions that run code of the machine, or access files, servers or secrets.
    """

    title: str
    name_quote: str = ""
    text_quote: str = ""
    wide: str = "DECIMAL(38, 0)"
    word: str = "BIGINT"
    word_bits: int = 62
    lane_bits: int = 1
    loose_decimals: bool = False
    division: str = ""
    whole_division: str = "floor({left} / {exact})"
    outside: tuple[str, ...] = ()


_FACTS = {
    "duckdb": DialectFacts(
        "DuckDB",
        name_quote='"',
        text_quote="'",
        wide="HUGEINT",
        word="HUGEINT",
        word_bits=126,
        division="DuckDB returns fractions, where PostgreSQL returns whole numbers",
        whole_division="{left} // {right} or floor({left} / {exact})",
    ),
    "postgres": DialectFacts(
        "PostgreSQL",
        name_quote='"',
        text_quote="'",
        word="INTEGER",
        word_bits=60,
        lane_bits=30,
        loose_decimals=True,
        division="PostgreSQL returns whole numbers, where DuckDB and Spark return fractions",
    ),
    "spark": DialectFacts(
        "Spark",
        name_quote="`",
        division="Spark returns fractions, where PostgreSQL returns whole numbers",
        whole_division="{left} DIV {right} or floor({left} / {exact})",
        outside=(
            *("reflect", "java_method", "try_reflect", "remote_query", "http_request", "ai_query", "vector_search"),
            *("read_files", "read_kafka", "read_pubsub", "read_kinesis", "read_pulsar", "identifier"),
            *("read_statestore", "read_state_metadata", "cloud_files_state", "python_worker_logs"),
            *("list_secrets", "secret", "try_secret"),
        ),
    ),
}


def spoken(dialect: str) -> DialectFacts:
    """Return the facts of a dialect by its sqlglot name; for other warehouses, what all of them understand.

    Example:
        >>> spoken("duckdb").wide, spoken("snowflake").wide
        ('HUGEINT', 'DECIMAL(38, 0)')
    """
    return _FACTS.get(dialect, DialectFacts(dialect, division=dialect))


# Names as users write them and in SQL: quoting, literals, dotted names, and the closest of several names.
#
# Each statement needs these, so nothing large is imported: names of the engines' dialects are written here, those of
# other warehouses by sqlglot.


def quote(name: str, dialect: str) -> str:
    """Return an identifier exactly as named, quoted so that it is safe in any position of a statement.

    Example:
        >>> quote('a "b"; c', "duckdb")
        '"a ""b""; c"'
    """
    mark = spoken(dialect).name_quote
    if mark:
        return mark + name.replace(mark, mark * 2) + mark
    from sqlglot import exp

    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def literal(value: object, dialect: str) -> str:
    """Return a Python value as SQL: text, numbers, booleans, lists of them, and dictionaries with text keys.

    For settings, file names and read options only; values of the audited data never pass through here.

    Raises:
        TypeError: any other value.

    Example:
        >>> literal(["it's", True, 2], "duckdb")
        "['it''s', TRUE, 2]"
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        if mark := spoken(dialect).text_quote:
            return mark + value.replace(mark, mark * 2) + mark
        from sqlglot import exp

        return exp.Literal.string(value).sql(dialect=dialect)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item, dialect) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(literal(k, dialect) + ": " + literal(v, dialect) for k, v in value.items()) + "}"
    raise TypeError(f"no SQL literal for a {type(value).__name__}")


def split_name(text: str) -> tuple[str, ...]:
    """Return the parts of a table's name as a user writes it: dots separate, double quotes protect.

    Raises:
        UsageError: a quote that is not closed, an empty part, or text after a closing quote.

    Example:
        >>> split_name('main."odd.name"')
        ('main', 'odd.name')
    """
    parts = name_parts(text)
    names = tuple(part if quoted else part.strip() for part, quoted in parts)
    if not parts or "" in names or any('"' in part and not quoted for part, quoted in parts):
        raise UsageError(f"{text!r} is not a table name. Write schema.table, with double quotes around unusual names.")
    return names


def name_parts(text: str) -> list[tuple[str, bool]]:
    """Return the parts of a dotted name as written, each with True if quoted.

    The list is empty if a quote is not closed, or a part is missing.
    """
    parts, position, dot = [], 0, "."
    while dot:
        match = re.compile(_PART).match(text, position)
        if match is None:
            return []
        quoted, bare, dot = match.groups()
        parts.append((bare, False) if quoted is None else (quoted.replace('""', '"'), True))
        position = match.end()
    return parts


def any_of(words: Sequence[str]) -> str:
    """Return the words as a choice.

    Example:
        >>> any_of([".csv"]), any_of([".parquet", ".csv", ".sql"])
        ('.csv', '.parquet, .csv or .sql')
    """
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def closest(name: str, names: Iterable[str]) -> str:
    """Return a hint that names the closest of these names; empty if none is close.

    Example:
        >>> closest("Adress", ["age", "address"])
        " Did you mean 'address'?"
    """
    import difflib  # needed only for errors

    folded = {candidate.casefold(): candidate for candidate in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""

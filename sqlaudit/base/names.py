"""Names in SQL: quoting, literals, dotted names, the closest of several names, and differences of dialects."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence

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


def closest(name: str, names: Iterable[str], show: Callable[[str], str] = repr) -> str:
    """Return a hint that names the closest of these names; empty if none is close.

    Args:
        name: the name that is not there. names: those that are. show: how the hint writes one.

    Example:
        >>> closest("Adress", ["age", "address"])
        " Did you mean 'address'?"
    """
    import difflib  # needed only for errors

    folded = {without_blanks(candidate): candidate for candidate in names}
    near = difflib.get_close_matches(without_blanks(name), folded, n=1, cutoff=0.6)
    return f" Did you mean {show(folded[near[0]])}?" if near else ""


def closest_column(name: str, columns: Iterable[str]) -> str:
    r"""Return a hint that names the closest of these columns, as it is typed; empty if none is close.

    Example:
        >>> print(closest_column("Age in years", ["Age\nin years"]))
         Did you mean '"Age\nin years"'?
    """
    return closest(name, columns, shown)


def split_at_equals(text: str) -> tuple[str, str, str]:
    """Return the name before `=`, the sign, and the text behind it, as `str.partition` does: not inside of quotes.

    Example:
        >>> split_at_equals('"a=b"=c'), split_at_equals("a")
        (('a=b', '=', 'c'), ('a', '', ''))
    """
    quoted = re.match(r'\s*"(?:[^"]|"")*"\s*(?==|\Z)', text)
    end = quoted.end() if quoted else text.find("=") if "=" in text else len(text)
    return untyped(text[:end].strip()), text[end : end + 1], text[end + 1 :]


def without_blanks(name: str) -> str:
    """Return a name for comparison: small letters in standard forms, without blanks, line breaks and escapes."""
    standard = unicodedata.normalize("NFKC", unescaped(name)).casefold()
    return "".join(sign for sign in standard if sign.isprintable() and not sign.isspace()) or name


# Names of columns as they are typed: one form for the command line, policies, the console and Python.
#
# A name that no list of names takes as it is stands in double quotes, with the escapes of Python and YAML for what no
# shell, no line and no eye would keep: a line break, a tab, a no-break space. Messages print that form.

_ESCAPE = r"\\(?:[\\nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})"
_JOINERS = "\u200c\u200d"  # ordinary spelling in Persian, Indic scripts and emoji


def typed(name: str) -> str:
    r"""Return a column's name as lists of names take it: in double quotes, with escapes, unless it is a plain word.

    Example:
        >>> print(typed("marital-status"), typed("last, first"), typed("Age\nin Years"), typed("it's"))
        marital-status "last, first" "Age\nin Years" "it\x27s"
    """
    is_word = name.replace("_", "a").replace("-", "a").isalnum() and not name.startswith("-")
    return name if is_word else in_quotes(name)


def option_value(names: Iterable[str]) -> str:
    """Return columns as the command line takes them, quoted for a shell."""
    return shlex.quote(",".join(map(typed, names)))


def in_quotes(name: str) -> str:
    """Return a column's name in double quotes, as an expression has it that is typed."""
    return '"' + "".join(map(_typed_sign, name)) + '"'


def _typed_sign(sign: str) -> str:
    """Return a character of a name in double quotes. The apostrophe has an escape as well, for shells and messages."""
    if sign in "\\\"'":
        return {"\\": "\\\\", '"': '""', "'": "\\x27"}[sign]
    return sign if sign.isprintable() or sign in _JOINERS else sign.encode("unicode_escape").decode()


def shown(name: str) -> str:
    """Return a column's name as messages have it: what is between the apostrophes is typed.

    Example:
        >>> print(shown("age"), shown("last, first"))
        'age' '"last, first"'
    """
    return f"'{typed(name)}'"


def unescaped(text: str) -> str:
    """Return a text with the characters in place of their escapes."""
    return re.sub(_ESCAPE, lambda escape: escape[0].encode().decode("unicode_escape"), text) if "\\" in text else text


def untyped(text: str) -> str:
    """Return the name that a text in double quotes types; any other text, such as an expression, stays as it is.

    Example:
        >>> untyped('"Age in Years"'), untyped("age"), untyped('"a" || "b"')
        ('Age in Years', 'age', '"a" || "b"')
    """
    inner = text[1:-1]
    is_quoted = len(text) > 2 and text[0] == text[-1] == '"' and '"' not in inner.replace('""', "")
    return unescaped(inner.replace('""', '"')) if is_quoted else text

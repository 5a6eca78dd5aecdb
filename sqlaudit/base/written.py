"""SQL of users as they wrote it: functions keep their names, and nothing of the text gets lost on its way.

sqlglot knows functions of many products and spells them for the one at hand. For a user's text that is a danger: of
`to_char(birth, 'YYYY-MM')` it makes CAST(birth AS TEXT) for DuckDB, so that an audit is about other classes than those
that were written. So a text is read a second time, by a parser that knows hardly any function, and every word of it
must stand in the SQL that runs.
"""

from __future__ import annotations

import inspect
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token

from sqlaudit.base.dialects import spoken
from sqlaudit.base.errors import MissingDriver, UsageError

_SAME = ("COUNT", "SUM", "AVG", "YEAR", "MONTH", "DAY", "COALESCE", "NULLIF", "IFNULL", "NVL", "POWER", "POW")
_BUILT = ("ARRAY", "STRUCT", "MAP")
"""Functions whose spelling means alike in every dialect: `year(birth)` is EXTRACT in PostgreSQL."""
_RENAMED = ("INITCAP", "CHR", "DECODE", "DATE_PART", "JSON_VALUE", "CONVERT", "MATCH", "NORMALIZE")
"""Functions with a parser of their own that changes what they are, and that are written like any other."""
_RESPELLED = frozenset({"both", "leading", "trailing", "dow", "doy", "at"})
"""Words of TRIM, EXTRACT and AT TIME ZONE that some dialects say as another function, or by another name."""
_CARRYING = frozenset({"NUMBER", "STRING", "IDENTIFIER", "VAR"})
_JOINED = frozenset("_" + string.ascii_letters)
_WORD = re.compile(r"\w+")


class MisreadError(UsageError):
    """SQL of a user of which something would be left out when it runs, so that it would mean something else."""


def written_tree(text: str, dialect: str) -> list[exp.Expr | None]:
    """The statements of a text; functions are not known, so that each is spelled as it was written.

    Raises:
        sqlglot.errors.SqlglotError: it cannot be read.
        RecursionError: it is nested too deeply.

    Example:
        >>> [tree.sql("duckdb") for tree in written_tree("SELECT to_char(birth, 'YYYY')", "duckdb") if tree]
        ["SELECT TO_CHAR(birth, 'YYYY')"]
    """
    return sqlglot.parse(text, dialect=_plain(dialect))


def lost(text: str, tree: exp.Expr, dialect: str, *, names: bool = True) -> str:
    """The first word of a text that the SQL of its tree lacks; empty when all of them are there.

    Numbers, texts and quoted names count, plain names only where nothing but an expression stands: words like NULLS
    LAST look like names. Keywords, types and the names of functions may be spelled in another way.

    Example:
        >>> lost("SELECT income < 50_000", sqlglot.parse_one("SELECT income < 50"), "duckdb")
        '50000'
    """
    there = Counter(_words([tree.sql(dialect=dialect, comments=False)]))
    for token in _carried(text, dialect, names):
        for word in _words([token]):
            if word in _RESPELLED:
                continue
            if not there[word]:
                return word
            there[word] -= 1
    return ""


def refuse_lost(text: str, tree: exp.Expr, dialect: str, option: str, *, names: bool = True) -> None:
    """Nothing when every word of a text stands in the SQL of its tree.

    Raises:
        MisreadError: one does not; the sentence names it.
    """
    word = lost(text, tree, dialect, names=names)
    if word:
        raise MisreadError(
            f"{option}: {word!r} would get lost where this is read as {spoken(dialect).title} SQL; write it "
            "in another way."
        )


def refuse_joined(tokens: Sequence[Token], option: str) -> None:
    """Refuse `50_000` and `0x1F` where a dialect has no such numbers: 50 and 0 with a new name would be left.

    Raises:
        MisreadError: there is one.
    """
    for number, after in pairwise(tokens):
        if number.token_type is TokenType.NUMBER and after.start == number.end + 1 and after.text[:1] in _JOINED:
            raise MisreadError(
                f"{option}: a number runs into a word; write numbers in digits alone: 50000, not 50_000."
            )


def refuse_alias(root: exp.Expression, option: str) -> None:
    """Refuse a name that an expression is given: `sex zip` is `sex`, called zip.

    Raises:
        MisreadError: there is one; the sentence names it.
    """
    named = root.find(exp.Alias, exp.Aliases)
    if named is not None:
        raise MisreadError(
            f"{option}: {named.alias or named.sql()!r} would only be a new name (an alias) for what stands before it, "
            "and be ignored. Put a comma between columns, AND between conditions, double quotes around a name with "
            "blanks."
        )


def with_units(written: exp.Expression, read: exp.Expression) -> exp.Expression:
    """The expression with words that only look like columns, as MONTH in `datediff(MONTH, a, b)`, as plain words."""
    names = {column.name for column in read.find_all(exp.Column)}
    for column in list(written.find_all(exp.Column)):
        if column.name not in names and column is not written:
            column.replace(exp.Var(this=column.name))
    return written


def read_statements(text: str, dialect: str, option: str) -> list[exp.Expression]:
    """The statements of a text, read so that nothing of it gets lost; they may be of any kind.

    Raises:
        MisreadError: a number runs into a word, or a word of the text would be lost.
        SqlglotError: it cannot be read.
        RecursionError: it is nested too deeply.
    """
    refuse_joined(sqlglot.tokenize(text, dialect=dialect), option)
    trees = [tree for tree in written_tree(text, dialect) if isinstance(tree, exp.Expression)]
    refuse_lost(text, exp.Tuple(expressions=[tree.copy() for tree in trees]), dialect, option, names=False)
    return trees


def _carried(text: str, dialect: str, names: bool) -> list[str]:
    tokens = sqlglot.tokenize(text, dialect=dialect)
    followed = [*(token.text for token in tokens[1:]), ""]
    return [
        token.text
        for token, after in zip(tokens, followed, strict=False)  # an empty text has no token, and so nothing after it
        if token.token_type.name in _CARRYING and not (token.token_type.name == "VAR" and (after == "(" or not names))
    ]


def _words(texts: Sequence[str]) -> list[str]:
    """The words of texts; digits may be grouped by underscores."""
    found = [word.casefold() for text in texts for word in _WORD.findall(text)]
    return [word.replace("_", "") if word[0].isdigit() else word for word in found]


@cache
def _plain(dialect: str) -> Any:
    """The dialect, with a parser that knows hardly any function.

    Raises:
        MissingDriver: sqlglot is compiled, so that its parser can't be changed.
    """
    known = type(Dialect.get_or_raise(dialect))
    parser = known.parser_class
    if not inspect.isfunction(parser.parse):
        raise MissingDriver(
            "SQL of yours can't be read with sqlglot's compiled form, whose parser cannot be told to leave functions "
            "as they are written: pip uninstall sqlglotc, or give sqlaudit an environment of its own."
        )
    changed = {
        "FUNCTIONS": {name: made for name, made in parser.FUNCTIONS.items() if name in (*_SAME, *_BUILT)},
        "FUNCTION_PARSERS": {name: read for name, read in parser.FUNCTION_PARSERS.items() if name not in _RENAMED},
    }
    return type(f"Written{known.__name__}", (known,), {"Parser": type("WrittenParser", (parser,), changed)})

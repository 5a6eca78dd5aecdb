"""SQL that users write: one SELECT or one expression that only reads, run as it is written, and its divisions."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import string
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import DivisionWarning, MissingDriver, UsageError
from sqlaudit.base.names import spoken
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import ColumnInfo, Kind, Remark

# SQL of users as they wrote it: functions keep their names, and no part of the text is lost.
#
# sqlglot knows functions of many products and translates them for the current one. For a user's text that is a danger:
# it makes CAST(birth AS TEXT) of `to_char(birth, 'YYYY-MM')` for DuckDB, so an audit would have other classes than the
# user wrote. So a text is read a second time, by a parser that knows hardly any function, and each word of it must be
# in the SQL that runs.

_SAME = ("COUNT", "SUM", "AVG", "YEAR", "MONTH", "DAY", "COALESCE", "NULLIF", "IFNULL", "NVL", "POWER", "POW")
_BUILT = ("ARRAY", "STRUCT", "MAP")
"""Functions whose spelling means the same in all dialects: `year(birth)` is EXTRACT in PostgreSQL."""
_RENAMED = ("INITCAP", "CHR", "DECODE", "DATE_PART", "JSON_VALUE", "CONVERT", "MATCH", "NORMALIZE")
"""Functions with a parser of their own that changes their meaning, and that are written like any other function."""
_RESPELLED = frozenset({"both", "leading", "trailing", "dow", "doy", "at"})
"""Words of TRIM, EXTRACT and AT TIME ZONE that some dialects write as another function, or with another name."""
_CARRYING = frozenset({"NUMBER", "STRING", "IDENTIFIER", "VAR"})
_JOINED = frozenset("_" + string.ascii_letters)
_WORD = re.compile(r"\w+")


class MisreadError(UsageError):
    """SQL of a user with a part that would be left out when it runs, so that it would mean something else."""


def written_tree(text: str, dialect: str) -> list[exp.Expr | None]:
    """Return the statements of a text, parsed without knowledge of functions, so that each keeps its spelling.

    Raises:
        sqlglot.errors.SqlglotError: it cannot be read.
        RecursionError: it is nested too deeply.

    Example:
        >>> [tree.sql("duckdb") for tree in written_tree("SELECT to_char(birth, 'YYYY')", "duckdb") if tree]
        ["SELECT TO_CHAR(birth, 'YYYY')"]
    """
    return sqlglot.parse(text, dialect=_plain_dialect(dialect))


def refuse_lost(text: str, tree: exp.Expr, dialect: str, option: str, *, names: bool = True) -> None:
    """Raise MisreadError if a word of a text is not in the SQL of its tree.

    Numbers, texts and quoted names are compared, and plain names (`names`) only in an expression, since words like
    NULLS LAST look like names. Keywords, types and the names of functions may be spelled in another way.

    Raises:
        MisreadError: a word is missing; the message names it.

    Example:
        >>> refuse_lost("SELECT income < 50_000", sqlglot.parse_one("SELECT income < 50"), "duckdb", "--where")
        Traceback (most recent call last):
        sqlaudit.base.guard.MisreadError: --where: '50000' cannot be translated to DuckDB SQL without \
changing its meaning. Write it in another way.
    """
    remaining = Counter(_words([tree.sql(dialect=dialect, comments=False)]))
    for word in _words(_tokens_to_keep(text, dialect, names)):
        if not remaining[word] and word not in _RESPELLED:
            raise MisreadError(
                f"{option}: {word!r} cannot be translated to {spoken(dialect).title} SQL without changing its "
                "meaning. Write it in another way."
            )
        remaining[word] -= 1


def refuse_joined(tokens: Sequence[Token], option: str) -> None:
    """Refuse `50_000` and `0x1F` if a dialect has no such numbers: it would read 50 and 0 with an alias.

    Raises:
        MisreadError: there is one.
    """
    for number, after in pairwise(tokens):
        if number.token_type is TokenType.NUMBER and after.start == number.end + 1 and after.text[:1] in _JOINED:
            raise MisreadError(
                f"{option}: a number runs into a word. Write numbers with digits only: 50000, not 50_000."
            )


def refuse_alias(root: exp.Expression, option: str) -> None:
    """Refuse an alias of an expression: `sex zip` is `sex` with the name zip.

    Raises:
        MisreadError: there is one; the message names it.
    """
    named = root.find(exp.Alias, exp.Aliases)
    if named is not None:
        raise MisreadError(
            f"{option}: {named.alias or named.sql()!r} is an alias here, which has no effect. Put commas between "
            "columns, AND between conditions, and double quotes around a name with spaces."
        )


def with_units(written: exp.Expression, read: exp.Expression) -> exp.Expression:
    """Return the expression with words that only look like columns, as MONTH in `datediff(MONTH, a, b)`, as words."""
    names = {column.name for column in read.find_all(exp.Column)}
    for column in list(written.find_all(exp.Column)):
        if column.name not in names and column is not written:
            column.replace(exp.Var(this=column.name))
    return written


def read_statements(text: str, dialect: str, option: str) -> list[exp.Expression]:
    """Return the statements of a text, of any kind, read without loss.

    Raises:
        MisreadError: a number runs into a word, or a word of the text would be lost.
        SqlglotError: it cannot be read.
        RecursionError: it is nested too deeply.
    """
    refuse_joined(sqlglot.tokenize(text, dialect=dialect), option)
    trees = [tree for tree in written_tree(text, dialect) if isinstance(tree, exp.Expression)]
    refuse_lost(text, exp.Tuple(expressions=[tree.copy() for tree in trees]), dialect, option, names=False)
    return trees


def _tokens_to_keep(text: str, dialect: str, names: bool) -> list[str]:
    """Return the tokens of a text that must not be lost: numbers, texts, quoted names, and plain names if `names`."""
    tokens = sqlglot.tokenize(text, dialect=dialect)
    followed = [*(token.text for token in tokens[1:]), ""]
    return [
        token.text
        for token, following in zip(tokens, followed, strict=False)  # an empty text has no token
        if token.token_type.name in _CARRYING
        and not (token.token_type.name == "VAR" and (following == "(" or not names))
    ]


def _words(texts: Sequence[str]) -> list[str]:
    """Return the words of texts; digits may be grouped by underscores."""
    words = [word.casefold() for text in texts for word in _WORD.findall(text)]
    return [word.replace("_", "") if word[0].isdigit() else word for word in words]


@cache
def _plain_dialect(dialect: str) -> Any:
    """Return the dialect with a parser that knows hardly any function.

    Raises:
        MissingDriver: sqlglot is compiled, so its parser cannot be changed.
    """
    original = type(Dialect.get_or_raise(dialect))
    parser = original.parser_class
    if not inspect.isfunction(parser.parse):
        raise MissingDriver(
            "The compiled form of sqlglot cannot read your SQL, because it rewrites functions. Run pip uninstall "
            "sqlglotc, or install sqlaudit in an environment of its own."
        )
    changes = {
        "FUNCTIONS": {name: build for name, build in parser.FUNCTIONS.items() if name in (*_SAME, *_BUILT)},
        "FUNCTION_PARSERS": {name: read for name, read in parser.FUNCTION_PARSERS.items() if name not in _RENAMED},
    }
    return type(f"Written{original.__name__}", (original,), {"Parser": type("WrittenParser", (parser,), changes)})


# The guard for SQL that users write: one SELECT, or one expression, that only reads.
#
# The guard is not the protection (a function may have side effects that no parser sees): the engines' own read-only
# modes are. It turns honest mistakes into one clear message. SQL that passes is written again from the parsed tree, so
# an engine runs exactly what the guard has read; and no part of the text is left out.

_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into)
Reader = Callable[..., Sequence[Any]]
RANDOM = (
    *("random", "rand", "randn", "random_normal", "randstr", "uniform", "shuffle", "uuid", "uuidv4", "uuidv7"),
    *("gen_random_uuid", "uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4", "nextval", "clock_timestamp"),
    "monotonically_increasing_id",
)
"""Functions that return other values at each call, on any engine. An audit reads its rows several times."""
_OPENINGS = {"SELECT", "WITH", "FROM", "TABLE", "("}
DEEPEST = 60
"""The largest depth to which SQL of users may be nested, since parsers and databases recurse."""
_BRACKETS = 40
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class NotASelect(UsageError):
    """A statement that is not a SELECT.

    Args:
        what: its kind: `a DROP statement`.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{about('query')} takes one SELECT, not {what}.")
        self.what = what


class RandomRowsError(UsageError):
    """SQL that gives other rows each time it is read.

    Args:
        what: the SQL, as the message calls it. cause: the function or clause that gives other rows.
    """

    def __init__(self, what: str, cause: str) -> None:
        super().__init__(
            f"{what} returns different rows each time it is read, because of {cause}. Store its result in a table, "
            "and name that table."
        )


def guard_query(text: str, dialect: str) -> exp.Query:
    """Return the parsed query if `text` is one SELECT that only reads.

    Raises:
        UsageError: it does not parse, has several statements, or is not a plain query.

    Example:
        >>> guard_query("select a from t", "duckdb").sql()
        'SELECT a FROM t'
    """
    return _read_query(text, dialect).copy()  # callers may change it


@functools.lru_cache(maxsize=64)
def _read_query(text: str, dialect: str) -> exp.Query:
    """Return the query of a text that is one SELECT and only reads. It is cached, so callers must not change it."""
    words = _first_words(text, dialect, about("query"))
    if len(words) != 1:
        raise UsageError(f"{about('query')} takes one SELECT; this text has {len(words) or 'no'} statements.")
    if words[0] not in _OPENINGS:
        raise _not_a_select_error(words[0])
    root = _parse(text, dialect, about("query"))
    if not isinstance(root, exp.Query):
        raise _not_a_select_error(root.key.upper())
    _refuse_writes(root, about("query"))
    _refuse_outside(root, dialect, about("query"))
    # sqlglot may rewrite functions of the tree that was checked; what runs is a second one, as it was written
    written = _read_as_written(text, dialect, about("query"), names=False)
    assert isinstance(written, exp.Query)
    return written


def guard_expression(text: str, dialect: str, option: str) -> exp.Expression:
    """Return the parsed expression if `text` is a single one over the row's own columns.

    Args:
        text: the text of the user, for instance `year(birth)`.
        dialect: the sqlglot name of the engine's dialect.
        option: how errors call the text, for instance `--where`.

    Raises:
        UsageError: it does not parse, or holds a subquery, an aggregate, a window, an alias, or a second statement.

    Example:
        >>> guard_expression("year(birth) = 1980", "duckdb", "--where").sql()
        'YEAR(birth) = 1980'
    """
    return _read_expression(text, dialect, option).copy()


@functools.lru_cache(maxsize=256)
def _read_expression(text: str, dialect: str, option: str) -> exp.Expression:
    """Return the expression of a text, which callers must not change."""
    if len(_first_words(text, dialect, option)) != 1:
        raise UsageError(f"{option} takes one expression over the table's columns.")
    select = _parse("SELECT " + text, dialect, option)
    clauses = [key for key, value in select.args.items() if value]
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or clauses != ["expressions"]:
        raise UsageError(f"{option} takes one expression over the table's columns.")
    expression = select.expressions[0]
    refuse_alias(expression, option)
    _refuse_writes(expression, option)
    _refuse_outside(expression, dialect, option)
    if list(expression.find_all(exp.Query, exp.AggFunc, exp.Window, exp.Star)):
        raise UsageError(
            f"{option} takes an expression over the columns of one row, without subquery, aggregate or window."
        )
    written = _read_as_written("SELECT " + text, dialect, option).expressions[0]
    refuse_alias(written, option)
    return with_units(written, expression)


def names_cte(table: exp.Table) -> bool:
    """Return True if a name without a schema means a CTE of the query around it, and not a table of the database.

    Example:
        >>> query = guard_query("WITH p AS (SELECT * FROM p) SELECT * FROM p", "postgres")
        >>> [names_cte(table) for table in query.find_all(exp.Table, bfs=False)]
        [True, False]
    """
    name = table.name if table.this.quoted else table.name.lower()
    inside: exp.Expr = table
    node = table.parent
    while node is not None:
        if isinstance(node, exp.With):
            ends = next((position for position, cte in enumerate(node.expressions) if cte is inside), 0)
            seen = node.expressions if node.recursive else node.expressions[:ends]
        elif isinstance(inside, exp.With):  # its tables were compared with the WITH itself
            seen = []
        else:
            around = node.args.get("with_") or node.args.get("with")
            seen = around.expressions if isinstance(around, exp.With) else []
        aliases = (cte.args["alias"].this for cte in seen)
        if any(name == (alias.name if alias.quoted else alias.name.lower()) for alias in aliases):
            return True
        inside, node = node, node.parent
    return False


def _not_a_select_error(word: str) -> UsageError:
    """Return the error for a statement that begins with this word."""
    near = difflib.get_close_matches(word.upper(), ["SELECT", "WITH", "FROM", "VALUES"], 1, 0.7)
    hint = f", perhaps meant as {near[0]}" if near and near[0] != word.upper() else ""
    return NotASelect(f"{'an' if word[:1] in 'AEIOU' else 'a'} {word} statement{hint}")


def _unreadable_error(option: str, dialect: str, where: str = "") -> UsageError:
    return UsageError(f"{option} could not be read as {spoken(dialect).title} SQL{where}.")


def _first_words(text: str, dialect: str, option: str) -> list[str]:
    """Refuse text that is too deep, has joined numbers or draws random rows; return the first word of each statement.

    Tokens are checked before parsing, since sqlglot logs what it does not know.
    """
    try:
        tokens = sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError:
        raise _unreadable_error(option, dialect) from None
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth > _BRACKETS:
            raise too_deep(option)
    refuse_joined(tokens, option)
    cause = _random_in([token.text.lower() for token in tokens if token.token_type.name != "STRING"])
    if cause:
        raise RandomRowsError(option, cause)
    # A word is the first one at the start of the text, and after each ;
    ends = [token.token_type.name == "SEMICOLON" for token in tokens]
    starts = [True, *ends[:-1]]
    return [token.text.upper() for token, end, start in zip(tokens, ends, starts, strict=False) if start and not end]


def _read_as_written(text: str, dialect: str, option: str, *, names: bool = True) -> exp.Expression:
    """Return the statement with its functions as they were written."""
    tree = _parse(text, dialect, option, written_tree)
    _refuse_outside(tree, dialect, option)
    refuse_lost(text, tree, dialect, option, names=names)
    return tree


def _parse(text: str, dialect: str, option: str, reader: Reader = sqlglot.parse) -> exp.Expression:
    """Return the tree of the only statement of a text; raise UsageError if it cannot be read."""
    try:
        parsed = reader(text, dialect=dialect)
    except SqlglotError as error:
        first = (getattr(error, "errors", None) or [{}])[0]
        where = f" (line {first['line']}, column {first.get('col')})" if first.get("line") else ""
        raise _unreadable_error(option, dialect, where) from None
    except RecursionError:
        raise too_deep(option) from None
    trees = [node for node in parsed if isinstance(node, exp.Expression) and not isinstance(node, exp.Semicolon)]
    if len(trees) != 1:
        raise _unreadable_error(option, dialect)
    refuse_deep(trees[0], option)
    return trees[0]


def refuse_deep(tree: exp.Expr, option: str) -> None:
    """Refuse a tree that is nested so deeply that writing it as SQL could exceed the stack.

    Chains of one kind of operator (`a AND b AND c …`) may be long: they are written without recursion.

    Raises:
        UsageError: it is nested more than `DEEPEST` deep.

    Example:
        >>> refuse_deep(sqlglot.parse_one("a" + " + a" * 500), "--where")
    """
    open_nodes = [(tree, 0)]
    while open_nodes:
        node, depth = open_nodes.pop()
        if depth > DEEPEST:
            raise too_deep(option)
        is_chain = isinstance(node, exp.Binary) and not isinstance(node, exp.Dot)
        for child in node.iter_expressions():
            same = is_chain and isinstance(child, exp.Binary)
            open_nodes.append((child, depth if same else depth + 1))


def too_deep(option: str) -> UsageError:
    """Return the error for SQL that is nested too deeply to be read."""
    return UsageError(f"{option} is nested too deeply.")


def refuse_random_views(names: Iterable[str], definitions: Mapping[str, str], dialect: str) -> None:
    """Refuse views that give other rows each time they are read.

    Args:
        names: the names of relations that are read. definitions: the SQL of views and macros, by lower-case name.

    Raises:
        RandomRowsError: one of them, or one that it reads, has random values or a sample.

    Example:
        >>> refuse_random_views(["V"], {"v": "SELECT * FROM w", "w": "SELECT 'random()' AS a"}, "duckdb")
    """
    pending, seen = [name.lower() for name in names], set[str]()
    while pending:
        name = pending.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        words = [
            token.text.lower()
            for token in sqlglot.tokenize(definitions[name], dialect=dialect)
            if token.token_type.name != "STRING"
        ]
        cause = _random_in(words)
        if cause:
            raise RandomRowsError(f"The view or macro {name!r}", cause)
        pending += words


def _random_in(words: Sequence[str]) -> str:
    """Return the first word by which SQL gives other rows each time; empty if there is none."""
    for word, next_word in pairwise((*words, "")):
        if next_word == "(" and word in RANDOM:
            return f"{word}()"
        if word in ("tablesample", "using sample") or (word, next_word) == ("using", "sample"):
            return "TABLESAMPLE"
    return ""


def _refuse_writes(root: exp.Expression, option: str) -> None:
    """Refuse a tree that writes or locks."""
    for node in root.walk():
        if isinstance(node, _WRITES):
            raise UsageError(f"{option} may only read, but it contains {node.key.upper()}.")
        if isinstance(node, exp.Lock):
            raise UsageError(f"{option} may only read. Leave out FOR UPDATE or FOR SHARE.")


def _refuse_outside(root: exp.Expression, dialect: str, option: str) -> None:
    """Refuse functions that access more than tables; a script of TRANSFORM runs as a program of the machine."""
    outside = spoken(dialect).outside
    for node in root.find_all(exp.Func, exp.QueryTransform):
        if isinstance(node, exp.QueryTransform):
            raise UsageError(f"{option} may only read, but it contains TRANSFORM, which runs a program.")
        if function_name(node) in outside:
            raise UsageError(f"{option} may only read tables, but the function {function_name(node)} accesses more.")


# Divisions of whole numbers: PostgreSQL drops the fraction, DuckDB and Spark keep it.

DIVISION = "division_of_whole_numbers"
"""The code of these remarks in results."""
_CUTTING = ("floor", "trunc")
"""Functions of a quotient with the same result on all engines, for numbers that are not negative."""
_COUNTING = ("length", "char_length", "character_length", "octet_length", "ascii", "strpos", "position", "strposition")
_KEEPING = ("abs", "mod", "greatest", "least", "coalesce", "nullif")
_JOINING = (exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div, exp.IntDiv, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)


def remark_on(tree: exp.Expr, kinds: Mapping[str, Kind], dialect: str, what: str, *, show_numbers: bool = True) -> str:
    """Return the remark on an expression that divides whole numbers; empty if it does not.

    Args:
        tree: the expression. kinds: the kinds of columns, by lower-case name. dialect: the engine's dialect.
        what: how the remark calls the expression. show_numbers: True if the remark may have numbers of it.

    Example:
        >>> (age,) = written_tree("SELECT age / 20", "postgres")
        >>> print(remark_on(age, {"age": Kind.INTEGER}, "postgres", "age / 20"))
        age / 20 divides whole numbers: PostgreSQL returns whole numbers, where DuckDB and Spark return fractions. \
Write floor(age / 20.0) for whole numbers, age / 20.0 for fractions.
    """
    for division in tree.find_all(exp.Div):
        if _is_whole(division.this, kinds) and _is_whole(division.expression, kinds) and not _is_cut(division):
            advice = _advise(division, dialect, show_numbers)
            return f"{what} divides whole numbers: {spoken(dialect).division}. {advice}"
    return ""


def remark_on_text(sql: str, columns: Iterable[ColumnInfo], dialect: str, what: str) -> str:
    """Return the remark on SQL over a relation's columns that divides whole numbers; empty if it does not."""
    (select,) = written_tree("SELECT " + sql, dialect)
    return "" if select is None else remark_on(select, kinds_of(columns), dialect, what)


def condition_remarks(tree: exp.Expr | None, columns: Iterable[ColumnInfo], dialect: str) -> tuple[Remark, ...]:
    """Return the remarks on a --where: that it selects rows, and on its divisions. The latter is also a warning,
    without numbers.
    """
    if tree is None:
        return ()
    selected = "Only rows that meet a condition were read. The verdict does not cover the others."
    remark = remark_on(tree, kinds_of(columns), dialect, about("where"), show_numbers=False)
    warn(remark)
    return (Remark("selected_rows", selected), *([Remark(DIVISION, remark)] if remark else ()))


def kinds_of(columns: Iterable[ColumnInfo]) -> dict[str, Kind]:
    """Return the kinds of columns, by lower-case name."""
    return {column.name.lower(): column.kind for column in columns}


def warn(remark: str) -> None:
    """Issue a remark as a `DivisionWarning`, unless it is empty."""
    if remark:
        warnings.warn(remark, DivisionWarning, stacklevel=2)


def _advise(division: exp.Div, dialect: str, show_numbers: bool) -> str:
    """Return how to write a division so that all engines do the same."""
    if not show_numbers:
        return (
            "For fractions, write the divisor with a decimal point (2.0); for whole numbers, put floor() around that."
        )
    left, right = (_write_readably(side, dialect) for side in (division.this, division.expression))
    exact = right + ".0" if isinstance(division.expression, exp.Literal) else f"({right} * 1.0)"
    whole_division = spoken(dialect).whole_division.format(left=left, right=right, exact=exact)
    return f"Write {whole_division} for whole numbers, {left} / {exact} for fractions."


def _write_readably(node: exp.Expr, dialect: str) -> str:
    """Return SQL without the quotes that plain names do not need."""
    copied = node.copy()
    for name in copied.find_all(exp.Identifier):
        if name.name.isidentifier() and name.name.islower():
            name.set("quoted", False)
    return str(copied.sql(dialect=dialect))


def _is_cut(division: exp.Div) -> bool:
    parent = division.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return parent is not None and function_name(parent) in _CUTTING


def function_name(node: exp.Expr) -> str:
    """Return the name of a function in lower case, or of another node that of its class."""
    return node.name.lower() if isinstance(node, exp.Anonymous) else str(node.key)


def _is_whole(node: exp.Expr, kinds: Mapping[str, Kind]) -> bool:
    """Return True if a node gives whole numbers on all engines."""
    if isinstance(node, exp.Literal):
        return not node.is_string and node.name.isdecimal()
    if isinstance(node, exp.Column):
        return _kind(node, kinds) is Kind.INTEGER
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.INTEGER_TYPES
    if isinstance(node, exp.Sub) and all(_kind(side, kinds) is Kind.DATE for side in (node.this, node.expression)):
        return True
    parts = _parts(node)
    return function_name(node) in _COUNTING or (bool(parts) and all(_is_whole(part, kinds) for part in parts))


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a node that gives whole numbers if all of them do; none for other nodes."""
    if isinstance(node, exp.Case):
        results = [case.args["true"] for case in node.args["ifs"]] + [node.args.get("default") or exp.null()]
        return [branch for branch in results if not isinstance(branch, exp.Null)]
    if isinstance(node, (exp.Paren, exp.Neg, *_JOINING)) or function_name(node) in _KEEPING:
        return list(node.iter_expressions())
    return []


def _kind(node: exp.Expr, kinds: Mapping[str, Kind]) -> Kind | None:
    return kinds.get(node.name.lower()) if isinstance(node, exp.Column) else None

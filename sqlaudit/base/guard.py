"""The guard for SQL that users write: one SELECT, or one expression, and nothing that writes.

The guard is not the wall (a function may have side effects that no parser sees): the engines' own read-only
modes are. It turns honest mistakes into one clear sentence. What passes is spelled anew from the parsed tree, so
an engine runs exactly what the guard has seen; and nothing of what was written is left out on the way (`written.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.dialects import spoken
from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import about
from sqlaudit.base.written import refuse_alias, refuse_joined, refuse_lost, with_units, written_tree

_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into)
Reader = Callable[..., Sequence[Any]]
_OPENINGS = {"SELECT", "WITH", "FROM", "TABLE", "("}
DEEPEST = 60
"""So deep SQL of users may be nested: parsers and databases recurse, and their stacks end somewhere."""
_BRACKETS = 40
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class NotASelect(UsageError):
    """A statement that is no SELECT.

    Args:
        what: what it is: `a DROP statement`.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{about('query')} takes one SELECT; this is {what}.")
        self.what = what


def guard_query(text: str, dialect: str) -> exp.Query:
    """The parsed query when `text` is one SELECT that writes nothing.

    Raises:
        UsageError: it does not parse, has several statements, or is not a plain query.

    Example:
        >>> guard_query("select a from t", "duckdb").sql()
        'SELECT a FROM t'
    """
    return _read_query(text, dialect).copy()  # whoever asks may change it


@functools.lru_cache(maxsize=64)
def _read_query(text: str, dialect: str) -> exp.Query:
    words = _statements(text, dialect, about("query"))
    if len(words) != 1:
        raise UsageError(f"{about('query')} takes one SELECT; this text holds {len(words) or 'no'} statements.")
    if words[0] not in _OPENINGS:
        raise _not_a_select(words[0])
    root = _parse(text, dialect, about("query"))
    if not isinstance(root, exp.Query):
        raise _not_a_select(root.key.upper())
    _refuse_writes(root, about("query"))
    _refuse_outside(root, dialect, about("query"))
    written = _written(text, dialect, about("query"), names=False)
    assert isinstance(written, exp.Query)
    return written


def guard_expression(text: str, dialect: str, option: str) -> exp.Expression:
    """The parsed expression when `text` is a single one that reads nothing but the row's own columns.

    Args:
        text: what the user wrote, for instance `year(birth)`.
        dialect: the sqlglot name of the engine's dialect.
        option: how the error calls the text, for instance `--where`.

    Raises:
        UsageError: it does not parse, or holds a subquery, an aggregate, a window, an alias, or a second statement.

    Example:
        >>> guard_expression("year(birth) = 1980", "duckdb", "--where").sql()
        'YEAR(birth) = 1980'
    """
    return _read_expression(text, dialect, option).copy()


@functools.lru_cache(maxsize=256)
def _read_expression(text: str, dialect: str, option: str) -> exp.Expression:
    if len(_statements(text, dialect, option)) != 1:
        raise UsageError(f"{option} takes one expression over the table's columns.")
    select = _parse("SELECT " + text, dialect, option)
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or _present(select) != ["expressions"]:
        raise UsageError(f"{option} takes one expression over the table's columns.")
    expression = select.expressions[0]
    refuse_alias(expression, option)
    _refuse_writes(expression, option)
    _refuse_outside(expression, dialect, option)
    if list(expression.find_all(exp.Query, exp.AggFunc, exp.Window, exp.Star)):
        raise UsageError(f"{option} takes an expression over the columns of one row: no subquery, aggregate or window.")
    written = _written("SELECT " + text, dialect, option).expressions[0]
    refuse_alias(written, option)
    return with_units(written, expression)


def names_cte(table: exp.Table) -> bool:
    """Whether a name without a schema means a WITH of the query around it, and not a table of the database.

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
            ends = next((place for place, cte in enumerate(node.expressions) if cte is inside), 0)
            seen = node.expressions if node.recursive else node.expressions[:ends]
        elif isinstance(inside, exp.With):  # its tables were compared with the WITH itself
            seen = []
        else:
            around = node.args.get("with_") or node.args.get("with")
            seen = around.expressions if isinstance(around, exp.With) else []
        if any(name == _folded(cte) for cte in seen):
            return True
        inside, node = node, node.parent
    return False


def _folded(cte: exp.CTE) -> str:
    alias = cte.args["alias"].this
    return str(alias.name if alias.quoted else alias.name.lower())


def _present(select: exp.Select) -> list[str]:
    return [key for key, value in select.args.items() if value]


def _not_a_select(word: str) -> UsageError:
    return NotASelect(f"{'an' if word[:1] in 'AEIOU' else 'a'} {word} statement")


def _unreadable(option: str, dialect: str, where: str = "") -> UsageError:
    return UsageError(f"{option} could not be read as {spoken(dialect).title} SQL{where}.")


def _statements(text: str, dialect: str, option: str) -> list[str]:
    """The first word of every statement; looked at before parsing, since sqlglot logs what it does not know."""
    try:
        tokens = sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError:
        raise _unreadable(option, dialect) from None
    _refuse_brackets((token.text for token in tokens), option)
    refuse_joined(tokens, option)
    ends = [token.token_type.name == "SEMICOLON" for token in tokens]
    starts = [True, *ends[:-1]]
    return [token.text.upper() for token, end, start in zip(tokens, ends, starts, strict=False) if start and not end]


def _written(text: str, dialect: str, option: str, *, names: bool = True) -> exp.Expression:
    """The statement with its functions as they were written."""
    tree = _parse(text, dialect, option, written_tree)
    _refuse_outside(tree, dialect, option)
    refuse_lost(text, tree, dialect, option, names=names)
    return tree


def _parse(text: str, dialect: str, option: str, reader: Reader = sqlglot.parse) -> exp.Expression:
    try:
        parsed = reader(text, dialect=dialect)
    except SqlglotError as error:
        raise _unreadable(option, dialect, _where(error)) from None
    except RecursionError:
        raise too_deep(option) from None
    found = [node for node in parsed if isinstance(node, exp.Expression) and not isinstance(node, exp.Semicolon)]
    if len(found) != 1:
        raise _unreadable(option, dialect)
    refuse_deep(found[0], option)
    return found[0]


def refuse_deep(tree: exp.Expr, option: str) -> None:
    """Refuse a tree that is nested so deeply that spelling it anew could end the stack.

    Chains of one kind of operator (`a AND b AND c …`) may be long: they are spelled without recursion.

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
    """The error for SQL that is nested too deeply to be read."""
    return UsageError(f"{option} is nested too deeply.")


def _refuse_brackets(texts: Iterable[str], option: str) -> None:
    depth = 0
    for text in texts:
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth > _BRACKETS:
            raise too_deep(option)


def _where(error: SqlglotError) -> str:
    details = getattr(error, "errors", None) or [{}]
    line, column = details[0].get("line"), details[0].get("col")
    return f" (line {line}, column {column})" if line else ""


def _refuse_writes(root: exp.Expression, option: str) -> None:
    for node in root.walk():
        if isinstance(node, _WRITES):
            raise UsageError(f"{option} may only read; it holds {node.key.upper()}.")
        if isinstance(node, exp.Lock):
            raise UsageError(f"{option} may only read; leave out FOR UPDATE or FOR SHARE.")


def _refuse_outside(root: exp.Expression, dialect: str, option: str) -> None:
    """Refuse what leaves the tables; a script of TRANSFORM runs as a program of the machine."""
    outside = spoken(dialect).outside
    for node in root.find_all(exp.Func, exp.QueryTransform):
        if isinstance(node, exp.QueryTransform):
            raise UsageError(f"{option} may only read; it holds TRANSFORM, which runs a program.")
        name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
        if name in outside:
            raise UsageError(f"{option} may only read tables; the function {name} reaches beyond them.")

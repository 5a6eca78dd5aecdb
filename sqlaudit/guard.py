"""The guard for SQL that users write: one SELECT, or one expression, and nothing that writes.

The guard is not the wall (a function may have side effects that no parser sees): the engines' own read-only
modes are. It turns honest mistakes into one clear sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.errors import UsageError

_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into)


def quote(name: str, dialect: str) -> str:
    """The one quoting function: an identifier exactly as named, safe in any position of a statement."""
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def guard_query(text: str, dialect: str) -> exp.Query:
    """The parsed query when `text` is one SELECT that writes nothing.

    Raises:
        UsageError: it does not parse, has several statements, or is not a plain query.
    """
    statements = [statement for statement in _parse(text, dialect, "--query") if statement is not None]
    if len(statements) != 1:
        raise UsageError(f"--query takes one SELECT; this text holds {len(statements)} statements.")
    root = statements[0]
    if not isinstance(root, exp.Query):
        raise UsageError(f"--query takes one SELECT; this is a {root.key.upper()} statement.")
    _refuse_writes(root, "--query")
    return root


def guard_expression(text: str, dialect: str, option: str) -> exp.Expression:
    """The parsed expression when `text` is a single one that reads nothing but the row's own columns.

    Raises:
        UsageError: it does not parse, or holds a subquery, an aggregate, a window, or a second statement.
    """
    parsed = [statement for statement in _parse(f"SELECT {text}", dialect, option) if statement is not None]
    select = parsed[0] if len(parsed) == 1 else None
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or set(_present(select)) != {"expressions"}:
        raise UsageError(f"{option} takes one expression over the table's columns.")
    expression = select.expressions[0]
    _refuse_writes(expression, option)
    if list(expression.find_all(exp.Query, exp.AggFunc, exp.Window, exp.Star)):
        raise UsageError(f"{option} takes an expression over the columns of one row: no subquery, aggregate or window.")
    return expression.unalias()  # type: ignore[no-any-return]


def closest(name: str, names: Iterable[str]) -> str:
    """A hint that names the closest of the known names, empty when none is close."""
    known = list(names)
    folded = {k.casefold(): k for k in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def _present(select: exp.Select) -> list[str]:
    return [key for key, value in select.args.items() if value]


def _parse(text: str, dialect: str, option: str) -> list[exp.Expression | None]:
    try:
        return list(sqlglot.parse(text, dialect=dialect))
    except SqlglotError as error:
        where = _where(error)
        raise UsageError(f"{option} could not be read as {dialect} SQL{where}.") from None


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

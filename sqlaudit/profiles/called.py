"""Functions of the audited database that a user's own SQL calls, to be named: their results are taken as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlaudit.base.result import Warned

if TYPE_CHECKING:
    from sqlglot import exp

_BUILT_IN = {"pg_catalog", "system", "builtin"}


def called_functions(texts: Iterable[str], dialect: str) -> tuple[str, ...]:
    """The functions and operators that are called with the schema they are in, in the order of the texts.

    Example:
        >>> called_functions(["clinic.main.band(age) + abs(zip)", "pg_catalog.lower(sex)"], "postgres")
        ('clinic.main.band',)
    """
    called = [text for text in texts if "(" in text and "." in text]  # as a call has, and OPERATOR(schema.+) too
    return tuple(dict.fromkeys(name for text in called for name in _named(text, dialect)))


def called_warning(texts: Iterable[str], dialect: str) -> list[Warned]:
    """The warning `function_of_the_database`, when there are such functions."""
    names = called_functions(texts, dialect)
    if not names:
        return []
    listed = ", ".join(names)
    return [
        Warned(
            "function_of_the_database",
            (),
            f"An expression, condition or query calls {listed} of the audited database: what it returns is taken as it "
            "is, so the verdict holds for the values that it gives.",
        )
    ]


def _named(text: str, dialect: str) -> list[str]:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
    except SqlglotError:  # a column's name, which is no expression
        return []
    return list(filter(None, map(_name, tree.find_all(exp.Dot, exp.Table, exp.Operator))))


def _name(node: exp.Expression) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Operator):
        parts = [part.strip('"') for part in str(node.args.get("operator") or "").split(".")]
    elif isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Func):
            return ""
        parts = [part.name for part in (node.args.get("catalog"), node.args.get("db")) if part] + [_function(node.this)]
    else:
        if not isinstance(node.expression, exp.Func) or isinstance(node.parent, exp.Dot):
            return ""
        parts = [part.name for part in node.flatten() if not isinstance(part, exp.Func)] + [_function(node.expression)]
    return ".".join(parts) if len(parts) > 1 and not _BUILT_IN & {part.lower() for part in parts[:-1]} else ""


def _function(call: exp.Func) -> str:
    from sqlglot import exp

    return call.name if isinstance(call, exp.Anonymous) else call.sql_name().lower()

"""From a template to a statement: Jinja renders, sqlglot spells it for the engine.

Templates are written in DuckDB's dialect. SQL that comes from the user or from an engine (a quoted table, an
expression over columns) is already in the engine's own dialect: it enters as `Raw`, travels through transpiling
as a placeholder identifier, and is put in unchanged afterwards.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2
import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect

from sqlaudit.base.relation import Statement
from sqlaudit.base.spark_spelling import for_spark

_HERE = Path(__file__).resolve().parents[1]
WIDE = {"duckdb": "HUGEINT", "postgres": "DECIMAL(38, 0)", "spark": "DECIMAL(38, 0)"}
"""The type in which products of counts never overflow."""
WIDEST = "DECIMAL(38, 0)"
"""The same where nothing wider is known."""
_PLACEHOLDER = "sqlaudit_raw_"
_PLACED = re.compile(rf"\b({_PLACEHOLDER}\d+)(_table)?\b")


@dataclass(frozen=True)
class Raw:
    """SQL that is already written in the engine's dialect: an expression or a FROM item."""

    sql: str


def template_folder() -> Path:
    """Where the templates are: inside the installed package, or beside it in a checkout."""
    installed = _HERE / "sql_templates"
    return installed if installed.is_dir() else _HERE.parent / "sql_templates"


@functools.cache
def environment() -> jinja2.Environment:
    """The Jinja environment of all templates: undefined names are errors, blocks leave no blank lines."""
    loader = jinja2.FileSystemLoader(template_folder())
    env = jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    env.globals["zip"] = zip
    return env


def render(template: str, dialect: str, *, step: str = "", plain_order: bool = False, **parameters: Any) -> Statement:
    """A template as one statement in the engine's dialect, headed by a comment that names its step.

    Args:
        template: the file's name in `sql_templates`, for instance `classes/totals.sql`.
        dialect: the sqlglot name of the dialect.
        step: the step's name; empty = the template's name.
        plain_order: whether places of NULLs in an order do not matter, and are left to the dialect.
        parameters: what the template needs; text from users or engines only as `Raw`.

    Raises:
        jinja2.UndefinedError: a parameter is missing.

    Example:
        >>> render("base/row_count.sql", "duckdb", source=Raw('"a table"')).sql.splitlines()[-1]
        'FROM "a table"'
    """
    raws: dict[str, str] = {}
    given = {name: _place(value, dialect, raws) for name, value in parameters.items()}
    text = environment().get_template(template).render(dialect=dialect, wide=WIDE.get(dialect, WIDEST), **given)
    if dialect != "duckdb":
        text = _spell(text, dialect, raws, plain_order)
    name = step or PurePosixPath(template).stem
    return Statement(name, f"/* sqlaudit: {name} */\n{text.strip()}")


def expression(template: str, dialect: str, **parameters: Any) -> str:
    """A template that holds one expression, as `render` makes it but without a heading.

    Example:
        >>> expression("hierarchies/hierarchy_mask.sql", "duckdb", value=Raw("zip"), count=2, keeps=False).count("zip")
        3
    """
    raws: dict[str, str] = {}
    given = {name: _place(value, dialect, raws) for name, value in parameters.items()}
    text = environment().get_template(template).render(dialect=dialect, **given).strip()
    return text if dialect == "duckdb" else _spell(text, dialect, raws)


def _place(value: Any, dialect: str, raws: dict[str, str]) -> Any:
    if isinstance(value, Raw):
        if dialect == "duckdb":
            return value.sql
        name = f"{_PLACEHOLDER}{len(raws)}"
        raws[name] = value.sql
        return name
    if isinstance(value, list | tuple):
        return [_place(item, dialect, raws) for item in value]
    if isinstance(value, dict):
        return {key: _place(item, dialect, raws) for key, item in value.items()}
    return value


def _spell(text: str, dialect: str, raws: dict[str, str], plain_order: bool = False) -> str:
    """The text in another dialect; placeholders become the engine's own SQL, letter by letter."""
    tables = frozenset(name for name, item in raws.items() if item.startswith("("))
    spelled = _spelled(text, dialect, plain_order, tables)
    return _PLACED.sub(lambda found: _put(raws, *found.groups()), spelled) if raws else spelled


@functools.lru_cache(maxsize=512)
def _spelled(text: str, dialect: str, plain_order: bool, subqueries: frozenset[str]) -> str:
    """The text in another dialect with its placeholders still in it, so that the same question is spelled once."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    if plain_order:
        _order_plainly(tree, dialect)
    if dialect == "spark":
        tree = for_spark(tree)
    for node in list(tree.find_all(exp.Column, exp.Table)):
        if not node.name.startswith(_PLACEHOLDER):
            continue
        if isinstance(node, exp.Table):
            node.set("this", exp.Var(this=f"{node.name}_table"))
            if node.this.name.removesuffix("_table") in subqueries and not node.alias:
                # PostgreSQL before 16 wants a name for every subquery
                node.set("alias", exp.TableAlias(this=exp.to_identifier("source")))
        else:
            node.replace(exp.Var(this=node.name))
    return tree.sql(dialect=dialect, pretty=True, unsupported_level=ErrorLevel.RAISE)


def _put(raws: Mapping[str, str], name: str, table: str | None) -> str:
    """What stands for a placeholder: a FROM item as it is, an expression so that it can stand beside any operator."""
    return raws[name] if table else _operand(raws[name])


def _order_plainly(tree: exp.Expr, dialect: str) -> None:
    """Put NULLs where the dialect puts them, so that it is not told where they go."""
    ordering = Dialect.get_or_raise(dialect).NULL_ORDERING
    for node in tree.find_all(exp.Ordered):
        falling = bool(node.args.get("desc"))
        node.set("nulls_first", ordering != "nulls_are_last" and falling == (ordering == "nulls_are_large"))


def _operand(sql: str) -> str:
    """An expression that can stand beside any operator."""
    is_name = any(sql.startswith(mark) and sql.endswith(mark) and sql.count(mark) == 2 for mark in '"`')
    return sql if is_name or sql.isidentifier() else "(" + sql + ")"

"""Translation of templates to other dialects than DuckDB's with sqlglot; raw SQL stays unchanged."""

from __future__ import annotations

import functools
import re

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect

from sqlaudit.base.names import PLACEHOLDER

# Differences of Spark SQL from the dialect of the templates.
#
# sqlglot translates the order of NULLs, integer division, types and most functions. This module changes what sqlglot
# leaves as it is and Spark would refuse, or read differently:
#
# - a CTE has no MATERIALIZED; Spark decides itself what is computed twice;
# - a number for each row without an order is `monotonically_increasing_id()`: unique, not consecutive, and no reason to
#   bring all rows into one partition as a window without PARTITION BY does;
# - an array is gathered in no order, and sorted afterwards, also to join texts: LISTAGG is of Spark 4.0;
# - arrays that are unnested side by side are zipped first;
# - an index beyond an array's end is an error (ANSI), so that elements are read with `try_element_at`;
# - a regular expression is Java's: `[[:space:]]` is no class there, and `$` matches before a last line end, too;
# - parameters stay $1, $2, …, which the engine binds.

DIALECT = "spark"


def for_spark(tree: exp.Expr) -> exp.Expr:
    """Return the tree of a template with changes for Spark; sqlglot writes it as SQL afterwards.

    Example:
        >>> import sqlglot
        >>> for_spark(sqlglot.parse_one("SELECT ROW_NUMBER() OVER () AS id, c[1]", dialect="duckdb")).sql("spark")
        'SELECT MONOTONICALLY_INCREASING_ID() AS id, TRY_ELEMENT_AT(c, 1)'
    """
    for cte in tree.find_all(exp.CTE):
        cte.set("materialized", None)
    for match in tree.find_all(exp.RegexpLike, exp.RegexpReplace):
        if isinstance(match.expression, exp.Literal):
            match.expression.replace(exp.Literal.string(_java_pattern(match.expression.this)))
    for window in list(tree.find_all(exp.Window)):
        parted = window.args.get("partition_by") or window.args.get("order") or window.args.get("alias")
        if isinstance(window.this, exp.RowNumber) and not parted:
            window.replace(exp.Anonymous(this="MONOTONICALLY_INCREASING_ID"))
    for select in tree.find_all(exp.Select):
        _unfold_together(select)
    for element in list(tree.find_all(exp.Bracket)):
        element.replace(_read_element(element))
    for gathered in list(tree.find_all(exp.ArrayAgg, exp.GroupConcat)):
        if isinstance(gathered.this, exp.Order):
            joined = isinstance(gathered, exp.GroupConcat)
            gathered.replace(_join_texts(gathered) if joined else _sort_array(gathered.this))
    for kind in tree.find_all(exp.DataType):
        if kind.this is exp.DataType.Type.INT128:
            kind.replace(exp.DataType.build("DECIMAL(38, 0)", dialect=DIALECT))
    for parameter in list(tree.find_all(exp.Parameter, exp.Placeholder)):
        parameter.replace(exp.Var(this="$" + parameter.name))
    return tree


def _java_pattern(pattern: str) -> str:
    r"""Return a regular expression of the templates for Java; templates write brackets instead of backslashes.

    Example:
        >>> print(_java_pattern("^[[:space:]]+$"))
        ^[\s]+\z
    """
    anchored = pattern[:-1] + r"\z" if pattern.endswith("$") else pattern
    return anchored.replace("[:space:]", r"\s")


def _unfold_together(select: exp.Select) -> None:
    """Zip arrays that are unnested side by side: Spark would combine each element with each of the others.

    Raises:
        ValueError: there is another item between them.
    """
    items = select.expressions
    indices = [index for index, item in enumerate(items) if isinstance(item.unalias(), exp.Unnest | exp.Explode)]
    if len(indices) < 2:
        return
    first, last = indices[0], indices[-1] + 1
    if last - first > len(indices):
        raise ValueError("on Spark, arrays that are unnested side by side stand side by side")
    unnested = items[first:last]
    arrays = [item.unalias() for item in unnested]
    zipped = _call(
        "ARRAYS_ZIP", *(array.expressions[0] if isinstance(array, exp.Unnest) else array.this for array in arrays)
    )
    names = [exp.to_identifier(item.alias) for item in unnested]
    together = exp.Aliases(this=_call("INLINE", zipped), expressions=names)
    select.set("expressions", [*items[:first], together, *items[last:]])


def _read_element(bracket: exp.Bracket) -> exp.Expr:
    """Return `list[i]` or `list[from:to]`, counted from 1, for Spark; sqlglot has subtracted 1 from literal indices."""
    index = bracket.expressions[0]
    if isinstance(index, exp.Slice):
        first, last = int(index.this.name), int(index.expression.name)
        return _call("SLICE", bracket.this, exp.Literal.number(first), exp.Literal.number(last - first + 1))
    if isinstance(index, exp.Literal) and index.is_int:
        index = exp.Literal.number(int(index.name) + 1)
    return _call("TRY_ELEMENT_AT", bracket.this, index)


def _sort_array(order: exp.Order) -> exp.Expr:
    """Return an array of values in their own order, for Spark. It gathers values in no order, and can only sort them
    afterwards.

    Raises:
        ValueError: the order is by something else, which sqlglot would leave out.
    """
    (by,) = order.expressions
    if by.this != order.this:
        raise ValueError("on Spark, an array is sorted by its own values alone")
    rising = exp.Boolean(this=not by.args.get("desc"))
    return _call("SORT_ARRAY", exp.ArrayAgg(this=order.this.copy()), rising)


def _join_texts(joined: exp.Expr) -> exp.Expr:
    """Return texts joined in an order, for Spark; NULL if there is none, as elsewhere. No text is empty.

    Raises:
        ValueError: the order is a falling one.
    """
    order, fields = joined.this, []
    for number, by in enumerate(order.expressions):
        if by.args.get("desc"):
            raise ValueError("on Spark, texts are joined in a rising order")
        fields += [exp.Literal.string(f"by_{number}"), by.this]
    rows = _call("NAMED_STRUCT", *fields, exp.Literal.string("text"), order.this)
    texts = exp.Dot(this=_call("SORT_ARRAY", _call("COLLECT_LIST", rows)), expression=exp.to_identifier("text"))
    return _call("NULLIF", _call("ARRAY_JOIN", texts, joined.args["separator"]), exp.Literal.string(""))


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


# Translation with placeholders for raw SQL, which stays unchanged.

_PLACEHOLDERS = re.compile(rf"\b({PLACEHOLDER}\d+)(_table)?\b")


def spell(text: str, dialect: str, raws: dict[str, str], plain_order: bool = False) -> str:
    """Return the text in another dialect; placeholders become the engine's own SQL, unchanged."""
    tables = frozenset(name for name, item in raws.items() if item.startswith("(") and item.endswith(")"))
    spelled = _translate(text, dialect, plain_order, tables)
    # a FROM item as it is, an expression so that it can stand beside any operator
    return _PLACEHOLDERS.sub(lambda match: raws[match[1]] if match[2] else _operand(raws[match[1]]), spelled)


@functools.lru_cache(maxsize=512)
def _translate(text: str, dialect: str, plain_order: bool, subqueries: frozenset[str]) -> str:
    """Return the text in another dialect with its placeholders, so that equal texts are translated once."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    if plain_order:
        _order_plainly(tree, dialect)
    if dialect == "spark":
        tree = for_spark(tree)
    for node in list(tree.find_all(exp.Column, exp.Table)):
        if not node.name.startswith(PLACEHOLDER):
            continue
        if isinstance(node, exp.Table):
            node.set("this", exp.Var(this=f"{node.name}_table"))
            if node.this.name.removesuffix("_table") in subqueries and not node.alias:
                # PostgreSQL before 16 wants a name for every subquery
                node.set("alias", exp.TableAlias(this=exp.to_identifier("source")))
        else:
            node.replace(exp.Var(this=node.name))
    return tree.sql(dialect=dialect, pretty=True, unsupported_level=ErrorLevel.RAISE, copy=False)


def _order_plainly(tree: exp.Expr, dialect: str) -> None:
    """Order NULLs as the dialect does by default, so that the SQL need not say where they go."""
    ordering = Dialect.get_or_raise(dialect).NULL_ORDERING
    for node in tree.find_all(exp.Ordered):
        falling = bool(node.args.get("desc"))
        node.set("nulls_first", ordering != "nulls_are_last" and falling == (ordering == "nulls_are_large"))


def _operand(sql: str) -> str:
    """Return an expression that can be an operand of any operator."""
    is_name = any(sql.startswith(mark) and sql.endswith(mark) and sql.count(mark) == 2 for mark in '"`')
    return sql if is_name or sql.replace(".", "_").isidentifier() else "(" + sql + ")"

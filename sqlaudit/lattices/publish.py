"""The release of a node: one SELECT over the table, with its classes that fall short left out or starred.

The SELECT stands alone. It holds the values and labels that the user's hierarchies list, and no other value of the
table: which classes fall short is decided by the requirements inside it, not by a list of classes. Where a requirement
compares with the whole table, the counts of the table at the time of writing stand in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.audits.emit import bare, keeping
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.result import Status
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw
from sqlaudit.base.sql import expression as sql_expression
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.lattices.attributes import Attribute, decides
from sqlaudit.lattices.release_layout import (
    LaidColumn,
    Layout,
    OpenedForRelease,
    add,
    add_originals,
    layout_of,
    rendered,
    role_columns,
)
from sqlaudit.models.base import expression
from sqlaudit.models.judge import judge, merged_facts

KEPT = "sqlaudit_release"
"""The name under which the coarsened table is kept for a while, where an engine can."""


@dataclass(frozen=True)
class ReleaseSql:
    """A release as SQL.

    Args:
        sql: the SELECT, in the engine's dialect. ordered: with its rows in the order of what is published.
        columns: its columns. keys: those that are quasi-identifiers.
        unnamed: columns that no role was given to, published as they are.
        over: the same over another FROM item that has the same rows, for instance one that lasts; and whether its rows
            come in the order of what is published.
    """

    sql: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    unnamed: tuple[str, ...]
    over: Callable[[str, bool], str] = field(repr=False, compare=False)
    ordered: str = field(default="", repr=False)
    originals: tuple[tuple[str, str], ...] = ()
    """Columns with quasi-identifiers as they were, and the names of these; for a release in buckets."""


def release(
    opened: OpenedForRelease,
    levels: Mapping[str, int],
    *,
    suppress: bool,
    star: bool,
    persons: bool = False,
    originals: bool = False,
) -> ReleaseSql:
    """The release of a node.

    Args:
        opened: the table. levels: of each quasi-identifier that takes part, by its label.
        suppress: whether classes fall short at this node. star: star them instead of leaving them out.
        persons: whether the column of persons is in it, for an audit that counts them.
        originals: whether quasi-identifiers are in it as they were, too, in columns of their own.

    Raises:
        UsageError: a requirement whose classes no SELECT can tell, or columns that would give values away.
    """
    layout = layout_of(opened, levels, persons)
    beside = add_originals(opened, layout) if originals else ()
    parameters = _short(opened, layout) if suppress else {"short": ""}

    def over(source: str, ordered: bool) -> str:
        return rendered(opened, layout, source, star=star, ordered=ordered, **parameters)

    columns = tuple(column.name for column in layout.published)
    named = {name for names in role_columns(opened) for name in names}
    keys = tuple(column.name for column in layout.published if column.key)
    unnamed = tuple(name for name in columns if name not in {*keys, *named})
    source = opened.relation.sql
    return ReleaseSql(over(source, False), columns, keys, unnamed, over, over(source, True), beside)


def _short(opened: OpenedForRelease, layout: Layout) -> dict[str, Any]:
    """How the release tells which classes fall short."""
    keys = _class_keys(opened, layout)
    asked = [item for attribute in opened.attributes for item in attribute.asked if decides(item)]
    flag = quote(layout.name("sqlaudit_short"), "duckdb")
    taken = {column.name.casefold() for column in layout.coarsened}
    by_size = not any(item.model.needs_sensitive or item.model.facts() for item in asked)
    if by_size and opened.roles.entity is None and not taken & {"size", "n"}:
        condition = " OR ".join(f"({item.model.failing()})" for item in asked)
        return {"short": "size", "keys": keys, "condition": condition, "flag": flag}
    found = _failing(opened, layout, keys)
    return {"short": "facts", "flag": flag} | found if found["failing"] else {"short": ""}


def _class_keys(opened: OpenedForRelease, layout: Layout) -> list[str]:
    """What rows of one class share; where missing values are equal to nothing, a row that lacks a label is alone."""
    keys = [column.name for column in layout.published if column.key]
    if opened.given.nulls is NullPolicy.DISTINCT and keys:
        labels = [Raw(column.expression) for column in layout.coarsened if column.name in keys]
        alone = layout.name("sqlaudit_alone")
        layout.coarsened.append(
            LaidColumn(alone, sql_expression("lattices/publish_alone.sql", opened.engine.dialect, labels=labels))
        )
        keys.append(alone)
    return [quote(name, "duckdb") for name in keys]


def _failing(opened: OpenedForRelease, layout: Layout, keys: Sequence[str]) -> dict[str, Any]:
    """For each sensitive attribute the number of a class, and the statement of those that fall short."""
    sensitive = [_sensitive(opened, layout, attribute) for attribute in opened.attributes]
    entity = _entity(opened, layout)
    names = [layout.name(f"sqlaudit_class_{place + 1}") for place, _ in enumerate(opened.attributes)]
    classes = [(quote(name, "duckdb"), list(keys)) for name in names]
    numbers = rendered(opened, layout, opened.relation.sql, short="facts", classes=classes, numbers=True)
    kept = f"({numbers})"
    if opened.engine.can_materialize:
        kept = opened.engine.materialize(KEPT, keeping(opened.engine, "coarsened table", kept)).sql
    failing = []
    for attribute, name, value in zip(opened.attributes, names, sensitive, strict=True):
        frame = Frame(kept, (quote(name, opened.engine.dialect),), entity, False, (False,), value)
        statement = _failing_statement(opened, attribute, frame)
        if statement:
            failing.append((quote(name, "duckdb"), Raw(statement)))
    if opened.engine.can_materialize:
        opened.engine.drop(KEPT)
    return {"classes": classes, "failing": failing}


def _failing_statement(opened: OpenedForRelease, attribute: Attribute, frame: Frame) -> str:
    """The statement of the numbers of the classes that fall short, over the release's own step; empty when none does.

    Raises:
        UsageError: a requirement whose classes no predicate over facts tells.
    """
    asked = [item for item in attribute.asked if decides(item)]
    builder = HistogramBuilder(opened.engine, frame)
    judged = judge(builder.build(frame.sensitive, attribute.table), asked, frame)
    told = {text for text, _ in judged.failing}
    for check in judged.checks:
        if check.status is not Status.PASS and check.text not in told:
            raise UsageError(
                f"The classes that fall short of {check.text!r} cannot be told inside a SELECT, so a release that "
                f"suppresses them cannot be written; search without {spelled('suppress')}, or without this requirement."
            )
    if not judged.failing:
        return ""
    there = Frame("numbered", frame.keys, frame.entity, False, (False,), frame.sensitive)
    histogram = HistogramBuilder(opened.engine, there).standalone(frame.sensitive, attribute.table)
    condition = judged.failing[0][1]
    for _, predicate in judged.failing[1:]:
        condition = expression("either", first=condition, second=predicate)
    statement = histogram.statement(
        "lattices/publish_failing.sql",
        merged_facts([item.model for item in asked]),
        "failing classes",
        condition=condition,
    )
    return f"({bare(statement)})"


def _sensitive(opened: OpenedForRelease, layout: Layout, attribute: Attribute) -> str | None:
    """The column of the release's step that holds a sensitive attribute; an expression gets one that is not shown."""
    role = attribute.resolved
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name(f"sqlaudit_sensitive_{attribute.position + 1}")
        add(opened, layout, name, role.sql, shown=False)
    return quote(name, opened.engine.dialect)


def _entity(opened: OpenedForRelease, layout: Layout) -> str | None:
    role = opened.roles.entity
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name("sqlaudit_person")
        add(opened, layout, name, role.sql, shown=False)
    return quote(name, opened.engine.dialect)

"""The release of a node: its columns, one SELECT that makes it, and the audit of what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.audits.release import COUNTED, bare, contradiction, failed, keeping, kept
from sqlaudit.audits.request import AuditRequest, request_verdicts
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table
from sqlaudit.base.columns_of import Resolved, columns_read, find_column, resolve
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.sql import expression as sql_expression
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import ColumnType, Hierarchy, Use, published_column
from sqlaudit.lattices.coding import Attribute
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeNode, LatticeResult
from sqlaudit.models.base import expression
from sqlaudit.models.judge import judge, merged_facts
from sqlaudit.models.registry import REGISTRY

# The columns of a release, and the steps in which they are made.


@dataclass(frozen=True)
class OpenedForRelease:
    """The table that is released, as it was opened.

    Args:
        engine: an open engine. relation: the table. roles: its roles, resolved in the relation. given: as they were
            given. hierarchies, holds: of each quasi-identifier, and what it holds.
        attributes: the sensitive attributes with what is required of them.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    hierarchies: tuple[Hierarchy, ...]
    holds: tuple[ColumnType, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class LaidColumn:
    name: str
    expression: str
    key: bool = False


@dataclass(frozen=True)
class Layout:
    """Which columns go into the release, and in which steps they are made."""

    given: list[LaidColumn] = field(default_factory=list)
    coarsened: list[LaidColumn] = field(default_factory=list)
    published: list[LaidColumn] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def name(self, wanted: str) -> str:
        """A name that no column has yet."""
        taken = {column.name.casefold() for column in (*self.given, *self.coarsened)}
        while wanted.casefold() in taken:
            wanted += "_"
        return wanted


def role_columns(opened: OpenedForRelease) -> list[set[str]]:
    """The columns behind the quasi-identifiers, the sensitive attributes, the identifiers and the entity."""
    roles = opened.roles
    entity = (roles.entity,) if roles.entity else ()
    groups: tuple[Sequence[Resolved], ...] = (roles.quasi_identifiers, roles.sensitive, roles.identifiers, entity)
    dialect = opened.engine.dialect
    return [{name for role in group for name in columns_read(role, opened.relation, dialect)} for group in groups]


def layout_of(opened: OpenedForRelease, levels: Mapping[str, int], persons: bool) -> Layout:
    keys, sensitive, identifiers, entity = role_columns(opened)
    both = sorted(keys & sensitive)
    if both:
        raise UsageError(
            f"Column {both[0]!r} is both generalized and read by a sensitive expression, whose values in the release "
            "reveal it."
        )
    layout = Layout()
    by_column = {role.column: place for place, role in enumerate(opened.roles.quasi_identifiers)}
    for place, role in enumerate(opened.roles.quasi_identifiers):
        if role.column is None:
            _add_key(opened, layout, place, levels)
    for column in opened.relation.columns:
        if column.name in by_column:
            _add_key(opened, layout, by_column[column.name], levels)
        elif column.name not in {*keys, *identifiers} and (persons or column.name not in entity):
            add(opened, layout, column.name, quote(column.name, opened.engine.dialect))
    if not layout.published:
        raise UsageError("Nothing is left to publish: every column is dropped or a direct identifier.")
    return layout


def add(opened: OpenedForRelease, layout: Layout, name: str, sql: str, *, shown: bool = True) -> None:
    """A column that stays as it is."""
    layout.given.append(LaidColumn(name, sql))
    layout.coarsened.append(LaidColumn(name, _of("given", name, opened)))
    if shown:
        layout.published.append(LaidColumn(name, ""))


def add_originals(opened: OpenedForRelease, layout: Layout) -> tuple[tuple[str, str], ...]:
    """The quasi-identifiers as they were, in columns of their own: the names of these, and their own names."""
    found: list[tuple[str, str]] = []
    for key in [column.name for column in layout.published if column.key]:
        name = layout.name(f"sqlaudit_original_{len(found) + 1}")
        layout.coarsened.append(LaidColumn(name, _of("given", key, opened)))
        layout.published.append(LaidColumn(name, ""))
        found.append((name, key))
    return tuple(found)


def _add_key(opened: OpenedForRelease, layout: Layout, place: int, levels: Mapping[str, int]) -> None:
    """A quasi-identifier at its level; one that is dropped is not in the release."""
    hierarchy, role = opened.hierarchies[place], opened.roles.quasi_identifiers[place]
    if hierarchy.use is Use.DROP:
        return
    name, dialect = role.column or role.label, opened.engine.dialect
    if name in {column.name for column in opened.relation.columns} and role.column is None:
        raise UsageError(f"The release has two columns called {name!r}. Use a different name for the expression.")
    value = _of("given", name, opened)
    found = published_column(hierarchy, levels[role.label], value, dialect, opened.holds[place], f"labels_{place + 1}")
    layout.given.append(LaidColumn(name, role.sql))
    layout.coarsened.append(LaidColumn(name, found.expression))
    layout.published.append(LaidColumn(name, "", key=True))
    if found.join:
        layout.joins.append(found.join)


def _of(table: str, name: str, opened: OpenedForRelease) -> str:
    return f"{table}.{quote(name, opened.engine.dialect)}"


def rendered(opened: OpenedForRelease, layout: Layout, source: str, **parameters: Any) -> str:
    """The statement; text in the engine's dialect travels as it is."""

    def columns(listed: Sequence[LaidColumn]) -> list[dict[str, Any]]:
        return [
            {"name": quote(c.name, "duckdb"), "expression": Raw(c.expression or "NULL"), "key": c.key} for c in listed
        ]

    unsaid = dict.fromkeys(("star", "numbers", "ordered", "keys", "condition", "flag", "classes", "failing"), ())
    statement = render(
        "lattices/publish_release.sql",
        opened.engine.dialect,
        step="release",
        source=Raw(source),
        given=columns(layout.given),
        coarsened=columns(layout.coarsened),
        published=columns(layout.published),
        labelled=Raw("\n    ".join(["given", *layout.joins])),
        **(unsaid | parameters),
    )
    return bare(statement)


# The release of a node: one SELECT over the table, with its classes that fail left out or starred.
#
# The SELECT stands alone. It holds the values and labels that the user's hierarchies list, and no other value of the
# table: which classes fail is decided by the requirements inside it, not by a list of classes. Where a
# requirement compares with the whole table, the counts of the table at the time of writing stand in it.

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
        suppress: whether classes fail at this node. star: star them instead of leaving them out.
        persons: whether the column of persons is in it, for an audit that counts them.
        originals: whether quasi-identifiers are in it as they were, too, in columns of their own.

    Raises:
        UsageError: a requirement whose classes no SELECT can tell, or columns that would give values away.
    """
    layout = layout_of(opened, levels, persons)
    original_columns = add_originals(opened, layout) if originals else ()
    parameters = _short(opened, layout) if suppress else {"short": ""}

    def over(source: str, ordered: bool) -> str:
        return rendered(opened, layout, source, star=star, ordered=ordered, **parameters)

    columns = tuple(column.name for column in layout.published)
    named = {name for names in role_columns(opened) for name in names}
    keys = tuple(column.name for column in layout.published if column.key)
    unnamed = tuple(name for name in columns if name not in {*keys, *named})
    source = opened.relation.sql
    return ReleaseSql(over(source, False), columns, keys, unnamed, over, over(source, True), original_columns)


def _short(opened: OpenedForRelease, layout: Layout) -> dict[str, object]:
    """Return how the release tells which classes fail."""
    keys = _class_keys(opened, layout)
    requirements = [item for attribute in opened.attributes for item in attribute.deciding]
    flag = quote(layout.name("sqlaudit_short"), "duckdb")
    names = {column.name.casefold() for column in layout.coarsened}
    by_size = not any(item.model.needs_sensitive or item.model.facts() for item in requirements)
    if by_size and opened.roles.entity is None and not names & {"size", "n"}:
        condition = " OR ".join(f"({item.model.failing()})" for item in requirements)
        return {"short": "size", "keys": keys, "condition": condition, "flag": flag}
    failing = _failing(opened, layout, keys)
    return {"short": "facts", "flag": flag} | failing if failing["failing"] else {"short": ""}


def _class_keys(opened: OpenedForRelease, layout: Layout) -> list[str]:
    """Return the keys of a class; where missing values equal nothing, a row without a label is a class of its own."""
    keys = [column.name for column in layout.published if column.key]
    if opened.given.nulls is NullPolicy.DISTINCT and keys:
        labels = [Raw(column.expression) for column in layout.coarsened if column.name in keys]
        alone = layout.name("sqlaudit_alone")
        layout.coarsened.append(
            LaidColumn(alone, sql_expression("lattices/publish_alone.sql", opened.engine.dialect, labels=labels))
        )
        keys.append(alone)
    return [quote(name, "duckdb") for name in keys]


def _failing(opened: OpenedForRelease, layout: Layout, keys: Sequence[str]) -> dict[str, object]:
    """For each sensitive attribute the number of a class, and the statement of those that fail."""
    sensitive = [
        _column_of(opened, layout, attribute.resolved, f"sqlaudit_sensitive_{attribute.position + 1}")
        for attribute in opened.attributes
    ]
    entity = _column_of(opened, layout, opened.roles.entity, "sqlaudit_person")
    names = [layout.name(f"sqlaudit_class_{number + 1}") for number, _ in enumerate(opened.attributes)]
    classes = [(quote(name, "duckdb"), list(keys)) for name in names]
    numbers = rendered(opened, layout, opened.relation.sql, short="facts", classes=classes, numbers=True)
    numbered = f"({numbers})"
    if opened.engine.can_materialize:
        numbered = opened.engine.materialize(KEPT, keeping(opened.engine, "generalized table", numbered)).sql
    failing = []
    for attribute, name, value in zip(opened.attributes, names, sensitive, strict=True):
        frame = Frame(numbered, (quote(name, opened.engine.dialect),), entity, False, (False,), value)
        statement = _failing_statement(opened, attribute, frame)
        if statement:
            failing.append((quote(name, "duckdb"), Raw(statement)))
    if opened.engine.can_materialize:
        opened.engine.drop(KEPT)
    return {"classes": classes, "failing": failing}


def _failing_statement(opened: OpenedForRelease, attribute: Attribute, frame: Frame) -> str:
    """Return a SELECT, in brackets, of the numbers of the classes that fail; empty if none does.

    It reads the generalized rows by the name `numbered`, which the statement of the release defines.

    Raises:
        UsageError: a requirement whose classes no predicate over facts tells.
    """
    requirements = attribute.deciding
    builder = HistogramBuilder(opened.engine, frame)
    judged = judge(builder.build(frame.sensitive, attribute.table), requirements, frame)
    predicated = {text for text, _ in judged.failing}
    for check in judged.checks:
        if check.status is not Status.PASS and check.text not in predicated:
            raise UsageError(
                f"A SELECT cannot find the classes that fail {check.text!r}, so a release cannot suppress them. Search "
                f"without {spelled('suppress')}, or without this requirement."
            )
    if not judged.failing:
        return ""
    numbered = Frame(
        source="numbered",
        keys=frame.keys,
        entity=frame.entity,
        solo=False,
        collated=(False,),
        sensitive=frame.sensitive,
    )
    histogram = HistogramBuilder(opened.engine, numbered).standalone(frame.sensitive, attribute.table)
    condition = judged.failing[0][1]
    for _, predicate in judged.failing[1:]:
        condition = expression("either", first=condition, second=predicate)
    statement = histogram.statement(
        "lattices/publish_failing.sql",
        merged_facts([item.model for item in requirements]),
        "failing classes",
        condition=condition,
    )
    return f"({bare(statement)})"


def _column_of(opened: OpenedForRelease, layout: Layout, role: Resolved | None, wanted: str) -> str | None:
    """The column of the release's step that holds a role; an expression gets one that is not shown."""
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name(wanted)
        add(opened, layout, name, role.sql, shown=False)
    return quote(name, opened.engine.dialect)


# The audit of a release: a check of the whole way from the table over the search to what is published.
#
# When it disagrees with the search, the release is starred instead of thinned out and audited again: there all rows are
# left, so that requirements which compare a class with the whole table see the table that the search saw. Only when
# classes other than the starred one fail there, the search and the release disagree.

RELEASED = "sqlaudit_released"
"""The name under which a release is kept while it is audited, where an engine can."""
ITS_OWN = (
    "The audit compares with the remaining rows; the search, like ARX, with all rows, where the requirement is met."
)


def levels_of(result: LatticeResult, node: LatticeNode) -> dict[str, int]:
    """The level of each column at a node."""
    return {column.name: level for column, level in zip(result.searched, node.levels, strict=True)}


def audit_release(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> Checked:
    """Return what an audit says of the release, computed from the table in this session.

    Args:
        opened: the table. request: what was searched for. result: what was found. star: star rows, or leave them out.

    Raises:
        EngineError: the audit contradicts the search.
    """
    node = best_of(result)
    audit = _audit(opened, request, result, star=star)
    kept_rows = result.rows if star else result.rows - node.failing_rows
    if audit.rows != kept_rows:
        raise EngineError(disagree(f"the release has {audit.rows:,} rows, not {kept_rows:,}"))
    left = ", ".join(requirement.text for requirement in request.requirements if requirement not in checkable(request))
    note = f"Decided by the search alone, because the release no longer has these values: {left}." if left else ""
    failing = tuple(check.text for check in failed(audit))
    counts = (audit.rows, audit.classes.count, node.failing_rows)
    texts = {requirement.text for requirement in request.requirements}
    checks = tuple(check for check in audit.required if check.text in texts)
    checked = Checked(audit.status.value, *counts, failing, note, checks)
    if not checked.failing or not audit.rows:
        return checked
    for check in failed(audit if star else _audit(opened, request, result, star=True)):
        if not node.failing_rows or check.failing_rows != node.failing_rows or check.failing_classes != 1:
            raise EngineError(disagree(f"{check.text!r} fails in classes that are not suppressed"))
    starred = f"The starred rows are a failing class; {spelled('suppressed', 'drop')} leaves them out."
    return replace(checked, note=f"{starred if star else ITS_OWN} {checked.note}".rstrip())


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return contradiction("The release does not agree with the search", what, "search")


def _audit(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> AuditResult:
    """An audit of the release in this session."""
    node = best_of(result)
    levels, persons = levels_of(result, node), opened.roles.entity is not None
    release_sql = release(opened, levels, suppress=node.failing_rows > 0, star=star, persons=persons)
    with kept(opened.engine, RELEASED, release_sql.sql) as relation:
        population = coarsened_population(opened, request, levels)
        audit = audit_of(request, release_sql.keys, Target(relation=result.target), result.rows)
        return audit_table(opened.engine, audit, relation=relation, population=population)


def audit_of(
    request: LatticeRequest, keys: Sequence[str], target: Target, rows: int, *, alone: bool = False
) -> AuditRequest:
    """The audit of a release of a table of so many rows: the same requirements over its labels, as far as it can decide
    them (`checkable`)."""
    asked = request.roles
    sampling = asked.sampling.of_release(rows, asked.entity)
    roles = replace(asked, quasi_identifiers=tuple(keys), identifiers=(), sampling=sampling)
    return request_verdicts(target, roles, checkable(request, alone=alone) or (COUNTED,), request.inputs)


def checkable(request: LatticeRequest, *, alone: bool = False) -> tuple[Requirement, ...]:
    """The requirements that an audit of the release can decide: those that need no value from before.

    Args:
        request: what was searched for.
        alone: without those that need a population table, too: only the session of the search has its labels.
    """
    beyond = {"original_qi", *(("population",) if alone else ())}
    return tuple(
        requirement for requirement in request.requirements if not beyond & set(REGISTRY[requirement.model].needs)
    )


def coarsened_population(
    opened: OpenedForRelease, request: LatticeRequest, levels: Mapping[str, int]
) -> Relation | None:
    """The population table with the labels of a node, if a requirement compares with it.

    Raises:
        UsageError: it lacks a column.
    """
    if not any("population" in REGISTRY[column.model].needs for column in checkable(request)):
        return None
    engine = opened.engine
    population = engine.open(population_target(read_inputs(request.inputs), request.target))
    taking = [position for position, hierarchy in enumerate(opened.hierarchies) if hierarchy.use is not Use.DROP]
    labels = [opened.roles.quasi_identifiers[position].label for position in taking]
    columns = tuple(resolve(label, population, engine.dialect, about("qi")) for label in labels)
    entity = opened.roles.entity
    person = find_column(entity.label, population) if entity else None
    persons = resolve(person.name, population, engine.dialect, about("entity")) if person else None
    people = replace(
        opened,
        relation=population,
        roles=ResolvedRoles(columns, (), (), persons),
        attributes=(),
        holds=tuple(column_type(engine, population, column) for column in columns),
        hierarchies=tuple(opened.hierarchies[position] for position in taking),
    )
    release_sql = release(people, levels, suppress=False, star=False, persons=True)
    return Relation(
        f"({release_sql.sql})", tuple(engine.result_columns(Statement("population", release_sql.sql))), "the population"
    )


def best_of(result: LatticeResult) -> LatticeNode:
    """The node that is published.

    Raises:
        UsageError: there is none.
    """
    if result.best is None:
        raise UsageError("There is no safe node to publish.")
    return result.best

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
from sqlaudit.base.names import quote, shown
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
        engine: an open engine. relation: the table. roles: its roles, resolved in the relation. given: the roles as
            the request names them. hierarchies, holds: the hierarchy and the type of each quasi-identifier.
        attributes: the sensitive attributes with their requirements.
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
    """A column of a step: its name, its SQL expression, and True if it is a quasi-identifier."""

    name: str
    expression: str
    key: bool = False


@dataclass(frozen=True)
class Layout:
    """The columns of a release by the step that makes them, and the joins with labels between the first two steps."""

    given: list[LaidColumn] = field(default_factory=list)
    coarsened: list[LaidColumn] = field(default_factory=list)
    published: list[LaidColumn] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def name(self, proposed: str) -> str:
        """Return the proposed name, with underscores if a column already has it."""
        used_names = {column.name.casefold() for column in (*self.given, *self.coarsened)}
        while proposed.casefold() in used_names:
            proposed += "_"
        return proposed


def role_columns(opened: OpenedForRelease) -> list[set[str]]:
    """Return the columns that each kind of role reads: quasi-identifiers, sensitive, identifiers and entity."""
    roles = opened.roles
    entity = (roles.entity,) if roles.entity else ()
    groups: tuple[Sequence[Resolved], ...] = (roles.quasi_identifiers, roles.sensitive, roles.identifiers, entity)
    dialect = opened.engine.dialect
    return [{name for role in group for name in columns_read(role, opened.relation, dialect)} for group in groups]


def layout_of(opened: OpenedForRelease, levels: Mapping[str, int], persons: bool) -> Layout:
    """Lay out the columns of a release, in the order of the table after quasi-identifiers that are expressions.

    Args:
        opened: the table. levels: of each quasi-identifier, by its label.
        persons: True to include the column of people.

    Raises:
        UsageError: a sensitive expression reads a generalized column, two columns have one name, or no column is left.
    """
    keys, sensitive, identifiers, entity = role_columns(opened)
    both = sorted(keys & sensitive)
    if both:
        raise UsageError(
            f"Column {shown(both[0])} is both generalized and read by a sensitive expression, whose values in the "
            "release reveal it."
        )
    layout = Layout()
    positions = {role.column: position for position, role in enumerate(opened.roles.quasi_identifiers)}
    for position, role in enumerate(opened.roles.quasi_identifiers):
        if role.column is None:
            _add_key(opened, layout, position, levels)
    for column in opened.relation.columns:
        if column.name in positions:
            _add_key(opened, layout, positions[column.name], levels)
        elif column.name not in {*keys, *identifiers} and (persons or column.name not in entity):
            add(opened, layout, column.name, quote(column.name, opened.engine.dialect))
    if not layout.published:
        raise UsageError("Nothing is left to publish: every column is dropped or a direct identifier.")
    return layout


def add(opened: OpenedForRelease, layout: Layout, name: str, sql: str, *, published: bool = True) -> None:
    """Add a column that is not generalized; without `published`, only for the steps inside the statement."""
    layout.given.append(LaidColumn(name, sql))
    layout.coarsened.append(LaidColumn(name, _of("given", name, opened)))
    if published:
        layout.published.append(LaidColumn(name, ""))


def add_originals(opened: OpenedForRelease, layout: Layout) -> tuple[tuple[str, str], ...]:
    """Add the original values of the quasi-identifiers in further columns.

    Returns:
        The name of each further column, with that of its quasi-identifier.
    """
    originals: list[tuple[str, str]] = []
    for key in [column.name for column in layout.published if column.key]:
        name = layout.name(f"sqlaudit_original_{len(originals) + 1}")
        layout.coarsened.append(LaidColumn(name, _of("given", key, opened)))
        layout.published.append(LaidColumn(name, ""))
        originals.append((name, key))
    return tuple(originals)


def _add_key(opened: OpenedForRelease, layout: Layout, position: int, levels: Mapping[str, int]) -> None:
    """Add the quasi-identifier at a position, generalized to its level, unless its hierarchy drops it.

    Raises:
        UsageError: the label of an expression is the name of a column.
    """
    hierarchy, role = opened.hierarchies[position], opened.roles.quasi_identifiers[position]
    if hierarchy.use is Use.DROP:
        return
    name, dialect = role.column or role.label, opened.engine.dialect
    if name in {column.name for column in opened.relation.columns} and role.column is None:
        raise UsageError(f"The release has two columns called {shown(name)}. Use a different name for the expression.")
    value = _of("given", name, opened)
    generalized = published_column(
        hierarchy, levels[role.label], value, dialect, opened.holds[position], f"labels_{position + 1}"
    )
    layout.given.append(LaidColumn(name, role.sql))
    layout.coarsened.append(LaidColumn(name, generalized.expression))
    layout.published.append(LaidColumn(name, "", key=True))
    if generalized.join:
        layout.joins.append(generalized.join)


def _of(table: str, name: str, opened: OpenedForRelease) -> str:
    """Return the SQL of a column of a table."""
    return f"{table}.{quote(name, opened.engine.dialect)}"


def rendered(opened: OpenedForRelease, layout: Layout, source: str, **parameters: Any) -> str:
    """Return the SQL of a release.

    Args:
        opened, layout: the table and the columns.
        source: the FROM item, in the engine's dialect like all expressions of the layout.
        parameters: further parameters of the template, which documents them; empty where they are left out.
    """

    def columns(laid: Sequence[LaidColumn]) -> list[dict[str, Any]]:
        # The template is in DuckDB's dialect, and translated with its names; Raw parts are not translated
        return [
            {"name": quote(c.name, "duckdb"), "expression": Raw(c.expression or "NULL"), "key": c.key} for c in laid
        ]

    defaults = dict.fromkeys(("star", "numbers", "ordered", "keys", "condition", "flag", "classes", "failing"), ())
    statement = render(
        "lattices/publish_release.sql",
        opened.engine.dialect,
        step="release",
        source=Raw(source),
        given=columns(layout.given),
        coarsened=columns(layout.coarsened),
        published=columns(layout.published),
        labelled=Raw("\n    ".join(["given", *layout.joins])),
        **(defaults | parameters),
    )
    return bare(statement)


# The release of a node: one SELECT over the table, with its classes that fail left out or starred.
#
# The SELECT stands alone. It holds the values and labels that the user's hierarchies list, and no other value of the
# table: which classes fail is decided by the requirements inside it, not by a list of classes. Where a
# requirement compares with the whole table, the counts of the table at the time of writing stand in it.

KEPT = "sqlaudit_release"
"""The name of the materialized table with the numbers of classes, where an engine can materialize."""


@dataclass(frozen=True)
class ReleaseSql:
    """A release as SQL.

    Args:
        sql: the SELECT, in the engine's dialect. ordered: with its rows in the order of what is published.
        columns: its columns. keys: those that are quasi-identifiers.
        unnamed: columns without a role, published unchanged.
        over: returns the SELECT over another FROM item with the same rows, for instance a table that lasts longer; its
            second argument is True to order the rows by the published values.
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
    """Return the release of a node.

    Args:
        opened: the table. levels: of each quasi-identifier that takes part, by its label.
        suppress: True if classes fail at this node. star: True to star them instead of leaving them out.
        persons: True to include the column of people, for an audit that counts them.
        originals: True to include the original values of quasi-identifiers, in further columns.

    Raises:
        UsageError: a requirement whose failing classes no SELECT can find, or columns that reveal generalized values.
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
    """Return the parameters of the statement that decide which classes fail.

    By size if all requirements are on the number of rows, which a window counts in one pass. Otherwise by facts:
    classes get numbers, and a statement for each attribute selects the numbers of those that fail.
    """
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
    """Return the parameters that decide by facts which classes fail.

    Returns:
        `classes`: for each sensitive attribute, the column with the number of a row's class, and the keys of classes.
        `failing`: for each attribute with failing classes, that column, and the SELECT of the numbers that fail.
    """
    values = [
        _column_of(opened, layout, attribute.resolved, f"sqlaudit_sensitive_{attribute.position + 1}")
        for attribute in opened.attributes
    ]
    entity = _column_of(opened, layout, opened.roles.entity, "sqlaudit_person")
    number_columns = [layout.name(f"sqlaudit_class_{index + 1}") for index, _ in enumerate(opened.attributes)]
    classes = [(quote(column, "duckdb"), list(keys)) for column in number_columns]
    numbered_rows = rendered(opened, layout, opened.relation.sql, short="facts", classes=classes, numbers=True)
    source = f"({numbered_rows})"
    if opened.engine.can_materialize:  # every attribute is judged over the same rows
        source = opened.engine.materialize(KEPT, keeping(opened.engine, "generalized table", source)).sql
    failing = []
    for attribute, number_column, value in zip(opened.attributes, number_columns, values, strict=True):
        frame = Frame(
            source=source,
            keys=(quote(number_column, opened.engine.dialect),),
            entity=entity,
            solo=False,  # a class has a number even where its keys are NULL
            collated=(False,),
            sensitive=value,
        )
        statement = _failing_statement(opened, attribute, frame)
        if statement:
            failing.append((quote(number_column, "duckdb"), Raw(statement)))
    if opened.engine.can_materialize:
        opened.engine.drop(KEPT)
    return {"classes": classes, "failing": failing}


def _failing_statement(opened: OpenedForRelease, attribute: Attribute, frame: Frame) -> str:
    """Return a SELECT, in brackets, of the numbers of the classes that fail; empty if no class fails.

    It reads the generalized rows by the name `numbered`, which the statement of the release defines.

    Raises:
        UsageError: a requirement whose failing classes no predicate over facts selects.
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


def _column_of(opened: OpenedForRelease, layout: Layout, role: Resolved | None, new_name: str) -> str | None:
    """Return the column with a role's values in the steps of the release.

    A column that is not published, or an expression, is added to the steps as `new_name`. None without a role.
    """
    if role is None:
        return None
    name = role.column
    if name is None or name not in {column.name for column in layout.given}:
        name = layout.name(new_name)
        add(opened, layout, name, role.sql, published=False)
    return quote(name, opened.engine.dialect)


# The audit of a release: a check of every step from the table over the search to the published rows.
#
# If it disagrees with the search, the release is starred instead of thinned out and audited again: then all rows are
# left, so that requirements which compare a class with the whole table see the table that the search saw. Only if
# classes other than the starred one fail then, the search and the release disagree.

RELEASED = "sqlaudit_released"
"""The name of a release that is materialized during its audit, where an engine can materialize."""
ITS_OWN = (
    "The audit compares with the remaining rows; the search, like ARX, with all rows, where the requirement is met."
)


def levels_of(result: LatticeResult, node: LatticeNode) -> dict[str, int]:
    """Return the level of each column at a node."""
    return {column.name: level for column, level in zip(result.searched, node.levels, strict=True)}


def audit_release(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> Checked:
    """Return the verdict of an audit of the release, computed from the table in this session.

    Args:
        opened: the table. request, result: of the search. star: True to star rows instead of leaving them out.

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
    """Return the message of the error for a release that contradicts the search."""
    return contradiction("The release does not agree with the search", what, "search")


def _audit(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> AuditResult:
    """Audit the release in this session."""
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
    """Return the request to audit a release: the requirements of the search that an audit can decide (`checkable`).

    Args:
        request: of the search. keys: quasi-identifiers of the release. target: the release.
        rows: rows of the original table.
        alone: True for an audit in another session (see `checkable`).
    """
    sampling = request.roles.sampling.of_release(rows, request.roles.entity)
    roles = replace(request.roles, quasi_identifiers=tuple(keys), identifiers=(), sampling=sampling)
    return request_verdicts(target, roles, checkable(request, alone=alone) or (COUNTED,), request.inputs)


def checkable(request: LatticeRequest, *, alone: bool = False) -> tuple[Requirement, ...]:
    """Return the requirements that an audit of the release can decide: those that need no original values.

    Args:
        request: of the search.
        alone: True to leave out those that need a population table as well: only the search's session has its labels.
    """
    missing_inputs = {"original_qi", *(("population",) if alone else ())}
    return tuple(
        requirement
        for requirement in request.requirements
        if not missing_inputs & set(REGISTRY[requirement.model].needs)
    )


def coarsened_population(
    opened: OpenedForRelease, request: LatticeRequest, levels: Mapping[str, int]
) -> Relation | None:
    """Return the population table with the labels of a node; None if no requirement compares with it.

    Raises:
        UsageError: the population lacks a column.
    """
    if not any("population" in REGISTRY[requirement.model].needs for requirement in checkable(request)):
        return None
    engine = opened.engine
    population = engine.open(population_target(read_inputs(request.inputs), request.target))
    positions = [position for position, hierarchy in enumerate(opened.hierarchies) if hierarchy.use is not Use.DROP]
    labels = [opened.roles.quasi_identifiers[position].label for position in positions]
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
        hierarchies=tuple(opened.hierarchies[position] for position in positions),
    )
    release_sql = release(people, levels, suppress=False, star=False, persons=True)
    return Relation(
        f"({release_sql.sql})", tuple(engine.result_columns(Statement("population", release_sql.sql))), "the population"
    )


def best_of(result: LatticeResult) -> LatticeNode:
    """Return the node that is published.

    Raises:
        UsageError: no node is safe.
    """
    if result.best is None:
        raise UsageError("There is no safe node to publish.")
    return result.best

"""Commands that set roles and requirements, and commands that compare audits with other roles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import closest_column, quote
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.result import Documented
from sqlaudit.base.spec import Folding, KnownRows, Roles, Sampling
from sqlaudit.cli.console.grammar import read_requirements
from sqlaudit.cli.console.screen import ScreenReport, report_of
from sqlaudit.cli.console.session import ConsoleCommand, Session
from sqlaudit.cli.console.statements import Reader, parse_arguments
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import VERDICTS, full_title, level_text, limit_text
from sqlaudit.reports import document as doc

# `\qi`, `\sensitive`, `\entity`, `\require`: the roles of columns, and requirements.

NOTHING = "none"
"""The word that removes a role or requirement."""


def show_roles_without_argument(change: Callable[[Session, str], None]) -> Callable[[Session, str], None]:
    """Return a command that changes the roles, and shows them if nothing follows it."""

    @functools.wraps(change)
    def run(session: Session, rest: str) -> None:
        if rest:
            change(session, rest)
        else:
            show(session)

    return run


def column_setter(name: str, role: str) -> Callable[[Session, str], None]:
    """Return the command of this name, which sets the columns of a role."""

    @show_roles_without_argument
    def run(session: Session, rest: str) -> None:
        changes: dict[str, Any] = {role: _checked_names(session, rest, name)}
        _set_roles(session, replace(session.state.roles, **changes))

    return run


@show_roles_without_argument
def entity(session: Session, rest: str) -> None:
    """Set the column that identifies the person, or show all roles."""
    names = _checked_names(session, rest, "\\entity")
    if len(names) > 1:
        raise UsageError("\\entity takes one column: the one that identifies the person.")
    knowledge = session.state.roles.known_rows if names else KnownRows.WORSE
    _set_roles(session, replace(session.state.roles, entity=names[0] if names else None, known_rows=knowledge))


def word_setter(name: str, role: str, words: Mapping[str, object]) -> Callable[[Session, str], None]:
    """Return the command of this name, which sets a role to the value of one of some words."""

    @show_roles_without_argument
    def run(session: Session, rest: str) -> None:
        if rest.casefold() not in words:
            raise UsageError(f"{name} is one of {', '.join(words)}.")
        changes: dict[str, Any] = {role: words[rest.casefold()]}
        _set_roles(session, replace(session.state.roles, **changes))

    return run


@show_roles_without_argument
def sample(session: Session, rest: str) -> None:
    """Set the share of the population that the relation is, or show all roles.

    The argument is a share, a number of people, or a column of weights.
    """
    if rest.casefold() == NOTHING:
        _set_roles(session, replace(session.state.roles, sampling=Sampling()))
        return
    try:
        number = exact_share(rest.strip())
    except UsageError:
        names = _checked_names(session, rest, "\\sample")
        if len(names) != 1:
            raise UsageError("\\sample takes a share, a number of people, or one column of weights.") from None
        sampling = Sampling(weights=names[0])
    else:
        if number > 1 and number.denominator != 1:
            raise UsageError("\\sample takes a share such as 1%, or a whole number of people.")
        sampling = Sampling(sampling_fraction=number) if number <= 1 else Sampling(population_size=int(number))
    _set_roles(session, replace(session.state.roles, sampling=sampling))


@show_roles_without_argument
def require(session: Session, rest: str) -> None:
    """Set the requirements, or show them."""
    if rest.casefold() == NOTHING:
        session.change(replace(session.state, requirements=()))
        return
    requirements = read_requirements(Reader(rest, session.workspace.dialect, "\\require"))
    session.change(replace(session.state, requirements=requirements))


def show(session: Session) -> None:
    """Show the current relation, its roles and the requirements."""
    state, roles = session.state, session.state.roles
    target = state.target or session.selected
    relation_name = "none" if target is None else target.name + (", with a condition" if target.where else "")
    pairs = {
        "relation": "a SELECT" if target is not None and target.query else relation_name,
        "quasi-identifiers": ", ".join(roles.quasi_identifiers) or "none",
        "sensitive columns": ", ".join(roles.sensitive) or "none",
        "direct identifiers": ", ".join(roles.identifiers) or "none",
        "entity": roles.entity or "none",
        **_sample_facts(roles.sampling),
        **({"known rows of a person": roles.known_rows.value} if roles.entity else {}),
        **({"persons and values": roles.values.value} if roles.values else {}),
        "requirements": ", ".join(requirement.text for requirement in state.requirements) or "none",
    }
    session.screen.report(
        ScreenReport(lambda: doc.Document("Roles", (doc.Facts(tuple(pairs.items())),)), lambda: pairs)
    )


def _sample_facts(sampling: Sampling) -> dict[str, str]:
    """Return how the relation is a sample, by its name in the list of roles. Empty if it is none."""
    if sampling.sampling_fraction is not None:
        return {"share of its population": doc.limit(sampling.sampling_fraction)}
    if sampling.population_size is not None:
        return {"people in its population": f"{sampling.population_size:,}"}
    return {} if sampling.weights is None else {"sampling weights": sampling.weights}


def _checked_names(session: Session, rest: str, command: str) -> tuple[str, ...]:
    """Return the columns that follow a command, after checking them if there is a relation."""
    if rest.casefold() == NOTHING:
        return ()
    names = parse_arguments(rest, session.workspace.dialect, command)
    if session.state.target is not None or session.selected is not None:
        relation = session.relation()
        for name in names:
            resolve(name, relation, session.workspace.dialect, command)
    return names


def _set_roles(session: Session, roles: Roles) -> None:
    session.change(replace(session.state, roles=roles))


quasi_identifiers = column_setter("\\qi", "quasi_identifiers")
sensitive = column_setter("\\sensitive", "sensitive")
identifiers = column_setter("\\identifier", "identifiers")
known_rows = word_setter("\\known_rows", "known_rows", {choice.value: choice for choice in KnownRows})
fold_values = word_setter("\\count", "values", {**{choice.value: choice for choice in Folding}, NOTHING: None})
ROLES = (
    ConsoleCommand("qi", "[COLUMNS|none]", "set quasi-identifiers: age sex year(birth)", quasi_identifiers, "columns"),
    ConsoleCommand(
        "sensitive", "[COLUMNS|none]", "set sensitive columns, each audited separately", sensitive, "columns"
    ),
    ConsoleCommand(
        "identifier", "[COLUMNS|none]", "set direct identifiers, which must not be published", identifiers, "columns"
    ),
    ConsoleCommand(
        "entity",
        "[COLUMN|none]",
        "set the column that identifies the person; group sizes then count people",
        entity,
        "columns",
    ),
    ConsoleCommand(
        "sample", "[SHARE|N|COLUMN|none]", "set the share of the population, its size, or weights", sample, "columns"
    ),
    ConsoleCommand(
        "known_rows", "[one|all|worse]", "with \\entity: the attacker knows one row of a person, or all", known_rows
    ),
    ConsoleCommand("count", "[fold|exact|none]", "set whether several spellings count as one value", fold_values),
    ConsoleCommand("require", "[LIMITS|none]", "set requirements: k=5 l=2, or k >= 5, t <= 0.2", require, "models"),
)


# `\drop`, `\add`, `\generalize`, `\undo`: the figures before and after a change of roles.

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_DATES_AND_TIMES = (Kind.DATE, Kind.TIMESTAMP)
PARTS = ("year", "quarter", "month", "week", "day")


def drop(session: Session, rest: str) -> None:
    """Remove a quasi-identifier, given as it was set or by its column."""
    names = parse_arguments(rest, session.workspace.dialect, "\\drop")
    if len(names) != 1:
        raise UsageError("\\drop takes one quasi-identifier, for example \\drop age.")
    roles = session.require_roles()
    position = _find_position(roles, names[0], session.relation(), session.workspace.dialect, "drop")
    remaining = roles.quasi_identifiers[:position] + roles.quasi_identifiers[position + 1 :]
    if not remaining:
        raise UsageError(f"{names[0]} is the only quasi-identifier and cannot be dropped.")
    _compare(session, replace(roles, quasi_identifiers=remaining), f"without {names[0]}")


def add(session: Session, rest: str) -> None:
    """Add quasi-identifiers."""
    names = parse_arguments(rest, session.workspace.dialect, "\\add")
    if not names:
        raise UsageError("No column is given. Name one or more: \\add zip.")
    roles, relation = session.require_roles(), session.relation()
    for name in names:
        resolve(name, relation, session.workspace.dialect, "\\add")
    roles = replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *names))
    _compare(session, roles, f"with {', '.join(names)}")


def generalize(session: Session, rest: str) -> None:
    """Generalize a quasi-identifier.

    Numbers take a width, texts a number of characters, dates a part of the calendar, and all of them SQL.
    """
    words, dialect = rest.split(None, 1), session.workspace.dialect
    if len(words) < 2:
        raise UsageError("Name a quasi-identifier and its generalization: \\generalize age 10.")
    name = parse_arguments(words[0], dialect, "\\generalize")[0]
    relation, roles = session.relation(), session.require_roles()
    position = _find_position(roles, name, relation, dialect, "generalize")
    column = find_column(name, relation)
    if column is None:
        raise unknown_column(name, relation, "\\generalize")
    new, current = generalize_column(column, words[1].strip(), relation, dialect), roles.quasi_identifiers
    roles = replace(roles, quasi_identifiers=(*current[:position], new, *current[position + 1 :]))
    _compare(session, roles, f"{name} as {name if new in current else new}")


def undo(session: Session, rest: str) -> None:
    """Undo the last change of roles, requirements or relation."""
    if rest:
        raise UsageError("\\undo takes no arguments.")
    session.undo()
    show(session)


CHANGES = (
    ConsoleCommand("drop", "COLUMN", "show the figures without this quasi-identifier", drop, "qi"),
    ConsoleCommand(
        "generalize",
        "COLUMN HOW",
        "show the figures with it generalized: age 10, zip 3, birth year, or SQL",
        generalize,
        "generalize",
    ),
    ConsoleCommand("add", "COLUMNS", "show the figures with these quasi-identifiers added", add, "columns"),
    ConsoleCommand("undo", "", "undo the last change", undo),
)


def _find_position(roles: Roles, name: str, relation: Relation, dialect: str, command: str) -> int:
    """Return the position of a quasi-identifier.

    Raises:
        UsageError: it is none.
    """
    expressions = roles.quasi_identifiers
    if name in expressions:
        return expressions.index(name)
    column = find_column(name, relation)
    if column is not None:
        for position, expression in enumerate(expressions):
            sql = resolve(expression, relation, dialect, "\\qi").sql
            if _columns_of_expression(sql, dialect) == {column.name}:
                return position
    hint = closest_column(name, expressions) or (f" \\add {name} makes it one." if column is not None else "")
    raise UsageError(f"\\{command}: {name} is not a quasi-identifier.{hint}")


def _compare(session: Session, roles: Roles, change: str) -> None:
    """Show the audits before and after a change of roles. The change stays if both succeed."""
    before = session.audit()
    session.change(replace(session.state, roles=roles))
    with ExitStack() as rollback:  # a Ctrl-C undoes the change, too
        rollback.callback(session.undo)
        after = session.audit()
        rollback.pop_all()
    changed = ChangedRoles(change, before, after)
    session.screen.report(ScreenReport(lambda: changed_roles_document(changed), changed.to_dict))
    session.reported = report_of(after)


# Generalized columns.


def generalize_column(column: ColumnInfo, how: str, relation: Relation, dialect: str) -> str:
    """Return the generalized column as an expression in the dialect, which a release can have in its place.

    Example:
        >>> generalize_column(ColumnInfo("age", "INTEGER", Kind.INTEGER), "10", Relation("t", (), "t"), "duckdb")
        'floor(age / 10.0) * 10'
    """
    try:
        number = exact_number(how)
    except UsageError:
        number = None
    name = column.name if column.name.isidentifier() and column.name.islower() else quote(column.name, dialect)
    if number is not None and number > 0:
        return _by_number(column, name, number)
    if how.casefold() in PARTS and column.kind in _DATES_AND_TIMES:
        zoned = "with time zone" in column.type.lower() or column.type.lower() == "timestamptz"
        moment = f"({name} AT TIME ZONE 'UTC')" if zoned else name
        return f"date_trunc('{how.casefold()}', {moment})"
    if number is not None or how.casefold() in PARTS or not how:
        raise UsageError(_generalization_hint(column))
    guard_expression(how, dialect, "\\generalize")
    expression = resolve(how, relation, dialect, "\\generalize")
    if _columns_of_expression(expression.sql, dialect) != {column.name}:
        raise UsageError(f"{how!r} uses other columns than {column.name}. Give an expression over this column only.")
    return how


def _by_number(column: ColumnInfo, name: str, number: Fraction) -> str:
    """Return the expression for a column generalized by a number: the width of intervals, or a number of characters."""
    if column.kind in _NUMBERS:
        return _interval(name, number)
    if column.kind is Kind.TEXT and number.denominator == 1:
        return f"substr({name}, 1, {number.numerator})"
    raise UsageError(_generalization_hint(column))


def _interval(name: str, width: Fraction) -> str:
    """Return the expression for the lower end of an interval.

    Only whole numbers divide, so that no decimal is rounded across a bound.
    """
    above, below = width.numerator, width.denominator
    scaled = name if below == 1 else f"{name} * {below}"
    if above == 1:
        return f"floor({scaled}) / {below}.0" if below > 1 else f"floor({scaled})"
    lower = f"floor({scaled} / {above}.0) * {above}"
    return lower if below == 1 else f"{lower} / {below}.0"


def _generalization_hint(column: ColumnInfo) -> str:
    """Return the sentence that explains how a column of this type can be generalized."""
    example = f"\\generalize {column.name}"
    if column.kind in _NUMBERS:
        return f"{column.name} has numbers: give the width of the intervals, for example {example} 10."
    if column.kind is Kind.TEXT:
        return f"{column.name} has texts: give the number of characters to keep, for example {example} 3."
    if column.kind in _DATES_AND_TIMES:
        return f"{column.name} has dates: give one of {', '.join(PARTS)}, for example {example} year."
    return f"{column.name} has {column.type}: give a SQL expression over it."


def _columns_of_expression(sql: str, dialect: str) -> set[str]:
    """Return the names of the columns in an expression."""
    tree = guard_expression(sql, dialect, "\\qi")
    return {column.name for column in tree.find_all(exp.Column)}


# Two audits, before and after a change of the roles.

_SMALL_GROUP = 5


@dataclass(frozen=True)
class ChangedRoles(Documented):
    """A change with the audits before and after it; `change` says it in a few words."""

    change: str
    before: AuditResult
    after: AuditResult


def changed_roles_document(changed: ChangedRoles) -> doc.Document:
    """Show the figures before and after a change."""
    before, after = changed.before, changed.after
    figures, new_warnings = _figures(after), [warning for warning in after.warnings if warning not in after.notices]
    qi_names = doc.listed(after.roles.get("quasi_identifiers", ()))
    adverb = "still" if before.passed == after.passed else "now"
    verdict = f"{adverb} {'PASS' if after.passed else 'FAIL'}" if after.required else "What if"
    heads, verdict_heads = ("figure", "#before", "#after"), ("#limit", "verdict") if after.required else ()
    classes = ((title, figure, figures[title]) for title, figure in _figures(before).items())
    return doc.compose(
        doc.Toned(f"{verdict}: {changed.change}", ("good" if after.passed else "bad") if after.required else "plain"),
        (f"Quasi-identifiers now: {qi_names}. \\undo reverses this change.", *doc.notices_block(after.notices)),
        doc.section("Groups", doc.table(heads, classes)),
        doc.section("Models", doc.table((*heads, *verdict_heads), _check_rows(before, after))),
        doc.section("Warnings", (doc.warning(warning.message) for warning in new_warnings)),
    )


def _figures(result: AuditResult) -> dict[str, str]:
    """Return the number of groups, the smallest, and the rows in small groups, by their title."""
    sizes = result.classes
    (_, unique), (_, at_risk) = sizes.below(2), sizes.below(_SMALL_GROUP)
    risk = doc.percent(Fraction(sizes.count, sizes.members)) if sizes.members and not sizes.per_row else "–"
    return {
        "groups": doc.count(sizes.count),
        "smallest group": doc.count(sizes.min_size or 0),
        "unique": f"{doc.count(unique)} ({doc.part(unique, sizes.members)})",
        f"in groups smaller than {_SMALL_GROUP}": f"{doc.count(at_risk)} ({doc.part(at_risk, sizes.members)})",
        "average risk": risk,
    }


def _check_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[doc.Words, ...]]:
    """Return the main figure of every model in both audits."""
    checks_before = {_check_key(check): check for check in before.checks}
    for check in after.checks:
        earlier = checks_before.get(_check_key(check))
        title = f"{full_title(check)} of {check.sensitive}" if check.sensitive is not None else full_title(check)
        figures: tuple[doc.Words, ...] = (title, level_text(earlier) if earlier else "–", level_text(check))
        yield (*figures, limit_text(check), VERDICTS[check.status]) if after.required else figures


def _check_key(check: Check) -> tuple[object, ...]:
    return check.model, check.sensitive, tuple(sorted((name, str(value)) for name, value in check.parameters.items()))

"""Commands that set roles and requirements, and those that ask what if the roles were different."""

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
from sqlaudit.base.names import closest, quote
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.result import Documented
from sqlaudit.base.spec import Folding, KnownRows, Roles, Sampling
from sqlaudit.cli.console.screen import Reported, report_of
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.statements import Reader, arguments, read_requirements
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import VERDICTS, full_title, level_text, limit_text
from sqlaudit.reports import document as doc

# `\qi`, `\sensitive`, `\entity`, `\require`: the roles of columns, and what must hold.

NOTHING = "none"
"""The word that takes a role or requirement away."""


def shows_alone(change: Callable[[Session, str], None]) -> Callable[[Session, str], None]:
    """A command that changes the roles, and shows them where nothing follows it."""

    @functools.wraps(change)
    def run(session: Session, rest: str) -> None:
        if rest:
            change(session, rest)
        else:
            show(session)

    return run


def sets_columns(name: str, role: str) -> Callable[[Session, str], None]:
    """The command of this name, which sets the columns of a role."""

    @shows_alone
    def run(session: Session, rest: str) -> None:
        given: dict[str, Any] = {role: _names(session, rest, name)}
        _set(session, replace(session.state.roles, **given))

    return run


@shows_alone
def entity(session: Session, rest: str) -> None:
    """Set the column that says which person a row is about, or show all roles."""
    names = _names(session, rest, "\\entity")
    if len(names) > 1:
        raise UsageError("\\entity takes one column: the one that identifies the person.")
    known = session.state.roles.known_rows if names else KnownRows.WORSE
    _set(session, replace(session.state.roles, entity=names[0] if names else None, known_rows=known))


def sets_word(name: str, role: str, words: Mapping[str, Any]) -> Callable[[Session, str], None]:
    """The command of this name, which sets a role to what one of some words stands for."""

    @shows_alone
    def run(session: Session, rest: str) -> None:
        if rest.casefold() not in words:
            raise UsageError(f"{name} is one of {', '.join(words)}.")
        given: dict[str, Any] = {role: words[rest.casefold()]}
        _set(session, replace(session.state.roles, **given))

    return run


@shows_alone
def sample(session: Session, rest: str) -> None:
    """Set which share of a population the relation is, or show all roles: a share, a number of people, or a column of
    weights."""
    if rest.casefold() == NOTHING:
        _set(session, replace(session.state.roles, sampling=Sampling()))
        return
    try:
        number = exact_share(rest.strip())
    except UsageError:
        names = _names(session, rest, "\\sample")
        if len(names) != 1:
            raise UsageError("\\sample takes a share, a number of people, or one column of weights.") from None
        sampling = Sampling(weights=names[0])
    else:
        if number > 1 and number.denominator != 1:
            raise UsageError("\\sample takes a share such as 1%, or a whole number of people.")
        sampling = Sampling(sampling_fraction=number) if number <= 1 else Sampling(population_size=int(number))
    _set(session, replace(session.state.roles, sampling=sampling))


@shows_alone
def require(session: Session, rest: str) -> None:
    """Set what must hold, or show it."""
    if rest.casefold() == NOTHING:
        session.change(replace(session.state, requirements=()))
        return
    found = read_requirements(Reader(rest, session.workspace.dialect, "\\require"))
    session.change(replace(session.state, requirements=found))


def show(session: Session) -> None:
    """The current relation, its roles and the requirements."""
    state, roles = session.state, session.state.roles
    target = state.target or session.selected
    acts_on = "none" if target is None else target.name + (", with a condition" if target.where else "")
    pairs = {
        "relation": "a SELECT" if target is not None and target.query else acts_on,
        "quasi-identifiers": ", ".join(roles.quasi_identifiers) or "none",
        "sensitive columns": ", ".join(roles.sensitive) or "none",
        "direct identifiers": ", ".join(roles.identifiers) or "none",
        "entity": roles.entity or "none",
        **_sampled(roles.sampling),
        **({"known rows of a person": roles.known_rows.value} if roles.entity else {}),
        **({"persons and values": roles.values.value} if roles.values else {}),
        "requirements": ", ".join(one.text for one in state.requirements) or "none",
    }
    session.screen.report(Reported(lambda: doc.Document("Roles", (doc.Facts(tuple(pairs.items())),)), lambda: pairs))


def _sampled(sampling: Sampling) -> dict[str, str]:
    """How the relation is a sample, where that was said."""
    if sampling.sampling_fraction is not None:
        return {"share of its population": doc.limit(sampling.sampling_fraction)}
    if sampling.population_size is not None:
        return {"people in its population": f"{sampling.population_size:,}"}
    return {} if sampling.weights is None else {"sampling weights": sampling.weights}


def _names(session: Session, rest: str, command: str) -> tuple[str, ...]:
    """The columns that follow, checked when there is a relation."""
    if rest.casefold() == NOTHING:
        return ()
    names = arguments(rest, session.workspace.dialect, command)
    if session.state.target is not None or session.selected is not None:
        relation = session.relation()
        for name in names:
            resolve(name, relation, session.workspace.dialect, command)
    return names


def _set(session: Session, roles: Roles) -> None:
    session.change(replace(session.state, roles=roles))


quasi_identifiers = sets_columns("\\qi", "quasi_identifiers")
sensitive = sets_columns("\\sensitive", "sensitive")
identifiers = sets_columns("\\identifier", "identifiers")
known_rows = sets_word("\\known_rows", "known_rows", {one.value: one for one in KnownRows})
fold_values = sets_word("\\count", "values", {**{one.value: one for one in Folding}, NOTHING: None})
ROLES = (
    Command("qi", "[COLUMNS|none]", "set quasi-identifiers: age sex year(birth)", quasi_identifiers, "columns"),
    Command("sensitive", "[COLUMNS|none]", "set sensitive columns, each audited separately", sensitive, "columns"),
    Command(
        "identifier", "[COLUMNS|none]", "set direct identifiers, which must not be published", identifiers, "columns"
    ),
    Command(
        "entity",
        "[COLUMN|none]",
        "set the column that identifies the person; group sizes then count people",
        entity,
        "columns",
    ),
    Command(
        "sample", "[SHARE|N|COLUMN|none]", "set the share of the population, its size, or weights", sample, "columns"
    ),
    Command(
        "known_rows", "[one|all|worse]", "with \\entity: the attacker knows one row of a person, or all", known_rows
    ),
    Command("count", "[fold|exact|none]", "set whether several spellings count as one value", fold_values),
    Command("require", "[LIMITS|none]", "set requirements: k=5 l=2, or k >= 5, t <= 0.2", require, "models"),
)


# `\drop`, `\add`, `\generalize`, `\undo`: what if the roles were different? The figures before and after.

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
PARTS = ("year", "quarter", "month", "week", "day")


def drop(session: Session, rest: str) -> None:
    """Leave a quasi-identifier out, named as it stands there or by its column."""
    names = arguments(rest, session.workspace.dialect, "\\drop")
    if len(names) != 1:
        raise UsageError("\\drop takes one quasi-identifier, for example \\drop age.")
    roles = session.require_roles()
    at = _place(roles, names[0], session.relation(), session.workspace.dialect, "drop")
    kept = roles.quasi_identifiers[:at] + roles.quasi_identifiers[at + 1 :]
    if not kept:
        raise UsageError(f"{names[0]} is the only quasi-identifier and cannot be dropped.")
    _compare(session, replace(roles, quasi_identifiers=kept), f"without {names[0]}")


def add(session: Session, rest: str) -> None:
    """Let others know further columns."""
    names = arguments(rest, session.workspace.dialect, "\\add")
    if not names:
        raise UsageError("No column is given. Name one or more: \\add zip.")
    roles, relation = session.require_roles(), session.relation()
    for name in names:
        resolve(name, relation, session.workspace.dialect, "\\add")
    roles = replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *names))
    _compare(session, roles, f"with {', '.join(names)}")


def generalize(session: Session, rest: str) -> None:
    """Make a quasi-identifier coarser: by a width for numbers, a number of characters for texts, a part of the calendar
    for dates, or SQL."""
    words, dialect = rest.split(None, 1), session.workspace.dialect
    if len(words) < 2:
        raise UsageError("Name a quasi-identifier and its generalization: \\generalize age 10.")
    name = arguments(words[0], dialect, "\\generalize")[0]
    relation, roles = session.relation(), session.require_roles()
    at = _place(roles, name, relation, dialect, "generalize")
    column = find_column(name, relation)
    if column is None:
        raise unknown_column(name, relation, "\\generalize")
    new, known = coarser(column, words[1].strip(), relation, dialect), roles.quasi_identifiers
    roles = replace(roles, quasi_identifiers=(*known[:at], new, *known[at + 1 :]))
    _compare(session, roles, f"{name} as {name if new in known else new}")


def undo(session: Session, rest: str) -> None:
    """Take the last change of roles, requirements or relation back."""
    if rest:
        raise UsageError("\\undo takes no arguments.")
    session.undo()
    show(session)


CHANGES = (
    Command("drop", "COLUMN", "show the figures without this quasi-identifier", drop, "qi"),
    Command(
        "generalize",
        "COLUMN HOW",
        "show the figures with it generalized: age 10, zip 3, birth year, or SQL",
        generalize,
        "generalize",
    ),
    Command("add", "COLUMNS", "show the figures with these quasi-identifiers added", add, "columns"),
    Command("undo", "", "undo the last change", undo),
)


def _place(roles: Roles, name: str, relation: Relation, dialect: str, command: str) -> int:
    """Which quasi-identifier is meant.

    Raises:
        UsageError: it is none.
    """
    items = roles.quasi_identifiers
    if name in items:
        return items.index(name)
    column = find_column(name, relation)
    for at, item in enumerate(items):
        if column is not None and _columns(resolve(item, relation, dialect, "\\qi").sql, dialect) == {column.name}:
            return at
    hint = closest(name, items) or (f" \\add {name} makes it one." if column is not None else "")
    raise UsageError(f"\\{command}: {name} is not a quasi-identifier.{hint}")


def _compare(session: Session, roles: Roles, change: str) -> None:
    """Show both audits side by side; the change stays when both could be made."""
    before = session.audit()
    session.change(replace(session.state, roles=roles))
    with ExitStack() as left:  # also a Ctrl-C takes the change back
        left.callback(session.undo)
        after = session.audit()
        left.pop_all()
    changed = Changed(change, before, after)
    session.screen.report(Reported(lambda: changed_document(changed), changed.to_dict))
    session.reported = report_of(after)


# A coarser form of a column.


def coarser(column: ColumnInfo, how: str, relation: Relation, dialect: str) -> str:
    """A coarser form of a column as an expression in the dialect, which a release can hold in its place.

    Example:
        >>> coarser(ColumnInfo("age", "INTEGER", Kind.INTEGER), "10", Relation("t", (), "t"), "duckdb")
        'floor(age / 10.0) * 10'
    """
    try:
        number = exact_number(how)
    except UsageError:
        number = None
    name = column.name if column.name.isidentifier() and column.name.islower() else quote(column.name, dialect)
    if number is not None and number > 0:
        return _by_number(column, name, number)
    if how.casefold() in PARTS and column.kind in _MOMENTS:
        zoned = "with time zone" in column.type.lower() or column.type.lower() == "timestamptz"
        moment = f"({name} AT TIME ZONE 'UTC')" if zoned else name
        return f"date_trunc('{how.casefold()}', {moment})"
    if number is not None or how.casefold() in PARTS or not how:
        raise UsageError(_ways(column))
    guard_expression(how, dialect, "\\generalize")
    found = resolve(how, relation, dialect, "\\generalize")
    if _columns(found.sql, dialect) != {column.name}:
        raise UsageError(f"{how!r} uses other columns than {column.name}. Give an expression over this column only.")
    return how


def _by_number(column: ColumnInfo, name: str, number: Fraction) -> str:
    if column.kind in _NUMBERS:
        return _interval(name, number)
    if column.kind is Kind.TEXT and number.denominator == 1:
        return f"substr({name}, 1, {number.numerator})"
    raise UsageError(_ways(column))


def _interval(name: str, width: Fraction) -> str:
    """The lower end of the interval. Only whole numbers divide, so that no decimal is rounded across a bound."""
    above, below = width.numerator, width.denominator
    scaled = name if below == 1 else f"{name} * {below}"
    if above == 1:
        return f"floor({scaled}) / {below}.0" if below > 1 else f"floor({scaled})"
    lower = f"floor({scaled} / {above}.0) * {above}"
    return lower if below == 1 else f"{lower} / {below}.0"


def _ways(column: ColumnInfo) -> str:
    said = f"\\generalize {column.name}"
    if column.kind in _NUMBERS:
        return f"{column.name} has numbers: give the width of the intervals, for example {said} 10."
    if column.kind is Kind.TEXT:
        return f"{column.name} has texts: give the number of characters to keep, for example {said} 3."
    if column.kind in _MOMENTS:
        return f"{column.name} has dates: give one of {', '.join(PARTS)}, for example {said} year."
    return f"{column.name} has {column.type}: give a SQL expression over it."


def _columns(sql: str, dialect: str) -> set[str]:
    tree = guard_expression(sql, dialect, "\\qi")
    return {column.name for column in tree.find_all(exp.Column)}


# Two audits side by side: what a change of the roles changes.

_RISK = 5


@dataclass(frozen=True)
class Changed(Documented):
    """A change with the audits before and after it; `change` says it in a few words."""

    change: str
    before: AuditResult
    after: AuditResult


def changed_document(changed: Changed) -> doc.Document:
    """The figures before and after, side by side."""
    before, after = changed.before, changed.after
    figures, new = _figures(after), [warned for warned in after.warnings if warned not in after.notices]
    known = doc.listing(after.roles.get("quasi_identifiers", ()))
    when = "still" if before.passed == after.passed else "now"
    verdict = f"{when} {'PASS' if after.passed else 'FAIL'}" if after.required else "What if"
    heads, judged = ("figure", "#before", "#after"), ("#limit", "verdict") if after.required else ()
    classes = ((title, one, figures[title]) for title, one in _figures(before).items())
    return doc.compose(
        doc.Toned(f"{verdict}: {changed.change}", ("good" if after.passed else "bad") if after.required else "plain"),
        (f"Quasi-identifiers now: {known}. \\undo reverses this change.", *doc.notices_block(after.notices)),
        doc.section("Groups", doc.table(heads, classes)),
        doc.section("Models", doc.table((*heads, *judged), _check_rows(before, after))),
        doc.section("Warnings", (doc.warning(one.message) for one in new)),
    )


def _figures(result: AuditResult) -> dict[str, str]:
    """How many classes, how small, and how many rows are easily found."""
    sizes = result.classes
    (_, alone), (_, few) = sizes.below(2), sizes.below(_RISK)
    risk = doc.percent(Fraction(sizes.count, sizes.members)) if sizes.members and not sizes.per_row else "–"
    return {
        "groups": doc.count(sizes.count),
        "smallest group": doc.count(sizes.min_size or 0),
        "unique": f"{doc.count(alone)} ({doc.part(alone, sizes.members)})",
        f"in groups smaller than {_RISK}": f"{doc.count(few)} ({doc.part(few, sizes.members)})",
        "average risk": risk,
    }


def _check_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[doc.Words, ...]]:
    """The main figure of every model in both audits."""
    known = {_key(check): check for check in before.checks}
    for check in after.checks:
        was = known.get(_key(check))
        about = f"{full_title(check)} of {check.sensitive}" if check.sensitive is not None else full_title(check)
        figures: tuple[doc.Words, ...] = (about, level_text(was) if was else "–", level_text(check))
        yield (*figures, limit_text(check), VERDICTS[check.status]) if after.required else figures


def _key(check: Check) -> tuple[object, ...]:
    return check.model, check.sensitive, tuple(sorted((name, str(value)) for name, value in check.parameters.items()))

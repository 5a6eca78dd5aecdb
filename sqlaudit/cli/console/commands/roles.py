"""Commands that set roles and requirements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_share
from sqlaudit.base.spec import Folding, KnownRows, Roles, Sampling
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.statements import Reader, arguments, read_requirements
from sqlaudit.reports.document import Document, Facts, limit

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
        raise UsageError("\\entity takes one column: the one that says which person a row is about.")
    known = session.state.roles.known_rows if names else KnownRows.WORSE
    _set(session, replace(session.state.roles, entity=names[0] if names else None, known_rows=known))


@shows_alone
def known_rows(session: Session, rest: str) -> None:
    """Set how many rows of a person somebody knows for whom is judged, or show all roles."""
    words = [one.value for one in KnownRows]
    if rest.casefold() not in words:
        raise UsageError(f"\\known_rows is one of {', '.join(words)}.")
    _set(session, replace(session.state.roles, known_rows=KnownRows(rest.casefold())))


@shows_alone
def fold_values(session: Session, rest: str) -> None:
    """Set whether persons and sensitive values that folding merges are one, or show all roles."""
    words = [*(one.value for one in Folding), NOTHING]
    if rest.casefold() not in words:
        raise UsageError(f"\\count is one of {', '.join(words)}.")
    said = None if rest.casefold() == NOTHING else Folding(rest.casefold())
    _set(session, replace(session.state.roles, values=said))


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
        _set(session, replace(session.state.roles, sampling=Sampling(weights=names[0])))
        return
    _set(session, replace(session.state.roles, sampling=_sampling(number)))


def _sampling(number: Fraction) -> Sampling:
    """A share up to 1, and a number of people above it."""
    if number <= 1:
        return Sampling(sampling_fraction=number)
    if number.denominator != 1:
        raise UsageError("\\sample takes a share such as 1%, or a whole number of people.")
    return Sampling(population_size=int(number))


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
    acts_on = "nothing yet" if target is None else target.name + (", with a condition" if target.where else "")
    pairs = {
        "acts on": "a SELECT" if target is not None and target.query else acts_on,
        "quasi-identifiers": ", ".join(roles.quasi_identifiers) or "none",
        "sensitive columns": ", ".join(roles.sensitive) or "none",
        "direct identifiers": ", ".join(roles.identifiers) or "none",
        "person column": roles.entity or "none",
        **_sampled(roles.sampling),
        **({"known rows of a person": roles.known_rows.value} if roles.entity else {}),
        **({"persons and values": roles.values.value} if roles.values else {}),
        "requirements": ", ".join(one.text for one in state.requirements) or "none",
    }
    session.screen.report(Reported(lambda: Document("Roles", (Facts(tuple(pairs.items())),)), lambda: pairs))


def _sampled(sampling: Sampling) -> dict[str, str]:
    """How the relation is a sample, where that was said."""
    if sampling.sampling_fraction is not None:
        return {"share of its population": limit(sampling.sampling_fraction)}
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
ROLES = (
    Command("qi", "[COLUMNS|none]", "quasi-identifiers: age sex year(birth)", quasi_identifiers, "columns"),
    Command("sensitive", "[COLUMNS|none]", "sensitive columns, each looked at on its own", sensitive, "columns"),
    Command("identifier", "[COLUMNS|none]", "direct identifiers, which must not be in it", identifiers, "columns"),
    Command("entity", "[COLUMN|none]", "which person a row is about; sizes then count persons", entity, "columns"),
    Command("sample", "[SHARE|N|COLUMN|none]", "the share of a population, its people, or weights", sample, "columns"),
    Command("known_rows", "[one|all|worse]", "with \\entity: who knows one row of a person, or all", known_rows),
    Command("count", "[fold|exact|none]", "whether persons and values in several spellings are one", fold_values),
    Command("require", "[LIMITS|none]", "what must hold: k=5 l=2, or k >= 5, t <= 0.2", require, "models"),
)

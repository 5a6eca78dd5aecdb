"""What a verdict does not cover, in sentences with column names and counts: columns without a role, columns that nobody
could read, quasi-identifiers without a value, and persons with several rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlaudit.base.relation import Kind
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import KnownRows
from sqlaudit.base.words import spelled
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import ColumnFacts, Role
from sqlaudit.profiles.roles import propose
from sqlaudit.reports.figures import listing

MANY = 0.1
"""From this share of rows that are alone with their value on, a column is said to pick out many rows."""
FEW_ROWS = 10
"""In fewer rows it says little that many are alone."""


def without_role(names: Sequence[str]) -> Warned | None:
    """That columns have no role: nothing is said of them."""
    if not names:
        return None
    one = len(names) == 1
    return Warned(
        "columns_without_role",
        tuple(names),
        f"Nothing is said here of {_columns(names)} without a role: {listing(names)}. "
        f"Whoever knows {'it' if one else 'them'} may know more than the quasi-identifiers.",
    )


def as_expressions(labels: Sequence[str], columns: Sequence[str]) -> Warned | None:
    """That a verdict is about expressions, and not about the columns that they read.

    Args:
        labels: the expressions as they were given. columns: those that nothing but expressions read.
    """
    if not columns:
        return None
    stand, them = ("stands", "it") if len(labels) == 1 else ("stand", "them")
    return Warned(
        "read_by_expressions",
        tuple(columns),
        f"{listing(labels)} {stand} for {listing(columns)} here: what is said holds for a table that has {them} "
        "instead.",
    )


def likely_known(seen: Sequence[ColumnFacts], unseen: Sequence[str], where: str) -> Warned | None:
    """Columns without a role that look like quasi-identifiers, or that pick out many rows.

    Args:
        seen: those that were looked at. unseen: names of further ones. where: which rows were looked at.
    """
    alike = [facts.name for facts in seen if _looks_known(facts)]
    alike += [name for name in unseen if (found := concept_of(name)) and found.role is Role.QUASI_IDENTIFIER]
    telling = [facts for facts in seen if facts.name not in alike and _picks_out(facts)]
    if not alike and not telling:
        return None
    said = "; ".join(_known_parts(alike, telling, where))
    names = (*alike, *(facts.name for facts in telling))
    them = "it" if len(names) == 1 else "them"
    hint = f"Name {them} with {spelled('qi')} if others may know {them}."
    return Warned("possible_quasi_identifier", names, f"Without a role: {said}. {hint}", hint)


def _known_parts(alike: Sequence[str], telling: Sequence[ColumnFacts], where: str) -> Iterator[str]:
    if alike:
        verb = "looks like a quasi-identifier" if len(alike) == 1 else "look like quasi-identifiers"
        yield f"{listing(alike)} {verb}"
    if telling:
        verb = "picks" if len(telling) == 1 else "pick"
        shares = [f"{one.name} ({one.unique_rows:,} of {one.looked_at:,} rows are alone)" for one in telling]
        yield f"{listing(shares)} {verb} out many rows{where}"


def empty(seen: Sequence[ColumnFacts], where: str) -> Warned | None:
    """Quasi-identifiers without any value: they keep nobody apart, and hide that a column was not filled."""
    names = [facts.name for facts in seen if facts.looked_at and not facts.filled]
    if not names:
        return None
    verb, it = ("has", "it tells") if len(names) == 1 else ("have", "they tell")
    return Warned(
        "empty_quasi_identifier",
        tuple(names),
        f"{listing(names)} {verb} no value in any row{where}, so {it} nobody apart: is this the table that was meant?",
    )


def unreadable(names: Sequence[str]) -> Warned | None:
    """Columns that the role may not read."""
    if not names:
        return None
    them = "it" if len(names) == 1 else "them"
    return Warned(
        "unreadable_columns",
        tuple(names),
        f"{_columns(names).capitalize()} of the table may not be read by this role, so nothing is said of {them}: "
        f"{listing(names)}.",
    )


_JUDGED = {
    KnownRows.WORSE: (
        "for somebody who knows one row of a person and for somebody who knows all of them; the worse is the verdict"
    ),
    KnownRows.ONE: ("for somebody who knows one row of a person; nothing is said of somebody who knows several"),
    KnownRows.ALL: ("for somebody who knows all rows of a person; nothing is said of somebody who knows one or some"),
}


def persons_with_several(entity: str, persons: int, several: int, known: KnownRows) -> Warned | None:
    """For whom a verdict holds that counts persons.

    Args:
        entity: what the persons are called. persons: how many there are. several: how many of them have more than one
            combination of the quasi-identifiers. known: which rows of a person somebody knows for whom is judged.
    """
    if not persons:
        return None
    if not several:
        return Warned(
            "one_combination",
            (entity,),
            f"Persons are counted by {entity}. Each has one combination of the quasi-identifiers, so it makes no "
            "difference how many rows of a person somebody knows.",
        )
    has, is_are = ("has", "1 person") if several == 1 else ("have", f"{several:,} persons")
    return Warned(
        "several_combinations",
        (entity,),
        f"Persons are counted by {entity}. {is_are} of {persons:,} {has} more than one combination of the "
        f"quasi-identifiers, and it is judged {_JUDGED[known]}.",
    )


def _columns(names: Sequence[str]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names):,} columns"


def _looks_known(facts: ColumnFacts) -> bool:
    return propose(facts).role is Role.QUASI_IDENTIFIER


def _picks_out(facts: ColumnFacts) -> bool:
    """Whether many rows are alone with their value. Direct identifiers are told of in a sentence of their own."""
    if facts.looked_at < FEW_ROWS or propose(facts).role is Role.DIRECT_IDENTIFIER:
        return False
    return (facts.unique_rows or 0) >= MANY * facts.looked_at


def can_be_looked_at(kind: Kind) -> bool:
    """Whether every engine can group by it."""
    return kind is not Kind.OTHER

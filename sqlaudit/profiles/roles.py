"""From column facts to proposed roles. Pure: the same facts always give the same proposal, each with its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.relation import Kind
from sqlaudit.base.words import spelled
from sqlaudit.profiles.names import Concept, concept_of, words_of
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile, Proposal, Role, Twins

TELLING = 0.5
"""From this share of texts with a shape on, the shape says what the column holds."""
NUMBERS = 0.9
"""From this share of texts that are numbers on, they are meant as numbers."""
FREE_TEXT = 0.2
DENSE = 1.2
"""Whole numbers that are all different and spread no wider than this many times their number count the rows."""
_ORDER = tuple(Role)
_NAME = {"name", "names", "naam", "nom", "noms", "nome", "nombre", "namn", "navn", "nimi", "imie", "jmeno", "nev"}
_SOMEBODY = {"patient", "kunde", "customer", "client", "employee", "mitarbeiter", "doctor", "arzt", "person", "contact"}
"""A column that is called like one of these has people in it, and where its texts are names they are theirs."""
_OF_THINGS = {"product", "company", "brand", "file", "column", "table", "item", "shop", "store", "drug", "team"}
_IDENTIFYING_SHAPES = {
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "national_id": "social security numbers",
    "iban": "bank account numbers (IBAN)",
    "card_number": "card numbers",
    "ip_address": "IP addresses",
}


def propose(facts: ColumnFacts) -> Proposal:
    """The role that a column's name and facts suggest.

    Example:
        >>> age = ColumnFacts("age", "BIGINT", "integer", 100, 0, 40, True, 100, 100, rows_below_5=80, unique_rows=9)
        >>> propose(age).role.value, propose(age).reasons[0]
        ('quasi_identifier', 'its name says age')
    """
    concept = concept_of(facts.name)
    if concept is not None and not facts.rows:
        return Proposal(concept.role, tuple(_named(concept)), concept.name)
    if facts.constant:
        said = "every row has the same value" if facts.distinct else "no row has a value"
        return Proposal(Role.OTHER, (said,))
    for rule in (_by_shape, _by_direct_name, _by_free_text, _by_name, _by_names_of_persons, _by_uniqueness, _by_dates):
        proposal = rule(facts, concept)
        if proposal is not None:
            return replace(proposal, reasons=(*proposal.reasons, *_numbers_as_text(facts)))
    said = "neither name nor values say what it holds: could others know it?"
    return Proposal(Role.OTHER, (said, *_rare(facts), *_numbers_as_text(facts)))


def follow_twins(columns: Sequence[ColumnProfile], twins: Sequence[Twins]) -> list[ColumnProfile]:
    """The columns, where one about which nothing is known takes the role of a column that says the same."""
    known = {column.name: column for column in columns}
    for pair in twins:
        for name, other in ((pair.first, pair.second), (pair.second, pair.first)):
            unknown = known[name].role is Role.OTHER and known[name].proposal.concept is None
            if unknown and known[other].role is not Role.OTHER:
                facts = known[name].facts
                reasons = (f"it says the same as {other}", *_rare(facts), *_numbers_as_text(facts))
                proposal = replace(known[other].proposal, reasons=reasons)
                known[name] = replace(known[name], proposal=proposal)
    return list(known.values())


def by_risk(columns: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """The columns by proposed role, the most identifying first in each."""

    def key(column: ColumnProfile) -> tuple[int, float]:
        rows = max(column.facts.rows, 1)
        below = column.facts.rows_below_5
        rare = column.facts.distinct if below is None else below
        return _ORDER.index(column.role), -rare / rows

    return tuple(sorted(columns, key=key))


def _by_shape(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    for shape, what in _IDENTIFYING_SHAPES.items():
        share = facts.shape_share(shape)
        if share >= TELLING:
            return Proposal(Role.DIRECT_IDENTIFIER, (f"{_percent(share)} of its texts look like {what}",), shape)
    if facts.shape_share("uuid") >= TELLING and facts.nearly_unique:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a UUID of its own",), "uuid")
    return None


def _by_direct_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    """A direct identifier by its name: only where the values can be one, so no yes/no columns, amounts or dates."""
    if concept is None or concept.role is not Role.DIRECT_IDENTIFIER or facts.distinct <= 2:
        return None
    whole = facts.whole is not None and facts.whole == facts.filled
    if not (whole or facts.kind in (Kind.TEXT, Kind.INTEGER, Kind.OTHER)):
        return None
    if concept.name in ("person_name", "address", "likeness") and facts.kind == Kind.INTEGER:
        return None
    return Proposal(Role.DIRECT_IDENTIFIER, (*_named(concept), *_rare(facts)), concept.name)


def _by_free_text(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    share = facts.shape_share("free_text")
    if share < FREE_TEXT:
        return None
    said = f"{_percent(share)} of its texts are sentences: free text may name persons; read it, or leave it out"
    return Proposal(Role.DIRECT_IDENTIFIER, (said,), "free_text")


def _by_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    if concept is None or concept.role is Role.DIRECT_IDENTIFIER:
        return None
    if concept.name == "birth_date" and facts.kind == Kind.TEXT and facts.filled and not _looks_like_dates(facts):
        said = "its name says birth, and its values are no dates: a place of birth or origin, perhaps"
        return Proposal(concept.role, (said, *_rare(facts)), "nationality")
    if concept.name == "body" and "weight" in words_of(facts.name):
        doubt = f"where it says how many people a row stands for, name it with {spelled('weights')} instead"
        return Proposal(concept.role, (*_named(concept), doubt, *_rare(facts)), concept.name)
    return Proposal(concept.role, (*_named(concept), *_rare(facts)), concept.name)


def _by_names_of_persons(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    share = facts.shape_share("capitalised_words")
    words = set(words_of(facts.name))
    called = bool(words & (_NAME | _SOMEBODY)) and not words & _OF_THINGS
    if share < TELLING or ((facts.distinct_share or 0) < 0.3 and not called):
        return None
    said = f"{_percent(share)} of its texts are several capitalised words, as names of persons are"
    return Proposal(Role.DIRECT_IDENTIFIER, (said, *_rare(facts)), "person_name")


def _looks_like_dates(facts: ColumnFacts) -> bool:
    return facts.shape_share("date", "number") >= TELLING or facts.shape_share("missing") == 1


def _numbers_as_text(facts: ColumnFacts) -> Iterator[str]:
    """How texts that are numbers become numbers, so that they can be grouped into ranges."""
    if facts.kind == Kind.TEXT and facts.shape_share("number") >= NUMBERS:
        name = facts.name if facts.name.isidentifier() else f'"{facts.name}"'
        yield (
            f"its texts are numbers: CAST({name} AS DOUBLE) reads them as such, and where a comma stands before the "
            f"decimals CAST(REPLACE({name}, ',', '.') AS DOUBLE)"
        )


def _by_uniqueness(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    if not facts.nearly_unique:
        return None
    if facts.kind == Kind.INTEGER and facts.width is not None and facts.width + 1 <= DENSE * facts.distinct:
        return Proposal(Role.DIRECT_IDENTIFIER, ("it numbers the rows, as record numbers do",), "record_id")
    if facts.kind == Kind.TEXT and not facts.shape_share("date", "number") >= TELLING:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a text of its own, as identifiers do",))
    return Proposal(Role.QUASI_IDENTIFIER, ("almost every row has a value of its own: who knows it finds the row",))


def _by_dates(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    is_date = facts.kind in (Kind.DATE, Kind.TIMESTAMP) or facts.shape_share("date") >= TELLING
    if not is_date:
        return None
    return Proposal(Role.QUASI_IDENTIFIER, ("it holds dates, which others may know", *_rare(facts)), "event_date")


def _named(concept: Concept) -> Iterator[str]:
    yield f"its name says {concept.said}"
    if concept.doubt:
        yield concept.doubt


def _rare(facts: ColumnFacts) -> Iterator[str]:
    """How well the column picks out rows on its own, when that is worth a word."""
    if facts.nearly_unique:
        yield "almost every row has a value of its own"
    elif facts.unique_rows:
        one = facts.unique_rows == 1
        yield f"{facts.unique_rows:,} {'row is' if one else 'rows are'} alone with {'its' if one else 'their'} value"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 1 or share < 0.995 else "over 99%"

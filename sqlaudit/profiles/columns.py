"""Facts of columns from the database, and the roles proposed from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS as NUMBERS_OF
from sqlaudit.base.relation import Kind, Relation, Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import Concept, concept_of, concepts_of, has_words_in, words_of
from sqlaudit.profiles.request import EXACT_ROWS
from sqlaudit.profiles.result import UNKNOWN, ColumnFacts, ColumnProfile, Proposal, Role, Twins

# Column facts from the database: one scan, then one grouping a column with several columns in one statement.

BATCH = 8
"""Columns in one statement: its hash tables exist at the same time."""
SCAN_BATCH = 100
FEW_VALUES = 100_000
SAMPLE_ROWS = 500_000
FIRST_CHECKED = 2_000
"""Rows that say whether check digits are worth looking at in all rows."""


@dataclass(frozen=True)
class Form:
    """A line of `forms.txt`, as the template takes it.

    Args:
        place: its number. said: what reports call such values. check: a modulus, `luhn` or `mod97`.
        weights, letters, counted: the weights; the letters, and what they count as. A number is the character whose
            ASCII code is 48 more.
    """

    place: int
    name: str
    concept: str
    said: str
    pattern: str
    check: str = ""
    weights: str = ""
    letters: str = ""
    counted: str = ""
    alphabet: ClassVar = ascii_uppercase

    @property
    def length(self) -> int:
        """The number of characters that are weighed."""
        return len(self.weights)


def _read_forms() -> Iterator[Form]:
    lines = Path(__file__).with_name("forms.txt").read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(line for line in lines if " | " in line and not line.startswith("#")):
        name, concept, said, pattern, check, letters, *_ = [*line.split(" | "), "", "", ""]
        modulus, _, weights = check.partition(": ")
        weighing = "".join(chr(48 + int(weight)) for weight in weights.split())
        yield Form(place, name, concept, said, pattern, modulus, weighing, *letters.split())


FORMS = tuple(_read_forms())
_CONCEPTS = {form.name: form.concept for form in FORMS}
_OF_PEOPLE = {"email", "ip_address", "mac_address", "national_id", *_CONCEPTS}
"""The shapes that count in columns without texts: whole numbers, and types of a database's own (inet)."""
_BY_CHANCE = {form.name for form in FORMS if form.check and form.check != "mod97" and "A-Z" not in form.pattern}
"""What one number in ten or eleven is by its check digit alone."""
SHAPES = (
    "missing",
    "email",
    "url",
    "uuid",
    "ip_address",
    "mac_address",
    "date",
    "national_id",
    "coordinates",
    *dict.fromkeys(_CONCEPTS),
    "number",
    "phone",
    "free_text",
    "capitalised_words",
    "other",
)
INSIDE = ("email", "iban", "national_id", "ip_address", "url")
"""What is looked for inside longer texts, lists, structures and JSON."""
_FIXED = 18
"""Columns of profile_values.sql before the shapes."""
NOT_READABLE = ("bytea", "blob", "binary", "bit", "variant", "geometry")
"""What types begin with whose values are no text."""


@dataclass(frozen=True)
class Source:
    """A column or expression to look at: how it is called, its SQL, its type and kind."""

    name: str
    sql: str
    kind: Kind
    type: str = ""

    def parameters(self) -> dict[str, Any]:
        """What the template needs to know of it."""
        return {
            "sql": Raw(self.sql),
            "any": True,
            "spelled": self.kind is Kind.TEXT or is_nested(self.kind, self.type),
            "nested": is_nested(self.kind, self.type),
            "fraction": self.kind in (Kind.FLOAT, Kind.DECIMAL),
            "whole": self.kind is Kind.INTEGER,
        }


def is_nested(kind: Kind, type_name: str) -> bool:
    """Whether a column of a kind of its own can be read as text: lists, structures, JSON, and no bytes."""
    return kind is Kind.OTHER and not type_name.lower().startswith(NOT_READABLE)


@dataclass(frozen=True)
class Scanned:
    """A column after the first scan. `estimate` is the engine's own guess at the different values."""

    source: Source
    rows: int
    nulls: int
    estimate: int | None


def sources_of(relation: Relation, dialect: str) -> tuple[Source, ...]:
    """All columns of a relation."""
    return tuple(Source(c.name, quote(c.name, dialect), c.kind, c.type) for c in relation.columns)


def column_facts(
    engine: Engine, relation: Relation, sources: Sequence[Source], exact_rows: int = EXACT_ROWS
) -> list[ColumnFacts]:
    """The facts of columns, in their order.

    Args:
        engine: where the relation is. relation, sources: what to look at.
        exact_rows: tables with more rows are looked at in a sample of `SAMPLE_ROWS` rows.
    """
    scanned = _scan(engine, relation, sources)
    exact = [one.rows <= exact_rows or (one.estimate is not None and one.estimate <= FEW_VALUES) for one in scanned]
    facts: dict[str, ColumnFacts] = {}
    for some, share in some_at_a_time(scanned, exact, scanned[0].rows if scanned else 0):
        rows = rows_of_values(engine, relation, [column.source for column in some], share)
        for number, column in enumerate(some):
            found = facts_of(column.source, rows.get(number))
            facts[found.name] = _from_sample(column, found, rows.get(number)) if share else found
    return [facts[column.source.name] for column in scanned]


def some_at_a_time(
    items: Sequence[Any], exact: Sequence[bool], rows: int
) -> Iterator[tuple[Sequence[Any], str | None]]:
    """Columns for one statement, with the share of so many rows that it looks at; None for those looked at in full."""
    for share in (None, f"{SAMPLE_ROWS / max(rows, 1):.12f}"):
        chosen = [item for item, in_full in zip(items, exact, strict=True) if in_full is (share is None)]
        yield from ((some, share) for some in batches(chosen, BATCH))


def planned_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """The statements that `column_facts` runs over a table that is looked at in full."""
    sources = sources_of(relation, engine.dialect)
    scans = [_scan_statement(engine, relation, some) for some in batches(sources, SCAN_BATCH)]
    return scans + [values_statement(engine, relation, some) for some in batches(sources, BATCH)]


def values_statement(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    share: str | None = None,
    first: int | None = None,
    step: str = "",
    forms: Sequence[Form] = (),
) -> Statement:
    """The statement that groups every column on its own.

    Args:
        engine, relation: where the rows are. sources: what to group.
        share: look only at this share of the rows, drawn at random. first: look only at so many rows, the first ones.
        step: the statement's name, when it is not `profile_values`. forms: the numbers of people to recognise.
    """
    return render(
        "profiles/profile_values.sql",
        engine.dialect,
        source=relation,
        columns=[s.parameters() for s in sources],
        share=share,
        first=first,
        shapes=SHAPES,
        forms=forms,
        numbered=_CONCEPTS,
        inside=INSIDE,
        step=step,
    )


def rows_of_values(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    share: str | None = None,
    first: int | None = None,
    step: str = "",
) -> dict[int, Row]:
    """The rows of profile_values.sql by the places of their columns.

    Columns most of whose values may be numbers of people are asked a second time, with their check digits: most tables
    have none, and the question would take longer to plan than to answer. In many rows the first ones are asked before.
    """

    def asked(places: Sequence[int], share: str | None, first: int | None, forms: Sequence[Form]) -> dict[int, Row]:
        chosen = [sources[place] for place in places]
        statement = values_statement(engine, relation, chosen, share, first, step, forms)
        return {places[int(row[0])]: row for row in engine.run(statement)}

    rows = asked(range(len(sources)), share, first, ())
    again = [place for place, row in rows.items() if int(row[-1]) >= TELLING * max(int(row[2]), 1)]
    if again and any(int(row[1]) > FIRST_CHECKED for row in rows.values()):
        again = [place for place, row in asked(again, None, FIRST_CHECKED, FORMS).items() if _has_forms(row)]
    return rows | asked(again, share, first, FORMS) if again else rows


def _has_forms(row: Row) -> bool:
    """Whether so many values are numbers of people that all rows are worth looking at."""
    found = sum(int(row[_FIXED + SHAPES.index(name)]) for name in _CONCEPTS)
    return found >= TELLING / 2 * int(row[2])


def facts_of(source: Source, row: Row | None) -> ColumnFacts:
    """The facts of a column from its row of profile_values.sql, as if the rows looked at were the whole table.

    Args:
        source: the column. row: its row, None when there was no row to look at.
    """
    if row is None:
        return ColumnFacts(source.name, source.type, source.kind.value, 0, 0, 0, True, 0)
    _, looked_at, filled, distinct, smallest, below, unique, _ = (int(value) for value in row[:8])
    shortest, longest, characters, folded, whole, width, large, measured = row[10:_FIXED]
    text, fraction = source.kind is Kind.TEXT, source.kind in (Kind.FLOAT, Kind.DECIMAL)
    shapes = {shape: int(rows) for shape, rows in zip(SHAPES, row[_FIXED:], strict=False)}
    inside = {kind: int(rows) for kind, rows in zip(INSIDE, row[_FIXED + len(SHAPES) : -1], strict=True)}
    return ColumnFacts(
        source.name,
        source.type,
        source.kind.value,
        looked_at,
        looked_at - filled,
        distinct,
        True,
        looked_at,
        filled,
        smallest,
        below,
        unique,
        max(0.0, (math.log(looked_at) - float(row[8]) / looked_at) / math.log(2)),
        1 - float(row[9]) / (looked_at * (looked_at - 1)) if looked_at > 1 else None,
        int(shortest) if text and shortest is not None else None,
        int(characters) / filled if text and characters is not None and filled else None,
        int(longest) if text and longest is not None else None,
        int(whole or 0) if fraction else None,
        float(width) if width is not None else None,
        distinct - int(folded) if text else 0,
        {shape: rows for shape, rows in shapes.items() if text or (rows and shape in _OF_PEOPLE)},
        {kind: rows for kind, rows in inside.items() if rows},
        bool(filled) and large is not None and not int(large),
        int(measured or 0),
    )


def estimated_distinct(distinct: int, once: int, sampled: int, whole: int) -> int:
    """Different values in a whole table from those in a sample of it.

    The estimator of Haas and Stokes (Estimating the Number of Classes in a Finite Population, JASA 93, 1998), which
    PostgreSQL's ANALYZE uses too: n d / (n - f + f n / N).

    Args:
        distinct: different values in the sample (d). once: those that occur once in it (f).
        sampled: rows of the sample with a value (n). whole: rows of the table with a value (N).

    Example:
        >>> estimated_distinct(1000, 1000, 1000, 50000), estimated_distinct(10, 0, 1000, 50000)
        (50000, 10)
    """
    if not sampled:
        return 0
    estimate = sampled * distinct / (sampled - once + once * sampled / whole)
    return min(max(round(estimate), distinct), whole)


def batches(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """The items in groups of at most `size`."""
    return (items[begin : begin + size] for begin in range(0, len(items), size))


def _scan(engine: Engine, relation: Relation, sources: Sequence[Source]) -> list[Scanned]:
    found: list[Scanned] = []
    for some in batches(sources, SCAN_BATCH):
        row = engine.run(_scan_statement(engine, relation, some))[0]
        total = int(row[0])
        for source, filled, guess in zip(some, row[1::2], row[2::2], strict=True):
            found.append(Scanned(source, total, total - int(filled), None if guess is None else int(guess)))
    return found


def _scan_statement(engine: Engine, relation: Relation, sources: Sequence[Source]) -> Statement:
    return render("profiles/profile_scan.sql", engine.dialect, source=relation, columns=sources)


def _from_sample(column: Scanned, facts: ColumnFacts, row: Row | None) -> ColumnFacts:
    """The facts of a sample with what is known of the whole table, without figures that only all rows can give."""
    filled = column.rows - column.nulls
    guess = column.estimate
    # of values that occur twice each, ten equal pairs and more are expected in such a sample
    all_different = facts.distinct == facts.filled and facts.filled**2 >= 20 * filled
    if guess is None or all_different:
        guess = estimated_distinct(facts.distinct, int(row[7]) if row else 0, facts.filled, filled)
    return replace(
        facts,
        rows=column.rows,
        nulls=column.nulls,
        distinct=min(max(guess, facts.distinct), filled),
        exact=False,
        smallest_group=None,
        rows_below_5=None,
        unique_rows=None,
        entropy=None,
        separation=None,
    )


# From column facts to proposed roles. Pure: the same facts always give the same proposal, each with its reasons.

TELLING = 0.5
"""From this share of texts with a shape on, the shape says what the column holds."""
NUMBER_KINDS = tuple(kind.value for kind in NUMBERS_OF)
NUMBERS = 0.9
"""From this share of texts that are numbers on, they are meant as numbers."""
MEASURED = 0.1
"""From this share of texts with decimals on, that can be no thousands, the texts are measurements."""
FREE_TEXT = 0.2
DENSE = 1.2
"""Whole numbers that are all different and spread no wider than this many times their number count the rows."""
_ORDER = tuple(Role)
_NAME = {"name", "names", "naam", "nom", "noms", "nome", "nombre", "namn", "navn", "nimi", "imie", "jmeno", "nev"}
_SOMEBODY = {"patient", "kunde", "customer", "client", "employee", "mitarbeiter", "doctor", "arzt", "person", "contact"}
_SOMEBODY |= {"spouse", "husband", "wife", "partner", "mother", "father", "guardian", "caregiver", "nurse", "physician"}
_SOMEBODY |= {
    "teacher",
    "user",
    "member",
    "ehepartner",
    "ehemann",
    "ehefrau",
    "conjoint",
    "conyuge",
    "empleado",
    "medecin",
}
"""A column that is called like one of these has people in it, and where its texts are names they are theirs."""
_OF_THINGS = {"product", "company", "brand", "file", "column", "table", "item", "shop", "store", "drug", "team"}
_IDENTIFYING_SHAPES = {
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "national_id": "social security numbers",
    "ip_address": "IP addresses",
    "mac_address": "addresses of devices (MAC)",
    "coordinates": "coordinates",
    **{form.name: form.said for form in FORMS},
}
_NO_NUMBERS = {"id", "nr", "no", "num", "number", "key", "code"}
"""Beside one of these a word for a quantity makes no quantity: cost_code."""
_REPEATED = 0.1
"""UUIDs that few rows share name people, too: from this share of different values on, or from many of them on."""
_FEW_NAMES = 5
_MANY_VALUES = 20
_SEPARATED = 0.9
"""From so many values on, none of which most rows have, half of them do not have the right check digit by chance."""


def propose(facts: ColumnFacts) -> Proposal:
    """The role that a column's name and facts suggest.

    Example:
        >>> age = ColumnFacts("age", "BIGINT", "integer", 100, 0, 40, True, 100, 100, rows_below_5=80, unique_rows=9)
        >>> propose(age).role.value, propose(age).reasons[0]
        ('quasi_identifier', 'its name suggests age')
    """
    concept = concept_of(facts.name)
    if concept is not None and not facts.rows:
        return Proposal(concept.role, tuple(_named(concept)), concept.name)
    if facts.constant:
        said = "every row has the same value" if facts.distinct else "it has no values"
        return Proposal(Role.OTHER, (said,))
    rules = (_by_shape, _by_contents, _by_direct_name, _by_free_text, _by_name, _by_names_of_persons, _by_uniqueness)
    proposal = next((found for rule in rules if (found := rule(facts, concept))), None)
    if proposal is None and (facts.kind in (Kind.DATE, Kind.TIMESTAMP) or facts.shape_share("date") >= TELLING):
        reasons = ("it has dates, which others may know", *_rare(facts))
        proposal = Proposal(Role.QUASI_IDENTIFIER, reasons, "event_date")
    elif proposal is None:
        proposal = Proposal(Role.OTHER, (UNKNOWN, *_rare(facts)))
    return replace(proposal, reasons=(*proposal.reasons, *_numbers_as_text(facts)))


def follow_twins(columns: Sequence[ColumnProfile], twins: Sequence[Twins]) -> list[ColumnProfile]:
    """The columns, where one about which nothing is known takes the role of an equivalent column."""
    known = {column.name: column for column in columns}
    for pair in twins:
        for name, other in ((pair.first, pair.second), (pair.second, pair.first)):
            unknown = known[name].role is Role.OTHER and known[name].proposal.concept is None
            if unknown and known[other].role is not Role.OTHER:
                facts = known[name].facts
                reasons = (f"it is equivalent to {other}", *_rare(facts), *_numbers_as_text(facts))
                proposal = replace(known[other].proposal, reasons=reasons)
                known[name] = replace(known[name], proposal=proposal)
    return list(known.values())


def by_risk(columns: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """The columns by proposed role, the most identifying first in each."""

    def key(column: ColumnProfile) -> tuple[int, float]:
        facts = column.facts
        rare = facts.distinct if facts.rows_below_5 is None else facts.rows_below_5
        return _ORDER.index(column.role), -rare / max(facts.rows, 1)

    return tuple(sorted(columns, key=key))


def _by_shape(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    what = {Kind.TEXT.value: "texts", Kind.INTEGER.value: "numbers"}.get(facts.kind, "values")
    for shape, said in _IDENTIFYING_SHAPES.items():
        share = facts.shape_share(shape)
        few = facts.distinct < _MANY_VALUES or (facts.separation is not None and facts.separation < _SEPARATED)
        if share >= TELLING and not (few and shape in _BY_CHANCE):
            reason = f"{_percent(share)} of its {what} look like {said}"
            return Proposal(Role.DIRECT_IDENTIFIER, (reason,), _CONCEPTS.get(shape, shape))
    if facts.shape_share("url") >= TELLING and facts.nearly_unique:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different web address",), "web_address")
    if facts.shape_share("uuid") >= TELLING:
        if facts.nearly_unique:
            return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different UUID",), "uuid")
        if facts.distinct >= _MANY_VALUES or (facts.distinct_share or 0) >= _REPEATED:
            return Proposal(Role.DIRECT_IDENTIFIER, ("few rows share a UUID",), "uuid")
    return None


def _by_contents(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """What most texts, lists, structures or JSON contain; what only some contain is a remark."""
    for kind, rows in facts.contains.items():
        if kind != "url" and rows >= TELLING * facts.filled:
            said = f"{_percent(rows / facts.filled)} of its values contain {_IDENTIFYING_SHAPES[kind]}"
            return Proposal(Role.DIRECT_IDENTIFIER, (said,), kind)
    return None


def _by_direct_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    """A direct identifier by its name: only where the values can be one, so no yes/no columns, amounts or dates."""
    if (concept is None or concept.role is not Role.DIRECT_IDENTIFIER) and not facts.small:
        longer = facts.kind == Kind.TEXT and facts.shape_share("number") >= NUMBERS and (facts.mean_length or 0) > 4
        if facts.kind == Kind.INTEGER or longer:  # a number beside "num" or "count" that is too large to be a count
            counted = (one for one in concepts_of(facts.name, with_about=False) if one.role is Role.DIRECT_IDENTIFIER)
            concept = next(counted, concept)
    if concept is None or concept.role is not Role.DIRECT_IDENTIFIER or facts.distinct <= 2:
        return None
    fitting = facts.whole == facts.filled or facts.kind in (Kind.TEXT, Kind.INTEGER, Kind.OTHER)
    no_number = concept.name in ("person_name", "address", "likeness")
    if not fitting or (no_number and facts.kind == Kind.INTEGER):
        return None
    return Proposal(Role.DIRECT_IDENTIFIER, (*_named(concept), *_rare(facts)), concept.name)


def _by_free_text(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    share = facts.shape_share("free_text")
    if share < FREE_TEXT:
        return None
    said = f"{_percent(share)} of its texts are sentences; free text may identify people, so read it or leave it out"
    return Proposal(Role.DIRECT_IDENTIFIER, (said,), "free_text")


def _by_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    if concept is None or concept.role is Role.DIRECT_IDENTIFIER:
        return None
    names = facts.distinct >= _FEW_NAMES and facts.shape_share("capitalised_words") >= TELLING
    if names and {*words_of(facts.name)} & _SOMEBODY:  # people, as in a column "employee"
        return None
    reasons, name = tuple(_named(concept)), concept.name
    dates = facts.shape_share("date", "number") >= TELLING or facts.shape_share("missing") == 1
    if concept.name == "birth_date" and facts.kind == Kind.TEXT and facts.filled and not dates:
        reasons = ("its name suggests birth, but its values are not dates: possibly a place of birth or origin",)
        name = "nationality"
    if concept.name == "body" and "weight" in words_of(facts.name):
        reasons += (f"if it is the number of people that a row represents, name it with {spelled('weights')} instead",)
    return Proposal(concept.role, (*reasons, *_rare(facts)), name)


def _by_names_of_persons(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    share = facts.shape_share("capitalised_words")
    words = set(words_of(facts.name))
    called = bool(words & (_NAME | _SOMEBODY)) and not words & _OF_THINGS
    if share < TELLING or ((facts.distinct_share or 0) < 0.3 and not called):
        return None
    said = f"{_percent(share)} of its texts are several capitalized words, like names of people"
    return Proposal(Role.DIRECT_IDENTIFIER, (said, *_rare(facts)), "person_name")


def _numbers_as_text(facts: ColumnFacts) -> Iterator[str]:
    """How texts that are numbers become numbers, so that they can be grouped into ranges."""
    if facts.kind == Kind.TEXT and facts.shape_share("number") >= NUMBERS:
        name = facts.name if facts.name.isidentifier() else f'"{facts.name}"'
        yield (
            f"its texts are numbers: CAST({name} AS DOUBLE) reads them as such, and where a comma stands before the "
            f"decimals CAST(REPLACE({name}, ',', '.') AS DOUBLE), or of a CSV file {spelled('decimal', ',')}"
        )


def _by_uniqueness(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    if not facts.nearly_unique:
        return None
    numbers = facts.kind in NUMBER_KINDS or facts.shape_share("number") >= NUMBERS
    quantity = has_words_in(facts.name, "quantities") and not {*words_of(facts.name)} & _NO_NUMBERS
    if numbers and (quantity or facts.measured >= MEASURED * facts.filled):
        return Proposal(Role.QUASI_IDENTIFIER, ("almost every row has a different value, which singles out the row",))
    if facts.kind == Kind.INTEGER and facts.width is not None and facts.width + 1 <= DENSE * facts.distinct:
        return Proposal(Role.DIRECT_IDENTIFIER, ("it numbers the rows, like record numbers",), "record_id")
    if facts.kind == Kind.TEXT and not facts.shape_share("date", "number") >= TELLING:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different text, like identifiers",))
    whole = facts.kind in (Kind.INTEGER, Kind.OTHER) or facts.whole == facts.filled or facts.shape_share("number")
    if facts.all_different and whole:
        return Proposal(Role.DIRECT_IDENTIFIER, ("every row has a different value, like identifiers",))
    return Proposal(Role.QUASI_IDENTIFIER, ("almost every row has a different value, which singles out the row",))


def _named(concept: Concept) -> Iterator[str]:
    yield f"its name suggests {concept.said}"
    if concept.doubt:
        yield concept.doubt


def _rare(facts: ColumnFacts) -> Iterator[str]:
    """That the column singles out almost every row."""
    if facts.nearly_unique:
        yield "almost every row has a different value"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 1 or share < 0.995 else "over 99%"

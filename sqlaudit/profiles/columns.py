"""Facts of columns from the database, and the roles proposed from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import in_quotes, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import DATES, ColumnInfo, Kind, Relation, Row, Statement
from sqlaudit.base.relation import NUMBERS as NUMBERS_OF
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import Concept, concept_of, concepts_of, has_words_in, words_of
from sqlaudit.profiles.request import EXACT_ROWS
from sqlaudit.profiles.result import UNKNOWN, ColumnFacts, ColumnProfile, Proposal, Role, Twins

# Column facts from the database: one scan of the table, then a grouping by each column, several columns a statement.

BATCH = 8
"""Columns in one statement: its hash tables exist at the same time."""
SCAN_BATCH = 100
FEW_VALUES = 100_000
SAMPLE_ROWS = 500_000
LONG_TEXT = 100
"""Average number of characters from which on a text counts as ten rows: it takes as long to group."""
FIRST_CHECKED = 2_000
"""Rows from which it is decided whether check digits are worth computing in all rows."""


@dataclass(frozen=True)
class Form:
    """A form of numbers of people: a line of `forms.txt`, as the template takes it.

    Args:
        place: the number of the line.
        description: what reports call such values.
        check: a modulus, `luhn` or `mod97`.
        weights: the weight of each character; a number is the character whose ASCII code is 48 more.
        letters, counted: the letters, and the numbers that they count as, written like weights.
    """

    place: int
    name: str
    concept: str
    description: str
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
    for number, line in enumerate(line for line in lines if " | " in line and not line.startswith("#")):
        name, concept, description, pattern, check, letters, *_ = [*line.split(" | "), "", "", ""]
        modulus, _, weights = check.partition(": ")
        weighing = "".join(chr(48 + int(weight)) for weight in weights.split())
        yield Form(number, name, concept, description, pattern, modulus, weighing, *letters.split())


FORMS = tuple(_read_forms())
_CONCEPTS = {form.name: form.concept for form in FORMS}
_OF_PEOPLE = {"email", "ip_address", "mac_address", "national_id", *_CONCEPTS}
"""The shapes that count in columns without texts: whole numbers, and types of a database's own (inet)."""
_BY_CHANCE = {form.name for form in FORMS if form.check and form.check != "mod97" and "A-Z" not in form.pattern}
"""Forms that one number in ten or eleven has by chance, because a check digit is all that they require."""
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
"""Shapes that are searched for inside longer texts, lists, structures and JSON."""
_FIXED = 18
"""Columns of profile_values.sql before the shapes."""
FIGURES = _FIXED + len(SHAPES) + len(INSIDE) + 1
"""Columns of profile_values.sql."""
NOT_READABLE = ("bytea", "blob", "binary", "bit", "variant", "geometry")
"""Prefixes of the names of types whose values are no text."""


@dataclass(frozen=True)
class Source:
    """A column or expression to profile: its name, its SQL, its kind and type, and its variable label."""

    name: str
    sql: str
    kind: Kind
    type: str = ""
    label: str = ""

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the template for this column."""
        return {
            "sql": Raw(self.sql),
            "any": True,
            "text": self.kind is Kind.TEXT,
            "spelled": self.kind is Kind.TEXT or is_nested(self.kind, self.type),
            "nested": is_nested(self.kind, self.type),
            "fraction": self.kind in (Kind.FLOAT, Kind.DECIMAL),
            "whole": self.kind is Kind.INTEGER,
            "number": self.kind in NUMBERS_OF,
            "dated": self.kind in DATES,
            "timed": self.kind is Kind.TIME,
        }


def is_nested(kind: Kind, type_name: str) -> bool:
    """True if a column of kind OTHER can be read as text: lists, structures and JSON, but not bytes."""
    return kind is Kind.OTHER and not type_name.lower().startswith(NOT_READABLE)


@dataclass(frozen=True)
class Scanned:
    """A column after the first scan.

    Args:
        estimate: the engine's estimate of the number of different values.
        characters: the average number of characters of a text, 0 for other columns.
    """

    source: Source
    rows: int
    nulls: int
    estimate: int | None
    characters: float


def list_sources(relation: Relation, dialect: str) -> tuple[Source, ...]:
    """Return all columns of a relation."""
    return tuple(as_source(column, dialect) for column in relation.columns)


def as_source(column: ColumnInfo, dialect: str) -> Source:
    """Return a column as a source of facts."""
    return Source(column.name, quote(column.name, dialect), column.kind, column.type, column.label)


def column_facts(
    engine: Engine, relation: Relation, sources: Sequence[Source], exact_rows: int = EXACT_ROWS
) -> list[ColumnFacts]:
    """Return the facts of columns, in their order.

    Args:
        engine: the engine with the relation.
        relation, sources: the table and its columns to profile.
        exact_rows: tables with more rows are sampled (`SAMPLE_ROWS` rows), and long texts of a tenth of these rows.
    """
    scanned = _scan(engine, relation, sources)
    # a column of few values is cheap to group however many rows the table has
    exact = [
        c.rows * (10 if c.characters >= LONG_TEXT else 1) <= exact_rows
        or (c.estimate is not None and c.estimate <= FEW_VALUES)
        for c in scanned
    ]
    by_name: dict[str, ColumnFacts] = {}
    for batch, share in batch_columns(scanned, exact, scanned[0].rows if scanned else 0):
        few = batch[0].rows <= FEW_VALUES
        rows = query_values(engine, relation, [column.source for column in batch], share, few=few)
        for number, column in enumerate(batch):
            facts = read_facts(column.source, rows.get(number))
            by_name[facts.name] = _extrapolate(column, facts, rows.get(number)) if share else facts
    return [by_name[column.source.name] for column in scanned]


def batch_columns(
    columns: Sequence[object], in_full: Sequence[bool], rows: int
) -> Iterator[tuple[Sequence[Any], str | None]]:
    """Yield columns for one statement with the share of the rows that it reads; None for all rows.

    Args:
        columns: the columns.
        in_full: of each column, whether all rows are read.
        rows: rows of the table.
    """
    for share in (None, f"{SAMPLE_ROWS / max(rows, 1):.12f}"):
        fitting = [column for column, full in zip(columns, in_full, strict=True) if full is (share is None)]
        yield from ((batch, share) for batch in batches(fitting, BATCH))


def planned_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """Return the statements that `column_facts` runs over a table all of whose rows are read."""
    sources = list_sources(relation, engine.dialect)
    scans = [_scan_statement(engine, relation, batch) for batch in batches(sources, SCAN_BATCH)]
    return scans + [values_statement(engine, relation, batch) for batch in batches(sources, BATCH)]


def values_statement(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    share: str | None = None,
    first: int | None = None,
    step: str = "",
    forms: Sequence[Form] = (),
    few: bool = False,
    template: str = "profiles/profile_values.sql",
    **tested: Any,
) -> Statement:
    """Return the statement that groups the rows by each column.

    Args:
        engine, relation: where the rows are.
        sources: the columns to group by.
        share: the share of the rows to read, drawn at random; None for all.
        first: the number of rows to read, the first ones; None for all.
        step: the statement's name, when it is not `profile_values`.
        forms: the numbers of people to recognise.
        few: whether the table has few rows (`FEW_VALUES`).
        template, tested: a template that extends profile_values.sql, and its parameters.
    """
    return render(
        template,
        engine.dialect,
        source=relation,
        columns=[s.parameters() for s in sources],
        share=share,
        first=first,
        shapes=SHAPES,
        forms=forms,
        few=few or first is not None,
        numbered=_CONCEPTS,
        inside=INSIDE,
        step=step,
        **tested,
    )


def query_values(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    share: str | None = None,
    first: int | None = None,
    step: str = "",
    few: bool = False,
) -> dict[int, Row]:
    """Return the rows of profile_values.sql by the positions of their columns in `sources`."""
    statement = values_statement(engine, relation, sources, share, first, step, few=few)
    rows = {int(row[0]): row for row in engine.run(statement)}
    return with_check_digits(engine, relation, sources, rows, share, first, step)


def with_check_digits(
    engine: Engine,
    relation: Relation,
    sources: Sequence[Source],
    rows: Mapping[int, Row],
    share: str | None = None,
    first: int | None = None,
    step: str = "",
) -> dict[int, Row]:
    """Return rows of profile_values.sql, where numbers of people are recognised by their check digits.

    Columns most of whose values may be numbers of people are queried a second time, with check digits: most tables have
    none, and the statement would take longer to plan than to run. In large tables the first rows are tried before.
    """

    def recognise(positions: Sequence[int], share: str | None, first: int | None) -> dict[int, Row]:
        chosen = [sources[position] for position in positions]
        statement = values_statement(engine, relation, chosen, share, first, step, FORMS)
        return {positions[int(row[0])]: row for row in engine.run(statement)}

    candidates = [position for position, row in rows.items() if int(row[-1]) >= TELLING * max(int(row[2]), 1)]
    if candidates and any(int(row[1]) > FIRST_CHECKED for row in rows.values()):
        first_rows = recognise(candidates, None, FIRST_CHECKED)
        candidates = [position for position, row in first_rows.items() if _has_forms(row)]
    return {**rows, **(recognise(candidates, share, first) if candidates else {})}


def _has_forms(row: Row) -> bool:
    """True if enough values are numbers of people that all rows are worth reading."""
    matching = sum(int(row[_FIXED + SHAPES.index(name)]) for name in _CONCEPTS)
    return matching >= TELLING / 2 * int(row[2])


def read_facts(source: Source, row: Row | None) -> ColumnFacts:
    """Return the facts of a column from its row of profile_values.sql, as if the rows read were the whole table.

    Args:
        source: the column.
        row: its row, None if the table has no rows.
    """
    if row is None:
        return ColumnFacts(source.name, source.type, source.kind.value, 0, 0, 0, True, 0, label=source.label)
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
        distinct - int(folded) if text and folded is not None else 0,
        {shape: rows for shape, rows in shapes.items() if text or (rows and shape in _OF_PEOPLE)},
        {kind: rows for kind, rows in inside.items() if rows},
        bool(filled) and large is not None and not int(large),
        int(measured or 0),
        source.label,
    )


def estimated_distinct(distinct: int, once: int, sampled: int, rows: int) -> int:
    """Estimate the number of different values in a table from a sample of its rows.

    The estimator of Haas and Stokes (Estimating the Number of Classes in a Finite Population, JASA 93, 1998), which
    PostgreSQL's ANALYZE uses too: n d / (n - f + f n / N).

    Args:
        distinct: different values in the sample (d).
        once: those that occur once in it (f).
        sampled: rows of the sample with a value (n).
        rows: rows of the table with a value (N).

    Example:
        >>> estimated_distinct(1000, 1000, 1000, 50000), estimated_distinct(10, 0, 1000, 50000)
        (50000, 10)
    """
    if not sampled:
        return 0
    estimate = sampled * distinct / (sampled - once + once * sampled / rows)
    return min(max(round(estimate), distinct), rows)


def spread_rows(
    engine: Engine, relation: Relation, sources: Sequence[Source], least: int, bars: int
) -> list[tuple[list[float], int]]:
    """Return how the rows of a table are spread over the values of each column, without a value.

    Args:
        engine, relation: where the rows are.
        sources: the columns.
        least: values of fewer rows are rare.
        bars: the number of bars of a column with more values, which have about as many values each.

    Returns:
        For each column the rows of a value in each of its bars, on average, the most frequent values first; and the
        rows of all rare values.
    """
    spreads: list[tuple[list[float], int]] = []
    for batch in batches(sources, BATCH):
        columns = [source.parameters() for source in batch]
        statement = render(
            "profiles/profile_spread.sql",
            engine.dialect,
            source=relation,
            columns=columns,
            first=None,
            least=least,
            bars=bars,
        )
        rows = [tuple(map(int, row)) for row in engine.run(statement)]
        for number in range(len(batch)):
            of_bars = {bar: (bar_rows, values) for column, bar, bar_rows, values in rows if column == number}
            rare, _ = of_bars.pop(0, (0, 0))
            spreads.append(([bar_rows / values for bar_rows, values in of_bars.values()], rare))
    return spreads


def batches(items: Sequence[object], size: int) -> Iterable[Sequence[Any]]:
    """Return the items in groups of at most `size`."""
    return (items[begin : begin + size] for begin in range(0, len(items), size))


def _scan(engine: Engine, relation: Relation, sources: Sequence[Source]) -> list[Scanned]:
    scanned: list[Scanned] = []
    for batch in batches(sources, SCAN_BATCH):
        row = engine.run(_scan_statement(engine, relation, batch))[0]
        total = int(row[0])
        for source, filled, estimate, characters in zip(batch, row[1::3], row[2::3], row[3::3], strict=True):
            estimated = None if estimate is None else int(estimate)
            scanned.append(Scanned(source, total, total - int(filled), estimated, float(characters or 0)))
    return scanned


def _scan_statement(engine: Engine, relation: Relation, sources: Sequence[Source]) -> Statement:
    columns = [source.parameters() for source in sources]
    return render("profiles/profile_scan.sql", engine.dialect, source=relation, columns=columns)


def _extrapolate(column: Scanned, facts: ColumnFacts, row: Row | None) -> ColumnFacts:
    """Return the facts of a whole table from those of a sample and the scan of all rows.

    Figures that a sample cannot give are None.
    """
    filled = column.rows - column.nulls
    estimate = column.estimate
    # of values that occur twice each, ten equal pairs and more are expected in such a sample
    all_different = facts.distinct == facts.filled and facts.filled**2 >= 20 * filled
    if estimate is None or all_different:
        estimate = estimated_distinct(facts.distinct, int(row[7]) if row else 0, facts.filled, filled)
    return replace(
        facts,
        rows=column.rows,
        nulls=column.nulls,
        distinct=min(max(estimate, facts.distinct), filled),
        exact=False,
        smallest_group=None,
        rows_below_5=None,
        unique_rows=None,
        entropy=None,
        separation=None,
    )


# From column facts to proposed roles. Pure: the same facts always give the same proposal, each with its reasons.

TELLING = 0.5
"""From this share of texts with a shape on, the shape shows what the column contains."""
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
"""Words for people: a column named after one contains people, and where its texts are names they are their names."""
_OF_THINGS = {"product", "company", "brand", "file", "column", "table", "item", "shop", "store", "drug", "team"}
_IDENTIFYING_SHAPES = {
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "national_id": "social security numbers",
    "ip_address": "IP addresses",
    "mac_address": "addresses of devices (MAC)",
    "coordinates": "coordinates",
    **{form.name: form.description for form in FORMS},
}
_CODES_OF_NUMBERS = ("postal_code", "national_id", "record_id", "account", "phone")
"""Concepts whose texts are codes, however many digits they have."""
_NO_NUMBERS = {"id", "nr", "no", "num", "number", "key", "code"}
"""Words that turn a name of a quantity into that of something else: cost_code."""
_REPEATED = 0.1
"""UUIDs that few rows share identify people, too: from this share of different values on, or from many of them on."""
_FEW_NAMES = 5
_MANY_VALUES = 20
_SEPARATED = 0.9
"""Separation from which on a column has so many values that half of them cannot have the check digit by chance."""


def propose(facts: ColumnFacts) -> Proposal:
    """Return the role that a column's name and facts suggest.

    Example:
        >>> age = ColumnFacts("age", "BIGINT", "integer", 100, 0, 40, True, 100, 100, rows_below_5=80, unique_rows=9)
        >>> propose(age).role.value, propose(age).reasons[0]
        ('quasi_identifier', 'its name suggests age')
    """
    concept = _suggested_concept(facts)
    if concept is not None and not facts.rows:
        return Proposal(concept.role, tuple(_name_reasons(facts, concept)), concept.name)
    if facts.constant:
        return Proposal(Role.OTHER, ("every row has the same value" if facts.distinct else "it has no values",))
    rules = (
        _propose_by_shape,
        _propose_by_contents,
        _propose_direct_by_name,
        _propose_by_free_text,
        _propose_by_name,
        _propose_by_names_of_people,
        _propose_by_uniqueness,
    )
    proposal = next((proposal for rule in rules if (proposal := rule(facts, concept))), None)
    if proposal is None and (facts.kind in (Kind.DATE, Kind.TIMESTAMP) or facts.shape_share("date") >= TELLING):
        reasons = ("it has dates, which others may know", *_uniqueness_reason(facts))
        proposal = Proposal(Role.QUASI_IDENTIFIER, reasons, "event_date")
    elif proposal is None:
        proposal = Proposal(Role.OTHER, (UNKNOWN, *_uniqueness_reason(facts)))
    hint = () if proposal.concept in _CODES_OF_NUMBERS else _number_hint(facts)
    return replace(proposal, reasons=(*proposal.reasons, *hint))


def _suggested_concept(facts: ColumnFacts) -> Concept | None:
    """Return the concept that a column's name suggests, or its variable label, which can be a question of a survey.

    A label makes a direct identifier only of a column with many values: "How do you use e-mail?" has few answers.
    """
    has_few = facts.rows and facts.distinct < _MANY_VALUES and not facts.nearly_unique
    suggested = concept_of(facts.name, facts.label)
    if suggested is None or not has_few or suggested in concepts_of(facts.name):
        return suggested
    others = (concept for concept in concepts_of(facts.label) if concept.role is not Role.DIRECT_IDENTIFIER)
    return concept_of(facts.name) or next(others, None)


def follow_twins(columns: Sequence[ColumnProfile], twins: Sequence[Twins]) -> list[ColumnProfile]:
    """Return the columns, where one of unknown contents takes the role of an equivalent column."""
    profiles = {column.name: column for column in columns}
    for pair in twins:
        for name, other in ((pair.first, pair.second), (pair.second, pair.first)):
            is_unknown = profiles[name].role is Role.OTHER and profiles[name].proposal.concept is None
            if is_unknown and profiles[other].role is not Role.OTHER:
                facts = profiles[name].facts
                reasons = (f"it is equivalent to {other}", *_uniqueness_reason(facts), *_number_hint(facts))
                proposal = replace(profiles[other].proposal, reasons=reasons)
                profiles[name] = replace(profiles[name], proposal=proposal)
    return list(profiles.values())


def sort_by_risk(columns: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """Sort the columns by proposed role, the most identifying first in each."""

    def key(column: ColumnProfile) -> tuple[int, float]:
        facts = column.facts
        rare = facts.distinct if facts.rows_below_5 is None else facts.rows_below_5
        return _ORDER.index(column.role), -rare / max(facts.rows, 1)

    return tuple(sorted(columns, key=key))


def _propose_by_shape(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """Propose a direct identifier if most values have the shape of one, and more of them than chance explains."""
    noun = {Kind.TEXT.value: "texts", Kind.INTEGER.value: "numbers"}.get(facts.kind, "values")
    for shape, description in _IDENTIFYING_SHAPES.items():
        share = facts.shape_share(shape)
        is_chance = facts.distinct < _MANY_VALUES or (facts.separation is not None and facts.separation < _SEPARATED)
        if share >= TELLING and not (is_chance and shape in _BY_CHANCE):
            reason = f"{_percent(share)} of its {noun} look like {description}"
            return Proposal(Role.DIRECT_IDENTIFIER, (reason,), _CONCEPTS.get(shape, shape))
    if facts.shape_share("url") >= TELLING and facts.nearly_unique:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different web address",), "web_address")
    if facts.shape_share("uuid") >= TELLING:
        if facts.nearly_unique:
            return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different UUID",), "uuid")
        if facts.distinct >= _MANY_VALUES or (facts.distinct_share or 0) >= _REPEATED:
            return Proposal(Role.DIRECT_IDENTIFIER, ("few rows share a UUID",), "uuid")
    return None


def _propose_by_contents(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """Propose a direct identifier if most texts, lists, structures or JSON contain one; a few are a remark."""
    for kind, rows in facts.contains.items():
        if kind != "url" and rows >= TELLING * facts.filled:
            reason = f"{_percent(rows / facts.filled)} of its values contain {_IDENTIFYING_SHAPES[kind]}"
            return Proposal(Role.DIRECT_IDENTIFIER, (reason,), kind)
    return None


def _propose_direct_by_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    """Propose a direct identifier by its name if the values can be one: no yes/no columns, amounts or dates."""
    if (concept is None or concept.role is not Role.DIRECT_IDENTIFIER) and not facts.small:
        are_numbers = facts.kind == Kind.TEXT and facts.shape_share("number") >= NUMBERS
        # numbers too large to be counts identify people even where the name has "num" or "count"
        if facts.kind == Kind.INTEGER or (are_numbers and (facts.mean_length or 0) > 4):
            concepts = concepts_of(facts.name, with_fact_words=False)
            concept = next((other for other in concepts if other.role is Role.DIRECT_IDENTIFIER), concept)
    if concept is None or concept.role is not Role.DIRECT_IDENTIFIER or facts.distinct <= 2:
        return None
    is_fitting = facts.whole_numbers == facts.filled or facts.kind in (Kind.TEXT, Kind.INTEGER, Kind.OTHER)
    needs_words = concept.name in ("person_name", "address", "likeness")
    if not is_fitting or (needs_words and facts.kind == Kind.INTEGER):
        return None
    reasons = (*_name_reasons(facts, concept), *_uniqueness_reason(facts))
    return Proposal(Role.DIRECT_IDENTIFIER, reasons, concept.name)


def _propose_by_free_text(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """Propose a direct identifier if many texts are sentences."""
    share = facts.shape_share("free_text")
    if share < FREE_TEXT:
        return None
    reason = f"{_percent(share)} of its texts are sentences; free text may identify people, so read it or leave it out"
    return Proposal(Role.DIRECT_IDENTIFIER, (reason,), "free_text")


def _propose_by_name(facts: ColumnFacts, concept: Concept | None) -> Proposal | None:
    """Propose a role other than direct identifier by the column's name."""
    if concept is None or concept.role is Role.DIRECT_IDENTIFIER:
        return None
    has_names = facts.distinct >= _FEW_NAMES and facts.shape_share("capitalised_words") >= TELLING
    if has_names and {*words_of(facts.name)} & _SOMEBODY:  # people, as in a column "employee"
        return None
    reasons, name = tuple(_name_reasons(facts, concept)), concept.name
    has_dates = facts.shape_share("date", "number") >= TELLING or facts.shape_share("missing") == 1
    if concept.name == "birth_date" and facts.kind == Kind.TEXT and facts.filled and not has_dates:
        reasons = ("its name suggests birth, but its values are not dates: possibly a place of birth or origin",)
        name = "nationality"
    if concept.name == "body" and "weight" in words_of(facts.name):
        reasons += (f"if it is the number of people that a row represents, name it with {spelled('weights')} instead",)
    return Proposal(concept.role, (*reasons, *_uniqueness_reason(facts)), name)


def _propose_by_names_of_people(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """Propose a direct identifier if most texts look like names of people."""
    share = facts.shape_share("capitalised_words")
    words = set(words_of(facts.name))
    is_named_for_people = bool(words & (_NAME | _SOMEBODY)) and not words & _OF_THINGS
    if share < TELLING or ((facts.distinct_share or 0) < 0.3 and not is_named_for_people):
        return None
    reason = f"{_percent(share)} of its texts are several capitalized words, like names of people"
    return Proposal(Role.DIRECT_IDENTIFIER, (reason, *_uniqueness_reason(facts)), "person_name")


def _number_hint(facts: ColumnFacts) -> Iterator[str]:
    """Yield how to read texts that are numbers as numbers, so that they can be grouped into ranges."""
    if facts.kind == Kind.TEXT and facts.shape_share("number") >= NUMBERS:
        name = facts.name if facts.name.isidentifier() else in_quotes(facts.name)
        yield (
            f"its texts are numbers: CAST({name} AS DOUBLE) reads them as such, and where a comma stands before the "
            f"decimals CAST(REPLACE({name}, ',', '.') AS DOUBLE), or of a CSV file {spelled('decimal', ',')}"
        )


def _propose_by_uniqueness(facts: ColumnFacts, _concept: Concept | None) -> Proposal | None:
    """Propose a role for a column that has a different value in almost every row."""
    if not facts.nearly_unique:
        return None
    is_number = facts.kind in NUMBER_KINDS or facts.shape_share("number") >= NUMBERS
    is_quantity = has_words_in(facts.name, "quantities") and not {*words_of(facts.name)} & _NO_NUMBERS
    if is_number and (is_quantity or facts.measured >= MEASURED * facts.filled):
        return Proposal(Role.QUASI_IDENTIFIER, ("almost every row has a different value, which singles out the row",))
    if facts.kind == Kind.INTEGER and facts.width is not None and facts.width + 1 <= DENSE * facts.distinct:
        return Proposal(Role.DIRECT_IDENTIFIER, ("it numbers the rows, like record numbers",), "record_id")
    if facts.kind == Kind.TEXT and not facts.shape_share("date", "number") >= TELLING:
        return Proposal(Role.DIRECT_IDENTIFIER, ("almost every row has a different text, like identifiers",))
    is_whole = (
        facts.kind in (Kind.INTEGER, Kind.OTHER) or facts.whole_numbers == facts.filled or facts.shape_share("number")
    )
    if facts.all_different and is_whole:
        return Proposal(Role.DIRECT_IDENTIFIER, ("every row has a different value, like identifiers",))
    return Proposal(Role.QUASI_IDENTIFIER, ("almost every row has a different value, which singles out the row",))


def _name_reasons(facts: ColumnFacts, concept: Concept) -> Iterator[str]:
    by_label = facts.label and concept not in concepts_of(facts.name, with_fact_words=False)
    yield f"its {'label' if by_label else 'name'} suggests {concept.description}"
    if concept.doubt:
        yield concept.doubt


def _uniqueness_reason(facts: ColumnFacts) -> Iterator[str]:
    """Yield the reason that the column singles out almost every row, if it does."""
    if facts.nearly_unique:
        yield "almost every row has a different value"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 1 or share < 0.995 else "over 99%"

"""The meaning of column names in several languages: people, things, and tables that are counts already."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from pathlib import Path

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import command, spelled
from sqlaudit.base.relation import NUMBERS, ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.result import NEARLY, ColumnProfile, CountTable, Role
from sqlaudit.reports.document import listed

# What a column's name suggests about its contents, in several languages. Words only; values are not read here.

_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\s*[\r\n]+\s*(?=[^\W\d_A-Z])")
"""A hyphen at the end of a line, inside a word: headers of spreadsheets have them."""
_SPECIAL = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d"})
_FACT_WORDS = {"has", "is", "num", "count", "cnt", "n", "nb", "flag", "opt", "verified", "valid", "length", "anzahl"}
_FACT_WORDS |= {"days", "hours", "minutes", "visits", "calls", "stays", "tage", "stunden", "jours", "heures", "horas"}
"""Words that turn a name into a fact about an identifier, which is no identifier itself: has_email, ip_days."""

_NUMBER = {"id", "nr", "no", "number", "nummer", "key"}
"""Words that turn a name into that of a number: admission_id is no day; date_key may be one."""
_DAY = {"date", "datum", "fecha", "dt"}


@dataclass(frozen=True)
class Concept:
    """A kind of contents that columns have, such as e-mail addresses.

    Args:
        name: a stable word.
        role: the role of such a column.
        description: the words of a reason.
        doubt: what a reader should check before following the proposal.
    """

    name: str
    role: Role
    description: str
    doubt: str = ""


def concept_of(column: str, label: str = "") -> Concept | None:
    """Return the concept that a column's name suggests, or else its variable label; None without one.

    A direct identifier that the label names has precedence: short names are often ambiguous.

    Example:
        >>> concept_of("DateOfBirth").name, concept_of("Geschlecht").name, concept_of("page")
        ('birth_date', 'sex', None)
        >>> concept_of("fam", "Familienstand").name, concept_of("country", "Sozialversicherungsnummer").name
        ('marital_status', 'national_id')
    """
    by_name, by_label = next(concepts_of(column), None), next(concepts_of(label), None)
    is_stricter = by_label is not None and by_label.role is Role.DIRECT_IDENTIFIER
    return by_label if by_name is None or is_stricter else by_name


_NO_YEARS = re.compile(
    r"\b(mo|mos|mon|mois|mes|meses|dias?|gr|grp|cat|cls|code|band|bin)\b|month|monat|week|woch|semain|seman|day|tag|jour"
    r"|ridagemn|group|grupp|class|klass|range|bracket|categor|kategor"
)
"""Words of ages that are not in years, or are numbers of groups."""


def contents_of(column: Resolved) -> str:
    """Return the name of the concept that a column's name or variable label suggests; empty without one.

    An expression over a column has other values than its name says, and so has an age that is not in years.

    Example:
        >>> [contents_of(Resolved(name, name, column=name)) for name in ("patient_age", "age_months", "PLZ")]
        ['age', '', 'postal_code']
    """
    concept = concept_of(column.column or "", column.variable_label)
    texts = f"{column.label} {column.variable_label}"
    if concept is None or (concept.name == "age" and _NO_YEARS.search(" ".join(words_of(texts)))):
        return ""
    return concept.name


def concepts_of(column: str, *, with_fact_words: bool = True) -> Iterator[Concept]:
    """Return all concepts that a column's name suggests, what is special before what is general.

    Args:
        column: its name.
        with_fact_words: whether words such as `has` and `count` keep a name from being an identifier's.
    """
    tokens = {*(ordered := words_of(column))}
    name = " ".join(ordered)
    number = tokens & _NUMBER and not tokens & _DAY
    for concept, phrases in _CONCEPTS.items():
        if number and concept.name == "event_date":
            continue
        about = tokens & _FACT_WORDS if with_fact_words and concept.role is Role.DIRECT_IDENTIFIER else set()
        for phrase in phrases:
            pieces = _REQUIRED_PARTS[phrase]
            if about <= {*pieces} and all(p in name for p in pieces) and _pattern(phrase).search(name):
                yield concept
                break


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters without accents.

    A word ends where the case changes, at digits, and at all other characters.

    Example:
        >>> words_of("Prénom_du patientID2"), words_of("Familien-\\nstand")
        (('prenom', 'du', 'patient', 'id', '2'), ('familienstand',))
    """
    whole = _HYPHENATED.sub("", name)
    plain = unicodedata.normalize("NFKD", whole.translate(_SPECIAL))
    unaccented = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word.lower() for word in _BOUNDARY.split(unaccented) if word)


@functools.cache
def _pattern(words: str) -> re.Pattern[str]:
    """Return the pattern of a phrase of `words.txt`: its words may be joined, and … stands for the rest of a word."""
    pattern = re.escape(words.removeprefix("=")).replace("…", "[a-z]*").replace(r"\ ", " ?")
    return re.compile(f"^{pattern}$" if words.startswith("=") else f"(?:^| ){pattern}(?: |$)")


def _read_groups() -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """Yield the head and the words of each group of `words.txt`, which describes its own format."""
    _, *groups = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split("\n\n")
    for group in groups:
        head, words = group.split("\n", 1)
        yield head.split(" | "), tuple(" ".join(phrase.split()) for phrase in words.split(","))


_GROUPS = {name: (about, words) for (name, *about), words in _read_groups()}
_CONCEPTS = {Concept(name, Role(about[0]), *about[1:]): words for name, (about, words) in _GROUPS.items() if about}
CONCEPTS = tuple(_CONCEPTS)
WORDS = {concept.name: words for concept, words in _CONCEPTS.items()}
_REQUIRED_PARTS = {
    words: words.removeprefix("=").replace("…", " ").split() for phrases in WORDS.values() for words in phrases
}
"""The parts that a name must contain before a regular expression is tried on it, by phrase."""


def words_in(group: str) -> tuple[str, ...]:
    """Return the words of a group without a role in `words.txt`."""
    return _GROUPS[group][1]


def has_words_in(name: str, group: str) -> bool:
    """True if a column's name has one of the words of a group without a role."""
    text = " ".join(words_of(name))
    return any(_pattern(words).search(text) for words in words_in(group))


# Tables that are about things and not about people: calendars, lists of values, measurements, records of machines.
#
# A requirement on people does not apply to them. A table with a column that only people have, or with health together
# with a place or a day, is never taken for one: a wrong guess would leave people unprotected.

_PLACES = {"place", "postal_code", "coordinates", "language", "nationality"}
_SHARED_CONCEPTS = {*_PLACES, "event_date", "occupation", "education", "health", "income", "assessment", "body"}
"""Concepts that things have as well as people."""
_LISTABLE_CONCEPTS = {*_PLACES, "occupation", "education", "health", "marital_status", "sex", "ethnicity", "religion"}
"""Concepts that lists of values are made of."""
_BARE_WORDS = {"id", "uuid", "guid", "name", "names", "nome", "naam", "description", "title", "label", "bezeichnung"}
_OF_A_BODY = {"hair", "eye", "bmi"}
_OF_SOMEBODY = {"admission", "admitted", "discharge", "death", "died", "dod", "hired", "hire", "enrolment", "aufnahme"}
_PERSONS, _CALENDAR, _OF_THINGS = ({*_GROUPS[name][1]} for name in ("persons", "calendar", "things"))
_MEASURED_WORDS = {*_OF_THINGS, "station", "sensor", "symbol", "ticker", "isin", "store", "warehouse", "machine"}
_FEW_ROWS = 10
_MANY_ROWS = 20
_MOST_TOGETHER = 3


def reason_for_things(table: str, columns: Sequence[ColumnProfile]) -> str:
    """Return why the rows of a table seem to be things and not people; an empty text where they may be people.

    Args:
        table: its name.
        columns: the profiles of its columns.
    """
    table_words = words_of(table)
    if not columns or _PERSONS & {*table_words}:
        return ""
    value_list = _describe_value_list(table_words, columns)
    if _may_be_people(columns, _SHARED_CONCEPTS):
        return value_list
    days_only = len(columns) > 1 and all(_CALENDAR & {*words_of(column.name)} for column in columns)
    if days_only and any(map(_is_key, columns)):  # every day once, and what follows from it
        return "a calendar"
    reasons = [f"its name suggests {word}" for word in table_words if word in _OF_THINGS]
    return value_list or _describe_measurements(columns) or "".join(reasons[:1])


def _describe_value_list(table_words: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """Return the reason if the table has every value of one concept once: codes, countries, postal codes.

    The table's name or a second column must confirm it. Only whole numbers and texts count: coordinates, measurements
    and sentences may be different for every person.
    """
    families = {_concept_family(column) for column in columns} - {""}
    value_columns = [column for column in columns if _is_value_column(column)]
    if len(families) != 1 or not value_columns or _may_be_people(columns, _LISTABLE_CONCEPTS):
        return ""
    has_several_places = families == {"place"} and len(value_columns) > 1 and value_columns[0].facts.rows >= _MANY_ROWS
    singular_words = (word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in table_words)
    is_named_for_concept = families != {"health"} and concept_of(" ".join(singular_words)) is not None
    is_value_list = has_several_places or is_named_for_concept or _OF_THINGS & {*table_words}
    return f"a list of values: {value_columns[0].name} is different in every row" if is_value_list else ""


def _describe_measurements(columns: Sequence[ColumnProfile]) -> str:
    """Return the reason if every combination of a day with places or things occurs once, as in measurements."""
    column_facts = [column.facts for column in columns]
    days = [
        facts
        for facts in column_facts
        if facts.kind in (Kind.DATE, Kind.TIMESTAMP) or facts.shape_share("date") >= NEARLY
    ]
    dimensions = [
        column.facts
        for column in columns
        if _people_concept(column) in _PLACES or _MEASURED_WORDS & {*words_of(column.name)}
    ]
    sizes = range(1, _MOST_TOGETHER)
    for combination in ((day, *others) for size in sizes for others in combinations(dimensions, size) for day in days):
        cells, rows = prod(facts.distinct for facts in combination), combination[0].rows
        plain = all(facts.exact and not facts.nulls and facts.distinct > 1 for facts in combination)
        if plain and rows > _FEW_ROWS and NEARLY * cells <= rows <= cells:
            return f"measurements: one row per {listed((facts.name for facts in combination), None)}"
    return ""


def _may_be_people(columns: Sequence[ColumnProfile], vague: set[str]) -> bool:
    """Return True if names or texts suggest people, apart from the vague concepts, which things have as well."""
    concepts = {_people_concept(column) for column in columns} - {""}
    names_people = any((_PERSONS | _OF_SOMEBODY) & {*words_of(column.name)} for column in columns)
    has_place_or_day = "health" in concepts and bool(concepts & {*_PLACES, "event_date"})
    if names_people or has_place_or_day or concepts - vague:
        return True
    # the shapes count whatever the column is called
    shapes = ("email", "phone", "national_id", "iban", "card_number", "ip_address")
    return any(column.facts.shape_share(*shapes) for column in columns)


def _people_concept(column: ColumnProfile) -> str:
    """Return the name of the column's concept if it helps to distinguish people from things, else an empty text."""
    concept = concept_of(column.name)
    words = {*words_of(column.name)}
    if concept is None or words <= _BARE_WORDS:
        return ""
    return "features" if concept.name == "body" and words & _OF_A_BODY else concept.name


def _concept_family(column: ColumnProfile) -> str:
    name = _people_concept(column)
    return "place" if name in _PLACES else name


def _is_key(column: ColumnProfile) -> bool:
    facts = column.facts
    return facts.exact and not facts.nulls and facts.distinct == facts.rows > 1


def _is_value_column(column: ColumnProfile) -> bool:
    facts = column.facts
    if not (facts.kind == Kind.TEXT or (facts.kind == Kind.INTEGER and _people_concept(column) != "health")):
        return False
    is_listable = bool(_concept_family(column)) and _people_concept(column) != "coordinates"
    return is_listable and not facts.shape_share("free_text") and _is_key(column)


# Tables that are published counts already: a row is a cell, not a person, so k-anonymity does not apply.

MOST_COLUMNS = 12
"""Published tables have few columns."""
MOST_CELLS = 1_000_000
MOSTLY = 0.5
"""Share of all combinations of the dimensions from which on the rows are taken for cells and not for people."""
_COUNT_NAMES = {*_GROUPS["counts"][1]}
_COUNT_WORDS = {"count", "cnt", "freq", "anzahl"}
_COUNT_PREFIXES = {"n", "num", "number", "nr"}
_PERIODS = {"year", "quarter", "month", "week", "day", "hour", "jahr", "quartal", "monat", "woche", "period"}
_DIMENSION_KINDS = (Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP)


def published_table_warning(table: CountTable) -> Warned:
    """Return the warning that the rows of a table look like published counts."""
    return Warned(
        "published_table",
        (table.count,),
        f"Rows look like cells of a published table with counts in {table.count}, not like people. Use "
        f"{command('aggregates')} for cells "
        f"({spelled('by', *table.by)} {spelled('count', table.count)} {spelled('require', 'threshold=5')}).",
    )


def unassigned_columns(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """Return the columns that are neither quasi-identifiers nor sensitive."""
    role_columns = {role.column for role in (*roles.quasi_identifiers, *roles.sensitive)}
    return [column for column in relation.columns if column.name not in role_columns]


def roleless_counts(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """Return the columns of whole numbers without a role that are named like a count."""
    return [
        column
        for column in unassigned_columns(relation, roles)
        if column.kind is Kind.INTEGER and _is_count(column.name)
    ]


def find_count_table(engine: Engine, relation: Relation, rows: int | None = None) -> CountTable | None:
    """Return the dimensions and the count of a table whose rows look like cells, None for other tables.

    The database is queried only where the names of the columns suggest it.

    Args:
        engine, relation: where the table is.
        rows: rows of the table, None if not known.

    Raises:
        EngineError: the database refused or failed.
    """
    table = _guess_count_table(relation)
    if table is None or (rows is not None and not 1 < rows <= MOST_CELLS):
        return None
    (total, combinations, unfit, *distinct) = engine.run(_cells_statement(engine, relation, table))[0]
    total = int(total)
    has_key = len(distinct) > 1 and any(int(value) >= NEARLY * total for value in distinct)
    if total <= 1 or int(combinations) != total or unfit or has_key:
        return None
    # ages and postal codes stand in tables of people as well, so they count only where most combinations have a row;
    # a period is certainly a dimension
    is_doubtful = any(_is_feature(column) for column in relation.columns if column.name in table.by)
    return table if not is_doubtful or total >= MOSTLY * prod(map(int, distinct)) else None


def count_table_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """Return the statement that `find_count_table` runs, if any."""
    table = _guess_count_table(relation)
    return [] if table is None else [_cells_statement(engine, relation, table)]


def find_group_sizes(engine: Engine, relation: Relation, other: Relation) -> CountTable | None:
    """Return the dimensions and the count of a table that holds the sizes of groups of another table, else None.

    The names of its columns do not matter; its numbers are compared with counts of the other table's rows.

    Args:
        relation: the table that may hold group sizes.
        other: the table whose rows may be counted in it.

    Raises:
        EngineError: the database refused or failed.
    """
    other_columns = {column.name.casefold(): column for column in other.columns}
    dimensions = [column for column in relation.columns if _is_dimension(column)]
    counts = [column.name for column in relation.columns if column.kind in NUMBERS and column not in dimensions]
    counterparts = [other_columns.get(column.name.casefold()) for column in dimensions]
    matching = [
        counterpart
        for counterpart, dimension in zip(counterparts, dimensions, strict=True)
        if counterpart is not None and counterpart.kind is dimension.kind
    ]
    if len(relation.columns) > MOST_COLUMNS or not dimensions or not counts:
        return None
    if len(matching) < len(dimensions) or len(dimensions) + len(counts) < len(relation.columns):
        return None
    statement = render(
        "profiles/profile_group_sizes.sql",
        engine.dialect,
        source=relation,
        dimensions=[Raw(quote(column.name, engine.dialect)) for column in dimensions],
        counts=[Raw(quote(name, engine.dialect)) for name in counts],
        other=other,
        others=[Raw(quote(column.name, engine.dialect)) for column in matching],
    )
    # Cells, most rows with one combination, cells with a group in the other table, and with a group of several rows;
    # then for each count the matching cells in which it is not NULL, and in which it is the size of the group
    (cells, most_rows, matched, matched_larger, *count_figures) = (
        int(value or 0) for value in engine.run(statement)[0]
    )
    # One row a combination, at least half of them with a group. Groups of one row match a column of ones by chance
    if not 1 < cells <= MOST_CELLS or most_rows > 1 or 2 * matched < cells or not matched_larger:
        return None
    group_sizes = [
        name
        for name, filled, equal in zip(counts, count_figures[::2], count_figures[1::2], strict=True)
        if equal == filled > 1
    ]
    return CountTable(tuple(column.name for column in dimensions), group_sizes[0]) if group_sizes else None


def _cells_statement(engine: Engine, relation: Relation, table: CountTable) -> Statement:
    return render(
        "profiles/profile_cells.sql",
        engine.dialect,
        source=relation,
        count=Raw(quote(table.count, engine.dialect)),
        dimensions=[Raw(quote(name, engine.dialect)) for name in table.by],
    )


def _guess_count_table(relation: Relation) -> CountTable | None:
    """Return the dimensions and the count that names and kinds of columns suggest, None if they suggest no cells.

    One column is named like a count; the others are dimensions or further numbers, and none identifies people.
    """
    if len(relation.columns) > MOST_COLUMNS:
        return None
    columns = relation.columns
    counts = [column.name for column in columns if column.kind in NUMBERS and _is_count(column.name)]
    features = bool(counts) and counts[0].casefold() in _COUNT_NAMES
    by = tuple(column.name for column in columns if _is_dimension(column) or (features and _is_feature(column)))
    has_other_columns = any(column.name not in by and column.kind not in NUMBERS for column in columns)
    concepts = [concept_of(name) for name in by]
    identifies_people = any(concept is not None and concept.role is Role.DIRECT_IDENTIFIER for concept in concepts)
    if not counts or not by or has_other_columns or identifies_people or any("id" in _plain_words(name) for name in by):
        return None
    return CountTable(by, counts[0])


def _is_count(name: str) -> bool:
    words = [*_plain_words(name)]
    return bool(_COUNT_WORDS & {*words}) or any(
        word in (_COUNT_PREFIXES if words[1:] else _COUNT_NAMES) for word in words[:1]
    )


def _is_dimension(column: ColumnInfo) -> bool:
    period = (
        column.kind is Kind.INTEGER and bool(_PERIODS & {*_plain_words(column.name)}) and not _is_count(column.name)
    )
    return column.kind in _DIMENSION_KINDS or period


def _is_feature(column: ColumnInfo) -> bool:
    """True if a whole number describes people: an age, a year of birth, a postal code."""
    concept = concept_of(column.name)
    period = bool(_PERIODS & {*_plain_words(column.name)})
    return column.kind is Kind.INTEGER and concept is not None and concept.role is Role.QUASI_IDENTIFIER and not period


def _plain_words(name: str) -> Iterator[str]:
    return (word for word in words_of(name) if not re.fullmatch(r"\d+", word))

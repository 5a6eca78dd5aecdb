"""The meaning of column names in several languages: people, things, and tables that are counts already."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from pathlib import Path

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import command, spelled
from sqlaudit.base.relation import NUMBERS, ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.result import NEARLY, ColumnProfile, CountTable, Role
from sqlaudit.reports.document import listing

# What a column's name says about what it holds, in several languages. Words only; values are not looked at here.

_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_SPECIAL = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d"})
_ABOUT = {"has", "is", "num", "count", "cnt", "n", "nb", "flag", "opt", "verified", "valid", "length", "anzahl"}
_ABOUT |= {"days", "hours", "minutes", "visits", "calls", "stays", "tage", "stunden", "jours", "heures", "horas"}
"""Beside one of these a word speaks of a fact about an identifier, not of the identifier: has_email, ip_days."""

_NUMBER = {"id", "nr", "no", "number", "nummer", "key"}
"""Beside one of these a word speaks of a number: admission_id is no day; date_key may be one."""
_DAY = {"date", "datum", "fecha", "dt"}


@dataclass(frozen=True)
class Concept:
    """Something that columns hold.

    Args:
        name: a stable word. role: the role of such a column. said: the words of a reason.
        doubt: what a reader should check before following the proposal.
    """

    name: str
    role: Role
    said: str
    doubt: str = ""


def concept_of(column: str) -> Concept | None:
    """The concept that a column's name suggests, None without one.

    Example:
        >>> concept_of("DateOfBirth").name, concept_of("Geschlecht").name, concept_of("page")
        ('birth_date', 'sex', None)
    """
    return next(concepts_of(column), None)


def concepts_of(column: str, *, with_about: bool = True) -> Iterator[Concept]:
    """Return all concepts that a column's name suggests, what is special before what is general.

    Args:
        column: its name. with_about: whether words such as `has` and `count` keep a name from being an identifier's.
    """
    tokens = {*(ordered := words_of(column))}
    name = " ".join(ordered)
    number = tokens & _NUMBER and not tokens & _DAY
    for concept, listed in _CONCEPTS.items():
        if number and concept.name == "event_date":
            continue
        about = tokens & _ABOUT if with_about and concept.role is Role.DIRECT_IDENTIFIER else set()
        for one in listed:
            pieces = _PIECES[one]
            if about <= {*pieces} and all(p in name for p in pieces) and _pattern(one).search(name):
                yield concept
                break


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents: at case changes, digits and everything that is neither.

    Example:
        >>> words_of("Prénom_du patientID2")
        ('prenom', 'du', 'patient', 'id', '2')
    """
    plain = unicodedata.normalize("NFKD", name.translate(_SPECIAL))
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word.lower() for word in _BOUNDARY.split(bare) if word)


@functools.cache
def _pattern(words: str) -> re.Pattern[str]:
    """Two words may be joined; … stands for the rest of a word."""
    spelled = re.escape(words.removeprefix("=")).replace("…", "[a-z]*").replace(r"\ ", " ?")
    return re.compile(f"^{spelled}$" if words.startswith("=") else f"(?:^| ){spelled}(?: |$)")


def _read_words() -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """What stands above words, and the words; the file says how it is written."""
    _, *groups = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split("\n\n")
    for group in groups:
        head, words = group.split("\n", 1)
        yield head.split(" | "), tuple(" ".join(one.split()) for one in words.split(","))


_GROUPS = {name: (about, words) for (name, *about), words in _read_words()}
_CONCEPTS = {Concept(name, Role(about[0]), *about[1:]): words for name, (about, words) in _GROUPS.items() if about}
CONCEPTS = tuple(_CONCEPTS)
WORDS = {concept.name: words for concept, words in _CONCEPTS.items()}
_PIECES = {words: words.removeprefix("=").replace("…", " ").split() for listed in WORDS.values() for words in listed}
"""What a name must have before it is worth a regular expression."""


def words_in(group: str) -> tuple[str, ...]:
    """Return the words of a group without a role in `words.txt`."""
    return _GROUPS[group][1]


def has_words_in(name: str, group: str) -> bool:
    """True if a column's name has one of the words of a group without a role."""
    text = " ".join(words_of(name))
    return any(_pattern(words).search(text) for words in words_in(group))


# Tables that are about things and not about people: calendars, lists of values, measurements, what machines keep.
#
# A requirement on persons says nothing of them. Nothing is taken for such a table that has one column which only people
# have, or health together with a place or a day: who is in doubt looks at the table.

_PLACES = {"place", "postal_code", "coordinates", "language", "nationality"}
_VAGUE = {*_PLACES, "event_date", "occupation", "education", "health", "income", "assessment", "body"}
"""What things have as well as people."""
_LISTED = {*_PLACES, "occupation", "education", "health", "marital_status", "sex", "ethnicity", "religion"}
"""What lists of values are made of."""
_BARE = {"id", "uuid", "guid", "name", "names", "nome", "naam", "description", "title", "label", "bezeichnung"}
_OF_A_BODY = {"hair", "eye", "bmi"}
_OF_SOMEBODY = {"admission", "admitted", "discharge", "death", "died", "dod", "hired", "hire", "enrolment", "aufnahme"}
_PERSONS, _CALENDAR, _OF_THINGS = ({*_GROUPS[name][1]} for name in ("persons", "calendar", "things"))
_MEASURED = {*_OF_THINGS, "station", "sensor", "symbol", "ticker", "isin", "store", "warehouse", "machine"}
_FEW = 10
_MANY = 20
_MOST_TOGETHER = 3


def about_things(table: str, columns: Sequence[ColumnProfile]) -> str:
    """Why the rows of a table seem to be things and not people; empty where they may be people.

    Args:
        table: its name. columns: their profiles.
    """
    named = words_of(table)
    if not columns or _PERSONS & {*named}:
        return ""
    listed = _value_list(named, columns)
    if _may_be_people(columns, _VAGUE):
        return listed
    days_only = len(columns) > 1 and all(_CALENDAR & {*words_of(one.name)} for one in columns)
    if days_only and any(map(_different, columns)):  # every day once, and what follows from it
        return "a calendar"
    said = [f"its name suggests {word}" for word in named if word in _OF_THINGS]
    return listed or _measured(columns) or "".join(said[:1])


def _value_list(named: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """Every value of one thing once: codes, countries, postal codes, as the table is called or two columns say.

    Only whole numbers and texts are listed: coordinates, measurements and sentences may be different for every person.
    """
    about = {_family(one) for one in columns} - {""}
    listed = [one for one in columns if _is_listed(one)]
    if len(about) != 1 or not listed or _may_be_people(columns, _LISTED):
        return ""
    several = about == {"place"} and len(listed) > 1 and listed[0].facts.rows >= _MANY
    singular = (word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in named)
    by_name = about != {"health"} and concept_of(" ".join(singular)) is not None
    said = several or by_name or _OF_THINGS & {*named}
    return f"a list of values: {listed[0].name} is different in every row" if said else ""


def _measured(columns: Sequence[ColumnProfile]) -> str:
    """Every combination of a day with places or things once, as in a table of measurements."""
    facts = [one.facts for one in columns]
    days = [one for one in facts if one.kind in (Kind.DATE, Kind.TIMESTAMP) or one.shape_share("date") >= NEARLY]
    others = [one.facts for one in columns if _name(one) in _PLACES or _MEASURED & {*words_of(one.name)}]
    sizes = range(1, _MOST_TOGETHER)
    for each in ((day, *some) for size in sizes for some in combinations(others, size) for day in days):
        cells, rows = prod(one.distinct for one in each), each[0].rows
        plain = all(one.exact and not one.nulls and one.distinct > 1 for one in each)
        if plain and rows > _FEW and NEARLY * cells <= rows <= cells:
            return f"measurements: one row per {listing((one.name for one in each), None)}"
    return ""


def _may_be_people(columns: Sequence[ColumnProfile], vague: set[str]) -> bool:
    found = {_name(one) for one in columns} - {""}
    of_persons = any((_PERSONS | _OF_SOMEBODY) & {*words_of(one.name)} for one in columns)
    mixed = "health" in found and bool(found & {*_PLACES, "event_date"})
    telling = ("email", "phone", "national_id", "iban", "card_number", "ip_address")  # whatever the column is called
    return of_persons or mixed or bool(found - vague) or any(one.facts.shape_share(*telling) for one in columns)


def _name(column: ColumnProfile) -> str:
    """The concept that a column's name suggests, as far as it distinguishes people from things."""
    concept = concept_of(column.name)
    words = {*words_of(column.name)}
    if concept is None or words <= _BARE:
        return ""
    return "features" if concept.name == "body" and words & _OF_A_BODY else concept.name


def _family(column: ColumnProfile) -> str:
    name = _name(column)
    return "place" if name in _PLACES else name


def _different(column: ColumnProfile) -> bool:
    facts = column.facts
    return facts.exact and not facts.nulls and facts.distinct == facts.rows > 1


def _is_listed(column: ColumnProfile) -> bool:
    facts = column.facts
    if not (facts.kind == Kind.TEXT or (facts.kind == Kind.INTEGER and _name(column) != "health")):
        return False
    told = bool(_family(column)) and _name(column) != "coordinates" and not facts.shape_share("free_text")
    return told and _different(column)


# Tables that are published counts already: a row is a cell, not a person, so k-anonymity does not apply.

MOST_COLUMNS = 12
"""Published tables have few columns."""
MOST_CELLS = 1_000_000
MOSTLY = 0.5
"""From this share of all combinations on, a table has a row for each rather than for persons."""
_ALONE = {*_GROUPS["counts"][1]}
_WITHIN = {"count", "cnt", "freq", "anzahl"}
_FIRST = {"n", "num", "number", "nr"}
_PERIODS = {"year", "quarter", "month", "week", "day", "hour", "jahr", "quartal", "monat", "woche", "period"}
_GROUPED = (Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP)


def published_table(found: CountTable) -> Warned:
    """The warning about such a table."""
    return Warned(
        "published_table",
        (found.count,),
        f"Rows look like cells of a published table with counts in {found.count}, not like people. Use "
        f"{command('aggregates')} for cells "
        f"({spelled('by', *found.by)} {spelled('count', found.count)} {spelled('require', 'threshold=5')}).",
    )


def without_role(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """The columns that are neither quasi-identifiers nor sensitive."""
    named = {role.column for role in (*roles.quasi_identifiers, *roles.sensitive)}
    return [column for column in relation.columns if column.name not in named]


def counts_beside(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """The columns of whole numbers without a role that are called like a count."""
    return [
        column for column in without_role(relation, roles) if column.kind is Kind.INTEGER and _is_count(column.name)
    ]


def count_table(engine: Engine, relation: Relation, rows: int | None = None) -> CountTable | None:
    """The table as cells and their counts, None where it does not look like that; asked only where names suggest it.

    Args:
        engine, relation: where the table is. rows: how many it has, when that is known.

    Raises:
        EngineError: the database refused or failed.
    """
    found = _suggested(relation)
    if found is None or (rows is not None and not 1 < rows <= MOST_CELLS):
        return None
    (total, combinations, strange, *values) = engine.run(_statement(engine, relation, found))[0]
    total = int(total)
    is_key = len(values) > 1 and any(int(value) >= NEARLY * total for value in values)
    if total <= 1 or int(combinations) != total or strange or is_key:
        return None
    # a period is sure to be a dimension: ages and postal codes stand in tables of persons as well
    doubtful = any(_is_feature(column) for column in relation.columns if column.name in found.by)
    return found if not doubtful or total >= MOSTLY * prod(map(int, values)) else None


def count_table_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """The statement that `count_table` runs, if any."""
    found = _suggested(relation)
    return [] if found is None else [_statement(engine, relation, found)]


def count_table_of(engine: Engine, relation: Relation, other: Relation) -> CountTable | None:
    """The table as the sizes of groups of another one, whatever its columns are called; None where it is not that.

    Args:
        relation: which may be such a table. other: whose rows may be counted in it.

    Raises:
        EngineError: the database refused or failed.
    """
    there = {column.name.casefold(): column for column in other.columns}
    by = [column for column in relation.columns if _is_dimension(column)]
    numbers = [column.name for column in relation.columns if column.kind in NUMBERS and column not in by]
    beside = [there.get(column.name.casefold()) for column in by]
    same = [one for one, column in zip(beside, by, strict=True) if one is not None and one.kind is column.kind]
    strange = len(relation.columns) - len(by) - len(numbers)
    if len(relation.columns) > MOST_COLUMNS or not by or not numbers or len(same) < len(by) or strange:
        return None
    statement = render(
        "profiles/profile_group_sizes.sql",
        engine.dialect,
        source=relation,
        dimensions=[Raw(quote(column.name, engine.dialect)) for column in by],
        counts=[Raw(quote(name, engine.dialect)) for name in numbers],
        other=other,
        others=[Raw(quote(column.name, engine.dialect)) for column in same],
    )
    (total, most, matched, larger, *found) = (int(one or 0) for one in engine.run(statement)[0])
    if not 1 < total <= MOST_CELLS or most > 1 or 2 * matched < total or not larger:
        return None
    equal = [name for name, known, same in zip(numbers, found[::2], found[1::2], strict=True) if same == known > 1]
    return CountTable(tuple(column.name for column in by), equal[0]) if equal else None


def _statement(engine: Engine, relation: Relation, found: CountTable) -> Statement:
    return render(
        "profiles/profile_cells.sql",
        engine.dialect,
        source=relation,
        count=Raw(quote(found.count, engine.dialect)),
        dimensions=[Raw(quote(name, engine.dialect)) for name in found.by],
    )


def _suggested(relation: Relation) -> CountTable | None:
    """What names and kinds of the columns suggest: one column called like a count, numbers, and dimensions."""
    if len(relation.columns) > MOST_COLUMNS:
        return None
    columns = relation.columns
    counts = [column.name for column in columns if column.kind in NUMBERS and _is_count(column.name)]
    features = bool(counts) and counts[0].casefold() in _ALONE
    by = tuple(one.name for one in columns if _is_dimension(one) or (features and _is_feature(one)))
    others = any(one.name not in by and one.kind not in NUMBERS for one in columns)
    concepts = [concept_of(name) for name in by]
    somebody = any(one is not None and one.role is Role.DIRECT_IDENTIFIER for one in concepts)
    if not counts or not by or others or somebody or any("id" in _words(name) for name in by):
        return None
    return CountTable(by, counts[0])


def _is_count(name: str) -> bool:
    words = [*_words(name)]
    return bool(_WITHIN & {*words}) or any(word in (_FIRST if words[1:] else _ALONE) for word in words[:1])


def _is_dimension(column: ColumnInfo) -> bool:
    period = column.kind is Kind.INTEGER and bool(_PERIODS & {*_words(column.name)}) and not _is_count(column.name)
    return column.kind in _GROUPED or period


def _is_feature(column: ColumnInfo) -> bool:
    """Whether a number says what people are like: an age, a year of birth, a postal code."""
    concept = concept_of(column.name)
    period = bool(_PERIODS & {*_words(column.name)})
    return column.kind is Kind.INTEGER and concept is not None and concept.role is Role.QUASI_IDENTIFIER and not period


def _words(name: str) -> Iterator[str]:
    return (word for word in words_of(name) if not re.fullmatch(r"\d+", word))

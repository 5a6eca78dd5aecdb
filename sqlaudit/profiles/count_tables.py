"""Tables that are published counts already: a row is no person but a cell, and k of rows says nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import command, spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import concept_of, words_of
from sqlaudit.profiles.result import NEARLY, CountTable, Role

MOST_COLUMNS = 12
"""Published tables have few columns."""
MOST_CELLS = 1_000_000
MOSTLY = 0.5
"""From this share of all combinations on, a table has a row for each rather than for persons."""
_ALONE = {
    "n",
    "count",
    "counts",
    "cnt",
    "freq",
    "frequency",
    "number",
    "anzahl",
    "cases",
    "persons",
    "people",
    "members",
}
_WITHIN = {"count", "cnt", "freq", "anzahl"}
_FIRST = {"n", "num", "number", "nr"}
_PERIODS = {"year", "quarter", "month", "week", "day", "hour", "jahr", "quartal", "monat", "woche", "period"}
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_GROUPED = (Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP)
_NUMBER_WORD = re.compile(r"\d+")


def published_table(found: CountTable) -> Warned:
    """What a reader of an audit should know of such a table."""
    return Warned(
        "published_table",
        (found.count,),
        f"Every row looks like a cell of a published table, with {found.count} as its count, and not like a person: "
        f"{command('aggregates')} judges cells "
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
    return found if _sure(relation, found) or total >= MOSTLY * prod(map(int, values)) else None


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
    numbers = [column.name for column in relation.columns if column.kind in _NUMBERS and column not in by]
    beside = [there.get(column.name.casefold()) for column in by]
    same = [one for one, column in zip(beside, by, strict=True) if one is not None and one.kind is column.kind]
    strange = len(relation.columns) - len(by) - len(numbers)
    if len(relation.columns) > MOST_COLUMNS or not by or not numbers or len(same) < len(by) or strange:
        return None
    statement = render(
        "profiles/profile_group_sizes.sql",
        engine.dialect,
        source=Raw(relation.sql),
        dimensions=[Raw(quote(column.name, engine.dialect)) for column in by],
        counts=[Raw(quote(name, engine.dialect)) for name in numbers],
        other=Raw(other.sql),
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
        source=Raw(relation.sql),
        count=Raw(quote(found.count, engine.dialect)),
        dimensions=[Raw(quote(name, engine.dialect)) for name in found.by],
    )


def _suggested(relation: Relation) -> CountTable | None:
    """What names and kinds of the columns suggest: one column called like a count, numbers, and dimensions."""
    if len(relation.columns) > MOST_COLUMNS:
        return None
    counts = [column.name for column in relation.columns if column.kind in _NUMBERS and _is_count(column.name)]
    features = bool(counts) and counts[0].casefold() in _ALONE
    by = tuple(
        column.name for column in relation.columns if _is_dimension(column) or (features and _is_feature(column))
    )
    others = [one for one in relation.columns if one.name not in by and one.kind not in _NUMBERS]
    if not counts or not by or others or any(_names_somebody(name) for name in by):
        return None
    return CountTable(by, counts[0])


def _sure(relation: Relation, found: CountTable) -> bool:
    """Whether no number but a period is a dimension: ages and postal codes stand in tables of persons as well."""
    kinds = {column.name: column for column in relation.columns}
    return not any(_is_feature(kinds[name]) for name in found.by)


def _is_count(name: str) -> bool:
    words = tuple(_words(name))
    if not words:
        return False
    return (
        (len(words) == 1 and words[0] in _ALONE) or bool(_WITHIN & {*words}) or (len(words) > 1 and words[0] in _FIRST)
    )


def _is_dimension(column: ColumnInfo) -> bool:
    period = column.kind is Kind.INTEGER and bool(_PERIODS & {*_words(column.name)}) and not _is_count(column.name)
    return column.kind in _GROUPED or period


def _is_feature(column: ColumnInfo) -> bool:
    """Whether a number says what people are like: an age, a year of birth, a postal code."""
    concept = concept_of(column.name)
    period = bool(_PERIODS & {*_words(column.name)})
    return column.kind is Kind.INTEGER and concept is not None and concept.role is Role.QUASI_IDENTIFIER and not period


def _names_somebody(name: str) -> bool:
    concept = concept_of(name)
    return (concept is not None and concept.role is Role.DIRECT_IDENTIFIER) or "id" in _words(name)


def _words(name: str) -> Iterator[str]:
    return (word for word in words_of(name) if not _NUMBER_WORD.fullmatch(word))

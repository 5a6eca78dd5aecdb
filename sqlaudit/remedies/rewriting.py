"""Rows rewritten by SQL where they lie: a remedy decides in whole numbers, and this makes a release of them.

What a remedy decides is a list of *pieces*. A piece takes the copies `first` to `last` of one row pattern (see
`patterns`), puts them into a group, and says at which level each quasi-identifier is published there:

    (number of the pattern, first copy, last copy, number of the group, level of column 1, …, level of column m)

Group 0 leaves its rows out. The copies of a pattern may part: its pieces then follow each other, 1 to 3, 4 to 9, …
Which rows those are is decided by a hash of the whole row with a secret number, so that it says nothing about them.
What the levels mean is told column by column: `KEEP`, `STAR`, `RANGE` (from the smallest to the largest value of the
group), or `at(hierarchy, level, holds)`.

Rows of one group must be published alike; that is what makes the group a class of the release. SQL checks it again
where labels come from values. `releasing` audits what comes out and writes it to a file or as SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlaudit.base.columns_of import columns_read
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.hierarchies.hierarchy import Hierarchy
from sqlaudit.hierarchies.level_sql import Holds, published
from sqlaudit.remedies.patterns import Patterns, RemedyTable

Piece = tuple[int, ...]
"""(pattern, first copy, last copy, group, level of column 1, …)"""
_AHEAD = 4


class ShownAs(StrEnum):
    """How a value is published."""

    KEEP = "keep"
    STAR = "star"
    RANGE = "range"
    LABEL = "label"


@dataclass(frozen=True)
class ColumnLevel:
    """What one level of a column means; made by `KEEP`, `STAR`, `RANGE` and `at`."""

    shown: ShownAs
    hierarchy: Hierarchy | None = None
    number: int = 0
    holds: Holds | None = None


KEEP = ColumnLevel(ShownAs.KEEP)
"""The value as it is."""
STAR = ColumnLevel(ShownAs.STAR)
"""`*`."""
RANGE = ColumnLevel(ShownAs.RANGE)
"""`[smallest, largest]` of the group; the value where they are one; `*` where some are NULL and some are not."""


def at(hierarchy: Hierarchy, number: int, holds: Holds) -> ColumnLevel:
    """The label of a level of a hierarchy.

    Args:
        hierarchy: the column's. number: of the level, 0 = the value. holds: what the column holds.
    """
    return ColumnLevel(ShownAs.LABEL, hierarchy, number, holds) if number else KEEP


@dataclass(frozen=True)
class Rewritten:
    """A release as SQL.

    Args:
        columns: of the release. keys: those that are quasi-identifiers, in the order of the table.
        unnamed: columns that no role was given to, published as they are.
        groups: of rows that are published. rows: those in it. left_out: those that are not.
        select: makes the SELECT, from FROM items for `pieces` and `expected` (empty = whole numbers in the SQL) and for
            the table (empty = as it was opened), and whether its rows come in the order of what is published.
    """

    columns: tuple[str, ...]
    keys: tuple[str, ...]
    unnamed: tuple[str, ...]
    groups: int
    rows: int
    left_out: int
    select: Callable[[str, str, str, bool], Statement] = field(repr=False, compare=False)
    pieces: Sequence[Piece] = field(repr=False, default=())
    expected: Sequence[Piece] = field(repr=False, default=())
    originals: tuple[tuple[str, str], ...] = ()
    """Columns with quasi-identifiers as they were, and the names of these; for a release in buckets."""

    def standalone(self, source: str = "", *, ordered: bool = True) -> str:
        """One SELECT that needs nothing else: whole numbers, no value of the table.

        Args:
            source: a FROM item with the same rows, for instance one that lasts; empty = the table as it was opened.
        """
        return _HEAD + self.select("", "", source, ordered).sql.partition("\n")[2]


_HEAD = """-- A release by sqlaudit. The numbers below are ranks, counts and levels. No value of the table is among
-- them, but they tell how rare its patterns are: keep this text as safe as the table. They fit the table as it was
-- when they were found: when it has other patterns, or other numbers of rows with them, this returns no row at all.
"""


def rewrite(
    table: RemedyTable,
    patterns: Patterns,
    levels: Sequence[Sequence[ColumnLevel]],
    pieces: Sequence[Piece],
    *,
    salt: int,
    persons: bool = False,
    originals: bool = False,
) -> Rewritten:
    """The release that some pieces make.

    Args:
        table: the table. patterns: as `read_patterns` gave them.
        levels: for each quasi-identifier what its levels 0, 1, … mean.
        pieces: what becomes of each copy of each pattern; see above. Every copy is in exactly one.
        salt: a secret number, 0 to 2^63-1; the same number sends the same copies into the same groups.
        persons: whether the entity's column is in it, for an audit that counts persons.
        originals: whether quasi-identifiers are in it as they were, too, in columns of their own.

    Raises:
        UsageError: columns that would give values away, or nothing that is left to publish.
        ValueError: pieces that do not take every copy once, or a level that a column has not.

    Example:
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.classes.opening import resolve_roles
        >>> from sqlaudit.remedies.patterns import read_patterns
        >>> from sqlaudit.base.spec import Roles, Target
        >>> with connect() as engine:
        ...     relation = engine.open(Target(query="SELECT * FROM (VALUES (1, 5), (1, 5), (1, 6)) AS t(a, b)"))
        ...     table = RemedyTable(engine, relation, resolve_roles(Roles(("a", "b")), relation, "duckdb"), Roles())
        ...     patterns = read_patterns(table)
        ...     both = [[KEEP, STAR], [KEEP, STAR]]
        ...     made = rewrite(table, patterns, both, [(1, 1, 2, 1, 0, 1), (2, 1, 1, 1, 0, 1)], salt=3)
        ...     engine.run(made.select("", "", "", True))
        [(1, '*'), (1, '*'), (1, '*')]
    """
    _check(patterns, levels, pieces)
    layout = _layout(table, persons)
    names = tuple(column["shown"] for column in layout)
    beside = _originals(table, names) if originals else []
    parting = any(piece[1] > 1 for piece in pieces)
    fixed = {**_labels(table, levels, pieces), "parting": parting, "salt": int(salt), "count": len(patterns.sizes)}
    expected = patterns.listed()

    def select(pieces_from: str, expected_from: str, source: str, ordered: bool) -> Statement:
        parameters = (
            table.parameters(_others(table))
            | fixed
            | {
                "pieces": Raw(pieces_from or values(pieces)),
                "expected": Raw(expected_from or values(expected)),
                "published": [*layout, *beside],
                "ordered": ordered,
            }
        )
        if source:
            parameters["source"] = Raw(source)
        return render("remedies/remedy_release.sql", table.engine.dialect, step="release", **parameters)

    kept = sum(piece[2] - piece[1] + 1 for piece in pieces if piece[3])
    keys = tuple(column["shown"] for column in layout if column["key"])
    sensitive = {name for role in table.roles.sensitive for name in columns_read(role, table.relation, _dialect(table))}
    unnamed = tuple(name for name in names if name not in {*keys, *sensitive})
    groups = len({piece[3] for piece in pieces if piece[3]})
    as_they_were = tuple(
        (column["shown"], role.column or role.label)
        for column, role in zip(beside, table.roles.quasi_identifiers, strict=False)
    )
    left_out = patterns.rows - kept
    return Rewritten(names, keys, unnamed, groups, kept, left_out, select, pieces, expected, as_they_were)


def values(rows: Sequence[Piece]) -> str:
    """Rows of whole numbers as a FROM item, the same in every dialect.

    Example:
        >>> values([(1, 2), (3, 4)])
        '(VALUES (1, 2), (3, 4))'
    """
    return "(VALUES " + ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows) + ")"


def _dialect(table: RemedyTable) -> str:
    return table.engine.dialect


def _check(patterns: Patterns, levels: Sequence[Sequence[ColumnLevel]], pieces: Sequence[Piece]) -> None:
    """Every copy of every pattern is in exactly one piece, at levels that there are."""
    reached = [0] * (len(patterns.sizes) + 1)
    for number, first, last, group, *chosen in sorted(pieces):
        if first != reached[number] + 1 or last < first or group < 0:
            raise ValueError(f"the pieces of pattern {number} do not follow each other")
        if len(chosen) != len(levels) or not all(
            0 <= one < len(known) for one, known in zip(chosen, levels, strict=True)
        ):
            raise ValueError(f"pattern {number} is published at levels that its columns do not have")
        reached[number] = last
    if reached[1:] != patterns.sizes.tolist():
        raise ValueError("the pieces do not take every copy of every pattern")


def _others(table: RemedyTable) -> list[str]:
    """Every column of the table, quoted."""
    return [quote(column.name, _dialect(table)) for column in table.relation.columns]


def _labels(table: RemedyTable, levels: Sequence[Sequence[ColumnLevel]], pieces: Sequence[Piece]) -> dict[str, Any]:
    """The columns as the template has them, and what is joined for their labels."""
    columns, joins, checked, spanned = [], ["rewritten"], [], []
    for place, known in enumerate(levels):
        used = {piece[_AHEAD + place] for piece in pieces if piece[3]}
        shown = {known[one].shown for one in used}
        # a level that no piece uses is not joined, so its label must not be named
        made = [
            _level(table, level if number in used else STAR, place, number, joins) for number, level in enumerate(known)
        ]
        columns.append({"plain": shown <= {ShownAs.KEEP}, "levels": made})
        if ShownAs.RANGE in shown:
            spanned.append(place + 1)
        if ShownAs.LABEL in shown:
            checked.append(place + 1)
    if spanned:
        joins.insert(1, "JOIN spans ON rewritten.group_number = spans.group_number")
    return {"columns": columns, "labelled": Raw("\n    ".join(joins)), "checked": checked, "spanned": spanned}


def _level(table: RemedyTable, level: ColumnLevel, place: int, number: int, joins: list[str]) -> dict[str, Any]:
    if level.hierarchy is None or level.holds is None:
        return {"kind": level.shown.value, "expression": ""}
    value, alias = f"rewritten.q{place + 1}", f"labels_{place + 1}_{number}"
    found = published(level.hierarchy, level.number, value, _dialect(table), level.holds, alias)
    if found.join:
        joins.append(found.join)
    return {"kind": level.shown.value, "expression": Raw(found.expression)}


def _layout(table: RemedyTable, persons: bool) -> list[dict[str, Any]]:
    """The columns of the release: where they come from, and what they are called.

    Raises:
        UsageError: a column would give away what is rewritten, or two columns would have one name, or there are none.
    """
    roles, dialect = table.roles, _dialect(table)
    keys, sensitive, identifiers = (
        {name for role in group for name in columns_read(role, table.relation, dialect)}
        for group in (roles.quasi_identifiers, roles.sensitive, roles.identifiers)
    )
    entity = columns_read(roles.entity, table.relation, dialect) if roles.entity and not persons else set()
    if keys & sensitive:
        raise UsageError(
            f"Column {min(keys & sensitive)!r} is both rewritten and read by a sensitive expression; a release that "
            "keeps the second gives the first away."
        )
    found = [
        _column(f"r{place}", role.label, key=True)
        for place, role in enumerate(roles.quasi_identifiers, 1)
        if role.column is None
    ]
    by_column = {role.column: place for place, role in enumerate(roles.quasi_identifiers, 1)}
    for position, column in enumerate(table.relation.columns, 1):
        if column.name in by_column:
            found.append(_column(f"r{by_column[column.name]}", column.name, key=True))
        elif column.name not in {*keys, *identifiers, *entity}:
            found.append(_column(f"v{position}", column.name))
    _refuse_twins(found)
    return found


def _originals(table: RemedyTable, names: Sequence[str]) -> list[dict[str, Any]]:
    """The quasi-identifiers as they were, under names that no column has."""
    taken, found = {name.casefold() for name in names}, []
    for place, _ in enumerate(table.roles.quasi_identifiers, 1):
        name = f"sqlaudit_original_{place}"
        while name in taken:
            name += "_"
        found.append(_column(f"q{place}", name))
    return found


def _column(source: str, name: str, *, key: bool = False) -> dict[str, Any]:
    return {"from": source, "name": quote(name, "duckdb"), "shown": name, "key": key}


def _refuse_twins(found: Sequence[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for column in found:
        if column["shown"].casefold() in seen:
            raise UsageError(
                f"The release would have two columns called {column['shown']!r}; name the expression in another way."
            )
        seen.add(column["shown"].casefold())

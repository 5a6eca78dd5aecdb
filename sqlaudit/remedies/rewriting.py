"""Rows rewritten by SQL where they lie: patterns as numbers, one SELECT, and an audit before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sqlaudit.audits.release import (
    audit_written,
    bare,
    contradiction,
    create_table,
    failed,
    kept,
    laid_in_buckets,
    write,
    write_buckets,
)
from sqlaudit.audits.request import AuditRequest, request_verdicts
from sqlaudit.audits.run import audit_table
from sqlaudit.audits.written import Origin
from sqlaudit.base.columns_of import Resolved, columns_read
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import quote, shown
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import NOTHING, BucketPublication, Publication
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Limits, Requirement, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import ONE_TASK_ROWS, Database, Engine, View
from sqlaudit.hierarchies.levels import ColumnType, Hierarchy, published_column
from sqlaudit.lattices.result import Checked
from sqlaudit.profiles.identifying import ReleaseColumns, find_release_columns
from sqlaudit.remedies.result import Release

# The row patterns of a table as whole numbers: what every remedy decides on. Values stay in the database.

Integers = npt.NDArray[np.int64]
_WIDEST = 1 << 62


@dataclass(frozen=True)
class RemedyTable:
    """The table that a remedy rewrites, as it was opened.

    Args:
        engine: an open engine. relation: the table. roles: its roles, resolved in it. given: as they were given.
        apart: what else tells patterns apart, for instance a sensitive attribute whose values must be spread.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    apart: tuple[Resolved, ...] = ()

    @property
    def keys(self) -> tuple[Resolved, ...]:
        """Return what patterns are made of: the quasi-identifiers, then what else tells them apart."""
        return (*self.roles.quasi_identifiers, *self.apart)

    def written(self, keep: Sequence[str]) -> ReleaseColumns:
        """Return what a release of it holds as it is.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        return find_release_columns(
            self.engine, self.relation, self.roles.not_published_as_they_are, keep, self.roles.published_as_they_are
        )

    def parameters(self, others: Sequence[str] = ()) -> dict[str, Any]:
        """Return what the steps in `_remedy.sql` need; `others` are further columns, quoted."""
        return {
            "source": self.relation,
            "keys": self.keys,
            "collated": [key.collated for key in self.keys],
            "others": [Raw(name) for name in others],
            "many": False,
        }

    def patterns_statement(self, *, many: bool = False) -> Statement:
        """The statement that numbers and counts the patterns, of which a cluster numbers `many` in parts.

        Raises:
            UsageError: there are no quasi-identifiers.
        """
        if not self.roles.quasi_identifiers:
            raise UsageError(
                f"No quasi-identifiers are named. Name the columns to rewrite: {spelled('qi', 'age', 'sex')}."
            )
        parameters = self.parameters() | {"many": many}
        return render("remedies/remedy_patterns.sql", self.engine.dialect, step="row patterns", **parameters)


@dataclass(frozen=True)
class Patterns:
    """The row patterns, in the order of their numbers 1, 2, …

    Args:
        sizes: rows that have each.
        codes: (patterns × keys) the rank of each value in its column, 0 = NULL; the keys are the quasi-identifiers and
            then what else tells patterns apart.
    """

    sizes: Integers
    codes: Integers

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.sizes.sum())

    def listed(self) -> list[tuple[int, ...]]:
        """One tuple a pattern: its number, its rows, its codes."""
        numbers = np.arange(1, len(self.sizes) + 1)
        table = np.column_stack([numbers, self.sizes, self.codes])
        return [tuple(row) for row in table.tolist()]


def read_patterns(table: RemedyTable) -> Patterns:
    """Number and count the row patterns of a table; nothing in Python grows with its rows.

    Raises:
        UsageError: there are no quasi-identifiers. EngineError: the database refused or failed.

    Example:
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.classes.opening import resolve_roles
        >>> from sqlaudit.base.spec import Target
        >>> with connect() as engine:
        ...     relation = engine.open(Target(query="SELECT * FROM (VALUES (7, 'x'), (7, NULL), (7, 'x')) AS t(a, b)"))
        ...     roles = Roles(("a", "b"))
        ...     found = read_patterns(RemedyTable(engine, relation, resolve_roles(roles, relation, engine), roles))
        >>> found.sizes.tolist(), found.codes.tolist()
        ([2, 1], [[1, 1], [1, 0]])
    """
    engine, many = table.engine, False
    if engine.can_materialize and not engine.own_workbench:
        count = render("base/row_count.sql", engine.dialect, step="rows", source=table.relation)
        many = int(engine.run(count)[0][0]) > ONE_TASK_ROWS
    arrays = engine.columns_as_arrays(table.patterns_statement(many=many))
    columns = [np.asarray(values, dtype=np.int64) for values in arrays.values()]
    sizes = columns[1] if len(columns) > 1 else np.zeros(0, dtype=np.int64)
    width = len(table.keys)
    codes = np.column_stack(columns[2:]) if len(sizes) else np.zeros((0, width), dtype=np.int64)
    return Patterns(sizes, codes)


def groups_of(codes: Integers, columns: Sequence[int]) -> Integers:
    """A number 0, 1, … for each row of codes, the same for rows that agree in some columns.

    Example:
        >>> groups_of(np.array([[3, 1], [4, 1], [3, 1]]), [0, 1]).tolist()
        [0, 1, 0]
    """
    packed, size = np.zeros(len(codes), dtype=np.int64), 1
    for column in columns:
        width = int(codes[:, column].max(initial=0)) + 1
        if size * width >= _WIDEST:
            found, packed = np.unique(packed, return_inverse=True)
            size = len(found)
        packed = packed * width + codes[:, column]
        size *= width
    return np.asarray(np.unique(packed, return_inverse=True)[1], dtype=np.int64)


# Rows rewritten by SQL where they lie: a remedy decides in whole numbers, and this makes a release of them.
#
# What a remedy decides is a list of *pieces*. A piece takes the copies `first` to `last` of one row pattern (see
# `Patterns`), puts them into a group, and says at which level each quasi-identifier is published there:
#
#     (number of the pattern, first copy, last copy, number of the group, level of column 1, …, level of column m)
#
# Group 0 leaves its rows out. The copies of a pattern may part: its pieces then follow each other, 1 to 3, 4 to 9, …
# Which rows those are is decided by a hash of the whole row with a secret number, so that it says nothing about them.
# What the levels mean is told column by column: `KEEP`, `STAR`, `RANGE` (from the smallest to the largest value of the
# group), or `at(hierarchy, level, holds)`.
#
# Rows of one group must be published alike; that is what makes the group a class of the release. SQL checks it again
# where labels come from values. `release` audits what comes out and writes it to a file or as SQL.

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
    holds: ColumnType | None = None


KEEP = ColumnLevel(ShownAs.KEEP)
"""The value as it is."""
STAR = ColumnLevel(ShownAs.STAR)
"""`*`."""
RANGE = ColumnLevel(ShownAs.RANGE)
"""`[smallest, largest]` of the group; the value where they are one; `*` where some are NULL and some are not."""


def at(hierarchy: Hierarchy, number: int, holds: ColumnType) -> ColumnLevel:
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
        >>> from sqlaudit.remedies.rewriting import read_patterns
        >>> from sqlaudit.base.spec import Roles, Target
        >>> with connect() as engine:
        ...     relation = engine.open(Target(query="SELECT * FROM (VALUES (1, 5), (1, 5), (1, 6)) AS t(a, b)"))
        ...     table = RemedyTable(engine, relation, resolve_roles(Roles(("a", "b")), relation, engine), Roles())
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
    fixed |= {"many": len(patterns.sizes) > ONE_TASK_ROWS}
    expected = patterns.listed()

    others = [quote(column.name, table.engine.dialect) for column in table.relation.columns]
    parameters = table.parameters(others) | fixed | {"published": [*layout, *beside]}

    def select(pieces_from: str, expected_from: str, source: str, ordered: bool) -> Statement:
        more = {"pieces": Raw(pieces_from or values(pieces)), "expected": Raw(expected_from or values(expected))}
        more |= {"source": Raw(source)} if source else {}
        asked = parameters | more | {"ordered": ordered}
        return render("remedies/remedy_release.sql", table.engine.dialect, step="release", **asked)

    kept = sum(piece[2] - piece[1] + 1 for piece in pieces if piece[3])
    keys = tuple(column["shown"] for column in layout if column["key"])
    sensitive = {
        name for role in table.roles.sensitive for name in columns_read(role, table.relation, table.engine.dialect)
    }
    unnamed = tuple(name for name in names if name not in {*keys, *sensitive})
    groups = len({piece[3] for piece in pieces if piece[3]})
    labels = (role.column or role.label for role in table.roles.quasi_identifiers)
    as_they_were = tuple((column["shown"], label) for column, label in zip(beside, labels, strict=False))
    left_out = patterns.rows - kept
    return Rewritten(names, keys, unnamed, groups, kept, left_out, select, pieces, expected, as_they_were)


def values(rows: Sequence[Piece]) -> str:
    """Rows of whole numbers as a FROM item, the same in every dialect.

    Example:
        >>> values([(1, 2), (3, 4)])
        '(VALUES (1, 2), (3, 4))'
    """
    return "(VALUES " + ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows) + ")"


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


def _labels(table: RemedyTable, levels: Sequence[Sequence[ColumnLevel]], pieces: Sequence[Piece]) -> dict[str, object]:
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


def _level(table: RemedyTable, level: ColumnLevel, place: int, number: int, joins: list[str]) -> dict[str, object]:
    if level.hierarchy is None or level.holds is None:
        return {"kind": level.shown.value, "expression": ""}
    value, alias = f"rewritten.q{place + 1}", f"labels_{place + 1}_{number}"
    found = published_column(level.hierarchy, level.number, value, table.engine.dialect, level.holds, alias)
    if found.join:
        joins.append(found.join)
    return {"kind": level.shown.value, "expression": Raw(found.expression)}


def _layout(table: RemedyTable, persons: bool) -> list[dict[str, Any]]:
    """The columns of the release: where they come from, and what they are called.

    Raises:
        UsageError: a column would give away what is rewritten, or two columns would have one name, or there are none.
    """
    roles, dialect = table.roles, table.engine.dialect
    keys, sensitive, identifiers = (
        {name for role in group for name in columns_read(role, table.relation, dialect)}
        for group in (roles.quasi_identifiers, roles.sensitive, roles.identifiers)
    )
    entity = columns_read(roles.entity, table.relation, dialect) if roles.entity and not persons else set()
    if keys & sensitive:
        raise UsageError(
            f"Column {shown(min(keys & sensitive))} is both rewritten and read by a sensitive expression, whose values "
            "in the release reveal it."
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
    names = [column["shown"] for column in found]
    folded = [name.casefold() for name in names]
    twin = next((name for place, name in enumerate(names) if folded[place] in folded[:place]), None)
    if twin is not None:
        raise UsageError(f"The release has two columns called {shown(twin)}. Use a different name for the expression.")
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


# From rewritten rows to a release: audited always, then written to a file or as SQL.

RELEASED = "sqlaudit_remedied"
PIECES = "sqlaudit_pieces"
EXPECTED = "sqlaudit_expected"
BATCH = 50_000
"""Pieces that travel to the database at a time."""


def release(
    table: RemedyTable,
    made: Rewritten,
    audited: Rewritten,
    requirements: Sequence[Requirement],
    *,
    original: Target | None = None,
    inputs: Mapping[str, object] | None = None,
    publication: Publication = NOTHING,
) -> Release:
    """Audit a release with what was required of it, and only then write it.

    Args:
        table: the table. made: the release. audited: the same for its audit: with the entity's column, if there is one
            (`rewrite(…, persons=True)`), else `made` again.
        requirements, inputs: of the audit. original: the table, as it was named, for labels.
        publication: where it goes.

    Raises:
        EngineError: the audit contradicts the remedy, or the database refused or failed.
        UsageError: the file cannot be written, or there is no SELECT for such a target.
    """
    engine = table.engine
    sql = made.standalone(engine.lasting(table.relation)) if publication.is_sql else ""
    with _given(table, audited) as items, kept(engine, RELEASED, bare(audited.select(*items, "", False))) as relation:
        given = table.given
        sampling = given.sampling.of_release(audited.rows + audited.left_out, given.entity)
        roles = replace(given, quasi_identifiers=audited.keys, identifiers=(), sampling=sampling)
        audit = request_verdicts(Target(relation=table.relation.label), roles, requirements, inputs)
        checked = _checked(table, audited, relation, audit)
        another = disagree("the file has a different number of rows")
        buckets = publication.buckets if isinstance(publication, BucketPublication) else None
        if isinstance(publication, BucketPublication) and buckets is not None:
            laid = laid_in_buckets(relation.sql, made.columns, made.keys, audited.originals, table.roles)
            write_buckets(engine, publication, laid, audit, (checked.rows, checked.classes, False), original)
        else:
            known = (checked.rows, checked.classes, ())
            check = partial(
                audit_written, engine, publication, names=made.columns, request=audit, roles=table.roles, known=known
            )
            quoted = [quote(name, "duckdb") for name in made.columns]
            statement = render(
                "remedies/remedy_rows.sql", engine.dialect, step="release", source=relation, names=quoted
            )
            rows = engine.stream(statement)
            check = partial(check, disagree=disagree)
            origin = Origin(original, made.keys)
            write(engine, publication, sql, made.columns, rows, made.rows, another, check, origin)
    file, found = str(publication.file or ""), (made.columns, made.keys, made.unnamed, made.groups)
    if publication.table:  # which is made when this connection is closed
        file, select, sql = "", sql, View(publication.table, sql, "table").statement(engine.dialect)
        return Release(*found, made.rows, made.left_out, checked, file, sql, select=select)
    return Release(*found, made.rows, made.left_out, checked, file, sql, str(buckets or ""))


R = TypeVar("R", bound=Any)


def make_table(request: Any, result: R, db: Database, limits: Limits) -> R:
    """Make the table of a release that was audited, if that was asked; return the result with its name."""
    publication, made = request.publication, result.release
    if made is None or not publication.execute:
        return result
    given, judged = request.roles, ()
    roles = Roles(tuple(made.keys), nulls=given.nulls)
    if given.entity is None and not given.sampling.given and not request.inputs:  # else it lacks what they need
        roles, judged = replace(given, quasi_identifiers=tuple(made.keys), identifiers=()), request.requirements
    counted = made.audit.rows, made.audit.classes
    create_table(publication, made.select, counted, (roles, judged), db, limits)
    released: R = replace(result, release=replace(made, file=str(publication.file)))
    return released


def sql_of_release(request: Any, result: Any) -> str:
    """Return the SELECT or CREATE TABLE of a release if it is to be printed, else nothing."""
    is_printed = request.publication.with_sql or request.publication.table
    return str(result.release.sql) if result.release and is_printed else ""


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return contradiction("The audit of the release contradicts the remedy, and nothing was published", what)


@contextmanager
def _given(table: RemedyTable, made: Rewritten) -> Iterator[tuple[str, str]]:
    """FROM items of the pieces and of the expected patterns: kept in the session where the engine can, else empty."""
    engine = table.engine
    if not engine.can_materialize:
        yield "", ""
        return
    try:
        yield _keep(table, PIECES, made.pieces), _keep(table, EXPECTED, made.expected)
    finally:
        engine.drop(PIECES)
        engine.drop(EXPECTED)


def _keep(table: RemedyTable, name: str, rows: Sequence[Piece]) -> str:
    columns = [(f"c{place}", "BIGINT") for place, _ in enumerate(rows[0])] if rows else [("c0", "BIGINT")]
    batches = (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
    return table.engine.keep_rows(name, columns, batches).sql


def _checked(table: RemedyTable, made: Rewritten, relation: Relation, request: AuditRequest) -> Checked:
    """Return what an audit says of the release.

    Raises:
        EngineError: it has other rows than were decided, or fails a requirement.
    """
    found = audit_table(table.engine, request, relation=relation)
    if found.rows != made.rows:
        raise EngineError(disagree(f"the release has {found.rows:,} rows, not {made.rows:,}"))
    failing = failed(found)
    if failing and found.rows:  # nothing can be said of no row
        raise EngineError(disagree(f"{failing[0].text!r} fails"))
    return Checked(found.status.value, found.rows, found.classes.count, made.left_out, checks=found.required)

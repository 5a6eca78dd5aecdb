"""Aggregate queries as users write them, taken apart, and which cells can satisfy their conditions."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import Undecidable, UsageError
from sqlaudit.base.guard import read_statements, refuse_alias, refuse_deep, too_deep
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import DATES, Kind
from sqlaudit.hierarchies.cell_reader import CellReader, as_interval
from sqlaudit.hierarchies.cells import AnyValue, Bound, Cell, Exact, Interval, Mask, Values, point_of, to_half_open
from sqlaudit.release.compare.coding import Covered
from sqlaudit.release.compare.pairing import Side

# Aggregate queries as users write them, taken apart: what is counted, by what it is grouped, on which conditions.

AGGREGATES: dict[object, str] = {exp.Count: "COUNT", exp.Sum: "SUM", exp.Avg: "AVG"}
_PARTS = {"expressions", "from_", "from", "where", "group", "kind"}


@dataclass(frozen=True)
class AggregateQuery:
    """One query.

    Args:
        number: 1, 2, … in the order of the file. aggregate: COUNT, SUM or AVG.
        summed: the text of what is added up, empty for COUNT(*).
        groups: names of the columns that it groups by. conditions: texts that must all hold.
        columns: for each condition the names of its columns.
    """

    number: int
    aggregate: str
    summed: str
    summed_columns: tuple[str, ...]
    groups: tuple[str, ...]
    conditions: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]

    @property
    def option(self) -> str:
        """Return what errors call it."""
        return f"{spelled('queries')}, query {self.number}"


def read_queries(texts: Sequence[str], dialect: str) -> list[AggregateQuery]:
    """The queries in some texts; each text may hold several, separated by semicolons.

    The table that a query names does not matter: it is asked of the original and of the release.

    Args:
        texts: SQL. dialect: the sqlglot name of the engine's dialect.

    Raises:
        UsageError: something that is not one SELECT of one aggregate over one table; the query's number is named.

    Example:
        >>> found = read_queries(["SELECT COUNT(*) FROM t WHERE age > 30 AND sex = 'f'"], "duckdb")
        >>> found[0].aggregate, found[0].columns
        ('COUNT', (('age',), ('sex',)))
    """
    trees: list[exp.Expression] = []
    for text in texts:
        where = f"{about('queries')}: after query {len(trees)} a text"
        try:
            trees += read_statements(text, dialect, where)
        except SqlglotError:
            raise UsageError(f"{where} could not be read as SQL.") from None
        except RecursionError:
            raise too_deep(where) from None
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    for number, tree in enumerate(trees, 1):
        refuse_deep(tree, f"{spelled('queries')}, query {number}")
    return [_query(tree, number, dialect) for number, tree in enumerate(trees, 1)]


def _query(tree: exp.Expression, number: int, dialect: str) -> AggregateQuery:
    """Read an aggregate query from its syntax tree.

    Raises:
        UsageError: it is not one COUNT, SUM or AVG over one table.
    """
    option = f"{spelled('queries')}, query {number}"
    if not isinstance(tree, exp.Select):
        raise UsageError(f"{option} is not a SELECT.")
    present = {key for key, value in tree.args.items() if value}
    if present - _PARTS or list(tree.find_all(exp.Subquery, exp.Window)):
        raise UsageError(f"{option}: only SELECT … FROM one table WHERE … GROUP BY … is supported.")
    aggregates = [node for node in tree.expressions if isinstance(node.unalias(), exp.AggFunc)]
    group, where = tree.args.get("group"), tree.args.get("where")
    grouped = [] if group is None else group.expressions
    stated = {key for key, value in group.args.items() if value} if group is not None else {"expressions"}
    if stated != {"expressions"} or not all(isinstance(node, exp.Column) for node in grouped):
        raise UsageError(f"{option}: GROUP BY takes columns.")
    groups = tuple(node.name for node in grouped)
    plain = [node.unalias() for node in tree.expressions if node not in aggregates]
    if len(aggregates) != 1 or any(not isinstance(node, exp.Column) or node.name not in groups for node in plain):
        raise UsageError(f"{option}: select one COUNT(*), SUM or AVG, and columns that the query groups by.")
    name, summed = _aggregate(aggregates[0].unalias(), option)
    for part in (summed, where, group):
        if part is not None:
            refuse_alias(part, option)
    conditions = (list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]) if where else []
    return AggregateQuery(
        number,
        name,
        "" if summed is None else summed.sql(dialect=dialect),
        () if summed is None else _columns(summed),
        groups,
        tuple(condition.sql(dialect=dialect) for condition in conditions),
        tuple(_columns(condition) for condition in conditions),
    )


def _aggregate(node: Any, option: str) -> tuple[str, Any]:
    name = AGGREGATES.get(type(node))
    inner = node.this
    if name is None or isinstance(inner, exp.Distinct):
        raise UsageError(f"{option}: the aggregate must be COUNT(*), SUM(column) or AVG(column).")
    if name == "COUNT":
        if not isinstance(inner, exp.Star):
            raise UsageError(f"{option}: count rows with COUNT(*); for rows that have a value add IS NOT NULL.")
        return name, None
    return name, inner


def _columns(node: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for column in node.find_all(exp.Column)))


# Conditions that link columns by OR and NOT, so that no product over columns tells whether they hold.
#
# Such a condition is a formula over atoms, each about one quasi-identifier or about other columns. Values of a column
# that its atoms cannot tell apart are counted together: a signature has a digit for each atom, 1 = true, 0 = false, 2
# = unknown, as SQL has it. A formula is then decided for each combination of signatures that occurs, so that rows that
# satisfy several of its parts are counted once.

MOST_ATOMS = 20
"""Atoms about one column, at most: a signature has to be a whole number."""
MOST_COMBINATIONS = 200_000
"""Combinations of signatures that formulas are decided for, at most."""
OTHERS = 0
"""The place of what is about no quasi-identifier: it is the same in original and release."""
Formula = tuple[Any, ...]
"""("atom", place, number), ("not", formula), or ("and" or "or", formula, formula, …)."""


@dataclass(frozen=True)
class Linked:
    """The linked conditions of a query: formulas that must all hold, and the SQL of their atoms by place."""

    formulas: tuple[Formula, ...]
    atoms: Mapping[int, tuple[str, ...]]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the quasi-identifiers in them."""
        return tuple(sorted(position for position in self.atoms if position != OTHERS))

    def met(self, occurring: Mapping[int, Sequence[int]], option: str) -> list[tuple[int, ...]]:
        """The combinations of signatures for which all conditions hold: of `places`, then of the others (0 if none).

        Raises:
            UsageError: there are too many combinations to decide.
        """
        order = (*self.places, OTHERS)
        domains = [occurring.get(position, (0,)) for position in order]
        if math.prod(max(1, len(domain)) for domain in domains) > MOST_COMBINATIONS:
            raise Undecidable(
                f"{option}: its conditions distinguish more than {MOST_COMBINATIONS:,} kinds of rows. Link fewer "
                "columns by OR, or use several queries."
            )
        return [
            combination
            for combination in product(*domains)
            if all(truth(formula, dict(zip(order, combination, strict=True))) == 1 for formula in self.formulas)
        ]


def link(conditions: Sequence[str], dialect: str, place_of: Callable[[str], int | None], option: str) -> Linked:
    """Return what links columns in some conditions.

    Args:
        conditions: their SQL. place_of: the place of the quasi-identifier of a name, None for another column.

    Raises:
        UsageError: an atom is about several quasi-identifiers, or has too many beside it.

    Example:
        >>> found = link(["a > 1 OR NOT b = 2"], "duckdb", {"a": 1, "b": 2}.get, "query 1")
        >>> found.formulas, dict(found.atoms)
        ((('or', ('atom', 1, 0), ('atom', 2, 0)),), {1: ('a > 1',), 2: ('NOT b = 2',)})
        >>> found.met({1: [0, 1], 2: [0, 2]}, "query 1")
        [(1, 0, 0), (1, 2, 0)]
    """
    atoms: dict[int, list[str]] = {}

    def read(node: Any) -> Formula:
        places = {place_of(column.name) or OTHERS for column in node.find_all(exp.Column)}
        if len(places) < 2:
            position = places.pop() if places else OTHERS
            texts = atoms.setdefault(position, [])
            text = node.sql(dialect=dialect)
            if text not in texts:
                texts.append(text)
            return ("atom", position, texts.index(text))
        if isinstance(node, exp.Paren):
            return read(node.this)
        if isinstance(node, exp.Not):
            return ("not", read(node.this))
        if isinstance(node, exp.And | exp.Or):
            return ("and" if isinstance(node, exp.And) else "or", *(read(part) for part in node.flatten()))
        raise UsageError(
            f"{option}: a comparison mixes a quasi-identifier with other columns. Compare them separately, linked by "
            "AND, OR and NOT."
        )

    formulas = tuple(read(sqlglot.parse_one(text, dialect=dialect)) for text in conditions)
    if max(map(len, atoms.values()), default=0) > MOST_ATOMS:
        raise UsageError(f"{option}: has more than {MOST_ATOMS} comparisons of one column linked by OR.")
    return Linked(formulas, {place: tuple(texts) for place, texts in sorted(atoms.items())})


def truth(formula: Formula, signatures: Mapping[int, int]) -> int:
    """Return 1, 0, or 2 for unknown, by SQL's logic of three values.

    Args:
        formula: the formula.
        signatures: for each column the truth of its atoms, as digits in base 3, the lowest for atom 0.

    Example:
        >>> truth(("or", ("atom", 1, 0), ("not", ("atom", 1, 1))), {1: 2 + 3 * 0})
        1
    """
    kind, *parts = formula
    if kind == "atom":
        position, number = parts
        digit: int = signatures[position] // 3 ** int(number) % 3
        return digit
    truths = [truth(part, signatures) for part in parts]
    if kind == "not":
        return {0: 1, 1: 0}.get(truths[0], 2)
    decisive = 0 if kind == "and" else 1
    if decisive in truths:
        return decisive
    return 2 if 2 in truths else 1 - decisive


# Which columns a query is about: its conditions and groups by quasi-identifier, and those of other columns.


@dataclass(frozen=True)
class QueryParts:
    """A query by columns: conditions by the place of their quasi-identifier and about other columns; groups of both
    kinds; the places of all quasi-identifiers in it; what links columns by OR."""

    conditions: dict[int, list[str]]
    elsewhere: tuple[str, ...]
    grouped: tuple[int, ...]
    further: tuple[str, ...]
    places: tuple[int, ...]
    linked: Linked


def parts_of(query: AggregateQuery, covered: Sequence[Covered], original: Side, dialect: str) -> QueryParts:
    """A query by columns.

    Args:
        covered: the quasi-identifiers. original: the table whose columns the query calls by name.

    Raises:
        UsageError: columns that are not there, or conditions that cannot be told apart by column.
    """
    names = {*query.groups, *query.summed_columns, *(name for column_names in query.columns for name in column_names)}
    positions = {name: place_of(name, covered, original) for name in names}
    if any(positions[name] for name in query.summed_columns):
        raise UsageError(f"{query.option}: cells of a quasi-identifier are ranges, which have no sum.")
    by_place: dict[int | None, list[str]] = {}
    linking = []
    for condition, columns in zip(query.conditions, query.columns, strict=True):
        places = {positions[name] for name in columns} or {None}
        if len(places) > 1:
            linking.append(condition)
        else:
            by_place.setdefault(places.pop(), []).append(condition)
    elsewhere = by_place.pop(None, ())
    conditions = {position: texts for position, texts in by_place.items() if position is not None}
    grouped = tuple(position for name in query.groups if (position := positions[name]) is not None)
    further = tuple(name for name in query.groups if positions[name] is None)
    linked = link(linking, dialect, positions.get, query.option)
    places_of = tuple(sorted({*conditions, *grouped, *linked.places}))
    return QueryParts(conditions, tuple(elsewhere), grouped, further, places_of, linked)


def place_of(name: str, covered: Sequence[Covered], original: Side) -> int | None:
    """The place of the quasi-identifier that a query calls by a name, None for another column.

    Raises:
        UsageError: a quasi-identifier is an expression, so that it is not known which columns are about it.
    """
    asked_column = find_column(name, original.opened)
    position = None
    for covered_column in covered:
        column = find_column(covered_column.column.label, original.opened)
        if column is None:
            raise UsageError(
                f"{about('queries')}: {covered_column.column.label!r} is an expression. Queries need columns."
            )
        position = covered_column.column.place if asked_column == column else position
    return position


# Which cells can satisfy a condition, also by values that no original row has (Thesis, Definition 2.5.3).
#
# A cell `1-8` can satisfy `BETWEEN 4 AND 6` though no one in the original is 4, 5 or 6. What a condition says of
# values that are not there is asked of the database: of the constants it names, and of one value in each gap between
# them, since a comparison with constants cannot change its answer inside a gap. Of texts, which have no such gaps, the
# constants and the texts right after them are asked about, filled up to the length of masks; of a listed hierarchy
# every value.

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.DECIMAL: "DECIMAL(38, 9)",
    Kind.FLOAT: "DOUBLE PRECISION",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TEXT: "TEXT",
}
"""What a value is cast to before a condition is asked about it, for the kinds that are asked about."""
MOST_LISTED = 10_000
"""Of a hierarchy that lists more values, these are not asked about."""
_WHOLE = (Kind.INTEGER, Kind.DATE)
"""Kinds between whose values there are gaps."""
_EPOCH = datetime.datetime(1970, 1, 1)
_LONGEST = 2**62


@dataclass(frozen=True)
class Tried:
    """A value that a condition is asked about: its text, and the interval of numbers (for dates of days since 1970)
    that it stands for; of texts none."""

    key: str
    stands_for: Interval | None = None


def tried_values(conditions: Sequence[str], dialect: str, reader: CellReader, cells: Iterable[Cell]) -> list[Tried]:
    """The values that conditions on a column are asked about.

    Args:
        conditions: their SQL. reader: of the column. cells: those that may satisfy them by such values.
    """
    trees = (sqlglot.parse_one(condition, dialect=dialect) for condition in conditions)
    literals = [literal for tree in trees for literal in tree.find_all(exp.Literal)]
    constants = [f"{'-' if isinstance(literal.parent, exp.Neg) else ''}{literal.this}" for literal in literals]
    if reader.kind not in TYPES:
        return []
    listed_keys = [key for key in reader.labels if key is not None]
    tried_keys = [Tried(key) for key in listed_keys] if len(listed_keys) <= MOST_LISTED else []
    if reader.kind is Kind.TEXT:
        return tried_keys + [Tried(text) for text in _texts(constants, cells)]
    points = (_number(point_of(text, reader.kind)) for text in constants)
    inside = {point for point in points if isinstance(point, Fraction) and abs(point) < _LONGEST}
    return tried_keys + list(_gaps(sorted(inside), reader.kind))


def can_satisfy(cell: Cell, satisfying: Sequence[Tried], reader: CellReader) -> bool:
    """Return True if a cell stands for one of the values that satisfy the conditions, or for one like them."""
    if isinstance(cell, AnyValue):
        return bool(satisfying)
    if isinstance(cell, Exact | Values):
        keys = cell.keys if isinstance(cell, Values) else (cell.key,)
        return any(key is not None and _is_like(key, tried, reader.kind) for key in keys for tried in satisfying)
    span = as_interval(cell, reader.kind)
    return any(
        _meet(span, tried.stands_for, reader.kind) if span and tried.stands_for else reader.contains(cell, tried.key)
        for tried in satisfying
    )


def _is_like(key: str, tried: Tried, kind: Kind) -> bool:
    point = _number(point_of(key, kind))
    return key == tried.key if tried.stands_for is None else point is not None and tried.stands_for.holds(point)


def _texts(constants: Sequence[str], cells: Iterable[Cell]) -> list[str]:
    """Constants as they are, and (a pattern without its signs) filled up to the lengths of masks."""
    lengths = sorted({len(cell.pattern) for cell in cells if isinstance(cell, Mask)})
    stems = [text.replace("%", "").replace("_", "0") for text in constants]
    stems += [stem[:-1] + chr(ord(stem[-1]) + 1) for stem in stems if stem and stem[-1] < "z"]
    filled = [stem.ljust(length, sign)[:length] for stem in stems for length in lengths for sign in "0a9z"]
    return list(dict.fromkeys([*constants, *stems, *filled]))


def _gaps(points: Sequence[Fraction], kind: Kind) -> Iterator[Tried]:
    """Every point, and one value from each gap between them."""
    ends: list[Fraction | None] = [None, *points, None]
    pieces = [Interval(point, point) for point in points]
    pieces += [Interval(low, high, low is not None, high is not None) for low, high in pairwise(ends)]
    for piece in pieces:
        low, high = _ends(piece, kind)
        if low is None:
            value = Fraction(0) if high is None else high - 1
        elif kind in _WHOLE or high is None:
            value = low if kind in _WHOLE else low + 1
        else:
            value = (low + high) / 2
        if low is None or high is None or low < high or kind not in _WHOLE:
            yield Tried(_spelled(value, kind), piece)


def _ends(piece: Interval, kind: Kind) -> tuple[Fraction | None, Fraction | None]:
    """Return where an interval begins and ends; of whole numbers the first one, and the first one after it."""
    interval = to_half_open(piece) if kind in _WHOLE else piece
    low, high = interval.low, interval.high
    assert not isinstance(low, datetime.datetime)
    assert not isinstance(high, datetime.datetime)
    return low, high


def _meet(span: Interval, other: Interval, kind: Kind) -> bool:
    """Return True if a value lies in both intervals; the first one is in points of its kind."""
    first_span = Interval(_number(span.low), _number(span.high), span.low_open, span.high_open)  # type: ignore[arg-type]
    lows = [(part.low, part.low_open) for part in (first_span, other) if part.low is not None]
    highs = [(part.high, not part.high_open) for part in (first_span, other) if part.high is not None]
    low, low_open = max(lows, default=(None, False))
    high, high_closed = min(highs, default=(None, True))
    first, last = _ends(Interval(low, high, low_open, not high_closed), kind)
    if first is None or last is None or first < last:
        return True
    return kind not in _WHOLE and first == last and not low_open and high_closed


def _number(point: Bound | float | None) -> Fraction | float | None:
    """A moment in days since 1970; a number as it is."""
    if not isinstance(point, datetime.datetime):
        return point
    since = point - _EPOCH
    return since.days + Fraction(since.seconds * 10**6 + since.microseconds, 86_400 * 10**6)


def _spelled(value: Fraction, kind: Kind) -> str:
    if kind in DATES:
        moment = _EPOCH + datetime.timedelta(microseconds=int(value * 86_400 * 10**6))
        return moment.date().isoformat() if kind is Kind.DATE else moment.isoformat(" ")
    if kind is Kind.INTEGER:
        return str(int(value))
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"

"""The levels of hierarchies: their forms, their labels for the values of a column, and their SQL.

Level 0 is the value itself. At levels 1, 2, … a value has a label, which is a text. At the highest level every value,
NULL too, is `*`. Below it NULL stays NULL, unless a value table names it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest, closest_column, literal, quote, shown, spoken
from sqlaudit.base.nodes import Name
from sqlaudit.base.relation import DATES, NUMBERS, Kind
from sqlaudit.base.sql import Raw, environment, expression

TOP = "*"
"""The label of every value, NULL included, at the highest level."""
UNCHANGED = "unchanged"
"""The name of level 0."""
MOST_DECIMALS = 15
MOST_MASKED = 1000
_LETTERS = "abcde"


@dataclass(frozen=True)
class WidthLevel:
    """Intervals of one width, `[20, 25)`, from an origin; below `low` and from `high` on they are open: `<15`, `>=90`.

    All numbers are finite decimals. Bounds that lie inside an interval cut it: with width 10 and low 15 there is
    `[15, 20)`.
    """

    width: Fraction
    origin: Fraction = Fraction(0)
    low: Fraction | None = None
    high: Fraction | None = None
    unit: str = ""
    """Of the numbers, for the level's name: `years`."""

    @property
    def name(self) -> str:
        """Name of the level: `width 10`, or `10 years` with a unit."""
        width = decimal_text(self.width)
        return _counted(width, self.unit) if self.unit else f"width {width}"

    @property
    def decimals(self) -> int:
        """Number of decimals of the bounds in labels."""
        numbers = (self.width, self.origin, self.low, self.high)
        return max(decimals_of(number) for number in numbers if number is not None)

    @property
    def example(self) -> str:
        """An interval from the origin, or from the first one above `low`."""
        begin = self.origin
        if self.low is not None and self.low > begin:
            begin += -((begin - self.low) // self.width) * self.width
        return f"[{decimal_text(begin)}, {decimal_text(begin + self.width)})"


@dataclass(frozen=True)
class MaskLevel:
    """Characters of a value's text replaced by `*` from the right: `130**`.

    `count` characters are masked, or with `keeps` all but the first `count`. The length of the text stays visible, and
    a text of fewer characters is masked entirely.
    """

    count: int
    keeps: bool = False
    unit: str = "characters"
    """Of what is kept, for the level's name: `digits`."""

    @property
    def name(self) -> str:
        """Name of the level: `3 characters` are left, or `last 2 masked`."""
        return _counted(str(self.count), self.unit) if self.keeps else f"last {self.count} masked"

    @property
    def example(self) -> str:
        """A masked text of five letters; empty if more than five are masked."""
        visible = self.count if self.keeps else len(_LETTERS) - self.count
        return _LETTERS[:visible] + "*" * (len(_LETTERS) - visible) if 0 < visible < len(_LETTERS) else ""


class DatePart(StrEnum):
    """Parts of dates, finest first: `2024-02-29`, `2024-02`, `2024-Q1`, `2024`, `2020-2024`, `2020-2029`, …

    Each consists of whole parts of those before, so any of them are nested.
    """

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    YEARS_5 = "5 years"
    DECADE = "decade"
    YEARS_10 = "10 years"
    YEARS_20 = "20 years"
    CENTURY = "century"

    @property
    def years(self) -> int:
        """The number of years that it spans, 0 for less than one."""
        return _YEARS.get(self, 0)


_YEARS = {"year": 1, "5 years": 5, "decade": 10, "10 years": 10, "20 years": 20, "century": 100}
_DATES = ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020-2024", "2020-2029", "2020-2029", "2020-2039", "2000-2099")


def _counted(number: str, unit: str) -> str:
    """Return a number with its unit: `5 years`, `1 year`."""
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def in_words(name: str) -> str:
    """Return a level as part of a sentence: `in steps of 10`, `to 3 digits`, `by month`, `as *`."""
    first, _, rest = name.partition(" ")
    if first == "last" and rest.endswith(" masked"):
        count = rest.removesuffix(" masked")
        return f"without the last {count} characters" if count != "1" else "without the last character"
    if first == "width" or re.fullmatch(r"[0-9.]+", first):
        kept = rest in ("digit", "digits", "character", "characters")
        return f"to {name}" if kept else f"in steps of {name.removeprefix('width ')}"
    return f"in {name}" if first == "groups" else f"as {name}" if first in (TOP, "listed", "SQL") else f"by {name}"


@dataclass(frozen=True)
class DateLevel:
    """Dates or times cut to a part."""

    part: DatePart

    @property
    def name(self) -> str:
        """Name of the level in reports."""
        return self.part.value

    @property
    def example(self) -> str:
        """The label of the leap day of 2024."""
        return dict(zip(DatePart, _DATES, strict=True))[self.part]


@dataclass(frozen=True)
class MappedLevel:
    """A level of the hierarchy's value table; `place` is its position there, 0 = the first."""

    place: int
    name: ClassVar = "listed"
    """Beginning of its name, which its hierarchy completes."""


@dataclass(frozen=True)
class SqlLevel:
    """An expression over the column in the engine's own SQL. The column has its name there, or `value`."""

    expression: str
    name: ClassVar = "SQL"
    """Beginning of its name; never the expression, which may contain values."""
    example: ClassVar = ""
    """Empty: only the database can evaluate the expression."""


@dataclass(frozen=True)
class TopLevel:
    """The highest level: one value, `*`."""

    name: ClassVar = TOP
    example: ClassVar = ""
    """Empty: its name is the label."""


Level = WidthLevel | MaskLevel | DateLevel | MappedLevel | SqlLevel | TopLevel


def width_levels(
    widths: Sequence[Fraction],
    location: str,
    *,
    origin: Fraction = Fraction(0),
    low: Fraction | None = None,
    high: Fraction | None = None,
    unit: str = "",
) -> tuple[Level, ...]:
    """Return levels of intervals, finest first, each a multiple of the one before so that they are nested.

    Args:
        widths: the widths.
        location: the beginning of errors, for instance the column's name.
        origin: where an interval begins.
        low, high: where the open ends begin.
        unit: of the numbers, for the names of the levels.

    Raises:
        UsageError: no width, one that is not positive or not a multiple of the one before, or low >= high.

    Example:
        >>> [level.name for level in width_levels([Fraction(5), Fraction(10)], "age")]
        ['width 5', 'width 10']
    """
    if not widths:
        raise UsageError(f"{location}: name at least one width.")
    for level, width in enumerate(widths, 1):
        if width <= 0:
            raise UsageError(f"{location}, level {level}: a width is a number above 0, not {decimal_text(width)}.")
    for level, (below, width) in enumerate(pairwise(widths), 2):
        if width % below or width == below:
            raise UsageError(
                f"{location}, level {level}: width {decimal_text(width)} is not a multiple of width "
                f"{decimal_text(below)} at level {level - 1}, so the levels are not nested. Use "
                f"{decimal_text(below * 2)} or another multiple."
            )
    if low is not None and high is not None and low >= high:
        raise UsageError(f"{location}: low ({decimal_text(low)}) must be less than high ({decimal_text(high)}).")
    levels = tuple(WidthLevel(width, origin, low, high, unit) for width in widths)
    if any(level.decimals > MOST_DECIMALS for level in levels):
        raise UsageError(f"{location}: widths and bounds have at most {MOST_DECIMALS} decimals.")
    return levels


def mask_levels(
    counts: Sequence[int], location: str, *, keeps: bool = False, unit: str = "characters"
) -> tuple[Level, ...]:
    """Return levels of masks, finest first: more characters masked, or fewer kept, from level to level.

    The unit is that of what is kept, for the names of the levels.

    Raises:
        UsageError: no count, one that is out of range, or an order that is not coarser from level to level.
    """
    if not counts:
        raise UsageError(f"{location}: name at least one number of characters.")
    word = "keep" if keeps else "mask"
    for level, count in enumerate(counts, 1):
        if not 1 <= count <= MOST_MASKED:
            raise UsageError(f"{location}, level {level}: {word} between 1 and {MOST_MASKED} characters, not {count}.")
    for level, (below, count) in enumerate(pairwise(counts), 2):
        if count <= below if not keeps else count >= below:
            raise UsageError(
                f"{location}, level {level}: {word} {'fewer' if keeps else 'more'} characters than level {level - 1} "
                f"({below}), not {count}."
            )
    return tuple(MaskLevel(count, keeps, unit) for count in counts)


def date_levels(parts: Sequence[str], location: str) -> tuple[Level, ...]:
    """Return levels of dates, finest first.

    Raises:
        UsageError: no part, an unknown one, or an order that is not coarser from level to level.
    """
    all_parts = list(DatePart)
    if not parts:
        raise UsageError(f"{location}: name at least one of {', '.join(all_parts)}.")
    for level, part in enumerate(parts, 1):
        if part not in all_parts:
            why = " A week can span two months or years, so it cannot be a level." if part == "week" else ""
            raise UsageError(
                f"{location}, level {level}: unknown part of dates {part!r}. Use {', '.join(all_parts)}.{why}"
            )
    for level, (below, part) in enumerate(pairwise(parts), 2):
        finer, coarser = DatePart(below), DatePart(part)
        if all_parts.index(coarser) <= all_parts.index(finer) or coarser.years == finer.years > 0:
            raise UsageError(f"{location}, level {level} ({part}): is not coarser than level {level - 1} ({below}).")
    return tuple(DateLevel(DatePart(part)) for part in parts)


def decimals_of(number: Fraction) -> int:
    """Return the number of decimals of a finite decimal.

    Example:
        >>> decimals_of(Fraction(1, 4)), decimals_of(Fraction(5))
        (2, 0)
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
        if places > 4 * MOST_DECIMALS:
            raise UsageError("Widths and bounds must be decimals, for example 0.5.")
    return places


def decimal_text(number: Fraction) -> str:
    """Return a finite decimal as people write it.

    Example:
        >>> decimal_text(Fraction(-5, 2)), decimal_text(Fraction(40))
        ('-2.5', '40')
    """
    places = decimals_of(number)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


class Use(StrEnum):
    """The use of a column in a search."""

    GENERALIZE = "generalize"
    KEEP = "keep"
    """Only level 0: the column stays as it is."""
    DROP = "drop"
    """Always `*`: the column is left out and takes no part in the search."""


@dataclass(frozen=True)
class ValueTable:
    """Values with their labels, as a CSV hierarchy, a tree or a mapping lists them.

    Args:
        rows: value (None = NULL) to its labels, from level 1 to the level below the top; None where NULL stays NULL.
        depth: number of labels of each value.
        place: where it was read from, for errors.
        top: the file's label of the highest level; cells of a release may be spelled so.
    """

    rows: Mapping[Name, tuple[Name, ...]] = field(hash=False)
    depth: int
    place: str
    top: str = "*"

    def labels(self, index: int) -> Iterator[tuple[Name, Name]]:
        """Yield (value, label) at a level; index 0 is level 1."""
        return ((value, labels[index]) for value, labels in self.rows.items())


@dataclass(frozen=True)
class Hierarchy:
    """The hierarchy of one column: how its values are generalized, level by level, until only `*` is left.

    Args:
        column: the column or expression, as `--qi` names it.
        levels: levels 1, 2, …; the last one is the top. Empty for a column that is kept.
        use: what a search may do with the column.
        default: the label of values that no level covers, below the top; None = they are an error.
        table: the values and labels behind `MappedLevel`s.
        form: the key of its form in the file schema: widths, mask, dates, tree, csv, values, sql, or empty for a column
            without a hierarchy (kept or suppressed).
        place: where it was read from, for errors and reports.
        by_default: True if no one stated it.
        names: of the levels below the top, as a file states them for listed levels and expressions; empty = none.
    """

    column: str
    levels: tuple[Level, ...]
    use: Use = Use.GENERALIZE
    default: str | None = None
    table: ValueTable | None = None
    form: str = ""
    place: str = ""
    by_default: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.use is Use.KEEP) != (not self.levels):
            raise UsageError(f"{self.column}: only a column that is kept has no levels.")
        if self.levels and not isinstance(self.levels[-1], TopLevel):
            object.__setattr__(self, "levels", (*self.levels, TopLevel()))

    @property
    def height(self) -> int:
        """The number of the highest level, where every value is `*`; 0 for a column that is kept."""
        return len(self.levels)

    @property
    def takes_part(self) -> bool:
        """True if a search chooses a level for the column."""
        return self.use is not Use.DROP

    def level(self, number: int) -> Level | None:
        """Return the level of this number, None for level 0.

        Raises:
            IndexError: there is no such level.
        """
        if not 0 <= number <= self.height:
            raise IndexError(f"{self.column} has levels 0 to {self.height}, not {number}")
        return self.levels[number - 1] if number else None

    def level_names(self) -> tuple[str, ...]:
        """Return the names of levels 0, 1, …, each of which is unique.

        They follow from the definition of the hierarchy, so that a name never moves to another level: where one level
        more or less would go unnoticed, its number is part of the name (`listed 2 of 3`).
        """
        below = self.names or tuple(level.name for level in self.levels[:-1])
        if len({*below}) < len(below):
            below = tuple(f"{name} {number} of {len(below)}" for number, name in enumerate(below, 1))
        return (UNCHANGED, *below, *(level.name for level in self.levels[-1:]))

    def level_named(self, text: str) -> int:
        """Return the number of the level with a name, or of this number.

        Raises:
            UsageError: there is no such level.

        Example:
            >>> ages = Hierarchy("age", width_levels([Fraction(5), Fraction(10)], "age", unit="years"))
            >>> ages.level_named("10 years"), ages.level_named("unchanged"), ages.level_named("3")
            (2, 0, 3)
        """
        names = self.level_names()
        numbers = {name: number for number, name in enumerate(names)} | {str(n): n for n in range(len(names))}
        if text.strip() not in numbers:
            hint = closest(text, names)
            raise UsageError(
                f"{shown(self.column)} has no level {text[:60]!r}.{hint} Its levels are: {', '.join(names)}."
            )
        return numbers[text.strip()]

    def examples(self) -> tuple[str, ...]:
        """Return an example of a label at levels 0, 1, …; empty where there is none.

        They are invented, or labels of the hierarchy's own file that are no values there: no value of a table is shown.
        """
        return (
            "",
            *(
                self._table_example(level.place) if isinstance(level, MappedLevel) else level.example
                for level in self.levels
            ),
        )

    def _table_example(self, index: int) -> str:
        labels = () if self.table is None else self.table.labels(index)
        values = () if self.table is None else self.table.rows
        return next((label for _, label in labels if label and label not in values), "")


def plain(column: str) -> Hierarchy:
    """Return the hierarchy of a column without one: it is kept (level 0) or suppressed (level 1, `*`).

    Example:
        >>> plain("sex").height
        1
    """
    return Hierarchy(column, (TopLevel(),))


def kept_hierarchy(column: str, location: str = "") -> Hierarchy:
    """Return the hierarchy of a column that stays as it is: height 0."""
    return Hierarchy(column, (), Use.KEEP, form="keep", place=location)


def dropped_hierarchy(column: str, location: str = "") -> Hierarchy:
    """Return the hierarchy of a column that is always `*`."""
    return Hierarchy(column, (TopLevel(),), Use.DROP, form="drop", place=location)


def from_table(column: str, table: ValueTable, form: str, default: str | None = None) -> Hierarchy:
    """Return the hierarchy that a value table describes."""
    levels = tuple(MappedLevel(index) for index in range(table.depth))
    return Hierarchy(column, (*levels, TopLevel()), default=default, table=table, form=form, place=table.place)


# The values that a file names are found in a column by their *key*: their text in one spelling, the same on every
# engine. Texts must be equal. For numbers `1` also names 1.0 and 1.00, `true` names True; dates and times are written
# in ISO format.

_MOST_DIGITS = 400
Rows = list[tuple[Name, tuple[Name, ...]]]


def key_of(text: str, kind: Kind) -> str | None:
    """Return the key of a value spelled as `text`, None when no value of the type is spelled so.

    Example:
        >>> key_of("1.0", Kind.INTEGER), key_of("1.5", Kind.INTEGER), key_of("2.50", Kind.DECIMAL)
        ('1', None, '2.5')
    """
    if kind in NUMBERS:
        return _number_key(text.strip(), kind)
    if kind is Kind.BOOLEAN:
        folded = text.strip().lower()
        return folded if folded in ("true", "false") else None
    if kind in DATES:
        return _date_key(text.strip(), kind)
    return text


def matched_rows(table: ValueTable, kind: Kind, hierarchy: Hierarchy) -> Rows:
    """Return the rows of a value table with keys instead of spellings, without values that the type does not have.

    In a CSV file an empty field names NULL, and the empty text with it.

    Raises:
        UsageError: one value in two spellings with different labels.
    """
    entries = [*table.rows.items()]
    if hierarchy.form == "csv" and None in table.rows and "" not in table.rows and kind in (Kind.TEXT, Kind.OTHER):
        entries.append(("", table.rows[None]))
    rows: dict[Name, tuple[Name, ...]] = {}
    for value, labels in entries:
        key = None if value is None else key_of(value, kind)
        if value is not None and key is None:
            continue
        earlier_labels = rows.setdefault(key, labels)
        if earlier_labels != labels:
            level = next(i for i, (a, b) in enumerate(zip(earlier_labels, labels, strict=True), 1) if a != b)
            raise UsageError(
                f"{table.place}: a value of {hierarchy.column} is listed twice, in two spellings, with different "
                f"labels at level {level}."
            )
    return list(rows.items())


def _number_key(text: str, kind: Kind) -> str | None:
    """Return the key of a number; None of a text that is none."""
    if kind is Kind.FLOAT:
        try:
            return repr(float(text)) if "_" not in text else None
        except ValueError:
            return None
    try:
        number = Decimal(text) if "_" not in text else Decimal("NaN")
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    if kind is Kind.INTEGER:
        return str(int(number)) if number == int(number) else None
    plain = f"{number:f}"
    trimmed = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if trimmed == "-0" else trimmed


def _date_key(text: str, kind: Kind) -> str | None:
    """Return the key of a date or a point in time; None of a text that is none."""
    try:
        if kind is Kind.DATE:
            return datetime.date.fromisoformat(text).isoformat()
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = ""
    if moment.tzinfo is not None:
        moment, zone = moment.astimezone(datetime.UTC).replace(tzinfo=None), "+00"
    to_the_second = moment.isoformat(" ", "seconds")
    return to_the_second + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "") + zone


VALUE = "value"
"""Name of the column that any user's expression may use."""
_MASKED = (Kind.TEXT, Kind.INTEGER, Kind.OTHER)
LIMITS = {Kind.FLOAT: 10**15, Kind.INTEGER: 10**20, Kind.DECIMAL: 10**20}
"""Numbers beyond these have no interval: decimals of every engine are exact within them."""
_NOTHING = ["NULL", "NULL"]
"""The only row of a table of labels without a value of the column; it is joined to nothing."""
_FLOAT_DECIMALS = 20


@dataclass(frozen=True)
class ColumnType:
    """The type of a column: its kind, and the engine's spelling."""

    kind: Kind
    type: str = ""


@dataclass(frozen=True)
class ReleasedColumn:
    """A column of a release as SQL: an expression for the SELECT list, and the join that it needs (empty = none)."""

    expression: str
    join: str = ""


def refuse_kind(hierarchy: Hierarchy, kind: Kind) -> None:
    """Check that every level fits the type of a column.

    Raises:
        UsageError: intervals of texts, masks of fractions, parts of numbers.
    """
    for number, (level, name) in enumerate(zip(hierarchy.levels, hierarchy.level_names()[1:], strict=True), 1):
        where = f"{hierarchy.column}, level {number} ({name})"
        if isinstance(level, WidthLevel) and kind not in NUMBERS:
            hint = "use 'dates'" if kind in DATES else "convert it to a number with an expression"
            raise UsageError(f"{where}: intervals need numbers, but the column has {_KINDS[kind]}; {hint}.")
        if isinstance(level, MaskLevel) and kind not in _MASKED:
            hint = "use 'widths'" if kind in NUMBERS else "use 'dates'" if kind in DATES else "list its values"
            raise UsageError(f"{where}: masks need texts or whole numbers, but the column has {_KINDS[kind]}; {hint}.")
        if isinstance(level, DateLevel) and kind not in DATES:
            column = hierarchy.column if hierarchy.column.isidentifier() else quote(hierarchy.column, "duckdb")
            raise UsageError(
                f"{where}: needs dates, but the column has {_KINDS[kind]}; convert it with an expression, for example "
                f"CAST({column} AS DATE)."
            )


_KINDS = {
    Kind.BOOLEAN: "true and false",
    Kind.INTEGER: "whole numbers",
    Kind.DECIMAL: "decimals",
    Kind.FLOAT: "floats",
    Kind.TEXT: "texts",
    Kind.DATE: "dates",
    Kind.TIMESTAMP: "points in time",
    Kind.TIME: "times of day",
    Kind.OTHER: "values of another kind",
}


def level_sql(hierarchy: Hierarchy, number: int, value_sql: str, dialect: str, holds: ColumnType) -> str:
    """Return the label of a value at a level as a SQL expression in the engine's dialect.

    NULL has the label NULL below the top, and so has a value that the level does not cover; the default is not applied.

    Args:
        hierarchy: the hierarchy of the column.
        number: the level; 0 gives the value itself.
        value_sql: the column or expression, in the dialect.
        dialect: the engine's dialect.
        holds: the type of the column.

    Raises:
        UsageError: a user's text that is not an expression, or uses another column.
        ValueError: a level that lists its values has no expression; see `published_column`.

    Example:
        >>> from sqlaudit.hierarchies.read import read_hierarchy
        >>> from sqlaudit.base.nodes import nodes_of
        >>> zips = read_hierarchy("zip", nodes_of({"mask": {"keep": [3]}}))
        >>> level_sql(zips, 1, '"zip"', "duckdb", ColumnType(Kind.TEXT)).split(" || ")[0]
        'LEFT(CAST("zip" AS VARCHAR), 3)'
    """
    level = hierarchy.level(number)
    value = Raw(_parenthesize(value_sql))
    if level is None:
        return value_sql
    if isinstance(level, WidthLevel):
        return _interval_sql(level, value, dialect, holds)
    if isinstance(level, MaskLevel):
        return expression("hierarchies/hierarchy_mask.sql", dialect, value=value, count=level.count, keeps=level.keeps)
    if isinstance(level, DateLevel):
        zoned = "with time zone" in holds.type.lower()
        cut, span = level.part.value, level.part.years
        return expression("hierarchies/hierarchy_date.sql", dialect, value=value, cut=cut, span=span, zoned=zoned)
    if isinstance(level, SqlLevel):
        return _user_expression(hierarchy, number, level, value.sql, dialect, holds.kind)
    if isinstance(level, MappedLevel):
        raise ValueError(f"level {number} of {hierarchy.column} lists its values and has no expression")
    return literal(TOP, dialect)


def published_column(
    hierarchy: Hierarchy, number: int, value_sql: str, dialect: str, holds: ColumnType, alias: str = "labels"
) -> ReleasedColumn:
    """Return a column at a level as in a release, with its default; listed levels need a join of the file's values.

    Args:
        hierarchy, number, value_sql, dialect, holds: as for `level_sql`.
        alias: name of the joined table; one for each column.

    Raises:
        UsageError: as `level_sql`.
    """
    level = hierarchy.level(number)
    if not isinstance(level, MappedLevel) or hierarchy.table is None:
        label = level_sql(hierarchy, number, value_sql, dialect, holds)
        is_complete = level is None or isinstance(level, TopLevel)
        return ReleasedColumn(label if is_complete else _with_default(hierarchy, label, value_sql, dialect))
    rows = matched_rows(hierarchy.table, holds.kind, hierarchy)
    labelled = [(value, labels[level.place]) for value, labels in rows]
    name = quote(alias, dialect)
    # rendered without sqlglot: this SQL is the same in all dialects, and parsing a table of many values is slow
    condition = expression(
        "hierarchies/hierarchy_has_key.sql",
        dialect,
        value=Raw(_parenthesize(value_sql)),
        listed=Raw(name + ".sqlaudit_value"),
        kind=holds.kind.value,
        null=any(value is None for value, _ in labelled),
    )
    label_rows = [["NULL" if text is None else literal(text, dialect) for text in pair] for pair in labelled] or [
        _NOTHING
    ]
    template = environment().get_template("hierarchies/hierarchy_published_labels.sql")
    join = template.render(rows=label_rows, alias=name, condition=condition)
    return ReleasedColumn(_with_default(hierarchy, name + ".sqlaudit_label", value_sql, dialect), join.strip())


def _with_default(hierarchy: Hierarchy, label: str, value_sql: str, dialect: str) -> str:
    """Return the SQL of a label, with the default of the hierarchy for values without one."""
    if hierarchy.default is None:
        return label
    return expression(
        "hierarchies/hierarchy_default.sql",
        dialect,
        label=Raw(label),
        value=Raw(_parenthesize(value_sql)),
        default=Raw(literal(hierarchy.default, dialect)),
    )


def _parenthesize(sql: str) -> str:
    """Return SQL that can stand beside any operator."""
    simple = re.fullmatch(r'"(?:[^"]|"")*"|[A-Za-z_][A-Za-z_0-9.]*', sql)
    return sql if simple else "(" + sql + ")"


def _interval_sql(level: WidthLevel, value: Raw, dialect: str, holds: ColumnType) -> str:
    """Return the label of an interval as SQL."""

    def cuts(bound: Fraction | None) -> bool:
        return bound is not None and (bound - level.origin) % level.width != 0

    bounded = level.low is not None and level.high is not None
    return expression(
        "hierarchies/hierarchy_interval.sql",
        dialect,
        value=value,
        kind=holds.kind.value,
        scale=_find_scale(level, holds),
        plain=holds.kind is Kind.INTEGER and level.decimals == 0 and bounded,
        nan=holds.kind is Kind.FLOAT or (holds.kind is Kind.DECIMAL and spoken(dialect).loose_decimals),
        width=decimal_text(level.width),
        origin=decimal_text(level.origin),
        decimals=level.decimals,
        low=None if level.low is None else decimal_text(level.low),
        high=None if level.high is None else decimal_text(level.high),
        cut_low=cuts(level.low),
        cut_high=cuts(level.high),
        limit=str(LIMITS[holds.kind]),
        upward=level.low is not None and level.low >= level.origin,
    )


def _find_scale(level: WidthLevel, holds: ColumnType) -> int:
    """Return the number of decimals with which the intervals of a column are computed without rounding."""
    if holds.kind is Kind.FLOAT:
        return _FLOAT_DECIMALS
    match = re.search(r"\(\s*\d+\s*,\s*(\d+)\s*\)", holds.type) if holds.kind is Kind.DECIMAL else None
    return max(level.decimals, int(match[1]) if match else 0)


def _user_expression(hierarchy: Hierarchy, number: int, level: SqlLevel, value: str, dialect: str, kind: Kind) -> str:
    """Return a user's expression with the column inserted.

    Raises:
        UsageError: it uses another column, or is not an expression.
    """
    from sqlglot import exp

    from sqlaudit.base.guard import guard_expression, remark_on, warn

    option = f"{hierarchy.place or hierarchy.column}, level {number} of {hierarchy.column!r}"
    tree = guard_expression(level.expression, dialect, option)
    names = {hierarchy.column.casefold(), VALUE}
    warn(remark_on(tree, dict.fromkeys((hierarchy.column.lower(), VALUE), kind), dialect, option))
    for column in list(tree.find_all(exp.Column)):
        if column.name.casefold() not in names:
            allowed = [hierarchy.column, VALUE]
            raise UsageError(
                f"{option}: an expression may use this column only, but it uses {shown(column.name)}."
                f"{closest_column(column.name, allowed)}"
            )
        replaced = exp.Var(this=value)
        if column is tree:
            tree = replaced
        else:
            column.replace(replaced)
    return expression("hierarchies/hierarchy_own.sql", dialect, value=Raw(tree.sql(dialect=dialect, comments=False)))

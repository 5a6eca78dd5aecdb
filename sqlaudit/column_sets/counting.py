"""Where and how column sets are counted: codes of the columns, several sets in a statement, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import BudgetSpent, ConflictingRoles, Stop, UsageError, never
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, shown
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.histogram import MAX_MATCHED_CODES
from sqlaudit.classes.matching import match_patterns
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.engines.contract import ONE_TASK_ROWS, Engine

# The columns of the target that are searched.


@dataclass(frozen=True)
class Chosen:
    """A column, or an expression over columns, of a search.

    Args:
        name: what reports call it: the column's name, or the expression as the user wrote it.
        sql: the quoted column or the checked expression, in the engine's dialect.
        kind: the kind of its values; `Kind.OTHER` for expressions.
        type: the engine's spelling of its type; empty for expressions.
    """

    name: str
    sql: str
    kind: Kind
    type: str = ""


def choose_columns(
    relation: Relation,
    dialect: str,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    field: str = "columns",
) -> tuple[Chosen, ...]:
    """Return the named columns, or all columns of the relation, without the excluded ones.

    Args:
        field: the field of the request that names the columns, for errors.

    Raises:
        UsageError: a name is unknown or repeated, or no column is left.
    """
    excluded = {require_column(relation, name, "exclude").name for name in exclude}
    named = [choose_column(relation, dialect, text, field) for text in columns]
    candidates = named or [Chosen(c.name, quote(c.name, dialect), c.kind, c.type) for c in relation.columns]
    chosen = [column for column in candidates if column.name not in excluded]
    if not chosen:
        raise UsageError("No column is left to search. Exclude fewer.")
    return refuse_duplicates(chosen)


def refuse_duplicates(chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """Return the columns unchanged if they are different.

    Raises:
        UsageError: a column is named twice.
    """
    seen: set[str] = set()
    for column in chosen:
        if column.name in seen:
            raise ConflictingRoles(f"Column {shown(column.name)} is named twice.")
        seen.add(column.name)
    return tuple(chosen)


_WITHOUT_CODES = ("entity", "sensitive", "weights", "household")
"""Fields of requests whose columns have no codes for missing values: a code is no person, and no sensitive value."""


def choose_column(relation: Relation, dialect: str, text: str, field: str) -> Chosen:
    """Return a column by name (exact, else ignoring case), or else an expression over columns.

    Raises:
        UsageError: the text is neither.
    """
    resolved = resolve(text, relation, dialect, about(field))
    codes = next((missing for missing in relation.missing if missing.column == resolved.column), None)
    if codes is not None and field in _WITHOUT_CODES:
        return Chosen(codes.column, codes.sql, codes.kind, codes.type)
    return Chosen(resolved.column or text, resolved.sql, resolved.kind, resolved.type)


def require_column(relation: Relation, name: str, field: str) -> ColumnInfo:
    """Return a column by name.

    Raises:
        UsageError: there is none.
    """
    column = find_column(name, relation)
    if column is None:
        raise unknown_column(name, relation, about(field))
    return column


# The rows that column sets are counted in: a table of small codes where one can be stored, else the target itself.
#
# DuckDB stores the codes itself. Spark makes them and hands them to its workbench, unless they exceed the memory of one
# machine. On PostgreSQL nothing is stored, and every statement reads the target.

_ROWS = "sqlaudit_columns_rows"
_CODES = "sqlaudit_columns_codes"
_WIDEST_OFFSET = 1 << 21
"""Whole numbers in a range up to this are coded by their distance from the smallest one, without a dictionary."""
_IN_64_BITS = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WORD = 1 << 62
MOST_CODES = 50_000_000
"""Most codes (rows times columns) that go to a workbench: four bytes each on the way, and as many again there."""


@dataclass(frozen=True)
class Coded:
    """The rows that column sets are counted in.

    Args:
        source: the FROM item: the table of codes, or the target.
        columns: the columns' expressions when `source` is the target; None when it is the table of codes.
        entity: the entity's expression when `source` is the target, `e` in the table of codes, None without one.
        rows: rows of the target.
        persons: number of people; without an entity, the number of rows.
        missing: for each column the number of rows where it is missing.
        domains: for each column one more than its largest code; empty without codes.
        engine: the engine with the codes if it is not the engine of the target.
    """

    source: Raw
    columns: tuple[Raw, ...] | None
    entity: Raw | None
    rows: int
    persons: int
    missing: tuple[int, ...]
    domains: tuple[int, ...] = ()
    engine: Engine | None = None

    @property
    def coded(self) -> bool:
        """True if the rows are codes, with 0 for NULL."""
        return self.columns is None

    @property
    def nullable(self) -> int:
        """The mask of the columns with a missing value."""
        return sum(1 << position for position, count in enumerate(self.missing) if count)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of every template over these rows."""
        return {"source": self.source, "columns": self.columns, "coded": self.coded, "entity": self.entity}

    def keys(self, mask: int) -> list[list[tuple[str, int]]]:
        """Return the GROUP BY keys of a set: codes packed into few 62-bit numbers, else plain columns."""
        if not self.coded:
            return [[(f"c{position}", 1)] for position in bits(mask)]
        keys: list[list[tuple[str, int]]] = []
        factor = _WORD
        for position in bits(mask):
            domain = self.domains[position]
            if factor * domain >= _WORD:
                keys.append([])
                factor = 1
            keys[-1].append((f"c{position}", factor))
            factor *= domain
        return keys


def code_columns(
    engine: Engine,
    relation: Relation,
    chosen: Sequence[Chosen],
    entity: Chosen | None,
    kept: Sequence[Chosen] = (),
    *,
    ordered: bool = False,
) -> Coded:
    """Prepare the rows of a relation for counting column sets.

    Args:
        chosen: the columns to code.
        entity: the column that identifies the person.
        kept: columns that are stored with the codes as v0, v1, … if the engine itself stores them. A workbench gets
            no cell values.
        ordered: whether the codes are the same in every run, for random draws among them.

    Raises:
        UsageError: the entity is missing in some rows.
    """
    if engine.own_workbench:
        return _make_codes(engine, relation, chosen, entity, kept, ordered=ordered)
    coded_columns = len(chosen) + (entity is not None)
    if engine.can_materialize and can_keep_codes(engine, count_rows(engine, relation), coded_columns):
        return _make_codes(engine, relation, chosen, entity, (), ordered=ordered)
    rows = read_target(Coded(Raw(relation.sql), None, None, 0, 0, ()), relation, chosen, entity)
    profile = [{"name": column, "whole": False} for column in rows.columns or ()]
    row = engine.run(render("column_sets/columns_profile.sql", engine.dialect, source=rows.source, columns=profile))[0]
    total, persons = _count_totals(engine, rows.source, rows.entity)
    return replace(rows, rows=total, persons=persons, missing=tuple(map(int, row[1::2])))


def can_keep_codes(engine: Engine, rows: int, columns: int) -> bool:
    """True if sets over this many rows and columns are counted from codes, which is cheap."""
    return engine.own_workbench or (engine.can_materialize and rows * columns <= MOST_CODES)


def count_rows(engine: Engine, source: Raw | Relation) -> int:
    """Return the number of rows of a FROM item."""
    return int(engine.run(render("base/row_count.sql", engine.dialect, source=source))[0][0])


def read_target(coded: Coded, relation: Relation, chosen: Sequence[Chosen], entity: Chosen | None) -> Coded:
    """Return the same rows, read from the target itself instead of the table of codes."""
    columns = tuple(Raw(column.sql) for column in chosen)
    person = Raw(entity.sql) if entity else None
    return Coded(Raw(relation.sql), columns, person, coded.rows, coded.persons, coded.missing)


def drop_codes(engine: Engine) -> None:
    """Drop the tables of `code_columns`."""
    if engine.can_materialize:
        _home_engine(engine).drop(_CODES)
        engine.drop(_ROWS)


def _home_engine(engine: Engine) -> Engine:
    return engine if engine.own_workbench else engine.workbench()


def _count_totals(engine: Engine, source: Raw, entity: Raw | None) -> tuple[int, int]:
    """Return the numbers of rows and people; refuse rows without an entity."""
    rows, persons, nameless = engine.run(
        render("column_sets/columns_totals.sql", engine.dialect, source=source, entity=entity)
    )[0]
    if nameless:
        raise UsageError(
            f"The entity column is missing in {nameless:,} of {rows:,} rows. Fill it, or leave these rows out."
        )
    return int(rows), int(persons)


def _make_codes(
    engine: Engine,
    relation: Relation,
    chosen: Sequence[Chosen],
    entity: Chosen | None,
    kept: Sequence[Chosen],
    *,
    ordered: bool,
) -> Coded:
    """Store the codes of the columns in a table, and return its rows."""
    query = render(
        "column_sets/columns_rows.sql", engine.dialect, source=relation, columns=chosen, entity=entity, kept=kept
    )
    rows = engine.materialize(_ROWS, query)
    infos = rows.columns[len(kept) :]
    names = [info.name for info in infos]
    values = [info.name for info in rows.columns[: len(kept)]]
    source, person = Raw(rows.sql), Raw("e") if entity else None
    persons = _count_totals(engine, source, person)[1]
    profile = [{"name": info.name, "whole": info.kind is Kind.INTEGER} for info in infos]
    row = engine.run(render("column_sets/columns_profile.sql", engine.dialect, source=source, columns=profile))[0]
    narrow = min(_WIDEST_OFFSET, 4 * int(row[0]) + 16)  # codes must stay small to be packed
    codes = [
        {
            "name": info.name,
            "offset": width is not None and width < narrow,
            "wide": info.type.upper() not in _IN_64_BITS,
        }
        for info, width in zip(infos, row[2::2], strict=True)
    ]
    statement = render(
        "column_sets/columns_codes.sql",
        engine.dialect,
        source=source,
        columns=codes,
        kept=values,
        ordered=ordered,
        many=int(row[0]) > ONE_TASK_ROWS,
    )
    home = _home_engine(engine)
    coded = engine.materialize(_CODES, statement) if home is engine else engine.hand_over(_CODES, statement)
    engine.drop(_ROWS)
    largest = home.run(render("column_sets/columns_domains.sql", home.dialect, source=coded, names=names))[0]
    domains = tuple(int(value or 0) + 1 for value in largest)
    missing = tuple(int(count) for count in row[1::2])
    width, home_engine = len(chosen), home if home is not engine else None
    return Coded(Raw(coded.sql), None, person, int(row[0]), persons, missing[:width], domains[:width], home_engine)


# Cuboids: the classes of wide column sets, stored so that the many sets inside them are counted from these classes.

_ROWS_PER_CLASS = 4
"""Least rows per class of a cuboid; with more classes it saves too little."""
_LEAST_SETS = 8
"""Least sets for which a cuboid is worth building."""
_ROWS_PER_SAFE_CLASS = 8
"""Least rows per class, as a multiple of k, of wide sets that are tried to close the sets inside them."""
_MANY_SETS, _MOST_IN_VAIN = 1000, 20
"""Least sets for which wide sets are tried, and wide sets in a row that close nothing until no more are tried."""
_NAME = "sqlaudit_columns_cuboid_"
Classes = Callable[[int], int | None]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class Cuboids:
    """Plans, builds and drops cuboids. Counting from one is exact: classes of a subset are unions of its classes."""

    def __init__(self, engine: Engine, coded: Coded) -> None:
        self.engine = engine
        self.coded = coded
        self.built = 0
        self._cuboid_of: dict[int, int] = {}
        self._sets_of: dict[int, list[int]] = {}
        self._stored: tuple[int, str, Raw] | None = None

    def plan(self, masks: Sequence[int], classes: Classes, stop: Stop = never) -> None:
        """Choose cuboids for sets that will be counted, and drop the older cuboids."""
        self.close()
        if len(masks) < _LEAST_SETS or masks[0].bit_count() < 2:
            return
        plan = _CuboidPlan(masks, classes, self.coded)
        domains = self.coded.domains
        widths = [prod((domains[position] for position in bits(mask)), start=1.0) for mask in masks]
        for number in sorted(range(len(masks)), key=widths.__getitem__):
            if stop():
                return
            if plan.waiting[number]:
                cuboid, inside = plan.grow_cuboid(bits(masks[number]))
                plan.waiting[number] = False
                if len(inside) >= _LEAST_SETS:
                    plan.waiting[inside] = False
                    self._sets_of[cuboid] = [masks[member] for member in inside]
                    self._cuboid_of.update(dict.fromkeys(self._sets_of[cuboid], cuboid))

    def take(self, mask: int) -> list[int]:
        """Return the sets that are to be counted from the cuboid of a set, once; then it need not be kept for them."""
        sets = self._sets_of.pop(self._cuboid_of.get(mask, 0), [])
        if not sets:
            self._cuboid_of.pop(mask, None)
        return sets

    def source(self, mask: int) -> Raw | None:
        """Return the cuboid to count a set from, None for the rows themselves. One cuboid is stored at a time."""
        cuboid = self._cuboid_of.get(mask)
        if cuboid is None:
            return None
        if self._stored is None or self._stored[0] != cuboid:
            self._drop()
            name, names, rows = f"{_NAME}{self.built}", code_names(bits(cuboid)), self.coded.source
            statement = render("column_sets/columns_cuboid.sql", self.engine.dialect, source=rows, names=names)
            self._stored = cuboid, name, Raw(self.engine.materialize(name, statement).sql)
            self.built += 1
        return self._stored[2]

    def close(self) -> None:
        """Drop the cuboid; later sets are counted from the rows."""
        self._cuboid_of, self._sets_of = {}, {}
        self._drop()

    def _drop(self) -> None:
        if self._stored is not None:
            self.engine.drop(self._stored[1])
            self._stored = None


class _CuboidPlan:
    """The sets that still need a cuboid, and bounds on the sizes of cuboids."""

    def __init__(
        self, masks: Sequence[int], classes: Classes, coded: Coded, rows_per_class: float = _ROWS_PER_CLASS
    ) -> None:
        width = len(coded.missing)
        self.waiting: Flags = np.ones(len(masks), dtype=bool)
        self._columns_by_set: Flags = np.array([[mask >> at & 1 for at in range(width)] for mask in masks], dtype=bool)
        self._sets_by_column = np.ascontiguousarray(self._columns_by_set.T)
        self._sizes = np.array([mask.bit_count() for mask in masks], dtype=np.int16)
        self._domains = np.array(coded.domains, dtype=np.float64)
        self._splits = _count_splits(classes, width)
        self.most_classes = coded.rows / rows_per_class

    def grow_cuboid(self, positions: Sequence[int]) -> tuple[int, list[int]]:
        """Return a cuboid around a set, and the waiting sets inside it.

        As long as the cuboid stays small, the column that brings most further sets inside is added.
        """
        size, branching = self._start_size(positions)
        if size > self.most_classes:
            return 0, []
        inside_columns = np.zeros(len(self._domains), dtype=bool)
        inside_columns[positions] = True
        outside = self._sizes - self._sets_by_column[positions].sum(axis=0, dtype=np.int16)
        while True:
            gained = self._columns_by_set[self.waiting & (outside == 1)].sum(axis=0)  # by the one column that they lack
            wider = size * branching
            score = (gained + 0.5) / np.maximum(1.0, wider / size - 0.99)
            score[inside_columns | (wider > self.most_classes)] = -1.0
            best = int(score.argmax())
            if score[best] < 0:
                break
            size, branching = float(wider[best]), np.minimum(branching, self._splits[best])
            inside_columns[best] = True
            outside -= self._sets_by_column[best]
        inside = np.flatnonzero(self.waiting & (outside == 0))
        return mask_of(np.flatnonzero(inside_columns).tolist()), inside.tolist()

    def _start_size(self, positions: Sequence[int]) -> tuple[float, Numbers]:
        """Return a bound on the classes of a set, and for each further column into how many it splits one of them."""
        classes, branching = 1.0, self._domains
        for position in positions:
            classes *= float(branching[position])
            branching = np.minimum(branching, self._splits[position])
        return classes, branching


def _count_splits(count_classes: Classes, width: int) -> Numbers:
    """Return, for pairs of columns, into how many classes the second splits one of the first on average.

    The value is infinite where the pair was not counted.
    """
    table = np.full((width, width), np.inf)
    single = [count_classes(1 << column) for column in range(width)]
    for first, second in combinations(range(width), 2):
        pair = count_classes(1 << first | 1 << second)
        for column, other in ((first, second), (second, first)):
            classes_alone = single[column]
            if pair and classes_alone:
                table[column, other] = max(1.0, pair / classes_alone)
    return table


# Figures of column sets from the engine: several sets in one statement, each counted once.

_BATCH = 20
"""Sets in one statement; more save no time and make the time budget coarse."""
_CLUSTER_BATCH = 100
"""Sets in one statement on a cluster, where planning and sending a statement takes longer than counting a set."""


@dataclass(frozen=True)
class Figures:
    """The figures of a column set, from one GROUP BY.

    Args:
        classes: equivalence classes; None where missing values match any value.
        min_size: rows (or persons) of the smallest class.
        at_risk: rows (or persons) in classes below k.
        unique: rows (or persons) alone in their class.
        pairs: ordered pairs of different rows in one class; None for persons and with wildcards.
    """

    classes: int | None
    min_size: int
    at_risk: int
    unique: int
    pairs: int | None


class SetCounter:
    """Counts column sets over one target and caches their figures.

    `database` is the engine of the target, `engine` the one that counts its rows: mostly the same.

    A set in `closed` puts at most as many at risk as is allowed, and is not counted. A set whose column c follows from
    others in it (a subset has as many classes with c as without) has the figures of the set without c and is not
    counted again.
    """

    def __init__(self, engine: Engine, coded: Coded, k: int, nulls: NullPolicy) -> None:
        self.database = engine
        self.engine = coded.engine or engine
        self.coded = coded
        self.k = k
        self.nulls = nulls
        self.cache: dict[int, Figures] = {}
        self.closed: set[int] = set()
        self.counted = 0
        self.derived = 0
        self.queries = 0
        self.stop: Stop = never
        self._follows: dict[int, list[int]] = {}
        counts_rows = coded.coded and coded.entity is None and nulls is not NullPolicy.WILDCARD
        self._cuboids = Cuboids(self.engine, coded) if counts_rows else None

    @property
    def total(self) -> int:
        """The number of rows, or of people if there is an entity."""
        return self.coded.persons

    @property
    def on_cluster(self) -> bool:
        """True if rows are counted on a cluster, where every statement takes long to start."""
        return self.engine.is_cluster

    def figures(self, masks: Sequence[int]) -> list[Figures]:
        """Return the figures of several sets, in order. Sets that were counted stay cached when the budget ends.

        Raises:
            BudgetSpent: the budget ended between two statements; the first one always runs.
        """
        waiting = [mask for mask in dict.fromkeys(masks) if not self._is_known(mask)]
        for number, batch in enumerate(self._batches_by_cuboid(waiting)):
            if number and self.stop():
                raise BudgetSpent
            if self._can_match(batch[0]):
                self._match_patterns(batch[0])
            else:
                self._run_batch(batch)
        return [self.cache[mask] for mask in masks]

    def prepare(self, masks: Sequence[int], most_at_risk: Fraction | None = None) -> None:
        """Plan cuboids for many sets that will be counted.

        Args:
            masks: the sets.
            most_at_risk: sets that put at most this many at risk need no figures, and may be closed together.
        """
        if self._cuboids is None:
            return
        fresh = [mask for mask in masks if mask not in self.cache]
        if most_at_risk is not None and len(fresh) >= _MANY_SETS:
            self._close_sets(fresh, most_at_risk)
            fresh = [mask for mask in fresh if mask not in self.closed]
        self._cuboids.plan(fresh, self._count_known_classes, self.stop)

    def _close_sets(self, masks: Sequence[int], most_at_risk: Fraction) -> None:
        """Close sets inside wide sets that put few enough at risk: no subset of these puts more at risk."""
        plan = _CuboidPlan(masks, self._count_known_classes, self.coded, _ROWS_PER_SAFE_CLASS * self.k)
        in_vain = 0
        for number, mask in enumerate(masks):
            if in_vain == _MOST_IN_VAIN or self.stop():
                return
            if not plan.waiting[number]:
                continue
            wide, inside = plan.grow_cuboid(bits(mask))
            if len(inside) < _LEAST_SETS:
                in_vain += 1
            elif self.figures([wide])[0].at_risk > most_at_risk:
                in_vain += 1
                plan.most_classes /= 2
            else:
                in_vain = 0
                plan.waiting[inside] = False
                self.closed.update(masks[position] for position in inside)
                self.derived += len(inside)

    def _count_known_classes(self, mask: int) -> int | None:
        return self.cache[mask].classes if mask in self.cache else None

    def close(self) -> None:
        """Drop the cuboids."""
        if self._cuboids is not None:
            self._cuboids.close()

    def statements(self, masks: Sequence[int]) -> list[Statement]:
        """Return the statements that would count these sets."""
        return [self._statement(batch) for batch in self._batches(masks)]

    def _is_known(self, mask: int) -> bool:
        return mask in self.cache or self._derive_figures(mask)

    def _batches_by_cuboid(self, masks: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield the sets of one statement each: those with a cuboid first, with all others in it."""
        alone = []
        for mask in masks:
            together = self._cuboids.take(mask) if self._cuboids is not None else []
            if not together and mask not in self.cache:
                alone.append(mask)
            yield from self._batches([other for other in together if not self._is_known(other)])
        yield from self._batches(alone)

    def _batches(self, masks: Sequence[int]) -> list[Sequence[int]]:
        size = 1 if self.nulls is NullPolicy.WILDCARD else _CLUSTER_BATCH if self.on_cluster else _BATCH
        return [masks[begin : begin + size] for begin in range(0, len(masks), size)]

    def copy_figures(self, masks: Sequence[int], source: int) -> None:
        """Cache the figures of `source` for sets that distinguish the same rows and so have the same classes."""
        for mask in masks:
            if mask not in self.cache:
                self.cache[mask] = self.cache[source]
                self.derived += 1

    def record(self, mask: int, figures: Figures) -> None:
        """Cache the figures of a set that another statement counted."""
        if mask not in self.cache:
            self.cache[mask] = figures
            self.counted += 1
            self._note_dependencies(mask)

    def mixed_classes(self, masks: Sequence[int]) -> list[int]:
        """Return, for each set, the number of classes with two people whose rows differ in some other column."""
        sets = [self._set_parameters(number, mask) for number, mask in enumerate(masks)]
        statement = render(
            "column_sets/columns_count_mixed.sql",
            self.engine.dialect,
            sets=sets,
            names=code_names(range(len(self.coded.missing))),
            all_nullable=self._singleton_columns(self.coded.nullable),
            **self.coded.parameters(),
        )
        self.queries += 1
        self.counted += len(masks)
        mixed = {int(number): int(count) for number, count in self.engine.run(statement)}
        return [mixed.get(number, 0) for number in range(len(masks))]

    def _run_batch(self, masks: Sequence[int]) -> None:
        """Count several sets in one statement and cache their figures."""
        rows = self.engine.run(self._statement(masks))
        self.queries += 1
        self.counted += len(masks)
        for position, *figures_row in rows:
            # sums over no rows at all are NULL and mean 0; a NULL of classes means that there are none to count
            classes, smallest, at_risk, unique, pairs = (
                None if number is None else int(number) for number in figures_row
            )
            figures = Figures(classes or 0, smallest or 0, at_risk or 0, unique or 0, pairs)
            overlap = self.nulls is NullPolicy.WILDCARD
            self.cache[masks[int(position)]] = replace(figures, classes=None) if overlap else figures
        for mask in masks:
            self.cache.setdefault(mask, Figures(0, 0, 0, 0, 0))
            self._note_dependencies(mask)

    def _can_match(self, mask: int) -> bool:
        """Return True if rows match because of missing values, and the codes of the set fit the memory of Python."""
        coded = self.coded
        if self.nulls is not NullPolicy.WILDCARD or coded.entity is not None or not (coded.coded and coded.rows):
            return False
        most_patterns = min(coded.rows, prod(coded.domains[position] for position in bits(mask)))
        return mask & coded.nullable > 0 and most_patterns * mask.bit_count() <= MAX_MATCHED_CODES

    def _match_patterns(self, mask: int) -> None:
        """Count the rows that each pattern of a set matches, and cache the figures."""
        names, step = code_names(bits(mask)), "matching rows"
        statement = render("column_sets/columns_cuboid.sql", self.engine.dialect, source=self.coded.source, names=names)
        *codes, rows = self.engine.columns_as_arrays(replace(statement, name=step)).values()
        cells = np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64), rows
        batches = [*match_patterns(codes, cells, lambda: self.engine.report_step(step))]
        sizes = np.concatenate([sizes for _, _, sizes in batches])
        rows = rows[np.concatenate([patterns for patterns, _, _ in batches])]
        at_risk, unique = (int(rows[sizes < limit].sum()) for limit in (self.k, 2))
        self.queries += 1
        self.record(mask, Figures(None, int(sizes.min()), at_risk, unique, None))

    def _statement(self, masks: Sequence[int]) -> Statement:
        """Return the statement that counts a batch of sets."""
        parameters = {**self.coded.parameters(), "k": self.k}
        if self.nulls is NullPolicy.WILDCARD:
            solid, nullable = (
                code_names(bits(masks[0] & part)) for part in (~self.coded.nullable, self.coded.nullable)
            )
            wildcard_set = {"number": 0, "solid": solid, "nullable": nullable}
            return render("column_sets/columns_count_wildcard.sql", self.engine.dialect, set=wildcard_set, **parameters)
        unit = "sets" if self.coded.entity is None else "persons"
        sets = [self._set_parameters(number, mask) for number, mask in enumerate(masks)]
        return render(f"column_sets/columns_count_{unit}.sql", self.engine.dialect, sets=sets, **parameters)

    def _set_parameters(self, number: int, mask: int) -> dict[str, Any]:
        """Return the parameters of a set in the templates."""
        keys = self.coded.keys(mask)
        return {
            "number": number,
            "cuboid": self._cuboids.source(mask) if self._cuboids else None,
            "packed": keys,
            "key_names": [f"k{i}" for i in range(len(keys))],
            "nullable": self._singleton_columns(mask & self.coded.nullable),
        }

    def _singleton_columns(self, nullable: int) -> list[str]:
        """Return the columns whose missing values make a row a class of its own."""
        return code_names(bits(nullable)) if self.nulls is NullPolicy.DISTINCT else []

    def _derive_figures(self, mask: int) -> bool:
        """Cache the figures of a set if a column in it follows from others; True if so."""
        for column in bits(mask):
            rest = mask ^ (1 << column)
            if rest in self.cache and any(left & rest == left for left in self._follows.get(column, ())):
                self.cache[mask] = self.cache[rest]
                self.derived += 1
                return True
        return False

    def _note_dependencies(self, mask: int) -> None:
        """Note which columns of a set follow from its others: those that split no class of the set without them."""
        classes = self.cache[mask].classes
        if classes is None:
            return
        for column in bits(mask):
            rest = mask ^ (1 << column)
            other = self.cache.get(rest)
            if other is not None and other.classes == classes:
                follows = self._follows.setdefault(column, [])
                if not any(left & rest == left for left in follows):
                    follows.append(rest)


def code_names(positions: Iterable[int]) -> list[str]:
    """Return the names of the codes of some columns in statements."""
    return [f"c{position}" for position in positions]

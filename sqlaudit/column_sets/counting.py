"""Where and how column sets are counted: codes of the columns, several sets in a statement, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import BudgetSpent, Stop, UsageError, never
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.engines.contract import Engine

# Which columns of the target are searched.


@dataclass(frozen=True)
class Chosen:
    """A column, or an expression over columns, that takes part.

    Args:
        name: what reports call it: the column's name, or the expression as the user wrote it.
        sql: the quoted column or the checked expression, in the engine's dialect.
        kind: what it holds; `Kind.OTHER` for expressions.
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
    """The columns named, or all columns of the relation without the excluded ones.

    Args:
        field: the field of the request that names them, for what is said of a wrong one.

    Raises:
        UsageError: a name is unknown or given twice, or nothing is left.
    """
    left_out = {named_column(relation, name, "exclude").name for name in exclude}
    named = [choose_column(relation, dialect, text, field) for text in columns]
    every = (Chosen(one.name, quote(one.name, dialect), one.kind, one.type) for one in relation.columns)
    chosen = [one for one in named or every if one.name not in left_out]
    if not chosen:
        raise UsageError("No column is left to search. Exclude fewer.")
    return each_once(chosen)


def each_once(chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """The columns, when none of them is there twice.

    Raises:
        UsageError: one is.
    """
    seen: set[str] = set()
    for one in chosen:
        if one.name in seen:
            raise UsageError(f"Column {one.name!r} is named twice.")
        seen.add(one.name)
    return tuple(chosen)


_WITHOUT_CODES = ("entity", "sensitive", "weights", "household")
"""Fields of requests whose columns have no codes for missing values: a code is no person, and no sensitive value."""


def choose_column(relation: Relation, dialect: str, text: str, field: str) -> Chosen:
    """One column by name (exact, else without regard to case), or else an expression over columns.

    Raises:
        UsageError: neither.
    """
    found = resolve(text, relation, dialect, about(field))
    codes = next((each for each in relation.missing if each.column == found.column), None)
    if codes is not None and field in _WITHOUT_CODES:
        return Chosen(codes.column, codes.sql, codes.kind, codes.type)
    return Chosen(found.column or text, found.sql, found.kind, found.type)


def named_column(relation: Relation, name: str, field: str) -> ColumnInfo:
    """A column by name.

    Raises:
        UsageError: there is none.
    """
    found = find_column(name, relation)
    if found is None:
        raise unknown_column(name, relation, about(field))
    return found


# Where column sets are counted: a table of small codes where one can be kept, else the target itself.
#
# DuckDB keeps the codes itself. Spark makes them and hands them to its workbench, unless there are too many of them for
# the memory of one machine. PostgreSQL keeps nothing, and is asked about the target.

_ROWS = "sqlaudit_columns_rows"
_CODES = "sqlaudit_columns_codes"
_WIDEST_OFFSET = 1 << 21
"""Whole numbers in a range up to this keep their distance from the smallest one, without a dictionary."""
_IN_64_BITS = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WORD = 1 << 62
MOST_CODES = 50_000_000
"""So many codes (rows times columns) go to a workbench: four bytes each on the way, and as many again there."""


@dataclass(frozen=True)
class Coded:
    """The rows that questions about column sets run over.

    Args:
        source: the FROM item: the table of codes, or the target.
        columns: the columns' expressions when `source` is the target; None when it is the table of codes.
        entity: the entity's expression when `source` is the target, `e` in the table of codes, None without one.
        rows: rows of the target. persons: persons, = rows without an entity.
        missing: for each column the number of rows where it is missing.
        domains: for each column one more than its largest code; empty without codes.
        engine: where the codes are when that is not where the target is.
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
        """Whether the rows are codes, with 0 for NULL."""
        return self.columns is None

    @property
    def nullable(self) -> int:
        """The columns with a missing value, as a mask."""
        return sum(1 << position for position, count in enumerate(self.missing) if count)

    def parameters(self) -> dict[str, Any]:
        """What every template over these rows needs."""
        return {"source": self.source, "columns": self.columns, "coded": self.coded, "entity": self.entity}

    def keys(self, mask: int) -> list[list[tuple[str, int]]]:
        """The GROUP BY keys of a set: codes packed into as few numbers as fit 62 bits, else plain columns."""
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

    Where codes stay with the engine, `kept` columns stay beside them as v0, v1, …; cells go to no workbench.
    `ordered` codes are the same in every run, for what is drawn at random among them.

    Raises:
        UsageError: rows without an entity.
    """
    if engine.own_workbench:
        return _codes(engine, relation, chosen, entity, kept, ordered=ordered)
    people = len(chosen) + (entity is not None)
    if engine.can_materialize and codes_are_kept(engine, count_rows(engine, relation), people):
        return _codes(engine, relation, chosen, entity, (), ordered=ordered)
    found = on_target(Coded(Raw(relation.sql), None, None, 0, 0, ()), relation, chosen, entity)
    profile = [{"name": column, "whole": False} for column in found.columns or ()]
    row = engine.run(render("column_sets/columns_profile.sql", engine.dialect, source=found.source, columns=profile))[0]
    rows, persons = _totals(engine, found.source, found.entity)
    return replace(found, rows=rows, persons=persons, missing=tuple(map(int, row[1::2])))


def codes_are_kept(engine: Engine, rows: int, columns: int) -> bool:
    """Whether column sets of so many rows and columns are counted from codes, which is cheap."""
    return engine.own_workbench or (engine.can_materialize and rows * columns <= MOST_CODES)


def count_rows(engine: Engine, source: Raw | Relation) -> int:
    """How many rows a FROM item has."""
    return int(engine.run(render("base/row_count.sql", engine.dialect, source=source))[0][0])


def on_target(coded: Coded, relation: Relation, chosen: Sequence[Chosen], entity: Chosen | None) -> Coded:
    """The same rows on the target itself instead of the table of codes."""
    columns = tuple(Raw(column.sql) for column in chosen)
    person = Raw(entity.sql) if entity else None
    return Coded(Raw(relation.sql), columns, person, coded.rows, coded.persons, coded.missing)


def drop_codes(engine: Engine) -> None:
    """Release what `code_columns` keeps."""
    if engine.can_materialize:
        _home(engine).drop(_CODES)
        engine.drop(_ROWS)


def _home(engine: Engine) -> Engine:
    return engine if engine.own_workbench else engine.workbench()


def _totals(engine: Engine, source: Raw, entity: Raw | None) -> tuple[int, int]:
    rows, persons, nameless = engine.run(
        render("column_sets/columns_totals.sql", engine.dialect, source=source, entity=entity)
    )[0]
    if nameless:
        raise UsageError(
            f"The entity column is missing in {nameless:,} of {rows:,} rows. Fill it, or leave these rows out."
        )
    return int(rows), int(persons)


def _codes(
    engine: Engine,
    relation: Relation,
    chosen: Sequence[Chosen],
    entity: Chosen | None,
    kept: Sequence[Chosen],
    *,
    ordered: bool,
) -> Coded:
    read = render(
        "column_sets/columns_rows.sql", engine.dialect, source=relation, columns=chosen, entity=entity, kept=kept
    )
    rows = engine.materialize(_ROWS, read)
    infos = rows.columns[len(kept) :]
    names = [info.name for info in infos]
    values = [info.name for info in rows.columns[: len(kept)]]
    source, person = Raw(rows.sql), Raw("e") if entity else None
    persons = _totals(engine, source, person)[1]
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
        "column_sets/columns_codes.sql", engine.dialect, source=source, columns=codes, kept=values, ordered=ordered
    )
    home = _home(engine)
    coded = engine.materialize(_CODES, statement) if home is engine else engine.hand_over(_CODES, statement)
    engine.drop(_ROWS)
    largest = home.run(render("column_sets/columns_domains.sql", home.dialect, source=coded, names=names))[0]
    domains = tuple(int(value or 0) + 1 for value in largest)
    missing = tuple(int(count) for count in row[1::2])
    width, there = len(chosen), home if home is not engine else None
    return Coded(Raw(coded.sql), None, person, int(row[0]), persons, missing[:width], domains[:width], there)


# Wide column sets with few classes, kept so that the many small sets inside them are counted from these classes.

_SHARE = 4
"""A cuboid may have one class for so many rows; with more classes it saves too little."""
_LEAST_SETS = 8
"""A cuboid is worth building for so many sets."""
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
        self._home: dict[int, int] = {}
        self._tables: dict[int, tuple[str, Raw]] = {}

    def plan(self, masks: Sequence[int], classes: Classes, stop: Stop = never) -> None:
        """Choose cuboids for sets that will be counted; the older ones are dropped."""
        self.close()
        if len(masks) < _LEAST_SETS or masks[0].bit_count() < 2:
            return
        plan = _Plan(masks, classes, self.coded)
        domains = self.coded.domains
        widths = [prod((domains[position] for position in bits(mask)), start=1.0) for mask in masks]
        for number in sorted(range(len(masks)), key=widths.__getitem__):
            if stop():
                return
            if plan.waiting[number]:
                cuboid, inside = plan.around(bits(masks[number]))
                plan.waiting[number] = False
                if len(inside) >= _LEAST_SETS:
                    plan.waiting[inside] = False
                    self._home.update((masks[member], cuboid) for member in inside)

    def source(self, mask: int) -> Raw | None:
        """The kept classes to count a set from, None for the rows themselves."""
        cuboid = self._home.get(mask)
        if cuboid is None:
            return None
        if cuboid not in self._tables:
            name, names, rows = f"{_NAME}{self.built}", code_names(bits(cuboid)), self.coded.source
            statement = render("column_sets/columns_cuboid.sql", self.engine.dialect, source=rows, names=names)
            self._tables[cuboid] = (name, Raw(self.engine.materialize(name, statement).sql))
            self.built += 1
        return self._tables[cuboid][1]

    def close(self) -> None:
        """Drop all that is kept; what is asked for later is counted from the rows."""
        self._home = {}
        for name, _ in self._tables.values():
            self.engine.drop(name)
        self._tables = {}


class _Plan:
    """Which sets still wait for a cuboid, and how large one becomes, at most."""

    def __init__(self, masks: Sequence[int], classes: Classes, coded: Coded) -> None:
        width = len(coded.missing)
        self.waiting: Flags = np.ones(len(masks), dtype=bool)
        self._members: Flags = np.array([[mask >> at & 1 for at in range(width)] for mask in masks], dtype=bool)
        self._having = np.ascontiguousarray(self._members.T)
        self._sizes = np.array([mask.bit_count() for mask in masks], dtype=np.int16)
        self._domains = np.array(coded.domains, dtype=np.float64)
        self._splits = _splits(classes, width)
        self._most = coded.rows / _SHARE

    def around(self, positions: Sequence[int]) -> tuple[int, list[int]]:
        """A cuboid around a set, and the waiting sets inside it: as long as it stays small, the column is added that
        takes in most further sets."""
        size, branching = self._start(positions)
        if size > self._most:
            return 0, []
        chosen = np.zeros(len(self._domains), dtype=bool)
        chosen[positions] = True
        outside = self._sizes - self._having[positions].sum(axis=0, dtype=np.int16)
        while True:
            taken = self._members[self.waiting & (outside == 1)].sum(axis=0)  # by the one column that they lack
            wider = size * branching
            score = (taken + 0.5) / np.maximum(1.0, wider / size - 0.99)
            score[chosen | (wider > self._most)] = -1.0
            best = int(score.argmax())
            if score[best] < 0:
                break
            size, branching = float(wider[best]), np.minimum(branching, self._splits[best])
            chosen[best] = True
            outside -= self._having[best]
        inside = np.flatnonzero(self.waiting & (outside == 0))
        return mask_of(np.flatnonzero(chosen).tolist()), inside.tolist()

    def _start(self, positions: Sequence[int]) -> tuple[float, Numbers]:
        """How many classes a set has, at most, and into how many each further column splits one of them."""
        size, branching = 1.0, self._domains
        for position in positions:
            size *= float(branching[position])
            branching = np.minimum(branching, self._splits[position])
        return size, branching


def _splits(classes: Classes, width: int) -> Numbers:
    """For two columns into how many classes the second splits one of the first on average, where that was counted."""
    table = np.full((width, width), np.inf)
    single = [classes(1 << column) for column in range(width)]
    for one, two in combinations(range(width), 2):
        pair = classes(1 << one | 1 << two)
        for column, other in ((one, two), (two, one)):
            alone = single[column]
            if pair and alone:
                table[column, other] = max(1.0, pair / alone)
    return table


# The module that asks the engine: figures of column sets, several in one statement, each counted once.

_BATCH = 20
"""Sets in one statement; more bring nothing and make the time budget coarse."""
_CLUSTER_BATCH = 100
"""The same where every statement has to be planned and sent to machines, which takes longer than counting a set."""


@dataclass(frozen=True)
class Figures:
    """What one GROUP BY says about a column set.

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
    """Figures of column sets over one target, remembered.

    `database` is where the target lies, `engine` where its rows are counted: mostly the same.

    A set whose column c follows from others in it (a subset has as many classes with c as without) has the figures
    of the set without c and is not counted again.
    """

    def __init__(self, engine: Engine, coded: Coded, k: int, nulls: NullPolicy) -> None:
        self.database = engine
        self.engine = coded.engine or engine
        self.coded = coded
        self.k = k
        self.nulls = nulls
        self.known: dict[int, Figures] = {}
        self.counted = 0
        self.derived = 0
        self.queries = 0
        self.stop: Stop = never
        self._follows: dict[int, list[int]] = {}
        counts_rows = coded.coded and coded.entity is None and nulls is not NullPolicy.WILDCARD
        self._cuboids = Cuboids(self.engine, coded) if counts_rows else None

    @property
    def total(self) -> int:
        """Rows, or persons where an entity is given."""
        return self.coded.persons

    @property
    def on_cluster(self) -> bool:
        """Whether rows are counted where they are, on machines for which a statement is work by itself."""
        return self.engine.can_materialize and not self.engine.own_workbench

    def figures(self, masks: Sequence[int]) -> list[Figures]:
        """The figures of several sets, in order; what is counted is remembered even when the budget ends.

        Raises:
            BudgetSpent: between two statements; the first one always runs.
        """
        waiting = []
        for mask in dict.fromkeys(masks):
            if mask not in self.known and not self._derive(mask):
                waiting.append(mask)
        for number, batch in enumerate(self._batches(waiting)):
            if number and self.stop():
                raise BudgetSpent
            self._count(batch)
        return [self.known[mask] for mask in masks]

    def expect(self, masks: Sequence[int]) -> None:
        """Prepare for many sets that will be counted: wide sets with few classes are kept to count them from."""
        if self._cuboids is not None:
            fresh = [mask for mask in masks if mask not in self.known]
            self._cuboids.plan(fresh, lambda mask: self.known[mask].classes if mask in self.known else None, self.stop)

    def close(self) -> None:
        """Release what was kept."""
        if self._cuboids is not None:
            self._cuboids.close()

    def statements(self, masks: Sequence[int]) -> list[Statement]:
        """The statements that would count these sets."""
        return [self._statement(batch) for batch in self._batches(masks)]

    def _batches(self, masks: Sequence[int]) -> list[Sequence[int]]:
        size = 1 if self.nulls is NullPolicy.WILDCARD else _CLUSTER_BATCH if self.on_cluster else _BATCH
        return [masks[begin : begin + size] for begin in range(0, len(masks), size)]

    def identifies_all(self, masks: Sequence[int], whole: int) -> None:
        """Note sets that tell apart exactly the rows that all columns tell apart: they have the same classes."""
        for mask in masks:
            if mask not in self.known:
                self.known[mask] = self.known[whole]
                self.derived += 1

    def learn(self, mask: int, figures: Figures) -> None:
        """Note the figures of a set that somebody else counted."""
        if mask not in self.known:
            self.known[mask] = figures
            self.counted += 1
            self._learn(mask)

    def mixed_classes(self, masks: Sequence[int]) -> list[int]:
        """For several sets: classes with two persons whose rows differ in some other column."""
        sets = [self._set(number, mask) for number, mask in enumerate(masks)]
        statement = render(
            "column_sets/columns_count_mixed.sql",
            self.engine.dialect,
            sets=sets,
            names=code_names(range(len(self.coded.missing))),
            all_nullable=self._solo(self.coded.nullable),
            **self.coded.parameters(),
        )
        self.queries += 1
        self.counted += len(masks)
        mixed = {int(number): int(count) for number, count in self.engine.run(statement)}
        return [mixed.get(number, 0) for number in range(len(masks))]

    def _count(self, masks: Sequence[int]) -> None:
        rows = self.engine.run(self._statement(masks))
        self.queries += 1
        self.counted += len(masks)
        for number, *found in rows:
            # sums over no rows at all are NULL and mean 0; a NULL of classes means that there are none to count
            classes, smallest, at_risk, unique, pairs = (None if one is None else int(one) for one in found)
            figures = Figures(classes or 0, smallest or 0, at_risk or 0, unique or 0, pairs)
            overlap = self.nulls is NullPolicy.WILDCARD
            self.known[masks[int(number)]] = replace(figures, classes=None) if overlap else figures
        for mask in masks:
            self.known.setdefault(mask, Figures(0, 0, 0, 0, 0))
            self._learn(mask)

    def _statement(self, masks: Sequence[int]) -> Statement:
        parameters = {**self.coded.parameters(), "k": self.k}
        if self.nulls is NullPolicy.WILDCARD:
            solid, nullable = (code_names(bits(masks[0] & of)) for of in (~self.coded.nullable, self.coded.nullable))
            chosen = {"number": 0, "solid": solid, "nullable": nullable}
            return render("column_sets/columns_count_wildcard.sql", self.engine.dialect, set=chosen, **parameters)
        counted = "sets" if self.coded.entity is None else "persons"
        sets = [self._set(number, mask) for number, mask in enumerate(masks)]
        return render(f"column_sets/columns_count_{counted}.sql", self.engine.dialect, sets=sets, **parameters)

    def _set(self, number: int, mask: int) -> dict[str, Any]:
        keys = self.coded.keys(mask)
        return {
            "number": number,
            "cuboid": self._cuboids.source(mask) if self._cuboids else None,
            "packed": keys,
            "key_names": [f"k{i}" for i in range(len(keys))],
            "nullable": self._solo(mask & self.coded.nullable),
        }

    def _solo(self, nullable: int) -> list[str]:
        """Columns that make a row a class of its own where they are missing."""
        return code_names(bits(nullable)) if self.nulls is NullPolicy.DISTINCT else []

    def _derive(self, mask: int) -> bool:
        for column in bits(mask):
            rest = mask ^ (1 << column)
            if rest in self.known and any(left & rest == left for left in self._follows.get(column, ())):
                self.known[mask] = self.known[rest]
                self.derived += 1
                return True
        return False

    def _learn(self, mask: int) -> None:
        """Note that a column follows from the others when it splits no class of theirs."""
        classes = self.known[mask].classes
        if classes is None:
            return
        for column in bits(mask):
            rest = mask ^ (1 << column)
            other = self.known.get(rest)
            if other is not None and other.classes == classes:
                follows = self._follows.setdefault(column, [])
                if not any(left & rest == left for left in follows):
                    follows.append(rest)


def code_names(positions: Iterable[int]) -> list[str]:
    """What the codes of some columns are called in statements."""
    return [f"c{position}" for position in positions]

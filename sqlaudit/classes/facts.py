"""Facts of equivalence classes, which models are computed from, and signatures of classes for worst cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import spoken
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    IntArray: TypeAlias = NDArray[np.integer[Any]]


# Signatures: all that the dynamic program for worst-case disclosure needs to know of a table.
#
# For up to K pieces of knowledge, only the size of a class and its K + 1 largest counts matter. Classes in which these
# agree are interchangeable, so a table of any size is reduced to its distinct signatures and the number of classes of
# each.

MAX_ROWS_WITHOUT_NUMPY = 128
"""Up to this many signatures stay rows of Python integers: importing numpy would take longer than the computation."""
LARGEST_CLASS = 2**53
"""Beyond this an integer is not exact as a float, so the error bounds of the program would not hold."""


@dataclass(frozen=True, eq=False)
class Signatures:
    """The distinct signatures of a table's equivalence classes.

    Args:
        n: rows of the class, shape (S,), at least 1.
        counts: the K + 1 largest counts of one sensitive value in the class, shape (S, K + 1), descending, padded with
            0.
        multiplicity: number of classes with that signature, shape (S,), at least 1.

    Arrays may have any signed integer type (ten million signatures take half the memory as int32) and any memory
    layout. If a small number comes as rows, they become arrays when these are first used.

    Raises:
        UsageError: a signature is impossible. The message names its position and the two numbers that disagree.

    Source: Martin et al., Worst-Case Background Knowledge, Lemma 12 (only n and the largest counts appear in it).

    >>> Signatures.from_classes([[2, 2, 1], [2, 1, 2], [2, 1, 1, 1]], k=1).counts.tolist()
    [[2, 2], [2, 1]]
    """

    n: IntArray
    counts: IntArray
    multiplicity: IntArray

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            object.__setattr__(self, name, _integer_array(name, getattr(self, name)))
        _check_shapes(self)
        _check_values(self)

    def __getattr__(self, name: str) -> IntArray:
        if name not in _ARRAYS or "integer_rows" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        arrays = _to_arrays(self.__dict__["integer_rows"], self.k)
        for array_name, array in zip(_ARRAYS, arrays, strict=True):
            object.__setattr__(self, array_name, array)
        return self.__dict__[name]  # type: ignore[no-any-return]

    @classmethod
    def from_classes(cls, classes: Iterable[Sequence[int]], k: int) -> Signatures:
        """Return the signatures of classes from all their counts.

        Args:
            classes: the counts of each class, in any order; zeros are allowed.
            k: the largest number of pieces of knowledge.
        """
        _check_knowledge(k)
        multiplicities: Counter[tuple[int, ...]] = Counter()
        for counts in classes:
            largest = sorted(counts, reverse=True)[: k + 1]
            multiplicities[(sum(counts), *largest, *[0] * (k + 1 - len(largest)))] += 1
        return cls.from_rows([(*signature, times) for signature, times in multiplicities.items()], k)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[int]], k: int) -> Signatures:
        """Return the signatures in rows as a database returns them: n, r1 … r(k+1), number of classes."""
        _check_knowledge(k)
        for position, row in enumerate(rows):
            if len(row) != k + 3:
                raise UsageError(f"signature {position} has {len(row)} columns, for k = {k} it must have {k + 3}")
        if 0 < len(rows) <= MAX_ROWS_WITHOUT_NUMPY and all(map(_is_possible, rows)):
            signatures = cls.__new__(cls)
            object.__setattr__(signatures, "integer_rows", tuple(map(tuple, rows)))
            return signatures
        return cls(*_to_arrays(rows, k))

    @classmethod
    def from_columns(cls, columns: Sequence[ArrayLike]) -> Signatures:
        """Return the signatures in columns: n, r1 … r(k+1), number of classes.

        Engines return millions of rows in this form, without a Python object for each. A sum may be float64 (drivers
        return 128-bit integers so); it is accepted if it is an integer.
        """
        if len(columns) < 3:
            raise UsageError(f"{len(columns)} columns were given, a signature has at least 3: n, r1, number of classes")
        import numpy as np

        n, *counts, multiplicity = [_to_integers(column) for column in columns]
        return cls(n, np.stack(counts).T, multiplicity)

    @property
    def as_rows(self) -> tuple[tuple[int, ...], ...] | None:
        """The rows (n, r1 … r(k+1), number of classes), if the signatures came so; None = they are arrays."""
        return self.__dict__.get("integer_rows")

    def __len__(self) -> int:
        return len(self.n if self.as_rows is None else self.as_rows)

    def padded(self, k: int) -> Signatures:
        """Return the signatures for up to `k` pieces of knowledge, if no class has more values than are counted.

        >>> Signatures.from_classes([[2, 1]], k=1).padded(2).counts.tolist()
        [[2, 1, 0]]
        """
        import numpy as np

        width = k - self.k
        return self if width <= 0 else Signatures(self.n, np.pad(self.counts, ((0, 0), (0, width))), self.multiplicity)

    @property
    def k(self) -> int:
        """The largest number of pieces of knowledge that the signatures suffice for."""
        return int(self.counts.shape[1]) - 1 if self.as_rows is None else len(self.as_rows[0]) - 3

    @property
    def classes(self) -> int:
        """Number of equivalence classes."""
        if self.as_rows is not None:
            return sum(row[-1] for row in self.as_rows)
        return int(self.multiplicity.sum(dtype="int64"))

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        if self.as_rows is not None:
            return sum(row[0] * row[-1] for row in self.as_rows)
        return int(self.n.astype("int64").dot(self.multiplicity.astype("int64")))

    def signature(self, position: int) -> tuple[int, tuple[int, ...]]:
        """Return n and the largest counts of one signature, as Python integers."""
        if self.as_rows is not None:
            n, *counts, _ = self.as_rows[position]
            return n, tuple(counts)
        return int(self.n[position]), tuple(self.counts[position].tolist())

    def take(self, positions: IntArray) -> Signatures:
        """Return the signatures at the positions."""
        return Signatures(self.n[positions], self.counts[positions], self.multiplicity[positions])

    def fewest_values(self) -> int:
        """Return the smallest number of distinct sensitive values in a class, k + 2 if all have more than k + 1."""
        if self.as_rows is not None:
            return min(_count_values(n, counts) for n, *counts, _ in self.as_rows)
        left = self.n.astype("int64")
        for rank in range(self.k + 1):
            left -= self.counts[:, rank]
            if not left.all():
                return rank + 1
        return self.k + 2


_ARRAYS = ("n", "counts", "multiplicity")


def _is_possible(row: Sequence[Any]) -> bool:
    """Return True if a row of Python integers is a possible signature. Errors in other rows are found in arrays."""
    if any(type(value) is not int for value in row):
        return False
    n, *counts, multiplicity = row
    total = sum(counts)
    is_ordered = all(count >= following for count, following in pairwise(counts))
    adds_up = total <= n <= LARGEST_CLASS and (counts[-1] > 0 or total == n)
    return is_ordered and adds_up and counts[0] >= 1 and counts[-1] >= 0 and 1 <= multiplicity <= LARGEST_CLASS


def _count_values(n: int, counts: Sequence[int]) -> int:
    """Return how many distinct values a class of n rows has; `len(counts)` + 1 stands for more than are counted.

    Args:
        n: the rows of the class.
        counts: the rows of its most frequent values, the highest first.
    """
    for rank, count in enumerate(counts):
        n -= count
        if not n:
            return rank + 1
    return len(counts) + 1


def _to_arrays(rows: Sequence[Sequence[int]], k: int) -> tuple[IntArray, IntArray, IntArray]:
    import numpy as np

    try:
        table = np.array(rows, dtype=np.int64).reshape(len(rows), k + 3)
    except (TypeError, ValueError, OverflowError):
        raise UsageError("the signatures have a value that is missing, not a number or too large") from None
    return table[:, 0], table[:, 1:-1], table[:, -1]


def _check_knowledge(k: int) -> None:
    if k < 0:
        raise OutOfRange(f"the number of pieces of knowledge is {k}, it must be at least 0")


def _integer_array(name: str, values: Any) -> IntArray:
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind != "i":
        raise UsageError(f"{name} of the signatures is of type {array.dtype}, it must be a signed integer type")
    return array


def _to_integers(column: ArrayLike) -> IntArray:
    """Return a column of a database as integers.

    Raises:
        UsageError: a value is missing, is not an integer or is too large to be exact.
    """
    import numpy as np

    if np.ma.is_masked(column):
        raise UsageError("a column of the signatures has a missing value")
    array = np.asarray(column)
    if array.dtype.kind == "u":
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        return _integer_array("a column", array)
    if not (np.abs(array) <= LARGEST_CLASS).all():
        raise UsageError(f"a column of the signatures has a missing value or one beyond {LARGEST_CLASS}")
    integers = array.astype(np.int64)
    if not (integers == array).all():
        raise UsageError("a column of the signatures has a value that is not a whole number")
    return integers


def _check_shapes(signatures: Signatures) -> None:
    n, counts, multiplicity = signatures.n.shape, signatures.counts.shape, signatures.multiplicity.shape
    if len(n) != 1 or len(counts) != 2 or counts[1] < 1:
        raise UsageError(f"n has shape {n} and counts {counts}; they must be (S,) and (S, K + 1)")
    if counts[0] != n[0] or multiplicity != n:
        raise UsageError(f"n has shape {n}, counts {counts}, multiplicity {multiplicity}: the first numbers differ")


def _check_values(signatures: Signatures) -> None:
    """Raise UsageError if a signature is impossible."""
    n, counts, multiplicity = signatures.n, signatures.counts, signatures.multiplicity
    last = signatures.k
    _refuse(multiplicity < 1, "is shared by {} classes, it must be at least {}", multiplicity, 1)
    _refuse(counts[:, 0] < 1, "has {} as its largest count, it must be at least {}", counts[:, 0], 1)
    _refuse(counts[:, last] < 0, "has {} as its smallest count, it must be at least {}", counts[:, last], 0)
    for rank in range(last):
        larger, smaller = counts[:, rank], counts[:, rank + 1]
        _refuse(larger < smaller, "has counts out of order: {} is before {}", larger, smaller)
    _refuse(n > LARGEST_CLASS, "has {} rows, more than the supported {}", n, LARGEST_CLASS)
    total = counts.sum(axis=1, dtype="int64")
    _refuse(total > n, "has counts that add up to {} but only {} rows", total, n)
    missing = (counts[:, last] == 0) & (total < n)
    _refuse(missing, "has all its counts, but they add up to {} and it has {} rows", total, n)


def _refuse(wrong: NDArray[np.bool_], sentence: str, left: IntArray, right: IntArray | int) -> None:
    """Raise UsageError for the first wrong signature; `sentence` has places for its numbers in `left` and `right`."""
    if wrong.any():
        position = int(wrong.argmax())
        other = right if isinstance(right, int) else right[position]
        raise UsageError(f"signature {position} " + sentence.format(left[position], other))


# Facts of classes, computed together in the database.
#
# Models name facts. `ClassHistogram` has the classes of one table for one sensitive attribute, in one of the physical
# forms, and turns facts into statements. One scan of the table makes the classes; all other statements read them.

Levels: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, fold, expression) of the levels of models."""
Verdicts: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, predicate of failing classes, predicate of classes too close to the limit for floating point)."""
_COUNT_BITS = 40
"""A cell of a class is one number: its lane in the bits from here on, its count below."""
SMALL_TABLE_ROWS = 10_000
"""Up to this many rows of the table, signatures are read as rows: drivers take longer to prepare arrays than to fill
them."""


@dataclass(frozen=True)
class Fact:
    """A fact of a class.

    Args:
        name: the column of the fact, a different one for each fact.
        macro: the macro of `_facts.sql` that computes it.
        arguments: the arguments of the macro, integers.
        in_reports: whether reports show it for failing classes.
    """

    name: str
    macro: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    in_reports: bool = False


@dataclass(frozen=True)
class Level:
    """A number that a model reports: an expression over facts, folded by `MIN` or `MAX` over the classes."""

    fold: str
    expression: str


@dataclass(frozen=True)
class SensitiveTable:
    """A sensitive attribute over the whole table.

    Args:
        name: the user's name of the attribute.
        totals: n(s) of the value in each lane: the rows (or people) with it. Lanes are ranks.
        has_null: whether the last lane is NULL.
        ordered: whether the values have an order.
        text: whether they are text.
        values: the values by lane. No report shows them.
    """

    name: str
    totals: tuple[int, ...]
    has_null: bool
    ordered: bool
    text: bool
    values: tuple[object, ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        """N: rows, or (person, value) pairs."""
        return sum(self.totals)

    @property
    def distinct(self) -> int:
        """The number of values, NULL included."""
        return len(self.totals)


@dataclass(frozen=True)
class GroupedPeople:
    """The rows of a table, grouped by class and person and materialized, with counts of people.

    Args:
        relation: a FROM item with one row for each class and person: the columns of `keys`, `e`, `row_count` and, if
            there are sensitive values to keep, `present`, a bit for each lane.
        keys: the columns of the class key.
        persons: the number of people.
        in_several_classes: those in several classes.
        in_several_places: those in several classes or with several sensitive values.
        has_values: whether there is `present`.
        by_all_rows: the same people grouped by the set of all their classes; None = they are that.
    """

    relation: str
    keys: tuple[str, ...]
    persons: int
    in_several_classes: int
    in_several_places: int
    has_values: bool
    by_all_rows: GroupedPeople | None = None


@dataclass(frozen=True)
class Frame:
    """The table that a histogram counts: a FROM item and expressions, in the engine's dialect.

    Args:
        source: the FROM item.
        keys: the expressions of the class key.
        entity: the expression that identifies a person; None = rows are counted.
        solo: whether a row with a NULL in its key is a class of its own.
        collated: whether each key is a text column.
        sensitive: the expression of the sensitive attribute; None = there is none.
        weights: the expression of the number of people that a row represents; None = there are no weights.
        hashed: whether equal values of each key have equal hashes. Text does not, because a collation may compare it.
        integers: whether each key is an integer column.
        entity_label: the user's name of the entity.
        people: the rows grouped by class and person; None = they are grouped when they are counted.
    """

    source: str
    keys: tuple[str, ...]
    entity: str | None
    solo: bool
    collated: tuple[bool, ...] = ()
    sensitive: str | None = None
    weights: str | None = None
    hashed: tuple[bool, ...] = ()
    integers: tuple[bool, ...] = ()
    entity_label: str = ""
    people: GroupedPeople | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of templates that read the table."""
        return {
            "source": Raw(self.source),
            "keys": [Raw(key) for key in self.keys],
            "entity": None if self.entity is None else Raw(self.entity),
            "sensitive": None if self.sensitive is None else Raw(self.sensitive),
            "solo": self.solo and bool(self.keys),
        }


@dataclass(frozen=True)
class ClassHistogram:
    """The classes of one table for one sensitive attribute (or none), as a relation that facts are computed from.

    Args:
        engine: the engine that has the relation.
        table: the sensitive attribute over the whole table; None = there is none.
        classes: a FROM item of the classes: a temporary relation, or the statement that makes them.
        totals: a FROM item of (lane, s, total); empty without a sensitive attribute.
        form: `packed`, `cells`, or `wildcard` (cells of the rows that each pattern of keys matches, with its key).
        answers: the rows of statements that were run ahead, by the text of the statement.
        facts_relation: a FROM item of materialized facts by the id of the class; empty = there are none.
        kept_facts: the facts in it.
        cells: a FROM item of materialized cells (id, lane, c), a row each, which `classes` collects into lists when it
            is read; empty = there is none.
        rows_engine: the engine that has the rows of the table, if the classes are on its workbench; None = `engine`.
    """

    engine: Engine
    table: SensitiveTable | None
    classes: str
    totals: str
    form: str
    answers: dict[str, list[Row]] = field(default_factory=dict, repr=False, compare=False)
    facts_relation: str = ""
    kept_facts: tuple[Fact, ...] = ()
    cells: str = ""
    rows_engine: Engine | None = None

    @property
    def lane_count(self) -> int:
        """The number of lanes."""
        return self.table.distinct if self.table else 0

    def statement(self, template: str, facts: Sequence[Fact], step: str, **parameters: Any) -> Statement:
        """Render a template over facts, which are computed from the classes or read if they are materialized."""
        packed = self.form == "packed" or self.table is None
        dialect = self.engine.dialect
        totals = self.table.totals if self.table else ()
        are_materialized = bool(self.facts_relation) and all(fact in self.kept_facts for fact in facts)
        return render(
            template,
            dialect,
            step=step,
            classes=Raw(self.classes),
            totals=Raw(self.totals) if self.totals else "",
            facts=list(facts),
            kept_facts=Raw(self.facts_relation) if are_materialized else "",
            kept_cells=Raw(self.cells) if self.cells else "",
            lane_totals=totals,
            form="packed" if packed else "cells",
            total=self.table.total if self.table else 0,
            **parameters,
        )

    def ask(self, statement: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a statement over the classes. Statements that were run ahead have no parameters."""
        rows = self.answers.get(statement.sql)
        return self.engine.run(statement, parameters) if rows is None else rows

    def ask_ahead(self, statements: Sequence[Statement]) -> None:
        """Run statements that will or may be asked later, so that the classes are made only once for all of them."""
        shared = [relation for relation in (self.classes, self.totals) if relation.startswith("(")]
        answers = self.engine.run_together(statements, shared)
        self.answers.update(zip((statement.sql for statement in statements), answers, strict=True))

    def figures(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> list[dict[str, Any]]:
        """Return the figures of all models, one row per distinct class size."""
        names = ["size", "classes", "table_rows", *(name for name, _, _ in levels)]
        for name, _, doubtful in verdicts:
            names += [f"{name}_classes", f"{name}_rows"] + ([f"{name}_doubtful"] if doubtful else [])
        rows = self.ask(self.figures_statement(facts, levels, verdicts))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def figures_statement(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> Statement:
        """Return the statement that computes the figures of all models."""
        step = f"figures of {self.table.name}" if self.table else "class sizes"
        parameters = {"levels": list(levels), "verdicts": list(verdicts), **self.product_types(facts)}
        return self.statement("classes/figures.sql", facts, step, **parameters)

    def product_types(self, facts: Sequence[Fact]) -> dict[str, object]:
        """Return the types for products of counts as parameters of a statement.

        Plain integers are several times as fast; they are used if every sum of products fits them. A fact adds up to
        four products for each lane.
        """
        factors = [sum(fact.arguments.get(name, 0) for name in ("numerator", "denominator")) for fact in facts]
        largest = 4 * max(1, self.lane_count) * (self.table.total if self.table else 0) ** 2 * max(1, *factors, 1)
        return {"wide": "BIGINT", "wider": spoken(self.engine.dialect).wide} if largest < 2**62 else {"wider": ""}

    def histogram(self, facts: Sequence[Fact], condition: str = "", limit: int | None = None) -> list[Row]:
        """Return (facts…, classes, rows) for every combination of the facts that occurs, or for `limit` of them."""
        names = [fact.name for fact in facts]
        parameters = {"names": names, "condition": condition, "limit": limit}
        return self.ask(self.statement("classes/fact_histogram.sql", facts, "histogram of facts", **parameters))

    def vectors(self, facts: Sequence[Fact], condition: str, limit: int) -> list[tuple[dict[int, int], int, int]]:
        """Return ({lane: count}, classes, rows) of the classes that satisfy a condition. Equal ones are merged."""
        columns = ", ".join(f"c{lane}" for lane in range(self.lane_count))
        statement = self.statement(
            "classes/count_vectors.sql",
            facts,
            "classes at a limit",
            condition=condition,
            limit=limit,
            lane_columns=columns,
            lane_count=self.lane_count,
        )
        return [(self._vector(row), int(row[-2]), int(row[-1])) for row in self.ask(statement)]

    def signatures(self, knowledge: int) -> Signatures:
        """Return the distinct signatures of the classes, for up to `knowledge` pieces of knowledge."""
        if not self.lane_count:
            return Signatures.from_rows([], knowledge)
        statement = self.signatures_statement(knowledge)
        absent = knowledge + 1 - min(knowledge + 1, self.lane_count)
        is_small = self.table is not None and self.table.total <= SMALL_TABLE_ROWS
        if is_small or statement.sql in self.answers:
            rows = self.ask(statement)
            return Signatures.from_rows([(*row[:-1], *[0] * absent, row[-1]) for row in rows], knowledge)
        n, *counts, classes = self.engine.columns_as_arrays(statement).values()
        return Signatures.from_columns([n, *counts, *[n * 0] * absent, classes])

    def signatures_statement(self, knowledge: int) -> Statement:
        """Return the statement that reads the signatures."""
        fact = self.top_counts(knowledge)
        return self.statement("classes/signatures.sql", [fact], "signatures", depth=fact.arguments["count"])

    def top_counts(self, knowledge: int) -> Fact:
        """Return the fact that signatures are read from: the largest counts of a class."""
        return Fact("top_counts", "top", {"count": min(knowledge + 1, self.lane_count)})

    def counts_of(self, cells: Row) -> list[int]:
        """Return the counts of a class by lane, from one column per lane or one list of cells."""
        if self.form == "packed":
            return [int(count) for count in cells]
        counts = [0] * self.lane_count
        for cell in cells[0]:
            counts[int(cell) >> _COUNT_BITS] = int(cell) & (2**_COUNT_BITS - 1)
        return counts

    def _vector(self, row: Row) -> dict[int, int]:
        if self.form == "packed":
            return {lane: int(count) for lane, count in enumerate(row[:-2]) if count}
        pairs = (pair.split(":") for pair in row[0].split(","))
        return {int(lane): int(count) for lane, count in pairs}

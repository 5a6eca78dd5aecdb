"""Class facts: what models ask of the equivalence classes, and the signatures of classes for worst cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import spoken
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    IntArray: TypeAlias = NDArray[np.integer[Any]]


# What the dynamic program needs to know of a table, and all that the database has to return.
#
# Only the size of a class and its K + 1 largest counts matter for up to K pieces of knowledge, and classes in which
# these agree are interchangeable. So a table of any size comes down to its distinct signatures and how many classes
# share each.

FEW = 128
"""Up to so many signatures stay what they came as, rows: importing numpy takes longer than anything that is asked."""
LARGEST_CLASS = 2**53
"""Beyond this an integer is no longer exact as a float, and the error bounds of the program would not hold."""


@dataclass(frozen=True, eq=False)
class Signatures:
    """The distinct signatures of a table's equivalence classes.

    Parameters
    ----------
    n:
        Rows of the class, shape (S,), at least 1.
    counts:
        The K + 1 largest counts of one sensitive value in the class, shape (S, K + 1), descending, padded with 0.
    multiplicity:
        Number of classes with that signature, shape (S,), at least 1.

    Any signed integer type will do (ten million signatures take half the memory as int32), in any memory layout. A few
    that come as rows become arrays when these are first used.

    Raises
    ------
    UsageError
        If a signature is impossible; the sentence names its position and both numbers that disagree.

    Source: Martin et al., Worst-Case Background Knowledge, Lemma 12 (only n and the largest counts appear in it).

    >>> Signatures.from_classes([[2, 2, 1], [2, 1, 2], [2, 1, 1, 1]], k=1).counts.tolist()
    [[2, 2], [2, 1]]
    """

    n: IntArray
    counts: IntArray
    multiplicity: IntArray

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            object.__setattr__(self, name, _integers(name, getattr(self, name)))
        _check_shapes(self)
        _check_values(self)

    def __getattr__(self, name: str) -> IntArray:
        if name not in _ARRAYS or "few" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        for each, array in zip(_ARRAYS, _arrays(self.__dict__["few"], self.k), strict=True):
            object.__setattr__(self, each, array)
        return self.__dict__[name]  # type: ignore[no-any-return]

    @classmethod
    def from_classes(cls, classes: Iterable[Sequence[int]], k: int) -> Signatures:
        """The signatures of classes that are given by all their counts (in any order, zeros allowed), for up to `k`
        pieces of knowledge."""
        _check_level(k)
        found: Counter[tuple[int, ...]] = Counter()
        for counts in classes:
            largest = sorted(counts, reverse=True)[: k + 1]
            found[(sum(counts), *largest, *[0] * (k + 1 - len(largest)))] += 1
        return cls.from_rows([(*signature, times) for signature, times in found.items()], k)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[int]], k: int) -> Signatures:
        """The signatures in rows as a database returns them: n, r1 … r(k+1), number of classes."""
        _check_level(k)
        for position, row in enumerate(rows):
            if len(row) != k + 3:
                raise UsageError(f"signature {position} has {len(row)} columns, for k = {k} it must have {k + 3}")
        if 0 < len(rows) <= FEW and all(map(_is_sound, rows)):
            made = cls.__new__(cls)
            object.__setattr__(made, "few", tuple(map(tuple, rows)))
            return made
        return cls(*_arrays(rows, k))

    @classmethod
    def from_columns(cls, columns: Sequence[ArrayLike]) -> Signatures:
        """The same from columns, the form in which an engine hands over millions of rows without a Python object each.

        A sum may arrive as float64 (drivers do that with 128-bit integers); it is accepted if it is a whole number.
        """
        if len(columns) < 3:
            raise UsageError(f"{len(columns)} columns were given, a signature has at least 3: n, r1, number of classes")
        import numpy as np

        n, *counts, multiplicity = [_whole(column) for column in columns]
        return cls(n, np.stack(counts).T, multiplicity)

    @property
    def as_rows(self) -> tuple[tuple[int, ...], ...] | None:
        """n, r1 … r(k+1), number of classes of each, where they are few and came so."""
        return self.__dict__.get("few")

    def __len__(self) -> int:
        return len(self.n if self.as_rows is None else self.as_rows)

    def padded(self, k: int) -> Signatures:
        """The same for up to `k` pieces of knowledge, where no class has more values than are counted.

        >>> Signatures.from_classes([[2, 1]], k=1).padded(2).counts.tolist()
        [[2, 1, 0]]
        """
        import numpy as np

        more = k - self.k
        return self if more <= 0 else Signatures(self.n, np.pad(self.counts, ((0, 0), (0, more))), self.multiplicity)

    @property
    def k(self) -> int:
        """The largest number of pieces of knowledge that these signatures can answer for."""
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
        """n and the largest counts of one signature, as Python integers."""
        if self.as_rows is not None:
            n, *counts, _ = self.as_rows[position]
            return n, tuple(counts)
        return int(self.n[position]), tuple(self.counts[position].tolist())

    def take(self, positions: IntArray) -> Signatures:
        """The signatures at some positions."""
        return Signatures(self.n[positions], self.counts[positions], self.multiplicity[positions])

    def fewest_values(self) -> int:
        """The smallest number of distinct sensitive values in a class, or k + 2 if every class has more than k + 1."""
        if self.as_rows is not None:
            return min(_values(n, counts) for n, *counts, _ in self.as_rows)
        left = self.n.astype("int64")
        for rank in range(self.k + 1):
            left -= self.counts[:, rank]
            if not left.all():
                return rank + 1
        return self.k + 2


_ARRAYS = ("n", "counts", "multiplicity")


def _is_sound(row: Sequence[Any]) -> bool:
    """Whether a row is a signature, in Python's own integers; what is wrong with another is told of arrays."""
    if any(type(value) is not int for value in row):
        return False
    n, *counts, multiplicity = row
    total = sum(counts)
    ordered = all(here >= after for here, after in pairwise(counts))
    whole = total <= n <= LARGEST_CLASS and (counts[-1] > 0 or total == n)
    return ordered and whole and counts[0] >= 1 and counts[-1] >= 0 and 1 <= multiplicity <= LARGEST_CLASS


def _values(n: int, counts: Sequence[int]) -> int:
    """The number of distinct values of a class, or one more than there are counts if these do not hold all rows."""
    for rank, count in enumerate(counts):
        n -= count
        if not n:
            return rank + 1
    return len(counts) + 1


def _arrays(rows: Sequence[Sequence[int]], k: int) -> tuple[IntArray, IntArray, IntArray]:
    import numpy as np

    try:
        table = np.array(rows, dtype=np.int64).reshape(len(rows), k + 3)
    except (TypeError, ValueError, OverflowError):
        raise UsageError("the signatures have a value that is missing, not a number or too large") from None
    return table[:, 0], table[:, 1:-1], table[:, -1]


def _check_level(k: int) -> None:
    if k < 0:
        raise UsageError(f"the number of pieces of knowledge is {k}, it must be at least 0")


def _integers(name: str, values: Any) -> IntArray:
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind != "i":
        raise UsageError(f"{name} of the signatures is of type {array.dtype}, it must be a signed integer type")
    return array


def _whole(column: ArrayLike) -> IntArray:
    import numpy as np

    if np.ma.is_masked(column):
        raise UsageError("a column of the signatures has a missing value")
    array = np.asarray(column)
    if array.dtype.kind == "u":
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        return _integers("a column", array)
    if not (np.abs(array) <= LARGEST_CLASS).all():
        raise UsageError(f"a column of the signatures has a missing value or one beyond {LARGEST_CLASS}")
    whole = array.astype(np.int64)
    if not (whole == array).all():
        raise UsageError("a column of the signatures has a value that is not a whole number")
    return whole


def _check_shapes(signatures: Signatures) -> None:
    n, counts, multiplicity = signatures.n.shape, signatures.counts.shape, signatures.multiplicity.shape
    if len(n) != 1 or len(counts) != 2 or counts[1] < 1:
        raise UsageError(f"n has shape {n} and counts {counts}; they must be (S,) and (S, K + 1)")
    if counts[0] != n[0] or multiplicity != n:
        raise UsageError(f"n has shape {n}, counts {counts}, multiplicity {multiplicity}: the first numbers differ")


def _check_values(signatures: Signatures) -> None:
    n, counts, multiplicity = signatures.n, signatures.counts, signatures.multiplicity
    last = signatures.k
    _refuse(multiplicity < 1, "is shared by {} classes, it must be at least {}", multiplicity, 1)
    _refuse(counts[:, 0] < 1, "has {} as its largest count, it must be at least {}", counts[:, 0], 1)
    _refuse(counts[:, last] < 0, "has {} as its smallest count, it must be at least {}", counts[:, last], 0)
    for rank in range(last):
        here, after = counts[:, rank], counts[:, rank + 1]
        _refuse(here < after, "has counts out of order: {} is before {}", here, after)
    _refuse(n > LARGEST_CLASS, "has {} rows, more than the supported {}", n, LARGEST_CLASS)
    total = counts.sum(axis=1, dtype="int64")
    _refuse(total > n, "has counts that add up to {} but only {} rows", total, n)
    missing = (counts[:, last] == 0) & (total < n)
    _refuse(missing, "has all its counts, but they add up to {} and it has {} rows", total, n)


def _refuse(wrong: NDArray[np.bool_], sentence: str, left: IntArray, right: IntArray | int) -> None:
    if wrong.any():
        position = int(wrong.argmax())
        other = right if isinstance(right, int) else right[position]
        raise UsageError(f"signature {position} " + sentence.format(left[position], other))


# Class facts: what models ask of the equivalence classes, computed together in the database.
#
# Models name facts; `ClassHistogram` knows the classes of one table for one sensitive attribute, in one of the physical
# forms, and turns facts into statements. One scan of the table makes the classes; everything else reads them.

Levels: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, fold, expression) of what models report."""
Verdicts: TypeAlias = "Sequence[tuple[str, str, str]]"
"""(name, predicate of failing classes, predicate of classes too close to the limit to tell)."""
_COUNT_BITS = 40
"""A cell of a class is one number: its lane in the bits from here on, its count below."""
FEW_ROWS = 10_000
"""Of a table of so many rows or fewer, signatures come as rows: arrays cost a driver more to prepare than to fill."""


@dataclass(frozen=True)
class Fact:
    """A fact of a class: a macro of `_facts.sql` with whole-number arguments, under a column name of its own.

    `shown`: whether it says something to a person who reads about a failing class.
    """

    name: str
    macro: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = False


@dataclass(frozen=True)
class Level:
    """A number that a model reports: `MIN` or `MAX` over the classes of an expression over facts."""

    fold: str
    expression: str


@dataclass(frozen=True)
class SensitiveTable:
    """A sensitive attribute over the whole table.

    `totals[i]` is n(s) of the value in lane i (rows, or persons with it); lanes are ranks. `values` are read only
    when a model needs them, and never leave for a report. NULL is the last lane when `has_null`.
    """

    name: str
    totals: tuple[int, ...]
    has_null: bool
    ordered: bool
    text: bool
    values: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        """N: rows, or (person, value) pairs."""
        return sum(self.totals)

    @property
    def distinct(self) -> int:
        """How many values, NULL included."""
        return len(self.totals)


@dataclass(frozen=True)
class Frame:
    """The table as a histogram sees it: a FROM item and the expressions of the key, in the engine's dialect.

    `solo`: a row with a NULL in its key is a class of its own. `collated`: whether each key is a column of text.
    `hashed`: whether each key is a column whose equal values have one hash: no text, which a collation may compare.
    `whole`: whether each key is a column of whole numbers. `sensitive` is the sensitive attribute's expression, None
    when there is none; `weights` that of the people whom a row stands for. `entity_label`: what
    the user calls the entity.
    """

    source: str
    keys: tuple[str, ...]
    entity: str | None
    solo: bool
    collated: tuple[bool, ...] = ()
    sensitive: str | None = None
    weights: str | None = None
    hashed: tuple[bool, ...] = ()
    whole: tuple[bool, ...] = ()
    entity_label: str = ""

    def parameters(self) -> dict[str, Any]:
        """The table as templates read it."""
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
        classes: a FROM item of the classes (a temporary relation, or the statement that makes them).
        totals: a FROM item of (lane, s, total); empty when no sensitive attribute.
        form: `packed`, `cells`, or `wildcard` (cells of what each pattern of keys matches, with its key).
    """

    engine: Engine
    table: SensitiveTable | None
    classes: str
    totals: str
    form: str
    answers: dict[str, list[Row]] = field(default_factory=dict, repr=False, compare=False)
    """What was asked ahead, by the text of the statement."""
    kept: str = ""
    """A FROM item of facts that are kept, each with the id of its class; empty where none are."""
    kept_facts: tuple[Fact, ...] = ()
    cells: str = ""
    """A FROM item of cells (id, lane, c) that are kept one by one; `classes` then makes their lists when it is read."""

    @property
    def lane_count(self) -> int:
        """The number of lanes."""
        return self.table.distinct if self.table else 0

    def statement(self, template: str, facts: Sequence[Fact], step: str, **parameters: Any) -> Statement:
        """A statement over the class facts."""
        packed = self.form == "packed" or self.table is None
        dialect = self.engine.dialect
        totals = self.table.totals if self.table else ()
        known = bool(self.kept) and all(fact in self.kept_facts for fact in facts)
        return render(
            template,
            dialect,
            step=step,
            classes=Raw(self.classes),
            totals=Raw(self.totals) if self.totals else "",
            facts=list(facts),
            kept_facts=Raw(self.kept) if known else "",
            kept_cells=Raw(self.cells) if self.cells else "",
            lane_totals=totals,
            form="packed" if packed else "cells",
            total=self.table.total if self.table else 0,
            **parameters,
        )

    def ask(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a statement over the classes; what was asked ahead has no parameters."""
        known = self.answers.get(statement.sql)
        return self.engine.run(statement, parameters) if known is None else known

    def ask_ahead(self, statements: Sequence[Statement]) -> None:
        """Have the rows of statements that are going to be asked, or may be, from one making of the classes."""
        shared = [item for item in (self.classes, self.totals) if item.startswith("(")]
        found = self.engine.run_together(statements, shared)
        self.answers.update(zip((statement.sql for statement in statements), found, strict=True))

    def figures(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> list[dict[str, Any]]:
        """The figures of all models, one row a distinct class size."""
        names = ["size", "classes", "table_rows", *(name for name, _, _ in levels)]
        for name, _, doubtful in verdicts:
            names += [f"{name}_classes", f"{name}_rows"] + ([f"{name}_doubtful"] if doubtful else [])
        rows = self.ask(self.figures_statement(facts, levels, verdicts))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def figures_statement(self, facts: Sequence[Fact], levels: Levels, verdicts: Verdicts) -> Statement:
        """What asks for the figures of all models."""
        step = f"figures of {self.table.name}" if self.table else "class sizes"
        asked = {"levels": list(levels), "verdicts": list(verdicts), **self.narrow(facts)}
        return self.statement("classes/figures.sql", facts, step, **asked)

    def narrow(self, facts: Sequence[Fact]) -> dict[str, Any]:
        """The parameters of a statement in which products of counts of this table fit a plain integer, which is several
        times as fast; none where they might not. A fact adds up to four products for each lane."""
        factors = [sum(fact.arguments.get(name, 0) for name in ("numerator", "denominator")) for fact in facts]
        largest = 4 * max(1, self.lane_count) * (self.table.total if self.table else 0) ** 2 * max(1, *factors, 1)
        return {"wide": "BIGINT", "wider": spoken(self.engine.dialect).wide} if largest < 2**62 else {"wider": ""}

    def histogram(self, facts: Sequence[Fact], condition: str = "", limit: int | None = None) -> list[Row]:
        """(facts…, classes, rows) for every combination of the facts that occurs, or for `limit` of them."""
        names = [fact.name for fact in facts]
        parameters = {"names": names, "condition": condition, "limit": limit}
        return self.ask(self.statement("classes/fact_histogram.sql", facts, "histogram of facts", **parameters))

    def vectors(self, facts: Sequence[Fact], condition: str, limit: int) -> list[tuple[dict[int, int], int, int]]:
        """({lane: count}, classes, rows) of the classes that satisfy a condition, merged when equal."""
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
        """The distinct signatures of the classes, for up to `knowledge` pieces of knowledge."""
        if not self.lane_count:
            return Signatures.from_rows([], knowledge)
        statement = self.signatures_statement(knowledge)
        absent = knowledge + 1 - min(knowledge + 1, self.lane_count)
        few = self.table is not None and self.table.total <= FEW_ROWS
        if few or statement.sql in self.answers:
            rows = self.ask(statement)
            return Signatures.from_rows([(*row[:-1], *[0] * absent, row[-1]) for row in rows], knowledge)
        n, *counts, classes = self.engine.columns_as_arrays(statement).values()
        return Signatures.from_columns([n, *counts, *[n * 0] * absent, classes])

    def signatures_statement(self, knowledge: int) -> Statement:
        """What asks for them."""
        fact = self.top_counts(knowledge)
        return self.statement("classes/signatures.sql", [fact], "signatures", depth=fact.arguments["count"])

    def top_counts(self, knowledge: int) -> Fact:
        """The fact that signatures are made of."""
        return Fact("top_counts", "top", {"count": min(knowledge + 1, self.lane_count)})

    def counts_of(self, cells: Row) -> list[int]:
        """The counts of a class by lane, from one column a lane, or one list of cells."""
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


# The table for someone who knows all rows of a person: persons with the same combinations form the classes.

BESIDE = 500
"""Histograms of persons with all their rows stand so many places behind those of rows."""


def alike_statement(engine: Engine, frame: Frame) -> Statement:
    """The rows (known, e, s): a number for the set of all combinations of a row's person, the person, the value."""
    step = "people with the same rows"
    return render("classes/persons_alike.sql", engine.dialect, step=step, **frame.parameters())


def alike_frame(engine: Engine, frame: Frame, part: int = 0) -> Frame:
    """The frame in which all rows of a person are known: the key of a row is what its person's rows say together.

    Args:
        engine: keeps the rows for the session where it can. frame: with keys and an entity.
        part: which of several such frames of a session this is.
    """
    statement = alike_statement(engine, frame)
    source = f"({statement.sql})"
    if engine.can_materialize:
        source = engine.materialize(f"sqlaudit_alike_{part}", statement).sql
    return frame_of_alike(frame, source)


def frame_of_alike(frame: Frame, source: str) -> Frame:
    """The frame over rows of `alike_statement`, when these are made."""
    return Frame(source, ("known",), "e", False, (False,), None if frame.sensitive is None else "s")

"""What the dynamic program needs to know of a table, and all that the database has to return.

Only the size of a class and its K + 1 largest counts matter for up to K pieces of knowledge, and classes in which
these agree are interchangeable. So a table of any size comes down to its distinct signatures and how many classes
share each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    IntArray: TypeAlias = NDArray[np.integer[Any]]

FEW = 128
"""Up to so many signatures stay what they came as, rows: importing numpy takes longer than anything that is asked."""
# Beyond this an integer is no longer exact as a float, and the error bounds of the program would not hold.
LARGEST_CLASS = 2**53


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

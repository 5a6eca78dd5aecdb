"""What a signature may be, and where it comes from."""

from __future__ import annotations

import numpy as np
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Signatures


def signatures(n: list[int], counts: list[list[int]], multiplicity: list[int]) -> Signatures:
    return Signatures(np.array(n), np.array(counts), np.array(multiplicity))


def test_classes_with_equal_size_and_largest_counts_share_a_signature() -> None:
    found = Signatures.from_classes([[1, 2, 2], [2, 2, 1, 0], [2, 1, 1, 1], [4]], k=1)
    assert [found.signature(position) for position in range(len(found))] == [(5, (2, 2)), (5, (2, 1)), (4, (4, 0))]
    assert found.multiplicity.tolist() == [2, 1, 1]
    assert (found.k, found.classes, found.rows, found.fewest_values()) == (1, 4, 19, 1)


def test_fewest_values_is_capped_by_what_the_counts_show() -> None:
    classes = [[3, 3, 1, 1], [2, 2, 2, 1, 1]]
    assert [Signatures.from_classes(classes, k).fewest_values() for k in range(5)] == [2, 3, 4, 4, 4]


def test_columns_of_a_driver_are_accepted_without_a_copy_per_row() -> None:
    columns = [np.array([5, 9], np.int32), np.array([2.0, 5.0]), np.array([2, 1], np.uint8), np.array([7, 1])]
    found = Signatures.from_columns(columns)
    assert found.signature(1) == (9, (5, 1))
    assert found.classes == 8


@pytest.mark.parametrize(
    ("n", "counts", "multiplicity", "sentence"),
    [
        ([5], [[3, 3]], [1], "signature 0 has counts that add up to 6 but only 5 rows"),
        ([5, 5], [[3, 2], [2, 3]], [1, 1], "signature 1 has counts out of order: 2 is before 3"),
        ([5], [[3, 0]], [1], "signature 0 has all its counts, but they add up to 3 and it has 5 rows"),
        ([5], [[3, -1]], [1], "signature 0 has -1 as its smallest count, it must be at least 0"),
        ([0], [[0, 0]], [1], "signature 0 has 0 as its largest count, it must be at least 1"),
        ([5], [[3, 2]], [0], "signature 0 is shared by 0 classes, it must be at least 1"),
        ([2**53 + 2], [[3, 2]], [1], "signature 0 has 9007199254740994 rows, more than the supported 9007199254740992"),
        ([5, 5], [[3, 2]], [1], r"n has shape \(2,\), counts \(1, 2\), multiplicity \(1,\): the first numbers differ"),
    ],
)
def test_impossible_signatures_are_refused_with_both_numbers(
    n: list[int], counts: list[list[int]], multiplicity: list[int], sentence: str
) -> None:
    with pytest.raises(UsageError, match=f"^{sentence}$"):
        signatures(n, counts, multiplicity)


def test_wrong_types_and_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match="n of the signatures is of type float64, it must be a signed integer type"):
        Signatures(np.array([5.0]), np.array([[3, 2]]), np.array([1]))
    with pytest.raises(UsageError, match=r"n has shape \(1,\) and counts \(2,\)"):
        Signatures(np.array([5]), np.array([3, 2]), np.array([1]))
    with pytest.raises(UsageError, match="signature 0 has 3 columns, for k = 1 it must have 4"):
        Signatures.from_rows([(5, 3, 1)], k=1)
    with pytest.raises(UsageError, match="a column of the signatures has a value that is not a whole number"):
        Signatures.from_columns([np.array([5]), np.array([2.5]), np.array([1])])
    with pytest.raises(UsageError, match="a column of the signatures has a missing value"):
        Signatures.from_columns([np.array([5]), np.array([np.nan]), np.array([1])])
    with pytest.raises(UsageError, match="a column of the signatures has a missing value"):
        Signatures.from_columns([np.ma.masked_equal([5, 0], 0), np.array([2, 2]), np.array([1, 1])])  # type: ignore[no-untyped-call]
    with pytest.raises(UsageError, match="a value that is missing, not a number or too large"):
        Signatures.from_rows([(5, None, 1)], k=0)  # type: ignore[list-item]
    with pytest.raises(UsageError, match="2 columns were given, a signature has at least 3"):
        Signatures.from_columns([np.array([5]), np.array([1])])
    with pytest.raises(UsageError, match="the number of pieces of knowledge is -1, it must be at least 0"):
        Signatures.from_classes([[1]], k=-1)

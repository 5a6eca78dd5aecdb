"""A few signatures are answered in fractions alone, and exactly as by the program over arrays."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import MAX_ROWS_WITHOUT_NUMPY, Signatures
from sqlaudit.models.disclosure import few
from sqlaudit.models.disclosure.few import disclosure_points
from sqlaudit.models.disclosure.program import maximum_disclosure

from .strategies import bucketizations, cases


@cases(100)
@given(bucketizations(classes=8, values=8, count=9, fewest=3), st.integers(0, few.MOST_KNOWLEDGE))
@example([[2, 2, 1], [2, 1, 1, 1]] * 5, 2)
@example([[7]], 3)
@example([[5, 5, 5, 5], [6, 5, 5, 4], [9, 1, 1, 1, 1, 1]], 3)
def test_it_is_what_the_program_says(classes: list[list[int]], k: int) -> None:
    signatures = Signatures.from_classes(classes, k)
    assert signatures.as_rows is not None
    assert disclosure_points(signatures, k) == maximum_disclosure(signatures, k).points


@pytest.mark.parametrize("k", [2, few.MOST_KNOWLEDGE + 1])
def test_many_signatures_and_much_knowledge_go_to_the_program(k: int) -> None:
    classes = (
        [[n, 3, 2, 1, 1] for n in range(3, MAX_ROWS_WITHOUT_NUMPY + 4)] if k == 2 else [[3, 2, 2, 1], [2, 2, 1, 1]]
    )
    signatures = Signatures.from_classes(classes, k)
    assert (signatures.as_rows is None) == (k == 2)
    assert disclosure_points(signatures, k) == maximum_disclosure(signatures, k).points


@pytest.mark.parametrize("k", [-1, 3])
def test_what_the_signatures_cannot_answer_is_refused(k: int) -> None:
    with pytest.raises(UsageError, match=f"k is {k}, these signatures answer for 0 to 2"):
        disclosure_points(Signatures.from_classes([[2, 1]], 2), k)


def test_rows_say_what_their_arrays_say() -> None:
    found = Signatures.from_classes([[1, 2, 2], [2, 2, 1, 0], [2, 1, 1, 1], [4]], k=1)
    arrays = Signatures(found.n, found.counts, found.multiplicity)
    assert arrays.as_rows is None
    for one in (found, arrays):
        assert (len(one), one.k, one.classes, one.rows, one.fewest_values()) == (3, 1, 4, 19, 1)
        assert [one.signature(position) for position in range(3)] == [(5, (2, 2)), (5, (2, 1)), (4, (4, 0))]
    assert repr(found) == repr(arrays)


@pytest.mark.parametrize("row", [(5, 3, 3, 1), (5, 2, 3, 1), (5, 3, 0, 1), (5, 3, -1, 1), (5, 3, 2, 0), (0, 0, 0, 1)])
def test_rows_that_are_no_signatures_are_refused_as_arrays_are(row: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="signature 1 "):
        Signatures.from_rows([(5, 3, 2, 1), row], k=1)


def test_numpy_is_not_imported_for_a_few() -> None:
    program = (
        "import sys; from sqlaudit.audits.disclosure.attribute import Disclosure, Signatures; "
        "found = Disclosure('x', 2, Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)); "
        "print(*found.curve, found.smallest_certain_k, found.to_dict()['classes'], 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2/5", "2/3", "1", "2", "2", "False"]

"""Choosing the lowest classes: exactly those that sorting exact fractions would give, ties and all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure import program
from sqlaudit.models.disclosure.program import LowestClasses, Purpose, Wanted, blocks


def covered(signatures: Signatures, positions: list[int], values: dict[int, Fraction], need: int) -> list[Fraction]:
    """The values of the lowest `need` classes among some signatures, a class at a time."""
    ranked = sorted(values[position] for position in positions for _ in range(int(signatures.multiplicity[position])))
    return ranked[:need]


def tied_signatures(rng: np.random.Generator, size: int) -> Signatures:
    """Classes of which one value fills exactly half, so that M(1) is 1/2 in all, and small ones that tie often."""
    rows = set()
    for _ in range(size):
        rest = sorted(rng.integers(1, 5, size=int(rng.integers(5, 8))).tolist(), reverse=True)
        rows.add((2 * sum(rest), sum(rest), *rest[:3]))
    return Signatures.from_rows([(*row, int(rng.integers(1, 4))) for row in sorted(rows)], k=3)


@pytest.mark.parametrize("pivots", [0, 2, 128])
@pytest.mark.parametrize("pending", [20, 4096])
@pytest.mark.parametrize("role", list(Purpose))
def test_ties_are_decided_exactly(monkeypatch: pytest.MonkeyPatch, pivots: int, pending: int, role: Purpose) -> None:
    monkeypatch.setattr(program, "_PENDING", pending)
    monkeypatch.setattr(program, "_PIVOTS", pivots)
    rng = np.random.default_rng(11)
    for _ in range(15):
        signatures = tied_signatures(rng, 120)
        (block,) = blocks(signatures, 4)
        for atoms in (1, 2, 3, 4):
            wanted = Wanted(role, atoms, 5 - atoms)
            chosen = LowestClasses(signatures, wanted)
            floats = wanted.values(block)
            for start in range(0, len(signatures), 30):
                chosen.offer(start, floats[start : start + 30])
            values = {place: wanted.exact(*signatures.signature(place)) for place in range(len(signatures))}
            expected = covered(signatures, list(range(len(signatures))), values, wanted.classes)
            kept = chosen.result().tolist()
            assert covered(signatures, kept, values, wanted.classes) == expected
            assert len(kept) <= 2 * wanted.classes + 16
            kept = chosen.result(spare=0).tolist()
            assert covered(signatures, kept, values, wanted.classes) == expected
            assert [values[place] for place in kept] == sorted({place: values[place] for place in kept}.values())
            assert sum(signatures.multiplicity[kept[:-1]]) < wanted.classes


def test_zeros_are_exact_and_the_first_of_them_are_enough() -> None:
    signatures = Signatures.from_classes([[5, 4], [3, 1], [2, 2], [1, 1]], k=1)
    (block,) = blocks(signatures, 2)
    chosen = LowestClasses(signatures, Wanted(Purpose.OTHERS, 2, 2))
    chosen.offer(0, block.products[2])
    assert block.products[2].tolist() == [0.0] * 4
    assert chosen.result().tolist() == [0, 1]


def test_a_multiplicity_counts_as_so_many_classes() -> None:
    signatures = Signatures.from_classes([[3, 1, 1]] * 3 + [[9, 1, 1]] + [[2, 2, 2]] * 2, k=1)
    (block,) = blocks(signatures, 1)
    chosen = LowestClasses(signatures, Wanted(Purpose.OTHERS, 1, 3))
    chosen.offer(0, block.products[1])
    assert [signatures.signature(place) for place in chosen.result()] == [(11, (9, 1)), (5, (3, 1))]


def test_values_below_the_reach_of_floats_are_ordered_exactly() -> None:
    n = 10**9
    rows = [(n + step, n + step - 51, *[1] * 50, 1) for step in range(40)]
    signatures = Signatures.from_rows(rows, k=50)
    (block,) = blocks(signatures, 49)
    chosen = LowestClasses(signatures, Wanted(Purpose.OTHERS, 49, 2))
    chosen.offer(0, block.products[49])
    assert chosen.result().tolist() == [39, 38]  # the larger the class, the rarer its fifty exceptions

"""The numbers that give a hidden cell, added up."""

from __future__ import annotations

import random

import pytest

from sqlaudit.tabular.secondary.intervals import Prover, deduce
from sqlaudit.tabular.secondary.system import FREE
from tests.tabular.secondary.published import drawn, value_of
from tests.tabular.secondary.test_intervals import SIZES, table


def test_a_cell_alone_in_its_row_is_the_total_less_the_others() -> None:
    known = table([[None, 7, 10], [None, None, 9], [6, 13, 19]])
    proof = Prover(known).prove(0)
    assert proof is not None
    assert (proof.times, proof.exact, proof.limits) == (1, True, ())
    assert proof.published == ((1, -1), (2, 1))
    assert value_of(proof, known) == 3


def test_a_chain_of_equations_is_one_sum_of_published_cells() -> None:
    known = table([[None, 7, 10], [None, None, 9], [6, None, 19]])
    proof = Prover(known).prove(4)  # (19 - 6) - 7
    assert proof is not None
    assert proof.published == ((1, -1), (6, -1), (8, 1))
    assert value_of(proof, known) == 6
    assert len(proof.equations) == 2


def test_a_limit_that_needs_another_cell_to_be_zero_says_so() -> None:
    known = table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]])
    proof = Prover(known).prove(5)  # (9 - 5) - 3, the most that the cell above it can be
    assert proof is not None
    assert not proof.exact
    assert len(proof.limits) == 1
    assert value_of(proof, known) == 1


@pytest.mark.parametrize("seed", range(4))
def test_every_limit_of_a_table_of_two_dimensions_is_the_sum_of_its_proof(seed: int) -> None:
    chance, proven, exact = random.Random(seed), 0, 0
    for _ in range(15):
        known = drawn(chance, chance.choice(SIZES[:3]), share=0.6, totals=0.1)
        found, prover = deduce(known), Prover(known)
        for cell, limit in zip(found.cells.tolist(), found.low.tolist(), strict=True):
            if abs(limit) >= FREE:
                continue
            proof = prover.prove(cell)
            assert proof is not None
            assert not known.hidden[[one for one, _ in proof.published]].any()
            assert proof.times == 1
            assert value_of(proof, known) == limit
            exact += proof.exact
            proven += 1
    assert proven > 50
    assert exact > 5


def test_in_more_dimensions_a_proof_bounds_the_cell_and_gives_it_where_it_is_known() -> None:
    chance, given = random.Random(4), 0
    for _ in range(20):
        known = drawn(chance, chance.choice(SIZES[3:]), share=0.6)
        found, prover = deduce(known), Prover(known)
        for place, cell in enumerate(found.cells.tolist()):
            proof = prover.prove(cell)
            assert proof is not None
            assert value_of(proof, known) <= proof.times * found.low[place]
            if found.low[place] == found.high[place] and proof.exact:
                assert value_of(proof, known) == proof.times * found.low[place]
                given += 1
    assert given > 20

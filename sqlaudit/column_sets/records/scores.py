"""SUDA scores from minimal sample uniques. Pure.

Elliot, Manning and Ford, *A computational algorithm for handling the special uniques problem* (2002); the two published
weightings are those of sdcMicro's `suda2`. A = columns, M = the largest size searched, at most A − 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, prod

from sqlaudit.column_sets.records.result import Scores, Signature


def suda_weight(size: int, columns: int, largest: int) -> int:
    """What one minimal sample unique of a size adds to the score.

    Example:
        >>> [suda_weight(size, 4, 3) for size in (1, 2, 3)]
        [6, 2, 1]
    """
    if size == columns:
        return 1
    return prod(columns - i for i in range(size, min(largest, columns - 1) + 1))


def ihsn_weight(size: int, columns: int) -> Fraction:
    """The same in the weighting of the IHSN guidelines.

    Example:
        >>> ihsn_weight(1, 4)
        Fraction(7, 4)
    """
    return Fraction(2 ** (columns - size) - 1, comb(columns, size))


def file_dis(unique: int, paired: int, fraction: Fraction) -> Fraction:
    """The share of correct matches among the matches with the file: Uπ/(Uπ + P(1−π)); 0 without unique records.

    Args:
        unique: records unique on all columns. paired: records in classes of two. fraction: the sampling fraction π.

    Example:
        >>> round(float(file_dis(4, 6, Fraction(1, 100))), 9)
        0.006688963
    """
    hits = unique * fraction
    return hits / (hits + paired * (1 - fraction)) if hits else Fraction(0)


def scores_of(
    signatures: Mapping[Signature, int], columns: int, largest: int, unique: int, dis: Fraction
) -> dict[Signature, Scores]:
    """The scores of every signature, with DIS-SUDA over the whole file.

    Args:
        signatures: records by signature. columns: A. largest: M.
        unique: unique records U. dis: the file's DIS.
    """
    suda = {s: _score(s, [suda_weight(k, columns, largest) for k in range(1, len(s) + 1)]) for s in signatures}
    ihsn = {s: _score(s, [ihsn_weight(k, columns) for k in range(1, len(s) + 1)]) for s in signatures}
    by_suda, by_ihsn = (_dis(one, signatures, columns, unique, dis) for one in (suda, ihsn))
    return {s: Scores(suda[s], ihsn[s], by_suda[s], by_ihsn[s]) for s in signatures}


def _score(signature: Signature, weights: Sequence[int | Fraction]) -> Fraction:
    return sum((count * Fraction(weight) for count, weight in zip(signature, weights, strict=True)), Fraction(0))


def _dis(
    score: Mapping[Signature, Fraction], records: Mapping[Signature, int], columns: int, unique: int, dis: Fraction
) -> dict[Signature, float]:
    """DIS-SUDA_i = 1/(1 + (U/DIS − U)/(S_i^Q · Σ_j S_j^−Q)), Q = 1 + (8−A)/20; 0 where the score is 0."""
    power = 1 + (8 - columns) / 20
    inverse = sum(records[s] * float(value) ** -power for s, value in score.items() if value)
    if not dis:
        return dict.fromkeys(score, 0.0)
    odds = float(unique / dis - unique)
    return {s: 1 / (1 + odds / (float(v) ** power * inverse)) if v else 0.0 for s, v in score.items()}


def contributions(by_set: Mapping[int, int], columns: int, largest: int) -> list[Fraction]:
    """For each column the share of the whole score in minimal sample uniques with it.

    Args:
        by_set: for each column set (a mask) how many records it is a minimal sample unique of.
    """
    weight = {mask: count * suda_weight(mask.bit_count(), columns, largest) for mask, count in by_set.items()}
    total = sum(weight.values())
    if not total:
        return [Fraction(0)] * columns
    return [Fraction(sum(w for mask, w in weight.items() if mask >> i & 1), total) for i in range(columns)]

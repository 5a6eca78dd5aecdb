"""A synthetic table beside its original by brute force: the definitions word for word, row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Row = Mapping[str, Any]
Table = Sequence[Row]


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def group(table: Table, row: Row, keys: Sequence[str], apart: bool) -> list[Row]:
    """The rows of a table with the keys of a row; with `apart`, a row that lacks one is alike no one but itself."""
    if apart and any(row[key] is None for key in keys):
        return [other for other in table if other is row]
    return [other for other in table if all(other[key] == row[key] for key in keys)]


def identity(original: Table, synthetic: Table, keys: Sequence[str], apart: bool = False) -> dict[str, float | None]:
    own = [(len(group(original, row, keys, apart)), len(group(synthetic, row, keys, apart))) for row in original]
    others = [len(group(synthetic, row, keys, apart)) for row in synthetic]
    return {
        "uio": ratio(sum(d == 1 for d, _ in own), len(original)),
        "uis": ratio(sum(s == 1 for s in others), len(synthetic)),
        "uiois": ratio(sum(d == 1 and s >= 1 for d, s in own), len(original)),
        "rep_u": ratio(sum(d == 1 and s == 1 for d, s in own), len(original)),
    }


def attribute(
    original: Table, synthetic: Table, keys: Sequence[str], target: str, apart: bool = False
) -> dict[str, float | None]:
    def pure(rows: Sequence[Row]) -> bool:
        return bool(rows) and all(row[target] == rows[0][target] for row in rows)

    rows, found = len(original), Counter[str]()
    dcap = cap_d = cap_s = 0.0
    totals = Counter(row[target] for row in original)
    for row in original:
        there, own = group(synthetic, row, keys, apart), group(original, row, keys, apart)
        found["dorig"] += pure(own)
        found["is"] += bool(there)
        found["dis"] += pure(there)
        disclosed = pure(there) and there[0][target] == row[target]
        found["disco"] += disclosed
        found["disdio"] += disclosed and pure(own)
        cap_d += sum(other[target] == row[target] for other in own) / len(own)
        dcap += sum(other[target] == row[target] for other in there) / len(there) if there else 0
    for row in synthetic:
        own = group(synthetic, row, keys, apart)
        found["dsyn"] += pure(own)
        cap_s += sum(other[target] == row[target] for other in own) / len(own)
    return {
        **{name: ratio(found[name], rows) for name in ("dorig", "is", "dis", "disco", "disdio")},
        "dsyn": ratio(found["dsyn"], len(synthetic)),
        "cap_d": ratio(cap_d, rows),
        "base_cap_d": ratio(sum(count * count for count in totals.values()), rows * rows),
        "cap_s": ratio(cap_s, len(synthetic)),
        "dcap": ratio(dcap, rows),
        "tcap": ratio(found["disco"], found["dis"]),
        "tcap_alt": ratio(found["disco"], found["is"]),
    }


def by_size(original: Table, synthetic: Table, keys: Sequence[str], target: str) -> list[dict[str, int]]:
    """Disclosive groups by the synthetic rows in them."""
    found: dict[int, Counter[str]] = {}
    for place in {tuple(row[key] for key in keys) for row in synthetic}:
        there = [row for row in synthetic if tuple(row[key] for key in keys) == place]
        values = {row[target] for row in there}
        told = [row for row in original if tuple(row[key] for key in keys) == place and row[target] in values]
        if len(values) == 1 and told:
            size = max(least for least in (1, 2, 3, 5, 10) if least <= len(there))
            found.setdefault(size, Counter()).update(groups=1, rows=len(told))
    return [{"size": size, **counts} for size, counts in sorted(found.items())]


def copies(original: Table, synthetic: Table, columns: Sequence[str]) -> dict[str, int]:
    def differing(one: Row, other: Row) -> int:
        return sum(one[column] != other[column] for column in columns)

    exact = [row for row in synthetic if any(not differing(row, other) for other in original)]
    near = [row for row in synthetic if row not in exact and any(differing(row, other) == 1 for other in original)]
    once = [row for row in exact if sum(not differing(row, other) for other in original) == 1]
    return {
        "rows": len(exact),
        "all_but_one_column": len(near),
        "unique_in_original": len(once),
        "copied": sum(any(not differing(row, other) for other in synthetic) for row in original),
    }


def shared(original: Table, holdout: Table, columns: Sequence[str]) -> int:
    own, others = (Counter(tuple(row[column] for column in columns) for row in rows) for rows in (original, holdout))
    return sum((own & others).values())


def distance(original: Table, synthetic: Table, column: str, ordered: bool) -> float | None:
    """Kolmogorov-Smirnov for ordered values, total variation for others, over the rows with a value."""
    own, made = ([row[column] for row in table if row[column] is not None] for table in (original, synthetic))
    if not own or not made:
        return None
    seen = {*own, *made}
    if ordered:
        return max(abs(sum(v <= x for v in own) / len(own) - sum(v <= x for v in made) / len(made)) for x in seen)
    return sum(abs(own.count(x) / len(own) - made.count(x) / len(made)) for x in seen) / 2


def bin_of(original: Table, column: str, kind: str, bins: int, most: int) -> Callable[[Any], int]:
    """The number of the bin of a value: -1 for missing."""
    own = [row[column] for row in original if row[column] is not None]
    if kind == "value":
        ranked = sorted({*own}, key=lambda value: (-own.count(value), value))[:most]
        return lambda value: -1 if value is None else ranked.index(value) if value in ranked else most
    if kind == "number":
        low = min((v for v in own if sum(u <= v for u in own) * 100 >= len(own)), default=None)
        high = max((v for v in own if sum(u < v for u in own) * 100 <= 99 * len(own)), default=None)
        ends = [] if low is None or high is None else [(float(low), float(high))]
        cuts = [a * ((bins - cut) / bins) + b * (cut / bins) for a, b in ends for cut in range(1, bins)]
    else:
        tenths = range(1, bins) if own else ()
        cuts = [min(v for v in own if sum(u <= v for u in own) * bins > len(own) * cut) for cut in tenths]
    return lambda value: -1 if value is None else sum(cut <= value for cut in cuts)


def cramers_v(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cramér's V by its chi-square statistic: observed and expected counts of a contingency table."""
    rows, columns = (sorted({pair[place] for pair in pairs}) for place in (0, 1))
    if min(len(rows), len(columns)) < 2:
        return None
    observed = np.array([[pairs.count((a, b)) for b in columns] for a in rows], dtype=float)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(pairs)
    statistic = ((observed - expected) ** 2 / expected).sum()
    return math.sqrt(statistic / (len(pairs) * (min(observed.shape) - 1)))


def pair_distance(own: Sequence[tuple[int, int]], made: Sequence[tuple[int, int]]) -> float | None:
    if not own or not made:
        return None
    return sum(abs(own.count(pair) / len(own) - made.count(pair) / len(made)) for pair in {*own, *made}) / 2

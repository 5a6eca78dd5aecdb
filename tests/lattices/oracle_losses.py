"""The loss measures once more, cell by cell as their sources define them, from rows and functions alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlaudit.models.measures import random_ranges

Recode = Callable[[Any], Any]
"""What a value becomes at one level; the last level of a column makes everything the same."""


def losses(
    rows: Sequence[Mapping[str, Any]],
    hierarchies: Mapping[str, Sequence[Recode]],
    node: Sequence[int],
    suppressed: set[int],
    leaves: Mapping[str, Sequence[Any]] | None = None,
    weights: Mapping[str, Fraction] | None = None,
    beta: float = 1.0,
    sensitive: str | None = None,
    noise: bool = False,
) -> dict[str, float]:
    """Every measure of one node, by name; those of a sensitive attribute only where it is named.

    Args:
        rows: the table. hierarchies: for each column its levels from 0 on. node: a level for each.
        suppressed: positions of the rows that are suppressed. leaves: for a column the values that its hierarchy
            lists, where it lists any. weights: of columns. beta: of height weights. noise: also that of queries, which
            takes as long as all others together.
    """
    level = dict(zip(hierarchies, node, strict=True))
    weight = {column: float((weights or {}).get(column, 1)) for column in hierarchies}
    cells = {column: _cells(rows, column, levels, level[column]) for column, levels in hierarchies.items()}
    found = {"height": sum(weight[c] * level[c] for c in hierarchies)}
    found["loss"] = _loss(rows, hierarchies, level, suppressed, leaves or {}, weight)
    found["precision"] = _precision(rows, hierarchies, level, suppressed, weight)
    keys = Counter(tuple(cells[column][i] for column in hierarchies) for i in range(len(rows)) if i not in suppressed)
    found["discernibility"] = sum(n * n for n in keys.values()) + len(rows) * len(suppressed)
    classes = len(keys) + bool(suppressed)
    found["class-size"] = len(rows) / classes if classes else 0.0
    found |= _by_cells(rows, hierarchies, level, cells, suppressed, weight, beta)
    found["entropy-volume-inflation"] = _entropy_volume(rows, cells, suppressed)
    found |= _volumes(rows, cells, suppressed)
    if sensitive is not None:
        found |= _variances(rows, cells, suppressed, sensitive)
        found |= {"range-query-noise": _noise(rows, cells, suppressed, sensitive)} if noise else {}
    found["ncp"] = sum(weight[column] * _ncp(rows, column, cells[column], suppressed) for column in hierarchies)
    for name in ("entropy", "monotone-entropy", "non-uniform-entropy"):
        found[name] = sum(
            weight[column] * _bits(name, rows, column, cells[column], suppressed) for column in hierarchies
        )
    found["independent-entropy-volume-inflation"] = found["non-uniform-entropy"]
    return found


def _by_cells(
    rows: Sequence[Mapping[str, Any]],
    hierarchies: Mapping[str, Sequence[Recode]],
    level: Mapping[str, int],
    cells: Mapping[str, Sequence[Any]],
    suppressed: set[int],
    weight: Mapping[str, float],
    beta: float,
) -> dict[str, float]:
    """What every cell costs by its level: a suppressed one is at the root, whatever its column is kept at."""
    found = dict.fromkeys(("modification-rate", "whd", "whd-height", "redactions", "tree"), 0.0)
    for column, levels in hierarchies.items():
        height, values = len(levels) - 1, {row[column] for row in rows}
        of_steps = [1 / (j - 1) ** beta for j in range(2, height + 2)]  # w_j, j = 2 … h, from the root
        for i, cell in enumerate(cells[column]):
            at = height if i in suppressed else level[column]
            gone = 1.0 if i in suppressed else at / height if height else 0.0
            risen = sum(of_steps[height - at :]) / sum(of_steps) if height else float(i in suppressed)
            anything = at > 0 and {value for value in values if levels[at](value) == cell} == values
            redacted = i in suppressed or (height > 0 and (at == height or cell == "*" or anything))
            found["tree"] += weight[column] * gone
            found["whd"] += weight[column] * gone
            found["whd-height"] += weight[column] * risen
            found["redactions"] += weight[column] * redacted
            found["modification-rate"] += weight[column] * (i in suppressed or at > 0)
    found["modification-rate"] /= len(rows) * sum(weight.values()) if rows else 1
    return found


def _entropy_volume(
    rows: Sequence[Mapping[str, Any]], cells: Mapping[str, Sequence[Any]], suppressed: set[int]
) -> float:
    """Σ over rows of log2 Pr(q*) / Pr(q); a suppressed row may be any."""
    originals = [tuple(row[column] for column in cells) for row in rows]
    regions = [tuple(cells[column][i] for column in cells) for i in range(len(rows))]
    return sum(
        math.log2((len(rows) if i in suppressed else regions.count(regions[i])) / originals.count(originals[i]))
        for i in range(len(rows))
    )


def _ncp(rows: Sequence[Mapping[str, Any]], column: str, cells: Sequence[Any], suppressed: set[int]) -> float:
    """Σ over cells of the width of the values under them over that of the column, else of their number over all."""
    domain = {row[column] for row in rows}
    numeric = all(isinstance(value, int | None) for value in domain) and domain != {None}
    total = 0.0
    for i, cell in enumerate(cells):
        under = {row[column] for row, other in zip(rows, cells, strict=True) if other == cell}
        under = domain if i in suppressed or cell == "*" else under
        if numeric:
            width, spread = ({value for value in some if value is not None} for some in (domain, under))
            whole = max(width) - min(width)
            total += (max(spread) - min(spread)) / whole if whole and spread else 0.0
        else:
            total += len(under) / len(domain) if len(under) > 1 else 0.0
    return total


def _volumes(
    rows: Sequence[Mapping[str, Any]], cells: Mapping[str, Sequence[Any]], suppressed: set[int]
) -> dict[str, float]:
    """Σ over rows of Pr(q*) / Pr(q), and of the product over the columns of Pr(cell) / Pr(value)."""
    originals = [tuple(row[column] for column in cells) for row in rows]
    regions = [tuple(cells[column][i] for column in cells) for i in range(len(rows))]
    joint = apart = 0.0
    for i, row in enumerate(rows):
        joint += (len(rows) if i in suppressed else regions.count(regions[i])) / originals.count(originals[i])
        shares = [
            (len(rows) if i in suppressed else list(cells[column]).count(cells[column][i]))
            / sum(other[column] == row[column] for other in rows)
            for column in cells
        ]
        apart += math.prod(shares)
    return {"volume-inflation": joint, "independent-volume-inflation": apart}


def _variances(
    rows: Sequence[Mapping[str, Any]], cells: Mapping[str, Sequence[Any]], suppressed: set[int], sensitive: str
) -> dict[str, float]:
    """By how much each row's distance from the table falls, and the same times how much larger its region becomes."""
    originals = [tuple(row[column] for column in cells) for row in rows]
    regions = [tuple(cells[column][i] for column in cells) for i in range(len(rows))]
    values = [row[sensitive] for row in rows]

    def distance(keys: Sequence[Any], i: int) -> Fraction:
        inside = [value for key, value in zip(keys, values, strict=True) if key == keys[i]]
        shares = [Fraction(inside.count(v), len(inside)) - Fraction(values.count(v), len(values)) for v in set(values)]
        return sum(map(abs, shares), Fraction(0)) / 2

    found = dict.fromkeys(("variance-loss", "hybrid", "hybrid-log"), 0.0)
    for i in range(len(rows)):
        gone = distance(originals, i) - (0 if i in suppressed else distance(regions, i))
        larger = (len(rows) if i in suppressed else regions.count(regions[i])) / originals.count(originals[i])
        found["variance-loss"] += float(gone)
        found["hybrid"] += float(gone) * larger
        found["hybrid-log"] += float(gone) * math.log2(larger)
    return found


def _noise(
    rows: Sequence[Mapping[str, Any]], cells: Mapping[str, Sequence[Any]], suppressed: set[int], sensitive: str
) -> float:
    """The mean over queries and rows of how far the meant rows of a class are from it; the table, of rows left out."""
    known = {column: sorted({row[column] for row in rows if row[column] is not None}) for column in cells}
    ranks = {column: {value: rank for rank, value in enumerate(found)} for column, found in known.items()}
    queries = random_ranges(100, 0, list(enumerate(map(len, known.values()), 1)))
    values = [row[sensitive] for row in rows]
    regions = [None if i in suppressed else tuple(cells[column][i] for column in cells) for i in range(len(rows))]
    total = Fraction(0)
    for query in queries:
        ranges = [(list(cells)[place - 1], low, high) for place, low, high in query.ranges]
        for region in set(regions):
            inside = [i for i, one in enumerate(regions) if one == region]
            meant = [
                values[i]
                for i in inside
                if all(
                    rows[i][column] is not None and low <= ranks[column][rows[i][column]] <= high
                    for column, low, high in ranges
                )
            ]
            whole = values if region is None else [values[i] for i in inside]
            for value in set(values) if meant else ():
                gap = Fraction(meant.count(value), len(meant)) - Fraction(whole.count(value), len(whole))
                total += abs(gap) * len(inside) / 2
    return float(total / len(queries) / len(rows))


def _cells(rows: Sequence[Mapping[str, Any]], column: str, levels: Sequence[Recode], level: int) -> list[Any]:
    return [levels[level](row[column]) for row in rows]


def _loss(
    rows: Sequence[Mapping[str, Any]],
    hierarchies: Mapping[str, Sequence[Recode]],
    level: Mapping[str, int],
    suppressed: set[int],
    listed: Mapping[str, Sequence[Any]],
    weight: Mapping[str, float],
) -> float:
    product, whole = 1.0, sum(weight.values())
    for column, levels in hierarchies.items():
        recode = levels[level[column]]
        values = list(listed.get(column, sorted({row[column] for row in rows}, key=repr)))
        if len(values) > 1 and rows:
            shares = [
                1.0 if i in suppressed else sum(recode(v) == recode(row[column]) for v in values) / len(values)
                for i, row in enumerate(rows)
            ]
            mean = sum(shares) / len(rows)
            least = 1 / len(values)
            x = (mean - least) / (1 - least)
        else:
            x = 0.0
        product *= (1 + x) ** (weight[column] / whole)
    return product - 1


def _precision(
    rows: Sequence[Mapping[str, Any]],
    hierarchies: Mapping[str, Sequence[Recode]],
    level: Mapping[str, int],
    suppressed: set[int],
    weight: Mapping[str, float],
) -> float:
    total = 0.0
    for column, levels in hierarchies.items():
        height = len(levels) - 1
        kept = level[column] / height if height else 0.0
        total += weight[column] * sum(1.0 if i in suppressed else kept for i in range(len(rows)))
    return total / (len(rows) * sum(weight.values())) if rows else 0.0


def _bits(
    name: str, rows: Sequence[Mapping[str, Any]], column: str, cells: Sequence[Any], suppressed: set[int]
) -> float:
    values = [row[column] for row in rows]
    total = 0.0
    for i, value in enumerate(values):
        inside = values if i in suppressed else [v for v, cell in zip(values, cells, strict=True) if cell == cells[i]]
        entropy = sum(-c / len(inside) * math.log2(c / len(inside)) for c in Counter(inside).values())
        share = len(inside) / len(values)
        total += {
            "entropy": entropy,
            "monotone-entropy": share * entropy,
            "non-uniform-entropy": -math.log2(values.count(value) / len(inside)),
        }[name]
    return total

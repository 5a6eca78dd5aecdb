"""Column sets in a sample: how many rows must be drawn so that separating all of them says something of all rows.

Motwani and Xu (*Efficient Algorithms for Masking and Finding Quasi-Identifiers*, 2007) search keys of a sample in
place of keys of the table. Let a set leave more than a share epsilon of all pairs of rows unseparated. `log_chance`
bounds the chance that r rows, drawn without replacement, are all different on it; with a bound for the number of sets
that might be reported, `rows_needed` makes the chance that any of them is such a set at most delta.

The bound. Let the classes of the set have c_1, c_2, … of the n rows. Of the C(n, r) samples e_r(c) have all rows
different, the elementary symmetric polynomial, and e_r(c) <= z^-r · prod(1 + c_i z) for every z > 0. Write the product
as (1 + z)^n · exp(-sum h(c_i)) with h(c) = c ln(1 + z) - ln(1 + cz). Let A be the positive root of A(A - 1) = epsilon
n(n - 1), which is less than sum c_i(c_i - 1), and b the largest class. h grows from c = 1 on, and h(c)/(c(c - 1)),
half a mean of h'' over [0, c], falls. If b >= A then sum h(c_i) >= h(b) >= h(A); else
sum h(c_i) >= h(b)/(b(b - 1)) · sum c_i(c_i - 1) >= h(A). So the chance is at most
(1 + z)^(n - A) · (1 + Az) / (z^r · C(n, r)): about that of one class of A rows, all others alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.column_sets.coding import MOST_CODES, Coded
from sqlaudit.column_sets.masks import count_subsets
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.result import Sampled
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep, workbench_of

_KEPT = "sqlaudit_columns_sample"
_DIGITS = 16
_ROUNDING = 1e-6
"""What floating point may take from the logarithm of a chance; it is added."""


def log_chance(rows: int, drawn: int, epsilon: float) -> float:
    """A bound for the logarithm of the chance that drawn rows are all different on a set that leaves more than a share
    epsilon of the pairs of rows unseparated.

    Example:
        >>> round(math.exp(log_chance(10**9, 10_000, 1e-6)), 3), log_chance(100, 100, 0.01)
        (0.125, -inf)
    """
    if drawn < 2:
        return 0.0
    together = (1 + math.sqrt(1 + 4 * epsilon * rows * (rows - 1))) / 2
    alone = rows - together
    if drawn > alone + 1:
        return -math.inf
    z = drawn / max(alone - drawn, 1.0)
    steps = np.arange(drawn, dtype=np.float64)
    samples = float(np.log((rows - steps) / (steps + 1)).sum())
    found = alone * math.log1p(z) + math.log1p(together * z) - drawn * math.log(z) - samples
    return min(0.0, found + _ROUNDING)


def rows_needed(rows: int, candidates: int, epsilon: Fraction, delta: Fraction) -> int:
    """How many rows must be drawn so that with a chance of 1 - delta no set that leaves more than a share epsilon of
    all pairs unseparated separates all drawn ones; the whole table where less is not enough.

    Args:
        rows: of the table. candidates: column sets among which one might be.

    Example:
        >>> rows_needed(10**9, 2**20, Fraction(1, 10**6), Fraction(1, 100))
        27854
    """
    wanted = math.log(delta) - math.log(max(candidates, 1))
    low, high = 1, 2
    while high < rows and log_chance(rows, high, float(epsilon)) > wanted:
        low, high = high, high * 2
    high = min(high, rows)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if log_chance(rows, middle, float(epsilon)) > wanted else (low, middle)
    return high


@contextmanager
def drawn_rows(
    engine: Engine, relation: Relation, request: ColumnRequest, chosen: Sequence[Chosen]
) -> Iterator[tuple[Coded, Sampled]]:
    """Codes of rows drawn at random, on a workbench for as long as they are needed, and what was drawn of what.

    Raises:
        UsageError: more rows would be needed than a workbench takes.
    """
    rows = int(engine.run(counted(engine, relation))[0][0])
    candidates = count_subsets(len(chosen), request.size_limit(len(chosen)))
    needed = rows_needed(rows, candidates, request.epsilon, request.delta)
    if needed * len(chosen) > MOST_CODES:
        raise UsageError(
            f"A sample for this {spelled('epsilon')} and {spelled('delta')} needs {needed:,} rows of {len(chosen)} "
            f"columns, and at most {MOST_CODES:,} cells are drawn; allow a larger {spelled('epsilon')}, or name fewer "
            "columns."
        )
    with workbench_of(engine) as bench:
        try:
            coded = _draw(engine, bench, relation, request.seed, chosen, rows, needed)
            yield coded, Sampled(rows, coded.rows, request.delta, request.seed)
        finally:
            bench.drop(_KEPT)


def counted(engine: Engine, relation: Relation) -> Statement:
    """The first question of a search in a sample: how many rows there are."""
    return render("base/row_count.sql", engine.dialect, source=Raw(relation.sql))


def _draw(
    engine: Engine, bench: Engine, relation: Relation, seed: int, chosen: Sequence[Chosen], rows: int, needed: int
) -> Coded:
    """At least so many rows. How many come is left to chance: of each number of rows every sample is equally likely."""
    aimed = needed + 10 * math.isqrt(needed) + 20
    while True:
        below = None if aimed >= rows else f"{aimed * 16**_DIGITS // rows:0{_DIGITS}x}"
        coded = _kept(engine, bench, relation, seed, chosen, below)
        if coded.rows >= needed or below is None:
            return coded
        aimed *= 2


def _kept(
    engine: Engine, bench: Engine, relation: Relation, seed: int, chosen: Sequence[Chosen], below: str | None
) -> Coded:
    names = [f"c{position}" for position in range(len(chosen))]
    statement = render(
        "column_sets/columns_sample.sql",
        engine.dialect,
        source=Raw(relation.sql),
        columns=[Raw(one.sql) for one in chosen],
        seed=seed,
        below=below,
    )
    kept = Raw(keep(engine, bench, _KEPT, statement, [(name, "INTEGER") for name in names]).sql)
    facts = render("column_sets/columns_sample_facts.sql", bench.dialect, source=kept, names=names)
    drawn, *figures = (int(figure or 0) for figure in bench.run(facts)[0])
    domains = tuple(largest + 1 for largest in figures[1::2])
    return Coded(kept, None, None, drawn, drawn, tuple(figures[::2]), domains, bench)

"""The nine metrics of pycanon written by hand for pandas and polars: the honest baseline for data frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


def with_pandas(path: Path, keys: Sequence[str], sensitive: str) -> dict[str, float]:
    """k, α, l, entropy l, recursive c (l = 2), t, β, enhanced β and δ with pandas groupbys."""
    import pandas as pd

    table = pd.read_parquet(path, columns=[*keys, sensitive])
    cells = table.groupby([*keys, sensitive], dropna=False, observed=True).size().rename("c").reset_index()
    totals = table[sensitive].value_counts(dropna=False)
    by_class = cells.groupby(list(keys), dropna=False)["c"]
    cells["n"] = by_class.transform("sum")
    cells["t"] = cells[sensitive].map(totals).to_numpy()
    return _figures(
        cells["c"].to_numpy(), cells["n"].to_numpy(), cells["t"].to_numpy(), by_class.ngroup().to_numpy(), len(totals)
    )


def with_polars(path: Path, keys: Sequence[str], sensitive: str) -> dict[str, float]:
    """The same with polars."""
    import polars as pl

    table = pl.read_parquet(path, columns=[*keys, sensitive])
    cells = table.group_by([*keys, sensitive]).agg(pl.len().alias("c"))
    totals = table.group_by(sensitive).agg(pl.len().alias("t"))
    classes = cells.group_by(keys).agg(pl.col("c").sum().alias("n")).with_row_index("id")
    cells = cells.join(classes, on=list(keys), nulls_equal=True).join(totals, on=sensitive, nulls_equal=True)
    return _figures(*(cells[name].to_numpy().astype(np.int64) for name in ("c", "n", "t", "id")), totals.height)


def _figures(c: np.ndarray, n: np.ndarray, t: np.ndarray, group: np.ndarray, values: int) -> dict[str, float]:
    total, groups = int(c.sum()), int(group.max()) + 1
    size = np.zeros(groups, dtype=np.int64)
    np.add.at(size, group, c)
    largest = np.zeros(groups, dtype=np.int64)
    np.maximum.at(largest, group, c)
    distinct = np.bincount(group, minlength=groups)
    entropy = np.bincount(group, weights=-(c / n) * np.log(c / n), minlength=groups)
    present = np.bincount(group, weights=np.abs(c / n - t / total) - t / total, minlength=groups)
    gain = (c / n) / (t / total) - 1
    with np.errstate(divide="ignore"):
        recursive = largest / (size - largest)
    return {
        "k": float(size.min()),
        "alpha": float((largest / size).max()),
        "l": float(distinct.min()),
        "entropy_l": float(np.exp(entropy.min())),
        "recursive_c": float(recursive.max()),
        "t": float(((present + 1) / 2).max()),
        "beta": float(max(0.0, gain.max())),
        "enhanced": float(np.inf if (gain > -np.log(t / total)).any() else gain.max()),
        "delta": float(np.inf if (distinct < values).any() else np.abs(np.log(gain + 1)).max()),
    }

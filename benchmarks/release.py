"""All loss measures of a release beside its original: sqlaudit on DuckDB, pandas, and a bare scan of both tables.

    python -m benchmarks.release [--rows 1000000] [--skip pandas] [--noise-queries 100]

Two Parquet files of random people with six quasi-identifiers and a sensitive attribute are made once: the original with
an id, and a full-domain release of it with the id, some rows suppressed. `sqlaudit` pairs them by the id and computes
every measure but the noise, of all columns and of each, with audit and attacks; `everything` also the noise and the
workload; `pandas` the same measures with the same hierarchies, of all columns together, without audit. The bare
scan counts the different values of every column of both files. Every run has a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

QI = ("age", "sex", "zip", "marital", "race", "education")
HIERARCHIES: dict[str, Any] = {
    "age": {"widths": [5, 10, 20, 40]},
    "zip": {"mask": [1, 2, 3]},
    "marital": {"values": {str(i): ["married" if i < 3 else "not", "*"] for i in range(7)}},
    "race": {"values": {str(i): ["*"] for i in range(5)}},
    "education": {"values": {str(i): [f"e{i // 4}", "*"] for i in range(16)}},
}


def write(folder: Path, rows: int) -> tuple[str, str]:
    """The two files."""
    import duckdb

    paths = str(folder / "original.parquet"), str(folder / "release.parquet")
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "CREATE TABLE original AS SELECT range AS id, CAST(18 + 72 * random() * random() AS INTEGER) AS age, "
            "CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex, "
            "CAST(10000 + CAST(999 * random() * random() AS INTEGER) AS VARCHAR) AS zip, "
            "CAST(CAST(6 * random() AS INTEGER) AS VARCHAR) AS marital, "
            "CAST(CAST(4 * random() * random() AS INTEGER) AS VARCHAR) AS race, "
            "CAST(CAST(15 * random() AS INTEGER) AS VARCHAR) AS education, "
            f"'d' || CAST(13 * random() * random() AS INTEGER) AS disease FROM range({rows})"
        )
        connection.execute(
            "CREATE TABLE release AS SELECT id, '[' || age // 20 * 20 || ', ' || (age // 20 * 20 + 20) || ')' AS age, "
            "sex, LEFT(zip, 3) || '**' AS zip, CASE WHEN marital < '3' THEN 'married' ELSE 'not' END AS marital, "
            "'*' AS race, 'e' || CAST(education AS INTEGER) // 4 AS education, disease FROM original "
            "WHERE hash(id) % 50 > 0"
        )
        for name, path in zip(("original", "release"), paths, strict=True):
            connection.table(name).write_parquet(path)
    return paths


def scanned(paths: tuple[str, str], _: argparse.Namespace) -> dict[str, Any]:
    """A scan of both files that looks at every column."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        columns = ", ".join(f"COUNT(DISTINCT {name})" for name in (*QI, "disease"))
        begun = time.perf_counter()
        for path in paths:
            connection.execute(
                f"SELECT {', '.join(f'MAX({name})' for name in (*QI, 'disease'))} FROM '{path}'"
            ).fetchall()
        seconds = time.perf_counter() - begun
        for path in paths:
            connection.execute(f"SELECT {columns} FROM '{path}'").fetchall()
    return {
        "scan, s": round(seconds, 3),
        "scan with different values, s": round(time.perf_counter() - begun - seconds, 3),
    }


def losses(paths: tuple[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """What pandas computes as well: every measure but the noise, and no workload."""
    from sqlaudit.models.measures import OF_RELEASES

    options.workload = 0
    return ours(paths, options, tuple(name for name in OF_RELEASES if name != "range-query-noise"))


def ours(paths: tuple[str, str], options: argparse.Namespace, measures: tuple[str, ...] = ()) -> dict[str, Any]:
    """The whole comparison."""
    import sqlaudit
    from sqlaudit.base.spec import Limits

    result = sqlaudit.compare(
        *paths,
        qi=QI,
        sensitive="disease",
        key="id",
        hierarchies=HIERARCHIES,
        limits=Limits(threads=2),
        noise_queries=options.noise_queries,
        workload=options.workload,
        measures=measures,
    )
    steps: Counter[str] = Counter()
    for one in result.statements:
        steps[one.name] += round(1000 * (one.seconds or 0))
    figures = {one.measure: float(one.value or 0) for one in result.losses if one.column is None}
    return {"losses": figures, "statements": len(result.statements), "ms a step": dict(steps.most_common(14))}


def baseline(paths: tuple[str, str], _: argparse.Namespace) -> dict[str, Any]:
    """The same measures in pandas."""
    import pandas as pd

    original, release = (pd.read_parquet(path) for path in paths)
    begun = time.perf_counter()
    figures = _in_pandas(original, release)
    return {"losses": figures, "without reading, s": round(time.perf_counter() - begun, 2)}


def _in_pandas(original: Any, release: Any) -> dict[str, float]:
    both = original.merge(release, on="id", how="left", suffixes=("", "_r"))
    n = len(both)
    total: defaultdict[str, float] = defaultdict(float)
    inside: dict[str, Any] = {}
    for name in QI:
        _column(both, name, n, total, inside)
    own = both.groupby(list(QI)).id.transform("size")
    released = both[both.disease_r.notna()]
    cells = [f"{name}_r" for name in QI]
    regions = both[cells].fillna("*")
    size = _regions(both, n)
    total["volume-inflation"] = float((size / own).sum())
    total["entropy-volume-inflation"] = float(np.log2(size / own).sum())
    product = np.prod([inside[name] / both.groupby(name).id.transform("size") for name in QI], axis=0)
    total["independent-volume-inflation"] = float(product.sum())
    total["independent-entropy-volume-inflation"] = float(np.log2(product).sum())
    counts = released.groupby(cells).size()
    total["discernibility"] = float((counts.astype(float) ** 2).sum()) + (n - len(released)) * n
    total["class-size"] = len(released) / len(counts)
    before, after = _distance(both, list(QI), "disease", both), _distance(released, cells, "disease_r", both)
    after = after.reindex(both.index).fillna(0.0)
    total["variance-loss"] = float((before - after).sum())
    total["hybrid"] = float(((before - after) * size / own).sum())
    total["hybrid-log"] = float(((before - after) * np.log2(size / own)).sum())
    assert len(regions) == n
    return {name: float(value) for name, value in total.items()}


_HEIGHTS = {"age": (3, 5), "sex": (0, 1), "zip": (2, 4), "marital": (1, 2), "race": (1, 1), "education": (1, 2)}


def _column(both: Any, name: str, n: int, total: dict[str, float], inside: dict[str, Any]) -> None:
    """The losses of the cells of one column."""
    cell = both[f"{name}_r"]
    level, height = _HEIGHTS[name]
    gone = int(both.disease_r.isna().sum())
    rows = both.groupby(name).id.size()
    group = both.groupby(name)[f"{name}_r"].first()
    under = rows.groupby(group).sum()
    values = rows.groupby(group).size()
    bits = (rows * np.log2(rows)).groupby(group).sum()
    entropy = np.log2(under) - bits / under
    whole = np.log2(n) - float((rows * np.log2(rows)).sum()) / n
    inside[name] = cell.map(under).fillna(n)
    of_rows = cell.map(entropy).fillna(whole)
    total["entropy"] += float(of_rows.sum())
    total["monotone-entropy"] += float((of_rows * inside[name] / n).sum())
    total["non-uniform-entropy"] += float(np.log2(inside[name] / both[name].map(rows)).sum())
    total["loss"] += float((cell.map(values).fillna(len(rows)) - 1).sum()) / (len(rows) - 1)
    total["tree"] += level / height * (n - gone) + gone
    if name == "age":
        ages = rows.index.to_series()
        width = ages.groupby(group).max() - ages.groupby(group).min()
        spread = int(ages.max() - ages.min())
        total["ncp"] += float(cell.map(width).fillna(spread).sum()) / spread
    else:
        of = cell.map(values).fillna(len(rows))
        total["ncp"] += float(of.where(of > 1, 0).sum()) / len(rows)


def _regions(both: Any, n: int) -> Any:
    """Original rows in the region of each row's class; every class is a region of its own here."""
    homes = {name: both.groupby(name)[f"{name}_r"].first() for name in QI}
    generalized = both[list(QI)].apply(lambda column: column.map(homes[column.name]))
    size = generalized.assign(id=both.id).groupby(list(QI)).id.transform("size")
    return size.where(both.disease_r.notna(), n)


def _distance(rows: Any, keys: list[str], sensitive: str, both: Any) -> Any:
    """Of each row: the equal distance of its class from the table."""
    share = both.disease.value_counts(normalize=True)
    size = rows.groupby(keys)["id"].size().rename("size")
    cells = rows.groupby([*keys, sensitive])["id"].size().rename("c").reset_index().merge(size.reset_index(), on=keys)
    part = cells[sensitive].map(share)
    cells["d"] = (cells.c / cells["size"] - part).abs() - part
    found = (cells.groupby(keys).d.sum() + 1) / 2
    return rows[["id", *keys]].merge(found.rename("d").reset_index(), on=keys, how="left").set_index(rows.index).d


def measured(function: Any, *arguments: Any) -> dict[str, Any]:
    """What a function found, with its time and memory, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found: dict[str, Any] = pool.apply(_measure, (function, arguments))
        return found


def _measure(function: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    clock = time.perf_counter()
    found = function(*arguments)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = round(usage.ru_utime + usage.ru_stime, 2)
    peak = usage.ru_maxrss // 1024
    return {"seconds": round(time.perf_counter() - clock, 2), "CPU seconds": cpu, "peak MB": peak, **found}


def main() -> None:
    """Prints the figures, and how far the two ways to compute them differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--noise-queries", type=int, default=100)
    parser.add_argument("--workload", type=int, default=100)
    parser.add_argument("--skip", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sqlaudit-benchmark-") as folder:
        paths = write(Path(folder), options.rows)
        found = {"bare scan": measured(scanned, paths, options), "sqlaudit": measured(losses, paths, options)}
        found["sqlaudit, everything"] = measured(ours, paths, options)
        if "pandas" not in options.skip:
            found["pandas"] = measured(baseline, paths, options)
    for name, figures in found.items():
        print(name, {key: value for key, value in figures.items() if key != "losses"})
    if "pandas" in found:
        own, other = found["sqlaudit"]["losses"], found["pandas"]["losses"]
        for name, value in other.items():
            print(f"{name:40} {own[name]:.10g} {value:.10g} {abs(own[name] - value) / max(1.0, abs(value)):.1e}")


if __name__ == "__main__":
    main()

"""Remedies: what they take, and what they lose beside each other.

    python -m benchmarks.remedies classes [--classes 10000 100000] [--method kaca mondrian] [--k 5]
    python -m benchmarks.remedies patterns [--patterns 100 300 1000 3000] [--seconds 60]
    python -m benchmarks.remedies adult FOLDER [--k 5 10 50] [--svg docs/remedies_adult.svg]

`classes` recodes random people with six quasi-identifiers in about as many classes as are asked for, one to three rows
each; seconds are CPU time of the process, and elapsed. `patterns` suppresses cells exactly, in tables of about as many
row patterns. `adult` sets the losses of all remedies side by side on ARX's Adult table: FOLDER holds `adult.csv` (`;`
between fields) and one hierarchy a column, as ARX's examples have them. Every run has a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HIERARCHIES: Mapping[str, Any] = {
    "age": {"widths": [5, 10, 20, 40]},
    "zip": {"mask": [1, 2]},
    "education": {"values": {str(i): [f"e{i // 4}"] for i in range(16)}},
    "marital": {"values": {str(i): ["married" if i < 3 else "not"] for i in range(7)}},
    "month": {"values": {str(i): [f"q{i // 3}", f"h{i // 6}"] for i in range(12)}},
}
DOMAINS = {"age": 80, "sex": 2, "education": 16, "zip": 500, "marital": 7, "month": 12}
TEXTS = ("education", "marital", "month")
ADULT = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
MEASURES = ("loss", "ncp", "non-uniform-entropy", "modification-rate", "whd", "discernibility", "class-size")
DRAWN = ("loss", "ncp", "non-uniform-entropy", "modification-rate")


def people(classes: int) -> Any:
    """Random people in about so many classes, as an Arrow table."""
    import pyarrow as pa

    random = np.random.default_rng(0)
    number = int(classes * 1.02)
    columns = {
        name: np.minimum((random.beta(2, 3, number) * size).astype(int), size - 1) for name, size in DOMAINS.items()
    }
    repeats = random.integers(1, 4, number)
    twice = {name: np.repeat(values, repeats) for name, values in columns.items()}
    made = {name: values.astype(str) if name in TEXTS else values for name, values in twice.items()}
    made["zip"] = np.char.add("1", np.char.zfill(twice["zip"].astype(str), 4))
    made["disease"] = random.integers(0, 14, len(made["age"])).astype(str)
    return pa.table(made)


def recoding(classes: int, method: str, k: int, diverse: bool) -> dict[str, Any]:
    """One recoding: seconds, and what it came to."""
    import sqlaudit

    table = people(classes)
    require = [f"k={k}", "l=2"] if diverse else [f"k={k}"]
    used, begun = time.process_time(), time.monotonic()
    made = sqlaudit.recode(
        table,
        qi=list(DOMAINS),
        sensitive="disease",
        require=require,
        hierarchies=HIERARCHIES,
        method=method,
        lattice=False,
    )
    return {
        "method": method,
        "rows": made.rows,
        "classes": made.classes,
        "groups": made.groups,
        "merges": made.merges,
        "cpu": time.process_time() - used,
        "elapsed": time.monotonic() - begun,
        "loss": made.loss("loss").share,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def suppressing(patterns: int, seconds: float) -> dict[str, Any]:
    """One exact suppression within so many seconds, the bound that it reached, and the cost of the fast one."""
    import pyarrow as pa

    import sqlaudit

    random = np.random.default_rng(1)
    columns = {name: random.geometric(0.45, patterns * 3) for name in "abcde"}
    asked: dict[str, Any] = {"qi": list("abcde"), "require": {"k": 5}}
    quick = sqlaudit.suppress(pa.table(columns), how="fast", **asked)
    begun = time.monotonic()
    found = sqlaudit.suppress(pa.table(columns), how="exact", time_limit=seconds, **asked)
    elapsed = time.monotonic() - begun
    distinct = len(set(zip(*columns.values(), strict=True)))
    return {
        "patterns": distinct,
        "rows": patterns * 3,
        "fast": float(quick.cost),
        "exact": float(found.cost),
        "bound": float(found.bound),
        "optimal": found.optimal,
        "elapsed": round(elapsed, 1),
    }


def adult_remedy(folder: Path, remedy: str, k: int) -> dict[str, Any]:
    """The losses of one remedy on ARX's Adult table, as shares of complete suppression where they have one."""
    import pandas as pd

    import sqlaudit

    table = pd.read_csv(folder / "adult.csv", sep=";", dtype=str).assign(id=lambda frame: range(len(frame)))
    table["age"] = table["age"].astype(int)
    files = {name: {"csv": str(folder / f"adult_hierarchy_{name}.csv")} for name in ADULT}
    given = {**files, "age": {"widths": [5, 10, 20]}}
    begun = time.monotonic()
    if remedy == "suppress":
        return _suppressed(table, given, k, begun)
    if remedy == "lattice":
        return _best_node(table, given, k, begun)
    made = sqlaudit.recode(table, qi=ADULT, require={"k": k}, hierarchies=given, lattice=False, method=remedy)
    return {"seconds": time.monotonic() - begun, "groups": made.groups, **_figures(made.losses)}


def _best_node(table: Any, given: Mapping[str, Any], k: int, begun: float) -> dict[str, Any]:
    import tempfile

    import pandas as pd

    import sqlaudit

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "release.csv"
        found = sqlaudit.lattice(table, qi=ADULT, require={"k": k}, hierarchies=given, to=file)
        seconds = time.monotonic() - begun
        release = pd.read_csv(file, dtype=str).astype({"id": int})
    beside = sqlaudit.compare(table, release, qi=ADULT, key="id", hierarchies=given, measures=list(MEASURES))
    groups = found.best.classes if found.best else None
    return {"seconds": seconds, "groups": groups, **_figures(beside.losses)}


def _suppressed(table: Any, given: Mapping[str, Any], k: int, begun: float) -> dict[str, Any]:
    import tempfile

    import pandas as pd

    import sqlaudit

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "release.csv"
        found = sqlaudit.suppress(table, qi=ADULT, require={"k": k}, how="fast", to=file)
        seconds = time.monotonic() - begun
        release = pd.read_csv(file, dtype=str).astype({"id": int})
    beside = sqlaudit.compare(table, release, qi=ADULT, key="id", hierarchies=given, measures=list(MEASURES))
    return {"seconds": seconds, "groups": found.release.groups if found.release else None, **_figures(beside.losses)}


def _figures(losses: Sequence[Any]) -> dict[str, Any]:
    whole = {one.measure: one for one in losses if one.column is None}
    return {name: float((whole[name].value if name == "class-size" else whole[name].share) or 0) for name in MEASURES}


def adult(folder: Path, sizes: Sequence[int], remedies: Sequence[str], svg: Path | None) -> None:
    """The table and the plot of the losses of all remedies."""
    found = {}
    heads = ("remedy", "k", "groups", "seconds", *MEASURES)
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for k, remedy in ((k, remedy) for k in sizes for remedy in remedies):
        one = found[remedy, k] = alone(adult_remedy, folder, remedy, k)
        shares = [f"{one[name]:.1f}" if name == "class-size" else f"{100 * one[name]:.1f}%" for name in MEASURES]
        print(f"| {remedy} | {k} | {one['groups']:,} | {one['seconds']:.0f} | " + " | ".join(shares) + " |", flush=True)
    if svg is not None:
        draw(found, sizes, remedies, svg)


def draw(
    found: Mapping[tuple[str, int], Mapping[str, Any]], sizes: Sequence[int], remedies: Sequence[str], svg: Path
) -> None:
    """Bars of the losses, a panel a measure."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"], mpl.rcParams["svg.fonttype"] = "sqlaudit", "none"
    figure, panels = plt.subplots(1, len(DRAWN), figsize=(3 * len(DRAWN), 3), sharey=True, layout="constrained")
    for panel, name in zip(panels, DRAWN, strict=True):
        for place, remedy in enumerate(remedies):
            bars = [100 * found[remedy, k][name] for k in sizes]
            panel.bar(np.arange(len(sizes)) + place / (len(remedies) + 1), bars, 1 / (len(remedies) + 1), label=remedy)
        panel.set_xticks(np.arange(len(sizes)) + 0.4 - 0.4 / len(remedies), [f"k = {k}" for k in sizes])
        panel.set_title(name, fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("% of complete suppression")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(remedies), frameon=False, fontsize=9)
    figure.savefig(svg, metadata={"Date": None})


def alone(work: Any, *arguments: Any) -> Any:
    """The result of a function in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["classes", "patterns", "adult"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--classes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--method", nargs="+", default=["kaca", "mondrian"])
    parser.add_argument("--patterns", type=int, nargs="+", default=[100, 300, 1000, 3000])
    parser.add_argument("--seconds", type=float, default=60, help="time limit of each exact suppression")
    parser.add_argument("--remedies", nargs="+", default=["lattice", "kaca", "mondrian", "suppress"])
    parser.add_argument("--diverse", action="store_true", help="require l=2 as well")
    parser.add_argument("--k", type=int, nargs="+", default=[5])
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args()
    if given.what == "adult":
        if given.folder is None:
            parser.error("adult needs the folder of ARX's table and hierarchies")
        adult(given.folder, given.k, given.remedies, given.svg)
        return
    if given.what == "patterns":
        for patterns in given.patterns:
            print(alone(suppressing, patterns, given.seconds), flush=True)
        return
    for classes in given.classes:
        for method in given.method:
            print(alone(recoding, classes, method, given.k[0], given.diverse), flush=True)


if __name__ == "__main__":
    main()

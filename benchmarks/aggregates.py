"""Intervals of hidden cells beside those of tau-Argus: the same ones, and how long both take.

    python -m venv argus && argus/bin/pip install pytauargus
    python benchmarks/aggregates.py argus/bin/tauargus

tau-Argus (EUPL) is called as a program; nothing of it is imported. Its tables are made from one record a person, its
cells are hidden by its frequency rule, and its `audit` gives their realized intervals. Programs start, read and write
beside computing: the time of a table of one cell is told apart, and subtracted where a figure says `net`.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sqlaudit.tabular.secondary.intervals import deduce
from sqlaudit.tabular.secondary.structure import Dimension, equations_of
from sqlaudit.tabular.secondary.system import PublishedTable

Counts = dict[tuple[int, ...], int]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CELL = re.compile(r"cell (\d+): \[(\S+), (\S+)\]")


def drawn(seed: int, sizes: tuple[int, ...], largest: int) -> Counts:
    """Random counts from one to the largest."""
    chance = random.Random(seed)
    return {key: chance.randint(1, largest) for key in itertools.product(*map(range, sizes))}


def of_argus(program: str, counts: Counts, threshold: int) -> tuple[dict[int, tuple[int, int]], float]:
    """The intervals by the number of the cell, and the seconds that it took as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        batch = _written(Path(folder), counts, threshold)
        begin = time.perf_counter()
        done = subprocess.run([program, "audit", str(batch)], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - begin
    found = {int(cell): (round(float(low)), round(float(high))) for cell, low, high in _CELL.findall(done.stdout)}
    return found, seconds


def _written(folder: Path, counts: Counts, threshold: int) -> Path:
    """Records, their description, and what is to be done, as files."""
    dimensions = range(len(next(iter(counts))))
    rows = (" ".join(_LETTERS[code] for code in key) + "    1" for key, n in counts.items() for _ in range(n))
    (folder / "m.asc").write_text("\n".join(rows) + "\n")
    described = [f'd{one} {2 * one + 1} 1 \n  <RECODEABLE>\n  <TOTCODE> "Total"' for one in dimensions]
    described.append(f"v {2 * len(dimensions)} 5 \n  <NUMERIC>\n  <DECIMALS> 0")
    (folder / "m.rda").write_text("\n".join(described) + "\n")
    names = "".join(f'"d{one}"' for one in dimensions)
    batch = folder / "b.arb"
    batch.write_text(
        f'<OPENMICRODATA> "{folder}/m.asc"\n<OPENMETADATA> "{folder}/m.rda"\n<SPECIFYTABLE> {names}|"v"|""|""\n'
        f"<SAFETYRULE> FREQ({threshold},30)\n<READMICRODATA>\n"
    )
    return batch


def of_ours(counts: Counts, threshold: int) -> tuple[dict[int, tuple[int, int]], float, int]:
    """The same from equations between the same cells, in the order of tau-Argus: the total comes first."""
    sizes = [1 + max(codes) for codes in zip(*counts, strict=True)]
    begin = time.perf_counter()
    codes = np.array(list(itertools.product(*[range(size + 1) for size in sizes])), dtype=np.int64)
    table = np.zeros([size + 1 for size in sizes], dtype=np.int64)
    for key, n in counts.items():
        for cell in itertools.product(*[(0, code + 1) for code in key]):
            table[cell] += n
    values = table.ravel()
    equations = equations_of(codes, [Dimension.with_total(size + 1, 0) for size in sizes])
    # what tau-Argus takes as known: no cell is below the least of the table, or one below its own value
    lower, upper = np.minimum(values.min(), values - 1), np.full_like(values, values.max())
    hidden = (values < threshold) & (values > 0)
    found = deduce(PublishedTable(equations, values, hidden, lower, upper))
    seconds = time.perf_counter() - begin
    limits = zip(found.low.tolist(), found.high.tolist(), strict=True)
    return dict(zip(found.cells.tolist(), limits, strict=True)), seconds, int((~found.exact).sum())


SHAPES = [((6,), 6), ((4, 4), 6), ((6, 5), 5), ((3, 3, 3), 6), ((4, 3, 2), 5), ((2, 2, 2, 2), 5)]
LARGE = [((40, 40), 12), ((50, 50), 8), ((10, 10, 10), 9), ((20, 20, 8), 12)]


def main(program: str) -> None:
    """Print how many intervals are equal, and the times of larger tables."""
    equal = wider = cells = 0
    for seed in range(200):
        sizes, largest = SHAPES[seed % len(SHAPES)]
        counts = drawn(seed, sizes, largest)
        theirs, _ = of_argus(program, counts, 4)
        ours, _, _ = of_ours(counts, 4)
        if set(theirs) != set(ours):
            sys.exit(f"other cells are hidden in table {seed}")
        cells += len(ours)
        equal += sum(ours[cell] == theirs[cell] for cell in ours)
        wider += sum(ours[cell][0] < theirs[cell][0] or ours[cell][1] > theirs[cell][1] for cell in ours)
    print(f"200 tables of one to four dimensions: {equal:,} of {cells:,} intervals are equal, {wider} wider here")
    empty = statistics.median(of_argus(program, {(0,): 9}, 4)[1] for _ in range(5))
    print(f"tau-Argus takes {empty:.2f} s for one cell\n\n| cells | hidden | tau-Argus | net | here | equal |")
    print("| --- | --- | --- | --- | --- | --- |")
    for sizes, largest in LARGE:
        counts = drawn(1, sizes, largest)
        theirs, slow = of_argus(program, counts, 4)
        ours, fast, _ = of_ours(counts, 4)
        same = sum(ours[cell] == theirs.get(cell) for cell in ours)
        shape = " × ".join(map(str, sizes))
        print(f"| {shape} | {len(ours):,} | {slow:.2f} s | {slow - empty:.2f} s | {fast:.2f} s | {same:,} |")


if __name__ == "__main__":
    main(sys.argv[1])

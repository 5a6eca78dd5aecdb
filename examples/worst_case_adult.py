"""Section 4 of the worst-case paper on the real table: what an attacker with k implications can learn from Adult.

    python examples/worst_case_adult.py adult.csv OUTPUT_DIRECTORY

Figure 5: one release (age in intervals of 20, everything else suppressed), disclosure against the number of pieces of
knowledge, for basic implications and for negated atoms. Figure 6: all 72 generalizations (age as is, in intervals of
5, 10, 20, 40, or suppressed; marital status in three levels; race and sex as they are or suppressed), the smallest
entropy of occupation in a class against the least maximum disclosure among the releases with that entropy.

The table needs the columns age, marital-status, race, sex and occupation. Needs matplotlib (pip install
"sqlaudit[plot]"). Source: Martin et al., Worst-Case Background Knowledge for Privacy-Preserving Data Publishing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise, product
from math import log
from pathlib import Path

import duckdb

from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.curve import DisclosureCurve
from sqlaudit.models.disclosure.program import maximum_disclosure

LARGEST_K = 12
FIGURE_6_LEVELS = (1, 3, 5, 7, 9, 11)
AGE_WIDTHS = (1, 5, 10, 20, 40, 1000)  # nested intervals from 0; the last one holds everybody

# One row a class: how often each occupation occurs in it.
CLASSES = """
WITH generalized AS (
    SELECT
        age // $width AS age,
        CASE $marital
            WHEN 0 THEN "marital-status"
            WHEN 1 THEN CASE
                WHEN "marital-status" LIKE 'Married%' THEN 'married'
                WHEN "marital-status" = 'Never-married' THEN 'never married'
                ELSE 'no longer married'
            END
        END AS marital,
        CASE WHEN $race = 0 THEN race END AS race,
        CASE WHEN $sex = 0 THEN sex END AS sex,
        occupation
    FROM adult
),
histogram AS (
    SELECT age, marital, race, sex, occupation, COUNT(*) AS rows
    FROM generalized
    GROUP BY ALL
)
SELECT LIST(rows)
FROM histogram
GROUP BY age, marital, race, sex
"""

Release = tuple[int, int, int, int]  # levels of age, marital status, race, sex; 0 = as is


def load(path: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory with the table as `adult`."""
    connection = duckdb.connect()
    connection.read_csv(str(path)).create("adult")
    return connection


def classes(connection: duckdb.DuckDBPyConnection, release: Release) -> list[list[int]]:
    """The counts of occupations in every class of a release."""
    age, marital, race, sex = release
    parameters = {"width": AGE_WIDTHS[age], "marital": marital, "race": race, "sex": sex}
    return [counts for (counts,) in connection.execute(CLASSES, parameters).fetchall()]


def entropy(counts: list[int]) -> float:
    """Entropy of the values in a class, in nats."""
    n = sum(counts)
    return sum(count / n * log(n / count) for count in sorted(counts))


def curve(counts: list[list[int]]) -> DisclosureCurve:
    return maximum_disclosure(Signatures.from_classes(counts, LARGEST_K), LARGEST_K)


def all_releases(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Release, float, DisclosureCurve]]:
    """Every generalization with its smallest class entropy and its disclosure."""
    for release in product(range(6), range(3), range(2), range(2)):
        counts = classes(connection, release)
        yield release, min(map(entropy, counts)), curve(counts)


def least_by_entropy(releases: list[tuple[Release, float, DisclosureCurve]], k: int) -> list[tuple[float, float]]:
    """For every smallest class entropy that occurs, the least maximum disclosure at `k`; ascending by entropy."""
    least: dict[float, float] = {}
    for _, smallest, found in releases:
        key = round(smallest, 12)  # the same classes in two releases are the same entropy
        least[key] = min(least.get(key, 1.0), float(found[k].maximum))
    return sorted(least.items())


def print_figure_5(found: DisclosureCurve) -> None:
    print("Figure 5: age in intervals of 20, everything else suppressed")
    print(f"{'k':>3} {'implications':>13} {'negated atoms':>14}")
    for point in found.points:
        print(f"{point.k:>3} {float(point.maximum):>13.4f} {float(point.negated):>14.4f}")


def print_figure_6(releases: list[tuple[Release, float, DisclosureCurve]]) -> None:
    print(f"\nFigure 6: {len(releases)} generalizations; least maximum disclosure by smallest class entropy")
    table = {k: dict(least_by_entropy(releases, k)) for k in FIGURE_6_LEVELS}
    print(f"{'entropy':>8}" + "".join(f"{f'k = {k}':>9}" for k in FIGURE_6_LEVELS))
    for smallest in table[1]:
        print(f"{smallest:>8.4f}" + "".join(f"{table[k][smallest]:>9.4f}" for k in FIGURE_6_LEVELS))
    for k in FIGURE_6_LEVELS:
        risks = list(table[k].values())
        rises = sum(after > before for before, after in pairwise(risks))
        print(f"k = {k}: {len(risks)} entropies, disclosure rises with entropy in {rises} of {len(risks) - 1} steps")


def draw(found: DisclosureCurve, releases: list[tuple[Release, float, DisclosureCurve]], directory: Path) -> None:
    """Both figures as SVG files."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    directory.mkdir(parents=True, exist_ok=True)
    levels = [point.k for point in found.points]
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(levels, [float(point.maximum) for point in found.points], "o-", label="basic implications")
    axes.plot(levels, [float(point.negated) for point in found.points], "s:", label="negated atoms")
    axes.set(xlabel="pieces of knowledge k", ylabel="maximum disclosure", ylim=(0, 1.02), xticks=levels)
    axes.legend(loc="lower right")
    figure.savefig(directory / "figure5.svg")
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for k in FIGURE_6_LEVELS:
        axes.plot(*zip(*least_by_entropy(releases, k), strict=True), ".-", label=f"k = {k}")
    axes.set(xlabel="smallest entropy of a class (nats)", ylabel="least maximum disclosure", ylim=(0, 1.02))
    axes.legend(loc="lower left")
    figure.savefig(directory / "figure6.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path, help="adult.csv")
    parser.add_argument("directory", type=Path, help="where the two figures go")
    arguments = parser.parse_args()
    connection = load(arguments.table)
    found = curve(classes(connection, (3, 2, 1, 1)))
    print_figure_5(found)
    releases = list(all_releases(connection))
    print_figure_6(releases)
    draw(found, releases, arguments.directory)
    print(f"\nDrawn in {arguments.directory}: figure5.svg, figure6.svg")


if __name__ == "__main__":
    main()

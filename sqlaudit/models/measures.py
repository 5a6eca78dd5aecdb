"""The loss measures: what each of them is, its range, and what may be concluded from it.

Every measure is a loss: smaller is better. Releases are compared by most of them (`OF_RELEASES`); a search in the
lattice minimizes some (`OF_NODES`), where all rows are recoded alike, so that a node costs the same arithmetic.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.result import Number

_LI = "Li, Wong, Fu, Pei: Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures, DaWaK 2006; "
_BARRIERS = "Wiegnand and Schallner: Barriers to the Implementation of k-Anonymity, 3.1"
_HSU = "Hsu: Database Anonymization and Protections of Sensitive Attributes, Lakehead University 2008, "
_GIONIS = "Gionis, Tassa: k-Anonymization with Minimal Loss of Information, ESA 2007; "


@dataclass(frozen=True)
class Measure:
    """A measure of what a release lost.

    Args:
        name, title, definition, source: for people. lowest, highest: its range, in words.
        by: what it is computed from: cells, classes, pairs, noise or levels.
        unit: what the mean is taken over: `cell`, `row`, or nothing when there is no mean.
        monotone: what is known of coarser releases: `yes` (it never falls), `classes` (it never falls while classes are
            merged as a whole), `no`. In a lattice, without suppressed rows, every measure is monotone.
        sensitive: whether it needs a sensitive attribute.
        complement: whether a comparison tells 1 − its mean, as the source does, so that there higher is better.
        cell: in a lattice: which cost of a cell it adds up (`leaves`, `level`, `entropy`, `monotone_entropy`,
            `size_bits`, `changed`, `risen`, `risen_by_weight`, `redacted`, `spread`), empty when it counts classes
            or levels.
        bounded: in a lattice: suppressing rows never lowers it.
    """

    name: str
    title: str
    definition: str
    source: str
    highest: str = "cells"
    lowest: str = "0"
    by: str = "cells"
    unit: str = "cell"
    monotone: str = "yes"
    sensitive: bool = False
    complement: bool = False
    cell: str = ""
    bounded: bool = True

    @property
    def needs_pairs(self) -> bool:
        """Return True if it must be known which released row belongs to which original row."""
        return self.by in ("pairs", "noise")

    @property
    def separable(self) -> bool:
        """True if a node's loss, without suppressed rows, is an increasing function of a sum over the columns. Only
        then weights of columns have a meaning."""
        return self.by in ("cells", "levels")

    def reported(self, lost: Number | None) -> Number | None:
        """A mean loss as a comparison tells it."""
        return 1 - lost if self.complement and lost is not None else lost


NOISE = "range-query-noise"
"""The one measure that asks random queries."""

MEASURES: Mapping[str, Measure] = {
    one.name: one
    for one in (
        Measure(
            "modification-rate",
            "modification rate",
            "Cells that are not the original value, as a share of all cells.",
            _LI + _BARRIERS,
            "1",
            cell="changed",
        ),
        Measure(
            "whd",
            "weighted hierarchical distance, uniform weights",
            "For each cell, the number of levels it was raised divided by the number of levels, "
            "Σ_{j=q+1..p} w_j / Σ_{j=2..h} w_j with w_j = 1.",
            _LI + _BARRIERS,
            cell="risen",
        ),
        Measure(
            "whd-height",
            "weighted hierarchical distance, height weights",
            "The same with w_j = 1/(j−1)^β, j counted from 1 = root: rising near the root costs more; β is --beta.",
            _LI + _BARRIERS,
            cell="risen_by_weight",
        ),
        Measure(
            "redactions",
            "redaction count",
            "Coarsened cells that may be any value of the column: `*`, or a label of all its values.",
            "Meyerson, Williams, PODS 2004; " + _HSU + "4.1",
            cell="redacted",
        ),
        Measure(
            "tree",
            "tree measure",
            "For each cell its level over the height of the hierarchy, r / l.",
            "Aggarwal et al., ICDT 2005; " + _HSU + "4.1",
            cell="risen",
        ),
        Measure(
            "entropy",
            "entropy",
            "Σ over cells of H(X | cell) in bits, X the column in the original.",
            _GIONIS + _HSU + "4.2.1",
            "not bounded by complete suppression",
            monotone="no",
            cell="entropy",
            bounded=False,
        ),
        Measure(
            "monotone-entropy",
            "monotone entropy",
            "Σ over cells of Pr(cell) · H(X | cell) in bits.",
            _GIONIS + _HSU + "4.2.4",
            "rows · Σ H(X)",
            cell="monotone_entropy",
        ),
        Measure(
            "non-uniform-entropy",
            "non-uniform entropy",
            "Σ over cells of −log2 Pr(value | cell).",
            _GIONIS + _HSU + "4.2.6",
            "rows · Σ H(X)",
            cell="size_bits",
        ),
        Measure(
            "loss",
            "loss metric (LM)",
            "For each cell (values under it − 1) / (values of the column − 1), values of the original.",
            "Iyengar: Transforming Data to Satisfy Privacy Constraints, KDD 2002",
            cell="leaves",
        ),
        Measure(
            "ncp",
            "normalized certainty penalty (NCP)",
            "For each cell of a numeric column the width of the values under it over the width of the column; else "
            "values under it over values of the column, 0 for one value.",
            "Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006",
            cell="spread",
        ),
        Measure(
            "precision",
            "precision",
            "1 − the mean over all cells of level / height.",
            "Sweeney: Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002",
            "1",
            unit="",
            complement=True,
            cell="level",
        ),
        Measure(
            "discernibility",
            "discernibility",
            "Σ over classes of rows squared, and for each suppressed row the rows of the original.",
            "Bayardo, Agrawal: Data Privacy through Optimal k-Anonymization, ICDE 2005",
            "rows squared",
            "rows",
            "classes",
            "row",
            "classes",
        ),
        Measure(
            "class-size",
            "average class size",
            "Released rows over classes.",
            "LeFevre, DeWitt, Ramakrishnan: Mondrian, ICDE 2006, without the division by k",
            "rows",
            "1",
            "classes",
            "",
            "classes",
        ),
        Measure(
            "variance-loss",
            "tuple-wise variance loss",
            "Σ over rows of EMD(class, table) in the original minus the same in the release: how much of the relation "
            "to the sensitive attribute is gone.",
            _HSU + "4.4.2",
            "the variance of the original",
            "0",
            "classes",
            "row",
            "classes",
            sensitive=True,
        ),
        Measure(
            "volume-inflation",
            "volume inflation",
            "Σ over rows of Pr(q*) / Pr(q): original rows in the region of the class over those with the row's values.",
            _HSU + "4.4.5",
            "rows · different tuples",
            "rows",
            "pairs",
            "row",
        ),
        Measure(
            "entropy-volume-inflation",
            "entropy volume inflation",
            "Σ over rows of log2 Pr(q*) / Pr(q).",
            _HSU + "4.4.5",
            "rows · H(tuples)",
            "0",
            "classes",
            "row",
        ),
        Measure(
            "independent-volume-inflation",
            "volume inflation under independence",
            "Σ over rows of Π over columns of Pr(cell) / Pr(value).",
            _HSU + "4.4.5",
            "rows · Π different values, for independent columns",
            "rows",
            "pairs",
            "row",
        ),
        Measure(
            "independent-entropy-volume-inflation",
            "entropy volume inflation under independence",
            "Σ over rows of log2 Π Pr(cell) / Pr(value): over all columns the same number as non-uniform entropy.",
            _HSU + "4.4.5",
            "rows · Σ H(X)",
            unit="row",
            cell="size_bits",
        ),
        Measure(
            "hybrid",
            "hybrid of variance and volume",
            "Σ over rows of (EMD before − EMD after) · Pr(q*) / Pr(q). May be negative: the source's Lemma 4.4.7 does "
            "not hold.",
            _HSU + "4.4.6",
            "not bounded by complete suppression",
            "not bounded by 0",
            "pairs",
            "row",
            "no",
            sensitive=True,
        ),
        Measure(
            "hybrid-log",
            "hybrid of variance and entropy volume",
            "Σ over rows of (EMD before − EMD after) · log2 Pr(q*) / Pr(q).",
            _HSU + "4.4.6",
            "not bounded by complete suppression",
            "not bounded by 0",
            "pairs",
            "row",
            "no",
            sensitive=True,
        ),
        Measure(
            NOISE,
            "noise of range queries",
            "Mean over rows of EMD(rows of the class that a range query selects, class), over random range queries: "
            "the sum over all subsets is infeasible, so it is estimated, with a standard error. For rows left out, the "
            "class is the whole table.",
            _HSU + "4.5",
            "1",
            "0",
            "noise",
            "",
            "no",
            sensitive=True,
        ),
        Measure(
            "height",
            "height",
            "The sum of the levels; suppressed rows cost nothing.",
            "Samarati: Protecting Respondents' Identities in Microdata Release, TKDE 2001",
            "the sum of the heights",
            by="levels",
            unit="",
        ),
    )
}
"""All measures by name, in the order of reports."""

OF_RELEASES: Mapping[str, Measure] = {name: one for name, one in MEASURES.items() if one.by != "levels"}
"""Those by which a release is compared with its original."""

OF_NODES: Mapping[str, Measure] = {
    name: MEASURES[name]
    for name in (
        "loss",
        "precision",
        "discernibility",
        "class-size",
        "entropy",
        "monotone-entropy",
        "non-uniform-entropy",
        "height",
        "modification-rate",
        "whd",
        "whd-height",
        "redactions",
        "tree",
        "entropy-volume-inflation",
        "independent-entropy-volume-inflation",
        "volume-inflation",
        "independent-volume-inflation",
        "ncp",
        "variance-loss",
        "hybrid",
        "hybrid-log",
        "range-query-noise",
    )
}
"""Those that a search minimizes. `loss` and `precision` are shares there: of `loss`, the columns come together as the
geometric mean of 1 + their mean, minus 1 (ARX's Loss); `precision` is the mean itself, 1 − what a comparison tells.
`modification-rate` counts every cell of a column above level 0 there, whatever its label reads like.
Those of a sensitive attribute measure with equal distances between values; the noise of range queries is of a hundred
queries, the same ones for every node.
`entropy` is monotone there because every row is recoded alike: the sum over the rows of a cell of H(X | cell) and of
−log2 Pr(value | cell) is the same number. Cell by cell it is not (Hsu, 4.2.3)."""


def find_measure(name: str, among: Mapping[str, Measure] = OF_NODES) -> Measure:
    """Return the measure of that name.

    Args:
        name: the name.
        among: the measures that are allowed.

    Raises:
        UsageError: there is none; the sentence names the closest.
    """
    if name in MEASURES and name not in among:  # every measure is one of nodes, so this asks for one of releases
        raise UsageError(
            f"The measure {name!r} is of nodes of a lattice, not of releases. Available: {', '.join(among)}."
        )
    if name not in among:
        raise UsageError(f"There is no measure {name!r}.{closest(name, among)} Available: {', '.join(among)}.")
    return among[name]


def chosen(names: Sequence[str]) -> tuple[Measure, ...]:
    """The measures of a comparison with these names, in the order of reports; all of them for none.

    Raises:
        UsageError: an unknown name.
    """
    allowed = {find_measure(name, OF_RELEASES).name for name in names} or OF_RELEASES
    return tuple(measure for name, measure in OF_RELEASES.items() if name in allowed)


# Seeded random range queries over quasi-identifiers: in the order of values, never by value.


@dataclass(frozen=True)
class RangeQuery:
    """A conjunction of ranges: for some columns (by place 1, 2, …) the numbers of the first and the last value."""

    ranges: tuple[tuple[int, int, int], ...]

    def parts(self) -> list[dict[str, int]]:
        """The ranges for templates."""
        return [{"place": position, "low": low, "high": high} for position, low, high in self.ranges]


def random_ranges(count: int, seed: int, domains: Sequence[tuple[int, int]]) -> list[RangeQuery]:
    """Random range queries.

    A query restricts a random number of random columns, each from one to another of two values drawn from the
    column's different values, both ends included.

    Args:
        count: how many. seed: the same seed gives the same queries.
        domains: (place, different values without NULL) of the columns.

    Example:
        >>> random_ranges(1, 0, [(1, 10)])[0].ranges
        ((1, 2, 5),)
    """
    generator = random.Random(f"{seed} None")
    domains_with_values = [(position, size) for position, size in domains if size > 0]
    queries = []
    for _ in range(count):
        chosen = (
            generator.sample(domains_with_values, generator.randint(1, len(domains_with_values)))
            if domains_with_values
            else []
        )
        ranges = []
        for position, size in sorted(chosen):
            low, high = sorted((generator.randrange(size), generator.randrange(size)))
            ranges.append((position, low, high))
        queries.append(RangeQuery(tuple(ranges)))
    return queries

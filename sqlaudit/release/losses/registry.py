"""The loss measures: what each of them is, its range, and what may be concluded from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest

_LI = "Li, Wong, Fu, Pei: Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures, DaWaK 2006; "
_BARRIERS = "Wiegand and Schallner: Barriers to the Implementation of k-Anonymity, 3.1"
_HSU = "Hsu: Database Anonymization and Protections of Sensitive Attributes, Lakehead University 2008, "
_GIONIS = "Gionis, Tassa: k-Anonymization with Minimal Loss of Information, ESA 2007; "


@dataclass(frozen=True)
class Measure:
    """A measure of what a release lost.

    Args:
        name, title, definition, source: for people. lowest, highest: its range, in words.
        monotone: what is known of coarser releases: `yes` (it never falls), `classes` (it never falls while classes are
            merged as a whole), `no`.
        higher_is_better: the direction; most measures are losses.
        by: what it is computed from: cells, classes, pairs or noise.
        unit: what the mean is taken over: `cell`, `row`, or nothing when there is no mean.
        sensitive: whether it needs a sensitive attribute.
    """

    name: str
    title: str
    definition: str
    source: str
    lowest: str
    highest: str
    monotone: str
    by: str
    unit: str = "row"
    higher_is_better: bool = False
    sensitive: bool = False

    @property
    def needs_pairs(self) -> bool:
        """Whether it must be known which released row belongs to which original row."""
        return self.by in ("pairs", "noise")


MEASURES: Mapping[str, Measure] = {
    one.name: one
    for one in (
        Measure(
            "modification-rate",
            "modification rate",
            "Cells that are not the original value, as a share of all cells.",
            _LI + _BARRIERS,
            "0",
            "1",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "whd",
            "weighted hierarchical distance, uniform weights",
            "For each cell the levels that it rose over the levels that there are, Σ_{j=q+1..p} w_j / Σ_{j=2..h} w_j "
            "with w_j = 1.",
            _LI + _BARRIERS,
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "whd-height",
            "weighted hierarchical distance, height weights",
            "The same with w_j = 1/(j−1)^β, j counted from 1 = root: rising near the root costs more; β is --beta.",
            _LI + _BARRIERS,
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "redactions",
            "redaction count",
            "Cells that may be any value of the column: `*`.",
            "Meyerson, Williams, PODS 2004; " + _HSU + "4.1",
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "tree",
            "tree measure",
            "For each cell its level over the height of the hierarchy, r / l.",
            "Aggarwal et al., ICDT 2005; " + _HSU + "4.1",
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "entropy",
            "entropy",
            "Σ over cells of H(X | cell) in bits, X the column in the original.",
            _GIONIS + _HSU + "4.2.1",
            "0",
            "not bounded by complete suppression",
            "no",
            "cells",
            "cell",
        ),
        Measure(
            "monotone-entropy",
            "monotone entropy",
            "Σ over cells of Pr(cell) · H(X | cell) in bits.",
            _GIONIS + _HSU + "4.2.4",
            "0",
            "rows · Σ H(X)",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "non-uniform-entropy",
            "non-uniform entropy",
            "Σ over cells of −log2 Pr(value | cell).",
            _GIONIS + _HSU + "4.2.6",
            "0",
            "rows · Σ H(X)",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "loss",
            "loss metric (LM)",
            "For each cell (values under it − 1) / (values of the column − 1), values of the original.",
            "Iyengar: Transforming Data to Satisfy Privacy Constraints, KDD 2002",
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "ncp",
            "normalized certainty penalty (NCP)",
            "For each cell of a numeric column the width of the values under it over the width of the column; else "
            "values under it over values of the column, 0 for one value.",
            "Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006",
            "0",
            "cells",
            "yes",
            "cells",
            "cell",
        ),
        Measure(
            "precision",
            "precision",
            "1 − the mean over all cells of level / height.",
            "Sweeney: Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002",
            "0",
            "1",
            "yes",
            "cells",
            "",
            higher_is_better=True,
        ),
        Measure(
            "discernibility",
            "discernibility",
            "Σ over classes of rows squared, and for each suppressed row the rows of the original.",
            "Bayardo, Agrawal: Data Privacy through Optimal k-Anonymization, ICDE 2005",
            "rows",
            "rows squared",
            "classes",
            "classes",
        ),
        Measure(
            "class-size",
            "average class size",
            "Released rows over classes.",
            "LeFevre, DeWitt, Ramakrishnan: Mondrian, ICDE 2006, without the division by k",
            "1",
            "rows",
            "classes",
            "classes",
            "",
        ),
        Measure(
            "variance-loss",
            "tuple-wise variance loss",
            "Σ over rows of EMD(class, table) in the original minus the same in the release: how much of the relation "
            "to the sensitive attribute is gone.",
            _HSU + "4.4.2",
            "0",
            "the variance of the original",
            "classes",
            "classes",
            sensitive=True,
        ),
        Measure(
            "volume-inflation",
            "volume inflation",
            "Σ over rows of Pr(q*) / Pr(q): original rows in the region of the class over those with the row's values.",
            _HSU + "4.4.5",
            "rows",
            "rows · different tuples",
            "yes",
            "pairs",
        ),
        Measure(
            "entropy-volume-inflation",
            "entropy volume inflation",
            "Σ over rows of log2 Pr(q*) / Pr(q).",
            _HSU + "4.4.5",
            "0",
            "rows · H(tuples)",
            "yes",
            "classes",
        ),
        Measure(
            "independent-volume-inflation",
            "volume inflation under independence",
            "Σ over rows of Π over columns of Pr(cell) / Pr(value).",
            _HSU + "4.4.5",
            "rows",
            "rows · Π different values, for independent columns",
            "yes",
            "pairs",
        ),
        Measure(
            "independent-entropy-volume-inflation",
            "entropy volume inflation under independence",
            "Σ over rows of log2 Π Pr(cell) / Pr(value): over all columns the same number as non-uniform entropy.",
            _HSU + "4.4.5",
            "0",
            "rows · Σ H(X)",
            "yes",
            "cells",
        ),
        Measure(
            "hybrid",
            "hybrid of variance and volume",
            "Σ over rows of (EMD before − EMD after) · Pr(q*) / Pr(q). May be negative: the source's Lemma 4.4.7 does "
            "not hold.",
            _HSU + "4.4.6",
            "not bounded by 0",
            "not bounded by complete suppression",
            "no",
            "pairs",
            sensitive=True,
        ),
        Measure(
            "hybrid-log",
            "hybrid of variance and entropy volume",
            "Σ over rows of (EMD before − EMD after) · log2 Pr(q*) / Pr(q).",
            _HSU + "4.4.6",
            "not bounded by 0",
            "not bounded by complete suppression",
            "no",
            "pairs",
            sensitive=True,
        ),
        Measure(
            "range-query-noise",
            "noise of range queries",
            "Mean over rows of EMD(rows of the class that a range query means, class), over random range queries: the "
            "sum over all subsets is out of reach, so it is estimated, with a standard error. Of rows left out "
            "the class is the table.",
            _HSU + "4.5",
            "0",
            "1",
            "no",
            "noise",
            "",
            sensitive=True,
        ),
    )
}
"""All measures by name, in the order of reports."""


def chosen(names: Sequence[str]) -> tuple[Measure, ...]:
    """The measures of these names in the order of reports; all of them for none.

    Raises:
        UsageError: an unknown name.
    """
    for name in names:
        if name not in MEASURES:
            raise UsageError(
                f"There is no measure {name!r}.{closest(name, MEASURES)} There are: {', '.join(MEASURES)}."
            )
    return tuple(one for name, one in MEASURES.items() if not names or name in names)

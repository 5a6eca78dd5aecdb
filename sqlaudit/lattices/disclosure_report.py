"""What a report tells of worst-case disclosure at the nodes of a lattice: entropy against disclosure, and all numbers.

For every value that the smallest entropy of a class takes, the least maximum disclosure of the nodes with it. Source:
Martin et al., Worst-Case Background Knowledge, section 4 and Figure 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from sqlaudit.lattices.result import LatticeResult
from sqlaudit.reports.blocks import Block, Column, Paragraph, Picture, Table
from sqlaudit.reports.figures import count, figure, listing, plural

MOST_CURVES = 8
"""So many numbers of pieces of knowledge can be told apart in one picture, and stand side by side in a table."""
MOST_LINES = 60
_KNOWLEDGE = {False: "any basic implications", True: "negated atoms only"}

Curves = dict[int, list[tuple[float, Fraction]]]
"""(entropy, least disclosure) by pieces of knowledge."""


def disclosure_blocks(result: LatticeResult) -> Iterator[Block]:
    """Pictures, tables and sentences, for each sensitive attribute and each kind of knowledge."""
    for sensitive in dict.fromkeys(node.sensitive for node in result.disclosures):
        asked = [point.k for point in result.disclosures[0].curve]
        shown = _some(asked)
        if len(shown) < len(asked):
            yield Paragraph(f"Shown for k = {listing(map(str, shown), MOST_CURVES)}; the JSON has all of {len(asked)}.")
        for negated, kind in _KNOWLEDGE.items():
            curves = {k: result.least_disclosure(k, sensitive, negated=negated) for k in shown}
            yield _picture(curves, sensitive, kind)
            yield _table(curves, sensitive, kind)
            yield Paragraph(_rises(curves))


def _some(asked: Sequence[int]) -> list[int]:
    """The numbers, or as many of them as can be shown, the first and the last among them."""
    if len(asked) <= MOST_CURVES:
        return list(asked)
    return sorted({asked[round(place * (len(asked) - 1) / (MOST_CURVES - 1))] for place in range(MOST_CURVES)})


def _picture(curves: Curves, sensitive: str, kind: str) -> Picture:
    return Picture(
        "curves",
        f"The least maximum disclosure of {sensitive} among nodes with the same smallest entropy of a class; {kind}",
        {
            "curves": {
                f"k = {k}": [(entropy, float(least)) for entropy, least in curve] for k, curve in curves.items()
            },
            "x": f"smallest entropy of {sensitive} in a class (nats)",
            "y": "least maximum disclosure",
            "legend": "lower left",
        },
    )


def _table(curves: Curves, sensitive: str, kind: str) -> Table:
    heads = (Column("smallest entropy", True), *(Column(f"k = {k}", True) for k in curves))
    lines = list(zip(*curves.values(), strict=True))
    rows = tuple((figure(line[0][0], 5), *(figure(least) for _, least in line)) for line in lines[:MOST_LINES])
    more = f"; the first {MOST_LINES} of {count(len(lines))} entropies" if len(lines) > MOST_LINES else ""
    return Table(heads, rows, f"Least disclosure of {sensitive}, {kind}{more}")


def _rises(curves: Curves) -> str:
    """How often more entropy goes with more disclosure; empty when it never does."""
    rises = {k: sum(after > before for (_, before), (_, after) in pairwise(curve)) for k, curve in curves.items()}
    said = listing((f"{count(times)} for k = {k}" for k, times in rises.items() if times), MOST_CURVES)
    steps = plural(max(map(len, curves.values())) - 1, "step")
    return f"Of the {steps} from one entropy to the next larger one, disclosure goes up in {said}." if said else ""

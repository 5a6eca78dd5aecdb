"""How a fact is folded over the cells of a class, in each of the two physical forms.

The macros in `sql_templates/classes/_facts.sql` say what a cell contributes; the objects here say how contributions
become one expression: a sum over lanes of a count vector (`PackedCells`), or an aggregate over rows of cells
(`LongCells`). Both give the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from sqlaudit.base.sql import environment

if TYPE_CHECKING:
    from sqlaudit.classes.facts import Fact

CellExpression = Callable[[str, str, str], str]
Lanes = Sequence[int]
_COMBINE = {"max": "GREATEST", "min": "LEAST"}
_AGGREGATE = {"sum": "SUM", "max": "MAX", "min": "MIN"}


@dataclass(frozen=True)
class PackedCells:
    """Cells of a count vector: lane i is the column `ci`, its total in the table is `totals[i]`."""

    dialect: str
    totals: tuple[int, ...]

    def fold(self, operation: str, lanes: Lanes | None = None, *, caller: CellExpression) -> str:
        """One expression over the lanes (all of them, or the given ones)."""
        chosen = range(len(self.totals)) if lanes is None else lanes
        return _combined(operation, [caller(f"c{lane}", str(self.totals[lane]), str(lane)) for lane in chosen])

    def head(self, count: int) -> str:
        """The sum of the `count` largest counts."""
        counts = [f"c{lane}" for lane in range(len(self.totals))]
        if count >= len(counts):
            return "n"
        if count == 1:
            return _combined("max", counts)
        return _macro("head_of_list", counts=counts, count=count, dialect=self.dialect)

    def top(self, count: int) -> str:
        """The `count` largest counts, as an array."""
        counts = [f"c{lane}" for lane in range(len(self.totals))]
        return _macro("top_of_list", counts=counts, count=count, dialect=self.dialect)

    def smallest_of(self, lanes: Lanes) -> str:
        """The smallest count among the lanes, 0 when one is absent."""
        return _combined("min", [f"c{lane}" for lane in lanes])

    def largest_l(self, numerator: int, denominator: int, lanes: Lanes | None, wide: str) -> str:
        """The largest l of recursive (c,l), for c = numerator/denominator and the largest count of the lanes."""
        chosen = range(len(self.totals)) if lanes is None else lanes
        if not chosen:
            return "CAST(NULL AS BIGINT)"
        return _macro(
            "largest_l_of_list",
            counts=[f"c{lane}" for lane in range(len(self.totals))],
            top=_combined("max", [f"c{lane}" for lane in chosen]),
            numerator=numerator,
            denominator=denominator,
            wide=wide,
            dialect=self.dialect,
        )

    def largest_set(self, sets: Sequence[Lanes]) -> str:
        """The rows of the largest of several sets of lanes."""
        return _combined("max", self._sums(sets))

    def head_of_sets(self, sets: Sequence[Lanes], j: int) -> str:
        """The rows of the j largest sets of lanes, added up."""
        return _head_of(self._sums(sets), j, self.dialect)

    @staticmethod
    def _sums(sets: Sequence[Lanes]) -> list[str]:
        return [_combined("sum", [f"c{lane}" for lane in lanes]) for lanes in sets]

    def place(self, places: Sequence[int], lane: str) -> str:
        """The place of a lane in an order."""
        return str(places[int(lane)])

    def grouped_distance(self, groups: Sequence[Lanes], wide: str, total: int) -> str:
        """Sum over groups of |count total - group's total n|."""
        terms = []
        for lanes in groups:
            count = _combined("sum", [f"c{lane}" for lane in lanes])
            terms.append(
                _macro("deviation", count=count, part=sum(self.totals[i] for i in lanes), wide=wide, total=total)
            )
        return _combined("sum", terms)

    def ordered_distance(self, order: Lanes, wide: str, total: int) -> str:
        """Sum over ranks of |cumulative count total - cumulative total n|; a negative lane is a value of no row."""
        parts = list(accumulate(self.totals[lane] if lane >= 0 else 0 for lane in order))
        terms = []
        for rank, part in enumerate(parts[:-1]):
            count = _combined("sum", [f"c{lane}" for lane in order[: rank + 1] if lane >= 0])
            terms.append(_macro("deviation", count=count, part=part, wide=wide, total=total))
        return _combined("sum", terms)


@dataclass(frozen=True)
class LongCells:
    """Cells as rows (id, n, lane, c, t) of the relation `long`, grouped by class."""

    dialect: str

    def fold(self, operation: str, lanes: Lanes | None = None, *, caller: CellExpression) -> str:
        """One aggregate over the rows of a class (of all lanes, or of the given ones)."""
        cell = caller("c", "t", "long.lane")
        if lanes is not None:
            if not lanes:
                return "0"
            cell = _macro("only_lanes", lanes=lanes, cell=cell)
        aggregate = _macro("aggregate", function=_AGGREGATE[operation], cell=cell)
        return aggregate if operation == "min" else _macro("or_zero", expression=aggregate)

    def head(self, count: int) -> str:
        """The sum of the `count` largest counts."""
        return _macro("head_of_rows", count=count, dialect=self.dialect)

    def top(self, count: int) -> str:
        """The `count` largest counts, as an array."""
        return _macro("top_of_rows", count=count, dialect=self.dialect)

    def smallest_of(self, lanes: Lanes) -> str:
        """The smallest count among the lanes, 0 when one is absent."""
        return _macro("smallest_of_rows", lanes=lanes) if lanes else "0"

    def largest_l(self, numerator: int, denominator: int, lanes: Lanes | None, wide: str) -> str:
        """The largest l of recursive (c,l), for c = numerator/denominator and the largest count of the lanes."""
        top = _top_name(lanes)
        return _macro("largest_l_of_rows", top=top, numerator=numerator, denominator=denominator, wide=wide)

    def largest_set(self, sets: Sequence[Lanes]) -> str:
        """The rows of the largest of several sets of lanes."""
        return _combined("max", self._sums(sets))

    def head_of_sets(self, sets: Sequence[Lanes], j: int) -> str:
        """The rows of the j largest sets of lanes, added up."""
        return _head_of(self._sums(sets), j, self.dialect)

    def _sums(self, sets: Sequence[Lanes]) -> list[str]:
        return [self.fold("sum", lanes, caller=lambda c, t, lane: c) for lanes in sets]

    def place(self, places: Sequence[int], lane: str) -> str:
        """The place of a lane in an order."""
        return _macro("place_of", places=places, lane=lane)

    def grouped_distance(self, groups: Sequence[Lanes], wide: str, total: int) -> str:
        """Sum over groups of |count total - group's total n|; computed beforehand in a relation of its own."""
        return _macro("level_value", level=level_name(groups))

    def ordered_distance(self, order: Lanes, wide: str, total: int) -> str:
        """Sum over ranks of |cumulative count total - cumulative total n|; the gaps are computed beforehand."""
        return "SUM(gap)"

    def preparations(self, totals: str, facts: Sequence[Fact], wide: str, total: int) -> str:
        """Relations that some facts need before the fold, as CTEs."""
        parts = [_macro("with_totals", totals=totals)]
        orders = [fact.arguments["order"] for fact in facts if fact.macro == "ordered_distance"]
        if orders:
            parts.append(_macro("with_gaps", order=orders[0], wide=wide, total=total))
        if self._needs_positions(facts):
            tops = {_top_name(lanes): lanes for lanes in _tops(facts)}
            parts.append(_macro("with_positions", before="gapped" if orders else "cells", tops=tops))
        for groups in self._levels(facts):
            parts.append(_macro("with_level", level=level_name(groups), groups=groups, wide=wide, total=total))
        return "\n".join(parts)

    def source(self, facts: Sequence[Fact]) -> str:
        """The FROM item that the fold reads."""
        ordered = any(fact.macro == "ordered_distance" for fact in facts)
        relation = "positioned" if self._needs_positions(facts) else "gapped" if ordered else "cells"
        return _macro("long_source", relation=relation, levels=[level_name(groups) for groups in self._levels(facts)])

    def _needs_positions(self, facts: Sequence[Fact]) -> bool:
        return bool(_tops(facts)) or (self.dialect != "duckdb" and any(fact.macro == "head" for fact in facts))

    @staticmethod
    def _levels(facts: Sequence[Fact]) -> list[Sequence[Lanes]]:
        return [fact.arguments["groups"] for fact in facts if fact.macro == "grouped_distance"]


def level_name(groups: Sequence[Lanes]) -> str:
    """A name for a level of a tree that depends only on how it groups the lanes."""
    return "level_" + "_".join(str(len(lanes)) for lanes in groups[:6]) + f"_{hash(tuple(map(tuple, groups))) % 10**8}"


def _head_of(counts: Sequence[str], j: int, dialect: str) -> str:
    if j >= len(counts):
        return _combined("sum", counts)
    return _macro("head_of_list", counts=counts, count=j, dialect=dialect) if j else "0"


def _tops(facts: Sequence[Fact]) -> list[Lanes | None]:
    return [fact.arguments.get("lanes") for fact in facts if fact.macro == "largest_l"]


def _top_name(lanes: Lanes | None) -> str:
    """A name for the largest count of some lanes that depends only on these."""
    return "top" if lanes is None else f"top_{len(lanes)}_{hash(tuple(lanes)) % 10**8}"


def _combined(operation: str, expressions: Sequence[str]) -> str:
    if not expressions:
        return "0"
    if len(expressions) == 1:
        return expressions[0]
    if operation == "sum":
        return "(" + " + ".join(expressions) + ")"
    return _COMBINE[operation] + "(" + ", ".join(expressions) + ")"


def _macro(name: str, **arguments: object) -> str:
    module = environment().get_template("classes/_cells.sql").module
    return str(getattr(module, name)(**arguments)).strip()

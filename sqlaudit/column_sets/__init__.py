"""Which sets of columns re-identify: search in the lattice of column sets."""

from sqlaudit.column_sets.request import ColumnRequest, Find, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Effect, Explanation
from sqlaudit.column_sets.search import find_columns

__all__ = [
    "ColumnRequest",
    "ColumnSet",
    "ColumnSets",
    "Effect",
    "Explanation",
    "Find",
    "RankBy",
    "Ratio",
    "find_columns",
]

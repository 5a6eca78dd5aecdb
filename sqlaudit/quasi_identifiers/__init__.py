"""Which sets of columns re-identify: search in the lattice of column sets."""

from sqlaudit.columns_result import ColumnSet, ColumnSets, Effect, Explanation
from sqlaudit.quasi_identifiers.request import ColumnRequest, Find, RankBy, Ratio
from sqlaudit.quasi_identifiers.search import find_columns

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

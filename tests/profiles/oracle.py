"""Column facts the slow and obvious way: one Python loop a figure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any


def facts(values: Sequence[Any], kind: str) -> dict[str, Any]:
    """What `ColumnFacts` says of a column with these values (None = NULL); floats are to be compared nearly."""
    filled = [value for value in values if value is not None]
    sizes = Counter(values).values()
    rows = len(values)
    pairs = [(i, j) for i in range(rows) for j in range(rows) if i != j]
    apart = sum(values[i] != values[j] for i, j in pairs)
    texts = filled if kind == "text" else []
    return {
        "rows": rows,
        "nulls": rows - len(filled),
        "distinct": len(set(filled)),
        "exact": True,
        "examined_rows": rows,
        "filled": len(filled),
        "smallest_group": min(sizes) if rows else None,
        "rows_below_5": sum(size for size in sizes if size < 5) if rows else None,
        "unique_rows": sum(size == 1 for size in sizes) if rows else None,
        "entropy": -sum(size / rows * math.log2(size / rows) for size in sizes) if rows else None,
        "separation": apart / len(pairs) if pairs else None,
        "shortest": min(map(len, texts)) if texts else None,
        "mean_length": sum(map(len, texts)) / len(texts) if texts else None,
        "longest": max(map(len, texts)) if texts else None,
        "whole_numbers": sum(value == math.floor(value) for value in filled)
        if kind in ("float", "decimal") and rows
        else None,
        "width": max(filled) - min(filled) if kind == "integer" and filled else None,
        "spelling_variants": len(set(texts)) - len({folded(text) for text in texts}),
    }


def folded(text: str) -> str:
    """A text without its case and with single spaces."""
    return re.sub(r"\s+", " ", text).strip().lower()


def says_the_same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether each of two columns follows from the other."""
    together = len(set(zip(first, second, strict=True)))
    return together == len(set(first)) == len(set(second))

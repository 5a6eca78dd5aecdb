"""Minimal sample uniques, found in the database: level by level into kept tables, or as one chain of CTEs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.records.result import Signature
from sqlaudit.engines.contract import Engine

_WORD_BITS = 62
_BATCH = 100
_TABLE = "sqlaudit_records_uniques_"


class Uniques:
    """The minimal sample uniques of up to `max_size` columns of every record.

    Args:
        engine: an open engine. coded: the rows. kept: what top records are shown by, in the target's own values.
    """

    def __init__(self, engine: Engine, coded: Coded, max_size: int, kept: Sequence[Raw] = ()) -> None:
        self.engine = engine
        self.coded = coded
        self.width = len(coded.missing)
        self.max_size = max_size
        self.kept = list(kept)
        self._words = -(-self.width // _WORD_BITS)
        self._levels = [
            [self._set(mask_of(chosen)) for chosen in combinations(range(self.width), size)]
            for size in range(1, max_size + 1)
        ]
        self._tables: dict[str, str] = {}
        if coded.coded:
            self._keep()

    def _keep(self) -> None:
        for sets in self._levels:
            smaller = [Raw(place) for place in self._tables.values()]
            fresh: dict[str, str] = {}
            for begin in range(0, len(sets), _BATCH):
                name = f"{_TABLE}{len(self._tables) + len(fresh)}"
                statement = render(
                    "column_sets/records/records_uniques.sql",
                    self.engine.dialect,
                    sets=sets[begin : begin + _BATCH],
                    source=self.coded.source,
                    tables=smaller,
                    words=self._words,
                    levels=[],
                    columns=None,
                    kept=[],
                )
                fresh[name] = self.engine.materialize(name, statement).sql
            self._tables.update(fresh)

    def close(self) -> None:
        """Release what was kept."""
        for name in self._tables:
            self.engine.drop(name)
        self._tables = {}

    def signatures(self) -> dict[Signature, int]:
        """How many records have 1, 2, … minimal sample uniques of each size; records without any are not listed."""
        rows = self._ask("column_sets/records/records_signatures.sql")
        return {tuple(int(count) for count in row[:-1]): int(row[-1]) for row in rows}

    def by_set(self) -> dict[int, int]:
        """For each column set (a mask) how many records it is a minimal sample unique of."""
        out = {}
        for row in self._ask("column_sets/records/records_by_set.sql"):
            mask = sum(int(word) << (number * _WORD_BITS) for number, word in enumerate(row[:-1]))
            out[mask] = int(row[-1])
        return out

    def top(self, limit: int, weights: Sequence[int]) -> list[tuple[tuple[Any, ...], Signature]]:
        """The records with the highest scores: the values of their kept columns, and their signature."""
        rows = self._ask(
            "column_sets/records/records_top.sql", limit=limit, weights=list(weights), shown=len(self.kept)
        )
        shown = len(self.kept)
        return [(tuple(row[:shown]), tuple(int(count) for count in row[shown:])) for row in rows]

    def statement(self, template: str, **parameters: Any) -> Statement:
        """A question about the minimal sample uniques."""
        return render(
            template,
            self.engine.dialect,
            tables=[Raw(place) for place in self._tables.values()],
            levels=self._levels,
            source=self.coded.source,
            columns=self.coded.columns,
            kept=self.kept,
            words=self._words,
            sizes=list(range(1, self.max_size + 1)),
            **parameters,
        )

    def _ask(self, template: str, **parameters: Any) -> list[Row]:
        return self.engine.run(self.statement(template, **parameters))

    def _set(self, mask: int) -> dict[str, Any]:
        low = (1 << _WORD_BITS) - 1
        return {
            "packed": self.coded.keys(mask),
            "words": [mask >> (_WORD_BITS * word) & low for word in range(self._words)],
            "size": mask.bit_count(),
            "nullable": [f"c{position}" for position in bits(mask & self.coded.nullable)],
        }

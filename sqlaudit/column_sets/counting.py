"""The module that asks the engine: figures of column sets, several in one statement, each counted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import render
from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.cuboids import Cuboids
from sqlaudit.column_sets.masks import bits
from sqlaudit.engines.contract import Engine

_BATCH = 20
"""Sets in one statement; more bring nothing and make the time budget coarse."""
_CLUSTER_BATCH = 100
"""The same where every statement has to be planned and sent to machines, which takes longer than counting a set."""


@dataclass(frozen=True)
class Figures:
    """What one GROUP BY says about a column set.

    Args:
        classes: equivalence classes; None where missing values match any value.
        min_size: rows (or persons) of the smallest class.
        at_risk: rows (or persons) in classes below k.
        unique: rows (or persons) alone in their class.
        pairs: ordered pairs of different rows in one class; None for persons and with wildcards.
    """

    classes: int | None
    min_size: int
    at_risk: int
    unique: int
    pairs: int | None


class SetCounter:
    """Figures of column sets over one target, remembered.

    `database` is where the target lies, `engine` where its rows are counted: mostly the same.

    A set whose column c follows from others in it (a subset has as many classes with c as without) has the figures
    of the set without c and is not counted again.
    """

    def __init__(self, engine: Engine, coded: Coded, k: int, nulls: NullPolicy) -> None:
        self.database = engine
        self.engine = coded.engine or engine
        self.coded = coded
        self.k = k
        self.nulls = nulls
        self.known: dict[int, Figures] = {}
        self.counted = 0
        self.derived = 0
        self.queries = 0
        self.stop: Stop = never
        self._follows: dict[int, list[int]] = {}
        counts_rows = coded.coded and coded.entity is None and nulls is not NullPolicy.WILDCARD
        self._cuboids = Cuboids(self.engine, coded) if counts_rows else None

    @property
    def total(self) -> int:
        """Rows, or persons where an entity is given."""
        return self.coded.persons

    @property
    def on_cluster(self) -> bool:
        """Whether rows are counted where they are, on machines for which a statement is work by itself."""
        return self.engine.can_materialize and not self.engine.own_workbench

    def figures(self, masks: Sequence[int]) -> list[Figures]:
        """The figures of several sets, in order; what is counted is remembered even when the budget ends.

        Raises:
            BudgetSpent: between two statements; the first one always runs.
        """
        waiting = []
        for mask in dict.fromkeys(masks):
            if mask not in self.known and not self._derive(mask):
                waiting.append(mask)
        for number, batch in enumerate(self._batches(waiting)):
            if number and self.stop():
                raise BudgetSpent
            self._count(batch)
        return [self.known[mask] for mask in masks]

    def expect(self, masks: Sequence[int]) -> None:
        """Prepare for many sets that will be counted: wide sets with few classes are kept to count them from."""
        if self._cuboids is not None:
            fresh = [mask for mask in masks if mask not in self.known]
            self._cuboids.plan(fresh, lambda mask: self.known[mask].classes if mask in self.known else None, self.stop)

    def close(self) -> None:
        """Release what was kept."""
        if self._cuboids is not None:
            self._cuboids.close()

    def statements(self, masks: Sequence[int]) -> list[Statement]:
        """The statements that would count these sets."""
        return [self._statement(batch) for batch in self._batches(masks)]

    def _batches(self, masks: Sequence[int]) -> list[Sequence[int]]:
        size = 1 if self.nulls is NullPolicy.WILDCARD else _CLUSTER_BATCH if self.on_cluster else _BATCH
        return [masks[begin : begin + size] for begin in range(0, len(masks), size)]

    def identifies_all(self, masks: Sequence[int], whole: int) -> None:
        """Note sets that tell apart exactly the rows that all columns tell apart: they have the same classes."""
        for mask in masks:
            if mask not in self.known:
                self.known[mask] = self.known[whole]
                self.derived += 1

    def learn(self, mask: int, figures: Figures) -> None:
        """Note the figures of a set that somebody else counted."""
        if mask not in self.known:
            self.known[mask] = figures
            self.counted += 1
            self._learn(mask)

    def mixed_classes(self, masks: Sequence[int]) -> list[int]:
        """For several sets: classes with two persons whose rows differ in some other column."""
        sets = [self._set(number, mask) for number, mask in enumerate(masks)]
        every = [f"c{position}" for position in range(len(self.coded.missing))]
        solo = self.coded.nullable if self.nulls is NullPolicy.DISTINCT else 0
        statement = render(
            "column_sets/columns_count_mixed.sql",
            self.engine.dialect,
            sets=sets,
            names=every,
            all_nullable=_names(bits(solo)),
            **self.coded.parameters(),
        )
        self.queries += 1
        self.counted += len(masks)
        mixed = {int(number): int(count) for number, count in self.engine.run(statement)}
        return [mixed.get(number, 0) for number in range(len(masks))]

    def _count(self, masks: Sequence[int]) -> None:
        rows = self.engine.run(self._statement(masks))
        self.queries += 1
        self.counted += len(masks)
        for row in rows:
            mask = masks[int(row[0])]
            self.known[mask] = _read(row, self.nulls is not NullPolicy.WILDCARD)
        for mask in masks:
            self.known.setdefault(mask, Figures(0, 0, 0, 0, 0))
            self._learn(mask)

    def _statement(self, masks: Sequence[int]) -> Statement:
        parameters = {**self.coded.parameters(), "k": self.k}
        if self.nulls is NullPolicy.WILDCARD:
            return render(
                "column_sets/columns_count_wildcard.sql",
                self.engine.dialect,
                set=self._wildcard(0, masks[0]),
                **parameters,
            )
        template = (
            "column_sets/columns_count_persons.sql"
            if self.coded.entity is not None
            else "column_sets/columns_count_sets.sql"
        )
        sets = [self._set(number, mask) for number, mask in enumerate(masks)]
        return render(template, self.engine.dialect, sets=sets, **parameters)

    def _set(self, number: int, mask: int) -> dict[str, Any]:
        keys = self.coded.keys(mask)
        solo = mask & self.coded.nullable if self.nulls is NullPolicy.DISTINCT else 0
        return {
            "number": number,
            "cuboid": self._cuboids.source(mask) if self._cuboids else None,
            "packed": keys,
            "key_names": [f"k{i}" for i in range(len(keys))],
            "nullable": _names(bits(solo)),
        }

    def _wildcard(self, number: int, mask: int) -> dict[str, Any]:
        nullable = mask & self.coded.nullable
        return {"number": number, "solid": _names(bits(mask & ~nullable)), "nullable": _names(bits(nullable))}

    def _derive(self, mask: int) -> bool:
        for column in bits(mask):
            rest = mask ^ (1 << column)
            if rest in self.known and any(left & rest == left for left in self._follows.get(column, ())):
                self.known[mask] = self.known[rest]
                self.derived += 1
                return True
        return False

    def _learn(self, mask: int) -> None:
        """Note that a column follows from the others when it splits no class of theirs."""
        classes = self.known[mask].classes
        if classes is None:
            return
        for column in bits(mask):
            rest = mask ^ (1 << column)
            other = self.known.get(rest)
            if other is not None and other.classes == classes:
                follows = self._follows.setdefault(column, [])
                if not any(left & rest == left for left in follows):
                    follows.append(rest)


def _names(positions: Iterable[int]) -> list[str]:
    return [f"c{position}" for position in positions]


def _read(row: Row, has_classes: bool) -> Figures:
    """Sums over no rows at all are NULL and mean 0; a NULL of classes means that there are none to count."""
    numbers = [None if value is None else int(value) for value in row[1:]]
    classes, smallest, at_risk, unique, pairs = numbers
    return Figures((classes or 0) if has_classes else None, smallest or 0, at_risk or 0, unique or 0, pairs)

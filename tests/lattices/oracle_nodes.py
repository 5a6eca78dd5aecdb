"""Brute force over a whole lattice: every row relabelled, then audited from the definitions. Slow and obvious."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from sqlaudit.base.spec import Requirement
from sqlaudit.models.registry import REGISTRY
from tests import oracle
from tests.models import oracle_rare
from tests.models.disclosure import oracle as disclosure_oracle

Row = Mapping[str, Any]
Node = tuple[int, ...]
Labels = Mapping[Any, tuple[Any, ...]]
"""For each value (None too) its labels from level 1 to the one below the top."""


@dataclass(frozen=True)
class Lattice:
    """A table with a hierarchy a column: `labels[column]`, None for a column that is kept."""

    rows: Sequence[Row]
    labels: Mapping[str, Labels | None]
    sensitive: Sequence[str]
    entity: str | None = None
    nulls: str = "equal"
    given: oracle_rare.Given | None = None
    joint: bool = False
    diluted: bool = False

    @property
    def heights(self) -> tuple[int, ...]:
        return tuple(0 if labels is None else _depth(labels) + 1 for labels in self.labels.values())

    @property
    def names_missing(self) -> bool:
        """Whether NULL, which matches any value, has a label below the top, and then no longer does."""
        return self.nulls == "wildcard" and any(
            labels is not None and row[column] is None and set(labels[None]) != {None}
            for column, labels in self.labels.items()
            for row in self.rows
            if labels is not None and _depth(labels)
        )

    def nodes(self) -> list[Node]:
        return list(product(*(range(height + 1) for height in self.heights)))

    def label(self, column: str, value: Any, level: int) -> Any:
        labels = self.labels[column]
        if level == 0:
            return value
        if labels is None or level > _depth(labels):
            return "*"
        return labels[value][level - 1]

    def at(self, node: Node, rows: Sequence[Row]) -> list[Row]:
        """Rows with the labels of a node."""
        levels = dict(zip(self.labels, node, strict=True))
        return [{**row, **{c: self.label(c, row[c], level) for c, level in levels.items()}} for row in rows]

    def table(self, node: Node, sensitive: str | None) -> oracle.Table:
        others = [one for one in self.sensitive if one != sensitive] if self.joint else []
        keys = [*self.labels, *others]
        return oracle.table_of(self.at(node, self.rows), keys, sensitive, self.entity, self.nulls)

    def given_at(self, node: Node) -> oracle_rare.Given | None:
        """The further inputs, with the population recoded; its original columns stay beside the recoded ones."""
        if self.given is None:
            return None
        original = [f"original {column}" for column in self.given.original]
        people = [
            {**row, **{name: before[column] for name, column in zip(original, self.given.original, strict=True)}}
            for row, before in zip(self.at(node, self.given.population), self.given.population, strict=True)
        ]
        return replace(self.given, population=people, original=original)


def _depth(labels: Labels) -> int:
    return len(next(iter(labels.values())))


@dataclass(frozen=True)
class Expected:
    """What a verdict must say; `fails` are the texts of the requirements that are not met."""

    safe: bool
    prunable_safe: bool
    classes: int
    smallest: int
    failing_rows: int
    fails: frozenset[str]


@dataclass(frozen=True)
class Found:
    """A requirement over the classes of one sensitive attribute."""

    requirement: Requirement
    sensitive: str | None
    table: oracle.Table
    expected: oracle.Expected

    @property
    def of_classes(self) -> bool:
        """Whether classes fail the requirement, and not the table as a whole."""
        model = REGISTRY[self.requirement.model]
        return not (model.verdict_by_level or self.requirement.model == "c_k_safety" or model.own_statements)

    @property
    def failing(self) -> set[int]:
        """The places of the classes that fail; a class has the same place in the tables of all attributes."""
        if not self.of_classes or self.expected.holds is not False:
            return set()
        groups = self.table.groups
        return {place for place, group in enumerate(groups) if any(group is one for one in self.expected.failing)}


Required = Sequence[tuple[Requirement, str | None]]


def verdict(lattice: Lattice, node: Node, required: Required, limit: Fraction) -> Expected:
    """The verdict of a node under (requirement, sensitive attribute) pairs."""
    first = lattice.sensitive[0] if lattice.sensitive else None
    tables = {s: lattice.table(node, s) for s in dict.fromkeys([first, *(s for _, s in required)])}
    table = tables[first]
    limit_rows = math.floor(limit * table.rows)
    found = [Found(r, s, tables[s], _holds(lattice, node, r, s, tables[s])) for r, s in required]
    pruning = [one for one in found if not lattice.names_missing and inherited(one.requirement, limit_rows)]
    failing = _rows(found, lattice.joint)
    return Expected(
        _safe(found, failing, limit_rows),
        _safe(pruning, _rows(pruning, lattice.joint), limit_rows),
        len(table.groups),
        min((group.size for group in table.groups), default=0),
        failing,
        frozenset(one.requirement.text for one in found if one.expected.holds is False),
    )


def inherited(requirement: Requirement, limit_rows: int) -> bool:
    model = REGISTRY[requirement.model]
    return model.inherited_with_limit if limit_rows else model.inherited


def _rows(found: Sequence[Found], joint: bool) -> int:
    """Rows of classes that fail, each class once; with joint classes, those of the worst attribute."""
    if joint:
        each = {s: [one for one in found if one.sensitive == s] for s in {one.sensitive for one in found}}
        return max((_rows(one, False) for one in each.values()), default=0)
    places = set().union(*(one.failing for one in found)) if found else set()
    return sum(found[0].table.groups[place].rows for place in places)


def _safe(found: Sequence[Found], failing_rows: int, limit_rows: int) -> bool:
    whole = [one for one in found if not one.of_classes]
    return failing_rows <= limit_rows and all(one.expected.holds is not False for one in whole)


def _holds(lattice: Lattice, node: Node, r: Requirement, s: str | None, table: oracle.Table) -> oracle.Expected:
    if not table.rows:
        return oracle.Expected(None, None, None, None)
    if r.model == "c_k_safety":
        classes = [list(group.counts.values()) for group in table.groups]
        worst = disclosure_oracle.maximum(classes, r.parameters.get("k", 3))
        return oracle.Expected(worst, worst < r.parameters["c"], None, None)
    if r.model in oracle.MODELS and not (r.model == "t_closeness_ordered" and lattice.given):
        return oracle.MODELS[r.model](table, **r.parameters)
    given = lattice.given_at(node)
    assert given is not None
    more = {"diluted": True} if r.model == "d_density_control" and lattice.diluted else {}
    return oracle_rare.MODELS[r.model](table, given, **r.parameters, **more)


def failing_keys(lattice: Lattice, node: Node, required: Required) -> set[tuple[Any, ...]]:
    """The keys of the classes that fail."""
    found = []
    for r, s in required:
        table = lattice.table(node, s)
        found.append(Found(r, s, table, _holds(lattice, node, r, s, table)))
    return {one.table.groups[place].key for one in found for place in one.failing}


def parts(
    lattice: Lattice, node: Node, failing_keys: set[tuple[Any, ...]], weights: Mapping[tuple[int, int, Any], float]
) -> dict[str, Any]:
    """The figures of losses: classes, kept ones, squares, and for each column weights and bits of suppressed rows.

    `weights` are by position, level and label.
    """
    rows = lattice.at(node, lattice.rows)
    keys = [tuple(row[c] for c in lattice.labels) for row in rows]
    sizes = Counter(keys)
    kept = {key: n for key, n in sizes.items() if key not in failing_keys}
    suppressed = [i for i, key in enumerate(keys) if key in failing_keys]
    weighed, bits, top = [], [], []
    for position, (column, level) in enumerate(zip(lattice.labels, node, strict=True)):
        weighed.append(math.fsum(weights.get((position, level, keys[i][position]), 0.0) for i in suppressed))
        values = Counter(row[column] for row in lattice.rows)
        labels = Counter(lattice.label(column, row[column], level) for row in lattice.rows)
        here = [(lattice.rows[i][column], keys[i][position]) for i in suppressed]
        bits.append(-math.fsum(math.log2(values[value] / labels[label]) for value, label in here))
        top.append(-math.fsum(math.log2(values[value] / len(rows)) for value, _ in here))
    return {
        "classes": len(sizes),
        "kept_classes": len(kept),
        "failing_rows": len(suppressed),
        "kept_squares": sum(n * n for n in kept.values()),
        "failing_weights": weighed,
        "failing_bits": bits,
        "failing_bits_at_top": top,
    }

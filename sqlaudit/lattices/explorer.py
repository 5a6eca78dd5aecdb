"""The lattice of one table, open for questions: every node decided at once, single nodes and proposals on request.

    request = LatticeRequest(target, roles, requirements, hierarchies=..., suppression=Fraction(2, 100))
    with Explorer.open(None, request) as explorer:     # None: an engine of its own, else one that stays open
        explorer.columns, explorer.rows                # LatticeColumn: .name, .levels (names), .height, .groups
        explorer.nodes()                               # all nodes, decided and priced (the first call computes them)
        explorer.node((4, 5, 0, 0, 1, 1))              # or {"age": "10 years"}: levels by number or name, others 0
        explorer.frontier(), explorer.proposals()      # of a proposal: .name, .node
        explorer.labels("age", 1)                      # the first labels of a level

The figures are those of `lattice` and of an audit of the release: same histogram, same models, same losses. The table
is read once, when it is opened; afterwards only its histogram is. An interrupt (`engine.cancel()`, Ctrl-C, a `stop`
that returns True) ends a question, and the next one starts anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import cached_property
from types import TracebackType
from typing import Self

from sqlaudit.base.errors import BudgetSpent, OutOfRange, Stop, Undecidable, UsageError, never
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest_column
from sqlaudit.base.spec import Limits
from sqlaudit.base.sql import render
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.answer import MOST_PRICED, LatticeSearch, columns_of
from sqlaudit.lattices.proposals import Named, least_of, propose, rank_of
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.lattices.result import LatticeColumn
from sqlaudit.lattices.run import open_searched_table, opened_search
from sqlaudit.lattices.swept import NodeSweep
from sqlaudit.lattices.verdicts import Node, Shortfall, Verdict

PRICED = Fraction(1, 10)
"""Share of rows left out up to which the nodes of a lattice are priced, if the suppression limit is not larger."""
MOST_LABELS = 40
"""Labels of a level that a preview shows."""
SWEPT_BYTES, SHARE_OF_MEMORY = 256, 4
"""Memory that a sweep takes for each of the finest classes, as measured, and the share of what statements may take (see
`Limits.memory`) that it may take. Above it statements decide the nodes: it takes longer, and gives the same figures."""
_AT_ONCE = 500
"""Nodes that statements decide between two looks at `stop`."""


@dataclass(frozen=True)
class ExploredNode:
    """A node of the lattice.

    Args:
        levels: in the order of the columns.
        rows_left_out: rows in classes that fail, which its release leaves out.
        meets: True if these are within the suppression limit and all other requirements are met.
        loss: under the measure of the request, these rows left out; None where it was not computed, because they are
            more than the limit and a tenth of all rows, and the node was not asked for by its levels.
        classes: equivalence classes, failing ones included.
        smallest, smallest_left: rows (people, with an entity) of the smallest class, and of the smallest that does not
            fail; None where the latter is not known.
        fails: the requirements that classes fail; empty unless the node was asked for by its levels.
        figures_fail: True if a figure of the whole table fails, which leaving out rows does not change.
    """

    levels: Node
    rows_left_out: int
    meets: bool
    loss: float | None
    classes: int
    smallest: int
    smallest_left: int | None
    fails: tuple[Shortfall, ...] = ()

    figures_fail: bool = False

    @property
    def failing_rows(self) -> int:
        """Rows that its release leaves out."""
        return self.rows_left_out

    def meets_with(self, limit_rows: int) -> bool:
        """Return True if it is safe when at most so many rows may be left out."""
        return self.rows_left_out <= limit_rows and not self.figures_fail


@dataclass(frozen=True)
class LevelLabels:
    """The labels of a level, in the order of their values.

    Args:
        groups: number of labels; missing is one.
        labels: the first of them; None for missing.
    """

    groups: int
    labels: tuple[str | None, ...]


class Explorer:
    """The lattice of one table, open for questions. Make one with `open`."""

    def __init__(self, engine: Engine, search: LatticeSearch, opened: ExitStack) -> None:
        self._engine, self._search, self._opened = engine, search, opened
        self._nodes: tuple[ExploredNode, ...] = ()
        self.columns: tuple[LatticeColumn, ...] = tuple(one for one in columns_of(search) if one.use != "drop")
        self.rows: int = search.evaluator.rows
        self.limit_rows: int = search.evaluator.limit_rows

    @classmethod
    def open(cls, engine: Engine | None, request: LatticeRequest, limits: Limits | None = None) -> Explorer:
        """Open a table, count it, and keep its histogram until `close`.

        Args:
            engine: an open engine, which stays open; None for one of its own, for files and frames.
            request: the table, its roles, hierarchies, requirements, suppression limit and measure.
            limits: of an engine of its own.

        Raises:
            UsageError: a request that does not fit the table, a table without rows, or a lattice of too many nodes.
        """
        with ExitStack() as stack:
            if engine is None:
                engine = stack.enter_context(connect(None, limits, *request.targets))
            searched = open_searched_table(engine, request)
            nodes = math.prod(hierarchy.height + 1 for hierarchy in searched.hierarchies if hierarchy.takes_part)
            if nodes > MOST_PRICED:
                raise Undecidable(
                    f"The lattice has {nodes:,} nodes; at most {MOST_PRICED:,} can be explored. Leave out levels of "
                    "the hierarchies, or quasi-identifiers."
                )
            search = stack.enter_context(opened_search(engine, request, searched))
            if not search.evaluator.rows:
                raise UsageError(f"{searched.opened.relation.label} has no rows.")
            return cls(engine, search, stack.pop_all())

    def close(self) -> None:
        """Drop the histogram, and close an engine of its own; safe to call twice."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def nodes(self, stop: Stop = never) -> tuple[ExploredNode, ...]:
        """Return all nodes, in the order of their levels; they are computed once.

        Raises:
            BudgetSpent: `stop` returned True.
        """
        if not self._nodes:
            self._nodes = tuple(self._explore(list(self._search.section.nodes()), stop, every=True))
        return self._nodes

    def node(self, levels: Sequence[int | str] | Mapping[str, int | str]) -> ExploredNode:
        """Return one node.

        Args:
            levels: of all columns in their order, or of columns by name, others at level 0; numbers or names.

        Raises:
            UsageError: no such column or level.
        """
        (node,) = self._explore([self._levels(levels)], never, every=False)
        return node

    def frontier(self) -> tuple[ExploredNode, ...]:
        """Return the priced nodes that no other beats, fewest rows left out first.

        A node beats another one if it leaves out no more rows and loses no more, and one of them is less. Of nodes that
        are equal in both the one of the finest levels is there.
        """
        front: list[ExploredNode] = []
        for node in sorted(self._priced(self.nodes()), key=lambda one: (one.rows_left_out, *rank_of(one))):
            if not front or rank_of(node)[0] < rank_of(front[-1])[0]:
                front.append(node)
        return tuple(front)

    def proposals(self, limit_rows: int | None = None) -> tuple[Named[ExploredNode], ...]:
        """Return at most three safe nodes that differ for a reader, by the rule of `lattices.proposals`.

        Args:
            limit_rows: at most so many rows may be left out, of priced nodes; None = as many as the request allows.
        """
        limit = self.limit_rows if limit_rows is None else limit_rows
        safe = [node for node in self._priced(self.nodes()) if node.meets_with(limit)]
        (top,) = self._search.price([self._search.section.top])
        if not safe:
            return ()
        columns = [(column.name, column.height) for column in self.columns]
        return tuple(propose(min(safe, key=rank_of), least_of(safe), columns, top))

    def labels(self, column: str, level: int | str = 0) -> LevelLabels:
        """Return the first labels of a level; at level 0 these are values.

        Args:
            column: its name. level: its number or name.

        Raises:
            UsageError: no such column or level.
        """
        place = self._place(column)
        number = self._level(place, level)
        if number and number == self.columns[place].height:
            return LevelLabels(1, ("*",))
        workbench = self._search.workbench
        statement = render(
            "lattices/lattice_level_labels.sql",
            workbench.dialect,
            step="labels of a level",
            dictionary=list(self._search.dictionaries.values())[place].relation,
            level=number,
            most=MOST_LABELS,
        )
        labels, counts = zip(*workbench.run(statement), strict=True)
        return LevelLabels(int(counts[0]), labels)

    # --- columns and levels ---

    def _levels(self, levels: Sequence[int | str] | Mapping[str, int | str]) -> Node:
        if isinstance(levels, Mapping):
            named = {self._place(column): level for column, level in levels.items()}
            levels = [named.get(place, 0) for place in range(len(self.columns))]
        if len(levels) != len(self.columns):
            raise UsageError(f"A node needs one level for each of the {len(self.columns)} columns, not {len(levels)}.")
        return tuple(self._level(place, level) for place, level in enumerate(levels))

    def _place(self, column: str) -> int:
        names = [one.name for one in self.columns]
        if column not in names:
            raise UsageError(f"{column!r} is not a column of the lattice.{closest_column(column, names)}")
        return names.index(column)

    def _level(self, place: int, level: int | str) -> int:
        column = self.columns[place]
        if isinstance(level, str):
            hierarchy = next(one for one in self._search.hierarchies if one.column == column.name)
            return hierarchy.level_named(level)
        if not 0 <= level <= column.height:
            raise OutOfRange(f"{column.name} has no level {level}. Its levels are 0 to {column.height}.")
        return level

    # --- nodes ---

    @cached_property
    def _sweep(self) -> NodeSweep | None:
        """Return what decides all nodes in memory; None where these take too much of it, or are audited one by one."""
        memory, classes = self._search.workbench.memory(), self._search.evaluator.tuples
        if memory is not None and classes * SWEPT_BYTES > memory // SHARE_OF_MEMORY:
            return None
        return self._search.evaluator.sweep(self._search.losses)

    def _explore(self, nodes: Sequence[Node], stop: Stop, *, every: bool) -> list[ExploredNode]:
        """Return nodes with their figures and losses, in their order."""
        priced_rows = max(self.limit_rows, int(PRICED * self.rows)) if every else self.rows
        decided: dict[Node, tuple[Verdict, float | None]] = {}
        if self._sweep is None:
            for start in range(0, len(nodes), _AT_ONCE):
                if stop():
                    raise BudgetSpent
                decided |= self._ask(nodes[start : start + _AT_ONCE], priced_rows)
        elif every:
            decided = {verdict.node: (verdict, loss) for verdict, loss in self._sweep.nodes(nodes, priced_rows, stop)}
        else:
            decided = {node: self._sweep.node(node) for node in nodes}
        if self._sweep is not None and not self._search.losses.of_classes:
            decided |= self._price([verdict for verdict, _ in decided.values() if verdict.safe])
        return [_explored(*decided[node], with_fails=not every) for node in nodes]

    def _ask(self, nodes: Sequence[Node], priced_rows: int) -> dict[Node, tuple[Verdict, float | None]]:
        """Return what a sweep returns of nodes, by statements over their classes."""
        verdicts = self._search.evaluator.decide(nodes)
        decided: dict[Node, tuple[Verdict, float | None]] = {verdict.node: (verdict, None) for verdict in verdicts}
        if not self._search.losses.of_classes or not self._search.evaluator.classes_decide:
            return decided | self._price([verdict for verdict in verdicts if verdict.safe])
        priced = [verdict for verdict in verdicts if verdict.failing_rows <= priced_rows]
        return decided | self._price(priced, leave_out=True)

    def _price(
        self, verdicts: Sequence[Verdict], *, leave_out: bool = False
    ) -> dict[Node, tuple[Verdict, float | None]]:
        losses = self._search.price([verdict.node for verdict in verdicts], leave_out=leave_out)
        return {verdict.node: (verdict, loss) for verdict, loss in zip(verdicts, losses, strict=True)}

    def _priced(self, nodes: Sequence[ExploredNode]) -> list[ExploredNode]:
        return [node for node in nodes if node.loss is not None]


def _explored(verdict: Verdict, loss: float | None, *, with_fails: bool) -> ExploredNode:
    return ExploredNode(
        verdict.node,
        verdict.failing_rows,
        verdict.safe,
        loss,
        verdict.classes,
        verdict.smallest,
        verdict.smallest_left if verdict.failing_rows else verdict.smallest,
        verdict.fails if with_fails else (),
        any(shortfall.classes is None for shortfall in verdict.fails),
    )

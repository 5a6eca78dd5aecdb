"""Verdicts of nodes of the lattice, from one of two forms: counts of the coded histogram, or an audit of every node.

A node is safe when the rows in classes that fail any requirement number at most floor(limit * rows). Figures of the
whole table are compared with their limits as an audit does.

- `CountedNodes` rolls the histogram up from node to node (`rollup`) and decides by count vectors (`figures`). Where
  sizes alone decide (only k is required), classes of up to half a million leave the database and are rolled up in
  memory (`sizes`): 2 to 3 times faster than statements for tables of 9 and 12 columns, and the same.
- `AuditedNodes` audits nodes one by one where a model or a role needs more than count vectors (a population, an
  entity, NULLs that match anything): 1.6 to 7 times slower than the histogram, and the same.

`docs/performance.md`, "How a node is decided", has the figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy, Requirement, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.audits import AuditedTable, audited_nodes
from sqlaudit.lattices.coding import (
    LANES,
    Attribute,
    KeyColumn,
    KeyLayout,
    base_histogram,
    code_values,
    hand_over_rows,
    inherited,
    read_attributes,
)
from sqlaudit.lattices.figures import NodeFigures
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.parts import NodeLosses
from sqlaudit.lattices.rollup import Rollup
from sqlaudit.lattices.sizes import NodeSizes
from sqlaudit.lattices.swept import NodeSweep, open_sweep
from sqlaudit.lattices.verdicts import CellWeight, LossParts, Node, NodeClasses, Verdict
from sqlaudit.models.measures import Measure


class NodeJudge(Protocol):
    """Decides nodes in one of the forms, and describes what their losses depend on."""

    @property
    def tuples(self) -> int:
        """Classes of the finest node."""

    def verdicts(self, nodes: Sequence[Node]) -> list[Verdict]:
        """Return the verdicts in the order of the nodes."""

    def parts(self, nodes: Sequence[Node], weights: tuple[CellWeight, ...], wanted: Collection[str]) -> list[LossParts]:
        """Return the parts of losses of the nodes, in their order."""

    def classes(self, nodes: Sequence[Node], knowledge: int) -> Iterator[NodeClasses]:
        """Yield the classes of the nodes for up to so many pieces of knowledge."""

    def release(self) -> None:
        """Drop what was kept between questions."""


@dataclass(eq=False)
class CountedNodes:
    """Decides nodes on a coded histogram.

    Args:
        workbench: where the histogram lies.
        layout: the columns' places in its key.
        base: the histogram.
        attributes: the requirements of each sensitive attribute.
        rows: rows of the table.
        limit_rows: how many of them may be suppressed.
        of_values: the loss that looks at the sensitive attribute; None if none does.
        some_classes: True if classes that fail may be enough for the figures of an unsafe node below the top.
    """

    workbench: Engine
    layout: KeyLayout
    base: Relation
    attributes: Sequence[Attribute]
    rows: int
    limit_rows: int
    of_values: Measure | None
    some_classes: bool = False

    def __post_init__(self) -> None:
        words = [word for attribute in self.attributes for word in attribute.words]
        self._rollup = Rollup(self.workbench, self.layout, self.base, words)
        self._figures = NodeFigures(self.workbench, self.attributes, self.rows, self.limit_rows)
        self._sizes = NodeSizes(self._rollup, self.layout) if self.rows and self._figures.by_size else None
        sensitive = self.attributes[0] if self.of_values else None
        self._losses = NodeLosses(
            self.workbench, self.layout, self.base, self.rows, self.tuples, sensitive, self.of_values
        )

    @property
    def tuples(self) -> int:
        """Classes of the finest node."""
        return self._rollup.base.rows

    @property
    def classes_decide(self) -> bool:
        """True if each class of a node fails or does not, and nothing else decides."""
        return self._figures.classes_decide

    def verdicts(self, nodes: Sequence[Node]) -> list[Verdict]:
        """Return the verdicts in the order of the nodes: from classes in memory where possible, else by statements."""
        decided: dict[Node, Verdict] = {}
        for node in nodes:
            if (verdict := self._verdict_in_memory(node)) is not None:
                decided[node] = verdict
        for chunk in self._rollup.walk([node for node in nodes if node not in decided]):
            decided.update((verdict.node, verdict) for verdict in self._figures.verdicts(chunk))
        return [decided[node] for node in nodes]

    def _verdict_in_memory(self, node: Node) -> Verdict | None:
        """Return the verdict of a node by its class sizes; None where they do not decide, or are too many."""
        if self._sizes is None:
            return None
        if (sizes := self._sizes.of(node)) is not None:
            return self._figures.verdict_of_sizes(node, sizes)
        # one class that fails proves that the node is unsafe, for the cost of a scan; the top must have all its figures
        if not self.some_classes or node == self.layout.heights or (drawn := self._sizes.of_some(node)) is None:
            return None
        verdict = self._figures.verdict_of_sizes(node, drawn)
        return None if verdict.safe else verdict

    def parts(
        self,
        nodes: Sequence[Node],
        weights: tuple[CellWeight, ...],
        wanted: Collection[str],
        *,
        leave_out: bool = False,
    ) -> list[LossParts]:
        """Return the parts of losses of the nodes, in their order."""
        parts: dict[Node, LossParts] = {}
        for chunk in self._rollup.walk(nodes):
            verdicts = self._figures.failing(chunk, leave_out=leave_out)
            parts.update((part.node, part) for part in self._losses.parts(chunk, verdicts, weights, wanted))
        return [parts[node] for node in nodes]

    def classes(self, nodes: Sequence[Node], knowledge: int) -> Iterator[NodeClasses]:
        """Yield the classes of the nodes for up to so many pieces of knowledge."""
        for chunk in self._rollup.walk(nodes):
            yield from self._figures.classes(chunk, knowledge)

    def sweep(self, losses: Losses) -> NodeSweep | None:
        """Return what decides all nodes at once; None where single classes do not decide, or keys do not fit."""
        return open_sweep(self._rollup, self.layout, self._figures, self._losses, losses)

    def release(self) -> None:
        """Drop what was kept between questions."""
        self._rollup.release()


@dataclass(eq=False)
class Evaluator:
    """Decides the nodes of a lattice, in the form that fits the requirements.

    Args:
        layout: the columns' places in the key of a class.
        judge: decides nodes.
        rows: rows of the table.
        limit_rows: how many of them may be suppressed.
        monotone: True if every node coarser than a safe one is safe, under this limit.
    """

    layout: KeyLayout
    judge: NodeJudge
    rows: int
    limit_rows: int
    monotone: bool

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of every column; 0 for a column that is kept as it is."""
        return self.layout.heights

    @property
    def tuples(self) -> int:
        """Classes of the finest node."""
        return self.judge.tuples

    def decide(self, nodes: Sequence[Node]) -> list[Verdict]:
        """Return the verdicts in the order of the nodes.

        Raises:
            UsageError: a node that the lattice does not have.
        """
        for node in nodes:
            self.layout.check(node)
        return self.judge.verdicts(nodes)

    def loss_parts(
        self,
        nodes: Sequence[Node],
        weights: Iterable[CellWeight] = (),
        wanted: Collection[str] = (),
        *,
        leave_out: bool = False,
    ) -> list[LossParts]:
        """Return the parts of losses of the nodes, in their order; see `LossParts`.

        Args:
            nodes: of the lattice.
            weights: of the labels of columns; the same ones at every call.
            wanted: `bits` to add up what the cells leave open about their values, too, `tuples` to look at the finest
                node, `inflation` to compare regions of rows with their tuples.
            leave_out: True to leave out the rows of failing classes also where none may be suppressed; only where
                `classes_decide`.
        """
        for node in nodes:
            self.layout.check(node)
        if leave_out and isinstance(self.judge, CountedNodes):
            return self.judge.parts(nodes, tuple(weights), wanted, leave_out=True)
        return self.judge.parts(nodes, tuple(weights), wanted)

    def classes(self, nodes: Sequence[Node], knowledge: int) -> Iterator[NodeClasses]:
        """Yield the classes of nodes for up to so many pieces of knowledge, one by one for each sensitive attribute."""
        return self.judge.classes(nodes, knowledge)

    @property
    def classes_decide(self) -> bool:
        """True if nodes are counted, not audited, and each class of a node fails or does not."""
        return isinstance(self.judge, CountedNodes) and self.judge.classes_decide

    def sweep(self, losses: Losses) -> NodeSweep | None:
        """Return what decides all nodes at once, in memory; None where nodes must be asked for one by one."""
        return self.judge.sweep(losses) if isinstance(self.judge, CountedNodes) and self.rows else None

    def release(self) -> None:
        """Drop what was kept between questions."""
        self.judge.release()


def all_inherited(attributes: Sequence[Attribute], limit_rows: int) -> bool:
    """Return True if all requirements that decide stay satisfied when a node is coarsened."""
    return all(inherited(item.model, limit_rows) for attribute in attributes for item in attribute.deciding)


def needs_audits(attributes: Sequence[Attribute], roles: Roles) -> bool:
    """Return True if nodes must be audited one by one, because count vectors do not decide the requirements."""
    models = [item.model for attribute in attributes for item in attribute.deciding]
    return (
        roles.nulls is not NullPolicy.EQUAL
        or roles.entity is not None
        or (roles.joint and len(roles.sensitive) > 1)
        or any(model.own_statements for model in models)
        or any(a.counted and a.table is not None and a.table.distinct > LANES for a in attributes)
    )


def names_missing(workbench: Engine, columns: Sequence[KeyColumn]) -> bool:
    """Return True if a missing value of some column has a label below `*`.

    Where NULL matches any value it matches less once it is called something, so coarser is not always safer then.
    """
    dictionaries = [
        (column.dictionary.relation, list(range(1, column.height))) for column in columns if column.height > 1
    ]
    if not dictionaries:
        return False
    statement = render(
        "lattices/lattice_missing_named.sql", workbench.dialect, step="named missing values", dictionaries=dictionaries
    )
    return bool(workbench.run(statement)[0][0])


def refuse_limit(attributes: Sequence[Attribute], roles: Roles, limit: Fraction) -> None:
    """Refuse to suppress rows where nothing says which rows fail.

    Raises:
        UsageError: a limit above 0 with such a requirement or reading of NULLs.
    """
    if not limit:
        return
    for item in (item for attribute in attributes for item in attribute.deciding):
        if item.model.verdict_by_level or not item.model.facts_tell:
            raise UsageError(
                f"{item.requirement.text!r} is about the whole table and names no rows to leave out. Search without "
                f"{spelled('suppress')}."
            )
    if roles.nulls is NullPolicy.WILDCARD:
        raise UsageError(
            f"{spelled('nulls', 'wildcard')} and {spelled('suppress')} exclude each other, because suppressed rows no "
            "longer match others."
        )
    if roles.joint and len(roles.sensitive) > 1:
        raise UsageError(
            f"{spelled('joint', True)} and {spelled('suppress')} exclude each other, because every sensitive column "
            "has different classes."
        )


def _fits_on_workbench(
    engine: Engine, relation: Relation, columns: Sequence[KeyColumn], attributes: Sequence[Attribute]
) -> bool:
    """Return True if nodes are audited on the workbench: the engine needs seconds for each, and its rows are few.

    Models with statements of their own read other tables, too, so that their nodes are audited where these lie.
    """
    if engine.own_workbench or not engine.can_materialize:
        return False
    if any(item.model.own_statements for attribute in attributes for item in attribute.deciding):
        return False
    from sqlaudit.column_sets.counting import can_keep_codes, count_rows

    return can_keep_codes(engine, count_rows(engine, Raw(relation.sql)), len(columns) + len(attributes) + 1)


def open_evaluator(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    roles: ResolvedRoles,
    columns: Sequence[KeyColumn],
    given: Roles,
    requirements: Sequence[Requirement],
    *,
    inputs: Mapping[str, object] | None = None,
    limit: Fraction = Fraction(0),
    population: Relation | None = None,
    every_count: bool = False,
    of_values: Measure | None = None,
    some_classes: bool = False,
) -> Evaluator:
    """Return what decides the nodes of a lattice.

    Args:
        engine: where the table lies.
        workbench: where its histogram is kept (see `workbench_of`).
        relation: the table.
        roles: its columns, resolved.
        given: the roles of the request.
        columns: the quasi-identifiers that take part, with their dictionaries, in the order of a node's levels.
        requirements: of the release.
        inputs: further inputs, as `read_inputs` returns them.
        limit: the share of the rows that may be suppressed.
        population: the population table, if a model needs one.
        every_count: True if `classes` is going to be asked.
        of_values: the loss that looks at the sensitive attribute, the only one; None for none.
        some_classes: as of `CountedNodes`.

    Raises:
        UsageError: requirements that do not fit the roles, a limit that has no meaning with them, or losses that look
            at sensitive values where classes are no count vectors.
    """
    counts = every_count or of_values is not None
    attributes = read_attributes(engine, relation, roles, given, requirements, inputs or {}, every_count=counts)
    refuse_limit(attributes, given, limit)
    layout = code_values(workbench, columns)
    one_by_one = needs_audits(attributes, given)
    inherits = given.nulls is not NullPolicy.WILDCARD or not names_missing(workbench, columns)
    if one_by_one and _fits_on_workbench(engine, relation, columns, attributes):
        handed = hand_over_rows(engine, workbench, relation, columns, attributes, roles.entity)
        relation, columns, attributes, entity = handed
        engine, roles = workbench, replace(roles, entity=entity)
    if one_by_one and of_values is not None:
        raise UsageError(
            f"Losses of sensitive values need rows, not people, {spelled('nulls', 'equal')}, at most {LANES} "
            "sensitive values, and no requirement with a population. Choose another "
            f"{about('measure')}."
        )
    base = base_histogram(engine, workbench, relation, columns, layout, [] if one_by_one else attributes)
    rows = int(workbench.run(render("lattices/lattice_rows.sql", workbench.dialect, base=base))[0][0])
    limit_rows = int(limit * rows)
    judge: NodeJudge
    if one_by_one:
        table = AuditedTable(engine, workbench, relation, roles, given, columns, layout, attributes, inherits)
        judge = audited_nodes(table, population, base, rows, limit_rows)
    else:
        judge = CountedNodes(workbench, layout, base, attributes, rows, limit_rows, of_values, some_classes)
    return Evaluator(layout, judge, rows, limit_rows, inherits and all_inherited(attributes, limit_rows))

"""Nodes that are audited one by one: their verdicts, and what their losses need."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Relation
from sqlaudit.base.spec import NullPolicy, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.lattices.attributes import Attribute, decides
from sqlaudit.lattices.audits import CodedTable, NodeAudits
from sqlaudit.lattices.coded_rows import CodedSource, coded_rows
from sqlaudit.lattices.coding import KeyColumn, KeyLayout, code_values
from sqlaudit.lattices.parts import NodeLosses
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import CellWeight, LossParts, Node, NodeClasses, Verdict
from sqlaudit.models.base import Population

_FAILING = "sqlaudit_lattice_failing"


@dataclass(frozen=True)
class AuditedTable:
    """A table whose nodes are audited: where it lies, its columns, their codes, and what is required."""

    engine: Engine
    workbench: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    columns: Sequence[KeyColumn]
    layout: KeyLayout
    attributes: Sequence[Attribute]
    inherits: bool = True

    @property
    def source(self) -> CodedSource:
        """The table as its rows are coded."""
        others = tuple(a.resolved.sql for a in self.attributes if a.resolved)
        entity = self.roles.entity.sql if self.roles.entity else None
        return CodedSource(self.relation.sql, tuple(column.column.sql for column in self.columns), others, entity)

    @property
    def needs(self) -> set[str]:
        """The further inputs of the models that decide."""
        return {
            need
            for attribute in self.attributes
            for item in attribute.asked
            if decides(item)
            for need in item.model.needs
        }

    @property
    def originals(self) -> tuple[str, ...]:
        """The quasi-identifiers before generalization, where beliefs ask for them."""
        models = [item.model for attribute in self.attributes for item in attribute.asked if decides(item)]
        return next((m.context.inputs["original_qi"] for m in models if "original_qi" in m.needs), ())


class AuditedNodes:
    """Verdicts and parts of losses, node by node.

    Args:
        audits: decides. engine: where the table lies. workbench: where failing classes are weighed.
        layout: the columns' places in the key. losses: weighs classes that all fail. rows: rows of the table.
    """

    def __init__(self, audits: NodeAudits, table: AuditedTable, losses: NodeLosses, rows: int) -> None:
        self._audits, self._table, self._losses, self._rows = audits, table, losses, rows
        self._known: dict[Node, Verdict] = {}
        self._tuple_bits: float | None = None

    def verdict(self, node: Node) -> Verdict:
        """The verdict of a node; a node is audited once."""
        if node not in self._known:
            self._known[node] = self._audits.verdict(node)
        return self._known[node]

    def classes(self, node: Node, knowledge: int) -> Iterator[NodeClasses]:
        """The classes of a node for up to so many pieces of knowledge, one by one for each sensitive attribute."""
        return self._audits.node_classes(node, knowledge)

    def parts(
        self, node: Node, weights: Sequence[CellWeight], bits: bool, tuples: bool, inflation: bool = False
    ) -> LossParts:
        """What losses need to know of a node; without a suppression limit no row is suppressed.

        Raises:
            UsageError: bits of suppressed rows where NULLs are distinct: classes with equal keys are told apart;
                regions of rows where NULL is not a value like others.
        """
        if inflation and self._table.given.nulls is not NullPolicy.EQUAL:
            raise UsageError(
                f"This loss counts the rows with equal values, which has no meaning with "
                f"{spelled('nulls', self._table.given.nulls.value)}; choose another measure."
            )
        classes, squares, size_bits = self._audits.sizes(node)
        if tuples and self._tuple_bits is None:
            self._tuple_bits = self._audits.sizes((0,) * len(node))[2]
        none = (0.0,) * len(node)
        apart = none if bits else ()
        finest = self._tuple_bits or 0.0
        whole = LossParts(node, classes, classes, self._rows, 0, squares, none, apart, apart, size_bits, finest)
        engine, workbench = self._table.engine, self._table.workbench
        columns = [(name, "BIGINT") for name in ("id", *self._table.layout.key, "n")]
        statement = self._audits.failing_classes(node) if self._audits.limit_rows else None
        if statement is None:
            return self._inflated(whole, workbench.keep_rows(_FAILING, columns, [])) if inflation else whole
        if bits and self._table.given.nulls is NullPolicy.DISTINCT:
            raise UsageError(
                f"This loss has no meaning for suppressed rows with {spelled('nulls', 'distinct')}; choose "
                "another measure."
            )
        failing = keep(engine, workbench, _FAILING, statement, columns)
        (gone,) = self._losses.parts(Chunk(failing.sql, {0: node}), weights, bits)
        squares_gone, logarithms_gone = workbench.run(
            render("lattices/lattice_squares_of.sql", workbench.dialect, classes=Raw(failing.sql))
        )[0]
        found = replace(
            gone,
            classes=classes,
            kept_classes=classes - gone.classes,
            kept_squares=squares - int(squares_gone),
            kept_bits=size_bits - float(logarithms_gone) / math.log(2),
            tuple_bits=finest,
        )
        return self._inflated(found, failing) if inflation else found

    def _inflated(self, parts: LossParts, failing: Relation) -> LossParts:
        """The parts of a node with the regions of its rows; `failing` classes are left out."""
        chunk = Chunk(failing.sql, {0: parts.node})
        joint, apart = self._losses.inflation(chunk, _AllFail().failing(chunk)).get(0, (0.0, 0.0))
        return replace(parts, inflation=joint, inflation_apart=apart)


class _AllFail:
    """Makes every class fail that it is shown."""

    def failing(self, chunk: Chunk) -> dict[str, Any]:
        """One verdict that is always true."""
        check = {"name": "r0", "failing": "TRUE", "doubtful": ""}
        block = {"position": 0, "words": [], "lanes": [], "mask": 0, "facts": [], "checks": [check]}
        return {"blocks": [block], "any": ["r0"]}


def audited_nodes(
    table: AuditedTable, population: Relation | None, base: Relation, rows: int, limit_rows: int
) -> AuditedNodes:
    """What audits the nodes of a table.

    Args:
        table: the table. population: the population table, if a model needs one.
        base: the classes of the finest node, sizes alone. rows: rows of the table. limit_rows: how many may be
            suppressed.

    Raises:
        UsageError: models that need one place a person, with persons in several.
    """
    losses = NodeLosses(table.workbench, table.layout, base, _AllFail(), rows, rows)
    nulls, source = table.given.nulls, table.source
    people = None
    listed: tuple[CodedSource, ...] = (source,)
    if population is not None and "population" in table.needs:
        people = _people(table, population)
        listed = (source, people)
        table = _with_values_of(table, people)
    numbered = nulls is NullPolicy.DISTINCT
    coded = coded_rows(table.engine, table.workbench, source, table.columns, table.layout, listed, numbered=numbered)
    sensitive = tuple(f"o{a.position + 1}" if a.resolved else None for a in table.attributes)
    made = CodedTable(
        coded,
        "e" if source.entity else None,
        nulls,
        sensitive,
        table.given.joint and len(sensitive) > 1,
        _population(table, people, listed) if people else None,
        table.given.known_rows,
    )
    audits = NodeAudits(table.engine, made, table.layout, table.attributes, limit_rows, inherits=table.inherits)
    audits.refuse_several_places()
    return AuditedNodes(audits, table, losses, rows)


def _people(table: AuditedTable, population: Relation) -> CodedSource:
    """The population as its rows are coded: the same columns, and the original ones where beliefs ask for them.

    Raises:
        UsageError: it lacks a column.
    """
    dialect, entity = table.engine.dialect, table.roles.entity
    columns = tuple(resolve(c.column.label, population, dialect, about("qi")).sql for c in table.columns)
    person = find_column(entity.label, population) if entity else None
    others: tuple[str, ...] = ()
    if table.originals:
        believed = [a.resolved for a in table.attributes if a.resolved]
        others = tuple(resolve(one.label, population, dialect, about("sensitive")).sql for one in believed)
        others += tuple(resolve(label, population, dialect, "original_qi").sql for label in table.originals)
    return CodedSource(population.sql, columns, others, quote(person.name, dialect) if person else None)


def _with_values_of(table: AuditedTable, people: CodedSource) -> AuditedTable:
    """The table with dictionaries and codes for the values of table and population together."""
    columns = []
    for position, column in enumerate(table.columns):
        kind, spelled = column.dictionary.holds.kind, column.dictionary.holds.type
        statement = render(
            "lattices/lattice_values_of.sql",
            table.engine.dialect,
            step="values of table and population",
            value=Raw(column.column.sql),
            source=Raw(table.relation.sql),
            other=Raw(people.columns[position]),
            population=Raw(people.sql),
        )
        info = ColumnInfo("v", spelled, kind)
        both = Relation("(" + statement.sql + ")", (info,), column.column.label)
        value = Resolved(column.column.label, quote("v", table.engine.dialect), kind, "v", spelled)
        made = dictionary(
            table.engine,
            table.workbench,
            both,
            value,
            column.dictionary.hierarchy,
            f"sqlaudit_values_of_both_{position}",
        )
        columns.append(replace(column, dictionary=made))
    return replace(table, columns=columns, layout=code_values(table.workbench, columns, "_both"))


def _population(table: AuditedTable, people: CodedSource, listed: Sequence[CodedSource]) -> Population:
    """The coded population; a node's keys are still to be filled in."""
    name = "sqlaudit_lattice_people"
    coded = coded_rows(table.engine, table.workbench, people, table.columns, table.layout, listed, name=name)
    first = 1 + len([a for a in table.attributes if a.resolved])
    original = tuple(f"o{first + place}" for place in range(len(table.originals)))
    return Population(coded, (), "e" if people.entity else None, None, original)

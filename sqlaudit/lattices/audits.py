"""Every node audited on its own: slower than count vectors, and right for every model and every role.

The key of a node is a few masked words over coded rows; from there on it is the audit that everybody knows. Used for
models that bring statements of their own (populations, beliefs), for entities, for NULLs that are distinct or match
anything, for joint classes and for attributes with very many values; and in the tests, to check the fast way.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from sqlaudit.audits.models_asked import Combinations, differ_from_one_row, models_of_all_rows, without_population
from sqlaudit.base.columns_of import Resolved, resolve, resolve_like
from sqlaudit.base.errors import Undecidable, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows, NullPolicy, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Frame
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles, apply_spelling_policy, find_entity_column
from sqlaudit.classes.people import KNOWN_ROWS_OFFSET, make_known_rows_frame
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.events.unicity import count_persons
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.lattices.coding import Attribute, CodedColumn, KeyColumn, KeyLayout, code_values, inherited, node_keys
from sqlaudit.lattices.parts import NodeLosses
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import CellWeight, LossParts, Node, NodeClasses, Shortfall, Verdict
from sqlaudit.models.base import Check, Context, Model, Population
from sqlaudit.models.diversity import EntropyDiversity
from sqlaudit.models.judge import Asked, judge, merged_facts
from sqlaudit.models.persons import persons_wanted
from sqlaudit.reports.document import plural

# The rows of a table with coded quasi-identifiers, as a FROM item.
#
# Where the engine keeps relations the codes are joined by value. Elsewhere (PostgreSQL) values are numbered inside the
# database by the rule of the dictionaries, and the numbers' codes stand in the statement; no cell does.


@dataclass(frozen=True)
class CodedSource:
    """A table whose rows are coded: a FROM item, its quasi-identifiers, and what else is read of it."""

    sql: str
    columns: tuple[str, ...]
    others: tuple[str, ...] = ()
    entity: str | None = None


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
    def deciding(self) -> list[Model]:
        """The models that decide."""
        return [item.model for attribute in self.attributes for item in attribute.deciding]

    @property
    def originals(self) -> tuple[str, ...]:
        """The quasi-identifiers before generalization, where beliefs ask for them."""
        return next((m.context.inputs["original_qi"] for m in self.deciding if "original_qi" in m.needs), ())

    def coded(self, source: CodedSource, listed: Sequence[CodedSource], name: str, *, numbered: bool = False) -> str:
        """A FROM item with k0, k1, … z0, z1, … o1, o2, … e for every row; kept as a relation where the engine can.

        Args:
            source: the rows. listed: the tables whose values the dictionaries list. name: what the relation is called.
            numbered: whether rows need numbers of their own.
        """
        here = self.workbench is self.engine
        places = []
        for position, (column, coded) in enumerate(zip(self.columns, self.layout.columns, strict=True)):
            numbers = self._numbers(coded)
            places.append(
                {
                    "sql": Raw(source.columns[position]),
                    "position": position,
                    "missing": next((row[1:] for row in numbers if row[-1]), (0,) * (self.layout.words + 1)),
                    "codes": coded.codes if here else None,
                    "value": column.value,
                    "numbers": [] if here else numbers,
                    "kind": column.dictionary.holds.kind.value,
                    "listed": [(Raw(table.columns[position]), table) for table in listed],
                }
            )
        statement = render(
            "lattices/lattice_coded.sql",
            self.engine.dialect,
            step="coded rows",
            source=source,
            columns=places,
            others=[Raw(sql) for sql in source.others],
            words=self.layout.words,
            numbered=numbered,
            entity=None if source.entity is None else Raw(source.entity),
        )
        return self.engine.materialize(name, statement).sql if self.engine.can_materialize else f"({statement.sql})"

    def _numbers(self, coded: CodedColumn) -> list[tuple[int, ...]]:
        """(number of the value, what it adds to each word, up to which level its label is missing)."""
        step, codes = "codes of " + coded.label, coded.codes
        statement = render(
            "lattices/lattice_numbers.sql", self.workbench.dialect, step=step, codes=codes, key=self.layout.key
        )
        return [tuple(map(int, row)) for row in self.workbench.run(statement)]


@dataclass(frozen=True)
class _Judged:
    """A requirement over the classes of one attribute: its check, and the predicate of the failing classes."""

    item: Asked
    check: Check
    predicate: str

    @property
    def fails(self) -> bool:
        """Return True if the requirement is not met."""
        return self.check.status is Status.FAIL

    @property
    def of_classes(self) -> bool:
        """Return True if classes fail, and not the table as a whole."""
        return self.item.model.facts_tell and not self.item.model.verdict_by_level

    @property
    def failure(self) -> Shortfall:
        """The requirement as one that the node does not meet."""
        check = self.check
        if self.item.model.of_table:
            return Shortfall(check.text, check.sensitive, None, None, check.level)
        return Shortfall(check.text, check.sensitive, check.failing_classes, check.failing_rows)


@dataclass(frozen=True)
class _Share:
    """The classes of a node for one sensitive attribute, judged."""

    histogram: ClassHistogram
    keys: int
    rows: int
    sizes: ClassSizes
    judged: tuple[_Judged, ...]


@dataclass(eq=False)
class AuditedNodes:
    """Audits nodes one by one.

    Args:
        table: the table. coded: the FROM item of its coded rows. population: the coded population; its keys follow from
            a node. None when no model asks for one.
        losses: weighs classes that all fail. rows: rows of the table. limit_rows: how many may be suppressed.
        tuples: classes of the finest node.
    """

    table: AuditedTable
    coded: str
    population: Population | None
    losses: NodeLosses
    rows: int
    limit_rows: int
    tuples: int = 0

    def __post_init__(self) -> None:
        self._engine, self._layout, self._attributes = self.table.engine, self.table.layout, self.table.attributes
        self._nulls, self._known_rows = self.table.given.nulls, self.table.given.known_rows
        self._joint = self.table.given.joint and len(self._attributes) > 1
        self._combinations = Combinations(self._engine)
        self._verdicts: dict[Node, Verdict] = {}
        self._lanes: dict[int, str] = {}

    def verdicts(self, nodes: Sequence[Node]) -> list[Verdict]:
        """Return the verdicts in the order of the nodes, each of which is audited once.

        Raises:
            UsageError: a model has no answer for this table.
        """
        for node in nodes:
            if node not in self._verdicts:
                self._verdicts[node] = self._worse_verdict(node)
        return [self._verdicts[node] for node in nodes]

    def release(self) -> None:
        """Do nothing: an audit keeps no relation for the next one."""

    def _worse_verdict(self, node: Node) -> Verdict:
        """The worse verdict, where attackers may know one row of a person or all of them."""
        if not self._several or self._known_rows is KnownRows.ALL:
            return self._verdict(node, every=self._several)
        row_verdict, person_verdict = self._verdict(node, every=False), self._verdict(node, every=True)
        return replace(
            row_verdict,
            safe=row_verdict.safe and person_verdict.safe,
            prunable_safe=row_verdict.prunable_safe and person_verdict.prunable_safe,
            failing_rows=max(row_verdict.failing_rows, person_verdict.failing_rows),
            fails=tuple(dict.fromkeys((*row_verdict.fails, *person_verdict.fails))),
        )

    @cached_property
    def _several(self) -> bool:
        """True if attackers who know all rows of a person are judged, and know more than from one row."""
        finest = (0,) * len(self._layout.columns)
        frames = [self._frame(finest, attribute) for attribute in self._attributes]
        several = any(differ_from_one_row(frame, self._known_rows, self._nulls, self._combinations) for frame in frames)
        if several and self.limit_rows:
            raise UsageError(
                "Rows cannot be suppressed one by one when attackers may know all rows of a person. Search without "
                f"{spelled('suppress')}, or use {spelled('known_rows', 'one')}."
            )
        return several

    def _verdict(self, node: Node, *, every: bool) -> Verdict:
        """Return the verdict on a node: for persons with `every` row of theirs, else for rows."""
        parts = [self._part(node, attribute, every=every) for attribute in self._attributes]
        requirements = [requirement for part in parts for requirement in part.judged]
        inherits = [
            requirement
            for requirement in requirements
            if self.table.inherits and inherited(requirement.item.model, self.limit_rows)
        ]
        failing = self._failing_rows(parts, requirements)
        return Verdict(
            node=node,
            safe=self._holds(requirements, failing),
            prunable_safe=self._holds(inherits, self._failing_rows(parts, inherits)),
            classes=parts[0].sizes.count,
            failing_rows=failing,
            smallest=parts[0].sizes.min_size or 0,
            fails=tuple(requirement.failure for requirement in requirements if requirement.fails),
        )

    def _holds(self, requirements: Sequence[_Judged], failing_rows: int) -> bool:
        return failing_rows <= self.limit_rows and not any(
            requirement.fails and not requirement.of_classes for requirement in requirements
        )

    def _part(self, node: Node, attribute: Attribute, *, every: bool = False) -> _Share:
        """The classes of a node for one attribute: those of rows, or of persons with `every` row of theirs."""
        rows = self._frame(node, attribute)
        every = every and bool(rows.keys)
        position = attribute.position
        nulls = NullPolicy.WILDCARD if self._wild else NullPolicy.EQUAL
        builder = HistogramBuilder(self._engine, rows, nulls, position)
        if every:
            builder = self._with_all_rows(builder, attribute)
        frame = builder.frame
        histogram = builder.build(frame.sensitive, attribute.table, keep_keys=self._together)
        requirements = attribute.deciding
        if every:
            requirements = (without_population if self._known_rows is KnownRows.ALL else models_of_all_rows)(
                requirements
            )
        alone = replace(frame, solo=self._nulls is NullPolicy.DISTINCT and not every)
        person_figures = persons_wanted([item.model for item in requirements])
        persons = count_persons(self._engine, rows, person_figures) if person_figures else None
        judged = judge(histogram, requirements, alone, self._population(node, attribute), persons)
        predicates = dict(judged.failing)
        judged_requirements = []
        for item, check in zip(requirements, judged.checks, strict=True):
            undetermined = check.status is Status.UNDETERMINED and judged.rows
            if undetermined and not item.model.verdict_by_level:
                raise Undecidable(f"{check.text!r} cannot be decided for every node: {check.note}.")
            # an estimate proves nothing, and neither does none
            decided = replace(check, status=Status.FAIL) if undetermined else check
            judged_requirements.append(_Judged(item, decided, predicates.get(item.requirement.text, "")))
        return _Share(histogram, len(frame.keys), judged.rows, judged.sizes, tuple(judged_requirements))

    def _with_all_rows(self, builder: HistogramBuilder, attribute: Attribute) -> HistogramBuilder:
        """Return the builder over people by all rows of theirs; the values of an attribute are numbered only once."""
        position, table = attribute.position, attribute.table
        builder = replace(builder, number=position + KNOWN_ROWS_OFFSET)
        if table is not None and position not in self._lanes:
            self._lanes[position] = builder.with_lanes(table.text, table.distinct + 1).lanes
        builder = replace(builder, lanes=self._lanes.get(position, "")).with_people(table)
        return replace(builder, frame=make_known_rows_frame(self._engine, builder.frame, position))

    @property
    def _together(self) -> bool:
        """True if classes are distinguished by keys: to compare those of several attributes, or to leave some out."""
        return (len(self._attributes) > 1 or self.limit_rows > 0) and not self._joint

    def _failing_classes(self, node: Node) -> Statement | None:
        """The classes of a node that fail, with the words of their keys (k0, k1, …) and their rows; None when none do.

        `id` is 0. Only under a suppression limit.
        """
        parts = [self._part(node, attribute) for attribute in self._attributes]
        failing = [
            (part, [requirement for requirement in part.judged if requirement.fails and requirement.of_classes])
            for part in parts
        ]
        statements = [Raw("(" + self._failing(part, short) + ")") for part, short in failing if short]
        if not statements:
            return None
        masks = self._layout.masks(node)
        position_of_word = {
            word: position for position, word in enumerate((w for w, mask in enumerate(masks) if mask), 1)
        }
        words = [f"q{position_of_word[word]}" if word in position_of_word else "0" for word in range(len(masks))]
        return render(
            "lattices/lattice_failing_classes.sql",
            self._engine.dialect,
            step="failing classes",
            parts=statements,
            words=words,
        )

    def classes(self, nodes: Sequence[Node], knowledge: int) -> Iterator[NodeClasses]:
        """Yield the classes of nodes for up to so many pieces of knowledge, one by one for each sensitive attribute."""
        for node, attribute in product(nodes, self._attributes):
            frame = self._frame(node, attribute)
            if attribute.table is None:
                continue
            builder = HistogramBuilder(self._engine, frame, NullPolicy.EQUAL, attribute.position)
            histogram = builder.build(frame.sensitive, attribute.table)
            model = EntropyDiversity({}, Context(attribute.table, 0))
            level = model.levels()["l"]
            class_figures = histogram.figures(model.facts(), [("least", level.fold, level.expression)], [])
            signatures = histogram.signatures(min(knowledge, attribute.table.distinct))
            yield NodeClasses(
                node, attribute.position, signatures, min(float(by_name["least"]) for by_name in class_figures)
            )

    def _sizes(self, node: Node) -> tuple[int, int, float]:
        """Return how many classes a node has, the sum of their squared rows, and of their rows times log2 of these."""
        keys = node_keys(self._layout, node, NullPolicy.EQUAL if self._wild else self._nulls)
        statement = render(
            "lattices/lattice_squares.sql",
            self._engine.dialect,
            step="classes",
            rows=Raw(self.coded),
            keys=[Raw(key) for key in keys],
        )
        classes, squares, logarithms = self._engine.run(statement)[0]
        return int(classes), int(squares), float(logarithms) / math.log(2)

    @property
    def _wild(self) -> bool:
        return self._nulls is NullPolicy.WILDCARD

    def _frame(self, node: Node, attribute: Attribute) -> Frame:
        others = [f"o{a.position + 1}" for a in self._attributes if self._joint and a.resolved and a is not attribute]
        keys = node_keys(self._layout, node, self._nulls, others)
        entity = "e" if self.table.roles.entity else None
        return Frame(self.coded, keys, entity, False, (False,) * len(keys), _value_of(attribute))

    def _population(self, node: Node, attribute: Attribute) -> Population | None:
        population = self.population
        if population is None:
            return None
        sensitive = _value_of(attribute) if population.original else None
        return replace(population, keys=node_keys(self._layout, node, NullPolicy.EQUAL), sensitive=sensitive)

    def refuse_several_places(self) -> None:
        """Refuse models that need one class and one value a person, when a person has more at the finest node.

        Raises:
            UsageError: there is such a person.
        """
        finest = (0,) * len(self._layout.columns)
        for attribute in self._attributes:
            wanting = [item for item in attribute.deciding if item.model.one_value_per_person]
            frame = self._frame(finest, attribute)
            if not (wanting or attribute.every_count) or frame.entity is None or frame.sensitive is None:
                continue
            persons = HistogramBuilder(self._engine, frame).persons_in_several_places(frame.sensitive)
            if persons:
                label = attribute.resolved.label if attribute.resolved else None
                wanted_by = repr(wanting[0].requirement.text) if wanting else "Worst-case disclosure of every node"
                raise UsageError(
                    f"{wanted_by} needs one class and one value of {label} for each person, but "
                    f"{plural(persons, 'person has', 'people have')} more."
                )

    def _failing_rows(self, parts: Sequence[_Share], requirements: Sequence[_Judged]) -> int:
        """The rows in classes that fail, each class once; for joint classes those of the worst attribute."""
        short = [
            [
                requirement
                for requirement in part.judged
                if requirement in requirements and requirement.fails and requirement.of_classes
            ]
            for part in parts
        ]
        if self._joint:
            return max(self._rows_of([(part, short_ones)]) for part, short_ones in zip(parts, short, strict=True))
        return self._rows_of([(part, short_ones) for part, short_ones in zip(parts, short, strict=True) if short_ones])

    def _rows_of(self, failing: Sequence[tuple[_Share, Sequence[_Judged]]]) -> int:
        """Count the rows of classes that fail any of these requirements.

        Raises:
            UsageError: several requirements fail, one of which names no classes.
        """
        failing = [(part, short) for part, short in failing if short]
        requirements = [requirement for _, short in failing for requirement in short]
        if len(requirements) <= 1:
            return sum(requirement.check.failing_rows or 0 for requirement in requirements)
        if not all(requirement.predicate for requirement in requirements):
            raise Undecidable(
                f"{requirements[0].item.requirement.text!r} and others fail in too many ways to count the rows "
                "together."
            )
        statements = [Raw("(" + self._failing(part, short) + ")") for part, short in failing]
        statement = render(
            "lattices/lattice_failing_rows.sql", self._engine.dialect, step="failing rows", parts=statements
        )
        return int(self._engine.run(statement)[0][0])

    def _failing(self, part: _Share, requirements: Sequence[_Judged]) -> str:
        """The classes of one attribute that any of these requirements names."""
        facts = merged_facts([requirement.item.model for requirement in part.judged])
        keys = [f"q{position}" for position in range(1, part.keys + 1)] if self._together else []
        condition = " OR ".join(f"({requirement.predicate})" for requirement in requirements)
        statement = part.histogram.statement(
            "lattices/lattice_failing.sql", facts, "failing rows", key_names=keys, condition=condition
        )
        return statement.sql

    def parts(self, nodes: Sequence[Node], weights: tuple[CellWeight, ...], wanted: Collection[str]) -> list[LossParts]:
        """Return the parts of losses of the nodes, in their order."""
        return [self._loss_parts(node, weights, wanted) for node in nodes]

    def _loss_parts(self, node: Node, weights: Sequence[CellWeight], wanted: Collection[str]) -> LossParts:
        """Return the parts of losses of a node; without a suppression limit no row is suppressed.

        Raises:
            UsageError: bits of suppressed rows where NULLs are distinct, so that classes with equal keys differ;
                regions of rows where NULL is not a value like others.
        """
        if "inflation" in wanted and self._nulls is not NullPolicy.EQUAL:
            raise UsageError(
                f"This loss counts rows with equal values, which is not defined with "
                f"{spelled('nulls', self._nulls.value)}. Choose another measure."
            )
        classes, squares, size_bits = self._sizes(node)
        finest = self._tuple_bits if "tuples" in wanted else 0.0
        none = (0.0,) * len(node)
        bits = none if "bits" in wanted else ()
        everything_kept = LossParts(node, classes, classes, self.rows, 0, squares, none, bits, bits, size_bits, finest)
        workbench = self.table.workbench
        columns = [(name, "BIGINT") for name in ("id", *self._layout.key, "n")]
        statement = self._failing_classes(node) if self.limit_rows else None
        if statement is None:
            return self._inflated(everything_kept, workbench.keep_rows(_FAILING, columns, []), wanted)
        if "bits" in wanted and self._nulls is NullPolicy.DISTINCT:
            raise UsageError(
                f"This loss is not defined for suppressed rows with {spelled('nulls', 'distinct')}. Choose "
                "another measure."
            )
        failing = keep(self._engine, workbench, _FAILING, statement, columns)
        left_out = Chunk(failing.sql, {0: node})
        (suppressed,) = self.losses.parts(left_out, _ALL_FAIL, weights, {"bits"} & {*wanted})
        squares_gone, logarithms_gone = workbench.run(
            render("lattices/lattice_squares_of.sql", workbench.dialect, classes=failing)
        )[0]
        parts = replace(
            suppressed,
            classes=classes,
            kept_classes=classes - suppressed.classes,
            kept_squares=squares - int(squares_gone),
            kept_bits=size_bits - float(logarithms_gone) / math.log(2),
            tuple_bits=finest,
        )
        return self._inflated(parts, failing, wanted)

    def _inflated(self, parts: LossParts, failing: Relation, wanted: Collection[str]) -> LossParts:
        """The parts of a node with the regions of its rows, where they are wanted; `failing` classes are left out."""
        if "inflation" not in wanted:
            return parts
        chunk = Chunk(failing.sql, {0: parts.node})
        return replace(parts, figures=self.losses.inflation(chunk, _ALL_FAIL)[0])

    @cached_property
    def _tuple_bits(self) -> float:
        return self._sizes((0,) * len(self._layout.columns))[2]


def _value_of(attribute: Attribute) -> str | None:
    """The expression of an attribute over coded rows."""
    return f"o{attribute.position + 1}" if attribute.resolved else None


_FAILING = "sqlaudit_lattice_failing"


_ALWAYS = {"name": "r0", "failing": "TRUE", "doubtful": ""}
_ALL_FAIL: dict[str, object] = {
    "blocks": [{"position": 0, "words": [], "lanes": [], "mask": 0, "facts": [], "checks": [_ALWAYS]}],
    "any": [_ALWAYS["name"]],
}
"""What makes every class of a chunk fail, for the templates: one verdict that is always true."""


def audited_nodes(
    table: AuditedTable, population: Relation | None, base: Relation, rows: int, limit_rows: int
) -> AuditedNodes:
    """Return what audits the nodes of a table.

    Args:
        table: the table. population: the population table, if a model needs one.
        base: the classes of the finest node, sizes alone. rows: rows of the table. limit_rows: how many may be
            suppressed.

    Raises:
        UsageError: models that need one place a person, with persons in several.
    """
    losses = NodeLosses(table.workbench, table.layout, base, rows, rows)
    source, people = table.source, None
    listed: tuple[CodedSource, ...] = (source,)
    if population is not None and any("population" in model.needs for model in table.deciding):
        people = _people(table, population)
        listed = (source, people)
        table = _with_values_of(table, people)
    numbered = table.given.nulls is NullPolicy.DISTINCT
    coded = table.coded(source, listed, "sqlaudit_lattice_rows", numbered=numbered)
    coded_people = _population(table, people, listed) if people else None
    audited = AuditedNodes(table, coded, coded_people, losses, rows, limit_rows)
    audited.refuse_several_places()
    statement = render("base/row_count.sql", table.workbench.dialect, step="groups", source=Raw(base.sql))
    audited.tuples = int(table.workbench.run(statement)[0][0])
    return audited


def _people(table: AuditedTable, population: Relation) -> CodedSource:
    """The population as its rows are coded: the same columns, and the original ones where beliefs ask for them.

    Raises:
        UsageError: it lacks a column.
    """
    dialect, entity = table.engine.dialect, table.roles.entity
    columns = tuple(resolve_like(c.column, population, dialect, about("qi")).sql for c in table.columns)
    person = find_entity_column(table.engine, population, entity, table.given.values) if entity else None
    others: tuple[str, ...] = ()
    if table.originals:
        believed = [a.resolved for a in table.attributes if a.resolved]
        values = [resolve(value.label, population, dialect, about("sensitive")) for value in believed]
        others = tuple(
            apply_spelling_policy(table.engine, population, value, table.given.values).sql for value in values
        )
        others += tuple(resolve(label, population, dialect, "original_qi").sql for label in table.originals)
    return CodedSource(population.sql, columns, others, person.sql if person else None)


def _with_values_of(table: AuditedTable, people: CodedSource) -> AuditedTable:
    """The table with dictionaries and codes for the values of table and population together."""
    columns = []
    for position, column in enumerate(table.columns):
        kind, spelled = column.dictionary.holds.kind, column.dictionary.holds.type
        statement = render(
            "lattices/lattice_values_of.sql",
            table.engine.dialect,
            step="values of table and population",
            value=column.column,
            source=table.relation,
            other=Raw(people.columns[position]),
            population=people,
        )
        info = ColumnInfo("v", spelled, kind)
        both = Relation("(" + statement.sql + ")", (info,), column.column.label)
        value = Resolved(column.column.label, quote("v", table.engine.dialect), kind, "v", spelled)
        name, hierarchy = f"sqlaudit_values_of_both_{position}", column.dictionary.hierarchy
        joint_dictionary = dictionary(table.engine, table.workbench, both, value, hierarchy, name)
        columns.append(replace(column, dictionary=joint_dictionary))
    return replace(table, columns=columns, layout=code_values(table.workbench, columns, "_both"))


def _population(table: AuditedTable, people: CodedSource, listed: Sequence[CodedSource]) -> Population:
    """The coded population; a node's keys are still to be filled in."""
    coded = table.coded(people, listed, "sqlaudit_lattice_people")
    first = 1 + len([a for a in table.attributes if a.resolved])
    original = tuple(f"o{first + number}" for number in range(len(table.originals)))
    return Population(coded, (), "e" if people.entity else None, None, original)

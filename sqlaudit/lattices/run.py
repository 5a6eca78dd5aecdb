"""A search in the generalization lattice, from a request and an engine to what was found."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.opening import ResolvedRoles, frame_of, load_columns, resolve_roles
from sqlaudit.column_sets.budget import until
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.dictionary import NAME, Dictionary, dictionary, held, values_statement
from sqlaudit.hierarchies.hierarchy import Hierarchy
from sqlaudit.hierarchies.levels import MappedLevel
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.lattices.answer import MOST_PRICED, Searched, result_of
from sqlaudit.lattices.attributes import read_attributes
from sqlaudit.lattices.coding import KeyColumn
from sqlaudit.lattices.costs import CostedColumn, CostTable, Listed, cost_table, labels_of
from sqlaudit.lattices.evaluate import open_evaluator
from sqlaudit.lattices.losses import Losses, column_weights
from sqlaudit.lattices.release_layout import OpenedForRelease
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.lattices.search.inquiry import Tell, silent
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.models.measures import find_measure
from sqlaudit.profiles.suspects import Written, written_as_they_are

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


@dataclass(frozen=True)
class SearchedTable:
    """The table of a search as it was opened: its roles, and the hierarchy of each quasi-identifier, in their order."""

    relation: Relation
    roles: ResolvedRoles
    hierarchies: tuple[Hierarchy, ...]

    @property
    def taking_part(self) -> list[int]:
        """The places of the quasi-identifiers that are columns of the lattice."""
        return [place for place, hierarchy in enumerate(self.hierarchies) if hierarchy.takes_part]

    def written(self, engine: Engine, keep: Sequence[str]) -> Written:
        """What a release of it holds as it is.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        return written_as_they_are(engine, self.relation, self.roles.not_published_as_they_are, keep)


def open_table(engine: Engine, request: LatticeRequest) -> SearchedTable:
    """The table, its roles and hierarchies.

    Raises:
        UsageError: a column or hierarchy that does not fit. InputError: a file of hierarchies that cannot be read.
    """
    relation = engine.open(request.target)
    roles = resolve_roles(request.roles, relation, engine.dialect)
    refuse_unclear(read_inputs(request.inputs), [attribute.label for attribute in roles.sensitive])
    labels = [column.label for column in roles.quasi_identifiers]
    return SearchedTable(relation, roles, read_hierarchies(request.hierarchies or {}).for_columns(labels))


def find_nodes(
    engine: Engine, request: LatticeRequest, *, tell: Tell = silent, table: SearchedTable | None = None
) -> LatticeResult:
    """Search the lattice.

    Args:
        engine: an open engine. request: what is searched for. tell: told of progress.
        table: what `open_table` gave for this request, if it was called before.

    Raises:
        UsageError: a request that does not fit the table.
        EngineError: the database refused, failed or went away.
    """
    already, stop = len(engine.executed), until(time.monotonic(), request.time_budget)
    table = table or open_table(engine, request)
    inputs = read_inputs(request.inputs)
    population = engine.open(population_target(inputs, request.target)) if "population" in inputs else None
    relation, roles = load_columns(engine, table.relation, table.roles)
    with workbench_of(engine) as workbench, _dictionaries(engine, workbench, relation, roles, table) as dictionaries:
        columns = [KeyColumn(roles.quasi_identifiers[place], made) for place, made in dictionaries.items()]
        evaluator = open_evaluator(
            engine,
            workbench,
            relation,
            roles,
            columns,
            request.roles,
            request.requirements,
            inputs=inputs,
            limit=request.suppression,
            population=population,
            every_count=bool(request.knowledge),
            of_values=request.measure if find_measure(request.measure).sensitive else "",
        )
        _refuse_many(request, evaluator.heights)
        values = partial(_distinct, engine, relation, roles)
        losses, costs = _losses(request, _costed(workbench, dictionaries), evaluator.rows)
        searched = Searched(request, table.hierarchies, dictionaries, evaluator, losses, costs, values)
        found = None
        if evaluator.rows:
            found = search_lattice(
                evaluator,
                request.find.value,
                loss=searched.node_loss(),
                algorithm=request.algorithm,
                chain=request.chain,
                stop=stop,
                tell=tell,
            )
        result = result_of(engine, searched, found, already, stop)
        evaluator.release()
    return result


def plan_lattice(engine: Engine, request: LatticeRequest) -> list[Statement]:
    """The statements of a search that are known before anything has run: what counts values and labels them.

    Raises:
        UsageError: as `open_table`.
    """
    table = open_table(engine, request)
    statements = []
    for place in table.taking_part:
        column, hierarchy = table.roles.quasi_identifiers[place], table.hierarchies[place]
        holds = held(engine, table.relation, column)
        statements.append(
            values_statement(table.relation, column, hierarchy, holds, engine.dialect, with_value=engine.own_workbench)
        )
    for attribute in table.roles.sensitive:
        frame = frame_of(table.relation, table.roles, attribute, request.roles)
        statements += HistogramBuilder(engine, frame).plan(attribute.sql)[:1]
    return statements


def opened_for_release(engine: Engine, request: LatticeRequest, table: SearchedTable) -> OpenedForRelease:
    """The table as its release needs it."""
    columns = table.roles.quasi_identifiers
    attributes = read_attributes(
        engine, table.relation, table.roles, request.roles, request.requirements, read_inputs(request.inputs)
    )
    return OpenedForRelease(
        engine,
        table.relation,
        table.roles,
        request.roles,
        table.hierarchies,
        tuple(held(engine, table.relation, column) for column in columns),
        tuple(attributes),
    )


def _refuse_many(request: LatticeRequest, heights: Sequence[int]) -> None:
    """Refuse to tell what can be learnt at each of very many nodes.

    Raises:
        UsageError: there are too many.
    """
    nodes = math.prod(height + 1 for height in heights)
    if request.knowledge and nodes > MOST_PRICED:
        raise UsageError(
            f"{spelled('knowledge')} tells of every node, of {MOST_PRICED:,} at most; this lattice has {nodes:,}. "
            "Leave out levels of the hierarchies, or quasi-identifiers."
        )


@contextmanager
def _dictionaries(
    engine: Engine, workbench: Engine, relation: Relation, roles: ResolvedRoles, table: SearchedTable
) -> Iterator[dict[int, Dictionary]]:
    """The dictionary of every column that takes part, by its place; dropped afterwards."""
    made: dict[int, Dictionary] = {}
    try:
        for place in table.taking_part:
            made[place] = _dictionary(
                engine, workbench, relation, roles.quasi_identifiers[place], table.hierarchies[place], f"{NAME}_{place}"
            )
        yield made
    finally:
        for one in made.values():
            workbench.drop(one.relation.label)


def _dictionary(
    engine: Engine, workbench: Engine, relation: Relation, column: Resolved, hierarchy: Hierarchy, name: str
) -> Dictionary:
    """The dictionary of a column; of a table without rows it is said that there is none, whatever its columns hold.

    Raises:
        UsageError: as `dictionary`.
    """
    try:
        return dictionary(engine, workbench, relation, column, hierarchy, name)
    except UsageError:
        if engine.run(render("base/row_count.sql", engine.dialect, source=Raw(relation.sql)))[0][0]:
            raise
        raise UsageError(f"{relation.label} has no rows, so there is nothing to search.") from None


def _costed(workbench: Engine, dictionaries: Mapping[int, Dictionary]) -> list[CostedColumn]:
    """The columns of the lattice with the labels of their levels."""
    return [
        CostedColumn(
            made.hierarchy.column,
            made.hierarchy.height,
            labels_of(workbench, made.relation, made.hierarchy.height, numeric=made.holds.kind in _NUMBERS),
            listed_leaves(made.hierarchy),
            made.holds.kind in _NUMBERS,
        )
        for made in dictionaries.values()
    ]


def listed_leaves(hierarchy: Hierarchy) -> Listed | None:
    """How many of the values that a hierarchy lists lie under each of its labels; None when it lists none."""
    table = hierarchy.table
    if table is None:
        return None
    found: dict[int, Mapping[str | None, int]] = {0: dict.fromkeys(table.rows, 1)}
    for number, level in enumerate(hierarchy.levels, 1):
        if isinstance(level, MappedLevel):
            found[number] = Counter(label for _, label in table.labels(level.place))
    return found


def _losses(request: LatticeRequest, columns: Sequence[CostedColumn], rows: int) -> tuple[Losses, CostTable]:
    measure = find_measure(request.measure)
    costs = cost_table(measure, rows, columns, request.beta)
    weights = column_weights(request.weights, [column.name for column in columns])
    return Losses(measure, rows, costs.columns, weights), costs


def _distinct(engine: Engine, relation: Relation, roles: ResolvedRoles, label: str) -> int:
    """How many different values a sensitive attribute has; NULL is one."""
    (attribute,) = [one for one in roles.sensitive if one.label == label]
    return HistogramBuilder(engine, Frame(relation.sql, (), None, False)).shape(attribute.sql)[0]

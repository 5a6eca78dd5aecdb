"""A search in the generalization lattice, from a request and an engine to the result."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from sqlaudit.audits.release import (
    audit_written,
    before,
    in_one_spelling,
    laid_in_buckets,
    refuse_without_buckets,
    write,
    write_buckets,
)
from sqlaudit.audits.run import audit_table
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, Undecidable, UsageError, until
from sqlaudit.base.options import Given, made, request_from, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import NUMBERS, Relation, Statement
from sqlaudit.base.spec import Limits, Roles, Sampling, Target, roles_from, target_of
from sqlaudit.base.sql import render
from sqlaudit.classes.attribute_inputs import refuse_ambiguous_inputs
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import further_targets, population_target, read_inputs
from sqlaudit.classes.opening import (
    ResolvedRoles,
    copy_role_columns,
    frame_of,
    open_for_release,
    refuse_spelling_conflicts,
    resolve_roles,
    value_columns,
)
from sqlaudit.engines import connect, opened
from sqlaudit.engines.contract import Engine, View, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.engines.writing import check_view, create_view, files_read, refuse_overwriting
from sqlaudit.hierarchies.defaults import defaults_statements, with_defaults, without_levels
from sqlaudit.hierarchies.dictionary import NAME, Dictionary, column_type, dictionary, values_statement
from sqlaudit.hierarchies.levels import Hierarchy, MappedLevel
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.lattices.answer import MOST_PRICED, LatticeSearch, result_of
from sqlaudit.lattices.coding import KeyColumn, read_attributes
from sqlaudit.lattices.evaluate import open_evaluator
from sqlaudit.lattices.losses import CostedColumn, Listed, Losses, column_weights, costs_of, labels_of
from sqlaudit.lattices.release import (
    OpenedForRelease,
    audit_of,
    audit_release,
    best_of,
    checkable,
    disagree,
    levels_of,
    release,
)
from sqlaudit.lattices.request import Find, LatticePublication, LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeResult, Published
from sqlaudit.lattices.search.inquiry import OnProgress, ignore_progress
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.models.measures import find_measure
from sqlaudit.models.registry import requirements
from sqlaudit.profiles.identifying import ReleaseColumns, find_release_columns


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

    def written(self, engine: Engine, keep: Sequence[str]) -> ReleaseColumns:
        """Return what a release of it holds as it is.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        return find_release_columns(
            engine, self.relation, self.roles.not_published_as_they_are, keep, self.roles.published_as_they_are
        )


def open_table(engine: Engine, request: LatticeRequest, *, planned: bool = False) -> SearchedTable:
    """The table, its roles and hierarchies.

    Args:
        engine: an open engine. request: what is searched for. planned: whether nothing may run, so that there are no
            default levels.

    Raises:
        UsageError: a column or hierarchy that does not fit. InputError: a file of hierarchies that cannot be read.
    """
    relation = open_for_release(engine, request.target, request.roles)
    roles = resolve_roles(request.roles, relation, engine)
    refuse_ambiguous_inputs(read_inputs(request.inputs), [attribute.label for attribute in roles.sensitive])
    labels = [column.label for column in roles.quasi_identifiers]
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns(labels)
    if not planned:
        hierarchies = with_defaults(engine, relation, roles.quasi_identifiers, hierarchies)
    return SearchedTable(relation, roles, hierarchies)


def find_nodes(
    engine: Engine, request: LatticeRequest, *, tell: OnProgress = ignore_progress, table: SearchedTable | None = None
) -> LatticeResult:
    """Search the lattice.

    Args:
        engine: an open engine. request: the search. tell: receives progress.
        table: the result of `open_table` for this request, if it was called before.

    Raises:
        UsageError: a request that does not fit the table.
        EngineError: the database refused a statement, failed or disconnected.
    """
    measure = find_measure(request.measure)
    already, stop = len(engine.executed), until(time.monotonic(), request.time_budget)
    table = table or open_table(engine, request)
    engine.note_remarks(table.relation)
    inputs = read_inputs(request.inputs)
    population = engine.open(population_target(inputs, request.target)) if "population" in inputs else None
    relation, roles = copy_role_columns(engine, table.relation, table.roles)
    others = () if population is None else (population,)
    refuse_spelling_conflicts(engine, value_columns(relation, roles, engine.dialect, others), request.roles.values)
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
            of_values=measure if measure.sensitive else None,
            some_classes=not (request.walk or request.find is Find.CHAIN or request.suppression),
        )
        _refuse_many(request, evaluator.heights)
        values = partial(_distinct, engine, relation, roles)
        costed = [_costed(workbench, made) for made in dictionaries.values()]
        costs, labels = costs_of(measure, evaluator.rows, costed, request.beta)
        weights = column_weights(request.weights, [column.name for column in costed])
        losses = Losses(measure, evaluator.rows, costs, weights, labels)
        search = LatticeSearch(request, table.hierarchies, dictionaries, evaluator, losses, values)
        outcome = None
        if evaluator.rows:
            outcome = search_lattice(
                evaluator,
                request.find.value,
                loss=search.node_loss(),
                algorithm=request.algorithm,
                chain=request.chain,
                stop=stop,
                on_progress=tell,
            )
        result = result_of(engine, search, outcome, already, stop)
        evaluator.release()
    return result


def plan_lattice(engine: Engine, request: LatticeRequest) -> list[Statement]:
    """The statements of a search that are known before anything has run: what counts values and labels them.

    Raises:
        UsageError: as `open_table`.
    """
    table = open_table(engine, request, planned=True)
    columns = without_levels(table.roles.quasi_identifiers, table.hierarchies)
    statements = defaults_statements(engine, table.relation, columns)
    for place in table.taking_part:
        column, hierarchy = table.roles.quasi_identifiers[place], table.hierarchies[place]
        holds = column_type(engine, table.relation, column)
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
        in_one_spelling(engine, table.relation, table.roles),
        request.roles,
        table.hierarchies,
        tuple(column_type(engine, table.relation, column) for column in columns),
        tuple(attributes),
    )


def _refuse_many(request: LatticeRequest, heights: Sequence[int]) -> None:
    """Refuse to tell what can be learnt at each of very many nodes.

    Raises:
        UsageError: there are too many.
    """
    nodes = math.prod(height + 1 for height in heights)
    if request.knowledge and nodes > MOST_PRICED:
        raise Undecidable(
            f"{spelled('knowledge')} allows at most {MOST_PRICED:,} nodes, but this lattice has {nodes:,}. Leave out "
            "levels of the hierarchies, or quasi-identifiers."
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
        if engine.run(render("base/row_count.sql", engine.dialect, source=relation))[0][0]:
            raise
        raise UsageError(f"{relation.label} has no rows.") from None


def _costed(workbench: Engine, made: Dictionary) -> CostedColumn:
    """A column of the lattice with the labels of its levels."""
    hierarchy, numeric = made.hierarchy, made.holds.kind in NUMBERS
    labels = labels_of(workbench, made.relation, hierarchy.height, numeric=numeric)
    return CostedColumn(hierarchy.column, hierarchy.height, labels, listed_leaves(hierarchy), numeric)


def listed_leaves(hierarchy: Hierarchy) -> Listed | None:
    """Return how many of the values that a hierarchy lists lie under each of its labels; None when it lists none."""
    table = hierarchy.table
    if table is None:
        return None
    found: dict[int, Mapping[str | None, int]] = {0: dict.fromkeys(table.rows, 1)}
    for number, level in enumerate(hierarchy.levels, 1):
        if isinstance(level, MappedLevel):
            found[number] = Counter(label for _, label in table.labels(level.place))
    return found


def _distinct(engine: Engine, relation: Relation, roles: ResolvedRoles, label: str) -> int:
    """Return how many different values a sensitive attribute has; NULL is one."""
    (attribute,) = [one for one in roles.sensitive if one.label == label]
    return HistogramBuilder(engine, Frame(relation.sql, (), None, False)).shape(attribute.sql)[0]


# From the best node to a release: its SQL, its view or file, and the audit of what came out.


def publish(
    engine: Engine,
    request: LatticeRequest,
    table: SearchedTable,
    result: LatticeResult,
    publication: LatticePublication,
) -> Published:
    """The release of the best node: written as SQL, audited, and put into its file if it has one.

    A view is not made here: the session only reads.

    Raises:
        UsageError: there is no safe node, a release that cannot be written, or a file that cannot.
        EngineError: the audit contradicts the search.
    """
    opened, node = opened_for_release(engine, request, table), best_of(result)
    levels, suppress = levels_of(result, node), node.failing_rows > 0
    star = publication.suppressed is Suppressed.STAR
    made = release(opened, levels, suppress=suppress, star=star)
    checked = audit_release(opened, request, result, star=star)
    select, sql = made.sql, made.ordered
    if publication.is_sql:
        select = made.over(engine.lasting(table.relation), not publication.view)
        sql = View(publication.view, select).statement(engine.dialect) if publication.view else select
    audit = audit_of(request, made.keys, Target(relation=result.target), result.rows, alone=True)
    if publication.buckets is not None:
        both = made
        if publication.original_qi:
            both = release(opened, levels, suppress=suppress, star=False, originals=True)
        laid = laid_in_buckets(f"({both.sql})", made.columns, made.keys, both.originals, opened.roles)
        write_buckets(engine, publication, laid, audit, (checked.rows, checked.classes, bool(checked.failing)))
    else:
        batches = engine.stream(Statement("release", made.ordered))
        another = disagree("the file has a different number of rows")
        known = (checked.rows, checked.classes, checked.failing)
        check = partial(
            audit_written, engine, publication, names=made.columns, request=audit, roles=opened.roles, known=known
        )
        write(publication, sql, made.columns, batches, checked.rows, another, partial(check, disagree=disagree))
    return Published(
        node.levels,
        sql,
        publication.view,
        str(publication.file or ""),
        False,
        publication.suppressed.value,
        made.columns,
        made.keys,
        made.unnamed,
        checked,
        select,
        str(publication.buckets or ""),
    )


NO_VIEW = LatticePublication()


@takes(
    "target * qi require sensitive hierarchies suppress find measure weights beta algorithm chain knowledge "
    "time_budget walk identifier entity joint nulls sampling_fraction population_size known_rows values publish_view "
    "execute replace_view to buckets_to original_qi suppressed keep_column db query where inputs read limits roles",
    *(LatticeRequest, LatticePublication, Roles, Sampling),
    walk=("bool", True),
)
def lattice(given: Given) -> LatticeResult:
    """Find the least generalization that makes a table safe (`sqlaudit lattice`).

    Args:
        qi: the quasi-identifiers, in the order of a node's levels.
        require: the requirements of a release, as for `audit`.
        hierarchies: of each quasi-identifier: a YAML file, a folder of CSV files, or a mapping such as
            `{"age": {"widths": [5, 10]}, "sex": "keep"}`; a column without one is kept or suppressed.
        suppress: the share of the rows that may be left out, in classes that fail.
        weights: of columns in the loss, by name.
        beta: the exponent of the height weights of the measure `whd-height`.
        algorithm: `auto`, `bounds`, `best-first`, `ola`, `incognito`, `exhaustive` or `chain`.
        chain: with `chain`: nodes from fine to coarse.
        knowledge: with `all`: numbers of pieces of knowledge for the maximum disclosure of every node, or "0..12".
        walk: keep every node that was counted.
        sampling_fraction, population_size: as for `audit`; for weights of rows, give their sum as the population.
        publish_view: write the view of the best node under this name.
        execute: create that view in the database, over a separate connection; nothing else is written there.

    Raises:
        UsageError: a column, hierarchy, requirement or option that does not fit.
        EngineError: the database refused a statement, failed or disconnected, or a release contradicts the search.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")})
        >>> found = sqlaudit.lattice(people, qi=["age", "sex"], require={"k": 2}, hierarchies={"age": {"widths": [10]}})
        >>> found.best.levels, found.named(found.best.levels)
        ((2, 0), {'age': '*', 'sex': 'values'})
    """
    request = request_from(
        LatticeRequest,
        vars(given),
        target=target_of(given),
        roles=roles_from(vars(given), sampling=request_from(Sampling, vars(given) | {"weights": None})),
        requirements=requirements(given.require),
        inputs=given.inputs or {},
    )
    publication = request_from(LatticePublication, vars(given))
    place = given.db if isinstance(given.db, str) else None
    check_publication(publication, place)
    refuse_overwriting([publication.file, publication.buckets], files_read(given.db, targets_of(request)))
    with opened(given.db, given.limits, *targets_of(request)) as engine:
        result = search_and_publish(engine, request, publication)
    limits = made(Limits, given.limits, "limits")
    return make(place, request, publication, result, limits) if given.execute else result


def check_publication(publication: LatticePublication, db: str | None) -> None:
    """Check that the release can be written, as far as possible before any work.

    Raises:
        UsageError: a file that cannot be written, or a view without the name of its database.
    """
    publication.check()
    if publication.execute and not db:
        raise UsageError(
            f"{spelled('execute', True)} creates a view in a database. Name the database with {spelled('db')}."
        )
    if publication.view:
        view = View(publication.view, "")
        view.parts()
        if publication.execute and db:
            check_view(db, view)


def targets_of(request: LatticeRequest) -> tuple[Target, ...]:
    """Everything that a search reads."""
    return (request.target, *further_targets(request.inputs, request.target))


def search_and_publish(
    engine: Engine,
    request: LatticeRequest,
    publication: LatticePublication = NO_VIEW,
    tell: OnProgress = ignore_progress,
) -> LatticeResult:
    """Search, and write the release of the best node; a view is not made yet.

    Args:
        engine: an open engine. request, publication: what is asked. tell: told of progress.

    Raises:
        UsageError, EngineError: as `lattice`.
    """
    table = open_table(engine, request)
    refuse_without_buckets(publication, request.roles, table.roles)
    before(engine, publication, table.written(engine, publication.keep))
    result = find_nodes(engine, request, tell=tell, table=table)
    if not publication.wanted or result.best is None or result.stopped == "interrupted":
        return result
    already, published = len(engine.executed), publish(engine, request, table, result, publication)
    remarks = dict.fromkeys((*result.remarks, *provenance(engine, already)["remarks"]))
    return replace(result, published=published, remarks=tuple(remarks))


def make(
    db: str | None, request: LatticeRequest, publication: LatticePublication, result: LatticeResult, limits: Limits
) -> LatticeResult:
    """Make the view of a result over a connection of its own, and audit the view.

    Raises:
        UsageError: no database, or a relation of that name is there already.
        EngineError: the database refused, or the audit of the view contradicts that of its SQL.
    """
    written = result.published
    if written is None or not publication.execute:
        return result
    view = View(publication.view, written.select)
    create_view(db, view, replace=publication.replace)
    if written.audit is not None and request.roles.entity is None:  # persons are not in the view
        _check_view(db, request, publication.view, written.keys, written.audit, limits, result.rows)
    return replace(result, published=replace(written, executed=True))


def _check_view(
    db: str | None, request: LatticeRequest, view: str, keys: Sequence[str], before: Checked, limits: Limits, rows: int
) -> None:
    """Audit the view as others will read it: it must find what was found before the view was made.

    Raises:
        EngineError: it does not.
    """
    target = Target(relation=view)
    audit = audit_of(request, keys, target, rows, alone=True)
    with connect(db, limits, target, *further_targets(audit.inputs, target)) as engine:
        found = audit_table(engine, audit, rows_are_people=True)
    agrees = found.status.value == before.status or checkable(request, alone=True) != request.requirements
    if (found.rows, found.classes.count) != (before.rows, before.classes) or not agrees:
        raise EngineError(f"The view {view!r} differs from the search: the table has changed. Drop the view.")

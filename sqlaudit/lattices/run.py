"""A search in the generalization lattice, from a request and an engine to the result."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial

from sqlaudit.audits.release import (
    audit_written,
    before,
    in_one_spelling,
    laid_in_buckets,
    refuse_creation,
    refuse_without_buckets,
    statements_before,
    write,
    write_buckets,
)
from sqlaudit.audits.run import audit_table
from sqlaudit.audits.written import Origin
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, ExitCode, Undecidable, UsageError, until, verdict
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest_column, untyped
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import NUMBERS, Statement
from sqlaudit.base.spec import Limits, Requirement, Target
from sqlaudit.base.sql import render
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import further_targets
from sqlaudit.classes.opening import OpenedTable, open_for_release, open_table
from sqlaudit.engines import connect
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Database, Engine, View, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.engines.writing import create_view
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
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeResult, Published
from sqlaudit.lattices.search.inquiry import OnProgress, ignore_progress
from sqlaudit.lattices.search.section import LatticeSection
from sqlaudit.models.measures import find_measure
from sqlaudit.profiles.identifying import ReleaseColumns, find_release_columns
from sqlaudit.profiles.names import contents_of


@dataclass(frozen=True)
class SearchedTable:
    """The table of a search as it was opened, and the hierarchy of each of its quasi-identifiers, in their order."""

    opened: OpenedTable
    hierarchies: tuple[Hierarchy, ...]
    fixed: Mapping[int, int] = field(default_factory=dict)
    """The requested levels of quasi-identifiers, by their place."""

    @property
    def taking_part(self) -> list[int]:
        """The places of the quasi-identifiers that are columns of the lattice."""
        return [place for place, hierarchy in enumerate(self.hierarchies) if hierarchy.takes_part]

    def written(self, keep: Sequence[str]) -> ReleaseColumns:
        """Return what a release of it holds as it is.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        engine, relation, roles = self.opened.engine, self.opened.relation, self.opened.roles
        return find_release_columns(
            engine, relation, roles.not_published_as_they_are, keep, roles.published_as_they_are
        )


def open_searched_table(engine: Engine, request: LatticeRequest, *, planned: bool = False) -> SearchedTable:
    """Open the table, find its roles, and read its inputs and hierarchies.

    Args:
        engine: an open engine.
        request: the search.
        planned: True if nothing may run, so that there are no default levels.

    Raises:
        UsageError: a column or hierarchy that does not fit. InputError: a file of hierarchies that cannot be read.
    """
    relation = open_for_release(engine, request.target, request.roles)
    opened = open_table(engine, relation, request.roles, request.inputs)
    columns = opened.roles.quasi_identifiers
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns([column.label for column in columns])
    if not planned:
        hierarchies = with_defaults(engine, relation, columns, hierarchies, contents_of)
    return SearchedTable(opened, hierarchies, _fixed_levels(request.level, hierarchies))


def _fixed_levels(level: Mapping[str, str], hierarchies: Sequence[Hierarchy]) -> dict[int, int]:
    """Return the requested level of columns, by their place; of columns whose default levels are not known yet, none.

    Raises:
        UsageError: no such column in the search, a column named twice, or no such level.
    """
    places = {each.column: place for place, each in enumerate(hierarchies) if each.takes_part}
    folded = {untyped(column).casefold(): place for column, place in places.items()}
    fixed: dict[int, int] = {}
    for name, text in level.items():
        place = places.get(name, folded.get(untyped(name).casefold()))
        if place is None:
            hint = closest_column(name, places) or f" There are: {', '.join(places)}."
            raise UsageError(f"{spelled('level')}: {name!r} is not a column of the search.{hint}")
        if place in fixed:
            raise UsageError(f"{spelled('level')} names {name!r} twice.")
        if hierarchies[place].place:
            fixed[place] = hierarchies[place].level_named(text)
    return fixed


def find_nodes(
    engine: Engine,
    request: LatticeRequest,
    *,
    on_progress: OnProgress = ignore_progress,
    searched: SearchedTable | None = None,
) -> LatticeResult:
    """Search the lattice.

    Args:
        engine: an open engine.
        request: the search.
        on_progress: receives progress.
        searched: the result of `open_searched_table` for this request, if it was called before.

    Raises:
        UsageError: a request that does not fit the table.
        EngineError: the database refused a statement, failed or disconnected.
    """
    already, stop = len(engine.executed), until(time.monotonic(), request.time_budget)
    with opened_search(engine, request, searched) as search:
        outcome = None
        if search.evaluator.rows:
            outcome = search.section.search(
                request.find.value,
                loss=search.node_loss(),
                algorithm=request.algorithm,
                chain=request.chain,
                stop=stop,
                on_progress=on_progress,
            )
        return result_of(engine, search, outcome, already, stop)


@contextmanager
def opened_search(
    engine: Engine, request: LatticeRequest, searched: SearchedTable | None = None
) -> Iterator[LatticeSearch]:
    """Yield what decides and prices the nodes of a request: its histogram lies on a workbench until the end.

    Args:
        engine: an open engine.
        request: the search.
        searched: the result of `open_searched_table` for this request, if it was called before.

    Raises:
        UsageError: a request that does not fit the table.
    """
    measure = find_measure(request.measure)
    searched = searched or open_searched_table(engine, request)
    engine.note_remarks(searched.opened.relation)
    table = searched.opened.with_population(request.target).copied()
    table.refuse_spelling_conflicts()
    with workbench_of(engine) as workbench, _dictionaries(workbench, table, searched) as dictionaries:
        columns = [KeyColumn(table.roles.quasi_identifiers[place], each) for place, each in dictionaries.items()]
        evaluator = open_evaluator(
            engine,
            workbench,
            table.relation,
            table.roles,
            columns,
            request.roles,
            request.requirements,
            inputs=table.inputs,
            limit=request.suppression,
            population=table.population,
            every_count=bool(request.knowledge),
            of_values=measure if measure.sensitive else None,
            some_classes=not (request.walk or request.find is Find.CHAIN or request.suppression or request.level),
        )
        section = LatticeSection(evaluator, tuple(searched.fixed.get(place) for place in dictionaries))
        _refuse_many(request, section.heights)
        costed = [_costed(workbench, column.dictionary) for column in columns]
        costs, labels = costs_of(measure, evaluator.rows, costed, request.beta)
        weights = column_weights(request.weights, [column.name for column in costed])
        losses = Losses(measure, evaluator.rows, costs, weights, labels)
        count_values = partial(_count_values, table)
        hierarchies = searched.hierarchies
        yield LatticeSearch(request, hierarchies, dictionaries, evaluator, losses, section, count_values, workbench)
        evaluator.release()


def plan_lattice(engine: Engine, request: LatticeRequest) -> list[Statement]:
    """Return the statements of a search, and of its release, that are known before anything has run.

    Raises:
        UsageError: as `open_searched_table`, or a column to keep that is not there or is not published.
    """
    searched = open_searched_table(engine, request, planned=True)
    written = searched.written(request.publication.keep)
    return [*statements_before(engine, request.publication, written), *plan_search(searched)]


def plan_search(searched: SearchedTable) -> list[Statement]:
    """Return the statements of a search that are known before anything has run: those that count and label values."""
    table, engine = searched.opened, searched.opened.engine
    columns = table.roles.quasi_identifiers
    unnamed = without_levels(columns, searched.hierarchies)
    statements = defaults_statements(engine, table.relation, unnamed, contents_of)
    for place in searched.taking_part:
        holds = column_type(engine, table.relation, columns[place])
        statements.append(
            values_statement(
                table.relation,
                columns[place],
                searched.hierarchies[place],
                holds,
                engine.dialect,
                with_value=engine.own_workbench,
            )
        )
    for attribute in table.roles.sensitive:
        statements += HistogramBuilder(engine, table.frame(attribute)).plan(attribute.sql)[:1]
    return statements


def opened_for_release(searched: SearchedTable, requirements: Sequence[Requirement]) -> OpenedForRelease:
    """Return the table as its release needs it."""
    table, engine = searched.opened, searched.opened.engine
    attributes = read_attributes(engine, table.relation, table.roles, table.named_roles, requirements, table.inputs)
    return OpenedForRelease(
        engine,
        table.relation,
        in_one_spelling(engine, table.relation, table.roles),
        table.named_roles,
        searched.hierarchies,
        tuple(column_type(engine, table.relation, column) for column in table.roles.quasi_identifiers),
        tuple(attributes),
    )


def _refuse_many(request: LatticeRequest, heights: Sequence[int]) -> None:
    """Raise UsageError if what can be learnt is to be computed at each of very many nodes."""
    nodes = math.prod(height + 1 for height in heights)
    if request.knowledge and nodes > MOST_PRICED:
        raise Undecidable(
            f"{spelled('knowledge')} allows at most {MOST_PRICED:,} nodes, but this lattice has {nodes:,}. Leave out "
            "levels of the hierarchies, or quasi-identifiers."
        )


@contextmanager
def _dictionaries(workbench: Engine, table: OpenedTable, searched: SearchedTable) -> Iterator[dict[int, Dictionary]]:
    """Yield the dictionary of every column that takes part, by its place; they are dropped afterwards.

    Args:
        workbench: the engine that gets them.
        table: the table that is read.
        searched: has the hierarchies.
    """
    dictionaries: dict[int, Dictionary] = {}
    try:
        for place in searched.taking_part:
            column, hierarchy = table.roles.quasi_identifiers[place], searched.hierarchies[place]
            dictionaries[place] = _dictionary(workbench, table, column, hierarchy, f"{NAME}_{place}")
        yield dictionaries
    finally:
        for column_dictionary in dictionaries.values():
            workbench.drop(column_dictionary.relation.label)


def _dictionary(workbench: Engine, table: OpenedTable, column: Resolved, hierarchy: Hierarchy, name: str) -> Dictionary:
    """Return the dictionary of a column; of a table without rows it is said that there is none, whatever it holds.

    Raises:
        UsageError: as `dictionary`.
    """
    engine, relation = table.engine, table.relation
    try:
        return dictionary(engine, workbench, relation, column, hierarchy, name)
    except UsageError:
        if engine.run(render("base/row_count.sql", engine.dialect, source=relation))[0][0]:
            raise
        raise UsageError(f"{relation.label} has no rows.") from None


def _costed(workbench: Engine, column_dictionary: Dictionary) -> CostedColumn:
    """Return a column of the lattice with the labels of its levels."""
    hierarchy, numeric = column_dictionary.hierarchy, column_dictionary.holds.kind in NUMBERS
    labels = labels_of(workbench, column_dictionary.relation, hierarchy.height, numeric=numeric)
    return CostedColumn(hierarchy.column, hierarchy.height, labels, listed_leaves(hierarchy), numeric)


def listed_leaves(hierarchy: Hierarchy) -> Listed | None:
    """Return how many of the values that a hierarchy lists lie under each of its labels; None when it lists none."""
    table = hierarchy.table
    if table is None:
        return None
    leaves: dict[int, Mapping[str | None, int]] = {0: dict.fromkeys(table.rows, 1)}
    for number, level in enumerate(hierarchy.levels, 1):
        if isinstance(level, MappedLevel):
            leaves[number] = Counter(label for _, label in table.labels(level.place))
    return leaves


def _count_values(table: OpenedTable, label: str) -> int:
    """Return how many different values a sensitive attribute has; NULL is one."""
    (attribute,) = [attribute for attribute in table.roles.sensitive if attribute.label == label]
    return HistogramBuilder(table.engine, Frame(table.relation.sql, (), None, False)).shape(attribute.sql)[0]


# From the best node to a release: its SQL, its view or file, and the audit of what came out.


def publish(request: LatticeRequest, searched: SearchedTable, result: LatticeResult) -> Published:
    """Write the release of the best node as SQL, audit it, and put it into its file if it has one.

    A view is not made here: the session only reads.

    Raises:
        UsageError: there is no safe node, a release that cannot be written, or a file that cannot.
        EngineError: the audit contradicts the search.
    """
    engine, publication = searched.opened.engine, request.publication
    opened, node = opened_for_release(searched, request.requirements), best_of(result)
    levels, suppress = levels_of(result, node), node.failing_rows > 0
    star = publication.suppressed is Suppressed.STAR
    released = release(opened, levels, suppress=suppress, star=star)
    checked = audit_release(opened, request, result, star=star)
    select, sql = released.sql, released.ordered
    if publication.is_sql:
        select = released.over(engine.lasting(opened.relation), not publication.view)
        kind = "view" if publication.view else "table"
        made = publication.created
        sql = View(made, select, kind).statement(engine.dialect) if made else select
    audit = audit_of(request, released.keys, Target(relation=result.target), result.rows, alone=True)
    if publication.buckets is not None:
        persons = released
        if publication.original_qi:
            persons = release(opened, levels, suppress=suppress, star=False, originals=True)
        buckets = laid_in_buckets(f"({persons.sql})", released.columns, released.keys, persons.originals, opened.roles)
        in_database = (checked.rows, checked.classes, bool(checked.failing))
        write_buckets(engine, publication, buckets, audit, in_database, request.target)
    else:
        batches = engine.stream(Statement("release", released.ordered))
        other_count = disagree("the file has a different number of rows")
        check = partial(
            audit_written,
            engine,
            publication,
            names=released.columns,
            request=audit,
            roles=opened.roles,
            known=(checked.rows, checked.classes, checked.failing),
            disagree=disagree,
        )
        names, origin = released.columns, Origin(request.target, released.keys)
        write(engine, publication, sql, names, batches, checked.rows, other_count, check, origin)
    return Published(
        node.levels,
        sql,
        publication.view,
        str(publication.file or ""),
        False,
        publication.suppressed.value,
        released.columns,
        released.keys,
        released.unnamed,
        checked,
        select,
        str(publication.buckets or ""),
    )


def search_and_publish(
    engine: Engine, request: LatticeRequest, on_progress: OnProgress = ignore_progress
) -> LatticeResult:
    """Search, and write the release of the best node; a view is not made yet.

    Args:
        engine: an open engine.
        request: the search, and the destination of the release.
        on_progress: receives progress.

    Raises:
        UsageError, EngineError: as `lattice`.
    """
    publication, searched = request.publication, open_searched_table(engine, request)
    refuse_without_buckets(publication, request.roles, searched.opened.roles)
    before(engine, publication, searched.written(publication.keep))
    result = find_nodes(engine, request, on_progress=on_progress, searched=searched)
    if not publication.wanted or result.best is None or result.stopped == "interrupted":
        return result
    already, published = len(engine.executed), publish(request, searched, result)
    remarks = dict.fromkeys((*result.remarks, *provenance(engine, already)["remarks"]))
    return replace(result, published=published, remarks=tuple(remarks))


# The view of a release, which is made over a connection of its own when the engine of the search is closed.


def refuse_view(request: LatticeRequest, db: Database) -> None:
    """Raise UsageError if the view of a release cannot be made, as far as that is known before any work.

    Args:
        request: the search, and the destination of the release.
        db: the database; only its name is taken, as an open connection may not write.

    Raises:
        UsageError: no database is named, or the view cannot have its name.
    """
    refuse_creation(request.publication, db, view=bool(request.publication.view))


def make_view(request: LatticeRequest, result: LatticeResult, db: Database, limits: Limits) -> LatticeResult:
    """Make the view or table of a result over a connection of its own, and audit it.

    Raises:
        UsageError: a relation of that name is there already.
        EngineError: the database refused, or the audit of the view contradicts that of its SQL.
    """
    publication, published = request.publication, result.published
    if published is None or not publication.execute:
        return result
    kind = "view" if publication.view else "table"
    create_view(db, View(publication.created, published.select, kind), replace=publication.replace)
    if published.audit is not None and request.roles.entity is None:  # persons are not in the view
        _check_view(db, request, published.keys, published.audit, limits, result.rows)
    return replace(result, published=replace(published, executed=True))


def _check_view(
    db: Database, request: LatticeRequest, keys: Sequence[str], before: Checked, limits: Limits, rows: int
) -> None:
    """Audit the view as others will read it: the audit must find what was found before the view was made.

    Args:
        db: the database.
        request: the search, and the name of the view.
        keys: the columns of the view that are quasi-identifiers.
        before: what was found before.
        limits: of the audit.
        rows: rows of the table.

    Raises:
        EngineError: it finds something else.
    """
    # A population is still read as was said of all tables
    target = Target(relation=request.publication.created, role=request.target.role, reading=request.target.reading)
    audit = audit_of(request, keys, target, rows, alone=True)
    with connect(db, limits, target, *further_targets(audit.inputs, target)) as engine:
        audited = audit_table(engine, audit, rows_are_people=True)
    agrees = audited.status.value == before.status or checkable(request, alone=True) != request.requirements
    if (audited.rows, audited.classes.count) != (before.rows, before.classes) or not agrees:
        raise EngineError(
            f"{target.relation!r} differs from the search: the table has changed. Drop it, and search again."
        )


def code_of(result: LatticeResult) -> ExitCode:
    """Return the exit code of a search's result."""
    audit = result.published.audit if result.published else None
    return verdict(result.passed and (audit is None or audit.status != "fail"), result.complete)


def _sql_of_view(request: LatticeRequest, result: LatticeResult) -> str:
    """Return the CREATE VIEW or CREATE TABLE of a result, empty if there is none."""
    return result.published.sql if result.published and request.publication.created else ""


@command(
    LatticeRequest,
    plan_lattice,
    code=code_of,
    sql=_sql_of_view,
    stopped=lambda result: result.stopped == "interrupted",
    check=refuse_view,
    finish=make_view,
)
def lattice(engine: Engine, request: LatticeRequest) -> LatticeResult:
    """Find the least generalization that makes a table safe (`sqlaudit lattice`).

    Args:
        qi: the quasi-identifiers, in the order of a node's levels.
        require: the requirements of a release, as for `audit`.
        hierarchies: of each quasi-identifier: a YAML file, a folder of CSV files, or a mapping such as
            `{"age": {"widths": [5, 10]}, "sex": "keep"}`; a column without one is kept or suppressed.
        suppress: the share of the rows that may be left out, in classes that fail.
        weights: of columns in the loss, by name.
        level: the one level of columns in every searched node, by name or number: `{"age": "5 years"}`.
        beta: the exponent of the height weights of the measure `whd-height`.
        algorithm: `auto`, `bounds`, `best-first`, `ola`, `incognito`, `exhaustive` or `chain`.
        chain: with `chain`: nodes from fine to coarse.
        knowledge: with `all`: numbers of pieces of knowledge for the maximum disclosure of every node, or "0..12".
        walk: keep every node that was counted.
        sampling_fraction, population_size: as for `audit`; for weights of rows, give their sum as the population.
        publish_view: write the view of the best node under this name.
        execute: make that view, or the table of `to="table:…"`, in the database, over a separate connection; nothing
            else is written there.

    Raises:
        UsageError: a column, hierarchy, requirement or option that does not fit.
        EngineError: the database refused a statement, failed or disconnected, or a release contradicts the search.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")})
        >>> found = sqlaudit.lattice(people, qi=["age", "sex"], require={"k": 2}, hierarchies={"age": {"widths": [10]}})
        >>> found.best.levels, found.named(found.best.levels)
        ((2, 0), {'age': '*', 'sex': 'unchanged'})
    """
    return search_and_publish(engine, request)

"""A recoding from the request to the result: classes read, groups made, losses measured, and the release audited."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from sqlaudit.audits.release import before, in_one_spelling, refuse_creation, refuse_without_buckets, statements_before
from sqlaudit.base.errors import BudgetSpent, EngineError, ExitCode, Incomplete, UsageError, until, verdict
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import OpenedTable, ResolvedRoles, describe_roles
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.levels import TOP, UNCHANGED, Hierarchy, Use
from sqlaudit.lattices.coding import decides, read_attributes
from sqlaudit.lattices.run import SearchedTable, find_nodes, open_searched_table, plan_search
from sqlaudit.models.measures import NOISE
from sqlaudit.release.compare.result import Loss
from sqlaudit.remedies import rewriting
from sqlaudit.remedies.recode.classes import Classes, common_of, dense, sorted_groups, unique_classes
from sqlaudit.remedies.recode.kaca import Grouping, Tell, merge_classes, silent, split_classes
from sqlaudit.remedies.recode.losses import Cells, measure_losses, node_cells, range_cells
from sqlaudit.remedies.recode.reading import (
    CountedAttribute,
    Judge,
    ReadTable,
    axes_of,
    dictionaries_of,
    is_cut_into_ranges,
    read_classes,
    size_requirements_of,
    with_all_counts,
    with_column_types,
)
from sqlaudit.remedies.recode.request import Method, RecodeRequest
from sqlaudit.remedies.recode.result import Beside, RecodeColumn, RecodeResult
from sqlaudit.remedies.result import Release
from sqlaudit.remedies.rewriting import RANGE, STAR, ColumnLevel, Integers, Piece, RemedyTable, at, groups_of, rewrite
from sqlaudit.reports.document import listed, plural

# From groups of classes to what is published of them: a level or range for every column of every group.

_RANGE_NAMES = (UNCHANGED, "ranges", TOP)


@dataclass(frozen=True)
class PublishedColumn:
    """What is published of a column.

    Args:
        levels: what its levels mean. level_of: the number of the level of each group. cells: the same, as losses read
            it.
        names: what reports call the levels. name_of: the number of the name of each group.
    """

    levels: tuple[ColumnLevel, ...]
    level_of: Integers
    cells: Cells
    names: tuple[str, ...]
    name_of: Integers


@dataclass(frozen=True)
class PublishedGroups:
    """Groups, and what is published of them.

    Args:
        groups: of each class, 0, 1, …. sizes: rows of each group. columns: of the groups.
    """

    groups: Integers
    sizes: Integers
    columns: tuple[PublishedColumn, ...]

    def pieces(self, read: ReadTable) -> list[Piece]:
        """Return what becomes of each row pattern."""
        numbers = np.arange(1, len(self.groups) + 1)
        levels = (column.level_of[self.groups] for column in self.columns)
        parts = [numbers, np.ones_like(numbers), read.patterns.sizes, self.groups + 1, *levels]
        return [tuple(row) for row in np.column_stack(parts).tolist()]

    def rows_at(self, place: int) -> tuple[tuple[str, int], ...]:
        """Return the rows at each level of a column."""
        column = self.columns[place]
        rows = np.bincount(column.name_of, weights=self.sizes, minlength=len(column.names))
        return tuple((name, int(count)) for name, count in zip(column.names, rows, strict=True))


def publish_groups(read: ReadTable, groups: Integers, *, ranges: bool) -> PublishedGroups:
    """Return what is published of groups: the closest common generalization, or ranges where columns are only ordered.

    Args:
        read: the table. groups: of each class. ranges: whether ordered columns become ranges.
    """
    groups = dense(groups)
    order, starts = sorted_groups(groups)
    columns = (
        _ranges(read, place, order, starts)
        if ranges and is_cut_into_ranges(column_dictionary)
        else _labels(read, place, order, starts)
        for place, column_dictionary in enumerate(read.dictionaries)
    )
    return PublishedGroups(groups, np.add.reduceat(read.classes.sizes[order], starts), tuple(columns))


def _labels(read: ReadTable, place: int, order: Integers, starts: Integers) -> PublishedColumn:
    """Return a column as labels of its hierarchy."""
    holds, hierarchy = read.dictionaries[place].holds, read.dictionaries[place].hierarchy
    tree = read.classes.trees[place]
    nodes = common_of(tree, read.classes.nodes[order, place], starts)
    used = set(tree.level[nodes].tolist())
    levels = tuple(
        at(hierarchy, number, holds) if number in used else STAR for number in range(hierarchy.height + 1)
    )  # what no group is published at needs no SQL
    names = tuple(hierarchy.level_names())
    return PublishedColumn(levels, tree.level[nodes], node_cells(read, place, nodes), names, tree.level[nodes])


def _ranges(read: ReadTable, place: int, order: Integers, starts: Integers) -> PublishedColumn:
    """Return a column as ranges from the smallest to the largest value of each group.

    A group with missing and other values gets any value.
    """
    column_dictionary, tree = read.dictionaries[place], read.classes.trees[place]
    missing = column_dictionary.values - 1 if column_dictionary.missing_rows else -1
    values = read.values[order, place]
    raised = np.maximum.reduceat(tree.level[read.classes.nodes[order, place]], starts) > 0
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    anything = raised | ((high == missing) & (low != missing))
    spans = np.where(anything[:, None], -1, np.column_stack([low, high]))
    shapes = np.where(anything, 2, np.where(low == high, 0, 1))
    levels = (STAR if raised.all() else RANGE, STAR)
    return PublishedColumn(levels, raised.astype(np.int64), range_cells(read, place, spans), _RANGE_NAMES, shapes)


def groups_at(read: ReadTable, levels: Sequence[int]) -> tuple[Integers, tuple[Cells, ...]]:
    """Return the groups and cells of a node of the lattice: every column at one level."""
    nodes = np.column_stack(
        [
            tree.ancestors_at(level, read.classes.nodes[:, place])
            for place, (tree, level) in enumerate(zip(read.classes.trees, levels, strict=True))
        ]
    )
    groups = dense(groups_of(nodes, range(len(levels))))
    order, starts = sorted_groups(groups)
    return groups, tuple(node_cells(read, place, nodes[order[starts], place]) for place in range(nodes.shape[1]))


def recode_and_publish(engine: Engine, request: RecodeRequest, on_progress: Tell = silent) -> RecodeResult:
    """Recode a table, audit the release, and write it.

    Args:
        engine: an open engine. request: the request. on_progress: receives progress.

    Raises:
        UsageError: a request that does not fit the table, or a release that cannot be written.
        Incomplete: the time limit was reached; nothing was published.
        EngineError: the database refused a statement, failed or disconnected, or an audit contradicts the recoding.
    """
    already, started, publication = len(engine.executed), time.monotonic(), request.publication
    searched = open_searched_table(engine, request.of_lattice())
    table = searched.opened
    refuse_without_buckets(publication, request.roles, table.roles)
    before(engine, publication, searched.written(publication.keep))
    table.refuse_spelling_conflicts()
    _refuse_entities(table)
    copy = table.copied()
    typed = with_column_types(engine, table.relation, _recoded_roles(searched, table.roles))
    rewritten = RemedyTable(engine, table.relation, in_one_spelling(engine, table.relation, typed), request.roles)
    typed = with_column_types(engine, copy.relation, _recoded_roles(searched, copy.roles))
    read_from = RemedyTable(engine, copy.relation, typed, request.roles)
    with workbench_of(engine) as workbench:
        recoding = _Recoding(workbench, request, searched, rewritten, read_from, started, on_progress)
        result = recoding.result()
    return replace(result, **provenance(engine, already))


def plan_recoding(engine: Engine, request: RecodeRequest) -> list[Statement]:
    """Return the statements that are known before anything has run.

    They read values and labels, sensitive values, and row patterns.

    Raises:
        UsageError: as `recode_and_publish`.
    """
    searched = open_searched_table(engine, request.of_lattice(), planned=True)
    relation = searched.opened.relation
    roles = with_column_types(engine, relation, _recoded_roles(searched, searched.opened.roles))
    table = RemedyTable(engine, relation, roles, request.roles)
    first = statements_before(engine, request.publication, searched.written(request.publication.keep))
    return [*first, *plan_search(searched), table.patterns_statement()]


def _recoded_roles(searched: SearchedTable, roles: ResolvedRoles) -> ResolvedRoles:
    """Return the roles as the release has them: columns that are dropped are left out like direct identifiers.

    Args:
        searched: has the hierarchies, which say what is dropped.
        roles: of the table or its copy.

    Raises:
        UsageError: every column is dropped.
    """
    recoded = [roles.quasi_identifiers[place] for place in searched.taking_part]
    if not recoded:
        raise UsageError("Every quasi-identifier is dropped: nothing is left to recode.")
    dropped = [
        role
        for role, hierarchy in zip(roles.quasi_identifiers, searched.hierarchies, strict=True)
        if hierarchy.use is Use.DROP
    ]
    return replace(roles, quasi_identifiers=tuple(recoded), identifiers=(*roles.identifiers, *dropped))


def _refuse_entities(table: OpenedTable) -> None:
    """Raise UsageError if people have several rows: their number in a merged group does not follow from its classes."""
    engine, entity = table.engine, table.roles.entity
    if entity is None:
        return
    statement = render(
        "remedies/recode/recode_persons.sql",
        engine.dialect,
        step="rows of people",
        source=table.relation,
        entity=entity,
    )
    rows, persons = (int(count) for count in engine.run(statement)[0])
    if rows != persons:
        raise UsageError(
            f"{about('entity')}: {plural(rows, 'row is', 'rows are')} about {plural(persons, 'person', 'people')}. "
            "Recoding needs exactly one row per person. Use lattice instead."
        )


@dataclass(frozen=True)
class _Recoding:
    """One recoding over one pair of engine and workbench.

    Args:
        workbench: the engine that judges groups.
        request: the request.
        searched: the table as it was opened.
        table: the same, as its rows are rewritten.
        read_from: the same, with a copy of its columns where reading again would parse again.
        started: when the work began.
        on_progress: receives progress.
    """

    workbench: Engine
    request: RecodeRequest
    searched: SearchedTable
    table: RemedyTable
    read_from: RemedyTable
    started: float
    on_progress: Tell

    def result(self) -> RecodeResult:
        """Return everything that was requested, except for its provenance."""
        hierarchies = [self.searched.hierarchies[place] for place in self.searched.taking_part]
        engine, relation, roles = self.table.engine, self.read_from.relation, self.read_from.roles
        with dictionaries_of(engine, self.workbench, relation, roles.quasi_identifiers, hierarchies) as dictionaries:
            request, inputs = self.request, self.searched.opened.inputs
            attributes = with_all_counts(
                read_attributes(engine, relation, roles, request.roles, request.requirements, inputs)
            )
            read = read_classes(
                self.workbench,
                self.table,
                self.read_from,
                dictionaries,
                attributes,
                request.beta,
                nulls_differ=request.roles.nulls is NullPolicy.DISTINCT,
            )
            if not len(read.classes):
                return self._result(read, f"{self.table.relation.label} has no rows.")
            return self._recoded(read, attributes)

    def _recoded(self, read: ReadTable, attributes: list[CountedAttribute]) -> RecodeResult:
        """Recode the table, and measure the release; a result with the reasons if that is impossible."""
        classes, where = unique_classes(read.classes)
        judge = Judge(self.workbench, attributes, classes.rows)
        reasons = list(self._infeasible(classes, attributes, judge))
        if reasons:
            return self._result(read, *reasons)
        grouping = self._grouped(read, classes, attributes, judge)
        if grouping.stuck:
            return self._result(read, _stuck(read, grouping.stuck))
        published = publish_groups(read, grouping.groups[where], ranges=self.request.method is Method.MONDRIAN)
        release = self._released(read, published)
        losses = self._losses(read, attributes, published.groups, [column.cells for column in published.columns])
        best_node = self._best_node(read, attributes) if self.request.lattice else None
        return replace(
            self._result(read, published=published),
            groups=len(published.sizes),
            merges=grouping.merges,
            smallest=int(published.sizes.min()),
            losses=losses,
            release=release,
            beside=best_node,
        )

    # --- groups ---

    def _infeasible(self, classes: Classes, attributes: list[CountedAttribute], judge: Judge) -> Iterator[str]:
        """Yield why not even the coarsest recoding meets the requirements; nothing when it may."""
        if not judge.inherited and self.request.method is Method.KACA:
            return
        fixed = [place for place, tree in enumerate(classes.trees) if tree.is_fixed]
        sizes, words = classes.summed(*sorted_groups(groups_of(classes.nodes, fixed)))
        if not judge.short(sizes, words).any():
            return
        names = listed((self.table.roles.quasi_identifiers[place].label for place in fixed), None)
        among = f"for rows with the same {names} (unchanged)" if fixed else "for all rows together"
        for attribute in attributes:
            for check in attribute.asked:
                only_check = [replace(each, asked=(check,) if each is attribute else ()) for each in attributes]
                if decides(check) and Judge(self.workbench, only_check, classes.rows).short(sizes, words).any():
                    about_attribute = f" for {check.sensitive}" if check.sensitive else ""
                    text = f"{check.requirement.text}{about_attribute}"
                    yield f"{text} fails even {among}, so no recoding can meet it."

    def _grouped(self, read: ReadTable, classes: Classes, attributes: list[CountedAttribute], judge: Judge) -> Grouping:
        """Group the classes by the method of the request.

        Raises:
            Incomplete: the time limit was reached.
        """
        request, reached = self.request, [0, 0]
        stop = until(self.started, request.time_budget)

        def count_steps(steps: int, groups: int) -> None:
            reached[:] = [steps, groups]
            self.on_progress(steps, groups)

        try:
            if request.method is Method.MONDRIAN:
                return split_classes(classes, axes_of(self.workbench, read), judge, stop, count_steps)
            sizes = Judge(self.workbench, size_requirements_of(attributes), classes.rows)
            judges = (sizes, judge) if sizes.decides else (judge,)
            return merge_classes(classes, judges, request.order, request.seed or 0, stop, count_steps)
        except BudgetSpent:
            steps = "merges" if request.method is Method.KACA else "rounds of splits"
            raise Incomplete(
                f"Time limit of {request.time_budget:g} seconds reached after {reached[0]:,} {steps}, with "
                f"{reached[1]:,} groups. An unfinished recoding is not safe, so nothing was published."
            ) from None

    # --- what it comes to ---

    def _released(self, read: ReadTable, published: PublishedGroups) -> Release:
        """Return the release, audited; it is written if the publication has a file.

        Raises:
            EngineError: the audit contradicts the recoding.
        """
        request, levels = self.request, [column.levels for column in published.columns]
        rewritten = partial(rewrite, self.table, read.patterns, levels, published.pieces(read), salt=0)
        persons, originals = self.table.roles.entity is not None, request.publication.original_qi
        plain = rewritten()
        audited = rewritten(persons=persons, originals=originals) if persons or originals else plain
        release = rewriting.release(
            self.table,
            plain,
            audited,
            request.requirements,
            original=request.target,
            inputs=request.inputs,
            publication=request.publication,
        )
        classes, groups = release.audit.classes, len(published.sizes)
        if classes != groups and request.roles.nulls is NullPolicy.EQUAL:
            raise EngineError(rewriting.disagree(f"{classes:,} classes, not {groups:,}"))
        return release

    def _losses(
        self, read: ReadTable, attributes: list[CountedAttribute], groups: Integers, cells: Sequence[Cells]
    ) -> tuple[Loss, ...]:
        """Measure what groups with these cells lose."""
        beta, inputs = self.request.beta or Fraction(1), self.searched.opened.inputs
        noise = self.request.measure == NOISE
        return measure_losses(
            self.workbench, self.table.engine, read, attributes, groups, cells, beta=beta, inputs=inputs, noise=noise
        )

    def _best_node(self, read: ReadTable, attributes: list[CountedAttribute]) -> Beside:
        """Return the best node of the lattice under the same requirements, with the same losses."""
        budget = self.request.time_budget
        left = None if budget is None else max(0.0, budget - (time.monotonic() - self.started))
        search = find_nodes(self.table.engine, self.request.of_lattice(left), searched=self.searched)
        best = search.best
        if best is None:
            return Beside(search.measure, search.complete, search.why)
        groups, cells = groups_at(read, best.levels)
        losses = self._losses(read, attributes, groups, cells)
        named = tuple(search.named(best.levels).items())
        return Beside(search.measure, search.complete, (), best.levels, named, best.classes, best.smallest, losses)

    def _result(self, read: ReadTable, *reasons: str, published: PublishedGroups | None = None) -> RecodeResult:
        """Return the result without what a recoding comes to.

        Args:
            read: the table.
            reasons: why nothing satisfies the requirements.
            published: what is published of the groups, None = there are none.
        """
        request = self.request
        columns: list[tuple[Hierarchy, int | None, tuple[tuple[str, int], ...]]] = [
            (column.hierarchy, column.values, () if published is None else published.rows_at(place))
            for place, column in enumerate(read.dictionaries)
        ]
        columns += [(dropped, None, ()) for dropped in self.searched.hierarchies if dropped.use is Use.DROP]
        return RecodeResult(
            target=request.target.name,
            rows=read.classes.rows,
            roles=describe_roles(request.roles),
            requirements=tuple(limit.text for limit in request.requirements if limit.severity != "warn"),
            warn_only=tuple(limit.text for limit in request.requirements if limit.severity == "warn"),
            method=request.method.value,
            order=request.order.value if request.method is Method.KACA else None,
            seed=request.drawn,
            beta=request.beta if request.method is Method.KACA else None,
            measure=request.measure,
            classes=len(read.classes),
            columns=tuple(
                RecodeColumn(
                    hierarchy.column,
                    hierarchy.height,
                    hierarchy.form,
                    hierarchy.use.value,
                    values,
                    rows_at,
                    hierarchy.by_default,
                )
                for hierarchy, values, rows_at in columns
            ),
            why=reasons,
        )


def _stuck(read: ReadTable, rows: int) -> str:
    """Return why no recoding was found: rows are in a class that cannot be merged."""
    fixed = [column.hierarchy.column for column in read.dictionaries if not column.hierarchy.height]
    where = f" (unchanged columns: {', '.join(fixed)})" if fixed else ""
    return (
        f"{rows:,} rows are in a failing class that cannot be merged with any other{where}. Another order or method "
        "may find a recoding, because larger classes can fail requirements that their parts meet."
    )


def code_of(result: RecodeResult) -> ExitCode:
    """Return the exit code of a recoding's result."""
    return verdict(result.passed)


@command(
    RecodeRequest,
    plan_recoding,
    code=code_of,
    sql=rewriting.sql_of_release,
    check=lambda request, db: refuse_creation(request.publication, db),
    finish=rewriting.make_table,
)
def recode(engine: Engine, request: RecodeRequest) -> RecodeResult:
    """Make a table safe by local recoding: generalize each class only as far as needed (`sqlaudit recode`).

    Args:
        require: as for `audit`; requirements that a class meets by itself.
        hierarchies: of each quasi-identifier, as for `lattice`.
        lattice: whether to find the best node of the lattice for comparison.
        publish_sql: put the SELECT of the release into the result (`release.sql`).

    Raises:
        UsageError: a column, hierarchy, requirement or option that does not fit.
        Incomplete: the time limit was reached; nothing was published.
        EngineError: the database refused a statement, failed or disconnected, or the audit contradicts the recoding.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")})
        >>> made = sqlaudit.recode(people, qi=["age", "sex"], require={"k": 2}, hierarchies={"age": {"widths": [10]}})
        >>> made.groups, made.columns[0].rows_at, made.columns[1].rows_at
        (2, (('unchanged', 0), ('width 10', 0), ('*', 5)), (('unchanged', 5), ('*', 0)))
    """
    return recode_and_publish(engine, request)

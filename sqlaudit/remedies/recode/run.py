"""A recoding from the request to the result: classes read, groups made, losses measured, and the release audited."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from sqlaudit.audits.release import before, in_one_spelling, refuse_without_buckets, statements_before
from sqlaudit.base.errors import BudgetSpent, EngineError, Incomplete, UsageError, until
from sqlaudit.base.options import Given, request_from, takes
from sqlaudit.base.parameter_names import about
from sqlaudit.base.publication import BucketPublication
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import NullPolicy, Roles, Sampling, roles_from, target_of
from sqlaudit.base.sql import render
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.classes.opening import (
    ResolvedRoles,
    copy_role_columns,
    describe_roles,
    refuse_spelling_conflicts,
    value_columns,
)
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.hierarchies.levels import Hierarchy, Use
from sqlaudit.lattices.coding import decides, read_attributes
from sqlaudit.lattices.run import SearchedTable, find_nodes, open_table, plan_lattice, targets_of
from sqlaudit.models.registry import requirements
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
from sqlaudit.reports.document import listing, plural

# From groups of classes to what is published of them: a level or range for every column of every group.

_SHOWN = ("values", "ranges", "*")


@dataclass(frozen=True)
class PublishedColumn:
    """What is published of a column.

    Args:
        levels: what its levels mean. chosen: the one that each group has. cells: the same, as losses read it.
        names: what reports call the levels. shown: which of these each group has.
    """

    levels: tuple[ColumnLevel, ...]
    chosen: Integers
    cells: Cells
    names: tuple[str, ...]
    shown: Integers


@dataclass(frozen=True)
class Made:
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
        chosen = (one.chosen[self.groups] for one in self.columns)
        parts = [numbers, np.ones_like(numbers), read.patterns.sizes, self.groups + 1, *chosen]
        return [tuple(row) for row in np.column_stack(parts).tolist()]

    def rows_at(self, place: int) -> tuple[tuple[str, int], ...]:
        """The rows at each level of a column."""
        column = self.columns[place]
        rows = np.bincount(column.shown, weights=self.sizes, minlength=len(column.names))
        return tuple((name, int(count)) for name, count in zip(column.names, rows, strict=True))


def made_of(read: ReadTable, groups: Integers, *, ranges: bool) -> Made:
    """Return what is published of groups: the closest common generalization, or ranges where columns are only ordered.

    Args:
        read: the table. groups: of each class. ranges: whether ordered columns become ranges.
    """
    groups = dense(groups)
    order, starts = sorted_groups(groups)
    columns = (
        _ranges(read, place, order, starts)
        if ranges and is_cut_into_ranges(made)
        else _labels(read, place, order, starts)
        for place, made in enumerate(read.dictionaries)
    )
    return Made(groups, np.add.reduceat(read.classes.sizes[order], starts), tuple(columns))


def _labels(read: ReadTable, place: int, order: Integers, starts: Integers) -> PublishedColumn:
    """A column as labels of its hierarchy."""
    made, tree = read.dictionaries[place], read.classes.trees[place]
    nodes = common_of(tree, read.classes.nodes[order, place], starts)
    used, last = set(tree.level[nodes].tolist()), made.hierarchy.height
    levels = tuple(
        at(made.hierarchy, number, made.holds) if number in used else STAR for number in range(last + 1)
    )  # what no group is published at needs no SQL
    names = tuple(made.hierarchy.level_names())
    return PublishedColumn(levels, tree.level[nodes], node_cells(read, place, nodes), names, tree.level[nodes])


def _ranges(read: ReadTable, place: int, order: Integers, starts: Integers) -> PublishedColumn:
    """A column as ranges from the smallest to the largest value of each group; any value where some are missing."""
    made, tree = read.dictionaries[place], read.classes.trees[place]
    missing = made.values - 1 if made.missing_rows else -1
    values = read.values[order, place]
    raised = np.maximum.reduceat(tree.level[read.classes.nodes[order, place]], starts) > 0
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    anything = raised | ((high == missing) & (low != missing))
    spans = np.where(anything[:, None], -1, np.column_stack([low, high]))
    shown = np.where(anything, 2, np.where(low == high, 0, 1))
    levels = (STAR if raised.all() else RANGE, STAR)
    return PublishedColumn(levels, raised.astype(np.int64), range_cells(read, place, spans), _SHOWN, shown)


def made_at(read: ReadTable, levels: Sequence[int]) -> tuple[Integers, tuple[Cells, ...]]:
    """The groups and cells of a node of the lattice: every column at one level."""
    nodes = np.column_stack(
        [
            tree.ancestors_at(level, read.classes.nodes[:, place])
            for place, (tree, level) in enumerate(zip(read.classes.trees, levels, strict=True))
        ]
    )
    groups = dense(groups_of(nodes, range(len(levels))))
    order, starts = sorted_groups(groups)
    return groups, tuple(node_cells(read, place, nodes[order[starts], place]) for place in range(nodes.shape[1]))


def recode_and_publish(engine: Engine, request: RecodeRequest, tell: Tell = silent) -> RecodeResult:
    """Recode a table, audit the release, and write it.

    Args:
        engine: an open engine. request: the request. tell: receives progress.

    Raises:
        UsageError: a request that does not fit the table, or a release that cannot be written.
        Incomplete: the time limit was reached; nothing was published.
        EngineError: the database refused a statement, failed or disconnected, or an audit contradicts the recoding.
    """
    request.publication.check()
    already, started = len(engine.executed), time.monotonic()
    opened = open_table(engine, request.of_lattice())
    refuse_without_buckets(request.publication, request.roles, opened.roles)
    before(engine, request.publication, opened.written(engine, request.publication.keep))
    refuse_spelling_conflicts(
        engine, value_columns(opened.relation, opened.roles, engine.dialect), request.roles.values
    )
    _refuse_entities(engine, opened)
    loaded, roles = copy_role_columns(engine, opened.relation, opened.roles)
    whole = in_one_spelling(
        engine, opened.relation, with_column_types(engine, opened.relation, _taking(opened, opened.roles))
    )
    table = RemedyTable(engine, opened.relation, whole, request.roles)
    read_from = RemedyTable(engine, loaded, with_column_types(engine, loaded, _taking(opened, roles)), request.roles)
    with workbench_of(engine) as workbench:
        run = _Run(engine, workbench, request, opened, table, read_from, started, tell)
        result = run.result()
    return replace(result, **provenance(engine, already))


def plan_recoding(engine: Engine, request: RecodeRequest) -> list[Statement]:
    """The statements that are known before anything has run: values and labels, sensitive values, and row patterns.

    Raises:
        UsageError: as `recode_and_publish`.
    """
    opened = open_table(engine, request.of_lattice(), planned=True)
    roles = with_column_types(engine, opened.relation, _taking(opened, opened.roles))
    table = RemedyTable(engine, opened.relation, roles, request.roles)
    first = statements_before(engine, request.publication, opened.written(engine, request.publication.keep))
    return [*first, *plan_lattice(engine, request.of_lattice()), table.patterns_statement()]


def _taking(opened: SearchedTable, roles: ResolvedRoles) -> ResolvedRoles:
    """The roles as the release has them: columns that are dropped are left out like direct identifiers.

    Raises:
        UsageError: every column is dropped.
    """
    found = [roles.quasi_identifiers[place] for place in opened.taking_part]
    if not found:
        raise UsageError("Every quasi-identifier is dropped: nothing is left to recode.")
    gone = [
        role
        for role, hierarchy in zip(roles.quasi_identifiers, opened.hierarchies, strict=True)
        if hierarchy.use is Use.DROP
    ]
    return replace(roles, quasi_identifiers=tuple(found), identifiers=(*roles.identifiers, *gone))


def _refuse_entities(engine: Engine, opened: SearchedTable) -> None:
    """Refuse people with several rows: their number in a merged group does not follow from its classes."""
    entity = opened.roles.entity
    if entity is None:
        return
    statement = render(
        "remedies/recode/recode_persons.sql",
        engine.dialect,
        step="rows of people",
        source=opened.relation,
        entity=entity,
    )
    rows, persons = (int(count) for count in engine.run(statement)[0])
    if rows != persons:
        raise UsageError(
            f"{about('entity')}: {plural(rows, 'row is', 'rows are')} about {plural(persons, 'person', 'people')}. "
            "Recoding needs exactly one row per person. Use lattice instead."
        )


@dataclass(frozen=True)
class _Run:
    """One recoding over one pair of engine and workbench.

    Args:
        table: as its rows are rewritten. read_from: the same, its columns kept where reading again would parse again.
    """

    engine: Engine
    workbench: Engine
    request: RecodeRequest
    opened: SearchedTable
    table: RemedyTable
    read_from: RemedyTable
    started: float
    tell: Tell

    def result(self) -> RecodeResult:
        """Everything that was asked for; where it comes from is told elsewhere."""
        hierarchies = [self.opened.hierarchies[place] for place in self.opened.taking_part]
        columns, loaded = self.read_from.roles.quasi_identifiers, self.read_from.relation
        with dictionaries_of(self.engine, self.workbench, loaded, columns, hierarchies) as dictionaries:
            given, inputs = self.request, read_inputs(self.request.inputs)
            roles = self.read_from.roles
            asked = read_attributes(self.engine, loaded, roles, given.roles, given.requirements, inputs)
            attributes, apart = with_all_counts(asked), given.roles.nulls is NullPolicy.DISTINCT
            read = read_classes(
                self.workbench, self.table, self.read_from, dictionaries, attributes, given.beta, nulls_differ=apart
            )
            if not len(read.classes):
                return self._result(read, f"{self.opened.relation.label} has no rows.")
            return self._recoded(read, attributes)

    def _recoded(self, read: ReadTable, attributes: list[CountedAttribute]) -> RecodeResult:
        """Recode the table, and measure the release; a result with the reasons if that is impossible."""
        classes, where = unique_classes(read.classes)
        judge = Judge(self.workbench, attributes, classes.rows)
        why = list(self._infeasible(classes, attributes, judge))
        if why:
            return self._result(read, *why)
        merged = self._grouped(read, classes, attributes, judge)
        if merged.stuck:
            return self._result(read, _stuck(read, merged.stuck))
        made = made_of(read, merged.groups[where], ranges=self.request.method is Method.MONDRIAN)
        release = self._released(read, made)
        losses = self._losses(read, attributes, made.groups, [one.cells for one in made.columns])
        beside = self._beside(read, attributes) if self.request.lattice else None
        return replace(
            self._result(read, made=made),
            groups=len(made.sizes),
            merges=merged.merges,
            smallest=int(made.sizes.min()),
            losses=losses,
            release=release,
            beside=beside,
        )

    # --- groups ---

    def _infeasible(self, classes: Classes, attributes: list[CountedAttribute], judge: Judge) -> Iterator[str]:
        """Yield why not even the coarsest recoding meets the requirements; nothing when it may."""
        if not judge.inherited and self.request.method is Method.KACA:
            return
        kept = [place for place, tree in enumerate(classes.trees) if tree.is_fixed]
        sizes, words = classes.summed(*sorted_groups(groups_of(classes.nodes, kept)))
        if not judge.short(sizes, words).any():
            return
        names = listing((self.table.roles.quasi_identifiers[place].label for place in kept), None)
        among = f"for rows with the same {names} (unchanged)" if kept else "for all rows together"
        for attribute in attributes:
            for item in attribute.asked:
                alone = [replace(one, asked=(item,) if one is attribute else ()) for one in attributes]
                if decides(item) and Judge(self.workbench, alone, classes.rows).short(sizes, words).any():
                    about = f" for {item.sensitive}" if item.sensitive else ""
                    yield f"{item.requirement.text}{about} fails even {among}, so no recoding can meet it."

    def _grouped(self, read: ReadTable, classes: Classes, attributes: list[CountedAttribute], judge: Judge) -> Grouping:
        """Group the classes by the method of the request.

        Raises:
            Incomplete: the time limit was reached.
        """
        request, done = self.request, [0, 0]
        stop = until(self.started, request.time_budget)

        def tell(steps: int, left: int) -> None:
            done[:] = [steps, left]
            self.tell(steps, left)

        try:
            if request.method is Method.MONDRIAN:
                return split_classes(classes, axes_of(self.workbench, read), judge, stop, tell)
            sizes = Judge(self.workbench, size_requirements_of(attributes), classes.rows)
            judges = (sizes, judge) if sizes.decides else (judge,)
            return merge_classes(classes, judges, request.order, request.seed or 0, stop, tell)
        except BudgetSpent:
            what = "merges" if request.method is Method.KACA else "rounds of splits"
            raise Incomplete(
                f"Time limit of {request.time_budget:g} seconds reached after {done[0]:,} {what}, with {done[1]:,} "
                "groups. An unfinished recoding is not safe, so nothing was published."
            ) from None

    # --- what it comes to ---

    def _released(self, read: ReadTable, made: Made) -> Release:
        """The release, audited; written where that was asked for.

        Raises:
            EngineError: the audit contradicts the recoding.
        """
        request, pieces = self.request, made.pieces(read)
        more = {"persons": self.table.roles.entity is not None, "originals": request.publication.original_qi}
        rewritten = partial(rewrite, self.table, read.patterns, [one.levels for one in made.columns], pieces, salt=0)
        shown = rewritten()
        checked = rewritten(**more) if any(more.values()) else shown
        found = rewriting.release(
            self.table, shown, checked, request.requirements, inputs=request.inputs, publication=request.publication
        )
        if found.audit.classes != len(made.sizes) and request.roles.nulls is NullPolicy.EQUAL:
            raise EngineError(rewriting.disagree(f"{found.audit.classes:,} classes, not {len(made.sizes):,}"))
        return found

    def _losses(
        self, read: ReadTable, attributes: list[CountedAttribute], groups: Integers, cells: Sequence[Cells]
    ) -> tuple[Loss, ...]:
        beta = self.request.beta or Fraction(1)
        inputs = read_inputs(self.request.inputs)
        return measure_losses(self.workbench, self.engine, read, attributes, groups, cells, beta=beta, inputs=inputs)

    def _beside(self, read: ReadTable, attributes: list[CountedAttribute]) -> Beside:
        """The best node of the lattice under the same requirements, with the same losses."""
        budget = self.request.time_budget
        left = None if budget is None else max(0.0, budget - (time.monotonic() - self.started))
        found = find_nodes(self.engine, self.request.of_lattice(left), table=self.opened)
        if found.best is None:
            return Beside(found.measure, found.complete, found.why)
        groups, cells = made_at(read, found.best.levels)
        losses = self._losses(read, attributes, groups, cells)
        best, named = found.best, tuple(found.named(found.best.levels).items())
        return Beside(found.measure, found.complete, (), best.levels, named, best.classes, best.smallest, losses)

    def _result(self, read: ReadTable, *why: str, made: Made | None = None) -> RecodeResult:
        """The result without what a recoding comes to, or with the reasons why nothing satisfies what is required."""
        request = self.request
        columns: list[tuple[Hierarchy, int | None, tuple[tuple[str, int], ...]]] = [
            (one.hierarchy, one.values, () if made is None else made.rows_at(place))
            for place, one in enumerate(read.dictionaries)
        ]
        columns += [(one, None, ()) for one in self.opened.hierarchies if one.use is Use.DROP]
        return RecodeResult(
            target=request.target.name,
            rows=read.classes.rows,
            roles=describe_roles(request.roles),
            requirements=tuple(one.text for one in request.requirements if one.severity != "warn"),
            warn_only=tuple(one.text for one in request.requirements if one.severity == "warn"),
            method=request.method.value,
            order=request.order.value if request.method is Method.KACA else None,
            seed=request.drawn,
            beta=request.beta if request.method is Method.KACA else None,
            measure=request.measure,
            classes=len(read.classes),
            columns=tuple(
                RecodeColumn(one.column, one.height, one.form, one.use.value, values, rows_at, one.by_default)
                for one, values, rows_at in columns
            ),
            why=why,
        )


def _stuck(read: ReadTable, rows: int) -> str:
    kept = [made.hierarchy.column for made in read.dictionaries if not made.hierarchy.height]
    where = f" (unchanged columns: {', '.join(kept)})" if kept else ""
    return (
        f"{rows:,} rows are in a failing class that cannot be merged with any other{where}. Another order or method "
        "may find a recoding, because larger classes can fail requirements that their parts meet."
    )


@takes(
    "target * qi require sensitive hierarchies method order seed beta measure lattice time_budget identifier entity "
    "joint nulls values sampling_fraction population_size publish_sql to buckets_to original_qi keep_column db query "
    "where inputs read limits roles",
    *(RecodeRequest, BucketPublication, Roles, Sampling),
)
def recode(given: Given) -> RecodeResult:
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
        (2, (('values', 0), ('width 10', 0), ('*', 5)), (('values', 5), ('*', 0)))
    """
    request = request_from(
        RecodeRequest,
        vars(given),
        target=target_of(given),
        roles=roles_from(vars(given), sampling=request_from(Sampling, vars(given))),
        requirements=requirements(given.require),
        inputs=given.inputs or {},
        publication=request_from(BucketPublication, vars(given)),
    )
    targets = targets_of(request.of_lattice())
    refuse_overwriting([request.publication.file, request.publication.buckets], files_read(given.db, targets))
    with opened(given.db, given.limits, *targets) as engine:
        return recode_and_publish(engine, request)

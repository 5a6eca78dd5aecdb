"""Find the unsafe cells of a published table: the verdict of each rule, and what other cells reveal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sqlaudit.audits.written import write_file
from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.files import BOM
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement
from sqlaudit.classes.opening import ColumnValues, refuse_spelling_conflicts
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.cell_rules import CellRule, Verdicts
from sqlaudit.models.registry import cell_rule
from sqlaudit.reports.document import listing, plural
from sqlaudit.tabular.cells import Bools, Codes, TableCells, Wholes
from sqlaudit.tabular.differences import expand_releases, find_differences, judge_change
from sqlaudit.tabular.hidden import (
    ANY_WIDTH,
    deduce_hidden_cells,
    find_hidden_with_contributions,
    find_narrow_cells,
    find_published_elsewhere,
    find_rounded_measures,
    has_only_small_counts_hidden,
    judge_at_limits,
    with_deduced_numbers,
)
from sqlaudit.tabular.linked import list_linked_tables, read_linked_cells
from sqlaudit.tabular.listing import CellQuery, label_keys, list_cells
from sqlaudit.tabular.other_columns import NO_COLUMNS, OtherColumns, find_other_columns, plan_other_columns
from sqlaudit.tabular.protect import find_problems, iter_rows, protect_cells, released_measures, round_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import (
    MOST_KEYS,
    AggregatesResult,
    CellInterval,
    CellProtection,
    DrawnTable,
    LinkedTable,
    ReleaseDifference,
    RuleFound,
    TableProblem,
)
from sqlaudit.tabular.structure import read_cells
from sqlaudit.tabular.totals import complete_table, count_contributors, find_grand_totals


def find_unsafe_cells(engine: Engine, request: AggregatesRequest) -> AggregatesResult:
    """Check the cells of a published table against rules.

    Args:
        engine: an open engine.
        request: the table, the tables related to it, and the rules.

    Raises:
        UsageError: an unknown column, or cells that are neither a number nor marked as hidden.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.base.spec import Target
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.models.registry import CELL_RULES
        >>> from sqlaudit.models.registry import parse_requirement
        >>> table = Target(frame=pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 2, 9]}))
        >>> rules = (parse_requirement("threshold=5", among=CELL_RULES),)
        >>> with connect() as engine:
        ...     request = AggregatesRequest(table, by=("region",), count="n", requirements=rules)
        ...     found = find_unsafe_cells(engine, request)
        >>> found.unsafe_cells, found.totals, found.contributors
        (1, ('region',), 9)
    """
    executed_before = len(engine.executed)
    if request.is_answer:
        from sqlaudit.tabular.answers import judge_answer

        return replace(judge_answer(engine, request, find_unsafe_cells), **provenance(engine, executed_before))
    relation = engine.open(request.target)
    _refuse_merged(engine, [relation], request)
    related = [engine.open(table) for table in request.linked]
    query, cells, linked_tables = _read_all_cells(engine, relation, related, request)
    margins = _list_margins(engine, relation, request)
    margins_cells = None if margins is None else read_cells(engine, margins, request)
    rules = [cell_rule(requirement) for requirement in request.requirements]
    older = [engine.open(release) for release in expand_releases(engine, request.before, request.target)]
    tables = [relation, *related, *older]
    other_columns = NO_COLUMNS if request.microdata else find_other_columns(engine, tables, request, rules)
    audit = CellAudit(engine, query, cells, request, margins_cells, other_columns)
    result = replace(audit.result(relation.label), linked=linked_tables)
    if request.protect:
        result = replace(result, protection=audit.protect())
    releases = [*older, relation]
    if older:
        _refuse_merged(engine, releases, request)
    result = replace(result, differences=tuple(judge_differences(engine, releases, request)))
    return replace(result, **provenance(engine, executed_before))


def plan_cells(engine: Engine, request: AggregatesRequest) -> list[Statement]:
    """Return the statements that read the cells, of linked tables together, for `--dry-run`.

    Raises:
        UsageError: an unknown column.
    """
    if request.is_answer:
        from sqlaudit.tabular.answers import plan_answer

        return [statement for part in plan_answer(engine, request) for statement in plan_cells(engine, part)]
    relation, *linked = (engine.open(table) for table in (request.target, *request.linked))
    if linked:
        query, _ = list_linked_tables(engine, [relation, *linked], request)
    else:
        query = list_cells(engine, relation, request, _count_contributions(request))
    margins = _list_margins(engine, relation, request)
    others = [] if request.microdata else plan_other_columns(engine, [relation, *linked], request)
    return [*(source.statement(engine.dialect) for source in (query, margins) if source is not None), *others]


def _refuse_merged(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> None:
    """Check that it is clear which values are one person, and which one holding.

    Raises:
        UsageError: several names may mean one person, and the request does not decide it.
    """
    names = (request.person, request.holdings) if request.microdata else ()
    columns = [
        ColumnValues(
            name, [(release, resolve(name, release, engine.dialect, name)) for release in releases], missing=False
        )
        for name in names
        if name
    ]
    refuse_spelling_conflicts(engine, columns, request.values)


def _read_all_cells(
    engine: Engine, relation: Relation, linked: Sequence[Relation], request: AggregatesRequest
) -> tuple[CellQuery, TableCells, tuple[LinkedTable, ...]]:
    """Return the query and the cells of a table, or of linked tables, and a description of each linked table."""
    if not linked:
        query = list_cells(engine, relation, request, _count_contributions(request))
        return query, read_cells(engine, query, request), ()
    query, cells, names_by_table = read_linked_cells(engine, [relation, *linked], request)
    tables = zip([relation, *linked], names_by_table, strict=True)
    return query, cells, tuple(LinkedTable(table.label, by) for table, by in tables)


def _list_margins(engine: Engine, relation: Relation, request: AggregatesRequest) -> CellQuery | None:
    """Return the query of the cells of persons with their margins, if a rule compares them; None otherwise.

    A person who is in several cells is one contributor of a margin, so that margins cannot be added up from cells.
    """
    if not (
        request.microdata
        and request.person
        and any(cell_rule(requirement).of_margins for requirement in request.requirements)
    ):
        return None
    grouping_sets = request.sets() or (tuple(range(len(request.by))),)
    above = [
        tuple(other for other in grouping_set if other != axis)
        for grouping_set in grouping_sets
        for axis in grouping_set
    ]
    return list_cells(engine, relation, request, sets=sorted({*grouping_sets, *above}))


def _count_contributions(request: AggregatesRequest) -> int:
    """Return the number of largest contributions that the rules read."""
    return max((cell_rule(requirement).contributions for requirement in request.requirements), default=0)


def judge_differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest
) -> Iterator[ReleaseDifference]:
    """Yield the verdicts of the rules for changes on every two releases."""
    if len(releases) < 2:
        return
    rules = tuple(requirement for requirement in request.requirements if cell_rule(requirement).of_changes)
    changes_request = replace(request, requirements=rules)
    labels = [release.label for release in releases]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number})" for number, label in enumerate(labels, 1)]
    for change in find_differences(engine, releases, changes_request, _count_contributions(changes_request)):
        verdicts = CellAudit(engine, change.query, change.cells, changes_request).judge_difference(
            labels[change.before], labels[change.after]
        )
        if_renamed = (
            None if change.renamed is None else CellAudit(engine, change.query, change.renamed.cells, changes_request)
        )
        yield judge_change(verdicts, change, [] if if_renamed is None else if_renamed.cells_not_safe)


MOST_ROWS, MOST_COLUMNS = 40, 12
"""Limits of a table that is drawn."""


def draw_table(cells: TableCells, unsafe: Bools, labels: Mapping[tuple[int, int], str]) -> DrawnTable | None:
    """Return a table of one or two dimensions with marks; None of a larger one.

    Args:
        cells: the table.
        unsafe: cells that a rule finds.
        labels: of codes, by (axis, code).
    """
    if len(cells.dimensions) > 2 or complete_table(cells) is None or not cells.published:
        return None
    codes = []
    for dimension, keys in zip(cells.dimensions, cells.keys.T, strict=True):
        used = np.unique(keys)
        codes.append(used[np.argsort(dimension.is_total[used], kind="stable")].tolist())  # totals last
    if len(codes[0]) > MOST_ROWS or (len(codes) > 1 and len(codes[1]) > MOST_COLUMNS):
        return None
    names = [tuple(labels.get((axis, code), "all") for code in axis_codes) for axis, axis_codes in enumerate(codes)]
    texts = dict(zip(map(tuple, cells.keys.tolist()), _cell_texts(cells, unsafe), strict=True))
    columns = [(code,) for code in codes[1]] if len(codes) > 1 else [()]
    grid = tuple(tuple(texts.get((row, *column), "") for column in columns) for row in codes[0])
    return DrawnTable(names[0], names[1] if len(names) > 1 else (), grid)


def _cell_texts(cells: TableCells, unsafe: Bools) -> list[str]:
    """Return the text of each cell: its first published number, or `*`, with a mark."""
    measure = cells.published[0]
    is_deduced = np.zeros(len(cells), dtype=np.bool_)
    for hidden in deduce_hidden_cells(cells):
        is_deduced[hidden.deduced_cells[0]] = True
    texts = []
    for cell, units in enumerate(measure.units.tolist()):
        if measure.known[cell]:
            number = f"{units:,}" if not measure.places else f"{units / 10**measure.places:,.{measure.places}f}"
            texts.append(f"{number} !" if unsafe[cell] else number)
        else:
            texts.append("* ?" if is_deduced[cell] else "*")
    return texts


_OF_NUMBERS = "{} can be checked for changes only in the rows that the tables were made from."
MOST_INTERVALS = 20
"""Largest number of hidden cells that are shown with their limits."""


@dataclass(frozen=True)
class CellAudit:
    """The audit of one table by the rules of a request.

    Args:
        query: the query of its cells.
        margins: for rules that compare cells with their margins, all cells with these; None where the cells suffice.
        others: the numeric columns that are not used.
    """

    engine: Engine
    query: CellQuery
    cells: TableCells
    request: AggregatesRequest
    margins: TableCells | None = None
    others: OtherColumns = NO_COLUMNS

    def result(self, label: str) -> AggregatesResult:
        """Return the result, without provenance, changes and protection."""
        cells, shows_values = self.cells, self.request.show_values
        small = len(cells) <= MOST_ROWS * MOST_COLUMNS
        rules = self._rule_results
        problems = tuple(replace(problem, keys=self._shown_keys(keys)) for problem, keys in self._problems())
        if not len(cells) or any(problem.is_mistake for problem in problems):  # no cell is safe for certain then
            passing = {Status.PASS: Status.UNDETERMINED}
            rules = tuple(replace(rule, status=passing.get(rule.status, rule.status)) for rule in rules)
        return AggregatesResult(
            target=label,
            by=self.query.names,
            columns=self.query.columns,
            totals=tuple(dimension.name for dimension in cells.dimensions if bool(dimension.is_total.any())),
            subtotals={dimension.name: number for dimension in cells.dimensions if (number := dimension.subtotals)},
            cells=len(cells),
            contributors=count_contributors(cells),
            contributors_added_up=cells.contributors is not None and not bool(find_grand_totals(cells).any()),
            unsafe_cells=int(self._unsafe.sum()),
            rules=rules,
            hidden=int(cells.hidden.sum()),
            marks=tuple(
                mark.described for mark in self.request.marks() if mark.low is not None or mark.high is not None
            ),
            unused_columns=self.others.names,
            deducible=self._deducible(),
            intervals=tuple(self._intervals()) if shows_values else (),
            outsiders_only=bool(cells.hidden.any()) and any(rule.of_hidden for _, rule, _ in self._verdicts),
            small_counts_hidden=has_only_small_counts_hidden(cells),
            rounded=() if self.request.microdata else tuple(find_rounded_measures(cells)),
            drawn=draw_table(cells, self._unsafe, self._labels()) if shows_values and small else None,
            problems=problems,
        )

    def judge_difference(self, before: str, after: str) -> ReleaseDifference:
        """Return the verdicts on cells that are changes from one release to another."""
        rules = self._rule_results
        if not self.request.microdata:
            rules = tuple(
                replace(rule, note=_OF_NUMBERS.format(rule.text)) if rule.undecided else rule for rule in rules
            )
        return ReleaseDifference(before, after, len(self.cells), int(self._unsafe.sum()), rules)

    @property
    def cells_not_safe(self) -> list[Bools]:
        """For each rule, the cells that fail it or that it cannot decide."""
        read = (
            (self.cells if rule.of_hidden else with_deduced_numbers(self.cells), verdict)
            for _, rule, verdict in self._verdicts
        )
        return [verdict.unsafe | ~verdict.judged & ~cells.hidden for cells, verdict in read]

    @cached_property
    def _verdicts(self) -> tuple[tuple[Requirement, CellRule, Verdicts], ...]:
        rules = [(requirement, cell_rule(requirement)) for requirement in self.request.requirements]
        return tuple((requirement, rule, self._judge(rule)) for requirement, rule in rules)

    def _judge(self, rule: CellRule) -> Verdicts:
        """Return the verdict of a rule on published cells, and on hidden cells whose contributions are known."""
        if rule.of_margins and self.margins is not None:
            verdicts, rows = rule.verdicts(self.margins), self._find_in_margins(self.margins)
            return Verdicts(verdicts.unsafe[rows], verdicts.judged[rows], verdicts.missing)
        if rule.of_hidden:
            return find_narrow_cells(self.cells, rule.width)
        verdicts = rule.verdicts(with_deduced_numbers(self.cells))
        if self.request.microdata:
            return verdicts
        is_unsafe, is_judged = judge_at_limits(self.cells, rule)
        is_open = bool((find_hidden_with_contributions(self.cells, rule) & ~is_judged).any())
        missing = verdicts.missing or (find_narrow_cells(self.cells, ANY_WIDTH).missing if is_open else "")
        return Verdicts(verdicts.unsafe | is_unsafe, verdicts.judged | is_judged, missing)

    def _find_in_margins(self, margins: TableCells) -> Wholes:
        """Return the positions of the cells among those with margins, whose codes begin with that of all values."""
        keys = self.cells.keys + (0 if self.query.flags else 1)
        order = np.argsort(margins.packed_keys, kind="stable")
        return order[np.searchsorted(margins.packed_keys[order], margins.pack_keys(keys))]

    @cached_property
    def _unsafe(self) -> Bools:
        """Cells that fail some rule."""
        is_unsafe = np.zeros(len(self.cells), dtype=np.bool_)
        for _, _, verdicts in self._verdicts:
            is_unsafe |= verdicts.unsafe
        return is_unsafe

    @property
    def _rule_results(self) -> tuple[RuleFound, ...]:
        """The result of each rule."""
        return tuple(self._rule_result(*verdict) for verdict in self._verdicts)

    def _rule_result(self, requirement: Requirement, rule: CellRule, verdict: Verdicts) -> RuleFound:
        """Return the result of one rule."""
        is_looked_at = np.ones(len(self.cells), dtype=np.bool_)
        if not rule.of_hidden:  # numbers that totals reveal count as published, except for rules on hidden cells
            is_looked_at = ~with_deduced_numbers(self.cells).hidden
            if not self.request.microdata:
                is_looked_at |= find_hidden_with_contributions(self.cells, rule)
        undecided = ~verdict.judged & ~verdict.unsafe & is_looked_at
        text = requirement.text or requirement.model
        status = Status.UNDETERMINED if undecided.any() else Status.PASS
        if verdict.unsafe.any():
            status = Status.WARN if requirement.severity == "warn" else Status.FAIL
        return RuleFound(
            rule=requirement.model,
            cells=int(verdict.unsafe.sum()),
            parameters=rule.values,
            text=text,
            judged=int((verdict.judged & is_looked_at).sum()),
            undecided=int(undecided.sum()),
            status=status,
            severity=requirement.severity,
            note=f"{text} needs {verdict.missing}." if undecided.any() and verdict.missing else "",
            keys=self._shown_keys(self.cells.keys[verdict.unsafe]),
            preset=requirement.preset,
        )

    def _problems(self) -> Iterator[tuple[TableProblem, Codes]]:
        """Yield mistakes and hidden cells that rules may have to judge, with their keys."""
        yield from find_problems(self.cells, totals_are_right=self.request.microdata)
        if self.others.revealing:
            names = listing(map(repr, self.others.revealing))
            subject = plural(self.others.cells, "cell") + (" has a value" if self.others.cells == 1 else " have values")
            waived = spelled("insensitive", self.others.revealing[0])
            yield (
                TableProblem(
                    "other_columns",
                    self.others.cells,
                    f"{subject} in {names}, which may reveal a hidden or small count. Hide it there, too, or use "
                    f"{waived} if it reveals none.",
                ),
                self.cells.keys[:0],
            )
        if deduce_hidden_cells(self.cells):
            narrow = find_narrow_cells(self.cells, ANY_WIDTH)
            is_open = self.cells.hidden & ~narrow.judged & ~narrow.unsafe
            if number := int(is_open.sum()):
                subject = f"{plural(number, 'hidden cell')} could not be checked"
                yield (
                    TableProblem("undecided_hidden_cells", number, f"{subject}: this needs {narrow.missing}."),
                    self.cells.keys[is_open],
                )

    def _labels(self) -> dict[tuple[int, int], str]:
        """Return the values of all dimensions, by (axis, code)."""
        return self.query.labels(self.engine, [np.unique(column).tolist() for column in self.cells.keys.T])

    def protect(self) -> CellProtection:
        """Return the table with unsafe cells and others hidden, and write it if it is proven to be safe.

        Raises:
            UsageError: no rule finds unsafe cells, or the table is not complete. MissingDriver: no HiGHS.
        """
        rules = [rule for _, rule, _ in self._verdicts]
        if all(rule.of_hidden for rule in rules):
            raise UsageError(f"No rule for unsafe cells is given. Name one with {spelled('require', 'threshold=5')}.")
        cells, unsafe, request = self.cells, self._unsafe, self.request
        hidden, values = np.zeros_like(unsafe), dict[str, Wholes]()
        if request.round_to is not None:
            protection, values = round_cells(cells, unsafe, rules, request, request.round_to)
        else:
            protection, hidden = protect_cells(cells, unsafe, rules, request)
        if protection.safe and request.to is not None:
            names = [self.query.columns.get(name, name) for name, _ in released_measures(cells)]
            rows = iter_rows(cells, hidden, self._labels(), values, all_is_total=bool(self.query.flags))
            encoding = BOM if request.bom else "utf-8"
            write_file(self.engine, request.to, [*self.query.names, *names], rows, None, encoding)
            protection = replace(protection, file=str(request.to))
        return replace(protection, keys=self._shown_keys(cells.keys[hidden & ~unsafe]))

    def _deducible(self) -> int | None:
        """Return the number of hidden cells that follow from published ones; None if nothing is hidden, or unknown."""
        if not bool(self.cells.hidden.any()) or any(
            hidden.deduced is None for hidden in deduce_hidden_cells(self.cells)
        ):
            return None
        return (
            int(find_narrow_cells(self.cells, ANY_WIDTH).unsafe.sum())
            if complete_table(self.cells) is not None
            else None
        )

    def _intervals(self) -> Iterator[CellInterval]:
        """Yield the limits of hidden cells, with keys."""
        width = max((rule.width for _, rule, _ in self._verdicts), default=Fraction(0))
        intervals = [
            (cell, interval, hidden.proof(cell) if interval.lower == interval.upper else ())
            for hidden in deduce_hidden_cells(self.cells)
            for cell, interval in hidden.intervals(width, MOST_INTERVALS)
        ]
        intervals = [*find_published_elsewhere(self.cells, width, MOST_INTERVALS), *intervals]
        used = sorted({part for cell, _, proof in intervals for part in (cell, *(part for part, _ in proof))})
        keys = self.cells.keys[np.array(used, dtype=np.int64)].tolist()
        named = dict(zip(used, label_keys(self.engine, self.query, keys), strict=True)) if used else {}
        for cell, interval, proof in intervals:
            adds = tuple(named[part] for part, weight in proof if weight > 0)
            takes = tuple(named[part] for part, weight in proof if weight < 0)
            yield replace(interval, cell=named[cell], adds=adds, subtracts=takes)

    def _shown_keys(self, keys: Codes) -> tuple[Mapping[str, str | None], ...]:
        """Return the keys of the first cells, if values are shown."""
        if not self.request.show_values:
            return ()
        first_keys = keys[:MOST_KEYS]
        return label_keys(self.engine, self.query, first_keys.tolist()) if len(first_keys) else ()


def code_of(result: AggregatesResult) -> ExitCode:
    """Return the exit code of a result: with a protected table, whether that is safe."""
    return verdict(result.passed if result.protection is None else result.protection.safe)


@command(AggregatesRequest, plan_cells, code=code_of)
def aggregates(engine: Engine, request: AggregatesRequest) -> AggregatesResult:
    """Find cells of a published table that disclose too much about their contributors (`sqlaudit aggregates`).

    Args:
        target: a table with one row per cell: a table, view, file path or glob, or a pandas, polars or Arrow table;
            None with `query`.
        total: for dimensions, the value that stands for all others; None for a missing value. Usual words are found.
        hierarchies: for dimensions, which values are sums of others: a YAML file, a folder of CSV files, or a mapping.
        microdata: whether to make the table from rows of people; `value` is then the contribution of a row, and
            `holdings` the holding of its person.
        grouping: the tables to make: `region;region,sector;()`; empty = one by all dimensions.
        before: earlier releases, oldest first: all pairs are compared, by the same rules. A pattern
            (`releases/*.parquet`) names one in each file.
        linked: further tables of the same people, judged together with this one; each has some of the dimensions.
        require: rules for cells: `{"threshold": 5, "p_percent": 10}`, or texts such as `dominance=n:2,k:85`.
        time_limit: seconds for the search, None = no limit; then the best answer so far, with its gap.

    Raises:
        UsageError: an unknown column or rule, cells that are neither a number nor marked as hidden.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 2, 9]})
        >>> found = sqlaudit.aggregates(table, by=["region"], count="n", require={"threshold": 5})
        >>> found.unsafe_cells, found.status.value
        (1, 'fail')
    """
    return find_unsafe_cells(engine, request)

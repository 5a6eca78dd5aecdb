"""Find the unsafe cells of a published table: the verdict of each rule, and what other cells reveal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import write_rows
from sqlaudit.base.options import REQUIRED, Given, request_from, several, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement, Target, make_target, target_of
from sqlaudit.classes.opening import ColumnValues, refuse_spelling_conflicts
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.models.cell_rules import CellRule, Verdicts
from sqlaudit.models.registry import CELL_RULES, cell_rule, requirements
from sqlaudit.reports.document import listing, plural
from sqlaudit.tabular.cells import Bools, Codes, TableCells, Wholes
from sqlaudit.tabular.differences import differences, each_release, judged_change
from sqlaudit.tabular.hidden import (
    ANY_WIDTH,
    find_pinned,
    hidden_cells,
    hidden_with_contributions,
    judged_at_limits,
    only_small_ones,
    published_elsewhere,
    read_through,
    rounded,
)
from sqlaudit.tabular.linked import linked_cells, linked_tables
from sqlaudit.tabular.listing import ListedCells, keys_shown, listed_cells
from sqlaudit.tabular.other_columns import NO_COLUMNS, OtherColumns, find_other_columns, plan_other_columns
from sqlaudit.tabular.protect import problems_of, protect_cells, released, round_cells, rows_of
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import (
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
from sqlaudit.tabular.totals import added_up, contributors_of, grand_totals


def find_unsafe_cells(
    engine: Engine,
    target: Target | Relation,
    request: AggregatesRequest,
    before: Sequence[Target] = (),
    linked: Sequence[Target] = (),
) -> AggregatesResult:
    """Check the cells of a published table against rules.

    Args:
        engine: an open engine. target: a table with one row per cell, or rows from which to make one.
        request: the columns of the table and the rules.
        before: earlier releases, oldest first; a pattern names one in each file. All pairs are compared.
        linked: further tables of the same people, judged together with this one.

    Raises:
        UsageError: an unknown column, or cells that are neither a number nor marked as hidden.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.models.registry import CELL_RULES
        >>> from sqlaudit.models.registry import parse_requirement
        >>> table = pd.DataFrame({"region": ["a", "b", "Total"], "n": [7, 2, 9]})
        >>> rules = (parse_requirement("threshold=5", among=CELL_RULES),)
        >>> with connect() as engine:
        ...     request = AggregatesRequest(by=("region",), count="n", requirements=rules)
        ...     found = find_unsafe_cells(engine, Target(frame=table), request)
        >>> found.unsafe_cells, found.totals, found.contributors
        (1, ('region',), 9)
    """
    if linked:
        _check_linked(request, before)
    if before and not any(cell_rule(one).of_changes for one in request.requirements):
        raise UsageError(
            f"No rule for changes between releases is given. Name one with {spelled('require', 'threshold=5')}."
        )
    already = len(engine.executed)
    if isinstance(target, Target):
        request = replace(request, decimal=target.read.decimal)
        before, linked = ([replace(one, where=one.where or target.where) for one in some] for some in (before, linked))
    relation = engine.open(target) if isinstance(target, Target) else engine.note_remarks(target)
    if request.protect:
        given = [target] if isinstance(target, Target) else []
        refuse_overwriting([request.to], files_read(engine, [*given, *linked]))
    _refuse_merged(engine, [relation], request)
    related = [engine.open(one) for one in linked]
    listed, cells, beside = _cells(engine, relation, related, request)
    margins = _listed_margins(engine, relation, request)
    beside_margins = None if margins is None else read_cells(engine, margins, request)
    rules = [cell_rule(one) for one in request.requirements]
    older = [engine.open(one) for one in each_release(engine, before, target)]
    tables = [relation, *related, *older]
    others = NO_COLUMNS if request.microdata else find_other_columns(engine, tables, request, rules)
    judged = JudgedCells(engine, listed, cells, request, beside_margins, others)
    found = replace(judged.result(relation.label), linked=beside)
    if request.protect:
        found = replace(found, protection=judged.protected())
    releases = [*older, relation]
    if before:
        _refuse_merged(engine, releases, request)
    found = replace(found, differences=tuple(_differences(engine, releases, request)))
    return replace(found, **provenance(engine, already))


def plan_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, linked: Sequence[Relation] = ()
) -> list[Statement]:
    """The statement that reads the cells, of linked tables together, for `--dry-run`.

    Raises:
        UsageError: an unknown column.
    """
    if linked:
        listed, _ = linked_tables(engine, [relation, *linked], request)
    else:
        listed = listed_cells(engine, relation, request, _top(request))
    margins = _listed_margins(engine, relation, request)
    others = [] if request.microdata else plan_other_columns(engine, [relation, *linked], request)
    return [*(one.statement(engine.dialect) for one in (listed, margins) if one is not None), *others]


def _refuse_merged(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> None:
    """Nothing where it is known who is one person, and what one holding.

    Raises:
        UsageError: some names may mean one, and nobody said whether they do.
    """
    names = (request.person, request.holdings) if request.microdata else ()
    columns = [
        ColumnValues(name, [(one, resolve(name, one, engine.dialect, name)) for one in releases], missing=False)
        for name in names
        if name
    ]
    refuse_spelling_conflicts(engine, columns, request.values)


def _check_linked(request: AggregatesRequest, before: Sequence[Target]) -> None:
    """Check the options of linked tables.

    Raises:
        UsageError: rows, releases, or a protected table.
    """
    if request.microdata:
        raise UsageError(
            f"{spelled('linked')} takes finished tables. Name tables made from rows with {spelled('grouping')}."
        )
    if before:
        raise UsageError(
            f"{spelled('before')} and {spelled('linked')} exclude each other: compare releases table by table."
        )
    if request.protect:
        raise UsageError(f"Linked tables cannot be protected: join them into one table, without {spelled('linked')}.")


def _cells(
    engine: Engine, relation: Relation, linked: Sequence[Relation], request: AggregatesRequest
) -> tuple[ListedCells, TableCells, tuple[LinkedTable, ...]]:
    """The cells of a table, or of several that are linked, and what these are."""
    if not linked:
        listed = listed_cells(engine, relation, request, _top(request))
        return listed, read_cells(engine, listed, request), ()
    listed, cells, split = linked_cells(engine, [relation, *linked], request)
    tables = zip([relation, *linked], split, strict=True)
    return listed, cells, tuple(LinkedTable(one.label, by) for one, by in tables)


def _listed_margins(engine: Engine, relation: Relation, request: AggregatesRequest) -> ListedCells | None:
    """The cells of persons with their margins, where a rule compares them: who is in several cells is one there."""
    if not (request.microdata and request.person and any(cell_rule(one).of_margins for one in request.requirements)):
        return None
    asked = request.sets() or (tuple(range(len(request.by))),)
    above = [tuple(at for at in one if at != place) for one in asked for place in one]
    return listed_cells(engine, relation, request, sets=sorted({*asked, *above}))


def _top(request: AggregatesRequest) -> int:
    """How many of the largest contributions the rules look at."""
    return max((cell_rule(one).contributions for one in request.requirements), default=0)


def _differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest
) -> Iterator[ReleaseDifference]:
    if len(releases) < 2:
        return
    rules = tuple(one for one in request.requirements if cell_rule(one).of_changes)
    asked = replace(request, requirements=rules)
    labels = [one.label for one in releases]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number})" for number, label in enumerate(labels, 1)]
    for one in differences(engine, releases, asked, _top(asked)):
        found = JudgedCells(engine, one.listed, one.cells, asked).difference(labels[one.before], labels[one.after])
        other = None if one.renamed is None else JudgedCells(engine, one.listed, one.renamed.cells, asked)
        yield judged_change(found, one, [] if other is None else other.not_safe)


# The cells of one table as they are judged.

MOST_ROWS, MOST_COLUMNS = 40, 12
"""Larger tables are not drawn."""


def drawn(cells: TableCells, unsafe: Bools, labels: Mapping[tuple[int, int], str]) -> DrawnTable | None:
    """A table of one or two dimensions with marks; None of a larger one.

    Args:
        cells: the table. unsafe: cells that a rule finds. labels: of codes, by (dimension, code).
    """
    if len(cells.dimensions) > 2 or added_up(cells) is None or not cells.published:
        return None
    codes = []
    for one, keys in zip(cells.dimensions, cells.keys.T, strict=True):
        used = np.unique(keys)
        codes.append(used[np.argsort(one.is_total[used], kind="stable")].tolist())  # those of totals last
    if len(codes[0]) > MOST_ROWS or (len(codes) > 1 and len(codes[1]) > MOST_COLUMNS):
        return None
    names = [tuple(labels.get((place, code), "all") for code in some) for place, some in enumerate(codes)]
    at = dict(zip(map(tuple, cells.keys.tolist()), _marks(cells, unsafe), strict=True))
    columns = [(code,) for code in codes[1]] if len(codes) > 1 else [()]
    grid = tuple(tuple(at.get((row, *column), "") for column in columns) for row in codes[0])
    return DrawnTable(names[0], names[1] if len(names) > 1 else (), grid)


def _marks(cells: TableCells, unsafe: Bools) -> list[str]:
    """What is written into each cell: its first published number, or `*`, with a mark."""
    one = cells.published[0]
    known = np.zeros(len(cells), dtype=np.bool_)
    for hidden in hidden_cells(cells):
        known[hidden.known_cells[0]] = True
    found = []
    for cell, units in enumerate(one.units.tolist()):
        if one.known[cell]:
            number = f"{units:,}" if not one.places else f"{units / 10**one.places:,.{one.places}f}"
            found.append(f"{number} !" if unsafe[cell] else number)
        else:
            found.append("* ?" if known[cell] else "*")
    return found


_OF_NUMBERS = "{} can be checked for changes only in the rows that the tables were made from."
MOST_KEYS = 20
"""So many keys of unsafe cells are shown for a rule."""
MOST_INTERVALS = 20
"""So many hidden cells are shown with what published ones leave them."""


@dataclass(frozen=True)
class JudgedCells:
    """The cells of one table, and the rules over them.

    Args:
        margins: for rules that compare cells with their margins, all cells with these; None where the cells tell.
        others: the numeric columns that are not used.
    """

    engine: Engine
    listed: ListedCells
    cells: TableCells
    request: AggregatesRequest
    margins: TableCells | None = None
    others: OtherColumns = NO_COLUMNS

    def result(self, label: str) -> AggregatesResult:
        """Everything that was asked, without where it comes from."""
        cells, shown = self.cells, self.request.show_values
        small = len(cells) <= MOST_ROWS * MOST_COLUMNS
        rules = self._found
        problems = tuple(replace(problem, keys=self._shown(keys)) for problem, keys in self._problems())
        if any(problem.is_mistake for problem in problems):  # then nothing that cells say holds for certain
            passing = {Status.PASS: Status.UNDETERMINED}
            rules = tuple(replace(one, status=passing.get(one.status, one.status)) for one in rules)
        return AggregatesResult(
            target=label,
            by=self.listed.names,
            columns=self.listed.columns,
            totals=tuple(one.name for one in cells.dimensions if bool(one.is_total.any())),
            subtotals={one.name: number for one in cells.dimensions if (number := one.subtotals)},
            cells=len(cells),
            contributors=contributors_of(cells),
            contributors_added_up=cells.contributors is not None and not bool(grand_totals(cells).any()),
            unsafe_cells=int(self._unsafe.sum()),
            rules=rules,
            hidden=int(cells.hidden.sum()),
            marks=tuple(one.described for one in self.request.marks() if one.low is not None or one.high is not None),
            unused_columns=self.others.names,
            deducible=self._deducible(),
            intervals=tuple(self._intervals()) if shown else (),
            outsiders_only=bool(cells.hidden.any()) and any(rule.of_hidden for _, rule, _ in self._verdicts),
            small_counts_hidden=only_small_ones(cells),
            rounded=() if self.request.microdata else tuple(rounded(cells)),
            drawn=drawn(cells, self._unsafe, self._labels()) if shown and small else None,
            problems=problems,
        )

    def difference(self, before: str, after: str) -> ReleaseDifference:
        """What was asked of cells that are changes from one release to another."""
        rules = self._found
        if not self.request.microdata:
            rules = tuple(replace(one, note=_OF_NUMBERS.format(one.text)) if one.undecided else one for one in rules)
        return ReleaseDifference(before, after, len(self.cells), int(self._unsafe.sum()), rules)

    @property
    def not_safe(self) -> list[Bools]:
        """For each rule, the cells that fail it or that it cannot decide."""
        read = (
            (self.cells if rule.of_hidden else read_through(self.cells), found) for _, rule, found in self._verdicts
        )
        return [verdict.unsafe | ~verdict.judged & ~cells.hidden for cells, verdict in read]

    @cached_property
    def _verdicts(self) -> tuple[tuple[Requirement, CellRule, Verdicts], ...]:
        rules = [(one, cell_rule(one)) for one in self.request.requirements]
        return tuple((one, rule, self._verdict(rule)) for one, rule in rules)

    def _verdict(self, rule: CellRule) -> Verdicts:
        """What a rule says of what is published, and of hidden cells whose contributions are given."""
        if rule.of_margins and self.margins is not None:
            found, own = rule.verdicts(self.margins), self._beside_margins(self.margins)
            return Verdicts(found.unsafe[own], found.judged[own], found.missing)
        if rule.of_hidden:
            return find_pinned(self.cells, rule.width)
        found = rule.verdicts(read_through(self.cells))
        if self.request.microdata:
            return found
        unsafe, judged = judged_at_limits(self.cells, rule)
        is_open = bool((hidden_with_contributions(self.cells, rule) & ~judged).any())
        missing = found.missing or (find_pinned(self.cells, ANY_WIDTH).missing if is_open else "")
        return Verdicts(found.unsafe | unsafe, found.judged | judged, missing)

    def _beside_margins(self, margins: TableCells) -> Wholes:
        """Where the cells are among those with margins, whose codes begin with that of all values."""
        keys = self.cells.keys + (0 if self.listed.flags else 1)
        order = np.argsort(margins.numbers, kind="stable")
        return order[np.searchsorted(margins.numbers[order], margins.packed(keys))]

    @cached_property
    def _unsafe(self) -> Bools:
        """Cells that fail some rule."""
        found = np.zeros(len(self.cells), dtype=np.bool_)
        for _, _, verdict in self._verdicts:
            found |= verdict.unsafe
        return found

    @property
    def _found(self) -> tuple[RuleFound, ...]:
        """What each rule says."""
        return tuple(self._result(*one) for one in self._verdicts)

    def _result(self, requirement: Requirement, rule: CellRule, verdict: Verdicts) -> RuleFound:
        looked = np.ones(len(self.cells), dtype=np.bool_)
        if not rule.of_hidden:  # what totals give back is published, but to a rule about just that
            looked = ~read_through(self.cells).hidden
            if not self.request.microdata:
                looked |= hidden_with_contributions(self.cells, rule)
        undecided = ~verdict.judged & ~verdict.unsafe & looked
        text = requirement.text or requirement.model
        status = Status.UNDETERMINED if undecided.any() else Status.PASS
        if verdict.unsafe.any():
            status = Status.WARN if requirement.severity == "warn" else Status.FAIL
        return RuleFound(
            rule=requirement.model,
            cells=int(verdict.unsafe.sum()),
            parameters=rule.values,
            text=text,
            judged=int((verdict.judged & looked).sum()),
            undecided=int(undecided.sum()),
            status=status,
            severity=requirement.severity,
            note=f"{text} needs {verdict.missing}." if undecided.any() and verdict.missing else "",
            keys=self._shown(self.cells.keys[verdict.unsafe]),
            preset=requirement.preset,
        )

    def _problems(self) -> Iterator[tuple[TableProblem, Codes]]:
        """Mistakes; in a table that was made here, totals are right. And hidden cells that rules may have to judge."""
        yield from problems_of(self.cells, added_up=self.request.microdata)
        if self.others.revealing:
            names = listing(map(repr, self.others.revealing))
            said = plural(self.others.cells, "cell") + (" has a value" if self.others.cells == 1 else " have values")
            waived = spelled("insensitive", self.others.revealing[0])
            yield (
                TableProblem(
                    "other_columns",
                    self.others.cells,
                    f"{said} in {names}, which may reveal a hidden or small count. Hide it there, too, or use "
                    f"{waived} if it reveals none.",
                ),
                self.cells.keys[:0],
            )
        if hidden_cells(self.cells):
            found = find_pinned(self.cells, ANY_WIDTH)
            open_ones = self.cells.hidden & ~found.judged & ~found.unsafe
            if number := int(open_ones.sum()):
                said = f"{plural(number, 'hidden cell')} could not be checked"
                yield (
                    TableProblem("undecided_hidden_cells", number, f"{said}: this needs {found.missing}."),
                    self.cells.keys[open_ones],
                )

    def _labels(self) -> dict[tuple[int, int], str]:
        """The values of all dimensions."""
        return self.listed.labels(self.engine, [np.unique(column).tolist() for column in self.cells.keys.T])

    def protected(self) -> CellProtection:
        """The table with unsafe cells and others hidden, written when it is proven to be safe.

        Raises:
            UsageError: nothing says which cells are unsafe, or the table is not complete. MissingDriver: no HiGHS.
        """
        rules = [rule for _, rule, _ in self._verdicts]
        if all(rule.of_hidden for rule in rules):
            raise UsageError(f"No rule for unsafe cells is given. Name one with {spelled('require', 'threshold=5')}.")
        cells, unsafe, request = self.cells, self._unsafe, self.request
        hidden, values = np.zeros_like(unsafe), dict[str, Wholes]()
        if request.round_to is not None:
            found, values = round_cells(cells, unsafe, rules, request, request.round_to)
        else:
            found, hidden = protect_cells(cells, unsafe, rules, request)
        if found.safe and request.to is not None:
            names = [self.listed.columns.get(name, name) for name, _ in released(cells)]
            rows = rows_of(cells, hidden, self._labels(), values, all_is_total=bool(self.listed.flags))
            write_rows(request.to, [*self.listed.names, *names], rows)
            found = replace(found, file=str(request.to))
        return replace(found, keys=self._shown(cells.keys[hidden & ~unsafe]))

    def _deducible(self) -> int | None:
        """How many hidden cells published ones give away entirely."""
        if not bool(self.cells.hidden.any()) or any(one.deduced is None for one in hidden_cells(self.cells)):
            return None
        return int(find_pinned(self.cells, ANY_WIDTH).unsafe.sum()) if added_up(self.cells) is not None else None

    def _intervals(self) -> Iterator[CellInterval]:
        """What published cells leave hidden ones, with keys."""
        width = max((rule.width for _, rule, _ in self._verdicts), default=Fraction(0))
        found = [
            (cell, one, hidden.proof(cell) if one.lower == one.upper else ())
            for hidden in hidden_cells(self.cells)
            for cell, one in hidden.intervals(width, MOST_INTERVALS)
        ]
        found = [*published_elsewhere(self.cells, width, MOST_INTERVALS), *found]
        used = sorted({part for cell, _, proof in found for part in (cell, *(part for part, _ in proof))})
        keys = self.cells.keys[np.array(used, dtype=np.int64)].tolist()
        named = dict(zip(used, keys_shown(self.engine, self.listed, keys), strict=True)) if used else {}
        for cell, one, proof in found:
            adds = tuple(named[part] for part, weight in proof if weight > 0)
            takes = tuple(named[part] for part, weight in proof if weight < 0)
            yield replace(one, cell=named[cell], adds=adds, takes=takes)

    def _shown(self, every: Codes) -> tuple[Mapping[str, str | None], ...]:
        """Keys of cells, when they are shown."""
        if not self.request.show_values:
            return ()
        keys = every[:MOST_KEYS]
        return keys_shown(self.engine, self.listed, keys.tolist()) if len(keys) else ()


@takes(
    "target * by count value contributors holdings largest hidden zeros rate insensitive total hierarchies structural "
    "microdata person "
    "values weight negative grouping before linked require preset protect price fast round_to time_limit to "
    "show_values db query where read limits",
    AggregatesRequest,
    by=("Sequence[str] | str", REQUIRED),
    **dict.fromkeys(("before", "linked"), ("Sequence[Any]", ())),
    price=("str", "count"),
    time_limit=("float | None", 60.0),
)
def aggregates(given: Given) -> AggregatesResult:
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
    rules = requirements(given.require, among=CELL_RULES)
    if given.preset:
        from sqlaudit.models.presets import of_cells

        rules = (*of_cells(several(given.preset)), *rules)
    request = request_from(AggregatesRequest, vars(given), requirements=rules)
    chosen = target_of(given)
    older, beside = ([make_target(one, read=given.read) for one in some] for some in (given.before, given.linked))
    with opened(given.db, given.limits, chosen, *older, *beside) as engine:
        return find_unsafe_cells(engine, chosen, request, older, beside)

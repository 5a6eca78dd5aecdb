"""The result for a published table, and its report. Frozen; keys of cells only with `--show-values`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import FROM_1, IF_ANY, Documented, MeasuredResult, Severity, Status, key, told
from sqlaudit.models.phrases import VERDICTS, published
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class RuleFound(Documented):
    """One rule over all cells.

    Args:
        rule: its name, as `sqlaudit models` lists it. cells: cells that are unsafe. parameters: the rule's parameters.
        text: the requirement as it was written. judged: published cells that could be decided.
        undecided: published cells that could not be decided. status: the verdict.
        severity: `error`, or `warn` for a rule that only warns. note: what was missing to decide the undecided cells.
        keys: only with `--show-values`: keys of such cells, by dimension; None is a missing value, or all values
            together.
        preset: the published rule that requires it.
    """

    rule: str
    cells: int
    parameters: Annotated[Mapping[str, Any], Mapping[str, float | str]]
    text: str
    judged: int
    undecided: int
    status: Status
    severity: Severity = "error"
    note: str = field(default="", metadata=IF_ANY)
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    preset: str = field(default="", metadata=IF_ANY)


MISSING_TOTALS, LEFT_OUT, HIDDEN_BY_QUERY = "missing_totals", "left_out_cells", "hidden_by_query"
"""Codes of remarks about a table that change no verdict."""
NOT_READ = "not_read"
"""The code of a column of an answer that could not be judged."""
MOST_KEYS = 20
"""Largest number of keys of unsafe cells that are shown for a rule."""


@dataclass(frozen=True)
class TableProblem(Documented):
    """A problem of the table itself.

    Args:
        code: a stable code. cells: how many cells. message: a text without values of the table.
        keys: keys of such cells, by dimension, only where they are shown.
    """

    code: str
    cells: int
    message: str
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)

    @property
    def is_mistake(self) -> bool:
        """True if it keeps every cell of the table from counting as safe."""
        return self.code not in (MISSING_TOTALS, LEFT_OUT, HIDDEN_BY_QUERY)


@dataclass(frozen=True)
class LinkedTable(Documented):
    """One of several tables that were judged together.

    Args:
        target: the table. by: its dimensions.
    """

    target: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseDifference(Documented):
    """What two releases of a table disclose in combination: the cells that changed between them.

    Args:
        before, after: the releases. changed: cells that differ.
        unsafe_cells: those whose change fails at least one rule.
        unsafe: each rule over the changes, as for cells.
    """

    before: str
    after: str
    changed: int
    unsafe_cells: int
    unsafe: tuple[RuleFound, ...]


CountOrValue = Annotated[str, Literal["count", "value"]]


@dataclass(frozen=True)
class CellInterval(Documented):
    """The values that published cells and totals allow for a hidden cell. Only where values are shown.

    Args:
        measure: whether it is the count or the value of the cell.
        lower: the smallest possible value, None without limit.
        upper: the largest possible value, None without limit.
        required: the required distance between both, 0 without a requirement.
        unsafe: whether they are closer than that; None where this is unknown.
        cell: the key of the cell, by dimension; None is all values together, or a missing one.
        adds: published cells whose sum gives the cell, where it can be computed.
        subtracts: published cells to subtract from these.
    """

    measure: CountOrValue
    lower: int | float | None
    upper: int | float | None
    required: int | float
    unsafe: bool | None
    cell: Mapping[str, str | None] = field(default_factory=dict)
    adds: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    subtracts: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)


@dataclass(frozen=True)
class RoundedMeasure(Documented):
    """A measure all of whose published values are multiples of a base, more than chance explains.

    Args:
        measure: whether it is the count or the value. base: the base of rounding.
        deducible: cells whose value before rounding follows from totals; None where this is unknown.
    """

    measure: CountOrValue
    base: int | float
    deducible: int | None


@dataclass(frozen=True)
class DrawnTable(Documented):
    """The published table of one or two dimensions, with marks. Only where values are shown.

    Args:
        rows: the values of the first dimension. columns: the values of the second, or none.
        cells: the cells row by row: a number, with `!` where a rule finds it unsafe; `*` where it is hidden, with `?`
            where it can be computed; empty where there is no cell.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CellProtection(Documented):
    """Further hidden cells, so that totals do not reveal unsafe ones.

    Args:
        unsafe: cells that rules find, all hidden. secondary: other cells that are hidden. cost: what these cost.
        bound: a proven lower bound of the cost. unprotected: unsafe cells that nothing protects.
        safe: whether every unsafe cell is proven to be safe. stopped: why the search ended early, or empty.
        file: the file written, or empty.
        contributors: whether the only contributors of cells were counted among those who may compute other cells.
        keys: the keys of the further cells, only where values are shown.
        rounded_to: the base, where cells were rounded instead of hidden; `cost` is then the sum of changes.
    """

    unsafe: int
    secondary: int
    cost: int
    bound: int
    unprotected: int
    safe: bool
    stopped: str
    contributors: bool = False
    file: str = ""
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    rounded_to: int | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True, repr=False)
class AggregatesResult(MeasuredResult, Shown):
    """The cells of a published table that disclose too much about their contributors.

    Args:
        engine: the engine and its version. target: the table. by: its dimensions.
        columns: the column of each measure: count, value, contributors, holdings, largest_1, …
        totals: the dimensions in which some cells are the sum of others.
        subtotals: how many values are the sum of others, by dimension, apart from grand totals.
        cells: cells, including totals.
        contributors: people or firms in all cells; None when unknown.
        contributors_added_up: whether `contributors` is a sum over cells because no grand total is published: a person
            in several cells counts in each. unsafe_cells: cells that fail at least one rule.
        rules: each rule that was required. hidden: cells that are not published.
        marks: the limits that marks of hidden cells set. unused_columns: numeric columns that were not used.
        linked: the tables that were judged together, this one first; empty for a single table.
        differences: what each pair of releases discloses in combination; empty without other releases.
        deducible: hidden cells whose value follows from published ones; None when nothing is hidden, or unknown.
        intervals: the possible values of hidden cells, the narrowest first, twenty of each measure; only where values
            are shown.
        outsiders_only: whether hidden cells were judged against outsiders only, and not against contributors, who know
            their own part.
        small_counts_hidden: whether small counts were hidden and the published totals reveal them.
        rounded: measures all of whose published values are multiples of a base.
        drawn: the table itself with marks, where values are shown and it is small.
        protection: the protected table, None without `--protect`.
        problems: mistakes of the table itself, and totals that it lacks.
        one_answer: whether it is the answer to a query, whose cells were made from its rows; other answers are not
            judged.
    """

    schema: ClassVar = "sqlaudit-aggregates/1"
    shown_by: ClassVar = "sqlaudit.tabular.result:AggregatesReport"
    frame_of: ClassVar = "aggregates.unsafe"

    engine: str = ""
    target: str
    by: tuple[str, ...]
    columns: Annotated[Mapping[str, Any], Mapping[str, str]]
    totals: tuple[str, ...]
    contributors_added_up: bool = field(default=False, metadata=IF_ANY)
    subtotals: Mapping[str, Annotated[int, FROM_1]] = field(default_factory=dict, metadata=IF_ANY)
    cells: int = field(metadata=key("aggregates.cells"))
    contributors: int | None = field(metadata=key("aggregates.contributors"))
    unsafe_cells: int = field(metadata=key("aggregates.unsafe_cells"))
    rules: tuple[RuleFound, ...] = field(metadata=key("aggregates.unsafe"))
    hidden: int = field(metadata=key("aggregates.hidden"))
    marks: tuple[str, ...] = field(default=(), metadata=IF_ANY | key("aggregates.marks"))
    unused_columns: tuple[str, ...] = field(default=(), metadata=IF_ANY | key("aggregates.unused_columns"))
    linked: tuple[LinkedTable, ...] = field(default=(), metadata=IF_ANY | key("aggregates.linked"))
    differences: tuple[ReleaseDifference, ...] = field(default=(), metadata=key("aggregates.differences"))
    deducible: int | None = field(default=None, metadata=key("aggregates.deducible"))
    intervals: tuple[CellInterval, ...] = field(default=(), metadata=key("aggregates.intervals"))
    outsiders_only: bool = field(default=False, metadata=IF_ANY | key("aggregates.outsiders_only"))
    small_counts_hidden: bool = field(default=False, metadata=key("aggregates.small_counts_hidden"))
    rounded: tuple[RoundedMeasure, ...] = field(default=(), metadata=key("aggregates.rounded"))
    drawn: DrawnTable | None = field(default=None, metadata=key("aggregates.drawn"))
    protection: CellProtection | None = field(default=None, metadata=key("aggregates.protection"))
    problems: tuple[TableProblem, ...] = field(metadata=key("aggregates.problems"))
    one_answer: bool = field(default=False, metadata=IF_ANY | key("aggregates.one_answer"))

    @property
    @told("problems")
    def status(self) -> Status:
        """The worst verdict: `pass` when nothing was required, `undetermined` when there is no cell."""
        found = {one.status for one in self.rules}
        found |= {one.status for two in self.differences for one in two.unsafe}
        if self.rules and (self.mistakes or not self.cells):
            found.add(Status.UNDETERMINED)
        worst = (Status.FAIL, Status.UNDETERMINED, Status.WARN)
        return next((status for status in worst if status in found), Status.PASS)

    @property
    def mistakes(self) -> tuple[TableProblem, ...]:
        """Mistakes of the table, because of which no cell counts as safe."""
        return tuple(one for one in self.problems if one.is_mistake)

    @property
    def passed(self) -> bool:
        """True if every requirement is met, or only warns."""
        return self.status in (Status.PASS, Status.WARN)


Keys = Sequence[Mapping[str, str | None]]
_EARLY = {"time": " (time limit reached)", "interrupted": " (search interrupted)"}
NOT_SAID = (
    "Other tables of the same people, such as an older release, may reveal more together with this one.",
    "Contributors may know more about each other than their own contribution.",
    "Unmarked subtotals were not used to compute hidden cells.",
)

MANY = ". This judges one answer: if many may be asked, publish a cube (sqlaudit cube)"
"""The end of the headline on an answer."""
OUTSIDERS = (
    "Hidden cells are checked against outsiders only. A contributor knows their own part, so that the hidden count is "
    "at least 1, and may compute other hidden cells."
)


class AggregatesReport(MeasuredReport[AggregatesResult]):
    """The report on a published table: the cells that disclose too much, and how they are protected."""

    kind = "Published table"
    limits_last = True

    def headline(self, result: AggregatesResult) -> doc.Words:
        if result.protection is not None and result.protection.safe:
            return doc.good(f"{result.target}: the protected table is safe{_against(result)}")
        return _headline(result)

    def key_figures(self, result: AggregatesResult) -> Iterator[doc.KeyFigure]:
        cells = doc.count(result.cells)
        if result.rules and result.cells:
            is_safe = not result.unsafe_cells or (result.protection is not None and result.protection.safe)
            unsafe = f"{doc.count(result.unsafe_cells)} of {cells}"
            yield doc.KeyFigure(unsafe, "Unsafe cells" + _before(result), doc.bad_if(not is_safe))
        if result.hidden:
            yield doc.KeyFigure(f"{doc.count(result.hidden)} of {cells}", "Hidden cells")
        if result.deducible is not None:
            hidden = f"{doc.count(result.deducible)} of {doc.count(result.hidden)}"
            yield doc.KeyFigure(hidden, "Hidden but computable", doc.bad_if(result.deducible))
        if result.protection is not None and result.protection.rounded_to is None and not result.hidden:
            yield doc.KeyFigure(f"{doc.count(result.protection.secondary)} of {cells}", "Further hidden cells")

    def opening(self, result: AggregatesResult) -> Iterator[doc.Content]:
        yield _rules(result)
        cells = {rule.text: [doc.Portion(rule.cells, rule.judged)] for rule in result.rules if rule.judged}
        yield doc.portions(f"Cells by rule{_before(result)}: unsafe (solid) and safe (faint)", cells)

    def lead(self, result: AggregatesResult) -> Iterator[doc.Words]:
        if any(rule.cells and not rule.keys for rule in result.rules):
            yield doc.Toned(
                "Unsafe cells are counted, not listed.", hint=f"Add {spelled('show_values', True)} to list them."
            )
        yield from (doc.warning(rule.note) for rule in result.rules if rule.note)
        if any(rule.status is Status.UNDETERMINED and not rule.undecided for rule in result.rules):
            why = "Problems of the table leave" if result.mistakes else "A table without cells leaves"
            yield doc.warning(f"{why} the verdict open.")
        for problem in result.problems:
            yield doc.warning(problem.message) if problem in result.mistakes else problem.message
        for difference in result.differences:
            yield from _changes(difference)
        if result.deducible:
            verb = "follows" if result.deducible == 1 else "follow"
            cells = f"{doc.count(result.deducible)} of {doc.plural(result.hidden, 'hidden cell')}"
            yield doc.bad(f"{cells} {verb} from published ones: hide further cells or omit totals.")
        if result.outsiders_only:
            yield OUTSIDERS
        if result.small_counts_hidden:
            yield doc.bad("Small counts are hidden but their totals are not, so subtraction reveals them.")
        for rounded in result.rounded:
            revealed = f"; totals reveal the unrounded value of {doc.plural(rounded.deducible or 0, 'cell')}"
            multiples = f"Every published {rounded.measure} is a multiple of {rounded.base}"
            yield doc.bad(f"{multiples}{revealed}.") if rounded.deducible else doc.Toned(f"{multiples}.")
        if result.protection is not None:
            yield from _protected(result.protection)

    def sections(self, result: AggregatesResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Unsafe cells", _rule_keys(result, "Rule", result.rules))
        yield doc.section("Table", *_drawn(result))
        yield doc.section("Changes between releases", _differences(result))
        changes = (_rule_keys(result, f"From {change.before}", change.unsafe) for change in result.differences)
        yield doc.section("Unsafe changes", *changes)
        yield doc.section("Hidden cells", _hidden(result))
        further = [] if result.protection is None else [("unsafe cells", result.protection.keys)]
        yield doc.section("Further hidden cells", _keys(result, "Protects", further))
        problems = [(problem.code, problem.keys) for problem in result.problems]
        yield doc.section("Problem cells", _keys(result, "Problem", problems))

    def method(self, result: AggregatesResult) -> Iterator[tuple[str, doc.Cell]]:
        columns = ", ".join(f"{what.replace('_', ' ')} = {name}" for what, name in result.columns.items())
        yield "cells", result.cells
        yield "dimensions", doc.joined(result.by)
        yield from (("linked table", f"{table.target}, by {', '.join(table.by)}") for table in result.linked)
        yield "columns", columns
        yield "totals in", ", ".join(result.totals) or "none"
        yield from ((f"subtotals in {name}", doc.plural(number, "value")) for name, number in result.subtotals.items())
        if result.contributors is not None:
            sum_of_cells = " (people in several cells count in each)" if result.contributors_added_up else ""
            yield "contributors", doc.count(result.contributors) + sum_of_cells
        yield "published rules", published(result.rules)
        yield "hidden cells", result.hidden
        yield "marks", ", ".join(result.marks)
        yield "unused numbers", ", ".join(result.unused_columns)

    def limits(self, result: AggregatesResult) -> tuple[str, ...]:
        return NOT_SAID


def _headline(result: AggregatesResult) -> doc.Words:
    """Return the verdict on the table."""
    many = MANY if result.one_answer else ""
    if not result.cells:
        is_unread = any(problem.code == NOT_READ for problem in result.problems)
        what = "the answer could not be checked" if is_unread else "the table has no cells"
        return doc.warning(f"{result.target}: {what}{many}")
    if not result.rules:
        return f"{result.target}: {doc.plural(result.cells, 'cell')}, no rules given"
    short = doc.warning if result.passed else doc.bad
    if result.unsafe_cells:
        verb, whose = ("discloses", "its") if result.unsafe_cells == 1 else ("disclose", "their")
        cells = _of(result, result.unsafe_cells)
        return short(f"{result.target}: {cells} {verb} too much about {whose} contributors{many}")
    if any(two.unsafe_cells for two in result.differences):
        return short(f"{result.target}: an older release discloses too much about people who joined, left or changed")
    if result.status is Status.UNDETERMINED:
        return doc.warning(f"{result.target}: not every cell could be checked{many}")
    whom = " against outsiders" if result.outsiders_only else ""
    rules = doc.listing(one.text for one in result.rules)
    return doc.good(f"{result.target}: every published cell is safe{whom} ({rules}){many}")


def _against(result: AggregatesResult) -> str:
    """Against whom the protected table is safe: of rounded cells, everybody knows the same."""
    if result.protection is None or result.protection.rounded_to is not None:
        return ""
    return f" against outsiders{' and the only contributors of cells' if result.protection.contributors else ''}"


def _of(result: AggregatesResult, cells: int) -> str:
    return doc.out_of(cells, result.cells, "cell")


def _protected(found: CellProtection) -> Iterator[doc.Words]:
    """The outcome for the protected table, in one sentence or two."""
    written = f"; written to {found.file}" if found.file else ""
    if found.rounded_to is not None:
        what, still = f"Rounded to multiples of {found.rounded_to}", doc.plural(found.unprotected, "cell")
        too_close = f"{still} can still be estimated too closely. Nothing was written. Use a larger number."
        yield doc.good(f"{what}; totals still add up{written}.") if found.safe else doc.bad(f"{what}: {too_close}")
        return
    cells = f"{doc.plural(found.unsafe, 'unsafe cell')} and {doc.plural(found.secondary, 'further cell')}"
    if found.safe:
        yield doc.good(f"Protected by hiding {cells}{written}.")
    else:
        in_time = f" within {spelled('time_limit')}" if found.stopped else ""
        which = f"its safety was not proven{in_time}"
        if found.unprotected:
            which = f"{doc.plural(found.unprotected, 'cell')} cannot be protected"
        yield doc.bad(f"Hiding {cells} does not protect the table: {which}. Nothing was written.")
    if found.secondary:
        needed = f"the minimum is at least {doc.count(found.bound)}" if found.bound else "the minimum is unknown"
        proven = "no other choice costs less" if found.bound == found.cost else needed
        yield f"The further cells cost {doc.count(found.cost)}; {proven}{_EARLY.get(found.stopped, '')}."


def _changes(two: ReleaseDifference) -> Iterator[doc.Words]:
    """Yield the verdict on the changes between two releases."""
    between = f"From {two.before} to {two.after}"
    if two.unsafe_cells:
        verb = "discloses" if two.unsafe_cells == 1 else "disclose"
        cells = f"{doc.count(two.unsafe_cells)} of {doc.plural(two.changed, 'changed cell')} {verb}"
        yield doc.bad(f"{between}: {cells} too much about people who joined, left or changed.")
    elif any(one.undecided for one in two.unsafe):
        yield doc.warning(f"{between}: not every change could be checked.")
    else:
        yield doc.good(f"{between}: {doc.plural(two.changed, 'cell')} changed, and every change is safe.")
    for one in two.unsafe:
        if one.note:
            yield doc.warning(one.note)


def _differences(result: AggregatesResult) -> doc.Table:
    rows = (
        (two.before, two.after, one.text, VERDICTS[one.status], two.changed, one.cells, one.undecided)
        for two in result.differences
        for one in two.unsafe
    )
    return doc.table(("Before", "After", "Rule", "Verdict", "#Changed cells", "#Unsafe", "#Undecided"), rows)


def _drawn(result: AggregatesResult) -> Iterator[doc.Content]:
    """The table with marks."""
    if result.drawn is None:
        return
    shown = result.drawn
    measure = str(result.columns.get("count") or result.columns.get("value", ""))
    columns = (doc.Column(result.by[0]), *(doc.Column(name, True) for name in shown.columns or (measure,)))
    yield doc.Table(columns, tuple((name, *row) for name, row in zip(shown.rows, shown.cells, strict=True)))
    yield ("! unsafe, * hidden, ? hidden but computable from published cells",)


def _hidden(result: AggregatesResult) -> doc.Table:
    """Return a row for each hidden cell: its key, its smallest and largest possible value, and what reveals it."""

    def fields(interval: CellInterval) -> Iterator[str]:
        # In a key – is a total (or a missing value), in a bound that there is no limit
        yield from (*(interval.cell[name] or "–" for name in result.by), interval.measure)
        yield from ("–" if bound is None else str(bound) for bound in (interval.lower, interval.upper))
        yield _sum(result, interval)

    rows = map(fields, result.intervals)
    return doc.table((*map(doc.Column, result.by), "Measure", "#At least", "#At most", "Computed as"), rows)


def _sum(result: AggregatesResult, one: CellInterval) -> str:
    """Published cells that are added and taken away: `a·Total − a·x`."""

    def named(keys: Keys) -> list[str]:
        return ["·".join(key[name] or "–" for name in result.by) for key in keys]

    return " − ".join([" + ".join(named(one.adds)), *named(one.subtracts)]) if one.adds or one.subtracts else ""


def _rules(result: AggregatesResult) -> doc.Table:
    return doc.table_of(
        result.rules,
        ("Verdict" + _before(result), lambda rule: VERDICTS[rule.status]),
        ("Requirement", "text"),
        ("#Unsafe cells" + _before(result), "cells"),
        ("#Checked cells", "judged"),
        ("?#Not decided", "undecided"),
    )


def _before(result: AggregatesResult) -> str:
    """Return the label of a figure of the table as it was before its protection."""
    return "" if result.protection is None else " before"


def _keys(result: AggregatesResult, what: str, found: Sequence[tuple[str, Keys]]) -> doc.Table:
    rows = ((text, *(key[name] or "–" for name in result.by)) for text, keys in found for key in keys)
    return doc.table(map(doc.Column, (what, *result.by)), rows)


def _rule_keys(result: AggregatesResult, what: str, rules: Sequence[RuleFound]) -> doc.Table:
    return _keys(result, what, [(one.text, one.keys) for one in rules])

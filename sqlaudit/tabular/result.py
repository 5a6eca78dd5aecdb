"""What was found about a published table, and its report. Frozen; keys of cells only where somebody asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import FROM_1, IF_ANY, Documented, MeasuredResult, Severity, Status, key, told
from sqlaudit.models.phrases import VERDICTS
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.stored import made, sql_section


@dataclass(frozen=True)
class RuleFound(Documented):
    """One rule over all cells.

    Args:
        rule: its name, as `sqlaudit models` lists it. cells: cells that are unsafe. parameters: the rule's parameters.
        text: the requirement as it was written. judged: published cells that could be decided.
        undecided: published cells that could not be decided. status: the verdict.
        severity: `error`, or `warn` for a rule that only warns. note: only where cells are undecided: what was missing.
        keys: only with `--show-values`: keys of such cells, by dimension; None is a missing value, or all values
            together.
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


MISSING_TOTALS, LEFT_OUT = "missing_totals", "left_out_cells"
"""What is worth knowing of a table and no mistake: of itself it changes no verdict."""


@dataclass(frozen=True)
class TableProblem(Documented):
    """Something about the table itself.

    Args:
        code: a stable code. cells: how many cells. message: one sentence without values of the table.
        keys: keys of such cells, by dimension, only where they are shown.
    """

    code: str
    cells: int
    message: str
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)

    @property
    def is_mistake(self) -> bool:
        """Whether nothing that the table says holds for certain."""
        return self.code not in (MISSING_TOTALS, LEFT_OUT)


@dataclass(frozen=True)
class LinkedTable(Documented):
    """One of several tables that were judged together.

    Args:
        target: what was looked at. by: what it is broken down by.
    """

    target: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseDifference(Documented):
    """What two releases of a table say together, over cells of what changed between them.

    Args:
        before, after: what was looked at. changed: cells that are not the same in both.
        unsafe_cells: those whose change falls short of at least one rule.
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
    """What published cells and totals leave a hidden cell. Only where values are shown.

    Args:
        measure: whether it is the count or the value of the cell.
        lower: the least value that is possible, None without limit.
        upper: the largest value that is possible, None without limit.
        required: how far apart both must be, 0 where nothing was asked.
        unsafe: whether they are nearer; None where that is not known.
        cell: the key of the cell, by dimension; None is all values together, or a missing one.
        adds: published cells that are added up to get a cell that is known.
        takes: published cells that are taken away from these.
    """

    measure: CountOrValue
    lower: int | float | None
    upper: int | float | None
    required: int | float
    unsafe: bool | None
    cell: Mapping[str, str | None] = field(default_factory=dict)
    adds: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    takes: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)


@dataclass(frozen=True)
class RoundedMeasure(Documented):
    """A measure all of whose published values are multiples of a base, more of them than chance would have it.

    Args:
        measure: whether it is the count or the value. base: the base of rounding.
        deducible: cells whose value before rounding totals give away; None where that was not found out.
    """

    measure: CountOrValue
    base: int | float
    deducible: int | None


@dataclass(frozen=True)
class DrawnTable(Documented):
    """The published table of one or two dimensions as it is read, with marks. Only where values are shown.

    Args:
        rows: the values of the first dimension. columns: the values of the second, or none.
        cells: row by row what stands there: a number with `!` where a rule finds it unsafe, `*` where it is hidden, `?`
            where that can be computed, and nothing where there is no cell.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CellProtection(Documented):
    """Further cells that are hidden, so that totals do not give back unsafe ones.

    Args:
        unsafe: cells that rules find, all hidden. further: other cells that are hidden. cost: what these cost.
        bound: no answer costs less, as far as is proven. open: unsafe cells that nothing protects.
        safe: whether it is proven that every unsafe cell is open enough. stopped: why the search ended early, or empty.
        file: what was written; empty when nothing was.
        keys: the keys of the further cells, only where values are shown.
        rounded_to: cells were rounded to multiples of this instead, and nothing is hidden; `cost` is by how much.
    """

    unsafe: int
    further: int
    cost: int
    bound: int
    open: int
    safe: bool
    stopped: str
    file: str = ""
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    rounded_to: int | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True, repr=False)
class AggregatesResult(MeasuredResult, Shown):
    """Which cells of a published table say too much of the few behind them.

    Args:
        engine: the engine and its version. target: what was looked at. by: what the table is broken down by.
        columns: which column says what of a cell: count, value, contributors, holdings, largest_1, …
        totals: the dimensions in which some cells are the sum of others.
        subtotals: how many values are the sum of others, but for those of everything, by dimension.
        cells: cells, those of totals among them.
        contributors: persons, firms ... behind all cells; None when nothing says it.
        contributors_added_up: whether `contributors` is a sum over cells, as no total of all is published: who is in
            several cells counts in each. unsafe_cells: cells that fall short of at least one rule.
        rules: each rule that was asked for. hidden: cells that are not published.
        linked: the tables that were judged together, this one first; none of a table alone.
        differences: what each two releases of the table say together, over cells of what changed between them; empty
            unless asked for.
        deducible: hidden cells whose value follows from published ones; None when nothing is hidden, or nobody knows.
        intervals: what published cells leave hidden ones, the narrowest first, twenty of each measure; only where
            values are shown.
        outsiders_only: whether a rule judged what hidden cells leave open to somebody who is in none of them, and not
            what contributors deduce, who know their own part.
        small_counts_hidden: whether small counts were hidden and totals left that give them back.
        rounded: measures all of whose published values are multiples of a base.
        drawn: the table itself with marks, where values are shown and it is small.
        protection: the protected table, None when nobody asked for it.
        problems: what is wrong with the table itself, and totals that it does not have.
    """

    schema: ClassVar = "sqlaudit-aggregates/1"
    shown_by: ClassVar = "sqlaudit.tabular.result:aggregates_document"
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
        """What is wrong with the table, so that nothing it says holds for certain."""
        return tuple(one for one in self.problems if one.is_mistake)

    @property
    def passed(self) -> bool:
        """Whether everything that was required holds, or only warns."""
        return self.status in (Status.PASS, Status.WARN)


# The report on a published table: which cells say too much.

Keys = Sequence[Mapping[str, str | None]]
_TONES: dict[Status, doc.Tone] = {Status.PASS: "good", Status.FAIL: "bad"}
_EARLY = {"time": ", as the time was used up", "interrupted": ", as somebody stopped the search"}
NOT_SAID = (
    "What somebody learns from this table beside another one: an older state, or a table of a part of the same people.",
    "What the contributors of a cell know of each other besides what they contributed.",
    "What follows where a value is the sum of some others, and neither its name, a hierarchy nor the numbers say so.",
)

OUTSIDERS = (
    "What hidden cells leave open is judged for outsiders. It is not judged for contributors, who know their own part: "
    "to one of a hidden count it is 1 at least, and with it other hidden cells may follow."
)


def aggregates_document(result: AggregatesResult) -> doc.Document:
    """What was found about a published table, as a document for any layout."""
    changed = (_rule_keys(result, f"From {two.before}", two.unsafe) for two in result.differences)
    further = [] if result.protection is None else [("unsafe cells", result.protection.keys)]
    return doc.report_on(
        result,
        _headline(result),
        (_lead(result),),
        doc.section("Rules for cells", _rules(result)),
        doc.section("The table", *_drawn(result)),
        doc.section("Unsafe cells", _rule_keys(result, "Rule", result.rules)),
        doc.section("What changed between releases", _differences(result)),
        doc.section("Unsafe changes", *changed),
        doc.section("Hidden cells", _hidden(result)),
        doc.section("Further cells to hide", _keys(result, "Protects", further)),
        doc.section("Cells with mistakes", _keys(result, "What", [(one.code, one.keys) for one in result.problems])),
        doc.section("How it was measured", _how(result)),
        sql_section(result),
        doc.section("What this does not say", NOT_SAID),
    )


def _headline(result: AggregatesResult) -> doc.Words:
    if not result.cells:
        return doc.warning(f"{result.target}: there is no cell")
    if not result.rules:
        return f"{result.target}: {doc.plural(result.cells, 'cell')}; no rule was asked for"
    short = doc.warning if result.passed else doc.bad
    if result.unsafe_cells:
        verb = "says" if result.unsafe_cells == 1 else "say"
        return short(f"{result.target}: {_of(result, result.unsafe_cells)} {verb} too much of the few behind them")
    if any(two.unsafe_cells for two in result.differences):
        return short(f"{result.target}: with an older release it tells of the few who came, left or changed")
    if result.status is Status.UNDETERMINED:
        return doc.warning(f"{result.target}: it cannot be said of all cells that they are safe")
    whom = " from outsiders" if result.outsiders_only else ""
    rules = doc.listing(one.text for one in result.rules)
    return doc.good(f"{result.target}: every published cell is safe{whom} by {rules}")


def _of(result: AggregatesResult, cells: int) -> str:
    return doc.out_of(cells, result.cells, "cell")


def _lead(result: AggregatesResult) -> Iterator[doc.Words]:
    for problem in result.problems:
        yield doc.warning(problem.message) if problem in result.mistakes else problem.message
    for one in result.rules:
        yield doc.Toned(_sentence(result, one), _TONES.get(one.status, "warn"))
        if one.note:
            yield doc.warning(one.note)
    for two in result.differences:
        yield from _changes(two)
    if result.hidden:
        yield f"{_of(result, result.hidden)} {'is' if result.hidden == 1 else 'are'} hidden."
    if result.deducible:
        verb = "follows" if result.deducible == 1 else "follow"
        text = f"{doc.count(result.deducible)} of {doc.plural(result.hidden, 'hidden cell')} {verb} from published ones"
        yield doc.bad(f"{text}: hide further cells, or leave totals out.")
    if result.outsiders_only:
        yield OUTSIDERS
    if result.small_counts_hidden:
        yield doc.bad("Small counts were hidden and their totals left, so that subtraction gives them back.")
    for found in result.rounded:
        back = f"; totals give {doc.plural(found.deducible, 'cell')} back as before rounding" if found.deducible else ""
        said = f"Every published {found.measure} is a multiple of {found.base}{back}."
        yield doc.Toned(said, "bad" if back else "plain")
    if result.protection is not None:
        yield from _protected(result.protection)


def _protected(found: CellProtection) -> Iterator[doc.Words]:
    """What became of the protected table, in one sentence or two."""
    written = f"; written to {found.file}" if found.file else ""
    if found.rounded_to is not None:
        what, still = f"Rounded to multiples of {found.rounded_to}", doc.plural(found.open, "cell")
        too_close = f"{still} can still be told too closely; nothing was written. Take a larger number."
        yield doc.good(f"{what}, and totals still add up{written}.") if found.safe else doc.bad(f"{what}: {too_close}")
        return
    cells = f"{doc.plural(found.unsafe, 'unsafe cell')} and {doc.plural(found.further, 'further cell')}"
    if found.safe:
        yield doc.good(f"Protected by hiding {cells}{written}.")
    else:
        in_time = f" within {spelled('time_limit')}" if found.stopped else ""
        which = f"it is not proven to be enough{in_time}"
        if found.open:
            which = f"{doc.plural(found.open, 'cell')} cannot be protected"
        yield doc.bad(f"Hiding {cells} does not protect the table: {which}; nothing was written.")
    if found.further:
        needed = f"at least {doc.count(found.bound)} is needed" if found.bound else "whether less would do is not known"
        proven = "no other choice costs less" if found.bound == found.cost else needed
        yield f"The further cells cost {doc.count(found.cost)}; {proven}{_EARLY.get(found.stopped, '')}."


def _sentence(result: AggregatesResult, one: RuleFound) -> str:
    verdict = VERDICTS[one.status].text
    opening = f"{verdict[0].upper()}{verdict[1:]}: {one.text}"
    if one.cells:
        return f"{opening}. {_of(result, one.cells)} {'is' if one.cells == 1 else 'are'} unsafe."
    if one.undecided:
        return f"{opening}. {_of(result, one.undecided)} cannot be judged."
    if one.status is Status.UNDETERMINED:
        return f"{opening}. What is said of the table above leaves it open."
    return f"{opening}, in {doc.plural(one.judged, 'published cell')}."


def _changes(two: ReleaseDifference) -> Iterator[doc.Words]:
    between = f"From {two.before} to {two.after}"
    if two.unsafe_cells:
        cells = f"{doc.count(two.unsafe_cells)} of {doc.plural(two.changed, 'changed cell')}"
        yield doc.bad(f"{between}: the changes of {cells} tell of the few who came, left or changed.")
    elif any(one.undecided for one in two.unsafe):
        yield doc.warning(f"{between}: it cannot be said of all changes that they are safe.")
    else:
        yield doc.good(f"{between}: {doc.plural(two.changed, 'cell')} changed, and no change falls short.")
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
    """The table as it is read, with marks."""
    if result.drawn is None:
        return
    shown = result.drawn
    measure = str(result.columns.get("count") or result.columns.get("value", ""))
    columns = (doc.Column(result.by[0]), *(doc.Column(name, True) for name in shown.columns or (measure,)))
    yield doc.Table(columns, tuple((name, *row) for name, row in zip(shown.rows, shown.cells, strict=True)))
    yield ("! unsafe by a rule, * hidden, ? hidden and yet known from the others",)


def _hidden(result: AggregatesResult) -> doc.Table:
    """What published cells leave hidden ones, and which of them give one away."""

    def cells(one: CellInterval) -> Iterator[str]:
        yield from (*(one.cell[name] or "–" for name in result.by), one.measure)
        yield from ("–" if bound is None else str(bound) for bound in (one.lower, one.upper))
        yield _sum(result, one)

    rows = map(cells, result.intervals)
    return doc.table((*map(doc.Column, result.by), "Of", "#At least", "#At most", "Follows from"), rows)


def _sum(result: AggregatesResult, one: CellInterval) -> str:
    """Published cells that are added and taken away: `a·Total − a·x`."""

    def named(keys: Keys) -> list[str]:
        return ["·".join(key[name] or "–" for name in result.by) for key in keys]

    return " − ".join([" + ".join(named(one.adds)), *named(one.takes)]) if one.adds or one.takes else ""


def _rules(result: AggregatesResult) -> doc.Table:
    rows = ((one.text, VERDICTS[one.status], one.cells, one.judged, one.undecided) for one in result.rules)
    return doc.table(("Rule", "Verdict", "#Unsafe", "#Judged", "#Undecided"), rows)


def _keys(result: AggregatesResult, what: str, found: Sequence[tuple[str, Keys]]) -> doc.Table:
    rows = ((text, *(key[name] or "–" for name in result.by)) for text, keys in found for key in keys)
    return doc.table(map(doc.Column, (what, *result.by)), rows)


def _rule_keys(result: AggregatesResult, what: str, rules: Sequence[RuleFound]) -> doc.Table:
    return _keys(result, what, [(one.text, one.keys) for one in rules])


def _how(result: AggregatesResult) -> doc.Facts:
    columns = ", ".join(f"{what.replace('_', ' ')} = {name}" for what, name in result.columns.items())
    sum_of_cells = ", added up: who is in several cells counts in each" if result.contributors_added_up else ""
    behind = None if result.contributors is None else doc.plural(result.contributors, "contributor") + sum_of_cells
    said = (
        ("cells", doc.count(result.cells)),
        ("broken down by", ", ".join(result.by)),
        *(("linked table", f"{one.target}, by {', '.join(one.by)}") for one in result.linked),
        ("columns", columns),  # its name stands there even when there is none
        ("totals in", ", ".join(result.totals) or "no dimension"),
        *((f"subtotals in {name}", doc.plural(number, "value")) for name, number in result.subtotals.items()),
        *([("behind all cells", behind)] if behind else []),
        ("hidden cells", doc.count(result.hidden)),
        *made(result),
    )
    return doc.Facts(said)

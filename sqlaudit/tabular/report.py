"""The report on a published table: which cells say too much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlaudit.base.result import Status
from sqlaudit.base.words import spelled
from sqlaudit.models.phrases import VERDICTS
from sqlaudit.reports.blocks import Bullets, Column, Facts, Table, Tone, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, listing, part, plural
from sqlaudit.reports.ran import made, sql_section
from sqlaudit.tabular.result import AggregatesResult, CellInterval, CellProtection, ReleaseDifference, RuleFound

Keys = Sequence[Mapping[str, str | None]]
_TONES: dict[Status, Tone] = {Status.PASS: "good", Status.FAIL: "bad"}
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


def aggregates_document(result: AggregatesResult) -> Document:
    """What was found about a published table, as a document for any layout."""
    return Document(
        _headline(result),
        (Bullets(tuple(_lead(result))),),
        (
            *section("Rules for cells", _rules(result)),
            *section("The table", *_drawn(result)),
            *section("Unsafe cells", _keys(result, "Rule", [(one.text, one.keys) for one in result.rules])),
            *section("What changed between releases", _differences(result)),
            *section("Unsafe changes", *_changed_keys(result)),
            *section("Hidden cells", _hidden(result)),
            *section("Further cells to hide", _further(result)),
            *section("Cells with mistakes", _keys(result, "What", [(one.code, one.keys) for one in result.problems])),
            *section("How it was measured", _how(result)),
            *sql_section(result),
            *section("What this does not say", Bullets(NOT_SAID)),
        ),
        about=About(result.target, result.time),
    )


def _headline(result: AggregatesResult) -> Words:
    if not result.cells:
        return Toned(f"{result.target}: there is no cell", "warn")
    if not result.rules:
        return f"{result.target}: {plural(result.cells, 'cell')}; no rule was asked for"
    if result.unsafe_cells:
        verb = "says" if result.unsafe_cells == 1 else "say"
        text = f"{_of(result, result.unsafe_cells)} {verb} too much of the few behind them"
        return Toned(f"{result.target}: {text}", "warn" if result.passed else "bad")
    if any(two.unsafe_cells for two in result.differences):
        text = f"{result.target}: with an older release it tells of the few who came, left or changed"
        return Toned(text, "warn" if result.passed else "bad")
    if result.status is Status.UNDETERMINED:
        return Toned(f"{result.target}: it cannot be said of all cells that they are safe", "warn")
    whom = " from outsiders" if result.outsiders_only else ""
    return Toned(
        f"{result.target}: every published cell is safe{whom} by {listing(one.text for one in result.rules)}", "good"
    )


def _of(result: AggregatesResult, cells: int) -> str:
    share = part(cells, result.cells)
    return f"{count(cells)} of {plural(result.cells, 'cell')}{f' ({share})' if share else ''}"


def _lead(result: AggregatesResult) -> Iterator[Words]:
    for problem in result.problems:
        yield Toned(problem.message, "warn") if problem in result.mistakes else problem.message
    for one in result.rules:
        yield Toned(_sentence(result, one), _TONES.get(one.status, "warn"))
        if one.note:
            yield Toned(one.note, "warn")
    for two in result.differences:
        yield from _changes(two)
    if result.hidden:
        verb = "is" if result.hidden == 1 else "are"
        yield f"{_of(result, result.hidden)} {verb} hidden."
    if result.deducible:
        verb = "follows" if result.deducible == 1 else "follow"
        text = f"{count(result.deducible)} of {plural(result.hidden, 'hidden cell')} {verb} from published ones"
        yield Toned(f"{text}: hide further cells, or leave totals out.", "bad")
    if result.outsiders_only:
        yield OUTSIDERS
    if result.small_counts_hidden:
        yield Toned("Small counts were hidden and their totals left, so that subtraction gives them back.", "bad")
    for found in result.rounded:
        back = f"; totals give {plural(found.deducible, 'cell')} back as before rounding" if found.deducible else ""
        yield Toned(f"Every published {found.measure} is a multiple of {found.base}{back}.", "bad" if back else "plain")

    if result.protection is not None:
        yield from _protected(result.protection)


def _protected(found: CellProtection) -> Iterator[Words]:
    """What became of the protected table, in one sentence or two."""
    if found.rounded_to is not None:
        yield from _rounded(found)
        return
    cells = f"{plural(found.unsafe, 'unsafe cell')} and {plural(found.further, 'further cell')}"
    if found.safe:
        written = f"; written to {found.file}" if found.file else ""
        yield Toned(f"Protected by hiding {cells}{written}.", "good")
    else:
        which = f"{plural(found.open, 'cell')} cannot be protected" if found.open else "it is not proven to be enough"
        if found.stopped and not found.open:
            which = f"{which} within {spelled('time_limit')}"
        yield Toned(f"Hiding {cells} does not protect the table: {which}; nothing was written.", "bad")
    if found.further:
        needed = f"at least {count(found.bound)} is needed" if found.bound else "whether less would do is not known"
        proven = "no other choice costs less" if found.bound == found.cost else needed
        early = _EARLY.get(found.stopped, "")
        yield f"The further cells cost {count(found.cost)}; {proven}{early}."


def _rounded(found: CellProtection) -> Iterator[Words]:
    what = f"Rounded to multiples of {found.rounded_to}"
    if not found.safe:
        which = f"{plural(found.open, 'cell')} can still be told too closely"
        yield Toned(f"{what}: {which}; nothing was written. Take a larger number.", "bad")
        return
    yield Toned(f"{what}, and totals still add up{f'; written to {found.file}' if found.file else ''}.", "good")


def _sentence(result: AggregatesResult, one: RuleFound) -> str:
    verdict = VERDICTS[one.status].text
    opening = f"{verdict[0].upper()}{verdict[1:]}: {one.text}"
    if one.cells:
        return f"{opening}. {_of(result, one.cells)} {'is' if one.cells == 1 else 'are'} unsafe."
    if one.undecided:
        return f"{opening}. {_of(result, one.undecided)} cannot be judged."
    if one.status is Status.UNDETERMINED:
        return f"{opening}. What is said of the table above leaves it open."
    return f"{opening}, in {plural(one.judged, 'published cell')}."


def _changes(two: ReleaseDifference) -> Iterator[Words]:
    between = f"From {two.before} to {two.after}"
    if two.unsafe_cells:
        cells = f"{count(two.unsafe_cells)} of {plural(two.changed, 'changed cell')}"
        yield Toned(f"{between}: the changes of {cells} tell of the few who came, left or changed.", "bad")
    elif any(one.undecided for one in two.unsafe):
        yield Toned(f"{between}: it cannot be said of all changes that they are safe.", "warn")
    else:
        yield Toned(f"{between}: {plural(two.changed, 'cell')} changed, and no change falls short.", "good")
    for one in two.unsafe:
        if one.note:
            yield Toned(one.note, "warn")


def _differences(result: AggregatesResult) -> Table | None:
    columns = (
        Column("Before"),
        Column("After"),
        Column("Rule"),
        Column("Verdict"),
        Column("Changed cells", True),
        Column("Unsafe", True),
        Column("Undecided", True),
    )
    rows = tuple(
        (
            two.before,
            two.after,
            one.text,
            VERDICTS[one.status],
            count(two.changed),
            count(one.cells),
            count(one.undecided),
        )
        for two in result.differences
        for one in two.unsafe
    )
    return Table(columns, rows)


def _changed_keys(result: AggregatesResult) -> Iterator[Table | None]:
    for two in result.differences:
        yield _keys(result, f"From {two.before}", [(one.text, one.keys) for one in two.unsafe])


def _drawn(result: AggregatesResult) -> Iterator[Table | Bullets]:
    """The table as it is read, with marks."""
    if result.drawn is None:
        return
    shown = result.drawn
    columns = (Column(result.by[0]), *(Column(name, True) for name in shown.columns or (_measure(result),)))
    yield Table(columns, tuple((name, *row) for name, row in zip(shown.rows, shown.cells, strict=True)))
    yield Bullets(("! unsafe by a rule, * hidden, ? hidden and yet known from the others",))


def _measure(result: AggregatesResult) -> str:
    return str(result.columns.get("count") or result.columns.get("value", ""))


def _further(result: AggregatesResult) -> Table | None:
    found = result.protection
    return None if found is None else _keys(result, "Protects", [("unsafe cells", found.keys)])


def _hidden(result: AggregatesResult) -> Table | None:
    """What published cells leave hidden ones, and which of them give one away."""
    columns = (
        *(Column(name) for name in result.by),
        Column("Of"),
        Column("At least", True),
        Column("At most", True),
        Column("Follows from"),
    )
    rows = (
        (
            *(one.cell[name] or "–" for name in result.by),
            one.measure,
            "–" if one.lower is None else str(one.lower),
            "–" if one.upper is None else str(one.upper),
            _sum(result, one),
        )
        for one in result.intervals
    )
    return Table(columns, tuple(rows))


def _sum(result: AggregatesResult, one: CellInterval) -> str:
    """Published cells that are added and taken away: `a·Total − a·x`."""

    def named(keys: Keys) -> list[str]:
        return ["·".join(key[name] or "–" for name in result.by) for key in keys]

    return " − ".join([" + ".join(named(one.adds)), *named(one.takes)]) if one.adds or one.takes else ""


def _rules(result: AggregatesResult) -> Table | None:
    if not result.rules:
        return None
    columns = (
        Column("Rule"),
        Column("Verdict"),
        Column("Unsafe", True),
        Column("Judged", True),
        Column("Undecided", True),
    )
    rows = tuple(
        (one.text, VERDICTS[one.status], count(one.cells), count(one.judged), count(one.undecided))
        for one in result.rules
    )
    return Table(columns, rows)


def _keys(result: AggregatesResult, what: str, found: Sequence[tuple[str, Keys]]) -> Table | None:
    columns = (Column(what), *(Column(name) for name in result.by))
    rows = ((text, *(key[name] or "–" for name in result.by)) for text, keys in found for key in keys)
    return Table(columns, tuple(rows))


def _how(result: AggregatesResult) -> Facts:
    columns = ", ".join(f"{what.replace('_', ' ')} = {name}" for what, name in result.columns.items())
    sum_of_cells = ", added up: who is in several cells counts in each" if result.contributors_added_up else ""
    behind = (
        ()
        if result.contributors is None
        else (("behind all cells", plural(result.contributors, "contributor") + sum_of_cells),)
    )
    return Facts(
        (
            ("cells", count(result.cells)),
            ("broken down by", ", ".join(result.by)),
            *(("linked table", f"{one.target}, by {', '.join(one.by)}") for one in result.linked),
            ("columns", columns),
            ("totals in", ", ".join(result.totals) or "no dimension"),
            *(((f"subtotals in {name}", plural(number, "value")) for name, number in result.subtotals.items())),
            *behind,
            ("hidden cells", count(result.hidden)),
            *made(result),
        )
    )

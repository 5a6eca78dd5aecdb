"""The report of a suppression: what it costs, whether less would do, and what is published."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.result import MEANING
from sqlaudit.remedies.result import Release
from sqlaudit.remedies.suppress.result import SuppressResult
from sqlaudit.reports.blocks import Block, Bullets, Code, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document
from sqlaudit.reports.document import section as section_of
from sqlaudit.reports.figures import count, figure, listing, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_STOPPED = {
    "time": "The exact program was stopped when its time was over.",
    "interrupted": "The work was stopped by hand, and nothing was published.",
    "size": "The exact program would be too large here, so that the answer is a fast one.",
    "solver": "HiGHS is not installed (pip install 'sqlaudit[remedies]'), so that the answer is a fast one.",
}
_METHODS = {
    "patterns": "an integer program over the patterns of what is suppressed",
    "groups": "an integer program over groups of rows",
    "relaxed": "the same program without whole numbers",
    "counting": "what each row costs at least",
    "rows": "whole rows: those in classes that fall short",
}


def suppress_document(result: SuppressResult) -> Document:
    """The result of a suppression as a document for any layout."""
    return Document(
        _headline(result),
        (_about(result), Bullets(tuple(_lead(result)))),
        (
            *section_of("What is suppressed", _columns(result)),
            *section_of("The release", *_release(result.release)),
            *section_of("How it was found", _how(result)),
            *section_of("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def _headline(result: SuppressResult) -> Toned:
    said = plural(result.touched, "row") if result.whole_rows else plural(result.cells, "cell")
    if not result.cost and not result.cells:
        return Toned("Nothing has to be suppressed", "good")
    if result.effort.stopped == "interrupted":
        return Toned(f"INCOMPLETE: stopped; {said} would be suppressed", "warn")
    if result.optimal:
        return Toned(f"{said} suppressed; no fewer will do", "good")
    return Toned(f"{said} suppressed; fewer may do", "good" if result.complete else "warn")


def _about(result: SuppressResult) -> Paragraph:
    required = listing(result.requirements, None)
    alike = plural(result.patterns, "combination")
    return Paragraph(
        f"{result.target}: {plural(result.rows, 'row')} with {alike} of quasi-identifiers; required: {required}."
    )


def _lead(result: SuppressResult) -> Iterator[Words]:
    if result.whole_rows == "drop":
        yield f"{plural(result.touched, 'row')} ({part(result.touched, result.rows)}) left out."
    else:
        cells = f"{count(result.cells)} of {plural(result.all_cells, 'cell')} ({part(result.cells, result.all_cells)})"
        yield f"{cells} suppressed, in {plural(result.touched, 'row')}."
    if result.optimal:
        yield Toned("Proven: no suppression costs less.", "good")
    else:
        yield Toned(f"Proven: none costs less than {figure(result.bound)}; the gap is {percent(result.gap)}.", "warn")
    if result.effort.stopped:
        yield Toned(_STOPPED[result.effort.stopped], "warn")


def _columns(result: SuppressResult) -> Table:
    weighted = any(column.weight != 1 for column in result.columns)
    columns = (
        Column("Column"),
        *((Column("Weight", True),) if weighted else ()),
        Column("Cells", True),
        Column("Share", True),
    )
    rows = tuple(
        (
            column.name,
            *((figure(column.weight),) if weighted else ()),
            count(column.cells),
            part(column.cells, result.rows),
        )
        for column in result.columns
    )
    return Table(columns, rows)


def _release(release: Release | None) -> Iterator[Block]:
    if release is None:
        return
    pairs: list[tuple[str, Words]] = [
        ("Audit", Toned("holds what is required", "good")),
        ("Rows", f"{count(release.rows)} in {plural(release.audit.classes, 'class', 'classes')}"),
        ("Columns", listing(release.columns, 20)),
    ]
    if release.left_out:
        pairs.insert(2, ("Left out", plural(release.left_out, "row")))
    if release.unnamed:
        pairs.append(("Unchanged", f"{listing(release.unnamed, 20)}: no role was given"))
    if release.file:
        pairs.append(("Written to", release.file))
    yield Facts(tuple(pairs))
    yield Code("The SELECT that makes the release", release.sql)


def _cost(result: SuppressResult) -> str:
    """What it costs, and what it costs at least; a cell costs 1 unless its column weighs more or less."""
    unit = "" if any(column.weight != 1 for column in result.columns) else " cells"
    if result.optimal:
        return f"{figure(result.cost)}{unit}, the least possible"
    return f"{figure(result.cost)}{unit}; at least {figure(result.bound)} whatever is suppressed"


def _how(result: SuppressResult) -> Facts:
    effort = result.effort
    pairs: list[tuple[str, Words]] = [("Cost", _cost(result)), ("Proven by", _METHODS[effort.method])]
    if effort.variables:
        chosen = f" over {plural(effort.patterns, 'pattern')}" if effort.method == "patterns" else ""
        pairs.append(
            (
                "Program",
                f"{plural(effort.variables, 'variable')}{chosen}; the fast way alone costs {figure(effort.fast_cost)}",
            )
        )
    if result.warn_only:
        pairs.append(("Only warned of", listing(result.warn_only, 20)))
    return Facts((*pairs, *made(result)))

"""The report on a hierarchy: what every level makes of the values, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.hierarchies.result import CheckedLevel, HierarchyResult
from sqlaudit.reports.blocks import Bullets, Column, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, plural


def hierarchy_document(result: HierarchyResult) -> Document:
    """A checked hierarchy as a document for any layout."""
    verdict = "can be used" if result.usable else "cannot be used"
    return Document(
        Toned(f"{result.target}: the hierarchy of {result.column} {verdict}", "good" if result.usable else "bad"),
        (Bullets(tuple(_lead(result))),),
        (
            *section("Levels", _levels(result)),
            *section("Worth knowing", Bullets(result.notes)),
            *section("Values", _values(result)),
        ),
        about=About(result.target, result.time),
    )


def _lead(result: HierarchyResult) -> Iterator[Words]:
    yield from (Toned(problem, "bad") for problem in result.problems)
    if result.usable:
        yield "Every value has a label at every level, and every level is a function of the one below."
    values = result.levels[0].groups - (1 if result.missing_rows else 0)
    missing = f"; {plural(result.missing_rows, 'row')} with none" if result.missing_rows else ""
    yield f"{plural(values, 'value')} in {plural(result.rows, 'row')}{missing}."
    if result.written is not None:
        yield f"{plural(result.written, 'line')} of values and labels were written."


def _levels(result: HierarchyResult) -> Table:
    gaps = any(level.uncovered_values for level in result.levels)
    titles = ("Level", "What", "Groups", "Smallest", "Largest", "Nested", *(("No label",) if gaps else ()))
    columns = tuple(Column(title, title not in ("What", "Nested")) for title in titles)
    return Table(columns, tuple(_row(level, gaps) for level in result.levels))


def _row(level: CheckedLevel, gaps: bool) -> tuple[Words, ...]:
    nested: Words = "" if not level.level else "yes" if level.nested else Toned("NO", "bad")
    sizes = (count(level.groups), count(level.smallest), count(level.largest))
    missing = Toned(count(level.uncovered_values), "bad") if level.uncovered_values else ""
    return (str(level.level), level.name, *sizes, nested, *((missing,) if gaps else ()))


def _values(result: HierarchyResult) -> Table | None:
    if not result.values:
        return None
    columns = (Column("Value"), *(Column(f"Level {level.level}") for level in result.levels[1:]))
    more = result.levels[0].groups - len(result.values)
    caption = f"The first {count(len(result.values))}; {count(more)} more were found." if more > 0 else ""
    return Table(columns, tuple(tuple("" if cell is None else cell for cell in row) for row in result.values), caption)

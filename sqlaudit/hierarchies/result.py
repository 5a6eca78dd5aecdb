"""The result of checking a hierarchy, and its report. Frozen; without values unless requested."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from sqlaudit.base.names import option_value
from sqlaudit.base.parameter_names import is_python, spelled
from sqlaudit.base.relation import Kind
from sqlaudit.base.result import NOT_EMPTY, Documented, MeasuredResult, told
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import Report


@dataclass(frozen=True)
class CheckedLevel(Documented):
    """The figures of one level for the values that occur.

    Args:
        level: its number, 0 = the values themselves. name: `unchanged`, `5 years`, `3 digits`, `listed 1 of 2`, …
        groups: different labels; missing values count as one.
        smallest: rows of the smallest group. largest: rows of the largest group.
        nested: whether every group of the level below is within one group of this level.
        split_groups: groups of the level below that are in several.
        uncovered_values: values without a label. uncovered_rows: rows with these values.
        sql: the label as an expression in the engine's dialect; None for listed levels.
    """

    level: int
    name: str
    groups: int
    smallest: int
    largest: int
    nested: bool = True
    split_groups: int = 0
    uncovered_values: int = 0
    uncovered_rows: int = 0
    sql: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, repr=False)
class HierarchyResult(MeasuredResult, Shown):
    """A hierarchy of one column, checked against the values that occur.

    Args:
        target: the table. column: the column or expression. value_kind: the kind of its values.
        form: the form of the hierarchy. rows: rows of the table. missing_rows: rows in which the column is missing.
        levels: from level 0, the values, to the highest, where every value is `*`.
        problems: one sentence for each problem; empty when the hierarchy can be used.
        notes: further findings. written: lines of the written file; None without one.
        values: (value, label at level 1, …) of the first values, empty unless values may be shown.
    """

    schema: ClassVar = "sqlaudit-hierarchy/1"
    shown_by: ClassVar = "sqlaudit.hierarchies.result:HierarchyReport"
    frame_of: ClassVar = "levels"

    target: str
    column: str
    value_kind: Annotated[str, Kind]
    form: Annotated[str, Literal["widths", "mask", "dates", "tree", "csv", "values", "sql", "none"]]
    rows: int
    missing_rows: int
    levels: Annotated[tuple[CheckedLevel, ...], NOT_EMPTY]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    written: int | None = None
    values: tuple[tuple[str | None, ...], ...] = field(default=(), repr=False)

    @property
    @told("missing_rows")
    def usable(self) -> bool:
        """True if every value has a label at every level, and the levels are nested."""
        return not self.problems


def by_default(columns: Iterable[Any], target: str) -> Iterator[doc.Content]:
    """Yield the sentence about columns with default levels, and the command whose output changes them."""
    if names := [column.name for column in columns if column.by_default]:
        named = f"name it with {spelled('hierarchies')}"
        hint = f"To change them, edit the file that `sqlaudit hierarchy` prints, and {named}."
        yield doc.Toned(f"Default levels: {doc.listed(names)}.", hint=hint)
    if names and not is_python():
        words = ("sqlaudit", "hierarchy", shlex.quote(target), option_value(names), "--propose")
        yield doc.ProposedCommand("A file with the default levels:", words)


class HierarchyReport(Report[HierarchyResult]):
    """The report on a hierarchy: what every level makes of the values, and what is wrong with it."""

    kind = "Hierarchy"

    def headline(self, result: HierarchyResult) -> doc.Words:
        verdict = "can be used" if result.usable else "cannot be used"
        return doc.Toned(
            f"{result.target}: the hierarchy of {result.column} {verdict}", "good" if result.usable else "bad"
        )

    def lead(self, result: HierarchyResult) -> Iterator[doc.Words]:
        yield from (doc.bad(problem) for problem in result.problems)
        if result.usable:
            yield "Every value has a label at every level, and the levels are nested."
        values = result.levels[0].groups - (1 if result.missing_rows else 0)
        missing = f"; {doc.plural(result.missing_rows, 'row')} without a value" if result.missing_rows else ""
        yield f"{doc.plural(values, 'value')} in {doc.plural(result.rows, 'row')}{missing}."
        if result.written is not None:
            yield f"{doc.plural(result.written, 'line')} of values and labels written."

    def sections(self, result: HierarchyResult) -> Iterator[tuple[doc.Section, ...]]:
        names = [f"level {level.level}: {level.name}" for level in result.levels]
        groups = {"groups": [level.groups for level in result.levels]}
        yield doc.section(
            "Levels", doc.bars("Groups of values at each level", names, groups, "groups"), _levels(result)
        )
        yield doc.section("Notes", result.notes)
        yield doc.section("Values", _values(result))


def _levels(result: HierarchyResult) -> doc.Table:
    """Return the levels with their groups, and what is wrong with each."""
    rows: list[tuple[doc.Cell, ...]] = []
    for level in result.levels:
        nested = None if not level.level else "yes" if level.nested else doc.bad("NO")
        unlabelled = doc.bad(doc.count(level.uncovered_values)) if level.uncovered_values else None
        rows.append((level.level, level.name, level.groups, level.smallest, level.largest, nested, unlabelled))
    return doc.table(("#Level", "Form", "#Groups", "#Smallest", "#Largest", "Nested", "?#No label"), rows)


def _values(result: HierarchyResult) -> doc.Table:
    heads = ("Value", *(f"Level {level.level}" for level in result.levels[1:]))
    more = result.levels[0].groups - len(result.values)
    caption = (
        f"The first {doc.count(len(result.values))} values; {doc.count(more)} more were found." if more > 0 else ""
    )
    return doc.table(heads, result.values, caption)

"""The result of suppressing cells, and its report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.base.options import written
from sqlaudit.base.parameter_names import spelled
from sqlaudit.models.phrases import requirements_met
from sqlaudit.remedies.result import Release, lines_of, publish
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class SuppressedColumn(base.Documented):
    """A quasi-identifier.

    Args:
        weight: cost of a cell. cells: suppressed cells; a row that is left out counts in every column.
    """

    name: str
    weight: Annotated[Fraction, base.FROM_0]
    cells: int


@dataclass(frozen=True)
class Effort(base.Documented):
    """How the answer was found.

    Args:
        how: the requested search.
        method: source of the bound: `patterns` or `groups` (the exact programs), `relaxed` (the linear relaxation of
            the first), `counting` (the minimum cost of each row) or `rows` (whole rows, with a known best answer).
        stopped: why the exact program was not solved: `time`, `interrupted`, `size`, `solver` (not installed), or
            empty.
        variables: of the exact program, 0 without one. patterns: anonymization patterns that it chooses from.
        fast_cost: the cost of the fast search alone.
    """

    how: Annotated[str, Literal["auto", "exact", "fast"]]
    method: Annotated[str, Literal["patterns", "groups", "relaxed", "counting", "rows"]]
    stopped: Annotated[str, Literal["time", "interrupted", "size", "solver"]] = field(default="", metadata=base.OR_NULL)
    variables: int = 0
    patterns: int = 0
    fast_cost: Annotated[Fraction, base.FROM_0] = Fraction(0)


@dataclass(frozen=True, kw_only=True, repr=False)
class SuppressResult(base.MeasuredResult, Shown):
    """The cheapest suppression that was found.

    Args:
        target: the table's name. rows: rows of the table. patterns: different rows among the quasi-identifiers.
        engine: the engine and its version. roles: the roles of columns as they were given.
        requirements: of the release. warn_only: requirements that only warn.
        whole_rows: what happens to a row that is suppressed as a whole; None (in Python empty) when cells are
            suppressed.
        columns: the quasi-identifiers with their suppressed cells; a row that is left out counts in each.
        cost: the weighted number of suppressed cells. bound: no solution costs less.
        affected_rows: rows with any suppression, left-out ones included. effort: how it was found.
        release: the release, None when the work was interrupted before.
    """

    schema: ClassVar = "sqlaudit-suppress/1"
    shown_by: ClassVar = "sqlaudit.remedies.suppress.result:SuppressReport"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=base.key("target.name"))
    rows: int = field(metadata=base.key("target.rows"))
    patterns: int = field(metadata=base.key("target.patterns"))
    engine: str = field(metadata=base.key("target.engine"))
    roles: base.ShownRoles
    requirements: tuple[str, ...]
    warn_only: tuple[str, ...] = ()
    whole_rows: Annotated[str, Literal["drop", "star"]] = field(metadata=base.OR_NULL)
    columns: tuple[SuppressedColumn, ...]
    cost: Annotated[Fraction, base.FROM_0]
    bound: Annotated[Fraction, base.FROM_0]
    affected_rows: int
    effort: Effort
    release: Release | None = None

    @property
    @base.told("complete")
    def cells(self) -> int:
        """Suppressed cells."""
        return sum(column.cells for column in self.columns)

    @property
    @base.told("cells")
    def all_cells(self) -> int:
        """Cells of the quasi-identifiers."""
        return self.rows * len(self.columns)

    @property
    @base.told("gap")
    def optimal(self) -> bool:
        """True if no solution costs less."""
        return self.cost == self.bound

    @property
    @base.told("bound")
    def gap(self) -> Annotated[Fraction, base.FROM_0_TO_1]:
        """The largest possible saving, as a share of the cost: 0 when this is the best solution."""
        return (self.cost - self.bound) / self.cost if self.cost else Fraction(0)

    @property
    @base.told("optimal")
    def complete(self) -> bool:
        """True if the search was finished: with a proven optimum if an exact answer was requested."""
        return self.optimal or (self.effort.how != "exact" and self.effort.stopped != "interrupted")


_STOPPED = {
    "time": "Time limit reached.",
    "interrupted": "Interrupted; nothing was published.",
    "size": "The exact program is too large and was not solved.",
    "solver": "HiGHS is not installed (pip install 'sqlaudit[remedies]'), so the answer is a fast one.",
}
_METHODS = {
    "patterns": "an integer program over patterns of suppressed cells",
    "groups": "an integer program over groups of rows",
    "relaxed": "the linear relaxation of the program over these patterns",
    "counting": "the minimum cost of each row",
    "rows": "counting the rows in failing classes",
}


class SuppressReport(MeasuredReport[SuppressResult]):
    """The report on a suppression: its cost, whether it is the minimum, and the release."""

    kind = "Suppression"
    method_title = "How it was found"

    def headline(self, result: SuppressResult) -> doc.Toned:
        """Return what to publish."""
        suppressed = doc.plural(result.affected_rows, "row") if result.whole_rows else doc.plural(result.cells, "cell")
        if not result.cost and not result.cells:  # cells without weight cost nothing, and are suppressed still
            return doc.good("Safe without suppression")
        if result.effort.stopped == "interrupted":
            return doc.warning(f"INCOMPLETE: stopped with {suppressed} to suppress")
        if result.whole_rows == "drop":
            said = f"Publish {doc.plural(result.rows - result.affected_rows, 'row')}; {suppressed} left out"
        elif result.whole_rows:
            said = f"Publish the table with {suppressed} starred"
        else:
            said = publish({one.name: Fraction(one.cells, result.rows) for one in result.columns}, "Suppress")
        return doc.Toned(said, "good" if result.complete else "warn")

    def key_figures(self, result: SuppressResult) -> Iterator[doc.KeyFigure]:
        touched = doc.with_share(result.affected_rows, result.rows)
        if result.whole_rows:
            yield doc.KeyFigure(touched, "Rows left out" if result.whole_rows == "drop" else "Suppressed rows")
        else:
            yield doc.KeyFigure(doc.with_share(result.cells, result.all_cells), "Suppressed cells")
            yield doc.KeyFigure(touched, "Rows with suppressed cells")
        yield from requirements_met(result.release.audit.checks if result.release else ())

    def opening(self, result: SuppressResult) -> Iterator[doc.Content]:
        rows, combinations = doc.plural(result.rows, "row"), doc.plural(result.patterns, "combination")
        required = doc.listing(result.requirements, None)
        yield f"{result.target}: {rows} with {combinations} of quasi-identifiers; required: {required}."
        yield from lines_of(result.release)

    def lead(self, result: SuppressResult) -> Iterator[doc.Words]:
        if not result.cost:
            return
        suppressed = doc.plural(result.affected_rows, "row") if result.whole_rows else doc.plural(result.cells, "cell")
        if result.optimal:
            yield doc.good(f"{suppressed} suppressed (proven minimum).")
        else:
            yield f"{suppressed} suppressed (fewer may be enough)."
            gap, least = doc.percent(result.gap), doc.figure(result.bound)
            yield doc.warning(f"Proven: no suppression costs less than {least} (a gap of {gap}).")
        if result.effort.stopped:
            hint = f"{spelled('time_limit')} extends it." if result.effort.stopped == "time" else ""
            yield doc.warning(_STOPPED[result.effort.stopped], hint)

    def sections(self, result: SuppressResult) -> Iterator[tuple[doc.Section, ...]]:
        if result.cells and not result.whole_rows:
            columns = doc.table_of(
                result.columns,
                ("Column", lambda column: written(column.name)),
                ("#Weight" if _is_weighted(result) else None, "weight"),
                "#cells",
                ("#Share", lambda column: doc.part(column.cells, result.rows)),
            )
            yield doc.section("Suppressed cells", _picture(result), columns)
        yield doc.section("The release", *_release(result.release))

    def method(self, result: SuppressResult) -> Iterator[tuple[str, doc.Cell]]:
        effort = result.effort
        cost = doc.figure(result.cost) + ("" if _is_weighted(result) else " cells")
        least = f"; lower bound {doc.figure(result.bound)}"
        over = f" over {doc.plural(effort.patterns, 'pattern')}" if effort.method == "patterns" else ""
        fast = f"the fast search alone costs {doc.figure(effort.fast_cost)}"
        yield "Cost", cost + (" (minimum)" if result.optimal else least)
        yield "Proven by", _METHODS[effort.method]
        yield "Program", f"{doc.plural(effort.variables, 'variable')}{over}; {fast}" if effort.variables else ""
        yield "Warnings only", doc.listing(result.warn_only, 20)


def _picture(result: SuppressResult) -> doc.Picture:
    """Draw the cells of each column: those that are kept, and those that are suppressed."""
    drawn = {}
    for column in result.columns:
        kept = result.rows - column.cells
        parts = {name: cells for name, cells in (("unchanged", kept), ("suppressed", column.cells)) if cells}
        drawn[column.name] = [
            doc.Strip(f"{doc.part(column.cells, result.rows)} suppressed", [*parts.values()], [*parts])
        ]
    return doc.strips("All cells of each column", drawn)


def _is_weighted(result: SuppressResult) -> bool:
    """Return True if the cells of some column do not cost 1."""
    return any(column.weight != 1 for column in result.columns)


def _release(release: Release | None) -> Iterator[doc.Content]:
    """Yield the facts and the SELECT of the release."""
    if release is None:
        return
    yield doc.facts(
        ("Audit", doc.good("PASS: all requirements are met")),
        ("Rows", f"{doc.count(release.rows)} in {doc.plural(release.audit.classes, 'class', 'classes')}"),
        ("Left out", doc.plural(release.left_out, "row") if release.left_out else ""),
        ("Columns", doc.listed(release.columns, 20)),
        ("Unchanged", f"{doc.listed(release.unnamed, 20)} (no role)" if release.unnamed else ""),
        ("Written to", release.file),
    )
    yield doc.Code("The SELECT of the release", release.sql)

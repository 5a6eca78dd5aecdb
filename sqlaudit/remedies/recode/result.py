"""The result of a local recoding, and its report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.base.options import written
from sqlaudit.hierarchies.levels import UNCHANGED, in_words
from sqlaudit.hierarchies.result import by_default
from sqlaudit.lattices.result import Use
from sqlaudit.models.phrases import requirements_met
from sqlaudit.release.compare.report import measure_title, not_given
from sqlaudit.release.compare.result import Loss
from sqlaudit.remedies.result import Release, lines_of, publish
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class RecodeColumn(base.Documented):
    """A quasi-identifier.

    Args:
        name: as it was given. height: its highest level, where every value is `*`; 0 = it is unchanged.
        form: of its hierarchy: widths, mask, dates, tree, csv, values, sql, keep, drop, or empty.
        use: `generalize`, `keep`, or `drop` for a column that is left out.
        values: different ones in the table; missing is one. by_default: whether its levels are default ones.
        rows_at: (level, rows of the release with a cell at that level), finest level first; empty without a recoding.
    """

    name: str
    height: int
    form: str
    use: Use
    values: int | None = None
    rows_at: tuple[tuple[str, int], ...] = field(default=(), metadata=base.objects("level", "rows"))
    by_default: bool = False


@dataclass(frozen=True)
class Beside(base.Documented):
    """The best full-domain node for the same requirements: every column at one level.

    Args:
        measure: the loss that it minimizes. complete: whether the search was finished.
        why: why there is none, in sentences. levels: of the node; None when there is none.
        named: the name of the level of each column.
        classes, smallest: its equivalence classes, and the rows of the smallest one. losses: as those of the recoding.
    """

    measure: str
    complete: bool
    why: tuple[str, ...] = ()
    levels: tuple[int, ...] | None = None
    named: tuple[tuple[str, str], ...] = field(default=(), metadata=base.shown(dict))
    classes: int | None = None
    smallest: int | None = field(default=None, metadata=base.key("smallest_class"))
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class RecodeResult(base.MeasuredResult, Shown):
    """The result of a local recoding.

    Args:
        target: the table's name. rows: rows of the table. engine: the engine and its version.
        roles: the roles of columns as they were given. requirements: as they were written.
        warn_only: requirements that only warn. method: the algorithm.
        order: of KACA's merges; None for Mondrian. seed: of the random order; None without random choices.
        beta: the exponent of KACA's weights of levels, 0 = equal weights; None for Mondrian.
        measure: the first loss of the report. classes: equivalence classes of the table.
        columns: the quasi-identifiers, left-out ones last.
        groups: classes of the release; None when there is none. merges: merges of two classes; 0 for Mondrian.
        smallest: rows of the smallest class of the release.
        losses: the information loss, by the measures of compare.
        beside: the best full-domain node for the same requirements; None if not requested.
        release: the audited release; None when there is none. why: why there is no recoding, in sentences.
    """

    schema: ClassVar = "sqlaudit-recode/1"
    shown_by: ClassVar = "sqlaudit.remedies.recode.result:RecodeReport"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=base.key("target.name"))
    rows: int = field(metadata=base.key("target.rows"))
    engine: str = field(default="", metadata=base.key("target.engine"))
    roles: base.ShownRoles
    requirements: tuple[str, ...]
    warn_only: tuple[str, ...] = ()
    method: Annotated[str, Literal["kaca", "mondrian"]]
    order: Annotated[str, Literal["smallest", "random"]] | None
    seed: Annotated[int, base.ANY_NUMBER] | None
    beta: Annotated[Fraction, base.FROM_0] | None
    measure: str
    classes: int
    groups: int | None = None
    merges: int = 0
    smallest: int | None = field(default=None, metadata=base.key("smallest_group"))
    columns: tuple[RecodeColumn, ...]
    losses: tuple[Loss, ...] = ()
    beside: Beside | None = field(default=None, metadata=base.key("lattice"))
    why: tuple[str, ...] = ()
    release: Release | None = None

    @property
    def passed(self) -> bool:
        """True if there is a recoding that meets the requirements."""
        return self.release is not None

    def loss(self, measure: str, sensitive: str | None = None) -> Loss:
        """The loss of all quasi-identifiers together under a measure.

        Raises:
            KeyError: there is none.
        """
        for one in self.losses:
            if one.measure == measure and one.column is None and sensitive in (None, one.sensitive):
                return one
        raise KeyError(measure)


_TITLES = {"kaca": "KACA", "mondrian": "Mondrian"}
_DRAWN = ("loss", "non-uniform-entropy", "modification-rate", "ncp", "whd")


class RecodeReport(MeasuredReport[RecodeResult]):
    """The report on a local recoding: its classes, its loss compared with the lattice, and the release."""

    kind = "Recoding"
    method_title = "How it was made"

    def headline(self, result: RecodeResult) -> doc.Toned:
        if not result.rows:
            return doc.warning("UNDETERMINED: the table has no rows")
        if result.release is None or result.groups is None:
            return doc.bad("NO RECODING meets the requirements")
        changed = {column.name: _changed(result, column) for column in result.columns if column.use != "drop"}
        dropped = (column.name for column in result.columns if column.use == "drop")
        return doc.good(publish(changed, "Generalize", dropped))

    def key_figures(self, result: RecodeResult) -> Iterator[doc.KeyFigure]:
        if result.release is None or result.smallest is None:
            return
        yield doc.KeyFigure(doc.plural(result.smallest, "row"), "Smallest class")
        if (loss := _loss_of(result.losses, result.measure)) is not None:
            value = doc.figure(loss.value) if loss.share is None else doc.percent(loss.share)
            yield doc.KeyFigure(value, doc.label(measure_title(result.measure)))
        yield from requirements_met(result.release.audit.checks)

    def opening(self, result: RecodeResult) -> Iterator[doc.Content]:
        rows, required = doc.plural(result.rows, "row"), doc.listing(result.requirements, None)
        yield f"{result.target}: {rows}; required: {required}; method: {_TITLES[result.method]}."
        yield from lines_of(result.release)

    def lead(self, result: RecodeResult) -> Iterator[doc.Words]:
        if result.release is None or result.smallest is None:
            return
        before = doc.plural(result.classes, "class was", "classes were")
        yield f"{before} recoded into {doc.count(result.groups or 0)}."
        loss, lattice = (
            f"{doc.label(measure_title(result.measure))}: {_loss_text(result.losses, result.measure)}",
            result.beside,
        )
        if lattice is None:
            yield f"{loss}."
        elif lattice.levels is None:
            yield f"{loss}. No node of the lattice meets the requirements: {' '.join(lattice.why)}"
        else:
            unfinished = "" if lattice.complete else ", the best one found in time"
            yield f"{loss}. Best node of the lattice{unfinished}: {_loss_text(lattice.losses, result.measure)}."

    def sections(self, result: RecodeResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Why there is no recoding", result.why)
        if result.release is not None:
            yield from _release(result, result.release)

    def method(self, result: RecodeResult) -> Iterator[tuple[str, doc.Cell]]:
        order = "smallest class first" if result.seed is None else f"in random order (seed {result.seed})"
        yield "method", _TITLES[result.method]
        yield "merges", f"{doc.count(result.merges)}, {order}" if result.merges else ""
        if result.beta is not None:
            yield "weights of levels", f"1/(j−1)^{doc.figure(result.beta)}" if result.beta else "even"
        yield "warnings only", ", ".join(result.warn_only)


def _release(result: RecodeResult, release: Release) -> Iterator[tuple[doc.Section, ...]]:
    """Yield the sections of a release: its audit, its columns, and the information loss."""
    audit = release.audit
    rows, classes = doc.plural(audit.rows, "row"), doc.plural(audit.classes, "class", "classes")
    verdict = "PASS" if audit.status in ("pass", "warn") else audit.status.upper()
    said: tuple[doc.Words, ...] = (
        *([doc.written_to(release.file, release.buckets)] if release.file else []),
        doc.good(f"Audit of the release: {verdict}; {rows} in {classes}."),
        *doc.unnamed_notice(release.unnamed),
    )
    became = [
        (written(column.name), level, held, doc.part(held, result.rows))
        for column in result.columns
        for level, held in [
            *([("left out", result.rows)] if column.use == "drop" else []),
            *((level, held) for level, held in column.rows_at if held),
        ]
    ]
    columns = doc.table(("Column", "Level", "#Rows", "#Share"), became)
    yield doc.section("Columns", _levels_picture(result), columns, *by_default(result.columns, result.target))
    yield doc.section("Information loss", *_losses(result))
    yield doc.section("The release", said, doc.Code("The SQL of the release", release.sql))


def _changed(result: RecodeResult, column: RecodeColumn) -> Fraction:
    """Return the share of rows in which a column is generalized; 1 for a column that is left out."""
    kept = sum(rows for level, rows in column.rows_at if level == UNCHANGED)
    return 1 - Fraction(kept, result.rows)


def _levels_picture(result: RecodeResult) -> doc.Picture:
    """Draw the rows of each column by their level, the finest level first."""
    drawn = {}
    for column in result.columns:
        shown = {level: rows for level, rows in column.rows_at if rows} or {"left out": result.rows}
        label = f"{doc.percent(_changed(result, column))} generalized" if column.rows_at else "left out"
        drawn[column.name] = [doc.Strip(label, [*shown.values()], [*shown])]
    return doc.strips("All rows by the level of each column, from fine to coarse", drawn)


def _loss_of(losses: tuple[Loss, ...], measure: str) -> Loss | None:
    """The loss of all columns together under a measure; None where it is not known."""
    found = (loss for loss in losses if loss.measure == measure and loss.column is None)
    return next((loss for loss in found if loss.value is not None), None)


def _loss_text(losses: tuple[Loss, ...], measure: str) -> str:
    """A loss in words: its value, and its share of the loss of complete suppression."""
    if (loss := _loss_of(losses, measure)) is None:
        return "not known"
    share = "" if loss.share is None else f" ({doc.percent(loss.share)} of complete suppression)"
    return doc.figure(loss.value) + share


def _losses(result: RecodeResult) -> Iterator[doc.Content]:
    """Yield the information loss, beside that of the best node if it was searched."""
    beside = result.beside if result.beside is not None and result.beside.levels is not None else None
    others = {} if beside is None else {(loss.measure, loss.column, loss.sensitive): loss for loss in beside.losses}
    in_all = [loss for loss in result.losses if loss.column is None]
    in_all.sort(key=lambda loss: loss.measure != result.measure)
    paired = [(loss, others.get((loss.measure, None, loss.sensitive))) for loss in in_all]
    several = len(result.roles["sensitive"]) > 1
    names = [
        measure_title(one.measure) + (f" ({one.sensitive})" if several and one.sensitive else "") for one in in_all
    ]
    yield _picture(result, paired, bool(others))
    rows = ((name, *_figures(loss), *_figures(other)) for name, (loss, other) in zip(names, paired, strict=True))
    of_node = ("#Best node", "#Share ") if beside else (None, None)
    yield doc.table(("Measure", f"#{_TITLES[result.method]}", "#Share", *of_node), rows)
    yield "Share: of the loss of complete suppression. Smaller is better, except for precision."
    if beside:
        levels = ",".join(map(str, beside.levels or ()))
        placed = zip(beside.levels or (), beside.named, strict=True)
        named = ", ".join(f"{name} {in_words(level) if place else level}" for place, (name, level) in placed)
        classes = doc.plural(beside.classes or 0, "class", "classes")
        by = "loss (ARX)" if beside.measure == "loss" else measure_title(beside.measure)
        yield f"Best node by {by}: {named} (levels {levels}), {classes}."
    yield not_given(in_all)


def _figures(loss: Loss | None) -> tuple[str, str]:
    if loss is None or loss.value is None:
        return "–", ""
    return doc.figure(loss.value), "" if loss.share is None else doc.percent(loss.share)


def _picture(result: RecodeResult, paired: list[tuple[Loss, Loss | None]], beside: bool) -> doc.Picture | None:
    """A bar for each measure and method: the loss as a share of complete suppression."""
    drawn = [(loss, other) for loss, other in paired if loss.measure in _DRAWN and loss.share is not None]
    series = {_TITLES[result.method]: [float(loss.share or 0) for loss, _ in drawn]}
    if beside:
        series["best node"] = [float(other.share or 0) if other else 0.0 for _, other in drawn]
    names = [measure_title(loss.measure) for loss, _ in drawn]
    title = "Information loss, as a share of complete suppression"
    return doc.bars(title, names, series, "share of complete suppression", share=True) if drawn else None

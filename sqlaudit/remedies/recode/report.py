"""The report of a local recoding: what was made of the classes, what it loses beside the lattice, and the release."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.result import MEANING
from sqlaudit.base.words import spelled
from sqlaudit.release.compare.figures_report import not_given
from sqlaudit.release.compare.result import Loss
from sqlaudit.remedies.recode.result import Beside, RecodeResult
from sqlaudit.remedies.result import Release
from sqlaudit.reports.blocks import Block, Bullets, Code, Column, Facts, Paragraph, Picture, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, figure, listing, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_TITLES = {"kaca": "KACA", "mondrian": "Mondrian"}
_DRAWN = ("loss", "non-uniform-entropy", "modification-rate", "ncp", "whd")


def recode_document(result: RecodeResult) -> Document:
    """The result of a recoding as a document for any layout."""
    return Document(
        headline(result),
        (_about(result), Bullets(tuple(_lead(result)))),
        (
            *section("Why there is no recoding", Bullets(result.why)),
            *section("The release", *_release(result.release)),
            *section("What each column became", _columns(result)),
            *section("What was lost", *_losses(result)),
            *section("How it was made", _how(result)),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def headline(result: RecodeResult) -> Toned:
    """The answer in a few words."""
    if not result.rows:
        return Toned("UNDETERMINED: there is no row to recode", "warn")
    if result.release is None or result.groups is None:
        return Toned("NO RECODING satisfies the requirements", "bad")
    before, after = plural(result.classes, "class", "classes"), plural(result.groups, "group")
    verb = "satisfies" if result.groups == 1 else "satisfy"
    return Toned(f"{before} became {after} that {verb} the requirements", "good")


def _about(result: RecodeResult) -> Paragraph:
    return Paragraph(
        f"{result.target}: {plural(result.rows, 'row')}; required: {listing(result.requirements, None)}; "
        f"grouped by {_TITLES[result.method]}."
    )


def _lead(result: RecodeResult) -> Iterator[Words]:
    if result.release is None or result.smallest is None:
        return
    merged = f"{plural(result.merges, 'merge')}; " if result.method == "kaca" else ""
    yield f"{merged}the smallest group has {plural(result.smallest, 'row')}."
    own = _headline_loss(result.losses, result.measure)
    lost, beside = f"Measured by {result.measure}, {_told(own)} is lost", result.beside
    if beside is None:
        yield f"{lost}."
    elif beside.levels is None:
        yield f"{lost}; no node of the lattice satisfies the requirements: {' '.join(beside.why)}"
    else:
        unfinished = "" if beside.complete else " (the best one found in time)"
        other = _told(_headline_loss(beside.losses, result.measure))
        yield f"{lost}; with the best node of the lattice{unfinished} {other}."


def _headline_loss(losses: tuple[Loss, ...], measure: str) -> Loss | None:
    return next((loss for loss in losses if loss.measure == measure and loss.column is None), None)


def _told(loss: Loss | None) -> str:
    """A loss in words: its value, and the share of what complete suppression loses."""
    if loss is None or loss.value is None:
        return "not known"
    return figure(loss.value) + ("" if loss.share is None else f" ({percent(loss.share)} of complete suppression)")


def _release(release: Release | None) -> Iterator[Block]:
    if release is None:
        return
    yield Bullets(tuple(_release_sentences(release)))
    if release.sql:
        yield Code("The SQL of the release", release.sql)


def _release_sentences(release: Release) -> Iterator[Words]:
    if release.file:
        values = f", the values of its buckets to {release.buckets}" if release.buckets else ""
        yield f"Written to {release.file}{values}."
    audit = release.audit
    rows, classes = plural(audit.rows, "row"), plural(audit.classes, "class", "classes")
    verdict = "PASS" if audit.status in ("pass", "warn") else audit.status.upper()
    yield Toned(f"An audit of the release says {verdict}: {rows} in {classes}.", "good")
    if release.unnamed:
        yield Toned(
            f"Columns without a role are in it as they are: {listing(release.unnamed)}.",
            "warn",
            f"Name those that say something about a person with {spelled('qi')}, or leave them out with "
            f"{spelled('identifier')}.",
        )


def _columns(result: RecodeResult) -> Table | None:
    """For each column the rows at each of its levels."""
    if result.release is None:
        return None
    rows: list[tuple[Words, ...]] = []
    for column in result.columns:
        if column.use == "drop":
            rows.append((column.name, "left out", count(result.rows), part(result.rows, result.rows)))
        for level, held in column.rows_at:
            if held:
                rows.append((column.name, level, count(held), part(held, result.rows)))
    return Table((Column("column"), Column("level"), Column("rows", True), Column("share", True)), tuple(rows))


def _losses(result: RecodeResult) -> Iterator[Block | None]:
    if result.release is None:
        return
    beside = result.beside if result.beside is not None and result.beside.levels is not None else None
    heads = [Column("measure"), Column(_TITLES[result.method], True), Column("share", True)]
    heads += [Column("best node", True), Column("share ", True)] if beside else []
    others = {} if beside is None else {_key(loss): loss for loss in beside.losses}
    told = [loss for loss in result.losses if loss.column is None]
    told.sort(key=lambda loss: loss.measure != result.measure)
    several = len(result.roles["sensitive"]) > 1
    rows: list[tuple[Words, ...]] = []
    for loss in told:
        named = f"{loss.measure} ({loss.sensitive})" if several and loss.sensitive else loss.measure
        rows.append((named, *_figures(loss), *(_figures(others.get(_key(loss))) if beside else ())))
    yield Table(tuple(heads), tuple(rows))
    yield Paragraph("Shares are of what complete suppression loses; smaller is better, except for precision.")
    if beside:
        yield _node(beside)
    yield Bullets(tuple(not_given(told)))
    yield _picture(result, told, others)


def _key(loss: Loss) -> tuple[str, str | None, str | None]:
    return loss.measure, loss.column, loss.sensitive


def _figures(loss: Loss | None) -> tuple[str, str]:
    if loss is None or loss.value is None:
        return "–", ""
    return figure(loss.value), "" if loss.share is None else percent(loss.share)


def _node(beside: Beside) -> Paragraph:
    levels = ",".join(map(str, beside.levels or ()))
    named = ", ".join(f"{name} as {level}" for name, level in beside.named)
    classes = plural(beside.classes or 0, "class", "classes")
    return Paragraph(f"The best node by {beside.measure} is {levels} ({named}): {classes}.")


def _picture(result: RecodeResult, told: list[Loss], others: dict[tuple[str, str | None, str | None], Loss]) -> Picture:
    """A bar a measure and method: the loss as a share of what complete suppression loses."""
    drawn = [loss for loss in told if loss.measure in _DRAWN and loss.share is not None]
    series = {_TITLES[result.method]: [float(loss.share or 0) for loss in drawn]}
    if others:
        series["best node"] = [float(others[_key(loss)].share or 0) for loss in drawn]
    data = {
        "names": [loss.measure for loss in drawn],
        "series": series,
        "share": True,
        "x": "share of complete suppression",
    }
    return Picture("bars", "What was lost, as a share of complete suppression", data if drawn else {})


def _how(result: RecodeResult) -> Facts:
    beta = "" if result.beta is None else f"1/(j-1)^{figure(result.beta)}" if result.beta else "even"
    drawn = "" if result.seed is None else f", seed {result.seed}"
    pairs: list[tuple[str, Words]] = [
        ("method", _TITLES[result.method]),
        ("class merged next", f"{result.order}{drawn}" if result.order else ""),
        ("weights of levels", beta),
        ("only warned of", ", ".join(result.warn_only)),
        *made(result),
    ]
    return Facts(tuple(pair for pair in pairs if pair[1]))

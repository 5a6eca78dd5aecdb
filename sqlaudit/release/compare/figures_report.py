"""The figures in the report of a comparison: what was lost, and what is still of use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlaudit.base.words import spelled
from sqlaudit.release.compare.pictures import errors_picture, losses_picture
from sqlaudit.release.compare.result import METHODS, CompareResult, Errors, Loss, QueryAnswer, Workload
from sqlaudit.reports.blocks import Block, Bullets, Column, Paragraph, Table, Toned, Words
from sqlaudit.reports.figures import count, figure, listing, percent, plural

SHOWN_GROUPS = 20


def losses_blocks(result: CompareResult) -> Iterator[Block]:
    """What was lost in all."""
    heads = ("measure", "value", "mean", "share")
    found = [loss for loss in result.losses if loss.column is None]
    several = len(result.sensitive) > 1
    rows = tuple(
        (_named(loss.measure, loss.sensitive if several else None), _value(loss), _number(loss.mean), _share(loss))
        for loss in found
    )
    yield Table(tuple(Column(head, place > 0) for place, head in enumerate(heads)), rows)
    yield Paragraph("Means are for a cell or a row; shares are of what complete suppression loses.")
    yield Bullets(tuple(not_given(found)))


def not_given(losses: Iterable[Loss]) -> Iterator[Words]:
    """Which losses are not known, and why; what could be named for them is for whoever runs commands."""
    reasons: dict[str, list[str]] = {}
    for loss in losses:
        if loss.value is None and loss.why:
            reasons.setdefault(loss.why, []).append(loss.measure)
    for reason, names in reasons.items():
        measures = ", ".join(dict.fromkeys(names))
        why = reason.replace("it needs", "they need", 1) if "," in measures else reason
        if any(spelled(field) in why for field in ("key", "sensitive")):
            yield Toned(f"Not computed: {measures}.", hint=f"{why[:1].upper()}{why[1:]}.")
        else:
            yield f"Not computed: {measures}, as {why}."


def by_column_blocks(result: CompareResult) -> Iterator[Block]:
    """What was lost of each quasi-identifier."""
    picture = losses_picture(result)
    if picture is not None:
        yield picture
    found = [loss for loss in result.losses if loss.column is not None]
    keys = list(dict.fromkeys((loss.measure, loss.sensitive) for loss in found))
    values = {(loss.measure, loss.sensitive, loss.column): loss for loss in found}
    several = len(result.sensitive) > 1
    # words may be parted where names may not
    named = [_named(name.replace("-", " "), about if several else None) for name, about in keys]
    rows = tuple(
        (title, *(_cell(values.get((*key, column))) for column in result.qi))
        for title, key in zip(named, keys, strict=True)
    )
    yield Table((Column("measure"), *(Column(name, True) for name in result.qi)), rows)
    yield Paragraph("Percentages are of what suppressing the column would lose; the others are values.")


def _named(measure: str, about: str | None) -> str:
    return measure if about is None else f"{measure} ({about})"


def _cell(loss: Loss | None) -> str:
    if loss is None:
        return "–"
    return _share(loss) if loss.share is not None else "–" if loss.value is None else figure(loss.value)


def _value(loss: Loss) -> str:
    if loss.value is None:
        return "–"
    error = "" if loss.standard_error is None else f" ± {figure(loss.standard_error, 2)}"
    return figure(loss.value) + error


def _number(value: object) -> str:
    return "" if value is None else figure(value)  # type: ignore[arg-type]


def _share(loss: Loss) -> str:
    return "" if loss.share is None else percent(loss.share)


def useful_blocks(result: CompareResult) -> Iterator[Block]:
    """How well the release answers queries."""
    workload = result.workload
    if workload is not None:
        asked = plural(workload.queries, "random counting query", "random counting queries")
        yield Paragraph(
            f"{asked} (seed {workload.seed}); {count(workload.empty)} of them "
            f"{'counts' if workload.empty == 1 else 'count'} nothing in the original"
            f"{_answered(workload)}. Relative errors of the others:"
        )
        yield _errors(workload.errors)
        picture = errors_picture(result)
        if picture is not None:
            yield picture
        if workload.why:
            yield Paragraph(f"conditional: {workload.why}.")
    for query in result.queries:
        yield from _query(query)


def _answered(workload: Workload) -> str:
    """Which of the queries that count nothing in the original count something in the release."""
    said = [f"{count(number)} {name}" for name, number in workload.answered_empty.items() if number]
    return f", but the release answers {listing(said)}" if said else ""


def _errors(errors: Mapping[str, Errors]) -> Table:
    heads = ("answered", "answers", "median", "90% are within", "95% are within", "largest")
    rows = tuple(
        (name, count(one.answers), *(percent_or_more(x) for x in (one.median, one.q90, one.q95, one.largest)))
        for name, one in errors.items()
    )
    return Table(tuple(Column(head, place > 0) for place, head in enumerate(heads)), rows)


def _query(query: QueryAnswer) -> Iterator[Block]:
    shown = query.groups[:SHOWN_GROUPS]
    keys = max((len(group.key or ()) for group in shown), default=0)
    columns = [Column(f"group {place}") for place in range(1, keys + 1)]
    columns += [Column(head, True) for head in ("original", *METHODS)]
    rows = tuple(
        (
            *("" if part is None else str(part) for part in group.key or ()),
            _answer(group.truth),
            *(_answer(group.answers.get(name)) for name in METHODS),
        )
        for group in shown
    )
    more = "" if len(shown) == query.total else f", {len(shown)} of {count(query.total)} groups are shown"
    yield Table(tuple(columns), rows, f"Query {query.number} ({query.aggregate}){more}:")
    if query.total > 1:
        yield _errors(query.errors)
    if query.distances:
        yield from _distribution(query)
    if query.why:
        yield Paragraph(f"conditional: {query.why}.")


def _distribution(query: QueryAnswer) -> Iterator[Block]:
    """How far the answers as shares are from the original's: of the worst groups of the other columns."""
    shown = sorted(query.distances, key=lambda one: -max(value or 0.0 for value in one.answers.values()))
    keys = max((len(one.key or ()) for one in shown), default=0)
    columns = [Column(f"group {place}") for place in range(1, keys + 1)]
    rows = tuple(
        (
            *("" if part is None else str(part) for part in one.key or ()),
            *(_answer(one.answers.get(name)) for name in METHODS),
        )
        for one in shown[:SHOWN_GROUPS]
    )
    yield Paragraph(f"Query {query.number}: how far the shares of {query.distribution_of} are from the original's:")
    yield Table((*columns, *(Column(name, True) for name in METHODS)), rows)


def _answer(value: float | None) -> str:
    return "–" if value is None else figure(value)


def percent_or_more(error: float | None) -> str:
    """A relative error as a percentage, past 100% too."""
    if error is None:
        return "–"
    return percent(error) if error <= 1 else f"{error * 100:,.0f}%"

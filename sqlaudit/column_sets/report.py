"""The report of a search for column sets: what re-identifies, which columns to change, how far the proof goes."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.words import spelled
from sqlaudit.column_sets.pictures import sets_picture
from sqlaudit.column_sets.result import ColumnSet, ColumnSets, Sampled
from sqlaudit.reports.blocks import Bullets, Column, Facts, Picture, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, limit, listing, percent, plural
from sqlaudit.reports.ran import made, sql_section

_SHOWN = 40
"""So many sets are listed one by one; the JSON has all that were asked for."""
_OFTEN = 5
"""So many columns are told with the number of sets that they are in."""

READS = {
    "equal": "equal to each other",
    "distinct": "equal to nothing: such a row is a class of its own",
    "wildcard": "equal to anything; a row counts the rows that it matches",
}


def columns_document(result: ColumnSets) -> Document:
    """A search as a document for any layout."""
    found = plural(result.sets_found, "column set")
    if result.sample is not None:
        found += f" in a sample of {count(result.sample.drawn)} rows"
    return Document(
        Toned(f"{result.target}: {found}", "bad" if result.sets_found and result.find != "ranking" else "plain"),
        (Bullets(tuple(_lead(result))),),
        (
            *section("Column sets", *_found(result)),
            *section("What each column adds", Bullets(tuple(_effects(result)))),
            *section("How it was measured", _how(result)),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def _lead(result: ColumnSets) -> Iterator[Words]:
    yield _definition(result)
    if result.sample is not None:
        yield from _sampled(result, result.sample)
        return
    if not result.sets:
        yield Toned("No such set exists.", "good") if result.complete else "No such set was found so far."
    elif result.repair:
        yield Toned(
            f"Leave out {listing(result.repair, len(result.repair))}, and no such set is left.",
            hint="To see whether a coarser form of a column is enough, search again with that form among "
            f"{spelled('columns')}.",
        )
    yield _proof(result)


def _sampled(result: ColumnSets, sample: Sampled) -> Iterator[Words]:
    """What follows from a sample; nothing that was found in one is called identifying."""
    if sample.alike:
        yield Toned(
            "Two drawn rows are equal in all columns, so that no set separates all of them, and none is told.",
            hint=f"Search the different rows, SELECT DISTINCT as {spelled('query')}, or all rows: leave out "
            f"{spelled('delta')}.",
        )
        return
    if not result.sets:
        yield "No such set exists in the sample, so none tells all rows apart." if result.complete else _proof(result)
        return
    if sample.drawn == sample.rows:
        yield "All rows were drawn; fewer would not have been enough here. So all pairs of rows are separated."
    else:
        yield (
            f"With a chance of at least {limit(1 - sample.delta)} in drawing, each of them separates at least "
            f"{limit(1 - result.epsilon)} of all pairs of rows. None is called identifying: the other rows were not "
            "compared."
        )
    yield _in_all_rows(result)


def _in_all_rows(result: ColumnSets) -> Words:
    """What follows for certain: what tells all rows apart tells those of the sample apart."""
    if result.complete and result.find == "all":
        return f"For certain: every set{_size(result)} that tells all rows apart contains one of these."
    if result.complete and result.find == "minimum":
        return f"For certain: no set of at most {plural(result.decided_size or 0, 'column')} tells all rows apart."
    return _proof(result)


def _size(result: ColumnSets) -> str:
    return "" if result.max_size is None else f" of at most {plural(result.max_size, 'column')}"


def _definition(result: ColumnSets) -> str:
    size = _size(result)
    if result.find == "ranking":
        return f"All column sets{size} were counted; those with most {result.unit} at risk or alone come first."
    kind = {"all": "Minimal", "minimum": "Smallest", "greedy": "Some minimal"}[result.find]
    if result.wanted == "violating":
        allowed = f"more than {percent(result.tolerance)} of the" if result.tolerance else "some"
        return f"{kind} column sets{size} that put {allowed} {result.unit} into classes below {result.k}."
    if result.sample is not None:
        drawn = f"{count(result.sample.drawn)} rows, drawn at random from {count(result.sample.rows)}"
        return f"{kind} column sets{size} that separate all pairs of {drawn} (seed {result.sample.seed})."
    if not result.epsilon:
        return f"{kind} column sets{size} that tell apart all {result.unit} that all columns together tell apart."
    measure = "distinct ratio" if result.ratio == "distinct" else "separation"
    return f"{kind} column sets{size} with a {measure} of at least {limit(1 - result.epsilon)}."


_GREEDY = (
    "Each of them is minimal; there may be others, and smaller ones: no number of restarts proves that there are none."
)


def _proof(result: ColumnSets) -> Words:
    if result.complete and result.find == "all":
        return f"Complete: {_rest(result)}."
    if result.complete and result.find == "minimum":
        if result.sets and not result.decided_size:
            return "Proven: no set is smaller, as it has one column."
        return f"Proven: no set of at most {plural(result.decided_size or 0, 'column')} will do{_but_this(result)}."
    if result.complete or (result.find == "greedy" and not result.open_sets):
        return _GREEDY if result.find == "greedy" else "Complete."
    decided = ""
    if result.decided_size is not None and result.decided_size >= 0:
        decided = f" Every set of at most {plural(result.decided_size, 'column')} is decided."
    ended = "it was stopped" if result.by_hand else "the time budget ended"
    return Toned(
        f"Not complete: {ended} with {plural(result.open_sets, 'set')} waiting.{decided} What is listed is proven.",
        "warn",
    )


def _rest(result: ColumnSets) -> str:
    """What is known of the sets that are not listed."""
    if not result.border_found:
        return "every other set contains one that was found"
    safe = "the one safe set" if result.border_found == 1 else f"one of {count(result.border_found)} safe sets"
    return (
        f"every other set is inside {safe}, or contains one that was found"
        if result.sets_found
        else (f"every set is inside {safe}")
    )


def _but_this(result: ColumnSets) -> str:
    return ", so the set is a smallest one" if result.sets else ""


def _effects(result: ColumnSets) -> Iterator[Words]:
    """A sentence for each column that changes something, one for all that change nothing."""
    staying = [effect for effect in result.effects if effect.stays]
    yield from (effect.sentence(result.unit) for effect in result.effects if not effect.stays)
    if len(staying) == 1:
        yield staying[0].sentence(result.unit)
    elif staying:
        yield (
            f"Without any one of {listing([effect.column for effect in staying])}, {result.unit} at risk stay at "
            f"{percent(staying[0].at_risk or 0)}: what it tells, the others tell too."
        )
        first, *others = (f"{effect.column} {{}}in {count(effect.in_sets)}" for effect in staying[:_OFTEN])
        often = [first.format("is "), *(one.format("") for one in others)]
        yield f"Of the {plural(result.sets_found, 'set')}, {listing(often)}."


def _found(result: ColumnSets) -> tuple[Table | Picture | None, ...]:
    if result.sample is None:
        return (_sets(result), _grouped(result), sets_picture(result))
    rows = tuple((", ".join(one.columns) or "(none)", count(len(one.columns))) for one in result.sets[:_SHOWN])
    more = result.sets_found - len(rows)
    caption = f"The first {count(len(rows))}; {count(more)} more were found." if more else ""
    return (Table((Column("Columns"), Column("How many", True)), rows, caption),)


def _sets(result: ColumnSets) -> Table:
    with_classes = any(one.classes is not None for one in result.sets)
    columns = [Column("Columns"), Column("Smallest class", True), Column(f"{result.unit.capitalize()} below k", True)]
    columns += [Column("At risk", True), Column("Alone", True)]
    columns += [Column("Classes", True)] if with_classes else []
    first = _by_risk(result)[:_SHOWN]
    more = result.sets_found - len(first)
    order = "" if result.find == "ranking" or result.wanted != "violating" else f" with most {result.unit} at risk"
    caption = f"The first {count(len(first))}{order}; {count(more)} more were found." if more else ""
    return Table(tuple(columns), tuple(_row(one, with_classes) for one in first), caption)


def _by_risk(result: ColumnSets) -> list[ColumnSet]:
    """The sets with most at risk first, where nobody asked for another order; fewer columns first among equals."""
    if result.find == "ranking" or result.wanted != "violating":
        return list(result.sets)
    return sorted(result.sets, key=lambda one: (-one.rows_at_risk, -one.unique_rows, len(one.columns)))


def _grouped(result: ColumnSets) -> Table | None:
    """Where there are more sets than anybody reads: in how many of them each column is, and the worst of these."""
    if len(result.sets) <= _SHOWN:
        return None
    having = {name: [one for one in _by_risk(result) if name in one.columns] for name in result.columns}
    rows = sorted(((name, sets) for name, sets in having.items() if sets), key=lambda pair: -len(pair[1]))
    columns = (Column("Column"), Column("Sets with it", True), Column("Most at risk", True), Column("Together with"))
    return Table(
        columns,
        tuple((name, count(len(sets)), percent(sets[0].share_at_risk), _others(name, sets[0])) for name, sets in rows),
        f"All {count(len(result.sets))} by column:",
    )


def _others(name: str, one: ColumnSet) -> str:
    return ", ".join(column for column in one.columns if column != name) or "(alone)"


def _row(one: ColumnSet, with_classes: bool) -> tuple[Words, ...]:
    cells = [", ".join(one.columns) or "(none)", count(one.min_size), count(one.rows_at_risk)]
    cells += [percent(one.share_at_risk), count(one.unique_rows)]
    return (*cells, *([count(one.classes or 0)] if with_classes else []))


def _how(result: ColumnSets) -> Facts:
    counts = result.counts
    size = "any size" if result.max_size is None else f"at most {plural(result.max_size, 'column')}"
    return Facts(
        (
            ("rows drawn" if result.sample is not None else result.unit, count(result.total)),
            ("columns", f"{count(len(result.columns))}: {', '.join(result.columns)}"),
            ("candidate sets", f"{count(counts.candidates)} of {size}"),
            (
                "decided one by one",
                f"{count(counts.decided)}; {count(counts.counted)} of them by counting in the database",
            ),
            ("missing values", READS[result.nulls]),
            *made(result),
        )
    )

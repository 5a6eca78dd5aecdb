"""The report on persons in many rows: how few known events find somebody."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.events.pictures import curve_picture
from sqlaudit.events.result import Coherence, Drawn, Learnt, PersonAtRisk, PersonsResult, WithoutColumn
from sqlaudit.events.sentences import among, events, headline, lead
from sqlaudit.models.phrases import required_sentence, verdict_of
from sqlaudit.reports.blocks import Bullets, Column, Facts, Paragraph, Table, Toned
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_MOST_NUMBERS = 12
MISSING, NOBODY = "(missing)", "–"
_MISSING = {"equal": "equal to each other", "distinct": "equal to nothing", "wildcard": "match anything"}
NOT_SAID = (
    "What somebody learns who knows when and where about, not exactly: ask with a tolerance or coarser columns.",
    "What the other columns say of a person who was found: audit these with their quasi-identifiers.",
    "What happens when this table is joined with another release, or an older version of itself.",
)


def persons_document(result: PersonsResult) -> Document:
    """What was found about persons and their events, as a document for any layout."""
    found = headline(result)
    required = tuple(required_sentence(check, 0, result.rows) for check in result.checks)
    return Document(
        verdict_of(result.checks) if required else found,
        (
            *([Paragraph(found.text if isinstance(found, Toned) else found)] if required else []),
            Bullets((*required, *lead(result))),
        ),
        (
            *section("With some known events", _curve(result), curve_picture(result)),
            *section("With events drawn at random", _random(result)),
            *(
                part
                for told in result.coherence
                for part in (
                    *section(f"What events tell of {told.sensitive}", _coherence(result, told)),
                    *section(f"What events and sensitive values tell of {told.sensitive}", _uncertainty(result, told)),
                )
            ),
            *section("With all events of a person", Bullets(tuple(_profile(result)))),
            *section("What leaving out a column would change", _effects(result)),
            *section("Which values tell most", *_telling_values(result)),
            *section("Persons most at risk", _most_at_risk(result)),
            *section("How many events persons have", _numbers(result)),
            *section("How it was measured", _how(result)),
            *sql_section(result),
            *section("What this does not say", Bullets(NOT_SAID[1:] if result.tolerance else NOT_SAID)),
        ),
        about=About(result.target, result.time),
    )


def _coherence(result: PersonsResult, told: Coherence) -> Table:
    caption = (
        "Among all persons with a set of so many events: the largest share who hold one and the same value. Of all "
        f"persons, {percent(told.prior)} hold the most frequent value; a missing one is no value."
    )
    return _learnt(result, told.curve, "Known events", caption)


def _uncertainty(result: PersonsResult, told: Coherence) -> Table | None:
    caption = "The same where sensitive values are known like events, and tell others than themselves."
    return _learnt(result, told.uncertainty, "Known", caption) if told.uncertainty else None


def _learnt(result: PersonsResult, curve: tuple[Learnt, ...], known: str, caption: str) -> Table:
    columns = (
        Column(known, True),
        Column("Fewest persons", True),
        Column("Largest share with one value", True),
        Column(f"Told (more than {percent(result.h)})", True),
        Column("Told or exposed", True),
    )
    rows = tuple(
        (
            count(one.known) + ("" if one.exact else " (part)"),
            count(one.smallest),
            percent(one.share),
            _with_share(one.told_persons, result.persons),
            _with_share(one.exposed_persons, result.persons),
        )
        for one in curve
    )
    return Table(columns, rows, caption)


def _curve(result: PersonsResult) -> Table:
    columns = (
        Column("Known events", True),
        Column("Fewest persons", True),
        Column(f"Exposed (fewer than {result.k})", True),
        Column("Singled out", True),
        Column("Minimal sets", True),
    )
    rows = tuple(
        (
            count(one.known) + ("" if one.exact else " (part)"),
            count(one.smallest),
            _with_share(one.exposed_persons, result.persons),
            _with_share(one.unique_persons, result.persons),
            count(one.minimal_sets),
        )
        for one in result.curve
    )
    caption = (
        f"Fewest persons: who share some set of so many events. Minimal sets: shared by fewer than {result.k}, every "
        f"smaller part by {result.k} and more."
    )
    return Table(columns, rows, caption)


def _with_share(persons: int, whole: int) -> str:
    share = part(persons, whole)
    return f"{count(persons)} ({share})" if share and persons else count(persons)


def _random(result: PersonsResult) -> Table | None:
    if not result.random:
        return None
    columns = (Column("Events drawn", True), Column("Singled out", True), Column("How sure"))
    rows = tuple((count(one.known), percent(one.unique_share), _sure(one)) for one in result.random)
    return Table(columns, rows, _enough(result))


def _sure(one: Drawn) -> str:
    return f"{percent(one.low)} to {percent(one.high)} (95%, persons drawn)" if one.sampled else "exactly"


def _enough(result: PersonsResult) -> str:
    """How many events single out half of the persons, and nearly all."""
    said = []
    for share, whose in ((0.5, "half of the persons"), (0.95, "95%")):
        enough = next((one.known for one in result.random if one.unique_share >= share), None)
        said.append(f"{whose}: {'more are needed' if enough is None else plural(enough, 'event')}")
    whom = "The share of persons whom so many of their events, drawn at random, single out."
    return f"{whom} To single out {'; '.join(said)}."


def _profile(result: PersonsResult) -> Iterator[str]:
    profile = result.profile
    if not result.persons:
        return
    if result.near:
        yield (
            f"All events of a person fit at least {plural(profile.k, 'person')}; those of "
            f"{among(result, profile.exposed_persons)} fit fewer than {result.k}, those of "
            f"{count(profile.unique_persons)} nobody else."
        )
        return
    order = " in the same order" if result.sequence else ""
    yield (
        f"Persons with the same events{order} form {plural(profile.classes, 'class', 'classes')}; the smallest has "
        f"{plural(profile.k, 'person')}."
    )
    share = "shares" if profile.exposed_persons == 1 else "share"
    others = plural(result.k - 1, "other")
    yield (
        f"{among(result, profile.exposed_persons)} {share} all events with fewer than {others}; "
        f"{count(profile.unique_persons)} with nobody."
    )
    if result.static_k is not None:
        fixed = ", ".join(result.static)
        yield f"By what stays the same of them alone ({fixed}), at least {plural(result.static_k, 'person')} are alike."


def _effects(result: PersonsResult) -> Table | None:
    if not result.effects:
        return None
    known = result.curve[-1].known
    columns = (
        Column("Without, or coarser"),
        Column(f"Exposed by {events(known)}", True),
        Column("Singled out", True),
        Column("Smallest class of equal events", True),
    )
    ranked = sorted(result.effects, key=lambda effect: effect.exposed_persons)
    rows = tuple(row for one in ranked for row in _effect(result, one))
    return Table(columns, rows, "The column that saves most stands first; what says less than it stands below it.")


def _effect(result: PersonsResult, one: WithoutColumn) -> Iterator[tuple[str, ...]]:
    persons = result.persons
    exposed, unique = (_with_share(found, persons) for found in (one.exposed_persons, one.unique_persons))
    yield f"without {one.column}", exposed, unique, count(one.profile_k)
    if one.coarser_exposed_persons is not None and one.coarser_unique_persons is not None:
        exposed, unique = (
            _with_share(found, persons) for found in (one.coarser_exposed_persons, one.coarser_unique_persons)
        )
        yield f"{one.column} as {one.coarsening}", exposed, unique, ""


def _telling_values(result: PersonsResult) -> Iterator[Bullets | Table]:
    if not result.telling:
        return
    yield Bullets(
        tuple(
            f"{one.column}: {plural(one.values, 'value')} in minimal sets; {count(one.half)} of them make half."
            for one in result.telling
        )
    )
    rows = [
        (one.column, MISSING if top.value is None else top.value, count(top.sets))
        for one in result.telling
        for top in one.top
    ]
    if rows:
        yield Table((Column("Column"), Column("Value"), Column("In minimal sets", True)), tuple(rows))


def _most_at_risk(result: PersonsResult) -> Table | None:
    if not result.most_at_risk:
        return None
    shown = any(one.key is not None for one in result.most_at_risk)
    columns = (
        *((Column(result.entity), Column("By")) if shown else ()),
        Column("Singled out by", True),
        Column("Exposed by", True),
        Column("Events", True),
        Column("Sets that single out", True),
    )
    rows = tuple((*(_who(one) if shown else ()), *_risk(one)) for one in result.most_at_risk)
    return Table(
        columns,
        rows,
        "How many events are enough, of those that a person has; who it is stands here when values are shown.",
    )


def _who(one: PersonAtRisk) -> tuple[str, str]:
    events = "; ".join(", ".join(MISSING if value is None else value for value in event) for event in one.telling)
    return one.key or MISSING, events


def _risk(one: PersonAtRisk) -> tuple[str, str, str, str]:
    alone = NOBODY if one.singled_out is None else count(one.singled_out)
    return alone, count(one.exposed), count(one.events), count(one.sets)


def _numbers(result: PersonsResult) -> Table | None:
    listed = sorted(result.by_number.items())
    if not listed:
        return None
    rows = [(count(events), count(persons)) for events, persons in listed[:_MOST_NUMBERS]]
    rest = sum(persons for _, persons in listed[_MOST_NUMBERS:])
    if rest:
        rows.append((f"{count(listed[_MOST_NUMBERS][0])} and more", count(rest)))
    return Table((Column("Different events", True), Column("Persons", True)), tuple(rows))


def _how(result: PersonsResult) -> Facts:
    of = f", of {result.static_from}" if result.static_from else ""
    static = (("known besides", ", ".join(result.static) + of),) if result.static else ()
    return Facts(
        (
            ("rows", count(result.rows)),
            ("persons", f"{count(result.persons)}, by {result.entity}"),
            ("an event is", ", ".join(result.columns) + (", each repeat by itself" if result.multiset else "")),
            *((f"{column} is known", f"within {within}") for column, within in result.tolerance),
            *((("events are known", f"in the order of {result.sequence}"),) if result.sequence else ()),
            *static,
            (f"different events{' by what is known besides' if static else ''}", count(result.events)),
            ("missing values", _MISSING[result.nulls]),
            *made(result),
        )
    )

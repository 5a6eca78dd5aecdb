"""The result on people with many rows, and its report. Frozen; without a value of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar

from sqlaudit.base import result as base
from sqlaudit.base.parameter_names import spelled
from sqlaudit.models.base import Check, WithVerdict
from sqlaudit.models.people import KnownEvents, Profile, RandomEvents, ValueDisclosure
from sqlaudit.models.phrases import requirement_lines, requirements_met, verdict_of
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class Contribution(base.Documented):
    """What one person contributes to the table at most.

    Args:
        rows: the most rows of a person. groups: the most groups of a person: combinations of the columns of an event,
            where a missing value is a value, as in GROUP BY.
    """

    rows: Annotated[int, base.json_schema(minimum=0)]
    groups: Annotated[int, base.json_schema(minimum=0)]


@dataclass(frozen=True)
class WithoutColumn(base.Documented):
    """The figures without a column, or with a coarser one.

    Args:
        column: its name. exposed_persons, unique_persons: with the largest number of known events of the curve.
        profile_k: the smallest group of people with the same events.
        coarsening: a coarser form of the column; empty where none is natural.
        coarser_unique_persons, coarser_exposed_persons: unique and exposed people with the coarser column.
    """

    column: str
    exposed_persons: int
    unique_persons: int
    profile_k: int
    coarsening: str = field(default="", metadata=base.OR_NULL)
    coarser_exposed_persons: int | None = None
    coarser_unique_persons: int | None = None


@dataclass(frozen=True)
class Coherence(base.Documented):
    """What events reveal about a sensitive column.

    Args:
        sensitive: its name.
        prior: the share of all people who have the most frequent value; missing values do not count.
        curve: by the largest number of known events, as `persons.curve`.
        uncertainty: by the largest number of known events and sensitive values: what they reveal about other values.
            Empty unless requested.
    """

    sensitive: str
    prior: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.exactly("prior_exact"))
    curve: tuple[ValueDisclosure, ...]
    uncertainty: tuple[ValueDisclosure, ...] = ()


@dataclass(frozen=True)
class PersonsFound(base.Documented):
    """The figures of an audit on people and their events.

    Args:
        persons: different people. rows: rows of the table. events: different combinations of the quasi-identifiers.
        k: the largest k of the requirements on known events, None without any.
        profile: groups of people with the same events: what someone who knows all events of a person learns.
        curve: by the largest number of known events, from 1 to the largest that a requirement needs.
        random: the expected share of people singled out by some of their events, drawn at random.
    """

    persons: int
    rows: int
    events: int
    k: Annotated[int, base.json_schema(minimum=2)] | None
    profile: Profile
    curve: tuple[KnownEvents, ...] = ()
    random: tuple[RandomEvents, ...] = ()


@dataclass(frozen=True)
class RevealingValue(base.Documented):
    """A value of a column, and the minimal sets of events with it.

    Args:
        value: as text, None when it is missing. sets: the number of its minimal sets, counted for each event.
    """

    value: str | None
    sets: int


@dataclass(frozen=True)
class RevealingColumn(base.Documented):
    """The values of a column in minimal sets: sets that fewer than k share, while at least k share each part.

    Args:
        column: its name. values: different values in such sets.
        values_for_half: the number of most revealing values that account for half of all places in sets.
        top: the most revealing values, when values may be shown.
    """

    column: str
    values: int
    values_for_half: int
    top: tuple[RevealingValue, ...] = ()


@dataclass(frozen=True)
class PersonAtRisk(base.Documented):
    """A person whom few events expose.

    Args:
        singled_out: the fewest events that no one else has, None when no known number of events singles out.
        exposed: the fewest events that fewer than k people share. events: different events of the person.
        sets: the number of sets of the fewest events that single out. key: the person, None unless values may be shown.
        revealing_events: the events of one such set, by the columns; empty unless values may be shown.
    """

    singled_out: int | None
    exposed: int
    events: int
    sets: int
    key: str | None
    revealing_events: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class PersonsResult(WithVerdict, base.MeasuredResult, Shown):
    """How easily people are identified by their events.

    Args:
        engine: the engine and its version. target: the audited table. entity: the column that identifies the person.
        columns: the columns of an event: different combinations of their values are different events.
        static: quasi-identifiers that stay the same for a person, known beside the events.
        static_from: the table with these, joined by the entity; None (in Python empty) when the table of events has
            them. k: people who must share the known events; if fewer do, they are exposed.
        h: the share of people with the same sensitive value above which that value is revealed.
        multiset: whether repeats of an event are events of their own.
        tolerance: columns, and how far from the true value a known one may be (`7d`, `10`).
        sequence: the column of the known order of events; None (in Python empty) where their order is not known.
        nulls: how missing values are read. rows: rows of the table. persons: different people.
        events: different events; with static columns, different pairs of an event and static values.
        pairs: different pairs of a person and an event; in a sequence of an event and its time.
        by_number: people by their number of different events.
        contribution: the most rows and groups of one person, exactly. It depends on single people: do not publish it.
        profile: groups of people with the same events: what someone who knows all events of a person learns.
        curve: by the largest number of known events, from 1 on. It ends early when the time budget is spent.
        random: the expected share of people singled out by some of their events, drawn at random (by all, where there
            are fewer). static_k: the fewest people with the same static values; None without static columns.
        effects: the figures without each column, at the largest number of known events; empty unless requested.
        coherence: what events reveal about each sensitive column: (h,k,p)-coherence, p = `known`.
        revealing_values: the values of columns in minimal sets, which fewer than k people share while at least k share
            each part; empty unless effects were requested.
        most_at_risk: people whom the fewest events single out, then those whom the fewest expose; empty unless
            requested. checks: the requirements with their verdicts; only where there are any.
    """

    schema: ClassVar = "sqlaudit-persons/1"
    shown_by: ClassVar = "sqlaudit.events.result:PersonsReport"
    frame_of: ClassVar = "persons.curve"

    engine: str = ""
    target: str
    entity: str
    columns: tuple[str, ...]
    static: tuple[str, ...]
    static_from: str = field(default="", metadata=base.OR_NULL)
    k: Annotated[int, base.json_schema(minimum=2)]
    h: Annotated[Fraction, base.FROM_0_TO_1] = field(default=Fraction(4, 5), metadata=base.exactly("h_exact"))
    multiset: bool
    tolerance: tuple[tuple[str, str], ...] = field(default=(), metadata=base.objects("column", "within"))
    sequence: str = field(default="", metadata=base.OR_NULL)
    nulls: base.Nulls
    persons: int = field(metadata=base.key("persons.persons"))
    rows: int = field(metadata=base.key("persons.rows"))
    events: int = field(metadata=base.key("persons.events"))
    pairs: int = field(metadata=base.key("persons.occurrences"))
    by_number: Mapping[int, int] = field(
        metadata=base.key("persons.by_number_of_events") | base.objects("events", "persons")
    )
    contribution: Contribution = field(metadata=base.key("persons.contribution"))
    profile: Profile = field(metadata=base.key("persons.profile"))
    curve: tuple[KnownEvents, ...] = field(metadata=base.key("persons.curve"))
    random: tuple[RandomEvents, ...] = field(default=(), metadata=base.key("persons.random"))
    static_k: int | None = field(default=None, metadata=base.key("persons.static_k"))
    effects: tuple[WithoutColumn, ...] = field(default=(), metadata=base.key("persons.effects"))
    coherence: tuple[Coherence, ...] = field(default=(), metadata=base.key("persons.coherence"))
    revealing_values: tuple[RevealingColumn, ...] = field(default=(), metadata=base.key("persons.revealing_values"))
    most_at_risk: tuple[PersonAtRisk, ...] = field(default=(), metadata=base.key("persons.most_at_risk"))
    checks: tuple[Check, ...] = field(default=(), metadata=base.IF_ANY)
    _by_hand: bool = field(default=False, repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """True if the user stopped the search."""
        return self._by_hand

    @property
    def near(self) -> bool:
        """True if events match within a tolerance, so that people form no disjoint groups."""
        return bool(self.tolerance) or self.nulls == "wildcard"

    @property
    def complete(self) -> bool:
        """True if every requested number of known events was counted."""
        besides = (row.exact for one in self.coherence for row in one.uncertainty)
        return all(one.exact for one in self.curve) and all(besides)

    def at(self, known: int) -> KnownEvents:
        """The figures for up to so many known events.

        Raises:
            KeyError: this number was not requested, or not reached in time.
        """
        return {one.known: one for one in self.curve}[known]


# The report on people with many rows: how few known events identify them.


def headline(result: PersonsResult) -> doc.Words:
    """The main finding."""
    if not result.persons:
        return doc.warning(f"{result.target}: the table has no rows")
    last = result.curve[-1]
    if not last.exact and not last.exposed_persons:
        last = [one for one in result.curve if one.exact][-1]
    order = f", in the order of {result.sequence}," if result.sequence and last.known > 1 else ""
    text = f"{result.target}: {events(last.known)} of a person{order} {_expose(result, last)}"
    # the sensitive column that is revealed for most people
    told = max(result.coherence, key=lambda one: _telling(one)[-1].disclosed_persons, default=None)
    persons = _telling(told)[-1].disclosed_persons if told is not None else 0
    if told is not None and persons:
        besides = "with sensitive values " if told.uncertainty else ""
        text += f", and {besides}can reveal the {told.sensitive} of {among(result, persons)}"
    bad = last.exposed_persons or persons
    return doc.Toned(text, "bad" if bad else "good" if result.complete else "warn")


def _telling(told: Coherence) -> tuple[ValueDisclosure, ...]:
    """The figures for the most knowledge that was requested."""
    return told.uncertainty or told.curve


def _expose(result: PersonsResult, one: KnownEvents) -> str:
    if not one.exposed_persons:
        verb = "is" if one.known == 1 else "are"
        rest = "" if result.curve[-1].exact else "; larger numbers were not decided"
        return f"{verb} always shared by at least {_people(one.smallest)}{rest}"
    people = ("" if one.exact else "at least ") + among(result, one.exposed_persons)
    if result.k == 2:
        return f"can single out {people}"
    return f"can narrow {people} down to at most {result.k - 1} candidates"


def among(result: PersonsResult, persons: int) -> str:
    """A number of people, with their share."""
    return doc.out_of(persons, result.persons, "person", "people")


def events(number: int) -> str:
    """A number of known events."""
    return doc.plural(number, "known event")


def _people(number: int) -> str:
    return doc.plural(number, "person", "people")


def _finding(result: PersonsResult, one: KnownEvents) -> doc.Toned:
    if one.unique_persons:
        return doc.bad(f"{events(one.known)} can single out {among(result, one.unique_persons)}.")
    if one.exposed_persons:
        return doc.bad(f"{events(one.known)} {_expose(result, one)}.")
    shared = f"{'is' if one.known == 1 else 'are'} shared by at least {_people(one.smallest)}."
    return doc.good(f"Any {events(one.known)} of a person {shared}")


def _learning(result: PersonsResult, told: Coherence) -> Iterator[doc.Words]:
    """Yield how many known events reveal the sensitive values of people."""
    names = ("known event or sensitive value", "known events or sensitive values")
    one_name, many = names if told.uncertainty else ("known event", "known events")
    curve = _telling(told)
    for one in curve:
        if one.disclosed_persons:
            least = "" if one.exact else "at least "
            pieces, whom = doc.plural(one.known, one_name, many), among(result, one.disclosed_persons)
            yield doc.bad(
                f"{pieces} can reveal the {told.sensitive} of {least}{whom}: more than {doc.percent(result.h)} of the "
                "people who share them have the same value."
            )
            return
    known = [one for one in curve if one.exact]
    if known:
        pieces = doc.plural(known[-1].known, one_name, many)
        text = f"Of the people who share {pieces}, at most {doc.percent(known[-1].share)} have the same"
        rest = "" if len(known) == len(curve) else "; larger numbers were not decided"
        yield doc.Toned(f"{text} {told.sensitive}{rest}.", "warn" if rest else "good")


def curve_picture(result: PersonsResult) -> doc.Picture | None:
    """Shares of people exposed and singled out, by the number of known events; None without a curve."""
    counted = [one for one in result.curve if one.exact]
    if not result.persons or not counted:
        return None
    share = 1 / result.persons
    curves = {
        f"exposed (fewer than {result.k})": [[one.known, one.exposed_persons * share] for one in counted],
        "singled out": [[one.known, one.unique_persons * share] for one in counted],
    }
    if result.random:
        curves["singled out at random"] = [[one.known, one.unique_share] for one in result.random]
    ys = {y for points in curves.values() for _, y in points}
    if len(ys) < 2 or max(map(len, curves.values())) < 2:
        return None
    return doc.curves("Share of people by the number of known events", curves, "known events", "share of people")


_MOST_NUMBERS = 12
MISSING, NOBODY = "(missing)", "–"
_MISSING = {"equal": "equal to each other", "distinct": "equal to nothing", "wildcard": "match anything"}
NOT_SAID = (
    "Approximate knowledge, for example of a time or place, was not checked. Measure it with a tolerance or coarser "
    "columns.",
    "What other columns reveal about an identified person was not checked. Audit them with their quasi-identifiers.",
    "Joins with other releases or older versions of this table were not checked.",
)


class PersonsReport(MeasuredReport[PersonsResult]):
    """The report on people with many rows: how few known events identify them."""

    kind = "People with many rows"
    method_title = "How it was measured"
    limits_last = True

    def headline(self, result: PersonsResult) -> doc.Words:
        return verdict_of(result.checks) if result.checks else headline(result)

    def key_figures(self, result: PersonsResult) -> Iterator[doc.KeyFigure]:
        if result.persons:
            fewest = [(events(point.known), point.unique_persons) for point in result.curve[:1] if point.exact]
            for what, unique in (*fewest, ("all events", result.profile.unique_persons)):
                tone = doc.bad_if(unique and not (result.checks and result.passed))
                yield doc.KeyFigure(doc.with_share(unique, result.persons), f"Singled out by {what}", tone)
        yield from requirements_met(result.checks)

    def opening(self, result: PersonsResult) -> Iterator[doc.Content]:
        if result.checks:
            yield doc.text_of(headline(result))
            yield from requirement_lines(result.checks, rows=result.rows)

    def lead(self, result: PersonsResult) -> Iterator[doc.Words]:
        if not result.persons:
            return
        yield from (_finding(result, point) for point in result.curve if point.exact)
        stopped = result.curve[-1]
        if not stopped.exact:
            why = "Interrupted" if result.by_hand else "Time limit reached"
            yield doc.warning(
                f"{why} while counting sets of {doc.count(stopped.known)} events: at least "
                f"{among(result, stopped.exposed_persons)} {'is' if stopped.exposed_persons == 1 else 'are'} exposed."
            )
        for coherence in result.coherence:
            yield from _learning(result, coherence)
        if unique := result.profile.unique_persons:
            yield doc.bad(f"All events of a person single out {among(result, unique)}.")

    def sections(self, result: PersonsResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Known events", _known(result), curve_picture(result))
        yield doc.section("Random events", _random(result))
        for coherence in result.coherence:
            yield from _told_of(result, coherence)
        yield doc.section("All events of a person", _profile(result))
        yield doc.section("Effects of leaving out or coarsening columns", _effects_picture(result), _effects(result))
        yield doc.section("Most revealing values", *_telling_values(result))
        yield doc.section("People most at risk", _at_risk(result))
        numbers = _events_of_persons(result)
        yield doc.section(
            "Events per person", _numbers_picture(numbers), doc.table(("#Different events", "#People"), numbers)
        )
        yield doc.section("Contribution of one person", _contribution(result))

    def method(self, result: PersonsResult) -> Iterator[tuple[str, doc.Cell]]:
        of = f", of {result.static_from}" if result.static_from else ""
        static = doc.joined(result.static) + of if result.static else ""
        yield "rows", result.rows
        yield "people", f"{doc.count(result.persons)}, by {result.entity}"
        yield "event", doc.joined(result.columns) + (" (repeats count)" if result.multiset else "")
        for column, within in result.tolerance:
            yield f"tolerance of {column}", within
        yield "order of events", f"known, by {result.sequence}" if result.sequence else ""
        yield "static columns", static
        yield f"different events{' with static values' if static else ''}", result.events
        yield "missing values", _MISSING[result.nulls]

    def limits(self, result: PersonsResult) -> tuple[str, ...]:
        return NOT_SAID[1:] if result.tolerance else NOT_SAID


def _told_of(result: PersonsResult, told: Coherence) -> Iterator[tuple[doc.Section, ...]]:
    caption = (
        "Largest share with the same value: among the people who share a set of known events. Of all people, "
        f"{doc.percent(told.prior)} have the most frequent value. Missing values do not count."
    )
    yield doc.section(f"Disclosure of {told.sensitive} by events", _learnt(result, told.curve, "Known events", caption))
    caption = "Sensitive values are known like events, and can reveal other sensitive values."
    beside = _learnt(result, told.uncertainty, "Known", caption) if told.uncertainty else None
    yield doc.section(f"Disclosure of {told.sensitive} by events and sensitive values", beside)


def _learnt(result: PersonsResult, curve: tuple[ValueDisclosure, ...], known: str, caption: str) -> doc.Table:
    one_value = f"#Revealed (more than {doc.percent(result.h)})"
    rows = (
        (*_least(one), doc.percent(one.share), *_with_shares(result, one.disclosed_persons, one.exposed_persons))
        for one in curve
    )
    heads = (f"#{known}", "#Fewest people", "#Largest share with the same value", one_value, "#Revealed or exposed")
    return doc.table(heads, rows, caption)


def _known(result: PersonsResult) -> doc.Table:
    """Return the people who are exposed or singled out, by the number of known events."""
    exposed = f"#Exposed (fewer than {result.k})"
    rows = (
        (*_least(one), *_with_shares(result, one.exposed_persons, one.unique_persons), one.minimal_sets)
        for one in result.curve
    )
    return doc.table(
        ("#Known events", "#Fewest people", exposed, "#Singled out", "#Minimal sets"),
        rows,
        "Fewest people: the smallest number who share a set of known events. Minimal sets: shared by fewer than "
        f"{result.k} people, while at least {result.k} share every smaller part.",
    )


def _least(one: KnownEvents | ValueDisclosure) -> tuple[str, int]:
    """The number of known events, and the fewest people who share them."""
    return doc.count(one.known) + ("" if one.exact else " (part)"), one.smallest


def _with_shares(result: PersonsResult, first: int, second: int) -> tuple[str, str]:
    """Two numbers of people, each with its share of all where there are any."""

    def said(persons: int) -> str:
        share = doc.part(persons, result.persons)
        return f"{doc.count(persons)} ({share})" if share and persons else doc.count(persons)

    return said(first), said(second)


def _random(result: PersonsResult) -> doc.Table:
    """Return how many people random events single out, and how many events it takes for half of them and for 95%."""
    most = doc.plural(result.random[-1].known if result.random else 0, "event")
    reached = []
    for share, whose in ((0.5, "Half of the people"), (0.95, "95%")):
        enough = (draw.known for draw in result.random if draw.unique_share >= share)
        known = next(enough, None)
        with_events = f"not reached with {most}" if known is None else f"reached with {doc.plural(known, 'event')}"
        reached.append(f"{whose}: {with_events}.")
    return doc.table_of(
        result.random,
        ("#Events drawn", "known"),
        ("#Singled out", lambda draw: doc.percent(draw.unique_share)),
        ("95% interval", _interval),
        caption=f"Share of people singled out by some of their events, drawn at random. {' '.join(reached)}",
    )


def _interval(draw: RandomEvents) -> str:
    """Return the interval of the share of people who are singled out."""
    return f"{doc.percent(draw.low)} to {doc.percent(draw.high)} (people sampled)" if draw.sampled else "exact"


def _profile(result: PersonsResult) -> Iterator[str]:
    """Yield how many people have the same events altogether, and how many are in small groups."""
    profile = result.profile
    if not result.persons:
        return
    if result.near:
        yield f"All events of a person fit at least {_people(profile.k)}."
        yield (
            f"The events of {among(result, profile.exposed_persons)} fit fewer than {result.k} people; those of "
            f"{doc.count(profile.unique_persons)} fit no one else."
        )
        return
    order, groups = " in the same order" if result.sequence else "", doc.plural(profile.classes, "group")
    yield f"People with the same events{order} form {groups}; the smallest group has {_people(profile.k)}."
    verb = "is" if profile.exposed_persons == 1 else "are"
    exposed, unique = among(result, profile.exposed_persons), doc.count(profile.unique_persons)
    yield f"{exposed} {verb} in groups smaller than {result.k}; {unique} {'is' if unique == '1' else 'are'} unique."
    if result.static_k is not None:
        yield f"Static columns alone ({doc.joined(result.static)}): the smallest group has {_people(result.static_k)}."


def _effects(result: PersonsResult) -> doc.Table:
    rows: list[tuple[doc.Cell, ...]] = []
    for one in sorted(result.effects, key=lambda effect: effect.exposed_persons):
        persons = _with_shares(result, one.exposed_persons, one.unique_persons)
        rows.append((f"Without {one.column}", *persons, one.profile_k))
        if (exposed := one.coarser_exposed_persons) is not None and (unique := one.coarser_unique_persons) is not None:
            rows.append((f"{one.column} as {one.coarsening}", *_with_shares(result, exposed, unique), None))
    known = events(result.curve[-1].known) if rows else ""
    heads = ("Change", f"#Exposed by {known}", "#Singled out", "#Smallest group with the same events")
    return doc.table(heads, rows, "Most effective column first, followed by its coarser form.")


def _effects_picture(result: PersonsResult) -> doc.Picture | None:
    """Draw the shares of people who are exposed without each column, and with its coarser form, beside those of now."""
    names, shares = [], []
    for effect in sorted(result.effects, key=lambda effect: effect.exposed_persons):
        coarser = effect.coarser_exposed_persons
        names += [
            f"Without {effect.column}",
            *([f"{effect.column} as {effect.coarsening}"] if coarser is not None else []),
        ]
        shares += [effect.exposed_persons, *([coarser] if coarser is not None else [])]
    if not names or not result.persons:
        return None
    last = result.curve[-1]
    title = f"Share of people whom {events(last.known)} expose, after each change"
    all_shares = [persons / result.persons for persons in (last.exposed_persons, *shares)]
    return doc.bars(title, ["All columns", *names], {"exposed": all_shares}, "share of people", share=True)


def _numbers_picture(numbers: Sequence[tuple[str, int]]) -> doc.Picture | None:
    """Draw how many people have each number of events; None for one number."""
    title, people = "People by their number of different events", [persons for _, persons in numbers]
    return doc.bars(title, [name for name, _ in numbers], {"people": people}, "people") if len(people) > 1 else None


def _telling_values(result: PersonsResult) -> Iterator[doc.Content]:
    yield (
        f"{one.column}: {doc.plural(one.values, 'value')} in minimal sets; "
        f"{doc.count(one.values_for_half)} of them make up half "
        "of all places."
        for one in result.revealing_values
    )
    tops = ((one.column, top) for one in result.revealing_values for top in one.top)
    rows = ((name, MISSING if top.value is None else top.value, top.sets) for name, top in tops)
    yield doc.table(("Column", "Value", "#In minimal sets"), rows)


def _at_risk(result: PersonsResult) -> doc.Table:
    """Return the people whom the fewest events single out or expose."""
    is_named = any(person.key is not None for person in result.most_at_risk)
    hint = "" if is_named else f" {spelled('show_values', True)} shows the people."
    return doc.table_of(
        result.most_at_risk,
        (doc.Column(result.entity) if is_named else None, lambda person: person.key or MISSING),
        ("By" if is_named else None, lambda person: "; ".join(map(_event_text, person.revealing_events))),
        ("#Singled out by", lambda person: NOBODY if person.singled_out is None else person.singled_out),
        ("#Exposed by", "exposed"),
        "#events",
        ("#Sets that single out", "sets"),
        caption=f"Fewest events that single out or expose each person.{hint}",
    )


def _event_text(event: tuple[str | None, ...]) -> str:
    return ", ".join(MISSING if value is None else value for value in event)


def _events_of_persons(result: PersonsResult) -> list[tuple[str, int]]:
    """Return the number of people by their number of events; large numbers are one."""
    listed = sorted(result.by_number.items())
    rows = [(doc.count(number), persons) for number, persons in listed[:_MOST_NUMBERS]]
    if rest := sum(persons for _, persons in listed[_MOST_NUMBERS:]):
        rows.append((f"{doc.count(listed[_MOST_NUMBERS][0])} or more", rest))
    return rows


def _contribution(result: PersonsResult) -> Iterator[str]:
    if not result.persons:
        return
    most, columns = result.contribution, doc.joined(result.columns)
    yield f"Most rows of one person: {doc.count(most.rows)}."
    yield f"Most groups of one person: {doc.count(most.groups)} (combinations of {columns})."
    yield (
        "Both maxima are exact and depend on single people. Do not publish them: choose the bounds for differential "
        "privacy without looking at the data, and require them with rows_per_person and groups_per_person."
    )

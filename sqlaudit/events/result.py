"""What was found about persons in many rows, and its report. Frozen; without a value of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar

from sqlaudit.base import result as base
from sqlaudit.models.base import Check, WithVerdict
from sqlaudit.models.phrases import requirement_lines, verdict_of
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.stored import made, sql_section


@dataclass(frozen=True)
class Known(base.Documented):
    """What somebody learns who knows at most so many events of a person.

    Args:
        known: at most so many events are known.
        smallest: the fewest persons who share a set of events that somebody has: the level of k^m-anonymity.
        exposed_persons: persons with a set that fewer than k share.
        unique_persons: persons with a set that nobody else has.
        minimal_sets: sets of exactly m events that fewer than k share while every smaller part is shared by k.
        exact: whether all sets were counted; if not, figures are bounds: at least so many persons and sets.
    """

    known: Annotated[int, base.FROM_1]
    smallest: int
    exposed_persons: int
    unique_persons: int
    minimal_sets: int
    exact: bool = True


@dataclass(frozen=True)
class Drawn(base.Documented):
    """The expected share of persons singled out by so many of their events, drawn at random.

    Args:
        known: so many events are known. unique_share: the share.
        low, high: its 95% interval, the share itself when counted.
        sampled: whether persons were drawn at random, instead of counting all sets of all persons.
    """

    known: Annotated[int, base.FROM_1]
    unique_share: Annotated[float, base.FROM_0_TO_1]
    low: Annotated[float, base.FROM_0_TO_1]
    high: Annotated[float, base.FROM_0_TO_1]
    sampled: bool


@dataclass(frozen=True)
class Profile(base.Documented):
    """Persons whose events are all the same.

    Args:
        k: the smallest class; 0 without persons. unique_persons: persons alone in their class.
        exposed_persons: persons in classes of fewer than k; of fewer than two where no k was asked for.
        classes: how many classes; where events match when they are near, classes overlap, one for each person.
        sizes: classes by their size.
    """

    k: int
    unique_persons: int
    exposed_persons: int
    classes: int
    sizes: Mapping[int, int] = field(metadata=base.LEFT_OUT)

    @classmethod
    def of(cls, sizes: Mapping[int, int], k: int, *, near: bool = False) -> Profile:
        """From the classes by their size, where fewer than k persons are too few; `near`: from persons by how many fit
        all events of theirs."""
        exposed = sum(classes if near else members * classes for members, classes in sizes.items() if members < k)
        return cls(min(sizes, default=0), sizes.get(1, 0), exposed, sum(sizes.values()), sizes)


@dataclass(frozen=True)
class WithoutColumn(base.Documented):
    """What would be found if a column were left out of the events.

    Args:
        column: its name. exposed_persons, unique_persons: with as many known events as the curve goes to.
        profile_k: the smallest class of equal events.
        coarsening: what the column could be instead; empty where there is nothing natural.
        coarser_unique_persons: with that. coarser_exposed_persons: exposed persons with that.
    """

    column: str
    exposed_persons: int
    unique_persons: int
    profile_k: int
    coarsening: str = field(default="", metadata=base.OR_NULL)
    coarser_exposed_persons: int | None = None
    coarser_unique_persons: int | None = None


@dataclass(frozen=True)
class Learnt(base.Documented):
    """What somebody who knows at most so many events of a person learns of a sensitive value.

    Args:
        known: at most so many events are known. smallest: the fewest persons who share such a set.
        share: the largest share of the persons with such a set who hold one and the same value.
        exposed_persons: persons with a set that fewer than k share, or of whom more than h hold one value.
        told_persons: persons with a set of whose persons more than h hold one value.
        exact: whether all sets were counted; if not, figures are bounds: at least so large, at least so many persons.
    """

    known: Annotated[int, base.FROM_1]
    smallest: int
    share: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.exactly("share_exact"))
    exposed_persons: int
    told_persons: int
    exact: bool = True


@dataclass(frozen=True)
class Coherence(base.Documented):
    """What events tell of a sensitive column.

    Args:
        sensitive: its name.
        prior: the share of all persons who hold the most frequent value; a missing one is no value.
        curve: for somebody who knows at most so many events of a person, as `persons.curve`.
        uncertainty: for somebody who knows at most so many events and sensitive values: what these tell of other
            values. Empty unless asked for.
    """

    sensitive: str
    prior: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.exactly("prior_exact"))
    curve: tuple[Learnt, ...]
    uncertainty: tuple[Learnt, ...] = ()


@dataclass(frozen=True)
class PersonsFound(base.Documented):
    """What an audit counted of persons and their events.

    Args:
        persons: different ones. rows: rows of the table. events: different combinations of the quasi-identifiers.
        k: the largest number of persons that a requirement on known events asks for, None when none does.
        profile: for somebody who knows all events of a person: classes of persons whose events are the same.
        curve: for somebody who knows at most so many events of a person, from one on; as far as requirements ask.
        random: the expected share of persons whom so many of their events, drawn at random, single out.
    """

    persons: int
    rows: int
    events: int
    k: Annotated[int, base.json_schema(minimum=2)] | None
    profile: Profile
    curve: tuple[Known, ...] = ()
    random: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class TellingValue(base.Documented):
    """A value of a column, and the minimal sets of events with it.

    Args:
        value: as text, None when it is missing. sets: in how many minimal sets it is, counted for each event.
    """

    value: str | None
    sets: int


@dataclass(frozen=True)
class TellingColumn(base.Documented):
    """How much the values of a column do in minimal sets: those that fewer than k share, while k share each part.

    Args:
        column: its name. values: different values in such sets.
        half: how many of these, from the most telling on, make half of all places in sets.
        top: the most telling ones, when they may be shown.
    """

    column: str
    values: int
    half: int
    top: tuple[TellingValue, ...] = ()


@dataclass(frozen=True)
class PersonAtRisk(base.Documented):
    """Somebody whom few events expose.

    Args:
        singled_out: the fewest events that nobody else has, None when none of so many are.
        exposed: the fewest events that fewer than k persons share. events: different events of the person.
        sets: how many sets of the fewest events single out. key: who it is, None unless values may be shown.
        telling: the events of one such set, by the columns; empty unless values may be shown.
    """

    singled_out: int | None
    exposed: int
    events: int
    sets: int
    key: str | None
    telling: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class PersonsResult(WithVerdict, base.MeasuredResult, Shown):
    """How easily persons are found by their events.

    Args:
        engine: the engine and its version. target: what was looked at. entity: the column that names persons.
        columns: what an event is made of: different values of these together are different events.
        static: quasi-identifiers that stay the same for a person, known beside the events.
        static_from: the table that has these, joined by the entity; None (in Python empty) when they stand beside the
            events. k: persons who must share what is known; fewer are exposed.
        h: the share of persons above which a sensitive value counts as told.
        multiset: whether repeats of an event are events of their own.
        tolerance: columns, and how far from the true value a known one may be (`7d`, `10`).
        sequence: the column in whose order events are known; None (in Python empty) where their order is not.
        nulls: how missing values are read. rows: rows of the table. persons: different ones.
        events: different ones; with static columns, different pairs of an event and static values.
        pairs: pairs of a person and a different event; in a sequence an event at each time.
        by_number: persons by how many different events they have.
        profile: for somebody who knows all events of a person: classes of persons whose events are the same.
        curve: for somebody who knows at most so many events of a person, from one on. It ends early when the time
            budget is spent.
        random: the expected share of persons whom so many of their events, drawn at random (all, where there are
            fewer), single out. static_k: the fewest persons who share their static values; None without static columns.
        effects: what would be found without a column, at as many known events as the curve goes to; empty unless asked
            for. coherence: what events tell of each sensitive column: (h,k,p)-coherence, p = `known`.
        telling: which values of columns are in minimal sets: shared by fewer than k persons, while k share each part;
            empty unless effects were asked for.
        most_at_risk: persons whom the fewest events single out, then those whom the fewest expose; empty unless asked
            for. checks: what was required, judged: only where something was.
    """

    schema: ClassVar = "sqlaudit-persons/1"
    shown_by: ClassVar = "sqlaudit.events.result:persons_document"
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
    profile: Profile = field(metadata=base.key("persons.profile"))
    curve: tuple[Known, ...] = field(metadata=base.key("persons.curve"))
    random: tuple[Drawn, ...] = field(default=(), metadata=base.key("persons.random"))
    static_k: int | None = field(default=None, metadata=base.key("persons.static_k"))
    effects: tuple[WithoutColumn, ...] = field(default=(), metadata=base.key("persons.effects"))
    coherence: tuple[Coherence, ...] = field(default=(), metadata=base.key("persons.coherence"))
    telling: tuple[TellingColumn, ...] = field(default=(), metadata=base.key("persons.telling"))
    most_at_risk: tuple[PersonAtRisk, ...] = field(default=(), metadata=base.key("persons.most_at_risk"))
    checks: tuple[Check, ...] = field(default=(), metadata=base.IF_ANY)
    _by_hand: bool = field(default=False, repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """Whether somebody stopped the search."""
        return self._by_hand

    @property
    def near(self) -> bool:
        """Whether events match when they are near, so that nothing is a class."""
        return bool(self.tolerance) or self.nulls == "wildcard"

    @property
    def complete(self) -> bool:
        """Whether every number of known events that was asked for was counted."""
        besides = (row.exact for one in self.coherence for row in one.uncertainty)
        return all(one.exact for one in self.curve) and all(besides)

    def at(self, known: int) -> Known:
        """The figures for at most so many known events.

        Raises:
            KeyError: it was not asked for, or time was up before.
        """
        return {one.known: one for one in self.curve}[known]


# The report on persons in many rows: how few known events find somebody.


def headline(result: PersonsResult) -> doc.Words:
    """The one sentence that a reader should keep."""
    if not result.persons:
        return doc.warning(f"{result.target}: there is nobody")
    last = result.curve[-1]
    if not last.exact and not last.exposed_persons:
        last = [one for one in result.curve if one.exact][-1]
    order = f", in the order of {result.sequence}," if result.sequence and last.known > 1 else ""
    text = f"{result.target}: {events(last.known)} of a person{order} {_expose(result, last)}"
    # the sensitive column of which events tell most persons
    told = max(result.coherence, key=lambda one: _telling(one)[-1].told_persons, default=None)
    persons = _telling(told)[-1].told_persons if told is not None else 0
    if told is not None and persons:
        besides = "with sensitive values " if told.uncertainty else ""
        text += f", and {besides}tell the {told.sensitive} of {among(result, persons)}"
    bad = last.exposed_persons or persons
    return doc.Toned(text, "bad" if bad else "good" if result.complete else "warn")


def _telling(told: Coherence) -> tuple[Learnt, ...]:
    """What was found for whoever knows most of what was asked."""
    return told.uncertainty or told.curve


def _expose(result: PersonsResult, one: Known) -> str:
    if not one.exposed_persons:
        verb = "is" if one.known == 1 else "are"
        rest = "" if result.curve[-1].exact else "; larger numbers are undecided"
        return f"{verb} always shared by at least {doc.plural(one.smallest, 'person')}{rest}"
    least = "" if one.exact else "at least "
    others = f"but at most {doc.plural(result.k - 2, 'other')}" if result.k > 2 else "others"
    return f"can tell {least}{among(result, one.exposed_persons)} from all {others}"


def among(result: PersonsResult, persons: int) -> str:
    """So many of the persons, with their share."""
    return doc.out_of(persons, result.persons, "person")


def events(number: int) -> str:
    """So many known events."""
    return doc.plural(number, "known event")


def lead(result: PersonsResult) -> Iterator[doc.Words]:
    """What was found, a sentence each."""
    if not result.persons:
        yield "There is no row, so that nothing can be known."
        return
    for one in result.curve:
        if one.exact:
            yield _finding(result, one)
    stopped = result.curve[-1]
    if not stopped.exact:
        why = "Somebody stopped it" if result.by_hand else "The time was up"
        yield doc.warning(
            f"{why} while sets of {doc.count(stopped.known)} events were counted: at least "
            f"{among(result, stopped.exposed_persons)} {'is' if stopped.exposed_persons == 1 else 'are'} exposed."
        )
    for told in result.coherence:
        yield from _learning(result, told)
    profile = result.profile
    if profile.unique_persons:
        yield doc.bad(f"Whoever knows all events of a person singles out {among(result, profile.unique_persons)}.")


def _finding(result: PersonsResult, one: Known) -> doc.Toned:
    first = "One known event" if one.known == 1 else events(one.known)
    if one.unique_persons:
        return doc.bad(f"{first} can single out {among(result, one.unique_persons)}.")
    if one.exposed_persons:
        return doc.bad(f"{first} can leave {among(result, one.exposed_persons)} among fewer than {result.k}.")
    shared = f"{'is' if one.known == 1 else 'are'} shared by at least {doc.plural(one.smallest, 'person')}."
    return doc.good(f"Any {events(one.known)} of a person {shared}")


def _learning(result: PersonsResult, told: Coherence) -> Iterator[doc.Words]:
    names = ("known event or sensitive value", "known events or sensitive values")
    one_name, many = names if told.uncertainty else ("known event", "known events")
    curve = _telling(told)
    for one in curve:
        if one.told_persons:
            least, verb = "" if one.exact else "at least ", "tells" if one.known == 1 else "tell"
            pieces, whom = doc.plural(one.known, one_name, many), among(result, one.told_persons)
            yield doc.bad(
                f"Some {pieces} {verb} the {told.sensitive} of {least}{whom}: more than {doc.percent(result.h)} of "
                "those who share them have one value."
            )
            return
    known = [one for one in curve if one.exact]
    if known:
        text = f"No value of {told.sensitive} is held by more than {doc.percent(known[-1].share)} of those who share"
        rest = "" if len(known) == len(curve) else "; larger numbers are undecided"
        pieces = doc.plural(known[-1].known, one_name, many)
        yield doc.Toned(f"{text} {pieces} of a person{rest}.", "warn" if rest else "good")


def curve_picture(result: PersonsResult) -> doc.Picture | None:
    """Shares of persons exposed and singled out, against how many events are known; None without a curve."""
    counted = [one for one in result.curve if one.exact]
    if not result.persons or not counted:
        return None
    share = 1 / result.persons
    curves = {
        f"exposed: fewer than {result.k} share them": [[one.known, one.exposed_persons * share] for one in counted],
        "singled out by the most telling": [[one.known, one.unique_persons * share] for one in counted],
    }
    if result.random:
        curves["singled out by random ones"] = [[one.known, one.unique_share] for one in result.random]
    if max(map(len, curves.values())) < 2:
        return None
    return doc.curves("How many persons are found by how many known events", curves, "known events", "share of persons")


_MOST_NUMBERS = 12
MISSING, NOBODY = "(missing)", "–"
_MISSING = {"equal": "equal to each other", "distinct": "equal to nothing", "wildcard": "match anything"}
NOT_SAID = (
    "What somebody learns who knows when and where about, not exactly: ask with a tolerance or coarser columns.",
    "What the other columns say of a person who was found: audit these with their quasi-identifiers.",
    "What happens when this table is joined with another release, or an older version of itself.",
)


def persons_document(result: PersonsResult) -> doc.Document:
    """What was found about persons and their events, as a document for any layout."""
    found = headline(result)
    required = requirement_lines(result.checks, rows=result.rows)
    return doc.report_on(
        result,
        verdict_of(result.checks) if required else found,
        (*([doc.text_of(found)] if required else []), *required, lead(result)),
        doc.section("With some known events", _known(result), curve_picture(result)),
        doc.section("With events drawn at random", _random(result)),
        *(one for told in result.coherence for one in _told_of(result, told)),
        doc.section("With all events of a person", _profile(result)),
        doc.section("What leaving out a column would change", _effects(result)),
        doc.section("Which values tell most", *_telling_values(result)),
        doc.section("Persons most at risk", _at_risk(result)),
        doc.section("How many events persons have", _events_of_persons(result)),
        doc.section("How it was measured", _how(result)),
        sql_section(result),
        doc.section("What this does not say", NOT_SAID[1:] if result.tolerance else NOT_SAID),
    )


def _told_of(result: PersonsResult, told: Coherence) -> Iterator[tuple[doc.Section, ...]]:
    caption = (
        "Among all persons with a set of so many events: the largest share who hold one and the same value. Of all "
        f"persons, {doc.percent(told.prior)} hold the most frequent value; a missing one is no value."
    )
    yield doc.section(f"What events tell of {told.sensitive}", _learnt(result, told.curve, "Known events", caption))
    caption = "The same where sensitive values are known like events, and tell others than themselves."
    beside = _learnt(result, told.uncertainty, "Known", caption) if told.uncertainty else None
    yield doc.section(f"What events and sensitive values tell of {told.sensitive}", beside)


def _learnt(result: PersonsResult, curve: tuple[Learnt, ...], known: str, caption: str) -> doc.Table:
    one_value = f"#Told (more than {doc.percent(result.h)})"
    rows = (
        (*_least(one), doc.percent(one.share), *_with_shares(result, one.told_persons, one.exposed_persons))
        for one in curve
    )
    heads = (f"#{known}", "#Fewest persons", "#Largest share with one value", one_value, "#Told or exposed")
    return doc.table(heads, rows, caption)


def _known(result: PersonsResult) -> doc.Table:
    exposed = f"#Exposed (fewer than {result.k})"
    rows = (
        (*_least(one), *_with_shares(result, one.exposed_persons, one.unique_persons), one.minimal_sets)
        for one in result.curve
    )
    return doc.table(
        ("#Known events", "#Fewest persons", exposed, "#Singled out", "#Minimal sets"),
        rows,
        f"Fewest persons: who share some set of so many events. Minimal sets: shared by fewer than {result.k}, every "
        f"smaller part by {result.k} and more.",
    )


def _least(one: Known | Learnt) -> tuple[str, int]:
    """How many events are known, and the fewest persons who share them."""
    return doc.count(one.known) + ("" if one.exact else " (part)"), one.smallest


def _with_shares(result: PersonsResult, first: int, second: int) -> tuple[str, str]:
    """Two numbers of persons, each with its share of all where there are any."""

    def said(persons: int) -> str:
        share = doc.part(persons, result.persons)
        return f"{doc.count(persons)} ({share})" if share and persons else doc.count(persons)

    return said(first), said(second)


def _random(result: PersonsResult) -> doc.Table:
    """How sure somebody is singled out, and how many events single out half of the persons, and nearly all."""
    said = []
    for share, whose in ((0.5, "half of the persons"), (0.95, "95%")):
        enough = (doc.plural(one.known, "event") for one in result.random if one.unique_share >= share)
        said.append(f"{whose}: {next(enough, 'more are needed')}")
    rows = (
        (
            one.known,
            doc.percent(one.unique_share),
            f"{doc.percent(one.low)} to {doc.percent(one.high)} (95%, persons drawn)" if one.sampled else "exactly",
        )
        for one in result.random
    )
    whom = "The share of persons whom so many of their events, drawn at random, single out."
    return doc.table(("#Events drawn", "#Singled out", "How sure"), rows, f"{whom} To single out {'; '.join(said)}.")


def _profile(result: PersonsResult) -> Iterator[str]:
    profile = result.profile
    if not result.persons:
        return
    if result.near:
        yield (
            f"All events of a person fit at least {doc.plural(profile.k, 'person')}; those of "
            f"{among(result, profile.exposed_persons)} fit fewer than {result.k}, those of "
            f"{doc.count(profile.unique_persons)} nobody else."
        )
        return
    order, classes = " in the same order" if result.sequence else "", doc.plural(profile.classes, "class", "classes")
    yield f"Persons with the same events{order} form {classes}; the smallest has {doc.plural(profile.k, 'person')}."
    share = "shares" if profile.exposed_persons == 1 else "share"
    exposed, others = among(result, profile.exposed_persons), doc.plural(result.k - 1, "other")
    yield f"{exposed} {share} all events with fewer than {others}; {doc.count(profile.unique_persons)} with nobody."
    if result.static_k is not None:
        fixed, least = ", ".join(result.static), doc.plural(result.static_k, "person")
        yield f"By what stays the same of them alone ({fixed}), at least {least} are alike."


def _effects(result: PersonsResult) -> doc.Table:
    rows: list[tuple[doc.Cell, ...]] = []
    for one in sorted(result.effects, key=lambda effect: effect.exposed_persons):
        persons = _with_shares(result, one.exposed_persons, one.unique_persons)
        rows.append((f"without {one.column}", *persons, one.profile_k))
        if (exposed := one.coarser_exposed_persons) is not None and (unique := one.coarser_unique_persons) is not None:
            rows.append((f"{one.column} as {one.coarsening}", *_with_shares(result, exposed, unique), None))
    known = events(result.curve[-1].known) if rows else ""
    heads = ("Without, or coarser", f"#Exposed by {known}", "#Singled out", "#Smallest class of equal events")
    return doc.table(heads, rows, "The column that saves most stands first; what says less than it stands below it.")


def _telling_values(result: PersonsResult) -> Iterator[doc.Content]:
    yield (
        f"{one.column}: {doc.plural(one.values, 'value')} in minimal sets; {doc.count(one.half)} of them make half."
        for one in result.telling
    )
    tops = ((one.column, top) for one in result.telling for top in one.top)
    rows = ((name, MISSING if top.value is None else top.value, top.sets) for name, top in tops)
    yield doc.table(("Column", "Value", "#In minimal sets"), rows)


def _at_risk(result: PersonsResult) -> doc.Table:
    named = any(one.key is not None for one in result.most_at_risk)
    who = (doc.Column(result.entity), "By") if named else (None, None)
    rows = (
        (
            one.key or MISSING,
            "; ".join(", ".join(MISSING if value is None else value for value in event) for event in one.telling),
            NOBODY if one.singled_out is None else one.singled_out,
            one.exposed,
            one.events,
            one.sets,
        )
        for one in result.most_at_risk
    )
    return doc.table(
        (*who, "#Singled out by", "#Exposed by", "#Events", "#Sets that single out"),
        rows,
        "How many events are enough, of those that a person has; who it is stands here when values are shown.",
    )


def _events_of_persons(result: PersonsResult) -> doc.Table:
    listed = sorted(result.by_number.items())
    rows: list[tuple[doc.Cell, int]] = [*listed[:_MOST_NUMBERS]]
    if rest := sum(persons for _, persons in listed[_MOST_NUMBERS:]):
        rows.append((f"{doc.count(listed[_MOST_NUMBERS][0])} and more", rest))
    return doc.table(("#Different events", "#Persons"), rows)


def _how(result: PersonsResult) -> doc.Facts:
    of = f", of {result.static_from}" if result.static_from else ""
    static = ", ".join(result.static) + of if result.static else ""
    return doc.facts(
        ("rows", result.rows),
        ("persons", f"{doc.count(result.persons)}, by {result.entity}"),
        ("an event is", ", ".join(result.columns) + (", each repeat by itself" if result.multiset else "")),
        *((f"{column} is known", f"within {within}") for column, within in result.tolerance),
        ("events are known", f"in the order of {result.sequence}" if result.sequence else ""),
        ("known besides", static),
        (f"different events{' by what is known besides' if static else ''}", result.events),
        ("missing values", _MISSING[result.nulls]),
        *made(result),
    )

"""The report on several releases of one table: the verdict, who is singled out by being in them, each by itself."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.result import MEANING
from sqlaudit.models.phrases import required_sentence, verdict_of
from sqlaudit.release.series.result import AttributeFigures, ReleasesResult
from sqlaudit.reports.blocks import Bullets, Column, Facts, Table, Toned, Words
from sqlaudit.reports.document import About, Document, Section, section
from sqlaudit.reports.figures import count, listing, part, plural
from sqlaudit.reports.ran import made, sql_section

NOT_SAID = (
    "Anything about a release that was published and is not here: name all of them.",
    "Whether the classes hide persons from somebody who knows more than the quasi-identifiers.",
    "What follows where no m holds: counted here is what intersecting the values of a person's classes tells, and who "
    "is left one value once others are known. Somebody who works out all possible worlds may learn more.",
)
_MOST = 12


def releases_document(result: ReleasesResult) -> Document:
    """What several releases say together, as a document for any layout."""
    required = tuple(required_sentence(check, 0, 0) for check in result.checks)
    found = headline(result)
    lead = (*required, *(words for one in result.attributes for words in _lead(result, one)))
    return Document(
        verdict_of(result.checks) if required else found,
        (Bullets((*([found.text] if required else []), *lead)),),
        (
            *(part for one in result.attributes for part in _sections(result, one)),
            *section("How it was measured", _how(result)),
            *sql_section(result),
            *section("What this does not say", Bullets((*NOT_SAID, *([MEANING] if required else [])))),
        ),
        about=About(result.target, result.time),
    )


def headline(result: ReleasesResult) -> Toned:
    """How many persons being in the releases singles out."""
    singled = max((one.singled_out for one in result.attributes), default=0)
    what = f"{plural(len(result.releases), 'release')}, {plural(result.persons, 'person')}"
    if not singled:
        return Toned(f"{what}: nobody is singled out by being in them")
    return Toned(f"{what}: {count(singled)} {'is' if singled == 1 else 'are'} singled out", "bad")


def _lead(result: ReleasesResult, one: AttributeFigures) -> Iterator[Words]:
    share = part(one.singled_out, result.persons)
    if one.singled_out:
        atleast = "" if one.complete else "at least "
        yield Toned(
            f"{one.sensitive} of {atleast}{plural(one.singled_out, 'person')} ({share}) follows for certain: of "
            f"{count(one.of_one_release)} from one release, of {count(one.by_comparing)} only from comparing releases, "
            f"of {count(one.by_elimination)} only since others are known.",
            "bad",
        )
    elif one.fewest is not None:
        yield f"{one.sensitive}: everybody keeps at least {plural(one.fewest, 'value')} after comparing the releases."
    yield from _why(result, one)


def _why(result: ReleasesResult, one: AttributeFigures) -> Iterator[Words]:
    """Why no m holds, where none does."""
    if one.m != 0:
        if one.m is not None:
            yield f"{one.sensitive}: the releases are {count(one.m)}-invariant, and for no larger m."
        return
    reasons = []
    if one.repeating:
        verb = "repeats" if one.repeating == 1 else "repeat"
        reasons.append(f"{plural(one.repeating, 'class', 'classes')} {verb} a value")
    if one.unsteady:
        of = f"{count(one.unsteady)} of {plural(result.in_several, 'person')} in several releases"
        reasons.append(f"the classes of {of} have other values in another one")
    yield f"{one.sensitive}: the releases are m-invariant for no m, as {' and '.join(reasons)}."


def _sections(result: ReleasesResult, one: AttributeFigures) -> Iterator[Section]:
    yield from section(f"Which values of {one.sensitive} are left", _candidates(result, one))
    yield from section(f"{one.sensitive} in each release", _releases(one))
    yield from section(f"Persons whose {one.sensitive} follows", _shown(result, one))


def _candidates(result: ReleasesResult, one: AttributeFigures) -> Table:
    rows = [(count(row.values), count(row.persons), part(row.persons, result.persons)) for row in one.candidates]
    few, rest = rows[:_MOST], one.candidates[_MOST:]
    if rest:
        many = sum(row.persons for row in rest)
        few.append((f"{count(rest[0].values)} or more", count(many), part(many, result.persons)))
    heads = (Column("values left", True), Column("persons", True), Column("share", True))
    return Table(heads, tuple(few))


def _releases(one: AttributeFigures) -> Table:
    names = ("rows", "counterfeits", "classes", "smallest", "fewest values", "repeating a value")
    rows = tuple(
        (
            side.release,
            count(side.rows),
            count(side.counterfeits),
            count(side.classes),
            "" if side.smallest is None else count(side.smallest),
            "" if side.fewest_values is None else count(side.fewest_values),
            count(side.repeating_classes),
        )
        for side in one.releases
    )
    return Table((Column("release"), *(Column(name, True) for name in names)), rows)


def _shown(result: ReleasesResult, one: AttributeFigures) -> Table:
    rows = tuple(
        (
            str(found.person),
            listing([result.releases[number - 1] for number in found.releases]),
            "missing" if found.value is None else str(found.value),
            "others are known" if found.by_elimination else "their classes",
        )
        for found in one.shown
    )
    return Table((Column(result.entity), Column("in"), Column(one.sensitive), Column("follows from")), rows)


def _how(result: ReleasesResult) -> Facts:
    missing = {one.sensitive for one in result.attributes if any(side.without_value for side in one.releases)}
    return Facts(
        (
            ("releases", listing(result.releases, 12)),
            ("persons", f"by {result.entity}: {count(result.persons)}, {count(result.in_several)} in several releases"),
            ("quasi-identifiers", listing(result.quasi_identifiers, 12)),
            ("sensitive columns", listing(result.sensitive, 12)),
            *([("missing values", f"a value of their own in {listing(sorted(missing))}")] if missing else []),
            *made(result),
        )
    )

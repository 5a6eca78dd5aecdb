"""What several releases say together, and the report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from sqlaudit.base.result import AS_TEXT, FROM_1, IF_ANY, MEANING, Documented, MeasuredResult, told
from sqlaudit.models.base import Check, WithVerdict
from sqlaudit.models.phrases import requirement_lines, verdict_of
from sqlaudit.models.releases import largest_m
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.stored import made, sql_section


@dataclass(frozen=True)
class ReleaseFigures(Documented):
    """One release by itself.

    Args:
        release: its name, or its place among frames. rows: how many. persons: rows that name somebody.
        counterfeits: rows that stand for nobody.
        classes: how many. smallest: rows of the smallest, None without rows.
        repeating_classes: classes in which a value occurs more than once. repeating_rows: their rows.
        fewest_values: the fewest different values of a class; None without rows.
        without_value: rows whose value is missing, which counts
            as a value of its own.
    """

    release: str
    rows: int
    persons: int
    counterfeits: int
    classes: int
    smallest: int | None
    repeating_classes: int
    repeating_rows: int
    fewest_values: int | None
    without_value: int


@dataclass(frozen=True)
class ValuesLeft(Documented):
    """How many persons have so many values left."""

    values: Annotated[int, FROM_1]
    persons: int


@dataclass(frozen=True)
class SingledOut(Documented):
    """A person of whom one value is left, as somebody may see who may see values.

    Args:
        person: the key. releases: numbers of the releases with them, from 1. value: what is left.
        by_elimination: whether it takes what is known of others.
    """

    person: Any = field(metadata=AS_TEXT)
    releases: tuple[Annotated[int, FROM_1], ...]
    value: Any = field(metadata=AS_TEXT)
    by_elimination: bool


@dataclass(frozen=True)
class AttributeFigures(Documented):
    """What the releases say of one sensitive attribute.

    Args:
        sensitive: its name. releases: each release by itself, in order.
        unsteady: persons whose classes have other values in another release.
        candidates: persons by how many values are left when the values of all their classes are intersected; with the
            values struck out that others are known to have. fewest: the fewest values left, None without persons.
        singled_out: persons of whom one value is left; at least so many unless `complete`.
        of_one_release: those whose class in one release has one value.
        by_comparing: those whom no release alone gives away, but several together.
        by_elimination: those who are left one value only since others are known.
        complete: whether elimination was followed to its end; else more may be singled out.
        shown: some persons who are singled out: only with --show-values.
    """

    sensitive: str
    releases: tuple[ReleaseFigures, ...]
    unsteady: int
    candidates: tuple[ValuesLeft, ...]
    fewest: int | None
    singled_out: int
    of_one_release: int
    by_comparing: int
    by_elimination: int
    complete: bool
    shown: tuple[SingledOut, ...] = field(default=(), metadata=IF_ANY)

    @property
    @told("releases")
    def m(self) -> int | None:
        """The largest m for which the releases are m-invariant, 0 = for none, None without rows."""
        return largest_m(self)

    @property
    def smallest(self) -> int | None:
        """The rows of the smallest class of all releases."""
        return min((one.smallest for one in self.releases if one.smallest is not None), default=None)

    @property
    def repeating(self) -> int:
        """Classes in which a value occurs more than once."""
        return sum(one.repeating_classes for one in self.releases)


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleasesResult(WithVerdict, MeasuredResult, Shown):
    """What several releases of one table say together.

    Args:
        engine: the engine and its version. releases: the names of the releases, in the order given.
        entity: the column that names persons. persons: different persons in all releases.
        in_several: those in more than one. attributes: what they say of each sensitive attribute.
        checks: what was required, judged: only where something was.
    """

    schema: ClassVar = "sqlaudit-releases/1"
    shown_by: ClassVar = "sqlaudit.release.series.result:releases_document"
    frame_of: ClassVar = "attributes"

    engine: str = ""
    releases: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    entity: str
    persons: int
    in_several: int
    attributes: tuple[AttributeFigures, ...]
    checks: tuple[Check, ...] = field(default=(), metadata=IF_ANY)

    @property
    def target(self) -> str:
        """What it is about, in a few words."""
        return " and ".join(self.releases) if len(self.releases) < 3 else f"{self.releases[0]} to {self.releases[-1]}"

    def attribute(self, name: str) -> AttributeFigures:
        """The figures of a sensitive attribute.

        Raises:
            KeyError: it was not asked for.
        """
        return {one.sensitive: one for one in self.attributes}[name]


# The report on several releases of one table: the verdict, who is singled out by being in them, each by itself.

NOT_SAID = (
    "Anything about a release that was published and is not here: name all of them.",
    "Whether the classes hide persons from somebody who knows more than the quasi-identifiers.",
    "What follows where no m holds: counted here is what intersecting the values of a person's classes tells, and who "
    "is left one value once others are known. Somebody who works out all possible worlds may learn more.",
)
_MOST = 12


def releases_document(result: ReleasesResult) -> doc.Document:
    """What several releases say together, as a document for any layout."""
    required = requirement_lines(result.checks)
    found = headline(result)
    lead = [words for one in result.attributes for words in _lead(result, one)]
    missing = {one.sensitive for one in result.attributes if any(side.without_value for side in one.releases)}
    how = doc.facts(
        ("releases", doc.listing(result.releases, 12)),
        (
            "persons",
            f"by {result.entity}: {doc.count(result.persons)}, {doc.count(result.in_several)} in several releases",
        ),
        ("quasi-identifiers", doc.listing(result.quasi_identifiers, 12)),
        ("sensitive columns", doc.listing(result.sensitive, 12)),
        ("missing values", f"a value of their own in {doc.listing(sorted(missing))}" if missing else ""),
        *made(result),
    )
    return doc.report_on(
        result,
        verdict_of(result.checks) if required else found,
        (*([found.text] if required else []), *required, lead),
        *(_sections(result, one) for one in result.attributes),
        doc.section("How it was measured", how),
        sql_section(result),
        doc.section("What this does not say", (*NOT_SAID, *([MEANING] if required else []))),
    )


def headline(result: ReleasesResult) -> doc.Toned:
    """How many persons being in the releases singles out."""
    singled = max((one.singled_out for one in result.attributes), default=0)
    what = f"{doc.plural(len(result.releases), 'release')}, {doc.plural(result.persons, 'person')}"
    if not singled:
        return doc.Toned(f"{what}: nobody is singled out by being in them")
    return doc.bad(f"{what}: {doc.count(singled)} {'is' if singled == 1 else 'are'} singled out")


def _lead(result: ReleasesResult, one: AttributeFigures) -> Iterator[doc.Words]:
    if one.singled_out:
        atleast, share = "" if one.complete else "at least ", doc.part(one.singled_out, result.persons)
        yield doc.bad(
            f"{one.sensitive} of {atleast}{doc.plural(one.singled_out, 'person')} ({share}) follows for certain: of "
            f"{doc.count(one.of_one_release)} from one release, of {doc.count(one.by_comparing)} only from comparing "
            f"releases, of {doc.count(one.by_elimination)} only since others are known."
        )
    elif one.fewest is not None:
        fewest = doc.plural(one.fewest, "value")
        yield f"{one.sensitive}: everybody keeps at least {fewest} after comparing the releases."
    if one.m:
        yield f"{one.sensitive}: the releases are {doc.count(one.m)}-invariant, and for no larger m."
    if one.m != 0:
        return
    reasons = []
    if one.repeating:
        reasons.append(f"{doc.plural(one.repeating, 'class repeats', 'classes repeat')} a value")
    if one.unsteady:
        of = f"{doc.count(one.unsteady)} of {doc.plural(result.in_several, 'person')} in several releases"
        reasons.append(f"the classes of {of} have other values in another one")
    yield f"{one.sensitive}: the releases are m-invariant for no m, as {' and '.join(reasons)}."


def _sections(result: ReleasesResult, one: AttributeFigures) -> Iterator[doc.Section]:
    left: list[tuple[doc.Cell, int]] = [(row.values, row.persons) for row in one.candidates[:_MOST]]
    if rest := one.candidates[_MOST:]:
        left.append((f"{doc.count(rest[0].values)} or more", sum(row.persons for row in rest)))
    rows = ((values, persons, doc.part(persons, result.persons)) for values, persons in left)
    lines = doc.table(("#values left", "#persons", "#share"), rows)
    yield from doc.section(f"Which values of {one.sensitive} are left", lines)
    names = ("rows", "counterfeits", "classes", "smallest", "fewest_values", "repeating_classes")
    releases = ((side.release, *(getattr(side, name) for name in names)) for side in one.releases)
    heads = ("release", "#rows", "#counterfeits", "#classes", "#smallest", "#fewest values", "#repeating a value")
    yield from doc.section(f"{one.sensitive} in each release", doc.table(heads, releases))
    persons = (
        (
            str(found.person),
            doc.listing([result.releases[number - 1] for number in found.releases]),
            "missing" if found.value is None else str(found.value),
            "others are known" if found.by_elimination else "their classes",
        )
        for found in one.shown
    )
    yield from doc.section(
        f"Persons whose {one.sensitive} follows",
        doc.table((doc.Column(result.entity), "in", doc.Column(one.sensitive), "follows from"), persons),
    )

"""The result for several releases of one table, and the report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from sqlaudit.base.result import AS_TEXT, FROM_1, IF_ANY, MEANING, Documented, MeasuredResult, told
from sqlaudit.models.base import Check, WithVerdict
from sqlaudit.models.phrases import requirement_lines, requirements_met, verdict_of
from sqlaudit.models.releases import largest_m
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class ReleaseFigures(Documented):
    """One release by itself.

    Args:
        release: its name, or its place among frames. rows: its rows. persons: rows of a person.
        counterfeits: rows of no person. classes: its classes. smallest: the rows of the smallest, None without rows.
        repeating_classes: classes in which a value occurs more than once. repeating_rows: their rows.
        fewest_values: the fewest different values of a class, None without rows.
        without_value: rows with a missing value, which counts as a value of its own.
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
    """Number of people with this many possible values."""

    values: Annotated[int, FROM_1]
    persons: int


@dataclass(frozen=True)
class SingledOut(Documented):
    """A person with one possible value; only where values are shown.

    Args:
        person: the key. releases: numbers of their releases, from 1. value: the possible value.
        by_elimination: whether it follows only from the values of others.
    """

    person: Any = field(metadata=AS_TEXT)
    releases: tuple[Annotated[int, FROM_1], ...]
    value: Any = field(metadata=AS_TEXT)
    by_elimination: bool


@dataclass(frozen=True)
class AttributeFigures(Documented):
    """The figures of one sensitive attribute.

    Args:
        sensitive: its name. releases: each release by itself, in order.
        changed_signatures: people whose classes have different values in different releases.
        candidates: people by number of possible values: those in all of their classes, without the values that others
            are known to have. fewest: the fewest possible values, None without people.
        singled_out: people with one possible value; a lower bound unless `complete`.
        of_one_release: those whose class in one release has one value.
        by_comparing: those singled out only by several releases in combination.
        by_elimination: those singled out only because the values of others are known.
        complete: whether elimination was followed to its end; otherwise more people may be singled out.
        examples: some people who are singled out: only with --show-values.
    """

    sensitive: str
    releases: tuple[ReleaseFigures, ...]
    changed_signatures: int
    candidates: tuple[ValuesLeft, ...]
    fewest: int | None
    singled_out: int
    of_one_release: int
    by_comparing: int
    by_elimination: int
    complete: bool
    examples: tuple[SingledOut, ...] = field(default=(), metadata=IF_ANY)

    @property
    @told("releases")
    def m(self) -> int | None:
        """The largest m for which the releases are m-invariant, 0 = for none, None without rows."""
        return largest_m(self)

    @property
    def smallest(self) -> int | None:
        """The rows of the smallest class of all releases."""
        return min((release.smallest for release in self.releases if release.smallest is not None), default=None)

    @property
    def repeating(self) -> int:
        """Classes in which a value occurs more than once."""
        return sum(release.repeating_classes for release in self.releases)


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleasesResult(WithVerdict, MeasuredResult, Shown):
    """What several releases of one table disclose in combination.

    Args:
        engine: the engine and its version. releases: the names of the releases, in the order given.
        entity: the column that identifies the person. persons: different people in all releases.
        in_several: those in more than one. attributes: the figures of each sensitive attribute.
        checks: the verdict on each requirement.
    """

    schema: ClassVar = "sqlaudit-releases/1"
    shown_by: ClassVar = "sqlaudit.release.series.result:ReleasesReport"
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
        """The releases in a few words."""
        return " and ".join(self.releases) if len(self.releases) < 3 else f"{self.releases[0]} to {self.releases[-1]}"

    def attribute(self, name: str) -> AttributeFigures:
        """Return the figures of a sensitive attribute.

        Raises:
            KeyError: the request does not name the attribute.
        """
        return {attribute.sensitive: attribute for attribute in self.attributes}[name]


NOT_SAID = (
    "Releases that are not named here were not checked. Name all published releases.",
    "An attacker who knows more than the quasi-identifiers may learn more.",
    "A person is singled out when one value is left after intersecting the person's classes and eliminating the known "
    "values of others. Without m-invariance, an attacker who works out all possible worlds may learn more.",
)
_MOST = 12


class ReleasesReport(MeasuredReport[ReleasesResult]):
    """The report on several releases of one table: people who are singled out, and each release by itself."""

    kind = "Releases over time"
    limits_last = True

    def headline(self, result: ReleasesResult) -> doc.Toned:
        return verdict_of(result.checks) if result.checks else headline(result)

    def key_figures(self, result: ReleasesResult) -> Iterator[doc.KeyFigure]:
        singled_out = max((attribute.singled_out for attribute in result.attributes), default=0)
        tone = doc.bad_if(singled_out and not (result.checks and result.passed))
        yield doc.KeyFigure(doc.with_share(singled_out, result.persons), "People singled out", tone)
        yield doc.KeyFigure(doc.with_share(result.in_several, result.persons), "In several releases")
        yield from requirements_met(result.checks)

    def opening(self, result: ReleasesResult) -> Iterator[doc.Content]:
        if result.checks:
            yield headline(result).text
            yield from requirement_lines(result.checks)

    def lead(self, result: ReleasesResult) -> Iterator[doc.Words]:
        for attribute in result.attributes:
            yield from _lead(result, attribute)

    def sections(self, result: ReleasesResult) -> Iterator[tuple[doc.Section, ...]]:
        for attribute in result.attributes:
            yield from _sections(result, attribute)

    def method(self, result: ReleasesResult) -> Iterator[tuple[str, doc.Cell]]:
        people = f"{doc.count(result.persons)} by {result.entity}, {doc.count(result.in_several)} in several releases"
        missing = sorted(
            attribute.sensitive
            for attribute in result.attributes
            if any(release.without_value for release in attribute.releases)
        )
        yield "releases", doc.listing(result.releases, 12)
        yield "people", people
        yield "quasi-identifiers", doc.listed(result.quasi_identifiers, 12)
        yield "sensitive", doc.listed(result.sensitive, 12)
        yield "missing values", f"a value of their own in {doc.listed(missing)}" if missing else ""

    def limits(self, result: ReleasesResult) -> tuple[str, ...]:
        return (*NOT_SAID, *([MEANING] if result.checks else []))


def headline(result: ReleasesResult) -> doc.Toned:
    """Return the line with the number of people whom the releases single out by the most revealing attribute."""
    singled_out = max((attribute.singled_out for attribute in result.attributes), default=0)
    scope = f"{doc.plural(len(result.releases), 'release')}, {doc.plural(result.persons, 'person', 'people')}"
    if not singled_out:
        return doc.Toned(f"{scope}: no one is singled out")
    return doc.bad(f"{scope}: {doc.count(singled_out)} {'is' if singled_out == 1 else 'are'} singled out")


def _lead(result: ReleasesResult, attribute: AttributeFigures) -> Iterator[doc.Words]:
    """Yield for whom an attribute is certain after comparing the releases, and whether these are m-invariant."""
    name = attribute.sensitive
    if attribute.singled_out:
        at_least, share = "" if attribute.complete else "at least ", doc.part(attribute.singled_out, result.persons)
        yield doc.bad(
            f"{name} is certain for {at_least}{doc.plural(attribute.singled_out, 'person', 'people')} ({share}): "
            f"{doc.count(attribute.of_one_release)} from one release, {doc.count(attribute.by_comparing)} by comparing "
            f"releases, {doc.count(attribute.by_elimination)} because the values of others are known."
        )
    elif attribute.fewest is not None:
        fewest = doc.plural(attribute.fewest, "possible value")
        yield f"{name}: everyone has at least {fewest} after comparing the releases."
    if attribute.m:
        yield f"{name}: the releases are {doc.count(attribute.m)}-invariant (largest m)."
    if attribute.m != 0:
        return
    reasons = []
    if attribute.repeating:
        reasons.append(f"{doc.plural(attribute.repeating, 'class repeats', 'classes repeat')} a value")
    if attribute.changed_signatures:
        in_several = f"{doc.plural(result.in_several, 'person', 'people')} in several releases"
        reasons.append(
            f"{doc.count(attribute.changed_signatures)} of {in_several} are in classes with different values"
        )
    yield f"{name}: the releases are not m-invariant for any m: {' and '.join(reasons)}."


def _sections(result: ReleasesResult, attribute: AttributeFigures) -> Iterator[tuple[doc.Section, ...]]:
    """Yield the sections on a sensitive attribute."""
    name = attribute.sensitive
    people: list[tuple[doc.Cell, int]] = [(row.values, row.persons) for row in attribute.candidates[:_MOST]]
    if rest := attribute.candidates[_MOST:]:
        people.append((f"{doc.count(rest[0].values)} or more", sum(row.persons for row in rest)))
    rows = ((values, persons, doc.part(persons, result.persons)) for values, persons in people)
    names = [doc.plural(values, "value") if isinstance(values, int) else f"{values} values" for values, _ in people]
    title = f"People by the number of values of {name} that they may have"
    picture = doc.bars(title, names, {"people": [persons for _, persons in people]}, "people") if people else None
    yield doc.section(f"Possible values of {name}", picture, doc.table(("#Possible values", "#People", "#Share"), rows))
    columns = "release #rows ?#counterfeits #classes #smallest #fewest_values"
    releases = doc.table_of(attribute.releases, columns, ("#Repeating a value", "repeating_classes"))
    yield doc.section(f"Releases: {name}", releases)
    certain = doc.table_of(
        attribute.examples,
        (doc.Column(result.entity), lambda match: str(match.person)),
        ("Releases", lambda match: doc.listing(result.releases[number - 1] for number in match.releases)),
        (doc.Column(name), lambda match: "missing" if match.value is None else str(match.value)),
        ("Reason", lambda match: "values of others are known" if match.by_elimination else "own classes"),
    )
    yield doc.section(f"People whose {name} is certain", certain)

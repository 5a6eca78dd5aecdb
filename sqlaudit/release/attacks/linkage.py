"""Linkage: people of an identified table (a register of voters, say) are looked for among the rows of the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw
from sqlaudit.release.attacks.base import (
    SWEENEY,
    Attack,
    AttackedRelease,
    as_parameters,
    find_matches,
    numbered,
    of_all,
    some,
)
from sqlaudit.release.attacks.result import Exposure, Figure
from sqlaudit.reports.document import figure


@dataclass(frozen=True)
class Size:
    """People with so many candidates among the rows (or rows that fit so many people).

    Args:
        size: candidates. members: how many people (rows). one_to_one: people whose only candidate fits no one else.
        known: people whose row is known by the key. confirmed: those of them whose row is among the candidates.
        same: for each sensitive attribute the people whose candidates all have one value.
    """

    size: int
    members: int
    one_to_one: int
    known: int
    confirmed: int
    same: tuple[int, ...]


class Linkage(Attack):
    """Identity and attribute disclosure by an identified table."""

    name: ClassVar[str] = "linkage"
    title: ClassVar[str] = "Linkage with an identified table"
    source: ClassVar[str] = SWEENEY

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: no identified table, or a person column: it counts rows."""
        if release.identified is None:
            return f"It needs a table with names ({spelled('identified')})."
        if release.roles.entity is not None:
            return (
                f"It counts rows: leave out {spelled('entity')}, or select one row per person with {spelled('query')}."
            )
        return ""

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Who is found; then, for each sensitive attribute, about whom it is learned."""
        assert release.identified is not None
        people, rows = _sizes(release, release.identified)
        yield self._identity(release, people, rows)
        yield from self._attributes(release, people)

    def _identity(self, release: AttackedRelease, people: list[Size], rows: list[Size]) -> Exposure:
        """Return how many people a linkage identifies."""
        k, everybody = release.request.k, sum(size.members for size in people)
        linked = [size for size in people if size.size]
        unique, below_k = [size for size in linked if size.size == 1], [size for size in linked if size.size < k]
        figures: dict[str, Figure] = {
            "matched": _members(linked),
            "unique": _members(unique),
            "below_k": _members(below_k),
            "one_to_one": sum(size.one_to_one for size in people),
            "expected_right": sum((Fraction(size.members, size.size) for size in linked), Fraction(0)),
            "rows_matched": _members(rows),
            "rows_of_one_person": _members([size for size in rows if size.size == 1]),
            "rows_below_k": _members([size for size in rows if size.size < k]),
        }
        if release.request.key is not None:
            confirmed = sum(size.confirmed for size in unique)
            figures |= {
                "in_release": sum(size.known for size in people),
                "confirmed": sum(size.confirmed for size in linked),
                "confirmed_unique": confirmed,
                "confirmed_below_k": sum(size.confirmed for size in below_k),
                "wrong_unique": _members(unique) - confirmed,
                "expected_right": sum((Fraction(size.confirmed, size.size) for size in linked), Fraction(0)),
            }
        smallest = min((size.size for size in linked), default=None)
        return self.exposure(
            exposed=_members(unique),
            of=everybody,
            unit="people",
            highest=None if smallest is None else Fraction(1, smallest),
            sentence=_identity_sentence(release, everybody, figures),
            figures=figures,
            note=""
            if release.request.key
            else f"A match is certain only if the person is in the release. {spelled('key')} confirms matches.",
        )

    def _attributes(self, release: AttackedRelease, people: list[Size]) -> Iterator[Exposure]:
        """Yield for how many people all candidates have the same sensitive value, by attribute."""
        everybody = _members(people)
        for position, attribute in enumerate(release.roles.sensitive):
            same = [(size.size, size.same[position]) for size in people if size.size]
            exposed, beyond = sum(n for _, n in same), sum(n for size, n in same if size > 1)
            sentence = f"No one's candidates all have the same {attribute.label}."
            if exposed:
                sentence = (
                    f"For {of_all(exposed, everybody, 'people')}, all candidates have the same {attribute.label}; "
                    f"{beyond:,} of them {'is' if beyond == 1 else 'are'} not identified by name."
                )
            yield self.exposure(
                attack=AttributeLinkage.name,
                title=AttributeLinkage.title,
                about=attribute.label,
                exposed=exposed,
                of=everybody,
                unit="people",
                highest=Fraction(1) if exposed else None,
                sentence=sentence,
                figures={"without_identity": beyond},
            )


class AttributeLinkage(Linkage):
    """Sensitive values that linkage reveals without identifying the person."""

    name: ClassVar[str] = "linkage_attribute"
    title: ClassVar[str] = "Attribute linkage"

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: no identified table, or no sensitive attribute."""
        return super().lacks(release) or (
            "" if release.roles.sensitive else f"It needs a sensitive attribute ({spelled('sensitive')})."
        )

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """For each sensitive attribute about whom it is learned."""
        assert release.identified is not None
        yield from self._attributes(release, _sizes(release, release.identified)[0])


def _members(sizes: list[Size]) -> int:
    return sum(size.members for size in sizes)


def _identity_sentence(release: AttackedRelease, everybody: int, figures: dict[str, Figure]) -> str:
    """Return how many people match rows of the release, and how many the key confirms."""
    if not figures["matched"]:
        return f"None of {some(everybody, 'people')} matches a row of the release."
    matched, unique, below_k = (int(figures[name] or 0) for name in ("matched", "unique", "below_k"))
    sentence = (
        f"{of_all(matched, everybody, 'people', ('matches', 'match'))} rows of the release: {unique:,} a single "
        f"row, {below_k:,} fewer than {release.request.k} rows."
    )
    if "confirmed_unique" in figures:
        return (
            f"{sentence} The key confirms {figures['confirmed_unique']:,} of the former and "
            f"{figures['confirmed_below_k']:,} of the latter."
        )
    expected = figures["expected_right"]
    return f"{sentence} If all of them are in the release, about {figure(Fraction(expected or 0))} guesses are right."


def _sizes(release: AttackedRelease, identified: Relation) -> tuple[list[Size], list[Size]]:
    """People by their number of candidates, and rows by the number of people they fit."""
    pairs = release.request.match or tuple((name, name) for name in release.request.roles.quasi_identifiers)
    matches, values = as_parameters(find_matches(release, identified, pairs, about("match")))
    rows = release.ask(
        "attack_linkage",
        "link people with rows",
        values,
        identified=identified,
        matches=matches,
        key=_key(release, identified),
        sensitives=release.roles.sensitive,
    )
    sides: dict[str, list[Size]] = {"people": [], "rows": []}
    for side, *numbers in rows:
        size, members, one_to_one, in_release, confirmed, *same = map(int, numbers)
        sides[side].append(Size(size, members, one_to_one, in_release, confirmed, tuple(same)))
    return sides["people"], sides["rows"]


def _key(release: AttackedRelease, identified: Relation) -> list[Raw] | None:
    """The column that says who is who, in each table.

    Raises:
        UsageError: it is not there, or somebody stands in a table twice.
    """
    if release.request.key is None:
        return None
    key, repeated = numbered(release, identified, release.request.key, "key", "keys")
    if any(repeated):
        where, number = ("the release", repeated[0]) if repeated[0] else ("the identified table", repeated[1])
        raise UsageError(
            f"{spelled('key')} must be unique, but {some(number, 'rows')} of {where} repeat the key of another row."
        )
    return key

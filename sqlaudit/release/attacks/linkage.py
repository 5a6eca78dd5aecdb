"""Linkage: people of an identified table (a register of voters, say) are looked for among the rows of the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.release.attacks.base import SWEENEY, Attack, Scene, find_matches, named, numbered, of_all, some
from sqlaudit.release.attacks.result import Exposure, Figure
from sqlaudit.reports.document import figure


@dataclass(frozen=True)
class Size:
    """People with so many candidates among the rows (or rows that fit so many people).

    Args:
        size: candidates. members: how many people (rows). one_to_one: people whose only candidate fits nobody else.
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

    def lacks(self, scene: Scene) -> str:
        """The identified table."""
        if scene.identified is None:
            return f"It needs a table with names ({spelled('identified')})."
        if scene.roles.entity is not None:
            return (
                f"It counts rows as candidates; leave {spelled('entity')} out, or give one row a person with "
                f"{spelled('query')}."
            )
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """Who is found; then, for each sensitive attribute, about whom it is learned."""
        assert scene.identified is not None
        people, rows = _sizes(scene, scene.identified)
        yield self._identity(scene, people, rows)
        yield from self._attributes(scene, people)

    def _identity(self, scene: Scene, people: list[Size], rows: list[Size]) -> Exposure:
        k, everybody = scene.request.k, sum(one.members for one in people)
        linked = [one for one in people if one.size]
        unique, few = [one for one in linked if one.size == 1], [one for one in linked if one.size < k]
        figures: dict[str, Figure] = {
            "matched": _members(linked),
            "unique": _members(unique),
            "below_k": _members(few),
            "one_to_one": sum(one.one_to_one for one in people),
            "expected_right": sum((Fraction(one.members, one.size) for one in linked), Fraction(0)),
            "rows_matched": _members(rows),
            "rows_of_one_person": _members([one for one in rows if one.size == 1]),
            "rows_below_k": _members([one for one in rows if one.size < k]),
        }
        if scene.request.key is not None:
            figures |= {
                "in_release": sum(one.known for one in people),
                "confirmed": sum(one.confirmed for one in linked),
                "confirmed_unique": sum(one.confirmed for one in unique),
                "confirmed_below_k": sum(one.confirmed for one in few),
                "wrong_unique": _members(unique) - sum(one.confirmed for one in unique),
                "expected_right": sum((Fraction(one.confirmed, one.size) for one in linked), Fraction(0)),
            }
        smallest = min((one.size for one in linked), default=None)
        return self.exposure(
            exposed=_members(unique),
            of=everybody,
            unit="people",
            probability=Fraction(1),
            highest=None if smallest is None else Fraction(1, smallest),
            sentence=_identity_sentence(scene, everybody, figures),
            figures=figures,
            note=""
            if scene.request.key
            else (
                f"A match is certain if the person is known to be in the release; {spelled('key')} would tell "
                "which are right."
            ),
        )

    def _attributes(self, scene: Scene, people: list[Size]) -> Iterator[Exposure]:
        for position, attribute in enumerate(scene.roles.sensitive):
            yield self._attribute(people, position, attribute.label)

    def _attribute(self, people: list[Size], position: int, label: str) -> Exposure:
        everybody = sum(one.members for one in people)
        linked = [one for one in people if one.size]
        exposed = sum(one.same[position] for one in linked)
        beyond = sum(one.same[position] for one in linked if one.size > 1)
        return self.exposure(
            attack=AttributeLinkage.name,
            title=AttributeLinkage.title,
            about=label,
            exposed=exposed,
            of=everybody,
            unit="people",
            probability=Fraction(1),
            highest=Fraction(1) if exposed else None,
            sentence=(
                f"All candidates of {of_all(exposed, everybody, 'people')} have the same {label}, so it is learned; "
                f"{beyond:,} of them {'is' if beyond == 1 else 'are'} not identified by name."
            )
            if exposed
            else f"Nobody's candidates all have the same {label}.",
            figures={"without_identity": beyond},
        )


class AttributeLinkage(Linkage):
    """What linkage tells about sensitive attributes, without who is who."""

    name: ClassVar[str] = "linkage_attribute"
    title: ClassVar[str] = "Attribute linkage"

    def lacks(self, scene: Scene) -> str:
        """The identified table and a sensitive attribute."""
        return super().lacks(scene) or (
            "" if scene.roles.sensitive else f"It needs a sensitive attribute ({spelled('sensitive')})."
        )

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """For each sensitive attribute about whom it is learned."""
        assert scene.identified is not None
        yield from self._attributes(scene, _sizes(scene, scene.identified)[0])


def _members(sizes: list[Size]) -> int:
    return sum(one.members for one in sizes)


def _identity_sentence(scene: Scene, everybody: int, figures: dict[str, Figure]) -> str:
    if not figures["matched"]:
        return f"None of {some(everybody, 'people')} fits a row of the release."
    matched = int(figures["matched"] or 0)
    unique, few = int(figures["unique"] or 0), int(figures["below_k"] or 0)
    said = (
        f"{of_all(matched, everybody, 'people', ('fits', 'fit'))} rows of the release: {unique:,} a single "
        f"row, {few:,} fewer than {scene.request.k}."
    )
    if "confirmed_unique" in figures:
        return (
            f"{said} The key confirms {figures['confirmed_unique']:,} of the single rows and "
            f"{figures['confirmed_below_k']:,} among fewer than {scene.request.k}."
        )
    expected = figures["expected_right"]
    return f"{said} If all of them are in the release, guessing gets about {figure(Fraction(expected or 0))} right."


def _sizes(scene: Scene, identified: Relation) -> tuple[list[Size], list[Size]]:
    """People by their number of candidates, and rows by the number of people they fit."""
    request, dialect = scene.request, scene.engine.dialect
    pairs = request.match or tuple((name, name) for name in scene.given.quasi_identifiers)
    matches = find_matches(
        scene.engine, scene.relation, identified, pairs, scene.given.nulls, about("match"), scene.readers
    )
    key = _key(scene, identified)
    listed, parameters = named(matches)
    statement = render(
        "release/attacks/attack_linkage.sql",
        dialect,
        step="link people with rows",
        source=scene.relation,
        identified=identified,
        matches=listed,
        key=key,
        sensitives=scene.roles.sensitive,
    )
    found = scene.engine.run(statement, parameters)
    sides: dict[str, list[Size]] = {"people": [], "rows": []}
    for side, *numbers in found:
        size, members, one_to_one, known, confirmed, *same = map(int, numbers)
        sides[side].append(Size(size, members, one_to_one, known, confirmed, tuple(same)))
    return sides["people"], sides["rows"]


def _key(scene: Scene, identified: Relation) -> list[Raw] | None:
    """The column that says who is who, in each table.

    Raises:
        UsageError: it is not there, or somebody stands in a table twice.
    """
    if scene.request.key is None:
        return None
    key, repeated = numbered(scene, identified, scene.request.key, "key", "keys")
    if any(repeated):
        where, number = ("the release", repeated[0]) if repeated[0] else ("the identified table", repeated[1])
        raise UsageError(
            f"{spelled('key')} must tell persons apart: {some(number, 'rows')} of {where} repeat the key of "
            "another one."
        )
    return key

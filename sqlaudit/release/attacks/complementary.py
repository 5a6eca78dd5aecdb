"""Complementary releases: two releases of the same people are each safe, but not together.

A person lies in one class of each release, so in the part that both classes have in common. How many people that part
can hold follows from the counts of what both releases publish unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.release.attacks.base import SWEENEY, Attack, Scene, some
from sqlaudit.release.attacks.fits import find_matches, named
from sqlaudit.release.attacks.result import Exposure
from sqlaudit.release.attacks.unsorted import shared_columns

_NAMES = (
    "joined_classes",
    "below_k",
    "at_most",
    "at_least",
    "newly_below_k",
    "newly_at_most",
    "newly_at_least",
    "revealed",
    "newly_revealed",
    "smallest",
)


class ComplementaryReleases(Attack):
    """Classes below k after joining two releases on what they share."""

    name: ClassVar[str] = "complementary_releases"
    title: ClassVar[str] = "Complementary releases"
    source: ClassVar[str] = f"{SWEENEY}; Ganta, Kasiviswanathan, Smith: Composition Attacks, KDD 2008"

    def lacks(self, scene: Scene) -> str:
        """The other release, a column in common, and classes that do not overlap."""
        if scene.other is None:
            return f"It needs another release of the same table ({spelled('other_release')})."
        if not shared_columns(scene, scene.other) and not scene.request.other_qi:
            return "The other release has none of the columns."
        if scene.given.nulls is not NullPolicy.EQUAL:
            return f"It compares classes of both releases, in which NULLs are equal; use {spelled('nulls', 'equal')}."
        if scene.roles.entity is not None:
            return f"It counts rows; leave {spelled('entity')} out, or give one row a person with {spelled('query')}."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """The joined classes that are smaller than k."""
        assert scene.other is not None
        found = dict(zip(_NAMES, _joined(scene, scene.other), strict=True))
        at_least = found["newly_at_least"] or 0
        smallest = found["smallest"]
        yield Exposure(
            attack=self.name,
            title=self.title,
            about=None,
            exposed=at_least,
            of=scene.rows,
            unit="rows",
            probability=None,
            highest=Fraction(1, smallest) if smallest else None,
            sentence=_sentence(scene, found),
            figures=found,
            source=self.source,
            at_most=found["newly_at_most"] or 0,
            note="It assumes that both releases are about the same people, one row each.",
        )


def _joined(scene: Scene, other: Relation) -> list[int | None]:
    """The figures of the joined classes."""
    dialect, nulls = scene.engine.dialect, scene.given.nulls
    other_qi = scene.request.other_qi or tuple(_columns_of(scene, other))
    common = [name for name in scene.given.quasi_identifiers if name in other_qi]
    shared = [name for name in shared_columns(scene, other) if name in scene.given.sensitive and name not in other_qi]
    matches = find_matches(
        scene.engine,
        scene.relation,
        other,
        [(name, name) for name in common],
        nulls,
        about("other_qi"),
        scene.readers,
        both_ways=True,
    )
    listed, parameters = named(matches)
    equal, _ = named(
        find_matches(scene.engine, scene.relation, other, [(n, n) for n in shared], nulls, about("sensitive"))
    )
    for position, column in enumerate(equal, 1):
        column["name"] = f"s{position}"
    mine = [one for one in scene.roles.quasi_identifiers if one.label not in common]
    theirs = [resolve(name, other, dialect, about("other_qi")) for name in other_qi if name not in common]
    statement = render(
        "release/attacks/attack_complementary.sql",
        dialect,
        step="join two releases",
        source=Raw(scene.relation.sql),
        other=Raw(other.sql),
        matches=listed,
        shared=equal,
        mine=[Raw(one.sql) for one in mine],
        theirs=[Raw(one.sql) for one in theirs],
        k=scene.request.k,
    )
    return [None if number is None else int(number) for number in scene.engine.run(statement, parameters)[0]]


def _columns_of(scene: Scene, other: Relation) -> list[str]:
    """The quasi-identifiers of the release that the other one has."""
    named_columns = zip(scene.given.quasi_identifiers, scene.roles.quasi_identifiers, strict=True)
    return [name for name, role in named_columns if role.column and find_column(role.column, other)]


def _sentence(scene: Scene, found: dict[str, int | None]) -> str:
    k, classes = scene.request.k, found["joined_classes"] or 0
    if not classes:
        return "No class of one release fits a class of the other."
    fresh, revealed = found["newly_below_k"] or 0, found["newly_revealed"] or 0
    if not fresh and not revealed:
        return f"Both releases together have {some(classes, 'classes')}, none of them newly below {k}."
    least, most = found["newly_at_least"] or 0, found["newly_at_most"] or 0
    hold = "holds" if fresh == 1 else "hold"
    said = (
        f"Both releases together have {some(classes, 'classes')}; {fresh:,} of them {hold} fewer than {k} people "
        f"though the classes in each release do not, at least {least:,} and at most {most:,} people"
    )
    return f"{said}. In {some(revealed, 'classes')} a single sensitive value is left that neither release gives away."

"""Several releases by brute force: definitions read word for word, over persons, releases and whole worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

Release = Sequence[Mapping[str, Any]]
QI = ("a", "b")


def class_of(release: Release, row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows with the quasi-identifiers of a row; missing values are equal."""
    return [other for other in release if all(other[name] == row[name] for name in QI)]


def lives(releases: Sequence[Release]) -> dict[Any, list[tuple[int, Mapping[str, Any]]]]:
    """Each person with the releases and rows that they are in."""
    found: dict[Any, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, release in enumerate(releases):
        for row in release:
            if row["id"] is not None:
                found.setdefault(row["id"], []).append((number, row))
    return found


def signature(release: Release, row: Mapping[str, Any]) -> frozenset[Any]:
    """The values of the class of a row."""
    return frozenset(other["s"] for other in class_of(release, row))


def is_invariant(releases: Sequence[Release], m: int) -> bool:
    """The definition: every release is m-unique, and signatures stay over each lifespan."""
    for release in releases:
        for row in release:
            values = [other["s"] for other in class_of(release, row)]
            if len(values) < m or len(set(values)) < len(values):
                return False
    return not unsteady(releases)


def unsteady(releases: Sequence[Release]) -> int:
    """Persons whose signature changes."""
    return sum(len({signature(releases[number], row) for number, row in rows}) > 1 for rows in lives(releases).values())


def largest_m(releases: Sequence[Release]) -> int | None:
    """The largest m for which the releases are m-invariant, 0 when for none."""
    rows = [len(release) for release in releases]
    return max((m for m in range(1, max(rows) + 1) if is_invariant(releases, m)), default=0) if any(rows) else None


def candidates(releases: Sequence[Release]) -> dict[Any, set[Any]]:
    """The values that all classes of a person have."""
    return {
        person: set.intersection(*(set(signature(releases[number], row)) for number, row in rows))
        for person, rows in lives(releases).items()
    }


def eliminated(releases: Sequence[Release]) -> tuple[dict[Any, set[Any]], dict[Any, int]]:
    """The values left when the rows of known persons are struck out, again and again; when somebody became known."""
    everybody, left = lives(releases), candidates(releases)
    known = {person: 0 for person, values in left.items() if len(values) == 1}
    for step in range(1, len(everybody) + 2):
        told = {person: next(iter(left[person])) for person in known}
        for person, rows in everybody.items():
            if person in told:
                continue
            for number, row in rows:
                members = class_of(releases[number], row)
                free = Counter(one["s"] for one in members)
                free.subtract(told[one["id"]] for one in members if one["id"] in told)
                left[person] = {value for value in left[person] if free[value] > 0}
        known |= {person: step for person, values in left.items() if len(values) == 1 and person not in known}
    return left, known


def worlds(releases: Sequence[Release]) -> Iterator[dict[Any, Any]]:
    """Every way to give each person one value, in which each class has its values for its persons and counterfeits."""
    left = candidates(releases)
    people = list(left)
    classes = [
        ([one["id"] for one in members if one["id"] is not None], Counter(one["s"] for one in members))
        for release in releases
        for members in (class_of(release, row) for row in release)
    ]
    for choice in product(*(left[person] for person in people)):
        world = dict(zip(people, choice, strict=True))
        if all(Counter(world[person] for person in members) <= values for members, values in classes):
            yield world

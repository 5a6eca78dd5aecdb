"""Brute force: every attack on a release straight from what it means, over rows, in fractions. Slow and obvious.

A release is a list of dicts. `None` is NULL, which is a sensitive value of its own and, as a quasi-identifier, equal to
other NULLs. Nothing here knows how the package computes.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Fits = Callable[[Any, Any], bool]


def classes(rows: Sequence[Row], qi: Sequence[str]) -> list[list[Row]]:
    """The equivalence classes."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in qi)].append(row)
    return list(found.values())


def homogeneity(rows: Sequence[Row], qi: Sequence[str], s: str) -> dict[str, int]:
    """Rows whose class holds one value; rows on which the guess "the most frequent value of the class" is right."""
    groups = [Counter(row[s] for row in group) for group in classes(rows, qi)]
    return {
        "exposed": sum(sum(counts.values()) for counts in groups if len(counts) == 1),
        "classes": sum(1 for counts in groups if len(counts) == 1),
        "right_guesses": sum(max(counts.values()) for counts in groups),
    }


def subsets(values: Iterable[Any], most: int) -> Iterator[tuple[Any, ...]]:
    """All subsets of at most so many values."""
    known = list(values)
    for size in range(min(most, len(known)) + 1):
        yield from itertools.combinations(known, size)


def background(rows: Sequence[Row], qi: Sequence[str], s: str, m: int) -> tuple[int, Fraction | None]:
    """Rows that are certain once the attacker rules out the m values (not the row's own) that help most; and the
    highest probability that any choice gives to the value of any row."""
    certain, highest = 0, None
    for group in classes(rows, qi):
        counts = Counter(row[s] for row in group)
        for value, count in counts.items():
            others = [other for other in counts if other != value]
            best = max(
                Fraction(count, sum(counts.values()) - sum(counts[one] for one in out)) for out in subsets(others, m)
            )
            certain += count if best == 1 else 0
            highest = best if highest is None else max(highest, best)
    return certain, highest


def nearly_sure(rows: Sequence[Row], qi: Sequence[str], s: str, m: int, sure: Fraction) -> int:
    """Rows whose own value is guessed, and likely enough, once the attacker rules out the m values (not the row's own)
    that help most. The guess is the most frequent value that is left, of equal ones the first."""
    found = 0
    for group in classes(rows, qi):
        ranked = [value for value, _ in Counter(row[s] for row in group).most_common()]
        counts = Counter(row[s] for row in group)
        for value in ranked:
            for out in subsets([other for other in ranked if other != value], m):
                left = [one for one in ranked if one not in out]
                if left[0] == value and Fraction(counts[value], sum(counts[one] for one in left)) >= sure:
                    found += counts[value]
                    break
    return found


def demographic(rows: Sequence[Row], qi: Sequence[str], s: str, m: int) -> int:
    """The most rows that are certain when the same m values are ruled out for everybody, rightly for those rows."""
    values = list(dict.fromkeys(row[s] for row in rows))
    most = 0
    for out in subsets(values, m):
        found = 0
        for group in classes(rows, qi):
            left = {row[s] for row in group} - set(out)
            found += sum(1 for row in group if left == {row[s]})
        most = max(most, found)
    return most


def skewness(rows: Sequence[Row], qi: Sequence[str], s: str, times: Sequence[int]) -> tuple[Fraction | None, list[int]]:
    """The largest share in a class over share in the table; rows whose own value gained more than that."""
    totals = Counter(row[s] for row in rows)
    highest, above = None, [0] * len(times)
    for group in classes(rows, qi):
        for value, count in Counter(row[s] for row in group).items():
            lift = Fraction(count, len(group)) / Fraction(totals[value], len(rows))
            highest = lift if highest is None else max(highest, lift)
            for position, limit in enumerate(times):
                above[position] += count if lift > limit else 0
    return highest, above


def in_one_category(rows: Sequence[Row], qi: Sequence[str], s: str, categories: Mapping[str, Sequence[Any]]) -> int:
    """Rows whose class has all its values inside some category."""
    groups = classes(rows, qi)
    return sum(
        len(group) for group in groups if any(all(row[s] in listed for row in group) for listed in categories.values())
    )


def in_one_range(rows: Sequence[Row], qi: Sequence[str], s: str, width: Fraction) -> int:
    """Rows whose class holds no NULL and no two values further apart than the width."""
    return sum(
        len(group)
        for group in classes(rows, qi)
        if all(row[s] is not None for row in group)
        and max(row[s] for row in group) - min(row[s] for row in group) <= width
    )


def candidates(release: Sequence[Row], person: Row, match: Sequence[tuple[str, str]], fits: Fits) -> list[int]:
    """The places of the rows that a person of the identified table may be."""
    return [
        place for place, row in enumerate(release) if all(fits(row[mine], person[theirs]) for mine, theirs in match)
    ]


def linkage(
    release: Sequence[Row],
    people: Sequence[Row],
    match: Sequence[tuple[str, str]],
    fits: Fits,
    k: int,
    sensitive: str | None = None,
    key: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Who of the people is found in the release, and what is learned."""
    found = [candidates(release, person, match, fits) for person in people]
    by_row = Counter(place for places in found for place in places)
    linked = [places for places in found if places]
    out: dict[str, Any] = {
        "people": len(people),
        "matched": len(linked),
        "unique": sum(1 for places in linked if len(places) == 1),
        "below_k": sum(1 for places in linked if len(places) < k),
        "one_to_one": sum(1 for places in linked if len(places) == 1 and by_row[places[0]] == 1),
        "expected": sum((Fraction(1, len(places)) for places in linked), Fraction(0)),
        "rows_matched": len(by_row),
        "rows_unique": sum(1 for times in by_row.values() if times == 1),
        "rows_below_k": sum(1 for times in by_row.values() if times < k),
    }
    if sensitive is not None:
        values = [Counter(release[place][sensitive] for place in places) for places in linked]
        out["attribute"] = sum(1 for counts in values if len(counts) == 1)
        out["attribute_only"] = sum(1 for counts in values if len(counts) == 1 and sum(counts.values()) > 1)
    if key is not None:
        out |= _confirmed(release, people, found, k, key)
    return out


def _confirmed(
    release: Sequence[Row], people: Sequence[Row], found: Sequence[Sequence[int]], k: int, key: tuple[str, str]
) -> dict[str, int]:
    places_of = {row[key[0]]: place for place, row in enumerate(release) if row[key[0]] is not None}
    true = [places_of.get(person[key[1]]) if person[key[1]] is not None else None for person in people]
    pairs = list(zip(found, true, strict=True))
    return {
        "known": sum(1 for _, place in pairs if place is not None),
        "confirmed_unique": sum(1 for places, place in pairs if len(places) == 1 and place in places),
        "confirmed_below_k": sum(1 for places, place in pairs if len(places) < k and place in places),
        "wrong_unique": sum(1 for places, place in pairs if len(places) == 1 and place not in places),
        "confirmed": sum(1 for places, place in pairs if place in places),
    }


def agreeing(left: Sequence[Any], right: Sequence[Any], fits: Fits) -> int:
    """Positions at which two columns agree."""
    return sum(1 for mine, theirs in zip(left, right, strict=True) if fits(mine, theirs))


def chance_of_agreeing(left: Sequence[Any], right: Sequence[Any], fits: Fits) -> Fraction:
    """How often at least as many positions agree when the right column is shuffled: every permutation is counted."""
    seen = agreeing(left, right, fits)
    orders = list(itertools.permutations(right))
    return Fraction(sum(1 for order in orders if agreeing(left, order, fits) >= seen), len(orders))


def alike_in_both(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Pairs of rows that are alike in the left column and alike in the right one."""
    pairs = itertools.combinations(range(len(left)), 2)
    return sum(1 for one, other in pairs if left[one] == left[other] and right[one] == right[other])


def chance_of_alike(left: Sequence[Any], right: Sequence[Any]) -> Fraction:
    """How often at least as many pairs are alike in both when the right column is shuffled."""
    seen = alike_in_both(left, right)
    orders = list(itertools.permutations(right))
    return Fraction(sum(1 for order in orders if alike_in_both(left, order) >= seen), len(orders))


def moments_of_alike(left: Sequence[Any], right: Sequence[Any]) -> tuple[Fraction, Fraction]:
    """Mean and variance of `alike_in_both` over all shuffles."""
    seen = [alike_in_both(left, order) for order in itertools.permutations(right)]
    mean = Fraction(sum(seen), len(seen))
    return mean, Fraction(sum(number * number for number in seen), len(seen)) - mean * mean


def joined(
    first: Sequence[Row],
    second: Sequence[Row],
    first_qi: Sequence[str],
    second_qi: Sequence[str],
    shared: Sequence[str],
    fits: Fits,
    k: int,
) -> dict[str, int]:
    """Classes of two releases joined: for each pair of classes that agree on what both have, at most how many persons
    can be in both, and whether one sensitive combination is left."""
    out = {"classes": 0, "below_k": 0, "at_most": 0, "revealed": 0}
    common = [name for name in first_qi if name in second_qi]
    for mine in classes(first, first_qi):
        for theirs in classes(second, second_qi):
            if not all(fits(mine[0][name], theirs[0][name]) for name in common):
                continue
            here = Counter(tuple(row[name] for name in shared) for row in mine)
            there = Counter(tuple(row[name] for name in shared) for row in theirs)
            both = here & there
            if not both:
                continue
            most = sum(both.values())
            out["classes"] += 1
            out["revealed"] += len(both) == 1
            if most < k:
                out["below_k"] += 1
                out["at_most"] += most
    return out


Partition = Sequence[Sequence[int]]
Safe = Callable[[Mapping[Any, int]], bool]


def worlds(classes_of_values: Sequence[Sequence[Any]]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """Every way in which the values of each class can belong to its persons; persons are told apart."""
    yield from itertools.product(*(itertools.permutations(values) for values in classes_of_values))


def minimality(
    values: Sequence[Sequence[Any]], finer: Sequence[Sequence[Partition]], safe: Safe
) -> list[list[dict[Any, Fraction]]] | None:
    """For every class and person, how likely each value is once the attacker knows that no finer node was safe.

    `values[c]` are the sensitive values of class c, one a person. `finer[j][c]` says how finer node j splits the
    persons of class c. A node is safe when every block of every class is. None when no world leaves all finer nodes
    unsafe.
    """
    counts = [[Counter[Any]() for _ in group] for group in values]
    total = 0
    for world in worlds(values):
        if any(_node_is_safe(world, split, safe) for split in finer):
            continue
        total += 1
        for place, group in enumerate(world):
            for person, value in enumerate(group):
                counts[place][person][value] += 1
    if not total:
        return None
    return [[{value: Fraction(n, total) for value, n in person.items()} for person in group] for group in counts]


def _node_is_safe(world: Sequence[Sequence[Any]], split: Sequence[Partition], safe: Safe) -> bool:
    return all(
        safe(Counter(world[place][person] for person in block))
        for place, blocks in enumerate(split)
        for block in blocks
    )

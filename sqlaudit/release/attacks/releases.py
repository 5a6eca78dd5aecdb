"""Attacks with another release of the same people: complementary releases, and rows in the same order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw
from sqlaudit.release.attacks.base import (
    SWEENEY,
    Attack,
    AttackedRelease,
    Match,
    as_parameters,
    chance,
    find_matches,
    numbered,
    of_all,
    some,
)
from sqlaudit.release.attacks.result import Exposure, Figure

# Is a pairing of two columns better than a random one? Two statistics, each with a valid bound of its probability.
#
# *Agreeing positions*: cells that fit each other. Under a random order of one column their number is a sum Σ a(i,
# π(i)) with a in {0, 1}, for which Chatterjee (Stein's method for concentration inequalities, PTRF 2007, Proposition
# 1.1) gives P(|X − E X| ≥ t) ≤ 2 exp(−t² / (4 E X + 2 t)).
#
# *Alike pairs*: pairs of rows that are alike in one column and alike in the other. This needs no reading of cells, so
# it finds pairings even where it is not known what the cells of one release mean. Mean and variance under a random
# order are those of Mantel's statistic (Cancer Research 1967); Cantelli's inequality makes them a bound.
#
# For short tables both are shuffled instead: (1 + shuffles at least as good) / (1 + shuffles) is a valid probability.

SHUFFLES = 4_999
_AT_ONCE = 20_000
"""So many positions of shuffled columns are counted together."""
_LEAST = 1e-300
"""No order is impossible; smaller numbers would print as 0."""


@dataclass(frozen=True)
class Paired:
    """Counts of one column of two tables that are paired by position.

    Args:
        positions: how many. my_values, their_values: different cells on each side.
        agree: positions with cells that fit. finer: positions at which the other table is finer.
        possible: Σ over fitting cells of the product of their counts.
        alike: pairs of positions that are alike on both sides. my_pairs, their_pairs: that are alike on one side.
        my_paths, their_paths: paths of two such pairs on one side, Σ n(n−1)(n−2)/2.
    """

    positions: int
    my_values: int
    their_values: int
    agree: int
    finer: int
    possible: int
    alike: int
    my_pairs: int
    their_pairs: int
    my_paths: int
    their_paths: int

    @property
    def telling(self) -> bool:
        """Return True if the order can matter: with a single value on one side it cannot."""
        return self.my_values > 1 and self.their_values > 1

    @property
    def expected_agree(self) -> Fraction:
        """Agreeing positions under a random order."""
        return Fraction(self.possible, self.positions) if self.positions else Fraction(0)

    @property
    def expected_alike(self) -> Fraction:
        """Alike pairs under a random order."""
        pairs = math.comb(self.positions, 2)
        return Fraction(self.my_pairs * self.their_pairs, pairs) if pairs else Fraction(0)

    @property
    def variance_alike(self) -> Fraction:
        """The variance of the alike pairs under a random order."""
        mean, n = self.expected_alike, self.positions
        all_paths = n * math.comb(n - 1, 2) if n > 2 else 0
        pairs_of_disjoint_pairs = math.comb(math.comb(n, 2), 2) - all_paths
        square = mean
        if all_paths:
            square += Fraction(2 * self.my_paths * self.their_paths, all_paths)
        if pairs_of_disjoint_pairs:
            mine = math.comb(self.my_pairs, 2) - self.my_paths
            theirs = math.comb(self.their_pairs, 2) - self.their_paths
            square += Fraction(2 * mine * theirs, pairs_of_disjoint_pairs)
        return square - mean * mean

    def bound_agree(self) -> float:
        """Return an upper bound of the probability that a random order has at least as many agreeing positions."""
        excess = float(self.agree - self.expected_agree)
        if excess <= 0:
            return 1.0
        return min(1.0, _LEAST + 2 * math.exp(-excess * excess / (4 * float(self.expected_agree) + 2 * excess)))

    def bound_alike(self) -> float:
        """Return an upper bound of the probability that a random order has at least as many alike pairs."""
        excess, variance = self.alike - self.expected_alike, self.variance_alike
        if excess <= 0:
            return 1.0
        return float(variance / (variance + excess * excess))


def shuffled(rows: Sequence[tuple[Any, ...]], seed: int) -> tuple[float, float]:
    """Return how likely as many agreeing positions, and as many alike pairs, are under a random order: by shuffling.

    Args:
        rows: (kind, my code, their code, count) with kind `paired` for how many positions hold both cells, and
            `fits` for cells that fit.
        seed: of the shuffles.

    Returns:
        two probabilities, of which each is valid: under a random order it is below p with probability at most p.
    """
    paired = sorted((int(mine), int(theirs), int(count)) for kind, mine, theirs, count in rows if kind == "paired")
    left = np.repeat([mine for mine, _, _ in paired], [count for _, _, count in paired])
    right = np.repeat([theirs for _, theirs, _ in paired], [count for _, _, count in paired])
    width = int(right.max()) + 1
    fits = np.zeros((int(left.max()) + 1, width), dtype=bool)
    for kind, mine, theirs, _ in rows:
        if kind == "fits":
            fits[int(mine), int(theirs)] = True
    cells = left * width
    seen_agree, seen_alike = _agree(fits, left, right[None])[0], _alike(cells, right[None], fits.size)[0]
    generator = np.random.default_rng(seed)
    at_least_agree = at_least_alike = 1
    at_once = max(1, _AT_ONCE // len(right))
    for done in range(0, SHUFFLES, at_once):
        orders = np.array([generator.permutation(right) for _ in range(min(at_once, SHUFFLES - done))])
        at_least_agree += int((_agree(fits, left, orders) >= seen_agree).sum())
        at_least_alike += int((_alike(cells, orders, fits.size) >= seen_alike).sum())
    return at_least_agree / (SHUFFLES + 1), at_least_alike / (SHUFFLES + 1)


def _agree(fits: NDArray[np.bool_], left: NDArray[Any], orders: NDArray[Any]) -> NDArray[Any]:
    """Count the positions that agree in each order."""
    agreeing: NDArray[Any] = fits[left, orders].sum(axis=1)
    return agreeing


def _alike(cells: NDArray[Any], orders: NDArray[Any], size: int) -> NDArray[Any]:
    """Count the pairs of positions that are alike on both sides in each order: Σ n² over the cells, less Σ n."""
    numbered = cells + orders + np.arange(len(orders))[:, None] * size
    if size <= 4 * orders.shape[1]:
        occurrences = np.bincount(numbered.ravel(), minlength=len(orders) * size).reshape(-1, size)
        squares: NDArray[Any] = (occurrences**2).sum(axis=1)
    else:
        values, counts = np.unique(numbered, return_counts=True)
        squares = np.bincount(values // size, weights=counts.astype(float) ** 2).astype(np.int64)
    pairs: NDArray[Any] = (squares - orders.shape[1]) // 2
    return pairs


# Unsorted matching: two releases of one table in the same order of rows, paired by position.
#
# Whether the pairing is better than chance is tested before anything is made of it, by the statistics above.

MAX_SHUFFLED = 2_000
"""Up to this many positions a column is shuffled; beyond, bounds are used, which then are sharp enough."""
LEVEL = 0.05
"""A pairing is called better than chance when it would be as good by chance at most this often."""


@dataclass(frozen=True)
class ColumnTest:
    """One column under the pairing: its counts, and at most how likely they are by chance (1 where it cannot tell)."""

    label: str
    paired: Paired
    agree: float
    alike: float


class UnsortedMatching(Attack):
    """Pairing two releases by the position of their rows."""

    name: ClassVar[str] = "unsorted_matching"
    title: ClassVar[str] = "Unsorted matching"
    source: ClassVar[str] = SWEENEY

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: no other release, no columns in common, or no order of rows."""
        if release.other is None:
            return f"It needs another release of the same table ({spelled('other_release')})."
        if not shared_columns(release, release.other):
            return "The other release has none of the columns."
        if release.request.position is None and not release.engine.own_workbench:
            return f"Rows have no order here: name a column that numbers them in both releases ({spelled('position')})."
        return ""

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Return True if position pairs better than chance, and what that restores."""
        other = release.other
        assert other is not None
        pairs = [(name, name) for name in shared_columns(release, other)]
        matches = find_matches(release, other, pairs, about("qi"), both_ways=True)
        position = _position(release, other)
        tests = [_test(release, other, match, position) for match in matches]
        readable = [match for match, test in zip(matches, tests, strict=True) if test.paired.possible]
        merged = _merged(release, other, matches, readable, position)
        fitting_beside = _beside(release, other, readable, position) if readable else Fraction(0)
        yield self._exposure(release, tests, merged, fitting_beside)

    def _exposure(
        self, release: AttackedRelease, tests: list[ColumnTest], merged: Mapping[str, int], fitting_beside: Fraction
    ) -> Exposure:
        """Return how many rows the order of both releases pairs."""
        telling = [test for test in tests if test.paired.telling]
        chances = [probability for test in telling for probability in (test.agree, test.alike)]
        p = min(1.0, len(chances) * min(chances)) if chances else 1.0
        positions, restored = merged["positions"], merged["restored"]
        fitting = Fraction(merged["fitting"], positions) if positions else Fraction(0)
        restores = p <= LEVEL and (fitting > fitting_beside or fitting == 1)
        note = ""
        if not telling:
            note = "No column has two values on both sides, so an order cannot be distinguished from chance."
        elif positions < release.rows:
            note = f"{some(release.rows - positions, 'rows')} of the release have no partner."
        return self.exposure(
            exposed=restored if restores else 0,
            of=positions,
            unit="rows",
            probability=None,
            sentence=_sentence(release, tests, merged, fitting_beside, p, restores=restores),
            figures={
                "positions": positions,
                "chance": p,
                "better_than_chance": p <= LEVEL,
                "rows_fitting": merged["fitting"],
                "rows_fitting_beside": fitting_beside,
                "cells_finer_in_other": merged["cells"],
                "rows_finer_in_other": restored,
                "below_k_before": merged["below_before"],
                "below_k_after": merged["below_after"],
            },
            steps=tuple(_step(test) for test in tests),
            note=note,
            at_most=restored if p <= LEVEL else None,
        )


def shared_columns(release: AttackedRelease, other: Relation) -> list[str]:
    """Return the names of quasi-identifiers and sensitive attributes that are columns of both releases."""
    names = (*release.request.roles.quasi_identifiers, *release.request.roles.sensitive)
    columns = [role.column for role in (*release.roles.quasi_identifiers, *release.roles.sensitive)]
    return [name for name, column in zip(names, columns, strict=True) if column and find_column(column, other)]


def _position(release: AttackedRelease, other: Relation) -> Sequence[Raw | str]:
    """Return the columns that number the rows of each release; empty texts if the order of rows counts.

    Raises:
        UsageError: a release has no such column, or the column repeats a number.
    """
    if release.request.position is None:
        return ["", ""]
    columns, numbers = numbered(release, other, release.request.position, "position", "positions")
    if repeated := sum(numbers):
        raise UsageError(
            f"{spelled('position')} must number the rows, but {some(repeated, 'rows')} repeat another row's number."
        )
    return columns


def _test(release: AttackedRelease, other: Relation, match: Match, position: Sequence[Raw | str]) -> ColumnTest:
    """Return the counts of a column, and how likely they are by chance: bounded for many rows, else by shuffling."""
    tables: dict[str, Any] = {"other": other, "position": position}
    (match_parameters,), parameters = as_parameters([match], directions=True)
    row = release.ask("attack_positions", f"positions of {match.label}", parameters, match=match_parameters, **tables)[
        0
    ]
    numbers = [int(number) for number in row]
    paired = Paired(*numbers[:6], *(number // 2 for number in numbers[6:]))
    if not paired.telling:
        return ColumnTest(match.label, paired, 1.0, 1.0)
    if paired.positions > MAX_SHUFFLED:
        return ColumnTest(match.label, paired, paired.bound_agree(), paired.bound_alike())
    (match_parameters,), parameters = as_parameters([match])
    codes = release.ask(
        "attack_position_codes", f"orders of {match.label}", parameters, match=match_parameters, **tables
    )
    return ColumnTest(match.label, paired, *shuffled(codes, release.request.seed))


def _merged(
    release: AttackedRelease,
    other: Relation,
    matches: Sequence[Match],
    readable: Sequence[Match],
    position: Sequence[Raw | str],
) -> dict[str, int]:
    """Count the rows that fit, the restored rows and cells, and the rows in classes below k before and after.

    A column in which no cell can fit any is written in a way that no one reads, so that it tells nothing of a row.
    """
    match_parameters, parameters = as_parameters(matches, directions=True)
    shared = [match.label for match in matches]
    columns_by_name = dict(zip(release.request.roles.quasi_identifiers, release.roles.quasi_identifiers, strict=True))
    theirs = [resolve(name, other, release.engine.dialect, about("other_qi")) for name in release.request.other_qi]
    rows = release.ask(
        "attack_merged",
        "both releases by position",
        parameters,
        other=other,
        matches=match_parameters,
        position=position,
        k=release.request.k,
        readable=[
            parameters_of_match
            for parameters_of_match, match in zip(match_parameters, matches, strict=True)
            if match in readable
        ],
        known=[
            parameters_of_match["name"]
            for parameters_of_match, label in zip(match_parameters, shared, strict=True)
            if label in columns_by_name
        ],
        mine_only=[column for name, column in columns_by_name.items() if name not in shared],
        theirs_only=[column for column in theirs if column.label not in shared],
    )
    names = ("positions", "fitting", "restored", "cells", "below_before", "below_after")
    return dict(zip(names, map(int, rows[0]), strict=True))


def _beside(
    release: AttackedRelease, other: Relation, matches: Sequence[Match], position: Sequence[Raw | str]
) -> Fraction:
    """Return the share of rows that fit the partner of the next row, or of the previous one, whichever is larger."""
    match_parameters, parameters = as_parameters(matches)
    tables = {"other": other, "matches": match_parameters, "position": position}
    rows = release.ask("attack_neighbours", "rows beside each other", parameters, **tables)
    return max((Fraction(int(fitting), int(pairs)) for pairs, fitting in rows if pairs), default=Fraction(0))


def _step(test: ColumnTest) -> dict[str, Figure]:
    """Return the figures of one column."""
    paired = test.paired
    return {
        "column": test.label,
        "agree": paired.agree,
        "agree_by_chance": paired.expected_agree,
        "finer_in_other": paired.finer,
        "alike_pairs": paired.alike,
        "alike_pairs_by_chance": paired.expected_alike,
        "chance_of_agreeing": test.agree if paired.telling else None,
        "chance_of_alike": test.alike if paired.telling else None,
    }


def _sentence(
    release: AttackedRelease,
    tests: list[ColumnTest],
    merged: Mapping[str, int],
    fitting_beside: Fraction,
    p: float,
    *,
    restores: bool,
) -> str:
    """Return whether positions reveal pairs of rows, and how many rows match."""
    positions = merged["positions"]
    if not positions:
        return "The releases have no rows in common positions."
    often = f"at most {p:.2g} of" if p >= 1e-6 else "fewer than one in a million"
    if p > LEVEL:
        return (
            "Pairing the rows of both releases by position is no better than chance "
            f"({often} random orders match as well)."
        )
    best = min(tests, key=lambda test: min(test.agree, test.alike))
    sentence = (
        f"Rows in the same position of both releases agree far more often than by chance, above all in {best.label} "
        f"({often} random orders match as well). {of_all(merged['fitting'], positions, 'rows')} match, compared with "
        f"{chance(float(fitting_beside))} of neighboring rows."
    )
    if not restores:
        return f"{sentence} The releases may only have been sorted the same way."
    return (
        f"{sentence} If the order is the same, it restores {some(merged['cells'], 'cells')} in "
        f"{some(merged['restored'], 'rows')} and leaves {some(merged['below_after'], 'rows')} in groups smaller than "
        f"{release.request.k} ({merged['below_before']:,} before). Publish releases in random order."
    )


# Complementary releases: two releases of the same people are each safe, but not together.
#
# A person lies in one class of each release, so in the part that both classes have in common. How many people that part
# can hold follows from the counts of what both releases publish unchanged.

_CLASSES = ("joined_classes", "below_k", "at_most", "at_least")
_NEWLY = ("newly_below_k", "newly_at_most", "newly_at_least", "revealed", "newly_revealed", "smallest")


class ComplementaryReleases(Attack):
    """Classes below k after joining two releases on what they share."""

    name: ClassVar[str] = "complementary_releases"
    title: ClassVar[str] = "Complementary releases"
    source: ClassVar[str] = f"{SWEENEY}; Ganta, Kasiviswanathan, Smith: Composition Attacks, KDD 2008"

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: no other release, no columns in common, or no classes to join."""
        if release.other is None:
            return f"It needs another release of the same table ({spelled('other_release')})."
        if not shared_columns(release, release.other) and not release.request.other_qi:
            return "The other release has none of the columns."
        if release.request.roles.nulls is not NullPolicy.EQUAL:
            return f"It compares groups of both releases, in which NULLs are equal; use {spelled('nulls', 'equal')}."
        if release.roles.entity is not None:
            return (
                f"It counts rows: leave out {spelled('entity')}, or select one row per person with {spelled('query')}."
            )
        return ""

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Join the classes of both releases, and yield the exposure in those smaller than k."""
        assert release.other is not None
        figures = dict(zip((*_CLASSES, *_NEWLY), _joined(release, release.other), strict=True))
        at_least = figures["newly_at_least"] or 0
        smallest = figures["smallest"]
        yield self.exposure(
            exposed=at_least,
            of=release.rows,
            unit="rows",
            probability=None,
            highest=Fraction(1, smallest) if smallest else None,
            sentence=_complementary_sentence(release, figures),
            figures=figures,
            at_most=figures["newly_at_most"] or 0,
            note="Both releases are assumed to contain the same people, one row each. Only people in groups that fall "
            f"below {release.request.k} by the combination are counted: not those in groups that are smaller in one "
            "release, nor those with a single sensitive value left.",
        )


def _joined(release: AttackedRelease, other: Relation) -> list[int | None]:
    """Return the figures of the joined classes, in the order of `_CLASSES` and `_NEWLY`."""
    in_both, own_qi = shared_columns(release, other), release.request.roles.quasi_identifiers
    other_qi = release.request.other_qi or tuple(name for name in in_both if name in own_qi)
    common = [(name, name) for name in own_qi if name in other_qi]
    shared = [(name, name) for name in in_both if name in release.request.roles.sensitive and name not in other_qi]
    match_parameters, parameters = as_parameters(
        find_matches(release, other, common, about("other_qi"), both_ways=True)
    )
    equal, _ = as_parameters(find_matches(release, other, shared, about("sensitive"), reading=False))
    mine = [column for column in release.roles.quasi_identifiers if (column.label, column.label) not in common]
    theirs = [name for name in other_qi if (name, name) not in common]
    row = release.ask(
        "attack_complementary",
        "join two releases",
        parameters,
        other=other,
        matches=match_parameters,
        shared=[{**column, "name": f"s{position}"} for position, column in enumerate(equal, 1)],
        mine=mine,
        theirs=[resolve(name, other, release.engine.dialect, about("other_qi")) for name in theirs],
        k=release.request.k,
    )[0]
    return [None if number is None else int(number) for number in row]


def _complementary_sentence(release: AttackedRelease, figures: dict[str, int | None]) -> str:
    """Return how many classes the combination of both releases makes smaller."""
    k, classes = release.request.k, figures["joined_classes"] or 0
    if not classes:
        return "No group of one release matches a group of the other."
    fresh, revealed = figures["newly_below_k"] or 0, figures["newly_revealed"] or 0
    if not fresh and not revealed:
        return f"Combined, the releases have {some(classes, 'groups')}, none of them newly smaller than {k}."
    least, most = figures["newly_at_least"] or 0, figures["newly_at_most"] or 0
    hold = "is" if fresh == 1 else "are"
    sentence = (
        f"Combined, the releases have {some(classes, 'groups')}; {fresh:,} of them {hold} newly smaller than {k} "
        f"({least:,} to {most:,} people)."
    )
    return f"{sentence} In {some(revealed, 'groups')}, only the combination leaves a single sensitive value."

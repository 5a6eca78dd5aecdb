"""What follows from knowing that a finer node was not safe: probabilities over all possible worlds, exactly.

A world says which sensitive value belongs to whom, within each class of the release. Before, all worlds are equally
likely. The attacker knows how a finer node splits each class into blocks of people, and that this node was not safe, so
that in some class some block falls short. Worlds where the node is safe are ruled out (Wong, Fu, Wang, Pei: Minimality
Attack in Privacy Preserving Data Publishing, VLDB 2007).

With A = probability that all blocks of a class are safe, R = the product of A over the other classes, p = share of a
value in the class, and t = probability that a person of a block has the value and the class is safe:

    P(person has the value | the node is not safe) = (p − t R) / (1 − A R) = (p − t + t (1 − R)) / (1 − A + A (1 − R))

The second form is the one computed: it adds only what is not negative, so nothing is lost when A R is nearly 1.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.release.attacks.count_rules import Counts, Rule

MAX_STEPS = 100_000
"""Up to this many ways to fill a block are looked at for one finer node."""
MAX_SIZE = 1_000
"""Worlds of larger classes are not counted (unless the sizes of the blocks decide)."""
_factorial = functools.cache(math.factorial)


class TooLarge(Exception):
    """A class has too many possible worlds to count."""


class Budget:
    """How many ways to fill a block may still be looked at."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self) -> None:
        """Take one.

        Raises:
            TooLarge: there is none left.
        """
        self.left -= 1
        if self.left < 0:
            raise TooLarge


@dataclass(frozen=True)
class Posterior:
    """What is learned about the people of one block and one value.

    Args:
        block: the block's size. people: how many people lie in such blocks, over all classes of this kind.
        prior, posterior: the probability of the value before and after.
        certain: whether it became certain, exactly.
    """

    block: int
    people: int
    prior: Fraction
    posterior: float
    certain: bool


class Split:
    """A class of the release with the blocks of a finer node.

    Only blocks whose safety depends on the world are filled. The people of blocks that are safe in every world are
    exchangeable, whatever their block, so the others leave an equal chance of each value to all of them.

    Args:
        blocks: sizes of the blocks. counts: how often each sensitive value occurs in the class.
        rule: the requirement. budget: shared by all classes of a node.

    Raises:
        TooLarge: there are too many ways to fill the blocks.
    """

    def __init__(self, blocks: Sequence[int], counts: Sequence[int], rule: Rule, budget: Budget | None = None) -> None:
        self.blocks = tuple(sorted(blocks))
        self.counts = tuple(sorted(counts))
        self.size = sum(counts)
        self._rule = rule
        self._budget = budget or Budget()
        self._known: dict[tuple[Counts, Counts], int] = {}
        largest_first = self.counts[::-1]
        self._decided = {size: rule.decided(size, largest_first) for size in set(self.blocks)}
        self._open = tuple(size for size in self.blocks if self._decided[size] is None)
        self.all_safe = self._all_safe()

    def _all_safe(self) -> Fraction:
        """The probability that all blocks are safe."""
        if False in self._decided.values():
            return Fraction(0)
        if not self._open:
            return Fraction(1)
        if self.size > MAX_SIZE:
            raise TooLarge
        return Fraction(self._ways(self._open, self.counts), _worlds(self.counts))

    def joint(self, block: int, count: int) -> Fraction:
        """The probability that a person of a block of this size has a value that occurs so often, and all is safe."""
        prior = Fraction(count, self.size)
        if self.all_safe in (0, 1):
            return prior * self.all_safe
        if self._decided[block] is None:
            return self._joint(block, count)
        elsewhere = sum(
            (size * times * self._joint(size, count) for size, times in Counter(self._open).items()), Fraction(0)
        )
        return (count * self.all_safe - elsewhere) / (self.size - sum(self._open))

    def _joint(self, block: int, count: int) -> Fraction:
        rest = list(self._open)
        rest.remove(block)
        place = self.counts.index(count)
        found = 0
        for filled, ways, left in self._fillings(block, self.counts):
            if filled[place]:
                found += filled[place] * ways * self._ways(tuple(rest), left)
        return Fraction(found, _worlds(self.counts) * block)

    def _ways(self, blocks: Counts, counts: Counts) -> int:
        """How many arrangements of the values make all these blocks safe; the rest of the people take what is left."""
        if not blocks:
            return _worlds(counts)
        key = blocks, counts
        if key not in self._known:
            self._known[key] = sum(
                ways * self._ways(blocks[1:], left) for _, ways, left in self._fillings(blocks[0], counts)
            )
        return self._known[key]

    def _fillings(self, size: int, counts: Counts) -> Iterator[tuple[Counts, int, Counts]]:
        """How often each value occurs in a safe block, the number of arrangements, and what is left in order."""
        for filled in _parts(size, counts):
            self._budget.spend()
            if self._rule.holds(tuple(sorted((count for count in filled if count), reverse=True))):
                left = tuple(sorted(a - b for a, b in zip(counts, filled, strict=True)))
                yield filled, _worlds(filled), left


def _worlds(counts: Counts) -> int:
    """In how many ways values that occur so often belong to so many people."""
    return _factorial(sum(counts)) // math.prod(map(_factorial, counts))


def _parts(size: int, counts: Counts) -> Iterator[Counts]:
    """All vectors below the counts that add up to the size."""
    if not counts:
        if size == 0:
            yield ()
        return
    left = sum(counts[1:])
    for first in range(max(0, size - left), min(size, counts[0]) + 1):
        for rest in _parts(size - first, counts[1:]):
            yield first, *rest


def posteriors(splits: Sequence[tuple[Split, int]]) -> tuple[float, list[tuple[Split, list[Posterior]]]]:
    """What is learned about every kind of class when the finer node is known not to be safe.

    Args:
        splits: each kind of class, with how many classes are of that kind.

    Returns:
        how likely it was that the node is not safe (0: impossible, so nothing can be said), and what is learned.
    """
    logs = [_log(split.all_safe) for split, _ in splits]
    whole = math.fsum(times * log for log, (_, times) in zip(logs, splits, strict=True))
    if not whole:
        return 0.0, []
    before = [0.0, *itertools.accumulate(times * log for log, (_, times) in zip(logs, splits, strict=True))]
    after = [0.0, *itertools.accumulate(times * log for log, (_, times) in zip(logs[::-1], splits[::-1], strict=True))]
    found = []
    for place, (split, times) in enumerate(splits):
        own = (times - 1) * logs[place] if times > 1 else 0.0
        others = before[place] + after[len(splits) - 1 - place] + own
        found.append((split, list(_of_class(split, times, others))))
    return -math.expm1(whole), found


def _log(share: Fraction) -> float:
    if not share:
        return -math.inf
    return math.log(share) if share < Fraction(1, 2) else math.log1p(-float(1 - share))


def _of_class(split: Split, times: int, others: float) -> Iterator[Posterior]:
    """Each block size with each count. `others`: the logarithm of R; 0 exactly when no other class can be unsafe."""
    unsafe = -math.expm1(others)
    for block, blocks in Counter(split.blocks).items():
        for count in sorted(set(split.counts)):
            prior = Fraction(count, split.size)
            joint = split.joint(block, count)
            above, below = prior - joint, 1 - split.all_safe
            if not unsafe:
                exact = above / below if below else prior
                yield Posterior(block, block * blocks * times, prior, float(exact), exact == 1 != prior)
                continue
            chance = (float(above) + float(joint) * unsafe) / (float(below) + float(split.all_safe) * unsafe)
            yield Posterior(block, block * blocks * times, prior, min(1.0, chance), False)

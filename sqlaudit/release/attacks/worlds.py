"""What follows from knowing that a finer node was not safe: probabilities over all possible worlds, exactly.

A world says which sensitive value belongs to whom, within each class of the release. Before, all worlds are equally
likely. The attacker knows how a finer node splits each class into blocks of people, and that this node was not safe, so
that in some class some block falls short. Worlds where the node is safe are ruled out (Wong, Fu, Wang, Pei: Minimality
Attack in Privacy Preserving Data Publishing, VLDB 2007).

With A = probability that all blocks of a class are safe, R = the product of A over the other classes, p = share of a
value in the class, and t = probability that a person of a block has the value and the class is safe:

    P(person has the value | the node is not safe) = (p − t R) / (1 − A R)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Counts = tuple[int, ...]
Safe = Callable[[Counts], bool]
"""Whether a block with these counts of values (zeros left out, largest first) satisfies the requirement."""
MAX_STEPS = 400_000
"""Up to this many ways to fill a block are looked at for one kind of class."""


class TooLarge(Exception):
    """A class has too many possible worlds to count."""


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

    Args:
        blocks: sizes of the blocks. counts: how often each sensitive value occurs in the class.
        safe: the requirement.

    Raises:
        TooLarge: there are too many ways to fill the blocks.
    """

    def __init__(self, blocks: Sequence[int], counts: Sequence[int], safe: Safe) -> None:
        self.blocks = tuple(sorted(blocks))
        self.counts = tuple(sorted(counts))
        self.size = sum(counts)
        self._safe = safe
        self._steps = 0
        self._known: dict[tuple[Counts, Counts], int] = {}
        self.worlds = math.factorial(self.size) // math.prod(math.factorial(count) for count in counts)
        self.all_safe = Fraction(self._ways(self.blocks, self.counts), self.worlds)

    def joint(self, block: int, count: int) -> Fraction:
        """The probability that a person of a block of this size has a value that occurs so often, and all is safe."""
        rest = list(self.blocks)
        rest.remove(block)
        place = self.counts.index(count)
        found = 0
        for filled, ways in self._fillings(block, self.counts):
            if filled[place] and self._is_safe(filled):
                left = tuple(sorted(a - b for a, b in zip(self.counts, filled, strict=True)))
                found += filled[place] * ways * self._ways(tuple(rest), left)
        return Fraction(found, self.worlds * block)

    def _ways(self, blocks: Counts, counts: Counts) -> int:
        """How many arrangements of the values make all blocks safe."""
        if not blocks:
            return 1
        key = blocks, counts
        if key not in self._known:
            self._known[key] = sum(
                ways * self._ways(blocks[1:], tuple(sorted(a - b for a, b in zip(counts, filled, strict=True))))
                for filled, ways in self._fillings(blocks[0], counts)
                if self._is_safe(filled)
            )
        return self._known[key]

    def _is_safe(self, filled: Counts) -> bool:
        return self._safe(tuple(sorted((count for count in filled if count), reverse=True)))

    def _fillings(self, size: int, counts: Counts) -> Iterator[tuple[Counts, int]]:
        """How often each value occurs in a block, with the number of arrangements."""
        for filled in _parts(size, counts):
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise TooLarge
            yield filled, math.factorial(size) // math.prod(map(math.factorial, filled))


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
    unsafe = sum(times for split, times in splits if split.all_safe == 0)
    open_ = sum(times for split, times in splits if split.all_safe != 1)
    log = math.fsum(times * math.log(split.all_safe) for split, times in splits if split.all_safe)
    chance = 1.0 if unsafe else -math.expm1(log)
    if not open_:
        return 0.0, []
    found = []
    for split, times in splits:
        others_unsafe = unsafe - (split.all_safe == 0)
        own = math.log(split.all_safe) if split.all_safe else 0.0
        rest = 0.0 if others_unsafe else math.exp(log - own)
        alone = open_ - (split.all_safe != 1) == 0
        found.append((split, list(_of_class(split, times, rest, alone=alone))))
    return chance, found


def _of_class(split: Split, times: int, rest: float, *, alone: bool) -> Iterator[Posterior]:
    """Each block size with each count. `alone`: no other class can make the node unsafe, so `rest` is exactly 1."""
    for block, blocks in Counter(split.blocks).items():
        for count in sorted(set(split.counts)):
            prior = Fraction(count, split.size)
            joint = split.joint(block, count)
            if alone:
                exact = (prior - joint) / (1 - split.all_safe)
                yield Posterior(block, block * blocks * times, prior, float(exact), exact == 1 != prior)
                continue
            posterior = (float(prior) - float(joint) * rest) / (1 - float(split.all_safe) * rest)
            yield Posterior(block, block * blocks * times, prior, min(1.0, max(0.0, posterior)), False)

"""The sizes of the classes of nodes, rolled up in memory, for requirements that sizes decide.

A statement over some thousand classes costs more than sorting their keys does. So once a finer node has few enough
classes, their keys and counts leave the workbench, and all coarser nodes follow from them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.coding import KeyLayout
from sqlaudit.lattices.rollup import Rollup
from sqlaudit.lattices.verdicts import Node

Integers = NDArray[np.int64]

CLASSES = 2**19
"""Largest number of classes of one node that is held in memory."""
_HELD = 2**21
"""Largest number of classes of all nodes together that is held."""
_DRAWN = 2**15
"""Approximate number of classes that are counted first, where one that fails is enough."""
_WORD = 64
"""Bits of a number that holds a key and its size, the sign included."""
_DENSE = 4
"""Possible keys for each class up to which sizes are added up by key in an array, without sorting."""
_MIXED = np.int64(-7046029254386353131)
"""An odd number that mixes the words of a key into one."""


@dataclass(frozen=True, eq=False)
class KeyedSizes:
    """The classes of a node: the words of their keys, and how many rows each has."""

    words: tuple[Integers, ...]
    sizes: Integers

    def roll_up(self, masks: tuple[int, ...]) -> KeyedSizes:
        """Return the classes of a coarser node, which keeps the bits of the masks.

        Example:
            >>> KeyedSizes((np.array([5, 4, 1]),), np.array([2, 3, 4])).roll_up((4,)).sizes.tolist()
            [4, 5]
        """
        fields = [(place, *field) for place, mask in enumerate(masks) for field in _find_fields(mask)]
        bits, size_bits = sum(width for _, _, width in fields), int(self.sizes.max()).bit_length()
        if bits + size_bits >= _WORD:
            return self._roll_up_wide(masks)
        keys: Integers = np.zeros(len(self.sizes), dtype=np.int64)
        for place, low, width in fields:
            keys = keys << width | self.words[place] >> low & (1 << width) - 1
        if 1 << bits <= _DENSE * len(keys):
            counts = np.bincount(keys, weights=self.sizes)  # whole numbers below 2**53, so that no row is lost
            keys = np.flatnonzero(counts)
            sizes = counts[keys].astype(np.int64)
        else:
            # sorting keys together with their sizes takes a third of the time of sorting places by keys
            packed: NDArray[Any] = keys << size_bits | self.sizes
            packed = np.sort(packed.astype(np.uint32) if bits + size_bits <= 32 else packed)
            ordered = packed >> size_bits
            starts = _find_starts([ordered])
            sizes = np.add.reduceat((packed & (1 << size_bits) - 1).astype(np.int64), starts)
            keys = ordered[starts].astype(np.int64)
        words = [np.zeros(len(keys), dtype=np.int64) for _ in masks]
        for place, low, width in reversed(fields):
            words[place] |= (keys & (1 << width) - 1) << low
            keys = keys >> width
        return KeyedSizes(tuple(words), sizes)

    def _roll_up_wide(self, masks: tuple[int, ...]) -> KeyedSizes:
        """Do as `roll_up` does where keys and sizes do not fit side by side into a word."""
        words = [word & mask for word, mask in zip(self.words, masks, strict=True)]
        mixed = words[0]
        for word in words[1:]:
            mixed = mixed * _MIXED + word
        order = np.argsort(mixed)
        starts = _find_starts([word[order] for word in words])
        # different keys may be mixed into one number: then the words decide
        if len(words) > 1 and len(_find_starts([mixed[order]])) < len(starts):
            order = np.lexsort(words)
            starts = _find_starts([word[order] for word in words])
        first = order[starts]
        return KeyedSizes(tuple(word[first] for word in words), np.add.reduceat(self.sizes[order], starts))


def _find_fields(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of bits that are set: the lowest place and the width of each.

    Example:
        >>> list(_find_fields(0b11011))
        [(0, 2), (3, 2)]
    """
    low = 0
    while mask:
        skipped = (mask & -mask).bit_length() - 1
        mask >>= skipped
        width = (~mask & mask + 1).bit_length() - 1
        yield low + skipped, width
        mask >>= width
        low += skipped + width


def _find_starts(words: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Return the places in sorted keys at which another key begins."""
    differs = np.ones(len(words[0]), dtype=np.bool_)
    differs[1:] = np.logical_or.reduce([word[1:] != word[:-1] for word in words])
    return np.flatnonzero(differs)


class NodeSizes:
    """The classes of nodes that are within reach, each rolled up from the smallest finer node that is held.

    Args:
        rollup: groups nodes on the workbench.
        layout: the columns' places in the key.
    """

    def __init__(self, rollup: Rollup, layout: KeyLayout) -> None:
        self._rollup, self._layout = rollup, layout
        self._held: list[KeyedSizes] = []
        self._nodes = np.zeros((0, len(layout.columns)), dtype=np.int64)
        self._classes: Integers = np.zeros(0, dtype=np.int64)

    def of(self, node: Node) -> Integers | None:
        """Return the sizes of a node's classes; None when every finer node that is grouped has too many."""
        places = np.flatnonzero((self._nodes <= node).all(axis=1))
        if len(places):
            finer = self._held[int(places[np.argmin(self._classes[places])])]
        else:
            grouped = self._rollup.smallest(node)
            if grouped.rows > CLASSES:
                return None
            finer = self._hold(grouped.nodes[0], KeyedSizes(*self._rollup.read(grouped)))
        classes = finer.roll_up(self._layout.masks(node))
        if 2 * len(classes.sizes) <= len(finer.sizes):
            self._hold(node, classes)
        return classes.sizes

    def of_some(self, node: Node) -> Integers | None:
        """Return the sizes of some of a node's classes, each counted in full; None if they are no fewer than all."""
        drawn = self._rollup.read_some(node, _DRAWN)
        if drawn is None:
            return None
        _, sizes = drawn
        return sizes if len(sizes) else None

    def _hold(self, node: Node, classes: KeyedSizes) -> KeyedSizes:
        """Hold a node for later, and drop the ones held longest when there are too many classes."""
        counts = np.append(self._classes, len(classes.sizes))
        dropped = int(np.count_nonzero(np.cumsum(counts[::-1]) > _HELD))
        self._classes, self._nodes = counts[dropped:], np.concatenate([self._nodes, [node]])[dropped:]
        self._held = [*self._held[dropped:], classes]
        return classes

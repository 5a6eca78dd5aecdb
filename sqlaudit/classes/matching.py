"""What patterns of codes match where a missing value matches any value, counted with bitmaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.integer[Any]]"
Cells: TypeAlias = "tuple[Integers, Integers, Integers]"
"""The pattern, the lane and the count of each cell: the number of rows with this pattern and sensitive value."""

_BLOCK_PAIRS = 1 << 23
"""Pairs of a pattern and a bit that are compared at once. Fewer cost more calls, more cost needless comparisons."""
_BATCH_CELLS = 2_000_000
_POWER_BITS = 6


def match_patterns(codes: Sequence[Integers], cells: Cells, watch: Callable[[], None]) -> Iterator[Cells]:
    """Yield what patterns match, as one cell for each lane, for some patterns at a time.

    A cell has one bit for each power of two in its count. The sorted patterns are halved until the bits that can match
    a block of them are few: those whose codes, column by column, are missing or in the range of the block. Within a
    block the other columns are compared as bitmaps.

    Args:
        codes: the codes of each cell, an array for each column; 0 is a missing value.
        cells: the cells of all rows.
        watch: called for each block; it raises to end the work.
    """
    patterns, lanes, counts = cells
    narrow = [column.astype(np.min_scalar_type(column.max(initial=0))) for column in codes]
    narrow.sort(key=lambda column: np.count_nonzero(column == 0))  # few bits are left after a column without NULLs
    first_cells = np.unique(patterns, return_index=True)[1]
    order = first_cells[np.lexsort([column[first_cells] for column in narrow[::-1]])]
    powers = [np.flatnonzero(counts >> power & 1) for power in range(int(counts.max(initial=0)).bit_length())]
    groups = np.concatenate([lanes[some] << _POWER_BITS | power for power, some in enumerate(powers)])
    by_group = np.argsort(groups, kind="stable")
    groups, bit_cells = groups[by_group], np.concatenate(powers)[by_group]
    columns = [(column[order], column[bit_cells]) for column in narrow]
    blocks = [(0, len(order), np.arange(len(groups), dtype=np.int32), 0)]
    batch: list[Cells] = []
    room = _BATCH_CELLS
    while blocks:
        begin, end, bits, depth = blocks.pop()
        if depth == len(columns) or (end - begin) * len(bits) <= _BLOCK_PAIRS:
            watch()
            compared = [(own[begin:end], theirs[bits]) for own, theirs in columns[depth:]]
            matching, matched_lanes, sums = _match_block(end - begin, compared, groups[bits])
            batch.append((patterns[order[begin + matching]], matched_lanes, sums))
            room -= len(sums)
            if not blocks or room < 0:
                yield tuple(np.concatenate(arrays) for arrays in zip(*batch, strict=True))  # type: ignore[misc]
                batch, room = [], _BATCH_CELLS
            continue
        block_codes, bit_codes = columns[depth][0][begin:end], columns[depth][1][bits]
        least, largest = block_codes[0], block_codes[-1]
        if least:
            bits = bits[(bit_codes == 0) | (bit_codes >= least) & (bit_codes <= largest)]
        if least == largest:
            blocks.append((begin, end, bits, depth + 1))
            continue
        middle = block_codes[len(block_codes) // 2]
        half = begin + int(np.searchsorted(block_codes, middle, "left" if middle > least else "right"))
        blocks += [(begin, half, bits, depth), (half, end, bits, depth)]


def _match_block(patterns: int, columns: Sequence[tuple[Integers, Integers]], groups: Integers) -> Cells:
    """Return what the patterns of a block match.

    Args:
        patterns: the number of patterns.
        columns: for each column that is compared, the codes of the patterns and those of the bits.
        groups: the lane of each bit with its power of two below, in order.
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(starts, append=len(groups))
    # Each group begins with a word of its own, so that sums over words are sums over groups
    word = 64 if len(groups) >= 64 * len(starts) else 8
    words = -(-sizes // word)
    firsts = np.cumsum(words) - words
    places = np.arange(len(groups)) + np.repeat(word * firsts - starts, sizes)
    layout = np.zeros(word * int(words.sum()), dtype=bool)
    layout[places] = True
    matching = np.tile(np.packbits(layout), (patterns, 1))
    for codes, bit_codes in columns:
        own = np.zeros(len(layout), dtype=bit_codes.dtype)
        own[places] = bit_codes
        values, which = np.unique(codes, return_inverse=True)
        bitmaps = (own == values[:, None]) | (own == 0) | (values == 0)[:, None]
        matching &= np.packbits(bitmaps, axis=1)[which]
    counts = np.add.reduceat(count_bits(matching.view(f"u{word // 8}")), firsts, axis=1, dtype=np.int64)
    lanes, powers = groups[starts] >> _POWER_BITS, groups[starts] & (1 << _POWER_BITS) - 1
    changes = np.flatnonzero(np.diff(lanes, prepend=-1))
    sums = np.add.reduceat(counts << powers, changes, axis=1)
    pattern, lane = np.nonzero(sums)
    return pattern, lanes[changes[lane]], sums[pattern, lane]


def count_bits(words: NDArray[Any]) -> NDArray[Any]:
    """Return the number of ones in each word, also with a numpy before 2.0."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[Any] = np.bitwise_count(words)
    else:
        ones_of_byte = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)
        ones = ones_of_byte[words.view(np.uint8)].reshape(*words.shape, -1).sum(axis=-1)
    return ones

"""Values as path codes: every level of every column is a mask, so that a node of the lattice is GROUP BY (key & mask).

A value's code is its path from the top of the hierarchy down: for each level the number of the label among those under
the same parent. The bits of all columns' paths lie side by side in as few words as hold them. Clearing the bits of the
levels below l leaves the label at level l, whatever the hierarchy looked like: no join is needed any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.lattices.verdicts import Node

WORD = 62
"""Bits of a key word: sums of parts never reach the sign of a BIGINT."""


@dataclass(frozen=True)
class KeyColumn:
    """A quasi-identifier that takes part in the lattice.

    Args:
        column: the column or expression in the audited relation.
        dictionary: its values on the workbench with their labels.
    """

    column: Resolved
    dictionary: Dictionary

    @property
    def height(self) -> int:
        """The highest level, where all values are `*`; 0 when the column is kept as it is."""
        return self.dictionary.hierarchy.height


@dataclass(frozen=True)
class CodePart:
    """The bits of one level of one column: `width` bits from `shift` on in a word."""

    level: int
    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """Its bits set."""
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class CodedColumn:
    """A column with its place in the key.

    Args:
        label: what the user calls it. height: its highest level, 0 when it is kept.
        parts: the bits of each level, coarsest first. codes: on the workbench, the dictionary with k0, k1, …: what a
            value adds to each key word.
    """

    label: str
    height: int
    parts: tuple[CodePart, ...]
    codes: Relation

    def masks(self, level: int, words: int) -> tuple[int, ...]:
        """The bits that remain at a level, in every word."""
        kept = [part for part in self.parts if part.level >= level]
        return tuple(sum(part.mask for part in kept if part.word == word) for word in range(words))


@dataclass(frozen=True)
class KeyLayout:
    """All columns of a lattice with their places in the words of the key."""

    columns: tuple[CodedColumn, ...]
    words: int

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each column."""
        return tuple(column.height for column in self.columns)

    @property
    def key(self) -> list[str]:
        """The names of the key words."""
        return [f"k{word}" for word in range(self.words)]

    def masks(self, node: Node) -> tuple[int, ...]:
        """What a node keeps of every key word."""
        each = [column.masks(level, self.words) for column, level in zip(self.columns, node, strict=True)]
        return tuple(sum(masks[word] for masks in each) for word in range(self.words))

    def check(self, node: Node) -> None:
        """Raise UsageError unless there is such a node; a kept column may be at level 1, left out."""
        if len(node) != len(self.columns):
            raise UsageError(f"A node has one level for each of the {len(self.columns)} columns, not {len(node)}.")
        for column, level in zip(self.columns, node, strict=True):
            if not 0 <= level <= max(1, column.height):
                raise UsageError(f"{column.label} has the levels 0 to {column.height}; there is no level {level}.")


def code_values(workbench: Engine, columns: Sequence[KeyColumn], name: str = "") -> KeyLayout:
    """Path codes for the values of the columns, as relations on the workbench.

    Args:
        workbench: where the dictionaries lie.
        columns: the columns in the order of a node's levels.
        name: tells several codings of one session apart.

    Raises:
        UsageError: a column whose values need more bits than a key word has at one level.
    """
    placed = [_places(workbench, column, f"sqlaudit_places{name}_{i}") for i, column in enumerate(columns)]
    parts = pack([widths for _, widths in placed])
    words = 1 + max((part.word for column in parts for part in column), default=0)
    coded = []
    for i, (column, (places, _)) in enumerate(zip(columns, placed, strict=True)):
        statement = render(
            "lattices/lattice_codes.sql",
            workbench.dialect,
            step="codes of " + column.column.label,
            places=Raw(places.sql),
            names=[info.name for info in column.dictionary.relation.columns],
            height=column.height,
            words=[[(part.level, part.shift) for part in parts[i] if part.word == word] for word in range(words)],
        )
        codes = workbench.materialize(f"sqlaudit_codes{name}_{i}", statement)
        workbench.drop(places.label)
        coded.append(CodedColumn(column.column.label, column.height, tuple(parts[i]), codes))
    return KeyLayout(tuple(coded), words)


def _places(workbench: Engine, column: KeyColumn, name: str) -> tuple[Relation, list[int]]:
    """The dictionary with the number of each label under its parent, and the bits that each level needs."""
    levels = max(1, column.height)
    source = Raw(column.dictionary.relation.sql)
    places = workbench.materialize(
        name,
        render(
            "lattices/lattice_places.sql",
            workbench.dialect,
            step="places of " + column.column.label,
            source=source,
            height=column.height,
        ),
    )
    largest = workbench.run(
        render("lattices/lattice_widths.sql", workbench.dialect, source=Raw(places.sql), levels=levels)
    )[0]
    widths = [int(value or 0).bit_length() for value in largest]
    if max(widths) > WORD:
        raise UsageError(f"{column.column.label} has too many values for a lattice search.")
    return places, widths


def pack(widths: Sequence[Sequence[int]]) -> list[list[CodePart]]:
    """A place for the bits of every level (finest first) of every column.

    A column goes into the first word with room for all of it; one that needs more than a word is spread over several.

    Example:
        >>> [[(part.level, part.word, part.shift) for part in column] for column in pack([[3, 2], [60]])]
        [[(1, 0, 3), (0, 0, 0)], [(0, 1, 0)]]
    """
    used: list[int] = [0]
    placed = []
    for column in widths:
        whole = _first_with_room(used, sum(column)) if sum(column) <= WORD else None
        parts = []
        for level, width in enumerate(column):
            word = _first_with_room(used, width) if whole is None else whole
            parts.append(CodePart(level, word, used[word], width))
            used[word] += width
        placed.append(parts[::-1])
    return placed


def _first_with_room(used: list[int], width: int) -> int:
    """The first word that has so many bits left; a new one when there is none."""
    for word, bits in enumerate(used):
        if bits + width <= WORD:
            return word
    used.append(0)
    return len(used) - 1

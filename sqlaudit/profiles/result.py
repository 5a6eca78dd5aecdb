"""What a profile found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar

from sqlaudit.base.documents import HERE, IF_ANY, LEFT_OUT, OR_NULL, Documented, after, key, shown, told
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import MeasuredResult
from sqlaudit.base.spec import Roles
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.reports.notebook import Shown

NEARLY = 0.9
"""From this share of different values on, a column picks out almost every row on its own."""


class Role(StrEnum):
    """The role that is proposed for a column."""

    DIRECT_IDENTIFIER = "direct_identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


def _seen(shapes: Mapping[str, int]) -> dict[str, int]:
    return {shape: rows for shape, rows in shapes.items() if rows}


@dataclass(frozen=True)
class ColumnFacts(Documented):
    """A column in numbers. No cell value is among them.

    Args:
        name, type, kind: the exact name, the engine's spelling of the type, and what it holds in sqlaudit's words.
        rows, nulls: rows of the table, and how many of them have no value; always exact.
        distinct: different values without NULL; `exact` says whether it was counted or estimated.
        looked_at: how many rows the figures below come from: all of them when `exact`, else a sample.
        filled: rows with a value among those looked at.
        smallest_group, rows_below_5, unique_rows: sizes of the groups of equal values, NULL being one of them; None
            when only a sample was looked at.
        entropy: Shannon entropy of the groups in bits. separation: share of pairs of rows that the column tells apart.
        shortest, mean_length, longest: characters of texts, None for other kinds.
        whole: rows whose number is whole, None unless the kind is float or decimal.
        width: largest minus smallest value of a column of whole numbers.
        respelled: values that differ from another one only in case or spaces (the first of each is not counted).
        shapes: rows by what their text looks like: `email`, `phone`, `iban`, `date`, `free_text` …
    """

    name: str
    type: str
    kind: str
    rows: int = field(metadata=LEFT_OUT)
    nulls: int
    distinct: int
    exact: bool
    looked_at: int
    filled: int = 0
    smallest_group: int | None = None
    rows_below_5: int | None = None
    unique_rows: int | None = None
    entropy: float | None = None
    separation: float | None = None
    shortest: int | None = field(default=None, metadata=LEFT_OUT)
    mean_length: float | None = field(default=None, metadata=LEFT_OUT)
    longest: int | None = field(default=None, metadata=LEFT_OUT)
    whole: int | None = None
    width: float | None = None
    respelled: int = 0
    shapes: Mapping[str, int] = field(default_factory=dict, metadata=shown(_seen))

    @told("separation", key("text"))
    def _text(self) -> dict[str, Any] | None:
        if self.longest is None:
            return None
        return {"shortest": self.shortest, "mean_length": self.mean_length, "longest": self.longest}

    @property
    @told("distinct")
    def distinct_share(self) -> float | None:
        """Different values over rows with a value, None when no row has one."""
        filled = self.rows - self.nulls
        return min(self.distinct / filled, 1.0) if filled else None

    @property
    @told("filled")
    def constant(self) -> bool:
        """Whether every row has the same value, or none."""
        return self.distinct + (self.nulls > 0) <= 1

    @property
    @told("constant")
    def nearly_unique(self) -> bool:
        """Whether the column alone picks out almost every row (of ten or more)."""
        share = self.distinct_share
        return share is not None and share >= NEARLY and self.rows - self.nulls >= 10

    def shape_share(self, *shapes: str) -> float:
        """The share of the rows with a value, as far as looked at, whose text has one of these shapes."""
        return sum(self.shapes.get(shape, 0) for shape in shapes) / self.filled if self.filled else 0.0


@dataclass(frozen=True)
class Proposal(Documented):
    """A role with the reasons for it, the strongest first.

    Args:
        role, reasons: what is proposed, and why.
        concept: what the column seems to be, if anything.
        by_sets: whether only its part in the column sets that pick people out speaks for the role.
    """

    role: Role
    reasons: tuple[str, ...] = field(metadata=after("concept"))
    concept: str | None = field(default=None, metadata=after("role"))
    by_sets: bool = False


@dataclass(frozen=True)
class ShownValues(Documented):
    """Cell values, read only when they were asked for: the ends of the range, and the most frequent with their rows."""

    smallest: Any
    largest: Any
    most_frequent: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class ColumnProfile(Documented):
    """A column: its facts, the role proposed for it, and its values when they were asked for."""

    facts: ColumnFacts = field(metadata=HERE)
    proposal: Proposal = field(metadata=HERE)
    values: ShownValues | None = field(default=None, metadata=IF_ANY)

    @property
    def name(self) -> str:
        """The column's exact name."""
        return self.facts.name

    @property
    def role(self) -> Role:
        """The proposed role."""
        return self.proposal.role


@dataclass(frozen=True)
class Twins(Documented):
    """Two columns that say the same: `equal` when every row has the same value in both, else only renamed values."""

    first: str = field(metadata=LEFT_OUT)
    second: str = field(metadata=LEFT_OUT)
    equal: bool

    @property
    @told("")
    def columns(self) -> tuple[str, str]:
        """The names of both."""
        return self.first, self.second


def _together(found: ColumnSets | None) -> dict[str, Any] | None:
    """Of a search what a profile tells: its sets, and how far they can be relied on."""
    kept = ("columns", "k", "tolerance", "max_size", "sets", "sets_found", "complete", "decided_size", "repair")
    whole = found.to_dict() if found else None
    return whole and {name: whole[name] for name in kept}


@dataclass(frozen=True)
class CountTable(Documented):
    """A table whose rows look like cells.

    Args:
        by: what it is broken down by. count: the column of counts.
    """

    by: tuple[str, ...]
    count: str


@dataclass(frozen=True)
class ProposedEntity(Documented):
    """The column that seems to say which person a row is about, where persons have several rows.

    Args:
        column: its name. reason: why it is thought to.
    """

    column: str
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False)
class ProfileResult(MeasuredResult, Shown):
    """What a profile found.

    Args:
        target, rows, engine, time: what was looked at, with what, and when.
        columns: sorted by proposed role, the most identifying first.
        twins: columns that say the same.
        together: minimal column sets that pick people out, small sets first; None when they were not searched.
        not_searched: the sentence why they were not; empty when they were, or nobody asked.
        cells: what each row seems to be a cell of, None where rows are no cells.
        entity: what seems to say which person a row is about, None where persons do not seem to have several rows.
        statements: what ran in the database. versions: of sqlaudit and the engine.
        unreadable: columns of the table that the role may not read; nothing is said of them.
    """

    schema: ClassVar = "sqlaudit-profile/1"
    shown_by: ClassVar = "sqlaudit.profiles.report:profile_document"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    columns: tuple[ColumnProfile, ...]
    unreadable: tuple[str, ...] = ()
    twins: tuple[Twins, ...] = ()
    together: ColumnSets | None = field(default=None, metadata=shown(_together))
    not_searched: str = field(default="", metadata=OR_NULL)
    cells: CountTable | None = field(default=None, metadata=IF_ANY)
    entity: ProposedEntity | None = field(default=None, metadata=IF_ANY)

    def named(self, role: Role | str) -> tuple[str, ...]:
        """The columns for which a role is proposed (`Role.SENSITIVE`, or its text `sensitive`)."""
        return tuple(column.name for column in self.columns if column.role == role)

    def column(self, name: str) -> ColumnProfile:
        """The column of exactly that name.

        Raises:
            KeyError: there is none.
        """
        return {column.name: column for column in self.columns}[name]

    @property
    def roles(self) -> Roles:
        """The proposed roles, in the form an audit takes them."""
        return Roles(self.named(Role.QUASI_IDENTIFIER), self.named(Role.SENSITIVE), self.named(Role.DIRECT_IDENTIFIER))

    @property
    def candidates(self) -> tuple[str, ...]:
        """The columns worth searching for identifying sets: all but direct identifiers and constant columns."""
        return tuple(
            column.name
            for column in self.columns
            if column.role is not Role.DIRECT_IDENTIFIER and not column.facts.constant
        )

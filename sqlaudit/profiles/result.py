"""What a profile found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from sqlaudit.base.result import Timing, plain
from sqlaudit.base.spec import Roles
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-profile/1"
NEARLY = 0.9
"""From this share of different values on, a column picks out almost every row on its own."""


class Role(StrEnum):
    """The role that is proposed for a column."""

    DIRECT_IDENTIFIER = "direct_identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


@dataclass(frozen=True)
class ColumnFacts:
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
    rows: int
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
    shortest: int | None = None
    mean_length: float | None = None
    longest: int | None = None
    whole: int | None = None
    width: float | None = None
    respelled: int = 0
    shapes: Mapping[str, int] = field(default_factory=dict)

    @property
    def distinct_share(self) -> float | None:
        """Different values over rows with a value, None when no row has one."""
        filled = self.rows - self.nulls
        return min(self.distinct / filled, 1.0) if filled else None

    @property
    def constant(self) -> bool:
        """Whether every row has the same value, or none."""
        return self.distinct + (self.nulls > 0) <= 1

    @property
    def nearly_unique(self) -> bool:
        """Whether the column alone picks out almost every row (of ten or more)."""
        share = self.distinct_share
        return share is not None and share >= NEARLY and self.rows - self.nulls >= 10

    def shape_share(self, *shapes: str) -> float:
        """The share of the rows with a value, as far as looked at, whose text has one of these shapes."""
        return sum(self.shapes.get(shape, 0) for shape in shapes) / self.filled if self.filled else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The facts as the JSON schema has them."""
        text = None
        if self.longest is not None:
            text = {"shortest": self.shortest, "mean_length": self.mean_length, "longest": self.longest}
        return {
            "name": self.name,
            "type": self.type,
            "kind": self.kind,
            "nulls": self.nulls,
            "distinct": self.distinct,
            "distinct_share": self.distinct_share,
            "exact": self.exact,
            "looked_at": self.looked_at,
            "filled": self.filled,
            "constant": self.constant,
            "nearly_unique": self.nearly_unique,
            "smallest_group": self.smallest_group,
            "rows_below_5": self.rows_below_5,
            "unique_rows": self.unique_rows,
            "entropy": plain(self.entropy),
            "separation": plain(self.separation),
            "text": text,
            "whole": self.whole,
            "width": plain(self.width),
            "respelled": self.respelled,
            "shapes": {shape: rows for shape, rows in self.shapes.items() if rows},
        }


@dataclass(frozen=True)
class Proposal:
    """A role with the reasons for it, the strongest first.

    Args:
        role, reasons: what is proposed, and why.
        concept: what the column seems to be, if anything.
        by_sets: whether only its part in the column sets that pick people out speaks for the role.
    """

    role: Role
    reasons: tuple[str, ...]
    concept: str | None = None
    by_sets: bool = False


@dataclass(frozen=True)
class ShownValues:
    """Cell values, read only when they were asked for: the ends of the range, and the most frequent with their rows."""

    smallest: Any
    largest: Any
    most_frequent: tuple[tuple[Any, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """The values as the JSON schema has them."""
        return {
            "smallest": plain(self.smallest),
            "largest": plain(self.largest),
            "most_frequent": [[plain(value), rows] for value, rows in self.most_frequent],
        }


@dataclass(frozen=True)
class ColumnProfile:
    """A column: its facts, the role proposed for it, and its values when they were asked for."""

    facts: ColumnFacts
    proposal: Proposal
    values: ShownValues | None = None

    @property
    def name(self) -> str:
        """The column's exact name."""
        return self.facts.name

    @property
    def role(self) -> Role:
        """The proposed role."""
        return self.proposal.role

    def to_dict(self) -> dict[str, Any]:
        """The column as the JSON schema has it."""
        out = self.facts.to_dict() | {
            "role": self.role.value,
            "concept": self.proposal.concept,
            "reasons": list(self.proposal.reasons),
            "by_sets": self.proposal.by_sets,
        }
        if self.values is not None:
            out["values"] = self.values.to_dict()
        return out


@dataclass(frozen=True)
class Twins:
    """Two columns that say the same: `equal` when every row has the same value in both, else only renamed values."""

    first: str
    second: str
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        """The pair as the JSON schema has it."""
        return {"columns": [self.first, self.second], "equal": self.equal}


@dataclass(frozen=True)
class ProfileResult(Shown):
    """What a profile found.

    Args:
        target, rows, engine, time: what was looked at, with what, and when.
        columns: sorted by proposed role, the most identifying first.
        twins: columns that say the same.
        together: minimal column sets that pick people out, small sets first; None when they were not searched.
        not_searched: the sentence why they were not; empty when they were, or nobody asked.
        statements: what ran in the database. versions: of sqlaudit and the engine.
        unreadable: columns of the table that the role may not read; nothing is said of them.
    """

    shown_by: ClassVar = "sqlaudit.profiles.report:profile_document"

    target: str
    rows: int
    engine: str
    time: str
    columns: tuple[ColumnProfile, ...]
    twins: tuple[Twins, ...] = ()
    together: ColumnSets | None = None
    not_searched: str = ""
    statements: tuple[Timing, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""
    unreadable: tuple[str, ...] = ()

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

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/profiles/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "engine": self.engine},
            "columns": [column.to_dict() for column in self.columns],
            "unreadable": list(self.unreadable),
            "twins": [pair.to_dict() for pair in self.twins],
            "together": _together(self.together) if self.together else None,
            "not_searched": self.not_searched or None,
            "statements": [timing.to_dict() for timing in self.statements],
        }


def _together(found: ColumnSets) -> dict[str, Any]:
    """Of a search what a profile tells: its sets, and how far they can be relied on."""
    kept = ("columns", "k", "tolerance", "max_size", "sets", "sets_found", "complete", "decided_size", "repair")
    whole = found.to_dict()
    return {key: whole[key] for key in kept}

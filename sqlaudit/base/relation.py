"""Relations, which can be in a FROM clause, their columns, and statements over them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlaudit.base.frozen import dataclass

Row = tuple[Any, ...]


class Kind(StrEnum):
    """The kind of a column's values, with the same words on all engines."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIME = "time"
    OTHER = "other"

    @property
    def has_natural_order(self) -> bool:
        """True for kinds whose values have an order that everybody agrees on."""
        return self not in (Kind.TEXT, Kind.OTHER)


NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
DATES = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a relation.

    Args:
        name: its exact name. type: the engine's spelling of its type. kind: the kind of its values.
        label: what the file calls it beside its name (the variable label of SPSS, Stata, SAS); empty = nothing.
    """

    name: str
    type: str
    kind: Kind
    label: str = ""


@dataclass(frozen=True)
class Remark:
    """A note for readers of results on how a relation was opened: a stable code, and a sentence without values."""

    code: str
    text: str


@dataclass(frozen=True)
class MissingCodes:
    """A column with codes for missing values, which are values of their own only in quasi-identifiers.

    Args:
        column: its name. sql: an expression over the relation's columns in which the codes are NULL. type, kind: those
            of the expression, as in `ColumnInfo`.
    """

    column: str
    sql: str
    type: str
    kind: Kind


@dataclass(frozen=True)
class Relation:
    """An item of a FROM clause, with its columns.

    Args:
        sql: the FROM item in the engine's dialect: a quoted name, or a parenthesized SELECT. Contains no row.
        columns: its columns in order.
        label: its name in reports.
        tables: the tables or files that are read, for `--dry-run` and reports.
        parsed: True if each reading parses text again (CSV, JSON), so that several readings should share a copy.
        unreadable: columns of the table that this role may not read and that are left out.
        remarks: notes for readers of results on how it was opened: its condition, a header that was guessed.
        respelled: columns whose equal values may be written differently (a collation, a type of an extension), and that
            are read as one text for all values that are equal.
        written: for text files, a FROM item with the same columns in which numbers are the texts of the file.
        bucket: the column of buckets, if these are the values of a bucketized release in two tables; else empty.
        missing: its columns with codes for missing values.
        sampled: True if the types of columns that the target does not name come from a sample of a text file.
    """

    sql: str
    columns: tuple[ColumnInfo, ...]
    label: str
    tables: tuple[str, ...] = ()
    parsed: bool = False
    unreadable: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    respelled: tuple[str, ...] = ()
    bucket: str = ""
    missing: tuple[MissingCodes, ...] = ()
    written: str = ""
    sampled: bool = False


@dataclass(frozen=True)
class Statement:
    """One rendered SQL statement in the engine's dialect, with the name of the step it belongs to."""

    name: str
    sql: str

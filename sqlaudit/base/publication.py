"""The destination of a release, which lattices and remedies check before any work."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import BOM, DATABASE, ROW_SUFFIXES, check_destination
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FILE, FLAG, NAMES, VIEW, option
from sqlaudit.base.parameter_names import spelled

RELEASE_SUFFIXES = (*ROW_SUFFIXES, ".sql")
"""The endings of files that a release is written to."""
TABLE = "table:"
"""What is before the name of a table that a release becomes, in the place of a file."""
RELEASE = "Release"
"""The section of the help page."""


BYTE_ORDER_MARK = "Begin .csv files with a byte order mark (UTF-8), by which Excel knows their encoding."


def check_file(path: Path, suffixes: Sequence[str] = ROW_SUFFIXES, *, bom: bool = False) -> None:
    """Raise an error if a file of rows cannot be written, as far as that is known before any work.

    Args:
        path: the file. suffixes: the endings that it may have. bom: True for a CSV file with a byte order mark.

    Raises:
        UsageError: another ending, no permission, or a mark for a file that has none. MissingDriver: a package of its
            format is missing.
    """
    check_destination(path, suffixes)
    suffix = path.suffix.lower()
    if bom and suffix != ".csv":
        raise UsageError(f"{spelled('bom', True)} applies to .csv files only, and {str(path)!r} is not one.")
    if suffix not in (".csv", ".parquet", ".sql", DATABASE):
        from sqlaudit.base.office_files import check_packages

        check_packages(path)


class Suppressed(StrEnum):
    """The treatment of suppressed rows in a release: leave them out, or make all their quasi-identifiers `*`."""

    DROP = "drop"
    STAR = "star"


@dataclass(frozen=True)
class Publication:
    """The destination of a release.

    Args:
        with_sql: True to print its SELECT.
        file: a .parquet, .csv, .xlsx, .sav or .dta file for its rows, or a .sql file for its SELECT, or `table:` and
            the name of a table; None = none.
        bom: True to begin a CSV file with a byte order mark.
        keep: columns that are written although they look like direct identifiers.
    """

    suffixes: ClassVar[tuple[str, ...]] = RELEASE_SUFFIXES
    """The endings of files that it is written to."""
    with_sql: bool = option(False, FLAG, "Print the SELECT that makes the release.", RELEASE, name="publish_sql")
    file: Path | None = option(
        None,
        FILE,
        "Write the release to a .parquet, .csv, .xlsx, .sav or .dta file, its SELECT to a .sql file, or make it a "
        "table: table:NAME.",
        RELEASE,
        name="to",
        metavar="FILE",
        writes=True,
    )
    bom: bool = option(False, FLAG, BYTE_ORDER_MARK, RELEASE)
    keep: tuple[str, ...] = option(
        (),
        NAMES,
        "Columns to write although they look like direct identifiers.",
        RELEASE,
        name="keep_column",
        metavar="COLUMNS",
    )

    @property
    def encoding(self) -> str:
        """The encoding of CSV files."""
        return BOM if self.bom else "utf-8"

    @property
    def wanted(self) -> bool:
        """True if anything is published."""
        return self.is_sql or self.file is not None

    @property
    def table(self) -> str:
        """The name of the table that the release becomes; empty = none."""
        text = str(self.file or "")
        return text.removeprefix(TABLE) if text.startswith(TABLE) else ""

    @property
    def only_sql(self) -> bool:
        """True if the file gets the SELECT."""
        return self.file is not None and not self.table and self.file.suffix.lower() == ".sql"

    @property
    def is_sql(self) -> bool:
        """True if a SELECT is made for others, so that the table must mean the same outside of this session."""
        return self.with_sql or self.only_sql or bool(self.table)

    def check(self) -> None:
        """Raise UsageError if the file cannot be written, as far as that is known before any work.

        Raises:
            UsageError: the file cannot be written.
        """
        if self.file is not None and not self.table:
            check_file(self.file, self.suffixes, bom=self.bom)
        elif self.bom:
            raise UsageError(f"{spelled('bom', True)} needs a .csv file: {spelled('to', 'release.csv')}.")


@dataclass(frozen=True)
class TablePublication(Publication):
    """The destination of a release that may become a table of the database.

    Args:
        execute: True to make it there; False to print the statement.
    """

    execute: bool = option(
        False, FLAG, "Make that table (or view) in the database. Nothing else is written there.", RELEASE
    )

    @property
    def created(self) -> str:
        """The name of what is made in the database; empty = nothing."""
        return self.table

    def check(self) -> None:
        """Raise UsageError if the release cannot be written, as far as that is known before any work."""
        super().check()
        if self.execute and not self.created:
            raise UsageError(f"{spelled('execute', True)} needs the name of a table: {spelled('to', 'table:NAME')}.")


@dataclass(frozen=True)
class ViewPublication(TablePublication):
    """The destination of a release that may become a view of the database.

    Args:
        view: the view to make, empty = none. replace: whether to replace a view of that name.

    Raises:
        UsageError: a combination that is not defined.
    """

    view: str = option("", VIEW, "Print the CREATE VIEW of the release.", RELEASE, name="publish_view")
    replace: bool = option(
        False, FLAG, "Replace an existing view of that name.", RELEASE, name="replace_view", flags=("--replace",)
    )

    def __post_init__(self) -> None:
        if self.view and self.file is not None:
            raise UsageError(f"{spelled('publish_view')} and {spelled('to')} exclude each other: give one of them.")
        if self.execute and not self.created:
            raise UsageError(
                f"{spelled('execute', True)} needs a view or table. Name it with {spelled('publish_view')} or "
                f"{spelled('to', 'table:NAME')}."
            )
        if self.replace and not (self.execute and self.view):
            raise UsageError(
                f"{spelled('replace_view', True)} needs {spelled('execute', True)} and {spelled('publish_view')}."
            )

    @property
    def created(self) -> str:
        """The name of what is made in the database; empty = nothing."""
        return self.view or self.table

    @property
    def is_sql(self) -> bool:
        """True if it is SQL that others run, so that the table's name must work outside of this session."""
        return bool(self.view) or super().is_sql


@dataclass(frozen=True)
class BucketPublication(TablePublication):
    """The destination of a release that may be published in buckets: a table of persons, and one of values.

    Args:
        buckets: the file of the values; `file` then gets the persons. original_qi: True if persons keep their original
            quasi-identifiers, which the guarantee of a bucket allows.
    """

    buckets: Path | None = option(
        None,
        FILE,
        "Publish in buckets: --to gets the people, this file the values of their buckets.",
        RELEASE,
        name="buckets_to",
        metavar="FILE",
        writes=True,
    )
    original_qi: bool = option(False, FLAG, "With --buckets-to: keep the original quasi-identifiers.", RELEASE)

    def check(self) -> None:
        """Raise UsageError if the file cannot be written, or a release in buckets does not have two files for rows.

        Raises:
            UsageError: a file cannot be written, or is missing.
        """
        super().check()
        if self.buckets is None:
            if self.original_qi:
                raise UsageError(
                    f"{spelled('original_qi', True)} applies to a release in buckets: add {spelled('buckets_to')}."
                )
            return
        check_file(self.buckets, bom=self.bom)
        if self.file is None or self.is_sql:
            raise UsageError(
                f"{spelled('buckets_to')} also needs {spelled('to')}, a file for the rows of people. A SELECT is not "
                "possible."
            )
        if self.buckets.absolute() == self.file.absolute():
            raise UsageError(f"{spelled('buckets_to')} and {spelled('to')} name the same file. Give each its own.")


NOTHING = BucketPublication()
"""Nothing is published."""

"""Where a release goes: what lattices and remedies are told of it before any work."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from sqlaudit.base.files import check_destination
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FILE, FLAG, NAMES, option

RELEASE_SUFFIXES = (".parquet", ".csv", ".sql")
"""The endings of files that a release is written to."""
RELEASE = "The release"
"""The section of the help page."""


class Suppressed(StrEnum):
    """What a release does with suppressed rows: leave them out, or make all their quasi-identifiers `*`."""

    DROP = "drop"
    STAR = "star"


@dataclass(frozen=True)
class Publication:
    """What becomes of a release.

    Args:
        with_sql: its SELECT is told.
        file: a .parquet or .csv file for its rows, or a .sql file for its SELECT; None = none.
        keep: columns that are written though they look like direct identifiers.
    """

    with_sql: bool = option(False, FLAG, "Print the SELECT that makes the release.", RELEASE, name="publish_sql")
    file: Path | None = option(
        None,
        FILE,
        "Write the release to a .parquet or .csv file, or its SELECT to a .sql file.",
        RELEASE,
        name="to",
        metavar="FILE",
    )
    keep: tuple[str, ...] = option(
        (),
        NAMES,
        "Columns that are written though they look like direct identifiers.",
        RELEASE,
        name="keep_column",
        metavar="COLUMNS",
    )

    @property
    def wanted(self) -> bool:
        """Whether anything is published."""
        return self.is_sql or self.file is not None

    @property
    def only_sql(self) -> bool:
        """Whether the file takes the SELECT."""
        return self.file is not None and self.file.suffix.lower() == ".sql"

    @property
    def is_sql(self) -> bool:
        """Whether a SELECT is made for others, so that the table must mean the same outside of this session."""
        return self.with_sql or self.only_sql

    def check(self) -> None:
        """Nothing when the file can be written, as far as that can be said before any work.

        Raises:
            UsageError: it cannot.
        """
        if self.file is not None:
            check_destination(self.file, RELEASE_SUFFIXES)


NOTHING = Publication()
"""Nothing is published."""

"""Tables with a verdict that can be defended before a review board, and how sqlaudit answers them."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.runner import Ran, run

Columns = Mapping[str, Sequence[object]]
"""The columns of a table: each with its cells, None for a missing value."""


@dataclass(frozen=True)
class HonestTable:
    """A table in code, the command that an honest user types, and the verdict that can be defended.

    Args:
        name: says what is in the table; unique among all honest tables.
        defence: one sentence for the review board: why the verdict is right.
        command: what is typed after `sqlaudit`, quoted as in a shell; "{t}" stands for the table's file, "{NAME}" for
            the further file of that name.
        columns: the cells, written as `t.csv`. Empty if `write` makes the files.
        further: further tables by name: each is written as a CSV file of that name.
        write: writes other files into the folder (Excel, Parquet, …) and returns them by name.
        code: the exit code that can be defended: 0 for a PASS, 1 for an honest FAIL.
        refused_because: why sqlaudit still refuses this table. Such tables are counted.
        settled_by: the option, with its value, that settles a refused table: the refusal names the option, and with it
            the answer is the verdict that can be defended.
    """

    name: str
    defence: str
    command: str
    columns: Columns = field(default_factory=dict)
    further: Mapping[str, Columns] = field(default_factory=dict)
    write: Callable[[Path], Mapping[str, Path]] | None = None
    code: int = 0
    refused_because: str = ""
    settled_by: str = ""

    def answer(self, folder: Path, more: str = "") -> Ran:
        """Write the files, run the command, and return its output and exit code; `more` is typed at its end."""
        files = {name: write_columns(folder / f"{name}.csv", cells) for name, cells in self.further.items()}
        if self.columns:
            files["t"] = write_columns(folder / "t.csv", self.columns)
        if self.write:
            files |= self.write(folder)
        arguments = shlex.split(f"{self.command} {more}")
        for name, file in files.items():
            arguments = [argument.replace(f"{{{name}}}", str(file)) for argument in arguments]
        return run(*arguments)

    def is_refused(self, answer: Ran) -> bool:
        """Return True if the answer is not the verdict that can be defended."""
        return answer.code != self.code


def write_columns(file: Path, columns: Columns) -> Path:
    """Write the columns as a CSV file; a missing value is an empty field."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if cell is None else cell for cell in row])
    return file

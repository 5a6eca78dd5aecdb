"""A hierarchy of the values that occur as a CSV file, as ARX reads and writes it."""

from __future__ import annotations

import csv
from pathlib import Path

from sqlaudit.base.csv_cells import label_cell
from sqlaudit.base.files import check_destination, replacing
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import Dictionary

BATCH = 20_000


def write_csv(made: Dictionary, workbench: Engine, path: Path) -> int:
    """Write `value;level1;…;*`, one line a value that occurs, in the values' order; returns how many lines.

    NULL has a line, with an empty first field, only when it has labels of its own below the top: without one it stays
    NULL there. The empty text is spelled the same way, so when both have labels the empty text's line is left out.

    What a spreadsheet would run as a formula gets an apostrophe in front, which reading the file takes away again.

    Raises:
        UsageError: the file cannot be written.
    """
    check_destination(path, (".csv",))
    statement = render(
        "hierarchies/hierarchy_lines.sql",
        workbench.dialect,
        source=Raw(made.relation.sql),
        height=made.hierarchy.height,
    )
    written = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        for batch in workbench.stream(statement, BATCH):
            writer.writerows([label_cell(text) for text in row] for row in batch)
            written += len(batch)
    return written

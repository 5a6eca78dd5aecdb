"""What ACRO finds unsafe in cross tables: a program of its own environment, which `aggregates.py` calls.

    python -m venv acro && acro/bin/pip install acro
    acro/bin/python benchmarks/acro_tables.py < tables.json

Reads a list of tables, each a list of [row, column, value]; prints for each its cells with what ACRO says of them, at
its own limits: fewer than 10 records, two with more than 90 percent, p below 10 percent.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile

import pandas as pd
from acro import ACRO  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    """Read tables, print what is said of their cells."""
    tables = json.load(sys.stdin)
    os.chdir(tempfile.mkdtemp())  # ACRO writes its outputs where it runs
    said = []
    with contextlib.redirect_stdout(sys.stderr):
        judge = ACRO(suppress=False)
        for number, rows in enumerate(tables):
            frame = pd.DataFrame(rows, columns=["row", "column", "value"])
            judge.crosstab(frame["row"], frame["column"], values=frame["value"], aggfunc="sum")
            outcome = judge.results.get_index(number).outcome
            said.append([[row, column, str(text)] for (row, column), text in outcome.stack().items()])
    print(json.dumps(said))


if __name__ == "__main__":
    main()

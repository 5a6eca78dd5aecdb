"""Print how many honest tables are refused, and which: python -m tests.honest [WORD…]

Words select the tables whose names contain one of them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.honest.tables import honest_tables


def main(words: list[str]) -> None:
    """Print each refused table with its exit code, and the share of all."""
    tables = [table for table in honest_tables() if not words or any(word in table.name for word in words)]
    refused = 0
    for table in tables:
        with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
            answer = table.answer(Path(folder))
        if table.is_refused(answer):
            refused += 1
            print(f"exit code {answer.code}, defended {table.code}: {table.name}")
    print(f"{refused} of {len(tables)} honest tables are refused ({100 * refused / max(1, len(tables)):.1f}%)")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Turn the statements of `sqlaudit compile --returns failing-rows` into audits, one per table.

A model names one audit, `privacy_of_<its table>`, so a new requirement in the policy changes no model.

    python make_audits.py statements audits/privacy.sql
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path


def audits(folder: Path) -> str:
    """The audits of all tables. A row names a test that does not pass, and whether it fails or is undecided."""
    of_tables = defaultdict(list)
    for path in sorted(folder.glob("*.sql")):
        table, _, test = path.stem.rpartition("__")[0].partition("__")
        statement = path.read_text(encoding="utf-8").rstrip().removesuffix(";")
        if "@" in statement:
            raise SystemExit(f"{path}: SQLMesh reads the @ in it as a macro. Rename the column.")
        of_tables[table].append(f"SELECT '{test}' AS test, verdict FROM (\n{statement}\n) AS answered")
    if not of_tables:
        raise SystemExit(f"{folder} contains no statement. Run `sqlaudit compile` first; see README.md.")
    return "\n".join(
        f"AUDIT (name privacy_of_{table}, dialect duckdb);\n" + "\nUNION ALL\n".join(selects) + ";\n"
        for table, selects in of_tables.items()
    )


if __name__ == "__main__":
    target = Path(sys.argv[2])
    target.parent.mkdir(exist_ok=True)
    target.write_text(audits(Path(sys.argv[1])), encoding="utf-8")

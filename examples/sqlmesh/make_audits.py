"""Put the statements that `sqlaudit compile --returns failing-rows` wrote into audits, one for each table.

A model then names one audit, `privacy_of_<its table>`, and a new requirement of the policy changes no model.

    python make_audits.py statements audits/privacy.sql
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path


def audits(folder: Path) -> str:
    """The audits of all tables; a row of one says which test does not pass, and whether it fails or is undecided."""
    of_tables = defaultdict(list)
    for path in sorted(folder.glob("*.sql")):
        table, _, test = path.stem.rpartition("__")[0].partition("__")
        statement = path.read_text(encoding="utf-8").rstrip().removesuffix(";")
        if "@" in statement:
            raise SystemExit(f"{path}: SQLMesh would read the @ in it as a macro; give the column another name.")
        of_tables[table].append(f"SELECT '{test}' AS test, verdict FROM (\n{statement}\n) AS answered")
    if not of_tables:
        raise SystemExit(f"There is no statement in {folder}: run `sqlaudit compile`, as the README says.")
    return "\n".join(
        f"AUDIT (name privacy_of_{table}, dialect duckdb);\n" + "\nUNION ALL\n".join(selects) + ";\n"
        for table, selects in of_tables.items()
    )


if __name__ == "__main__":
    target = Path(sys.argv[2])
    target.parent.mkdir(exist_ok=True)
    target.write_text(audits(Path(sys.argv[1])), encoding="utf-8")

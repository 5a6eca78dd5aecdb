"""Turn the statements of `sqlaudit compile --returns failing-rows` into Soda checks.

python make_checks.py statements checks.yml
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def checks(folder: Path) -> str:
    """The checks of all tables as JSON, which is also YAML."""
    of_tables = defaultdict(list)
    for path in sorted(folder.glob("*.sql")):
        table, _, test = path.stem.rpartition("__")[0].partition("__")
        statement = path.read_text(encoding="utf-8").rstrip().removesuffix(";")
        if "${" in statement:
            raise SystemExit(f"{path}: Soda would read the ${{ in it as a variable; give the column another name.")
        of_tables[f"checks for {table}"].append({"failed rows": {"name": test, "fail query": statement}})
    if not of_tables:
        raise SystemExit(f"{folder} contains no statement. Run `sqlaudit compile` first; see README.md.")
    return json.dumps(of_tables, indent=2)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(checks(Path(sys.argv[1])), encoding="utf-8")

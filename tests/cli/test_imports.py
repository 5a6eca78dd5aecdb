"""What a command imports, counted: nothing that it does not use is imported when it starts.

Seconds depend on the machine, modules do not. A number may fall; where it has to rise, say why in the commit.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WATCHED = {
    "_duckdb",
    "duckdb",
    "highspy",
    "jinja2",
    "jsonschema",
    "networkx",
    "numpy",
    "pandas",
    "polars",
    "prompt_toolkit",
    "psycopg",
    "pyarrow",
    "pygments",
    "pyspark",
    "rich",
    "scipy",
    "sqlglot",
    "yaml",
}
PROGRAM = """
import json, sys
from sqlaudit.cli import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
AUDIT = ("audit", "people.csv", "--qi", "age,zip", "--sensitive", "illness")
DATABASE = "_duckdb jinja2 rich"
CASES = [
    (("--help",), 15, ""),
    (("--version",), 15, ""),
    (("nothing",), 15, ""),
    (("models",), 59, "rich"),
    (("audit", "--help"), 37, ""),
    (("audit", "--nothing"), 37, ""),
    (("aggregates", "--help"), 46, ""),
    (("app", "--help"), 32, ""),
    (("columns", "--help"), 48, ""),
    (("compare", "--help"), 43, ""),
    (("console", "--help"), 35, ""),
    (("lattice", "--help"), 41, ""),
    (("mcp", "--help"), 32, ""),
    (("persons", "--help"), 48, ""),
    (("recode", "--help"), 48, ""),
    (("releases", "--help"), 43, ""),
    (("suppress", "--help"), 48, ""),
    (("test", "--help"), 34, ""),
    ((*AUDIT, "--require", "k=2"), 97, DATABASE),
    (AUDIT, 158, DATABASE),
]


def modules(arguments: tuple[str, ...], folder: Path) -> list[str]:
    """The names of all modules that are there when a command has ended."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize(("arguments", "most", "others"), CASES, ids=[" ".join(case[0]) for case in CASES])
def test_a_command_imports_what_it_uses(arguments: tuple[str, ...], most: int, others: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,zip,illness\n34,10115,flu\n34,10115,cold\n", encoding="utf-8")
    found = modules(arguments, tmp_path)
    packages = {name.partition(".")[0] for name in found}
    assert sorted(packages & WATCHED) == sorted(others.split())
    own = [name for name in found if name == "sqlaudit" or name.startswith("sqlaudit.")]
    assert len(own) <= most, own

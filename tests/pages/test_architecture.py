"""The page on how the project is built is true: its places are there, and the packages are the folders."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
FIRST = PAGE.split("## Overview")[0]
PACKAGES = re.findall(r"^\| `([a-z_]+)/` \|", PAGE.split("## Packages")[1].split("## Rules")[0], re.MULTILINE)


FOLDERS = r"(?:sqlaudit|sql_templates|tests|docs|benchmarks|examples|integrations|docker|conda|\.ci)"
PAGES = sorted({*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")} - {REPOSITORY / "CHANGELOG.md"})


def test_every_place_that_answers_a_question_is_there() -> None:
    places = re.findall(r"`([a-z_]+(?:/[\w.]+)+)`", FIRST)
    assert len(places) >= 50
    assert [place for place in places if not (REPOSITORY / place).is_file()] == []


def test_every_question_of_the_page_has_an_answer_with_a_place() -> None:
    answers = re.findall(r"^\| [^|]+\? \| ([^|]+) \|$", FIRST, re.MULTILINE)
    assert len(answers) >= 25
    assert [answer for answer in answers if not re.search(r"`[\w/]+\.(?:py|sql|toml)`", answer)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_places_that_a_page_names_are_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    places = re.findall(rf"`({FOLDERS}/[\w./*-]*[a-z*/])(?:::\w+)?`", text)
    assert [place for place in places if not any(REPOSITORY.glob(place.rstrip("/")))] == []
    links = re.findall(r"\]\(([^)#\s:]+)[)#]", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_modules_and_members_that_the_page_names_are_there() -> None:
    """`linked.py` is somewhere, `_facts.sql` too, and `HistogramBuilder.keep_facts` is a function of that class."""
    found = {path.name for part in ("sqlaudit", "sql_templates", "tests") for path in (REPOSITORY / part).rglob("*.*")}
    named = set(re.findall(r"`([\w.]+\.(?:py|sql|json))`", PAGE)) - {"hatch_build.py"}
    assert named - found == set()
    members: dict[str, set[str]] = {}
    for path in (REPOSITORY / "sqlaudit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                members[node.name] = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    methods = re.findall(r"`([A-Z]\w+)\.(\w+)`", PAGE)
    assert len(methods) >= 4
    assert [(name, method) for name, method in methods if method not in members.get(name, ())] == []


def test_numbers_of_the_page_are_those_of_the_code() -> None:
    from sqlaudit.classes.histogram import CODED_ROWS, PACKED_VALUES
    from sqlaudit.gates.standalone.names import DIALECTS
    from sqlaudit.models.belief import MAX_ALONE
    from sqlaudit.profiles.columns import BATCH
    from sqlaudit.profiles.request import EXACT_ROWS
    from sqlaudit.profiles.warnings import FIRST_ROWS

    said = {
        "the first 20,000 rows": FIRST_ROWS == 20_000,
        "more than five million rows": EXACT_ROWS == 5_000_000,
        "from a million rows on": CODED_ROWS == 1_000_000,
        "eight columns per statement": BATCH == 8,
        "all thirteen dialects": len(DIALECTS) == 13,
        "up to four atoms": MAX_ALONE == 3,  # so many pieces of knowledge, and the atom that they are about
        "some tens of sensitive values": 20 < PACKED_VALUES < 100,
    }
    assert {words: (words in PAGE, holds) for words, holds in said.items() if words not in PAGE or not holds} == {}


LEFT_BEHIND = {"build", "dist", "htmlcov", "site", "venv"}
"""What building and testing leave in a checkout."""


def test_the_readme_says_what_is_at_the_top_level() -> None:
    top = {path.name for path in REPOSITORY.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))}
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert {name for name in top - LEFT_BEHIND if f"`{name}/`" not in readme} == set()


def test_the_packages_are_the_folders_from_top_to_bottom() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "sqlaudit").glob("*/__init__.py")}
    assert set(PACKAGES) == folders
    contract = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8").split("layers = [")[1].split("]")[0]
    assert re.findall(r'"sqlaudit\.([a-z_]+)"', contract) == PACKAGES


def test_nothing_stands_loose_at_the_top() -> None:
    assert {path.name for path in (REPOSITORY / "sqlaudit").glob("*.py")} <= {"__init__.py", "__main__.py"}


def test_code_templates_and_tests_have_the_same_packages() -> None:
    templates = {path.name for path in (REPOSITORY / "sql_templates").iterdir()} - {"dbt", "__pycache__"}
    assert templates <= set(PACKAGES)
    tests = {path.name for path in (REPOSITORY / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert tests - set(PACKAGES) == {
        "agents",
        "browser",
        "dbt",
        "honest",
        "orchestrators",
        "pages",
        "security",
        "servers",
        "warehouses",
    }


def test_a_class_of_the_page_is_where_it_says() -> None:
    attack = (REPOSITORY / "sqlaudit/release/attacks/base.py").read_text(encoding="utf-8")
    assert re.search(r"^class Attack\b", attack, re.MULTILINE)
    k = (REPOSITORY / "sqlaudit/models/diversity.py").read_text(encoding="utf-8")
    assert '"k_anonymity"' in k


def test_a_class_name_occurs_once() -> None:
    """Somebody who looks for `Release` or `_Search` finds one."""
    names = Counter(
        name
        for path in (REPOSITORY / "sqlaudit").rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert names.total() > 500
    assert {name for name, times in names.items() if times > 1} == set()


SPELLING = ("base/names.py", "base/spelling.py", "base/sql.py")
"""What knows the dialects, beside the engines themselves."""
ENGINES = {"duckdb", "postgres", "spark", "DuckDB", "PostgreSQL", "Spark"}


def test_only_engines_and_the_spelling_of_sql_compare_names_of_dialects() -> None:
    package = REPOSITORY / "sqlaudit"
    found = [
        f"{path.relative_to(package)}:{line}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] != "engines" and str(path.relative_to(package)) not in SPELLING
        for line in _comparisons(path)
    ]
    assert found == []


def _comparisons(path: Path) -> Iterator[int]:
    """Lines that compare the dialect or name of an engine with one of the engines', or look something up by these."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            names = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in _sides(node)}
            if names & {"dialect", "name"} and any(_named(part) for part in _sides(node)):
                yield node.lineno
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict) and any(map(_named, node.value.keys)):
            yield node.lineno


def _sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _named(node: ast.AST | None) -> bool:
    """Whether it is the name of an engine, or a collection with one."""
    parts = ast.walk(node) if node is not None else ()
    return any(isinstance(part, ast.Constant) and part.value in ENGINES for part in parts)


def test_every_long_test_is_there() -> None:
    """Else a test that was renamed would run in no part of `.ci/run` but the other."""
    names = [
        one for one in (REPOSITORY / "tests" / "long.txt").read_text(encoding="utf-8").splitlines() if one[0] != "#"
    ]
    for name in names:
        file, _, test = name.partition("::")
        assert re.search(rf"^def {test}\(", (REPOSITORY / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE), (
            name
        )
    assert names == sorted(set(names))

"""The page on how the project is built is true: the places that it names are there, and the rooms are the folders."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.places import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
FIRST = PAGE.split("## The shape")[0]
ROOMS = re.findall(r"^\| `([a-z_]+)/` \|", PAGE.split("## The rooms")[1].split("## Rules")[0], re.MULTILINE)


def test_every_place_that_answers_a_question_is_there() -> None:
    places = re.findall(r"`([a-z_]+(?:/[\w.]+)+)`", FIRST)
    assert len(places) >= 15
    assert [place for place in places if not (REPOSITORY / place).is_file()] == []


def test_the_rooms_are_the_folders_of_the_package_from_top_to_ground() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "sqlaudit").glob("*/__init__.py")}
    assert set(ROOMS) == folders
    contract = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8").split("layers = [")[1].split("]")[0]
    assert re.findall(r'"sqlaudit\.([a-z_]+)"', contract) == ROOMS


def test_nothing_stands_loose_at_the_top() -> None:
    assert {path.name for path in (REPOSITORY / "sqlaudit").glob("*.py")} <= {"__init__.py", "__main__.py"}


def test_code_templates_and_tests_have_the_same_rooms() -> None:
    templates = {path.name for path in (REPOSITORY / "sql_templates").iterdir()} - {"dbt", "__pycache__"}
    assert templates <= set(ROOMS)
    tests = {path.name for path in (REPOSITORY / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert tests - set(ROOMS) == {
        "agents",
        "browser",
        "dbt",
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


SPELLING = ("base/dialects.py", "base/sql.py", "base/spelling.py", "base/spark_spelling.py")
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

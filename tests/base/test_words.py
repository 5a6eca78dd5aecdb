"""Nothing that the library says in Python speaks of options of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, command, speaking, spelled
from sqlaudit.cli.console.session import in_the_console
from sqlaudit.cli.group import on_the_command_line
from sqlaudit.gates.nodes import in_a_policy

ROOT = Path(__file__).parents[2] / "sqlaudit"
PRINTED = {
    "certificates/certificate.py",
    "cli",
    "gates/requirements.py",
    "hierarchies/result.py",
    "models/phrases.py",
    "models/measures.py",
    "profiles/result.py",
}
"""What belongs to the command line, or prints commands to type."""
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def sentences(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts of a module that are no docstrings, and no help of an option."""
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(node.value)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("option", "tables_option")
        ):
            passed.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed:
            yield node


def test_no_sentence_of_the_library_holds_an_option_of_the_command_line() -> None:
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        if place in PRINTED or place.partition("/")[0] in PRINTED:
            continue
        written = file.read_text(encoding="utf-8")
        if not FLAG.search(written):
            continue
        for text in sentences(ast.parse(written)):
            if FLAG.search(re.sub(r"`[^`]*`?|var\([^)]*\)|style=\"[^\"]*", "", text.value)):
                found.append(f"{place}:{text.lineno}: {text.value}")
    assert found == []


@pytest.mark.parametrize(
    ("field", "values", "command_line", "policy", "console", "python"),
    [
        ("qi", (), "--qi", "quasi_identifiers", "\\qi", "qi="),
        ("qi", ("age", "sex"), "--qi age,sex", "quasi_identifiers: [age, sex]", "\\qi age sex", "qi=['age', 'sex']"),
        ("nulls", ("equal",), "--nulls equal", "nulls: equal", "--nulls equal", "nulls='equal'"),
        ("require", ("k=5",), "--require k=5", "--require k=5", "\\require k=5", "require=['k=5']"),
        ("joint", (True,), "--joint", "--joint", "--joint", "joint=True"),
        ("header", (False,), "--no-header", "--no-header", "--no-header", "read=ReadOptions(header=False)"),
        ("replace_view", (True,), "--replace", "--replace", "--replace", "replace_view=True"),
        ("threads", (), "--threads", "--threads", "--threads", "limits=Limits(threads=…)"),
        (
            "qi",
            ("floor(a / 10)",),
            '--qi "floor(a / 10)"',
            "quasi_identifiers: [floor(a / 10)]",
            "\\qi floor(a / 10)",
            "qi=['floor(a / 10)']",
        ),
    ],
)
def test_each_edge_spells_a_field_and_what_it_does_not_know_as_the_edge_around_it(
    field: str, values: tuple[object, ...], command_line: str, policy: str, console: str, python: str
) -> None:
    assert spelled(field, *values) == python
    with speaking(on_the_command_line):
        assert spelled(field, *values) == command_line
        with speaking(in_a_policy):
            assert spelled(field, *values) == policy
        with speaking(in_the_console):
            assert spelled(field, *values) == console
    assert about(field) == spelled(field).removesuffix("=")


def test_python_is_told_of_functions_and_the_command_line_of_commands() -> None:
    named = pd.DataFrame({"patient_id": range(100, 140), "age": [30, 40] * 20})
    (told,) = [
        one.message for one in sqlaudit.audit(named, qi="age").warnings if one.code == "possible_direct_identifier"
    ]
    assert told.endswith("whatever the group size. `sqlaudit.profile()` gives the reasons.")
    with pytest.raises(UsageError, match=r"Use `sqlaudit\.aggregates\(\)`"):
        sqlaudit.audit(named, qi="age", require="threshold=5")
    with speaking(on_the_command_line):
        assert command("profile") == "`sqlaudit profile`"

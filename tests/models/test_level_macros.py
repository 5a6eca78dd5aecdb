"""The macros of `_levels.sql` are called with the arguments that they take; else only a rare model would fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from jinja2 import nodes

from sqlaudit.base.sql import environment
from tests.places import REPOSITORY

SOURCE = (REPOSITORY / "sql_templates/models/_levels.sql").read_text(encoding="utf-8")
MACROS = {macro.name: macro for macro in environment().parse(SOURCE).find_all(nodes.Macro)}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call of `expression` with a macro's name, and where it stands."""
    for file in sorted((REPOSITORY / "sqlaudit").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r'\bexpression\(\s*"\w+"', text) else ():
            match node:
                case ast.Call(func=ast.Name("expression"), args=[ast.Constant(str(macro))]) if ".sql" not in macro:
                    yield f"{file.name}:{node.lineno}", node


def test_no_macro_is_defined_twice() -> None:
    names = re.findall(r"{% macro (\w+)\(", SOURCE)
    assert sorted(names) == sorted(MACROS)


@pytest.mark.parametrize("call", [pytest.param(call, id=place) for place, call in calls()])
def test_a_call_gives_what_the_macro_takes(call: ast.Call) -> None:
    macro = MACROS[ast.literal_eval(call.args[0])]
    taken = [argument.name for argument in macro.args]
    needed = set(taken[: len(taken) - len(macro.defaults)])
    given = {keyword.arg for keyword in call.keywords}
    if None not in given:  # not **arguments
        assert needed <= given <= set(taken)

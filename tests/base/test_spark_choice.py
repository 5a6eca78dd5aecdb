"""What runs on Spark by default is there."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from tests.places import REPOSITORY
from tests.spark_choice import chosen, listed


def test_every_chosen_test_is_there() -> None:
    functions: dict[str, set[str]] = {}
    for name in listed():
        path, _, function = name.partition("[")[0].partition("::")
        if path not in functions:
            tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
            functions[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in functions[path], name
    assert list(listed()) == sorted(set(listed()))


def item(name: str, engine: str = "", marked: bool = False, args: tuple[str, ...] = ("tests",)) -> Any:
    return SimpleNamespace(
        nodeid=name,
        callspec=SimpleNamespace(params={"engine_name": engine} if engine else {}),
        get_closest_marker=lambda found: found if marked and found == "spark" else None,
        config=SimpleNamespace(args=args),
    )


def test_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.spark_choice.listed", lambda: ("tests/a.py::one[spark-x]", "tests/a.py::all"))
    one, other = item("tests/a.py::one[spark-x]", "spark"), item("tests/a.py::one[spark-y]", "spark")
    each, own = item("tests/a.py::all[spark-z]", "spark"), item("tests/a.py::own", marked=True)
    elsewhere = item("tests/a.py::one[duckdb-y]", "duckdb")
    assert chosen([one, other, each, own, elsewhere]) == [one, each, own, elsewhere]
    assert chosen([item("tests/b.py::two", "spark")]) == []
    with pytest.raises(pytest.UsageError, match=r"names tests that are not there: tests/a.py::one\[spark-x\]$"):
        chosen([other, each])
    assert chosen([item("tests/a.py::one[spark-y]", "spark", args=("tests/a.py::one",))]) == []

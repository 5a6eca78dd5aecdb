"""Callers of Python can tell errors apart by their classes, and the module's docstring draws all of these as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base import errors

PEOPLE = pd.DataFrame({"age": [20, 20, 30, 30], "sex": ["f", "f", "m", None], "dx": list("abab")})


def test_a_column_that_is_not_in_the_table() -> None:
    with pytest.raises(sqlaudit.UnknownColumn, match=r"qi: frame has no column 'agee'\. Did you mean 'age'\?"):
        sqlaudit.audit(PEOPLE, qi="agee")


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(sqlaudit.UnknownFile, match="There is no file"):
        sqlaudit.audit(tmp_path / "people.csv", qi="age")
    with pytest.raises(sqlaudit.UnknownFile, match=r"cannot be read \(No such file"):
        sqlaudit.gate(tmp_path / "sqlaudit.yml")


def test_a_number_outside_its_range() -> None:
    with pytest.raises(sqlaudit.OutOfRange, match="must be at least 0 and at most 10, not -1"):
        sqlaudit.audit(PEOPLE, qi="age", worst_classes=-1)


def test_a_column_with_two_roles() -> None:
    with pytest.raises(sqlaudit.ConflictingRoles, match="Give every column one role"):
        sqlaudit.audit(PEOPLE, qi="age", sensitive="age")
    with pytest.raises(sqlaudit.ConflictingRoles, match="Give every column one role"):
        sqlaudit.audit(PEOPLE, qi="age", sensitive="AGE")


def test_a_model_without_a_meaning() -> None:
    with pytest.raises(sqlaudit.Undecidable, match="is not defined with"):
        sqlaudit.audit(PEOPLE, qi="sex", sensitive="dx", nulls="wildcard", require="t=0.2")


def test_the_docstring_draws_every_class() -> None:
    def below(base: type[errors.SqlauditError]) -> Iterator[str]:
        for error in base.__subclasses__():
            if error.__module__.startswith("sqlaudit."):
                yield error.__name__
                yield from below(error)

    for file in sorted((Path(sqlaudit.__file__).parent).rglob("*.py")):
        if re.search(r"^class \w+\(\w*Error\):", file.read_text(encoding="utf-8"), re.MULTILINE):
            __import__(".".join(file.relative_to(Path(sqlaudit.__file__).parents[1]).with_suffix("").parts))
    tree = re.findall(r"\b[A-Z]\w+(?=[, (\n])", errors.__doc__.partition("* ")[2])
    assert sorted(tree) == sorted(["SqlauditError", *below(errors.SqlauditError)])

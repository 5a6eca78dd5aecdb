"""Every template renders with its arguments; some as they are in `golden/`, word by word.

What a template means is held by the oracles, on every engine. The texts in `golden/` show a statement or more of each
package, and for all dialects what spelling makes of the central ones. After a change of one of them write its
text anew and look at what changed:

    SQLAUDIT_WRITE_GOLDEN=1 python -m pytest -n 0 tests/base/test_templates.py

A new template, or a new parameter, needs its arguments in `golden/arguments.yml`, where `!sql` is text in the engine's
own dialect (`Raw`) and `!fraction` an exact number. Macro files (`_*.sql`) are part of the texts of those that include
them; those of the dbt package are generated, and held by `tests/gates/standalone/test_dbt_package.py`.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlaudit.base.sql import Raw, render
from tests.places import REPOSITORY

GOLDEN = Path(__file__).parent / "golden"
ARGUMENTS = GOLDEN / "arguments.yml"
FOLDER = REPOSITORY / "sql_templates"
TEMPLATES = sorted(
    str(file.relative_to(FOLDER))
    for file in FOLDER.rglob("*.sql")
    if not file.name.startswith("_") and file.relative_to(FOLDER).parts[0] != "dbt"
)
OTHERS = ("postgres", "spark")
SHOWN = frozenset(template for template in TEMPLATES if (GOLDEN / template).is_file())
"""The templates with a golden text; an empty file makes one more."""


class ArgumentsLoader(yaml.SafeLoader):
    """YAML with SQL and fractions."""


ArgumentsLoader.add_constructor("!sql", lambda loader, node: Raw(str(loader.construct_scalar(node))))
ArgumentsLoader.add_constructor("!fraction", lambda loader, node: Fraction(str(loader.construct_scalar(node))))


@cache
def arguments() -> dict[str, dict[str, Any]]:
    """The arguments of each template; what several have in common stands once."""
    found = yaml.load(ARGUMENTS.read_text(encoding="utf-8"), ArgumentsLoader)
    return {template: {**found["common"], **(own or {})} for template, own in found["templates"].items()}


def texts(template: str) -> dict[Path, str]:
    """DuckDB's text, and those of the engines that the template tells apart."""
    is_told_apart = "dialect" in (FOLDER / template).read_text(encoding="utf-8") and not template.startswith("engines/")
    told_apart = OTHERS if is_told_apart else ()  # an engine's own templates are in its own SQL
    file = GOLDEN / template
    return {
        file if dialect == "duckdb" else file.with_suffix(f".{dialect}.sql"): render(
            template, dialect, **arguments()[template]
        ).sql
        + "\n"
        for dialect in ("duckdb", *told_apart)
    }


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_renders(template: str) -> None:
    for file, text in texts(template).items():
        assert text.strip()
        if template not in SHOWN:
            continue
        if os.environ.get("SQLAUDIT_WRITE_GOLDEN"):
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"{template} has no golden text"
        assert text == file.read_text(encoding="utf-8"), file


def test_every_template_has_arguments_and_no_other_file_lies_there() -> None:
    assert sorted(arguments()) == TEMPLATES, "give a new template its arguments in tests/base/golden/arguments.yml"
    assert set(GOLDEN.rglob("*.sql")) == {file for template in SHOWN for file in texts(template)}

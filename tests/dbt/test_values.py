"""What is one value, who is one person: names of several spellings fail until `values` says what they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt.conftest import Project

SPELLINGS = {
    "blank": ("P1", "p1 "),
    "tab": ("P 1", "P\t1"),
    "lines": ("P 1", "P\r\n1"),
    "zero_width": ("P1", "P\u200b1"),
    "selector": ("P1", "P1\ufe0f"),
    "tags": ("P1", "P1\U000e0041"),
    "control": ("P1", "P1\x01"),
    "soft_hyphen": ("P1", "P\u00ad1"),
    "composed": ("Jos\u00e9", "Jose\u0301"),
    "case": ("JOS\u00c9", "jos\u00e9"),
    "sharp": ("stra\u00dfe", "STRASSE"),
    "width": ("P1", "\uff301"),
}
VALUES = ("", "fold", "exact")


@pytest.mark.parametrize("values", VALUES)
def test_spellings_are_no_crowd(values: str, project: Project) -> None:
    tests: list[dict[str, Any]] = []
    for name in SPELLINGS:
        more = {"quasi_identifiers": ["a"], **_said(values)}
        where = {"severity": "warn", "where": f"kind = '{name}'"}
        for check, arguments in (
            ("k_anonymity", {"k": 2, "entity": "name"}),
            ("distinct_l_diversity", {"l": 2, "sensitive": "name"}),
            ("km_anonymity", {"k": 2, "entity": "name"}),
        ):
            asked = {"name": f"{check}_{name}_end", "arguments": {**more, **arguments}, "config": where}
            tests.append({f"sqlaudit.{check}": asked})
    rows = [
        f"select 1 as a, '{kind}' as kind, {_text(name, project.target)} as name"
        for kind, names in {**SPELLINGS, "plain": ("P1", "P2")}.items()
        for name in names
    ]
    project.models({"models": [{"name": "named", "data_tests": tests}]}, named="\nunion all\n".join(rows))
    ran = project.dbt("build")
    assert ran.code == 0, ran.said
    for name in SPELLINGS:
        for check in ("k_anonymity", "distinct_l_diversity", "km_anonymity"):
            found = ran.result(f"{check}_{name}_end")
            assert (found["status"] == "pass") == (values == "exact"), (check, name, found["message"])


def test_plain_names_pass(project: Project) -> None:
    """Whatever is said of them: accents tell names apart, and nothing else is in doubt."""
    tests = [
        {
            "sqlaudit.k_anonymity": {
                "name": f"plain_{values or 'unsaid'}",
                "arguments": {"quasi_identifiers": ["a"], "k": 2, "entity": "name"}
                | ({"values": values} if values else {}),
            }
        }
        for values in VALUES
    ]
    rows = [f"select 1 as a, {_text(name, project.target)} as name" for name in ("Jos\u00e9", "Jose", "P1")]
    project.models({"models": [{"name": "named", "data_tests": tests}]}, named="\nunion all\n".join(rows))
    ran = project.dbt("build")
    assert ran.code == 0, ran.said


def _said(values: str) -> dict[str, str]:
    return {"values": values} if values else {}


def _text(name: str, target: str) -> str:
    """A text by the numbers of its characters, as files of dbt may be read and written on the way."""
    characters = " || ".join(f"chr({ord(one)})" for one in name)
    return f"cast({characters} as {'text' if target == 'postgres' else 'varchar'})"

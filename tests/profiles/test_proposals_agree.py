"""All proposals of roles for one table are the same: report, key figure, command, JSON, Python, policy."""

from __future__ import annotations

import datetime
import itertools
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
import yaml

import sqlaudit
from sqlaudit.base.options import split_list, written
from sqlaudit.gates.proposal import column_scalar
from tests.cli.runner import run
from tests.honest.honest_table import write_columns
from tests.honest.tables import honest_tables

Columns = Mapping[str, Sequence[object]]
FIELDS = ("quasi_identifiers", "sensitive", "identifiers", "entity")
OPTIONS = dict(zip(("qi", "sensitive", "identifier", "entity"), FIELDS, strict=True))
DAY = datetime.date(1930, 1, 1)


def _people(rows: int = 200) -> dict[str, Sequence[object]]:
    places = range(rows)
    return {
        "full name": [f"Ann Miller {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in places],
        "birth_date": [DAY + datetime.timedelta(days=97 * i) for i in places],
        "admitted": [f"2024-03-{1 + i % 28:02}T{i % 24:02}:{i % 60:02}:{i * 7 % 60:02}" for i in places],
        "sex, or gender": ["fm"[i % 2] for i in places],
        "costs": [100.25 + i * 13.5 for i in places],
        "vx": [i * i % 151 for i in places],
        "diagnosis": [["flu", "gout"][i // 3 % 2] for i in places],
    }


def _visits() -> dict[str, Sequence[object]]:
    return {**_people(), "patient_id": [1000 + i // 4 for i in range(200)]}


TABLES: dict[str, Columns] = {
    "people": _people(),
    "visits": _visits(),
    "empty": dict.fromkeys(_people(), ()),
    "only costs": {"costs": _people()["costs"], "vx": _people()["vx"]},
    **{table.name: table.columns for table in honest_tables()[::23] if table.columns and table.command[:5] == "audit"},
}


def _given(words: Sequence[str]) -> dict[str, list[str]]:
    """The roles among the words of a proposed audit."""
    named = {flag.removeprefix("--"): text for flag, text in itertools.pairwise(words)}
    return {field: list(split_list(named[option])) for option, field in OPTIONS.items() if option in named}


def _filled(roles: Mapping[str, object]) -> dict[str, list[str]]:
    several = {field: [value] if isinstance(value, str) else list(value or ()) for field, value in roles.items()}  # type: ignore[call-overload]
    return {field: several[field] for field in FIELDS if several.get(field)}


@pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES)
def test_every_place_proposes_the_same_roles(columns: Columns, tmp_path: Path) -> None:
    file = write_columns(tmp_path / "people.csv", columns)
    stored, text = json.loads(run("profile", file, "--format", "json").out), run("profile", file).out
    proposed = _filled(stored["roles"])
    result = sqlaudit.profile(file)
    assert _filled({field: getattr(result.roles, field) for field in FIELDS}) == proposed

    page = re.sub(r" \\\n +", " ", text)
    audits = re.findall(r"^ +sqlaudit audit (.*)$", page, re.MULTILINE)
    judged = bool(proposed.get("quasi_identifiers")) and result.cells is None
    assert [_given(shlex.split(words)) for words in audits] == [proposed] * judged

    policy = run("init", file, "-o", "-").out
    (table,) = yaml.safe_load(policy)["tables"] or [{}]
    # a policy has tables that are not about people, or of which others know nothing, as comments
    if table and result.cells is None:
        assert _filled(table) == proposed
    assert all(f"# - {column_scalar(name)} # " in policy for name in stored["roles"]["undecided"])

    if result.cells is None:
        (known,) = re.findall(r"Columns others may know +(\d+) of", text)
        titled = json.loads(run("profile", file, "--format", "json").out)["report"]["sections"]
        rows = {section["title"]: section["blocks"][0].get("rows", []) for section in titled}
        shown = [row[0] for row in rows.get("Quasi-identifiers (others may know them)", [])]
        assert int(known) == len(shown) == len(result.likely)
        assert [row[0] for row in rows.get("To decide (they single people out if others know them)", [])] == [
            written(name) for name in result.undecided
        ]


def test_a_nearly_unique_birth_date_is_proposed_and_said_to_be_coarsened(tmp_path: Path) -> None:
    frame = pd.DataFrame(_people())
    result = sqlaudit.profile(frame)
    assert result.column("birth_date").facts.nearly_unique
    assert "birth_date" in result.likely
    assert "costs" in result.undecided
    said = run("profile", write_columns(tmp_path / "p.csv", _people())).said
    assert "Could others know costs" in said
    assert re.search("birth_date.* have a different value in almost every row. Publish them coarsened", said)
    refused = run("audit", tmp_path / "p.csv")
    assert "birth_date" in refused.err
    assert "costs" not in refused.err

"""The column that seems to identify the person: a proposal of profiles, in the words of `init`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import sqlaudit
from tests.cli.runner import run
from tests.reports.schemas import validator

VISITS = pd.DataFrame(
    {
        "patient_id": [who for who in range(20) for _ in range(3)],
        "age": [20 + who for who in range(20) for _ in range(3)],
        "clinic": [place % 7 for place in range(60)],
    }
)


def test_a_column_of_persons_that_repeats_is_proposed_with_requirements_on_persons(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    VISITS.to_csv(path, index=False)
    found = sqlaudit.profile(VISITS)
    assert found.entity is not None
    assert found.entity.column == "patient_id"
    assert found.entity.reason == "3.0 rows per value; its name suggests that it identifies people"
    data = json.loads(json.dumps(found.to_dict()))
    validator("profile").validate(data)
    assert data["entity"] == {"column": "patient_id", "reason": found.entity.reason}
    said = " ".join(run("profile", str(path)).out.replace("\\\n", "").split())
    assert f"patient_id seems to identify the person: {found.entity.reason}." in said
    assert "--entity patient_id --require k=5,km@2=5" in said
    assert f"entity: patient_id # {found.entity.reason}" in run("init", str(path), "-o", "-").out


@pytest.mark.parametrize(
    "table",
    [
        VISITS.drop_duplicates("patient_id"),
        VISITS.assign(patient_id=[None, *range(59)]),
        VISITS.assign(patient_id=1),
        VISITS.rename(columns={"patient_id": "score"}),
        VISITS[:0],
    ],
    ids=["a row each", "rows of no one", "one person", "no name of persons", "no row"],
)
def test_nothing_is_proposed_where_persons_do_not_repeat(table: pd.DataFrame) -> None:
    found = sqlaudit.profile(table)
    assert found.entity is None
    assert "entity" not in found.to_dict()

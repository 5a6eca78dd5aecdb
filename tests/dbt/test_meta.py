"""`sqlaudit test --dbt-project` reads the manifest that dbt really writes, and finds what an audit finds."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlaudit
from tests.dbt.conftest import Project

SCHEMA = """\
models:
  - name: raw
    description: As it came.
    config:
      tags: [inside]
      meta: {sqlaudit: {requirements: [k=1]}}
    columns: &columns
      - {name: age, config: {meta: {sqlaudit: quasi_identifier}}}
      - {name: sex, config: {meta: {sqlaudit: {role: quasi_identifier}}}}
      - {name: diagnosis, meta: {sqlaudit: sensitive}}
  - name: released
    meta:
      owner: ethics
      sqlaudit:
        requirements:
          - k=5
          - l: 2
            severity: warn
          - loss: {original: raw, measure: discernibility, at_most: 1}
    columns: *columns
"""
MODELS = {
    "raw": "select age, sex, diagnosis from {{ ref('patients') }}",
    "between": "select * from {{ ref('raw') }}",
    "released": "{{ config(alias='released_2027') }} select case when age < 50 then '0-49' else '50-99' end as age, "
    "sex, diagnosis from {{ ref('between') }}",
}


def test_a_policy_in_meta(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for old in (project.folder / "models").iterdir():
        old.unlink()
    for name, text in MODELS.items():
        (project.folder / "models" / f"{name}.sql").write_text(text, encoding="utf-8")
    (project.folder / "models" / "schema.yml").write_text(SCHEMA, encoding="utf-8")
    built = project.dbt("build")
    assert built.code == 0, built.said
    for name, value in project.environment.items():
        monkeypatch.setenv(name, value)
    result = sqlaudit.gate(dbt_project=project.folder, dbt_target=project.target, select=["raw+"])
    assert result.mistakes == ()
    found = {test.name: test for test in result.tests}
    loss = "released: loss=measure:discernibility,at_most:1,original:raw"
    assert {name: (Path(test.place.file).name, test.place.line) for name, test in found.items()} == {
        "raw: k=1": ("schema.yml", 6),
        "released: k=5": ("schema.yml", 16),
        "released: l=2 for diagnosis": ("schema.yml", 17),
        loss: ("schema.yml", 19),
    }
    assert (found[loss].owner, found["raw: k=1"].tags) == ("ethics", ("inside",))
    audit = sqlaudit.audit(
        project.table("released_2027"),
        qi=["age", "sex"],
        sensitive="diagnosis",
        require=["k=5", "l=2"],
        db=project.database,
    )
    checks = [found["released: k=5"].check, found["released: l=2 for diagnosis"].check]
    figures = [(check.level, check.failing_rows) for check in checks if check is not None]
    assert figures == [(check.level, check.failing_rows) for check in audit.checks]
    sizes = project.rows(f"SELECT COUNT(*) FROM {project.table('released_2027')} GROUP BY age, sex")
    assert found[loss].check is not None
    assert found[loss].check.level == sum(size**2 for (size,) in sizes)
    assert found[loss].outcome.value == "fail"

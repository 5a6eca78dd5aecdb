"""Roles and requirements from the meta of dbt's manifest, with the lines of the project's YAML files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.cli.policies import FORMATS, render_run
from sqlaudit.gates.dbt_manifest import load_dbt_policy
from sqlaudit.gates.run import mistakes_of
from tests.gates.databases import PATIENTS, SECRET

SCHEMA = """\
version: 2

models:
  - name: release
    description: What is published
    config:
      tags: [monthly]
      meta:
        owner: office
        sqlaudit:
          requirements:
            - k=2
            - l: 2
              severity: warn
            - t: 0.5
    columns:
      - name: age
        config: {meta: {sqlaudit: quasi_identifier}}
      - name: sex
        meta: {sqlaudit: {role: quasi_identifier}}
      - name: disease
        meta: {sqlaudit: sensitive}
"""
"""As dbt reads it; the manifest below is what dbt 1.11 makes of it, as far as it matters here."""


def column(name: str, role: Any, config: bool = False) -> dict[str, Any]:
    meta = {"sqlaudit": role}
    return {"name": name, "meta": {} if config else meta, "config": {"meta": meta} if config else {}}


def release() -> dict[str, Any]:
    wanted = {"requirements": ["k=2", {"l": 2, "severity": "warn"}, {"t": 0.5}]}
    return {
        "resource_type": "model",
        "name": "release",
        "schema": "main",
        "alias": "release_2027",
        "description": "What is published",
        "patch_path": "clinic://models/schema.yml",
        "original_file_path": "models/release.sql",
        "tags": ["monthly"],
        "meta": {"owner": "office", "sqlaudit": wanted},
        "config": {"materialized": "table", "meta": {"owner": "office", "sqlaudit": wanted}},
        "columns": {
            "age": column("age", "quasi_identifier", config=True),
            "sex": column("sex", {"role": "quasi_identifier"}),
            "disease": column("disease", "sensitive"),
        },
        "depends_on": {"nodes": ["model.clinic.staging"]},
    }


def manifest() -> dict[str, Any]:
    staging = {
        "resource_type": "model",
        "name": "staging",
        "schema": "main",
        "alias": "staging",
        "meta": {},
        "columns": {},
        "config": {"materialized": "view", "meta": {}},
        "depends_on": {"nodes": ["source.clinic.raw.patients"]},
    }
    source = {
        "resource_type": "source",
        "name": "patients",
        "source_name": "raw",
        "schema": "main",
        "identifier": "patients",
        "meta": {"sqlaudit": {"quasi_identifiers": ["age"], "requirements": ["k=1"]}},
        "columns": {},
        "config": {},
        "original_file_path": "models/sources.yml",
    }
    return {
        "metadata": {},
        "nodes": {
            "model.clinic.release": release(),
            "model.clinic.staging": staging,
            "test.clinic.x": {"resource_type": "test"},
        },
        "sources": {"source.clinic.raw.patients": source},
    }


def project(folder: Path, found: dict[str, Any]) -> Path:
    """A dbt project as it lies on the disk after `dbt build`."""
    (folder / "models").mkdir(exist_ok=True)
    (folder / "target").mkdir(exist_ok=True)
    (folder / "dbt_project.yml").write_text("name: clinic\nprofile: clinic\nversion: '1.0'\n", encoding="utf-8")
    (folder / "profiles.yml").write_text(
        "clinic: {target: dev, outputs: {dev: {type: duckdb, path: clinic.duckdb}}}\n", encoding="utf-8"
    )
    (folder / "models" / "schema.yml").write_text(SCHEMA, encoding="utf-8")
    (folder / "target" / "manifest.json").write_text(json.dumps(found), encoding="utf-8")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for name in ("patients", "release_2027"):
            connection.execute(f"CREATE OR REPLACE TABLE {name} (age BIGINT, sex TEXT, disease TEXT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [list(row.values()) for row in PATIENTS])
    return folder


@pytest.fixture(autouse=True)
def no_dbt_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.delenv("DBT_TARGET", raising=False)
    monkeypatch.delenv("DBT_TARGET_PATH", raising=False)


def test_a_project_is_tested(tmp_path: Path) -> None:
    folder = project(tmp_path, manifest())
    result = sqlaudit.gate(dbt_project=folder)
    found = {test.name: (test.outcome.value, test.place.line) for test in result.tests}
    assert found == {
        "release: k=2": ("pass", 12),
        "release: l=2 for disease": ("warn", 13),
        "release: t=0.5 for disease": ("fail", 15),
        "raw.patients: k=1": ("pass", None),
    }
    audit = sqlaudit.audit(
        "release_2027",
        qi=["age", "sex"],
        sensitive="disease",
        require=["k=2", "l=2", "t=0.5"],
        db=str(tmp_path / "clinic.duckdb"),
    )
    figures = [(test.check.level, test.check.failing_rows) for test in result.tests[:3] if test.check]
    assert figures == [(check.level, check.failing_rows) for check in audit.checks]
    first = result.tests[0]
    assert (first.owner, first.tags, first.description) == ("office", ("monthly",), "What is published")
    assert first.place.file == str(tmp_path / "models" / "schema.yml")
    assert SECRET not in json.dumps(result.to_dict())
    lines = render_run(result, "text", width=400)
    assert f"release: l=2 for disease ({first.place.file}, line 13) warns: Distinct l-diversity is 1;" in lines


def test_the_manifest_is_where_dbt_was_told_to_write_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path, manifest())
    (folder / "target").rename(folder / "built")
    with pytest.raises(InputError, match="`dbt parse` to write it"):
        load_dbt_policy(folder)
    monkeypatch.setenv("DBT_TARGET_PATH", "built")
    assert len(load_dbt_policy(folder).tables) == 2
    monkeypatch.delenv("DBT_TARGET_PATH")
    with (folder / "dbt_project.yml").open("a", encoding="utf-8") as file:
        file.write("target-path: built\n")
    assert len(load_dbt_policy(folder).tables) == 2


def test_lineage_goes_through_models_that_are_not_tested(tmp_path: Path) -> None:
    folder = project(tmp_path, manifest())
    found = sqlaudit.gate(dbt_project=folder, select=["raw.patients+,requirement:k"])
    assert [test.name for test in found.tests] == ["release: k=2", "raw.patients: k=1"]


def test_values_that_the_yaml_writes_otherwise_keep_the_line_of_the_model(tmp_path: Path) -> None:
    made = manifest()
    made["nodes"]["model.clinic.release"]["config"]["meta"]["sqlaudit"] = {"requirements": ["k=3"]}
    found = load_dbt_policy(project(tmp_path, made)).tables[0].tests
    assert [(test.requirement, test.place.line) for test in found] == [("k=3", 4)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda node: node["columns"].update(x=column("x", "quasi")), "release: column 'x' has no role 'quasi'."),
        (
            lambda node: node["config"]["meta"].update(sqlaudit={"requirement": []}),
            "sqlaudit in 'meta' has no key 'requirement'. Did you mean 'requirements'?",
        ),
        (
            lambda node: node["config"]["meta"].update(sqlaudit={}),
            "this table has no 'requirements'. Write for example [k=5].",
        ),
        (
            lambda node: node["config"].update(materialized="ephemeral"),
            "release is ephemeral, so the database has no table to test.",
        ),
        (
            lambda node: node["columns"].update(x=column("x", "entity"), y=column("y", "entity")),
            "release: x and y are both the entity. Keep one.",
        ),
    ],
)
def test_mistakes_in_the_meta(change: Any, said: str, tmp_path: Path) -> None:
    made = manifest()
    change(made["nodes"]["model.clinic.release"])
    mistakes = mistakes_of(load_dbt_policy(project(tmp_path, made)))
    assert any(mistake.message.startswith(said) for mistake in mistakes), mistakes


def test_projects_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dbt_project.yml: cannot be read"):
        load_dbt_policy(tmp_path)
    folder = project(tmp_path, {"nodes": {}, "sources": {}})
    with pytest.raises(UsageError, match="no model, seed, snapshot or source has 'sqlaudit' in its meta"):
        load_dbt_policy(folder)
    (folder / "target" / "manifest.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"is not a manifest of dbt. Run `dbt parse` to write it again"):
        load_dbt_policy(folder)
    (folder / "target" / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"cannot be read. Run `dbt parse` to write it"):
        load_dbt_policy(folder)


def test_a_manifest_that_is_older_than_a_file_is_told(tmp_path: Path) -> None:
    folder = project(tmp_path, manifest())
    written = (folder / "target" / "manifest.json").stat().st_mtime_ns
    for path in folder.rglob("*"):
        os.utime(path, ns=(written, written))
    assert sqlaudit.gate(dbt_project=folder).notes == ()
    (folder / "target" / "compiled.sql").write_text("SELECT 1")
    (folder / "packages.yml").write_text("packages: []")
    assert sqlaudit.gate(dbt_project=folder).notes == ()
    os.utime(folder / "models" / "schema.yml", ns=(written + 10**9, written + 10**9))
    told = "is older than models/schema.yml: what was changed since is not tested. `dbt parse` writes it anew."
    assert sqlaudit.gate(dbt_project=folder).notes == (f"{folder / 'target' / 'manifest.json'} {told}",)
    os.utime(folder / "dbt_project.yml", ns=(written + 10**9, written + 10**9))
    [note] = sqlaudit.gate(dbt_project=folder).notes
    assert "is older than dbt_project.yml and 1 more: " in note
    (folder / "dbt_project.yml").write_text("name: clinic\nprofile: clinic\nmodel-paths: [marts]\n", encoding="utf-8")
    os.utime(folder / "dbt_project.yml", ns=(written, written))
    assert sqlaudit.gate(dbt_project=folder).notes == ()


def test_requirements_of_an_exposure_are_no_test_of_nothing(tmp_path: Path) -> None:
    exposure = {
        "resource_type": "exposure",
        "name": "claims_file",
        "meta": {"sqlaudit": {"requirements": ["k=5"]}},
        "depends_on": {"nodes": ["model.clinic.release"]},
    }
    found = {**manifest(), "exposures": {"exposure.clinic.claims_file": exposure}}
    with pytest.raises(UsageError) as error:
        load_dbt_policy(project(tmp_path, found))
    assert "claims_file is of type exposure and has no table" in str(error.value)
    assert "Put it under the models that are published: release." in str(error.value)
    exposure["meta"] = {"owner": "office"}
    assert load_dbt_policy(project(tmp_path, found)).tables


# Which table is tested: the database, schema and alias of the node, in the target that is asked for.

FEW = "(VALUES (1, 'a'), (2, 'b')) AS t(age, sex)"
MANY = "(VALUES (1, 'a'), (1, 'a')) AS t(age, sex)"


def built(name: str, **more: Any) -> dict[str, Any]:
    meta = {"sqlaudit": {"quasi_identifiers": ["age", "sex"], "requirements": ["k=2"]}}
    usual = {"resource_type": "model", "name": name, "alias": name, "schema": "dev", "database": "clinic"}
    return {**usual, "meta": meta, "columns": {}, "config": {}, "original_file_path": "models/x.sql", **more}


def two_targets(folder: Path, *nodes: dict[str, Any], macros: dict[str, Any] | None = None) -> Path:
    """A project with the targets dev and prod in one database: the tables of prod are safe, those of dev are not."""
    named = {f"{node['resource_type']}.clinic.{node['name']}.{place}": node for place, node in enumerate(nodes)}
    sources = {name: node for name, node in named.items() if node["resource_type"] == "source"}
    models = {name: node for name, node in named.items() if name not in sources}
    found = {"metadata": {"adapter_type": "duckdb"}, "nodes": models, "sources": sources, "macros": macros or {}}
    project(folder, found)
    (folder / "profiles.yml").write_text(
        "clinic: {target: dev, outputs: {dev: {type: duckdb, path: clinic.duckdb, schema: dev}, "
        "prod: {type: duckdb, path: clinic.duckdb, schema: prod}}}\n",
        encoding="utf-8",
    )
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for schema, rows in {"dev": FEW, "prod": MANY, "prod_marts": MANY, "marts": MANY, "main": MANY}.items():
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            for table in ("people", "people_v1", "people_v2", "elsewhere"):
                connection.execute(f"CREATE OR REPLACE TABLE {schema}.{table} AS SELECT * FROM {rows}")
    return folder


def test_a_table_in_another_database_is_not_tested_on_its_namesake(tmp_path: Path) -> None:
    source = built("elsewhere", resource_type="source", source_name="raw", schema="main", database="other")
    folder = two_targets(tmp_path, source, built("people", schema="prod", database="CLINIC"))
    result = sqlaudit.gate(dbt_project=folder, dbt_target="prod")
    assert not result.passed
    assert [test.outcome.value for test in result.tests] == ["pass", "pass"]
    (mistake,) = result.mistakes
    assert "raw.elsewhere is in the database 'other', which the target 'prod' does not connect to" in mistake.message


def test_a_file_of_the_schemas_name_is_not_its_schema(tmp_path: Path) -> None:
    """DuckDB reads dev.people as the table main.people of the database dev, too."""
    folder = two_targets(tmp_path, built("people", database="dev"))
    (folder / "clinic.duckdb").rename(folder / "dev.duckdb")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{folder / 'dev.duckdb'}' AS other")
        connection.execute("DROP SCHEMA other.dev CASCADE")
    profiles = (folder / "profiles.yml").read_text(encoding="utf-8").replace("clinic.duckdb", "dev.duckdb")
    (folder / "profiles.yml").write_text(profiles, encoding="utf-8")
    assert [test.outcome.value for test in sqlaudit.gate(dbt_project=folder).tests] == ["error"]


ENV_MACRO = {"macro.clinic.x": {"name": "generate_schema_name", "package_name": "clinic"}}
OWN = {"config": {"schema": "marts"}}


@pytest.mark.parametrize(
    ("nodes", "macros", "target", "fits"),
    [
        ([built("people")], {}, "dev", True),
        ([built("people")], {}, "prod", False),
        ([built("people", schema="prod")], {}, "prod", True),
        ([built("people", schema="PROD")], {}, "prod", True),
        ([built("people", schema="prod")], {}, "dev", False),
        ([built("people", schema="prod_marts", **OWN)], {}, "prod", True),
        ([built("people", schema="dev_marts", **OWN)], {}, "prod", False),
        ([built("people", schema="marts", **OWN)], {}, "prod", False),
        ([built("people", schema="dev", **OWN)], ENV_MACRO, "prod", False),
        ([built("people", schema="dev", **OWN)], ENV_MACRO, "dev", True),
        ([built("people", schema="marts", **OWN), built("staging", schema="prod")], ENV_MACRO, "prod", True),
        ([built("people", schema="marts", **OWN), built("staging", schema="prod")], ENV_MACRO, "dev", False),
        (
            [built("people", resource_type="snapshot", schema="marts", config={"target_schema": "marts"})],
            {},
            "prod",
            True,
        ),
    ],
)
def test_a_manifest_of_another_target_is_refused(
    nodes: list[dict[str, Any]], macros: dict[str, Any], target: str, fits: bool, tmp_path: Path
) -> None:
    folder = two_targets(tmp_path, *nodes, macros=macros)
    if fits:
        policy = load_dbt_policy(folder, target)
        assert not policy.notes
        assert not mistakes_of(policy)
    else:
        for call in (
            lambda: sqlaudit.gate(dbt_project=folder, dbt_target=target),
            lambda: load_dbt_policy(folder, target),
        ):
            with pytest.raises(
                UsageError, match=rf"was not made for the target '{target}'.*dbt parse --target {target}"
            ):
                call()


def test_schemas_that_a_project_names_itself_are_not_compared(tmp_path: Path) -> None:
    folder = two_targets(tmp_path, built("people", schema="marts", **OWN), macros=ENV_MACRO)
    result = sqlaudit.gate(dbt_project=folder, dbt_target="prod")
    assert result.passed
    assert "was not checked" in result.notes[0]


def test_without_a_profile_only_statements_are_written(tmp_path: Path) -> None:
    folder = two_targets(tmp_path, built("people"))
    (folder / "profiles.yml").unlink()
    assert len(load_dbt_policy(folder, connects=False).tables) == 1
    for more in ({"target": "prod", "connects": False}, {}):
        with pytest.raises(UsageError, match=r"no profiles\.yml"):
            load_dbt_policy(folder, **more)


def test_versions_of_a_model_are_tables_of_their_own(tmp_path: Path) -> None:
    nodes = [built("people", schema="prod", alias=f"people_v{version}", version=version) for version in (1, 2)]
    folder = two_targets(tmp_path, *nodes)
    result = sqlaudit.gate(dbt_project=folder, dbt_target="prod")
    assert [(test.table, test.outcome.value) for test in result.tests] == [("people.v1", "pass"), ("people.v2", "pass")]
    assert not result.mistakes
    assert len(sqlaudit.gate(dbt_project=folder, dbt_target="prod", select=["people"]).tests) == 2
    assert len(sqlaudit.gate(dbt_project=folder, dbt_target="prod", select=["people.v2"]).tests) == 1


def test_a_profile_named_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path, manifest())
    file = folder / "dbt_project.yml"
    file.write_text("name: clinic\nprofile: \"{{ env_var('PROFILE_OF_DBT', 'clinic') }}\"\n", encoding="utf-8")
    assert len(sqlaudit.gate(dbt_project=folder).tests) == 4
    monkeypatch.setenv("PROFILE_OF_DBT", SECRET)
    with pytest.raises(UsageError, match="there is no profile what an environment variable says") as error:
        sqlaudit.gate(dbt_project=folder)
    assert SECRET not in str(error.value)
    file.write_text("name: clinic\nprofile: \"{{ var('profile') }}\"\n", encoding="utf-8")
    with pytest.raises(UsageError, match="other than env_var"):
        sqlaudit.gate(dbt_project=folder)


@pytest.mark.parametrize("target", ["dev", "prod"])
def test_every_report_names_the_relation_that_was_tested(target: str, tmp_path: Path) -> None:
    """FAIL in dev and PASS in prod: the same model, and another table."""
    result = sqlaudit.gate(dbt_project=two_targets(tmp_path, built("people", schema=target)), dbt_target=target)
    assert result.passed is (target == "prod")
    for chosen in FORMATS:
        assert f"clinic.{target}.people" in render_run(result, chosen) or chosen == "openlineage", chosen
    assert f'"{target}"."people"' in json.loads(render_run(result, "openlineage"))["inputs"][0]["name"]

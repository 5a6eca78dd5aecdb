"""Policies and dbt projects as honest people have them: odd names, versions of a model, and prod beside dev."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from sqlaudit.gates.nodes import yaml_text
from tests.honest.honest_table import HonestTable

ODD = ("age-band", "Age in Years", "1st visit", "%fat", "it's", "größe", "order", "q1", "2020", "Blood Type (ABO)")
Files = Callable[[Path], Mapping[str, Path]]


def a_policy(name: str) -> Files:
    """A policy for a table whose quasi-identifier has this name, in groups of four."""

    def write(folder: Path) -> Mapping[str, Path]:
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            quoted = name.replace('"', '""')
            connection.execute(f'CREATE TABLE people AS SELECT i % 2 AS "{quoted}", i % 4 AS ill FROM range(8) AS r(i)')
        policy = folder / "sqlaudit.yml"
        policy.write_text(
            "version: 1\nconnections: {main: {duckdb: clinic.duckdb}}\ntables:\n"
            f"- {{table: people, quasi_identifiers: [{yaml_text(name)}], sensitive: [ill],\n"
            "   requirements: [k=4, l=2]}\n",
            encoding="utf-8",
        )
        return {"policy": policy}

    return write


def a_project(*nodes: Mapping[str, Any], **macros: Any) -> Files:
    """A dbt project with the targets dev and prod in one database, parsed for prod."""

    def write(folder: Path) -> Mapping[str, Path]:
        (folder / "target").mkdir()
        (folder / "dbt_project.yml").write_text("name: clinic\nprofile: clinic\n", encoding="utf-8")
        outputs = ", ".join(
            f"{name}: {{type: duckdb, path: clinic.duckdb, schema: {name}}}" for name in ("dev", "prod")
        )
        (folder / "profiles.yml").write_text(f"clinic: {{target: dev, outputs: {{{outputs}}}}}\n", encoding="utf-8")
        meta = {"sqlaudit": {"quasi_identifiers": ["age"], "requirements": ["k=2"]}}
        usual = {"resource_type": "model", "database": "clinic", "meta": meta, "columns": {}, "config": {}}
        named = {f"model.clinic.{place}": {**usual, **node} for place, node in enumerate(nodes)}
        manifest = {"metadata": {"adapter_type": "duckdb"}, "nodes": named, "sources": {}, "macros": macros}
        (folder / "target" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            for node in nodes:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {node['schema']}")
                connection.execute(f"CREATE TABLE {node['schema']}.{node['alias']} AS SELECT 30 AS age FROM range(4)")
        return {"project": folder}

    return write


PROD = "test --dbt-project {project} --dbt-target prod"
OWN = {"config": {"schema": "marts"}}
TABLES = [
    *(
        HonestTable(
            f"a policy about the column {name}",
            "Every group has four people and two illnesses, whatever the column is called.",
            "test -f {policy}",
            write=a_policy(name),
        )
        for name in ODD
    ),
    HonestTable(
        "a dbt project parsed for prod",
        "The manifest names the tables of prod, and prod was asked for.",
        PROD,
        write=a_project({"name": "people", "alias": "people", "schema": "prod"}),
    ),
    HonestTable(
        "a dbt project with a custom schema",
        "dbt puts it into prod_marts by its own rule.",
        PROD,
        write=a_project({"name": "people", "alias": "people", "schema": "prod_marts", **OWN}),
    ),
    HonestTable(
        "a dbt project whose schemas in prod have no prefix",
        "The project's own macro leaves out the prefix in prod, as many do; one table is in the schema of prod.",
        PROD,
        write=a_project(
            {"name": "people", "alias": "people", "schema": "marts", **OWN},
            {"name": "staging", "alias": "staging", "schema": "prod"},
            x={"name": "generate_schema_name", "package_name": "clinic"},
        ),
    ),
    HonestTable(
        "a dbt project with two versions of a model",
        "Each version is a table of its own, and both keep the limit.",
        PROD,
        write=a_project(*({"name": "people", "alias": f"people_v{n}", "version": n, "schema": "prod"} for n in (1, 2))),
    ),
]

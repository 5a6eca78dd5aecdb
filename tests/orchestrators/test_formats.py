"""What is written for catalogues, read by what their makers publish: classes of OpenLineage, a JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import open_data_contract_standard
import yaml
from openlineage.client.event_v2 import InputDataset, Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import data_quality_assertions_dataset as facets

import sqlaudit
from sqlaudit.gates.outputs import openlineage_event
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.standalone.policies import Wording, contract_text, policy_statements
from sqlaudit.gates.standalone.request import Returns
from tests.gates.test_contracts import CONTRACT

POLICY = """
version: 1
tables:
  - file: people.csv
    quasi_identifiers: [zip]
    sensitive: [ill]
    requirements: [k=2, {l: 2, severity: warn}]
"""

CONTRACT_POLICY = """
version: 1
connections: {there: {env: THERE}}
tables:
  - table: clinic.people
    quasi_identifiers: [zip]
    sensitive: [ill]
    requirements: [k=2, {l: 2, severity: warn, tags: [release]}, {column_sets: {max_size: 2}}]
"""


def test_openlineage_reads_an_event_as_it_was_meant(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("zip,ill\n1,flu\n1,cold\n2,flu\n2,flu\n")
    (tmp_path / "sqlaudit.yml").write_text(POLICY)
    event = openlineage_event(sqlaudit.gate(tmp_path / "sqlaudit.yml"))
    read = as_run_event(event)
    assert read.schemaURL == event["schemaURL"]
    assert (read.eventType, read.run.runId) == (RunState.COMPLETE, event["run"]["runId"])
    [dataset] = read.inputs
    facet = dataset.inputFacets["dataQualityAssertions"]
    assert facet._schemaURL == event["inputs"][0]["inputFacets"]["dataQualityAssertions"]["_schemaURL"]
    assert [(one.assertion, one.success, one.severity, one.column) for one in facet.assertions] == [
        ("k_anonymity", True, "error", None),
        ("distinct_l_diversity", False, "warn", "ill"),
    ]


def as_run_event(event: dict[str, Any]) -> RunEvent:
    """An event as the classes that OpenLineage generates from its schemas, which take no other key."""
    known = dict(event)
    schema, kind, inputs = known.pop("schemaURL"), RunState(known.pop("eventType")), known.pop("inputs")
    run, job = Run(**known.pop("run")), Job(**known.pop("job"))
    made = RunEvent(eventType=kind, run=run, job=job, inputs=[as_input(one) for one in inputs], **known)
    assert made.schemaURL == schema
    return made


def as_input(dataset: dict[str, Any]) -> InputDataset:
    [(name, facet)] = dataset["inputFacets"].items()
    assertions = [facets.Assertion(**one) for one in facet["assertions"]]
    made = facets.DataQualityAssertionsDatasetFacet(assertions=assertions, producer=facet["_producer"])
    return InputDataset(dataset["namespace"], dataset["name"], inputFacets={name: made})


def test_rules_follow_the_schema_of_data_contracts(tmp_path: Path) -> None:
    (tmp_path / "sqlaudit.yml").write_text(CONTRACT_POLICY)
    made = policy_statements(load_policy(tmp_path / "sqlaudit.yml").tables, Wording("snowflake", returns=Returns.COUNT))
    written = yaml.safe_load(contract_text(made, "sqlaudit.yml"))
    schema = json.loads(Path(str(open_data_contract_standard.__file__)).with_name("schema.json").read_text())
    validator = jsonschema.Draft201909Validator(schema)
    assert [error.message for error in validator.iter_errors(written)] == []
    rules = written["schema"][0]["quality"]
    assert [rule["type"] for rule in rules] == ["sql", "sql", "text"]
    del rules[0]["mustBe"]
    assert list(validator.iter_errors(written)) != []


def test_a_contract_that_is_read_follows_its_schema() -> None:
    schema = json.loads(Path(str(open_data_contract_standard.__file__)).with_name("schema.json").read_text())
    errors = jsonschema.Draft201909Validator(schema).iter_errors(yaml.safe_load(CONTRACT))
    assert [error.message for error in errors] == []

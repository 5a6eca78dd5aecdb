"""The statements of a policy as quality rules of an Open Data Contract (ODCS 3.1): `mustBe: 0` for what falls short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

from sqlaudit.base.version import __version__
from sqlaudit.gates.spec import TestSpec
from sqlaudit.gates.standalone.policies import PolicyStatement
from sqlaudit.reports.escape import visible

API_VERSION = "v3.1.0"


class _Contract(yaml.SafeDumper):
    """Statements keep their lines, and no text becomes an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Contract.add_representer(str, _text)


def contract_text(made: Sequence[PolicyStatement], policy: str) -> str:
    """A contract with the quality rules of every table.

    A rule tells the bare verdict: thresholds, exceptions and baselines of the policy are not in it. A test that no
    statement carries is a rule of type text, which nobody runs and everybody can read.

    Args:
        made: statements that return a count. policy: the file, as the user named it.
    """
    tables = {one.table.name: one.table for one in made}
    contract = {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": str(uuid5(NAMESPACE_URL, f"sqlaudit:{policy}")),
        "name": visible(policy),
        "version": "1.0.0",
        "status": "draft",
        "schema": [
            _named(name, table.target.relation if table.target else "")
            | {"quality": [_rule(one) for one in made if one.table.name == name]}
            for name, table in tables.items()
        ],
    }
    dialect = made[0].compiled.dialect
    head = f"# sqlaudit {__version__}: quality rules of {visible(policy)} for {dialect}, to be taken into a contract.\n"
    return head + yaml.dump(contract, Dumper=_Contract, sort_keys=False, allow_unicode=True, width=120)


def _named(name: str, relation: str) -> dict[str, Any]:
    return {"name": name} | ({"physicalName": relation} if relation else {})


def _rule(one: PolicyStatement) -> dict[str, Any]:
    spec, compiled = one.spec, one.compiled
    about = f" for {one.sensitive}" if one.sensitive else ""
    rule: dict[str, Any] = {"name": f"{spec.requirement}{about}"}
    if compiled.refused:
        return rule | {"type": "text", "description": f"Not written as SQL: {compiled.refused}"}
    return rule | {
        "description": spec.description or _definition(one),
        "type": "sql",
        "query": compiled.sql,
        "mustBe": 0,
        "unit": "rows",
        "severity": _severity(spec),
        **({"tags": list(spec.tags)} if spec.tags else {}),
    }


def _severity(spec: TestSpec) -> str:
    return "warning" if spec.severity == "warn" else "error"


def _definition(one: PolicyStatement) -> str:
    from sqlaudit.models.registry import CELL_RULES, REGISTRY

    model = REGISTRY.get(one.compiled.model) or CELL_RULES[one.compiled.model]
    return f"{model.title}: {model.definition}"

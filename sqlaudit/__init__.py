"""sqlaudit: how easily can the people in a table be re-identified? Asked inside the database."""

from typing import Any

_WHERE = {
    "__version__": "sqlaudit.base.version",
    "aggregates": "sqlaudit.tabular.run",
    "attack": "sqlaudit.release.attacks.run",
    "compile_checks": "sqlaudit.gates.standalone.checks",
    "audit": "sqlaudit.audits.run",
    "audit_boxes": "sqlaudit.remedies.cloak.run",
    "cloak": "sqlaudit.remedies.cloak.run",
    "columns": "sqlaudit.column_sets.search",
    "compare": "sqlaudit.release.compare.run",
    "cube": "sqlaudit.cubes.run",
    "records": "sqlaudit.column_sets.records.search",
    "releases": "sqlaudit.release.series.run",
    "disclosure_curve": "sqlaudit.audits.disclosure.api",
    "what_if": "sqlaudit.audits.disclosure.api",
    "gate": "sqlaudit.gates.api",
    "hierarchy": "sqlaudit.hierarchies.request",
    "lattice": "sqlaudit.lattices.run",
    "persons": "sqlaudit.events.run",
    "profile": "sqlaudit.profiles.run",
    "recode": "sqlaudit.remedies.recode.run",
    "suppress": "sqlaudit.remedies.suppress.run",
    "AggregatesResult": "sqlaudit.tabular.result",
    "AuditResult": "sqlaudit.audits.result",
    "ConflictingRoles": "sqlaudit.base.errors",
    "CubeResult": "sqlaudit.cubes.result",
    "GateResult": "sqlaudit.gates.result",
    "LatticeResult": "sqlaudit.lattices.result",
    "OutOfRange": "sqlaudit.base.errors",
    "PersonsResult": "sqlaudit.events.result",
    "Limits": "sqlaudit.base.spec",
    "ProfileResult": "sqlaudit.profiles.result",
    "ReadOptions": "sqlaudit.base.spec",
    "Roles": "sqlaudit.base.spec",
    "RecodeResult": "sqlaudit.remedies.recode.result",
    "SqlauditError": "sqlaudit.base.errors",
    "SuppressResult": "sqlaudit.remedies.suppress.result",
    "Undecidable": "sqlaudit.base.errors",
    "UnknownColumn": "sqlaudit.base.errors",
    "UnknownFile": "sqlaudit.base.errors",
    "UsageError": "sqlaudit.base.errors",
}

# Their types are in __init__.pyi, which docs/make_stubs.py writes.
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import sqlaudit` loads no driver."""
    import importlib
    import sys

    if name not in _WHERE:
        raise AttributeError(f"module 'sqlaudit' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

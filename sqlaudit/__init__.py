"""sqlaudit: how easily can the people in a table be re-identified? Asked inside the database."""

from typing import TYPE_CHECKING, Any

from sqlaudit.base.version import __version__

if TYPE_CHECKING:
    from sqlaudit.audits.auditor import audit
    from sqlaudit.audits.disclosure.api import disclosure_curve, what_if
    from sqlaudit.audits.result import AuditResult
    from sqlaudit.base.errors import SqlauditError
    from sqlaudit.base.spec import Limits, ReadOptions, Roles
    from sqlaudit.column_sets.records.search import records
    from sqlaudit.column_sets.search import columns
    from sqlaudit.events.result import PersonsResult
    from sqlaudit.events.run import persons
    from sqlaudit.gates.api import gate
    from sqlaudit.gates.result import GateResult
    from sqlaudit.gates.standalone.checks import compile_checks
    from sqlaudit.hierarchies.request import hierarchy
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.lattices.run import lattice
    from sqlaudit.profiles.result import ProfileResult
    from sqlaudit.profiles.run import profile
    from sqlaudit.release.attacks.run import attack
    from sqlaudit.release.compare.run import compare
    from sqlaudit.release.series.run import releases
    from sqlaudit.remedies.cloak.run import audit_boxes, cloak
    from sqlaudit.remedies.recode.result import RecodeResult
    from sqlaudit.remedies.recode.run import recode
    from sqlaudit.remedies.suppress.result import SuppressResult
    from sqlaudit.remedies.suppress.run import suppress
    from sqlaudit.tabular.result import AggregatesResult
    from sqlaudit.tabular.run import aggregates

_WHERE = {
    "aggregates": "sqlaudit.tabular.run",
    "attack": "sqlaudit.release.attacks.run",
    "compile_checks": "sqlaudit.gates.standalone.checks",
    "audit": "sqlaudit.audits.auditor",
    "audit_boxes": "sqlaudit.remedies.cloak.run",
    "cloak": "sqlaudit.remedies.cloak.run",
    "columns": "sqlaudit.column_sets.search",
    "compare": "sqlaudit.release.compare.run",
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
    "GateResult": "sqlaudit.gates.result",
    "LatticeResult": "sqlaudit.lattices.result",
    "PersonsResult": "sqlaudit.events.result",
    "Limits": "sqlaudit.base.spec",
    "ProfileResult": "sqlaudit.profiles.result",
    "ReadOptions": "sqlaudit.base.spec",
    "Roles": "sqlaudit.base.spec",
    "RecodeResult": "sqlaudit.remedies.recode.result",
    "SqlauditError": "sqlaudit.base.errors",
    "SuppressResult": "sqlaudit.remedies.suppress.result",
}

__all__ = [
    "AggregatesResult",
    "AuditResult",
    "GateResult",
    "LatticeResult",
    "Limits",
    "PersonsResult",
    "ProfileResult",
    "ReadOptions",
    "RecodeResult",
    "Roles",
    "SqlauditError",
    "SuppressResult",
    "__version__",
    "aggregates",
    "attack",
    "audit",
    "audit_boxes",
    "cloak",
    "columns",
    "compare",
    "compile_checks",
    "disclosure_curve",
    "gate",
    "hierarchy",
    "lattice",
    "persons",
    "profile",
    "recode",
    "records",
    "releases",
    "suppress",
    "what_if",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import sqlaudit` loads no driver."""
    import importlib
    import sys

    if name not in _WHERE:
        raise AttributeError(f"module 'sqlaudit' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""sqlaudit: how easily can the people in a table be re-identified? Asked inside the database."""

from typing import TYPE_CHECKING, Any

from sqlaudit.base.version import __version__

if TYPE_CHECKING:
    from sqlaudit.audits.api import audit
    from sqlaudit.audits.disclosure.api import disclosure_curve, what_if
    from sqlaudit.audits.result import AuditResult
    from sqlaudit.base.errors import SqlauditError
    from sqlaudit.base.spec import Limits, ReadOptions, Roles
    from sqlaudit.column_sets.api import columns, records
    from sqlaudit.events.api import persons
    from sqlaudit.events.result import PersonsResult
    from sqlaudit.gates.api import gate
    from sqlaudit.gates.result import GateResult
    from sqlaudit.gates.standalone.api import compile_checks
    from sqlaudit.hierarchies.api import hierarchy
    from sqlaudit.lattices.api import lattice
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.profiles.api import profile
    from sqlaudit.profiles.result import ProfileResult
    from sqlaudit.release.attacks.api import attack
    from sqlaudit.release.compare.api import compare
    from sqlaudit.release.series.api import releases
    from sqlaudit.remedies.cloak.api import audit_boxes, cloak
    from sqlaudit.remedies.recode.api import recode
    from sqlaudit.remedies.recode.result import RecodeResult
    from sqlaudit.remedies.suppress.api import suppress
    from sqlaudit.remedies.suppress.result import SuppressResult
    from sqlaudit.tabular.api import aggregates
    from sqlaudit.tabular.result import AggregatesResult

_WHERE = {
    "aggregates": "sqlaudit.tabular.api",
    "attack": "sqlaudit.release.attacks.api",
    "compile_checks": "sqlaudit.gates.standalone.api",
    "audit": "sqlaudit.audits.api",
    "audit_boxes": "sqlaudit.remedies.cloak.api",
    "cloak": "sqlaudit.remedies.cloak.api",
    "columns": "sqlaudit.column_sets.api",
    "compare": "sqlaudit.release.compare.api",
    "records": "sqlaudit.column_sets.api",
    "releases": "sqlaudit.release.series.api",
    "disclosure_curve": "sqlaudit.audits.disclosure.api",
    "what_if": "sqlaudit.audits.disclosure.api",
    "gate": "sqlaudit.gates.api",
    "hierarchy": "sqlaudit.hierarchies.api",
    "lattice": "sqlaudit.lattices.api",
    "persons": "sqlaudit.events.api",
    "profile": "sqlaudit.profiles.api",
    "recode": "sqlaudit.remedies.recode.api",
    "suppress": "sqlaudit.remedies.suppress.api",
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

"""sqlaudit: how easily can the people in a table be re-identified? Asked inside the database."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sqlaudit.api import audit, profile
    from sqlaudit.api_attack import attack
    from sqlaudit.api_cloak import audit_boxes, cloak
    from sqlaudit.api_columns import columns, records
    from sqlaudit.api_compare import compare
    from sqlaudit.api_compile import compile_checks
    from sqlaudit.api_disclosure import disclosure_curve, what_if
    from sqlaudit.api_gate import gate
    from sqlaudit.api_hierarchy import hierarchy
    from sqlaudit.api_lattice import lattice
    from sqlaudit.api_recode import recode
    from sqlaudit.api_suppress import suppress
    from sqlaudit.errors import SqlauditError
    from sqlaudit.gate_result import GateResult
    from sqlaudit.lattice_result import LatticeResult
    from sqlaudit.profile_result import ProfileResult
    from sqlaudit.recode_result import RecodeResult
    from sqlaudit.result import AuditResult
    from sqlaudit.suppress_result import SuppressResult

_WHERE = {
    "attack": "sqlaudit.api_attack",
    "compile_checks": "sqlaudit.api_compile",
    "audit": "sqlaudit.api",
    "audit_boxes": "sqlaudit.api_cloak",
    "cloak": "sqlaudit.api_cloak",
    "columns": "sqlaudit.api_columns",
    "compare": "sqlaudit.api_compare",
    "records": "sqlaudit.api_columns",
    "disclosure_curve": "sqlaudit.api_disclosure",
    "what_if": "sqlaudit.api_disclosure",
    "gate": "sqlaudit.api_gate",
    "hierarchy": "sqlaudit.api_hierarchy",
    "lattice": "sqlaudit.api_lattice",
    "profile": "sqlaudit.api",
    "recode": "sqlaudit.api_recode",
    "suppress": "sqlaudit.api_suppress",
    "AuditResult": "sqlaudit.result",
    "GateResult": "sqlaudit.gate_result",
    "LatticeResult": "sqlaudit.lattice_result",
    "ProfileResult": "sqlaudit.profile_result",
    "RecodeResult": "sqlaudit.recode_result",
    "SqlauditError": "sqlaudit.errors",
    "SuppressResult": "sqlaudit.suppress_result",
}

__all__ = [
    "AuditResult",
    "GateResult",
    "LatticeResult",
    "ProfileResult",
    "RecodeResult",
    "SqlauditError",
    "SuppressResult",
    "__version__",
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
    "profile",
    "recode",
    "records",
    "suppress",
    "what_if",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `import sqlaudit` loads no driver."""
    import importlib

    if name not in _WHERE:
        raise AttributeError(f"module 'sqlaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

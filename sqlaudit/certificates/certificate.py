"""A certificate as a file: made from a finished audit, written, and read by somebody who does not trust it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import InputError
from sqlaudit.base.files import write_text
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Timing
from sqlaudit.base.words import spelled
from sqlaudit.certificates.asked import UNREADABLE, command_of

SCHEMA = "sqlaudit-certificate/1"
LARGEST = 50_000_000
"""Bytes; a file beyond that is none that this program wrote."""
DEEPEST = 12
"""So deep a certificate is nested at most."""
_FIGURES = ("status", "complete", "classes", "sensitive", "checks")
_SHAPE: Mapping[str, type | tuple[type, ...]] = {
    "target": str,
    "database": bool,
    "read": dict,
    "where": (str, type(None)),
    "query": (str, type(None)),
    "inputs": (str, type(None)),
    "roles": dict,
    "coverage": dict,
    "require": list,
    "shown": dict,
}


def certificate_of(
    result: AuditResult, asked: Mapping[str, Any], snapshot: Mapping[str, Any], relation: Relation
) -> dict[str, Any]:
    """The certificate of an audit, not signed yet. It holds no value of the table.

    Args:
        result: what the audit found. asked: the request as `asked_of` tells it. snapshot: the table as `snapshot_of`.
        relation: what was audited.
    """
    return {
        "schema": SCHEMA,
        "time": result.time,
        "versions": dict(result.versions),
        "command": command_of(asked),
        "asked": dict(asked),
        "snapshot": dict(snapshot),
        "figures": figures_of(result),
        "sql": statements_of(result.statements, relation),
    }


def figures_of(result: AuditResult) -> dict[str, Any]:
    """The figures of an audit as its JSON has them, without classes and their keys."""
    told = result.to_dict()
    return {"rows": result.rows, **{name: told[name] for name in _FIGURES}}


def statements_of(statements: Sequence[Timing], relation: Relation) -> list[dict[str, str]]:
    """The SQL that ran, with `target` in the place of the table: that may be a query, or say where a file lies."""
    return [{"step": one.name, "sql": one.sql.replace(relation.sql, "target")} for one in statements]


def written(certificate: Mapping[str, Any]) -> str:
    """The text of a certificate."""
    return json.dumps(certificate, indent=2, allow_nan=False) + "\n"


def write_certificate(path: Path, certificate: Mapping[str, Any]) -> None:
    """Write a certificate, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    write_text(path, written(certificate))


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate in a file, its parts of the kinds that they should be. What they say is not trusted.

    Raises:
        InputError: the file cannot be read, or is no certificate.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: is too large to be a certificate.")
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_refused)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not JSON. An audit with {spelled('certificate')} writes one.") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise InputError(f"{path}: is no certificate ({SCHEMA}). An audit with {spelled('certificate')} writes one.")
    _check_shape(path, found)
    return found


def _check_shape(path: Path, found: Mapping[str, Any]) -> None:
    """Refuse what this program would not have written.

    Raises:
        InputError: a part is missing or of another kind.
    """
    if _depth(found) > DEEPEST:
        raise InputError(f"{path}: {UNREADABLE.format('text')}")
    kinds = {
        "time": str,
        "versions": dict,
        "command": str,
        "asked": dict,
        "snapshot": dict,
        "figures": dict,
        "sql": list,
    }
    wrong = [name for name, kind in kinds.items() if not isinstance(found.get(name), kind)]
    asked = found.get("asked")
    if isinstance(asked, dict):
        wrong += [f"asked.{name}" for name, kind in _SHAPE.items() if not isinstance(asked.get(name), kind)]
        wrong += [] if all(isinstance(text, str) for text in asked.get("require") or ()) else ["asked.require"]
        kinds_of = {"read": str | bool, "roles": str | bool | int, "coverage": str | bool}
        wrong += [f"asked.{name}" for name, kind in kinds_of.items() if not _holds(asked.get(name), kind)]
        wrong += [] if _is_shown(asked.get("shown")) else ["asked.shown"]
    steps = found.get("sql") if isinstance(found.get("sql"), list) else []
    if not all(isinstance(one, dict) and {"step", "sql"} == set(one) for one in steps or ()):
        wrong.append("sql")
    if "signature" in found and not isinstance(found["signature"], dict):
        wrong.append("signature")
    if wrong:
        raise InputError(f"{path}: {UNREADABLE.format(wrong[0])}")


def _depth(value: Any) -> int:
    """How deep objects and lists are nested, counted without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def _holds(options: Any, kind: Any) -> bool:
    """Whether each option is of such a kind, or a list of texts."""
    values = options.values() if isinstance(options, dict) else ()
    lists = [one for one in values if isinstance(one, list)]
    texts = all(isinstance(text, str) for one in lists for text in one)
    return texts and all(isinstance(one, kind) for one in values if not isinstance(one, list))


def _is_shown(shown: Any) -> bool:
    """Whether it says of how many classes a report told, as numbers."""
    if not isinstance(shown, dict) or set(shown) != {"failing_classes", "worst_classes", "values"}:
        return False
    failing, worst = shown["failing_classes"], shown["worst_classes"]
    return (failing is None or type(failing) is int) and type(worst) is int and type(shown["values"]) is bool


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once, so that everybody reads the same in it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refused(_: str) -> None:
    raise ValueError

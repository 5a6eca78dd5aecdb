"""Which rows an audit was of, without a value of them: how many, and a checksum of their histogram."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import AuditSpec
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine

WAY = "sha256-histogram-1"
"""How the checksum is made; another way gets another name."""
_PIECE = 1 << 20


def snapshot_of(engine: Engine, spec: AuditSpec, relation: Relation) -> dict[str, Any]:
    """What the table holds in the columns that have a role.

    The checksum is one of combinations of values with their numbers of rows: it changes with any of them, and not with
    the order of rows or with a column that no role names. It is made in the database: digests leave it, and no value.

    Returns:
        `rows`, `combinations`, `columns`, `checksum`, how that was made (`way`), and `version`: what the files were
        that were read, None where the table is in a database.

    Raises:
        UsageError: a role's column is not there. EngineError: the database refused or failed.
    """
    roles = resolve_roles(spec.roles, relation, engine.dialect)
    one = (roles.entity, roles.weights)
    named: list[Resolved] = [*roles.quasi_identifiers, *roles.sensitive, *(role for role in one if role is not None)]
    columns = [Raw(f"({role.sql})") for role in named]
    found = engine.run(
        render(
            "certificates/histogram_digests.sql",
            engine.dialect,
            step="checksum",
            source=Raw(relation.sql),
            columns=columns,
        )
    )
    written = "".join(f"{bucket}:{digests}\n" for bucket, _, _, digests in found)
    return {
        "rows": sum(int(row[2]) for row in found),
        "combinations": sum(int(row[1]) for row in found),
        "columns": [role.label for role in named],
        "way": WAY,
        "checksum": hashlib.sha256(written.encode()).hexdigest(),
        "version": _version(spec),
    }


def _version(spec: AuditSpec) -> dict[str, Any] | None:
    """The files of a target as one digest; None for a table."""
    from sqlaudit.engines.overwriting import files_named

    files = sorted(files_named(spec.target.relation))
    if not files:
        return None
    digest = hashlib.sha256()
    for file in files:
        for piece in _pieces(file):
            digest.update(piece)
    return {"files": len(files), "bytes": sum(file.stat().st_size for file in files), "sha256": digest.hexdigest()}


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE):
            yield piece

"""An audit with its certificate, which rows it was of, and a certificate that is run again and compared."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.certificates.certificate import (
    asked_of,
    can_sign,
    certificate_of,
    changed_texts,
    command_of,
    figures_of,
    refuse_untrusted,
    signed,
    signed_by,
    statements_of,
)
from sqlaudit.certificates.result import Difference, VerifyResult
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine, provenance

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


# A certificate and what was found now, compared figure by figure.

_SAME = 1e-9
"""Floats of two runs agree to this relative error: a parallel sum differs in its last digits."""
_LONGEST = 60


def differences(certificate: Mapping[str, Any], now: Mapping[str, Any], same_versions: bool) -> Iterator[Difference]:
    """What is not as a certificate says.

    Args:
        certificate: what was certified. now: `figures`, `snapshot` and `sql` as they are found now.
        same_versions: whether the same versions ran; other ones may ask in another SQL.
    """
    for part in ("snapshot", "figures"):
        before, found = dict(_leaves(certificate[part])), dict(_leaves(now[part]))
        for name in dict.fromkeys((*before, *found)):
            if name not in before or name not in found or not _same(before[name], found[name]):
                yield Difference(f"{part}: {name}", _text(before, name), _text(found, name))
    if same_versions:
        yield from _statements(certificate["sql"], now["sql"])


def _statements(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[Difference]:
    """The steps whose SQL is not what the roles give, without the text of either."""
    if len(before) != len(now):
        yield Difference("sql: statements", str(len(before)), str(len(now)))
    for number, (one, other) in enumerate(zip(before, now, strict=False), 1):
        if one != other:
            yield Difference(f"sql: statement {number}", "another text", f"what the roles give: {other['step']}")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with the way to it; entries of a list by what they are called."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}: {name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, inner in enumerate(value, 1):
            yield from _leaves(inner, f"{path} {number}{_called(inner)}")
    else:
        yield path, value


def _called(entry: Any) -> str:
    names = [entry.get("model"), entry.get("sensitive"), entry.get("name")] if isinstance(entry, Mapping) else []
    said = " of ".join(str(name)[:_LONGEST] for name in names if name)
    return f" ({said})" if said else ""


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_same, before, now))
    if isinstance(before, float) or isinstance(now, float):
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, now))
        return numbers and math.isclose(before, now, rel_tol=_SAME)
    return type(before) is type(now) and bool(before == now)


def _text(values: Mapping[str, Any], name: str) -> str:
    """A value in few letters; a list of numbers as one."""
    if name not in values:
        return ""
    text = str(values[name])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# Which rows an audit was of, without a value of them: how many, and a checksum of their histogram.

WAY = "sha256-histogram-1"
"""How the checksum is made; another way gets another name."""
_PIECE = 1 << 20


def snapshot_of(engine: Engine, request: AuditRequest, relation: Relation) -> dict[str, Any]:
    """What the table holds in the columns that have a role.

    The checksum is one of combinations of values with their numbers of rows: it changes with any of them, and not with
    the order of rows or with a column that no role names. It is made in the database: digests leave it, and no value.

    Returns:
        `rows`, `combinations`, `columns`, `checksum`, how that was made (`way`), and `version`: what the files were
        that were read, None where the table is in a database.

    Raises:
        UsageError: a role's column is not there. EngineError: the database refused or failed.
    """
    roles = resolve_roles(request.roles, relation, engine)
    one = (roles.entity, roles.weights)
    named: list[Resolved] = [*roles.quasi_identifiers, *roles.sensitive, *(role for role in one if role is not None)]
    columns = [Raw(f"({role.sql})") for role in named]
    found = engine.run(
        render("certificates/histogram_digests.sql", engine.dialect, step="checksum", source=relation, columns=columns)
    )
    written = "".join(f"{bucket}:{digests}\n" for bucket, _, _, digests in found)
    return {
        "rows": sum(int(row[2]) for row in found),
        "combinations": sum(int(row[1]) for row in found),
        "columns": [role.label for role in named],
        "way": WAY,
        "checksum": hashlib.sha256(written.encode()).hexdigest(),
        "version": _version(request),
    }


def _version(request: AuditRequest) -> dict[str, Any] | None:
    """The files of a target as one digest; None for a table."""
    from sqlaudit.engines.writing import files_named

    files = sorted(files_named(request.target.relation))
    if not files:
        return None
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while piece := opened.read(_PIECE):
                digest.update(piece)
    return {"files": len(files), "bytes": sum(file.stat().st_size for file in files), "sha256": digest.hexdigest()}


# An audit with its certificate, and a certificate that is run again.


def audit_certified(
    engine: Engine, request: AuditRequest, db: bool, key: Ed25519PrivateKey | None = None
) -> tuple[AuditResult, dict[str, Any]]:
    """An audit, and its certificate.

    Args:
        engine: an open engine. request: the request. db: whether a database was named. key: signs it, if given.

    Raises:
        UsageError, EngineError: as `audit_table`.
    """
    relation = engine.open(request.target)
    result = audit_table(engine, request, relation=relation)
    asked = asked_of(request, db)
    snapshot = snapshot_of(engine, request, relation)
    certificate = certificate_of(result, asked, snapshot, relation, engine.private_prefix)
    return result, certificate if key is None else signed(certificate, key)


@dataclass(frozen=True)
class Verification:
    """A certificate that is to be run again.

    Args:
        file: where it lies. certificate: what it holds. request: the request that it makes.
        key: whose signature it has to carry, None = anybody's. trust: whether any SQL of its roles is run.
    """

    file: Path
    certificate: Mapping[str, Any]
    request: AuditRequest
    key: Ed25519PublicKey | None = None
    trust: bool = False

    def run(self, engine: Engine) -> VerifyResult:
        """Audit again and compare. Statements are made again from the roles; those of the file are only compared.

        Raises:
            UsageError: a role that the table does not have, or SQL that is more than an expression of columns.
        """
        already = len(engine.executed)
        relation = engine.open(self.request.target)
        if not self.trust:
            named = self.request.roles.by_role().values()
            refuse_untrusted((name for names in named for name in names), relation, engine.dialect)
        try:
            result = audit_table(engine, self.request, relation=relation)
        except UsageError as error:
            if not error.bare:
                raise
            # the certificate may name a file that is not a table
            raise UsageError(f"{error.bare} Name the certificate's table as TARGET.") from None
        now = {
            "figures": figures_of(result),
            "snapshot": snapshot_of(engine, self.request, relation),
            "sql": statements_of(result.statements, relation, engine.private_prefix),
        }
        state, name = self._signature()
        return VerifyResult(
            certificate=str(self.file),
            target=self.request.target.name,
            rows=result.rows,
            roles=result.roles,
            certified={
                "time": self.certificate["time"],
                "versions": self.certificate["versions"],
                "status": self.certificate["figures"].get("status"),
                "required": len(self.certificate["asked"]["require"]) + len(self.certificate["asked"]["coverage"]),
            },
            signature=state,
            key=name,
            trusted=bool(name) and self.key is not None,
            differences=tuple(self._differences(state, now, result)),
            notes=tuple(self._notes(state, result)),
            **provenance(engine, already),
        )

    def _signature(self) -> tuple[str, str]:
        if "signature" not in self.certificate:
            return "none", ""
        if self.key is None and not can_sign():
            return "unchecked", ""
        name = signed_by(self.certificate, self.key)
        return ("valid" if name else "invalid"), name

    def _differences(self, state: str, now: Mapping[str, Any], result: AuditResult) -> Iterator[Difference]:
        if state == "invalid":
            whose = "by the key that you named" if self.key is not None else "by the key that it names"
            yield Difference("signature", "a signature", f"not one of this text {whose}")
        elif state == "none" and self.key is not None:
            yield Difference("signature", "none", "one was asked for")
        asked = self.certificate["asked"]
        if self.certificate["command"] != command_of(asked):
            yield Difference("command", "another one", "its roles and requirements give a different command")
        for name in changed_texts(asked, self.request):
            yield Difference(name, "another text", "the text given now")
        yield from differences(self.certificate, now, self._same_versions(result))

    def _same_versions(self, result: AuditResult) -> bool:
        return dict(self.certificate["versions"]) == dict(result.versions)

    def _notes(self, state: str, result: AuditResult) -> Iterator[str]:
        yield {
            "none": "The certificate is not signed, so its author is unknown.",
            "unchecked": "The certificate is signed, but the signature was not checked: pip install 'sqlaudit[sign]'.",
            "invalid": "Do not trust the certificate: it was changed after signing, or signed with another key.",
            "valid": "The certificate is signed by the key that you named."
            if self.key is not None
            else f"The certificate is signed with an unknown key. Name the key that you trust with {spelled('key')}.",
        }[state]
        if not self._same_versions(result):
            yield (
                "It was made by other versions of sqlaudit or the database. Its SQL was not compared, and checksums "
                "may differ where values are written differently."
            )

"""Audits with a certificate, the snapshot of their rows, and the verification of a certificate by a second audit."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
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
    build_certificate,
    build_command,
    can_sign,
    find_changed_texts,
    normalize_statements,
    parameters_of,
    refuse_untrusted,
    select_figures,
    sign_certificate,
    verify_signature,
)
from sqlaudit.certificates.result import Difference, VerifyResult
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine, provenance

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


# The comparison of a certificate with the current figures, one by one.

_TOLERANCE = 1e-9
"""Floats of two runs agree to this relative error: a parallel sum differs in its last digits."""
_LONGEST = 60


def compare_certificate(
    certificate: Mapping[str, Any], now: Mapping[str, Any], same_versions: bool
) -> Iterator[Difference]:
    """Yield the differences between a certificate and the current state.

    Args:
        certificate: the certificate.
        now: the current `figures`, `snapshot` and `sql`.
        same_versions: whether the same versions ran; others may run other SQL, which is then not compared.
    """
    for part in ("snapshot", "figures"):
        certified, current = dict(_flatten(certificate[part])), dict(_flatten(now[part]))
        for name in dict.fromkeys((*certified, *current)):
            if name not in certified or name not in current or not _is_equal(certified[name], current[name]):
                yield Difference(f"{part}: {name}", _shorten(certified, name), _shorten(current, name))
    if same_versions:
        yield from _compare_statements(certificate["sql"], now["sql"])


def count_compared(certificate: Mapping[str, Any], now: Mapping[str, Any], same_versions: bool) -> dict[str, int]:
    """Return how many values of each part `compare_certificate` compares."""
    counts = {
        part: len({name for state in (certificate, now) for name, _ in _flatten(state[part])})
        for part in ("snapshot", "figures")
    }
    return {**counts, "sql": max(len(certificate["sql"]), len(now["sql"]))} if same_versions else counts


def _compare_statements(certified: list[dict[str, object]], now: list[dict[str, object]]) -> Iterator[Difference]:
    """Yield the steps whose SQL differs from what the roles give, without the text of either."""
    if len(certified) != len(now):
        yield Difference("sql: statements", str(len(certified)), str(len(now)))
    for number, (expected, actual) in enumerate(zip(certified, now, strict=False), 1):
        if expected != actual:
            yield Difference(f"sql: statement {number}", "another text", f"what the roles give: {actual['step']}")


def _flatten(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every value with its path; entries of a list have their labels in it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flatten(inner, f"{path}: {name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(child, Mapping) for child in value):
        for number, inner in enumerate(value, 1):
            yield from _flatten(inner, f"{path} {number}{_label_of(inner)}")
    else:
        yield path, value


def _label_of(entry: object) -> str:
    names = [entry.get("model"), entry.get("sensitive"), entry.get("name")] if isinstance(entry, Mapping) else []
    label = " of ".join(str(name)[:_LONGEST] for name in names if name)
    return f" ({label})" if label else ""


def _is_equal(certified: Any, now: Any) -> bool:
    """True if two values are the same, floats within the tolerance."""
    if isinstance(certified, list) and isinstance(now, list):
        return len(certified) == len(now) and all(map(_is_equal, certified, now))
    if isinstance(certified, float) or isinstance(now, float):
        numbers = all(isinstance(number, int | float) and not isinstance(number, bool) for number in (certified, now))
        return numbers and math.isclose(certified, now, rel_tol=_TOLERANCE)
    return type(certified) is type(now) and bool(certified == now)


def _shorten(values: Mapping[str, object], name: str) -> str:
    """Return a value as a short text; empty if there is none."""
    if name not in values:
        return ""
    text = str(values[name])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# The rows of an audit, without their values: their number, and a checksum of their histogram.

WAY = "sha256-histogram-1"
"""Name of the method of the checksum; another method gets another name."""
_PIECE = 1 << 20


def snapshot_of(engine: Engine, request: AuditRequest, relation: Relation) -> dict[str, object]:
    """Return the snapshot of a table's columns with a role.

    The checksum is one of the combinations of values with their numbers of rows: it changes with any of them, but not
    with the order of rows or a column without a role. It is computed in the database: only digests leave it, no values.

    Returns:
        `rows`, `combinations`, `columns`, `checksum`, its method (`way`), and `version`: the digest of the files that
        were read, None for a table in a database.

    Raises:
        UsageError: a role's column does not exist.
        EngineError: the database refused or failed.
    """
    roles = resolve_roles(request.roles, relation, engine)
    optional = (role for role in (roles.entity, roles.weights) if role is not None)
    columns: list[Resolved] = [*roles.quasi_identifiers, *roles.sensitive, *optional]
    expressions = [Raw(f"({column.sql})") for column in columns]
    rows = engine.run(
        render(
            "certificates/histogram_digests.sql", engine.dialect, step="checksum", source=relation, columns=expressions
        )
    )
    digests_text = "".join(f"{bucket}:{digests}\n" for bucket, _, _, digests in rows)
    return {
        "rows": sum(int(row[2]) for row in rows),
        "combinations": sum(int(row[1]) for row in rows),
        "columns": [column.label for column in columns],
        "way": WAY,
        "checksum": hashlib.sha256(digests_text.encode()).hexdigest(),
        "version": _digest_files(request),
    }


def _digest_files(request: AuditRequest) -> dict[str, object] | None:
    """Return the files of a target as one digest; None for a table in a database."""
    from sqlaudit.engines.writing import files_named

    files = sorted(files_named(request.target.relation))
    return digest_files(files) if files else None


def digest_files(files: Sequence[Path]) -> dict[str, object]:
    """Return the number of some files, their bytes, and one SHA-256 of all."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while piece := opened.read(_PIECE):
                digest.update(piece)
    return {"files": len(files), "bytes": sum(file.stat().st_size for file in files), "sha256": digest.hexdigest()}


# An audit with its certificate, and the verification of a certificate.


def audit_certified(
    engine: Engine, request: AuditRequest, db: bool, key: Ed25519PrivateKey | None = None
) -> tuple[AuditResult, dict[str, object]]:
    """Audit a table and return the result with its certificate.

    Args:
        engine: an open engine.
        request: the request.
        db: whether a database was named.
        key: the key that signs the certificate; None = unsigned.

    Raises:
        UsageError, EngineError: as `audit_table`.
    """
    relation = engine.open(request.target)
    result = audit_table(engine, request, relation=relation)
    parameters = parameters_of(request, db)
    snapshot = snapshot_of(engine, request, relation)
    certificate = build_certificate(result, parameters, snapshot, relation, engine.private_prefix)
    return result, certificate if key is None else sign_certificate(certificate, key)


def check_signature(certificate: Mapping[str, Any], key: Ed25519PublicKey | None) -> tuple[str, str]:
    """Return the state of a certificate's signature, as `VerifyResult` has it, and the fingerprint of its key.

    Args:
        certificate: the certificate. key: the key that must have signed it; None = any.
    """
    if "signature" not in certificate:
        return "none", ""
    if key is None and not can_sign():
        return "unchecked", ""
    name = verify_signature(certificate, key)
    return ("valid" if name else "invalid"), name


def signature_differences(state: str, key: Ed25519PublicKey | None) -> Iterator[Difference]:
    """Yield what is wrong with a signature in this state."""
    if state == "invalid":
        signer = "by the key that you named" if key is not None else "by the key that it names"
        yield Difference("signature", "a signature", f"not one of this text {signer}")
    elif state == "none" and key is not None:
        yield Difference("signature", "none", "one was asked for")


def signature_note(state: str, key: Ed25519PublicKey | None) -> str:
    """Return the sentence on a signature in this state."""
    return {
        "none": "The certificate is not signed, so its author is unknown.",
        "unchecked": "The certificate is signed, but the signature was not checked: pip install 'sqlaudit[sign]'.",
        "invalid": "Do not trust the certificate: it was changed after signing, or signed with another key.",
        "valid": "The certificate is signed by the key that you named."
        if key is not None
        else f"The certificate is signed with an unknown key. Name the key that you trust with {spelled('key')}.",
    }[state]


@dataclass(frozen=True)
class Verification:
    """The verification of a certificate.

    Args:
        file: the path of the certificate.
        certificate: its contents.
        request: the request that it contains.
        key: the key that must have signed it; None = any.
        trust: whether any SQL in its roles is run.
    """

    file: Path
    certificate: Mapping[str, Any]
    request: AuditRequest
    key: Ed25519PublicKey | None = None
    trust: bool = False

    def run(self, engine: Engine) -> VerifyResult:
        """Audit again and compare. Statements are built from the roles; those of the file are only compared.

        Raises:
            UsageError: a role's column does not exist, or is SQL that is not trusted.
        """
        executed_before = len(engine.executed)
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
            "figures": select_figures(result),
            "snapshot": snapshot_of(engine, self.request, relation),
            "sql": normalize_statements(result.statements, relation, engine.private_prefix),
        }
        state, name = check_signature(self.certificate, self.key)
        return VerifyResult(
            certificate=str(self.file),
            target=self.request.target.name,
            rows=result.rows,
            roles=result.roles,
            certified={
                "time": self.certificate["time"],
                "versions": self.certificate["versions"],
                "status": self.certificate["figures"].get("status"),
                "required": len(self.certificate["request"]["require"]) + len(self.certificate["request"]["coverage"]),
            },
            signature=state,
            key=name,
            trusted=bool(name) and self.key is not None,
            differences=tuple(self._find_differences(state, now, result)),
            compared=count_compared(self.certificate, now, self._same_versions(result)),
            notes=tuple(self._make_notes(state, result)),
            **provenance(engine, executed_before),
        )

    def _find_differences(self, state: str, now: Mapping[str, object], result: AuditResult) -> Iterator[Difference]:
        """Yield the differences of the signature, the command, the given texts and the figures."""
        yield from signature_differences(state, self.key)
        parameters = self.certificate["request"]
        if self.certificate["command"] != build_command(parameters):
            yield Difference("command", "another one", "its roles and requirements give a different command")
        for name in find_changed_texts(parameters, self.request):
            yield Difference(name, "another text", "the text given now")
        yield from compare_certificate(self.certificate, now, self._same_versions(result))

    def _same_versions(self, result: AuditResult) -> bool:
        return dict(self.certificate["versions"]) == dict(result.versions)

    def _make_notes(self, state: str, result: AuditResult) -> Iterator[str]:
        """Yield the sentences on the signature and the versions."""
        yield signature_note(state, self.key)
        if not self._same_versions(result):
            yield (
                "It was made by other versions of sqlaudit or the database. Its SQL was not compared, and checksums "
                "may differ where values are written differently."
            )

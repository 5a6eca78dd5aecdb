"""An audit with its certificate, and a certificate that is run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import AuditSpec
from sqlaudit.base.words import spelled
from sqlaudit.certificates.asked import asked_of, changed_texts, command_of
from sqlaudit.certificates.certificate import certificate_of, figures_of, statements_of
from sqlaudit.certificates.differences import differences
from sqlaudit.certificates.result import Difference, VerifyResult
from sqlaudit.certificates.signing import can_sign, signed, signed_by
from sqlaudit.certificates.snapshot import snapshot_of
from sqlaudit.certificates.trusted import refuse_untrusted
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def audit_certified(
    auditor: Auditor, spec: AuditSpec, db: bool, key: Ed25519PrivateKey | None = None
) -> tuple[AuditResult, dict[str, Any]]:
    """An audit, and its certificate.

    Args:
        auditor: over an open engine. spec: the request. db: whether a database was named. key: signs it, if given.

    Raises:
        UsageError, EngineError: as `Auditor.audit`.
    """
    relation = auditor.relation = auditor.engine.open(spec.target)
    result = auditor.audit(spec)
    asked = asked_of(spec, db, auditor.failing_classes, auditor.worst_classes, auditor.show_values)
    certificate = certificate_of(result, asked, snapshot_of(auditor.engine, spec, relation), relation)
    return result, certificate if key is None else signed(certificate, key)


@dataclass(frozen=True)
class Verification:
    """A certificate that is to be run again.

    Args:
        file: where it lies. certificate: what it holds. spec: the request that it makes. key: whose signature it has to
            carry, None = anybody's. trust: whether any SQL of its roles is run.
    """

    file: Path
    certificate: Mapping[str, Any]
    spec: AuditSpec
    key: Ed25519PublicKey | None = None
    trust: bool = False

    def run(self, engine: Engine) -> VerifyResult:
        """Audit again and compare. Statements are made anew from the roles; those of the file are only compared.

        Raises:
            UsageError: a role that the table does not have, or SQL that is more than an expression of columns.
        """
        already = len(engine.executed)
        relation = engine.open(self.spec.target)
        if not self.trust:
            named = self.spec.roles.by_role().values()
            refuse_untrusted((name for names in named for name in names), relation, engine.dialect)
        shown = self.certificate["asked"]["shown"]
        auditor = Auditor(engine, shown["failing_classes"], shown["values"], worst_classes=shown["worst_classes"])
        auditor.relation = relation
        result = auditor.audit(self.spec)
        now = {
            "figures": figures_of(result),
            "snapshot": snapshot_of(engine, self.spec, relation),
            "sql": statements_of(result.statements, relation),
        }
        state, name = self._signature()
        return VerifyResult(
            certificate=str(self.file),
            target=self.spec.target.name,
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
            differences=(*self._about_signature(state), *self._differences(now, result)),
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

    def _about_signature(self, state: str) -> Iterator[Difference]:
        if state == "invalid":
            whose = "by the key that you named" if self.key is not None else "by the key that it names"
            yield Difference("signature", "a signature", f"not one of this text {whose}")
        elif state == "none" and self.key is not None:
            yield Difference("signature", "none", "one was asked for")

    def _differences(self, now: Mapping[str, Any], result: AuditResult) -> Iterator[Difference]:
        asked = self.certificate["asked"]
        if self.certificate["command"] != command_of(asked):
            yield Difference("command", "another one", "what its own roles and requirements give is another command")
        for name in changed_texts(asked, self.spec):
            yield Difference(name, "another text", "the text that was given now")
        yield from differences(self.certificate, now, self._same_versions(result))

    def _same_versions(self, result: AuditResult) -> bool:
        return dict(self.certificate["versions"]) == dict(result.versions)

    def _notes(self, state: str, result: AuditResult) -> Iterator[str]:
        yield {
            "none": "It is not signed: it says what was asked and found, and not who says so.",
            "unchecked": "It is signed, but that was not checked: pip install 'sqlaudit[sign]'.",
            "invalid": "Do not trust it: somebody changed it after it was signed, or signed it with another key.",
            "valid": "It is signed by the key that you named."
            if self.key is not None
            else "It is signed, but nothing says whose key that is. Name the key that you trust with "
            f"{spelled('key')}.",
        }[state]
        if not self._same_versions(result):
            yield (
                "It was made by other versions of sqlaudit or the database. Its SQL was not compared, and a checksum "
                "may differ where they write values differently."
            )

"""What running a certificate again found. Frozen; without a value of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlaudit.base.documents import Documented, key, told
from sqlaudit.base.result import MeasuredResult, Status
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class Difference(Documented):
    """What a certificate says and what was found now.

    Args:
        what: of what, for instance `figures: k_anonymity: level`. certified, now: as texts, empty = not there.
    """

    what: str
    certified: str
    now: str


@dataclass(frozen=True, kw_only=True, repr=False)
class VerifyResult(MeasuredResult, Shown):
    """A certificate beside what its table gives now.

    Args:
        certificate: its file. target, engine: what was read now. roles: whom the figures are about.
        certified: when and in which versions it was made, its verdict, and how many requirements that was about: 0
            where none was made.
        signature: `none`, `valid`, `invalid`, or `unchecked` where the package for signatures is not installed.
        key: the fingerprint of the key that signed it, empty unless `valid`. trusted: whether the user named that key.
        differences: empty when the certificate holds. notes: what a reader should know besides.
    """

    schema: ClassVar = "sqlaudit-verify/1"
    shown_by: ClassVar = "sqlaudit.certificates.report:verify_document"
    frame_of: ClassVar = "differences"

    certificate: str
    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    certified: Mapping[str, Any]
    signature: str = field(metadata=key("signature.state"))
    key: str = field(metadata={"key": "signature.key"})
    trusted: bool = field(metadata={"key": "signature.trusted"})
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    @told("key")
    def status(self) -> Status:
        """Whether everything is as the certificate says."""
        return Status.FAIL if self.differences else Status.PASS

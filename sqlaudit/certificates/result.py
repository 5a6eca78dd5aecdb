"""What running a certificate again found, and its report. Frozen; without a value of the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from sqlaudit.base.result import LEFT_OUT, Documented, MeasuredResult, ShownRoles, Status, key, told
from sqlaudit.models.diversity import KAnonymity
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport, moment


class _Certified(TypedDict):
    time: str
    versions: dict[str, str]
    status: object
    required: int


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
        certificate: the file of the certificate. target, engine: what was read now.
        roles: the roles of columns as they were given.
        certified: what the certificate says of itself: when and in which versions it was made, its verdict, and how
            many requirements that was about; without requirements it is none.
        signature: `none`, `valid`, `invalid`, or `unchecked` where the package for signatures is not installed.
        key: the fingerprint of the key that signed it, empty unless `valid`. trusted: whether the user named that key.
        differences: empty when the certificate holds. notes: what a reader should know besides.
        compared: values that were compared, by part of the certificate: `snapshot`, `figures`, and `sql` where the same
            versions ran.
    """

    schema: ClassVar = "sqlaudit-verify/1"
    shown_by: ClassVar = "sqlaudit.certificates.result:VerifyReport"
    frame_of: ClassVar = "differences"

    certificate: str
    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    roles: ShownRoles
    certified: Annotated[Mapping[str, Any], _Certified]
    signature: Annotated[str, Literal["none", "valid", "invalid", "unchecked"]] = field(metadata=key("signature.state"))
    key: str = field(metadata={"key": "signature.key"})
    trusted: bool = field(metadata={"key": "signature.trusted"})
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    compared: Mapping[str, int] = field(default_factory=dict, metadata=LEFT_OUT)

    @property
    @told("key")
    def status(self) -> Annotated[Status, Literal["pass", "fail"]]:
        """`pass` if everything is as in the certificate, else `fail`."""
        return Status.FAIL if self.differences else Status.PASS


_SHOWN, _LONGEST = 40, 24
_FILE = "snapshot: version"
"""What begins the name of a difference between the files that were read."""
_ITEMS = {
    "classes: count": "groups",
    "classes: min_size": "smallest group",
    "classes: max_size": "largest group",
    "classes: sizes": "groups by size",
}
_PARTS = {"figures": "Figures", "snapshot": "Table and files", "sql": "SQL statements"}
_NOT_SAID = (
    "A certificate with the verdict FAIL can be correct. See its verdict under Certificate.",
    "The author of the certificate chose its roles and requirements. Check them under Certificate.",
    "The checksum does not cover columns without a role.",
)


class VerifyReport(MeasuredReport[VerifyResult]):
    """The report on a certificate that was run again: whether its table gives the same figures now."""

    kind = "Verification"
    method_title = "Certificate"
    limits_title = "Limits of this check"

    def headline(self, result: VerifyResult) -> doc.Toned:
        if result.differences:
            return doc.bad(f"DIFFERS: {self.count_differences(result)} between the table and the certificate")
        return doc.good("SAME: the table matches the certificate")

    def count_differences(self, result: VerifyResult) -> str:
        """Return the number of differences in words; the size and digest of a file are one."""
        differing = {_FILE if _is_of_files(difference) else difference.what for difference in result.differences}
        return doc.plural(len(differing), "difference")

    def opening(self, result: VerifyResult) -> Iterator[doc.Content]:
        quasi_identifiers = doc.listed(result.roles.get("quasi_identifiers", ()))
        rows = doc.plural(result.rows, "row")
        yield f"{result.target}: {rows}. All figures were recomputed for {quasi_identifiers}."
        differing = Counter(difference.what.partition(":")[0] for difference in result.differences)
        same = {
            _PARTS[part]: [doc.Portion(values - differing[part], values)] for part, values in result.compared.items()
        }
        yield doc.portions("Compared with the certificate: same (solid) and different (faint)", same)

    def lead(self, result: VerifyResult) -> Iterator[doc.Words]:
        if any(map(_is_of_files, result.differences)):
            yield doc.bad("The file has changed since the certificate was made.")
        yield from result.notes

    def sections(self, result: VerifyResult) -> Iterator[tuple[doc.Section, ...]]:
        differences = [difference for difference in result.differences if not _is_of_files(difference)]
        rows = [
            (_item(difference.what), *map(_without_long_words, (difference.certified, difference.now)))
            for difference in differences[:_SHOWN]
        ]
        if len(differences) > _SHOWN:
            rows.append((f"{doc.count(len(differences) - _SHOWN)} more", "", ""))
        yield doc.section("Differences", doc.table(("item", "certificate", "now"), rows))

    def method(self, result: VerifyResult) -> Iterator[tuple[str, doc.Cell]]:
        roles, certified = result.roles, result.certified
        # without a requirement there was no verdict, whatever the status of such an audit is called
        yield "certificate", result.certificate
        yield "made", moment(str(certified["time"]))
        yield "by", ", ".join(f"{name} {version}" for name, version in certified["versions"].items())
        yield "verdict", str(certified["status"]).upper() if certified["required"] else "no requirements"
        yield "quasi-identifiers", doc.joined(roles.get("quasi_identifiers", ()))
        yield "sensitive columns", doc.joined(roles.get("sensitive", ()))
        yield "signed by", result.key

    def limits(self, result: VerifyResult) -> tuple[str, ...]:
        return _NOT_SAID


def _is_of_files(difference: Difference) -> bool:
    """Return True if the difference is one between the files that were read."""
    return difference.what.startswith(_FILE)


def _item(what: str) -> str:
    said = re.sub(r"^checks \d+ \((.*?)\)", r"\1", what.removeprefix("figures: ")).replace(": levels: ", ": ")
    return doc.label(_ITEMS.get(said) or said.replace(KAnonymity.name, KAnonymity.title).replace("_", " "))


def _without_long_words(text: str) -> str:
    """Sizes of groups in words; checksums are cut, so that the table is not as wide as they are long."""
    text = re.sub(r"\[?\[(\d+), (\d+)\]+", r"\2 of \1", text)
    return " ".join(doc.shortened(word, _LONGEST) for word in text.split(" "))

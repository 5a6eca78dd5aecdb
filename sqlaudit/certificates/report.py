"""What running a certificate again found, as a document."""

from __future__ import annotations

from sqlaudit.certificates.result import VerifyResult
from sqlaudit.reports.blocks import Bullets, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, listing, plural
from sqlaudit.reports.ran import made, moment, sql_section

_SHOWN = 40
_NOT_SAID = (
    "Whether the requirements hold: a certificate may say FAIL and be true. Its verdict stands above.",
    "Whether these are the right roles and requirements: whoever made the certificate chose them. Read them above.",
    "Anything about columns without a role: they are not in the checksum.",
)


def verify_document(result: VerifyResult) -> Document:
    """The result of `sqlaudit verify` as a document for any layout."""
    return Document(
        headline(result),
        (Paragraph(_about(result)), Bullets(tuple(result.notes))),
        (
            *section("What differs", _table(result)),
            *section("What was certified", _certified(result)),
            *section("What this does not say", Bullets(_NOT_SAID)),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def headline(result: VerifyResult) -> Toned:
    """Whether the certificate holds, in a few words."""
    if result.differences:
        what = plural(len(result.differences), "thing is", "things are")
        return Toned(f"DIFFERS: {what} not as the certificate says", "bad")
    return Toned("SAME: the table gives what the certificate says", "good")


def _about(result: VerifyResult) -> str:
    known = listing(result.roles.get("quasi_identifiers", ()))
    return f"{result.target}: {plural(result.rows, 'row')}, asked again about {known}, in SQL made anew."


def _table(result: VerifyResult) -> Table:
    rows: list[tuple[Words, ...]] = [(one.what, one.certified, one.now) for one in result.differences[:_SHOWN]]
    if len(result.differences) > _SHOWN:
        rows.append((f"{count(len(result.differences) - _SHOWN)} more", "", ""))
    return Table((Column("what"), Column("certificate"), Column("now")), tuple(rows))


def _verdict(result: VerifyResult) -> str:
    """The certified verdict; without a requirement there was none, whatever the status of such an audit is called."""
    return str(result.certified["status"]).upper() if result.certified["required"] else "none was asked for"


def _certified(result: VerifyResult) -> Facts:
    roles, versions = result.roles, result.certified["versions"]
    pairs: list[tuple[str, Words]] = [
        ("certificate", result.certificate),
        ("made", moment(str(result.certified["time"]))),
        ("by", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ("verdict", _verdict(result)),
        ("quasi-identifiers", ", ".join(roles.get("quasi_identifiers", ()))),
        ("sensitive columns", ", ".join(roles.get("sensitive", ()))),
        ("signed by", result.key),
        *made(result),
    ]
    return Facts(tuple(pair for pair in pairs if pair[1]))

"""Whose report it is, and who signs it: what whoever asked wrote about it."""

from __future__ import annotations

from sqlaudit.reports.document import About, Column, Facts, Section, Table, section


def asked_by(about: About) -> tuple[Facts, ...]:
    """The owner and the purpose, where they were told."""
    pairs = tuple((name, text) for name, text in (("owner", about.owner), ("purpose", about.purpose)) if text)
    return (Facts(pairs),) if pairs else ()


def signed_by(about: About) -> tuple[Section, ...]:
    """A line to sign on for everybody who signs."""
    heads = tuple(Column(title) for title in ("who", "date", "signature"))
    return section("Sign-off", Table(heads, tuple((who, "_" * 12, "_" * 24) for who in about.sign_off)))

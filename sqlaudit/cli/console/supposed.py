"""What worst-case disclosure would be if classes of the relation were others: the curve before and after.

Nothing is read again for it: the classes that matter are kept in an index, which takes out what is gone and puts in
what has come (Martin et al., Worst-Case Background Knowledge, ICDE 2007, end of 3.3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.base.documents import Documented
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.models.disclosure.curve import DisclosurePoint
from sqlaudit.reports.blocks import Column, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import Document, section
from sqlaudit.reports.figures import figure

if TYPE_CHECKING:
    from sqlaudit.cli.console.session import Session
    from sqlaudit.models.disclosure.index import DisclosureIndex

Counts = tuple[tuple[int, ...], ...]
_LONGEST = 13
"""Longer fractions are not told beside their decimals."""


@dataclass(frozen=True)
class ChangedClasses(Documented):
    """The curve before and after a change of classes; `change` says it in a few words."""

    change: str
    sensitive: str
    before: tuple[DisclosurePoint, ...]
    after: tuple[DisclosurePoint, ...]


@dataclass
class Supposed:
    """The classes of a relation as they are supposed to be by now.

    Args:
        of: what they were read for: relation, roles and pieces of knowledge. sensitive: the attribute.
        index: the classes. tables: the relation, and those whose rows have come.
    """

    of: object
    sensitive: str
    index: DisclosureIndex
    tables: list[Target] = field(default_factory=list)

    def changed(self, change: str, gone: Counts, come: Counts) -> ChangedClasses:
        """The curve before and after some classes are gone and others have come.

        Raises:
            UsageError: a class is to go that is not there; then nothing has changed.
        """
        before = self.index.curve.points
        try:
            self.index.replace(gone, come)
        except UsageError:
            raise UsageError(
                "Not all of these classes are there, so nothing has changed. A class is the counts of its values, one "
                "after the other, for instance 2 2 1: two values twice and one once."
            ) from None
        try:
            after = self.index.curve.points
        except UsageError:  # no class is left
            self.index.replace(come, gone)
            raise UsageError("No class would be left, so nothing has changed.") from None
        return ChangedClasses(change, self.sensitive, before, after)


def supposed_of(session: Session) -> Supposed:
    """The classes as they are supposed by now; those of the relation after anything else of it was changed.

    Raises:
        UsageError: no roles, or not one sensitive attribute.
        EngineError: the database refused or failed.
    """
    from sqlaudit.audits.disclosure.request import DisclosureRequest, Pieces
    from sqlaudit.audits.disclosure.run import find_disclosure

    roles, target = session.require_roles(), session.target()
    if len(roles.sensitive) != 1:
        raise UsageError("Classes are changed by the counts of one attribute's values; name it: \\sensitive disease.")
    of = (target, roles, session.pieces)
    if session.supposed is None or session.supposed.of != of:
        request = DisclosureRequest(target, roles, Pieces(0, session.pieces), weakest=0)
        found = find_disclosure(session.engine, request).attributes[0].disclosure
        session.supposed = Supposed(of, found.sensitive, found.index(), [target])
    return session.supposed


def changed_classes_document(changed: ChangedClasses) -> Document:
    """The curve before and after, side by side."""
    heads = (Column("k", True), Column("before", True), Column("after", True), Column("exactly"))
    rows = tuple(
        (str(one.k), figure(one.maximum), _toned(one, two), _exactly(two.maximum))
        for one, two in zip(changed.before, changed.after, strict=True)
    )
    return Document(
        Toned(f"What if: {changed.change}"),
        (Paragraph("\\replace alone goes back to the classes of the relation."),),
        section(f"Maximum disclosure of {changed.sensitive}", Table(heads, rows)),
    )


def _toned(before: DisclosurePoint, after: DisclosurePoint) -> Words:
    said = figure(after.maximum)
    if after.maximum == before.maximum:
        return said
    return Toned(said, "bad" if after.maximum > before.maximum else "good")


def _exactly(value: Fraction) -> str:
    said = str(value)
    return said if len(said) <= _LONGEST else ""


def counts_of(text: str, command: str) -> Counts:
    """Classes as they are typed: `2 2 1, 2 1 1 1`.

    Raises:
        UsageError: something else than whole numbers from 1.
    """
    found = []
    for written in filter(None, (part.strip() for part in text.split(","))):
        words: Sequence[str] = written.split()
        if not all(word.isascii() and word.isdecimal() and len(word) < 13 and int(word) for word in words):
            raise UsageError(
                f"{command} takes classes by the counts of their values: {command} 2 2 1, 2 1 1 with 4 3 2."
            )
        found.append(tuple(map(int, words)))
    return tuple(found)

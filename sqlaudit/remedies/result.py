"""The result of a remedy: the release and its audit. Frozen; reports read it, `to_dict` gives the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlaudit.base.options import written
from sqlaudit.base.result import LEFT_OUT, OR_NULL, Documented, key
from sqlaudit.lattices.result import Checked
from sqlaudit.models.phrases import requirement_lines
from sqlaudit.reports import document as doc


@dataclass(frozen=True)
class Release(Documented):
    """A release with rewritten rows, and its audit.

    Args:
        columns: columns of the release. keys: columns of the release that are quasi-identifiers.
        unnamed: columns without a role, which are in the release unchanged.
        groups: groups of rows with the same quasi-identifiers in the release. rows: rows of the release.
        left_out: rows of the table that are not in the release. audit: its audit.
        file: its file, or `table:` and its table; None (in Python empty) = not written.
        sql: its SELECT, or the statement that makes its table; None (in Python empty) = not requested.
        buckets: the file of the values of its buckets, empty = not written.
        select: its SELECT alone, if it becomes a table.
    """

    columns: tuple[str, ...]
    keys: tuple[str, ...] = field(metadata=key("quasi_identifiers"))
    unnamed: tuple[str, ...]
    groups: int
    rows: int
    left_out: int
    audit: Checked
    file: str = field(default="", metadata=OR_NULL)
    sql: str = field(default="", metadata=OR_NULL)
    buckets: str = field(default="", metadata=LEFT_OUT)
    select: str = field(default="", repr=False, metadata=LEFT_OUT)


def publish(changed: Mapping[str, Fraction], verb: str, left_out: Iterable[str] = ()) -> str:
    """Return what to do with each column before publication.

    Args:
        changed: the share of rows in which each column is changed. verb: what to do with it there.
        left_out: columns that are left out.

    Example:
        >>> publish({"age": Fraction(1, 4), "zip": Fraction(1), "sex": Fraction(0)}, "Generalize")
        'Generalize age in 25.0% of rows and zip in 100%; sex unchanged'
    """
    shares = [(written(name), doc.percent(share)) for name, share in changed.items() if share]
    parts = [
        f"{name} in {share}" if place else f"{verb} {name} in {share} of rows"
        for place, (name, share) in enumerate(shares)
    ]
    same, dropped = doc.listed((name for name, share in changed.items() if not share), 4), doc.listed(left_out, 4)
    said = [doc.listing(parts, 5), same and f"{same} unchanged", dropped and f"{dropped} left out"]
    return ("" if parts else "Publish ") + "; ".join(filter(None, said))


def lines_of(release: Release | None) -> tuple[doc.Block, ...]:
    """A line for each requirement with its figure in the release."""
    return requirement_lines(release.audit.checks, release.rows) if release else ()

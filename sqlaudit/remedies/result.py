"""What a remedy made of a table: the release and its audit. Frozen; reports read it, `to_dict` gives the JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlaudit.base.result import LEFT_OUT, OR_NULL, Documented, key
from sqlaudit.lattices.result import Checked


@dataclass(frozen=True)
class Release(Documented):
    """A release whose rows were rewritten, as it was audited.

    Args:
        columns: columns of the release. keys: columns of the release that are quasi-identifiers.
        unnamed: columns without a role, which are in the release as they are.
        groups: groups of rows that are published alike. rows: rows of the release.
        left_out: rows of the table that are not in the release. audit: what the audit of it says.
        file: where it was written; None (in Python empty) = nowhere.
        sql: the SELECT that makes it; None (in Python empty) = not asked for.
        buckets: where the values of its buckets were written, empty = nowhere.
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

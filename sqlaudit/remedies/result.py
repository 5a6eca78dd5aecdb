"""What a remedy made of a table: the release and its audit. Frozen; reports read it, `to_dict` gives the JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlaudit.base.documents import LEFT_OUT, OR_NULL, Documented, key
from sqlaudit.lattices.result import Checked


@dataclass(frozen=True)
class Release(Documented):
    """A release whose rows were rewritten, as it was audited.

    Args:
        columns: of the release. keys: those that are quasi-identifiers.
        unnamed: columns that no role was given to, published as they are.
        groups: groups of rows that are published alike. rows: in them. left_out: rows of the table that are not.
        audit: what the audit of it says.
        file: where it was written, empty = nowhere. sql: the SELECT that makes it, empty = not asked for.
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

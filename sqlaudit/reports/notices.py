"""What stands directly under a verdict: the same sentences in every layout."""

from __future__ import annotations

from collections.abc import Iterable

from sqlaudit.base.result import Warned, is_note
from sqlaudit.reports.document import Bullets, Toned


def notices_block(notices: Iterable[Warned]) -> tuple[Bullets, ...]:
    """The notices as a list, nothing without any; what only says for whom a verdict holds has no tone."""
    said = tuple(Toned(one.message, "plain" if is_note(one) else "warn") for one in notices)
    return (Bullets(said),) if said else ()

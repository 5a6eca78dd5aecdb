"""What stands directly under a verdict: the same sentences in every layout."""

from __future__ import annotations

from collections.abc import Iterable

from sqlaudit.base.result import Warned, is_note
from sqlaudit.reports.blocks import Bullets, Tone, Toned


def notices_block(notices: Iterable[Warned]) -> tuple[Bullets, ...]:
    """The notices as a list, nothing without any; what only says for whom a verdict holds has no tone."""
    said = tuple(notice(one, "plain" if is_note(one) else "warn") for one in notices)
    return (Bullets(said),) if said else ()


def notice(warned: Warned, tone: Tone) -> Toned:
    """A warning in its tone, with what speaks of commands apart from it."""
    return Toned(warned.fact, tone, warned.hint)

"""From what people pass to a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlaudit.base.options import made
from sqlaudit.base.spec import ReadOptions, Target


def make_target(
    target: Any, *, query: str = "", where: str = "", read: ReadOptions | Mapping[str, Any] | None = None
) -> Target:
    """A target from what people pass: a name or path, a frame, or a query."""
    options = made(ReadOptions, read, "read")
    if target is None or isinstance(target, Target):
        return target or Target(query=query, where=where, read=options)
    if isinstance(target, str) or hasattr(target, "__fspath__"):
        return Target(relation=str(target), query=query, where=where, read=options)
    return Target(frame=target, query=query, where=where, read=options)

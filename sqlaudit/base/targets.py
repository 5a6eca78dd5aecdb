"""From what people pass to a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlaudit.base.options import made
from sqlaudit.base.spec import Buckets, ReadOptions, Target


def make_target(
    target: Any,
    *,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
) -> Target:
    """A target from what people pass: a name or path, a frame, or a query; with buckets the persons of a release."""
    if isinstance(target, Target) and buckets is None:
        return target
    second = None if buckets is None else made(Buckets, buckets, "buckets")
    more: dict[str, Any] = {"query": query, "where": where, "read": made(ReadOptions, read, "read"), "buckets": second}
    if isinstance(target, Target):
        return replace(target, buckets=second)
    if target is None:
        return Target(**more)
    if isinstance(target, str) or hasattr(target, "__fspath__"):
        return Target(relation=str(target), **more)
    return Target(frame=target, **more)

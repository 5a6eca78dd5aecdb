"""A certificate and what was found now, compared figure by figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sqlaudit.certificates.result import Difference

_SAME = 1e-9
"""Floats of two runs agree to this relative error: a parallel sum differs in its last digits."""
_LONGEST = 60


def differences(certificate: Mapping[str, Any], now: Mapping[str, Any], same_versions: bool) -> Iterator[Difference]:
    """What is not as a certificate says.

    Args:
        certificate: what was certified. now: `figures`, `snapshot` and `sql` as they are found now.
        same_versions: whether the same versions ran; other ones may ask in another SQL.
    """
    for part in ("snapshot", "figures"):
        before, found = dict(_leaves(certificate[part])), dict(_leaves(now[part]))
        for name in dict.fromkeys((*before, *found)):
            if name not in before or name not in found or not _same(before[name], found[name]):
                yield Difference(f"{part}: {name}", _text(before, name), _text(found, name))
    if same_versions:
        yield from _statements(certificate["sql"], now["sql"])


def _statements(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[Difference]:
    """The steps whose SQL is not what the roles give, without the text of either."""
    if len(before) != len(now):
        yield Difference("sql: statements", str(len(before)), str(len(now)))
    for number, (one, other) in enumerate(zip(before, now, strict=False), 1):
        if one != other:
            yield Difference(f"sql: statement {number}", "another text", f"what the roles give: {other['step']}")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with the way to it; entries of a list by what they are called."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}: {name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, inner in enumerate(value, 1):
            yield from _leaves(inner, f"{path} {number}{_called(inner)}")
    else:
        yield path, value


def _called(entry: Any) -> str:
    names = [entry.get("model"), entry.get("sensitive"), entry.get("name")] if isinstance(entry, Mapping) else []
    said = " of ".join(str(name)[:_LONGEST] for name in names if name)
    return f" ({said})" if said else ""


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_same, before, now))
    if isinstance(before, float) or isinstance(now, float):
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, now))
        return numbers and math.isclose(before, now, rel_tol=_SAME)
    return type(before) is type(now) and bool(before == now)


def _text(values: Mapping[str, Any], name: str) -> str:
    """A value in few letters; a list of numbers as one."""
    if name not in values:
        return ""
    text = str(values[name])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

"""The checksum of a table: what changes it, and what does not, on every engine."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.base.spec import AuditSpec, Roles, Target
from sqlaudit.certificates.making import snapshot_of
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query

COLUMNS = {"age": "int", "town": "text", "s": "text"}
ROWS: list[dict[str, Any]] = [
    {"age": 30, "town": "x", "s": "flu"},
    {"age": 30, "town": "x", "s": "flu"},
    {"age": 40, "town": None, "s": "ulcer"},
    {"age": 41, "town": "-", "s": "flu"},
]


def snapshot(engine: Engine, rows: Sequence[Mapping[str, Any]], **roles: Any) -> dict[str, Any]:
    spec = AuditSpec(
        Target(query=values_query(rows, COLUMNS)),
        Roles(**({"quasi_identifiers": ("age", "town"), "sensitive": ("s",)} | roles)),
    )
    return snapshot_of(engine, spec, engine.open(spec.target))


def expected(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The checksum in plain Python."""
    found = Counter(tuple(row[name] for name in columns) for row in rows)
    digests = [
        hashlib.sha256((str(n) + "".join("-" if v is None else f"{len(str(v))}:{v}" for v in key)).encode()).hexdigest()
        for key, n in found.items()
    ]
    buckets = {digest[:2]: "" for digest in sorted(digests)}
    for digest in sorted(digests):
        buckets[digest[:2]] += digest
    written = "".join(f"{name}:{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in buckets.items())
    return hashlib.sha256(written.encode()).hexdigest()


def test_the_checksum_is_the_same_on_every_engine_and_in_any_order(engine: Engine) -> None:
    found = snapshot(engine, ROWS)
    assert (found["rows"], found["combinations"], found["version"]) == (4, 3, None)
    assert found["checksum"] == expected(ROWS, ("age", "town", "s"))
    assert snapshot(engine, ROWS[::-1]) == found


def test_one_row_that_changes_changes_it_though_sizes_stay(engine: Engine) -> None:
    moved = [*ROWS[:3], {"age": 42, "town": "-", "s": "flu"}]
    missing = [*ROWS[:3], {"age": 41, "town": None, "s": "flu"}]
    found = {snapshot(engine, rows)["checksum"] for rows in (ROWS, moved, missing)}
    assert len(found) == 3
    assert snapshot(engine, moved)["combinations"] == 3


def test_a_column_without_a_role_is_no_part_of_it(engine: Engine) -> None:
    other = [{**row, "s": "cold"} for row in ROWS]
    assert snapshot(engine, other, sensitive=()) == snapshot(engine, ROWS, sensitive=())
    assert snapshot(engine, ROWS, sensitive=(), entity="s")["columns"] == ["age", "town", "s"]

"""The checksum of a table: what changes it, and what does not, on every engine."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.spec import Roles, Target
from sqlaudit.certificates.making import Verification, audit_certified, snapshot_of
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import requirements
from tests.audit_values import values_query

COLUMNS = {"age": "int", "town": "text", "s": "text"}
ROWS: list[dict[str, Any]] = [
    {"age": 30, "town": "x", "s": "flu"},
    {"age": 30, "town": "x", "s": "flu"},
    {"age": 40, "town": None, "s": "ulcer"},
    {"age": 41, "town": "-", "s": "flu"},
]


def snapshot(engine: Engine, rows: Sequence[Mapping[str, Any]], **roles: Any) -> dict[str, Any]:
    spec = AuditRequest(
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


@pytest.mark.spark
@pytest.mark.parametrize("entity", [None, "who"])
def test_a_certificate_of_an_unchanged_table_is_verified_in_another_session(tmp_path: Path, entity: str | None) -> None:
    """Views have names of their own in every session; a certificate has none of them."""
    file = tmp_path / "people.parquet"
    columns = {"who": range(24), "age": [n % 3 for n in range(24)], "dx": ["abcd"[n % 4] for n in range(24)]}
    pyarrow.parquet.write_table(pyarrow.table({name: list(cells) for name, cells in columns.items()}), file)
    from tests.spark_session import small_engine

    roles = Roles(quasi_identifiers=("age",), sensitive=("dx",), entity=entity)
    request = AuditRequest(Target(str(file)), roles, tuple(requirements({"k": 2, "t": 0.5})), worst_classes=0)
    with small_engine() as engine:
        _, certificate = audit_certified(engine, request, True)
    assert re.search("sqlaudit_[0-9a-f]{12}", json.dumps(certificate["sql"])) is None
    with small_engine() as engine:
        found = Verification(tmp_path / "a.json", certificate, request).run(engine)
    assert (found.differences, found.rows) == ((), 24)

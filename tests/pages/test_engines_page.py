"""The page on engines and permissions: its SQL runs, its table of numbers is true, its limits are the code's."""

from __future__ import annotations

import duckdb
import psycopg
import pytest

from sqlaudit.engines.postgres import connect as postgres_connect
from tests.places import REPOSITORY
from tests.postgres_load import Loader

pytestmark = pytest.mark.postgres

PAGE = (REPOSITORY / "docs" / "engines.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """The SQL of the page, one text a block."""
    return [part.split("```", 1)[0] for part in PAGE.split("```sql\n")[1:]]


def test_the_grants_of_the_page_are_enough_for_an_audit(load: Loader, postgres_admin_url: str) -> None:
    rows = [(30, "f", "north", "flu", "Ann"), (41, "m", "south", None, "Bob")]
    load("patients", rows, ["age", "sex", "region", "diagnosis", "name"], schema="clinic")
    grants, by_column, revoked, limits, bypass = blocks()
    with psycopg.connect(postgres_admin_url) as admin:
        admin.execute("ALTER ROLE auditor RENAME TO another")  # all of it is rolled back
        admin.execute(grants.encode())
        count = "SELECT COUNT(*), COUNT(name) FROM clinic.patients"
        assert as_auditor(admin, count) == (2, 2)
        for block in (by_column, revoked, limits):
            admin.execute(block.encode())
        assert as_auditor(admin, "SELECT COUNT(DISTINCT age), COUNT(diagnosis) FROM clinic.patients") == (2, 1)
        with pytest.raises(psycopg.errors.InsufficientPrivilege), admin.transaction():
            as_auditor(admin, count)
        admin.execute("ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY")
        assert as_auditor(admin, "SELECT COUNT(age) FROM clinic.patients") == (0,)
        admin.execute(bypass.encode())
        assert as_auditor(admin, "SELECT COUNT(age) FROM clinic.patients") == (2,)
        admin.rollback()


def as_auditor(admin: psycopg.Connection[tuple[object, ...]], query: str) -> tuple[object, ...] | None:
    with admin.transaction(force_rollback=True):
        admin.execute("SET LOCAL ROLE auditor")
        return admin.execute(query.encode()).fetchone()


NUMBERS = {
    "7 / 2": (3, 3.5),
    "CAST(1.0 AS double precision) / 0": (None, float("inf")),
    "ln(0)": (None, float("-inf")),
    "CAST('NaN' AS double precision) = CAST('NaN' AS double precision)": (True, True),
    "CAST('NaN' AS double precision) > CAST('Infinity' AS double precision)": (True, True),
    "round(CAST(0.5 AS double precision))": (0.0, 1.0),
    "CAST(2147483647 AS integer) + CAST(1 AS integer)": (None, None),
}


@pytest.mark.parametrize("expression", NUMBERS)
def test_the_numbers_of_the_page(expression: str, postgres_admin_url: str) -> None:
    """None = an error."""
    there, here = NUMBERS[expression]
    with psycopg.connect(postgres_admin_url) as admin:
        try:
            row = admin.execute(("SELECT " + expression).encode()).fetchone()
        except psycopg.DataError:
            row = (None,)
    assert row == (there,)
    with duckdb.connect() as connection:
        try:
            row = connection.execute("SELECT " + expression).fetchone()
        except duckdb.OutOfRangeException:
            row = (None,)
    assert row == (here,)


def test_the_limits_of_the_page_are_the_codes() -> None:
    assert f"Connecting takes at most {postgres_connect.CONNECT_SECONDS} seconds" in PAGE
    assert f"| `lock_timeout` | {postgres_connect.LOCK_SECONDS} s |" in PAGE
    assert f"a server from version {postgres_connect.OLDEST // 10000} on" in PAGE
    assert (postgres_connect.WORK_MEMORY_SHARE, "an eighth of `--memory-limit`" in PAGE) == (8, True)

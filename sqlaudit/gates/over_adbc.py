"""Tests of a policy asked of a database behind an ADBC driver: compiled for its dialect, judged from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.base.words import spelled
from sqlaudit.engines.adbc.places import AdbcPlace, adbc_place, is_adbc
from sqlaudit.engines.adbc.reader import AdbcReader
from sqlaudit.gates.answered import WarehouseAnswers
from sqlaudit.gates.spec import TableEntry
from sqlaudit.gates.standalone.names import DIALECTS, find_dialect
from sqlaudit.gates.standalone.policies import PolicyStatement, Wording, policy_statements
from sqlaudit.gates.standalone.results import WarehouseRow, read_row


def place_of_answers(db: str) -> AdbcPlace:
    """Where the database is that is asked.

    Raises:
        UsageError: it is behind no ADBC driver: a policy names such connections itself.
    """
    if not is_adbc(db):
        raise UsageError(
            f"{spelled('db')} of a policy is a database behind an ADBC driver, adbc:driver:uri; the policy names other "
            "databases itself, under its connections."
        )
    return adbc_place(db)


def asked_over_adbc(place: AdbcPlace, dialect: str, tables: Sequence[TableEntry], limits: Limits) -> WarehouseAnswers:
    """The answers to all statements of some tables, each of one row.

    Args:
        place: the database. dialect: what it speaks, empty = what its driver says. limits: of time, for all together.

    Raises:
        UsageError: nobody knows the dialect. MissingDriver, ConnectionFailed, Incomplete: as `AdbcReader`.
    """
    spoken = dialect or place.driver.dialect
    if not spoken:
        raise UsageError(
            f"Which SQL does the database behind {place.driver.name} speak? Name it with {spelled('dialect')}: "
            f"{', '.join(DIALECTS)}."
        )
    wording = Wording(find_dialect(spoken))
    made = [one for one in policy_statements(tables, wording) if one.compiled.sql]
    answers = WarehouseAnswers({}, wording=wording)
    rows: dict[str, list[WarehouseRow]] = {}
    with AdbcReader(place, limits) as reader:
        for one in made:
            try:
                rows[one.test_id] = _rows(reader, one)
            except EngineError as error:
                answers.failed[one.test_id] = str(error)
    answers.told = (
        f"Judged from what the database answered over ADBC ({place.driver.name}): {place.driver.access}. Nobody looked "
        "for columns without a role."
    )
    return replace(answers, rows=rows)


def _rows(reader: AdbcReader, one: PolicyStatement) -> list[WarehouseRow]:
    """The rows of a statement; one of another name is none of it."""
    found = [
        read_row({name: str(value) if isinstance(value, Decimal) else value for name, value in row.items()})
        for row in reader.rows(one.compiled.sql)
    ]
    return [row if row.test_id == one.test_id else replace(row, wrong="has another name") for row in found]

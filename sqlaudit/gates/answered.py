"""Tests of a policy that a warehouse ran, or that are asked of one over ADBC: judged from the rows."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from sqlaudit.base.errors import EngineError, ExitCode, InputError, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows, Limits
from sqlaudit.engines.adbc import AdbcPlace, AdbcReader, adbc_place, is_adbc
from sqlaudit.gates.judging import broken, judged
from sqlaudit.gates.result import CellLimit, GateTest, TableEntry, TestSpec
from sqlaudit.gates.standalone.names import DIALECTS, find_dialect
from sqlaudit.gates.standalone.policies import (
    PolicyStatement,
    WarehouseRow,
    Wording,
    policy_statements,
    read_results,
    read_row,
    same_statement,
    statements_of,
    wording_of,
)
from sqlaudit.gates.standalone.recipes import model_alone
from sqlaudit.models.base import Check, Model
from sqlaudit.models.judge import compares, worse_checks
from sqlaudit.models.registry import cell_rule

# Tests of a policy that a warehouse has run: judged from its rows as from a run, and only where they answer them.

PRINTED = 1e-6
"""Clients print floating-point numbers with six digits and more: figures nearer than this contradict nothing."""
_STATUS = {"pass": Status.PASS, "fail": Status.FAIL, "undecided": Status.UNDETERMINED}
_UNDECIDED = "its figures are too close to the limit for floating point, or rows could not be judged"


@dataclass
class WarehouseAnswers:
    """The answers to the statements of a policy.

    Args:
        rows: by the names of their statements. run: the text that was part of every name. used: names that some test
            asked for.
        wording: how the statements were written, where that is known and not to be seen from their names.
        failed: what is to be said of statements that were run and not answered, by their names.
        told: where the rows come from.
    """

    rows: Mapping[str, Sequence[WarehouseRow]]
    run: str = ""
    used: set[str] = field(default_factory=set)
    wording: Wording | None = None
    failed: dict[str, str] = field(default_factory=dict)
    told: str = (
        "Judged from a file with the results of a warehouse, without connecting. Columns without a role were not "
        "checked."
    )

    @cached_property
    def wordings(self) -> tuple[Wording, ...]:
        """Return how the statements were written, by their names; a policy is asked in the same words."""
        if self.wording is not None:
            return (self.wording,)
        return tuple(
            dict.fromkeys(wording for name in self.rows if (wording := wording_of(name, self.run)) is not None)
        )

    def of_test(self, table: TableEntry, spec: TestSpec, today: datetime.date) -> list[GateTest]:
        """Return the results of one test, one for each sensitive attribute; an error where there is no answer."""
        statements_by_wording = [
            statements_of(table, spec, wording) for wording in self.wordings or (Wording("duckdb", run=self.run),)
        ]
        answered = [
            statements
            for statements in statements_by_wording
            if any(statement.test_id in self.rows for statement in statements)
        ]
        if len(answered) > 1:
            return [_error(table, spec, "It has results in several dialects. Keep those of one.")]
        statements = (answered or statements_by_wording)[0]
        self.used |= {statement.test_id for statement in statements}
        attributes = dict.fromkeys(statement.sensitive for statement in statements)
        return [
            self._judged([statement for statement in statements if statement.sensitive == name], today)
            for name in attributes
        ]

    def _judged(self, statements: Sequence[PolicyStatement], today: datetime.date) -> GateTest:
        """Judge a requirement by the results of its statements; of two kinds of attackers the worse one counts."""
        table, spec = statements[0].table, statements[0].spec
        if refused := [statement.compiled.refused for statement in statements if statement.compiled.refused]:
            return _error(table, spec, f"It has no results: {refused[0]}")
        results: dict[str, tuple[Check, WarehouseRow]] = {}
        for statement in statements:
            rows = self.rows.get(statement.test_id, ())
            if statement.test_id in self.failed:
                return _error(table, spec, self.failed[statement.test_id], statement.sensitive)
            if wrong := _wrong(statement, rows):
                return _error(table, spec, wrong, statement.sensitive)
            results[statement.compiled.known_rows] = _check(statement, rows[0]), rows[0]
        if len(results) > 1:
            (check,) = worse_checks([results[KnownRows.ONE][0]], [results[KnownRows.ALL][0]])
            assert check.known_rows is not None
            row = results[check.known_rows.worse][1]
        else:
            ((check, row),) = results.values()
        classes = None if "persons" in check.details or isinstance(spec.limit, CellLimit) else row.classes
        return judged(table, spec, check, row.table_rows, classes, today)

    def unused(self) -> tuple[str, ...]:
        """Return the warning about result rows that belong to no test; empty if there are none."""
        left = [name for name in self.rows if name not in self.used]
        if not left:
            return ()
        number = (
            f"{len(left)} statements in the results belong" if len(left) > 1 else "1 statement in the results belongs"
        )
        return (f"{number} to no test: to another policy, run or selection, or to an older version of this policy.",)


def read_answers(files: Sequence[Path], run: str = "") -> WarehouseAnswers:
    """Read the answers in files with the results of a warehouse.

    Raises:
        InputError: a file cannot be read, or none holds a row. UsageError: a file of another kind.
    """
    rows: dict[str, list[WarehouseRow]] = {}
    for file in files:
        for row in read_results(file):
            rows.setdefault(row.test_id, []).append(row)
    if not rows:
        raise InputError(f"There is no row in {', '.join(repr(str(file)) for file in files)}: there are no results.")
    return WarehouseAnswers(rows, run)


def _error(table: TableEntry, spec: TestSpec, message: str, sensitive: str | None = None) -> GateTest:
    return broken(table, spec, message, ExitCode.REQUIREMENT_FAILED, sensitive)


def _wrong(statement: PolicyStatement, rows: Sequence[WarehouseRow]) -> str:
    """Return why rows are no answer to a statement; empty = they are."""
    if not rows:
        return (
            "It has no results for the current policy. Run the statement that `sqlaudit compile` writes now, "
            f"{statement.test_id}."
        )
    if len(rows) > 1:
        return f"It has {len(rows)} results. Keep one."
    if rows[0].ran and not same_statement(statement.compiled.sql, rows[0].ran):
        return "Its result is of another statement. Run the one that `sqlaudit compile` writes now."
    wrong = rows[0].wrong or next(_contradictions(statement, rows[0]), "")
    return f"Its result is a row that {wrong}. Run its statement again." if wrong else ""


def _contradictions(statement: PolicyStatement, row: WarehouseRow) -> Iterator[str]:
    """Yield what no statement would return."""
    classes, rows = row.classes, row.table_rows
    if classes is None or rows is None or row.undecided_classes is None or row.unusable is None:
        yield "lacks a number"
        return
    expected = _expected(statement, row)
    if row.verdict not in expected:
        yield f"says {row.verdict!r}, which its figures contradict"
    failing, short = row.failing_classes or 0, row.failing_rows or 0
    if bool(short) != bool(failing) and row.failing_rows is not None:
        yield "has failing rows without a failing class, or the reverse"
    if not max(failing, row.undecided_classes, rows > 0) <= classes <= rows or row.unusable > rows:
        yield "has more classes than rows, or too large counts"
    if short + classes - failing > rows or short < failing:
        yield "has a number of failing rows that its classes rule out"
    if rows and row.verdict != "undecided" and not _possible(_rule(statement), row.level, classes, rows):
        yield "has an impossible level"


def _expected(statement: PolicyStatement, row: WarehouseRow) -> tuple[str, ...]:
    """Return the verdicts that fit the figures of a row; a level at its limit fits several."""
    if not row.table_rows or (row.unusable and not isinstance(statement.spec.limit, CellLimit)):
        return ("undecided",)
    rule = _rule(statement)
    fits = not row.level if isinstance(statement.spec.limit, CellLimit) else _fits(rule, row)
    if rule.verdict_by_level:
        return {True: ("pass",), False: ("fail",), None: ("pass", "fail", "undecided")}[fits]
    if row.failing_classes is None:
        return ()
    if row.failing_classes:
        return () if fits is True and row.level is not None else ("fail",)
    if row.undecided_classes or row.unusable:
        return ("undecided",)
    return () if fits is False else ("pass",)


def _possible(rule: Model, level: float | int | None, classes: int, rows: int) -> bool:
    """Return True if a table of this size can have the level.

    Args:
        classes: its classes, or its people where the model counts people. rows: its rows.
    """
    bounds = next((parameter for parameter in rule.parameters if parameter.name == rule.main), None)
    if level is None or level < 0 or bounds is None:
        return level is not None and level >= 0
    is_possible_number = bounds.kind != "integer" or isinstance(level, int)
    if not is_possible_number or (bounds.maximum is not None and level > bounds.maximum * (1 + PRINTED)):
        return False
    least, most = rule.level_range(classes, rows)
    return least * (1 - PRINTED) <= level <= most * (1 + PRINTED)


def _fits(rule: Model, row: WarehouseRow) -> bool | None:
    """Return True if the level meets the limit; None without a level, or if it rounds to the limit as printed."""
    limit = rule.required
    if row.level is None or limit is None:
        return None
    if math.isclose(row.level, float(limit), rel_tol=PRINTED, abs_tol=PRINTED) and row.level != limit:
        return None
    return compares(row.level, rule.operator, limit)


def _rule(statement: PolicyStatement) -> Model:
    requirement = statement.spec.model
    if requirement is None:
        assert isinstance(statement.spec.limit, CellLimit)
        (requirement,) = statement.spec.limit.request.requirements
        return cell_rule(requirement)
    return model_alone(requirement, statement.sensitive)


def _check(statement: PolicyStatement, row: WarehouseRow) -> Check:
    """Return the check that a row of results stands for."""
    rule = _rule(statement)
    cells = isinstance(statement.spec.limit, CellLimit)
    name = "unsafe_cells" if cells else next(iter(rule.levels()), "") or rule.main
    status = _STATUS[row.verdict]
    among = row.classes if rule.counts_people else row.table_rows
    return Check(
        model=rule.name,
        sensitive=statement.sensitive,
        parameters=rule.shown_parameters() if not cells else rule.values,
        level=row.level,
        levels={name: row.level},
        operator="<=" if cells else rule.operator,
        required=0 if cells else rule.required,
        status=status,
        failing_classes=None if cells or rule.counts_people else row.failing_classes,
        failing_rows=row.failing_rows,
        failing_share=None if row.failing_rows is None or not among or cells else row.failing_rows / among,
        text=statement.spec.requirement if cells else statement.compiled.check,
        note=_UNDECIDED if status is Status.UNDETERMINED and row.table_rows else rule.note,
        details={"persons": row.classes} if rule.counts_people else {},  # a class there is a person
        title=f"Unsafe cells by the {rule.title}" if cells else rule.title,
    )


# Tests of a policy asked of a database behind an ADBC driver: compiled for its dialect, judged from the rows.


def place_of_answers(db: str) -> AdbcPlace:
    """Return the location of the database behind an ADBC driver.

    Raises:
        UsageError: another database, since a policy names the connections to those itself.
    """
    if not is_adbc(db):
        raise UsageError(
            f"{spelled('db')} of a policy is a database behind an ADBC driver, adbc:driver:uri; the policy names other "
            "databases itself, under its connections."
        )
    return adbc_place(db)


def asked_over_adbc(
    database: AdbcPlace, dialect: str, tables: Sequence[TableEntry], limits: Limits
) -> WarehouseAnswers:
    """Run the statements of all tests of the tables, each of which returns one row, and return the answers.

    Args:
        database: the database.
        dialect: its SQL dialect; empty = the dialect of its driver.
        limits: the time limit, for all statements together.

    Raises:
        UsageError: the dialect is unknown. MissingDriver, ConnectionFailed, Incomplete: as `AdbcReader`.
    """
    dialect = dialect or database.driver.dialect
    if not dialect:
        raise UsageError(
            f"The SQL dialect of the database behind {database.driver.name} is unknown. Name it with "
            f"{spelled('dialect')}: {', '.join(DIALECTS)}."
        )
    wording = Wording(find_dialect(dialect))
    statements = [statement for statement in policy_statements(tables, wording) if statement.compiled.sql]
    answers = WarehouseAnswers({}, wording=wording)
    rows: dict[str, list[WarehouseRow]] = {}
    with AdbcReader(database, limits) as reader:
        for statement in statements:
            try:
                rows[statement.test_id] = _rows(reader, statement)
            except EngineError as error:
                answers.failed[statement.test_id] = str(error)
    answers.told = (
        f"Judged from results over ADBC ({database.driver.name}): {database.driver.access}. Columns without a "
        "role were not checked."
    )
    return replace(answers, rows=rows)


def _rows(reader: AdbcReader, statement: PolicyStatement) -> list[WarehouseRow]:
    """Run a statement and return its rows, with those marked as wrong that name another test."""
    rows = [
        # read_row expects decimals as the text that a file with results has
        read_row({name: str(value) if isinstance(value, Decimal) else value for name, value in row.items()})
        for row in reader.rows(statement.compiled.sql)
    ]
    test_id = statement.test_id
    return [row if row.test_id == test_id else replace(row, wrong="has another name") for row in rows]

"""The tests of a policy as statements with names of their own, and what a warehouse answered to them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.options import options_of
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.version import __version__
from sqlaudit.gates.cell_limits import OTHERS
from sqlaudit.gates.nodes import in_a_policy
from sqlaudit.gates.result import (
    CellLimit,
    ColumnLimit,
    CubeLimit,
    LossLimit,
    SafeHarborLimit,
    SeriesLimit,
    SyntheticLimit,
    TableEntry,
    TestSpec,
    for_attribute,
)
from sqlaudit.gates.standalone.checks import (
    COUNTS,
    KNOWN,
    ROW_COLUMNS,
    AnswerForm,
    Compiled,
    comment,
    compile_cells,
    definition,
    heading,
    section,
)
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from sqlaudit.gates.standalone.names import DIALECTS, find_dialect
from sqlaudit.gates.standalone.recipes import NotCarried
from sqlaudit.gates.standalone.request import Returns
from sqlaudit.reports.document import visible
from sqlaudit.tabular.request import AggregatesRequest

# The tests of a policy as statements, each with a name that only this very statement has.

EXACT = "exact"
_UNNAMED = "test_id_of_this_statement"
_ID = re.compile(rf"[a-z0-9_]+__([a-z]+)_(?:({EXACT})_)?([0-9a-f]{{20}})")
_NOT_CARRIED: Mapping[type, str] = {
    ColumnLimit: "column sets are searched for with many statements, each from the answers of those before.",
    LossLimit: "a loss compares two tables in Python.",
    SafeHarborLimit: "identifiers are recognised in Python, from names and counts.",
    SyntheticLimit: "several statements count it, and it is judged in Python.",
    CubeLimit: "it is about a cube of its table, a file that `sqlaudit test` makes again and compares.",
    SeriesLimit: "it follows persons through several releases, and is judged in Python.",
}
_ONE_SELECT = ("count", "contributors", "value", "holdings", "largest")
"""What one SELECT knows of cells."""


@dataclass(frozen=True)
class Wording:
    """How statements of a policy are written: what decides their text besides the policy.

    Args:
        dialect: a key of `DIALECTS`. exact_names: whether columns are named exactly. returns: what is returned.
        run: a text that is part of every name, so that the answers of one run are told from those of another.
    """

    dialect: str
    exact_names: bool = False
    returns: Returns = Returns.ROW
    run: str = ""


@dataclass(frozen=True)
class PolicyStatement:
    """One statement of a test; with an `entity` a test may have two.

    Args:
        table, spec: the test. compiled: the statement, or why there is none.
        test_id: its name, made from its text: another statement has another one. Empty where there is none.
    """

    table: TableEntry
    spec: TestSpec
    compiled: Compiled
    test_id: str = ""

    @property
    def sensitive(self) -> str | None:
        """The attribute that it is about."""
        return self.compiled.sensitive


def wording_of(test_id: str, run: str) -> Wording | None:
    """Return how the statement of a name was written; None when the text is no such name.

    Example:
        >>> wording_of("claims__k_5__snowflake_exact_" + "0" * 20, "").dialect
        'snowflake'
    """
    match = _ID.fullmatch(test_id)
    if match is None or match[1] not in DIALECTS:
        return None
    return Wording(match[1], match[2] is not None, Returns.ROW, run)


@speaking(in_a_policy)
def policy_statements(tables: Sequence[TableEntry], wording: Wording) -> list[PolicyStatement]:
    """The statements of all tests of some tables, in the policy's order.

    Returns:
        One for every sensitive attribute of a test, and for who knows one row of a person and all of them; where none
        carries a test, `compiled.refused` says why.

    Raises:
        UsageError: an unknown dialect.
    """
    checked_wording = replace(wording, dialect=find_dialect(wording.dialect))
    return [
        statement
        for table in tables
        for spec in table.tests
        for statement in statements_of(table, spec, checked_wording)
    ]


def statements_of(table: TableEntry, spec: TestSpec, wording: Wording) -> list[PolicyStatement]:
    """The statements of one test, at least one: where none carries it, that one says why."""
    try:
        _refuse(table, spec)
        compiled = list(_compiled(table, spec, wording))
    except UsageError as reason:
        return [
            PolicyStatement(table, spec, Compiled(spec.requirement, "", None, wording.dialect, refused=str(reason)))
        ]
    return [_named(PolicyStatement(table, spec, check), wording) for check in compiled]


def _refuse(table: TableEntry, spec: TestSpec) -> None:
    """Refuse a test that a statement cannot check.

    Raises:
        UsageError: there is a mistake in it. NotCarried: it needs more than its table.
    """
    if table.mistakes or spec.mistake:
        raise UsageError(spec.mistake or "there is a mistake in the policy of this table.")
    if table.release is not None:
        raise NotCarried("it is about the release of its table, a file that `sqlaudit test` makes again and compares.")
    if not table.connection:
        raise NotCarried("its rows are in a file, and a warehouse has tables; give it a 'connection' and a 'table'.")
    if type(spec.limit) in _NOT_CARRIED:
        raise NotCarried(_NOT_CARRIED[type(spec.limit)])
    if spec.identifier or spec.all_named:
        raise NotCarried("it is about which columns there are, which one SELECT over the rows does not tell.")
    if table.persons and spec.limit is None:
        raise NotCarried(
            "which of the policy's 'persons' this table is about is found in the database; say 'persons: false', and "
            "name its entity."
        )


def _compiled(table: TableEntry, spec: TestSpec, wording: Wording) -> Iterator[Compiled]:
    assert table.target is not None
    answer = AnswerForm(wording.returns, _UNNAMED)
    if isinstance(spec.limit, CellLimit):
        yield from _cells(table, spec.limit, wording, answer)
        return
    assert spec.model is not None
    written: dict[str, Any] = {"dialect": wording.dialect, "exact_names": wording.exact_names, "answer": answer}
    checks = compile_checks(table.target, table.roles, [spec.model], inputs=table.inputs, **written)
    yield from (check for check in checks if spec.is_about(check.sensitive))


def _cells(table: TableEntry, limit: CellLimit, wording: Wording, answer: AnswerForm) -> list[Compiled]:
    """The statement of a rule for cells.

    Raises:
        NotCarried: it looks at more than the single cells.
    """
    request = limit.request
    carried = (*_ONE_SELECT, "by", "requirements", "show_values")
    options = ((name, option.default) for name, option in options_of(AggregatesRequest) if name not in carried)
    not_carried = [name for name, usual in options if getattr(request, name) != usual]
    without = [name for name, label in request.totals().items() if not label]
    if len(without) == len(request.total) > 0:
        not_carried.remove("total")
    not_carried += [key for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True) if tables]
    if not_carried:
        raise NotCarried(f"one SELECT looks at single cells, without {', '.join(not_carried)}.")
    assert table.target is not None
    return compile_cells(
        table.target,
        request.requirements,
        by=[name for name in request.by if name not in without],
        dialect=wording.dialect,
        exact_names=wording.exact_names,
        answer=answer,
        **{name: getattr(request, name) for name in _ONE_SELECT},
    )


def _named(statement: PolicyStatement, wording: Wording) -> PolicyStatement:
    """The statement with its name, which stands in its text where it returns its name."""
    compiled = statement.compiled
    identity = [
        statement.table.name,
        statement.spec.requirement,
        compiled.sensitive,
        compiled.known_rows,
        compiled.sql,
        wording.run,
    ]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:20]
    words = [
        statement.table.name,
        statement.spec.requirement,
        compiled.sensitive or "",
        KNOWN.get(compiled.known_rows, ""),
    ]
    readable = "__".join(_plain(word) for word in words if _plain(word))
    written = "_".join([wording.dialect, *[EXACT] * wording.exact_names, digest])
    test_id = f"{readable or 'test'}__{written}"
    return replace(statement, test_id=test_id, compiled=replace(compiled, sql=compiled.sql.replace(_UNNAMED, test_id)))


def _plain(text: str) -> str:
    """A text in what every warehouse and file system takes, shortened: the digest tells names apart."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40].strip("_")


def policy_script(statements: Sequence[PolicyStatement], policy: str, version: str) -> str:
    """All statements of a policy as one script."""
    head = heading([statement.compiled for statement in statements], "statement", policy, version)
    return "\n".join([head, *map(statement_text, statements)])


def statement_text(statement: PolicyStatement) -> str:
    """A statement under comments that say which test it is."""
    about = [f"{statement.table.name}: {statement.spec.requirement} ({statement.spec.place})"]
    if statement.compiled.refused:
        return comment([f"{about[0]} is not here: {statement.compiled.refused}"])
    return comment([*about, f"test_id: {statement.test_id}"]) + section(statement.compiled)


# The statements of a policy as quality rules of an Open Data Contract (ODCS 3.1): `mustBe: 0` for what fails.

API_VERSION = "v3.1.0"


class _Contract(yaml.SafeDumper):
    """Statements keep their lines, and no text becomes an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Contract.add_representer(str, _text)


def contract_text(statements: Sequence[PolicyStatement], policy: str) -> str:
    """A contract with the quality rules of every table.

    A rule tells the bare verdict: thresholds, exceptions and baselines of the policy are not in it. A test that no
    statement carries is a rule of type text, which no one runs and everybody can read.

    Args:
        statements: statements that return a count. policy: the file, as the user named it.
    """
    tables = {statement.table.name: statement.table for statement in statements}
    contract = {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": str(uuid5(NAMESPACE_URL, f"sqlaudit:{policy}")),
        "name": visible(policy),
        "version": "1.0.0",
        "status": "draft",
        "schema": [
            {
                "name": name,
                **({"physicalName": table.target.relation} if table.target and table.target.relation else {}),
                "quality": [_rule(statement) for statement in statements if statement.table.name == name],
            }
            for name, table in tables.items()
        ],
    }
    dialect = statements[0].compiled.dialect
    head = f"# sqlaudit {__version__}: quality rules of {visible(policy)} for {dialect}, to be taken into a contract.\n"
    return head + yaml.dump(contract, Dumper=_Contract, sort_keys=False, allow_unicode=True, width=120)


def _rule(statement: PolicyStatement) -> dict[str, object]:
    """Return the rule of a statement for a data contract."""
    spec, compiled = statement.spec, statement.compiled
    rule: dict[str, object] = {"name": for_attribute(spec.requirement, statement.sensitive)}
    if compiled.refused:
        return rule | {"type": "text", "description": f"Not written as SQL: {compiled.refused}"}
    return rule | {
        "description": spec.description or definition(compiled),
        "type": "sql",
        "query": compiled.sql,
        "mustBe": 0,
        "unit": "rows",
        "severity": "warning" if spec.severity == "warn" else "error",
        **({"tags": list(spec.tags)} if spec.tags else {}),
    }


# What dbt's run_results.json says of the statements of a policy, run as models that are materialized as answers.

MATERIALIZED = "sqlaudit_answer"
"""The materialization of the dbt package that puts a statement's row into the artefact."""
_SCHEMA = "dbt_schema_version"
_RUN = "/run-results/"


def is_artefact(document: object) -> bool:
    """Return True if a JSON document is an artefact of dbt."""
    return isinstance(document, dict) and isinstance(document.get("metadata"), dict) and _SCHEMA in document["metadata"]


def answers_in(artefact: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """The rows of statements in an artefact; what else dbt ran is left out.

    Args:
        artefact: the artefact. name: of its file.

    Yields:
        A row, the text that dbt ran for it, and what is wrong with it: empty = nothing, else no figure of it is there.

    Raises:
        InputError: it is another artefact, or dbt ran no statement of a policy.
    """
    results = artefact.get("results")
    if _RUN not in str(artefact["metadata"][_SCHEMA]) or not isinstance(results, list):
        raise InputError(
            f"{name}: is another artefact of dbt. The results of its tests and models are in run_results.json."
        )
    answered = [result for result in results if wording_of(_model_of(result), "") is not None]
    if not answered:
        raise InputError(
            f"{name}: dbt ran no statement of a policy: write them with `sqlaudit compile -f POLICY --each-to FOLDER` "
            f"into a folder of models that is 'materialized: {MATERIALIZED}'."
        )
    yield from map(_answer, answered)


def _model_of(result: object) -> str:
    """The name of the model that a result is about; empty where it is about something else."""
    kind, _, name = str(result.get("unique_id") if isinstance(result, dict) else "").partition(".")
    return name.rpartition(".")[2] if kind == "model" else ""


def _answer(result: Mapping[str, object]) -> tuple[Mapping[str, object], str, str]:
    """Return the row of a dbt result, the statement that was run, and what is wrong with it; empty if nothing is."""
    named, text, row = _model_of(result), result.get("compiled_code"), _row(result.get("message"))
    if result.get("status") != "success":
        wrong = "dbt did not run to its end"
    elif not isinstance(text, str) or not text.strip():
        wrong = "does not say which statement dbt ran (its compiled_code)"
    elif row is None:
        wrong = f"is no row of figures: its model is not 'materialized: {MATERIALIZED}'"
    elif row.get("test_id") != named:
        wrong = "is of another statement than its model"
    else:
        return row, text, ""
    return {"test_id": named}, "", wrong


def _row(message: object) -> dict[str, object] | None:
    """The one row in a message; None where it holds something else."""
    try:
        rows = json.loads(message) if isinstance(message, str) else None
    except (ValueError, RecursionError):
        return None
    return rows[0] if isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], dict) else None


def same_statement(sql: str, ran: str) -> bool:
    """Return True if a text that ran is a statement, perhaps under comments.

    Example:
        >>> same_statement("SELECT 1", "-- k=5\\nSELECT 1;\\n"), same_statement("SELECT 1", "SELECT 2")
        (True, False)
    """
    lines = ran.rstrip().removesuffix(";").rstrip().splitlines()
    while lines and (not lines[0].strip() or lines[0].startswith("--")):
        del lines[0]
    return lines == sql.rstrip().splitlines()


# What a warehouse answered to the statements of a policy, as files have it: JSON, its lines, CSV, dbt's artefact.

MOST_BYTES = 64 * 1024 * 1024
_NOTHING = ("", "null", "\\n", "none")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
_HUGE = 1.7976931348e308
"""Statements write the largest number for infinity."""
_VERDICTS = ("pass", "fail", "undecided")


@dataclass(frozen=True)
class WarehouseRow:
    """One row of an answer, read and not yet believed.

    Args:
        test_id: the name of its statement. classes … unusable: whole numbers, None = NULL. level: the main figure.
        verdict: pass, fail or undecided. wrong: what of it cannot be read, as a sentence goes on; empty = all can.
        ran: the text that was run for it, where the file says that.
    """

    test_id: str
    classes: int | None = None
    table_rows: int | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    undecided_classes: int | None = None
    unusable: int | None = None
    level: float | int | None = None
    verdict: str = ""
    wrong: str = ""
    ran: str = ""


def read_results(path: Path) -> list[WarehouseRow]:
    """The rows in a file: a list of JSON objects (or one under `rows` or `data`), JSON lines, or CSV with a header.

    A run_results.json of dbt has them as the messages of models (`answers_in`).

    Names of columns are read without regard to case, numbers may be texts.

    Raises:
        InputError: the file is not there, too large, or holds no such rows.
        UsageError: its ending says nothing that is known.
    """
    readers = {".json": _json_rows, ".jsonl": _line_rows, ".ndjson": _line_rows, ".csv": _csv_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"Results are read from {', '.join(readers)}; {str(path)!r} ends in something else.")
    return list(reader(_answer_text(path), str(path)))


def _answer_text(path: Path) -> str:
    """Read a file of results.

    Raises:
        InputError: it is too large, not UTF-8, or cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{str(path)!r} has more than {MOST_BYTES >> 20} MB: results are a row for each statement."
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"The results {str(path)!r} cannot be read: {error.strerror or 'no reason given'}.") from None


def _json_rows(text: str, name: str) -> list[WarehouseRow]:
    """Read the rows of a JSON document: results of dbt, a list of rows, or an object that holds one."""
    document = _parsed(text, name)
    if is_artefact(document):
        answers = answers_in(document, name)
        return [
            WarehouseRow(row["test_id"], wrong=wrong) if wrong else replace(read_row(row), ran=ran)
            for row, ran, wrong in answers
        ]
    if isinstance(document, dict):
        lists = [
            value for key, value in document.items() if key.lower() in ("rows", "data") and isinstance(value, list)
        ]
        document = lists[0] if len(lists) == 1 else document
    return list(map(read_row, _objects(document, name)))


def _line_rows(text: str, name: str) -> list[WarehouseRow]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    documents = [_parsed(line, f"{name}, line {number}") for number, line in lines]
    return list(map(read_row, _objects(documents, name)))


def _parsed(text: str, name: str) -> Any:
    def once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        if len({key.casefold() for key, _ in pairs}) < len(pairs):
            raise InputError(f"{name}: an object has one key twice, so its value is ambiguous.")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except (RecursionError, ValueError):
        raise InputError(f"{name}: is not JSON.") from None


def _objects(document: object, name: str) -> Iterator[Mapping[str, object]]:
    """The rows of a list; an answer in a list of its own, as clients give the rows of each statement, is taken, too."""
    for row in document if isinstance(document, list) else [document]:
        if isinstance(row, list):
            yield from _objects(row, name)
        elif isinstance(row, dict):
            yield row
        else:
            raise InputError(f"{name}: rows are objects with the columns {', '.join(ROW_COLUMNS)}.")


def _csv_rows(text: str, name: str) -> list[WarehouseRow]:
    """Read the rows of a CSV text.

    Raises:
        InputError: it is not CSV, or its header or the length of a line is wrong.
    """
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if line]
    except csv.Error:
        raise InputError(f"{name}: is not CSV.") from None
    if not lines:
        return []
    header = [cell.strip().lower() for cell in lines[0]]
    if len(set(header)) < len(header) or "test_id" not in header:
        raise InputError(f"{name}: its first line should name the columns {', '.join(ROW_COLUMNS)}, each once.")
    if any(len(line) != len(header) for line in lines):
        raise InputError(f"{name}: a line has more or fewer cells than the header.")
    return [read_row(dict(zip(header, line, strict=True))) for line in lines[1:]]


def read_row(cells: Mapping[str, object]) -> WarehouseRow:
    """The row of a statement from its cells by name; `wrong` says what of it cannot be read.

    Example:
        >>> read_row({"test_id": "a", "level": "2"}).wrong[:32]
        'lacks classes and table_rows and'
    """
    values = {key.lower(): value for key, value in cells.items()}
    named = _stripped(values.get("test_id"))
    missing = [name for name in ROW_COLUMNS if name not in values]
    if missing:
        return WarehouseRow(named, wrong=f"lacks {' and '.join(missing)}")
    verdict = _stripped(values["verdict"])
    try:
        counts: dict[str, Any] = {name: _count(values[name], name) for name in COUNTS}
        level = _number(values["level"])
    except _UnreadError as error:
        return WarehouseRow(named, wrong=str(error))
    if verdict not in _VERDICTS:
        return WarehouseRow(named, wrong=f"has another verdict than {', '.join(_VERDICTS)}")
    return WarehouseRow(named, **counts, level=level, verdict=verdict)


class _UnreadError(Exception):
    """A cell that is no number; its sentence holds no value."""


def _stripped(value: object) -> str:
    """A text without blanks around it; empty for something else."""
    return value.strip() if isinstance(value, str) else ""


def _count(value: object, name: str) -> int | None:
    number = _number(value)
    if number is not None and (number < 0 or not isinstance(number, int)):
        raise _UnreadError(f"has no whole number in {name}")
    return number


def _number(value: object) -> float | int | None:
    """A number, whole where it can be; None for NULL in any spelling."""
    text: Any = value.strip() if isinstance(value, str) else value
    if text is None or (isinstance(text, str) and text.lower() in _NOTHING):
        return None
    fits = _NUMBER.fullmatch(text) if isinstance(text, str) else isinstance(text, int | float)
    if not fits or isinstance(text, bool):
        raise _UnreadError("holds values that are not numbers")
    try:
        number = int(text) if isinstance(text, str) and text.isdecimal() else float(text)
    except (ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise _UnreadError("holds values that are not numbers")
    if abs(number) >= _HUGE:
        return math.inf
    return int(number) if number == int(number) else number

"""Policies as statements, judged by what a warehouse answered: the same as a run, and nothing that was not asked."""

from __future__ import annotations

import csv
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import InputError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import Outcome
from sqlaudit.gates.standalone.checks import ROW_COLUMNS
from sqlaudit.gates.standalone.names import DIALECTS
from sqlaudit.gates.standalone.policies import Wording, policy_statements, read_results
from sqlaudit.gates.standalone.request import Returns
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run
from tests.gates.conftest import Make
from tests.gates.databases import in_duckdb
from tests.gates.standalone.answering import Execute, Row, alike, answers_of, in_duckdb_file, kept, rows_of, told

VISITS = [
    {"who": who, "age": age, "sex": sex, "days": days}
    for who, age, sex, days in [
        (1, 30, "F", 1),
        (1, 30, "F", 2),
        (2, 30, "F", 2),
        (3, 30, "M", 4),
        (4, 30, "M", 4),
        (5, 40, "F", 1),
        (5, 40, "F", 3),
        (6, 40, "F", 4),
        (7, 40, "F", 1),
    ]
]
COUNTS = [{"region": region, "n": n} for region, n in [("a", 12), ("b", 3), ("c", 0)]]
POLICY = """
tables:
  - table: {schema}.visits
    quasi_identifiers: [age, sex]
    sensitive: [days]
    requirements:
      - k=2
      - k=3
      - {k: 4, severity: warn}
      - {k: 5, error_if: '> 90%', warn_if: '> 1'}
      - l=2
      - {t: 0.3, severity: warn}
      - t_ordered=0.6
      - entropy_l=1.5
      - disclosure@1=0.9
      - prosecutor_risk=0.5
      - average_risk=0.2
      - rows_at_risk=0.4
    exceptions:
      - {requirement: k=3, until: 2999-12-31, reason: soon, up_to: 1}
      - {requirement: l=2, until: 2999-12-31, reason: soon}
  - table: {schema}.visits
    name: persons
    entity: who
    quasi_identifiers: [age, sex]
    requirements: [k=2, k=3, km@1=2, km@2=3]
  - table: {schema}.visits
    name: some
    where: age > 35
    quasi_identifiers: [sex]
    requirements: [k=2]
  - table: {schema}.counts
    requirements:
      - aggregates: {by: [region], count: n, require: [threshold=5, "threshold=2"]}
"""


def test_results_say_what_a_run_says(database: Make, tmp_path: Path) -> None:
    made = database({"visits": VISITS, "counts": COUNTS})
    policy = made.policy(POLICY)
    whereabouts = database_of(load_policy(policy).connections["main"])
    with connect(whereabouts, Limits(), Target(relation=f"{made.schema}.visits")) as engine:

        def execute(sql: str) -> Any:
            statement = Statement("check", sql)
            return engine.result_names(statement), engine.run(statement)

        here = in_duckdb_file(tmp_path / "clinic.duckdb") if engine.dialect == "duckdb" else execute
        rows = answers_of(policy, here, engine.dialect)
    alike(sqlaudit.gate(policy), sqlaudit.gate(policy, results=[kept(rows, tmp_path / "rows.json")]))


@pytest.fixture(scope="module")
def answered() -> Iterator[tuple[Path, list[Row]]]:
    """A policy of two tests that hold and one that fails, and what its statements answered."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        found = in_duckdb(Path(folder), {"visits": VISITS})
        policy = found.policy(
            """
            tables:
              - {table: visits, quasi_identifiers: [age, sex], sensitive: [days], requirements: [k=2, l=1, k=3]}
            """
        )
        yield policy, answers_of(policy, in_duckdb_file(policy.with_name("clinic.duckdb")))


@pytest.fixture
def made(answered: tuple[Path, list[Row]], tmp_path: Path) -> tuple[Path, Execute]:
    """The same policy with its database in a folder of the test's own, and what executes its statements."""
    for name in ("clinic.duckdb", answered[0].name):
        shutil.copy(answered[0].with_name(name), tmp_path)
    return tmp_path / answered[0].name, in_duckdb_file(tmp_path / "clinic.duckdb")


@pytest.fixture
def rows(answered: tuple[Path, list[Row]]) -> list[Row]:
    """What its statements answered, for the test to change."""
    return [dict(row) for row in answered[1]]


def outcomes(policy: Path, rows: list[Row], folder: Path, **more: Any) -> list[str]:
    """How the tests end with these rows."""
    result = sqlaudit.gate(policy, results=[kept(rows, folder / "rows.json")], **more)
    assert not result.passed
    return [test.outcome.value for test in result.tests]


def test_what_is_not_answered_never_passes(made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    policy, _ = made
    assert outcomes(policy, rows, tmp_path) == ["pass", "pass", "fail"]
    assert outcomes(policy, rows[1:], tmp_path) == ["error", "pass", "fail"]
    assert outcomes(policy, [rows[0], *rows], tmp_path) == ["error", "pass", "fail"]
    assert outcomes(policy, [{**rows[0], "test_id": rows[1]["test_id"]}, *rows[1:]], tmp_path)[0] == "error"
    assert outcomes(policy, [{**rows[2], "test_id": "k"}], tmp_path) == ["error"] * 3


@pytest.mark.parametrize(
    "edit",
    [
        {"verdict": "pass"},
        {"verdict": "pass", "failing_classes": 0},
        {"verdict": "pass", "failing_classes": 0, "failing_rows": 0},
        {"verdict": "PASS"},
        {"verdict": None},
        {"verdict": True},
        {"failing_classes": -1},
        {"failing_rows": 100},
        {"failing_rows": "many"},
        {"failing_classes": None, "verdict": "pass"},
        {"table_rows": None},
        {"unusable": 1},
        {"unusable": None},
        {"undecided_classes": None},
        {"table_rows": 0, "verdict": "pass"},
        {"level": [2]},
        {"level": None},
        {"level": math.nan},
        {"level": "nan"},
        {"level": math.inf},
        {"level": -1},
        {"level": 1.5},
        {"level": "\u0665"},
        {"level": "2_0"},
        {"level": 5},
        {"classes": 0},
        {"classes": 30},
        {"undecided_classes": 30},
        {"unusable": 30, "verdict": "undecided"},
        {"failing_classes": 2, "failing_rows": 1},
        {"failing_rows": 0},
    ],
)
def test_an_edited_row_is_no_answer(edit: Row, made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    rows[2] |= edit
    assert outcomes(made[0], rows, tmp_path) == ["pass", "pass", "error"]


@pytest.mark.parametrize(
    "edit",
    [
        {"level": None},
        {"level": math.nan},
        {"level": math.inf},
        {"level": 10**300},
        {"level": 2.5},
        {"table_rows": 1, "classes": 1, "level": 5},
        {"table_rows": 10, "classes": 30},
        {"table_rows": 10, "classes": 5, "level": 3},
        {"classes": 0},
    ],
)
def test_a_pass_whose_figures_cannot_be_is_none(
    edit: Row, made: tuple[Path, Execute], rows: list[Row], tmp_path: Path
) -> None:
    rows[0] |= edit
    assert outcomes(made[0], rows, tmp_path)[0] == "error"


def test_a_row_that_passes_and_falls_short_is_no_answer(
    made: tuple[Path, Execute], rows: list[Row], tmp_path: Path
) -> None:
    rows[0] |= {"failing_classes": 1, "failing_rows": 2}
    assert outcomes(made[0], rows, tmp_path)[0] == "error"


@pytest.mark.parametrize("column", ROW_COLUMNS)
def test_a_row_without_a_column_is_no_answer(
    column: str, made: tuple[Path, Execute], rows: list[Row], tmp_path: Path
) -> None:
    del rows[0][column]
    assert outcomes(made[0], rows, tmp_path) == ["error", "pass", "fail"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[age, sex]", "[age]"),
        ("table: visits", "table: VISITS"),
        ("table: visits", "table: visits, where: age > 30"),
        ("table: visits", "table: visits, nulls: distinct"),
        ("table: visits", "table: visits, name: others"),
        ("k=2", "k=1"),
    ],
)
def test_results_of_another_policy_answer_nothing(
    before: str, after: str, made: tuple[Path, Execute], rows: list[Row], tmp_path: Path
) -> None:
    policy, _ = made
    policy.write_text(policy.read_text().replace(before, after))
    said = sqlaudit.gate(policy, results=[kept(rows, tmp_path / "rows.json")])
    assert not said.passed
    assert said.tests[0].outcome is Outcome.ERROR
    assert "has no results for the current policy" in said.tests[0].message
    assert "to no test" in said.notes[1]


def test_a_run_has_names_of_its_own(made: tuple[Path, Execute], tmp_path: Path) -> None:
    policy, execute = made
    rows = answers_of(policy, execute, run="2026-11-22")
    assert outcomes(policy, rows, tmp_path, run="2026-11-22") == ["pass", "pass", "fail"]
    assert outcomes(policy, rows, tmp_path, run="2026-11-23") == ["error"] * 3
    assert outcomes(policy, rows, tmp_path) == ["error"] * 3


def test_answers_in_two_dialects_are_none(made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    policy, _ = made
    other = policy_statements(load_policy(policy).tables, Wording("snowflake"))
    again = [{**row, "test_id": one.test_id} for row, one in zip(rows, other, strict=True)]
    assert outcomes(policy, again, tmp_path) == ["pass", "pass", "fail"]
    assert outcomes(policy, [*rows, *again], tmp_path) == ["error"] * 3


def test_known_rows_need_both_answers(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"visits": VISITS}).policy(
        "tables: [{table: visits, entity: who, quasi_identifiers: [age, sex], requirements: [k=2]}]\n"
    )
    rows = answers_of(policy, in_duckdb_file(tmp_path / "clinic.duckdb"))
    assert len(rows) == 2
    alike(sqlaudit.gate(policy), sqlaudit.gate(policy, results=[kept(rows, tmp_path / "rows.json")]))
    for row in rows:
        assert sqlaudit.gate(policy, results=[kept([row], tmp_path / "rows.json")]).tests[0].outcome is Outcome.ERROR


def test_an_empty_table_is_undetermined(made: tuple[Path, Execute], tmp_path: Path) -> None:
    policy, execute = made
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("DELETE FROM visits")
    assert outcomes(policy, answers_of(policy, execute), tmp_path) == ["undetermined"] * 3


def test_baselines_and_reports_are_as_ever(made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    policy, baseline = made[0], tmp_path / "accepted.yml"
    accepted = sqlaudit.gate(policy, baseline=baseline, accept=True)
    assert not accepted.passed
    found = sqlaudit.gate(policy, baseline=baseline, results=[kept(rows, tmp_path / "rows.json")])
    assert [test.outcome.value for test in found.tests] == ["pass", "pass", "accepted"]
    worse = [*rows[:2], {**rows[2], "failing_rows": 3}]
    again = sqlaudit.gate(policy, baseline=baseline, results=[kept(worse, tmp_path / "rows.json")])
    assert again.tests[2].change is not None
    assert again.tests[2].change.sentence == "2 rows failed before and 3 fail now."


def write_csv(rows: list[Row], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [name.upper() for name in rows[0]])
        writer.writeheader()
        writer.writerows({name.upper(): value for name, value in row.items()} for row in rows)
    return path


def write_lines(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps({name: str(value) for name, value in row.items()}) + "\n" for row in rows))
    return path


def write_nested(rows: list[Row], path: Path) -> Path:
    path.write_text(json.dumps({"rows": [[row] for row in rows]}))
    return path


@pytest.mark.parametrize(
    ("write", "name"), [(write_csv, "r.csv"), (write_lines, "r.jsonl"), (write_nested, "r.json"), (kept, "r.json")]
)
def test_results_in_every_form(
    write: Callable[[list[Row], Path], Path], name: str, made: tuple[Path, Execute], rows: list[Row], tmp_path: Path
) -> None:
    policy, path = made[0], write(rows, tmp_path / name)
    assert run("test", "-f", policy, "--results", path).code == 1
    result = sqlaudit.gate(policy, results=[path])
    assert [told(test)[1:5] for test in result.tests] == [
        (Outcome.PASS, 2.0, 0, 9),
        (Outcome.PASS, 1.0, 0, 9),
        (Outcome.FAIL, 2.0, 2, 9),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.json", "", "is not JSON"),
        ("r.json", '{"verdict": "fail", "VERDICT": "pass"}', "one key twice"),
        ("r.json", "[1]", "rows are objects"),
        ("r.json", "[]", "no row"),
        ("r.csv", "", "no row"),
        ("r.csv", "test_id,verdict,verdict\n", "each once"),
        ("r.csv", "test_id,verdict\na\n", "more or fewer cells"),
        ("r.csv", "a,b\n", "each once"),
        ("r.txt", "", "ends in something else"),
    ],
)
def test_files_that_are_no_results(name: str, text: str, said: str, made: tuple[Path, Execute], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    ran = run("test", "-f", made[0], "--results", path)
    assert ran.code == 2
    assert said in ran.err


def test_a_file_of_results_that_is_not_there(made: tuple[Path, Execute], tmp_path: Path) -> None:
    assert run("test", "-f", made[0], "--results", tmp_path / "none.json").code == 2


def test_no_message_holds_what_a_file_says(made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    policy, _ = made
    rows[0] |= {"failing_rows": "Zebra"}
    rows[1] |= {"verdict": "Zebra"}
    ran = run("test", "-f", policy, "--results", kept(rows, tmp_path / "rows.json"))
    assert "Zebra" not in ran.out + ran.err


def test_what_one_select_cannot_carry_is_an_error(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"visits": VISITS}).policy(
        """
        tables:
          - table: visits
            quasi_identifiers: [age]
            identifiers: [who]
            requirements: [k=2, column_sets: {max_size: 1}, loss: {original: visits, measure: ncp, at_most: 1}]
          - {file: visits.csv, quasi_identifiers: [age], requirements: [k=2]}
        """
    )
    found = answers_of(policy, in_duckdb_file(tmp_path / "clinic.duckdb"))
    result = sqlaudit.gate(policy, results=[kept(found, tmp_path / "rows.json")])
    assert [test.outcome.value for test in result.tests] == ["pass", *["error"] * 4]
    ran = run("compile", "-f", policy)
    assert ran.code == 1
    assert ran.out.count("is not here:") == 4


def test_what_a_statement_returns(made: tuple[Path, Execute]) -> None:
    policy, execute = made
    tables = load_policy(policy).tables
    found = {
        form: [rows_of(execute, one.compiled.sql) for one in policy_statements(tables, Wording("duckdb", returns=form))]
        for form in Returns
    }
    assert found[Returns.VERDICT] == [[{"passed": 1}], [{"passed": 1}], [{"passed": 0}]]
    assert found[Returns.COUNT] == [[{"failing": 0}], [{"failing": 0}], [{"failing": 2}]]
    assert found[Returns.METRIC] == [[{"metric": 2}], [{"metric": 1}], [{"metric": 2}]]
    assert [len(rows) for rows in found[Returns.FAILING_ROWS]] == [0, 0, 1]
    assert [list(rows[0]) for rows in found[Returns.ROW]] == [list(ROW_COLUMNS)] * 3


def test_an_undecided_check_passes_in_no_form(made: tuple[Path, Execute], tmp_path: Path) -> None:
    policy, execute = made
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("DELETE FROM visits")
    tables = load_policy(policy).tables
    expected: dict[Returns, Any] = {Returns.VERDICT: 0, Returns.COUNT: 1, Returns.METRIC: None}
    for form, value in expected.items():
        for one in policy_statements(tables, Wording("duckdb", returns=form)):
            ((found,),) = (row.values() for row in rows_of(execute, one.compiled.sql))
            assert found == value
    for one in policy_statements(tables, Wording("duckdb", returns=Returns.FAILING_ROWS)):
        assert len(rows_of(execute, one.compiled.sql)) == 1


def test_names_of_statements_are_plain_and_tell_them_apart(tmp_path: Path) -> None:
    policy = in_duckdb(tmp_path, {"visits": VISITS}).policy(
        """
        tables:
          - {table: visits, name: "it's \\"odd\\"; --", quasi_identifiers: [age], requirements: [k=2, k=3]}
          - {table: visits, name: "its odd", quasi_identifiers: [age], requirements: [k=2]}
        """
    )
    tables = load_policy(policy).tables
    names = [one.test_id for dialect in DIALECTS for one in policy_statements(tables, Wording(dialect))]
    assert len(set(names)) == len(names) == 3 * len(DIALECTS)
    assert all(name.replace("_", "").isalnum() and name.isascii() for name in names)


def test_each_statement_in_a_file_of_its_own(made: tuple[Path, Execute], tmp_path: Path) -> None:
    policy, execute = made
    folder = tmp_path / "statements"
    assert run("compile", "-f", policy, "--each-to", folder).code == 2
    folder.mkdir()
    (folder / "old.sql").write_text("")
    ran = run("compile", "-f", policy, "--each-to", folder, "--select", "requirement:k")
    assert ran.code == 0
    assert "wrote 2 statements" in ran.err
    assert "1 other .sql files" in ran.err
    rows = [row for path in sorted(folder.glob("visits*.sql")) for row in rows_of(execute, path.read_text())]
    assert {row["test_id"] for row in rows} == {path.stem for path in folder.glob("visits*.sql")}
    result = sqlaudit.gate(policy, select=["requirement:k"], results=[kept(rows, tmp_path / "rows.json")])
    assert [test.outcome.value for test in result.tests] == ["pass", "fail"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "-f", "sqlaudit.yml", "k=5"),
        ("compile", "-f", "sqlaudit.yml", "--table", "t"),
        ("compile", "--table", "t", "--qi", "a", "k=5", "--run", "x"),
        ("compile", "--table", "t", "--qi", "a", "k_anonymity", "--returns", "verdict"),
        ("compile", "--table", "t", "--qi", "a", "--returns", "count"),
        ("test", "--run", "x"),
        ("test", "--results", "r.json", "--timeout", "3s"),
        ("test", "--results", "r.json", "--show-sql"),
    ],
)
def test_options_that_have_no_meaning_together(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).code == 2


def test_a_result_file_is_never_written_over(made: tuple[Path, Execute], rows: list[Row], tmp_path: Path) -> None:
    policy, path = made[0], kept(rows, tmp_path / "rows.json")
    assert run("test", "-f", policy, "--results", path, "--report", path).code == 2
    assert read_results(path)


def test_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with path.open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(InputError, match="more than 64 MB"):
        read_results(path)

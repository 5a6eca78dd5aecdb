"""Files that take reports: an ending that means nothing here is refused, and a full device is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import View
from sqlaudit.engines.writing import check_view
from tests.cli.runner import patients, run

COMMAND = (sys.executable, "-c", "from sqlaudit.cli import main; main()")
REPORTS = ".txt, .json, .md, .markdown, .html, .htm"


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "{table}", "--qi", "age"),
        ("profile", "{table}"),
        ("columns", "{table}"),
        ("records", "{table}"),
        ("releases", "{table}", "{table}", "--entity", "id", "--qi", "age", "--sensitive", "disease"),
        ("disclosure", "{table}", "--qi", "age", "--sensitive", "disease"),
        ("models",),
        ("lattice", "{table}", "--qi", "age", "--require", "k=2"),
        ("hierarchy", "{table}", "age", "--widths", "5"),
        ("compare", "{table}", "{table}"),
        ("attack", "{table}", "--qi", "age", "--sensitive", "disease"),
        ("suppress", "{table}", "--qi", "age", "--require", "k=2"),
        ("recode", "{table}", "--qi", "age"),
        ("test",),
        ("compile", "k=2", "--table", "t", "--qi", "age"),
        ("init", "{table}"),
        ("console", "{table}", "-c", "SELECT 1 AS one"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path: Path, command: tuple[str, ...]) -> None:
    table, file = patients(tmp_path), tmp_path / "r.pdf"
    ran = run(*(part.format(table=table) for part in command), "--output", file)
    if command[0] == "models" and "No such option" in ran.err:
        pytest.skip("it has no --output")
    assert ran.code == 2
    assert not file.exists()
    known = {
        "test": ".html, .txt or .jsonl",
        "compile": ".sql or .txt",
        "init": ".yml or .yaml",
        "console": ".txt, .csv, .json, .jsonl or .sql",
    }
    assert known.get(command[0], REPORTS[:5]) in ran.err


def test_csv_is_found_under_other_names(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), "--qi", "age", "-o", "result.csv")
    assert ran.code == 2
    assert ran.err.endswith(
        "For CSV: `sqlaudit audit --failing-classes-to FILE.csv` writes failing groups, "
        "`sqlaudit test --report FILE.csv` checks.\n"
    )


def test_a_format_that_is_chosen_and_no_ending_are_fine(tmp_path: Path) -> None:
    for options in (("--output", tmp_path / "r.pdf", "--format", "text"), ("--output", tmp_path / "r")):
        assert run("audit", patients(tmp_path), "--qi", "age", *options).code == 0
    first, second = ((tmp_path / name).read_text().splitlines() for name in ("r.pdf", "r"))
    assert first[:10] == second[:10] != []


def test_a_report_of_the_console_needs_a_known_ending(tmp_path: Path) -> None:
    for text in (f"\\o {tmp_path / 'r.pdf'}", f"\\report {tmp_path / 'r.pdf'}"):
        ran = run("console", patients(tmp_path), "-c", text)
        assert ran.code == 2
        assert "must end in " in ran.err
    assert not (tmp_path / "r.pdf").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command", [("audit", "{table}", "--qi", "age"), ("console", "{table}", "-c", "SELECT 1 AS x")]
)
def test_a_full_device_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    ran = run(*(part.format(table=patients(tmp_path)) for part in command), "--output", "/dev/full")
    assert (ran.code, ran.err) == (2, "sqlaudit: '/dev/full' could not be written: No space left on device.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_under_help_and_under_errors(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        helped = subprocess.run([*COMMAND, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        failed = subprocess.run([*COMMAND, "audit"], stderr=full, stdout=subprocess.PIPE, text=True, check=False)
    assert (helped.returncode, helped.stderr) == (2, "sqlaudit: the disk is full: No space left on device.\n")
    assert (failed.returncode, failed.stdout) == (2, "")


def test_results_take_the_place_of_a_file_not_before_there_are_any(tmp_path: Path) -> None:
    file = tmp_path / "r.txt"
    file.write_text("old")
    table = patients(tmp_path)
    ran = run("console", table, "-c", f"\\o {file}", "-c", "SELECT no FROM x")
    assert ran.code == 2
    assert file.read_text() == "old"
    assert run("console", table, "-c", f"\\o {file}", "-c", "SELECT count(*) AS n FROM patients").code == 0
    assert file.read_text() == "n\n--\n12\n(1 row)\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv", "r.txt"]


def test_names_that_postgres_would_cut_or_not_find_are_refused_before_any_work() -> None:
    db = "postgresql://nobody@127.0.0.1:1/none"
    for name, said in (
        ("a" * 70, "has 70 bytes; PostgreSQL would cut it after 63"),
        ("public." + "ä" * 32, "has 64 bytes"),
        ("pg_tables", "begins as PostgreSQL's own relations do"),
    ):
        with pytest.raises(UsageError, match=said):
            check_view(db, View(name, ""))
        ran = run("lattice", "--db", db, "t", "--qi", "a", "--require", "k=2", "--publish-view", name, "--execute")
        assert ran.code == 2
        assert said in ran.err
    check_view(db, View("public." + "a" * 63, ""))
    check_view("spark:local", View("a" * 70, ""))

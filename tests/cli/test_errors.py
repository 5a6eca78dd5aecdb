"""Everything that goes wrong is one sentence on stderr and an exit code; never a traceback, never a value."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, UsageError
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import Boundary, worst
from sqlaudit.cli.group import COMMANDS
from tests.cli.runner import patients, run
from tests.places import REPOSITORY

HELP = "See 'sqlaudit audit --help'."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "No target is given. Name a file, table or view, or give a SELECT with --query."),
        (
            ("{file}",),
            "No quasi-identifiers are given. Name what others may know about a person, with --qi. "
            "`sqlaudit profile` proposes: "
            "sex,age",
        ),
        (("{file}", "--query", "SELECT 1", "--qi", "a"), "Give a table or file, or a --query, not both."),
        (
            ("--query", "SELECT 1 AS a", "--where", "a = 1", "--qi", "a"),
            "--where applies to a table or file: put the condition into --query.",
        ),
        (("{file}", "--qi", "agee"), "--qi: {file} has no column 'agee'. Did you mean 'age'?"),
        (
            ("{file}", "--qi", "age", "--sensitive", "age"),
            "Column 'age' is named as quasi-identifier and as sensitive attribute. Give every column one role.",
        ),
        (
            ("{file}", "--qi", "age", "--entity", "a,b"),
            "--entity takes one column: the one that identifies the person.",
        ),
        (
            ("{file}", "--qi", "age", "--require", "kk=5"),
            "There is no privacy model 'kk'. Did you mean 'k'? 'sqlaudit models' lists them.",
        ),
        (("{file}", "--qi", "age", "--require", "k"), "Requirement 'k' is not of the form model=number. Example: k=5."),
        (
            ("{file}", "--qi", "age", "--preset", "cels-5"),
            "There is no preset 'cels-5'. Did you mean 'cells-5'? There are: wp216, hipaa-expert, ema-0070, "
            "health-canada-prci, cells-20, cells-11, cells-10, cells-5, cells-3, acro, iso-27559, nist-800-188, ehds, "
            "hipaa-safe-harbor.",
        ),
        (
            ("{file}", "--qi", "age", "--timeout", "soon"),
            f"Invalid value for '--timeout': 'soon' is not a time. Write 90, 90s, 15m or 2h. {HELP}",
        ),
        (
            ("{file}", "--qi", "age", "--timeout", "0"),
            f"Invalid value for '--timeout': '0' is not a time. Write 90, 90s, 15m or 2h. {HELP}",
        ),
        (
            ("{file}", "--qi", "age", "--memory-limit", "lots"),
            f"Invalid value for '--memory-limit': 'lots' is not an amount of memory. Write 500MB or 4GB. {HELP}",
        ),
        (
            ("{file}", "--qi", "age", "--failing-classes", "-1"),
            f"Invalid value for '--failing-classes': '-1' is neither a number nor 'all'. {HELP}",
        ),
        (("{file}", "--qi", "age", "--temp-directory", "{file}"), "--temp-directory '{file}' is not a folder."),
        (("{file}", "--qi", "age", "--delimiter", "::"), "--delimiter takes one character, or tab."),
        (("{file}", "--qi", "age", "--output", "{folder}"), "'{folder}' is a folder. Name a file."),
        (
            ("{file}", "--qi", "age", "--output", "{folder}/no/r.txt"),
            "The folder of '{folder}/no/r.txt' does not exist.",
        ),
        (
            ("{file}", "--qi", "age", "--failing-classes-to", "{folder}/f.txt"),
            "'{folder}/f.txt' must end in .csv or .parquet.",
        ),
        (("--db", "{folder}/no.duckdb", "t", "--qi", "a"), "There is no database file '{folder}/no.duckdb'."),
    ],
)
def test_bad_requests(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    places = {"file": str(patients(tmp_path)), "folder": str(tmp_path)}
    ran = run("audit", *(argument.format(**places) for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"sqlaudit: {sentence.format(**places)}\n"


def test_a_name_with_escape_sequences_is_not_obeyed_in_an_error(tmp_path: Path) -> None:
    ran = run("audit", patients(tmp_path), "--qi", "\x1b[31mred")
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "\\x1b[31mred" in ran.err


def test_unknown_commands_and_options() -> None:
    ran = run("auidt")
    assert (ran.code, ran.err) == (
        2,
        "sqlaudit: There is no command 'auidt'. Did you mean 'audit'? See 'sqlaudit --help'.\n",
    )
    ran = run("audit", "--qui", "a")
    assert ran.code == 2
    assert ran.err.startswith("sqlaudit: No such option '--qui'.")


def test_without_a_command_the_help_is_shown_and_nothing_passes() -> None:
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert "See it work on a real table:\n    sqlaudit demo\n" in ran.err


def test_help_and_version() -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    headings = [line for line in ran.out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "Options:",
        "Begin with:",
        "Make a table safe:",
        "Look closer:",
        "Policies and proofs:",
        "Tools:",
    ]
    first = ran.out.partition("Begin with:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\w+) ", first, re.MULTILINE) == ["demo", "app", "profile", "audit", "test", "compare"]
    listed = re.findall(r"^  ([a-z]+)  ", ran.out.partition("Begin with:")[2], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    ran = run("--version")
    assert ran.code == 0
    assert ran.out.startswith(f"sqlaudit {__version__} (Python ")


def test_pages_that_reports_name_are_printed() -> None:
    for page in ("glossary", "verdicts", "equality", "gate"):
        ran = run("help", page)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert run("help", "audit").out.startswith("Usage: ")
    assert "Pages (sqlaudit help PAGE): equality, gate, glossary, verdicts" in run("help").said
    ran = run("help", "verdict")
    assert (ran.code, ran.err) == (2, "sqlaudit: There is no page 'verdict'. Did you mean 'verdicts'?\n")


def test_what_reports_name_as_a_page_is_one() -> None:
    named = set()
    for file in (REPOSITORY / "sqlaudit").rglob("*.py"):
        named |= set(re.findall(r"sqlaudit help ([a-z]+)", file.read_text(encoding="utf-8")))
    assert named - {"audit"} == {"glossary", "verdicts", "equality", "gate"}


def test_help_of_audit_has_sections() -> None:
    lines = run("audit", "--help").out.splitlines()
    assert [line for line in lines if line.endswith(":") and not line.startswith(" ")] == [
        "Input:",
        "Column roles:",
        "Requirements:",
        "Failing groups:",
        "Output:",
        "Cover page:",
        "SQL:",
        "Limits:",
        "Help:",
    ]


@pytest.mark.parametrize(
    ("codes", "code"), [((), 0), ((0, 1), 1), ((1, 4), 4), ((4, 2, 1), 2), ((2, 3), 3), ((3, 130), 130), ((0, 0), 0)]
)
def test_the_worst_code_wins(codes: tuple[int, ...], code: int) -> None:
    assert worst(*codes) == code


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (UsageError("No."), 2, "No."),
        (EngineError("Gone."), 3, "Gone."),
        (Incomplete("Late."), 4, "Late."),
        (Interrupted("Stopped."), 130, "Stopped."),
        (KeyboardInterrupt(), 130, "stopped by Ctrl-C."),
        (click.Abort(), 130, "stopped by Ctrl-C."),
        (MemoryError(), 4, "out of memory. Set --memory-limit, so that the database spills to disk."),
        (
            ValueError("secret value"),
            3,
            "internal error (ValueError). This is a bug in sqlaudit, please report it. "
            "SQLAUDIT_DEBUG=1 shows where it happened, without values of your table.",
        ),
    ],
)
def test_errors_become_sentences(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Boundary() as boundary:
        raise error
    assert boundary.code == code
    assert capsys.readouterr().err == f"sqlaudit: {sentence}\n"


def test_debugging_shows_places_but_no_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SQLAUDIT_DEBUG", "1")
    with Boundary():
        try:
            raise KeyError("secret key")
        except KeyError as error:
            raise ValueError("secret value") from error
    told = capsys.readouterr().err
    assert f"{Path(__file__).name}:" in told
    assert "  ValueError\n  which came from\n" in told
    assert told.endswith("  KeyError\n")
    assert "secret" not in told
    with Boundary():
        raise AttributeError("no attribute 'x'")
    assert capsys.readouterr().err.endswith("  AttributeError: no attribute 'x'\n")


def test_nobody_reading_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    boundary = Boundary()
    boundary.__enter__()
    assert boundary.__exit__(BrokenPipeError, None, None) is False
    assert capfd.readouterr().err == ""

"""What people expect of a command line: short options, pipes, quiet, completion, a policy found from below."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlaudit.cli import cli
from sqlaudit.cli.group import COMMANDS

TABLE = "age,zip\n34,10115\n34,10115\n51,10117\n"
POLICY = "version: 1\ntables: [{file: people.csv, quasi_identifiers: [age], requirements: [k=1]}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(cli, arguments, input=given)


def test_the_package_is_a_command(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "sqlaudit", "-V"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sqlaudit ")
    assert ran("-V").stdout == done.stdout == ran("--version").stdout


def test_short_options_are_the_long_ones(folder: Path) -> None:
    assert ran("audit", "people.csv", "--qi", "age", "-o", "a.md").exit_code == 0
    assert ran("audit", "people.csv", "--qi", "age", "--output", "b.md").exit_code == 0
    assert (folder / "a.md").read_text().splitlines()[0] == (folder / "b.md").read_text().splitlines()[0]
    refused = ran("audit", "people.csv", "--qi", "age", "-o", "a.docx")
    assert refused.exit_code == 2
    assert (
        "'.docx' is not a report format. Use .txt, .json, .md, .markdown, .html or .htm, or say --format."
        in refused.stderr
    )
    assert not (folder / "a.docx").exists()
    assert ran("audit", "people.csv", "--qi", "age", "-o", "people.csv").exit_code == 2
    assert (folder / "people.csv").read_text() == TABLE


def test_quiet_says_nothing_but_errors(folder: Path) -> None:
    told = ran("audit", "people.csv", "--qi", "age", "--require", "k=2", "--failing-classes-to", "f.csv")
    assert "wrote 1 failing class" in told.stderr
    quiet = ran("audit", "people.csv", "--qi", "age", "--require", "k=2", "--failing-classes-to", "f.csv", "-q")
    assert (quiet.stdout.splitlines()[:3], quiet.stderr, quiet.exit_code) == (told.stdout.splitlines()[:3], "", 1)
    assert ran("audit", "people.csv", "--qi", "agee", "--quiet").stderr.startswith("sqlaudit: --qi")


def test_every_command_can_be_quiet() -> None:
    for name in COMMANDS:
        command = cli.get_command(None, name)
        assert "--quiet" in {flag for parameter in command.params for flag in parameter.opts}, name


@pytest.mark.parametrize(
    ("given", "more"),
    [(TABLE.encode(), ()), (b'{"age": 34, "zip": 1}\n{"age": 34, "zip": 1}\n{"age": 5, "zip": 1}\n', ())],
)
def test_a_dash_is_the_table_in_a_pipe(folder: Path, given: bytes, more: tuple[str, ...]) -> None:
    done = ran("audit", "-", "--qi", "age", "--require", "k=2", *more, given=given)
    assert done.exit_code == 1, done.stderr
    assert "stdin: 3 rows in 2 groups" in done.stdout
    assert not list(Path("/tmp").glob(f"sqlaudit-stdin-*-{os.getpid()}-*"))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (b"", "Standard input is empty (0 bytes)."),
        (b"a,b\n1,2\n1,2,3\n", "Line 3 of standard input has 3 fields, but 2 are expected."),
        (b'a,b\n"1,2\n1,2\n', "Line 2 of standard input has an unclosed quote."),
        (b'{"a": 1\n', "Standard input is not valid JSON near record 2."),
        (b"PAR1 and no more", "Standard input is not a Parquet file, or was cut off."),
        (b"ARROW1 and no more", "Standard input is not an Arrow file, or is damaged."),
    ],
)
def test_errors_name_no_file_of_ours(folder: Path, given: bytes, sentence: str) -> None:
    for command in (("audit", "-", "--qi", "a"), ("profile", "-"), ("columns", "-")):
        assert ran(*command, given=given).stderr == f"sqlaudit: {sentence}\n"


def test_a_dash_is_stdout(folder: Path) -> None:
    assert ran("audit", "people.csv", "--qi", "age", "-o", "-").stdout.startswith("Figures of the table")
    assert not (folder / "-").exists()


def test_a_policy_is_found_from_the_folders_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sqlaudit.yml").write_text(POLICY, encoding="utf-8")
    below = folder / "models" / "marts"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    done = ran("test")
    assert done.exit_code == 0, done.stderr
    assert "sqlaudit.yml" in done.stdout
    (below / "sqlaudit.yml").write_text(
        POLICY.replace("k=1", "k=2").replace("people", "../../people"), encoding="utf-8"
    )
    assert ran("test").exit_code == 1


def test_a_missing_policy_points_to_init(folder: Path) -> None:
    done = ran("test")
    assert done.exit_code == 2
    assert done.stderr == (
        "sqlaudit: There is no sqlaudit.yml here or in a folder above; `sqlaudit init` writes one from your tables.\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_a_shell(shell: str) -> None:
    done = ran("completion", shell)
    assert done.exit_code == 0
    assert "_SQLAUDIT_COMPLETE=" + shell + "_complete" in done.stdout


def test_a_folder_is_the_tables_in_it(folder: Path) -> None:
    parts = folder / "parts" / "2026"
    parts.mkdir(parents=True)
    (folder / "parts" / "a.csv").write_text(TABLE, encoding="utf-8")
    (parts / "b.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    (parts / "_log.csv").write_text("no table", encoding="utf-8")
    (folder / "parts" / "README").write_text("nor this", encoding="utf-8")
    assert "parts: 6 rows in 2 groups" in ran("audit", "parts", "--qi", "age,zip").stdout
    (folder / "empty").mkdir()
    assert "The folder 'empty' has no file that ends in .csv" in ran("audit", "empty", "--qi", "age").stderr

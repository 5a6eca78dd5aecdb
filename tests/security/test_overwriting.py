"""What is read is never written to, whatever it is called: links, hard links, the environment, profiles of dbt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.cli.group import COMMANDS, cli
from sqlaudit.cli.requests import SectionedOption
from sqlaudit.engines import connect
from tests.cli.runner import patients, run
from tests.gates.databases import PATIENTS, in_duckdb, write

TABLES = "tables: [{table: patients, quasi_identifiers: [age, sex], requirements: [k=5]}]\n"
SENTENCE = "is an input, by this or another name, and cannot be overwritten. Name another file."
READ = {
    "--inputs",
    "--zip-areas",
    "--hierarchies",
    "--tree",
    "--from",
    "--categories",
    "--queries",
    "--given",
    "--file",
    "--dbt-project",
    "--temp-directory",
    "--cube",
    "--certificate-key",  # made only where no file is, with --new-key
    "--key",
    "--results",
    "result",
    "certificate",
}


def _as_it_is(file: Path) -> Path:
    return file


def _link(file: Path, name: str = "link.duckdb") -> Path:
    (file.parent / name).symlink_to(file)
    return file.parent / name


def _hard_link(file: Path, name: str = "hard.duckdb") -> Path:
    (file.parent / name).hardlink_to(file)
    return file.parent / name


def _log(file: Path) -> Path:
    return Path(f"{file}.wal")


NAMES = [_as_it_is, _link, _hard_link, _log]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database that every kind of connection may name."""
    in_duckdb(tmp_path, {"patients": PATIENTS})
    file = tmp_path / "clinic.duckdb"
    monkeypatch.setenv("CLINIC", str(file))
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    outputs = "{dev: {type: duckdb, path: \"{{ env_var('CLINIC') }}\"}}"
    write(tmp_path, f"clinic: {{target: dev, outputs: {outputs}}}\n", "profiles.yml")
    return file


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("connection", ["{duckdb: clinic.duckdb}", "{env: CLINIC}", "{dbt_profile: clinic}"])
def test_a_policy_keeps_nothing_in_what_it_tests(clinic: Path, connection: str, name: Callable[[Path], Path]) -> None:
    policy = write(clinic.parent, f"connections: {{main: {connection}}}\n" + TABLES)
    before, target = clinic.read_bytes(), name(clinic)
    for command, option in (
        ("baseline", "--baseline"),
        ("test", "--history"),
        ("test", "--store-failures"),
        ("baseline", "--output"),
        ("test", "--output"),
    ):
        ran = run(command, "-f", policy, option, target, "--format", "text")  # without it, an ending is refused first
        if option == "--store-failures" and target.suffix == ".wal":
            continue  # refused for its ending, too
        # a database is read as a baseline of an older version, and never written
        said = SENTENCE in ran.err or (option == "--baseline" and "without a baseline" in ran.err)
        assert (ran.code, ran.out, said) == (2, "", True), ran
    with pytest.raises(UsageError, match=SENTENCE):
        sqlaudit.gate(policy, baseline=target, accept=True)
    assert clinic.read_bytes() == before
    assert not _log(clinic).exists()


def test_a_policy_keeps_nothing_in_a_file_that_it_tests(tmp_path: Path) -> None:
    people = patients(tmp_path)
    policy = write(tmp_path, "tables: [{file: patients.csv, quasi_identifiers: [age], requirements: [k=2]}]\n")
    (tmp_path / "hard.md").hardlink_to(people)
    for target in (policy, people, tmp_path / "hard.md"):
        before = target.read_bytes()
        ran = run("test", "-f", policy, "--format", "markdown", "--output", target)
        assert (ran.code, SENTENCE in ran.err) == (2, True), ran
        assert target.read_bytes() == before


def _csv_names(people: Path) -> dict[str, Path]:
    (people.parent / "link.csv").symlink_to(people)
    (people.parent / "hard.csv").hardlink_to(people)
    return {"itself": people, "link": people.parent / "link.csv", "hard": people.parent / "hard.csv"}


@pytest.mark.parametrize("name", ["itself", "link", "hard"])
@pytest.mark.parametrize(
    "command",
    [
        ["audit", "{}", "--qi", "age", "--output"],
        ["audit", "--query", "SELECT * FROM '{}'", "--qi", "age", "--output"],
        ["audit", "{}", "--qi", "age", "--require", "k=9", "--failing-classes-to"],
        ["audit", "{folder}/*.csv", "--qi", "age", "--require", "k=9", "--failing-classes-to"],
        ["profile", "{}", "--output"],
        ["records", "{}", "--qi", "age,sex", "--output"],
        ["columns", "{}", "--output"],
        ["disclosure", "{}", "--qi", "age", "--sensitive", "disease", "--output"],
        ["compare", "{}", "{}", "--qi", "age", "--output"],
        ["attack", "{}", "--qi", "age", "--identified", "{}", "--match", "age", "--output"],
        ["hierarchy", "{}", "age", "--widths", "5", "--to"],
        ["lattice", "{}", "--qi", "age,sex", "--require", "k=2", "--to"],
        ["recode", "{}", "--qi", "age,sex", "--require", "k=2", "--to"],
        ["suppress", "{}", "--qi", "age,sex", "--require", "k=2", "--to"],
        ["console", "{}", "-c", "\\d", "--output"],
        ["init", "{}", "--force", "--output"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_no_option_writes_over_what_is_read(tmp_path: Path, command: list[str], name: str) -> None:
    people = patients(tmp_path)
    names = _csv_names(people)
    before = people.read_bytes()
    words = [word.replace("{folder}", str(tmp_path)).replace("{}", str(people)) for word in command]
    ran = run(*words, names[name])
    assert (ran.code, ran.out, SENTENCE in ran.err) == (2, "", True), ran
    assert people.read_bytes() == before
    assert people.stat().st_ino == names["hard"].stat().st_ino


def test_what_yaml_files_name_is_read_too(tmp_path: Path) -> None:
    people = patients(tmp_path)
    population = tmp_path / "population.csv"
    population.write_text(people.read_text())
    inputs = write(tmp_path, "population: {file: population.csv}\n", "inputs.yml")
    asked = ("audit", people, "--qi", "age", "--require", "k_map=1", "--inputs", inputs, "--output")
    for target in (population, inputs):
        before = target.read_text()
        ran = run(*asked, target)
        assert (ran.code, SENTENCE in ran.err) == (2, True), ran
        assert target.read_text() == before


def test_the_database_and_its_log_are_not_written_to(clinic: Path) -> None:
    before = clinic.read_bytes()
    for target in (clinic, _log(clinic), _link(clinic), _hard_link(clinic)):
        ran = run("audit", "--db", clinic, "patients", "--qi", "age", "--format", "json", "--output", target)
        assert (ran.code, SENTENCE in ran.err) == (2, True), ran
        proposed = run("init", "--db-env", "CLINIC", "--force", "--output", target)
        assert (proposed.code, "must end in .yml or .yaml" in proposed.err) == (2, True), proposed
    for target in (_link(clinic, "link.yml"), _hard_link(clinic, "hard")):
        proposed = run("init", "--db-env", "CLINIC", "--force", "--output", target)
        assert (proposed.code, SENTENCE in proposed.err) == (2, True), proposed
    assert clinic.read_bytes() == before
    assert not _log(clinic).exists()
    with duckdb.connect(str(clinic), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM patients").fetchall() == [(7,)]


@pytest.mark.parametrize("written", ["\\o {}", "\\report {}"])
def test_a_console_keeps_what_it_reads(tmp_path: Path, written: str) -> None:
    people = patients(tmp_path)
    (tmp_path / "hard.txt").hardlink_to(people)
    ran = run("console", people, "-c", written.format(tmp_path / "hard.txt"))
    assert (ran.code, SENTENCE in ran.err) == (2, True), ran
    assert len(people.read_text().splitlines()) == 13


def test_a_result_is_not_laid_out_over_itself(tmp_path: Path) -> None:
    people = patients(tmp_path)
    result = tmp_path / "result.html"
    assert run("audit", people, "--qi", "age", "--format", "json", "--output", result).code == 0
    before = result.read_text()
    for more in ((), ("--output", result), ("--format", "text", "--output", result)):
        ran = run("report", result, *more)
        assert (ran.code, SENTENCE in ran.err) == (2, True), ran
    assert result.read_text() == before


def test_a_certificate_is_written_over_no_key_and_no_certificate_that_is_verified(tmp_path: Path) -> None:
    people, key, made = patients(tmp_path), tmp_path / "key.json", tmp_path / "a.json"
    asked = ("audit", people, "--qi", "age", "--certificate")
    assert run(*asked, made, "--certificate-key", key, "--new-key").code == 0
    kept = (key.read_bytes(), made.read_bytes())
    for ran in (run(*asked, key, "--certificate-key", key), run("verify", made, "--output", made)):
        assert (ran.code, SENTENCE in ran.err) == (2, True), ran
    assert (key.read_bytes(), made.read_bytes()) == kept


@pytest.mark.parametrize(
    "options",
    [
        ("--certificate", "a.json", "--certificate-key", "a.json", "--new-key"),
        ("--certificate", "./b/../a.json", "--certificate-key", "a.json", "--new-key"),
        ("--certificate", "link.json", "--certificate-key", "a.json", "--new-key"),
        ("--certificate", "a.pub.pem.json", "--certificate-key", "k.pem", "--new-key", "-o", "k.pub.pem"),
        ("--certificate", "c.json", "--certificate-key", "k.pem", "--new-key", "-o", "k.pem", "--format", "text"),
        ("--certificate", "a.json", "-o", "a.json"),
        ("--failing-classes-to", "a.csv", "-o", "a.csv", "--format", "text"),
    ],
)
def test_no_two_results_go_to_one_file(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    patients(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "link.json").symlink_to("a.json")
    ran = run("audit", "patients.csv", "--qi", "age", *options, *(["--format", "text"] if "-o" in options else []))
    assert ran.code == 2
    assert "is named twice for writing" in ran.err or SENTENCE in ran.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b", "link.json", "patients.csv"]


def test_what_is_thrown_away_may_be_so_twice(tmp_path: Path) -> None:
    file = patients(tmp_path)
    ran = run("audit", file, "--qi", "age", "--failing-classes-to", "/dev/null", "-o", "/dev/null")
    assert "is named twice" not in ran.err


def test_a_policy_keeps_two_things_in_two_files(clinic: Path) -> None:
    policy = write(clinic.parent, "version: 1\nconnections: {main: {duckdb: clinic.duckdb}}\n" + TABLES)
    kept = clinic.parent / "kept.duckdb"
    with pytest.raises(UsageError, match="named twice for writing"):
        sqlaudit.gate(policy, baseline=kept, store_failures=kept, accept=True)
    assert not kept.exists()


def test_calls_from_python_keep_what_they_read(tmp_path: Path) -> None:
    people = patients(tmp_path)
    (tmp_path / "hard.csv").hardlink_to(people)
    before = people.read_bytes()
    asked = {"qi": ["age", "sex"], "require": {"k": 2}, "to": tmp_path / "hard.csv"}
    for call in (sqlaudit.lattice, sqlaudit.recode, sqlaudit.suppress):
        with pytest.raises(UsageError, match="is an input"):
            call(str(people), **asked)
        with connect() as engine, pytest.raises(UsageError, match="is an input"):
            call(str(people), db=engine, **asked)
    with pytest.raises(UsageError, match="is an input"):
        sqlaudit.hierarchy(str(people), "age", {"widths": [5]}, to=tmp_path / "hard.csv")
    assert people.read_bytes() == before


def _writes(parameter: click.Parameter) -> bool:
    return isinstance(parameter, SectionedOption) and parameter.writes


def test_every_path_of_the_command_line_is_known_as_read_or_written() -> None:
    """A new option with a path says that it writes, or is named here."""
    unknown = []
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        for one in command.params:
            if isinstance(one.type, click.Path) and not (_writes(one) or {*one.opts} & READ):
                unknown.append((name, one.opts))
    assert unknown == []

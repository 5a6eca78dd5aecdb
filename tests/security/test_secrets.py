"""No output, error or file holds a secret of a connection, wherever it stands and however badly it is written."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.connection_texts import literals_hidden, looks_like_connection, without_connections
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.engines import connect
from sqlaudit.engines.postgres import connect as postgres_connect
from sqlaudit.engines.postgres.errors import _CONNECTING
from sqlaudit.gates.connections import database_of, holds_password, load_profile
from sqlaudit.gates.reading import load_policy
from tests.cli.runner import Ran, patients
from tests.cli.runner import run as run_command
from tests.gates.databases import PATIENTS, in_duckdb, write
from tests.strategies import run

PIECES = ("zq7731", "kx9942")
"""What a secret is made of: neither piece may be seen."""
FORMATS = ("text", "json", "junit", "sarif", "markdown", "html", "github")
TABLES = "tables: [{table: patients, quasi_identifiers: [age], requirements: [k=2]}]\n"
TYPED = [
    "postgresql://u:{}@127.0.0.1:1/db",
    "postgres://u:{}@127.0.0.1/db?sslmode=x",
    "postgresql:/u:{}@h/db",
    "postgres//u:{}@h/db",
    "postgresql//u:{}@h/db",
    "postgresql:u:{}@h/db",
    "//u:{}@h/db",
    "u:{}@h/db",
    "postgresql://u:{}@h:99999/db",
    "postgresql://u:{}@h:port/db",
    "postgresql://u:{}@h:1,i:2/db",
    "postgresql://u:{}@[::1]:1/db",
    "postgresql://h/db?password={}",
    "postgresql://h/db?user=u&password={}&x=y",
    "jdbc:postgresql://h/db?user=u&password={}",
    "host=h password={} dbname=d",
    "host=h password='{}'",
    "password={}",
    "dbname=d user=u password = {}",
    "mysql://u:{}@h/db",
    "http://u:{}@h/db",
    "duckdb://u:{}@h",
    "sc://h:1/;token={}",
    "sc:/h/;token={}",
    "sc://u:{}@h:1/",
    "spark:u:{}@h",
    "spark:k8s:u:{}@h",
    "clinic:{}@h",
    "postgresql+psycopg://u:{}@h/d",
]
"""Connections, right and wrong, as somebody types them; the braces hold the secret."""
PLACES = {
    "--db": ["audit", "patients", "--qi", "age", "--db", "{}"],
    "target": ["audit", "{}", "--qi", "age"],
    "table": ["audit", "--db", "{db}", "{}", "--qi", "age"],
    "profile": ["profile", "--db", "{}", "patients"],
    "init": ["init", "--db", "{}", "--output", "{folder}/init.yml"],
    "lattice": ["lattice", "--db", "{}", "patients", "--qi", "age", "--require", "k=2"],
    "console": ["console", "--db", "{}", "-c", "\\d"],
    "console statement": ["console", "--db", "{db}", "-c", "SELECT * FROM '{}'"],
    "console command": ["console", "--db", "{db}", "-c", "\\use {}"],
    "column": ["audit", "--db", "{db}", "patients", "--qi", "{}"],
    "command": ["{}"],
    "policy": ["test", "-f", "{}"],
    "baseline": ["test", "-f", "{folder}/sound.yml", "--baseline", "{}"],
    "output": ["audit", "--db", "{db}", "patients", "--qi", "age", "--output", "{folder}/none/{}"],
    "inputs": ["audit", "--db", "{db}", "patients", "--qi", "age", "--inputs", "{}"],
    "report": ["report", "{}"],
    "hierarchies": ["lattice", "--db", "{db}", "patients", "--qi", "age", "--require", "k=2", "--hierarchies", "{}"],
}
secrets = st.builds(
    "".join,
    st.tuples(st.just(PIECES[0]), st.text("@:/?#&=%+.,;~$!'\"\\ []{}()<>|^`*-_", max_size=3), st.just(PIECES[1])),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database, and a sound policy over it."""
    made = tmp_path_factory.mktemp("secrets")
    in_duckdb(made, {"patients": PATIENTS})
    write(made, "connections: {main: {duckdb: clinic.duckdb}}\n" + TABLES, "sound.yml")
    return made


@pytest.fixture(scope="module", autouse=True)
def nobody_answers() -> Iterator[list[str]]:
    """No test reaches for a network: the driver quotes all that it was given, with the reason of the moment."""
    reasons = [""]

    def refused(**parameters: Any) -> None:
        raise psycopg.OperationalError(f"connection to {parameters!r} failed: {reasons[0]}")

    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_connect.QuietConnection, "connect", refused)
        patch.setattr(socket, "create_connection", unreachable)
        for name in ("DBT_PROFILES_DIR", "DBT_TARGET", "PGHOST", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGSERVICE"):
            patch.delenv(name, raising=False)
        yield reasons


reasons = st.sampled_from([words[0] for words, _ in _CONNECTING] + ["something else"])


def seen(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


def unseen(ran: Ran, folder: Path) -> None:
    """Nothing of a secret on stdout and stderr, nor in any file that the command wrote."""
    assert not seen(ran.out + ran.err), ran
    for file in folder.rglob("*"):
        assert not seen(file.name), file
        if file.is_file() and file.suffix not in (".yml", ".duckdb"):
            assert not seen(file.read_text(errors="replace")), file


def chain(error: BaseException | None) -> Iterator[str]:
    """An error and all that came before it, suppressed or not, as texts."""
    while error is not None:
        yield repr(error) + str(error) + repr(error.args)
        error = error.__cause__ or error.__context__


@given(place=st.sampled_from(sorted(PLACES)), template=st.sampled_from(TYPED), secret=secrets, reason=reasons)
@run(80)
def test_what_is_typed_as_a_connection_is_never_quoted(
    place: str, template: str, secret: str, reason: str, folder: Path, nobody_answers: list[str]
) -> None:
    nobody_answers[0] = reason
    text = template.replace("{}", secret)
    words = [
        word.replace("{db}", str(folder / "clinic.duckdb")).replace("{folder}", str(folder)).replace("{}", text)
        for word in PLACES[place]
    ]
    ran = run_command(*words)
    assert ran.code != 0 or place in ("column", "console command"), ran
    assert "internal error" not in ran.err, ran
    unseen(ran, folder)


@given(template=st.sampled_from(TYPED), secret=secrets, at=st.integers(0, 13), reason=reasons)
@run(60)
def test_errors_of_python_hold_it_nowhere(
    template: str, secret: str, at: int, reason: str, nobody_answers: list[str]
) -> None:
    """Also with a sign of its beginning forgotten; and not in what came before the error, which debuggers show."""
    nobody_answers[0] = reason
    text = template.replace("{}", secret)
    for written in (text, text[:at] + text[at + 1 :] if at < template.index("{}") - 1 else text):
        with pytest.raises(SqlauditError) as caught:
            connect(written)
        assert not seen("".join(chain(caught.value))), list(chain(caught.value))
        assert not seen(repr(Whereabouts(written)) + str(Whereabouts(written)) + f"{Whereabouts(written)}")


FROM_ENVIRONMENT = {
    "env": "{env: GATE_SECRET}",
    "password": "{url: 'postgresql://u@h:5433/db', password_env: GATE_SECRET}",
    "service": "{service: clinic, password_env: GATE_SECRET}",
    **{
        f"dbt {field}": "{dbt_profile: clinic, target: " + field + "}"
        for field in ("host", "port", "user", "password", "dbname", "sslmode", "type", "path", "inner", "several")
    },
    "dbt target": "{dbt_profile: chosen}",
}


def _profiles() -> str:
    variable = "\"{{ env_var('GATE_SECRET') }}\""
    lines = ["clinic:", "  outputs:"]
    for field in ("host", "port", "user", "password", "dbname", "sslmode"):
        lines.append(
            f"    {field}: {{type: postgres, host: h, {field}: {variable}}}".replace(
                f"host: h, {field}: ", (f"{field}: " if field == "host" else f"host: h, {field}: ")
            )
        )
    lines += [
        f"    type: {{type: {variable}}}",
        f"    path: {{type: duckdb, path: {variable}}}",
        "    inner: {type: duckdb, path: \"{{ env_var(env_var('GATE_SECRET')) }}\"}",
        "    several: {type: duckdb, path: \"{{ 'a' ~ env_var('GATE_SECRET') | lower }}/x.duckdb\"}",
        "chosen:",
        f"  target: {variable}",
        "  outputs: {dev: {type: duckdb, path: clinic.duckdb}}",
    ]
    return "\n".join(lines) + "\n"


@given(
    kind=st.sampled_from(sorted(FROM_ENVIRONMENT)),
    template=st.sampled_from([*TYPED, "{}", "/tmp/{}.duckdb", "~{}"]),
    secret=secrets,
    layout=st.sampled_from(FORMATS),
    reason=reasons,
)
@run(40)
def test_nothing_from_the_environment_is_told(
    kind: str, template: str, secret: str, layout: str, reason: str, folder: Path, nobody_answers: list[str]
) -> None:
    nobody_answers[0] = reason
    write(folder, _profiles(), "profiles.yml")
    policy = write(folder, f"connections: {{main: {FROM_ENVIRONMENT[kind]}}}\n" + TABLES, "env.yml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATE_SECRET", template.replace("{}", secret))
        patch.setenv("SQLAUDIT_DEBUG", "1")
        for command in (("test", "--report", folder / "run.xml", "--report", folder / "run.html"), ("baseline",)):
            more = ("--format", layout) if command[0] == "test" else ("--baseline", folder / "kept.yml")
            ran = run_command(*command, "-f", policy, *more)
            assert ran.code in (2, 3), ran
            assert "internal error" not in ran.err, ran
            unseen(ran, folder)
            assert not seen((folder / "kept.yml").read_bytes().decode("latin-1")) if command[0] == "baseline" else 1
        result = sqlaudit.gate(policy)
        assert not seen(repr(result) + repr(load_policy(policy)))


def test_a_database_of_the_environment_is_tested_and_its_name_told_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_duckdb(tmp_path, {"patients": PATIENTS})
    hidden = tmp_path / f"{PIECES[0]}.duckdb"
    (tmp_path / "clinic.duckdb").rename(hidden)
    monkeypatch.setenv("GATE_SECRET", str(hidden))
    policy = write(tmp_path, "connections: {main: {env: GATE_SECRET}}\n" + TABLES)
    for layout in FORMATS:
        ran = run_command("test", "-f", policy, "--format", layout, "--show-sql")
        assert ran.code == 0, ran
        assert not seen(ran.out + ran.err)
    missing = write(tmp_path, policy.read_text().replace("table: patients", "table: patient"), "missing.yml")
    ran = run_command("test", "-f", missing)
    assert "There is no table or view 'patient' in" in ran.said
    assert "connection 'main'" in ran.said
    assert not seen(ran.out + ran.err)
    monkeypatch.chdir(tmp_path)
    ran = run_command("init", "--db-env", "GATE_SECRET", "--output", "init.yml")
    assert (ran.code, seen(ran.out + ran.err + (tmp_path / "init.yml").read_text())) == (0, [])


def test_who_says_where_the_database_is_stands_in_the_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_SECRET", "nowhere.duckdb")
    policy = write(tmp_path, "connections:\n  main: {env: GATE_SECRET}\n" + TABLES)
    told = sqlaudit.gate(policy).tests[0].message
    assert told == f"There is no database file of connection 'main' ({policy}, line 2)."


def test_what_libpq_takes_from_the_environment_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, nobody_answers: list[str]
) -> None:
    monkeypatch.setenv("PGHOST", PIECES[0])
    monkeypatch.setenv("PGUSER", PIECES[1])
    for reason, sentence in (
        ("could not translate host", "The host of PGHOST is not known."),
        ("refused", "No PostgreSQL server answers at the host of PGHOST."),
        ("authentication failed", "PostgreSQL did not accept the user of PGUSER or the password."),
        ('FATAL:  database "', "There is no database of that name at the host of PGHOST."),
    ):
        nobody_answers[0] = reason
        with pytest.raises(SqlauditError) as caught:
            connect("postgresql://")
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("db", "sentence"),
    [
        ("postgresql://auditor:x@db:5433/clinic", "PostgreSQL did not accept the user 'auditor' or the password."),
        ("postgresql://auditor:zq7731/kx9942@db/clinic", "PostgreSQL did not accept the user or the password."),
        ("postgresql://auditor:zq@kx9942@db/clinic", "db has an @ in its user name or password. Write it as %40."),
        ("host=db user=auditor password='x'", "PostgreSQL did not accept the user 'auditor' or the password."),
        ("host=db password=a user=kx9942", "PostgreSQL did not accept the user or the password."),
    ],
)
def test_parts_are_named_where_they_are_sure(db: str, sentence: str, nobody_answers: list[str]) -> None:
    nobody_answers[0] = "authentication failed"
    with pytest.raises(SqlauditError) as caught:
        connect(db)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "written",
    [
        "postgresql://u:pw@h/db",
        "postgresql://u:p/w@h/db",
        "postgresql:/u:pw@h/db",
        "postgres//u:pw@h/db",
        "u:pw@h",
        "postgresql://h/db?password=x",
        "host=h PASSWORD=x",
        "sc://h/;token=x",
        "sc://h/;user_id=a;TOKEN = x",
        "postgresql://u::@h/db",
        "postgresql://u:p:@h/db",
        "postgresql://u:p@w:@h/db",
        "host=h password= dbname=x",  # libpq passes over the blank
        "host=h password=''x",
        "host=h password='' password=x",
    ],
)
def test_a_policy_refuses_what_might_be_a_password(written: str) -> None:
    assert holds_password(written)
    assert not holds_password("postgresql://auditor@db.example.org:5433/clinic?sslmode=require")


@pytest.mark.parametrize(
    "written", ["postgresql://u:@h/db", "host=h password=", "password='' host=h", "postgresql://h/db?password="]
)
def test_an_empty_password_is_none(written: str) -> None:
    assert not holds_password(written)


@pytest.mark.parametrize(
    "sentence",
    [
        "sqlaudit.yml, line 3: there is no column 'e@mail'. Did you mean 'mail'?",
        "write spark:local, spark://host:port, spark:k8s://…, or sc://host:port for Spark Connect.",
        "--db … is not a URL of Spark Connect. Write sc://host:15002.",
        "There is no file 'C:/data/clinic.csv'.",
        "'a:b.csv' is empty (0 bytes).",
        "The column 'host' is not there.",
        "The requirement 'k=5' and the condition 'user = 5' do not fit.",
        "'/tmp/o@k/clinic.duckdb' is a folder.",
    ],
)
def test_other_sentences_stay_as_they_are(sentence: str) -> None:
    assert without_connections(sentence) == sentence
    assert str(UsageError(sentence)) == sentence


def test_statements_are_shown_without_connections(tmp_path: Path) -> None:
    sql = (
        "SELECT * FROM dblink('host=h password=zq7731', 'SELECT 1') "
        "WHERE url = 'postgresql://u:kx9942@h/d' AND k = 'a''b'"
    )
    assert literals_hidden(sql) == "SELECT * FROM dblink('…', 'SELECT 1') WHERE url = '…' AND k = 'a''b'"
    people = patients(tmp_path)
    asked = ("audit", people, "--qi", "age", "--where", "disease <> 'postgresql://u:zq7731@h/d'", "--format", "json")
    ran = run_command(*asked, "--show-sql")
    assert ran.code == 0
    assert not seen(ran.err)
    assert not looks_like_connection("patients.csv")


def test_a_profile_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_SECRET", PIECES[0])
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    for expression in (
        "{{ env_var(env_var('GATE_SECRET')) }}",
        "{% for i in range(10**9) %}x{% endfor %}",
        "{{ 'x' * 10**9 }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ env_var('GATE_SECRET', default=1) }}",
        "{{ env_var }}",
        "{{ x }}",
    ):
        write(tmp_path, f'clinic: {{outputs: {{default: {{type: duckdb, path: "{expression}"}}}}}}\n', "profiles.yml")
        if expression == "{{ env_var }}":
            continue
        with pytest.raises(UsageError, match=r"path has an expression other than env_var\(\)"):
            load_profile("clinic", tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path / PIECES[0]))
    with pytest.raises(UsageError, match=r"There is no profiles.yml in \$DBT_PROFILES_DIR;") as caught:
        load_profile("clinic", tmp_path)
    assert not seen(str(caught.value))


def test_a_connection_shows_nothing_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_SECRET", "postgresql://u:zq7731@h/kx9942")
    policy = load_policy(write(tmp_path, "connections: {main: {env: GATE_SECRET}}\n" + TABLES))
    found = database_of(policy.connections["main"])
    assert repr(found) == str(found) == f"the database of connection 'main' ({tmp_path}/sqlaudit.yml, line 1)"
    assert f"{found.label} {found.named} {found.subject}".count(PIECES[0]) == 0

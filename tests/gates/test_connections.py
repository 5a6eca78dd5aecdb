"""Connections come from files, environment variables, services and dbt's profiles; passwords never from the policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

import sqlaudit
from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import UsageError
from sqlaudit.gates.connections import database_of, load_profile
from sqlaudit.gates.result import Connection, Outcome, Place
from tests.cli.runner import run
from tests.gates.databases import PATIENTS, in_duckdb, write
from tests.postgres_load import Loader
from tests.postgres_server import PASSWORD, PostgresServer

PLACE = Place("sqlaudit.yml", 3)
TABLES = "tables: [{table: %s, quasi_identifiers: [age], requirements: [k=2]}]\n"
PROFILES = """
clinic:
  target: dev
  outputs:
    dev:
      type: postgres
      host: "{{ env_var('GATE_HOST') }}"
      port: "{{ env_var('GATE_PORT', '5432') | as_number }}"
      user: auditor
      pass: "{{ env_var('GATE_PASSWORD') }}"
      dbname: audited
      schema: gate
    file:
      type: duckdb
      path: "{{ env_var('GATE_FILE', 'clinic.duckdb') }}"
    memory: {type: duckdb}
    cloud: {type: snowflake, account: x}
    odd: {type: duckdb, path: "{{ modules.os.getcwd() }}"}
plain:
  outputs:
    default: {type: duckdb, path: clinic.duckdb}
"""


def connection(kind: str, value: str, folder: Path, **more: str) -> Connection:
    return Connection("main", kind, value, PLACE, folder, **more)


def test_a_url_gets_its_password_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_OF_DB", "p'w \\ 1")
    url = connection(
        "url", "postgresql://au%40d@db:5433/cli%20nic?sslmode=require", tmp_path, password_env="SECRET_OF_DB"
    )
    assert conninfo_to_dict(database_of(url).text) == {
        "host": "db",
        "port": "5433",
        "user": "au@d",
        "dbname": "cli nic",
        "sslmode": "require",
        "password": "p'w \\ 1",
    }
    service = connection("service", "clinic", tmp_path, password_env="SECRET_OF_DB")
    assert conninfo_to_dict(database_of(service).text) == {"service": "clinic", "password": "p'w \\ 1"}
    assert database_of(connection("service", "clinic", tmp_path)).text == "service=clinic"


def test_an_environment_variable_may_name_a_file_beside_the_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_duckdb(tmp_path, {"patients": PATIENTS})
    monkeypatch.setenv("GATE_DB", "clinic.duckdb")
    policy = write(tmp_path, "connections: {main: {env: GATE_DB}}\n" + TABLES % "patients")
    assert sqlaudit.gate(policy).tests[0].outcome is Outcome.PASS


def test_a_profile_of_dbt_connects_to_postgres(
    load: Loader, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    load("patients", [list(row.values()) for row in PATIENTS], list(PATIENTS[0]), schema="gate")
    write(tmp_path, PROFILES.replace("audited", str(conninfo_to_dict(postgres_server.url())["dbname"])), "profiles.yml")
    monkeypatch.setenv("GATE_HOST", str(postgres_server.folder))
    monkeypatch.setenv("GATE_PORT", str(postgres_server.port))
    monkeypatch.setenv("GATE_PASSWORD", PASSWORD)
    policy = write(tmp_path, "connections: {main: {dbt_profile: clinic}}\n" + TABLES % "gate.patients")
    result = sqlaudit.gate(policy)
    assert [(test.outcome, test.message) for test in result.tests] == [(Outcome.PASS, "")]
    assert result.versions["main"].startswith("PostgreSQL ")


def test_targets_of_a_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path, PROFILES, "profiles.yml")
    for name in ("DBT_PROFILES_DIR", "DBT_TARGET", "GATE_HOST", "GATE_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert load_profile("clinic", tmp_path, target="file") == (str(tmp_path / "clinic.duckdb"), True)
    assert load_profile("plain", tmp_path) == (str(tmp_path / "clinic.duckdb"), False)
    monkeypatch.setenv("DBT_TARGET", "file")
    monkeypatch.setenv("GATE_FILE", "/elsewhere/x.duckdb")
    assert load_profile("clinic", tmp_path) == ("/elsewhere/x.duckdb", True)
    monkeypatch.delenv("DBT_TARGET")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path))
    (tmp_path / "project").mkdir()
    assert load_profile("plain", tmp_path / "project") == (str(tmp_path / "project" / "clinic.duckdb"), False)


@pytest.mark.parametrize(
    ("profile", "target", "said"),
    [
        ("clinc", "", "there is no profile 'clinc'. Did you mean 'clinic'?"),
        ("clinic", "fil", "profile 'clinic' has no target 'fil'. Did you mean 'file'?"),
        ("clinic", "dev", "profiles.yml, line 7: host: the environment variable GATE_HOST is not set."),
        ("clinic", "memory", "this target keeps its tables in ':memory:', which no other process can read."),
        ("clinic", "cloud", "this target is of type 'snowflake'; sqlaudit connects to duckdb and postgres."),
        ("clinic", "odd", "path has an expression other than env_var(), which is not supported."),
    ],
)
def test_what_a_profile_cannot_give(
    profile: str, target: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path, PROFILES, "profiles.yml")
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.delenv("GATE_HOST", raising=False)
    with pytest.raises(UsageError) as error:
        load_profile(profile, tmp_path, target=target)
    assert said in str(error.value)


def test_no_profiles_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(UsageError, match=r"There is no profiles.yml in .*; DBT_PROFILES_DIR names its folder"):
        load_profile("clinic", tmp_path)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("postgresql://u@a,b:5433/db", {"host": "a,b", "port": ",5433", "dbname": "db", "user": "u"}),
        ("postgresql://u@a:99999/db", {"host": "a", "port": "99999", "dbname": "db", "user": "u"}),
        ("postgresql:///db?host=/tmp&port=1", {"host": "/tmp", "port": "1", "dbname": "db"}),
    ],
)
def test_libpq_reads_the_hosts_of_a_url_with_a_password(
    url: str, parts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from psycopg.conninfo import conninfo_to_dict

    monkeypatch.setenv("SECRET_OF_DB", "p w/1&x=%")
    made = database_of(connection("url", url, tmp_path, password_env="SECRET_OF_DB"))
    assert isinstance(made, Whereabouts)
    assert conninfo_to_dict(made.text) == {**parts, "password": "p w/1&x=%"}


@pytest.mark.parametrize(
    "written",
    [
        "{% for a in 'xxxxxxxxx' %}{% for b in 'xxxxxxxxx' %}x{% endfor %}{% endfor %}",
        "{{ 'x' * 999999999999 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ '%0999999999d' % 1 }}",
        "{{ 'x' | center(999999999) }}",
        "{% macro a() %}x{% endmacro %}{{ a() }}",
        "{{ range(9) | join }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ 'x'.join(['y', 'z']) }}",
        "{% set a = 'x' %}{{ a }}",
        "{{ env_var(3) }}",
    ],
)
def test_an_expression_of_dbt_that_may_not_end_is_refused(written: str) -> None:
    from sqlaudit.base.nodes import Node
    from sqlaudit.gates.connections import _rendered

    with pytest.raises(UsageError, match="has an expression other than env_var"):
        _rendered(Node(written, "profiles.yml, line 1"), "path")


def test_choices_and_filters_of_dbt_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlaudit.base.nodes import Node
    from sqlaudit.gates.connections import _rendered

    monkeypatch.setenv("CI_TARGET", "Dev")
    monkeypatch.delenv("NOT_THERE", raising=False)
    for written, value in (
        ("{{ env_var('CI_TARGET') | lower ~ '_db' }}", "dev_db"),
        ("{{ 'a' if env_var('NOT_THERE', '') == '' else 'b' }}", "a"),
        ("{% if env_var('CI_TARGET') %}x{% else %}y{% endif %}", "x"),
        ("{{ env_var('NOT_THERE', '5432') | int }}", "5432"),
    ):
        assert _rendered(Node(written, "profiles.yml, line 1"), "path").text == value


def test_init_takes_an_empty_password(
    load: Loader, postgres_admin_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server trusts its own user, who has no password."""
    load("patients", [(20, "f"), (30, "m")] * 6, ("age", "sex"))
    monkeypatch.chdir(tmp_path)
    ran = run("init", "--db", postgres_admin_url.replace("//postgres@", "//postgres:@"), "patients")
    assert (ran.code, "wrote 'sqlaudit.yml' with 1 table" in ran.err) == (0, True), ran.err
    assert run("test").code == 0

"""What is in `docker/`: its SQL runs on the test server as the image would run it, and its command audits.

The images themselves are not started here: that needs Docker.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import yaml

from sqlaudit.base.errors import PermissionDenied
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.cli.runner import run
from tests.places import REPOSITORY
from tests.postgres_server import PostgresServer, new_server

DOCKER = REPOSITORY / "docker"
PASSWORD = "quote ' and \\ too"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    return services


@pytest.fixture(scope="module")
def sample(compose: dict[str, Any]) -> Iterator[PostgresServer]:
    """A server of its own, set up by the files of `initdb` in order, as the image's entry point does it."""
    server = new_server()
    try:
        server.start()
        database = compose["postgres"]["environment"]["POSTGRES_DB"]
        with psycopg.connect(server.admin_url("postgres"), autocommit=True) as admin:
            admin.execute(b"CREATE DATABASE " + database.encode())
        environment = {
            "PATH": f"{server.binaries}:{os.environ['PATH']}",
            "PGHOST": str(server.folder),
            "PGPORT": str(server.port),
            "POSTGRES_USER": "postgres",
            "POSTGRES_DB": database,
            "AUDITOR_PASSWORD": PASSWORD,
        }
        for file in sorted((DOCKER / "initdb").iterdir()):
            psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-f", str(file)]
            command = ["sh", str(file)] if file.suffix == ".sh" else psql
            done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
        yield server
    finally:
        server.delete()


def environment_of(server: PostgresServer, compose: dict[str, Any]) -> dict[str, str | None]:
    """What the container of the command line would have, with this server's address and password."""
    asked: dict[str, str | None] = dict(compose["sqlaudit"]["environment"])
    return {**asked, "PGHOST": str(server.folder), "PGPORT": str(server.port), "PGPASSWORD": PASSWORD}


def auditor_url(server: PostgresServer) -> str:
    return server.url("auditor", PASSWORD, "clinic")


def patients() -> list[tuple[int, str, str]]:
    """Age, sex and region of the sample, made by hand: what `01_sample.sql` says, in Python."""

    def die(name: str, number: int) -> int:
        return int(hashlib.md5(f"{name}{number}".encode()).hexdigest()[:7], 16)

    regions = ["north", "east", "south", "west", "island"]
    return [
        (
            18 + die("age", i) % 40 + die("age", i) % 33,
            "female" if die("sex", i) % 100 < 54 else "male",
            regions[die("region", i) % 9 // 2],
        )
        for i in range(1, 5001)
    ]


def test_the_command_of_the_compose_file_audits_the_sample(sample: PostgresServer, compose: dict[str, Any]) -> None:
    command = compose["sqlaudit"]["command"]
    ran = run(*command, "--format", "json", env=environment_of(sample, compose))
    result = json.loads(ran.out)
    assert (ran.code, result["status"], result["target"]["rows"]) == (1, "fail", 5000)
    (check,) = [check for check in result["checks"] if check["model"] == "k_anonymity"]
    small = [size for size in Counter(patients()).values() if size < 5]
    figures = (check["level"], check["required"], check["failing_classes"], check["failing_rows"])
    assert figures == (min(small), 5, len(small), sum(small)) == (1, 5, 212, 528)


def test_the_release_of_the_sample_passes(sample: PostgresServer, compose: dict[str, Any]) -> None:
    command = compose["sqlaudit"]["command"]
    release = [*command[:3], "clinic.release", "--qi", "decade,sex,region", *command[6:], "--format", "json"]
    ran = run(*release, env=environment_of(sample, compose))
    classes = Counter((min(max(age, 20), 69) // 10, sex, region) for age, sex, region in patients())
    assert (ran.code, json.loads(ran.out)["checks"][0]["level"]) == (0, min(classes.values())) == (0, 13)


def test_the_auditor_reads_what_it_was_granted_and_nothing_else(sample: PostgresServer) -> None:
    with PostgresEngine(auditor_url(sample)) as engine:
        relation = engine.open(Target("clinic.patients"))
        assert [column.name for column in relation.columns] == ["age", "sex", "region", "admitted", "diagnosis"]
        assert relation.unreadable == ("patient_id", "name")
        with pytest.raises(PermissionDenied):
            engine.open(Target(query="SELECT name FROM clinic.patients"))
        rights = """SELECT has_database_privilege(current_user, current_database(), 'TEMP'),
            has_database_privilege(current_user, current_database(), 'CREATE'),
            has_schema_privilege(current_user, 'public', 'CREATE'),
            has_schema_privilege(current_user, 'clinic', 'CREATE'),
            has_table_privilege(current_user, 'clinic.patients', 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER'),
            (SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls FROM pg_roles
             WHERE rolname = current_user)"""
        assert engine.run(Statement("rights", rights)) == [(False,) * 6]
    with psycopg.connect(auditor_url(sample)) as other, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        other.execute("CREATE TABLE clinic.mine (a int)")


def test_the_sample_is_the_same_every_time(sample: PostgresServer) -> None:
    facts = """SELECT COUNT(*), MIN(age), MAX(age), COUNT(DISTINCT diagnosis),
        COUNT(*) FILTER (WHERE diagnosis IS NULL),
        COUNT(*) FILTER (WHERE sex = 'female'), COUNT(*) FILTER (WHERE region = 'island'), SUM(age), MIN(admitted)::text
        FROM clinic.patients"""
    with PostgresEngine(sample.admin_url("clinic")) as engine:
        assert engine.run(Statement("facts", facts)) == [(5000, 18, 88, 7, 104, 2704, 558, 269219, "2024-01-01")]


def test_the_compose_file_is_careful(compose: dict[str, Any]) -> None:
    postgres, command = compose["postgres"], compose["sqlaudit"]
    assert postgres["volumes"] == ["./initdb:/docker-entrypoint-initdb.d:ro"]
    assert all(port.startswith("127.0.0.1:") for port in postgres["ports"])
    assert "pg_isready" in postgres["healthcheck"]["test"][1]
    assert command["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for service in (postgres, command):
        secrets = [value for key, value in service["environment"].items() if "PASSWORD" in key]
        assert secrets
        assert all(value.startswith("${") and ":?" in value for value in secrets)
    assert (DOCKER / command["build"]["context"] / command["build"]["dockerfile"]).is_file()


def test_the_image_has_the_wheel_alone_and_does_not_run_as_root() -> None:
    build, image = (DOCKER / "Dockerfile").read_text().split("\n\nFROM ")[0:2]
    lines = build.splitlines()
    copied = [part for line in lines if line.startswith("COPY ") for part in line.split()[1:-1]]
    pages = [f"docs/{name}.md" for name in ("equality", "gate", "glossary", "verdicts")]  # of `sqlaudit help`
    assert copied == ["pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "sqlaudit", "sql_templates", *pages]
    assert all((DOCKER.parent / part).exists() for part in copied)
    assert "COPY" not in image
    assert "--no-index" in image
    assert "USER sqlaudit" in image.splitlines()
    assert 'ENTRYPOINT ["sqlaudit"]' in image.splitlines()

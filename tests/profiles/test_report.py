"""`sqlaudit profile` and its report: roles first, no value unless asked for, JSON as documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.base.spec import Roles
from tests.cli.runner import run, write_csv
from tests.reports.schemas import validator


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Twelve rows with a column of every role."""
    sexes, found = ["m", *"FMFMFMFMFMF"], ["?", "flu"] * 6
    rows = [
        f"Ann Miller{letter},{30 + i % 3},{sexes[i]},{i % 3 * 10},{found[i]},x"
        for i, letter in enumerate("abcdefghijkl")
    ]
    return write_csv(tmp_path / "the people.csv", "who,age,sex,age in months,diagnosis,site", *rows)


def test_the_report_says_roles_reasons_and_how_to_go_on(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    ran = run("profile", table.name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "the people.csv: 12 rows, 6 columns"
    for said in (
        "who looks like a direct identifier.",
        "Others may know age",
        "Others must not learn diagnosis.",
        "who 12 100% 100% of its texts are several capitalized words, like names of people;",
        "sex: 1 value differs from another one only in case or spaces, which splits groups",
        "diagnosis: 6 rows have a text that usually means missing. If it does, read diagnosis with --null-values.",
        "Equivalent columns (each follows from the other): age and age in months.",
        "Limits of this profile",
    ):
        assert said in ran.said
    assert "every row has the same value" in ran.said
    assert "Miller" not in ran.out


def test_the_proposed_command_can_be_pasted(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    said = run("profile", table.name).out.replace("\\\n", "")
    command = " ".join(said.partition("then audit:\n")[2].partition("\nHow this was")[0].split())
    assert command.startswith("sqlaudit audit 'the people.csv' --qi ")
    assert '"age in months"' in command
    import shlex

    assert command.endswith("--identifier who")
    audited = run(*shlex.split(command)[1:])  # an audit fails while the names of people are in the table
    assert (audited.code, "No direct identifier who present absent" in audited.said) == (1, True)


def test_json_follows_its_schema_and_hides_values(table: Path) -> None:
    hidden = run("profile", table, "--format", "json").out
    assert "Miller" not in hidden
    validator("profile").validate(json.loads(hidden))
    shown = run("profile", table, "--format", "json", "--show-values").out
    validator("profile").validate(json.loads(shown))
    by_name = {column["name"]: column for column in json.loads(shown)["columns"]}
    assert by_name["who"]["values"]["smallest"] == "Ann Millera"
    assert by_name["age"]["values"]["most_frequent"][0] == ["30", 4]
    assert "from Ann Millera to Ann Millerl" in run("profile", table, "--show-values").said


def test_markdown_has_a_table_for_every_role(table: Path) -> None:
    out = run("profile", table, "--format", "markdown").out
    assert "## Direct identifiers (always leave them out)" in out
    assert "| Column | Values | Rare | Reasons |" in out
    assert "| sex | 3 | 8.3% | its name suggests sex or gender |" in out


def test_a_dry_run_measures_nothing(table: Path) -> None:
    ran = run("profile", table, "--dry-run")
    assert ran.out.startswith("-- Reads: ")
    assert [line for line in ran.out.splitlines() if line.startswith("/*")] == [
        "/* sqlaudit: profile_scan */",
        "/* sqlaudit: profile_values */",
    ]
    assert "Miller" not in ran.out


def test_an_empty_table_is_judged_by_names_only(tmp_path: Path) -> None:
    ran = run("profile", write_csv(tmp_path / "empty.csv", "age,sex"), "--header")
    assert ran.code == 0
    assert "The table has no rows. Roles are proposed by names only." in ran.said
    assert "Others may know age and sex." in ran.said


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    ran = run("profile", tmp_path / "missing.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "missing.csv" in ran.err


def test_python_gets_roles_for_an_audit(table: Path) -> None:
    result = sqlaudit.profile(table)
    assert result.roles == Roles(("age", "age in months", "sex"), ("diagnosis",), ("who",))
    assert set(result.candidates) == {"age", "age in months", "sex", "diagnosis"}
    assert [(twins.first, twins.second, twins.equal) for twins in result.equivalent_columns] == [
        ("age", "age in months", False)
    ]
    with pytest.raises(KeyError):
        result.column("nobody")

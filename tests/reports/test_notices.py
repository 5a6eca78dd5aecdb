"""What a verdict does not cover stands directly under it, in every format; a declared identifier fails."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import MEANING, Status, Warned
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.request import ProfileRequest
from sqlaudit.profiles.run import profile_target
from sqlaudit.reports.document import markdown
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from sqlaudit.reports.stored import to_json as stored_document
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import Ran, run, write_csv
from tests.postgres_load import Loader

KINDS = {"age": "int", "sex": "text", "mail": "text", "birth": "date", "bmi": "decimal", "note": "text", "ill": "text"}
ROWS = [
    (30 + 10 * (i // 6), "f", f"p{i}@example.org", f"19{60 + i}-01-02", f"{20 + i / 8}", "same", "flu" if i % 2 else "")
    for i in range(12)
]
SUSPECTED = "mail looks like a direct identifier. Anyone named in a row can be identified"
KNOWN = "Without a role: birth and bmi look like quasi-identifiers. Name them with qi= if others may know them."
UNNAMED = (
    "Not checked: 4 columns without a role (mail, birth, bmi and note). The result assumes that others do not know "
    "them and may learn them. If not, name them with qi= or sensitive=."
)


def query(rows: Sequence[Sequence[Any]] = ROWS, kinds: dict[str, str] = KINDS) -> str:
    return values_query([dict(zip(kinds, row, strict=True)) for row in rows], kinds)


def audited(engine: Engine, rows: Sequence[Sequence[Any]] = ROWS, **more: Any) -> AuditResult:
    given: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "ill", "require": {"k": 2}}
    return sqlaudit.audit(query=query(rows), db=engine, **given | more)


def codes(notices: Sequence[Warned]) -> dict[str, tuple[str, ...]]:
    return {notice.code: notice.columns for notice in notices}


def test_columns_without_a_role_are_said_on_every_engine(engine: Engine) -> None:
    result = audited(engine)
    assert result.passed
    assert codes(result.notices) == {
        "possible_direct_identifier": ("mail",),
        "possible_quasi_identifier": ("birth", "bmi"),
        "columns_without_role": ("mail", "birth", "bmi", "note"),
    }
    for notice, said in zip(result.notices, (SUSPECTED, KNOWN, UNNAMED), strict=True):
        assert notice.message.startswith(said)
    assert [step.name for step in result.statements].count("warnings") == 1


def test_a_column_that_picks_out_many_rows_is_said_with_its_count(engine: Engine) -> None:
    kinds = {"age": "int", "score": "decimal"}
    rows = [(30, f"{min(i, 6)}.5") for i in range(12)]
    found = sqlaudit.audit(query=query(rows, kinds), db=engine, qi=["age"], require={"k": 2}).notices
    assert found[0].message == (
        "Without a role: score (6 of 12 rows are unique) singles out many rows. Name it with qi= if others may know it."
    )


def test_a_column_that_a_profile_leaves_to_a_person_is_not_called_a_quasi_identifier(engine: Engine) -> None:
    """Every value is different, and the name says nothing: the proposal of roles has it under "To decide"."""
    kinds = {"age": "int", "flow": "decimal", "rate": "decimal"}
    rows = [(30, f"{max(i, 1)}.5", f"{i}.25" if i < 10 else None) for i in range(150)]
    assert sqlaudit.profile(query=query(rows, kinds), db=engine).undecided == ("flow", "rate")
    found = sqlaudit.audit(query=query(rows, kinds), db=engine, qi=["age"], require={"k": 2}).notices
    assert found[0].message == (
        "Without a role: flow (148 of 150 rows are unique) and rate (10 of 150 rows are unique) single out rows. Name "
        "them with qi= if others may know them."
    )


def test_a_table_whose_columns_all_have_a_role_has_no_notice(engine: Engine) -> None:
    kinds = {"age": "int", "ill": "text"}
    rows = [(30, "flu"), (30, "cold")] * 6
    found = sqlaudit.audit(query=query(rows, kinds), db=engine, qi=["age"], sensitive="ill", require={"k": 2})
    assert (found.notices, found.status) == ((), Status.PASS)


def test_quasi_identifiers_without_a_value_are_said(engine: Engine) -> None:
    kinds = {"age": "int", "zip": "text"}
    rows = [(30, None)] * 12
    found = sqlaudit.audit(query=query(rows, kinds), db=engine, qi=["age", "zip"], require={"k": 2})
    assert codes(found.notices) == {"empty_quasi_identifier": ("zip",)}
    assert found.notices[0].message.startswith("zip is all NULL and separates no groups.")


def test_an_expression_stands_for_the_column_it_reads(engine: Engine) -> None:
    kinds = {"age": "int", "sex": "text"}
    rows = [(30 + i % 3, "f") for i in range(12)]
    found = sqlaudit.audit(query=query(rows, kinds), db=engine, qi=["floor(age / 100.0)", "sex"], require={"k": 2})
    assert codes(found.notices) == {"read_by_expressions": ("age",)}
    whole = sqlaudit.audit(
        query=query(rows, kinds), db=engine, qi=["floor(age / 100.0)", "age", "sex"], require={"k": 2}
    )
    assert whole.notices == ()


def test_a_declared_identifier_that_is_there_fails(engine: Engine) -> None:
    result = audited(engine, identifier=["mail"])
    assert (result.passed, result.status) == (False, Status.FAIL)
    failed = [check for check in result.required if check.status is Status.FAIL]
    assert [(check.model, check.parameters, check.level, check.failing_rows) for check in failed] == [
        ("direct_identifier", {"column": "mail"}, 1, 12)
    ]
    data = result.to_dict()
    assert data["checks"][-1] == {
        "model": "direct_identifier",
        "sensitive": None,
        "parameters": {"column": "mail"},
        "level": 1,
        "levels": {"columns": 1},
        "operator": "<=",
        "required": 0,
        "status": "fail",
        "failing_classes": None,
        "failing_rows": 12,
        "failing_share": 1.0,
        "severity": "error",
        "details": {"accepted": False},
    }
    assert "mail" not in codes(result.notices).get("possible_direct_identifier", ())
    assert not audited(engine, identifier=["mail"], require=None).passed


def test_an_identifier_can_be_accepted_by_its_name(engine: Engine) -> None:
    result = audited(engine, accept_identifier="mail")
    assert (result.passed, result.roles["identifiers"]) == (True, ["mail"])
    assert "passes No direct identifier mail present accepted by name" in text(result)
    both = audited(engine, identifier=["mail", "note"], accept_identifier=["mail"])
    assert [check.text for check in both.checks if check.status is Status.FAIL] == ["no direct identifier note"]


def test_every_column_can_be_asked_to_be_named(engine: Engine) -> None:
    result = audited(engine, all_columns_named=True, identifier=(), insensitive=["note"])
    (failed,) = (check for check in result.checks if check.status is Status.FAIL)
    assert (failed.model, failed.level, failed.details) == (
        "all_columns_named",
        3,
        {"columns": ["mail", "birth", "bmi"]},
    )
    assert "FAILS Columns without a role 3 none mail, birth and bmi" in text(result)
    named = audited(engine, all_columns_named=True, insensitive=["note", "mail", "birth", "bmi"])
    assert named.passed
    assert "columns_without_role" not in codes(named.notices)


@pytest.mark.parametrize(
    ("name", "said"), [("age", "'age' has a role already"), ("age + 1", "is an expression"), ("nope", "no column")]
)
def test_an_insensitive_column_is_one_without_a_role(name: str, said: str) -> None:
    with connect(None) as engine, pytest.raises(UsageError, match=said):
        audited(engine, insensitive=[name])


def test_persons_with_several_combinations_are_counted(engine: Engine) -> None:
    kinds = {"pid": "int", "age": "int", "sex": "text"}
    rows = [(1, 30, "f"), (1, 30, "f"), (2, 30, "f"), (2, 40, "f"), (3, 40, "f"), (4, 40, "f"), (4, None, "f")]
    given: dict[str, Any] = {"qi": ["age", "sex"], "require": {"k": 1}, "db": engine}
    found = sqlaudit.audit(query=query(rows, kinds), entity="pid", **given)
    assert codes(found.notices) == {"several_combinations": ("pid",)}
    assert found.notices[0].message == (
        "People are counted by pid. 2 of 4 have more than one combination of the quasi-identifiers. The verdict covers "
        "attackers who know one row of a person and attackers who know all of them; the worse result counts."
    )
    assert [step.name for step in found.statements].count("people with several combinations") == 1
    alone = sqlaudit.audit(query=query(rows[:3], kinds), entity="pid", **given)
    assert alone.notices[0].message.startswith("People are counted by pid. Each has one combination")
    without = sqlaudit.audit(query=query(rows, kinds), **given)
    assert "people with several combinations" not in [step.name for step in without.statements]


# --- formats ---


def text(result: AuditResult) -> str:
    return " ".join(render_text(document_of(result), width=1000).split())


def test_every_format_of_an_audit_has_the_same_sentences_under_the_verdict(engine: Engine) -> None:
    result = audited(engine)
    document = document_of(result)
    assert result.notices
    for notice in result.notices:
        assert notice.message in text(result)
        assert markdown(notice.message) in render_markdown(document)
        assert html.escape(notice.fact) in render_html(document).partition("<nav")[0]
        assert notice.fact in json.dumps(stored_document(document)["lead"])
        assert notice.to_dict() in result.to_dict()["notices"]
        assert "Warnings" not in [section.title for section in document.sections]
    for made in (text(result), render_markdown(document), render_html(document)):
        assert "sqlaudit help verdicts" in made
    assert "@example" not in text(result) + render_markdown(document)  # a page has the SQL, and this query its values
    assert MEANING in result.to_dict()["limitations"]


def test_the_command_line_fails_on_a_declared_identifier(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "p.csv", "mail,age,bmi", *(f"p{i}@example.org,30,{i}.5" for i in range(12)))

    def audit(*options: str) -> Ran:
        return run("audit", file, "--qi", "age", "--require", "k=2", *options)

    plain = audit()
    assert (plain.code, SUSPECTED in plain.said) == (0, True)
    failed = audit("--identifier", "mail")
    assert failed.code == 1
    assert "FAIL: 1 of 2 requirements is not met" in failed.said
    assert "FAILS No direct identifier mail present absent" in failed.said
    assert audit("--accept-identifier", "mail").code == 0
    assert audit("--accept-identifier", "mail", "--all-columns-named").code == 1
    assert audit("--accept-identifier", "mail", "--insensitive", "bmi", "--all-columns-named").code == 0
    disclosed = run("disclosure", file, "--qi", "age", "--sensitive", "bmi", "--threshold", "0.5")
    assert SUSPECTED in disclosed.said.partition("Curve")[0]


def test_a_comparison_has_the_notices_of_the_release(tmp_path: Path) -> None:
    rows = [f"p{i}@example.org,30,flu" for i in range(12)]
    before = write_csv(tmp_path / "before.csv", "mail,age,ill", *rows)
    after = write_csv(tmp_path / "after.csv", "mail,age,ill", *rows)
    ran = run("compare", before, after, "--qi", "age", "--sensitive", "ill", "--by-position")
    assert SUSPECTED in ran.said.partition("Is it a generalization?")[0]


# --- columns that the role may not read ---


@pytest.mark.postgres
def test_columns_that_the_role_may_not_read_are_said(load: Loader, postgres_url: str) -> None:
    load("half_open", [(30, "Ann", "flu"), (41, "Bob", "flu")], ["age", "name", "disease"])
    load.execute("REVOKE ALL ON half_open FROM auditor; GRANT SELECT (age, disease) ON half_open TO auditor")
    with connect(postgres_url) as engine:
        result = sqlaudit.audit("half_open", db=engine, qi=["age"], sensitive="disease", require={"k": 1})
        profile = profile_target(engine, ProfileRequest(Target("half_open")))
    said = "Not checked: 1 column that this database role cannot read (name)."
    assert [(one.code, one.message) for one in result.notices] == [("unreadable_columns", said)]
    assert (profile.unreadable, profile.to_dict()["unreadable"]) == (("name",), ["name"])
    lead = " ".join(render_text(document_of(profile)).split())
    assert "Not read: 1 column that this role cannot read (name)." in lead
    proposed = run("init", "half_open", "--db", postgres_url, "--output", "-")
    assert "# No one looked at these, because the role may not read them: name" in proposed.out or proposed.code == 2

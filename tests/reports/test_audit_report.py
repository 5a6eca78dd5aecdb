"""The audit's report says what was found, in whole sentences, and nothing else."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from sqlaudit.audits.report import audit_document, headline
from sqlaudit.audits.result import NOT_SAID, AuditResult, SensitiveSummary
from sqlaudit.base.result import Status
from sqlaudit.classes.failing import ClassSizes, FailingClass
from sqlaudit.models.phrases import required_sentence
from sqlaudit.reports.document import listing
from sqlaudit.reports.formats import render_json
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.text import render_text
from tests.reports.samples import ROLES, check, empty, failed_k, held_l, result


def text_of(found: AuditResult) -> str:
    """The text report as one line of words, so that sentences can be looked for whatever their line breaks."""
    return " ".join(render_text(audit_document(found), 80).split())


def warned() -> AuditResult:
    return result(checks=(check(required=5, status=Status.WARN, severity="warn", text="k=5", failing_classes=4),))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (result(), "FAIL: 2 of 3 requirements do not hold"),
        (result(checks=(failed_k(),)), "FAIL: the requirement does not hold"),
        (result(checks=(failed_k(), held_l())), "FAIL: 1 of 2 requirements does not hold"),
        (result(checks=(held_l(),)), "PASS: the requirement holds"),
        (result(checks=(held_l(), check(required=1, status=Status.PASS, text="k=1"))), "PASS: all 2 requirements hold"),
        (warned(), "WARNING: the requirement does not hold, but only a warning was asked for"),
        (
            result(checks=(check(required=5, status=Status.UNDETERMINED, text="k=5"),)),
            "UNDETERMINED: the requirement cannot be decided",
        ),
        (result(checks=(check(),)), "No verdict was asked for: these are the figures of the table"),
        (empty(), "UNDETERMINED: there is no row to audit"),
        (result(complete=False), "INCOMPLETE: the audit was stopped before every figure was known"),
    ],
)
def test_headline(found: AuditResult, said: str) -> None:
    assert headline(found).text == said


def test_one_requirement_on_two_columns_counts_once() -> None:
    other = check("distinct_l_diversity", sensitive="ward", required=2, status=Status.FAIL, level=1, text="l=2")
    assert headline(result(checks=(held_l(), other))).text == "FAIL: the requirement does not hold"


def test_the_failing_requirements_come_first_and_say_how_much_fails() -> None:
    lines = render_text(audit_document(result())).splitlines()
    assert lines[:8] == [
        "FAIL: 2 of 3 requirements do not hold",
        "  patients.csv: 100 rows in 7 equivalence classes of equal age and sex.",
        "  • FAILS: k-anonymity is 1; at least 5 is required. 4 of 7 classes with 5 rows",
        "    (5.0%) fall short.",
        "  • FAILS: t-closeness for disease is 0.2004; at most 0.2 is required. 1 of 7",
        "    classes with 6 rows (6.0%) falls short.",
        "  • Holds: distinct l-diversity for disease is 2; at least 2 is required.",
        "",
    ]


def test_whole_text_at_eighty_columns() -> None:
    assert render_text(audit_document(result())).splitlines()[8:] == [
        "What stands out",
        "  • 3 rows (3.0%) are alone: nobody else has the same age and sex.",
        "",
        "Classes that fall short",
        "  5 classes fall short; the 3 smallest are listed. Their values are hidden;",
        "  show_values=True shows them.",
        "",
        "  classes   rows each   falls short of   figures",
        "  ──────────────────────────────────────────────",
        "        3           1   k=5              l 1",
        "",
        "Risk of being picked out by someone who knows the quasi-identifiers",
        "  highest               1 in 1 (100%)",
        "  on average            7.0%",
        "  alone in their class  3 (3.0%)",
        "  in classes below 5    5 (5.0%)",
        "  in classes below 11   17 (17.0%)",
        "",
        "How large the classes are",
        "  class size   classes   rows   share of rows",
        "  ───────────────────────────────────────────",
        "  1                  3      3            3.0%",
        "  2                  1      2            2.0%",
        "  5 to 10            2     12           12.0%",
        "  20 to 99           1     83           83.0%",
        "",
        "All figures",
        "  model         level   limit   verdict   rows that fall short",
        "  ────────────────────────────────────────────────────────────",
        "  k-anonymity       1     ≥ 5   FAILS                 5 (5.0%)",
        "",
        "  Sensitive column disease:",
        "  model                       level   limit   verdict   rows that fall short",
        "  ──────────────────────────────────────────────────────────────────────────",
        "  t-closeness                0.2004   ≤ 0.2   FAILS                 6 (6.0%)",
        "  distinct l-diversity            2     ≥ 2   holds                        0",
        "  Delta disclosure privacy        ∞           –",
        "  … delta present               2.5",
        "",
        "  • Delta disclosure privacy: delta_present leaves absent values out.",
        "",
        "Warnings",
        "  • Column 'age' holds fractions.",
        "",
        "What to look at next",
        "  • See which classes fall short with show_values=True, or write all of them to",
        "    a file with failing_classes_to='FILE.csv' (keep that file as private as the",
        "    table).",
        "  • Coarsen a quasi-identifier and audit again before you change the data: qi=",
        "    takes expressions, for instance qi=['floor(age / 10)'].",
        "  • Classes whose sensitive values are too alike get better when they are",
        "    merged, or when rows are left out.",
        "",
        "How this was computed",
        "  table              patients.csv",
        "  quasi-identifiers  age, sex",
        "  sensitive columns  disease",
        "  missing values     missing quasi-identifiers are equal to each other",
        "  computed by        sqlaudit 1.0.0 on DuckDB 2.0.0",
        "  finished           2026-03-01 02:03 UTC; 2 statements took 0.75 s in the",
        "                     database",
        "",
        "What this audit does not say",
        "  • Whether the people are in the table at all, or what else is known about them",
        "    elsewhere: a figure holds for the quasi-identifiers that were named, not for",
        "    columns that an attacker may know besides.",
        "  • What happens when this table is joined with another release, an older",
        "    version of itself, or a register.",
        "  • Whether values inside free text, images or codes name a person.",
        "  • Whether publication is lawful: that is for people to decide, with these",
        "    figures in hand.",
        "  • What a verdict means and does not mean: docs/verdicts.md",
        "",
        "The words of this report are explained in docs/glossary.md.",
    ]


def test_markdown_has_the_same_facts() -> None:
    page = render_markdown(audit_document(result()))
    assert page.startswith("# FAIL: 2 of 3 requirements do not hold\n\npatients.csv: 100 rows in 7 equivalence classes")
    assert "| k-anonymity | 1 | ≥ 5 | **FAILS** | 5 (5.0%) |\n" in page
    assert "| t-closeness | 0.2004 | ≤ 0.2 | **FAILS** | 6 (6.0%) |\n" in page
    assert "- **finished**: 2026-03-01 02:03 UTC; 2 statements took 0.75 s in the database\n" in page
    assert NOT_SAID[-1] in page
    assert page.endswith("\n\nThe words of this report are explained in [docs/glossary.md](docs/glossary.md).\n")


def test_without_requirements_the_reader_is_told_how_to_ask() -> None:
    said = text_of(result(checks=(check(),), sensitive=(), failing=(), failing_total=None))
    assert "No verdict was asked for" in said
    assert "State what must hold, for instance require=['k=5']" in said
    assert "Name the sensitive columns with sensitive:" in said
    assert "limit" not in said.split("All figures")[1].split("What to look")[0]


def test_an_empty_table_is_told_as_such() -> None:
    said = text_of(empty())
    assert "patients.csv: 0 rows in 0 equivalence classes of equal age and sex." in said
    assert "Undetermined: K anonymity" not in said
    assert "Undetermined: k-anonymity is undefined; at least 5 is required." in said
    assert "no row was found, so nothing was measured" in said
    assert "Risk of being picked out" not in said


def test_values_are_shown_only_when_the_result_holds_them() -> None:
    key = {"age": 34, "sex": None, "note": "", "zip": "x" * 100, "evil": "\x1b[2J"}
    said = text_of(result(failing=(FailingClass(1, 1, {}, ("k=5",), "disease", key),), failing_total=1))
    assert "1 class falls short; it is listed." in said
    assert 'age 34, sex (missing), note "",' in said
    assert "x" * 59 + "…" in said.replace(" ", "")
    assert "\\x1b[2J" in said


def test_persons_are_called_persons() -> None:
    said = text_of(result(roles=ROLES | {"entity": "patient"}, classes=ClassSizes(((2, 5), (90, 1)))))
    assert "100 rows in 6 equivalence classes of equal age and sex." in said
    assert "Sizes count persons. A person with rows in several classes counts in each of them." in said
    assert "The 5 smallest classes have 2 persons each." in said
    assert "4 of 6 classes with 5 rows (5.0%) fall short." in said
    assert "person column patient" in said


def test_overlapping_classes_are_told_per_row() -> None:
    said = text_of(result(roles=ROLES | {"nulls": "wildcard"}, classes=ClassSizes(((1, 3), (97, 97)), per_row=True)))
    assert "100 rows; a missing value matches any value of age and sex." in said
    assert "3 rows (3.0%) are alone" in said
    assert "rows that match for rows share of rows" in said
    nobody = result(roles=ROLES | {"nulls": "wildcard"}, classes=ClassSizes(((3, 100),), per_row=True))
    assert "Nobody is alone: every row matches at least 3 rows, itself included." in text_of(nobody)
    assert "20 to 99 97 97.0%" in said
    assert "on average 4.0%" in said


def test_a_class_with_one_sensitive_value_stands_out() -> None:
    alone = [check("distinct_l_diversity", sensitive=name, level=1, levels={"l": 1}) for name in ("disease", "ward")]
    said = text_of(result(checks=tuple(alone)))
    assert "At least one class holds a single value of disease and ward: who finds a person there learns it" in said


def test_with_several_sensitive_columns_failing_classes_name_theirs() -> None:
    two = (SensitiveSummary("disease", 4, 0, "packed", False), SensitiveSummary("ward", 2, 0, "packed", True))
    assert "classes rows each falls short of sensitive column figures" in text_of(result(sensitive=two))


def test_strict_and_infinite_levels_in_words() -> None:
    infinite = check(
        "recursive_c_l_diversity",
        sensitive="s",
        parameters={"l": 2},
        level=float("inf"),
        operator="<",
        required=3,
        status=Status.FAIL,
        failing_classes=1,
        failing_rows=None,
        title="recursive (c,l)-diversity",
    )
    assert required_sentence(infinite, 10, 100).text == (
        "FAILS: recursive (c,l)-diversity (l = 2) for s is ∞; below 3 is required. 1 of 10 classes falls short."
    )


def test_undetermined_says_why() -> None:
    undecided = check(required=5, status=Status.UNDETERMINED, level=None, note="too many classes to decide")
    assert required_sentence(undecided, 10, 100).text == (
        "Undetermined: k-anonymity is undefined; at least 5 is required. Too many classes to decide."
    )


def test_listing() -> None:
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing("abcdefgh") == "a, b, c, d, e and 3 more"


@pytest.mark.parametrize("found", [result(), empty(), result(checks=()), result(complete=False)])
def test_json_is_what_the_schema_says(found: AuditResult, audit_schema: Draft202012Validator) -> None:
    data = json.loads(render_json(found.to_dict()))
    assert [error.message for error in audit_schema.iter_errors(data)] == []


def test_json_values() -> None:
    data = json.loads(render_json(result().to_dict()))
    assert data["schema"] == "sqlaudit/1"
    assert data["target"] == {
        "name": "patients.csv",
        "rows": 100,
        "columns": ["age", "sex", "disease"],
        "engine": "DuckDB 2.0.0",
    }
    assert data["classes"] == {
        "count": 7,
        "min_size": 1,
        "max_size": 83,
        "per_row": False,
        "sizes": [[1, 3], [2, 1], [6, 2], [83, 1]],
    }
    assert data["checks"][1] == {
        "model": "t_closeness",
        "title": "t-closeness",
        "sensitive": "disease",
        "parameters": {},
        "level": 0.2004,
        "levels": {"t": 0.2004},
        "operator": "<=",
        "required": 0.2,
        "status": "fail",
        "failing_classes": 1,
        "failing_rows": 6,
        "failing_share": 0.06,
        "severity": "error",
    }
    assert data["checks"][3]["level"] is None
    assert data["checks"][3]["infinite"] is True
    assert data["checks"][3]["levels"] == {"delta": None, "delta_present": 2.5}
    assert data["failing"] == [
        {"size": 1, "rows": 1, "classes": 3, "sensitive": "disease", "fails": ["k=5"], "figures": {"l": 1}, "key": None}
    ]
    assert data["status"] == "fail"
    assert data["statements"] == [{"name": "classes", "seconds": 0.5}, {"name": "figures", "seconds": 0.25}]


def test_json_is_ascii_so_that_no_terminal_obeys_it() -> None:
    page = render_json({"name": "\x1b[31m \u202e é"})
    assert page.isascii()
    assert "\x1b" not in page
    assert json.loads(page) == {"name": "\x1b[31m \u202e é"}

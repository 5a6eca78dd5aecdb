"""The audit's report says what was found, in whole sentences, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sqlaudit.audits.report import AuditReport
from sqlaudit.audits.result import NOT_SAID, AuditResult, SensitiveSummary
from sqlaudit.base.result import Status
from sqlaudit.classes.failing import ClassSizes, FailingClass
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import requirement_lines, requirements_met, verdict_of
from sqlaudit.reports.document import Table, Toned, listing, words_of
from sqlaudit.reports.document import text_of as bare
from sqlaudit.reports.formats import render_json
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.reports.samples import ROLES, check, empty, failed_k, held_l, result


def text_of(found: AuditResult) -> str:
    """The text report as one line of words, so that sentences can be looked for whatever their line breaks."""
    return " ".join(render_text(document_of(found), 80).split())


def warned() -> AuditResult:
    return result(checks=(check(required=5, status=Status.WARN, severity="warn", text="k=5", failing_classes=4),))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (result(), "FAIL: 2 of 3 requirements are not met"),
        (result(checks=(failed_k(),)), "FAIL: the requirement is not met"),
        (result(checks=(failed_k(), held_l())), "FAIL: 1 of 2 requirements is not met"),
        (result(checks=(held_l(),)), "PASS: the requirement is met"),
        (
            result(checks=(held_l(), check(required=1, status=Status.PASS, text="k=1"))),
            "PASS: both requirements are met",
        ),
        (warned(), "WARNING: the requirement is not met (only a warning was required)"),
        (
            result(checks=(check(required=5, status=Status.UNDETERMINED, text="k=5"),)),
            "UNDETERMINED: the requirement cannot be decided",
        ),
        (result(checks=(check(),)), "Figures of the table; no requirements were set"),
        (empty(), "UNDETERMINED: the table has no rows"),
        (result(complete=False), "INCOMPLETE: the audit stopped before all figures were known"),
    ],
)
def test_headline(found: AuditResult, said: str) -> None:
    assert AuditReport().headline(found).text == said


def test_one_requirement_on_two_columns_counts_once() -> None:
    other = check("distinct_l_diversity", sensitive="ward", required=2, status=Status.FAIL, level=1, text="l=2")
    assert AuditReport().headline(result(checks=(held_l(), other))).text == "FAIL: the requirement is not met"


def test_the_failing_requirements_come_first_and_say_how_much_fails() -> None:
    lines = render_text(document_of(result())).splitlines()
    assert lines[:15] == [
        "FAIL: 2 of 3 requirements are not met",
        "  patients.csv: 100 rows in 7 groups (rows with the same age and sex).",
        "",
        "  Smallest group    1 row",
        "  Unique rows       3 (3.0%)",
        "  Requirements met  1 of 3",
        "",
        "  Verdict   Requirement            Result   Required      What fails",
        "  ──────────────────────────────────────────────────────────────────────────────",
        "  FAILS     k-anonymity                 1   at least 5    5 rows (5.0%) in 4",
        "                                                          groups",
        "  FAILS     t-closeness of         0.2004   at most 0.2   6 rows (6.0%) in 1",
        "            disease                                       group",
        "  passes    Distinct l-diversity        2   at least 2",
        "            of disease",
    ]


def test_whole_text_at_eighty_columns() -> None:
    assert render_text(document_of(result())).splitlines()[15:] == [
        "",
        "Failing groups",
        "  5 groups fail. The 3 smallest are summarized by size. show_values=True lists",
        "  the groups with their values.",
        "",
        "  Groups   Rows each   Fails   Figures",
        "  ────────────────────────────────────",
        "       3           1   k=5     l: 1",
        "",
        "Risk from someone who knows the quasi-identifiers",
        "  Highest                    1 in 1 (100%)",
        "  On average                 7.0%",
        "  Unique rows                3 (3.0%)",
        "  In groups smaller than 5   5 (5.0%)",
        "  In groups smaller than 11  17 (17.0%)",
        "",
        "Group sizes",
        "  Group size   Groups   Rows   Share of rows",
        "  ──────────────────────────────────────────",
        "  1                 3      3            3.0%",
        "  2                 1      2            2.0%",
        "  5 to 10           2     12           12.0%",
        "  20 to 99          1     83           83.0%",
        "",
        "All figures",
        "  Model         Level   Limit   Verdict   Failing rows",
        "  ────────────────────────────────────────────────────",
        "  k-anonymity       1     ≥ 5   FAILS         5 (5.0%)",
        "",
        "  Sensitive column disease:",
        "  Model                       Level   Limit   Verdict   Failing rows",
        "  ──────────────────────────────────────────────────────────────────",
        "  t-closeness                0.2004   ≤ 0.2   FAILS         6 (6.0%)",
        "  Distinct l-diversity            2     ≥ 2   passes               0",
        "  Delta disclosure privacy        ∞           –",
        "  … values present only         2.5",
        "",
        "  • Delta disclosure privacy: delta_present leaves absent values out.",
        "",
        "Warnings",
        "  • Column 'age' holds fractions.",
        "",
        "Next steps",
        "  • List the failing groups with show_values=True, or write them to a file with",
        "    failing_classes_to='FILE.csv'. Keep that file as private as the table.",
        "  • Try a coarser quasi-identifier before you change the data: qi= takes",
        "    expressions, for example qi=['floor(age / 10)'].",
        "  • Merge groups whose sensitive values are too alike, or leave their rows out.",
        "",
        "How this was computed",
        "  Table              patients.csv",
        "  Quasi-identifiers  age, sex",
        "  Sensitive columns  disease",
        "  Missing values     equal to each other",
        "  Computed by        sqlaudit 1.0.0 on DuckDB 2.0.0",
        "  Finished           2026-03-01 02:03 UTC; 2 statements took 0.75 s in the",
        "                     database",
        "",
        "Limits of this audit",
        "  • The figures hold for the quasi-identifiers named above, not for other",
        "    columns that an attacker may know.",
        "  • Whether a person is in the table at all was not checked.",
        "  • Joins with other releases, older versions of this table or registers were",
        "    not checked.",
        "  • Free text, images and codes were not searched for names.",
        "  • Whether publication is lawful is not decided here.",
        "  • A verdict covers the named requirements and nothing else (sqlaudit help",
        "    verdicts).",
        "",
        "`sqlaudit help glossary` explains the words of this report.",
    ]


def test_markdown_has_the_same_facts() -> None:
    page = render_markdown(document_of(result()))
    assert page.startswith("# FAIL: 2 of 3 requirements are not met\n\npatients.csv: 100 rows in 7 groups")
    assert "| k-anonymity | 1 | ≥ 5 | **FAILS** | 5 (5.0%) |\n" in page
    assert "| t-closeness | 0.2004 | ≤ 0.2 | **FAILS** | 6 (6.0%) |\n" in page
    assert "- **Finished**: 2026-03-01 02:03 UTC; 2 statements took 0.75 s in the database\n" in page
    assert NOT_SAID[-1] in page
    assert page.endswith("\n\n`sqlaudit help glossary` explains the words of this report.\n")


def test_without_requirements_the_reader_is_told_how_to_ask() -> None:
    said = text_of(result(checks=(check(),), sensitive=(), failing=(), failing_total=None))
    assert said.startswith("Figures of the table; no requirements were set")
    assert "Add requirements, for example require=['k=5']" in said
    assert "Name the sensitive columns with sensitive." in said
    assert "Limit" not in said.split("All figures")[1].split("Next steps")[0]
    assert "Rows in groups below 5 5 (5.0%)" in said.split("Failing groups")[0]


def test_an_empty_table_is_told_as_such() -> None:
    said = text_of(empty())
    assert "patients.csv: 0 rows in 0 groups (rows with the same age and sex)." in said
    assert "undetermined k-anonymity undefined at least 5" in said
    assert "Smallest group" not in said
    assert "No rows were found." in said
    assert "Risk from" not in said


def test_values_are_shown_only_when_the_result_holds_them() -> None:
    key = {"age": 34, "sex": None, "note": "", "zip": "x" * 100, "evil": "\x1b[2J"}
    said = text_of(result(failing=(FailingClass(1, 1, {}, ("k=5",), "disease", key),), failing_total=1))
    assert "1 group fails." in said
    assert 'age 34, sex (missing), note "",' in said
    assert "x" * 59 + "…" in said.replace(" ", "")
    assert "\\x1b[2J" in said


def test_persons_are_called_people() -> None:
    said = text_of(result(roles=ROLES | {"entity": "patient"}, classes=ClassSizes(((2, 5), (90, 1)))))
    assert "100 rows in 6 groups (people with the same age and sex)." in said
    assert "Sizes count people. A person with rows in several groups counts in each of them." in said
    assert "Smallest group 2 people Unique people 0 (0%)" in said
    assert "5 rows (5.0%) in 4 groups" in said
    assert "Person column patient" in said


def test_overlapping_classes_are_told_per_row() -> None:
    said = text_of(result(roles=ROLES | {"nulls": "wildcard"}, classes=ClassSizes(((1, 3), (97, 97)), per_row=True)))
    assert "100 rows. A missing value matches any value of age and sex." in said
    assert "Fewest matching rows 1 row Unique rows 3 (3.0%)" in said
    assert "Matching rows For rows Share of rows" in said
    nobody = result(roles=ROLES | {"nulls": "wildcard"}, classes=ClassSizes(((3, 100),), per_row=True))
    assert "Fewest matching rows 3 rows Unique rows 0 (0%)" in text_of(nobody)
    assert "20 to 99 97 97.0%" in said
    assert "On average 4.0%" in said


def test_a_class_with_one_sensitive_value_stands_out() -> None:
    alone = [check("distinct_l_diversity", sensitive=name, level=1, levels={"l": 1}) for name in ("disease", "ward")]
    said = text_of(result(checks=tuple(alone)))
    assert "Some groups have a single value of disease or ward. Anyone known to be in one has that value." in said
    one = text_of(result(checks=tuple(alone[:1])))
    assert "At least one group has a single value of disease. Anyone known to be in it has that value." in one


def test_with_several_sensitive_columns_failing_classes_name_theirs() -> None:
    two = (SensitiveSummary("disease", 4, 0, "packed", False), SensitiveSummary("ward", 2, 0, "packed", True))
    assert "Groups Rows each Fails Sensitive column Figures" in text_of(result(sensitive=two))


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
    assert lines_of(infinite) == [("FAILS", "Recursive (c,l)-diversity (l = 2) of s", "∞", "below 3", "1 group")]


def test_undetermined_says_why() -> None:
    undecided = check(required=5, status=Status.UNDETERMINED, level=None, note="too many classes to decide")
    assert lines_of(undecided) == [("undetermined", "k-anonymity", "undefined", "at least 5")]
    (reason,) = words_of(requirement_lines([undecided])[1])
    assert reason == Toned("k-anonymity: too many classes to decide.", "warn")


def test_a_requirement_on_several_columns_is_one_line() -> None:
    given: dict[str, Any] = {"text": "l=3", "required": 3, "failing_classes": 4}
    checks = [
        check("distinct_l_diversity", sensitive="a", level=2, status=Status.FAIL, failing_rows=7, **given),
        check("distinct_l_diversity", sensitive="b", level=1, status=Status.FAIL, failing_rows=9, **given),
        check("distinct_l_diversity", sensitive="c", level=3, status=Status.PASS, failing_rows=0, **given),
    ]
    worst = "Distinct l-diversity of b (2 of 3 columns fail)"
    assert lines_of(*checks) == [("FAILS", worst, "1", "at least 3", "9 rows (9.0%) in 4 groups")]
    assert verdict_of(checks).text == "FAIL: the requirement is not met"
    assert [one.value for one in requirements_met(checks)] == ["0 of 1"]
    worst = "Distinct l-diversity of a (worst of 2 columns)"
    assert lines_of(checks[0], checks[2]) == [("FAILS", worst, "2", "at least 3", "7 rows (7.0%) in 4 groups")]


def test_no_more_groups_fail_than_there_are() -> None:
    failing = [FailingClass(1, 1, {}, ("l=3",), name, None, classes=7) for name in ("disease", "ward")]
    two = (SensitiveSummary("disease", 4, 0, "packed", False), SensitiveSummary("ward", 2, 0, "packed", True))
    said = text_of(result(sensitive=two, failing=tuple(failing), failing_total=20))
    assert (
        "At least 4 of 7 groups (57.1%) fail. Groups are listed once for each sensitive column: the 14 smallest of 20."
        in said
    )
    given: dict[str, Any] = {"sensitive": two, "failing": tuple(failing), "failing_total": 14}
    every = result(checks=(replace(failed_k(), failing_classes=7),), **given)
    assert "7 of 7 groups (100%) fail. Groups are listed once for each sensitive column: 14." in text_of(every)


def lines_of(*checks: Check) -> list[tuple[str, ...]]:
    """The lines of requirements as bare texts."""
    table = requirement_lines(checks, 100)[0]
    assert isinstance(table, Table)
    return [tuple(map(bare, row)) for row in table.rows]


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

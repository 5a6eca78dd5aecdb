"""HIPAA's Safe Harbor: each of the 18 identifiers by name, type and content, on every engine; worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.audits.safe_harbor import safe_harbor_check, small_areas
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.spec import SafeHarbor, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import clause_text
from sqlaudit.models.presets import find_preset
from sqlaudit.reports.document import plural
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.reports.schemas import validator

HARBOR = SafeHarbor.preset
DAY = date(2026, 11, 26)
Rows = Sequence[Mapping[str, Any]]


def checked(engine: Engine, columns: Mapping[str, str], rows: Rows, **asked: Any) -> Check:
    relation = engine.open(Target(query=values_query(rows, columns)))
    return safe_harbor_check(engine, relation, SafeHarbor(**asked), today=DAY)


def found(check: Check) -> dict[str, str]:
    """What is said of each clause that is not simply met."""
    return {one["clause"]: clause_text(one) for one in check.details["clauses"] if one["found"]}


def column(engine: Engine, name: str, kind: str, *values: Any) -> dict[str, str]:
    return found(checked(engine, {name: kind}, [{name: value} for value in values]))


ZIP = "not met: zip (ZIP codes with more than three digits in {})"
AREA = "not met: zip (ZIP areas with 20,000 people or fewer in {})"
AGE = "not met: age (ages over 89 outside one category of 90 or over in {})"


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("text", ["02139", "02139-1234", "021", "021**", None], ZIP.format("2 rows")),
        ("text", ["021", "000", "021**", "02XXX", "", "unknown"], None),
        ("text", ["036", "059**", "36", "100"], AREA.format("3 rows")),
        ("text", ["SW1A 1AA", "K1A"], ZIP.format("2 rows")),
        ("int", [2139, 21, 100, None], ZIP.format("1 row")),
        ("int", [21, 0, 100], None),
        ("int", [36, 893, 100], AREA.format("2 rows")),
        ("float", [21.0, 36.0, None], AREA.format("1 row")),
        ("float", [2139.0, float("nan"), float("inf")], ZIP.format("1 row")),
    ],
)
def test_zip_codes_as_texts_and_as_numbers(engine: Engine, kind: str, values: list[Any], said: str | None) -> None:
    assert column(engine, "zip", kind, *values).get("(B)") == said


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("int", [89, 90, 12], None),
        ("int", [91, 90, 103, 999, None], AGE.format("2 rows")),
        ("float", [90.0, 90.5, float("nan"), float("inf")], AGE.format("1 row")),
        ("text", ["90+", ">89", "90 or older", "85-89", "12.91", ""], None),
        ("text", ["91", "90-94", "85-94", "95+", "101 years"], AGE.format("5 rows")),
    ],
)
def test_ages_over_89(engine: Engine, kind: str, values: list[Any], said: str | None) -> None:
    assert column(engine, "age", kind, *values).get("(C)") == said


@pytest.mark.parametrize(
    ("name", "kind", "values", "rows"),
    [
        ("admission", "date", ["2020-01-01", "2021-01-01", None], 0),
        ("admission", "date", ["2020-01-01", "2021-05-01"], 1),
        ("anything", "date", ["2020-02-01"], 1),
        ("anything", "text", ["2020-02-01", "1.5.2020", "05/01/98", "2020-01-01", "2020-01-01 00:00:00", "x"], 3),
        ("anything", "text", ["2020-05", "20200501", "2019/20", "flu"], 0),  # codes: no name says that they are dates
        ("anything", "text", ["May 2020", "2020-Q3", "2020W20", '{"born": "1950-05-17"}', "fy2020", "x"], 4),
        ("admission_date", "text", ["2020-05", "5/2020", "20200501", "May 2020", "3 janv. 98", "2020-Q3"], 6),
        ("admission_date", "text", ["2020", "1999", "2020-01-01", "", "before 2000"], 0),
        ("admission_date", "int", [20200501, 202005, 43952, 1588291200, 2020, 20, None], 4),
        ("admission_date", "float", [2020.0, 43952.5, float("nan")], 1),
        ("birth_weight", "int", [1900, 3200, 12000], 0),
        ("birth_year", "int", [1990, 1936, 1935, 1901], 2),  # 90 in 2026: the category of 90 or over
        ("birth_year", "text", ["1990", "1936", "1935", "1936 or earlier"], 1),
    ],
)
def test_dates_finer_than_years(engine: Engine, name: str, kind: str, values: list[Any], rows: int) -> None:
    what = "years of birth of people over 89" if name == "birth_year" else "dates finer than years"
    expected = f"not met: {name} ({what} in {plural(rows, 'row')})" if rows else None
    assert column(engine, name, kind, *values).get("(C)") == expected


def test_every_count_in_one_table(engine: Engine) -> None:
    """One row of each kind that is too fine, beside one that is not: what runs on Spark by default."""
    columns = {"zip": "text", "plz": "int", "age": "int", "alter": "text", "seen": "date", "note": "text"}
    columns |= {"admitted": "text", "discharged": "int", "birth_year": "int", "dob": "date", "born": "text"}
    fine = ["02139", 36, 91, "90-94", "2020-05-01", "1.5.2020", "May 2020", 20200501, 1935, "1931-01-01", "1931"]
    coarse = ["021", 21, 90, "90+", "2020-01-01", "flu", "2020", 2020, 1936, "1936-01-01", "1936"]
    check = checked(engine, columns, [dict(zip(columns, row, strict=True)) for row in (fine, coarse)])
    told = {(one["column"], one["rows"]) for each in check.details["clauses"] for one in each["found"]}
    assert told == {(name, 1) for name in columns}
    assert (check.level, check.status) == (2, "fail")


NAMED = {
    "full_name": "(A)",
    "street": "(B)",
    "city": "(B)",
    "county": "(B)",
    "latitude": "(B)",
    "phone": "(D)",
    "fax_number": "(E)",
    "email": "(F)",
    "ssn": "(G)",
    "mrn": "(H)",
    "member_id": "(I)",
    "iban": "(J)",
    "license_number": "(K)",
    "license_plate": "(L)",
    "deviceSerial": "(M)",
    "website": "(N)",
    "ip_address": "(O)",
    "fingerprint": "(P)",
    "photo": "(Q)",
    "patient_id": "(R)",
}


def test_every_identifier_by_its_name(engine: Engine) -> None:
    """In a table of one row, in which nothing repeats; codes have no form that would say what they are."""
    check = checked(engine, dict.fromkeys(NAMED, "text"), [dict.fromkeys(NAMED, "k7qzx")])
    for name, clause in NAMED.items():
        assert f"{name} (by its name)" in found(check)[clause]
    assert found(check).keys() == set(NAMED.values())
    assert (check.level, check.status) == (17, "fail")  # all but dates and ages


def test_identifiers_by_the_form_of_their_texts(engine: Engine) -> None:
    values = {"a": "x@y.org", "b": "123-45-6789", "c": "https://y.org/z", "d": "10.1.2.3"}
    values["e"] = "0b51c0de-0000-4000-8000-0123456789ab"
    rows = [dict.fromkeys(values, "k7qzx")] * 9 + [values]
    check = found(checked(engine, dict.fromkeys(values, "text"), rows))
    forms = {"(F)": "a", "(G)": "b", "(N)": "c", "(O)": "d", "(R)": "e"}
    assert check == {clause: f"not met: {name} (texts of this form in 1 row)" for clause, name in forms.items()}


def test_what_is_no_identifier(engine: Engine) -> None:
    columns = {"sex": "text", "state": "text", "diagnosis": "text", "has_email": "bool", "fax": "text", "phone": "text"}
    row = {"sex": "f", "state": "MA", "diagnosis": "flu", "has_email": True, "fax": None, "phone": "yes"}
    check = checked(engine, columns, [row] * 3 + [row | {"sex": "m", "phone": "no"}] * 3)
    assert (found(check), check.status, check.level) == ({}, "pass", 0)
    assert len(check.details["clauses"]) == 18


def test_two_people_are_not_a_yes_or_no(engine: Engine) -> None:
    """Two numbers in two rows are record numbers, unless they are neighbours like 0 and 1; masked names are removed."""
    rows = [
        {"mrn": 100234, "tel": 0, "name": "?", "account_number": 771},
        {"mrn": 998877, "tel": 1, "name": "n/a", "account_number": 771},
    ]
    check = checked(engine, {"mrn": "int", "tel": "int", "name": "text", "account_number": "int"}, rows)
    assert found(check) == {"(H)": "not met: mrn (by its name)", "(J)": "not met: account_number (by its name)"}


def test_nothing_passes_without_rows(engine: Engine) -> None:
    nothing = checked(engine, {"sex": "text"}, [])
    assert (nothing.status, found(nothing)) == ("undetermined", {})
    nulls = checked(engine, {"zip": "text", "age": "int", "born": "date"}, [{"zip": None, "age": None, "born": None}])
    assert (nulls.status, found(nulls)) == ("pass", {})


def test_a_place_may_be_smaller_than_a_state(engine: Engine) -> None:
    rows = [{"region": "north"}, {"region": "south"}] * 3
    check = checked(engine, {"region": "text"}, rows)
    assert found(check) == {"(B)": "not checked: region (whether its places are smaller than a state)"}
    assert (check.status, check.note) == ("undetermined", "Examine region, then use reviewed=['region'].")
    reviewed = checked(engine, {"region": "text"}, rows, reviewed=("region",))
    assert (reviewed.status, reviewed.details["reviewed"]) == ("pass", ["region"])
    with pytest.raises(UsageError, match=r"reviewed.*'regoin'.*Did you mean 'region'"):
        checked(engine, {"region": "text"}, rows, reviewed=("regoin",))


def test_the_table_of_areas_may_be_replaced(engine: Engine, tmp_path: Path) -> None:
    listed = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"  # in HHS's guidance of 2012
    assert " ".join(small_areas(None)) == listed
    file = write_csv(tmp_path / "zips.csv", "area,people", "021,20000", "036,20001", '100,"1,000"', "000,0")
    assert small_areas(file) == ("021", "100")
    rows = [{"zip": "021"}, {"zip": "036"}]
    assert found(checked(engine, {"zip": "text"}, rows, zip_areas=file)) == {"(B)": AREA.format("1 row")}


@pytest.mark.parametrize("lines", [("zip", "021"), ("area", "21"), ("area,people", "021,many"), ("area",)])
def test_a_file_of_areas_that_cannot_be_read(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="zip_areas"):
        small_areas(write_csv(tmp_path / "z.csv", *lines))
    with pytest.raises(InputError, match="there is no file"):
        small_areas(tmp_path / "none.csv")


RELEASE = ("age,sex,zip,admitted,illness", *["34,f,021,2020,flu"] * 6, *["90,m,000,2021,gout"] * 6)


def test_an_audit_with_the_preset(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "release.csv", *RELEASE)
    asked = ("audit", file, "--all-text", "--qi", "age,sex", "--preset", HARBOR)
    ran = run(*asked)
    assert ran.code == 0
    assert "passes HIPAA, Safe Harbor 0 of 18 identifiers none" in ran.said
    assert "(A) Names met" in ran.said
    assert "Published rules hipaa-safe-harbor: HIPAA, Safe Harbor, 45 CFR 164.514(b)(2) (2002-08-14)" in ran.said
    assert "Clause (ii), actual knowledge of the covered entity, cannot be checked in the table." in ran.said
    data = json.loads(run(*asked, "--format", "json").out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    (check,) = (one for one in data["checks"] if one["model"] == "safe_harbor")
    assert (check["preset"], check["level"], len(check["details"]["clauses"])) == (HARBOR, 0, 18)
    bad = write_csv(tmp_path / "bad.csv", *RELEASE, "91,f,02139,2020-05-01,flu")
    ran = run("audit", bad, "--qi", "age,sex", "--all-text", "--preset", HARBOR, "--require", "k=1")
    assert ran.code == 1
    assert "FAILS HIPAA, Safe 2 of 18 none (B) zip; (C)" in ran.said
    assert "02139" not in ran.out


def test_the_report_by_criteria_says_each_clause(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", *RELEASE, *["50,f,02139,2020,flu"] * 3)
    asked = ("audit", file, "--all-text", "--qi", "age,sex", "--preset", HARBOR, "--criteria")
    for version, rows in (("internal", "3"), ("public", "fewer than 5")):
        data = json.loads(run(*asked, version, "--format", "json").out)
        (section,) = (one for one in data["criteria"] if one["name"] == "hipaa_safe_harbor")
        told = {one["name"]: one["text"] for one in section["figures"]}
        assert [name[:3] for name in told] == [f"({letter})" for letter in "ABCDEFGHIJKLMNOPQR"]
        said = f"not met: zip (ZIP codes with more than three digits in {rows} rows)"
        assert told["(B) Geographic subdivisions smaller than a state"] == said
        assert section["open"][0].startswith("(ii) Does the covered entity have actual knowledge")
    ran = run("audit", file, "--qi", "age,sex", "--criteria", "internal")
    assert "Safe Harbor" not in ran.out


def test_what_does_not_go_together(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", *RELEASE)
    asked = ("audit", file, "--qi", "age")
    ran = run(*asked, "--reviewed", "sex")
    assert (ran.code, ran.err) == (2, f"sqlaudit: --reviewed needs --preset {HARBOR}.\n")
    ran = run(*asked, "--preset", HARBOR, "--certificate", tmp_path / "c.json")
    assert (ran.code, "not hipaa-safe-harbor" in ran.err) == (2, True)
    ran = run("suppress", file, "--qi", "age", "--preset", HARBOR)
    assert (ran.code, "is a check of columns" in ran.err) == (2, True)
    plan = run(*asked, "--preset", HARBOR, "--dry-run")
    assert (plan.code, "audits/safe_harbor" in plan.out or "rows_looked_at" in plan.out) == (0, True)


def test_in_python(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "zip,email", "02139,a@x.org")
    result = sqlaudit.audit(file, qi="zip", preset=HARBOR, reviewed="email")
    (check,) = (one for one in result.checks if one.model == "safe_harbor")
    assert found(check) == {"(B)": ZIP.format("1 row")}
    assert not result.passed
    assert [one.clause for one in find_preset(HARBOR).identifiers] == [f"({c})" for c in "ABCDEFGHIJKLMNOPQR"]


def test_every_value_is_read_however_many_there_are(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SAMPLE_ROWS", "FEW_VALUES", "EXACT_ROWS"):
        monkeypatch.setattr(f"sqlaudit.profiles.columns.{name}", 1)
    values = [f"seen on the {number}th visit" for number in range(200)]
    assert "(F)" in column(engine, "note", "text", *values, "a@b.org")
    assert "(C)" in column(engine, "note", "text", *values, "2020-05-06")

"""Variable labels of SPSS, Stata and SAS files: shown, and used for roles like names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import sqlaudit
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import ProfileResult, Role
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.cli.runner import run

ROWS = 60
LABELS = {
    "v1": "Familienstand",
    "v2": "Diagnose ICD-10",
    "v3": "In welchem Jahr sind Sie geboren?",
    "v4": "Sozialversicherungsnummer",
    "v5": "How often do you use e-mail?",
    "v6": "Zufriedenheit",
    "sex": "Frage 7",
}
COLUMNS: dict[str, list[Any]] = {
    "v1": [float(i % 4) for i in range(ROWS)],
    "v2": [f"J{i % 5}{i % 3}" for i in range(ROWS)],
    "v3": [float(1940 + i % 40) for i in range(ROWS)],
    "v4": [float(10_000_000 + 7919 * i) for i in range(ROWS)],
    "v5": [float(i % 5) for i in range(ROWS)],
    "v6": [float(i % 3) for i in range(ROWS)],
    "sex": [float(i % 2) for i in range(ROWS)],
}
WRITERS = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}


def written(folder: Path, ending: str) -> Path:
    path = folder / f"survey.{ending}"
    WRITERS[ending](pd.DataFrame(COLUMNS), str(path), column_labels=[*LABELS.values()])
    return path


def text_of(profile: ProfileResult) -> str:
    return " ".join(render_text(document_of(profile), 100).split())


@pytest.mark.parametrize("ending", WRITERS)
def test_labels_give_roles_where_names_do_not(tmp_path: Path, ending: str) -> None:
    profile = sqlaudit.profile(written(tmp_path, ending), sets=False)
    found = {name: (profile.column(name).role, profile.column(name).proposal.concept) for name in LABELS}
    assert found == {
        "v1": (Role.QUASI_IDENTIFIER, "marital_status"),
        "v2": (Role.SENSITIVE, "health"),
        "v3": (Role.QUASI_IDENTIFIER, "birth_date"),
        "v4": (Role.DIRECT_IDENTIFIER, "national_id"),
        "v5": (Role.OTHER, None),  # the answers are five numbers, whatever the question is about
        "v6": (Role.OTHER, None),
        "sex": (Role.QUASI_IDENTIFIER, "sex"),
    }
    assert profile.column("v1").proposal.reasons[0] == "its label suggests marital status"
    assert profile.column("sex").proposal.reasons[0] == "its name suggests sex or gender"
    columns = {column["name"]: column for column in profile.to_dict()["columns"]}
    assert {name: column["label"] for name, column in columns.items()} == LABELS
    assert "v1 (Familienstand)" in text_of(profile)


def test_without_labels_nothing_is_known(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame(COLUMNS), str(tmp_path / "plain.sav"))
    profile = sqlaudit.profile(tmp_path / "plain.sav", sets=False)
    assert profile.column("v1").role is Role.OTHER
    assert "label" not in profile.to_dict()["columns"][0]


def test_an_audit_warns_of_labels(tmp_path: Path) -> None:
    result = sqlaudit.audit(written(tmp_path, "sav"), qi=["sex"], require=["k=5"])
    warned = {warning.code: warning.columns for warning in result.warnings}
    assert warned["possible_direct_identifier"] == ("v4",)
    assert warned["possible_quasi_identifier"] == ("v1", "v3")


def test_a_release_does_not_contain_what_a_label_names(tmp_path: Path) -> None:
    with pytest.raises(sqlaudit.UsageError, match=r"contains v4, which looks like a direct identifier"):
        sqlaudit.lattice(written(tmp_path, "sav"), qi=["sex"], require=["k=2"], to=tmp_path / "release.csv")
    assert not (tmp_path / "release.csv").exists()


def clauses_of(path: Path, first: str) -> set[tuple[str, str]]:
    """The columns in which Safe Harbor finds an identifier, with the status of its clause."""
    checks = sqlaudit.audit(path, qi=[first], preset=["hipaa-safe-harbor"]).checks
    clauses = next(check.details for check in checks if check.preset)["clauses"]
    return {(finding["column"], clause["status"]) for clause in clauses for finding in clause["found"]}


def test_safe_harbor_reads_labels(tmp_path: Path) -> None:
    columns = {"a": [float(i % 30) for i in range(ROWS)], "b": [float(70_000 + 37 * (i % 20)) for i in range(ROWS)]}
    labels = ["Age of the patient", "ZIP code of residence"]
    plain, labelled = tmp_path / "plain.sav", tmp_path / "labelled.sav"
    pyreadstat.write_sav(pd.DataFrame(columns), str(plain))
    pyreadstat.write_sav(pd.DataFrame(columns), str(labelled), column_labels=labels)
    found = {}
    for path in (plain, labelled):
        found[path.stem] = clauses_of(path, "a")
    assert found == {"plain": set(), "labelled": {("b", "not met")}}


def test_safe_harbor_does_not_decide_on_a_question(tmp_path: Path) -> None:
    path = written(tmp_path, "sav")
    assert {status for column, status in clauses_of(path, "sex") if column == "v5"} == {"not checked"}


def test_long_labels_with_breaks_are_one_short_line(tmp_path: Path) -> None:
    label = "Familienstand\nder   befragten Person " + "x" * 100
    pyreadstat.write_sav(pd.DataFrame({"v1": COLUMNS["v1"]}), str(tmp_path / "t.sav"), column_labels=[label])
    profile = sqlaudit.profile(tmp_path / "t.sav", sets=False)
    assert profile.column("v1").facts.label == "Familienstand der befragten Person " + "x" * 100
    assert "v1 (Familienstand der befragten Person xxxx…)" in text_of(profile)


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("Schulabschluss", "education"),
        ("Höchster_Schulabschluss", "education"),
        ("Geburtsjahr", "birth_date"),
        ("Postleitzahl", "postal_code"),
        ("Haushaltsnettoeinkommen", "income"),
        ("Haushaltsgröße", "household"),
        ("Staatsbürgerschaft", "nationality"),
        ("Wohngemeinde", "place"),
        ("Vorerkrankung", "health"),
        ("opleidingsniveau", "education"),
        ("huishoudinkomen", "income"),
        ("geboortejaar", "birth_date"),
        ("godsdienst", "religion"),
        ("woonplaats", "place"),
        ("födelseår", "birth_date"),
        ("kön", "sex"),
        ("åldersgrupp", "age"),
        ("civilstånd", "marital_status"),
        ("utbildningsnivå", "education"),
        ("hushållsinkomst", "income"),
        ("Jahresabschluss", None),
        ("Fettgehalt", None),
        ("Abbildung", None),
        ("kontakt", None),
    ],
)
def test_compounds(name: str, concept: str | None) -> None:
    found = concept_of(name)
    assert (found.name if found else None) == concept


def test_a_policy_to_begin_with_has_the_labels(tmp_path: Path) -> None:
    written(tmp_path, "sav")
    ran = run("init", tmp_path / "survey.sav", "-o", "-")
    assert (ran.code, ran.err) == (0, "")
    assert '- v1 # "Familienstand"; its label suggests marital status\n' in ran.out
    assert '- v4 # "Sozialversicherungsnummer"; its label suggests a national identity number' in ran.out


def test_labels_choose_default_levels(tmp_path: Path) -> None:
    born, code = [float(1950 + i % 40) for i in range(200)], [f"1011{i % 5}" for i in range(200)]
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(pd.DataFrame({"gj": born, "v": code}), str(path), column_labels=["Geburtsjahr", "PLZ"])
    found = sqlaudit.lattice(path, qi=["gj", "v"], require=["k=5"])
    assert [column.levels for column in found.columns] == [
        ("unchanged", "5 years", "10 years", "*"),
        ("unchanged", "4 digits", "3 digits", "2 digits", "1 digit", "*"),
    ]


@pytest.mark.parametrize(("name", "concept"), [("Familien-\nstand", "marital_status"), ("Fall-Nr.", "record_id")])
def test_a_hyphen_at_the_end_of_a_line_joins(name: str, concept: str) -> None:
    found = concept_of(name)
    assert found is not None
    assert found.name == concept


def test_postal_codes_are_not_numbers_written_as_texts(tmp_path: Path) -> None:
    codes = {"PLZ": [f"{10000 + 7 * (i % 40)}" for i in range(ROWS)], "Kosten": [f"{i % 7}.5" for i in range(ROWS)]}
    pd.DataFrame(codes).to_csv(tmp_path / "t.csv", index=False)
    profile = sqlaudit.profile(tmp_path / "t.csv", read={"all_text": True}, sets=False)
    assert not any("CAST" in reason for reason in profile.column("PLZ").proposal.reasons)
    assert any("CAST" in reason for reason in profile.column("Kosten").proposal.reasons)
    assert "Kosten has numbers as text." in text_of(profile)

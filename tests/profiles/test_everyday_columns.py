"""Columns as people have them: names in other languages, weights, births that are places, numbers kept as text."""

from __future__ import annotations

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.profiles.result import ProfileResult

NAMES = ["Anna Schneider", "Jürgen Müller", "Per Åberg", "Zoë Martin"]


@pytest.fixture(scope="module")
def profile() -> ProfileResult:
    numbers = range(48)
    return sqlaudit.profile(
        pd.DataFrame(
            {
                "Voller Name": [NAMES[i % 4] for i in numbers],
                "koko nimi": [NAMES[i // 3 % 4] for i in numbers],
                "company name": [NAMES[i // 5 % 4] for i in numbers],
                "sampling_weight": [100 + i % 7 / 4 for i in numbers],
                "fnlwgt": [1000 + i % 11 for i in numbers],
                "weight": [50 + i % 13 for i in numbers],
                "father_birth": [("Mexico", "Cuba", "Peru", "Chad", "Mali")[i % 5] for i in numbers],
                "betrag": [f"{i % 9},5" for i in numbers],
            }
        )
    )


def test_a_name_is_one_in_any_language(profile: ProfileResult) -> None:
    for name in ("Voller Name", "koko nimi"):
        assert (profile.column(name).role.value, profile.column(name).proposal.concept) == (
            "direct_identifier",
            "person_name",
        )
    assert profile.column("company name").role.value != "direct_identifier"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ФИО", ["Иван Петров", "Анна Смирнова", "Олег Иванов"]),
        ("имя", ["Иван", "Анна", "Олег"]),
        ("Ονοματεπώνυμο", ["Γιώργος Παππάς", "Μαρία Νικολάου", "Άννα Λάμπρου"]),
        ("氏名", ["山田太郎", "鈴木花子", "佐藤健"]),
        ("Adı Soyadı", ["Ayşe Yılmaz", "Ali Demir", "Can Kaya"]),
        ("Jméno a příjmení", ["Jan Novák", "Eva Malá", "Petr Dvořák"]),
        ("Kunde", ["Anna Schneider", "Jürgen Müller"]),
        ("patient", ["Schneider Anna", "Müller Jürgen"]),
    ],
)
def test_a_name_is_one_in_any_script(name: str, values: list[str]) -> None:
    frame = pd.DataFrame({name: [values[i // 3 % len(values)] for i in range(36)], "n": [i % 7 for i in range(36)]})
    found = sqlaudit.profile(frame, sets=False).column(name)
    assert (found.role.value, found.proposal.concept) == ("direct_identifier", "person_name")


def test_a_kind_of_customer_is_nobodys_name() -> None:
    frame = pd.DataFrame({"customer": ["new", "old", "gone"] * 12, "Kunde": [1, 2, 3] * 12})
    found = sqlaudit.profile(frame, sets=False)
    assert [found.column(name).role.value for name in ("customer", "Kunde")] == ["other", "other"]


def test_a_sampling_weight_is_no_visible_feature(profile: ProfileResult) -> None:
    for name in ("sampling_weight", "fnlwgt"):
        found = profile.column(name)
        assert found.role.value == "other"
        assert (
            found.proposal.reasons[0] == "its name suggests a sampling weight: number of people that a row represents"
        )
    assert profile.column("weight").role.value == "quasi_identifier"
    assert "name it with weights= instead" in profile.column("weight").proposal.reasons[1]


def test_a_birth_with_countries_is_no_date(profile: ProfileResult) -> None:
    found = profile.column("father_birth")
    assert (found.role.value, found.proposal.concept) == ("quasi_identifier", "nationality")
    assert found.proposal.reasons[0].startswith("its name suggests birth, but its values are not dates")


def test_numbers_kept_as_text_say_how_they_are_read(profile: ProfileResult) -> None:
    told = profile.column("betrag").proposal.reasons[-1]
    assert told == (
        "its texts are numbers: CAST(betrag AS DOUBLE) reads them as such, and where a comma stands before the "
        "decimals CAST(REPLACE(betrag, ',', '.') AS DOUBLE), or of a CSV file read=ReadOptions(decimal=',')"
    )
    frame = pd.DataFrame({"betrag": ["1,5", "2,5", "1,5"]})
    result = sqlaudit.audit(frame, qi=["CAST(REPLACE(betrag, ',', '.') AS DOUBLE)"])
    assert result.classes.count == 2


def test_hints_are_in_the_columns_of_the_table() -> None:
    from sqlaudit.audits.report import _instance

    assert _instance(["birth_date", "zip"]) == ", for example qi=['year(birth_date)']"
    assert _instance(["zip", "Alter"]) == ", for example qi=['floor(Alter / 10)']"
    assert _instance(["zip"]) == ""

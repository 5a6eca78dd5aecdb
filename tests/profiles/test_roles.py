"""What names and facts propose."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sqlaudit.profiles.columns import follow_twins, propose, sort_by_risk
from sqlaudit.profiles.names import CONCEPTS, WORDS, concept_of
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile, Proposal, Role, Twins

DIRECT, QUASI, SENSITIVE, OTHER = Role


def facts(name: str = "x", kind: str = "text", distinct: int = 40, **more: Any) -> ColumnFacts:
    """Facts of a column of 100 filled rows."""
    return ColumnFacts(name, "", kind, 100, more.pop("nulls", 0), distinct, True, 100, more.pop("filled", 100), **more)


def role(name: str = "x", kind: str = "text", distinct: int = 40, **more: Any) -> Role:
    return propose(facts(name, kind, distinct, **more)).role


NAMED = {
    "email": ["email", "E-Mail", "contactEmail"],
    "phone": ["mobile", "Telefonnummer", "home_phone"],
    "national_id": ["SSN", "passport_number"],
    "record_id": ["patient_id", "customerId", "id"],
    "person_name": ["first_name", "Vorname", "PRÉNOM", "apellidos", "nome", "name"],
    "address": ["street_name", "Straße"],
    "network_address": ["ip_addr"],
    "sex": ["sex", "Geschlecht", "male"],
    "birth_date": ["dob", "DateOfBirth", "birth_year", "Geburtsdatum"],
    "age": ["age", "Alter", "AGE_GROUP"],
    "postal_code": ["zip5", "PLZ", "Postcode"],
    "nationality": ["native-country", "country_of_birth"],
    "place": ["country", "city"],
    "ethnicity": ["race"],
    "marital_status": ["marital-status", "Familienstand"],
    "occupation": ["occupation", "jobTitle"],
    "education": ["education-num"],
    "event_date": ["admission_date"],
    "health": ["diagnosis", "icd10", "injtype", "is_pregnant"],
    "income": ["prewage", "annual_income", "Gehalt"],
    "religion": ["religion"],
    "orientation": ["sexual_orientation"],
    "offence": ["conviction"],
    None: ["page", "product_name", "has_email", "n_phones", "x", "", "42"],
}


def test_names_say_what_columns_hold() -> None:
    for concept, names in NAMED.items():
        found = [concept_of(name) for name in names]
        assert dict(zip(names, (f.name if f else None for f in found), strict=True)) == dict.fromkeys(names, concept)


def test_every_concept_has_its_words() -> None:
    assert [concept.name for concept in CONCEPTS] == list(WORDS)


@pytest.mark.parametrize("shape", ["email", "phone", "iban", "national_id", "card_number", "ip_address"])
def test_values_give_identifiers_away_whatever_the_name(shape: str) -> None:
    proposal = propose(facts("age", shapes={shape: 60, "other": 40}))
    assert (proposal.role, proposal.concept) == (DIRECT, shape)
    assert proposal.reasons[0].startswith("60% of its texts look like ")
    assert role("age", shapes={shape: 40, "other": 60}) is QUASI


def test_a_name_alone_makes_no_identifier_of_flags_amounts_and_dates() -> None:
    assert role("phone", distinct=30) is DIRECT
    assert role("phone", "integer", 2) is OTHER
    assert role("phone", "date", 30) is QUASI
    assert role("patient_id", "float", 30, whole_numbers=100) is DIRECT
    assert role("patient_id", "float", 30, whole_numbers=99) is OTHER
    assert role("first_name", "integer", 30) is OTHER


def test_free_text_names_of_persons_and_numbers_of_rows() -> None:
    assert role("remarks", shapes={"free_text": 20, "other": 80}) is DIRECT
    assert role("remarks", shapes={"free_text": 19, "other": 81}) is OTHER
    assert role("who", shapes={"capitalised_words": 70, "other": 30}) is DIRECT
    assert role("who", distinct=20, shapes={"capitalised_words": 70, "other": 30}) is OTHER
    assert role("city", shapes={"capitalised_words": 70, "other": 30}) is QUASI
    assert role("row", "integer", 100, width=99.0) is DIRECT
    assert role("row", "integer", 95, width=5000.0) is QUASI
    assert role("code", "text", 95) is DIRECT
    assert role("amount", "float", 95, whole_numbers=0) is QUASI
    assert role("amount", "float", 89, whole_numbers=0) is OTHER


def test_a_different_value_in_every_row_is_one_of_an_identifier() -> None:
    """Of whole numbers and texts; a measurement with fractions is different in every row anyway, and so are days."""
    assert role("no", "integer", 100, width=5000.0) is DIRECT
    assert role("no", "float", 100, whole_numbers=100) is DIRECT
    assert role("no", "text", 100, shapes={"number": 100}) is DIRECT
    assert role("no", "other", 100) is DIRECT
    assert role("no", "float", 100, whole_numbers=1) is QUASI
    assert role("seen", "timestamp", 100) is QUASI
    assert role("seen", "text", 100, shapes={"date": 100}) is QUASI
    few = dataclasses.replace(facts("no", "integer", 19, width=5000.0), rows=19, filled=19, examined_rows=19)
    assert propose(few).role is QUASI
    assert propose(dataclasses.replace(few, distinct=20, rows=20, filled=20)).role is DIRECT


def test_check_digits_must_be_right_in_many_different_values() -> None:
    """One number in eleven has the right one by chance; a form with letters, or an IBAN, has not."""
    assert propose(facts("x", distinct=20, shapes={"nhs_number": 50})).concept == "national_id"
    assert propose(facts("x", distinct=19, shapes={"nhs_number": 100})).role is OTHER
    assert propose(facts("x", shapes={"nhs_number": 100}, separation=0.5)).role is OTHER
    assert propose(facts("x", "integer", shapes={"bsn": 50})).reasons == (
        "50% of its numbers look like Dutch citizen service numbers (BSN)",
    )
    assert propose(facts("x", distinct=3, shapes={"iban": 50})).concept == "iban"
    assert propose(facts("x", distinct=3, shapes={"curp": 50})).concept == "national_id"
    assert propose(facts("x", shapes={"vin": 60})).concept == "vehicle"


def test_a_web_address_identifies_where_almost_every_row_has_its_own() -> None:
    assert propose(facts("x", distinct=95, shapes={"url": 100})).concept == "web_address"
    assert role("x", distinct=40, shapes={"url": 100}) is OTHER


def test_what_most_values_contain() -> None:
    found = propose(facts("x", "other", contains={"email": 50}))
    assert (found.role, found.concept) == (DIRECT, "email")
    assert found.reasons == ("50% of its values contain e-mail addresses",)
    assert role("x", "other", contains={"email": 49}) is OTHER
    assert role("x", "text", contains={"url": 100}) is OTHER


def test_dates_are_quasi_identifiers_also_as_text() -> None:
    assert role("seen", "date") is QUASI
    assert role("seen", "timestamp") is QUASI
    assert role("seen", "text", shapes={"date": 90, "other": 10}) is QUASI


def test_constant_columns_are_nothing() -> None:
    assert propose(facts("email", distinct=1)) == Proposal(OTHER, ("every row has the same value",))
    assert propose(facts("email", distinct=0, nulls=100, filled=0)) == Proposal(OTHER, ("it has no values",))


def test_reasons_count_and_hold_no_value() -> None:
    assert propose(facts("age", "integer", unique_rows=1)).reasons == ("its name suggests age",)
    assert propose(facts("race", unique_rows=0)).reasons[1].startswith("special category of data")
    assert propose(facts("zip", distinct=95, unique_rows=92)).reasons[1] == "almost every row has a different value"


def test_unknown_columns_follow_their_twins() -> None:
    columns = [ColumnProfile(f, propose(f)) for f in (facts("age"), facts("lage"), facts("y"), facts("z"))]
    twins = (Twins("age", "lage", False), Twins("y", "z", False))
    found = {c.name: (c.role, c.proposal.reasons[0]) for c in follow_twins(columns, twins)}
    assert found["lage"] == (QUASI, "it is equivalent to age")
    assert found["z"][0] is OTHER


def test_columns_are_sorted_by_role_and_risk() -> None:
    given = [facts("x", rows_below_5=0), facts("income", rows_below_5=0), facts("sex", rows_below_5=0)]
    given += [
        facts("age", rows_below_5=9),
        facts("email", rows_below_5=0),
        facts("zip", distinct=50, rows_below_5=None),
    ]
    result = sort_by_risk([ColumnProfile(f, propose(f)) for f in given])
    assert [column.name for column in result] == ["email", "zip", "age", "sex", "income", "x"]


def test_few_rows_are_never_nearly_unique() -> None:
    few = dataclasses.replace(facts(distinct=9), rows=9, filled=9, examined_rows=9)
    assert not few.nearly_unique
    assert dataclasses.replace(few, rows=10, filled=10, examined_rows=10).nearly_unique

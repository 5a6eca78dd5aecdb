"""Direct identifiers by content and by name: on every engine, against check digits in Python, and no false alarm."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlaudit
from benchmarks import identifiers as benchmark
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import FORMS, column_facts, list_sources, propose
from sqlaudit.profiles.identifying import ReleaseColumns, find_suspects
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import ProfileResult, Role
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.gates.thirty_tables import EMPTY, PEOPLE, THINGS, make_warehouse
from tests.places import REPOSITORY

NESTED = {
    "duckdb": "SELECT n % 3 AS age, ['x', 'u' || n || '@example.org'] AS list, {'n': n % 2, 'mail': 'u' || n || "
    "'@example.org'} AS pair, CAST('{\"mail\": \"u' || n || '@example.org\"}' AS JSON) AS doc, [n % 4] AS codes "
    "FROM generate_series(1, 40) AS g(n)",
    "postgres": "SELECT n % 3 AS age, ARRAY['x', 'u' || n || '@example.org'] AS list, ROW(n % 2, 'u' || n || "
    "'@example.org') AS pair, CAST('{\"mail\": \"u' || n || '@example.org\"}' AS JSONB) AS doc, ARRAY[n % 4] AS codes "
    "FROM generate_series(1, 40) AS g(n)",
    "spark": "SELECT n % 3 AS age, array('x', concat('u', n, '@example.org')) AS list, named_struct('n', n % 2, "
    "'mail', concat('u', n, '@example.org')) AS pair, concat('{\"mail\": \"u', n, '@example.org\"}') AS doc, "
    "array(n % 4) AS codes FROM (SELECT explode(sequence(1, 40)) AS n) AS g",
}


def profiled(engine: Engine, values: Sequence[Any], kind: str = "text") -> ProfileResult:
    """The profile of a column whose name says nothing."""
    return sqlaudit.profile(query=values_query([{"x": one} for one in values], {"x": kind}), db=engine, sets=False)


def passes(text: str) -> str | None:
    """The form that a number of digits has, by its check digit: the slow and obvious way."""
    figures = [int(one) for one in text]
    if len(text) == 10:
        return "nhs_number" if sum(n * w for n, w in zip(figures, range(10, 0, -1), strict=True)) % 11 == 0 else None
    if len(text) in (8, 9):
        figures = [0] * (9 - len(text)) + figures
        weights = [9, 8, 7, 6, 5, 4, 3, 2, -1]
        return "bsn" if sum(n * w for n, w in zip(figures, weights, strict=True)) % 11 == 0 else None
    if len(text) == 16:
        doubled = [n if place % 2 else sum(divmod(2 * n, 10)) for place, n in enumerate(figures)]
        known = text[0] in "46" or 51 <= int(text[:2]) <= 55 or 22 <= int(text[:2]) <= 27
        return "card_number" if known and sum(doubled) % 10 == 0 else None
    return None


@pytest.mark.parametrize("kind", ["text", "int"])
def test_check_digits_are_those_of_python(engine: Engine, kind: str) -> None:
    rng = random.Random(5)
    texts = [str(rng.randint(1, 9)) + "".join(rng.choices(string.digits, k=k - 1)) for k in [8, 9, 10, 16] * 60]
    expected = {name: sum(passes(text) == name for text in texts) for name in ("nhs_number", "bsn", "card_number")}
    assert all(expected.values())
    shapes = profiled(engine, texts if kind == "text" else [int(text) for text in texts], kind).columns[0].facts.shapes
    assert {name: shapes.get(name, 0) for name in expected} == expected


@pytest.mark.parametrize("name", benchmark.KINDS)
def test_every_kind_is_found_in_values_that_repeat(name: str) -> None:
    rng = random.Random(3)
    for draw in benchmark.KINDS[name]:
        assert benchmark.found_in(rng, draw) == (name, True)


@pytest.mark.parametrize("name", benchmark.DECOYS)
def test_what_only_looks_like_one_is_none(name: str) -> None:
    assert benchmark.found_in(random.Random(4), benchmark.DECOYS[name])[1] is False


def test_lists_structures_and_json_are_searched(engine: Engine) -> None:
    found = sqlaudit.profile(query=NESTED[engine.dialect], db=engine, sets=False)
    for name in ("list", "pair", "doc"):
        assert (found.column(name).role, found.column(name).proposal.concept) == (Role.DIRECT_IDENTIFIER, "email")
        assert found.column(name).facts.contains == {"email": 40}
    assert found.column("codes").facts.contains == {}
    warned = sqlaudit.audit(query=NESTED[engine.dialect], db=engine, qi=["age"]).warnings
    assert [one.columns for one in warned if one.code == "possible_direct_identifier"] == [("list", "pair", "doc")]
    with pytest.raises(UsageError, match="The release contains list, pair and doc, which look like direct ident"):
        sqlaudit.suppress(query=NESTED[engine.dialect], db=engine, qi=["age"], require={"k": 2}, publish_sql=True)


def test_types_of_postgres_are_read_as_text(postgres_url: str) -> None:
    query = (
        "SELECT CAST('10.0.' || n || '.1' AS INET) AS device, CAST('08:00:2b:01:02:' || (10 + n) AS MACADDR) AS card, "
        "CAST('{\"mail\": \"u' || n || '@example.org\"}' AS JSON) AS doc, CAST('ab' AS BYTEA) AS picture, "
        "CAST(n % 3 || ' days' AS INTERVAL) AS stay FROM generate_series(1, 40) AS g(n)"
    )
    with connect(postgres_url) as engine:
        found = sqlaudit.profile(query=query, db=engine, sets=False)
        concepts = {
            column.name: column.proposal.concept for column in found.columns if column.role is Role.DIRECT_IDENTIFIER
        }
        assert concepts == {"device": "ip_address", "card": "mac_address", "doc": "email"}
        warned = {one.code: one.columns for one in sqlaudit.audit(query=query, db=engine, qi=["stay"]).notices}
        assert warned["possible_direct_identifier"] == ("device", "card", "doc")


def test_one_address_in_a_text_is_said_and_not_written(engine: Engine) -> None:
    rows = [{"age": 20 + n % 2, "note": "fever" if n else "write to ann@example.org"} for n in range(24)]
    query = values_query(rows, {"age": "int", "note": "text"})
    found = sqlaudit.profile(query=query, db=engine, sets=False)
    assert found.column("note").role is Role.OTHER
    assert "note: 1 row contains an e-mail address." in render_text(document_of(found))
    (warned,) = (
        one
        for one in sqlaudit.audit(query=query, db=engine, qi=["age"]).notices
        if one.columns == ("note",) and one.code == "identifier_in_text"
    )
    assert warned.message == (
        "note: 1 row contains an e-mail address. Anyone named there can be identified, whatever the group size."
    )
    asked: dict[str, Any] = {"query": query, "db": engine, "qi": ["age"], "require": {"k": 2}, "publish_sql": True}
    with pytest.raises(UsageError, match="The release contains note, which looks like a direct identifier"):
        sqlaudit.suppress(**asked)
    assert "ann" not in render_text(document_of(found)) + warned.message
    assert sqlaudit.suppress(**asked, keep_column="note").release is not None


def test_what_is_inside_a_text(engine: Engine) -> None:
    texts = {
        "email": ["Ann <ann@example.org>", "to:ann.b@mail.example.co.uk!"],
        "iban": ["pay to DE89 3704 0044 0532 0130 00 today", "(GB29NWBK60161331926819)"],
        "national_id": ["ssn 123-45-6789."],
        "ip_address": ["from 192.168.1.10, twice"],
        "url": ["see https://example.org/a"],
    }
    for kind, listed in texts.items():
        for text in listed:
            assert profiled(engine, [text, text, "x"]).columns[0].facts.contains == {kind: 2}
    for text in ("3 @ 5 each", "a@b", "AB12 is CD34", "000-12-3456", "1.2.3.4.5", "1.2.3", "x://"):
        assert profiled(engine, [text, "x"]).columns[0].facts.contains in ({}, {"url": 1} if "://" in text else {})


def test_odd_values_are_read(engine: Engine) -> None:
    """Texts that are long, broken over lines, of other scripts, or nothing: each is a text like another."""
    # no text in a query of Spark has line breaks or tabs
    lines, tab = ("a b@c.de d", "1  2") if engine.dialect == "spark" else ("a\nb@c.de\nd", "1\t2")
    odd = ["", " ", "😀" * 50, lines, "x" * 100_000, tab, "9" * 42, "-" * 20, "Ⅷ٣٤٥٦٧٨٩٠١", "'; --", None]
    facts = profiled(engine, odd * 2).columns[0].facts
    assert sum(facts.shapes.values()) == facts.filled == 20
    assert facts.contains == {"email": 2}
    for values in ([], [None, None]):
        assert profiled(engine, values).columns[0].role is Role.OTHER
    name = 'the "mail" 😀'
    query = values_query([{name: f"u{n}@example.org"} for n in range(3)], {name: "text"})
    assert sqlaudit.profile(query=query, db=engine, sets=False).column(name).proposal.concept == "email"


def test_a_column_without_a_role_that_is_different_in_every_row_is_said(engine: Engine) -> None:
    kinds = {"age": "int", "serial": "int", "token": "text", "weight_kg": "float", "half": "int"}
    rows = [
        {"age": n % 2, "serial": 7919 * n, "token": f"t{n * n}", "weight_kg": n / 7 + 0.01, "half": n // 2}
        for n in range(30)
    ]
    query = values_query(rows, kinds)
    said = {one.code: one for one in sqlaudit.audit(query=query, db=engine, qi=["age"]).notices}
    assert said["all_different_column"].columns == ("serial", "token")
    assert said["all_different_column"].message == (
        "Without a role: serial and token have a different value in almost every row, like record numbers. Leave them "
        "out, or name them with insensitive= after a check."
    )
    reviewed = sqlaudit.audit(query=query, db=engine, qi=["age"], insensitive=["serial", "token"])
    assert "all_different_column" not in {one.code for one in reviewed.notices}
    profile = sqlaudit.profile(query=query, db=engine, sets=False)
    assert profile.column("serial").proposal.reasons == ("every row has a different value, like identifiers",)
    with pytest.raises(UsageError, match="serial, token and weight_kg without a role, which single out almost"):
        sqlaudit.suppress(query=query, db=engine, qi=["age"], require={"k": 2}, publish_sql=True)


def test_large_tables_are_all_different_where_a_sample_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate of the number of values is off by some percent; not one equal pair in the sample is not."""
    monkeypatch.setattr("sqlaudit.profiles.columns.SAMPLE_ROWS", 2000)
    monkeypatch.setattr("sqlaudit.profiles.columns.FEW_VALUES", 10)
    with connect() as engine:
        query = "SELECT n * 7919 AS serial, n // 2 AS half FROM generate_series(1, 20000) AS g(n)"
        found = sqlaudit.profile(query=query, db=engine, exact_rows=1000, sets=False)
    assert found.column("serial").facts.all_different
    assert found.column("serial").role is Role.DIRECT_IDENTIFIER
    assert not found.column("half").facts.all_different


def test_a_few_sampled_values_that_differ_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some four of 400 rows with one of 200 values: that they differ in the sample is no wonder."""
    monkeypatch.setattr("sqlaudit.profiles.columns.SAMPLE_ROWS", 200)
    monkeypatch.setattr("sqlaudit.profiles.columns.FEW_VALUES", 10)
    with connect() as engine:
        query = "SELECT CASE WHEN n <= 400 THEN 1000 + n % 200 END AS x FROM generate_series(1, 20000) AS g(n)"
        for _ in range(5):
            found = sqlaudit.profile(query=query, db=engine, exact_rows=1000, sets=False).column("x")
            assert not found.facts.all_different
            assert found.facts.distinct < 300


def test_of_many_rows_the_first_say_whether_check_digits_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.profiles.columns.FIRST_CHECKED", 30)
    rng = random.Random(6)
    rows = [
        {"a": benchmark.weighed(rng, *benchmark.NHS), "b": "1" + benchmark.digits(rng, 9), "age": n % 3}
        for n in range(60)
    ]
    with connect() as engine:
        query = values_query(rows, {"a": "text", "b": "text", "age": "int"})
        found = sqlaudit.profile(query=query, db=engine, sets=False)
    assert [one.name for one in found.statements].count("profile_values") == 3
    assert found.column("a").facts.shapes["nhs_number"] == 60
    assert found.column("b").facts.shapes["nhs_number"] == 0


def test_init_proposes_them_as_identifiers_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("people.duckdb") as db:
        db.execute(
            "CREATE TABLE people AS SELECT 20 + n % 5 AS age, ['f', 'm'][1 + n % 2] AS sex, n * 7919 AS serial, "
            "['u' || n || '@example.org'] AS contact FROM range(60) AS t(n)"
        )
    ran = run("init", "--db", "people.duckdb", "-o", "-")
    assert ran.code == 0, ran.err
    assert "- serial # every row has a different value, like identifiers" in ran.out
    assert "- contact # 100% of its values contain e-mail addresses" in ran.out


LANGUAGES = {
    "person_name": "Nachname Zuname Geburtsname nom_usuel nom_de_naissance prénom apellido1 Nombre primer_nombre "
    "achternaam voornaam voorletters tussenvoegsel INVNAM",
    "address": "Straße Hausnr Wohnadresse adresse dirección calle straatnaam huisnummer woonadres",
    "phone": "Telefonnummer Handynr téléphone no_tel teléfono móvil telefoonnummer mobiel",
    "email": "mail Mailadresse courriel correo emailadres",
    "national_id": "kvnr KV-Nr nhsno NHS_Number chi_number bsn burgerservicenummer steuer_id svnr AHV_Nr "
    "numero_securite_sociale num_secu NIR dni nie NIF num_seguridad_social rijksregisternummer personnummer cpr_nr "
    "pesel codice_fiscale ssn nino MBI_number npi",
    "record_id": "usubjid SUBJID patid PatNr pidnum case_no recno record_id IdNr ptid participant_id Fallnr "
    "num_dossier IPP historia_clinica patientnummer klantnr hadm_id cust_no emp_no",
    "account": "IBAN Kontonr rekeningnummer numero_de_compte num_cuenta polisnummer Versichertennr acct_no",
    "network_address": "ip_address client_ip mac_addr",
    "vehicle": "VIN kenteken Fahrgestellnummer",
    "web_address": "homepage linkedin_url",
    "": "nom_produit nom_commune nombre_enfants nombre_producto code_insee siteid studyid visitnum order_no "
    "product_code case case_notes record_type page idade num_patients has_ssn n_phones voie_administration adr mbi hcn "
    "account_type",
}


def test_names_of_clinical_trials_registers_and_exports_in_several_languages() -> None:
    found = {name: concept_of(name) for names in LANGUAGES.values() for name in names.split()}
    direct = {name: one.name if one and one.role is Role.DIRECT_IDENTIFIER else "" for name, one in found.items()}
    assert direct == {name: concept for concept, names in LANGUAGES.items() for name in names.split()}


def test_columns_of_public_schemas_by_name() -> None:
    """As the page says: 99 of 104 are found, and one of 188 others is taken for one."""
    named = [
        [(name, benchmark.is_direct(name)) for one in names for name in one.split()]
        for names in zip(*benchmark.SCHEMAS.values(), strict=True)
    ]
    direct, others = named
    assert (sum(found for _, found in direct), len(direct)) == (99, 104)
    assert ([name for name, found in others if found], len(others)) == (["street_number"], 188)


OF_PEOPLE = {
    "004-figure-1.csv": {"name"},
    "004-figure-3.csv": {"name"},
    "003-table-2.1-1.csv": {"id"},
    "003-table-2.1-2.csv": {"id"},
}


def direct(target: str, **options: Any) -> set[str]:
    """The columns that a profile calls direct identifiers."""
    return set(sqlaudit.profile(target, sets=False, **options).named(Role.DIRECT_IDENTIFIER))


def test_no_false_alarm_on_the_tables_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--save", "injury.csv").code == 0
    kept = [REPOSITORY / "examples/dbt/seeds/patients.csv", *sorted((REPOSITORY / "docs").glob("scale*.csv"))]
    tables = [*sorted((REPOSITORY / "sqlaudit/papers/tables").glob("*.csv")), *kept, tmp_path / "injury.csv"]
    assert len(tables) >= 30
    found = {table.name: direct(str(table)) for table in tables}
    assert {name: columns for name, columns in found.items() if columns} == OF_PEOPLE


@pytest.mark.parametrize("name", ["adult.csv", "adult_with_missing.csv", "adult_arx/adult.csv"])
def test_no_false_alarm_on_adult(name: str) -> None:
    table = REPOSITORY.parent / "shared/data" / name
    if not table.exists():
        pytest.skip("the table is not here")
    assert direct(str(table)) == set()


NUMBERED = {
    "patients": {"patient_id"},
    "admissions": {"admission_id", "patient_id"},
    "employees": {"employee_id"},
    "claims": {"claim_id", "member_id"},
}


def test_no_false_alarm_on_thirty_tables_of_a_warehouse(tmp_path: Path) -> None:
    """In tables of things, what numbers or names their rows is different in every row, and only that is proposed."""
    make_warehouse(tmp_path / "w.duckdb")
    with connect(str(tmp_path / "w.duckdb")) as engine:
        people = {name: direct(name, db=engine) for name in {**PEOPLE, **EMPTY}}
        assert {name: columns for name, columns in people.items() if columns} == NUMBERED
        for name in THINGS:
            found = sqlaudit.profile(name, db=engine, sets=False)
            assert all(found.column(column).facts.nearly_unique for column in found.named(Role.DIRECT_IDENTIFIER)), name


def test_the_data_of_forms_is_whole() -> None:
    assert {form.check for form in FORMS} == {"", "luhn", "mod97", "10", "11", "23"}
    for form in FORMS:
        assert len(form.letters) == len(form.counted)
        assert bool(form.weights) == form.check.isdigit()


CONTENT = {
    "mail": [f"u{n}＠example.org" for n in range(9)],
    "call": [f"tel:+49301234{n}" for n in range(9)],
    "tax": [f"123 45 100{n}" for n in range(9)],
    "port": [f"001A.2B3C.4D1{n}" for n in range(9)],
    "who": [f"0b51c0de-0000-4000-8000-0123456789a{n}" for n in range(9)],
    "position": [f"42.360{n}1, -71.05{n}89" for n in range(9)],
    "employee": [f"Ann Miller{'abcdefghi'[n]}" for n in range(9)],
    "spouse": [f"Bob Young{'abcdefghi'[n]}" for n in range(9)],
    "phone_num": [5551234 + 977 * n for n in range(9)],
    "num_mrn": [10051234 + 977 * n for n in range(9)],
}
"""Numbers and names of people, each of several rows."""
NO_CONTENT = {
    "tenant": ["0b51c0de-0000-4000-8000-0123456789ab", "1b51c0de-0000-4000-8000-0123456789ab"] * 5,
    "employment": ["Full Time", "Part Time"] * 5,
    "spouse": ["Lives With Spouse", "Lives Alone"] * 5,
    "interval": ["(0.123, 0.456)", "(1.234, 1.876)"] * 5,
    "phone_calls": [0, 1, 4, 9, 12] * 2,
    "ip_days": [0, 1, 4, 9, 12] * 2,
    "n_mrn": [0, 1, 2, 3, 5] * 2,
}
"""What looks like them and is shared by many people."""


def columns_query(columns: dict[str, list[Any]], rows: int) -> str:
    cells = [{name: values[row % len(values)] for name, values in columns.items()} for row in range(rows)]
    return values_query(cells, {name: "int" if isinstance(v[0], int) else "text" for name, v in columns.items()})


def test_numbers_and_names_of_people_that_repeat(engine: Engine) -> None:
    """Each is told by an audit's warning and keeps a release from being written."""
    for columns, expected in ((CONTENT, set(CONTENT)), (NO_CONTENT, set())):
        relation = engine.open(Target(query=columns_query(columns, 36)))
        looking, _ = find_suspects(engine, ReleaseColumns(relation, relation.columns, frozenset()))
        assert {*looking} == expected


def test_quantities_and_measurements_are_no_identifiers(engine: Engine) -> None:
    """All different whole numbers: amounts by their name, measurements by their decimals; codes stay identifiers."""
    spread = [(7 * n) % 40 for n in range(40)]
    quantities = {"total_cost": [1021 + 317 * n for n in spread], "platelets": [150 + n for n in spread]}
    quantities |= {"steps": [900 + 33 * n for n in spread], "viral_load": [40 + 811 * n for n in spread]}
    codes = {"code": [1021 + 317 * n for n in spread], "x1": [3 * n for n in spread], "pidnum": [7 * n for n in spread]}
    texts = {"value": [f"{n / 7:.3f}" for n in spread], "crp": [f"{n}.{n % 9 + 1}" for n in spread]}
    whole = {"a": [f"{n}.0" for n in spread], "b": [f"{n + 1}.000" for n in spread], "c": [f"{n}" for n in spread]}
    for columns, role in ((quantities, False), (texts, False), (codes, True), (whole, True)):
        relation = engine.open(Target(query=columns_query(columns, 40)))
        facts = column_facts(engine, relation, list_sources(relation, engine.dialect))
        assert {one.name: propose(one).role is Role.DIRECT_IDENTIFIER for one in facts} == dict.fromkeys(columns, role)

"""How many direct identifiers a profile finds, and how many it only believes to: precision and recall by column.

    python -m benchmarks.identifiers                  prints the tables of docs/columns.md
    python -m benchmarks.identifiers --seed 2         other tables of the same kinds

Two questions, each over columns with a known answer. By content: generated columns with names that say nothing, of
every kind that is recognised, and of numbers, codes and texts that look like one. Their values repeat, so that it is no
answer that every row is different. A tenth of them is missing or spoiled. By name: the columns of public schemas.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import string
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import pairwise

import duckdb
import pandas as pd

import sqlaudit
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import Role

Draw = Callable[[random.Random], object]
COLUMNS = 20
"""Columns of each kind."""
WORDS = [
    "patient",
    "seen",
    "again",
    "after",
    "three",
    "days",
    "with",
    "fever",
    "and",
    "dry",
    "cough",
    "advised",
    "rest",
]
LETTERS = string.ascii_uppercase


def digits(rng: random.Random, number: int) -> str:
    """So many random digits."""
    return "".join(rng.choices(string.digits, k=number))


def luhn(body: str) -> str:
    """Digits with their check digit by Luhn."""
    total = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(reversed(body)))
    return body + str(-total % 10)


def weighed(rng: random.Random, weights: list[int], modulus: int, own: int) -> str:
    """Random digits and a check digit that counts `own` times: their weighted sum is a multiple of the modulus."""
    while True:
        body = digits(rng, len(weights))
        total = sum(weight * int(digit) for weight, digit in zip(weights, body, strict=True))
        for check in range(10):
            if (total + own * check) % modulus == 0:
                return body + str(check)


def iban(rng: random.Random) -> str:
    """An account number of Germany, the Netherlands or Great Britain, half of them in groups of four."""
    country, body = rng.choice(
        [("DE", digits(rng, 18)), ("NL", "ABNA" + digits(rng, 10)), ("GB", "NWBK" + digits(rng, 14))]
    )
    number = int("".join(str(int(sign, 36)) for sign in f"{body}{country}00"))
    whole = f"{country}{98 - number % 97:02}{body}"
    return " ".join(whole[at : at + 4] for at in range(0, len(whole), 4)) if rng.random() < 0.5 else whole


def vin(rng: random.Random) -> str:
    """A number of a vehicle with its check digit in the ninth place."""
    signs = rng.choices("ABCDEFGHJKLMNPRSTUVWXYZ" + string.digits, k=17)
    counted = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    total = sum(weight * int(counted.get(sign, sign)) for weight, sign in zip(weights, signs, strict=True)) % 11
    signs[8] = "X" if total == 10 else str(total)
    return "".join(signs)


def email(rng: random.Random) -> str:
    """An e-mail address."""
    name = "".join(rng.choices(string.ascii_lowercase, k=6))
    return f"{name}{digits(rng, 2)}@{rng.choice(['x.org', 'mail.example.de'])}"


def sentence(rng: random.Random, inside: str = "") -> str:
    """Some words, with something among them."""
    words = rng.choices(WORDS, k=rng.randint(3, 12))
    words.insert(rng.randint(0, len(words)), inside)
    return " ".join(words)


def grouped(text: str, *sizes: int, by: str = " ") -> str:
    """A text in groups of these sizes."""
    ends = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    return by.join(text[begin:end] for begin, end in pairwise(ends))


def day(rng: random.Random) -> date:
    """A day of the last years."""
    return date(2015, 1, 1) + timedelta(rng.randrange(3000))


NHS = [*range(10, 1, -1)], 11, 1
BSN = [*range(9, 1, -1)], 11, -1
PESEL = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3], 10, 1
KINDS: dict[str, list[Draw]] = {
    "email": [
        email,
        lambda r: [email(r), "x"],
        lambda r: {"to": email(r), "n": r.randrange(9)},
        lambda r: json.dumps({"n": r.randrange(9), "contact": {"mail": email(r)}}),
        lambda r: sentence(r, email(r)),
    ],
    "iban": [iban, lambda r: [iban(r)], lambda r: json.dumps({"account": iban(r)}), lambda r: sentence(r, iban(r))],
    "card_number": [
        lambda r: luhn("4" + digits(r, 14)),
        lambda r: int(luhn("53" + digits(r, 13))),
        lambda r: grouped(luhn("4" + digits(r, 14)), 4, 4, 4, 4),
        lambda r: grouped(luhn("37" + digits(r, 12)), 4, 6, 5, by="-"),
    ],
    "national_id": [
        lambda r: weighed(r, *NHS),
        lambda r: grouped(weighed(r, *NHS), 3, 3, 4),
        lambda r: int(weighed(r, *NHS)),
        lambda r: weighed(r, *BSN),
        lambda r: int(weighed(r, *BSN)),
        lambda r: f"{r.randint(1, 665):03}-{r.randint(1, 99):02}-{r.randint(1, 9999):04}",
        lambda r: (number := digits(r, 8)) + "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23],
    ],
    "vehicle": [vin],
    "ip_address": [
        lambda r: ".".join(str(r.randrange(256)) for _ in range(4)),
        lambda r: ":".join(f"{r.randrange(65536):x}" for _ in range(8)),
    ],
    "phone": [
        lambda r: f"+49 {r.randint(30, 999)} {digits(r, 7)}",
        lambda r: f"(0{r.randint(30, 999)}) {digits(r, 6)}",
        lambda r: "06" + "".join(f" {digits(r, 2)}" for _ in range(4)),
        lambda r: f"{r.randint(201, 989)}-{digits(r, 3)}-{digits(r, 4)}",
    ],
}
DECOYS: dict[str, Draw] = {
    "order number": lambda r: f"{r.randint(2015, 2026)}-{digits(r, 6)}",
    "order number with letters": lambda r: f"PO{digits(r, 8)}",
    "whole number of nine digits": lambda r: r.randrange(10**8, 10**9),
    "whole number of ten digits": lambda r: r.randrange(10**9, 10**10),
    "digits, ten of them": lambda r: digits(r, 10),
    "digits, sixteen in groups of four": lambda r: grouped(digits(r, 16), 4, 4, 4, 4),
    "whole number of sixteen digits": lambda r: r.randrange(10**15, 10**16),
    "amount": lambda r: round(r.random() * 10**5, 2),
    "amount as text": lambda r: f"{r.random() * 10**4:.2f}".replace(".", ","),
    "time": lambda r: f"{day(r)} {r.randrange(24):02}:{r.randrange(60):02}:00",
    "day as a number": lambda r: int(day(r).strftime("%Y%m%d")),
    "duration": lambda r: f"{r.randrange(24)}:{r.randrange(60):02}:{r.randrange(60):02}:{r.randrange(100):02}",
    "hash": lambda r: hashlib.md5(digits(r, 9).encode()).hexdigest(),
    "product code": lambda r: f"{''.join(r.choices(LETTERS, k=2))}-{digits(r, 5)}",
    "code of seventeen characters": lambda r: "".join(r.choices(LETTERS + string.digits, k=17)),
    "code that looks like an IBAN": lambda r: f"DE{digits(r, 20)}",
    "book number (ISBN)": lambda r: f"978-{r.randrange(10)}-{digits(r, 4)}-{digits(r, 4)}-{r.randrange(10)}",
    "article number (EAN)": lambda r: "40" + digits(r, 11),
    "version": lambda r: f"{r.randrange(9)}.{r.randrange(20)}.{r.randrange(99)}",
    "version of four parts": lambda r: f"{r.randrange(9)}.{r.randrange(20)}.{r.randrange(99)}.{r.randrange(4000)}",
    "diagnosis code": lambda r: f"{r.choice(LETTERS)}{digits(r, 2)}.{r.randrange(10)}",
    "page of a shop": lambda r: f"https://example.org/p/{r.randrange(60)}",
    "text with @": lambda r: f"{r.randint(1, 9)} @ {r.random() * 9:.2f} each",
    "few words": lambda r: r.choice(WORDS),
    "list of codes": lambda r: [f"{r.choice(LETTERS)}{digits(r, 2)}" for _ in range(2)],
    "JSON of figures": lambda r: json.dumps({"w": r.randrange(100), "v": [r.randrange(9)], "t": str(day(r))}),
    "article number with dashes": lambda r: f"{digits(r, 2)}-{digits(r, 3)}-{digits(r, 4)}",
}
SCHEMAS: dict[str, tuple[str, str]] = {
    "Synthea patients": (
        "Id SSN DRIVERS PASSPORT FIRST LAST MAIDEN ADDRESS",
        "BIRTHDATE DEATHDATE PREFIX SUFFIX MARITAL RACE ETHNICITY GENDER BIRTHPLACE CITY STATE COUNTY ZIP LAT LON "
        "HEALTHCARE_EXPENSES HEALTHCARE_COVERAGE INCOME",
    ),
    "FEBRL": (
        "rec_id given_name surname address_1 address_2 soc_sec_id",
        "street_number suburb postcode state date_of_birth blocking_number",
    ),
    "CDISC DM": (
        "USUBJID SUBJID INVID INVNAM",
        "STUDYID DOMAIN RFSTDTC RFENDTC SITEID BRTHDTC AGE AGEU SEX RACE ETHNIC ARMCD ARM COUNTRY DMDTC DMDY VISITNUM",
    ),
    "OMOP person, death, visit": (
        "person_id person_source_value visit_occurrence_id",
        "gender_concept_id year_of_birth month_of_birth race_concept_id location_id care_site_id cause_concept_id "
        "visit_start_date visit_type_concept_id admitted_from_concept_id discharged_to_concept_id",
    ),
    "MIMIC-IV": (
        "subject_id hadm_id stay_id",
        "gender anchor_age anchor_year dod admittime dischtime admission_type admission_location insurance language "
        "marital_status race hospital_expire_flag first_careunit los icd_code seq_num",
    ),
    "NHS HES": (
        "NEWNHSNO EXTRACT_HESID LOPATID",
        "ADMIDATE ADMIMETH DISDATE EPISTART EPIORDER ETHNOS SEX STARTAGE DIAG_01 OPERTN_01 PROCODE LSOA11 SPELDUR",
    ),
    "Titanic": ("PassengerId Name Ticket", "Survived Pclass Sex Age SibSp Parch Fare Cabin Embarked"),
    "North Carolina voters": (
        "voter_reg_num ncid last_name first_name middle_name res_street_address mail_addr1 full_phone_number",
        "county_id status_cd reason_cd race_code ethnic_code party_cd gender_code birth_year age_at_year_end "
        "registr_dt precinct_abbrv confidential_ind drivers_lic",
    ),
    "Northwind": (
        "CustomerID EmployeeID LastName FirstName ContactName Address HomePhone Fax Photo",
        "CompanyName ContactTitle City Region PostalCode Country OrderDate Freight ShipVia UnitPrice Quantity Discount "
        "ProductName ReorderLevel Discontinued Title BirthDate HireDate",
    ),
    "Versichertendaten": (
        "KVNR Versichertennummer Nachname Vorname Geburtsname Strasse Hausnummer Telefon Handy E_Mail IBAN Fallnummer "
        "PatientenID Ansprechpartner SteuerID Rentenversicherungsnummer",
        "Geburtsjahr Geschlecht PLZ Ort Bundesland Kassenart Leistungsart Betrag Diagnose Aufnahmedatum Fachabteilung "
        "Versicherungsstatus Tarif Beitrag Anzahl_Faelle",
    ),
    "Patients (France)": (
        "IPP NIR nom_usuel nom_naissance prenom adresse telephone courriel num_dossier numero_securite_sociale nom",
        "sexe date_naissance code_postal commune code_insee nom_produit nom_commune nombre_enfants profession montant "
        "date_entree mode_sortie diagnostic_principal",
    ),
    "Pacientes (España)": (
        "dni nombre apellido1 apellidos direccion telefono correo_electronico num_historia nhc tarjeta_sanitaria",
        "sexo fecha_nacimiento edad codigo_postal municipio provincia nombre_producto importe diagnostico "
        "fecha_ingreso servicio",
    ),
    "Patiënten (Nederland)": (
        "bsn burgerservicenummer achternaam voornaam voorletters adres huisnummer telefoonnummer emailadres "
        "patientnummer polisnummer rekeningnummer",
        "geslacht geboortejaar leeftijd postcode woonplaats gemeente diagnose opnamedatum specialisme bedrag aantal",
    ),
    "Shop": (
        "customer_no email_address phone_number ip_address billing_address credit_card cust_id user_name",
        "order_no product_code sku quantity unit_price currency has_email n_phones page_views record_type "
        "payment_method status created_at tax_rate is_gift ship_mode",
    ),
}


def column(rng: random.Random, draw: Draw) -> list[object]:
    """Values that repeat, a tenth of them missing or spoiled."""
    values = [draw(rng) for _ in range(rng.randint(40, 150))]
    rows = [*values, *rng.choices(values, k=len(values))]
    return [None if rng.random() < 0.05 else row for row in rows[:-5]] + [values[0]] * 5


def found_in(rng: random.Random, draw: Draw) -> tuple[str | None, bool]:
    """The kind that a profile finds in a column that says nothing by its name, and whether it is an identifier."""
    values = column(rng, draw)
    if isinstance(values[-1], str):
        values = ["?" if isinstance(one, str) and rng.random() < 0.05 else one for one in values]

    with duckdb.connect() as database:
        frame = pd.DataFrame({"c": pd.Series(values, dtype=object if not isinstance(values[-1], int) else "Int64")})
        database.register("frame", frame)
        database.execute("CREATE TABLE t AS SELECT * FROM frame")
        proposal = sqlaudit.profile("t", db=database, sets=False).columns[0].proposal
    return proposal.concept, proposal.role is Role.DIRECT_IDENTIFIER


def by_content(rng: random.Random) -> Iterator[str]:
    """The table of kinds, and a line for each decoy that is taken for one."""
    found: dict[str, Counter[str]] = {}
    wrong: Counter[str] = Counter()
    for kind, draws in KINDS.items():
        found[kind] = Counter()
        for number in range(COLUMNS):
            concept, identifies = found_in(rng, draws[number % len(draws)])
            found[kind][(concept or "unnamed") if identifies else "nothing"] += 1
    decoys: dict[str, Counter[str]] = {}
    for name, draw in DECOYS.items():
        results = (found_in(rng, draw) for _ in range(COLUMNS))
        decoys[name] = Counter(concept or "unnamed" for concept, identifies in results if identifies)
        wrong += decoys[name]
    yield "| kind | columns | found | recall | precision |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind, counted in found.items():
        right = counted[kind]
        called = sum(one[kind] for one in found.values()) + wrong[kind]
        yield f"| `{kind}` | {COLUMNS} | {right} | {right / COLUMNS:.0%} | {right / called if called else 1:.0%} |"
    false = sum(wrong.values())
    yield f"| decoys | {COLUMNS * len(DECOYS)} | {false} called an identifier | | |"
    for name, counted in decoys.items():
        if counted:
            yield f"{name}: {dict(counted)}"
    for kind, counted in found.items():
        if missed := {concept: number for concept, number in counted.items() if concept != kind}:
            yield f"{kind} taken for: {missed}"


def by_name() -> Iterator[str]:
    """The table of schemas, and what is missed or wrong in each."""
    yield "| schema | identifiers | found | others | called an identifier |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    said, totals = [], Counter[str]()
    for schema, (direct, other) in SCHEMAS.items():
        named = {name for name in (direct + " " + other).split() if is_direct(name)}
        missed, wrong = [{*direct.split()} - named, named - {*direct.split()}]
        identifiers, others = len(direct.split()), len(other.split())
        totals.update(identifiers=identifiers, found=identifiers - len(missed), others=others, wrong=len(wrong))
        yield f"| {schema} | {identifiers} | {identifiers - len(missed)} | {others} | {len(wrong)} |"
        said += [f"{schema}: missed {sorted(missed)}, wrong {sorted(wrong)}"] if missed or wrong else []
    yield f"| all | {totals['identifiers']} | {totals['found']} | {totals['others']} | {totals['wrong']} |"
    yield from said
    yield f"recall {totals['found'] / totals['identifiers']:.1%}, "
    yield f"precision {totals['found'] / (totals['found'] + totals['wrong']):.1%}"


def is_direct(name: str) -> bool:
    """Whether a name suggests a direct identifier."""
    concept = concept_of(name)
    return concept is not None and concept.role is Role.DIRECT_IDENTIFIER


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    rng = random.Random(parser.parse_args().seed)
    print(*by_content(rng), "", *by_name(), sep="\n")


if __name__ == "__main__":
    main()

"""What names of columns say in several languages: persons, things, and tables that are counts already."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import command, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.result import NEARLY, ColumnProfile, CountTable, Role
from sqlaudit.reports.document import listing

# Words in column names by what they mean, in several languages and scripts, without accents and in small letters.
#
# Two words stand for themselves joined or apart (birth date: birthdate, birth_date). `diagn…` is a beginning, `…wage`
# an ending, `=name` the whole name of a column.

WORDS = {
    "email": "email…, e mail…, …email, courriel, correo, correo electronico",
    "phone": "phone…, …phone, mobile, fax, tel, telefon…, handy, telephone, movil, celular, cellulare, gsm, msisdn",
    "national_id": """
        ssn, social security…, social insurance…, national id…, nhs, nhs number, passport…, identity card, tax
        id…, nif, nie, dni, cpf, curp, nir, insee, pesel, bsn, personnummer, codice fiscale, steuernummer, steuer
        id…, ausweis…, personal number, driver license…, drivers license…, driving licence…, aadhaar
    """,
    "account": """
        iban, account number, account no, bank account, card number, credit card, kontonummer, kreditkarte, policy
        number, versichertennummer, insurance number, member number
    """,
    "record_id": """
        mrn, medical record…, patient id, patient no, patient number, pid, person id, customer id, client id,
        employee id, emp id, user id, userid, member id, student id, subject id, subscriber id, patienten nr,
        patienten id, kundennummer, kunden nr, personalnummer, matrikelnummer, =id, =uuid, =guid, case id, case
        number, claim id, claim number, record id, fallnummer
    """,
    "person_name": """
        surname, last name, lname, first name, fname, forename, given name, family name, maiden name, middle name,
        full name, voller name, vollstandiger name, nom complet, nombre completo, nome completo, volledige naam,
        nominativo, versicherter name, fullt namn, fulde navn,
        nickname, user name, patient name, customer name, client name, employee name, person name,
        contact name, student name, doctor name, physician name, =name, =names, vorname, nachname, familienname,
        geburtsname, rufname, prenom, nom, nom de famille, apellido…, nombre, nombres, cognome, =nome, sobrenome,
        apelido, achternaam, voornaam, =naam, imie, nazwisko, efternamn, fornamn, etternavn, fornavn, efternavn,
        sukunimi, etunimi, ad soyad, adi soyadi, soyad, soyadi, prezime, jmeno, prijmeni, meno, priezvisko, nume,
        prenume, vezeteknev, keresztnev, csaladnev, teljes nev, koko nimi, фио, имя, фамилия, отчество, прізвище, ονομα,
        επωνυμο, ονοματεπωνυμο, 氏名, 姓名, 名前, 이름, 성명, 성함, الاسم, اسم
    """,
    "address": """
        address…, street…, house number, adresse, strasse, hausnummer, anschrift, rue, direccion, calle,
        domicilio, indirizzo, endereco, adres, straat
    """,
    "network_address": "ip, ip address…, ipv 4, ipv 6, mac address, imei, device id, cookie id, advertising id",
    "likeness": "photo…, portrait, fingerprint, biometric…, signature, unterschrift, voice print",
    "vehicle": "vin, license plate…, licence plate…, number plate, kennzeichen",
    "sampling_weight": """
        sampling weight, sample weight, survey weight, design weight, person weight, household weight, replicate
        weight, final weight, pweight…, fweight, fnlwgt, wgt, wgtp, pwgtp, perwt, hhwt, hochrechnung…, gewichtung…,
        stichprobengewicht, poids de sondage, ponderation, ponderacion, factor de expansion
    """,
    "nationality": """
        nationalit…, citizen…, native country, birthplace, place of birth, country of birth, staatsangehor…,
        nacionalid…, cittadinanza, immigra…, migration…
    """,
    "sex": "sex, sexe, sexo, sesso, gender…, geschlecht, genre, genero, genere, geslacht, plec, kjonn, male, female",
    "birth_date": """
        birth…, dob, yob, date of birth, born, geburt…, gebdat, naissance, date naissance, nacimiento, nascita,
        nascimento, geboorte…, fodelse…, fodsels…, urodzenia
    """,
    "age": "age, ages, alter, edad, eta, idade, leeftijd, wiek, alder, ika, age group, altersgruppe, age band",
    "postal_code": """
        zip, zip code, zcta, postcode, postal…, plz, postleitzahl, code postal, codigo postal, cep, eircode
    """,
    "place": """
        city, town, village, county, region…, state, province, district, municip…, borough, neighbo…, country,
        nation, residence, location, wohnort, ort, stadt, gemeinde, landkreis, bundesland, land, ville, commune,
        departement, pays, ciudad, municipio, provincia, pais, citta, comune, cidade, estado, gemeente, census
        tract, block group, lsoa, msoa, hospital, clinic, school, schule, ecole
    """,
    "coordinates": "lat, lon, lng, latitude, longitude, latlon, geo…, gps…, easting, northing",
    "ethnicity": "race, racial…, ethnic…, ethnie, raza, raca, hispanic, skin colo…",
    "language": "language…, mother tongue, sprache, muttersprache, langue, idioma, lingua, taal",
    "marital_status": """
        marital…, married, marriage, spouse, widowed, divorced, single, familienstand, etat civil, situation
        familiale, estado civil, stato civile, burgerlijke staat, relationship, civil status
    """,
    "household": """
        household…, family size, children, kids, dependents, siblings, kinder, enfants, hijos, haushalt…, persons
        in household
    """,
    "occupation": """
        occupation…, job…, profession, employ…, workclass, work class, industry, indust, beruf…, branche,
        arbeitgeber, metier, ocupacion, profesion, professione, profissao, beroep, zawod, military…, veteran
    """,
    "education": """
        educ…, degree, schooling, graduat…, diploma, bildung…, abschluss, studium, estudios, istruzione, opleiding
    """,
    "body": "height, weight, bmi, hair colo…, eye colo…, groesse, gewicht, taille, poids",
    "event_date": """
        admission…, admit…, discharge…, hospitali…, visit date, death…, died, dod, aufnahme…, entlass…, enrol…,
        hire date, hired, start date, end date, date, datum, fecha
    """,
    "health": """
        diagn…, icd…, disease…, illness…, condition…, disorder…, symptom…, injur…, inj…, disab…, health…, medic…,
        drug…, therap…, treatment…, surgery, procedure, drg, hiv, cancer, diabet…, pregnan…, mental…, depress…,
        allerg…, blood…, genetic…, genom…, krank…, befund, medikament…, maladie, enfermedad, malattia, doenca,
        ziekte, chronic…, vaccin…, impf…, smok…, alcohol…, substance…, occdis, dosage, cholesterol, test result
    """,
    "income": """
        …income…, …salar…, …wage, …wages, earn…, pay, payment…, compensation, benefit…, bonus, pension…, debt…,
        loan…, credit…, balance, wealth, asset…, net worth, capital gain, capital loss, gehalt, lohn, einkommen,
        vermogen, schulden, salaire, revenu, salario, ingresos, stipendio, reddito, renda, inkomen, tax…, rent,
        mortgage…
    """,
    "religion": "relig…, faith, denomination, church, konfession, belief…",
    "politics": "politic…, party, vote…, voting, partei",
    "union": "union, trade union…, gewerkschaft, syndicat, sindicato, sindacato",
    "orientation": "sexual…, orientation, lgbt…, sexuelle…, orientierung",
    "offence": """
        crim…, offen…, convict…, arrest…, sentence…, prison…, felony, vorstrafe…, delit, delito, reato, recidiv…,
        fraud…
    """,
    "assessment": "grade…, marks, score…, exam…, iq, rating…, performance…, appraisal, zeugnis…, besoldung…",
}
"""Words separated by commas, in the order in which concepts are tried: what is special comes before what is general."""


# What a column's name says about what it holds, in several languages. Words only; values are not looked at here.

_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_SPECIAL = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d"})
_ABOUT = {"has", "is", "num", "count", "cnt", "n", "nb", "flag", "opt", "verified", "valid", "length", "anzahl"}
"""Beside one of these a word speaks of a fact about an identifier, not of the identifier: has_email, n_phone."""

_NUMBER = {"id", "nr", "no", "number", "nummer", "key"}
"""Beside one of these a word speaks of a number: admission_id is no day; date_key may be one."""
_DAY = {"date", "datum", "fecha", "dt"}


@dataclass(frozen=True)
class Concept:
    """Something that columns hold.

    Args:
        name: a stable word. role: what it makes of a column. said: how a reason speaks of it.
        doubt: what a reader should know before following the proposal.
    """

    name: str
    role: Role
    said: str
    doubt: str = ""


def concept_of(column: str) -> Concept | None:
    """What a column's name says it holds, None when it says nothing.

    Example:
        >>> concept_of("DateOfBirth").name, concept_of("Geschlecht").name, concept_of("page")
        ('birth_date', 'sex', None)
    """
    tokens = words_of(column)
    about = bool(set(tokens) & _ABOUT)
    number = bool(set(tokens) & _NUMBER) and not set(tokens) & _DAY
    for concept in CONCEPTS:
        other = (about and concept.role is Role.DIRECT_IDENTIFIER) or (number and concept.name == "event_date")
        if not other and _means(concept.name, tokens):
            return concept
    return None


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents: at case changes, digits and everything that is neither.

    Example:
        >>> words_of("Prénom_du patientID2")
        ('prenom', 'du', 'patient', 'id', '2')
    """
    plain = unicodedata.normalize("NFKD", name.translate(_SPECIAL))
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word.lower() for word in _BOUNDARY.split(bare) if word)


@functools.cache
def _patterns(concept: str) -> tuple[tuple[str, list[str]], ...]:
    """The words of a concept, each with the pieces that a name must have before it is worth a regular expression."""
    listed = [" ".join(words.split()) for words in WORDS[concept].split(",")]
    return tuple((words, words.removeprefix("=").replace("…", " ").split()) for words in listed)


@functools.cache
def _pattern(words: str) -> re.Pattern[str]:
    """Two words may be joined; … stands for the rest of a word."""
    spelled = re.escape(words.removeprefix("=")).replace("…", "[a-z]*").replace(r"\ ", " ?")
    return re.compile(f"^{spelled}$" if words.startswith("=") else f"(?:^| ){spelled}(?: |$)")


def _means(concept: str, tokens: tuple[str, ...]) -> bool:
    name = " ".join(tokens)
    return any(_pattern(words).search(name) for words, pieces in _patterns(concept) if all(p in name for p in pieces))


_D, _Q, _S = Role.DIRECT_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_CATEGORY = "it is a special category of data (GDPR, article 9), so it may be sensitive as well"

CONCEPTS = (
    Concept("email", _D, "an e-mail address"),
    Concept("phone", _D, "a phone number"),
    Concept("national_id", _D, "a national identity number"),
    Concept("account", _D, "an account or card number"),
    Concept("record_id", _D, "a number of a person's record"),
    Concept("person_name", _D, "a person's name"),
    Concept("address", _D, "a street address", "a town or region would do"),
    Concept("network_address", _D, "an address of a device"),
    Concept("likeness", _D, "a likeness or trace of a person"),
    Concept("vehicle", _D, "a number of a vehicle"),
    Concept("sampling_weight", Role.OTHER, "a sampling weight: how many people a row stands for"),
    Concept("nationality", _Q, "nationality or origin"),
    Concept("sex", _Q, "sex or gender"),
    Concept("birth_date", _Q, "a date or year of birth"),
    Concept("age", _Q, "age"),
    Concept("postal_code", _Q, "a postal code"),
    Concept("place", _Q, "a place"),
    Concept("coordinates", _Q, "coordinates"),
    Concept("ethnicity", _Q, "race or ethnic origin", _CATEGORY),
    Concept("language", _Q, "a language"),
    Concept("marital_status", _Q, "marital status"),
    Concept("household", _Q, "household or family"),
    Concept("occupation", _Q, "occupation or work"),
    Concept("education", _Q, "education"),
    Concept("body", _Q, "a visible feature of a person"),
    Concept("event_date", _Q, "a date that others may know"),
    Concept("health", _S, "health"),
    Concept("income", _S, "income or wealth"),
    Concept("religion", _S, "religion or belief"),
    Concept("politics", _S, "political opinion"),
    Concept("union", _S, "trade union membership"),
    Concept("orientation", _S, "sexual life or orientation"),
    Concept("offence", _S, "offences"),
    Concept("assessment", _S, "an assessment of a person"),
)
"""In the order of `WORDS`."""


# Tables that are about things and not about people: calendars, lists of values, measurements, what machines keep.
#
# A requirement on persons says nothing of them. Nothing is taken for such a table that has one column which only people
# have, or health together with a place or a day: who is in doubt looks at the table.

_PLACES = {"place", "postal_code", "coordinates", "language", "nationality"}
_VAGUE = {*_PLACES, "event_date", "occupation", "education", "health", "income", "assessment", "body"}
"""What things have as well as people."""
_LISTED = {*_PLACES, "occupation", "education", "health", "marital_status", "sex", "ethnicity", "religion"}
"""What lists of values are made of."""
_BARE = {"id", "uuid", "guid", "name", "names", "nome", "naam", "description", "title", "label", "bezeichnung"}
_OF_A_BODY = {"hair", "eye", "bmi"}
_OF_SOMEBODY = {"admission", "admitted", "discharge", "death", "died", "dod", "hired", "hire", "enrolment", "aufnahme"}
_PERSONS = {  # and what persons do
    *(
        "person",
        "persons",
        "people",
        "patient",
        "patients",
        "customer",
        "customers",
        "client",
        "clients",
        "user",
        "users",
    ),
    *("member", "members", "employee", "employees", "student", "students", "subject", "subjects", "insured", "citizen"),
    *("kunde", "kunden", "mitarbeiter", "versicherte", "proband", "personen", "visitor", "household", "staff"),
    *("visit", "visits", "order", "orders", "purchase", "purchases", "sale", "sales", "transaction", "transactions"),
    *("booking", "bookings", "trip", "trips", "claim", "claims", "case", "cases", "survey", "respondent", "response"),
    *("rating", "ratings", "review", "reviews", "besuche", "buchungen", "umfrage", "access", "logins", "session"),
}
_CALENDAR = {
    *("date", "datum", "day", "days", "tag", "weekday", "wochentag", "week", "woche", "month", "monat", "quarter"),
    *(
        "quartal",
        "year",
        "jahr",
        "hour",
        "stunde",
        "minute",
        "second",
        "half",
        "season",
        "holiday",
        "feiertag",
        "weekend",
    ),
    *("fiscal", "calendar", "kalender", "yyyymm", "yyyymmdd", "semester", "decade"),
}
_OF_THINGS = {
    *(
        "product",
        "products",
        "produkt",
        "item",
        "items",
        "article",
        "articles",
        "artikel",
        "sku",
        "catalogue",
        "catalog",
    ),
    *("currency", "currencies", "exchange", "price", "prices", "stock", "inventory", "weather", "calendar", "kalender"),
    *("holidays", "feiertage", "codes", "codelist", "lookup", "dim", "dimension", "etl", "migrations", "migration"),
    *("alembic", "flyway", "databasechangelog", "flags"),
}
_MEASURED = {*_OF_THINGS, "station", "sensor", "symbol", "ticker", "isin", "store", "warehouse", "machine"}
_FEW = 10
_MANY = 20
_MOST_TOGETHER = 3


def about_things(table: str, columns: Sequence[ColumnProfile]) -> str:
    """Why the rows of a table seem to be things and not people; empty where they may be people.

    Args:
        table: its name. columns: what a profile says of its columns.
    """
    named = words_of(table)
    if not columns or _PERSONS & {*named}:
        return ""
    for found in (_calendar, _value_list, _measured, _called):
        reason = found(named, columns)
        if reason:
            return reason
    return ""


def _calendar(_named: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """Every day once, and what follows from it."""
    if _may_be_people(columns, _VAGUE) or not all(_CALENDAR & {*words_of(one.name)} for one in columns):
        return ""
    return "a calendar" if len(columns) > 1 and any(map(_different, columns)) else ""


def _value_list(named: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """Every value of one thing once: codes, countries, postal codes, as the table is called or two columns say.

    Only whole numbers and texts are listed: coordinates, measurements and sentences may be different for every person.
    """
    about = {_family(one) for one in columns} - {""}
    listed = [one for one in columns if _is_listed(one)]
    if len(about) != 1 or not listed or _may_be_people(columns, _LISTED):
        return ""
    several = about == {"place"} and len(listed) > 1 and listed[0].facts.rows >= _MANY
    by_name = about != {"health"} and concept_of(" ".join(map(_singular, named))) is not None
    said = several or by_name or _OF_THINGS & {*named}
    return f"a list of values: {listed[0].name} is different in every row" if said else ""


def _measured(_named: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """Every combination of a day with places or things once, as in a table of measurements."""
    if _may_be_people(columns, _VAGUE):
        return ""
    days = [one for one in columns if _is_day(one)]
    others = [one for one in columns if _name(one) in _PLACES or _MEASURED & {*words_of(one.name)}]
    for some in _together(others):
        for day in days:
            each = [day, *some]
            rows = day.facts.rows
            if rows > _FEW and all(one.facts.distinct > 1 for one in each) and _is_grid(rows, each):
                return f"measurements: every {listing((one.name for one in each), None)} once"
    return ""


def _called(named: Sequence[str], columns: Sequence[ColumnProfile]) -> str:
    """The table's name says things, and no column says people."""
    said = [word for word in named if word in _OF_THINGS]
    return "" if not said or _may_be_people(columns, _VAGUE) else f"its name says {said[0]}"


def _may_be_people(columns: Sequence[ColumnProfile], vague: set[str]) -> bool:
    found = {_name(one) for one in columns} - {""}
    of_persons = any(_PERSONS & {*words_of(one.name)} or _OF_SOMEBODY & {*words_of(one.name)} for one in columns)
    mixed = "health" in found and bool(found & {*_PLACES, "event_date"})
    return of_persons or mixed or bool(found - vague) or any(_shows_somebody(one) for one in columns)


def _shows_somebody(column: ColumnProfile) -> bool:
    """Whether values give a person away, whatever the name of the column."""
    return column.facts.shape_share("email", "phone", "national_id", "iban", "card_number", "ip_address") > 0


def _name(column: ColumnProfile) -> str:
    """What the name of a column says it holds, as far as that tells people from things."""
    concept = concept_of(column.name)
    words = {*words_of(column.name)}
    if concept is None or words <= _BARE:
        return ""
    return "features" if concept.name == "body" and words & _OF_A_BODY else concept.name


def _family(column: ColumnProfile) -> str:
    name = _name(column)
    return "place" if name in _PLACES else name


def _different(column: ColumnProfile) -> bool:
    facts = column.facts
    return facts.exact and not facts.nulls and facts.distinct == facts.rows > 1


def _is_listed(column: ColumnProfile) -> bool:
    facts = column.facts
    if not (facts.kind == Kind.TEXT or (facts.kind == Kind.INTEGER and _name(column) != "health")):
        return False
    told = bool(_family(column)) and _name(column) != "coordinates" and not facts.shape_share("free_text")
    return told and _different(column)


def _is_day(column: ColumnProfile) -> bool:
    return column.facts.kind in (Kind.DATE, Kind.TIMESTAMP) or column.facts.shape_share("date") >= NEARLY


def _is_grid(rows: int, columns: Sequence[ColumnProfile]) -> bool:
    cells = prod(one.facts.distinct for one in columns)
    return NEARLY * cells <= rows <= cells and all(one.facts.exact and not one.facts.nulls for one in columns)


def _together(columns: Sequence[ColumnProfile]) -> Iterator[tuple[ColumnProfile, ...]]:
    for size in range(1, _MOST_TOGETHER):
        yield from combinations(columns, size)


def _singular(word: str) -> str:
    return word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")


# Tables that are published counts already: a row is no person but a cell, and k of rows says nothing of it.

MOST_COLUMNS = 12
"""Published tables have few columns."""
MOST_CELLS = 1_000_000
MOSTLY = 0.5
"""From this share of all combinations on, a table has a row for each rather than for persons."""
_ALONE = {
    "n",
    "count",
    "counts",
    "cnt",
    "freq",
    "frequency",
    "number",
    "anzahl",
    "cases",
    "persons",
    "people",
    "members",
}
_WITHIN = {"count", "cnt", "freq", "anzahl"}
_FIRST = {"n", "num", "number", "nr"}
_PERIODS = {"year", "quarter", "month", "week", "day", "hour", "jahr", "quartal", "monat", "woche", "period"}
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_GROUPED = (Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP)
_NUMBER_WORD = re.compile(r"\d+")


def published_table(found: CountTable) -> Warned:
    """What a reader of an audit should know of such a table."""
    return Warned(
        "published_table",
        (found.count,),
        f"Every row looks like a cell of a published table, with {found.count} as its count, and not like a person: "
        f"{command('aggregates')} judges cells "
        f"({spelled('by', *found.by)} {spelled('count', found.count)} {spelled('require', 'threshold=5')}).",
    )


def without_role(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """The columns that are neither quasi-identifiers nor sensitive."""
    named = {role.column for role in (*roles.quasi_identifiers, *roles.sensitive)}
    return [column for column in relation.columns if column.name not in named]


def counts_beside(relation: Relation, roles: ResolvedRoles) -> list[ColumnInfo]:
    """The columns of whole numbers without a role that are called like a count."""
    return [
        column for column in without_role(relation, roles) if column.kind is Kind.INTEGER and _is_count(column.name)
    ]


def count_table(engine: Engine, relation: Relation, rows: int | None = None) -> CountTable | None:
    """The table as cells and their counts, None where it does not look like that; asked only where names suggest it.

    Args:
        engine, relation: where the table is. rows: how many it has, when that is known.

    Raises:
        EngineError: the database refused or failed.
    """
    found = _suggested(relation)
    if found is None or (rows is not None and not 1 < rows <= MOST_CELLS):
        return None
    (total, combinations, strange, *values) = engine.run(_statement(engine, relation, found))[0]
    total = int(total)
    is_key = len(values) > 1 and any(int(value) >= NEARLY * total for value in values)
    if total <= 1 or int(combinations) != total or strange or is_key:
        return None
    return found if _sure(relation, found) or total >= MOSTLY * prod(map(int, values)) else None


def count_table_statements(engine: Engine, relation: Relation) -> list[Statement]:
    """The statement that `count_table` runs, if any."""
    found = _suggested(relation)
    return [] if found is None else [_statement(engine, relation, found)]


def count_table_of(engine: Engine, relation: Relation, other: Relation) -> CountTable | None:
    """The table as the sizes of groups of another one, whatever its columns are called; None where it is not that.

    Args:
        relation: which may be such a table. other: whose rows may be counted in it.

    Raises:
        EngineError: the database refused or failed.
    """
    there = {column.name.casefold(): column for column in other.columns}
    by = [column for column in relation.columns if _is_dimension(column)]
    numbers = [column.name for column in relation.columns if column.kind in _NUMBERS and column not in by]
    beside = [there.get(column.name.casefold()) for column in by]
    same = [one for one, column in zip(beside, by, strict=True) if one is not None and one.kind is column.kind]
    strange = len(relation.columns) - len(by) - len(numbers)
    if len(relation.columns) > MOST_COLUMNS or not by or not numbers or len(same) < len(by) or strange:
        return None
    statement = render(
        "profiles/profile_group_sizes.sql",
        engine.dialect,
        source=Raw(relation.sql),
        dimensions=[Raw(quote(column.name, engine.dialect)) for column in by],
        counts=[Raw(quote(name, engine.dialect)) for name in numbers],
        other=Raw(other.sql),
        others=[Raw(quote(column.name, engine.dialect)) for column in same],
    )
    (total, most, matched, larger, *found) = (int(one or 0) for one in engine.run(statement)[0])
    if not 1 < total <= MOST_CELLS or most > 1 or 2 * matched < total or not larger:
        return None
    equal = [name for name, known, same in zip(numbers, found[::2], found[1::2], strict=True) if same == known > 1]
    return CountTable(tuple(column.name for column in by), equal[0]) if equal else None


def _statement(engine: Engine, relation: Relation, found: CountTable) -> Statement:
    return render(
        "profiles/profile_cells.sql",
        engine.dialect,
        source=Raw(relation.sql),
        count=Raw(quote(found.count, engine.dialect)),
        dimensions=[Raw(quote(name, engine.dialect)) for name in found.by],
    )


def _suggested(relation: Relation) -> CountTable | None:
    """What names and kinds of the columns suggest: one column called like a count, numbers, and dimensions."""
    if len(relation.columns) > MOST_COLUMNS:
        return None
    counts = [column.name for column in relation.columns if column.kind in _NUMBERS and _is_count(column.name)]
    features = bool(counts) and counts[0].casefold() in _ALONE
    by = tuple(
        column.name for column in relation.columns if _is_dimension(column) or (features and _is_feature(column))
    )
    others = [one for one in relation.columns if one.name not in by and one.kind not in _NUMBERS]
    if not counts or not by or others or any(_names_somebody(name) for name in by):
        return None
    return CountTable(by, counts[0])


def _sure(relation: Relation, found: CountTable) -> bool:
    """Whether no number but a period is a dimension: ages and postal codes stand in tables of persons as well."""
    kinds = {column.name: column for column in relation.columns}
    return not any(_is_feature(kinds[name]) for name in found.by)


def _is_count(name: str) -> bool:
    words = tuple(_words(name))
    if not words:
        return False
    return (
        (len(words) == 1 and words[0] in _ALONE) or bool(_WITHIN & {*words}) or (len(words) > 1 and words[0] in _FIRST)
    )


def _is_dimension(column: ColumnInfo) -> bool:
    period = column.kind is Kind.INTEGER and bool(_PERIODS & {*_words(column.name)}) and not _is_count(column.name)
    return column.kind in _GROUPED or period


def _is_feature(column: ColumnInfo) -> bool:
    """Whether a number says what people are like: an age, a year of birth, a postal code."""
    concept = concept_of(column.name)
    period = bool(_PERIODS & {*_words(column.name)})
    return column.kind is Kind.INTEGER and concept is not None and concept.role is Role.QUASI_IDENTIFIER and not period


def _names_somebody(name: str) -> bool:
    concept = concept_of(name)
    return (concept is not None and concept.role is Role.DIRECT_IDENTIFIER) or "id" in _words(name)


def _words(name: str) -> Iterator[str]:
    return (word for word in words_of(name) if not _NUMBER_WORD.fullmatch(word))

"""Tables that are about things and not about people: calendars, lists of values, measurements, what machines keep.

A requirement on persons says nothing of them. Nothing is taken for such a table that has one column which only people
have, or health together with a place or a day: who is in doubt looks at the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from sqlaudit.base.relation import Kind
from sqlaudit.profiles.names import concept_of, words_of
from sqlaudit.profiles.result import NEARLY, ColumnProfile
from sqlaudit.reports.figures import listing

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

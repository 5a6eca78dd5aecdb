"""Columns drawn at random whose names speak of a date, an age, an area or a person: none passes Safe Harbor that holds
one forbidden value, and none that holds allowed values only is refused.

The oracle is how a column was made: it begins with a day, an age, a ZIP code or a number of a person, and spells it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlaudit.audits.safe_harbor import safe_harbor_check
from sqlaudit.base.spec import SafeHarbor, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Check
from tests.audit_values import values_query
from tests.strategies import fewer

TODAY = date(2026, 11, 26)
ROWS = 12
COLUMNS = 14
SMALL_AREAS = {"036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884"}
SMALL_AREAS |= {"890", "893"}
EVENTS = ("admission", "discharge", "death", "surgery", "enrollment", "hospital_admission", "Entlassungs", "aufnahme")
MONTHS = tuple(date(2000, month, 1).strftime("%B") for month in range(1, 13))
DAYS = (date(1970, 1, 1), date(1960, 1, 1), date(1899, 12, 30))
"""The first days of Unix, SAS and Excel."""
Column = tuple[str, list[Any]]
Spell = Callable[[date], Any]

TEXTS_OF_DAYS: Sequence[Spell] = (
    *(lambda day, form=form: day.strftime(form) for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y%m%d", "%d-%b-%Y")),
    *(
        lambda day, form=form: day.strftime(form)
        for form in ("%Y-%m", "%m/%Y", "%b %Y", "%B", "%d %B", "%Y-%j", "%y%m%d")
    ),
    *(
        lambda day, form=form: day.strftime(form)
        for form in ("%G-W%V", "%G-W%V-%u", "%Y%m%d%H%M", "%Y%m%dT%H%M", "%d.%m.")
    ),
    *(
        lambda day, form=form: day.strftime(form)
        for form in ("%Y-%m-%dZ", "(%Y-%m-%d)", "%B %d, %Y", "%Y %b", "%d/%m", "%Y/%m/%d")
    ),
    lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}",
    lambda day: f"{day} - {day + timedelta(days=9)}",
)
NUMBERS_OF_DAYS: Sequence[Spell] = (
    *(lambda day, first=first: (day - first).days for first in DAYS),
    *(lambda day, unit=unit: (day - DAYS[0]).days * 86_400 * unit for unit in (1, 1_000, 1_000_000, 1_000_000_000)),
    lambda day: int(day.strftime("%Y%m%d")),
    lambda day: int(day.strftime("%Y%m")),
)


def some_day(draw: random.Random, first: int = 1930) -> date:
    """Return a day that is no first of January and no number that may be a year."""
    while True:
        day = date(first, 1, 2) + timedelta(days=draw.randrange(365 * (2024 - first)))
        counted = [(day - first_day).days for first_day in DAYS]
        if (day.month, day.day) != (1, 1) and not any(-100 < number <= 9_999 for number in counted[:2]):
            return day


def dates(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of days, or of years."""
    event = draw.choice(EVENTS)
    name = draw.choice(
        [f"{event}_date", f"date_of_{event}", f"{event}_dt", f"{event.title()}Date", "hire_date", "date"]
    )
    if not forbidden:
        spelled = draw.choice([str, int, "{}-2024".format, "{}s".format, "before {}".format, "[{}, 2025)".format])
        return name, [spelled(draw.randrange(1950, 2024)) for _ in range(ROWS)]
    spell = draw.choice([*TEXTS_OF_DAYS, *NUMBERS_OF_DAYS])
    return name, [spell(some_day(draw)) for _ in range(ROWS)]


def births(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of years of birth, some of people over 89 if it is forbidden."""
    name = draw.choice(
        ["birth_year", "year_of_birth", "date_of_birth", "dob", "geburtsjahr", "annee_naissance", "BirthDate"]
    )
    plain = draw.choice([str, "{}.0".format, int])
    values = [plain(draw.randrange(1940, 2020)) for _ in range(ROWS)]
    if forbidden:
        old = draw.choice(
            [plain] if plain is int else [plain, "<{}".format, "[1900, {})".format, "~{}".format, "{}?".format]
        )
        values[draw.randrange(ROWS)] = old(draw.randrange(1900, 1936))
    return name, values


def parts(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of months, days, quarters or weekdays of an event."""
    event = draw.choice(["admission", "discharge", "death", "birth", "surgery", "dob", "admit"])
    part, most = draw.choice([("month", 12), ("day", 31), ("quarter", 4), ("week", 53), ("mm", 12), ("weekday", 7)])
    name = draw.choice([f"{event}_{part}", f"{part}_of_{event}" if part != "mm" else f"{event}_{part}"])
    if not forbidden:
        return name, [None] * ROWS
    spell = draw.choice([int, str, "{:02d}".format, "{}.".format])
    if most == 12:
        spell = draw.choice([spell, lambda number: MONTHS[number - 1], lambda number: MONTHS[number - 1][:3].upper()])
    first = draw.randrange(1, most + 1)
    return name, [spell(draw.choice([first, first, draw.randrange(2, most + 1)])) for _ in range(ROWS)]


def ages(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of ages in a unit of its name."""
    unit, times, most = draw.choice([("", 1, 90), ("_years", 1, 90), ("_months", 12, 1_079), ("_weeks", 53, 4_696)])
    name = draw.choice(["age", "patient_age", "Alter" if not unit else "age", "edad" if not unit else "age"]) + unit
    if times > 1:
        values: list[Any] = [draw.randrange(most) for _ in range(ROWS)]
        return name, [*values[1:], most + 1 + draw.randrange(200)] if forbidden else values
    spell = draw.choice([int, str, "{:03d}".format, "{} years".format, "{}.0".format, "{}y".format])
    values = [spell(draw.randrange(90)) for _ in range(ROWS)]
    if forbidden:
        others = [spell] if spell is int else [spell, "{}+".format, "85-{}".format, "{}-99".format, "[{}, 120]".format]
        values[draw.randrange(ROWS)] = draw.choice(others)(draw.randrange(91, 110))
    elif spell is not int:
        values[0] = draw.choice(["90+", ">89", "80-89", "90 or older", "under 18", "[80, 90)", "65 and over"])
    return name, values


def zips(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of ZIP codes or of their areas."""
    name = draw.choice(["zip", "zip_code", "patient_zip", "zipcode", "postal_code", "ZIP3", "zipcd"])
    large = [area for area in map("{:03d}".format, range(10, 1_000)) if area not in SMALL_AREAS]
    spell = draw.choice([str, int, "{}**".format, "{}XX".format])
    values = [spell(draw.choice([*large, "000"])) for _ in range(ROWS)]
    if forbidden:
        code = draw.choice(sorted(SMALL_AREAS))
        full = f"{draw.randrange(1_000, 99_999):05d}"
        wrong = (
            [int(code), int(full)]
            if spell is int
            else [code, full, f"{code}**", f"{code.lstrip('0')}**", full + "-1234"]
        )
        values[draw.randrange(ROWS)] = draw.choice(wrong)
    return name, values


def people(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of numbers or names of people, or of what is said about them."""
    thing = draw.choice(["mrn", "ssn", "phone", "fax", "policy", "member", "license", "device", "account", "patient"])
    name = f"{thing}_{draw.choice(['num', 'number', 'no', 'nr'])}"
    if not forbidden:
        name = draw.choice(
            [f"has_{thing}_number", f"n_{thing}_number", "email", "phone_type", "ip_days", "phone_use_hours"]
        )
        kinds = {"email": ["yes", "no"], "phone_type": ["mobile", "home"]}.get(name, [0, 1])
        return name, [draw.choice(kinds) for _ in range(ROWS)]
    if draw.random() < 0.3:
        name = draw.choice(["name", "surname", "patient_name", "vorname", "nom"])
        return name, draw.choices(["Ann", "Bob", "Zoé", "Li"][: draw.randrange(1, 4)], k=ROWS)
    first = draw.randrange(10_000, 10**9)
    return name, [draw.choice([first, first + 1, first + draw.randrange(999)]) for _ in range(ROWS)]


def areas(draw: random.Random, forbidden: bool) -> Column:
    """Draw a column of places, or of what a place is like."""
    if not forbidden:
        name, values = draw.choice(
            [
                ("hospital_type", ["teaching", "community"]),
                ("county_type", ["Urban", "Rural"]),
                ("state", ["MA", "NY"]),
                ("census_region", ["South", "West"]),
                ("hhs_region", [1, 10]),
                ("hospital_beds", [25, 400]),
                ("zip_density", ["low", "high"]),
                ("body_region", ["head", "neck"]),
            ]
        )
        return name, draw.choices(values, k=ROWS)
    name = draw.choice(
        ["city", "county", "region", "hospital", "place", "county_type", "census_region", "town", "county_fips"]
    )
    towns = ["Springfield", "Salem", "North Shore", "St. Mary's"][: draw.randrange(1, 5)]
    return name, draw.choices([25_017, 36_061] if name == "county_fips" else towns, k=ROWS)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Mapping[str, list[Any]], set[str]]:
    """Draw columns of every concept, and the names of those that hold something forbidden."""
    source = random.Random(draw(st.integers(0, 2**32)))
    columns: dict[str, list[Any]] = {}
    forbidden = set()
    for number in range(COLUMNS):
        wrong = source.random() < 0.5
        name, values = source.choice([dates, births, parts, ages, zips, people, areas])(source, wrong)
        if name.casefold() in map(str.casefold, columns):
            continue
        columns[name] = [None if source.random() < 0.1 and number % 2 and not wrong else value for value in values]
        forbidden |= {name} if wrong else set()
    return columns, forbidden


def checked(engine: Engine, columns: Mapping[str, list[Any]]) -> Check:
    """Return the check of a table with these columns: of whole numbers if all are, else of texts."""
    rows = [{name: values[row] for name, values in columns.items()} for row in range(ROWS)]
    whole = {name: all(isinstance(value, int | None) for value in values) for name, values in columns.items()}
    query = values_query(rows, {name: "int" if whole[name] else "text" for name in columns})
    return safe_harbor_check(engine, engine.open(Target(query=query)), SafeHarbor(), today=TODAY)


def named_by(check: Check) -> set[str]:
    """Return the columns that a check names; of a clause that is not met it does not name what is only unclear."""
    return {each["column"] for clause in check.details["clauses"] for each in clause["found"]}


@settings(max_examples=fewer(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(tables())
def test_no_forbidden_value_passes_and_no_allowed_column_is_refused(
    engine: Engine, table: tuple[Mapping[str, list[Any]], set[str]]
) -> None:
    columns, forbidden = table
    left = {name: values for name, values in columns.items() if name in forbidden}
    while left:
        named = named_by(check := checked(engine, left))
        assert named & {*left}, left
        assert check.status != "pass"
        left = {name: values for name, values in left.items() if name not in named}
    honest = {name: values for name, values in columns.items() if name not in forbidden}
    if honest:
        check = checked(engine, honest)
        assert check.status == "pass", {name: honest[name] for name in named_by(check)}

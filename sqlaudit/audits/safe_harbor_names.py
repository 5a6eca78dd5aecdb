"""The names of columns under HIPAA's Safe Harbor, and the tests that the values of a column must pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import DATES, NUMBERS, Kind
from sqlaudit.models.presets import Preset
from sqlaudit.profiles.names import concepts_of, has_words_in, words_of
from sqlaudit.profiles.result import Role

PLACES, DATES_AND_AGES, OTHERS = "(B)", "(C)", "(R)"
BY_NAME, BY_LABEL = "by its name", "by its label"
FEW, FEW_SITES = 20, 100
"""Different values up to which texts without a digit are kinds of something, or parts of bodies, and not names."""

_LONG_ZIP = "ZIP codes with more than three digits"
_SMALL_AREA = "ZIP areas with 20,000 people or fewer"
_AGE, _DATE = "ages over 89 outside one category of 90 or over", "dates finer than years"
_BORN = "years of birth of people over 89"
_AREAS = "whether its places are smaller than a state"

_PARTS = {
    "month": (12, "month mon mth monat mois mes mese maand miesiac"),
    "quarter": (4, "quarter qtr quartal trimestre"),
    "week": (53, "week wk woche semaine semana settimana"),
    "day": (31, "day tag jour dia giorno dag dom"),
    "weekday": (7, "weekday wochentag dow"),
    "day of the year": (366, "doy julian"),
    "season": (4, "season saison jahreszeit"),
}
_DATE_PARTS = {word: (part, most) for part, (most, words) in _PARTS.items() for word in words.split()}
_DATE_PARTS |= dict.fromkeys(("yearmonth", "monthyear", "yyyymm", "yyyymmdd", "yearweek", "yyyyww"), ("month", 12))
_AFTER_EVENTS = {"mm": ("month", 12), "dd": ("day", 31), "mo": ("month", 12), "m": ("month", 12), "d": ("day", 31)}
"""Words that are parts of dates only together with an event: mm is a measure of length, too."""
_EVENT_PARTS = {"bmonth": ("month", 12), "amonth": ("month", 12), "dmonth": ("month", 12), "bday": ("day", 31)}
_EVENT_PARTS |= {"dqtr": ("quarter", 4), "aqtr": ("quarter", 4)}
_JOINED_PART = re.compile("(.+)(month|monat|quarter|quartal|weekday|wochentag|day|tag|mm|dd)")
_RELATIVE = {"study", "cycle", "trial", "protocol", "postop", "relative", "nominal", "planned"}
_NO_PART = {"per", "past", "last", "each", "every", "within", "since", "to", "until", "same", "after", "before", "in"}
_YEARS = {"year", "yr", "yyyy", "yy", "jahr", "annee", "ano", "anno", "jaar"}
_DATE_WORDS = {"date", "datum", "fecha", "dt", "datetime", "timestamp", "dob", "dod", "dos", "yob"}
_HOURS = {"hour", "time", "stunde", "uhrzeit", "heure", "hora", "ora", "uur"}
_BARE_EVENT_WORDS = _YEARS | {
    "admission",
    "admitted",
    "admit",
    "discharge",
    "discharged",
    "death",
    "died",
    "deceased",
    "dod",
    "hired",
}
_BARE_EVENT_WORDS |= {
    "enrolment",
    "enrollment",
    "enrolled",
    "aufnahme",
    "entlassung",
    "hospital",
    "patient",
    "of",
    "the",
    "first",
}
_ABOUT_BIRTHS = re.compile(
    "weight|length|order|height|rank|control|defect|sex|gender|countr|state|place|city|count|hospital|facility|region|"
    "plural|parity|interval|outcome|complic|attend|number|still|live|multiple|preterm|low|percentile|apgar|land|gewicht|"
    "groesse|grosse|lange|(?<!coh)ort|poids|taille|pays|lieu|peso|talla|pais|lugar|circumference|trauma|injury|rate|term"
)
_LIMITS = {
    1_079: "months? mos? mths? mn monate? mois mes meses mesi maand maanden",
    4_696: "weeks? wks? wochen? semaines? semanas? settimane weken",
    32_871: "days? tage? jours? dias? giorni dagen",
    788_904: "hours? stunden? heures? horas?",
}
"""The number of each unit that no one of 89 years exceeds."""
_YEARS_OLD, _GESTATION = 90, 320
_NO_AGE = {
    "score",
    "rate",
    "ratio",
    "percentile",
    "percent",
    "centile",
    "adjusted",
    "standardized",
    "z",
    "zscore",
    "quartile",
}
_NO_AGE |= {"tertile", "quintile", "decile", "quantile", "rank"}
_KINDS_OF_DATES = {"type", "status", "precision", "kind", "source", "method", "class", "category", "quality", "diff"}
_STATES = {
    "state",
    "states",
    "country",
    "countries",
    "nation",
    "pais",
    "pays",
    "land",
    "bundesland",
    "provincie",
    "estado",
    "native",
}
_PLACE_WORDS = {"birthplace", "place", "lugar", "lieu", "fips", "geoid"}
_HOSPITAL_EVENT = re.compile(
    r"\b(in|out|pre|post|inter|during) (hospital|clinic)\b|"
    r"\bhospital (admi|disch|death|mort|stay|los|expire|course|cost|charge|acquired|readm|day|visit|hour)"
)
_JOINED_IDENTIFIER = re.compile("(.+?)(ids?|codes?|cd|fips|fp|names?|nm|no|nr|num|number)")
_AVERAGES = {"mean", "median", "average", "avg"}
_BEFORE_NUMBERS = {"no", "nr", "num", "nbr", "numb", "nummer", "numero"}


@dataclass(frozen=True)
class ValueTest:
    """A test of all values of a column, a kind of `safe_harbor.sql`.

    Args:
        kind: the kind of test, which decides on allowed and forbidden values.
        clause: the clause that forbids values.
        what: a description of forbidden values.
        most: the largest number that is allowed, or that a part of a date has. 0 without one.
        certain: whether forbidden values are certainly identifiers; else the clause is not checked.
        unclear: a description of values that are neither allowed nor forbidden.
        most_values: number of different values up to which the test is enough. 0 without a limit.
        part, stem: the part of a date, and the other words of the name.
    """

    kind: str
    clause: str
    what: str
    most: int = 0
    certain: bool = True
    unclear: str = ""
    most_values: int = 0
    part: str = ""
    stem: str = ""


FLAG = ValueTest("flag", "", "")
"""Counts values other than yes and no, and those that mean no."""


def choose_tests(name: str, kind: Kind, preset: Preset, label: str = "") -> list[ValueTest]:
    """Return the tests of a column with this name, variable label and kind; none if nothing connects it with an
    identifier."""
    tests = _tests_by_name(name, kind, preset)
    by_label = _tests_by_name(label, kind, preset) if words_of(label) else []
    # a label can be a question of a survey, about an identifier that the answers do not contain
    by_label = [replace(t, what=BY_LABEL, certain=False) if t.what == BY_NAME else t for t in by_label]
    known = {(test.kind, test.clause) for test in tests}
    return tests + [test for test in by_label if (test.kind, test.clause) not in known]


def _tests_by_name(name: str, kind: Kind, preset: Preset) -> list[ValueTest]:
    name = _split_joined(name)
    if kind in DATES:
        birth_tests = [ValueTest("born_date", DATES_AND_AGES, _BORN)] if _is_birth_date(name) else []
        return [ValueTest("date" if _is_dated(name) else "maybe_date", DATES_AND_AGES, _DATE), *birth_tests]
    text_tests = [ValueTest("written_date", DATES_AND_AGES, _DATE)] if kind is Kind.TEXT else []
    if kind is Kind.TIME:
        return list(_test_hours(name))
    if kind is not Kind.TEXT and kind not in NUMBERS:
        return []
    clause = find_clause(name, preset)
    if clause and not _is_place(name, preset):
        return [*text_tests, _test_identifier(name, clause)]
    is_year = {*words_of(name)} & (_YEARS | _DATE_WORDS) and not _is_settlement(name, preset)
    is_average = kind in NUMBERS and {*words_of(name)} & _AVERAGES
    place_tests = [] if is_year or is_average else _test_place(name, preset)
    return [*text_tests, *(_test_age(name) or _test_date(name)), *place_tests]


def find_clause(name: str, preset: Preset) -> str:
    """Return the clause of the identifier that a column's name suggests, empty without one."""
    name = _split_joined(name)
    numbered = " ".join("number" if word in _BEFORE_NUMBERS else word for word in words_of(name))
    numbered = re.sub(r" nm$", " name", numbered)
    names = (f" {numbered} ", f" {' '.join(words_of(name))} ")
    for identifier in preset.identifiers:
        if any(f" {words} " in text for words in identifier.words for text in names):
            return identifier.clause
    for concept in (concept for text in (name, numbered) for concept in concepts_of(text, with_fact_words=False)):
        clause = find_concept_clause(concept.name, preset)
        if concept.role is Role.DIRECT_IDENTIFIER or clause != OTHERS:
            return clause
    return ""


def _split_joined(name: str) -> str:
    """Return a name in which words such as `hospitalid` and `countyfips` are two, and `agedeath` is `age death`."""
    words: list[str] = []
    for word in words_of(name):
        match = _JOINED_IDENTIFIER.fullmatch(word)
        if match and any(concept.name == "place" for concept in concepts_of(match[1])):
            words += match.groups()
        elif word.startswith("age") and has_words_in(word[3:], "admissions and other events"):
            words += ["age", word[3:]]
        else:
            words.append(word)
    return " ".join(words)


def find_concept_clause(concept: str | None, preset: Preset) -> str:
    """Return the clause that a concept of the profile belongs to, the last one if none names it."""
    return next((identifier.clause for identifier in preset.identifiers if concept in identifier.concepts), OTHERS)


def _test_identifier(name: str, clause: str) -> ValueTest:
    """Return the test of an identifier. A number or a kind of such identifiers is none."""
    if words_of(name)[-1] in _BEFORE_NUMBERS:
        return ValueTest("identifier", clause, BY_NAME)
    all_concepts = {concept.name for concept in concepts_of(name, with_fact_words=False)}
    is_count = {concept.name for concept in concepts_of(name)} != all_concepts
    if is_count or has_words_in(name, "quantities"):
        return ValueTest("number_of", clause, BY_NAME, 9_999 if has_words_in(name, "quantities") else 999)
    if has_words_in(name, "kinds"):
        return ValueTest("kind_of", clause, BY_NAME, 99, most_values=FEW)
    return ValueTest("identifier", clause, BY_NAME)


def _test_age(name: str) -> list[ValueTest]:
    """Return the test of an age; the unit in the name sets its limit."""
    words = {*words_of(name)}
    if not any(concept.name == "age" for concept in concepts_of(name)) or words & _NO_AGE:
        return []
    text = " ".join(words_of(name))
    unit = (limit for limit, units in _LIMITS.items() if re.search(rf"(^| |age)({units.replace(' ', '|')})( |$)", text))
    limit = next(unit, _GESTATION if "gestational" in words else _YEARS_OLD)
    return [ValueTest("age", DATES_AND_AGES, _AGE, limit, unclear="values that may be ages over 89")]


def _is_birth_date(name: str) -> bool:
    concepts = {concept.name for concept in concepts_of(name)}
    is_about_births = _ABOUT_BIRTHS.search(" ".join(words_of(name))) or has_words_in(name, "kinds")
    return "birth_date" in concepts and not is_about_births and not has_words_in(name, "quantities")


def _is_dated(name: str) -> bool:
    return (
        _is_birth_date(name)
        or bool({*words_of(name)} & _DATE_WORDS)
        or has_words_in(name, "admissions and other events")
    )


def _find_date_part(name: str) -> tuple[str, int, bool, str] | None:
    """Return the part of a date that a name suggests, its largest number, if it is an event's, and the other words."""
    words = words_of(name)
    if {*words} & (_NO_PART | _HOURS | _RELATIVE) or has_words_in(name, "quantities"):
        return None
    for position, word in enumerate(words):
        other_words = [*words[:position], *words[position + 1 :]]
        match = _JOINED_PART.fullmatch(word)
        if match and has_words_in(match[1], "admissions and other events"):
            other_words.append(match[1])
        part_word = match[2] if match and match[1] in other_words else word
        is_event = part_word in _EVENT_PARTS or has_words_in(" ".join(other_words), "admissions and other events")
        part = _DATE_PARTS.get(part_word) or _EVENT_PARTS.get(part_word)
        part = part or (_AFTER_EVENTS.get(part_word) if is_event else None)
        if part and not (position and words[position - 1].isdigit()):
            return *part, is_event, " ".join(sorted({*other_words} - {"of", "the"}))
    return None


def _test_hours(name: str) -> Iterator[ValueTest]:
    """Yield the test of hours of a day, which are unclear next to an event."""
    words = {*words_of(name)}
    is_duration = bool(words & (_NO_PART | {"from", "between"})) or has_words_in(name, "quantities")
    if words & _HOURS and has_words_in(name, "admissions and other events") and not is_duration:
        question = "whether it says when on a day"
        yield ValueTest("nothing", DATES_AND_AGES, question, certain=False, unclear=question)


def _test_date(name: str) -> list[ValueTest]:
    """Return the tests of dates and their parts."""
    words = {*words_of(name)}
    unclear = "values that may be dates finer than years"
    if part := _find_date_part(name):
        kind, most, is_event, stem = part
        test = ValueTest("part", DATES_AND_AGES, _DATE, most, is_event, unclear, 0, kind, stem)
        return [test, FLAG]
    if hours := list(_test_hours(name)):
        return hours
    if _is_birth_date(name):
        return [
            ValueTest(kind, DATES_AND_AGES, what, unclear=unclear) for kind, what in (("dated", _DATE), ("born", _BORN))
        ]
    concepts = {concept.name for concept in concepts_of(name)}
    numbers = {word for word in words if word.isdigit()}
    ordered = words_of(name)
    years = {word for before, word in pairwise(("", *ordered)) if word in _YEARS and not before.isdigit()}
    has_date_words = words & _DATE_WORDS or ("data" in words and has_words_in(name, "admissions and other events"))
    is_bare_event = "event_date" in concepts and words - numbers <= _BARE_EVENT_WORDS
    if (has_date_words or is_bare_event) and not words & _KINDS_OF_DATES:
        return [ValueTest("dated", DATES_AND_AGES, _DATE, 1 if has_date_words or years else 9, unclear=unclear)]
    of_birth = "birth_date" in concepts and not _ABOUT_BIRTHS.search(" ".join(ordered))
    if "event_date" in concepts or of_birth or has_date_words or (years and not has_words_in(name, "quantities")):
        stem = " ".join(sorted(words - _YEARS - {"of", "the"}))
        most = 130 if years else 9_999
        return [ValueTest("event", DATES_AND_AGES, _DATE, most, True, unclear, 0, "year" if years else "", stem)]
    return []


def _is_place(name: str, preset: Preset) -> bool:
    """True if a name suggests an area, and not an address or an identifier of a person."""
    concepts = {concept.name for concept in concepts_of(name)}
    return bool(concepts & {"place", "postal_code"}) or bool(_is_settlement(name, preset))


def _is_settlement(name: str, preset: Preset) -> bool:
    text = f" {' '.join(words_of(name))} "
    phrases = next(identifier.words for identifier in preset.identifiers if identifier.clause == PLACES)
    return any(f" {words} " in text for words in phrases)


def _test_place(name: str, preset: Preset) -> Iterator[ValueTest]:
    """Yield the tests of areas. A property of a place is no place."""
    text = " ".join(words_of(name))
    words = {*words_of(name)}
    concepts = {concept.name for concept in concepts_of(_HOSPITAL_EVENT.sub(" ", text))}
    is_certain = _is_settlement(name, preset)
    test = ValueTest("place", PLACES, BY_NAME if is_certain else _AREAS, certain=is_certain, unclear=_AREAS)
    settles, kinds = has_words_in(name, "settlements"), has_words_in(name, "kinds")
    if not concepts & {"place", "postal_code"} and not words & _PLACE_WORDS and not is_certain:
        return
    if "postal_code" in concepts and not kinds and not words & {"distance", "dist"}:
        yield ValueTest("zip", PLACES, _LONG_ZIP, unclear="values that may be ZIP codes or places")
        yield ValueTest("small_area", PLACES, _SMALL_AREA)
    elif "fips" in words and words <= {"fips", "code", "cd", "id", "number", "state"}:
        yield replace(test, kind="state_number")
    elif words & _STATES and not is_certain:
        yield replace(test, kind="state", what=_AREAS, certain=False)
    elif words & {"census", "hhs"} and words & {"region", "regions", "division"}:
        yield replace(test, kind="numbered_region", most=10)
    elif has_words_in(name, "parts of bodies"):
        yield replace(test, kind="body", certain=False, what=_AREAS, most_values=FEW_SITES)
    elif words & {"place", "location", "lieu", "lugar", "ort"} and has_words_in(name, "places of events"):
        yield replace(test, kind="site", most=99, certain=False, what=_AREAS, most_values=FEW)
    elif "birth" in words and words & {"place", "location"}:
        yield replace(test, kind="site_of_birth", most=99, certain=False, what=_AREAS)
    elif kinds or has_words_in(name, "quantities"):
        kind = "kind_of_settlement" if settles and kinds else "kind_of_place"
        is_size = bool(
            words & {"size", "beds", "volume", "density", "population", "distance", "dist", "miles", "km", "grosse"}
        )
        most = 12 if settles and kinds else 9_999 if is_size or has_words_in(name, "quantities") else 99
        yield replace(test, kind=kind, most=most, certain=False, what=_AREAS, most_values=FEW)
    else:
        yield test

"""The names of columns under HIPAA's Safe Harbor: which tests the values of a column must pass."""

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
BY_NAME = "by its name"
FEW, FEW_SITES = 20, 100
"""Different values up to which texts without a digit are kinds of something, or parts of bodies, and not names."""

_FINER = "ZIP codes with more than three digits"
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
_PART_OF = {word: (part, most) for part, (most, words) in _PARTS.items() for word in words.split()}
_PART_OF |= dict.fromkeys(("yearmonth", "monthyear", "yyyymm", "yyyymmdd", "yearweek", "yyyyww"), ("month", 12))
_AFTER_EVENTS = {"mm": ("month", 12), "dd": ("day", 31), "mo": ("month", 12), "m": ("month", 12), "d": ("day", 31)}
"""Words that are parts of dates only beside an event: mm is a measure of length, too."""
_OF_EVENTS = {"bmonth": ("month", 12), "amonth": ("month", 12), "dmonth": ("month", 12), "bday": ("day", 31)}
_OF_EVENTS |= {"dqtr": ("quarter", 4), "aqtr": ("quarter", 4)}
_JOINED = re.compile("(.+)(month|monat|quarter|quartal|weekday|wochentag|day|tag|mm|dd)")
_RELATIVE = {"study", "cycle", "trial", "protocol", "postop", "relative", "nominal", "planned"}
_NO_PART = {"per", "past", "last", "each", "every", "within", "since", "to", "until", "same", "after", "before", "in"}
_YEARS = {"year", "yr", "yyyy", "yy", "jahr", "annee", "ano", "anno", "jaar"}
_DATE_WORDS = {"date", "datum", "fecha", "dt", "datetime", "timestamp", "dob", "dod", "dos", "yob"}
_HOURS = {"hour", "time", "stunde", "uhrzeit", "heure", "hora", "ora", "uur"}
_BARE = _YEARS | {
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
_BARE |= {"enrolment", "enrollment", "enrolled", "aufnahme", "entlassung", "hospital", "patient", "of", "the", "first"}
_OF_BIRTHS = re.compile(
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
"""The number of each unit that nobody of 89 years exceeds."""
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
    "estado",
    "native",
}
_PLACE_WORDS = {"birthplace", "place", "lugar", "lieu", "fips", "geoid"}
_HOSPITAL_EVENT = re.compile(
    r"\b(in|out|pre|post|inter|during) (hospital|clinic)\b|"
    r"\bhospital (admi|disch|death|mort|stay|los|expire|course|cost|charge|acquired|readm|day|visit|hour)"
)
_JOINED_TO = re.compile("(.+?)(ids?|codes?|cd|fips|fp|names?|nm|no|nr|num|number)")
_AVERAGES = {"mean", "median", "average", "avg"}
_BEFORE_NUMBERS = {"no", "nr", "num", "nbr", "numb", "nummer", "numero"}


@dataclass(frozen=True)
class ValueTest:
    """A test of all values of a column, a kind of `safe_harbor.sql`.

    Args:
        kind: which values are allowed, and which are certainly forbidden.
        clause: the clause that forbids them. what: what forbidden values are.
        most: the largest number that is allowed, or that a part of a date has. 0 without one.
        certain: whether what is forbidden is certain; else it is not checked.
        unclear: what values are that are neither allowed nor forbidden.
        few: different values up to which the test is enough. 0 without a limit.
        part, stem: the part of a date, and the words of the name beside it.
    """

    kind: str
    clause: str
    what: str
    most: int = 0
    certain: bool = True
    unclear: str = ""
    few: int = 0
    part: str = ""
    stem: str = ""


FLAG = ValueTest("flag", "", "")
"""Counts values that are no yes or no, and those that say no."""


def tests_of(name: str, kind: Kind, preset: Preset) -> list[ValueTest]:
    """Return the tests of a column with this name and kind; none where nothing connects it with an identifier."""
    name = _split_joined(name)
    if kind in DATES:
        born = [ValueTest("born_date", DATES_AND_AGES, _BORN)] if _is_birth(name) else []
        return [ValueTest("date" if _is_dated(name) else "maybe_date", DATES_AND_AGES, _DATE), *born]
    written = [ValueTest("written_date", DATES_AND_AGES, _DATE)] if kind is Kind.TEXT else []
    if kind is Kind.TIME:
        return list(_of_hours(name))
    if kind is not Kind.TEXT and kind not in NUMBERS:
        return []
    clause = clause_of(name, preset)
    if clause and not _is_place(name, preset):
        return [*written, _of_identifier(name, clause)]
    is_year = {*words_of(name)} & (_YEARS | _DATE_WORDS) and not _settlement(name, preset)
    averaged = kind in NUMBERS and {*words_of(name)} & _AVERAGES
    places = [] if is_year or averaged else _of_place(name, preset)
    return [*written, *(_of_age(name) or _of_date(name)), *places]


def clause_of(name: str, preset: Preset) -> str:
    """Return the clause of the identifier that a column's name means, empty without one."""
    name = _split_joined(name)
    numbered = " ".join("number" if word in _BEFORE_NUMBERS else word for word in words_of(name))
    numbered = re.sub(r" nm$", " name", numbered)
    names = (f" {numbered} ", f" {' '.join(words_of(name))} ")
    for identifier in preset.identifiers:
        if any(f" {words} " in text for words in identifier.words for text in names):
            return identifier.clause
    for concept in (concept for text in (name, numbered) for concept in concepts_of(text, with_fact_words=False)):
        clause = clause_of_concept(concept.name, preset)
        if concept.role is Role.DIRECT_IDENTIFIER or clause != OTHERS:
            return clause
    return ""


def _split_joined(name: str) -> str:
    """Return a name in which words such as `hospitalid` and `countyfips` are two, and `agedeath` is `age death`."""
    words: list[str] = []
    for word in words_of(name):
        joined = _JOINED_TO.fullmatch(word)
        if joined and any(concept.name == "place" for concept in concepts_of(joined[1])):
            words += joined.groups()
        elif word.startswith("age") and has_words_in(word[3:], "admissions and other events"):
            words += ["age", word[3:]]
        else:
            words.append(word)
    return " ".join(words)


def clause_of_concept(concept: str | None, preset: Preset) -> str:
    """Return the clause that a concept of the profile belongs to, the last one if none names it."""
    return next((one.clause for one in preset.identifiers if concept in one.concepts), OTHERS)


def _of_identifier(name: str, clause: str) -> ValueTest:
    """The test of an identifier: a number or kind of such identifiers is none."""
    if words_of(name)[-1] in _BEFORE_NUMBERS:
        return ValueTest("identifier", clause, BY_NAME)
    counted = {concept.name for concept in concepts_of(name)} != {
        c.name for c in concepts_of(name, with_fact_words=False)
    }
    if counted or has_words_in(name, "quantities"):
        return ValueTest("number_of", clause, BY_NAME, 9_999 if has_words_in(name, "quantities") else 999)
    if has_words_in(name, "kinds"):
        return ValueTest("kind_of", clause, BY_NAME, 99, few=FEW)
    return ValueTest("identifier", clause, BY_NAME)


def _of_age(name: str) -> list[ValueTest]:
    words = {*words_of(name)}
    if not any(concept.name == "age" for concept in concepts_of(name)) or words & _NO_AGE:
        return []
    joined = " ".join(words_of(name))
    unit = (
        limit for limit, units in _LIMITS.items() if re.search(rf"(^| |age)({units.replace(' ', '|')})( |$)", joined)
    )
    limit = next(unit, _GESTATION if "gestational" in words else _YEARS_OLD)
    return [ValueTest("age", DATES_AND_AGES, _AGE, limit, unclear="values that may be ages over 89")]


def _is_birth(name: str) -> bool:
    concepts = {concept.name for concept in concepts_of(name)}
    of_births = _OF_BIRTHS.search(" ".join(words_of(name))) or has_words_in(name, "kinds")
    return "birth_date" in concepts and not of_births and not has_words_in(name, "quantities")


def _is_dated(name: str) -> bool:
    return _is_birth(name) or bool({*words_of(name)} & _DATE_WORDS) or has_words_in(name, "admissions and other events")


def _part_of(name: str) -> tuple[str, int, bool, str] | None:
    """The part of a date that a name speaks of, its largest number, whether it is an event's, and the other words."""
    words = words_of(name)
    if {*words} & (_NO_PART | _HOURS | _RELATIVE) or has_words_in(name, "quantities"):
        return None
    for position, word in enumerate(words):
        others = [*words[:position], *words[position + 1 :]]
        joined = _JOINED.fullmatch(word)
        if joined and has_words_in(joined[1], "admissions and other events"):
            others.append(joined[1])
        last = joined[2] if joined and joined[1] in others else word
        of_event = last in _OF_EVENTS or has_words_in(" ".join(others), "admissions and other events")
        part = _PART_OF.get(last) or _OF_EVENTS.get(last) or (_AFTER_EVENTS.get(last) if of_event else None)
        if part and not (position and words[position - 1].isdigit()):
            return *part, of_event, " ".join(sorted({*others} - {"of", "the"}))
    return None


def _of_hours(name: str) -> Iterator[ValueTest]:
    words = {*words_of(name)}
    lasting = bool(words & (_NO_PART | {"from", "between"})) or has_words_in(name, "quantities")
    if words & _HOURS and has_words_in(name, "admissions and other events") and not lasting:
        said = "whether it says when on a day"
        yield ValueTest("nothing", DATES_AND_AGES, said, certain=False, unclear=said)


def _of_date(name: str) -> list[ValueTest]:
    """The tests of dates and their parts."""
    words = {*words_of(name)}
    unclear = "values that may be dates finer than years"
    if part := _part_of(name):
        kind, most, is_event, stem = part
        test = ValueTest("part", DATES_AND_AGES, _DATE, most, is_event, unclear, 0, kind, stem)
        return [test, FLAG]
    if hours := list(_of_hours(name)):
        return hours
    if _is_birth(name):
        return [
            ValueTest(kind, DATES_AND_AGES, what, unclear=unclear) for kind, what in (("dated", _DATE), ("born", _BORN))
        ]
    concepts = {concept.name for concept in concepts_of(name)}
    numbers = {word for word in words if word.isdigit()}
    ordered = words_of(name)
    years = {word for before, word in pairwise(("", *ordered)) if word in _YEARS and not before.isdigit()}
    dated = words & _DATE_WORDS or ("data" in words and has_words_in(name, "admissions and other events"))
    bare = "event_date" in concepts and words - numbers <= _BARE
    if (dated or bare) and not words & _KINDS_OF_DATES:
        return [ValueTest("dated", DATES_AND_AGES, _DATE, 1 if dated or years else 9, unclear=unclear)]
    of_birth = "birth_date" in concepts and not _OF_BIRTHS.search(" ".join(ordered))
    if "event_date" in concepts or of_birth or dated or (years and not has_words_in(name, "quantities")):
        stem = " ".join(sorted(words - _YEARS - {"of", "the"}))
        most = 130 if years else 9_999
        return [ValueTest("event", DATES_AND_AGES, _DATE, most, True, unclear, 0, "year" if years else "", stem)]
    return []


def _is_place(name: str, preset: Preset) -> bool:
    """True if a name speaks of an area, and not of an address or of an identifier of a person."""
    concepts = {concept.name for concept in concepts_of(name)}
    return bool(concepts & {"place", "postal_code"}) or bool(_settlement(name, preset))


def _settlement(name: str, preset: Preset) -> bool:
    text = f" {' '.join(words_of(name))} "
    listed = next(one.words for one in preset.identifiers if one.clause == PLACES)
    return any(f" {words} " in text for words in listed)


def _of_place(name: str, preset: Preset) -> Iterator[ValueTest]:
    """The tests of areas: what a place is like is no place."""
    text = " ".join(words_of(name))
    words = {*words_of(name)}
    concepts = {concept.name for concept in concepts_of(_HOSPITAL_EVENT.sub(" ", text))}
    certain = _settlement(name, preset)
    test = ValueTest("place", PLACES, BY_NAME if certain else _AREAS, certain=certain, unclear=_AREAS)
    settles, kinds = has_words_in(name, "settlements"), has_words_in(name, "kinds")
    if not concepts & {"place", "postal_code"} and not words & _PLACE_WORDS and not certain:
        return
    if "postal_code" in concepts and not kinds and not words & {"distance", "dist"}:
        yield ValueTest("zip", PLACES, _FINER, unclear="values that may be ZIP codes or places")
        yield ValueTest("small_area", PLACES, _SMALL_AREA)
    elif "fips" in words and words <= {"fips", "code", "cd", "id", "number", "state"}:
        yield replace(test, kind="state_number")
    elif words & _STATES and not certain:
        yield replace(test, kind="state", what=_AREAS, certain=False)
    elif words & {"census", "hhs"} and words & {"region", "regions", "division"}:
        yield replace(test, kind="numbered_region", most=10)
    elif has_words_in(name, "parts of bodies"):
        yield replace(test, kind="body", certain=False, what=_AREAS, few=FEW_SITES)
    elif words & {"place", "location", "lieu", "lugar", "ort"} and has_words_in(name, "places of events"):
        yield replace(test, kind="site", most=99, certain=False, what=_AREAS, few=FEW)
    elif "birth" in words and words & {"place", "location"}:
        yield replace(test, kind="site_of_birth", most=99, certain=False, what=_AREAS)
    elif kinds or has_words_in(name, "quantities"):
        kind = "kind_of_settlement" if settles and kinds else "kind_of_place"
        sizes = bool(
            words & {"size", "beds", "volume", "density", "population", "distance", "dist", "miles", "km", "grosse"}
        )
        most = 12 if settles and kinds else 9_999 if sizes or has_words_in(name, "quantities") else 99
        yield replace(test, kind=kind, most=most, certain=False, what=_AREAS, few=FEW)
    else:
        yield test

"""HIPAA's Safe Harbor: which of the 18 identifiers the columns of a table are, by name, type and content."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import InputError
from sqlaudit.base.files import is_file
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import SafeHarbor
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.models import presets
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import SAFE_HARBOR
from sqlaudit.profiles.columns import Source, batches, column_facts, planned_statements, propose, sources_of
from sqlaudit.profiles.names import concept_of, words_of
from sqlaudit.profiles.result import ColumnFacts, Role
from sqlaudit.reports.document import listing

# What is counted in the database: each kind of test of `safe_harbor.sql`, the clause it belongs to, and its words.

PLACES, DATES, OTHERS = "(B)", "(C)", "(R)"
_FINER, _AREA = "ZIP codes with more than three digits", "ZIP areas with 20,000 people or fewer"
_AGE, _DATE = "ages over 89 outside one category of 90 or over", "dates finer than years"
_BORN = "years of birth of people over 89"
_KINDS = {
    "zip_text": (PLACES, _FINER),
    "zip_number": (PLACES, _FINER),
    "area_text": (PLACES, _AREA),
    "area_number": (PLACES, _AREA),
    "age_text": (DATES, _AGE),
    "age_number": (DATES, _AGE),
    "date": (DATES, _DATE),
    "date_text": (DATES, _DATE),
    "part_text": (DATES, _DATE),
    "date_number": (DATES, _DATE),
    "born_number": (DATES, _BORN),
    "born_date": (DATES, _BORN),
    "born_text": (DATES, _BORN),
}
_SMALL = 20_000
_OLDEST = 90
_BATCH = 60
_STATES = {"state", "country", "nation", "pais", "pays", "land", "bundesland", "estado", "native"}
_BIRTHPLACE = {"birthplace", "place"}
_OF_BIRTHS = {"weight", "length", "order", "height", "rank"}
_UNCLEAR = "whether its places are smaller than a state"
_BY_NAME = "by its name"
_HIDDEN = "its values, which cannot be read as text"
MET, NOT_MET, NOT_CHECKED = "met", "not met", "not checked"


@dataclass(frozen=True)
class _Found:
    """What was found of a clause: in which column, what, and in how many rows; None = unknown, by the name alone."""

    clause: str
    column: str
    what: str
    rows: int | None = None
    unclear: bool = False


def safe_harbor_check(engine: Engine, relation: Relation, asked: SafeHarbor, today: date | None = None) -> Check:
    """The check of a table's columns: how many of the 18 identifiers they are.

    Args:
        engine, relation: where the table is. asked: the small areas, and the columns that people reviewed.
        today: the day on which people are as old as their year of birth says.

    Raises:
        UsageError: a reviewed column is not there. InputError: the file of areas cannot be read.
        EngineError: the database refused or failed.
    """
    sources = _sources(engine, relation, asked)
    known = presets.find_preset(SafeHarbor.preset)
    readable = [one for one in sources if one.kind is not Kind.OTHER]
    facts = {one.name: one for one in column_facts(engine, relation, readable)} if readable else {}
    found = [one for source in sources for one in _of_column(source, facts.get(source.name), known)]
    rows, counted = _counted(engine, relation, readable, asked, today or date.today())
    found += counted
    clauses = [_clause(one, found) for one in known.identifiers]
    failed = [one for one in clauses if one["status"] == NOT_MET]
    unclear = [one for one in clauses if one["status"] == NOT_CHECKED]
    open_ones = listing(dict.fromkeys(each["column"] for one in unclear for each in one["found"]))
    status = Status.FAIL if failed else Status.UNDETERMINED if unclear or not rows else Status.PASS
    return Check(
        model=SAFE_HARBOR,
        sensitive=None,
        parameters={},
        level=len(failed),
        levels={"identifiers": len(failed)},
        operator="<=",
        required=0,
        status=status,
        text=known.name,
        note=f"Examine {open_ones}, then use {about('reviewed')}." if unclear and not failed else "",
        title=known.title,
        preset=known.name,
        details={
            "clauses": clauses,
            "reviewed": list(asked.reviewed),
            "unclear": [[one.clause, one.column] for one in found if one.unclear],
        },
    )


def safe_harbor_statements(engine: Engine, relation: Relation, asked: SafeHarbor) -> list[Statement]:
    """The statements that the check runs."""
    sources = [one for one in _sources(engine, relation, asked) if one.kind is not Kind.OTHER]
    tests = [one for source in sources for one in _tests(source)]
    counts = [_statement(engine, relation, some, asked, date.today()) for some in _in_batches(tests)]
    return [*planned_statements(engine, relation), *counts]


def _sources(engine: Engine, relation: Relation, asked: SafeHarbor) -> list[Source]:
    """The columns that nobody reviewed."""
    reviewed = {resolve(name, relation, engine.dialect, about("reviewed")).column for name in asked.reviewed}
    return [one for one in sources_of(relation, engine.dialect) if one.name not in reviewed]


def small_areas(path: Path | None) -> tuple[str, ...]:
    """The three-digit ZIP areas with at most 20,000 people, of a CSV file with a column `area`, and perhaps `people`.

    Raises:
        InputError: it cannot be read, has no such column, or an area that is not three digits.
    """
    file = path or Path(presets.__file__).with_name("zip_areas.csv")
    if not is_file(str(file)):
        raise InputError(f"{about('zip_areas')}: there is no file {str(file)!r}.")
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
        found = [(row["area"].strip(), int((row.get("people") or "0").replace(",", ""))) for row in rows]
    except (OSError, UnicodeDecodeError, KeyError, ValueError, AttributeError, csv.Error):
        said = "needs a column 'area' with three digits, and may have 'people', a whole number"
        raise InputError(f"{about('zip_areas')}: {str(file)!r} {said}.") from None
    if not found or not all(re.fullmatch("[0-9]{3}", area) for area, _ in found):
        raise InputError(f"{about('zip_areas')}: {str(file)!r} must list areas of three digits, such as 036.")
    return tuple(dict.fromkeys(area for area, people in found if people <= _SMALL and area != "000"))


def _clause(one: presets.Identifier, found: Sequence[_Found]) -> dict[str, Any]:
    """A clause as JSON has it."""
    own = [other for other in found if other.clause == one.clause]
    certain = [other for other in own if not other.unclear]
    status = NOT_MET if certain else NOT_CHECKED if own else MET
    told = [{"column": each.column, "what": each.what, "rows": each.rows} for each in certain or own]
    return {"clause": one.clause, "title": one.title, "status": status, "found": told}


def _of_column(source: Source, facts: ColumnFacts | None, known: presets.Preset) -> Iterator[_Found]:
    """What a column is by its name and by the shapes of its values; nothing where no row has a value."""
    if facts is None:
        named = _named(source.name, known)
        yield _Found(named, source.name, _BY_NAME) if named else _Found(OTHERS, source.name, _HIDDEN, unclear=True)
        return
    if facts.filled == facts.shapes.get("missing", 0) or facts.kind == Kind.BOOLEAN:
        return
    shaped = {one.clause: sum(facts.shapes.get(shape, 0) for shape in one.shapes) for one in known.identifiers}
    yield from (_Found(clause, source.name, "texts of this form", rows) for clause, rows in shaped.items() if rows)
    named, proposal, words = _named(source.name, known), propose(facts), {*words_of(source.name)}
    if named and not _is_flag(facts):
        found = _Found(named, source.name, _BY_NAME)
    elif proposal.role is Role.DIRECT_IDENTIFIER:
        why = "by the form of its texts" if "%" in proposal.reasons[0] else proposal.reasons[0]
        found = _Found(_of_concept(proposal.concept, known), source.name, why, unclear=proposal.concept is None)
    elif (proposal.concept == "place" or words & _BIRTHPLACE) and not words & _STATES:
        found = _Found(PLACES, source.name, _UNCLEAR, unclear=True)
    else:
        return
    if not shaped.get(found.clause):
        yield found


def _named(name: str, known: presets.Preset) -> str:
    """The clause that a column's name means, empty without one."""
    concept, said = concept_of(name), f" {' '.join(words_of(name))} "
    about_it = {*words_of(name)} & {"has", "is", "n", "num", "count", "flag", "opt"}
    by_words = [one.clause for one in known.identifiers if any(f" {words} " in said for words in one.words)]
    if by_words and not about_it:
        return by_words[0]
    if concept is None:
        return ""
    by_concept = _of_concept(concept.name, known)
    return by_concept if concept.role is Role.DIRECT_IDENTIFIER or by_concept != OTHERS else ""


def _of_concept(concept: str | None, known: presets.Preset) -> str:
    return next((one.clause for one in known.identifiers if concept in one.concepts), OTHERS)


def _is_flag(facts: ColumnFacts) -> bool:
    """Whether a column says yes or no, and not who."""
    short = facts.longest is not None and facts.longest <= 3
    return facts.distinct <= 2 and (short or facts.width == 1)


def _tests(source: Source) -> Iterator[tuple[str, Source]]:
    """What of a column is counted: by its kind, and by what its name suggests."""
    concept = concept_of(source.name)
    name = concept.name if concept and not _OF_BIRTHS & {*words_of(source.name)} else ""
    form = "text" if source.kind is Kind.TEXT else "number" if source.kind in NUMBERS else ""
    dated = name in ("birth_date", "event_date")
    if source.kind in (Kind.DATE, Kind.TIMESTAMP):
        yield "date", source
    elif form == "text":
        yield "date_text", source
    if name == "postal_code" and form:
        yield from ((f"{kind}_{form}", source) for kind in ("zip", "area"))
    if name == "age" and form:
        yield f"age_{form}", source
    if dated and form:
        yield ("part_text" if form == "text" else "date_number"), source
    if name == "birth_date" and (form or source.kind in (Kind.DATE, Kind.TIMESTAMP)):
        yield f"born_{form or 'date'}", source


def _counted(
    engine: Engine, relation: Relation, sources: Sequence[Source], asked: SafeHarbor, today: date
) -> tuple[int, list[_Found]]:
    """The rows of the table, and what is finer than allowed: counted in all of them."""
    tests = [one for source in sources for one in _tests(source)]
    found: dict[tuple[str, str, str], int] = {}
    rows = 0
    for some in _in_batches(tests):
        rows, *counts = engine.run(_statement(engine, relation, some, asked, today))[0]
        for (kind, source), count in zip(some, counts, strict=True):
            key = (*_KINDS[kind], source.name)
            found[key] = max(found.get(key, 0), int(count or 0))
    return int(rows), [_Found(clause, name, what, count) for (clause, what, name), count in found.items() if count]


def _in_batches(tests: Sequence[tuple[str, Source]]) -> list[Sequence[tuple[str, Source]]]:
    """The tests of each statement; one without any counts the rows."""
    return list(batches(tests, _BATCH)) or [()]


def _statement(
    engine: Engine, relation: Relation, tests: Sequence[tuple[str, Source]], asked: SafeHarbor, today: date
) -> Statement:
    return render(
        "audits/safe_harbor.sql",
        engine.dialect,
        source=relation,
        tests=[(kind, Raw(source.sql)) for kind, source in tests],
        areas=small_areas(asked.zip_areas) or ("none",),
        oldest=today.year - _OLDEST,
    )

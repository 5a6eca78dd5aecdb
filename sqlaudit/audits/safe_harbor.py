"""HIPAA's Safe Harbor: which of the 18 identifiers the columns of a table are, by name, type and content."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sqlaudit.audits.safe_harbor_names import BY_NAME, OTHERS, PLACES, ValueTest, clause_of, clause_of_concept, tests_of
from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import InputError
from sqlaudit.base.files import is_file
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import DATES, Kind, Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import SafeHarbor
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.models import presets
from sqlaudit.models.base import SAFE_HARBOR, Check
from sqlaudit.profiles.columns import Source, batches, column_facts, planned_statements, propose, sources_of
from sqlaudit.profiles.names import words_in
from sqlaudit.profiles.result import ColumnFacts, Role
from sqlaudit.reports.document import listing

_SMALL = 20_000
_OLDEST = 90
_BATCH = 40
_STRAY = 0.1
"""Rows with numbers outside a calendar, to those inside, up to which a column such as `month` may be of one."""
_GROUPS = (
    *("years in words", "ages in words", "areas above states", "sites of events"),
    *("kinds of settlements", "names of kinds"),
)
"""The words in `words.txt` that allowed values are made of."""
_HIDDEN = "its values, which cannot be read as text"
_UNREADABLE = "its values, which this database role cannot read"
_INSIDE = ("email", "national_id", "iban", "url")
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
    reviewed = _reviewed(engine, relation, asked)
    sources = [source for source in sources_of(relation, engine.dialect) if source.name not in reviewed]
    known = presets.find_preset(SafeHarbor.preset)
    readable = [one for one in sources if one.kind is not Kind.OTHER]
    facts = {one.name: one for one in column_facts(engine, relation, readable)} if readable else {}
    rows, found = _counted(engine, relation, _tests(sources, known), facts, asked, today or date.today())
    found += [one for source in sources for one in _of_column(source, facts.get(source.name), found, known)]
    hidden = [name for name in relation.unreadable if name not in reviewed]
    found += [_Found(clause_of(name, known) or OTHERS, name, _UNREADABLE, unclear=True) for name in hidden]
    clauses = [_clause(one, found) for one in known.identifiers]
    failed = [one for one in clauses if one["status"] == NOT_MET]
    unclear = [one for one in clauses if one["status"] == NOT_CHECKED]
    names = dict.fromkeys(each["column"] for one in unclear for each in one["found"])
    examine = f"Examine {listing(names)}, then use {spelled('reviewed', *asked.reviewed, *names)}." if names else ""
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
        note=examine,
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
    reviewed = _reviewed(engine, relation, asked)
    sources = [source for source in sources_of(relation, engine.dialect) if source.name not in reviewed]
    tests = _tests(sources, presets.find_preset(SafeHarbor.preset))
    counts = [_statement(engine, relation, some, asked, date.today()) for some in _in_batches(tests)]
    return [*planned_statements(engine, relation), *counts]


def _reviewed(engine: Engine, relation: Relation, asked: SafeHarbor) -> set[str | None]:
    """The columns that people reviewed; those that this role cannot read may be among them."""
    names = {name for name in asked.reviewed if name in relation.unreadable}
    return names | {
        resolve(name, relation, engine.dialect, about("reviewed")).column
        for name in asked.reviewed
        if name not in names
    }


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


def _of_column(
    source: Source, facts: ColumnFacts | None, found: Sequence[_Found], preset: presets.Preset
) -> Iterator[_Found]:
    """Yield what a column is by the shapes of its values and by its facts; nothing if no row has a value."""
    clause = clause_of(source.name, preset)
    if facts is None:
        yield _Found(clause, source.name, BY_NAME) if clause else _Found(OTHERS, source.name, _HIDDEN, unclear=True)
        return
    if facts.filled == facts.shapes.get("missing", 0) or facts.kind == Kind.BOOLEAN:
        return
    own = {one.clause for one in found if one.column == source.name}
    shaped = {one.clause: sum(facts.shapes.get(shape, 0) for shape in one.shapes) for one in preset.identifiers}
    yield from (_Found(clause, source.name, "texts of this form", rows) for clause, rows in shaped.items() if rows)
    for shape in _INSIDE:
        by_shape = next(
            (one.clause for one in preset.identifiers if shape in one.shapes), clause_of_concept(shape, preset)
        )
        if (rows := facts.contains.get(shape, 0)) and not shaped.get(by_shape) and by_shape not in own:
            yield _Found(by_shape, source.name, "texts that contain this form", rows)
    proposal = propose(facts)
    if clause in own or proposal.role is not Role.DIRECT_IDENTIFIER or (clause and "%" not in proposal.reasons[0]):
        return
    why = "by the form of its texts" if "%" in proposal.reasons[0] else proposal.reasons[0]
    of_concept = clause_of_concept(proposal.concept, preset)
    if not shaped.get(of_concept):
        yield _Found(of_concept, source.name, why, unclear=proposal.concept is None)


def _tests(sources: Sequence[Source], preset: presets.Preset) -> list[tuple[ValueTest, Source]]:
    """The tests of all columns, in their order."""
    return [(test, source) for source in sources for test in tests_of(source.name, source.kind, preset)]


def _counted(
    engine: Engine,
    relation: Relation,
    tests: Sequence[tuple[ValueTest, Source]],
    facts: Mapping[str, ColumnFacts],
    asked: SafeHarbor,
    today: date,
) -> tuple[int, list[_Found]]:
    """The rows of the table, and what is forbidden or unclear: counted in all of them."""
    rows, counts = 0, []
    for some in _in_batches(tests):
        rows, *numbers = engine.run(_statement(engine, relation, some, asked, today))[0]
        counts += [(int(number or 0), int(unclear or 0)) for number, unclear in zip(*[iter(numbers)] * 2, strict=True)]
    judged = list(zip(tests, counts, strict=True))
    flags = {source.name for (test, source), (others, no) in judged if test.kind == "flag" and no and not others}
    dated = {(test.stem, test.part) for (test, _), (count, other) in judged if test.part and (count or not other)}
    found: dict[tuple[str, str, str], _Found] = {}
    for (test, source), (forbidden, unclear) in judged:
        if test.kind == "flag" or (test.kind == "part" and source.name in flags):
            continue
        together = any(stem == test.stem and part != test.part for stem, part in dated)
        for one in _judge(test, source, facts[source.name], forbidden, unclear, together):
            key = (one.clause, one.column, one.what)
            found[key] = one if key not in found or (one.rows or 0) > (found[key].rows or 0) else found[key]
    return int(rows), list(found.values())


def _judge(
    test: ValueTest, source: Source, facts: ColumnFacts, forbidden: int, unclear: int, together: bool
) -> Iterator[_Found]:
    """Yield what a test finds in a column.

    Args:
        forbidden, unclear: rows whose values are forbidden, and neither forbidden nor allowed.
        together: whether another column has another part of the same date.
    """
    certain = test.certain
    if test.kind == "part" and not certain:
        if unclear > forbidden * _STRAY:  # numbers that no calendar has: it counts something
            return
        certain = together
    words = facts.kind == Kind.TEXT and facts.shape_share("number") < 1
    many = (test.few and facts.distinct > test.few and words) or (test.kind == "number_of" and facts.all_different)
    if many and not forbidden:
        yield _Found(test.clause, source.name, test.what, unclear=not certain)
    if forbidden:
        by_name = test.what in (BY_NAME, test.unclear)
        yield _Found(test.clause, source.name, test.what, None if by_name else forbidden, unclear=not certain)
    elif unclear:
        rows = unclear if test.clause != PLACES or test.kind == "zip" else None
        yield _Found(test.clause, source.name, test.unclear or test.what, rows, unclear=True)


def _in_batches(tests: Sequence[tuple[ValueTest, Source]]) -> list[Sequence[tuple[ValueTest, Source]]]:
    """The tests of each statement; one without any counts the rows."""
    return list(batches(tests, _BATCH)) or [()]


def _statement(
    engine: Engine, relation: Relation, tests: Sequence[tuple[ValueTest, Source]], asked: SafeHarbor, today: date
) -> Statement:
    sources = list(dict.fromkeys(source for _, source in tests))
    named = {source for test, source in tests if test.kind != "written_date"}
    return render(
        "audits/safe_harbor.sql",
        engine.dialect,
        source=relation,
        columns=[
            {
                "sql": Raw(one.sql),
                "text": one.kind in (Kind.TEXT, Kind.TIME),
                "dated": one.kind in DATES,
                "written": one not in named,
            }
            for one in sources
        ],
        tests=[(test.kind, test.most, sources.index(source)) for test, source in tests],
        words={group: "|".join(words_in(group)).replace("…", "[a-zà-ÿ]*") for group in _GROUPS},
        areas=small_areas(asked.zip_areas) or ("none",),
        oldest=today.year - _OLDEST,
    )

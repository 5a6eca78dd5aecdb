"""HIPAA's Safe Harbor: the 18 identifiers among the columns of a table, by name, type and content."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from sqlaudit.audits.safe_harbor_names import (
    BY_LABEL,
    BY_NAME,
    OTHERS,
    PLACES,
    ValueTest,
    choose_tests,
    find_clause,
    find_concept_clause,
)
from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import InputError, UnknownFile
from sqlaudit.base.files import is_file
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import SafeHarbor
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.models import presets
from sqlaudit.models.base import SAFE_HARBOR, Check
from sqlaudit.profiles.columns import (
    BATCH,
    FEW_VALUES,
    FIGURES,
    Source,
    batches,
    list_sources,
    propose,
    read_facts,
    values_statement,
    with_check_digits,
)
from sqlaudit.profiles.names import words_in
from sqlaudit.profiles.result import ColumnFacts, Role
from sqlaudit.reports.document import listed

_SMALL = 20_000
_OLDEST = 90
_STRAY_SHARE = 0.1
"""Largest ratio of rows with numbers outside a calendar to rows inside, for a column such as `month` to be a date."""
_GROUPS = (
    *("years in words", "ages in words", "areas above states", "sites of events"),
    *("kinds of settlements", "names of kinds"),
)
"""The words in `words.txt` that allowed values are made of."""
_HIDDEN = "its values, which cannot be read as text"
_UNREADABLE = "its values, which this database role cannot read"
_INSIDE = ("email", "national_id", "iban", "url")
_CountedTest: TypeAlias = tuple[tuple[ValueTest, Source], tuple[int, int]]
"""A test of a column, and the numbers of rows whose values are forbidden, and neither forbidden nor allowed."""
MET, NOT_MET, NOT_CHECKED = "met", "not met", "not checked"


@dataclass(frozen=True)
class _Finding:
    """An identifier of a clause in a column.

    Args:
        clause: the clause of the rule.
        column: the column's name.
        what: what was found.
        rows: the number of rows with it; None = unknown, as the name alone shows it.
        unclear: whether it may not be an identifier.
    """

    clause: str
    column: str
    what: str
    rows: int | None = None
    unclear: bool = False


def safe_harbor_check(engine: Engine, relation: Relation, request: SafeHarbor, today: date | None = None) -> Check:
    """Check how many of the 18 identifiers are among a table's columns.

    Args:
        engine, relation: where the table is.
        request: the file of small areas, and the columns that people reviewed.
        today: the day for which ages are computed from years of birth; None = today.

    Raises:
        UsageError: a reviewed column does not exist.
        InputError: the file of areas cannot be read.
        EngineError: the database refused or failed.
    """
    reviewed = _resolve_reviewed(engine, relation, request)
    sources = [source for source in list_sources(relation, engine.dialect) if source.name not in reviewed]
    preset = presets.find_preset(SafeHarbor.preset)
    readable = [source for source in sources if source.kind is not Kind.OTHER]
    rows = int(engine.run(_row_count(engine, relation))[0][0])
    few = rows <= FEW_VALUES
    facts, counted_tests = _read_columns(engine, relation, readable, request, today or date.today(), few)
    findings = _find_by_tests(counted_tests, facts)
    findings += [f for source in sources for f in _find_in_column(source, facts.get(source.name), findings, preset)]
    hidden = [name for name in relation.unreadable if name not in reviewed]
    findings += [_Finding(find_clause(name, preset) or OTHERS, name, _UNREADABLE, unclear=True) for name in hidden]
    clauses = [_clause_fields(identifier, findings) for identifier in preset.identifiers]
    failed = [clause for clause in clauses if clause["status"] == NOT_MET]
    unclear = [clause for clause in clauses if clause["status"] == NOT_CHECKED]
    names = dict.fromkeys(finding["column"] for clause in unclear for finding in clause["found"])
    examine = f"Examine {listed(names)}, then use {spelled('reviewed', *request.reviewed, *names)}." if names else ""
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
        text=preset.name,
        note=examine,
        title=preset.title,
        preset=preset.name,
        details={
            "clauses": clauses,
            "reviewed": list(request.reviewed),
            "unclear": [[finding.clause, finding.column] for finding in findings if finding.unclear],
        },
    )


def safe_harbor_statements(engine: Engine, relation: Relation, request: SafeHarbor) -> list[Statement]:
    """Return the statements that the check runs."""
    reviewed = _resolve_reviewed(engine, relation, request)
    sources = [source for source in list_sources(relation, engine.dialect) if source.name not in reviewed]
    readable = [source for source in sources if source.kind is not Kind.OTHER]
    rest = [_values_statement(engine, relation, b, request, date.today(), few=True) for b in batches(readable, BATCH)]
    return [_row_count(engine, relation), *rest]


def _resolve_reviewed(engine: Engine, relation: Relation, request: SafeHarbor) -> set[str | None]:
    """Return the columns that people reviewed. Columns that the database role cannot read may be among them."""
    names = {name for name in request.reviewed if name in relation.unreadable}
    return names | {
        resolve(name, relation, engine.dialect, about("reviewed")).column
        for name in request.reviewed
        if name not in names
    }


def small_areas(path: Path | None) -> tuple[str, ...]:
    """Return the three-digit ZIP areas with at most 20,000 people.

    They are read from a CSV file with a column `area`, and perhaps `people`.

    Raises:
        InputError: the file cannot be read, has no such column, or an area that is not three digits.
    """
    file = path or Path(presets.__file__).with_name("zip_areas.csv")
    if not is_file(str(file)):
        raise UnknownFile(f"{about('zip_areas')}: there is no file {str(file)!r}.")
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
        areas = [(row["area"].strip(), int((row.get("people") or "0").replace(",", ""))) for row in rows]
    except (OSError, UnicodeDecodeError, KeyError, ValueError, AttributeError, csv.Error):
        advice = "needs a column 'area' with three digits, and may have 'people', a whole number"
        raise InputError(f"{about('zip_areas')}: {str(file)!r} {advice}.") from None
    if not areas or not all(re.fullmatch("[0-9]{3}", area) for area, _ in areas):
        raise InputError(f"{about('zip_areas')}: {str(file)!r} must list areas of three digits, such as 036.")
    return tuple(dict.fromkeys(area for area, people in areas if people <= _SMALL and area != "000"))


def _clause_fields(identifier: presets.Identifier, findings: Sequence[_Finding]) -> dict[str, Any]:
    """Return the fields of a clause in JSON."""
    matching = [finding for finding in findings if finding.clause == identifier.clause]
    certain = [finding for finding in matching if not finding.unclear]
    status = NOT_MET if certain else NOT_CHECKED if matching else MET
    fields = [{"column": finding.column, "what": finding.what, "rows": finding.rows} for finding in certain or matching]
    return {"clause": identifier.clause, "title": identifier.title, "status": status, "found": fields}


def _find_in_column(
    source: Source, facts: ColumnFacts | None, findings: Sequence[_Finding], preset: presets.Preset
) -> Iterator[_Finding]:
    """Yield the identifiers in a column by the shapes of its values and by its facts.

    Args:
        findings: what the tests found before; it is not found twice.
    """
    by_name = find_clause(source.name, preset)
    clause = by_name or find_clause(source.label, preset)
    if facts is None:
        what = BY_NAME if by_name else BY_LABEL if clause else _HIDDEN
        yield _Finding(clause or OTHERS, source.name, what, unclear=not by_name)
        return
    if facts.filled == facts.shapes.get("missing", 0) or facts.kind == Kind.BOOLEAN:
        return
    test_clauses = {finding.clause for finding in findings if finding.column == source.name}
    shaped = {each.clause: sum(facts.shapes.get(shape, 0) for shape in each.shapes) for each in preset.identifiers}
    yield from (_Finding(clause, source.name, "texts of this form", rows) for clause, rows in shaped.items() if rows)
    for shape in _INSIDE:
        by_concept = find_concept_clause(shape, preset)
        by_shape = next((each.clause for each in preset.identifiers if shape in each.shapes), by_concept)
        if (rows := facts.contains.get(shape, 0)) and not shaped.get(by_shape) and by_shape not in test_clauses:
            yield _Finding(by_shape, source.name, "texts that contain this form", rows)
    proposal = propose(facts)
    if (
        clause in test_clauses
        or proposal.role is not Role.DIRECT_IDENTIFIER
        or (clause and "%" not in proposal.reasons[0])
    ):
        return
    reason = "by the form of its texts" if "%" in proposal.reasons[0] else proposal.reasons[0]
    of_concept = find_concept_clause(proposal.concept, preset)
    if not shaped.get(of_concept):
        yield _Finding(of_concept, source.name, reason, unclear=proposal.concept is None)


def _choose_all_tests(sources: Sequence[Source]) -> list[tuple[ValueTest, Source]]:
    """Return the tests of all columns, in their order."""
    preset = presets.find_preset(SafeHarbor.preset)
    return [
        (test, source) for source in sources for test in choose_tests(source.name, source.kind, preset, source.label)
    ]


def _read_columns(
    engine: Engine, relation: Relation, sources: Sequence[Source], request: SafeHarbor, today: date, few: bool
) -> tuple[dict[str, ColumnFacts], list[_CountedTest]]:
    """Return the facts of columns by name, and the counts of their tests. Every value is read, not a sample."""
    facts: dict[str, ColumnFacts] = {}
    counted_tests: list[_CountedTest] = []
    for batch in batches(sources, BATCH):
        tests = _choose_all_tests(batch)
        rows = {int(row[0]): row for row in engine.run(_values_statement(engine, relation, batch, request, today, few))}
        figures = with_check_digits(engine, relation, batch, {i: row[:FIGURES] for i, row in rows.items()})
        facts |= {source.name: read_facts(source, figures.get(i)) for i, source in enumerate(batch)}
        for place, (test, source) in enumerate(tests):
            counts = rows[batch.index(source)][FIGURES + 2 * place :] if rows else (0, 0)
            counted_tests.append(((test, source), (int(counts[0]), int(counts[1]))))
    return facts, counted_tests


def _find_by_tests(counted_tests: Sequence[_CountedTest], facts: Mapping[str, ColumnFacts]) -> list[_Finding]:
    """Return what the tests find in all columns."""
    flags = {source.name for (test, source), (others, no) in counted_tests if test.kind == "flag" and no and not others}
    date_parts = {
        (test.stem, test.part) for (test, _), (count, other) in counted_tests if test.part and (count or not other)
    }
    findings: dict[tuple[str, str, str], _Finding] = {}
    for (test, source), (forbidden, unclear) in counted_tests:
        if test.kind == "flag" or (test.kind == "part" and source.name in flags):
            continue
        has_other_part = any(stem == test.stem and part != test.part for stem, part in date_parts)
        for finding in _find_by_test(test, source, facts[source.name], forbidden, unclear, has_other_part):
            key = (finding.clause, finding.column, finding.what)
            if key not in findings or (finding.rows or 0) > (findings[key].rows or 0):
                findings[key] = finding
    return list(findings.values())


def _find_by_test(
    test: ValueTest, source: Source, facts: ColumnFacts, forbidden: int, unclear: int, has_other_part: bool
) -> Iterator[_Finding]:
    """Yield what a test finds in a column.

    Args:
        forbidden, unclear: numbers of rows whose values are forbidden, and neither forbidden nor allowed.
        has_other_part: whether another column has another part of the same date.
    """
    is_certain = test.certain
    if test.kind == "part" and not is_certain:
        if unclear > forbidden * _STRAY_SHARE:  # no calendar has these numbers, so the column counts something
            return
        is_certain = has_other_part
    has_words = facts.kind == Kind.TEXT and facts.shape_share("number") < 1
    is_varied = test.most_values and facts.distinct > test.most_values and has_words
    if (is_varied or (test.kind == "number_of" and facts.all_different)) and not forbidden:
        yield _Finding(test.clause, source.name, test.what, unclear=not is_certain)
    if forbidden:
        is_by_name = test.what in (BY_NAME, BY_LABEL, test.unclear)
        yield _Finding(test.clause, source.name, test.what, None if is_by_name else forbidden, unclear=not is_certain)
    elif unclear:
        rows = unclear if test.clause != PLACES or test.kind == "zip" else None
        yield _Finding(test.clause, source.name, test.unclear or test.what, rows, unclear=True)


def _values_statement(
    engine: Engine, relation: Relation, sources: Sequence[Source], request: SafeHarbor, today: date, few: bool
) -> Statement:
    """Return the statement that groups the rows by each column and runs its tests, with the words that they need."""
    tests = _choose_all_tests(sources)
    value_tested = {source for test, source in tests if test.kind != "written_date"}
    return values_statement(
        engine,
        relation,
        sources,
        few=few,
        template="audits/safe_harbor.sql",
        tests=[(test.kind, test.most, sources.index(source)) for test, source in tests],
        opened=[i for i, source in enumerate(sources) if source.kind is Kind.TEXT and source not in value_tested],
        words={group: "|".join(words_in(group)).replace("…", "[a-zà-ÿ]*") for group in _GROUPS},
        areas=small_areas(request.zip_areas) or ("none",),
        oldest=today.year - _OLDEST,
    )


def _row_count(engine: Engine, relation: Relation) -> Statement:
    """Return the statement that counts the rows: an empty table proves nothing."""
    return render("base/row_count.sql", engine.dialect, source=relation)

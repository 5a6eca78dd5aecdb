"""The reports of a policy's run, of what was accepted as a baseline, and of how tests drifted since."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from sqlaudit.base.result import MEANING, Status, Warned
from sqlaudit.gates.result import ALLOWED, UNDECIDED, Drift, GateResult, GateTest, Moment, Outcome, for_attribute
from sqlaudit.gates.stored import Key, number_of
from sqlaudit.models.base import COLUMN_SETS, IDENTIFIER, Check
from sqlaudit.models.phrases import (
    WORDS,
    by_known_rows,
    full_title,
    level_text,
    limit_text,
    published,
    short_cell,
    statement_of,
    what_fails,
)
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import Report, moment

OUTCOMES: dict[Outcome, doc.Toned] = {
    Outcome.PASS: doc.good("passes"),
    Outcome.WARN: doc.warning("warns"),
    Outcome.FAIL: doc.bad("FAILS"),
    Outcome.UNDETERMINED: doc.bad("undetermined"),
    Outcome.ERROR: doc.bad("ERROR"),
    Outcome.EXCEPTED: doc.warning("excepted"),
    Outcome.ACCEPTED: doc.warning("accepted"),
    Outcome.SKIPPED: doc.Toned("not run", "quiet"),
}
_COUNTED = {
    Outcome.FAIL: ("fails", "fail"),
    Outcome.UNDETERMINED: ("could not be decided", "could not be decided"),
    Outcome.ERROR: ("could not be run", "could not be run"),
    Outcome.WARN: ("warns", "warn"),
    Outcome.EXCEPTED: ("is excepted", "are excepted"),
    Outcome.ACCEPTED: ("is accepted", "are accepted"),
    Outcome.SKIPPED: ("was not run", "were not run"),
}
_STATUS = {Outcome.PASS: Status.PASS, Outcome.UNDETERMINED: Status.UNDETERMINED}
_NOT_SAID = (
    "A policy covers the columns that it names, not anything else that an attacker may know.",
    "Whether publication is lawful is not decided here.",
    MEANING,
)


class GateReport(Report[GateResult]):
    """The report on the run of a policy."""

    kind = "Policy"

    def headline(self, result: GateResult) -> doc.Toned:
        number, counts = len(result.tests), result.counted()
        parts = [
            f"{counts[outcome]} {words[counts[outcome] > 1]}"
            for outcome, words in _COUNTED.items()
            if outcome in counts
        ]
        if tolerated := sum(test.tolerated for test in result.tests):
            parts.append(f"{tolerated} {'passes' if tolerated == 1 else 'pass'} by a threshold")
        if result.mistakes:
            parts.append(f"the policy has {doc.plural(len(result.mistakes), 'mistake')}")
        if not parts:
            return doc.good("PASS: the test passes" if number == 1 else f"PASS: all {number} tests pass")
        if tolerated or counts.keys() - {Outcome.PASS}:
            parts[0] = parts[0].replace(" ", f" of {number} tests ", 1)
        word = "PASS" if result.passed else "FAIL" if Outcome.FAIL in counts else "ERROR"
        if word == "ERROR" and Outcome.ERROR not in counts and not result.mistakes:
            word = "UNDETERMINED"
        return doc.Toned(f"{word}: {', '.join(parts)}", "good" if result.passed else "bad")

    def key_figures(self, result: GateResult) -> Iterator[doc.KeyFigure]:
        passed = f"{result.counted().get(Outcome.PASS, 0)} of {len(result.tests)}"
        yield doc.KeyFigure(passed, "Tests passed", "good" if result.passed else "bad")
        blocked = {test.table for test in result.tests if test.blocks}
        yield doc.KeyFigure(f"{len(blocked)} of {result.tables}", "Tables blocked", doc.bad_if(blocked))

    def opening(self, result: GateResult) -> Iterator[doc.Content]:
        against = f" Compared with {result.baseline}." if result.baseline else ""
        tests, tables = doc.plural(len(result.tests), "test"), doc.plural(result.tables, "table")
        yield f"{result.policy}: {tests} on {tables} in {doc.figure(round(result.seconds, 1))} s.{against}"

    def lead(self, result: GateResult) -> Iterator[doc.Words]:
        yield from _mistakes(result)
        yield from (told_line(test, result.policy) for test in result.tests if test.blocks)

    def notices(self, result: GateResult) -> Iterable[doc.Block]:
        return notices_of(result)

    def sections(self, result: GateResult) -> Iterator[tuple[doc.Section, ...]]:
        allowed = [test for test in result.tests if test.outcome in ALLOWED or test.tolerated]
        lines = (told_line(test, result.policy) for test in allowed)
        yield doc.section("Warnings and exceptions", lines)
        yield doc.section("Changes since the baseline", _drift(result))
        yield doc.section("All tests", _outcomes(result), _tests(result))
        # a test says that a direct identifier is in the table
        stated = {*result.notices, *(pair for pair in result.warnings if pair[1].code == IDENTIFIER)}
        warnings = (pair for pair in result.warnings if pair not in stated)
        messages = dict.fromkeys(f"{table}: {warning.message}" for table, warning in warnings)
        yield doc.section("Warnings of the audits", messages)
        yield doc.section("Notes", result.notes)

    def closing(self, result: GateResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Method", _how(result), folded=True)
        yield doc.section("Limits of this audit", _NOT_SAID)

    def about(self, result: GateResult) -> doc.About:
        return doc.About(result.policy, result.time)


def told_line(test: GateTest, policy: str) -> doc.Toned:
    """A test in one sentence with its place: `patients: k=5 (line 9) FAILS: k-anonymity is 1; …`.

    The place has its file when that is another one than the policy: a project of dbt has many.
    """
    line = f"line {test.place.line}" if test.place.line is not None else ""
    place = line if test.place.file == policy else str(test.place)
    verdict = _verdict(test)
    return doc.Toned(f"{test.name}{f' ({place})' if place else ''} {verdict.text}: {sentence(test)}", verdict.tone)


def _verdict(test: GateTest) -> doc.Toned:
    return doc.warning("tolerated") if test.tolerated else OUTCOMES[test.outcome]


def sentence(test: GateTest) -> str:
    """The result of a test, with its exception; column names and counts, never a value."""
    parts = [_figures(test), test.message, _exception(test), test.change.sentence if test.change else ""]
    return " ".join(part for part in parts if part) or "It was not run, because an earlier test failed."


def _figures(test: GateTest) -> str:
    """Return the figure of a test, what is required, and what fails."""
    check = test.check
    if check is None:
        return ""
    if check.of_columns == COLUMN_SETS:
        return _column_sets(check, test.unit)
    if (stated := statement_of(check)) is not None:
        return stated
    judged = replace(check, status=_STATUS.get(test.outcome, Status.FAIL))
    said = f"{full_title(check)} is {level_text(judged)}"
    if check.required is not None:
        words = f"; {WORDS.get(check.operator, check.operator)} {doc.limit(check.required)} is required"
        said += words.replace("  ", " ")
    short = replace(check, status=Status.FAIL) if check.status is not Status.PASS else check
    fails = "" if check.status is Status.PASS else what_fails(short, test.rows or 0)
    if not fails:
        return f"{said}."
    return f"{said}. {fails} {'fails' if check.failing_rows == 1 else 'fail'} {by_known_rows(short)}".strip() + "."


def _column_sets(check: Check, unit: str) -> str:
    given = check.parameters
    found = int(check.level or 0)
    said = "No column set" if not found else doc.plural(found, "minimal column set")
    verb = "has" if found <= 1 else "have"
    columns = doc.plural(int(given["max_size"]), "column")
    share = f"any of the {unit}" if not given["share"] else f"more than {doc.percent(given['share'])} of the {unit}"
    return f"{said} of at most {columns} {verb} {share} in classes smaller than {given['k']}" + (
        "." if not found else ":"
    )


def _exception(test: GateTest) -> str:
    if test.exception is None or test.exception.expired or test.outcome is not Outcome.EXCEPTED:
        return ""
    return f"Excepted until {test.exception.until}: {test.exception.reason.rstrip('.')}."


def _mistakes(result: GateResult) -> list[doc.Toned]:
    return [doc.bad(f"{mistake.place}: {mistake.message}") for mistake in result.mistakes]


def notices_of(result: GateResult) -> tuple[doc.Block, ...]:
    """Return what the verdict does not cover, grouped by table."""
    grouped: dict[str, list[Warned]] = {}
    for table, one in result.notices:
        grouped.setdefault(table, []).append(one)
    found: list[doc.Block] = []
    for table, some in grouped.items():
        found += [doc.Paragraph(f"{table}:"), *doc.notices_block(some)]
    return tuple(found)


def _drift(result: GateResult) -> Iterator[doc.Words]:
    for drift, word in ((Drift.WORSE, "worse"), (Drift.BETTER, "better"), (Drift.NEW, "new")):
        for test in result.tests:
            if test.change is not None and test.change.drift is drift:
                said = f"{word}: {test.name}. {test.change.sentence}".rstrip()
                yield doc.Toned(said, "bad" if drift is Drift.WORSE else "plain")
    for name in result.removed_tests:
        yield f"gone: {name}."


def _tests(result: GateResult) -> doc.Table:
    rows = []
    for test in result.tests:
        figures: tuple[str, ...] = ("", "", "")
        if (check := test.check) is not None:
            figures = (level_text(check), limit_text(check), short_cell(check, test.rows or 0))
        rows.append((test.table, test.wanted, _verdict(test), *figures, test.change.drift.value if test.change else ""))
    return doc.table(("Table", "Requirement", "Outcome", "#Level", "#Limit", "#Failing", "?Baseline"), rows)


_MARKS = {
    Outcome.PASS: ("✓", 0.0),
    Outcome.WARN: ("!", 0.4),
    Outcome.ACCEPTED: ("!", 0.4),
    Outcome.EXCEPTED: ("!", 0.4),
    Outcome.FAIL: ("✗", 1.0),
    Outcome.ERROR: ("✗", 1.0),
}
_MOST_TABLES, _MOST_REQUIREMENTS = 30, 8


def _outcomes(result: GateResult) -> doc.Picture | None:
    """Draw the outcome of each requirement on each table; None where this is no grid, or too large a one."""
    tables = dict.fromkeys(test.table for test in result.tests)
    requirements = dict.fromkeys(test.wanted for test in result.tests)
    if not (1 < len(tables) <= _MOST_TABLES and 1 < len(requirements) <= _MOST_REQUIREMENTS):
        return None
    outcomes = {(test.table, test.wanted): Outcome.WARN if test.tolerated else test.outcome for test in result.tests}
    marks = [
        [
            _MARKS.get(outcomes[at], ("?", 0.7)) if (at := (table, wanted)) in outcomes else ("", None)
            for wanted in requirements
        ]
        for table in tables
    ]
    return doc.Picture(
        "heat",
        "Tests by table and requirement: ✓ passes, ✗ fails, ! warns or is excepted, ? not decided or not run",
        {
            "rows": [*tables],
            "columns": [*requirements],
            "values": [[shade for _, shade in row] for row in marks],
            "texts": [[mark for mark, _ in row] for row in marks],
            "x": "requirement",
            "y": "table",
        },
    )


def _how(result: GateResult) -> doc.Facts:
    """Return how the tests were run: the policy, the engines, the rows and the time."""
    versions = ", ".join(dict.fromkeys(version for name, version in result.versions.items() if name != "sqlaudit"))
    engines = f" on {versions}" if versions else ""
    rows = sum({test.table: test.rows or 0 for test in result.tests}.values())
    return doc.facts(
        ("policy", result.policy),
        ("published rules", published(test.check for test in result.tests if test.check is not None)),
        ("tested", relations_text(result)),
        ("rows", rows),
        ("computed by", f"sqlaudit {result.versions.get('sqlaudit', '')}{engines}"),
        ("finished", moment(result.time)),
    )


def relations_text(result: GateResult) -> str:
    """Return what each table's tests read, where its name does not say it: `patients = clinic.main.patients`."""
    told = result.relations.items()
    return ", ".join(f"{table} = {relation}" for table, relation in told if relation not in ("", table))


def tested_sentence(test: GateTest) -> str:
    """Return the sentence on a test, and what it read where its table's name does not say it."""
    return sentence(test) if test.relation in ("", test.table) else f"{sentence(test)} Tested: {test.relation}"


SCHEMA = "sqlaudit-history/1"


def accepted_document(result: GateResult) -> doc.Document:
    """Return what `sqlaudit baseline` accepted."""
    left = not_accepted(result)
    accepted = [test for test in result.tests if test.outcome not in UNDECIDED]
    short = [test for test in accepted if test.outcome is not Outcome.PASS]
    from_now_on = doc.Toned(
        "With this baseline, tests fail only if they get worse.",
        hint=f"Run `sqlaudit test --baseline {shlex.quote(str(result.baseline))}`.",
    )
    return doc.compose(
        doc.Toned(f"Accepted the state of {doc.plural(len(accepted), 'test')}, {len(short)} of which fail today"),
        (from_now_on, *notices_of(result)),
        doc.section("Accepted failures", (told_line(test, result.policy) for test in short)),
        doc.section("Not accepted", (*_mistakes(result), *(told_line(test, result.policy) for test in left))),
        about=doc.About(result.policy, result.time, kind="Baseline"),
    )


def history_document(file: str, moments: Mapping[Key, Sequence[Moment]]) -> doc.Document:
    """Every test through the last runs, the newest first."""
    runs = {moment.run for listed in moments.values() for moment in listed}
    latest = [listed[0] for listed in moments.values() if listed and listed[0].run == max(runs)]
    passed = doc.count(sum(moment.outcome == Outcome.PASS for moment in latest))
    return doc.compose(
        f"{file}: {passed} of {doc.plural(len(moments), 'test')} passed in the last run ({len(runs)} shown)",
        (_failing_over_runs(moments),),
        *(
            doc.section(f"{name}: {for_attribute(requirement, sensitive)}", _table(listed))
            for (name, requirement, sensitive), listed in moments.items()
        ),
        about=doc.About(
            file, max((one.finished for listed in moments.values() for one in listed), default=""), kind="History"
        ),
    )


_MOST_CURVES = 8
"""Curves of tests that can be told apart."""


def _failing_over_runs(moments: Mapping[Key, Sequence[Moment]]) -> doc.Picture | None:
    """Return a picture of the rows that failed in each run; of many tests, of those with the most in the last one."""
    shares = {
        f"{table}: {for_attribute(requirement, sensitive)}": [
            (moment.run, moment.failing_rows / moment.rows)
            for moment in reversed(listed)
            if moment.rows and moment.failing_rows is not None
        ]
        for (table, requirement, sensitive), listed in moments.items()
    }
    points = {name: through_runs for name, through_runs in shares.items() if through_runs}
    worst = sorted(points, key=lambda name: -points[name][-1][1])[:_MOST_CURVES]
    if not worst:
        return None
    title = "Rows that fail, by test and run"
    if len(points) > len(worst):
        title += f": the {len(worst)} tests of {len(points)} with the most"
    if all(len(points[name]) == 1 for name in worst):
        return doc.bars(title, worst, {"rows": [points[name][0][1] for name in worst]}, "share of rows", share=True)
    return doc.curves(title, {name: points[name] for name in worst}, "run", "share of rows")


def history_data(file: str, moments: Mapping[Key, Sequence[Moment]]) -> dict[str, object]:
    """Return the history as data for programs."""
    tests = [
        {"table": table, "requirement": requirement, "sensitive": sensitive or None, "runs": list(map(asdict, listed))}
        for (table, requirement, sensitive), listed in moments.items()
    ]
    return {"schema": SCHEMA, "baseline": file, "tests": tests}


def _table(moments: Sequence[Moment]) -> doc.Table:
    return doc.table_of(
        moments,
        ("#Run", lambda moment: str(moment.run)),
        "finished",
        ("Outcome", lambda moment: moment.outcome + (", accepted" if moment.accepted else "")),
        ("#Level", lambda moment: None if moment.level is None else number_of(moment.level)),
        "#failing_rows #rows",
    )


def not_accepted(result: GateResult) -> list[GateTest]:
    """The tests without a result to accept."""
    return [test for test in result.tests if test.outcome in UNDECIDED]

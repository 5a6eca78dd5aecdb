"""What was accepted as a baseline, and how tests drifted through the runs since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlaudit.gates.report import notices_of, told_line
from sqlaudit.gates.result import GateResult, GateTest, Moment, Outcome
from sqlaudit.reports.blocks import Bullets, Column, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import Document, section
from sqlaudit.reports.figures import count, figure, plural

SCHEMA = "sqlaudit-history/1"
Key = tuple[str, str, str]
_NOT_ACCEPTED = (Outcome.ERROR, Outcome.UNDETERMINED, Outcome.SKIPPED)


def accepted_document(result: GateResult) -> Document:
    """What `sqlaudit baseline` accepted."""
    left = [test for test in result.tests if test.outcome in _NOT_ACCEPTED]
    accepted = [test for test in result.tests if test.outcome not in _NOT_ACCEPTED]
    short = [test for test in accepted if test.outcome is not Outcome.PASS]
    mistakes = [Toned(f"{mistake.place}: {mistake.message}", "bad") for mistake in result.mistakes]
    return Document(
        Toned(f"Accepted the state of {plural(len(accepted), 'test')}, {len(short)} of which fall short today"),
        (
            Paragraph(
                Toned(
                    "With this baseline a gate fails only on what gets worse from now on.",
                    hint=f"It is `sqlaudit test --baseline {result.baseline}`.",
                )
            ),
            *notices_of(result),
        ),
        (
            *section(
                "Accepted although it falls short", Bullets(tuple(told_line(test, result.policy) for test in short))
            ),
            *section("Not accepted", Bullets((*mistakes, *(told_line(test, result.policy) for test in left)))),
        ),
    )


def history_document(file: str, moments: Mapping[Key, Sequence[Moment]]) -> Document:
    """Every test through the last runs, the newest first."""
    runs = {moment.run for listed in moments.values() for moment in listed}
    return Document(
        Toned(f"{file}: {plural(len(moments), 'test')} through the last {plural(len(runs), 'run')}"),
        (),
        tuple(part for key, listed in moments.items() for part in section(_name(key), _table(listed))),
    )


def history_data(file: str, moments: Mapping[Key, Sequence[Moment]]) -> dict[str, Any]:
    """The same for programs."""
    tests = [
        {
            "table": table,
            "requirement": requirement,
            "sensitive": sensitive or None,
            "runs": [{**vars(moment)} for moment in listed],
        }
        for (table, requirement, sensitive), listed in moments.items()
    ]
    return {"schema": SCHEMA, "baseline": file, "tests": tests}


def _name(key: Key) -> str:
    return f"{key[0]}: {key[1]}" + (f" for {key[2]}" if key[2] else "")


def _table(moments: Sequence[Moment]) -> Table:
    heads = (
        Column("run", True),
        Column("finished"),
        Column("outcome"),
        Column("level", True),
        Column("rows that fall short", True),
        Column("rows", True),
    )
    return Table(heads, tuple(tuple(_cells(moment)) for moment in moments))


def _cells(moment: Moment) -> Iterator[Words]:
    yield str(moment.run)
    yield moment.finished
    yield moment.outcome + (", accepted" if moment.accepted else "")
    yield "" if moment.level is None else _level(moment.level)
    yield "" if moment.failing_rows is None else count(moment.failing_rows)
    yield "" if moment.rows is None else count(moment.rows)


def _level(text: str) -> str:
    from fractions import Fraction

    return figure(float(text) if any(sign in text for sign in ".einf") else Fraction(text))


def not_accepted(result: GateResult) -> list[GateTest]:
    """The tests that say nothing that could be accepted."""
    return [test for test in result.tests if test.outcome in _NOT_ACCEPTED]

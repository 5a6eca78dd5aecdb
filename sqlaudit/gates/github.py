"""A policy's run as commands of GitHub's workflows, which annotate the policy's lines in a pull request."""

from __future__ import annotations

from pathlib import Path

from sqlaudit.base.result import MEANING, Warned, is_note
from sqlaudit.gates.places import relative
from sqlaudit.gates.report import OUTCOMES, gate_headline, sentence
from sqlaudit.gates.result import GateResult, Outcome, Place
from sqlaudit.reports.blocks import text_of
from sqlaudit.reports.escape import visible

_COMMANDS = {
    Outcome.FAIL: "error",
    Outcome.UNDETERMINED: "error",
    Outcome.ERROR: "error",
    Outcome.WARN: "warning",
    Outcome.EXCEPTED: "notice",
    Outcome.ACCEPTED: "notice",
}


def render_github(result: GateResult, root: Path) -> str:
    """The run as one line a finding, then the verdict, and under it what it does not cover.

    Args:
        result: what the run found. root: the root of the repository.
    """
    lines = [_command("error", mistake.place, root, "the policy", mistake.message) for mistake in result.mistakes]
    for test in result.tests:
        if test.outcome in _COMMANDS:
            title = f"{test.name} {text_of(OUTCOMES[test.outcome])}"
            lines.append(_command(_COMMANDS[test.outcome], test.place, root, title, sentence(test)))
    told = [_notice(result, table, notice, root) for table, notice in result.notices]
    return "\n".join([*lines, visible(text_of(gate_headline(result))), *told, visible(MEANING)]) + "\n"


def _notice(result: GateResult, table: str, notice: Warned, root: Path) -> str:
    kind = "notice" if is_note(notice) else "warning"
    return _command(kind, result.place_of(table), root, table, notice.message)


def _command(kind: str, place: Place, root: Path, title: str, message: str) -> str:
    given = {"file": relative(place, root)} | ({"line": str(place.line)} if place.line is not None else {})
    properties = ",".join(f"{name}={_property(value)}" for name, value in (given | {"title": title}).items())
    return f"::{kind} {properties}::{_data(message)}"


def _data(text: str) -> str:
    """A message: what would end the command is written as the runner decodes it."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

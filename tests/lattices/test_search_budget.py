"""A search of a table that is stopped, by its time budget or by Ctrl-C: the best node so far, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base import errors
from sqlaudit.base.errors import Interrupted
from sqlaudit.lattices import run as searching
from sqlaudit.lattices.evaluate import Evaluator
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.lattices.verdicts import Node, Verdict
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.cli.runner import run

ROWS = 60
PEOPLE = pd.DataFrame(
    {
        "age": [20 + 7 * row * row % 61 for row in range(ROWS)],
        "sex": ["fm"[row % 3 > 0] for row in range(ROWS)],
        "zip": [str(1300 + 11 * row % 47) for row in range(ROWS)],
        "born": [row * row * row % 13 for row in range(ROWS)],
    }
)
ASKED: dict[str, Any] = {
    "qi": ["age", "sex", "zip", "born"],
    "require": {"k": 3},
    "hierarchies": {"age": {"widths": [5, 10, 20, 40]}, "zip": {"mask": [1, 2, 3]}, "born": {"widths": [2, 4, 8]}},
}


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes one second further whenever a search looks at it."""
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    monkeypatch.setattr(searching, "time", clock)
    monkeypatch.setattr(errors, "time", clock)


def facts(found: LatticeResult) -> tuple[Any, ...]:
    """What a stopped search says, as far as numbers go."""
    best = found.best and (found.best.levels, round(found.best.loss or 0, 6))
    bound = found.bound and round(found.bound, 6)
    return found.complete, found.stopped, found.checked, best, bound, found.unknown


TOP, LAST_DIGIT, BEST = ((5, 1, 4, 4), 1.0), ((5, 0, 4, 1), 0.441409), ((5, 0, 2, 1), 0.441409)
STOPPED: dict[str, dict[int, tuple[Any, ...]]] = {
    "bounds": {0: (0, None, None, 300), 1: (1, TOP, 0.0, 299), 9: (15, LAST_DIGIT, 0.081048, 158)},
    "best-first": {1: (1, TOP, 0.0, 299), 20: (40, LAST_DIGIT, 0.383559, 23)},
    "ola": {0: (0, None, 0.0, 300), 9: (35, LAST_DIGIT, 0.383559, 20)},
    "incognito": {0: (0, None, 0.0, 300), 1: (1, TOP, 0.0, 299), 9: (27, ((5, 0, 4, 4), 0.681793), 0.269727, 63)},
}
"""For each algorithm and budget: verdicts, the best node and its loss, what no safe node loses less than, not known."""


@pytest.mark.parametrize("algorithm", STOPPED)
def test_a_time_budget_gives_the_best_node_so_far(seconds: None, algorithm: str) -> None:
    for given, (checked, best, bound, unknown) in STOPPED[algorithm].items():
        found = sqlaudit.lattice(PEOPLE, time_budget=given, algorithm=algorithm, **ASKED)
        assert facts(found) == (False, "budget", checked, best, bound, unknown)
        assert (found.nodes, found.minimal, found.safe) == (300, None, None)
    whole = sqlaudit.lattice(PEOPLE, time_budget=1000, algorithm=algorithm, **ASKED)
    assert facts(whole)[:2] == (True, "")
    assert facts(whole)[3:5] == (BEST, BEST[1])


def interrupt(monkeypatch: pytest.MonkeyPatch, error: type[BaseException], question: int) -> None:
    """The question of this number ends in an error."""
    decide, asked = Evaluator.decide, count()

    def interrupted(self: Evaluator, nodes: Sequence[Node]) -> list[Verdict]:
        if next(asked) == question:
            raise error("stopped")
        return decide(self, nodes)

    monkeypatch.setattr(Evaluator, "decide", interrupted)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted])
def test_an_interruption_gives_the_best_node_so_far(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    interrupt(monkeypatch, error, 9)
    found = sqlaudit.lattice(PEOPLE, **ASKED)
    assert facts(found) == (False, "interrupted", 15, LAST_DIGIT, 0.081048, 158)
    document = " ".join(render_text(document_of(found)).split())
    assert "Not decided: 158 nodes of 300." in document
    assert "Proven: no safe node has a loss below 0.08105." in document
    assert "The loss of a better one is at most 81.7% below this." in document
    assert "INCOMPLETE" in document


def test_a_chain_that_is_stopped(seconds: None) -> None:
    chain = [(0, 0, 0, 0), (2, 0, 1, 1), (4, 0, 1, 1), (5, 0, 1, 1), (5, 0, 2, 1), (5, 0, 4, 2), (5, 1, 4, 4)]
    found = sqlaudit.lattice(PEOPLE, find="chain", chain=chain, time_budget=2, **ASKED)
    assert facts(found) == (False, "budget", 2, ((5, 0, 4, 2), 0.441409), None, None)
    whole = sqlaudit.lattice(PEOPLE, find="chain", chain=chain, **ASKED)
    assert facts(whole)[:4] == (True, "", 3, BEST)


def test_the_command_tells_what_is_known_and_how_it_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seconds: None
) -> None:
    table, hierarchies = tmp_path / "people.csv", tmp_path / "hierarchies.json"
    PEOPLE.to_csv(table, index=False)
    hierarchies.write_text(json.dumps({"hierarchies": ASKED["hierarchies"]}), encoding="utf-8")
    asked = ("lattice", table, "--qi", ",".join(ASKED["qi"]), "--hierarchies", hierarchies, "--require", "k=3")
    late = run(*asked, "--time-budget", "9s", "--format", "json")
    assert late.code == 4
    found = json.loads(late.out)
    assert found["lattice"]["best"]["levels"] == [5, 0, 4, 1]
    assert (found["complete"], found["stopped"], found["lattice"]["unknown"]) == (False, "budget", 158)
    interrupt(monkeypatch, KeyboardInterrupt, 9)
    ended = run(*asked, "--format", "json")
    assert ended.code == 130
    assert json.loads(ended.out)["lattice"]["best"]["levels"] == [5, 0, 4, 1]

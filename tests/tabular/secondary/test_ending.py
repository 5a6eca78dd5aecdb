"""Programs that end when somebody presses Ctrl-C, or when their time is used up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sqlaudit.base import solver
from sqlaudit.tabular.secondary.intervals import Protection, deduce, judge
from sqlaudit.tabular.secondary.protecting import HidingProblem, Moves, hide
from sqlaudit.tabular.secondary.system import FREE, build_equations, build_system
from tests.tabular.secondary.published import drawn, grid

COMMAND = (sys.executable, "-c", "from sqlaudit.cli import main; main()")


def counts(sizes: tuple[int, ...]) -> np.ndarray:
    """Counts of all cells with their totals, some of them small."""
    chance = np.random.default_rng(1)
    table = chance.integers(3, 40, sizes)
    table[chance.random(sizes) < 0.06] = 1
    for axis in range(len(sizes)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    return table


def test_ctrl_c_ends_a_program_of_a_large_table(tmp_path: Path) -> None:
    table = counts((60, 60, 6))
    rows = (f"a{a},b{b},c{c},{n}" for (a, b, c), n in np.ndenumerate(table))
    named = "\n".join(rows).replace("a60,", "Total,").replace("b60,", "Total,").replace("c6,", "Total,")
    (tmp_path / "big.csv").write_text(f"a,b,c,n\n{named}\n")
    asked = ("--by", "a,b,c", "--count", "n", "--require", "threshold=3", "--protect", "--to", tmp_path / "safe.csv")
    arguments = ("aggregates", tmp_path / "big.csv", *asked, "--show-sql")
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while "tabular totals" not in process.stderr.readline().replace("_", " "):
        pass  # afterwards the cells are judged, and programs run
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("sqlaudit: stopped by Ctrl-C; ")
    assert "terminate" not in said
    assert time.monotonic() - pressed < 4
    assert not (tmp_path / "safe.csv").exists()


def test_ctrl_c_waits_for_the_solver_and_is_raised_again() -> None:
    ended = []

    class Endless:
        def run(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            while not stopped:
                time.sleep(0.01)
            ended.append("run")

        def cancelSolve(self) -> None:
            stopped.append(1)

    stopped: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        solver.run_beside(Endless())  # type: ignore[arg-type]
    assert (stopped, ended) == ([1], ["run"])


@pytest.mark.parametrize("short", [0, 5_000])
def test_programs_beside_the_thread_find_the_same(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known = drawn(random.Random(5), (4, 4), share=0.6, totals=0.2)
    expected = deduce(known)
    monkeypatch.setattr(solver, "_SHORT", short)
    found = deduce(known, seconds=60)
    assert not build_system(known).blocks.tree.all()
    assert np.array_equal(found.low, expected.low)
    assert np.array_equal(found.high, expected.high)
    assert found.unfinished == ""


def test_a_program_that_is_late_proves_nothing_and_says_so() -> None:
    codes, dimensions = grid((3, 3), [True, True])
    sums = build_equations(codes, dimensions)
    values = np.full(16, 9)
    moves = Moves(sums, values, values, 100, end=time.monotonic())
    assert moves.is_late
    assert moves.cheapest(0, 2, np.ones(16)) is None
    assert not Moves(sums, values, values, 100).is_late


def test_time_that_is_used_up_before_all_is_protected_is_not_called_protected() -> None:
    table = counts((9, 9)).ravel()
    codes, dimensions = grid((9, 9), [True, True])
    sensitive = table < 3
    protection = Protection(np.where(sensitive, 2, 0))
    nothing = np.zeros_like(table)
    asked = HidingProblem(
        build_equations(codes, dimensions), table, sensitive, protection, table, nothing, np.full_like(table, FREE)
    )
    found = hide(asked, seconds=0)
    assert (found.stopped, found.bound, found.open.tolist()) == ("time", 0, [])
    assert (found.hidden >= sensitive).all()
    if found.safe:  # the audit of an answer may find what the search had no time for
        assert not judge(deduce(asked.published(found.hidden)), protection).unsafe.any()

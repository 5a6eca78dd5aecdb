"""The file of a baseline: what was accepted, and every run since. A DuckDB file of the user's choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlaudit
from sqlaudit.errors import UsageError
from sqlaudit.gate_result import GateResult, GateTest, Moment
from sqlaudit.paths import is_file
from sqlaudit.policy.drift import Accepted, accepted_from, sets_of, sets_text
from sqlaudit.sql import environment

Key = tuple[str, str, str]


@dataclass(frozen=True)
class History:
    """The file with the accepted state and the runs.

    Args:
        path: the file; it is made when the first run is written.
    """

    path: Path

    def accepted(self) -> dict[Key, Accepted]:
        """What was accepted last, by test.

        Raises:
            UsageError: there is no such file, or it is no baseline.
        """
        with self._open(must_exist=True) as run:
            return {
                (row[0], row[1], row[2]): Accepted(row[3], row[4], row[5], row[6], row[7], sets_of(row[8]))
                for row in run("accepted.sql")
            }

    def add(self, result: GateResult, *, accept: bool) -> int:
        """Write a run; the number of its tests that say something.

        Raises:
            UsageError: the file cannot be written, or is no baseline.
        """
        kept = [(test, state) for test in result.tests if (state := accepted_from(test)) is not None]
        with self._open(must_exist=False) as run:
            run("create_history.sql")
            number = int(run("next_run.sql")[0][0])
            run("add_run.sql", [number, result.time[:19], accept, result.policy, sqlaudit.__version__])
            for test, state in kept:
                run("add_result.sql", _row(number, test, state))
        return len(kept)

    def moments(self, runs: int = 10) -> dict[Key, list[Moment]]:
        """Every test through the last runs, the newest first.

        Raises:
            UsageError: there is no such file, or it is no baseline.
        """
        found: dict[Key, list[Moment]] = {}
        with self._open(must_exist=True) as run:
            for row in run("drift.sql", [runs]):
                found.setdefault((row[0], row[1], row[2]), []).append(Moment(*row[3:]))
        return found

    @contextmanager
    def _open(self, *, must_exist: bool) -> Iterator[Any]:
        """A function that runs a template, in one transaction: a run is written whole or not at all."""
        if must_exist and not is_file(self.path):
            raise UsageError(
                f"There is no baseline {str(self.path)!r}; `sqlaudit baseline --baseline {self.path}` accepts today's "
                "state."
            )
        import duckdb

        try:
            with duckdb.connect(str(self.path), read_only=must_exist) as connection:
                connection.begin()

                def run(name: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
                    return connection.execute(_text(name), list(parameters)).fetchall()

                yield run
                connection.commit()
        except duckdb.CatalogException:
            raise UsageError(f"{str(self.path)!r} is a DuckDB file without a baseline in it.") from None
        except duckdb.Error as error:
            raise UsageError(f"The baseline {str(self.path)!r} can't be used ({type(error).__name__}).") from None


def _text(name: str) -> str:
    return environment().get_template("gate/" + name).render()


def _row(run: int, test: GateTest, state: Accepted) -> list[Any]:
    return [
        run, *test.key, test.outcome.value, state.falls_short, state.level, state.failing_classes, state.failing_rows,
        state.rows, sets_text(state),
    ]  # fmt: skip

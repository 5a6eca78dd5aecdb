"""The file of a baseline: what was accepted, and every run since. A DuckDB file of the user's choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.paths import is_file
from sqlaudit.base.version import __version__
from sqlaudit.gates.drift import Accepted, accepted_from, sets_of, sets_text
from sqlaudit.gates.result import GateResult, GateTest, Moment

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store

Key = tuple[str, str, str]
_OURS = {
    "runs": ("run INTEGER", "finished TIMESTAMP", "accepted BOOLEAN", "policy VARCHAR", "version VARCHAR"),
    "results": (
        "run INTEGER",
        "table_name VARCHAR",
        "requirement VARCHAR",
        "sensitive VARCHAR",
        "outcome VARCHAR",
        "falls_short BOOLEAN",
        "level VARCHAR",
        "failing_classes BIGINT",
        "failing_rows BIGINT",
        "table_rows BIGINT",
        "column_sets VARCHAR",
    ),
}
"""The tables of a baseline with their columns: what is not exactly this is neither read nor written."""


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
        with self._open(must_exist=True) as store:
            return {
                (row[0], row[1], row[2]): Accepted(row[3], row[4], row[5], row[6], row[7], sets_of(row[8]))
                for row in store.run("accepted.sql")
            }

    def add(self, result: GateResult, *, accept: bool) -> int:
        """Write a run; the number of its tests that say something.

        Raises:
            UsageError: the file cannot be written, or is no baseline.
        """
        kept = [(test, state) for test in result.tests if (state := accepted_from(test)) is not None]
        with self._open(must_exist=False) as store:
            store.run("create_history.sql")
            number = int(store.run("next_run.sql")[0][0])
            store.run("add_run.sql", [number, result.time[:19], accept, result.policy, __version__])
            for test, state in kept:
                store.run("add_result.sql", _row(number, test, state))
        return len(kept)

    def moments(self, runs: int = 10) -> dict[Key, list[Moment]]:
        """Every test through the last runs, the newest first.

        Raises:
            UsageError: there is no such file, or it is no baseline.
        """
        found: dict[Key, list[Moment]] = {}
        with self._open(must_exist=True) as store:
            for row in store.run("drift.sql", [runs]):
                found.setdefault((row[0], row[1], row[2]), []).append(Moment(*row[3:]))
        return found

    @contextmanager
    def _open(self, *, must_exist: bool) -> Iterator[Store]:
        """The file in one transaction: a run is written whole or not at all."""
        if must_exist and not is_file(self.path):
            raise UsageError(
                f"There is no baseline {str(self.path)!r}; `sqlaudit baseline --baseline {self.path}` accepts today's "
                "state."
            )
        import duckdb

        from sqlaudit.engines.duckdb.store import open_store

        try:
            with open_store(self.path, read_only=must_exist) as store:
                self._check(store, must_exist)
                yield store
        except duckdb.Error as error:
            raise UsageError(f"The baseline {str(self.path)!r} can't be used ({type(error).__name__}).") from None

    def _check(self, store: Store, must_exist: bool) -> None:
        """Refuse a file whose tables are not ours: a view of such a name would show whatever it reads."""
        found = store.relations()
        for name, columns in _OURS.items():
            if name not in found and must_exist:
                raise UsageError(f"{str(self.path)!r} is a DuckDB file without a baseline in it.")
            if name in found and (found[name][0], found[name][2]) != ("table", columns):
                raise UsageError(
                    f"{str(self.path)!r} holds a {found[name][0]} {name!r} that sqlaudit did not make: it is no "
                    "baseline; name another file."
                )


def _row(run: int, test: GateTest, state: Accepted) -> list[Any]:
    return [
        run,
        *test.key,
        test.outcome.value,
        state.falls_short,
        state.level,
        state.failing_classes,
        state.failing_rows,
        state.rows,
        sets_text(state),
    ]

"""Accepted states: the file that keeps them with every run since, and a test held against them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import is_file
from sqlaudit.base.result import Number
from sqlaudit.base.version import __version__
from sqlaudit.gates.result import UNDECIDED, Change, Drift, GateResult, GateTest, Moment, Outcome, Place

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store


# A test against its accepted state: worse, better, the same, or new. Pure; levels are compared exactly.

FLOAT_TIE = 1e-9
"""Floats of one table agree between engines to 1e-12, so nearer than this is no drift."""
_OTHER = "It asks something else than what was accepted: its rows, roles or inputs have changed. Accept it again."
_FALLS_SHORT = (Outcome.FAIL, Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)


def digest(folder: Path, *parts: Any) -> str:
    """A digest of what a test asks, without its place in the file; paths count from the policy's folder.

    Example:
        >>> digest(Path("a"), Path("a/b.csv")) == digest(Path("c"), Path("c/b.csv"))
        True
    """
    return sha256(json.dumps([_plain(part, f"{folder}/") for part in parts]).encode()).hexdigest()


def _plain(value: Any, folder: str) -> Any:
    if is_dataclass(value):
        given = {one.name: getattr(value, one.name) for one in fields(value) if one.name != "label"}
        told = {
            name: _plain(one, folder)
            for name, one in given.items()
            if not (name == "place" and isinstance(one, str | Place))
        }
        return [type(value).__name__, told]
    if isinstance(value, Mapping):
        return sorted((json.dumps(_plain([key, one], folder)) for key, one in value.items()), key=str)
    if isinstance(value, list | tuple):
        return [_plain(one, folder) for one in value]
    return [type(value).__name__, str(value).removeprefix(folder)]


@dataclass(frozen=True)
class Accepted:
    """What was accepted of a test: the numbers that may not get worse.

    `level` is an exact text; `sets` are the column sets beyond their limit, with the rows at risk in each; `asked` is
    the digest of what the test asked.
    """

    falls_short: bool
    level: str | None
    failing_classes: int | None
    failing_rows: int | None
    rows: int | None
    sets: tuple[tuple[tuple[str, ...], int], ...] = ()
    asked: str = ""


def accepted_from(test: GateTest) -> Accepted | None:
    """What a test's result would be as an accepted state; None when it says nothing that could be accepted."""
    if test.check is None or test.outcome in UNDECIDED:
        return None
    check = test.check
    short = bool(check.failing_rows) or test.outcome in _FALLS_SHORT
    sets = tuple((one.columns, one.at_risk) for one in test.sets)
    return Accepted(
        short, exact_text(check.level), check.failing_classes, check.failing_rows, test.rows, sets, test.asked
    )


def settled(test: GateTest, before: Accepted | None) -> GateTest:
    """The test with its drift: a failing one that did not get worse is accepted."""
    now = accepted_from(test)
    if now is None:
        return test
    if before is None:
        said = "It has no accepted state." if test.outcome in (Outcome.FAIL, Outcome.WARN) else ""
        return replace(test, change=Change(Drift.NEW, said))
    if before.asked != now.asked:
        return replace(test, change=Change(Drift.NEW, _OTHER))
    worse, better = list(_moves(test, before, now, worse=True)), list(_moves(test, before, now, worse=False))
    if test.outcome is Outcome.FAIL and not before.falls_short and not worse:
        worse = ["it held, and does not hold now"]  # whatever its figures say or leave open
    drift = Drift.WORSE if worse else Drift.BETTER if better else Drift.SAME
    moves = worse or better
    said = "; ".join(moves)
    said = f"{said[0].upper()}{said[1:]}." if said else ""
    tolerated = test.outcome in (Outcome.FAIL, Outcome.WARN) and drift is not Drift.WORSE
    outcome = Outcome.ACCEPTED if tolerated else test.outcome
    return replace(test, change=Change(drift, said), outcome=outcome)


def _moves(test: GateTest, before: Accepted, now: Accepted, *, worse: bool) -> Iterator[str]:
    """What moved in one direction, in words."""
    assert test.check is not None
    if test.check.model == "column_sets":
        yield from _set_moves(before, now, test.unit, worse=worse)
        return
    sign = 1 if test.check.operator in (">=", ">") else -1
    step = _compared(now.level, before.level) * sign
    if step and (step < 0) is worse:
        yield f"the level was {before.level} and is {now.level}"
    old, new = before.failing_rows, now.failing_rows
    if old is not None and new is not None and old != new and (new > old) is worse:
        yield f"{old:,} rows fell short and {new:,} do"


def _set_moves(before: Accepted, now: Accepted, unit: str, *, worse: bool) -> Iterator[str]:
    """Sets that were not beyond the limit before, and sets that put more (or fewer) people at risk."""
    old, new = dict(before.sets), dict(now.sets)
    from_here, to_there, how = (new, old, "is beyond") if worse else (old, new, "keeps")
    for columns in from_here:
        if not any(set(columns) >= set(known) for known in to_there):
            yield f"the column set {', '.join(columns)} {how} the limit now"
    for columns in new.keys() & old.keys():
        if new[columns] != old[columns] and (new[columns] > old[columns]) is worse:
            yield f"{', '.join(columns)} put {old[columns]:,} {unit} at risk and puts {new[columns]:,}"


def exact_text(level: Number | None) -> str | None:
    """A level as a text that gives it back exactly: `5`, `3/7`, `2.8284271247461903`, `inf`.

    Example:
        >>> exact_text(Fraction(6, 14)), exact_text(5), exact_text(None)
        ('3/7', '5', None)
    """
    if level is None:
        return None
    return repr(level) if isinstance(level, float) else str(Fraction(level))


def number_of(text: str) -> Number:
    """The level of a text."""
    return float(text) if any(c in text for c in ".einf") else Fraction(text)


def _compared(now: str | None, before: str | None) -> int:
    """-1, 0 or 1: now below, as, or above before. An undefined level compares with nothing."""
    if now is None or before is None:
        return 0
    first, second = number_of(now), number_of(before)
    floats = isinstance(first, float) or isinstance(second, float)
    if floats and math.isclose(first, second, rel_tol=FLOAT_TIE, abs_tol=FLOAT_TIE):
        return 0
    return (first > second) - (first < second)


def sets_text(accepted: Accepted) -> str:
    """The column sets as JSON."""
    return json.dumps([[list(columns), rows] for columns, rows in accepted.sets])


def sets_of(text: str) -> tuple[tuple[tuple[str, ...], int], ...]:
    """The column sets of a JSON text."""
    return tuple((tuple(columns), int(rows)) for columns, rows in json.loads(text))


# The file of a baseline: what was accepted, and every run since. A DuckDB file of the user's choice.

Key = tuple[str, str, str]
_OURS = {
    "runs": ("run INTEGER", "finished TIMESTAMP", "accepted BOOLEAN", "policy VARCHAR", "version VARCHAR"),
    "results": (
        *("run INTEGER", "table_name VARCHAR", "requirement VARCHAR", "sensitive VARCHAR", "outcome VARCHAR"),
        *("falls_short BOOLEAN", "level VARCHAR", "failing_classes BIGINT", "failing_rows BIGINT", "table_rows BIGINT"),
        *("column_sets VARCHAR", "asked VARCHAR"),
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
                (row[0], row[1], row[2]): Accepted(*(*row[3:8], sets_of(row[8]), row[9]))
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
                figures = {**vars(state), "sets": sets_text(state)}
                store.run("add_result.sql", [number, *test.key, test.outcome.value, *figures.values()])
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

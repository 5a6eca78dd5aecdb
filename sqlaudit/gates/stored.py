"""What runs leave in files of the user's choice: accepted states, which tests are held against, and failing classes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder, check_destination, is_file, write_rows
from sqlaudit.base.result import Number, plain
from sqlaudit.base.version import __version__
from sqlaudit.classes.failing import AllFailing, FailingClass
from sqlaudit.gates.result import UNDECIDED, Change, Drift, GateResult, GateTest, Moment, Outcome, Place

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store


# A test against its accepted state: worse, better, the same, or new. Pure; levels are compared exactly.

FLOAT_TIE = 1e-9
"""Floats of one table agree between engines to 1e-12, so nearer than this is no drift."""
_OTHER = "Its rows, roles or inputs have changed since it was accepted. Accept it again."
_FALLS_SHORT = (Outcome.FAIL, Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)


def digest(folder: Path, *parts: Any) -> str:
    """A digest of what a test asks, without its place in the file; paths count from the policy's folder.

    Example:
        >>> digest(Path("a"), Path("a/b.csv")) == digest(Path("c"), Path("c/b.csv"))
        True
    """
    return sha256(json.dumps([_as_plain(part, f"{folder}/") for part in parts]).encode()).hexdigest()


def _as_plain(value: Any, folder: str) -> Any:
    if is_dataclass(value):
        given = {one.name: getattr(value, one.name) for one in fields(value) if one.name != "label"}
        told = {
            name: _as_plain(one, folder)
            for name, one in given.items()
            if not (name == "place" and isinstance(one, str | Place))
        }
        return [type(value).__name__, told]
    if isinstance(value, Mapping):
        return sorted((json.dumps(_as_plain([key, one], folder)) for key, one in value.items()), key=str)
    if isinstance(value, list | tuple):
        return [_as_plain(one, folder) for one in value]
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
        worse = ["it passed before and fails now"]  # whatever its figures say or leave open
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
        yield f"{old:,} rows failed before and {new:,} fail now"


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


@contextmanager
def _open_file(path: Path, problem: str, **how: Any) -> Iterator[Store]:
    """A DuckDB file in one transaction: a run is written whole or not at all.

    Args:
        path: the file. problem: what cannot be done, for errors. how: as `open_store` takes it.
    """
    import duckdb

    from sqlaudit.engines.duckdb.store import open_store

    try:
        with open_store(path, **how) as store:
            yield store
    except duckdb.Error as error:  # its message may quote a value
        raise UsageError(f"{problem} ({type(error).__name__}).") from None


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
        if must_exist and not is_file(self.path):
            raise UsageError(
                f"There is no baseline {str(self.path)!r}; `sqlaudit baseline --baseline {self.path}` accepts today's "
                "state."
            )
        with _open_file(self.path, f"The baseline {str(self.path)!r} cannot be used", read_only=must_exist) as store:
            self._check(store, must_exist)
            yield store

    def _check(self, store: Store, must_exist: bool) -> None:
        """Refuse a file whose tables are not ours: a view of such a name would show whatever it reads."""
        found = store.relations()
        for name, columns in _OURS.items():
            if name not in found and must_exist:
                raise UsageError(f"{str(self.path)!r} is a DuckDB file without a baseline.")
            if name in found and (found[name][0], found[name][2]) != ("table", columns):
                raise UsageError(
                    f"{str(self.path)!r} holds a {found[name][0]} {name!r} that sqlaudit did not make: it is no "
                    "baseline; name another file."
                )


# `--store-failures`: the failing classes. Their keys are values of the audited table, and are kept only when
# that was asked for.

NAMES = ("table", "falls_short_of", "sensitive", "class_size", "class_rows", "classes", "figures", "key")
MARKER = "sqlaudit: failing classes; every run replaces this table"
"""The comment of our table, by which it is known: nothing else is ever replaced."""
_BATCH = 10_000


@dataclass
class FailureStore:
    """Writes failing classes into the table `failures` of a DuckDB file, which every run replaces when it ends.

    Args:
        path: the file; other tables in it stay. classes: how many were written. unnamed: sentences on requirements
            that do not hold and whose classes nothing tells.

    Raises:
        UsageError: the file cannot be written, is of another kind, or has a `failures` that is not ours.
    """

    path: Path
    classes: int = field(default=0, init=False)
    unnamed: list[str] = field(default_factory=list, init=False)
    _folder: PrivateFolder = field(default_factory=lambda: PrivateFolder("failures"), init=False, repr=False)
    _spools: list[Path] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        check_destination(self.path, (".duckdb", ".db"))
        with self._open() as store:
            found = store.relations().get("failures")
            if found is not None and found[:2] != ("table", MARKER):
                raise UsageError(
                    f"{str(self.path)!r} holds a {found[0]} 'failures' that sqlaudit did not make, and that is never "
                    "replaced; name another file, or rename it there."
                )

    def add(self, table: str, failing: Iterable[FailingClass]) -> None:
        """Keep the classes of a table for `write`, streamed into a file beside the database's spill files.

        Raises:
            UsageError: there is no room for them.
        """
        if isinstance(failing, AllFailing):
            self.unnamed += [f"{table}: {sentence}" for sentence in failing.unnamed]
        spool = Path(self._folder.path, f"{len(self._spools)}.parquet")
        write_rows(spool, NAMES, self._batches(table, failing))
        self._spools.append(spool)

    def write(self) -> None:
        """Write all classes in one transaction, so that runs at the same time are not mixed.

        Raises:
            UsageError: the file cannot be written.
        """
        with self._open(*self._spools) as store:
            store.run("store_failures.sql", marker=MARKER)
            for spool in self._spools:
                store.run("add_failures.sql", [str(spool)])
        self._folder.close()

    def _batches(self, table: str, failing: Iterable[FailingClass]) -> Iterator[list[list[Any]]]:
        rest = iter(failing)
        while batch := [_row(table, item) for item in islice(rest, _BATCH)]:
            self.classes += sum(row[5] for row in batch)
            yield batch

    def _open(self, *also: Path) -> AbstractContextManager[Store]:
        return _open_file(self.path, f"{str(self.path)!r} cannot be written", also=also)


def _row(table: str, item: FailingClass) -> list[Any]:
    figures = json.dumps({name: plain(value) for name, value in item.figures.items()})
    key = None if item.key is None else json.dumps({name: plain(value) for name, value in item.key.items()})
    return [table, ", ".join(item.fails), item.sensitive, item.size, item.rows, item.classes, figures, key]

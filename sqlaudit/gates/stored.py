"""Files of the user's choice: accepted states, which tests are held against, histories of runs, and failing classes."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UnknownFile, UsageError
from sqlaudit.base.files import PrivateFolder, check_destination, is_file, write_rows, write_text
from sqlaudit.base.nodes import Node, load_nodes, nodes_of
from sqlaudit.base.result import Number, plain
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.classes.failing import AllFailing, FailingClass
from sqlaudit.gates.nodes import Mistakes, flag, whole, yaml_text
from sqlaudit.gates.result import UNDECIDED, Change, Drift, GateResult, GateTest, Moment, Outcome, Place, for_attribute
from sqlaudit.models.base import COLUMN_SETS, COLUMNS_NAMED, IDENTIFIER, SAFE_HARBOR, Check
from sqlaudit.models.registry import model_of

if TYPE_CHECKING:
    from sqlaudit.engines.duckdb.store import Store


# A test against its accepted state: worse, better, the same, or new. Pure; levels are compared exactly.

FLOAT_TIE = 1e-9
"""Floats of one table agree between engines to 1e-12, so nearer than this is no drift."""
_OTHER = "its rows, roles or inputs have changed since it was accepted"
WITHOUT_ROLE = "columns without a role"
"""The name of the entry that accepts the columns of a table, instead of a requirement."""
_FALLS_SHORT = (Outcome.FAIL, Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)


_NOT_DIGESTED = ("label", "shared", "role", "reading")
"""Fields of a table that change no figure."""


def digest(folder: Path, *parts: object) -> str:
    """A digest of what a test asks, without its place in the file; paths count from the policy's folder.

    Example:
        >>> digest(Path("a"), Path("a/b.csv")) == digest(Path("c"), Path("c/b.csv"))
        True
    """
    return sha256(json.dumps([_as_plain(part, f"{folder}/") for part in parts]).encode()).hexdigest()


def _as_plain(value: object, folder: str) -> object:
    """Return a value as JSON can hold it, without the places of policies and the folder they lie in."""
    if is_dataclass(value):
        values = {
            field_of_value.name: getattr(value, field_of_value.name)
            for field_of_value in fields(value)
            if field_of_value.name not in _NOT_DIGESTED
        }
        if isinstance(value, Target) and value.shared:  # options of its entry, which are digested there
            values["read"] = ReadOptions()
        plain_values = {
            name: _as_plain(part, folder)
            for name, part in values.items()
            if not (name == "place" and isinstance(part, str | Place))
        }
        return [type(value).__name__, plain_values]
    if isinstance(value, Mapping):
        return sorted((json.dumps(_as_plain([key, part], folder)) for key, part in value.items()), key=str)
    if isinstance(value, list | tuple):
        return [_as_plain(part, folder) for part in value]
    return [type(value).__name__, str(value).removeprefix(folder)]


Findings = tuple[tuple[tuple[str, ...], int], ...]


@dataclass(frozen=True)
class Accepted:
    """What was accepted of a test: the numbers that may not get worse.

    `level` is an exact text; `findings` are the column sets beyond their limit with the rows at risk in each, the
    identifiers of Safe Harbor as (clause, column), or the columns without a role; `asked` is the digest of what the
    test asked, and `quasi_identifiers` are those of its table, None if no one stored them.
    """

    falls_short: bool
    level: str | None
    failing_classes: int | None
    failing_rows: int | None
    rows: int | None
    findings: Findings = ()
    asked: str = ""
    quasi_identifiers: tuple[str, ...] | None = None


def accepted_from(test: GateTest) -> Accepted | None:
    """Return what a test's result would be as an accepted state; None when it says nothing that could be accepted."""
    if test.check is None or test.outcome in UNDECIDED:
        return None
    check = test.check
    short = bool(check.failing_rows) or test.outcome in _FALLS_SHORT
    figures = (exact_text(check.level), check.failing_classes, check.failing_rows, test.rows)
    return Accepted(short, *figures, _findings(test, check), test.asked, tuple(sorted(test.columns)))


def _findings(test: GateTest, check: Check) -> Findings:
    """Return what a check found, each as names of its own."""
    if check.of_columns == SAFE_HARBOR:
        open_ones = [(str(clause), str(column)) for clause, column in check.details["unclear"]]
        identifiers = [
            (finding["clause"], each["column"]) for finding in check.details["clauses"] for each in finding["found"]
        ]
        return tuple((names, 0) for names in sorted({*identifiers, *open_ones}))
    if check.of_columns == COLUMNS_NAMED:
        return tuple(((column,), 0) for column in sorted(check.details["columns"]))
    return tuple((column_set.columns, column_set.at_risk) for column_set in test.sets)


def settled(test: GateTest, before: Accepted | None) -> GateTest:
    """The test with its drift: a failing one that did not get worse is accepted."""
    now = accepted_from(test)
    if now is None:
        return test
    if before is None:
        sentence = "It has no accepted state." if test.outcome in (Outcome.FAIL, Outcome.WARN) else ""
        return replace(test, change=Change(Drift.NEW, sentence))
    if before.asked != now.asked:
        return _of_another_question(test, before, now)
    worse, better = list(_moves(test, before, now, worse=True)), list(_moves(test, before, now, worse=False))
    if test.outcome is Outcome.FAIL and not before.falls_short and not worse:
        worse = ["it passed before and fails now"]  # whatever its figures say or leave open
    drift = Drift.WORSE if worse else Drift.BETTER if better else Drift.SAME
    tolerated = test.outcome in (Outcome.FAIL, Outcome.WARN) and drift is not Drift.WORSE
    outcome = Outcome.ACCEPTED if tolerated else test.outcome
    return replace(test, change=Change(drift, _joined(worse or better)), outcome=outcome)


def _of_another_question(test: GateTest, before: Accepted, now: Accepted) -> GateTest:
    """The test with what was changed in the policy since it was accepted, at the line of the change if it is known."""
    accepted, here = before.quasi_identifiers, now.quasi_identifiers or ()
    new = [name for name in here if accepted is not None and name not in accepted]
    gone = [name for name in accepted or () if name not in here]
    changes = [f"new among the quasi-identifiers: {', '.join(new)}"] if new else []
    changes += [f"no longer among the quasi-identifiers: {', '.join(gone)}"] if gone else []
    changes = changes or [_OTHER]
    if None not in (before.level, now.level) and _compared(now.level, before.level):
        assert test.check is not None
        forms = model_of(test.check.model).short_forms
        changes.append(f"{forms[0] if forms else 'the level'} was {before.level}, is {now.level}")
    place = test.columns[new[0]] if new else test.place
    return replace(test, change=Change(Drift.NEW, _joined(changes)), place=place)


def _joined(sentences: Sequence[str]) -> str:
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _moves(test: GateTest, before: Accepted, now: Accepted, *, worse: bool) -> Iterator[str]:
    """Yield what moved in one direction, in words."""
    assert test.check is not None
    if test.check.of_columns not in ("", IDENTIFIER):  # another finding in the place of one has the same count
        yield from _finding_moves(test.check.of_columns, before, now, test.unit, worse=worse)
        return
    figures = {"level": (before.level, now.level), "failing_rows": (before.failing_rows, now.failing_rows)}
    for name in [name for name, (old, new) in figures.items() if worse and old is None and new is not None]:
        if test.outcome in (Outcome.FAIL, Outcome.WARN):  # nothing shows that it is no worse
            yield f"{name} is missing in the accepted state"
    sign = 1 if test.check.operator in (">=", ">") else -1
    step = _compared(now.level, before.level) * sign
    if step and (step < 0) is worse:
        yield f"the level was {before.level} and is {now.level}"
    old, new = before.failing_rows, now.failing_rows
    if test.check.of_columns == IDENTIFIER:  # it is in the table, however many rows are added
        return
    if old is not None and new is not None and old != new and (new > old) is worse:
        yield f"{old:,} rows failed before and {new:,} fail now"


def _finding_moves(found_by: str, before: Accepted, now: Accepted, unit: str, *, worse: bool) -> Iterator[str]:
    """Findings that were not accepted, and column sets that put more (or fewer) people at risk."""
    old, new = dict(before.findings), dict(now.findings)
    from_here, to_there = (new, old) if worse else (old, new)
    for names in from_here:
        if found_by == COLUMN_SETS:
            if not any(set(names) >= set(accepted_set) for accepted_set in to_there):
                yield f"the column set {', '.join(names)} {'is beyond' if worse else 'keeps'} the limit now"
        elif names not in to_there:
            yield f"{' '.join(names)} {'was not accepted' if worse else 'is no longer found'}"
    for names in new.keys() & old.keys():
        if new[names] != old[names] and (new[names] > old[names]) is worse:
            yield f"{', '.join(names)} put {old[names]:,} {unit} at risk and puts {new[names]:,}"


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


# The file of a baseline: a text with a line for each test, which branches can merge. `sqlaudit test` never writes it.

Key = tuple[str, str, str]
_VERSION = "1"
_COUNTS = ("failing_classes", "failing_rows", "rows")
_KEYS = (
    *("table", "requirement", "sensitive", "fails", "level", *_COUNTS),
    *("quasi_identifiers", "findings", "asked"),
)
_HEAD = f"""\
# What `sqlaudit baseline` accepted, one line a test. `sqlaudit test --baseline` compares with it and never writes it.
version: {_VERSION}
accepted:
"""


@dataclass(frozen=True)
class Baseline:
    """The file with the accepted state of tests."""

    path: Path

    def accepted(self) -> dict[Key, Accepted]:
        """Return the accepted states, by test.

        Raises:
            UsageError: there is no such file, or it is no baseline.
        """
        quoted = shlex.quote(str(self.path))
        if not is_file(self.path):
            raise UnknownFile(
                f"There is no baseline {str(self.path)!r}; `sqlaudit baseline --baseline {quoted}` accepts today's "
                "state."
            )
        if self.is_old:
            new = self.path.with_suffix(".yml")
            raise UsageError(
                f"{str(self.path)!r} is a baseline of an older version. Run `sqlaudit baseline --baseline {quoted}` "
                f"once, which converts it to {str(new)!r}."
            )
        root = load_nodes(self.path)
        mistakes = Mistakes()
        top = mistakes.section(root or nodes_of(None), "a baseline", ("version", "accepted"))
        if mistakes or root is None or "version" not in top or top["version"].value != _VERSION:
            raise UsageError(f"{str(self.path)!r} is not a baseline of this version.")
        states: dict[Key, Accepted] = {}
        for node in top["accepted"].items("accepted") if top.filled.get("accepted") else []:
            key, state = _read_state(node)
            if key in states:
                raise node.fail(f"{key[0]}: {for_attribute(key[1], key[2])} is here twice. Keep one of the lines.")
            states[key] = state
        return states

    @property
    def is_old(self) -> bool:
        """True if it is a DuckDB file, as older versions wrote."""
        with self.path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"

    def write(self, states: Mapping[Key, Accepted]) -> None:
        """Write what is accepted, sorted by test.

        Raises:
            UsageError: the file cannot be written.
        """
        write_text(self.path, _HEAD + "".join(f"- {_line(key, state)}\n" for key, state in sorted(states.items())))

    def converted(self) -> Path:
        """Write what a DuckDB file of an older version accepted beside it, as a text.

        Raises:
            UsageError: the file is no baseline, or the new one is there already.
        """
        new = self.path.with_suffix(".yml")
        if new.exists():
            raise UsageError(f"{str(new)!r} exists, so {str(self.path)!r} is no longer needed.")
        with _open_file(self.path, f"The baseline {str(self.path)!r} cannot be used", read_only=True) as store:
            relations = store.relations()
            if any(relations.get(name, ("",))[0] != "table" for name in ("runs", "results")):
                raise UsageError(f"{str(self.path)!r} is a DuckDB file without a baseline.")
            rows = store.run("accepted.sql")
        states = {}
        for table, requirement, sensitive, short, level, classes, failing, total, sets, asked in rows:
            findings = tuple((tuple(columns), int(count)) for columns, count in json.loads(sets))
            state = Accepted(short, level, classes, failing, total, findings, asked)
            states[table, requirement, sensitive] = state
        Baseline(new).write(states)
        return new


def accept(before: Mapping[Key, Accepted], result: GateResult, *, has_all_tests: bool) -> dict[Key, Accepted]:
    """Return the accepted state with what a result adds: that of tests without a result stays.

    Args:
        has_all_tests: whether the result has all tests of the policy, so that others are gone.
    """
    gone = set(gone_tests(before, result)) if has_all_tests else set()
    states = {test.key: state for test in result.tests if (state := accepted_from(test)) is not None}
    for table, columns in columns_without_role(result).items():
        names = tuple(((column,), 0) for column in sorted(columns))
        states[table, WITHOUT_ROLE, ""] = Accepted(False, None, None, None, None, names)
    return {key: state for key, state in before.items() if key not in gone} | states


def columns_without_role(result: GateResult) -> dict[str, tuple[str, ...]]:
    """Return the columns without a role of every table whose columns were looked at."""
    columns_of_table = {test.table: tuple[str, ...]() for test in result.tests if test.check is not None}
    for table, warning in result.warnings:
        if warning.code == "columns_without_role":
            columns_of_table[table] = (*columns_of_table.get(table, ()), *warning.columns)
    return columns_of_table


def gone_tests(before: Mapping[Key, Accepted], result: GateResult) -> list[Key]:
    """Return the accepted tests that a result of all tests does not have. One without a result has no attribute."""
    here = {test.key for test in result.tests} | {(test.table, test.requirement, "") for test in result.tests}
    here |= {(table, WITHOUT_ROLE, "") for table, *_ in here}
    return [key for key in before if key not in here and (key[0], key[1], "") not in here]


def _line(key: Key, state: Accepted) -> str:
    """A test as one line of YAML; what is not there is left out."""
    figures = (*key, state.falls_short, state.level, state.failing_classes, state.failing_rows, state.rows)
    values = (*figures, state.quasi_identifiers, state.findings, state.asked)
    pairs = ((name, value) for name, value in zip(_KEYS, values, strict=True) if value is not None and value != "")
    return "{" + ", ".join(f"{name}: {_flow(value)}" for name, value in pairs) + "}"


def _flow(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return yaml_text(value) if isinstance(value, str) else json.dumps(value)


def _read_state(node: Node) -> tuple[Key, Accepted]:
    """Return the test and the state of a line.

    Raises:
        UsageError: something in it is not what `_line` writes.
    """
    mistakes = Mistakes()
    line = mistakes.section(node, "an accepted state", _KEYS)
    names = tuple(line.take(name, Node.text, "") for name in _KEYS[:3])
    classes, failing, rows = (line.take(name, _count, None) for name in _COUNTS)
    level = line.take("level", Node.text, None)
    findings = line.take("findings", _read_findings, ())
    columns = line.take("quasi_identifiers", _read_names, None)
    falls_short, asked = line.take("fails", flag, True), line.take("asked", Node.text, "")
    if mistakes or not {"table", "requirement", "fails"} <= line.keys() or (level and not _LEVEL.fullmatch(level)):
        raise UsageError(f"{node.place}: {mistakes[0].message if mistakes else 'is no accepted state of a test.'}")
    state = Accepted(falls_short, level, classes, failing, rows, findings, asked, columns)
    return (names[0], names[1], names[2]), state


_LEVEL = re.compile(r"-?(\d+(/[1-9]\d*)?|\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+|inf)", re.ASCII)


def _count(node: Node, what: str) -> int:
    return 0 if node.value == "0" else whole(node, what, "from 0", 15)


def _read_names(node: Node, what: str) -> tuple[str, ...]:
    return tuple(name.text(what) for name in node.items(what))


def _read_findings(node: Node, what: str) -> Findings:
    pairs = [pair_node.items(what) for pair_node in node.items(what)]
    if any(len(pair) != 2 for pair in pairs):
        raise node.fail(f"{what} are pairs of names and rows.")
    return tuple((_read_names(names, what), _count(rows, what)) for names, rows in pairs)


# A history: every test of every run as a line of JSON, in a file of its own that each run adds to.

_MOMENT = ("run", "time", "accepted", "policy", "table", "requirement", "sensitive", "outcome", "level", *_COUNTS[1:])


@dataclass(frozen=True)
class History:
    """The file with the runs.

    Args:
        path: the file; it is made when the first run is written.
    """

    path: Path

    def add(self, result: GateResult, *, accepted: bool) -> None:
        """Add a run at the end of the file.

        Raises:
            UsageError: the file cannot be written.
        """
        lines = []
        for test in result.tests:
            if (state := accepted_from(test)) is not None:
                about = (result.run_id, result.time[:19], accepted, result.policy, *test.key, test.outcome.value)
                values = (*about, state.level, state.failing_rows, state.rows)
                lines.append(json.dumps(dict(zip(_MOMENT, values, strict=True))) + "\n")
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(lines))
        except OSError as error:
            raise UsageError(f"{str(self.path)!r} cannot be written ({error.strerror}).") from None

    def moments(self, runs: int = 10) -> dict[Key, list[Moment]]:
        """Every test through the last runs, the newest first.

        Raises:
            UsageError: there is no such file, or it is no history.
        """
        if not is_file(self.path):
            raise UnknownFile(f"There is no history {str(self.path)!r}; `sqlaudit test --history` adds a run to it.")
        numbers: dict[str, int] = {}
        moments: dict[Key, list[Moment]] = {}
        for line_number, text in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
                key = (line["table"], line["requirement"], line["sensitive"])
                number = numbers.setdefault(line["run"], len(numbers) + 1)
                values = (
                    line["time"].replace("T", " ")[:16] + " UTC",
                    *(line[name] for name in _MOMENT[2:3] + _MOMENT[7:]),
                )
            except (ValueError, KeyError, TypeError, AttributeError):
                raise UsageError(f"{self.path}, line {line_number}: is not a line of a history.") from None
            moments.setdefault(key, []).insert(0, Moment(number, *values))
        last = len(numbers) - runs
        last_moments = {
            key: [moment for moment in moments_of_test if moment.run > last]
            for key, moments_of_test in sorted(moments.items())
        }
        return {key: moments_of_test for key, moments_of_test in last_moments.items() if moments_of_test}


# `--store-failures`: the failing classes. Their keys are values of the audited table, and are kept only when
# that was asked for.

NAMES = ("table", "failed_requirements", "sensitive", "class_size", "class_rows", "classes", "figures", "key")
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
            relation = store.relations().get("failures")
            if relation is not None and relation[:2] != ("table", MARKER):
                raise UsageError(
                    f"{str(self.path)!r} holds a {relation[0]} 'failures' that sqlaudit did not make, and that is "
                    "never replaced; name another file, or rename it there."
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

    def _batches(self, table: str, failing: Iterable[FailingClass]) -> Iterator[list[list[object]]]:
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

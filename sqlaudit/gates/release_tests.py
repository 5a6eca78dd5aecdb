"""Tests of a policy's release: it is made again, and the file that exists must have the same columns and rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlaudit.base.errors import SqlauditError, UnknownFile, UsageError
from sqlaudit.base.files import PrivateFolder, exists
from sqlaudit.base.names import quote
from sqlaudit.base.office_files import contents_beside_cells
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status, Warned
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.judging import attempt, blank, errored, judged
from sqlaudit.gates.release_section import RELEASE, with_destination
from sqlaudit.gates.result import GateTest, Outcome, ReleaseLimit, TableEntry, TestSpec
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.lattices.run import search_and_publish
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import columns_check
from sqlaudit.reports.document import listing, plural

_READ_AS_TEXT = (".csv", ".xlsx")
"""The endings of files whose cells are compared as their texts, which no guess of a type changes."""
_NOT_JUDGED = "Not judged, because the file is not the release that the policy makes."


@dataclass(frozen=True)
class Comparison:
    """A release beside the same release made again from its table.

    Args:
        again: the search that made it again. rows: rows of the file. differing: rows that only one of both has; where
            they cannot be compared, all of the file.
        problems: how the file differs, in sentences; empty = it does not.
    """

    again: LatticeResult
    rows: int
    differing: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileComparison:
    """A file beside what the policy makes.

    Args:
        differing: rows that only one of both has; where they cannot be compared, all of the file.
        problems: how it differs, in sentences; empty = it does not. of_keys: values of each key that only the file has.
    """

    differing: int
    problems: tuple[str, ...]
    of_keys: tuple[int, ...] = ()


@dataclass
class ReleaseTests:
    """Runs the tests of tables that a policy releases, each on the file of its release.

    Args:
        engine: an open engine with the tables. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date

    def run(self, entry: TableEntry, limit: ReleaseLimit) -> tuple[list[GateTest], tuple[Warned, ...]]:
        """Return the results of a table's tests in their order, and the remarks of the search.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        compared = attempt(lambda: compare_release(self.engine, limit))
        if isinstance(compared, SqlauditError):
            return [errored(entry, spec, compared) for spec in entry.tests], ()
        tests = [test for spec in entry.tests for test in self._tests(entry, spec, compared)]
        return tests, compared.again.remarks

    def _tests(self, entry: TableEntry, spec: TestSpec, compared: Comparison) -> Iterator[GateTest]:
        """Yield the results of one test: what a requirement found in the release counts only if the file is that."""
        published = compared.again.published
        if isinstance(spec.limit, ReleaseLimit):
            test = judged(entry, spec, _release_check(spec, compared), compared.rows, None, self.today)
            yield replace(test, message=" ".join(filter(None, (*compared.problems, test.message))))
            return
        if compared.problems or published is None or published.audit is None:
            outcome = Outcome.WARN if spec.severity == "warn" else Outcome.UNDETERMINED
            yield blank(entry, spec, outcome, _NOT_JUDGED)
            return
        audit = published.audit
        if spec.identifier and spec.identifier not in published.columns:
            yield replace(blank(entry, spec, Outcome.PASS, "The release does not have it."), rows=audit.rows)
            return
        checks: list[Check]
        if spec.all_named:
            unnamed = [name for name in published.unnamed if name not in entry.insensitive]
            warned = [Warned("columns_without_role", tuple(unnamed), "")] if unnamed else []
            checks = [columns_check(warned, audit.rows)]
        else:
            checks = [check for check in audit.checks if spec.model is not None and check.text == spec.model.text]
        for check in checks:
            yield judged(entry, spec, check, audit.rows, audit.classes, self.today)
        if not checks:
            yield errored(entry, spec, UsageError("It has no result, so nothing was tested."))


def _release_check(spec: TestSpec, compared: Comparison) -> Check:
    """Return the check that no row of the file differs from the release as it was made again."""
    undecided = compared.again.best is None and not compared.again.complete
    status = Status.FAIL if compared.problems else Status.PASS
    return Check(
        model=RELEASE,
        sensitive=None,
        parameters={},
        level=compared.differing,
        levels={"rows": compared.differing},
        operator="<=",
        required=0,
        status=Status.UNDETERMINED if undecided else status,
        text=spec.requirement,
        title="Number of rows that differ from the policy's release",
        note="the search for the levels was stopped" if undecided else "",
    )


def compare_release(engine: Engine, limit: ReleaseLimit) -> Comparison:
    """Make a release again in a private folder, and compare the file that exists with it.

    Args:
        engine: an open engine with its table. limit: the release.

    Raises:
        UsageError: the policy names no file, a level that is not there, or a file that cannot be read.
    """
    file, rows = rows_of_made(limit.file, RELEASE, "lattice")
    with PrivateFolder(RELEASE) as folder:
        again = folder.path / file.name
        result = search_and_publish(engine, with_destination(limit, again))
        published = result.published
        if published is None:
            why = " ".join(result.why) or "No node is safe."
            return Comparison(result, rows, max(rows, 1), (f"The policy makes no release: {why}",))
        keys = [[published.columns.index(key) + 1] for key in published.keys]
        found = compare_files(file, again, rows, keys, RELEASE, "row")
    levels = result.named(published.levels)
    cells = [
        f"{key}: {plural(number, 'cell')} that level {levels[key]!r} does not give."
        for key, number in zip(published.keys, found.of_keys, strict=False)
        if number
    ]
    return Comparison(result, rows, found.differing, (*cells, *found.problems))


def rows_of_made(file: Path | None, what: str, command: str) -> tuple[Path, int]:
    """Return the file that a policy makes of a table, and its rows; before it is made again, which may take long.

    Args:
        file: of the policy; None = it names none. what: the key of the policy. command: what makes it.

    Raises:
        UsageError: the policy names no file, or one that is not there or cannot be read.
    """
    if file is None:
        raise UsageError(f"{what!r} has no 'to', so there is no file to test.")
    if not exists(file):
        raise UnknownFile(f"There is no {what} {str(file)!r}. `sqlaudit {command} -f` makes it from the policy.")
    target = target_of_file(file)
    with connect(None, None, target) as reader:
        ((rows,),) = reader.run(render("base/row_count.sql", reader.dialect, source=reader.open(target)))
    return file, rows


def compare_files(
    file: Path, again: Path, rows: int, keys: Sequence[Sequence[int]], what: str, unit: str
) -> FileComparison:
    """Compare a file with what the policy makes: their columns, in order, and their rows, in any order.

    Args:
        file: with so many rows. again: what the policy makes. keys: places of columns, from 1 on.
        what, unit: what the file and its rows are called.
    """
    first, second = target_of_file(file), target_of_file(again)
    with connect(None, None, first, second) as reader:
        found = _compare(reader, reader.open(first), reader.open(second), rows, keys, what, unit)
    if not (beside := contents_beside_cells(file, again)):
        return found
    # No row differs, but the file is not what the policy makes
    problem = f"The file has {beside}. Make it again, or save only the cells."
    return replace(found, differing=max(found.differing, 1), problems=(*found.problems, problem))


def target_of_file(file: Path) -> Target:
    """Return a file that a policy makes as a target, with texts in place of guessed types."""
    as_text = file.suffix.lower() in _READ_AS_TEXT
    return Target(relation=str(file), read=ReadOptions(header=True, all_text=True) if as_text else ReadOptions())


def _compare(
    reader: Engine, released: Relation, again: Relation, rows: int, keys: Sequence[Sequence[int]], what: str, unit: str
) -> FileComparison:
    names, expected = ([column.name for column in relation.columns] for relation in (released, again))
    if names != expected:
        # No name of the file: of one without a header, names are values
        missing, more = [name for name in expected if name not in names], {*names} - {*expected}
        parts = [f"it lacks {listing(missing)}"] * bool(missing) + [f"it has {len(more)} others"] * bool(more)
        how = " and ".join(parts) or "they are in another order"
        return FileComparison(max(rows, 1), (f"Its columns are not those of the policy's {what}: {how}.",))
    statement = render(
        "gates/release_rows.sql",
        reader.dialect,
        step=f"rows of the {what}",
        released=released,
        again=again,
        released_columns=[Raw(quote(name, reader.dialect)) for name in names],
        again_columns=[Raw(quote(name, reader.dialect)) for name in expected],
        keys=keys,
    )
    added, missing_rows, *of_keys = reader.run(statement)[0]
    problem = (
        f"{plural(added, unit)} of the file {'is' if added == 1 else 'are'} not in the policy's {what}, and "
        f"{missing_rows:,} of its {unit}s {'is' if missing_rows == 1 else 'are'} not in the file."
    )
    return FileComparison(added + missing_rows, (problem,) if added or missing_rows else (), tuple(of_keys))

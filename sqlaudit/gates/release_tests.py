"""Tests of a policy's release: it is made again, and the file that exists must have the same columns and rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import ExitStack
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
    if limit.file is None:
        raise UsageError("'release' has no 'to', so there is no file to test.")
    if not exists(limit.file):
        raise UnknownFile(f"There is no release {str(limit.file)!r}. `sqlaudit lattice -f` makes it from the policy.")
    released = _target(limit.file)
    with connect(None, None, released) as reader:
        # Before the search, which may take long
        ((rows,),) = reader.run(render("base/row_count.sql", reader.dialect, source=reader.open(released)))
    with PrivateFolder(RELEASE) as folder, ExitStack() as stack:
        again = _target(folder.path / limit.file.name)
        result = search_and_publish(engine, with_destination(limit, Path(again.relation)))
        published = result.published
        if published is None:
            why = " ".join(result.why) or "No node is safe."
            return Comparison(result, rows, max(rows, 1), (f"The policy makes no release: {why}",))
        reader = stack.enter_context(connect(None, None, released, again))
        compared = _compare(reader, reader.open(released), reader.open(again), result, rows)
        if not (beside := contents_beside_cells(limit.file, Path(again.relation))):
            return compared
        # No row differs, but the file is not the release
        problem = f"The file has {beside}. Make it again, or save only the cells."
        return replace(compared, differing=max(compared.differing, 1), problems=(*compared.problems, problem))


def _target(file: Path) -> Target:
    as_text = file.suffix.lower() in _READ_AS_TEXT
    return Target(relation=str(file), read=ReadOptions(header=True, all_text=True) if as_text else ReadOptions())


def _compare(reader: Engine, released: Relation, again: Relation, result: LatticeResult, rows: int) -> Comparison:
    """Compare two files by their columns, in order, and their rows, in any order."""
    published = result.published
    assert published is not None
    names, expected = ([column.name for column in relation.columns] for relation in (released, again))
    if names != expected:
        # No name of the file: of one without a header, names are values
        missing, more = [name for name in expected if name not in names], {*names} - {*expected}
        parts = [f"it lacks {listing(missing)}"] * bool(missing) + [f"it has {len(more)} others"] * bool(more)
        what = " and ".join(parts) or "they are in another order"
        return Comparison(result, rows, max(rows, 1), (f"Its columns are not those of the policy's release: {what}.",))
    keys = [(published.columns.index(key), key) for key in published.keys]
    statement = render(
        "gates/release_rows.sql",
        reader.dialect,
        step="rows of the release",
        released=released,
        again=again,
        released_columns=[Raw(quote(name, reader.dialect)) for name in names],
        again_columns=[Raw(quote(name, reader.dialect)) for name in expected],
        keys=[place + 1 for place, _ in keys],
    )
    added, missing_rows, *cells = reader.run(statement)[0]
    levels = result.named(published.levels)
    problems = [
        f"{key}: {plural(number, 'cell')} that level {levels[key]!r} does not give."
        for (_, key), number in zip(keys, cells, strict=True)
        if number
    ]
    if added or missing_rows:
        problems.append(
            f"{plural(added, 'row')} of the file {'is' if added == 1 else 'are'} not in the policy's release, and "
            f"{missing_rows:,} of its rows {'is' if missing_rows == 1 else 'are'} not in the file."
        )
    return Comparison(result, rows, added + missing_rows, tuple(problems))

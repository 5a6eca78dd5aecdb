"""Tests of a policy's cube: it is made again, and the file that exists must have the same blocks and figures."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.files import DATABASE, PrivateFolder, exists
from sqlaudit.base.result import Status, Warned
from sqlaudit.cubes.result import CubeResult
from sqlaudit.cubes.run import make_cube
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.cube_section import CUBE, with_destination
from sqlaudit.gates.judging import attempt, blank, errored, judged
from sqlaudit.gates.release_tests import compare_files, rows_of_made
from sqlaudit.gates.result import CubeLimit, GateTest, Outcome, TableEntry, TestSpec
from sqlaudit.models.base import Check
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.reports.document import plural

_NOT_JUDGED = "Not judged, because the file is not the cube that the policy makes."


@dataclass(frozen=True)
class CubeComparison:
    """A cube beside the same cube made again from its table.

    Args:
        again: the cube made again. blocks: of the file. differing: blocks that only one of both has.
        problems: how the file differs, in sentences; empty = it does not.
    """

    again: CubeResult
    blocks: int
    differing: int
    problems: tuple[str, ...]


@dataclass
class CubeTests:
    """Runs the tests of the cube of one table: it is made again once for all of them.

    Args:
        engine: an open engine with the table. today: the day that exceptions are compared with.
    """

    engine: Engine
    today: datetime.date
    _compared: CubeComparison | SqlauditError | None = field(default=None, init=False)

    def run(self, entry: TableEntry, spec: TestSpec, limit: CubeLimit) -> list[GateTest]:
        """Return the result of a test; what the blocks meet counts only if the file is the cube.

        Raises:
            Interrupted: somebody pressed Ctrl-C.
        """
        if self._compared is None:
            self._compared = attempt(lambda: compare_cube(self.engine, limit))
        compared = self._compared
        if isinstance(compared, SqlauditError):
            return [errored(entry, spec, compared)]
        if limit.rule is not None and compared.problems:
            outcome = Outcome.WARN if spec.severity == "warn" else Outcome.UNDETERMINED
            return [blank(entry, spec, outcome, _NOT_JUDGED)]
        test = judged(entry, spec, _check(spec, limit, compared), compared.blocks, None, self.today)
        return [replace(test, message=" ".join(filter(None, (*compared.problems, test.message))))]

    @property
    def remarks(self) -> tuple[Warned, ...]:
        """Remarks about how the table was read."""
        return self._compared.again.remarks if isinstance(self._compared, CubeComparison) else ()


def _check(spec: TestSpec, limit: CubeLimit, compared: CubeComparison) -> Check:
    """Return the check that no block of the file differs; of a rule, that none fails it, since no block differs."""
    rule = limit.rule
    return Check(
        model=CUBE if rule is None else rule.model,
        sensitive=None,
        parameters={} if rule is None else rule.parameters,
        level=compared.differing,
        levels={"blocks": compared.differing},
        operator="<=",
        required=0,
        status=Status.FAIL if compared.problems else Status.PASS,
        text=spec.requirement,
        title=(
            "Number of blocks that differ from the policy's cube"
            if rule is None
            else f"Unsafe blocks by the {CELL_RULES[rule.model].title}"
        ),
    )


def compare_cube(engine: Engine, limit: CubeLimit) -> CubeComparison:
    """Make a cube again in a private folder, and compare the file that exists with it.

    Args:
        engine: an open engine with its table. limit: the cube.

    Raises:
        UsageError: the policy names no file, or a file, column or level that is not there.
    """
    with PrivateFolder(CUBE) as folder:
        file = limit.file
        if file is not None and exists(file) and file.suffix.lower() == DATABASE:
            from sqlaudit.engines.duckdb.cube import parquet_of

            parquet_of(file, folder.path / "published.parquet", repr(str(file)))
            file = folder.path / "published.parquet"
        file, blocks = rows_of_made(file, CUBE, "cube")
        again = folder.path / f"again{file.suffix}"
        result = make_cube(engine, with_destination(limit, again))
        if not result.passed:
            return CubeComparison(result, blocks, max(blocks, 1), (f"The policy makes no cube: {result.why}.",))
        dimensions = range(1, len(result.dimensions) + 1)
        found = compare_files(file, again, blocks, [dimensions], CUBE, "block")
    unknown = sum(found.of_keys)
    problems = [f"{plural(unknown, 'block')} of the file must be left out, or no longer exist."] if unknown else []
    return CubeComparison(result, blocks, found.differing, (*found.problems, *problems))

"""Tests of column sets: how many columns single persons out, and which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.base.words import about
from sqlaudit.classes.persons_spelled import refuse_respelled
from sqlaudit.column_sets.request import ColumnRequest, FindSets
from sqlaudit.column_sets.result import ColumnSet, ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.gates.judging import judged
from sqlaudit.gates.result import ColumnSetFigures, GateTest
from sqlaudit.gates.shared_runs import SharedRuns
from sqlaudit.gates.spec import ColumnLimit, TableEntry, TestSpec
from sqlaudit.models.check import Check
from sqlaudit.reports.figures import percent

MOST_SETS = 10_000
_SETS_SAID = 3


@dataclass
class ColumnSetTests(SharedRuns[ColumnLimit, ColumnSets]):
    """Runs the tests on column sets of one table, one for each limit.

    Args:
        rows: the rows of a table, with what is known of its persons.
    """

    rows: Callable[[TableEntry], Relation | Target]

    def _limit(self, spec: TestSpec) -> ColumnLimit | None:
        return spec.columns

    def _question(self, limit: ColumnLimit) -> ColumnLimit:
        return limit

    def _find(self, entry: TableEntry, alike: Sequence[ColumnLimit]) -> ColumnSets:
        roles, limit = entry.roles, alike[0]
        columns: Sequence[str] = () if limit.among == "all" else limit.among
        if limit.among == "quasi_identifiers":
            columns = [name for name in roles.quasi_identifiers if name not in limit.exclude]
        exclude = limit.exclude if columns else (*roles.identifiers, *limit.exclude)
        if columns:
            columns, exclude = [name for name in columns if name not in exclude], ()
        request = ColumnRequest(
            tuple(columns),
            exclude,
            roles.entity,
            k=limit.k,
            tolerance=limit.share,
            max_size=limit.max_size,
            find=FindSets.ALL,
            limit=MOST_SETS,
            nulls=roles.nulls,
            effects=False,
        )
        rows = self.rows(entry)
        relation = rows if isinstance(rows, Relation) else self.engine.open(rows)
        self._refuse_respelled(entry, relation)
        return find_columns(self.engine, relation, request)

    def _refuse_respelled(self, entry: TableEntry, relation: Relation) -> None:
        """Nothing where every person has one name.

        Raises:
            UsageError: somebody has several, and seems to be more than one.
        """
        if entry.roles.entity is None:
            return
        person = resolve(entry.roles.entity, relation, self.engine.dialect, about("entity"))
        refuse_respelled(self.engine, person.label, [(relation, person)], "column_sets")

    def _tests(self, entry: TableEntry, spec: TestSpec, limit: ColumnLimit, result: ColumnSets) -> Iterator[GateTest]:
        test = judged(entry, spec, _check_of(spec, limit, result), result.total, None, self.today)
        sets = tuple(ColumnSetFigures(one.columns, one.rows_at_risk) for one in result.sets)
        said = " ".join(part for part in (_sets_said(result), test.message) if part)
        yield replace(test, sets=sets, unit=result.unit, message=said)


def _check_of(spec: TestSpec, limit: ColumnLimit, found: ColumnSets) -> Check:
    """A limit on column sets as a check: how many minimal sets are beyond it, and the rows of the worst of them."""
    worst = max((one.rows_at_risk for one in found.sets), default=0)
    status = Status.FAIL if found.sets_found else Status.PASS if found.complete else Status.UNDETERMINED
    return Check(
        model="column_sets",
        sensitive=None,
        title="column sets beyond the limit",
        parameters={"max_size": limit.max_size, "k": limit.k, "share": limit.share},
        level=found.sets_found,
        levels={"sets": found.sets_found},
        operator="<=",
        required=0,
        status=status if found.total else Status.UNDETERMINED,
        failing_rows=worst,
        failing_share=worst / found.total if found.total else None,
        text=spec.requirement,
    )


def _sets_said(found: ColumnSets) -> str:
    """The worst sets in words; column names and counts only."""
    if not found.sets:
        return ""
    ranked = sorted(found.sets, key=lambda one: (-one.rows_at_risk, one.columns))
    said = "; ".join(_set_said(one, found) for one in ranked[:_SETS_SAID])
    more = f"; and {len(found.sets) - _SETS_SAID} more" if len(found.sets) > _SETS_SAID else ""
    return f"{said}{more}."


def _set_said(one: ColumnSet, found: ColumnSets) -> str:
    names = ", ".join(one.columns) or "no column at all"
    share = percent(one.share_at_risk)
    return f"{names}: {one.rows_at_risk:,} of {found.total:,} {found.unit} ({share}) in classes below {found.k}"

"""A suppression, from a request and an engine to a result whose release was audited."""

from __future__ import annotations

import math
import secrets
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from sqlaudit.audits.release import before, in_one_spelling, refuse_creation, statements_before
from sqlaudit.base import solver
from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import OpenedTable, describe_roles, open_for_release, open_table
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, Provenance, provenance
from sqlaudit.lattices.losses import column_weights
from sqlaudit.remedies.result import Release
from sqlaudit.remedies.rewriting import (
    KEEP,
    STAR,
    Patterns,
    Piece,
    RemedyTable,
    make_table,
    read_patterns,
    release,
    rewrite,
    sql_of_release,
)
from sqlaudit.remedies.suppress.exact import decide
from sqlaudit.remedies.suppress.fast import Watch
from sqlaudit.remedies.suppress.problem import Problem, Solution
from sqlaudit.remedies.suppress.request import How, SuppressRequest
from sqlaudit.remedies.suppress.result import Effort, SuppressedColumn, SuppressResult
from sqlaudit.reports.document import plural


def _open_table(engine: Engine, request: SuppressRequest) -> OpenedTable:
    """Open the table, find its roles and read the inputs.

    Raises:
        UsageError: a column that is not there, or an input that may belong to several attributes.
    """
    relation = open_for_release(engine, request.target, request.roles)
    return open_table(engine, relation, request.roles, request.inputs)


def _rewritten(table: OpenedTable, request: SuppressRequest) -> RemedyTable:
    """Return the table as its rows are rewritten: each value of a quasi-identifier has one spelling.

    Raises:
        UsageError: a column has equal values with several spellings, and no standard one.
    """
    roles = in_one_spelling(table.engine, table.relation, table.roles)
    spread = roles.sensitive if request.l > 1 else ()
    return RemedyTable(table.engine, table.relation, roles, request.roles, spread)


def suppress_table(engine: Engine, request: SuppressRequest, watch: Watch | None = None) -> SuppressResult:
    """Find a suppression, audit its release and write it.

    Args:
        engine: an open engine. request: the request. watch: gets progress.

    Raises:
        UsageError: a request that the table cannot meet, or that does not fit it.
        MissingDriver: an exact answer was requested, and there is no solver.
        EngineError: the database refused or failed, or the audit contradicts the suppression.
    """
    already = len(engine.executed)
    if request.how is How.EXACT and request.rows is not Suppressed.DROP:
        solver.require()
    opened = _open_table(engine, request)
    table = _rewritten(opened, request)
    opened.refuse_spelling_conflicts()
    before(engine, request.publication, table.written(request.publication.keep))
    _refuse_several_rows(table)
    patterns = read_patterns(table)
    problem = _problem(request, table, patterns)
    answer = _dropped(problem) if request.rows is Suppressed.DROP else _decided(request, table, problem, watch)
    released = None
    if answer.effort.stopped != "interrupted":
        released = _released(request, table, patterns, answer)
    return _result(request, table, patterns, problem, answer, released, provenance(engine, already))


def plan_suppression(engine: Engine, request: SuppressRequest) -> list[Statement]:
    """Return the statements of a suppression that are known before anything has run.

    Raises:
        UsageError: a column that is not there, or a column to keep that is not published.
    """
    table = _rewritten(_open_table(engine, request), request)
    written = table.written(request.publication.keep)
    return [*statements_before(engine, request.publication, written), table.patterns_statement()]


@dataclass(frozen=True)
class _Answer:
    """A decision on each copy, and what is known of it; costs in units of `scale`."""

    pieces: list[Piece]
    cells: tuple[int, ...]
    cost: int
    bound: int
    touched: int
    effort: Effort


def _decided(request: SuppressRequest, table: RemedyTable, problem: Problem, watch: Watch | None) -> _Answer:
    """Return the suppression that the search finds.

    Raises:
        UsageError: not even the whole table, with everything suppressed, meets the requirements.
    """
    label, values = table.relation.label, len(np.unique(problem.sensitive))
    if problem.rows < problem.k:
        raise UsageError(f"{label} has {plural(problem.rows, 'row')}, so no group of it can have {problem.k:,}.")
    if values < problem.l:
        attribute = table.roles.sensitive[0].label
        raise UsageError(f"{attribute} has {values:,} different values, so no group can have {problem.l:,} of them.")
    decision = decide(problem, request.how, request.time_budget, watch)
    best, stopped = decision.solution, decision.stopped
    if not decision.optimal and not stopped and request.how is How.AUTO and not solver.available():
        stopped = "solver"
    fast_cost = Fraction(decision.fast_cost, _scale(request))
    effort = Effort(request.how.value, decision.method, stopped, decision.variables, decision.patterns, fast_cost)
    touched = int(best.copies[best.starred[best.groups].any(axis=1)].sum())
    return _Answer(_pieces(best), best.cells, best.cost, decision.bound, touched, effort)


def _pieces(best: Solution) -> list[Piece]:
    """Return a solution as pieces: the copies of a unit follow each other from group to group."""
    pieces: list[Piece] = []
    levels = best.starred.astype(int).tolist()
    last_unit, reached = -1, 0
    for unit, count, group in best.pieces:
        reached = reached if unit == last_unit else 0
        pieces.append((unit + 1, reached + 1, reached + count, group + 1, *levels[group]))
        last_unit, reached = unit, reached + count
    return pieces


def _dropped(problem: Problem) -> _Answer:
    """Return the suppression that leaves out whole rows.

    A row that stays is published as it is, with all equal rows that stay, so these must be enough. In a class that is
    good all rows can stay, in any other none can: no answer leaves out fewer.
    """
    of_rows = replace(problem, missing_alone=problem.missing_alone and not problem.trivial)
    stay, groups = of_rows.grouped(range(problem.width), np.ones(problem.units, dtype=np.bool_), problem.sizes)
    group_of = dict(zip(stay.tolist(), (groups + 1).tolist(), strict=True))
    left_out = problem.rows - int(problem.sizes[stay].sum())
    levels = (0,) * problem.width
    pieces = [(unit + 1, 1, size, group_of.get(unit, 0), *levels) for unit, size in enumerate(problem.sizes.tolist())]
    cost = left_out * sum(problem.weights)
    return _Answer(pieces, (left_out,) * problem.width, cost, cost, left_out, Effort("exact", "rows"))


def _problem(request: SuppressRequest, table: RemedyTable, patterns: Patterns) -> Problem:
    """Return the problem in whole numbers.

    Raises:
        UsageError: there is no row.
    """
    width = len(table.roles.quasi_identifiers)
    if not patterns.rows:
        raise UsageError(f"{table.relation.label} has no rows.")
    sensitive = patterns.codes[:, width] if request.l > 1 else np.zeros(len(patterns.sizes), dtype=np.int64)
    scale = _scale(request)
    return Problem(
        patterns.codes[:, :width],
        patterns.sizes,
        sensitive,
        request.k,
        request.l,
        tuple(int(weight * scale) for weight in _weights(request, table)),
        request.roles.nulls is NullPolicy.DISTINCT,
        request.rows is not None,
    )


def _weights(request: SuppressRequest, table: RemedyTable) -> tuple[Fraction, ...]:
    """Return the cost of a cell of each column."""
    labels = [role.label for role in table.roles.quasi_identifiers]
    return column_weights(request.weights, labels) or (Fraction(1),) * len(labels)


def _scale(request: SuppressRequest) -> int:
    """Return what makes all weights whole."""
    return math.lcm(*(weight.denominator for weight in request.weights.values()))


def _refuse_several_rows(table: RemedyTable) -> None:
    """Raise UsageError if a person has more than one row, or a row has no person: then rows do not count persons."""
    entity = table.roles.entity
    if entity is None:
        return
    statement = render(
        "column_sets/columns_totals.sql",
        table.engine.dialect,
        step="rows and people",
        source=table.relation,
        entity=entity,
    )
    rows, persons, nameless = map(int, table.engine.run(statement)[0])
    if nameless or rows != persons:
        raise UsageError(
            f"{plural(rows, 'row is', 'rows are')} about {plural(persons, 'person', 'people')}. Suppression counts "
            f"rows, so with {spelled('entity')} every person needs exactly one row. Use sqlaudit recode, which counts "
            "people."
        )


def _released(request: SuppressRequest, table: RemedyTable, patterns: Patterns, answer: _Answer) -> Release:
    """Return the release, audited and written."""
    salt = secrets.randbits(63) if request.seed is None else request.seed
    levels = [(KEEP, STAR)] * len(table.roles.quasi_identifiers)
    rewritten = partial(rewrite, table, patterns, levels, answer.pieces, salt=salt)
    plain = rewritten()
    audited = rewritten(persons=True) if table.roles.entity else plain
    return release(
        table,
        plain,
        audited,
        request.requirements,
        original=request.target,
        inputs=request.inputs,
        publication=request.publication,
    )


def _result(
    request: SuppressRequest,
    table: RemedyTable,
    patterns: Patterns,
    problem: Problem,
    answer: _Answer,
    released: Release | None,
    origin: Provenance,
) -> SuppressResult:
    """Return the result: the answer with its cost and bound, the release, and where all of it comes from."""
    scale = _scale(request)
    labels = (role.label for role in table.roles.quasi_identifiers)
    columns = tuple(map(SuppressedColumn, labels, _weights(request, table), answer.cells))
    return SuppressResult(
        target=table.relation.label,
        rows=patterns.rows,
        patterns=problem.row_patterns,
        roles=describe_roles(request.roles),
        requirements=tuple(limit.text for limit in request.requirements if limit.severity != "warn"),
        warn_only=tuple(limit.text for limit in request.requirements if limit.severity == "warn"),
        whole_rows=request.rows.value if request.rows else "",
        columns=columns,
        cost=Fraction(answer.cost, scale),
        bound=Fraction(answer.bound, scale),
        affected_rows=answer.touched,
        effort=answer.effort,
        release=released,
        **origin,
    )


def code_of(result: SuppressResult) -> ExitCode:
    """Return the exit code of a suppression's result."""
    return verdict(True, result.complete)


@command(
    SuppressRequest,
    plan_suppression,
    code=code_of,
    sql=sql_of_release,
    stopped=lambda result: result.effort.stopped == "interrupted",
    check=lambda request, db: refuse_creation(request.publication, db),
    finish=make_table,
)
def suppress(engine: Engine, request: SuppressRequest) -> SuppressResult:
    """Find the fewest cells to suppress so that a release is safe (`sqlaudit suppress`).

    Args:
        require: k-anonymity, distinct l-diversity, or both.
        how: `exact`, `fast`, or `auto`: exact for small problems, otherwise near the optimum, with the gap.
        weights: cost of a cell by column; 1 by default.
        time_limit: seconds for the solver, None = any; then the best answer so far, with its gap.
        publish_sql: put the SELECT of the release into the result.

    Raises:
        UsageError: a request that does not fit the table, or that it cannot meet.
        MissingDriver: an exact answer was requested, and HiGHS is not installed.
        EngineError: the database refused or failed, or the audit of the release contradicts the suppression.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> figure_1 = pd.DataFrame({"x": list("xzyz"), "y": list("acac"), "z": list("bdbe")})
        >>> found = sqlaudit.suppress(figure_1, qi=["x", "y", "z"], require={"k": 2})
        >>> int(found.cost), found.optimal, [column.cells for column in found.columns]
        (4, True, [2, 0, 2])
    """
    return suppress_table(engine, request)

"""A suppression, from a request and an engine to a result whose release was audited."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sqlaudit.audits.release import before, in_one_spelling, statements_before
from sqlaudit.base import solver
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Given, request_from, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import NOTHING, Publication, Suppressed
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import NullPolicy, Roles, Target, roles_from, target_of
from sqlaudit.base.sql import render
from sqlaudit.classes.inputs import further_targets
from sqlaudit.classes.opening import (
    describe_roles,
    open_for_release,
    refuse_spelling_conflicts,
    resolve_roles,
    value_columns,
)
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.lattices.losses import column_weights
from sqlaudit.models.registry import requirements
from sqlaudit.remedies.result import Release
from sqlaudit.remedies.rewriting import KEEP, STAR, Patterns, Piece, RemedyTable, read_patterns, release, rewrite
from sqlaudit.remedies.suppress.exact import decide
from sqlaudit.remedies.suppress.fast import Watch
from sqlaudit.remedies.suppress.problem import Problem, Solution
from sqlaudit.remedies.suppress.request import How, SuppressRequest
from sqlaudit.remedies.suppress.result import Effort, SuppressedColumn, SuppressResult
from sqlaudit.reports.document import plural


def open_table(engine: Engine, request: SuppressRequest) -> RemedyTable:
    """The table with its roles.

    Raises:
        UsageError: a column that is not there, or persons with several rows.
    """
    relation = open_for_release(engine, request.target, request.roles)
    roles = in_one_spelling(engine, relation, resolve_roles(request.roles, relation, engine))
    return RemedyTable(engine, relation, roles, request.roles, roles.sensitive if request.l > 1 else ())


def suppress_table(
    engine: Engine, request: SuppressRequest, published: Publication = NOTHING, watch: Watch | None = None
) -> SuppressResult:
    """Find a suppression, audit its release and write it.

    Args:
        engine: an open engine. request: the request. published: the destination of the release. watch: gets progress.

    Raises:
        UsageError: a request that the table cannot meet, or that does not fit it.
        MissingDriver: an exact answer was requested, and there is no solver.
        EngineError: the database refused or failed, or the audit contradicts the suppression.
    """
    already = len(engine.executed)
    if request.how is How.EXACT and request.rows is not Suppressed.DROP:
        solver.require()
    table = open_table(engine, request)
    refuse_spelling_conflicts(engine, value_columns(table.relation, table.roles, engine.dialect), request.roles.values)
    before(engine, published, table.written(published.keep))
    _refuse_several_rows(table)
    patterns = read_patterns(table)
    problem = _problem(request, table, patterns)
    answer = _dropped(problem) if request.rows is Suppressed.DROP else _decided(request, table, problem, watch)
    made = None
    if answer.effort.stopped != "interrupted":
        made = _released(request, table, patterns, answer, published)
    return _result(request, table, patterns, problem, answer, made, provenance(engine, already))


def plan_suppression(engine: Engine, request: SuppressRequest, published: Publication = NOTHING) -> list[Statement]:
    """The statements of a suppression that are known before anything has run.

    Raises:
        UsageError: as `open_table`, or a column to keep that is not there or is not published.
    """
    table = open_table(engine, request)
    return [*statements_before(engine, published, table.written(published.keep)), table.patterns_statement()]


@dataclass(frozen=True)
class _Answer:
    """What becomes of each copy, and what is known of it; costs in units of `scale`."""

    pieces: list[Piece]
    cells: tuple[int, ...]
    cost: int
    bound: int
    touched: int
    effort: Effort


def _decided(request: SuppressRequest, table: RemedyTable, problem: Problem, watch: Watch | None) -> _Answer:
    """The suppression.

    Raises:
        UsageError: not even the whole table, with everything suppressed, meets the requirements.
    """
    label, values = table.relation.label, len(np.unique(problem.sensitive))
    if problem.rows < problem.k:
        raise UsageError(f"{label} has {plural(problem.rows, 'row')}, so no group of it can have {problem.k:,}.")
    if values < problem.l:
        attribute = table.roles.sensitive[0].label
        raise UsageError(f"{attribute} has {values:,} different values, so no group can have {problem.l:,} of them.")
    found = decide(problem, request.how, request.time_budget, watch)
    best, stopped = found.solution, found.stopped
    if not found.optimal and not stopped and request.how is How.AUTO and not solver.available():
        stopped = "solver"
    fast_cost = Fraction(found.fast_cost, _scale(request))
    effort = Effort(request.how.value, found.method, stopped, found.variables, found.patterns, fast_cost)
    touched = int(best.copies[best.starred[best.groups].any(axis=1)].sum())
    return _Answer(_pieces(best), best.cells, best.cost, found.bound, touched, effort)


def _pieces(best: Solution) -> list[Piece]:
    """A solution as pieces: the copies of a unit follow each other from group to group."""
    pieces: list[Piece] = []
    levels = best.starred.astype(int).tolist()
    before, reached = -1, 0
    for unit, count, group in best.pieces:
        reached = reached if unit == before else 0
        pieces.append((unit + 1, reached + 1, reached + count, group + 1, *levels[group]))
        before, reached = unit, reached + count
    return pieces


def _dropped(problem: Problem) -> _Answer:
    """Whole rows left out. A row that stays is published as it is, with all equal rows that stay, so these must be
    enough; in a class that is good all rows can stay, in any other none can: no answer leaves out fewer."""
    asked = replace(problem, missing_alone=problem.missing_alone and not problem.trivial)
    stay, groups = asked.grouped(range(problem.width), np.ones(problem.units, dtype=np.bool_), problem.sizes)
    number = dict(zip(stay.tolist(), (groups + 1).tolist(), strict=True))
    left_out = problem.rows - int(problem.sizes[stay].sum())
    none = (0,) * problem.width
    pieces = [(unit + 1, 1, size, number.get(unit, 0), *none) for unit, size in enumerate(problem.sizes.tolist())]
    cost = left_out * sum(problem.weights)
    return _Answer(pieces, (left_out,) * problem.width, cost, cost, left_out, Effort("exact", "rows"))


def _problem(request: SuppressRequest, table: RemedyTable, patterns: Patterns) -> Problem:
    """The problem in whole numbers.

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
    labels = [role.label for role in table.roles.quasi_identifiers]
    return column_weights(request.weights, labels) or (Fraction(1),) * len(labels)


def _scale(request: SuppressRequest) -> int:
    """Return what makes all weights whole."""
    return math.lcm(*(weight.denominator for weight in request.weights.values()))


def _refuse_several_rows(table: RemedyTable) -> None:
    """Nothing when every person has one row, so that rows count persons.

    Raises:
        UsageError: a person has more than one row, or a row has no person.
    """
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


def _released(
    request: SuppressRequest, table: RemedyTable, patterns: Patterns, answer: _Answer, published: Publication
) -> Release:
    """The release, audited and written."""
    salt = secrets.randbits(63) if request.seed is None else request.seed
    levels = [(KEEP, STAR)] * len(table.roles.quasi_identifiers)
    rewritten = partial(rewrite, table, patterns, levels, answer.pieces, salt=salt)
    plain = rewritten()
    audited = rewritten(persons=True) if table.roles.entity else plain
    return release(table, plain, audited, request.requirements, inputs=request.inputs, publication=published)


def _result(
    request: SuppressRequest,
    table: RemedyTable,
    patterns: Patterns,
    problem: Problem,
    answer: _Answer,
    made: Release | None,
    told: Mapping[str, Any],
) -> SuppressResult:
    """Return the result: the answer with its cost and bound, and the release."""
    scale = _scale(request)
    labels = (role.label for role in table.roles.quasi_identifiers)
    columns = tuple(map(SuppressedColumn, labels, _weights(request, table), answer.cells))
    return SuppressResult(
        target=table.relation.label,
        rows=patterns.rows,
        patterns=problem.row_patterns,
        roles=describe_roles(request.roles),
        requirements=tuple(one.text for one in request.requirements if one.severity != "warn"),
        warn_only=tuple(one.text for one in request.requirements if one.severity == "warn"),
        whole_rows=request.rows.value if request.rows else "",
        columns=columns,
        cost=Fraction(answer.cost, scale),
        bound=Fraction(answer.bound, scale),
        affected_rows=answer.touched,
        effort=answer.effort,
        release=made,
        **told,
    )


@takes(
    "target * qi require sensitive how rows weights time_limit seed publish_sql to keep_column identifier entity "
    "nulls values db query where inputs read limits roles",
    *(SuppressRequest, Publication, Roles),
    time_limit=("float | None", 10.0),
)
def suppress(given: Given) -> SuppressResult:
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
    request = request_from(
        SuppressRequest,
        vars(given),
        target=target_of(given),
        roles=roles_from(vars(given)),
        requirements=requirements(given.require),
        inputs=given.inputs or {},
    )
    published = request_from(Publication, vars(given))
    published.check()
    refuse_overwriting([published.file], files_read(given.db, targets_of(request)))
    with opened(given.db, given.limits, *targets_of(request)) as engine:
        return suppress_table(engine, request, published)


def targets_of(request: SuppressRequest) -> tuple[Target, ...]:
    """Everything that a suppression reads."""
    return (request.target, *further_targets(request.inputs, request.target))

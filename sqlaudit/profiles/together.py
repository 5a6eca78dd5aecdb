"""Columns that together pick people out: a small search among the columns of a profile, and what follows for roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.relation import Relation
from sqlaudit.base.words import command
from sqlaudit.column_sets.coding import codes_are_kept
from sqlaudit.column_sets.masks import count_subsets
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.result import ColumnSet, ColumnSets
from sqlaudit.column_sets.search import search_columns
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source
from sqlaudit.profiles.result import ColumnProfile, ProfileResult, Proposal, Role
from sqlaudit.reports.figures import percent

K = 5
TOLERANCE = Fraction(1, 100)
LARGEST = 3
"""Columns of a set."""
SECONDS = 10.0
"""Only slow machines need it: what is searched follows from the numbers below, so that roles do not depend on speed."""
PATIENCE = 20
"""So many times as long on a cluster, which is not slow but answers late; and where there is little to do, so that
no busy machine proposes other roles."""
MOST_SETS = 3_000
MOST_ROWS_READ = 2_000_000_000
"""Rows times sets, where columns become codes once."""
MOST_ROWS_READ_IN_PLACE = 30_000_000
"""The same where every statement reads the table itself."""
LISTED = 50


def search_together(
    engine: Engine, relation: Relation, sources: Sequence[Source], profile: ProfileResult
) -> tuple[ColumnSets | None, str]:
    """The minimal column sets that put more than 1% of the rows into classes below five, or why nobody searched.

    Sensitive columns take no part, since they are what others do not know, nor does the second of two columns that say
    the same. Sets have at most three columns, fewer where that is too much work for a first look.

    Args:
        engine, relation: where the rows are. sources: their columns. profile: what is known of them.
    """
    by_name = {source.name: source for source in sources}
    names = searched(profile)
    chosen = [Chosen(name, by_name[name].sql, by_name[name].kind, by_name[name].type) for name in names]
    if not profile.rows or len(chosen) < 2:
        return None, "" if profile.rows else "There is no row to look at."
    size = largest_size(profile.rows, len(chosen), codes_are_kept(engine, profile.rows, len(chosen)))
    if size < min(2, len(chosen)):
        return None, (
            f"Whether columns together pick people out was not looked at: pairs of {len(chosen):,} columns in "
            f"{profile.rows:,} rows are too much for a first look. {command('columns')} searches them."
        )
    is_little = count_subsets(len(chosen), size) * profile.rows <= MOST_ROWS_READ_IN_PLACE
    on_cluster = engine.can_materialize and not engine.own_workbench
    seconds = SECONDS * PATIENCE if is_little or on_cluster else SECONDS
    request = ColumnRequest(
        k=K, tolerance=TOLERANCE, max_size=size, limit=MOST_SETS, time_budget=seconds, effects=False
    )
    found = search_columns(engine, replace(relation, label=profile.target), request, chosen)
    ranked = sorted(found.sets, key=lambda one: (len(one.columns), -one.rows_at_risk))
    return replace(found, sets=tuple(ranked), _figures=None), ""


def searched(profile: ProfileResult) -> tuple[str, ...]:
    """The columns that take part."""
    again = {twins.second for twins in profile.twins}
    return tuple(
        name for name in profile.candidates if name not in again and profile.column(name).role is not Role.SENSITIVE
    )


def largest_size(rows: int, columns: int, codes: bool) -> int:
    """How many columns a set may have so that all sets stay cheap to count; 0 when not even pairs are.

    Example:
        >>> largest_size(1000, 20, True), largest_size(1000, 40, True), largest_size(10**7, 100, True)
        (3, 2, 0)
    """
    most = MOST_ROWS_READ if codes else MOST_ROWS_READ_IN_PLACE
    for size in range(LARGEST, 1, -1):
        sets = count_subsets(columns, size)
        if sets <= MOST_SETS and sets * rows <= most:
            return size
    return 0


def follow_sets(columns: Sequence[ColumnProfile], found: ColumnSets) -> list[ColumnProfile]:
    """The columns, where one about which nothing is known is judged by the sets that it is in.

    In a wide table nearly every column is in some minimal set, so that alone is a reason to look and no role. The
    smallest group of columns without which no set is left is what makes people stand out: these become
    quasi-identifiers.

    Args:
        columns: with the roles that names and values suggest. found: all minimal sets, the best reasons first.
    """
    best: dict[str, ColumnSet] = {}
    for one in found.sets:
        for name in one.columns:
            best.setdefault(name, one)
    decisive = found.repair or ()
    return [
        _judged(column, best[column.name], column.name in decisive) if column.name in best else column
        for column in columns
    ]


def shortened(found: ColumnSets) -> ColumnSets:
    """The search with its first sets only; `sets_found` still counts them all."""
    return replace(found, sets=found.sets[:LISTED])


def _judged(column: ColumnProfile, found: ColumnSet, is_decisive: bool) -> ColumnProfile:
    if column.role is not Role.OTHER or column.proposal.concept is not None:
        return column
    others = [name for name in found.columns if name != column.name]
    known = f"with {' and '.join(others)}" if others else "alone"
    reason = f"{known} it puts {percent(found.share_at_risk)} of the rows into groups of fewer than five"
    unknown, *rest = column.proposal.reasons
    reasons = (reason, unknown, *rest) if is_decisive else (unknown, reason, *rest)
    role = Role.QUASI_IDENTIFIER if is_decisive else Role.OTHER
    return replace(column, proposal=Proposal(role, reasons, column.proposal.concept, is_decisive))

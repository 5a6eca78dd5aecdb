"""The Python interface to several releases of one table: `sqlaudit.releases`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.models.registry import OF_RELEASES
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.release.series.request import SeriesRequest
from sqlaudit.release.series.result import ReleasesResult
from sqlaudit.release.series.run import find_in_releases


@wrong_types_told
def releases(
    targets: Sequence[Any],
    *,
    entity: str = "",
    qi: Sequence[str] | str = (),
    sensitive: Sequence[str] | str = (),
    counterfeits: bool = False,
    require: Require = None,
    show_values: bool = False,
    top: int = 10,
    db: Database = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> ReleasesResult:
    """Tell what several releases of one table say together (`sqlaudit releases`).

    Args:
        targets: all releases, in the order they were published: tables, views, file paths, frames or `Target`s, all in
            one database or all files or frames.
        entity: the column that names the person of a row, by the same key in every release; it is not published.
        qi: the quasi-identifiers, as each release publishes them. sensitive: sensitive attributes, unchanged in each.
        counterfeits: whether rows without an entity are counterfeits, which stand for nobody.
        require: what must hold: `{"m_invariance": 3}`, or texts such as "m_invariance=3".
        show_values, top: whether persons may be shown of whom one value is left, and how many.
        db, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: fewer than two releases, a column that is not there, rows that name nobody, persons with several
            rows in a release or with another value in another one, or nobody who is in two releases.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> may = pd.DataFrame({"id": [1, 2, 3, 4], "age": ["2*", "2*", "4*", "4*"], "ill": list("abcd")})
        >>> june = pd.DataFrame({"id": [1, 3, 4, 5], "age": ["2*", "4*", "4*", "2*"], "ill": list("acde")})
        >>> found = sqlaudit.releases([may, june], entity="id", qi="age", sensitive="ill", require="m_invariance=2")
        >>> found.passed, found.attribute("ill").unsteady, found.attribute("ill").singled_out
        (False, 1, 3)
    """
    asked = requirements(require, OF_RELEASES)
    if isinstance(targets, str) or not isinstance(targets, Sequence):
        targets = [targets]
    given = [_numbered(make_target(one, read=read), place) for place, one in enumerate(targets, 1)]
    request = request_from(SeriesRequest, locals(), requirements=asked)
    with opened(db, limits, *given) as engine:
        return find_in_releases(engine, given, request)


def _numbered(target: Target, place: int) -> Target:
    """A frame or a query has no name; its place in the series is one."""
    return target if target.label or target.relation else replace(target, label=f"release {place}")

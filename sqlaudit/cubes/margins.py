"""What totals that are published elsewhere disclose beside a cube: the sums of what was left out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from sqlaudit.audits.written import write_file
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.names import quote, shown
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.cubes.blocks import CubeTable
from sqlaudit.cubes.changes import readable
from sqlaudit.cubes.result import CubeMargins
from sqlaudit.engines import connect
from sqlaudit.reports.document import plural


def judge_margins(table: CubeTable, blocks: Relation, kept_rows: int) -> CubeMargins:
    """Return what totals by some dimensions reveal: less the cube, each is the sum of what was left out of it.

    So the cube together with the totals is a cube whose left-out people are put together by the dimensions of the
    totals, and it is as safe as these groups. Several files are judged as one by the dimensions of all of them, which
    says at least as much.

    Args:
        table: the cube. blocks: its judged blocks. kept_rows: rows of the cube.

    Raises:
        UsageError: a file with other columns than the cube, or with other totals than the table.
    """
    places: set[int] = set()
    measures: set[int] = set()
    for target in table.request.margins:
        with PrivateFolder("margins") as folder:
            own, figures = _check_totals(table, readable(target, folder.path), folder.path / "totals.parquet")
        places |= set(own)
        measures |= {place for place, one in enumerate(table.measures) if set(one.columns()) & set(figures)}
    groups = [row for rows in table.engine.stream(table.margins(sorted(places), measures, blocks)) for row in rows]
    rows_place = len(places) + 1
    ((*_, all_rows),) = [row[:2] for rows in table.engine.stream(table.margins((), (), None)) for row in rows] or [
        (0, 0)
    ]
    if sum(int(row[rows_place]) for row in groups) != int(all_rows) - kept_rows:
        raise UsageError(
            f"{spelled('margins')}: the rows that were left out cannot be counted, because values of a dimension are "
            "equal and written in two ways (0 and -0), or the table has changed. Write each value in one way."
        )
    return CubeMargins(
        tuple(target.name for target in table.request.margins),
        tuple(table.dimensions[place].name for place in sorted(places)),
        len(groups),
        sum(int(row[-1]) != 1 for row in groups),
    )


def _check_totals(table: CubeTable, target: Target, file: Path) -> tuple[list[int], list[str]]:
    """Return the dimensions of a file of totals, as places, and its figures.

    Args:
        table: the cube. target: the file. file: gets the totals of the table.

    Raises:
        UsageError: another column, or totals that are not those of the table.
    """
    names = {name.casefold(): name for name in table.names}
    with connect(None, table.engine.limits_left(), target) as reader:
        relation = reader.open(target)
        own = [names.get(column.name.casefold(), "") for column in relation.columns]
    what = f"{spelled('margins')}: {target.name}"
    if not all(own):
        unknown = relation.columns[own.index("")].name
        raise UsageError(
            f"{what} has the column {shown(unknown)}, which the cube does not have. Call its columns as those of the "
            f"cube: {', '.join(table.names)}."
        )
    dimensions = [dimension.name for dimension in table.dimensions]
    places = [place for place, name in enumerate(dimensions) if name in own]
    figures = [name for name in own if name not in dimensions]
    if not figures:
        raise UsageError(f"{what} has no figure of the cube: {', '.join(table.names[len(dimensions) :])}.")
    write_file(table.engine, file, table.names, _totals(table, places))
    totals = Target(relation=str(file), read=ReadOptions(format="parquet"))
    with connect(None, table.engine.limits_left(), target, totals) as reader:
        ((differing,),) = reader.run(_differing(reader.dialect, reader.open(target), reader.open(totals), table, own))
    if differing:
        raise UsageError(
            f"{what}: {plural(differing, 'total')} {'is' if differing == 1 else 'are'} not among those of this table. "
            "Give exact totals of the same rows at the levels of the cube, and leave a dimension empty where all its "
            "values are added up."
        )
    return places, figures


def _totals(table: CubeTable, places: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the totals of a table by these dimensions and by fewer of them, with the columns of the cube."""
    for size in range(len(places), -1, -1):
        for by in combinations(places, size):
            for rows in table.engine.stream(table.margins(by, (), None)):
                given = (dict(zip(by, row, strict=False)) for row in rows)
                dimensions = ([own.get(place) for place in range(len(table.dimensions))] for own in given)
                yield [(*names, *row[size:-1]) for names, row in zip(dimensions, rows, strict=True)]


def _differing(dialect: str, given: Relation, totals: Relation, table: CubeTable, own: Sequence[str]) -> Statement:
    """Return the statement that counts totals of a file that the table does not have."""
    dimensions = {dimension.name for dimension in table.dimensions}
    pairs = [
        (quote(column.name, dialect), quote(name, dialect)) for column, name in zip(given.columns, own, strict=True)
    ]
    by = [pair for pair, name in zip(pairs, own, strict=True) if name in dimensions]
    figures = [pair for pair, name in zip(pairs, own, strict=True) if name not in dimensions]
    return render(
        "cubes/margin_rows.sql",
        dialect,
        step="totals",
        given=given,
        totals=totals,
        given_dimensions=[Raw(one) for one, _ in by],
        dimensions=[Raw(other) for _, other in by],
        given_figures=[Raw(one) for one, _ in figures],
        figures=[Raw(other) for _, other in figures],
    )

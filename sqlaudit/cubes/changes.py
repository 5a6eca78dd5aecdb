"""What a cube discloses beside an older one: blocks that changed by a few people, found as for published tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sqlaudit.audits.written import write_file
from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder, is_duckdb
from sqlaudit.base.names import shown, typed
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.cubes.blocks import CubeTable
from sqlaudit.cubes.request import PEOPLE, ROWS
from sqlaudit.cubes.result import CubeChange
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES, parse_requirement
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import judge_differences


def judge_changes(table: CubeTable, blocks: Relation) -> tuple[CubeChange, ...]:
    """Return what changed from older cubes to this one, by each of its counts.

    A few more rows, or values of a measure, reveal the people behind them as a few more people do. Where a sum has
    changed and its counts have not, no one knows how many people are behind the change, and it does not pass.

    Args:
        table: the cube. blocks: its judged blocks.

    Raises:
        UsageError: an older cube lacks a column. InputError: it cannot be read.
    """
    with PrivateFolder("cube") as folder:
        file = folder.path / "cube.parquet"
        write_file(table.engine, file, table.names, table.engine.stream(table.select(blocks)))
        newest = Target(relation=str(file), read=ReadOptions(format="parquet"), label="the new cube")
        changes: list[CubeChange] = []
        for older in table.request.before:
            published = readable(older, folder.path)
            with connect(None, table.engine.limits_left(), published, newest) as reader:
                changes += _compare(reader, table, published, newest)
    return tuple(changes)


def readable(published: Target, folder: Path) -> Target:
    """Return a file as a target that an engine opens: of a cube in a DuckDB database, a copy as Parquet.

    Args:
        published: the file. folder: a private folder, for the copy.

    Raises:
        InputError: a database that has anything beside a cube.
    """
    if not is_duckdb(published.relation):
        return published
    from sqlaudit.engines.duckdb.cube import parquet_of

    copy = folder / "published.parquet"
    parquet_of(Path(published.relation), copy, published.name)
    return Target(relation=str(copy), read=ReadOptions(format="parquet"), label=published.name)


def _compare(reader: Engine, table: CubeTable, older: Target, newest: Target) -> Iterator[CubeChange]:
    """Yield what changed from an older cube, by each count of the cubes."""
    names = tuple(dimension.name for dimension in table.dimensions)
    before = reader.open(older)
    missing = next((name for name in table.names if find_column(name, before) is None), None)
    if missing is not None:
        raise UsageError(
            f"{spelled('before')}: {before.label} has no column {shown(missing)}. Compare cubes with the same "
            "dimensions and measures."
        )
    threshold = parse_requirement(f"threshold={table.request.threshold}", among=CELL_RULES)
    pairs = [(PEOPLE, ""), (ROWS, ""), *((count, total) for total, count in (m.columns() for m in table.measures))]
    for count, total in pairs:
        request = AggregatesRequest(
            newest,
            by=names,
            count=count,
            value=total,
            total=tuple(f"{typed(name)}=" for name in names),  # blocks are no totals of others
            requirements=(threshold,),
            before=(older,),
        )
        for found in judge_differences(reader, [before, reader.open(newest)], request):
            (rule,) = found.unsafe
            passed, undecided = rule.status is Status.PASS, rule.undecided
            note = rule.note if not passed and not rule.cells else ""
            yield CubeChange(before.label, count, found.changed, rule.cells, undecided, passed, note)

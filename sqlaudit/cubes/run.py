"""Make a cube: judge its blocks, choose levels if requested, and write what may be published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction

from sqlaudit.audits.release import bare, contradiction, kept, refuse_creation, write
from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.files import CUBE_NOTE, only_new_files
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Limits
from sqlaudit.base.version import __version__
from sqlaudit.cubes.blocks import CubeTable, open_cube
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.cubes.result import CubeDimension, CubeResult, CubeRule
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Database, Engine, View, provenance
from sqlaudit.engines.writing import create_view
from sqlaudit.reports.document import listed, plural

BLOCKS = "sqlaudit_blocks"
"""The name of the judged blocks, where an engine can keep them."""
MOST_SHOWN = 50
"""Largest number of blocks that a report shows."""


@dataclass(frozen=True)
class BlockFigures:
    """What the blocks of a table have together.

    Args:
        failing: blocks that fail each rule.
        blocks, kept: blocks of the table, and of the cube.
        people, kept_people: their people; who is in several blocks counts in each.
        kept_rows: rows of the cube.
        smallest: people of the smallest block of the cube, 0 without a block.
        nobody: blocks with rows without a person.
        negative: blocks with negative contributions to a sum.
        uniform: blocks that meet the required rules, and where everyone has the same value of a measure.
    """

    failing: tuple[int, ...]
    blocks: int
    kept: int
    people: int
    kept_people: int
    kept_rows: int
    smallest: int
    nobody: int
    negative: int
    uniform: int

    @property
    def left_out(self) -> int:
        """People in blocks that are left out."""
        return self.people - self.kept_people

    @property
    def share(self) -> Fraction:
        """Their share."""
        return Fraction(self.left_out, self.people) if self.people else Fraction(0)


@contextmanager
def judged_blocks(table: CubeTable) -> Iterator[tuple[Relation, BlockFigures]]:
    """Yield the judged blocks of a table, kept for the block where the engine can, and their figures.

    Raises:
        UsageError: rows without a person, or negative contributions.
    """
    with ExitStack() as keeping:
        try:
            blocks = keeping.enter_context(kept(table.engine, BLOCKS, bare(table.blocks()), "blocks"))
        except UsageError as error:
            if not table.measures:
                raise
            measures = listed([measure.name for measure in table.measures])
            raise UsageError(
                f"{error} Values of {measures} must be finite, with at most 16 digits before the point."
            ) from None
        row = table.engine.run(table.figures(blocks))[0]
        checks = len(table.request.rules)
        numbers = list(map(int, row))
        figures = BlockFigures(tuple(numbers[-checks:]), *numbers[:-checks])
        _refuse_uncounted(figures, table.request)
        yield blocks, figures


def _refuse_uncounted(figures: BlockFigures, request: CubeRequest) -> None:
    """Raise UsageError if people cannot be counted, or contributions are negative that rules compare."""
    if figures.nobody:
        raise UsageError(
            f"{plural(figures.nobody, 'block')} {'has' if figures.nobody == 1 else 'have'} rows without a person, so "
            f"people cannot be counted. Leave these rows out with {spelled('where')} (the person column IS NOT NULL), "
            "or fill it."
        )
    if figures.negative and request.negative == "refuse":
        raise UsageError(
            f"{plural(figures.negative, 'block')} {'has' if figures.negative == 1 else 'have'} negative contributions, "
            "which rules for sums do not cover. Take their absolute values with "
            f"{spelled('negative', 'absolute')}."
        )


def make_cube(engine: Engine, request: CubeRequest) -> CubeResult:
    """Make a cube and write it; a view or table is not made yet.

    Raises:
        UsageError: a request that does not fit the table. EngineError: the database refused, failed or went away.
    """
    already = len(engine.executed)
    table = open_cube(engine, request)
    engine.note_remarks(table.relation)
    people = _count_people(table)
    publication = request.publication
    if publication.is_sql:
        engine.lasting(table.relation)
    if publication.execute:
        engine.refuse_fleeting(View(publication.created, "", "view" if publication.view else "table"))
    choice = None
    if request.suppression is not None:
        from sqlaudit.cubes.levels import choose_levels  # the lattice, which few cubes need

        table, choice = choose_levels(table, request.suppression)
    with judged_blocks(table) as (blocks, figures):
        result = replace(_result(table, figures, people), choice=choice)
        if table.request.before and result.passed:
            from sqlaudit.cubes.changes import judge_changes  # published tables, which few cubes need

            result = replace(result, changes=judge_changes(table, blocks))
        if table.request.margins and result.passed:
            from sqlaudit.cubes.margins import judge_margins

            result = replace(result, margins=judge_margins(table, blocks, figures.kept_rows))
        if result.passed:
            result = _published(table, blocks, result)
        return replace(result, **provenance(engine, already))


def _count_people(table: CubeTable) -> int | None:
    """Return the number of people of a table; None where each row is a person.

    Raises:
        UsageError: a measure has the same value in all rows of each person. A sum then counts a person as often as they
            have rows, and the difference of two blocks may be the value of someone who is in one of them only.
    """
    if table.entity is None:
        return None
    people, *counts = map(int, table.engine.run(table.people())[0])
    for measure, several, different, varies in zip(
        table.measures, counts[::3], counts[1::3], counts[2::3], strict=True
    ):
        if varies and several >= table.request.threshold > different:  # a price that is one for all is of no person
            raise UsageError(
                f"{measure.name} is the same in all rows of a person, so the difference of two blocks could be one "
                f"person's value. Give a table with one row per person, or leave {measure.name} out of "
                f"{spelled('measures')}."
            )
    return people


def _result(table: CubeTable, figures: BlockFigures, all_people: int | None) -> CubeResult:
    """Return the result before anything is written.

    How many people are left out is only told where they are as many as a block needs: less the cube, a total of the
    table is a count of these.
    """
    request, engine = table.request, table.engine
    people: int | None = None
    share: Fraction | None = None
    repeat = all_people is not None and all_people < figures.people
    if not figures.left_out:
        people, share = 0, Fraction(0)
    elif figures.left_out >= request.threshold:
        people = None if repeat else figures.left_out
        share = Fraction(round(100 * figures.share), 100) if repeat else figures.share
    rules = zip(request.rules, figures.failing, strict=True)
    return CubeResult(
        target=table.relation.label,
        engine=engine.version(),
        dimensions=tuple(CubeDimension(dimension.name, dimension.level_name) for dimension in table.dimensions),
        measures=request.measures,
        rules=tuple(CubeRule(rule.text or rule.model, blocks) for rule, blocks in rules),
        threshold=request.threshold,
        known_contributors=request.known_contributors,
        blocks=figures.kept,
        people=figures.kept_people,
        rows=figures.kept_rows,
        smallest=figures.smallest or None,
        left_out_blocks=figures.blocks - figures.kept,
        left_out_people=people,
        left_out_share=share,
        people_repeat=repeat,
        sums_limited=table.limits_sums,
        uniform=request.uniform,
        uniform_blocks=figures.uniform,
        columns=table.names,
    )


def _published(table: CubeTable, blocks: Relation, result: CubeResult) -> CubeResult:
    """Write the cube, and return the result with its SQL and its first blocks, as far as they are requested.

    Raises:
        UsageError: the file cannot be written. EngineError: it has another number of blocks.
    """
    engine, publication = table.engine, table.request.publication
    select = sql = ""
    if publication.is_sql:
        source = engine.lasting(table.relation)
        select = bare(table.select(None, source, ordered=not publication.view))
        kind = "view" if publication.view else "table"
        created = publication.created
        sql = View(created, select, kind).statement(engine.dialect) if created else select
    statement = table.select(blocks)
    other_count = contradiction("The cube was not written", "it has another number of blocks", "make it")
    notes = {CUBE_NOTE: json.dumps(_note(table.request, result))}
    with only_new_files() if publication.is_new else nullcontext():
        write(engine, publication, sql, table.names, engine.stream(statement), result.blocks, other_count, notes=notes)
    first: tuple[tuple[str | None, ...], ...] = ()
    if table.request.show_blocks:
        for rows in engine.stream(statement, MOST_SHOWN):
            first = tuple(tuple(None if cell is None else str(cell) for cell in row) for row in rows[:MOST_SHOWN])
            break
    file = str(publication.file or "")
    return replace(result, first_blocks=first, file=file, view=publication.view, sql=sql, select=select)


def _note(request: CubeRequest, result: CubeResult) -> dict[str, object]:
    """Return how a cube was made, for its file: rules and names of columns, and no value."""
    return {
        "made_by": f"sqlaudit {__version__}",
        "threshold": result.threshold,
        "known_contributors": result.known_contributors,
        "rules": [rule.text for rule in result.rules],
        "uniform": result.uniform,
        "person": request.entity,
        "columns": list(result.columns),
        "blocks": result.blocks,
    }


def plan_cube(engine: Engine, request: CubeRequest) -> list[Statement]:
    """Return the statements of a cube that are known before anything has run.

    Raises:
        UsageError: as `open_cube`.
    """
    table = open_cube(engine, request, planned=True)
    return [table.blocks(), *([] if table.entity is None else [table.people()])]


def code_of(result: CubeResult) -> ExitCode:
    """Return the exit code of a cube."""
    return verdict(result.passed)


def create(request: CubeRequest, result: CubeResult, db: Database, limits: Limits) -> CubeResult:
    """Make the view or table of a cube over a connection of its own.

    Raises:
        UsageError: a relation of that name is there already. EngineError: the database refused.
    """
    del limits
    publication = request.publication
    if not (result.passed and publication.execute):
        return result
    kind = "view" if publication.view else "table"
    create_view(db, View(publication.created, result.select, kind), replace=publication.replace)
    return replace(result, executed=True)


@command(
    CubeRequest,
    plan_cube,
    code=code_of,
    check=lambda request, db: refuse_creation(request.publication, db, view=bool(request.publication.view)),
    finish=create,
)
def cube(engine: Engine, request: CubeRequest) -> CubeResult:
    """Make the finest groups of a table that may be queried freely (`sqlaudit cube`).

    Args:
        dimensions: columns or expressions, some with the level of a hierarchy: `["age=5 years", "sex"]`.
        require: rules for blocks, with a threshold: `{"threshold": 10, "p_percent": 10}`, or texts such as
            `dominance=n:1,k:85`.
        hierarchies: of dimensions: a YAML file, a folder of CSV files, or a mapping such as
            `{"age": {"widths": [5, 10]}}`.
        execute: make the view or table in the database, over a separate connection; nothing else is written there.

    Raises:
        UsageError: an unknown column, level or rule, or people that cannot be counted.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"sex": list("fffmm"), "income": [10, 20, 30, 40, 50]})
        >>> found = sqlaudit.cube(people, dimensions=["sex"], measures=["income"], require={"threshold": 3})
        >>> found.blocks, found.people, found.left_out_blocks, found.left_out_people
        (1, 3, 1, None)
    """
    return make_cube(engine, request)

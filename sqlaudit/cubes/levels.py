"""The finest levels of a cube's dimensions that leave few people out, found by the search of a lattice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import KnownRows, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import open_table
from sqlaudit.cubes.blocks import CubeTable
from sqlaudit.cubes.result import LevelChoice
from sqlaudit.cubes.run import judged_blocks
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.lattices.run import SearchedTable, find_nodes
from sqlaudit.models.registry import parse_requirement

PERSON = "sqlaudit_person"
"""The column of people beside the dimensions, in the table that the lattice searches."""


def choose_levels(table: CubeTable, limit: Fraction) -> tuple[CubeTable, LevelChoice]:
    """Return the cube at the levels of least loss that leave out at most a share of people.

    The lattice counts people. It knows the threshold and no other rule, and a person in several of its rows is left
    out several times. So its nodes are candidates: the blocks of each, from the least loss on, are counted and judged
    until one fits. If none does, the cube is at the levels of the last one.

    Args:
        table: the cube at the levels of the request.
        limit: the largest share of people that may be left out.

    Raises:
        UsageError: a column without values, or with too many.
    """
    with judged_blocks(table) as (_, before):
        is_told = before.left_out == 0 or before.left_out >= table.request.threshold
        share_before = Fraction(round(100 * before.share), 100) if is_told else None
    tried, nodes, fits, chosen = 0, 0, False, table
    candidates = _candidates(table, limit)
    while not fits and (candidate := next(candidates, None)) is not None:
        tried, (nodes, levels) = tried + 1, candidate
        chosen = table.at_levels(levels)
        with judged_blocks(chosen) as (_, figures):
            fits = figures.kept > 0 and figures.share <= limit
    return chosen, LevelChoice(limit, fits, nodes, tried, before.kept, share_before)


def _candidates(table: CubeTable, limit: Fraction) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield the number of nodes, and the levels of each that meets the threshold: the best one, then all by loss."""
    relation, roles = _people_by_dimensions(table)
    opened = open_table(table.engine, relation, roles)
    hierarchies = tuple(dimension.hierarchy for dimension in table.dimensions if dimension.hierarchy is not None)
    fixed = {place: dimension.level for place, dimension in enumerate(table.dimensions) if dimension.is_fixed}
    threshold = (parse_requirement(f"k={table.request.threshold}"),)
    for find in (Find.BEST, Find.ALL):
        search = LatticeRequest(table.request.target, roles, threshold, suppression=limit, find=find)
        found = find_nodes(table.engine, search, searched=SearchedTable(opened, hierarchies, fixed))
        names = [column.name for column in found.searched]
        for node in found.safe_nodes if find is Find.ALL else filter(None, [found.best]):
            yield found.nodes, dict(zip(names, node.levels, strict=True))


def _people_by_dimensions(table: CubeTable) -> tuple[Relation, Roles]:
    """Return the table that the lattice searches: people with the values of dimensions, as they are."""
    engine, names = table.engine, tuple(dimension.name for dimension in table.dimensions)
    statement = render(
        "cubes/cube_people_by_dimensions.sql",
        engine.dialect,
        step="people",
        source=table.relation,
        columns=[(Raw(dimension.column.sql), quote(dimension.name, "duckdb")) for dimension in table.dimensions],
        entity=table.entity,
        person=quote(PERSON, "duckdb"),
    )
    select = statement.sql.partition("\n")[2]
    relation = Relation(f"(\n{select}\n)", tuple(engine.result_columns(statement)), table.relation.label)
    roles = Roles(quasi_identifiers=names, values=table.request.values)
    if table.entity is None:
        return relation, roles
    return relation, replace(roles, entity=PERSON, known_rows=KnownRows.ONE)  # sizes then count people

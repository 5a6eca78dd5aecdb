"""From a request for a cube to the SQL of its blocks: columns, levels of hierarchies, and rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.audits.release import in_one_spelling
from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote, shown, split_at_equals
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ColumnValues, ResolvedRoles, apply_spelling_policy, refuse_spelling_conflicts
from sqlaudit.cubes.request import PEOPLE, ROWS, CubeRequest
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.defaults import with_defaults
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import Hierarchy, published_column
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.registry import cell_rule
from sqlaudit.profiles.names import contents_of
from sqlaudit.tabular.units import to_integer_units


@dataclass(frozen=True)
class BlockDimension:
    """A dimension of a cube.

    Args:
        name: its column in the cube.
        column: its column or expression in the table.
        hierarchy: of its values; None = they stay as they are.
        level: their level.
        is_fixed: True if the request names the level.
    """

    name: str
    column: Resolved
    hierarchy: Hierarchy | None = None
    level: int = 0
    is_fixed: bool = False

    @property
    def level_name(self) -> str:
        """The name of its level; empty = it is unchanged."""
        return self.hierarchy.level_names()[self.level] if self.hierarchy is not None and self.level else ""


@dataclass(frozen=True)
class BlockMeasure:
    """A measure of a cube.

    Args:
        name: as the request has it.
        value: the SQL that is added up, exact.
        units: the SQL of a whole multiple of its last decimal place, for rules; None = the value is whole.
        type: the type that its sum is cast to; empty = none.
    """

    name: str
    value: str
    units: str | None
    type: str

    def columns(self) -> tuple[str, str]:
        """Return its two columns in the cube."""
        return f"{self.name}_sum", f"{self.name}_count"


@dataclass(frozen=True)
class CubeTable:
    """An opened table with the columns of a cube.

    Args:
        engine: an open engine.
        relation: the table.
        request: the request.
        dimensions, measures: of the cube.
        entity, holding: the SQL of the columns of people and of holdings.
    """

    engine: Engine
    relation: Relation
    request: CubeRequest
    dimensions: tuple[BlockDimension, ...]
    measures: tuple[BlockMeasure, ...]
    entity: Raw | None
    holding: Raw | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the cube."""
        measured = (column for measure in self.measures for column in measure.columns())
        return (*(dimension.name for dimension in self.dimensions), PEOPLE, ROWS, *measured)

    @property
    def limits_sums(self) -> bool:
        """True if a rule looks at the largest contributions to sums."""
        return any(cell_rule(requirement).contributions for requirement in self.request.requirements)

    def at_levels(self, levels: Mapping[str, int]) -> CubeTable:
        """Return the cube with its dimensions at these levels, by name."""
        dimensions = (replace(dimension, level=levels[dimension.name]) for dimension in self.dimensions)
        return replace(self, dimensions=tuple(dimensions))

    def blocks(self) -> Statement:
        """Return the statement that counts and judges all blocks."""
        return render("cubes/cube_blocks.sql", self.engine.dialect, step="blocks", **self._judging(self.relation.sql))

    def figures(self, blocks: Relation) -> Statement:
        """Return the statement that adds up judged blocks."""
        names = ("entity", "measures", "top", "known", "checks")
        required = len(self.request.requirements)
        parameters = {name: value for name, value in self._judging("").items() if name in names}
        return render(
            "cubes/cube_figures.sql",
            self.engine.dialect,
            step="figures",
            source=blocks,
            required=required,
            **parameters,
        )

    def margins(self, places: Sequence[int], measures: Collection[int], kept: Relation | None) -> Statement:
        """Return the statement of the totals by some dimensions, judged by the rules for people and some measures.

        Args:
            places: of the dimensions. measures: places of those that rules look at.
            kept: judged blocks, of which the safe ones do not count; None = all rows count.
        """
        parameters = self._judging(self.relation.sql)
        judged = [
            [call for call in check if not call["of"] or int(call["of"][1:]) in measures]
            for check in parameters["checks"]
        ]
        parameters["checks"] = [check for check in judged if check]
        by = Raw(", ".join([*(f"d{place}" for place in places), "everything"]))
        return render(
            "cubes/cube_margins.sql",
            self.engine.dialect,
            step="totals",
            by=by,
            places=list(places),
            kept=kept,
            **parameters,
        )

    def people(self) -> Statement:
        """Return the statement that counts people, and those with several and with different values of measures."""
        return render(
            "cubes/cube_people.sql",
            self.engine.dialect,
            step="people",
            entity=self.entity,
            source=self.relation,
            measures=[Raw(measure.value) for measure in self.measures],
        )

    def select(self, blocks: Relation | None, source: str = "", *, ordered: bool = True) -> Statement:
        """Return the statement of the cube.

        Args:
            blocks: what has judged its blocks; None = the statement does, from the table.
            source: the table as a FROM item that others can read; empty = as it is here.
            ordered: whether blocks come in the order of their values.
        """
        parameters = self._judging(source or self.relation.sql)
        for parameter, measure in zip(parameters["measures"], self.measures, strict=True):
            parameter["sum"], parameter["count"] = (quote(column, "duckdb") for column in measure.columns())
        names = [quote(dimension.name, "duckdb") for dimension in self.dimensions]
        given: dict[str, Any] = {"names": names, "rows": quote(ROWS, "duckdb"), "blocks": blocks, "ordered": ordered}
        return render("cubes/cube.sql", self.engine.dialect, step="cube", **given, **parameters)

    def _judging(self, source: str) -> dict[str, Any]:
        """Return the parameters of the templates."""
        dialect = self.engine.dialect
        labels, joins = [], ["given"]
        for position, dimension in enumerate(self.dimensions):
            label = f"given.d{position}"
            if dimension.hierarchy is not None and dimension.level:
                holds = column_type(self.engine, self.relation, dimension.column)
                published = published_column(
                    dimension.hierarchy, dimension.level, label, dialect, holds, f"labels_{position + 1}"
                )
                label = published.expression
                joins += [published.join] if published.join else []
            labels.append(Raw(label))
        is_coarsened = any(dimension.level for dimension in self.dimensions)
        return {
            "source": Raw(source),
            "dimensions": [Raw(dimension.column.sql) for dimension in self.dimensions],
            "coarsened": labels if is_coarsened else [],
            "joins": Raw("\n    ".join(joins)),
            "entity": self.entity,
            "holding": self.holding,
            "measures": [
                {"value": Raw(measure.value), "units": measure.units and Raw(measure.units), "type": measure.type}
                for measure in self.measures
            ],
            **judging(self.request),
        }


def judging(request: CubeRequest) -> dict[str, Any]:
    """Return the parameters of the templates that judge blocks by the rules of a request."""
    rules = [cell_rule(requirement) for requirement in request.rules]
    checks = [rule.of_block(request.measures, request.known_contributors) for rule in rules]
    return {
        "top": max(rule.contributions for rule in rules),
        "known": request.known_contributors,
        "checks": [
            [{"macro": rule.macro, "of": end, "arguments": dict(rule.arguments)} for rule, end in check]
            for check in checks
        ],
    }


def open_cube(engine: Engine, request: CubeRequest, *, planned: bool = False) -> CubeTable:
    """Open the table of a cube, and find its columns.

    Args:
        engine: an open engine.
        request: the request.
        planned: True if nothing may run, so that there are no default levels.

    Raises:
        UsageError: a column, level or rule that does not fit the table, or people in several spellings.
    """
    relation = engine.open(request.target)
    entity, holding = (_settled(engine, relation, request, name, planned) for name in ("entity", "holdings"))
    measures = tuple(_measure(engine, relation, name) for name in request.measures)
    dimensions = _dimensions(engine, relation, request, planned)
    table = CubeTable(engine, relation, request, dimensions, measures, entity, holding)
    names = [name.casefold() for name in table.names]
    twice = next((name for position, name in enumerate(names) if name in names[:position]), None)
    if twice is not None:
        raise UsageError(
            f"Two columns of the cube are called {twice!r}. Name each column once, and a dimension that is called like "
            "a column of the cube by an expression."
        )
    return table


def _settled(engine: Engine, relation: Relation, request: CubeRequest, option: str, planned: bool) -> Raw | None:
    """Return the SQL of the column of people or holdings; None without one.

    Raises:
        UsageError: no such column, or several names may mean one person.
    """
    text = getattr(request, option)
    if not text:
        return None
    column = resolve(text, relation, engine.dialect, about(option))
    if not planned:
        refuse_spelling_conflicts(engine, [ColumnValues(text, [(relation, column)], missing=False)], request.values)
    return Raw(apply_spelling_policy(engine, relation, column, request.values, missing=False).sql)


def _measure(engine: Engine, relation: Relation, text: str) -> BlockMeasure:
    """Return a measure: whole numbers as they are, True as 1, other numbers with their decimal places, exactly.

    Raises:
        UsageError: no such column, or one that is not numeric.
    """
    column = resolve(text, relation, engine.dialect, about("measures"))
    holds = column_type(engine, relation, column)
    if holds.kind is Kind.BOOLEAN:
        return BlockMeasure(text, f"CASE WHEN {column.sql} THEN 1 WHEN NOT {column.sql} THEN 0 END", None, "BIGINT")
    units, places = to_integer_units(replace(column, kind=holds.kind, type=holds.type), "measures", engine.dialect)
    if not places:
        return BlockMeasure(text, units.sql, None, "BIGINT")
    value = f"CAST({column.sql} AS DECIMAL(28, {places}))"
    return BlockMeasure(text, value, units.sql, "DOUBLE" if holds.kind is Kind.FLOAT else "")


def _dimensions(engine: Engine, relation: Relation, request: CubeRequest, planned: bool) -> tuple[BlockDimension, ...]:
    """Return the dimensions of a cube, each at the level that the request names.

    Raises:
        UsageError: no such column, or no such level.
    """
    texts = [split_level(text, relation) for text in request.dimensions]
    resolved = tuple(resolve(name, relation, engine.dialect, about("dimensions")) for name, _ in texts)
    columns = in_one_spelling(engine, relation, ResolvedRoles(resolved, (), (), None)).quasi_identifiers
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns([name for name, _ in texts], "dimension")
    searched, has_levels = request.suppression is not None, any(level for _, level in texts)
    if request.hierarchies and not (searched or has_levels):
        raise UsageError(
            f"No dimension has a level, so {spelled('hierarchies')} is not used. Name one, as "
            f"{spelled('dimensions', 'age=10 years')} does, or let {spelled('suppress', '5%')} choose."
        )
    if not planned:
        leveled = [place for place, (_, level) in enumerate(texts) if level or searched]
        usual = with_defaults(
            engine,
            relation,
            [resolved[place] for place in leveled],
            [hierarchies[place] for place in leveled],
            contents_of,
        )
        named = dict(zip(leveled, usual, strict=True))
        hierarchies = tuple(named.get(place, hierarchy) for place, hierarchy in enumerate(hierarchies))
    dimensions = []
    for (name, level), column, hierarchy in zip(texts, columns, hierarchies, strict=True):
        if not hierarchy.takes_part:
            raise UsageError(f"{hierarchy.place}: {shown(name)} is dropped, and cannot be a dimension.")
        number = hierarchy.level_named(level) if level and hierarchy.place else 0
        dimensions.append(BlockDimension(name, column, hierarchy if level or searched else None, number, bool(level)))
    return tuple(dimensions)


def split_level(text: str, relation: Relation) -> tuple[str, str]:
    """Return a dimension and the level behind it; a column or an expression with `=` in it has none."""
    name, _, level = split_at_equals(text)
    is_level = level.strip() and find_column(text, relation) is None and find_column(name, relation) is not None
    if is_level and not set("'()<>=") & set(level):
        return name.strip(), level.strip()
    return text, ""

"""The cells of a table that is yet to be made from rows of persons: everything is added up in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.dialects import spoken
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.figures import plural
from sqlaudit.tabular.cells import CellMeasure
from sqlaudit.tabular.request import AggregatesRequest

PLACES = 9
"""Contributions and weights are read with at most so many decimal places."""


@dataclass(frozen=True)
class Contributions:
    """A table of cells as SQL.

    Args:
        source: what stands in FROM. dimensions: the names of its keys. flags: of what says that a key is all values.
        measures: the SQL of each measure by its field in `TableCells`. places: their decimal places.
        rows: the rows that it is made from. values: the SQL of the dimensions over these. kinds: what these hold.
    """

    source: Raw
    dimensions: tuple[Raw, ...]
    flags: tuple[Raw, ...]
    measures: dict[str, Raw]
    places: dict[str, int]
    rows: Raw
    values: tuple[Raw, ...]
    kinds: tuple[Kind, ...]


def contributions_of(
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> Contributions:
    """The cells of rows, with so many of their largest contributions; beside rows of a release before, what changed.

    Args:
        sets: grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column, or contributions that are no numbers.
    """
    own = _rows(engine, relation, request)
    top = top if own.value is not None else 0
    sets = request.sets() if sets is None else sets
    made = render(
        "tabular/tabular_contributions.sql",
        engine.dialect,
        **own.parameters(),
        before=None if before is None else _rows(engine, before, request).parameters(),
        sets=[list(one) for one in sets],
        absolute=request.negative == "absolute",
        top=top,
    )
    width = range(len(own.dimensions))
    measures, places = _measures(own, top)
    return Contributions(
        Raw(f"(\n{made.sql}\n)"),
        tuple(Raw(f"d{place}") for place in width),
        tuple(Raw(f"t{place}") for place in width) if sets else (),
        measures,
        places,
        own.source,
        own.dimensions,
        own.kinds,
    )


@dataclass(frozen=True)
class _Rows:
    """The columns of rows; value and weight are whole multiples, beside how many decimal places these have."""

    source: Raw
    dimensions: tuple[Raw, ...]
    entity: Raw | None
    value: tuple[Raw, int] | None
    weight: tuple[Raw, int] | None
    holding: Raw | None
    kinds: tuple[Kind, ...]

    def parameters(self) -> dict[str, Any]:
        """What the template needs of them."""
        return {
            "source": self.source,
            "dimensions": list(self.dimensions),
            "entity": self.entity,
            "value": self.value[0] if self.value else None,
            "weight": self.weight[0] if self.weight else None,
            "holding": self.holding,
        }


def _rows(engine: Engine, relation: Relation, request: AggregatesRequest) -> _Rows:
    def found(text: str, option: str) -> Resolved | None:
        return resolve(text, relation, engine.dialect, about(option)) if text else None

    def whole(name: str) -> tuple[Raw, int] | None:
        column = found(getattr(request, name), name)
        return None if column is None else _units(column, name, engine.dialect)

    def plain(name: str) -> Raw | None:
        column = found(getattr(request, name), name)
        return None if column is None else Raw(column.sql)

    by = [resolve(text, relation, engine.dialect, about("by")) for text in request.by]
    return _Rows(
        Raw(relation.sql),
        tuple(Raw(one.sql) for one in by),
        plain("person"),
        whole("value"),
        whole("weight"),
        plain("holdings"),
        tuple(one.kind for one in by),
    )


def _measures(own: _Rows, top: int) -> tuple[dict[str, Raw], dict[str, int]]:
    measures: dict[str, str] = {"count": "n"}
    places: dict[str, int] = {}
    weighted = own.weight[1] if own.weight else 0
    if own.value:
        measures |= {"value": "x", "least": "least"}
        places["value"] = own.value[1] + weighted
        for place in range(1, top + 1):
            measures[f"largest_{place}"] = f"x{place}"
            places[f"largest_{place}"] = own.value[1]
    if own.weight:
        measures |= {"unsteady": "unsteady", "lightest": "lightest"}
        places["lightest"] = weighted
        for place in range(1, top + 1):
            measures[f"weight_{place}"] = f"w{place}"
            places[f"weight_{place}"] = weighted
    if own.holding:
        measures["holdings"] = "h"
    if own.entity:
        measures["nobody"] = "nobody"
    return {name: Raw(sql) for name, sql in measures.items()}, places


def _units(column: Resolved, option: str, dialect: str) -> tuple[Raw, int]:
    """A number as a whole multiple of its last decimal place, and how many such places."""
    if column.kind is Kind.INTEGER:
        return Raw(column.sql), 0
    if column.column is not None and column.kind not in (Kind.DECIMAL, Kind.FLOAT, Kind.OTHER):
        raise UsageError(f"{about(option)}: {column.label!r} holds no numbers.")
    places = _scale(column.type)
    units = expression(
        "tabular/tabular_units.sql", dialect, value=Raw(column.sql), places=places, whole=spoken(dialect).wide
    )
    return Raw(units), places


def _scale(type_name: str) -> int:
    """The decimal places of `DECIMAL(18,3)`; `PLACES` of any other type."""
    _, _, inside = type_name.partition("(")
    parts = inside.rstrip(")").split(",")
    return min(int(parts[1]), PLACES) if len(parts) == 2 and parts[1].strip().isdecimal() else PLACES


def check_contributions(measures: dict[str, CellMeasure]) -> None:
    """Take out of measures what only says that rows can be added up.

    Raises:
        UsageError: rows without a person, negative contributions, weights that change or are below 1.
    """
    least, unsteady, lightest, nobody = (
        measures.pop(name, None) for name in ("least", "unsteady", "lightest", "nobody")
    )
    if nobody is not None and (cells := int((nobody.units > 0).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} rows without a person, so it is not known how "
            f"many are behind them; leave these out with {spelled('where')} (the person column IS NOT NULL), or fill "
            "it."
        )
    if least is not None and (cells := int((least.units < 0).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} negative contributions, of which rules say "
            f"nothing; take their absolute values with {spelled('negative', 'absolute')}."
        )
    if unsteady is not None and (cells := int((unsteady.units > 0).sum())):
        raise UsageError(
            f"Persons of {plural(cells, 'cell')} have several weights, or none; give every person one weight."
        )
    if lightest is not None and (cells := int((lightest.units < 10**lightest.places).sum())):
        raise UsageError(f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} weights below 1.")

"""A published table in the database: which SQL says what of a cell, and which values its dimensions have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote, spoken
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import DATES, NUMBERS, Kind, Relation, Statement
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import apply_spelling_policy
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import CellMeasure
from sqlaudit.tabular.request import AggregatesRequest

PLACES = 9
"""Contributions and weights are read with at most so many decimal places."""


def _cells_of_rows(
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> ListedCells:
    """The cells of rows, with so many of their largest contributions; beside rows of a release before, what changed.

    Args:
        sets: grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column, or contributions that are no numbers.
    """
    own = _rows(engine, relation, request)
    top = top if own.columns["value"] is not None else 0
    sets = request.sets() if sets is None else sets
    made = render(
        "tabular/tabular_contributions.sql",
        engine.dialect,
        **own.columns,
        before=None if before is None else _rows(engine, before, request).columns,
        sets=[list(one) for one in sets],
        absolute=request.negative == "absolute",
        top=top,
    )
    measures, places = _measures(own, top)
    source, keys = Raw(f"(\n{made.sql}\n)"), tuple(Raw(f"d{place}") for place in range(len(request.by)))
    flags = tuple(Raw(f"t{place}") for place in range(len(keys))) if sets else ()
    rows, values = own.columns["source"], tuple(own.columns["dimensions"])
    if before is not None:  # those that changed, alone
        rows, values = source, keys
    columns = {name: text for name in ("person", "value", "weight", "holdings") if (text := getattr(request, name))}
    return ListedCells(
        source, request.by, keys, measures, columns, flags, places, rows, values, finished=False, kinds=own.kinds
    )


@dataclass(frozen=True)
class _Rows:
    """The columns of rows, as the template takes them; value and weight are whole multiples of a decimal place.

    Args:
        columns: their SQL. places: how many decimal places value and weight have. kinds: what the dimensions hold.
    """

    columns: dict[str, Any]
    places: dict[str, int]
    kinds: tuple[Kind, ...]


def _rows(engine: Engine, relation: Relation, request: AggregatesRequest) -> _Rows:
    def found(name: str) -> Resolved | None:
        text = getattr(request, name)
        return resolve(text, relation, engine.dialect, about(name)) if text else None

    def plain(name: str) -> Raw | None:
        column = found(name)
        return (
            None
            if column is None
            else Raw(apply_spelling_policy(engine, relation, column, request.values, missing=False).sql)
        )

    by = [resolve(text, relation, engine.dialect, about("by")) for text in request.by]
    columns = {"source": Raw(relation.sql), "dimensions": [Raw(one.sql) for one in by], "entity": plain("person")}
    places = {}
    for name in ("value", "weight"):
        column = found(name)
        columns[name], places[name] = (None, 0) if column is None else _units(column, name, engine.dialect)
    return _Rows(columns | {"holding": plain("holdings")}, places, tuple(one.kind for one in by))


def _measures(own: _Rows, top: int) -> tuple[dict[str, Raw], dict[str, int]]:
    """The SQL of each measure, and for those that are whole multiples of a decimal place, which one."""
    measures: dict[str, str] = {"count": "n"}
    places: dict[str, int] = {}
    value, weighted = own.places["value"], own.places["weight"]
    if own.columns["value"]:
        measures |= {"value": "x", "least": "least"} | {f"largest_{at}": f"x{at}" for at in range(1, top + 1)}
        places |= {"value": value + weighted} | {f"largest_{at}": value for at in range(1, top + 1)}
    if own.columns["weight"]:
        measures |= {"unsteady": "unsteady", "lightest": "lightest"}
        measures |= {f"weight_{at}": f"w{at}" for at in range(1, top + 1)}
        places |= {"lightest": weighted} | {f"weight_{at}": weighted for at in range(1, top + 1)}
    if own.columns["holding"]:
        measures["holdings"] = "h"
    if own.columns["entity"]:
        measures["nobody"] = "nobody"
    return {name: Raw(sql) for name, sql in measures.items()}, places


def _units(column: Resolved, option: str, dialect: str) -> tuple[Raw, int]:
    """A number as a whole multiple of its last decimal place, and how many such places."""
    if column.kind is Kind.INTEGER:
        return Raw(column.sql), 0
    if column.column is not None and column.kind not in (Kind.DECIMAL, Kind.FLOAT, Kind.OTHER):
        raise UsageError(f"{about(option)}: {column.label!r} is not numeric.")
    # The decimal places of `DECIMAL(18,3)`; `PLACES` of any other type
    _, _, inside = column.type.partition("(")
    parts = inside.rstrip(")").split(",")
    places = min(int(parts[1]), PLACES) if len(parts) == 2 and parts[1].strip().isdecimal() else PLACES
    units = expression("tabular/tabular_units.sql", dialect, value=column, places=places, whole=spoken(dialect).wide)
    return Raw(units), places


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
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} rows without a person, so contributors cannot "
            f"be counted. Leave these rows out with {spelled('where')} (the person column IS NOT NULL), or fill it."
        )
    if least is not None and (cells := int((least.units < 0).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} negative contributions, which the rules do not "
            f"cover. Take their absolute values with {spelled('negative', 'absolute')}."
        )
    if unsteady is not None and (cells := int((unsteady.units > 0).sum())):
        raise UsageError(
            f"In {plural(cells, 'cell')}, people have several weights or none. Give every person one weight."
        )
    if lightest is not None and (cells := int((lightest.units < 10**lightest.places).sum())):
        raise UsageError(
            f"{plural(cells, 'cell')} {'has' if cells == 1 else 'have'} weights below 1. Use weights of at least 1."
        )


@dataclass(frozen=True)
class ListedCells:
    """A table of cells in the database.

    Args:
        source: what stands in FROM. names: of the dimensions. dimensions: their SQL. measures: the SQL of each measure
            by its field in `TableCells`, those of several as `largest_1`. columns: what these are called.
        flags: for each dimension SQL that is 1 where the cell is one of all its values; none where no grouping set says
            it. places: for measures that are whole multiples of a decimal place, which one.
        rows: what the table is made from, None when it is there already. values: the SQL of the dimensions over these.
        finished: whether its totals are looked for among its values.
        kinds: what its dimensions and then, for a finished table, its measures hold. absent: the places of dimensions
            that it does not have, of linked tables.
    """

    source: Raw
    names: tuple[str, ...]
    dimensions: tuple[Raw | None, ...]
    measures: dict[str, Raw]
    columns: dict[str, str]
    flags: tuple[Raw, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    rows: Raw | None = None
    values: tuple[Raw, ...] = ()
    finished: bool = True
    kinds: tuple[Kind, ...] = ()
    absent: frozenset[int] = frozenset()

    def statement(self, dialect: str) -> Statement:
        """The statement that reads the cells."""
        return render(
            "tabular/tabular_cells.sql",
            dialect,
            source=self.source,
            dimensions=list(self.dimensions),
            measures=list(self.measures.values()),
            flags=list(self.flags),
        )

    def labels(self, engine: Engine, codes: Sequence[Sequence[int]]) -> dict[tuple[int, int], str]:
        """The values of dimensions as texts, by (dimension, code), for some codes of each."""
        shift = 1 if self.flags else 0  # the code of all values comes first
        shown = [[code - shift for code in dict.fromkeys(some) if code > shift] or [0] for some in codes]
        shown = [some if len(some) <= _MOST_LISTED else [] for some in shown]  # all of them
        statement = render(
            "tabular/tabular_labels.sql",
            engine.dialect,
            source=self.rows or self.source,
            dimensions=list(self.values or self.dimensions),
            shown=shown,
        )
        return {(int(place), int(code) + shift): str(label) for place, code, label in engine.run(statement)}


def listed_cells(
    engine: Engine,
    relation: Relation,
    request: AggregatesRequest,
    top: int = 0,
    before: Relation | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> ListedCells:
    """The cells of a published table, or of one that is to be made from rows, with so many largest contributions.

    With rows of a release `before`, cells are what changed: the persons who came, left, or contribute something else.
    `sets` are grouping sets instead of those of the request.

    Raises:
        UsageError: an unknown column.
    """
    if request.microdata:
        return _cells_of_rows(engine, relation, request, top, before, sets)
    return finished_cells(engine, relation, request)


def keys_shown(
    engine: Engine, listed: ListedCells, keys: Sequence[Sequence[int]]
) -> tuple[Mapping[str, str | None], ...]:
    """The keys of some cells as texts, by dimension; a missing value and all values together are None."""
    labels = listed.labels(engine, list(zip(*keys, strict=True)))
    return tuple({name: labels.get((place, key[place])) for place, name in enumerate(listed.names)} for key in keys)


def finished_cells(
    engine: Engine, relation: Relation, request: AggregatesRequest, *, in_part: bool = False
) -> ListedCells:
    """The cells of a published table.

    Args:
        in_part: whether it may lack some dimensions, all of whose values its cells are then about.

    Raises:
        UsageError: an unknown column.
    """

    def column(text: str, option: str) -> Resolved:
        return resolve(text, relation, engine.dialect, about(option))

    columns = {name: text for name in _SINGLE if (text := getattr(request, name))}
    measures = {name: column(text, name) for name, text in columns.items()}
    for place, text in enumerate(request.largest, 1):
        columns[f"largest_{place}"] = text
        measures[f"largest_{place}"] = column(text, "largest")
    if request.structural:
        measures["structural"] = column(request.structural, "structural")
    for place, (rate, denominator) in enumerate(request.rates()):
        for name, text in ((f"rate_{place}", rate), (f"denominator_{place}", denominator)):
            columns[name], measures[name] = text, column(text, "rate")
    lacking = [in_part and text.isidentifier() and find_column(text, relation) is None for text in request.by]
    by = [None if left else column(text, "by") for text, left in zip(request.by, lacking, strict=True)]
    return ListedCells(
        Raw(relation.sql),
        request.by,
        tuple(None if one is None else Raw(one.sql) for one in by),
        {name: Raw(one.sql) for name, one in measures.items()},
        columns,
        kinds=tuple(Kind.OTHER if one is None else one.kind for one in (*by, *measures.values())),
        absent=frozenset(place for place, left in enumerate(lacking) if left),
    )


def with_unused_columns(
    engine: Engine, relation: Relation, request: AggregatesRequest, *, in_part: bool
) -> ListedCells | None:
    """Return the published numbers with the columns of numbers or texts that the request does not use, None if none.

    Args:
        in_part: whether the table may lack columns that the request names, as one of several.

    Raises:
        UsageError: a column that is said to be insensitive and is not there.
    """
    listed = finished_cells(engine, relation, replace(request, largest=(), structural="", rate=()), in_part=in_part)
    texts = {text: about("by") for text in (*request.by, request.structural, *request.largest) if text}
    texts |= {text: about(name) for name, text in listed.columns.items()}
    texts |= {text: about("rate") for text in chain.from_iterable(request.rates())}
    texts |= {text: about("insensitive") for text in request.insensitive}
    used = set[str]()
    for text, option in texts.items():
        if not in_part or not text.isidentifier() or find_column(text, relation):
            used |= columns_read(resolve(text, relation, engine.dialect, option), relation, engine.dialect)
    unused = [one for one in relation.columns if one.name not in used and one.kind in (*NUMBERS, Kind.TEXT)]
    count = "count" if request.count else "contributors"
    published = {name: sql for name, sql in listed.measures.items() if name in (count, "value")}
    further = {f"other_{place}": one.name for place, one in enumerate(unused)}
    quoted = {name: Raw(quote(column, engine.dialect)) for name, column in further.items()}
    return replace(listed, measures=published | quoted, columns=listed.columns | further) if unused else None


def named_places(listed: ListedCells) -> list[int]:
    """The places of dimensions whose values are names, which may be spelled in another way: no numbers or days."""
    return [place for place, kind in enumerate(listed.kinds[: len(listed.names)]) if kind in (Kind.TEXT, Kind.OTHER)]


_MOST_LISTED = 1_000
"""Largest number of codes that a statement lists; if there are more, the labels of all codes are read."""
_SINGLE = ("count", "contributors", "value", "holdings")

_FAMILIES = dict.fromkeys(NUMBERS, "number") | dict.fromkeys(DATES, "moment")
"""Kinds whose values every engine brings together by itself."""


def read_together(engine: Engine, tables: Sequence[ListedCells]) -> ListedCells:
    """All tables as one, with the number of each beside its cells.

    Columns that are texts in one and something else in another are compared as texts; what a table is not broken down
    by is missing in its cells.
    """
    first = tables[0]
    dimensions = _alike([one.dimensions for one in tables], [one.kinds[: len(one.names)] for one in tables])
    measures = _alike([tuple(one.measures.values()) for one in tables], [one.kinds[len(one.names) :] for one in tables])
    made = render(
        "tabular/tabular_releases.sql",
        engine.dialect,
        releases=[
            {"source": table.source, "dimensions": own, "measures": numbers}
            for table, own, numbers in zip(tables, dimensions, measures, strict=True)
        ],
    )
    named = {name: Raw(f"m{place}") for place, name in enumerate(first.measures)}
    return replace(
        first,
        source=Raw(f"(\n{made.sql}\n)"),
        dimensions=tuple(Raw(f"d{place}") for place in range(len(first.names))),
        measures=named | {"release": Raw("e")},
        kinds=(),
        absent=frozenset(),
        finished=False,
    )


def _alike(
    columns: Sequence[Sequence[Raw | None]], kinds: Sequence[Sequence[Kind]]
) -> list[list[tuple[Raw | None, bool]]]:
    """For each table its columns, and whether they are made texts."""
    texts = [len({_FAMILIES.get(kind, str(kind)) for kind in some}) > 1 for some in zip(*kinds, strict=True)]
    absent = [None in some for some in zip(*columns, strict=True)]
    wanted = [text or missing for text, missing in zip(texts, absent, strict=True)]
    return [list(zip(own, wanted, strict=True)) for own in columns]

"""What a synthetic table discloses of its original and of people outside: counted in the database, judged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import NullPolicy, Requirement
from sqlaudit.base.sql import expression, render
from sqlaudit.classes.opening import ColumnValues, fold, loaded, merged_statements, refuse_merged, settled
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import MappedLevel, TopLevel, level_sql
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.base import WORST_FIRST, Check, Context
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.registry import OF_SYNTHETIC
from sqlaudit.models.synthetic import Disclosed, SyntheticModel
from sqlaudit.release.compare.pairing import cast_as
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.chance import ColumnOverlap, UniqueRows
from sqlaudit.release.synthetic.interval import DOUBT, means_apart, proven, shares_apart
from sqlaudit.release.synthetic.result import (
    AttributeDisclosure,
    DisclosiveGroups,
    ExcessDisclosed,
    HoldoutDisclosure,
    IdentityDisclosure,
    KnownKeys,
    MostCommon,
    RowCopies,
    SyntheticFigures,
    SyntheticResult,
    SyntheticRows,
)
from sqlaudit.reports.document import listing, percent, plural

ORIGINAL, HOLDOUT = "d", "h"
"""What the columns of counts of these tables begin with."""
_CELLS = "sqlaudit_synthetic_cells"
_SINGLE = ("float", "float4", "real")
"""Types of single precision: rounded so, a number equals what it was rounded from."""
Counts = Counter[str]


@dataclass(frozen=True)
class ComparedTable:
    """One of the tables: where it lies, its keys and targets in the order of the request, and the columns of rows."""

    relation: Relation
    keys: tuple[Resolved, ...]
    targets: tuple[Resolved, ...]
    columns: tuple[Resolved, ...] = ()

    @property
    def all(self) -> list[Resolved]:
        """Keys, targets and columns."""
        return [*self.keys, *self.targets, *self.columns]

    def without(self, names: Container[str]) -> ComparedTable:
        """The same table without some of the columns of rows."""
        return replace(self, columns=tuple(one for one in self.columns if one.label not in names))

    def having(self, found: Sequence[Resolved]) -> ComparedTable:
        """The same table with others in the place of `all`."""
        keys, roles = len(self.keys), len(self.keys) + len(self.targets)
        return replace(self, keys=tuple(found[:keys]), targets=tuple(found[keys:roles]), columns=tuple(found[roles:]))


# The tables as they are opened: of one type in all of them, and with one spelling.


def open_tables(engine: Engine, request: CompareRequest) -> list[ComparedTable]:
    """Original, synthetic table and holdout, if there is one.

    Raises:
        UsageError: a column that is not there or has two roles, or values that cannot be equal in two tables.
    """
    targets = [one for one in (request.original, request.release, request.holdout) if one is not None]
    tables = [_opened(engine, engine.open(target), request) for target in targets]
    there = [{one.name.casefold() for one in table.relation.columns} for table in tables]
    odd = {name for table in tables for name in table.relation.respelled}
    names = [one.name for one in tables[0].relation.columns if all(one.name.casefold() in names for names in there)]
    names = [name for name in names if name not in odd]
    tables = [
        replace(table, columns=tuple(resolve(name, table.relation, engine.dialect, "columns") for name in names))
        for table in tables
    ]
    roles = len(tables[0].keys) + len(tables[0].targets)
    lists: list[list[Resolved]] = [[] for _ in tables]
    for place, alike in enumerate(zip(*(table.all for table in tables), strict=True)):
        cast = _of_one_kind(alike, engine.dialect)
        if cast is None and place < roles:
            kinds = ", ".join(f"{one.kind} in {table.relation.label}" for one, table in zip(alike, tables, strict=True))
            raise UsageError(
                f"{alike[0].label} is of type {kinds}, so its values cannot be compared. Give it one type in all "
                f"tables. For files, {spelled('all_text', True)} reads every column as text."
            )
        for found, one in zip(lists, cast or (), strict=False):
            found.append(one)
    return [table.having(found) for table, found in zip(tables, lists, strict=True)]


def _opened(engine: Engine, relation: Relation, request: CompareRequest) -> ComparedTable:
    """A table with its roles; what they hold is asked of the database where they are expressions."""
    keys, targets = (
        tuple(_known(engine, relation, resolve(name, relation, engine.dialect, about(field))) for name in names)
        for field, names in (("qi", request.qi), ("sensitive", request.sensitive))
    )
    named = [one.sql for one in (*keys, *targets)]
    if len(set(named)) < len(named):
        raise UsageError(
            f"A column is named twice in {spelled('qi')} and {spelled('sensitive')}. Give every column one role."
        )
    if odd := next((one.label for one in (*keys, *targets) if one.column in relation.respelled), None):
        raise UsageError(
            f"{odd} of {relation.label} treats differently written texts as equal (by its collation or type), so its "
            "values cannot be compared with another table's. Give both tables a view with one spelling."
        )
    if request.hierarchies:
        found = zip(keys, read_hierarchies(request.hierarchies).for_columns(request.qi), strict=True)
        keys = tuple(_coarsened(engine, relation, one, hierarchy) for one, hierarchy in found)
    return ComparedTable(relation, keys, targets)


def _known(engine: Engine, relation: Relation, one: Resolved) -> Resolved:
    holds = column_type(engine, relation, one)
    return replace(one, kind=holds.kind, type=holds.type)


def _coarsened(engine: Engine, relation: Relation, one: Resolved, hierarchy: Any) -> Resolved:
    """A quasi-identifier at the first level of its hierarchy; as it is without one."""
    level = hierarchy.levels[0] if hierarchy.levels else None
    if level is None or isinstance(level, TopLevel):
        return one
    if isinstance(level, MappedLevel):
        raise UsageError(
            f"{about('hierarchies')}: the hierarchy of {one.label} lists its values, which other tables may not have. "
            "Use one with widths, masks, dates or SQL."
        )
    sql = level_sql(hierarchy, 1, one.sql, engine.dialect, column_type(engine, relation, one))
    return _known(engine, relation, Resolved(one.label, sql))


def _of_one_kind(columns: Sequence[Resolved], dialect: str) -> list[Resolved] | None:
    """A column of all tables, its values comparable: numbers, or values of one type; None where they are not."""
    kinds = {one.kind for one in columns}
    if kinds <= {Kind.INTEGER, Kind.DECIMAL} or (len(kinds) == 1 and not kinds & {Kind.OTHER, Kind.FLOAT}):
        return list(columns)
    if kinds <= set(NUMBERS):
        precision = "FLOAT" if any(one.type.lower() in _SINGLE for one in columns) else "DOUBLE"
        return [cast_as(one, precision, Kind.FLOAT, dialect) for one in columns]
    if kinds <= {Kind.OTHER, Kind.TEXT}:
        return [cast_as(one, "VARCHAR", Kind.TEXT, dialect) for one in columns]
    return None


def _columns_of(tables: Sequence[ComparedTable], count: int) -> Iterator[tuple[str, list[tuple[Relation, Resolved]]]]:
    """The first columns by name, with their place in each table."""
    for alike in list(zip(*(table.all for table in tables), strict=True))[:count]:
        yield alike[0].label, [(table.relation, one) for table, one in zip(tables, alike, strict=True)]


def one_spelling(engine: Engine, tables: Sequence[ComparedTable], request: CompareRequest) -> list[ComparedTable]:
    """The tables with folded texts where that was asked for.

    Raises:
        UsageError: texts of a role differ only in what folding merges, and nobody said whether they are one.
    """
    refuse_merged(engine, _spellings(tables), request.values)
    keys = len(tables[0].keys)
    return [
        table.having(
            [
                settled(engine, table.relation, one, request.values, missing=place >= keys)
                for place, one in enumerate(table.all)
            ]
        )
        for table in tables
    ]


def _spellings(tables: Sequence[ComparedTable]) -> list[ColumnValues]:
    keys = len(tables[0].keys)
    found = _columns_of(tables, keys + len(tables[0].targets))
    return [ColumnValues(name, there, missing=place >= keys) for place, (name, there) in enumerate(found)]


# The statements: one a sensitive attribute, one of whole rows, one of which values occur in both tables.


@dataclass
class Counting:
    """What is asked of the tables.

    Args:
        engine: where they lie. tables: original, synthetic table and holdout. request: the roles.
        cells: a joint histogram of keys and targets that is kept for many questions, None = the tables are read.
    """

    engine: Engine
    tables: Sequence[ComparedTable]
    request: CompareRequest
    cells: Relation | None = None

    def figures(self, keys: Sequence[int], target: int | None) -> Statement:
        """What groups by these keys tell of a target."""
        first = self.tables[0]
        given: dict[str, Any] = {"counts": self.cells, "sides": [], "totals": [], "apart": False}
        if self.cells is None:
            columns = [*keys, *([] if target is None else [len(first.keys) + target])]
            given["sides"] = self._sides([[table.all[place] for place in columns] for table in self.tables])
            if target is not None:
                given["totals"] = self._sides([[table.targets[target]] for table in self.tables])
            given["apart"] = self.request.nulls is NullPolicy.DISTINCT
            names = [f"c{place}" for place in range(1, len(columns) + 1)]
            named, of_target = names[: len(keys)], names[len(keys) :]
        else:
            named = [f"c{place + 1}" for place in keys]
            of_target = [] if target is None else [f"c{len(first.keys) + target + 1}"]
        label = f"groups of {listing([first.keys[place].label for place in keys])}"
        step = label if target is None else f"{label}: {first.targets[target].label}"
        shown = self.request.show_values
        holdout = len(self.tables) > 2
        return self._render(
            "figures", step, keys=named, target="".join(of_target), shown=shown, holdout=holdout, **given
        )

    def kept(self) -> Statement:
        """The joint histogram of all keys and targets."""
        roles = len(self.tables[0].keys) + len(self.tables[0].targets)
        return self._render("cells", "joint histogram", sides=self._sides([one.all[:roles] for one in self.tables]))

    def copies(self) -> Statement:
        """Whole rows in both tables."""
        columns = [table.columns for table in self.tables]
        return self._render("copies", "copies", sides=self._sides(columns), near=len(columns[0]) > 1)

    def whole_rows(self) -> Mapping[str, int]:
        """How many rows are copies."""
        statement = self.copies()
        return dict(zip(self.engine.result_names(statement), self.engine.run(statement)[0], strict=True))

    def shared(self) -> Statement:
        """Return, for each column, how far its values occur in both tables."""
        first, columns = self.tables[0], []
        for place in self._looked_at():
            sides = self._sides([[table.all[place]] for table in self.tables[:2]])
            columns.append({"sides": sides, "number": first.all[place].kind in NUMBERS})
        return self._render("shared", "values in both tables", columns=columns)

    def overlaps(self, rows: int, synthetic_rows: int) -> list[ColumnOverlap]:
        """Return the overlap of each column, first the roles."""
        columns = [self.tables[0].all[place] for place in self._looked_at()]
        found = []
        for column, row in zip(columns, sorted(self.engine.run(self.shared())), strict=True):
            own, made, both, own_rows, made_rows, once, shared_rows, overlap = (int(count) for count in row[1:9])
            found.append(
                ColumnOverlap(
                    name=column.label,
                    kind=column.kind,
                    rows=rows,
                    synthetic_rows=synthetic_rows,
                    own=own,
                    made=made,
                    both=both,
                    own_rows=own_rows,
                    made_rows=made_rows,
                    once=once,
                    shared_rows=shared_rows,
                    overlap=bool(overlap),
                    own_span=row[9],
                    made_span=row[10],
                )
            )
        return found

    def unique_rows(self, other: int, columns: Sequence[Sequence[Resolved]], step: str) -> UniqueRows:
        """Count how often another of the tables has unique rows of the original, in these columns of both."""
        sides = [
            {"source": self.tables[place].relation, "columns": some}
            for place, some in zip((0, other), columns, strict=True)
        ]
        counts = self.engine.run(self._render("unique", step, sides=sides))[0]
        return UniqueRows(*(int(one) for one in counts[:7]), *(float(one or 0) for one in counts[7:]))

    def _looked_at(self) -> list[int]:
        """Return the places of the roles, and of the columns of rows that are no role as they are."""
        first = self.tables[0]
        own = len(first.keys) + len(first.targets)
        roles = {one.label.casefold(): one for one in first.all[:own]}

        def has_role(column: Resolved) -> bool:
            role = roles.get(column.label.casefold())
            return role is not None and (role.column is not None or role.sql == column.sql)

        return [n for n, one in enumerate(first.all) if n < own or not has_role(one)]

    def ask(self, keys: Sequence[int], target: int | None) -> tuple[Counts, list[DisclosiveGroups], str | None]:
        """The sums over all groups, the disclosive groups by size, and the most common value where it is shown."""
        statement = self.figures(keys, target)
        names, rows = self.engine.result_names(statement), self.engine.run(statement)
        found, sizes, value = Counts(), [], None
        for row in rows:
            of_size = dict(zip(names, row, strict=True))
            value = of_size.pop("common_value", None)
            size = int(of_size.pop("size"))
            whole = {name: of_size.pop(name) for name in [*of_size] if name.endswith(("_squares", "_common"))}
            found.update({name: count or 0 for name, count in of_size.items()})
            found |= {name: count or 0 for name, count in whole.items()}
            if of_size.get("disclosive"):
                sizes.append(DisclosiveGroups(size, int(of_size["disclosive"]), int(of_size["d_disclosed"])))
        return found, sorted(sizes, key=lambda one: one.size), value

    def _sides(self, columns: Sequence[Sequence[Resolved]]) -> list[dict[str, Any]]:
        return [{"source": table.relation, "columns": some} for table, some in zip(self.tables, columns, strict=False)]

    def _render(self, name: str, step: str, **parameters: Any) -> Statement:
        return render(f"release/synthetic/synthetic_{name}.sql", self.engine.dialect, step=step, **parameters)


# From sums to shares.


Figure = Fraction | float | None
SideFigures = tuple[IdentityDisclosure, tuple[AttributeDisclosure, ...], RowCopies]
"""What was found for the people of one table."""


def _share(part: Any, whole: Any) -> Figure:
    """Exact where both are counts; None where the whole is nothing."""
    if not whole:
        return None
    return min(float(part) / int(whole), 1.0) if isinstance(part, float) else Fraction(int(part), int(whole))


def _identity(found: Counts, side: str) -> IdentityDisclosure:
    rows = found[f"{side}_rows"]
    return IdentityDisclosure(
        uio=_share(found[f"{side}_unique"], rows),
        uis=_share(found["s_unique"], found["s_rows"]),
        uiois=_share(found[f"{side}_unique_there"], rows),
        rep_u=_share(found[f"{side}_unique_both"], rows),
    )


def _attribute(found: Counts, side: str, sensitive: str) -> AttributeDisclosure:
    def of_rows(name: str) -> Figure:
        return _share(found[f"{side}_{name}"], found[f"{side}_rows"])

    rows, disclosed = found[f"{side}_rows"], found[f"{side}_disclosed"]
    return AttributeDisclosure(
        sensitive=sensitive,
        dorig=of_rows("pure"),
        dsyn=_share(found["s_pure"], found["s_rows"]),
        there=of_rows("there"),
        dis=of_rows("in_pure"),
        disco=of_rows("disclosed"),
        disdio=of_rows("disclosed_pure"),
        cap_d=_share(float(found[f"{side}_cap"]), rows),
        base_cap_d=_share(float(found[f"{side}_total_squares"]), rows * rows),
        cap_s=_share(float(found["s_cap"]), found["s_rows"]),
        dcap=_share(float(found[f"{side}_dcap"]), rows),
        tcap=_share(disclosed, found[f"{side}_in_pure"]),
        tcap_alt=_share(disclosed, found[f"{side}_there"]),
    )


def _copies(found: Mapping[str, Any], side: str, columns: int) -> RowCopies:
    near = found.get(f"{side}_near")
    return RowCopies(
        columns=columns,
        rows=int(found[f"{side}_copies"]),
        but_one=None if near is None else int(near),
        unique_in_original=int(found[f"{side}_copies_of_unique"]),
        copied=int(found[f"{side}_copied"]),
    )


_OF_TABLES = ("uiois", "rep_u", "disdio")
"""Measures that look at the other rows of the original, too; of the others each row counts by itself."""


def _excess(sides: Sequence[SideFigures], rows: int, others: int) -> Iterator[ExcessDisclosed]:
    """The excess of every measure for the people inside over the people outside."""
    (identity, attributes, copies), (other_identity, other_attributes, other_copies) = sides
    for name in ("uiois", "rep_u"):
        yield _excess_of(name, None, getattr(identity, name), getattr(other_identity, name), rows, others)
    yield _excess_of("copies", None, _share(copies.copied, rows), _share(other_copies.copied, others), rows, others)
    for own, other in zip(attributes, other_attributes, strict=True):
        for name, field in {"is": "there", **dict.fromkeys(("dis", "disco", "disdio", "dcap"), "")}.items():
            inside, outside = (getattr(one, field or name) for one in (own, other))
            yield _excess_of(name, own.sensitive, inside, outside, rows, others)


def _excess_of(
    measure: str, sensitive: str | None, inside: Figure, outside: Figure, rows: int, others: int
) -> ExcessDisclosed:
    """The excess of a share, with its interval where rows are counted one by one."""
    low: float | None = None
    high: float | None = None
    if inside is None or outside is None or (measure in _OF_TABLES and rows != others):
        return ExcessDisclosed(measure, sensitive, inside, outside, None, low, high)
    if measure == "dcap":
        low, high = means_apart(float(inside) - float(outside), rows, others)
    elif measure not in _OF_TABLES:
        low, high = shares_apart(int(inside * rows), rows, int(outside * others), others)
    return ExcessDisclosed(measure, sensitive, inside, outside, inside - outside, low, high)


def find_disclosure(engine: Engine, request: CompareRequest) -> SyntheticResult:
    """What a synthetic table discloses of the people behind it.

    Raises:
        UsageError: columns, types or requirements that do not fit.
        EngineError: the database refused a statement, failed or disconnected.
    """
    already = len(engine.executed)
    _refuse_requirements(request)
    counting = _counting(engine, request)
    every, targets = tuple(range(len(request.qi))), [*range(len(request.sensitive))] or [None]
    if engine.can_materialize and request.known and request.nulls is NullPolicy.EQUAL:
        counting.cells = engine.materialize(_CELLS, counting.kept())
    try:
        asked = [counting.ask(every, target) for target in targets]
        known = tuple(sorted(_by_keys(counting, targets), key=_most_disclosing))
    finally:
        if counting.cells is not None:
            engine.drop(_CELLS)
    counts = asked[0][0]
    overlaps = counting.overlaps(int(counts["d_rows"]), int(counts["s_rows"]))
    roles = len(every) + len(request.sensitive)
    hiding = {
        column.name
        for column in overlaps[roles:]
        if column.is_row_number or (column.is_unmatched and not column.may_be_drawn)
    }
    counting.tables = [table.without(hiding) for table in counting.tables]
    synthetic = _figures(counting, asked, known)
    doubts = Doubts(
        unmatched=tuple(column.name for column in overlaps[:roles] if column.says_too_little),
        hiding=tuple(column.name for column in overlaps[:roles] if column.is_unmatched and not column.may_be_drawn),
        copies=tuple(_hidden_copies(counting, overlaps)) if _asks_for_copies(request, synthetic) else (),
        holdout=_doubt_of_holdout(counting, synthetic),
    )
    result = SyntheticResult(
        original=request.original.name,
        release=request.release.name,
        holdout=None if request.holdout is None else request.holdout.name,
        qi=request.qi,
        sensitive=request.sensitive,
        nulls=request.nulls.value,
        compared=tuple(one.label for one in counting.tables[0].columns),
        synthetic=synthetic,
        warnings=tuple(_warnings(synthetic, doubts, hiding, counting.tables)),
        checks=tuple(_checks(request, synthetic, doubts)),
    )
    return replace(result, **provenance(engine, already))


@dataclass(frozen=True)
class Doubts:
    """Why requirements may not pass.

    Args:
        unmatched: roles of which too few synthetic rows have a value of the original.
        hiding: roles without a value in both tables, which hide every copy.
        copies: how many synthetic rows are copies but for some columns, and a sentence on each such set of columns.
        holdout: why the holdout may not be people outside; empty where nothing shows it.
    """

    unmatched: tuple[str, ...]
    hiding: tuple[str, ...]
    copies: tuple[tuple[int, str], ...]
    holdout: str


def _asks_for_copies(request: CompareRequest, found: SyntheticFigures) -> bool:
    """Return True if a requirement on copies is met as far as rows that are equal in all columns go."""
    limits = (one.parameters["rows"] for one in request.requirements if one.model == "exact_copies")
    return bool(found.copies.columns) and any(found.copies.rows <= limit for limit in limits)


def _hidden_copies(counting: Counting, overlaps: Sequence[ColumnOverlap]) -> Iterator[tuple[int, str]]:
    """Look for unique rows of the original in the synthetic table, without columns that may hide copies.

    Texts count as one in every spelling, and what is no number as missing. Numbers that may be drawn by chance are
    left out, and compared by their position among all, which a shift or rounding hardly changes.
    """
    tables = counting.tables[:2]
    columns = [[_plain(counting, column) for column in table.columns] for table in tables]
    labels = {column.label.casefold(): column.label for column in tables[0].columns}
    suspects = {labels[column.name.casefold()]: column for column in overlaps if column.name.casefold() in labels}
    suspects = {name: column for name, column in suspects.items() if column.may_hide_copies}
    new = frozenset(name for name, column in suspects.items() if column.is_hardly_matched)
    sets = [*(frozenset([name]) for name in suspects), new, frozenset(suspects)]
    for names in dict.fromkeys((frozenset[str](), *sets)):
        places = [place for place, label in enumerate(labels.values()) if label not in names]
        if not places:
            continue
        step = f"copies but for {listing(sorted(names))}" if names else "copies in any spelling"
        found = counting.unique_rows(1, [[side[place] for place in places] for side in columns], step)
        if found.are_copied:
            yield found.hit_rows, _hidden_copies_sentence(found, sorted(names))
    if drawn := [name for name, column in suspects.items() if column.may_be_drawn]:
        shifted = [
            [_position(counting, table, column) if column.label in drawn else column for column in side]
            for table, side in zip(tables, columns, strict=True)
        ]
        found = counting.unique_rows(1, shifted, f"copies with shifted numbers in {listing(drawn)}")
        if found.are_copied:
            yield found.hit_rows, _hidden_copies_sentence(found, drawn)


def _plain(counting: Counting, column: Resolved) -> Resolved:
    """Return a column with texts in one spelling, and NULL for empty texts and for what is no number."""
    dialect = counting.engine.dialect
    if column.kind is Kind.TEXT:
        return replace(column, sql=fold(column.sql, dialect, missing=True))
    if column.kind is Kind.FLOAT:
        return replace(column, sql=expression("release/synthetic/number.sql", dialect, column=column))
    return column


def _position(counting: Counting, table: ComparedTable, column: Resolved) -> Resolved:
    """Return the position of a number among those of its table."""
    sql = expression("release/synthetic/position.sql", counting.engine.dialect, column=column, source=table.relation)
    return replace(column, sql=sql)


def _hidden_copies_sentence(found: UniqueRows, names: Sequence[str]) -> str:
    rows = f"{plural(found.hit_rows, 'synthetic row equals', 'synthetic rows equal')} a unique row of the original"
    if not names:
        return f"{rows} but for spelling and missing values. Use {spelled('values', 'fold')} to count them as copies"
    columns = listing(names)
    return f"{rows} but for {columns}. Leave {columns} out of the synthetic table to count them as copies"


def _figures(
    counting: Counting, asked: Sequence[tuple[Counts, list[DisclosiveGroups], str | None]], known: tuple[KnownKeys, ...]
) -> SyntheticFigures:
    request, columns = counting.request, len(counting.tables[0].columns)
    counts = [found for found, _, _ in asked]
    rows, others = int(counts[0]["d_rows"]), int(counts[0]["h_rows"])
    named = [*zip(request.sensitive, counts, strict=False)]
    whole = counting.whole_rows() if columns else Counter[str]()
    sides: list[SideFigures] = []
    for x in (ORIGINAL, HOLDOUT)[: len(counting.tables) - 1]:
        attributes = tuple(_attribute(found, x, name) for name, found in named)
        sides.append((_identity(counts[0], x), attributes, _copies(whole, x, columns)))
    holdout = None
    if request.holdout is not None:
        holdout = HoldoutDisclosure(*sides[1], int(whole["shared"]), tuple(_excess(sides, rows, others)))
    own = tuple(
        replace(one, most_common=_most_common(found, value), by_size=tuple(sizes))
        for one, (found, sizes, value) in zip(sides[0][1], asked, strict=False)
    )
    sizes = SyntheticRows(rows, int(counts[0]["s_rows"]), None if holdout is None else others)
    return SyntheticFigures(sizes, sides[0][0], own, sides[0][2], holdout, known)


def plan_disclosure(engine: Engine, request: CompareRequest) -> list[Statement]:
    """The statements, for `--dry-run`.

    Raises:
        UsageError: as `find_disclosure`.
    """
    _refuse_requirements(request)
    counting = Counting(engine, open_tables(engine, request), request)
    every, targets = range(len(request.qi)), [*range(len(request.sensitive))] or [None]
    sets = [every, *(keys for keys in _subsets(request))]
    return [
        *merged_statements(engine, _spellings(counting.tables), request.values),
        *(counting.figures(keys, target) for keys in sets for target in targets),
        *([counting.copies()] if counting.tables[0].columns else []),
        counting.shared(),
    ]


def _counting(engine: Engine, request: CompareRequest) -> Counting:
    """Open the tables, with one spelling, and copied where every reading would parse text again.

    They are copied first: two tables of one open connection cannot be read in one statement.
    """
    tables = []
    for place, table in enumerate(open_tables(engine, request)):
        relation, found = loaded(engine, table.relation, table.all, f"sqlaudit_synthetic_{place}")
        tables.append(replace(table, relation=relation).having(found))
    return Counting(engine, one_spelling(engine, tables, request), request)


def _most_common(found: Counts, value: str | None) -> MostCommon:
    return MostCommon(
        _share(found["d_common"], found["d_rows"]), _share(found["common_disclosed"], found["d_disclosed"]), value
    )


def _subsets(request: CompareRequest) -> Iterator[tuple[int, ...]]:
    """Sets of fewer quasi-identifiers than all, the small ones first."""
    every = range(len(request.qi))
    for size in range(1, min(request.known, len(request.qi) - 1) + 1):
        yield from combinations(every, size)


def _most_disclosing(one: KnownKeys) -> tuple[Fraction | float, int]:
    return -((one.rep_u if one.sensitive is None else one.disco) or 0), len(one.keys)


def _by_keys(counting: Counting, targets: Sequence[int | None]) -> Iterator[KnownKeys]:
    request = counting.request
    for keys in _subsets(request):
        for target in targets:
            found, _, _ = counting.ask(keys, target)
            names, of_rows = tuple(request.qi[place] for place in keys), _identity(found, ORIGINAL)
            if target is None:
                yield KnownKeys(names, None, of_rows.rep_u, None, None)
                continue
            own, other = (_attribute(found, x, request.sensitive[target]) for x in (ORIGINAL, HOLDOUT))
            apart = _excess_of(
                "disco", own.sensitive, own.disco, other.disco, int(found["d_rows"]), int(found["h_rows"])
            )
            yield KnownKeys(
                names, own.sensitive, of_rows.rep_u, own.dis, own.disco, apart.excess, apart.high, apart.low
            )


# What a reader should know, and the verdicts.


def _warnings(
    found: SyntheticFigures, doubts: Doubts, hiding: Container[str], tables: Sequence[ComparedTable]
) -> Iterator[Warned]:
    for name in doubts.unmatched:
        yield Warned(
            "no_shared_values", (name,), f"{name} has {_UNMATCHED}: another spelling or unit hides disclosure."
        )
    keys = tuple(one.label for one in tables[0].keys)
    if found.rows.original > 1 and found.rows.synthetic > 1 and found.identity.uio == 1 == found.identity.uis:
        said = (
            f"Every row is unique in its quasi-identifiers in both tables, and {percent(found.identity.uiois)} of the "
            f"original's occur in the synthetic table. Compare numbers in widths with {spelled('hierarchies')}."
        )
        yield Warned("all_unique", keys, said)
    compared = {one.label.casefold() for one in tables[0].columns}
    left_out = [one.name for one in tables[1].relation.columns if one.name.casefold() not in compared]
    if hid := tuple(name for name in left_out if name in hiding):
        why = "new values in every row, or no value that is in both tables, hide copies"
        yield Warned("hides_copies", hid, f"Copies are looked for without {listing(hid)}: {why}.")
    if others := tuple(name for name in left_out if name not in hiding):
        why = "which another table lacks or has in another type"
        yield Warned("not_compared", others, f"Copies are looked for without {listing(others)}, {why}.")
    if doubt := doubts.holdout:
        yield Warned("holdout", (), f"{doubt[:1].upper()}{doubt[1:]}.")


_UNMATCHED = "no value, or hardly any, that is in both tables"


def _doubt_of_holdout(counting: Counting, found: SyntheticFigures) -> str:
    """Return why the holdout may not be people outside who were drawn as those inside; empty where nothing shows it."""
    holdout = found.holdout
    if holdout is None or not found.rows.holdout or not found.rows.original:
        return ""
    first, last = counting.tables[0], counting.tables[2]
    roles = [[*table.keys, *table.targets] for table in (first, last)]
    for columns in (roles, [table.columns for table in (first, last)]):
        rows = counting.unique_rows(2, columns, "unique rows in the holdout") if columns[0] else None
        if rows is None or not rows.once:  # nobody is unique, so that equal rows may be of different people
            continue
        if rows.are_copied or rows.are_too_equal:
            return (
                f"{rows.hit:,} of the {plural(rows.once, 'unique row')} of the original and {holdout.shared:,} of the "
                f"{plural(found.rows.holdout, 'row')} of the holdout are in the other table, or both have the same "
                "counts: more than with different people, so the holdout may not be people outside"
            )
    highs = [one.high for one in holdout.excess if one.measure in ("copies", "disco")]
    if any(high is not None and high < 0 for high in highs):
        return (
            "the synthetic table discloses more about the holdout than about the original, so they were not drawn alike"
        )
    return ""


def _refuse_requirements(request: CompareRequest) -> None:
    for one in request.requirements:
        if one.model not in OF_SYNTHETIC:
            raise UsageError(
                f"{one.text!r} is about a table alone. With {spelled('synthetic', True)}, require "
                f"{', '.join(OF_SYNTHETIC)}, and audit the synthetic table by itself."
            )
        if OF_SYNTHETIC[one.model].needs_sensitive and not request.sensitive:
            raise UsageError(f"{one.text!r} needs a sensitive column: name one with {spelled('sensitive')}.")
        if one.model == "excess_disclosure" and request.holdout is None:
            raise UsageError(
                f"{one.text!r} needs people who were not used for the synthetic table: name them with "
                f"{spelled('holdout')}."
            )


def _checks(request: CompareRequest, found: SyntheticFigures, doubts: Doubts) -> Iterator[Check]:
    for requirement in request.requirements:
        model = OF_SYNTHETIC[requirement.model]
        for sensitive in request.sensitive if model.needs_sensitive else (None,):
            yield _check(requirement, sensitive, found, doubts)


def _check(requirement: Requirement, sensitive: str | None, found: SyntheticFigures, doubts: Doubts) -> Check:
    """Judge a requirement for each set of known columns. The worst verdict counts, then the highest level."""
    model = OF_SYNTHETIC[requirement.model](requirement.parameters, Context(None, 0))
    assert isinstance(model, SyntheticModel)
    rows, excess = min(found.rows.original, found.rows.synthetic), requirement.model == "excess_disclosure"
    if excess:
        rows = min(rows, found.rows.holdout or 0)
    doubt, limit = "", model.required
    if requirement.model == "exact_copies":
        hidden = [(number, sentence) for number, sentence in doubts.copies if limit is None or number > limit]
        doubt = max(hidden, default=(0, ""))[1]
    unmatched = doubts.hiding if requirement.model == "exact_copies" else doubts.unmatched
    if unmatched:
        doubt = f"{listing(unmatched)} {'has' if len(unmatched) == 1 else 'have'} {_UNMATCHED}"
    checks = []
    for disclosed in _disclosed(requirement.model, sensitive, found):
        doubted = replace(disclosed, doubt=doubt or disclosed.doubt, doubt_of_holdout=doubts.holdout if excess else "")
        checks.append(check_of(Asked(model, requirement, sensitive), model.judge_synthetic(doubted), rows))
    check = min(checks, key=lambda check: (WORST_FIRST.index(check.status), -(check.level or 0)))
    if rows:
        return check
    return replace(check, note=f"a table is empty ({plural(found.rows.synthetic, 'synthetic row')})")


def _disclosed(name: str, sensitive: str | None, found: SyntheticFigures) -> Iterator[Disclosed]:
    """Yield the figure of a requirement, for all quasi-identifiers and for each set of known ones that was tried."""
    fewer = [known for known in found.known if known.sensitive == sensitive or name == "rep_u"]
    if name == "exact_copies":
        copies = found.copies
        details = {"but_one": copies.but_one, "unique_in_original": copies.unique_in_original}
        yield Disclosed(copies.rows, details=details, doubt="" if copies.columns else "the tables share no column")
    elif name == "rep_u":
        yield Disclosed(found.identity.rep_u)
        yield from (Disclosed(known.rep_u, keys=known.keys) for known in fewer)
    else:
        own = next(one for one in found.attributes if one.sensitive == sensitive)
        excess = found.holdout.of("disco", sensitive) if found.holdout else None
        for figure, apart, keys in ((own.disco, excess, ()), *((known.disco, known, known.keys) for known in fewer)):
            if name == "disco":
                yield Disclosed(figure, keys=keys)
            else:
                assert apart is not None
                yield _excess_disclosed(figure, apart, keys, found.rows.original)


def _excess_disclosed(disco: Figure, apart: ExcessDisclosed | KnownKeys, keys: tuple[str, ...], rows: int) -> Disclosed:
    """Return the excess of DiSCO with its interval, and the most that it can be with any holdout."""
    excess = None if apart.excess is None else Fraction(apart.excess)
    most = None if disco is None else proven(int(disco * rows), rows, DOUBT / 2)[1]
    return Disclosed(apart.high, excess, keys, low=apart.low, most=most)

"""What a synthetic table discloses of its original and of people outside: counted in the database, judged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.result import Number, Warned
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import expression, render
from sqlaudit.classes.opening import (
    ColumnValues,
    apply_spelling_policy,
    copy_columns,
    fold,
    refuse_spelling_conflicts,
    spelling_statements,
)
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import MappedLevel, TopLevel, level_sql
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.base import WORST_FIRST, Check, Context
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.registry import OF_SYNTHETIC
from sqlaudit.models.synthetic import Disclosed
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
        """Return a copy of the table without some of the columns of rows."""
        return replace(self, columns=tuple(column for column in self.columns if column.label not in names))

    def with_columns(self, columns: Sequence[Resolved]) -> ComparedTable:
        """Return a copy of the table with these keys, targets and columns, in the order of `all`."""
        keys, roles = len(self.keys), len(self.keys) + len(self.targets)
        return replace(
            self, keys=tuple(columns[:keys]), targets=tuple(columns[keys:roles]), columns=tuple(columns[roles:])
        )


# The tables as they are opened: of one type in all of them, and with one spelling.


def open_tables(engine: Engine, request: CompareRequest) -> list[ComparedTable]:
    """Open the original, the synthetic table, and the holdout if there is one.

    Raises:
        UsageError: a column that is not there or has two roles, or values that cannot be equal in two tables.
    """
    targets = [target for target in (request.original, request.release, request.holdout) if target is not None]
    tables = [_opened(engine, engine.open(target), request) for target in targets]
    column_names = [{column.name.casefold() for column in table.relation.columns} for table in tables]
    odd = {name for table in tables for name in table.relation.respelled}
    names = [
        column.name
        for column in tables[0].relation.columns
        if all(column.name.casefold() in names for names in column_names)
    ]
    names = [name for name in names if name not in odd]
    tables = [
        replace(table, columns=tuple(resolve(name, table.relation, engine.dialect, "columns") for name in names))
        for table in tables
    ]
    roles = len(tables[0].keys) + len(tables[0].targets)
    lists: list[list[Resolved]] = [[] for _ in tables]
    for index, same_column in enumerate(zip(*(table.all for table in tables), strict=True)):
        cast = cast_to_common_type(same_column, engine.dialect)
        if cast is None and index < roles:
            kinds = ", ".join(
                f"{column.kind} in {table.relation.label}" for column, table in zip(same_column, tables, strict=True)
            )
            raise UsageError(
                f"{same_column[0].label} is of type {kinds}, so its values cannot be compared. Give it one type in all "
                f"tables. For files, {spelled('all_text', True)} reads every column as text."
            )
        for columns, column in zip(lists, cast or (), strict=False):
            columns.append(column)
    return [table.with_columns(columns) for table, columns in zip(tables, lists, strict=True)]


def _opened(engine: Engine, relation: Relation, request: CompareRequest) -> ComparedTable:
    """Find the roles in a table; the database is asked for the types of expressions."""
    keys, targets = (
        tuple(
            _with_column_type(engine, relation, resolve(name, relation, engine.dialect, about(field))) for name in names
        )
        for field, names in (("qi", request.qi), ("sensitive", request.sensitive))
    )
    named = [column.sql for column in (*keys, *targets)]
    if len(set(named)) < len(named):
        raise ConflictingRoles(
            f"A column is named twice in {spelled('qi')} and {spelled('sensitive')}. Give every column one role."
        )
    if odd := next((column.label for column in (*keys, *targets) if column.column in relation.respelled), None):
        raise UsageError(
            f"{odd} of {relation.label} treats differently written texts as equal (by its collation or type), so its "
            "values cannot be compared with another table's. Give both tables a view with one spelling."
        )
    if request.hierarchies:
        keys_and_hierarchies = zip(keys, read_hierarchies(request.hierarchies).for_columns(request.qi), strict=True)
        keys = tuple(_coarsened(engine, relation, column, hierarchy) for column, hierarchy in keys_and_hierarchies)
    return ComparedTable(relation, keys, targets)


def _with_column_type(engine: Engine, relation: Relation, column: Resolved) -> Resolved:
    holds = column_type(engine, relation, column)
    return replace(column, kind=holds.kind, type=holds.type)


def _coarsened(engine: Engine, relation: Relation, column: Resolved, hierarchy: Any) -> Resolved:
    """Return a quasi-identifier at the first level of its hierarchy; as it is without one."""
    level = hierarchy.levels[0] if hierarchy.levels else None
    if level is None or isinstance(level, TopLevel):
        return column
    if isinstance(level, MappedLevel):
        raise UsageError(
            f"{about('hierarchies')}: the hierarchy of {column.label} lists its values, which other tables may not "
            "have. Use one with widths, masks, dates or SQL."
        )
    sql = level_sql(hierarchy, 1, column.sql, engine.dialect, column_type(engine, relation, column))
    return _with_column_type(engine, relation, Resolved(column.label, sql))


def cast_to_common_type(columns: Sequence[Resolved], dialect: str) -> list[Resolved] | None:
    """Cast the columns of all tables to a type in which their values compare; None if there is none."""
    kinds = {column.kind for column in columns}
    if kinds <= {Kind.INTEGER, Kind.DECIMAL} or (len(kinds) == 1 and not kinds & {Kind.OTHER, Kind.FLOAT}):
        return list(columns)
    if kinds <= set(NUMBERS):
        precision = "FLOAT" if any(column.type.lower() in _SINGLE for column in columns) else "DOUBLE"
        return [cast_as(column, precision, Kind.FLOAT, dialect) for column in columns]
    if kinds <= {Kind.OTHER, Kind.TEXT}:
        return [cast_as(column, "VARCHAR", Kind.TEXT, dialect) for column in columns]
    return None


def _columns_of(tables: Sequence[ComparedTable], count: int) -> Iterator[tuple[str, list[tuple[Relation, Resolved]]]]:
    """Yield the first columns by name, each as it is in every table."""
    for same_column in list(zip(*(table.all for table in tables), strict=True))[:count]:
        yield (
            same_column[0].label,
            [(table.relation, column) for table, column in zip(tables, same_column, strict=True)],
        )


def fold_spellings(engine: Engine, tables: Sequence[ComparedTable], request: CompareRequest) -> list[ComparedTable]:
    """Fold the texts of all tables where that was asked for.

    Raises:
        UsageError: texts of a role differ only in what folding merges, and nobody said whether they are one.
    """
    refuse_spelling_conflicts(engine, _spellings(tables), request.values)
    keys = len(tables[0].keys)
    return [
        table.with_columns(
            [
                apply_spelling_policy(engine, table.relation, column, request.values, missing=index >= keys)
                for index, column in enumerate(table.all)
            ]
        )
        for table in tables
    ]


def _spellings(tables: Sequence[ComparedTable]) -> list[ColumnValues]:
    keys = len(tables[0].keys)
    columns = _columns_of(tables, keys + len(tables[0].targets))
    return [ColumnValues(name, places, missing=index >= keys) for index, (name, places) in enumerate(columns)]


# The statements: one a sensitive attribute, one of whole rows, one of which values occur in both tables.


@dataclass
class Counting:
    """The statements that are asked of the tables.

    Args:
        engine: where they lie. tables: original, synthetic table and holdout. request: the roles.
        cells: a joint histogram of keys and targets that is kept for many questions, None = the tables are read.
    """

    engine: Engine
    tables: Sequence[ComparedTable]
    request: CompareRequest
    cells: Relation | None = None

    def figures(self, keys: Sequence[int], target: int | None) -> Statement:
        """Return the statement that counts what groups by these keys disclose of a target."""
        first = self.tables[0]
        parameters: dict[str, Any] = {"counts": self.cells, "sides": [], "totals": [], "apart": False}
        if self.cells is None:
            columns = [*keys, *([] if target is None else [len(first.keys) + target])]
            parameters["sides"] = self._sides([[table.all[position] for position in columns] for table in self.tables])
            if target is not None:
                parameters["totals"] = self._sides([[table.targets[target]] for table in self.tables])
            parameters["apart"] = self.request.nulls is NullPolicy.DISTINCT
            names = [f"c{position}" for position in range(1, len(columns) + 1)]
            named, of_target = names[: len(keys)], names[len(keys) :]
        else:
            named = [f"c{position + 1}" for position in keys]
            of_target = [] if target is None else [f"c{len(first.keys) + target + 1}"]
        label = f"groups of {listing([first.keys[position].label for position in keys])}"
        step = label if target is None else f"{label}: {first.targets[target].label}"
        show_values = self.request.show_values
        holdout = len(self.tables) > 2
        return self._render(
            "figures", step, keys=named, target="".join(of_target), shown=show_values, holdout=holdout, **parameters
        )

    def kept(self) -> Statement:
        """Return the statement of the joint histogram of all keys and targets."""
        roles = len(self.tables[0].keys) + len(self.tables[0].targets)
        return self._render("cells", "joint histogram", sides=self._sides([table.all[:roles] for table in self.tables]))

    def copies(self) -> Statement:
        """Return the statement that counts whole rows in both tables."""
        columns = [table.columns for table in self.tables]
        return self._render("copies", "copies", sides=self._sides(columns), near=len(columns[0]) > 1)

    def whole_rows(self) -> Mapping[str, int]:
        """Return how many rows are copies, by the name of the count."""
        statement = self.copies()
        return dict(zip(self.engine.result_names(statement), self.engine.run(statement)[0], strict=True))

    def shared(self) -> Statement:
        """Return, for each column, how far its values occur in both tables."""
        first, columns = self.tables[0], []
        for position in self._looked_at():
            sides = self._sides([[table.all[position]] for table in self.tables[:2]])
            columns.append({"sides": sides, "number": first.all[position].kind in NUMBERS})
        return self._render("shared", "values in both tables", columns=columns)

    def overlaps(self, rows: int, synthetic_rows: int) -> list[ColumnOverlap]:
        """Return the overlap of each column, first the roles."""
        columns = [self.tables[0].all[position] for position in self._looked_at()]
        overlaps = []
        for column, row in zip(columns, sorted(self.engine.run(self.shared())), strict=True):
            original_values, synthetic_values, both, own_rows, made_rows, once, shared_rows, overlap = (
                int(count) for count in row[1:9]
            )
            overlaps.append(
                ColumnOverlap(
                    name=column.label,
                    kind=column.kind,
                    rows=rows,
                    synthetic_rows=synthetic_rows,
                    own=original_values,
                    made=synthetic_values,
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
        return overlaps

    def unique_rows(self, other: int, columns: Sequence[Sequence[Resolved]], step: str) -> UniqueRows:
        """Count how often another of the tables has unique rows of the original, in these columns of both."""
        sides = [
            {"source": self.tables[index].relation, "columns": compared_columns}
            for index, compared_columns in zip((0, other), columns, strict=True)
        ]
        counts = self.engine.run(self._render("unique", step, sides=sides))[0]
        return UniqueRows(*(int(count) for count in counts[:7]), *(float(count or 0) for count in counts[7:]))

    def _looked_at(self) -> list[int]:
        """Return the places of the roles, and of the columns of rows that are no role as they are."""
        first = self.tables[0]
        role_count = len(first.keys) + len(first.targets)
        roles = {column.label.casefold(): column for column in first.all[:role_count]}

        def has_role(column: Resolved) -> bool:
            role = roles.get(column.label.casefold())
            return role is not None and (role.column is not None or role.sql == column.sql)

        return [n for n, column in enumerate(first.all) if n < role_count or not has_role(column)]

    def ask(self, keys: Sequence[int], target: int | None) -> tuple[Counts, list[DisclosiveGroups], str | None]:
        """Return the sums over all groups, the disclosive groups by size, and the most common value if it is shown."""
        statement = self.figures(keys, target)
        names, rows = self.engine.result_names(statement), self.engine.run(statement)
        sums, sizes, value = Counts(), [], None
        for row in rows:
            of_size = dict(zip(names, row, strict=True))
            value = of_size.pop("common_value", None)
            size = int(of_size.pop("size"))
            sums_of_table = {name: of_size.pop(name) for name in [*of_size] if name.endswith(("_squares", "_common"))}
            sums.update({name: count or 0 for name, count in of_size.items()})
            sums |= {name: count or 0 for name, count in sums_of_table.items()}
            if of_size.get("disclosive"):
                sizes.append(DisclosiveGroups(size, int(of_size["disclosive"]), int(of_size["d_disclosed"])))
        return sums, sorted(sizes, key=lambda groups: groups.size), value

    def _sides(self, columns: Sequence[Sequence[Resolved]]) -> list[dict[str, Any]]:
        return [
            {"source": table.relation, "columns": side_columns}
            for table, side_columns in zip(self.tables, columns, strict=False)
        ]

    def _render(self, name: str, step: str, **parameters: Any) -> Statement:
        return render(f"release/synthetic/synthetic_{name}.sql", self.engine.dialect, step=step, **parameters)


# From sums to shares.


Figure = Fraction | float | None
SideFigures = tuple[IdentityDisclosure, tuple[AttributeDisclosure, ...], RowCopies]
"""The figures for the people of one table."""


def _share(part: Any, total: Any) -> Figure:
    """Return the share, exact where both are counts; None of nothing."""
    if not total:
        return None
    return min(float(part) / int(total), 1.0) if isinstance(part, float) else Fraction(int(part), int(total))


def _identity(counts: Counts, side: str) -> IdentityDisclosure:
    rows = counts[f"{side}_rows"]
    return IdentityDisclosure(
        uio=_share(counts[f"{side}_unique"], rows),
        uis=_share(counts["s_unique"], counts["s_rows"]),
        uiois=_share(counts[f"{side}_unique_there"], rows),
        rep_u=_share(counts[f"{side}_unique_both"], rows),
    )


def _attribute(counts: Counts, side: str, sensitive: str) -> AttributeDisclosure:
    """Return the disclosure of an attribute on one side (original or holdout)."""

    def of_rows(name: str) -> Figure:
        return _share(counts[f"{side}_{name}"], counts[f"{side}_rows"])

    rows, disclosed = counts[f"{side}_rows"], counts[f"{side}_disclosed"]
    return AttributeDisclosure(
        sensitive=sensitive,
        dorig=of_rows("pure"),
        dsyn=_share(counts["s_pure"], counts["s_rows"]),
        in_synthetic=of_rows("there"),
        dis=of_rows("in_pure"),
        disco=of_rows("disclosed"),
        disdio=of_rows("disclosed_pure"),
        cap_d=_share(float(counts[f"{side}_cap"]), rows),
        base_cap_d=_share(float(counts[f"{side}_total_squares"]), rows * rows),
        cap_s=_share(float(counts["s_cap"]), counts["s_rows"]),
        dcap=_share(float(counts[f"{side}_dcap"]), rows),
        tcap=_share(disclosed, counts[f"{side}_in_pure"]),
        tcap_alt=_share(disclosed, counts[f"{side}_there"]),
    )


def _copies(counts: Mapping[str, Any], side: str, columns: int) -> RowCopies:
    near = counts.get(f"{side}_near")
    return RowCopies(
        columns=columns,
        rows=int(counts[f"{side}_copies"]),
        all_but_one_column=None if near is None else int(near),
        unique_in_original=int(counts[f"{side}_copies_of_unique"]),
        copied=int(counts[f"{side}_copied"]),
    )


_OF_TABLES = ("uiois", "rep_u", "disdio")
"""Measures that look at the other rows of the original, too; of the others each row counts by itself."""


def _excess(sides: Sequence[SideFigures], rows: int, others: int) -> Iterator[ExcessDisclosed]:
    """Yield the excess of every measure for the people inside over the people outside."""
    (identity, attributes, copies), (other_identity, other_attributes, other_copies) = sides
    for name in ("uiois", "rep_u"):
        yield _excess_of(name, None, getattr(identity, name), getattr(other_identity, name), rows, others)
    yield _excess_of("copies", None, _share(copies.copied, rows), _share(other_copies.copied, others), rows, others)
    for inside_attribute, other in zip(attributes, other_attributes, strict=True):
        for name, field in {"is": "in_synthetic", **dict.fromkeys(("dis", "disco", "disdio", "dcap"), "")}.items():
            inside, outside = (getattr(attribute, field or name) for attribute in (inside_attribute, other))
            yield _excess_of(name, inside_attribute.sensitive, inside, outside, rows, others)


def _excess_of(
    measure: str, sensitive: str | None, inside: Figure, outside: Figure, rows: int, others: int
) -> ExcessDisclosed:
    """Return the excess of a share, with its interval where rows are counted one by one."""
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
    """Measure what a synthetic table discloses of the people behind it.

    Raises:
        UsageError: columns, types or requirements that do not fit.
        EngineError: the database refused a statement, failed or disconnected.
    """
    already = len(engine.executed)
    _refuse_requirements(request)
    counting = _counting(engine, request)
    all_keys, targets = tuple(range(len(request.qi))), [*range(len(request.sensitive))] or [None]
    if engine.can_materialize and request.known and request.nulls is NullPolicy.EQUAL:
        counting.cells = engine.materialize(_CELLS, counting.kept())
    try:
        answers = [counting.ask(all_keys, target) for target in targets]
        known_keys = tuple(sorted(_by_keys(counting, targets), key=_most_disclosing))
    finally:
        if counting.cells is not None:
            engine.drop(_CELLS)
    counts = answers[0][0]
    overlaps = counting.overlaps(int(counts["d_rows"]), int(counts["s_rows"]))
    roles = len(all_keys) + len(request.sensitive)
    hiding = {
        column.name
        for column in overlaps[roles:]
        if column.is_row_number or (column.is_unmatched and not column.may_be_drawn)
    }
    counting.tables = [table.without(hiding) for table in counting.tables]
    synthetic = _figures(counting, answers, known_keys)
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
        compared=tuple(column.label for column in counting.tables[0].columns),
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


def _asks_for_copies(request: CompareRequest, figures: SyntheticFigures) -> bool:
    """Return True if a requirement on copies is met as far as rows that are equal in all columns go."""
    models = ((OF_SYNTHETIC[requirement.model], requirement) for requirement in request.requirements)
    limits = (requirement.parameters[model.main] for model, requirement in models if model.limits_copies)
    return bool(figures.copies.columns) and any(figures.copies.rows <= limit for limit in limits)


def _hidden_copies(counting: Counting, overlaps: Sequence[ColumnOverlap]) -> Iterator[tuple[int, str]]:
    """Look for unique rows of the original in the synthetic table, without columns that may hide copies.

    Texts count as one in every spelling, and what is no number as missing. Numbers that may be drawn by chance are
    left out, and compared by their position among all, which a shift or rounding hardly changes. Yield for each set of
    columns without which too many rows are copied the number of these rows, and a sentence.
    """
    tables = counting.tables[:2]
    columns = [[_plain(counting, column) for column in table.columns] for table in tables]
    labels = {column.label.casefold(): column.label for column in tables[0].columns}
    suspects = {labels[column.name.casefold()]: column for column in overlaps if column.name.casefold() in labels}
    suspects = {name: column for name, column in suspects.items() if column.may_hide_copies}
    hardly_matched = frozenset(name for name, column in suspects.items() if column.is_hardly_matched)
    # What is left out: nothing, each suspect alone, all that hardly match, all suspects
    left_out_sets = [frozenset[str](), *(frozenset([name]) for name in suspects), hardly_matched, frozenset(suspects)]
    for left_out in dict.fromkeys(left_out_sets):
        places = [index for index, label in enumerate(labels.values()) if label not in left_out]
        if not places:
            continue
        step = f"copies but for {listing(sorted(left_out))}" if left_out else "copies in any spelling"
        unique_rows = counting.unique_rows(1, [[side[index] for index in places] for side in columns], step)
        if unique_rows.are_copied:
            yield unique_rows.hit_rows, _hidden_copies_sentence(unique_rows, sorted(left_out))
    if drawn := [name for name, column in suspects.items() if column.may_be_drawn]:
        shifted = [
            [_position(counting, table, column) if column.label in drawn else column for column in side]
            for table, side in zip(tables, columns, strict=True)
        ]
        unique_rows = counting.unique_rows(1, shifted, f"copies with shifted numbers in {listing(drawn)}")
        if unique_rows.are_copied:
            yield unique_rows.hit_rows, _hidden_copies_sentence(unique_rows, drawn)


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


def _hidden_copies_sentence(unique_rows: UniqueRows, names: Sequence[str]) -> str:
    rows = (
        f"{plural(unique_rows.hit_rows, 'synthetic row equals', 'synthetic rows equal')} a unique row of the original"
    )
    if not names:
        return f"{rows} but for spelling and missing values. Use {spelled('values', 'fold')} to count them as copies"
    columns = listing(names)
    return f"{rows} but for {columns}. Leave {columns} out of the synthetic table to count them as copies"


def _figures(
    counting: Counting,
    answers: Sequence[tuple[Counts, list[DisclosiveGroups], str | None]],
    known_keys: tuple[KnownKeys, ...],
) -> SyntheticFigures:
    """Return all figures of a comparison."""
    request, columns = counting.request, len(counting.tables[0].columns)
    counts = [counts_of_target for counts_of_target, _, _ in answers]
    rows, others = int(counts[0]["d_rows"]), int(counts[0]["h_rows"])
    named = [*zip(request.sensitive, counts, strict=False)]
    copies = counting.whole_rows() if columns else Counter[str]()
    sides: list[SideFigures] = []
    for x in (ORIGINAL, HOLDOUT)[: len(counting.tables) - 1]:
        attributes = tuple(_attribute(counts_of_target, x, name) for name, counts_of_target in named)
        sides.append((_identity(counts[0], x), attributes, _copies(copies, x, columns)))
    holdout = None
    if request.holdout is not None:
        holdout = HoldoutDisclosure(*sides[1], int(copies["shared"]), tuple(_excess(sides, rows, others)))
    of_original = tuple(
        replace(attribute, most_common=_most_common(counts_of_target, value), by_size=tuple(sizes))
        for attribute, (counts_of_target, sizes, value) in zip(sides[0][1], answers, strict=False)
    )
    sizes = SyntheticRows(rows, int(counts[0]["s_rows"]), None if holdout is None else others)
    return SyntheticFigures(sizes, sides[0][0], of_original, sides[0][2], holdout, known_keys)


def plan_disclosure(engine: Engine, request: CompareRequest) -> list[Statement]:
    """Return the statements, for `--dry-run`.

    Raises:
        UsageError: as `find_disclosure`.
    """
    _refuse_requirements(request)
    counting = Counting(engine, open_tables(engine, request), request)
    all_keys, targets = range(len(request.qi)), [*range(len(request.sensitive))] or [None]
    sets = [all_keys, *(keys for keys in _subsets(request))]
    return [
        *spelling_statements(engine, _spellings(counting.tables), request.values),
        *(counting.figures(keys, target) for keys in sets for target in targets),
        *([counting.copies()] if counting.tables[0].columns else []),
        counting.shared(),
    ]


def _counting(engine: Engine, request: CompareRequest) -> Counting:
    """Open the tables, with one spelling, and copied where every reading would parse text again.

    They are copied first: two tables of one open connection cannot be read in one statement.
    """
    tables = []
    for index, table in enumerate(open_tables(engine, request)):
        relation, copied_columns = copy_columns(engine, table.relation, table.all, f"sqlaudit_synthetic_{index}")
        tables.append(replace(table, relation=relation).with_columns(copied_columns))
    return Counting(engine, fold_spellings(engine, tables, request), request)


def _most_common(counts: Counts, value: str | None) -> MostCommon:
    return MostCommon(
        _share(counts["d_common"], counts["d_rows"]), _share(counts["common_disclosed"], counts["d_disclosed"]), value
    )


def _subsets(request: CompareRequest) -> Iterator[tuple[int, ...]]:
    """Yield the sets of fewer quasi-identifiers than all, the small ones first."""
    all_keys = range(len(request.qi))
    for size in range(1, min(request.known, len(request.qi) - 1) + 1):
        yield from combinations(all_keys, size)


def _most_disclosing(disclosed: KnownKeys) -> tuple[Fraction | float, int]:
    return -((disclosed.rep_u if disclosed.sensitive is None else disclosed.disco) or 0), len(disclosed.keys)


def _by_keys(counting: Counting, targets: Sequence[int | None]) -> Iterator[KnownKeys]:
    """Yield the disclosure for every set of known columns and every attribute."""
    request = counting.request
    for keys in _subsets(request):
        for target in targets:
            counts, _, _ = counting.ask(keys, target)
            names, of_rows = tuple(request.qi[position] for position in keys), _identity(counts, ORIGINAL)
            if target is None:
                yield KnownKeys(names, None, of_rows.rep_u, None, None)
                continue
            inside, other = (_attribute(counts, x, request.sensitive[target]) for x in (ORIGINAL, HOLDOUT))
            excess = _excess_of(
                "disco", inside.sensitive, inside.disco, other.disco, int(counts["d_rows"]), int(counts["h_rows"])
            )
            yield KnownKeys(
                names, inside.sensitive, of_rows.rep_u, inside.dis, inside.disco, excess.excess, excess.high, excess.low
            )


# What a reader should know, and the verdicts.


def _warnings(
    figures: SyntheticFigures, doubts: Doubts, hiding: Container[str], tables: Sequence[ComparedTable]
) -> Iterator[Warned]:
    """Yield what hides disclosure, or was not compared."""
    for name in doubts.unmatched:
        yield Warned(
            "no_shared_values", (name,), f"{name} has {_UNMATCHED}: another spelling or unit hides disclosure."
        )
    keys = tuple(key.label for key in tables[0].keys)
    if figures.rows.original > 1 and figures.rows.synthetic > 1 and figures.identity.uio == 1 == figures.identity.uis:
        sentence = (
            f"Every row is unique in its quasi-identifiers in both tables, and {percent(figures.identity.uiois)} of "
            f"the original's occur in the synthetic table. Compare numbers in widths with {spelled('hierarchies')}."
        )
        yield Warned("all_unique", keys, sentence)
    compared = {column.label.casefold() for column in tables[0].columns}
    left_out = [column.name for column in tables[1].relation.columns if column.name.casefold() not in compared]
    if hid := tuple(name for name in left_out if name in hiding):
        why = "new values in every row, or no value that is in both tables, hide copies"
        yield Warned("hides_copies", hid, f"Copies are looked for without {listing(hid)}: {why}.")
    if others := tuple(name for name in left_out if name not in hiding):
        why = "which another table lacks or has in another type"
        yield Warned("not_compared", others, f"Copies are looked for without {listing(others)}, {why}.")
    if doubt := doubts.holdout:
        yield Warned("holdout", (), f"{doubt[:1].upper()}{doubt[1:]}.")


_UNMATCHED = "no value, or hardly any, that is in both tables"


def _doubt_of_holdout(counting: Counting, figures: SyntheticFigures) -> str:
    """Return why the holdout may not be people outside who were drawn as those inside; empty where nothing shows it."""
    holdout = figures.holdout
    if holdout is None or not figures.rows.holdout or not figures.rows.original:
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
                f"{plural(figures.rows.holdout, 'row')} of the holdout are in the other table, or both have the same "
                "counts: more than with different people, so the holdout may not be people outside"
            )
    highs = [excess.high for excess in holdout.excess if excess.measure in ("copies", "disco")]
    if any(high is not None and high < 0 for high in highs):
        return (
            "the synthetic table discloses more about the holdout than about the original, so they were not drawn alike"
        )
    return ""


def _refuse_requirements(request: CompareRequest) -> None:
    """Refuse requirements that a comparison with the original cannot judge.

    Raises:
        UsageError: it is about a table alone, or lacks a sensitive column or a holdout.
    """
    for requirement in request.requirements:
        model = OF_SYNTHETIC.get(requirement.model)
        if model is None:
            raise UsageError(
                f"{requirement.text!r} is about a table alone. With {spelled('synthetic', True)}, require "
                f"{', '.join(OF_SYNTHETIC)}, and audit the synthetic table by itself."
            )
        if model.needs_sensitive and not request.sensitive:
            raise UsageError(f"{requirement.text!r} needs a sensitive column: name one with {spelled('sensitive')}.")
        if model.needs_holdout and request.holdout is None:
            raise UsageError(
                f"{requirement.text!r} needs people who were not used for the synthetic table: name them with "
                f"{spelled('holdout')}."
            )


@dataclass(frozen=True)
class _JudgedFigures:
    """The figures of one sensitive attribute with the doubts about them, as models of synthetic data ask for them."""

    found: SyntheticFigures
    doubts: Doubts
    sensitive: str | None

    def rows(self, *, holdout: bool) -> int:
        """Return the rows of the smallest table that is compared."""
        rows = self.found.rows
        return min(rows.original, rows.synthetic, *((rows.holdout or 0,) if holdout else ()))

    def replicated_uniques(self) -> Iterator[Disclosed]:
        """Yield the share of the original's rows that are unique in both tables."""
        yield Disclosed(self.found.identity.rep_u, doubt=self._doubt)
        yield from (
            Disclosed(known_keys.rep_u, keys=known_keys.keys, doubt=self._doubt) for known_keys in self.found.known
        )

    def correct_disclosure(self) -> Iterator[Disclosed]:
        """Yield DiSCO."""
        yield Disclosed(self._attribute.disco, doubt=self._doubt)
        yield from (Disclosed(known_keys.disco, keys=known_keys.keys, doubt=self._doubt) for known_keys in self._known)

    def excess_disclosure(self) -> Iterator[Disclosed]:
        """Yield by how much DiSCO is higher for the original's rows than for the holdout's."""
        assert self.found.holdout is not None
        excess, rows = self.found.holdout.of("disco", self.sensitive), self.found.rows.original
        all_known = _excess_disclosed(self._attribute.disco, excess, (), rows)
        for disclosed in (
            all_known,
            *(_excess_disclosed(known_keys.disco, known_keys, known_keys.keys, rows) for known_keys in self._known),
        ):
            yield replace(disclosed, doubt=self._doubt, doubt_of_holdout=self.doubts.holdout)

    def copies(self, limit: Number | None) -> Iterator[Disclosed]:
        """Yield the synthetic rows that equal a row of the original."""
        copies = self.found.copies
        hidden = [(number, sentence) for number, sentence in self.doubts.copies if limit is None or number > limit]
        doubts = (
            _unmatched(self.doubts.hiding),
            max(hidden, default=(0, ""))[1],
            "" if copies.columns else "the tables share no column",
        )
        details = {"all_but_one_column": copies.all_but_one_column, "unique_in_original": copies.unique_in_original}
        yield Disclosed(copies.rows, details=details, doubt=next(filter(None, doubts), ""))

    @property
    def _doubt(self) -> str:
        return _unmatched(self.doubts.unmatched)

    @property
    def _attribute(self) -> AttributeDisclosure:
        return next(attribute for attribute in self.found.attributes if attribute.sensitive == self.sensitive)

    @property
    def _known(self) -> Iterator[KnownKeys]:
        return (known_keys for known_keys in self.found.known if known_keys.sensitive == self.sensitive)


def _unmatched(columns: Sequence[str]) -> str:
    """Return the doubt about columns with too few values of the original; empty without such columns."""
    return f"{listing(columns)} {'has' if len(columns) == 1 else 'have'} {_UNMATCHED}" if columns else ""


def _checks(request: CompareRequest, synthetic: SyntheticFigures, doubts: Doubts) -> Iterator[Check]:
    """Judge each requirement for each set of known columns. The worst verdict counts, then the highest level."""
    for requirement in request.requirements:
        model = OF_SYNTHETIC[requirement.model](requirement.parameters, Context(None, 0))
        for sensitive in request.sensitive if model.needs_sensitive else (None,):
            figures = _JudgedFigures(synthetic, doubts, sensitive)
            item, rows = Asked(model, requirement, sensitive), figures.rows(holdout=model.needs_holdout)
            judgements = map(model.judge_synthetic, model.figures(figures))
            checks = (check_of(item, judgement, rows) for judgement in judgements)
            check = min(checks, key=lambda check: (WORST_FIRST.index(check.status), -(check.level or 0)))
            empty = f"a table is empty ({plural(synthetic.rows.synthetic, 'synthetic row')})"
            yield check if rows else replace(check, note=empty)


def _excess_disclosed(
    disco: Figure, excess_of_keys: ExcessDisclosed | KnownKeys, keys: tuple[str, ...], rows: int
) -> Disclosed:
    """Return the excess of DiSCO with its interval, and the most that it can be with any holdout."""
    excess = None if excess_of_keys.excess is None else Fraction(excess_of_keys.excess)
    most = None if disco is None else proven(int(disco * rows), rows, DOUBT / 2)[1]
    return Disclosed(excess_of_keys.high, excess, keys, low=excess_of_keys.low, most=most)

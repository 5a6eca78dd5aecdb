"""One answer of a database: a SELECT with GROUP BY, read as the rows that its cells are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from sqlglot import exp

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import EngineError, UnknownColumn, UsageError
from sqlaudit.base.guard import function_name, guard_expression, guard_query
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import cell_rule
from sqlaudit.tabular.listing import label_keys, list_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import HIDDEN_BY_QUERY, MOST_KEYS, NOT_READ, AggregatesResult, RuleFound, TableProblem
from sqlaudit.tabular.structure import read_cells

_OF_ONE = (
    *(
        "min",
        "max",
        "any_value",
        "arbitrary",
        "first",
        "last",
        "first_value",
        "last_value",
        "mode",
        "median",
        "quantile",
    ),
    *("quantile_cont", "quantile_disc", "approx_quantile", "reservoir_quantile", "percentile", "percentile_cont"),
    *("percentile_disc", "percentile_approx", "approx_percentile", "list", "array_agg", "arrayagg", "collect_list"),
    *("collect_set", "string_agg", "group_concat", "groupconcat", "listagg", "arg_min", "arg_max", "argmin", "argmax"),
    *("min_by", "max_by", "json_agg", "jsonb_agg", "json_group_array", "json_object_agg", "jsonb_object_agg"),
    *("xmlagg", "histogram", "map_agg"),
)
"""Aggregates that are the value of one person, or a list of such values."""
_OF_NUMBERS = (
    *("round", "floor", "ceil", "ceiling", "trunc", "abs", "coalesce", "nullif", "ifnull", "nvl", "greatest", "least"),
    *("cast", "trycast", "case", "if", "and", "or", "not", "grouping", "grouping_id"),
)
"""Functions of aggregates and dimensions, which reveal no more than these."""
_CLAUSES = (
    *("expressions", "from_", "joins", "laterals", "where", "with_", "group", "having", "order", "limit", "offset"),
)
_REPEATING = (exp.Join, exp.Lateral, exp.Unnest, exp.SetOperation, exp.Group)
_MOST_SETS, _MOST_ATOMS = 256, 12
"""Largest number of grouping sets, and of combinations of conditions between which differences are looked for."""
WHOLE = "all rows"
"""The dimension of an answer without GROUP BY."""


class UnreadAnswer(Exception):
    """An answer whose contributors are not known. The text is the reason."""


@dataclass(frozen=True)
class AnswerMeasure:
    """A number of each cell: a count of rows or people, or a sum or mean.

    Args:
        name: the column of the answer. value: what is added up; None = rows are counted.
        condition: which rows contribute; None = all. people: whether different people are counted.
        call: count, sum or avg. is_count: whether it gives the number of rows that contribute.
    """

    name: str
    value: exp.Expr | None
    condition: exp.Expr | None
    call: str
    is_count: bool = False
    people: bool = False


@dataclass(frozen=True)
class AnswerPart:
    """Numbers of an answer with the same contributors.

    Args:
        request: makes them from rows. names: their columns in the answer.
        is_difference: True if they are no column, but follow from columns by subtraction.
        is_filtered: True if a FILTER leaves out rows, so that a cell may have none.
    """

    request: AggregatesRequest
    names: tuple[str, ...]
    is_difference: bool = False
    is_filtered: bool = False


@dataclass
class AnswerReader:
    """A SELECT with GROUP BY, taken apart.

    Args:
        engine, request: as in `find_unsafe_cells`.

    Raises:
        UnreadAnswer: its contributors are not known.
        UsageError: it is no table of cells, but one of rows.
    """

    engine: Engine
    request: AggregatesRequest
    measures: list[AnswerMeasure] = field(default_factory=list)
    lone: list[str] = field(default_factory=list)
    """Columns with values of one person."""
    unread: list[str] = field(default_factory=list)
    """Reasons why some column is not judged."""

    def __post_init__(self) -> None:
        self.dialect = self.engine.dialect
        tree = guard_query(self.request.target.query, self.dialect)
        if not isinstance(tree, exp.Select):
            raise UnreadAnswer("Only one SELECT with GROUP BY can be read as an answer, not UNION or similar.")
        self.select = tree
        for key in (key for key, value in tree.args.items() if value and key not in _CLAUSES):
            raise UnreadAnswer(f"The query has {key.upper().strip('_')}, so its contributors are not known.")
        if not tree.args.get("from_"):
            raise UnreadAnswer("The query reads no table.")
        self.columns: list[tuple[str, exp.Expr]] = [
            (self._column_name(node, at), node.unalias()) for at, node in enumerate(tree.expressions, 1)
        ]
        self.dimensions: list[exp.Expr] = []
        self.sets = self._read_sets()
        for name, node in self.columns:
            self._read(node, name)
        if having := tree.args.get("having"):
            self._read(having.this, "HAVING", inner=True)
        for item in self._order:
            self._read(item.this, "ORDER BY", inner=True)
        is_grouped = bool(tree.args.get("group")) or bool(self.measures) or bool(self.unread)
        if not is_grouped and not any(function_name(node) in _OF_ONE for node in tree.find_all(exp.Func)):
            raise UsageError(
                "The query returns rows: its columns are values of single people, which no rule makes safe. Group them "
                f"with GROUP BY. If each row is a cell of a published table, name the dimensions with {spelled('by')}."
            )
        self.unread += self._reasons()
        if not self.measures:  # who is in a cell is all that is known of it
            self.measures.append(AnswerMeasure("rows", None, None, "count", is_count=True))

    # --- reading the statement ---

    def _column_name(self, node: exp.Expr, number: int) -> str:
        """Return the name of a column in reports, which has no text of a condition."""
        written = node.sql(dialect=self.dialect)
        is_plain = len(written) < 40 and not any(literal.is_string for literal in node.find_all(exp.Literal))
        return node.alias or (written if is_plain and not node.find(exp.Filter) else f"column {number}")

    def _read_sets(self) -> tuple[tuple[int, ...], ...]:
        """Read GROUP BY: its dimensions, and its sets as positions of these."""
        group = self.select.args.get("group")
        if group is None:
            return ((),)
        items = [self._named(item) for item in group.expressions]
        if group.args.get("all"):
            items = [node for _, node in self.columns if not any(map(self._is_aggregate, node.find_all(exp.Expr)))]
        # `a, b GROUPING SETS (…)` of Spark, without a comma, has no other tree than with one
        is_unclear = len(items) > 1 and any(isinstance(item, exp.GroupingSets) for item in items)
        if is_unclear or any(value for key, value in group.args.items() if key not in ("expressions", "all")):
            raise UnreadAnswer("This form of GROUP BY is not read. Write it as GROUP BY GROUPING SETS (…).")
        sets: list[tuple[int, ...]] = [()]
        for item in items:
            sets = [tuple(sorted({*left, *right})) for left, right in product(sets, self._sets_of(item))]
            if len(sets) > _MOST_SETS:
                raise UnreadAnswer(f"GROUP BY has more than {_MOST_SETS} grouping sets.")
        return tuple(dict.fromkeys(sets))

    def _sets_of(self, item: exp.Expr) -> list[tuple[int, ...]]:
        """Return the grouping sets of an item of GROUP BY."""
        if isinstance(item, exp.GroupingSets):
            return [one for inner in item.expressions for one in self._sets_of(inner)]
        if isinstance(item, (exp.Rollup, exp.Cube)):
            parts = [self._sets_of(part)[0] for part in item.expressions]
            if not parts or len(parts) > 8:
                raise UnreadAnswer("This form of GROUP BY is not read. Write it as GROUP BY GROUPING SETS (…).")
            lengths = range(len(parts), -1, -1)
            chosen = [parts[:length] for length in lengths]
            if isinstance(item, exp.Cube):
                chosen = [list(some) for length in lengths for some in combinations(parts, length)]
            return [tuple(axis for part in some for axis in part) for some in chosen]
        if isinstance(item, exp.Tuple):
            return [tuple(axis for part in item.expressions for axis in self._sets_of(part)[0])]
        node = self._named(item.unnest())
        if (axis := self._axis(node)) is None:
            axis = len(self.dimensions)
            self.dimensions.append(node)
        return [(axis,)]

    def _named(self, node: exp.Expr) -> exp.Expr:
        """Return the expression that a number or an alias in GROUP BY or ORDER BY stands for."""
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.this) <= len(self.columns):
            return self.columns[int(node.this) - 1][1]
        if isinstance(node, exp.Column) and not node.table and not self._is_of_source(node):
            for column, (_, aliased) in zip(self.select.expressions, self.columns, strict=True):
                if isinstance(column, exp.Alias) and column.alias.casefold() == node.name.casefold():
                    return aliased
        return node

    def _is_of_source(self, node: exp.Column) -> bool:
        """Return True if the tables that are read have this column: it goes before an alias of the same name."""
        aliases = [column.alias.casefold() for column in self.select.expressions if isinstance(column, exp.Alias)]
        return node.name.casefold() not in aliases or self._can_open(exp.column(node.this.copy()))

    def _can_open(self, column: exp.Expr) -> bool:
        try:
            self._open(self._rows_of([exp.alias_(column, "c", quoted=True)]))
        except (UsageError, EngineError):
            return False
        return True

    def _axis(self, node: exp.Expr) -> int | None:
        """Return the position of the dimension that an expression is; None if it is none."""

        def spell(tree: exp.Expr, bare: bool) -> str:
            copied = tree.copy()
            for column in copied.find_all(exp.Column):
                column.this.set("quoted", False)
                for part in ("table", "db", "catalog"):
                    if bare or not column.args.get(part):
                        column.set(part, None)
            return copied.sql(dialect=self.dialect).casefold()

        def is_qualified(tree: exp.Expr) -> bool:
            return any(column.table for column in tree.find_all(exp.Column))

        for axis, dimension in enumerate(self.dimensions):
            bare = not (is_qualified(node) and is_qualified(dimension))
            if spell(node, bare) == spell(dimension, bare):
                return axis
        return None

    @staticmethod
    def _is_aggregate(node: exp.Expr) -> bool:
        return isinstance(node, (exp.AggFunc, exp.Filter, exp.WithinGroup)) or function_name(node) in _OF_ONE

    def _read(self, node: exp.Expr, name: str, *, inner: bool = False) -> None:
        """Read a column of the answer. Of functions of aggregates, the aggregates are judged."""
        node = node.unnest()
        if self._axis(node) is not None or (inner and self._named(node) is not node):  # an alias is read as a column
            return
        call = node.this if isinstance(node, exp.Filter) else node
        if isinstance(call, (exp.Count, exp.Sum, exp.Avg)):
            condition = node.expression.this if isinstance(node, exp.Filter) else None
            self._read_call(call, condition, name)
        elif isinstance(call, exp.WithinGroup):
            self._read(call.this, name)
        elif isinstance(call, (exp.Column, exp.Star)) or function_name(call) in _OF_ONE:
            self.lone += [name] if name not in self.lone else []
        elif isinstance(call, (exp.Window, exp.Query)) or (
            isinstance(call, exp.Func) and function_name(call) not in _OF_NUMBERS
        ):
            what = "a window" if isinstance(call, exp.Window) else "a subquery"
            what = f"the function {function_name(call)}" if isinstance(call, exp.Func) else what
            self.unread.append(f"{name} is not judged: it has {what}.")
        else:
            for child in call.iter_expressions():
                self._read(child, name, inner=inner)

    def _read_call(self, call: exp.Expr, condition: exp.Expr | None, name: str) -> None:
        """Read a count, a sum or a mean."""
        value, kind = call.this, function_name(call)
        is_people = isinstance(value, exp.Distinct) and kind == "count" and len(value.expressions) == 1
        if is_people and self._person is not None and self._is_person(value.expressions[0]):
            self.measures.append(AnswerMeasure(name, None, condition, kind, people=True))
            return
        has_star = value is not None and not isinstance(value, exp.Star) and bool(value.find(exp.Star))
        if value is None or has_star or isinstance(value, exp.Distinct) or call.args.get("expressions"):
            way = f" It counts people if {spelled('person')} names what it counts." if is_people else ""
            self.unread.append(f"{name} is not judged: this form of {kind} has no known contributors.{way}")
            return
        if value.find(exp.Query, exp.Window, exp.Order, exp.AggFunc):
            self.unread.append(f"{name} is not judged: it has more than an expression in {kind}.")
            return
        is_constant = isinstance(value, (exp.Star, exp.Literal))
        filled = None if is_constant else exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.null()))
        conditions = [node for node in (condition, filled) if node is not None]
        is_count = kind == "count"
        if not is_count and (value.find(exp.Case, exp.If, exp.Predicate) or _fills(value)):
            # Only those who are not 0 contribute to SUM(CASE WHEN ill THEN 1 ELSE 0 END), which is a count
            number = exp.Cast(this=exp.paren(value.copy()), to=exp.DataType.build("double"))
            conditions.append(exp.NEQ(this=number, expression=exp.Literal.number(0)))
            columns = list(value.find_all(exp.Column))
            is_count = bool(columns) and all(column.find_ancestor(exp.Predicate) for column in columns)
        elif not is_count and not is_constant and self._is_flag(value):  # the same count, of a column of 0 and 1
            conditions.append(exp.NEQ(this=exp.paren(value.copy()), expression=exp.Literal.number(0)))
            is_count = True
        contributing = exp.and_(*conditions) if conditions else None
        self.measures.append(AnswerMeasure(name, None if kind == "count" else value, contributing, kind, is_count))

    def _is_flag(self, value: exp.Expr) -> bool:
        """Return True if a number that is added up has a 1, and nothing but 0 and 1."""
        try:
            rows = self._open(self._rows_of([exp.alias_(value.copy(), "flag", quoted=True)]))
        except (UsageError, EngineError):  # an alias of the answer, which `check` refuses, or no column
            return False
        if rows.columns[0].kind not in NUMBERS:
            return False
        value_sql = Raw(quote("flag", self.dialect))
        statement = render("tabular/answer_flag.sql", self.dialect, step="flags", source=rows, value=value_sql)
        return bool(self.engine.run(statement)[0][0])

    def _reasons(self) -> Iterator[str]:
        """Yield why nothing passes, apart from single columns."""
        sources = [self.select.args.get(key) for key in ("from_", "joins", "laterals", "with_")]
        nodes = [node for source in sources for node in (source if isinstance(source, list) else [source]) if node]
        if not self.request.person and any(node.find(*_REPEATING) for node in nodes):
            yield (
                "The query reads a join, or rows that are combined or grouped already, which may repeat or merge "
                f"people. Name the column that identifies them with {spelled('person')}."
            )
        if self.hides and self.sets != ((*range(len(self.dimensions)),),):
            yield (
                f"{self.hides} {hide_or_hides(self.hides)} cells whose totals are shown. Check the finished table: "
                f"name its columns with {spelled('by')} and {spelled('count')}."
            )
        people = {self._spell(measure.condition) for measure in self.measures if measure.people}
        if len(people) > 1:
            yield "Differences between counts of different people are not judged. Ask for one of these counts."

    # --- the rows ---

    @property
    def hides(self) -> str:
        """The clauses that hide cells."""
        names = [key.upper() for key in ("having", "limit", "offset") if self.select.args.get(key)]
        return " and ".join(names)

    @property
    def _order(self) -> list[exp.Expr]:
        order = self.select.args.get("order")
        return [] if order is None else list(order.expressions)

    @cached_property
    def _person(self) -> exp.Expr | None:
        return self._of_rows(self.request.person, "person")

    def _is_person(self, node: exp.Expr) -> bool:
        kept, self.dimensions = self.dimensions, [self._person] if self._person is not None else []
        is_same, self.dimensions = self._axis(node) is not None, kept
        return is_same

    def _of_rows(self, text: str, option: str) -> exp.Expr | None:
        """Return a column or expression over the tables that are read; None if there is none."""
        if not text:
            return None
        if not any(self.select.args.get(key) for key in ("joins", "laterals")):
            found = resolve(text, self._open(self._rows_of([exp.Star()])), self.dialect, about(option))
            if found.column is not None:
                return exp.column(exp.to_identifier(found.column, quoted=True))
        node: exp.Expr = guard_expression(text, self.dialect, about(option))
        if not self._can_open(node.copy()):
            raise UnknownColumn(
                f"{about(option)}: the query reads no column {text!r}. Write it as in the query: t.{text}."
            )
        return node

    def _rows_of(self, columns: Sequence[exp.Expr]) -> exp.Select:
        """Return the query of rows with these columns."""
        rows = self.select.copy()
        for key in ("group", "having", "order", "limit", "offset"):
            rows.set(key, None)
        rows.set("expressions", list(columns))
        return rows

    def check(self) -> None:
        """Let the database read the query, whose columns need no names of their own here.

        Raises:
            UsageError: it is wrong.
        """
        named = self.select.copy()
        for number, column in enumerate(named.expressions, 1):
            if not isinstance(column, (exp.Alias, exp.Column, exp.Star)):
                column.replace(exp.alias_(column.copy(), f"column {number}", quoted=True))
        self._open(named)

    def _open(self, rows: exp.Expr | str) -> Relation:
        return self.engine.open(self._target(rows if isinstance(rows, str) else rows.sql(dialect=self.dialect)))

    def _target(self, query: str) -> Target:
        return replace(self.request.target, query=query)

    def _spell(self, node: exp.Expr | None) -> str:
        return "" if node is None else node.sql(dialect=self.dialect)

    @cached_property
    def _conditions(self) -> list[str]:
        """The conditions of measures as SQL; the rows have a column for each."""
        return list(dict.fromkeys(filter(None, (self._spell(measure.condition) for measure in self.measures))))

    def parts(self) -> list[AnswerPart]:
        """Return the numbers of the answer, and those that follow from them by subtraction, each made from rows."""
        names = _Names()
        dimensions = self.dimensions or [exp.Literal.number(1)]
        columns = {name: node for name, node in reversed(self.columns) if self._axis(node) is not None}
        labels = {self._axis(node): name for name, node in columns.items()}
        by = [names.add(labels.get(axis) or self._label(axis)) for axis in range(len(dimensions))]
        selected = list(zip(by, dimensions, strict=True))
        roles: dict[str, Any] = {}
        for role in ("person", "holdings"):
            if text := getattr(self.request, role):
                roles[role] = names.add(text)
                selected.append((roles[role], self._of_rows(text, role) or exp.null()))
        values: dict[str, str] = {"": ""}
        for measure in self.measures:
            if measure.value is not None and self._spell(measure.value) not in values:
                values[self._spell(measure.value)] = names.add(measure.name)
                selected.append((values[self._spell(measure.value)], measure.value))
        self._flags = {text: names.add(f"condition {number}") for number, text in enumerate(self._conditions, 1)}
        by_text = {self._spell(measure.condition): measure.condition or exp.true() for measure in self.measures}
        for text, flag in self._flags.items():
            selected.append((flag, exp.Case().when(by_text[text].copy(), "1").else_("0")))
        self._rows = self._shown(
            by, self._rows_of([exp.alias_(node.copy(), name, quoted=True) for name, node in selected])
        )
        whole = (tuple(range(len(self.dimensions))),)
        sets = ";".join("(" + ",".join(by[axis] for axis in one) + ")" for one in self.sets)
        made = replace(self.request, by=tuple(by), microdata=True, grouping="" if self.sets == whole else sets, **roles)
        return list(self._parts_of(made, values))

    def _parts_of(self, made: AggregatesRequest, values: dict[str, str]) -> Iterator[AnswerPart]:
        """Yield a part for each value and condition, and the differences between them."""
        counts = tuple(one for one in made.requirements if not cell_rule(one).contributions)
        families: dict[str, dict[str, list[str]]] = {}
        seen: dict[tuple[str, str], list[AnswerMeasure]] = {}
        for measure in self.measures:
            value, condition = self._spell(measure.value), self._spell(measure.condition)
            seen.setdefault((value, condition), []).append(measure)
            for family in [*([value] if value else []), *([""] if measure.is_count else [])]:
                families.setdefault(family, {}).setdefault(condition, []).append(measure.name)
        for (value, condition), measures in seen.items():
            if value and {measure.call for measure in measures} == {"sum", "avg"}:  # together they give the count
                families.setdefault("", {}).setdefault(condition, []).extend(measure.name for measure in measures)
        for (value, condition), measures in seen.items():
            rules = made.requirements if value or len(values) == 1 else counts
            flags = [{self._flags[condition]: "1"}] if condition else []
            is_filtered = bool(condition) and any(measure.value is None for measure in measures)
            names = tuple(dict.fromkeys(measure.name for measure in measures))
            yield AnswerPart(self._request(made, values[value], rules, flags), names, is_filtered=is_filtered)
        for value, by_condition in families.items():
            names = tuple(dict.fromkeys(name for some in by_condition.values() for name in some))
            rules = made.requirements if value or len(values) == 1 else counts
            for atoms in self._differences(made, list(by_condition), names) if len(by_condition) > 1 else ():
                yield AnswerPart(self._request(made, values[value], rules, atoms), names, is_difference=True)

    def _differences(
        self, made: AggregatesRequest, conditions: list[str], names: tuple[str, ...]
    ) -> Iterator[list[dict[str, str]]]:
        """Yield the sets of rows whose count or sum follows from those of conditions, and which no condition selects.

        Rows that meet the same conditions are an atom. A set of atoms follows if it is a linear combination of
        conditions; of those only the smallest are needed, since sums of safe cells are safe.
        """
        flags = [self._flags[condition] for condition in conditions if condition]
        anywhere = [] if "" in conditions else [{flag: "1"} for flag in flags]
        request = replace(self._request(made, "", (), anywhere), by=tuple(flags), person="", holdings="", grouping="")
        query = list_cells(self.engine, self.engine.open(request.target), request)
        keys = read_cells(self.engine, query, request).keys.tolist()
        atoms = [dict(key) for key in label_keys(self.engine, query, keys)] if keys else []
        if len(atoms) > _MOST_ATOMS:
            self.unread.append(f"{', '.join(names)} have too many conditions to look for differences between them.")
            return
        rows = [[1.0 if not text or atom[self._flags[text]] == "1" else 0.0 for atom in atoms] for text in conditions]
        known = np.array(rows).reshape(len(conditions), len(atoms))
        span = np.linalg.pinv(known) @ known
        subsets = np.array(list(product((0.0, 1.0), repeat=len(atoms))))[1:]
        subsets = subsets[np.abs(subsets @ span - subsets).max(axis=1, initial=0.0) < 1e-6]
        for subset in subsets:
            is_smallest = not any((other <= subset).all() and (other < subset).any() for other in subsets)
            if is_smallest and not (known == subset).all(axis=1).any():
                yield [{k: str(v) for k, v in atom.items()} for atom, one in zip(atoms, subset, strict=True) if one]

    def _request(
        self, made: AggregatesRequest, value: str, rules: tuple[Requirement, ...], atoms: list[dict[str, str]]
    ) -> AggregatesRequest:
        """Return the request that makes cells of the rows of some atoms; of all rows without one."""
        rows: exp.Select = self._rows
        if atoms:
            alternatives = [
                exp.and_(
                    *(exp.column(flag, quoted=True).eq(exp.Literal.number(number)) for flag, number in atom.items())
                )
                for atom in atoms
            ]
            rows = exp.select("*").from_(self._rows.subquery("r")).where(exp.or_(*alternatives))
        return replace(made, target=self._target(rows.sql(dialect=self.dialect)), value=value, requirements=rules)

    def _label(self, axis: int) -> str:
        return self._column_name(self.dimensions[axis], axis + 1) if self.dimensions else WHOLE

    def _shown(self, by: list[str], rows: exp.Select) -> exp.Select:
        """Return only rows of cells that HAVING and LIMIT do not hide; of cells at the limit all that are equal."""
        if not self.hides or self.sets != (tuple(range(len(self.dimensions))),):
            return rows
        groups, keys = self.select.copy(), [f"shown {axis}" for axis in range(len(self.dimensions))]
        for key in ("order", "limit", "offset"):
            groups.set(key, None)
        if self.dimensions:
            groups.set("group", exp.Group(expressions=[node.copy() for node in self.dimensions]))
        extra = [exp.alias_(node.copy(), key, quoted=True) for node, key in zip(self.dimensions, keys, strict=True)]
        order = [item.copy() for item in self._order]
        for item in order:
            item.set("this", self._named(item.this).copy())
        rank = exp.Window(this=exp.Anonymous(this="rank"), order=exp.Order(expressions=order)) if order else None
        limits = [self.select.args.get(key) for key in ("limit", "offset")]
        numbers = [limit.expression for limit in limits if isinstance(limit, (exp.Limit, exp.Offset))]
        is_ranked = isinstance(limits[0], exp.Limit) and all(isinstance(number, exp.Literal) for number in numbers)
        if rank is not None and is_ranked:
            extra.append(exp.alias_(rank, "shown place", quoted=True))
        groups.set("expressions", [*groups.expressions, *extra])
        pairs: list[exp.Expr] = [
            exp.NullSafeEQ(this=exp.column(name, "r", quoted=True), expression=exp.column(key, "s", quoted=True))
            for name, key in zip(by, keys, strict=False)
        ]
        if rank is not None and is_ranked:
            most = exp.Literal.number(sum(int(number.this) for number in numbers))
            pairs.append(exp.column("shown place", "s", quoted=True) <= most)
        on = exp.and_(*pairs) if pairs else exp.true()
        return exp.select("r.*").from_(rows.subquery("r")).join(groups.subquery("s"), on=on)


class _Names:
    """Names of columns that are all different, whatever their case."""

    def __init__(self) -> None:
        self._taken = set[str]()

    def add(self, text: str) -> str:
        name = " ".join("".join(" " if sign in ",;" else sign for sign in text).split()) or "column"
        name = name if len(name.encode()) <= 50 else "column"
        number, free = 2, name
        while free.casefold() in self._taken:
            free, number = f"{name} {number}", number + 1
        self._taken.add(free.casefold())
        return free


def hide_or_hides(clauses: str) -> str:
    """Return the verb for some clauses."""
    return "hide" if " and " in clauses else "hides"


def _fills(value: exp.Expr) -> bool:
    """Return True if an expression puts numbers in the place of missing ones."""
    return any(function_name(node) in ("coalesce", "ifnull", "nvl", "if", "iif") for node in value.find_all(exp.Func))


def plan_answer(engine: Engine, request: AggregatesRequest) -> list[AggregatesRequest]:
    """Return the requests that make the numbers of an answer from rows; none if it cannot be read."""
    try:
        return [part.request for part in AnswerReader(engine, request).parts()]
    except UnreadAnswer:
        return []


def judge_answer(
    engine: Engine, request: AggregatesRequest, judge: Callable[[Engine, AggregatesRequest], AggregatesResult]
) -> AggregatesResult:
    """Return the result for an answer: the rules on all its numbers, and on those that follow by subtraction.

    Args:
        judge: judges a table made from rows.

    Raises:
        UsageError: an unknown column, or a query of rows.
    """
    answer, results, reasons = None, list[tuple[AnswerPart, AggregatesResult]](), tuple[str, ...]()
    try:
        answer = AnswerReader(engine, request)
        answer.check()
        results = [(part, judge(engine, part.request)) for part in answer.parts()]
        reasons = tuple(dict.fromkeys(answer.unread))
    except UnreadAnswer as error:
        reasons = (str(error),)
    problems = {(problem.code, problem.message): problem for _, result in results for problem in result.problems}
    found = [TableProblem(NOT_READ, 0, reason) for reason in reasons] + list(problems.values())
    if answer is not None and answer.hides:
        message = f"{answer.hides} {hide_or_hides(answer.hides)} cells of the answer. Hidden cells are not judged."
        found.append(TableProblem(HIDDEN_BY_QUERY, 0, message))
    is_open = any(problem.is_mistake for problem in found)
    rules = [_merge(requirement, results, is_open) for requirement in request.requirements]
    cells = sum(result.cells for _, result in results)
    unsafe = sum(result.unsafe_cells for _, result in results)
    base = max((result for _, result in results), key=lambda result: result.contributors or 0, default=None)
    if answer is not None and answer.lone and base is not None:
        text = f"one person's value: {', '.join(answer.lone)}"
        rules.append(RuleFound("one_value", base.cells, {}, text, base.cells, 0, Status.FAIL))
        unsafe, cells = unsafe + base.cells, cells + base.cells
    numbers = [name for part, _ in results if not part.is_difference for name in part.names]
    columns = {"numbers": ", ".join(dict.fromkeys(numbers))} if numbers else {}
    columns |= {name: text for name in ("person", "holdings") if (text := getattr(request, name))}
    if base is None:
        base = AggregatesResult(
            target=request.target.name,
            by=(),
            columns={},
            totals=(),
            subtotals={},
            cells=0,
            contributors=None,
            contributors_added_up=False,
            unsafe_cells=0,
            rules=(),
            hidden=0,
            problems=(),
        )
    return replace(
        base,
        target=request.target.name,
        columns=columns,
        cells=cells,
        unsafe_cells=unsafe,
        rules=tuple(rules),
        drawn=base.drawn if len(results) == 1 else None,
        problems=tuple(found),
        one_answer=True,
    )


def _merge(
    requirement: Requirement, results: Sequence[tuple[AnswerPart, AggregatesResult]], is_open: bool
) -> RuleFound:
    """Return the result of a rule over all numbers of an answer."""
    text, notes = requirement.text or requirement.model, list[str]()
    found = [(part, rule) for part, result in results for rule in result.rules if rule.text == text]
    statuses = {rule.status for _, rule in found}
    of_empty = cell_rule(requirement).of_margins or requirement.parameters.get("zeros") not in (None, False, "no")
    if of_empty and any(part.is_filtered for part, _ in results):
        statuses.add(Status.UNDETERMINED)
        notes.append(f"{text} needs cells that FILTER leaves empty. Group by the condition instead.")
    if is_open or not found:
        statuses.add(Status.UNDETERMINED)
    worst = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS)
    for part, rule in found:
        if rule.cells and len(results) > 1:
            names = ", ".join(part.names)
            follows = f"numbers that follow from {names} by subtraction" if part.is_difference else names
            notes.append(f"{text} is not met by {follows}.")
        notes += [rule.note] if rule.note else []
    return RuleFound(
        requirement.model,
        sum(rule.cells for _, rule in found),
        cell_rule(requirement).values,
        text,
        sum(rule.judged for _, rule in found),
        sum(rule.undecided for _, rule in found),
        next(status for status in worst if status in statuses),
        requirement.severity,
        " ".join(dict.fromkeys(notes)),
        tuple(key for _, rule in found for key in rule.keys)[:MOST_KEYS],
        requirement.preset,
    )

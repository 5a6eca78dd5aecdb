"""From checks of rows and of published cells to statements: one SELECT each, for any warehouse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_ending, write_text
from sqlaudit.base.names import quote, untyped
from sqlaudit.base.parameter_names import about, command, spelled
from sqlaudit.base.spec import Folding, KnownRows, NullPolicy, Requirement, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.version import __version__
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.cubes.request import ROWS, CubeRequest
from sqlaudit.engines.command import public
from sqlaudit.gates.standalone.names import DIALECTS, by_letters, column, find_dialect, folded, nested, source, unsure
from sqlaudit.gates.standalone.recipes import NotCarried, Recipe, model_carried, recipe_of, statement
from sqlaudit.gates.standalone.request import CompileRequest, Returns
from sqlaudit.models.base import Model
from sqlaudit.models.cell_rules import Alone, CellRule
from sqlaudit.models.persons import refuse_without_entity
from sqlaudit.models.registry import CELL_RULES, REGISTRY, cell_rule, find_model, parse_requirements
from sqlaudit.reports.document import visible
from sqlaudit.reports.notebook import frame_of_rows

# What a statement of a check returns: its row of figures, or what some tool that runs it understands.

COUNTS = ("classes", "table_rows", "failing_classes", "failing_rows", "undecided_classes", "unusable")
ROW_COLUMNS = ("test_id", *COUNTS, "level", "verdict")
"""The columns of `Returns.ROW`; the figures of rules for cells stand there as `_OF_CELLS` says."""
_OF_CLASSES = {name: name for name in COUNTS}
_OF_CELLS = {
    "classes": "cells",
    "table_rows": "cells",
    "failing_classes": "unsafe_cells",
    "failing_rows": "unsafe_cells",
    "undecided_classes": "undecided_cells",
    "unusable": "hidden_cells",
}


@dataclass(frozen=True)
class AnswerForm:
    """The form of an answer, and what tells it from others in `Returns.ROW`: letters, digits and _."""

    returns: Returns = Returns.FIGURES
    test_id: str = ""

    def parameters(self, *, cells: bool = False) -> Mapping[str, object]:
        """As the templates take it."""
        wrapped = "" if self.returns is Returns.FIGURES else self.returns.value
        return {"returns": wrapped, "test_id": self.test_id, "row_columns": _OF_CELLS if cells else _OF_CLASSES}

    def refuse_without_limit(self, check: str) -> None:
        """Refuse requirements without a limit, unless only figures are requested.

        Raises:
            UsageError: something else is asked of a check without a limit, which has no verdict.
        """
        if self.returns is not Returns.FIGURES:
            raise UsageError(
                f"{check!r} has no limit, so there is no verdict to return; write for instance {check}=5, or use "
                f"{spelled('returns', 'figures')}."
            )


# From checks to statements: one SELECT each, in the dialect of any warehouse.

KNOWN = {"one": "one row", "all": "all rows"}
_HOW_TO_READ = (
    "Each statement reads the table and returns one row. With a limit, the verdict is pass, fail, or undecided: the",
    "table is empty, rows cannot be judged (unusable), or a figure is too near its limit for floating point.",
)

_FIGURES = AnswerForm()
_INFINITY = re.compile(r"CAST\('Infinity' AS \w+\)")


@dataclass(frozen=True)
class Compiled:
    """A check as SQL.

    Args:
        check: as it was asked for. model: the model's name. sensitive: the attribute it is about, None = none.
        dialect: what the SQL is written in. sql: one SELECT without parameters; empty when none carries the check.
        refused: why none does, else empty.
        known_rows: where persons are counted by classes: `one` or `all`, how many rows of a person are known.
    """

    check: str
    model: str
    sensitive: str | None
    dialect: str
    sql: str = ""
    refused: str = ""
    known_rows: str = ""

    @property
    def executed(self) -> bool:
        """Return True if statements in this dialect are executed by the tests."""
        return DIALECTS[self.dialect].executed


def compile_statements(
    target: Target,
    roles: Roles,
    checks: Sequence[str | Requirement] = (),
    *,
    dialect: str = "duckdb",
    inputs: Mapping[str, object] | None = None,
    exact_names: bool = False,
    answer: AnswerForm = _FIGURES,
) -> list[Compiled]:
    """Each check as one SELECT with one row; nothing is connected.

    Args:
        target: a table by name, or a query in the dialect; `where` is a condition in the dialect.
        roles: columns or expressions in the dialect.
        checks: requirements (`k=5`), or names of models for their figures alone; none = the figures of every model.
        dialect: a key of `DIALECTS`.
        inputs: further inputs of models; of these a population and `class_function: identity` can be written.
        exact_names: whether columns are named exactly, in the right case, and quoted.
        answer: what a statement returns.

    Returns:
        In the order of the checks, for each sensitive attribute: statements of columns classes, table_rows,
        failing_classes, failing_rows, undecided_classes, unusable, level_…, verdict (`pass`, `fail`, or
        `undecided`); without a limit only classes, table_rows, level_…. Without checks, models that one SELECT cannot
        carry are there with the reason in `refused`.

    Raises:
        NotCarried: one SELECT cannot carry a check that was asked for.
        UsageError: unknown model, dialect or option; no quasi-identifiers; a verdict of a check without a limit.

    Example:
        >>> found = compile_statements(Target("patients"), Roles(("age", "zip")), ["k=5"], dialect="bigquery")
        >>> found[0].sql.splitlines()[-1]
        'FROM judged'
    """
    speech = find_dialect(dialect)
    roles.require_quasi_identifiers()
    if roles.nulls is NullPolicy.WILDCARD:
        raise NotCarried(
            f"{spelled('nulls', 'wildcard')}: classes overlap there, so no GROUP BY makes them; use equal or distinct."
        )
    read = read_inputs(inputs or {})
    required = [requirement for check in checks for requirement in _requirements(check)] or [
        Requirement(name) for name in REGISTRY
    ]
    for requirement in required:
        if not requirement.parameters:
            answer.refuse_without_limit(requirement.text or requirement.model)
    compiled = []
    for requirement in required:
        for attribute in _attributes(requirement, roles):
            further = _inputs_of(read, attribute, roles)
            job = _Job(target, roles, attribute, requirement, further, speech, exact_names, answer)
            compiled += [
                replace(job, known=known_rows).compiled(lenient=not checks) for known_rows in _known(requirement, roles)
            ]
    return compiled


def _requirements(check: str | Requirement) -> tuple[Requirement, ...]:
    if isinstance(check, Requirement):
        return (check,)
    if {"=", "<", ">"} & set(check):
        return parse_requirements(check)
    return (Requirement(find_model(check).name, {}, check),)


def _known(requirement: Requirement, roles: Roles) -> tuple[KnownRows | None, ...]:
    """Return the known rows of a person for each statement of a requirement; the worse result is the verdict on both.

    Raises:
        NotCarried: it compares rows with a population, and all rows of a person are to be known.
    """
    attackers = REGISTRY[requirement.model].known_rows
    if roles.entity is None or not attackers:
        return (None,)
    if roles.known_rows not in (KnownRows.WORSE, *attackers):
        raise NotCarried(
            f"{requirement.text or requirement.model}: compares rows with those of a population, and not all rows "
            f"of a person; use {spelled('known_rows', 'one')}."
        )
    return tuple(known_rows for known_rows in attackers if roles.known_rows in (KnownRows.WORSE, known_rows))


def _attributes(requirement: Requirement, roles: Roles) -> tuple[str | None, ...]:
    """The sensitive attributes that a check is made for; classes depend on them with `joint`."""
    named = REGISTRY[requirement.model].needs_sensitive or (roles.joint and len(roles.sensitive) > 1)
    return (roles.sensitive or (None,)) if named else (None,)


def _inputs_of(inputs: Mapping[str, Any], attribute: str | None, roles: Roles) -> dict[str, object]:
    """The inputs of one attribute: those at the top level, or in its section."""
    sections = inputs.get("sensitive", {})
    for name in sections:
        if name not in roles.sensitive:
            raise UsageError(f"The inputs have a section for {name!r}, which is no sensitive attribute.")
    return {**inputs, **sections.get(attribute, {})}


_SHARED: Mapping[str, object] = {"step": "standalone check", "plain_order": True}


@dataclass(frozen=True)
class _Job:
    """One check for one attribute."""

    target: Target
    roles: Roles
    attribute: str | None
    requirement: Requirement
    inputs: Mapping[str, object]
    dialect: str
    exact_names: bool
    answer: AnswerForm
    known: KnownRows | None = None

    def compiled(self, *, lenient: bool) -> Compiled:
        """The statement; where `lenient`, the reason why there is none."""
        check = self.requirement.text or self.requirement.model
        model = REGISTRY[self.requirement.model]
        attribute = self.attribute if model.needs_sensitive else None
        try:
            refuse_without_entity(model, check, self.roles.entity)
            if model.counts_people:
                sql = self._of_persons(model_carried(self.requirement, self.inputs))
            else:
                recipe = recipe_of(self.requirement, self.inputs, attribute, entity=self.roles.entity is not None)
                sql = self._sql(recipe)
        except UsageError as reason:
            if not lenient:
                raise
            return Compiled(check, model.name, self.attribute, self.dialect, refused=str(reason))
        return Compiled(check, model.name, self.attribute, self.dialect, sql, known_rows=self.known or "")

    def _of_persons(self, model: Model) -> str:
        return statement(
            "standalone_persons",
            self.dialect,
            **_SHARED,
            **self._rows(),
            **self._doubts("person_rows"),
            **model.select_parameters(),
            **self.answer.parameters(),
        )

    def _sql(self, recipe: Recipe) -> str:
        """Return the statement of a recipe, in the dialect of the warehouse."""
        sensitive = self._sensitive(recipe)
        table_rows = self._rows()
        rows = {"all_rows": None, **table_rows, "sensitive": sensitive}
        if self.known is KnownRows.ALL:
            rows = {
                "all_rows": table_rows | {"sensitive": sensitive or "NULL"},
                "source": Raw("all_rows"),
                "keys": [Raw("known")],
                "entity": Raw("person"),
                "sensitive": None if sensitive is None else Raw("told"),
                "solo": False,
            }
        sql = statement(
            "standalone",
            self.dialect,
            **_SHARED,
            **rows,
            levels=list(recipe.levels),
            required=bool(recipe.table_fails),
            table_fails=recipe.table_fails,
            table_doubtful=recipe.table_doubtful,
            form="windows",
            total="total",
            letters=Raw(by_letters("s", self.dialect)) if DIALECTS[self.dialect].letters else None,
            **self.answer.parameters(),
            **self._population(recipe, table_rows),
            **self._doubts(recipe=recipe),
            **recipe.parameters(),
        )
        infinity = DIALECTS[self.dialect].infinity
        return _INFINITY.sub(infinity, sql) if infinity else sql

    def _rows(self) -> dict[str, object]:
        """The rows that a statement is about, and what makes classes and persons of them."""
        table, solo = Raw(source(self.target, self.dialect)), self.roles.nulls is NullPolicy.DISTINCT
        return {"source": table, "keys": self._keys(), "entity": self._entity(), "solo": solo}

    def _keys(self) -> list[Raw]:
        """Return the columns that make a class, each with its exact letters where a collation may treat values as
        equal."""
        others = tuple(name for name in self.roles.sensitive if name != self.attribute) if self.roles.joint else ()
        names = self.roles.quasi_identifiers + (others if self.attribute is not None else ())
        columns = [Raw(self._named(name, about("qi"))) for name in names]
        letters = [Raw(by_letters(column.sql, self.dialect)) for column in columns]
        return columns + [letter for letter in letters if letter.sql]

    def _population(self, recipe: Recipe, rows: Mapping[str, object]) -> dict[str, object]:
        if not recipe.population:
            return {"population": None}
        if self.roles.nulls is NullPolicy.DISTINCT:
            raise NotCarried(
                f"{self.requirement.text or self.requirement.model}: matches the classes of the table with those of "
                f"the population, which {spelled('nulls', 'distinct')} rules out: use {spelled('nulls', 'equal')}."
            )
        parameters = {"population_keys": rows["keys"], "population_entity": rows["entity"]}
        return parameters | {"population": self._population_source()}

    def _population_source(self) -> Raw:
        return Raw(source(population_target(self.inputs, self.target), self.dialect))

    def _named(self, text: str | None, option: str) -> str:
        """A column or expression as this dialect writes it."""
        return column(text or "", self.dialect, option, exact=self.exact_names)

    def _entity(self) -> Raw | None:
        """Return what tells persons apart."""
        if self.roles.entity is None:
            return None
        written = self._named(self.roles.entity, about("entity"))
        return Raw(folded(written, self.dialect) if self.roles.values is Folding.FOLD else written)

    def _sensitive(self, recipe: Recipe) -> Raw | None:
        """Return what tells sensitive values apart, for a check that counts them; one that orders them has no texts."""
        if not recipe.by_value or self.attribute is None:
            return None
        written = self._named(self.attribute, about("sensitive"))
        folds = self.roles.values is Folding.FOLD and not recipe.ordered
        return Raw(folded(written, self.dialect, missing=True) if folds else written)

    def _doubts(self, relation: str = "target", recipe: Recipe | None = None) -> dict[str, object]:
        """Return the conditions under which a check is undecided: spellings of one value if no policy is set, otherwise
        values that cannot be folded."""
        if self.roles.values is Folding.EXACT:
            return {"spellings": [], "unfolded": []}
        table = Raw(source(self.target, self.dialect))
        counted_columns = []
        if self.roles.entity is not None:
            written = self._named(self.roles.entity, about("entity"))
            counted_columns.append((relation, "e", table, written))
            if recipe is not None and recipe.population:
                counted_columns.append(("population", "e", self._population_source(), written))
        if recipe is not None and self._sensitive(recipe) is not None:
            counted_columns.append((relation, "s", table, self._named(self.attribute, about("sensitive"))))
        if self.roles.values is Folding.FOLD:
            folds = [
                counted_column
                for counted_column in counted_columns
                if counted_column[1] == "e" or recipe is None or not recipe.ordered
            ]
            unsures = [(name, Raw(unsure(column, self.dialect))) for name, column, _, _ in folds]
            nesting = [(origin, Raw(nested(written, self.dialect))) for _, _, origin, written in folds]
            return {"spellings": [], "unfolded": unsures + nesting}
        spellings = [
            {
                "relation": name,
                "column": column,
                "letters": Raw(by_letters(column, self.dialect)) if DIALECTS[self.dialect].letters else None,
                "folded": Raw(folded(column, self.dialect, missing=column == "s")),
                "nested": Raw(nested(column, self.dialect)),
                "unsure": Raw(unsure("spelling", self.dialect)),
            }
            for name, column, _, _ in counted_columns
        ]
        return {"spellings": spellings, "unfolded": []}


def script(compiled: Sequence[Compiled], target: Target, version: str) -> str:
    """All statements as one SQL script, each under comments that say what it is."""
    return "\n".join([heading(compiled, "check", target.name, version), *map(section, compiled)])


def heading(compiled: Sequence[Compiled], what: str, whose: str, version: str) -> str:
    """The comments at the head of a script: what it is, how it is read, what no one has executed."""
    speech = DIALECTS[compiled[0].dialect]
    written = sum(1 for compiled_check in compiled if compiled_check.sql)
    title = f"sqlaudit {version}: {written} {what}{'' if written == 1 else 's'} of {whose} for {speech.title}."
    lines = [title, *_HOW_TO_READ]
    if not speech.executed:
        *others, last = (dialect_words.title for dialect_words in DIALECTS.values() if dialect_words.executed)
        lines += [
            f"Not executed: the tests have no {speech.title}. Every statement parses, and uses only constructs",
            f"that mean the same in all dialects; the same text is executed on {', '.join(others)} and {last}.",
        ]
    return comment([*lines, *([speech.note] if speech.note else [])])


def section(compiled: Compiled) -> str:
    """A statement under comments that say what it is, or why there is none."""
    of = f" of {compiled.sensitive}" if compiled.sensitive else ""
    if compiled.refused:
        return comment([f"{compiled.model}{of} is not here. {compiled.refused}"])
    whom = f", for an attacker who knows {KNOWN[compiled.known_rows]} of a person" if compiled.known_rows else ""
    notes = [f"{compiled.check}{of}{whom}", definition(compiled)]
    if (REGISTRY.get(compiled.model) or CELL_RULES[compiled.model]).needs_order:
        notes.append("The attribute must be a number, a date or a time: text has no order that everybody agrees on.")
    return comment(notes) + compiled.sql + ";\n"


def definition(compiled: Compiled) -> str:
    """Return what a check is, in a sentence."""
    model = REGISTRY.get(compiled.model) or CELL_RULES[compiled.model]
    return f"{model.title}: {model.definition}"


def comment(lines: Sequence[str]) -> str:
    """Lines of a script that the database reads over, whatever they hold."""
    return "".join(f"-- {visible(line)}\n" for line in lines)


# Rules for the cells of published tables as statements: one SELECT each, in the dialect of any warehouse.


def compile_cells(
    target: Target,
    checks: Sequence[str | Requirement],
    *,
    by: Sequence[str] = (),
    dialect: str = "duckdb",
    count: str = "",
    contributors: str = "",
    value: str = "",
    holdings: str = "",
    largest: Sequence[str] = (),
    exact_names: bool = False,
    answer: AnswerForm = _FIGURES,
) -> list[Compiled]:
    """Each rule over the cells of a table as one SELECT with one row; nothing is connected.

    Args:
        target: a table by name with a row for each cell, or a query in the dialect. checks: rules (`threshold=5`).
        by: dimensions that may have totals; a cell with what reads like one, or with a missing value, is undecided.
        count, contributors, value, holdings, largest: which column says what of a cell, as for `sqlaudit.aggregates`.
        exact_names: whether columns are named exactly, in the right case, and quoted.
        answer: what a statement returns.

    Returns:
        Statements of columns cells, hidden_cells, undecided_cells, unsafe_cells, verdict (`pass`, `fail`, or
        `undecided`: also where nothing fails and cells are hidden, since totals may give these back).

    Raises:
        NotCarried: a rule that one SELECT cannot carry. UsageError: an unknown rule, or a column that is not named.

    Example:
        >>> found = compile_cells(Target("counts"), ["threshold=5"], dialect="snowflake", count="n")
        >>> found[0].sql.splitlines()[-1]
        'FROM counted'
    """
    speech = find_dialect(dialect)
    named = {"n": (contributors or count, "count"), "x": (value, "value"), "h": (holdings, "holdings")}
    named |= {f"x{position}": (name, "largest") for position, name in enumerate(largest, 1)}
    rules: list[Requirement] = []
    for check in checks:
        rules += [check] if isinstance(check, Requirement) else parse_requirements(check, among=CELL_RULES)
    if not rules:
        raise UsageError("Name the rules for cells, for instance threshold=5.")
    dimensions = [Raw(column(text, speech, about("by"), exact=exact_names)) for text in by]
    compiled = []
    for rule_required in rules:
        rule = cell_rule(rule_required)
        columns = {
            name: Raw(column(text, speech, about(option), exact=exact_names))
            for name, (text, option) in named.items()
            if text
        }
        alone = _alone(rule, rule_required, columns)
        sql = statement(
            "standalone_cells",
            speech,
            source=Raw(source(target, speech)),
            columns={name: columns[name] for name in alone.columns},
            dimensions=dimensions,
            published=alone.columns[0],
            macro=alone.macro,
            arguments=dict(alone.arguments),
            **answer.parameters(cells=True),
        )
        compiled.append(Compiled(rule_required.text or rule_required.model, rule_required.model, None, speech, sql))
    return compiled


def compile_cube(request: CompileRequest) -> Compiled:
    """Return the SELECT of a cube, which leaves out blocks that fail a rule; nothing is connected.

    Sums are those of the warehouse: exact for whole numbers and decimals, and rounded for floating-point numbers.

    Raises:
        UsageError: no threshold, a rule that does not apply to blocks, or options of the cells of a published table.
    """
    from sqlaudit.cubes.blocks import judging  # the tables of a database, which checks do not need

    speech, cells, roles = find_dialect(request.dialect), request.cells, request.roles
    if replace(cells, holdings="").is_named or request.returns is not None:
        raise UsageError(f"A cube is made from rows of people. Leave out {spelled('returns')} and published cells.")
    if roles.quasi_identifiers or roles.sensitive:
        raise UsageError(f"A cube has {spelled('dimensions')} and {spelled('measures')}, and no {about('qi')}.")
    cube = CubeRequest(
        request.target,
        **vars(request.cube),
        entity=roles.entity or "",
        holdings=cells.holdings,
        requirements=tuple(rule for rule in request.checks if isinstance(rule, Requirement)),
    )

    def named(text: str, option: str) -> Raw | None:
        return Raw(column(text, speech, about(option), exact=request.exact_names)) if text else None

    names = [quote(untyped(text), "duckdb") for text in cube.dimensions]
    columns = [[quote(f"{untyped(text)}_{what}", "duckdb") for what in ("sum", "count")] for text in cube.measures]
    measures = [
        {"value": named(text, "measures"), "units": None, "type": "", "sum": total, "count": count}
        for text, (total, count) in zip(cube.measures, columns, strict=True)
    ]
    sql = render(
        "cubes/cube.sql",
        speech,
        names=names,
        rows=quote(ROWS, "duckdb"),
        blocks=None,
        ordered=False,
        source=Raw(source(request.target, speech)),
        dimensions=[named(text, "dimensions") for text in cube.dimensions],
        coarsened=[],
        joins=None,
        entity=named(cube.entity, "entity"),
        holding=named(cube.holdings, "holdings"),
        measures=measures,
        **judging(cube),
    ).sql.partition("\n")[2]
    rules = ", ".join(requirement.text for requirement in cube.rules)
    check = f"Cube with {rules}. A view of it changes with its table"
    return Compiled(check, cube.requirements[0].model, None, speech, sql)


def _alone(rule: CellRule, requirement: Requirement, columns: Mapping[str, Raw]) -> Alone:
    """Return how one SELECT decides a rule, where it can and the columns for it are named."""
    alone = rule.single_select()
    if alone is None:
        raise NotCarried(f"{requirement.text!r} looks at margins of cells, as only {command('aggregates')} does.")
    missing = [name for name in alone.columns if name not in columns]
    if missing:
        options = {"n": "count", "x": "value", "h": "holdings"}
        raise UsageError(
            f"{requirement.text!r} needs a column; name it with {spelled(options.get(missing[0], 'largest'))}."
        )
    return alone


Checks = Mapping[str, Any] | Iterable[str | Requirement] | str


class CompiledChecks(list[Compiled]):
    """The checks as statements: a list, printed in three lines, as a frame, or as a file of SQL.

    Args:
        compiled: the checks. target: the table that they are about.
    """

    def __init__(self, compiled: Iterable[Compiled], target: Target) -> None:
        super().__init__(compiled)
        self._target = target

    def __repr__(self) -> str:
        refused = sum(1 for compiled in self if compiled.refused)
        left = f", {refused} of them refused" if refused else ""
        number = f"{len(self)} check{'' if len(self) == 1 else 's'}"
        where = f" for {self[0].dialect}" if self else ""
        names = ", ".join(dict.fromkeys(compiled.check for compiled in self))
        lines = (
            f"CompiledChecks: {number} as SQL{where}{left}",
            names,
            "More: .to_frame(), .save('checks.sql'), [0].sql",
        )
        return "\n".join(line if len(line) <= 160 else line[:159] + "…" for line in lines)

    def to_frame(self) -> object:
        """A pandas DataFrame with a row for each check.

        Raises:
            MissingDriver: pandas is not installed.
        """
        return frame_of_rows([{**asdict(compiled), "executed": compiled.executed} for compiled in self])

    def save(self, path: str | Path) -> None:
        """Write the statements to a file, whole or not at all.

        Raises:
            UsageError: the file does not end in .sql or .txt, or cannot be written.
        """
        check_ending(Path(path), (".sql", ".txt"))
        write_text(Path(path), script(self, self._target, __version__))


@public(CompileRequest)
def compile_checks(request: CompileRequest) -> CompiledChecks:
    """Write each check as one SELECT that returns one row.

    Args:
        table: a table or view, as the warehouse calls it; empty with `query`, one SELECT in the dialect.
        qi: quasi-identifiers: column names or SQL expressions in the dialect.
        checks: `{"k": 5, "recursive_l": {"c": 3, "l": 2}}`, `["k=5", "t=0.2"]`, or names of models for their figures
            alone; none = the figures of every model.
        dialect: a key of `sqlaudit.gates.standalone.names.DIALECTS`, such as "snowflake".
        nulls: whether missing quasi-identifiers are `equal` to each other, or `distinct`; NULLs that match anything
            cannot be written.
        values: whether persons and sensitive values that differ only in case, blanks or invisible characters are one
            ("fold") or several ("exact"); where no one says it, a check of such values is undecided.
        roles: the roles at once, instead of their parameters: a mapping of these, or a `Roles` without identifiers.
        query: one SELECT instead of a target.
        where: a SQL condition on the rows of `table`.
        inputs: `population` (a table of the warehouse) and `class_function: identity`.
        exact_names: whether columns are named in their exact case, and quoted.
        count, contributors, value, holdings, largest: with one of these, `table` is a published table, and checks are
            rules for its cells (`threshold=5`), as for `sqlaudit.aggregates`.

    Returns:
        In the order of the checks, for each sensitive attribute, and with an entity for who knows one row of a person
        and for who knows all: `sql`, or without checks a reason in `refused`.

    Raises:
        UsageError: an unknown model or dialect, no table's name, or a check that one SELECT cannot carry.

    Example:
        >>> (found,) = compile_checks("release.claims", qi=["age", "sex"], checks={"k": 5}, dialect="snowflake")
        >>> found.check, found.executed, found.sql.splitlines()[-1]
        ('k=5', False, 'FROM judged')
    """
    return compile_request(request)


def compile_request(request: CompileRequest) -> CompiledChecks:
    """Return the checks of a request as statements.

    Raises:
        UsageError: as `compile_checks`.
    """
    answer, cells = AnswerForm(request.returns or Returns.FIGURES), request.cells
    more: dict[str, Any] = {"dialect": request.dialect, "exact_names": request.exact_names, "answer": answer}
    if request.cube.dimensions:
        compiled = [compile_cube(request)]
    elif cells.is_named:
        compiled = compile_cells(request.target, request.checks, **more, **vars(cells))
    else:
        compiled = compile_statements(request.target, request.roles, request.checks, inputs=request.inputs, **more)
    return CompiledChecks(compiled, request.target)

"""From checks to statements: one SELECT each, in the dialect of any warehouse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.gates.standalone.names import DIALECTS, by_letters, column, find_dialect, source
from sqlaudit.gates.standalone.recipes import NotCarried, Recipe, persons_alone, recipe_of
from sqlaudit.gates.standalone.returns import AnswerForm
from sqlaudit.models.persons import PersonsModel, refuse_without_entity
from sqlaudit.models.registry import CELL_RULES, REGISTRY
from sqlaudit.models.requirements import find_model, parse_requirements
from sqlaudit.reports.escape import visible

_ROWS = {"one": "one row", "all": "all rows"}
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
        """Whether statements in this dialect are executed by the tests."""
        return DIALECTS[self.dialect].executed


def compile_checks(
    target: Target,
    roles: Roles,
    checks: Sequence[str | Requirement] = (),
    *,
    dialect: str = "duckdb",
    inputs: Mapping[str, Any] | None = None,
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
        >>> found = compile_checks(Target("patients"), Roles(("age", "zip")), ["k=5"], dialect="bigquery")
        >>> found[0].sql.splitlines()[-1]
        'FROM judged'
    """
    speech = find_dialect(dialect)
    if not roles.quasi_identifiers:
        raise UsageError(
            "Name the quasi-identifiers: what others may know about a person, for instance "
            f"{spelled('qi', 'age', 'sex')}."
        )
    if roles.nulls is NullPolicy.WILDCARD:
        raise NotCarried(
            f"{spelled('nulls', 'wildcard')}: classes overlap there, so no GROUP BY makes them; use equal or distinct."
        )
    given = read_inputs(inputs or {})
    asked = [one for check in checks for one in _requirements(check)] or [Requirement(name) for name in REGISTRY]
    for one in asked:
        if not one.parameters:
            answer.refuse_without_limit(one.text or one.model)
    compiled = []
    for requirement in asked:
        for attribute in _attributes(requirement, roles):
            further = _inputs_of(given, attribute, roles)
            job = _Job(target, roles, attribute, requirement, further, speech, exact_names, answer)
            compiled += [replace(job, known=known).compiled(lenient=not checks) for known in _known(requirement, roles)]
    return compiled


def _requirements(check: str | Requirement) -> tuple[Requirement, ...]:
    if isinstance(check, Requirement):
        return (check,)
    if {"=", "<", ">"} & set(check):
        return parse_requirements(check)
    return (Requirement(find_model(check).name, {}, check),)


def _known(requirement: Requirement, roles: Roles) -> tuple[KnownRows | None, ...]:
    """How many rows of a person are known, for each statement of a requirement: the worse is the verdict on both.

    Raises:
        NotCarried: it compares rows with a population, and all rows of a person are to be known.
    """
    model = REGISTRY[requirement.model]
    if roles.entity is None or model.of_persons:
        return (None,)
    if "population" in model.needs:
        if roles.known_rows is KnownRows.ALL:
            raise NotCarried(
                f"{requirement.text or requirement.model}: compares rows with those of a population, and not all rows "
                f"of a person; use {spelled('known_rows', 'one')}."
            )
        return (KnownRows.ONE,)
    return (KnownRows.ONE, KnownRows.ALL) if roles.known_rows is KnownRows.WORSE else (roles.known_rows,)


def _attributes(requirement: Requirement, roles: Roles) -> tuple[str | None, ...]:
    """The sensitive attributes that a check is made for; classes depend on them with `joint`."""
    named = REGISTRY[requirement.model].needs_sensitive or (roles.joint and len(roles.sensitive) > 1)
    return (roles.sensitive or (None,)) if named else (None,)


def _inputs_of(inputs: Mapping[str, Any], attribute: str | None, roles: Roles) -> dict[str, Any]:
    """The inputs of one attribute: those at the top level, or in its section."""
    sections = inputs.get("sensitive", {})
    for name in sections:
        if name not in roles.sensitive:
            raise UsageError(f"The inputs have a section for {name!r}, which is no sensitive attribute.")
    return {**inputs, **sections.get(attribute, {})}


@dataclass(frozen=True)
class _Job:
    """One check for one attribute."""

    target: Target
    roles: Roles
    attribute: str | None
    requirement: Requirement
    inputs: Mapping[str, Any]
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
            if model.of_persons:
                sql = self._of_persons(persons_alone(self.requirement, self.inputs))
            else:
                recipe = recipe_of(self.requirement, self.inputs, attribute, entity=self.roles.entity is not None)
                sql = self._sql(recipe)
        except UsageError as reason:
            if not lenient:
                raise
            return Compiled(check, model.name, self.attribute, self.dialect, refused=str(reason))
        return Compiled(check, model.name, self.attribute, self.dialect, sql, known_rows=self.known or "")

    def _of_persons(self, model: PersonsModel) -> str:
        roles = self.roles
        statement = render(
            "gates/standalone/standalone_persons.sql",
            self.dialect,
            step="standalone check",
            plain_order=True,
            source=Raw(source(self.target, self.dialect)),
            keys=self._keys(),
            entity=self._raw(roles.entity or "", about("entity")),
            solo=roles.nulls is NullPolicy.DISTINCT,
            known=model.alone(),
            k=model.values["k"],
            **self.answer.parameters(),
        )
        return statement.sql.partition("\n")[2]

    def _sql(self, recipe: Recipe) -> str:
        roles = self.roles
        entity = None if roles.entity is None else self._raw(roles.entity, about("entity"))
        solo = roles.nulls is NullPolicy.DISTINCT
        keys = self._keys()
        sensitive = self._raw(self.attribute, about("sensitive")) if recipe.by_value and self.attribute else None
        rows: dict[str, Any] = {
            "source": Raw(source(self.target, self.dialect)),
            "keys": keys,
            "entity": entity,
            "sensitive": sensitive,
            "solo": solo,
        }
        if self.known is KnownRows.ALL:
            told = None if sensitive is None else Raw("told")
            rows = {
                "all_rows": rows | {"sensitive": sensitive or "NULL"},
                "source": Raw("all_rows"),
                "keys": [Raw("known")],
                "entity": Raw("person"),
                "sensitive": told,
                "solo": False,
            }
        statement = render(
            "gates/standalone/standalone.sql",
            self.dialect,
            step="standalone check",
            plain_order=True,
            **{"all_rows": None} | rows,
            levels=list(recipe.levels),
            required=bool(recipe.table_fails),
            table_fails=recipe.table_fails,
            table_doubtful=recipe.table_doubtful,
            form="windows",
            total="total",
            letters=Raw(by_letters("s", self.dialect)) if DIALECTS[self.dialect].letters else None,
            **self.answer.parameters(),
            **self._population(recipe, keys, entity),
            **recipe.parameters(),
        )
        sql = statement.sql.partition("\n")[2]  # headed by comments of its own
        infinity = DIALECTS[self.dialect].infinity
        return _INFINITY.sub(infinity, sql) if infinity else sql

    def _keys(self) -> list[Raw]:
        """What makes a class: the columns, each beside its letters where a collation may take values for equal."""
        others = tuple(name for name in self.roles.sensitive if name != self.attribute) if self.roles.joint else ()
        names = self.roles.quasi_identifiers + (others if self.attribute is not None else ())
        columns = [self._raw(name, about("qi")) for name in names]
        letters = [Raw(by_letters(one.sql, self.dialect)) for one in columns]
        return columns + [one for one in letters if one.sql]

    def _population(self, recipe: Recipe, keys: list[Raw], entity: Raw | None) -> dict[str, Any]:
        if not recipe.population:
            return {"population": None}
        if self.roles.nulls is NullPolicy.DISTINCT:
            raise NotCarried(
                f"{self.requirement.text or self.requirement.model}: matches the classes of the table with those of "
                f"the population, which {spelled('nulls', 'distinct')} rules out: use {spelled('nulls', 'equal')}."
            )
        population = Raw(source(population_target(self.inputs, self.target), self.dialect))
        return {"population": population, "population_keys": keys, "population_entity": entity}

    def _raw(self, text: str, option: str) -> Raw:
        return Raw(column(text, self.dialect, option, exact=self.exact_names))


def script(compiled: Sequence[Compiled], target: Target, version: str) -> str:
    """All statements as one SQL script, each under comments that say what it is."""
    written = sum(1 for one in compiled if one.sql)
    told = f"sqlaudit {version}: {written} {'check' if written == 1 else 'checks'} of {target.name}"
    return "\n".join([heading(told, compiled[0].dialect), *(section(one) for one in compiled)])


def heading(told: str, dialect: str) -> str:
    """The comments at the head of a script: what it is, how it is read, what nobody has executed."""
    speech = DIALECTS[dialect]
    lines = [f"{told} for {speech.title}.", *_HOW_TO_READ]
    if not speech.executed:
        lines += [
            f"Not executed: the tests have no {speech.title}. Every statement parses there and keeps to constructs",
            f"that mean the same everywhere; the same text is executed on {_executed()}.",
        ]
    return comment([*lines, *([speech.note] if speech.note else [])])


def _executed() -> str:
    titles = [one.title for one in DIALECTS.values() if one.executed]
    return f"{', '.join(titles[:-1])} and {titles[-1]}"


def section(one: Compiled) -> str:
    """A statement under comments that say what it is, or why there is none."""
    of = f" of {one.sensitive}" if one.sensitive else ""
    if one.refused:
        return comment([f"{one.model}{of} is not here. {one.refused}"])
    model = REGISTRY.get(one.model) or CELL_RULES[one.model]
    whom = f", for somebody who knows {_ROWS[one.known_rows]} of a person" if one.known_rows else ""
    notes = [f"{one.check}{of}{whom}", f"{model.title}: {model.definition}"]
    if model.needs_order:
        notes.append("The attribute must be a number, a date or a time: text has no order that everybody agrees on.")
    return comment(notes) + one.sql + ";\n"


def comment(lines: Sequence[str]) -> str:
    """Lines of a script that the database reads over, whatever they hold."""
    return "".join(f"-- {visible(line)}\n" for line in lines)

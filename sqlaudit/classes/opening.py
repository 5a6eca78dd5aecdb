"""The first steps of every command over equivalence classes: roles, spellings of values, and a copy if needed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol, TypeVar, cast

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, resolve
from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, shown
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Folding, KnownRows, NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.attribute_inputs import refuse_ambiguous_inputs
from sqlaudit.classes.facts import Frame, SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import plural

# Spellings: which texts are one person or one value. No spellings are merged silently.
#
# 'HIV', 'hiv ' and 'HIV' with an invisible character can be one value or three. Folding removes differences in case,
# blanks, width, the order of accents and invisible characters; for sensitive values also between '' and NULL. Where it
# makes two values of a column equal, the user decides whether they are one. Until then verdicts are undetermined, and
# commands without verdicts refuse the table.

BLANKS = "9-d 1c-20 85 a0 1680 2000-200a 2028-2029 202f 205f 3000"
UNSEEN = (
    "1-8 e-1b 7f-84 86-9f ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e "
    "2060-206f 2800 2d7f 3164 fe00-fe0f feff ffa0 fff0-fffc 1107f 110bd 110cd 13430-1343f 16fe4 1bca0-1bca3 1d159 "
    "1d173-1d17a e0000-e0fff"
)
"""Invisible code points except NUL, which PostgreSQL does not store: Cf and Cc without blanks, default-ignorable code
points, variation selectors, tags, fillers, joiners, the empty note head and the object replacement character."""
_COMBINING = "300-36f 1100-11ff 1ab0-1aff 1dc0-1dff 1f00-1fff 2126 212a-212b 302a-302f 3099-309a d7b0-d7ff f900-faff"
"""Code points with other spellings that Spark cannot find, because it does not normalize. Java's class of all marks
(`\\p{M}`) is added to them."""
_ODD, _EVEN = "ıİſςϐϑϕϖϰϱϵµẛ", "iisσβθφπκρεμṡ"
_WIDE = {
    chr(code): chr(int(unicodedata.decomposition(chr(code)).split()[1], 16))
    for code in range(0xFF00, 0xFFF0)
    if unicodedata.decomposition(chr(code)).startswith(("<wide>", "<narrow>"))
}
_ESCAPES = {"postgres": lambda code: f"\\U{code:08X}"}
_TEXT_ENDS = {"postgres": "\\Z", "spark": "\\z", "duckdb": "\\z"}
_NUL_RANGE = {"postgres": "", "spark": "0 ", "duckdb": "0 "}
"""NUL as a range of code points; PostgreSQL has no text with it."""
_UNFOLDABLE = {"spark": "[\\p{{M}}{}]", "postgres": "[^\\x01-\\x7f]"}
"""Pattern of the characters that a dialect may not fold; DuckDB folds all."""
_PLAIN_TYPES = re.compile(r"uuid|interval|time|date|bit|varbit|inet|cidr|macaddr|oid|money|pg_lsn|null|void|\w*range$")
_NESTED_TYPES = re.compile(
    r".*\[|array|list|struct|map|union|row|record|json|hstore|xml|bytea|blob|binary|varbinary|variant|ts(vector|query)"
)
_NUMBER_CONTAINERS = re.compile(
    r"(array<)?(u?(tiny|small|big|huge)?int(eger|\d)?|double( precision)?|float\d?|real|(decimal|numeric)(\([\d, ]*\))?"
    r"|boolean|bool|date|uuid)[\[\]\d>]+"
)


class ValueExpression(Protocol):
    """A column or expression of a relation."""

    @property
    def sql(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def type(self) -> str: ...


V = TypeVar("V", bound=ValueExpression)


class ValueRoles(Protocol):
    """The roles whose values are counted, as `sqlaudit.classes.opening.ResolvedRoles` has them."""

    @property
    def sensitive(self) -> Sequence[Resolved]: ...
    @property
    def entity(self) -> Resolved | None: ...


@dataclass(frozen=True)
class ColumnValues:
    """A column whose different values are counted: people, or a sensitive attribute.

    Args:
        name: the column as the user named it.
        places: the tables that have it, each with the column there.
        missing: whether NULL is a value. It is one of a sensitive attribute, but no person.
        values: its different values if they were read, each as the text that it is; None = they were not.
    """

    name: str
    places: Sequence[tuple[Relation, ValueExpression]]
    missing: bool = True
    values: Sequence[object] | None = field(default=None, repr=False)


def value_columns(
    relation: Relation, roles: ValueRoles, dialect: str, others: Sequence[Relation] = ()
) -> list[ColumnValues]:
    """Return the columns whose values are counted: the sensitive attributes, and the people.

    Args:
        relation: the table.
        roles: the roles of its columns.
        dialect: the engine's dialect.
        others: further tables (a population, another release). Their columns of the same names are counted together
            with the table's.
    """
    entities = () if roles.entity is None else (roles.entity,)
    columns = []
    for role in (*roles.sensitive, *entities):
        matches = ((other, find_column(role.label, other)) for other in others)
        places = [
            (other, Resolved(role.label, quote(column.name, dialect), column.kind, column.name, column.type))
            for other, column in matches
            if column is not None
        ]
        columns.append(ColumnValues(role.label, ((relation, role), *places), role is not roles.entity))
    return columns


def fold(sql: str, dialect: str, *, missing: bool) -> str:
    """Return the SQL that folds a text to one spelling.

    Args:
        sql: the text as an expression.
        dialect: the dialect of the expression.
        missing: whether a text without a visible character becomes NULL.
    """
    return expression(
        "classes/folded.sql",
        dialect,
        value=Raw(sql),
        plain=f"^[!-~]+( [!-~]+)*{_TEXT_ENDS[dialect]}",
        wide=_character_class("ff00-ffef", dialect),
        unseen=_character_class(_NUL_RANGE[dialect] + UNSEEN, dialect) + "+",
        blanks=_character_class(BLANKS, dialect) + "+",
        whole="".join(_WIDE),
        narrow="".join(_WIDE.values()).replace("'", "''"),
        odd=_ODD,
        even=_EVEN,
        missing=missing,
    )


def _character_class(ranges: str, dialect: str) -> str:
    """Return ranges of hexadecimal code points ("9-d 85") as a character class of a regular expression."""
    escape: Callable[[int], str] = _ESCAPES.get(dialect, lambda code: f"\\x{{{code:X}}}")
    bounds = [text.partition("-") for text in ranges.split()]
    return "[" + "".join(escape(int(a, 16)) + (f"-{escape(int(b, 16))}" if b else "") for a, _, b in bounds) + "]"


def apply_spelling_policy(
    engine: Engine, relation: Relation, column: V, values: Folding | None, *, missing: bool = True
) -> V:
    """Return the column as its values are counted: folded if the user chose that, else unchanged.

    Args:
        engine: the engine that reads the relation.
        relation: the table of the column.
        column: a column or expression.
        values: the user's choice; None = none was made.
        missing: whether a text without a visible character becomes NULL.

    Raises:
        UsageError: the column is to be folded, but has several texts in one value.
    """
    if values is not Folding.FOLD:
        return column
    kind, type_name = column_type(engine, relation, column)
    if not _has_text(kind, type_name):
        return column
    if _is_nested(kind, type_name):
        raise UsageError(_nested_message(column.sql, type_name))
    sql = fold(column.sql, engine.dialect, missing=missing)
    return cast("V", replace(cast("Any", column), sql=sql, kind=Kind.TEXT, type=type_name))


def find_entity_column(engine: Engine, relation: Relation, entity: Resolved, values: Folding | None) -> Resolved | None:
    """Return the column of another table that identifies its people, folded if the user chose that.

    It has the same name as the entity column; None if the table has no such column.
    """
    match = find_column(entity.label, relation)
    if match is None:
        return None
    column = Resolved(entity.label, quote(match.name, engine.dialect), match.kind, match.name, match.type)
    return apply_spelling_policy(engine, relation, column, values, missing=False)


def spelling_conflicts(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> dict[str, str]:
    """Return a sentence for each column with values in several spellings that the user must decide on, by its name."""
    conflicts = ((column.name, _spelling_conflict(engine, column, values)) for column in columns)
    return {name: sentence for name, sentence in conflicts if sentence}


def refuse_spelling_conflicts(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> None:
    """Refuse columns with values in several spellings that the user must decide on.

    Raises:
        UsageError: a column has such values; it says how many.
    """
    for sentence in spelling_conflicts(engine, columns, values).values():
        raise UsageError(sentence)


def spelling_statements(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> list[Statement]:
    """Return the statements that `spelling_conflicts` runs."""
    plans = (_plan_spelling_check(engine, column, values) for column in columns)
    return [plan for plan in plans if isinstance(plan, Statement)]


def spelling_statement(column: ColumnValues, dialect: str, *, nested: bool = False) -> Statement:
    """Return the statement that counts the values of a column that are written in several ways.

    Its row: the number of such values, whether it is uncertain, and whether a value has several texts.

    Args:
        column: the column in all of its tables.
        dialect: the engine's dialect.
        nested: whether to check that no value has several texts, because the type does not show it.
    """
    return render(
        "classes/merged.sql",
        dialect,
        step=f"spellings of {column.name}",
        folded=Raw(fold("value", dialect, missing=column.missing)),
        places=[{"source": Raw(relation.sql), "value": Raw(value.sql)} for relation, value in column.places],
        unsure=_UNFOLDABLE.get(dialect, "").format(_character_class(_COMBINING, dialect)[1:-1]),
        missing=column.missing,
        nested=nested,
    )


def _plan_spelling_check(engine: Engine, column: ColumnValues, values: Folding | None) -> Statement | str | None:
    """Return the statement that counts the spellings of a column.

    Return an error message instead if its type has several texts in one value, and None if the user's choice or the
    type leaves nothing to check.
    """
    if values is Folding.EXACT or (values is Folding.FOLD and engine.dialect not in _UNFOLDABLE):
        return None
    types = [column_type(engine, relation, value) for relation, value in column.places]
    nested = next((type_name for kind, type_name in types if _is_nested(kind, type_name)), "")
    if nested:
        return _nested_message(column.name, nested)
    texts = [place for place, column_types in zip(column.places, types, strict=True) if _has_text(*column_types)]
    unknown = any(kind is Kind.OTHER and not name.lower().startswith("enum") for kind, name in types)
    return spelling_statement(replace(column, places=texts), engine.dialect, nested=unknown) if texts else None


def _spelling_conflict(engine: Engine, column: ColumnValues, values: Folding | None) -> str:
    """Return the sentence on a column whose spellings the user must decide on, "" if there is none."""
    plan = _plan_spelling_check(engine, column, values)
    if not isinstance(plan, Statement):
        return plan or ""
    number, unsure, nested = _count_spellings(engine, column, plan)
    if nested:
        return _nested_message(column.name, "texts in brackets")
    exact, folded = spelled("values", "exact"), spelled("values", "fold")
    if values is Folding.FOLD:
        reason = f"{engine.name} cannot fold {column.name}: it has letters beyond ASCII with several spellings."
        return f"{reason} Use one spelling first, or count each spelling with {exact}." if unsure else ""
    if not number:
        return ""
    subject = plural(number, "value") if column.missing else plural(number, "person", "people")
    verb = "may be" if unsure else "is" if number == 1 else "are"
    differences = "case, blanks, width or invisible characters" + (", or are NULL and ''" if column.missing else "")
    return (
        f"{subject} in column {column.name} {verb} written in several ways, which differ only in {differences}. Choose "
        f"whether they are one with {folded}, or different with {exact}."
    )


def _count_spellings(engine: Engine, column: ColumnValues, statement: Statement) -> list[int]:
    """Return the figures of `spelling_statement`. Values that were read are folded on the workbench."""
    if column.values is not None:
        engine = engine.workbench()
        rows = engine.keep_rows("sqlaudit_spellings", [("value", "VARCHAR")], [[(value,) for value in column.values]])
        places = [(rows, Resolved("value", "value", Kind.TEXT, "value", "VARCHAR"))]
        statement = spelling_statement(replace(column, places=places), engine.dialect)
    return [int(count) for count in engine.run(statement)[0]]


def column_type(engine: Engine, relation: Relation, column: ValueExpression) -> tuple[Kind, str]:
    """Return the kind and the type of a column or expression. Expressions are described by the engine."""
    if column.type:
        return column.kind, column.type
    probe = render("hierarchies/hierarchy_probe.sql", engine.dialect, value=Raw(column.sql), source=Raw(relation.sql))
    (description,) = engine.result_columns(probe)
    return description.kind, description.type


def _has_text(kind: Kind, type_name: str) -> bool:
    """Return True if values of the type may be texts, or have some in them."""
    low = type_name.lower()
    if kind is not Kind.OTHER:
        return kind is Kind.TEXT
    return not (_NUMBER_CONTAINERS.fullmatch(low) or (_PLAIN_TYPES.match(low) and "[" not in low))


def _is_nested(kind: Kind, type_name: str) -> bool:
    """Return True if a value of the type may have several texts."""
    low = type_name.lower()
    return kind is Kind.OTHER and bool(_NESTED_TYPES.match(low)) and not _NUMBER_CONTAINERS.fullmatch(low)


def _nested_message(name: str, type_name: str) -> str:
    return (
        f"{name} may have several texts in one value ({type_name}), which cannot be folded. Name an expression of one "
        f"text, or count each spelling with {spelled('values', 'exact')}."
    )


# A copy of the columns that a command reads, where each reading would parse text again.

COPY = "sqlaudit_rows"


def copy_columns(
    engine: Engine, relation: Relation, roles: list[Resolved], name: str = COPY
) -> tuple[Relation, list[Resolved]]:
    """Copy the roles' columns for the session if the engine would parse text at each reading.

    The copy has only these columns and expressions. It is in the engine's own memory (or its encrypted spill files),
    and is dropped with the session.

    Args:
        engine: the engine that reads the relation.
        relation: the table.
        roles: the columns and expressions that will be read.
        name: the name of the copy, a different one for each of several tables.

    Returns:
        The copy with the roles in it, or the arguments if nothing was copied.
    """
    if not relation.parsed or not engine.can_materialize or not roles:
        return relation, roles
    expressions = list(dict.fromkeys(role.sql for role in roles))
    statement = render(
        "classes/copy_columns.sql",
        engine.dialect,
        step="read the columns",
        source=Raw(relation.sql),
        columns=[Raw(sql) for sql in expressions],
    )
    copy = engine.materialize(name, statement)
    columns = {sql: quote(f"c{position}", engine.dialect) for position, sql in enumerate(expressions, 1)}
    return replace(relation, sql=copy.sql, parsed=False), [replace(role, sql=columns[role.sql]) for role in roles]


# An opened table: the roles found in it, and its sensitive attributes.

_HASHABLE_KINDS = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
MAX_VALUES_READ = 10_000
"""Largest number of sensitive values whose totals are read into Python."""
_TEXT_TYPES = re.compile(r"string|text|varchar(\(\d+\))?|character varying(\(\d+\))?", re.IGNORECASE)
"""Types whose equal values are equal texts, unless a column has a collation."""


@dataclass(frozen=True)
class ResolvedRoles:
    """The roles with their SQL."""

    quasi_identifiers: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]
    identifiers: tuple[Resolved, ...]
    entity: Resolved | None
    weights: Resolved | None = None

    @property
    def not_published_as_they_are(self) -> tuple[Resolved, ...]:
        """The roles whose columns a release rewrites or leaves out."""
        return (*self.quasi_identifiers, *self.identifiers, *((self.entity,) if self.entity else ()))

    @property
    def published_as_they_are(self) -> tuple[Resolved, ...]:
        """The roles whose columns a release publishes unchanged."""
        return (*self.sensitive, *((self.weights,) if self.weights else ()))


def find_columns(engine: Engine, relation: Relation, **names: Sequence[str]) -> dict[str, tuple[Resolved, ...]]:
    """Find columns or expressions in an open table, by the parameter that names them.

    Raises:
        UsageError: a column is not in the table.
    """
    return {
        parameter: tuple(resolve(name, relation, engine.dialect, about(parameter)) for name in columns)
        for parameter, columns in names.items()
    }


def repeated_columns(columns: Mapping[str, Sequence[Resolved]]) -> list[str]:
    """Return the SQL of the columns that have more than one role, or one of them twice."""
    uses = Counter(column.sql for group in columns.values() for column in group)
    return [sql for sql, times in uses.items() if times > 1]


def resolve_roles(roles: Roles, relation: Relation, engine: Engine) -> ResolvedRoles:
    """Find the columns of every role, with people and sensitive values folded if the user chose that.

    Raises:
        UsageError: a column is not in the table, or is named twice.
    """
    by_role = roles.by_role()
    columns = find_columns(
        engine,
        relation,
        qi=roles.quasi_identifiers,
        sensitive=roles.sensitive,
        identifier=roles.identifiers,
        entity=by_role["entity"],
        weights=by_role["sampling weights"],
    )
    if repeated := repeated_columns(columns):
        raise ConflictingRoles(f"Column {repeated[0]} is named more than once. Give every column one role.")
    for role in ("qi", "sensitive", "entity", "weights"):
        is_key = role == "qi"
        columns[role] = tuple(_without_codes(column, relation, engine.dialect, is_key) for column in columns[role])
    entity, weights = (columns[role][0] if columns[role] else None for role in ("entity", "weights"))
    sensitive = [apply_spelling_policy(engine, relation, column, roles.values) for column in columns["sensitive"]]
    if entity is not None:
        entity = apply_spelling_policy(engine, relation, entity, roles.values, missing=False)
    return ResolvedRoles(columns["qi"], tuple(sensitive), columns["identifier"], entity, weights)


def _without_codes(role: Resolved, relation: Relation, dialect: str, is_key: bool) -> Resolved:
    """Return the column with its codes for missing values as NULL, so that no code is a sensitive value or a person.

    Args:
        role: the column or expression.
        relation: its table.
        dialect: the engine's dialect.
        is_key: whether it is a quasi-identifier. These keep their codes, and their expressions read numeric codes.

    Raises:
        UsageError: it is an expression over a column with codes.
    """
    types = {column.name: column.type for column in relation.columns}
    codes = {coded.column: coded for coded in relation.missing if not is_key or coded.type != types[coded.column]}
    read = columns_read(role, relation, dialect) & codes.keys() if codes else set()
    if not read or (is_key and role.column is not None):
        return role
    if role.column is None:
        raise UsageError(
            f"{role.label} reads {shown(min(read))}, which has codes for missing values. Name the column itself, or "
            f"the codes with {spelled('null_values')}."
        )
    column = codes[role.column]
    return replace(role, sql=column.sql, type=column.type, kind=column.kind)


def open_for_release(engine: Engine, target: Target, roles: Roles) -> Relation:
    """Open a table that is going to be rewritten.

    Raises:
        UsageError: a column that is not a quasi-identifier has codes for missing values. A release does not declare
            them, so its readers would take them for values.
    """
    relation = engine.open(target)
    if not relation.missing:
        return relation
    quasi_identifiers = find_columns(engine, relation, qi=roles.quasi_identifiers)["qi"]
    keys = {column for role in quasi_identifiers for column in columns_read(role, relation, engine.dialect)}
    coded = next((missing.column for missing in relation.missing if missing.column not in keys), None)
    if coded is not None:
        raise UsageError(
            f"Column {shown(coded)} of {relation.label!r} has codes for missing values, which a release does not "
            f"declare. Name the codes to read as missing with {spelled('null_values')}."
        )
    return relation


def copy_role_columns(engine: Engine, relation: Relation, roles: ResolvedRoles) -> tuple[Relation, ResolvedRoles]:
    """Copy the columns of all roles for the session if the engine would parse text at each reading.

    Returns:
        The copy with the roles in it, or the arguments if nothing was copied.
    """
    of_rows = [role for role in (roles.entity, roles.weights) if role is not None]
    relation, columns = copy_columns(engine, relation, [*roles.quasi_identifiers, *roles.sensitive, *of_rows])
    keys, values = len(roles.quasi_identifiers), len(roles.sensitive)
    rest = columns[keys + values :]
    return relation, replace(
        roles,
        quasi_identifiers=tuple(columns[:keys]),
        sensitive=tuple(columns[keys : keys + values]),
        entity=rest[0] if roles.entity else None,
        weights=rest[-1] if roles.weights else None,
    )


@dataclass(frozen=True)
class OpenedTable:
    """An open table with its roles and inputs, as every command over equivalence classes needs it.

    Args:
        engine: the engine that reads it.
        named_roles: the roles as the user named them.
        relation: the table, or the copy of those of its columns that have a role.
        roles: the roles with their SQL over `relation`.
        published: the table with all of its columns, not the copy.
        published_roles: the roles with their SQL over `published`.
        inputs: further inputs of models by name, validated.
        population: the population table; None = the inputs name none.
    """

    engine: Engine
    named_roles: Roles
    relation: Relation
    roles: ResolvedRoles
    published: Relation
    published_roles: ResolvedRoles
    inputs: Mapping[str, Any]
    population: Relation | None = None

    def copied(self) -> OpenedTable:
        """Return the table with its columns copied if the engine would parse text at each reading."""
        relation, roles = copy_role_columns(self.engine, self.relation, self.roles)
        return replace(self, relation=relation, roles=roles)

    def with_population(self, audited: Target) -> OpenedTable:
        """Return the table with the population that the inputs name, which is read as the audited table is."""
        if "population" not in self.inputs:
            return self
        return replace(self, population=self.engine.open(population_target(self.inputs, audited)))

    def frame(self, attribute: Resolved | None = None) -> Frame:
        """Return the frame for the histogram of one sensitive attribute, None = of the sizes alone."""
        return frame_of(self.relation, self.roles, attribute, self.named_roles)

    def histogram_builder(self, attribute: Resolved | None = None, position: int = 0) -> HistogramBuilder:
        """Return the builder of the histogram of one sensitive attribute, the one at this position."""
        return HistogramBuilder(self.engine, self.frame(attribute), self.named_roles.nulls, position)

    def spelling_conflicts(self, read: Mapping[str, SensitiveTable]) -> dict[str, str]:
        """Return a sentence for each column whose spellings the user must decide on, by its name.

        Args:
            read: the values of sensitive attributes that were read, by name.
        """
        texts = self.attributes_read_as_texts
        columns = [
            replace(column, values=read[column.name].values if column.name in texts else None)
            for column in self._value_columns()
        ]
        return spelling_conflicts(self.engine, columns, self.named_roles.values)

    @property
    def attributes_read_as_texts(self) -> frozenset[str]:
        """The names of the sensitive attributes whose different values, once read, show all their spellings.

        That is so for plain texts of this table. An engine that is its own workbench compares spellings itself.
        """
        if self.engine.own_workbench or self.population is not None or self.named_roles.values is not None:
            return frozenset()
        return frozenset(
            attribute.label
            for attribute in self.roles.sensitive
            if attribute.column is not None and attribute.column not in self.relation.respelled
            if attribute.kind is Kind.TEXT and _TEXT_TYPES.fullmatch(attribute.type)
        )

    def refuse_spelling_conflicts(self) -> None:
        """Raise UsageError if the user must decide on the spellings of a column."""
        refuse_spelling_conflicts(self.engine, self._value_columns(), self.named_roles.values)

    def spelling_statements(self) -> list[Statement]:
        """Return the statements of `spelling_conflicts` that read the table."""
        columns = (column for column in self._value_columns() if column.name not in self.attributes_read_as_texts)
        return spelling_statements(self.engine, columns, self.named_roles.values)

    def _value_columns(self) -> list[ColumnValues]:
        others = () if self.population is None else (self.population,)
        return value_columns(self.relation, self.roles, self.engine.dialect, others)


def open_table(
    engine: Engine,
    target: Target | Relation,
    roles: Roles,
    inputs: Mapping[str, object] | None = None,
    *,
    population: Relation | Target | None = None,
) -> OpenedTable:
    """Open a table, find its roles and read the inputs.

    Args:
        engine: an open engine.
        target: the table; a relation if it is open already.
        roles: the roles of its columns.
        inputs: further inputs of models.
        population: the population table if it is open already. A target stands for the audited table, and the
            population that the inputs name is read in the same way. None = no population is opened.

    Raises:
        UsageError: a column is not in the table or is named twice, or inputs may belong to several attributes.
        EngineError: the database refused or failed.
    """
    relation = engine.open(target) if isinstance(target, Target) else target
    resolved = resolve_roles(roles, relation, engine)
    checked_inputs = read_inputs(inputs or {})
    refuse_ambiguous_inputs(checked_inputs, [attribute.label for attribute in resolved.sensitive])
    table = OpenedTable(engine, roles, relation, resolved, relation, resolved, checked_inputs)
    if isinstance(population, Target):
        return table.with_population(population)
    return replace(table, population=population)


def sensitive_table(builder: HistogramBuilder, attribute: Resolved | None) -> tuple[SensitiveTable | None, int]:
    """Read the values of a sensitive attribute over the whole table, and count its NULL rows.

    Args:
        builder: the builder of its histogram.
        attribute: the sensitive attribute; None = there is none, and no table is returned.

    Raises:
        UsageError: rows have no entity, or the attribute has more than `MAX_VALUES_READ` values.
    """
    if attribute is None:
        if builder.frame.entity is not None:
            _refuse_missing_entities(builder.shape(None)[3], builder)
        return None, 0
    text = attribute.collated
    rows = builder.values(attribute.sql, text, MAX_VALUES_READ + 1)
    if len(rows) > MAX_VALUES_READ:
        distinct, _, _, without_entity = builder.shape(attribute.sql)
        _refuse_missing_entities(without_entity, builder)
        raise UsageError(
            f"{attribute.label} has {distinct:,} different values; the limit for a sensitive column is "
            f"{MAX_VALUES_READ:,}. Round or group it first."
        )
    _refuse_missing_entities(sum(int(row[3]) for row in rows), builder)
    values, totals = tuple(row[0] for row in rows), tuple(int(row[1]) for row in rows)
    nulls = sum(int(row[2]) for row in rows)
    table = SensitiveTable(attribute.label, totals, nulls > 0, attribute.kind.has_natural_order, text, values)
    return table, nulls


def frame_of(relation: Relation, roles: ResolvedRoles, attribute: Resolved | None, requested: Roles) -> Frame:
    """Return the frame for the histogram of one sensitive attribute.

    Args:
        relation: the table.
        roles: the roles with their SQL over it.
        attribute: the sensitive attribute; None = the frame is for class sizes.
        requested: the roles as the user named them.
    """
    keys = [column.sql for column in roles.quasi_identifiers]
    if requested.joint and attribute is not None:
        keys += [other.sql for other in roles.sensitive if other != attribute]
    entity = roles.entity.sql if roles.entity else None
    columns = (*roles.quasi_identifiers, *roles.sensitive)
    hashable = {column.sql for column in columns if column.column and column.kind in _HASHABLE_KINDS}
    integers = {column.sql for column in columns if column.column and column.kind is Kind.INTEGER}
    collated = {column.sql for column in columns if column.collated}
    return Frame(
        relation.sql,
        tuple(keys),
        entity,
        requested.nulls is NullPolicy.DISTINCT,
        tuple(key in collated for key in keys),
        attribute.sql if attribute else None,
        roles.weights.sql if roles.weights else None,
        tuple(key in hashable for key in keys),
        tuple(key in integers for key in keys),
        roles.entity.label if roles.entity else "",
    )


def key_labels(roles: ResolvedRoles, attribute: Resolved | None, frame: Frame) -> list[str]:
    """Return the user's names of the columns of the class key, in their order."""
    labels = {role.sql: role.label for role in (*roles.quasi_identifiers, *roles.sensitive) if role != attribute}
    return [labels[key] for key in frame.keys]


def _refuse_missing_entities(rows: int, builder: HistogramBuilder) -> None:
    """Raise UsageError if rows have no value in the entity column."""
    if rows:
        entity = builder.frame.entity_label or "of persons"
        raise UsageError(
            f"{plural(rows, 'row has', 'rows have')} no value in the entity column {entity}. Leave them out with "
            f"{spelled('where', f'{entity} IS NOT NULL')}, or fill them."
        )


def describe_roles(roles: Roles) -> dict[str, object]:
    """Return the roles as the user named them, for results and JSON."""
    sampling = roles.sampling
    fraction = None if sampling.sampling_fraction is None else float(sampling.sampling_fraction)
    figures = {"sampling_fraction": fraction, "population_size": sampling.population_size, "weights": sampling.weights}
    return {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "identifiers": list(roles.identifiers),
        "entity": roles.entity,
        "joint": roles.joint,
        "nulls": roles.nulls.value,
        **{name: value for name, value in figures.items() if value is not None},
        **({} if roles.known_rows is KnownRows.WORSE else {"known_rows": roles.known_rows.value}),
        **({} if roles.values is None else {"values": roles.values.value}),
    }
